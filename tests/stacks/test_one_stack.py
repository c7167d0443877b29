"""The whole stack as one core: SEQUENCER, FLUSH, merging over GMS, STABLE and windows, over a plain network."""

from collections import deque
from typing import Any

import pytest

from groupcomm import flush, gms, merge_gms, sequencer, stable
from groupcomm.effects import ALL, Datagram, Multicast, PassDown, PassUp, Send, SetTimer
from groupcomm.events import Block, Deliver, GroupStopped, Payload, Resume, Suspected, Suspend, Unblock, ViewInstalled
from groupcomm.stack import AnyCore, Arrived, Called, Fired, Layer, Raised, Stack
from groupcomm.view import Address
from groupcomm_simulator.abstract import reliable_multicast

GROUND = ("ReliableUnicast", "Network", "FailureDetector", "SilenceDetector", "Incarnations", "Discovery")
GMS = (Layer.of(gms, gms.Config(max_bundle=3)),)
MERGE_GMS = (Layer.of(merge_gms, merge_gms.Config(1000, 3000, 500, 900, max_bundle=3)),)


def stack_of(views: tuple[Layer, ...], core: AnyCore = reliable_multicast) -> Stack:
    return Stack(
        (
            Layer.of(sequencer, sequencer.Config()),
            Layer.of(flush, flush.Config()),
            *views,
            Layer.of(stable, stable.Config(max_bytes=0, stable_interval=1000, stability_delay=0)),
            Layer.of(core, reliable_multicast.Config(), declared_by=reliable_multicast),
        ),
        GROUND,
    )


class Member:
    """One process: a stack, and the effects that it passed to the application and the layers beneath."""

    def __init__(self, address: Address, network: "Network") -> None:
        self.address, self.network = address, network
        self.stack = stack_of(network.views)
        self.state = self.stack.start(address)
        self.timers: set[str] = set()
        self.delivered: list[tuple[Address, object]] = []
        self.views: list[tuple[Address, ...]] = []
        self.stopped_for: list[str] = []
        self.unblocked = 0

    def does(self, event: Any) -> None:  # noqa: ANN401 - of a stack
        """A step, and what it asks of the network and of the application."""
        self.state, effects = self.stack.step(None, self.state, event)
        for effect in effects:
            match effect:
                case Send(to, message) | Datagram(to, message):
                    for receiver in self.network.members if to == ALL else (to,):
                        self.network.queue.append((receiver, Arrived(self.address, message)))
                case PassUp(Deliver(sender, payload)):
                    self.delivered.append((sender, payload))
                case PassUp(Block()):
                    self.does(Called(PassDown(flush.BlockReturned())))
                case PassUp(Unblock()):
                    self.unblocked += 1
                case PassUp(ViewInstalled(view)):
                    self.views.append(view.members)
                case PassDown(GroupStopped(asker)):
                    self.stopped_for.append(asker)
                case SetTimer(name):
                    self.timers.add(name)
                case _:
                    pass

    def sends(self, text: str) -> None:
        """The application multicasts."""
        self.does(Called(Multicast(Payload(text))))
        self.network.runs()


class Network:
    """The messages on their way, in one queue: nothing is lost, all comes in one order."""

    def __init__(self, addresses: str, views: tuple[Layer, ...] = MERGE_GMS) -> None:
        self.views = views
        self.members = {address: Member(address, self) for address in addresses}
        self.queue: deque[tuple[Address, Any]] = deque()

    def runs(self) -> None:
        """All arrives."""
        while self.queue:
            to, event = self.queue.popleft()
            if to in self.members:
                self.members[to].does(event)

    def joins(self, address: Address, to: Address, life: int = 0) -> None:
        """It asks a member to be let in; or founds a group."""
        self.members[address].does(Called(PassDown(gms.JoinRequested(to, life))))

    def has(self, *joins: str) -> None:
        """Members join, one after the other: "BA" is B, which asks A."""
        for pair in joins:
            self.joins(pair[0], pair[1])
            self.runs()

    def fires(self, timer: str) -> None:
        """A timer fires at all members that have set it."""
        for member in self.members.values():
            if timer in member.timers:
                member.timers.remove(timer)
                member.does(Fired(timer))
        self.runs()

    def crashes(self, address: Address) -> None:
        """It is gone, and all others are notified."""
        del self.members[address]
        for member in self.members.values():
            member.does(Raised(Suspected(address)))


