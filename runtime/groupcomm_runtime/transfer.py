"""What an application sends, gets, gives and takes: its messages, its views, and its state.

STATE_TRANSFER (`groupcomm.state_transfer`) decides who gives the state to whom, and at which place of the
order. It asks the application to mark its state, for the parts of what is marked, and to take parts that
came. `Transfer` does so. What the application does runs in a thread: `get`, `set` or `set_parts`, and the iterator
that `get` may give. So a slow one delays neither heartbeats nor messages. Parts that come are kept in a file
until the last is there: an application never sees a part of a state that is broken off.
"""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from typing import IO, Any, Final, Protocol, TypeAlias

import msgspec
from attrs import define, field, frozen

from groupcomm.events import Payload
from groupcomm.state_transfer import FreeState, MarkState, PartFailed, PartRead, PutPart, ReadPart
from groupcomm.view import Address, ViewId

from .codec import pack
from .errors import BadInputError, EndedError
from .frames import PLACE

_PART: Final = PLACE - 512  # bytes; a part goes in one message, with the numbers that are in it
_IN_MEMORY: Final = 16 << 20  # bytes of a state that comes; with more, it is in a file


class Message(msgspec.Struct, frozen=True, gc=False):
    """A message of `sender`: survivors of a view deliver the same messages in it, in one order."""

    sender: Address
    data: bytes


@frozen
class Unicast:
    """A message of `sender` to this member alone: once, in the order of its sending, in none with other events.

    So it may come before the view in which this member first sees its sender, and after the one without it.
    """

    sender: Address
    data: bytes


@frozen
class NewView:
    """The members are now these, the most senior first.

    `merged`: the views that came together, none if members only came or went. A member that came from another
    of these views has delivered other messages before. `came`: the members that were not in the view before.
    """

    id: ViewId
    members: tuple[Address, ...]
    merged: frozenset[ViewId]
    came: tuple[Address, ...]

    @property
    def survivors(self) -> tuple[Address, ...]:
        """The members that come from this member's last view, itself too: none in its first view.

        They have delivered the same in it, or crash before they install this view. With `merged` it is an
        upper bound: one of them may have been parted in between, and come from another of these views.
        """
        return tuple(each for each in self.members if each not in self.came)


class StateProvider(Protocol):
    """Holder of the state of an application. All members of a group have one, or none has.

    Both are called in a thread, while the application waits for its next event. So it is done with all
    before, and no message changes the state meanwhile.
    """

    def get(self) -> bytes | Iterator[bytes] | AsyncIterator[bytes]:
        """The state, whole or piece by piece, with as many bytes as `Settings.largest_state` at most.

        An iterator is read while the application takes further events, an asynchronous one by the loop: it gives
        the state as it was here.
        Where this raises, or gives more, the member that asked asks another. The log of the operator has the
        error.
        """

    def set(self, state: bytes) -> None:
        """Take over a state that `get` returned elsewhere. No message that follows has changed it yet."""


class StreamProvider(Protocol):
    """Holder of a state that takes it over piece by piece. `get` is as that of `StateProvider`."""

    def get(self) -> bytes | Iterator[bytes] | AsyncIterator[bytes]:
        """The state."""

    def set_parts(self, parts: Iterator[bytes]) -> None:
        """Take over a state, in parts of up to 65,024 bytes, as `StateProvider.set` does.

        All parts have come: they are read from a temporary file, and no call is broken off.
        """


Provider: TypeAlias = StateProvider | StreamProvider


def of_application(number: int, *messages: bytes) -> bytes:
    """The multicast payload for messages of the application: they stand together in the order.

    `number`: 1 for the first such multicast of a member, then rising.
    """
    return pack((number, messages))


def numbered(payload: bytes) -> tuple[int, list[bytes]]:
    """The number and the messages of a multicast; 0 and none where a broken member has sent it."""
    try:
        return _read_messages.decode(payload)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return 0, []


_read_messages: Final = msgspec.msgpack.Decoder(tuple[int, list[bytes]])


def pieces(state: object, largest: int) -> Iterator[tuple[bytes, bool]]:
    """The parts of a state that `get` gave, each with whether it is the last; one at least.

    Raises BadInputError where it is no state, or has more than `largest` bytes, as soon as that shows.
    """
    if not isinstance(state, bytes | Iterator):
        raise BadInputError(f"`get` gives a state that is a {type(state).__name__}: it is bytes, or an iterator")
    return _cut(iter((state,)) if isinstance(state, bytes) else state, largest)


def _cut(chunks: Iterator[Any], largest: int) -> Iterator[tuple[bytes, bool]]:
    size, before = 0, b""
    for chunk in chunks:
        if type(chunk) is not bytes:
            raise BadInputError(f"`get` gives a piece that is a {type(chunk).__name__}: it is bytes")
        size += len(chunk)
        if size > largest:
            raise BadInputError(f"`get` gives a state of more than {largest} bytes: raise Settings.largest_state")
        for at in range(0, len(chunk), _PART):
            if before:
                yield before, False
            before = chunk[at : at + _PART]
    yield before, True


