"""The toy `top`: it multicasts what the application does, and decides views on being asked."""

from typing import Any, Final, TypeAlias

from attrs import evolve, frozen

from groupcomm import events
from groupcomm.effects import CancelTimer, Datagram, Multicast, PassDown, PassUp, Send
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.events import Deliver, Payload
from groupcomm.view import Address, View, ViewId

from .passed import (
    Answer,
    Ask,
    Decide,
    MergeViewInstalled,
    Note,
    Ring,
    Said,
    SendRequested,
    Stop,
    Stopped,
    ViewInstalled,
    Word,
)

ASSUMES: Final = ()
GIVES: Final = ()
LAST_VIEW: Final = 2


@frozen
class NoteReceived:
    """A note arrived."""

    sender: Address
    message: Note


Message: TypeAlias = Note
Event: TypeAlias = ViewInstalled | MergeViewInstalled | SendRequested | NoteReceived | Decide | Stopped | Answer | Ring
Effect: TypeAlias = (
    Multicast[Note]
    | Send[Note]
    | Datagram[Note]
    | CancelTimer
    | PassUp[Deliver | Said]
    | PassDown[events.ViewInstalled | Stop | Ask]
)


@frozen
class State:
    """`waits`: it has asked, and no answer has come. `level`: the level of its view."""

    member: Address
    view: int = 0
    level: int = 0
    sent: bool = False
    waits: bool = False


def start(member: Address) -> State:
    """A member before its first view."""
    return State(member)


def step(_config: object, state: State, event: Event) -> tuple[State, tuple[Any, ...]]:
    """The next state, and what is to be done."""
    match event:
        case ViewInstalled(view, level):
            return evolve(state, view=view.id.counter, level=level.value), (CancelTimer("bell"),)
        case MergeViewInstalled(view, _, level):
            return evolve(state, view=view.id.counter, level=level.value), (PassUp(Said("merged", level.value)),)
        case SendRequested(Word(number)) if not state.sent:
            note = Note(number)
            return evolve(state, sent=True), (Multicast(note), Send("B", note), PassUp(Said("sent", number)))
        case NoteReceived(sender, Note(1)):
            return state, (PassUp(Deliver(sender, Payload(Word(1)))),)
        case NoteReceived():
            raise RemoteProtocolError(state, event, "there is one note only")
        case Decide() if not state.waits:
            return evolve(state, waits=True), (PassDown(Stop()),)
        case Stopped(level) if state.waits and level.value < LAST_VIEW:
            view = View(ViewId(level.value + 1, "A"), ("A", "B"))
            down = PassDown(events.ViewInstalled(view)), PassDown(Ask("top"))
            return evolve(state, view=view.id.counter), down
        case Answer(_, level) if state.waits:
            after = evolve(state, waits=False, level=10 + level.value)
            return after, (PassUp(Said("decided", level.value)),)
        case Ring():
            return state, (CancelTimer("bell"), Datagram("B", Note(1)))
        case _:
            raise LocalProtocolError(state, event, "not now")
