"""The records of a group, as FILE_PING asks for them: of members in a folder, or at the places of a list.

A record is a file, named after the address of an incarnation, and names its place. The member that it
names writes it, and no other. It is written aside and takes the place of the former record at once: so it is
there whole or not at all. A file that is no record is broken: it is passed over, and counted. The lock on a
name ends with its process.
"""

import fcntl
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Protocol, TypeAlias

import msgspec
from attrs import field, frozen

from groupcomm.view import Address

from .codec import RefusedError
from .errors import BadInputError, NameTakenError

__all__ = ["Discovery", "Folder", "Peers", "Place", "Reading", "place_of", "places_of"]

Place: TypeAlias = tuple[str, int]
"""A host's address and a port."""

_LARGEST_PORT: Final = 65_535
_FORBIDDEN: Final = frozenset("#/\\\0")
_RECORDS: Final = {"udp": ".member", "tcp": ".tcp-member"}
"""Members with different transports do not find each other."""
_LARGEST_RECORD: Final = 1_000  # bytes


@frozen
class Reading:
    """A reading of the records: where members are, and which records are broken."""

    found: dict[Address, Place] = field(factory=dict)
    broken: frozenset[Address] = frozenset()


class Discovery(Protocol):
    """The records, and where members may be of which there are none."""

    bad: int

    @property
    def greets(self) -> tuple[Place, ...]:
        """Where members may be whose address is not known: they are greeted, and say it."""

    def begin(self, place: Place) -> None:
        """All incarnations of this process are at a place."""

    def write(self, member: Address) -> None:
        """Write the record of an incarnation of this process. It may fail: it is written again."""

    def read(self) -> Reading:
        """Read all records."""

    def place(self, member: Address) -> Place | None:
        """Where the record of a member says that it is, None without one."""

    def remove(self, members: Iterable[Address]) -> None:
        """Remove the records of members, if they are there."""

    def end(self) -> None:
        """This process leaves."""


def place_of(text: str) -> Place:
    """The place that `host:port` names. Raises BadInputError."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > _LARGEST_PORT:
        raise BadInputError(f"{text!r} is no place: it is written host:port, as 127.0.0.1:7801")
    if ":" in host:  # an address that no datagram of ours reaches: such peers would each found a group
        raise BadInputError(f"{text!r} is a place of IPv6, and groups have IPv4: name one as 127.0.0.1:7801")
    return host, int(port)


_read_places: Final = msgspec.msgpack.Decoder(list[tuple[str, str, int]])


def places_of(data: bytes) -> dict[Address, Place]:
    """The places of members that another one names. Raises RefusedError."""
    try:
        found = {member: (host, port) for member, host, port in _read_places.decode(data)}
        for host, _ in found.values():
            ip_address(host)
    except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
        raise RefusedError(f"no places: {error}") from None
    if not all(member and 0 < port <= _LARGEST_PORT for member, (_, port) in found.items()):
        raise RefusedError("no places: a member has an address, and a port is from 1")
    return found


class Peers:
    """Members are at the places of a list. There are no records: who is at a place says it."""

    def __init__(self, peers: Iterable[str]) -> None:
        self.bad = 0
        self.greets: tuple[Place, ...] = tuple(map(place_of, peers))

    def begin(self, place: Place) -> None:
        """A list does not change."""

    def write(self, member: Address) -> None:
        """A list does not change."""

    def read(self) -> Reading:
        return Reading()

    def place(self, member: Address) -> Place | None:
        del member
        return None

    def remove(self, members: Iterable[Address]) -> None:
        """A list does not change."""

    def end(self) -> None:
        """A list does not change."""


class Folder:
    """A file for each member, in a folder that all of them see. `name`: that of this process.

    Raises BadInputError where the folder cannot be written, NameTakenError where a process has the name.
    """

    greets: tuple[Place, ...] = ()

    def __init__(self, folder: Path, name: str, transport: str = "udp") -> None:
        self._record = _RECORDS[transport]
        if not name or set(name) & _FORBIDDEN or name.startswith("."):
            raise BadInputError(
                f"{name!r} is no name: it is not empty, has no # and no /, and begins with no dot"
            )
        self.bad = 0
        self._aside = folder / f".{name}.aside"  # what a killed process of this name left is written over
        self._folder = folder
        self._place: Place | None = None
        self._written: set[Address] = set()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise BadInputError(f"the folder {folder} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._lock, 20, 0).decode(errors="replace").strip()
            os.close(self._lock)
            raise NameTakenError(
                f"the name {name!r} is taken in {folder}: process {holder or 'unknown'} holds it"
            ) from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, str(os.getpid()).encode(), 0)

    def begin(self, place: Place) -> None:
        self._place = place
        try:
            self._write_aside()
            self._aside.unlink()
        except OSError as error:
            raise BadInputError(f"the folder {self._folder} cannot be written: {error.strerror}") from None

    def _write_aside(self) -> None:
        assert self._place is not None  # noqa: S101 - `begin` is the first call
        host, port = self._place
        self._aside.write_text(json.dumps({"host": host, "port": port}), encoding="utf-8")

    def write(self, member: Address) -> None:
        with suppress(OSError):  # the folder is gone, or full, for a while: the group does without it
            self._write_aside()
            self._aside.replace(self._file(member))
            self._written.add(member)

    def read(self) -> Reading:
        found, broken = dict[Address, Place](), set[Address]()
        with suppress(OSError):  # a folder that is gone has no records
            for file in sorted(self._folder.iterdir()):
                member = file.name.removesuffix(self._record)
                if member and member != file.name and not member.startswith("."):
                    place = self.place(member)
                    if place is None:
                        broken.add(member)
                    else:
                        found[member] = place
        self.bad += len(broken)
        return Reading(found, frozenset(broken))

    def place(self, member: Address) -> Place | None:
        try:
            file = self._file(member)
            if not file.is_file():  # a pipe would be read for ever
                return None
            with file.open("rb") as text:
                record = json.loads(text.read(_LARGEST_RECORD))
            host, port = record["host"], record["port"]
            ip_address(host)  # a name would be looked up, and all would wait for that
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return (host, port) if type(port) is int and 0 < port <= _LARGEST_PORT else None

    def remove(self, members: Iterable[Address]) -> None:
        for member in members:
            with suppress(OSError):
                self._file(member).unlink(missing_ok=True)

    def _file(self, member: Address) -> Path:
        return self._folder / f"{member}{self._record}"

    def end(self) -> None:
        """Remove what this process has written, if it is there, and give the name back."""
        self.remove(self._written)
        with suppress(OSError):
            self._aside.unlink(missing_ok=True)
        os.close(self._lock)
