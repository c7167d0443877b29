"""Merging over GMS: one layer that decides all views of a group that may part and come together. `MergeGms`.

GMS (`gms`) and merging (`merge`) are as they stand: a state has both of theirs, and an event that either passes to the
other happens in the same step. The group is stopped for one of them at a time. An event that begins a merge waits
(`State.wish`) until GMS has nothing under way, the group is stopped, and the digest is given. The merged view is GMS's
next one, and its first member acts like a member that takes over. The head of `spec/merge_gms/MergeGms.tla` says why
members ask each other for a merged view; there is a table of merging's use of the group, too.

It takes and gives the same as `gms` and `merge`, but
- `MergeReqReceived` and `DiscoverTimeout` come without a digest: it is asked for when the group is stopped;
- a merged view is passed down as `WindowsAdded`, then `ViewInstalled`, and up as `MergeViewInstalled`;
- `SuspendViews`, `ResumeViews`, `MergeDecided` and merging's `Suspected` stay inside.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Final, Literal, TypeAlias, TypeVar, assert_never

from attrs import field, frozen, validators

from . import gms, merge
from .digest import NOTHING, Vector
from .effects import CancelTimer, PassDown, PassUp, Send, SetTimer
from .errors import ProtocolError, RemoteProtocolError
from .events import (
    Below,
    DigestGiven,
    DigestPromised,
    DigestSet,
    GetDigest,
    GroupStopped,
    Left,
    PromiseWithdrawn,
    Resume,
    Suspected,
    Suspend,
    ViewInstalled,
)
from .gms import (
    Answer,
    AnswerReceived,
    Decision,
    JoinRefusedReceived,
    JoinReqReceived,
    JoinRequested,
    JoinRspReceived,
    LeaveReq,
    LeaveReqReceived,
    LeaveRequested,
    LeaveRspReceived,
    NewView,
    NewViewReceived,
    Query,
    QueryReceived,
    ViewAck,
    ViewAckReceived,
)
from .merge import (
    CancelMergeReceived,
    InstallMergeViewReceived,
    Merged,
    MergeDecided,
    MergeReq,
    MergeRsp,
    MergeRspReceived,
    MergeTimeout,
    MergeView,
    MergeViewInstalled,
    MergeViewReceived,
    ResumeViews,
    SuspendViews,
    WindowsAdded,
)
from .records import evolve
from .view import NO_VIEW, Address, ViewId

T = TypeVar("T")

ASSUMES: Final = ("ReliableMulticast", "ReliableUnicast", "FailureDetector", "Incarnations", "Discovery")
"""The modules of `spec/common` that say what the layers below must give."""

GIVES: Final = ("Membership", "Departures", "JoinDigest", "StopRequests")
"""The modules that say what this layer gives to the others."""

GIVES_BELOW: Final = ("Membership", "JoinDigest")
"""Those of them that it gives to the layers beneath too, by what it passes down."""

RESTARTS: Final = ("discover",)
"""The timers that are set where they may be set already: a view begins an interval."""

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config(merge.Config):
    """The times of merging, and how many requests to join or leave one view grants at most."""

    max_bundle: int = field(validator=validators.ge(1))


# Messages and events ------------------------------------------------------------------------------


@frozen
class Probe:
    """Asks the receiver whether it has this view: the sender relies on it. A takeover asks by QUERY."""

    view_id: ViewId


Message: TypeAlias = gms.Message | merge.Message | Probe


@frozen
class ProbeReceived:
    """A PROBE arrived from `sender`."""

    sender: Address
    message: Probe


@frozen
class DiscoverTimeout:
    """Timer `discover` fired; discovery knows of the coordinators `found`."""

    found: Annotated[frozenset[Address], Below]


@frozen
class MergeReqReceived:
    """A MERGE_REQ arrived from `sender`."""

    sender: Address
    message: MergeReq


Event: TypeAlias = (
    JoinRequested
    | LeaveRequested
    | JoinReqReceived
    | JoinRefusedReceived
    | LeaveReqReceived
    | LeaveRspReceived
    | Suspected
    | QueryReceived
    | AnswerReceived
    | NewViewReceived
    | JoinRspReceived
    | ViewAckReceived
    | GroupStopped
    | DigestGiven
    | DiscoverTimeout
    | MergeReqReceived
    | MergeRspReceived
    | MergeTimeout
    | CancelMergeReceived
    | InstallMergeViewReceived
    | MergeViewReceived
    | ProbeReceived
)

Effect: TypeAlias = (
    Send[Message]
    | PassUp[ViewInstalled | MergeViewInstalled | Suspected | Suspend | Resume | Left | DigestGiven]
    | PassDown[ViewInstalled | DigestPromised | GetDigest | PromiseWithdrawn | DigestSet | WindowsAdded | GroupStopped]
    | SetTimer
    | CancelTimer
)
Effects: TypeAlias = tuple[Effect, ...]

# State --------------------------------------------------------------------------------------------


@frozen
class Early:
    """A question that cannot be answered yet."""

    sender: Address
    message: Query | Probe


@frozen
class Probed:
    """A view identifier, and the member that was asked for it."""

    id: ViewId
    to: Address


NO_MERGED: Final = Merged(NO_VIEW.id, (), frozenset(), gms.NO_DECISION.lives, gms.NO_DECISION.digest)


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `MergeGms!Start` says what each field is."""

    member: Address
    gms: gms.State
    merge: merge.State
    merged: Merged
    wish: DiscoverTimeout | MergeReqReceived | None
    holds: Literal["no", "stopping", "digest", "merging"]
    asked: int
    early: tuple[Early, ...]
    probed: frozenset[Probed]

    @property
    def own(self) -> Decision:
        """The view installed. `MergeGms!Own`."""
        return self.gms.decision

    @property
    def joined(self) -> bool:
        """True if it is in a view: it has installed one, and has not left. `MergeGms!Joined`."""
        return self.gms.in_view and not self.gms.gone

    @property
    def in_merged(self) -> bool:
        """Whether the view that it is in is a merged one. `MergeGms!InMerged`."""
        return self.merged.id == self.own.id

    @property
    def watched(self) -> frozenset[Address]:
        """The members that a failure detector must watch. `MergeGmsGroup!Watched`."""
        return self.gms.watched

    @property
    def suspected(self) -> frozenset[Address]:
        """The members of its view that it suspects."""
        return self.gms.suspected

    @property
    def coordinates(self) -> bool:
        """True if it is the first of its view: then discovery finds it. `MergeGms!Coordinates`."""
        return self.merge.coordinates and not self.gms.gone

    @property
    def certain(self) -> bool:
        """True if no merged view can reach its subgroup: it leads it, in no merge. `MergeGms!IsCertain`."""
        return self.gms.leads and not self.merge.merging

    @property
    def gms_is_idle(self) -> bool:
        """Whether GMS has nothing under way, and does not have the group. `MergeGms!GmsIsIdle`."""
        return self.gms.phase == "at rest"


