"""SAFE: a sender hears when its messages are safe. `Safe`.

Theory of operation
-------------------
A member numbers its multicasts. Each receiver acknowledges to the sender, by unicast, that it has delivered
them up to a number (ACK). What all members of the view have acknowledged is safe: whoever crashes, every
member that goes on to another view has delivered it.

What was not acknowledged by all when the view ends has still been delivered by all that go on together. It is
safe in the next view, with the option `majority` of SEQUENCER as soon as that is formed.

Where views merge, a member cannot know which of them went on. All members of the merged view say how much
they have delivered of each other. What all members of the former view have is safe. If one of them is not
there, or has less, the sender is told that nobody knows (`UnknownUpTo`). By these answers the sender hears,
too, of a message that the others had before the merge, and do not deliver again.

No message waits: SAFE passes up each as it comes.
"""

from typing import Final, TypeAlias, assert_never, final

from attrs import frozen

from .effects import Multicast, PassUp, Send
from .errors import LocalProtocolError, RemoteProtocolError
from .events import Deliver, MergeViewInstalled, Payload, ViewFormed, ViewInstalled
from .per_member import PerMember
from .records import evolve
from .view import NO_VIEW, Address, View, ViewId

ASSUMES: Final = ("TotalOrderBroadcast", "ReliableUnicast")
"""The modules of `spec/common` that say what the layers below must give."""

GIVES: Final = ("UniformDelivery",)
"""The module that says what this layer gives to those above."""

__all__ = [
    "ASSUMES",
    "GIVES",
    "Ack",
    "AckReceived",
    "Acks",
    "Config",
    "Data",
    "DataReceived",
    "Deliver",
    "Effect",
    "Event",
    "Had",
    "MergeViewInstalled",
    "Message",
    "Payload",
    "SafeUpTo",
    "SendRequested",
    "State",
    "Transition",
    "UnknownUpTo",
    "ViewFormed",
    "ViewInstalled",
    "start",
    "step",
]


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
    """The sender has delivered the receiver's multicasts up to `number`. It says so in view `view_id`."""

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


@frozen
class SafeUpTo:
    """The own multicasts up to `number`, of which nothing was said yet, are safe."""

    number: int


@frozen
class UnknownUpTo:
    """Of the own multicasts up to `number`, of which nothing was said yet, nobody knows whether they are safe."""

    number: int


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
            return _data_received(state, event)
        case AckReceived():
            return _ack_received(state, event)
        case ViewFormed():
            return _view_formed(config, state, event)
        case ViewInstalled():
            return _view_installed(config, state, event)
        case _:
            assert_never(event)


def _data_received(state: State, event: DataReceived) -> Transition:
    """Pass a multicast up, and acknowledge it. `Safe!DataReceived`."""
    sender, message = event.sender, event.message
    if sender not in state.view.members or message.number < 1:
        raise RemoteProtocolError(state, event, "a member of the view numbers its messages from 1")
    after = evolve(state, had=state.had.put(sender, message.number))
    up = PassUp(Deliver(sender, message.payload))
    if sender == state.member:
        return _report(after, (up,))
    return after, (up, Send(sender, Ack(state.view.id, message.number)))


def _ack_received(state: State, event: AckReceived) -> Transition:
    """Count an ACK of the present view; keep that of a later one. `Safe!AckReceived`."""
    sender, message = event.sender, event.message
    present = message.view_id == state.view.id
    if not present and message.view_id.counter <= state.view.id.counter:
        return state, ()
    if (present and sender not in state.view.members) or message.number > state.sent:
        raise RemoteProtocolError(state, event, "a member of the view acknowledges what was sent")
    return _report(evolve(state, acks=state.acks.put(sender, message)), ())


def _view_formed(config: Config, state: State, event: ViewFormed) -> Transition:
    """What was delivered in the view before is safe now. `Safe!ViewFormed`."""
    if not config.majority:
        raise LocalProtocolError(state, event, "a view is formed, and this group has no option majority")
    after = evolve(state, formed=event.view_id)
    if event.view_id == state.view.id and state.before > state.told and not state.asks:
        safe = PassUp(SafeUpTo(state.before))
        return evolve(_settled(after), told=state.before), (PassUp(event), safe)
    return after, (PassUp(event),)


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
    says: tuple[Effect, ...] = ()
    merged = isinstance(event, MergeViewInstalled)
    if merged:
        others = (each for each in view.members if each != state.member)
        says = tuple(Send(each, Ack(view.id, state.had.get(each, 0))) for each in others)
    if own <= told:
        return _settled(entered), (*effects, *says)
    if merged and among <= now:
        return _report(evolve(entered, asks=True), (*effects, *says))
    if merged:
        return evolve(_settled(entered), told=own), (*effects, PassUp(UnknownUpTo(own)), *says)
    if not config.majority or state.formed == view.id:
        return evolve(_settled(entered), told=own), (*effects, PassUp(SafeUpTo(own)))
    return entered, effects


# Shared by the actions ----------------------------------------------------------------------------


def _settled(state: State) -> State:
    """Nothing of a former view is undecided. `Safe!Settled`."""
    return evolve(state, asks=False, among=state.view.member_set)


def _acked(state: State) -> int:
    """The highest own message that is delivered here and acknowledged. `Safe!Acked`."""
    highest = state.had.get(state.member, 0)
    for member in state.among - {state.member}:
        ack = state.acks.get(member)
        if ack is None or ack.view_id != state.view.id:
            return state.told
        highest = min(highest, ack.number)
    return max(highest, state.told)


def _report(state: State, effects: tuple[Effect, ...]) -> Transition:
    """Report what can be reported now, after these effects. `Safe!Report`."""
    if state.asks:
        heard = [
            ack.number
            for member, ack in state.acks.items()
            if member in state.among - {state.member} and ack.view_id == state.view.id
        ]
        less = any(number < state.before for number in heard)
        if less or len(heard) == len(state.among) - 1:
            told = (UnknownUpTo if less else SafeUpTo)(state.before)
            effects = (*effects, PassUp(told))
            state = evolve(_settled(state), told=state.before)
    if state.before > state.told:  # of what came before, nothing is decided yet
        return state, effects
    safe = _acked(state)
    if safe == state.told:
        return state, effects
    return evolve(state, told=safe, before=safe), (*effects, PassUp(SafeUpTo(safe)))
