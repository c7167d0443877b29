"""FLUSH: who goes from one view to the next has delivered the same messages before. `Flush`.

Theory of operation
-------------------
When the membership is to change, the first member that nobody suspects becomes the requester: it asks all
members of its view to stop (START_FLUSH). A member tells its application (BLOCK). When BLOCK returns it
closes its latch: what is multicast from then on waits. It lets its own multicasts come back, has the layer
below hold back whatever comes after that (it is frozen), and tells the requester what it has delivered
(FLUSH_COMPLETED). If some lack what others have, the requester tells everybody what to reach and whom to ask
for it (RECONCILE), and all report again. When all that report have delivered the same, the requester makes
the next view and sends it (NEW_VIEW), to old members first, then to joiners. Who has installed it reports
that with the same FLUSH_COMPLETED. When all have, everybody may go on (STOP_FLUSH): latches open,
applications are told (UNBLOCK), and who leaves goes.

Why survivors agree. From its report until a target or the next view a member delivers nothing, and its latch
is closed: so reports that are equal stay true until the view comes. A requester that is suspected is no
reason to open a latch, for its view may be on its way to another. Its successor asks everybody again, and
says whom it leaves out: who has answered takes nothing from those any more. So a view that nobody reports
can never be installed, and one that somebody reports is sent to everybody before another is made.

What is to change (who joins, leaves, is suspected) comes as events from the membership service beside FLUSH.
FLUSH makes the view of it and sends it, as its question for digests is at the same time the question for the
newest view. The layer below counts multicasts on from what it had delivered when the view was installed,
which is the same at all who go on; FLUSH counts from 1 in each view.
"""

from typing import Final, Literal, TypeAlias, assert_never, final

from attrs import evolve, frozen

from .digest import EMPTY_VECTOR, Vector
from .effects import Multicast, PassDown, PassUp, Send
from .errors import LocalProtocolError, RemoteProtocolError
from .events import (
    Block,
    Deliver,
    Fetch,
    HoldBack,
    Left,
    Payload,
    Release,
    Suspected,
    Unblock,
    ViewInstalled,
)
from .per_member import PerMember
from .view import NO_VIEW, Address, View, ViewId

ASSUMES: Final = ("ReliableMulticast", "ReliableUnicast")
"""The modules of `spec/common` that say what the layers below must give."""

GIVES: Final = ("VirtualSynchrony",)
"""The module that says what this layer gives to those above."""

__all__ = [
    "ASSUMES",
    "GIVES",
    "Block",
    "BlockReturned",
    "Config",
    "Data",
    "DataReceived",
    "Decision",
    "Deliver",
    "Effect",
    "Event",
    "Fetch",
    "FlushCompleted",
    "FlushCompletedReceived",
    "FlushWanted",
    "FlushWantedReceived",
    "HoldBack",
    "Holders",
    "JoinRequested",
    "LeaveRequested",
    "Left",
    "Message",
    "NewView",
    "NewViewReceived",
    "Payload",
    "Reconcile",
    "ReconcileReceived",
    "Release",
    "Report",
    "Reports",
    "Run",
    "SendRequested",
    "StartFlush",
    "StartFlushReceived",
    "State",
    "StopFlush",
    "StopFlushReceived",
    "Suspected",
    "Transition",
    "Unblock",
    "ViewInstalled",
    "start",
    "step",
]

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config:
    """FLUSH has no parameters."""


# What is decided ----------------------------------------------------------------------------------


@frozen
class Decision:
    """A view as FLUSH knows it: `follows` is the view before, `joiners` begin with it. `Flush!Decision`."""

    id: ViewId
    members: tuple[Address, ...]
    follows: ViewId
    joiners: frozenset[Address]

    @property
    def view(self) -> View:
        """What the other protocols see of it. `Flush!ViewIn`."""
        return View(self.id, self.members)


NO_DECISION: Final = Decision(NO_VIEW.id, (), NO_VIEW.id, frozenset())
"""What a member has before its first view. `Flush!NoDecision`."""


@final
@frozen
class Holders(PerMember[Address]):
    """Of each sender a member that has delivered all of its multicasts that anybody has."""


