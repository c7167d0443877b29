"""Stacks over datagrams that are lost, doubled and late: what UNICAST and NAKACK give, and what is judged of them."""

from random import Random
from typing import Any

import pytest
from attrs import evolve

from groupcomm import nakack, unicast
from groupcomm.digest import Vector
from groupcomm.effects import PassUp
from groupcomm.events import Deliver, Payload
from groupcomm.stack import Tagged
from groupcomm_simulator import setup
from groupcomm_simulator.chance import Chance
from groupcomm_simulator.judges.claims import CLAIMS, Verdicts, Violation
from groupcomm_simulator.judges.membership import Membership
from groupcomm_simulator.judges.multicasts import ReliableMulticast
from groupcomm_simulator.judges.unicasts import ReliableUnicast
from groupcomm_simulator.oracle import Oracle
from groupcomm_simulator.running import ground_of, replay, run_seed
from groupcomm_simulator.setup import DATAGRAMS, Faults, Setup
from groupcomm_simulator.setup import WHOLE as ABOVE
from tests.simulated import all_holds, violation
from tests.stacks.broken import Broken
from tests.stacks.broken_below import BROKEN

WHOLE = Setup(DATAGRAMS)
UNICAST = Setup((*ABOVE, "unicast"))


@pytest.mark.parametrize("layers", ["unicast", "nakack", "nakack/unicast"])
def test_over_lost_datagrams_the_stack_gives_what_its_layers_assume(layers: str) -> None:
    """UNICAST alone, NAKACK alone, each over the other's abstract layer; and both, over a network alone."""
    setup = Setup((*ABOVE, *layers.split("/")))
    outcome = all_holds(setup, events=45_000, seed=100)
    assert not outcome.unjudged
    given = {"nakack": "ReliableMulticast", "unicast": "ReliableUnicast"}
    for layer in layers.split("/"):
        assert given[layer] in setup.guarantees
        assert {claim for claim in CLAIMS[given[layer]] if outcome.judged[claim] > 20} == {*CLAIMS[given[layer]]}
    assert outcome.happened["lose"] > 500
    assert outcome.happened["double"] > 200


def test_over_gms_alone_the_stack_stands_on_datagrams_too() -> None:
    setup = Setup(("sequencer", "flush", "gms", "stable", "nakack", "unicast"))
    all_holds(evolve(setup, faults=Faults(setup.borne)), events=20_000, seed=100)


def test_what_was_sent_to_a_former_life_reaches_the_next_one() -> None:
    """A datagram is for an address. Late mail is what connections and incarnations are there for."""
    ground, random, members = ground_of(WHOLE, 2)
    chance, late = Chance(ground, members, WHOLE.faults, random), 0
    for event in chance.first():
        ground.perform(event)
    while ground.events < 3_000:
        drawn = chance.draw()
        if drawn is not None:
            to_former = drawn[0] in {"copy", "double"} and not ground.known(str(drawn[3])).up
            late += ground.perform(drawn) and to_former
    assert late > 5


# The judge of unicasts: violations and permitted behaviour


@pytest.fixture
def group() -> Membership:
    made = Membership()
    for address in "AB":
        made.start(address)
    return made


def judged(group: Membership, sent: str, heard: str, *, view_after: int = -1) -> str:
    """The claim that is violated when A sends letters and B hears some; A excludes B after so many."""
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
        ("abc", "ac", "NoMessageLost"),
        ("abc", "bc", "NoMessageLost"),
        ("abc", "abx", "NotForged"),
    ],
)
def test_each_claim_of_unicasts_falls_alone(group: Membership, sent: str, heard: str, claim: str) -> None:
    assert claim == judged(group, sent, heard)


