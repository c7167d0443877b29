"""The judges of views, of promised digests, and of what is purged: each is told a short history."""

from collections.abc import Mapping

import pytest
from attrs import frozen

from groupcomm.digest import NOTHING, Vector
from groupcomm_simulator.judges.claims import Verdicts, Violation
from groupcomm_simulator.judges.membership import Decided, Membership, NotAllowedError, Process, comes_after
from groupcomm_simulator.judges.promises import JoinDigest
from groupcomm_simulator.judges.stability import StabilitySafety

A, B, C, D = "ABCD"


class Group:
    """A and B are in a view; C and D have begun."""

    def __init__(self) -> None:
        self.views = Membership()
        self.a, self.b, self.c, self.d = self.all = [self.views.start(address) for address in (A, B, C, D)]
        self.first = self.decided(1, [self.a, self.b])
        self.enter(self.first, self.a, self.b)

    def decided(self, counter: int, members: list[Process], *preds: Decided) -> Decided:
        return self.views.decide(members[0], counter, members, preds)

    def enter(self, view: Decided, *members: Process) -> None:
        for process in members:
            self.views.install(process, view)

    def restarts(self, process: Process) -> Process:
        process.up = False
        return self.views.start(process.address)


# Membership


def test_an_incarnation_has_a_name_of_its_own() -> None:
    group = Group()
    with pytest.raises(NotAllowedError, match=r"^A is up$"):
        group.views.start(A)
    later = group.restarts(group.a)
    last = group.restarts(later)
    assert [(each.name, each.life, each.order) for each in (group.a, later, last)] == [
        ("A", 0, 0), ("A~4", 1, 4), ("A~5", 2, 5)
    ]  # fmt: skip
    assert group.views.lives[A, 1] is later
    assert group.views.current[A] is last
    assert group.views.processes["A~4"] is later


@pytest.mark.parametrize(
    ("creator", "counter", "members", "conjunct"),
    [
        ("A", 1, "AB", "UniqueViewId"),
        ("B", 1, "AB", "CounterIncreases"),
        ("C", 2, "ABC", "CreatorFromPredecessor"),
        ("A", 2, "", "WellFormedView"),
        ("A", 2, "AA", "WellFormedView"),
        ("A", 2, "ABCD", ""),
    ],
)
def test_a_view_follows_another_as_membership_says(creator: str, counter: int, members: str, conjunct: str) -> None:
    group = Group()
    processes = [group.all["ABCD".index(each)] for each in members]

    def decide() -> Decided:
        return group.views.decide(group.all["ABCD".index(creator)], counter, processes, [group.first])

    if conjunct:
        with pytest.raises(NotAllowedError) as refused:
            decide()
        assert refused.value.conjunct == conjunct
        assert group.views.views == [group.first]
        assert group.first.successors == []
    else:
        view = decide()
        assert (view.joins, view.roots, view.number) == (frozenset({group.c, group.d}), frozenset({0}), 1)
        assert group.first.successors == [view]


def test_a_later_view_that_follows_none_is_of_its_creator_alone() -> None:
    group = Group()
    for members in ([group.c, group.d], [group.d]):
        with pytest.raises(NotAllowedError) as refused:
            group.views.decide(group.c, 1, members)
        assert refused.value.conjunct == "CreatorFromPredecessor"
        assert str(refused.value) == "C creates a view, is in none that it follows, and not alone"
    assert group.decided(1, [group.c]).roots == {1}


def test_a_process_enters_views_that_it_is_in_one_after_the_other() -> None:
    group = Group()
    second = group.decided(2, [group.a, group.c], group.first)
    third = group.decided(3, [group.a, group.c], second)
    for process, view, conjunct in (
        (group.b, second, "SelfInclusion"),
        (group.a, third, "SinglePath"),
        (group.c, third, "SinglePath"),
        (group.a, second, ""),
        (group.c, second, ""),
        (group.a, third, ""),
    ):
        if conjunct:
            with pytest.raises(NotAllowedError) as refused:
                group.views.install(process, view)
            assert refused.value.conjunct == conjunct
        else:
            group.views.install(process, view)
    assert group.a.path == [group.first, second, third]
    assert group.a.view is third
    group.c.up = False
    with pytest.raises(NotAllowedError, match=r"^C is down$"):
        group.views.install(group.c, third)


