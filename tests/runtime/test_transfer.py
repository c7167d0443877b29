"""State transfer: what all members of a group have in common, in drawn runs of a total order; and over sockets."""

import random
from collections import Counter
from collections.abc import Callable
from itertools import count

import pytest
from attrs import define, field

from groupcomm.view import ViewId
from groupcomm_runtime import EndedError, transfer
from groupcomm_runtime.transfer import (
    LARGEST_STATE,
    Action,
    Get,
    Lacks,
    Message,
    NewView,
    Say,
    Took,
    Transfer,
    messages_of,
    of_application,
    parts,
)


@define(eq=False)
class Member:
    """An application whose state is all messages that it got, in their order."""

    name: str
    transfer: Transfer
    state: list[bytes] = field(factory=list)
    says: list[bytes] = field(factory=list)
    members: tuple[str, ...] = ()

    def do(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Message(_, data):
                    self.state.append(data)
                case Say(data):
                    self.says.append(data)
                case Get(view, seen):
                    self.says += parts(view, b" ".join(self.state), seen)
                case Took(bytes(state)):
                    self.state = state.split()
                case _:
                    pass


@define(eq=False)
class Branch:
    """The members of a view, and how many of the messages of its order each has delivered."""

    view: NewView
    members: list[Member]
    order: list[tuple[str, bytes]] = field(factory=list)
    had: Counter[str] = field(factory=Counter)


@define
class World:
    """Draws views and deliveries: survivors deliver the same messages before the next view."""

    draw: random.Random
    branches: list[Branch] = field(factory=list)
    sent: int = 0
    ordered: list[bytes] = field(factory=list)
    _names: "count[int]" = field(factory=count)
    _views: "count[int]" = field(factory=lambda: count(1))

    def member(self, *, provides: bool = True) -> Member:
        name = f"m{next(self._names)}"
        return Member(name, Transfer(name, provides))

    def install(self, members: list[Member], merged: list[Branch]) -> None:
        """Install a view of these members, of several branches that merge, or of a single branch."""
        names = tuple(each.name for each in members)
        identifier = ViewId(next(self._views), names[0])
        new = Branch(NewView(identifier, names, frozenset(), ()), members)
        subgroups = frozenset(branch.view.id for branch in merged) if len(merged) > 1 else frozenset()
        for member in members:
            came = tuple(name for name in names if name not in member.members)
            member.members = names
            member.do(member.transfer.view(NewView(identifier, names, subgroups, came)))
        self.branches.append(new)

    def end(self, branch: Branch) -> None:
        """The members of a branch deliver the messages ordered there. Their messages that are not ordered are lost."""
        while self.deliver(branch):
            pass
        self.branches.remove(branch)
        for member in branch.members:
            if self.draw.random() < 0.5:
                member.says.clear()

    def speak(self, branch: Branch) -> bool:
        """One more message is ordered."""
        talking = [member for member in branch.members if member.says]
        if talking:
            member = self.draw.choice(talking)
            branch.order.append((member.name, member.says.pop(0)))
            self.ordered += messages_of(branch.order[-1][1])
        return bool(talking)

    def deliver(self, branch: Branch) -> bool:
        """A member that has not delivered all delivers one."""
        behind = [member for member in branch.members if branch.had[member.name] < len(branch.order)]
        if behind:
            member = self.draw.choice(behind)
            member.do(member.transfer.delivers(*branch.order[branch.had[member.name]]))
            branch.had[member.name] += 1
        return bool(behind)

    def settle(self, branch: Branch) -> None:
        while self.speak(branch) or self.deliver(branch):
            pass


def step(world: World, *, calm: bool) -> None:
    """One event happens. `calm`: no partition, and the founder stays."""
    branch = world.draw.choice(world.branches)
    match world.draw.randrange(24):
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
            world.sent += 1
            world.draw.choice(branch.members).says.append(of_application(world.sent, b"%d" % world.sent))
        case number if number < 18:
            world.speak(branch)
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
        having = [member for member in branch.members if member.transfer.has]
        if not having and not calm:  # those that had it are gone
            continue
        assert having == branch.members
        assert 1 == len({tuple(member.state) for member in branch.members})
        state = branch.members[0].state
        assert len(state) == len(set(state))
        assert {data for _, said in branch.order for data in messages_of(said)} <= set(state)
        assert not calm or world.ordered == state


def runs(*, calm: bool) -> None:
    for seed in range(300):
        run(seed, calm=calm)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state has several parts."""
    monkeypatch.setattr(transfer, "_PART", 7)


@pytest.mark.parametrize("calm", [False, True])
def test_all_members_have_one_state_whatever_comes_between(*, calm: bool) -> None:
    runs(calm=calm)


def _newest(self: Transfer) -> object:
    """Each member takes its own state for the kept state."""
    return self._told[self.me]


def _once_told(self: Transfer, new: NewView, tells: Callable[..., list[Action]]) -> object:
    """A transfer that a view has cut off is forgotten."""
    self._done = True
    return tells(self, new)


@pytest.mark.parametrize("broken", ["kept", "again"])
def test_a_broken_transfer_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    view = Transfer.view
    match broken:
        case "kept":
            monkeypatch.setattr(Transfer, "_kept", _newest)
        case _:
            monkeypatch.setattr(Transfer, "view", lambda self, new: _once_told(self, new, view))
    with pytest.raises(AssertionError):
        runs(calm=True)


def _comes_back() -> tuple[list[bytes], ...]:
    """A sends x, and is cut off before it has x back; C joins B, and gets its state; A comes back with x.

    B, which has delivered x, drops it by its received-table. Return the states of all three.
    """
    world = World(random.Random(1))  # noqa: S311 - no secret
    a, b, c = world.member(), world.member(), world.member()
    a.transfer.majority = b.transfer.majority = c.transfer.majority = True
    world.install([b], [])
    world.end(world.branches[0])
    world.install([b, a], [])
    world.settle(world.branches[0])
    first = b.transfer.formed = a.transfer.formed = world.branches[0].view.id
    x = (a.name, of_application(1, b"x"))
    b.do(b.transfer.delivers(*x))
    world.branches.clear()
    world.install([b], [])
    b.transfer.formed = world.branches[0].view.id
    world.install([a], [])
    world.branches.pop(0)
    (alone,) = world.branches
    world.branches.clear()
    world.install([b, c], [])
    world.settle(world.branches[0])
    b.transfer.formed = c.transfer.formed = world.branches[0].view.id
    assert c.state == [b"x"]
    assert a.transfer.formed == first
    world.install([b, c, a], [world.branches.pop(0), alone])
    merged = world.branches[-1]
    world.settle(merged)
    for each in (a, c):
        each.do(each.transfer.delivers(*x))
    return a.state, b.state, c.state


def test_a_message_that_is_in_the_state_is_not_applied_again() -> None:
    assert ([b"x"],) * 3 == _comes_back()


def test_a_state_without_what_is_in_it_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "parts", lambda view, state, _seen: transfer.parts(view, state, {}))
    assert ([b"x", b"x"], [b"x"], [b"x", b"x"]) == _comes_back()


def test_the_numbers_of_members_that_are_gone_are_forgotten_with_their_names_next_incarnation() -> None:
    one = Transfer("a#1", provides=True)
    one.view(NewView(ViewId(1, "a#1"), ("a#1",), frozenset(), ("a#1",)))
    for life in range(1, 100):
        joiner = f"b#{life}"
        one.view(NewView(ViewId(2 * life, "a#1"), ("a#1", joiner), frozenset(), (joiner,)))
        one.delivers(joiner, of_application(1, b"x"))
        one.view(NewView(ViewId(2 * life + 1, "a#1"), ("a#1",), frozenset(), ()))
    assert {"b#99": 1} == one.seen


def test_an_incarnation_that_waited_for_a_state_is_not_followed_by_one_that_begins_a_group() -> None:
    one = Transfer("a", provides=True)
    begins = [one.begins_again]
    one.view(NewView(ViewId(1, "b"), ("b", "a"), frozenset(), ("b", "a")))
    begins.append(one.begins_again)
    assert begins == [True, False]
    other = Transfer("a", provides=True, begins=False)
    assert [Lacks("it is alone")] == other.view(NewView(ViewId(1, "a"), ("a",), frozenset(), ("a",)))[1:]
    assert not other.has
    assert not other.begins_again
    third = Transfer("a", provides=True)
    third.view(NewView(ViewId(1, "a"), ("a",), frozenset(), ("a",)))
    assert third.begins_again, "it founded a group"


def test_a_member_without_a_provider_holds_up_nobody() -> None:
    world = World(random.Random(1))  # noqa: S311 - no secret
    first, other, third = world.member(), world.member(provides=False), world.member()
    world.install([first], [])
    first.says.append(of_application(1, b"1"))
    world.settle(world.branches[0])
    world.end(world.branches[0])
    world.install([other, first, third], [])
    other.says.append(of_application(1, b"2"))
    world.settle(world.branches[0])
    assert [b"1", b"2"] == first.state == third.state
    assert [b"2"] == other.state


def test_bytes_that_are_no_part_of_a_transfer_change_nothing() -> None:
    one = Transfer("a", provides=True)
    one.view(NewView(ViewId(1, "a"), ("a", "b"), frozenset(), ("a", "b")))
    for data in (b"", b"?", b"t", b"t\x93", b"s\xc1", b"t" + bytes(9), b"c", b"c\x92", b"a\x92"):
        assert [] == one.delivers("b", data)
    assert not one.has


def test_what_waits_for_a_state_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "LARGEST_STATE", 10_000)
    assert LARGEST_STATE > 10_000
    one = Transfer("a", provides=True)
    one.view(NewView(ViewId(1, "a"), ("a", "b"), frozenset(), ("a", "b")))
    with pytest.raises(EndedError, match="before the state of the group did: it is too large"):
        [one.delivers("b", of_application(number, bytes(1_000))) for number in range(1, 101)]


def test_a_view_says_who_comes_from_the_last_one() -> None:
    """The survivors are the members that were there before, in their order; in a first view there are none."""
    founded = NewView(ViewId(1, "a"), ("a", "b"), frozenset(), ("a", "b"))
    assert founded.survivors == ()
    joined = NewView(ViewId(3, "b"), ("b", "a", "c"), frozenset(), ("c",))
    assert joined.survivors == ("b", "a")