def test_what_was_sent_before_a_report_may_be_lost_only_with_a_view_without_the_peer(group: Membership) -> None:
    for members, claims in (("A", {""}), ("AB", {"NoMessageLost"}), ("", {"NoMessageLost"})):
        judge, (a, b), said = (ReliableUnicast(Verdicts()), (group.current["A"], group.current["B"]), set[str]())
        letters = [Tagged("gms", letter) for letter in "ab"]
        judge.installed(a, frozenset(members))
        judge.sent(a, "B", letters[0])
        judge.reported(a, "B")
        judge.sent(a, "B", letters[1])
        try:
            judge.delivered(b, "A", letters[1])
            said.add("")
        except Violation as violation:
            said.add(violation.claim)
        assert claims == said


def test_what_is_kept_for_a_process_that_is_gone_is_kept_for_ever(group: Membership) -> None:
    judge, (a, b) = ReliableUnicast(Verdicts()), (group.current["A"], group.current["B"])
    judge.keeps(a, b, 1)
    b.up = False
    judge.keeps(a, b, 0)
    with pytest.raises(Violation, match="NothingKeptForEver"):
        judge.keeps(a, b, 1)


def test_what_was_sent_before_a_view_without_the_peer_may_be_lost_and_no_more(group: Membership) -> None:
    assert "" == judged(group, "abcd", "acd", view_after=2)
    assert "NoMessageLost" == judged(group, "abcd", "ad", view_after=2)
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
    with pytest.raises(Violation, match="NoMessageLost"):
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


# The judge of multicasts


def heard_of(group: Membership, sent: str, heard: str, *, limit: int | None = None, at_once: bool = True) -> str:
    """The claim that is violated when A multicasts letters and B hears some, in a view of both."""
    judge, (a, b) = ReliableMulticast(Verdicts()), (group.current["A"], group.current["B"])
    view = group.decide(a, 1, [a, b])
    letters = {letter: Payload(Tagged("flush", letter)) for letter in "abcx"}
    try:
        for process in (a, b):
            group.install(process, view)
            judge.installed(process, {"A": 4, "B": -1}, 0)
        for letter in sent:
            judge.cast(a, letters[letter], at_once=at_once)
            judge.delivered(a, "A", letters[letter])
        judge.limited(b, None if limit is None else Vector.of(A=limit, B=0))
        for letter in heard:
            judge.delivered(b, "A", letters[letter])
        judge.quiet([a, b])
    except Violation as violation:
        return violation.claim
    return ""


@pytest.mark.parametrize(
    ("sent", "heard", "limit", "claim"),
    [
        ("abc", "abc", None, ""),
        ("abc", "ab", None, "MulticastsArrive"),
        ("abc", "abb", None, "OnceInOrder"),
        ("abc", "ac", None, "OnceInOrder"),
        ("abc", "abx", None, "OfItsView"),
        ("abc", "abc", 2, "HoldsBack"),
        ("abc", "abc", 3, ""),
    ],
)
def test_each_claim_of_multicasts_falls_alone(
    group: Membership, sent: str, heard: str, limit: int | None, claim: str
) -> None:
    assert claim == heard_of(group, sent, heard, limit=limit)


def test_who_multicasts_hears_it_at_once(group: Membership) -> None:
    assert "OwnAtOnce" == heard_of(group, "a", "a", at_once=False)


def test_members_count_from_the_same_numbers_and_hear_nothing_with_a_view(group: Membership) -> None:
    judge, (a, b) = ReliableMulticast(Verdicts()), (group.current["A"], group.current["B"])
    view = group.decide(a, 1, [a, b])
    for process in (a, b):
        group.install(process, view)
    with pytest.raises(Violation, match="NothingWithTheView"):
        judge.installed(a, {"A": 4, "B": -1}, 1)
    judge.installed(a, {"A": 4, "B": -1}, 0)
    with pytest.raises(Violation, match="BasesAgree"):
        judge.installed(b, {"A": 3, "B": -1}, 0)


# Broken cores. `python -m tests.stacks.broken_below` runs all of them, at 200,000 events each.