def test_what_comes_after_a_view_is_on_its_branch() -> None:
    group = Group()
    left, right = group.decided(2, [group.a], group.first), group.decided(2, [group.b], group.first)
    merged = group.decided(3, [group.a, group.b], left, right)
    assert merged.joins == set()
    assert merged.before() == {0, 1, 2, 3}
    assert left.before() == {0, 1}
    for view, before, after in (
        (merged, group.first, True),
        (merged, right, True),
        (right, left, False),
        (left, left, False),
        (left, merged, False),
    ):
        assert comes_after(view, before) is after


def test_views_without_live_processes_are_forgotten_but_for_those_before_others() -> None:
    group = Group()
    second = group.decided(2, [group.a, group.c], group.first)
    group.decided(3, [group.b], group.first)
    group.enter(second, group.a, group.c)
    group.a.up = group.b.up = False
    later = group.restarts(group.d)
    group.views.forget()
    assert group.views.views == [group.first, second]
    assert (second.preds, second.before()) == ((), {0, 1})
    assert {*group.views.processes} == {"A", "B", "C", later.name}
    assert {*group.views.lives} == {(A, 0), (B, 0), (C, 0), (D, 1)}
    assert (group.a.path, group.c.path, later.path) == ([group.first, second], [second], [])


# JoinDigest


class Promised(Group):
    """A has promised C a digest in the view of A and B."""

    def __init__(self) -> None:
        super().__init__()
        self.digests = JoinDigest()
        self.digest = {self.a: 5, self.b: 2}
        self.digests.promise(self.a, self.c, self.first, self.digest)

    def begins(self, process: Process, view: Decided, vector: Mapping[Process, int]) -> str:
        """Give what forbids a start, "" if nothing does."""
        try:
            self.digests.begin(process, view, vector)
        except NotAllowedError as error:
            return error.conjunct
        return ""


def test_a_digest_is_promised_in_a_view_to_a_process_outside_it() -> None:
    group = Promised()
    for giver, to, view in ((group.c, group.d, None), (group.a, group.b, group.first), (group.a, group.c, group.first)):
        with pytest.raises(NotAllowedError) as refused:
            group.digests.promise(giver, to, view, group.digest)
        assert refused.value.conjunct == ("OneOpenPromise" if to is group.c else "PromiseeIsOutside")
    group.digests.promise(group.b, group.c, group.first, group.digest)
    group.digests.promise(group.a, group.d, group.first, group.digest)
    assert [*group.digests.open] == [(group.a, group.c), (group.b, group.c), (group.a, group.d)]
    group.b.up = False
    with pytest.raises(NotAllowedError, match=r"^B promises a digest and is in no view$"):
        group.digests.promise(group.b, group.d, group.first, group.digest)


def test_a_promise_to_a_later_incarnation_takes_the_place_of_the_former() -> None:
    group = Promised()
    later = group.restarts(group.c)
    group.digests.promise(group.a, later, group.first, group.digest)
    assert [*group.digests.open] == [(group.a, later)]
    with pytest.raises(NotAllowedError) as refused:
        group.digests.promise(group.a, group.c, group.first, group.digest)
    assert refused.value.conjunct == "OneOpenPromise"


def test_a_promise_is_withdrawn_once_and_only_while_no_view_relies_on_it() -> None:
    group = Promised()
    for giver, to in ((group.a, group.d), (group.b, group.c)):
        with pytest.raises(NotAllowedError, match=r"takes back what it never promised"):
            group.digests.take_back(giver, to)
    group.digests.rely(group.b, group.c, group.first)  # B has promised nothing
    group.digests.take_back(group.a, group.c)
    assert group.digests.open == {}
    with pytest.raises(NotAllowedError) as refused:
        group.digests.take_back(group.a, group.c)
    assert refused.value.conjunct == "WithdrawOnlyIfUnusable"
    group = Promised()
    group.digests.rely(group.a, group.c, group.decided(2, [group.a, group.b, group.c], group.first))
    with pytest.raises(NotAllowedError, match=r"relies on$") as refused:
        group.digests.take_back(group.a, group.c)
    assert refused.value.conjunct == "WithdrawOnlyIfUnusable"


