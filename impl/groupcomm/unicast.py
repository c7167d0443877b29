"""UNICAST: unicasts between two incarnations arrive once and in order, over a network that loses. `Unicast`.

Messages are numbered within a connection between two incarnations, kept, and sent again until they are acknowledged.
The head of `spec/unicast/Unicast.tla` says how a sender learns which incarnation it talks to (SEND_FIRST_SEQNO), when a
side is closed, and what is remembered of a name.

The growth of the state. A send side keeps messages that are not acknowledged, a receive side messages that
wait behind a gap: no more than the sender keeps. Besides, there are an identifier and two numbers for each
name that was ever heard of, however many incarnations it has had.

There is no clock here. A timer names its connection and the time until it fires, which doubles until the
peer acknowledges something.
"""

from bisect import bisect_right
from operator import itemgetter
from typing import Final, TypeAlias, assert_never, final

from attrs import frozen

from .effects import Datagram, PassUp, SetTimer
from .errors import LocalProtocolError, RemoteProtocolError
from .events import Deliver, Payload, SilenceReported, ViewInstalled
from .per_member import PerMember
from .records import evolve
from .view import Address, is_former

ASSUMES: Final = ("Network", "SilenceDetector")
"""The modules of `spec/common` that say what the layer below and the failure detector must give."""

GIVES: Final = ("FifoUnicast", "ReliableUnicast")
"""The modules that say what this layer gives to those above."""

UNKNOWN: Final = -1
"""The incarnation of a peer that was not heard of. `Unicast!Unknown`."""

# Configuration ------------------------------------------------------------------------------------


@frozen
class Config:
    """The constants of a member, each 1 or more.

    `retransmit_min`: ms until a message is sent again. `retransmit_max`: the longest time between two
    retransmissions, in ms, no less than `retransmit_min`. `resend_most`: how many messages a retransmission
    sends, the first kept ones.
    """

    retransmit_min: int
    retransmit_max: int
    resend_most: int


# Messages -----------------------------------------------------------------------------------------


@frozen(order=True)
class Connection:
    """Identifies a connection: the incarnation of its sender, and a number that rises in it from 1."""

    incarnation: int
    number: int


@frozen
class Data:
    """The `seqno`-th message of a connection, from 1, for the incarnation `receiver` or for `UNKNOWN`."""

    connection: Connection
    seqno: int
    receiver: int
    payload: Payload


@frozen
class Ack:
    """The sender, in its `incarnation`, has delivered all of the connection up to `seqno`; 0: nothing yet."""

    connection: Connection
    seqno: int
    incarnation: int


@frozen
class SendFirstSeqno:
    """The sender, in its `incarnation`, has no window for what it was sent. So it is named in UNICAST.new."""

    incarnation: int


Message: TypeAlias = Data | Ack | SendFirstSeqno

# Events -------------------------------------------------------------------------------------------


@frozen
class UnicastRequested:
    """A layer above sends `payload` to the member `to`."""

    to: Address
    payload: Payload


@frozen
class RetransmitTimeout:
    """The timer of the own connection with this `number` fired: nothing was acknowledged for so long."""

    number: int


@frozen
class DataReceived:
    """A DATA arrived from `sender`."""

    sender: Address
    message: Data


@frozen
class AckReceived:
    """An ACK arrived from `sender`."""

    sender: Address
    message: Ack


@frozen
class SendFirstSeqnoReceived:
    """A SEND_FIRST_SEQNO arrived from `sender`."""

    sender: Address
    message: SendFirstSeqno


@frozen
class IncarnationBegins:
    """The first event of a member whose address was in use `incarnation` times before; 0 may go unsaid."""

    incarnation: int


Event: TypeAlias = (
    UnicastRequested
    | RetransmitTimeout
    | DataReceived
    | AckReceived
    | SendFirstSeqnoReceived
    | ViewInstalled
    | SilenceReported
    | IncarnationBegins
)

# Effects ------------------------------------------------------------------------------------------


Effect: TypeAlias = Datagram[Message] | PassUp[Deliver] | SetTimer

# State --------------------------------------------------------------------------------------------


@frozen(slots=False)
class SendSide:
    """The own side of a connection: `kept` are the messages that are not acknowledged, in order.

    `next`: the next seqno. `interval`: ms until they are sent again.
    """

    connection: Connection
    next: int
    kept: tuple[tuple[int, Payload], ...]
    interval: int


