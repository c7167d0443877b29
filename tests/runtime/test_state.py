"""State transfer over sockets of which the network is cut: no state is lost, and no message is in it twice."""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import groupcomm_runtime
from groupcomm import state_transfer
from groupcomm.events import Deliver
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.replaying import replayed
from groupcomm_field.torture.network import CALM, LossySocket
from groupcomm_runtime import BadInputError, EndedError, Group, Message, NoState, Settings, StateDropped
from tests.runtime.conversing import FAST, KEY, run, until


class CountingSocket(LossySocket):
    """A socket that counts the bytes that it sends."""

    octets = 0

    def sendto(self, data: bytes, place: Any) -> int:  # type: ignore[override]  # noqa: ANN401 - of the system
        """Send a datagram."""
        self.octets += len(data)
        return super().sendto(data, place)


class Member:
    """A member whose state is the messages that it has taken, in their order. `takes`: its application runs."""

    def __init__(self, name: str) -> None:
        self.name, self.socket, self.state = name, CountingSocket(), list[str]()
        self.fails: list[Callable[[], Any]] = []
        self.lacks: list[NoState] = []
        self.dropped: list[StateDropped] = []
        self.takes = asyncio.Event()
        self.takes.set()
        self.exit = AsyncExitStack()
        self.group: Group
        self.task: asyncio.Task[None]

    def get(self) -> Any:  # noqa: ANN401 - also what is no state
        return self.fails.pop(0)() if self.fails else json.dumps(self.state).encode()

    def set(self, state: bytes) -> None:
        self.state = json.loads(state)

    async def join(self, folder: Path, *, majority: bool = False, settings: Settings = FAST) -> None:
        self.group = await self.exit.enter_async_context(
            groupcomm_runtime.join(
                "demo",
                name=self.name,
                key=KEY,
                folder=folder / "members",
                log=folder / "logs",
                settings=settings,
                state=self,
                majority=majority,
                transport=lambda: self.socket,
            )
        )
        self.task = asyncio.create_task(self._take())

    async def _take(self) -> None:
        while True:
            await self.takes.wait()
            try:
                event = await anext(self.group)
            except StopAsyncIteration:
                return
            match event:
                case Message(_, data):
                    self.state.append(data.decode())
                case NoState():
                    self.lacks.append(event)
                case StateDropped():
                    self.dropped.append(event)
                case _:
                    pass

    async def leave(self) -> None:
        await self.exit.aclose()
        await self.task

    def deaf(self, *others: "Member") -> None:
        """It hears no datagram of these, and of all others."""
        self.socket.rules = evolve(CALM, deaf=frozenset(other.group.place for other in others))

    def sees(self, *others: "Member") -> bool:
        return {*self.group.members} == {other.group.address for other in others}

    async def has_state(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self.group.has_state(), seconds)
        except TimeoutError:
            return False
        return True


def told(caplog: pytest.LogCaptureFixture, operation: str, name: str) -> list[str]:
    """Why these records of a member's log are there."""
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    return [
        line.get("why") or line.get("error")
        for line in lines
        if line["operation"] == operation and line["address"].startswith(name)
    ]


def test_a_message_in_the_state_of_a_joiner_is_not_applied_again_when_its_sender_is_back(tmp_path: Path) -> None:
    """A sends x and does not hear that B has delivered it; C joins B, which is the primary; A sends x again."""

    async def test() -> None:
        a, b, c = Member("a"), Member("b"), Member("c")
        await b.join(tmp_path, majority=True)
        await a.join(tmp_path, majority=True)
        await until(lambda: b.sees(b, a) and a.sees(b, a) and a.group.primary)
        await b.group.send(b"first")
        await until(lambda: a.state == ["first"])
        a.deaf(b)
        x = asyncio.create_task(a.group.send(b"x"))
        await until(lambda: b.state == ["first", "x"])
        b.deaf(a)
        await until(lambda: b.sees(b) and b.group.primary)
        await c.join(tmp_path, majority=True)
        c.deaf(a)
        await until(lambda: b.sees(b, c) and c.sees(b, c))
        assert await c.has_state(30)
        assert ["first", "x"] == c.state
        assert ["first"] == a.state, "it has not heard of its message"
        for each in (a, b, c):
            each.deaf()
        await until(lambda: all(each.sees(a, b, c) and each.group.primary for each in (a, b, c)))
        await x
        await b.group.send(b"next")
        await b.group.send(b"last")
        await until(lambda: all("last" in each.state for each in (a, b, c)))
        assert ["first", "x", "next", "last"] == a.state == b.state == c.state
        for each in (c, a, b):
            await each.leave()

    run(test())
    lives = [replayed(path, path.read_bytes()) for path in sorted((tmp_path / "logs").iterdir())]
    assert 3 == len(lives)
    assert [] == judge(lives).rejected, "B has delivered x before, and A and C later"
    for life in lives:  # in another order, which no protocol gives
        delivers = [at for at, step in enumerate(life.steps) if any(isinstance(each, Deliver) for each in step.ordered)]
        one, other = (life.steps[at] for at in delivers[-2:])
        forged = evolve(life, steps=[*life.steps])
        for at, step, ordered in zip(delivers[-2:], (one, other), (other.ordered, one.ordered), strict=True):
            forged.steps[at] = evolve(step, ordered=ordered)
        rejected = judge([forged if each is life else each for each in lives]).rejected
        assert any("in another order" in str(each) for each in rejected)