def test_a_joiner_starts_from_a_digest_that_it_was_promised() -> None:
    for promised, vector, forbids in (
        ({}, {}, "DigestIsComplete"),
        ({A: 5}, {A: 5}, "DigestIsComplete"),
        ({A: 5, B: 2}, {A: 5, B: 2}, ""),
        ({A: 5, B: 2}, {A: 5, B: 3}, "DigestIsDelivered"),
        ({A: 5, B: 2}, {A: 5}, ""),
    ):
        group = Promised()
        group.digests.open[group.a, group.c].digest = {group.first.at[member]: n for member, n in promised.items()}
        group.digests.promise(group.a, group.d, group.first, group.digest)
        view = group.decided(2, [group.a, group.b, group.c], group.first)
        start = {group.first.at[member]: seqno for member, seqno in vector.items()}
        assert group.begins(group.c, view, start) == forbids
        assert [*group.digests.open] == ([] if not forbids else [(group.a, group.c)]) + [(group.a, group.d)]
        assert group.begins(group.a, group.first, {}) == ""  # the first view follows none


def test_a_start_that_one_of_two_promised_is_right() -> None:
    group = Promised()
    group.digests.promise(group.b, group.c, group.first, {group.a: 4, group.b: 3})
    view = group.decided(2, [group.a, group.b, group.c], group.first)
    assert group.begins(group.c, view, {group.a: 4, group.b: 2}) == "DigestIsDelivered"
    assert group.begins(group.c, view, {group.a: 4, group.b: 3}) == ""
    assert group.digests.open == {}
    assert group.begins(group.c, view, {group.a: 4, group.b: 3}) == "StartRequiresPromise"


def test_a_promise_reaches_later_views_that_its_giver_is_in() -> None:
    """A joiner of a view between needs no seqno: it has sent nothing before."""
    group = Promised()
    second = group.decided(2, [group.a, group.b, group.d], group.first)
    third = group.decided(3, [group.a, group.b, group.d, group.c], second)
    assert group.begins(group.c, third, group.digest) == ""
    group = Promised()
    second = group.decided(2, [group.b], group.first)
    third = group.decided(3, [group.b, group.c], second)
    assert group.begins(group.c, third, {group.b: 2}) == "StartRequiresPromise"
    group = Promised()
    early = group.decided(2, [group.a, group.b, group.c], group.first)
    assert group.begins(group.c, group.decided(3, [group.a, group.c], early), group.digest) == "StartRequiresPromise"
    lone = group.decided(1, [group.d])
    assert group.begins(group.c, group.decided(2, [group.d, group.c], lone), {}) == "StartRequiresPromise"


def test_a_digest_says_nothing_of_a_sender_that_parted_and_came_back() -> None:
    group = Promised()
    left, right = group.decided(2, [group.a], group.first), group.decided(2, [group.b], group.first)
    merged = group.decided(3, [group.a, group.b], left, right)
    view = group.decided(4, [group.a, group.b, group.c], merged)
    assert group.begins(group.c, view, group.digest) == "DigestIsComplete"


def test_a_promise_ends_for_its_giver_when_the_joiner_is_in_its_view() -> None:
    group = Promised()
    group.digests.installed(group.b, group.first)  # it has promised nothing
    group.digests.installed(group.a, group.first)
    assert group.digests.kept == {group.a: {group.c}}
    group.digests.installed(group.a, group.decided(2, [group.a, group.b, group.c], group.first))
    assert group.digests.kept == {group.a: set()}
    with pytest.raises(NotAllowedError, match=r"never promised"):
        group.digests.take_back(group.a, group.c)


