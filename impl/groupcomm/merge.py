"""Merging: subgroups that could not hear each other become one group again. `Merge`.

A coordinator asks discovery which others there are (MERGE2). The first of them leads: it asks the others for view and
digest, makes one of each, and sends the merged view to all. The head of `spec/merge/Merge.tla` says why no member skips
a view whichever messages are lost, and how members of overlapping views come together.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Final, TypeAlias, assert_never

from attrs import frozen

from .digest import EMPTY_VECTOR, Vector
from .effects import CancelTimer, PassDown, PassUp, Send, SetTimer
from .errors import LocalProtocolError, RemoteProtocolError
from .events import Below, DigestPromised, MergeViewInstalled, PromiseWithdrawn, Suspected, WindowsAdded
from .gms import NO_DECISION, Decision, Lives
from .per_member import PerMember
from .records import evolve
from .view import Address, ViewId

ASSUMES: Final = ("ReliableMulticast", "ReliableUnicast")
"""The modules of `spec/common` that say what the layers below must give."""

GIVES: Final = ("Membership", "JoinDigest")
"""The modules that say what this layer gives to the others."""

GIVES_BELOW: Final = GIVES
"""Those of them that it gives to the layers beneath too, by what it passes down."""

RESTARTS: Final = ("discover",)
"""The timers that are set where they may be set already: a view begins an interval."""

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config:
    """The times of a member, in ms.

    `min_interval`, `max_interval`: discovery is asked again after a time between these (AMB-46).
    `leader_timeout`: how long a leader waits for answers. `member_timeout`: how long a coordinator that has
    answered waits for the merged view; longer (AMB-37).
    """

    min_interval: int
    max_interval: int
    leader_timeout: int
    member_timeout: int


# Decisions ----------------------------------------------------------------------------------------


@frozen
class Merged:
    """A merged view: `follows` are the views that it is made of. `Merge!Merged`.

    `lives`: the newest incarnation of each address that was in a view of one of their branches. `digest`:
    where members start with the members that were not with them.
    """

    id: ViewId
    members: tuple[Address, ...]
    follows: frozenset[ViewId]
    lives: Lives
    digest: Vector

    @property
    def sound(self) -> bool:
        """True if it is as every merged view is, by any leader. `Merge!IsSoundMerged`."""
        members = set(self.members)
        return (
            0 < len(members) == len(self.members)
            and members <= self.lives.keys()
            and all(life >= 0 for life in self.lives.values())
            and all(self.id.counter > before.counter for before in self.follows)
            and self.digest.keys() == members
        )

    def after_own(self, own: Decision) -> Decision:
        """Return the merged view for one subgroup: the successor of its own view. `Merge!AfterOwn`."""
        return Decision(self.id, self.members, own.id, self.lives, frozenset(), self.digest)


@frozen
class MergeId:
    """A merge: its leader, the leader's incarnation, and the leader's number for it."""

    leader: Address
    life: int
    number: int


NO_MERGE: Final = MergeId("", 0, 0)


@frozen
class Response:
    """The answer of a coordinator: its view, and what it had delivered."""

    decision: Decision
    digest: Vector


class Responses(PerMember[Response]):
    """The answers of the coordinators that have accepted."""


NO_RESPONSES: Final = Responses(())

# Messages -----------------------------------------------------------------------------------------


@frozen
class MergeReq:
    """From a leader, with its view. MERGE_REQ in the notes."""

    merge_id: MergeId
    decision: Decision


@frozen
class MergeRsp:
    """The answer: view and digest; or a rejection, with a view not to merge. MERGE_RSP in the notes."""

    merge_id: MergeId
    rejected: bool
    decision: Decision
    digest: Vector


@frozen
class InstallMergeView:
    """From the leader to a coordinator that has accepted. INSTALL_MERGE_VIEW in the notes."""

    merge_id: MergeId
    merged: Merged


@frozen
class MergeView:
    """From a coordinator to its subgroup. MergeView in the notes."""

    merged: Merged


@frozen
class CancelMerge:
    """From the leader: it has given up, or continues without you."""

    merge_id: MergeId


Message: TypeAlias = MergeReq | MergeRsp | InstallMergeView | MergeView | CancelMerge

# Events -------------------------------------------------------------------------------------------


@frozen
class DecisionInstalled:
    """The membership service has installed a view."""

    decision: Decision


@frozen
class DiscoverTimeout:
    """Timer `discover` fired. Discovery knows of the coordinators `found`, and `digest` is delivered here."""

    found: Annotated[frozenset[Address], Below]
    digest: Annotated[Vector, Below]


@frozen
class MergeReqReceived:
    """A MERGE_REQ arrived from `sender`; `digest` is delivered here."""

    sender: Address
    message: MergeReq
    digest: Annotated[Vector, Below]


@frozen
class MergeRspReceived:
    """A MERGE_RSP arrived from `sender`."""

    sender: Address
    message: MergeRsp


@frozen
class MergeTimeout:
    """Timer `merge/number` fired: `number` says in which of the member's merges it was set (AMB-45)."""

    number: int


