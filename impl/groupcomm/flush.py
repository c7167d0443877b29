"""FLUSH: the group is stopped, and all stopped members have delivered the same messages. `Flush`.

The requester asks every member to stop (START_FLUSH). A member passes BLOCK to its application, closes its latch, and
reports what it has delivered (FLUSH_COMPLETED). Where reports differ each member gets what it lacks (RECONCILE). When
all are equal the caller has its stopped group (`GroupStopped`). On `Resume` the requester resumes every member
(STOP_FLUSH). The head of `spec/flush/Flush.tla` says why survivors agree, and what two flushes at once do.
"""

from collections.abc import Callable
from typing import Final, Literal, TypeAlias, assert_never, final

from attrs import frozen

from .digest import EMPTY_VECTOR, Vector
from .effects import Multicast, PassDown, PassUp, Send
from .errors import LocalProtocolError, RemoteProtocolError
from .events import (
    Block,
    Deliver,
    Fetch,
    GroupStopped,
    HoldBack,
    MergeViewInstalled,
    Payload,
    Release,
    Resume,
    Suspected,
    Suspend,
    Unblock,
    ViewInstalled,
)
from .per_member import PerMember
from .records import evolve
from .view import NO_VIEW, Address, View, ViewId

ASSUMES: Final = ("Membership", "ReliableMulticast", "ReliableUnicast", "StopRequests")
"""The modules of `spec/common` that say what the layers below must give."""

GIVES: Final = ("VirtualSynchrony", "BranchSynchrony")
"""The module that says what this layer gives to those above."""

FOR_VIEWS: Final = "GMS"
FOR_STATE: Final = "STATE_TRANSFER"
_SELF: Final = "FLUSH"
"""The callers of a flush (EVT-05). FLUSH itself: no caller wants the flush, and all are to be resumed."""

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config:
    """FLUSH has no parameters."""


# Values -------------------------------------------------------------------------------------------


@final
@frozen
class Holders(PerMember[Address]):
    """Of each sender a member that has delivered all of its multicasts that any member has."""


@final
@frozen
class Reports(PerMember[Vector]):
    """The reports that count: how many multicasts of each member some member has delivered in its view."""


@final
@frozen
class Rounds(PerMember[int]):
    """Of requesters the round that they asked in."""


NO_REPORTS: Final = Reports(())
NO_ROUNDS: Final = Rounds(())

# Messages -----------------------------------------------------------------------------------------


@frozen
class StartFlush:
    """Stop, and report, for `asker`. START_FLUSH in the note."""

    view_id: ViewId
    round: int
    asker: str


@frozen
class FlushCompleted:
    """The answer to the question of a round: what the sender has delivered in its view.

    FLUSH_COMPLETED in the note.
    """

    view_id: ViewId
    round: int
    digest: Vector


@frozen
class Reconcile:
    """Deliver all up to the target, and no more; report again."""

    view_id: ViewId
    round: int
    target: Vector
    holders: Holders


@frozen
class StopFlush:
    """Go on. STOP_FLUSH in the note."""

    view_id: ViewId


@frozen
class Data:
    """The `seqno`-th multicast of its sender in the view."""

    view_id: ViewId
    seqno: int
    payload: Payload


# Every message names the view in which it is sent. A message from before a partition may arrive in a merged
# view, in which its sender is a member again (FLAW-125). And rounds begin anew in each incarnation of a
# requester.

Message: TypeAlias = StartFlush | FlushCompleted | Reconcile | StopFlush | Data

# Events -------------------------------------------------------------------------------------------


@frozen
class StartFlushReceived:
    """A START_FLUSH arrived from `sender`."""

    sender: Address
    message: StartFlush


@frozen
class BlockReturned:
    """The application has returned from BLOCK."""


@frozen
class FlushCompletedReceived:
    """A FLUSH_COMPLETED arrived from `sender`."""

    sender: Address
    message: FlushCompleted


@frozen
class ReconcileReceived:
    """A RECONCILE arrived from `sender`."""

    sender: Address
    message: Reconcile


@frozen
class StopFlushReceived:
    """A STOP_FLUSH arrived from `sender`."""

    sender: Address
    message: StopFlush


@frozen
class SendRequested:
    """The layer above multicasts."""

    payload: Payload


@frozen
class DataReceived:
    """The layer below delivers a multicast of `sender`, this member's own too (DLV-04)."""

    sender: Address
    message: Data


