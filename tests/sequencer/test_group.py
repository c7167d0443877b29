"""Whole groups beyond the bounds of the models: random histories, and what the specification claims of them.

More members, messages, crashes, joins and views than TLC can search. What the layers below do is what
`view_synchrony` lets them do; the claims are `TotalOrder`, `NoDuplicates`, `SenderOrder`, `Agreement`,
`NothingForgotten` and `EventuallyDelivered`, written out here once more.
"""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import ModuleType

import pytest
from attrs import define, evolve, field
from hypothesis import given
from hypothesis import strategies as st

from groupcomm import sequencer
from groupcomm.effects import Multicast
from groupcomm.events import Payload
from groupcomm.sequencer import Config, Event, ReceivedTable, State, Transition
from groupcomm.view import Address, View, ViewId
from groupcomm_conformance import mapping
from groupcomm_conformance.mapping.sequencer_surroundings import SequencerSurroundings
from groupcomm_conformance.simulation import Copy, Group, Impossible

Step = Callable[[Config, State, Event], Transition]

MEMBERS = ("A", "B", "C", "D", "E")


@define
class Life:
    """A group, its membership service, and the last view that this has decided."""

    chance: random.Random
    group: Group
    view: View
    founders: set[Address] = field(factory=set)
    """Those who are there from the beginning, and up."""

    @classmethod
    def begin(cls, chance: random.Random, core: ModuleType) -> "Life":
        group = Group(mapping.load("sequencer"), MEMBERS, core=core, silent=True)
        view = View(ViewId(1, "A"), ("A", "B", "C"))
        group.around.begin({"view": view})
        return cls(chance, group, view, set(view.members))

    @property
    def around(self) -> SequencerSurroundings:
        assert isinstance(self.group.around, SequencerSurroundings)
        return self.group.around

    def installed(self, member: Address) -> bool:
        return bool(self.group.states[member].view == self.view)

    def ready(self) -> list[Copy]:
        ready, up = self.group.around.ready, self.group.up
        return [
            copy for copy in self.group.flight if copy.to in up and ready(copy.to, copy.sender, copy.message)
        ]

    def send(self) -> None:
        senders = sorted(m for m in self.group.up if self.group.states[m].joined)
        sender = self.chance.choice(senders)
        self.group.happen(sender, sequencer.SendRequested(Payload(self.around.sent[sender] + 1)))

    def deliver(self) -> None:
        if ready := self.ready():
            self.group.deliver(self.chance.choice(ready))

    def crash(self) -> None:
        """Somebody stops, as long as there is a founder who stays."""
        member = self.chance.choice(sorted(self.group.up))
        if not self.group.states[member].joined or self.founders == {member}:
            return
        self.founders.discard(member)
        self.group.crash(member)

    def restart(self) -> None:
        """Somebody comes back when the view without it is everybody's."""
        gone = sorted(set(MEMBERS) - self.group.up - self.view.member_set)
        if gone:
            self.group.restart(self.chance.choice(gone))

    def decide(self) -> None:
        """A new view, when everybody has the last one; in it are who is up, and perhaps somebody new."""
        if not all(self.installed(m) for m in self.view.members if m in self.group.up):
            return
        stay = [member for member in self.view.members if member in self.group.up]
        join = [m for m in MEMBERS if m in self.group.up and m not in stay and self.chance.random() < 0.5]
        members = (*stay, *join)
        if self.chance.random() < 0.2:  # a merge, or a service with other rules: another coordinator
            members = tuple(self.chance.sample(members, len(members)))
        self.view = View(ViewId(self.view.id.counter + 1, members[0]), members)

    def install(self) -> None:
        """A member installs the view, if the layer below lets it."""
        waiting = sorted(m for m in self.view.members if m in self.group.up and not self.installed(m))
        if waiting:
            member = self.chance.choice(waiting)
            try:
                event = self.around.event(member, sequencer.ViewInstalled, {"view": self.view})
            except Impossible:
                return
            self.group.happen(member, event)

    def live(self, steps: int) -> None:
        deeds = (self.send, self.deliver, self.install, self.decide, self.crash, self.restart)
        for _ in range(steps):
            self.chance.choices(deeds, weights=(6, 14, 5, 1, 0.4, 0.4))[0]()

    def rest(self) -> None:
        """Nobody sends any more; whoever is up installs one more view, and everything arrives."""
        for _ in range(2):
            for _ in range(10_000):
                waiting = [m for m in self.view.members if m in self.group.up and not self.installed(m)]
                if not waiting and not self.ready():
                    break
                self.deliver()
                self.install()
            else:
                pytest.fail("the group does not come to rest")
            self.decide()

    def delivered(self, member: Address) -> tuple[str, ...]:
        return tuple(self.around.observe(member, "delivered"))


def in_one_order(one: Sequence[str], other: Sequence[str]) -> bool:
    both = set(one) & set(other)
    return [name for name in one if name in both] == [name for name in other if name in both]


