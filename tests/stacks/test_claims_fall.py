"""Each claim that a judge makes falls alone: in a short history that violates it, and no other claim."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, cast

import pytest
from attrs import evolve

from groupcomm import flush, gms, state_transfer
from groupcomm.digest import EMPTY_VECTOR, Vector
from groupcomm.effects import Multicast, PassDown, PassUp, Send
from groupcomm.events import (
    Block,
    Deliver,
    DigestPromised,
    DigestSet,
    GroupStopped,
    MergeViewInstalled,
    Payload,
    PromiseWithdrawn,
    Resume,
    Unblock,
    ViewInstalled,
)
from groupcomm.stack import Called
from groupcomm.view import NO_VIEW, Address, ViewId
from groupcomm_simulator import rest
from groupcomm_simulator.judges.application import ApplicationView
from groupcomm_simulator.judges.claims import CLAIMS, Verdicts, Violation
from groupcomm_simulator.judges.membership import Decided, Membership, Process
from groupcomm_simulator.judges.multicasts import ReliableMulticast
from groupcomm_simulator.judges.order import TotalOrderBroadcast
from groupcomm_simulator.judges.stability import StabilitySafety, Window
from groupcomm_simulator.judges.states import OneSequence, OneState, Story
from groupcomm_simulator.judges.synchrony import VirtualSynchrony
from groupcomm_simulator.judges.unicasts import ReliableUnicast
from groupcomm_simulator.judges.uniform import UniformDelivery
from groupcomm_simulator.judges.views import Views

if TYPE_CHECKING:
    from groupcomm_simulator.ground import Ground

History = Callable[[Verdicts], None]
HISTORIES: dict[str, list[tuple[History, frozenset[str]]]] = defaultdict(list)


def falls(claim: str, *besides: str) -> Callable[[History], History]:
    """Note a history that violates a claim. `besides`: weaker or stronger claims that it cannot but violate."""

    def note(history: History) -> History:
        HISTORIES[claim].append((history, frozenset(besides)))
        return history

    return note


# Membership, JoinDigest and what merging adds


class Group:
    """Members whose views are judged; each is told of by the steps that its GMS takes."""

    def __init__(self, verdicts: Verdicts, members: str = "AB") -> None:
        self.membership = Membership()
        self.falsely = False
        self.delivered: dict[Process, int] = {}
        self.states: dict[Process, gms.State] = {}
        self.judge = Views(verdicts, self, lambda _process, _decision: None)
        self.first = decision(1, "A", members, joiners=members)
        for address in members:
            self.membership.start(address)
        self.decides("A", self.first, stopped=False)
        for address in members:
            self.installs(address, self.first)

    @property
    def up(self) -> list[Process]:
        return [process for process in self.membership.processes.values() if process.up]

    @up.setter
    def up(self, _: list[Process]) -> None:
        raise AssertionError

    def at(self, address: Address) -> Process:
        return self.membership.current[address]

    def gms_of(self, process: Process) -> gms.State:
        return self.states.get(process, gms.start(process.address))

    def windows(self, process: Process) -> dict[Process, Any]:
        return {each: SimpleNamespace(delivered=self.delivered.get(process, 0)) for each in self.up}

    def takes(self, address: Address, *effects: object, event: object = None, **changes: Any) -> None:  # noqa: ANN401 - fields of any type
        process = self.at(address)
        state = self.states[process] = evolve(self.gms_of(process), **changes)
        self.judge.told(process, state, event, state, effects)

    def decides(self, address: Address, decided: gms.Decision, *, stopped: bool = True) -> gms.Decision:
        if stopped:
            self.takes(address, event=GroupStopped("GMS"))
        self.takes(address, Send(address, gms.NewView(decided)))
        return decided

    def merges(self, address: Address, decided: gms.Decision, *of: gms.Decision) -> gms.Decision:
        subgroups = frozenset(each.id for each in of)
        self.takes(address, PassUp(MergeViewInstalled(decided.view, subgroups)))
        return self.decides(address, decided)

    def installs(self, address: Address, decided: gms.Decision, start: Vector = EMPTY_VECTOR) -> None:
        self.takes(address, PassDown(DigestSet(start)), PassDown(ViewInstalled(decided.view)), decision=decided)

    def promises(self, address: Address, to: Address) -> None:
        life = self.at(to).life
        self.takes(address, PassDown(DigestPromised(to)), queue=(gms.Request("join", to, life),), admitting=1)
        self.takes(address, queue=(), admitting=0)

    def next(self, members: str, counter: int = 2, joiners: str = "", life_of_b: int = 0) -> gms.Decision:
        return decision(counter, "A", members, follows=self.first, joiners=joiners, life_of_b=life_of_b)


def decision(
    counter: int,
    creator: Address,
    members: Iterable[Address],
    *,
    follows: gms.Decision | None = None,
    joiners: str = "",
    digest: Vector = EMPTY_VECTOR,
    life_of_b: int = 0,
) -> gms.Decision:
    of = NO_VIEW.id if follows is None else follows.id
    members = tuple(members)
    known = gms.Lives(tuple((each, life_of_b if each == "B" else 0) for each in sorted(members)))
    return gms.Decision(ViewId(counter, creator), members, of, known, frozenset(joiners), digest)


@falls("UniqueViewId")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.decides("A", evolve(group.first, members=("A",)))


@falls("UniqueViewId")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.installs("B", group.next("AB"))


@falls("CounterIncreases")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.decides("B", decision(1, "B", "AB", follows=group.first))


@falls("CreatorFromPredecessor")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.decides("A", decision(2, "B", "AB", follows=group.first))


@falls("CreatorFromPredecessor")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.membership.start("C")
    group.decides("C", decision(2, "C", "AB", follows=group.first))


@falls("WellFormedView")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.decides("A", decision(3, "A", "AB", follows=group.next("AB")))


@falls("WellFormedView")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.decides("A", group.next("ABA"))


@falls("ValidIncarnations")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.decides("A", group.next("AB", life_of_b=1))


@falls("ExcludedFirst")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.at("B").up = False
    group.membership.start("B")
    group.decides("A", group.next("AB", life_of_b=1))


@falls("JoinersAreNew")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.membership.start("C")
    group.decides("A", group.next("ABC"))


@falls("JoinsOnce")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.at("B").leaving = True
    without = group.decides("A", group.next("A"))
    group.decides("A", decision(3, "A", "AB", follows=without, joiners="B"))


@falls("SelfInclusion")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.at("B").leaving = True
    group.installs("B", group.decides("A", group.next("A")))


@falls("SinglePath")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    second = group.decides("A", group.next("AB"))
    group.installs("B", group.decides("A", decision(3, "A", "AB", follows=second)))


@falls("NoLiveBranch")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.installs("A", group.decides("A", group.next("AB")))
    group.installs("B", group.decides("B", decision(2, "B", "AB", follows=group.first)))


@falls("NoLiveBranch")
def from_a_joiner_of_the_other_branch(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.membership.start("C")
    group.promises("B", "C")
    other = group.decides("B", decision(2, "B", "BAC", follows=group.first, joiners="C"))
    group.installs("C", other, Vector.of(A=0, B=0))
    group.installs("A", group.decides("A", group.next("AB")))


@falls("NoLiveBranch")
def of_two_that_a_merge_parts(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.membership.start("C")
    alone = group.decides("C", decision(1, "C", "C", joiners="C"), stopped=False)
    merged = decision(2, "A", "ABC", follows=group.first, digest=Vector.of(A=0, B=0, C=0))
    group.installs("A", group.merges("A", merged, group.first, alone), Vector.of(C=0))
    group.installs("B", group.decides("B", decision(2, "B", "BA", follows=group.first)))


@falls("ExcludedOnlyIfDeadOrLeaving")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.decides("A", group.next("A"))


def test_a_process_that_is_gone_has_stopped_no_group_and_promised_nothing() -> None:
    for withdraws in (PassDown(PromiseWithdrawn("C")), None):
        group = Group(Verdicts())
        group.membership.start("C")
        for member in "AB":
            group.takes(member, PassDown(DigestPromised("C")), event=GroupStopped("GMS"))
        group.judge.departed(group.at("A"))
        group.takes("B", PassDown(PromiseWithdrawn("C")))
        claim = "DecidesOnlyWhenStopped" if withdraws is None else "WithdrawOnlyIfUnusable"
        with pytest.raises(Violation, match=claim):
            group.takes("A", withdraws or Send("A", gms.NewView(group.next("AB"))))


def test_a_group_may_go_on_without_a_merged_view_that_another_group_has() -> None:
    """A and B found a group each; A has the merged view, and B one of its own, after its first."""
    verdicts = Verdicts()
    group, merged = healed(verdicts, Vector.of(A=0, B=0))
    group.installs("A", merged, Vector.of(B=0))
    assert (verdicts.judged["MergedDigestIsMaximum"], verdicts.judged["StartsAtMergedDigest"]) == (1, 1)
    alone = decision(1, "B", "B", joiners="B")
    group.installs("B", group.decides("B", decision(2, "B", "B", follows=alone)))
    assert group.judge.merged == 1


def test_a_member_that_has_founded_a_group_of_its_own_may_be_excluded() -> None:
    """C was let in and never heard of it. Where it is in no other group, it may not be excluded."""
    for elsewhere in (True, False):
        group = Group(Verdicts(frozenset({"NoLiveBranch"})))
        group.membership.start("C")
        group.promises("A", "C")
        with_c = group.decides("A", group.next("ABC", joiners="C"))
        if elsewhere:
            group.installs("C", group.decides("C", decision(1, "C", "C", joiners="C"), stopped=False))
        without = decision(3, "A", "AB", follows=with_c)
        if elsewhere:
            group.decides("A", without)
        else:
            with pytest.raises(Violation, match="ExcludedOnlyIfDeadOrLeaving: C is alive"):
                group.decides("A", without)


@falls("DecidesOnlyWhenStopped")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.decides("A", group.next("AB"), stopped=False)


@falls("StopStateConsistent")
def _(verdicts: Verdicts) -> None:
    Group(verdicts).takes("A", PassUp(Resume("GMS")))


@falls("ResumesAfterAllInstalled")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.installs("A", group.decides("A", group.next("AB")))
    group.takes("A", PassUp(Resume("GMS")))


@falls("Converged")
def never_let_in(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.membership.start("C")
    group.judge.quiet()


@falls("Converged")
def never_let_go(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.at("B").leaving = True
    group.judge.quiet()


@falls("Converged")
def something_left_to_do(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.takes("A", queue=(gms.Request("leave", "B", 0),))
    group.judge.quiet()


@falls("Converged")
def a_member_is_gone(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.at("B").up = False
    group.judge.quiet()


@falls("Converged")
def two_groups_that_suspect_no_member(verdicts: Verdicts) -> None:
    group = Group(verdicts, "A")
    group.membership.start("B")
    group.installs("B", group.decides("B", decision(1, "B", "B", joiners="B"), stopped=False))
    group.judge.quiet()


@falls("Converged")
def a_member_is_suspected(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.takes("A", suspected=frozenset("B"))
    group.judge.quiet()


def healed(verdicts: Verdicts, digest: Vector) -> tuple[Group, gms.Decision]:
    """A and B have founded a group each; A has decided a view of both."""
    group = Group(verdicts, "A")
    group.membership.start("B")
    other = group.decides("B", decision(1, "B", "B", joiners="B"), stopped=False)
    group.installs("B", other)
    merged = decision(2, "A", "AB", follows=group.first, digest=digest)
    return group, group.merges("A", merged, group.first, other)


@falls("MergedDigestIsMaximum")
def _(verdicts: Verdicts) -> None:
    group, merged = healed(verdicts, Vector.of(A=2, B=0))
    group.delivered[group.at("A")] = 3
    group.installs("A", merged, Vector.of(B=0))


@falls("StartsAtMergedDigest")
def _(verdicts: Verdicts) -> None:
    group, merged = healed(verdicts, Vector.of(A=3, B=1))
    group.delivered[group.at("A")] = 3
    group.installs("A", merged, Vector.of(B=0))


def joining(verdicts: Verdicts, *, promised: bool = True) -> tuple[Group, gms.Decision]:
    """A, which has delivered 3 messages, lets C in."""
    group = Group(verdicts, "A")
    group.membership.start("C")
    group.delivered[group.at("A")] = 3
    if promised:
        group.promises("A", "C")
    return group, group.decides("A", group.next("AC", joiners="C"))


@falls("DigestIsDelivered")
def _(verdicts: Verdicts) -> None:
    group, view = joining(verdicts)
    group.installs("C", view, Vector.of(A=2))


@falls("StartRequiresPromise")
def _(verdicts: Verdicts) -> None:
    group, view = joining(verdicts, promised=False)
    group.installs("C", view, Vector.of(A=3))


@falls("DigestIsComplete")
def _(verdicts: Verdicts) -> None:
    """B parts from A after A's promise, and comes back with a merge."""
    group = Group(verdicts)
    group.falsely = True
    group.membership.start("C")
    group.promises("A", "C")
    sides = [group.decides(each, decision(2, each, each, follows=group.first)) for each in ("A", "B")]
    merged = group.merges("A", decision(3, "A", "AB", follows=sides[0]), *sides)
    group.installs("C", group.decides("A", decision(4, "A", "ABC", follows=merged, joiners="C")))


