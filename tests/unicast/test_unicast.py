"""unicast: the core, event by event, over a network that is written out; each test says what it protects."""

from collections import deque
from collections.abc import Callable, Mapping

import pytest
from attrs import define, field

from groupcomm import unicast
from groupcomm.effects import Datagram, PassUp, SetTimer
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.events import Payload
from groupcomm.unicast import Ack, Connection, Data, SendFirstSeqno
from groupcomm.view import View, ViewId

CONFIG = unicast.Config(retransmit_min=50, retransmit_max=400, resend_most=4)
RECEIVED = {Data: unicast.DataReceived, Ack: unicast.AckReceived, SendFirstSeqno: unicast.SendFirstSeqnoReceived}


@define
class Pair:
    """A and B, and the datagrams between them, in the order sent. `delivered`: payloads by receiver."""

    states: dict[str, unicast.State] = field(factory=lambda: {m: unicast.start(m) for m in "AB"})
    net: deque[tuple[str, str, unicast.Message]] = field(factory=deque)
    delivered: dict[str, list[object]] = field(factory=lambda: {"A": [], "B": []})
    timers: dict[str, dict[str, int]] = field(factory=lambda: {"A": {}, "B": {}})
    sent: int = 0

    def do(self, at: str, event: unicast.Event) -> None:
        self.states[at], effects = unicast.step(CONFIG, self.states[at], event)
        for effect in effects:
            match effect:
                case Datagram(to, message):
                    self.net.append((at, to, message))
                    self.sent += 1
                case PassUp(deliver):
                    self.delivered[at].append(deliver.payload)
                case SetTimer(name, low):
                    self.timers[at][name] = low

    def send(self, at: str, *payloads: object) -> None:
        for payload in payloads:
            self.do(at, unicast.UnicastRequested(other(at), Payload(payload)))

    def arrive(self, copy: tuple[str, str, unicast.Message]) -> None:
        sender, to, message = copy
        self.do(to, RECEIVED[type(message)](sender, message))

    def settle(self) -> None:
        while self.net:
            self.arrive(self.net.popleft())

    def fire(self, at: str) -> None:
        for name in [*self.timers[at]]:
            del self.timers[at][name]
            self.do(at, unicast.RetransmitTimeout(int(name.removeprefix("retransmit/"))))

    def view(self, at: str, *members: str) -> None:
        self.do(at, unicast.ViewInstalled(View(ViewId(1, at), members)))

    def restart(self, at: str) -> None:
        incarnation = self.states[at].incarnation + 1
        self.states[at] = unicast.start(at)
        self.timers[at].clear()
        self.delivered[at].clear()
        self.do(at, unicast.IncarnationBegins(incarnation))


def other(member: str) -> str:
    return "B" if member == "A" else "A"


def met(*, sent: int = 0) -> Pair:
    """Two members of a view that know each other; A has sent so many numbers."""
    pair = Pair()
    for member in "AB":
        pair.view(member, "A", "B")
    pair.send("A", *range(sent))
    pair.settle()
    assert pair.delivered["B"] == [*range(sent)]
    return pair


def test_the_note_s_numbers() -> None:
    """UNI-06, AMB-89: A's last message to B was 25, B's to A was 7."""
    pair = met(sent=25)
    pair.send("B", *range(7))
    pair.settle()
    a, b = pair.states["A"], pair.states["B"]
    assert (a.sends["B"].next, b.receives["A"].delivered) == (26, 25)
    assert (b.sends["A"].next, a.receives["B"].delivered) == (8, 7)


def test_the_note_s_story() -> None:
    """UNI-09, UNI-11: B excludes A at 25 and 7. After the merge 26 and 8 are delivered, both ways."""
    pair = met(sent=25)
    pair.send("B", *range(7))
    pair.settle()
    pair.view("B", "B")
    pair.view("B", "A", "B")
    pair.send("A", "26")
    pair.send("B", "8")
    pair.settle()
    assert (pair.delivered["B"][25:], pair.delivered["A"][7:]) == (["26"], ["8"])


def test_nothing_waits_when_all_is_acknowledged() -> None:
    """UNI-10: neither side keeps anything of what was delivered, however much that was."""
    pair = met(sent=100)
    assert pair.states["A"].sends["B"].kept == ()
    assert pair.states["B"].receives["A"] == unicast.ReceiveSide(Connection(0, 1), 100, ())


def closes(*who: str) -> Pair:
    pair = met(sent=2)
    pair.send("B", "b")
    pair.settle()
    for member in who:
        pair.view(member, member)
    return pair


NINE: Mapping[str, Callable[[], Pair]] = {
    "A opens": met,
    "B accepts": lambda: met(sent=1),
    "both close": lambda: closes("A", "B"),
    "A closes and opens again": lambda: closes("A"),
    "B closes and opens again": lambda: closes("B"),
    "merge after both were alone": lambda: closes("A", "B", "A"),
    "merge after A was alone": lambda: closes("A"),
}


