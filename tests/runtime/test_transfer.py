"""State transfer: what all members of a group have in common, in drawn runs of a total order; and the runtime's part."""

import asyncio
import random
import time
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from itertools import count
from typing import Any, cast

import pytest
from attrs import define, field, frozen

from groupcomm import state_transfer
from groupcomm.effects import Multicast, PassUp, Send, SetTimer
from groupcomm.errors import ProtocolError
from groupcomm.events import Deliver, MergeViewInstalled, Payload, ViewFormed, ViewInstalled
from groupcomm.records import evolve
from groupcomm.view import View, ViewId
from groupcomm_runtime import BadInputError, EndedError, NewView, transfer
from groupcomm_runtime.transfer import Transfer, numbered, of_application, pieces
from tests.runtime.conversing import until

CONFIG = state_transfer.Config(window=2, full_at=16, max_held=16, ask_time=1_000)
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
                self.state.append(cast("bytes", payload))
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
            member.step(state_transfer.SendRequested(Payload(b"%d" % self.sent), 1 + self.sent % 3))

    def speak(self, branch: Branch) -> bool:
        """One more message is ordered."""
        talking = [member for member in branch.members if member.says]
        if talking:
            member = self.draw.choice(talking)
            message = member.says.pop(0)
            branch.order.append((member.name, message))
            if isinstance(message, state_transfer.App):
                self.ordered.append(cast("bytes", message.payload))
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
                moves.append(partial(self.fire, member, "soon", state_transfer.SoonTimeout()))
            senders = [other for other in branch.view.members if self.wires[other, member.name]]
            moves.extend(partial(self.arrive, other, member) for other in senders)
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


def _cut_off(config: state_transfer.Config, state: state_transfer.State, event: Any) -> Any:  # noqa: ANN401
    """A transfer that a view has cut off is forgotten."""
    after, effects = _VIEW(config, state, event)
    return evolve(after, giving=state_transfer.Giving(())), effects


def _holds_nothing(config: state_transfer.Config, state: state_transfer.State, event: Any) -> Any:  # noqa: ANN401
    """What comes after the own ASK is dropped, as what came before."""
    return _APP(config, state, event) if state.has else (state, ())


_VIEW, _APP = state_transfer._view_installed, state_transfer._app_received  # noqa: SLF001 - they are broken


@pytest.mark.parametrize(
    ("name", "broken"), [("_kept_by", _own), ("_view_installed", _cut_off), ("_app_received", _holds_nothing)]
)
def test_a_broken_transfer_is_noticed(
    name: str, broken: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_transfer, name, broken)
    with pytest.raises(AssertionError):
        runs(calm=name != "_kept_by")


def _comes_back() -> tuple[list[list[bytes]], list[object]]:
    """A sends x, and is cut off before it has x back; C joins B, and gets its state; A comes back with x.

    B, which has delivered x, drops it by its received-table. Return the states of all three, and what A was told.
    """
    world = World(random.Random(1))  # noqa: S311 - no secret
    a, b, c = world.member(), world.member(), world.member()

    last = 0

    def formed(branch: Branch) -> Branch:
        nonlocal last
        for member in branch.members:
            member.step(ViewFormed(branch.view.id, last))
        last = branch.view.id.counter
        world.settle(branch)
        return branch

    first = formed(world.install([b], []))
    world.end(first)
    both = formed(world.install([b, a], [first]))
    world.send(a)
    x = a.says.pop()
    world.hears(b, a.name, x)
    world.branches.clear()
    alone = world.install([a], [both])
    pair = formed(world.install([b], [both]))
    world.end(pair)
    pair = formed(world.install([b, c], [pair]))
    assert [b"1"] == c.state
    assert [] == a.state
    world.branches.clear()
    merged = world.install([b, c, a], [alone, pair])
    for member in merged.members:
        member.step(ViewFormed(merged.view.id, last))
    world.settle(merged)
    for each in (a, c):
        world.hears(each, a.name, x)
    return [a.state, b.state, c.state], a.told