@falls("PromiseeIsOutside")
def _(verdicts: Verdicts) -> None:
    Group(verdicts).promises("A", "B")


@falls("OneOpenPromise")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.membership.start("C")
    group.promises("A", "C")
    group.promises("A", "C")


@falls("WithdrawOnlyIfUnusable")
def never_promised(verdicts: Verdicts) -> None:
    Group(verdicts).takes("A", PassDown(PromiseWithdrawn("C")))


@falls("WithdrawOnlyIfUnusable")
def a_view_relies_on_it(verdicts: Verdicts) -> None:
    group, _view = joining(verdicts)
    group.takes("A", PassDown(PromiseWithdrawn("C")))


@falls("PromisesEventuallyEnd", "Converged")
def _(verdicts: Verdicts) -> None:
    group = Group(verdicts)
    group.membership.start("C")
    group.promises("A", "C")
    group.judge.quiet()


# VirtualSynchrony


class Flushed:
    """Members of a view; what their FLUSH does is judged."""

    def __init__(
        self, verdicts: Verdicts, members: str = "AB", distrusts: frozenset[tuple[str, str]] = frozenset()
    ) -> None:
        self.dead = ""
        self.judge = VirtualSynchrony(verdicts, lambda member: member not in self.dead, lambda *both: both in distrusts)
        self.first = decision(1, "A", members, joiners=members)
        self.second = decision(2, "A", members, follows=self.first)
        for member in members:
            self.judge.installed(member, self.first)

    def does(self, member: Address, *effects: object, latched: bool = False, frozen: bool = False) -> None:
        before = evolve(flush.start(member), latched=latched, frozen=frozen)
        self.judge.told(before, flush.BlockReturned(), before, effects)

    def casts(self, member: Address, text: str, view: gms.Decision | None = None, **state: bool) -> None:
        self.does(member, Multicast(flush.Data((view or self.first).id, 1, Payload(text))), **state)

    def sends(self, member: Address, text: str) -> None:
        self.casts(member, text)
        self.hears(member, member, text)

    def hears(self, member: Address, sender: Address, text: str) -> None:
        self.does(member, PassUp(Deliver(sender, Payload(text))))


