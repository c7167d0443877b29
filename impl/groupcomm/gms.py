"""GMS: the members of the group. Joins, leaves and crashes become views. `Gms`.

The coordinator decides the views, one after another. Each grants requests to join and to leave, and leaves out the
members that are suspected. What a member does at a time is its phase (`State.phase`): a step does what its event says,
and then all that follows where a phase ends (`proceed`). The head of `spec/gms/Gms.tla` says why the views are in one
branch, what a decision holds, and which incarnations are admitted; there is the table of the phases, too.
"""

from typing import Final, Literal, TypeAlias, assert_never, get_args

from attrs import field, frozen, validators

from .digest import EMPTY_VECTOR, Vector
from .effects import PassDown, PassUp, Send
from .errors import LocalProtocolError, RemoteProtocolError
from .events import (
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
from .per_member import PerMember
from .records import evolve
from .view import NO_VIEW, Address, View, ViewId, is_former

ASSUMES: Final = ("ReliableUnicast", "FailureDetector", "Incarnations")
"""The modules of `spec/common` that say what the layers below must give."""

GIVES: Final = ("Membership", "Departures", "JoinDigest", "StopRequests")
"""The modules that say what this layer gives to the others."""

GIVES_BELOW: Final = ("Membership", "JoinDigest")
"""Those of them that it gives to the layers beneath too, by what it passes down."""

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config:
    """How many requests to join or leave one view grants at most, from 1.

    A failure detector, discovery, and what stops the group are outside.
    """

    max_bundle: int = field(validator=validators.ge(1))


# Decisions ----------------------------------------------------------------------------------------


@frozen
class Lives(PerMember[int]):
    """Of each address: how often it was in use before the incarnation that is meant."""


@frozen
class Decision:
    """A view as GMS knows it, with all that another coordinator needs to take over. `Gms!Decision`.

    `follows`: the identifier of the predecessor. `lives`: the newest incarnation of each address that was in
    a view of this branch. `joiners`: the members that begin with this view. `digest`: the joiners' start
    digest, one seqno for each old member.
    """

    id: ViewId
    members: tuple[Address, ...]
    follows: ViewId
    lives: Lives
    joiners: frozenset[Address]
    digest: Vector

    @property
    def view(self) -> View:
        """Return the view as other protocols see it. `Gms!ViewIn`."""
        return View(self.id, self.members)

    @property
    def sound(self) -> bool:
        """True if it is as every decision is, by any creator; `NO_DECISION` is not. `Views!IsSound`."""
        members = set(self.members)
        return (
            0 < len(members) == len(self.members)
            and self.id.counter > self.follows.counter
            and self.joiners <= members <= self.lives.keys()
            and all(life >= 0 for life in self.lives.values())
        )

    def before(self, member: Address) -> frozenset[Address]:
        """The members that are senior to one. `Gms!Before`."""
        return frozenset(self.members[: self.members.index(member)])


NO_DECISION = Decision(NO_VIEW.id, (), NO_VIEW.id, Lives(()), frozenset(), EMPTY_VECTOR)
"""The decision of a member before its first view. `Gms!NoDecision`."""

# Messages -----------------------------------------------------------------------------------------


@frozen
class JoinReq:
    """The sender, in its incarnation `life`, wants to join. JOIN_REQ in the notes."""

    life: int


@frozen
class JoinRsp:
    """To a joiner: its first view, and where it starts (AMB-08). JOIN_RSP in the notes."""

    decision: Decision


@frozen
class JoinRefused:
    """To a joiner: its incarnation `life` was in a view and is excluded, or a later one of its name was in a view.

    It may ask as the next one.
    """

    life: int


@frozen
class LeaveReq:
    """The sender, in its incarnation `life`, wants to leave. LEAVE_REQ in the notes."""

    life: int


@frozen
class LeaveRsp:
    """To a leaver: its leave, in incarnation `life`, is granted. LEAVE_RSP in the notes."""

    life: int


@frozen
class NewView:
    """To an old member: the next view, or its present one again."""

    decision: Decision


@frozen
class ViewAck:
    """The sender has installed the view."""

    view_id: ViewId


@frozen
class Query:
    """The sender takes over in view `view_id` and asks for a newer one; refuse its `seniors` from now on."""

    view_id: ViewId
    seniors: frozenset[Address]


@frozen
class Answer:
    """To the QUERY of view `view_id`: the decision that the sender has."""

    view_id: ViewId
    decision: Decision


Message: TypeAlias = JoinReq | JoinRsp | JoinRefused | LeaveReq | LeaveRsp | NewView | ViewAck | Query | Answer

# Events -------------------------------------------------------------------------------------------


@frozen
class JoinRequested:
    """The application wants to join, as incarnation `life`, and discovery found `coordinator`.

    Again at each retry (AMB-29). A member that finds itself founds a group.
    """

    coordinator: Address
    life: int


@frozen
class LeaveRequested:
    """The application wants to leave."""


@frozen
class JoinReqReceived:
    """A JOIN_REQ arrived from `sender`."""

    sender: Address
    message: JoinReq


@frozen
class JoinRefusedReceived:
    """A JOIN_REFUSED arrived from `sender`."""

    sender: Address
    message: JoinRefused


@frozen
class LeaveReqReceived:
    """A LEAVE_REQ arrived from `sender`."""

    sender: Address
    message: LeaveReq


@frozen
class LeaveRspReceived:
    """A LEAVE_RSP arrived from `sender`."""

    sender: Address
    message: LeaveRsp


@frozen
class QueryReceived:
    """A QUERY arrived from `sender`, which takes over."""

    sender: Address
    message: Query


@frozen
class AnswerReceived:
    """An ANSWER arrived from `sender`."""

    sender: Address
    message: Answer


@frozen
class NewViewReceived:
    """A NEW_VIEW arrived from `sender`."""

    sender: Address
    message: NewView


@frozen
class JoinRspReceived:
    """A JOIN_RSP arrived from `sender`, the coordinator or its successor."""

    sender: Address
    message: JoinRsp


@frozen
class ViewAckReceived:
    """A VIEW_ACK arrived from `sender`."""

    sender: Address
    message: ViewAck


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
)

