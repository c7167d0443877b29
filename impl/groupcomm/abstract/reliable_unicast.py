"""Unicasts: between two processes that stay up each arrives once, in the order sent. `ReliableUnicast`."""

from collections import deque
from typing import Final

from .membership import NotAllowedError, Process

GIVES: Final = ("ReliableUnicast",)


class ReliableUnicast:
    """The unicasts on their way, one queue for each pair of sender and receiver."""

    def __init__(self) -> None:
        self.wires: dict[tuple[Process, Process], deque[object]] = {}

    def send(self, sender: Process, to: Process | None, message: object) -> None:
        """Put a message on its way. What is sent to nobody, or to a process that has crashed, is gone."""
        if to is not None and to.up:
            self.wires.setdefault((sender, to), deque()).append(message)

    def arrive(self, sender: Process, to: Process) -> object:
        """Take the first message on its way. NotAllowedError if there is none."""
        return self._queue(sender, to).popleft()

    def arrive_out_of_order(self, sender: Process, to: Process, place: int) -> object:
        """Weaker than the guarantee: take the message at a place."""
        queue = self._queue(sender, to)
        place %= len(queue)
        message = queue[place]
        del queue[place]
        return message

    def again(self, sender: Process, to: Process) -> object:
        """Weaker than the guarantee: the first message arrives, and will arrive again."""
        return self._queue(sender, to)[0]

    def lose(self, sender: Process, to: Process) -> None:
        """The last message is lost: within the guarantee only if one of the two has crashed."""
        self._queue(sender, to).pop()

    def crash(self, process: Process) -> None:
        """What is on its way to a process is gone with it."""
        self.wires = {pair: queue for pair, queue in self.wires.items() if pair[1] is not process and queue}

    def _queue(self, sender: Process, to: Process) -> deque[object]:
        queue = self.wires.get((sender, to))
        if not queue:
            raise NotAllowedError(f"nothing is on its way from {sender} to {to}")
        return queue