def test_a_group_forms_talks_merges_with_another_and_loses_its_coordinator() -> None:
    network = Network("ABCD")
    a, b, c, d = network.members.values()
    network.has("AA", "BA", "CC", "DC")
    assert [("A", "B"), ("A", "B"), ("C", "D"), ("C", "D")] == [m.views[-1] for m in (a, b, c, d)]
    b.sends("to A and B")
    d.sends("to C and D")

    a.does(Fired("merge_gms/discover", (frozenset("AC"),)))
    network.runs()
    assert {("A", "B", "C", "D")} == {m.views[-1] for m in (a, b, c, d)}
    d.sends("to all")
    assert [("B", "to A and B"), ("D", "to all")] == a.delivered == b.delivered
    assert [("D", "to C and D"), ("D", "to all")] == c.delivered == d.delivered

    network.crashes("A")
    network.runs()
    c.sends("after A")
    assert {("B", "C", "D")} == {m.views[-1] for m in (b, c, d)}
    assert all(m.delivered[-1] == ("C", "after A") for m in (b, c, d))


def test_what_all_have_delivered_is_purged_in_the_step_that_hears_of_it() -> None:
    """STABLE's digests are the windows': of the view that is passed down, and of the moment of STABILITY."""
    network = Network("AB")
    a, b = network.members.values()
    network.has("AA", "BA")
    a.sends("one")
    for timer in ("stable/stable", "stable/stability") * 2:
        network.fires(timer)
    windows = [member.stack.of(reliable_multicast, member.state).windows for member in (a, b)]
    assert windows[0] == windows[1]
    assert all(window.purged == window.delivered for window in windows[0].values())
    assert 0 == windows[0]["A"].delivered


@pytest.mark.parametrize("views", [GMS, MERGE_GMS], ids=["gms", "merge_gms"])
def test_a_member_that_is_back_before_it_is_excluded_is_let_in(views: tuple[Layer, ...]) -> None:
    """The view without the former incarnation, and the promise to the next, are one step: STABLE hears both in order."""
    network = Network("AB", views)
    network.has("AA", "BA")
    a = network.members["A"]
    network.crashes("B")
    b = network.members["B"] = Member("B", network)
    network.joins("B", "A", life=1)
    network.runs()
    assert [("A",), ("A", "B"), ("A",), ("A", "B")] == a.views
    assert [("A", "B")] == b.views
    b.sends("back")
    assert ("B", "back") == a.delivered[-1] == b.delivered[-1]


@pytest.mark.parametrize("views", [GMS, MERGE_GMS], ids=["gms", "merge_gms"])
def test_a_state_transfer_is_told_that_the_group_is_stopped(views: tuple[Layer, ...]) -> None:
    """GMS stands between FLUSH and the caller: it passes up an answer that it did not ask for."""
    network = Network("AB", views)
    network.has("AA", "BA")
    b = network.members["B"]
    b.does(Raised(Suspend("STATE_TRANSFER")))
    network.runs()
    assert ["STATE_TRANSFER"] == b.stopped_for
    before = [m.unblocked for m in network.members.values()]
    b.does(Raised(Resume("STATE_TRANSFER")))
    network.runs()
    assert [count + 1 for count in before] == [m.unblocked for m in network.members.values()]


def test_a_digest_is_given_in_the_step_that_asks_for_it() -> None:
    """A, alone, has only itself to stop: the START_FLUSH and the report to itself are two messages, no more."""
    network = Network("AB")
    network.has("AA")
    network.joins("B", "A")
    steps = 0
    while network.queue and network.members["A"].views == [("A",)]:
        to, event = network.queue.popleft()
        network.members[to].does(event)
        steps += 1
    assert (3, [("A",), ("A", "B")]) == (steps, network.members["A"].views)
