"""Sockets and connections that lose, double, delay and repeat what is sent, by their rules."""

import asyncio
import random
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from attrs import frozen

from groupcomm_runtime.discovery import Place
from groupcomm_runtime.transports import Tcp

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


class Faulty:
    """What is sent by rules: not at all, or twice, or later, or again."""

    def __init__(self) -> None:
        self.rules = CALM
        self._sent: deque[tuple[bytes, Any]] = deque(maxlen=_REMEMBERED)

    def goes(self, send: Callable[[bytes, Any], object], data: bytes, place: Any) -> None:  # noqa: ANN401 - a socket's
        """Have `send` send a frame to a place, as the rules say."""
        rules = self.rules
        if rules.again:
            self._sent.append((data, place))
            if random.random() < rules.again:  # noqa: S311 - dice
                self._passes(send, *random.choice(self._sent))  # noqa: S311 - dice
        if random.random() < rules.loss:  # noqa: S311 - dice
            return
        if random.random() < rules.late:  # noqa: S311 - dice
            delay = random.uniform(0, _LATEST)  # noqa: S311 - dice
            asyncio.get_running_loop().call_later(delay, self._late, send, data, place)
            return
        if random.random() < rules.twice:  # noqa: S311 - dice
            self._passes(send, data, place)
        self._passes(send, data, place)

    def _late(self, send: Callable[[bytes, Any], object], data: bytes, place: Any) -> None:  # noqa: ANN401
        with suppress(OSError):  # nobody waits for it any more
            self._passes(send, data, place)

    def _passes(self, send: Callable[[bytes, Any], object], data: bytes, place: Any) -> None:  # noqa: ANN401
        if place not in self.rules.mute:
            send(data, place)


class LossySocket(socket.socket):
    """A UDP socket with rules."""

    def __init__(self) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_DGRAM)
        self.faulty = Faulty()

    @property
    def rules(self) -> Rules:
        """Its rules; they may be set."""
        return self.faulty.rules

    @rules.setter
    def rules(self, rules: Rules) -> None:
        self.faulty.rules = rules

    def sendto(self, data: bytes, place: Any) -> int:  # type: ignore[override]  # noqa: ANN401 - as the system has it
        """Send a datagram, or not, or twice, or later."""
        self.faulty.goes(self._send, data, place)
        return len(data)

    def recvfrom(self, size: int) -> tuple[bytes, Any]:  # type: ignore[override]
        """Return the next datagram that the rules let through. Raises BlockingIOError without one."""
        while True:
            data, place = super().recvfrom(size)
            if place not in self.faulty.rules.deaf:
                return data, place

    def _send(self, data: bytes, place: Any) -> None:  # noqa: ANN401 - as the system has it
        if self.fileno() >= 0:
            super().sendto(data, place)


class LossyTcp(Tcp):
    """TCP of which frames are lost by rules. A connection does not say where its member is, so none is `deaf`."""

    def __init__(self, sock: socket.socket, patience: float) -> None:
        super().__init__(sock, patience)
        self.faulty = Faulty()

    def send(self, data: bytes, place: Place) -> None:
        """Send a frame, or not, or twice, or later."""
        self.faulty.goes(self._send, data, place)

    def _send(self, data: bytes, place: Place) -> None:
        if not self.closed:
            super().send(data, place)
