"""A core that gives reliable multicasts over a network that loses nothing and keeps order: the lowest layer in tests.

It says what a layer with windows says in a stack: its digest to the layers above (`below`), and the answer to
`GetDigest` in the same step.
"""

from typing import Any, Final, TypeAlias

from attrs import evolve, field, frozen

from groupcomm.digest import EMPTY_VECTOR, NOTHING, Digest, DigestEntry, Vector
from groupcomm.effects import Datagram, PassUp
from groupcomm.events import (
    Deliver,
    DigestGiven,
    DigestSet,
    Fetch,
    GetDigest,
    HoldBack,
    MessageReceived,
    Payload,
    Purge,
    Release,
    ViewInstalled,
)
from groupcomm.merge import WindowsAdded
from groupcomm.view import NO_VIEW, Address, View, ViewId

ASSUMES: Final = ("Network",)
GIVES: Final = ("ReliableMulticast",)


@frozen
class Copy:
    """A multicast of a view, for one of its members."""

    view_id: ViewId
    payload: Payload


@frozen
class SendRequested:
    """The layer above multicasts."""

    payload: Payload


@frozen
class CopyReceived:
    """A copy arrived."""

    sender: Address
    message: Copy


Message: TypeAlias = Copy
Event: TypeAlias = (
    SendRequested
    | CopyReceived
    | ViewInstalled
    | HoldBack
    | Release
    | Fetch
    | Purge
    | GetDigest
    | DigestSet
    | WindowsAdded
)
Effect: TypeAlias = Datagram[Copy] | PassUp[Deliver | MessageReceived | DigestGiven]


@frozen
class State:
    """`base`, `delivered`: of each member what was delivered before the view, and by now."""

    member: Address
    view: View = NO_VIEW
    starts: Vector = EMPTY_VECTOR
    base: Vector = EMPTY_VECTOR
    delivered: Vector = EMPTY_VECTOR
    limit: Vector | None = None
    held: tuple[CopyReceived, ...] = field(default=())
    purged: Vector = EMPTY_VECTOR


def start(member: Address) -> State:
    """A member before its first view."""
    return State(member)


def below(state: State) -> tuple[Digest]:
    """What the layers above take from here."""
    return (
        Digest((member, DigestEntry(NOTHING, seqno, seqno)) for member, seqno in state.delivered.items()),
    )


def step(_config: object, state: State, event: Event) -> tuple[State, tuple[Any, ...]]:
    """The next state, and what is to be done."""
    match event:
        case SendRequested(payload):
            return state, tuple(Datagram(to, Copy(state.view.id, payload)) for to in state.view.members)
        case CopyReceived(_, Copy(view_id)) if view_id != state.view.id:
            return state, ()
        case CopyReceived():
            return _received(evolve(state, held=(*state.held, event)))
        case ViewInstalled(view):
            known = {**dict(state.delivered.items()), **dict(state.starts.items())}
            begins = Vector(tuple((member, known.get(member, NOTHING)) for member in view.members))
            begun = State(state.member, view, base=begins, delivered=begins, purged=state.purged)
            return begun, ()
        case HoldBack(limit):
            return _received(evolve(state, limit=limit))
        case Release():
            return _received(evolve(state, limit=None))
        case Fetch():
            return state, ()  # it is on its way: nothing is lost
        case Purge(digest):
            return evolve(state, purged=digest), ()
        case GetDigest(asker, request):
            return state, (PassUp(DigestGiven(asker, request, state.delivered)),)
        case DigestSet(digest) | WindowsAdded(digest):
            return evolve(state, starts=digest), ()


def _received(state: State) -> tuple[State, tuple[Any, ...]]:
    """Deliver what is there and not held back."""
    delivered, held, effects = dict(state.delivered.items()), [], []
    for copy in state.held:
        count = delivered[copy.sender] - state.base[copy.sender]
        if state.limit is not None and count >= state.limit[copy.sender]:
            held.append(copy)
            continue
        delivered[copy.sender] += 1
        effects += [PassUp(MessageReceived(1)), PassUp(Deliver(copy.sender, copy.message.payload))]
    after = evolve(state, delivered=Vector(tuple(delivered.items())), held=tuple(held))
    return after, tuple(effects)
