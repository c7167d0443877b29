"""A group with `majority`, over sockets of which the network is cut: of two parts one delivers."""

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from attrs import evolve

import groupcomm_runtime
from groupcomm import state_transfer
from groupcomm.effects import Multicast
from groupcomm.events import Deliver, MergeViewInstalled, Payload, ViewFormed, ViewInstalled
from groupcomm.view import View, ViewId
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.replaying import Life, Step, replayed
from groupcomm_field.torture.network import CALM, LossySocket
from groupcomm_runtime import Event, Group, Message, NewView, Primary, Settings
from groupcomm_runtime.layers import configs
from tests.runtime.conversing import KEY, until

FAST = Settings(heartbeat=0.1, patience=1.5)


class Cut:
    """Five members whose network can be cut between them, and what each has delivered."""

    def __init__(self, folder: Path, *, majority: bool, safe: bool = False) -> None:
        self.folder, self.majority, self.safe = folder, majority, safe
        self.sockets: list[LossySocket] = []
        self.groups: list[Group] = []
        self.events: list[list[Event]] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def joins(self, stack: AsyncExitStack, name: str) -> None:
        sock = LossySocket()
        group = await stack.enter_async_context(
            groupcomm_runtime.join(
                "demo",
                name=name,
                key=KEY,
                folder=self.folder / "members",
                log=self.folder / "logs",
                settings=FAST,
                majority=self.majority,
                safe=self.safe,
                transport=lambda: sock,
            )
        )
        had: list[Event] = []

        async def takes() -> None:
            async for event in group:
                had.append(event)  # noqa: PERF401 - others read it meanwhile

        self.sockets.append(sock)
        self.groups.append(group)
        self.events.append(had)
        self.tasks.append(asyncio.create_task(takes()))

    def into(self, *parts: list[int]) -> None:
        """Cut the network: each part hears itself alone."""
        for part in parts:
            deaf = {self.groups[other].place for other in range(len(self.groups)) if other not in part}
            for member in part:
                self.sockets[member].rules = evolve(CALM, deaf=frozenset(deaf))

    def delivered(self, member: int) -> list[bytes]:
        return [event.data for event in self.events[member] if isinstance(event, Message)]

    def are(self, members: list[int], *, primary: bool) -> bool:
        """They are in one view of these members."""
        own = {self.groups[member].address for member in members}
        return all(
            {*self.groups[member].members} == own and self.groups[member].primary == primary for member in members
        )


