"""NAKACK: multicasts that all members of a view deliver, each sender's in order. `Nakack`.

A sender numbers its multicasts (DATA). A receiver delivers each origin's in order, announces how far it has come
(HIGHEST), and asks the member that announced more than it has (XMIT_REQ). It keeps what it delivered until it is asked
to purge that. The head of `spec/nakack/Nakack.tla` has the theory, and says what FLUSH asks of the windows
(`HoldBack`, `Fetch`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias, assert_never, cast

from attrs import frozen

from .digest import EMPTY_VECTOR, FIRST_SEQNO, NOTHING, Digest, DigestEntry, Vector
from .effects import ALL, Datagram, PassUp, SetTimer
from .errors import LocalProtocolError, RemoteProtocolError
from .events import (
    Deliver,
    DigestGiven,
    DigestSet,
    Fetch,
    GetDigest,
    HoldBack,
    MessageReceived,
    Payload,
    Purge,
    Release,
    ViewInstalled,
    WindowsAdded,
)
from .per_member import PerMember
from .records import evolve
from .view import NO_VIEW, Address, View, ViewId

ASSUMES: Final = ("Network", "Membership")
"""The modules of `spec/common` that say what the layers around must give."""

GIVES: Final = ("ReliableMulticast",)
"""The module that says what this layer gives to those above."""

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config:
    """The constants of a member, in ms.

    `highest_interval`: the time between two HIGHEST messages. `request_delay`: the time from when a gap is
    seen to the request for it, and between two requests. `first_asked`: the most messages of an origin that a
    request names when none has arrived since the request before, 1 at least.
    """

    highest_interval: int
    request_delay: int
    first_asked: int


# Messages -----------------------------------------------------------------------------------------


@frozen
class Data:
    """The multicast number `seqno` of `origin`, in a view; from the origin, or from a member that has it."""

    view_id: ViewId
    origin: Address
    seqno: int
    payload: Payload


@frozen
class Highest:
    """The highest seqnos that its author has delivered, of each member of the view."""

    view_id: ViewId
    digest: Vector


@frozen
class Range:
    """Seqnos from `first` to `last`, both included; one at least."""

    first: int
    last: int


@frozen
class XmitReq:
    """A request for multicasts of `origin` in a view; `ranges` are apart, and rise."""

    view_id: ViewId
    origin: Address
    ranges: tuple[Range, ...]


Message: TypeAlias = Data | Highest | XmitReq

# Events -------------------------------------------------------------------------------------------


@frozen
class SendRequested:
    """A layer above multicasts `payload`."""

    payload: Payload


@frozen
class DataReceived:
    """A DATA arrived: from its origin, or from a member that was asked for it."""

    sender: Address
    message: Data


@frozen
class HighestTimeout:
    """Timer `highest` fired: it is time to announce how far this member has delivered."""


@frozen
class HighestReceived:
    """A HIGHEST arrived from member `sender`."""

    sender: Address
    message: Highest


@frozen
class RequestTimeout:
    """Timer `request` fired: what is still missing is asked for."""


@frozen
class XmitReqReceived:
    """A XMIT_REQ arrived from member `sender`."""

    sender: Address
    message: XmitReq


Event: TypeAlias = (
    SendRequested
    | DataReceived
    | HighestTimeout
    | HighestReceived
    | RequestTimeout
    | XmitReqReceived
    | ViewInstalled
    | HoldBack
    | Release
    | Fetch
    | Purge
    | GetDigest
    | DigestSet
    | WindowsAdded
)

# Effects ------------------------------------------------------------------------------------------

Effect: TypeAlias = Datagram[Message] | PassUp[Deliver | MessageReceived | DigestGiven] | SetTimer
Effects: TypeAlias = tuple[Effect, ...]

# State --------------------------------------------------------------------------------------------

Pending: TypeAlias = Mapping[int, Payload]
"""The waiting messages, by seqno: an immutable mapping, made by `_pending`."""


@frozen
class Source:
    """The member that is said to have an origin's messages, up to the seqno `upto`."""

    holder: Address
    upto: int


@frozen(slots=False)
class Window:
    """A member's messages of an origin in its view. `Nakack!Window` says what each field is."""

    low: int
    base: int
    purged: int
    delivered: int
    kept: tuple[Payload, ...]
    pending: Pending
    told: Source
    fetch: Source
    arrived: int


@frozen
class Store:
    """The messages `purged` + 1, `purged` + 2, ... of an origin in a former view."""

    purged: int
    kept: tuple[Payload, ...]