@frozen
class CancelMergeReceived:
    """A CANCEL_MERGE arrived from `sender`."""

    sender: Address
    message: CancelMerge


@frozen
class InstallMergeViewReceived:
    """An INSTALL_MERGE_VIEW arrived from `sender`."""

    sender: Address
    message: InstallMergeView


@frozen
class MergeViewReceived:
    """A MERGE_VIEW arrived from `sender`."""

    sender: Address
    message: MergeView


@frozen
class EarlyTimeout:
    """Timer `early` fired: the view is installed that a merged view waits for."""


Event: TypeAlias = (
    DiscoverTimeout
    | MergeReqReceived
    | MergeRspReceived
    | MergeTimeout
    | CancelMergeReceived
    | InstallMergeViewReceived
    | MergeViewReceived
    | DecisionInstalled
    | EarlyTimeout
)

# Effects ------------------------------------------------------------------------------------------


@frozen
class SuspendViews:
    """To the membership service: leave the view as it is."""


@frozen
class ResumeViews:
    """To the membership service: the view may change again."""


@frozen
class MergeDecided:
    """To the membership service: this is the next view."""

    decision: Decision


Effect: TypeAlias = (
    Send[Message]
    | PassUp[MergeViewInstalled]
    | PassDown[SuspendViews | ResumeViews | MergeDecided | Suspected | DigestPromised | PromiseWithdrawn | WindowsAdded]
    | SetTimer
    | CancelTimer
)
Effects: TypeAlias = tuple[Effect, ...]