@pytest.mark.parametrize("names", ["az", "za"])
def test_a_joiner_that_is_cut_off_before_it_has_the_state_does_not_begin_another(
    tmp_path: Path, names: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whichever name is the greater: of two states that one member has each the creator of the view decides."""

    async def test() -> None:
        holder, joiner = map(Member, names)
        await holder.join(tmp_path)
        await holder.group.send(b"precious")
        await until(lambda: holder.state == ["precious"])
        holder.takes.clear()
        await joiner.join(tmp_path)
        await until(lambda: holder.sees(holder, joiner) and joiner.sees(holder, joiner))
        holder.deaf(joiner)
        joiner.deaf(holder)
        await until(lambda: holder.sees(holder) and joiner.sees(joiner))
        assert not await joiner.has_state(0.3), "it has none, and does not say that it has"
        holder.takes.set()
        holder.deaf()
        joiner.deaf()
        await until(lambda: holder.sees(holder, joiner) and joiner.sees(holder, joiner))
        assert await joiner.has_state(30)
        assert ["precious"] == joiner.state == holder.state
        await joiner.leave()
        await holder.leave()

    with caplog.at_level(logging.WARNING, logger="groupcomm_runtime"):
        run(test())
    assert {"no member of the view gives it"} == {*told(caplog, "no state yet", names[1])}


def test_where_all_that_had_the_state_are_gone_no_member_has_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Two joiners are left, and wait; a member that founds a group begins with its own state."""

    async def test() -> None:
        holder, one, other = map(Member, "abc")
        await holder.join(tmp_path)
        await holder.group.send(b"precious")
        holder.takes.clear()
        await one.join(tmp_path)
        await other.join(tmp_path)
        await until(lambda: all(each.sees(holder, one, other) for each in (holder, one, other)))
        holder.deaf(one, other)
        one.deaf(holder)
        other.deaf(holder)
        await until(lambda: one.sees(one, other) and other.sees(one, other))
        assert not await one.has_state(0.3)
        assert not await other.has_state(0.3)
        for each in (one, other):
            await each.leave()
        with pytest.raises(EndedError):
            await one.group.has_state()
        holder.takes.set()
        await holder.leave()

        again = Member("b")
        await again.join(tmp_path)
        assert await again.has_state(30)
        await again.leave()

    with caplog.at_level(logging.WARNING, logger="groupcomm_runtime"):
        run(test())
    assert "no member of the view gives it" in told(caplog, "no state yet", "b")


def _raises() -> bytes:
    raise OSError("the disk is busy")


def _fails_half_way() -> Iterator[bytes]:
    yield bytes(999)
    raise OSError("the disk is gone")


@pytest.mark.parametrize(
    ("fails", "text"),
    [
        (_raises, "the disk is busy"),
        (_fails_half_way, "the disk is gone"),
        (lambda: bytes(1_001), "a state of more than 1000 bytes"),
        (lambda: repeat(b"x"), "a state of more than 1000 bytes"),
        (lambda: None, "that is a NoneType"),
        (lambda: iter("text"), "a piece that is a str"),
    ],
    ids=["raises", "raises later", "too large", "without end", "none", "text"],
)
@pytest.mark.parametrize("holders", [1, 2])
def test_a_provider_that_fails_stays_and_the_next_provides_or_the_same_again(
    tmp_path: Path, *, caplog: pytest.LogCaptureFixture, holders: int, fails: Callable[[], Any], text: str
) -> None:
    """The only holder is asked again. Of two, the first fails always."""
    settings = evolve(FAST, largest_state=1_000)

    async def test() -> None:
        old = [Member(name) for name in "ab"[:holders]]
        joiner = Member("j")
        for each in old:
            await each.join(tmp_path, settings=settings)
            assert await each.has_state(30)
        await old[0].group.send(b"precious")
        await until(lambda: all(each.state == ["precious"] for each in old))
        old[0].fails = [fails] * (1 if holders == 1 else 99)
        await joiner.join(tmp_path, settings=settings)
        assert await joiner.has_state(30)
        assert all(each.state == ["precious"] for each in [*old, joiner])
        assert len(old[0].fails) in {0, 98}, "it was asked once"
        await old[0].group.send(b"more")
        await until(lambda: all(each.state == ["precious", "more"] for each in [*old, joiner]))
        assert bool(joiner.lacks) == (holders == 1), "the application is told where no member gives it"
        for each in [joiner, *old]:
            await each.leave()

    with caplog.at_level(logging.WARNING, logger="groupcomm_runtime"):
        run(test())
    (error,) = told(caplog, "no state given", "a")
    assert text in error
    assert ["no member of the view gives it"] * (holders == 1) == told(caplog, "no state yet", "j")


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_a_rolling_restart_with_majority_stops_nobody_and_loses_nothing(tmp_path: Path, names: str) -> None:
    """The senior leaves in good order: the others deliver without it, also where it is half of a pair."""

    async def test() -> None:
        members, sent = [Member(name) for name in names], list[str]()

        async def sends() -> None:
            sent.append(f"{len(sent)}")
            async with asyncio.timeout(30):
                await members[-1].group.send(sent[-1].encode())
            await until(lambda: all(each.state == sent for each in members))

        for each in members:
            await each.join(tmp_path, majority=True)
            assert await each.has_state(30)
        await until(lambda: all(each.sees(*members) and each.group.primary for each in members))
        await sends()
        for name in names:
            assert members[0].name == name, "it is the senior"
            await members.pop(0).leave()
            await sends()
            members.append(Member(name))
            await members[-1].join(tmp_path, majority=True)
            assert await members[-1].has_state(30)
            await sends()
        for each in [*members]:
            await each.leave()

    run(test())
    lives = [replayed(path, path.read_bytes()) for path in sorted((tmp_path / "logs").iterdir())]
    assert 2 * len(names) == len(lives)
    judged = judge(lives)
    assert [] == judged.rejected
    assert judged.counts["formed views in a line"]


def _slow(seconds: float, state: list[str], ended: asyncio.Event) -> Callable[[], bytes]:
    def get() -> bytes:
        time.sleep(seconds)
        ended.set()
        return json.dumps(state).encode()

    return get


class Streamed(Member):
    """A member that takes the state over in parts, and has their sizes."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.sizes: list[int] = []

    def set_parts(self, parts: Iterator[bytes]) -> None:
        whole = bytearray()
        for part in parts:
            self.sizes.append(len(part))
            whole += part
        self.state = json.loads(bytes(whole))


def test_a_state_is_taken_over_in_parts_and_the_tables_say_how_much_has_come(tmp_path: Path) -> None:
    """A state of 20 MiB: more than stays in memory."""
    size = 20 << 20

    async def test() -> None:
        holder, joiner = Member("a"), Streamed("j")
        await holder.join(tmp_path / "one")
        holder.state = ["x" * size]
        await joiner.join(tmp_path / "one")
        came = [0]
        while len(joiner.state) == 0:
            came.append(joiner.group.tables["bytes of a coming state"])
            await asyncio.sleep(0.02)
        assert ["x" * size] == joiner.state
        assert size < sum(joiner.sizes) < size + 10
        assert 65_024 == max(joiner.sizes), "a part of a message"
        assert 3 < len({*came}), "it rises"
        assert sorted(came[: came.index(max(came))]) == came[: came.index(max(came))], "until it is whole"
        assert await joiner.has_state(30)
        assert 0 == joiner.group.tables["bytes of a coming state"]
        for each in (joiner, holder):
            await each.leave()

    run(test())


@pytest.mark.parametrize("most", [200_000, 64 << 20], ids=["bounded", "without the bound"])
def test_messages_that_wait_for_a_state_are_bounded_in_bytes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, most: int
) -> None:
    """With as many bytes the joiner takes no more. Without the bound it holds all that is sent, 4 MB."""
    bounded = most == 200_000

    async def test() -> None:
        holder, joiner = Member("a"), Member("j")
        settings = evolve(FAST, held_bytes=most, unstable_bytes=1 << 20)
        await holder.join(tmp_path, settings=settings)
        go = threading.Event()
        holder.fails = [lambda: go.wait(60) and json.dumps([]).encode()]
        await joiner.join(tmp_path, settings=settings)
        await until(lambda: not holder.fails)
        many = [f"{number:05}" * 4_000 for number in range(200)]
        sends = [asyncio.create_task(holder.group.send(each.encode())) for each in many]

        def transfer() -> state_transfer.State:
            mine = joiner.group._member._transfer  # noqa: SLF001 - what it holds
            assert mine is not None
            return mine

        await until(lambda: all(each.done() for each in sends))
        if bounded:
            await until(lambda: transfer().full)
            await asyncio.sleep(1)  # no more comes
            assert most <= transfer().bytes < most + settings.unstable_bytes, "what was on its way"
        else:
            await until(lambda: transfer().bytes > 200 * 20_000)
        go.set()
        assert await joiner.has_state(30)
        await asyncio.wait_for(asyncio.gather(*sends), 30)
        await until(lambda: many == joiner.state == holder.state)
        for each in (joiner, holder):
            await each.leave()

    with caplog.at_level(logging.WARNING, logger="groupcomm_runtime"):
        run(test())
    assert ("held" in {json.loads(each.getMessage())["operation"] for each in caplog.records}) == bounded


def test_a_slow_provider_is_suspected_by_nobody_and_messages_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`get` takes five times the patience, beside the loop."""

    async def test() -> None:
        holder, other, joiner = map(Member, "abj")
        await holder.join(tmp_path)
        await other.join(tmp_path)
        assert await other.has_state(30)
        await other.group.send(b"before")
        await until(lambda: holder.state == ["before"])
        ended = asyncio.Event()
        holder.fails = [_slow(5 * FAST.patience, ["before"], ended)]
        await joiner.join(tmp_path)
        await until(lambda: not holder.fails)
        await other.group.send(b"meanwhile")
        assert not ended.is_set(), "`get` still runs"
        assert other.state == ["before", "meanwhile"]
        assert await joiner.has_state(30)
        await until(lambda: all(each.state == ["before", "meanwhile"] for each in (holder, other, joiner)))
        for each in (joiner, other, holder):
            await each.leave()

    with caplog.at_level(logging.WARNING, logger="groupcomm_runtime"):
        run(test())
    assert [] == [record for record in caplog.records if "suspects" in record.getMessage()]


def test_where_no_member_has_the_state_an_application_declares_one(tmp_path: Path) -> None:
    """It loses against the state of a member that comes back."""

    async def test() -> None:
        holder, one, other = map(Member, "abc")
        await holder.join(tmp_path)
        await holder.group.send(b"precious")
        with pytest.raises(BadInputError, match="this member has the state"):
            holder.group.declare_state()
        holder.takes.clear()
        await one.join(tmp_path)
        await other.join(tmp_path)
        await until(lambda: all(each.sees(holder, one, other) for each in (holder, one, other)))
        holder.deaf(one, other)
        one.deaf(holder)
        other.deaf(holder)
        await until(lambda: one.sees(one, other) and other.sees(one, other))
        await until(lambda: bool(one.lacks))
        one.state = ["declared"]
        one.group.declare_state()
        assert await one.has_state(30)
        assert await other.has_state(30)
        assert ["declared"] == one.state == other.state
        holder.takes.set()
        for each in (holder, one, other):
            each.deaf()
        await until(lambda: all(each.sees(holder, one, other) for each in (holder, one, other)))
        await until(lambda: ["precious"] == one.state == other.state == holder.state)
        assert one.dropped
        for each in (one, other, holder):
            await each.leave()

    run(test())


def test_a_member_that_took_its_state_for_old_hears_that_it_is_kept(tmp_path: Path) -> None:
    """The decision after its declaration keeps what it had."""

    async def test() -> None:
        one, other = Member("a"), Member("b")
        await one.join(tmp_path)
        await other.join(tmp_path)
        assert await other.has_state(30)
        member = other.group._member  # noqa: SLF001 - its state is made old
        mine = member._transfer  # noqa: SLF001
        assert mine is not None
        sent = asyncio.create_task(other.group.send(b"waits"))
        await asyncio.sleep(0)
        old = evolve(mine, vacant=True, settled=False, name=(mine.view.id,))
        member._state = member._stack.put(state_transfer, member._state, old)  # noqa: SLF001
        member._transfers(state_transfer.NoState())  # noqa: SLF001
        assert not await other.has_state(0.2)
        other.group.declare_state()
        assert await other.has_state(10)
        await asyncio.wait_for(sent, 10)
        await until(lambda: ["waits"] == one.state == other.state)
        for each in (one, other):
            await each.leave()

    run(test())


def test_a_state_comes_once_whatever_views_and_members_there_are(tmp_path: Path) -> None:
    """A state of 4 MiB: five members, and a sixth comes and goes all the time."""
    size = 4 << 20

    async def test() -> None:
        members = [Member(name) for name in "abcde"]
        for each in members[:4]:
            await each.join(tmp_path / "one")
            assert await each.has_state(30)
        members[0].fails = [lambda: json.dumps(["x" * size]).encode()]
        before = [each.socket.octets for each in members]
        await members[4].join(tmp_path / "one")
        assert await members[4].has_state(30)
        wire = sum(each.socket.octets for each in members) - sum(before)
        assert size < wire < 1.2 * size
        assert ["x" * size] == members[4].state
        for each in members[::-1]:
            await each.leave()

    run(test())


def test_a_joiner_gets_the_state_while_another_member_comes_and_goes_each_second(tmp_path: Path) -> None:
    async def test() -> None:
        holder, joiner = Member("a"), Member("j")
        await holder.join(tmp_path)
        calls = [0]

        def large() -> bytes:
            calls[0] += 1
            return json.dumps(["x" * (8 << 20)]).encode()

        holder.fails = [large] * 99

        async def churns() -> None:
            while True:
                other = Member("c")
                await other.join(tmp_path)
                await asyncio.sleep(0.5)
                await other.leave()
                await asyncio.sleep(0.5)

        churn = asyncio.create_task(churns())
        await asyncio.sleep(0.2)
        await joiner.join(tmp_path)
        assert await joiner.has_state(20)
        assert calls[0] < 20
        churn.cancel()
        await asyncio.wait({churn})
        await joiner.leave()
        await holder.leave()

    run(test())


def test_a_member_without_a_state_is_a_stranger_to_members_with_one(tmp_path: Path) -> None:
    async def test() -> None:
        holder = Member("a")
        await holder.join(tmp_path)
        with pytest.raises(BadInputError, match="another majority=, safe=, state=, encrypted= or era=: give the same"):
            async with groupcomm_runtime.join("demo", name="b", key=KEY, folder=tmp_path / "members", settings=FAST):
                pass
        await holder.leave()

    run(test())


def test_an_incarnation_that_waited_for_a_state_is_not_followed_by_one_that_founds_a_group(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The joiner is refused before it has the state, and the holder is gone: it has none to found a group with."""

    async def test() -> None:
        holder, joiner = Member("a"), Member("j")
        await holder.join(tmp_path)
        holder.takes.clear()
        await joiner.join(tmp_path)
        await until(lambda: holder.sees(holder, joiner))
        first = joiner.group.address
        holder.deaf(joiner)
        joiner.deaf(holder)
        joiner.group._member.close("failed")  # noqa: SLF001 - as if it was refused
        joiner.group.ended(None)
        assert first != joiner.group.address
        await until(lambda: bool(joiner.lacks))
        assert () == joiner.group.members
        holder.takes.set()
        holder.deaf()
        joiner.deaf()
        assert await joiner.has_state(60)
        assert joiner.sees(holder, joiner)
        for each in (joiner, holder):
            await each.leave()

    with caplog.at_level(logging.WARNING, logger="groupcomm_runtime"):
        run(test())
    assert any("it founds no group" in why for why in told(caplog, "no state yet", "j"))
