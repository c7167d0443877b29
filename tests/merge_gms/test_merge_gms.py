"""merge_gms: merging over GMS, as small groups whose messages arrive in order; and single events."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve

from groupcomm import gms, merge, merge_gms
from groupcomm.digest import Vector
from groupcomm.effects import PassDown, PassUp, Send, SetTimer
from groupcomm.errors import RemoteProtocolError
from groupcomm.events import DigestGiven, GetDigest, GroupStopped, Resume, Suspected, Suspend
from groupcomm.view import View, ViewId

CONFIG = merge_gms.Config(min_interval=100, max_interval=300, leader_timeout=50, member_timeout=200, max_bundle=2)


class Group:
    """Members, and the messages between them. Requests for the group or a digest wait, too."""

    def __init__(self, *subgroups: str) -> None:
        self.states: dict[str, merge_gms.State] = {}
        self.network: list[tuple[str, str, Any]] = []
        self.stops: list[str] = []
        self.questions: list[tuple[str, GetDigest]] = []
        self.log: dict[str, list[Any]] = {}
        for members in subgroups:
            founder, others = members[0], members[1:]
            self.add(founder)
            self.step(founder, gms.JoinRequested(founder, 0))
            for joiner in others:
                self.add(joiner)
                self.step(joiner, gms.JoinRequested(founder, 0))
                self.run()
        self.log = {member: [] for member in self.states}

    def add(self, member: str) -> None:
        self.states[member] = merge_gms.start(member)
        self.log[member] = []

    def step(self, member: str, event: merge_gms.Event) -> None:
        self.states[member], effects = merge_gms.step(CONFIG, self.states[member], event)
        self.log[member] += effects
        for effect in effects:
            match effect:
                case Send(to, message) if to in self.states:
                    self.network.append((member, to, message))
                case PassUp(Suspend()):
                    self.stops.append(member)
                case PassDown(GetDigest() as question):
                    self.questions.append((member, question))
                case _:
                    pass

    def arrive(self, sender: str, to: str, message: Any) -> None:  # noqa: ANN401 - a message
        name = f"{type(message).__name__}Received"
        kind: Any = getattr(merge_gms, name, None) or getattr(gms, name, None) or getattr(merge, name)
        self.step(to, kind(sender, message))

    def crash(self, member: str) -> None:
        """Crash a member, with all messages from it and to it; the others are notified."""
        del self.states[member]
        self.network = [each for each in self.network if member not in each[:2]]
        self.detect()

    def detect(self) -> bool:
        """Report crashed members by the failure detector; say whether any member had to be notified."""
        told = [
            (member, other)
            for member, state in self.states.items()
            for other in state.gms.unsuspected
            if other not in self.states
        ]
        for member, other in told:
            self.step(member, Suspected(other))
        return bool(told)

    def run(self, *, lost: Iterable[type] = ()) -> None:
        """All that is on its way arrives, but what is lost; groups are stopped, and digests given."""
        while self.network or self.stops or self.questions or self.detect():
            if self.network:
                sender, to, message = self.network.pop(0)
                if to in self.states and not isinstance(message, tuple(lost)):
                    self.arrive(sender, to, message)
            elif self.stops:
                member = self.stops.pop(0)
                if member in self.states:
                    self.step(member, GroupStopped("GMS"))
            else:
                member, question = self.questions.pop(0)
                if member in self.states:
                    digest = Vector(tuple((m, 7) for m in self.states[member].own.members))
                    self.step(member, DigestGiven(question.asker, question.request, digest))

    def discover(self, member: str, found: str) -> None:
        self.step(member, merge_gms.DiscoverTimeout(frozenset(found)))

    def time_out(self, member: str) -> None:
        self.step(member, merge.MergeTimeout(self.states[member].merge.begun))

    def said(self, member: str) -> list[object]:
        """The events that a member has passed up."""
        return [effect.event for effect in self.log[member] if isinstance(effect, PassUp)]

    def settled(self) -> None:
        """All are in one view, no member is in a merge, no member waits, and the group was resumed."""
        for state in self.states.values():
            assert state.own.members == tuple(sorted(self.states))
            assert (state.wish, state.holds, state.early) == (None, "no", ())
            assert not state.merge.merging
            assert state.merge.decision == state.own
            assert state.gms.phase == ("at rest" if state.coordinates else "following")
            assert not state.gms.awaits


def test_two_subgroups_become_one() -> None:
    group = Group("AB", "CD")
    group.discover("A", "AC")
    group.run()
    group.settled()
    subgroups = frozenset({ViewId(2, "A"), ViewId(2, "C")})
    view = View(ViewId(3, "A"), ("A", "B", "C", "D"))
    announced = merge.MergeViewInstalled(view, subgroups)
    assert [announced] == group.said("B") == group.said("D")
    # The leader had its group stopped, and is the first of the merged view: it resumes the whole.
    assert [Suspend("GMS"), announced, Suspend("GMS"), Resume("GMS")] == group.said("A")
    assert [Suspend("GMS"), announced] == group.said("C")


def test_the_first_of_the_merged_view_was_a_participant() -> None:
    group = Group("BA", "C")
    group.discover("B", "BC")
    group.run()
    group.settled()
    assert group.states["A"].coordinates
    assert Resume("GMS") in group.said("A")
    assert Resume("GMS") not in group.said("B")


def test_three_subgroups_become_one() -> None:
    group = Group("AF", "CB", "DE")
    group.discover("A", "ACD")
    group.run()
    group.settled()


def test_nobody_gives_a_digest_away_before_the_group_is_stopped() -> None:
    group = Group("A", "C")
    group.discover("A", "AC")
    assert group.log["A"] == [SetTimer("discover", 100, 300), PassUp(Suspend("GMS"))]
    group.log["A"].clear()
    group.stops.clear()
    group.step("A", GroupStopped("GMS"))
    assert group.log["A"] == [PassDown(GetDigest("MERGE", 1))]
    assert not group.states["A"].merge.merging
    group.step("A", DigestGiven("MERGE", 1, Vector.of(A=7)))
    assert group.states["A"].merge.merging


def test_a_joiner_waits_while_merging_has_the_group() -> None:
    group = Group("A", "C")
    group.discover("A", "AC")
    group.stops.clear()
    group.step("A", GroupStopped("GMS"))
    group.log["A"].clear()
    group.step("A", gms.JoinReqReceived("J", gms.JoinReq(0)))
    assert group.log["A"] == []
    group.add("J")
    group.step("J", gms.JoinRequested("A", 0))
    group.run()
    group.settled()
    assert group.states["J"].own.id.counter == 3


def test_gms_goes_first_if_it_has_asked_too() -> None:
    group = Group("A", "C")
    group.discover("A", "AC")
    group.add("J")
    group.step("J", gms.JoinRequested("A", 0))
    group.run()
    group.settled()
    views = [event.view.members for event in group.said("A") if isinstance(event, gms.ViewInstalled)]
    assert ("A", "J") in views


def test_a_merge_that_nobody_answers_lets_the_group_go() -> None:
    group = Group("A", "C")
    group.discover("A", "AC")
    group.run(lost=[merge.MergeReq])
    group.time_out("A")
    assert [Suspend("GMS"), Resume("GMS")] == group.said("A")
    assert group.states["A"].gms_is_idle


def test_a_request_that_is_cancelled_while_it_waits_lets_the_group_go() -> None:
    group = Group("A", "C")
    group.discover("A", "AC")
    while group.stops != ["C"]:
        group.stops.sort()
        if group.network:
            group.arrive(*group.network.pop(0))
        elif group.questions:
            member, question = group.questions.pop(0)
            group.step(member, DigestGiven("MERGE", question.request, Vector.of(A=7)))
        else:
            group.step(group.stops.pop(0), GroupStopped("GMS"))
    group.time_out("A")
    group.run()
    assert [Suspend("GMS"), Resume("GMS")] == group.said("C")
    assert group.states["C"].wish is None


def test_the_other_side_that_gave_up_does_not_come() -> None:
    group = Group("A", "CD")
    group.discover("A", "AC")
    group.run(lost=[merge.InstallMergeView])
    assert group.states["A"].own.members == ("A", "C", "D")
    group.time_out("C")
    group.run()
    assert [group.states[member].own.members for member in "ACD"] == [("A",), ("C", "D"), ("C", "D")]
    assert all(group.states[member].gms_is_idle for member in "AC")
    group.discover("A", "AC")
    group.run()
    group.settled()


def test_the_first_gave_up_and_was_a_participant() -> None:
    """B is in the merged view alone; A, its first, is a participant of C, who has given up."""
    group = Group("B", "CA")
    group.discover("B", "BC")
    group.run(lost=[merge.InstallMergeView])
    group.time_out("C")
    group.run()
    assert [group.states[member].own.members for member in "BCA"] == [("B",), ("C", "A"), ("C", "A")]


def test_a_coordinator_crashes_and_only_one_of_its_members_has_the_view() -> None:
    group = Group("A", "CDE")
    group.discover("A", "AC")
    group.run(lost=[merge.MergeView])
    assert [group.states[member].own.id.counter for member in "ACDE"] == [4, 4, 3, 3]
    group.arrive("C", "E", merge.MergeView(group.states["C"].merged))
    group.crash("C")
    group.run()
    group.settled()


@pytest.mark.parametrize("gone", "ABCD")
@pytest.mark.parametrize("after", range(0, 40, 3))
def test_somebody_crashes(gone: str, after: int) -> None:
    """At any moment of a merge: the remaining members come together, at the latest with the next merges."""
    group = Group("BA", "CD")
    group.discover("B", "BC")
    for _ in range(after):
        if group.network:
            group.arrive(*group.network.pop(0))
        elif group.stops:
            group.step(group.stops.pop(0), GroupStopped("GMS"))
        elif group.questions:
            member, question = group.questions.pop(0)
            digest = Vector(tuple((m, 7) for m in group.states[member].own.members))
            group.step(member, DigestGiven("MERGE", question.request, digest))
    group.crash(gone)
    group.run()
    for _ in range(3):
        for member, state in list(group.states.items()):
            if state.merge.merging:
                group.time_out(member)
                group.run()
        found = "".join(sorted(member for member, state in group.states.items() if state.coordinates))
        group.discover(found[0], found)
        group.run()
    group.settled()


def test_a_member_that_leaves_asks_the_first_of_the_merged_view() -> None:
    group = Group("AB", "CD")
    group.step("D", gms.LeaveRequested())
    group.network.clear()  # C does not know yet, and will lead no more
    group.discover("A", "AC")
    group.run()
    assert group.states["D"].gms.gone
    assert group.states["A"].own.members == ("A", "B", "C")


def test_a_merged_view_from_a_suspected_member_is_refused() -> None:
    group = Group("A", "CDE")
    group.discover("A", "AC")
    group.run(lost=[merge.MergeView])
    group.step("E", Suspected("C"))
    before = group.states["E"]
    group.step("E", merge.MergeViewReceived("C", merge.MergeView(group.states["C"].merged)))
    assert group.states["E"] == before


def test_a_merged_view_is_sent_to_its_members() -> None:
    group = Group("A", "C")
    group.discover("A", "AC")
    group.run()
    group.add("Z")
    for sender, to in pairwise("AZA"):
        with pytest.raises(RemoteProtocolError):
            group.step(to, merge.MergeViewReceived(sender, merge.MergeView(group.states["A"].merged)))


def test_who_leaves_asks_the_first_again_when_that_has_the_view() -> None:
    """B is in the merged view before A, its first, a participant of the other side: it ignores a stranger."""
    group = Group("B", "CA")
    group.discover("B", "BC")
    group.run(lost=[merge.InstallMergeView])
    group.step("B", gms.LeaveRequested())
    request = gms.LeaveReq(0)
    assert group.log["B"][-1] == Send("A", request)
    before = group.states["A"]
    group.step("A", gms.LeaveReqReceived("B", request))
    assert group.states["A"] == before
    merged = merge.MergeView(group.states["B"].merged)
    group.log["B"].clear()
    group.step("B", merge.MergeViewReceived("C", merged))  # of another it asks nothing
    assert group.log["B"] == [Send("C", gms.ViewAck(ViewId(3, "B")))]
    group.step("B", merge.MergeViewReceived("A", merged))
    assert group.log["B"] == [
        Send("C", gms.ViewAck(ViewId(3, "B"))),
        Send("A", gms.ViewAck(ViewId(3, "B"))),
        Send("A", request),
    ]
    group.step("B", gms.LeaveRspReceived("A", gms.LeaveRsp(0)))
    group.log["B"].clear()
    group.step("B", merge.MergeViewReceived("A", merged))  # who has left takes no notice
    assert group.log["B"] == []


def asked_by_two() -> Group:
    """E waits with the request of A, and C asks, too."""
    group = Group("A", "C", "E")
    for leader in "AC":
        group.discover(leader, leader + "E")
        group.stops.remove(leader)
        group.step(leader, GroupStopped("GMS"))
        group.step(leader, DigestGiven("MERGE", 1, Vector(((leader, 7),))))
    group.questions.clear()
    for sender, to, message in list(group.network):
        group.arrive(sender, to, message)
    group.network.clear()
    return group


def test_who_waits_with_a_request_rejects_another() -> None:
    group = asked_by_two()
    request = group.states["E"].wish
    assert isinstance(request, merge_gms.MergeReqReceived)
    assert request.sender == "A"
    assert [PassUp(Suspend("GMS"))] == group.log["E"][:1]
    no = gms.NO_DECISION
    rejection = merge.MergeRsp(merge.MergeId("C", 0, 1), rejected=True, decision=no, digest=no.digest)
    assert group.log["E"][-1] == Send("C", rejection)


def test_a_request_that_fits_no_more_lets_the_group_go() -> None:
    """While it waits with the request, another incarnation of a member of the leader's view has joined its own view."""
    group = Group("AB", "C")
    group.discover("A", "AC")
    group.stops.clear()
    group.step("A", GroupStopped("GMS"))
    group.step("A", DigestGiven("MERGE", 1, Vector.of(A=7, B=7)))
    group.questions.clear()
    group.step("C", gms.JoinReqReceived("B", gms.JoinReq(1)))
    group.stops.clear()
    group.arrive("A", "C", next(each for _, to, each in group.network if to == "C"))
    group.step("C", GroupStopped("GMS"))
    group.step("C", DigestGiven("GMS", 1, Vector.of(C=7)))
    group.step("C", gms.ViewAckReceived("B", gms.ViewAck(ViewId(2, "C"))))
    assert group.states["C"].holds == "stopping"
    group.step("C", GroupStopped("GMS"))
    group.log["C"].clear()
    group.step("C", DigestGiven("MERGE", 1, Vector.of(C=7, B=7)))
    assert group.log["C"][-1] == PassUp(Resume("GMS"))
    assert (group.states["C"].wish, group.states["C"].holds) == (None, "no")


