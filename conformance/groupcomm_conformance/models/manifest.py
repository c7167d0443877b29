"""The manifest of a protocol, `spec/<protocol>/models.yaml`: all input of TLC, and the expected results.

- `reference` gives every constant of the modules the value that it has in the repaired algorithm over sound
  layers: each guard on, no fault. `claims` names sets of claims. Each has TLC's input for it
  (`specification` or `init` and `next`, `view`, ...), its `invariants` and `properties`, and in `constants`
  the differences from the reference. A set that is `like` another has what it does not say itself from there,
  and the claims of `more` besides; but a set for liveness has no `view`. A set may be over another `module`
  of the folder, such as a note's own algorithm; its `constants` are then a reference of its own. (`with`
  names protocols whose modules it uses.)
- A model is one run: a set of claims (`safety` unless it says another) and the constants that it changes.
  The cfg file that TLC reads is made from these; there is none in the project.
- It *holds*, with exact counts, or it *violates* one named claim, as a flawed variant (an ablation) must.
  Then its *control* is the model that has the same constants except for those in `ablates`, and holds.

`gives` and `assumes` say what the protocol is in a stack: guarantees, which are modules of `spec/common`,
conjunct by conjunct, with the claims that show what is given and models without what is assumed.

Loading checks all that can be known without running TLC, so that a run never starts from a manifest that
contradicts itself. Every refusal is a `ManifestError` and prints `file:line: expected ...`.

Protocols are the folders of `spec/` that have a manifest; nothing else lists them. A folder `note_...` has an
algorithm of a note that no core implements: no model of it is marked `conform` or `walk`. The keys are
described in `model.Model`, `model.Erratum` and `model.Manifest`.
"""

from collections.abc import Mapping
from os.path import lexists
from pathlib import Path
from typing import Final, cast

from attrs import evolve

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.project import find_root
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

