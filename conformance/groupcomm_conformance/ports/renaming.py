"""The same local steps with other names and numbers: what a port sees that only the bounds hide.

`Step` looks at names, counters and payloads only to compare and to count. So a row with others in their
places, on both sides, is a row again. A port that takes the first letter of a name, or 0 for nothing, passes
the tables of the models and fails these.

Numbers that count from 0 are higher in a state alone: no walk counts beyond 32 bits. A row in which something
is counted anew is no row then. The core says which: its answers are those of the specification by the tables.
"""

import re
from array import array
from collections.abc import Mapping
from typing import Final

from attrs import evolve, field, frozen

from groupcomm.errors import LocalProtocolError, ProtocolError
from groupcomm.shapes import Anything, Atom, Choice, Fixed, Function, Record, Sequence, Shape, Subset, shape_of
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.protocols.codec import NOTHING
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.steps.rows import Rows
from groupcomm_conformance.steps.table import HANDLED, Result, StepTable
from groupcomm_conformance.tla.values import Fn, Value, function, identical

_MEMBER: Final = re.compile(r"([A-Z])((?:#[0-9]+)?)")

_RISING: Final = dict(zip("ABCDEFGHZ", ("M", "M1", "M10", "M2", "Mm", "m", "m-1", "m1:7800", "m_"), strict=True))
"""Names of several letters, with beginnings in common, in both cases, in the order of the old ones."""

_BY_CODE_POINTS: Final = dict(zip("ABCDEFGHZ", ("\uffee", *map(chr, range(0x1D11E, 0x1D126))), strict=True))
"""Names in the order of the old ones by code points. In UTF-16 the first is the last."""

_MIXED: Final = {**_RISING, "A": "m2", "B": "m1", "C": "M1", "D": "m", "Z": "m12"}
"""The same, in another order."""


@frozen
class Way:
    """A way to replace values: names, counters of views, payloads, or fields with numbers; by default none.

    `without`: the protocols whose `Step` looks at such a value for more than equality and order. `only`: the
    protocol that has these fields, which `fields` names by their records. They become more by `more`.
    """

    name: str
    what: str
    names: Mapping[str, str] | None = None
    counter: int = 0
    payload: int = 0
    without: frozenset[str] = frozenset()
    only: str = ""
    fields: Mapping[str, frozenset[str]] = field(factory=dict, hash=False)
    more: int = 0

    def suits(self, protocol: str) -> bool:
        """True if rows of a protocol are rows with the other values, too: those that `borne` gives."""
        return protocol not in self.without and self.only in ("", protocol)


_BY_NAME: Final = frozenset({"file_ping", "heartbeat", "merge", "merge_gms"})
"""The leader of a merge, and the senior of two members that start, is the least by name."""

_FIRST: Final = frozenset({"gms", "merge", "merge_gms", "nakack", "safe", "stable", "sequencer"})
"""The first view has a counter above that of no view, 0."""

_COUNTERS_ALONE: Final = frozenset({"state_transfer"})
"""Its state has counters of views without their creators, which look like any number."""

_FOUNDS: Final = "JoinRequested"
"""With this event a member may found a group. Its view has the counter 1, whatever the other counters are."""

_BEYOND: Final = 2**32 + 2**31 - 2
"""That many more, as two numbers of 32 bits that wrap stand in another order then."""

_FAR: Final = 2**60
"""Beyond the numbers that JavaScript has exactly: a string of digits in JSON."""

_REQUESTS: Final = "DigestGiven.request GetDigest.request State.asked"
_JOINS: Final = "JoinRefused.life JoinReq.life JoinRequested.life LeaveReq.life LeaveRsp.life Request.life"
_LIVES: Final = f"Decision.lives {_JOINS} State.life"
_MERGES: Final = "MergeId.number MergeTimeout.number SetTimer.name State.begun"

_NUMBERS: Final = {
    "nakack": {
        "seqnos": "Data.seqno DigestGiven.digest DigestSet.digest Highest.digest Purge.digest Range.first Range.last "
        "Source.upto State.starts Store.purged Window.base Window.delivered Window.low Window.pending Window.purged "
        "WindowsAdded.digest",
        "arrivals": "Window.arrived",
    },
    "unicast": {
        "seqnos": "Ack.seqno Data.seqno ReceiveSide.ahead ReceiveSide.delivered SendSide.kept SendSide.next",
        "connections": "Connection.number RetransmitTimeout.number SetTimer.name State.opened",
        "incarnations": "Ack.incarnation Connection.incarnation Data.receiver IncarnationBegins.incarnation "
        "SendFirstSeqno.incarnation State.incarnation State.known",
    },
    "stable": {
        "seqnos": "DigestEntry.delivered DigestEntry.low DigestEntry.received Purge.digest Stability.digest "
        "Stable.digest State.minimum State.vote"
    },
    "safe": {
        "seqnos": "Ack.number Data.number SafeUpTo.number State.before State.had State.sent State.told "
        "UnknownUpTo.number"
    },
    "sequencer": {"seqnos": "Entry.seqno Mark.seqno State.seqno Tag.seqno"},
    "flush": {
        "rounds": "FlushCompleted.round Reconcile.round Run.round StartFlush.round State.later State.round",
        "seqnos": "Data.seqno Fetch.upto FlushCompleted.digest HoldBack.limit Reconcile.target Run.reports "
        "State.delivered State.limit State.sent",
    },
    "gms": {"requests": _REQUESTS, "lives": _LIVES},
    "merge": {"merges": _MERGES, "lives": "Decision.lives MergeId.life Merged.lives"},
    "merge_gms": {"requests": _REQUESTS, "merges": _MERGES, "lives": f"{_LIVES} MergeId.life Merged.lives"},
    "heartbeat": {
        "beats": "Heard.number Heartbeat.number State.beats State.since",
        "silences": "Heard.gap Heard.missed",
    },
    "state_transfer": {
        "attempts": "Ask.attempt Cannot.attempt Credit.attempt Gift.attempt MarkState.attempt Part.attempt "
        "PartFailed.attempt PartRead.attempt ReadPart.attempt State.attempt",
        "seqnos": "App.number Gift.seen Given.seen Held.number OwnIsInState.number Part.seen State.seen State.sent",
        "tells": "SafeUpTo.number State.came State.safe State.said UnknownUpTo.number",
        "parts": "Credit.number Gift.credit Gift.number Part.number PartRead.number PutPart.number ReadPart.number "
        "State.parts",
        "views": "Standing.after Standing.stood Standing.upto State.after State.base State.formed State.stood "
        "State.upto ViewFormed.before",
    },
}
"""Fields whose numbers `Step` compares with one another alone. A timer's name ends in such a number."""