@falls("SendingViewDelivery")
def _(verdicts: Verdicts) -> None:
    Flushed(verdicts).hears("B", "B", "never sent")


@falls("SendingViewDelivery")
def _(verdicts: Verdicts) -> None:
    group = Flushed(verdicts)
    group.casts("A", "x", group.second)


@falls("Fifo")
def _(verdicts: Verdicts) -> None:
    group = Flushed(verdicts)
    group.sends("B", "x")
    group.sends("B", "y")
    group.hears("A", "B", "y")


@falls("ReceiveOnlyCut")
def _(verdicts: Verdicts) -> None:
    group = Flushed(verdicts, "ABC")
    group.sends("C", "x")
    group.dead = "C"
    group.judge.installed("A", group.second)
    group.hears("B", "C", "x")


@falls("CastOnlyBeforeCut")
def _(verdicts: Verdicts) -> None:
    group = Flushed(verdicts)
    group.judge.installed("A", group.second)
    group.casts("B", "x")


@falls("FirstLeaverHasAll")
def _(verdicts: Verdicts) -> None:
    group = Flushed(verdicts, "ABC")
    group.sends("C", "x")
    group.hears("B", "C", "x")
    group.dead = "C"
    group.judge.installed("A", group.second)


@falls("LeavesWithCut")
def _(verdicts: Verdicts) -> None:
    group = Flushed(verdicts, "ABC")
    group.sends("C", "x")
    group.hears("A", "C", "x")
    group.dead = "C"
    for member in "AB":
        group.judge.installed(member, group.second)


