"""Places of members, and the addresses of hosts that are named.

A resolver may take a minute, and all members of the process would wait for it. So names are looked up beside
the loop, each by a thread of its own, which ends with its answer. A host has the addresses that were found
last: where a later look finds none, it keeps them.
"""

import asyncio
import logging
import socket
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address
from itertools import chain
from threading import Thread
from typing import Final, TypeAlias

from .errors import BadInputError
from .operations import Operations

Place: TypeAlias = tuple[str, int]
"""A host's address and a port."""

EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - as a member says it of itself
"""Hosts where a process listens at all of its addresses: no datagram goes there."""

_LARGEST_PORT: Final = 65_535
_BROADCAST: Final = ip_address("255.255.255.255")
_RENEWED: Final = 10.0  # seconds from an answer to the next look: an address may change
_TRIED_AGAIN: Final = 1.0  # seconds, where no address was found


def is_place(host: object, port: object) -> bool:
    """True if a datagram can go there: an IP address as text, for a name would be looked up, and a port."""
    return type(host) is str and type(port) is int and 0 < port <= _LARGEST_PORT and _is_address(host)


@lru_cache(maxsize=1_024)  # each member names all others to those that come, with each heartbeat
def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def place_of(what: str, text: str) -> Place:
    """The place that `host:port` names, in the parameter `what`. Raises BadInputError."""
    host, colon, port = text.rpartition(":")
    right = colon and host and port.isascii() and port.isdigit() and int(port) <= _LARGEST_PORT
    try:
        given = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:  # a name
        right = right and ":" not in host
    else:
        if right and given.version != 4:  # noqa: PLR2004 - no datagram of ours gets there: such peers found groups
            raise BadInputError(f"{what}{text!r} is a place of IPv6, and groups have IPv4: name one as 127.0.0.1:7801")
        if right and (given.is_multicast or given == _BROADCAST):
            raise BadInputError(f"{what}{text!r} is no place of one host: name its own address, as 127.0.0.1:7801")
    if not right:
        raise BadInputError(f"{what}{text!r} is no place: it is written host:port, as 127.0.0.1:7801")
    return host, int(port)


class Names:
    """The places of a list, and the addresses of their hosts. `what`: the parameter that has the list."""

    def __init__(self, what: str, places: Iterable[Place], operations: Operations) -> None:
        self._what, self._operations = what, operations
        self._places = tuple(places)
        self._found: dict[Place, tuple[Place, ...]] = {
            (host, port): ((host, port),) for host, port in self._places if is_place(host, 1)
        }
        self._why: dict[Place, str] = {}
        """Of hosts that were looked up in vain the last time."""
        self._first = {each: asyncio.Event() for each in self._places if each not in self._found}
        self._timers: dict[Place, asyncio.TimerHandle] = {}
        self._ended = False

    @property
    def found(self) -> tuple[Place, ...]:
        """The places, by addresses: each once, in the order of the list."""
        return tuple(dict.fromkeys(chain.from_iterable(self._found.get(each, ()) for each in self._places)))

    async def look(self, seconds: float) -> None:
        """Look up the names, and wait up to some seconds for the answers; then look again now and then.

        A host that is not found has a record. BadInputError where none of the list is found: this process
        would found a group, and never find another member.
        """
        for place in self._first:
            self._looks_up(place)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for each in self._first.values():
                    await each.wait()
        for place, first in self._first.items():
            if not first.is_set():
                self._in_vain(place, f"no answer in {seconds:g} seconds")
        if not self.found:
            why = ", ".join(f"{host} ({why})" for (host, _), why in self._why.items())
            raise BadInputError(f"{self._what} names no host that is found: {why}; correct it, or try later")

    def end(self) -> None:
        """Look no more."""
        self._ended = True
        for each in self._timers.values():
            each.cancel()

    def _looks_up(self, place: Place) -> None:
        loop = asyncio.get_running_loop()

        def looks_up() -> None:
            found, why = tuple[Place, ...](), ""
            try:
                answers = socket.getaddrinfo(*place, family=socket.AF_INET, type=socket.SOCK_DGRAM)
                found = tuple((str(address[0]), int(address[1])) for *_, address in answers)
            except (OSError, UnicodeError) as error:
                why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            with suppress(RuntimeError):  # the loop is closed: nobody waits for it
                loop.call_soon_threadsafe(self._answered, place, found, why)

        Thread(target=looks_up, name=f"looks up {place[0]}", daemon=True).start()

    def _answered(self, place: Place, found: tuple[Place, ...], why: str) -> None:
        if self._ended:
            return
        if found:
            self._why.pop(place, None)
            if found != self._found.get(place):
                self._found[place] = found
                self._operations.record("host", host=place[0], addresses=[host for host, _ in found])
        else:
            self._in_vain(place, why)
        self._first[place].set()
        wait = _RENEWED if found else _TRIED_AGAIN
        self._timers[place] = asyncio.get_running_loop().call_later(wait, self._looks_up, place)

    def _in_vain(self, place: Place, why: str) -> None:
        """Write down that a host is not found, once for each reason."""
        if self._why.get(place) != why:
            self._why[place] = why
            self._operations.record("host not found", level=logging.WARNING, host=place[0], why=why)


async def address_of(what: str, place: Place, operations: Operations, seconds: float) -> Place:
    """The place, by an address of its host. Raises BadInputError."""
    names = Names(what, [place], operations)
    try:
        await names.look(seconds)
    finally:
        names.end()
    return names.found[0]