_SELF: Final = "MERGE"
"""A member that asks for a digest."""

_GMS: Final = "GMS"
"""A member that asks to have the group stopped, for both."""

Transition: TypeAlias = tuple[State, Effects]


def start(member: Address) -> State:
    """A member before its first view. `MergeGms!Start`."""
    return State(
        member=member,
        gms=gms.start(member),
        merge=merge.start(member),
        merged=NO_MERGED,
        wish=None,
        holds="no",
        asked=0,
        early=(),
        probed=frozenset(),
    )


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:
    """The next state, and what is to be done, in order. `MergeGms!Step`.

    As with `gms` and `merge`, an ignored event returns the same state and no effects, and a refused one
    raises and changes nothing. `MergeGms!Refuses`: messages that neither of the two is ever sent.
    """
    arrived = state.member, getattr(event, "sender", ""), getattr(event, "message", None)
    if flaw := gms.malformed(*arrived) or merge.malformed(*arrived):
        raise RemoteProtocolError(state, event, flaw)
    try:
        return _taken(config, state, event)
    except ProtocolError as error:  # of GMS or of merging: here it is this event, in this state
        raise type(error)(state, event, error.reason) from None


def _taken(config: Config, state: State, event: Event) -> Transition:
    match event:
        case QueryReceived() | ProbeReceived():
            return _question_received(config, state, event)
        case AnswerReceived():
            return _answer_received(config, state, event)
        case GroupStopped():
            return _group_stopped(config, state, event)
        case DigestGiven():
            return _digest_given(config, state, event)
        case (
            JoinRequested()
            | LeaveRequested()
            | JoinReqReceived()
            | JoinRefusedReceived()
            | LeaveReqReceived()
            | LeaveRspReceived()
            | Suspected()
            | NewViewReceived()
            | JoinRspReceived()
            | ViewAckReceived()
        ):
            return _for_gms(config, state, event)
        case _ if state.gms.gone:
            return state, ()
        case MergeViewReceived():
            return _merge_view_received(config, state, event)
        case DiscoverTimeout():
            return _discover_timeout(config, state, event)
        case MergeReqReceived():
            return _merge_req_received(config, state, event)
        case CancelMergeReceived():
            return _cancel_merge_received(config, state, event)
        case MergeRspReceived() | InstallMergeViewReceived() | MergeTimeout():
            return _for_merging(config, state, event)
        case _:
            assert_never(event)


