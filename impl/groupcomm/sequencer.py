"""SEQUENCER: every member delivers all multicasts in the order that the coordinator gives them. `Sequencer`.

A member sends its multicast to the coordinator of its view (FORWARD), and keeps it in its `forward_table`
until it comes back. The coordinator multicasts it (DATA), and every member delivers DATA as it comes, each once.
When a member has installed a view it sends its table again, to the coordinator of that view, before anything new.

The head of `spec/sequencer/Sequencer.tla` says why that is right. The README beside it has a table of what remains
without each guarantee of the layers below. The option `majority` is `primary`, which says when a coordinator may
order.
"""

from typing import Final, TypeAlias, assert_never, final

from attrs import frozen

from . import primary
from .effects import Multicast, PassUp, Send
from .errors import LocalProtocolError, RemoteProtocolError
from .events import Deliver, DeliverUnicast, Payload, Suspected, ViewFormed, ViewInstalled
from .per_member import PerMember
from .primary import Config, Formed, FormedReceived, Report, ReportReceived, Reports, Restored
from .records import evolve
from .view import NO_VIEW, Address, View, ViewId

ASSUMES: Final = ("VirtualSynchrony", "ReliableUnicast", "Departures")
"""The modules of `spec/common` that say what the layers below must give."""

GIVES: Final = ("TotalOrderBroadcast",)
"""The module that says what this layer gives to those above."""

__all__ = [
    "ASSUMES",
    "GIVES",
    "Config",
    "Data",
    "DataReceived",
    "Deliver",
    "DeliverUnicast",
    "Effect",
    "Entry",
    "Event",
    "Formed",
    "FormedReceived",
    "Forward",
    "ForwardReceived",
    "Mark",
    "Message",
    "Payload",
    "Plain",
    "PlainReceived",
    "ReceivedTable",
    "Report",
    "ReportReceived",
    "Reports",
    "Restored",
    "SendRequested",
    "State",
    "Suspected",
    "Tag",
    "Transition",
    "UnicastRequested",
    "ViewFormed",
    "ViewInstalled",
    "start",
    "step",
]

# Messages -----------------------------------------------------------------------------------------


@frozen
class Tag:
    """Identifies a multicast (SEQ-10, AMB-76).

    `epoch` is the identifier of its sender's first view, so that a member that comes back has other tags.
    The counter alone would not do: in two branches of views two incarnations of a member can join with the
    same counter. `seqno` rises by 1 from 1.
    """

    sender: Address
    epoch: ViewId
    seqno: int


@frozen
class Forward:
    """A message on its way to the coordinator. FORWARD in the note."""

    view_id: ViewId
    tag: Tag
    payload: Payload


@frozen
class Data:
    """A message that the coordinator has ordered. DATA in the note."""

    view_id: ViewId
    tag: Tag
    payload: Payload


@frozen
class Plain:
    """A message without header: a unicast of the application."""

    payload: Payload


Message: TypeAlias = Forward | Data | Plain | Report | Formed

# Events -------------------------------------------------------------------------------------------


@frozen
class SendRequested:
    """The application multicasts `payload`."""

    payload: Payload


@frozen
class UnicastRequested:
    """The application sends `payload` to one member."""

    to: Address
    payload: Payload


@frozen
class PlainReceived:
    """A message without header arrived from member `sender`."""

    sender: Address
    message: Plain


@frozen
class ForwardReceived:
    """The unicast layer delivered a FORWARD from member `sender`."""

    sender: Address
    message: Forward


@frozen
class DataReceived:
    """The multicast layer delivered a DATA that member `sender` multicast."""

    sender: Address
    message: Data


Event: TypeAlias = (
    SendRequested
    | UnicastRequested
    | PlainReceived
    | ForwardReceived
    | DataReceived
    | ReportReceived
    | FormedReceived
    | Restored
    | ViewInstalled
    | Suspected
)

# Effects ------------------------------------------------------------------------------------------


Effect: TypeAlias = Send[Message] | Multicast[Message] | PassUp[Deliver | DeliverUnicast | ViewFormed]

# State --------------------------------------------------------------------------------------------


@frozen
class Entry:
    """An own multicast that did not come back yet."""

    seqno: int
    payload: Payload


@frozen
class Mark:
    """The place of a multicast among those of its sender, in the incarnation that began with view `epoch`."""

    epoch: ViewId
    seqno: int


