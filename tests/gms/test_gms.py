"""gms: the core, event by event; each test says which requirement it is about. Groups are larger than the models'."""

from typing import Any

import pytest
from attrs import evolve

from groupcomm import gms
from groupcomm.digest import EMPTY_VECTOR, Vector
from groupcomm.effects import PassDown, PassUp, Send
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.events import (
    DigestGiven,
    DigestPromised,
    DigestSet,
    GetDigest,
    GroupStopped,
    Left,
    PromiseWithdrawn,
    Resume,
    Suspected,
    Suspend,
    ViewInstalled,
)
from groupcomm.view import View, ViewId
from tests.cores import is_refused

CONFIG = gms.Config(max_bundle=2)
STOPPED = GroupStopped("GMS")
SUSPEND = PassUp(Suspend("GMS"))
RESUME = PassUp(Resume("GMS"))


def suspicion(suspect: str) -> PassUp[Suspected]:
    return PassUp(Suspected(suspect))


def decision(
    counter: int,
    creator: str,
    members: str,
    follows: tuple[int, str] = (6, "A"),
    **more: Any,  # noqa: ANN401 - incarnations, joiners, digest
) -> gms.Decision:
    """A view, whose members are letters, with the later incarnations of members, or of others."""
    lives = {**dict.fromkeys(members, 0), **more.get("lives", {})}
    return gms.Decision(
        id=ViewId(counter, creator),
        members=tuple(members),
        follows=ViewId(*follows),
        lives=gms.Lives(tuple(lives.items())),
        joiners=frozenset(more.get("joiners", "")),
        digest=more.get("digest", EMPTY_VECTOR),
    )


SEVENTH = decision(7, "A", "ABCDE")


def member(name: str, of: gms.Decision = SEVENTH, **more: Any) -> gms.State:  # noqa: ANN401 - fields
    phase = "at rest" if of.members[0] == name else "following"
    return evolve(gms.start(name), **{"decision": of, "phase": phase, **more})


def run(state: gms.State, *events: gms.Event) -> tuple[gms.State, list[Any]]:
    """The state after events, and the effects of the last."""
    effects: tuple[Any, ...] = ()
    for event in events:
        state, effects = gms.step(CONFIG, state, event)
    return state, [*effects]


def join_req(sender: str, life: int = 0) -> gms.JoinReqReceived:
    return gms.JoinReqReceived(sender, gms.JoinReq(life))


def ack(sender: str, counter: int, creator: str = "A") -> gms.ViewAckReceived:
    return gms.ViewAckReceived(sender, gms.ViewAck(ViewId(counter, creator)))


def given(request: int = 1, **digest: int) -> DigestGiven:
    return DigestGiven("GMS", request, Vector.of(**digest))


DELIVERED = {"A": 41, "B": 7, "C": -1, "D": 1000, "E": 3}


# Joining


def test_who_finds_itself_founds_a_group() -> None:
    state, effects = run(gms.start("A"), gms.JoinRequested("A", 0))
    view = View(ViewId(1, "A"), ("A",))
    assert [PassDown(ViewInstalled(view)), PassUp(ViewInstalled(view))] == effects
    assert state.acting
    assert "at rest" == state.phase


def test_a_joiner_asks_whom_it_found_and_says_which_life_it_is() -> None:
    state, effects = run(gms.start("F"), gms.JoinRequested("A", 3))
    assert [Send("A", gms.JoinReq(3))] == effects
    assert state.joining
    assert 3 == state.life


def test_the_digest_is_promised_before_it_is_asked_for() -> None:
    """JOI-03: the given digest is protected from before it is taken."""
    waiting, effects = run(member("A"), join_req("F"))
    assert [SUSPEND] == effects
    state, effects = run(waiting, STOPPED)
    assert [PassDown(DigestPromised("F")), PassDown(GetDigest("GMS", 1))] == effects
    assert (gms.Request("join", "F", 0),) == state.granting


def test_the_view_with_a_joiner_has_the_digest_and_goes_to_the_old_members_first() -> None:
    """JOI-01, JOI-05, LAY-06: the coordinator installs it at once, the joiner is answered last."""
    state, effects = run(member("A"), join_req("F"), STOPPED, given(**DELIVERED))
    eighth = decision(8, "A", "ABCDEF", (7, "A"), joiners="F", digest=Vector.of(**DELIVERED))
    assert [
        PassDown(ViewInstalled(eighth.view)),
        PassUp(ViewInstalled(eighth.view)),
        *(Send(old, gms.NewView(eighth)) for old in "BCDE"),
    ] == effects
    for old in "BCD":
        state, effects = run(state, ack(old, 8))
        assert [] == effects
    state, effects = run(state, ack("E", 8))
    assert [Send("F", gms.JoinRsp(eighth))] == effects
    assert ("answering", frozenset("F")) == (state.phase, state.awaits)


