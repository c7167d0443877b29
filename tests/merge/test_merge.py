"""merge: the core, event by event; each test says which requirement it is about. Groups are larger than the models'."""

from typing import Any

import pytest
from attrs import evolve

from groupcomm import merge
from groupcomm.digest import EMPTY_VECTOR, Vector
from groupcomm.effects import CancelTimer, PassDown, PassUp, Send, SetTimer
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.events import DigestPromised, PromiseWithdrawn, Suspected
from groupcomm.gms import NO_DECISION, Decision, Lives
from groupcomm.stack import Fired, Layer, Raised, Stack
from groupcomm.view import NO_VIEW, View, ViewId

CONFIG = merge.Config(min_interval=100, max_interval=300, leader_timeout=50, member_timeout=200)
DISCOVER = SetTimer("discover", 100, 300)


def view(counter: int, creator: str, members: str, **lives: int) -> Decision:
    """A view, whose members are letters."""
    return Decision(
        id=ViewId(counter, creator),
        members=tuple(members),
        follows=NO_VIEW.id,
        lives=Lives(tuple((member, lives.get(member, 0)) for member in members)),
        joiners=frozenset(),
        digest=EMPTY_VECTOR,
    )


AB = view(4, "A", "AB")
CD = view(6, "C", "CD")
EFG = view(2, "E", "EFG", G=3)


def digest(of: Decision, seqno: int = 14) -> Vector:
    return Vector(tuple((member, seqno) for member in of.members))


def member(name: str, of: Decision, **more: Any) -> merge.State:  # noqa: ANN401 - fields
    return evolve(merge.start(name), **{"decision": of, **more})


def run(state: merge.State, *events: merge.Event) -> tuple[merge.State, list[Any]]:
    """The state after events, and the effects of the last."""
    effects: tuple[Any, ...] = ()
    for event in events:
        state, effects = merge.step(CONFIG, state, event)
    return state, [*effects]


def discovers(found: str, of: Decision = AB) -> merge.DiscoverTimeout:
    return merge.DiscoverTimeout(frozenset(found), digest(of))


ID = merge.MergeId("A", 0, 1)


def accepts(of: Decision, seqno: int = 14, merge_id: merge.MergeId = ID) -> merge.MergeRspReceived:
    answer = merge.MergeRsp(merge_id, rejected=False, decision=of, digest=digest(of, seqno))
    return merge.MergeRspReceived(of.members[0], answer)


def rejects(sender: str, of: Decision = NO_DECISION) -> merge.MergeRspReceived:
    return merge.MergeRspReceived(sender, merge.MergeRsp(ID, rejected=True, decision=of, digest=EMPTY_VECTOR))


def asks(of: Decision = AB, merge_id: merge.MergeId = ID, at: Decision = CD) -> merge.MergeReqReceived:
    return merge.MergeReqReceived(merge_id.leader, merge.MergeReq(merge_id, of), digest(at))


MERGED = merge.Merged(
    id=ViewId(7, "A"),
    members=("A", "B", "C", "D"),
    follows=frozenset({AB.id, CD.id}),
    lives=Lives((("A", 0), ("B", 0), ("C", 0), ("D", 0))),
    digest=Vector.of(A=14, B=14, C=9, D=9),
)
LEADER = run(member("A", AB), discovers("ACE"))[0]
ANSWERED = run(member("C", CD), asks())[0]


def test_the_first_view_starts_discovery() -> None:
    """MRG-01, AMB-46: discovery is asked again and again, after a time between two bounds."""
    assert run(merge.start("A"), merge.DecisionInstalled(AB)) == (member("A", AB), [DISCOVER])
    assert run(member("A", AB), discovers("")) == (member("A", AB), [DISCOVER])


def test_one_coordinator_is_nothing_to_merge() -> None:
    """MRG-02: nothing comes of a discovery that finds no other coordinator."""
    assert run(member("A", AB), discovers("A")) == (member("A", AB), [DISCOVER])


def test_participants_do_not_begin() -> None:
    """MRG-10: only coordinators react."""
    assert run(member("B", AB), discovers("AC")) == (member("B", AB), [DISCOVER])


