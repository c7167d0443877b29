"""STABLE: which multicasts every member has delivered, and may be thrown away. `Stable`.

Members vote in rounds: a vote (STABLE) has the highest seqnos that its author has delivered. The minimum over a vote of
each member of the view is stable, one member says so (STABILITY), and all purge. The head of `spec/stable/Stable.tla`
says why that is right, and what a joiner's digest promises.

The layer below owns windows and stores. Its digest arrives in events, and a purge is passed down to it.
"""

from typing import Annotated, Final, TypeAlias, assert_never

from attrs import frozen

from . import events
from .digest import EMPTY_VECTOR, Digest, Vector
from .effects import ALL, CancelTimer, Datagram, PassDown, SetTimer
from .errors import LocalProtocolError, RemoteProtocolError
from .events import Below, DigestPromised, MessageReceived, PromiseWithdrawn, Purge
from .records import evolve
from .view import NO_VIEW, Address, View, ViewId

ASSUMES: Final = ("Membership", "JoinDigest", "ReliableMulticast")
"""The modules of `spec/common` that say what the layers below must give."""

GIVES: Final = ("StabilitySafety",)
"""The module that says what this layer gives to those above."""

RESTARTS: Final = ("stable",)
"""The timers that are set where they may be set already: a view begins a round."""

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config:
    """The constants of a member.

    `max_bytes`: received multicast payload, in bytes, that makes a member vote before its timer does
    (STB-04, AMB-57); 0: only the timer does. `stable_interval`: ms between votes. `stability_delay`: the
    longest random delay of a STABILITY message, in ms (AMB-58).
    """

    max_bytes: int
    stable_interval: int
    stability_delay: int


# Messages -----------------------------------------------------------------------------------------


@frozen
class Stable:
    """A vote: all that its author has delivered in the view. STABLE in the note."""

    view_id: ViewId
    digest: Vector


@frozen
class Stability:
    """An announcement: every member of the view has delivered this much. STABILITY in the note."""

    view_id: ViewId
    digest: Vector


Message: TypeAlias = Stable | Stability

# Events -------------------------------------------------------------------------------------------


@frozen
class ViewInstalled(events.ViewInstalled):
    """The membership service installed `view`; the layer below then had `digest`, one entry per member."""

    digest: Annotated[Digest, Below]


@frozen
class StableTimeout:
    """Timer `stable` fired: it is time to vote."""


@frozen
class StableReceived:
    """A vote arrived from member `sender`."""

    sender: Address
    message: Stable


@frozen
class StabilityTimeout:
    """Timer `stability` fired: no member was faster."""


@frozen
class StabilityReceived:
    """An announcement arrived from member `sender`; the layer below then had `digest`."""

    sender: Address
    message: Stability
    digest: Annotated[Digest, Below]


Event: TypeAlias = (
    ViewInstalled
    | StableTimeout
    | MessageReceived
    | StableReceived
    | StabilityTimeout
    | StabilityReceived
    | DigestPromised
    | PromiseWithdrawn
)

# Effects ------------------------------------------------------------------------------------------


Effect: TypeAlias = Datagram[Message] | PassDown[Purge] | SetTimer | CancelTimer