@frozen(slots=False)
class ReceiveSide:
    """The window of a peer's connection: the highest seqno delivered; what waits behind a gap, in order."""

    connection: Connection
    delivered: int
    ahead: tuple[tuple[int, Payload], ...]


@final
@frozen
class SendSides(PerMember[SendSide]):
    """The own side of the connection to each peer."""


@final
@frozen
class ReceiveSides(PerMember[ReceiveSide]):
    """The window of each peer."""


@final
@frozen
class Known(PerMember[int]):
    """The highest incarnation heard of, of each peer."""


@frozen(slots=False)
class State:
    """The local state of the specification, field for field. `Unicast!Start` says what each field is."""

    member: Address
    incarnation: int
    members: frozenset[Address]
    opened: int
    sends: SendSides
    receives: ReceiveSides
    known: Known

    @property
    def sought(self) -> frozenset[Address]:
        """The processes outside the view for which messages are kept: a failure detector must watch them."""
        if not self.members:
            return frozenset()
        return frozenset(to for to, side in self.sends.items() if side.kept and to not in self.members)


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]


def start(member: Address) -> State:
    """A member before its first message, in its first incarnation. `Unicast!Start`."""
    return State(
        member=member,
        incarnation=0,
        members=frozenset(),
        opened=0,
        sends=SendSides(()),
        receives=ReceiveSides(()),
        known=Known(()),
    )


# Step ---------------------------------------------------------------------------------------------


def step(config: Config, state: State, event: Event) -> Transition:
    """The next state, and what is to be done, in order. `Unicast!Step`.

    An ignored event returns the same state and no effects. A refused one raises and changes nothing:
    `LocalProtocolError` where the caller erred, `RemoteProtocolError` where a peer did.
    """
    match event:
        case UnicastRequested():
            return _unicast_requested(config, state, event)
        case RetransmitTimeout():
            return _retransmit_timeout(config, state, event)
        case DataReceived() | AckReceived() | SendFirstSeqnoReceived():
            return _received(config, state, event)
        case ViewInstalled():
            return _view_installed(state, event)
        case SilenceReported():
            return _silence_reported(state, event)
        case IncarnationBegins():
            return _incarnation_begins(state, event)
        case _:
            assert_never(event)


def _received(config: Config, state: State, event: DataReceived | AckReceived | SendFirstSeqnoReceived) -> Transition:
    """Refuse what no correct peer sends, and learn of a later incarnation."""
    sender, message = event.sender, event.message
    if flaw := _malformed(state, sender, message):
        raise RemoteProtocolError(state, event, flaw)
    if _is_over(state, sender):  # a window that was forgotten would be opened again
        return state, ()
    incarnation = message.connection.incarnation if isinstance(message, Data) else message.incarnation
    later = incarnation > state.known.get(sender, UNKNOWN)
    heard = _note_incarnation(config, state, sender, incarnation) if later else (state, ())
    match message:
        case Data():
            return _data_received(heard, sender, message)
        case Ack():
            return _ack_received(config, heard, sender, message)
        case SendFirstSeqno():  # all goes again where the incarnation is new (UNI-19)
            return heard
        case _:
            assert_never(message)


# Sending ------------------------------------------------------------------------------------------


def _unicast_requested(config: Config, state: State, event: UnicastRequested) -> Transition:
    """Number a message, keep and send it; open a connection first (UNI-16). `Unicast!UnicastRequested`.

    A message to oneself is delivered at once. The timer is set only if nothing was kept.
    """
    to, payload = event.to, event.payload
    if to == state.member:
        return state, (PassUp(Deliver(to, payload)),)
    if _is_over(state, to):  # no member would ever acknowledge it
        return state, ()
    old = state.sends.get(to)
    if old is None:
        side = _opened(config, state, (payload,))
        after = evolve(state, opened=state.opened + 1, sends=_put_send(state, to, side))
    else:
        side = evolve(old, next=old.next + 1, kept=(*old.kept, (old.next, payload)))
        after = evolve(state, sends=_put_send(state, to, side))
    sent = _data_to(state, to, side, len(side.kept) - 1)
    return after, ((sent,) if old is not None and old.kept else (sent, _timer(side)))


