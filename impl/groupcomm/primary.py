"""Who may be primary: the part of SEQUENCER that its option `majority` adds. `Primary` has the theory.

SEQUENCER asks `must_wait` before it orders. It calls `attempt` when it has installed a view, and passes on the
events of this module. `on_disk` is to be on a disk when a step ends, before an effect of the step is done.
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias, TypeVar, final

from attrs import frozen

from .effects import Multicast, PassUp, Send
from .errors import LocalProtocolError, RemoteProtocolError
from .events import ViewFormed
from .per_member import PerMember
from .records import evolve
from .view import Address, View, ViewId, is_former

__all__ = [
    "Config",
    "Effect",
    "Formed",
    "FormedReceived",
    "Record",
    "Report",
    "ReportReceived",
    "Reports",
    "Restored",
    "State",
    "attempt",
    "formed_received",
    "has_majority",
    "must_wait",
    "on_disk",
    "report_received",
    "restored",
]


@frozen
class Config:
    """`majority`: a view without a majority of the last one delivers nothing.

    It needs one first view, and an address for each incarnation. `max_attempts`, from 1: the most views of a
    record. A member whose record is full helps to form no view until it hears of a formed one.
    """

    majority: bool = False
    max_attempts: int = 100


Record: TypeAlias = tuple[View, ...]
"""The last formed view that a member knows, and its attempts: the views that it has installed since."""

# Messages, events and effects ---------------------------------------------------------------------


@frozen
class Report:
    """Its sender has installed `view_id`. `attempts`: its record before that."""

    view_id: ViewId
    attempts: Record


@frozen
class Formed:
    """The coordinator orders in its view from now on. `before`: as of `ViewFormed`."""

    view_id: ViewId
    before: int


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

    attempts: Record


Effect: TypeAlias = Send[Report] | Multicast[Formed] | PassUp[ViewFormed]

# State --------------------------------------------------------------------------------------------


@final
@frozen
class Reports(PerMember[Report]):
    """The last report, a member, of a view that is not formed yet."""


@frozen(slots=False)
class State:
    """What these functions know of a member. The last four fields are theirs; `Primary` says what each is."""

    member: Address
    view: View
    epoch: ViewId
    founds: bool
    attempts: Record
    formed: bool
    reports: Reports

    @property
    def joined(self) -> bool:
        """True if this member has installed a view. `Primary!Joined`."""
        return self.view.members != ()

    @property
    def is_coordinator(self) -> bool:
        """True if this member decides the order in its view. `Primary!IsCoordinator`."""
        return self.joined and self.view.coordinator == self.member


StateT = TypeVar("StateT", bound=State)


def must_wait(config: Config, state: State) -> bool:
    """Say whether this is a coordinator that may not order anything yet. `Primary!MustWait`."""
    return config.majority and not state.formed and state.is_coordinator


# A majority ---------------------------------------------------------------------------------------


def has_majority(members: frozenset[Address], view: View) -> bool:
    """Say whether these are more than half of a view, or half of it with its coordinator. `Primary!HasMajority`."""
    twice, size = 2 * len(members & view.member_set), len(view.members)
    return twice > size or (twice == size and view.coordinator in members)


def counts_as(member: Address, record: Record, other: Address) -> bool:
    """Say whether a member with this record counts as an address of its name. `Primary!CountsAs`."""
    if other == member:
        return True
    if not record or not is_former(other, member):
        return False
    had = [each for each in record[0].members if each == member or is_former(each, member)]
    return bool(had) and not any(is_former(other, each) for each in had)


def counted(records: Mapping[Address, Record], view: View) -> frozenset[Address]:
    """Give the members of a view as which those count that have reported. `Primary!Counted`."""
    return frozenset(
        each for each in view.members if any(counts_as(member, mine, each) for member, mine in records.items())
    )


# May the view be formed? --------------------------------------------------------------------------


def is_abandoned(records: Mapping[Address, Record], view: View) -> bool:
    """Say whether a view's coordinator reports another view as the last formed one. `Primary!IsAbandoned`."""
    return any(
        record and record[0] != view and counts_as(member, record, view.coordinator)
        for member, record in records.items()
    )