Event: TypeAlias = (
    Suspend
    | Resume
    | ViewInstalled
    | MergeViewInstalled
    | Suspected
    | StartFlushReceived
    | BlockReturned
    | FlushCompletedReceived
    | ReconcileReceived
    | StopFlushReceived
    | SendRequested
    | DataReceived
)

# Effects ------------------------------------------------------------------------------------------


Effect: TypeAlias = (
    Send[Message]
    | Multicast[Data]
    | PassUp[Block | Unblock | Deliver | Suspected]
    | PassDown[GroupStopped | HoldBack | Release | Fetch]
)
Effects: TypeAlias = tuple[Effect, ...]

# State --------------------------------------------------------------------------------------------


@frozen(slots=False)
class Run:
    """A requester's flush. `Flush!Idle`. It runs only while it is the flush in force (`OwnFlushIsInForce`).

    But a late STOP_FLUSH of its own may free the member, until its START_FLUSH comes back.

    `phase`: what was asked last, or all are stopped. `want`: whose report is awaited.
    """

    phase: Literal["none", "start", "reconcile", "stopped"]
    round: int
    want: frozenset[Address]
    reports: Reports


PHASES: Final = {
    "open": {("free", False, False, False)},
    "asked": {("asked", True, False, False), ("asked", True, True, False)},
    "ended early": {("asked", False, False, False)},
    "draining": {("blocked", True, True, False)},
    "stopped": {("blocked", False, True, True)},
    "catching up": {("blocked", True, True, True)},
    "in the next view": {("blocked", False, True, False), ("free", False, True, False)},
}
"""The phases of a member that takes part in a flush: `block`, `owes`, `latched`, `frozen`. `Flush!Phases`.

No other of the 24 values occurs (`EachInAPhase`). `docs/messages.md` says what a member does in each.
"""


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `Flush!Start` says what each field is."""

    member: Address
    view: View
    suspected: frozenset[Address]
    sent: int
    delivered: Vector
    block: Literal["free", "asked", "blocked"]
    latched: bool
    waiting: tuple[Payload, ...]
    owner: Address
    asker: str
    round: int
    owes: bool
    frozen: bool
    limit: Vector
    later: Rounds
    wants: frozenset[str]
    run: Run

    @property
    def in_view(self) -> bool:
        """True if this member has installed a view. `Flush!InView`."""
        return self.view.members != ()

    @property
    def unsuspected(self) -> frozenset[Address]:
        """The members of its view that it does not suspect. `Flush!Unsuspected`."""
        return self.view.member_set - self.suspected

    @property
    def running(self) -> bool:
        """True if it has a flush of its own. `Flush!Running`."""
        return self.run.phase != "none"

    @property
    def stopped(self) -> bool:
        """True if all are stopped by it. `Flush!IsStopped`."""
        return self.run.phase == "stopped"

    @property
    def is_free(self) -> bool:
        """True if no flush is in force here. `Flush!IsFree`."""
        return self.owner == "" and not self.latched

    @property
    def phase(self) -> str:
        """The phase in which this member takes part in a flush: a key of `PHASES`."""
        flags = (self.block, self.owes, self.latched, self.frozen)
        return next(phase for phase, values in PHASES.items() if flags in values)


Transition: TypeAlias = tuple[State, Effects]


def _idle(number: int) -> Run:
    return Run("none", number, frozenset(), NO_REPORTS)


def start(member: Address) -> State:
    """A member before its first view. `Flush!Start`."""
    return State(
        member=member,
        view=NO_VIEW,
        suspected=frozenset(),
        sent=0,
        delivered=EMPTY_VECTOR,
        block="free",
        latched=False,
        waiting=(),
        owner="",
        asker="",
        round=0,
        owes=False,
        frozen=False,
        limit=EMPTY_VECTOR,
        later=NO_ROUNDS,
        wants=frozenset(),
        run=_idle(0),
    )


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:  # noqa: ARG001 - a core takes its configuration
    """The next state, and what is to be done, in order. `Flush!Step`.

    An ignored event returns the same state and no effects. A refused one raises and changes nothing:
    `LocalProtocolError` where the caller erred, `RemoteProtocolError` where a peer did.
    """
    match event:
        case Suspend():
            return _suspend(state, event)
        case Resume():
            return _resume(state, event)
        case MergeViewInstalled():
            return _merge_view_installed(state, event)
        case ViewInstalled():
            return _view_installed(state, event)
        case Suspected():
            return _suspected(state, event)
        case StartFlushReceived():
            return _start_flush_received(state, event)
        case BlockReturned():
            return _block_returned(state)
        case FlushCompletedReceived():
            return _flush_completed_received(state, event)
        case ReconcileReceived():
            return _reconcile_received(state, event)
        case StopFlushReceived():
            return _stop_flush_received(state, event)
        case SendRequested():
            return _send_requested(state, event)
        case DataReceived():
            return _data_received(state, event)
        case _:
            assert_never(event)


# A step ends with _ending: what follows from the state that it leaves -----------------------------


def _then(done: Transition, *follow: Callable[[State], Transition]) -> Transition:
    """One thing after the other; the state that each leaves is the next one's. `Flush!Then`."""
    state, effects = done
    for each in follow:
        state, more = each(state)
        effects += more
    return state, effects