@frozen
class Report:
    """What a member has reported: its view, and how many multicasts of each member it has delivered in it."""

    decision: Decision
    digest: Vector


@final
@frozen
class Reports(PerMember[Report]):
    """The reports that count."""


NO_REPORTS: Final = Reports(())

# Messages -----------------------------------------------------------------------------------------


@frozen
class StartFlush:
    """Stop, and report. Who is `suspected` is left out of this flush. START_FLUSH in the note."""

    round: int
    suspected: frozenset[Address]


@frozen
class FlushCompleted:
    """The answer to the question of a round: the sender's view, and what it has delivered in it.

    FLUSH_COMPLETED in the note; here it acknowledges views, too.
    """

    round: int
    decision: Decision
    digest: Vector


@frozen
class Reconcile:
    """Deliver all up to the target, and no more; report again."""

    round: int
    target: Vector
    holders: Holders


@frozen
class NewView:
    """Install the view, and report it."""

    round: int
    decision: Decision
    suspected: frozenset[Address]


@frozen
class StopFlush:
    """Go on. STOP_FLUSH in the note."""


@frozen
class FlushWanted:
    """To who is to act: `owner`, the requester, is `suspected`, and the sender waits for its STOP_FLUSH.

    `decision`: the sender's view. Who begins with it may not have it yet.
    """

    owner: Address
    decision: Decision
    suspected: frozenset[Address]


@frozen
class Data:
    """The `seqno`-th multicast of its sender in the view."""

    view_id: ViewId
    seqno: int
    payload: Payload


Message: TypeAlias = StartFlush | FlushCompleted | Reconcile | NewView | StopFlush | FlushWanted | Data

# Events -------------------------------------------------------------------------------------------


@frozen
class JoinRequested:
    """The membership service says that `joiner` wants to join. To whoever acts, again until it has joined."""

    joiner: Address


@frozen
class LeaveRequested:
    """The membership service says that `leaver` wants to leave. To whoever acts, again until it has left."""

    leaver: Address


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
class NewViewReceived:
    """A NEW_VIEW arrived from `sender`."""

    sender: Address
    message: NewView


@frozen
class StopFlushReceived:
    """A STOP_FLUSH arrived from `sender`."""

    sender: Address
    message: StopFlush


@frozen
class FlushWantedReceived:
    """A FLUSH_WANTED arrived from `sender`."""

    sender: Address
    message: FlushWanted


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
    JoinRequested
    | LeaveRequested
    | Suspected
    | StartFlushReceived
    | BlockReturned
    | FlushCompletedReceived
    | ReconcileReceived
    | NewViewReceived
    | StopFlushReceived
    | FlushWantedReceived
    | SendRequested
    | DataReceived
)

# Effects ------------------------------------------------------------------------------------------


Effect: TypeAlias = (
    Send[Message]
    | Multicast[Data]
    | PassUp[Block | Unblock | ViewInstalled | Deliver | Left]
    | PassDown[ViewInstalled | HoldBack | Release | Fetch]
)
Effects: TypeAlias = tuple[Effect, ...]

# State --------------------------------------------------------------------------------------------


@frozen
class Run:
    """A requester's flush. `Flush!Idle`.

    `phase`: what was asked last. `list`: who was ever asked, in order. `want`: whose report is awaited.
    """

    phase: Literal["none", "start", "reconcile", "view"]
    round: int
    list: tuple[Address, ...]
    want: frozenset[Address]
    reports: Reports

    @property
    def running(self) -> bool:
        """Whether there is one. `Flush!Running`."""
        return self.phase != "none"