@falls("SelfDelivery")
def _(verdicts: Verdicts) -> None:
    group = Flushed(verdicts)
    group.casts("B", "x")
    group.judge.installed("A", group.second)


@falls("OwnFirst")
def _(verdicts: Verdicts) -> None:
    group = Flushed(verdicts)
    group.casts("B", "x")
    group.hears("A", "B", "x")


@falls("JoinersInstallLast")
def _(verdicts: Verdicts) -> None:
    group = Flushed(verdicts)
    group.judge.installed("C", decision(2, "A", "ABC", follows=group.first, joiners="C"))


@falls("GroupIsStopped")
def _(verdicts: Verdicts) -> None:
    group = Flushed(verdicts)
    group.casts("A", "x")
    group.hears("A", "A", "x")
    group.judge.stopped("A", ["B"])


@falls("NoMulticastWhileStopped")
def latched(verdicts: Verdicts) -> None:
    Flushed(verdicts).casts("A", "x", latched=True)


@falls("NoMulticastWhileStopped")
def frozen(verdicts: Verdicts) -> None:
    Flushed(verdicts).casts("A", "x", frozen=True)


@falls("BlockOnlyWhenFree")
def _(verdicts: Verdicts) -> None:
    Flushed(verdicts).does("A", PassUp(Block()), PassUp(Block()))


