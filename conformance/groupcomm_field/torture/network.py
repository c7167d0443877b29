"""A socket that loses, doubles, delays and repeats datagrams, by its rules."""

import asyncio
import random
import socket
from collections import deque
from typing import Any, Final

from attrs import frozen

from groupcomm_runtime.discovery import Place

__all__ = ["CALM", "LossySocket", "Rules"]

_REMEMBERED: Final = 200
_LATEST: Final = 0.3  # seconds


@frozen
class Rules:
    """Places that datagrams do not go to, and do not come from; and shares of what is sent, of 1."""

    mute: frozenset[Place] = frozenset()
    deaf: frozenset[Place] = frozenset()
    loss: float = 0
    twice: float = 0
    late: float = 0
    again: float = 0


CALM: Final = Rules()


class LossySocket(socket.socket):
    """A UDP socket with rules."""

    def __init__(self) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_DGRAM)
        self.rules = CALM
        self._sent: deque[tuple[bytes, Any]] = deque(maxlen=_REMEMBERED)

    def sendto(self, data: bytes, place: Any) -> int:  # type: ignore[override]  # noqa: ANN401 - as the system has it
        """Send a datagram, or not, or twice, or later."""
        rules = self.rules
        if rules.again:
            self._sent.append((data, place))
            if random.random() < rules.again:  # noqa: S311 - dice
                self._send(*random.choice(self._sent))  # noqa: S311 - dice
        if random.random() < rules.loss:  # noqa: S311 - dice
            return len(data)
        if random.random() < rules.late:  # noqa: S311 - dice
            delay = random.uniform(0, _LATEST)  # noqa: S311 - dice
            asyncio.get_running_loop().call_later(delay, self._send, data, place)
            return len(data)
        if random.random() < rules.twice:  # noqa: S311 - dice
            self._send(data, place)
        return self._send(data, place)

    def recvfrom(self, size: int) -> tuple[bytes, Any]:  # type: ignore[override]
        """Return the next datagram that the rules let through. Raises BlockingIOError without one."""
        while True:
            data, place = super().recvfrom(size)
            if place not in self.rules.deaf:
                return data, place

    def _send(self, data: bytes, place: Any) -> int:  # noqa: ANN401 - as the system has it
        if place in self.rules.mute or self.fileno() < 0:
            return len(data)
        return super().sendto(data, place)