# State --------------------------------------------------------------------------------------------


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `Merge!Start` says what each field is.

    `early` and its timer are for merging that stands by itself: over GMS, as in the shipped stack, it stays empty.
    """

    member: Address
    decision: Decision
    merge: MergeId
    awaiting: frozenset[Address]
    responses: Responses
    begun: int
    early: tuple[Merged, ...]

    @property
    def in_view(self) -> bool:
        """True if this member has installed a view. `Merge!InView`."""
        return self.decision != NO_DECISION

    @property
    def merging(self) -> bool:
        """True if it is in a merge. `Merge!Merging`."""
        return self.merge != NO_MERGE

    @property
    def leads(self) -> bool:
        """True if it leads the merge. `Merge!Leads`."""
        return self.merge.leader == self.member

    @property
    def coordinates(self) -> bool:
        """True if it is the first of its view (MRG-21, AMB-47). `Merge!Coordinates`."""
        return self.decision.members[:1] == (self.member,)

    @property
    def asked(self) -> frozenset[Address]:
        """Of a leader: the coordinators in the merge, without itself. Only a leader has asked any member."""
        return (frozenset(self.responses) | self.awaiting) - {self.member}

    @property
    def promised_to(self) -> frozenset[Address]:
        """In a merge, the members outside its view with a promise of its digest. `Merge!PromisedTo`."""
        others = self.asked if self.leads else frozenset({self.merge.leader})
        return others - frozenset(self.decision.members)


Transition: TypeAlias = tuple[State, Effects]


def start(member: Address) -> State:
    """A member before its first view. `Merge!Start`."""
    return State(
        member=member,
        decision=NO_DECISION,
        merge=NO_MERGE,
        awaiting=frozenset(),
        responses=NO_RESPONSES,
        begun=0,
        early=(),
    )


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:
    """The next state, and what is to be done, in order. `Merge!Step`.

    An ignored event returns the same state and no effects; messages may come late, and timers that were
    stopped. A refused one raises and changes nothing: `LocalProtocolError` where the caller erred,
    `RemoteProtocolError` where a peer did.
    """
    if flaw := malformed(state.member, getattr(event, "sender", ""), getattr(event, "message", None)):
        raise RemoteProtocolError(state, event, flaw)
    match event:
        case DiscoverTimeout():
            return _discover_timeout(config, state, event)
        case MergeReqReceived():
            return _merge_req_received(config, state, event)
        case MergeRspReceived():
            return _merge_rsp_received(state, event)
        case MergeTimeout():
            return _merge_timeout(state, event)
        case CancelMergeReceived():
            return _cancel_merge_received(state, event)
        case InstallMergeViewReceived():
            return _install_merge_view_received(state, event)
        case MergeViewReceived():
            return _merge_view_received(state, event)
        case DecisionInstalled():
            return _decision_installed(config, state, event)
        case EarlyTimeout():
            return _early_timeout(state)
        case _:
            assert_never(event)


def malformed(member: Address, sender: Address, message: object) -> str:
    """Say why no correct peer sends this to a member in any state; "" if one may. `Merge!IsMalformed`."""
    match message:
        case MergeReq(merge_id, decision):
            if sender != merge_id.leader or not decision.sound or sender not in decision.members:
                return "MERGE_REQ: a merge is asked for by its leader, with its view"
        case MergeRsp(_, rejected, decision, digest):
            members = set(decision.members)
            if rejected and not decision.sound and decision != NO_DECISION:
                return "MERGE_RSP: each member must be listed once, with an incarnation"
            if not rejected and (not decision.sound or sender not in members or digest.keys() != members):
                return "MERGE_RSP: the sender must be in its view, and the digest must cover the view"
        case InstallMergeView(merge_id, merged):
            if sender != merge_id.leader or not merged.sound or member not in merged.members:
                return "INSTALL_MERGE_VIEW: the sender must be the merge leader, the receiver a member"
        case MergeView(merged):
            if not merged.sound or not {sender, member} <= set(merged.members):
                return "MERGE_VIEW: it is sent from a member of the merged view to another"
        case CancelMerge(merge_id):
            if sender != merge_id.leader:
                return "CANCEL_MERGE: a merge is cancelled by its leader"
        case _:
            return ""
    return "a member sends no message of a merge to itself" if sender == member else ""


def _discover_timeout(config: Config, state: State, event: DiscoverTimeout) -> Transition:
    """Lead a merge, if this is the first of several coordinators (MRG-04). `Merge!DiscoverTimeout`.

    A coordinator that is not the first waits to be asked (FLAW-41). The leader's own answer is there at once
    (AMB-36).
    """
    if not state.in_view:
        return state, ()
    _require_fits(state, event)
    again = _discover_again(config)
    others = event.found - {state.member}
    leads = min({state.member, *others}) == state.member
    if not state.coordinates or state.merging or not others or not leads:
        return state, (again,)
    begun = evolve(
        state,
        merge=MergeId(state.member, state.decision.lives[state.member], state.begun + 1),
        begun=state.begun + 1,
        awaiting=others,
        responses=Responses(((state.member, Response(state.decision, event.digest)),)),
    )
    return begun, (
        again,
        PassDown(SuspendViews()),
        *_promises(begun),
        SetTimer(_timer_of(begun), config.leader_timeout, config.leader_timeout),
        *_send_each(others, MergeReq(begun.merge, state.decision)),
    )


def _merge_req_received(config: Config, state: State, event: MergeReqReceived) -> Transition:
    """Take part, if in no merge; from now on in this merge (MRG-24 to MRG-26). `Merge!MergeReqReceived`.

    A leader whose view overlaps with ours is rejected. If it is in our view, it left us: it is in no other
    merge now, and takes no view of an earlier one. It is also rejected if it knows a later incarnation of a
    member of ours, or we know a later incarnation of a member of its view (FLAW-110).
    """
    sender, merge_id, theirs = event.sender, event.message.merge_id, event.message.decision
    _require_fits(state, event)
    if not state.coordinates or state.merging:
        return state, (Send(sender, MergeRsp(merge_id, rejected=True, decision=NO_DECISION, digest=EMPTY_VECTOR)),)
    if not _may_merge(state.decision, theirs):
        rejection = MergeRsp(merge_id, rejected=True, decision=state.decision, digest=EMPTY_VECTOR)
        return state, (*_for_each(_left_us(state, sender, theirs), _disowned), Send(sender, rejection))
    taken = evolve(state, merge=merge_id, begun=state.begun + 1)
    return taken, (
        PassDown(SuspendViews()),
        *_promises(taken),
        SetTimer(_timer_of(taken), config.member_timeout, config.member_timeout),
        Send(sender, MergeRsp(merge_id, rejected=False, decision=state.decision, digest=event.digest)),
    )


def _merge_rsp_received(state: State, event: MergeRspReceived) -> Transition:
    """Count an answer; a rejecting coordinator is asked no more (MRG-16). `Merge!MergeRspReceived`."""
    sender, said = event.sender, event.message
    if said.merge_id != state.merge or sender not in state.awaiting:
        return state, ()
    heard = evolve(state, awaiting=state.awaiting - {sender})
    before: Effects = ()
    if said.rejected:
        left = _left_us(state, sender, said.decision)
        before = (*_withdrawals(state.promised_to & {sender}), *_for_each(left, _disowned))
    else:
        answer = Response(said.decision, said.digest)
        heard = evolve(heard, responses=Responses((*state.responses.items(), (sender, answer))))
    if heard.awaiting:
        return heard, before
    done, effects = _conclude(heard)
    return done, (*before, *effects)


def _merge_timeout(state: State, event: MergeTimeout) -> Transition:
    """Decide with the answers that are there; without answers give up (MRG-25). `Merge!MergeTimeout`."""
    return (state, ()) if event.number != state.begun else _conclude(state)


def _cancel_merge_received(state: State, event: CancelMergeReceived) -> Transition:
    """Give up, as the leader has, or as it continues without us (AMB-39). `Merge!CancelMergeReceived`."""
    merge_id = event.message.merge_id
    return (state, ()) if state.merge != merge_id else _give_up(state)


def _install_merge_view_received(state: State, event: InstallMergeViewReceived) -> Transition:
    """Take the view of this merge, and hand it to the subgroup (MRG-27). `Merge!InstallMergeViewReceived`.

    A member that has given up has withdrawn its promise, and comes no more (FLAW-102).
    """
    merge_id, merged = event.message.merge_id, event.message.merged
    if not _follows_own(state, merged) or state.merge != merge_id:
        return state, ()
    views = _send_each(_subgroup(state), MergeView(merged))
    return _enter(state, merged, views, state.promised_to - {event.sender})


def _merge_view_received(state: State, event: MergeViewReceived) -> Transition:
    """Come to the merged view, or keep it for the view that it follows. `Merge!MergeViewReceived`.

    That may be a view of the membership service, or of a merge that has not ended here (FLAW-107). Every
    other early view is kept, too: of two merges the second may arrive first (FLAW-108).
    """
    merged = event.message.merged
    if not state.merging and _follows_own(state, merged):
        return _enter(state, merged)
    known = any(kept.id == merged.id for kept in state.early)
    if known or merged.id.counter <= state.decision.id.counter:
        return state, ()
    return evolve(state, early=(*state.early, merged)), ()


def _decision_installed(config: Config, state: State, event: DecisionInstalled) -> Transition:
    """Go on from the membership service's view; no merge outlives it. `Merge!DecisionInstalled`."""
    decision = event.decision
    if state.member not in decision.members:
        raise LocalProtocolError(state, event, "a view without this member cannot be installed")
    if decision.id == state.decision.id:
        return state, ()
    moved = _moved(state, decision)
    if not state.in_view:
        return moved, (_discover_again(config), *_follow_early(moved))
    over, effects = _give_up(moved)
    return over, (*effects, *_follow_early(over))


