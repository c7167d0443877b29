"""A group as an application sees it: `join`, `send`, and the events in their order."""

import asyncio
import logging
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from inspect import iscoroutinefunction
from itertools import count
from pathlib import Path
from typing import IO, Any, Final, Self, TypeAlias, TypeVar

import msgspec
from attrs import define, evolve, frozen

from groupcomm import state_transfer
from groupcomm.events import MergeViewInstalled, ViewInstalled
from groupcomm.view import Address, ViewId, address, number_after

from .codec import VERSION
from .discovery import Discovery, Folder, Peers, Place, place_of, refuse_name
from .errors import (
    BadInputError,
    EndedError,
    EventsWaitError,
    GroupError,
    MessageTooLargeError,
    NameTakenError,
    NoRoomError,
    NotDelivered,
    NotSafe,
)
from .frames import LARGEST_MESSAGE, Seal
from .keys import derived
from .layers import configs
from .logs import Log
from .member import Member
from .operations import Operations
from .places import address_of
from .settings import Settings
from .transfer import Message, NewView, Provider, Transfer, Unicast, numbered, of_application
from .transports import Tcp, Transport, Udp
from .window import Window, places

T = TypeVar("T")

_WINDOW: Final = 256
"""Messages of this member that are on their way at once; `send` waits before another one.

A large one takes a place for each 64 KiB.
"""

_DATAGRAMS: Final = 4  # of messages that are multicast together, where frames are small
_LARGE: Final = 32_768  # bytes of a frame that holds a multicast whole, beside what layers add
_ADDED: Final = 1_024

_ROOM: Final = 10_000
"""Events that wait for the application; then this member takes no messages until there is room.

`Settings.event_bytes` bounds them likewise.
"""

_REFUSALS: Final = 64  # places and reasons of refusals of which there is a record

_RECEIVE_BUFFER: Final = 4 << 20  # bytes; the system may give less

_lives: Final = count()


@frozen
class NewLife:
    """This process begins again, as the member `address`: the group has refused the former one."""

    address: Address


@frozen
class Primary:
    """Messages are delivered in this view from now on: it has a majority. For `join(majority=True)` alone.

    It follows the `NewView`. Where it does not, this member is in a minority, in which nothing is delivered.
    """

    view: ViewId


@frozen
class WaitsForPrimary:
    """Nothing is delivered in the present view, for a patience already. `why`: how many are here of which view.

    For `join(majority=True)` alone. `Primary` follows when they are back. See `Group.waits_for`.
    """

    why: str


@frozen
class Suspects:
    """The failure detector of this member suspects `member`. A view without it follows, or the others exclude this one.

    `why`: "silent", "suspects me", "excludes me" or "stays apart", as HEARTBEAT says it (`groupcomm.heartbeat`).
    """

    member: Address
    why: str


@frozen
class Blocked:
    """Messages of this member wait from now on, while the view changes. For `join(blocks=True)` alone."""


@frozen
class Unblocked:
    """Messages of this member go out again."""


@frozen
class NoState:
    """No member of the view gives this one the state. It asks again; see `Group.declare_state`."""


@frozen
class StateDropped:
    """After a merge the state of other members is kept. The state of this one is replaced next.

    Here the application may note what only its own state has, to multicast it again.
    """


Event: TypeAlias = (
    Message
    | Unicast
    | NewView
    | Primary
    | WaitsForPrimary
    | Suspects
    | NewLife
    | NoState
    | StateDropped
    | Blocked
    | Unblocked
)


@frozen
class _Took:
    """The state that came is the application's from here on."""

    file: IO[bytes]


@define(eq=False)
class _Waits:
    """A caller of `send`: until its message has come back, or with `safe` until it is safe."""

    answer: asyncio.Future[bool]
    safe: bool
    places: int

    def raises(self, error: GroupError) -> None:
        """The caller, if it still waits, gets an error; no other part need hear of it."""
        if not self.answer.done():
            self.answer.set_exception(error)
            self.answer.exception()


@define(eq=False)
class _OnItsWay:
    """An own multicast: its number, and who waits for each message; None for each place of one that was posted.

    `back`: it has come back, True: among the events, False: in the state that came. `safe`: SAFE has said that it
    is, or that nobody knows.
    """

    number: int
    waiting: list[_Waits | None]
    back: bool | None = None
    safe: bool | None = None

    def answers(self, me: Address) -> None:
        """Answer all callers of whose messages enough is known now. `me`: the incarnation that has sent it."""
        for each in self.waiting if self.back is not None else ():
            if each is None or each.answer.done():
                continue
            if not each.safe or self.safe:
                each.answer.set_result(bool(self.back))
            elif self.safe is False:
                each.raises(NotSafe(f"{me} has delivered it, and nobody knows whether the members that go on have it"))


