"""Objects that a group shares: results, states, views and ends."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from groupcomm_runtime import BadInputError, EndedError, NotDelivered, Settings
from groupcomm_runtime.replicated import Counter, Lock, Replicated, ResultLost, command, share
from tests.runtime.conversing import KEY, run

FAST = Settings(heartbeat=0.05, patience=1.0)


def shared(folder: Path, name: str, what: Any, **joins: Any) -> Any:  # noqa: ANN401 - a context manager
    return share("demo", what, name=name, folder=folder, key=KEY, settings=FAST, **joins)


def test_no_two_members_get_the_same_number_and_a_joiner_counts_on(tmp_path: Path) -> None:
    async def test() -> None:
        async with shared(tmp_path, "A", Counter()) as a, shared(tmp_path, "B", Counter()) as b:
            got = await asyncio.gather(*(each.add() for each in [a, b] * 50))
            assert list(range(1, 101)) == sorted(got)
            async with shared(tmp_path, "C", Counter()) as c:
                assert 100 == c.value
                assert 107 == await c.add(number=7)
                await a.until(lambda: a.value == 107)
                assert [True, False, False] == [a.leads, b.leads, c.leads]

    run(test())


class Refuses(Replicated):
    """A command that can raise."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @command
    def divide(self, number: int, by: int) -> float:
        self.asked.append(self.caller)
        return number / by


def test_an_exception_of_a_command_is_its_callers_and_ends_no_member(tmp_path: Path) -> None:
    async def test() -> None:
        async with shared(tmp_path, "A", Refuses()) as a, shared(tmp_path, "B", Refuses()) as b:
            with pytest.raises(ZeroDivisionError):
                await a.divide(1, 0)
            with pytest.raises(TypeError):
                await a.divide(1, 2, 3)
            assert 0.5 == await b.divide(1, 2)
            await a.until(lambda: len(a.asked) == 2)
            assert a.asked == b.asked == [a.group.address, b.group.address]

    run(test())


def test_the_lock_of_a_member_that_crashes_is_given_to_the_next(tmp_path: Path) -> None:
    async def test() -> None:
        async with AsyncExitStack() as stack:
            locks = [await stack.enter_async_context(shared(tmp_path, name, Lock())) for name in "ABC"]
            a, b, c = locks
            holder = asyncio.create_task(_holds_for_ever(a))
            await b.until(lambda: len(b.queue) == 1)
            turns: list[tuple[str, int]] = []

            async def takes(lock: Lock) -> None:
                async with lock.held() as turn:
                    turns.append((lock.group.address, turn))

            second = asyncio.create_task(takes(b))
            await c.until(lambda: len(c.queue) == 2)
            third = asyncio.create_task(takes(c))
            await c.until(lambda: len(c.queue) == 3)
            assert not turns
            a.group._member.close("crashes")  # it says nothing more  # noqa: SLF001
            await asyncio.gather(second, third)
            assert [(b.group.address, 2), (c.group.address, 3)] == turns
            holder.cancel()
            with pytest.raises(asyncio.CancelledError):
                await holder

    async def _holds_for_ever(lock: Lock) -> None:
        async with lock.held():
            await asyncio.Event().wait()

    run(test())


def test_a_task_that_stops_waiting_for_the_lock_leaves_no_ticket(tmp_path: Path) -> None:
    async def test() -> None:
        async with shared(tmp_path, "A", Lock()) as a, shared(tmp_path, "B", Lock()) as b:
            async with a.held():
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.2), b.held():
                        pytest.fail("it is A's")
                await a.until(lambda: len(a.queue) == 1)
            async with asyncio.timeout(20), b.held() as turn:
                assert 2 == turn

    run(test())


def test_a_command_whose_result_is_in_the_state_that_came_says_so(tmp_path: Path) -> None:
    async def test() -> None:
        async with shared(tmp_path, "A", Counter()) as a:
            group = a.group

            async def send(data: bytes) -> bool:  # as where a merge brings a state that has it
                assert "add" == msgspec.msgpack.decode(data)[1]
                return False

            group.send = send
            with pytest.raises(ResultLost, match="add is done"):
                await a.add()

    run(test())


def test_an_end_of_the_group_ends_each_call(tmp_path: Path) -> None:
    async def test() -> None:
        async with shared(tmp_path, "A", Counter()) as a:
            waits = asyncio.create_task(a.until(lambda: a.value == 9))
            await asyncio.sleep(0)
        with pytest.raises(EndedError):
            await waits
        with pytest.raises((EndedError, NotDelivered)):
            await a.add()

    run(test())


class Sets(Replicated):
    """A state that names its type."""

    names: set[str]

    def __init__(self) -> None:
        self.names = {"x"}


class Untyped(Replicated):
    """One that would be a list at a joiner."""

    def __init__(self) -> None:
        self.names = {"x"}


def test_a_state_comes_with_the_types_that_the_class_names_and_one_that_would_change_is_refused(tmp_path: Path) -> None:
    async def test() -> None:
        async with shared(tmp_path, "A", Sets()) as a, shared(tmp_path, "B", Sets()) as b:
            a.names.add("y")
            async with shared(tmp_path, "C", Sets()) as c:
                assert isinstance(c.names, set)
            assert {"x"} == b.names
        with pytest.raises(BadInputError, match=r"Untyped.names is \{'x'\}.*names: set"):
            await shared(tmp_path, "A", Untyped()).__aenter__()

    run(test())


class Old(Replicated):
    """A counter of a former release."""

    def __init__(self) -> None:
        self.value = 0


def test_a_member_that_lacks_a_command_ends_with_its_name_and_the_others_continue(tmp_path: Path) -> None:
    async def test() -> None:
        async with shared(tmp_path, "A", Counter()) as a:
            has_state = asyncio.Event()
            old = asyncio.create_task(_stays(tmp_path, has_state))
            await has_state.wait()
            assert 1 == await a.add()
            with pytest.raises(BadInputError, match="asks for add, which is no command of Old"):
                await old
            assert 2 == await a.add()

    async def _stays(folder: Path, has_state: asyncio.Event) -> None:
        async with shared(folder, "B", Old()):
            has_state.set()
            await asyncio.Event().wait()

    run(test())
