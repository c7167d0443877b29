"""The times and sizes of a member, and a check that they fit."""

from typing import Final

from attrs import fields, frozen

from .errors import BadInputError

_SMALLEST_DATAGRAM: Final = 1_024
_LARGEST_SENT: Final = 65_000
_FRAME: Final = 60_000  # bytes over TCP: 1,000 bytes of a message take a quarter to a third less CPU time than in 8,192
_LEAST_BYTES: Final = 65_536
_SHORTEST, _LONGEST = 0.1, 3_600.0  # seconds of patience


@frozen
class Settings:
    """Times in seconds, sizes in bytes.

    `heartbeat`: between two heartbeats. `patience`: the least silence for which a member is suspected.
    `datagram`: the largest datagram; on one machine 60,000 take less CPU time, and TCP carries as many in its
    place. `unstable`: the most multicasts that some member may lack; with more, no member sends.
    `unstable_bytes`: likewise the most bytes of their messages.
    `event_bytes`: the most bytes of messages that wait for the application; with more, this member takes
    none. `majority`, `safe`: as those of `join`. `transport`: `udp` or `tcp`, the same for all members.
    `largest_state`: the bytes of a state that a member gives or takes. A joiner keeps them until it is whole,
    above 16 MiB in a temporary file. `held_bytes`: the bytes of multicasts that wait for a state. With as
    many, the member takes none until the state is there. `encrypted`: nobody without the key reads a message
    on its way; the same for all members. It needs the extra `encryption`.
    """

    heartbeat: float = 0.25
    patience: float = 1.5
    datagram: int = 8_192
    unstable: int = 4_000
    unstable_bytes: int = 32 << 20
    event_bytes: int = 64 << 20
    majority: bool = False
    safe: bool = False
    transport: str = "udp"
    largest_state: int = 1 << 30
    held_bytes: int = 64 << 20
    encrypted: bool = False

    @property
    def frame(self) -> int:
        """The most bytes that go to a member at once: a datagram, or what TCP carries in its place."""
        return self.datagram if self.transport == "udp" else max(self.datagram, _FRAME)

    @property
    def reports_safe(self) -> bool:
        """True if members hear when their messages are safe."""
        return self.majority or self.safe

    def check(self) -> None:
        """Raise BadInputError where these times and sizes do not fit together.

        The times of the layers follow `patience` (`configs`), so only these two can contradict each other.
        """
        for each in fields(Settings):
            value = getattr(self, each.name)
            wanted = type(each.default)
            if type(value) is not wanted and not (wanted is float and type(value) is int):
                raise BadInputError(f"{each.name}={value!r}: it is {wanted.__name__}")
        if not _SHORTEST <= 3 * self.heartbeat <= self.patience <= _LONGEST:
            raise BadInputError(
                f"heartbeat={self.heartbeat:g} and patience={self.patience:g} do not fit: patience is three "
                f"heartbeats at least, and from {_SHORTEST:g} to {_LONGEST:g} seconds"
            )
        if self.transport not in {"udp", "tcp"}:
            raise BadInputError(f"transport={self.transport!r}: it is 'udp' or 'tcp'")
        if self.largest_state < 1:
            raise BadInputError(f"largest_state={self.largest_state}: it is 1 at least")
        if not _SMALLEST_DATAGRAM <= self.datagram <= _LARGEST_SENT or self.unstable < 1:
            raise BadInputError(
                f"datagram={self.datagram} and unstable={self.unstable}: a datagram has {_SMALLEST_DATAGRAM} "
                f"to {_LARGEST_SENT} bytes, and one message at least may be unstable"
            )
        if min(self.unstable_bytes, self.event_bytes, self.held_bytes) < _LEAST_BYTES:
            raise BadInputError(
                f"unstable_bytes={self.unstable_bytes}, event_bytes={self.event_bytes} and "
                f"held_bytes={self.held_bytes}: each has {_LEAST_BYTES} bytes at least, so that a message fits"
            )


FAST: Final = Settings(heartbeat=0.1, patience=0.6)
"""For one machine, or a quiet network: a dead member is excluded in a second."""

PATIENT: Final = Settings(heartbeat=0.5, patience=5.0)
"""For machines that are busy, or far from each other."""
