"""The judges of `TotalOrderBroadcast` and `Membership`: what they say of a group that was split and has merged.

And that of `VirtualSynchrony`: whose reports count when a group is stopped for a state.
"""

from contextlib import nullcontext

import pytest
from attrs import evolve

from groupcomm import flush
from groupcomm.effects import Multicast
from groupcomm.events import Payload
from groupcomm.view import View, ViewId
from groupcomm_simulator.judges.claims import Verdicts, Violation
from groupcomm_simulator.judges.membership import Decided, Membership, NotAllowedError, Process
from groupcomm_simulator.judges.order import TotalOrderBroadcast
from groupcomm_simulator.judges.synchrony import VirtualSynchrony

A, B, X = "ABX"


class Healed:
    """A, B and X were together, then A and X, and B alone; now all three are in one view."""

    def __init__(self) -> None:
        self.judge = TotalOrderBroadcast(Verdicts())
        self.views = Membership()
        a, b, x = self.all = [self.views.start(address) for address in (A, B, X)]
        self.first = self.decided(a, 1, self.all)
        self.enter(self.all, self.first)
        for number in (1, 2, 3):
            self.judge.sent(x, (X, number), self.first)
        self.delivers(b, 1)  # beyond what is settled on the way of A and X
        left = self.decided(a, 2, [a, x], self.first)
        right = self.decided(b, 2, [b], self.first)
        self.enter([a, x], left)
        self.enter([b], right)
        merged = self.decided(a, 3, self.all, left, right)
        self.enter(self.all, merged)

    def decided(self, creator: Process, counter: int, members: list[Process], *preds: Decided) -> Decided:
        return self.views.decide(creator, counter, members, preds)

    def enter(self, members: list[Process], view: Decided) -> None:
        for process in members:
            before = process.view
            self.views.install(process, view)
            self.judge.installed(process, before, view)

    def delivers(self, process: Process, *numbers: int) -> None:
        for number in numbers:
            self.judge.delivered(process, X, (X, number))


def test_who_knows_a_message_does_not_deliver_it_again_and_agrees() -> None:
    group = Healed()
    a, b, x = group.all
    group.delivers(a, 1, 2)
    group.delivers(b, 2, 3)
    group.delivers(a, 3)
    group.delivers(x, 1, 2, 3)
    group.judge.quiet(group.all)


def test_a_message_that_is_new_to_both_may_not_be_left_out() -> None:
    group = Healed()
    a, b, _ = group.all
    group.delivers(a, 1, 2)
    with pytest.raises(Violation, match="Agreement: B delivers x/3"):
        group.delivers(b, 3)


def test_a_message_that_is_known_may_not_be_delivered_again() -> None:
    group = Healed()
    with pytest.raises(Violation, match="NoDuplicates"):
        group.delivers(group.all[1], 1)


def test_who_goes_on_together_has_delivered_the_same_but_for_what_one_knew() -> None:
    group = Healed()
    a, b, x = group.all
    group.delivers(a, 1, 2)
    group.delivers(b, 2)
    group.delivers(x, 1)
    view = a.view
    assert view is not None
    after = group.decided(a, 4, group.all, view)
    group.enter([a, b], after)
    with pytest.raises(Violation, match="they differ in x/2"):
        group.enter([x], after)


def test_a_life_that_was_not_left_out_is_not_replaced_by_the_next() -> None:
    views = Membership()
    a, b = (views.start(address) for address in (A, B))
    first = views.decide(a, 1, [a, b])
    b.up = False
    later = views.start(B)
    with pytest.raises(NotAllowedError, match="takes the place of B"):
        views.decide(a, 2, [a, later], [first])
    without = views.decide(a, 2, [a], [first])
    assert {later} == views.decide(a, 3, [a, later], [without]).joins


class Replying:
    """A, B and X are together. X sends, and A replies once it has delivered that; A does not deliver it."""

    def __init__(self) -> None:
        self.judge = TotalOrderBroadcast(Verdicts(frozenset({"Agreement"})))
        self.views = Membership()
        self.all = [self.views.start(address) for address in (A, B, X)]
        a, _, x = self.all
        self.view = self.views.decide(a, 1, self.all, ())
        self.enter(self.all, self.view)
        self.judge.sent(x, (X, 1), self.view)
        self.judge.delivered(a, X, (X, 1))
        self.judge.sent(a, (A, 1), self.view)

    def enter(self, members: list[Process], view: Decided) -> None:
        for process in members:
            before = process.view
            self.views.install(process, view)
            self.judge.installed(process, before, view)

    def reply_first(self, process: Process) -> None:
        self.judge.delivered(process, A, (A, 1))
        self.judge.delivered(process, X, (X, 1))


def test_a_reply_comes_after_what_it_replies_to() -> None:
    """Within a view Agreement says so, too. TotalOrder does not: A does not deliver its own."""
    group = Replying()
    with pytest.raises(Violation, match="CausalDelivery: X delivers x/1 after a message that A sent later"):
        group.reply_first(group.all[2])


