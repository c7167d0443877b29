"""Rows: the table of steps of a model, run on the implementation.

A row is a local state and an event; the table (`steptable`) has the outcome, the next state and the
effects that the specification gives. The implementation must give the same:

====================  ==============================================================================
specification         implementation
====================  ==============================================================================
``handled``           the next state, and a tuple of the same effects in the same order
``ignored``           the same state *object*, and no effects
``local_error``       `LocalProtocolError`, with the member, the state and the event in it
``remote_error``      `RemoteProtocolError`, likewise
====================  ==============================================================================

The verdicts are in `VERDICTS`; a row that was not run is `skipped`, and never passes.

Values are compared as what they are, so that `True` is not `1`. The codec translates the table into
implementation values once; an effect is translated the other way when it is first seen and by equality
of objects afterwards. Nothing expected is computed by the implementation.
"""

import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, Literal, Self, TypeAlias, get_args

import attrs
from attrs import define, field, frozen

from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.shapes import Record, Shape, shape_of
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.protocols.codec import MappingError, exact, parts_of, same
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.tla.readable import brief, diff
from groupcomm_conformance.tla.values import Fn, Value, identical

from .table import HANDLED, StepTable

Verdict: TypeAlias = Literal[
    "pass", "wrong_state", "wrong_effects", "wrong_outcome", "crash", "timeout", "adapter_error", "skipped"
]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
"""`adapter_error`: what came is no value of the protocol at all, or the codec has no word for it."""

Step: TypeAlias = Callable[[Any, Any, Any], Any]
"""`step(config, state, event)` of an implementation."""

LIMIT: Final = 1.0
"""Seconds that a row may take; it is stopped after between one and two times as long."""

_TIMEOUTS: Final = 3
"""After so many rows that do not end, all further ones are skipped."""

_EMPTY: Final = ()


# The table in implementation values


class Rows:
    """A table, translated: what the rows' verdicts are computed from. MappingError if the config cannot be.

    `problem` says what could not be translated; the rows concerned are `adapter_error`.
    """

    def __init__(self, protocol: Protocol, table: StepTable, constants: Mapping[str, Value]) -> None:
        self.protocol = protocol
        self.table = table
        self.config = protocol.config(constants)
        self.problem = ""
        self.states = [self._decode(state, shape_of(protocol.state)) for state in table.states]
        self.events = [self._decode(event, shape_of(protocol.events)) for event in table.events]
        self.names = [state.get("member", "") for state in table.states]
        self.fields = tuple(attribute.name for attribute in attrs.fields(protocol.state))
        self._get = parts_of(protocol.state)
        shape = shape_of(protocol.state)
        assert isinstance(shape, Record)  # noqa: S101 - so it is of every protocol
        self._shapes: Mapping[str, Shape] = shape.fields
        self._known: dict[tuple[str, object], Any] = {}
        self._parts = [None if state is None else self._get(state) for state in self.states]
        self._changes = [self._decode_changes(result.changes) for result in table.results]
        # Effects that turned out to be the expected ones, for each expected sequence of effects.
        numbers: dict[tuple[Value, ...], int] = {}
        self._sequence = [numbers.setdefault(r.effects, len(numbers)) for r in table.results]
        self._effects = list(numbers)
        self._seen: list[Any] = [None] * len(numbers)

    def _decode(self, value: Value, shape: Shape) -> Any:  # noqa: ANN401 - of any class
        try:
            return self.protocol.codec.decode(value, shape)
        except MappingError as error:
            self.problem = self.problem or str(error)
            return None

    def _decode_changes(self, changes: Mapping[str, Value]) -> "list[tuple[int, Any]] | None":
        """The changed fields, by their place. None: the codec has no word for one of them."""
        decoded = []
        for name, value in changes.items():
            key = name, value if not isinstance(value, bool | int) else (type(value), value)
            if key not in self._known:
                if name not in self._shapes:
                    self.problem = self.problem or f"the implementation's state has no field {name}"
                    return None
                found = self._decode(value, self._shapes[name])
                if found is None and self.problem:
                    return None
                self._known[key] = self.fields.index(name), found
            decoded.append(self._known[key])
        return decoded

    def handled(self, at: int, cell: int, after: object, effects: object) -> bool:
        """Say whether state and effects are the result `cell`; False where that needs a closer look."""
        changes = self._changes[cell - HANDLED]
        parts = self._parts[at]
        if changes is None or parts is None or type(after) is not self.protocol.state:
            return False
        expected = list(parts)
        for place, value in changes:
            expected[place] = value
        for got, wanted in zip(self._get(after), expected, strict=True):
            if got is not wanted and not same(got, wanted):
                return False
        number = self._sequence[cell - HANDLED]
        seen = self._seen[number]
        if seen is not None:
            return effects is seen or same(effects, seen)
        if type(effects) is not tuple:
            return False
        try:
            hash(effects)
            good = identical(self.protocol.codec.to_spec(effects), self._effects[number])
        except (MappingError, TypeError):
            return False
        if good:
            self._seen[number] = effects
        return good