@frozen
class Former:
    """The deliveries of the view before."""

    view_id: ViewId
    stores: PerMember[Store]


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `Nakack!Start` says what each field is."""

    member: Address
    view: View
    windows: PerMember[Window]
    former: Former
    held: bool
    limit: Vector
    starts: Vector
    asking: bool

    @property
    def in_view(self) -> bool:
        """True if this member has installed a view. `Nakack!InView`."""
        return self.view.members != ()


Transition: TypeAlias = tuple[State, Effects]

_COUNTED: Final = PassUp(MessageReceived(1))
"""STABLE counts messages: NAKACK gives no sizes."""

_NO_WINDOWS: Final[PerMember[Window]] = PerMember(())
_NO_FORMER: Final = Former(NO_VIEW.id, PerMember(()))


def start(member: Address) -> State:
    """A member before its first view. `Nakack!Start`."""
    return State(
        member=member,
        view=NO_VIEW,
        windows=_NO_WINDOWS,
        former=_NO_FORMER,
        held=False,
        limit=EMPTY_VECTOR,
        starts=EMPTY_VECTOR,
        asking=False,
    )


def below(state: State) -> tuple[Digest]:
    """Return the values that layers above read at the moment of their own step, by member. `Nakack!Below`."""
    return (
        Digest(
            (member, DigestEntry(window.low, window.delivered, _highest_of(window, window.delivered)))
            for member, window in state.windows.items()
        ),
    )


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:
    """The next state, and what is to be done, in order. `Nakack!Step`.

    An ignored event returns the same state and no effects. A refused one raises and changes nothing:
    `LocalProtocolError` where the caller erred, `RemoteProtocolError` where a peer did.
    """
    match event:
        case SendRequested():
            return _send_requested(state, event)
        case DataReceived() | HighestReceived() | XmitReqReceived():
            return _received(config, state, event)
        case HighestTimeout():
            return _highest_timeout(config, state, event)
        case RequestTimeout():
            return _request_timeout(config, state)
        case ViewInstalled():
            return _view_installed(config, state, event)
        case HoldBack():
            return _hold_back(config, state, event)
        case Release():
            return _release(config, state, event)
        case Fetch():
            return _fetch(config, state, event)
        case Purge():
            return _purge(state, event)
        case GetDigest():
            return _get_digest(state, event)
        case DigestSet(digest) | WindowsAdded(digest):
            return evolve(state, starts=digest), ()
        case _:
            assert_never(event)


def _received(config: Config, state: State, event: DataReceived | HighestReceived | XmitReqReceived) -> Transition:
    """Refuse what no correct peer sends."""
    if reason := malformed(event.message):
        raise RemoteProtocolError(state, event, reason)
    match event:
        case DataReceived():
            return _data_received(config, state, event)
        case HighestReceived():
            return _highest_received(config, state, event)
        case XmitReqReceived():
            return _xmit_req_received(state, event)
        case _:
            assert_never(event)


def malformed(message: Message) -> str:
    """Say why no correct peer sends this to a member in any state; "" if one may. `Nakack!IsMalformed`."""
    match message:
        case Data(_, _, seqno):
            if seqno < FIRST_SEQNO:
                return f"DATA {seqno}: seqnos count from {FIRST_SEQNO}"
        case Highest(_, digest):
            if any(seqno < NOTHING for seqno in digest.values()):
                return f"HIGHEST: seqnos count from {FIRST_SEQNO}, and {NOTHING} is none"
        case XmitReq(_, _, ranges):
            if not ranges or any(each.first < FIRST_SEQNO or each.last < each.first for each in ranges):
                return f"XMIT_REQ: a request is for one seqno at least, and these count from {FIRST_SEQNO}"
        case _:
            assert_never(message)
    return ""


def _send_requested(state: State, event: SendRequested) -> Transition:
    """Number it, deliver it at once and keep it (NAK-01, DLV-04, -05, -06). `Nakack!SendRequested`.

    Nothing depends on the copy that comes back from the network.
    """
    _require_view(state, event)
    window = state.windows[state.member]
    seqno = window.delivered + 1
    if _deliverable(state, state.member, window, seqno) < seqno:
        raise LocalProtocolError(state, event, "deliveries are held back, and so are multicasts")
    sent = evolve(window, delivered=seqno, kept=(*window.kept, event.payload))
    return _with(state, {state.member: sent}), (
        Datagram(ALL, Data(state.view.id, state.member, seqno, event.payload)),
        _COUNTED,
        PassUp(Deliver(state.member, event.payload)),
    )


def _data_received(config: Config, state: State, event: DataReceived) -> Transition:
    """Store it, and deliver all that it makes deliverable (NAK-01, -04, DLV-03). `Nakack!DataReceived`."""
    message = event.message
    if not state.in_view or message.view_id != state.view.id:
        return state, ()
    _require_members(state, event, event.sender, message.origin)
    window = state.windows[message.origin]
    if message.seqno <= window.delivered or message.seqno in window.pending:
        return state, ()
    if message.seqno <= _highest_of(window, max(window.told.upto, window.fetch.upto)):
        window = evolve(window, arrived=window.arrived + 1)
    drained, delivered = _added(state, message.origin, window, message.seqno, message.payload)
    heard = _announced(drained, event.sender, message.seqno)
    return _asking(config, _with(state, {message.origin: heard}), (_COUNTED, *delivered))


def _highest_timeout(config: Config, state: State, event: HighestTimeout) -> Transition:
    """Tell what this member has delivered, if it keeps any (NAK-03, -05). `Nakack!HighestTimeout`."""
    _require_view(state, event)
    again = SetTimer("highest", config.highest_interval, config.highest_interval)
    if not any(window.kept for window in state.windows.values()):
        return state, (again,)
    return state, (Datagram(ALL, Highest(state.view.id, _delivered_vector(state))), again)


def _highest_received(config: Config, state: State, event: HighestReceived) -> Transition:
    """Ask for the sender's messages that this member lacks (NAK-07, -09). `Nakack!HighestReceived`."""
    message = event.message
    if not state.in_view or message.view_id != state.view.id:
        return state, ()
    _require_members(state, event, event.sender)
    if message.digest.keys() != state.windows.keys():
        raise RemoteProtocolError(state, event, "the message's members are not the view's")
    heard = {
        member: new
        for member, window in state.windows.items()
        if (new := _announced(window, event.sender, message.digest[member])) != window
    }
    return _asking(config, _with(state, heard), ()) if heard else (state, ())