@final
@frozen
class ReceivedTable(PerMember[Mark]):
    """The highest mark received, a sender."""


@frozen(slots=False)
class State(primary.State):
    """The local state of the specification, field for field. `Sequencer!Start` says what each field is."""

    seqno: int
    forward_table: tuple[Entry, ...]
    received_table: ReceivedTable
    early: tuple[Forward, ...]
    suspected: frozenset[Address]


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]


def start(member: Address) -> State:
    """A member before its first view. `Sequencer!Start`."""
    return State(
        member=member,
        view=NO_VIEW,
        epoch=NO_VIEW.id,
        founds=True,
        attempts=(),
        formed=False,
        reports=Reports(()),
        seqno=0,
        forward_table=(),
        received_table=ReceivedTable(()),
        early=(),
        suspected=frozenset(),
    )


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:
    """The next state, and what is to be done, in order. `Sequencer!Step`.

    An ignored event returns the same state and no effects. A refused one raises and changes nothing:
    `LocalProtocolError` where the caller erred, `RemoteProtocolError` where a peer did.
    """
    match event:
        case SendRequested():
            return _send_requested(config, state, event)
        case UnicastRequested():
            return state, (Send(event.to, Plain(event.payload)),)
        case PlainReceived():
            return state, (PassUp(DeliverUnicast(event.sender, event.message.payload)),)
        case ForwardReceived():
            return _forward_received(config, state, event)
        case DataReceived():
            return _data_received(state, event)
        case ReportReceived():
            return _released(config, state, *primary.report_received(config, state, event))
        case FormedReceived():
            return primary.formed_received(config, state, event)
        case Restored():
            return primary.restored(config, state, event)
        case ViewInstalled():
            return _view_installed(config, state, event)
        case Suspected():
            return _suspected(state, event)
        case _:
            assert_never(event)


def _send_requested(config: Config, state: State, event: SendRequested) -> Transition:
    """Put it into the table, then have it ordered (SEQ-17, -18, -19). `Sequencer!SendRequested`.

    The coordinator's own messages are in its table too: if it is not coordinator in the next view, perhaps no
    survivor has received them.
    """
    if not state.joined:
        raise LocalProtocolError(state, event, "no view is installed yet")
    entry = Entry(state.seqno + 1, event.payload)
    after = evolve(state, seqno=entry.seqno, forward_table=(*state.forward_table, entry))
    return after, () if primary.must_wait(config, state) else (_submit(state, entry),)


def _forward_received(config: Config, state: State, event: ForwardReceived) -> Transition:
    """Order a message for its sender, in the view in which it was forwarded (SEQ-23, -24).

    Nothing for a suspect: it sends the message again in its next view, for others to order and deliver.
    `Sequencer!ForwardReceived`.
    """
    message, sender = event.message, event.message.tag.sender
    is_early = message.view_id.counter > state.view.id.counter
    if not is_early and message.view_id != state.view.id:
        return state, ()
    if event.sender != sender:
        raise RemoteProtocolError(state, event, f"{event.sender} forwards a message of {sender}")
    if is_early:
        return evolve(state, early=(*state.early, message)), ()
    if not state.is_coordinator:
        raise RemoteProtocolError(state, event, "a FORWARD for a coordinator, which this is not")
    if sender not in state.view.members:
        raise RemoteProtocolError(state, event, f"{sender} is not in our view, and says it is")
    if sender in state.suspected:
        return state, ()
    if primary.must_wait(config, state):
        return evolve(state, early=(*state.early, message)), ()
    return state, (_ordered(message),)


def _data_received(state: State, event: DataReceived) -> Transition:
    """Strike an own message off the table, duplicate or not; deliver what is new (SEQ-25, -27 to -30).

    `Sequencer!DataReceived`.
    """
    message, tag = event.message, event.message.tag
    if not state.joined or message.view_id.counter > state.view.id.counter:
        raise RemoteProtocolError(state, event, "the DATA is of a view that is not installed yet")
    if message.view_id != state.view.id:
        return state, ()
    if event.sender != state.view.coordinator:
        raise RemoteProtocolError(state, event, f"{event.sender} multicasts, and is not coordinator")
    if tag.sender not in state.view.members:
        raise RemoteProtocolError(state, event, f"{tag.sender}, whose message it is, is no member")
    after = state
    if tag.sender == state.member and tag.epoch == state.epoch:
        table = _without(state.forward_table, tag.seqno)
        if len(table) < len(state.forward_table):
            after = evolve(state, forward_table=table)
    known = state.received_table.get(tag.sender)
    if known is not None and known.epoch == tag.epoch and tag.seqno <= known.seqno:
        return after, ()
    mark = Mark(tag.epoch, tag.seqno)
    received = state.received_table.put(tag.sender, mark)
    return evolve(after, received_table=received), (PassUp(Deliver(tag.sender, message.payload)),)


