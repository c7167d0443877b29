"""The manifest of a protocol, `spec/<protocol>/models.yaml`: all input of TLC, and the expected results.

- `reference` gives each constant of the modules the value that it has over sound layers, without a fault. The
  guards are no constants: the modules define them, with the values of the repaired algorithm. `claims` names
  sets of claims. Each has TLC's input for it (`specification` or `init` and `next`, `view`, ...), its
  `invariants` and `properties`, and in `constants` the differences from the reference. A set that is `like`
  another has what it does not say itself from there, and the claims of `more` besides; but a set for liveness
  has no `view`. A set may be over another `module` of the folder, such as a note's own algorithm. It has the
  reference's values of the constants that this module declares, too. (`with` names protocols whose modules it
  uses.)
- A model is one run: a set of claims (`safety` unless it says another) and the constants that it changes.
  The cfg file that TLC reads is made from these; there is none in the project. It *holds*.
- `without` lists its ablations, the flawed variants: each gives the constants in which it differs from the
  model, its *control*, and the claim that it *violates* first. All else is as in the control.
- `recorded.yaml` beside it has a row for each model: counts of a model that holds; of an ablation the length
  of the counterexample, and all claims that it violates. `groupcomm check --record` alone writes it.
- `errata.yaml`, where there is one, tells the stories of ablations that show a flaw of the note.

`gives` and `assumes` say what the protocol is in a stack: guarantees, which are modules of `spec/common`,
conjunct by conjunct, with the claims that show what is given and models without what is assumed.

Loading checks all that can be known without running TLC, so that a run never starts from a manifest that
contradicts itself. Every refusal is a `ManifestError` and prints `file:line: expected ...`.

Protocols are the folders of `spec/` that have a manifest; nothing else lists them. A folder `note_...` has an
algorithm of a note that no core implements: no model of it is marked `conform` or `walk`. The keys are
described in `model.Model`, `model.Erratum` and `model.Manifest`.
"""

import re
from collections.abc import Iterator, Mapping
from os.path import lexists
from pathlib import Path
from typing import Final, cast

from attrs import evolve

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.project import find_root
from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.files.strict_yaml import Node
from groupcomm_conformance.tla.cfg import GREATEST, LEAST, Cfg

from . import consistency
from .model import (
    NOTE,
    SUBSTITUTION,
    TIERS,
    Constant,
    Counts,
    Erratum,
    Manifest,
    ManifestError,
    Model,
    Tier,
    UnknownNameError,
    cfg_text,
    constant_text,
    did_you_mean,
    is_liveness,
)
from .modules import scope
from .source import MANIFEST, RECORDED, Source

__all__ = [
    "LAYERS",
    "MANIFEST",
    "TIERS",
    "Constant",
    "Counts",
    "Erratum",
    "Manifest",
    "ManifestError",
    "Model",
    "Tier",
    "UnknownNameError",
    "cfg_text",
    "constant_text",
    "cores",
    "did_you_mean",
    "find_root",
    "is_liveness",
    "load",
    "protocols",
]

_NAME: Final = r"[a-z][a-z0-9_]*"
_OPERATOR: Final = r"[A-Za-z][A-Za-z0-9_]*"
_VIOLATED: Final = r"[A-Za-z][A-Za-z0-9_]*(/[1-9][0-9]{0,2})?"
_COUNTED: Final = ("distinct", "transitions", "depth")
_SHOWN: Final = ("trace", "violates")
_ONE: Final = ("specification", "init", "next", "view")
LAYERS: Final = Path("spec", "common", "layers.yaml")

_MANY: Final = ("invariants", "properties", "constraints", "action_constraints", "symmetry")