__all__ = [
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

MANIFEST: Final = "models.yaml"

_NAME: Final = r"[a-z][a-z0-9_]*"
_OPERATOR: Final = r"[A-Za-z][A-Za-z0-9_]*"
_FALLEN: Final = r"[A-Za-z][A-Za-z0-9_]*(/[1-9][0-9]{0,2})?"
_COUNTED: Final = ("distinct", "transitions", "depth")
_HOLDS_ONLY: Final = (*_COUNTED, "conform", "walk")
_SHOWN: Final = ("trace", "falls")
_VIOLATES_ONLY: Final = ("ablates", "control", *_SHOWN, "erratum")
_ONE: Final = ("specification", "init", "next", "view")
_MANY: Final = ("invariants", "properties", "constraints", "action_constraints", "symmetry")


def protocols(root: Path) -> tuple[str, ...]:
    """Name the protocols: the folders of `spec` with a manifest, sorted."""
    # Also a link to nothing: then a manifest is missing, and the protocol exists.
    return tuple(sorted(folder.name for folder in (root / "spec").iterdir() if lexists(folder / MANIFEST)))


def cores(root: Path) -> tuple[str, ...]:
    """Name the protocols that have a core: all but a note's own algorithm, in a folder `note_...`."""
    return tuple(name for name in protocols(root) if not name.startswith(NOTE))


def load(root: Path, protocol: str, *, recording: bool = False) -> Manifest:
    """Read and check the manifest of `protocol`.

    With `recording` the counts, traces and falls of models may be missing, as what comes will be recorded.
    UnknownNameError where there is no such protocol, ManifestError where anything is amiss.
    """
    known = protocols(root)
    if protocol not in known:
        raise UnknownNameError("protocol", protocol, known)
    folder = root / "spec" / protocol
    try:
        document = strict_yaml.load(folder / MANIFEST, f"spec/{protocol}/{MANIFEST}")
        manifest = _manifest(document, protocol, folder, recording=recording)
        consistency.check(manifest, document, recording=recording)
    except FileError as error:
        raise ManifestError(error.file, error.line, error.expected) from None
    return manifest


def _manifest(document: Node, protocol: str, folder: Path, *, recording: bool) -> Manifest:
    top = document.fields(
        ("protocol", "module", "reference", "claims", "type_invariants", "witnesses", "models"),
        ("assumes", "gives", "with"),
    )
    top["protocol"].choice((protocol,))
    module = _module(top["module"], folder)
    reference = _constants(top["reference"])
    cfgs, other_modules = _claim_sets(top["claims"], reference, folder)
    return Manifest(
        protocol=protocol,
        folder=folder,
        file=document.file,
        module=module,
        reference={name: constant_text(value) for name, value in reference.items()},
        cfgs=cfgs,
        type_invariants=_names(top["type_invariants"], "an invariant"),
        witnesses={
            name: _names(node, "a model", or_one=True)
            for name, node in top["witnesses"].entries("a mapping from operators to models").items()
        },
        models=tuple(_model(node, recording=recording) for node in top["models"].items("a list of models")),
        assumes=_links(top["assumes"], "a model") if "assumes" in top else {},
        gives=_links(top["gives"], "a claim") if "gives" in top else {},
        other_modules=other_modules,
        with_=_beside(top["with"], folder) if "with" in top else (),
    )


def _beside(node: Node, folder: Path) -> tuple[str, ...]:
    for item in node.items("a list of protocols"):
        if not (folder.parent / item.text()).is_dir():
            raise item.error(f"a protocol, but there is no spec/{item.text()}")
    return _names(node, "a protocol")


def _links(node: Node, what: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read `{Module: {Conjunct: name, Conjunct: [names]}}`."""
    return {
        module: {
            conjunct: _names(names, what, or_one=True)
            for conjunct, names in entries.entries("a mapping from conjuncts").items()
        }
        for module, entries in node.entries("a mapping from modules to their conjuncts").items()
    }


def _claim_sets(
    node: Node, reference: Mapping[str, Constant], folder: Path
) -> tuple[dict[str, Cfg], dict[str, str]]:
    """Read the sets of claims, and for each set over another module, that module."""
    found: dict[str, Cfg] = {}
    other_modules: dict[str, str] = {}
    start = Cfg(constants={name: constant_text(value) for name, value in reference.items()})
    for name, entry in node.entries("a mapping from names to sets of claims").items():
        keys = entry.fields((), ("like", "module", "constants", "more", *_ONE, *_MANY))
        base = start
        if "like" in keys:
            like = keys["like"].text()
            base = found.get(like) or _unknown_set(keys["like"], found)
            base = evolve(base, view=None) if is_liveness(name) else base
            other_modules |= {name: other_modules[like]} if like in other_modules else {}
        if "module" in keys:
            base, other_modules[name] = Cfg(constants={}), _module(keys["module"], folder)
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
                raise (
                    keys["constants"]
                    .entries()[constant]
                    .error(f"a constant of the reference, not {constant}")
                )
        sides = {constant: constant_text(value) for constant, value in own.items()}
        found[name] = evolve(changed, constants={**base.constants, **sides})
        if (changed.specification is None) == (changed.init is None or changed.next is None):
            raise entry.error('"specification", or "init" and "next"')
    return found, other_modules


def _module(node: Node, folder: Path) -> str:
    module = node.matching(_OPERATOR, "the name of a module")
    if not (folder / f"{module}.tla").is_file():
        raise node.error(f"a module of this folder, but there is no {module}.tla")
    return module


def _unknown_set(node: Node, found: Mapping[str, Cfg]) -> Cfg:
    raise node.error(f"a set of claims above it ({', '.join(found) or 'there is none'})")


def _model(node: Node, *, recording: bool) -> Model:
    found = node.fields(
        ("name", "tier", "expect", "shows"),
        ("claims", "bounds", "constants", *_HOLDS_ONLY, *_VIOLATES_ONLY, "digest"),
    )
    expect = found["expect"].matching(rf"holds|violates: {_OPERATOR}", '"holds" or "violates: Name"')
    violates = None if expect == "holds" else expect.removeprefix("violates: ")
    if violates is None:
        _present(node, found, () if recording else _COUNTED, "a model that holds")
        _absent(found, _VIOLATES_ONLY, "a model that violates a claim")
    else:
        needed = ("ablates", "control") if recording else ("ablates", "control", *_SHOWN)
        _present(node, found, needed, "a model that violates a claim")
        _absent(found, _HOLDS_ONLY, "a model that holds")
    counts = [found[key].integer(0) for key in _COUNTED if key in found]
    tier = cast("Tier", found["tier"].choice(TIERS))
    if "digest" in found and tier != "deep":
        raise found["digest"].error('no "digest", which only a deep model may have')
    return Model(
        name=found["name"].matching(_NAME, "a name in lower case"),
        tier=tier,
        claims=found["claims"].text() if "claims" in found else "safety",
        shows=found["shows"].matching(r"[^\n]*\S[^\n]*", "one line of text"),
        line=node.line,
        bounds=found["bounds"].text() if "bounds" in found else "",
        constants=_constants(found["constants"]) if "constants" in found else {},
        counts=Counts(*counts) if len(counts) == len(_COUNTED) else None,
        conform=_flag(found, "conform"),
        walk=_flag(found, "walk"),
        violates=violates,
        ablates=_names(found["ablates"], "a constant", or_one=True) if violates else (),
        control=found["control"].text() if violates else None,
        trace=found["trace"].integer(1) if "trace" in found else None,
        falls=_names(found["falls"], "a claim", _FALLEN) if "falls" in found else (),
        erratum=_erratum(found["erratum"]) if "erratum" in found else None,
        digest=found["digest"].matching(r"[0-9a-f]{16}", "16 hexadecimal digits in quotes")
        if "digest" in found
        else None,
    )


def _erratum(node: Node) -> Erratum:
    found = node.fields(("id", "title", "harm", "claim", "flaw", "repair", "proved_by"), ("story", "several"))
    return Erratum(
        id=found["id"].matching(r"[A-Z]+-[0-9]+[a-z]?", 'an ID such as "FLAW-15"'),
        title=found["title"].text(),
        harm=found["harm"].matching(r"[^\n|]*[^\n|\s][^\n|]*", "one line of text without |"),
        claim=found["claim"].matching(_OPERATOR, "the name of a claim"),
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


def _present(node: Node, found: Mapping[str, Node], keys: tuple[str, ...], whose: str) -> None:
    for key in keys:
        if key not in found:
            raise node.error(f'the key "{key}", which {whose} must have')


def _absent(found: Mapping[str, Node], keys: tuple[str, ...], whose: str) -> None:
    for key in keys:
        if key in found:
            raise found[key].error(f'no "{key}", which only {whose} may have')
