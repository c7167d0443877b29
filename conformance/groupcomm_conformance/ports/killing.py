"""Rows by which mutants of a core and of a specification fall: they are among the few rows for slow adapters.

`groupcomm mutants PROTOCOL --rows` finds them and keeps them in `conformance/mutants/PROTOCOL_rows.json`, as
that takes minutes. Each mutant that rows detect is killed by `EACH` of them, where so many detect it. For the
core's mutants every row is asked, the rows of each way first. For the specification's mutants the first row
in each of `EACH` orders of the states is asked, since TLC takes the next mutant after the first row that
detects.

Rows are named by what they are: a digest of configuration and state, and one of the event. So a row is found
again in another table, and a row that is no longer there is missed.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from attrs import define, field

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.store import replace
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.protocols.derive import AnyCore, Protocol
from groupcomm_conformance.steps.mutants.conforming import ModelTable
from groupcomm_conformance.steps.mutants.implementation import Mutant
from groupcomm_conformance.steps.mutants.replaying import mutated
from groupcomm_conformance.steps.mutants.verdicts import judge
from groupcomm_conformance.steps.rows import Rows, replay
from groupcomm_conformance.steps.table import StepTable

from .plain import compact

__all__ = ["EACH", "Row", "file_of", "kept", "names", "of_core", "of_specification", "record"]

EACH: Final = 3
"""Rows for each mutant."""

_LIMIT: Final = 0.5
_LENGTH: Final = 12

Row = tuple[str, int]
"""A model and a place in its table, a number from 0."""


def file_of(root: Path, protocol: str) -> Path:
    """Say where the rows of a protocol are kept."""
    return root / "conformance" / "mutants" / f"{protocol}_rows.json"


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode("ascii")).hexdigest()[:_LENGTH]


def names(told: Mapping[str, Any]) -> Callable[[int], str]:
    """Give the names of a model's rows, from its file; they are numbered from 0."""
    config, width = compact(told["config"]), len(told["rows"][0])
    states = [_digest(config, compact(state)) for state in told["states"][: len(told["rows"])]]
    events = [_digest(compact(event)) for event in told["events"][:width]]
    return lambda place: f"{states[place // width]}-{events[place % width]}"


def kept(root: Path, protocol: str) -> frozenset[str]:
    """Give the names of the rows that are kept. FileError where the file is none of these."""
    return _read(root, protocol)[1]


def _read(root: Path, protocol: str) -> tuple[dict[str, Any], frozenset[str]]:
    """Give what is kept of each side, and the names of its rows; nothing where there is no file."""
    file = file_of(root, protocol)
    if not file.is_file():
        return {}, frozenset()
    try:
        sides = json.loads(file.read_text(encoding="ascii"))
        return sides, frozenset(str(name) for side in sides.values() for name in side["rows"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        expected = f"the rows that groupcomm mutants {protocol} --rows writes ({type(error).__name__}: {error})"
        raise FileError(str(file), 1, expected) from None


def record(root: Path, protocol: str, side: str, told: Mapping[str, int], rows: Iterable[str]) -> Path:
    """Keep the rows of a side, `core` or `specification`; rows of the other side stay."""
    file = file_of(root, protocol)
    before, _ = _read(root, protocol)
    sides = {**before, side: {**told, "rows": sorted(rows)}}
    replace(file, (json.dumps(dict(sorted(sides.items())), indent=1) + "\n").encode("ascii"))
    return file


# Of the core


@define
class _Asked:
    """Tables, with the rows that are asked first."""

    rows: Mapping[str, Rows]
    first: list[Row]
    rest: Mapping[str, Sequence[int]]
    found: list[Row] = field(factory=list)

    def fails(self, core: AnyCore) -> Iterator[Row]:
        """Give the rows at which a core is wrong."""
        for model in self.rows:
            few = [place for name, place in (*self.first, *self.found) if name == model]
            yield from ((model, place) for place in self._of(model, core, few))
        known = {*self.first, *self.found}
        for model, places in self.rest.items():
            for place in self._of(model, core, places):
                if (model, place) not in known:
                    yield model, place

    def _of(self, model: str, core: AnyCore, places: Iterable[int]) -> Iterator[int]:
        left = iter(places)
        while True:
            wrong = replay(self.rows[model], core.step, left, stop=True, limit=_LIMIT).first
            if wrong is None:
                return
            yield wrong.row - 1


def of_core(
    protocol: Protocol,
    tables: Mapping[str, ModelTable],
    ways: Sequence[Row],
    made: Sequence[Mutant],
    named: Callable[[Row], str],
) -> tuple[list[Row], dict[str, int]]:
    """Give rows beside `ways`, so that `EACH` of them kill each mutant; and the results of the mutants.

    Rows of several models that have one name count once.
    """
    rest: dict[str, Sequence[int]] = {}
    for model, each in tables.items():
        places = [*range(len(each.table))]
        Random(0).shuffle(places)  # noqa: S311 - the same every time
        rest[model] = places
    rows = {model: Rows(protocol, each.table, each.constants) for model, each in tables.items()}
    asked = _Asked(rows, [*ways], rest)
    counts = {"mutants": len(made), "told": 0, "by_each": 0}
    for mutant in made:
        fell: dict[str, Row] = {}
        with mutated(protocol, mutant) as core:
            for row in asked.fails(core):
                fell.setdefault(named(row), row)
                if len(fell) == EACH:
                    break
        counts["told"] += bool(fell)
        counts["by_each"] += len(fell) == EACH
        known = {*asked.first, *asked.found}
        asked.found += [row for row in fell.values() if row not in known]
    return asked.found, counts


# Of the specification


def of_specification(
    manifest: Manifest, tables: Mapping[str, ModelTable], *, cache: Path, workers: int | None = None
) -> tuple[list[Row], dict[str, int]]:
    """Give the rows that notice the mutants of a specification, in each of some orders of the states."""
    fell: dict[str, set[Row]] = {}
    for turn in range(EACH):
        orders = {model: _turned(len(each.table.states), turn) for model, each in tables.items()}
        turned = {
            model: ModelTable(_in_order(each.table, orders[model]), each.key, each.constants)
            for model, each in tables.items()
        }
        judged = judge(manifest, turned, cache=None if turn else cache, workers=workers)
        for mutant, noticed in zip(judged.mutants, judged.noticed, strict=True):
            rows = fell.setdefault(mutant.name, set())
            if noticed is None or noticed.fails or " row " not in noticed.by:
                continue
            model, _, number = noticed.by.partition(" row ")
            if model in tables:
                width = len(tables[model].table.events)
                at, event = divmod(int(number) - 1, width)
                rows.add((model, orders[model][at] * width + event))
    found = sorted({row for rows in fell.values() for row in rows})
    counts = {
        "mutants": len(fell),
        "told": sum(map(bool, fell.values())),
        "by_each": sum(len(rows) == EACH for rows in fell.values()),
    }
    return found, counts


def _turned(count: int, turn: int) -> list[int]:
    """An order of states: that of the table, and others."""
    order = [*range(count)]
    if turn:
        Random(turn).shuffle(order)  # noqa: S311 - the same every time
    return order


def _in_order(table: StepTable, order: Sequence[int]) -> StepTable:
    width = len(table.events)
    cells = type(table.cells)("I")
    for at in order:
        cells.extend(table.cells[at * width : (at + 1) * width])
    return StepTable(
        starts=table.starts,
        states=tuple(table.states[at] for at in order),
        events=table.events,
        results=table.results,
        cells=cells,
        tlc_seconds=0.0,
        read_seconds=0.0,
    )