@pytest.mark.parametrize("name", NINE)
@pytest.mark.parametrize("loses", [False, True])
def test_the_nine_scenarios_of_the_design(name: str, loses: bool) -> None:  # noqa: FBT001
    """UNI-20: whichever side closed, and whether or not the first message is lost, both directions work again."""
    pair = NINE[name]()
    before = {member: len(got) for member, got in pair.delivered.items()}
    pair.view("A", "A", "B")
    pair.view("B", "A", "B")
    pair.send("A", "x", "y")
    pair.send("B", "z")
    if loses:
        pair.net.popleft()
    pair.settle()
    pair.fire("A")
    pair.settle()
    assert (pair.delivered["B"][before["B"] :], pair.delivered["A"][before["A"] :]) == (["x", "y"], ["z"])


def test_a_retransmission_sends_the_first_few_and_waits_longer_each_time() -> None:
    """FLAW-146: nothing is given up, and no request sets the timer again."""
    pair = met(sent=1)
    pair.send("A", *range(9))
    pair.net.clear()
    waits = []
    for _ in range(6):
        waits.append(pair.timers["A"].pop("retransmit/1"))
        pair.send("A", "more")
        pair.net.clear()
        assert pair.timers["A"] == {}
        pair.do("A", unicast.RetransmitTimeout(1))
        assert [message.seqno for _, _, message in pair.net if isinstance(message, Data)] == [2, 3, 4, 5]
        pair.net.clear()
    assert waits == [50, 100, 200, 400, 400, 400]
    pair.do("A", unicast.AckReceived("B", Ack(Connection(0, 1), 2, 0)))
    assert pair.states["A"].sends["B"].interval == 50


def test_payloads_are_not_looked_at() -> None:
    """A payload that cannot be hashed waits behind a gap, and is delivered."""
    pair = met(sent=1)
    pair.send("A", {"a": [1]}, {"b": [2]})
    first, second = pair.net.popleft(), pair.net.popleft()
    pair.arrive(second)
    pair.arrive(first)
    assert pair.delivered["B"][1:] == [{"a": [1]}, {"b": [2]}]


def test_the_next_incarnation_is_given_all_that_was_kept_and_in_order() -> None:
    """FLAW-142: A sends on without knowing that B has come back."""
    pair = met(sent=3)
    pair.send("A", 3, 4)
    pair.net.clear()
    pair.restart("B")
    pair.send("A", 5)
    pair.settle()
    assert pair.delivered["B"] == [3, 4, 5]
    assert pair.states["A"].sends["B"].connection == Connection(0, 2)


def test_silence_ends_what_is_kept_for_an_outsider_of_the_view_alone() -> None:
    """FLAW-216: no later view excludes it. A joiner keeps its request, and a member what it owes another."""
    pair = Pair()
    pair.send("A", 1)
    before = pair.states["A"]
    pair.do("A", unicast.SilenceReported("B"))
    assert pair.states["A"] is before  # without a view
    pair.view("A", "A", "B")
    before = pair.states["A"]
    pair.do("A", unicast.SilenceReported("B"))
    assert pair.states["A"] is before  # a member
    pair.view("A", "A")
    pair.send("A", 2)
    pair.do("A", unicast.SilenceReported("C"))
    assert [(1, Payload(2))] == [*pair.states["A"].sends["B"].kept]
    pair.do("A", unicast.SilenceReported("B"))
    assert not pair.states["A"].sends
    pair.net.clear()
    pair.fire("A")
    assert not pair.net  # its timer is late


def test_an_incarnation_begins_first_and_once() -> None:
    state, _ = unicast.step(CONFIG, unicast.start("A"), unicast.IncarnationBegins(7))
    assert state.incarnation == 7
    for number in (7, 8, -1):
        with pytest.raises(LocalProtocolError):
            unicast.step(CONFIG, state, unicast.IncarnationBegins(number))
    _, effects = unicast.step(CONFIG, state, unicast.UnicastRequested("B", Payload("x")))
    assert effects[0] == Datagram("B", Data(Connection(7, 1), 1, unicast.UNKNOWN, Payload("x")))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (Data(Connection(0, 1), 1, 9, Payload("x")), "the receiver's incarnation has begun"),
        (Ack(Connection(0, 1), 4, 0), "seqno 4 was not sent yet; the next one is 4"),
        (Ack(Connection(0, 2), 1, 0), "the connection was opened here"),
        (SendFirstSeqno(-1), "incarnations count from 0"),
    ],
)
def test_what_no_correct_peer_sends_is_refused(message: unicast.Message, reason: str) -> None:
    pair = met(sent=3)
    with pytest.raises(RemoteProtocolError, match=reason):
        pair.arrive(("B", "A", message))


def test_outsiders_are_sought_while_messages_are_kept_for_them() -> None:
    """A failure detector watches them; of members GMS says so, and before the first view there is no outsider."""
    state = unicast.start("A")
    for to in "BC":
        state, _ = unicast.step(CONFIG, state, unicast.UnicastRequested(to, Payload(to)))
    assert state.sought == frozenset()
    state, _ = unicast.step(CONFIG, state, unicast.ViewInstalled(View(ViewId(1, "A"), ("A", "B"))))
    assert state.sought == frozenset("C")
    connection = state.sends["C"].connection
    state, _ = unicast.step(CONFIG, state, unicast.AckReceived("C", Ack(connection, 1, 0)))
    assert state.sends["C"].kept == ()
    assert state.sought == frozenset()