# Running rows


@frozen
class Failure:
    """A row that did not pass. `state` and `effects` are what came, where that has TLA+ values."""

    row: int
    verdict: Verdict
    outcome: str
    state: Value
    effects: Value
    reason: str = ""

    @classmethod
    def passed(cls, table: StepTable, row: int) -> "Failure":
        """A row that is no failure, to be shown like one."""
        state, effects = table.expected(row)
        return cls(row, "pass", table.outcome(row), state, effects)

    def text(self, table: StepTable, command: str) -> str:
        """Show the event, the state, what was expected, what came, and how to run this row again."""
        at, number = table.place(self.row)
        state, expected = table.states[at], table.outcome(self.row)
        wanted_state, wanted_effects = table.expected(self.row)
        lines = [
            f"  state    {brief(state)}",
            f"  event    {brief(table.events[number])}",
            f"  expected {_result_text(expected, state, wanted_state, wanted_effects)}",
        ]
        if self.outcome:
            lines.append(f"  got      {_result_text(self.outcome, state, self.state, self.effects)}")
            wanted = Fn({"outcome": expected, "state": wanted_state, "effects": wanted_effects})
            got = Fn({"outcome": self.outcome, "state": self.state, "effects": self.effects})
            if changes := diff(wanted, got):
                lines += ["  expected -> got", *(f"    {change.text()}" for change in changes)]
        lines += [f"  {line}" for line in self.reason.splitlines()]
        lines.append(f"  again    {command} --row {self.row}")
        return "\n".join(lines)


def _result_text(outcome: str, before: Value, after: Value, effects: Value) -> str:
    changes = "; ".join(change.text() for change in diff(before, after)) or "the state as it was"
    if outcome != "handled":
        return outcome if before == after and not effects else f"{outcome}: {changes}; {brief(effects)}"
    return f"{outcome}: {changes}; {brief(effects) if effects else 'no effects'}"


@define
class Group:
    """Failures with the same verdict and type of event: how many, and the first of them."""

    verdict: Verdict
    event: str
    count: int
    first: Failure


@define
class Replayed:
    """The result of the rows that were run."""

    counts: dict[Verdict, int] = field(factory=lambda: dict.fromkeys(VERDICTS, 0))
    groups: dict[tuple[Verdict, str], Group] = field(factory=dict)

    @property
    def passed(self) -> bool:
        """True if there were rows, and all of them passed."""
        return 0 < self.counts["pass"] == sum(self.counts.values())

    @property
    def first(self) -> Failure | None:
        """The first failure."""
        return min((group.first for group in self.groups.values()), key=lambda f: f.row, default=None)

    def add(self, failure: Failure, event: str) -> None:
        """Count a failure."""
        self.counts[failure.verdict] += 1
        group = self.groups.get((failure.verdict, event))
        if group is None:
            self.groups[failure.verdict, event] = Group(failure.verdict, event, 1, failure)
        else:
            group.count += 1


class Endless(BaseException):
    """A row takes too long."""


class Guard:
    """Raises `Endless` into a row that takes longer than `LIMIT`; in the main thread only."""

    def __init__(self, limit: float) -> None:
        self.row = -1
        self._limit = limit
        self._row_before = -1
        self._old: Any = None
        self._armed = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        if self._armed:
            self._old = signal.signal(signal.SIGALRM, self._tick)
            signal.setitimer(signal.ITIMER_REAL, self._limit, self._limit)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._armed:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, self._old)

    def _tick(self, _signal: int, _frame: FrameType | None) -> None:
        row, before, self._row_before = self.row, self._row_before, self.row
        if row >= 0 and row == before:
            raise Endless