def test_who_has_left_passes_no_answer_on() -> None:
    group = Group("B", "CA")
    group.discover("B", "BC")
    group.run(lost=[merge.InstallMergeView])
    group.step("A", merge_gms.ProbeReceived("B", merge_gms.Probe(ViewId(3, "B"))))
    assert group.states["A"].early
    group.step("A", gms.LeaveRequested())
    group.step("A", gms.LeaveRspReceived("C", gms.LeaveRsp(0)))
    assert group.states["A"].gms.gone
    group.log["A"].clear()
    group.step("A", gms.AnswerReceived("C", gms.Answer(ViewId(3, "B"), group.states["C"].own)))
    assert group.log["A"] == []


def test_what_is_refused_says_why_and_in_which_state() -> None:
    group = Group("A", "C")
    event = merge.MergeViewReceived("Z", merge.MergeView(group.states["A"].merged))
    with pytest.raises(RemoteProtocolError) as refused:
        merge_gms.step(CONFIG, group.states["A"], event)
    assert refused.value.args == (
        group.states["A"],
        event,
        "MERGE_VIEW: it is sent from a member of the merged view to another",
    )


def test_a_request_of_who_is_not_in_its_own_view_is_refused() -> None:
    """Also if the address is known in a later incarnation: a message that no correct peer sends is not late."""
    group = Group("A", "C")
    state = group.states["C"]
    known = evolve(state.own, lives=gms.Lives((("C", 0), ("A", 1))))
    state = evolve(state, gms=evolve(state.gms, decision=known), merge=evolve(state.merge, decision=known))
    theirs = evolve(group.states["A"].own, members=("B",), lives=gms.Lives((("B", 0),)))
    request = merge.MergeReq(merge.MergeId("A", 0, 1), theirs)
    with pytest.raises(RemoteProtocolError):
        merge_gms.step(CONFIG, state, merge_gms.MergeReqReceived("A", request))
