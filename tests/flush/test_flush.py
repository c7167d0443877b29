"""flush: the core, event by event; each test says which requirement it is about. Groups are larger than the models'."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from attrs import evolve

from groupcomm import flush
from groupcomm.digest import Vector
from groupcomm.effects import Multicast, PassDown, PassUp, Send
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.events import (
    Block,
    Deliver,
    Fetch,
    GroupStopped,
    HoldBack,
    MergeViewInstalled,
    Payload,
    Release,
    Unblock,
)
from groupcomm.view import View, ViewId
from tests.cores import is_refused

step = partial(flush.step, flush.Config())

GMS, STATE = flush.FOR_VIEWS, flush.FOR_STATE

SEVENTH = View(ViewId(7, "A"), tuple("ABCDE"))
DELIVERED = Vector.of(A=3, B=1, C=0, D=9, E=2)
ALL_OF_A = flush.Holders(tuple((each, "A") for each in "ABCDE"))
WITH_F = View(ViewId(8, "A"), tuple("ABCDEF"))


def member(name: str, **more: Any) -> flush.State:  # noqa: ANN401 - fields
    fields = {"view": SEVENTH, "delivered": DELIVERED, "sent": DELIVERED[name], **more}
    return evolve(flush.start(name), **fields)


def run(state: flush.State, *events: flush.Event) -> tuple[flush.State, list[Any]]:
    """The state after events, and the effects of the last."""
    effects: tuple[Any, ...] = ()
    for event in events:
        state, effects = step(state, event)
    return state, [*effects]


def question(number: int, asker: str, of: View = SEVENTH) -> flush.StartFlush:
    return flush.StartFlush(of.id, number, asker)


def start(sender: str, number: int = 1, asker: str = GMS, of: View = SEVENTH) -> flush.StartFlushReceived:
    return flush.StartFlushReceived(sender, question(number, asker, of))


def completed(number: int, digest: Vector = DELIVERED, of: View = SEVENTH) -> flush.FlushCompleted:
    return flush.FlushCompleted(of.id, number, digest)


def report(
    sender: str, number: int = 1, digest: Vector = DELIVERED, of: View = SEVENTH
) -> flush.FlushCompletedReceived:
    return flush.FlushCompletedReceived(sender, completed(number, digest, of))


def stop(sender: str, of: View = SEVENTH) -> flush.StopFlushReceived:
    return flush.StopFlushReceived(sender, flush.StopFlush(of.id))


def data(sender: str, seqno: int, of: View = SEVENTH) -> flush.DataReceived:
    return flush.DataReceived(sender, flush.Data(of.id, seqno, Payload(f"{sender}{seqno}")))


def to(receivers: Iterable[str], message: flush.Message) -> list[Send[flush.Message]]:
    return [Send(receiver, message) for receiver in receivers]


def heard(suspect: str) -> PassUp[flush.Suspected]:
    """The layers above hear of a suspicion."""
    return PassUp(flush.Suspected(suspect))


def frozen(name: str, **more: Any) -> flush.State:  # noqa: ANN401 - fields
    """A member that has reported to A in round 1, for a view."""
    return run(member(name, **more), start("A"), flush.BlockReturned())[0]


def asking(name: str = "A", asker: str = GMS, **more: Any) -> flush.State:  # noqa: ANN401 - fields
    return run(member(name, **more), flush.Suspend(asker))[0]


def all_report(state: flush.State, who: str = "ABCDE", number: int = 1) -> tuple[flush.State, list[Any]]:
    return run(state, *(report(each, number) for each in who))


# Beginning


def test_the_requester_asks_all_that_it_does_not_suspect_itself_included() -> None:
    """FVI-01, FVI-02, FST-05, FST-07, FVB-02, FVB-08, AMB-62: the joiner is not asked, nor who is suspected."""
    state, effects = run(member("A", suspected=frozenset("D")), flush.Suspend(GMS))
    assert to("ABCE", question(1, GMS)) == effects
    assert frozenset("ABCE") == state.run.want
    assert (state, []) == run(state, flush.Suspend(GMS))


def test_any_member_flushes_for_a_state() -> None:
    """FST-02, FST-05."""
    assert to("ABCDE", question(1, STATE)) == run(member("D"), flush.Suspend(STATE))[1]


# Members


def test_the_application_is_blocked_and_then_the_member_reports_and_is_frozen() -> None:
    """FST-08, FST-09, FST-10, FST-11, FVI-03: in this order."""
    asked, effects = run(member("C"), start("A"))
    assert [PassUp(Block())] == effects
    assert not asked.latched
    done, effects = run(asked, flush.BlockReturned())
    assert [PassDown(HoldBack(DELIVERED)), Send("A", completed(1, DELIVERED))] == effects
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
    assert [PassUp(Deliver("C", Payload("x"))), PassDown(HoldBack(digest)), Send("A", completed(1, digest))] == effects
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


def test_unblock_follows_the_return_of_block() -> None:
    """FST-16: a flush may be over before; then nothing waits, and no caller is answered."""
    over, effects = run(member("C"), start("A", asker=STATE), stop("A"))
    assert [] == effects
    assert "asked" == over.block
    free, effects = run(over, flush.BlockReturned())
    assert [PassUp(Unblock())] == effects
    assert (False, "free") == (free.latched, free.block)


def test_the_suspected_are_not_heard() -> None:
    """FCR-04, FLAW-30: a late message of the dead requester changes nothing."""
    again, _ = run(frozen("C"), flush.Suspected("A"), start("B"))
    target = flush.Reconcile(SEVENTH.id, 2, DELIVERED, ALL_OF_A)
    for late in (start("A", 2), flush.ReconcileReceived("A", target), stop("A")):
        assert (again, []) == run(again, late)


def test_a_suspicion_of_the_requester_opens_no_latch() -> None:
    """FLAW-30: its view may be on its way to others."""
    waiting, effects = run(frozen("C"), flush.Suspected("A"))
    assert [heard("A")] == effects
    assert waiting.latched
    assert waiting.frozen
    assert (waiting, []) == run(waiting, stop("A"))


def test_a_suspicion_of_who_wants_a_state_opens_the_latch() -> None:
    """FLAW-123: the suspicion may be false, and no other member know of it. No view is decided meanwhile."""
    stopped, _ = run(member("C"), start("B", asker=STATE), flush.BlockReturned())
    waiting, _ = run(stopped, flush.SendRequested(Payload("x")))
    free, effects = run(waiting, flush.Suspected("B"))
    data_ = flush.Data(SEVENTH.id, 1, Payload("x"))
    assert [heard("B"), PassDown(Release()), Multicast(data_), PassUp(Unblock())] == effects
    assert free.is_free


def test_only_the_owner_stops_a_flush_and_without_one_stop_is_nothing() -> None:
    """FLAW-29, AMB-63: no UNBLOCK without BLOCK."""
    assert (frozen("C"), []) == run(frozen("C"), stop("B"))
    assert (member("C"), []) == run(member("C"), stop("A"))


def test_a_member_fetches_what_it_lacks_and_reports_again() -> None:
    """FST-14, AMB-61, AMB-32: from the member that RECONCILE names, and no more than the target."""
    target = Vector.of(A=3, B=2, C=0, D=9, E=3)
    holders = flush.Holders((("A", "A"), ("B", "D"), ("C", "A"), ("D", "A"), ("E", "B")))
    question = flush.ReconcileReceived("A", flush.Reconcile(SEVENTH.id, 2, target, holders))
    lacking, effects = run(frozen("C"), question)
    assert [PassDown(HoldBack(target)), PassDown(Fetch("D", "B", 2)), PassDown(Fetch("B", "E", 3))] == effects
    nearly, effects = run(lacking, data("B", 2))
    assert [PassUp(Deliver("B", Payload("B2")))] == effects
    _, effects = run(nearly, data("E", 3))
    assert [PassUp(Deliver("E", Payload("E3"))), Send("A", completed(2, target))] == effects


def test_a_target_of_other_members_is_refused() -> None:
    target = Vector.of(A=3, B=2, C=0)
    question = flush.ReconcileReceived("A", flush.Reconcile(SEVENTH.id, 2, target, ALL_OF_A))
    reason = "RECONCILE: its target or its holders are not of each member"
    is_refused(step, frozen("C"), question, RemoteProtocolError, reason)


def test_a_member_is_no_holder_of_what_it_lacks() -> None:
    """The layer below refuses `Fetch` from the member itself: that would be a peer's mistake taken for ours."""
    holders = flush.Holders((("A", "A"), ("B", "C"), ("C", "A"), ("D", "A"), ("E", "A")))
    target = Vector.of(A=3, B=2, C=0, D=9, E=2)
    question = flush.ReconcileReceived("A", flush.Reconcile(SEVENTH.id, 2, target, holders))
    reason = "RECONCILE: it names this member as the holder of what it lacks"
    is_refused(step, frozen("C"), question, RemoteProtocolError, reason)
    reached = flush.ReconcileReceived("A", flush.Reconcile(SEVENTH.id, 2, DELIVERED, holders))
    assert [Send("A", completed(2, DELIVERED))] == run(frozen("C"), reached)[1]


