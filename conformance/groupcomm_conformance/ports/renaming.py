"""The same local steps with other names and numbers: what a port sees that only the bounds hide.

`Step` looks at names, counters and payloads only to compare and to count. So a row with others in their
places, on both sides, is a row again. A port that takes the first letter of a name, or 0 for nothing, passes
the tables of the models and fails these.
"""

import re
from array import array
from collections.abc import Iterable, Mapping
from typing import Final

from attrs import evolve, frozen

from groupcomm.shapes import Anything, Atom, Choice, Fixed, Function, Record, Sequence, Shape, Subset, shape_of
from groupcomm_conformance.protocols.codec import NOTHING
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.steps.table import HANDLED, Result, StepTable
from groupcomm_conformance.tla.values import Fn, Value, function

__all__ = ["WAYS", "Way", "borne", "renamed"]

_MEMBER: Final = re.compile(r"([A-Z])((?:#[0-9]+)?)")

_RISING: Final = dict(zip("ABCDEFGHZ", ("M", "M1", "M10", "M2", "Mm", "m", "m-1", "m1:7800", "m_"), strict=True))
"""Names of several letters, with beginnings in common, in both cases, in the order of the old ones."""

_BY_CODE_POINTS: Final = dict(zip("ABCDEFGHZ", ("\uffee", *map(chr, range(0x1D11E, 0x1D126))), strict=True))
"""Names in the order of the old ones by code points. In UTF-16 the first is the last."""

_MIXED: Final = {**_RISING, "A": "m2", "B": "m1", "C": "M1", "D": "m", "Z": "m12"}
"""The same, in another order."""


@frozen
class Way:
    """A way to replace values: names, the counters of views, payloads, or seqnos; as they are by default.

    `without`: the protocols whose `Step` looks at such a value for more than equality and order.
    """

    name: str
    what: str
    names: Mapping[str, str] | None = None
    counter: int = 0
    payload: int = 0
    seqno: int = 0
    without: frozenset[str] = frozenset()

    def suits(self, protocol: str) -> bool:
        """True if rows of a protocol are rows with the other values, too: those that `borne` gives."""
        return protocol not in self.without and (not self.seqno or protocol == _WINDOWS)


_BY_NAME: Final = frozenset({"file_ping", "heartbeat", "merge", "merge_gms"})
"""The leader of a merge, and the senior of two members that start, is the least by name."""

_FIRST: Final = frozenset({"gms", "merge", "merge_gms", "nakack", "safe", "stable", "sequencer"})
"""The first view has a counter above that of no view, 0."""

_COUNTERS_ALONE: Final = frozenset({"state_transfer"})
"""Its state has counters of views without their creators, which look like any number."""

_FOUNDS: Final = "JoinRequested"
"""With this event a member may found a group. Its view has the counter 1, whatever the other counters are."""

WAYS: Final = (
    Way("names", "names of several letters, in the same order", names=_RISING),
    Way("mixed_names", "names of several letters, in another order", names=_MIXED, without=_BY_NAME),
    Way("counter_down", "counters of views that begin with 0", counter=-1, without=_FIRST | _COUNTERS_ALONE),
    Way("code_points", "names in an order that UTF-16 does not have", names=_BY_CODE_POINTS),
    # That many more, as two numbers of 32 bits that wrap stand in another order then.
    Way("counter_up", "counters of views beyond 32 bits", counter=2**32 + 2**31 - 2, without=_COUNTERS_ALONE),
    Way("payload_down", "payloads that begin with 0", payload=-1),
    Way("seqnos_up", "seqnos beyond 32 bits", seqno=2**32 + 2**31 - 2),
)

_WINDOWS: Final = "nakack"
"""A window may begin anywhere. The numbers of other protocols begin with a connection, a view or a round."""

_SEQNOS: Final = {
    "Data": {"seqno": 0},
    "DigestEntry": {"low": -1, "delivered": -1, "received": -1},
    "DigestGiven": {"digest": -1},
    "DigestSet": {"digest": -1},
    "Highest": {"digest": -1},
    "Purge": {"digest": -1},
    "Range": {"first": 0, "last": 0},
    "Source": {"upto": -1},
    "State": {"starts": -1},
    "Store": {"purged": -1},
    "Window": {"low": -1, "base": -1, "purged": -1, "delivered": -1, "pending": 0},
    "WindowsAdded": {"digest": -1},
}
"""The fields that hold seqnos, and the least seqno of each. A number below is malformed, and stays."""


def renamed(protocol: Protocol, table: StepTable, way: Way) -> StepTable:
    """Give the table with other values in the places of its own."""
    change = _Change(protocol, way)
    state, effects = shape_of(protocol.state), Sequence(shape_of(protocol.effects))
    assert isinstance(state, Record)  # noqa: S101 - so it is of every protocol
    events = shape_of(protocol.events)
    results = tuple(
        Result(
            {name: change.part(state, name, value) for name, value in result.changes.items()},
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


def borne(table: StepTable, way: Way) -> list[int] | None:
    """Give the places of the rows that are rows with the other values, too, from 0; None: all are.

    The window of a new member without a given start begins at the first seqno, whatever the others are.
    """
    if not way.seqno:
        return None
    width = len(table.events)
    return [
        place
        for place in range(len(table))
        if not _begins_anew(table.states[place // width], table.events[place % width])
    ]


def _begins_anew(state: Fn, event: Fn) -> bool:
    view = event.get("view")
    known = {*_keys(state["windows"]), *_keys(state["starts"])}
    return isinstance(view, Fn) and not known.issuperset(_sequence(view["members"]))


def _keys(value: Value) -> Iterable[Value]:
    """The domain of a function; TLC writes one without as a sequence."""
    return value if isinstance(value, Fn) else range(1, len(_sequence(value)) + 1)


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
                parts = {name: self.part(shape, name, value[name]) for name in shape.fields}
                counter = parts.get("counter")
                if cls.__name__ == "ViewId" and type(counter) is int and (counter, value["creator"]) != (0, ""):
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

    def part(self, record: Record, name: str, value: Value) -> Value:
        """Give the other value of a field of a record."""
        least = _SEQNOS.get(record.cls.__name__, {}).get(name) if self._way.seqno else None
        shape = record.fields[name]
        return self.of(value, shape) if least is None else self._moved(value, shape, least)

    def _moved(self, value: Value, shape: Shape, least: int) -> Value:
        """Give seqnos that are higher: a number, the numbers of members, or the numbers of messages."""
        match shape:
            case Function(_, key, item):
                pairs = value.items() if isinstance(value, Fn) else enumerate(_sequence(value), 1)
                if key == _NUMBER:
                    return function((self._moved(at, key, least), self.of(each, item)) for at, each in pairs)
                return function((name, self._moved(each, item, least)) for name, each in pairs)
            case Atom() if type(value) is int:
                return value + self._way.seqno if value >= least else value
        return self.of(value, shape)


_NUMBER: Final = Atom(int)