def test_a_joiner_starts_where_the_digest_says() -> None:
    """JOI-01, AMB-08: the layers below are notified before the view is sent."""
    eighth = decision(8, "A", "ABCDEF", (7, "A"), joiners="F", digest=Vector.of(**DELIVERED))
    answer = gms.JoinRspReceived("A", gms.JoinRsp(eighth))
    state, effects = run(gms.start("F"), gms.JoinRequested("A", 0), answer)
    assert [
        PassDown(DigestSet(Vector.of(A=41, B=7, C=-1, D=1000, E=3))),
        PassDown(ViewInstalled(eighth.view)),
        PassUp(ViewInstalled(eighth.view)),
        Send("A", gms.ViewAck(ViewId(8, "A"))),
    ] == effects
    assert eighth == state.decision


def test_a_repeated_request_gets_the_same_answer_and_no_new_view() -> None:
    """AMB-29: and none as long as it waits for its turn, or for the old members."""
    waiting, _ = run(member("A"), join_req("F"), join_req("G"))
    assert (waiting, []) == run(waiting, join_req("G"))
    asked, _ = run(waiting, STOPPED)
    assert (asked, []) == run(asked, join_req("F"))
    decided, _ = run(asked, given(**DELIVERED))
    assert (decided, []) == run(decided, join_req("F"))
    answered, effects = run(decided, *(ack(old, 8) for old in "BCDE"))
    again, more = run(answered, join_req("F"))
    assert (answered, effects[:1]) == (again, more)


def test_who_was_excluded_before_it_knew_is_refused_and_goes() -> None:
    """FLAW-133: else it asks for ever. A member of the view, a former incarnation and the next are not refused."""
    eighth = decision(8, "A", "ABCDE", lives={"F": 2}, follows=(7, "A"))
    coordinator = member("A", eighth)
    assert (coordinator, [Send("F", gms.JoinRefused(2))]) == run(coordinator, join_req("F", 2))
    assert (coordinator, []) == run(coordinator, join_req("F", 1))
    assert (coordinator, []) == run(coordinator, join_req("E", 0))
    assert [SUSPEND] == run(coordinator, join_req("F", 3))[1]
    assert (member("B", eighth), []) == run(member("B", eighth), join_req("F", 2))

    asking, _ = run(gms.start("F"), gms.JoinRequested("A", 2))
    refused, effects = run(asking, gms.JoinRefusedReceived("A", gms.JoinRefused(2)))
    assert (evolve(asking, gone=True), [PassUp(Left())]) == (refused, effects)
    assert (asking, []) == run(asking, gms.JoinRefusedReceived("A", gms.JoinRefused(1)))
    again = gms.JoinRefusedReceived("A", gms.JoinRefused(2))
    assert (refused, []) == run(refused, again)
    with pytest.raises(LocalProtocolError, match="was refused, does not join"):
        run(refused, gms.JoinRequested("A", 2))
    inside = member("F", decision(7, "A", "AF"), life=2, joining=True)
    assert (inside, []) == run(inside, again)


@pytest.mark.parametrize(
    ("most", "views"), [(1, ["AX", "AXY", "AXYZ"]), (2, ["AXY", "AXYZ"]), (3, ["AXYZ"]), (9, ["AXYZ"])]
)
def test_a_view_grants_the_requests_at_the_head_of_the_queue(most: int, views: list[str]) -> None:
    """MBR-11, MBR-12, FVB-15: three joiners at once (MBR-05) need as many views as the bound has it, in their order."""
    config = gms.Config(max_bundle=most)
    state, _ = run(member("A", decision(7, "A", "A")), *map(join_req, "XYZ"))
    for number, members in enumerate(views, 1):
        before = state.decision.members
        asked, _ = gms.step(config, state, STOPPED)
        state, _ = gms.step(config, asked, given(number, **dict.fromkeys(before, 0)))
        assert (7 + number, tuple(members)) == (state.decision.id.counter, state.decision.members)
        assert frozenset(members) - {*before} == state.decision.joiners
        for each in members[1:]:
            state, _ = gms.step(config, state, ack(each, 7 + number))
    assert ("at rest", ()) == (state.phase, state.queue)


def test_a_coordinator_that_leaves_admits_first() -> None:
    """It has to answer the joiners, so it is in their view, and its own leave waits for the next one."""
    state, _ = run(member("A"), gms.LeaveRequested(), join_req("F"), STOPPED)
    assert state.gone, "its own leave came first"
    state, _ = run(member("A"), join_req("F"), gms.LeaveRequested(), STOPPED, given(1, **DELIVERED))
    assert (tuple("ABCDEF"), (gms.Request("leave", "A", 0),)) == (state.decision.members, state.queue)


