"""What goes wrong in a campaign, drawn from its seed: rounds of faults, after each of which the group heals.

The plan is a function of the seed. What the group does with it is not: processes and clocks are real.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from attrs import frozen

__all__ = ["KINDS", "Fault", "Round", "drawn"]

KINDS: Final = {
    "kill": "one is killed, and is back when the round ends",
    "kill two": "two are killed, one shortly after the other",
    "restart": "one is killed, and begins again at once",
    "pause": "one does not run for less than the patience",
    "stop": "one does not run for longer than the patience",
    "partition": "some cannot reach the others",
    "one way": "one cannot send to another, which can send to it",
    "loss": "30 % of all datagrams are lost",
    "doubling": "half of all datagrams come twice",
    "late": "30 % of all datagrams come late, and in another order",
    "replay": "datagrams of before come again",
    "garbage": "one gets 500 datagrams of random bytes",
    "strangers": "one gets 500 datagrams of another key, of another version, and of no message",
    "files": "records of discovery are broken, removed, and foreign",
    "leave": "one leaves",
    "all leave": "all leave at once, and come again",
    "full disk": "there is no room for the log of one",
}
"""Each kind, and what it is."""

_MOST: Final = 4  # faults of a round
_ALIVE: Final = 2  # so many run at least, but where all leave
_SENDS: Final = frozenset({"loss", "doubling", "late", "replay"})


@frozen
class Fault:
    """One fault: whom it hits, how long it lasts, and the seconds until the next."""

    kind: str
    members: tuple[str, ...]
    seconds: float
    pause: float

    def __str__(self) -> str:
        return f"{self.kind} {','.join(self.members)} {self.seconds:.2f} s, then {self.pause:.2f} s"


@frozen
class Round:
    """Faults one after the other, which may overlap."""

    faults: tuple[Fault, ...]


def drawn(seed: int, names: Sequence[str], faults: int, patience: float) -> list[Round]:
    """Draw a campaign of so many faults. No kind comes again before each has come."""
    random = Random(seed)  # noqa: S311 - dice
    deck: list[str] = []
    rounds: list[Round] = []
    left = faults
    while left:
        runs, round_ = set(names), list[Fault]()
        for _ in range(min(left, random.randint(1, _MOST))):
            deck = deck or random.sample(sorted(KINDS), len(KINDS))
            fault = _fault(deck[-1], sorted(runs), random, patience)
            if round_ and len(runs - set(_gone(fault))) < _ALIVE:
                break
            deck.pop()
            runs -= set(_gone(fault))
            round_.append(fault)
            if len(runs) < _ALIVE:
                break
        left -= len(round_)
        rounds.append(Round(tuple(round_)))
    return rounds


def _gone(fault: Fault) -> tuple[str, ...]:
    """Who does not run after a fault, until the round ends."""
    return (
        fault.members if fault.kind in {"kill", "kill two", "leave", "all leave", "full disk", "stop"} else ()
    )


def _fault(kind: str, runs: Sequence[str], random: Random, patience: float) -> Fault:
    pause = random.choice((0.0, 0.05, random.uniform(0, patience)))
    seconds = random.uniform(0.3, 1.5) * patience
    match kind:
        case "all leave":
            members = tuple(runs)
        case "kill two" | "one way":
            members = tuple(random.sample(runs, min(2, len(runs))))
            seconds = random.choice((0.0, 0.05, 0.5)) if kind == "kill two" else seconds
        case "partition":
            members = tuple(sorted(random.sample(runs, random.randint(1, len(runs) - 1))))
            seconds = random.choice((0.5, 1.5, 3)) * patience
        case "pause":
            members, seconds = (random.choice(runs),), random.uniform(0.1, 0.9) * patience
        case "stop":
            members, seconds = (random.choice(runs),), random.uniform(1.5, 3) * patience
        case _:
            members = () if kind in _SENDS else (random.choice(runs),)
    return Fault(kind, members, round(seconds, 3), round(pause, 3))