def test_a_message_that_is_in_the_state_is_not_applied_again_and_its_sender_is_told() -> None:
    states, told = _comes_back()
    assert [[b"1"]] * 3 == states
    assert state_transfer.StateDropped() in told
    assert state_transfer.OwnIsInState(1) in told


def test_a_state_without_what_is_in_it_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_transfer, "_is_new", lambda _seen, _sender, _number: True)
    with pytest.raises((AssertionError, ProtocolError)):
        assert [[b"1"]] * 3 == _comes_back()[0]


def test_the_numbers_of_members_that_are_gone_are_forgotten_with_their_names_next_incarnation() -> None:
    world = World(random.Random(1))  # noqa: S311 - no secret
    one = Member("a#1", state_transfer.start("a#1"), world.wires)
    one.step(ViewInstalled(View(ViewId(1, "a#1"), ("a#1",))))
    for life in range(1, 100):
        joiner = f"b#{life}"
        one.step(ViewInstalled(View(ViewId(2 * life, "a#1"), ("a#1", joiner))))
        one.step(state_transfer.AppReceived(joiner, state_transfer.App(1, 1, Payload(b"x"))))
        one.step(ViewInstalled(View(ViewId(2 * life + 1, "a#1"), ("a#1",))))
    assert {"b#99": 1} == dict(one.core.seen.items())


# The runtime's part


@define
class Provider:
    """An application; `gives`: what `get` returns or raises."""

    gives: Any
    taken: list[bytes] = field(factory=list)

    def get(self) -> Any:  # noqa: ANN401 - also what is no state
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives

    def set(self, state: bytes) -> None:
        self.taken.append(state)


@frozen
class Said:
    """What a transfer has answered and recorded."""

    answers: list[Any] = field(factory=list)
    records: list[str] = field(factory=list)

    def transfer(self, provider: Provider, largest: int = 1_000_000, patience: float = 30) -> Transfer:
        return Transfer(
            provider,
            largest=largest,
            patience=patience,
            answers=self.answers.append,
            record=lambda _operation, **fields: self.records.append(fields["error"]),
        )


def test_a_state_is_read_in_parts_of_bounded_size_as_it_was_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "_PART", 7)
    for state in ([b""], [b"a"], [b"seven--"], [b"a state of some length"], [b"in ", b"", b"pieces of any", b" size"]):
        whole = b"".join(state)
        for given in (whole, iter(state)):
            chunks = [*pieces(given, 100)]
            assert b"".join(data for data, _ in chunks) == whole
            assert all(len(data) <= 7 for data, _ in chunks)
            assert [last for _, last in chunks] == [False] * (len(chunks) - 1) + [True]

    async def test() -> None:
        said = Said()
        one = said.transfer(Provider(b"0123456789"))
        mark = state_transfer.MarkState("b", 1)
        one.asks(mark)
        one.read(state_transfer.ReadPart("b", 1, 1))
        await asyncio.sleep(0.02)
        assert [] == said.answers, "nothing is marked yet"
        await one.mark(mark)
        await until(lambda: said.answers)
        one.read(state_transfer.ReadPart("b", 1, 2))
        await until(lambda: len(said.answers) == 2)
        assert said.answers == [
            state_transfer.PartRead("b", 1, 1, Payload(b"0123456"), last=False),
            state_transfer.PartRead("b", 1, 2, Payload(b"789"), last=True),
        ]

    asyncio.run(test())


def test_an_iterator_is_read_no_further_than_it_is_asked_for() -> None:
    """So a state of any size takes the memory of a few parts."""
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield bytes(transfer._PART)  # noqa: SLF001

    parts = pieces(endless(), 1 << 40)
    for _ in range(3):
        assert not next(parts)[1]
    assert 4 == read


