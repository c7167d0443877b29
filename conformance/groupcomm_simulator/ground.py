"""The ground: processes that each run one stack, and all that is beneath and around it. One event at a time.

An event is a tuple of its kind and of names and numbers, so that a schedule can be written down, cut and
run again. `Ground.perform` refuses an event that is not possible now (False), and otherwise carries it to
its end. The kinds:

=====================================  ===============================================================
``start A``, ``crash P``               a new incarnation of address A; P crashes
``former P Q``                         Q tells P, which its UNICAST ignores, of a later incarnation: P begins again
``join P Q``, ``leave P``              P asks Q, which discovery found, to let it join (P: it founds a group)
``multicast P``, ``unicast P Q``       the application of P sends its next message (to Q)
``return P``                           the application of P returns from BLOCK
``read P``, ``fail P``                 it gives the part of its state that was asked for first, or fails to
``declare P``                          it declares its state
``transfer P``, ``transferred P``      the state transfer of P has the group stopped, and resumes it
``give_up P``, ``fetch P``             it resumes it before it is stopped, or asks for the own digest
``suspect P Q``                        the failure detector of P reports Q
``silent P Q``                         it reports to UNICAST that Q is silent, for which P keeps messages
``timer P NAME``                       a timer fires that P has set, or had set and cancelled
``discover P NAMES``                   the timer of discovery fires, and finds these
``message P Q``, ``drop P Q``          the first unicast from P reaches Q. The last is lost, as P crashed, or
                                       has a view without Q
``inherit P Q N``                      Q gets the last N unicasts from P to its address's former incarnation
``copy P N Q``, ``double P N Q``       datagram N of P reaches Q, and is gone, or stays
``lose P N Q``                         it is lost
``partition NAMES``, ``cut P Q``       NAMES and the others cannot reach one another. Q does not hear P
``heal``                               they can again
``take P Q I``, ``again P Q``,         weaker unicasts: one overtakes, arrives twice, or is lost
``miss P Q``
``quiesce``                            all faults end, all arrives: what must be in the end (`rest`)
``outlast KIND P Q``                   a fault between P and Q lasts (`lasting`)
=====================================  ===============================================================
"""

from collections import deque
from random import Random
from typing import TYPE_CHECKING, Final

from attrs import frozen

from groupcomm import flush, gms, state_transfer, unicast
from groupcomm.effects import ALL, CancelTimer, Datagram, Multicast, PassDown, PassUp, Send, SetTimer
from groupcomm.errors import ProtocolError
from groupcomm.events import Block, DigestGiven, GetDigest, GroupStopped, Left, Payload, Resume, Suspected, Suspend
from groupcomm.stack import Arrived, Called, Fired, Raised, State, Tagged
from groupcomm.stack import Event as StackEvent
from groupcomm.view import Address, address, name_and_life, number_after
from groupcomm_simulator.judges.claims import Violation
from groupcomm_simulator.judges.membership import NotAllowedError, Process

from .judged import Judged
from .oracle import Oracle
from .setup import Setup
from .taps import Note
from .world import LOSSY, Copy, Event

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Copy", "Event", "Ground", "Told"]

_STATE: Final = flush.FOR_STATE
_INHERITED: Final = 4  # messages of a sender that the next incarnation of an address may be given


@frozen
class Told:
    """A composite step of a process: the event of its stack, the layers' steps, and the stack's effects."""

    process: Process
    event: StackEvent
    notes: tuple[Note, ...]
    effects: tuple[object, ...]
    error: ProtocolError | None = None


