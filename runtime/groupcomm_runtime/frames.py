"""Datagrams: what one member sends to another in one loop turn, sealed with the key of the group.

A datagram is `gc`, the version, a keyed digest of all else, and a body. The digest is BLAKE2b's; of a body of
`_LARGE` bytes or more it is HMAC-SHA-256's, which takes half of the time there. The body has in MessagePack its
sender, the sender's place, its receiver, the number that the sender gave it, and its items. Sender and receiver are
addresses of a single incarnation: no other incarnation takes the datagram. The receiver is "" in a greeting,
which goes to a place where no member is known yet. A member is where its own datagrams say: a stranger who
sends a copy from elsewhere, and is faster, gets nothing.

A member answers a datagram that it cannot open with a refusal: `gr`, its version, the keyed digest that it
refuses, a digest of the group's name, and a seal. A refusal is shorter than that datagram, and no member
answers it. The seal is right where both have the same key, and differ in the version or in the option: then
the refusal is certain. Where the keys differ nothing can be certain, and a stranger can write the same. So
all versions have this form, and this seal.

With `Settings.encrypted` a datagram has, in place of the keyed digest, sixteen bytes that are in no other one:
eight that its sender drew when it joined, and a count. All after them is encrypted, and sealed, by AES-256-GCM. Its key
is a digest of the group's key and those eight bytes, so a key and its nonce are used once.

A datagram is taken once: its number is above all seen numbers, or among the last `_REMEMBERED` and not
seen yet. An item that is larger than a datagram travels in fragments, which name it by its digest. A receiver
that lacks a fragment has nothing of the item, and the protocols send the whole item again: what came of it
before counts.

A pulse (`pulses.py`) is `gp`, the version, a name, the number of a heartbeat, and a keyed digest of all that. It is
the same for all receivers, and is encrypted under no option: there is nothing to read in it.
"""

from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from hmac import compare_digest
from hmac import digest as hmac_digest
from itertools import count
from os import urandom
from typing import TYPE_CHECKING, Final

import msgspec
from attrs import define, field, frozen

from groupcomm.view import Address

from .codec import LARGEST_INTEGER, LONGEST_TEXT, VERSION, RefusedError, pack
from .discovery import Place
from .keys import SHORTEST_KEY

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

EVERYBODY: Final = ""
"""As the receiver of a datagram: whoever is at that place."""

LARGEST_MESSAGE: Final = 16 << 20
"""The bytes of an application's message."""

PLACE: Final = 65_536
"""Bytes of a message for which it takes a place among those on their way. A larger one takes several."""

NAME: Final = 8
"""Bytes of the name in a pulse."""

PULSE: Final = b"gp"
"""The first bytes of a pulse."""

_MAGIC: Final = b"gc"
_REFUSES: Final = b"gr"
_GROUP: Final = 8  # bytes of the digest of its name
_DIGEST: Final = 16
_LARGE: Final = 2_000
_HEAD: Final = len(_MAGIC) + 1 + _DIGEST
_SEALED: Final = _HEAD + _GROUP  # of a refusal: what its seal covers
_REFUSAL: Final = _SEALED + 8
_BEAT: Final = 6  # bytes of the number in a pulse
_PULSE: Final = len(PULSE) + 1 + NAME + _BEAT + _DIGEST
_LARGEST_KEY: Final = 64
_DRAWN: Final = 8  # bytes that a sender draws
_CIPHERS: Final = 256  # of senders, remembered
_REMEMBERED: Final = 1_024
_UNFINISHED: Final = 4 << 20  # bytes of fragments of a sender whose items are not whole yet
_ROOM: Final = 512  # for the head and the addresses in a datagram
_MOST_FRAGMENTS: Final = 256
_LARGEST_ITEM: Final = 1 << 20  # `large.py` has those of more fragments


class StrangerError(RefusedError):
    """A datagram that no holder of the key has sealed."""


class OtherVersionError(RefusedError):
    """A datagram of another version."""


@frozen
class Frame:
    """The contents of a datagram."""

    sender: Address
    place: Place
    to: Address
    number: int
    items: tuple[bytes, ...]


@frozen
class Refusal:
    """A member could not open the datagram with that digest. `certain`: a holder of the key says so."""

    version: int
    digest: bytes
    certain: bool


_decoder: Final = msgspec.msgpack.Decoder(tuple[str, str, int, str, int, tuple[bytes, ...]])


