"""The same local steps with other names and numbers: what a port sees that only the bounds hide.

`Step` looks at names, counters and payloads only to compare and to count. So a row with others in their
places, on both sides, is a row again. A port that takes the first letter of a name, or 0 for nothing, passes
the tables of the models and fails these.
"""

import re
from array import array
from collections.abc import Mapping
from typing import Final

from attrs import evolve, frozen

from groupcomm.shapes import (
    Anything,
    Atom,
    Choice,
    Fixed,
    Function,
    Record,
    Sequence,
    Shape,
    Subset,
    shape_of,
)
from groupcomm_conformance.protocols.codec import NOTHING
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.steps.table import HANDLED, Result, StepTable
from groupcomm_conformance.tla.values import Fn, Value, function

__all__ = ["WAYS", "Way", "renamed"]

_MEMBER: Final = re.compile(r"([A-Z])((?:#[0-9]+)?)")

_RISING: Final = dict(
    zip("ABCDEFGHZ", ("M", "M1", "M10", "M2", "Mm", "m", "m-1", "m1:7800", "m_"), strict=True)
)
"""Names of several letters, with beginnings in common, in both cases, in the order of the old ones."""

_MIXED: Final = {**_RISING, "A": "m2", "B": "m1", "C": "M1", "D": "m", "Z": "m12"}
"""The same, in another order."""


@frozen
class Way:
    """A way to replace values: names, the counters of views, or payloads; None leaves them as they are.

    `without`: the protocols whose `Step` looks at such a value for more than equality and order.
    """

    name: str
    what: str
    names: Mapping[str, str] | None = None
    counter: int = 0
    payload: int = 0
    without: frozenset[str] = frozenset()


_BY_NAME: Final = frozenset({"file_ping", "heartbeat", "merge", "merge_gms"})
"""The leader of a merge, and the senior of two members that start, is the least by name."""

_FIRST: Final = frozenset({"gms", "merge", "merge_gms", "nakack", "stable", "sequencer"})
"""The first view has a counter above that of no view, 0."""

_FOUNDS: Final = "JoinRequested"
"""With this event a member may found a group. Its view has the counter 1, whatever the other counters are."""

WAYS: Final = (
    Way("names", "names of several letters, in the same order", names=_RISING),
    Way("mixed_names", "names of several letters, in another order", names=_MIXED, without=_BY_NAME),
    Way("counter_down", "counters of views that begin with 0", counter=-1, without=_FIRST),
    # That many more, as two numbers of 32 bits that wrap stand in another order then.
    Way("counter_up", "counters of views beyond 32 bits", counter=2**32 + 2**31 - 2),
    Way("payload_down", "payloads that begin with 0", payload=-1),
)


def renamed(protocol: Protocol, table: StepTable, way: Way) -> StepTable:
    """Give the table with other values in the places of its own."""
    change = _Change(protocol, way)
    state, effects = shape_of(protocol.state), Sequence(shape_of(protocol.effects))
    assert isinstance(state, Record)  # noqa: S101 - so it is of every protocol
    events = shape_of(protocol.events)
    fields = state.fields
    results = tuple(
        Result(
            {name: change.of(value, fields[name]) for name, value in result.changes.items()},
            _sequence(change.of(result.effects, effects)),
        )
        for result in table.results
    )
    if way.counter:
        width, founds = len(table.events), [event["type"] == _FOUNDS for event in table.events]
        cells = array(
            table.cells.typecode,
            (
                cell + len(results) if cell >= HANDLED and founds[place % width] else cell
                for place, cell in enumerate(table.cells)
            ),
        )
        table, results = evolve(table, cells=cells), (*results, *table.results)
    return evolve(
        table,
        starts={change.text(name): _record(change.of(each, state)) for name, each in table.starts.items()},
        states=tuple(_record(change.of(each, state)) for each in table.states),
        events=tuple(_record(change.of(each, events)) for each in table.events),
        results=results,
    )


def _record(value: Value) -> Fn:
    assert isinstance(value, Fn)  # noqa: S101 - as it was
    return value


def _sequence(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, tuple)  # noqa: S101 - as it was
    return value


class _Change:
    """Replaces values by their shapes."""

    def __init__(self, protocol: Protocol, way: Way) -> None:
        self._tags = protocol.codec.tags
        self._way = way
        self._known: dict[tuple[Value, Shape], Value] = {}

    def text(self, told: str) -> str:
        """Give the other name of a member; another text is what it was."""
        found = _MEMBER.fullmatch(told) if self._way.names is not None else None
        if found is None or self._way.names is None:
            return told
        return f"{self._way.names[found[1]]}{found[2]}"

    def of(self, value: Value, shape: Shape) -> Value:
        """Give the other value."""
        if isinstance(value, bool | int):
            return self._new(value, shape)
        key = value, shape
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._new(value, shape)
        return found

    def _new(self, value: Value, shape: Shape) -> Value:
        match shape:
            case Atom():
                return self.text(value) if isinstance(value, str) else value
            case Anything():
                return value + self._way.payload if type(value) is int else value
            case Record(cls) if isinstance(value, Fn):
                parts = {name: self.of(value[name], each) for name, each in shape.fields.items()}
                counter = parts.get("counter")
                if (
                    cls.__name__ == "ViewId"
                    and type(counter) is int
                    and (counter, value["creator"]) != (0, "")
                ):
                    parts["counter"] = counter + self._way.counter
                tag = {"type": value["type"]} if "type" in value and "type" not in parts else {}
                return Fn({**parts, **tag})
            case Function(_, key, item):
                pairs = value.items() if isinstance(value, Fn) else enumerate(_sequence(value), 1)
                return function((self.of(name, key), self.of(each, item)) for name, each in pairs)
            case Sequence(item):
                return tuple(self.of(each, item) for each in _sequence(value))
            case Fixed(items):
                return tuple(self.of(each, item) for each, item in zip(_sequence(value), items, strict=True))
            case Subset(item) if isinstance(value, frozenset):
                return frozenset(self.of(each, item) for each in value)
            case Choice(options) if value != NOTHING and isinstance(value, Fn):
                for option in options:
                    if isinstance(option, Record) and self._tags.get(option.cls) == value["type"]:
                        return self.of(value, option)
        return value
