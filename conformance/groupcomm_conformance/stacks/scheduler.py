"""Which event comes next: drawn at random among what may happen.

`Scheduler.draw` gives events that `Group.perform` may still refuse, which costs a draw. It looks at the group
as it is; all that it remembers of it are the copies, unicasts and datagrams that are on their way. Who is
there changes as `changes` has it.
"""

from collections.abc import Iterator
from random import Random
from typing import Final

from .apart import Partings
from .changes import Changes, Faults, Requests, Scripts, one_of, taken_out
from .flushed import Flushed
from .flushing import Flushing, Parting
from .group import Event, Group
from .lineages import Lineages
from .merging import Merging
from .served import Served

__all__ = ["Scheduler"]

# Shares of the draws: of what is on its way, of datagrams; beyond the last: of what happens seldom.
_TO_ARRIVE: Final = 0.62
_TO_GOSSIP: Final = 0.80
_TO_RUN: Final = 0.91
_UNICASTS: Final = 0.1
_MANY: Final = 40  # copies on their way per member, beyond which applications wait
_LOSS: Final = 0.1  # of copies on their way
_OF_THE_DEAD: Final = 0.5  # of those of a member that has crashed, where FLUSH has to make up for it
_GOSSIP: Final = 400  # datagrams on their way, beyond which the oldest are lost


