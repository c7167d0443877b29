"""A log of a member that ran, taken again by the pure stack: a line is what that stack does, or is rejected.

A log has events, and the stack is a function: so all states and effects come from here, and the log has only
their digests. Besides, the stack must have asked for each event from its own runtime. A timer that fires was
set, a member has sent what it hears of itself, and an application returns from a BLOCK. Records are read
where FILE_PING asks for that, and a member joins and merges with members that a reading has found.
"""

from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs
from attrs import define, field, frozen

from groupcomm import file_ping, merge_gms, safe, state_transfer, unicast
from groupcomm.effects import ALL, CancelTimer, Datagram, PassDown, PassUp, SetTimer
from groupcomm.errors import LocalProtocolError, ProtocolError
from groupcomm.events import Block, Deliver, DeliverUnicast, Payload, ViewInstalled
from groupcomm.stack import Effect, Fired, Layer, Stack, State
from groupcomm.view import Address, ViewId
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import read_bytes
from groupcomm_runtime.codec import VERSION, Codec, RefusedError, canonical, pack, unpack
from groupcomm_runtime.frames import LARGEST_MESSAGE
from groupcomm_runtime.layers import BEAT, DISCOVER, LAYERS, configs, event_of, payload_in, stack_of, written
from groupcomm_runtime.logs import EVERY, FORMAT, SELF, chained, digest, lines_of
from groupcomm_runtime.settings import Settings
from groupcomm_simulator.taps import Note, Tap

CODEC: Final = Codec(LAYERS)


@frozen
class Takes:
    """A message is passed up. `message`: its digest; its sender numbers it."""

    sender: Address
    message: str


@frozen
class Marks:
    """The application marks its state for a member."""

    to: Address
    attempt: int


@frozen
class Sets:
    """The state that a provider has marked becomes the application's."""

    provider: Address
    attempt: int


@frozen
class Declares:
    """The application's own state becomes the group's."""


@frozen
class Primary:
    """The member has the state, and its view is formed."""

    view: ViewId


Applied: TypeAlias = Takes | Marks | Sets | Declares | Primary
Told: TypeAlias = tuple[Address, int] | ViewInstalled | safe.SafeUpTo | safe.UnknownUpTo

_SAFE: Final = [*LAYERS].index("safe")

_LARGEST_LOG: Final = 1 << 30  # bytes
_LARGEST_LINE: Final = 4 * LARGEST_MESSAGE  # bytes; such a message is in a line of its own, up to twice
_FIELDS: Final = frozenset({"n", "cause", "event", "outcome", "effects", "digest"})


@frozen
class Rejected:
    """A line that no member has written that is what it says: of which log, and why."""

    log: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.log}:{self.line}: {self.why}"


@frozen
class Step:
    """A composite step: the event, as it is in the log and as the stack takes it, and what came of it.

    `ordered`: the deliveries and the views of SEQUENCER, in their order. STATE_TRANSFER above it holds and
    drops deliveries; without that layer they are those of the stack. `told`: what SAFE took and told, in their
    order: deliveries, as sender and number, views, and which own messages are safe. `applied`: what STATE_TRANSFER told
    the application, and in which formed view it has the state after the step. `unicasts`: what came for this member
    alone.
    """

    line: int
    cause: str
    written: tuple[Any, ...]
    effects: tuple[Effect, ...]
    on_paper: tuple[Any, ...]
    ordered: tuple[Deliver | ViewInstalled, ...]
    told: tuple[Told, ...] = ()
    applied: tuple[Applied, ...] = ()
    unicasts: tuple[DeliverUnicast, ...] = ()


@define
class Life:
    """A log: the member, its configuration, its steps as far as they are right.

    `first`: the digest of the first line. `ends`: how it ended. `taken`: the number of events that the layer
    at each place took, `events`: the first of them, and `lines`: where these are in the log.
    """

    log: str
    member: Address
    group: str
    configs: dict[str, Any]
    first: str
    steps: list[Step] = field(factory=list)
    ends: str | None = None
    rejected: Rejected | None = None
    taken: Counter[int] = field(factory=Counter)
    events: list[list[Any]] = field(factory=lambda: [[] for _ in LAYERS])
    lines: list[list[int]] = field(factory=lambda: [[] for _ in LAYERS])

    def brief(self) -> "Life":
        """The same with digests for messages, and without what no claim asks for."""
        return attrs.evolve(self, steps=[*map(_brief, self.steps)])