def test_only_the_first_leads_and_does_not_wait_in_the_call() -> None:
    """MRG-04, MRG-12, MRG-13, MRG-14, MRG-15, AMB-35, AMB-36: its own answer is there, the others' are awaited."""
    assert run(member("C", CD), discovers("ACE", CD)) == (member("C", CD), [DISCOVER])
    state, effects = run(member("A", AB), discovers("ACE"))
    assert (state.merge, state.awaiting) == (ID, frozenset("CE"))
    assert dict(state.responses) == {"A": merge.Response(AB, digest(AB))}
    assert effects == [
        DISCOVER,
        PassDown(merge.SuspendViews()),
        PassDown(DigestPromised("C")),
        PassDown(DigestPromised("E")),
        SetTimer("merge/1", 50, 50),
        Send("C", merge.MergeReq(ID, AB)),
        Send("E", merge.MergeReq(ID, AB)),
    ]


def test_discovery_is_a_layer_below() -> None:
    """LAY-01: when the timer fires, the layers below say which coordinators there are."""
    stack = Stack((Layer.of(merge, CONFIG),), merge.ASSUMES)
    begun, _ = stack.step(None, stack.start("A"), Raised(merge.DecisionInstalled(AB)))
    with pytest.raises(LocalProtocolError, match="DiscoverTimeout takes its found from below"):
        stack.step(None, begun, Fired("merge/discover"))
    _, effects = stack.step(None, begun, Fired("merge/discover", (frozenset("AC"), digest(AB))))
    assert {effect.to for effect in effects if isinstance(effect, Send)} == {"C"}


def test_a_second_discovery_changes_nothing() -> None:
    """MRG-11: one merge at a time."""
    assert run(LEADER, discovers("ACEH")) == (LEADER, [DISCOVER])


def test_a_coordinator_answers_with_view_and_digest() -> None:
    """MRG-05, MRG-24, MRG-25, MRG-26, AMB-37: it is in this merge, has promised its digest, and sets a timer."""
    state, effects = run(member("C", CD), asks())
    assert state == member("C", CD, merge=ID, begun=1)
    assert effects == [
        PassDown(merge.SuspendViews()),
        PassDown(DigestPromised("A")),
        SetTimer("merge/1", 200, 200),
        Send("A", merge.MergeRsp(ID, rejected=False, decision=CD, digest=digest(CD))),
    ]


def test_a_busy_coordinator_and_a_participant_reject() -> None:
    """MRG-23, MRG-35, AMB-34: so does who leads a merge itself; nothing changes."""
    other = merge.MergeId("B", 0, 1)
    rejection = [Send("B", merge.MergeRsp(other, rejected=True, decision=NO_DECISION, digest=EMPTY_VECTOR))]
    of = view(9, "B", "B")
    for state in (ANSWERED, member("D", CD)):
        assert run(state, asks(of, other)) == (state, rejection)
    assert run(LEADER, asks(of, other, AB)) == (LEADER, rejection)
    refused = run(merge.start("D"), merge.MergeReqReceived("B", merge.MergeReq(other, of), EMPTY_VECTOR))
    assert refused == (merge.start("D"), rejection)


def test_two_views_become_one() -> None:
    """MRG-06, MRG-18, MRG-19, MRG-20, MRG-21, MRG-22, AMB-40, AMB-41, AMB-42: of three, one of which rejects.

    The leader is the creator, and the first in the order of addresses coordinates.
    """
    state, effects = run(LEADER, rejects("E"), accepts(CD, 9))
    decision = MERGED.after_own(AB)
    assert state == member("A", decision, begun=1)
    assert decision.follows == AB.id
    assert effects == [
        PassDown(merge.WindowsAdded(Vector.of(C=9, D=9))),
        PassDown(merge.MergeDecided(decision)),
        Send("C", merge.InstallMergeView(ID, MERGED)),
        Send("B", merge.MergeView(MERGED)),
        PassUp(merge.MergeViewInstalled(View(ViewId(7, "A"), tuple("ABCD")), frozenset({AB.id, CD.id}))),
        CancelTimer("merge/1"),
        PassDown(merge.ResumeViews()),
    ]


def test_who_rejects_or_is_silent_is_left_out() -> None:
    """MRG-16, AMB-42: the leader continues with the coordinators that have answered, and notifies the others."""
    state, effects = run(LEADER, accepts(CD, 9), merge.MergeTimeout(1))
    assert state.decision == MERGED.after_own(AB)
    assert Send("E", merge.CancelMerge(ID)) in effects
    assert PassDown(PromiseWithdrawn("E")) in effects
    assert PassDown(PromiseWithdrawn("C")) not in effects


