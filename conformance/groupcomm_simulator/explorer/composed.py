"""The group in one state: what can happen in it, what came of it, and what the applications have seen."""

from collections import Counter, deque
from collections.abc import Iterator
from enum import IntEnum
from itertools import combinations
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast

from attrs import evolve, frozen

from groupcomm import flush, gms
from groupcomm.effects import ALL, CancelTimer, Datagram, Multicast, PassDown, PassUp, SetTimer
from groupcomm.errors import ProtocolError
from groupcomm.events import Block, Deliver, Left, MergeViewInstalled, Payload, Suspected, ViewInstalled
from groupcomm.stack import Arrived, Called, Event, Fired, Raised, Tagged
from groupcomm.stack import State as StackState
from groupcomm_simulator.judges.application import Life, of_one, of_two, seen
from groupcomm_simulator.judges.claims import Violation
from groupcomm_simulator.judges.membership import Decided, Process
from groupcomm_simulator.oracle import Oracle
from groupcomm_simulator.setup import DECIDE, FLUSH, Setup, stack_of
from groupcomm_simulator.world import LOSSY

if TYPE_CHECKING:
    from groupcomm.view import ViewId

T = TypeVar("T")
State: TypeAlias = tuple[int, ...]
Label: TypeAlias = tuple[str, ...]


@frozen
class Seat:
    """A process: `after` is the place of that whose end it waits for to start, or -1."""

    address: str
    founds: bool = False
    multicasts: int = 0
    leaves: bool = False
    after: int = -1


@frozen
class Configuration:
    """What may happen: to whom, and how often. `delays` None: all orders."""

    stack: tuple[str, ...]
    seats: tuple[Seat, ...]
    crashes: int = 0
    suspicions: int = 0
    partitions: int = 0
    delays: int | None = None

    @property
    def setup(self) -> Setup:
        """The setup of the simulation that has the same stack."""
        return Setup(self.stack, members=len(self.seats))

    @property
    def one_path(self) -> bool:
        """Whether views are one path."""
        return not (self.suspicions or self.partitions) and sum(seat.founds for seat in self.seats) == 1


class Class(IntEnum):
    """Kinds of events, in the order of the default. A fault, or a wish to leave, costs no delay."""

    MESSAGE = 0
    RETURN = 1
    SUSPECT = 2
    MULTICAST = 3
    JOIN = 4
    TIMER = 5
    FREE = 6


_NEW, _UP, _DOWN, _LEFT = "new", "up", "down", "left"


@frozen
class Record:
    """A process but for its history: the states of its layers, its timers and what its application does."""

    status: str = _NEW
    layers: tuple[Any, ...] = ()
    timers: frozenset[str] = frozenset()
    sent: int = 0
    in_handler: bool = False
    asked: bool = False


class _Numbers(Generic[T]):
    """Things, each with a number."""

    def __init__(self) -> None:
        self._of: dict[T, int] = {}
        self.all: list[T] = []

    def __call__(self, thing: T) -> int:
        number = self._of.setdefault(thing, len(self.all))
        if number == len(self.all):
            self.all.append(thing)
        return number


class _Always:
    """Dice for `Oracle.discoveries`: all that can be found is found."""

    def random(self) -> float:
        return 0.0


class _Scene:
    """The group in one state, as `Oracle` asks for it. Addresses are used once."""

    def __init__(self, configuration: Configuration, *, merges: bool) -> None:
        self.merges = merges
        self.processes = [Process(seat.address, seat.address, 0, n) for n, seat in enumerate(configuration.seats)]
        lives = {(process.address, 0): process for process in self.processes}
        self.membership = SimpleNamespace(lives=lives)
        self.views = SimpleNamespace(used=Counter(), installed={})
        self.up: list[Process] = []
        self.records: list[Record] = []
        self.deciding = 0
        self.apart: frozenset[int] = frozenset()
        self.queued: set[tuple[int, int]] = set()

    def gms_of(self, process: Process) -> gms.State:
        return self.gms_in(self.records[process.order])

    def gms_in(self, record: Record) -> gms.State:
        state = record.layers[self.deciding]
        return cast("gms.State", state.gms if self.merges else state)

    def merging_of(self, process: Process) -> Any:  # noqa: ANN401 - a state of merging
        return self.records[process.order].layers[self.deciding].merge

    def reaches(self, one: int, other: int) -> bool:
        return (one in self.apart) == (other in self.apart)

    def connected(self, one: Process, other: Process) -> bool:
        return self.reaches(one.order, other.order)

    def waits(self, sender: Process, receiver: Process) -> bool:
        return (sender.order, receiver.order) in self.queued


