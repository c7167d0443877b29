"""State transfer: a member that comes gets the state of the members before it, at one place of the order.

The total order gives the cut, so no member stops for it. In a view to which members came, or that was
merged, each member multicasts which state it has. The last of these messages is the cut: it is at the same
place for all members, and all know the same then. The state that most members have is kept. The first member
that has it hands it over, as it is at the cut, in parts. Members with another state, or none, hold what
follows the cut until the last part is there. If the view changes before the last part, all multicast it
again: the members of the next view have delivered the same, so they agree on that.

A cut is not enough. A member that was cut off sends again what the others have delivered, and have in their
state. SEQUENCER's received-table drops it there, and a joiner has no entry for it. So each multicast of an
application has a number, and with the state comes, of each member, the number of the last one in it.

A provider that cannot give its state says so. That is a new cut, and the next member that has the state
provides; after the last one the first is asked again.

A group begins with the state of its founder, which is alone in its first view. A member that becomes alone
before it has the state does not begin one, nor do members of which none has it. A member without a provider
multicasts that as soon as another member multicasts which state it has.

With `majority` the state of the members is kept that were in the latest formed view: no other has changed
since. Each says the counter of the last formed view that it was in.
"""

from collections import Counter
from typing import Final, TypeAlias, final

import msgspec
from attrs import define, field, frozen

from groupcomm.per_member import PerMember
from groupcomm.view import Address, ViewId

from .codec import pack
from .errors import EndedError
from .frames import LARGEST_MESSAGE
from .logs import digest

__all__ = [
    "LARGEST_STATE",
    "Get",
    "Lacks",
    "Message",
    "NewView",
    "Say",
    "Took",
    "Transfer",
    "cannot",
    "messages_of",
    "of_application",
    "parts",
]

LARGEST_STATE: Final = 64 << 20
"""The bytes of a state, and of the messages that wait for one."""

_PART: Final = LARGEST_MESSAGE - 512  # the rest is for the view and the number
_OVERHEAD: Final = 200  # bytes of a message that waits, besides its data
_APPLICATION, _TELLS, _STATE, _CANNOT = b"a", b"t", b"s", b"c"  # the first byte of what is multicast

_Told: TypeAlias = tuple[int, str]
"""The former view of a member that has a state; or one of these two.

With `majority` the counter is that of its last formed view.
"""

_LACKS: Final[_Told] = (-1, "")
"""It has no provider."""

_WANTS: Final[_Told] = (0, "")
"""It has no state yet."""


@frozen
class Message:
    """A message of `sender`: survivors of a view deliver the same messages in it, in one order."""

    sender: Address
    data: bytes


@frozen
class NewView:
    """The members are now these, the most senior first.

    `merged`: the views that came together, none if members only came or went. A member that came from another
    of these views has delivered other messages before. `came`: the members that were not in the view before.
    """

    id: ViewId
    members: tuple[Address, ...]
    merged: frozenset[ViewId]
    came: tuple[Address, ...]

    @property
    def survivors(self) -> tuple[Address, ...]:
        """The members that come from this member's last view, itself too: none in its first view.

        They have delivered the same in it, or crash before they install this view. With `merged` it is an
        upper bound: one of them may have been parted in between, and come from another of these views.
        """
        return tuple(each for each in self.members if each not in self.came)


@frozen
class Say:
    """To be multicast."""

    data: bytes


@frozen
class Get:
    """The application's state is taken here, for the members of `view`, and is multicast in `parts`.

    `seen`: of each member the number of its last multicast that is in the state. `last`: all other members
    that have the state were asked before.
    """

    view: ViewId
    seen: dict[Address, int]
    last: bool


@frozen
class Took:
    """The application has the state from here on: `state`, or, if None, the state that it has already."""

    state: bytes | None


@frozen
class Lacks:
    """This member still has no state: `why`, for the operator."""

    why: str


Action: TypeAlias = Message | NewView | Say | Get | Took | Lacks


@final
@frozen
class _Seen(PerMember[int]):
    """Of each member the number of its last multicast."""


def of_application(number: int, *messages: bytes) -> bytes:
    """The multicast payload for messages of the application: they stand together in the order.

    `number`: 1 for the first such multicast of a member, then rising.
    """
    return _APPLICATION + pack((number, messages))