def test_the_layer_below_must_hold_back_what_it_was_told_to() -> None:
    state = frozen("C")
    is_refused(step, state, data("B", 2), RemoteProtocolError, "DATA beyond what the layer below is to hold back")


# The requester


@pytest.mark.parametrize("asker", [GMS, STATE])
def test_equal_reports_of_all_are_what_it_asked_for(asker: str) -> None:
    """FST-12, FST-13, FVI-05: no report of one member stands for that of another."""
    nearly, effects = all_report(asking(asker=asker), "ABCD")
    assert [] == effects
    stopped, effects = run(nearly, report("E"))
    assert [PassDown(GroupStopped(asker))] == effects
    assert stopped.stopped


def test_all_are_let_go_who_asked_does_not_need_them_stopped_any_more() -> None:
    """FST-06, FST-15, FVI-06, FVB-06, FVB-13, AMB-63: joiners too."""
    stopped, _ = all_report(asking())
    entered, effects = run(stopped, flush.ViewInstalled(WITH_F))
    assert [] == effects
    over, effects = run(entered, flush.Resume(GMS))
    assert to("ABCDEF", flush.StopFlush(WITH_F.id)) == effects
    assert not over.running


def test_a_view_after_another_takes_no_flush_of_its_own() -> None:
    """FVB-15: joins and leaves that come in the meantime are in the same flush."""
    stopped, _ = all_report(asking())
    entered, effects = run(stopped, flush.ViewInstalled(WITH_F), flush.Suspend(GMS))
    assert [PassDown(GroupStopped(GMS))] == effects
    less = View(ViewId(9, "A"), tuple("ABCDF"))
    assert to("ABCDF", flush.StopFlush(less.id)) == run(entered, flush.ViewInstalled(less), flush.Resume(GMS))[1]