def asked(records: Mapping[Address, Record], member: Address) -> Iterator[View]:
    """Give the views of a member's record of which a majority is needed. `Primary!Asked`."""
    formed = {record[0] for record in records.values() if record}
    mine = records[member]
    last = max((place for place, view in enumerate(mine) if view in formed), default=0)
    return (view for view in mine[last:] if not is_abandoned(records, view))


def leavers(records: Mapping[Address, Record], view: View) -> frozenset[Address]:
    """Give the coordinator that left by deciding `view`: it counts as present. `Primary!Leavers`.

    Not by the record of a joiner that begins again: that may know an earlier view that the leaver has formed.
    """
    creator = view.id.creator
    formed_last = any(
        len(record) == 1 and member in record[0].member_set and record[0].coordinator == creator
        for member, record in records.items()
    )
    return frozenset({creator} if formed_last else ()) - view.member_set


def quorum(records: Mapping[Address, Record], left: frozenset[Address]) -> Mapping[Address, Record]:
    """Give the records of the most members that are enough among themselves, with `left`. `Primary!Quorum`."""
    size = -1
    while size != len(records):
        size = len(records)
        records = {
            member: mine
            for member, mine in records.items()
            if all(has_majority(counted(records, each) | left, each) for each in asked(records, member))
        }
    return records


def is_quorum(records: Mapping[Address, Record], view: View) -> bool:
    """Say whether these are enough to form a view: at least one knows a formed view. `Primary!IsQuorum`."""
    return any(quorum(records, leavers(records, view)).values())


def records_of(state: State) -> Mapping[Address, Record]:
    """Give the records of the members that have installed this view, as they have reported. `Primary!RecordsOf`."""
    view, reports = state.view, state.reports
    return {
        member: reports[member].attempts
        for member in view.members
        if member in reports and reports[member].view_id == view.id
    }


def founds(state: State) -> bool:
    """Say whether a member creates its first view, of itself alone. `Primary!Founds`."""
    view, me = state.view, state.member
    return state.founds and view.members == (me,) and view.id.creator == me and view.id == state.epoch


def may_form(state: State) -> bool:
    """Say whether a coordinator may form its view. `Primary!MayForm`."""
    return founds(state) or is_quorum(records_of(state), state.view)


def base_of(records: Mapping[Address, Record], view: View) -> int:
    """Give the counter of the last formed view that those know which form this one; 0: none. `Primary!BaseOf`.

    Where all members have begun again views count anew: then it is 0, too.
    """
    enough = quorum(records, leavers(records, view)).values()
    last = max((record[0].id.counter for record in enough if record), default=0)
    return last if last < view.id.counter else 0


# The record, and reports --------------------------------------------------------------------------


def on_disk(state: State) -> Record:
    """Give the record, which is to be on the disk before an effect of the step is done. `Primary!OnDisk`."""
    return state.attempts


def kept(state: State) -> Record:
    """Give the record without the views that this member coordinated and did not form. `Primary!Kept`."""
    record = state.attempts
    unknown = (view for view in record[1:] if not counts_as(state.member, record, view.coordinator))
    return (*record[:1], *unknown)


def is_record(record: Record) -> bool:
    """Say whether its views have members, and so coordinators. `Primary!IsRecord`."""
    return all(view.members for view in record)


def is_full(config: Config, state: State) -> bool:
    """Say whether a record has no room for another view. `Primary!IsFull`."""
    return len(kept(state)) >= config.max_attempts


def attempted(config: Config, state: State, view: View) -> Record:
    """Give the record of a member when it has installed a view. `Primary!Attempted`."""
    record = kept(state)
    return record if not record or is_full(config, state) else (*record, view)