def _fields(told: str) -> dict[str, frozenset[str]]:
    pairs = [each.split(".") for each in told.split()]
    return {record: frozenset(name for of, name in pairs if of == record) for record, _ in pairs}


WAYS: Final = (
    Way("names", "names of several letters, in the same order", names=_RISING),
    Way("mixed_names", "names of several letters, in another order", names=_MIXED, without=_BY_NAME),
    Way("counter_down", "counters of views that begin with 0", counter=-1, without=_FIRST | _COUNTERS_ALONE),
    Way("code_points", "names in an order that UTF-16 does not have", names=_BY_CODE_POINTS),
    Way("counter_up", "counters of views beyond 32 bits", counter=_BEYOND, without=_COUNTERS_ALONE),
    Way("counter_far", "counters of views beyond 53 bits", counter=_FAR, without=_COUNTERS_ALONE),
    Way("payload_down", "payloads that begin with 0", payload=-1),
    *(
        Way(f"{name}_up", f"{name} beyond 32 bits", only=protocol, fields=_fields(told), more=_BEYOND)
        for protocol, groups in _NUMBERS.items()
        for name, told in groups.items()
    ),
)


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


def borne(rows: Rows, table: StepTable, way: Way) -> list[int] | None:
    """Give the places of the rows of a renamed table that are rows, too, and others than in `table`; None: all are."""
    if not way.fields:
        return None
    other, width = rows.table, len(table.events)
    changed = [
        each.effects != old.effects or each.changes != old.changes
        for each, old in zip(other.results, table.results, strict=True)
    ]
    events = [each != old for each, old in zip(other.events, table.events, strict=True)]
    states = [each != old for each, old in zip(other.states, table.states, strict=True)]
    return [
        place
        for place, cell in enumerate(table.cells)
        if (states[place // width] or events[place % width] or (cell >= HANDLED and changed[cell - HANDLED]))
        and is_row(rows, place)
    ]


def moved(protocol: Protocol, table: StepTable, way: Way) -> set[str]:
    """Name what a way changes in a table: fields of records, or all that it looks at."""
    change = _Change(protocol, way)
    state, events = shape_of(protocol.state), shape_of(protocol.events)
    for values, shape in ((table.states, state), (table.events, events)):
        for value in values:
            if not identical(change.of(value, shape), value):
                change.moved.add(way.name)
    return change.moved


def is_row(rows: Rows, place: int) -> bool:
    """True if a cell of a renamed table is the core's answer."""
    at, number = divmod(place, len(rows.events))
    state, cell = rows.states[at], rows.table.cells[place]
    try:
        after, effects = rows.protocol.core.step(rows.config, state, rows.events[number])
    except ProtocolError as error:
        return OUTCOMES[min(cell, HANDLED)] == (
            "local_error" if isinstance(error, LocalProtocolError) else "remote_error"
        )
    return rows.handled(at, cell, after, effects) if cell >= HANDLED else cell == 0 and after is state and not effects


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
        self.moved: set[str] = set()
        """Fields whose values are others."""

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
        shape = record.fields[name]
        if name not in self._way.fields.get(record.cls.__name__, ()):
            return self.of(value, shape)
        other = self._moved(value, shape)
        if not identical(other, value):
            self.moved.add(f"{record.cls.__name__}.{name}")
        return other

    def _moved(self, value: Value, shape: Shape) -> Value:
        """Give higher numbers: one, those of members, the keys of messages, or the first of each of a sequence."""
        match shape:
            case Function(_, key, item):
                pairs = value.items() if isinstance(value, Fn) else enumerate(_sequence(value), 1)
                if key == _NUMBER:
                    return function((self._moved(at, key), self.of(each, item)) for at, each in pairs)
                return function((self.of(name, key), self._moved(each, item)) for name, each in pairs)
            case Sequence(item):
                return tuple(self._moved(each, item) for each in _sequence(value))
            case Fixed(items):
                return tuple(self._moved(each, item) for each, item in zip(_sequence(value), items, strict=True))
            case Choice(options) if value != NOTHING:
                return self._moved(value, next(each for each in options if isinstance(each, Atom | Function)))
            case Atom() if type(value) is int:
                return value + self._way.more
            case Atom() if isinstance(value, str):
                return _TIMER.sub(lambda found: f"/{int(found[1]) + self._way.more}", value)
        return self.of(value, shape)


_NUMBER: Final = Atom(int)
_TIMER: Final = re.compile(r"/([0-9]+)$")
"""The number in the name of a timer."""
