"""One incarnation of a member: a stack, its timers, its transport. One step at a time.

All events wait in one queue. In a turn of the loop the stack takes the waiting events, a step for each, and
does the effects of a step in their order before the next. Then the lines of the log go to the kernel. The
messages of these steps to a peer go out together, in as few datagrams as hold them.
"""

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Protocol, cast

from attrs import define, evolve, field

from groupcomm import (
    file_ping,
    flush,
    gms,
    heartbeat,
    merge_gms,
    nakack,
    safe,
    sequencer,
    stable,
    state_transfer,
    unicast,
)
from groupcomm.effects import ALL, CancelTimer, Datagram, Multicast, PassDown, PassUp, Send, SetTimer
from groupcomm.errors import LocalProtocolError, ProtocolError
from groupcomm.events import Block, Deliver, DeliverUnicast, Left, Payload, SilenceReported, Suspected, ViewInstalled
from groupcomm.primary import on_disk
from groupcomm.stack import Arrived, Called, Effect, Event, Fired, Raised, Tagged
from groupcomm.view import Address, View, ViewId, is_former, later_than, name_and_life

from .clocks import Clocks, awake_or_not
from .codec import Codec, RefusedError, around, pack
from .discovery import EVERYWHERE, Discovery, Place, Reading, is_place, places_of
from .doubts import Doubts
from .flow import Flow
from .frames import (
    EVERYBODY,
    NAME,
    PLACE,
    PULSE,
    Fragments,
    Frame,
    Once,
    OtherVersionError,
    Refusal,
    Seal,
    StrangerError,
)
from .large import LARGEST_ITEM, Large
from .layers import (
    BEAT,
    DISCOVER,
    HIGHEST,
    LAYERS,
    LOOK,
    RECURRING,
    VOTE,
    configs,
    multicast,
    payload_in,
    stack_of,
    written,
    written_event,
)
from .logs import Log
from .pulses import Pulses
from .records import Record
from .settings import Settings
from .transports import Transport

_CODEC: Final = Codec(LAYERS)
_STEPS_AT_ONCE: Final = 200  # then it is the turn of others
_HEARTBEAT, _CLOCK, _MESSAGE, _FRAGMENT, _PLACES, _LATER = b"h", b"c", b"m", b"f", b"p", b"l"
_LARGE, _CAME = b"g", b"a"
_CROWD: Final = 10  # members; of more each tells less often what it has
_AFTER: Final = 20  # that part of a heartbeat the others beat after the coordinator
_LOOKS: Final = 0.02  # seconds, for fragments of large items that are lost
_BEATS: Final = "heartbeat"
"""The layer whose steps wait for no others, and whose messages are taken by a member that takes no others."""
_REFUSALS: Final = 20  # from one heartbeat to the next: a flood of garbage is not answered
_REMEMBERED: Final = 64  # datagrams to others than members of the own view
_TIMES: Final = 3  # as many bytes go to an incarnation that greets, until it has answered
_GREETING: Final = bytes(200)  # so that an answer has room in them
MOST_HEARD: Final = 4_096
"""Incarnations whose numbers are remembered; beyond, half of the silent are forgotten."""
_GATHERS: Final = 0.04  # seconds that a JOIN_REQ waits for others; UNICAST would send it again after 0.05
_HEARS: Final = 3  # heartbeats, in which all at the places of a list are heard, and all write their records
_COUNTED: Final = {(name, what): f"{name} {what}" for name in LAYERS for what in ("sent", "received", "timers")}
_TRANSFERS: Final = (
    state_transfer.MarkState,
    state_transfer.ReadPart,
    state_transfer.FreeState,
    state_transfer.PutPart,
    state_transfer.StateSet,
    state_transfer.StateKept,
    state_transfer.OwnIsInState,
    state_transfer.StateDropped,
    state_transfer.NoState,
    state_transfer.StateDeclared,
    state_transfer.Full,
)
"""What STATE_TRANSFER asks of an application, or tells it."""
_FOLLOW_THE_NETWORK: Final = ("unicast/", "nakack/request")
"""Timers of what is sent again: they never fire before an answer can be there."""


class Application(Protocol):
    """The calls by which a member notifies the application."""

    @property
    def full(self) -> bool:
        """True if the application can take no more for now."""

    def delivers(self, sender: Address, data: bytes) -> None:
        """A message, in its place in the order."""

    def hears(self, sender: Address, data: bytes) -> None:
        """A message to this member alone."""

    def decided(self, number: int, *, is_safe: bool) -> None:
        """The own multicasts up to a number, from 1, are safe, or nobody knows. Those before were decided before."""

    def installs(self, view: ViewInstalled) -> None:
        """A view."""

    def formed(self, view: ViewId) -> None:
        """Messages are ordered in this view, which may be the next to be installed. Only with `majority`."""

    def minority(self, why: str) -> None:
        """The view is not formed, and for whom it waits."""

    def transfers(self, event: object) -> None:
        """What STATE_TRANSFER asks of the application, or tells it: one of its effects."""

    def waits(self) -> None:
        """No group is found, and this incarnation may not found one."""

    def suspects(self, member: Address, why: str) -> None:
        """The failure detector suspects a member."""

    def ended(self, error: BaseException | None) -> None:
        """This incarnation is over: it has left or was refused; or because of an error."""

    def changed(self) -> None:
        """It may be that more can be sent than before, or less."""

    def blocked(self, *, on: bool) -> None:
        """Multicasts wait from now on, or do not any more."""

    def refused(self, place: Place, version: int, *, certain: bool) -> None:
        """At a place is a member that does not open datagrams of this incarnation. `certain`: by its key."""


