"""Datagrams: each may be lost, arrive any number of times, at any time and in any order. `Network`.

It remembers the datagrams that were sent, so that one can arrive again long after; a caller may have it
forget.
"""

from typing import Final

from .membership import NotAllowedError, Process

GIVES: Final = ("Network",)


class Network:
    """The datagrams of each process, numbered in the order sent.

    `own`: the numbers of those that did not come back to their sender yet. They will: a process hears itself.
    """

    def __init__(self) -> None:
        self._sent: dict[Process, list[object]] = {}
        self.own: dict[Process, set[int]] = {}

    def send(self, sender: Process, message: object) -> int:
        """A process sends: the datagram's number."""
        sent = self._sent.setdefault(sender, [])
        self.own.setdefault(sender, set()).add(len(sent))
        sent.append(message)
        return len(sent) - 1

    def arrive(self, sender: Process, number: int, to: Process) -> object:
        """A datagram arrives, once more. NotAllowedError if there was none."""
        sent = self._sent.get(sender, [])
        if number >= len(sent):
            raise NotAllowedError(f"{sender} has sent no datagram {number}")
        if to is sender:
            self.own[sender].discard(number)
        return sent[number]

    def forget(self) -> None:
        """Lose all that was sent."""
        self._sent.clear()
        self.own.clear()