def _ending(done: Transition) -> Transition:
    """Begin a flush, or take what waited, if it is time to. `Flush!Ending`."""
    return _then(done, _maybe_begin, _maybe_take)


def _send_all(state: State, to: frozenset[Address], message: Message) -> Effects:
    """Send to each of some members, in their order in the view. `Flush!SendAll`."""
    return tuple(Send(member, message) for member in state.view.members if member in to)


def _ask(
    state: State, phase: Literal["start", "reconcile"], to: frozenset[Address], message: StartFlush | Reconcile
) -> Transition:
    """Ask; what was reported before is void (FCR-04). `Flush!Ask`."""
    run = Run(phase, message.round, to, NO_REPORTS)
    return evolve(state, run=run), _send_all(state, to, message)


def _begin(state: State) -> Transition:
    """Ask all that are not suspected to stop. `Flush!Begin`.

    It is its own from here on, though its own START_FLUSH has yet to arrive: it owes no other requester an
    answer.
    """
    asker = FOR_VIEWS if FOR_VIEWS in state.wants else FOR_STATE
    own = evolve(state, owner=state.member, asker=asker, owes=False)
    return _ask(own, "start", state.unsuspected, StartFlush(state.view.id, state.run.round + 1, asker))


def _maybe_begin(state: State) -> Transition:
    """Begin for a view whatever its owner, and for a state when it is free. `Flush!MaybeBegin`.

    Nor before its own STOP_FLUSH has come back. A waiting junior has to wait longer: this member may have
    asked before, and given its flush up. Where its START_FLUSH was queued it is in force now, and no junior's
    is.
    """
    if not state.wants or state.running or state.owner == state.member:
        return state, ()
    order = state.view.members
    is_next = state.is_free and not any(senior in state.later for senior in order[: order.index(state.member)])
    return _begin(state) if is_next or FOR_VIEWS in state.wants else (state, ())


def _stop(state: State, requester: Address, number: int, asker: str) -> Transition:
    """Block the application (FST-08), once (FCR-05), and owe a report. `Flush!Stop`.

    It stays frozen where it is. A member that flushed itself does not any more.
    """
    cut = state.delivered if state.frozen else EMPTY_VECTOR
    asked = evolve(
        state,
        owner=requester,
        asker=asker,
        round=number,
        owes=True,
        limit=cut,
        block="asked" if state.block == "free" else state.block,
        later=_without(_overtaken(state), requester),
        run=state.run if requester == state.member else _idle(state.run.round),
    )
    block: Effects = (PassUp(Block()),) if state.block == "free" else ()
    again: Effects = (PassDown(HoldBack(cut)),) if state.frozen and state.limit != cut else ()
    return asked, block + again


def _overtaken(state: State) -> Rounds:
    """Remember the former requester: it may not have been asked to give up. `Flush!Overtaken`."""
    if state.asker != FOR_STATE or state.owner not in state.unsuspected - {state.member}:
        return state.later
    return Rounds((*state.later.items(), (state.owner, state.round)))


def _without(rounds: Rounds, member: Address) -> Rounds:
    return Rounds(tuple(entry for entry in rounds.items() if entry[0] != member))


def _maybe_take(state: State) -> Transition:
    """Take the START_FLUSH that waited, that of the most senior requester. `Flush!MaybeTake`."""
    first = next((member for member in state.view.members if member in state.later), None)
    if first is None or not state.is_free:
        return state, ()
    return _stop(state, first, state.later[first], FOR_STATE)


# Requester: all have reported ---------------------------------------------------------------------


def _target(state: State) -> Vector:
    """The most that any member has delivered of each. `Flush!Target`."""
    reports = state.run.reports.values()
    return Vector(tuple((member, max(each[member] for each in reports)) for member in state.view.members))