@falls("UnblockOnlyWhenBlocked")
def _(verdicts: Verdicts) -> None:
    Flushed(verdicts).does("A", PassUp(Unblock()))


def at_rest(
    verdicts: Verdicts, *, transfers: bool = False, fetching: bool = False, block: Literal["free", "blocked"] = "free"
) -> None:
    process = Membership().start("A")
    view = decision(1, "A", "A", joiners="A").view
    state = evolve(flush.start("A"), view=view, block=block, latched=False)
    rest._judge_free(  # noqa: SLF001 - no other part judges these claims
        cast(
            "Ground",
            SimpleNamespace(
                up=[process],
                flush_of=lambda _process: state,
                verdicts=verdicts,
                transfers={process} if transfers else set(),
                fetching={process: {1}} if fetching else {},
            ),
        )
    )


@falls("StopIsAnswered")
def _(verdicts: Verdicts) -> None:
    at_rest(verdicts, transfers=True)


@falls("DigestRequestAnswered")
def _(verdicts: Verdicts) -> None:
    at_rest(verdicts, fetching=True)


@falls("ResumedWhenQuiescent")
def _(verdicts: Verdicts) -> None:
    at_rest(verdicts, block="blocked")


# TotalOrderBroadcast


class Ordered:
    """A, B and C in a view; their deliveries are judged."""

    def __init__(self, verdicts: Verdicts) -> None:
        self.judge, views = TotalOrderBroadcast(verdicts), Membership()
        self.all = [views.start(address) for address in "ABC"]
        self.view = views.decide(self.all[0], 1, self.all)
        for process in self.all:
            views.install(process, self.view)
            self.judge.installed(process, None, self.view)

    def sends(self, *messages: tuple[int, int]) -> None:
        for sender, number in messages:
            process = self.all[sender]
            self.judge.sent(process, (process.address, number), self.view)

    def delivers(self, at: int, *messages: tuple[int, int]) -> None:
        for sender, number in messages:
            address = self.all[sender].address
            self.judge.delivered(self.all[at], address, (address, number))


@falls("Integrity")
def _(verdicts: Verdicts) -> None:
    Ordered(verdicts).delivers(0, (1, 1))


@falls("NoDuplicates")
def _(verdicts: Verdicts) -> None:
    group = Ordered(verdicts)
    group.sends((1, 1))
    group.delivers(0, (1, 1), (1, 1))


@falls("SenderFifo")
def _(verdicts: Verdicts) -> None:
    group = Ordered(verdicts)
    group.sends((1, 1), (1, 2))
    group.delivers(0, (1, 2), (1, 1))


@falls("Agreement")
def _(verdicts: Verdicts) -> None:
    group = Ordered(verdicts)
    group.sends((0, 1), (1, 1))
    group.delivers(0, (0, 1))
    group.delivers(1, (1, 1))


@falls("TotalOrder", "Agreement")
def _(verdicts: Verdicts) -> None:
    group = Ordered(verdicts)
    group.sends((0, 1), (1, 1))
    group.delivers(0, (0, 1), (1, 1))
    group.delivers(1, (1, 1), (0, 1))


@falls("CausalDelivery", "Agreement")
def _(verdicts: Verdicts) -> None:
    """A replies to C, and does not deliver its reply: no order of two messages is violated."""
    group = Ordered(verdicts)
    group.sends((2, 1))
    group.delivers(0, (2, 1))
    group.sends((0, 1))
    group.delivers(2, (0, 1), (2, 1))


@falls("EventuallyDelivered")
def _(verdicts: Verdicts) -> None:
    group = Ordered(verdicts)
    group.sends((0, 1))
    group.delivers(0, (0, 1))
    group.delivers(1, (0, 1))
    group.judge.quiet(group.all)


def test_what_is_counted_as_judged_is_what_could_have_been_violated() -> None:
    verdicts = Verdicts()
    group = Ordered(verdicts)
    group.sends((1, 1), (1, 2), (1, 3))
    group.delivers(1, (1, 1), (1, 2), (1, 3))
    group.sends((1, 4))
    group.delivers(0, (1, 1), (1, 2), (1, 3), (1, 4))
    group.delivers(2, (1, 1), (1, 2), (1, 3))
    assert verdicts.judged == {
        "Integrity": 10, "NoDuplicates": 7, "SenderFifo": 7, "Agreement": 6, "TotalOrder": 6
    }  # fmt: skip


