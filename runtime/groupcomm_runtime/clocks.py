"""How long a message takes: with each heartbeat a member returns the clock that it heard last.

And the clock by which a member notices that it did not run.
"""

import time
from collections.abc import Iterable
from typing import Final

import msgspec
from attrs import define, field

from groupcomm.view import Address

from .codec import RefusedError, pack

_MICRO: Final = 1_000_000
_decoder: Final = msgspec.msgpack.Decoder(tuple[int, int, int])


def awake_or_not() -> float:
    """Seconds on a clock that runs while the machine is suspended, too, where the system has one.

    `time.monotonic` stands still meanwhile on Linux, and a coordinator that woke would order messages alone.
    """
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


@define
class RoundTrip:
    """How long an answer takes, in seconds: smoothed, and how far it strays."""

    smoothed: float = 0.0
    strays: float = 0.0

    def measured(self, seconds: float) -> None:
        """An answer took so long."""
        if not self.smoothed:
            self.smoothed, self.strays = seconds, seconds / 2
        self.strays += (abs(seconds - self.smoothed) - self.strays) / 4
        self.smoothed += (seconds - self.smoothed) / 8

    @property
    def patience(self) -> float:
        """After so long an answer is late."""
        return self.smoothed + 4 * self.strays


@define
class Clocks:
    """The last clock of each other member, and the round trip that follows from them. Times are seconds.

    An item has three numbers, in microseconds: the clock of its sender, the clock that the sender heard last
    of the receiver (0 where it has heard none), and the time since then.
    """

    longest: float
    """No round trip is longer: an item that says so is old."""

    round_trip: RoundTrip = field(factory=RoundTrip)
    _heard: dict[Address, tuple[float, int]] = field(factory=dict)

    @property
    def count(self) -> int:
        """Members whose clock was heard."""
        return len(self._heard)

    def item(self, to: Address, now: float) -> bytes:
        """The item for a member."""
        at, clock = self._heard.get(to, (now, 0))
        return pack((round(now * _MICRO), clock, round((now - at) * _MICRO)))

    def heard(self, sender: Address, data: bytes, now: float) -> None:
        """Take the item of a member. Raises RefusedError where it is none."""
        try:
            clock, echo, held = _decoder.decode(data)
        except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
            raise RefusedError(f"no clock: {error}") from None
        self._heard[sender] = now, clock
        took = now - (echo + held) / _MICRO
        if echo and 0 < took < self.longest:
            self.round_trip.measured(took)

    def forget(self, staying: Iterable[Address]) -> None:
        """Forget all members but these."""
        kept = {*staying}
        self._heard = {each: heard for each, heard in self._heard.items() if each in kept}