def test_the_first_member_of_a_view_takes_over_though_it_asked_to_leave() -> None:
    """A has left by a view of its own, and B's request with it: if B went, C and D would have to miss it."""
    asked, _ = run(member("B", decision(7, "A", "ABCD")), gms.LeaveRequested())
    state, effects = run(asked, gms.NewViewReceived("A", gms.NewView(decision(8, "A", "BCD", (7, "A")))))
    assert ("asking", False) == (state.phase, state.gone)
    assert Send("C", gms.Query(ViewId(8, "A"), frozenset())) in effects
    state, _ = run(asked, gms.Suspected("A"))
    assert state.gone, "it asked A in this view, whose answer may be lost"


def test_a_joiner_that_is_to_take_over_is_sent_the_view() -> None:
    """A crashed when it had answered G alone: no other member would send F its view."""
    eighth = decision(8, "A", "AFG", joiners="FG", digest=Vector.of(A=0))
    state = member("G", eighth)
    _, effects = run(state, gms.Suspected("A"))
    assert [suspicion("A"), Send("F", gms.JoinRsp(eighth))] == effects
    _, effects = run(member("G", evolve(eighth, joiners=frozenset("G"))), gms.Suspected("A"))
    assert [suspicion("A")] == effects, "F is an old member, which has its view"


def test_a_joiner_that_is_suspected_before_it_is_official_does_not_stay() -> None:
    """AMB-28: in the queue it is struck, and while its digest is awaited the promise is taken back."""
    waiting, _ = run(member("A"), join_req("F"), join_req("G"))
    struck, _ = run(waiting, gms.Suspected("G"))
    assert (gms.Request("join", "F", 0),) == struck.queue
    asked, _ = run(waiting, STOPPED)
    after, effects = run(asked, gms.Suspected("F"))
    assert [PassDown(PromiseWithdrawn("F"))] == effects
    assert (gms.Request("join", "G", 0),) == after.granting, "G is let in with the same digest"
    nobody, effects = run(after, gms.Suspected("G"))
    assert [PassDown(PromiseWithdrawn("G")), RESUME] == effects
    assert (nobody.phase, nobody.admitting) == ("at rest", 0)
    assert (nobody, []) == run(nobody, given(**DELIVERED)), "the answer comes late"


def test_a_member_that_is_suspected_while_the_digest_is_awaited_is_not_in_the_view() -> None:
    asked, _ = run(member("A"), join_req("F"), STOPPED, gms.Suspected("C"), gms.Suspected("E"))
    state, _ = run(asked, given(**DELIVERED))
    assert tuple("ABDF") == state.decision.members
    assert Vector.of(A=41, B=7, D=1000) == state.decision.digest


def test_the_digest_of_another_asker_is_passed_on_and_a_late_one_is_not_taken() -> None:
    """EVT-03, EVT-05: each takes the answer to its own question."""
    asked, _ = run(member("A"), join_req("F"), STOPPED)
    other = DigestGiven("STATE_TRANSFER", 1, Vector.of(**DELIVERED))
    assert (asked, [PassUp(other)]) == run(asked, other)
    assert (asked, []) == run(asked, given(0, **DELIVERED))
    second, _ = run(asked, gms.Suspected("F"), join_req("G"), STOPPED)
    assert (second, []) == run(second, given(1, **DELIVERED))


# Incarnations


def test_a_new_life_waits_until_the_one_before_has_been_let_go() -> None:
    """MBR-12: the exclusion comes first, the join keeps its place in the queue."""
    state, _ = run(member("A"), join_req("F"), join_req("C", 1))
    assert (gms.Request("leave", "C", 0), gms.Request("join", "F", 0), gms.Request("join", "C", 1)) == state.queue
    state, effects = run(state, STOPPED, given(**DELIVERED))
    assert tuple("ABDEF") == state.decision.members
    assert Send("C", gms.LeaveRsp(0)) in effects
    assert (gms.Request("join", "C", 1),) == state.queue


@pytest.mark.parametrize("life", [0, 1, 2])
def test_a_life_that_was_in_a_view_is_let_in_by_no_late_request(life: int) -> None:
    """MBR-10: C left in its third incarnation, number 2; FLAW-133: if it still asks, it gets LEAVE_RSP."""
    state = member("A", decision(7, "A", "ABDE", lives={"C": 2}))
    answer = [Send("C", gms.JoinRefused(2))] if life == 2 else []
    assert (state, answer) == run(state, join_req("C", life))