def messages_of(payload: bytes) -> list[bytes]:
    """The messages of the application that were multicast so; none where it is part of a state transfer."""
    return _numbered(payload)[1]


def _numbered(payload: bytes) -> tuple[int, list[bytes]]:
    if payload[:1] != _APPLICATION:
        return 0, []
    try:
        return _read_messages.decode(payload[1:])
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return 0, []  # of a member that is broken


def cannot(view: ViewId) -> bytes:
    """The multicast payload of a provider whose application gives no state."""
    return _CANNOT + pack((view.counter, view.creator))


def parts(view: ViewId, state: bytes, seen: dict[Address, int]) -> list[bytes]:
    """The multicast payload for a state, in parts; the last has what messages are in it."""
    pieces = [state[at : at + _PART] for at in range(0, len(state), _PART)] or [b""]
    last = len(pieces) - 1
    return [
        _STATE + pack((view.counter, view.creator, place == last, each, seen if place == last else {}))
        for place, each in enumerate(pieces)
    ]


_read_messages: Final = msgspec.msgpack.Decoder(tuple[int, list[bytes]])
_read_told: Final = msgspec.msgpack.Decoder(tuple[int, str, _Told])
_read_part: Final = msgspec.msgpack.Decoder(tuple[int, str, bool, bytes, dict[str, int]])
_read_cannot: Final = msgspec.msgpack.Decoder(tuple[int, str])