# Effects ------------------------------------------------------------------------------------------


Effect: TypeAlias = (
    Send[Message]
    | PassUp[ViewInstalled | Suspected | Suspend | Resume | Left | DigestGiven]
    | PassDown[ViewInstalled | DigestPromised | GetDigest | PromiseWithdrawn | DigestSet | GroupStopped]
)
Effects: TypeAlias = tuple[Effect, ...]

# State --------------------------------------------------------------------------------------------


@frozen
class Request:
    """A request that waits for its view, of `member` in its incarnation `life`. `Gms!Request`."""

    kind: Literal["join", "leave"]
    member: Address
    life: int


Phase: TypeAlias = Literal["following", "asking", "announcing", "answering", "at rest", "stopping", "admitting"]
"""What a member does now. `Gms!Phases` says what each waits for, and what comes then."""

_PHASES: Final[tuple[Phase, ...]] = get_args(Phase)


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `Gms!Start` says what each field is."""

    member: Address
    life: int
    joining: bool
    decision: Decision
    suspected: frozenset[Address]
    phase: Phase
    awaits: frozenset[Address]
    newest: Decision
    took_over: bool
    owed: frozenset[Address]
    admitting: int
    queue: tuple[Request, ...]
    asked: int
    leaving: bool
    leave_asked: Address
    gone: bool

    @property
    def in_view(self) -> bool:
        """True if this member has installed a view. `Gms!InView`."""
        return self.decision != NO_DECISION

    @property
    def unsuspected(self) -> tuple[Address, ...]:
        """The members of the view that it does not suspect, the most senior first. `Gms!Unsuspected`."""
        return tuple(member for member in self.decision.members if member not in self.suspected)

    @property
    def others(self) -> frozenset[Address]:
        """Those without itself. `Gms!Others`."""
        return frozenset(self.unsuspected) - {self.member}

    @property
    def watched(self) -> frozenset[Address]:
        """The members that a failure detector must watch: the others, and joiners. `GmsGroup!Watched`."""
        return self.others | {each.member for each in self.queue if each.kind == "join"} - {self.member}

    @property
    def acting(self) -> bool:
        """True if no senior is unsuspected: discovery names it, and it takes over. `Gms!IsActing`."""
        return not self.gone and self.unsuspected[:1] == (self.member,)

    @property
    def leads(self) -> bool:
        """True if it decides the views. `Gms!Leads`."""
        return self.phase not in {"following", "asking"}

    @property
    def spreads(self) -> bool:
        """True if VIEW_ACKs are awaited. `Gms!Spreads`."""
        return self.phase in {"announcing", "answering"}

    @property
    def has_to_decide(self) -> bool:
        """Whether there is something for a next view. `Gms!HasToDecide`."""
        return bool(self.queue or self.suspected)

    @property
    def granting(self) -> tuple[Request, ...]:
        """The requests that the next view grants. `Gms!Granting`."""
        return self.queue[: self.admitting]

    @property
    def promisees(self) -> dict[Address, int]:
        """Who is promised a digest, in order, each with its incarnation. `Gms!Promisees`, `!PromisedLife`."""
        return {each.member: each.life for each in self.granting if each.kind == "join"}


_SELF: Final = "GMS"
"""The callers of `GetDigest` and `Suspend`."""

Transition: TypeAlias = tuple[State, Effects]


def start(member: Address) -> State:
    """A member before its first view. `Gms!Start`."""
    return State(
        member=member,
        life=0,
        joining=False,
        decision=NO_DECISION,
        suspected=frozenset(),
        phase="following",
        awaits=frozenset(),
        newest=NO_DECISION,
        took_over=False,
        owed=frozenset(),
        admitting=0,
        queue=(),
        asked=0,
        leaving=False,
        leave_asked="",
        gone=False,
    )


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:
    """The next state, and what is to be done, in order. `Gms!Step`.

    An ignored event returns the same state and no effects; messages may come late, from a former incarnation
    or another branch of views. A refused one raises and changes nothing: `LocalProtocolError` where the
    caller erred, `RemoteProtocolError` where a peer did.
    """
    if flaw := malformed(state.member, getattr(event, "sender", ""), getattr(event, "message", None)):
        raise RemoteProtocolError(state, event, flaw)
    match event:
        case JoinRequested():
            return _join_requested(state, event)
        case LeaveRequested():
            return _leave_requested(state, event)
        case JoinReqReceived():
            return _join_req_received(state, event)
        case JoinRefusedReceived():
            return _join_refused_received(state, event)
        case LeaveReqReceived():
            return _leave_req_received(state, event)
        case LeaveRspReceived():
            return _leave_rsp_received(state, event)
        case Suspected():
            return _suspected(state, event)
        case QueryReceived():
            return _query_received(state, event)
        case AnswerReceived():
            return _answer_received(state, event)
        case NewViewReceived():
            return _new_view_received(state, event)
        case JoinRspReceived():
            return _join_rsp_received(state, event)
        case ViewAckReceived():
            return _view_ack_received(state, event)
        case GroupStopped():
            return _group_stopped(config, state, event)
        case DigestGiven():
            return _digest_given(state, event)
        case _:
            assert_never(event)


def malformed(member: Address, sender: Address, message: object) -> str:
    """Say why no correct peer sends this to a member in any state; "" if one may. `Gms!IsMalformed`."""
    match message:
        case NewView(decision):
            if not decision.sound or member not in decision.members:
                return "NEW_VIEW: the receiver must be a member, each member listed once, with an incarnation"
        case JoinRsp(decision):
            members = set(decision.members)
            if not decision.sound or member not in decision.joiners or sender not in members:
                return "JOIN_RSP: the receiver must be a joiner of the view, and the sender a member"
            if member in decision.before(sender) and sender not in decision.joiners:
                return "JOIN_RSP: the sender must be senior, or a joiner too"
            if not members - decision.joiners <= decision.digest.keys():
                return "JOIN_RSP: the digest must have each old member"
        case Answer(_, decision):
            if not decision.sound and decision != NO_DECISION:
                return "ANSWER: each member must be listed once, with an incarnation"
        case Query(_, seniors):
            if seniors & {sender, member}:
                return "QUERY: the receiver and the sender must not be among the suspected seniors"
        case JoinReq(life) | JoinRefused(life) | LeaveReq(life) | LeaveRsp(life):
            if life < 0:
                return "the request's incarnation must be 0 or higher"
        case _:
            pass
    return ""


def _join_requested(state: State, event: JoinRequested) -> Transition:
    """Ask the coordinator; a member that finds itself founds a group. `Gms!JoinRequested`."""
    if state.in_view or state.gone:
        raise LocalProtocolError(state, event, "a member that is or was in a view, or was refused, does not join")
    if event.coordinator != state.member:
        trusted = state.suspected - {event.coordinator}
        asked = evolve(state, life=event.life, joining=True, suspected=trusted)
        return asked, (Send(event.coordinator, JoinReq(event.life)),)
    if event.life > 0:
        raise LocalProtocolError(state, event, "an address that was in use before founds no group")
    decision = Decision(
        id=ViewId(1, state.member),
        members=(state.member,),
        follows=NO_VIEW.id,
        lives=Lives(((state.member, 0),)),
        joiners=frozenset({state.member}),
        digest=EMPTY_VECTOR,
    )
    return _into(enter(state, decision), "at rest"), _installed(decision)


def _leave_requested(state: State, event: LeaveRequested) -> Transition:
    """Queue the own leave, or ask the acting coordinator. `Gms!LeaveRequested`."""
    if not state.in_view or state.gone:
        raise LocalProtocolError(state, event, "a member that is in no view does not leave")
    if state.leaving:
        return state, ()
    asked = evolve(state, leaving=True)
    if state.leads:
        asked = evolve(asked, queue=(*state.queue, _own_leave(state)))
    return proceed(asked)


def _join_req_received(state: State, event: JoinReqReceived) -> Transition:
    """Queue a join; the former incarnation in the view goes first (MBR-12). `Gms!JoinReqReceived`."""
    member, life = event.sender, event.message.life
    waiting = (r.life for r in state.queue if r.kind == "join" and r.member == member)
    if not state.acting or member == state.member or any(known >= life for known in waiting):
        return state, ()
    known = state.decision.lives.get(member, -1)
    if _is_over(state.decision, member, life):
        if state.phase == "answering" and member in state.awaits and life == known:
            return state, (Send(member, JoinRsp(state.decision)),)
        excluded = life == known and member not in state.decision.members
        refused = excluded or _has_later_incarnation(state.decision, member)
        return state, (Send(member, JoinRefused(life)),) if refused else ()
    cleaned, withdrawn = _without_join(state, member)
    later = (*cleaned.queue[cleaned.admitting :], Request("join", member, life))
    if member in state.decision.members and not any(r.kind == "leave" and r.member == member for r in state.queue):
        cleaned, later = _struck(cleaned, member), (Request("leave", member, known), *later)
    return proceed(evolve(cleaned, queue=(*cleaned.granting, *later)), withdrawn)


def _join_refused_received(state: State, event: JoinRefusedReceived) -> Transition:
    """Depart: this incarnation is excluded, or a later one was admitted. `Gms!JoinRefusedReceived`."""
    if state.gone or state.in_view or not state.joining or event.message.life != state.life:
        return state, ()
    return evolve(state, gone=True), (PassUp(Left()),)


def _leave_req_received(state: State, event: LeaveReqReceived) -> Transition:
    """Queue a leave, also before this member acts: the leaver may know sooner. `Gms!LeaveReqReceived`."""
    member, life = event.sender, event.message.life
    if state.gone or member not in state.decision.members:
        return state, ()
    # (A request to join may be there, too, that another's view has granted, or a merge: FLAW-217.)
    if life != state.decision.lives[member] or any(r.kind == "leave" and r.member == member for r in state.queue):
        return state, ()
    return proceed(evolve(state, queue=(*state.queue, Request("leave", member, life))))


def _leave_rsp_received(state: State, event: LeaveRspReceived) -> Transition:
    """Depart; a leave of another incarnation is ignored. `Gms!LeaveRspReceived`."""
    if state.gone or not state.in_view or event.message.life != state.life:
        return state, ()
    return evolve(state, gone=True), (PassUp(Left()),)


def _suspected(state: State, event: Suspected) -> Transition:
    """Wait for it no longer, and let no request of it wait. `Gms!Suspected`."""
    suspect = event.suspect
    if suspect == state.member:
        raise LocalProtocolError(state, event, "a member does not suspect itself")
    struck, withdrawn = _without_join(_struck(state, suspect), suspect)
    struck = evolve(struck, suspected=state.suspected | ({suspect} & set(state.decision.members)))
    if state.gone or struck == state:
        return state, ()
    return proceed(struck, (*_say_suspected(state, struck.suspected), *withdrawn, *_handed(state, struck)))


def _handed(state: State, struck: State) -> Effects:
    """Send its view to a joiner on which this member relies from now on. `Gms!Handed`."""
    if not state.in_view:
        return ()
    following = struck.unsuspected[0]
    if following == state.unsuspected[0] or following not in state.decision.joiners - {state.member}:
        return ()
    return (Send(following, JoinRsp(state.decision)),)


def _query_received(state: State, event: QueryReceived) -> Transition:
    """Tell the own view, and refuse the asker's seniors from now on. `Gms!QueryReceived`."""
    sender, query = event.sender, event.message
    if state.gone:
        return state, ()
    answer: Effect = Send(sender, Answer(query.view_id, state.decision))
    if not state.in_view:
        return evolve(state, suspected=state.suspected | query.seniors), (answer,)
    if sender not in state.unsuspected or state.member in query.seniors:
        return state, ()
    if _is_late(state, query.view_id):
        return state, (answer,)
    refused = query.seniors & state.decision.before(sender)
    refusing = evolve(_into(state, "following"), suspected=state.suspected | refused)
    withdrawn = _withdrawal(state, frozenset(state.promisees))
    return proceed(refusing, (*withdrawn, *_say_suspected(state, refusing.suspected), answer))


