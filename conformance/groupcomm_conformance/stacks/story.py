"""Short stories of a group, for who looks at a stack for the first time. The seed decides on the order."""

from collections.abc import Iterator
from random import Random
from typing import Final

from .group import Event, Group
from .running import Setup, group_of, run
from .scheduler import Scheduler
from .served import Served

__all__ = ["story"]

_EVENTS: Final = 36


def story(setup: Setup, *, events: int | None, seed: int) -> tuple[Event, ...]:
    """The first events of a group; of one with GMS, how its members come and go.

    Raises Violation where a claim does not hold.
    """
    group, random, members = group_of(setup, seed)
    if isinstance(group.service, Served):
        happening = _comings_and_goings(group, group.service, random)
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
        able: list[Event] = [
            ("notice", sender.name, receiver.name, 0)
            for (sender, receiver), queue in served.wires.wires.items()
            if queue and receiver.up
        ]
        for process in group.up:
            if served.next_of(process) is not None:
                able.append(("install", process.name))
            able += [("timer", process.name, name) for name in served.timers_of(process)]
            able += [("suspect", process.name, other.name) for other in served.to_report(process)]
            if served.questions.get(process):
                able.append(("digest", process.name))
        if not able:
            return
        yield random.choice(able)
