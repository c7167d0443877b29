"""What callers do: they stop waiting, are cancelled, or take no events. Nothing waits in silence, nothing grows."""

import asyncio
import errno
import fcntl
import json
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import groupcomm_runtime
from groupcomm_field.torture.network import CALM, LossySocket, Rules
from groupcomm_runtime import (
    BadInputError,
    EndedError,
    EventsWaitError,
    Group,
    GroupError,
    Message,
    NewLife,
    NewView,
    NoRoomError,
    NotDelivered,
    Settings,
)
from groupcomm_runtime import group as group_module
from groupcomm_runtime.discovery import Folder
from tests.runtime.conversing import KEY, messages, run, until

QUICK = Settings(heartbeat=0.05, patience=0.5)


def test_callers_that_try_again_in_a_minority_are_bounded_and_a_receiver_drops_doubles(tmp_path: Path) -> None:
    """A place in the window belongs to the message: its caller stops waiting, and it is still on its way."""
    jobs = [b"%d" % number for number in range(300)]

    async def test() -> None:
        join, sock = groupcomm_runtime.join, LossySocket()
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=QUICK, majority=True) as a,
            join(
                "demo", name="b", key=KEY, folder=tmp_path, settings=QUICK, majority=True, transport=lambda: sock
            ) as b,
        ):
            await until(lambda: a.primary and b.primary)
            sock.rules = Rules(mute=frozenset({a.place}), deaf=frozenset({a.place}))
            await until(lambda: not b.primary)
            tries, limit = 0, 0.05

            async def does(job: bytes) -> None:
                nonlocal tries
                while True:
                    tries += 1
                    try:
                        async with asyncio.timeout(limit):
                            await b.send(job)
                            return
                    except TimeoutError:
                        pass  # it may yet be delivered: the same job, again

            doing = [asyncio.create_task(does(job)) for job in jobs]
            await until(lambda: tries > 5 * len(jobs))
            assert sum(len(each.waiting) for each in b._on_their_way) <= 256  # noqa: SLF001 - `tables` counts multicasts
            sock.rules, limit = CALM, 60
            await asyncio.gather(*doing)
            await a.send(b"end")
            done, times = set[bytes](), 0
            while (job := (await messages(a, 1))[0]) != b"end":
                times += 1
                done.add(job)  # what is in it already is a double
            assert done == {*jobs}
            assert times <= 2 * 256 + len(jobs), "on their way, and those that the last time-out met"

    run(test())


class Cancels:
    """Runs what enters and leaves a `join`, and cancels its task at points, one after the other.

    A point is a line of the runtime in which `join` waits; or that of its `yield`, where its block does.
    """

    def __init__(
        self, joining: AbstractAsyncContextManager[Group], whole: Coroutine[Any, Any, None], *plan: str
    ) -> None:
        self._whole, self._plan = whole, [*plan]
        self._generator: Any = vars(joining)["gen"]
        self.later: list[str] = []
        """The points at which it waits after the last cancellation."""

    def _point(self) -> str:
        generator, found = self._generator, ""
        while generator is not None:
            frame = getattr(generator, "ag_frame", None) or getattr(generator, "cr_frame", None)
            if frame is not None and "groupcomm_runtime" in frame.f_code.co_filename:
                found = f"{frame.f_code.co_qualname}:{frame.f_lineno}"
            generator = getattr(generator, "ag_await", None) or getattr(generator, "cr_await", None)
        return found

    def __await__(self) -> Generator[Any, Any, None]:
        raised: BaseException | None = None
        while True:
            try:
                waits_for = self._whole.send(None) if raised is None else self._whole.throw(raised)
            except StopIteration:
                return
            point, raised = self._point(), None
            if self._plan and point == self._plan[0]:
                self._plan.pop(0)
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            elif not self._plan and point not in self.later:
                self.later.append(point)
            try:
                yield waits_for
            except BaseException as error:  # noqa: BLE001 - it is handed on
                raised = error


def _open_files() -> list[str]:
    found: list[str] = []
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # that by which the list is read
            found.append(str(each.readlink()))
    return found


