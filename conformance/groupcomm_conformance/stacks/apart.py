"""What happens to subgroups that part and merge: drawn, and at the end.

`Partings` draws it: groups founded apart, joins, leaves, crashes, partitions, and what follows from them.
`unite` lets everything come to an end: nothing is lost any more, and all who are up become one group.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from groupcomm.abstract.membership import Process

from .changes import Drawn, Faults, one_of, taken_out
from .group import Event, Group
from .merging import Merging

__all__ = ["Partings", "unite"]

_NOTICES: Final = (0.01, 0.2, 0.6)  # the share of draws that belongs to merging, in a group
_BUSY: Final = 4  # who is there changes so many times as often as elsewhere
_LOST: Final = 0.2  # of what cannot arrive, the share that is lost when it is looked at
_PATIENCE: Final = 300


class Partings(Drawn):
    """Draws what happens to groups that part and merge."""

    busy: int = _BUSY

    def __init__(self, group: Group, merging: Merging, members: int, faults: Faults, random: Random) -> None:
        self._merging = merging
        self.timers = merging.timers
        self._share = one_of(random, _NOTICES)
        super().__init__(group, members, faults, random)
        self.serving: Callable[[], Event | None] | None = self._serve

    def first(self) -> Iterator[Event]:
        """Some found groups, the others are let in."""
        founders, others = yield from self._founded()
        for name in founders:
            yield "found", name
        for name in others:
            yield "admit", one_of(self._random, founders), name

    def _weights(self) -> list[tuple[str, int, Callable[[], Event | None]]]:
        return [
            ("crash", 1, self._crash),
            ("join", 2, self._join),
            ("merge", 2, self._found),
            ("leave", 1, self._leave),
            ("suspicion", 1, self._doubt),
            ("partition", 2, self._partition),
            ("partition", 2, self._heal),
            ("", 2, self._timer),
        ]

    def _found(self) -> Event | None:
        joiners = self._joiners()
        return ("found", one_of(self._random, joiners).name) if joiners else None

    def _joiners(self) -> list[Process]:
        return [p for p in self._group.up if p.view is None and not self._merging.nexts_of(p)]

    def _doubt(self) -> Event | None:
        """Somebody is suspected who is alive and can be reached."""
        process = one_of(self._random, self._group.up)
        if process.view is None:
            return None
        return "doubt", process.name, one_of(self._random, process.view.processes).name

    # What the membership service and merging need to go on

    def _serve(self) -> Event | None:
        if self._random.random() >= self._share:
            return None
        if self._merging.new_notices and self._random.random() < 0.7:  # noqa: PLR2004
            return self._notice()
        process = one_of(self._random, self._group.up)
        due = [*self._due(process)]
        return one_of(self._random, due) if due else None

    def _due(self, process: Process) -> Iterator[Event]:
        group, merging = self._group, self._merging
        view = process.view
        for after in merging.nexts_of(process):
            yield "install", process.name, after.number
        if view is None:
            return
        for other in view.processes:
            if other.up and not group.connected(process, other):
                yield "doubt", process.name, other.name
        for timer in merging.overdue(process):
            yield "timer", process.name, timer
        if merging.decides(process):
            if merging.gone_for(process):
                yield "exclude", process.name
            else:
                for joiner in self._joiners():
                    if merging.may_come_to(joiner, process):
                        yield "admit", process.name, joiner.name
        yield from merging.discoveries(process, self._random)

    def _notice(self) -> Event | None:
        group, random, notices = self._group, self._random, self._merging.new_notices
        sender, receiver = taken_out(notices, int(random.random() * len(notices)))
        if not receiver.up:
            return None
        place = int(random.random() * 4) if "reordering" in self._kinds else 0
        cut = sender.up and not group.connected(sender, receiver)
        if cut and random.random() >= _LOST:
            notices.append((sender, receiver))
            return None
        lost = cut or (not sender.up and random.random() < 0.5)  # noqa: PLR2004
        return "hush" if lost else "notice", sender.name, receiver.name, place


def unite(
    group: Group, merging: Merging, settle: Callable[[], bool], perform: Callable[[Event], bool]
) -> None:
    """All that can happen does, and everybody becomes one group.

    `settle` lets arrive what is on its way among the layers below, and says whether anything was.
    """
    for _ in range(_PATIENCE):
        if not (merging.arrives(perform) | settle() | _follows(group, merging, perform)) and not (
            _times_out(group, merging, perform) or _looks(merging, perform)
        ):
            break
    merging.quiet()


def _follows(group: Group, merging: Merging, perform: Callable[[Event], bool]) -> bool:
    """Views are installed; who is gone is left out, and who waits is let in."""
    done = False
    for process in list(group.up):
        if process.leaving:
            done |= perform(("crash", process.name))
            continue
        if merging.waits_for_views(process):
            done |= perform(("timer", process.name, "merge/early"))
        if merging.next_of(process) is not None:
            done |= perform(("install", process.name))
        if merging.gone_for(process):
            done |= perform(("exclude", process.name))
    for joiner in group.up:
        if joiner.view is None and merging.next_of(joiner) is None:
            deciders = [process for process in group.up if merging.decides(process)]
            nobody = all(process.view is None for process in group.up)
            if any(perform(("admit", process.name, joiner.name)) for process in deciders) or (
                (nobody or deciders) and perform(("found", joiner.name))
            ):
                done = True
    return done


def _times_out(group: Group, merging: Merging, perform: Callable[[Event], bool]) -> bool:
    """Timers of merges fire, as nothing else happens."""
    done = False
    for process in group.up:
        for timer in [t for t, is_set in group.timers[process].items() if is_set]:
            if timer.startswith(merging.timers) and timer != merging.discover:
                done |= perform(("timer", process.name, timer))
    return done


def _looks(merging: Merging, perform: Callable[[Event], bool]) -> bool:
    """Who coordinates looks for others; whether there are any."""
    found = merging.coordinators()
    for process in found:
        perform(("timer", process.name, merging.discover))
    return len(found) > 1