class Scheduler:
    """Draws events for a group of up to `members` processes."""

    def __init__(self, group: Group, members: int, faults: Faults, random: Random) -> None:
        self._group = group
        self._members = members
        self._random = random
        self._kinds = faults.kinds
        self._changes = _changes_of(group, members, faults, random)
        self._serving = self._changes.serving
        self._rate = faults.rate * self._changes.busy
        self._rare = (self._missing, self._install, self._timer)

    def first(self) -> Iterator[Event]:
        """The events that a group begins with."""
        return self._changes.first()

    def draw(self) -> Event | None:
        """An event that may be possible now; None if none was found."""
        group = self._group
        dice = self._random.random
        # (The last may be let go, too, after false suspicions: then somebody comes.)
        if dice() < self._rate or not group.up:
            return self._changes.draw()
        if self._serving is not None:
            event = self._serving()
            if event is not None:
                return event
        choice = dice()
        on_the_way = len(group.new_copies) + len(group.new_unicasts)
        if choice < _TO_ARRIVE and on_the_way:
            if dice() * on_the_way < len(group.new_copies):
                return self._copy()
            return self._on_the_wire()
        if choice < _TO_GOSSIP and group.new_datagrams:
            return self._datagram()
        if choice > _TO_RUN:
            rare = self._rare[int(dice() * len(self._rare))]
            return rare()
        if on_the_way >= _MANY * len(group.up):
            return self._copy()
        process = one_of(self._random, group.up)
        if process.view is None:
            return None
        if dice() < _UNICASTS:
            return "unicast", process.name, one_of(self._random, group.up).name
        return "multicast", process.name

    # What is on its way

    def _copy(self) -> Event | None:
        group, random = self._group, self._random
        copies = group.new_copies
        if not copies:
            return None
        # The youngest and the oldest are at the ends: without reordering the oldest come first, nearly.
        at = int(random.random() * len(copies)) if "reordering" in self._kinds else 0
        copy = taken_out(copies, at)
        receiver, sender, number, seqno = copy
        view = receiver.view
        if not receiver.up or view is None:
            return None
        if number >= 0 and view.number != number:
            if view.number < number and random.random() < 0.9:  # noqa: PLR2004 - mostly it waits for its view
                copies.append(copy)
                return self._install()
            return None
        rate = _OF_THE_DEAD if not sender.up and group.service.gate is not None else _LOSS
        lost = not group.connected(receiver, sender) or ("loss" in self._kinds and random.random() < rate)
        if lost and receiver is not sender:
            return "lose", receiver.name, sender.name, seqno
        if "duplication" in self._kinds and random.random() < 0.02:  # noqa: PLR2004
            copies.append(copy)
        if group.layers.multicast == "lossy" and random.random() < 0.1:  # noqa: PLR2004
            return "skip", receiver.name, sender.name, seqno
        return "data", receiver.name, sender.name, seqno

    def _on_the_wire(self) -> Event | None:
        group, random = self._group, self._random
        wires = group.new_unicasts
        sender, receiver = taken_out(wires, int(random.random() * len(wires)))
        if not receiver.up:
            return None
        if not sender.up and sender not in group.departed and random.random() < 0.5:  # noqa: PLR2004
            return "drop", sender.name, receiver.name
        if not group.connected(sender, receiver):
            wires.append((sender, receiver))
            return None
        layer = group.layers.unicast
        if layer == "unordered":
            return "take", sender.name, receiver.name, int(random.random() * 4)
        if layer == "duplicating" and random.random() < 0.2:  # noqa: PLR2004
            return "again", sender.name, receiver.name
        if layer == "lossy" and random.random() < 0.1:  # noqa: PLR2004
            return "miss", sender.name, receiver.name
        return "message", sender.name, receiver.name

    def _datagram(self) -> Event | None:
        group, random = self._group, self._random
        datagrams = group.new_datagrams
        if len(datagrams) > _GOSSIP:
            late = datagrams[: -_GOSSIP // 2]
            datagrams[:] = [d for d in late if d[0] is d[2]] + datagrams[
                -_GOSSIP // 2 :
            ]  # own ones come back
        at = int(random.random() * len(datagrams)) if "reordering" in self._kinds else 0
        sender, number, receiver = taken_out(datagrams, at)
        if not receiver.up or not group.connected(sender, receiver):
            return None
        if "loss" in self._kinds and receiver is not sender and random.random() < 0.1:  # noqa: PLR2004
            return None
        if "duplication" in self._kinds and random.random() < 0.1:  # noqa: PLR2004
            datagrams.append((sender, number, receiver))
        return "gossip", sender.name, number, receiver.name

    def _missing(self) -> Event | None:
        """A member asks for a message that it lacks."""
        process = one_of(self._random, self._group.up)
        view = process.view
        if view is None:
            return None
        sender = one_of(self._random, view.processes)
        if sender is process:
            return None
        window = self._group.multicast.windows[process][sender]
        seqno = window.delivered + 1
        if seqno >= self._group.multicast.next_seqno(sender, view):
            return None
        return "data", process.name, sender.name, seqno

    def _timer(self) -> Event | None:
        process = one_of(self._random, self._group.up)
        timers = self._group.timers[process]
        if not timers:
            return None
        timer = one_of(self._random, list(timers))
        if timer.startswith(self._changes.timers):
            return None
        if not timers[timer] and self._random.random() < 0.9:  # noqa: PLR2004 - seldom, one that was cancelled
            return None
        return "timer", process.name, timer

    def _install(self) -> Event | None:
        process = one_of(self._random, self._group.up)
        after = self._group.service.next_of(process)
        if after is None:
            return None
        if self._group.synchrony is not None and not self._group.synchrony.may_install(process, after):
            lacking = self._group.synchrony.lacks(process)
            if lacking:
                sender, seqno = one_of(self._random, lacking)
                return "data", process.name, sender.name, seqno
        return "install", process.name


def _changes_of(group: Group, members: int, faults: Faults, random: Random) -> Changes:
    """What draws changes of who is there, as the group's views are decided."""
    match group.service:
        case Merging() as merging:
            return Partings(group, merging, members, faults, random)
        case Lineages() as lineages:
            return Parting(group, lineages, members, faults, random)
        case Flushed() as flushed:
            return Flushing(group, flushed, members, faults, random)
        case Served() as served:
            return Requests(group, served, members, faults, random)
        case _:
            return Scripts(group, members, faults, random)