@pytest.mark.parametrize("majority", [True, False])
def test_of_three_and_two_members_the_three_deliver_alone_and_the_two_when_they_are_back(
    tmp_path: Path, *, majority: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Without the option both deliver. The coordinator of all is among the two."""
    few, most, everybody = [0, 1], [2, 3, 4], [*range(5)]

    async def test() -> None:
        cut = Cut(tmp_path, majority=majority)
        async with AsyncExitStack() as stack:
            for name in "abcde":
                await cut.joins(stack, name)
            await until(lambda: cut.are(everybody, primary=True))
            await cut.groups[1].send(b"before")
            await until(lambda: all(cut.delivered(member) == [b"before"] for member in everybody))

            cut.into(few, most)
            await until(lambda: cut.are(most, primary=True) and cut.are(few, primary=not majority))
            waits = asyncio.create_task(cut.groups[0].send(b"few"))
            await cut.groups[2].send(b"most")
            await until(lambda: all(cut.delivered(member) == [b"before", b"most"] for member in most))
            await asyncio.sleep(1)
            assert waits.done() != majority
            assert [b"before", *([] if majority else [b"few"])] == cut.delivered(1)

            cut.into(everybody)
            await until(lambda: cut.are(everybody, primary=True))
            await waits
            await cut.groups[3].send(b"after")
            await until(lambda: all(b"after" in cut.delivered(member) for member in everybody))
            both = [b"most", b"few"] if majority else [b"most"]
            for member in most:
                assert [b"before", *both, b"after"] == cut.delivered(member)
            for member in few:
                assert [b"before", b"few", b"after"] == cut.delivered(member)
            for had in cut.events:
                views = [event.id for event in had if isinstance(event, NewView)]
                formed = [event.view for event in had if isinstance(event, Primary)]
                assert formed == [each for each in views if each in formed], "after its view, once"
                assert bool(formed) == majority
            assert cut.groups[0].primary
        await asyncio.gather(*cut.tasks)

    with caplog.at_level(logging.INFO, logger="groupcomm_runtime"):
        asyncio.run(test())
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    assert {"view", "suspects", "ended"} | ({"primary", "waits"} if majority else set()) == {
        line["operation"] for line in lines if line["operation"] != "dropped"
    }
    assert all(line["group"] == "demo" and "#" in line["address"] for line in lines)
    suspected = {line["suspect"][0] for line in lines if line["operation"] == "suspects"}
    assert {"a", "b", "c", "d", "e"} == suspected
    lives = [replayed(path, path.read_bytes()) for path in sorted((tmp_path / "logs").iterdir())]
    assert len(everybody) == len(lives)
    assert all(life.configs["sequencer"].majority == majority for life in lives)
    judged = judge(lives)
    assert [] == judged.rejected
    assert (18 if majority else 15) == judged.counts["deliveries"]
    assert bool(judged.counts["formed views in a line"]) == majority
    if not majority:
        for life in lives:  # both parts have delivered: with the option that is rejected
            life.configs["sequencer"] = evolve(life.configs["sequencer"], majority=True)
        (told,) = judge(lives).rejected
        assert "of which neither comes before the other" in str(told)


def test_views_on_one_path_go_on_from_records_and_counters_may_begin_anew() -> None:
    """A pair is killed; each begins again with its record, and the pair delivers in a view with an old counter."""
    pair, again = View(ViewId(9, "a#1"), ("a#1", "b#1")), View(ViewId(2, "a#2"), ("a#2", "b#2"))

    def life(member: str, record: Sequence[View], view: View) -> Life:
        restored = "restored", [[each.id.counter, each.id.creator, [*each.members]] for each in record]
        steps = [Step(2, "restored", restored, (), (), ())] * bool(record)
        ordered = ViewInstalled(view), Deliver("c", Payload(b"%d" % view.id.counter))
        steps.append(Step(3, "application", ("returned",), (), (), ordered))
        return Life(member, member, "demo", configs(evolve(FAST, majority=True)), "", steps)

    former = [life("a#1", (), pair), life("b#1", (), pair)]
    assert [] == judge([*former, life("a#2", (pair,), again), life("b#2", (pair,), again)]).rejected
    (told,) = judge([*former, life("a#2", (), again), life("b#2", (), again)]).rejected
    assert "of which neither comes before the other" in str(told)
    (told,) = judge([*former, life("a#2", (pair, again, pair), again)]).rejected
    assert "comes before itself, by their records" in str(told)


def test_a_member_without_the_option_is_a_stranger(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST, majority=True):
            with pytest.raises(
                groupcomm_runtime.BadInputError,
                match="another majority=, safe=, state=, encrypted= or era=: give the same",
            ):
                async with join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST):
                    pass

    asyncio.run(test())


def test_the_option_is_in_the_configuration_that_a_log_has() -> None:
    assert configs(evolve(FAST, majority=True))["sequencer"].majority
    assert not configs(FAST)["sequencer"].majority


def test_the_state_of_the_latest_formed_view_is_kept_though_fewer_have_it() -> None:
    """A was in a formed view alone; B and C come back with the state of the view before."""
    members = {name: state_transfer.start(name) for name in "abc"}
    said: list[tuple[str, state_transfer.Tell]] = []

    def take(name: str, event: state_transfer.Event) -> None:
        members[name], effects = state_transfer.step(state_transfer.Config(2, 8, 8, 1_000), members[name], event)
        casts = [effect.message for effect in effects if isinstance(effect, Multicast)]
        said.extend((name, each) for each in casts if isinstance(each, state_transfer.Tell))

    first, alone, others = ViewId(1, "a"), ViewId(2, "a"), ViewId(2, "b")
    for name in "abc":
        members[name] = evolve(members[name], has=True)
        take(name, ViewInstalled(View(first, ("a", "b", "c"))))
        take(name, ViewFormed(first, 0))
        view = View(alone, ("a",)) if name == "a" else View(others, ("b", "c"))
        take(name, ViewInstalled(view))
    take("a", ViewFormed(alone, 1))
    for name in "abc":
        merged = View(ViewId(3, "a"), ("a", "b", "c"))
        take(name, MergeViewInstalled(merged, frozenset({alone, others})))
    for sender, message in tuple(said):
        for name in "abc":
            take(name, state_transfer.TellReceived(sender, message))
    assert [True, False, False] == [each.has for each in members.values()]