@frozen
class State:
    """The local state of the specification, field for field. `Flush!Start` says what each field is."""

    member: Address
    decision: Decision
    left: bool
    gone: bool
    suspected: frozenset[Address]
    joining: tuple[Address, ...]
    leaving: frozenset[Address]
    sent: int
    delivered: Vector
    block: Literal["free", "asked", "blocked"]
    latched: bool
    waiting: tuple[Payload, ...]
    owner: Address
    round: int
    owes: bool
    frozen: bool
    limit: Vector
    run: Run

    @property
    def joined(self) -> bool:
        """Whether this member has installed a view. `Flush!InView`."""
        return self.decision != NO_DECISION

    @property
    def there(self) -> bool:
        """Whether it is a member of its view, and has not been let go."""
        return self.joined and not self.left and not self.gone

    @property
    def unsuspected(self) -> tuple[Address, ...]:
        """The members of the view that it does not suspect, the most senior first. `Flush!Unsuspected`."""
        return tuple(member for member in self.decision.members if member not in self.suspected)

    @property
    def acts(self) -> bool:
        """Whether it is the first of them. `Flush!Acts`."""
        return self.there and self.unsuspected[:1] == (self.member,)

    @property
    def last(self) -> bool:
        """Whether it is alone, and nothing is under way. `Flush!IsLast`."""
        under_way = self.owner != "" or self.run.running or bool(self.joining)
        return self.decision.members == (self.member,) and not under_way

    @property
    def watched(self) -> frozenset[Address]:
        """Whose crash concerns it. `Flush!Watched`."""
        members = () if self.left else self.decision.members
        own = {*members, *self.joining, *self.run.want, *self.run.reports, self.owner}
        return frozenset(own - {self.member, ""})

    @property
    def next_members(self) -> tuple[Address, ...]:
        """The members of the next view: M - S - L + J (AMB-71). `Flush!NextMembers`.

        If all leave, and nobody joins, this member stays for now: a view has members.
        """
        staying = (member for member in self.unsuspected if member not in self.leaving)
        return (*staying, *self.joining) or (self.member,)

    @property
    def needs(self) -> bool:
        """Whether the membership is to change. `Flush!Needs`."""
        return self.next_members != self.decision.members


Transition: TypeAlias = tuple[State, Effects]


def _idle(number: int) -> Run:
    return Run("none", number, (), frozenset(), NO_REPORTS)


def start(member: Address) -> State:
    """A member before its first view. `Flush!Start`."""
    return State(
        member=member,
        decision=NO_DECISION,
        left=False,
        gone=False,
        suspected=frozenset(),
        joining=(),
        leaving=frozenset(),
        sent=0,
        delivered=EMPTY_VECTOR,
        block="free",
        latched=False,
        waiting=(),
        owner="",
        round=0,
        owes=False,
        frozen=False,
        limit=EMPTY_VECTOR,
        run=_idle(0),
    )


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:  # noqa: ARG001 - a core takes its configuration
    """The next state, and what is to be done, in order. `Flush!Step`.

    An ignored event returns the same state and no effects. A refused one raises and changes nothing:
    `LocalProtocolError` where the caller erred, `RemoteProtocolError` where a peer did.
    """
    match event:
        case JoinRequested():
            return _join_requested(state, event)
        case LeaveRequested():
            return _leave_requested(state, event)
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
        case NewViewReceived():
            return _new_view_received(state, event)
        case StopFlushReceived():
            return _stop_flush_received(state, event)
        case FlushWantedReceived():
            return _flush_wanted_received(state, event)
        case SendRequested():
            return _send_requested(state, event)
        case DataReceived():
            return _data_received(state, event)
        case _:
            assert_never(event)


# A step ends with _proceed: what follows from the state that it leaves ----------------------------


def _proceed(state: State, effects: Effects = ()) -> Transition:
    """Go, or begin a flush, if it is time to. `Flush!Proceed`."""
    for follow in (_go, _begin_if_due):
        state, more = follow(state)
        effects += more
    return state, effects


def _go(state: State) -> Transition:
    """Go without being told to, if it is time to. `Flush!MaybeGo`.

    Who has left waits for no requester that is suspected. Nor does who wants to leave, nor does it take over:
    there may be a view without it, which it has not got, and those who have it do not ask it.
    """
    leaves = state.left or state.member in state.leaving
    over = leaves and state.owner in state.suspected and not (state.gone or state.run.running)
    return (evolve(state, gone=True), (PassUp(Left()),)) if over else (state, ())


def _begin_if_due(state: State) -> Transition:
    """Begin if something is to change, or if the requester is suspected (FCR-03). `Flush!MaybeBegin`.

    While another's flush is in force, or its own STOP_FLUSH has not come back, it waits.
    """
    due = state.needs if state.owner == "" else state.owner in state.suspected
    return _begin(state) if state.acts and not state.run.running and due else (state, ())


