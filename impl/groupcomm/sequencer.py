"""SEQUENCER: every member delivers all multicasts in the order that the coordinator gives them. `Sequencer`.

Theory of operation
-------------------
A member does not multicast: it sends its message to the coordinator of its view (FORWARD), and the
coordinator multicasts it (DATA) with a tag that names the sender. The layer below delivers one member's
multicasts in order and without gaps, so what one member multicasts is delivered in one order everywhere.

A member's messages stay in its `forward_table` until they come back as DATA. When a view is installed the
table is sent again, in rising order and before anything new, to the coordinator of that view.

A message is ordered in one view. FORWARD and DATA carry the view they were sent in. A FORWARD of a view
that is not installed yet waits in `early`. A FORWARD of an earlier view is dropped, because its sender sends
it again when it installs the next. The layer below delivers DATA in the view it was multicast in, and the
same DATA to all survivors (virtual synchrony). Then a table holds, at every view change, exactly those of a
member's messages that no survivor has delivered, and sending them again neither loses, doubles nor reorders
any. `spec/sequencer/README.md` has a table of what remains without each of these.

The `received_table` keeps the highest tag received of each sender, and drops what is not higher: where the
unicast layer delivers a FORWARD twice. It needs FORWARDs in order.

A coordinator orders nothing for a member that it suspects. It may have been stopped for a while, and be alone
in its view: the others deliver in another order, in their own view.

With the option `majority` a coordinator orders nothing before its view is *formed*, and of two formed views
one comes before the other: of the parts of a group at most one continues. A member that installs a view
reports to its coordinator the last formed view that it knows, and the views that it has installed since. The
view is formed when a majority of each of these has reported (dynamic voting, `MajorityViews`). Until then
messages wait: own ones in the table, FORWARDs in `early`.

The views that a member reports are its record. Whoever runs it has the record on a disk before a message of
the step leaves that changed it, and gives it to the next incarnation of the name (`Restored`). That counts as
the former ones, and founds no group.

Views are known by their identifiers, counter and creator: two members that each believe the other gone
create views with one counter. Of a member's own views, and only of those, the counter says which is later.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias, assert_never, final

from attrs import frozen

from .effects import Multicast, PassUp, Send
from .errors import LocalProtocolError, RemoteProtocolError
from .events import Deliver, DeliverUnicast, Payload, Suspected, ViewFormed, ViewInstalled
from .per_member import PerMember
from .records import evolve
from .view import NO_VIEW, Address, View, ViewId, is_former, name_and_life

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

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config:
    """`majority`: a view without a majority of the last one delivers nothing.

    It needs one first view, and an address for each incarnation. `max_attempts`, from 1: the most views of a
    record. A member whose record is full helps to form no view until it hears of a formed one.
    """

    majority: bool = False
    max_attempts: int = 100


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


@frozen
class Report:
    """The views that its sender knows: the last formed view, and the views that it has installed since.

    `view_id`: the view that it has installed now, which is not among them.
    """

    view_id: ViewId
    attempts: tuple[View, ...]


@frozen
class Formed:
    """The coordinator orders in its view from now on."""

    view_id: ViewId


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


@frozen
class ReportReceived:
    """The unicast layer delivered a REPORT from member `sender`."""

    sender: Address
    message: Report


@frozen
class FormedReceived:
    """The multicast layer delivered a FORMED that member `sender` multicast."""

    sender: Address
    message: Formed


@frozen
class Restored:
    """This incarnation begins with the record of the former ones, `attempts`. It is empty where that is lost."""

    attempts: tuple[View, ...]


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


@final
@frozen
class Reports(PerMember[Report]):
    """The last report, a member, of a view that is not formed yet."""


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `Sequencer!Start` says what each field is."""

    member: Address
    view: View
    epoch: ViewId
    seqno: int
    forward_table: tuple[Entry, ...]
    received_table: ReceivedTable
    early: tuple[Forward, ...]
    suspected: frozenset[Address]
    founds: bool = True
    attempts: tuple[View, ...] = ()
    formed: bool = False
    reports: Reports = Reports(())

    @property
    def joined(self) -> bool:
        """True if this member has installed a view."""
        return self.view.members != ()

    @property
    def is_coordinator(self) -> bool:
        """True if this member decides the order in its view."""
        return self.joined and self.view.coordinator == self.member


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]


