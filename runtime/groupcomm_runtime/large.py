"""Large items: their fragments go out at the rate at which they arrive.

An item of many fragments overflows the receive buffer of a socket, and so does all of it again. So the receiver
of such an item says which fragments have come, and the sender sends those that are lost, and has no more on
their way than arrive (as TCP does it). `Network` is the same: an item comes whole, or it is lost, where none of
its fragments comes for long. Then UNICAST and NAKACK send it again.

To a member one item goes at a time, and from a member one comes at a time: so one is held of each.
"""

from collections import deque
from collections.abc import Collection, Iterator
from itertools import count
from typing import Final

import msgspec
from attrs import define, field

from groupcomm.view import Address

from .codec import RefusedError, pack

LARGEST_ITEM: Final = 17 << 20
"""Bytes: a message of the largest size, with what the layers add."""
MOST_FRAGMENTS: Final = 40_000

_BURST: Final = 16  # fragments: with more an item is large
_AT_FIRST, _LEAST, _MOST = 16, 8, 256  # fragments on their way
_MOST_BYTES: Final = 1 << 20  # of fragments on their way
_OVERTAKE: Final = 3  # fragments that may overtake one that is not lost
_SPAN: Final = 2_048  # fragments behind the first that lacks, of which an answer says whether they have come
_WAITING: Final = 40 << 20  # bytes of items that wait for a member; what is beyond is lost
_LATE, _LATEST = 0.05, 1.0  # seconds without an answer
_ANSWER: Final = msgspec.msgpack.Decoder(tuple[int, int, bytes])
_FRAGMENT: Final = msgspec.msgpack.Decoder(tuple[int, int, int, bytes])

_numbers: Final = count(1)


