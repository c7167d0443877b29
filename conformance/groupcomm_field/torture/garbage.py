"""Bytes that a member of a group must refuse."""

import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

from groupcomm.view import Address
from groupcomm_runtime.codec import pack
from groupcomm_runtime.discovery import Place
from groupcomm_runtime.frames import Frame, Seal

from .member import GROUP, KEY

_FLOOD: Final = 500  # datagrams
_CONNECTIONS: Final = 50
_IDLE: Final = 300
_SECONDS: Final = 2.0  # that a connection may take


def flood(dice: random.Random, place: Place, to: Address | None, *, tcp: bool = False) -> None:
    """Send 500 datagrams to a place: random bytes, or with an address strange ones. With `tcp` on 50 connections."""
    datagrams = (
        random_bytes(dice, 300) if to is None else _strange_datagram(dice, place, to, number)
        for number in range(1, _FLOOD + 1)
    )
    if not tcp:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for each in datagrams:
                sock.sendto(each, place)
        return
    for _ in range(_CONNECTIONS):
        with suppress(OSError), socket.create_connection(place, _SECONDS) as sock:  # it may be closed on the way
            sock.sendall(b"gt" * (to is not None))
            for each in islice(datagrams, _FLOOD // _CONNECTIONS):
                sock.sendall(each if to is None else len(each).to_bytes(4) + each)


def idle(place: Place) -> list[socket.socket]:
    """Open 300 connections, which bring nothing."""
    return [socket.create_connection(place, _SECONDS) for _ in range(_IDLE)]


def random_bytes(dice: random.Random, most: int) -> bytes:
    """Return fewer than `most` bytes."""
    return dice.randbytes(dice.randrange(most))


def _strange_datagram(dice: random.Random, place: Place, to: Address, number: int) -> bytes:
    """A datagram of another key, of another version, or of the right key with an item that is none."""
    items = tuple(_items(dice))
    frame = Frame("z#1", place, to, number, items)
    match dice.randrange(3):
        case 0:
            return Seal(b"what other members know", GROUP).close(frame)
        case 1:
            data = bytearray(Seal(KEY, GROUP).close(frame))
            data[2] ^= 1 << dice.randrange(8)
            return bytes(data)
        case _:
            return Seal(KEY, GROUP).close(frame)


def _items(dice: random.Random) -> Iterator[bytes]:
    for _ in range(dice.randrange(1, 4)):
        yield dice.choice(
            (
                b"",
                random_bytes(dice, 80),
                b"m" + random_bytes(dice, 80),
                b"f" + random_bytes(dice, 80),
                b"h" + random_bytes(dice, 88),
                b"m" + pack([dice.randrange(9), dice.randrange(9), [dice.randrange(9)]]),
            )
        )
