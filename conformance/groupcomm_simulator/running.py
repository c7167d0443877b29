"""Running a stack: many groups one after the other, each from a seed of its own, until a claim does not hold.

A run of n events is a number of groups of up to `PART` events. The first has the run's seed, the next one
more, and so on. `run_seed` is all that a group is: a function of its setup and its seed, whatever calls it
and where. The schedule of a violation is cut to what is needed, by leaving out events (delta debugging).
Events that cannot happen without the ones left out are skipped.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from random import Random
from signal import SIG_IGN, SIGINT, signal
from time import process_time
from typing import Final

from attrs import evolve, field, frozen

from groupcomm_simulator.judges.claims import CLAIMS, MERGING, Violation

from .chance import Chance
from .ground import Event, Ground, Told
from .lasting import outlast
from .rest import quiesce
from .setup import Setup

PART: Final = 5_000
"""The most events of a group."""

_REST: Final = 1_000  # events after which the group comes to rest
_LEAST, _MOST_MEMBERS = 2, 8
_BUDGET: Final = 1_000_000  # events that shrinking may run
_QUIESCE: Final = ("quiesce",)
_ENDS: Final = ("quiesce", "outlast")  # the kinds of event that stand for many


@frozen
class Found:
    """A violation in the group of a seed, of so many `members` and events, and what led to it."""

    claim: str
    text: str
    seed: int
    members: int
    events: int
    schedule: tuple[Event, ...]

    def __str__(self) -> str:
        return f"{self.claim}: {self.text}"


@frozen
class Result:
    """The result of a seed's group. It can be pickled.

    `happened`: how often each kind of event did, and besides `views`, `merged views`, `purges` and
    `restarts`. `judged`: how often each claim was judged, as something happened that it speaks of.
    `refused`: events that a stack refused, over weaker layers.
    """

    seed: int
    members: int
    events: int
    happened: Counter[str]
    judged: Counter[str]
    refused: int
    found: Found | None


@frozen
class Outcome:
    """The results of all groups of a run, added up. `seconds`: of processor time."""

    setup: Setup
    seed: int
    groups: int = 0
    events: int = 0
    seconds: float = 0.0
    happened: Counter[str] = field(factory=Counter)
    judged: Counter[str] = field(factory=Counter)
    refused: int = 0
    found: Found | None = None

    def and_then(self, result: Result, seconds: float) -> "Outcome":
        """Add the result of another seed."""
        return evolve(
            self,
            groups=self.groups + 1,
            events=self.events + result.events,
            seconds=self.seconds + seconds,
            happened=self.happened + result.happened,
            judged=self.judged + result.judged,
            refused=self.refused + result.refused,
            found=self.found or result.found,
        )

    @property
    def rate(self) -> float:
        """Events per second of processor time."""
        return self.events / self.seconds if self.seconds else 0.0

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims that something happened for, in the order of `CLAIMS`."""
        return tuple(claim for claim in claims_of(self.setup) if self.judged[claim])

    @property
    def not_exercised(self) -> tuple[str, ...]:
        """The claims of which nothing can be said: nothing happened that they speak of."""
        return tuple(claim for claim in claims_of(self.setup) if not self.judged[claim])

    @property
    def unjudged(self) -> tuple[str, ...]:
        """The guarantees of which no claim was judged. Without merges a group may do."""
        return tuple(
            name
            for name in self.setup.guarantees
            if name != MERGING and not any(self.judged[claim] for claim in CLAIMS[name])
        )


def claims_of(setup: Setup) -> tuple[str, ...]:
    """List what is claimed of a stack, but for what is claimed of any, or ignored."""
    claims = [claim for name in setup.guarantees for claim in CLAIMS[name] if claim not in setup.ignored]
    return tuple(dict.fromkeys([*claims, *(["GoesOnForEver"] if setup.faults.lasting else [])]))


def ground_of(setup: Setup, seed: int) -> tuple[Ground, Random, int]:
    """Make the group of a seed, its dice, and how many members it may have. Raises StackError."""
    random = Random(seed)  # noqa: S311 - dice, not secrets
    members = setup.members or random.randint(_LEAST, _MOST_MEMBERS)
    return Ground(setup, random), random, members


def run_seed(setup: Setup, seed: int, events: int = PART, *, budget: int = 0) -> Result:
    """Run the group of a seed for so many events: the same result whenever and wherever it is run.

    With a `budget` of events the schedule of a violation is shortened. Raises StackError for what is no
    stack.
    """
    ground, random, members = ground_of(setup, seed)
    schedule: list[Event] = []
    violation = _run(ground, Chance(ground, members, setup.faults, random), events, schedule)
    found = None
    if violation is not None:
        found = Found(violation.claim, violation.text, seed, members, events, tuple(schedule))
        found = shrink(setup, found, budget) if budget else found
    judged, happened = Counter(ground.verdicts.judged), Counter(ground.happened)
    return Result(seed, members, ground.events, happened, judged, ground.refused, found)


