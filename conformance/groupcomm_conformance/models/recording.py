"""Writing results into the manifest: counts, the counterexample's length, violated claims, and digests.

Only these are written, each in its place: comments, order and spelling of everything else stay. The expected
verdict of a model is never written: a model with another verdict is not recorded.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.files.store import replace

from .manifest import MANIFEST, load
from .model import Manifest, Model
from .plan import digest
from .result import CheckedModel, expected

__all__ = ["record"]

_WIDEST: Final = 120
_ORDER: Final = (
    *("name", "tier", "claims", "expect", "shows", "bounds", "constants"),
    *("distinct", "transitions", "depth", "digest", "conform", "walk"),
    *("ablates", "control", "trace", "falls", "erratum"),
)
"""The order of a model's keys, which says where a missing key is written."""


def record(root: Path, manifest: Manifest, results: Mapping[str, CheckedModel]) -> list[str]:
    """Write what came of the models in `results`; say what changed, a line per model.

    FileError where a model is not written with a key a line, which is the only form that can be edited.
    """
    path = manifest.folder / MANIFEST
    lines = read_text(path, manifest.file).splitlines()
    told: list[str] = []
    # From the end, so that the lines of the models before stay where they are.
    for model in reversed(manifest.models):
        checked = results.get(model.name)
        if checked is None or checked.outcome != expected(model):
            continue
        before = _recorded(model)
        came = _came(manifest, model, checked)
        changed = {key: value for key, value in came.items() if before[key] != value}
        for key, value in changed.items():
            _write(lines, manifest.file, model.line, key, value)
        if changed:
            parts = (f"{key} {_said(before[key])} -> {_said(value)}" for key, value in changed.items())
            told.insert(0, f"{manifest.protocol} {model.name}: {', '.join(parts)}")
    if told:
        replace(path, ("\n".join(lines) + "\n").encode())
        load(root, manifest.protocol, recording=True)
    return told


_Recorded = int | str | tuple[str, ...] | None


def _came(manifest: Manifest, model: Model, checked: CheckedModel) -> dict[str, _Recorded]:
    """Give what is to be recorded of a model, by key."""
    if model.holds:
        came: dict[str, _Recorded] = {
            "distinct": checked.distinct,
            "transitions": checked.transitions,
            "depth": checked.depth,
        }
    else:
        falls = tuple(claim for claim in manifest.claims() if claim in checked.falls)
        falls += tuple(sorted(checked.conjuncts, key=_conjunct))
        # A change of order alone is none.
        came = {"trace": len(checked.trace), "falls": model.falls if {*falls} == {*model.falls} else falls}
    return came | ({"digest": digest(manifest, model)} if model.tier == "deep" else {})


def _conjunct(name: str) -> tuple[str, int]:
    """Order `Claim/2` before `Claim/10`."""
    claim, _, number = name.partition("/")
    return claim, int(number)


def _recorded(model: Model) -> dict[str, _Recorded]:
    counts = model.counts
    return {
        "distinct": None if counts is None else counts.distinct,
        "transitions": None if counts is None else counts.transitions,
        "depth": None if counts is None else counts.depth,
        "trace": model.trace,
        "falls": model.falls,
        "digest": model.digest,
    }


def _said(value: _Recorded) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return "none" if value is None else str(value)


def _write(lines: list[str], file: str, first: int, key: str, value: _Recorded) -> None:
    """Put `key: value` into the model whose first line has the number `first`, counted from 1."""
    entries = {name: (start, end) for name, start, end in _entries(lines, first - 1)}
    if "name" not in entries:
        raise FileError(file, first, 'a model with a key a line, the first "- name:", to write into')
    if key in entries:
        start, end = entries[key]
        comment = re.search(r"\s+#[^\"']*$", lines[end - 1])
        lines[start:end] = _entry(key, value, comment[0] if comment else "")
    else:
        later = _ORDER.index(key)
        end = max(end for name, (_, end) in entries.items() if _ORDER.index(name) < later)
        lines[end:end] = _entry(key, value, "")


def _entries(lines: list[str], at: int) -> Iterator[tuple[str, int, int]]:
    """Find the keys of the model that begins at index `at`, each with the range of its lines."""
    starts: list[tuple[str, int]] = []
    ends: list[int] = []
    for number in range(at, len(lines)):
        line = lines[number]
        if found := re.match(r"- (name):" if number == at else r"  (\w+):", line):
            starts.append((found[1], number))
            ends.append(number + 1)
        elif number == at or (line.strip() and not line.startswith(" ")):
            break
        elif line.strip() and not line.lstrip().startswith("#"):
            ends[-1] = number + 1
    for (name, start), end in zip(starts, ends, strict=True):
        yield name, start, end


def _entry(key: str, value: _Recorded, comment: str) -> list[str]:
    if not isinstance(value, tuple):
        return [f'  {key}: "{value}"{comment}' if isinstance(value, str) else f"  {key}: {value}{comment}"]
    line = f"  {key}: [{', '.join(value)}]{comment}"
    if len(line) <= _WIDEST:
        return [line]
    folded = [f"  {key}: [{comment}".rstrip(), "    "]
    for number, name in enumerate(value, start=1):
        piece = f"{name}, " if number < len(value) else name
        if len(folded[-1]) + len(piece) > _WIDEST:
            folded.append("    ")
        folded[-1] += piece
    return [*(part.rstrip() for part in folded), "  ]"]