class Ground(Judged):
    """A world in which events happen, and in which judges hear what the layers do."""

    def __init__(self, setup: Setup, random: Random) -> None:
        super().__init__(setup, random)
        self.oracle = Oracle(self)
        self.events = 0
        self.refused = 0
        self.listener: Callable[[Told], None] | None = None
        self._do: Final[Mapping[object, Callable[..., None]]] = {
            kind.removeprefix("_do_"): getattr(self, kind) for kind in dir(self) if kind.startswith("_do_")
        }

    def perform(self, event: Event) -> bool:
        """Carry an event to its end; False if it is not possible now. Raises Violation."""
        kind = event[0]
        try:
            self._do[kind](*event[1:])
        except NotAllowedError:
            return False
        self.happened[str(kind)] += 1
        self.events += 1
        return True

    # Applications

    def _do_multicast(self, name: str) -> None:
        process = self.in_view(name)
        if self.applications is not None and not self.applications.has_state(process):
            raise NotAllowedError(f"{process} lacks the state")
        self._sent[process] += 1
        message = self.last_sent(process)
        if process.view is not None:
            self.order.sent(process, message, process.view)
        self.step(process, Called(Multicast(Payload(message)), (1 + message[1] % 3,)))  # of one to three bytes

    def _do_unicast(self, name: str, to: str) -> None:
        process, other = self.in_view(name), self.process(to)
        self.step(process, Called(Send(other.address, Payload(None))))

    def _do_return(self, name: str) -> None:
        process = self.process(name)
        if process not in self.in_handler:
            raise NotAllowedError(f"the application of {process} is not in its handler")
        self.in_handler.remove(process)
        self.step(process, Called(PassDown(flush.BlockReturned())))

    def _do_read(self, name: str, *, fails: bool = False) -> None:
        process = self.process(name)
        if self.applications is None or not self.applications.of(process).reads:
            raise NotAllowedError(f"no part of the state of {process} is to be read")
        self.step(process, Called(PassDown(self.applications.of(process).part(fails=fails))))

    def _do_fail(self, name: str) -> None:
        self._do_read(name, fails=True)

    def _do_declare(self, name: str) -> None:
        process = self.in_view(name)
        if self.applications is None:
            raise NotAllowedError("no application has a state")
        mine = self.transfer_of(process)
        lacks = mine.settled and mine.provider == state_transfer.NOBODY
        if mine.declares or not (lacks or mine.vacant):
            raise NotAllowedError(f"{process} was not told that no member has the state")
        if any(map(self.applications.has_state, self.up)):
            raise NotAllowedError("a member has the state")
        self.step(process, Called(PassDown(state_transfer.DeclareRequested())))

    def _do_transfer(self, name: str) -> None:
        process = self.in_view(name)
        if process in self.transfers:
            raise NotAllowedError(f"the state of {process} is on its way")
        self.transfers[process] = "asked"
        self.step(process, Called(PassDown(Suspend(_STATE))))

    def _do_transferred(self, name: str) -> None:
        self._transfer_ends(name, "stopped")

    def _do_give_up(self, name: str) -> None:
        self._transfer_ends(name, "asked")

    def _transfer_ends(self, name: str, before: str) -> None:
        process = self.in_view(name)
        if self.transfers.get(process) != before:
            raise NotAllowedError(f"the state transfer of {process} is not there")
        del self.transfers[process]
        self.step(process, Called(PassDown(Resume(_STATE))))

    def _do_fetch(self, name: str) -> None:
        process = self.in_view(name)
        self._fetches += 1
        self.fetching.setdefault(process, set()).add(self._fetches)
        self.verdicts.judged["DigestRequestAnswered"] += 1
        self.step(process, Called(PassDown(GetDigest(_STATE, self._fetches))))

    def _do_join(self, name: str, to: str) -> None:
        joiner, found = self.process(name), self.process(to)
        state = self.gms_of(joiner)
        if state.in_view:
            raise NotAllowedError(f"{joiner} is in a view")
        if found is joiner and not self.oracle.may_found(joiner):
            raise NotAllowedError(f"{joiner} is not the first, or not new")
        if found is not joiner and found not in self.oracle.may_be_asked(joiner):
            raise NotAllowedError(f"{found} cannot be asked")
        if joiner.life > 0 and found is not joiner:
            self.asked.setdefault(joiner, set()).add(found.address)
        self.step(joiner, Called(PassDown(gms.JoinRequested(found.address, joiner.life))))
        # A joiner that asks on two branches of views may be let in on both.
        self.falsely |= self.merges and state.joining and len(self.oracle.coordinators()) > 1

    def _do_leave(self, name: str) -> None:
        process = self.in_view(name)
        if process.leaving:
            raise NotAllowedError(f"{process} leaves already")
        process.leaving = True
        self.step(process, Called(PassDown(gms.LeaveRequested())))

    # Processes, their clocks and failure detectors

    def _do_start(self, address: Address) -> None:
        if not self.oracle.may_begin(address):
            raise NotAllowedError(f"who waits has asked {address}, and did not mean its next incarnation")
        process = self.membership.start(address)
        self.happened["restarts"] += process.life > 0
        self.up.append(process)
        self.now[process] = list(self.stack.start(address).layers)
        self.timers[process] = {}
        self.new += [(sender, process) for sender, to in self.former if to == address and sender.up]
        if "ReliableUnicast" in self.carries:
            self.step(process, Raised(unicast.IncarnationBegins(process.life)))

    def _do_crash(self, name: str) -> None:
        self.depart(self.process(name))

    def depart(self, process: Process) -> None:
        """A process crashes, or having left stops: it takes no more steps."""
        if self.merges:  # some may have a view of its merge, and others give up
            self.falsely |= any(self.merging_of(other).merging for other in self.up)
        process.up = False
        self.up.remove(process)
        self.timers[process] = {}
        self.in_handler.discard(process)
        self.transfers.pop(process, None)
        self.asked.pop(process, None)
        self.fetching.pop(process, None)
        for (sender, receiver), queue in self.queues.items():
            for message in queue if receiver is process and sender.up else ():
                self._arrived(sender, receiver, message)
        self.queues = {pair: queue for pair, queue in self.queues.items() if pair[1] is not process and queue}
        if not self.network:
            self.copies = {copy: what for copy, what in self.copies.items() if copy[2] is not process}
        self.views.departed(process)
        self.synchrony.crashed(process.address)

    def _do_former(self, name: str, of: str) -> None:
        process, later = self.process(name), self.oracle.later_than(self.process(name), self.process(of))
        if not later:
            raise NotAllowedError(f"{of} knows no later incarnation of {process}")
        self.depart(process)
        self._begins_again(process, later)

    def _do_suspect(self, name: str, of: str) -> None:
        process, suspect = self.process(name), self.known(of)
        if suspect not in self.oracle.watched(process):
            raise NotAllowedError(f"{process} does not watch {suspect}")
        self.falsely |= suspect.up if self.merges else suspect not in self.oracle.to_report(process)
        self.step(process, Raised(Suspected(suspect.address)))

    def _do_silent(self, name: str, of: str) -> None:
        process, other = self.process(name), self.known(of)
        if other not in self.oracle.receivers(process):
            raise NotAllowedError(f"{process} keeps nothing for {other}")
        self.step(process, Raised(unicast.SilenceReported(other.address)))

    def _do_timer(self, name: str, timer: str) -> None:
        process = self.process(name)
        if timer not in self.timers[process]:
            raise NotAllowedError(f"{process} has no timer {timer}")
        if timer == self.oracle.discovery:
            found = [other for other in self.oracle.coordinators() if self.connected(process, other)]
            self._fires(process, timer, frozenset(other.address for other in found))
            return
        if timer.startswith(self.oracle.timers) and self.merging_of(process).merging:
            self.falsely |= not self.oracle.must_time_out(process)
        self._fires(process, timer)

    def _do_discover(self, name: str, found: tuple[str, ...]) -> None:
        process, others = self.process(name), [self.process(each) for each in found]
        if not self.timers[process].get(self.oracle.discovery):
            raise NotAllowedError(f"{process} does not look for others yet")
        if not all(self.connected(process, other) for other in others):
            raise NotAllowedError("a partition is between them")
        self._fires(process, self.oracle.discovery, frozenset(other.address for other in others))

    def _fires(self, process: Process, timer: str, *below: object) -> None:
        self.timers[process][timer] = False
        self.step(process, Fired(timer, below))

    # The network

    def _do_message(self, name: str, to: str) -> None:
        sender, receiver, queue = self._queue(name, to)
        self._arrived(sender, receiver, queue[0])
        self._arrives(sender, receiver, queue.popleft())

    def _do_inherit(self, name: str, to: str, number: int) -> None:
        sender, receiver = self.known(name), self.process(to)
        messages = [*self.inheritance(sender, receiver)][-number:]
        if not messages:
            raise NotAllowedError(
                f"no incarnation before {receiver} was sent anything, or it has received some of it already"
            )
        del self.former[sender, receiver.address]
        self.queues.setdefault((sender, receiver), deque()).extendleft(reversed(messages))
        self.new += [(sender, receiver)] * len(messages)

    def _arrived(self, sender: Process, receiver: Process, message: Tagged) -> None:
        """Remember what an incarnation has received: the next may be given it again, and the rest."""
        if self._carriages[message.layer].inherits:
            if self.former.get((sender, receiver.address), (None,))[0] is not receiver:
                self.former[sender, receiver.address] = receiver, deque(maxlen=_INHERITED)
            self.former[sender, receiver.address][1].append(message)

    def _do_take(self, name: str, to: str, place: int) -> None:
        sender, receiver, queue = self._queue(name, to, "overtakes")
        queue.rotate(-(place % len(queue)))
        message = queue.popleft()
        queue.rotate(place % (len(queue) + 1))
        self._arrives(sender, receiver, message)

    def _do_again(self, name: str, to: str) -> None:
        sender, receiver, queue = self._queue(name, to, "doubles")
        self.new.append((sender, receiver))
        self._arrives(sender, receiver, queue[0])

    def _do_miss(self, name: str, to: str) -> None:
        self._queue(name, to, "loses")[2].popleft()

    def _do_drop(self, name: str, to: str) -> None:
        sender, receiver, queue = self._queue(name, to)
        if not (self._carriages[queue[-1].layer].closes and self.may_close(sender, receiver)):
            self._only_if_crashed(sender)
        queue.pop()

    def _queue(self, name: str, to: str, weakness: str = "") -> tuple[Process, Process, deque[Tagged]]:
        sender, receiver = self.known(name), self.process(to)
        queue = self.queues.get((sender, receiver))
        if not queue or (weakness and not getattr(self._carriages[queue[0].layer], weakness)):
            raise NotAllowedError(f"nothing is on its way so from {sender} to {receiver}")
        if sender.up and not self.reaches(sender, receiver):
            raise NotAllowedError("a partition is between them")
        return sender, receiver, queue

    def _only_if_crashed(self, sender: Process) -> None:
        if sender.up or sender in self.departed:
            raise NotAllowedError("what is kept is lost only where its sender has crashed")

    def _do_copy(self, name: str, number: int, to: str) -> None:
        copy, hearer = self._copy(name, number, to)
        self._arrives(copy[0], hearer, self.copies.pop(copy))

    def _do_double(self, name: str, number: int, to: str) -> None:
        copy, hearer = self._copy(name, number, to)
        self.new.append(copy)
        self._arrives(copy[0], hearer, self.copies[copy])

    def _do_lose(self, name: str, number: int, to: str) -> None:
        copy = self.known(name), number, self.known(to)
        if copy not in self.copies or copy[0] is copy[2]:
            raise NotAllowedError("no such copy is on its way that can be lost")
        if self.kept(copy):
            self._only_if_crashed(copy[0])
        del self.copies[copy]

    def _copy(self, name: str, number: int, to: str) -> tuple[Copy, Process]:
        copy = self.known(name), number, self.known(to)
        hearer = self.hearer(copy)
        if copy not in self.copies or hearer is None or (copy[0].up and not self.reaches(copy[0], hearer)):
            raise NotAllowedError(
                "no such copy is on its way, no process has the address, or a partition is between them"
            )
        return copy, hearer

    def _do_partition(self, names: tuple[str, ...]) -> None:
        self.side = frozenset(self.process(name) for name in names)

    def _do_cut(self, name: str, to: str) -> None:
        self.cuts.add((self.process(name), self.process(to)))

    def _do_heal(self) -> None:
        self.side = frozenset()
        self.cuts.clear()

    def _arrives(self, sender: Process, receiver: Process, message: Tagged) -> None:
        self.step(receiver, Arrived(sender.address, message))

    # One composite step

    def step(self, process: Process, event: StackEvent) -> None:
        """Have a stack take an event, the judges hear what happened in it, and carry its effects.

        Raises Violation.
        """
        self.notes.clear()
        error: ProtocolError | None = None
        effects: tuple[object, ...] = ()
        before = State(process.address, tuple(self.now[process]))
        try:
            _, effects = self.stack.step(None, before, event)
        except ProtocolError as refused:
            error = refused
            self.notes.clear()
        except Exception as crash:
            text = f"the stack of {process} fails: {type(crash).__name__}: {crash}"
            raise Violation("NoCrash", text) from crash
        if self.listener is not None:
            self.listener(Told(process, event, tuple(self.notes), effects, error))
        if error is not None:
            self.refused += 1
            if not self._weak:
                raise Violation("NoRefusals", f"{process} refuses what correct peers do: {error.reason}: {event}")
        now, judges = self.now[process], self._judges
        for note in self.notes:
            now[note.place] = note.after
            if self.applications is not None:
                self.applications.hear(process, note)
            judge = judges.get(note.place)
            if judge is not None and (note.effects or note.before is not note.after):
                judge(process, note)
        if self.seen is not None:
            self.seen.hear(process, event, effects)
        for effect in effects:
            self._carry(process, effect)
        if isinstance(event, Arrived) and process in self.departed and not process.leaving:  # it was refused
            self._begins_again(process, self.oracle.later_than(process, self.membership.current[event.sender]))

    def _begins_again(self, process: Process, later: Address) -> None:
        """Begin again with a number that is high enough, as the runtime does, if others know a later incarnation."""
        if later:
            self.happened["begins again"] += 1
            name, number = name_and_life(process.address)
            self._do_start(address(name, number_after(number, name_and_life(later)[1])))

    def _carry(self, process: Process, effect: object) -> None:
        match effect:
            case Datagram(to, message):
                self._sends(process, to, message)
            case SetTimer(timer):
                self.timers[process][timer] = True
            case CancelTimer(timer):
                self.timers[process][timer] = False
            case PassUp(Block()):
                self.in_handler.add(process)
            case PassUp(GroupStopped(asker)) | PassDown(GroupStopped(asker)) if asker == _STATE:
                self.verdicts.judged["StopIsAnswered"] += 1
                if process in self.transfers:
                    self.transfers[process] = "stopped"
            case PassUp(DigestGiven(asker, request)) if asker == _STATE:
                self.fetching.get(process, set()).discard(request)
            case PassUp(Left()):
                self.departed.add(process)
                self.depart(process)
            case Send() | Multicast():
                raise Violation("NoCrash", f"{effect} leaves the stack of {process}")
            case _:
                pass  # for an application that does not look, or the layers beneath

    def _sends(self, process: Process, to: Address, message: Tagged) -> None:
        carriage = self._carriages.get(message.layer, LOSSY)
        receivers = self.up if to == ALL else [self._at(process, to)]
        self._numbers[process] += 1
        for receiver in receivers:
            if receiver is None or not (receiver.up or self.network):
                if receiver is not None:
                    self._sent_to_the_dead(process, receiver, message)
                continue
            if carriage.ordered:
                self.queues.setdefault((process, receiver), deque()).append(message)
                self.new.append((process, receiver))
            else:
                copy = process, self._numbers[process], receiver
                self.copies[copy] = message
                self.new.append(copy)

    def _sent_to_the_dead(self, sender: Process, receiver: Process, message: Tagged) -> None:
        if self._carriages.get(message.layer, LOSSY).inherits:
            self._arrived(sender, receiver, message)

    def _at(self, process: Process, address: Address) -> Process | None:
        """Return the process of an address: a member of the sender's view, or the latest incarnation."""
        there = process.view.at.get(address) if process.view is not None else None
        return there if there is not None and there.up else self.membership.current.get(address)

    def forget(self) -> None:
        """Nothing is on its way: forget what is over."""
        self.membership.forget()
        kept, views = set(self.up), {*self.membership.views}
        self.departed.clear()
        self.views.forget(views)
        self.order.forget(kept)
        if self.applications is not None:
            self.applications.forget(kept)
        if self.uniform is not None:
            self.uniform.forget()
        self.unicasts.forget(self.membership.current)
        self.multicasts.forget(views)
        self.synchrony.forget()
        if self.seen is not None:
            self.seen.forget(kept)
        self.new.clear()
        self.former.clear()
        self.copies = {copy: what for copy, what in self.copies.items() if self.kept(copy)}
        for kind in (self.now, self.timers, self._purges):
            for process in [process for process in kind if process not in kept]:
                del kind[process]
        for timers in self.timers.values():
            for timer in [each for each, is_set in timers.items() if not is_set]:
                del timers[timer]
        self.falsely = any(self.gms_of(process).suspected for process in kept)
