"""A clock: how long a multicast takes to be delivered everywhere, over a network that delays and loses.

The simulation of `ground` has no clock: a timer fires when the dice say so. So it cannot see a timer that
never fires, because each message sets it again, nor what a lost datagram costs. Here time passes. Datagrams
take 1 to 5 ms, timers fire when they are due, and all members multicast on a schedule. Nothing else goes
wrong, and nothing is judged but that all deliver the same.

    python -m tests.stacks.timed        # a line for each loss, of 0, 10 and 30 %
"""

from collections import Counter
from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Final

from attrs import frozen

from groupcomm import flush, gms, merge_gms, nakack, sequencer, stable, unicast
from groupcomm.effects import ALL, CancelTimer, Datagram, Multicast, PassDown, PassUp, SetTimer
from groupcomm.events import Block, Deliver, Payload
from groupcomm.stack import AnyCore, Arrived, Called, Event, Fired, Layer, Raised, Stack
from groupcomm.view import Address
from groupcomm_simulator.setup import GROUND, name_of

MEMBERS: Final = ("A", "B", "C")
UNICAST: Final = unicast.Config(retransmit_min=20, retransmit_max=1_000, resend_most=5)
NAKACK: Final = nakack.Config(highest_interval=100, request_delay=20, first_asked=4)

_EVERY: Final = 20.0  # ms between two multicasts of a member
_DELAY: Final = (1.0, 5.0)  # ms that a datagram takes
_JOINED: Final = 1_000.0  # ms until all members are in one view; nothing is lost before
_AFTER: Final = 10_000.0  # ms for the last of them to arrive
_NEVER: Final = 10**9


@frozen
class Measured:
    """The result of `sent` multicasts.

    `took`: of each delivery the ms that it took, the shortest first. `same`: all members delivered the same.
    `datagrams`: how many of each kind went from one member to another, as `nakack Data`.
    """

    sent: int
    took: tuple[float, ...]
    same: bool
    datagrams: Counter[str]

    def percentile(self, share: float) -> float:
        """The ms within which that share of all deliveries came; what never came counts as endless."""
        at = int(share * self.sent * len(MEMBERS))
        return self.took[at] if at < len(self.took) else float("inf")

    def __str__(self) -> str:
        each = ", ".join(f"{number / self.sent:.2f} {kind}" for kind, number in sorted(self.datagrams.items()))
        return f"p50 {self.percentile(0.5):.0f} ms, p99 {self.percentile(0.99):.0f} ms; a multicast: {each}"


def measured(
    loss: float,
    *,
    seconds: int = 4,
    seed: int = 1,
    unicasts: unicast.Config = UNICAST,
    multicasts: nakack.Config = NAKACK,
    cores: Mapping[str, AnyCore] | None = None,
) -> Measured:
    """Run three members for so many seconds, each multicasting every 20 ms; then let all arrive.

    `loss`: the share of the datagrams between two members that is lost. `cores`: in the place of a layer's.
    """
    run = _Run(_stack(unicasts, multicasts, cores or {}), Random(seed))  # noqa: S311 - dice, not secrets
    for place, member in enumerate(MEMBERS):
        run.at(0, run.step, member, Raised(unicast.IncarnationBegins(0)))
        run.at(place * 100, run.step, member, Called(PassDown(gms.JoinRequested("A", 0))))
    run.until(_JOINED)
    run.loss, sent = loss, 0
    run.datagrams.clear()
    for number in range(int(seconds * 1_000 / _EVERY)):
        for member in MEMBERS:
            sent += 1
            run.at(_JOINED + number * _EVERY + run.random.random(), run.multicast, member, sent)
    run.until(_JOINED + seconds * 1_000 + _AFTER)
    same = run.delivered["A"] == run.delivered["B"] == run.delivered["C"]
    return Measured(sent, tuple(sorted(run.took)), same, run.datagrams)


def _stack(unicasts: unicast.Config, multicasts: nakack.Config, cores: Mapping[str, AnyCore]) -> Stack:
    layers = (
        (sequencer, sequencer.Config()),
        (flush, flush.Config()),
        (merge_gms, merge_gms.Config(_NEVER, _NEVER, _NEVER, _NEVER, max_bundle=3)),
        (stable, stable.Config(max_bytes=0, stable_interval=500, stability_delay=50)),
        (nakack, multicasts),
        (unicast, unicasts),
    )
    made = (Layer.of(cores.get(name_of(module), module), config, declared_by=module) for module, config in layers)
    return Stack(tuple(made), GROUND)


class _Run:
    """Members, their timers, the datagrams on their way, and the time."""

    def __init__(self, stack: Stack, random: Random) -> None:
        self.random = random
        self.loss = 0.0
        self.took: list[float] = []
        self.delivered: dict[Address, list[object]] = {member: [] for member in MEMBERS}
        self.datagrams: Counter[str] = Counter()
        self._stack = stack
        self._states = {member: stack.start(member) for member in MEMBERS}
        self._timers: dict[tuple[Address, str], int] = {}
        self._due: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self._number = count()
        self._now = 0.0

    def at(self, time: float, do: Callable[..., None], *arguments: object) -> None:
        """Have something done at a time."""
        heappush(self._due, (time, next(self._number), do, arguments))

    def until(self, time: float) -> None:
        """Let time pass."""
        while self._due and self._due[0][0] <= time:
            self._now, _, do, arguments = heappop(self._due)
            do(*arguments)
        self._now = time

    def multicast(self, member: Address, number: int) -> None:
        """The application of a member multicasts, and notes the time in the message."""
        self.step(member, Called(Multicast(Payload((member, number, self._now)))))

    def step(self, member: Address, event: Event) -> None:
        """A stack takes an event, and what it says is done."""
        self._states[member], effects = self._stack.step(None, self._states[member], event)
        for effect in effects:
            match effect:
                case Datagram(to, message):
                    for other in MEMBERS if to == ALL else (to,):
                        self._send(member, other, Arrived(member, message))
                case SetTimer(timer, low, high):
                    due = self._now + self.random.uniform(low, high)
                    number = next(self._number)
                    self.at(due, self._fire, member, timer, number)
                    self._timers[member, timer] = number
                case CancelTimer(timer):
                    self._timers.pop((member, timer), None)
                case PassUp(Block()):
                    self.at(self._now, self.step, member, Called(PassDown(flush.BlockReturned())))
                case PassUp(Deliver(_, payload)) if isinstance(payload, tuple):
                    self.took.append(self._now - payload[2])
                    self.delivered[member].append(payload)
                case _:
                    pass

    def _send(self, sender: Address, to: Address, arrived: Arrived) -> None:
        if sender == to:
            self.at(self._now, self.step, to, arrived)
            return
        self.datagrams[f"{arrived.message.layer} {type(arrived.message.message).__name__}"] += 1
        if self.random.random() >= self.loss:
            self.at(self._now + self.random.uniform(*_DELAY), self.step, to, arrived)

    def _fire(self, member: Address, timer: str, number: int) -> None:
        """A timer fires, unless it was set again or cancelled since."""
        if self._timers.get((member, timer)) == number:
            del self._timers[member, timer]
            self.step(member, Fired(timer))


def main() -> None:
    """Print what each loss costs."""
    for loss in (0.0, 0.1, 0.3):
        print(f"{loss:4.0%} lost: {measured(loss)}")  # noqa: T201


if __name__ == "__main__":
    main()