def test_an_answer_to_a_former_question_is_void() -> None:
    """FCR-04: also of the present requester."""
    again = evolve(asking(), run=evolve(asking().run, round=4))
    assert (again, []) == run(again, report("B", 3))


def test_who_takes_over_asks_anew_whoever_stopped_it() -> None:
    """FCR-03, AMB-64: the dead may have stopped some, and not others."""
    waiting, effects = run(frozen("B"), flush.Suspected("A"))
    assert [heard("A")] == effects
    again, effects = run(waiting, flush.Suspend(GMS))
    assert to("BCDE", question(1, GMS)) == effects
    assert again.latched


# Two flushes at once


def test_who_changes_its_owner_remembers_the_former_one() -> None:
    """FLAW-124: the other may suspect it: then it is not asked to give up, and waits for an answer."""
    changed, _ = run(member("C"), start("E", 2, STATE), start("D", 1, STATE))
    assert ("D", {"E": 2}) == (changed.owner, {**changed.later})
    target = flush.Reconcile(SEVENTH.id, 3, DELIVERED, ALL_OF_A)
    asked, effects = run(changed, flush.ReconcileReceived("E", target))
    assert [] == effects
    free, effects = run(asked, stop("D"))
    assert [] == effects
    assert ("E", 3, "asked") == (free.owner, free.round, free.block)
    _, effects = run(free, flush.BlockReturned())
    assert [PassDown(HoldBack(DELIVERED)), Send("E", completed(3, DELIVERED))] == effects