def test_an_incarnation_with_a_lower_number_is_refused() -> None:
    """As where a clock was set back. Each number is an address of its own, as in the runtime."""
    state = member("A", decision(7, "A", "ABDE", lives={"C#9": 0}))
    assert (state, [Send("C#7", gms.JoinRefused(0))]) == run(state, join_req("C#7"))
    assert [SUSPEND] == run(state, join_req("C#10"))[1]


def test_a_later_life_takes_the_place_of_one_that_waits() -> None:
    waiting, _ = run(member("A"), join_req("F"), join_req("G"), join_req("F", 2))
    assert (gms.Request("join", "G", 0), gms.Request("join", "F", 2)) == waiting.queue
    asked, _ = run(member("A"), join_req("F"), STOPPED)
    replaced, effects = run(asked, join_req("F", 2))
    assert [PassDown(PromiseWithdrawn("F")), SUSPEND] == effects
    assert (gms.Request("join", "F", 2),) == replaced.queue


def test_a_joiner_trusts_whom_it_refused_in_another_life() -> None:
    """It was asked in its former incarnation's place, and refused A. Now another incarnation of A is discovered."""
    query = gms.QueryReceived("B", gms.Query(ViewId(7, "A"), frozenset({"A", "Z"})))
    refusing, effects = run(gms.start("F"), query)
    assert [Send("B", gms.Answer(ViewId(7, "A"), gms.NO_DECISION))] == effects
    assert frozenset("AZ") == refusing.suspected
    found, _ = run(refusing, gms.JoinRequested("A", 1))
    assert frozenset("Z") == found.suspected
    ninth = decision(9, "A", "AZF", (8, "A"), lives={"F": 1}, joiners="F", digest=Vector.of(A=0, Z=0))
    state, _ = run(found, gms.JoinRspReceived("A", gms.JoinRsp(ninth)))
    assert ninth == state.decision
    assert frozenset() == state.suspected


# Leaving


def test_a_member_asks_who_acts_and_again_when_that_is_another() -> None:
    state, effects = run(member("D"), gms.LeaveRequested())
    assert [Send("A", gms.LeaveReq(0))] == effects
    assert (state, []) == run(state, gms.LeaveRequested())
    state, effects = run(state, gms.Suspected("B"))
    assert [suspicion("B")] == effects
    state, effects = run(state, gms.Suspected("A"))
    assert [suspicion("A"), Send("C", gms.LeaveReq(0))] == effects


def test_a_leaver_is_let_go_by_a_view_without_it() -> None:
    request = gms.LeaveReqReceived("C", gms.LeaveReq(0))
    state, effects = run(member("A"), request, request, STOPPED)
    eighth = decision(8, "A", "ABDE", (7, "A"), lives={"C": 0})
    assert [
        PassDown(ViewInstalled(eighth.view)),
        PassUp(ViewInstalled(eighth.view)),
        *(Send(old, gms.NewView(eighth)) for old in "BDE"),
        Send("C", gms.LeaveRsp(0)),
    ] == effects
    assert () == state.queue
    gone, effects = run(member("C", leaving=True), gms.LeaveRspReceived("A", gms.LeaveRsp(0)))
    assert [PassUp(Left())] == effects
    assert gone.gone


def test_a_coordinator_that_leaves_decides_the_view_without_itself_and_goes() -> None:
    """AMB-40: the identifier names it, though it is no member."""
    state, effects = run(member("A"), gms.LeaveRequested(), STOPPED)
    eighth = decision(8, "A", "BCDE", (7, "A"), lives={"A": 0})
    assert [*(Send(old, gms.NewView(eighth)) for old in "BCDE"), PassUp(Left())] == effects
    assert state.gone
    assert not state.acting


def test_requests_to_leave_outlive_a_view() -> None:
    """A member that takes over in the view still has the joiners that asked before it installed the view."""
    ahead, _ = run(member("B"), gms.LeaveReqReceived("D", gms.LeaveReq(0)))
    eighth = decision(8, "A", "BCDE", (7, "A"), lives={"A": 0})
    state, _ = run(ahead, gms.NewViewReceived("A", gms.NewView(eighth)))
    assert (gms.Request("leave", "D", 0),) == state.queue
    ninth = decision(8, "A", "BCE", (7, "A"), lives={"A": 0, "D": 0})
    state, _ = run(ahead, gms.NewViewReceived("A", gms.NewView(ninth)))
    assert () == state.queue


# Crashes


def test_who_takes_over_asks_all_that_it_does_not_suspect() -> None:
    state, effects = run(member("C"), gms.Suspected("A"), gms.Suspected("B"))
    query = gms.Query(ViewId(7, "A"), frozenset("AB"))
    assert [suspicion("B"), Send("D", query), Send("E", query)] == effects
    assert ("asking", frozenset("DE")) == (state.phase, state.awaits)


