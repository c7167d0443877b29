"""Who is there, and how that changes: the events that are drawn seldom.

`Scripts` decides the views itself, with an abstract membership service. `Requests` asks for joins and leaves,
and lets crashes and suspicions happen; what becomes of them is for GMS to decide.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from random import Random
from typing import Final, Protocol, TypeVar

from attrs import frozen

from groupcomm.abstract.membership import Decided, Process
from groupcomm.view import address

from .group import Event, Group
from .served import Served

Item = TypeVar("Item")

__all__ = [
    "FAULTS",
    "Changes",
    "Drawn",
    "Faults",
    "Requests",
    "Scripts",
    "Suspecting",
    "decision",
    "ends_of",
    "one_of",
    "taken_out",
]

FAULTS: Final = (
    "loss",
    "duplication",
    "reordering",
    "partition",
    "crash",
    "join",
    "leave",
    "restart",
    "merge",
    "remerge",
    "suspicion",
)
"""What may happen to a group over sound layers.

A merge brings groups together that were founded apart, a remerge the sides of a split; a suspicion leaves
somebody out who is alive.
"""

_NAMES: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DOUBTFUL: Final = 0.5  # the share of groups with false suspicions, if there are any
_NOTICES: Final = 0.08  # the share of draws that is GMS's own, and FLUSH's, where they are there
_BUSY: Final = 4  # where it does, who is there changes so many times as often


@frozen
class Faults:
    """Which of `FAULTS` happen; `rate` is the share of draws that change who is there."""

    kinds: frozenset[str] = frozenset(FAULTS)
    rate: float = 0.02


def one_of(random: Random, items: Sequence[Item]) -> Item:
    """One of several, at random; `random.choice` takes five times as long."""
    return items[int(random.random() * len(items))]


def taken_out(items: list[Item], at: int) -> Item:
    """Take an item out of a list whose order does not matter: the last one gets its place."""
    items[at], items[-1] = items[-1], items[at]
    return items.pop()


class Changes(Protocol):
    """What draws changes of who is there.

    `serving`: draws what GMS or merging needs to go on, where it is there. `busy`: how many times as often as
    usual there are changes. `timers`: what the names of those timers begin with that are drawn here, and not
    with the others.
    """

    serving: Callable[[], Event | None] | None
    busy: int
    timers: tuple[str, ...]

    def first(self) -> Iterator[Event]:
        """The events that a group begins with."""

    def draw(self) -> Event | None:
        """An event that may be possible now; None if none was found."""


class Drawn:
    """What all have in common: addresses, crashes, partitions."""

    timers: tuple[str, ...] = ()

    def __init__(self, group: Group, members: int, faults: Faults, random: Random) -> None:
        self._group = group
        self._members = members
        self._random = random
        self._kinds = faults.kinds
        self._reuses = "restart" in faults.kinds  # addresses of former lives
        self._addresses = 0
        self._choices = [
            change
            for kind, weight, change in self._weights()
            if not kind or kind in self._kinds
            for _ in range(weight)
        ]

    def _weights(self) -> list[tuple[str, int, Callable[[], Event | None]]]:
        """The changes: the fault that each is, if any, how often it is drawn, and how."""
        raise NotImplementedError

    def draw(self) -> Event | None:
        """An event that may be possible now; None if none was found. With everybody gone, somebody comes."""
        if not self._group.up:
            return self._join()
        return self._choices[int(self._random.random() * len(self._choices))]()

    def _started(self) -> Generator[Event, None, list[str]]:
        """The events that start as many members as there may be; their names."""
        names = [self._fresh() for _ in range(self._members)]
        for name in names:
            yield "start", name
        return names

    def _founded(self) -> Generator[Event, None, tuple[list[str], list[str]]]:
        """The same; the names of those that are to found groups, and of the others."""
        names = yield from self._started()
        founders = self._random.randint(1, len(names)) if "merge" in self._kinds else 1
        return names[:founders], names[founders:]

    def _timer(self) -> Event | None:
        """A timer of merging fires early, or after it was stopped."""
        process = one_of(self._random, self._group.up)
        mine = [timer for timer in self._group.timers[process] if timer.startswith(self.timers)]
        return ("timer", process.name, one_of(self._random, mine)) if mine else None

    def _some(self) -> Process:
        """Who crashes or leaves."""
        return one_of(self._random, self._group.up)

    def _is_member(self, process: Process) -> bool:
        return process.view is not None

    def _crash(self) -> Event | None:
        process = self._some()
        return ("crash", process.name) if process.leaving or self._may_go() else None

    def _leave(self) -> Event | None:
        process = self._some()
        if process.leaving or not self._is_member(process) or not self._may_go():
            return None
        return "leave", process.name

    def _join(self) -> Event | None:
        group, random = self._group, self._random
        if len(group.up) >= self._members:
            return None
        if not self._reuses:
            return "start", self._fresh()
        gone = [a for a, last in group.membership.current.items() if not last.up]
        if gone and random.random() < 0.5:  # noqa: PLR2004
            return "start", one_of(self._random, gone)
        return "start", self._fresh()

    def _fresh(self) -> str:
        at = self._addresses
        self._addresses += 1
        names = _NAMES[: self._members]
        return address(names[at % len(names)], at // len(names) + 1)

    def _may_go(self) -> bool:
        """Whether enough members remain if one more goes."""
        staying = sum(not p.leaving and p.view is not None for p in self._group.up)
        return staying > max(1, self._members // 2)

    def _partition(self) -> Event | None:
        up = self._group.up
        if self._group.side or len(up) < 2:  # noqa: PLR2004
            return None
        names = [process.name for process in up]
        self._random.shuffle(names)
        return "partition", tuple(sorted(names[: self._random.randint(1, len(names) - 1)]))

    def _heal(self) -> Event | None:
        return ("heal",) if self._group.side else None


class Scripts(Drawn):
    """Draws changes of a group whose views are scripted."""

    serving: Callable[[], Event | None] | None = None
    busy: int = 1

    def first(self) -> Iterator[Event]:
        """The events that make a group of all members in one view."""
        names = yield from self._started()
        yield "decide", names[0], 1, tuple(names), ()
        for name in names:
            yield "install", name

    def _weights(self) -> list[tuple[str, int, Callable[[], Event | None]]]:
        return [
            ("", 6, self._decide),
            ("crash", 1, self._crash),
            ("join", 2, self._join),
            ("join", 3, self._promise),
            ("join", 1, self._withdraw),
            ("merge", 1, self._found),
            ("leave", 1, self._leave),
            ("partition", 1, self._partition),
            ("partition", 2, self._heal),
        ]

    def _crash(self) -> Event | None:
        process = one_of(self._random, self._group.up)
        if process.leaving:
            return ("crash", process.name) if process.view is not None and process.view.successors else None
        return ("crash", process.name) if self._may_go() else None

    def _joiners(self) -> list[Process]:
        membership = self._group.membership
        return [p for p in self._group.up if p.view is None and membership.next_of(p) is None]

    def _promise(self) -> Event | None:
        group = self._group
        joiners = [p for p in self._joiners() if group.digests.promised(p) is None]
        givers = [p for p in group.up if p.view is not None]
        if not joiners or not givers:
            return None
        return "promise", one_of(self._random, givers).name, one_of(self._random, joiners).name

    def _withdraw(self) -> Event | None:
        given = list(self._group.digests.open.values())
        if not given:
            return None
        promise = one_of(self._random, given)
        return "withdraw", promise.giver.name, promise.to.name

    def _found(self) -> Event | None:
        """A newcomer founds a group of its own."""
        joiners = [p for p in self._joiners() if self._group.digests.promised(p) is None]
        if not joiners:
            return None
        founder = one_of(self._random, joiners)
        return "decide", founder.name, self._random.randint(1, 3), (founder.name,), ()

    def _decide(self) -> Event | None:
        """A view after the end of somebody's path, or a merge of two."""
        group, random = self._group, self._random
        ends = ends_of(group)
        if not ends:
            return None
        creator = one_of(self._random, [p for going in ends.values() for p in going])
        base = group.membership.last_of(creator)
        if base is None or creator.view is None or creator.leaving:
            return None
        preds = [base]
        if not self._kinds.isdisjoint(("merge", "remerge")) and len(ends) > 1 and random.random() < 0.6:  # noqa: PLR2004
            other = one_of(self._random, list(ends))
            apart = {*base.processes}.isdisjoint(other.processes)  # overlapping views are not merged (MRG)
            if apart and any(group.connected(creator, p) for p in ends[other]):
                preds.append(other)
        return self._view(creator, preds, ends)

    def _view(
        self, creator: Process, preds: list[Decided], ends: dict[Decided, list[Process]]
    ) -> Event | None:
        group, random = self._group, self._random
        members: list[Process] = []
        for pred in preds:
            going = ends[pred]
            for process in pred.processes:
                if process.up:
                    there = process in going and group.connected(creator, process) and not process.leaving
                    if there and ("suspicion" not in self._kinds or random.random() < 0.97):  # noqa: PLR2004
                        members.append(process)
                elif random.random() < 0.3 and group.membership.last_of(process) is pred:  # noqa: PLR2004 - not noticed yet
                    members.append(process)
        if creator not in members:
            members.insert(0, creator)
        joining = [p for p in self._joiners() if group.connected(creator, p)] if len(preds) == 1 else []
        if not group.layers.synchrony:
            joining = [p for p in joining if group.digests.stands(p, preds[0])]
        members += joining
        if len(preds) > 1 and random.random() < 0.5:  # noqa: PLR2004
            members.sort(key=lambda process: process.address)
        taken: dict[str, Process] = {}
        for process in members:
            last = taken.get(process.address)
            if last is None or last.order < process.order:
                taken[process.address] = process
        members = [process for process in members if taken[process.address] is process]
        if len(preds) == 1 and tuple(members) == preds[0].processes and random.random() < 0.8:  # noqa: PLR2004
            return None
        return decision(group, creator, members, preds)