def _retransmit_timeout(config: Config, state: State, event: RetransmitTimeout) -> Transition:
    """Send the first messages again, and wait twice as long; give up nothing. `Unicast!RetransmitTimeout`."""
    for peer, old in state.sends.items():
        if old.connection.number == event.number and old.kept:
            side = evolve(old, interval=min(2 * old.interval, config.retransmit_max))
            again = _resent(state, peer, side, config.resend_most)
            return evolve(state, sends=_put_send(state, peer, side)), (*again, _timer(side))
    return state, ()


def _note_incarnation(config: Config, state: State, peer: Address, incarnation: int) -> Transition:
    """The peer is in a later incarnation than was known: all that is kept goes again. `Unicast!NoteIncarnation`.

    If none was known, the connection stays: no copy can have opened a window. If it was for a former one,
    another connection is opened.
    """
    heard = _latest_alone(evolve(state, known=Known((*state.known.entries, (peer, incarnation)))), peer)
    old = state.sends.get(peer)
    if old is None:
        return heard, ()
    if peer not in state.known:
        return heard, _resent(heard, peer, old, len(old.kept))
    if not old.kept:
        return evolve(heard, sends=_without(heard.sends, peer)), ()
    side = _opened(config, state, tuple(payload for _, payload in old.kept))
    after = evolve(heard, opened=state.opened + 1, sends=_put_send(heard, peer, side))
    return after, (*_resent(heard, peer, side, len(side.kept)), _timer(side))


def _is_over(state: State, peer: Address) -> bool:
    """Return True if a later incarnation of the peer's name was heard of. `Unicast!IsOver`."""
    return peer not in state.known and any(is_former(peer, each) for each in state.known)


def _latest_alone(state: State, latest: Address) -> State:
    """Forget the former incarnations of this name. `Unicast!LatestAlone`."""
    over = {each for each in (*state.sends, *state.known) if is_former(each, latest)}
    if not over:
        return state
    return evolve(
        state,
        sends=SendSides(entry for entry in state.sends.entries if entry[0] not in over),
        receives=ReceiveSides(entry for entry in state.receives.entries if entry[0] not in over),
        known=Known(entry for entry in state.known.entries if entry[0] not in over),
    )


def _ack_received(config: Config, heard: Transition, sender: Address, message: Ack) -> Transition:
    """Keep no longer what the peer has delivered. `Unicast!AckReceived`."""
    state, effects = heard
    side = state.sends.get(sender)
    if side is None or side.connection != message.connection:
        return heard
    done = bisect_right(side.kept, message.seqno, key=itemgetter(0))
    if not done:
        return heard
    fresh = evolve(side, kept=side.kept[done:], interval=config.retransmit_min)
    return evolve(state, sends=_put_send(state, sender, fresh)), effects


# Receiving ----------------------------------------------------------------------------------------


def _data_received(heard: Transition, sender: Address, message: Data) -> Transition:
    """Deliver what is in order and acknowledge it, or ask (UNI-17, UNI-18). `Unicast!DataReceived`.

    A window is for messages of its connection, whichever incarnation they name: it was opened for this
    incarnation.
    """
    state, effects = heard
    connection = message.connection
    window = state.receives.get(sender)
    if window is None or window.connection != connection:
        if window is not None and connection < window.connection:
            return heard
        if message.receiver != state.incarnation:
            return state, (Datagram(sender, SendFirstSeqno(state.incarnation)), *effects)
        window = ReceiveSide(connection, 0, ())
    window, payloads = _added(window, message.seqno, message.payload)
    return evolve(state, receives=state.receives.put(sender, window)), (
        *(PassUp(Deliver(sender, payload)) for payload in payloads),
        Datagram(sender, Ack(connection, window.delivered, state.incarnation)),
        *effects,
    )


def _added(window: ReceiveSide, seqno: int, payload: Payload) -> tuple[ReceiveSide, tuple[Payload, ...]]:
    """A window with another message, and the payloads that are in order with it. `Unicast!Added`."""
    if seqno <= window.delivered:
        return window, ()
    if not window.ahead and seqno == window.delivered + 1:
        return evolve(window, delivered=seqno), (payload,)
    below = (entry for entry in window.ahead if entry[0] < seqno)
    above = (entry for entry in window.ahead if entry[0] > seqno)
    ahead = (*below, (seqno, payload), *above)
    count = 0
    while count < len(ahead) and ahead[count][0] == window.delivered + count + 1:
        count += 1
    drained = evolve(window, delivered=window.delivered + count, ahead=ahead[count:])
    return drained, tuple(payload for _, payload in ahead[:count])


# Views and incarnations ---------------------------------------------------------------------------