def test_who_answers_refuses_what_the_seniors_send_from_then_on() -> None:
    query = gms.QueryReceived("C", gms.Query(ViewId(7, "A"), frozenset("AB")))
    state, effects = run(member("E"), query)
    answer = Send("C", gms.Answer(ViewId(7, "A"), SEVENTH))
    assert [suspicion("A"), suspicion("B"), answer] == effects
    assert [answer] == run(state, query)[1]
    eighth = decision(8, "A", "ABCDE", (7, "A"))
    assert (state, []) == run(state, gms.NewViewReceived("A", gms.NewView(eighth)))


def test_who_acknowledges_a_view_refuses_the_seniors_of_who_sends_it() -> None:
    """FLAW-130: E, in no view, was asked by C, which counts on it, and then asked A again, which let it in."""
    starts = Vector.of(A=0, B=0, C=0, D=0)
    eighth = decision(8, "A", "ABCDE", (7, "A"), joiners="E", digest=starts)
    ack = [Send("C", gms.ViewAck(ViewId(8, "A")))]
    suspicions = [suspicion("A"), suspicion("B")]
    answered = gms.JoinRspReceived("C", gms.JoinRsp(eighth))
    state, effects = run(member("E", eighth), answered)
    assert (frozenset("AB"), [*suspicions, *ack]) == (state.suspected, effects)
    assert (state, ack) == run(state, answered)
    ninth = decision(9, "A", "ABCDE", (8, "A"))
    for to_the_ninth in (member("E", eighth), member("E", ninth)):
        state, effects = run(to_the_ninth, gms.NewViewReceived("C", gms.NewView(ninth)))
        assert ("following", frozenset("AB")) == (state.phase, state.suspected)
        assert [*suspicions, Send("C", gms.ViewAck(ViewId(9, "A")))] == effects[-3:]


def test_a_view_from_who_has_left_it_or_from_a_junior_makes_nobody_suspected() -> None:
    ninth = decision(9, "A", "BCDE", (8, "A"))
    for sender in ("A", "E"):
        state, effects = run(member("B", ninth), gms.NewViewReceived(sender, gms.NewView(ninth)))
        assert (frozenset(), [Send(sender, gms.ViewAck(ViewId(9, "A")))]) == (state.suspected, effects)


def test_a_late_question_makes_nobody_refuse_who_is_back_as_its_junior() -> None:
    """A and D were senior to H when it asked; D is there again, in another incarnation, and A is not."""
    ninth = decision(9, "H", "HBDG", lives={"A": 0, "D": 1})
    query = gms.QueryReceived("H", gms.Query(ViewId(7, "A"), frozenset("AD")))
    state, _ = run(member("G", ninth), query)
    assert frozenset() == state.suspected


def test_a_question_of_a_former_life_that_comes_late_is_answered_and_changes_nothing() -> None:
    """FLAW-89: E asked in the seventh view, and has been let in again."""
    ninth = decision(9, "C", "CDE", (8, "C"), joiners="E", lives={"E": 1})
    state = evolve(member("C", ninth), phase="answering", awaits=frozenset("E"))
    query = gms.QueryReceived("E", gms.Query(ViewId(7, "A"), frozenset("AB")))
    assert (state, [Send("E", gms.Answer(ViewId(7, "A"), ninth))]) == run(state, query)


def test_a_view_that_only_some_have_is_sent_again_before_another_is_decided() -> None:
    """FLAW-32: E has the eighth view, with F; B and the others learn of it."""
    eighth = decision(8, "A", "ABCDEF", (7, "A"), joiners="F", digest=Vector.of(**DELIVERED))
    asking, _ = run(member("B"), gms.Suspected("A"))

    def answer(sender: str, told: gms.Decision) -> gms.AnswerReceived:
        return gms.AnswerReceived(sender, gms.Answer(ViewId(7, "A"), told))

    state, effects = run(asking, answer("C", SEVENTH), answer("D", SEVENTH))
    assert [] == effects
    state, effects = run(state, answer("E", eighth))
    assert [
        PassDown(ViewInstalled(eighth.view)),
        PassUp(ViewInstalled(eighth.view)),
        *(Send(old, gms.NewView(eighth)) for old in "CDE"),
    ] == effects
    assert ("announcing", frozenset("CDE"), frozenset("F")) == (state.phase, state.awaits, state.owed)
    assert state.took_over
    state, effects = run(state, *(ack(old, 8) for old in "CDE"))
    assert [Send("F", gms.JoinRsp(eighth))] == effects
    state, effects = run(state, ack("F", 8))
    assert [SUSPEND] == effects, "A is excluded next"