def _holders(state: State, target: Vector) -> Holders:
    """A member that has it all, of each: the most senior. `Flush!Holders`."""
    reports = state.run.reports
    holding = (
        (sender, next(m for m in state.view.members if m in reports and reports[m][sender] == count))
        for sender, count in target.items()
    )
    return Holders(tuple(holding))


def _resume_all(state: State) -> Transition:
    """Resume every member, joiners too (FST-15). `Flush!ResumeAll`."""
    stop = StopFlush(state.view.id)
    return evolve(state, run=_idle(state.run.round)), _send_all(state, state.unsuspected, stop)


def _tell(state: State) -> Transition:
    """Answer the callers that all are stopped (FST-13); without a caller, resume. `Flush!Tell`."""
    run = evolve(_idle(state.run.round), phase="stopped")
    told = evolve(state, run=run, wants=state.wants - {_SELF})
    askers = [asker for asker in (FOR_VIEWS, FOR_STATE) if asker in state.wants]
    return (told, tuple(PassDown(GroupStopped(asker)) for asker in askers)) if askers else _resume_all(told)


def _maybe_done(state: State) -> Transition:
    """Go on when no member is awaited: to the target, or to the end. `Flush!MaybeDone`, `!AllReported`.

    There are reports only where it has asked for them.
    """
    run = state.run
    if run.want or not run.reports:
        return state, ()
    target = _target(state)
    if all(report == target for report in run.reports.values()):
        return _tell(state)
    message = Reconcile(state.view.id, run.round + 1, target, _holders(state, target))
    return _ask(state, "reconcile", frozenset(run.reports), message)


def _flush_completed_received(state: State, event: FlushCompletedReceived) -> Transition:
    """Note a report (FST-12). `Flush!FlushCompletedReceived`.

    A flush with priority has released a member that reports a second time in a round. It may have multicast since.
    The requester begins again, also if it counts the group as stopped (FLAW-248).
    """
    member, message, run = event.sender, event.message, state.run
    if not state.running or member not in state.unsuspected:
        return state, ()
    if message.round != run.round or message.view_id != state.view.id:
        return state, ()
    if message.digest.keys() != state.view.member_set:
        raise RemoteProtocolError(state, event, "a report says what is delivered of each member of the view")
    if member not in run.want:
        return _ending(_begin(state))
    reports = Reports((*run.reports.items(), (member, message.digest)))
    return _ending(_maybe_done(evolve(state, run=evolve(run, want=run.want - {member}, reports=reports))))


def _strike(state: State, member: Address) -> Transition:
    """Expect nothing of a member any more (FCR-01), and look whether all have reported. `Flush!Strike`.

    In reconciliation it may be a holder that others were to fetch from: all start again.
    """
    run = state.run
    if run.phase == "reconcile":
        return _begin(state)
    reports = Reports(tuple(entry for entry in run.reports.items() if entry[0] != member))
    return _maybe_done(evolve(state, run=evolve(run, want=run.want - {member}, reports=reports)))


# Every member: stopping ------------------------------------------------------------------------------


def _maybe_report(state: State) -> Transition:
    """Report when it is time to; from then on deliver nothing more. `Flush!MaybeReport`."""
    if not state.owes or state.block == "asked" or state.delivered[state.member] != state.sent:
        return state, ()
    if any(state.delivered[member] < count for member, count in state.limit.items()):
        return state, ()
    hold: Effects = () if state.frozen else (PassDown(HoldBack(state.delivered)),)
    report: Send[Message] = Send(state.owner, FlushCompleted(state.view.id, state.round, state.delivered))
    return evolve(state, owes=False, frozen=True, limit=state.delivered), (*hold, report)


def _reporting(done: Transition) -> Transition:
    return _ending(_then(done, _maybe_report))


def _has_priority(state: State, requester: Address, asker: str) -> bool:
    """Return True if a flush may come into force, whatever is. `Flush!HasPriority`."""
    if state.is_free or requester == state.owner or asker == FOR_VIEWS:
        return True
    order = state.view.members
    return (
        state.asker == FOR_STATE
        and state.owner in state.unsuspected
        and order.index(requester) < order.index(state.owner)
    )


