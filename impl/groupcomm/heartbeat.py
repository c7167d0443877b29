"""HEARTBEAT: failure detection. A member suspects members that are silent or leave it behind. `Heartbeat`.

A member sends a heartbeat to every member that it can reach, again and again, with its view and what it thinks of the
receiver. The head of `spec/heartbeat/Heartbeat.tla` says which of these words count, how long the patience is, and why
a member's own heartbeats are its clock.

Duties of the runtime. It fires the timer `beat` once at the start; from then on the core sets it. With each
it says what is around: whom GMS watches and suspects, whom UNICAST seeks outside the view, and who can be
reached (`Around`). The reports go to GMS as `Suspected`, and to UNICAST as `SilenceReported`.

The limit. A member that is slow for longer than the patience is suspected, though it is up. No detector over
datagrams can distinguish it from a crashed member.
"""

from collections.abc import Iterable
from typing import Annotated, Final, TypeAlias, assert_never, final

from attrs import frozen

from .effects import Datagram, PassUp, SetTimer
from .errors import LocalProtocolError, RemoteProtocolError
from .events import Below, SilenceReported, Suspected, ViewInstalled
from .per_member import PerMember
from .records import evolve
from .view import NO_VIEW, Address, ViewId

ASSUMES: Final = ("Network",)
"""The module of `spec/common` that says what the layer below must give."""

GIVES: Final = ("FailureDetector", "SilenceDetector")
"""The modules that say what this layer gives to those above."""

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config:
    """The constants of a member, each 1 or more.

    `patience` and `longest`: the number of own heartbeats after which a member takes another for silent, at
    least and at most. `beat_interval`: ms between two heartbeats.
    """

    patience: int
    longest: int
    beat_interval: int


# Messages -----------------------------------------------------------------------------------------


@frozen
class Heartbeat:
    """How a member is, for one receiver: the `number`-th heartbeat of its sender, from 1.

    `view`: the identifier of the sender's view. `counts`: the receiver is a member of that view. `suspects`:
    the sender suspects the receiver.
    """

    number: int
    view: ViewId
    counts: bool
    suspects: bool


Message: TypeAlias = Heartbeat

# Events -------------------------------------------------------------------------------------------


@frozen
class Around:
    """Knowledge of the layers above, and the members that can be reached.

    GMS watches and suspects members. UNICAST seeks processes outside the view, for which it keeps messages.
    """

    watched: frozenset[Address]
    suspected: frozenset[Address]
    sought: frozenset[Address]
    reachable: frozenset[Address]


@frozen
class BeatTimeout:
    """It is time for a heartbeat."""

    around: Annotated[Around, Below]


@frozen
class HeartbeatReceived:
    """A HEARTBEAT arrived from `sender`."""

    sender: Address
    message: Heartbeat


Event: TypeAlias = BeatTimeout | HeartbeatReceived | ViewInstalled

# Effects ------------------------------------------------------------------------------------------


Effect: TypeAlias = Datagram[Message] | PassUp[Suspected | SilenceReported] | SetTimer

# State --------------------------------------------------------------------------------------------


@frozen(slots=False)
class Heard:
    """The last heartbeat of a member, with the number of own heartbeats since, and the longest recent gap.

    `number` is 0 where no heartbeat came yet.
    """

    number: int
    view: ViewId
    counts: bool
    suspects: bool
    missed: int
    gap: int