def _is_late(state: State, view_id: ViewId) -> bool:
    """Return True if a query is a former incarnation's, about a view of no present member. `Gms!IsLate`."""
    own = state.decision
    return view_id.counter <= own.id.counter and view_id not in {own.id, own.follows}


def _answer_received(state: State, event: AnswerReceived) -> Transition:
    """Learn of a newer view; a member of another branch is no member any more. `Gms!AnswerReceived`."""
    sender, told = event.sender, event.message.decision
    if sender not in state.awaits or event.message.view_id != state.decision.id:
        return state, ()
    asking = state.phase == "asking"
    heard = evolve(state, awaits=state.awaits - {sender}) if asking else state
    if told == NO_DECISION or told.id in {state.decision.id, state.decision.follows}:
        return proceed(heard)
    if asking and told.follows == state.decision.id and state.member in told.members:
        return proceed(evolve(heard, newest=told))
    struck = evolve(_struck(state, sender), suspected=state.suspected | {sender})
    return proceed(struck, _say_suspected(state, struck.suspected))


def _new_view_received(state: State, event: NewViewReceived) -> Transition:
    """Install the view that follows the own, and acknowledge it, also again. `Gms!NewViewReceived`."""
    decision = event.message.decision
    if not state.in_view or state.gone or event.sender in state.suspected:
        return state, ()
    if decision.id == state.decision.id:
        return _again(state, event)
    if decision.follows != state.decision.id:
        return _elsewhere(state, event)
    withdrawn = _withdrawal(state, frozenset(state.promisees))
    after, suspicions = _suspected_since(enter(state, decision), event.sender)
    ack: Effect = Send(event.sender, ViewAck(decision.id))
    return proceed(after, (*withdrawn, *_installed(decision), *suspicions, ack))