class Group:
    """The states of a group, and what leads from one to the next.

    A state has of each process the numbers of its record and its history, and of each pair of processes those
    of what is on its way, in order and not. Then come three budgets, a side of a partition, and the turns.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.of = configuration
        self.size = len(configuration.seats)
        self.stack = stack_of(configuration.setup, Random(0), [])  # noqa: S311 - the same each time
        place = {layer.name: at for at, layer in enumerate(self.stack.layers)}
        deciding = next(name for name in DECIDE if name in place)
        self.flush = place[FLUSH]
        self.scene = _Scene(configuration, merges=deciding == "merge_gms")
        self.scene.deciding = place[deciding]
        self.oracle = Oracle(cast("Any", self.scene))
        self.carriages = configuration.setup.carriages
        self.records, self.histories = _Numbers[Record](), _Numbers[tuple[object, ...]]()
        self.mail = _Numbers[tuple[Tagged, ...]]()
        self.sets = _Numbers[frozenset[Any]]()
        self.steps: dict[tuple[int, int, Event], tuple[int, tuple[object, ...], tuple[tuple[int, Tagged], ...]]] = {}
        self.lives: dict[tuple[int, int], Life] = {}
        self.judged: set[tuple[int, ...]] = set()
        self.forests: dict[tuple[int, ...], dict[Process, Decided]] = {}
        n = self.size
        self.queues, self.bags, self.rest = 2 * n, 2 * n + n * n, 2 * n + 2 * n * n
        self.addresses = {seat.address: at for at, seat in enumerate(configuration.seats)}
        self.none, self.empty = self.sets(frozenset()), self.mail(())

    def start(self) -> State:
        begun = [self.records(self._begun(at) if seat.after < 0 else Record()) for at, seat in enumerate(self.of.seats)]
        no_histories = [self.histories(())] * self.size
        budgets = [self.of.crashes, self.of.suspicions, self.of.partitions]
        return (*begun, *no_histories, *[self.empty] * (2 * self.size**2), *budgets, self.none, self.none)

    def _begun(self, at: int) -> Record:
        return Record(_UP, tuple(self.stack.start(self.of.seats[at].address).layers))

    # Composite steps

    def _step(self, state: list[int], at: int, event: Event, **changes: Any) -> None:  # noqa: ANN401 - of a record
        """A process takes an event; the state is changed. Raises Violation."""
        if changes:
            state[at] = self.records(evolve(self.records.all[state[at]], **changes))
        key = state[at], at, event
        if key not in self.steps:
            self.steps[key] = self._computed(at, self.records.all[state[at]], event)
        number, told, sends = self.steps[key]
        state[at] = number
        if told:
            state[self.size + at] = self.histories(self.histories.all[state[self.size + at]] + told)
        for to, message in sends:
            if self.records.all[state[to]].status == _UP:
                self._put(state, at, to, message)
        if self.records.all[number].status == _LEFT:
            self._stops(state, at)

    def _computed(
        self, at: int, record: Record, event: Event
    ) -> tuple[int, tuple[object, ...], tuple[tuple[int, Tagged], ...]]:
        me, layers, timers = self.of.seats[at].address, record.layers, {*record.timers}
        in_handler, left = record.in_handler, False
        told: list[object] = []
        sends: list[tuple[int, Tagged]] = []
        if isinstance(event, Fired):
            timers.discard(event.timer)
        todo = deque([event])
        while todo:
            taken = todo.popleft()
            try:
                after, effects = self.stack.step(None, StackState(me, layers), taken)
            except ProtocolError as refused:
                text = f"{me} refuses what correct peers do: {refused.reason}: {taken}"
                raise Violation("NoRefusals", text) from None
            layers = tuple(after.layers)
            told += seen(taken, effects)
            for effect in effects:
                match effect:
                    case Datagram(to, message):
                        receivers = range(self.size) if to == ALL else (self.addresses[to],)
                        own = at in receivers and not self.carriages.get(message.layer, LOSSY).ordered
                        sends += [(each, message) for each in receivers if each != at or not own]
                        todo.extend([Arrived(me, message)] * own)
                    case SetTimer(timer):
                        timers.add(timer)
                    case CancelTimer(timer):
                        timers.discard(timer)
                    case PassUp(Block()):
                        in_handler = True
                    case PassUp(Left()):
                        left = True
                    case _:
                        pass
        if left:
            return self.records(Record(_LEFT)), tuple(told), tuple(sends)
        new = evolve(record, layers=layers, timers=frozenset(timers), in_handler=in_handler)
        return self.records(new), tuple(told), tuple(sends)

    def _put(self, state: list[int], sender: int, receiver: int, message: Tagged) -> None:
        ordered = self.carriages.get(message.layer, LOSSY).ordered
        place = (self.queues if ordered else self.bags) + sender * self.size + receiver
        held = self.mail.all[state[place]]
        if ordered:
            state[place] = self.mail((*held, message))
        elif message not in held:
            state[place] = self.mail(tuple(sorted((*held, message), key=repr)))

    def _stops(self, state: list[int], at: int) -> None:
        for sender in range(self.size):
            for kind in (self.queues, self.bags):
                state[kind + sender * self.size + at] = self.empty

    # Events

    def enter(self, state: State) -> None:
        """Have the scene be of this state."""
        scene, n = self.scene, self.size
        scene.records = [self.records.all[number] for number in state[:n]]
        for process, record in zip(scene.processes, scene.records, strict=True):
            process.up = record.status == _UP
        scene.up = [process for process in scene.processes if process.up]
        scene.apart = self.sets.all[state[self.rest + 3]]
        scene.queued = {divmod(at, n) for at in range(n * n) if state[self.queues + at] != self.empty}
        histories = state[n : 2 * n]
        if histories not in self.forests:
            self.forests[histories] = self._forest([self.histories.all[number] for number in histories])
        scene.views.installed = self.forests[histories]

    def _forest(self, histories: list[tuple[object, ...]]) -> dict[Process, Decided]:
        """The view of each process, and the views that each follows."""
        told: dict[ViewId, ViewInstalled] = {}
        follows: dict[ViewId, set[ViewId]] = {}
        last: dict[Process, ViewId] = {}
        for process, history in zip(self.scene.processes, histories, strict=True):
            for each in history:
                if isinstance(each, ViewInstalled):
                    told[each.view.id] = each
                    preds = follows.setdefault(each.view.id, set())
                    if isinstance(each, MergeViewInstalled):
                        preds |= each.subgroups
                    elif process in last:
                        preds.add(last[process])
                    last[process] = each.view.id
        decided: dict[ViewId, Decided] = {}
        for view in sorted(told, key=lambda each: each.counter):
            members = tuple(self.scene.processes[self.addresses[each]] for each in told[view].view.members)
            before = tuple(decided[each] for each in follows[view] if each in decided)
            decided[view] = Decided(view.counter, told[view].view, members, before)
        return {process: decided[view] for process, view in last.items()}

    def events(self, state: State) -> Iterator[tuple[Class, Label, State]]:
        """List what can happen in a state, at rest each timer in its turn. Raises Violation."""
        turns = self.rest + 4
        found = [*self._events(state)]
        due = [label for kind, label, _ in found if kind is Class.TIMER]
        had = self.sets.all[state[turns]]
        if due and had.issuperset(due):
            had = frozenset[Any]()
        for kind, label, after in found:
            if kind is not Class.TIMER or len(due) == 1:
                yield kind, label, (*after[:turns], self.none) if kind is Class.TIMER else after
            elif label not in had:
                yield kind, label, (*after[:turns], self.sets(had | {label}))

    def _events(self, state: State) -> Iterator[tuple[Class, Label, State]]:
        self.enter(state)
        scene, oracle, seats = self.scene, self.oracle, self.of.seats
        owed = [(process, other) for process in scene.up for other in oracle.to_report(process)]
        doubted = [(p, other) for p in scene.up for other in oracle.watched(p) if other.up and (p, other) not in owed]
        asks = [(p, other) for p in scene.up if not scene.gms_of(p).in_view for other in oracle.may_be_asked(p)]
        discoveries = [
            each
            for process in scene.up
            if Oracle.discovery in scene.records[process.order].timers
            for each in oracle.discoveries(process, cast("Any", _Always()))
        ]
        arrivals = [*self._arrivals(state)]
        records = scene.records
        at_rest = not arrivals and not owed and not any(record.in_handler for record in records)
        yield from arrivals
        yield from self._faults(state, doubted)
        for process, other in owed:
            yield (
                Class.SUSPECT,
                *self._takes(state, process, ("suspect", other.name), Raised(Suspected(other.address))),
            )
        for process in (each for each in scene.processes if records[each.order].status == _UP):
            at, record = process.order, records[process.order]
            seat, views = seats[at], self.scene.gms_in(record)
            if record.in_handler:
                event: Event = Called(PassDown(flush.BlockReturned()))
                yield Class.RETURN, *self._takes(state, process, ("return",), event, in_handler=False)
            if views.in_view and not views.gone and record.sent < seat.multicasts:
                event = Called(Multicast(Payload((seat.address, record.sent + 1))))
                yield (Class.MULTICAST, *self._takes(state, process, ("multicast",), event, sent=record.sent + 1))
            if views.in_view and seat.leaves and not views.leaving:
                yield (Class.FREE, *self._takes(state, process, ("leave",), Called(PassDown(gms.LeaveRequested()))))
            if seat.founds and not views.in_view and not views.joining:
                event = Called(PassDown(gms.JoinRequested(seat.address, 0)))
                yield Class.JOIN, *self._takes(state, process, ("join", seat.address), event)
            for timer in sorted(record.timers - {Oracle.discovery}) if at_rest else ():
                yield Class.TIMER, *self._takes(state, process, ("timer", timer), Fired(timer))
        for process, other in asks:
            event, again = Called(PassDown(gms.JoinRequested(other.address, 0))), records[process.order].asked
            if not seats[process.order].founds and (at_rest or not again):
                kind = Class.TIMER if again else Class.JOIN
                yield kind, *self._takes(state, process, ("join", other.name), event, asked=True)
        for _, name, found in discoveries if at_rest else ():
            process = scene.processes[self.addresses[str(name)]]
            names = frozenset(cast("tuple[str, ...]", found))
            event = Fired(Oracle.discovery, (names,))
            yield Class.TIMER, *self._takes(state, process, ("discover", *sorted(names)), event)
        for at, seat in enumerate(seats):
            if records[at].status == _NEW and records[seat.after].status in {_DOWN, _LEFT}:
                yield (
                    Class.JOIN,
                    ("start", seat.address),
                    (*state[:at], self.records(self._begun(at)), *state[at + 1 :]),
                )

    def _takes(
        self,
        state: State,
        process: Process,
        label: Label,
        event: Event,
        **changes: Any,  # noqa: ANN401 - of a record
    ) -> tuple[Label, State]:
        after = [*state]
        self._step(after, process.order, event, **changes)
        return (label[0], process.name, *label[1:]), tuple(after)

    def _arrivals(self, state: State) -> Iterator[tuple[Class, Label, State]]:
        for kind, word in ((self.queues, "message"), (self.bags, "copy")):
            for pair in range(self.size**2):
                held = self.mail.all[state[kind + pair]]
                sender, receiver = divmod(pair, self.size)
                if not held or (self.scene.records[sender].status == _UP and not self.scene.reaches(sender, receiver)):
                    continue
                process, name = self.scene.processes[receiver], self.of.seats[sender].address
                for at in range(1 if word == "message" else len(held)):
                    without = [*state]
                    without[kind + pair] = self.mail((*held[:at], *held[at + 1 :]))
                    label = (word, name, type(held[at].message).__name__)
                    yield Class.MESSAGE, *self._takes(tuple(without), process, label, Arrived(name, held[at]))

    def _faults(self, state: State, doubted: list[tuple[Process, Process]]) -> Iterator[tuple[Class, Label, State]]:
        """Crashes, with what they lose; suspicions of members that are up; partitions, and their end."""
        crashes, suspicions, partitions = state[self.rest : self.rest + 3]
        up, names = [each.order for each in self.scene.up], [seat.address for seat in self.of.seats]
        for kind in (self.queues, self.bags):
            for pair in range(self.size**2):
                held, sender = self.mail.all[state[kind + pair]], pair // self.size
                if self.scene.records[sender].status != _DOWN:
                    continue
                for at in range(len(held)) if kind == self.bags else range(len(held) - 1, len(held)):
                    after = [*state]
                    after[kind + pair] = self.mail((*held[:at], *held[at + 1 :])) if at >= 0 else self.empty
                    if held:
                        yield Class.FREE, ("lose", names[sender], names[pair % self.size]), tuple(after)
        for at in up if crashes and len(up) > 1 else ():
            after = [*state]
            after[at], after[self.rest] = self.records(Record(_DOWN)), crashes - 1
            self._stops(after, at)
            yield Class.FREE, ("crash", names[at]), tuple(after)
        for process, other in doubted if suspicions else ():
            less = (*state[: self.rest + 1], suspicions - 1, *state[self.rest + 2 :])
            yield (Class.FREE, *self._takes(less, process, ("suspect", other.name), Raised(Suspected(other.address))))
        if self.scene.apart:
            yield Class.FREE, ("heal",), (*state[: self.rest + 3], self.none, state[self.rest + 4])
            return
        sides = [side for size in range(1, len(up)) for side in combinations(up, size) if up[0] in side]
        for side in sides if partitions else ():
            after = [*state]
            after[self.rest + 2 : self.rest + 4] = partitions - 1, self.sets(frozenset(side))
            yield Class.FREE, ("partition", *(names[each] for each in side)), tuple(after)

    # Judging

    def judge(self, state: State) -> None:
        """Raise Violation for what applications have seen; each history, and each pair, is judged once."""
        n = self.size
        of = [(at, state[n + at]) for at in range(n)]
        for each in of:
            if each not in self.lives:
                life = self.lives[each] = Life.of(self.of.seats[each[0]].address, self.histories.all[each[1]])
                self._fail(of_one(life), life)
        for one, other in combinations(of, 2):
            if (*one, *other) not in self.judged:
                self.judged.add((*one, *other))
                both = self.lives[one], self.lives[other]
                self._fail(of_two(*both, one_path=self.of.one_path), *both)

    def _fail(self, claims: Iterator[str], *lives: Life) -> None:
        for claim in claims:
            text = "; ".join(f"{life.member} has seen {life.history}" for life in lives)
            raise Violation("ApplicationView", f"{claim}: {text}")

    def told(self, state: State) -> str:
        """Say what the applications have seen."""
        lives = zip(self.of.seats, state[self.size : 2 * self.size], strict=True)
        return "; ".join(f"{seat.address} has seen {self.histories.all[number]}" for seat, number in lives)

    def is_good(self, state: State) -> bool:
        """Say whether nothing is on its way, and all are in one view, free, and have what they sent."""
        records = [self.records.all[number] for number in state[: self.size]]
        up = [at for at, record in enumerate(records) if record.status == _UP]
        on_the_way = any(each != self.empty for each in state[self.queues : self.rest])
        if on_the_way or state[self.rest + 3] != self.none:
            return False
        for at, seat in enumerate(self.of.seats):
            if records[at].status == _NEW and records[seat.after].status in {_DOWN, _LEFT}:
                return False
        views = [self.scene.gms_in(records[at]) for at in up]
        if not any(view.in_view for view in views):
            return not any(self.of.seats[at].founds for at in up)
        members = {self.of.seats[at].address for at in up}
        if len({view.decision.id for view in views}) > 1 or {*views[0].decision.members} != members:
            return False
        for at in up:
            stopped: flush.State = records[at].layers[self.flush]
            history, me = self.histories.all[state[self.size + at]], self.of.seats[at].address
            own = sum(isinstance(each, Deliver) and each.sender == me for each in history)
            free = stopped.is_free and not stopped.waiting and not stopped.wants and stopped.block == "free"
            if records[at].in_handler or not free or own < records[at].sent or self.scene.gms_in(records[at]).leaving:
                return False
        return True
