"""Unicasts: between two processes that stay up each arrives once, in the order sent. `ReliableUnicast`.

The network does it (`CARRIAGE`). This core names the sender and passes on.
"""

from typing import Final, TypeAlias, assert_never

from attrs import frozen

from groupcomm.effects import Datagram, PassUp
from groupcomm.events import Deliver, Payload
from groupcomm.view import Address

from .carriage import Carriage

ASSUMES: Final = ("Network",)
GIVES: Final = ("ReliableUnicast",)

CARRIAGE: Final = Carriage(kept=True, ordered=True)


@frozen
class Config:
    """Nothing is to be set."""


@frozen
class Data:
    """A unicast of a layer above."""

    payload: Payload


Message: TypeAlias = Data


@frozen
class UnicastRequested:
    """A layer above sends `payload` to one member."""

    to: Address
    payload: Payload


@frozen
class DataReceived:
    """A DATA arrived from `sender`."""

    sender: Address
    message: Data


Event: TypeAlias = UnicastRequested | DataReceived
Effect: TypeAlias = Datagram[Message] | PassUp[Deliver]


@frozen
class State:
    """A member."""

    member: Address


def start(member: Address) -> State:
    """Return a member that has sent nothing."""
    return State(member)


def step(_config: Config, state: State, event: Event) -> tuple[State, tuple[Effect, ...]]:
    """Return the same state, and what is passed on."""
    match event:
        case UnicastRequested(to, payload):
            return state, (Datagram(to, Data(payload)),)
        case DataReceived(sender, message):
            return state, (PassUp(Deliver(sender, message.payload)),)
        case _:
            assert_never(event)
