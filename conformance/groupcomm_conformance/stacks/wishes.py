"""Who is there, and how that changes, where FLUSH makes the views: the events that are drawn seldom."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from groupcomm.abstract.membership import Process

from .changes import Faults, Suspecting, one_of
from .flushed import Flushed
from .group import Event, Group

__all__ = ["Wishes"]

_NOTICES: Final = 0.2  # the share of draws of what FLUSH needs to go on
_SUDDEN: Final = 0.03  # the share of draws in which somebody crashes whose view is on its way
_ANYBODY: Final = 0.4  # the share of crashes and leaves that are not of who runs a flush


class Wishes(Suspecting):
    """Draws what the membership service beside FLUSH has to say, and what goes wrong around FLUSH."""

    def __init__(self, group: Group, flushed: Flushed, members: int, faults: Faults, random: Random) -> None:
        self._flushed = flushed
        super().__init__(group, flushed, members, faults, random)
        self.serving: Callable[[], Event | None] | None = self._serve

    def first(self) -> Iterator[Event]:
        """A member founds the group; the others ask to be let in."""
        names = yield from self._started()
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

    def _some(self) -> Process:
        """Often one that runs a flush: what happens to that is what is hard."""
        running = [process for process in self._group.up if self._flushed.of(process).run.running]
        seldom = not running or self._random.random() < _ANYBODY
        return one_of(self._random, self._group.up if seldom else running)

    def _serve(self) -> Event | None:
        dice = self._random.random()
        if dice >= _NOTICES:
            return None
        if dice < _SUDDEN and "crash" in self._kinds and self._may_go():
            sending = [p for p in self._group.up if self._flushed.of(p).run.phase == "view"]
            if sending:
                return "crash", one_of(self._random, sending).name
        process = one_of(self._random, self._group.up)
        due = self._flushed.due(process)
        return one_of(self._random, due) if due else None
