"""Renamed tables for the archive: what a port passes or fails without the driver.

Of each way of renaming the archive has one table: a table of a model, with the states and events of which
every cell is a row still. It is of the smallest model that has most of the fields which the way changes.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve

from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.steps.rows import Rows
from groupcomm_conformance.steps.table import HANDLED, StepTable
from groupcomm_conformance.tla.values import Value

from .renaming import WAYS, Way, is_row, moved, renamed

FEWEST: Final = 5
"""Tables, the smallest of a protocol, among which each way has its own."""

Tables = Mapping[str, tuple[StepTable, Mapping[str, Value]]]
"""Tables of models, with the constants of each."""


def widened(protocol: Protocol, tables: Tables) -> dict[str, tuple[str, Way, StepTable]]:
    """Give renamed tables by names, `MODEL__WAY`, each with its model and its way."""
    small = sorted(tables, key=lambda name: len(tables[name][0]))[:FEWEST]
    found = {}
    for way in WAYS:
        if not (protocol.is_layer and way.suits(protocol.name)):  # the values of Stack are those of its layers, any
            continue
        most = 0
        best: tuple[str, StepTable] | None = None
        for name in small:
            table, constants = tables[name]
            part = _part(protocol, table, constants, way)
            if part is not None and (count := len(moved(protocol, part, way))) > most:
                most, best = count, (name, renamed(protocol, part, way))
            if best is not None and not way.fields:
                break
        if best is not None:
            found[f"{best[0]}__{way.name}"] = (best[0], way, best[1])
    return found


def _part(protocol: Protocol, table: StepTable, constants: Mapping[str, Value], way: Way) -> StepTable | None:
    """Give the part of a table whose cells are all rows when they are renamed; None where nothing is left."""
    width = len(table.events)
    states, events = [*range(len(table.states))], [*range(width)]
    if way.fields:
        rows = Rows(protocol, renamed(protocol, table, way), constants)
        wrong = {divmod(place, width) for place in range(len(table)) if not is_row(rows, place)}
        while wrong:
            at, number = _worst(wrong, 0), _worst(wrong, 1)
            if at[1] * len(states) >= number[1] * len(events):
                states.remove(at[0])
                wrong = {each for each in wrong if each[0] != at[0]}
            else:
                events.remove(number[0])
                wrong = {each for each in wrong if each[1] != number[0]}
    return _cut(table, states, events) if states and events else None


def _worst(wrong: set[tuple[int, int]], side: int) -> tuple[int, int]:
    """Give the state or the event that has most cells which are no rows, and their number."""
    counts: dict[int, int] = {}
    for each in wrong:
        counts[each[side]] = counts.get(each[side], 0) + 1
    return max(sorted(counts.items()), key=lambda pair: pair[1])


def _cut(table: StepTable, states: Sequence[int], events: Sequence[int]) -> StepTable:
    width = len(table.events)
    old = [table.cells[at * width + number] for at in states for number in events]
    used = sorted({cell for cell in old if cell >= HANDLED})
    new = {cell: HANDLED + number for number, cell in enumerate(used)}
    return evolve(
        table,
        starts={},
        states=tuple(table.states[at] for at in states),
        events=tuple(table.events[number] for number in events),
        results=tuple(table.results[cell - HANDLED] for cell in used),
        cells=array(table.cells.typecode, [new.get(cell, cell) for cell in old]),
    )