def test_what_is_judged_of_a_flush_is_counted() -> None:
    verdicts = Verdicts()
    group = Flushed(verdicts)
    for text in "xy":
        group.sends("A", text)
        group.hears("B", "A", text)
    group.does("A", PassUp(Block()))
    group.does("A", PassUp(Unblock()))
    group.judge.stopped("A", ["B"])
    for is_latched in (True, False):
        state = evolve(flush.start("A"), latched=is_latched)
        group.judge.told(state, flush.SendRequested(Payload("z")), state, ())
    third = decision(3, "A", "ABC", follows=group.second, joiners="C")
    for member, view in (("A", group.second), ("B", group.second), ("A", third), ("C", third)):
        group.judge.installed(member, view)
    assert verdicts.judged == {
        "SendingViewDelivery": 4, "Fifo": 2, "OwnFirst": 2, "BlockOnlyWhenFree": 1, "UnblockOnlyWhenBlocked": 1,
        "GroupIsStopped": 1, "FirstLeaverHasAll": 4, "SelfDelivery": 1, "LeavesWithCut": 1, "CastOnlyBeforeCut": 1,
        "ReceiveOnlyCut": 1, "JoinersInstallLast": 1, "NoMulticastWhileStopped": 1
    }  # fmt: skip


def test_a_member_that_distrusts_the_creator_of_a_view_is_not_bound_by_its_cut() -> None:
    group = Flushed(Verdicts(), "ABC", frozenset({("B", "A")}))
    group.judge.installed("A", group.second)
    group.casts("B", "x")
    with pytest.raises(Violation, match="CastOnlyBeforeCut"):
        group.casts("C", "x")


def test_what_a_flush_was_before_a_rest_is_forgotten_but_for_the_cuts_of_views_that_members_are_in() -> None:
    for goes_on in (False, True):
        group = Flushed(Verdicts())
        group.sends("A", "x")
        group.judge.installed("A", group.second)
        group.judge.forget()
        if goes_on:
            third = decision(3, "A", "AB", follows=group.second)
            group.hears("B", "A", "x")
            for member, view in (("B", group.second), ("A", third), ("B", third)):
                group.judge.installed(member, view)
            group.casts("A", "y", third)
            group.judge.forget()
            assert {*group.judge._views} == {group.second.id, third.id}  # noqa: SLF001 - that it does not grow
            assert {*group.judge._sent} == {(third.id, "A")}  # noqa: SLF001
            assert {*group.judge._settled} == {(group.second.id, third.id)}  # noqa: SLF001
        else:
            with pytest.raises(Violation, match="LeavesWithCut"):
                group.judge.installed("B", group.second)


def test_what_is_judged_of_views_is_counted() -> None:
    """C joins, and a second member of its name does not."""
    verdicts = Verdicts()
    group = Group(verdicts)
    first = {
        "WellFormedView": 1, "ValidIncarnations": 1, "JoinersAreNew": 1, "SelfInclusion": 2, "SinglePath": 2, "NoLiveBranch": 1
    }  # fmt: skip
    assert verdicts.judged == first
    group.membership.start("C")
    group.promises("A", "C")
    second = group.decides("A", group.next("ABC", joiners="C"))
    group.decides("A", second)
    for member in "ACB":
        group.installs(member, second, Vector.of(A=0, B=0) if member == "C" else EMPTY_VECTOR)
    group.membership.start("D")
    group.promises("A", "D")
    group.takes("A", PassDown(PromiseWithdrawn("D")))
    group.takes("A", PassUp(Resume("GMS")))
    assert verdicts.judged == {
        "WellFormedView": 2, "ValidIncarnations": 2, "JoinersAreNew": 2, "SelfInclusion": 5, "SinglePath": 5, "NoLiveBranch": 4,
        "PromiseeIsOutside": 2, "OneOpenPromise": 2, "DecidesOnlyWhenStopped": 1, "CounterIncreases": 1,
        "CreatorFromPredecessor": 1, "ExcludedFirst": 1, "UniqueViewId": 1, "ExcludedOnlyIfDeadOrLeaving": 2, "JoinsOnce": 1,
        "DigestIsDelivered": 1, "StartRequiresPromise": 1, "DigestIsComplete": 1, "WithdrawOnlyIfUnusable": 1,
        "StopStateConsistent": 1, "ResumesAfterAllInstalled": 1
    }  # fmt: skip


def test_who_was_there_at_a_rest_delivers_nothing_of_before_again() -> None:
    for kept in (True, False):
        verdicts = Verdicts()
        group = Ordered(verdicts)
        group.sends((1, 1), (1, 2))
        for at in (0, 2):
            group.delivers(at, (1, 1), (1, 2))
        group.judge.forget({*group.all} if kept else {*group.all[1:]})
        if kept:
            group.sends((1, 3))
            for at in (0, 2):
                group.delivers(at, (1, 3))
            assert verdicts.judged["TotalOrder"] == 1  # of the messages before
            with pytest.raises(Violation, match="SenderFifo"):
                group.delivers(0, (1, 1))
        else:
            group.delivers(0, (1, 1))


