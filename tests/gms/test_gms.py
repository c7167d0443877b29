"""gms: the core, event by event; each test says which requirement it is about. Groups are larger than the models'."""

from typing import Any

import pytest
from attrs import evolve

from groupcomm import gms
from groupcomm.digest import EMPTY_VECTOR, Vector
from groupcomm.effects import PassDown, PassUp, Send
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.events import DigestGiven, DigestSet, GroupStopped, Left, Suspected, Suspend, ViewInstalled
from groupcomm.view import ViewId
from tests.cores import is_refused

CONFIG = gms.Config(max_bundle=2)
STOPPED = GroupStopped("GMS")
SUSPEND = PassUp(Suspend("GMS"))


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


# Incarnations


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


# Leaving


# Crashes


# Views


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


# The group is stopped


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