def _early_timeout(state: State) -> Transition:
    """Follow with a merged view that came early. `Merge!EarlyTimeout`."""
    after = _next_early(state)
    return (state, ()) if after is None else _enter(state, after)


# Shared by the actions ----------------------------------------------------------------------------


def _conclude(state: State) -> Transition:
    """No answer is awaited any more: merge, or give up without another coordinator. `Merge!Conclude`."""
    chosen = _chosen(state)
    if chosen == {state.member}:
        return _give_up(state)
    merged = _merged_view(state, chosen)
    sent = (
        *_send_each(chosen - {state.member}, InstallMergeView(state.merge, merged)),
        *_send_each(_subgroup(state), MergeView(merged)),
        *_send_each(state.asked - chosen, CancelMerge(state.merge)),
    )
    return _enter(state, merged, sent, state.promised_to - chosen)


def _chosen(state: State) -> frozenset[Address]:
    """The leader, and in the order of addresses each whose view can be merged. `Merge!Chosen`."""
    chosen = [state.member]
    for other in sorted(state.responses):
        theirs = state.responses[other].decision
        # A coordinator whose view lists another answering coordinator is not followed by that coordinator.
        if set(state.responses) & set(theirs.members) != {other}:
            continue
        if all(_may_merge(state.responses[one].decision, theirs) for one in chosen):
            chosen.append(other)
    return frozenset(chosen)


