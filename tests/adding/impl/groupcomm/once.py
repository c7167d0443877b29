"""ONCE: a member passes each numbered note of a sender up once. `Once`."""

from typing import TypeAlias, assert_never, final

from attrs import evolve, frozen

from .effects import Multicast, PassUp
from .errors import LocalProtocolError, RemoteProtocolError
from .per_member import PerMember
from .view import Address


@frozen
class Config:
    """`most`: the highest number that a member may send."""

    most: int


@frozen
class Note:
    """The `number`-th note of its sender."""

    number: int


Message: TypeAlias = Note


@frozen
class SendRequested:
    """The application sends its next note."""


@frozen
class NoteReceived:
    """A note arrived."""

    sender: Address
    message: Note


Event: TypeAlias = SendRequested | NoteReceived


@frozen
class Deliver:
    """To the application: a note."""

    sender: Address
    number: int


Effect: TypeAlias = Multicast[Message] | PassUp[Deliver]


@final
@frozen
class Highest(PerMember[int]):
    """The highest number received of each sender."""


@frozen
class State:
    """The local state of the specification."""

    member: Address
    sent: int
    highest: Highest


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]


def start(member: Address) -> State:
    """Give the state of a member that has neither sent nor received. `Once!Start`."""
    return State(member, 0, Highest(()))


def step(config: Config, state: State, event: Event) -> Transition:
    """Give the next state and what is to be done. `Once!Step`."""
    match event:
        case SendRequested():
            if state.sent == config.most:
                raise LocalProtocolError(state, event, f"no more than {config.most} notes are sent")
            return evolve(state, sent=state.sent + 1), (Multicast(Note(state.sent + 1)),)
        case NoteReceived(sender, Note(number)):
            if number < 1:
                raise RemoteProtocolError(state, event, "notes are numbered from 1")
            if number <= state.highest.get(sender, 0):
                return state, ()
            highest = Highest(tuple({**state.highest, sender: number}.items()))
            return evolve(state, highest=highest), (PassUp(Deliver(sender, number)),)
        case _:
            assert_never(event)