def _begin(state: State) -> Transition:
    """Ask all members that are not suspected to stop. `Flush!Begin`."""
    to = frozenset(state.unsuspected)
    number = state.run.round + 1
    return _ask(state, "start", state.decision.members, to, StartFlush(number, state.suspected))


def _ask(
    state: State,
    phase: Literal["start", "reconcile", "view"],
    order: tuple[Address, ...],
    to: frozenset[Address],
    message: StartFlush | Reconcile | NewView,
) -> Transition:
    """Ask some members, each once, in order. `Flush!Ask`.

    Reports on a view count for as long as their members are not asked again.
    """
    kept = ((m, report) for m, report in state.run.reports.items() if phase == "view" and m not in to)
    run = Run(phase, message.round, order, to, Reports(tuple(kept)))
    return evolve(state, run=run), tuple(Send(member, message) for member in order if member in to)


# Requester: all have reported. What is next? ------------------------------------------------------


def _all_reported(state: State) -> Transition:
    """Send the newest view to who lacks it; or stop, reconcile, or make the next. `Flush!AllReported`."""
    newest = _newest(state)
    concerned = {*newest.members, *state.run.reports} - state.suspected
    behind = frozenset(member for member in concerned if not _has(state, member, newest))
    if behind:
        return _send_view(state, newest, (behind - newest.joiners) or behind)
    if state.run.phase == "view" or not state.needs:
        asked = (member for member in state.run.list if member in state.run.reports)
        return evolve(state, run=_idle(state.run.round)), tuple(Send(member, StopFlush()) for member in asked)
    here = [member for member in state.decision.members if _has(state, member, state.decision)]
    digests = {member: state.run.reports[member].digest for member in here}
    most = ((x, max((digest[x] for digest in digests.values()), default=0)) for x in state.decision.members)
    target = Vector(tuple(most))
    if all(digest == target for digest in digests.values()):
        return _create_view(state)
    holders = ((x, next(m for m in here if digests[m][x] == target[x])) for x in state.decision.members)
    question = Reconcile(state.run.round + 1, target, Holders(tuple(holders)))
    return _ask(state, "reconcile", state.run.list, frozenset(state.run.reports), question)


def _newest(state: State) -> Decision:
    """The newest view that anybody has reported: its own, or one that follows it. `Flush!Newest`."""
    reported = (report.decision for report in state.run.reports.values())
    return next((each for each in reported if each.follows == state.decision.id), state.decision)


def _has(state: State, member: Address, decision: Decision) -> bool:
    """Whether a member has reported this view. `Flush!HasView`."""
    reports = state.run.reports
    return member in reports and reports[member].decision == decision


def _create_view(state: State) -> Transition:
    """Make the next view, above all that were reported, and send it to old members. `Flush!CreateView`."""
    members = state.next_members
    identifier = ViewId(state.decision.id.counter + 1, state.member)
    joiners = frozenset(members) - frozenset(state.decision.members)
    decision = Decision(identifier, members, state.decision.id, joiners)
    return _send_view(state, decision, frozenset(state.run.reports))


def _send_view(state: State, decision: Decision, to: frozenset[Address]) -> Transition:
    """Send a view, whose joiners may be asked from now on. `Flush!SendView`, `!Longer`."""
    new = (m for m in decision.members if m in decision.joiners and m not in state.run.list)
    order = (*state.run.list, *new)
    return _ask(state, "view", order, to, NewView(state.run.round + 1, decision, state.suspected))


def _done(state: State) -> Transition:
    """Go on when nobody is awaited. `Flush!MaybeDone`."""
    return _all_reported(state) if state.run.running and not state.run.want else (state, ())


def _without(state: State, member: Address) -> Transition:
    """Expect nothing of a member any more (FCR-01), and look whether all have reported. `Flush!Without`.

    In reconciliation it may be the one that others were told to ask: all start again.
    """
    run = state.run
    if not run.running:
        return state, ()
    reports = Reports(tuple(entry for entry in run.reports.items() if entry[0] != member))
    struck = evolve(state, run=evolve(run, want=run.want - {member}, reports=reports))
    if run.phase == "reconcile" and struck != state:
        return _begin(struck)
    return _done(struck)