@pytest.mark.parametrize(("transport", "how"), [("udp", "folder"), ("tcp", "folder"), ("udp", "peers")])
def test_a_join_that_is_cancelled_at_any_point_and_once_more_leaves_nothing(
    tmp_path: Path, transport: str, how: str
) -> None:
    """With `peers` names of hosts are looked up, too."""
    settings = evolve(QUICK, transport=transport)

    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=settings) as a:

            async def cancelled(*plan: str) -> list[str]:
                """The points that follow the plan."""
                before = held()
                sends: list[asyncio.Task[bool]] = []
                joining = join("demo", name="b", key=KEY, log=log, settings=settings, **found)

                async def whole() -> None:
                    async with joining as b:
                        await b.send(b"first")
                        sends.append(asyncio.create_task(b.send(b"last")))
                        await asyncio.sleep(0)

                runs = Cancels(joining, whole(), *plan)

                async def awaits() -> None:
                    await runs

                ending = await asyncio.gather(asyncio.create_task(awaits()), return_exceptions=True)
                assert [isinstance(each, asyncio.CancelledError) for each in ending] == [bool(plan)]
                await asyncio.gather(*sends, return_exceptions=True)
                with suppress(TimeoutError):
                    async with asyncio.timeout(8):  # until a, too, is done with b
                        await until(lambda: held() <= before and len(a.members) == 1)
                assert held() <= before
                assert len(a.members) == 1
                Folder(tmp_path, "demo", "b").end()  # else NameTakenError
                return runs.later

            def held() -> set[object]:
                return {*_open_files(), *asyncio.all_tasks(), *tmp_path.rglob("*member")}

            log = tmp_path / "log"
            found: dict[str, Any] = {"folder": tmp_path}
            if how == "peers":
                found = {"peers": [f"localhost:{a.place[1]}"], "listen": "localhost:0"}
            first = await cancelled()
            assert len(first) >= 4, "joined, in the block, and twice in `leave`"
            for point in first:
                for again in await cancelled(point):
                    await cancelled(point, again)

    run(test())