def _join_rsp_received(state: State, event: JoinRspReceived) -> Transition:
    """Install the first view, and start where its digest says (JOI-01). `Gms!JoinRspReceived`."""
    decision = event.message.decision
    if state.gone or event.sender in state.suspected:
        return state, ()
    if state.in_view:
        return _again(state, event) if decision.id == state.decision.id else _elsewhere(state, event)
    if not state.joining or decision.lives[state.member] != state.life:
        return state, ()
    begun = enter(evolve(state, suspected=frozenset()), decision)
    refused = decision.before(event.sender) & decision.before(state.member)
    suspecting, suspicions = evolve(begun, suspected=refused), _say_suspected(begun, refused)
    started: Effect = PassDown(DigestSet(decision.digest))
    ack: Effect = Send(event.sender, ViewAck(decision.id))
    return proceed(suspecting, (started, *_installed(decision), *suspicions, ack))


def _again(state: State, event: NewViewReceived | JoinRspReceived) -> Transition:
    """Acknowledge the present view again. `Gms!Again`."""
    after, suspicions = _suspected_since(state, event.sender)
    return after, (*suspicions, Send(event.sender, ViewAck(state.decision.id)))


def _suspected_since(state: State, sender: Address) -> Transition:
    """Refuse the seniors of the sender of the present view. `Gms!SuspectedSince`."""
    members = state.decision.members
    if sender not in members:
        return state, ()
    seniors = state.decision.before(sender)
    if state.member in seniors:
        return state, ()
    refusing = evolve(state, suspected=state.suspected | seniors)
    return refusing, _say_suspected(state, refusing.suspected)


