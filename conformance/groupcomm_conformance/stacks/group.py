"""A group of processes, each with a stack, over abstract layers: one event at a time, chosen by the caller.

An event is a tuple of its kind and of names and numbers, so that a schedule can be written down, cut and run
again. `perform` refuses an event that the layers' guarantees do not allow now (False), and otherwise carries
it to its end. What comes out of a stack goes to the layer that serves it; what the claims need to see, they
are told. The kinds:

==========================================  ==========================================================
``multicast P``, ``unicast P Q``            the application of P sends its next message (to Q)
``data M S N``                              a copy of message N of S (in M's view) reaches M
``lose M S N``                              the first copy of it will not arrive
``message P Q``, ``drop P Q``               the first unicast from P reaches Q; the last is lost, as P crashed
``gossip P N Q``                            datagram N of P reaches Q (once more)
``timer P NAME``                            a timer fires that P has set, or had set and cancelled
``start A``                                 a new life of address A
``install P``                               P installs the next view on its path
``leave P``                                 P asks to leave: later views are decided without it
``crash P``                                 P crashes, or having left stops
``partition NAMES``, ``heal``               those named and the others cannot reach one another; they can
again
``skip M S N``, ``take P Q I``,             weaker layers: the multicast layer goes on without a message; a
unicast
``again P Q``, ``miss P Q``                 overtakes, arrives twice, or is lost
``quiesce``                                 all faults end, all arrives, one view remains: what must be in the
end
==========================================  ==========================================================

Which views there are is either scripted (`scripted`) or done by GMS (`served`): each has events of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol, TypeAlias

from attrs import evolve, frozen

from groupcomm.abstract.join_digest import JoinDigest
from groupcomm.abstract.membership import Decided, Membership, NotAllowedError, Process
from groupcomm.abstract.network import Network
from groupcomm.abstract.reliable_multicast import Copy, ReliableMulticast
from groupcomm.abstract.reliable_unicast import ReliableUnicast
from groupcomm.abstract.virtual_synchrony import VirtualSynchrony
from groupcomm.digest import Digest
from groupcomm.effects import ALL, CancelTimer, Datagram, Multicast, PassDown, PassUp, Send, SetTimer
from groupcomm.errors import ProtocolError
from groupcomm.events import Deliver, Payload, Purge, ViewInstalled
from groupcomm.stack import APPLICATION, Arrived, Called, Fired, Raised, Stack, State, Tagged
from groupcomm.stack import Event as StackEvent
from groupcomm.view import Address

from .claims import Message, StabilitySafety, TotalOrderBroadcast, Violation

__all__ = ["Bare", "Event", "Events", "Gate", "Group", "Layers", "Service", "Told"]

Event: TypeAlias = tuple[str | int | tuple[str, ...], ...]
"""A kind and its arguments: names of processes, numbers."""

Events: TypeAlias = Mapping[object, Callable[..., None]]
"""What carries out the events of a kind. NotAllowedError where the layers do not allow one now."""


class Gate(Protocol):
    """What lets multicasts arrive: what is settled, or held back."""

    def may_receive(self, process: Process, sender: Process, seqno: int) -> bool: ...
    def must_receive(self, process: Process, sender: Process, seqno: int) -> bool: ...
    def drop_what_is_beyond(self, process: Process, sender: Process) -> None: ...
    def may_serve(self, holder: Process, sender: Process) -> bool: ...


class Service(Protocol):
    """Who decides the views: a membership service of all processes of a group.

    `events`: those that are its own. `timers`: what the names of its timers begin with. `gate`: what lets
    multicasts arrive, where that is not an abstract layer. It is `told` the effects that nobody else serves.
    """

    @property
    def events(self) -> Events: ...
    @property
    def gate(self) -> Gate | None: ...
    @property
    def timers(self) -> tuple[str, ...]: ...
    def next_of(self, process: Process) -> Decided | None: ...
    def fire(self, process: Process, timer: str) -> None: ...
    def started(self, process: Process) -> None: ...
    def departed(self, process: Process) -> None: ...
    def told(self, process: Process, effect: object) -> None: ...
    def forget(self, views: set[Decided]) -> None: ...


@frozen
class Layers:
    """How strong the layers below are. The default is what they guarantee; the rest is weaker.

    `synchrony`: views are synchronous. `multicast`: "fifo", "unordered" (each message is delivered as it
    comes), "lossy" (a message may be left out). `unicast`: "fifo", "unordered", "duplicating", "lossy".
    """

    synchrony: bool = True
    multicast: str = "fifo"
    unicast: str = "fifo"

    @property
    def sound(self) -> bool:
        """Whether every layer gives all of its guarantee."""
        return self.multicast == self.unicast == "fifo"


Taken: TypeAlias = tuple[State, tuple[object, ...]]
"""What a step of a stack gives."""


@frozen
class Told:
    """What happened at a process, for a chart: what came to its stack, and what came out of it."""

    process: Process
    event: StackEvent
    effects: tuple[object, ...]
    error: ProtocolError | None = None


class Bare:
    """No protocol: the application right above the layers below. As a `Stack`, as far as a group uses one."""

    def start(self, member: Address) -> State:
        """Nothing is to be known."""
        return State(member, ())

    def takes(self, _event: StackEvent) -> tuple[type, ...]:
        """Nothing is taken from below."""
        return ()

    def step(self, _config: None, state: State, event: StackEvent) -> tuple[State, tuple[object, ...]]:
        """A call goes down, what comes goes up."""
        match event:
            case Called(Multicast(payload)):
                return state, (Multicast(Tagged(APPLICATION, payload)),)
            case Called(Send(to, payload)):
                return state, (Send(to, Tagged(APPLICATION, payload)),)
            case Arrived(sender, Tagged(_, message)):
                return state, (PassUp(Deliver(sender, Payload(message))),)
            case _:
                return state, ()


class Group:
    """The processes, their stacks, what is between them, and the claims."""

    def __init__(
        self,
        stack: Stack | Bare,
        layers: Layers,
        *,
        judged: Iterable[str],
        service: Callable[["Group"], Service],
        traffic: Callable[["Group"], Events],
        remerge: bool = True,
        weak: bool = False,
        ignored: frozenset[str] = frozenset(),
    ) -> None:
        """`service` decides the views, `traffic` has the events of what is on its way; `judged`: guarantees.

        `remerge`: the sides of a split may come together again. `ignored`: claims. `weak`: the layers below
        give less than they should, and stacks may refuse what comes of that.
        """
        self.stack = stack
        self.remerge = remerge
        self.weak = weak
        self.layers = layers
        self.membership = Membership()
        self.multicast = ReliableMulticast(per_view=layers.synchrony)
        self.service = service(self)
        abstract = layers.synchrony and self.service.gate is None
        self.synchrony = VirtualSynchrony(self.service.next_of, self.multicast) if abstract else None
        self.gate: Gate | None = self.synchrony or self.service.gate
        self.digests = JoinDigest()
        self.unicast = ReliableUnicast()
        self.network = Network()
        self.states: dict[Process, State] = {}
        self.timers: dict[Process, dict[str, bool]] = {}  # whether it is set; if not, it was
        self.sent: dict[Process, int] = {}
        self.up: list[Process] = []  # those that have not crashed
        self.departed: set[Process] = set()  # those that left in good order: all that they sent arrives
        self.side: frozenset[Process] = frozenset()
        self.refused = 0
        self.happened: Counter[object] = Counter()
        self.events = 0
        self.listener: Callable[[Told], None] | None = None
        # What has come on its way and was not looked at by the scheduler yet.
        self.new_copies: list[Copy] = []
        self.new_unicasts: list[tuple[Process, Process]] = []
        self.new_datagrams: list[tuple[Process, int, Process]] = []
        self.order: TotalOrderBroadcast | None = None
        self.stability: StabilitySafety | None = None
        for name in judged:
            if name == "TotalOrderBroadcast":
                self.order = TotalOrderBroadcast(
                    ignored, synchronous=layers.synchrony and layers.multicast == "fifo"
                )
            elif name == "StabilitySafety":
                self.stability = StabilitySafety(ignored, self.multicast)
        self._do: Final[dict[object, Callable[..., None]]] = {
            "multicast": self._multicast,
            "unicast": self._unicast,
            "timer": self._timer,
            "start": self._start,
            "crash": self._crash,
            "partition": self._partition,
            "heal": self._heal,
            **traffic(self),
            **self.service.events,
        }

    def perform(self, event: Event) -> bool:
        """Carry an event to its end; False if the layers do not allow it now. Raises Violation."""
        kind = event[0]
        try:
            self._do[kind](*event[1:])
        except NotAllowedError:
            return False
        self.happened[kind] += 1
        self.events += 1
        return True

    def process(self, name: str) -> Process:
        """The process of a name. NotAllowedError if there is none, or it has crashed."""
        found = self.membership.processes.get(name)
        if found is None or not found.up:
            raise NotAllowedError(f"no process {name} is up")
        return found

    def connected(self, one: Process, other: Process) -> bool:
        """Whether no partition is between them."""
        return not self.side or (one in self.side) == (other in self.side)

    def known(self, name: str) -> Process:
        """The process of a name, up or not. NotAllowedError if there is none."""
        found = self.membership.processes.get(name)
        if found is None:
            raise NotAllowedError(f"there is no {name}")
        return found

    def in_view(self, name: str) -> Process:
        """The process of a name, which is up and has a view. NotAllowedError otherwise."""
        process = self.process(name)
        if process.view is None:
            raise NotAllowedError(f"{process} is in no view")
        return process

    # The application

    def _multicast(self, name: str) -> None:
        process = self.in_view(name)
        number = self.sent[process] = self.sent[process] + 1
        message: Message = process.name, number
        if self.order is not None and process.view is not None:
            self.order.sent(process, message, process.view)
        self.step(process, Called(Multicast(Payload(message))))

    def _unicast(self, name: str, to: str) -> None:
        process, other = self.in_view(name), self.process(to)
        self.step(process, Called(Send(other.address, Payload(None))))

    def _timer(self, name: str, timer: str) -> None:
        process = self.process(name)
        timers = self.timers[process]
        if timer not in timers:
            raise NotAllowedError(f"{process} has no timer {timer}")
        timers[timer] = False
        if timer.startswith(self.service.timers):
            self.service.fire(process, timer)
        else:
            self.step(process, Fired(timer))

    # Membership

    def _start(self, address: Address) -> None:
        process = self.membership.start(address)
        self.up.append(process)
        self.states[process] = self.stack.start(address)
        self.timers[process] = {}
        self.sent[process] = 0
        self.service.started(process)

    def enter(self, process: Process, after: Decided, start: Mapping[Process, int]) -> None:
        """A process installs a view, and its stack is told."""
        self.installed(process, after, start)
        self.told_of_view(process, ViewInstalled(after.view))

    def told_of_view(self, process: Process, installed: ViewInstalled) -> None:
        """The stack of a process is told of the view that it has installed."""
        event = Raised(installed)
        if Digest in self.stack.takes(event):
            event = evolve(event, below=(self.multicast.digest(process),))
        self.step(process, event)

    def installed(self, process: Process, after: Decided, start: Mapping[Process, int]) -> None:
        """A process goes to a view, and starts after seqnos with those that it was not with before."""
        before = process.view
        self.membership.install(process, after)
        self.digests.installed(process, after)
        self.multicast.install(process, after, start)
        if self.order is not None:
            self.order.installed(process, before, after)
        if self.stability is not None:
            self.stability.installed(process, before, after)

    def synchronous(self, process: Process, after: Decided) -> Mapping[Process, int]:
        """A process settles its view, to go to the next: where it starts there. NotAllowedError."""
        if self.synchrony is None or not self.synchrony.may_install(process, after):
            raise NotAllowedError("what is settled has not been received, or somebody has received more")
        self.synchrony.install(process, after)
        return self.synchrony.start(process, after)

    def _crash(self, name: str) -> None:
        self.depart(self.process(name))

    def depart(self, process: Process) -> None:
        """A process crashes, or having left stops: it takes no more steps."""
        process.up = False
        self.up = [other for other in self.up if other is not process]
        self.timers[process] = {}
        self.unicast.crash(process)
        self.service.departed(process)

    def _partition(self, names: tuple[str, ...]) -> None:
        self.side = frozenset(self.process(name) for name in names)

    def _heal(self) -> None:
        self.side = frozenset()

    def forget(self) -> None:
        """Nothing is on its way: forget what is over."""
        self.membership.forget()
        kept = set(self.up)
        self.departed.clear()
        views = {*self.membership.views}
        numbers = {view.number for view in views}
        self.multicast.forget(kept, numbers)
        if self.synchrony is not None:
            self.synchrony.forget(views)
        self.digests.forget(views)
        self.network.forget()
        self.service.forget(views)
        for kind in (self.states, self.timers, self.sent):
            for process in [process for process in kind if process not in kept]:
                del kind[process]
        if self.order is not None:
            self.order.forget(kept)

    # One step of one process's stack

    def taken(self, stack: Stack | Bare, state: State, process: Process, event: StackEvent) -> Taken:
        """A step of a stack of a process: its next state and its effects. Raises Violation."""
        error: ProtocolError | None = None
        effects: tuple[object, ...] = ()
        try:
            state, effects = stack.step(None, state, event)
        except ProtocolError as refused:
            error = refused
        except Violation:
            raise  # of who judges a layer of the stack
        except Exception as crash:
            raise Violation(
                "NoCrash", f"the stack of {process} fails: {type(crash).__name__}: {crash}"
            ) from crash
        if self.listener is not None:
            self.listener(Told(process, event, effects, error))
        if error is not None:
            self.refused += 1
            if not self.weak:
                raise Violation("NoRefusals", f"{process} refuses what correct peers do: {error.reason}")
        return state, effects

    def step(self, process: Process, event: StackEvent) -> None:
        """An event comes to the stack of a process, and what it asks for is done."""
        self.states[process], effects = self.taken(self.stack, self.states[process], process, event)
        for effect in effects:
            match effect:
                case PassUp(Deliver(sender, payload)):
                    self._delivered(process, sender, payload)
                case Multicast(message):
                    self.new_copies += self.multicast.cast(process, message)
                case Send(to, message):
                    receiver = self._at(process, to)
                    if receiver is not None and receiver.up:
                        self.unicast.send(process, receiver, message)
                        self.new_unicasts.append((process, receiver))
                case Datagram(to, message):
                    number = self.network.send(process, message)
                    receivers = self.up if to == ALL else [self._at(process, to)]
                    self.new_datagrams += (
                        (process, number, other) for other in receivers if other is not None
                    )
                case PassDown(Purge(vector)):
                    if self.stability is not None:
                        self.stability.purged(process, vector)
                    self.multicast.purge(process, vector)
                case SetTimer(timer):
                    self.timers[process][timer] = True
                case CancelTimer(timer):
                    self.timers[process][timer] = False
                case _:
                    self.service.told(process, effect)

    def _delivered(self, process: Process, sender: Address, payload: object) -> None:
        if self.order is not None and isinstance(payload, tuple):
            self.order.delivered(process, sender, payload)

    def _at(self, process: Process, address: Address) -> Process | None:
        """Who is reached at an address: a member of the sender's view or, if gone, its latest life."""
        view = process.view
        there = view.at.get(address) if view is not None else None
        return there if there is not None and there.up else self.membership.current.get(address)
