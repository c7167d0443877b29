"""FILE_PING: members find each other by a folder that all of them reach. `FilePing`.

A member that starts writes its record into the folder, reads the records of the others, and asks each of them
who coordinates. After a time it joins the coordinator that was named, or founds a group if none was. A coordinator
looks again now and then: `State.coordinators` are for merging (`Merge!DiscoverTimeout`).

The head of `spec/file_ping/FilePing.tla` has the theory: what two members that start at once do, and whom a dead
coordinator's record misleads. Groups that were founded apart become one by merging alone: no order of writing and
reading prevents them where a timer is faster than the folder.

Duties of the runtime. `WriteRecord`, `ReadRecords` and `RemoveRecords` are done in the order in which they
are asked for. A record is written beside the former one and takes its place at once. The result of a reading
comes back as `RecordsRead`. A folder that is not there has no records; a write that fails is tried again with
the next `WriteRecord`.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias, assert_never

from attrs import frozen

from .effects import Datagram, PassDown, PassUp, SetTimer
from .errors import LocalProtocolError, RemoteProtocolError
from .events import ViewInstalled
from .records import evolve
from .view import Address

ASSUMES: Final = ("Folder", "Network")
"""The modules of `spec/common` that say what is beneath."""

GIVES: Final = ("Discovery",)
"""A coordinator that has died since it was named is found until the next look."""

NO_COORDINATOR: Final = ""
"""In the place of a coordinator: the member starts, and knows of none. `FilePing!NoCoordinator`."""

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config:
    """The constants of a member, in ms, each 1 or more.

    `discovery_time`: how long a member waits for answers. `join_time`: how long it waits until a coordinator
    lets it in. `look_min` and `look_max`: the bounds of the time until it looks, or writes its record, again.
    """

    discovery_time: int
    join_time: int
    look_min: int
    look_max: int


# Messages -----------------------------------------------------------------------------------------


@frozen
class GetMbrsReq:
    """Asks who coordinates. `starting`: the sender is in no view, and looks for the first time."""

    starting: bool


@frozen
class GetMbrsRsp:
    """Names the coordinator of the sender's view, the target that the sender joins, or `NO_COORDINATOR`."""

    coordinator: Address


Message: TypeAlias = GetMbrsReq | GetMbrsRsp

# Events -------------------------------------------------------------------------------------------


@frozen
class ConnectRequested:
    """The application has this member look for a group. It comes once."""


@frozen
class RecordsRead:
    """The folder was read: the members with a whole record, and the members with a broken record."""

    found: frozenset[Address]
    broken: frozenset[Address]


@frozen
class GetMbrsReqReceived:
    """A GET_MBRS_REQ arrived from `sender`."""

    sender: Address
    message: GetMbrsReq


@frozen
class GetMbrsRspReceived:
    """A GET_MBRS_RSP arrived from `sender`."""

    sender: Address
    message: GetMbrsRsp


@frozen
class DiscoveryTimeout:
    """The time for answers is over."""


@frozen
class JoinTimeout:
    """The time to be let in is over."""


@frozen
class LookTimeout:
    """It is time to look, or to write the record, again."""


@frozen
class DisconnectRequested:
    """The member leaves its group, or gives up looking for one."""


Event: TypeAlias = (
    ConnectRequested
    | RecordsRead
    | GetMbrsReqReceived
    | GetMbrsRspReceived
    | DiscoveryTimeout
    | JoinTimeout
    | LookTimeout
    | ViewInstalled
    | DisconnectRequested
)

# Effects ------------------------------------------------------------------------------------------


@frozen
class WriteRecord:
    """To the folder: write this member's record."""


@frozen
class ReadRecords:
    """To the folder: read all records. The answer is `RecordsRead`."""


@frozen
class RemoveRecords:
    """To the folder: remove the records of these members, if there are any."""

    of: frozenset[Address]


@frozen
class Found:
    """To the member's runtime: have GMS join `coordinator`, or found a group where that is this member."""

    coordinator: Address


