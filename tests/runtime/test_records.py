"""The record of a name: what its next incarnation knows, also after `kill -9`, and with a clock that goes back."""

import asyncio
import logging
import re
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import groupcomm_runtime
from groupcomm.view import Address, View, ViewId, is_former, name_and_life
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.replaying import replayed
from groupcomm_field.torture.network import CALM, LossySocket
from groupcomm_runtime import BadInputError, EndedError, Group, Message, WaitsForPrimary, records
from groupcomm_runtime.records import Record
from tests.runtime.conversing import FAST, KEY, of_demo, run, until

RECORD = Record(7, joined=True, attempts=(View(ViewId(3, "a#5"), ("a#5", "b")), View(ViewId(4, "b"), ("b",))))

MEMBER = """
import asyncio, sys
import groupcomm_runtime
from groupcomm_runtime import Settings

async def main(name, folder):
    settings = Settings(heartbeat=0.05, patience=1.0)
    async with groupcomm_runtime.join(
        "demo", name=name, key=b"what members alone know", folder=folder, settings=settings, majority=True, log=f"{folder}/logs"
    ) as group:
        while True:
            state = "primary" if group.primary else group.waits_for
            print(len(group.members), state, flush=True)
            await asyncio.sleep(0.05)

asyncio.run(main(*sys.argv[1:]))
"""


class Process:
    """A member with majority in a process, which is killed."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.process: asyncio.subprocess.Process | None = None

    async def begin(self) -> "Process":
        command = (sys.executable, "-c", MEMBER, self.name, str(self.folder))
        self.process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        return self

    async def until(self, said: str, seconds: float = 60) -> None:
        assert self.process is not None
        assert self.process.stdout is not None
        async with asyncio.timeout(seconds):
            while not (await self.process.stdout.readline()).decode().startswith(said):
                assert not self.process.stdout.at_eof(), f"{self.name} has ended"

    async def kill(self) -> None:
        assert self.process is not None
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        await self.process.communicate()


def joining(
    name: str,
    folder: Path | None,
    **more: Any,  # noqa: ANN401 - of join
) -> AbstractAsyncContextManager[Group]:
    arguments = {"key": KEY, "folder": folder, "settings": FAST, "majority": True, **more}
    return groupcomm_runtime.join("demo", name=name, **arguments)


async def until_members(group: Group, count: int) -> None:
    await until(lambda: len(group.members) == count)


async def until_primary(group: Group) -> None:
    await until(lambda: group.primary)


async def comes_and_goes(one: Group, another: AbstractAsyncContextManager[Group]) -> Address:
    """Have another member join that one, and leave; give the address that it had."""
    async with another as other:
        await until_members(one, 2)
        gone = other.address
    await until_members(one, 1)
    return gone


def sets_clock_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the clock back an hour, for incarnations that begin."""
    now = time.time_ns
    monkeypatch.setattr("groupcomm_runtime.group.time.time_ns", lambda: now() - 3_600 * 10**9)


def counts_on(former: Address, address: Address) -> bool:
    """Return True if the number is one of the next after the former, not a time.

    It is the next. A slow machine may suspect that incarnation, and then it is the next but one.
    """
    return 0 < name_and_life(address)[1] - name_and_life(former)[1] < 10


@pytest.mark.parametrize("majority", [True, False])
@pytest.mark.parametrize("finds", ["folder", "peers"])
def test_with_a_clock_that_was_set_back_a_member_is_back_in_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finds: str, *, majority: bool
) -> None:
    """At the places of a list it has no record: another member says that it knows a later incarnation."""

    def joins(name: str, peer: str) -> AbstractAsyncContextManager[Group]:
        if finds == "peers":
            return joining(name, None, peers=[peer], majority=majority)
        return joining(name, tmp_path, majority=majority)

    async def test() -> None:
        async with joins("a", "127.0.0.1:9") as one:
            known = f"127.0.0.1:{one.place[1]}"
            former = await comes_and_goes(one, joins("b", known))
            sets_clock_back(monkeypatch)
            async with asyncio.timeout(20), joins("b", known) as other:
                await until_members(one, 2)
                assert counts_on(former, other.address)

    run(test())


def test_a_member_of_a_view_is_told_of_a_later_incarnation_and_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """`UnicastClock`: it has founded a group of its own, and a third member brings both groups together."""

    def joins(name: str, *peers: str) -> AbstractAsyncContextManager[Group]:
        return joining(name, None, peers=peers, majority=False)

    async def test() -> None:
        async with joins("a", "127.0.0.1:9") as one:
            known = f"127.0.0.1:{one.place[1]}"
            later = await comes_and_goes(one, joins("b", known))
            sets_clock_back(monkeypatch)
            async with joins("b", "127.0.0.1:9") as other:
                alone = other.address
                assert (other.members, is_former(alone, later)) == ((alone,), True)
                async with asyncio.timeout(40), joins("c", known, f"127.0.0.1:{other.place[1]}"):
                    await until_members(one, 3)
                    await until_members(other, 3)
                    assert counts_on(later, other.address)

    run(test())


