"""`groupcomm.stack.Stack` over the three toys, as a core: what is compared with `spec/stack`.

`Stack` is a class, and no module of a protocol. So this module says of a single stack what a protocol's
module says: its events and its layers' states. It adds only the class of the state, in which each layer has
its annotation.
"""

from types import SimpleNamespace
from typing import Any, TypeAlias, cast

from attrs import frozen

from groupcomm import events
from groupcomm import stack as stacks
from groupcomm.core import Core
from groupcomm.effects import CancelTimer, Datagram, Multicast, PassDown, PassUp, Send, SetTimer
from groupcomm.errors import ProtocolError
from groupcomm.view import Address

from . import low, mid, top
from .passed import Answer, Ask, Copy, Decide, Depth, Level, Note, Ring, Said, Sealed, Stop, Stopped, Tagged, Word

Message: TypeAlias = Note | Sealed | Copy
Passed: TypeAlias = (
    Decide | Stop | Stopped | Ask | Answer | Ring | Said | events.ViewInstalled | events.MergeViewInstalled
)
Told: TypeAlias = Level | Depth
Inside: TypeAlias = Passed | Told
"""Records that have a `type` in the specification and are inside an event of the stack."""


@frozen
class Config:
    """A stack has none: its layers have theirs."""


@frozen
class Called(stacks.Called):
    """As `groupcomm.stack` has it, here and below; it says what may be in it, and so may a payload."""

    request: Multicast[Word] | Send[Word] | PassDown[Passed]  # type: ignore[assignment]
    below: tuple[Told, ...] = ()


@frozen
class Arrived(stacks.Arrived):
    """A message of a peer."""

    sender: Address
    message: Tagged
    below: tuple[Told, ...] = ()


@frozen
class Fired(stacks.Fired):
    """A timer."""

    timer: str
    below: tuple[Told, ...] = ()


@frozen
class Raised(stacks.Raised):
    """An event from beneath the stack."""

    event: Passed
    below: tuple[Told, ...] = ()


Event: TypeAlias = Called | Arrived | Fired | Raised
Effect: TypeAlias = (
    Multicast[object]
    | Send[object]
    | Datagram[object]
    | SetTimer
    | CancelTimer
    | PassUp[Passed | events.Deliver]
    | PassDown[Passed]
)


@frozen
class State:
    """The states of the layers, top first."""

    member: Address
    layers: tuple[top.State, mid.State, low.State]


ROOTS = ("step", "start", "messages", "timers", "tellers", "read")
"""Functions that take part in a step, or read layers' states: mutants of `groupcomm.stack` change them."""


TEXTS = {
    "layer": ("top", "mid", "low", "top", "mid", "low", "", "nobody"),
    "asker": ("top", "mid", "low", "application"),
    "what": ("sent", "view", "again"),
    "timer": (
        *("low/wait", "mid/retry_once", "mid/again/1", "mid/again/12"),
        *("low/wait", "mid/retry_once", "mid/again/1", "mid/again/12"),
        *("mid/again", "mid/again/", "mid/again/x", "mid/again/1/12", "mid/again/-1", "mid/retry_once/1"),
        *("low/again/1", "low/wait/", "top/bell", "top/wait", "nobody/wait", "wait", "/", ""),
    ),
}
"""Texts of fields with these names in random events, most of them correct."""


def made() -> Core[Config, State, Event, stacks.Effect]:
    """The core, made anew: its layers are read and put over one another now."""
    stack = stacks.Stack(tuple(stacks.Layer.of(layer, None) for layer in (top, mid, low)), ())

    def start(member: Address) -> State:
        return State(member, cast("Any", stack.start(member).layers))

    def step(_config: Config, state: State, event: Event) -> tuple[State, tuple[stacks.Effect, ...]]:
        before = stacks.State(state.member, state.layers)
        try:
            after, effects = stack.step(None, before, event)
        except ProtocolError as error:
            if error.state is before:
                error.state = state
            raise
        return (state if after is before else State(after.member, cast("Any", after.layers))), effects

    return cast("Core[Config, State, Event, stacks.Effect]", SimpleNamespace(start=start, step=step))


_CORE = made()
start = _CORE.start
step = _CORE.step
