"""Names whose members crash and come back, each incarnation under an address of its own, while late datagrams go round."""

from collections import Counter
from random import Random

import pytest

from groupcomm import unicast
from groupcomm.effects import Datagram, PassUp
from groupcomm.events import Payload
from groupcomm.unicast import Ack, AckReceived, Connection, Data, DataReceived, SendFirstSeqno, SendFirstSeqnoReceived
from groupcomm.view import View, ViewId, address

CONFIG = unicast.Config(retransmit_min=50, retransmit_max=400, resend_most=4)
RECEIVED = {Data: DataReceived, Ack: AckReceived, SendFirstSeqno: SendFirstSeqnoReceived}
NAMES = ("A", "B", "C")
FIRST = Connection(0, 1)


class Lives:
    """Members over a network that loses, doubles and keeps copies of what it carried for whoever comes later."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - repeatable, no secret
        self.life = Counter(NAMES)
        self.states = {name: unicast.start(name) for name in NAMES}
        self.wire: list[tuple[str, str, unicast.Message]] = []
        self.late: list[tuple[str, str, unicast.Message]] = []
        self.got: Counter[tuple[str, str, object]] = Counter()
        self.sent = 0

    def take(self, member: str, event: unicast.Event) -> None:
        self.states[member], effects = unicast.step(CONFIG, self.states[member], event)
        for effect in effects:
            match effect:
                case Datagram(to, message):
                    copies = self.random.choice((0, 1, 1, 2))
                    self.wire += [(member, to, message)] * copies
                    self.late = [*self.late[-200:], (member, to, message)]
                case PassUp(deliver):
                    self.got[member, deliver.sender, deliver.payload] += 1
                case _:
                    pass

    def arrives(self, copies: list[tuple[str, str, unicast.Message]]) -> None:
        for sender, to, message in copies:
            if to in self.states:
                self.take(to, RECEIVED[type(message)](sender, message))

    def talk(self) -> None:
        """Each sends to each. All arrives after some tries, and late copies arrive, too."""
        for member in [*self.states]:
            for to in [*self.states]:
                if to != member:
                    self.sent += 1
                    self.take(member, unicast.UnicastRequested(to, Payload(self.sent)))
        while self.wire or any(side.kept for state in self.states.values() for side in state.sends.values()):
            copies, self.wire = self.wire, []
            self.random.shuffle(copies)
            self.arrives(copies)
            self.arrives(self.random.choices(self.late, k=5))
            for member, state in [*self.states.items()]:
                for side in state.sends.values():
                    self.take(member, unicast.RetransmitTimeout(side.connection.number))

    def next_life(self) -> None:
        """The oldest member crashes and is excluded; another incarnation of its name begins."""
        gone, *stay = self.states
        del self.states[gone]
        name = gone.partition("#")[0]
        self.life[name] += 1
        back = address(name, self.life[name])
        self.states[back] = unicast.start(back)
        for members in (stay, [*stay, back]):
            for member in members:
                self.take(member, unicast.ViewInstalled(View(ViewId(1, member), tuple(members))))


@pytest.mark.parametrize("seed", range(5))
def test_lives_that_are_over_leave_nothing_behind_and_nothing_comes_twice(seed: int) -> None:
    lives = Lives(seed)
    lives.talk()
    for _ in range(40):
        lives.next_life()
        lives.talk()
        for state in lives.states.values():
            assert len(state.known) <= len(NAMES)
            assert {*state.receives, *state.sends} <= {*state.known}
    assert {1} == {*lives.got.values()}
    assert lives.sent == len(lives.got)


def known_to(*senders: str) -> unicast.State:
    state = unicast.start("A")
    for sender in senders:
        state, _ = unicast.step(CONFIG, state, DataReceived(sender, Data(FIRST, 1, 0, Payload(sender))))
    return state


def test_a_later_life_ends_all_that_is_kept_for_a_former_one() -> None:
    state, _ = unicast.step(CONFIG, known_to("B", "C"), unicast.UnicastRequested("B", Payload("lost")))
    state, _ = unicast.step(CONFIG, state, DataReceived("B#2", Data(FIRST, 1, 0, Payload("new"))))
    assert {"B#2": 0, "C": 0} == dict(state.known)
    assert {"B#2", "C"} == {*state.receives}
    assert not state.sends


@pytest.mark.parametrize(
    "message",
    [Data(FIRST, 1, 0, Payload("again")), Ack(FIRST, 0, 0), SendFirstSeqno(3)],
    ids=lambda m: type(m).__name__,
)
def test_what_comes_of_a_former_life_is_ignored(message: unicast.Message) -> None:
    state, _ = unicast.step(CONFIG, known_to("B", "B#2"), unicast.UnicastRequested("C", Payload(0)))
    assert (state, ()) == unicast.step(CONFIG, state, RECEIVED[type(message)]("B", message))


def test_nothing_is_kept_for_a_former_life() -> None:
    state = known_to("B", "B#10")
    assert (state, ()) == unicast.step(CONFIG, state, unicast.UnicastRequested("B#9", Payload(0)))