def _elsewhere(state: State, event: NewViewReceived | JoinRspReceived) -> Transition:
    """Answer with the own view, or the sender, on another branch, would wait for ever. `Gms!Elsewhere`."""
    return state, (Send(event.sender, Answer(event.message.decision.id, state.decision)),)


def _view_ack_received(state: State, event: ViewAckReceived) -> Transition:
    """Wait for one member less. `Gms!ViewAckReceived`."""
    if not state.spreads or event.sender not in state.awaits or event.message.view_id != state.decision.id:
        return state, ()
    return proceed(evolve(state, awaits=state.awaits - {event.sender}))


def _group_stopped(config: Config, state: State, event: GroupStopped) -> Transition:
    """Grant the next requests; joiners get a digest first (JOI-03). `Gms!GroupStopped`."""
    if event.asker != _SELF:
        return state, (PassDown(event),)
    if state.phase != "stopping":
        return state, ()
    queue = tuple(request for request in state.queue if not _is_granted(state.decision, request))
    bundled = evolve(state, queue=queue, admitting=_bundle(config, state, queue))
    if not bundled.promisees:
        return _decide(bundled, EMPTY_VECTOR)
    promises = tuple(PassDown(DigestPromised(joiner)) for joiner in bundled.promisees)
    asked = evolve(bundled, phase="admitting", asked=state.asked + 1)
    return asked, (*promises, PassDown(GetDigest(_SELF, asked.asked)))