# StabilitySafety


def stable(verdicts: Verdicts, *windows: tuple[int, int, int]) -> tuple[StabilitySafety, list[Process], Decided]:
    """Let B join A, whose messages are in both windows: where they start, what is delivered and purged."""
    views = Membership()
    a = views.start("A")
    b, first = views.start("B"), views.decide(a, 1, [a])
    view = views.decide(a, 2, [a, b], [first])
    for process in (a, b):
        process.view = view
    held = {
        process: {a: cast("Window", SimpleNamespace(low=low, delivered=delivered, purged=purged))}
        for process, (low, delivered, purged) in zip((a, b), windows, strict=True)
    }
    return StabilitySafety(verdicts, lambda process: held[process]), [a, b], view


@falls("NoPrematurePurge")
def before_another_has_it(verdicts: Verdicts) -> None:
    judge, (a, _), _ = stable(verdicts, (-1, 3, -1), (-1, 1, -1))
    judge.purged(a, Vector.of(A=3))


@falls("NoPrematurePurge")
def before_it_has_it_itself(verdicts: Verdicts) -> None:
    judge, (a, _), _ = stable(verdicts, (-1, 1, -1), (-1, 3, -1))
    judge.purged(a, Vector.of(A=3))


@falls("JoinerFindsItsMessages")
def _(verdicts: Verdicts) -> None:
    judge, (_, b), view = stable(verdicts, (-1, 3, 3), (1, 1, -1))
    judge.installed(b, None, view)


@falls("RequestsServable")
def _(verdicts: Verdicts) -> None:
    judge, both, _ = stable(verdicts, (-1, 3, 1), (-1, 1, 1))
    judge.quiet(both)


@falls("EventuallyPurged")
def _(verdicts: Verdicts) -> None:
    judge, both, _ = stable(verdicts, (-1, 3, 3), (-1, 3, 1))
    judge.quiet(both)


# ReliableMulticast and ReliableUnicast: letters that A sends, and B hears


def multicast(
    verdicts: Verdicts,
    sent: str,
    heard: str,
    *,
    at_once: bool = True,
    limit: int | None = None,
    base: int = 0,
    early: int = 0,
) -> None:
    views, judge = Membership(), ReliableMulticast(verdicts)
    a, b = both = [views.start(address) for address in "AB"]
    view, letters = views.decide(a, 1, both), {each: Payload(each) for each in "abcx"}
    for process in both:
        views.install(process, view)
    judge.installed(a, {"A": 0, "B": 0}, 0)
    judge.installed(b, {"A": base, "B": 0}, early)
    for letter in sent:
        judge.cast(a, letters[letter], at_once=at_once)
        judge.delivered(a, "A", letters[letter])
    judge.limited(b, None if limit is None else Vector.of(A=limit, B=0))
    for letter in heard:
        judge.delivered(b, "A", letters[letter])
    judge.quiet(both)


def unicast(verdicts: Verdicts, sent: str, heard: str) -> None:
    views, judge = Membership(), ReliableUnicast(verdicts)
    a, b = (views.start(address) for address in "AB")
    letters = {each: [each] for each in "abcx"}
    for letter in sent:
        judge.sent(a, "B", letters[letter])
    for letter in heard:
        judge.delivered(b, "A", letters[letter])
    judge.quiet(views.current)


falls("OfItsView")(lambda verdicts: multicast(verdicts, "a", "ax"))
falls("OnceInOrder")(lambda verdicts: multicast(verdicts, "ab", "ba"))
falls("OwnAtOnce")(lambda verdicts: multicast(verdicts, "a", "a", at_once=False))
falls("HoldsBack")(lambda verdicts: multicast(verdicts, "ab", "ab", limit=1))
falls("BasesAgree")(lambda verdicts: multicast(verdicts, "", "", base=1))
falls("NothingWithTheView")(lambda verdicts: multicast(verdicts, "", "", early=1))
falls("MulticastsArrive")(lambda verdicts: multicast(verdicts, "ab", "a"))
falls("NotForged")(lambda verdicts: unicast(verdicts, "a", "ax"))
falls("Once", "InOrder")(lambda verdicts: unicast(verdicts, "ab", "abb"))
falls("InOrder")(lambda verdicts: unicast(verdicts, "ab", "aba"))
falls("NoMessageLost")(lambda verdicts: unicast(verdicts, "ab", "b"))
falls("UnicastsArrive")(lambda verdicts: unicast(verdicts, "ab", "a"))


