"""A schedule of a group over the whole stack, for a reader who looks at it for the first time."""

from collections.abc import Iterator
from random import Random
from typing import Final

from groupcomm_simulator.chance import one_of
from groupcomm_simulator.ground import Event, Ground
from groupcomm_simulator.running import ground_of
from groupcomm_simulator.setup import DATAGRAMS, Faults, Setup

LIFE: Final = Setup(members=3, faults=Faults(frozenset({"loss", "crash", "leave"})), bundle=1)
"""The whole stack, at three members."""

LOST: Final = Setup(DATAGRAMS, members=3, faults=Faults(frozenset({"loss"})), bundle=1)
"""The whole stack over nothing but a network."""


def story(seed: int) -> tuple[Event, ...]:
    """Give the events of the schedule.

    The seed decides on their order. Raises Violation where a claim does not hold.
    """
    ground, random, _ = ground_of(LIFE, seed)
    return tuple(event for event in _life(ground, random) if ground.perform(event))


def lost(seed: int) -> tuple[Event, ...]:
    """Give the events of a multicast of which two datagrams are lost, as `story` does."""
    ground, random, _ = ground_of(LOST, seed)
    return tuple(event for event in _lost(ground, random) if ground.perform(event))


def _lost(ground: Ground, random: Random) -> Iterator[Event]:
    """B and C join A. B multicasts: its FORWARD to A is lost, and UNICAST sends it again by its timer.

    A gives it a place in the order, and its DATA to C is lost. C hears of it by A's HIGHEST, and asks for it.
    """
    yield from _group_of_three(ground, random)
    yield "multicast", "B"
    yield from [("lose", *copy) for copy in _copies(ground, "B", "A", "unicast")]
    b = ground.process("B")
    yield from [("timer", "B", timer) for timer in ground.carrying(b) if timer.startswith("unicast/")]
    yield from [("copy", *copy) for copy in _copies(ground, "B", "A", "unicast")]
    yield from [("lose", *copy) for copy in _copies(ground, "A", "C", "nakack")]
    yield from _all_that_follows(ground, random)
    yield "timer", "A", "nakack/highest"
    yield from _all_that_follows(ground, random)
    yield "timer", "C", "nakack/request"
    yield from _all_that_follows(ground, random)


def _group_of_three(ground: Ground, random: Random) -> Iterator[Event]:
    """A founds a group, and B and C join it."""
    for name in "ABC":
        yield "start", name
    yield "join", "A", "A"
    for name in "BC":
        yield "join", name, "A"
    yield from _all_that_follows(ground, random)


def _copies(ground: Ground, sender: str, to: str, layer: str) -> list[tuple[str, int, str]]:
    """List the datagrams of a layer that are on their way from one process to another."""
    return [
        (sender, number, to)
        for (one, number, other), message in ground.copies.items()
        if (one.name, other.name, message.layer) == (sender, to, layer)
    ]


def _life(ground: Ground, random: Random) -> Iterator[Event]:
    """B and C join A. They talk; A crashes in the middle of a multicast. B and C are parted.

    Each continues alone. The network heals, and they are one group again. C has the group stopped for a
    transfer of its state.
    """
    yield from _group_of_three(ground, random)
    yield "multicast", one_of(random, "BC")
    yield from _all_that_follows(ground, random)
    yield "multicast", "A"
    has = one_of(random, "BC")
    copies = [copy for copy in ground.copies if copy[0].name == "A"]
    for sender, number, receiver in copies:
        if receiver.name == has:
            yield "copy", sender.name, number, receiver.name
    yield "multicast", "B"  # its FORWARD is lost with A: the next coordinator orders it
    yield "crash", "A"
    for sender, number, receiver in copies:
        yield "lose", sender.name, number, receiver.name
    yield from _all_that_follows(ground, random)
    yield "partition", ("B",)
    yield from _all_that_follows(ground, random)
    for name in "BC":
        yield "multicast", name
    yield from _all_that_follows(ground, random)
    for name in "BC":
        yield "timer", name, "stable/stable"
    yield from _all_that_follows(ground, random)
    yield ("heal",)
    yield "discover", "B", ("B", "C")
    yield from _all_that_follows(ground, random)
    yield "multicast", "C"
    yield from _all_that_follows(ground, random)
    yield "transfer", "C"
    yield from _all_that_follows(ground, random)
    for name in "BC":
        yield "timer", name, "stable/stable"
    yield from _all_that_follows(ground, random)


def _all_that_follows(ground: Ground, random: Random) -> Iterator[Event]:
    """Give the events of layers and network until nothing is left: each event may happen now."""
    while True:
        able: list[Event] = [
            ("message", sender.name, receiver.name)
            for (sender, receiver), queue in ground.queues.items()
            if queue and receiver.up and (not sender.up or ground.reaches(sender, receiver))
        ]
        able += [
            ("copy", sender.name, number, receiver.name)
            for sender, number, receiver in ground.copies
            if receiver.up and (not sender.up or ground.reaches(sender, receiver))
        ]
        for process in ground.up:
            able += ground.oracle.due(process)
            able += [
                ("timer", process.name, timer)
                for timer, is_set in ground.timers[process].items()
                if is_set and timer == "stable/stability"
            ]
        if not able:
            return
        yield one_of(random, able)