def _is_granted(decision: Decision, request: Request) -> bool:
    """Return True if a view has granted this request already. `Gms!IsGranted`."""
    if request.kind == "join":
        return _is_over(decision, request.member, request.life)
    return request.member not in decision.members or request.life != decision.lives[request.member]


def _bundle(config: Config, state: State, queue: tuple[Request, ...]) -> int:
    """Count the requests that the next view grants, from the head of the queue. `Gms!Bundle`, `!MayBundle`."""
    joins = leaves = False
    for number, request in enumerate(queue[: config.max_bundle]):
        joins = joins or request.kind == "join"
        leaves = leaves or request == _own_leave(state)
        if (joins and leaves) or (request.kind == "join" and request.member in state.decision.members):
            return number
    return min(len(queue), config.max_bundle)


def _digest_given(state: State, event: DigestGiven) -> Transition:
    """Decide the view with the joiners; what others asked for is passed on (EVT-05). `Gms!DigestGiven`."""
    if event.asker != _SELF:
        return state, (PassUp(event),)
    if state.phase != "admitting" or event.request != state.asked:
        return state, ()
    if event.digest.keys() != set(state.decision.members):
        raise LocalProtocolError(state, event, "the digest's members are not the view's")
    return _decide(state, Vector(tuple((m, event.digest[m]) for m in state.unsuspected)))


