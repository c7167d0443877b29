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
``promise P Q``, ``withdraw P Q``           P gives the joiner Q its digest; P's promise to Q is taken back
``decide P COUNTER MEMBERS VIEWS``          P decides a view that follows views (by a member of each)
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
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from attrs import frozen

from groupcomm.abstract.join_digest import JoinDigest
from groupcomm.abstract.membership import Decided, Membership, NotAllowedError, Process
from groupcomm.abstract.network import Network
from groupcomm.abstract.reliable_multicast import Copy, ReliableMulticast
from groupcomm.abstract.reliable_unicast import ReliableUnicast
from groupcomm.abstract.virtual_synchrony import VirtualSynchrony
from groupcomm.digest import Digest
from groupcomm.effects import ALL, CancelTimer, Datagram, Multicast, PassDown, PassUp, Send, SetTimer
from groupcomm.errors import ProtocolError
from groupcomm.events import (
    Deliver,
    DigestPromised,
    MessageReceived,
    Payload,
    PromiseWithdrawn,
    Purge,
    ViewInstalled,
)
from groupcomm.stack import Arrived, Called, Fired, Raised, Stack, State, Tagged
from groupcomm.stack import Event as StackEvent
from groupcomm.view import Address

from .claims import Message, StabilitySafety, TotalOrderBroadcast, Violation

__all__ = ["Event", "Group", "Layers", "Told"]

Event: TypeAlias = tuple[str | int | tuple[str, ...], ...]
"""A kind and its arguments: names of processes, numbers."""


MESSAGE_RECEIVED: Final = MessageReceived(1)


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


@frozen
class Told:
    """What happened at a process, for a chart: what came to its stack, and what came out of it."""

    process: Process
    event: StackEvent
    effects: tuple[object, ...]
    error: ProtocolError | None = None