class Seal:
    """Seals datagrams of a group with its key, and opens them. ValueError for a key that is none.

    `option`: all members have the same, or they are strangers. `encrypted`: nobody without the key reads them;
    raises ModuleNotFoundError without the package cryptography. `others`: keys that open datagrams as well.
    """

    def __init__(
        self, key: bytes, group: str, option: str = "", *, encrypted: bool = False, others: Iterable[bytes] = ()
    ) -> None:
        self._others = tuple(Seal(other, group, option, encrypted=encrypted) for other in others)
        if not SHORTEST_KEY <= len(key) <= _LARGEST_KEY:
            raise ValueError(
                f"a key has {SHORTEST_KEY} to {_LARGEST_KEY} bytes, not {len(key)}: `groupcomm key new` makes one"
            )
        option += "\0encrypted" * encrypted
        self._key = blake2b(group.encode() + option.encode(), key=key).digest()
        self._large_key = blake2b(b"\0large%c" % VERSION, key=self._key).digest()
        self._group = blake2b(group.encode(), digest_size=_GROUP).digest()
        self._pulse_key = blake2b(b"\0pulse", key=self._key).digest()
        self._refuses = blake2b(b"\0refusal" + group.encode(), key=key).digest()
        self._encrypted = encrypted
        self._ciphers: dict[bytes, AESGCM] = {}
        if encrypted:
            from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - of the extra `encryption`

            self._not_sealed = InvalidTag
            self._drawn = urandom(_DRAWN)
            self._own = self._cipher(self._drawn)
            self._counts = count(1)

    def close(self, frame: Frame) -> bytes:
        """The datagram."""
        body = pack((frame.sender, *frame.place, frame.to, frame.number, frame.items))
        if self._encrypted:
            nonce = self._drawn + next(self._counts).to_bytes(_DIGEST - _DRAWN)
            return b"%b%c%b%b" % (_MAGIC, VERSION, nonce, self._own.encrypt(nonce[-12:], body, b"%c" % VERSION))
        return b"%b%c%b%b" % (_MAGIC, VERSION, self._digest(body), body)

    def open(self, data: bytes) -> Frame:
        """Return its contents. Raises OtherVersionError, StrangerError, and RefusedError for any other."""
        try:
            return self._opened(data)
        except StrangerError:
            for other in self._others:
                with suppress(StrangerError):
                    return other.open(data)
            raise

    def _opened(self, data: bytes) -> Frame:
        if data[:2] != _MAGIC or len(data) < _HEAD:
            raise StrangerError("no datagram of a group")
        if data[2] != VERSION:
            raise OtherVersionError(f"version {data[2]}, and this is {VERSION}")
        body = self._decrypted(data) if self._encrypted else data[_HEAD:]
        if not self._encrypted and not compare_digest(data[3:_HEAD], self._digest(body)):
            raise StrangerError("sealed with another key")
        try:
            sender, host, port, to, number, items = _decoder.decode(body)
        except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
            raise RefusedError(f"no datagram: {error}") from None
        if not 0 < len(sender) <= LONGEST_TEXT or not 0 < number <= LARGEST_INTEGER:
            raise RefusedError("a datagram has a sender, and a number from 1")
        return Frame(sender, (host, port), to, number, items)

    def _decrypted(self, data: bytes) -> bytes:
        nonce = data[3:_HEAD]
        drawn = nonce[:_DRAWN]
        cipher = self._ciphers.get(drawn) or self._cipher(drawn)
        try:
            body = cipher.decrypt(nonce[-12:], data[_HEAD:], data[2:3])
        except self._not_sealed:
            raise StrangerError("sealed with another key") from None
        if drawn not in self._ciphers:  # that of a holder of the key
            while len(self._ciphers) >= _CIPHERS:
                del self._ciphers[next(iter(self._ciphers))]
            self._ciphers[drawn] = cipher
        return body

    def _cipher(self, drawn: bytes) -> "AESGCM":
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - of the extra `encryption`

        return AESGCM(blake2b(drawn, key=self._key, digest_size=32).digest())

    def pulse(self, name: bytes, number: int) -> bytes:
        """The pulse with this name and number."""
        data = b"%b%c%b%b" % (PULSE, VERSION, name, number.to_bytes(_BEAT))
        return data + blake2b(data, key=self._pulse_key, digest_size=_DIGEST).digest()

    def pulsed(self, data: bytes) -> tuple[bytes, int] | None:
        """The name and the number of a pulse; None of another version, and where no holder of the key has sealed it."""
        said, digest = data[:-_DIGEST], data[-_DIGEST:]
        if len(data) == _PULSE and compare_digest(
            digest, blake2b(said, key=self._pulse_key, digest_size=_DIGEST).digest()
        ):
            return (said[3:-_BEAT], int.from_bytes(said[-_BEAT:])) if said[2] == VERSION else None
        return next((found for other in self._others if (found := other.pulsed(data)) is not None), None)

    @staticmethod
    def digest_of(data: bytes) -> bytes:
        """The digest by which a refusal names a datagram."""
        return data[3:_HEAD]

    def refuse(self, data: bytes) -> bytes | None:
        """The refusal of a datagram that is not opened, None for bytes that are none, and for a refusal."""
        if data[:2] != _MAGIC or len(data) < _REFUSAL:
            return None
        refusal = b"%b%c%b%b" % (_REFUSES, VERSION, self.digest_of(data), self._group)
        return refusal + self._refusal_seal(refusal)

    def refusal(self, data: bytes) -> Refusal | None:
        """The refusal that bytes are, None for others, and for those of another group."""
        if data[:2] != _REFUSES or len(data) != _REFUSAL or data[_HEAD:_SEALED] != self._group:
            return None
        certain = compare_digest(data[_SEALED:], self._refusal_seal(data[:_SEALED]))
        certain = certain or any(found.certain for other in self._others if (found := other.refusal(data)))
        return Refusal(data[2], self.digest_of(data), certain)

    def _refusal_seal(self, refusal: bytes) -> bytes:
        return blake2b(refusal, key=self._refuses, digest_size=_REFUSAL - _SEALED).digest()

    def _digest(self, body: bytes) -> bytes:
        if len(body) >= _LARGE:
            return hmac_digest(self._large_key, body, "sha256")[:_DIGEST]
        return blake2b(b"%c%b" % (VERSION, body), key=self._key, digest_size=_DIGEST).digest()


