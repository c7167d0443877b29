"""The knowledge of failure detectors and discovery, and the events that the environment owes a process.

Nothing beneath the stack knows it by itself: each is what a module of a specification assumes of the
environment, and reads the states of GMS, merging and FLUSH where these say who is a member of what.
"""

from collections.abc import Iterator
from random import Random
from typing import Final

from groupcomm.primary import quorum
from groupcomm.view import NO_VIEW, Address, later_than
from groupcomm_simulator.judges.membership import Process, comes_after

from .world import Event, World

_FOUND: Final = 0.8  # of the coordinators that there are, the share that is found
_IN_VAIN: Final = 0.1  # share of the coordinators that look for others though another would lead


class Oracle:
    """The knowledge that there is of a group.

    `discovery`: the timer of discovery. `timers`: of merging. `soon`: a timer of no time.
    """

    discovery: Final = "merge_gms/discover"
    timers: Final = "merge_gms/"
    soon: Final = "state_transfer/soon"

    def __init__(self, world: World) -> None:
        self._ground = world

    # Discovery

    def coordinators(self) -> list[Process]:
        """List the processes that discovery may find: each coordinates a view."""
        of = self._ground.gms_of
        return [process for process in self._ground.up if of(process).acting and of(process).in_view]

    def may_found(self, joiner: Process) -> bool:
        """Say whether it may found a group: a first incarnation may, if no group exists or groups merge."""
        ground = self._ground
        alone = ground.merges or not any(ground.gms_of(process).in_view for process in ground.up)
        return joiner.life == 0 and alone

    def may_be_asked(self, joiner: Process) -> list[Process]:
        """List the processes that discovery may find for a joiner.

        Each acts, has no request of it on its way, and is on a branch where a later incarnation of the joiner
        uses no identifier of a view again (`MergeGroup!MayComeTo`).
        """
        ground, used = self._ground, self._ground.views.used[joiner.address]
        return [
            process
            for process in ground.up
            if ground.gms_of(process).acting
            and process is not joiner
            and ground.connected(joiner, process)
            and not ground.waits(joiner, process)
            and used <= ground.gms_of(process).decision.id.counter + 1
        ]

    def may_begin(self, address: Address) -> bool:
        """Say whether an address may begin: no joiner waits that chose to ask its former incarnation.

        A later incarnation asks where the counters have passed those of its former views (`may_be_asked`).
        The request is for the address: the next incarnation there would hear it, on any branch.
        """
        ground = self._ground
        return not any(
            joiner.view is None and ground.views.used[joiner.address] and address in asked
            for joiner, asked in ground.asked.items()
        )

    def discoveries(self, process: Process, random: Random) -> Iterator[Event]:
        """A coordinator finds others, some or all; mostly it leads the merge then."""
        ground, coordinators = self._ground, self.coordinators()
        if not ground.merges or process not in coordinators or ground.merging_of(process).merging:
            return
        found = [other for other in coordinators if ground.connected(process, other)]
        some = [other for other in found if other is process or random.random() < _FOUND]
        leads = min(other.address for other in some) == process.address
        if len(some) > 1 and (leads or random.random() < _IN_VAIN):
            yield "discover", process.name, tuple(other.name for other in some)

    # With a majority

    def may_go_on(self, without: Process) -> bool:
        """Say whether the others, where they all meet, may form a view: what the last formed one needs of them."""
        others = (process for process in self._ground.up if process is not without)
        records = {process.address: self._ground.order_of(process).attempts for process in others}
        return any(quorum(records, frozenset()).values())

    def half_formed(self) -> list[Process]:
        """List the members that are ahead: they know that the last view is formed, or have it, and others do not."""
        ground, of = self._ground, self._ground.order_of
        last = max((of(process).view.id for process in ground.up), default=NO_VIEW.id)
        have = [process for process in ground.up if of(process).view.id == last]
        know = [process for process in have if of(process).formed]
        there = sum(process.address in of(have[0]).view.member_set for process in ground.up) if have else 0
        return next((some for some in (know, have) if 0 < len(some) < there), [])

    # Incarnations

    def later_than(self, process: Process, other: Process) -> Address:
        """Give the later incarnation for which another does not take a process: refuses it, or does not hear it."""
        decision = self._ground.gms_of(other).decision
        return later_than(process.address, decision.members, decision.lives, self._ground.heard_by(other))

    def formers(self, process: Process) -> list[Event]:
        """List who tells a process that a later incarnation is known: GMS does not hear it there, to refuse it."""
        ground = self._ground
        return [
            ("former", process.name, other.name)
            for other in ground.up
            if ground.carries
            and process.address not in ground.heard_by(other)
            and ground.connected(process, other)
            and self.later_than(process, other)
        ]

    # Failure detectors

    def watched(self, process: Process) -> list[Process]:
        """List the processes that a member watches: trusted members, and waiting joiners (`Watched`)."""
        state, lives = self._ground.gms_of(process), self._ground.membership.lives
        watched = [(m, state.decision.lives[m]) for m in state.unsuspected if m != process.address]
        watched += [(r.member, r.life) for r in state.queue if r.kind == "join"]
        return [lives[each] for each in watched if each in lives]

    def to_report(self, process: Process) -> list[Process]:
        """List those of them that have crashed, that exclude it, or that it cannot reach."""
        ground = self._ground
        return [
            other
            for other in self.watched(process)
            if not other.up
            or self._excludes(other, process)
            or (ground.merges and not ground.connected(process, other))
        ]

    def _excludes(self, one: Process, other: Process) -> bool:
        """Say whether one does not count the other as a member: it suspects it, or has a view without it."""
        theirs, mine = self._ground.views.installed.get(one), self._ground.views.installed.get(other)
        if theirs is None or mine is None:  # a joiner may refuse a former incarnation
            return False
        if other.address in self._ground.gms_of(one).suspected:
            return True
        return other.address not in theirs.at and not comes_after(mine, theirs)

    def receivers(self, process: Process) -> list[Process]:
        """List the processes for which a process keeps messages."""
        return [other for other, kept, _ in self._ground.kept_by(process) if kept]

    def silences(self, process: Process) -> list[Event]:
        """List the reports to UNICAST: of outsiders that are gone, or that it cannot reach."""
        return [
            ("silent", process.name, other.name)
            for other, _, sought in self._ground.kept_by(process)
            if sought and not (other.up and self._ground.connected(process, other))
        ]

    # Clocks

    def must_time_out(self, process: Process) -> bool:
        """Say whether nothing but its timer ends the merge that it is in. `MergeGroup!MustTimeOut`."""
        ground = self._ground
        mine = ground.merging_of(process)
        if any(getattr(message, "merge_id", None) == mine.merge for _, _, message in ground.on_the_way()):
            return False
        leader = ground.membership.current[mine.merge.leader]
        return leader is process or not leader.up or ground.merging_of(leader).merge != mine.merge

    def running(self, process: Process) -> list[str]:
        """List its timers of merging that are set, but for that of discovery."""
        timers = self._ground.timers[process].items()
        return [each for each, is_set in timers if is_set and each.startswith(self.timers) and each != self.discovery]

    def overdue(self, process: Process) -> list[str]:
        """List the timers that have to fire: of merges that nothing else ends, or of what came early."""
        ground, timers = self._ground, self.running(process)
        if timers and ground.merging_of(process).merging and not self.must_time_out(process):
            return []
        return timers

    # Owed events

    def due(self, process: Process) -> list[Event]:
        """List what the environment has to do for a process, in the end."""
        ground = self._ground
        found: list[Event] = [("suspect", process.name, other.name) for other in self.to_report(process)]
        found += self.silences(process) + self.formers(process)
        if process in ground.in_handler:
            found.append(("return", process.name))
        if ground.transfers.get(process) == "stopped":
            found.append(("transferred", process.name))
        if ground.applications is not None and ground.applications.of(process).reads:
            found.append(("read", process.name))
        if ground.timers[process].get(self.soon):
            found.append(("timer", process.name, self.soon))
        return found