def test_a_task_that_answers_in_its_own_loop_hears_that_it_waits_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Two other tasks send, so that its events get full while it waits in `send`."""
    monkeypatch.setattr(group_module, "_ROOM", 50)

    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=QUICK) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=QUICK) as b,
        ):

            async def asks() -> None:
                with suppress(NotDelivered):
                    while True:
                        await b.send(b"question")

            async def reads() -> None:
                async for _ in b:
                    pass

            async def answers() -> None:
                async for event in a:
                    if event == Message(b.address, b"question"):
                        await asyncio.sleep(0.02)
                        await a.send(b"answer")

            others = [asyncio.create_task(each) for each in (asks(), asks(), reads())]
            with pytest.raises(EventsWaitError, match=r"\d events wait for the task that waits in send"):
                await answers()
            with pytest.raises(EventsWaitError):  # at once, as they are full already
                await a.send(b"answer")
            for each in others:
                each.cancel()
            began = asyncio.get_running_loop().time()
            await asyncio.wait_for(a.leave(), 60)
            assert asyncio.get_running_loop().time() - began < 4 * QUICK.patience, "it leaves, though full"

    with caplog.at_level(logging.WARNING, logger="groupcomm_runtime"):
        run(test())
    assert 1 == sum(vars(record).get("operation") == "full" for record in caplog.records)


def test_has_state_in_the_task_that_takes_the_events_is_an_error(tmp_path: Path) -> None:
    class Holder:
        def get(self) -> bytes:
            return b""

        def set(self, state: bytes) -> None:
            assert state == b""

    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=QUICK, state=Holder()) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=QUICK, state=Holder()) as b,
        ):
            await a.has_state()  # it has founded the group
            gives = asyncio.create_task(messages(a, 1))
            with pytest.raises(EventsWaitError, match="waits in has_state: take the events in one task"):
                await b.has_state()
            taking = asyncio.create_task(messages(b, 1))
            await b.has_state()
            await b.send(b"end")
            await taking
            await gives

    run(test())


def test_a_call_from_another_event_loop_is_an_error_at_once(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=QUICK) as a:
            calls: list[Callable[[], Coroutine[Any, Any, Any]]]
            calls = [lambda: a.send(b"x"), a.__anext__, a.leave]
            for call in calls:
                with pytest.raises(BadInputError, match="belongs to another event loop: from another thread"):
                    await asyncio.to_thread(lambda: asyncio.run(call()))  # noqa: B023 - it is awaited here
            loop = asyncio.get_running_loop()
            far = asyncio.to_thread(lambda: asyncio.run_coroutine_threadsafe(a.send(b"x"), loop).result(60))
            await far
            assert await messages(a, 1) == [b"x"]

    run(test())


def test_a_slow_reader_is_bounded_in_bytes_and_hears_that_it_was_excluded(tmp_path: Path) -> None:
    """The others continue without it after four times the patience."""
    settings = evolve(QUICK, event_bytes=1 << 20)
    message = bytes(60_000)

    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=settings) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=settings) as b,
        ):

            async def sends() -> None:
                while True:
                    await a.send(message)

            async def reads() -> None:
                async for _ in a:
                    pass

            others = [asyncio.create_task(each) for each in (sends(), sends(), reads())]
            await until(lambda: len(a.members) == 1)
            for each in others[:2]:
                each.cancel()
            had: list[object] = []
            while not isinstance(event := await anext(b), NewLife | NewView) or had[:1] == []:
                had.append(event)
            waited = sum(len(each.data) for each in had if isinstance(each, Message))
            assert 1 << 20 <= waited <= 2 << 20, "what had arrived when it was full comes on top"
            async with asyncio.timeout(60):
                while not isinstance(event, NewLife | NewView) or len(a.members) < 2:
                    event = await anext(b)
            others[2].cancel()

    run(test())


def test_multicasts_that_a_member_lacks_are_bounded_in_bytes(tmp_path: Path) -> None:
    settings = Settings(heartbeat=0.1, patience=5, unstable_bytes=1 << 20)

    async def test() -> None:
        join, sock = groupcomm_runtime.join, LossySocket()
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=settings) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=settings, transport=lambda: sock) as b,
        ):
            await until(lambda: len(b.members) == 2)
            await a.send(b"stable")
            sock.rules = Rules(deaf=frozenset({a.place}))

            async def sends() -> None:
                while True:
                    await a.send(bytes(60_000))

            sending = asyncio.create_task(sends())
            await until(lambda: a.tables["unstable"] >= 17)
            await asyncio.sleep(0.2)
            assert 17 <= a.tables["unstable"] <= 18 + 1, "18 of 60,000 bytes are above 1 MiB"
            sock.rules = CALM
            await until(lambda: a.tables["unstable"] < 10)
            sending.cancel()

    run(test())


def test_a_coordinator_whose_machine_was_suspended_orders_nothing_before_it_hears_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it sleeps the others have a view without it. Its monotonic clock does not count that time."""
    asleep = 0.0
    clock = time.clock_gettime
    monkeypatch.setattr(time, "clock_gettime", lambda of: clock(of) + asleep * (of == time.CLOCK_BOOTTIME))

    async def test() -> None:
        nonlocal asleep
        join, sock = groupcomm_runtime.join, LossySocket()
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=QUICK, transport=lambda: sock) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=QUICK) as b,
        ):
            await until(lambda: len(a.members) == len(b.members) == 2)
            await a.send(b"before")
            sock.rules = Rules(mute=frozenset({b.place}), deaf=frozenset({b.place}))
            asleep = 8 * 3_600.0
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(a.send(b"alone"), QUICK.heartbeat)
            assert 1 == a.counts["pauses"]
            sock.rules = CALM
            # Where this machine is slow, A was excluded meanwhile, and its former incarnation ended with the message.
            try:
                await a.send(b"after")
            except NotDelivered:
                await a.send(b"after")
            assert await messages(b, 2) in ([b"before", b"alone"], [b"before", b"after"])

    run(test())


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize(
    ("where", "call"),
    [
        (os, "open"),
        (os, "fstat"),
        (os, "fchmod"),
        (os, "write"),
        (os, "unlink"),
        (os, "mkdir"),
        (fcntl, "flock"),
        (json, "dump"),
        (socket, "socket"),
        (socket.socket, "setsockopt"),
        (socket.socket, "bind"),
        (socket.socket, "listen"),
        (socket.socket, "getsockname"),
        (asyncio.SelectorEventLoop, "add_reader"),
        (asyncio.SelectorEventLoop, "create_server"),
    ],
)
def test_a_call_of_the_system_that_fails_while_joining_is_one_clear_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: object, call: str, transport: str
) -> None:
    """As with a full disk, or without descriptors. The first such call fails, then the second and so on."""
    settings = evolve(QUICK, transport=transport)
    right = getattr(where, call)

    async def test() -> None:
        for fails in range(1, 9):
            calls = 0

            def wrong(*given: object, **named: object) -> object:
                nonlocal calls
                calls += 1
                if calls == fails:  # noqa: B023 - it is called in this turn
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return right(*given, **named)

            folder = tmp_path / f"{fails}"
            before = {*_open_files(), *asyncio.all_tasks()}
            with monkeypatch.context() as patched:
                patched.setattr(where, call, wrong)
                with suppress(GroupError):  # another error fails this test
                    async with groupcomm_runtime.join(
                        "demo", name="a", key=KEY, folder=folder, log=folder / "log", settings=settings
                    ):
                        patched.undo()
            await asyncio.sleep(0.01)
            assert {*_open_files(), *asyncio.all_tasks()} <= before
            Folder(folder, "demo", "a").end()  # else NameTakenError
            assert [] == [*folder.rglob("*member"), *folder.rglob(".*aside")]
            if calls < fails:
                break

    run(test())