def protocols(root: Path) -> tuple[str, ...]:
    """Name the protocols, the folders of `spec` with a manifest: layers from the top of the stack, then all others."""
    # Also a link to nothing: then a manifest is missing, and the protocol exists.
    names = sorted(folder.name for folder in (root / "spec").iterdir() if lexists(folder / MANIFEST))
    listed = root / LAYERS
    stack = re.findall(r"^(\w+):", read_text(listed, str(LAYERS)), re.MULTILINE) if lexists(listed) else []
    return tuple(sorted(names, key=lambda name: (stack.index(name) if name in stack else len(stack), name)))


def cores(root: Path) -> tuple[str, ...]:
    """Name the protocols that have a core: all but a note's own algorithm, in a folder `note_...`."""
    return tuple(name for name in protocols(root) if not name.startswith(NOTE))


def load(root: Path, protocol: str, *, recording: bool = False) -> Manifest:
    """Read and check the manifest of `protocol`.

    With `recording` the rows of `recorded.yaml` may be missing or outdated, as what comes will be recorded.
    UnknownNameError where there is no such protocol, ManifestError where anything is amiss.
    """
    known = protocols(root)
    if protocol not in known:
        raise UnknownNameError("protocol", protocol, known)
    source = Source(root / "spec" / protocol)
    try:
        manifest = _manifest(source, protocol, recording=recording)
        consistency.check(manifest, source, recording=recording)
    except FileError as error:
        raise ManifestError(error.file, error.line, error.expected) from None
    return manifest


def _manifest(source: Source, protocol: str, *, recording: bool) -> Manifest:
    top, folder = source.top, source.folder
    top["protocol"].choice((protocol,))
    module = _module(top["module"], folder)
    own = _constants(top["reference"])
    guards = source.modules(module).guards_of_scope(module)
    for name in guards.keys() & own.keys():
        raise (top["reference"].entries()[name].error(f"a constant, not {name}: {module} defines this guard's value"))
    reference = {**guards, **{name: constant_text(value) for name, value in own.items()}}
    cfgs, other_modules = _claim_sets(source, reference)
    return Manifest(
        protocol=protocol,
        folder=folder,
        file=source.document.file,
        module=module,
        reference=reference,
        cfgs=cfgs,
        type_invariants=_names(top["type_invariants"], "an invariant"),
        witnesses={
            name: _names(node, "a model", or_one=True)
            for name, node in top["witnesses"].entries("a mapping from operators to models").items()
        },
        models=tuple(_models(source, recording=recording)),
        assumes=_links(top["assumes"], "a model") if "assumes" in top else {},
        gives=_links(top["gives"], "a claim") if "gives" in top else {},
        other_modules=other_modules,
        with_=source.with_,
        inside={
            name: source.modules(root).guards_inside(root)
            for name in cfgs
            for root in (other_modules.get(name, module),)
        },
    )