def test_an_acknowledgement_of_another_view_counts_for_nothing() -> None:
    state, _ = run(member("A"), gms.Suspected("E"), STOPPED)
    assert frozenset("BCD") == state.awaits
    for late in (ack("B", 7), ack("B", 8, "B"), ack("F", 8)):
        assert (state, []) == run(state, late)
    assert frozenset("CD") == run(state, ack("B", 8))[0].awaits


def test_nobody_waits_for_the_dead() -> None:
    """FLAW-33."""
    state, _ = run(member("A"), join_req("F"), STOPPED, given(**DELIVERED))
    state, _ = run(state, ack("B", 8), ack("C", 8), ack("D", 8))
    state, effects = run(state, gms.Suspected("E"))
    assert [suspicion("E"), Send("F", gms.JoinRsp(state.decision))] == effects
    state, effects = run(state, gms.Suspected("F"))
    assert [suspicion("F"), SUSPEND] == effects
    state, _ = run(state, STOPPED)
    assert tuple("ABCD") == state.decision.members


# Views


def test_a_view_is_installed_on_top_of_the_one_that_it_follows_and_of_no_other() -> None:
    ninth = decision(9, "A", "ABCDE", (8, "A"))
    state = member("D")
    elsewhere = [Send("A", gms.Answer(ViewId(9, "A"), SEVENTH))]
    assert (state, elsewhere) == run(state, gms.NewViewReceived("A", gms.NewView(ninth)))
    eighth = decision(8, "A", "ABCDE", (7, "A"))
    after, effects = run(state, gms.NewViewReceived("A", gms.NewView(eighth)))
    assert Send("A", gms.ViewAck(ViewId(8, "A"))) == effects[-1]
    again, effects = run(after, gms.NewViewReceived("A", gms.NewView(eighth)))
    assert (after, [Send("A", gms.ViewAck(ViewId(8, "A")))]) == (again, effects)


def test_a_joiner_suspects_the_seniors_of_who_answers_it_and_nobody_else() -> None:
    """FLAW-85: A is alive, and was refused; D was, too, in a former incarnation."""
    query = gms.QueryReceived("B", gms.Query(ViewId(8, "A"), frozenset("AD")))
    eighth = decision(8, "A", "ABDF", (7, "A"), joiners="F", digest=Vector.of(A=0, B=0, D=0))
    answer = gms.JoinRsp(eighth)
    state, _ = run(gms.start("F"), gms.JoinRequested("A", 0), query)
    assert (state, []) == run(state, gms.JoinRspReceived("A", answer))
    state, effects = run(state, gms.JoinRspReceived("B", answer))
    assert Send("B", gms.ViewAck(ViewId(8, "A"))) == effects[-1]
    assert frozenset("A") == state.suspected


def test_who_has_gone_another_way_says_so_and_is_waited_for_no_longer() -> None:
    """FLAW-86: F is in A's view, B lets it in, too."""
    theirs = decision(8, "A", "ABF", (7, "A"), joiners="F", digest=Vector.of(A=0, B=0))
    ours = decision(8, "B", "BF", (7, "A"), lives={"A": 0}, joiners="F", digest=Vector.of(B=0))
    state, effects = run(member("F", theirs), gms.JoinRspReceived("B", gms.JoinRsp(ours)))
    assert (member("F", theirs), [Send("B", gms.Answer(ViewId(8, "B"), theirs))]) == (state, effects)
    again, effects = run(state, gms.JoinRspReceived("A", gms.JoinRsp(theirs)))
    assert (state, [Send("A", gms.ViewAck(ViewId(8, "A")))]) == (again, effects)
    waiting = member("B", ours, phase="answering", awaits=frozenset("F"))
    late = gms.AnswerReceived("F", gms.Answer(ViewId(7, "A"), theirs))
    assert (waiting, []) == run(waiting, late)
    alone, effects = run(waiting, gms.AnswerReceived("F", gms.Answer(ViewId(8, "B"), theirs)))
    assert [suspicion("F"), SUSPEND] == effects
    assert (frozenset(), frozenset("F")) == (alone.awaits, alone.suspected)


