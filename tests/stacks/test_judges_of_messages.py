"""The judges of unicasts and multicasts, of what is told safe, and of states: each is told a short history."""

from contextlib import nullcontext

import pytest
from attrs import evolve

from groupcomm import state_transfer
from groupcomm.digest import Vector
from groupcomm.events import Payload
from groupcomm.view import ViewId
from groupcomm_simulator.judges.claims import Judge, Verdicts, Violation
from groupcomm_simulator.judges.membership import Decided, Membership, Process
from groupcomm_simulator.judges.multicasts import ReliableMulticast
from groupcomm_simulator.judges.states import OneSequence, OneState
from groupcomm_simulator.judges.unicasts import ReliableUnicast
from groupcomm_simulator.judges.uniform import UniformDelivery

A, B, C = "ABC"


class Message:
    """A message, known by its identity."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"message {self.number}"


class Unicasts:
    """A has sent B four messages."""

    def __init__(self) -> None:
        self.verdicts = Verdicts()
        self.judge = ReliableUnicast(self.verdicts)
        self.group = Membership()
        self.a, self.b = self.group.start(A), self.group.start(B)
        self.messages = [Message(number) for number in range(4)]
        self.sends(self.a, *self.messages)

    def sends(self, process: Process, *messages: Message) -> None:
        for message in messages:
            self.judge.sent(process, B, message)

    def hears(self, process: Process, *messages: Message) -> str:
        """Give the claim that is violated, "" if none is."""
        try:
            for message in messages:
                self.judge.delivered(process, A, message)
        except Violation as violation:
            return violation.claim
        return ""

    def restarts(self, process: Process) -> Process:
        process.up = False
        return self.group.start(process.address)


@pytest.mark.parametrize(
    ("heard", "claim"),
    [
        ([0, 1, 2, 3], ""),
        ([0, 0], "Once"),
        ([0, 1, 1], "Once"),
        ([0, 1, 0], "InOrder"),
        ([0, 1, 2, 0], "InOrder"),
        ([1], "NoMessageLost"),
        ([0, 2], "NoMessageLost"),
    ],
)
def test_unicasts_arrive_once_in_order_and_none_is_left_out(heard: list[int], claim: str) -> None:
    link = Unicasts()
    assert link.hears(link.b, *(link.messages[number] for number in heard)) == claim


def test_a_unicast_that_is_left_out_is_named() -> None:
    link = Unicasts()
    assert link.hears(link.b, link.messages[0]) == ""
    with pytest.raises(Violation, match=r"^NoMessageLost: B hears message 3 of A; it lacks message 1$"):
        link.judge.delivered(link.b, A, link.messages[3])


def test_a_unicast_is_of_the_member_that_sent_it_and_to_that_which_hears_it() -> None:
    link = Unicasts()
    assert link.hears(link.b, Message(0)) == "NotForged"
    assert link.hears(link.a, link.messages[0]) == "NotForged"
    with pytest.raises(Violation, match=r"NotForged"):
        link.judge.delivered(link.b, B, link.messages[0])
    assert link.verdicts.judged["NotForged"] == 3


def test_what_unicasts_are_judged_by_is_counted() -> None:
    link = Unicasts()
    link.hears(link.b, *link.messages)
    link.judge.quiet(link.group.current)
    link.judge.keeps(link.a, link.b, 1)
    assert link.verdicts.judged == {
        "NotForged": 4, "Once": 3, "InOrder": 3, "NoMessageLost": 4, "UnicastsArrive": 1, "NothingKeptForEver": 1
    }  # fmt: skip


def test_a_view_without_a_member_or_its_silence_excuses_what_was_sent_before() -> None:
    for report in (False, True):
        link = Unicasts()
        link.judge.installed(link.a, frozenset({A, B}))
        link.judge.reported(link.a, B)  # which is in the view: it excuses nothing
        assert link.judge.waits(link.a, B)
        link.judge.installed(link.a, frozenset({A}))
        assert not link.judge.waits(link.a, B)
        after = [Message(4), Message(5)]
        link.sends(link.a, after[0])
        if report:
            link.judge.reported(link.a, B)
        link.sends(link.a, after[1])
        assert link.judge.waits(link.a, B)
        assert [each for _, _, each in link.judge.waiting()] == after[report:]
        assert link.hears(link.b, after[report]) == ""


def test_a_report_before_the_first_view_excuses_nothing() -> None:
    link = Unicasts()
    link.judge.reported(link.a, B)
    assert link.hears(link.b, link.messages[1]) == "NoMessageLost"
    link = Unicasts()
    link.judge.installed(link.a, frozenset({A}))  # B was no member
    assert link.judge.waits(link.a, B)


def test_a_later_incarnation_may_hear_again_what_the_former_heard() -> None:
    for first, claim in ((0, ""), (2, ""), (3, "NoMessageLost")):
        link = Unicasts()
        link.hears(link.b, *link.messages[:2])
        assert link.hears(link.restarts(link.b), link.messages[first]) == claim


def test_nothing_of_a_former_incarnation_comes_after_the_later() -> None:
    link = Unicasts()
    later = link.restarts(link.a)
    new = Message(4)
    link.sends(later, new)
    assert link.hears(link.b, link.messages[0]) == ""
    assert link.verdicts.judged["LivesInOrder"] == 0  # there is but one incarnation
    assert link.hears(link.b, new) == ""
    assert link.verdicts.judged["LivesInOrder"] == 1
    with pytest.raises(Violation, match=r"^LivesInOrder: B hears message 1 of A after it has heard A~2$"):
        link.judge.delivered(link.b, A, link.messages[1])


def test_in_the_end_each_unicast_between_live_processes_has_arrived() -> None:
    link = Unicasts()
    link.hears(link.b, *link.messages[:3])
    with pytest.raises(Violation, match=r"^UnicastsArrive: message 3 of A never reaches B$"):
        link.judge.quiet(link.group.current)
    for process in (link.a, link.b):
        process.up = False
        link.judge.quiet(link.group.current)
        assert link.verdicts.judged["UnicastsArrive"] == 1
        process.up = True


def test_in_the_end_nothing_is_kept_for_a_process_that_is_gone() -> None:
    link = Unicasts()
    link.judge.keeps(link.a, link.b, 2)
    link.b.up = False
    link.judge.keeps(link.a, link.b, 0)
    with pytest.raises(Violation, match=r"^NothingKeptForEver: A sends 2 messages for ever to B, which is gone$"):
        link.judge.keeps(link.a, link.b, 2)


def test_unicasts_that_have_arrived_are_forgotten_and_counted_on() -> None:
    link = Unicasts()
    link.hears(link.b, *link.messages)
    link.judge.forget(link.group.current)
    new = [Message(4), Message(5)]
    link.sends(link.a, *new)
    assert link.judge.waits(link.a, B)
    assert [*link.judge.waiting()] == [(link.a, B, new[0]), (link.a, B, new[1])]
    assert link.hears(link.b, new[1]) == "NoMessageLost"
    assert link.hears(link.b, link.messages[3]) == "NotForged"


def test_unicasts_to_and_of_processes_that_are_gone_are_forgotten_or_kept() -> None:
    link = Unicasts()
    link.b.up = False
    link.judge.forget(link.group.current)  # a later incarnation may be given them
    later = link.restarts(link.b)
    assert link.hears(later, *link.messages) == ""
    link.a.up = False
    link.judge.forget(link.group.current)
    assert link.hears(later, link.messages[3]) == "NotForged"


class Multicasts:
    """A, B and C have installed a view; A has multicast three messages."""

    def __init__(self) -> None:
        self.verdicts = Verdicts()
        self.judge = ReliableMulticast(self.verdicts)
        self.group = Membership()
        self.a, self.b, self.c = self.all = [self.group.start(address) for address in (A, B, C)]
        self.view = self.group.decide(self.a, 1, self.all)
        self.enter(self.view, *self.all)
        self.messages = [Payload(Message(number)) for number in range(3)]
        for message in self.messages:
            self.judge.cast(self.a, message, at_once=True)

    def enter(self, view: Decided, *members: Process) -> None:
        for process in members:
            self.group.install(process, view)
            self.judge.installed(process, {A: 0}, 0)

    def hears(self, process: Process, *numbers: int) -> str:
        """Give the claim that is violated, "" if none is."""
        try:
            for number in numbers:
                self.judge.delivered(process, A, self.messages[number])
        except Violation as violation:
            return violation.claim
        return ""


@pytest.mark.parametrize(
    ("heard", "claim"), [([0, 1, 2], ""), ([0, 0], "OnceInOrder"), ([1], "OnceInOrder"), ([0, 1, 2, 2], "OnceInOrder")]
)
def test_multicasts_are_heard_once_in_order(heard: list[int], claim: str) -> None:
    group = Multicasts()
    assert group.hears(group.b, *heard) == claim


def test_a_multicast_is_of_the_view_in_which_it_is_heard() -> None:
    group = Multicasts()
    with pytest.raises(Violation, match=r"^OfItsView: B hears message 9 of A as its 1. in"):
        group.judge.delivered(group.b, A, Payload(Message(9)))
    with pytest.raises(Violation, match=r"^OfItsView: B hears message 0 of D, in"):
        group.judge.delivered(group.b, "D", group.messages[0])
    after = group.group.decide(group.a, 2, group.all, [group.view])
    group.enter(after, group.b)
    assert group.hears(group.b, 0) == "OfItsView"
    outside = group.group.start("D")
    with pytest.raises(Violation, match=r"^OfItsView: D multicasts in no view$"):
        group.judge.cast(outside, Payload(Message(9)), at_once=True)
    with pytest.raises(Violation, match=r"^OfItsView: D hears message 0 of A, in None$"):
        group.judge.delivered(outside, A, group.messages[0])


def test_a_sender_hears_its_own_multicast_at_once() -> None:
    group = Multicasts()
    with pytest.raises(Violation, match=r"^OwnAtOnce: A does not hear its own message 3 at once$"):
        group.judge.cast(group.a, Payload(Message(3)), at_once=False)


def test_what_is_beyond_a_limit_is_held_back_until_it_is_lifted_or_a_view_comes() -> None:
    for lifts in (False, True):
        group = Multicasts()
        group.judge.limited(group.b, Vector.of(A=1))
        assert group.hears(group.b, 0) == ""
        assert group.verdicts.judged["HoldsBack"] == 1
        assert group.hears(group.b, 1) == "HoldsBack"
        if lifts:
            group.judge.limited(group.b, None)
            assert group.hears(group.b, 1, 2) == ""
        else:
            after = group.group.decide(group.a, 2, group.all, [group.view])
            group.enter(after, *group.all)
            group.messages = [Payload(Message(3)), Payload(Message(4))]
            for message in group.messages:
                group.judge.cast(group.a, message, at_once=True)
            assert group.hears(group.b, 0, 1) == ""


def test_a_limit_says_nothing_of_senders_that_it_does_not_name() -> None:
    group = Multicasts()
    group.judge.limited(group.b, Vector.of(C=0))
    assert group.hears(group.b, 0, 1, 2) == ""
    assert group.verdicts.judged["HoldsBack"] == 0


def test_members_of_a_view_count_from_the_same_numbers_and_hear_nothing_with_it() -> None:
    group = Multicasts()
    with pytest.raises(Violation, match=r"^BasesAgree: B counts in A\|1\[A,B,C\] from {'A': 1}, others from {'A': 0}$"):
        group.judge.installed(group.b, {A: 1}, 0)
    with pytest.raises(Violation, match=r"^NothingWithTheView: B hears multicasts in the step that enters A\|1"):
        group.judge.installed(group.b, {A: 0}, 1)


def test_what_multicasts_are_judged_by_is_counted() -> None:
    group = Multicasts()
    for process in group.all:
        group.hears(process, 0, 1, 2)
    group.judge.quiet(group.all)
    assert group.verdicts.judged == {
        "NothingWithTheView": 3, "BasesAgree": 2, "OwnAtOnce": 3, "OfItsView": 9, "OnceInOrder": 6, "MulticastsArrive": 3
    }  # fmt: skip


def test_in_the_end_all_members_have_heard_all_multicasts() -> None:
    group = Multicasts()
    group.judge.quiet([])
    for process in (group.a, group.b):
        group.hears(process, 0, 1, 2)
    group.hears(group.c, 0, 1)
    group.judge.quiet([group.a, group.b])
    with pytest.raises(Violation, match=r"^MulticastsArrive: C never hears all of A in A|1"):
        group.judge.quiet(group.all)
    group.judge.quiet([group.group.start("D")])  # which is in no view


def test_multicasts_of_views_that_are_over_are_forgotten() -> None:
    group = Multicasts()
    group.judge.forget({group.view})
    assert group.hears(group.b, 0) == ""
    group.judge.forget(set())
    assert group.hears(group.b, 1) == "OfItsView"


class Safe:
    """A, B, C are in a view, in which A has sent messages 1 and 2 and delivered them."""

    def __init__(self, *, majority: bool = False) -> None:
        self.verdicts = Verdicts()
        self.judge = UniformDelivery(self.verdicts, majority=majority)
        self.group = Membership()
        self.a, self.b, self.c = self.all = [self.group.start(address) for address in (A, B, C)]
        self.first = self.group.decide(self.a, 1, self.all)
        self.enter(self.first, *self.all)
        self.delivers(1, self.a)
        self.delivers(2, self.a)

    def enter(self, view: Decided, *members: Process) -> None:
        for process in members:
            self.group.install(process, view)
            self.judge.installed(process, view)

    def delivers(self, number: int, *members: Process) -> None:
        for process in members:
            self.judge.delivered(process, A, number)


def test_a_message_is_safe_when_all_members_of_the_view_have_it() -> None:
    group = Safe()
    group.delivers(1, group.b, group.c)
    group.judge.told(group.a, 1, is_safe=True)
    group.delivers(2, group.b)
    with pytest.raises(Violation, match=r"^HeldByAll: message 2 of A is safe, and C, which went"):
        group.judge.told(group.a, 2, is_safe=True)
    assert group.verdicts.judged == {"SafeIsDelivered": 2, "HeldByAll": 2}


def test_where_nobody_knows_whether_a_message_is_safe_none_need_have_it() -> None:
    group = Safe()
    group.judge.told(group.a, 2, is_safe=False)
    group.judge.quiet(group.a, 2)
    assert group.verdicts.judged == {"SafeIsDelivered": 1, "EventuallyTold": 1}


def test_a_sender_hears_of_what_it_has_delivered() -> None:
    group = Safe()
    with pytest.raises(Violation, match=r"^SafeIsDelivered: A hears of its message 3, and has delivered 2$"):
        group.judge.told(group.a, 3, is_safe=False)
    group.delivers(1, group.b)
    with pytest.raises(Violation, match=r"^SafeIsDelivered: B hears of its message 1, and has delivered 0$"):
        group.judge.told(group.b, 1, is_safe=False)  # that of A is not its own


def test_in_the_end_a_sender_has_heard_of_each_message() -> None:
    group = Safe()
    group.judge.told(group.a, 1, is_safe=False)
    with pytest.raises(Violation, match=r"^EventuallyTold: A has sent 2 messages, and heard of 1$"):
        group.judge.quiet(group.a, 2)


def test_a_member_that_comes_to_the_view_later_has_what_was_safe_there() -> None:
    group = Safe()
    group.delivers(1, group.b, group.c)
    after = group.group.decide(group.a, 2, group.all, [group.first])
    group.enter(after, group.a, group.b)
    group.delivers(2, group.b)
    group.judge.told(group.a, 1, is_safe=True)  # C has not gone that way yet
    group.enter(after, group.c)
    group = Safe()
    group.delivers(1, group.b)
    after = group.group.decide(group.a, 2, group.all, [group.first])
    group.enter(after, group.a, group.b)
    group.judge.told(group.a, 1, is_safe=True)
    with pytest.raises(Violation, match=r"^HeldByAll: message 1 of A is safe, and C"):
        group.enter(after, group.c)


def test_a_member_that_went_another_way_need_not_have_what_is_safe() -> None:
    group = Safe()
    group.delivers(1, group.b)
    one = group.group.decide(group.a, 2, [group.a, group.b], [group.first])
    other = group.group.decide(group.c, 2, [group.c], [group.first])
    group.enter(one, group.a, group.b)
    group.enter(other, group.c)
    group.enter(group.group.decide(group.a, 3, group.all, [one, other]), *group.all)
    group.judge.told(group.a, 1, is_safe=True)


@pytest.mark.parametrize(
    ("have", "enough"), [("AB", True), ("BC", True), ("A", False), ("B", False), ("ABC", True)]
)  # fmt: skip
def test_a_majority_of_the_view_of_its_delivery_has_what_is_safe(have: str, *, enough: bool) -> None:
    """The others are not in the view in which the sender hears of it."""
    group = Safe(majority=True)
    sender = group.all["ABC".index(have[0])]
    group.judge.delivered(sender, have[0], 1)
    for each in have[1:]:
        group.judge.delivered(group.all["ABC".index(each)], have[0], 1)
    group.enter(group.group.decide(sender, 2, [sender], [group.first]), sender)
    if enough:
        group.judge.told(sender, 1, is_safe=True)
    else:
        with pytest.raises(
            Violation, match=rf"^HeldByMajority: message 1 of {have} is safe, and of A\|1\[A,B,C\] \[{have}\] have"
        ):
            group.judge.told(sender, 1, is_safe=True)
    assert group.verdicts.judged["HeldByMajority"] == 1


def test_half_of_a_view_is_a_majority_with_its_first_member_alone() -> None:
    for sender, enough in ((A, True), (B, False)):
        group = Safe(majority=True)
        two = group.group.decide(group.a, 2, [group.a, group.b], [group.first])
        group.enter(two, group.a, group.b)
        process = two.at[sender]
        group.judge.delivered(process, sender, 3)
        group.judge.told(process, 2, is_safe=False)
        group.enter(group.group.decide(process, 3, [process], [two]), process)
        if enough:
            group.judge.told(process, 3, is_safe=True)
        else:
            with pytest.raises(Violation, match=r"HeldByMajority"):
                group.judge.told(process, 3, is_safe=True)


def test_a_formed_view_has_what_was_safe_between_it_and_the_view_that_it_is_formed_from() -> None:
    group = Safe()
    lone = group.group.decide(group.a, 3, [group.a], [group.first])
    group.enter(lone, group.a)
    group.judge.told(group.a, 1, is_safe=True)  # by A alone, in a view of counter 3
    for counter, before in ((4, 3), (3, 2), (3, 1)):
        group.judge.formed(ViewId(counter, B), before)
    assert group.verdicts.judged["HeldInBase"] == 0
    with pytest.raises(Violation, match=r"^HeldInBase: message 1 of A .* and of A\|1\[A,B,C\] \[B, C\] lack it$"):
        group.judge.formed(ViewId(4, B), 2)
    group.delivers(1, group.b, group.c)
    group.judge.formed(ViewId(4, B), 2)
    assert group.verdicts.judged["HeldInBase"] == 2
    group.judge.forget()
    group.judge.formed(ViewId(4, B), 2)
    assert group.verdicts.judged["HeldInBase"] == 2


def test_a_process_in_no_view_delivers_nothing_that_counts() -> None:
    group = Safe()
    outside = group.group.start("D")
    group.judge.delivered(outside, "D", 1)
    with pytest.raises(Violation, match=r"has delivered 0$"):
        group.judge.told(outside, 1, is_safe=False)


HERE, THERE, LATER = ViewId(1, A), ViewId(2, A), ViewId(3, A)
M, N, P = (A, 1), (B, 1), (C, 1)


def test_members_have_one_state_at_a_place_and_more_at_a_later() -> None:
    verdicts = Verdicts()
    judge = OneState(verdicts)
    judge.holds(A, HERE, 2, (M, N))
    judge.holds(B, HERE, 2, (M, N))
    judge.holds(B, HERE, 4, (M, N, P))
    judge.holds(C, HERE, 1, (M,))
    judge.holds(C, HERE, 3, (M, N))
    judge.holds(C, THERE, 3, (P,))
    assert verdicts.judged == {"SameAtSamePlace": 1, "MoreAtLaterPlace": 4}
    with pytest.raises(Violation, match=r"^SameAtSamePlace: C differs at 2 of .*, not "):
        judge.holds(C, HERE, 2, (M,))


@pytest.mark.parametrize(("place", "story"), [(3, (N,)), (1, (N,)), (1, (M, N, P)), (3, (M,))])
def test_a_state_at_a_later_place_has_what_an_earlier_has(place: int, story: tuple[tuple[str, int], ...]) -> None:
    judge = OneState(Verdicts())
    judge.holds(A, HERE, 2, (M, N))
    with pytest.raises(Violation, match=f"^MoreAtLaterPlace: B has .* at {place} of .*, and there was .* at 2$"):
        judge.holds(B, HERE, place, story)


@pytest.mark.parametrize(
    ("has", "settled", "vacant", "right"),
    [
        (False, True, False, [False]),
        (True, True, False, [True]),
        (True, False, False, [True, False]),
        (True, False, True, [False]),
    ],
)
def test_an_application_hears_whether_it_has_the_state(
    *, has: bool, settled: bool, vacant: bool, right: list[bool]
) -> None:
    verdicts = Verdicts()
    judge = OneState(verdicts)
    state = evolve(state_transfer.start(A), has=has, settled=settled, vacant=vacant)
    for knows in (True, False):
        says = (
            nullcontext() if knows in right else pytest.raises(Violation, match=f"KnowsItsState: A has heard {knows}")
        )
        with says:
            judge.knows(A, state, knows=knows)
    assert verdicts.judged == {"KnowsItsState": 2}


def test_no_message_is_in_a_state_twice_and_in_the_end_all_have_it() -> None:
    verdicts = Verdicts()
    judge = OneState(verdicts)
    judge.passed_up(A, N, (M, N))
    with pytest.raises(Violation, match=r"^NothingTwice: .* is twice in the state of A$"):
        judge.passed_up(A, M, (M, N, M))
    judge.quiet([(A, True), (B, True)])
    with pytest.raises(Violation, match=r"^EventuallyHasState: B never"):
        judge.quiet([(A, True), (B, False)])
    assert verdicts.judged == {"NothingTwice": 2, "EventuallyHasState": 4}


def test_states_of_former_views_are_forgotten() -> None:
    judge = OneState(Verdicts())
    judge.holds(A, HERE, 1, (M,))
    judge.forget()
    judge.holds(B, HERE, 1, (N,))


class Primary:
    """The primary has M and N in its first view, of which M was ordered before it."""

    def __init__(self) -> None:
        self.verdicts = Verdicts()
        self.judge = OneSequence(self.verdicts)
        self.judge.in_primary(A, HERE, (M,), ())


def test_the_state_of_the_primary_only_grows() -> None:
    group = Primary()
    group.judge.in_primary(B, HERE, (M, N), ())
    with pytest.raises(Violation, match=r"^PrimaryHasSequence: C has "):
        group.judge.in_primary(C, HERE, (N,), ())
    group.judge.in_primary(A, THERE, (M, P), ())
    with pytest.raises(Violation, match=r"^SequenceOnlyGrows: C has "):
        group.judge.in_primary(C, LATER, (M, N), ())
    group.judge.in_primary(C, HERE, (), ())  # it is behind: it is in no primary any more
    assert group.verdicts.judged == {"SequenceOnlyGrows": 3, "PrimaryHasSequence": 2}


def test_what_is_ordered_in_a_view_does_not_count_before_the_next() -> None:
    group = Primary()
    group.judge.in_primary(A, THERE, (M, N), {N})
    group.judge.in_primary(B, THERE, (M, P), {P})  # N was A's alone
    group.judge.in_primary(C, LATER, (M, N, P), {P})
    with pytest.raises(Violation, match=r"PrimaryHasSequence"):
        group.judge.in_primary(B, LATER, (M, P), {P})


def test_what_is_safe_stays_in_the_state_of_the_primary() -> None:
    for counter, claim in ((HERE, "SafeIsKept"), (THERE, ""), (LATER, "")):
        group = Primary()
        group.judge.is_safe(counter, N)
        if claim:
            with pytest.raises(Violation, match=r"^SafeIsKept: .* is safe, and B in .* has "):
                group.judge.in_primary(B, THERE, (M, P), ())
        else:
            group.judge.in_primary(B, THERE, (M, P), ())
        assert group.verdicts.judged["SafeIsKept"] == (1 if claim else 0)
    with pytest.raises(Violation, match=r"SafeIsKept"):  # safe in the last of these views, and gone in the next
        group.judge.in_primary(B, ViewId(4, A), (M, P), ())


def test_a_declared_state_begins_the_sequence_anew_where_a_view_is_formed_with_it() -> None:
    group = Primary()
    group.judge.is_safe(HERE, M)
    group.judge.declared((P,))
    group.judge.is_safe(HERE, N)
    with pytest.raises(Violation, match=r"PrimaryHasSequence"):
        group.judge.in_primary(B, HERE, (P,), ())
    with pytest.raises(Violation, match=r"SafeIsKept"):  # N was safe after the declaration
        group.judge.in_primary(B, THERE, (P,), ())
    group = Primary()
    group.judge.is_safe(HERE, M)
    group.judge.declared((P,))
    group.judge.in_primary(B, THERE, (P, N), {N})
    with pytest.raises(Violation, match=r"SequenceOnlyGrows"):  # which no view is formed with any more
        group.judge.in_primary(C, LATER, (M,), ())


def test_a_claim_that_is_ignored_is_not_judged() -> None:
    judge = Judge(Verdicts(frozenset({"Once"})))
    judge._fail("Once", "")  # noqa: SLF001 - what each judge uses
    with pytest.raises(Violation, match=r"^InOrder: why$") as raised:
        judge._fail("InOrder", "why")  # noqa: SLF001
    assert (raised.value.claim, raised.value.text) == ("InOrder", "why")
