"""Unicasts: between members of a view each arrives once, in the order sent. `ReliableUnicast`.

So it does to and from a process that has no view yet. A sender that has a view without the receiver may close
the connection: messages on their way are lost from some message on. And no sender knows which messages
arrived at an incarnation that is over: the next incarnation may be given the last part of them.

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

CARRIAGE: Final = Carriage(kept=True, ordered=True, closes=True, inherits=True)


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