@pytest.mark.parametrize("life", [0, 1])
def test_a_request_that_another_coordinator_has_granted_is_not_granted_again(life: int) -> None:
    """FLAW-87: B has F's request when it learns of A's view with F, which then goes another way."""
    eighth = decision(8, "A", "ABCF", (7, "A"), lives={"F": 1}, joiners="F", digest=Vector.of(A=0, B=0, C=0))
    theirs = decision(9, "A", "ACF", (8, "A"), lives={"B": 0, "F": 1})
    told = gms.AnswerReceived("C", gms.Answer(ViewId(7, "A"), eighth))
    asking, _ = run(member("B", decision(7, "A", "ABC")), gms.Suspected("A"), join_req("F", life))
    state, _ = run(asking, told, ack("C", 8))
    state, effects = run(state, gms.AnswerReceived("F", gms.Answer(ViewId(8, "A"), theirs)))
    assert [suspicion("F"), SUSPEND] == effects
    assert (frozenset("AF"), (gms.Request("join", "F", life),)) == (state.suspected, state.queue)
    state, _ = run(state, STOPPED)
    assert (tuple("BC"), ()) == (state.decision.members, state.queue)
    assert ("announcing", frozenset("C"), False) == (state.phase, state.awaits, state.took_over)
    assert [RESUME] == run(state, ack("C", 9, "B"))[1]


def test_a_leave_that_another_coordinator_has_granted_is_not_granted_again() -> None:
    """B has C's request when it learns of A's view without C."""
    eighth = decision(8, "A", "ABD", (7, "A"), lives={"C": 0})
    leave = gms.LeaveReqReceived("C", gms.LeaveReq(0))
    told = gms.AnswerReceived("D", gms.Answer(ViewId(7, "A"), eighth))
    taking = run(member("B", decision(7, "A", "ABCD")), leave, gms.Suspected("A"), gms.Suspected("C"))[0]
    state, effects = run(taking, told, ack("D", 8))
    assert ([SUSPEND], (gms.Request("leave", "C", 0),)) == (effects, state.queue)
    state, effects = run(state, STOPPED)
    assert (tuple("BD"), ()) == (state.decision.members, state.queue)
    assert ["D"] == [each.to for each in effects if isinstance(each, Send)]


def test_a_view_is_handed_to_a_joiner_once() -> None:
    """D, E and F join by one view, and A crashes. F relies on D from then on, also when E crashes, too."""
    eighth = decision(8, "A", "ADEF", (7, "A"), joiners="DEF", digest=Vector.of(A=0))
    handed, effects = run(member("F", eighth), gms.Suspected("A"))
    assert [suspicion("A"), Send("D", gms.JoinRsp(eighth))] == effects
    assert [suspicion("E")] == run(handed, gms.Suspected("E"))[1]


def test_a_former_life_that_is_suspected_goes_before_the_new_one_joins() -> None:
    """B learns of A's view with F when F is back, has asked, and is in a view of A's line by now."""
    other = decision(10, "A", "AF", (9, "A"), joiners="F", lives={"F": 1})
    eighth = decision(8, "A", "ABCF", (7, "A"), joiners="F", digest=Vector.of(A=0, B=0, C=0))
    told = gms.AnswerReceived("C", gms.Answer(ViewId(7, "A"), eighth))
    asking, _ = run(member("B", decision(7, "A", "ABC")), gms.Suspected("A"), join_req("F", 1), told)
    waiting, _ = run(asking, ack("C", 8), gms.AnswerReceived("F", gms.Answer(ViewId(8, "A"), other)))
    assert frozenset("AF") == waiting.suspected
    state, effects = run(waiting, STOPPED)
    assert (tuple("BC"), (gms.Request("join", "F", 1),)) == (state.decision.members, state.queue)
    assert PassDown(DigestPromised("F")) not in effects
    state, effects = run(evolve(waiting, suspected=frozenset("A"), decision=eighth), STOPPED)
    assert (tuple("BCF"), (gms.Request("join", "F", 1),)) == (state.decision.members, state.queue)
    assert PassDown(DigestPromised("F")) not in effects


def test_who_is_asked_and_has_gone_another_way_is_no_member_any_more() -> None:
    other = decision(8, "C", "CDE", (7, "C"))
    asking, _ = run(member("B"), gms.Suspected("A"))
    state, effects = run(asking, gms.AnswerReceived("E", gms.Answer(ViewId(7, "A"), other)))
    assert [suspicion("E")] == effects
    assert (frozenset("CD"), frozenset("AE")) == (state.awaits, state.suspected)
    left_out = decision(8, "A", "ACDE", (7, "A"))
    state, _ = run(asking, gms.AnswerReceived("E", gms.Answer(ViewId(7, "A"), left_out)))
    assert (frozenset("AE"), gms.NO_DECISION) == (state.suspected, state.newest)


# The group is stopped