def test_what_a_sender_had_not_delivered_is_no_cause() -> None:
    group = Replying()
    _, b, x = group.all
    group.judge.sent(x, (X, 2), group.view)
    for sender, message in ((X, (X, 1)), (A, (A, 1)), (X, (X, 2))):
        group.judge.delivered(b, sender, message)
    assert group.judge._verdicts.judged["CausalDelivery"] == 0  # noqa: SLF001 - A has delivered no x/2


def test_a_cause_that_was_delivered_beyond_the_cut_may_come_later() -> None:
    """A delivers x/1 in the first view, where B, which leaves it first, does not: B delivers it in the next."""
    group = Replying()
    _, b, x = group.all
    group.judge.delivered(b, A, (A, 1))
    group.enter([b, x], group.views.decide(b, 2, [b, x], (group.view,)))
    group.judge.delivered(b, X, (X, 1))
    assert group.judge._verdicts.judged["CausalDelivery"] == 1  # noqa: SLF001 - it was looked at


def test_a_cause_that_is_within_the_cut_comes_first_in_any_view() -> None:
    group = Replying()
    _, b, x = group.all
    group.judge.delivered(x, A, (A, 1))
    group.judge.delivered(b, X, (X, 1))
    group.enter([b, x], group.views.decide(b, 2, [b, x], (group.view,)))
    with pytest.raises(Violation, match="CausalDelivery"):
        group.judge.delivered(x, X, (X, 1))


def test_a_merge_ends_the_causal_order() -> None:
    group = Replying()
    a, b, x = group.all
    left, right = (group.views.decide(a, 2, [a], (group.view,)), group.views.decide(b, 2, [b, x], (group.view,)))
    group.enter([a], left)
    group.enter([b, x], right)
    group.enter(group.all, group.views.decide(a, 3, group.all, (left, right)))
    group.reply_first(b)


def test_a_process_from_another_group_may_hear_a_reply_before_what_it_replies_to() -> None:
    """C has merged with A, which had delivered x/1 within the cut of a view that C was not in."""
    group = Replying()
    a, c = group.all[0], group.views.start("C")
    left, alone = group.views.decide(a, 2, [a], (group.view,)), group.views.decide(c, 1, [c])
    group.enter([a], left)
    group.enter([c], alone)
    group.enter([a, c], group.views.decide(a, 3, [a, c], (left, alone)))
    group.reply_first(c)
    assert group.judge._verdicts.judged["CausalDelivery"] == 1  # noqa: SLF001 - it was looked at


def test_a_history_that_is_forgotten_holds_no_cause() -> None:
    group = Replying()
    a, b, x = group.all
    for process in (b, x):
        group.judge.delivered(process, X, (X, 1))
    group.judge.forget({a, b, x})
    group.judge.sent(x, (X, 2), group.view)
    group.judge.delivered(a, X, (X, 2))
    for sender, message in ((A, (A, 1)), (X, (X, 2))):
        group.judge.delivered(b, sender, message)
    assert group.judge._verdicts.judged["CausalDelivery"] == 0  # noqa: SLF001 - of what is forgotten nothing is said


HERE = ViewId(1, A)


def asks(requester: str, number: int) -> flush.StartFlushReceived:
    return flush.StartFlushReceived(requester, flush.StartFlush(HERE, number, flush.FOR_STATE))


REPORTS = flush.BlockReturned()
SUSPECTS_A = flush.Suspected(A)


@pytest.mark.parametrize(
    ("events", "number", "former"),
    [
        ([asks(B, 1), REPORTS], 1, set[str]()),
        ([asks(B, 1), REPORTS, asks(A, 4)], 1, {X}),
        ([asks(B, 1), REPORTS, asks(A, 4), SUSPECTS_A], 1, {X}),
        ([asks(B, 1), REPORTS, asks(A, 4), SUSPECTS_A, REPORTS], 1, {X}),
        ([asks(B, 1), REPORTS, asks(A, 4), SUSPECTS_A, asks(B, 2), REPORTS], 2, set[str]()),
        ([asks(B, 1), asks(A, 4), REPORTS], 1, set[str]()),
        ([asks(B, 1), REPORTS, SUSPECTS_A], 1, set[str]()),
        ([], 1, set[str]()),
    ],
)
def test_only_a_report_that_another_flush_came_after_does_not_count(
    events: list[flush.Event], number: int, former: set[str]
) -> None:
    """B has asked X for a state; A, which is senior, may overtake B there. A member that owes its first report counts."""
    judge = VirtualSynchrony(Verdicts(), lambda _: True, lambda _member, _creator: False)
    config, entered = flush.Config(), flush.ViewInstalled(View(HERE, (A, B, X)))
    member, _ = flush.step(config, flush.start(X), entered)
    member, _ = flush.step(config, member, flush.StopFlushReceived(A, flush.StopFlush(HERE)))
    for event in events:
        before = member
        member, effects = flush.step(config, member, event)
        judge.told(before, event, member, effects)
    requester = evolve(flush.start(B), run=flush.Run("stopped", number, frozenset(), flush.Reports(())))
    assert former == judge.overtaken_since_report(requester)
    judge.crashed(B)
    assert judge.overtaken_since_report(requester) == set()