def test_nobody_to_merge_with() -> None:
    """MRG-17, AMB-38, AMB-39: no coordinator has accepted, and the merge is over; promises are withdrawn."""
    state, effects = run(LEADER, rejects("E"), merge.MergeTimeout(1))
    assert state == member("A", AB, begun=1)
    assert effects == [
        CancelTimer("merge/1"),
        PassDown(PromiseWithdrawn("C")),
        PassDown(merge.ResumeViews()),
        Send("C", merge.CancelMerge(ID)),
    ]
    state, effects = run(LEADER, rejects("E"), rejects("C"))
    assert state == member("A", AB, begun=1)
    assert effects == [PassDown(PromiseWithdrawn("C")), CancelTimer("merge/1"), PassDown(merge.ResumeViews())]


def test_the_merged_view_at_a_coordinator() -> None:
    """MRG-27, MRG-28, MRG-30, MRG-31, MRG-32, AMB-44: it hands it on, adds windows, and is none any more."""
    install = merge.InstallMergeViewReceived("A", merge.InstallMergeView(ID, MERGED))
    state, effects = run(ANSWERED, install)
    assert state == member("C", MERGED.after_own(CD), begun=1)
    assert not state.coordinates
    assert effects == [
        PassDown(merge.WindowsAdded(Vector.of(A=14, B=14))),
        PassDown(merge.MergeDecided(MERGED.after_own(CD))),
        Send("D", merge.MergeView(MERGED)),
        PassUp(merge.MergeViewInstalled(View(MERGED.id, tuple("ABCD")), MERGED.follows)),
        CancelTimer("merge/1"),
        PassDown(merge.ResumeViews()),
    ]
    assert run(state, install) == (state, [])


def test_the_merged_view_of_another_merge_is_ignored() -> None:
    """MRG-27, AMB-45, FLAW-102: of an earlier merge, or where there is none any more."""
    install = merge.InstallMergeViewReceived("A", merge.InstallMergeView(ID, MERGED))
    given_up = run(ANSWERED, merge.MergeTimeout(1))[0]
    assert run(given_up, install) == (given_up, [])
    again = run(given_up, asks(AB, merge.MergeId("A", 0, 2)))[0]
    assert run(again, install) == (again, [])
    assert run(again, merge.CancelMergeReceived("A", merge.CancelMerge(ID))) == (again, [])
    assert run(again, merge.MergeTimeout(1)) == (again, [])


def test_the_merged_view_at_a_participant() -> None:
    """MRG-29, MRG-31, FLAW-46: the first in the order of addresses coordinates, though it did not before."""
    old = view(4, "B", "BA")
    merged = evolve(MERGED, id=ViewId(7, "B"), follows=frozenset({old.id, CD.id}))
    state, effects = run(member("A", old), merge.MergeViewReceived("B", merge.MergeView(merged)))
    assert state == member("A", merged.after_own(old))
    assert state.coordinates
    assert [type(effect) for effect in effects] == [PassDown, PassDown, PassUp]


def test_the_leader_has_given_up() -> None:
    """AMB-39: so does a coordinator that gets CANCEL_MERGE, as when its timer fires."""
    over = [CancelTimer("merge/1"), PassDown(PromiseWithdrawn("A")), PassDown(merge.ResumeViews())]
    for event in (merge.CancelMergeReceived("A", merge.CancelMerge(ID)), merge.MergeTimeout(1)):
        assert run(ANSWERED, event) == (member("C", CD, begun=1), over)


def test_a_merged_view_that_comes_early_waits() -> None:
    """FLAW-107: for the view that it follows, and no longer than until there is a later one."""
    before = view(5, "C", "CD")
    receive = merge.MergeViewReceived("C", merge.MergeView(MERGED))
    state, effects = run(member("D", before), receive)
    assert (state, effects) == (member("D", before, early=(MERGED,)), [])
    assert run(state, merge.EarlyTimeout()) == (state, [])
    assert run(state, receive) == (state, [])
    followed, effects = run(state, merge.DecisionInstalled(CD))
    assert effects == [SetTimer("early", 0, 0)]
    assert run(followed, merge.EarlyTimeout())[0] == member("D", MERGED.after_own(CD))
    assert () == run(state, merge.DecisionInstalled(view(7, "C", "CD")))[0].early