def test_an_asynchronous_iterator_is_read_by_the_loop_as_far_as_it_is_asked_for() -> None:
    async def test() -> None:
        loops: list[object] = []

        async def chunks() -> AsyncIterator[bytes]:
            for chunk in (bytes(transfer._PART), b"end"):  # noqa: SLF001
                await asyncio.sleep(0)
                loops.append(asyncio.get_running_loop())
                yield chunk
            await asyncio.sleep(0)
            raise OSError("the source is gone")

        said = Said()
        one = said.transfer(Provider(chunks()))
        mark = state_transfer.MarkState("b", 1)
        one.asks(mark)
        one.read(state_transfer.ReadPart("b", 1, 1))
        await one.mark(mark)
        await until(lambda: said.answers)
        part = state_transfer.PartRead("b", 1, 1, Payload(bytes(transfer._PART)), last=False)  # noqa: SLF001
        assert ([part], [asyncio.get_running_loop()] * 2) == (said.answers, loops)
        one.read(state_transfer.ReadPart("b", 1, 2))
        await until(lambda: said.records)
        assert [part, state_transfer.PartFailed("b", 1)] == said.answers
        assert ["OSError('the source is gone')"] == said.records

    asyncio.run(test())


def test_the_end_of_the_loop_ends_the_wait_for_a_piece() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    async def test() -> None:
        one = Said().transfer(Provider(chunks()))
        mark = state_transfer.MarkState("b", 1)
        one.asks(mark)
        one.read(state_transfer.ReadPart("b", 1, 1))
        await one.mark(mark)
        await asyncio.sleep(0.05)

    began = time.monotonic()
    asyncio.run(test())
    assert time.monotonic() - began < 5


def test_a_mark_that_is_freed_asks_the_application_for_nothing() -> None:
    async def test() -> None:
        said = Said()
        one = said.transfer(Provider(RuntimeError("it is asked")))
        mark = state_transfer.MarkState("b", 1)
        one.asks(mark)
        one.free(state_transfer.FreeState("b"))
        await one.mark(mark)
        one.asks(mark)
        one.asks(state_transfer.MarkState("b", 2))
        await one.mark(mark)
        assert ([], []) == (said.answers, said.records)

    asyncio.run(test())


def test_an_application_that_takes_no_events_gives_no_state_after_a_while() -> None:
    async def test() -> None:
        said = Said()
        one = said.transfer(Provider(b""), patience=0.01)
        one.asks(state_transfer.MarkState("b", 3))
        await until(lambda: said.answers)
        assert [state_transfer.PartFailed("b", 3)] == said.answers
        assert ["the application took no event for 0.01 seconds"] == said.records

    asyncio.run(test())


def test_a_state_that_comes_has_a_limit_and_is_put_together_anew() -> None:
    async def test() -> None:
        provider = Provider(b"")
        one = Said().transfer(provider, largest=10)
        one.put(state_transfer.PutPart(1, Payload(b"an attempt")))
        one.put(state_transfer.PutPart(1, Payload(b"an")))
        one.put(state_transfer.PutPart(2, Payload(b"other")))
        assert 7 == one.size
        await one.set(one.came())
        assert [b"another"] == provider.taken
        assert 0 == one.size
        for number in (1, 2):
            one.put(state_transfer.PutPart(number, Payload(b"1234")))
        with pytest.raises(EndedError, match="more than 10 bytes: raise Settings"):
            one.put(state_transfer.PutPart(3, Payload(b"1234")))

    asyncio.run(test())


def test_what_is_no_state_is_refused() -> None:
    for state in (None, "text", [b"list"]):
        with pytest.raises(BadInputError, match="it is bytes, or an iterator"):
            pieces(state, 10)


def test_bytes_that_are_no_multicast_of_an_application_have_no_messages() -> None:
    assert (3, [b"one", b"other"]) == numbered(of_application(3, b"one", b"other"))
    for data in (b"", b"?", b"\x93", b"\xc1", bytes(9), b"\x92"):
        assert (0, []) == numbered(data)


def test_a_view_says_who_comes_from_the_last_one() -> None:
    """The survivors are the members that were there before, in their order; in a first view there are none."""
    founded = NewView(ViewId(1, "a"), ("a", "b"), frozenset(), ("a", "b"))
    assert founded.survivors == ()
    joined = NewView(ViewId(3, "b"), ("b", "a", "c"), frozenset(), ("c",))
    assert joined.survivors == ("b", "a")