def _start_flush_received(state: State, event: StartFlushReceived) -> Transition:
    """Stop, or remember to. `Flush!StartFlushReceived`.

    A stranger, or a suspected member, stops no member. Nor does a START_FLUSH of another view, or a flush of
    its own that it has given up.
    """
    requester, number, asker = event.sender, event.message.round, event.message.asker
    if asker not in {FOR_VIEWS, FOR_STATE}:
        raise RemoteProtocolError(state, event, f"START_FLUSH: no caller is named {asker!r}")
    if requester not in state.unsuspected or event.message.view_id != state.view.id:
        return state, ()
    if requester == state.member and (not state.running or number != state.run.round):
        return state, ()
    if _has_priority(state, requester, asker):
        return _reporting(_stop(state, requester, number, asker))
    later = Rounds((*state.later.items(), (requester, number)))
    return _ending((evolve(state, later=later), ()))


def _free_application(state: State) -> Transition:
    """Pass UNBLOCK up, if the application has returned from BLOCK (FST-16, AMB-63). `Flush!FreeApplication`."""
    if state.block != "blocked":
        return state, ()
    return evolve(state, block="free"), (PassUp(Unblock()),)


def _block_returned(state: State) -> Transition:
    """Close the latch (FST-09); if the flush is over there is nothing to wait for. `Flush!BlockReturned`."""
    if state.block != "asked":
        return state, ()
    back = evolve(state, block="blocked")
    return _ending(_free_application(back)) if state.is_free else _reporting((evolve(back, latched=True), ()))


def _reconcile_received(state: State, event: ReconcileReceived) -> Transition:
    """Have the layer below fetch what is lacking (FST-14, AMB-61). `Flush!ReconcileReceived`.

    A RECONCILE of a queued requester waits, too.
    """
    owner, message = event.sender, event.message
    target, members = message.target, state.view.member_set
    if message.view_id != state.view.id:
        return state, ()
    if target.keys() != members or message.holders.keys() != members:
        raise RemoteProtocolError(state, event, "RECONCILE: its target or its holders are not of each member")
    if not members.issuperset(message.holders.values()):
        raise RemoteProtocolError(state, event, "RECONCILE: it names a holder that is no member")
    if any(
        holder == state.member and state.delivered[sender] < target[sender]
        for sender, holder in message.holders.items()
    ):
        raise RemoteProtocolError(state, event, "RECONCILE: it names this member as the holder of what it lacks")
    if owner in state.later:
        return evolve(state, later=Rounds((*state.later.items(), (owner, message.round)))), ()
    if owner != state.owner or owner in state.suspected:
        return state, ()
    bound = evolve(state, round=message.round, owes=True, limit=target)
    hold: Effects = (PassDown(HoldBack(target)),) if state.frozen and state.limit != target else ()
    fetches: Effects = tuple(
        PassDown(Fetch(message.holders[sender], sender, target[sender]))
        for sender in state.view.members
        if state.delivered[sender] < target[sender]
    )
    return _reporting((bound, hold + fetches))


def _open(state: State) -> Transition:
    """Open the latch: what waits is multicast. `Flush!Open`."""
    release: Effects = (PassDown(Release()),) if state.frozen else ()
    sends = tuple(
        Multicast(Data(state.view.id, seqno, payload))
        for seqno, payload in enumerate(state.waiting, start=state.sent + 1)
    )
    opened = evolve(
        state,
        latched=False,
        waiting=(),
        sent=state.sent + len(state.waiting),
        frozen=False,
        limit=EMPTY_VECTOR,
        owes=False,
        owner="",
        asker="",
    )
    return _then((opened, release + sends), _free_application)


def _stop_flush_received(state: State, event: StopFlushReceived) -> Transition:
    """Resume, if the owner of the flush in force says so (FST-16). `Flush!StopFlushReceived`.

    A member that joined in the middle of the flush does not know its owner; no other flush can have ended in
    this view. A queued requester needs nothing more.
    """
    if event.message.view_id != state.view.id:
        return state, ()
    if event.sender in state.later:
        return evolve(state, later=_without(state.later, event.sender)), ()
    if state.is_free or event.sender not in state.unsuspected or state.owner not in {"", event.sender}:
        return state, ()
    return _ending(_open(state))


# Events of the layers below -----------------------------------------------------------------------


def _suspend(state: State, event: Suspend) -> Transition:
    """Begin a flush, if the group is not stopped already (FST-05, FST-07). `Flush!Suspend`.

    For a view all have to know what they are stopped for.
    """
    if not state.in_view:
        raise LocalProtocolError(state, event, "a member that is in no view has no group to stop")
    wanting = evolve(state, wants=state.wants | {event.asker})
    if state.running and event.asker == FOR_VIEWS and FOR_VIEWS not in state.wants:
        return _ending(_begin(wanting))
    if state.stopped:
        return wanting, (PassDown(GroupStopped(event.asker)),)
    return (state, ()) if event.asker in state.wants else _ending((wanting, ()))


