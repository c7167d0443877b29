"""FLUSH over merging over GMS: groups that were founded apart, or that a partition has parted, become one.

Merging and GMS are one layer at each process (`groupcomm.merge_gms`), beside the stack with FLUSH. Failure
detectors report who cannot be reached, too, so that the sides of a partition go on by themselves.

The events of a group are those in `group`, `served`, `flushed` and `discovery`. By ``join P P`` P founds a
group, also where there are others.

What a coordinator that is in a merge has promised to others, and what a merged view says, is judged as where
merging stands alone (`merging`).
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final, cast

from attrs import evolve

from groupcomm import gms, merge, merge_gms
from groupcomm.abstract.membership import Decided, Process
from groupcomm.digest import EMPTY_VECTOR
from groupcomm.effects import CancelTimer, PassDown, PassUp, SetTimer
from groupcomm.events import DigestPromised, MergeViewInstalled, PromiseWithdrawn, ViewInstalled
from groupcomm.stack import Stack
from groupcomm.view import Address, View, ViewId

from .claims import Violation
from .discovery import Discovery
from .flushed import Flushed
from .group import Group

__all__ = ["Lineages"]

LAYER: Final = "merge_gms"


class Lineages(Discovery, Flushed):
    """GMS with merging as the membership service of groups that FLUSH stops."""

    timers = (f"{LAYER}/",)

    def __init__(self, group: Group, stack: Stack, ignored: frozenset[str]) -> None:
        super().__init__(group, stack, ignored)
        self._subgroups: dict[ViewId, frozenset[ViewId]] = {}
        self._kept: set[tuple[Process, Address]] = set()  # merging's promises: who made it, and to whom
        self._used: Counter[Address] = Counter()  # the greatest counter of a view that it has decided
        self.events = {**self.events, "discover": self._discover}

    def both(self, process: Process) -> merge_gms.State:
        """The state of merging and GMS at a process."""
        return cast("merge_gms.State", self._states[process].layers[0])

    def of(self, process: Process) -> gms.State:
        """The state of GMS at a process."""
        return self.both(process).gms

    def merging(self, process: Process) -> merge.State:
        """The state of merging at a process."""
        return self.both(process).merge

    def departed(self, process: Process) -> None:
        """A process is gone: its promises are void. Some may have a view of its merge, and others give up."""
        self.falsely |= any(self.merging(other).merging for other in (process, *self._group.up))
        super().departed(process)
        self._kept = {pair for pair in self._kept if pair[0] is not process}

    def forget(self, views: set[Decided]) -> None:
        """Nothing is on its way: forget what is over."""
        super().forget(views)
        self._subgroups = {id_: them for id_, them in self._subgroups.items() if id_ in self._known}
        self.forget_timers()

    def fire(self, process: Process, timer: str) -> None:
        """A timer of merging fires. If it is early, one side gives up, another may have the view."""
        early = timer != self.discover and self.merging(process).merging
        self.falsely |= early and not self.must_time_out(process)
        super().fire(process, timer)

    # What is so, for who chooses

    def coordinators(self) -> list[Process]:
        """Who coordinates a view."""
        return [process for process in self._group.up if self.of(process).acts and self.of(process).joined]

    def may_be_asked(self, joiner: Process) -> list[Process]:
        """Those on whose lines a later life uses no identifier again. `MergeGroup!MayComeTo`."""
        used = self._used[joiner.address]
        return [p for p in super().may_be_asked(joiner) if used <= self.of(p).decision.id.counter + 1]

    def to_report(self, process: Process) -> list[Process]:
        """Also those that cannot be reached."""
        found = super().to_report(process)
        return found + [
            other
            for other in self.watched(process)
            if other not in found and not self._group.connected(process, other)
        ]

    def dismissed(self) -> list[Process]:
        """Who is in no view at the end and will be in none: it may ask nobody, or was let in everywhere."""
        waiting = [process for process in self._group.up if process not in self.installed]
        return [p for p in waiting if not self.may_be_asked(p) or (self.falsely and self._left_out(p))]

    # Events

    def _join(self, name: str, to: str) -> None:
        asked = self.of(self._group.process(name)).joining
        super()._join(name, to)
        # Who is asked on two lines of views may be let in on both.
        self.falsely |= asked and len(self.coordinators()) > 1

    def _suspect(self, name: str, of: str) -> None:
        self.falsely |= self._group.known(of).up
        super()._suspect(name, of)

    def _may_found(self, joiner: Process) -> bool:
        """Whether it may found a group, which is merged with the others."""
        return self._life[joiner] == 0

    # One step

    def _looked_at(self, effects: tuple[object, ...]) -> None:
        for effect in effects:
            match effect:
                case PassUp(MergeViewInstalled(view, subgroups)):
                    self._subgroups[view.id] = subgroups
                case _:
                    pass

    def _carry_out(self, process: Process, after: gms.State, effect: object) -> None:
        timers = self._group.timers[process]
        match effect:
            case SetTimer(timer):
                timers[timer] = True
            case CancelTimer(timer):
                timers[timer] = False
            case PassDown(merge.WindowsAdded(digest)):
                self._starts[process] = digest
            case PassDown(DigestPromised(to) as promised) if after.admitting.member != to:
                self._kept.add((process, to))
                self._tell_below(process, promised)
            case PassDown(PromiseWithdrawn(to) as withdrawn) if (process, to) in self._kept:
                self._kept.remove((process, to))
                self._tell_below(process, withdrawn)
            case PassDown(PromiseWithdrawn()) if not process.up:
                pass  # of the same step, after it has left: all its promises are void
            case _:
                super()._carry_out(process, after, effect)

    def _seen(self, process: Process, decision: gms.Decision) -> None:
        if decision.id not in self._known and decision.id in self._subgroups:
            self._group.happened["merged views"] += 1
        super()._seen(process, decision)
        creator = decision.id.creator
        self._used[creator] = max(self._used[creator], decision.id.counter)

    def _installs(self, process: Process, view: View) -> None:
        if view.id in self._subgroups:
            self._judge_start(process)
        super()._installs(process, view)

    def _judge_start(self, process: Process) -> None:
        """It goes on where it is with those who were with it, and starts where it is told with the others."""
        decision, before = self.of(process).decision, self.installed[process]
        there = self._delivered(process)
        for other, seqno in there.items():
            told = decision.digest.get(other.address, seqno)
            if told != seqno:
                text = f"{process} has delivered {seqno} of {other} when it installs {decision.view}"
                raise Violation("DigestIsGreatest", f"{text}, and others are told {told}")
        wanted = {m: seqno for m, seqno in decision.digest.items() if m not in before.at}
        start = self._starts.get(process, EMPTY_VECTOR)
        if dict(start.items()) != wanted or {*wanted} != {*decision.members} - before.at.keys():
            raise Violation("StartsWhereTold", f"{process} starts at {start}, told was {decision.digest}")

    def _followed_by(self, decision: gms.Decision) -> frozenset[ViewId]:
        return self._subgroups.get(decision.id) or super()._followed_by(decision)

    def _same(self, known: gms.Decision, decision: gms.Decision) -> bool:
        """One view; of a merged one each subgroup has that it follows its own."""
        follows = self._subgroups.get(decision.id, frozenset({known.follows}))
        return evolve(known, follows=decision.follows) == decision and decision.follows in follows

    def _enters(self, process: Process, after: Decided, start: Mapping[Process, int]) -> None:
        self._kept -= {(process, member) for member in after.at}
        if after.view.id in self._subgroups:
            if process.address != after.view.members[0]:  # the first lets all go
                self.stopping.discard(process)
                self.stopped.discard(process)
            for other in after.processes:  # who comes with a merge has begun elsewhere
                self._group.digests.open.pop((process, other), None)
        super()._enters(process, after, start)

    def _says(self, after: Decided) -> ViewInstalled:
        subgroups = self._subgroups.get(after.view.id)
        return super()._says(after) if subgroups is None else MergeViewInstalled(after.view, subgroups)
