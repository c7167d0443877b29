"""flush: the core, event by event; each test says which requirement it is about. Groups are larger than the models'."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from attrs import evolve

from groupcomm import flush
from groupcomm.digest import EMPTY_VECTOR, Vector
from groupcomm.effects import Multicast, PassDown, PassUp, Send
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.events import Block, Deliver, Fetch, HoldBack, Left, Payload, Release, Unblock, ViewInstalled
from groupcomm.view import ViewId
from tests.cores import is_refused

step = partial(flush.step, flush.Config())


def decision(counter: int, creator: str, members: str, joiners: str = "") -> flush.Decision:
    """A view that follows A's of the counter before; members are letters."""
    return flush.Decision(
        ViewId(counter, creator), tuple(members), ViewId(counter - 1, "A"), frozenset(joiners)
    )


SEVENTH = decision(7, "A", "ABCDE")
DELIVERED = Vector.of(A=3, B=1, C=0, D=9, E=2)


def member(name: str, **more: Any) -> flush.State:  # noqa: ANN401 - fields
    fields = {"decision": SEVENTH, "delivered": DELIVERED, "sent": DELIVERED[name], **more}
    return evolve(flush.start(name), **fields)


def run(state: flush.State, *events: flush.Event) -> tuple[flush.State, list[Any]]:
    """The state after events, and the effects of the last."""
    effects: tuple[Any, ...] = ()
    for event in events:
        state, effects = step(state, event)
    return state, [*effects]


def start(sender: str, number: int = 1, suspected: str = "") -> flush.StartFlushReceived:
    return flush.StartFlushReceived(sender, flush.StartFlush(number, frozenset(suspected)))


def report(
    sender: str, number: int = 1, of: flush.Decision = SEVENTH, digest: Vector = DELIVERED
) -> flush.FlushCompletedReceived:
    return flush.FlushCompletedReceived(sender, flush.FlushCompleted(number, of, digest))


def completed(number: int, of: flush.Decision = SEVENTH, digest: Vector = DELIVERED) -> flush.FlushCompleted:
    return flush.FlushCompleted(number, of, digest)


def view(sender: str, of: flush.Decision, number: int = 2, suspected: str = "") -> flush.NewViewReceived:
    return flush.NewViewReceived(sender, flush.NewView(number, of, frozenset(suspected)))


def stop(sender: str) -> flush.StopFlushReceived:
    return flush.StopFlushReceived(sender, flush.StopFlush())


def data(sender: str, seqno: int, of: flush.Decision = SEVENTH) -> flush.DataReceived:
    return flush.DataReceived(sender, flush.Data(of.id, seqno, Payload(f"{sender}{seqno}")))


def to(receivers: Iterable[str], message: flush.Message) -> list[Send[flush.Message]]:
    return [Send(receiver, message) for receiver in receivers]


def frozen(name: str, **more: Any) -> flush.State:  # noqa: ANN401 - fields
    """A member that has reported to A in round 1."""
    return run(member(name, **more), start("A"), flush.BlockReturned())[0]


def equal_reports(state: flush.State, who: str, number: int, **more: Any) -> tuple[flush.State, list[Any]]:  # noqa: ANN401
    return run(state, *(report(each, number, **more) for each in who))


# Beginning


def test_the_coordinator_asks_all_that_it_does_not_suspect_itself_included() -> None:
    """FVI-01, FVI-02, FST-07, FVB-02, FVB-08, AMB-62: the joiner is not asked, nor who is suspected."""
    asking, effects = run(member("A", suspected=frozenset("D")), flush.JoinRequested("F"))
    assert to("ABCE", flush.StartFlush(1, frozenset("D"))) == effects
    assert frozenset("ABCE") == asking.run.want
    assert (asking, []) == run(asking, flush.JoinRequested("F"))