# State --------------------------------------------------------------------------------------------


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `Stable!Start` says what each field is."""

    member: Address
    view: View
    vote: Vector
    minimum: Vector
    heard_from: frozenset[Address]
    pending: bool
    received_bytes: int
    promised: frozenset[Address]

    @property
    def joined(self) -> bool:
        """True if this member has installed a view."""
        return self.view.members != ()


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]


def start(member: Address) -> State:
    """A member before its first view. `Stable!Start`."""
    return State(
        member=member,
        view=NO_VIEW,
        vote=EMPTY_VECTOR,
        minimum=EMPTY_VECTOR,
        heard_from=frozenset(),
        pending=False,
        received_bytes=0,
        promised=frozenset(),
    )


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:
    """The next state, and what is to be done, in order. `Stable!Step`.

    An ignored event returns the same state and no effects. A refused one raises and changes nothing:
    `LocalProtocolError` where the caller erred, `RemoteProtocolError` where a peer did.
    """
    match event:
        case ViewInstalled():
            return _view_installed(config, state, event)
        case StableTimeout():
            return _stable_timeout(config, state, event)
        case MessageReceived():
            return _message_received(config, state, event)
        case StableReceived():
            return _stable_received(config, state, event)
        case StabilityTimeout():
            return _stability_timeout(state)
        case StabilityReceived():
            return _stability_received(state, event)
        case DigestPromised():
            return _digest_promised(state, event)
        case PromiseWithdrawn():
            return _promise_withdrawn(state, event)
        case _:
            assert_never(event)


def _view_installed(config: Config, state: State, event: ViewInstalled) -> Transition:
    """Begin a round in a new view; what was counted or pending belonged to the old one (STB-19).

    A member of the view that has our digest votes for itself from now on. For the others the vote stays where
    it was; on senders that are new to us it begins here. `Stable!ViewInstalled`.
    """
    members = event.view.member_set
    if state.member not in members:
        raise LocalProtocolError(state, event, "a view without this member cannot be installed")
    if event.digest.keys() != members:
        raise LocalProtocolError(state, event, "the digest's members are not the view's")
    if event.view.id.counter <= state.view.id.counter:
        return state, ()
    fresh = event.digest.delivered
    promised = state.promised - members
    vote = _extended(state.vote, fresh) if promised else fresh
    entered = evolve(state, view=event.view, pending=False, received_bytes=0, promised=promised)
    return _new_round(entered, vote), (*_cancelled(state), _stable_timer(config))


def _stable_timeout(config: Config, state: State, event: StableTimeout) -> Transition:
    """Vote, with what was delivered when the round began (STB-03, AMB-51). `Stable!StableTimeout`."""
    _require_view(state, event)
    return evolve(state, received_bytes=0), (_vote(state), _stable_timer(config))


def _message_received(config: Config, state: State, event: MessageReceived) -> Transition:
    """Count bytes; enough of them make this member vote (STB-04). `Stable!MessageReceived`."""
    _require_view(state, event)
    if config.max_bytes == 0:
        return state, ()
    total = state.received_bytes + event.size
    if total < config.max_bytes:
        return evolve(state, received_bytes=total), ()
    return evolve(state, received_bytes=0), (_vote(state),)


def _stable_received(config: Config, state: State, event: StableReceived) -> Transition:
    """Merge a vote, then strike its author off; the last one arms the announcement (STB-05, -07, -08, -09).

    A second vote of the same round adds nothing: the first is a lower bound already. `Stable!StableReceived`.
    """
    message = event.message
    if not state.joined or message.view_id != state.view.id:
        return state, ()
    _require_from_view(state, event)
    if event.sender not in state.heard_from:
        return state, ()
    counted = evolve(state, minimum=state.minimum.minimum(message.digest), heard_from=state.heard_from - {event.sender})
    if counted.heard_from:
        return counted, ()
    return evolve(counted, pending=True), (SetTimer("stability", 0, config.stability_delay),)


def _stability_timeout(state: State) -> Transition:
    """Announce the minimum: the delay has passed, no other was faster (STB-09). `Stable!StabilityTimeout`."""
    if not state.pending:
        return state, ()
    return evolve(state, pending=False), (Datagram(ALL, Stability(state.view.id, state.minimum)),)


def _stability_received(state: State, event: StabilityReceived) -> Transition:
    """Purge, drop the own announcement and begin a new round (STB-10, -11, -18). `Stable!StabilityReceived`.

    While some member relies on the digest it was given, the new round keeps the old vote.
    """
    message = event.message
    if not state.joined or message.view_id != state.view.id:
        return state, ()
    _require_from_view(state, event)
    if event.digest.keys() != state.view.member_set:
        raise LocalProtocolError(state, event, "the digest's members are not the view's")
    vote = state.vote if state.promised else event.digest.delivered
    settled = evolve(state, pending=False)
    return _new_round(settled, vote), (PassDown(Purge(message.digest)), *_cancelled(state))


def _digest_promised(state: State, event: DigestPromised) -> Transition:
    """Hold the vote: no member may collect what `to` will need. `Stable!DigestPromised`."""
    _require_view(state, event)
    if event.to in state.view.member_set:
        reason = f"{event.to} is in our view: only a process outside starts from a digest"
        raise LocalProtocolError(state, event, reason)
    if event.to in state.promised:
        return state, ()
    return evolve(state, promised=state.promised | {event.to}), ()


def _promise_withdrawn(state: State, event: PromiseWithdrawn) -> Transition:
    """Let the vote go again, if this was the last promise. `Stable!PromiseWithdrawn`."""
    if event.to not in state.promised:
        return state, ()
    return evolve(state, promised=state.promised - {event.to}), ()


# Shared by the actions ----------------------------------------------------------------------------


def _new_round(state: State, vote: Vector) -> State:
    """`Stable!NewRound` (STB-06)."""
    return evolve(state, vote=vote, minimum=vote, heard_from=state.view.member_set)


def _extended(vector: Vector, fresh: Vector) -> Vector:
    """A vector for the members of `fresh`: what it had stays, the others' is as there. `Stable!Extended`."""
    return Vector(tuple((member, vector.get(member, seqno)) for member, seqno in fresh.items()))


def _vote(state: State) -> Datagram[Message]:
    return Datagram(ALL, Stable(state.view.id, state.vote))


def _stable_timer(config: Config) -> SetTimer:
    return SetTimer("stable", config.stable_interval, config.stable_interval)


def _cancelled(state: State) -> tuple[CancelTimer, ...]:
    return (CancelTimer("stability"),) if state.pending else ()


def _require_view(state: State, event: Event) -> None:
    if not state.joined:
        raise LocalProtocolError(state, event, "no view is installed yet")


def _require_from_view(state: State, event: StableReceived | StabilityReceived) -> None:
    """A message of our view comes from a member of it, with an entry for each member. `Stable!FromView`."""
    members = state.view.member_set
    if event.sender not in members:
        raise RemoteProtocolError(state, event, f"{event.sender} is not in our view, and says it is")
    if event.message.digest.keys() != members:
        raise RemoteProtocolError(state, event, "the message's members are not the view's")
