"""Digests: what a member knows of each sender's multicasts. `Digests`.

A `Digest` holds three seqnos a member of the view (LAY-05, AMB-03); a `Vector` holds one, and is what a
message carries. Seqnos are integers from `FIRST_SEQNO` up. Only this module knows where numbering starts
(AMB-07).
"""

from typing import Self, final

from attrs import frozen

from .per_member import PerMember

FIRST_SEQNO = 0
NOTHING = FIRST_SEQNO - 1
"""As a highest seqno: none yet."""


@final
@frozen
class Vector(PerMember[int]):
    """One seqno a member: an immutable mapping, equal to another with the same entries."""

    @classmethod
    def of(cls, **seqnos: int) -> Self:
        """A vector from keywords: `Vector.of(A=5, B=0)`."""
        return cls(tuple(seqnos.items()))

    def minimum(self, other: "Vector") -> "Vector":
        """The smaller seqno of each member; both have the same members. `Digests!MinVector` (STB-05)."""
        return Vector(tuple((member, min(seqno, other[member])) for member, seqno in self.entries))


EMPTY_VECTOR = Vector(())


@frozen
class DigestEntry:
    """A member's seqnos of a sender.

    `low`: where the window starts; everything up to it was never this member's to deliver. `delivered`:
    the highest seqno delivered, without a gap from `low`. `received`: the highest received, delivered or
    waiting behind a gap; never below `delivered` (STB-02).
    """

    low: int
    delivered: int
    received: int


@final
@frozen
class Digest(PerMember[DigestEntry]):
    """One `DigestEntry` a member of the view: an immutable mapping."""

    @property
    def delivered(self) -> Vector:
        """The highest seqnos delivered (DLV-01). `Digests!Delivered`."""
        return Vector(tuple((member, entry.delivered) for member, entry in self.entries))

    @property
    def received(self) -> Vector:
        """The highest seqnos received. `Digests!Received`."""
        return Vector(tuple((member, entry.received) for member, entry in self.entries))
