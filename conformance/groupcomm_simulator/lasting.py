"""A fault that lasts: one link between two members is dead for ever, and all else is sound.

Two that cannot reach one another suspect one another. A third member reaches both, and discovery brings together what
the two part: views may come and go for ever. So the group is never at rest, and what is claimed of the end is not
claimed here. What is judged is that nobody waits for ever.
"""

from collections.abc import Callable
from itertools import chain
from typing import Final

from groupcomm_simulator.judges.claims import Message, Violation
from groupcomm_simulator.judges.membership import Process

from .ground import Event, Ground
from .rest import settle_all

_ROUNDS: Final = 60
_THIRD: Final = 3
_MERGE: Final = 4  # rounds that the timer of a merge takes


def outlast(ground: Ground, perform: Callable[[Event], bool], kind: str, one: str, other: str) -> None:
    """Run the group for 60 rounds of timers with a fault of `setup.LASTING` between two of its members.

    Each member multicasts first. `GoesOnForEver`: a member that is up in the end has delivered its own message, and
    in the last half of the rounds it was free to send at some time. Raises Violation.
    """
    oracle, links = ground.oracle, [(one, other), (other, one)][: 1 if kind == "one_way" else 2]
    perform(("heal",))
    sent: dict[Process, Message] = {}
    for process in [process for process in ground.up if process.view is not None and not process.leaving]:
        if perform(("multicast", process.name)):
            sent[process] = ground.last_sent(process)
    free: set[Process] = set()  # at some time in the last half
    late = False
    merging: set[tuple[Process, str]] = set()  # the timers of merges that were set `_MERGE` rounds ago

    def happens(event: Event) -> bool:
        happened = perform(event)
        if late:
            free.update(process for process in ground.up if ground.flush_of(process).is_free)
        return happened

    for number in range(_ROUNDS):
        late = number >= _ROUNDS // 2
        for link in links if kind != "slow" or number % _THIRD else ():
            perform(("cut", *link))
        _lose(ground, perform)
        settle_all(ground, happens)
        for events in (_due, _timers, _searches):
            for event in chain.from_iterable(events(ground, process) for process in list(ground.up)):
                happens(event)
            settle_all(ground, happens)
        if number % _MERGE == 0:
            still = {(p, timer) for p in ground.up for timer in oracle.running(p)}
            for process, timer in sorted(merging & still, key=lambda each: (each[0].order, each[1])):
                happens(("timer", process.name, timer))
            merging = still
        if kind == "slow" and number % _THIRD == _THIRD - 1:
            perform(("heal",))
    for process, message in sent.items():
        if not process.up:
            continue
        ground.verdicts.judged["GoesOnForEver"] += 1
        if process not in free:
            raise Violation("GoesOnForEver", f"{process} is stopped for ever: {ground.flush_of(process)}")
        if not ground.order.has(process, message):
            raise Violation("GoesOnForEver", f"{process} never delivers its own message {message[1]}")


def _due(ground: Ground, process: Process) -> list[Event]:
    """What the environment owes it, as far as it is up."""
    return ground.oracle.due(process) if process.up else []


def _timers(ground: Ground, process: Process) -> list[Event]:
    """All timers but those of merging."""
    timers = ground.timers.get(process, ())
    return [("timer", process.name, timer) for timer in timers if not timer.startswith(ground.oracle.timers)]


def _searches(ground: Ground, process: Process) -> list[Event]:
    """A coordinator looks for others, and who has no view asks each that it finds to let it in."""
    if process.view is None:
        return [("join", process.name, found.name) for found in ground.oracle.may_be_asked(process)]
    return [("timer", process.name, ground.oracle.discovery)]


def _lose(ground: Ground, perform: Callable[[Event], bool]) -> None:
    """Lose what is on its way over a dead link."""
    for sender, number, receiver in list(ground.copies):
        hearer = ground.hearer((sender, number, receiver))
        if hearer is not None and sender.up and not ground.reaches(sender, hearer):
            perform(("lose", sender.name, number, receiver.name))