def _merged_view(state: State, chosen: frozenset[Address]) -> Merged:
    """One view of theirs, and one digest (MRG-18 to MRG-21). `Merge!MergedView`.

    Its identifier names its creator, not its first member, which knows nothing yet (FLAW-103).
    """
    decisions = [state.responses[member].decision for member in chosen]
    members = tuple(sorted({member for decision in decisions for member in decision.members}))
    return Merged(
        id=ViewId(max(decision.id.counter for decision in decisions) + 1, state.member),
        members=members,
        follows=frozenset(decision.id for decision in decisions),
        lives=Lives(_greatest_of(decision.lives for decision in decisions)).latest(members),
        digest=Vector(_greatest_of(state.responses[member].digest for member in chosen)),
    )


def _greatest_of(vectors: Iterable[PerMember[int]]) -> tuple[tuple[Address, int], ...]:
    """The greatest entry of each member. `Merge!GreatestOf` (MRG-18)."""
    found: dict[Address, int] = {}
    for vector in vectors:
        for member, number in vector.items():
            found[member] = max(number, found.get(member, number))
    return tuple(found.items())


def _enter(state: State, merged: Merged, sent: Effects = (), withdrawn: frozenset[Address] = frozenset()) -> Transition:
    """Install a merged view. `Merge!Enter`.

    Windows are added for the members that are new; a window in use is never moved (AMB-44, FLAW-47).
    """
    decision = merged.after_own(state.decision)
    old = frozenset(state.decision.members)
    windows = Vector(tuple((m, seqno) for m, seqno in merged.digest.items() if m not in old))
    announced = MergeViewInstalled(decision.view, merged.follows)
    entered = _moved(_idle(state), decision)
    return entered, (
        PassDown(WindowsAdded(windows)),
        PassDown(MergeDecided(decision)),
        *sent,
        PassUp(announced),
        *(_leave(state, withdrawn) if state.merging else ()),
        *_follow_early(entered),
    )