def _request_timeout(config: Config, state: State) -> Transition:
    """Ask for what is missing, and again after a while (NAK-02, -08). `Nakack!RequestTimeout`."""
    if not state.asking:
        return state, ()
    requests = tuple(_requests(config, state))
    if not requests:
        return evolve(_none_arrived(state), asking=False), ()
    return _none_arrived(state), (*requests, _request_timer(config))


def _xmit_req_received(state: State, event: XmitReqReceived) -> Transition:
    """Send what this member has delivered of it (NAK-02). `Nakack!XmitReqReceived`."""
    message = event.message
    store: Window | Store | None
    if state.in_view and message.view_id == state.view.id:
        _require_members(state, event, event.sender, message.origin)
        store = state.windows[message.origin]
    else:
        store = state.former.stores.get(message.origin) if message.view_id == state.former.view_id else None
    if store is None or event.sender == state.member:
        return state, ()
    first = store.purged + 1
    return state, tuple(
        Datagram(event.sender, Data(message.view_id, message.origin, seqno, store.kept[seqno - first]))
        for seqno in _asked(message.ranges, first, first + len(store.kept))
    )


def _view_installed(config: Config, state: State, event: ViewInstalled) -> Transition:
    """Enter a view. Waiting messages are void; delivered messages can still be had. `Nakack!ViewInstalled`.

    Windows in use stay; those of new members start where the layers above said (JOI-05, MRG-28).
    """
    if state.member not in event.view.member_set:
        raise LocalProtocolError(state, event, "a view without this member cannot be installed")
    if event.view.id.counter <= state.view.id.counter:
        return state, ()
    former = _NO_FORMER
    if state.in_view:
        stores = ((member, Store(window.purged, window.kept)) for member, window in state.windows.items())
        former = Former(state.view.id, PerMember(stores))
    windows = []
    for member in event.view.members:
        window = state.windows.get(member)
        begun = state.starts.get(member, NOTHING) if window is None else window.delivered
        windows.append((member, _window(member, begun, begun if window is None else window.low)))
    entered = evolve(
        state,
        view=event.view,
        windows=PerMember(windows),
        former=former,
        held=False,
        limit=EMPTY_VECTOR,
        starts=EMPTY_VECTOR,
    )
    if state.in_view:
        return entered, ()
    return entered, (SetTimer("highest", config.highest_interval, config.highest_interval),)


def _hold_back(config: Config, state: State, event: HoldBack) -> Transition:
    """Deliver no more of the view than these many of each member. `Nakack!HoldBack`."""
    _require_view(state, event)
    if event.limit.keys() != state.windows.keys():
        raise LocalProtocolError(state, event, "the limit's members are not the view's")
    return _drain_all(config, evolve(state, held=True, limit=event.limit))