def simulate(
    setup: Setup, *, events: int, seed: int, workers: int = 1, progress: Callable[[int], None] = lambda _events: None
) -> Outcome:
    """Run groups until `events` events have happened, or a claim does not hold.

    The same but for the time that it takes, whenever it is run and by however many `workers`, processes that
    run the groups of the next seeds.
    """
    outcome, ahead = Outcome(setup, seed), deque[Future[tuple[Result, float]]]()
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _ignore_interrupts) if workers > 1 else None
    try:
        while outcome.events < events and outcome.found is None:
            at, left = seed + outcome.groups, events - outcome.events
            if pool is None or left < PART:
                done = _timed(setup, at, min(PART, left))
            else:
                while len(ahead) < min(2 * workers, left // PART):
                    ahead.append(pool.submit(_timed, setup, at + len(ahead), PART))
                done = ahead.popleft().result()
            outcome = outcome.and_then(*done)
            progress(outcome.events)
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)
    return outcome


def _timed(setup: Setup, seed: int, events: int) -> tuple[Result, float]:
    start = process_time()
    return run_seed(setup, seed, events), process_time() - start


def _ignore_interrupts() -> None:
    """Leave Ctrl-C, which the terminal sends to the workers too, to the process that they work for."""
    signal(SIGINT, SIG_IGN)


def _run(ground: Ground, chance: Chance, events: int, schedule: list[Event]) -> Violation | None:
    """Draw and perform events, and note them in the schedule; return the violation that they lead to."""

    def performed(event: Event) -> None:
        schedule.append(event)
        if not ground.perform(event):
            schedule.pop()

    try:
        for event in chance.first():
            performed(event)
        rest = _REST
        while ground.events < events:
            drawn = chance.draw()
            if drawn is not None:
                performed(drawn)
            if len(schedule) >= rest:
                rest += _REST
                _rest(ground, chance, schedule)
        _rest(ground, chance, schedule)
    except Violation as violation:
        return violation
    return None


def _rest(ground: Ground, chance: Chance, schedule: list[Event]) -> None:
    """Bear a fault that lasts, if one is asked for, and come to rest: each is one event of the schedule."""
    for event in (chance.lasting(), _QUIESCE):
        if event is not None:
            schedule.append(event)
            _end(ground, ground.perform, event)


def _end(ground: Ground, perform: Callable[[Event], bool], event: Event) -> None:
    """Perform many events that one event of the schedule stands for."""
    if event == _QUIESCE:
        quiesce(ground, perform)
    else:
        outlast(ground, perform, *map(str, event[1:]))


# Replaying and shrinking --------------------------------------------------------------------------


def replay(
    setup: Setup,
    seed: int,
    schedule: Iterable[Event],
    listener: Callable[[Ground, Event, Told | None], None] | None = None,
) -> tuple[Violation | None, list[Event]]:
    """Run a schedule; return the violation that it leads to, and the events that happened up to there.

    `listener` is called with each event, then with its steps at each stack.
    """
    ground, _, _ = ground_of(setup, seed)
    happened: list[Event] = []

    def perform(event: Event) -> bool:
        if listener is not None:
            ground.listener = lambda told: listener(ground, event, told)
        return ground.perform(event)

    try:
        for event in schedule:
            happened.append(event)
            if listener is not None:
                listener(ground, event, None)
            if event[0] in _ENDS:
                _end(ground, perform, event)
            elif not perform(event):
                happened.pop()
    except Violation as violation:
        return violation, happened
    return None, happened


def shrink(setup: Setup, found: Found, budget: int = _BUDGET) -> Found:
    """Find the same violation by fewer events: as few as can be found within a budget of events to be run."""
    spent = 0
    best = found

    def falls(candidate: Sequence[Event]) -> bool:
        nonlocal spent, best
        spent += len(candidate) + 10
        violation, happened = replay(setup, found.seed, candidate)
        if violation is None or violation.claim != found.claim:
            return False
        best = evolve(best, text=violation.text, schedule=tuple(happened))
        return True

    if not falls(_spread(setup, found)):
        falls(found.schedule)
    # First all events of a kind, or of a process; then runs of events, long ones first.
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
    """Put the events of the last rest in its place, if one of them is the violation."""
    if found.schedule[-1:] != (_QUIESCE,):
        return found.schedule
    ground, _, _ = ground_of(setup, found.seed)
    inner: list[Event] = []

    def performed(event: Event) -> bool:
        inner.append(event)
        return ground.perform(event)

    try:
        for event in found.schedule[:-1]:
            if event[0] in _ENDS:
                _end(ground, ground.perform, event)
            else:
                ground.perform(event)
        quiesce(ground, performed)
    except Violation:
        pass
    return (*found.schedule[:-1], *inner)
