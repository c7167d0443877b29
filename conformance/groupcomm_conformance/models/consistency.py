"""Checks that the parts of a manifest agree: a manifest that contradicts itself is refused."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TypeAlias

from groupcomm_conformance.files.strict_yaml import Node

from .model import NOT_ASKED, NOT_GIVEN, NOTE, SUBSTITUTION, Erratum, Manifest, Model, is_liveness
from .modules import Modules, read_modules

__all__ = ["check"]

Reader: TypeAlias = Callable[[str], Modules]
"""Reads a module and what it needs, once: many models ask for the same."""


def check(manifest: Manifest, document: Node, *, recording: bool = False) -> None:
    """Refuse, by a FileError that names the place, a manifest whose parts contradict each other.

    With `recording`, the violated claims may still be missing.
    """
    top = document.entries()
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

    read = cache(partial(read_modules, manifest.folders))
    lines: dict[str, int] = {}
    errata: dict[str, str] = {}
    for model, node in zip(manifest.models, top["models"].items(), strict=True):
        first = lines.setdefault(model.name, model.line)
        if first != model.line:
            raise node.error(f'each model once, not "{model.name}" again (first on line {first})')
        found = node.entries()
        _check_run(manifest, model, node, found, read)
        if not model.holds:
            _check_violation(manifest, model, found, read, recording=recording)
        if model.erratum is not None:
            _check_erratum(manifest, model, model.erratum, found["erratum"].entries(), errata, read=read)
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
                raise node.error(
                    f"a predicate that the modules of {name} define, but none defines {operator}"
                )
    _check_links(manifest, top, read, recording=recording)


def _check_links(manifest: Manifest, top: Mapping[str, Node], read: Reader, *, recording: bool) -> None:
    """Check that guarantees and their conjuncts exist, and that something shows each of them."""
    fallen = {claim for model in manifest.models for claim in model.falls}
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


def _check_erratum(
    manifest: Manifest,
    model: Model,
    erratum: Erratum,
    found: Mapping[str, Node],
    seen: dict[str, str],
    *,
    read: Reader,
) -> None:
    other = seen.setdefault(erratum.id, model.name)
    if other != model.name:
        raise found["id"].error(f"an ID of its own: {other} has {erratum.id}")
    if erratum.claim != model.violates:
        raise found["claim"].error(f"what the model violates, {model.violates}, not {erratum.claim}")
    for name, item in zip(erratum.proved_by, found["proved_by"].items(), strict=True):
        _holding(manifest, item, name)
    if erratum.story is not None:
        modules = read(manifest.module_of(model.claims))
        if modules.definition(erratum.story) is None:
            raise found["story"].error(f"a predicate that the modules define, not {erratum.story}")
    if len(model.ablates) > 1 and not erratum.several:
        raise found["id"].error(
            f"one constant ablated, not {', '.join(model.ablates)}: a story is about one thing taken away "
            '(where it cannot be, "several" says why)'
        )
    if len(model.ablates) == 1 and erratum.several:
        raise found["several"].error('no "several", as one constant is ablated')


def _check_run(manifest: Manifest, model: Model, node: Node, found: Mapping[str, Node], read: Reader) -> None:
    """Check claims, name and constants against each other."""
    if model.claims not in manifest.cfgs:
        raise found.get("claims", node).error(
            f"a set of claims of this manifest ({', '.join(manifest.cfgs)}), not {model.claims}"
        )
    if model.liveness != model.name.endswith("_live"):
        raise found["name"].error("a name that ends in _live if and only if the claims are for liveness")
    base = manifest.cfgs[model.claims]
    for name, value in model.constants.items():
        if name not in base.constants and not _overrides(manifest, model, name, value, read):
            raise (
                found["constants"]
                .entries()[name]
                .error(f"a constant of the reference, or an operator that is replaced, not {name}")
            )
    for key in ("conform", "walk"):
        if key in found and found[key].boolean() and manifest.protocol.startswith(NOTE):
            raise found[key].error(f'no "{key}" in a folder {NOTE}..., which has no core')
        if key in found and found[key].boolean() and (model.liveness or base.constraints):
            raise found[key].error(
                f'"{key}" only with claims for safety that have no CONSTRAINT, not {model.claims}'
            )
        if key in found and found[key].boolean() and model.claims in manifest.other_modules:
            raise found[key].error(
                f'"{key}" only in a model of {manifest.module}, not of {manifest.module_of(model.claims)}'
            )


def _overrides(manifest: Manifest, model: Model, name: str, value: object, read: Reader) -> bool:
    """Say whether a model puts another operator in the place of the operator `name`."""
    if not (isinstance(value, str) and value.startswith(SUBSTITUTION)):
        return False
    return read(manifest.module_of(model.claims)).definition(name) is not None


def _check_violation(
    manifest: Manifest,
    model: Model,
    found: Mapping[str, Node],
    read: Reader,
    *,
    recording: bool,
) -> None:
    """Check the violated claims, and that the control differs in the ablated constants alone."""
    cfg = manifest.cfg(model)
    claim = str(model.violates)
    if claim not in cfg.claims:
        raise found["expect"].error(f"a claim of the set {model.claims} after violates:, not {claim}")
    falls = found["falls"].items() if "falls" in found else ()
    for name, item in zip(model.falls, falls, strict=True):
        of, _, number = name.partition("/")
        if of not in manifest.claims():
            raise item.error(f"a claim that is no type invariant, not {of}")
        if number and not recording:
            last = len(read(manifest.module_of(model.claims)).conjuncts_of(of))
            if int(number) > last:
                raise item.error(f"one of the {last} conjuncts of {of}, not {name}")
        if number and of not in model.falls:
            raise item.error(f"{of} among the violated claims, as {name} is")
    if not recording and claim not in model.falls and claim not in manifest.type_invariants:
        raise found["falls"].error(f"{claim} among the violated claims, as the model violates it")
    control = _holding(manifest, found["control"], str(model.control))
    if control.claims != model.claims:
        raise found["control"].error(f"a model with the claims {model.claims}, not {control.claims}")
    if control.tier == "deep" and model.tier != "deep":
        raise found["control"].error(f"a model that is run with tier {model.tier}, not a deep one")
    with_guard = manifest.cfg(control).constants
    defined = "as the module defines it"
    different = {
        name: (cfg.constants.get(name, defined), with_guard.get(name, defined))
        for name in sorted({*cfg.constants, *with_guard})
        if cfg.constants.get(name) != with_guard.get(name)
    }
    if not model.ablates:
        raise found["ablates"].error("a constant that is ablated, not an empty list")
    for name in model.ablates:
        if name not in different:
            raise found["ablates"].error(f"a constant that differs from {control.name}, not {name}")
    for name, (here, there) in different.items():
        if name not in model.ablates:
            raise found["control"].error(
                f"a model that differs in {', '.join(model.ablates)} only; {control.name} has "
                f"{name} {there}, here it is {name} {here}"
            )


def _holding(manifest: Manifest, node: Node, name: str) -> Model:
    """Find the model `name`, which `node` refers to and which must hold."""
    for model in manifest.models:
        if model.name == name and model.holds:
            return model
    raise node.error(f"a model that holds, not {name}")