# A phase ends: a step ends with proceed -----------------------------------------------------------


def proceed(state: State, effects: Effects = ()) -> Transition:
    """Do all that follows, once down the list of phases. `Gms!Proceed`, `!FollowAll`."""
    for phase in _PHASES:
        if state.phase == phase:
            state, more = _follow(state)
            effects += more
    state, more = _ask_to_leave(state)
    return state, effects + more


def _follow(state: State) -> Transition:
    """Do the next thing that follows, if a phase is at its end. `Gms!Follow`."""
    if state.gone:
        return state, ()
    if _must_go(state):
        return evolve(state, gone=True), (PassUp(Left()),)
    if state.phase == "following" and state.acting:
        return _ask(state)
    if state.phase == "asking" and not state.awaits:
        return _send_again(state)
    if state.phase == "announcing" and not state.awaits and state.owed:
        return _answer_joiners(state)
    if _is_done(state) and (state.took_over or state.has_to_decide):
        return _into(state, "stopping"), (PassUp(Suspend(_SELF)),)
    if _is_done(state) and state.phase != "at rest":
        return _into(state, "at rest"), (PassUp(Resume(_SELF)),)
    return state, ()


def _is_done(state: State) -> bool:
    """Return True if its last view is everywhere. `Gms!IsDone`."""
    return (state.spreads or state.phase == "at rest") and not state.awaits


def _must_go(state: State) -> bool:
    """Return True if it asked a senior to leave, and would have to take over: it goes instead. `Gms!MustGo`."""
    return not state.leads and state.acting and state.leaving and state.decision.members[0] != state.member


def _ask(state: State) -> Transition:
    """Take over: ask all that are not suspected which view they have. `Gms!Ask`."""
    query = Query(state.decision.id, state.decision.before(state.member))
    return _into(state, "asking", state.others), _send_all(state.decision, state.others, query)


def _send_again(state: State) -> Transition:
    """All have answered: install the newest view, and send it to the old members. `Gms!SendAgain`."""
    entered = state
    news: Effects = ()
    if state.newest != NO_DECISION:
        entered = evolve(enter(state, state.newest), queue=state.queue)
        news = _installed(state.newest)
    joiners = entered.decision.joiners & entered.others
    olds = entered.others - joiners
    queue = (*entered.queue, _own_leave(state)) if state.leaving else entered.queue
    announcing = evolve(_into(entered, "announcing", olds), took_over=True, owed=joiners, queue=queue)
    return announcing, (*news, *_send_all(entered.decision, olds, NewView(entered.decision)))


def _answer_joiners(state: State) -> Transition:
    """The old members have the view: answer its joiners. `Gms!AnswerJoiners`."""
    answering = evolve(state, phase="answering", awaits=state.owed, owed=frozenset())
    return answering, _send_all(state.decision, state.owed, JoinRsp(state.decision))


def _ask_to_leave(state: State) -> Transition:
    """Ask the acting coordinator, and again when it changes. `Gms!AskToLeave`."""
    if not state.leaving or state.gone or state.acting or state.unsuspected[0] == state.leave_asked:
        return state, ()
    acting = state.unsuspected[0]
    return evolve(state, leave_asked=acting), (Send(acting, LeaveReq(state.life)),)


# Shared by the actions ----------------------------------------------------------------------------