def test_only_who_acts_is_told_of_joins_and_leaves() -> None:
    """A request is made again, of whoever acts then."""
    for event in (flush.JoinRequested("F"), flush.LeaveRequested("C")):
        assert (member("B"), []) == run(member("B"), event)


def test_a_crash_makes_the_first_that_is_not_suspected_begin() -> None:
    """FVI-09, FCR-03, AMB-64: whatever the order of suspicions, and whoever was requester."""
    waiting, effects = run(member("C"), flush.Suspected("A"))
    assert [] == effects
    asking, effects = run(waiting, flush.Suspected("B"))
    assert to("CDE", flush.StartFlush(1, frozenset("AB"))) == effects
    assert asking.run.running


# Members


def test_the_application_is_blocked_and_then_the_member_reports_and_is_frozen() -> None:
    """FST-08, FST-09, FST-10, FST-11, FVI-03: in this order."""
    asked, effects = run(member("C"), start("A"))
    assert [PassUp(Block())] == effects
    assert not asked.latched
    done, effects = run(asked, flush.BlockReturned())
    assert [PassDown(HoldBack(DELIVERED)), Send("A", completed(1))] == effects
    assert done.latched
    assert done.frozen


def test_what_the_application_multicasts_in_its_handler_goes_out_and_is_awaited() -> None:
    """FST-09, FLAW-28: it reports when its own multicasts have come back."""
    asked, _ = run(member("C"), start("A"))
    sending, effects = run(asked, flush.SendRequested(Payload("x")))
    assert [Multicast(flush.Data(SEVENTH.id, 1, Payload("x")))] == effects
    waiting, effects = run(sending, flush.BlockReturned())
    assert [] == effects
    own = flush.DataReceived("C", flush.Data(SEVENTH.id, 1, Payload("x")))
    done, effects = run(waiting, own)
    digest = Vector.of(A=3, B=1, C=1, D=9, E=2)
    assert [
        PassUp(Deliver("C", Payload("x"))),
        PassDown(HoldBack(digest)),
        Send("A", completed(1, SEVENTH, digest)),
    ] == effects
    assert done.frozen


def test_behind_the_latch_multicasts_wait_until_the_flush_is_stopped() -> None:
    """FST-01, FST-16, FVI-07: first what waited, in order, then UNBLOCK."""
    waiting, effects = run(frozen("C"), flush.SendRequested(Payload("x")), flush.SendRequested(Payload("y")))
    assert [] == effects
    free, effects = run(waiting, stop("A"))
    assert [
        PassDown(Release()),
        Multicast(flush.Data(SEVENTH.id, 1, Payload("x"))),
        Multicast(flush.Data(SEVENTH.id, 2, Payload("y"))),
        PassUp(Unblock()),
    ] == effects
    assert not free.latched
    assert 2 == free.sent


def test_a_member_is_not_blocked_twice() -> None:
    """FCR-05: it answers another requester at once, and stays frozen where it is."""
    again, effects = run(frozen("C"), start("B", 1, "A"))
    assert [Send("B", completed(1))] == effects
    assert "B" == again.owner
    assert frozenset("A") == again.suspected


def test_who_answered_takes_nothing_from_whom_the_requester_leaves_out() -> None:
    """FCR-04, FLAW-30: a late message of the dead requester changes nothing."""
    again, _ = run(frozen("C"), start("B", 1, "A"))
    for late in (start("A", 2), view("A", decision(8, "A", "ABCDE")), stop("A")):
        assert (again, []) == run(again, late)


def test_a_suspicion_of_the_requester_opens_no_latch() -> None:
    """FLAW-30: its view may be on its way to others."""
    waiting, effects = run(frozen("C"), flush.Suspected("A"))
    assert [] == effects
    assert waiting.latched
    assert waiting.frozen


def test_only_the_owner_stops_a_flush_and_without_one_stop_is_nothing() -> None:
    """FLAW-29, AMB-63: no UNBLOCK without BLOCK."""
    assert (frozen("C"), []) == run(frozen("C"), stop("B"))
    assert (member("C"), []) == run(member("C"), stop("A"))


