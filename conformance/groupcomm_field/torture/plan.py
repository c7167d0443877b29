"""The faults of a campaign, drawn from its seed: rounds of faults, and the group heals after each round.

The plan is a function of the seed. The run is not: processes and clocks are real.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from attrs import frozen

KINDS: Final = {
    "kill": "a member is killed, and begins again when the round ends",
    "kill two": "two members are killed within half a second",
    "kill all": "all members are killed at once, and begin again when the round ends",
    "restart": "a member is killed, and begins again at once, three times",
    "clock": "a member is killed, and begins again at once with a clock that is an hour slow",
    "pause": "a process does not run for less than the patience",
    "stop": "a process does not run for longer than the patience",
    "suspend": "a machine is suspended for longer than the patience, and its timers stand still",
    "slow reader": "an application takes no event for a while, at times until the others continue without it",
    "partition": "some members cannot reach the other ones",
    "one way": "a member cannot send to another member, which can send to it",
    "loss": "30 % of all datagrams are lost",
    "doubling": "half of all datagrams come twice",
    "late": "30 % of all datagrams come late, and in another order",
    "replay": "old datagrams come again",
    "garbage": "a member gets 500 datagrams of random bytes",
    "strangers": "a member gets 500 datagrams of another key, of another version, and of no message",
    "files": "records of discovery are broken, removed, and foreign",
    "leave": "a member leaves",
    "crowd leaves": "all members but two leave at once",
    "all leave": "all members leave at once, and join again",
    "full disk": "the disk has no room for a member's log",
}
"""Each kind, and what it is."""

OF_TCP: Final = {"idle": "300 connections to a member bring nothing"}
"""The kinds that need TCP."""

OF_STATES: Final = {
    "provider killed": "a member begins again, and the member that gives it the state is killed",
    "provider stopped": "a member begins again, and the member that gives it the state does not run for a while",
    "slow state": "a member begins again, and the application that gives it the state is slow",
}
"""The kinds that need a state. Each is a round of its own."""

_END_MANY: Final = frozenset({"kill two", "kill all", "crowd leaves", "all leave"})
_END_ONE: Final = frozenset({"kill", "restart", "clock", "leave", "full disk"})

_MOST: Final = 4  # faults of a round
_ALIVE: Final = 2  # so many run at least, but where all leave or are killed

NETWORK: Final[Mapping[str, Mapping[str, Any]]] = {
    "loss": {"loss": 0.3},
    "doubling": {"twice": 0.5},
    "late": {"late": 0.3},
    "replay": {"again": 0.3},
}
"""The rules of a faulty network: fields of `network.Rules`."""


@frozen
class Fault:
    """A fault: the members that it hits, its duration, and the seconds until the next fault."""

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


def drawn(
    seed: int, names: Sequence[str], faults: int, patience: float, *, state: bool = False, tcp: bool = False
) -> list[Round]:
    """Draw a campaign of so many faults. No kind comes again before each has come.

    `state`: one incarnation at most ends in a round, as a state that is safe is in the memory of a majority; but for
    a round of `OF_STATES`.
    """
    random = Random(seed)  # noqa: S311 - dice
    those = {*KINDS} - _END_MANY | {*OF_STATES} if state else {*KINDS}
    kinds = sorted(those | {*OF_TCP} if tcp else those)
    deck: list[str] = []
    rounds: list[Round] = []
    left = faults
    while left:
        runs, round_ = set(names), list[Fault]()
        for _ in range(min(left, random.randint(1, _MOST))):
            deck = deck or random.sample(kinds, len(kinds))
            if state and deck[-1] in _END_ONE and any(each.kind in _END_ONE for each in round_):
                break
            if round_ and (deck[-1] in OF_STATES or round_[-1].kind in OF_STATES):
                break
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
    """Return the members that a fault stops until the round ends."""
    gone = {"kill", "kill two", "kill all", "leave", "crowd leaves", "all leave", "full disk", "stop"}
    return fault.members if fault.kind in gone else ()


def _fault(kind: str, runs: Sequence[str], random: Random, patience: float) -> Fault:
    pause = random.choice((0.0, 0.05, random.uniform(0, patience)))
    seconds = random.uniform(0.3, 1.5) * patience
    match kind:
        case "all leave" | "kill all":
            members = tuple(runs)
            seconds = 0.0
        case "kill two" | "one way":
            members = tuple(random.sample(runs, min(2, len(runs))))
            seconds = random.choice((0.0, 0.05, 0.5)) if kind == "kill two" else seconds
        case "partition":
            members = tuple(sorted(random.sample(runs, random.randint(1, len(runs) - 1))))
            seconds = random.choice((0.5, 1.5, 3)) * patience
        case "pause":
            members, seconds = (random.choice(runs),), random.uniform(0.1, 0.9) * patience
        case "stop" | "suspend" | "provider stopped":
            members, seconds = (random.choice(runs),), random.uniform(1.5, 3) * patience
        case "slow reader":
            members, seconds = (random.choice(runs),), random.choice((0.5, 1.5, 9)) * patience
        case "crowd leaves":
            members = tuple(random.sample(runs, max(1, len(runs) - _ALIVE)))
        case _:
            members = () if kind in NETWORK else (random.choice(runs),)
    return Fault(kind, members, round(seconds, 3), round(pause, 3))