_TERMINATED = """
import asyncio, signal, sys
import groupcomm_runtime
from groupcomm_runtime.operations import LOGGER

async def main():
    settings = groupcomm_runtime.Settings(heartbeat=0.1, patience=5)
    key = b"what members alone know"
    async with groupcomm_runtime.join("demo", name="b", key=key, folder=sys.argv[1], settings=settings) as group:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
        LOGGER.warning("no handler, so nothing is printed")
        await group.send(b"it has the handler")
        await asyncio.Event().wait()

try:
    asyncio.run(main())
except asyncio.CancelledError:
    pass
"""


def test_sigterm_leaves_with_one_line_and_a_process_without_a_handler_prints_nothing(tmp_path: Path) -> None:
    settings = Settings(heartbeat=0.1, patience=5)

    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=settings) as a:
            other = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _TERMINATED, str(tmp_path), stderr=asyncio.subprocess.PIPE
            )
            assert [b"it has the handler"] == await messages(a, 1)
            other.terminate()
            async with asyncio.timeout(settings.patience / 2):
                _, printed = await other.communicate()
            assert b"" == printed
            assert 0 == other.returncode
            await until(lambda: len(a.members) == 1)
            assert [] == [each for each in a.counts if each.startswith("suspected")]

    run(test())


def test_posts_wait_for_nothing_are_bounded_and_are_delivered_in_their_order_before_the_end(tmp_path: Path) -> None:
    async def test() -> None:
        joins: Any = {"key": KEY, "folder": tmp_path, "settings": QUICK}
        async with (
            groupcomm_runtime.join("demo", name="a", **joins) as a,
            groupcomm_runtime.join("demo", name="b", **joins) as b,
        ):
            posted = 0
            while a.room:
                a.post(b"%d" % posted)
                posted += 1
            assert 256 == posted
            with pytest.raises(NoRoomError, match="256 messages are on their way"):
                a.post(b"more")
            for _ in range(300):
                await a.drain()
                a.post(b"%d" % posted)
                posted += 1
            await a.send(b"last")
            a.post(b"at the end")
            await a.leave()
            assert [*(b"%d" % each for each in range(posted)), b"last", b"at the end"] == await messages(b, posted + 2)
            with pytest.raises(EndedError):
                a.post(b"x")
            with pytest.raises(EndedError):
                await a.drain()
            with pytest.raises(BadInputError, match="no str"):
                b.post("text")  # type: ignore[arg-type]

    run(test())


def test_the_task_that_takes_the_events_does_not_wait_for_room_while_they_are_full(tmp_path: Path) -> None:
    async def test() -> None:
        settings = evolve(QUICK, event_bytes=65_536)
        joins: Any = {"key": KEY, "folder": tmp_path, "settings": settings}
        async with groupcomm_runtime.join("demo", name="a", **joins) as a:
            await anext(a)  # this task takes the events
            while not a.full:
                if a.room:
                    a.post(bytes(1_000))
                await asyncio.sleep(0)
            with pytest.raises(EventsWaitError, match="waits in drain"):
                await a.drain()

    run(test())
