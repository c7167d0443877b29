"""Several members that come or go at once: a view grants what waits."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import pytest
from attrs import define, field

import groupcomm_runtime
from groupcomm import unicast
from groupcomm.stack import Arrived
from groupcomm_runtime import Group, NewView, Settings
from tests.runtime.conversing import FAST, KEY, run, until

SLOW: Final = Settings(heartbeat=0.2, patience=4.0)
"""A member that has to be missed is missed after four seconds: the tests tell that from what takes no time."""


@define
class Process:
    """A member, and the sizes of its views."""

    name: str
    folder: Path
    settings: Settings = SLOW
    sizes: list[int] = field(factory=list)
    group: Group | None = None
    _stack: AsyncExitStack = field(factory=AsyncExitStack)
    _listening: "asyncio.Task[None] | None" = None

    async def join(self) -> None:
        joining = groupcomm_runtime.join("demo", name=self.name, key=KEY, folder=self.folder, settings=self.settings)
        self.group = await self._stack.enter_async_context(joining)
        self._listening = asyncio.create_task(self._listen(self.group))

    async def leave(self) -> None:
        await self._stack.aclose()

    async def _listen(self, group: Group) -> None:
        async for event in group:
            if isinstance(event, NewView):
                self.sizes.append(len(event.members))


def test_members_that_come_at_once_and_go_at_once_share_views(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each had a view of its own: six and six. The joiners begin some milliseconds one after the other.

    A request waits for others longer than that takes on a busy machine.
    """
    monkeypatch.setattr("groupcomm_runtime.member._GATHERS", 1.0)

    async def test() -> None:
        first, *others = (Process(f"m{number}", tmp_path) for number in range(7))
        await first.join()

        async def comes(number: int, other: Process) -> None:
            await asyncio.sleep(number * 0.015)
            await other.join()

        await asyncio.gather(*(comes(*each) for each in enumerate(others)))
        await until(lambda: first.sizes[-1] == 7)
        assert len(first.sizes) - 1 <= 2, first.sizes
        first.sizes.clear()
        await asyncio.gather(*(each.leave() for each in others))
        await until(lambda: first.sizes[-1:] == [1])
        assert len(first.sizes) <= 2, first.sizes
        await first.leave()

    run(test())


def test_seniors_that_leave_at_once_are_missed_by_no_member(tmp_path: Path) -> None:
    """Each led in its turn, found that it had asked to leave, and went: the others waited for the patience of each."""

    async def test() -> None:
        members = [Process(f"m{number}", tmp_path) for number in range(6)]
        for each in members:
            await each.join()
        last = members[-1]
        await until(lambda: last.sizes[-1:] == [6])
        leaving = asyncio.gather(*(each.leave() for each in members[:3]))
        assert last.group is not None
        await asyncio.wait_for(last.group.send(b"during"), SLOW.patience / 2)
        await leaving
        await asyncio.wait_for(until(lambda: last.sizes[-1] == 3), SLOW.patience / 2)
        await asyncio.gather(*(each.leave() for each in members[3:]))

    run(test())


def test_a_joiner_that_has_asked_twice_is_let_in(tmp_path: Path) -> None:
    """Its requests are sent again together. Of these only the last was taken, which waits for the first: for ever."""

    async def test() -> None:
        a, b = Process("a", tmp_path, FAST), Process("b", tmp_path, FAST)
        await a.join()
        assert a.group is not None
        member = a.group._member  # noqa: SLF001
        gathers, lost = member._gathers, set[int]()  # noqa: SLF001

        def loses(_sender: str, took: tuple[str, Arrived, bytes]) -> None:
            said = took[1].message.message
            assert isinstance(said, unicast.Data)
            lost.add(said.seqno)
            if len(lost) == 3:
                setattr(member, "_gathers", gathers)  # noqa: B010 - mypy knows it as a method

        setattr(member, "_gathers", loses)  # noqa: B010
        joining = asyncio.create_task(b.join())
        await until(lambda: len(lost) == 3)
        async with asyncio.timeout(10):
            await joining
        await until(lambda: a.sizes[-1] == 2)
        await b.leave()
        await a.leave()

    run(test())