def _short(payload: object) -> Payload:
    return Payload(digest(payload).encode())


def _brief(step: Step) -> Step:
    written = tuple(_short(each) if type(each) is bytes else each for each in step.written)
    sent = tuple((paper[0], paper[1], _short(paper[2])) for paper in step.on_paper if paper[0] == "Datagram")
    ordered = tuple(
        Deliver(each.sender, _short(each.payload)) if isinstance(each, Deliver) else each for each in step.ordered
    )
    unicasts = tuple(DeliverUnicast(each.sender, _short(each.payload)) for each in step.unicasts)
    return Step(step.line, step.cause, written, (), sent, ordered, step.told, step.applied, unicasts)


class _NotSoError(Exception):
    """A line contradicts the replay."""


def read_log(path: Path) -> bytes:
    """The bytes of a log. FileError for what is none: a pipe or a device, or more than 1 GB."""
    return read_bytes(path, str(path), "a log of groupcomm_runtime", _LARGEST_LOG)


def replayed(path: Path, text: bytes, *, killed: bool = False, most: int | None = None) -> Life:
    """Take a log again. `killed`: it may end anywhere, even within a line.

    `most`: of each layer so many first events are kept, None: all.

    Raises FileError where the first line is not that of a log.
    """
    lines, rest = lines_of(text)
    life = _begun(path, lines[0] if lines else rest)
    if rest and not killed:
        life.rejected = Rejected(life.log, len(lines) + 1, "the last line does not end: the log is cut")
        return life
    run = _Run(life, most)
    at = 1
    for at, line in enumerate(lines[1:], start=2):
        try:
            if life.ends is not None:
                raise _NotSoError("a line after the last")
            run.take(at, _read(line))
        except (_NotSoError, RefusedError, OverflowError) as error:  # MessagePack has 64 bits
            life.rejected = Rejected(life.log, at, str(error))
            return life
    if life.ends is None and not killed:
        why = "the log does not say that its incarnation ended: it is cut, or was killed (--killed)"
        life.rejected = Rejected(life.log, at, why)
    return life


def _begun(path: Path, line: bytes) -> Life:
    try:
        first = unpack(line)
        read = {
            name: type(default)(**first["configs"][name])
            for name, default in configs(
                Settings(safe="safe" in first["configs"]), state="state_transfer" in first["configs"]
            ).items()
        }
        if (first["format"], first["version"]) != (FORMAT, VERSION):
            raise ValueError("another version")
        kinds = {type(each) for config in read.values() for each in attrs.astuple(config)}
        if not kinds <= {int, bool}:
            raise ValueError("a configuration is of numbers and options")
        return Life(path.name, str(first["member"]), str(first["group"]), read, digest(first))
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        raise FileError(
            str(path), 1, f"the first line of a log of groupcomm_runtime, format {FORMAT}, version {VERSION}"
        ) from None


def _read(line: bytes) -> dict[str, Any]:
    if len(line) > _LARGEST_LINE:
        raise _NotSoError(f"no line of a log: it has {len(line):,} bytes, and at most {_LARGEST_LINE:,}")
    found = unpack(line)
    if type(found) is not dict:
        raise _NotSoError("no line of a log: it is no object")
    return found