def _distrusting(state: State, member: Address) -> State:
    """Suspect a member, which does not join either. `Flush!Distrust`."""
    joining = tuple(each for each in state.joining if each != member)
    return evolve(state, suspected=state.suspected | {member}, joining=joining)


def _on_this_line(state: State, decision: Decision) -> bool:
    """Whether a reported view is this one, the one after or before it, or none. `Flush!OnThisLine`.

    Of two views that follow, one is on another line: who has it is no member any more. (Only after a false
    suspicion.)
    """
    if decision == state.decision or decision.id in {NO_VIEW.id, state.decision.follows}:
        return True
    return decision.follows == state.decision.id and _newest(state) in (state.decision, decision)


def _flush_completed_received(state: State, event: FlushCompletedReceived) -> Transition:
    """Note a report, one a member (FST-12). `Flush!FlushCompletedReceived`."""
    member, message, run = event.sender, event.message, state.run
    known = frozenset(message.decision.members)
    if message.digest.keys() != (known if member in known else frozenset()):
        raise RemoteProtocolError(state, event, "a report says what is delivered of each member of its view")
    if not run.running or member not in run.want or message.round != run.round:
        return state, ()
    if not _on_this_line(state, message.decision):
        return _proceed(*_without(_distrusting(state, member), member))
    reports = Reports((*run.reports.items(), (member, Report(message.decision, message.digest))))
    return _proceed(*_done(evolve(state, run=evolve(run, want=run.want - {member}, reports=reports))))


# Everybody: reporting -----------------------------------------------------------------------------


def _report(state: State) -> Send[Message]:
    """Tell the requester the own view and what is delivered. `Flush!Report`."""
    return Send(state.owner, FlushCompleted(state.round, state.decision, state.delivered))


def _reporting(state: State, effects: Effects = ()) -> Transition:
    """Report when it is time to; from then on deliver nothing more. `Flush!MaybeReport`."""
    back = state.delivered.get(state.member, state.sent) == state.sent
    reached = all(state.delivered[x] >= count for x, count in state.limit.items())
    if not (state.owes and state.block != "asked" and back and reached):
        return _proceed(state, effects)
    report = _report(state)
    if not state.joined or state.left:
        return _proceed(evolve(state, owes=False), (*effects, report))
    hold: Effects = () if state.frozen else (PassDown(HoldBack(state.delivered)),)
    frozen_ = evolve(state, owes=False, frozen=True, limit=state.delivered)
    return _proceed(frozen_, (*effects, *hold, report))


def _start_flush_received(state: State, event: StartFlushReceived) -> Transition:
    """Block the application, once (FCR-05), and report when it has returned. `Flush!StartFlushReceived`.

    A stranger, or one that is left out, does not stop anybody. Who has left knows no strangers; but if it
    runs a flush itself, a question of another is of the dead.
    """
    requester, message = event.sender, event.message
    known = requester in state.decision.members or (
        state.left and (requester == state.member or not state.run.running)
    )
    stranger = state.joined and not known
    if state.gone or requester in state.suspected or stranger or state.member in message.suspected:
        return state, ()
    asked = evolve(
        state,
        owner=requester,
        round=message.round,
        owes=True,
        limit=state.delivered if state.frozen else EMPTY_VECTOR,
        suspected=state.suspected | message.suspected,
        run=state.run if requester == state.member else _idle(state.run.round),
    )
    if state.there and state.block == "free":
        return _proceed(evolve(asked, block="asked"), (PassUp(Block()),))
    again: Effects = () if asked.limit == state.limit else (PassDown(HoldBack(asked.limit)),)
    return _reporting(asked, again if state.frozen else ())


def _block_returned(state: State) -> Transition:
    """Close the latch (FST-09). `Flush!BlockReturned`."""
    if state.block != "asked":
        return state, ()
    return _reporting(evolve(state, block="blocked", latched=True))