def _give_up(state: State) -> Transition:
    """Be in no merge any more; a leader notifies the others. `Merge!GiveUp`."""
    if not state.merging:
        return state, ()
    told = _send_each(state.asked, CancelMerge(state.merge))
    return _idle(state), (*_leave(state, state.promised_to), *told)


def _idle(state: State) -> State:
    """`Merge!Idle`."""
    return evolve(state, merge=NO_MERGE, awaiting=frozenset(), responses=NO_RESPONSES)


def _moved(state: State, decision: Decision) -> State:
    """Be in a view; what came early and is not later than that is out of date. `Merge!Moved`."""
    early = tuple(merged for merged in state.early if merged.id.counter > decision.id.counter)
    return evolve(state, decision=decision, early=early)


def _leave(state: State, withdrawn: frozenset[Address]) -> Effects:
    """Stop the timer, take promises back, let the view change. `Merge!Leave`."""
    return CancelTimer(_timer_of(state)), *_withdrawals(withdrawn), PassDown(ResumeViews())


def _next_early(state: State) -> Merged | None:
    """The merged view, if any is there, that follows its own. `Merge!NextEarly`, `Merge!Waits`."""
    if state.merging:
        return None
    return next((merged for merged in state.early if _follows_own(state, merged)), None)


def _follow_early(state: State) -> Effects:
    """`Merge!FollowEarly`."""
    return () if _next_early(state) is None else (SetTimer("early", 0, 0),)


def _follows_own(state: State, merged: Merged) -> bool:
    """`Merge!FollowsOwn`."""
    return state.decision.id in merged.follows


def _common(decision: Decision, other: Decision) -> frozenset[Address]:
    """A member that is in both. `Merge!Common`."""
    return frozenset(decision.members) & frozenset(other.members)


def _former(decision: Decision, other: Decision) -> frozenset[Address]:
    """Members whose incarnation is over: the other line has seen a later one. `Merge!Former`."""
    return frozenset(m for m in decision.members if decision.lives.get(m, 0) < other.lives.get(m, 0))


def _may_merge(decision: Decision, other: Decision) -> bool:
    """Whether they can be merged. `Merge!MayMerge`."""
    return not (_common(decision, other) or _former(decision, other) or _former(other, decision))


def _left_us(state: State, coordinator: Address, theirs: Decision) -> frozenset[Address]:
    """The members that follow a coordinator of our view with another view, or are over. `Merge!LeftUs`."""
    common = _common(state.decision, theirs) if coordinator in state.decision.members else frozenset()
    return common | _former(state.decision, theirs)


def _subgroup(state: State) -> frozenset[Address]:
    """The others of its view. `Merge!Subgroup`."""
    return frozenset(state.decision.members) - {state.member}


def _timer_of(state: State) -> str:
    """The name of a timer says in which of the member's merges it was set (AMB-45). `Merge!TimerOf`."""
    return f"merge/{state.begun}"


def _discover_again(config: Config) -> SetTimer:
    return SetTimer("discover", config.min_interval, config.max_interval)


def _disowned(member: Address) -> PassDown[Suspected]:
    return PassDown(Suspected(member))


def _promises(state: State) -> Effects:
    return _for_each(state.promised_to, lambda member: PassDown(DigestPromised(member)))


def _withdrawals(members: frozenset[Address]) -> Effects:
    return _for_each(members, lambda member: PassDown(PromiseWithdrawn(member)))


def _send_each(members: frozenset[Address], message: Message) -> Effects:
    """Send the same to each, in the order of addresses. `Merge!SendEach`."""
    return _for_each(members, lambda member: Send(member, message))


def _for_each(members: frozenset[Address], effect: Callable[[Address], Effect]) -> Effects:
    """The same effect for each member, in the order of addresses. `Merge!ForEach`."""
    return tuple(effect(member) for member in sorted(members))


def _require_fits(state: State, event: DiscoverTimeout | MergeReqReceived) -> None:
    """`Merge!Fits`."""
    if event.digest.keys() != set(state.decision.members):
        raise LocalProtocolError(state, event, "the digest's members are not the view's")