class Group:
    """The processes, their stacks, what is between them, and the claims."""

    def __init__(
        self,
        stack: Stack,
        layers: Layers,
        *,
        judged: Iterable[str],
        remerge: bool = True,
        weak: bool = False,
        ignored: frozenset[str] = frozenset(),
    ) -> None:
        """`judged`: guarantees. `remerge`: the sides of a split may come together again. `ignored`: claims.

        `weak`: the layers below give less than they should, and stacks may refuse what comes of that.
        """
        self.stack = stack
        self.remerge = remerge
        self.weak = weak
        self.layers = layers
        self.membership = Membership()
        self.multicast = ReliableMulticast(per_view=layers.synchrony)
        self.synchrony = VirtualSynchrony(self.membership, self.multicast) if layers.synchrony else None
        self.digests = JoinDigest()
        self.unicast = ReliableUnicast()
        self.network = Network()
        self.states: dict[Process, State] = {}
        self.timers: dict[Process, dict[str, bool]] = {}  # whether it is set; if not, it was
        self.sent: dict[Process, int] = {}
        self.up: list[Process] = []  # those that have not crashed
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
            "data": self._data,
            "lose": self._lose,
            "skip": self._skip,
            "message": self._message,
            "drop": self._drop,
            "take": self._take,
            "again": self._again,
            "miss": self._miss,
            "gossip": self._gossip,
            "timer": self._timer,
            "start": self._start,
            "promise": self._promise,
            "withdraw": self._withdraw,
            "decide": self._decide,
            "install": self._install,
            "leave": self._leave,
            "crash": self._crash,
            "partition": self._partition,
            "heal": self._heal,
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

    # The application

    def _multicast(self, name: str) -> None:
        process = self._in_view(name)
        number = self.sent[process] = self.sent[process] + 1
        message: Message = process.name, number
        if self.order is not None and process.view is not None:
            self.order.sent(process, message, process.view)
        self._step(process, Called(Multicast(Payload(message))))

    def _unicast(self, name: str, to: str) -> None:
        process, other = self._in_view(name), self.process(to)
        self._step(process, Called(Send(other.address, Payload(None))))

    # Copies of multicasts

    def _data(self, name: str, sender: str, seqno: int) -> None:
        receiver, source = self._receivable(name, sender, seqno)
        unordered = self.layers.multicast == "unordered"
        arrive = self.multicast.arrive_out_of_order if unordered else self.multicast.arrive
        self._arrived(receiver, source, arrive(receiver, source, seqno))

    def _skip(self, name: str, sender: str, seqno: int) -> None:
        receiver, source = self._receivable(name, sender, seqno)
        if self.layers.multicast != "lossy" or receiver is source:
            raise NotAllowedError("the multicast layer leaves no message out")
        self._arrived(receiver, source, self.multicast.skip(receiver, source, seqno))

    def _receivable(self, name: str, sender: str, seqno: int) -> tuple[Process, Process]:
        receiver = self._in_view(name)
        source = self.membership.processes.get(sender)
        if source is None:
            raise NotAllowedError(f"there is no {sender}")
        if source not in self.multicast.windows[receiver]:
            raise NotAllowedError(f"{sender} is not in the view of {name}")
        if self.synchrony is not None:
            if not self.synchrony.may_receive(receiver, source, seqno):
                raise NotAllowedError("the view is settled without it")
            self.synchrony.drop_what_is_beyond(receiver, source)
            if self.synchrony.must_receive(receiver, source, seqno) and self.multicast.lacks(
                receiver, source, seqno
            ):
                return receiver, source
        holders = [p for p in self.holders(receiver) if p is not receiver]
        if not self.multicast.may_arrive(receiver, source, seqno, holders):
            raise NotAllowedError("no copy of it can arrive")
        return receiver, source

    def holders(self, receiver: Process) -> Iterable[Process]:
        """Who can be asked for a retransmission."""
        view = receiver.view
        known = view.processes if view is not None else ()
        return (p for p in known if p.up and self.connected(p, receiver))

    def _arrived(self, receiver: Process, source: Process, messages: list[object]) -> None:
        self._step(receiver, Raised(MESSAGE_RECEIVED))
        for message in messages:
            if isinstance(message, Tagged):
                self._step(receiver, Arrived(source.address, message))

    def _lose(self, name: str, sender: str, seqno: int) -> None:
        receiver, source = self.process(name), self.membership.processes.get(sender)
        if source is None or receiver is source or receiver.view is None:
            raise NotAllowedError("what a member multicasts comes back to it")
        number = receiver.view.number if self.layers.synchrony else -1
        self.multicast.lose((receiver, source, number, seqno))

    # Unicasts and datagrams

    def _message(self, name: str, to: str) -> None:
        sender, receiver = self._pair(name, to)
        self._got(sender, receiver, self.unicast.arrive(sender, receiver))

    def _drop(self, name: str, to: str) -> None:
        sender, receiver = self.membership.processes.get(name), self.process(to)
        if sender is None or sender.up:
            raise NotAllowedError("a unicast is lost only where its sender has crashed")
        self.unicast.lose(sender, receiver)

    def _take(self, name: str, to: str, place: int) -> None:
        sender, receiver = self._pair(name, to, "unordered")
        self._got(sender, receiver, self.unicast.arrive_out_of_order(sender, receiver, place))

    def _again(self, name: str, to: str) -> None:
        sender, receiver = self._pair(name, to, "duplicating")
        self.new_unicasts.append((sender, receiver))
        self._got(sender, receiver, self.unicast.again(sender, receiver))

    def _miss(self, name: str, to: str) -> None:
        sender, receiver = self._pair(name, to, "lossy")
        self.unicast.arrive(sender, receiver)

    def _pair(self, name: str, to: str, layer: str = "") -> tuple[Process, Process]:
        sender, receiver = self.membership.processes.get(name), self.process(to)
        if sender is None or (layer and self.layers.unicast != layer):
            raise NotAllowedError("the unicast layer does not do that")
        if sender.up and not self.connected(sender, receiver):
            raise NotAllowedError("a partition is between them")
        return sender, receiver

    def _got(self, sender: Process, receiver: Process, message: object) -> None:
        if isinstance(message, Tagged):
            self._step(receiver, Arrived(sender.address, message))

    def _gossip(self, name: str, number: int, to: str) -> None:
        sender, receiver = self.membership.processes.get(name), self.process(to)
        if sender is None or receiver.view is None:
            raise NotAllowedError("there is nobody")
        if sender.up and not self.connected(sender, receiver):
            raise NotAllowedError("a partition is between them")
        message = self.network.arrive(sender, number, receiver)
        if isinstance(message, Tagged):
            event = Arrived(sender.address, message)
            if self.stack.takes(event):
                event = Arrived(sender.address, message, (self.multicast.digest(receiver),))
            self._step(receiver, event)

    def _timer(self, name: str, timer: str) -> None:
        process = self.process(name)
        timers = self.timers[process]
        if timer not in timers:
            raise NotAllowedError(f"{process} has no timer {timer}")
        timers[timer] = False
        self._step(process, Fired(timer))

    # Membership

    def _start(self, address: Address) -> None:
        process = self.membership.start(address)
        self.up.append(process)
        self.states[process] = self.stack.start(address)
        self.timers[process] = {}
        self.sent[process] = 0

    def _promise(self, name: str, to: str) -> None:
        giver, joiner = self._in_view(name), self.process(to)
        if giver.view is not None and joiner.address in giver.view.at:
            raise NotAllowedError(f"a former life of {joiner} is in {giver.view}")
        if not self.connected(giver, joiner):
            raise NotAllowedError("a partition is between them")
        self.digests.promise(giver, joiner, self.multicast.delivered(giver))
        self._step(giver, Raised(DigestPromised(joiner.address)))

    def _withdraw(self, name: str, to: str) -> None:
        giver, joiner = self.process(name), self._known(to)
        self.digests.withdraw(giver, joiner, self.membership.views)
        self._step(giver, Raised(PromiseWithdrawn(joiner.address)))

    def _decide(self, name: str, counter: int, members: tuple[str, ...], follows: tuple[str, ...]) -> None:
        creator = self.process(name)
        processes = [self._known(member) for member in members]
        preds: dict[Decided, Process] = {}
        for member in follows:
            base = self.membership.last_of(self._known(member))
            if base is None:
                raise NotAllowedError(f"{member} is in no view")
            preds.setdefault(base, self._known(member))
        if not self.remerge and any(
            other in process.met and self.membership.last_of(other) is not self.membership.last_of(process)
            for process in processes
            for other in processes
            if process.view is not None and other.view is not None
        ):
            raise NotAllowedError("the two sides of a split stay apart")
        joiners = [p for p in processes if not any(p in pred.processes for pred in preds)]
        if preds and not self.layers.synchrony:
            if joiners and (
                len(preds) > 1 or not all(self.digests.stands(p, next(iter(preds))) for p in joiners)
            ):
                raise NotAllowedError("a joiner has no digest to start from")
            if len(preds) > 1 and not all(
                teller.up
                and teller.view is base
                and all(
                    (p in base.processes and self.membership.last_of(p) is base) or p.address not in base.at
                    for p in processes
                )
                for base, teller in preds.items()
            ):
                raise NotAllowedError("somebody of each side must tell the others what to start from")
        view = self.membership.decide(creator, counter, processes, preds)
        for joiner in joiners:
            if joiner in self.digests.open:
                self.digests.redeem(joiner, view)
        if len(preds) > 1 and not self.layers.synchrony:
            self._tell_the_other_side(view, preds)

    def _tell_the_other_side(self, view: Decided, preds: dict[Decided, Process]) -> None:
        """In a merge, a member of each side gives its digest to all of the others."""
        for base, teller in preds.items():
            digest = self.multicast.delivered(teller)
            for other in view.processes:
                if other not in base.processes:
                    self.digests.tell(teller, other, view, digest)
                    self._step(teller, Raised(DigestPromised(other.address)))

    def _known(self, name: str) -> Process:
        found = self.membership.processes.get(name)
        if found is None:
            raise NotAllowedError(f"there is no {name}")
        return found

    def _install(self, name: str) -> None:
        process = self.process(name)
        before, after = process.view, self.membership.next_of(process)
        if after is None:
            raise NotAllowedError(f"{process} has no view to install")
        if self.synchrony is not None:
            if not self.synchrony.may_install(process, after):
                raise NotAllowedError("what is settled has not been received, or somebody has received more")
            self.synchrony.install(process, after)
            start = self.synchrony.start(process, after)
        else:
            start = self.digests.start.get((process, after), {})
        self.membership.install(process)
        self.digests.installed(process, after)
        self.multicast.install(process, after, start)
        if self.order is not None:
            self.order.installed(process, before, after)
        if self.stability is not None:
            self.stability.installed(process, before, after)
        event = Raised(ViewInstalled(after.view))
        if Digest in self.stack.takes(event):
            event = Raised(event.event, (self.multicast.digest(process),))
        self._step(process, event)

    def _leave(self, name: str) -> None:
        process = self._in_view(name)
        if process.leaving:
            raise NotAllowedError(f"{process} leaves already")
        process.leaving = True

    def _crash(self, name: str) -> None:
        process = self.process(name)
        process.up = False
        self.up = [other for other in self.up if other is not process]
        self.timers[process] = {}
        self.unicast.crash(process)

    def _partition(self, names: tuple[str, ...]) -> None:
        self.side = frozenset(self.process(name) for name in names)

    def _heal(self) -> None:
        self.side = frozenset()

    def forget(self) -> None:
        """Nothing is on its way: forget what is over."""
        self.membership.forget()
        kept = set(self.up)
        views = {*self.membership.views}
        numbers = {view.number for view in views}
        self.multicast.forget(kept, numbers)
        if self.synchrony is not None:
            self.synchrony.forget(views)
        self.digests.forget(views)
        self.network.forget()
        for kind in (self.states, self.timers, self.sent):
            for process in [process for process in kind if process not in kept]:
                del kind[process]
        if self.order is not None:
            self.order.forget(kept)

    # One step of one process's stack

    def _in_view(self, name: str) -> Process:
        process = self.process(name)
        if process.view is None:
            raise NotAllowedError(f"{process} is in no view")
        return process

    def _step(self, process: Process, event: StackEvent) -> None:
        error: ProtocolError | None = None
        effects: tuple[object, ...] = ()
        try:
            self.states[process], effects = self.stack.step(None, self.states[process], event)
        except ProtocolError as refused:
            error = refused
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
            return
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
                    pass  # for an application that does not look

    def _delivered(self, process: Process, sender: Address, payload: object) -> None:
        if self.order is not None and isinstance(payload, tuple):
            self.order.delivered(process, sender, payload)

    def _at(self, process: Process, address: Address) -> Process | None:
        """Who is reached at an address: a member of the sender's view or, if gone, its latest life."""
        view = process.view
        there = view.at.get(address) if view is not None else None
        return there if there is not None and there.up else self.membership.current.get(address)
