"""The end of `docs/stack.md`: the successions of views of each layer under which the next was checked.

`spec/common/successions.yaml` lists pairs of models, with what `groupcomm stack --record` found of them
and of which specifications. The page is written from this record, so that it takes no run of TLC; a
record of other specifications than there are is a problem.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import yaml
from attrs import asdict, evolve, frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.store import replace
from groupcomm_conformance.files.strict_yaml import Node
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.models.plan import digest
from groupcomm_conformance.models.successions import compared, reached

__all__ = ["FILE", "Pair", "problems", "read", "record", "section"]

FILE: Final = Path("spec", "common", "successions.yaml")

_HEAD: Final = """\
# Which models are compared in docs/stack.md: the successions of views (with `promises`, those open in them)
# that the model `below` reaches, and whether the model `above` takes them, where TLC chooses the views.
# Counts, and digests of what they are of, are written by `groupcomm stack --record`.
"""
_TOLD: Final = """\
Modules show, conjunct by conjunct, that a layer gives what the next assumes, in the tables above. The lower
layer refines the module, and the upper layer takes the module's steps as its environment. This table compares
models: which successions of views TLC reaches in the lower model, and which of them in the upper model, where
it chooses the views itself. Two successions count once if they differ in the names of members only. Views
that no member has installed are left out, as the upper layer does not see them; so are counters and digests.
"With promises" compares also the open promises, each with giver, view and joiner. "Without" compares neither
these nor the creators of views."""
_COUNTS: Final = ("reached", "met", "longer", "other", "of")


@frozen
class Pair:
    """Two models, and what was found. `of`: how many successions the upper one takes."""

    below: str
    above: str
    promises: bool
    reached: int = 0
    met: int = 0
    longer: int = 0
    other: int = 0
    of: int = 0
    digest: str = ""


def read(root: Path) -> list[Pair]:
    """Read the list; nothing where there is none."""
    if not (root / FILE).is_file():
        return []
    return [_pair(node) for node in strict_yaml.load(root / FILE, str(FILE)).items("a list of pairs")]


def _pair(node: Node) -> Pair:
    found = node.fields(("below", "above", "promises"), (*_COUNTS, "digest"))
    below, above = (found[key].matching(r"\w+ \w+", "a protocol and a model") for key in ("below", "above"))
    counts = {key: found[key].integer(0) for key in _COUNTS if key in found}
    of = found["digest"].text() if "digest" in found else ""
    return Pair(below, above, found["promises"].boolean(), digest=of, **counts)


def record(root: Path, manifests: Iterable[Manifest]) -> None:
    """Search all models that are compared, and write down what came."""
    known = {manifest.protocol: manifest for manifest in manifests}
    pairs = read(root)
    names = dict.fromkeys(name for pair in pairs for name in (pair.below, pair.above))
    found = {name: reached(*_model(known, name)) for name in names}
    told = []
    for pair in pairs:
        came = compared(found[pair.below], found[pair.above], promises=pair.promises)
        above = compared(found[pair.above], found[pair.above], promises=pair.promises)
        told.append(
            evolve(
                pair,
                reached=came.reached,
                met=came.met,
                longer=came.longer,
                other=len(came.other),
                of=above.reached,
                digest=_digests(known, pair),
            )
        )
    text = yaml.safe_dump([asdict(pair) for pair in told], sort_keys=False, allow_unicode=True)
    replace(root / FILE, (_HEAD + text).encode())


def _digests(known: Mapping[str, Manifest], pair: Pair) -> str:
    return " ".join(digest(*_model(known, name)) for name in (pair.below, pair.above))


def _model(known: Mapping[str, Manifest], name: str) -> tuple[Manifest, Model]:
    """Find a protocol's model; FileError where there is none."""
    protocol, model = name.split()
    manifest = known.get(protocol)
    if manifest is None or all(each.name != model for each in manifest.models):
        raise FileError(str(FILE), 1, f"a model of a protocol, not {name}")
    return manifest, manifest.model(model)


def problems(root: Path, manifests: Iterable[Manifest]) -> Iterator[str]:
    """Say which records are of other specifications than there are, and what a model above does not take."""
    known = {manifest.protocol: manifest for manifest in manifests}
    for pair in read(root):
        what = f"{FILE}:1: the successions of {pair.below} and {pair.above}"
        if pair.digest != _digests(known, pair):
            yield f"{what} are of other specifications: groupcomm stack --record computes them again"
        elif pair.other:
            yield f"{what}: {pair.other} of {pair.reached} are not taken above, though they are as short"


def section(root: Path) -> Iterator[str]:
    """Write the end of the page."""
    pairs = read(root)
    if not pairs:
        return
    yield "## Composition"
    yield ""
    yield _TOLD
    yield ""
    heads = ("model below", "model above", "compared", "reached below", "also above", "longer than any above")
    yield f"| {' | '.join(heads)} |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for pair in pairs:
        what = "views and promises" if pair.promises else "views"
        met = f"{pair.met} of {pair.reached - pair.longer} (above: {pair.of:,})"
        yield f"| `{pair.below}` | `{pair.above}` | {what} | {pair.reached} | {met} | {pair.longer} |"
    yield ""
    yield "Those that are longer are legal by the modules, and no model above was checked under them."
    yield ""
