"""Two-phase commit: a coordinator asks the participants of a transaction, and commits if all of them can."""

from typing import Literal, TypeAlias, assert_never

from attrs import evolve, frozen

from groupcomm.effects import CancelTimer, Multicast, Send, SetTimer
from groupcomm.errors import LocalProtocolError, RemoteProtocolError


@frozen
class Config:
    """`vote_delay`: how long the coordinator waits for votes, in milliseconds."""

    coordinator: str
    participants: frozenset[str]
    vote_delay: int


@frozen
class Prepare:
    """The coordinator asks whether a participant can commit."""


@frozen
class Vote:
    """A participant can commit, and promises not to abort, or it has aborted."""

    yes: bool


@frozen
class Decision:
    """The transaction is over."""

    commit: bool


Message: TypeAlias = Prepare | Vote | Decision


@frozen
class CommitRequested:
    """The user of the coordinator ends the transaction."""


@frozen
class AbortRequested:
    """The user of a participant gives the transaction up."""


@frozen
class VoteTimeout:
    """Votes are missing."""


@frozen
class PrepareReceived:
    """A message arrived."""

    sender: str
    message: Prepare


@frozen
class VoteReceived:
    """A message arrived."""

    sender: str
    message: Vote


@frozen
class DecisionReceived:
    """A message arrived."""

    sender: str
    message: Decision


Event: TypeAlias = CommitRequested | AbortRequested | VoteTimeout | PrepareReceived | VoteReceived | DecisionReceived
Effect: TypeAlias = Multicast[Message] | Send[Vote] | SetTimer | CancelTimer


@frozen
class State:
    """The local state of the specification."""

    member: str
    phase: Literal["working", "preparing", "prepared", "committed", "aborted"]
    votes: frozenset[str]


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]


def start(member: str) -> State:
    """Give the state of a member before the transaction ends. `TwoPhase!Start`."""
    return State(member, "working", frozenset())


def step(config: Config, state: State, event: Event) -> Transition:
    """Give the next state and what is to be done. `TwoPhase!Step`."""
    match event:
        case CommitRequested():
            return _commit(config, state, event)
        case AbortRequested():
            return _abort(config, state, event)
        case VoteTimeout():
            return _decide(state, commit=False) if state.phase == "preparing" else (state, ())
        case VoteReceived(sender, Vote(yes)):
            return _vote(config, state, event, sender, yes=yes)
        case PrepareReceived() | DecisionReceived():
            if state.member == config.coordinator or event.sender != config.coordinator:
                raise RemoteProtocolError(state, event, "only the coordinator sends this, to participants")
            return _prepare(config, state) if isinstance(event, PrepareReceived) else _end(state, event)
        case _:
            assert_never(event)


def _decide(state: State, *, commit: bool) -> Transition:
    after = evolve(state, phase="committed" if commit else "aborted", votes=frozenset())
    return after, (CancelTimer("vote"), Multicast(Decision(commit)))


def _commit(config: Config, state: State, event: Event) -> Transition:
    if state.member != config.coordinator or state.phase != "working":
        raise LocalProtocolError(state, event, "the coordinator alone ends a transaction, once")
    timer = SetTimer("vote", config.vote_delay, config.vote_delay)
    return evolve(state, phase="preparing"), (Multicast(Prepare()), timer)


def _vote(config: Config, state: State, event: Event, sender: str, *, yes: bool) -> Transition:
    if state.member != config.coordinator or sender not in config.participants:
        raise RemoteProtocolError(state, event, "a participant votes, and the coordinator counts")
    if state.phase != "preparing" or sender in state.votes:
        return state, ()
    votes = state.votes | {sender}
    if not yes or votes == config.participants:
        return _decide(state, commit=yes)
    return evolve(state, votes=votes), ()


def _abort(config: Config, state: State, event: Event) -> Transition:
    if state.member == config.coordinator or state.phase in {"prepared", "committed"}:
        raise LocalProtocolError(state, event, "a participant does not abort what it has voted for")
    return (state, ()) if state.phase == "aborted" else (evolve(state, phase="aborted"), ())


def _prepare(config: Config, state: State) -> Transition:
    match state.phase:
        case "working":
            return evolve(state, phase="prepared"), (Send(config.coordinator, Vote(yes=True)),)
        case "aborted":
            return state, (Send(config.coordinator, Vote(yes=False)),)
        case _:
            return state, ()


def _end(state: State, event: DecisionReceived) -> Transition:
    commit = event.message.commit
    if commit and state.phase in {"working", "aborted"}:
        raise RemoteProtocolError(state, event, "a commit without the vote of this participant")
    if state.phase in {"committed", "aborted"}:
        return state, ()
    return evolve(state, phase="committed" if commit else "aborted"), ()