def test_a_member_fetches_what_it_lacks_and_reports_again() -> None:
    """FST-14, AMB-61, AMB-32: from whom it is told to, and no more than the target."""
    target = Vector.of(A=3, B=2, C=0, D=9, E=3)
    holders = flush.Holders((("A", "A"), ("B", "D"), ("C", "A"), ("D", "A"), ("E", "B")))
    question = flush.ReconcileReceived("A", flush.Reconcile(2, target, holders))
    lacking, effects = run(frozen("C"), question)
    assert [PassDown(HoldBack(target)), PassDown(Fetch("D", "B", 2)), PassDown(Fetch("B", "E", 3))] == effects
    nearly, effects = run(lacking, data("B", 2))
    assert [PassUp(Deliver("B", Payload("B2")))] == effects
    _, effects = run(nearly, data("E", 3))
    assert [PassUp(Deliver("E", Payload("E3"))), Send("A", completed(2, SEVENTH, target))] == effects


def test_who_lacks_nothing_reports_the_target_at_once() -> None:
    question = flush.ReconcileReceived("A", flush.Reconcile(2, DELIVERED, flush.Holders(())))
    assert [Send("A", completed(2))] == run(frozen("C"), question)[1]


@pytest.mark.parametrize(
    "event", [data("B", 1), data("B", 3), data("F", 1), data("B", 2, decision(8, "A", "B"))]
)
def test_what_is_not_next_or_of_another_view_is_not_delivered(event: flush.DataReceived) -> None:
    """FST-03: a multicast is delivered in the view that it was sent in."""
    assert (member("C"), []) == run(member("C"), event)


def test_the_layer_below_must_hold_back_what_it_was_told_to() -> None:
    state = frozen("C")
    is_refused(step, state, data("B", 2), LocalProtocolError, "the layer below was told to hold this back")


# The requester


def asking(**more: Any) -> flush.State:  # noqa: ANN401 - fields
    """A, which wants to let F in."""
    return run(member("A", **more), flush.JoinRequested("F"))[0]


WITH_F = decision(8, "A", "ABCDEF", "F")


def test_equal_reports_of_all_make_the_next_view_which_goes_to_the_old_members() -> None:
    """FST-12, FST-13, FVI-05, FVB-03, FVB-04: nobody is counted twice, the joiner is not sent it yet."""
    nearly, effects = equal_reports(asking(), "ABCDD", 1)
    assert [] == effects
    _, effects = run(nearly, report("E"))
    assert to("ABCDE", flush.NewView(2, WITH_F, frozenset())) == effects


def test_the_joiner_comes_when_all_old_members_have_the_view_and_then_all_go_on() -> None:
    """FVB-05, FVB-06, FVB-12, FVB-13, FVB-14, FVI-06, FST-15: view, acknowledgements, joiner, STOP_FLUSH."""
    zeros = Vector.of(A=0, B=0, C=0, D=0, E=0, F=0)
    sent, _ = equal_reports(asking(), "ABCDE", 1)
    installed, _ = run(evolve(sent, owner="A"), view("A", WITH_F))
    acknowledged, effects = equal_reports(installed, "ABCDE", 2, of=WITH_F, digest=zeros)
    assert to("F", flush.NewView(3, WITH_F, frozenset())) == effects
    over, effects = run(acknowledged, report("F", 3, WITH_F, zeros))
    assert to("ABCDEF", flush.StopFlush()) == effects
    assert not over.run.running


def test_unequal_reports_are_reconciled_and_asked_for_again() -> None:
    """FST-14, AMB-61, FCR-06, FLAW-27: each sender's is had from the most senior that has it all."""
    nearly, _ = equal_reports(asking(), "ABCD", 1)
    _, effects = run(nearly, report("E", digest=Vector.of(A=2, B=4, C=0, D=9, E=2)))
    target = Vector.of(A=3, B=4, C=0, D=9, E=2)
    holders = flush.Holders((("A", "A"), ("B", "E"), ("C", "A"), ("D", "A"), ("E", "A")))
    assert to("ABCDE", flush.Reconcile(2, target, holders)) == effects