@pytest.mark.parametrize("second_first", [False, True])
def test_all_merged_views_that_come_early_wait(second_first: bool) -> None:  # noqa: FBT001
    """FLAW-108: of two merges the second may come first; the member goes the whole way."""
    second = evolve(MERGED, id=ViewId(8, "A"), follows=frozenset({MERGED.id, EFG.id}))
    views = (second, MERGED) if second_first else (MERGED, second)
    state, _ = run(member("D", view(5, "C", "CD")), *(merge.MergeViewReceived("C", merge.MergeView(v)) for v in views))
    assert views == state.early
    first, effects = run(state, merge.DecisionInstalled(CD), merge.EarlyTimeout())
    assert member("D", MERGED.after_own(CD), early=(second,)) == first
    assert SetTimer("early", 0, 0) == effects[-1]
    last, effects = run(first, merge.EarlyTimeout())
    assert member("D", second.after_own(MERGED.after_own(CD))) == last
    assert SetTimer("early", 0, 0) not in effects


def test_a_view_of_the_membership_service_ends_a_merge() -> None:
    """AMB-48: the digest of MERGE_RSP is outdated."""
    changed = view(5, "A", "A")
    state, effects = run(LEADER, merge.DecisionInstalled(changed))
    assert state == member("A", changed, begun=1)
    assert effects[-2:] == [Send("C", merge.CancelMerge(ID)), Send("E", merge.CancelMerge(ID))]
    assert run(state, merge.DecisionInstalled(changed)) == (state, [])


G_WAS_HERE = evolve(AB, lives=Lives((("A", 0), ("B", 0), ("G", 4))))


def test_a_view_that_lists_a_former_incarnation_is_not_merged() -> None:
    """FLAW-110: who lists it has it left out, whether it is asked or asks; the other one says nothing."""
    state, effects = run(member("E", EFG), asks(G_WAS_HERE, at=EFG))
    rejection = merge.MergeRsp(ID, rejected=True, decision=EFG, digest=EMPTY_VECTOR)
    assert (state, effects) == (member("E", EFG), [PassDown(Suspected("G")), Send("A", rejection)])
    leads = run(member("A", G_WAS_HERE), discovers("AE", G_WAS_HERE))[0]
    assert run(leads, rejects("E", EFG))[1][:2] == [PassDown(PromiseWithdrawn("E")), CancelTimer("merge/1")]
    ours = view(3, "A", "AG", G=3)
    leads = run(member("A", ours), discovers("AC", ours))[0]
    theirs = evolve(CD, lives=Lives((("C", 0), ("D", 0), ("G", 4))))
    assert run(leads, rejects("C", theirs))[1][:2] == [PassDown(PromiseWithdrawn("C")), PassDown(Suspected("G"))]
    assert run(member("C", theirs), asks(ours, at=theirs))[1][0].message.rejected


@pytest.mark.parametrize(
    "event",
    [
        merge.MergeReqReceived("A", merge.MergeReq(merge.MergeId("B", 0, 1), AB), digest(CD)),
        merge.MergeReqReceived("C", merge.MergeReq(merge.MergeId("C", 0, 1), CD), digest(CD)),
        merge.MergeReqReceived("A", merge.MergeReq(ID, EFG), digest(CD)),
        merge.MergeRspReceived("E", merge.MergeRsp(ID, rejected=False, decision=AB, digest=digest(AB))),
        merge.MergeRspReceived("A", merge.MergeRsp(ID, rejected=False, decision=AB, digest=EMPTY_VECTOR)),
        merge.InstallMergeViewReceived("B", merge.InstallMergeView(ID, MERGED)),
        merge.InstallMergeViewReceived("A", merge.InstallMergeView(ID, evolve(MERGED, members=("A",)))),
        merge.MergeViewReceived("E", merge.MergeView(MERGED)),
        merge.MergeViewReceived("C", merge.MergeView(MERGED)),
        merge.MergeViewReceived("A", merge.MergeView(evolve(MERGED, members=("A",)))),
        merge.CancelMergeReceived("B", merge.CancelMerge(ID)),
    ],
)
def test_what_no_correct_peer_sends_is_refused(event: merge.Event) -> None:
    with pytest.raises(RemoteProtocolError):
        merge.step(CONFIG, ANSWERED, event)


@pytest.mark.parametrize("event", [merge.DecisionInstalled(AB), discovers("AC", AB), asks(at=AB)])
def test_what_no_correct_layer_does_is_refused(event: merge.Event) -> None:
    with pytest.raises(LocalProtocolError):
        merge.step(CONFIG, member("C", CD), event)