def test_who_was_overtaken_is_before_juniors_that_wait() -> None:
    """FLAW-122: its first START_FLUSH is in force where it was remembered, and holds up the junior's."""
    overtaken, _ = run(asking("B", STATE), start("A"), flush.BlockReturned(), start("C", 1, STATE))
    again, effects = run(overtaken, stop("A"))
    assert [PassDown(Release()), PassUp(Unblock()), *to("ABCDE", question(2, STATE))] == effects
    assert {"C"} == again.later.keys()


@pytest.mark.parametrize("phase", ["start", "reconcile", "stopped"])
def test_a_second_report_in_one_round_begins_a_new_round(phase: str) -> None:
    """FLAW-248, FST-12: a flush with priority has released B, which may have multicast since its first report."""
    more = DELIVERED.put("B", DELIVERED["B"] + 1)
    flushing = asking("C", STATE)
    asked = {
        "start": run(flushing, report("B")),
        "reconcile": run(flushing, *(report(each) for each in "ABCD"), report("E", 1, more), report("B", 2, more)),
        "stopped": all_report(flushing),
    }[phase][0]
    number = asked.run.round
    assert phase == asked.run.phase
    again, effects = run(asked, report("B", number, more))
    assert to("ABCDE", question(number + 1, STATE)) == effects
    assert ("start", frozenset("ABCDE"), {}) == (again.run.phase, again.run.want, {**again.run.reports})
    assert (again, []) == run(again, report("B", number, more))


def test_no_other_report_that_is_not_awaited_begins_a_round() -> None:
    """The sender is suspected, or no member; the flush is over; the round or the view is another one."""
    stopped, _ = all_report(asking("C", STATE, suspected=frozenset({"B"})), "ACDE")
    for late in (report("B"), report("F"), report("A", 2), report("A", of=WITH_F)):
        assert (stopped, []) == run(stopped, late)
    over, _ = run(stopped, flush.Resume(STATE))
    assert (over, []) == run(over, report("A"))


def test_a_flush_that_nobody_wants_any_more_is_brought_to_its_end() -> None:
    """FVI-08, AMB-65: some member may have queued START_FLUSH."""
    flushing, effects = run(asking("B", STATE), flush.Resume(STATE))
    assert [] == effects
    assert flushing.running
    over, effects = all_report(flushing)
    assert to("ABCDE", flush.StopFlush(SEVENTH.id)) == effects
    assert not over.wants


# Views


def test_a_view_keeps_the_latch_and_begins_counts_anew() -> None:
    """FVB-04: the layer below holds nothing back any more, and no member multicasts."""
    entered, effects = run(frozen("C", suspected=frozenset("D")), flush.ViewInstalled(WITH_F))
    assert [] == effects
    assert (True, False) == (entered.latched, entered.frozen)
    assert {0} == {*entered.delivered.values()}
    assert 0 == entered.sent
    assert "A" == entered.owner
    assert [PassUp(Unblock())] == run(entered, stop("A", WITH_F))[1]