def _links(node: Node, what: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read `{Module: {Conjunct: name, Conjunct: [names]}}`."""
    return {
        module: {
            conjunct: _names(names, what, or_one=True)
            for conjunct, names in entries.entries("a mapping from conjuncts").items()
        }
        for module, entries in node.entries("a mapping from modules to their conjuncts").items()
    }


def _claim_sets(source: Source, reference: Mapping[str, str]) -> tuple[dict[str, Cfg], dict[str, str]]:
    """Read the sets of claims, and for each set over another module, that module."""
    found: dict[str, Cfg] = {}
    other_modules: dict[str, str] = {}
    start = Cfg(constants=reference)
    for name, entry in source.top["claims"].entries("a mapping from names to sets of claims").items():
        keys = entry.fields((), ("like", "module", "constants", "more", *_ONE, *_MANY))
        base = start
        if "like" in keys:
            like = keys["like"].text()
            base = found.get(like) or _unknown_set(keys["like"], found)
            base = evolve(base, view=None) if is_liveness(name) else base
            other_modules |= {name: other_modules[like]} if like in other_modules else {}
        if "module" in keys:
            root = other_modules[name] = _module(keys["module"], source.folder)
            base = Cfg(constants=_inherited(source, root, reference))
            if "like" in keys:
                raise keys["module"].error('no "module" in a set that is like another, which has one')
        one = {key: keys[key].matching(_OPERATOR, "the name of an operator") for key in _ONE if key in keys}
        many = {key: _names(keys[key], "an operator", or_one=True) for key in _MANY if key in keys}
        changed = evolve(base, **one, **many)  # type: ignore[arg-type]
        if "more" in keys:
            for key, more in keys["more"].fields((), ("invariants", "properties")).items():
                before: tuple[str, ...] = getattr(changed, key)
                after = (*before, *_names(more, "a claim", or_one=True))
                if len(set(after)) < len(after):
                    raise more.error(f"claims that the set has not yet, not one of {', '.join(before)}")
                changed = evolve(changed, **{key: after})  # type: ignore[arg-type]
        own = _constants(keys["constants"]) if "constants" in keys else {}
        for constant in own:
            if constant not in base.constants and "module" not in keys:
                raise (keys["constants"].entries()[constant].error(f"a constant of the reference, not {constant}"))
        sides = {constant: constant_text(value) for constant, value in own.items()}
        found[name] = evolve(changed, constants={**base.constants, **sides})
        if (changed.specification is None) == (changed.init is None or changed.next is None):
            raise entry.error('"specification", or "init" and "next"')
    return found, other_modules


def _inherited(source: Source, root: str, reference: Mapping[str, str]) -> dict[str, str]:
    """Give what a set over another module has from the reference: the constants that this module has, too."""
    modules = source.modules(root)
    here = scope(modules, root)
    sides = {name: side for name, side in reference.items() if any(modules.declares(each, name) for each in here)}
    return {**modules.guards_of_scope(root), **sides}


def _module(node: Node, folder: Path) -> str:
    module = node.matching(_OPERATOR, "the name of a module")
    if not (folder / f"{module}.tla").is_file():
        raise node.error(f"a module of this folder, but there is no {module}.tla")
    return module


def _unknown_set(node: Node, found: Mapping[str, Cfg]) -> Cfg:
    raise node.error(f"a set of claims above it ({', '.join(found) or 'there is none'})")


def _models(source: Source, *, recording: bool) -> Iterator[Model]:
    control: Model | None = None
    for node, below in source.models():
        if below is None:
            model = control = _control(node)
        else:
            model = _ablation(node, cast("Model", control))
            if model.name in source.errata:
                model = evolve(model, erratum=_erratum(source.errata[model.name], str(model.violates)))
        yield _with_row(model, node, source.recorded.get(model.name), recording=recording)


def _control(node: Node) -> Model:
    """Read a model that holds."""
    found = node.fields(("name", "tier", "shows"), ("claims", "bounds", "constants", "conform", "walk", "without"))
    return Model(
        name=found["name"].matching(_NAME, "a name in lower case"),
        tier=cast("Tier", found["tier"].choice(TIERS)),
        claims=found["claims"].text() if "claims" in found else "safety",
        shows=_line(found["shows"]),
        line=node.line,
        bounds=found["bounds"].text() if "bounds" in found else "",
        constants=_constants(found["constants"]) if "constants" in found else {},
        conform=_flag(found, "conform"),
        walk=_flag(found, "walk"),
    )


def _ablation(node: Node, control: Model) -> Model:
    """Read what an ablation says: all else is as in its control."""
    entries = node.entries("a mapping from constants, and what the ablation violates")
    changes = {name: _constant(value) for name, value in entries.items() if name[:1].isupper()}
    if not changes:
        raise node.error("a constant in which the ablation differs from its control, such as Guard: false")
    others = {name: value for name, value in entries.items() if name not in changes}
    found = evolve(node, content=others).fields(("name", "violates", "shows"), ("tier", "bounds"))
    return Model(
        name=found["name"].matching(_NAME, "a name in lower case"),
        tier=cast("Tier", found["tier"].choice(TIERS)) if "tier" in found else control.tier,
        claims=control.claims,
        shows=_line(found["shows"]),
        line=node.line,
        bounds=found["bounds"].text() if "bounds" in found else "",
        constants={**control.constants, **changes},
        violates=found["violates"].matching(_OPERATOR, "the name of a claim"),
        ablates=tuple(changes),
        control=control.name,
    )


def _with_row(model: Model, node: Node, row: Node | None, *, recording: bool) -> Model:
    """Give a model with what is recorded of it."""
    needed = _COUNTED if model.holds else _SHOWN
    if row is None or (recording and not row.entries().keys() >= {*needed}):
        if recording:
            return model
        raise node.error(f"a row of {model.name} in {RECORDED}, which groupcomm check --record writes")
    found = row.fields(needed, ("digest",) if model.tier == "deep" else ())
    model = evolve(
        model,
        digest=found["digest"].matching(r"[0-9a-f]{16}", "16 hexadecimal digits in quotes")
        if "digest" in found
        else None,
    )
    if model.holds:
        return evolve(model, counts=Counts(*(found[key].integer(0) for key in _COUNTED)))
    return evolve(model, trace=found["trace"].integer(1), violated=_names(found["violates"], "a claim", _VIOLATED))


def _line(node: Node) -> str:
    return node.matching(r"[^\n]*\S[^\n]*", "one line of text")


def _erratum(node: Node, claim: str) -> Erratum:
    found = node.fields(("id", "title", "harm", "flaw", "repair", "proved_by"), ("story", "several"))
    return Erratum(
        id=found["id"].matching(r"[A-Z]+-[0-9]+[a-z]?", 'an ID such as "FLAW-15"'),
        title=found["title"].text(),
        harm=found["harm"].matching(r"[^\n|]*[^\n|\s][^\n|]*", "one line of text without |"),
        claim=claim,
        flaw=found["flaw"].text(),
        repair=found["repair"].text(),
        proved_by=_names(found["proved_by"], "a model"),
        story=found["story"].matching(_OPERATOR, "the name of a predicate") if "story" in found else None,
        several=found["several"].text() if "several" in found else "",
    )


def _constants(node: Node) -> dict[str, Constant]:
    return {name: _constant(value) for name, value in node.entries("a mapping from constants").items()}


def _constant(node: Node) -> Constant:
    match node.content:
        case str(text) if text.startswith(SUBSTITUTION):
            return node.matching(rf"<- (\[{_OPERATOR}\])?{_OPERATOR}", '"<- " and an operator')
        case bool() as value:
            return value
        case int():
            return _tla_integer(node)
        case str():
            return _tla_string(node)
        case tuple(items):
            elements = tuple(
                _tla_integer(item) if isinstance(item.content, int) else _tla_string(item) for item in items
            )
            if len(set(elements)) < len(elements):
                raise node.error("a set, but an element is there twice")
            return elements
        case _:
            raise node.error('an integer, true, false, text, "<- Operator" or a list')


def _tla_integer(node: Node) -> int:
    value = node.integer()
    if not LEAST <= value <= GREATEST:
        raise node.error(f"an integer from {LEAST} to {GREATEST}: TLC has no others")
    return value


def _tla_string(node: Node) -> str:
    return node.matching(r'[^"\\\n]+', "text without quotes, backslashes or line ends")


def _names(node: Node, what: str, form: str = _OPERATOR, *, or_one: bool = False) -> tuple[str, ...]:
    """Read a list of names, or where `or_one` allows it a single name; each once."""
    if or_one and isinstance(node.content, str):
        return (node.matching(_OPERATOR, f"the name of {what}"),)
    names: list[str] = []
    for item in node.items(f"a list, each item the name of {what}"):
        name = item.matching(form, f"the name of {what}")
        if name in names:
            raise item.error(f"each name once, not {name} again")
        names.append(name)
    return tuple(names)


def _flag(found: Mapping[str, Node], key: str) -> bool:
    return key in found and found[key].boolean()
