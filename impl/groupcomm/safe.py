"""SAFE: a sender hears when its messages are safe. `Safe`.

Each receiver acknowledges to the sender, by unicast, what it has delivered (ACK). What all members of the view have
acknowledged is safe: every member that goes on to another view has delivered it. What was delivered before a view is
safe in it; with `majority`, when all its members know that it is formed. Where views merge the answers of the former
view's members decide: safe, or nobody knows (`UnknownUpTo`). The head of `spec/safe/Safe.tla` says why.
"""

from typing import Final, TypeAlias, assert_never, final

from attrs import frozen

from .effects import Multicast, PassUp, Send
from .errors import LocalProtocolError, RemoteProtocolError
from .events import Deliver, MergeViewInstalled, Payload, SafeUpTo, UnknownUpTo, ViewFormed, ViewInstalled
from .per_member import PerMember
from .records import evolve
from .view import NO_VIEW, Address, View, ViewId

ASSUMES: Final = ("TotalOrderBroadcast", "ReliableUnicast")
"""The modules of `spec/common` that say what the layers below must give."""

GIVES: Final = ("UniformDelivery",)
"""The module that says what this layer gives to those above."""


@frozen
class Config:
    """`majority`: as that of SEQUENCER. A view goes on when it is formed."""

    majority: bool = False


# Messages -----------------------------------------------------------------------------------------


@frozen
class Data:
    """In the order: the `number`-th multicast of its sender, from 1."""

    number: int
    payload: Payload


@frozen
class Ack:
    """The sender has delivered the receiver's multicasts up to `number`. It says so in view `view_id`.

    With `majority` it knows that this view is formed.
    """

    view_id: ViewId
    number: int


Message: TypeAlias = Data | Ack

# Events -------------------------------------------------------------------------------------------


@frozen
class SendRequested:
    """The layer above multicasts `payload`."""

    payload: Payload


@frozen
class DataReceived:
    """A multicast came in its place."""

    sender: Address
    message: Data


@frozen
class AckReceived:
    """An ACK arrived."""

    sender: Address
    message: Ack


Event: TypeAlias = SendRequested | DataReceived | AckReceived | ViewFormed | ViewInstalled | MergeViewInstalled

# Effects ------------------------------------------------------------------------------------------


Effect: TypeAlias = Multicast[Data] | Send[Ack] | PassUp[Deliver | ViewFormed | SafeUpTo | UnknownUpTo]

# State --------------------------------------------------------------------------------------------


@final
@frozen
class Had(PerMember[int]):
    """Of each member the number of its last multicast that was delivered."""


