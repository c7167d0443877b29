"""Stacks over datagrams that are lost, doubled and late: what UNICAST and NAKACK give, and what is judged of them."""

from typing import Any

import pytest

from groupcomm import unicast
from groupcomm.effects import PassUp
from groupcomm.events import Deliver
from groupcomm.stack import Tagged
from groupcomm_conformance.stacks.judges.claims import Verdicts, Violation
from groupcomm_conformance.stacks.judges.membership import Membership
from groupcomm_conformance.stacks.judges.unicasts import ReliableUnicast
from groupcomm_conformance.stacks.running import replay
from groupcomm_conformance.stacks.setup import Setup
from tests.simulated import all_holds

UNICAST = Setup(("sequencer", "flush", "merge_gms", "stable", "unicast"))


def test_over_lost_datagrams_unicast_gives_what_all_layers_assume() -> None:
    outcome = all_holds(UNICAST, events=30_000, seed=100)
    assert not outcome.unjudged
    assert {"ReliableUnicast"} < {*UNICAST.guarantees}
    judged = ("NotForged", "Once", "InOrder", "NothingIsLost", "LivesInOrder")
    assert all(outcome.judged[claim] > 100 for claim in judged)
    assert outcome.happened["lose"] > 500


# What the judge of unicasts says, and what it does not


@pytest.fixture
def group() -> Membership:
    made = Membership()
    for address in "AB":
        made.start(address)
    return made


def judged(group: Membership, sent: str, heard: str, *, view_after: int = -1) -> str:
    """The claim that falls when A sends letters and B hears some; A leaves B out after so many."""
    judge, (a, b) = ReliableUnicast(Verdicts()), (group.current["A"], group.current["B"])
    letters = {letter: Tagged("gms", letter) for letter in sent}
    judge.installed(a, frozenset("AB"))
    for count, letter in enumerate(sent):
        if count == view_after:
            judge.installed(a, frozenset("A"))
        judge.sent(a, "B", letters[letter])
    try:
        for letter in heard:
            judge.delivered(b, "A", letters.get(letter, Tagged("gms", letter)))
        judge.quiet(group.current)
    except Violation as violation:
        return violation.claim
    return ""


@pytest.mark.parametrize(
    ("sent", "heard", "claim"),
    [
        ("abc", "abc", ""),
        ("abc", "ab", "UnicastsArrive"),
        ("abc", "abb", "Once"),
        ("abc", "abca", "InOrder"),
        ("abc", "ac", "NothingIsLost"),
        ("abc", "bc", "NothingIsLost"),
        ("abc", "abx", "NotForged"),
    ],
)
def test_each_claim_of_unicasts_falls_alone(group: Membership, sent: str, heard: str, claim: str) -> None:
    assert claim == judged(group, sent, heard)


def test_what_was_sent_before_a_view_without_the_peer_may_be_lost_and_no_more(group: Membership) -> None:
    assert "" == judged(group, "abcd", "acd", view_after=2)
    assert "NothingIsLost" == judged(group, "abcd", "ad", view_after=2)
    assert "UnicastsArrive" == judged(group, "abcd", "abc", view_after=2)


def test_a_later_life_may_hear_again_what_the_former_one_did_and_begins_no_later(group: Membership) -> None:
    judge, a, b = ReliableUnicast(Verdicts()), group.current["A"], group.current["B"]
    letters = [Tagged("gms", letter) for letter in "abc"]
    for letter in letters:
        judge.sent(a, "B", letter)
    judge.delivered(b, "A", letters[0])
    b.up = False
    again = group.start("B")
    judge.delivered(again, "A", letters[0])
    again.up = False
    with pytest.raises(Violation, match="NothingIsLost"):
        judge.delivered(group.start("B"), "A", letters[2])


def test_a_former_life_is_not_heard_after_a_later_one(group: Membership) -> None:
    judge, old, b = ReliableUnicast(Verdicts()), group.current["A"], group.current["B"]
    late, new = Tagged("gms", "late"), Tagged("gms", "new")
    judge.sent(old, "B", late)
    old.up = False
    judge.sent(group.start("A"), "B", new)
    judge.delivered(b, "A", new)
    with pytest.raises(Violation, match="LivesInOrder"):
        judge.delivered(b, "A", late)


def test_a_datagram_that_is_lost_is_sent_again() -> None:
    """B's first message to A is lost. Its timer fires, A asks which incarnation it is for, and B comes in."""
    schedule: list[Any] = [
        ("start", "A"),
        ("start", "B"),
        ("join", "A", "A"),
        ("join", "B", "A"),
        ("lose", "B", 1, "A"),
        ("timer", "B", "unicast/retransmit/1"),
    ]
    heard: list[Any] = []
    violation, happened = replay(
        UNICAST, 1, schedule, lambda _ground, _event, told: heard.append(told) if told else None
    )
    assert (None, schedule) == (violation, happened)
    (datagram,) = [effect for effect in heard[-1].effects if hasattr(effect, "message")]
    assert isinstance(datagram.message.message, unicast.Data)
    assert not any(isinstance(each, PassUp) and isinstance(each.event, Deliver) for each in heard[-1].effects)
