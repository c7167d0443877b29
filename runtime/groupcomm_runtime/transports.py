"""How sealed frames travel: as datagrams over UDP, or over TCP, each with its length before it.

Both give `Network`, and no more: a frame may be lost. Over TCP what is on a connection that breaks is lost,
and so is a frame for a peer that takes too little. UNICAST and NAKACK send it again.

TCP has a connection for each direction, to places where members are said to be, and to no others. Its first
bytes are `gt`. A refusal goes back on the connection on which the wrong frame came, and nothing else does.
"""

import asyncio
import errno
import resource
import socket
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, Protocol, TypeAlias, cast

from .discovery import Place
from .forks import keep_from_children

Takes: TypeAlias = Callable[[bytes, Place], bytes | None]
"""Takes a frame that arrived from a place. Gives None, or for a frame that no member has sent its refusal,
which may be empty."""

LARGEST_FRAME: Final = 65_536
LARGEST_BUFFER: Final = 4 << 20
"""Bytes that wait for a peer; a frame beyond them is dropped."""

_READ_AT_ONCE: Final = 64  # datagrams in a loop turn
_MAGIC: Final = b"gt"
_LENGTH: Final = 4
_MOST_BACK: Final = 256  # bytes of a refusal
_MOST: Final = 1_024  # connections in each direction, and no more than a quarter of the open files
_SHORTEST_WAIT, _LONGEST_WAIT = 0.05, 1.0  # seconds from a broken connection to the next


class Transport(Protocol):
    """Carries frames between places. `begin` names who takes them: an incarnation after the other."""

    place: Place

    def begin(self, takes: Takes, counts: Counter[str]) -> None:
        """Hand over what arrives from now on."""

    def end(self) -> None:
        """Hand over nothing more."""

    def send(self, data: bytes, place: Place) -> None:
        """Send a frame, which may be lost. OSError where it is lost for certain."""

    def read(self) -> None:
        """Hand over what has arrived: a turn of the loop less."""

    def keep(self, places: set[Place]) -> None:
        """Members are at these places, and at no others any more."""

    def close(self) -> None:
        """Give the place back."""