class Group:
    """A group that this process is a member of. `async for event in group` gives what happens, in order.

    An application that sends also takes its events: while too many wait, `send` waits.
    """

    _taker_known = False
    """`_taker` has asked since the last event came. To ask asyncio at each event takes longer than all else of it."""

    def __init__(
        self,
        *,
        name: str,
        member: str,
        transport: Transport,
        seal: Seal,
        discovery: Discovery,
        settings: Settings,
        log: Path | None,
        state: Provider | None,
        blocks: bool,
        founds: bool | None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._may_found = founds
        self._blocks = blocks
        self._state, self._has_state = state, asyncio.Event()
        self._founds = True
        """It may found a group: so far it has joined none, or it had the group's state."""
        self._declares = False
        self._transfer: Transfer | None = None
        self._coming = 0
        """How many states wait for the application."""
        self._works: asyncio.Task[None] | None = None
        """The application's `get` or `set`, in its thread."""
        self._name, self._member_name, self._transport, self._seal = name, member, transport, seal
        self._discovery, self._settings, self._log = discovery, settings, log
        self._events: deque[Event | state_transfer.MarkState | _Took] = deque()
        self._event_bytes = 0
        """The bytes of the messages among them."""
        self._arrived = asyncio.Event()
        self._taker: asyncio.Task[Any] | None = None
        """The task that has asked for an event last."""
        self._taker_waits: asyncio.Timeout | None = None
        """How that task is woken where it waits in `send`."""
        self._full_recorded = False
        """The log of the operator has it since the events were less than half of the room."""
        self._can_send = asyncio.Event()
        self._back = asyncio.Event()
        """Own messages have come back."""
        self._turned = asyncio.Event()
        """The member has taken steps."""
        self._window = Window(_WINDOW)
        self._waiting = 0  # calls that wait for room
        self._posted = 0
        """Places of messages on their way that nobody waits for."""
        self._sent: list[tuple[bytes, list[_Waits | None]]] = []
        """In this loop turn: they are multicast together."""
        self._on_their_way: deque[_OnItsWay] = deque()
        """The own multicasts that did not come back yet."""
        self._undecided: deque[_OnItsWay] = deque()
        """Those of which SAFE has not said whether they are safe."""
        self._members: tuple[Address, ...] = ()
        self._view: ViewId | None = None
        self._formed: ViewId | None = None
        """The last view that was formed; it may be installed next."""
        self._left = asyncio.Event()
        self._leaving = False
        self._error: BaseException | None = None
        self._refusals: set[tuple[Place, int, bool]] = set()
        self._waits_recorded = False
        self._has_joined = False
        self._member = self._begin()

    def _begin(self, after: int = 0) -> Member:
        """Begin an incarnation: its address was never used, and its number is higher than `after`."""
        record = self._discovery.recall()
        life = time.time_ns() // 1_000_000 * 1_000 + next(_lives) % 1_000
        record = evolve(record, life=number_after(life, record.life, after))
        self._discovery.remember(record)
        me = address(self._member_name, record.life)
        self._operations = Operations(self._name, me)
        self._has_state.clear()
        self._numbers = 0
        log = None
        if self._log is not None:
            log = Log(self._log, self._name, me, configs(self._settings, state=self._state is not None))
        member = Member(
            me,
            self,
            transport=self._transport,
            seal=self._seal,
            discovery=self._discovery,
            settings=self._settings,
            log=log,
            state=self._state is not None,
            founds=self._founds and (self._settings.majority or self._may_found is not False),
            record=record if self._settings.majority else None,
            forms=self._may_found is not False,
        )
        self._transfer = None
        if self._state is not None:
            self._transfer = Transfer(
                self._state,
                largest=self._settings.largest_state,
                patience=4 * self._settings.patience,
                answers=member.answers,
                record=self._operations.record,
            )
        return member

    # Used by an application

    @property
    def name(self) -> str:
        """The name of the group."""
        return self._name

    @property
    def address(self) -> Address:
        """The own address, of this incarnation."""
        return self._member.me

    @property
    def members(self) -> tuple[Address, ...]:
        """The members of the present view, the most senior first; none before the first view."""
        return self._members

    @property
    def leader(self) -> Address | None:
        """The most senior member of the present view: the same one at all its members. None before the first view."""
        return self._members[0] if self._members else None

    @property
    def majority(self) -> bool:
        """True with `join(majority=True)`: of the parts of a group one delivers."""
        return self._settings.majority

    @property
    def view(self) -> ViewId | None:
        """The identifier of the present view, None before the first one."""
        return self._view

    @property
    def primary(self) -> bool:
        """True if messages are delivered in the present view. Without `majority` they are in every view."""
        return self._view is not None and (not self._settings.majority or self._view == self._formed)

    @property
    def waits_for(self) -> str | None:
        """Whom this member waits for, as a text, while it is in a minority; None otherwise."""
        return self._member.waits_for if self._members else None

    @property
    def place(self) -> Place:
        """The host and the port of the own socket."""
        return self._transport.place

    @property
    def counts(self) -> dict[str, int]:
        """Counts of this incarnation: steps, datagrams, and datagrams dropped, by reason."""
        return dict(self._member.counts) | {"bad files": self._discovery.bad}

    @property
    def tables(self) -> dict[str, int]:
        """How much is not done yet, by the goal that it waits for. All are 0 in a quiescent group."""
        sent = {"on their way": len(self._sent) + len(self._on_their_way), "not safe yet": len(self._undecided)}
        sent["bytes of a coming state"] = 0 if self._transfer is None else self._transfer.size
        return sent | self._member.tables

    @property
    def known(self) -> dict[str, int]:
        """How much is remembered of other incarnations: bounded, whoever comes and goes."""
        return self._member.known

    @property
    def metrics(self) -> str:
        """Address, view, version, `counts` and `tables` as a line of JSON."""
        view = None if self._view is None else (self._view.counter, self._view.creator)
        now = {"group": self._name, "version": VERSION, "address": self.address, "view": view, "members": self._members}
        return msgspec.json.encode(
            {**now, "primary": self.primary, "waits for": self.waits_for, "counts": self.counts, "tables": self.tables}
        ).decode()

    async def send(self, data: bytes, *, to: Address | None = None, safe: bool | None = None) -> bool:
        """Send to all; return when it is delivered here, in its place in the order, or when it is safe.

        Safe: every member that goes on with this one has delivered it, whoever crashes. `safe`: wait for that;
        by default where the group was joined with `safe` or `majority`. Raises NotSafe where nobody knows whether
        it is safe: parts of the group have met, or this incarnation has ended after it was delivered here.

        True: it is among the events. False: it is in the state of other members that came (`join(state=)`).
        Raises NotDelivered where this incarnation ends first: other members may deliver it then, or not. With
        `majority` a member in a minority waits here until it is with a majority again.
        A caller that stops waiting, as by a time limit, knows as little: what is on its way stays so, and has
        its place among the 256. An identifier within `data` lets receivers drop what was sent again.
        Raises MessageTooLargeError, BadInputError for what is no message, and EndedError where the group is
        left. Raises EventsWaitError in the task that takes the events, where they are full, or get full while
        it waits: that message may be delivered yet.

        `to`: send to this member alone, by its address, which may be the own. It gets a `Unicast`, in the order in
        which this member sends to it. It returns True as soon as the message is on its way; 256 to a member may be.
        The message is lost where one of the two is no member of the other's view any more: an answer says that it
        has come (`questions`). Raises NotDelivered where `to` is not in the view.
        """
        self._refuse_no_message(data)
        if to is not None:
            _refuse_types(to=(to, str))
            if safe:
                raise BadInputError("safe=True is of messages to all: leave it out with to=")
            return await self._unless_events_wait("send", self._sends_to(to, data))
        if safe and not self._settings.reports_safe:
            raise BadInputError("safe=True needs a group in which members acknowledge: join all with safe=True")
        waits = self._settings.reports_safe if safe is None else safe
        return await self._unless_events_wait("send", self._sends(data, safe=waits))

    def post(self, data: bytes) -> None:
        """Send to all, and wait for nothing: that it is delivered, this member's events say, and they alone.

        256 such messages are on their way at most, besides those of `send`; a large one counts as many as it has
        64 KiB, and may be the last beyond them. Raises NoRoomError where no more
        is taken now: `await drain()` first. Raises MessageTooLargeError, BadInputError and EndedError as `send`.
        """
        self._refuse_no_message(data)
        self._refuse_if_ended()
        if self._posted >= _WINDOW or not self._can_send.is_set():
            raise NoRoomError(f"{self._posted} messages are on their way, or none is taken now: `await drain()` first")
        taken = places(data)
        self._posted += taken
        self._goes_out(data, [None] * taken)

    @property
    def room(self) -> int:
        """How many messages `post` takes now."""
        return max(_WINDOW - self._posted, 0) if self._can_send.is_set() and not self._left.is_set() else 0

    async def drain(self) -> None:
        """Wait until there is room for `post`. Raises EventsWaitError and EndedError as `send`."""
        self._refuse_other_loop()
        await self._unless_events_wait("drain", self._drains())

    async def _drains(self) -> None:
        while not self.room:
            self._refuse_if_ended()
            if self._can_send.is_set():
                self._back.clear()
                await self._back.wait()
            else:
                await self._until_room()

    def _refuse_no_message(self, data: bytes) -> None:
        if asyncio.get_running_loop() is not self._loop:
            self._refuse_other_loop()
        if type(data) is not bytes:
            raise BadInputError(f"a message is bytes, and no {type(data).__name__}: encode it")
        if len(data) > LARGEST_MESSAGE:
            raise MessageTooLargeError(
                f"a message of {len(data)} bytes, and the largest has {LARGEST_MESSAGE}: send it in parts"
            )

    def _unless_events_wait(self, what: str, call: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        """The call; of the task that takes the events, with an EventsWaitError where it would wait for itself."""
        return call if asyncio.current_task() is not self._taker else self._by_taker(what, call)

    async def _by_taker(self, what: str, call: Coroutine[Any, Any, T]) -> T:
        if self.full:
            call.close()
            raise EventsWaitError(self._waits_for_itself(what))
        try:
            async with asyncio.timeout(None) as self._taker_waits:
                return await call
        except TimeoutError:
            raise EventsWaitError(self._waits_for_itself(what)) from None
        finally:
            self._taker_waits = None

    async def _sends(self, data: bytes, *, safe: bool) -> bool:
        taken = places(data)
        await self._window.take(taken)  # they are the message's, and not its caller's, who may wait no more
        try:
            while not self._can_send.is_set():
                self._refuse_if_ended()
                await self._until_room()
            self._refuse_if_ended()
        except BaseException:
            self._window.give_back(taken)
            raise
        answer: asyncio.Future[bool] = self._loop.create_future()
        self._goes_out(data, [_Waits(answer, safe, taken)])
        return await answer  # where this wait is cancelled, the message is still on its way

    async def _sends_to(self, to: Address, data: bytes) -> bool:
        member = self._member
        while True:
            self._refuse_if_ended()
            if member is not self._member or to not in self._members:
                raise NotDelivered(f"{to} is not in the view of {member.me}: nothing was sent to it")
            if member.may_unicast(to, data, _WINDOW):
                member.unicast(to, data)
                return True
            self._turned.clear()
            await self._turned.wait()

    def _goes_out(self, data: bytes, waits: list[_Waits | None]) -> None:
        if not self._sent:
            self._loop.call_soon(self._multicast_together)
        self._sent.append((data, waits))
        if self._member.begins():
            self.changed()  # it may have been its turn, without room for another

    def _waits_for_itself(self, what: str) -> str:
        return (
            f"{len(self._events)} events wait for the task that waits in {what}: take the events in one "
            f"task, and await {what} in another"
        )

    def _refuse_other_loop(self) -> None:
        if asyncio.get_running_loop() is not self._loop:
            raise BadInputError(
                "this group belongs to another event loop: from another thread call it by "
                "asyncio.run_coroutine_threadsafe"
            )

    async def has_state(self) -> None:
        """Wait until the application, given as `state=`, has the state of the group.

        Another task takes the events meanwhile. Raises EventsWaitError where the state waits among them, and
        no other task takes any for the patience. Raises EndedError where the group is left before.

        If all members that had the state are gone, it waits for one of them. The events say so (`NoState`),
        and the log of the operator ("no state yet"). See `declare_state`. With `majority` a member waits, too,
        that has an older state than the primary's.
        """
        if self._state is None:
            raise BadInputError("a group without state= has no state: give `join` one")
        self._refuse_other_loop()
        while not self._has_state.is_set():
            self._refuse_if_ended()
            try:
                async with asyncio.timeout(self._settings.patience):
                    await self._has_state.wait()
            except TimeoutError:
                own = self._taker in {None, asyncio.current_task()}
                if own and self._coming:
                    raise EventsWaitError(self._waits_for_itself("has_state")) from None
        self._refuse_if_ended()

    def declare_state(self) -> None:
        """Declare that the state of this application is the group's, if no member gives one.

        It holds until this member has a state: its own, or that of another. A declared state loses against
        any other, and of several the most senior member's is kept. Raises BadInputError where this member
        has the state, and EndedError where the group is left.
        """
        if self._state is None:
            raise BadInputError("a group without state= has no state: give `join` one")
        self._refuse_other_loop()
        if self._has_state.is_set() or self._coming:
            raise BadInputError("this member has the state of the group: only one that lacks it declares its own")
        self._refuse_if_ended()
        self._declares = True
        self._declare_if_none()

    def _declare_if_none(self) -> None:
        if self._declares and self._member.may_declare:
            self._member.declares()

    async def _until_room(self) -> None:
        self._waiting += 1
        self._member.waits_for_room()
        try:
            await self._can_send.wait()
        finally:
            self._waiting -= 1

    def _multicast_together(self) -> None:
        """Multicast what was sent in this loop turn: as many messages at once as a large frame or four hold."""
        frame = self._settings.frame
        most = frame - _ADDED if frame >= _LARGE else _DATAGRAMS * frame
        sent, self._sent = self._sent, []
        together: list[bytes] = []
        waiting: list[_Waits | None] = []
        size = 0
        for data, waits in sent:
            size += len(data) + 5
            if together and size > most:
                self._multicast(together, waiting)
                together, waiting, size = [], [], len(data) + 5
            together.append(data)
            waiting += waits
        if together:
            self._multicast(together, waiting)

    def _multicast(self, messages: list[bytes], waiting: list[_Waits | None]) -> None:
        self._numbers += 1
        one = _OnItsWay(self._numbers, waiting)
        self._on_their_way.append(one)
        if self._settings.reports_safe:
            self._undecided.append(one)
        self._member.multicast(of_application(self._numbers, *messages))

    def __aiter__(self) -> Self:
        """The events, each once: one task takes them."""
        return self

    async def __anext__(self) -> Event:
        if asyncio.get_running_loop() is not self._loop:
            self._refuse_other_loop()
        if not self._taker_known:
            self._taker, self._taker_known = asyncio.current_task(), True
        while True:
            if self._works is not None:
                await asyncio.wait({self._works})  # a call that is cancelled leaves it to the next
                works, self._works = self._works, None
                works.result()
            while not self._events:
                if self._error is not None:
                    raise EndedError(f"the group has ended: {self._error}") from self._error
                if self._left.is_set():
                    raise StopAsyncIteration
                self._arrived.clear()
                await self._arrived.wait()
            event = self._events.popleft()
            if isinstance(event, Message):
                self._event_bytes -= len(event.data)
                if self._full_recorded:  # else it was not full
                    self._may_have_room()
                return event
            if isinstance(event, Unicast):
                self._event_bytes -= len(event.data)
            if self._full_recorded:
                self._may_have_room()
            if isinstance(event, (state_transfer.MarkState, _Took)):
                self._works = asyncio.create_task(self._gives_or_takes(event))
            else:
                return event

    def _may_have_room(self) -> None:
        """An event was taken, of events that were full."""
        if not self._can_send.is_set() and not self.full:
            self.changed()
        if 2 * len(self._events) < _ROOM and 2 * self._event_bytes < self._settings.event_bytes:
            self._full_recorded = False

    async def _gives_or_takes(self, event: state_transfer.MarkState | _Took) -> None:
        if self._transfer is None:
            return
        if isinstance(event, state_transfer.MarkState):
            await self._transfer.mark(event)
            return
        await self._transfer.set(event.file)
        self._coming -= 1
        self._knows_state()

    def _knows_state(self) -> None:
        """Say whether the application has the state."""
        if self._member.has_state and not self._coming:
            self._has_state.set()
            self._declares = False
        elif not self._left.is_set():
            self._has_state.clear()

    # Called by the member (`Application`)

    @property
    def full(self) -> bool:
        # A member that leaves takes what it needs for that, though its application may take no event.
        much = len(self._events) >= _ROOM or self._event_bytes >= self._settings.event_bytes
        return much and not self._leaving

    def delivers(self, sender: Address, data: bytes) -> None:
        number, messages = numbered(data)
        self._event_bytes += sum(map(len, messages))
        self._happen([Message(sender, each) for each in messages])
        if sender == self._member.me:
            self._are_back(number, among_events=True)

    def hears(self, sender: Address, data: bytes) -> None:
        self._event_bytes += len(data)
        self._happen([Unicast(sender, data)])

    def _are_back(self, number: int, *, among_events: bool) -> None:
        """The own multicasts up to a number were delivered, or are in the state that came."""
        while self._on_their_way and self._on_their_way[0].number <= number:
            one = self._on_their_way.popleft()
            one.back = among_events
            self._makes_room(one.waiting)
            one.answers(self._member.me)
        self._back.set()

    def _makes_room(self, waiting: Iterable[_Waits | None]) -> None:
        """Give back the places in the window of messages that are on their way no more."""
        for each in waiting:
            if each is None:
                self._posted -= 1
            else:
                self._window.give_back(each.places)

    def decided(self, number: int, *, is_safe: bool) -> None:
        while self._undecided and self._undecided[0].number <= number:
            one = self._undecided.popleft()
            one.safe = is_safe
            one.answers(self._member.me)
        self._back.set()

    def transfers(self, event: object) -> None:
        transfer = self._transfer
        if transfer is None:
            return
        match event:
            case state_transfer.MarkState():
                transfer.asks(event)
                self._happen([event])
            case state_transfer.ReadPart():
                transfer.read(event)
            case state_transfer.FreeState():
                transfer.free(event)
            case state_transfer.PutPart():
                transfer.put(event)
            case state_transfer.StateSet():
                self._coming += 1
                self._happen([_Took(transfer.came())])
            case state_transfer.OwnIsInState(number):
                self._are_back(number, among_events=False)
            case state_transfer.StateDropped():
                self._happen([StateDropped()])
            case state_transfer.NoState():
                self._lacks("no member of the view gives it")
                self._declare_if_none()
            case state_transfer.Full():
                most = self._settings.held_bytes
                self._operations.record("held", level=logging.WARNING, bytes=most)
            case state_transfer.StateDeclared():
                transfer.drop()
                self._operations.record("state declared")
            case _:
                pass
        self._knows_state()

    def waits(self) -> None:
        if self._may_found is False:
            if not self._waits_recorded:
                self._waits_recorded = True
                self._operations.record("waits", level=logging.WARNING, why="no member is found, and founds=False")
        else:
            self._lacks("no member is found, and the former incarnation did not have it: it founds no group")

    def minority(self, why: str) -> None:
        self._operations.record("waits", level=logging.WARNING, why=why)
        self._happen([WaitsForPrimary(why)])

    def _lacks(self, why: str) -> None:
        self._operations.record("no state yet", level=logging.WARNING, why=why)
        self._happen([NoState()])

    def installs(self, view: ViewInstalled) -> None:
        merged = view.subgroups if isinstance(view, MergeViewInstalled) else frozenset()
        came = tuple(each for each in view.view.members if each not in self._members)
        self._members, self._view = view.view.members, view.view.id
        self._operations.record(
            "view", view=_named(view.view.id), members=view.view.members, merged=sorted(map(_named, merged)), came=came
        )
        self._happen([NewView(view.view.id, view.view.members, merged, came)])
        if self._formed == self._view:  # a member alone forms its view before it is installed
            self._is_primary(self._view)

    def formed(self, view: ViewId) -> None:
        self._formed = view
        if view == self._view:
            self._is_primary(view)

    def _is_primary(self, view: ViewId) -> None:
        self._operations.record("primary", view=_named(view))
        self._happen([Primary(view)])

    def suspects(self, member: Address, why: str) -> None:
        self._operations.record("suspects", level=logging.WARNING, suspect=member, why=why)
        self._happen([Suspects(member, why)])

    def ended(self, error: BaseException | None) -> None:
        """End; or begin another incarnation, if the last was refused and the application has not left."""
        self._operations.drops(self._member.counts, float("inf"))
        if self._transfer is not None:
            self._transfer.drop()
        self._operations.record(
            "ended", level=logging.INFO if error is None else logging.ERROR, error=None if error is None else str(error)
        )
        never = [each for one in self._on_their_way for each in one.waiting]
        never += [each for _, waits in self._sent for each in waits]
        self._makes_room(never)
        self._back.set()
        self._turned.set()
        for each in never:
            if each is not None:
                each.raises(NotDelivered(f"{self._member.me} has ended before its message came back"))
        for one in self._undecided:
            one.safe = False
            one.answers(self._member.me)
        self._on_their_way.clear()
        self._undecided.clear()
        self._sent.clear()
        if self._members:
            self._founds = self._member.has_state
        self._members, self._view, self._formed = (), None, None
        if error is None and not self._leaving:
            self._can_send.clear()
            try:
                self._member = self._begin(self._member.life)
            except GroupError as broken:
                error = broken
            else:
                self._happen([NewLife(self._member.me)] * self._has_joined)
                return
        self._error = error
        self._left.set()
        self._arrived.set()
        self._can_send.set()
        self._has_state.set()

    def changed(self) -> None:
        self._turned.set()
        self._operations.drops(self._member.counts, time.monotonic())
        if self._left.is_set() or (self._member.may_send and not self.full and not self._leaving):
            self._can_send.set()
        else:
            self._can_send.clear()
            if self._waiting:
                self._member.waits_for_room()  # also in a new view, or a new incarnation

    def blocked(self, *, on: bool) -> None:
        if self._blocks:
            self._happen([Blocked() if on else Unblocked()])

    def _happen(self, events: Iterable[Event | state_transfer.MarkState | _Took]) -> None:
        self._events += events
        self._taker_known = False
        self._arrived.set()
        if self.full:
            self._is_full()

    def _is_full(self) -> None:
        if not self._full_recorded:
            self._full_recorded = True
            self._operations.record("full", level=logging.WARNING, events=len(self._events), bytes=self._event_bytes)
        if self._taker_waits is not None:
            self._taker_waits.reschedule(self._loop.time())
            self._taker_waits = None

    def _refuse_if_ended(self) -> None:
        if self._left.is_set() or self._leaving:
            raise EndedError("the group is left: nothing is sent any more") from self._error

    def refused(self, place: Place, version: int, *, certain: bool) -> None:
        """Name another group of this name, once for each place and reason."""
        known = place, version, certain
        if known not in self._refusals and len(self._refusals) < _REFUSALS:
            self._refusals.add(known)
            why = self._why_refused(version, certain=certain)
            self._operations.record("refused", level=logging.WARNING, place=f"{place[0]}:{place[1]}", why=why)

    @staticmethod
    def _why_refused(version: int, *, certain: bool) -> str:
        if version != VERSION:
            key = "" if certain else ", or another key"
            return f"version {version}{key}, and this is {VERSION}: use one release"
        return (
            "another majority=, safe=, state=, encrypted= or era=: give the same"
            if certain
            else "another key: give the same key="
        )

    # Coming and going

    async def joined(self) -> None:
        """Wait for the first view.

        Raises NameTakenError where another member of this name is heard, and BadInputError where refusals
        keep this incarnation from founding a group (docs/security.md).
        """
        while not self._members:
            for namesake, place in self._member.namesakes():
                where = "" if place is None else f" at {place[0]}:{place[1]}"
                raise NameTakenError(
                    f"the name {self._member_name!r} is taken in the group {self._name!r}: "
                    f"{namesake}{where} has it; take another, or wait until it is gone"
                )
            if self._error is not None:
                raise EndedError(f"the group has ended: {self._error}") from self._error
            if self._member.refused is not None:
                (host, port), refusal = self._member.refused
                why = self._why_refused(refusal.version, certain=refusal.certain)
                doubt = "" if refusal.certain else "; if no member is there, name that place no more"
                raise BadInputError(f"{host}:{port} is a member of the group {self._name!r} and has {why}{doubt}")
            await asyncio.sleep(self._settings.heartbeat / 4)
        if self._may_found and self._member.forms_none is not None:
            raise BadInputError(
                f"founds=True, and of the group {self._name!r} {self._member.forms_none}: start that member, without "
                "founds=, or take another folder"
            )
        self._has_joined = True

    async def leave(self) -> None:
        """Leave the group: the others have a view without this member.

        The events need not be taken meanwhile. It waits for own messages for a patience, and then for that
        view for four. If it is cancelled, this member is gone all the same, and the others suspect it.
        """
        self._refuse_other_loop()
        self._leaving = True
        try:
            if self._members and not self._left.is_set():
                self._multicast_together()
                # No flush drains the table of a leaver: its messages would go with it (FLAW-128).
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._settings.patience):
                        while self._on_their_way or self._undecided:
                            self._back.clear()
                            await self._back.wait()
                self._member.leave()
                with suppress(TimeoutError):  # the others suspect this member as soon as it is silent
                    async with asyncio.timeout(4 * self._settings.patience):
                        await self._left.wait()
        finally:  # even where this wait is cancelled
            self._member.close("closed")
            if not self._left.is_set():
                self.ended(None)


@asynccontextmanager
async def join(
    group: str,
    *,
    name: str,
    key: bytes | str | Sequence[bytes | str],
    folder: Path | str | None = None,
    peers: Iterable[str] = (),
    listen: str = "127.0.0.1:0",
    log: Path | str | None = None,
    settings: Settings | None = None,
    state: Provider | None = None,
    blocks: bool = False,
    majority: bool = False,
    safe: bool = False,
    founds: bool | None = None,
    era: int = 0,
    transport: Callable[[], socket.socket] | None = None,
) -> AsyncIterator[Group]:
    """Join a group, or found it where there is none; at the end of the block, leave it.

    `name`: that of this member, in use by no other. `key`: what only members know, 16 to 64 bytes, or a text
    of 16 bytes or more, which takes a tenth of a second; see `key_in`. Several: the first seals, and all open
    (docs/security.md: how a group changes its key). Members find each other by `folder`,
    in which each writes a file, and which is of this user alone, or by `peers`, a list of `host:port`.
    `listen`: the own place, by an address of this host at which the others reach it; with `peers` a port that
    the others know. `log`: a folder for the logs of all incarnations.
    `state`: the holder of the application's state, which a joiner takes over; see `StateProvider`, `StreamProvider`.
    `blocks`: the events have `Blocked` and `Unblocked`, too. `majority`: a view without a majority of the
    last view with a majority delivers nothing. `safe`: members acknowledge, and `send` waits until its message
    is safe; with `majority` they always do. All members give these two, here or in `settings`, or none does.
    `founds`: True, this member may be the first of the group; False, it never is. None: it may, where it finds no
    member, and with `majority` and a folder no member has founded the group there before. With `peers` nothing is
    left of a group that has ended: there give `founds=False`, and once, to one member, True.
    `era`: a higher one than before declares that the group's primary is lost for ever (docs/operating.md). Each
    era is a group of its own, which only a member with `founds=True` founds, with its state.
    `transport` makes a UDP socket, by default that of the system. A test gives a socket that loses datagrams.

    Raises BadInputError for an argument that is none, and for a place, a folder or a log that cannot be used.
    Raises it, too, where the members have another key or another version. Raises NameTakenError where another
    process has the name.
    """
    keys = _keys(key)
    _refuse_types(
        group=(group, str),
        name=(name, str),
        folder=(folder, Path | str | None),
        peers=(peers, Iterable),
        listen=(listen, str),
        log=(log, Path | str | None),
        settings=(settings, Settings | None),
        blocks=(blocks, bool),
        majority=(majority, bool),
        safe=(safe, bool),
        founds=(founds, bool | None),
        era=(era, int),
        transport=(transport, Callable | None),
    )
    _refuse_state(state)
    _refuse_paths(folder=folder, log=log)
    if not group:
        raise BadInputError("a group has a name: the first argument of join")
    peers = (peers,) if isinstance(peers, str) else tuple(peers)
    _refuse_no_texts(group=group, listen=listen, **{f"peers[{at}]": each for at, each in enumerate(peers)})
    if (folder is None) == (not peers):
        raise BadInputError("members find each other by folder= or by peers=: give one of the two")
    chosen = Settings() if settings is None else settings
    chosen = evolve(chosen, majority=majority or chosen.majority, safe=safe or chosen.safe)
    chosen.check()
    if isinstance(era, bool) or era < 0:
        raise BadInputError(f"era={era}: it is 0, or a higher number than that of the era before")
    seal = await _sealed(group, keys, chosen, has_state=state is not None, era=era)
    try:
        refuse_name(name)
        address(name)
    except ValueError as error:
        raise BadInputError(str(error)) from None
    if transport is not None and chosen.transport != "udp":
        raise BadInputError("transport= makes a UDP socket: leave it out, or settings with transport='udp'")
    operations = Operations(group, name)  # of what comes before the first incarnation
    place = await address_of("listen=", place_of("listen=", listen), operations, chosen.patience)
    with _clear(group):
        discovery: Discovery = (
            Peers(peers, operations) if folder is None else Folder(Path(folder), group, name, chosen.transport, era)
        )
    try:
        await discovery.look(chosen.patience)
        with _clear(group):
            carries = await _opened(place, chosen, transport, operations)
        try:
            with _clear(group):
                discovery.begin(carries.place)
                one = Group(
                    name=group,
                    member=name,
                    transport=carries,
                    seal=seal,
                    discovery=discovery,
                    settings=chosen,
                    log=None if log is None else Path(log),
                    state=state,
                    blocks=blocks,
                    founds=False if founds is None and era else founds,
                )
            try:
                await one.joined()
                yield one
            finally:
                await one.leave()
        finally:
            carries.close()
    finally:
        discovery.end()


def _keys(key: object) -> tuple[bytes | str, ...]:
    """The keys given: one, or a list of them. Raises BadInputError for what is none."""
    keys = tuple(key) if isinstance(key, list | tuple) else (key,)
    for each in keys:
        _refuse_no_texts(key=each)
    if not keys:
        raise BadInputError("key= is an empty list: give a key")
    return keys


async def _sealed(group: str, keys: Iterable[bytes | str], chosen: Settings, *, has_state: bool, era: int) -> Seal:
    """Return the seal of a group's datagrams: members that give other options do not understand each other."""
    options = {"majority": chosen.majority, "safe": chosen.reports_safe, "state": has_state, f"era {era}": era > 0}
    given = "".join(f"\0{name}" for name, is_given in options.items() if is_given)
    try:
        known = [await asyncio.to_thread(derived, key, group) if isinstance(key, str) else key for key in keys]
        return Seal(known[0], group, given, encrypted=chosen.encrypted, others=known[1:])
    except ModuleNotFoundError as error:
        raise BadInputError(
            f"encrypted=True needs the package {error.name}: pip install 'groupcomm[runtime,encryption]'"
        ) from None
    except ValueError as error:
        raise BadInputError(str(error)) from None


def _refuse_types(**given: tuple[object, Any]) -> None:
    """Raise BadInputError for a value that is not of its type. The text has no value: it may be a key."""
    for name, (value, of) in given.items():
        if not isinstance(value, of):
            wanted = of.__name__ if isinstance(of, type) else of
            raise BadInputError(f"{name}= is {wanted}, and this is of the type {type(value).__name__}")


def _refuse_no_texts(**given: object) -> None:
    """Raise BadInputError for what is no text, or a text that no bytes are of."""
    for name, value in given.items():
        _refuse_types(**{name: (value, bytes | str if name == "key" else str)})
        try:
            str(value).encode()
        except UnicodeEncodeError:
            raise BadInputError(f"{name}= has half of a character (a lone surrogate): give it whole") from None


def _refuse_paths(**given: Path | str | None) -> None:
    """Raise BadInputError for a path that names nothing. An empty one would be the folder of the process."""
    for name, value in given.items():
        if value is not None and (value == "" or "\0" in str(value)):
            raise BadInputError(f"{name}= is empty, or has a zero byte: name a folder")


def _refuse_state(state: Provider | None) -> None:
    if isinstance(state, type):
        raise BadInputError(f"state= is the class {state.__name__}: give an object of it")
    for name in ("get", "set_parts" if hasattr(state, "set_parts") else "set") if state is not None else ():
        method = getattr(state, name, None)
        if not callable(method) or iscoroutinefunction(method):
            raise BadInputError(
                f"state= has the methods get() and set(state) or set_parts(parts), which are not async, and "
                f"{type(state).__name__}.{name} is no such method"
            )


def _named(view: ViewId) -> str:
    return f"{view.counter}/{view.creator}"


@contextmanager
def _clear(group: str) -> Iterator[None]:
    """Raise BadInputError where the system gives no file or socket, as on a full disk."""
    try:
        yield
    except OSError as error:
        raise BadInputError(
            f"the group {group!r} cannot be joined: {error.strerror or error}; see that this process can "
            "write the folder and the log, and open files and sockets"
        ) from error


def _udp() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def _tcp() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM)