# The group, and the digest


def _group_stopped(config: Config, state: State, event: GroupStopped) -> Transition:
    """Give the group to GMS, if it has asked meanwhile, or to merging. `MergeGms!GroupStopped`."""
    if event.asker != _GMS or state.holds == "no":
        return _for_gms(config, state, event)
    if state.holds != "stopping":
        return state, ()
    if state.gms.phase == "stopping":
        return _for_gms(config, evolve(state, holds="no"), event)
    if state.wish is None:
        return _ending(config, *_end_use_of_group(state))
    asked = evolve(state, holds="digest", asked=state.asked + 1)
    return asked, (PassDown(GetDigest(_SELF, asked.asked)),)


def _digest_given(config: Config, state: State, event: DigestGiven) -> Transition:
    """Take the step that merging waited with. `MergeGms!DigestGiven`."""
    if event.asker != _SELF:
        return _for_gms(config, state, event)
    if state.holds != "digest" or event.request != state.asked or state.wish is None:
        return state, ()
    digested = _digested(state.wish, event.digest)
    after = _after_merging(config, evolve(state, wish=None), *merge.step(config, state.merge, digested))
    return _ending(config, *_then(after, _maybe_let_go))


def _discover_timeout(config: Config, state: State, event: DiscoverTimeout) -> Transition:
    """Wait for the group, if there is a merge to lead. `MergeGms!DiscoverTimeout`."""
    after, effects = merge.step(config, state.merge, _digested(event, _unknown(state)))
    begins = after.merging and not state.merge.merging
    again = tuple(effect for effect in effects if isinstance(effect, SetTimer) and effect.name == "discover")
    if not effects:  # it is in no view
        return state, ()
    if isinstance(state.wish, MergeReqReceived):
        return state, again
    if begins:
        return _ending(config, evolve(state, wish=event), again)
    return _dropped(config, state, again)


def _merge_req_received(config: Config, state: State, event: MergeReqReceived) -> Transition:
    """Wait for the group, if merging would accept; for one leader at a time. `MergeGms!MergeReqReceived`."""
    if _is_of_the_dead(state, event):
        return state, ()
    after, effects = merge.step(config, state.merge, _digested(event, _unknown(state)))
    if state.merge.merging or not after.merging:
        return _ending(config, *_after_merging(config, state, after, effects))
    if isinstance(state.wish, MergeReqReceived) and state.wish.sender != event.sender:
        rejection = MergeRsp(
            event.message.merge_id, rejected=True, decision=gms.NO_DECISION, digest=gms.NO_DECISION.digest
        )
        return state, (Send(event.sender, rejection),)
    return _ending(config, evolve(state, wish=event))


def _cancel_merge_received(config: Config, state: State, event: CancelMergeReceived) -> Transition:
    """Wait with the request no more. `MergeGms!CancelMergeReceived`."""
    wish = state.wish
    if isinstance(wish, MergeReqReceived) and wish.message.merge_id == event.message.merge_id:
        return _dropped(config, state)
    return _for_merging(config, state, event)


def _dropped(config: Config, state: State, effects: Effects = ()) -> Transition:
    """Drop the deferred event; if the group is stopped for it already, resume it. `MergeGms!Dropped`."""
    return _ending(config, *_then((evolve(state, wish=None), effects), _maybe_let_go))