def test_a_suspicion_strikes_off_and_all_that_is_left_may_have_reported() -> None:
    """FCR-01, FCR-02, AMB-74: what it reported counts no more, either."""
    nearly, _ = equal_reports(asking(), "ABCD", 1)
    _, effects = run(nearly, flush.Suspected("E"))
    assert to("ABCD", flush.NewView(2, decision(8, "A", "ABCDF", "F"), frozenset("E"))) == effects


def test_a_suspicion_in_reconciliation_begins_again() -> None:
    """FCR-02: who died may be whom others were told to ask."""
    nearly, _ = equal_reports(asking(), "ABCD", 1)
    reconciling, _ = run(nearly, report("E", digest=Vector.of(A=2, B=4, C=0, D=9, E=2)))
    _, effects = run(reconciling, flush.Suspected("E"))
    assert to("ABCD", flush.StartFlush(3, frozenset("E"))) == effects


def test_an_answer_to_a_former_question_is_void() -> None:
    """FCR-04: also of the present requester."""
    again = evolve(asking(), run=evolve(asking().run, round=4))
    assert (again, []) == run(again, report("B", 3))


def test_a_newer_view_that_somebody_reports_goes_to_those_without_it_first() -> None:
    """FLAW-32: the successor makes none before all have it; joiners last."""
    taking_over, _ = run(member("B"), flush.Suspected("A"))
    nearly, _ = equal_reports(taking_over, "BCD", 1)
    zeros = Vector.of(A=0, B=0, C=0, D=0, E=0, F=0)
    _, effects = run(nearly, report("E", 1, WITH_F, zeros))
    assert to("BCD", flush.NewView(2, WITH_F, frozenset("A"))) == effects


def test_who_is_let_go_by_a_newer_view_is_sent_it_too() -> None:
    """FLAW-96: or it would be stopped, and go on in the view before."""
    taking_over, _ = run(member("B"), flush.Suspected("A"))
    nearly, _ = equal_reports(taking_over, "BCD", 1)
    zeros = Vector.of(A=0, B=0, C=0, E=0)
    newer = decision(8, "A", "ABCE")
    _, effects = run(nearly, report("E", 1, newer, zeros))
    assert to("BCD", flush.NewView(2, newer, frozenset("A"))) == effects


def test_joins_leaves_and_crashes_make_one_view() -> None:
    """FVB-07, FVB-09, FVB-15, AMB-71: M - S - L + J, survivors in their order, joiners in the order of asking."""
    state = asking()
    state, _ = run(state, flush.JoinRequested("H"), flush.JoinRequested("G"), flush.LeaveRequested("B"))
    state, _ = run(state, flush.Suspected("D"))
    assert tuple("ACEFHG") == state.next_members
    _, effects = equal_reports(state, "ABCE", 1)
    made = decision(8, "A", "ACEFHG", "FHG")
    assert to("ABCE", flush.NewView(2, made, frozenset("D"))) == effects


def test_a_suspected_joiner_does_not_join() -> None:
    """FVB-05, FLAW-33: nobody waits for it."""
    state, _ = run(asking(), flush.Suspected("F"))
    assert () == state.joining
    _, effects = equal_reports(state, "ABCDE", 1)
    assert to("ABCDE", flush.StopFlush()) == effects


# Views


def test_a_view_is_announced_below_and_above_and_acknowledged() -> None:
    """FVB-04, LAY-06: the acknowledgement is a report of the new view."""
    state, effects = run(frozen("C"), view("A", WITH_F))
    zeros = Vector.of(A=0, B=0, C=0, D=0, E=0, F=0)
    installed = ViewInstalled(WITH_F.view)
    assert [PassDown(installed), PassUp(installed), Send("A", completed(2, WITH_F, zeros))] == effects
    assert state.latched
    assert not state.frozen