@falls("LivesInOrder")
def _(verdicts: Verdicts) -> None:
    views, judge = Membership(), ReliableUnicast(verdicts)
    old, b, letters = views.start("A"), views.start("B"), (["late"], ["new"])
    judge.sent(old, "B", letters[0])
    old.up = False
    judge.sent(views.start("A"), "B", letters[1])
    for letter in reversed(letters):
        judge.delivered(b, "A", letter)


# OneState and OneSequence: states as the messages that made them

X, Y = ("A", 1), ("B", 1)
FIRST, SECOND = ViewId(1, "A"), ViewId(2, "A")


def states(verdicts: Verdicts, *of: tuple[int, Story]) -> None:
    judge = OneState(verdicts)
    for member, (place, story) in zip("AB", of, strict=True):
        judge.holds(member, FIRST, place, story)


def primary(verdicts: Verdicts, *views: ViewId) -> None:
    judge = OneSequence(verdicts)
    for view, story in zip(views, ((X,), (Y,)), strict=True):
        judge.in_primary("A", view, story, ())


falls("SameAtSamePlace")(lambda verdicts: states(verdicts, (1, (X,)), (1, (Y,))))
falls("MoreAtLaterPlace")(lambda verdicts: states(verdicts, (1, (X,)), (2, (Y, X))))
falls("NothingTwice")(lambda verdicts: OneState(verdicts).passed_up("A", X, (X, X)))
falls("KnowsItsState")(lambda verdicts: OneState(verdicts).knows("A", state_transfer.start("A"), knows=True))
falls("EventuallyHasState")(lambda verdicts: OneState(verdicts).quiet([("A", False)]))
falls("PrimaryHasSequence")(lambda verdicts: primary(verdicts, FIRST, FIRST))
falls("SequenceOnlyGrows")(lambda verdicts: primary(verdicts, FIRST, SECOND))


@falls("SafeIsKept")
def _(verdicts: Verdicts) -> None:
    judge = OneSequence(verdicts)
    judge.in_primary("A", FIRST, (), ())
    judge.is_safe(FIRST, X)
    judge.in_primary("A", SECOND, (), ())


def uniform(verdicts: Verdicts, has: str, *, alone: bool = False, based: bool = False) -> None:
    """A, of three members, hears that its message is safe: at once, or in its next view, which it has alone.

    `based`: it alone has installed that view of all three, and the next is formed from the first.
    """
    views, judge = Membership(), UniformDelivery(verdicts, majority=alone or based)
    three = [views.start(address) for address in "ABC"]
    first = views.decide(three[0], 1, three)
    for each in three:
        views.install(each, first)
        if each.address in has:
            judge.delivered(each, "A", 1)
    if alone:
        views.install(three[0], views.decide(three[0], 2, three[:1], [first]))
    if based:
        views.install(three[0], views.decide(three[0], 2, three, [first]))
    judge.told(three[0], 1, is_safe=True)
    if based:
        judge.formed(ViewId(3, "B"), 1)


falls("HeldByAll")(lambda verdicts: uniform(verdicts, "AB"))
falls("HeldByMajority")(lambda verdicts: uniform(verdicts, "A", alone=True))
falls("HeldInBase")(lambda verdicts: uniform(verdicts, "AB", based=True))
falls("SafeIsDelivered")(lambda verdicts: uniform(verdicts, "BC"))
falls("EventuallyTold")(lambda verdicts: UniformDelivery(verdicts, majority=False).quiet(Membership().start("A"), 1))


@falls("ApplicationView")
def _(verdicts: Verdicts) -> None:
    views, judge = Membership(), ApplicationView(verdicts)
    a = views.start("A")
    judge.hear(a, Called(Multicast(Payload(("A", 1)))), ())
    judge.quiet(one_path=True)


@falls("NothingKeptForEver")
def _(verdicts: Verdicts) -> None:
    views = Membership()
    a, b = (views.start(address) for address in "AB")
    b.up = False
    ReliableUnicast(verdicts).keeps(a, b, 1)


ALL = [(claim, *each) for claim, histories in HISTORIES.items() for each in histories]


@pytest.mark.parametrize(("claim", "history", "besides"), ALL, ids=[claim for claim, *_ in ALL])
def test_each_claim_falls_alone(claim: str, history: History, besides: frozenset[str]) -> None:
    with pytest.raises(Violation) as raised:
        history(Verdicts(besides))
    assert raised.value.claim == claim
    history(Verdicts(besides | {claim}))  # no other claim is violated: with a deaf judge all is quiet


def test_every_claim_of_a_judge_falls() -> None:
    assert {*HISTORIES} == {claim for claims in CLAIMS.values() for claim in claims}