def test_the_founder_of_a_pair_is_killed_and_begins_again_and_both_deliver(tmp_path: Path) -> None:
    async def test() -> None:
        founder, other = await Process("a", tmp_path).begin(), Process("b", tmp_path)
        await founder.until("1 primary")
        await other.begin()
        try:
            await other.until("2 primary")
            await founder.kill()
            await other.until("1 waits for the primary: 1 of 2 of view")
            await founder.begin()
            await founder.until("2 primary")
            await other.until("2 primary")
        finally:
            await other.kill()
            await founder.kill()
        lives = [replayed(path, path.read_bytes(), killed=True) for path in sorted((tmp_path / "logs").iterdir())]
        assert [] == judge(lives).rejected
        assert len(lives) == 3

    run(test())


def test_a_pair_that_was_killed_is_primary_again_when_both_are_back(tmp_path: Path) -> None:
    async def test() -> None:
        pair = [Process("a", tmp_path), Process("b", tmp_path)]
        try:
            await pair[0].begin()
            await pair[0].until("1 primary")
            await pair[1].begin()
            for each in pair:
                await each.until("2 primary")
            for each in pair:
                await each.kill()
            await pair[1].begin()  # it is half of the pair, and not its coordinator
            await pair[1].until("1 waits for the primary: 1 of 2 of view")
            await pair[0].begin()
            for each in pair:
                await each.until("2 primary")
        finally:
            for each in pair:
                await each.kill()

    run(test())


def test_a_leaver_waits_for_the_view_that_it_has_decided_without_itself(tmp_path: Path) -> None:
    """The other member counts it as present there, and continues alone."""

    def record_of(name: str) -> list[tuple[str, ...]]:
        attempts = records.read(of_demo(tmp_path) / f"{name}.record", "demo", name).attempts
        return [tuple(name_and_life(each)[0] for each in view.members) for view in attempts]

    async def test() -> None:
        async with joining("a", tmp_path) as senior, AsyncExitStack() as other:
            junior = await other.enter_async_context(joining("b", tmp_path))
            await until_primary(junior)
            await senior.leave()
            await until_members(junior, 1)
            await until_primary(junior)
        assert record_of("a") == [("a", "b"), ("b",)]
        assert record_of("b") == [("b",)]
        async with joining("a", tmp_path) as senior:
            async for event in senior:
                if isinstance(event, WaitsForPrimary):
                    assert re.fullmatch("waits for the primary: 0 of 1 of view .* are here, and not b#.*", event.why)
                    break
            async with joining("b", tmp_path):
                await until_primary(senior)

    run(test())


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({}, "'a' has founded it, says "),
        ({"founds": False}, "as founds=False: it founds no group"),
        ({"founds": False, "folder": None, "peers": ["127.0.0.1:9"]}, "as founds=False: it founds no group"),
    ],
    ids=["another has founded it", "it may not", "it may not, at the places of a list"],
)
def test_a_member_that_does_not_found_the_group_says_that_it_waits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, more: dict[str, Any], why: str
) -> None:
    (of_demo(tmp_path) / "founder").write_text("a", encoding="utf-8")

    async def test() -> None:
        async with joining("b", **{"folder": tmp_path, **more}) as group, asyncio.timeout(30):
            async for event in group:
                if isinstance(event, WaitsForPrimary):
                    assert event.why == group.waits_for
                    assert event.why.startswith(f"waits for the primary, {why}")
                    break
            assert not group.primary
            assert '"waits for":"waits' in group.metrics
        assert (
            not (of_demo(tmp_path) / "b.record").exists()
            or not records.read(of_demo(tmp_path) / "b.record", "demo", "b").attempts
        )

    with caplog.at_level(logging.WARNING, logger="groupcomm_runtime"):
        run(test())
    assert any('"operation":"waits"' in each.getMessage() for each in caplog.records)


def test_founds_true_is_an_error_where_another_has_founded_the_group_and_none_for_its_founder(tmp_path: Path) -> None:
    async def test() -> None:
        for _ in range(2):  # a program that is started again, with the same arguments
            async with joining("a", tmp_path, founds=True) as group:
                await until_primary(group)
        with pytest.raises(BadInputError, match=r"founds=True.*'a' has founded it, says .*founder: start that member"):
            async with joining("b", tmp_path, founds=True):
                pass
        async with joining("a", tmp_path), joining("b", tmp_path, founds=True) as other:
            await until_primary(other)

    run(test())


def test_of_two_that_hear_nobody_one_is_primary(tmp_path: Path) -> None:
    """They begin at once, and their network is cut."""

    async def test() -> None:
        deaf = [LossySocket(), LossySocket()]
        for each in deaf:
            each.rules = evolve(CALM, loss=1.0)
        async with (
            joining("a", tmp_path, transport=lambda: deaf[0]) as one,
            joining("b", tmp_path, transport=lambda: deaf[1]) as other,
        ):
            await asyncio.sleep(1)
            assert [True, False] == [one.primary, other.primary]
            for each in deaf:
                each.rules = CALM
            await until_primary(other)
            assert one.primary

    run(test())