Effect: TypeAlias = Datagram[Message] | PassUp[Found] | PassDown[WriteRecord | ReadRecords | RemoveRecords] | SetTimer

# State --------------------------------------------------------------------------------------------


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `FilePing!Start` says what each field is."""

    member: Address
    phase: str
    members: tuple[Address, ...]
    look: str
    asked: frozenset[Address]
    answered: frozenset[Address]
    named: frozenset[Address]
    seniors: frozenset[Address]
    target: Address
    coordinators: frozenset[Address]


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]


def start(member: Address) -> State:
    """Give a member before it looks for a group. `FilePing!Start`."""
    return State(
        member=member,
        phase="idle",
        members=(),
        look="no",
        asked=frozenset(),
        answered=frozenset(),
        named=frozenset(),
        seniors=frozenset(),
        target=NO_COORDINATOR,
        coordinators=frozenset(),
    )


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:
    """Give the next state, and what is to be done, in order. `FilePing!Step`.

    An ignored event returns the same state and no effects. A refused one raises and changes nothing:
    `LocalProtocolError` where the caller erred, `RemoteProtocolError` where a peer did.
    """
    match event:
        case ConnectRequested():
            return _connect_requested(state, event)
        case RecordsRead():
            return _records_read(config, state, event)
        case GetMbrsReqReceived():
            return _get_mbrs_req_received(state, event)
        case GetMbrsRspReceived():
            return _get_mbrs_rsp_received(state, event)
        case DiscoveryTimeout():
            return _discovery_timeout(config, state)
        case JoinTimeout():
            return _join_timeout(state)
        case LookTimeout():
            return _look_timeout(config, state)
        case ViewInstalled():
            return _view_installed(config, state, event)
        case DisconnectRequested():
            return _disconnect_requested(state, event)
        case _:
            assert_never(event)


# Looking ------------------------------------------------------------------------------------------


def _connect_requested(state: State, event: ConnectRequested) -> Transition:
    """Write the record, and only then read those of the others (FPG-01, AMB-86)."""
    if state.phase != "idle":
        raise LocalProtocolError(state, event, "a member connects once, before anything else")
    return _begin_look(evolve(state, phase="starting"), (PassDown(WriteRecord()),))


def _begin_look(state: State, before: tuple[Effect, ...] = ()) -> Transition:
    return evolve(_without_look(state), look="reading"), (*before, PassDown(ReadRecords()))


def _without_look(state: State) -> State:
    """A look is over: forget the members asked and their answers. `FilePing!WithoutLook`."""
    none: frozenset[Address] = frozenset()
    return evolve(state, look="no", asked=none, answered=none, named=none, seniors=none)


def _records_read(config: Config, state: State, event: RecordsRead) -> Transition:
    """Ask every member found (FPG-02). A record that is not whole takes nothing from the others (FPG-11)."""
    if state.look != "reading":
        return state, ()
    found = event.found - {state.member}
    if not found:
        return _decide(config, state) if state.phase == "starting" else _end_look(config, state)
    request = GetMbrsReq(state.phase == "starting")
    return evolve(state, look="asking", asked=found), (
        *(Datagram(each, request) for each in sorted(found)),
        SetTimer("discovery", config.discovery_time, config.discovery_time),
    )


def _discovery_timeout(config: Config, state: State) -> Transition:
    if state.look != "asking":
        return state, ()
    return _decide(config, state) if state.phase == "starting" else _end_look(config, state)


def _decide(config: Config, state: State) -> Transition:
    """Choose the member to join: itself if none is named and no senior starts. `FilePing!Decide`."""
    heard = state.named & state.answered  # the others may be dead, and named by members that wait for them (FLAW-219)
    if not heard and (state.named or state.seniors):
        return _begin_look(state)
    target = min(heard, default=state.member)
    after = evolve(_without_look(state), phase="joining", target=target)
    if target == state.member:
        return after, (PassUp(Found(target)),)
    return after, (PassUp(Found(target)), SetTimer("join", config.join_time, config.join_time))


def _end_look(config: Config, state: State) -> Transition:
    """Keep the coordinators found, and remove the records of the silent members (FPG-09)."""
    silent = state.asked - state.answered if _coordinates(state) else frozenset()
    after = evolve(_without_look(state), coordinators=state.named - set(state.members))
    return after, (*_removed(silent), _look_timer(config))


def _get_mbrs_req_received(state: State, event: GetMbrsReqReceived) -> Transition:
    """Name the own coordinator, or the member to join (FPG-08). Remember a senior that starts."""
    sender = event.sender
    _refuses(state, event, sender)
    match state.phase:
        case "in_view":
            return state, (Datagram(sender, GetMbrsRsp(state.members[0])),)
        case "joining":
            return state, (Datagram(sender, GetMbrsRsp(state.target)),)
        case "starting":
            learns = event.message.starting and sender < state.member
            seniors = state.seniors | {sender} if learns else state.seniors
            return evolve(state, seniors=seniors), (Datagram(sender, GetMbrsRsp(NO_COORDINATOR)),)
        case _:
            return state, ()


def _get_mbrs_rsp_received(state: State, event: GetMbrsRspReceived) -> Transition:
    """Note an answer and its sender. `FilePing!GetMbrsRspReceived`."""
    sender, coordinator = event.sender, event.message.coordinator
    _refuses(state, event, sender)
    if sender not in state.asked:  # members are asked in a look only
        return state, ()
    after = evolve(state, answered=state.answered | {sender})
    if coordinator != NO_COORDINATOR:
        return evolve(after, named=state.named | {coordinator}), ()
    if sender < state.member:
        return evolve(after, seniors=state.seniors | {sender}), ()
    return after, ()


def _join_timeout(state: State) -> Transition:
    """Look again: the coordinator that was named may be dead (FLAW-207)."""
    if state.phase != "joining" or state.target == state.member:
        return state, ()
    return _begin_look(evolve(state, phase="starting", target=NO_COORDINATOR))


# In a view ----------------------------------------------------------------------------------------


def _look_timeout(config: Config, state: State) -> Transition:
    """Write the record again, it may be gone. A coordinator looks for others. `FilePing!LookTimeout`."""
    if state.phase != "in_view" or state.look != "no":
        return state, ()
    if _coordinates(state):
        return _begin_look(state, (PassDown(WriteRecord()),))
    return state, (PassDown(WriteRecord()), _look_timer(config))


def _view_installed(config: Config, state: State, event: ViewInstalled) -> Transition:
    """Name the coordinator of this view from now on. `FilePing!ViewInstalled`."""
    members = event.view.members
    if state.member not in members or state.phase == "gone":
        raise LocalProtocolError(state, event, "a view is installed at its members, until they leave")
    after = evolve(
        state, phase="in_view", members=members, target=NO_COORDINATOR, coordinators=state.coordinators - set(members)
    )
    return after, ((_look_timer(config),) if state.phase != "in_view" and state.look == "no" else ())


def _disconnect_requested(state: State, event: DisconnectRequested) -> Transition:
    """Remove the own record (FPG-03). `FilePing!DisconnectRequested`."""
    if state.phase in ("idle", "gone"):
        raise LocalProtocolError(state, event, "a member disconnects once, after it has connected")
    return evolve(start(state.member), phase="gone"), _removed({state.member})


# Helpers ------------------------------------------------------------------------------------------


def _coordinates(state: State) -> bool:
    return state.members[:1] == (state.member,)


def _removed(members: Iterable[Address]) -> tuple[Effect, ...]:
    of = frozenset(members)
    return (PassDown(RemoveRecords(of)),) if of else ()


def _look_timer(config: Config) -> SetTimer:
    return SetTimer("look", config.look_min, config.look_max)


def _refuses(state: State, event: GetMbrsReqReceived | GetMbrsRspReceived, sender: Address) -> None:
    """Refuse a message of the member itself. `FilePing!Refuses`."""
    if sender == state.member:
        raise RemoteProtocolError(state, event, "a message of this protocol comes from another member")