def _end_use_of_group(state: State) -> Transition:
    """End merging's use of the group: call Suspend for GMS, or Resume. `MergeGms!EndUseOfGroup`."""
    waits = state.gms.phase == "stopping"
    return evolve(state, holds="no"), (PassUp(Suspend(_GMS) if waits else Resume(_GMS)),)


def _maybe_let_go(state: State) -> Transition:
    """The event that needed the digest is dropped, or began no merge. `MergeGms!MaybeLetGo`."""
    return _end_use_of_group(state) if state.holds == "digest" else (state, ())


# A member that is asked


def _question_received(config: Config, state: State, event: QueryReceived | ProbeReceived) -> Transition:
    """Answer, or keep it until that is possible. `MergeGms!QuestionReceived`."""
    word = Early(event.sender, event.message)
    if not isinstance(event, ProbeReceived) and (not state.joined or _is_for_gms(state, word)):
        return _for_gms(config, state, event)
    if not state.joined or event.sender in state.gms.suspected:
        return state, ()
    if not _is_early(state, word):
        return _ending(config, *_heard(config, state, word))
    if word in state.early:
        return state, ()
    return _ending(config, evolve(state, early=(*state.early, word)))


def _answer_received(config: Config, state: State, event: AnswerReceived) -> Transition:
    """Suspect a member that cannot install this view; or say so to others. `MergeGms!AnswerReceived`."""
    sender, asked, told = event.sender, event.message.view_id, event.message.decision
    if not state.joined:
        return _for_gms(config, state, event)
    own = state.own
    if (
        state.in_merged
        and asked == own.id
        and sender in set(state.gms.unsuspected) - {state.member}
        and told != gms.NO_DECISION
        and state.member not in told.members
    ):
        return _for_gms(config, state, Suspected(sender))
    about = [word for word in state.early if word.message.view_id == asked]
    if about and sender in state.gms.unsuspected and told.id != asked:
        askers = {word.sender for word in about}
        others = tuple(word for word in state.early if word.sender not in askers)
        replies: Effects = tuple(Send(word.sender, Answer(asked, told)) for word in about)
        return _ending(config, evolve(state, early=others), replies)
    return _for_gms(config, state, event)


def _merge_view_received(config: Config, state: State, event: MergeViewReceived) -> Transition:
    """Come to a merged view: from the coordinator, or a member that had it. `MergeGms!MergeViewReceived`."""
    sender, merged = event.sender, event.message.merged
    if sender in state.gms.suspected:
        return state, ()
    own = state.own
    if merged.id == own.id:
        return state, (Send(sender, ViewAck(own.id)), *_leave_again(state, sender))
    if own.id in merged.follows and sender in own.members and not state.gms.leads:
        return _for_merging(config, state, event)
    if _may_come(state, merged.id):
        return state, ()
    return state, (Send(sender, Answer(merged.id, own)),)


def _leave_again(state: State, sender: Address) -> Effects:
    """Ask for leave again: the member ignored that if it did not have the view. `MergeGms!LeaveAgain`."""
    return (Send(sender, LeaveReq(state.gms.life)),) if state.gms.leave_asked == sender else ()


# Consequences of a state: a step ends with _ending ------------------------------------------------


def _ending(config: Config, state: State, effects: Effects = ()) -> Transition:
    """Do what follows, one thing after the other. `MergeGms!Ending`."""
    after = _then((state, effects), lambda s: _answer_early(config, s))
    return _then(_then(after, _ask_leader), _maybe_stop)


def _answer_early(config: Config, state: State) -> Transition:
    """Answer the early queries whose answers are final now. `MergeGms!AnswerEarly`."""
    ready = [word for word in state.early if not _is_early(state, word)]
    if not ready:
        return state, ()
    waiting = tuple(word for word in state.early if word not in ready)
    return _fold(evolve(state, early=waiting), ready, lambda s, word: _heard(config, s, word))


def _ask_leader(state: State) -> Transition:
    """Ask the first unsuspected member about each view in doubt. `MergeGms!AskLeader`, `!Doubts`."""
    if not state.joined or state.gms.acting:
        return state, ()
    head = state.gms.unsuspected[0]
    doubts = [state.own.id] if state.in_merged else []
    doubts += [word.message.view_id for word in state.early]
    return _fold(state, doubts, lambda s, asked: _probe(s, Probed(asked, head)))