def _release(config: Config, state: State, event: Release) -> Transition:
    """Deliver what was held back. `Nakack!Release`."""
    _require_view(state, event)
    if not state.held:
        return state, ()
    return _drain_all(config, evolve(state, held=False, limit=EMPTY_VECTOR))


def _fetch(config: Config, state: State, event: Fetch) -> Transition:
    """Get from `holder` what is lacking, though it may be in the next view by now. `Nakack!Fetch`."""
    _require_view(state, event)
    window = state.windows.get(event.sender)
    if window is None or event.holder == state.member:
        raise LocalProtocolError(state, event, "what is fetched is a member's, and another member has it")
    named = evolve(window, fetch=Source(event.holder, window.base + event.upto))
    return _asking(config, _with(state, {event.sender: named}), ())


def _purge(state: State, event: Purge) -> Transition:
    """Forget what all have delivered, and the view before (NAK-06, STB-11, AMB-10). `Nakack!Purge`.

    All of the view have voted in it, so none of them lacks anything of the view before. The digest comes from
    a peer: what this member has not delivered is not purged.
    """
    _require_view(state, event)
    if event.digest.keys() != state.windows.keys():
        raise LocalProtocolError(state, event, "the digest's members are not the view's")
    windows = []
    for member, window in state.windows.items():
        top = max(window.purged, min(event.digest[member], window.delivered))
        windows.append((member, evolve(window, purged=top, kept=window.kept[top - window.purged :])))
    return evolve(state, windows=PerMember(windows), former=_NO_FORMER), ()


def _get_digest(state: State, event: GetDigest) -> Transition:
    """Tell what this member has delivered (JOI-03, DLV-01). `Nakack!GetDigest`."""
    _require_view(state, event)
    return state, (PassUp(DigestGiven(event.asker, event.request, _delivered_vector(state))),)


# Windows ------------------------------------------------------------------------------------------


def _pending(payloads: Mapping[int, Payload]) -> Pending:
    """These as a value: equal to another with the same entries, and never changed."""
    return cast("Pending", PerMember(cast("Any", payloads).items()))


_NOTHING_PENDING: Final = _pending({})


def _window(origin: Address, seqno: int, low: int) -> Window:
    """Where a view begins after a seqno of this origin. `Nakack!Window`."""
    none = Source(origin, seqno)
    return Window(
        low=low,
        base=seqno,
        purged=seqno,
        delivered=seqno,
        kept=(),
        pending=_NOTHING_PENDING,
        told=none,
        fetch=none,
        arrived=0,
    )


def _with(state: State, windows: Mapping[Address, Window]) -> State:
    """The same with these windows in the place of others."""
    after = state.windows
    for member, window in windows.items():
        after = after.put(member, window)
    return evolve(state, windows=after)


def _delivered_vector(state: State) -> Vector:
    """`Nakack!DeliveredVector` (DLV-01)."""
    return Vector(tuple((member, window.delivered) for member, window in state.windows.items()))


def _highest_of(window: Window, least: int) -> int:
    """The highest seqno that waits, or `least` if that is higher. `Nakack!HighestOf`."""
    return max(least, max(window.pending, default=least))


def _deliverable(state: State, origin: Address, window: Window, seqno: int) -> int:
    """The highest seqno of an origin that may be delivered now, of those up to one. `Nakack!Deliverable`."""
    return min(seqno, window.base + state.limit[origin]) if state.held else seqno


def _added(state: State, origin: Address, window: Window, seqno: int, payload: Payload) -> tuple[Window, Effects]:
    """Store a message, and deliver what can be delivered: as a rule itself, and nothing waits."""
    if not window.pending and seqno == _deliverable(state, origin, window, seqno) == window.delivered + 1:
        next_one = evolve(window, delivered=seqno, kept=(*window.kept, payload))
        return next_one, (PassUp(Deliver(origin, payload)),)
    return _drain_of(state, origin, evolve(window, pending=_pending({**window.pending, seqno: payload})))


def _drain_of(state: State, origin: Address, window: Window) -> tuple[Window, Effects]:
    """Deliver every deliverable message of an origin. `Nakack!DrainOf`."""
    waits, last = window.pending, window.delivered
    if last + 1 not in waits:
        return window, ()
    top = _deliverable(state, origin, window, max(waits))
    while last < top and last + 1 in waits:
        last += 1
    if last == window.delivered:
        return window, ()
    run = tuple(waits[seqno] for seqno in range(window.delivered + 1, last + 1))
    # A peer's mistake may wait below: a message of this member, under a seqno that it has used since.
    left = _pending({seqno: payload for seqno, payload in waits.items() if seqno > last})
    drained = evolve(window, delivered=last, kept=(*window.kept, *run), pending=left)
    return drained, tuple(PassUp(Deliver(origin, payload)) for payload in run)


