"""State transfer: what all members of a group have in common, in drawn runs of a total order; and the runtime's part."""

import asyncio
import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from attrs import define, field, frozen

from groupcomm import state_transfer
from groupcomm.effects import Multicast, PassUp, Send, SetTimer
from groupcomm.errors import ProtocolError
from groupcomm.events import Deliver, MergeViewInstalled, Payload, ViewFormed, ViewInstalled
from groupcomm.records import evolve
from groupcomm.view import View, ViewId
from groupcomm_runtime import BadInputError, EndedError, Message, NewView, transfer
from groupcomm_runtime.transfer import Transfer, messages_of, number_of, of_application, pieces

CONFIG = state_transfer.Config(window=2, max_held=8, ask_time=1_000)
PARTS = 3
RECEIVED: dict[type, Callable[..., Any]] = {
    state_transfer.App: state_transfer.AppReceived,
    state_transfer.Ask: state_transfer.AskReceived,
    state_transfer.Tell: state_transfer.TellReceived,
    state_transfer.Part: state_transfer.PartReceived,
    state_transfer.Credit: state_transfer.CreditReceived,
    state_transfer.Cannot: state_transfer.CannotReceived,
}


@define(eq=False)
class Member:
    """A core, and an application whose state is all messages that it got, in their order."""

    name: str
    core: state_transfer.State
    wires: dict[tuple[str, str], deque[object]]
    state: list[bytes] = field(factory=list)
    says: list[object] = field(factory=list)
    marks: dict[str, tuple[int, list[bytes]]] = field(factory=dict)
    reads: deque[state_transfer.ReadPart] = field(factory=deque)
    parts: list[list[bytes]] = field(factory=list)
    timers: list[str] = field(factory=list)
    told: list[object] = field(factory=list)
    had: dict[int, object] = field(factory=dict)
    """The messages that it has delivered, by their identity."""

    def step(self, event: Any) -> None:  # noqa: ANN401 - of the core
        self.core, effects = state_transfer.step(CONFIG, self.core, event)
        for effect in effects:
            match effect:
                case Multicast(message):
                    self.says.append(message)
                case Send(to, message):
                    self.wires[self.name, to].append(message)
                case SetTimer(timer):
                    self.timers.append(timer)
                case PassUp(event):
                    self.takes(event)

    def takes(self, event: object) -> None:
        match event:
            case Deliver(_, payload):
                self.state.append(bytes(payload))  # type: ignore[arg-type]
            case state_transfer.MarkState(to, attempt):
                self.marks[to] = attempt, [*self.state]
            case state_transfer.ReadPart():
                self.reads.append(event)
            case state_transfer.PutPart(number, data):
                self.parts = [*(self.parts if number > 1 else []), data]  # type: ignore[list-item]
            case state_transfer.StateSet():
                assert PARTS == len(self.parts)
                assert self.parts == [self.parts[0]] * PARTS, "the parts are of one state"
                self.state = [*self.parts[0]]
            case _:
                self.told.append(event)

    def reads_part(self) -> None:
        read = self.reads.popleft()
        attempt, state = self.marks[read.to]
        if attempt == read.attempt:
            part = Payload(state)
            self.step(state_transfer.PartRead(read.to, attempt, read.number, part, read.number == PARTS))


@define(eq=False)
class Branch:
    """The members of a view, and how many of the messages of its order each has delivered."""

    view: View
    members: list[Member]
    order: list[tuple[str, object]] = field(factory=list)
    at: Counter[str] = field(factory=Counter)


