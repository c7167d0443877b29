"""The guarantees of GMS, or of merging over GMS, judged at each of its steps: `Membership` and `JoinDigest`.

The abstract `Membership` and `JoinDigest` are notified of each view when it first appears, and of what a
member installs, promises and withdraws. A forbidden step violates the conjunct that the module names. The
other claims have the names that they have in `spec/gms/GmsClaims.tla` and
`spec/merge_gms/MergeGmsClaims.tla`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from attrs import evolve

from groupcomm import gms, merge
from groupcomm.digest import EMPTY_VECTOR, NOTHING, Vector
from groupcomm.effects import PassDown, PassUp, Send
from groupcomm.events import (
    DigestPromised,
    DigestSet,
    GroupStopped,
    MergeViewInstalled,
    PromiseWithdrawn,
    Resume,
    Suspend,
    ViewInstalled,
)
from groupcomm.view import NO_VIEW, Address, View, ViewId

from .claims import Judge, Verdicts
from .membership import Decided, Membership, NotAllowedError, Process, comes_after
from .promises import JoinDigest


class Known(Protocol):
    """The group around a member, as the judge asks for it."""

    membership: Membership
    up: list[Process]
    falsely: bool

    def gms_of(self, process: Process) -> gms.State: ...
    def windows(self, process: Process) -> Mapping[Process, Any]: ...


class Views(Judge):
    """`falsely` of the group: a member that is alive is suspected, or was since the group was at rest.

    Then views branch, and some claims are not made. `used`: the greatest counter of a view that an address
    has decided. `entered` is called with each view that a member installs, and with its decision.
    """

    def __init__(self, verdicts: Verdicts, known: Known, entered: Callable[[Process, gms.Decision], None]) -> None:
        super().__init__(verdicts)
        self._group = known
        self._entered = entered
        self.digests = JoinDigest()
        self.installed: dict[Process, Decided] = {}
        self.used: Counter[Address] = Counter()
        self.merged = 0  # views that were made of several
        self._known: dict[ViewId, tuple[gms.Decision, Decided]] = {}
        self._subgroups: dict[ViewId, frozenset[ViewId]] = {}
        self._starts: dict[Process, Vector] = {}
        self._stopped: set[Process] = set()
        self._kept: set[tuple[Process, Address]] = set()  # merging's promises: giver and joiner
        self._ended: set[tuple[Process, Address]] = set()  # by a view, in this step

    # Its steps

    def told(
        self,
        process: Process,
        before: gms.State,
        event: Any,  # noqa: ANN401 - of GMS, or of merging over it
        after: gms.State,
        effects: Iterable[Any],
    ) -> None:
        """A member has taken a step, from one state of GMS to another."""
        self._ended.clear()
        if isinstance(event, GroupStopped) and event.asker == "GMS":
            self._stopped.add(process)
        for effect in effects:
            if isinstance(effect, PassUp) and isinstance(effect.event, MergeViewInstalled):
                self._subgroups[effect.event.view.id] = effect.event.subgroups
        if after.decision is not before.decision:
            self._decided(process, after.decision)
        for effect in effects:
            match effect:
                case Send(_, gms.NewView(decision)):
                    self._decided(process, decision)
                case PassUp(Suspend()):
                    self._stopped.discard(process)
                case PassUp(Resume()):
                    self._resumed(process)
                case PassDown(ViewInstalled(view)):
                    self._installs(process, view, after.decision)
                case PassDown(DigestSet(vector) | merge.WindowsAdded(vector)):
                    self._starts[process] = vector
                case PassDown(DigestPromised(to)) if to in after.promisees:
                    self._promised(process, to, after.promisees[to])
                case PassDown(DigestPromised(to)):
                    self._kept.add((process, to))
                case PassDown(PromiseWithdrawn(to)) if (process, to) in self._kept:
                    self._kept.remove((process, to))
                case PassDown(PromiseWithdrawn(to)):
                    self._withdrawn(process, to)
                case _:
                    pass

    def departed(self, process: Process) -> None:
        """A process is gone: its promises are void."""
        self._stopped.discard(process)
        self._kept = {pair for pair in self._kept if pair[0] is not process}

    def reached(self, process: Process) -> list[Process]:
        """List the members that it can stop: it trusts them, and is a member to them (`Reaches`)."""
        state, of = self._group.gms_of(process), self._group.gms_of
        trusted = (self._life(member, state.decision) for member in state.unsuspected)
        return [
            other for other in trusted if other is not None and other.up and process.address in of(other).unsuspected
        ]

    def _life(self, member: Address, decision: gms.Decision) -> Process | None:
        return self._group.membership.lives.get((member, decision.lives.get(member, -1)))

    # Steps of the member

    def _decided(self, process: Process, decision: gms.Decision) -> None:
        """A view that a process has or sends: it is decided where no process had it before."""
        known = self._known.get(decision.id)
        subgroups = self._subgroups.get(decision.id)
        if known is not None:
            self._judged("UniqueViewId")
            follows = subgroups or {known[0].follows}
            if evolve(known[0], follows=decision.follows) != decision or decision.follows not in follows:
                self._fail("UniqueViewId", f"{process} has {decision}; {known[0]} has that identifier")
            return
        ids = subgroups or frozenset({decision.follows} - {NO_VIEW.id})
        if not ids <= self._known.keys():
            self._fail("WellFormedView", f"{process} decides {decision.view}, which follows none that is decided")
            return
        preds = sorted((self._known[each][1] for each in ids), key=lambda pred: pred.number)
        if preds:
            self._judged("DecidesOnlyWhenStopped", "CounterIncreases", "CreatorFromPredecessor", "ExcludedFirst")
            if process not in self._stopped:
                self._fail("DecidesOnlyWhenStopped", f"{process} decides {decision.view}; no group is stopped for it")
        if decision.id.creator != process.address:
            self._fail("CreatorFromPredecessor", f"{process} decides {decision.view}, in another's name")
        members = [each for m in decision.members if (each := self._life(m, decision)) is not None]
        self._judged("WellFormedView", "ValidIncarnations")
        if len(members) < len(decision.members):
            self._fail("ValidIncarnations", f"{decision} means an incarnation that never began")
            return
        view = self._within(lambda: self._group.membership.decide(process, decision.id.counter, members, preds))
        if view is None:
            return
        self._judged(*(["JoinersAreNew"] if view.joins else []))
        if decision.joiners != {joiner.address for joiner in view.joins}:
            self._fail("JoinersAreNew", f"{decision.joiners} are said to begin with {view}")
        for pred in preds:
            self._follows(pred, view)
        for joiner in view.joins:
            self.digests.rely(process, joiner, view)
        self._known[decision.id] = decision, view
        self.merged += subgroups is not None
        creator = decision.id.creator
        self.used[creator] = max(self.used[creator], decision.id.counter)

    def _follows(self, pred: Decided, view: Decided) -> None:
        for process in pred.processes:
            if self._group.falsely:
                break
            self._judged("ExcludedOnlyIfDeadOrLeaving")
            stays = process.up and not process.leaving and not self._is_elsewhere(process, pred)
            if stays and process not in view.processes:
                self._fail("ExcludedOnlyIfDeadOrLeaving", f"{process} is alive, stays, and is not in {view}")
        for joiner in view.joins:
            self._judged("JoinsOnce")
            if _was_in(joiner, pred):
                self._fail("JoinsOnce", f"{joiner} was in a view before, and is let in with {view}")

    def _is_elsewhere(self, process: Process, pred: Decided) -> bool:
        """Say whether a process that a view let in, and that never heard of it, has founded a group since."""
        here = self.installed.get(process)
        return here is not None and not (_comes_from(here, pred) or _comes_from(pred, here))

    def _installs(self, process: Process, view: View, decision: gms.Decision) -> None:
        known = self._known.get(view.id)
        if known is None or known[1].view != view:
            self._fail("UniqueViewId", f"{process} installs {view}, which no member decided")
            return
        here, after = self.installed.get(process), known[1]
        start = self._starts.pop(process, EMPTY_VECTOR)
        if view.id in self._subgroups and here is not None:
            self._judge_start(process, here, decision, start)
        self._judged("SelfInclusion", "SinglePath")
        self._within(lambda: self._group.membership.may_install(process, here, after))
        if here is None:
            starts = {pred.at[m]: seqno for pred in after.preds for m, seqno in start.items() if m in pred.at}
            self._judged(*(["DigestIsDelivered", "StartRequiresPromise", "DigestIsComplete"] if after.preds else []))
            self._within(lambda: self.digests.begin(process, after, starts))
        self.installed[process] = after
        self._judge_line(process, after)
        if view.id in self._subgroups:
            if process.address != view.members[0]:  # the first member resumes all
                self._stopped.discard(process)
            for other in after.processes:  # the others have begun elsewhere
                self.digests.open.pop((process, other), None)
        ended = {pair for pair in self._kept if pair[0] is process and pair[1] in after.at}
        self._kept -= ended
        self._ended.update(ended)
        self.digests.installed(process, after)
        self._entered(process, decision)

    def _judge_line(self, process: Process, after: Decided) -> None:
        if self._group.falsely:
            return
        for other in self._group.up:
            there = self.installed.get(other)
            self._judged(*(["NoLiveBranch"] if there is after and other is not process else []))
            if there is not None and there is not after and _parts(process, after, other, there):
                self._fail("NoLiveBranch", f"{process} installs {after}, {other} has {there}")

    def _judge_start(self, process: Process, here: Decided, decision: gms.Decision, start: Vector) -> None:
        """Check the start: at its own place for members of its view, at the merged digest for the others."""
        self._judged("MergedDigestIsMaximum", "StartsAtMergedDigest")
        for other, seqno in self._delivered(process).items():
            told = decision.digest.get(other.address, seqno)
            if told != seqno:
                text = f"{process} has delivered {seqno} of {other} when it installs {decision.view}"
                self._fail("MergedDigestIsMaximum", f"{text}; others get {told}")
        wanted = {m: seqno for m, seqno in decision.digest.items() if m not in here.at}
        if dict(start.items()) != wanted or {*wanted} != {*decision.members} - here.at.keys():
            self._fail("StartsAtMergedDigest", f"{process} starts at {start}, the merged digest is {decision.digest}")

    def _delivered(self, process: Process) -> dict[Process, int]:
        """Return what a process has delivered of each member of its view."""
        windows = self._group.windows(process)
        members = self.installed[process].processes
        return {p: windows[p].delivered if p in windows else NOTHING for p in members}

    def _promised(self, process: Process, to: Address, life: int) -> None:
        self._judged("PromiseeIsOutside", "OneOpenPromise")
        joiner = self._group.membership.lives.get((to, life))
        if joiner is None or process not in self.installed:
            self._fail("PromiseeIsOutside", f"{process} promises {to} a digest, but has no view or {to} is no process")
            return
        view, digest = self.installed[process], self._delivered(process)
        self._within(lambda: self.digests.promise(process, joiner, view, digest))

    def _withdrawn(self, process: Process, to: Address) -> None:
        self._judged("WithdrawOnlyIfUnusable")
        if (process, to) in self._ended:
            # A leader installs the merged view, and then withdraws its promises to coordinators that did not
            # answer: also to a coordinator whose next incarnation came with another subgroup.
            return
        kept = self.digests.kept.get(process, set())
        joiner = max((p for p in kept if p.address == to), key=lambda p: p.order, default=None)
        if joiner is None:
            self._fail("WithdrawOnlyIfUnusable", f"{process} takes back what it never promised {to}")
            return
        self._within(lambda: self.digests.take_back(process, joiner))

    def _resumed(self, process: Process) -> None:
        self._judged("StopStateConsistent", "ResumesAfterAllInstalled")
        view = self.installed.get(process)
        if view is None or process not in self._stopped:
            self._fail("StopStateConsistent", f"{process} resumes a group that is not stopped for it")
            return
        for other in self.reached(process):
            there = self.installed.get(other)
            if there is None or not (there is view or comes_after(there, view)):
                self._fail("ResumesAfterAllInstalled", f"{process} lets {view} go, {other} has {there}")
        self._stopped.remove(process)

    def _within(self, told: Callable[[], Any]) -> Any:  # noqa: ANN401 - what it gives
        """Notify an abstract module. A step that it does not allow is a violation."""
        try:
            return told()
        except NotAllowedError as error:
            self._fail(error.conjunct, str(error))
            return None

    # The end

    def quiet(self) -> None:
        """Nothing is on its way: each branch is settled, and without false suspicions there is one.

        Converged: all members of a view have it, and no process waits for anything. After false suspicions a
        member may continue to suspect another while their coordinator does not. A joiner that was admitted,
        and excluded before it knew, is refused, and has left.
        """
        up, falsely = self._group.up, self._group.falsely
        if self.installed.keys() & {*up}:
            for process in up:
                self._judged("Converged")
                self._judge_end(process)
        if not falsely:
            self._judged(*(["PromisesEventuallyEnd"] if self._verdicts.judged["PromiseeIsOutside"] else []))
            for promise in self.digests.open.values():
                if promise.giver.up and promise.to.up:
                    self._fail("PromisesEventuallyEnd", f"{promise.giver} never redeems what it promised {promise.to}")

    def _judge_end(self, process: Process) -> None:
        view, state = self.installed.get(process), self._group.gms_of(process)
        if view is None:
            self._fail("Converged", f"{process} is never let in, and not refused")
            return
        if process.leaving:
            self._fail("Converged", f"{process} wants to leave, and its leave is never granted")
        if state.queue:
            self._fail("Converged", f"{process} has something left to do: {state}")
        gone = [other for other in view.processes if not other.up or self.installed.get(other) is not view]
        if gone:
            self._fail("Converged", f"{process} stays in {view}, and {gone} are not there")
        if not self._group.falsely and (state.suspected or {*view.processes} != {*self._group.up}):
            self._fail("Converged", f"{process} is in {view} and suspects {state.suspected}")

    def forget(self, views: set[Decided]) -> None:
        """Nothing is on its way: forget what is over."""
        self._known = {id_: known for id_, known in self._known.items() if known[1] in views}
        self._subgroups = {id_: them for id_, them in self._subgroups.items() if id_ in self._known}
        self.installed = {process: view for process, view in self.installed.items() if process.up}
        self.digests.forget(views)


def _was_in(process: Process, view: Decided) -> bool:
    """Say whether a process is in a view, or in one before it."""
    return process in view.processes or any(_was_in(process, pred) for pred in view.preds)


def _parts(process: Process, after: Decided, other: Process, there: Decided) -> bool:
    """Say whether two live members part, one to each of two views that follow one view.

    If a coordinator that merges groups crashes, one group may have the merged view while another continues
    without. So where a view is merged, those must not part that were together (MergeSplitsNoGroup).
    """
    merges = len(after.preds) > 1 or len(there.preds) > 1
    together = [pred for pred in after.preds if there in pred.successors]
    return any(not merges or {process, other} <= {*pred.processes} for pred in together)


def _comes_from(view: Decided, earlier: Decided) -> bool:
    """Say whether one view is another one, or comes after it."""
    todo, seen = [view], {view}
    for each in todo:  # which grows
        if each is earlier:
            return True
        todo += [pred for pred in each.preds if pred not in seen]
        seen.update(each.preds)
    return False