def _drain_all(config: Config, state: State) -> Transition:
    """Deliver of each member what can be delivered, in the order of the view. `Nakack!DrainAll`."""
    windows: dict[Address, Window] = {}
    effects: list[Effect] = []
    for member in state.view.members:
        windows[member], delivered = _drain_of(state, member, state.windows[member])
        effects += delivered
    return _asking(config, _with(state, windows), tuple(effects))


# Requests -----------------------------------------------------------------------------------------


def _announced(window: Window, by: Address, seqno: int) -> Window:
    """Note that `by` has the messages up to `seqno`, if these are more than delivered. `Nakack!Announced`."""
    if seqno <= window.delivered:
        return window
    upto = max(window.told.upto, seqno) if by == window.told.holder else seqno
    return evolve(window, told=Source(by, upto))


def _gaps(window: Window, upto: int) -> tuple[Range, ...]:
    """The seqnos up to `upto` that are missing. `Nakack!Gaps`.

    No number is enumerated that no member has sent: `upto` may be a peer's mistake.
    """
    gaps, last = [], window.delivered
    for seqno in sorted(seqno for seqno in window.pending if seqno <= upto):
        if last + 1 < seqno:
            gaps.append(Range(last + 1, seqno - 1))
        last = seqno
    if last < upto:
        gaps.append(Range(last + 1, upto))
    return tuple(gaps)


def _requests(config: Config, state: State) -> Iterable[Datagram[Message]]:
    """The requests: to members that the layers above named, and to the announcers. `Nakack!Requests`."""
    for origin in state.view.members:
        if origin == state.member:
            continue
        window = state.windows[origin]
        if max(window.told.upto, window.fetch.upto) <= window.delivered and not window.pending:
            continue
        most = config.first_asked + window.arrived + window.arrived // 4
        named = _first_of(_gaps(window, window.fetch.upto), most)
        upto = _deliverable(state, origin, window, _highest_of(window, window.told.upto))
        known = _first_of(_gaps(window, upto), most)
        if named:
            yield Datagram(window.fetch.holder, XmitReq(state.view.id, origin, named))
        if known and (known, window.told.holder) != (named, window.fetch.holder):
            yield Datagram(window.told.holder, XmitReq(state.view.id, origin, known))


def _first_of(gaps: tuple[Range, ...], count: int) -> tuple[Range, ...]:
    """The first seqnos of these, `count` of them at most. `Nakack!FirstOf`."""
    kept = []
    for gap in gaps:
        last = min(gap.last, gap.first + count - 1)
        if last < gap.first:
            break
        kept.append(Range(gap.first, last))
        count -= last - gap.first + 1
    return tuple(kept)


def _none_arrived(state: State) -> State:
    """The same, where a request has just been sent. `Nakack!NoneArrived`."""
    windows = {member: evolve(window, arrived=0) for member, window in state.windows.items() if window.arrived}
    return _with(state, windows) if windows else state


def _asking(config: Config, state: State, effects: Effects) -> Transition:
    """Set the timer for requests where something is missing, unless it is set already. `Nakack!Asking`."""
    if state.asking or next(iter(_requests(config, state)), None) is None:
        return state, effects
    return evolve(state, asking=True), (*effects, _request_timer(config))


def _asked(ranges: Iterable[Range], first: int, end: int) -> Iterable[int]:
    """The seqnos of some ranges that are not below `first` and below `end`: each once, rising."""
    for each in sorted({(max(each.first, first), min(each.last + 1, end)) for each in ranges}):
        yield from range(max(first, each[0]), each[1])
        first = max(first, each[1])


def _request_timer(config: Config) -> SetTimer:
    return SetTimer("request", config.request_delay, config.request_delay)


# Refusals -----------------------------------------------------------------------------------------


def _require_view(state: State, event: Event) -> None:
    if not state.in_view:
        raise LocalProtocolError(state, event, "no view is installed yet")


def _require_members(state: State, event: DataReceived | HighestReceived | XmitReqReceived, *who: Address) -> None:
    """A message of our view comes from a member of it, and is of a member."""
    for each in who:
        if each not in state.view.members:
            raise RemoteProtocolError(state, event, f"{each} is not in our view, and a message says it is")
