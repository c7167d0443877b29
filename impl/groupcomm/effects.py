"""Effects: what a protocol asks of its environment. Imperatives, in the order in which they are to happen.

There are two kinds of sending. `Multicast` and `Send` are calls of the layer below, with its guarantees
(NAKACK's, UNICAST's). A `Datagram` goes to the network, past the layers below: it may be lost, duplicated
and overtaken.

Effects are generic in the messages and events of the protocol that has them. Times are in milliseconds.
"""

from typing import Final, Generic, TypeVar

from attrs import frozen

from .view import Address

M_co = TypeVar("M_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)


@frozen
class Multicast(Generic[M_co]):
    """Have the layer below send `message` to the group, this member included (DLV-04)."""

    message: M_co


@frozen
class Send(Generic[M_co]):
    """Have the layer below send `message` to one member."""

    to: Address
    message: M_co


ALL: Final = "*"
"""As the receiver of a datagram: whoever hears, this member included; no address."""


@frozen
class Datagram(Generic[M_co]):
    """Hand `message` to the network, for one member or `ALL`."""

    to: Address
    message: M_co


@frozen
class PassUp(Generic[E_co]):
    """Hand `event` to the protocol above."""

    event: E_co


@frozen
class PassDown(Generic[E_co]):
    """Hand `event` to the protocol below."""

    event: E_co


@frozen
class SetTimer:
    """Fire timer `name` once, after a time that the runtime draws from `low` to `high` ms, both included.

    Setting a timer that is set already replaces it: its time begins anew. So a timer that is set again at
    each message never fires under traffic. A core sets a timer only where it is not set. The exceptions are
    timers whose event begins anew with a view: the core's module names them in `RESTARTS`.
    """

    name: str
    low: int
    high: int


@frozen
class CancelTimer:
    """Do not fire timer `name`. It may fire all the same if it was about to; the protocol then ignores it."""

    name: str