def _decide(state: State, digest: Vector) -> Transition:
    """Decide the next view: grant requests, and leave out all that are suspected (MBR-11). `Gms!Decide`."""
    before = state.decision
    granted = {request.member: request for request in state.granting}
    joiners = tuple(state.promisees)
    staying = tuple(member for member in state.unsuspected if member not in granted)
    done = evolve(_into(state, "announcing"), queue=state.queue[state.admitting :])
    if staying + joiners == before.members:
        return proceed(done)
    decision = Decision(
        id=ViewId(before.id.counter + 1, state.member),
        members=staying + joiners,
        follows=before.id,
        lives=Lives((*before.lives.items(), *state.promisees.items())).latest(staying + joiners),
        joiners=frozenset(joiners),
        digest=digest if joiners else EMPTY_VECTOR,
    )
    olds = frozenset(staying) - {state.member}
    views = _send_all(decision, olds, NewView(decision))
    leaves = (r for r in state.granting if r.kind == "leave" and r.member != state.member)
    released = tuple(Send(leave.member, LeaveRsp(leave.life)) for leave in leaves)
    if state.member not in staying:
        return evolve(done, gone=True, queue=()), (*views, *released, PassUp(Left()))
    entered = enter(state, decision)
    announcing = evolve(entered, phase="announcing", queue=done.queue, awaits=olds, owed=decision.joiners)
    return proceed(announcing, (*_installed(decision), *views, *released))


def enter(state: State, decision: Decision) -> State:
    """Install a view; what was under way in the old one is over. `Gms!Enter`, `!Kept`."""
    others = set(decision.members) - {state.member}
    kept = tuple(r for r in state.queue if r.kind == "leave" and r.member in others)
    suspected = state.suspected & set(decision.members)
    entered = evolve(_into(state, "following"), decision=decision, suspected=suspected)
    return evolve(entered, joining=False, queue=kept, leave_asked="")


def _into(state: State, phase: Phase, awaits: frozenset[Address] = frozenset()) -> State:
    """Return the state in another phase, with these awaited: nothing is left of the phase before. `Gms!Into`."""
    nothing: frozenset[Address] = frozenset()
    return evolve(state, phase=phase, awaits=awaits, newest=NO_DECISION, took_over=False, owed=nothing, admitting=0)


def _struck(state: State, member: Address) -> State:
    """Wait for a member no longer. `Gms!Struck`."""
    return evolve(state, awaits=state.awaits - {member}, owed=state.owed - {member})


def _without_join(state: State, member: Address) -> Transition:
    """No join of a member waits; what it was promised is taken back. `Gms!WithoutJoin`, `!Withdrawal`."""
    granting, queue = (
        tuple(r for r in requests if not (r.kind == "join" and r.member == member))
        for requests in (state.granting, state.queue)
    )
    phase: Phase = "announcing" if state.phase == "admitting" and not granting else state.phase
    without = evolve(state, phase=phase, queue=queue, admitting=len(granting))
    return without, _withdrawal(state, frozenset({member}))


def _withdrawal(state: State, members: frozenset[Address]) -> Effects:
    """Return the effects below when joins are dropped whose digest is awaited. `Gms!Withdrawal`."""
    return tuple(PassDown(PromiseWithdrawn(joiner)) for joiner in state.promisees if joiner in members)


def _say_suspected(state: State, suspected: frozenset[Address]) -> Effects:
    """Pass up the new suspicions: FLUSH refuses the members that GMS refuses. `Gms!SaySuspected`."""
    new = suspected - state.suspected
    return tuple(PassUp(Suspected(member)) for member in state.decision.members if member in new)


def _is_over(decision: Decision, member: Address, life: int) -> bool:
    """Return True if this incarnation or a later one was in a view of this branch. `Gms!IsOver`."""
    return life <= decision.lives.get(member, life - 1) or _has_later_incarnation(decision, member)


def _has_later_incarnation(decision: Decision, member: Address) -> bool:
    """Return True if a later incarnation of its name was in a view of this branch. `Gms!HasLaterIncarnation`."""
    return any(is_former(member, other) for other in decision.lives)


def _own_leave(state: State) -> Request:
    return Request("leave", state.member, state.life)


def _installed(decision: Decision) -> Effects:
    """Announce a view to the layers below, then to those above (LAY-06). `Gms!Installed`."""
    return PassDown(ViewInstalled(decision.view)), PassUp(ViewInstalled(decision.view))


def _send_all(decision: Decision, receivers: frozenset[Address], message: Message) -> Effects:
    """Send the same to some members of a view, in their order. `Gms!SendAll`."""
    return tuple(Send(member, message) for member in decision.members if member in receivers)