def _resume(state: State, event: Resume) -> Transition:
    """Resume every member when no caller wants them stopped any more (FST-06). `Flush!Resume`.

    A flush that is not at its end, or was given up, is brought to it: START_FLUSH may be remembered.
    """
    if event.asker not in state.wants:
        raise LocalProtocolError(state, event, "Resume without an open Suspend")
    without = evolve(state, wants=state.wants - {event.asker})
    if not state.stopped:
        return _ending((evolve(without, wants=without.wants | {_SELF}), ()))
    return (without, ()) if without.wants else _ending(_resume_all(without))


def _view_installed(state: State, event: ViewInstalled) -> Transition:
    """Enter a view. `Flush!ViewInstalled`."""
    if state.member not in event.view.members:
        raise LocalProtocolError(state, event, "a member is in the views that it installs")
    return _enter(state, event.view)


def _merge_view_installed(state: State, event: MergeViewInstalled) -> Transition:
    """Enter a view that was made of several. `Flush!MergeViewInstalled`.

    The members of each subgroup were stopped by its coordinator. Only the first member keeps the group that
    it has stopped; if it was a participant it has the merged group stopped, when the view is everywhere. It
    resumes all. The others wait for its STOP_FLUSH as joiners do, and want the group for views no more.
    """
    is_first = event.view.members[:1] == (state.member,)
    if state.member not in event.view.members or (is_first and state.stopped):
        return _view_installed(state, event)
    wants = state.wants if is_first else state.wants - {FOR_VIEWS}
    return _enter(evolve(state, owner="", asker="", run=_idle(state.run.round), wants=wants), event.view)


def _enter(state: State, view: View) -> Transition:
    """The latch stays as it is; that of a joiner is closed. `Flush!Enter`.

    The layer below hears of the view, too, and holds nothing back any more. A group with a single member has
    no member to wait for.
    """
    entered = evolve(
        state,
        view=view,
        suspected=state.suspected & view.member_set,
        sent=0,
        delivered=Vector(tuple((member, 0) for member in view.members)),
        latched=state.latched if state.in_view else len(view.members) > 1,
        frozen=False,
        limit=EMPTY_VECTOR,
        owes=False,
        later=NO_ROUNDS,
    )
    return _ending(_begin(entered) if state.running and not state.stopped else (entered, ()))


def _suspected(state: State, event: Suspected) -> Transition:
    """Wait for it no longer: nor for its STOP_FLUSH, if it flushed for a state. `Flush!Suspected`.

    If the suspicion is false, no other member may know of it, and resume this member. The layers above get
    the suspicion, too.
    """
    suspect = event.suspect
    if suspect == state.member:
        raise LocalProtocolError(state, event, "a member does not suspect itself")
    if suspect not in state.unsuspected:
        return state, ()
    knowing = evolve(state, suspected=state.suspected | {suspect}, later=_without(state.later, suspect))
    opens = (_open,) if state.owner == suspect and state.asker == FOR_STATE else ()
    passed: Transition = (knowing, (PassUp(event),))
    return _ending(_then(passed, *opens, lambda after: _strike(after, suspect)))


# Multicasts ---------------------------------------------------------------------------------------


def _send_requested(state: State, event: SendRequested) -> Transition:
    """Multicast; behind a closed latch it waits. `Flush!SendRequested`."""
    if not state.in_view:
        raise LocalProtocolError(state, event, "a member that is in no view does not multicast")
    if state.latched:
        return evolve(state, waiting=(*state.waiting, event.payload)), ()
    data = Data(state.view.id, state.sent + 1, event.payload)
    return evolve(state, sent=data.seqno), (Multicast(data),)


def _data_received(state: State, event: DataReceived) -> Transition:
    """Pass up what is of this view, and next. `Flush!DataReceived`."""
    sender, message, delivered = event.sender, event.message, state.delivered
    if message.view_id != state.view.id or sender not in delivered:
        return state, ()
    if message.seqno != delivered[sender] + 1:
        return state, ()
    if state.frozen and message.seqno > state.limit[sender]:
        raise RemoteProtocolError(state, event, "DATA beyond what the layer below is to hold back")
    counted = evolve(state, delivered=delivered.put(sender, message.seqno))
    return _reporting((counted, (PassUp(Deliver(sender, message.payload)),)))