async def _opened(
    place: Place, settings: Settings, transport: Callable[[], socket.socket] | None, operations: Operations
) -> Transport:
    """The transport of the settings at a place. Raises BadInputError where there can be none."""
    listens = settings.transport == "tcp"
    with ExitStack() as undo:
        sock = (_tcp if listens else transport or _udp)()
        made = getattr(sock, "family", None), getattr(sock, "type", None)
        if transport is not None and made != (socket.AF_INET, socket.SOCK_DGRAM):
            with suppress(AttributeError):
                sock.close()
            raise BadInputError(f"transport= makes a UDP socket of IPv4, and this made {type(sock).__name__} {made}")
        undo.enter_context(sock)
        _bind(sock, place, listens=listens)
        got = sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        if not listens and got < _RECEIVE_BUFFER:
            operations.record("small buffer", level=logging.WARNING, bytes=got, asked=_RECEIVE_BUFFER)
        carries: Udp | Tcp = Tcp(sock, settings.patience) if listens else Udp(sock)
        undo.callback(carries.close)
        if isinstance(carries, Tcp):
            await carries.open()
        undo.pop_all()
    return carries


def _bind(sock: socket.socket, place: Place, *, listens: bool) -> None:
    """Bind a socket to a place. Raises BadInputError where it cannot be."""
    try:
        sock.settimeout(0)
        for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            sock.setsockopt(socket.SOL_SOCKET, buffer, _RECEIVE_BUFFER)
        if listens:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(place)
        if listens:
            sock.listen()
    except OSError as error:
        raise BadInputError(
            f"{place[0]}:{place[1]} cannot be listened at: {error.strerror}; name another with listen="
        ) from None