class _Run:
    """The stack, and what its runtime owes it."""

    def __init__(self, life: Life, most: int | None) -> None:
        self._life, self._most = life, most
        self._notes: list[Note] = []
        made = stack_of(life.configs)
        self._stack = Stack(
            tuple(
                Layer.of(
                    Tap(layer.core, [*LAYERS].index(layer.name), self._notes),
                    layer.config,
                    declared_by=LAYERS[layer.name],
                )
                for layer in made.layers
            ),
            made.ground,
        )
        self._state: State = self._stack.start(life.member)
        self._timers = Counter({BEAT: 1})  # the first comes of itself
        self._to_itself: deque[bytes] = deque()
        self._blocks = self._readings = 0
        self._marked: dict[Address, int] = {}
        self._to_read: set[tuple[Address, int, int]] = set()
        self._found: set[Address] = set()
        self._chain = life.first

    def take(self, at: int, line: dict[str, Any]) -> None:
        """A line of the log. Raises _NotSoError, RefusedError."""
        count = len(self._life.steps)
        if "ends" in line:
            if line.keys() != {"ends", "n", "state"} or line["ends"] not in ("left", "closed", "failed"):
                raise _NotSoError("no last line of a log")
            self._same("steps", line["n"], count)
            self._same("digest of the state", line["state"], digest(canonical(self._state)))
            self._life.ends = line["ends"]
            return
        checked = (count + 1) % EVERY == 0
        if line.keys() != (_FIELDS | {"state"} if checked else _FIELDS):
            raise _NotSoError("no line of a step: its fields are others")
        self._same("number", line["n"], count + 1)
        values = self._values(line["event"])
        self._owed(values, line["cause"])
        event = event_of(values, CODEC)
        if isinstance(event, Fired) and self._stack.takes(event) and not event.below:
            raise _NotSoError(f"timer {event.timer} does not say what discovery found")
        self._notes.clear()
        outcome = "handled"
        effects: tuple[Effect, ...] = ()
        try:
            after, effects = self._stack.step(None, self._state, event)
        except ProtocolError as error:
            outcome = "local_error" if isinstance(error, LocalProtocolError) else "remote_error"
            self._notes.clear()
        else:
            outcome = "ignored" if after is self._state and not effects else "handled"
            self._state = after
        self._same("outcome", line["outcome"], outcome)
        on_paper = [written(effect, CODEC) for effect in effects]
        self._same("effects", line["effects"], len(on_paper))
        self._chain = chained(self._chain, line["cause"], pack(values), on_paper, payload_in(event))
        self._same("digest of event and effects", line["digest"], self._chain)
        if checked:
            self._same("digest of the state", line["state"], digest(canonical(self._state)))
        for effect, paper in zip(effects, on_paper, strict=True):
            self._owes(effect, paper)
        for note in self._notes:
            self._life.taken[note.place] += 1
            if self._most is None or self._life.taken[note.place] <= self._most:
                self._life.events[note.place].append(note.event)
                self._life.lines[note.place].append(at)
        ordered = tuple(self._ordered(effects))
        told = tuple(self._acks())
        up = [effect.event for effect in effects if isinstance(effect, PassUp)]
        unicasts = tuple(event for event in up if isinstance(event, DeliverUnicast))
        self._life.steps.append(
            Step(at, line["cause"], values, effects, tuple(on_paper), ordered, told, tuple(self._applied()), unicasts)
        )

    def _ordered(self, effects: tuple[Effect, ...]) -> Iterator[Deliver | ViewInstalled]:
        if "state_transfer" not in self._life.configs:
            for effect in effects:
                if isinstance(effect, PassUp) and isinstance(effect.event, Deliver | ViewInstalled):
                    yield effect.event
            return
        for note in self._notes:
            match note.event:
                case state_transfer.AppReceived(sender, message):
                    yield Deliver(sender, message.payload)
                case ViewInstalled() if note.place == 0:
                    yield note.event
                case _:
                    pass

    def _acks(self) -> Iterator[Told]:
        for note in self._notes if "safe" in self._life.configs else ():
            if note.place != _SAFE:
                continue
            match note.event:
                case safe.DataReceived(sender, message):
                    yield sender, message.number
                case ViewInstalled():
                    yield note.event
                case _:
                    pass
            for effect in note.effects:
                if isinstance(effect, PassUp) and isinstance(effect.event, safe.SafeUpTo | safe.UnknownUpTo):
                    yield effect.event

    def _applied(self) -> Iterator[Applied]:
        for note in self._notes if "state_transfer" in self._life.configs else ():
            if note.place != 0:
                continue
            for effect in note.effects:
                match getattr(effect, "event", None):
                    case Deliver(sender, payload):
                        yield Takes(sender, digest(payload))
                    case state_transfer.MarkState(to, attempt):
                        yield Marks(to, attempt)
                    case state_transfer.StateSet():
                        yield Sets(note.before.provider, note.before.attempt)
                    case state_transfer.StateDeclared() if not note.before.has:  # else it keeps its own
                        yield Declares()
                    case _:
                        pass
            if _is_primary(note.after) and (note.effects or not _is_primary(note.before)):
                yield Primary(note.after.view.id)

    def _same(self, what: str, said: object, found: object) -> None:
        if type(said) is not type(found) or said != found:
            raise _NotSoError(f"the log says {what} {said!r}, and the stack has {found!r}")

    def _values(self, event: object) -> tuple[Any, ...]:
        """The kind and the values of an event. The bytes that a member hears of itself are those that it has said."""
        if type(event) is not list or not event or type(event[0]) is not str:
            raise _NotSoError("an event has a kind")
        if event[:2] == ["arrived", self._life.member]:
            raise _NotSoError("it hears of itself by an event of others")
        if event != [*SELF]:
            return tuple(event)
        if not self._to_itself:
            raise _NotSoError("it hears of itself what it has not said")
        return "arrived", self._life.member, self._to_itself.popleft()

    def _owed(self, values: tuple[Any, ...], cause: object) -> None:
        """Check that the stack asked for an event of its own runtime, or that it is from outside."""
        match values:
            case ("arrived", self._life.member, _):
                expected = "self"
            case ("arrived", str(sender), _):
                number = str(cause).rpartition(" ")[2]
                if not number.isdecimal() or number.startswith("0"):
                    raise _NotSoError(f"a datagram has a number, and {cause!r} has none")
                expected = f"{sender} {number}"
            case ("fired", str(timer), *_):
                self._fires(timer)
                found = {self._life.member, *self._stack.of(file_ping, self._state).coordinators}
                if timer == DISCOVER and not found.issuperset(values[2] if values[2:] else ()):
                    raise _NotSoError("merging gets coordinators that FILE_PING has not found")
                expected = "timer"
            case ("read", *_):
                self._readings -= 1
                if self._readings < 0:
                    raise _NotSoError("records are read unasked")
                expected = "folder"
            case ("returned",):
                self._blocks -= 1
                if self._blocks < 0:
                    raise _NotSoError("the application returns from no BLOCK")
                expected = "application"
            case ("part", *_) | ("no part", *_):
                self._answers(values)
                expected = "application"
            case ("multicast", _) | ("unicast", _, _) | ("leave",) | ("connect",) | ("disconnect",) | ("declare",):
                expected = "application"
            case ("join", str(coordinator), *_):
                if coordinator not in self._found:
                    raise _NotSoError("it joins whom FILE_PING has not found, or not now")
                self._found.clear()
                expected = "discovery"
            case ("begins" | "restored" as expected, _):
                pass
            case ("beat", str(timer), *around, _):
                self._beats(timer, around)
                expected = "timer"
            case _:
                raise _NotSoError("no event of a member")
        if (values[0] == "begins") != (not self._life.steps):
            raise _NotSoError("an incarnation begins with `begins`, and only once")
        if cause != expected:
            raise _NotSoError(f"the cause is {cause!r}, and of such an event it is {expected!r}")

    def _answers(self, values: tuple[Any, ...]) -> None:
        match values:
            case ("part", str(to), int(attempt), int(number), *_) if (to, attempt, number) in self._to_read:
                self._to_read.remove((to, attempt, number))
            case ("no part", str(to), int(attempt)) if self._marked.get(to) == attempt:
                del self._marked[to]
            case _:
                raise _NotSoError("the application answers for a state that it was not asked for")

    def _fires(self, timer: str) -> None:
        self._timers[timer] -= 1
        if self._timers[timer] < 0:
            raise _NotSoError(f"timer {timer} fires more often than it was set")

    def _beats(self, timer: str, around: list[object]) -> None:
        self._fires(timer)
        merging, unicasts = self._stack.of(merge_gms, self._state), self._stack.of(unicast, self._state)
        if around != [sorted(each) for each in (merging.watched, merging.suspected, unicasts.sought)]:
            raise _NotSoError("HEARTBEAT hears of others than GMS watches and suspects, and UNICAST seeks")

    def _owes(self, effect: Effect, paper: list[Any]) -> None:
        match effect:
            case Datagram(to, _) if to in (ALL, self._life.member):
                self._to_itself.append(paper[2])
            case PassUp(state_transfer.MarkState(to, attempt)):
                self._marked[to] = attempt
            case PassUp(state_transfer.ReadPart(to, attempt, number)):
                self._to_read.add((to, attempt, number))
            case SetTimer(name):
                self._timers[name] += 1
            case CancelTimer():
                pass  # it may fire all the same
            case PassUp(Block()):
                self._blocks += 1
            case PassDown(file_ping.ReadRecords()):
                self._readings += 1
            case PassUp(file_ping.Found(coordinator)):
                self._found.add(coordinator)
            case _:
                pass


def _is_primary(state: state_transfer.State) -> bool:
    return state.has and state.settled and state.formed == state.view.id.counter