def replay(
    rows: Rows, step: Step, places: Iterable[int] | None = None, *, stop: bool = False, limit: float = LIMIT
) -> Replayed:
    """Run rows in the order of `places`, numbers from 0 (default: all); `stop` at the first failure."""
    replayed = Replayed()
    table, config, states, events, names = rows.table, rows.config, rows.states, rows.events, rows.names
    cells, width, handled = table.cells, len(events), rows.handled
    local, remote = OUTCOMES.index("local_error"), OUTCOMES.index("remote_error")
    untranslated = bool(rows.problem)
    passed = 0
    with Guard(limit) as guard:
        for place in range(len(cells)) if places is None else places:
            at, number = divmod(place, width)
            state, event, cell = states[at], events[number], cells[place]
            error: BaseException | None = None
            result: Any = None
            if not (untranslated and (state is None or event is None)):
                try:
                    guard.row = place
                    result = step(config, state, event)
                    guard.row = -1
                except (LocalProtocolError, RemoteProtocolError) as raised:
                    code = local if isinstance(raised, LocalProtocolError) else remote
                    if cell == code and raised.event is event and raised.state is state and raised.member == names[at]:
                        passed += 1
                        continue
                    error = raised
                except (Exception, SystemExit, Endless) as raised:  # noqa: BLE001 - that is a verdict
                    error = raised
                else:
                    if type(result) is tuple and len(result) == 2:  # noqa: PLR2004 - a pair
                        after, effects = result
                        if (
                            after is state and effects is _EMPTY
                            if cell == 0
                            else cell >= HANDLED and handled(at, cell, after, effects)
                        ):
                            passed += 1
                            continue
                guard.row = -1
            failure = _failure(rows, place, result, error)
            if failure is None:
                passed += 1
                continue
            replayed.add(failure, str(table.events[number].get("type", "event")))
            if stop or replayed.counts["timeout"] == _TIMEOUTS:
                break
    replayed.counts["pass"] = passed
    if places is None:
        replayed.counts["skipped"] = len(cells) - sum(replayed.counts.values())
    return replayed


def _failure(rows: Rows, place: int, result: object, error: BaseException | None) -> Failure | None:
    """Look at a row closely, on the side of the specification. None: it passes."""
    row = place + 1
    table = rows.table
    at, number = table.place(row)
    state, event = rows.states[at], rows.events[number]
    before, expected = table.states[at], table.outcome(row)
    if state is None or event is None:
        return Failure(row, "adapter_error", "", before, (), rows.problem)
    if isinstance(error, Endless):
        return Failure(row, "timeout", "", before, (), "it does not end")
    if isinstance(error, LocalProtocolError | RemoteProtocolError):
        outcome = "local_error" if isinstance(error, LocalProtocolError) else "remote_error"
        failure = Failure(row, "wrong_outcome", outcome, before, (), f"raised: {error.reason}")
        if outcome != expected:
            return failure
        if (error.member, error.state, error.event) != (rows.names[at], state, event):
            return attrs.evolve(failure, reason="the error has another member, state or event in it")
        return None
    if error is not None:
        place_of = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"raised {type(error).__name__}: {error} ({Path(place_of.filename).name}:{place_of.lineno})"
        return Failure(row, "crash", "", before, (), reason)
    if not (type(result) is tuple and len(result) == 2 and type(result[1]) is tuple):  # noqa: PLR2004
        reason = f"step returned {result!r:.200}, not a pair of a state and a tuple of effects"
        return Failure(row, "adapter_error", "", before, (), reason)
    after, effects = result
    if type(after) is not rows.protocol.state:
        reason = f"the next state is no {rows.protocol.state.__name__}: {after!r:.200}"
        return Failure(row, "adapter_error", "", before, (), reason)
    outcome = "ignored" if after is state and not effects else "handled"
    try:
        hash((after, effects))
        got_state, got_effects = rows.protocol.codec.to_spec(after), rows.protocol.codec.to_spec(effects)
    except (MappingError, TypeError) as problem:
        return Failure(row, "adapter_error", "", before, (), f"the codec has no word for it: {problem}")
    failure = Failure(row, "wrong_outcome", outcome, got_state, got_effects)
    if outcome != expected:
        if outcome == "handled" and identical(got_state, before) and not effects:
            return attrs.evolve(failure, reason="the state is equal, but not the same object")
        return failure
    wanted_state, wanted_effects = table.expected(row)
    if not identical(got_state, wanted_state):
        return attrs.evolve(failure, verdict=_wrong("wrong_state", got_state, wanted_state))
    if not identical(got_effects, wanted_effects):
        return attrs.evolve(failure, verdict=_wrong("wrong_effects", got_effects, wanted_effects))
    decoded = rows.protocol.codec.from_spec(wanted_state, rows.protocol.state)
    if exact(decoded) != exact(after):
        reason = f"equal to what is expected, but not of its classes: {after}"
        return attrs.evolve(failure, verdict="adapter_error", reason=reason)
    return None


def _wrong(verdict: Verdict, got: Value, wanted: Value) -> Verdict:
    """A number where a truth value belongs is no value of the protocol."""
    return "adapter_error" if got == wanted else verdict