def problems(life: Life) -> list[str]:
    """What the claims find wrong with a group at rest."""
    up = sorted(life.group.up & life.view.member_set)
    found = [
        f"{m} delivers {d} twice"
        for m in MEMBERS
        for d in life.delivered(m)
        if life.delivered(m).count(d) > 1
    ]
    for x in up:
        found += [
            f"{x} and {y} have different orders"
            for y in up
            if not in_one_order(life.delivered(x), life.delivered(y))
        ]
        if life.around.observe(x, "table"):
            found.append(f"{x} still waits for {life.around.observe(x, 'table')}")
    for x in MEMBERS:
        for sender in MEMBERS:
            numbers = [int(name[1:]) for name in life.delivered(x) if name[0] == sender]
            found += [f"{x} delivers {sender}{b} after {a}" for a, b in pairwise(numbers) if b <= a]
    for x in sorted(life.founders):
        for y in sorted(life.founders):
            lacks = {f"{y}{number}" for number in range(1, life.around.sent[y] + 1)} - set(life.delivered(x))
            found += [f"{x} lacks {sorted(lacks)} of {y}"] if lacks else []
        if life.delivered(x) != life.delivered(min(life.founders)):
            found.append(f"{x} and {min(life.founders)} have delivered different messages")
    return found


@given(st.randoms(use_true_random=False), st.integers(0, 150))
def test_the_claims_hold_of_histories_beyond_the_models(chance: random.Random, steps: int) -> None:
    """SEQ-05, SEQ-09, SEQ-11, SEQ-13, SEQ-20, SEQ-35, AMB-77: the coordinator is killed under load, again and again."""
    life = Life.begin(chance, sequencer)
    life.live(steps)
    life.rest()
    assert [] == problems(life)


def core_with(step: Step) -> ModuleType:
    core = ModuleType("other")
    core.__dict__.update(start=sequencer.start, step=step)
    return core


def test_the_histories_are_rich() -> None:
    """A property that never sees a failover says nothing."""
    seen = dict.fromkeys(("failovers", "sent again", "early", "late", "lost", "returns"), 0)

    def watched(config: Config, state: State, event: Event) -> Transition:
        after, effects = sequencer.step(config, state, event)
        seen["early"] += len(after.early) > len(state.early)
        seen["late"] += isinstance(event, sequencer.ForwardReceived) and after is state and not effects
        return after, effects

    for seed in range(20):
        life = Life.begin(random.Random(seed), core_with(watched))  # noqa: S311 - repeatable, no secret
        life.live(250)
        life.rest()
        assert not life.group.log  # it is silent
        streams = life.around.streams.values()
        tags = [data.tag for stream in streams for data in stream.messages]
        seen["failovers"] += len({stream.view.coordinator for stream in streams}) - 1
        seen["sent again"] += len(tags) - len(set(tags))
        seen["lost"] += any(0 <= stream.settled < len(stream.messages) for stream in streams)
        seen["returns"] += any(tag.epoch > 1 and tag.sender in "ABC" for tag in tags)
    assert all(count >= 3 for count in seen.values()), seen


# What is broken is caught


def never_sends_again(config: Config, state: State, event: Event) -> Transition:
    after, effects = sequencer.step(config, state, event)
    return after, () if isinstance(event, sequencer.ViewInstalled) else effects


def sends_again_only_when_the_coordinator_left(config: Config, state: State, event: Event) -> Transition:
    after, effects = sequencer.step(config, state, event)
    if isinstance(event, sequencer.ViewInstalled) and state.joined:
        return after, effects if state.view.coordinator not in event.view.members else ()
    return after, effects


def keeps_no_own_messages_as_coordinator(config: Config, state: State, event: Event) -> Transition:
    after, effects = sequencer.step(config, state, event)
    if isinstance(event, sequencer.SendRequested) and state.is_coordinator:
        after = evolve(after, forward_table=state.forward_table)
    return after, effects


def drops_early_forwards(config: Config, state: State, event: Event) -> Transition:
    after, effects = sequencer.step(config, state, event)
    return evolve(after, early=()) if after.early else after, effects


def orders_late_forwards_without_looking_for_duplicates(
    config: Config, state: State, event: Event
) -> Transition:
    if isinstance(event, sequencer.ForwardReceived) and state.is_coordinator:
        message = event.message
        if message.view_id.counter < state.view.id.counter:
            return state, (Multicast(sequencer.Data(state.view.id, message.tag, message.payload)),)
    if isinstance(event, sequencer.DataReceived):
        state = evolve(state, received_table=ReceivedTable(()))
    return sequencer.step(config, state, event)


def sends_again_in_falling_order(config: Config, state: State, event: Event) -> Transition:
    after, effects = sequencer.step(config, state, event)
    return after, effects[::-1] if isinstance(event, sequencer.ViewInstalled) else effects


@pytest.mark.parametrize(
    "step",
    [
        never_sends_again,
        sends_again_only_when_the_coordinator_left,
        keeps_no_own_messages_as_coordinator,
        drops_early_forwards,
        orders_late_forwards_without_looking_for_duplicates,
        sends_again_in_falling_order,
    ],
)
def test_the_claims_find_what_is_broken(step: Step) -> None:
    for seed in range(200):
        life = Life.begin(random.Random(seed), core_with(step))  # noqa: S311 - repeatable, no secret
        life.live(150)
        life.rest()
        if problems(life):
            return
    pytest.fail("nothing is found wrong")