def _view_installed(state: State, event: ViewInstalled) -> Transition:
    """Close the own side to members that the view excludes (UNI-07, UNI-08). `Unicast!ViewInstalled`."""
    members = event.view.member_set
    if state.member not in members:
        raise LocalProtocolError(state, event, "a view without this member cannot be installed")
    if members == state.members:
        return state, ()
    excluded = state.members - members
    open_sides = tuple(entry for entry in state.sends.entries if entry[0] not in excluded)
    return evolve(state, members=members, sends=SendSides(open_sides)), ()


def _silence_reported(state: State, event: SilenceReported) -> Transition:
    """Close the own side to a peer that the view is without. `Unicast!SilenceReported`.

    A member that crashed is excluded by a view. Before its first view a member gives up nothing.
    """
    peer = event.peer
    if not state.members or peer in state.members or peer not in state.sends:
        return state, ()
    return evolve(state, sends=_without(state.sends, peer)), ()


def _incarnation_begins(state: State, event: IncarnationBegins) -> Transition:
    """Take the number of this incarnation, before anything else happens. `Unicast!IncarnationBegins`."""
    if event.incarnation < 0:
        raise LocalProtocolError(state, event, "incarnations are numbered from 0")
    if state != start(state.member):
        raise LocalProtocolError(state, event, "an incarnation begins before all other events, and once")
    if event.incarnation == 0:
        return state, ()
    return evolve(state, incarnation=event.incarnation), ()


# Shared by the actions ----------------------------------------------------------------------------


def _malformed(state: State, sender: Address, message: Message) -> str:
    """Say why no correct peer sends this to a member in this state; "" if one may. `Unicast!IsMalformed`."""
    if sender == state.member:
        return "a member sends no datagram to itself"
    if isinstance(message, SendFirstSeqno):
        return "SEND_FIRST_SEQNO: incarnations count from 0" if message.incarnation < 0 else ""
    connection = message.connection
    if connection.incarnation < 0 or connection.number < 1:
        return "a connection has an incarnation from 0 and a number from 1"
    match message:
        case Data(_, seqno, receiver):
            if seqno < 1 or not UNKNOWN <= receiver <= state.incarnation:
                return "DATA: a seqno counts from 1, and the receiver's incarnation has begun"
        case Ack(_, seqno, incarnation):
            if incarnation < 0 or seqno < 0 or not _was_opened(state, connection):
                return "ACK: the numbers count from 0, and the connection was opened here"
            side = state.sends.get(sender)
            if side is not None and side.connection == connection and seqno >= side.next:
                return f"ACK: seqno {seqno} was not sent yet; the next one is {side.next}"
        case _:
            assert_never(message)
    return ""


def _was_opened(state: State, connection: Connection) -> bool:
    """True if this member has opened it, now or in a former incarnation. `Unicast!WasOpened`."""
    return (connection.incarnation, connection.number) <= (state.incarnation, state.opened)


def _opened(config: Config, state: State, payloads: tuple[Payload, ...]) -> SendSide:
    """The side of a connection that is opened now, with these payloads to be sent. `Unicast!Opened`."""
    return SendSide(
        connection=Connection(state.incarnation, state.opened + 1),
        next=len(payloads) + 1,
        kept=tuple(enumerate(payloads, 1)),
        interval=config.retransmit_min,
    )


def _resent(state: State, peer: Address, side: SendSide, most: int) -> tuple[Datagram[Message], ...]:
    """The first messages that are kept for a peer, `most` of them at most. `Unicast!Resent`."""
    count = min(len(side.kept), most)
    return tuple(_data_to(state, peer, side, place) for place in range(count))


def _data_to(state: State, peer: Address, side: SendSide, place: int) -> Datagram[Message]:
    """A message that is kept for a peer, as it is sent. `Unicast!DataTo`."""
    seqno, payload = side.kept[place]
    return Datagram(peer, Data(side.connection, seqno, state.known.get(peer, UNKNOWN), payload))


def _timer(side: SendSide) -> SetTimer:
    """The timer of this connection: by its number, the timer of a closed connection is late."""
    return SetTimer(f"retransmit/{side.connection.number}", side.interval, side.interval)


def _without(sends: SendSides, peer: Address) -> SendSides:
    return SendSides(entry for entry in sends.entries if entry[0] != peer)


def _put_send(state: State, peer: Address, side: SendSide) -> SendSides:
    return state.sends.put(peer, side)