def test_the_group_is_stopped_before_each_view_and_let_go_when_the_last_is_everywhere() -> None:
    state, effects = run(member("A", decision(7, "A", "ABC")), gms.LeaveReqReceived("C", gms.LeaveReq(0)))
    assert [SUSPEND] == effects
    assert (state, [PassDown(GroupStopped("STATE_TRANSFER"))]) == run(state, GroupStopped("STATE_TRANSFER"))
    state, _ = run(state, STOPPED, join_req("F"))
    assert (tuple("AB"), "announcing") == (state.decision.members, state.phase)
    assert (state, []) == run(state, STOPPED), "each Suspend has one answer"
    state, effects = run(state, ack("B", 8))
    assert [SUSPEND] == effects, "again, and no member was resumed"
    state, effects = run(state, STOPPED, given(A=0, B=0), ack("B", 9))
    assert [Send("F", gms.JoinRsp(state.decision))] == effects
    state, effects = run(state, ack("F", 9))
    assert ([RESUME], "at rest") == (effects, state.phase)


def test_a_request_that_is_withdrawn_while_the_group_is_being_stopped_is_no_view() -> None:
    state, _ = run(member("A"), join_req("F"), gms.Suspected("F"))
    state, effects = run(state, STOPPED)
    assert ([RESUME], 7) == (effects, state.decision.id.counter)


def test_who_takes_over_has_the_group_stopped_and_lets_it_go_though_it_has_no_view_to_decide() -> None:
    """A has stopped the group, decided the eighth view and left; no other member resumes it."""
    eighth = decision(8, "A", "BCDE", (7, "A"), lives={"A": 0})
    state, _ = run(member("B"), gms.NewViewReceived("A", gms.NewView(eighth)))
    answers = (gms.AnswerReceived(m, gms.Answer(ViewId(8, "A"), eighth)) for m in "CDE")
    state, effects = run(state, *answers)
    assert ("announcing", True) == (state.phase, state.took_over)
    state, effects = run(state, *(ack(m, 8) for m in "CDE"))
    assert [SUSPEND] == effects
    assert ([RESUME], 8) == (run(state, STOPPED)[1], state.decision.id.counter)


def test_a_joiner_tells_those_above_whom_it_suspects_when_it_has_told_them_of_its_view() -> None:
    eighth = decision(8, "A", "ABF", (7, "A"), joiners="F", digest=Vector.of(A=0, B=0))
    _, effects = run(gms.start("F"), gms.JoinRequested("A", 0), gms.JoinRspReceived("B", gms.JoinRsp(eighth)))
    assert [
        PassDown(DigestSet(Vector.of(A=0, B=0))),
        PassDown(ViewInstalled(eighth.view)),
        PassUp(ViewInstalled(eighth.view)),
        suspicion("A"),
        Send("B", gms.ViewAck(ViewId(8, "A"))),
    ] == effects


# Refused events


@pytest.mark.parametrize(
    ("state", "event", "reason"),
    [
        (member("A"), gms.JoinRequested("B", 0), "a member that is or was in a view, or was refused, does not join"),
        (gms.start("F"), gms.JoinRequested("F", 1), "an address that was in use before founds no group"),
        (gms.start("F"), gms.LeaveRequested(), "a member that is in no view does not leave"),
        (member("A"), gms.Suspected("A"), "a member does not suspect itself"),
        (
            member("A", queue=(gms.Request("join", "F", 0),), phase="admitting", admitting=1, asked=1),
            given(A=1, B=2),
            "the digest's members are not the view's",
        ),
    ],
)
def test_what_a_caller_may_not_do_is_refused(state: gms.State, event: gms.Event, reason: str) -> None:
    is_refused(lambda s, e: gms.step(CONFIG, s, e), state, event, LocalProtocolError, reason)


def test_a_view_that_is_sent_to_who_is_not_in_it_is_refused() -> None:
    stranger = decision(8, "A", "BCE", (7, "A"))
    refused = gms.NewViewReceived("A", gms.NewView(stranger))
    is_refused(
        lambda s, e: gms.step(CONFIG, s, e),
        member("D"),
        refused,
        RemoteProtocolError,
        "NEW_VIEW: the receiver must be a member, each member listed once, with an incarnation",
    )
    answer = gms.JoinRspReceived("A", gms.JoinRsp(SEVENTH))
    reason = "JOIN_RSP: the receiver must be a joiner of the view, and the sender a member"
    is_refused(lambda s, e: gms.step(CONFIG, s, e), gms.start("F"), answer, RemoteProtocolError, reason)
    joining = decision(8, "A", "ABF", (7, "A"), joiners="F", digest=Vector.of(A=0, B=0))
    answer = gms.JoinRspReceived("G", gms.JoinRsp(joining))
    is_refused(lambda s, e: gms.step(CONFIG, s, e), gms.start("F"), answer, RemoteProtocolError, reason)
