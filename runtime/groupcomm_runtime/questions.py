"""Questions to one member or to all, and their answers, over `Group.send(to=)`.

    async def answer(sender, question):
        return question.upper()

    questions = Questions(group, answer)
    print(await questions.ask(b"hello", to=group.leader))

One task takes the events of the group by `async for event in questions`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from itertools import count
from typing import Final, Literal, Self

import msgspec

from groupcomm.view import Address

from .errors import BadInputError, EventsWaitError, GroupError, NotDelivered
from .frames import LARGEST_MESSAGE
from .group import Event, Group, NewLife
from .transfer import NewView, Unicast

_MOST: Final = 1_000
"""Answers that a member works on at once."""
_FRAME: Final = 32  # bytes, besides a question or an answer

_read: Final = msgspec.msgpack.Decoder(tuple[Literal["asks", "answers", "fails"], int, bytes])


class AnswerError(GroupError):
    """The member that was asked raised this text, or has too many questions."""


class Questions:
    """The questions of this member and its answers. `async for event in questions` gives all other events of the group.

    `answer(sender, question)` is awaited in a task of its own for each question. What it raises is raised at
    the member that asks, as AnswerError.
    """

    def __init__(self, group: Group, answer: Callable[[Address, bytes], Awaitable[bytes]]) -> None:
        self._group, self._answer = group, answer
        self._numbers = count(1)
        self._waiting: dict[int, tuple[Address, asyncio.Future[bytes]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._taker: asyncio.Task[object] | None = None

    async def ask(self, question: bytes, *, to: Address) -> bytes:
        """Return the answer of a member, or of this one. A question, or an answer, has 32 bytes less than a message.

        Raises NotDelivered where that member is not in the view, or gone before its answer came: it may have
        done what it was asked. Raises AnswerError, and EventsWaitError in the task that takes the events.
        """
        if asyncio.current_task() is self._taker:
            raise EventsWaitError("the answer comes among the events: ask in another task than the one that takes them")
        number = next(self._numbers)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[number] = to, answer
        try:
            await self._group.send(_framed("asks", number, question), to=to)
            return await answer
        finally:
            del self._waiting[number]

    async def ask_all(self, question: bytes) -> dict[Address, bytes]:
        """Return the answers of the members of the present view, and of this one. Who is gone before has none.

        Raises AnswerError where a member raises one, when all have answered.
        """
        members = self._group.members
        answers = await asyncio.gather(*(self.ask(question, to=each) for each in members), return_exceptions=True)
        found: dict[Address, bytes] = {}
        for member, answer in zip(members, answers, strict=True):
            if isinstance(answer, bytes):
                found[member] = answer
            elif not isinstance(answer, NotDelivered):
                raise answer
        return found

    def __aiter__(self) -> Self:
        """The events of the group, each once, without questions and answers."""
        return self

    async def __anext__(self) -> Event:
        self._taker = asyncio.current_task()
        while True:
            try:
                event = await anext(self._group)
            except BaseException:
                self._miss_the_gone()
                raise
            if isinstance(event, NewView | NewLife):
                self._miss_the_gone()
            if not isinstance(event, Unicast) or not self._takes(event.sender, event.data):
                return event

    def _takes(self, sender: Address, data: bytes) -> bool:
        """Take a question or an answer; False where it is neither."""
        try:
            kind, number, said = _read.decode(data)
        except (msgspec.MsgspecError, ValueError):
            return False
        if kind == "asks":
            self._begins(self._answers(sender, number, said, busy=len(self._tasks) >= _MOST))
            return True
        to, answer = self._waiting.get(number, ("", None))
        if answer is not None and to == sender and not answer.done():
            if kind == "answers":
                answer.set_result(said)
            else:
                answer.set_exception(AnswerError(f"{sender}: {said.decode(errors='replace')}"))
        return True

    def _begins(self, answers: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(answers)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answers(self, sender: Address, number: int, question: bytes, *, busy: bool) -> None:
        try:
            if busy:
                raise AnswerError(f"{_MOST} questions wait here already")
            framed = _framed("answers", number, await self._answer(sender, question))
        except Exception as error:  # noqa: BLE001 - it is raised at the member that asks
            framed = _framed("fails", number, f"{type(error).__name__}: {error}".encode()[:1_000])
        with suppress(GroupError):  # who asked, or this member, is gone: the other one hears it
            await self._group.send(framed, to=sender)

    def _miss_the_gone(self) -> None:
        """Whoever waits for a member that is gone hears so."""
        members = self._group.members
        for to, answer in self._waiting.values():
            if to not in members and not answer.done():
                answer.set_exception(NotDelivered(f"{to} is gone, and has not answered"))


def _framed(kind: str, number: int, said: bytes) -> bytes:
    if type(said) is not bytes:
        raise BadInputError(f"a question and an answer are bytes, and no {type(said).__name__}: encode it")
    if len(said) > LARGEST_MESSAGE - _FRAME:
        raise BadInputError(
            f"a question or an answer has {LARGEST_MESSAGE - _FRAME} bytes at most, and this {len(said)}"
        )
    return msgspec.msgpack.encode((kind, number, said))