def test_a_message_beyond_the_cut_of_a_view_may_come_in_another_order_elsewhere() -> None:
    """A delivers a/1 in a view that B has left without it. X, which merges with B, delivers it before b/1."""
    views, judge = Membership(), TotalOrderBroadcast(Verdicts())
    a, b, x = (views.start(address) for address in (A, B, X))

    def enter(view: Decided, *members: Process) -> Decided:
        for process in members:
            before = process.view
            views.install(process, view)
            judge.installed(process, before, view)
        return view

    first = enter(views.decide(a, 1, [a, b]), a, b)
    alone = enter(views.decide(x, 1, [x]), x)
    judge.sent(b, (B, 1), first)
    for process in (a, b):
        judge.delivered(process, B, (B, 1))
    second = enter(views.decide(a, 2, [a, b], [first]), a, b)
    judge.sent(a, (A, 1), second)
    enter(views.decide(b, 3, [b, x], [second, alone]), b, x)
    for sender in (A, B):
        judge.delivered(x, sender, (sender, 1))
    judge.delivered(a, A, (A, 1))


class OnePath:
    """A has come to the view of A and B; each delivers its own messages."""

    def __init__(self) -> None:
        self.verdicts, self.views = Verdicts(), Membership()
        self.judge = TotalOrderBroadcast(self.verdicts, one_path=True)
        self.a, self.b = self.views.start(A), self.views.start(B)
        self.first = self.enter(self.a, self.views.decide(self.a, 1, [self.a, self.b]))

    def enter(self, process: Process, view: Decided) -> Decided:
        before = process.view
        self.views.install(process, view)
        self.judge.installed(process, before, view)
        return view

    def sends(self, process: Process, number: int) -> None:
        assert process.view is not None
        message = process.name, number
        self.judge.sent(process, message, process.view)
        self.judge.delivered(process, process.address, message)


def test_members_of_a_view_that_differ_are_shown_each_with_its_deliveries() -> None:
    group = OnePath()
    group.enter(group.b, group.first)
    group.sends(group.a, 1)
    with pytest.raises(Violation, match=r"^Agreement: B delivers b/1 in A\|1\[A,B\]: b/1, where A has delivered a/1$"):
        group.sends(group.b, 1)


def test_with_one_path_no_two_branches_deliver() -> None:
    group = OnePath()
    left = group.views.decide(group.a, 2, [group.a], [group.first])
    group.enter(group.a, left)
    group.sends(group.a, 2)
    group.sends(group.a, 3)
    group.enter(group.b, group.first)
    group.sends(group.b, 1)  # its view comes before that of A
    group.enter(group.b, group.views.decide(group.b, 2, [group.b], [group.first]))
    assert group.verdicts.judged["DeliveredOnOnePath"] == 1
    with pytest.raises(Violation, match=r"^DeliveredOnOnePath: B delivers in B\|2\[B\], as others do in A\|2\[A\]$"):
        group.sends(group.b, 2)


def test_views_that_follow_no_common_view_may_both_deliver() -> None:
    group = OnePath()
    group.sends(group.a, 1)
    group.enter(group.b, group.views.decide(group.b, 1, [group.b]))
    group.sends(group.b, 1)
    assert group.verdicts.judged["DeliveredOnOnePath"] == 0


@pytest.mark.parametrize(
    ("asker", "event", "lets_go"),
    [
        ("GMS", flush.StopFlushReceived(A, flush.StopFlush(HERE)), True),
        (flush.FOR_STATE, flush.Suspected(A), True),
        (flush.FOR_STATE, flush.Suspected(X), False),
        ("GMS", flush.Suspected(A), False),
        ("GMS", flush.BlockReturned(), False),
    ],
)
def test_a_stopped_member_multicasts_again_when_it_is_let_go(asker: str, event: flush.Event, *, lets_go: bool) -> None:
    """A has stopped B; a suspicion of A lets B go where A asked for a state."""
    verdicts = Verdicts(frozenset({"SendingViewDelivery"}))
    judge = VirtualSynchrony(verdicts, lambda _: True, lambda _member, _creator: False)
    stopped = evolve(flush.start(B), latched=True, owner=A, asker=asker)
    says = nullcontext() if lets_go else pytest.raises(Violation, match=r"^NoMulticastWhileStopped: B is stopped, and")
    with says:
        judge.told(stopped, event, stopped, (Multicast(flush.Data(HERE, 1, Payload("x"))),))
