"""Running a stack: many groups one after the other, each from a seed of its own, until a claim does not hold.

A run of n events is a number of groups of up to `PART` events. The first has the run's seed, the next one
more, and so on: whatever a group does is decided by its seed alone, so that a violation in the 800,000th
event is had again in a second. Its schedule is then cut to what is needed, by leaving out events (delta
debugging): those that cannot happen without what was left out are skipped.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules
from random import Random
from time import process_time
from typing import Any, Final

import attrs
from attrs import evolve, field, frozen

import groupcomm
from groupcomm.stack import AnyCore, Layer, Stack, StackError

from .changes import FAULTS, Faults
from .claims import CLAIMS, JUDGED_AS, Violation
from .flushed import FLUSH, Flushed
from .group import Bare, Event, Group, Layers, Service, Told
from .lineages import LAYER as LINEAGES
from .lineages import Lineages
from .merging import Merging
from .rest import quiesce
from .scheduler import Scheduler
from .scripted import Scripted
from .served import Served
from .synchrony import Watched
from .traffic import Traffic

__all__ = [
    "GROUND",
    "PART",
    "WHOLE",
    "Found",
    "Outcome",
    "Setup",
    "replay",
    "shrink",
    "simulate",
    "stack_of",
]

WHOLE: Final = "sequencer/flush/merge/gms/stable"
"""All protocols, one stack."""

GROUND: Final = (
    "Membership",
    "VirtualSynchrony",
    "JoinDigest",
    "ReliableMulticast",
    "ReliableUnicast",
    "Network",
)
"""The abstract layers that stand below a stack, by the modules of `spec/common` that say what they give."""

PART: Final = 10_000
_REST: Final = 1_000  # events after which the group comes to rest
_LEAST, _MOST_MEMBERS = 2, 8
_BUDGET: Final = 1_000_000  # events that shrinking may run
_LARGEST: Final = 8  # of the numbers of a configuration, which a seed draws
_SERVICES: Final = ("gms", "merge", LINEAGES)
_QUIESCE: Final = ("quiesce",)


@frozen
class Setup:
    """What is run. `members` None: each group draws how many, from 2 to 8; `core`: instead of a layer's own.

    `ignored`: claims that are not judged.
    """

    names: tuple[str, ...]
    members: int | None = None
    faults: Faults = field(factory=Faults)
    layers: Layers = field(factory=Layers)
    ignored: frozenset[str] = frozenset()
    cores: tuple[tuple[str, AnyCore], ...] = ()


@frozen
class Found:
    """A violation, the seed of its group, how many events that was to have, and those that led to it."""

    violation: Violation
    seed: int
    members: int
    events: int
    schedule: tuple[Event, ...]


@frozen
class Outcome:
    """What a run did: events by kind, how many were refused by a stack, and what was found, if anything."""

    events: int
    groups: int
    seconds: float
    kinds: Counter[object]
    refused: int
    found: Found | None

    @property
    def rate(self) -> float:
        """Events per second of processor time."""
        return self.events / self.seconds if self.seconds else 0.0


def stack_of(setup: Setup, random: Random) -> tuple[Stack | None, Stack | None]:
    """The stack of named protocols, top first, each with a configuration that is drawn.

    And by itself the one that decides on views, if there is one: GMS, or merging.

    Raises StackError for a name that is no protocol's, and for a stack that cannot stand.
    """
    replaced = dict(setup.cores)
    layers = []
    for name in _layers(setup.names):
        module = _protocol(name)
        core = replaced.get(name, module)
        core = Watched(core) if name == FLUSH else core
        layers.append(Layer.of(core, _drawn(module.Config, random), declared_by=module))
    names = [layer.name for layer in layers]
    deciding = [name for name in names if name in _SERVICES]
    flushes = FLUSH in names
    if flushes and names[names.index(FLUSH) + 1 :][:1] not in (["gms"], [LINEAGES]):
        raise StackError("flush stands on gms, or on merge/gms, which decides the views")
    if LINEAGES in names and not flushes:
        raise StackError("flush stands above merge/gms: it stops the groups that merge")
    for upper, lower in pairwise(layers):  # LAY-02: what needs synchronous views is above what does not
        if "VirtualSynchrony" in lower.assumes and "VirtualSynchrony" not in upper.assumes:
            raise StackError(f"{lower.name} stands above {upper.name}")
    if not deciding:
        return Stack(tuple(layers), GROUND), None
    if len(deciding) > 1:
        raise StackError("where merge and gms stand in one stack, merge stands right above gms")
    name = deciding[0]
    place = names.index(name)
    above, below = tuple(layers[:place]), tuple(layers[place + 1 :])
    if above and name == "merge":
        raise StackError("nothing stands above merge without gms: its views are not synchronous")
    if above and below and not flushes:
        raise StackError(f"{name} stands above all other layers or below them, not between them")
    for layer in above:
        if layer.name != FLUSH and "VirtualSynchrony" not in layer.assumes:
            raise StackError(f"{layer.name} stands below {name}")
    rest = above + below
    return (Stack(rest, GROUND) if rest else None), Stack((layers[place],), GROUND)


def _layers(names: Sequence[str]) -> list[str]:
    """The layers of a stack by their modules: merge right above gms is one."""
    found: list[str] = []
    for name in names:
        if name == "gms" and found[-1:] == ["merge"]:
            found[-1] = LINEAGES
        else:
            found.append(name)
    return found


def guarantees(names: Sequence[str]) -> tuple[str, ...]:
    """What protocols give that is judged here, by the modules of `spec/common`. Raises StackError."""
    return tuple(
        judged
        for name in _layers(names)
        for given in _protocol(name).GIVES
        if (judged := JUDGED_AS.get((name, given), given)) in CLAIMS
    )


def borne(names: Sequence[str]) -> frozenset[str]:
    """The faults that a stack bears: all, but merges where GMS decides the views without merging."""
    merges = frozenset({"merge", "remerge"})
    return frozenset(FAULTS) - (merges if "gms" in _layers(names) else frozenset())


def _protocol(name: str) -> Any:  # noqa: ANN401 - a module
    if not name.isidentifier():
        raise StackError(f"{name!r} is no protocol; a stack is names with / between, as sequencer/stable")
    try:
        module = import_module(f"groupcomm.{name}")
    except ModuleNotFoundError:
        raise StackError(f"no protocol is called {name!r}; there is {', '.join(_protocols())}") from None
    if not hasattr(module, "ASSUMES"):
        raise StackError(f"groupcomm.{name} is no protocol: it does not say what it assumes")
    return module


def _protocols() -> list[str]:
    """The modules of `groupcomm` that say what they assume of the layers below."""
    names = sorted(each.name for each in iter_modules(groupcomm.__path__))
    return [name for name in names if hasattr(import_module(f"groupcomm.{name}"), "ASSUMES")]


def _drawn(config: type, random: Random) -> object:
    """A configuration, whose numbers are small: no time passes in a simulation, and messages are small."""
    return config(**{each.name: random.randint(0, _LARGEST) for each in attrs.fields(config)})


def group_of(setup: Setup, seed: int) -> tuple[Group, Random, int]:
    """The group of a seed, its dice, and how many members it may have."""
    random = Random(seed)  # noqa: S311 - dice, not secrets
    members = setup.members or random.randint(_LEAST, _MOST_MEMBERS)
    stack, deciding = stack_of(setup, random)
    # What stands on virtual synchrony is given it; for the others views come as they like.
    flushes = FLUSH in setup.names
    synchronous = flushes or (
        setup.layers.synchrony
        and any("VirtualSynchrony" in layer.assumes for layer in (stack.layers if stack else ()))
    )
    judged = {name for layer in (stack.layers if stack else ()) for name in layer.gives}
    group = Group(
        stack or Bare(),
        evolve(setup.layers, synchrony=synchronous),
        judged=judged & CLAIMS.keys(),
        service=_service(deciding, setup) if deciding else Scripted,
        traffic=lambda group: Traffic(group).events,
        remerge="remerge" in setup.faults.kinds,
        weak=not (setup.layers.synchrony and setup.layers.sound),
        ignored=setup.ignored,
    )
    return group, random, members


def _service(deciding: Stack, setup: Setup) -> Callable[[Group], Service]:
    """Who decides the views of a group."""
    if FLUSH in setup.names:
        flushed = Lineages if deciding.layers[0].name == LINEAGES else Flushed
        return partial(flushed, stack=deciding, ignored=setup.ignored)
    return partial(Merging if deciding.layers[0].name == "merge" else Served, stack=deciding)


def simulate(
    setup: Setup,
    *,
    events: int,
    seed: int,
    progress: Callable[[int], None] = lambda _events: None,
) -> Outcome:
    """Run groups until `events` events have happened, or a claim does not hold.

    The same but for the time that it takes, whenever it is run.
    """
    kinds: Counter[object] = Counter()
    done = groups = refused = 0
    found: Found | None = None
    start = process_time()
    while done < events and found is None:
        group, random, members = group_of(setup, seed + groups)
        schedule: list[Event] = []
        scheduler = Scheduler(group, members, setup.faults, random)
        part = min(PART, events - done)
        violation = run(group, scheduler, part, schedule)
        if violation is not None:
            found = Found(violation, seed + groups, members, part, tuple(schedule))
        groups += 1
        kinds.update(group.happened)
        done += group.events
        refused += group.refused
        progress(done)
    return Outcome(done, groups, process_time() - start, kinds, refused, found)


def run(
    group: Group, scheduler: Scheduler, events: int, schedule: list[Event], *, rests: bool = True
) -> Violation | None:
    """Draw and perform events, which the schedule is given: the violation that they lead to, if any."""
    perform = group.perform

    def performed(event: Event) -> bool:
        schedule.append(event)
        if perform(event):
            return True
        schedule.pop()
        return False

    try:
        for event in scheduler.first():
            performed(event)
        rest = _REST
        while group.events < events:
            drawn = scheduler.draw()
            if drawn is not None:
                performed(drawn)
            if rests and len(schedule) >= rest:
                rest += _REST
                _rest(group, schedule)
        if rests:
            _rest(group, schedule)
    except Violation as violation:
        return violation
    return None


def _rest(group: Group, schedule: list[Event]) -> None:
    """Come to rest: one event of the schedule."""
    schedule.append(_QUIESCE)
    quiesce(group, group.perform)


# Replaying and shrinking --------------------------------------------------------------------------


def replay(
    setup: Setup,
    seed: int,
    schedule: Iterable[Event],
    listener: Callable[[Group, Event, Told | None], None] | None = None,
) -> tuple[Violation | None, list[Event]]:
    """Run a schedule: the violation that it leads to, and the events that happened up to there.

    `listener` is told each event, then what it did at each stack.
    """
    group, _, _ = group_of(setup, seed)
    happened: list[Event] = []

    def perform(event: Event) -> bool:
        if listener is not None:
            group.listener = lambda told: listener(group, event, told)
        return group.perform(event)

    try:
        for event in schedule:
            happened.append(event)
            if listener is not None:
                listener(group, event, None)
            if event == _QUIESCE:
                quiesce(group, perform)
            elif not perform(event):
                happened.pop()
    except Violation as violation:
        return violation, happened
    return None, happened


def shrink(setup: Setup, found: Found, budget: int = _BUDGET) -> Found:
    """The same violation from fewer events: as few as can be found within a budget of events to be run."""
    claim = found.violation.claim
    spent = 0
    best = found

    def falls(candidate: Sequence[Event]) -> bool:
        nonlocal spent, best
        spent += len(candidate) + 10
        violation, happened = replay(setup, found.seed, candidate)
        if violation is None or violation.claim != claim:
            return False
        best = evolve(best, violation=violation, schedule=tuple(happened))
        return True

    if not falls(_spread(setup, found)):
        falls(found.schedule)
    # First all events of one kind, or of one process; then runs of events, long ones first.
    for word in dict.fromkeys(part for event in best.schedule for part in event if isinstance(part, str)):
        without = [event for event in best.schedule if word not in event]
        if word != _QUIESCE[0] and len(without) < len(best.schedule) and spent < budget:
            falls(without)
    size = max(1, len(best.schedule) // 2)
    while spent < budget:
        place, before = 0, len(best.schedule)
        while place < len(best.schedule) and spent < budget:
            kept = best.schedule
            if not falls(kept[:place] + kept[place + size :]):
                place += size
        if size == 1 and len(best.schedule) == before:
            break
        size = max(1, size // 2)
    return best


def _spread(setup: Setup, found: Found) -> tuple[Event, ...]:
    """The schedule with the events of its last rest in place of that, if one of them is the violation."""
    if found.schedule[-1:] != (_QUIESCE,):
        return found.schedule
    group, _, _ = group_of(setup, found.seed)
    inner: list[Event] = []

    def performed(event: Event) -> bool:
        inner.append(event)
        return group.perform(event)

    try:
        for event in found.schedule[:-1]:
            if event == _QUIESCE:
                quiesce(group, group.perform)
            else:
                group.perform(event)
        quiesce(group, performed)
    except Violation:
        pass
    return (*found.schedule[:-1], *inner)