def test_promises_of_and_to_processes_that_are_gone_are_forgotten() -> None:
    for gone in range(4):
        group = Promised()
        view = group.decided(2, [group.a, group.b, group.c], group.first)
        group.digests.rely(group.a, group.c, view)
        group.all[gone].up = False
        group.digests.forget({view} if gone else set())
        assert bool(group.digests.open) == (gone in (1, 3))
        assert bool(group.digests.kept) == (gone != 0)
    with pytest.raises(NotAllowedError, match=r"relies on"):
        group.digests.take_back(group.a, group.c)
    group.digests.forget(set())  # the view is over: what was promised to C may be withdrawn
    group.digests.take_back(group.a, group.c)
    group.digests.forget(set())
    assert group.digests.kept == {}


# StabilitySafety


@frozen
class Window:
    """As a judge sees it."""

    low: int
    delivered: int
    purged: int


class Purging(Group):
    """Both A and B have delivered 5 of A, and have purged nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.verdicts = Verdicts()
        self.judge = StabilitySafety(self.verdicts, lambda process: self.windows.get(process, {}))
        self.windows = {process: {self.a: Window(NOTHING, 5, NOTHING)} for process in (self.a, self.b)}

    def at(self, process: Process, sender: Process, delivered: int, purged: int = NOTHING, low: int = NOTHING) -> None:
        self.windows.setdefault(process, {})[sender] = Window(low, delivered, purged)

    def claims(self, process: Process, *, purges: int) -> str:
        """Give the claim that a purge of A's messages violates, "" if none."""
        try:
            self.judge.purged(process, Vector.of(A=purges, Z=9))
        except Violation as violation:
            return violation.claim
        return ""


def test_what_is_purged_all_members_of_the_view_have_delivered() -> None:
    group = Purging()
    assert group.claims(group.a, purges=5) == ""
    assert group.claims(group.a, purges=6) == "NoPrematurePurge"
    group.at(group.b, group.a, 4)
    assert group.claims(group.a, purges=4) == ""
    with pytest.raises(
        Violation, match=r"^NoPrematurePurge: A purges A up to 5 in A\|1\[A,B\]; B has delivered up to 4$"
    ):
        group.judge.purged(group.a, Vector.of(A=5))
    with pytest.raises(Violation, match=r"^NoPrematurePurge: B purges A up to 5 before delivering it$"):
        group.judge.purged(group.b, Vector.of(A=5))
    group.judge.purged(group.a, Vector.of(A=NOTHING))
    assert group.verdicts.judged["NoPrematurePurge"] == 3  # where it had delivered it itself
    with pytest.raises(Violation, match=r"^NoPrematurePurge: C purges and is in no view$"):
        group.judge.purged(group.c, Vector.of(A=0))


def test_of_a_member_in_no_view_or_without_a_window_nothing_can_be_said() -> None:
    group = Purging()
    third = group.decided(2, [group.a, group.b, group.c], group.first)
    group.enter(third, group.a, group.b)
    group.at(group.c, group.a, 0)
    assert group.claims(group.a, purges=5) == ""
    group.enter(third, group.c)
    assert group.claims(group.a, purges=5) == "NoPrematurePurge"
    del group.windows[group.c]
    assert group.claims(group.a, purges=5) == ""


def test_members_that_meet_in_a_view_lack_nothing_that_one_of_them_has_purged() -> None:
    for purger, other in ((A, B), (B, A)):
        group = Purging()
        view = group.decided(2, [group.a, group.b], group.first)
        group.enter(view, group.a, group.b)
        group.at(view.at[purger], group.a, 5, 3)
        group.at(view.at[other], group.a, 2)
        with pytest.raises(
            Violation, match=rf"^NoPrematurePurge: {purger} has purged A up to 3; {other}, with it in A\|2"
        ):
            group.judge.installed(group.a, group.first, view)
        group.at(view.at[other], group.a, 3)
        group.judge.installed(group.a, group.first, view)
        del group.windows[view.at[other]]
        group.judge.installed(group.a, group.first, view)
        assert group.verdicts.judged["JoinerFindsItsMessages"] == 0  # neither joins with it