def test_without_majority_a_member_that_may_not_found_a_group_waits_for_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It begins again after a patience. Another member that comes before that waits for no incarnation that is over."""

    async def test() -> None:
        async def waits() -> None:
            async with joining("b", tmp_path, majority=False, founds=False) as group:
                assert len(group.members) == 2

        waiting = asyncio.create_task(waits())
        await until(lambda: "founds=False" in caplog.text)
        assert not waiting.done()
        async with asyncio.timeout(60), joining("a", tmp_path, majority=False):
            await waiting

    run(test())


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "a.record"
    assert records.NO_RECORD == records.read(file, "demo", "a")
    for record in (RECORD, Record(1)):
        records.write(file, record, "demo", "a")
        assert record == records.read(file, "demo", "a")
    assert file.stat().st_mode & 0o777 == 0o600
    assert [file] == [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda _: b"", "cut off"),
        (lambda data: data[:-1], "cut off"),
        (lambda data: data.replace(b"a#5", b"a#6"), "was changed"),
        (lambda _: records.encoded(RECORD, "other", "a"), "of 'a' in the group 'other'"),
        (lambda _: records.encoded(RECORD, "demo", "b"), "of 'b' in the group 'demo'"),
    ],
)
def test_a_broken_record_is_an_error_that_names_the_file_and_the_remedy(
    tmp_path: Path, spoil: Callable[[bytes], bytes], why: str
) -> None:
    file = of_demo(tmp_path) / "a.record"
    file.write_bytes(spoil(records.encoded(RECORD, "demo", "a")))

    async def test() -> None:
        async with groupcomm_runtime.join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST):
            pass

    with pytest.raises(BadInputError, match=rf"a\.record.*{why}.*remove it"):
        run(test())


def test_a_member_that_cannot_write_its_record_ends_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    async def test() -> None:
        async with joining("a", tmp_path) as one:
            async with joining("b", tmp_path):
                await until_members(one, 2)
                monkeypatch.setattr("groupcomm_runtime.records.os.fsync", full)
            with pytest.raises(EndedError, match=r"a\.record cannot be written: No space left"):
                await taken(one)

    run(test())


async def taken(group: Group) -> None:
    """Take all events."""
    async for _ in group:
        pass


def test_it_is_as_long_as_its_views_are_few() -> None:
    members = tuple(f"member-{number}#1795795898726004" for number in range(100))
    whole = Record(1, joined=True, attempts=tuple(View(ViewId(n, "a"), members) for n in range(100)))
    assert len(records.encoded(whole, "demo", "a")) < records.LARGEST


class Kept:
    """A holder of a state: the messages."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []

    def get(self) -> bytes:
        return b",".join(self.messages)

    def set(self, state: bytes) -> None:
        self.messages = state.split(b",") if state else []

    async def take(self, group: Group) -> None:
        async for event in group:
            if isinstance(event, Message):
                self.messages.append(event.data)


@pytest.mark.parametrize("finds", ["folder", "peers"])
def test_where_the_primary_is_lost_an_operator_declares_an_era(tmp_path: Path, finds: str) -> None:
    """The senior of a pair is lost. Without a declaration the other waits; one that comes with the former era is refused."""
    with ExitStack() as ports:
        sockets = [ports.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(3)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        places = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]

    def joins(at: int, state: Kept, **more: Any) -> AbstractAsyncContextManager[Group]:  # noqa: ANN401 - of join
        where = {"folder": tmp_path} if finds == "folder" else {"folder": None, "peers": places, "listen": places[at]}
        return joining("abc"[at], state=state, **{**where, **more})

    async def test() -> None:
        old, kept, new = Kept(), Kept(), Kept()
        async with joins(0, old, founds=True) as senior, joins(1, kept, founds=False) as junior:
            taking = [asyncio.create_task(state.take(group)) for state, group in ((old, senior), (kept, junior))]
            await until_primary(junior)
            await junior.has_state()
            await senior.send(b"known")
            senior._member.close("failed")  # noqa: SLF001 - it is lost, and says nothing
            senior.ended(EndedError("lost"))
            await until(lambda: len(junior.members) == 1 and junior.waits_for is not None)
            assert not junior.primary
        await asyncio.gather(*taking, return_exceptions=True)
        assert [b"known"] == kept.messages
        async with joins(1, kept, founds=True, era=1) as one, joins(2, new, era=1) as other:
            taking = [asyncio.create_task(state.take(group)) for state, group in ((kept, one), (new, other))]
            await until_primary(other)
            await other.has_state()
            await one.send(b"both")
            await until(lambda: [b"known", b"both"] == kept.messages == new.messages)
            with pytest.raises(BadInputError, match="era="):
                async with asyncio.timeout(20), joins(0, old, founds=finds == "peers" or None):
                    pass
        await asyncio.gather(*taking)

    run(test())


def test_in_a_later_era_a_member_founds_by_an_explicit_call_alone(tmp_path: Path) -> None:
    async def test() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(3), joining("a", tmp_path, era=1) as one:
                while not one.primary:  # noqa: ASYNC110 - as above
                    await asyncio.sleep(0.02)
                raise AssertionError("it has founded a group")

    run(test())