def start(member: Address) -> State:
    """A member before its first view. `Sequencer!Start`."""
    return State(
        member=member,
        view=NO_VIEW,
        epoch=NO_VIEW.id,
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
            return _report_received(config, state, event)
        case FormedReceived():
            return _formed_received(config, state, event)
        case Restored():
            return _restored(config, state, event)
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
    return after, () if _must_wait(config, state) else (_submit(state, entry),)


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
    if _must_wait(config, state):
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


def _report_received(config: Config, state: State, event: ReportReceived) -> Transition:
    """Note what views a member knows; order what has waited, if the view is formed by that.

    `Sequencer!ReportReceived`.
    """
    message = event.message
    if not config.majority:
        raise RemoteProtocolError(state, event, "a REPORT, and this group has no option majority")
    is_early = message.view_id.counter > state.view.id.counter
    if not is_early and message.view_id != state.view.id:
        return state, ()
    after = evolve(state, reports=state.reports.put(event.sender, message))
    if is_early:
        return after, ()
    if not state.is_coordinator:
        raise RemoteProtocolError(state, event, "a REPORT for a coordinator, which this is not")
    if event.sender not in state.view.members:
        raise RemoteProtocolError(state, event, f"{event.sender} is not in our view, and says it is")
    if state.formed:
        return state, ()
    after, effects = _forms(after)
    if not after.formed:
        return after, ()
    return after, (*effects, *_resent(after), *_due(after, state.early))


def _formed_received(config: Config, state: State, event: FormedReceived) -> Transition:
    """The coordinator orders from now on. (Its own comes back to it, too.) `Sequencer!FormedReceived`."""
    view_id = event.message.view_id
    if not config.majority:
        raise RemoteProtocolError(state, event, "a FORMED, and this group has no option majority")
    if not state.joined or view_id.counter > state.view.id.counter:
        raise RemoteProtocolError(state, event, "the FORMED is of a view that is not installed yet")
    if view_id != state.view.id:
        return state, ()
    if event.sender != state.view.coordinator:
        raise RemoteProtocolError(state, event, f"{event.sender} forms a view, and is not coordinator")
    if state.formed:
        return state, ()
    return _in_formed(state), (PassUp(ViewFormed(view_id)),)


def _restored(config: Config, state: State, event: Restored) -> Transition:
    """Begin with the record of the former incarnations; found no group. `Sequencer!Restored`."""
    if not config.majority:
        raise LocalProtocolError(state, event, "a record, and this group has no option majority")
    if state.joined or not state.founds:
        raise LocalProtocolError(state, event, "an incarnation begins once, and before its first view")
    return evolve(state, attempts=event.attempts, founds=False), ()


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
        early=_later(state.early, view),
        suspected=state.suspected & view.member_set,
    )
    effects: tuple[Effect, ...] = ()
    if config.majority:
        after, effects = _reports(config, state, after)
        if _must_wait(config, after):
            return after, effects
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


def _later(early: tuple[Forward, ...], view: View) -> tuple[Forward, ...]:
    """The FORWARDs of views that may follow `view`. `Sequencer!StillEarly`."""
    return tuple(message for message in early if message.view_id.counter > view.id.counter)


def _without(table: tuple[Entry, ...], seqno: int) -> tuple[Entry, ...]:
    """A table without the message of this seqno: as a rule it is the first, since they come back in order."""
    if table and table[0].seqno == seqno:
        return table[1:]
    return tuple(entry for entry in table if entry.seqno != seqno)


def _ordered(message: Forward) -> Multicast[Message]:
    """The DATA of a FORWARD: a new message, never the same object with another header (FLAW-11)."""
    return Multicast(Data(message.view_id, message.tag, message.payload))


# Majorities ---------------------------------------------------------------------------------------


def _must_wait(config: Config, state: State) -> bool:
    """True for a coordinator that may not order anything yet. `Sequencer!MustWait`."""
    return config.majority and not state.formed and state.is_coordinator


def _has_majority(members: frozenset[Address], view: View) -> bool:
    """More than half of a view, or half of it with its coordinator. `Sequencer!HasMajority`.

    Two such sets have a member in common.
    """
    twice, size = 2 * len(members & view.member_set), len(view.members)
    return twice > size or (twice == size and view.coordinator in members)


def _counts_as(member: Address, attempts: tuple[View, ...], other: Address) -> bool:
    """Whether a member with this record counts as an address of its name. `Sequencer!CountsAs`, `!Since`.

    It has the record since the last incarnation of its name that is in the record's formed view.
    """
    if other == member:
        return True
    if not attempts or not is_former(other, member):
        return False
    own = [each for each in attempts[0].members if each == member or is_former(each, member)]
    return bool(own) and not is_former(other, max(own, key=lambda each: name_and_life(each)[1]))


