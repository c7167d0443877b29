"""The toy `mid`: it seals what is multicast through it, and asks `low` for `top`."""

from typing import Annotated, Any, Final, TypeAlias

from attrs import evolve, frozen

from groupcomm.effects import CancelTimer, Multicast, PassDown, PassUp, Send, SetTimer
from groupcomm.errors import LocalProtocolError
from groupcomm.events import Deliver, Payload
from groupcomm.view import Address

from .passed import (
    Answer,
    Ask,
    Level,
    Said,
    Sealed,
    SendRequested,
    Stop,
    Stopped,
    UnicastRequested,
    ViewInstalled,
    Word,
)

ASSUMES: Final = ()
GIVES: Final = ()


@frozen
class SealedReceived:
    """A sealed message arrived."""

    sender: Address
    message: Sealed


@frozen
class RetryOnceTimeout:
    """Timer `retry_once` fired."""


@frozen
class AgainTimeout:
    """Timer `again/number` fired."""

    number: Annotated[int, "which of them"]


Message: TypeAlias = Sealed
Event: TypeAlias = (
    ViewInstalled | SendRequested | UnicastRequested | SealedReceived | Stop | Answer | RetryOnceTimeout | AgainTimeout
)
Effect: TypeAlias = (
    SetTimer
    | CancelTimer
    | Multicast[Sealed]
    | Send[Sealed]
    | PassUp[Deliver | Said | Answer | Stopped]
    | PassDown[Ask | Said]
)


@frozen
class State:
    """As `top.State`. `retried`: its timer has fired."""

    member: Address
    view: int = 0
    level: int = 0
    waits: bool = False
    retried: bool = False


def start(member: Address) -> State:
    """A member before its first view."""
    return State(member)


def below(state: State) -> tuple[Level]:
    """Ten more than the level that it got."""
    return (Level(10 + state.level),)


def step(_config: object, state: State, event: Event) -> tuple[State, tuple[Any, ...]]:
    """The next state, and what is to be done."""
    match event:
        case ViewInstalled(view, level):
            after = evolve(state, view=view.id.counter, level=level.value)
            return after, (PassUp(Said("view", level.value)),)
        case SendRequested(payload):
            return state, (SetTimer("retry_once", 1, 2), Multicast(Sealed(payload)), CancelTimer("retry_once"))
        case UnicastRequested(payload, to):
            return state, (Send(to, Sealed(payload)),)
        case SealedReceived(sender, Sealed(payload)):
            return state, (PassUp(Deliver(sender, Payload(payload))),)
        case Stop():
            return evolve(state, waits=True), (SetTimer("again/1", 1, 2), PassDown(Ask("mid")))
        case Answer(asker) if asker != "mid":
            return state, (PassUp(event),)
        case Answer(_, level):
            if not state.waits:
                raise LocalProtocolError(state, event, "it did not ask")
            return evolve(state, waits=False), (PassUp(Stopped(level)),)
        case RetryOnceTimeout():
            return evolve(state, retried=True), ()
        case AgainTimeout(number):
            return state, (PassDown(Said("again", number)), Send("B", Sealed(Word(number))))