@pytest.mark.parametrize(
    "event",
    [view("B", WITH_F), view("A", decision(9, "A", "ABCDE")), view("A", SEVENTH)],
    ids=["of another than the owner", "one further", "the same"],
)
def test_no_other_view_is_installed(event: flush.NewViewReceived) -> None:
    assert (frozen("C"), []) == run(frozen("C"), event)


def test_a_joiner_waits_for_stop_flush() -> None:
    """FVB-05: others may not have the view yet. AMB-63: no UNBLOCK, as there was no BLOCK."""
    joined, effects = run(flush.start("F"), view("A", WITH_F))
    assert 3 == len(effects)
    waiting, effects = run(joined, flush.SendRequested(Payload("x")))
    assert [] == effects
    free, effects = run(waiting, stop("A"))
    assert [Multicast(flush.Data(WITH_F.id, 1, Payload("x")))] == effects
    assert not free.latched


def test_a_joiner_that_is_asked_before_it_has_a_view_says_so() -> None:
    _, effects = run(flush.start("F"), start("B", 5, "A"))
    assert to("B", flush.FlushCompleted(5, flush.NO_DECISION, EMPTY_VECTOR)) == effects


# Leaving


WITHOUT_C = decision(8, "A", "ABDE")


def test_who_leaves_acknowledges_the_view_and_goes_with_stop_flush() -> None:
    """FVB-10, FVB-11, AMB-72: until then it takes part."""
    parted, effects = run(frozen("C"), view("A", WITHOUT_C))
    assert to("A", flush.FlushCompleted(2, WITHOUT_C, EMPTY_VECTOR)) == effects
    again, effects = run(parted, start("B", 1, "A"))
    assert to("B", flush.FlushCompleted(1, WITHOUT_C, EMPTY_VECTOR)) == effects
    gone, effects = run(again, stop("B"))
    assert [PassUp(Left())] == effects
    assert gone.gone


def test_what_is_multicast_by_who_has_left_is_dropped() -> None:
    """FLAW-98: SEQUENCER's coordinator has left and is asked to order a message: it is not told of that yet."""
    parted, _ = run(frozen("C"), view("A", WITHOUT_C))
    assert (parted, []) == run(parted, flush.SendRequested(Payload("x")))


def test_a_leaving_requester_runs_its_flush_to_the_end() -> None:
    """AMB-73: the view without it has its name, and it stops the flush before it goes."""
    state, _ = run(member("A"), flush.LeaveRequested("A"))
    sent, effects = equal_reports(evolve(state, owner="A"), "ABCDE", 1)
    made = decision(8, "A", "BCDE")
    assert to("ABCDE", flush.NewView(2, made, frozenset())) == effects
    parted, _ = run(sent, view("A", made))
    zeros = Vector.of(B=0, C=0, D=0, E=0)
    nearly, _ = equal_reports(parted, "BCDE", 2, of=made, digest=zeros)
    over, effects = run(nearly, report("A", 2, made, EMPTY_VECTOR))
    assert to("ABCDE", flush.StopFlush()) == effects
    assert run(over, stop("A"))[0].gone


def test_the_last_member_goes_by_itself() -> None:
    alone = member("A", decision=decision(7, "A", "A"), delivered=Vector.of(A=3))
    gone, effects = run(alone, flush.LeaveRequested("A"))
    assert [PassUp(Left())] == effects
    assert gone.gone


@pytest.mark.parametrize("name", "BC")
def test_who_wants_to_leave_neither_takes_over_nor_waits(name: str) -> None:
    """FLAW-93: there may be a view without it, whose members do not ask it."""
    wanting, _ = run(frozen(name), flush.LeaveRequested(name))
    gone, effects = run(wanting, flush.Suspected("A"))
    assert [PassUp(Left())] == effects
    assert gone.gone


