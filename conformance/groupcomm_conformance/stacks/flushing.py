"""Who is there, and how that changes, where FLUSH stops the group: the events that are drawn seldom."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from groupcomm.abstract.membership import Process

from .changes import Faults, Requests, one_of
from .flushed import Flushed
from .group import Event, Group
from .lineages import Lineages

__all__ = ["Flushing", "Parting"]

_ANYBODY: Final = 0.4  # the share of crashes and leaves that are not of who runs a flush


class Flushing(Requests):
    """Draws what members ask of GMS, what FLUSH needs, state transfers, and what goes wrong around them."""

    def __init__(self, group: Group, flushed: Flushed, members: int, faults: Faults, random: Random) -> None:
        self._flushed = flushed
        super().__init__(group, flushed, members, faults, random)

    def _weights(self) -> list[tuple[str, int, Callable[[], Event | None]]]:
        return [*super()._weights(), ("", 2, self._transfer)]

    def _transfer(self) -> Event | None:
        return "transfer", one_of(self._random, self._group.up).name

    def _some(self) -> Process:
        """Often one that runs a flush: what happens to that is what is hard."""
        running = [process for process in self._group.up if self._flushed.flush_of(process).running]
        seldom = not running or self._random.random() < _ANYBODY
        return one_of(self._random, self._group.up if seldom else running)


class Parting(Flushing):
    """Draws, too, what happens to groups that part and become one again."""

    def __init__(
        self, group: Group, lineages: Lineages, members: int, faults: Faults, random: Random
    ) -> None:
        self._lineages = lineages
        self.timers = lineages.timers
        super().__init__(group, lineages, members, faults, random)
        self._reuses = "restart" in self._kinds  # where identifiers are not used again (`may_be_asked`)

    def first(self) -> Iterator[Event]:
        """Some found groups, the others ask one of them to be let in."""
        founders, others = yield from self._founded()
        for name in founders:
            yield "join", name, name
        for name in others:
            yield "join", name, one_of(self._random, founders)

    def _weights(self) -> list[tuple[str, int, Callable[[], Event | None]]]:
        return [
            *super()._weights(),
            ("merge", 1, self._found),
            ("", 2, self._timer),
            ("partition", 1, self._partition),
        ]

    def _found(self) -> Event | None:
        """A newcomer founds a group of its own."""
        process = one_of(self._random, self._group.up)
        return None if process in self._lineages.installed else ("join", process.name, process.name)

    def _due(self, process: Process) -> list[Event]:
        """What it needs to go on; if it coordinates, it looks for others, and may find some of them only."""
        due = self._lineages.due(process)
        due += [("timer", process.name, timer) for timer in self._lineages.overdue(process)]
        return [*due, *self._lineages.discoveries(process, self._random)]
