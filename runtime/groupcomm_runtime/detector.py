"""Failure detection by heartbeats: which members are suspected, and how long a message takes.

A heartbeat is for one receiver. It names the view of its sender, whether the receiver is a member of that
view, and whether it is suspected. It is of the past, so it is judged by its view:

- "I suspect you" counts only where the sender speaks of the view that this member has.
- "my view is without you" counts only where that view is not older than the own one, or the sender stays
  with it;
- a member is silent after a time that follows the heartbeats that came, `patience` at least.

A heartbeat also returns the clock of the receiver, and says how long it was kept: that is a round trip.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from attrs import astuple, define, field, frozen

from groupcomm.view import Address, ViewId

from .codec import RefusedError, pack

__all__ = ["Detector", "Heartbeat", "RoundTrip"]

_LONGEST: Final = 8  # times the patience: no silence is borne longer
_DEVIATIONS: Final = 6


@frozen
class Heartbeat:
    """The state of a member, as it sends it to one other; `counter` and `creator` are those of its view.

    `counts`: the receiver is in its view. `suspects`: it suspects the receiver. `clock`: its time. `echo`:
    the time of the receiver that it heard last, 0 where it has heard nothing. `held`: how long ago that was.
    These are in microseconds.
    """

    counter: int
    creator: Address
    size: int
    counts: bool
    suspects: bool
    clock: int
    echo: int
    held: int

    @property
    def joined(self) -> bool:
        """True if the member is in a view."""
        return self.size > 0

    @property
    def view_id(self) -> ViewId:
        """Its view."""
        return ViewId(self.counter, self.creator)

    def written(self) -> bytes:
        """The heartbeat as bytes."""
        return pack(astuple(self))

    @classmethod
    def read(cls, data: bytes) -> "Heartbeat":
        """The heartbeat that bytes are. Raises RefusedError."""
        try:
            return cls(*_decoder.decode(data))
        except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
            raise RefusedError(f"no heartbeat: {error}") from None


_decoder: Final = msgspec.msgpack.Decoder(tuple[int, str, int, bool, bool, int, int, int])


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
class _Heard:
    """Of a member its last heartbeat, when it came, and the intervals between them."""

    at: float
    number: int = 0
    last: Heartbeat | None = None
    interval: RoundTrip = field(factory=RoundTrip)


@define
class Detector:
    """The last heartbeat of each incarnation, and the suspicions from it.

    Times are seconds of a single clock.
    """

    patience: float
    _heard: dict[Address, _Heard] = field(factory=dict)

    def heard(self, sender: Address, number: int, heartbeat: Heartbeat, now: float) -> None:
        """Take a heartbeat from the datagram with this number, unless a later datagram came before it."""
        known = self._heard.setdefault(sender, _Heard(now))
        if number <= known.number:
            return
        if known.last is not None:
            known.interval.measured(now - known.at)
        known.at, known.number, known.last = now, number, heartbeat

    def paused(self, now: float) -> None:
        """This process did not run: who could be heard was not. All are given their time again."""
        for known in self._heard.values():
            known.at = now

    def alive(self, now: float) -> Iterator[tuple[Address, Heartbeat]]:
        """The last heartbeat of each member that is not silent."""
        for address, known in self._heard.items():
            if known.last is not None and now - known.at <= self._bears(known):
                yield address, known.last

    def last(self, address: Address) -> tuple[float, Heartbeat] | None:
        """When a member was heard last, and what it said."""
        known = self._heard.get(address)
        return None if known is None or known.last is None else (known.at, known.last)

    def suspects(
        self, view: ViewId, since: float, watched: Iterable[Address], now: float
    ) -> Iterator[tuple[Address, str]]:
        """The watched members to suspect, and why; the own view was installed at `since`."""
        for member in watched:
            known = self._heard.setdefault(member, _Heard(now))
            said = known.last
            if now - known.at > self._bears(known):
                yield member, "silent"
            elif said is None or not said.joined:
                continue
            elif said.view_id == view:
                if said.suspects:
                    yield member, "suspects me"
            elif not said.counts and (said.counter >= view.counter or now - since > self.patience):
                yield member, "excludes me"

    def silent(self, outsiders: Iterable[Address], now: float) -> list[Address]:
        """The outsiders that were not heard for long. The time of each begins when it is asked for first."""
        heard = {each: self._heard.setdefault(each, _Heard(now)) for each in outsiders}
        return [each for each, known in heard.items() if now - known.at > self._bears(known)]

    def forget(self, staying: Iterable[Address], now: float) -> None:
        """Forget members that were not heard for long, except the members to keep."""
        kept = set(staying)
        for address in [each for each in self._heard if each not in kept]:
            if now - self._heard[address].at > 4 * _LONGEST * self.patience:
                del self._heard[address]

    def _bears(self, known: _Heard) -> float:
        usual = known.interval.smoothed + _DEVIATIONS * known.interval.strays
        return min(max(self.patience, usual), _LONGEST * self.patience)