def _reconcile_received(state: State, event: ReconcileReceived) -> Transition:
    """Have the layer below fetch what is lacking (FST-14, AMB-61). `Flush!ReconcileReceived`."""
    owner, message = event.sender, event.message
    if state.gone or state.left or owner != state.owner or owner in state.suspected:
        return state, ()
    if message.target.keys() != state.delivered.keys():
        return state, ()
    bound = evolve(state, round=message.round, owes=True, limit=message.target)
    hold: Effects = (PassDown(HoldBack(message.target)),) if state.limit != message.target else ()
    fetches: Effects = tuple(
        PassDown(Fetch(message.holders[x], x, message.target[x]))
        for x in state.decision.members
        if x in message.target and state.delivered[x] < message.target[x]
    )
    return _reporting(bound, (*(hold if state.frozen else ()), *fetches))


# Everybody: the view ------------------------------------------------------------------------------


def _new_view_received(state: State, event: NewViewReceived) -> Transition:
    """Install the view that follows the own, or the first one, and report it. `Flush!NewViewReceived`."""
    decision = event.message.decision
    if state.gone or event.sender in state.suspected:
        return state, ()
    if not state.joined:
        if state.member not in decision.members:
            raise RemoteProtocolError(state, event, "a view is sent to its members and to those before it")
        return _enter(state, event) if state.member in decision.joiners else (state, ())
    if state.left or decision.follows != state.decision.id or event.sender != state.owner:
        return state, ()
    return _enter(state, event) if state.member in decision.members else _part(state, event)


def _enter(state: State, event: NewViewReceived) -> Transition:
    """Install a view, and report it. `Flush!NewViewReceived`."""
    decision = event.message.decision
    entered = evolve(
        _entered(state, decision, event.message.suspected), owner=event.sender, round=event.message.round
    )
    return _proceed(entered, (*_announced(decision), _report(entered)))


def _announced(decision: Decision) -> Effects:
    """Announce a view to the layers below, then to those above (LAY-06). `Flush!Installed`."""
    return PassDown(ViewInstalled(decision.view)), PassUp(ViewInstalled(decision.view))


def _entered(state: State, decision: Decision, suspected: frozenset[Address]) -> State:
    """What a member has when it has installed a view; a joiner's latch is closed. `Flush!Enter`."""
    members = frozenset(decision.members)
    return evolve(
        state,
        decision=decision,
        suspected=(state.suspected | suspected) & members,
        joining=tuple(member for member in state.joining if member not in members),
        leaving=state.leaving & members,
        sent=0,
        delivered=Vector(tuple((member, 0) for member in decision.members)),
        frozen=False,
        limit=EMPTY_VECTOR,
        latched=state.latched or not state.joined,
        owes=False,
    )


def _part(state: State, event: NewViewReceived) -> Transition:
    """Take part without being a member, so that nobody has to suspect it. `Flush!PartWith`."""
    parted = evolve(
        state,
        decision=event.message.decision,
        left=True,
        suspected=state.suspected | event.message.suspected,
        joining=(),
        leaving=frozenset(),
        delivered=EMPTY_VECTOR,
        frozen=False,
        limit=EMPTY_VECTOR,
        waiting=(),
        round=event.message.round,
        owes=False,
    )
    return _proceed(parted, (_report(parted),))


def _stop_flush_received(state: State, event: StopFlushReceived) -> Transition:
    """Open the latch, and tell the application if it is blocked (FST-16, AMB-63). `Flush!StopFlushReceived`.

    Only the owner of the flush in force stops it.
    """
    if state.gone or event.sender != state.owner or event.sender in state.suspected:
        return state, ()
    if state.left:
        return evolve(state, gone=True, owner=""), (PassUp(Left()),)
    released: Effects = (PassDown(Release()),) if state.frozen else ()
    sends = tuple(
        Multicast(Data(state.decision.id, seqno, payload))
        for seqno, payload in enumerate(state.waiting, start=state.sent + 1)
    )
    unblocked: Effects = () if state.block == "free" else (PassUp(Unblock()),)
    opened = evolve(
        state,
        latched=False,
        waiting=(),
        sent=state.sent + len(state.waiting),
        block="free",
        owner="",
        owes=False,
        frozen=False,
        limit=EMPTY_VECTOR,
    )
    return _proceed(opened, (*released, *sends, *unblocked))