@define
class _Sending:
    """The large items to one member, one after the other. Times are seconds."""

    room: int
    most: int
    waiting: deque[tuple[object, bytes]] = field(factory=deque)
    """Items, each with the payload by which it is known; the first is on its way."""
    _number: int = 0
    _pieces: int = 0
    _base: int = 0
    """All fragments before it have come."""
    _next: int = 0
    _again: deque[int] = field(factory=deque)
    _on_their_way: dict[int, float] = field(factory=dict)
    """When each was sent, in the order of sending."""
    _window: float = _AT_FIRST
    _threshold: float = _MOST
    _narrowed: float = 0.0
    _heard: float = 0.0
    _late: float = _LATE

    def add(self, payload: object, item: bytes, now: float) -> bool:
        """Have an item sent. False where too much waits: it is lost."""
        if sum(len(each) for _, each in self.waiting) + len(item) > _WAITING:
            return False
        self.waiting.append((payload, item))
        if len(self.waiting) == 1:
            self._begin(now)
        return True

    def _begin(self, now: float) -> None:
        self._number, self._pieces = next(_numbers), -(-len(self.waiting[0][1]) // self.room)
        self._base = self._next = 0
        self._again.clear()
        self._on_their_way.clear()
        self._heard, self._late = now, _LATE

    def _ends(self, now: float) -> None:
        self.waiting.popleft()
        if self.waiting:
            self._begin(now)

    def due(self, now: float) -> Iterator[bytes]:
        """The fragments that may go now."""
        while self.waiting and len(self._on_their_way) < self._window:
            if self._again:
                place = self._again.popleft()
            elif self._next < min(self._pieces, self._base + _SPAN):
                place, self._next = self._next, self._next + 1
            else:
                return
            if place >= self._base:
                self._on_their_way[place] = now
                piece = self.waiting[0][1][place * self.room : (place + 1) * self.room]
                yield pack((self._number, place, self._pieces, piece))

    def came(self, number: int, base: int, beyond: int, now: float) -> None:
        """All fragments before `base` have come, and those of which bits are set in `beyond`, the first for `base`."""
        if not self.waiting or number != self._number or base > self._pieces:
            return
        self._base = max(self._base, base)
        if self._base == self._pieces:
            self._ends(now)
            return
        sent = [*self._on_their_way]
        here = [at for at, place in enumerate(sent) if place < base or (beyond >> (place - base)) & 1]
        if not here:
            return
        self._heard, self._late = now, _LATE
        self._again = deque(each for each in self._again if not (beyond >> max(each - base, 0)) & 1)
        known = {*here}
        lost = [at for at in range(here[-1] - _OVERTAKE + 1) if at not in known]
        if any(self._on_their_way[sent[at]] > self._narrowed for at in lost):
            self._narrow(max(self._window / 2, _LEAST), now)
        else:
            grown = len(here) if self._window < self._threshold else len(here) / self._window
            self._window = min(self._window + grown, self.most)
        self._again.extend(sent[at] for at in lost)
        for at in (*here, *lost):
            del self._on_their_way[sent[at]]

    def _narrow(self, window: float, now: float) -> None:
        self._threshold, self._window, self._narrowed = max(self._window / 2, _LEAST), window, now

    def looks(self, now: float, round_trip: float, gives_up: float) -> None:
        """Take what has no answer for lost; and the item, where none has come for so long."""
        if not self.waiting:
            return
        if now - self._heard > gives_up:
            self._ends(now)
        elif self._on_their_way and now - next(iter(self._on_their_way.values())) > max(self._late, 2 * round_trip):
            self._late = min(2 * self._late, _LATEST)
            self._again.extend(self._on_their_way)
            self._on_their_way.clear()
            self._narrow(_LEAST, now)


@define
class _Coming:
    """The large item that comes from one member."""

    _number: int = 0
    _pieces: int = 0
    _base: int = 0
    _highest: int = -1
    _parts: dict[int, bytes] = field(factory=dict)

    def take(self, data: bytes) -> bytes | None:
        """The item that a fragment completes, None if others of it lack. Raises RefusedError."""
        try:
            number, place, pieces, piece = _FRAGMENT.decode(data)
        except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
            raise RefusedError(f"no fragment: {error}") from None
        if number < 1 or not 0 <= place < pieces <= MOST_FRAGMENTS or len(piece) * pieces > LARGEST_ITEM:
            raise RefusedError("no fragment: it has a number, a place among the others, and they are not too many")
        if number > self._number:
            self._number, self._pieces, self._base, self._highest = number, pieces, 0, -1
            self._parts.clear()
        if number < self._number or pieces != self._pieces or self._base == pieces:
            return None
        self._parts[place] = piece
        self._highest = max(self._highest, place)
        while self._base in self._parts:
            self._base += 1
        if self._base < pieces:
            return None
        item = b"".join(self._parts[each] for each in range(pieces))
        self._parts.clear()
        return item

    def answer(self) -> bytes:
        """Which fragments have come."""
        beyond = 0
        for at in range(min(self._highest - self._base + 1, _SPAN)):
            beyond |= (self._base + at in self._parts) << at
        return pack((self._number, self._base, beyond.to_bytes(_SPAN // 8, "little").rstrip(b"\0")))


class Large:
    """The large items of a member. `frame`: the most bytes of a datagram. `room`: those of its items."""

    def __init__(self, room: int) -> None:
        self._room = room
        self.least = _BURST * room
        """An item with more bytes is large."""
        self._sending: dict[Address, _Sending] = {}
        self._coming: dict[Address, _Coming] = {}
        self._to_answer: set[Address] = set()

    @property
    def busy(self) -> bool:
        """True if an item is on its way from here."""
        return bool(self._sending)

    @property
    def held(self) -> int:
        """Members from which an item has come, or comes."""
        return len(self._coming)

    def is_on_its_way(self, to: Address, payload: object) -> bool:
        """True if an item with that very payload goes to a member, or waits for another to it."""
        sending = self._sending.get(to)
        return sending is not None and any(each is payload for each, _ in sending.waiting)

    def add(self, to: Address, payload: object, item: bytes, now: float) -> bool:
        """Have an item sent to a member. False where too much waits: it is lost."""
        most = max(_LEAST, min(_MOST, _MOST_BYTES // self._room))
        return self._sending.setdefault(to, _Sending(self._room, most)).add(payload, item, now)

    def due(self, now: float) -> Iterator[tuple[Address, bytes]]:
        """Fragments that may go now, each for its receiver."""
        for to, sending in self._sending.items():
            for each in sending.due(now):
                yield to, each

    def take(self, sender: Address, data: bytes) -> bytes | None:
        """The item that a fragment completes, None if others of it lack. Raises RefusedError."""
        item = self._coming.setdefault(sender, _Coming()).take(data)
        self._to_answer.add(sender)
        return item

    def answers(self) -> Iterator[tuple[Address, bytes]]:
        """An answer for each member of which fragments have come since the last."""
        while self._to_answer:
            sender = self._to_answer.pop()
            yield sender, self._coming[sender].answer()

    def answered(self, sender: Address, data: bytes, now: float) -> None:
        """Take an answer. Raises RefusedError where it is none."""
        try:
            number, base, beyond = _ANSWER.decode(data)
        except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
            raise RefusedError(f"no answer of fragments: {error}") from None
        if base < 0 or len(beyond) > _SPAN // 8:
            raise RefusedError("no answer of fragments: a place, and bits behind it")
        if sender in self._sending:
            self._sending[sender].came(number, base, int.from_bytes(beyond, "little"), now)

    def looks(self, now: float, round_trip: float, gives_up: float) -> None:
        """Take for lost what has no answer for long."""
        for to, sending in [*self._sending.items()]:
            sending.looks(now, round_trip, gives_up)
            if not sending.waiting:
                del self._sending[to]

    def keep(self, staying: Collection[Address]) -> None:
        """Forget all members but these."""
        for each in [each for each in self._sending if each not in staying]:
            del self._sending[each]
        for each in [each for each in self._coming if each not in staying]:
            del self._coming[each]
            self._to_answer.discard(each)