@final
@frozen
class HeardOf(PerMember[Heard]):
    """The last heartbeat of each member that is watched or can be reached."""


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `Heartbeat!Start` says what each field is."""

    member: Address
    view: ViewId
    members: frozenset[Address]
    beats: int
    since: int
    heard: HeardOf


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]

_NOTHING: Final = Heard(number=0, view=NO_VIEW.id, counts=False, suspects=False, missed=0, gap=0)


def start(member: Address) -> State:
    """A member before its first heartbeat. `Heartbeat!Start`."""
    return State(member=member, view=NO_VIEW.id, members=frozenset(), beats=0, since=0, heard=HeardOf(()))


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:
    """The next state, and what is to be done, in order. `Heartbeat!Step`.

    An ignored event returns the same state and no effects. A refused one raises and changes nothing:
    `LocalProtocolError` where the caller erred, `RemoteProtocolError` where a peer did.
    """
    match event:
        case BeatTimeout():
            return _beat_timeout(config, state, event)
        case HeartbeatReceived():
            return _heartbeat_received(state, event)
        case ViewInstalled():
            return _view_installed(state, event)
        case _:
            assert_never(event)


def _beat_timeout(config: Config, state: State, event: BeatTimeout) -> Transition:
    """Send heartbeats, count the heartbeats missed, and report whom to suspect. `Heartbeat!BeatTimeout`."""
    around, me = event.around, state.member
    watched, sought = around.watched - {me}, around.sought - {me}
    peers = (watched | sought | around.reachable) - {me}
    heard = {peer: _missed(config, each) for peer, each in state.heard.entries if peer in peers}
    heard |= dict.fromkeys((watched | sought) - heard.keys(), _NOTHING)
    after = evolve(state, beats=state.beats + 1, heard=HeardOf(heard.items()))
    return after, (
        *[
            Datagram(peer, Heartbeat(after.beats, state.view, peer in state.members, peer in around.suspected))
            for peer in sorted(peers)
        ],
        SetTimer("beat", config.beat_interval, config.beat_interval),
        *(PassUp(Suspected(peer)) for peer in sorted(watched) if _reason(config, after, heard[peer])),
        *(PassUp(SilenceReported(peer)) for peer in sorted(sought) if _is_silent(config, heard[peer])),
    )


def _heartbeat_received(state: State, event: HeartbeatReceived) -> Transition:
    """Note a heartbeat, unless a later one came before it. `Heartbeat!HeartbeatReceived`."""
    sender, said = event.sender, event.message
    if flaw := _malformed(state, sender, said):
        raise RemoteProtocolError(state, event, flaw)
    known = state.heard.get(sender, _NOTHING)
    if said.number <= known.number:
        return state, ()
    return evolve(state, heard=state.heard.put(sender, _now(known, said))), ()


def received(state: State, those: Iterable[tuple[Address, Heartbeat]]) -> State:
    """Return the state after a step for each of these heartbeats, in order. None of them is malformed."""
    heard = dict(state.heard.entries)
    for sender, said in those:
        known = heard.get(sender, _NOTHING)
        if said.number > known.number:
            heard[sender] = _now(known, said)
    return evolve(state, heard=HeardOf(heard.items()))


def _now(known: Heard, said: Heartbeat) -> Heard:
    """Note a heartbeat, the gap before it included."""
    gap = max(known.missed, known.gap - 1) if known.number else 0
    return Heard(said.number, said.view, said.counts, said.suspects, 0, gap)


def _view_installed(state: State, event: ViewInstalled) -> Transition:
    """Judge by this view from now on. `Heartbeat!ViewInstalled`."""
    members = event.view.member_set
    if state.member not in members:
        raise LocalProtocolError(state, event, "a view without this member cannot be installed")
    if event.view.id == state.view:
        return state, ()
    return evolve(state, view=event.view.id, members=members, since=state.beats), ()


def _malformed(state: State, sender: Address, said: Heartbeat) -> str:
    """Say why no correct peer sends this; "" if one may. `Heartbeat!IsMalformed`."""
    if sender == state.member:
        return "a member sends no heartbeat to itself"
    if said.number < 1:
        return "HEARTBEAT: heartbeats count from 1"
    if said.view == NO_VIEW.id and (said.counts or said.suspects):
        return "HEARTBEAT: a member without a view has no members, and suspects none"
    return ""


# Queries ------------------------------------------------------------------------------------------


def reason(config: Config, state: State, peer: Address) -> str:
    """Say why a member is to be suspected; "" if it is not, or was never watched. `Heartbeat!Reason`."""
    return _reason(config, state, state.heard[peer]) if peer in state.heard else ""


def _reason(config: Config, state: State, said: Heard) -> str:
    if not state.members:
        return ""
    if _is_silent(config, said):
        return "silent"
    if said.view == NO_VIEW.id or (said.counts and not said.suspects):
        return ""
    if said.suspects and said.view == state.view:
        return "suspects me"
    if not said.counts and said.view.counter >= state.view.counter:
        return "excludes me"
    return "stays apart" if state.beats - state.since > config.patience else ""


def all_well(config: Config, state: State) -> bool:
    """True if the next timer reports no member: each was heard lately, and said nothing that counts or may count."""
    return all(said.counts and not said.suspects and said.missed < config.patience for _, said in state.heard.entries)


def alive(config: Config, state: State) -> frozenset[Address]:
    """The members that were heard, and are not silent."""
    return frozenset(peer for peer, each in state.heard.items() if each.number and not _is_silent(config, each))


def _missed(config: Config, each: Heard) -> Heard:
    """One more own heartbeat without a heartbeat of this member; a silence is not counted for ever."""
    missed = min(each.missed, config.longest) + 1
    return Heard(each.number, each.view, each.counts, each.suspects, missed, each.gap)


def _is_silent(config: Config, each: Heard) -> bool:
    """True if a member was not heard for the patience, which follows its gaps. `Heartbeat!IsSilent`."""
    return each.missed > min(config.longest, max(config.patience, 2 * each.gap))
