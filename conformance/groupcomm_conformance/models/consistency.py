"""Checks that the parts of a manifest agree: a manifest that contradicts itself is refused."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.strict_yaml import Node

from .model import NOT_ASKED, NOT_GIVEN, NOTE, SUBSTITUTION, Erratum, Manifest, ManifestError, Model, is_liveness
from .modules import Modules
from .source import Source

_ASSUME: Final = re.compile(r"^ASSUME\b[^\n]*(?:\n[ \t][^\n]*)*", re.MULTILINE)


def check(manifest: Manifest, source: Source, *, recording: bool = False) -> None:
    """Refuse, by a FileError that names the place, a manifest whose parts contradict each other.

    With `recording`, the violated claims may still be missing.
    """
    top, read = source.top, source.modules
    for name, node in top["claims"].entries().items():
        cfg = manifest.cfgs[name]
        if is_liveness(name) and (cfg.view or cfg.constraints or cfg.symmetry):
            raise node.error("a set of claims for liveness, which has no VIEW, CONSTRAINT or SYMMETRY")
        if all(claim in manifest.type_invariants for claim in cfg.claims):
            raise node.error("a claim besides type invariants: models that assert nothing hold in vain")
    asserted = {claim for cfg in manifest.cfgs.values() for claim in cfg.claims}
    for name, item in zip(manifest.type_invariants, top["type_invariants"].items(), strict=True):
        if name not in asserted:
            raise item.error(f"an invariant of a set of claims, not {name}")

    models: dict[str, Model] = {}
    errata: dict[str, str] = {}
    for model, (node, below) in zip(manifest.models, source.models(), strict=True):
        first = models.setdefault(model.name, model)
        if first is not model:
            raise node.error(f'each model once, not "{model.name}" again (first on line {first.line})')
        _check_run(manifest, model, node, source)
        if below is not None:
            _check_violation(manifest, model, models[str(model.control)], node, source, recording=recording)
        if model.erratum is not None:
            _check_erratum(manifest, model, model.erratum, source, errata)
    for name, node in source.errata.items():
        if name not in models or models[name].holds:
            raise node.error(f"an ablation of {manifest.file}, not {name}")
    for name, node in source.recorded.items() if not recording else ():
        if name not in models:
            raise node.error(f"a model of {manifest.file}, not {name}: groupcomm check --record leaves it out")
    for constant, node in top["reference"].entries().items():
        if not read(manifest.module).knows(constant):
            raise node.error(f"a constant of the modules, but none declares {constant}")
    for operator, node in top["witnesses"].entries().items():
        if not manifest.witnesses[operator]:
            raise node.error(f"the models in which {operator} must be reached, not an empty list")
        for name in manifest.witnesses[operator]:
            if _holding(manifest, node, name).liveness:
                raise node.error(f"a model for safety, not {name}: its name ends in _live")
            root = manifest.module_of(manifest.model(name).claims)
            if read(root).definition(operator) is None:
                raise node.error(f"a predicate that the modules of {name} define, but none defines {operator}")
    _check_links(manifest, top, read, recording=recording)


def require_use(manifest: Manifest, *, whole: bool = True) -> None:
    """Refuse a manifest that names what its modules do not define or use, or has a set of claims in vain.

    This needs all modules whole, so only a run of models asks it. Unless it is the `whole` manifest that is run, a
    set of claims may wait for its models. Raises ManifestError, which names the place.
    """
    source = Source(manifest.folder)
    try:
        for node, expected in _unused(manifest, source, whole=whole):
            raise node.error(expected)
    except FileError as error:
        raise ManifestError(error.file, error.line, error.expected) from None


def _unused(manifest: Manifest, source: Source, *, whole: bool) -> Iterator[tuple[Node, str]]:
    texts = source.modules(manifest.module).bare.values()
    # What is only assumed of a constant does not use it.
    words = Counter(word for text in texts for word in re.findall(r"\w+", _ASSUME.sub("", text)))
    own = source.top["reference"].entries()
    for name in manifest.reference:
        if words[name] < 2:  # noqa: PLR2004 - where it is declared or defined, and somewhere else
            yield (
                own.get(name, source.top["module"]),
                f"a constant or guard that the modules use, but none uses {name}",
            )
    used = {model.claims for model in manifest.models}
    sets = source.top["claims"].entries()
    likes = {keys["like"].text() for keys in (node.entries() for node in sets.values()) if "like" in keys}
    for name, node in sets.items():
        cfg, root = manifest.cfgs[name], manifest.module_of(name)
        modules = source.modules(root)
        entries = node.entries()
        places = entries["constants"].entries() if "constants" in entries else {}
        for constant in cfg.constants:
            if not modules.knows(constant):
                yield (places.get(constant, node), f"a constant that {root} has, but no module declares {constant}")
        for operator in filter(None, (*cfg.claims, cfg.specification, cfg.init, cfg.next, cfg.view)):
            if modules.definition(operator) is None:
                yield node, f"claims that {root} has, but no module defines {operator}"
        if whole and name not in used and name not in likes:
            yield node, f"a set of claims that a model is checked for, but none is for {name}"


def _check_links(
    manifest: Manifest, top: Mapping[str, Node], read: Callable[[str], Modules], *, recording: bool
) -> None:
    """Check that guarantees and their conjuncts exist, and that something shows each of them."""
    fallen = {claim for model in manifest.models for claim in model.violated}
    shown = {c for model in manifest.models if model.holds for c in manifest.cfg(model).claims}
    for key, links in (("assumes", manifest.assumes), ("gives", manifest.gives)):
        for module, conjuncts in links.items():
            node = top[key].entries()[module]
            if not any((folder / f"{module}.tla").is_file() for folder in manifest.folders):
                raise node.error(f"a module of spec/common, but there is no {module}.tla")
            modules = read(module)
            for conjunct, names in conjuncts.items():
                place = node.entries()[conjunct]
                if not modules.has_conjunct(module, conjunct):
                    raise place.error(f"a conjunct of {module}, not {conjunct}")
                if key == "assumes":
                    for name in names if names != NOT_ASKED else ():
                        if all(model.name != name for model in manifest.models):
                            raise place.error(f"a model of this manifest, not {name}")
                    continue
                if names == NOT_GIVEN:
                    continue
                if not names:
                    raise place.error(f"the claim that shows {conjunct}, not an empty list")
                for name in names:
                    if name not in shown:
                        raise place.error(f"a claim that a model that holds is checked for, not {name}")
                    if not recording and name not in fallen:
                        raise place.error(f"a claim that some ablation refutes, not {name}")
            for conjunct in modules.conjuncts(module):
                if conjunct not in conjuncts:
                    raise node.error(f"all conjuncts of {module}, but {conjunct} is missing")


def _check_erratum(manifest: Manifest, model: Model, erratum: Erratum, source: Source, seen: dict[str, str]) -> None:
    found = source.errata[model.name].entries()
    other = seen.setdefault(erratum.id, model.name)
    if other != model.name:
        raise found["id"].error(f"an ID of its own: {other} has {erratum.id}")
    for name, item in zip(erratum.proved_by, found["proved_by"].items(), strict=True):
        _holding(manifest, item, name)
    if erratum.story is not None:
        modules = source.modules(manifest.module_of(model.claims))
        if modules.definition(erratum.story) is None:
            raise found["story"].error(f"a predicate that the modules define, not {erratum.story}")
    if len(model.ablates) > 1 and not erratum.several:
        raise found["id"].error(
            f"one constant ablated, not {', '.join(model.ablates)}: a story is about one thing taken away "
            '(where it cannot be, "several" says why)'
        )
    if len(model.ablates) == 1 and erratum.several:
        raise found["several"].error('no "several", as one constant is ablated')


def _check_run(manifest: Manifest, model: Model, node: Node, source: Source) -> None:
    """Check claims, name and constants against each other."""
    found = node.entries()
    if model.claims not in manifest.cfgs:
        raise found.get("claims", node).error(
            f"a set of claims of this manifest ({', '.join(manifest.cfgs)}), not {model.claims}"
        )
    if model.liveness != model.name.endswith("_live"):
        raise found.get("name", node).error("a name that ends in _live if and only if the claims are for liveness")
    base = manifest.cfgs[model.claims]
    nodes = found["constants"].entries() if "constants" in found else found
    for name in model.ablates or model.constants:
        if name not in base.constants and not _overrides(manifest, model, name, source):
            raise nodes[name].error(
                f"a constant of the reference, a guard, or an operator that is replaced, not {name}"
            )
    for key in ("conform", "walk"):
        if key in found and found[key].boolean() and manifest.protocol.startswith(NOTE):
            raise found[key].error(f'no "{key}" in a folder {NOTE}..., which has no core')
        if key in found and found[key].boolean() and (model.liveness or base.constraints):
            raise found[key].error(f'"{key}" only with claims for safety that have no CONSTRAINT, not {model.claims}')
        if key in found and found[key].boolean() and model.claims in manifest.other_modules:
            raise found[key].error(
                f'"{key}" only in a model of {manifest.module}, not of {manifest.module_of(model.claims)}'
            )


def _overrides(manifest: Manifest, model: Model, name: str, source: Source) -> bool:
    """Say whether a model gives a guard of an instance another value, or replaces the operator `name`."""
    if name in manifest.inside[model.claims]:
        return True
    value = model.constants[name]
    if not (isinstance(value, str) and value.startswith(SUBSTITUTION)):
        return False
    return source.modules(manifest.module_of(model.claims)).definition(name) is not None


def _check_violation(
    manifest: Manifest, model: Model, control: Model, node: Node, source: Source, *, recording: bool
) -> None:
    """Check the violated claims, and that each constant ablated has another value than in the control."""
    found = node.entries()
    cfg, base = manifest.cfg(model), manifest.cfg(control)
    claim = str(model.violates)
    if claim not in cfg.claims:
        raise found["violates"].error(f"a claim of the set {model.claims}, not {claim}")
    if control.tier == "deep" and model.tier != "deep":
        raise found["tier"].error(f"deep, as the control {control.name} is, not {model.tier}")
    for name in model.ablates:
        if cfg.constants[name] == base.constants.get(name):
            raise found[name].error(f"another value than that of {control.name}, {name} {cfg.constants[name]}")
    if recording or model.trace is None:
        return
    row = source.recorded[model.name].entries()["violates"]
    for name, item in zip(model.violated, row.items(), strict=True):
        of, _, number = name.partition("/")
        if of not in manifest.claims():
            raise item.error(f"a claim that is no type invariant, not {of}")
        if number:
            last = len(source.modules(manifest.module_of(model.claims)).conjuncts_of(of))
            if int(number) > last:
                raise item.error(f"one of the {last} conjuncts of {of}, not {name}")
        if number and of not in model.violated:
            raise item.error(f"{of} among the violated claims, as {name} is")
    if claim not in model.violated and claim not in manifest.type_invariants:
        raise row.error(f"{claim} among the violated claims, as {model.name} violates it first")


def _holding(manifest: Manifest, node: Node, name: str) -> Model:
    """Find the model `name`, which `node` refers to and which must hold."""
    for model in manifest.models:
        if model.name == name and model.holds:
            return model
    raise node.error(f"a model that holds, not {name}")
