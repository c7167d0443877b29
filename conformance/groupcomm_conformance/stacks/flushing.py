"""Who is there, and how that changes, where FLUSH stops the group: the events that are drawn seldom."""

from collections.abc import Callable
from random import Random
from typing import Final

from groupcomm.abstract.membership import Process

from .changes import Faults, Requests, one_of
from .flushed import Flushed
from .group import Event, Group

__all__ = ["Flushing"]

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