def _drawn(chunks: AsyncIterator[Any], loop: asyncio.AbstractEventLoop) -> Iterator[Any]:
    """The pieces of an iterator of the loop, for a thread. The end of the loop ends the wait for one."""

    async def following() -> object:
        return await anext(chunks, None)

    while (chunk := asyncio.run_coroutine_threadsafe(following(), loop).result()) is not None:
        yield chunk


@define(eq=False)
class _Gift:
    """A state that is marked for a member, or is to be. `read`: the part that the layer waits for."""

    attempt: int
    begun: bool = False
    parts: Iterator[tuple[bytes, bool]] | None = None
    read: ReadPart | None = None


@define(eq=False)
class Transfer:
    """The states that an incarnation gives, and the one that is coming.

    `largest`: bytes of a state. `patience`: seconds until an application that takes no events gives none.
    `answers`: takes an answer for the layer. `record`: writes to the log of the operator.
    """

    _provider: Provider
    _largest: int
    _patience: float
    _answers: Callable[[PartRead | PartFailed], None]
    _record: Callable[..., None]
    _gifts: dict[Address, _Gift] = field(factory=dict)
    _reading: set[asyncio.Task[None]] = field(factory=set)
    _file: IO[bytes] | None = None
    size: int = 0
    """The bytes of the state that have come; 0 if none is coming."""

    def asks(self, mark: MarkState) -> None:
        """The state is to be marked, when the application has taken the events before."""
        gift = self._gifts[mark.to] = _Gift(mark.attempt)

        def gives_none() -> None:
            if self._gifts.get(mark.to) is gift and not gift.begun:
                self._fails(mark.to, gift, f"the application took no event for {self._patience:g} seconds")

        asyncio.get_running_loop().call_later(self._patience, gives_none)

    async def mark(self, mark: MarkState) -> None:
        """Mark the state, as it is now, where it is still wanted."""
        gift = self._gifts.get(mark.to)
        if gift is None or gift.attempt != mark.attempt:
            return
        gift.begun = True
        try:
            state: object = await asyncio.to_thread(self._provider.get)
            if isinstance(state, AsyncIterator):
                state = _drawn(state, asyncio.get_running_loop())
            gift.parts = pieces(state, self._largest)
        except Exception as error:  # noqa: BLE001 - whatever it is, no member ends because another one came
            self._fails(mark.to, gift, repr(error))
        else:
            self._serves(mark.to, gift)

    def read(self, read: ReadPart) -> None:
        """A part of what is marked is to be read."""
        gift = self._gifts.get(read.to)
        if gift is not None and gift.attempt == read.attempt:
            gift.read = read
            self._serves(read.to, gift)

    def free(self, freed: FreeState) -> None:
        """What is marked for a member is not needed any more."""
        self._gifts.pop(freed.to, None)

    def _serves(self, to: Address, gift: _Gift) -> None:
        if gift.parts is not None and gift.read is not None and self._gifts.get(to) is gift:
            reading = asyncio.create_task(self._reads(gift.read, gift, gift.parts))
            gift.read = None
            self._reading.add(reading)
            reading.add_done_callback(self._reading.discard)

    async def _reads(self, read: ReadPart, gift: _Gift, parts: Iterator[tuple[bytes, bool]]) -> None:
        try:
            data, last = await asyncio.to_thread(next, parts)
        except Exception as error:  # noqa: BLE001 - as for `get`
            self._fails(read.to, gift, repr(error))
            return
        if self._gifts.get(read.to) is gift:
            if last:
                del self._gifts[read.to]
            self._answers(PartRead(read.to, read.attempt, read.number, Payload(data), last))

    def _fails(self, to: Address, gift: _Gift, error: str) -> None:
        self._record("no state given", level=logging.ERROR, to=to, error=error)
        if self._gifts.get(to) is gift:
            del self._gifts[to]
            self._answers(PartFailed(to, gift.attempt))

    def put(self, part: PutPart) -> None:
        """Keep a part that came. Raises EndedError where the state is larger than this member, or its disk, takes."""
        if part.number == 1 or self._file is None:
            self.drop()
            self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - it is open until the state is set
        data = part.data if isinstance(part.data, bytes) else b""  # of a member that is broken
        self.size += len(data)
        if self.size > self._largest:
            self.drop()
            raise EndedError(
                f"the state of the group has more than {self._largest} bytes: raise Settings.largest_state"
            )
        try:
            self._file.write(data)
        except OSError as error:
            raise EndedError(
                f"the state of the group cannot be kept in a temporary file: {error.strerror}; set TMPDIR"
            ) from error

    def drop(self) -> None:
        """Forget what has come."""
        if self._file is not None:
            self._file.close()
        self._file, self.size = None, 0

    def came(self) -> IO[bytes]:
        """The state that is whole now, to be read from its start."""
        file, self._file, self.size = self._file, None, 0
        if file is None:
            raise EndedError("a state is set of which no part has come")
        file.seek(0)
        return file

    async def set(self, file: IO[bytes]) -> None:
        """Have the application take over a state."""
        await asyncio.to_thread(self._sets, file)

    def _sets(self, file: IO[bytes]) -> None:
        with file:
            provider: Any = self._provider
            if hasattr(provider, "set_parts"):
                provider.set_parts(iter(lambda: file.read(_PART), b""))
            else:
                provider.set(file.read())