class Member:
    """An incarnation with the address `me`, on a transport. `log`: the file of its steps, if any.

    `state`: its application has a state. `founds`: it may found a group. `record`: with majority, that of its name.
    `forms`: it may form a first view there, if no other process has.
    """

    forms_none: str | None = None
    """Why it forms no first view."""
    life = 0
    """The number of a later incarnation of its name, if others know one."""
    has_state: bool
    """It has the state of the group, as STATE_TRANSFER has said, or its application has none at all."""
    _known: object = None
    _gms: gms.State
    _watching: object = None
    _whom: frozenset[Address]
    _said: str | None = None
    """What the application knows of whom this member waits for."""

    def __init__(
        self,
        me: Address,
        application: Application,
        *,
        transport: Transport,
        seal: Seal,
        discovery: Discovery,
        settings: Settings,
        log: Log | None,
        state: bool = False,
        founds: bool = True,
        record: Record | None = None,
        forms: bool = True,
    ) -> None:
        self.me: Final = me
        self.counts: Counter[str] = Counter()
        self._application, self._transport, self._seal = application, transport, seal
        self._discovery, self._settings, self._log = discovery, settings, log
        self._loop = asyncio.get_running_loop()
        self._configs = configs(settings, state=state)
        self._record, self._may_form, self._may_found, self.has_state = record, forms, founds, not state
        self._stack = stack_of(self._configs)
        self._state = self._stack.start(me)
        self._queue: deque[tuple[str, Event, bytes]] = deque()
        self._beats: deque[tuple[str, Event, bytes]] = deque()
        self._later: list[Called] = []
        """Own multicasts that wait until this member has the state."""
        self._own = _Own()
        self._timers, self._at_beat = dict[str, asyncio.Handle](), dict[str, float]()
        """Those in `_at_beat` fire at the first beat after a time."""
        self._places: dict[Address, Place] = {}
        self._once: dict[Address, Once] = {}
        self._owed: dict[Address, int] = {}
        """The bytes that may still go to an incarnation that has greeted and has not answered yet."""
        self._listed: set[Place] = {*discovery.greets}
        """The places that the own list or folder names."""
        self._joins: dict[tuple[Address, bytes], tuple[str, Arrived, bytes]] = {}
        """The JOIN_REQs that are not taken yet, by sender and bytes. UNICAST needs each of a process, in order."""
        self._sent: deque[tuple[bytes, Place]] = deque(maxlen=_REMEMBERED)
        self._doubts, self._refuses, self._founding = Doubts(), 0, False
        self.refused: tuple[Place, Refusal] | None = None
        """Why this incarnation founds no group."""
        self._flow = Flow(settings.unstable, settings.unstable_bytes)
        self._number = 0
        self._outbox: dict[Address, list[bytes]] = {}
        self._fragments: dict[Address, Fragments] = {}
        self._cutter = Fragments(settings.frame)
        self._large = Large(self._cutter.room)
        self._clocks, self._pulses = Clocks(settings.patience), Pulses()
        self._scheduled = self._over = False
        self._ticked = awake_or_not()
        self._installed = time.monotonic()
        self._hears_until = self._forgets_at = 0.0
        self._full_since: float | None = None
        self._take("begins", Raised(unicast.IncarnationBegins(0)))
        if record is not None and record.joined:
            self._take("restored", Raised(sequencer.Restored(record.attempts)))
        self._take("application", Called(PassDown(file_ping.ConnectRequested())))
        self._timers[BEAT] = self._loop.call_soon(self._fires, BEAT)
        try:
            transport.begin(self._arrived, self.counts)
        except BaseException:
            self.close("failed")
            raise

    # Queries of others

    @property
    def gms(self) -> gms.State:
        """The state of its membership service."""
        if self._known is not self._state:  # it is asked for some six times a datagram
            self._known, self._gms = self._state, self._merging.gms
        return self._gms

    @property
    def joined(self) -> bool:
        """True if it is in a view."""
        mine = self.gms
        return mine.in_view and not mine.gone

    @property
    def may_send(self) -> bool:
        """True if an application's multicast is taken now."""
        return self.joined and self.has_state and not self._hears_until and self._flow.may_send(self._multicasts)

    def waits_for_room(self) -> None:
        """A multicast of the application waits, unless one does: it begins in its turn."""
        self._flow.waits(self._multicasts)

    def begins(self) -> bool:
        """A multicast of the application begins. True if one had to wait."""
        return self._flow.begins()

    @property
    def may_declare(self) -> bool:
        """True if no member of its view gives it the state, and it does not ask one now."""
        mine = self._transfer
        if mine is None or not self.joined or mine.declares:
            return False
        lacks = mine.settled and not mine.has and mine.provider == state_transfer.NOBODY and mine.timer
        return mine.vacant or lacks

    @property
    def tables(self) -> dict[str, int]:
        """How much waits in the tables of the layers, by the goal that it waits for."""
        ordered = self._stack.of(sequencer, self._state)
        stopped = self._stack.of(flush, self._state)
        windows = self._multicasts.windows
        return {
            "to order": len(ordered.forward_table) + len(ordered.early),
            "to multicast": len(stopped.waiting),
            "flushes": int(not stopped.is_free),
            "to fetch": sum(len(window.pending) for window in windows.values()),
            "unstable": sum(len(window.kept) for window in windows.values()),
            "unacknowledged": sum(len(side.kept) for side in self._unicasts.sends.values()),
            "for the state": len(self._later) + (0 if self._transfer is None else len(self._transfer.held)),
            "states to give": 0 if self._transfer is None else len(self._transfer.giving),
            "events": len(self._queue) + len(self._beats),
        }

    @property
    def known(self) -> dict[str, int]:
        """How much is remembered of other incarnations; all are bounded, whoever comes and goes."""
        return {
            "places": len(self._places),
            "unanswered": len(self._owed),
            "numbers": len(self._once),
            "fragments": len(self._fragments) + self._large.held,
            "clocks": self._clocks.count,
            "pulses": self._pulses.count,
        }

    @property
    def _transfer(self) -> state_transfer.State | None:
        has = "state_transfer" in self._configs
        return self._stack.of(state_transfer, self._state) if has else None

    @property
    def waits_for(self) -> str | None:
        """Whom this member waits for, while its view is not formed: None with a majority, and without the option."""
        mine = self._ordering
        if not self._settings.majority or not mine.joined or mine.formed:
            return None
        if not mine.attempts:
            return f"waits for the primary, {self.forms_none or 'of which no member here knows'}"
        here = {name_and_life(each)[0] for each in mine.view.members}
        for view in mine.attempts:
            missing = [each for each in view.members if name_and_life(each)[0] not in here]
            count, of = len(view.members) - len(missing), len(view.members)
            if 2 * count < of or (2 * count == of and view.coordinator in missing):
                named = f"view {view.id.counter}/{view.id.creator}"
                return f"waits for the primary: {count} of {of} of {named} are here, and not {', '.join(missing)}"
        return "waits for the primary: enough members are here, and not all have reported"

    @property
    def _ordering(self) -> sequencer.State:
        return self._stack.of(sequencer, self._state)

    @property
    def _multicasts(self) -> nakack.State:
        return self._stack.of(nakack, self._state)

    @property
    def _merging(self) -> merge_gms.State:
        return self._stack.of(merge_gms, self._state)

    @property
    def _watched(self) -> frozenset[Address]:
        if self._watching is not self.gms:  # it is asked for twice a heartbeat
            self._watching, self._whom = self.gms, self.gms.watched
        return self._whom

    @property
    def _beating(self) -> heartbeat.State:
        return self._stack.of(heartbeat, self._state)

    @property
    def _unicasts(self) -> unicast.State:
        return self._stack.of(unicast, self._state)

    def namesakes(self) -> list[tuple[Address, Place | None]]:
        """The other incarnations of its name that are heard now, and where."""
        name = name_and_life(self.me)[0]
        alive = (each for each in self._alive() if name_and_life(each)[0] == name)
        return [(each, self._places.get(each)) for each in alive]

    def multicast(self, data: bytes) -> None:
        """The application multicasts."""
        self._take("application", multicast(data))

    def unicast(self, to: Address, data: bytes) -> None:
        """The application sends to one member."""
        self._own.unicasts[to] += 1
        self._take("application", Called(Send(to, Payload(data))))

    def may_unicast(self, to: Address, data: bytes, window: int) -> bool:
        """True if fewer messages to a member than a window are on their way, those of the layers included.

        A large message waits for a large one before it.
        """
        side = self._unicasts.sends.get(to)
        kept = () if side is None else side.kept
        if len(data) > PLACE and (self._own.unicasts[to] or any(len(payload_in(each)) > PLACE for _, each in kept)):
            return False
        return self._own.unicasts[to] + len(kept) < window

    def answers(self, event: state_transfer.PartRead | state_transfer.PartFailed) -> None:
        """The application has read a part of its state, or gives none."""
        self._take("application", Called(PassDown(event)))

    def declares(self) -> None:
        """The application declares its state, where no member gives one."""
        self._take("application", Called(PassDown(state_transfer.DeclareRequested())))

    def leave(self) -> None:
        """The application leaves; `ended` says when it has."""
        self._take("application", Called(PassDown(gms.LeaveRequested())))

    def close(self, how: str) -> None:
        """Stop: no step is taken any more, and nothing is sent."""
        if self._over:
            return
        if how != "failed":
            with suppress(OSError):
                self._step("application", Called(PassDown(file_ping.DisconnectRequested())), b"")
        self._over = True
        self._transport.end()
        for timer in self._timers.values():
            timer.cancel()
        self._at_beat.clear()
        self._queue.clear()
        self._beats.clear()
        if self._log is not None:
            with suppress(OSError):  # if this is the reason, the application was notified already
                self._log.end(how, self._state)

    # Steps

    def _take(self, cause: str, event: Event, data: bytes = b"") -> None:
        """Put an event last, for this loop turn. `data`: the bytes of a message that arrived."""
        self._queue.append((cause, event, data))
        self._schedule()

    def _beats_first(self, cause: str, event: Event, data: bytes = b"") -> None:
        """Put an event of HEARTBEAT before all that waits, which may come from members that exclude it."""
        self._beats.append((cause, event, data))
        self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled and not self._over:
            self._scheduled = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Take all that waits; then write the log, then send. What its steps send needs no other turn."""
        if self._over:
            return
        with self._ends_with_errors():
            hears = self._notices_pause()
            for _ in range(_STEPS_AT_ONCE):
                waiting = self._beats or (() if hears else self._queue)
                if not waiting or self._over:
                    break
                self._step(*waiting.popleft())
            if self._log is not None:
                self._log.flush()
            self._send_out()
            self._scheduled = False
            if self._beats or (self._queue and not hears):
                self._schedule()
            self._application.changed()

    def _remembers(self, attempts: tuple[View, ...]) -> None:
        """Have the record on the disk, where it has changed."""
        known = self._record
        if known is None or (attempts == known.attempts and (known.joined or not self.joined)):
            return
        self._record = evolve(known, joined=known.joined or self.joined, attempts=attempts)
        self._discovery.remember(self._record)
        self.counts["records"] += 1

    @contextmanager
    def _ends_with_errors(self) -> Iterator[None]:
        """Any error ends this incarnation, and is reported."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - as it says
            self.close("failed")
            self._application.ended(error)

    def _step(self, cause: str, event: Event, data: bytes) -> None:
        if isinstance(event, Called):
            if isinstance(event.request, Multicast) and not self.has_state:
                self._later.append(event)  # STATE_TRANSFER takes none from a member that lacks the state
                return
            if isinstance(event.request, Send):
                self._own.takes(event.request.to)
        if isinstance(event, Fired) and event.timer == DISCOVER:
            event = Fired(event.timer, (frozenset(self._coordinators()),))
        if isinstance(event, Fired) and event.timer == BEAT:
            self._takes_pulses()
            around = self._around()
            self._pulses_or_not(around)
            if not heartbeat.all_well(self._configs[_BEATS], self._beating):
                self._says_whom_it_suspects(around)
            elif self._log is None:
                self._beats_alone(around)
                return
            event = Fired(event.timer, (around,))
        outcome, effects = "handled", cast("tuple[Effect, ...]", ())
        try:
            after, effects = self._stack.step(None, self._state, event)
        except ProtocolError as error:
            outcome = "local_error" if isinstance(error, LocalProtocolError) else "remote_error"
            self.counts[outcome] += 1
        else:
            outcome = "ignored" if after is self._state and not effects else "handled"
            self._state = after
            attempts = on_disk(self._ordering)
            left = _left_by(self.me, effects) if attempts and PassUp(Left()) in effects else ()
            self._remembers((*attempts, *left))  # before any effect: others rely on it
            if isinstance(event, Called) and isinstance(event.request, Multicast) and "safe" in self._configs:
                self._own.undecided.append(self._stack.of(safe, after).sent)
        self.counts["steps"] += 1
        if self._log is None:
            for effect in effects:
                self._do(effect, b"")
            return
        on_paper = [written(effect, _CODEC) for effect in effects]
        on_log = written_event(event, data)
        self._log.step(cause, on_log, outcome, on_paper, self._state, payload=payload_in(event))
        for effect, paper in zip(effects, on_paper, strict=True):
            self._do(effect, paper[2] if isinstance(effect, Datagram) else b"")

    def _do(self, effect: Effect, data: bytes) -> None:
        """Do an effect. `data`: the bytes of a datagram's message, if it is encoded already."""
        match effect:
            case Datagram(to, message) if message.layer == _BEATS:
                self._says_heartbeat(to, cast("heartbeat.Heartbeat", message.message), data)
            case Datagram(to, message):
                self._says(to, Arrived(self.me, message), data)
            case SetTimer(name, low, high):
                self._sets(name, low, high)
            case CancelTimer(name):
                self._cancel(name)
            case PassUp(Deliver(sender, payload)):
                self.counts["delivered"] += 1
                self._application.delivers(sender, cast("bytes", payload))
            case PassUp(DeliverUnicast(sender, payload)):
                self.counts["unicasts"] += 1
                self._application.hears(sender, cast("bytes", payload))
            case PassUp(safe.SafeUpTo() | safe.UnknownUpTo() as told):
                self._decides(told)
            case PassUp(told) if isinstance(told, _TRANSFERS):
                self._transfers(told)
            case PassUp(ViewInstalled() as view):
                self._installed = time.monotonic()
                self._application.installs(view)
            case PassUp(sequencer.ViewFormed(view_id, _)):
                self._application.formed(view_id)
            case PassUp(flush.Unblock()):
                self._application.blocked(on=False)
            case PassUp(Block()):
                self._application.blocked(on=True)
                self._take("application", Called(PassDown(flush.BlockReturned())))
            case PassUp(file_ping.Found(coordinator)):
                # UNICAST sends for ever to a dead member that was in no view; FILE_PING looks again soon
                if coordinator == self.me:
                    self._founding = True
                    self._founds()
                elif coordinator in self._alive():
                    self._take("discovery", Called(PassDown(gms.JoinRequested(coordinator, 0))))
            case PassDown(file_ping.WriteRecord() | file_ping.ReadRecords() | file_ping.RemoveRecords() as asked):
                self._asks_folder(asked)
            case PassUp(Left()):
                if self._log is not None:
                    self._log.flush()
                self._record = None  # it is written
                self._send_out()
                self.close("left")
                self._application.ended(None)
            case _:
                pass  # for observers; a runtime is none

    def _decides(self, told: safe.SafeUpTo | safe.UnknownUpTo) -> None:
        self.counts[type(told).__name__] += 1
        self._application.decided(self._own.up_to(told.number), is_safe=isinstance(told, safe.SafeUpTo))

    def _transfers(self, told: object) -> None:
        """STATE_TRANSFER tells or asks; with the state the multicasts that waited for it go out."""
        self.counts[type(told).__name__] += 1
        if isinstance(told, state_transfer.StateSet | state_transfer.StateKept | state_transfer.StateDeclared):
            self.has_state = True
            self._queue.extendleft(("application", each, b"") for each in self._later[::-1])
            self._later.clear()
        elif isinstance(told, state_transfer.StateDropped | state_transfer.NoState):
            self.has_state = False
        self._application.transfers(told)

    def _count(self, message: object, what: str) -> None:
        """Count a message for its layer, and for the layers whose messages it carries."""
        for each in _carried(message):
            self.counts[_COUNTED[each.layer, what]] += 1

    def _says(self, to: Address, arrived: Arrived, data: bytes) -> None:
        self._count(arrived.message, "sent")
        members = self.gms.decision.members
        receivers = (*members, *(() if self.me in members else (self.me,))) if to == ALL else (to,)
        item = b""
        payload = payload_in(arrived) if self._large.busy else b""
        for receiver in receivers:
            if receiver == self.me:
                self._take("self", arrived, data)
            elif payload and self._large.is_on_its_way(receiver, payload):
                self.counts["on its way"] += 1
            else:
                data = data or _CODEC.encode(arrived.message)
                if len(data) > self._large.least:
                    payload = payload_in(arrived)
                    item = item or around(data, payload)
                    self._puts_large(receiver, payload, item)
                else:
                    item = item or _MESSAGE + data
                    self._put(receiver, item)

    def _says_heartbeat(self, to: Address, said: heartbeat.Heartbeat, data: bytes) -> None:
        self.counts["heartbeat sent"] += 1
        if to in self._owed or not self._pulses.says(to, said):
            self._put(to, _HEARTBEAT + self._pulses.name + (data or _CODEC.encode(Tagged(_BEATS, said))))
            self._says_where(to)

    def _sets(self, name: str, low: int, high: int) -> None:
        self._cancel(name)
        self._starts(name, random.uniform(low, high) / 1_000)  # noqa: S311 - no secret

    def _starts(self, name: str, delay: float) -> None:
        """Start a timer. A beat has those fire that fire again and again, up to half a heartbeat sooner or later."""
        delay, interval = self._fitted(name, delay), self._settings.heartbeat
        if name == BEAT:
            delay = self._to_beat(delay)
        elif name in RECURRING and (delay >= interval or self._rests(name)):
            self._at_beat[name] = time.monotonic() + delay - interval / 2
            return
        self._timers[name] = self._loop.call_later(delay, self._fires, name)

    def _fitted(self, name: str, delay: float) -> float:
        """The delay of a timer: none of a message that is sent again is shorter than the round trip.

        Of a message that each member sends to all, ten members' rate is enough: who lacks something hears it of one.
        """
        if name.startswith(_FOLLOW_THE_NETWORK):
            return max(delay, self._clocks.round_trip.patience)
        if name in (HIGHEST, VOTE) and (crowd := len(self.gms.decision.members) / _CROWD) > 1:
            delay *= crowd * random.uniform(0.5, 1.5)  # noqa: S311 - no secret
        return delay

    def _cancel(self, name: str) -> None:
        self._at_beat.pop(name, None)
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def _fires(self, name: str) -> None:
        del self._timers[name]
        if name != BEAT:
            self._fires_or_rests(name)
            return
        self._scheduled = True
        with self._ends_with_errors():
            self._beats_time()
            self._fires_or_rests(name)
        self._turn()  # at once: a quiet member does nothing else
        if not self._over:
            self._transport.read()  # most others have sent theirs meanwhile

    def _fires_or_rests(self, name: str) -> None:
        if rests := self._rests(name):
            self._starts(name, rests / 1_000)
            return
        self.counts[_COUNTED[name.partition("/")[0], "timers"]] += 1
        if name == BEAT:
            self._beats.append(("timer", Fired(name), b""))
        else:
            self._take("timer", Fired(name))

    def _rests(self, name: str) -> int:
        """For how many ms a timer is set again without a step, which would be of no use; 0 if it fires."""
        if name == BEAT and self._stands_still():  # so the others exclude it
            return round(self._settings.heartbeat * 1_000)
        if name == HIGHEST and not any(window.kept for window in self._multicasts.windows.values()):
            return cast("nakack.Config", self._configs["nakack"]).highest_interval
        if name == VOTE and not self._votes():
            return cast("stable.Config", self._configs["stable"]).stable_interval
        if name in (LOOK, DISCOVER) and self._follows():
            return cast("file_ping.Config", self._configs["file_ping"]).look_min
        return 0

    def _follows(self) -> bool:
        """True if another member coordinates its view: it looks for no others and merges with none.

        Its record is written with each heartbeat.
        """
        mine = self._merging
        return self.joined and not mine.coordinates and mine.wish is None

    def _votes(self) -> bool:
        """True if a vote is of use: this member keeps multicasts, or has heard of another that does.

        The timer may fire late, and rests until then: `Needed` of `spec/stable/StableGroup.tla`.
        """
        voting = self._stack.of(stable, self._state)
        return voting.heard_from != voting.view.member_set or any(
            window.kept or window.pending for window in self._multicasts.windows.values()
        )

    # Discovery

    def _founds(self) -> None:
        """Found a group, unless refusals forbid that; greet whoever refuses until it is known."""
        if not self._may_found:
            self._founding = False
            self._application.waits()
            self._timers["begins again"] = self._loop.call_later(self._settings.patience, self._begins_again)
            return
        founds = self._doubts.founds(time.monotonic(), hears=bool(self._alive()))
        if founds is None and self._doubts.last is not None:
            self._send(EVERYBODY, self._doubts.last[0], [_GREETING])
            return
        self._founding = False
        if founds:
            if self._record is not None and not self._record.joined:
                self.forms_none = self._discovery.claim() if self._may_form else "as founds=False: it founds no group"
                if self.forms_none is not None:
                    self._take("restored", Raised(sequencer.Restored(())))
            self._take("discovery", Called(PassDown(gms.JoinRequested(self.me, 0))))
        else:
            self.refused = self._doubts.last

    def _begins_again(self) -> None:
        """Look again, as another incarnation: FILE_PING finds once that a member is alone."""
        self.close("closed")
        self._application.ended(None)

    def _alive(self) -> set[Address]:
        """The members that are heard."""
        return {*heartbeat.alive(self._configs[_BEATS], self._beating)}

    def _asks_folder(self, asked: file_ping.WriteRecord | file_ping.ReadRecords | file_ping.RemoveRecords) -> None:
        match asked:
            case file_ping.WriteRecord():
                self._discovery.write(self.me)
            case file_ping.ReadRecords():
                self._reads()
            case file_ping.RemoveRecords(of):
                self._discovery.remove(of)

    def _reads(self) -> None:
        """Read the records. Hear first who is at the places of a list, and look twice at an empty folder.

        Somebody may have emptied it, and members write theirs again with each heartbeat. That takes no longer than a
        look of those that found a record: else this member, if it founds the group, has them look once more.
        """
        reading = self._discovery.read()
        if self._discovery.greets or not (self.joined or reading.found.keys() - {self.me}):
            look = cast("file_ping.Config", self._configs["file_ping"]).discovery_time
            self._loop.call_later(min(_HEARS * self._settings.heartbeat, look / 1_000), self._has_read)
        else:
            self._takes_reading(reading)

    def _has_read(self) -> None:
        with self._ends_with_errors():
            self._takes_reading(self._discovery.read())

    def _takes_reading(self, reading: Reading) -> None:
        self._listed = {*self._discovery.greets, *reading.found.values()}
        self._places = reading.found | self._places  # a datagram that came says better where its sender is
        found = {*reading.found}
        if self._discovery.greets:
            found |= self._alive()
        self._take("folder", Raised(file_ping.RecordsRead(frozenset(found), reading.broken)))

    def _coordinators(self) -> Iterable[Address]:
        """The coordinators that discovery has found and that are heard, and this member if it coordinates."""
        found = self._stack.of(file_ping, self._state).coordinators
        yield from found & self._alive()
        if self._merging.coordinates:
            yield self.me

    # Datagrams

    def _put(self, to: Address, item: bytes) -> None:
        """Have an item sent at the end of this loop turn."""
        room = self._cutter.room
        pieces = [item] if len(item) <= room else [_FRAGMENT + each for each in self._cutter.cut(item)]
        self._outbox.setdefault(to, []).extend(pieces)
        self._schedule()

    def _puts_large(self, to: Address, payload: bytes, item: bytes) -> None:
        """Have a large item sent, as fast as it arrives."""
        if len(item) > LARGEST_ITEM:
            raise ValueError(f"an item of {len(item)} bytes is too large")
        if not self._large.add(to, payload, item, time.monotonic()):
            self.counts["not sent"] += 1
        if "large" not in self._timers:
            self._timers["large"] = self._loop.call_later(_LOOKS, self._looks_at_large)
        self._schedule()

    def _looks_at_large(self) -> None:
        del self._timers["large"]
        with self._ends_with_errors():
            round_trip = self._clocks.round_trip.patience
            self._large.looks(time.monotonic(), round_trip, 4 * self._settings.patience)
            if self._large.busy:
                self._timers["large"] = self._loop.call_later(_LOOKS, self._looks_at_large)
                self._schedule()

    def _send_out(self) -> None:
        for sender, answer in self._large.answers():
            self._outbox.setdefault(sender, []).append(_CAME + answer)
        if self._large.busy:
            for to, fragment in self._large.due(time.monotonic()):
                self._outbox.setdefault(to, []).append(_LARGE + fragment)
        outbox, self._outbox = self._outbox, {}
        for to, items in outbox.items():
            place = self._places.get(to)
            if place is None:
                self.counts["nobody there"] += len(items)
                continue
            bundle: list[bytes] = []
            size = 0
            for item in items:
                if bundle and size + len(item) > self._cutter.room:
                    self._send(to, place, bundle)
                    bundle, size = [], 0
                bundle.append(item)
                size += len(item) + 5
            self._send(to, place, bundle)
        if self._pulses.to:
            self._sends_pulse()

    def _sends_pulse(self) -> None:
        """Send the pulse: what a heartbeat costs for each receiver is a call of the system."""
        receivers, self._pulses.to = self._pulses.to, []
        data = self._seal.pulse(self._pulses.name, self._pulses.number)
        places = [self._places[to] for to in receivers if to in self._places]
        self.counts["nobody there"] += len(receivers) - len(places)
        self.counts["datagrams"] += len(places)
        for place in places:
            self._transmit(data, place)

    def _send(self, to: Address, place: Place, items: list[bytes]) -> None:
        self._number += 1
        self.counts["datagrams"] += 1
        data = self._seal.close(Frame(self.me, self._transport.place, to, self._number, tuple(items)))
        if to in self._owed:
            self._owed[to] -= len(data)
            if self._owed[to] < 0:
                self.counts["not answered"] += 1
                return
        if not self.joined or to not in self.gms.decision.members:
            self._sent.append((self._seal.digest_of(data), place))
        self._transmit(data, place)

    def _transmit(self, data: bytes, place: Place) -> None:
        try:
            self._transport.send(data, place)
        except (OSError, ValueError, TypeError, OverflowError):
            self.counts["not sent"] += 1  # a frame may be lost, and this frame is: no other has to do with it

    def _arrived(self, data: bytes, place: Place) -> bytes | None:
        """Take a frame. Gives a refusal, which may be empty, where no member of this group has sent it."""
        if data[:2] == PULSE:  # it waits for the own next heartbeat: no silence is counted before
            pulse = self._seal.pulsed(data)
            if pulse is None:
                self.counts["strangers"] += 1
                return b""
            if not self._pulses.heard(*pulse):
                self.counts["pulses unknown"] += 1
            return None
        refusal = self._seal.refusal(data)
        if refusal is not None:
            self._is_refused(refusal, place)
            return None
        try:
            self._received(self._seal.open(data), place, len(data))
        except (StrangerError, OtherVersionError) as error:
            self.counts["strangers" if isinstance(error, StrangerError) else "other versions"] += 1
            return self._refusal(data)
        except RefusedError:
            self.counts["refused"] += 1
        return None

    def _takes_pulses(self) -> None:
        """Have HEARTBEAT take the pulses that wait. No other layer has a part in that: without a log none is asked."""
        taken = [*self._pulses.taken()]
        self.counts["heartbeat received"] += len(taken)
        if self._log is not None:
            for sender, said in taken:
                message = Tagged(_BEATS, said)
                self._step(f"{sender} {said.number}", Arrived(sender, message), _CODEC.encode(message))
            return
        self.counts["steps"] += len(taken)
        self._state = self._stack.put(heartbeat, self._state, heartbeat.received(self._beating, taken))

    def _beats_alone(self, around: heartbeat.Around) -> None:
        """Have HEARTBEAT take its timer, which reports no member. Again no other layer has a part in that."""
        after, effects = heartbeat.step(self._configs[_BEATS], self._beating, heartbeat.BeatTimeout(around))
        self.counts["steps"] += 1
        self._state = self._stack.put(heartbeat, self._state, after)
        for effect in effects:
            match effect:
                case Datagram(to, said):
                    self._says_heartbeat(to, said, b"")
                case SetTimer(_, low, high):
                    self._sets(BEAT, low, high)

    def _refusal(self, data: bytes) -> bytes:
        """Tell a process that wants to join why this member does not hear it."""
        refusal = self._seal.refuse(data) if self.joined and self._refuses < _REFUSALS else None
        self._refuses += refusal is not None
        return refusal or b""

    def _is_refused(self, refusal: Refusal, place: Place) -> None:
        """Take a refusal from the place to which that datagram went, and from no other."""
        if (refusal.digest, place) not in self._sent:
            return
        if not self.joined and (refusal.certain or place in self._listed):
            self._doubts.refused(place, refusal, time.monotonic())
        self._application.refused(place, refusal.version, certain=refusal.certain)

    def _received(self, frame: Frame, place: Place, size: int) -> None:
        sender = frame.sender
        if sender == self.me:
            return
        if frame.to == EVERYBODY:  # it may be a replay: it says where to answer, and no more
            if sender not in self._places:
                self._owed[sender] = 0
                self._is_at(sender, frame.place, place)
            if sender in self._owed:
                self._owed[sender] = _TIMES * size
            return
        if frame.to != self.me:
            self.counts["for another incarnation"] += 1
            return
        if not self._once.setdefault(sender, Once()).first(frame.number):
            self.counts["replays"] += 1
            return
        self._owed.pop(sender, None)
        self._is_at(sender, frame.place, place)
        decision = self.gms.decision
        if later := later_than(sender, decision.members, decision.lives, self._unicasts.known):
            self._put(sender, _LATER + later.encode())
        for item in frame.items:
            if item[:1] == _PLACES:
                self._places = places_of(item[1:]) | self._places
            elif item[:1] == _CLOCK:
                self._clocks.heard(sender, item[1:], time.monotonic())
            elif item[:1] == _CAME:
                self._large.answered(sender, item[1:], time.monotonic())
                self._schedule()
            elif item[:1] == _LATER:
                self._is_former(item[1:].decode(errors="replace"))
            elif item[:1] == _HEARTBEAT:
                self._heartbeat(sender, frame.number, item[1:])
            elif self._hears_until or self._application.full or "begins again" in self._timers:
                # As if it were lost: it is sent again. (Who waits to begin again would name itself as the one to join.)
                self.counts["not taken"] += 1
            else:
                self._message(sender, frame.number, item)

    def _is_former(self, later: Address) -> None:
        """Begin again with a higher number: others know a later incarnation, as where the clock was set back."""
        if is_former(self.me, later):
            self.life = name_and_life(later)[1]
            self._begins_again()

    def _is_at(self, sender: Address, place: Place, came_from: Place) -> None:
        """A member is where its datagram says. If it listens everywhere, the host is that of the datagram."""
        if place[0] in EVERYWHERE:
            place = came_from[0], place[1]
        if place != self._places.get(sender):
            if not is_place(*place):
                raise RefusedError("no place: it is an IP address and a port from 1")
            self._places[sender] = place

    def _message(self, sender: Address, number: int, item: bytes) -> None:
        whole: bytes | None = item
        if item[:1] == _FRAGMENT:
            fragments = self._fragments.setdefault(sender, Fragments(self._settings.frame))
            whole = fragments.join(item[1:])
        elif item[:1] == _LARGE:
            whole = self._large.take(sender, item[1:])
            self._schedule()
        if whole is None:
            return
        if item[:1] == _LARGE:
            message, data = _CODEC.decode_around(whole)
        elif whole[:1] == _MESSAGE:
            data = whole[1:]
            message = _CODEC.decode(data)
        else:
            raise RefusedError("no item of a datagram")
        if isinstance(message.message, nakack.Data | nakack.Highest) and self._is_full:
            self.counts["not taken"] += 1  # it is sent again
            return
        self._count(message, "received")
        took = f"{sender} {number}", Arrived(sender, message), data
        match message.message:
            case unicast.Data(receiver=life, payload=Tagged(_, gms.JoinReq())) if life != unicast.UNKNOWN:
                self._gathers(sender, took)
            case _:
                self._take(*took)

    def _gathers(self, sender: Address, took: tuple[str, Arrived, bytes]) -> None:
        """Take a JOIN_REQ with those that come soon after, as if the network were slower: GMS gives them one view."""
        self._joins[sender, took[2]] = took
        if "joins" not in self._timers:
            self._timers["joins"] = self._loop.call_later(_GATHERS, self._takes_joins)

    def _takes_joins(self) -> None:
        del self._timers["joins"]
        for took in self._joins.values():
            self._take(*took)
        self._joins.clear()

    @property
    def _is_full(self) -> bool:
        """True if no more messages can wait for the state. At the end of a view they have to be taken."""
        mine = self._transfer
        return mine is not None and mine.full and self._stack.of(flush, self._state).is_free

    def _heartbeat(self, sender: Address, number: int, data: bytes) -> None:
        name, data = data[:NAME], data[NAME:]
        message = _CODEC.decode(data)
        if not isinstance(message.message, heartbeat.Heartbeat):
            raise RefusedError("no heartbeat")
        if not self._pulses.named(sender, name, message.message):
            self._count(message, "received")
            self._beats_first(f"{sender} {number}", Arrived(sender, message), data)

    # Driven by time

    def _to_beat(self, delay: float) -> float:
        """A delay that ends with a beat, up to half a heartbeat sooner or later; one shorter than a heartbeat as it is.

        A beat is a multiple of the interval by the system's clock. So a quiet member wakes once for all of its
        timers, and for the heartbeats of all whose clocks agree. Those of the coordinator come a little before, so
        that the others count them at the same beat: else its silence would be noticed a beat later.
        """
        interval = self._settings.heartbeat
        if delay < interval:
            return delay
        now = time.time() - (0 if self._merging.coordinates else interval / _AFTER)
        return round((now + delay) / interval) * interval - now

    def _beats_time(self) -> None:
        self._notices_pause()
        now = time.monotonic()
        self._refuses = 0
        if self._hears_until and now >= self._hears_until:
            self._hears_until = 0.0
            self._schedule()
        if self._application.full:
            self._full_since = self._full_since or now
        else:
            self._full_since = None
        if not self._stands_still():
            self._greets()
        if self.joined:
            self._discovery.write(self.me)
        if self._founding:
            self._founds()
        self._says_for_whom_it_waits(now)
        if now >= self._forgets_at:
            self._forgets_at = now + self._settings.patience
            self._forgets()
        for name in [name for name, at in self._at_beat.items() if at <= now]:
            del self._at_beat[name]
            self._fires_or_rests(name)

    def _says_for_whom_it_waits(self, now: float) -> None:
        """Tell the application, where its view is not formed for a patience."""
        why = self.waits_for if now - self._installed > self._settings.patience else None
        if why is not None and why != self._said:
            self._application.minority(why)
        self._said = why

    def _stands_still(self) -> bool:
        """True if the application takes nothing for so long that this member holds the others up."""
        since = self._full_since
        return since is not None and time.monotonic() - since >= 4 * self._settings.patience

    def _notices_pause(self) -> bool:
        """True if this process did not run for a while: it first hears what became of the others."""
        now = awake_or_not()
        if now - self._ticked > self._settings.heartbeat + self._settings.patience / 2:
            self.counts["pauses"] += 1
            self._hears_until = time.monotonic() + _HEARS * self._settings.heartbeat
        self._ticked = now
        return bool(self._hears_until)

    def _greets(self) -> None:
        """Find where each watched member is, and greet each place where no member is known."""
        for address in self._watched - self._places.keys():
            if (at := self._discovery.place(address)) is not None:
                self._places[address] = at
        greets = self._discovery.greets
        known = {self._places[address] for address in self._alive() & self._places.keys()} if greets else ()
        for place in greets:
            if place not in known and place != self._transport.place:
                self._send(EVERYBODY, place, [_GREETING])

    def _around(self) -> heartbeat.Around:
        """The surroundings, for HEARTBEAT's timer."""
        merging = self._merging
        reachable = frozenset(self._places.keys() - {self.me})
        return heartbeat.Around(self._watched, merging.suspected, self._unicasts.sought, reachable)

    def _says_whom_it_suspects(self, around: heartbeat.Around) -> None:
        """Count the reports of HEARTBEAT's timer by their reasons, and tell the application."""
        config = self._configs[_BEATS]
        now, effects = heartbeat.step(config, self._beating, heartbeat.BeatTimeout(around))
        for effect in effects:
            match effect:
                case PassUp(Suspected(suspect)):
                    why = heartbeat.reason(config, now, suspect)
                    self.counts[f"suspected: {why}"] += 1
                    self._application.suspects(suspect, why)
                case PassUp(SilenceReported()):
                    self.counts["silent outsiders"] += 1
                case _:
                    pass

    def _pulses_or_not(self, around: heartbeat.Around) -> None:
        """Say if a pulse can say the next heartbeat: the view has lasted, and no member of it is suspected."""
        mine = self._beating
        lasted = mine.beats - mine.since > self._configs[_BEATS].patience
        others = mine.members - {self.me}
        self._pulses.beats(mine.beats + 1, mine.view, others, alike=lasted and not around.suspected & others)

    def _says_where(self, to: Address) -> None:
        """Add to a heartbeat the clock, and for a member that comes the places of the members."""
        now = time.monotonic()
        self._put(to, _CLOCK + self._clocks.item(to, now))
        members = self.gms.decision.members if self.joined else ()
        if not members or (to in members and now - self._installed > self._settings.patience):
            return  # a member that comes need not find the others by itself
        if to in self._owed:
            return  # its greeting may be a replay
        places = ((each, *self._places[each]) for each in members if each in self._places)
        self._put(to, _PLACES + pack([*places]))

    def _forgets(self) -> None:
        """Forget incarnations that were not heard for long, so that their number stays bounded."""
        staying = self._merging.watched | self._alive()
        self._large.keep(staying)
        for each in [each for each, owed in self._owed.items() if owed < 0]:
            del self._owed[each]
            self._places.pop(each, None)
        if len(self._places) > 2 * len(staying) + 16:
            self._places = {each: place for each, place in self._places.items() if each in staying}
            self._owed = {each: owed for each, owed in self._owed.items() if each in staying}
            self._fragments = {each: held for each, held in self._fragments.items() if each in staying}
            self._clocks.forget(staying)
            self._pulses.keep(staying)
        if len(self._once) > MOST_HEARD:  # half of them: who comes back is taken again
            gone = [each for each in self._once if each not in staying]
            for each in gone[: len(self._once) - MOST_HEARD // 2]:
                del self._once[each]
        self._transport.keep({*self._places.values(), *self._listed, *self._discovery.greets})


def _carried(message: object) -> Iterator[Tagged]:
    """A message of a layer, and those of other layers that it carries."""
    while isinstance(message, Tagged) and message.layer:
        yield message
        message = getattr(message.message, "payload", None)


def _left_by(leaver: Address, effects: Iterable[Effect]) -> tuple[View, ...]:
    """The view that a member has decided without itself. It counts as present there: its record asks for that view."""
    for effect in effects:
        for each in _carried(effect.message) if isinstance(effect, Datagram) else ():
            if isinstance(each.message, gms.NewView) and leaver not in each.message.decision.members:
                return (each.message.decision.view,)
    return ()


@define
class _Own:
    """The application's messages. SAFE counts multicasts of STATE_TRANSFER, too; the application counts its own.

    `undecided`: the numbers that SAFE gave to multicasts of which it has told nothing yet. `decided`: how many it has.
    `unicasts`: how many to each member no step has taken yet.
    """

    undecided: deque[int] = field(factory=deque)
    decided: int = 0
    unicasts: Counter[Address] = field(factory=Counter)

    def takes(self, to: Address) -> None:
        """A step takes a message to a member. Nothing is kept of a member that has none."""
        self.unicasts[to] -= 1
        if not self.unicasts[to]:
            del self.unicasts[to]

    def up_to(self, number: int) -> int:
        """The application's number of its last multicast that SAFE counts up to this number."""
        while self.undecided and self.undecided[0] <= number:
            self.undecided.popleft()
            self.decided += 1
        return self.decided
