"""What GMS and merging have in common, where they run by themselves: a stack of their own at each process.

Their messages are unicasts that overtake one another, on wires of their own. One arrives by ``notice P Q I``.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from groupcomm.abstract.membership import Decided, NotAllowedError, Process
from groupcomm.abstract.reliable_unicast import ReliableUnicast
from groupcomm.stack import Arrived, Stack, State, Tagged
from groupcomm.stack import Event as StackEvent
from groupcomm.view import Address

from .claims import Violation
from .group import Event, Gate, Group

__all__ = ["Wired", "comes_after", "judged"]

T = TypeVar("T")


class Wired:
    """A service that is a stack of its own at each process.

    `wires`: its messages on their way. `new_notices`: from whom to whom, of those that were not drawn yet.
    An address may be used again: each process is one of its lives, which count from 0.
    """

    gate: Gate | None = None

    def __init__(self, group: Group, stack: Stack) -> None:
        self._group = group
        self._stack = stack
        self._states: dict[Process, State] = {}
        self.wires = ReliableUnicast()
        self.new_notices: list[tuple[Process, Process]] = []
        self._life: dict[Process, int] = {}
        self._lives: dict[tuple[Address, int], Process] = {}
        self._begun: Counter[Address] = Counter()  # how many lives an address has had

    def started(self, process: Process) -> None:
        """A process is there, and in no view."""
        self._states[process] = self._stack.start(process.address)
        self._life[process] = life = self._begun[process.address]
        self._begun[process.address] += 1
        self._lives[process.address, life] = process

    def _forget_lives(self, kept: set[Process]) -> None:
        """Forget which lives all but some processes are."""
        self._life = {process: life for process, life in self._life.items() if process in kept}
        self._lives = {key: process for key, process in self._lives.items() if process in kept}

    def told(self, process: Process, effect: object) -> None:
        """An effect of the stack above is for an application that does not look."""

    def on_the_way(self) -> Iterator[tuple[Process, Process, object]]:
        """From whom, to whom, and what."""
        for (sender, to), queue in self.wires.wires.items():
            for tagged in queue:
                yield sender, to, cast("Tagged", tagged).message

    def notices(self) -> list[Event]:
        """For each pair of processes, that the oldest message from one to the other arrives."""
        return [
            ("notice", sender.name, receiver.name, 0)
            for (sender, receiver), queue in self.wires.wires.items()
            if queue and receiver.up
        ]

    def arrives(self, perform: Callable[[Event], bool]) -> bool:
        """What is on its way arrives, in order, as far as it can; whether anything did."""
        done = False
        for sender, receiver in list(self.wires.wires):
            while self.wires.wires.get((sender, receiver)) and perform(
                ("notice", sender.name, receiver.name, 0)
            ):
                done = True
        self.new_notices.clear()
        return done

    def _notice(self, name: str, to: str, place: int) -> None:
        sender, receiver = self._group.known(name), self._group.process(to)
        if sender.up and not self._group.connected(sender, receiver):
            raise NotAllowedError("a partition is between them")
        message = cast("Tagged", self.wires.arrive_out_of_order(sender, receiver, place))
        self._step(receiver, Arrived(sender.address, message, self._beneath(receiver)))

    def _send(self, process: Process, to: Address, message: Tagged) -> None:
        receiver = self._group.membership.current.get(to)
        if receiver is not None and receiver.up:
            self.wires.send(process, receiver, message)
            self.new_notices.append((process, receiver))

    def _beneath(self, _process: Process) -> tuple[object, ...]:
        """What the layers below tell with a message (`Arrived.below`)."""
        return ()

    def _step(self, process: Process, event: StackEvent) -> None:
        raise NotImplementedError


def judged(told: Callable[[], T]) -> T:
    """What an abstract layer does when it is told. What it does not allow is a violation."""
    try:
        return told()
    except NotAllowedError as error:
        raise Violation(error.conjunct or "Membership", str(error)) from None


def comes_after(view: Decided, before: Decided) -> bool:
    """Whether a view comes after another on its line."""
    return view.number > before.number and any(
        pred is before or comes_after(pred, before) for pred in view.preds
    )