def _asked(records: Mapping[Address, tuple[View, ...]], member: Address) -> Iterator[View]:
    """The views of which a member asks for a majority among those of `records`. `Sequencer!Asked`.

    Not before a view that is known to be formed. And not a view of which the coordinator, which alone could
    form it, reports another as the last formed one.
    """
    formed = {views[0] for views in records.values() if views}
    mine = records[member]
    last = max((place for place, view in enumerate(mine) if view in formed), default=0)
    for view in mine[last:]:
        if not any(
            views and views[0] != view and _counts_as(each, views, view.coordinator) for each, views in records.items()
        ):
            yield view


def _is_quorum(reports: Reports, view: View) -> bool:
    """True if the coordinator of `view`, with these reports, may order in it. `Sequencer!IsQuorum`.

    Of the members that have reported, the most are taken that have a majority of each view that is asked for
    among them. At least one of them knows a formed view: members that are new to the group report
    nothing, and are no quorum.
    """
    records = {
        member: reports[member].attempts
        for member in view.members
        if member in reports and reports[member].view_id == view.id
    }
    left = _leavers(records.values(), view)
    size = -1
    while size != len(records):
        size = len(records)
        records = {
            member: mine
            for member, mine in records.items()
            if all(_has_majority(_counted(records, each) | left, each) for each in _asked(records, member))
        }
    return any(records.values())


def _counted(records: Mapping[Address, tuple[View, ...]], view: View) -> frozenset[Address]:
    """The members of a view as which those that have reported count. `Sequencer!Counted`."""
    return frozenset(
        each for each in view.members if any(_counts_as(member, mine, each) for member, mine in records.items())
    )


def _leavers(reported: Iterable[tuple[View, ...]], view: View) -> frozenset[Address]:
    """The coordinator that formed the last view, and left by deciding `view`: it counts as present.

    It knows the same formed view as the members to which it said so. A leaver in a view that was not formed
    may know attempts that no member reports. `Sequencer!Leavers`.
    """
    creator = view.id.creator
    formed_last = any(len(views) == 1 and views[0].coordinator == creator for views in reported)
    return frozenset({creator} if formed_last else ()) - view.member_set


def _in_formed(state: State) -> State:
    """The state of a member that hears that its view is formed. `Sequencer!InFormed`."""
    later = (entry for entry in state.reports.items() if entry[1].view_id.counter > state.view.id.counter)
    return evolve(state, attempts=(state.view,), formed=True, reports=Reports(tuple(later)))


def _forms(state: State) -> Transition:
    """Form the view of a coordinator that waits, if it has the reports for it, or founds the group by it.

    A founder creates its first view, of itself alone. `Sequencer!Forms`, `Sequencer!Founds`.
    """
    view, me = state.view, state.member
    founds = state.founds and view.members == (me,) and view.id.creator == me and view.id == state.epoch
    if not founds and not _is_quorum(state.reports, state.view):
        return state, ()
    after = evolve(_in_formed(state), early=_later(state.early, state.view))
    return after, (Multicast(Formed(state.view.id)), PassUp(ViewFormed(state.view.id)))


def _kept(state: State) -> tuple[View, ...]:
    """The record without the views that this member coordinated and did not form. `Sequencer!Kept`."""
    views = state.attempts
    unknown = (view for view in views[1:] if not _counts_as(state.member, views, view.coordinator))
    return (*views[:1], *unknown)


def _reports(config: Config, before: State, after: State) -> Transition:
    """Say, in a new view, what views were known `before`: to its coordinator, or to itself.

    While a member knows no formed view, it has none to report. With a full record it helps to form no view.
    `Sequencer!Reports`, `Sequencer!Attempts`, `Sequencer!IsFull`.
    """
    view = after.view
    own = Report(view.id, before.attempts)
    attempts = _kept(before)
    full = len(attempts) >= config.max_attempts
    if attempts and not full:
        attempts = (*attempts, view)
    kept = (entry for entry in before.reports.items() if entry[1].view_id.counter >= view.id.counter)
    after = evolve(after, attempts=attempts, formed=False, reports=Reports(tuple(kept)))
    if not after.is_coordinator:
        return after, () if full else (Send(view.coordinator, own),)
    early = tuple(
        message for message in before.early if message.view_id == view.id or message.view_id.counter > view.id.counter
    )
    after = evolve(after, early=early)
    return (after, ()) if full else _forms(evolve(after, reports=after.reports.put(after.member, own)))
