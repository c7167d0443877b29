"""An object that the members of a group share: what a member calls, all members do, in one order.

    class Names(Replicated):
        def __init__(self):
            self.names = {}

        @command
        def put(self, key, value):
            before, self.names[key] = self.names.get(key), value
            return before

    async with share("names", Names(), name="A", folder="demo", key=key_in("demo/key")) as names:
        print(await names.put("colour", "green"))

It uses `Group` alone. `Counter` and `Lock` are two such objects.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import wraps
from itertools import count
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, get_type_hints

import msgspec

from groupcomm.view import Address, ViewId

from .errors import BadInputError, EndedError, GroupError, NotDelivered, NotSafe
from .group import Event, Group, NewLife, Primary, join
from .transfer import Message, NewView

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Replicated")

_GONE: Final = ""  # the name of the command that the senior member gives: it is no method's


class ResultLost(GroupError):  # noqa: N818 - as it is read where it is raised
    """The command is done, once, at all members; its result is in the state that came, and unknown here."""


def command(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """All members do it, in one order; the caller awaits what it returns, or raises, at its own member.

    It depends on the object's state, `caller` and its arguments alone, and not on clocks or dice. Arguments
    are what MessagePack has: numbers, texts, bytes, None, lists and dictionaries of them. An exception ends no
    member. Raises NotDelivered, NotSafe and EndedError as `Group.send`, and ResultLost.
    """

    @wraps(method)
    async def asks(self: S, /, *arguments: P.args, **named: P.kwargs) -> R:
        return await self._asks(method.__name__, arguments, named)  # type: ignore[no-any-return]

    asks.command = method  # type: ignore[attr-defined]
    return asks


class Replicated:
    """Base of an object that a group shares: `share` makes it one.

    Its state is its attributes, but for those that begin with `_`. They are what MessagePack has, or of the
    type that the class names for them. `get` and `set` may be others, for a state that needs it.
    """

    _group: Group
    _caller: Address = ""
    _callers: set[Address]
    """State, too: who asked for a command and is not said to be gone."""

    # Of a program

    @property
    def group(self) -> Group:
        """The group, once it is joined."""
        return self._group

    @property
    def leads(self) -> bool:
        """True if this member is the senior one of its view."""
        return self._group.leader == self._group.address

    @property
    def caller(self) -> Address:
        """In a command: the member that asked for it."""
        return self._caller

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds here. Raises EndedError where the group is left before."""
        while not holds():
            if self._over:
                raise EndedError("the group is left: nothing changes any more")
            await self._changed.wait()

    def later(self, asked: Coroutine[Any, Any, Any]) -> None:
        """Run a command that nobody waits for. Where this incarnation ends, it may not be done."""
        task = asyncio.create_task(_to_its_end(asked))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def gone(self, member: Address) -> None:
        """A member that had asked for commands is in the view no more: all members do this, in one order."""

    # Called by the group (`StateProvider`)

    def get(self) -> bytes:
        """The state. Raises TypeError for an attribute that would be another one elsewhere."""
        state = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        written = msgspec.msgpack.encode(state)
        for name, value in self._read(written).items():
            if value != state[name]:
                raise TypeError(
                    f"{type(self).__name__}.{name} is {state[name]!r}, and would be {value!r} at a member that "
                    f"joins: name its type in the class ({name}: {type(state[name]).__name__}[...])"
                )
        return msgspec.msgpack.encode((sorted(self._callers), written))

    def set(self, state: bytes) -> None:
        """Take over a state."""
        callers, written = msgspec.msgpack.decode(state, type=tuple[list[str], bytes])
        for name, value in self._read(written).items():
            setattr(self, name, value)
        self._callers = set(callers)
        self._loop.call_soon_threadsafe(self._has_changed)

    def _read(self, written: bytes) -> dict[str, Any]:
        types = get_type_hints(type(self))
        return {
            name: msgspec.msgpack.decode(value, type=types.get(name, Any))
            for name, value in msgspec.msgpack.decode(written, type=dict[str, msgspec.Raw]).items()
        }

    # The task that takes the events

    def _begins(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._numbers = count(random.getrandbits(48))  # those of an earlier process of this name are others
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._callers = set()
        self._members: tuple[Address, ...] = ()
        self._view: ViewId | None = None
        self._primary: ViewId | None = None
        self._said: set[Address] = set()
        self._changed = asyncio.Event()
        self._over = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def _asks(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:  # noqa: ANN401 - its result
        number, done = next(self._numbers), self._loop.create_future()
        self._waiting[number] = done
        try:
            if not await self._group.send(msgspec.msgpack.encode((number, name, arguments, named))):
                raise ResultLost(f"{name} is done: its result is in the state that came")
            return await done
        finally:
            del self._waiting[number]

    async def _follow(self) -> None:
        try:
            async for event in self._group:
                self._takes(event)
                self._has_changed()
        finally:
            self._over = True
            for done in self._waiting.values():
                if not done.done():
                    done.set_exception(EndedError("the group is left before the command was done here"))
            self._has_changed()

    def _takes(self, event: Event) -> None:
        match event:
            case Message(sender, data):
                self._does(sender, data)
            case NewView(id=view, members=members):
                self._view, self._members = view, members
            case Primary(view):
                self._primary = view
            case NewLife():
                self._view, self._members = None, ()
                self._said.clear()

    def _does(self, sender: Address, data: bytes) -> None:
        number, name, arguments, named = msgspec.msgpack.decode(data, type=tuple[int, str, list[Any], dict[str, Any]])
        if name == _GONE:
            (member,) = arguments
            self._said.discard(member)
            if member in self._callers:
                self._callers.discard(member)
                self.gone(member)
            return
        method = getattr(getattr(type(self), name, None), "command", None)
        if method is None:
            raise BadInputError(
                f"{sender} asks for {name}, which is no command of {type(self).__name__}: use one release"
            )
        self._callers.add(sender)
        self._caller = sender
        done = self._waiting.get(number)
        try:
            result = method(self, *arguments, **named)
        except Exception as error:  # noqa: BLE001 - it is the caller's, and all members raise it alike
            if done is not None and not done.done():
                done.set_exception(error)
        else:
            if done is not None and not done.done():
                done.set_result(result)
        finally:
            self._caller = ""

    def _has_changed(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
        self._says_who_is_gone()

    def _says_who_is_gone(self) -> None:
        """The senior member says it in the order, as a joiner has views at another place than the others."""
        delivers = self._view == self._primary or not self._group.majority
        if self._members[:1] == (self._group.address,) and delivers and not self._over:
            for member in sorted(self._callers.difference(self._members, self._said)):
                self._said.add(member)
                self.later(self._group.send(msgspec.msgpack.encode((0, _GONE, (member,), {}))))


async def _to_its_end(asked: Coroutine[Any, Any, Any]) -> None:
    with suppress(NotDelivered, NotSafe, EndedError, ResultLost):  # the others say that this incarnation is gone
        await asked


@asynccontextmanager
async def share(group: str, what: S, **joins: Any) -> AsyncIterator[S]:  # noqa: ANN401 - what `join` takes
    """Join a group that shares `what`, with the state of the others; leave it at the end of the block.

    `joins`: as for `join`, but for `state=`. Raises as `join`, and BadInputError where `get` cannot give the
    state. An error of the task that takes the events, as of `gone`, ends the block; if the block itself
    raises, too, both are in an ExceptionGroup.
    """
    what._begins()  # noqa: SLF001 - of this module
    try:
        what.get()
    except TypeError as error:
        raise BadInputError(f"the state of {type(what).__name__} cannot be given to a joiner: {error}") from error
    try:
        async with asyncio.TaskGroup() as tasks, join(group, state=what, **joins) as what._group:  # noqa: SLF001
            tasks.create_task(what._follow())  # noqa: SLF001
            await what._group.has_state()  # noqa: SLF001
            yield what
    except BaseExceptionGroup as errors:
        if len(errors.exceptions) > 1:
            raise
        raise errors.exceptions[0] from errors.exceptions[0].__cause__  # it stands for itself


class Counter(Replicated):
    """A number that members add to: no two of them get the same one."""

    def __init__(self) -> None:
        self.value = 0

    @command
    def add(self, number: int = 1) -> int:
        """Add to it, and return what it is then."""
        self.value += number
        return self.value


class Lock(Replicated):
    """A lock that one task of all members holds; the others wait in one order. A crash gives it to the next.

    A member that is suspected loses it, and may not know yet: where that matters, whatever the lock guards
    refuses a turn that is lower than one that it has seen. In a group that is cut, `majority=True` is needed.
    """

    def __init__(self) -> None:
        self.turn = 0
        """How often the lock was given to a task."""
        self.queue: dict[int, Address] = {}
        """Tasks by their tickets, with their members: the first one holds the lock."""

    @command
    def ask(self, ticket: int) -> None:
        """Wait in the queue."""
        self.queue[ticket] = self.caller
        self.turn += len(self.queue) == 1

    @command
    def release(self, ticket: int) -> None:
        """Wait no more, or give the lock to the next."""
        self._without([ticket])

    def gone(self, member: Address) -> None:
        """Its tasks wait no more."""
        self._without([ticket for ticket, of in self.queue.items() if of == member])

    def _without(self, tickets: list[int]) -> None:
        held = self._first()
        for ticket in tickets:
            self.queue.pop(ticket, None)
        self.turn += self._first() not in {held, None}

    def _first(self) -> int | None:
        return next(iter(self.queue), None)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[int]:
        """Hold the lock in the block, which gets the number of its turn: they rise.

        Raises NotDelivered where this incarnation ends while it waits.
        """
        ticket, me = next(self._numbers), self._group.address
        try:
            with suppress(ResultLost):
                await self.ask(ticket)
            await self.until(lambda: self._first() == ticket or self._group.address != me)
            if self._first() != ticket:
                raise NotDelivered(f"{me} has ended while it waited for the lock")
            yield self.turn
        finally:
            self.later(self.release(ticket))