QUICK = {
    "gaps_skipped": "NoMessageLost",
    "kept_is_dropped": "NoMessageLost",
    "window_for_any_incarnation": "Once",
    "own_not_delivered": "OwnAtOnce",
    "gap_skipped": "OnceInOrder",
    "joiner_from_nothing": "BasesAgree",
    "asked_in_vain": "ResumedWhenQuiescent",
}


@pytest.mark.parametrize("core", [each for each in BROKEN if each.name in QUICK], ids=lambda each: each.name)
def test_a_broken_core_is_found(core: Broken) -> None:
    with core.in_place():
        assert QUICK[core.name] == violation(WHOLE, events=30_000).claim


def test_forty_nine_cores_are_broken_and_each_text_is_there_once() -> None:
    assert 49 == len(BROKEN) == len({core.name for core in BROKEN})
    assert all(core.functions() for core in BROKEN)


# A datagram that is lost


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


@pytest.fixture
def as_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds that were found when NAKACK had two numbers, and asked for all that was missing, draw the same groups."""
    drawn = setup._drawn  # noqa: SLF001 - what a seed draws

    def drawn_then(config: type, random: Random, group: Setup) -> object:
        if config is nakack.Config:
            return nakack.Config(random.randint(0, 8), random.randint(0, 8), first_asked=1_000)
        return drawn(config, random, group)

    monkeypatch.setattr(setup, "_drawn", drawn_then)


@pytest.mark.usefixtures("as_found")
@pytest.mark.parametrize(
    ("seed", "events"),
    [
        pytest.param(20265569, 1_600, id="a requester that overtook another crashes"),
        pytest.param(20274459, 3_990, id="a requester that overtook another is suspected by it and the third"),
        pytest.param(20265799, 4_453, id="one datagram is acknowledged when another one is sent, round after round"),
        pytest.param(20268317, 2_495, id="the same, and a joiner waits for it"),
        pytest.param(20266743, 2_600, id="a process that was let in, and never heard of it, founds a group"),
        pytest.param(20270085, 2_009, id="a member asks to leave that a crashed coordinator has let in"),
        pytest.param(20275398, 3_940, id="a coordinator that was asked begins again, on a branch of low counters"),
        pytest.param(20274392, 1_338, id="the same, and the asker leads a merge"),
        pytest.param(20267334, 200, id="a coordinator crashes, and one of two groups has the merged view"),
    ],
)
def test_a_group_that_was_rejected_though_its_layers_keep_their_promises(seed: int, events: int) -> None:
    """Judges asked for more than the specifications claim, or a layer was wrong: once in ten million events.

    (Found when a view granted one request.)
    """
    result = run_seed(evolve(WHOLE, faults=Faults(WHOLE.borne), bundle=1), seed, events)
    assert result.found is None
    assert result.events >= events


def test_no_address_begins_again_while_one_waits_that_asked_its_former_incarnation() -> None:
    """B has decided a view. Its next incarnation asks A, where the counter has passed that of the view."""
    ground, _, _ = ground_of(WHOLE, 1)
    for event in ("start A", "start B", "join A A", "join B B", "crash B", "start B"):
        assert ground.perform(tuple(event.split()))
    again = ground.membership.current["B"]
    assert (1, 1) == (again.life, ground.views.used["B"])
    assert ground.perform(("join", again.name, "A"))
    assert ground.perform(("crash", "A"))
    assert not ground.perform(("start", "A"))  # it would hear what the former A was asked
    assert ground.perform(("start", "A#2"))
    assert ground.perform(("crash", again.name))
    assert ground.perform(("start", "A"))


@pytest.mark.usefixtures("as_found")
def test_a_request_that_reaches_another_branch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ground that keeps CountersArePassed no more is found by a view identifier that names two views."""
    monkeypatch.setattr(Oracle, "may_begin", lambda _oracle, _address: True)
    result = run_seed(evolve(WHOLE, faults=Faults(WHOLE.borne), bundle=1), 20274392, 1_338)
    assert result.found is not None
    assert "UniqueViewId" == result.found.claim
