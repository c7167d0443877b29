"""Three members over a network that loses, doubles and overtakes: what each has delivered in the end."""

from random import Random

import pytest
from attrs import define, field

from groupcomm import nakack
from groupcomm.digest import Vector
from groupcomm.effects import ALL, Datagram, PassUp, SetTimer
from groupcomm.events import Deliver, Fetch, HoldBack, Payload, ViewInstalled
from groupcomm.nakack import (
    DataReceived,
    HighestReceived,
    HighestTimeout,
    RequestTimeout,
    SendRequested,
    XmitReqReceived,
)
from groupcomm.view import View, ViewId

CONFIG = nakack.Config(highest_interval=500, request_delay=20, first_asked=4)
ABC = View(ViewId(1, "A"), ("A", "B", "C"))
NEXT = View(ViewId(2, "A"), ("A", "B", "C"))
RECEIVED = {nakack.Data: DataReceived, nakack.Highest: HighestReceived, nakack.XmitReq: XmitReqReceived}


@define
class Group:
    """`wire`: what is on its way: sender, receiver, message. `timers`: the set timers of each member."""

    random: Random
    loss: float
    states: dict[str, nakack.State] = field(factory=dict)
    got: dict[str, list[tuple[str, object]]] = field(factory=dict)
    timers: dict[str, set[str]] = field(factory=dict)
    wire: list[tuple[str, str, nakack.Message]] = field(factory=list)

    def take(self, member: str, event: nakack.Event) -> None:
        self.states[member], effects = nakack.step(CONFIG, self.states[member], event)
        for effect in effects:
            match effect:
                case Datagram(to, message):
                    for receiver in self.states if to == ALL else [to]:
                        copies = 0 if self.random.random() < self.loss else self.random.choice((1, 1, 1, 2))
                        self.wire += [(member, receiver, message)] * copies
                case PassUp(Deliver(sender, payload)):
                    self.got[member].append((sender, payload))
                case SetTimer(name):
                    assert name not in self.timers[member], "a timer that is set is set again"
                    self.timers[member].add(name)
                case _:
                    pass

    def start(self, members: tuple[str, ...]) -> None:
        for member in members:
            self.states[member] = nakack.start(member)
            self.got[member], self.timers[member] = [], set()
            self.take(member, ViewInstalled(ABC))

    def arrive(self) -> None:
        """Have what is on its way arrive, in any order."""
        while self.wire:
            sender, receiver, message = self.wire.pop(self.random.randrange(len(self.wire)))
            if receiver in self.states:
                self.take(receiver, RECEIVED[type(message)](sender, message))

    def fire(self) -> None:
        """Have all timers that are set fire."""
        for member in self.states:
            for name in sorted(self.timers[member]):
                self.timers[member].remove(name)
                self.take(member, HighestTimeout() if name == "highest" else RequestTimeout())

    def crash(self, member: str) -> None:
        del self.states[member]


def started(seed: int, loss: float) -> Group:
    group = Group(Random(seed), loss)  # noqa: S311 - repeatable, no secret
    group.start(("A", "B", "C"))
    return group


def of(got: list[tuple[str, object]], sender: str) -> list[object]:
    return [payload for who, payload in got if who == sender]


@pytest.mark.parametrize("seed", range(20))
def test_all_is_delivered_everywhere_in_order_and_once(seed: int) -> None:
    group = started(seed, loss=0.3)
    for number in range(15):
        for member in "ABC":
            group.take(member, SendRequested(Payload(number)))
        if group.random.random() < 0.5:
            group.arrive()
    for _ in range(60):
        group.fire()
        group.arrive()
    for member in "ABC":
        assert [of(group.got[member], sender) for sender in "ABC"] == [list(range(15))] * 3


@pytest.mark.parametrize("seed", range(20))
def test_what_one_survivor_has_of_a_crashed_sender_all_come_to_have(seed: int) -> None:
    group = started(seed, loss=0.6)
    for number in range(8):
        group.take("C", SendRequested(Payload(number)))
    group.arrive()
    group.crash("C")
    for _ in range(80):
        group.fire()
        group.arrive()
    assert of(group.got["A"], "C") == of(group.got["B"], "C")


@pytest.mark.parametrize("seed", range(20))
def test_a_view_that_follows_begins_after_the_cut(seed: int) -> None:
    group = started(seed, loss=0.4)
    for number in range(6):
        group.take("A", SendRequested(Payload(number)))
    group.arrive()
    for member in "ABC":
        counts = Vector(tuple((x, w.delivered + 1) for x, w in group.states[member].windows.items()))
        group.take(member, HoldBack(counts))
    cut = Vector.of(A=6, B=0, C=0)
    group.take("A", HoldBack(cut))
    group.take("A", ViewInstalled(NEXT))
    for member in "BC":
        group.take(member, HoldBack(cut))
        group.take(member, Fetch("A", "A", 6))
    for _ in range(40):
        group.fire()
        group.arrive()
    for member in "BC":
        assert of(group.got[member], "A") == list(range(6))
        group.take(member, ViewInstalled(NEXT))
    group.take("A", SendRequested(Payload("next")))
    for _ in range(40):
        group.fire()
        group.arrive()
    assert [got[-1] for got in group.got.values()] == [("A", "next")] * 3
