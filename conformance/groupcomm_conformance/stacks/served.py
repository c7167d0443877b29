"""Views that GMS decides: it runs at each process, and what it does is held against what it gives.

The abstract `Membership` and `JoinDigest` are told each view when it appears for the first time, and who
installs, promises, withdraws. What they do not allow is a violation of the conjunct that they name; the other
claims here have the names that they have in `spec/gms/GmsClaims.tla`.

The events of a group, besides those in `group`:

==========================================  ==========================================================
``join P Q``                                P asks Q, which discovery found, to be let in (or again); P
P: it founds a group
``notice P Q I``, ``hush P Q I``            a message of GMS from P reaches Q, in any order; or is lost, as
P crashed
``suspect P Q``                             the failure detector of P reports Q
``stop P``                                  the group is stopped for P's GMS, which asked for it
``digest P``                                the layer below answers what P's GMS asked for
``fetch P``                                 the state transfer of P asks the layer below for a digest
==========================================  ==========================================================

Under a stack over synchronous views, those that GMS installs wait for the layer between the two, which has
`install P`. Under none, GMS stands above the stack, and each is installed at once.
"""

from collections.abc import Mapping
from typing import Final, cast

from groupcomm import gms
from groupcomm.abstract.membership import Decided, NotAllowedError, Process
from groupcomm.digest import NOTHING, Vector
from groupcomm.effects import PassDown, PassUp, Send
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
from groupcomm.stack import Called, Raised, Stack, Tagged
from groupcomm.stack import Event as StackEvent
from groupcomm.view import NO_VIEW, Address, View, ViewId

from .claims import Violation
from .group import Event, Events, Group
from .wired import Wired, comes_after, judged

__all__ = ["Served"]

_STATE_TRANSFER: Final = "STATE_TRANSFER"
"""Who else asks for digests."""