def test_who_wants_to_leave_and_was_not_asked_takes_over() -> None:
    """FCR-03: no view without it was made, as that takes its report."""
    wanting, _ = run(member("B"), flush.LeaveRequested("B"))
    asking_, _ = run(wanting, flush.Suspected("A"))
    assert asking_.run.running


def test_who_waits_for_a_requester_that_has_left_asks_who_acts() -> None:
    """FLAW-34: it may have stopped the others, and crashed."""
    made = decision(8, "A", "BCDE")
    waiting, _ = run(frozen("C"), view("A", made))
    _, effects = run(waiting, flush.Suspected("A"))
    wanted = flush.FlushWanted("A", made, frozenset("A"))
    assert to("B", wanted) == effects
    free = member("B", decision=made, delivered=Vector.of(B=0, C=0, D=0, E=0), sent=0)
    _, effects = run(free, flush.FlushWantedReceived("C", wanted))
    assert to("BCDE", flush.StartFlush(1, frozenset("A"))) == effects


def test_a_joiner_that_is_to_act_is_given_its_view() -> None:
    """FCR-03: all before it are dead, and it has not got the view that another joiner has."""
    made = decision(8, "A", "ABFG", "FG")
    waiting, _ = run(flush.start("G"), view("A", made), flush.Suspected("B"))
    _, effects = run(waiting, flush.Suspected("A"))
    wanted = flush.FlushWanted("A", made, frozenset("AB"))
    assert to("F", wanted) == effects
    _, effects = run(flush.start("F"), flush.FlushWantedReceived("G", wanted))
    asked = to("FG", flush.StartFlush(1, frozenset("AB")))
    assert [PassDown(ViewInstalled(made.view)), PassUp(ViewInstalled(made.view)), *asked] == effects


def test_a_report_of_another_view_of_the_same_identifier_is_of_another_line() -> None:
    """AMB-40: no correct peer has one. Who reports it is not awaited, and is left out of the next view."""
    other = decision(7, "A", "ABCD")
    state, _ = run(member("A"), flush.JoinRequested("F"))
    digest = Vector.of(A=0, B=0, C=0, D=0)
    state, _ = run(state, report("B", of=other, digest=digest))
    assert state.suspected == {"B"}
    assert "B" not in state.run.want | state.run.reports.keys()


def test_a_joiner_that_is_to_act_flushes_though_nothing_is_to_change() -> None:
    """FLAW-99: the requester has left with its view, and crashed; the other joiner waits."""
    made = decision(8, "A", "FG", "FG")
    _, effects = run(
        flush.start("F"), flush.FlushWantedReceived("G", flush.FlushWanted("A", made, frozenset("A")))
    )
    asked = to("FG", flush.StartFlush(1, frozenset()))
    assert [PassDown(ViewInstalled(made.view)), PassUp(ViewInstalled(made.view)), *asked] == effects


# Refused


def test_a_member_does_not_suspect_itself() -> None:
    is_refused(
        step, member("A"), flush.Suspected("A"), LocalProtocolError, "a member does not suspect itself"
    )


@pytest.mark.parametrize("state", [flush.start("F"), member("C", gone=True)])
def test_who_is_in_no_view_does_not_multicast(state: flush.State) -> None:
    event = flush.SendRequested(Payload("x"))
    is_refused(step, state, event, LocalProtocolError, "a member that is in no view does not multicast")


def test_a_first_view_without_the_member_is_refused() -> None:
    reason = "a view is sent to its members and to those before it"
    is_refused(step, flush.start("F"), view("A", WITHOUT_C), RemoteProtocolError, reason)


def test_a_report_that_leaves_members_out_is_refused() -> None:
    reason = "a report says what is delivered of each member of its view"
    is_refused(step, asking(), report("B", digest=Vector.of(A=3)), RemoteProtocolError, reason)
