"""Multicasts that all members of the sender's view receive, each sender's in order. `ReliableMulticast`.

A member keeps one `Window` for each member of its view. A received message is in the store, and is delivered
as soon as no gap is before it (DLV-03, DLV-05). A member receives its own multicasts like any other (DLV-04).
Seqnos count a sender's multicasts over all its views. A message names the view in which it was multicast,
and counts in that view alone. Messages beyond the cut with which a view ends are void, and the seqnos of the
next view continue after the cut.

The store has the messages of the present view and of its predecessor, until they are purged: a member that is
still in the predecessor may fetch what it lacks (`Fetch`).

Nothing is sent again unless it is asked for: the network loses no copy between two processes that stay up
(`CARRIAGE`). It may double, delay and reorder all copies.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, assert_never

from attrs import evolve, field, frozen

from groupcomm.digest import EMPTY_VECTOR, NOTHING, Digest, DigestEntry, Vector
from groupcomm.effects import Datagram, PassUp
from groupcomm.errors import LocalProtocolError
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
    WindowsAdded,
)
from groupcomm.view import NO_VIEW, Address, View, ViewId

from .carriage import Carriage

ASSUMES: Final = ("Network", "Membership")
GIVES: Final = ("ReliableMulticast",)

CARRIAGE: Final = Carriage(kept=True)


@frozen
class Config:
    """How a sender's multicasts are delivered.

    "fifo": all, in order. Weaker than the guarantee are "unordered" (each as it comes) and "lossy" (what
    comes is delivered; what was sent before it, and has not come, is not).

    `own_at_once`: a member delivers its own in the step in which it sends them. `ReliableMulticast!OwnAtOnceStep`.
    """

    delivers: Literal["fifo", "unordered", "lossy"] = "fifo"
    own_at_once: bool = False


# Messages and events ------------------------------------------------------------------------------


@frozen
class Data:
    """The multicast number `seqno` of `origin`, in a view."""

    view_id: ViewId
    origin: Address
    seqno: int
    payload: Payload


@frozen
class Get:
    """A question for the multicasts of `origin` in a view from `first` to `last`, both included."""

    view_id: ViewId
    origin: Address
    first: int
    last: int


Message: TypeAlias = Data | Get


@frozen
class SendRequested:
    """A layer above multicasts `payload`."""

    payload: Payload


@frozen
class DataReceived:
    """A DATA arrived; `sender` is its origin, or a member that was asked for it."""

    sender: Address
    message: Data


@frozen
class GetReceived:
    """A GET arrived from `sender`."""

    sender: Address
    message: Get


Event: TypeAlias = (
    SendRequested
    | DataReceived
    | GetReceived
    | ViewInstalled
    | HoldBack
    | Release
    | Fetch
    | Purge
    | GetDigest
    | DigestSet
    | WindowsAdded
)
Effect: TypeAlias = Datagram[Message] | PassUp[Deliver | MessageReceived | DigestGiven]

# State --------------------------------------------------------------------------------------------


@frozen
class Window:
    """One sender's messages at one receiver. `ReliableMulticast!Window`.

    `low`: where it starts; not a purge. `base`: the highest seqno delivered when the view was installed.
    `delivered`: the highest seqno delivered. `received`: the highest seqno received, never below `delivered`
    (STB-02). `purged`: the highest seqno that was purged.
    """

    low: int
    base: int
    delivered: int
    received: int
    purged: int


Store: TypeAlias = Mapping[tuple[ViewId, Address, int], Payload]
_NONE: Final[Mapping[Any, Any]] = MappingProxyType({})


@frozen
class State:
    """The windows and the store of a member.

    `sent`: the seqno of its last multicast. `limit`: what HOLD_BACK said, None if nothing is held back.
    `starts`: where the windows of members that are new in the next view start. `early`: what came of views
    that are not installed yet.
    """

    member: Address
    view: View
    sent: int
    windows: Mapping[Address, Window] = field(hash=False)
    store: Store = field(hash=False)
    limit: Vector | None
    starts: Vector
    early: tuple[Data, ...]


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]


def start(member: Address) -> State:
    """Return a member before its first view."""
    return State(
        member=member, view=NO_VIEW, sent=NOTHING, windows=_NONE, store=_NONE, limit=None, starts=EMPTY_VECTOR, early=()
    )


def below(state: State) -> tuple[Digest]:
    """Return what layers above take from here: what it knows of each member of its view."""
    return (Digest((m, DigestEntry(each.low, each.delivered, each.received)) for m, each in state.windows.items()),)


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:
    """Return the next state, and what is to be done, in order.

    Raises LocalProtocolError, and changes nothing, where a layer above asks for what needs a view before
    there is one.
    """
    match event:
        case SendRequested(payload):
            return _send_requested(config, state, event, payload)
        case DataReceived(_, message):
            return _data_received(config, state, message)
        case GetReceived(sender, message):
            return state, tuple(_stored(state, sender, message))
        case ViewInstalled(view):
            return _view_installed(state, event, view)
        case HoldBack(limit):
            return _delivered(config, evolve(_in_view(state, event), limit=limit))
        case Release():
            return _delivered(config, evolve(_in_view(state, event), limit=None))
        case Fetch(holder, sender, upto):
            window = _in_view(state, event).windows[sender]
            wanted = Get(state.view.id, sender, window.delivered + 1, window.base + upto)
            return state, (Datagram(holder, wanted),)
        case Purge(digest):
            return _purge(_in_view(state, event), digest), ()
        case GetDigest(asker, request):
            delivered = Vector(tuple((m, window.delivered) for m, window in state.windows.items()))
            return state, (PassUp(DigestGiven(asker, request, delivered)),)
        case DigestSet(digest) | WindowsAdded(digest):
            return evolve(state, starts=digest), ()
        case _:
            assert_never(event)


def _in_view(state: State, event: Event) -> State:
    if state.view == NO_VIEW:
        raise LocalProtocolError(state, event, "no view is installed yet")
    return state


def _send_requested(config: Config, state: State, event: Event, payload: Payload) -> Transition:
    """Number the payload, and send it to each member of the view, its sender included."""
    data = Data(_in_view(state, event).view.id, state.member, state.sent + 1, payload)
    sent = evolve(state, sent=data.seqno)
    if not config.own_at_once:
        return sent, tuple(Datagram(member, data) for member in state.view.members)
    after, effects = _data_received(config, sent, data)
    return after, (*(Datagram(member, data) for member in state.view.members if member != state.member), *effects)


def _data_received(config: Config, state: State, message: Data) -> Transition:
    """Store it, and deliver what is due. A message of a view that is still to be installed waits."""
    if message.view_id != state.view.id:
        early = message.view_id.counter > state.view.id.counter
        return (evolve(state, early=(*state.early, message)) if early else state), ()
    key = message.view_id, message.origin, message.seqno
    window = state.windows[message.origin]
    if message.seqno <= window.delivered or key in state.store:
        return state, ()
    heard = evolve(window, received=max(window.received, message.seqno))
    stored = evolve(
        state, store={**state.store, key: message.payload}, windows={**state.windows, message.origin: heard}
    )
    after, effects = _delivered(config, stored, message)
    return after, (PassUp(MessageReceived(1)), *effects)


def _delivered(config: Config, state: State, came: Data | None = None) -> Transition:
    """Deliver messages that have no gap before them and are not held back. `ReliableMulticast!Add`."""
    if came is not None and config.delivers != "fifo":
        return _delivered_as_it_comes(config, state, came)
    windows, view_id = dict(state.windows), state.view.id
    effects: list[Effect] = []
    for sender in state.windows if came is None else (came.origin,):
        window, seqno = windows[sender], windows[sender].delivered
        held = None if state.limit is None else state.limit.get(sender)
        while (view_id, sender, seqno + 1) in state.store and (held is None or seqno < window.base + held):
            seqno += 1
            effects.append(PassUp(Deliver(sender, state.store[view_id, sender, seqno])))
        windows[sender] = evolve(window, delivered=seqno)
    return (evolve(state, windows=windows) if effects else state), tuple(effects)


def _delivered_as_it_comes(config: Config, state: State, came: Data) -> Transition:
    """Weaker than the guarantee."""
    window, reach = state.windows[came.origin], came.seqno
    if config.delivers == "unordered":
        reach = window.delivered
        while (came.view_id, came.origin, reach + 1) in state.store:
            reach += 1
    windows = {**state.windows, came.origin: evolve(window, delivered=reach)}
    return evolve(state, windows=windows), (PassUp(Deliver(came.origin, came.payload)),)


def _stored(state: State, to: Address, wanted: Get) -> Iterable[Effect]:
    """Send the requested messages that the store has. `ReliableMulticast!Holds`."""
    for seqno in range(wanted.first, wanted.last + 1):
        payload = state.store.get((wanted.view_id, wanted.origin, seqno))
        if payload is not None:
            yield Datagram(to, Data(wanted.view_id, wanted.origin, seqno, payload))


def _view_installed(state: State, event: Event, view: View) -> Transition:
    """Enter a view.

    Windows in use stay; those of new members start where it was said. `StableGroup!WindowsIn`.
    """
    if state.member not in view.members:
        raise LocalProtocolError(state, event, "a view without this member cannot be installed")
    windows = {}
    for member in view.members:
        begun = state.starts.get(member, NOTHING)
        window = state.windows.get(member, Window(begun, begun, begun, begun, NOTHING))
        windows[member] = evolve(window, base=window.delivered, received=window.delivered)
    former = {
        key: payload
        for key, payload in state.store.items()
        if key[0] == state.view.id and key[2] <= state.windows[key[1]].delivered
    }
    entered = evolve(
        state,
        view=view,
        sent=windows[state.member].delivered,
        windows=windows,
        store=former,
        limit=None,
        starts=EMPTY_VECTOR,
        early=tuple(message for message in state.early if message.view_id.counter > view.id.counter),
    )
    # The layers above have not heard of the view yet: what is of it comes again.
    return entered, tuple(Datagram(state.member, each) for each in state.early if each.view_id == view.id)


def _purge(state: State, digest: Vector) -> State:
    """Forget what all members have delivered (AMB-10); and all of former views, as no member is there."""
    windows = {
        member: evolve(window, purged=max(window.purged, digest.get(member, NOTHING)))
        for member, window in state.windows.items()
    }
    store = {
        key: payload
        for key, payload in state.store.items()
        if key[0] == state.view.id and key[2] > windows[key[1]].purged
    }
    return evolve(state, windows=windows, store=store)
