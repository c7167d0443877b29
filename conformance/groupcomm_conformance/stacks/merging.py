"""Subgroups that merge: the core of merging runs at each process, over an abstract membership service.

The service has of GMS what it does, not how, as in `spec/merge/MergeGroup.tla`. Who is the first of its view
that it counts on decides the next one and installs it at once; the others install it when it reaches them.
Nothing is decided while merging has asked for that. Who is dead, leaves, does not follow and never will, or
is suspected, is not counted on. What merging does is held against `Membership`; the other claims have the
names that they have in `spec/merge/MergeClaims.tla`.

The events of a group, besides those in `group` and `discovery`:

==========================================  ==========================================================
``found P``                                 P founds a group of its own
``admit P Q``, ``exclude P``                P decides a view with the joiner Q; without those that it does
                                            not count on
``doubt P Q``                               P counts on Q no more
``leave P``                                 P wants to leave: nobody counts on it
``notice P Q I``, ``hush P Q I``            a message of merging from P reaches Q, in any order; or is lost,
                                            as P crashed or a partition is between them
==========================================  ==========================================================
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Final, cast

from attrs import evolve

from groupcomm import merge
from groupcomm.abstract.membership import Decided, NotAllowedError, Process
from groupcomm.digest import EMPTY_VECTOR, NOTHING, Vector
from groupcomm.effects import CancelTimer, PassDown, PassUp, Send, SetTimer
from groupcomm.events import DigestPromised, PromiseWithdrawn, Suspected
from groupcomm.gms import Decision, Lives
from groupcomm.stack import Event as StackEvent
from groupcomm.stack import Raised, Stack, Tagged
from groupcomm.view import NO_VIEW, Address, ViewId

from .claims import Violation
from .discovery import Discovery
from .group import Events, Group
from .wired import comes_after, judged

__all__ = ["Merging"]

_EARLY: Final = "merge/early"


class Merging(Discovery):
    """Merging and the membership services of the subgroups."""

    def __init__(self, group: Group, stack: Stack) -> None:
        super().__init__(group, stack)
        self.suspected: dict[Process, set[Process]] = {}
        self.held: set[Process] = set()
        self._known: dict[ViewId, tuple[Decision, Decided]] = {}
        self._delivered: dict[Process, dict[Process, int]] = {}  # of those that left a process's view
        self._kept: dict[tuple[Process, Address], Vector] = {}  # promises: who made it, and to whom
        self._used: Counter[Address] = Counter()  # the greatest counter of a view that it has decided
        self.events: Final[Events] = {
            "found": self._found,
            "admit": self._admit,
            "exclude": self._exclude,
            "doubt": self._doubt,
            "leave": self._leave,
            "install": self._install,
            "discover": self._discover,
            "notice": self._notice,
            "hush": self._hush,
        }

    def of(self, process: Process) -> merge.State:
        """The state of merging at a process."""
        return cast("merge.State", self._states[process].layers[0])

    def merging(self, process: Process) -> merge.State:
        """The same: it is all that the stack has."""
        return self.of(process)

    def started(self, process: Process) -> None:
        """A process is there, and in no view."""
        super().started(process)
        self.suspected[process] = set()
        if self._life[process]:
            self._group.happened["restarts"] += 1

    def departed(self, process: Process) -> None:
        """A process is gone: what is on its way to it is lost, and its promises are void."""
        self.wires.crash(process)
        self.held.discard(process)
        self.suspected[process] = set()
        self._kept = {pair: kept for pair, kept in self._kept.items() if pair[0] is not process}

    def forget(self, views: set[Decided]) -> None:
        """Nothing is on its way: forget what is over."""
        kept = set(self._group.up)
        self._known = {id_: known for id_, known in self._known.items() if known[1] in views}
        self._states = {process: state for process, state in self._states.items() if process in kept}
        self.suspected = {process: others for process, others in self.suspected.items() if process in kept}
        self._delivered = {process: {} for process in kept}
        self._forget_lives(kept.union(*(view.processes for view in views)))
        self.forget_timers()

    # What is so, for who chooses

    def coordinators(self) -> list[Process]:
        """Who coordinates a view."""
        return [process for process in self._group.up if self.of(process).coordinates]

    def nexts_of(self, process: Process) -> list[Decided]:
        """The views of the membership service that a process may install next."""
        if process.view is None:
            return [view for view in self._group.membership.views if process in view.joins]
        return [v for v in process.view.successors if len(v.preds) == 1 and process in v.processes]

    def next_of(self, process: Process) -> Decided | None:
        """One of them."""
        return next(iter(self.nexts_of(process)), None)

    def counts_on(self, process: Process, other: Process) -> bool:
        """Whether a process counts on a member of its view. `MergeGroup!CountsOn`."""
        if not other.up or other.leaving or other in self.suspected[process] or process.view is None:
            return False
        if other.view is None:
            return bool(self.nexts_of(other))
        return (
            other.view is process.view
            or self._behind(other, other.view, process.view)
            or self._behind(process, process.view, other.view)
        )

    def gone_for(self, process: Process) -> list[Process]:
        """Those of its view that a process does not count on. `MergeGroup!GoneFor`."""
        members = process.view.processes if process.view is not None else ()
        return [other for other in members if other is not process and not self.counts_on(process, other)]

    def decides(self, process: Process) -> bool:
        """Whether the membership service of a process may decide a view now. `MergeGroup!Decides`."""
        if not process.up or process.view is None or process.leaving or process in self.held:
            return False
        if self.nexts_of(process) or self._may_come(process):
            return False
        gone = self.gone_for(process)
        return next(other for other in process.view.processes if other not in gone) is process

    def may_come_to(self, joiner: Process, process: Process) -> bool:
        """Whether a joiner may be let in, and will not use an identifier again. `MergeGroup!MayComeTo`."""
        return self._used[joiner.address] <= self.of(process).decision.id.counter + 1

    def waits_for_views(self, process: Process) -> bool:
        """Whether the view has come that a merged view at a process follows."""
        return self._group.timers[process].get(_EARLY, False)

    def _behind(self, process: Process, here: Decided, there: Decided) -> bool:
        """Whether a process has yet to come from a view to another. `MergeGroup!Behind`."""
        if process not in there.processes or not comes_after(there, here):
            return False
        return self._may_come(process) or bool(self.nexts_of(process))

    def _may_come(self, process: Process) -> bool:
        """Whether a merged view may come to a process. `MergeGroup!MayCome`."""
        if self.waits_for_views(process):
            return True
        for _, to, message in self.on_the_way():
            if isinstance(message, merge.MergeView):
                if to is process and self.of(process).decision.id in message.merged.follows:
                    return True
            elif (
                isinstance(message, merge.InstallMergeView)
                and (to is process or to.view is process.view)
                and message.merge_id == self.of(to).merge
            ):
                return True
        return False

    # Events of the membership service

    def _found(self, name: str) -> None:
        process = self._group.process(name)
        if process.view is not None or self.nexts_of(process):
            raise NotAllowedError(f"{process} is in a view, or on the way to one")
        own = process.address
        lives = Lives(((own, self._life[process]),))
        unused = ViewId(self._used[own] + 1, own)
        alone = Decision(unused, (own,), NO_VIEW.id, lives, frozenset({own}), EMPTY_VECTOR)
        self._decide(process, alone, (process,))

    def _admit(self, name: str, joiner: str) -> None:
        process, other = self._group.in_view(name), self._group.process(joiner)
        if not self.decides(process) or self.gone_for(process):
            raise NotAllowedError(f"{process} decides nothing now")
        if other.view is not None or self.nexts_of(other) or not self._group.connected(process, other):
            raise NotAllowedError(f"{other} joins nobody, or cannot be reached")
        if not self.may_come_to(other, process):
            raise NotAllowedError(f"a former life of {other} was ahead of {process}")
        own = self.of(process).decision
        digest = self._vector(process)
        self._below(process, DigestPromised(other.address))
        joined = evolve(
            own,
            id=ViewId(own.id.counter + 1, process.address),
            members=(*own.members, other.address),
            follows=own.id,
            lives=Lives(tuple({**own.lives, other.address: self._life[other]}.items())),
            joiners=frozenset({other.address}),
            digest=digest,
        )
        members = process.view.processes if process.view is not None else ()
        self._decide(process, joined, (*members, other))

    def _exclude(self, name: str) -> None:
        process = self._group.in_view(name)
        gone = self.gone_for(process)
        if not gone or not self.decides(process):
            raise NotAllowedError(f"{process} has nobody to leave out, or does not decide")
        own = self.of(process).decision
        staying = [p for p in (process.view.processes if process.view is not None else ()) if p not in gone]
        left = evolve(
            own,
            id=ViewId(own.id.counter + 1, process.address),
            members=tuple(p.address for p in staying),
            follows=own.id,
            joiners=frozenset(),
            digest=EMPTY_VECTOR,
        )
        self._decide(process, left, staying)

    def _decide(self, process: Process, decision: Decision, members: Iterable[Process]) -> None:
        """The membership service of a process decides a view, and installs it."""
        preds = () if process.view is None else (process.view,)
        view = self._group.membership.decide(process, decision.id.counter, tuple(members), preds)
        self._record(decision, view)
        self._step(process, Raised(merge.DecisionInstalled(decision)))

    def _record(self, decision: Decision, view: Decided) -> None:
        """A view is decided, and counters go on from there."""
        self._known[decision.id] = decision, view
        creator = decision.id.creator
        self._used[creator] = max(self._used[creator], decision.id.counter)

    def _install(self, name: str, number: int = -1) -> None:
        process = self._group.process(name)
        views = [view for view in self.nexts_of(process) if number in (-1, view.number)]
        if not views:
            raise NotAllowedError(f"{process} has no view to install")
        self._step(process, Raised(merge.DecisionInstalled(self._known[views[0].view.id][0])))

    def _doubt(self, name: str, of: str) -> None:
        process, other = self._group.in_view(name), self._group.known(of)
        if other is process or process.view is None or other not in process.view.processes:
            raise NotAllowedError(f"{other} is in no view of {process}")
        if other in self.suspected[process]:
            raise NotAllowedError(f"{process} suspects {other} already")
        self.suspected[process].add(other)

    def _leave(self, name: str) -> None:
        process = self._group.in_view(name)
        if process.leaving:
            raise NotAllowedError(f"{process} leaves already")
        process.leaving = True

    # Events of merging

    def _hush(self, name: str, to: str, place: int) -> None:
        sender, receiver = self._group.known(name), self._group.process(to)
        if sender.up and self._group.connected(sender, receiver):
            raise NotAllowedError("a unicast is lost only where its sender has crashed, or cannot reach")
        self.wires.arrive_out_of_order(sender, receiver, place)

    # One step of merging at one process

    def _step(self, process: Process, event: StackEvent) -> None:
        group, before = self._group, self.of(process)
        state, effects = group.taken(self._stack, self._states[process], process, event)
        self._states[process] = state
        after = self.of(process)
        match event:
            case Raised(merge.DecisionInstalled(decision)) if after.decision is decision:
                start = {} if before.joined else decision.digest
                self._enter(process, self._known[decision.id][1], start)
        announced = [cast("merge.MergeViewInstalled", e.event) for e in effects if isinstance(e, PassUp)]
        windows = EMPTY_VECTOR
        for effect in effects:
            match effect:
                case Send(to, Tagged() as message):
                    self._send(process, to, message)
                case SetTimer(timer):
                    group.timers[process][timer] = True
                case CancelTimer(timer):
                    group.timers[process][timer] = False
                case PassDown(merge.SuspendViews()):
                    self.held.add(process)
                case PassDown(merge.ResumeViews()):
                    self.held.discard(process)
                case PassDown(Suspected(suspect)) if process.view is not None and suspect in process.view.at:
                    self.suspected[process].add(process.view.at[suspect])
                case PassDown(DigestPromised(to) as promised):
                    self._kept[process, to] = self._vector(process)
                    self._below(process, promised)
                case PassDown(PromiseWithdrawn(to) as withdrawn):
                    self._take_back(process, {to})
                    self._below(process, withdrawn)
                case PassDown(merge.WindowsAdded(digest)):
                    windows = digest
                case PassDown(merge.MergeDecided(decision)):
                    follows = [each.subgroups for each in announced if each.view == decision.view]
                    self._merged(process, before, decision, follows[0] if follows else frozenset())
                    self._judge_windows(process, before, decision, windows)
                    self._enter(process, self._known[decision.id][1], windows)
                case PassUp(merge.MergeViewInstalled()):
                    pass
                case _:
                    raise Violation("NoCrash", f"merging at {process} asks what nobody serves: {effect}")
        merged = after.decision is not before.decision and not isinstance(event, Raised)
        if [each.view for each in announced] != ([after.decision.view] if merged else []):
            raise Violation(
                "AnnouncedOnce", f"{process} announces {announced}; it is in {after.decision.view}"
            )

    def _with_discovery(self, process: Process) -> tuple[object, ...]:
        return (self._vector(process),)

    def _beneath(self, process: Process) -> tuple[object, ...]:
        return (self._vector(process),)

    def _below(self, process: Process, event: object) -> None:
        self._group.step(process, Raised(event))

    def _vector(self, process: Process) -> Vector:
        """What a process has delivered of each member of its view."""
        if process.view is None:
            return EMPTY_VECTOR
        windows = self._group.multicast.windows[process]
        return Vector(tuple((p.address, windows[p].delivered) for p in process.view.processes))

    def _enter(self, process: Process, view: Decided, start: Mapping[Address, int]) -> None:
        """A process installs a view. It delivers nothing twice of those who come back: it remembers."""
        group = self._group
        judged(lambda: group.membership.may_install(process, process.view, view))
        memory = self._delivered.setdefault(process, {})
        if process.view is not None:
            memory.update(group.multicast.delivered(process))
        begin = {p: max(start.get(p.address, NOTHING), memory.get(p, NOTHING)) for p in view.processes}
        group.enter(process, view, begin)
        self.suspected[process] &= {*view.processes}
        self._take_back(process, view.at.keys())

    def _take_back(self, process: Process, addresses: Container[Address]) -> None:
        """Promises of a process to some addresses are void."""
        for pair in [pair for pair in self._kept if pair[0] is process and pair[1] in addresses]:
            del self._kept[pair]

    # What it does is held against what it gives

    def _merged(
        self, process: Process, before: merge.State, decision: Decision, follows: frozenset[ViewId]
    ) -> None:
        """A merged view that a process has: it is decided where nobody had it before."""
        known = self._known.get(decision.id)
        if known is not None:
            same = evolve(known[0], follows=decision.follows)
            if same != decision:
                raise Violation("AgreeOnTheView", f"{process} has {decision}; another has {known[0]}")
            return
        preds = [self._known[each][1] for each in follows if each in self._known]
        if len(preds) < max(2, len(follows)):
            raise Violation("ListIsSound", f"{decision.view} follows {set(follows)}, which is no merge")
        if decision.id.creator != process.address:
            raise Violation("CreatorIsThere", f"{process} decides {decision.view}, in another's name")
        lives = [self._lives.get((member, decision.lives.get(member, -1))) for member in decision.members]
        members = [process for process in lives if process is not None]
        if len(members) < len(lives):
            raise Violation("LivesAreKnown", f"{decision} means an incarnation that never began")
        preds.sort(key=lambda pred: pred.number)
        view = judged(lambda: self._group.membership.decide(process, decision.id.counter, members, preds))
        if view.joins:
            raise Violation("JoinersBegin", f"{set(view.joins)} begin with {view}, a merged view")
        self._record(decision, view)
        self._group.happened["merged views"] += 1
        self._judge_digest(process, before, decision, view)

    def _judge_digest(self, leader: Process, before: merge.State, decision: Decision, view: Decided) -> None:
        """The merged digest is, entry by entry, the greatest of those that its coordinators keep promised."""
        current = (self._group.membership.current[address] for address in before.asked)
        coordinators = {process for process in current if process.view in view.preds}
        addresses = {process.address for process in coordinators}
        wanted: dict[Address, int] = {}
        for (by, to), kept in self._kept.items():
            if (by is leader and to in addresses) or (to == leader.address and by in coordinators):
                for address, seqno in kept.items():
                    wanted[address] = max(seqno, wanted.get(address, seqno))
        told = {address: seqno for address, seqno in decision.digest.items() if address in wanted}
        if told != wanted:
            raise Violation("DigestIsGreatest", f"{decision.view} has {told}, and promised is {wanted}")

    def _judge_windows(
        self, process: Process, before: merge.State, decision: Decision, windows: Vector
    ) -> None:
        """It begins where it is told with those who are new to it, and skips nothing of the others."""
        own = {*before.decision.members}
        skipped = own & windows.keys()
        if skipped:
            raise Violation("NothingIsSkipped", f"{process} sets its windows for {skipped}, who were with it")
        wanted = {m: seqno for m, seqno in decision.digest.items() if m not in own}
        if dict(windows.items()) != wanted or wanted.keys() != {*decision.members} - own:
            raise Violation("StartsWhereTold", f"{process} starts at {windows}, told was {wanted}")

    def quiet(self) -> None:
        """Nothing is on its way: no merge goes on, and all who are up are in one view, with a coordinator."""
        up = self._group.up
        for process in up:
            if self.of(process).merging or process in self.held:
                raise Violation("MergesEnd", f"{process} stays in {self.of(process).merge}")
        views = {process.view for process in up}
        if any(view is None or {*view.processes} != {*up} for view in views) or len(self.coordinators()) != 1:
            raise Violation("Settled", f"all rests, and the views are {views} of {up}")