@define
class Transfer:
    """The transfer, as the member `me` knows it. `provides`: its application has a state.

    `formed`: the last view that was formed, for `majority`. `begins`: a group that it founds begins with its
    state.
    """

    me: Address
    provides: bool
    majority: bool = False
    begins: bool = True
    formed: ViewId | None = None
    has: bool = False
    _view: NewView | None = None
    _own: _Told = _WANTS
    _told: dict[Address, _Told] = field(factory=dict)
    _provider: Address | None = None
    _begun: bool = False
    """A member has multicast its state in this view, or this member will."""
    _done: bool = True
    """All have the state, as far as this view is concerned."""
    seen: dict[Address, int] = field(factory=dict)
    """Of each member the number of its last multicast that the application has."""
    _having: list[Address] = field(factory=list)
    """The members that have the state of this view, in the order in which they are asked for it."""
    _unasked: int = 0
    """How many of these were not asked yet in this round."""
    _held: list[tuple[Address, int, list[bytes]]] = field(factory=list)
    _size: int = 0
    _parts: list[bytes] = field(factory=list)

    @property
    def begins_again(self) -> bool:
        """True if the next incarnation may begin a group: this one has a state, or was in no view."""
        return self.has or (self.begins and self._view is None)

    def view(self, new: NewView) -> list[Action]:
        """A view is installed."""
        former, self._view = self._view, new
        tells = former is None or new.came or new.merged or not self._done
        self._own = self._state_in(former)
        self._size -= sum(map(len, self._parts))
        self._told, self._provider, self._parts = {}, None, []
        self._begun, self._done = False, True
        self.seen = dict(_Seen(tuple(sorted(self.seen.items()))).latest(new.members).items())
        if new.members == (self.me,):
            return [new, *(self._keeps() if former is None and self.begins else self._lacks("it is alone"))]
        return [new, *(self._begins(new) if tells and self.provides else ())]

    def _state_in(self, former: NewView | None) -> _Told:
        """Which state it has after a view: equal for those alone that have the same."""
        if not self.provides:
            return _LACKS
        if former is None or not self.has:
            return _WANTS
        name = former.id.creator
        if self._begun and self._provider is None:  # there were several in the view, and none was chosen
            name = f"{name} {digest(self._own)}"
        if self.majority:
            last = 1 if self.formed is None else self.formed.counter  # (1: more than the counter of _WANTS)
            return last, f"{former.id.counter} {name}"
        return former.id.counter, name

    def delivers(self, sender: Address, payload: bytes) -> list[Action]:
        """A message is delivered. Raises EndedError where too much waits for a state."""
        kind, rest = payload[:1], payload[1:]
        if kind == _APPLICATION:
            number, messages = _numbered(payload)
            if self.has or not self.provides:
                return [*self._fresh(sender, number, messages)]
            self._held.append((sender, number, messages))
            self._holds(len(rest) + _OVERHEAD * len(messages))
            return []
        if self._view is None or sender not in self._view.members:
            return []
        try:
            match kind:
                case b"t":
                    return self._hears(self._view, sender, *_read_told.decode(rest))
                case b"c":
                    return self._passes_on(self._view, sender, *_read_cannot.decode(rest))
                case b"s":
                    return self._gets(self._view, sender, _read_part.decode(rest))
        except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
            pass  # of a member that is broken: it is no part of any state
        return []

    def _begins(self, view: NewView) -> list[Action]:
        self._begun, self._done = True, False
        return [Say(_TELLS + pack((view.id.counter, view.id.creator, self._own)))]

    def _hears(self, view: NewView, sender: Address, counter: int, creator: str, told: _Told) -> list[Action]:
        """A member says whose state it has; the last such message is the cut."""
        if view.id != ViewId(counter, creator) or self._provider is not None:
            return []
        actions = [] if self._begun else self._begins(view)
        self._told[sender] = told
        if len(self._told) < len(view.members):
            return actions
        kept = self._kept()
        if kept == _WANTS:
            return [*actions, *self._lacks("no member of the view has it")]
        having = [each for each in view.members if self._told[each] == kept]
        self._having, self._unasked = having, len(having)
        self._provider = having[0]
        if self.me in having:
            actions += self._keeps()
        elif self.provides:
            self.has = False
            self._forgets()
        behind = [each for each in view.members if self._told[each] != _LACKS and each not in having]
        self._done = not behind
        return actions + (self._asks(view) if behind else [])

    def _asks(self, view: NewView) -> list[Action]:
        """The next member that has the state provides, as it is here."""
        self._unasked = (self._unasked or len(self._having)) - 1
        self._provider = self._having[-1 - self._unasked]
        return [Get(view.id, dict(self.seen), last=not self._unasked)] if self._provider == self.me else []

    def _passes_on(self, view: NewView, sender: Address, counter: int, creator: str) -> list[Action]:
        """The provider cannot give the state. The last such message is the cut."""
        if view.id != ViewId(counter, creator) or sender != self._provider or self._done:
            return []
        lacks: list[Action] = [] if self.has else self._lacks(f"{sender} cannot give it")
        if not self.has:
            self._forgets()
        return lacks + self._asks(view)

    def _lacks(self, why: str) -> list[Action]:
        return [Lacks(why)] if self.provides and not self.has else []

    def _fresh(self, sender: Address, number: int, messages: list[bytes]) -> list[Message]:
        """The messages, but for those that are in the state that came."""
        if number <= self.seen.get(sender, 0):
            return []
        self.seen[sender] = number
        return [Message(sender, each) for each in messages]

    def _kept(self) -> _Told:
        """Return what the members say whose state is kept."""
        counted = Counter(self._told.values())
        lacking, wanting = counted.pop(_LACKS, 0), counted.pop(_WANTS, 0)
        if counted:
            return max(counted, key=lambda each: (each[0] if self.majority else 0, counted[each], each))
        return _WANTS if wanting or not lacking else _LACKS

    def _gets(
        self, view: NewView, sender: Address, part: tuple[int, str, bool, bytes, dict[Address, int]]
    ) -> list[Action]:
        """A part of the state."""
        counter, creator, last, data, seen = part
        if view.id != ViewId(counter, creator) or sender != self._provider or self._done:
            return []
        self._done = last
        if self.has or not self.provides:
            return []
        self._parts.append(data)
        self._holds(len(data))
        if not last:
            return []
        state = b"".join(self._parts)
        self.has, self.seen = True, seen
        return [Took(state), *self._releases()]

    def _keeps(self) -> list[Action]:
        if self.has or not self.provides:
            return []
        self.has = True
        return [Took(None), *self._releases()]

    def _releases(self) -> list[Message]:
        held = self._held
        self._forgets()
        return [each for sender, number, messages in held for each in self._fresh(sender, number, messages)]

    def _forgets(self) -> None:
        self._held, self._parts, self._size = [], [], 0

    def _holds(self, size: int) -> None:
        self._size += size
        if self._size > 2 * LARGEST_STATE:
            self._forgets()
            raise EndedError(
                f"more than {2 * LARGEST_STATE} bytes have come before the state of the group did: "
                "it is too large, or the others send too much meanwhile; join when they send less"
            )