# What the membership service says -----------------------------------------------------------------


def _join_requested(state: State, event: JoinRequested) -> Transition:
    """Remember who wants to join, if this member acts. `Flush!JoinRequested`."""
    if not state.acts or event.joiner in {*state.decision.members, *state.joining}:
        return state, ()
    return _proceed(evolve(state, joining=(*state.joining, event.joiner)))


def _leave_requested(state: State, event: LeaveRequested) -> Transition:
    """Remember who wants to leave, if this member acts or is the one. `Flush!LeaveRequested`.

    The last member goes.
    """
    leaver = event.leaver
    if state.there and leaver == state.member and state.last:
        return evolve(state, gone=True), (PassUp(Left()),)
    concerned = state.acts or (state.there and leaver == state.member)
    if not concerned or leaver not in state.decision.members or leaver in state.leaving:
        return state, ()
    return _proceed(evolve(state, leaving=state.leaving | {leaver}))


def _suspected(state: State, event: Suspected) -> Transition:
    """Wait for it no longer. The latch stays closed, whoever it was. `Flush!Suspected`."""
    suspect = event.suspect
    if suspect == state.member:
        raise LocalProtocolError(state, event, "a member does not suspect itself")
    if state.gone or suspect in state.suspected or suspect not in state.watched:
        return state, ()
    done, effects = _without(_distrusting(state, suspect), suspect)
    return _proceed(done, (*effects, *_asking_for_flush(done)))


def _asking_for_flush(state: State) -> Effects:
    """Tell who is to act, where it may not know that it is. `Flush!AskingForFlush`.

    A requester that has left may have stopped it, and it does not watch it any more; or it is a joiner that
    has not got the view.
    """
    acting = state.unsuspected[:1]
    if not state.there or state.owner not in state.suspected or state.acts or not acting:
        return ()
    if state.owner in state.decision.members and acting[0] not in state.decision.joiners:
        return ()
    return (Send(acting[0], FlushWanted(state.owner, state.decision, state.suspected)),)


def _flush_wanted_received(state: State, event: FlushWantedReceived) -> Transition:
    """Flush again for who was not set free. `Flush!FlushWantedReceived`.

    A joiner installs its first view for that: where one joiner has the view, the old members have it. It
    flushes though nothing may be to change: the requester may have left.
    """
    owner, decision = event.message.owner, event.message.decision
    if not state.joined and state.member in decision.joiners:
        entered, effects = _begin(evolve(_entered(state, decision, event.message.suspected), owner=""))
        return _proceed(entered, _announced(decision) + effects)
    others = not state.acts or state.run.running or state.owner not in {"", owner}
    if others or event.sender not in state.unsuspected or owner in state.decision.members:
        return state, ()
    return _begin(evolve(state, suspected=state.suspected | {owner}))


# What is multicast --------------------------------------------------------------------------------


def _send_requested(state: State, event: SendRequested) -> Transition:
    """Multicast; behind a closed latch it waits. `Flush!SendRequested`.

    Who has a view without itself has not told the layers above yet, which may be asked to order a message.
    """
    if not state.joined or state.gone:
        raise LocalProtocolError(state, event, "a member that is in no view does not multicast")
    if state.left:
        return state, ()
    if state.latched:
        return evolve(state, waiting=(*state.waiting, event.payload)), ()
    data = Data(state.decision.id, state.sent + 1, event.payload)
    return evolve(state, sent=data.seqno), (Multicast(data),)


def _data_received(state: State, event: DataReceived) -> Transition:
    """Pass up what is of this view, and next. `Flush!DataReceived`."""
    sender, message, delivered = event.sender, event.message, state.delivered
    if not state.there or message.view_id != state.decision.id or sender not in delivered:
        return state, ()
    if message.seqno != delivered[sender] + 1:
        return state, ()
    if state.frozen and message.seqno > state.limit[sender]:
        raise LocalProtocolError(state, event, "the layer below was told to hold this back")
    counted = evolve(state, delivered=Vector((*delivered.items(), (sender, message.seqno))))
    return _reporting(counted, (PassUp(Deliver(sender, message.payload)),))
