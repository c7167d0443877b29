"""When a member may send, by the rule of spec/note_flow; and how much a group keeps that sends without end."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Final, cast

import pytest
from attrs import define, field

import groupcomm_runtime
from groupcomm import nakack
from groupcomm.events import Payload
from groupcomm.view import View, ViewId
from groupcomm_runtime import Settings, group
from groupcomm_runtime.flow import Flow
from tests.runtime.conversing import KEY, messages, run

ORIGIN: Final = "A"
MUCH: Final = 1 << 20


def keeping(purged: int, delivered: int, *, size: int = 1, view: int = 1) -> nakack.State:
    """NAKACK's state, as far as the rule reads it: of one origin all up to `delivered` are kept from `purged` on."""
    window = SimpleNamespace(purged=purged, delivered=delivered, kept=(Payload(bytes(size)),) * (delivered - purged))
    of_view = View(ViewId(view, ORIGIN), (ORIGIN, "B"))
    return cast("nakack.State", SimpleNamespace(view=of_view, windows={ORIGIN: window}))


def test_a_message_begins_while_fewer_are_kept() -> None:
    flow = Flow(2, MUCH)
    assert [flow.may_send(keeping(0, delivered)) for delivered in range(4)] == [True, True, False, False]
    assert flow.may_send(keeping(3, 4))
    assert not flow.may_send(keeping(3, 5))
    assert flow.may_send(keeping(0, 0, view=2)), "nothing is kept of the view before"


def test_a_message_begins_while_fewer_bytes_are_kept() -> None:
    flow = Flow(100, 20)
    assert [flow.may_send(keeping(0, delivered, size=10)) for delivered in range(4)] == [True, True, False, False]
    assert flow.may_send(keeping(2, 3, size=10))


def test_a_message_that_waits_begins_when_all_is_purged_that_was_kept() -> None:
    """FLAW-247. Room alone would never do: each time that one is purged the next is there (`without_in_turn_live`)."""
    flow = Flow(1, MUCH)
    assert not flow.may_send(keeping(0, 2))
    assert not flow.begins(), "none has waited"
    flow.waits(keeping(0, 2))
    flow.waits(keeping(0, 3))  # a second one that waits, behind the first
    assert not flow.may_send(keeping(1, 3))
    assert flow.may_send(keeping(2, 4))
    assert flow.begins()
    assert not flow.may_send(keeping(2, 4)), "one message, and not all that wait"


@define
class Sender:
    """A member of the specification's group: its rule is the runtime's."""

    name: int
    flow: Flow
    flying: int = 0
    own: int = 0
    at: int = 0
    heard: int = 0
    vote: int = 0
    waits: bool = False
    begun: int = 0

    @property
    def state(self) -> nakack.State:
        return keeping(self.heard, self.at)

    def tries(self, window: int) -> None:
        if not self.waits:
            if self.own == window:
                return
            self.own += 1
        if self.flow.may_send(self.state):
            self.flow.begins()
            self.waits = False
            self.flying += 1
            self.begun += 1
        else:
            self.waits = True
            self.flow.waits(self.state)


@define
class Senders:
    """`NoteFlowGroup`: one order of all messages, votes that are fixed when the last announcement is heard."""

    members: list[Sender]
    window: int
    log: list[int] = field(factory=list)
    announced: int = 0
    news: set[int] = field(factory=set)

    def step(self, what: str, member: Sender) -> None:
        match what:
            case "send":
                member.tries(self.window)
            case "order" if member.flying:
                member.flying -= 1
                self.log.append(member.name)
            case "deliver" if member.at < len(self.log):
                member.own -= self.log[member.at] == member.name
                member.at += 1
            case "announce":
                self.announced = min(each.vote for each in self.members)
                self.news = {each.name for each in self.members}
            case "hear" if member.name in self.news:
                self.news.discard(member.name)
                member.heard, member.vote = self.announced, member.at


@pytest.mark.parametrize(("count", "window", "room"), [(2, 1, 1), (3, 1, 1), (3, 2, 2), (5, 3, 4), (4, 8, 2)])
def test_no_member_keeps_more_than_the_bound(count: int, window: int, room: int) -> None:
    """ACK-04: `Bound` of spec/note_flow, in schedules beyond the models; and members that hear late."""
    most = 2 * (room - 1) + (2 * count - 1) * window
    reached = 0
    for seed in range(30):
        random = Random(seed)  # noqa: S311 - the schedule
        members = [Sender(name, Flow(room, MUCH)) for name in range(count)]
        senders, late = Senders(members, window), random.choice(members)
        for _ in range(2_000):
            what = random.choices(("send", "order", "deliver", "announce", "hear"), (3, 4, 6, 1, 2))[0]
            member = random.choice(members)
            if what != "hear" or member is not late or random.random() < 0.05:
                senders.step(what, member)
            reached = max(reached, *(each.at - each.heard for each in members))
    assert room + window <= reached <= most


def test_a_sender_that_hears_late_each_time_begins_in_its_turn() -> None:
    """ACK-22: the lasso of `without_in_turn_live`: each time before B hears, a message of A is there."""
    a, b = Sender(0, Flow(1, MUCH)), Sender(1, Flow(1, MUCH))
    senders = Senders([a, b], 1)

    def step(*steps: tuple[str, Sender]) -> None:
        for what, member in steps:
            senders.step(what, member)

    step(("send", a), ("order", a), ("deliver", a), ("deliver", b), ("send", b))
    assert b.waits
    for _ in range(4):
        step(("announce", a), ("hear", a), ("send", a), ("order", a), ("deliver", a), ("deliver", b), ("hear", b))
        step(("send", b))
    assert b.begun
    assert a.begun > b.begun


def test_a_group_that_sends_without_end_keeps_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ACK-04, ACK-22: three members, all of which send at once; each sends all that it has."""
    members, count, window, room = 3, 40, 2, 3
    monkeypatch.setattr(group, "_WINDOW", window)
    monkeypatch.setattr(group, "_DATAGRAMS", 0)  # a multicast for each message
    settings = Settings(patience=10.0, unstable=room, datagram=1024)
    most = 0

    async def sends(each: groupcomm_runtime.Group) -> None:
        await asyncio.gather(*(each.send(b"x" * 1_000) for _ in range(count)))

    async def watches(groups: list[groupcomm_runtime.Group]) -> None:
        nonlocal most
        while True:
            most = max(most, *(each.tables["unstable"] for each in groups))
            await asyncio.sleep(0)

    async def test() -> None:
        async with AsyncExitStack() as stack:
            groups = [
                await stack.enter_async_context(
                    groupcomm_runtime.join("demo", name=name, key=KEY, folder=tmp_path, settings=settings)
                )
                for name in "abc"
            ]
            watching = asyncio.create_task(watches(groups))
            sending = [asyncio.create_task(sends(each)) for each in groups]
            await asyncio.gather(*(messages(each, members * count) for each in groups))
            await asyncio.gather(*sending)
            watching.cancel()

    run(test())
    assert room <= most <= 2 * (room - 1) + (2 * members - 1) * window
