"""Short stories of a group, for who looks at a stack for the first time. The seed decides on the order."""

from collections.abc import Iterator
from random import Random
from typing import Final

from .changes import one_of
from .flushed import Flushed
from .group import Event, Group
from .lineages import Lineages
from .merging import Merging
from .running import Setup, group_of, run
from .scheduler import Scheduler
from .served import Served

__all__ = ["story"]

_EVENTS: Final = 36


def story(setup: Setup, *, events: int | None, seed: int) -> tuple[Event, ...]:
    """The first events of a group.

    With GMS, how its members come and go; with merging, how they part and meet; with FLUSH over GMS, how they
    lose their coordinator; with FLUSH over both, all of that.

    Raises Violation where a claim does not hold.
    """
    group, random, members = group_of(setup, seed)
    happening: Iterator[Event] | None = None
    match group.service:
        case Lineages() as lineages:
            happening = _a_life(group, lineages, random)
        case Flushed() as flushed:
            happening = _coordinator_lost(group, flushed, random)
        case Served() as served:
            happening = _comings_and_goings(group, served, random)
        case Merging() as merging:
            happening = _partition_and_healing(group, merging, random)
    if happening is not None:
        return tuple(event for event in happening if group.perform(event))[:events]
    schedule: list[Event] = []
    scheduler = Scheduler(group, members, setup.faults, random)
    violation = run(group, scheduler, events or _EVENTS, schedule, rests=False)
    if violation is not None:
        raise violation
    return tuple(schedule)


def _comings_and_goings(group: Group, served: Served, random: Random) -> Iterator[Event]:
    """A founds a group; three join at once; one of them leaves; A, the coordinator, crashes."""
    for name in "ABCD":
        yield "start", name
    yield "join", "A", "A"
    for name in random.sample("BCD", 3):
        yield "join", name, "A"
    yield from _all_that_follows(group, served, random)
    yield "leave", random.choice("BCD")
    yield from _all_that_follows(group, served, random)
    yield "crash", "A"
    yield from _all_that_follows(group, served, random)


def _all_that_follows(group: Group, served: Served, random: Random) -> Iterator[Event]:
    """What GMS has to do, until nothing is left: each event is one of those that can happen."""
    while True:
        able = served.notices()
        for process in group.up:
            if served.next_of(process) is not None:
                able.append(("install", process.name))
            able += served.due(process)
        if not able:
            return
        yield random.choice(able)


def _partition_and_healing(group: Group, merging: Merging, random: Random) -> Iterator[Event]:
    """A group of four is cut in two. Both halves go on, and multicast. The cut heals, and they merge."""
    for name in "ABCD":
        yield "start", name
    yield "found", "A"
    for name in "BCD":
        yield "admit", "A", name
        yield from _all_that_moves(group, merging, random)
    yield "multicast", "D"
    yield from _all_that_moves(group, merging, random)
    yield "partition", ("A", "B")
    for one, other in (("A", "C"), ("A", "D"), ("C", "A"), ("C", "B")):
        yield "doubt", one, other
    yield from _all_that_moves(group, merging, random)
    for name in random.sample("BD", 2):
        yield "multicast", name
    yield from _all_that_moves(group, merging, random)
    yield ("heal",)
    yield "discover", "A", ("A", "C")
    yield from _all_that_moves(group, merging, random)
    yield "multicast", "C"
    yield from _all_that_moves(group, merging, random)


def _all_that_moves(group: Group, merging: Merging, random: Random) -> Iterator[Event]:
    """What subgroups have to do, and what arrives, until nothing is left."""
    while True:
        able = merging.notices()
        for process in group.up:
            able += [("install", process.name, view.number) for view in merging.nexts_of(process)]
            if merging.waits_for_views(process):
                able.append(("timer", process.name, "merge/early"))
            if merging.decides(process) and merging.gone_for(process):
                able.append(("exclude", process.name))
            able += [
                ("data", process.name, sender.name, window.delivered + 1)
                for sender, window in group.multicast.windows.get(process, {}).items()
                if process.view is not None
                and window.delivered + 1 < group.multicast.next_seqno(sender, process.view)
            ]
        if not able:
            return
        yield random.choice(able)


def _coordinator_lost(group: Group, flushed: Flushed, random: Random) -> Iterator[Event]:
    """B and C join. A multicasts, and crashes when one of them has it. The other gets it before going on."""
    for name in "ABC":
        yield "start", name
    yield "join", "A", "A"
    for name in "BC":
        yield "join", name, "A"
    yield from _all_that_flushes(group, flushed, random)
    yield "multicast", "A"
    yield "data", one_of(random, "BC"), "A", 0
    yield "crash", "A"
    group.new_copies.clear()
    yield from _all_that_flushes(group, flushed, random)


def _a_life(group: Group, lineages: Lineages, random: Random) -> Iterator[Event]:
    """B and C join A. They talk; A crashes in the middle of a multicast. B and C are parted, and go on alone.

    The network heals, and they are one group again. C has the group stopped for a transfer of its state.
    """
    for name in "ABC":
        yield "start", name
    yield "join", "A", "A"
    for name in "BC":
        yield "join", name, "A"
    yield from _all_that_flushes(group, lineages, random)
    yield "multicast", one_of(random, "BC")
    yield from _all_that_flushes(group, lineages, random)
    yield "multicast", "A"
    yield "data", one_of(random, "BC"), "A", 1
    yield "crash", "A"
    group.new_copies.clear()
    yield from _all_that_flushes(group, lineages, random)
    yield "partition", ("B",)
    yield from _all_that_flushes(group, lineages, random)
    for name in "BC":
        yield "multicast", name
    yield from _all_that_flushes(group, lineages, random)
    yield ("heal",)
    yield "discover", "B", ("B", "C")
    yield from _all_that_flushes(group, lineages, random)
    yield "multicast", "C"
    yield from _all_that_flushes(group, lineages, random)
    yield "transfer", "C"
    yield from _all_that_flushes(group, lineages, random)


def _all_that_flushes(group: Group, flushed: Flushed, random: Random) -> Iterator[Event]:
    """What GMS and FLUSH have to do, and what arrives, until nothing is left."""
    while True:
        able = flushed.notices()
        able += [
            ("message", sender.name, receiver.name)
            for (sender, receiver), queue in group.unicast.wires.items()
            if queue and receiver.up
        ]
        able += [event for process in group.up for event in flushed.due(process)]
        able += [
            ("data", receiver.name, sender.name, seqno)
            for receiver, sender, number, seqno in group.new_copies
            if receiver.up
            and receiver.view is not None
            and receiver.view.number == number
            and flushed.may_receive(receiver, sender, seqno)
        ]
        if not able:
            return
        event = one_of(random, able)
        if event[0] == "data":
            group.new_copies[:] = [c for c in group.new_copies if (c[0].name, c[1].name, c[3]) != event[1:]]
        yield event