class Detecting(Protocol):
    """Failure detectors."""

    def watched(self, process: Process) -> list[Process]: ...


class Suspecting(Drawn):
    """What all have in common in which protocols decide the views, with failure detectors beside them.

    Somebody is suspected who may be alive in some groups only, so that more is claimed of the others.
    """

    busy: int = _BUSY

    def __init__(
        self, group: Group, detectors: Detecting, members: int, faults: Faults, random: Random
    ) -> None:
        self._detectors = detectors
        self._doubts = random.random() < _DOUBTFUL
        super().__init__(group, members, faults, random)

    def _doubt(self) -> Event | None:
        if not self._doubts:
            return None
        process = one_of(self._random, self._group.up)
        watched = self._detectors.watched(process)
        return ("suspect", process.name, one_of(self._random, watched).name) if watched else None


class Requests(Suspecting):
    """Draws what members of a group ask of GMS, and what goes wrong around it."""

    def __init__(self, group: Group, served: Served, members: int, faults: Faults, random: Random) -> None:
        self._served = served
        super().__init__(group, served, members, faults, random)
        if self._doubts and "suspicion" in faults.kinds:
            # On another line of views a later life might decide a view with the former one's identifier.
            self._reuses = False
        self.serving: Callable[[], Event | None] | None = self._serve

    def first(self) -> Iterator[Event]:
        """A member founds the group; the others ask to be let in."""
        names = yield from self._started()
        yield "join", names[0], names[0]
        for name in names[1:]:
            yield "join", name, names[0]

    def _weights(self) -> list[tuple[str, int, Callable[[], Event | None]]]:
        return [
            ("", 1, self._fetch),
            ("crash", 2, self._crash),
            ("join", 4, self._join),
            ("leave", 2, self._leave),
            ("suspicion", 1, self._doubt),
            ("partition", 1, self._partition),
            ("partition", 2, self._heal),
        ]

    def _is_member(self, process: Process) -> bool:
        return process in self._served.installed

    def _fetch(self) -> Event | None:
        return "fetch", one_of(self._random, self._group.up).name

    # What GMS needs to go on

    def _serve(self) -> Event | None:
        dice = self._random.random
        if dice() >= _NOTICES:
            return None
        if self._served.new_notices and dice() < 0.7:  # noqa: PLR2004
            return self._notice()
        process = one_of(self._random, self._group.up)
        if process not in self._served.installed:
            found = self._served.may_be_asked(process)
            return ("join", process.name, one_of(self._random, found).name) if found else None
        due = self._due(process)
        return one_of(self._random, due) if due else None

    def _due(self, process: Process) -> list[Event]:
        """What a process needs to go on."""
        return self._served.due(process)

    def _notice(self) -> Event | None:
        group, random, notices = self._group, self._random, self._served.new_notices
        sender, receiver = taken_out(notices, int(random.random() * len(notices)))
        if not receiver.up:
            return None
        if sender.up and not group.connected(sender, receiver):
            notices.append((sender, receiver))
            return None
        place = int(random.random() * 4) if "reordering" in self._kinds else 0
        lost = not sender.up and random.random() < 0.5  # noqa: PLR2004
        return "hush" if lost else "notice", sender.name, receiver.name, place


def ends_of(group: Group) -> dict[Decided, list[Process]]:
    """The ends of the paths of those who are up and have installed a view, and who goes there."""
    found: dict[Decided, list[Process]] = {}
    for process in group.up:
        if process.view is not None:
            end = group.membership.last_of(process)
            if end is not None:
                found.setdefault(end, []).append(process)
    return found


def decision(group: Group, creator: Process, members: list[Process], preds: list[Decided]) -> Event | None:
    """The event, if each view that is followed has somebody who can speak for it."""
    follows: list[str] = []
    for pred in preds:
        tellers = [
            p for p in pred.processes if p.up and p.view is pred and group.membership.last_of(p) is pred
        ]
        if creator in tellers:
            tellers = [creator]
        known = tellers or [p for p in pred.processes if group.membership.last_of(p) is pred]
        if not known:
            return None
        follows.append(known[0].name)
    counter = group.membership.counter(creator, preds)
    return "decide", creator.name, counter, tuple(p.name for p in members), tuple(follows)
