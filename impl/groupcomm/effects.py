"""Effects: what a protocol asks of its surroundings. Imperatives, in the order in which they are to happen.

Effects are generic in the messages and events of the protocol that has them. Times are in milliseconds.
"""

from typing import Generic, TypeVar

from attrs import frozen

from .view import Address

M = TypeVar("M")
E = TypeVar("E")


@frozen
class Multicast(Generic[M]):
    """Send `message` to the group, this member included (DLV-04)."""

    message: M


@frozen
class Send(Generic[M]):
    """Send `message` to one member."""

    to: Address
    message: M


@frozen
class PassUp(Generic[E]):
    """Hand `event` to the protocol above."""

    event: E


@frozen
class PassDown(Generic[E]):
    """Hand `event` to the protocol below."""

    event: E


@frozen
class SetTimer:
    """Fire timer `name` once, after a time that the runtime draws from `low` to `high` ms, both included.

    Setting a timer that is set already replaces it.
    """

    name: str
    low: int
    high: int


@frozen
class CancelTimer:
    """Do not fire timer `name`. It may fire all the same if it was about to; the protocol then ignores it."""

    name: str