@define
class World:
    """Draws views and deliveries: survivors deliver the same messages before the next view."""

    draw: random.Random
    branches: list[Branch] = field(factory=list)
    sent: int = 0
    ordered: list[bytes] = field(factory=list)
    wires: dict[tuple[str, str], deque[object]] = field(factory=lambda: defaultdict(deque))
    _names: "count[int]" = field(factory=count)
    _views: "count[int]" = field(factory=lambda: count(1))

    def member(self) -> Member:
        name = f"m{next(self._names)}"
        return Member(name, state_transfer.start(name), self.wires)

    def install(self, members: list[Member], merged: list[Branch]) -> Branch:
        """Install a view of these members, of several branches that merge, or of a single branch."""
        names = tuple(each.name for each in members)
        new = Branch(View(ViewId(next(self._views), names[0]), names), members)
        subgroups = frozenset(branch.view.id for branch in merged)
        for member in members:
            merges = len(subgroups) > 1
            member.step(MergeViewInstalled(new.view, subgroups) if merges else ViewInstalled(new.view))
        self.branches.append(new)
        return new

    def end(self, branch: Branch) -> None:
        """The members of a branch deliver the messages ordered there; the others come in a later view."""
        while self.deliver(branch):
            pass
        self.branches.remove(branch)

    def send(self, member: Member) -> None:
        if member.core.has:
            self.sent += 1
            member.step(state_transfer.SendRequested(Payload(b"%d" % self.sent)))

    def speak(self, branch: Branch) -> bool:
        """One more message is ordered."""
        talking = [member for member in branch.members if member.says]
        if talking:
            member = self.draw.choice(talking)
            message = member.says.pop(0)
            branch.order.append((member.name, message))
            if isinstance(message, state_transfer.App):
                self.ordered.append(bytes(message.payload))  # type: ignore[call-overload]
        return bool(talking)

    def deliver(self, branch: Branch) -> bool:
        """A member that has not delivered all delivers one."""
        behind = [member for member in branch.members if branch.at[member.name] < len(branch.order)]
        if behind:
            member = self.draw.choice(behind)
            self.hears(member, *branch.order[branch.at[member.name]])
            branch.at[member.name] += 1
        return bool(behind)

    @staticmethod
    def hears(member: Member, sender: str, message: object) -> None:
        """SEQUENCER passes over what this member has delivered before."""
        if id(message) not in member.had:
            member.had[id(message)] = message
            member.step(RECEIVED[type(message)](sender, message))

    def carry(self, branch: Branch) -> bool:
        """A unicast arrives, an application reads a part, or a timer of no time fires."""
        moves: list[Callable[[], object]] = []
        for member in branch.members:
            if member.reads:
                moves.append(member.reads_part)
            if "soon" in member.timers:
                moves.append(lambda member=member: self.fire(member, "soon", state_transfer.SoonTimeout()))
            for other in branch.view.members:
                if self.wires[other, member.name]:
                    moves.append(lambda member=member, other=other: self.arrive(other, member))
        if moves:
            self.draw.choice(moves)()
        return bool(moves)

    def arrive(self, sender: str, member: Member) -> None:
        message = self.wires[sender, member.name].popleft()
        member.step(RECEIVED[type(message)](sender, message))

    @staticmethod
    def fire(member: Member, timer: str, event: object) -> None:
        member.timers.remove(timer)
        member.step(event)

    def settle(self, branch: Branch) -> None:
        """All is done; who was refused by all asks again, a few times."""
        for _ in range(4):
            while self.speak(branch) or self.deliver(branch) or self.carry(branch):
                pass
            for member in branch.members:
                if "ask" in member.timers:
                    self.fire(member, "ask", state_transfer.AskTimeout())
        while self.speak(branch) or self.deliver(branch) or self.carry(branch):
            pass


def step(world: World, *, calm: bool) -> None:
    """One event happens. `calm`: no partition, and the founder stays."""
    branch = world.draw.choice(world.branches)
    match world.draw.randrange(30):
        case 0:  # members come
            world.end(branch)
            new = [world.member() for _ in range(world.draw.randint(1, 2))]
            world.install(branch.members + new, [branch])
        case 1 if len(branch.members) > 1:  # one goes
            world.end(branch)
            gone = world.draw.choice(branch.members[calm:])
            world.install([each for each in branch.members if each is not gone], [branch])
        case 2 if not calm and len(branch.members) > 1 and len(world.branches) < 3:  # they part
            world.end(branch)
            cut = world.draw.randrange(1, len(branch.members))
            world.install(branch.members[:cut], [branch])
            world.install(branch.members[cut:], [branch])
        case 3 if len(world.branches) > 1:  # they merge
            both = world.draw.sample(world.branches, 2)
            for each in both:
                world.end(each)
            world.install([member for each in both for member in each.members], both)
        case number if number < 12:  # an application sends
            world.send(world.draw.choice(branch.members))
        case number if number < 18:
            world.speak(branch)
        case number if number < 24:
            world.carry(branch)
        case _:
            world.deliver(branch)


def run(seed: int, *, calm: bool) -> None:
    """In the end all members of a view have one state, with each message of this view in it, and none twice.

    In a calm run it is all that was ever ordered, in that order.
    """
    world = World(random.Random(seed))  # noqa: S311 - no secret
    world.install([world.member()], [])
    for _ in range(200):
        step(world, calm=calm)
    for branch in world.branches:
        world.settle(branch)
        having = [member for member in branch.members if member.core.has]
        if not having and not calm:  # those that had it are gone
            continue
        assert having == branch.members
        assert 1 == len({tuple(member.state) for member in branch.members})
        state = branch.members[0].state
        assert len(state) == len(set(state))
        late = [message for _, message in branch.order if isinstance(message, state_transfer.App)]
        assert {message.payload for message in late} <= set(state)
        assert not calm or world.ordered == state


def runs(*, calm: bool) -> None:
    for seed in range(300):
        run(seed, calm=calm)


@pytest.mark.parametrize("calm", [False, True])
def test_all_members_have_one_state_whatever_comes_between(*, calm: bool) -> None:
    runs(calm=calm)


def _own(state: state_transfer.State, _told: object) -> frozenset[str]:
    """Each member takes its own state for the kept state."""
    return frozenset({state.member})
