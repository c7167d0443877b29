"""Discovery, and the timers of merging: what merging alone, and merging over GMS, have in common in a group.

==========================================  ==========================================================
``discover P NAMES``                        P looks for coordinators, and finds these
==========================================  ==========================================================
"""

from collections.abc import Iterable, Iterator
from random import Random

from groupcomm import merge
from groupcomm.abstract.membership import NotAllowedError, Process
from groupcomm.stack import Fired

from .group import Event
from .wired import Wired

__all__ = ["Discovery"]

_FOUND = 0.8  # of the coordinators that there are, the share that is found
_IN_VAIN = 0.1  # of those that look, the share that do though another would lead


class Discovery(Wired):
    """A service that merges."""

    timers: tuple[str, ...] = ("merge/",)

    @property
    def discover(self) -> str:
        """The timer of discovery."""
        return f"{self.timers[0]}discover"

    def merging(self, process: Process) -> merge.State:
        """The state of merging at a process."""
        raise NotImplementedError

    def coordinators(self) -> list[Process]:
        """Who coordinates a view: whom discovery may find."""
        raise NotImplementedError

    def must_time_out(self, process: Process) -> bool:
        """Whether nothing but its timer ends the merge that a process is in. `MergeGroup!MustTimeOut`."""
        mine = self.merging(process)
        if any(getattr(m, "merge_id", None) == mine.merge for _, _, m in self.on_the_way()):
            return False
        leader = self._group.membership.current[mine.merge.leader]
        return leader is process or not leader.up or self.merging(leader).merge != mine.merge

    def overdue(self, process: Process) -> list[str]:
        """Timers that have to fire: of merges that nothing else ends, or of what came early."""
        if self.merging(process).merging and not self.must_time_out(process):
            return []
        timers = self._group.timers[process].items()
        return [t for t, is_set in timers if is_set and t.startswith(self.timers) and t != self.discover]

    def fire(self, process: Process, timer: str) -> None:
        """A timer of merging fires. Discovery finds all that can be found."""
        if timer == self.discover:
            self._look(process, [p for p in self.coordinators() if self._group.connected(p, process)])
        else:
            self._step(process, Fired(timer))

    def discoveries(self, process: Process, random: Random) -> Iterator[Event]:
        """That a coordinator finds others, some or all; mostly the one that leads then."""
        if process not in self.coordinators() or self.merging(process).merging:
            return
        found = [p for p in self.coordinators() if self._group.connected(p, process)]
        some = [p for p in found if p is process or random.random() < _FOUND]
        leads = min(p.address for p in some) == process.address
        if len(some) > 1 and (leads or random.random() < _IN_VAIN):
            yield "discover", process.name, tuple(p.name for p in some)

    def forget_timers(self) -> None:
        """Nothing is on its way: forget timers that are not set."""
        for process in self._group.up:
            timers = self._group.timers[process]
            for timer in [each for each, is_set in timers.items() if not is_set]:
                del timers[timer]

    def _discover(self, name: str, found: tuple[str, ...]) -> None:
        process = self._group.process(name)
        if not self._group.timers[process].get(self.discover):
            raise NotAllowedError(f"{process} does not look for others yet")
        others = [self._group.process(each) for each in found]
        if not all(self._group.connected(process, other) for other in others):
            raise NotAllowedError("a partition is between them")
        self._group.timers[process][self.discover] = False
        self._look(process, others)

    def _look(self, process: Process, found: Iterable[Process]) -> None:
        addresses = frozenset(other.address for other in found)
        self._step(process, Fired(self.discover, (addresses, *self._with_discovery(process))))

    def _with_discovery(self, _process: Process) -> tuple[object, ...]:
        """What else comes from the layers below when the timer fires."""
        return ()