class Udp:
    """Datagrams, on a socket that is bound."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self.place: Place = sock.getsockname()[:2]
        keep_from_children(self)

    def files(self) -> Iterable[int]:
        yield self._socket.fileno()

    def begin(self, takes: Takes, counts: Counter[str]) -> None:
        self._takes, self._counts = takes, counts
        asyncio.get_running_loop().add_reader(self._socket, self.read)

    def end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)

    def send(self, data: bytes, place: Place) -> None:
        self._socket.sendto(data, place)

    def keep(self, places: set[Place]) -> None:
        """Nothing leads to a place."""

    def close(self) -> None:
        self._socket.close()

    def read(self) -> None:
        for _ in range(_READ_AT_ONCE):
            try:
                data, place = self._socket.recvfrom(LARGEST_FRAME)
            except BlockingIOError:
                return
            except OSError:  # a port that no process has answers so on some systems
                self._counts["unreachable"] += 1
                continue
            if refusal := self._takes(data, place):
                with suppress(OSError):  # it may be lost
                    self._socket.sendto(refusal, place)


class Tcp:
    """Connections, on a socket that listens. `patience`: seconds in which a peer acknowledges bytes."""

    def __init__(self, sock: socket.socket, patience: float) -> None:
        self._socket, self.patience = sock, patience
        self.place: Place = sock.getsockname()[:2]
        self.takes: Takes | None = None
        self.counts: Counter[str] = Counter()
        self.incoming: set[_Incoming] = set()
        self.outgoing: dict[Place, _Outgoing] = {}
        self.closed = False
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.most = _MOST if files == resource.RLIM_INFINITY else min(_MOST, files // 4)
        self._server: asyncio.Server | None = None
        keep_from_children(self)

    def files(self) -> Iterable[int]:
        yield self._socket.fileno()
        connections = [each.connection for each in self.incoming]
        for each in (*connections, *(peer.connection for peer in self.outgoing.values())):
            if each is not None:
                yield each.get_extra_info("socket").fileno()

    async def open(self) -> None:
        """Accept connections."""
        self._server = await asyncio.get_running_loop().create_server(
            lambda: _Incoming(self), sock=self._socket, start_serving=False
        )
        await self._server.start_serving()  # where this is cancelled, `close` ends the server

    def begin(self, takes: Takes, counts: Counter[str]) -> None:
        self.takes, self.counts = takes, counts

    def end(self) -> None:
        self.takes = None

    def send(self, data: bytes, place: Place) -> None:
        peer = self.outgoing.get(place)
        if peer is None:
            if len(self.outgoing) >= self.most:
                self._forget()
            peer = self.outgoing[place] = _Outgoing(self, place)
        peer.send(data)

    def keep(self, places: set[Place]) -> None:
        for place in self.outgoing.keys() - places:
            self.outgoing.pop(place).close()

    def read(self) -> None:
        """The connections are read by the loop."""

    def _forget(self) -> None:
        """Forget a place without a connection. OSError where each has one."""
        for place, peer in self.outgoing.items():
            if peer.idle:
                del self.outgoing[place]
                return
        raise OSError(errno.ENOBUFS, "too many connections")

    def close(self) -> None:
        self.takes, self.closed = None, True
        if self._server is not None:
            self._server.close()
        self._socket.close()
        for each in [*self.incoming]:
            each.close()
        for peer in self.outgoing.values():
            peer.close()
        self.outgoing.clear()


class _Incoming(asyncio.Protocol):
    """A connection that a peer has opened."""

    def __init__(self, owner: Tcp) -> None:
        self._owner, self._buffer = owner, bytearray()
        self.connection: asyncio.Transport | None = None
        self._begun = False
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self.of_member, self.heard = False, self._loop.time()
        """It has brought a frame of a member, and when the last one came."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.connection = cast("asyncio.Transport", transport)
        self._from: Place = self.connection.get_extra_info("peername")[:2]
        self._owner.incoming.add(self)
        if self._owner.closed:  # it was accepted before the socket was closed, and is made after it
            self.close()
            return
        self._waits_for_a_frame()
        if len(self._owner.incoming) > self._owner.most:
            self._owner.counts["connections too many"] += 1
            min(self._owner.incoming, key=lambda each: (each.of_member, each.heard)).close()

    def _waits_for_a_frame(self) -> None:
        """Close it where no frame of a member comes within the patience: a member has heartbeats."""
        now = self._loop.time()
        if now - self.heard < self._owner.patience:
            self._timer = self._loop.call_later(self.heard + self._owner.patience - now, self._waits_for_a_frame)
            return
        self._owner.counts["connections silent"] += 1
        self.close()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._all_taken():
            self._owner.counts["connections refused"] += 1
            self.close()

    def _all_taken(self) -> bool:
        """Take the frames that are whole. False where the bytes are none of a member."""
        held, at = self._buffer, 0
        if not self._begun:
            if held[: len(_MAGIC)] != _MAGIC[: len(held)]:
                return False
            if len(held) < len(_MAGIC):
                return True
            self._begun, at = True, len(_MAGIC)
        while len(held) - at >= _LENGTH:
            length = int.from_bytes(held[at : at + _LENGTH])
            if not 0 < length <= LARGEST_FRAME:
                return False
            end = at + _LENGTH + length
            if end > len(held):
                break
            takes = self._owner.takes
            refusal = None if takes is None else takes(bytes(held[at + _LENGTH : end]), self._from)
            if refusal is not None:
                self._refuse(refusal)
                return False
            at = end
            self.of_member, self.heard = True, self._loop.time()
        del held[:at]
        return True

    def _refuse(self, refusal: bytes) -> None:
        if refusal and self.connection is not None:
            self.connection.write(len(refusal).to_bytes(_LENGTH) + refusal)

    def connection_lost(self, _error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._owner.incoming.discard(self)
        self._buffer.clear()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.abort()


class _Outgoing(asyncio.Protocol):
    """The connection to a place, opened at a frame, and again at the next one when it is broken."""

    def __init__(self, owner: Tcp, place: Place) -> None:
        self._owner, self._place = owner, place
        self._loop = asyncio.get_running_loop()
        self.connection: asyncio.Transport | None = None
        self._opening: asyncio.Task[None] | None = None
        self._waiting = bytearray()  # while it is opened
        self._back = bytearray()
        self._wait, self._not_before = _SHORTEST_WAIT, 0.0

    @property
    def idle(self) -> bool:
        return self.connection is None and self._opening is None

    def send(self, data: bytes) -> None:
        transport = self.connection
        held = len(self._waiting) if transport is None else transport.get_write_buffer_size()
        if held + _LENGTH + len(data) > LARGEST_BUFFER:
            raise OSError(errno.ENOBUFS, "the peer takes too little")
        frame = len(data).to_bytes(_LENGTH) + data
        if transport is not None:
            transport.write(frame)
            return
        if self._opening is None:
            if self._loop.time() < self._not_before:
                raise OSError(errno.ENOTCONN, "the connection is broken")
            self._opening = self._loop.create_task(self._open())
        self._waiting += frame

    async def _open(self) -> None:
        try:
            async with asyncio.timeout(self._owner.patience):
                await self._loop.create_connection(lambda: self, *self._place, local_addr=(self._owner.place[0], 0))
        except (OSError, TimeoutError):
            self._broken()
        finally:
            self._opening = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.connection = cast("asyncio.Transport", transport)
        with suppress(OSError, AttributeError):  # else a link that is cut is noticed after minutes
            sock = self.connection.get_extra_info("socket")
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1_000 * self._owner.patience))
        self._back.clear()
        self.connection.write(_MAGIC + self._waiting)
        self._waiting.clear()

    def data_received(self, data: bytes) -> None:
        """A refusal comes in this direction, and closes the connection, as anything else does."""
        self._back += data
        end = _LENGTH + int.from_bytes(self._back[:_LENGTH])
        if len(self._back) < _LENGTH or len(self._back) < end <= _MOST_BACK:
            return
        if len(self._back) == end and self._owner.takes is not None:
            self._owner.takes(bytes(self._back[_LENGTH:]), self._place)
        self.close()

    def connection_lost(self, _error: Exception | None) -> None:
        self.connection = None
        self._broken()

    def _broken(self) -> None:
        self._owner.counts["connections broken"] += 1
        now = self._loop.time()
        lately = now - self._not_before < 2 * _LONGEST_WAIT
        self._wait = min(2 * self._wait, _LONGEST_WAIT) if lately else _SHORTEST_WAIT
        self._not_before = now + self._wait
        self._waiting.clear()

    def close(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
        if self.connection is not None:
            self.connection.abort()
