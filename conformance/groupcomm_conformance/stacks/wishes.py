"""Who is there, and how that changes, where FLUSH makes the views: the events that are drawn seldom."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from groupcomm.abstract.membership import Process

from .changes import Drawn, Faults, one_of
from .flushed import Flushed
from .group import Event, Group

__all__ = ["Wishes"]

_DOUBTFUL: Final = 0.5  # the share of groups with false suspicions, if there are any
_NOTICES: Final = 0.2  # the share of draws of what FLUSH needs to go on
_SUDDEN: Final = 0.03  # the share of draws in which somebody crashes whose view is on its way
_ANYBODY: Final = 0.4  # the share of crashes and leaves that are not of who runs a flush
_BUSY: Final = 4  # who is there changes so many times as often as usual


class Wishes(Drawn):
    """Draws what the membership service beside FLUSH has to say, and what goes wrong around FLUSH."""

    busy: int = _BUSY

    def __init__(self, group: Group, flushed: Flushed, members: int, faults: Faults, random: Random) -> None:
        self._flushed = flushed
        self._doubts = random.random() < _DOUBTFUL
        super().__init__(group, members, faults, random)
        self.serving: Callable[[], Event | None] | None = self._serve

    def first(self) -> Iterator[Event]:
        """A member founds the group; the others ask to be let in."""
        names = [self._fresh() for _ in range(self._members)]
        for name in names:
            yield "start", name
        yield "found", names[0]
        for name in names[1:]:
            yield "join", name, names[0]

    def _weights(self) -> list[tuple[str, int, Callable[[], Event | None]]]:
        return [
            ("crash", 2, self._crash),
            ("join", 4, self._join),
            ("leave", 2, self._leave),
            ("suspicion", 1, self._doubt),
            ("partition", 1, self._partition),
            ("partition", 2, self._heal),
        ]

    def _some(self) -> Process | None:
        """A process, often one that runs a flush: what happens to that is what is hard. None if all are gone.

        (After false suspicions the last who stays may have been let go, too.)
        """
        if not self._group.up:
            return None
        running = [process for process in self._group.up if self._flushed.of(process).run.running]
        seldom = not running or self._random.random() < _ANYBODY
        return one_of(self._random, self._group.up if seldom else running)

    def _crash(self) -> Event | None:
        process = self._some()
        return ("crash", process.name) if process and (process.leaving or self._may_go()) else None

    def _leave(self) -> Event | None:
        process = self._some()
        if process is None or process.leaving or process.view is None or not self._may_go():
            return None
        return "leave", process.name

    def _doubt(self) -> Event | None:
        """Somebody is suspected who may be alive: in some groups, so that more is claimed of the others."""
        if not self._doubts or not self._group.up:
            return None
        process = one_of(self._random, self._group.up)
        watched = self._flushed.watched(process)
        return ("suspect", process.name, one_of(self._random, watched).name) if watched else None

    def _serve(self) -> Event | None:
        dice = self._random.random()
        if dice >= _NOTICES or not self._group.up:
            return None
        if dice < _SUDDEN and "crash" in self._kinds and self._may_go():
            sending = [p for p in self._group.up if self._flushed.of(p).run.phase == "view"]
            if sending:
                return "crash", one_of(self._random, sending).name
        process = one_of(self._random, self._group.up)
        due = self._flushed.due(process)
        return one_of(self._random, due) if due else None