def reports_from(reports: Reports, counter: int) -> Reports:
    """Give the reports of views with this counter, or a higher one. `Primary!ReportsFrom`."""
    return Reports(tuple(entry for entry in reports.items() if entry[1].view_id.counter >= counter))


def knows_formed(state: State) -> bool:
    """Say whether a member has heard that its view is formed. `Primary!KnowsFormed`."""
    return state.attempts == (state.view,)


def in_formed(state: StateT) -> StateT:
    """Give the state of a member that hears that its view is formed. `Primary!InFormed`."""
    view = state.view
    return evolve(state, formed=True, attempts=(view,), reports=reports_from(state.reports, view.id.counter + 1))


# Steps --------------------------------------------------------------------------------------------


def forms(state: StateT) -> tuple[StateT, tuple[Effect, ...]]:
    """Have the view of a coordinator that waits formed, if it may: it hears FORMED as others do. `Primary!Forms`."""
    if not may_form(state):
        return state, ()
    view_id, last = state.view.id, base_of(records_of(state), state.view)
    after = evolve(state, formed=True, reports=reports_from(state.reports, view_id.counter + 1))
    return after, (Multicast(Formed(view_id, last)),)


def attempt(config: Config, before: State, state: StateT) -> tuple[StateT, tuple[Effect, ...]]:
    """Report, in a new view, the record from before it: to its coordinator, or itself. `Primary!Attempt`."""
    if not config.majority:
        return state, ()
    view = state.view
    own = Report(view.id, before.attempts)
    attempts, reports = attempted(config, before, view), reports_from(state.reports, view.id.counter)
    after = evolve(state, formed=False, attempts=attempts, reports=reports)
    if is_full(config, before):
        return after, ()
    if state.is_coordinator:
        return forms(evolve(after, reports=reports.put(state.member, own)))
    return after, (Send(view.coordinator, own),)


def report_received(config: Config, state: StateT, event: ReportReceived) -> tuple[StateT, tuple[Effect, ...]]:
    """Note a member's record; form the view, if that is enough. `Primary!ReportReceived`."""
    message = event.message
    if not config.majority:
        raise RemoteProtocolError(state, event, "a REPORT, and this group has no option majority")
    if not is_record(message.attempts):
        raise RemoteProtocolError(state, event, "a REPORT of a view without members")
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
    return forms(after)


def formed_received(config: Config, state: StateT, event: FormedReceived) -> tuple[StateT, tuple[Effect, ...]]:
    """The coordinator orders in its view: it hears that, too. `Primary!FormedReceived`."""
    view_id = event.message.view_id
    if not config.majority:
        raise RemoteProtocolError(state, event, "a FORMED, and this group has no option majority")
    if not state.joined or view_id.counter > state.view.id.counter:
        raise RemoteProtocolError(state, event, "the FORMED is of a view that is not installed yet")
    if not 0 <= event.message.before < view_id.counter:
        raise RemoteProtocolError(state, event, "the view that was formed before is an earlier one")
    if view_id != state.view.id:
        return state, ()
    if event.sender != state.view.coordinator:
        raise RemoteProtocolError(state, event, f"{event.sender} forms a view, and is not coordinator")
    if knows_formed(state):
        return state, ()
    return in_formed(state), (PassUp(ViewFormed(view_id, event.message.before)),)


def restored(config: Config, state: StateT, event: Restored) -> tuple[StateT, tuple[Effect, ...]]:
    """Begin with the record of the former incarnations; found no group. `Primary!Restored`."""
    if not config.majority:
        raise LocalProtocolError(state, event, "a record, and this group has no option majority")
    if state.joined or not state.founds:
        raise LocalProtocolError(state, event, "an incarnation begins once, and before its first view")
    if not is_record(event.attempts):
        raise LocalProtocolError(state, event, "a record has a view without members")
    return evolve(state, attempts=event.attempts, founds=False), ()
