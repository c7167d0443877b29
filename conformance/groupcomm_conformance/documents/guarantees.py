"""`docs/guarantees.md`: the guarantees that the field has names for, and which of them the stack gives.

The names are those of G. Chockler, I. Keidar and R. Vitenberg, "Group communication specifications: a
comprehensive study", ACM Computing Surveys 33(4), 2001. `spec/common/survey.yaml` says of each, in words of
ours, what it means and

- `given`: by which claims of which protocol (`sequencer: NoDuplicates`), or by which conjuncts of a guarantee
  (`Membership: SelfInclusion`), which is shown where a protocol gives the guarantee, else assumed and open;
- `limits`: what of it is not given, or `not_given`: why none of it is. The budgets of faults under which a
  conjunct is not given stand before it, from the manifests (`budgets`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.strict_yaml import Node
from groupcomm_conformance.models.manifest import Manifest

from .budgets import lost
from .layers import guarantee

PATH: Final = Path("docs", "guarantees.md")
FILE: Final = Path("spec", "common", "survey.yaml")

_HEAD: Final = """\
# Guarantees by the names of the field

The names are those of Chockler, Keidar and Vitenberg, "Group communication specifications: a comprehensive
study", ACM Computing Surveys 33(4), 2001. Of each: what it means, which layer gives it by which claim, and in
which models that is shown; or that it is not given, and why. *Assumed* is what a layer stands on and no
protocol here is shown to give (see [assumptions](assumptions.md)). Written by `groupcomm guarantees` from
`spec/common/survey.yaml` and the manifests; do not edit it.

| guarantee | meaning | given by | shown in | not given |
| --- | --- | --- | --- | --- |
"""


@frozen
class _Given:
    """A claim of a protocol, or a conjunct of a guarantee, and where it is shown."""

    by: str
    shown: str
    lost: str = ""
    """The budgets of faults under which it is not given."""


def page(root: Path, manifests: Iterable[Manifest]) -> str:
    """Write the page. FileError where the survey names what there is not, or what nothing shows."""
    known = {manifest.protocol: manifest for manifest in manifests}
    document = strict_yaml.load(root / FILE, str(FILE))
    entries = document.entries("a mapping from names of guarantees")
    return _HEAD + "".join(f"{_row(root, known, name, node)}\n" for name, node in entries.items())


def _row(root: Path, known: Mapping[str, Manifest], name: str, node: Node) -> str:
    keys = node.fields(("means",), ("given", "limits", "not_given"))
    if ("given" in keys) == ("not_given" in keys):
        raise node.error('either "given" or "not_given"')
    if "limits" in keys and "given" not in keys:
        raise keys["limits"].error('no "limits" of what is not given')
    given = [*_given(root, known, keys["given"])] if "given" in keys else []
    by = "; ".join(each.by for each in given) or "-"
    shown = "; ".join(dict.fromkeys(each.shown for each in given)) or "-"
    said = next((keys[key].text() for key in ("not_given", "limits") if key in keys), "")
    missing = " ".join((*dict.fromkeys(each.lost for each in given if each.lost), said))
    cells = (name, keys["means"].text(), by, shown, missing)
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"


def _given(root: Path, known: Mapping[str, Manifest], node: Node) -> Iterator[_Given]:
    entries = node.entries("a mapping from protocols or guarantees to claims or conjuncts")
    if not entries:
        raise node.error("what gives it, not an empty mapping")
    for whose, names in entries.items():
        listed = names.items() if isinstance(names.content, tuple) else (names,)
        if not listed:
            raise names.error(f"what of {whose} gives it, not an empty list")
        for item in listed:
            name = item.text("the name of a claim or conjunct")
            if whose in known:
                yield _claim(known[whose], name, item)
            else:
                yield _conjunct(root, known, whose, name, item)


def _claim(manifest: Manifest, name: str, node: Node) -> _Given:
    if name not in manifest.claims():
        raise node.error(f"a claim of {manifest.protocol}, not {name}")
    holding = [model.name for model in manifest.models if model.holds and name in manifest.cfg(model).claims]
    falling = [model.name for model in manifest.models if name in model.violated]
    if not holding or not falling:
        lacks = "a model that holds" if not holding else "an ablation that refutes it"
        raise node.error(f"a claim with {lacks}, which {name} has not")
    return _Given(f"{manifest.protocol}: `{name}`", f"{_some(holding)}; violated in {_some(falling)}")


def _conjunct(root: Path, known: Mapping[str, Manifest], module: str, name: str, node: Node) -> _Given:
    modules = guarantee(root, module)
    if modules is None:
        raise node.error(f"a protocol ({', '.join(known)}) or a module of spec/common, not {module}")
    if not modules.has_conjunct(module, name):
        raise node.error(f"a conjunct of {module}, not {name}")
    for manifest in known.values():
        claims = manifest.gives.get(module, {}).get(name, ())
        if claims:
            given = _claim(manifest, claims[0], node)
            under = [
                f"`{each.budget}` ({_some([*each.refuted])})"
                for each in lost(manifest)
                if each.guarantee == module and name in each.conjuncts
            ]
            return evolve(given, lost=f"Not `{name}` with {', '.join(under)}." if under else "")
    users = [protocol for protocol, manifest in known.items() if name in manifest.assumes.get(module, {})]
    assumed = f"*assumed* by {', '.join(users)}" if users else "*assumed* by no layer yet"
    return _Given(f"`{module}`: `{name}`", assumed)


_MOST: Final = 3


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST
    told = ", ".join(f"`{name}`" for name in (names[:_MOST] if more > 1 else names))
    return f"{told} and {more} more" if more > 1 else told