@define
class Once:
    """Which numbers of a sender were seen."""

    highest: int = 0
    _seen: int = 0  # bit n: `highest` - n

    def first(self, number: int) -> bool:
        """Say whether a number comes for the first time; and it is seen now."""
        if number > self.highest:
            gone = min(number - self.highest, _REMEMBERED)
            self._seen = ((self._seen << gone) | 1) & ((1 << _REMEMBERED) - 1)
            self.highest = number
            return True
        bit = 1 << (self.highest - number) if self.highest - number < _REMEMBERED else 0
        if not bit or self._seen & bit:
            return False
        self._seen |= bit
        return True


_fragment: Final = msgspec.msgpack.Decoder(tuple[bytes, int, int, bytes])


@define
class Fragments:
    """Cuts items for datagrams of at most `size` bytes, and puts together what arrives of a sender."""

    size: int
    _parts: dict[tuple[bytes, int], dict[int, bytes]] = field(factory=dict)
    """Of each item that is not whole its fragments; last the item of which one came last."""
    _bytes: int = 0

    @property
    def room(self) -> int:
        """The bytes of items that a datagram holds."""
        return self.size - _ROOM

    def cut(self, item: bytes) -> list[bytes]:
        """The fragments of an item. ValueError where they would be too many."""
        pieces = [item[at : at + self.room] for at in range(0, len(item), self.room)]
        if len(pieces) > _MOST_FRAGMENTS or len(pieces) * self.room > _LARGEST_ITEM:
            raise ValueError(f"an item of {len(item)} bytes is in too many fragments")
        name = blake2b(item, digest_size=_DIGEST).digest()
        return [pack((name, place, len(pieces), piece)) for place, piece in enumerate(pieces)]

    def join(self, data: bytes) -> bytes | None:
        """The item that a fragment completes, None if others of it lack. Raises RefusedError."""
        try:
            name, place, pieces, piece = _fragment.decode(data)
        except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
            raise RefusedError(f"no fragment: {error}") from None
        if len(name) != _DIGEST or not 0 <= place < pieces <= _MOST_FRAGMENTS:
            raise RefusedError("no fragment: it has a digest of the item, and a place among the others")
        if len(piece) * pieces > _LARGEST_ITEM:
            raise RefusedError(f"no fragment: {pieces} of {len(piece)} bytes are more than {_LARGEST_ITEM}")
        parts = self._parts.pop((name, pieces), {})
        self._bytes += len(piece) - len(parts.get(place, b""))
        parts[place] = piece
        self._parts[name, pieces] = parts
        if len(parts) == pieces:
            self._forget(name, pieces)
            return b"".join(parts[each] for each in range(pieces))
        while self._bytes > _UNFINISHED:
            self._forget(*next(iter(self._parts)))
        return None

    def _forget(self, name: bytes, pieces: int) -> None:
        self._bytes -= sum(map(len, self._parts.pop((name, pieces)).values()))
