"""The toy `low`: it has the network below it."""

from typing import Annotated, Any, Final, TypeAlias

from attrs import evolve, frozen

from groupcomm.effects import ALL, Datagram, PassUp, Send, SetTimer
from groupcomm.errors import LocalProtocolError
from groupcomm.events import Below, Deliver, Payload, ViewInstalled
from groupcomm.view import Address

from .passed import Answer, Ask, Copy, Depth, Level, Said, SendRequested, UnicastRequested, Word

ASSUMES: Final = ()
GIVES: Final = ()


@frozen
class CopyReceived:
    """A copy arrived."""

    sender: Address
    message: Copy


@frozen
class WaitTimeout:
    """Timer `wait` fired, at this depth."""

    depth: Annotated[Depth, Below]


Message: TypeAlias = Copy
Event: TypeAlias = ViewInstalled | SendRequested | UnicastRequested | CopyReceived | Ask | WaitTimeout
Effect: TypeAlias = SetTimer | Send[Copy] | Datagram[Copy] | PassUp[Deliver | Said | Answer]


@frozen
class State:
    """`received`: a copy has arrived in a view."""

    member: Address
    view: int = 0
    received: bool = False


def start(member: Address) -> State:
    """A member before its first view."""
    return State(member)


def below(state: State) -> tuple[Level]:
    """The counter of its view."""
    return (Level(state.view),)


def step(_config: object, state: State, event: Event) -> tuple[State, tuple[Any, ...]]:
    """The next state, and what is to be done."""
    match event:
        case ViewInstalled(view) if view.id.counter > state.view:
            return evolve(state, view=view.id.counter), (SetTimer("wait", 1, 2),)
        case ViewInstalled():
            raise LocalProtocolError(state, event, "the view is not a later one")
        case SendRequested(payload):
            if not state.view:
                raise LocalProtocolError(state, event, "there is no view to multicast in")
            return state, (PassUp(Deliver(state.member, Payload(payload))), Datagram(ALL, Copy(payload)))
        case UnicastRequested(payload, to):
            return state, (Datagram(to, Copy(payload)),)
        case CopyReceived() | WaitTimeout() if not state.view:
            return state, ()
        case CopyReceived(sender, Copy(payload)):
            return evolve(state, received=True), (PassUp(Deliver(sender, Payload(payload))),)
        case Ask(asker):
            return state, (PassUp(Answer(asker, Level(state.view))),)
        case WaitTimeout(depth):
            return state, (PassUp(Said("waited", depth.value)), Send("B", Copy(Word(1))))