def _probe(state: State, probe: Probed) -> Transition:
    if probe in state.probed:
        return state, ()
    return evolve(state, probed=state.probed | {probe}), (Send(probe.to, Probe(probe.id)),)


def _maybe_stop(state: State) -> Transition:
    """Merging wants the group, and GMS does not have it. `MergeGms!MaybeStop`."""
    if state.wish is None or state.holds != "no" or not state.gms_is_idle:
        return state, ()
    return evolve(state, holds="stopping"), (PassUp(Suspend(_GMS)),)


# GMS and merging step -----------------------------------------------------------------------------


def _for_gms(config: Config, state: State, event: gms.Event) -> Transition:
    """An event that is GMS's. `MergeGms!ForGms`."""
    return _ending(config, *_gms_step(config, state, event))


def _for_merging(
    config: Config,
    state: State,
    event: MergeRspReceived | MergeTimeout | CancelMergeReceived | InstallMergeViewReceived | MergeViewReceived,
) -> Transition:
    """An event that is merging's. `MergeGms!ForMerging`."""
    return _ending(config, *_after_merging(config, state, *merge.step(config, state.merge, event)))


def _gms_step(config: Config, state: State, event: gms.Event) -> Transition:
    """Take a step of GMS, and pass its view to merging. `MergeGms!GmsStep`, `!AfterGms`."""
    after, effects = gms.step(gms.Config(config.max_bundle), state.gms, event)
    if after is state.gms and not effects:
        return state, ()
    stepped: Transition = evolve(state, gms=after), _from_gms(state, effects)
    return _then(stepped, lambda s: _tell_merging(config, s))


def _tell_merging(config: Config, state: State) -> Transition:
    """Pass a view of GMS to merging. `MergeGms!TellMerging`, `!WishIn`."""
    if state.own == state.merge.decision:
        return state, ()
    after, effects = merge.step(config, state.merge, merge.DecisionInstalled(state.own))
    told = evolve(state, merge=after, probed=frozenset(), holds="no" if state.holds == "merging" else state.holds)
    if isinstance(state.wish, MergeReqReceived) and _is_of_the_dead(state, state.wish):
        told = evolve(told, wish=None)
    return told, tuple(effect for effect in effects if not isinstance(effect, PassDown))


def _from_gms(state: State, effects: Iterable[gms.Effect]) -> Effects:
    """Return the effects of GMS, as they go out. `MergeGms!FromGms`."""
    heard: list[Effect] = []
    for effect in effects:
        match effect:
            case Send(to, message):
                heard.append(_worded(state, to, message))
            case PassUp(Suspend()) if state.holds != "no":
                pass
            case PassUp(Resume()) if state.wish is not None:
                pass
            case _:
                heard.append(effect)
    return tuple(heard)


def _worded(state: State, to: Address, message: gms.Message) -> Effect:
    """Send a message of GMS; or what says more, where it is of a merged view. `MergeGms!Worded`."""
    match message:
        case NewView(decision) if decision.id == state.merged.id:
            return Send(to, MergeView(state.merged))
        case Answer(view_id, decision) if decision.id == state.merged.id and view_id == decision.follows:
            return Send(to, MergeView(state.merged))
        case _:
            return Send(to, message)


def _after_merging(config: Config, state: State, after: merge.State, effects: tuple[merge.Effect, ...]) -> Transition:
    """Merging has taken a step: do what it says to GMS. `MergeGms!AfterMerging`, `!Carried`."""
    if after is state.merge and not effects:
        return state, ()
    return _fold(evolve(state, merge=after), effects, lambda s, effect: _from_merging(config, s, effect))


def _from_merging(config: Config, state: State, effect: merge.Effect) -> Transition:
    """One effect of merging. `MergeGms!FromMerging`."""
    match effect:
        case Send() | SetTimer() | CancelTimer():
            return state, (effect,)
        case PassUp(event):
            return _announce(state, event)
        case PassDown(event):
            return _passed_down(config, state, event)
        case _:
            assert_never(effect)