MERGED = View(ViewId(8, "C"), tuple("ABCDEFG"))


def merged(view: View = MERGED) -> MergeViewInstalled:
    return MergeViewInstalled(view, frozenset({SEVENTH.id, ViewId(4, "F")}))


def test_who_is_not_in_a_merged_view_does_not_install_it() -> None:
    state = frozen("C")
    event = merged(View(MERGED.id, tuple("ABDE")))
    is_refused(step, state, event, LocalProtocolError, "a member is in the views that it installs")


@pytest.mark.parametrize("message", ["start", "reconcile", "stop"])
def test_what_was_sent_in_another_view_is_ignored(message: str) -> None:
    """FLAW-125: its sender was left out, and is a member again since the merge."""
    zeros = Vector(tuple((each, 0) for each in MERGED.members))
    reconcile = flush.Reconcile(SEVENTH.id, 4, zeros, ALL_OF_A)
    events: dict[str, flush.Event] = {
        "start": start("A", 3),
        "reconcile": flush.ReconcileReceived("A", reconcile),
        "stop": stop("A"),
    }
    entered, _ = run(frozen("C"), merged())
    waiting, _ = run(entered, start("A", 3, STATE, MERGED))
    owned, _ = run(entered, start("A", 3, GMS, MERGED))
    for state in (entered, waiting, owned):
        assert (state, []) == run(state, events[message])


def test_a_joiner_waits_for_stop_flush() -> None:
    """FVB-05, FVB-12, FLAW-94: others may not have the view yet. AMB-63: no UNBLOCK, as there was no BLOCK."""
    joined, effects = run(flush.start("F"), flush.ViewInstalled(WITH_F))
    assert [] == effects
    waiting, effects = run(joined, flush.SendRequested(Payload("x")))
    assert [] == effects
    free, effects = run(waiting, stop("A", WITH_F))
    assert [Multicast(flush.Data(WITH_F.id, 1, Payload("x")))] == effects
    assert not free.latched


def test_a_joiner_gets_a_state_after_stop_flush() -> None:
    """FVB-16, AMB-69: two flushes, one after the other."""
    joined, effects = run(flush.start("F"), flush.ViewInstalled(WITH_F), flush.Suspend(STATE))
    assert [] == effects
    _, effects = run(joined, stop("A", WITH_F))
    assert to("ABCDEF", question(1, STATE, WITH_F)) == effects


def test_who_is_in_no_view_is_not_asked() -> None:
    """FVB-02."""
    assert (flush.start("F"), []) == run(flush.start("F"), start("A"))


# Refused


def test_a_member_does_not_suspect_itself() -> None:
    is_refused(step, member("A"), flush.Suspected("A"), LocalProtocolError, "a member does not suspect itself")


def test_who_is_in_no_view_does_not_multicast() -> None:
    event = flush.SendRequested(Payload("x"))
    reason = "a member that is in no view does not multicast"
    is_refused(step, flush.start("F"), event, LocalProtocolError, reason)


def test_who_is_in_no_view_has_no_group_to_stop() -> None:
    reason = "a member that is in no view has no group to stop"
    is_refused(step, flush.start("F"), flush.Suspend(STATE), LocalProtocolError, reason)


def test_who_has_not_asked_for_a_stop_does_not_end_it() -> None:
    stopped, _ = all_report(asking())
    is_refused(step, stopped, flush.Resume(STATE), LocalProtocolError, "Resume without an open Suspend")


def test_a_view_without_the_member_is_refused() -> None:
    reason = "a member is in the views that it installs"
    is_refused(step, member("C"), flush.ViewInstalled(View(ViewId(8, "A"), ("A",))), LocalProtocolError, reason)


def test_a_report_that_leaves_members_out_is_refused() -> None:
    reason = "a report says what is delivered of each member of the view"
    is_refused(step, asking(), report("B", digest=Vector.of(A=3)), RemoteProtocolError, reason)