def test_a_joiner_finds_its_messages() -> None:
    group = Purging()
    view = group.decided(2, [group.a, group.b, group.c], group.first)
    group.at(group.c, group.a, 2)
    group.at(group.a, group.a, 5, 3)
    group.enter(view, group.a, group.c)
    with pytest.raises(Violation, match=r"^JoinerFindsItsMessages: A has purged A up to 3; C, with it in A\|2"):
        group.judge.installed(group.c, None, view)
    assert group.verdicts.judged["JoinerFindsItsMessages"] == 1
    group.at(group.c, group.a, 3, 2)
    group.judge.installed(group.c, None, view)
    assert group.verdicts.judged["JoinerFindsItsMessages"] == 2  # it is not compared with itself


def test_of_a_member_that_has_yet_to_come_only_senders_on_its_way_count() -> None:
    """B is still in the first view; C joins with the next, and sends there."""
    group = Purging()
    view = group.decided(2, [group.a, group.b, group.c], group.first)
    group.enter(view, group.a, group.c)
    for sender, violated in ((group.c, False), (group.a, True)):
        group.at(group.b, sender, 2)
        group.at(group.a, sender, 5, 3)
        if violated:
            with pytest.raises(Violation, match=r"^NoPrematurePurge: A has purged A up to 3; B"):
                group.judge.installed(group.a, group.first, view)
        else:
            group.judge.installed(group.a, group.first, view)
    without = group.decided(3, [group.a], view)
    group.enter(without, group.a)
    group.judge.installed(group.a, view, without)  # B is in it no more


def test_of_a_member_on_another_branch_nothing_is_asked() -> None:
    group = Purging()
    other = group.decided(2, [group.b], group.first)
    view = group.decided(2, [group.a], group.first)
    group.enter(other, group.b)
    group.enter(view, group.a)
    group.at(group.a, group.a, 5, 5)
    group.at(group.b, group.a, 2)
    group.judge.installed(group.a, group.first, view)
    merged = group.decided(3, [group.a, group.b], view, other)
    group.enter(merged, group.a)
    group.judge.installed(group.a, view, merged)  # B comes from where A was not


def test_in_the_end_members_lack_nothing_that_another_has() -> None:
    group = Purging()
    group.at(group.a, group.a, 5, 5)
    group.at(group.b, group.a, 5, 5)
    group.judge.quiet([group.a, group.b, group.c])
    group.at(group.b, group.a, 4, 5)
    group.judge.quiet([group.a])
    with pytest.raises(Violation, match=r"^RequestsServable: B lacks message 5 of A; no store has it any more$"):
        group.judge.quiet([group.b])
    group.a.up = False
    group.judge.quiet([group.b])
    group.a.up, group.b.up = True, False
    group.judge.quiet([group.b])
    group.judge.served()
    assert group.verdicts.judged["RequestsServable"] == 1


def test_in_the_end_what_all_have_delivered_is_purged() -> None:
    group = Purging()
    with pytest.raises(Violation, match=r"^EventuallyPurged: A keeps messages of A from 0 to 5; all have them$"):
        group.judge.quiet([group.a])
    for purged, low, judged in ((5, NOTHING, 2), (NOTHING, 5, 2), (4, NOTHING, 3)):
        group.at(group.a, group.a, 5, purged, low)
        if purged == 4:
            with pytest.raises(Violation, match=r"^EventuallyPurged: A keeps messages of A from 5 to 5"):
                group.judge.quiet([group.a])
        else:
            group.judge.quiet([group.a])
        assert group.verdicts.judged["EventuallyPurged"] == judged
    group.b.up = False
    group.at(group.b, group.a, 2)  # it counts: it is in the view
    group.judge.quiet([group.a])
    del group.windows[group.b]
    group.judge.quiet([group.a])