def _view_installed(config: Config, state: State, event: ViewInstalled) -> Transition:
    """Send the table again, in order and before anything new; then order the early FORWARDs (SEQ-31).

    A member that departs may have been cut off only, and merge back: its entry in the received-table stays
    until a later incarnation of its name is known. `Sequencer!ViewInstalled`.
    """
    view = event.view
    if state.member not in view.members:
        raise LocalProtocolError(state, event, "a view without this member cannot be installed")
    if view.id.counter <= state.view.id.counter:
        return state, ()
    after = evolve(
        state,
        view=view,
        epoch=state.epoch if state.joined else view.id,
        received_table=state.received_table.latest(view.members),
        suspected=state.suspected & view.member_set,
    )
    after, effects = primary.attempt(config, state, after)
    if primary.must_wait(config, after):
        return evolve(after, early=_still_early(state.early, view, waits=True)), effects
    after = evolve(after, early=_still_early(state.early, view, waits=False))
    again = (*effects, *_resent(after))
    return after, (*again, *_due(after, state.early)) if after.is_coordinator else again


def _suspected(state: State, event: Suspected) -> Transition:
    """Order nothing more for a member that the membership service suspects. `Sequencer!Suspected`."""
    if event.suspect == state.member:
        raise LocalProtocolError(state, event, "a member does not suspect itself")
    if event.suspect not in state.view.member_set - state.suspected:
        return state, ()
    return evolve(state, suspected=state.suspected | {event.suspect}), ()


# Shared by the actions ----------------------------------------------------------------------------


def _submit(state: State, entry: Entry) -> Send[Message] | Multicast[Message]:
    """Order an own message, or have it ordered. `Sequencer!Submit`."""
    tag = Tag(state.member, state.epoch, entry.seqno)
    if state.is_coordinator:
        return Multicast(Data(state.view.id, tag, entry.payload))
    return Send(state.view.coordinator, Forward(state.view.id, tag, entry.payload))


def _resent(state: State) -> tuple[Send[Message] | Multicast[Message], ...]:
    """The whole table, in order. `Sequencer!Resent`."""
    return tuple(_submit(state, entry) for entry in state.forward_table)


def _due(state: State, early: tuple[Forward, ...]) -> tuple[Multicast[Message], ...]:
    """FORWARDs of this coordinator's view that were early, and are ordered now. `Sequencer!Due`."""
    heard = state.view.member_set - state.suspected
    return tuple(
        _ordered(message) for message in early if message.view_id == state.view.id and message.tag.sender in heard
    )


def _still_early(early: tuple[Forward, ...], view: View, *, waits: bool) -> tuple[Forward, ...]:
    """The FORWARDs of views that may follow `view`; of this one, if it `waits`. `Sequencer!StillEarly`."""
    return tuple(
        message
        for message in early
        if message.view_id.counter > view.id.counter or (waits and message.view_id == view.id)
    )


def _released(config: Config, before: State, state: State, effects: tuple[Effect, ...]) -> Transition:
    """Order what has waited, if the coordinator need wait no more after a step. `Sequencer!Released`."""
    if primary.must_wait(config, before) and not primary.must_wait(config, state):
        state = evolve(state, early=_still_early(state.early, state.view, waits=False))
        effects = (*effects, *_resent(state), *_due(state, before.early))
    return state, effects


def _without(table: tuple[Entry, ...], seqno: int) -> tuple[Entry, ...]:
    """A table without the message of this seqno: as a rule it is the first, since they come back in order."""
    if table and table[0].seqno == seqno:
        return table[1:]
    return tuple(entry for entry in table if entry.seqno != seqno)


def _ordered(message: Forward) -> Multicast[Message]:
    """The DATA of a FORWARD: a new message, never the same object with another header (FLAW-11)."""
    return Multicast(Data(message.view_id, message.tag, message.payload))