@final
@frozen
class Acks(PerMember[Ack]):
    """Of each member its last ACK, of the present view or a later one."""


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `Safe!Start` says what each field is."""

    member: Address
    view: View
    formed: ViewId
    sent: int
    had: Had
    told: int
    before: int
    among: frozenset[Address]
    asks: bool
    acks: Acks


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]


def start(member: Address) -> State:
    """Give a member before its first view. `Safe!Start`."""
    return State(
        member=member,
        view=NO_VIEW,
        formed=NO_VIEW.id,
        sent=0,
        had=Had(()),
        told=0,
        before=0,
        among=frozenset(),
        asks=False,
        acks=Acks(()),
    )


def step(config: Config, state: State, event: Event) -> Transition:
    """Give the next state, and what is to be done, in order. `Safe!Step`."""
    match event:
        case SendRequested(payload):
            if state.view == NO_VIEW:
                raise LocalProtocolError(state, event, "no view is installed yet")
            number = state.sent + 1
            return evolve(state, sent=number), (Multicast(Data(number, payload)),)
        case DataReceived():
            return _data_received(config, state, event)
        case AckReceived():
            return _ack_received(config, state, event)
        case ViewFormed():
            return _view_formed(config, state, event)
        case ViewInstalled():
            return _view_installed(config, state, event)
        case _:
            assert_never(event)


def _data_received(config: Config, state: State, event: DataReceived) -> Transition:
    """Pass a multicast up, and acknowledge it. `Safe!DataReceived`."""
    sender, message = event.sender, event.message
    if sender not in state.view.members or message.number < 1:
        raise RemoteProtocolError(state, event, "a member of the view numbers its messages from 1")
    after = evolve(state, had=state.had.put(sender, message.number))
    up = PassUp(Deliver(sender, message.payload))
    if sender == state.member:
        return _report(config, after if state.asks else _settled(after), (up,))
    return after, (up, Send(sender, Ack(state.view.id, message.number)))


def _ack_received(config: Config, state: State, event: AckReceived) -> Transition:
    """Count an ACK of the present view; keep that of a later one. `Safe!AckReceived`."""
    sender, message = event.sender, event.message
    present = message.view_id == state.view.id
    if not present and message.view_id.counter <= state.view.id.counter:
        return state, ()
    if (present and sender not in state.view.members) or message.number > state.sent:
        raise RemoteProtocolError(state, event, "a member of the view acknowledges what was sent")
    after = evolve(state, acks=state.acks.put(sender, message))
    return _report(config, after, ()) if present else (after, ())


def _view_formed(config: Config, state: State, event: ViewFormed) -> Transition:
    """Acknowledge that the view is formed. `Safe!ViewFormed`."""
    if not config.majority:
        raise LocalProtocolError(state, event, "a view is formed, and this group has no option majority")
    after = evolve(state, formed=event.view_id)
    if event.view_id != state.view.id:
        return after, (PassUp(event),)
    return _report(config, after, (PassUp(event), *_says(after)))


def _view_installed(config: Config, state: State, event: ViewInstalled) -> Transition:
    """Report what all that go on together have; where views merge, ask. `Safe!ViewInstalled`."""
    view = event.view
    now = view.member_set
    if state.member not in now or view.id.counter <= state.view.id.counter:
        raise LocalProtocolError(state, event, "views are installed at their members, by rising counters")
    told, among = state.told, state.among
    effects: tuple[Effect, ...] = ()
    if state.asks:  # this view ends the wait for answers
        told, among = state.before, state.view.member_set
        effects = (PassUp(UnknownUpTo(told)),)
    own = state.had.get(state.member, 0)
    kept = (
        entry
        for entry in state.acks.items()
        if entry[1].view_id == view.id or entry[1].view_id.counter > view.id.counter
    )
    entered = evolve(
        state,
        view=view,
        told=told,
        before=own,
        among=among,
        asks=False,
        had=state.had.latest(now),
        acks=Acks(tuple(kept)),
    )
    merged = isinstance(event, MergeViewInstalled)
    says = _says(entered) if _is_open(config, entered) and (merged or config.majority) else ()
    if own <= told:
        return _settled(entered), (*effects, *says)
    if merged and among <= now:
        return _report(config, evolve(entered, asks=True), (*effects, *says))
    if merged:
        return evolve(_settled(entered), told=own), (*effects, PassUp(UnknownUpTo(own)), *says)
    if not config.majority:
        return evolve(_settled(entered), told=own), (*effects, PassUp(SafeUpTo(own)))
    return _report(config, entered, (*effects, *says))


# Shared by the actions ----------------------------------------------------------------------------


def _settled(state: State) -> State:
    """What is not reported was delivered in this view. `Safe!Settled`."""
    return evolve(state, asks=False, among=state.view.member_set)


def _is_open(config: Config, state: State) -> bool:
    """Say whether messages are ordered in this view, as far as this member knows. `Safe!IsOpen`."""
    return not config.majority or state.formed == state.view.id


def _says(state: State) -> tuple[Effect, ...]:
    """Say to each other member of the view how much is delivered of it. `Safe!Says`."""
    others = (each for each in state.view.members if each != state.member)
    return tuple(Send(each, Ack(state.view.id, state.had.get(each, 0))) for each in others)


def _heard(state: State, members: frozenset[Address]) -> list[int]:
    """Give how much these other members have delivered, as far as they acknowledge in this view. `Safe!Heard`."""
    acks = (state.acks.get(each) for each in members if each != state.member)
    return [ack.number for ack in acks if ack is not None and ack.view_id == state.view.id]


def _acked(state: State) -> int:
    """The highest own message that is safe. `Safe!Acked`."""
    heard, members = _heard(state, state.among), state.view.member_set
    if len(heard) == len(state.among - {state.member}):
        acked = min((state.had.get(state.member, 0), *heard))
        if acked > state.before:
            return acked
    knows = len(_heard(state, members)) == len(members - {state.member})
    return state.before if knows else state.told  # what was delivered before this view


def _report(config: Config, state: State, effects: tuple[Effect, ...]) -> Transition:
    """Report what can be reported now, after these effects. `Safe!Report`."""
    if state.asks:  # an answer is the first ACK of a view, and may come before this member knows that it is formed
        heard = _heard(state, state.among)
        less = any(number < state.before for number in heard)
        if not less and len(heard) < len(state.among - {state.member}):
            return state, effects
        told = (UnknownUpTo if less else SafeUpTo)(state.before)
        effects = (*effects, PassUp(told))
        state = evolve(_settled(state), told=state.before)
    safe = _acked(state)
    if not _is_open(config, state) or safe == state.told:
        return state, effects
    return evolve(state, told=safe, before=safe), (*effects, PassUp(SafeUpTo(safe)))