class Served(Wired):
    """GMS as the membership service of a group.

    `falsely`: whether somebody suspects, or did since the group was at rest, who is alive. Then views branch.
    `stopping`: for whom the group is to be stopped, and is not yet. `stopped`: for whom it is. `held`: who is
    stopped. (Nothing is done to these here: a group that is not stopped multicasts on.)
    """

    timers: tuple[str, ...] = ()

    def __init__(self, group: Group, stack: Stack) -> None:
        super().__init__(group, stack)
        self.questions: dict[Process, list[DigestGiven]] = {}
        self.fetching: dict[Process, set[int]] = {}
        self.installed: dict[Process, Decided] = {}
        self.falsely = False
        self.stopping: set[Process] = set()
        self.stopped: set[Process] = set()
        self.held: set[Process] = set()
        self._waiting: dict[Process, list[Decided]] = {}
        self._known: dict[ViewId, tuple[gms.Decision, Decided]] = {}
        self._starts: dict[Process, Vector] = {}
        self._left: set[Process] = set()
        self._fetches = 0
        self.events: Events = {
            "join": self._join,
            "leave": self._leave,
            "notice": self._notice,
            "hush": self._hush,
            "suspect": self._suspect,
            "stop": self._stop,
            "digest": self._digest,
            "fetch": self._fetch,
            "install": self._install,
        }

    def of(self, process: Process) -> gms.State:
        """The state of GMS at a process."""
        return cast("gms.State", self._states[process].layers[0])

    def next_of(self, process: Process) -> Decided | None:
        """The next view that GMS has installed and the layers above have not."""
        waiting = self._waiting.get(process)
        return waiting[0] if waiting else None

    def departed(self, process: Process) -> None:
        """A process is gone: what is on its way to it is lost."""
        self.wires.crash(process)
        self.questions.pop(process, None)
        self.fetching.pop(process, None)
        self._waiting.pop(process, None)
        for those in (self.stopping, self.stopped, self.held):
            those.discard(process)

    def forget(self, views: set[Decided]) -> None:
        """Nothing is on its way: forget what is over."""
        self._known = {id_: known for id_, known in self._known.items() if known[1] in views}
        kept = set(self._group.up)
        of_views = kept.union(*(view.processes for view in views))
        self._states = {process: state for process, state in self._states.items() if process in kept}
        self._forget_lives(of_views)
        self.installed = {process: view for process, view in self.installed.items() if process in kept}
        self._left &= of_views
        self.falsely = any(self.of(process).suspected for process in kept)

    def fire(self, process: Process, timer: str) -> None:
        """No timer is set here."""
        raise NotAllowedError(f"{process} has no timer {timer}")

    # What the environment may do, for who chooses

    def may_be_asked(self, joiner: Process) -> list[Process]:
        """Whom discovery may find for a joiner: those that act, and have no request of it on its way."""
        return [
            process
            for process in self._group.up
            if self.of(process).acts
            and self._group.connected(joiner, process)
            and not self.wires.wires.get((joiner, process))
        ]

    def watched(self, process: Process) -> list[Process]:
        """Whom a process watches: members that it does not suspect, and joiners that wait (`Watched`)."""
        state = self.of(process)
        lives = [(m, state.decision.lives[m]) for m in state.unsuspected if m != process.address]
        lives += [(r.member, r.life) for r in (*state.queue, state.admitting) if r.kind == "join"]
        return [self._lives[each] for each in lives if each in self._lives]

    def to_report(self, process: Process) -> list[Process]:
        """Of those the ones that have crashed, or do not count it as a member any more (`Reports`)."""
        return [other for other in self.watched(process) if not other.up or self._excludes(other, process)]

    def _excludes(self, one: Process, other: Process) -> bool:
        """Whether one does not count the other as a member: it suspects it, or has a view without it."""
        theirs, mine = self.installed.get(one), self.installed[other]
        if theirs is None:  # whom a joiner refuses may be a former life
            return False
        if other.address in self.of(one).suspected:
            return True
        return other.address not in theirs.at and not comes_after(mine, theirs)

    def due(self, process: Process) -> list[Event]:
        """What the environment has to do for a process, in the end."""
        found: list[Event] = [("suspect", process.name, other.name) for other in self.to_report(process)]
        if self.questions.get(process):
            found.append(("digest", process.name))
        if process in self.stopping:
            found.append(("stop", process.name))
        return found

    # Events

    def _join(self, name: str, to: str) -> None:
        joiner, found = self._group.process(name), self._group.process(to)
        if self.of(joiner).joined:
            raise NotAllowedError(f"{joiner} is in a view")
        if found is joiner and not self._may_found(joiner):
            raise NotAllowedError(f"{joiner} is not the first, or not new")
        if found is not joiner and found not in self.may_be_asked(joiner):
            raise NotAllowedError(f"{found} cannot be asked")
        self._step(joiner, Called(PassDown(gms.JoinRequested(found.address, self._life[joiner]))))

    def _may_found(self, joiner: Process) -> bool:
        """Whether it may found a group: it is a first life, and there is none."""
        return self._life[joiner] == 0 and not any(self.of(process).joined for process in self._group.up)

    def _leave(self, name: str) -> None:
        process = self._group.process(name)
        if not self.of(process).joined or process.leaving:
            raise NotAllowedError(f"{process} is in no view, or leaves already")
        process.leaving = True
        self._step(process, Called(PassDown(gms.LeaveRequested())))

    def _hush(self, name: str, to: str, place: int) -> None:
        sender, receiver = self._group.known(name), self._group.process(to)
        if sender.up or sender in self._left:
            raise NotAllowedError("a unicast is lost only where its sender has crashed")
        self.wires.arrive_out_of_order(sender, receiver, place)

    def _suspect(self, name: str, of: str) -> None:
        process, suspect = self._group.process(name), self._group.known(of)
        if suspect not in self.watched(process):
            raise NotAllowedError(f"{process} does not watch {suspect}")
        self.falsely |= suspect not in self.to_report(process)
        self._step(process, Raised(gms.Suspected(suspect.address)))

    def _stop(self, name: str) -> None:
        process = self._group.process(name)
        if process not in self.stopping:
            raise NotAllowedError(f"{process} has not asked to have the group stopped")
        self.stopping.remove(process)
        self._stopped_for(process, GroupStopped("GMS"))

    def _stopped_for(self, process: Process, answer: GroupStopped) -> None:
        self.stopped.add(process)
        self._step(process, Called(PassDown(answer)))

    def _digest(self, name: str) -> None:
        process = self._group.process(name)
        questions = self.questions.get(process)
        if not questions:
            raise NotAllowedError(f"{process} has asked for no digest")
        self._step(process, Raised(questions.pop(0)))

    def _fetch(self, name: str) -> None:
        process = self._group.in_view(name)
        if process not in self.installed:
            raise NotAllowedError(f"{process} is in no view")
        self._fetches += 1
        self.fetching.setdefault(process, set()).add(self._fetches)
        self._ask(process, _STATE_TRANSFER, self._fetches)

    def _install(self, name: str) -> None:
        process = self._group.process(name)
        after = self.next_of(process)
        if after is None:
            raise NotAllowedError(f"{process} has no view to install")
        start = self._group.synchronous(process, after)
        self._waiting[process].pop(0)
        self._group.enter(process, after, start)

    # One step of GMS at one process

    def _step(self, process: Process, event: StackEvent) -> None:
        group = self._group
        before = self.of(process)
        state, effects = group.taken(self._stack, self._states[process], process, event)
        self._states[process] = state
        self._looked_at(effects)
        after = self.of(process)
        if after.decision is not before.decision:
            self._seen(process, after.decision)
        for effect in effects:
            self._carry_out(process, after, effect)

    def _looked_at(self, effects: tuple[object, ...]) -> None:
        """The effects of a step, before they are carried out."""

    def _carry_out(self, process: Process, after: gms.State, effect: object) -> None:
        """Do what GMS asks for; `after` is its state."""
        match effect:
            case Send(to, Tagged(_, content) as message):
                if isinstance(content, gms.NewView):
                    self._seen(process, content.decision)
                self._send(process, to, message)
            case PassUp(Suspend() as suspend):
                self._suspends(process, suspend)
            case PassUp(Resume() as resume):
                self._resumes(process, resume)
            case PassUp(Suspected() as suspected):
                self._suspects(process, suspected)
            case PassDown(ViewInstalled(view)):
                self._installs(process, view)
            case PassUp(ViewInstalled(view)):
                if self._group.synchrony is not None:
                    self._waiting.setdefault(process, []).append(self._known[view.id][1])
            case PassDown(GetDigest(asker, request)):
                self._ask(process, asker, request)
            case PassDown(DigestSet(vector)):
                self._starts[process] = vector
                self.held.add(process)
            case PassDown(DigestPromised(to) as promised):
                self._promise(process, to, after)
                self._tell_below(process, promised)
            case PassDown(PromiseWithdrawn(to) as withdrawn):
                self._withdraw(process, to)
                self._tell_below(process, withdrawn)
            case PassUp(DigestGiven(_, request, _)):
                self.fetching.get(process, set()).discard(request)
            case PassUp(Left()):
                self._left.add(process)
                self._group.depart(process)
            case _:
                raise Violation("NoCrash", f"GMS of {process} has an effect that nobody serves: {effect}")

    # What FLUSH hears, where it is there

    def _suspends(self, process: Process, _suspend: Suspend) -> None:
        self.stopping.add(process)
        self.stopped.discard(process)
        self.held |= self._reached(process)

    def _resumes(self, process: Process, _resume: Resume) -> None:
        self._let_go(process)

    def _suspects(self, process: Process, suspected: Suspected) -> None:
        """GMS suspects somebody."""

    def _enters(self, process: Process, after: Decided, start: Mapping[Process, int]) -> None:
        self._group.enter(process, after, start)

    def _reached(self, process: Process) -> set[Process]:
        """Whom it can stop, and let go: whom it counts on, and who counts it as a member (`Reaches`)."""
        decision = self.of(process).decision
        counted = (self._lives.get((m, decision.lives[m])) for m in self.of(process).unsuspected)
        return {
            other
            for other in counted
            if other is not None and other.up and process.address in self.of(other).unsuspected
        }

    def _let_go(self, process: Process) -> None:
        reached, view = self._reached(process), self.installed[process]
        if process not in self.stopped:
            raise Violation("StopsAreAgreed", f"{process} lets a group go that is not stopped for it")
        for other in reached:
            there = self.installed.get(other)
            if there is None or not (there is view or comes_after(there, view)):
                raise Violation("ResumedWhenEverywhere", f"{process} lets {view} go, {other} has {there}")
        self.stopped.remove(process)
        self.held -= reached

    def _tell_below(self, process: Process, event: object) -> None:
        if self._group.synchrony is None:
            self._group.step(process, Raised(event))

    def _delivered(self, process: Process) -> dict[Process, int]:
        """What a process has delivered of each member of the view that its GMS has."""
        windows = self._group.multicast.windows.get(process, {})
        members = self.installed[process].processes
        return {p: windows[p].delivered if p in windows else NOTHING for p in members}

    def _ask(self, process: Process, asker: str, request: int) -> None:
        vector = Vector(tuple((p.address, seqno) for p, seqno in self._delivered(process).items()))
        self.questions.setdefault(process, []).append(DigestGiven(asker, request, vector))

    # What it does is held against what it gives

    def _seen(self, process: Process, decision: gms.Decision) -> None:
        """A view that a process has or sends: it is decided where nobody had it before."""
        known = self._known.get(decision.id)
        if known is not None:
            if not self._same(known[0], decision):
                raise Violation("OneIdOneView", f"{process} has {decision}; {known[0]} has that identifier")
            return
        follows = self._followed_by(decision)
        if not follows <= self._known.keys():
            raise Violation("ListIsSound", f"{process} decides {decision.view}, which follows none decided")
        preds = sorted((self._known[each][1] for each in follows), key=lambda pred: pred.number)
        if preds and process not in self.stopped:
            raise Violation("DecidedWhenStopped", f"{process} decides {decision.view}, and nobody is stopped")
        if decision.id.creator != process.address:
            raise Violation("CreatorIsThere", f"{process} decides {decision.view}, in another's name")
        processes = [
            each
            for each in (self._lives.get((m, decision.lives.get(m, -1))) for m in decision.members)
            if each is not None
        ]
        if len(processes) < len(decision.members):
            raise Violation("LivesAreKnown", f"{decision} means an incarnation that never began")
        view = judged(lambda: self._group.membership.decide(process, decision.id.counter, processes, preds))
        if decision.joiners != {joiner.address for joiner in view.joins}:
            raise Violation("JoinersBegin", f"{decision.joiners} are said to begin with {view}")
        for pred in preds:
            self._judge_step(pred, view)
        for joiner in view.joins:
            self._group.digests.rely(process, joiner, view)
        self._known[decision.id] = decision, view

    def _same(self, known: gms.Decision, decision: gms.Decision) -> bool:
        """Whether that is one view."""
        return known == decision

    def _followed_by(self, decision: gms.Decision) -> frozenset[ViewId]:
        """The views that a view follows."""
        return frozenset({decision.follows} - {NO_VIEW.id})

    def _judge_step(self, pred: Decided, view: Decided) -> None:
        for process in pred.processes:
            if process.up and not (process in view.processes or process.leaving or self.falsely):
                raise Violation("NobodyIsDropped", f"{process} is alive, stays, and is not in {view}")
        for joiner in view.joins:
            if _was_in(joiner, pred):
                raise Violation("LeftStaysOut", f"{joiner} was in a view before, and is let in with {view}")

    def _installs(self, process: Process, view: View) -> None:
        known = self._known.get(view.id)
        if known is None or known[1].view != view:
            raise Violation("OneIdOneView", f"{process} installs {view}, which nobody decided")
        here, after = self.installed.get(process), known[1]
        judged(lambda: self._group.membership.may_install(process, here, after))
        start: dict[Process, int] = {}
        vector = self._starts.pop(process, Vector(()))
        if here is None:
            start = {pred.at[m]: seqno for pred in after.preds for m, seqno in vector.items() if m in pred.at}
            judged(lambda: self._group.digests.begin(process, after, start))
        elif vector:
            start = {after.at[m]: seqno for m, seqno in vector.items()}
        self.installed[process] = after
        for other in self._group.up:
            there = self.installed.get(other)
            rival = any(there is not after and there in pred.successors for pred in after.preds)
            if rival and not self.falsely:
                raise Violation("OneLine", f"{process} installs {after}, {other} has {there}")
        if self._group.synchrony is None:
            self._enters(process, after, start)

    def _promise(self, process: Process, to: Address, state: gms.State) -> None:
        joiner = self._lives.get((to, state.admitting.life))
        if joiner is None or process not in self.installed:
            raise Violation("NotYetAMember", f"{process} promises {to} a digest, in no view or to nobody")
        digest = self._delivered(process)
        judged(lambda: self._group.digests.promise(process, joiner, self.installed[process], digest))

    def _withdraw(self, process: Process, to: Address) -> None:
        kept = self._group.digests.kept.get(process, set())
        joiner = max((p for p in kept if p.address == to), key=lambda p: p.order, default=None)
        if joiner is None:
            raise Violation("ForGood", f"{process} takes back what it never promised {to}")
        judged(lambda: self._group.digests.take_back(process, joiner))

    def _judge_end(self, process: Process) -> None:
        view, state = self.installed.get(process), self.of(process)
        if view is None:
            if self.falsely and self._left_out(process):
                return
            raise Violation("Settled", f"{process} is never let in")
        if process.leaving:
            raise Violation("Settled", f"{process} wants to leave, and is never let go")
        if state.queue or state.admitting != gms.NO_REQUEST:
            raise Violation("Settled", f"{process} has something left to do: {state}")
        gone = [other for other in view.processes if not other.up or self.installed.get(other) is not view]
        if gone:
            raise Violation("Settled", f"{process} stays in {view}, and {gone} are not there")
        if not self.falsely and (state.suspected or {*view.processes} != {*self._group.up}):
            raise Violation("Settled", f"{process} is in {view} and suspects {state.suspected}")

    def _left_out(self, joiner: Process) -> bool:
        """Whether it was let in, on the line of each that acts, so that its life is over there."""
        address, life = joiner.address, self._life[joiner]
        acting = [state for state in map(self.of, self._group.up) if state.acts]
        return all(state.decision.lives.get(address, -1) >= life for state in acting)

    def quiet(self) -> None:
        """Nothing is on its way: each line of views is settled, and without false suspicions there is one.

        Settled: a view is shared by all who are in it, and nobody waits for anything. After false suspicions
        a member may go on suspecting another while their coordinator does not; and who was let in, and left
        out again before it knew, is in no view: it has to come as a new life.
        """
        up = self._group.up
        for process, requests in self.fetching.items():
            if requests:
                raise Violation("StateIsAnswered", f"the state transfer of {process} never gets its digest")
        if self.installed.keys() & {*up}:
            for process in up:
                self._judge_end(process)
        if self.held:
            raise Violation("QuietIsFree", f"{self.held} are stopped, and nobody lets them go")
        if self.falsely:
            return
        for promise in self._group.digests.open.values():
            if promise.giver.up and promise.to.up:
                raise Violation("PromisesEnd", f"{promise.giver} never redeems what it promised {promise.to}")


def _was_in(process: Process, view: Decided) -> bool:
    """Whether a process is in a view, or in one before it."""
    return process in view.processes or any(_was_in(process, pred) for pred in view.preds)