def _passed_down(
    config: Config,
    state: State,
    event: SuspendViews | ResumeViews | MergeDecided | Suspected | DigestPromised | PromiseWithdrawn | WindowsAdded,
) -> Transition:
    """Separate the events for GMS from those for the layers below."""
    match event:
        case MergeDecided(decision):
            return _take_view(state, decision)
        case SuspendViews():
            return evolve(state, holds="merging"), ()
        case ResumeViews():
            return _end_use_of_group(state) if state.holds == "merging" else (state, ())
        case Suspected(suspect) if suspect == state.member:  # a later incarnation of it, which no correct
            # peer knows
            return state, ()
        case Suspected():
            return _gms_step(config, state, event)
        case WindowsAdded() | DigestPromised() | PromiseWithdrawn():
            return state, (PassDown(event),)
        case _:
            assert_never(event)


def _take_view(state: State, decision: Decision) -> Transition:
    """The merged view is GMS's next one. `MergeGms!TakeView`."""
    first = decision.members[0] == state.member
    entered = gms.enter(state.gms, decision)
    if first:
        entered = evolve(entered, queue=state.gms.queue)
    taken = evolve(state, gms=entered, holds="no", probed=frozenset())
    return taken, (PassDown(ViewInstalled(decision.view)),)


def _announce(state: State, event: MergeViewInstalled) -> Transition:
    """Announce the merged view, and continue with GMS from there. `MergeGms!Announce`."""
    own = state.own
    merged = Merged(own.id, own.members, event.subgroups, own.lives, own.digest)
    after, effects = gms.proceed(state.gms)
    known = evolve(state, merged=merged)
    return evolve(known, gms=after), (PassUp(event), *_from_gms(known, effects))


# Shared by the actions ----------------------------------------------------------------------------


def _heard(config: Config, state: State, word: Early) -> Transition:
    """A QUERY or a PROBE that can be answered. `MergeGms!Heard`."""
    match word.message:
        case Query() as question if _is_for_gms(state, word):
            return _gms_step(config, state, QueryReceived(word.sender, question))
        case question:
            return state, (_reply(state, word.sender, question),)


def _reply(state: State, sender: Address, message: Query | Probe) -> Effect:
    """Reply with the merged view if the sender asks for it, else with the own view. `MergeGms!Reply`."""
    own = state.own
    if isinstance(message, Probe) and message.view_id == own.id and state.in_merged:
        return Send(sender, MergeView(state.merged))
    return _worded(state, sender, Answer(message.view_id, own))


def _is_for_gms(state: State, word: Early) -> bool:
    """Return True if a member's message is for GMS: all except a PROBE. `MergeGms!IsForGms`."""
    return word.sender in state.own.members and not isinstance(word.message, Probe)


def _is_early(state: State, word: Early) -> bool:
    """True if it cannot be answered yet. `MergeGms!IsEarly`."""
    return not _is_for_gms(state, word) and _may_come(state, word.message.view_id)


def _is_of_the_dead(state: State, request: MergeReqReceived) -> bool:
    """Whether a leader that asked is over. `MergeGms!IsOfTheDead`."""
    leader, theirs = request.sender, request.message.decision
    known = state.own.lives.get(leader, 0)
    return theirs.lives.get(leader, known) < known


def _may_come(state: State, view_id: ViewId) -> bool:
    """Whether a view that it has not may yet come. `MergeGms!MayCome`."""
    return view_id.counter > state.own.id.counter and not state.certain


def _digested(
    event: DiscoverTimeout | MergeReqReceived, digest: Vector
) -> merge.DiscoverTimeout | merge.MergeReqReceived:
    """The event of merging."""
    if isinstance(event, DiscoverTimeout):
        return merge.DiscoverTimeout(event.found, digest)
    return merge.MergeReqReceived(event.sender, event.message, digest)


def _unknown(state: State) -> Vector:
    """While it is not known, a digest of nothing: the step is taken again when it is. `MergeGms!Unknown`."""
    return Vector(tuple((member, NOTHING) for member in state.own.members))


def _then(done: Transition, follow: Callable[[State], Transition]) -> Transition:
    """One thing after the other. `MergeGms!Then`."""
    state, effects = done
    after, more = follow(state)
    return after, (*effects, *more)


def _fold(state: State, items: Iterable[T], follow: Callable[[State, T], Transition]) -> Transition:
    """The same for each, one after the other."""
    effects: list[Effect] = []
    for item in items:
        state, more = follow(state, item)
        effects += more
    return state, tuple(effects)
