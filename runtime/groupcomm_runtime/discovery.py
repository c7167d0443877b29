"""The records of a group, as FILE_PING asks for them: of members in a folder, or at the places of a list.

A group has a folder of its own in the folder that is named, with the records and locks of its members. A
record is a file, named after the address of an incarnation, and names its place. The member that it
names writes it, and no other. It is written aside and takes the place of the former record at once: so it is
there whole or not at all. A file that is no record is broken: it is passed over, and counted. The lock on a
name ends with its process.

A folder serves one user: it is that user's, and no other user can write in it. A link or a pipe is never
followed, written or waited for, whoever made it.
"""

import errno
import fcntl
import glob
import json
import os
import random
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote

import msgspec
from attrs import field, frozen

from groupcomm.view import Address

from . import records
from .codec import LONGEST_TEXT, RefusedError
from .errors import BadInputError, NameTakenError
from .forks import keep_from_children
from .operations import Operations
from .places import EVERYWHERE, Names, Place, is_place, place_of
from .records import NO_RECORD, Record

__all__ = [
    "EVERYWHERE",
    "Discovery",
    "Folder",
    "Peers",
    "Place",
    "Reading",
    "folder_of",
    "is_place",
    "place_of",
    "places_of",
    "refuse_name",
]

_FORBIDDEN: Final = frozenset("#/\\\0")
_RECORDS: Final = {"udp": ".member", "tcp": ".tcp-member"}
"""Members with different transports do not find each other."""
_OF_NAME: Final = ".record"
"""What a name knows of its former incarnations (`Record`). It stays when they are gone."""
_FOUNDER: Final = "founder"
"""The name that has founded the group with majority. The system makes one such file."""
_LARGEST_RECORD: Final = 1_000  # bytes
_MOST_RECORDS: Final = 500  # of a reading: the loop waits for it
_LONGEST_NAME: Final = 200  # bytes: a file's name has room for it, a number and a suffix
_OWN_FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""To open a file in a folder: a link is refused, and a pipe is not waited for."""


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

    async def look(self, seconds: float) -> None:
        """Find first, within some seconds, which addresses the hosts of a list have. Raises BadInputError."""

    def begin(self, place: Place) -> None:
        """All incarnations of this process are at a place."""

    def write(self, member: Address) -> None:
        """Write the record of an incarnation of this process, unless it is there. It may fail: it is written again."""

    def read(self) -> Reading:
        """Read all records."""

    def place(self, member: Address) -> Place | None:
        """Where the record of a member says that it is, None without one."""

    def remove(self, members: Iterable[Address]) -> None:
        """Remove the records of members, if they are there."""

    def recall(self) -> Record:
        """The record of the own name. Raises BadInputError for a broken one."""

    def remember(self, record: Record) -> None:
        """Have the record of the own name on the disk, if there is one. Raises BadInputError."""

    def claim(self) -> str | None:
        """Found the group, which one process does. Gives who did it before, None if this one does it now.

        Raises BadInputError where it cannot be written.
        """

    def end(self) -> None:
        """This process leaves."""


def refuse_name(name: str) -> None:
    """Raise BadInputError for a name that no record can have."""
    if not name or set(name) & _FORBIDDEN or name.startswith("."):
        raise BadInputError(f"name={name!r} is no name: it is not empty, has no # and no /, and begins with no dot")
    if not _names_file(name) or len(name.encode()) > _LONGEST_NAME:
        raise BadInputError(f"name={name[:20]!r}... is no name: it has up to {_LONGEST_NAME} bytes of UTF-8")


def folder_of(group: str) -> str:
    """The name of a group's folder, which two groups never share. Raises BadInputError."""
    name = f"{quote(group, safe=' ')}.group"
    if len(name) > _LONGEST_NAME:
        raise BadInputError(
            f"the group's name {group[:20]!r}... has {len(name)} bytes as that of a folder, and up to "
            f"{_LONGEST_NAME} are allowed: take a shorter one, or find members by peers="
        )
    return name


def _names_file(name: str) -> bool:
    """True if a file of a folder can have a name, and the name is text: that of a file may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return not set(name) & {"/", "\0"}


_read_places: Final = msgspec.msgpack.Decoder(list[tuple[str, str, int]])


def places_of(data: bytes) -> dict[Address, Place]:
    """The places of members that another one names. Raises RefusedError."""
    try:
        found = {member: (host, port) for member, host, port in _read_places.decode(data)}
    except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError) as error:
        raise RefusedError(f"no places: {error}") from None
    if not all(0 < len(member) <= LONGEST_TEXT and is_place(*place) for member, place in found.items()):
        raise RefusedError("no places: a member has an address, and a place is an IP address and a port from 1")
    return found


class Peers:
    """Members are at the places of a list. There are no records: who is at a place says it.

    `operations`: where it is written that a host is not found.
    """

    def __init__(self, peers: Iterable[str], operations: Operations) -> None:
        self.bad = 0
        places = [place_of("peers=", each) for each in peers]
        for host, port in places:
            if host in EVERYWHERE or not port:
                raise BadInputError(f"peers= has {host}:{port}, where no member can be: name an address and a port")
        self._names = Names("peers=", places, operations)
        self._record = NO_RECORD
        """It ends with the process, as a list has no disk."""

    @property
    def greets(self) -> tuple[Place, ...]:
        return self._names.found

    async def look(self, seconds: float) -> None:
        await self._names.look(seconds)

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

    def recall(self) -> Record:
        return self._record

    def remember(self, record: Record) -> None:
        self._record = record

    def claim(self) -> None:
        """Who is at no place of a list may have founded the group all the same."""

    def end(self) -> None:
        self._names.end()


class Folder:
    """A file for each member of a group, in a folder that all of them see. `name`: that of this process.

    Raises BadInputError where the folder cannot be written, or has a later era of the group. Raises
    NameTakenError where a process has the name.
    """

    greets: tuple[Place, ...] = ()

    def __init__(self, folder: Path, group: str, name: str, transport: str = "udp", era: int = 0) -> None:
        self._record = _RECORDS[transport]
        refuse_name(name)
        self.bad = 0
        first = folder / folder_of(group)
        self._folder = own = first.with_suffix(f".era{era}") if era else first
        self._group, self._name = group, name
        self._aside = own / f".{name}.aside"  # what a killed process of this name left is removed
        self._place: Place | None = None
        self._written: dict[Address, tuple[int, ...]] = {}
        try:
            _refuse_former_era(first, era)
            for each in (folder, own):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
                _refuse_folder(each)
            self._lock = os.open(own / f"{name}.lock", os.O_RDWR | os.O_CREAT | _OWN_FILE, 0o600)
        except OSError as error:
            raise BadInputError(f"the folder {folder} cannot be written: {error.strerror}") from None
        try:
            about = os.fstat(self._lock)
            if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1 or about.st_uid != os.geteuid():
                raise BadInputError(f"{own / name}.lock is no lock of a group: see who made it, and remove it")
            os.fchmod(self._lock, 0o600)  # who can open it can hold it
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise NameTakenError(f"the name {name!r} is taken in {folder}: {_holder(about)} holds it") from None
            except OSError as error:
                raise BadInputError(f"the folder {folder} has no locks: {error.strerror}") from None
        except BaseException:
            os.close(self._lock)
            raise
        keep_from_children(self)

    def files(self) -> Iterable[int]:
        yield self._lock

    async def look(self, seconds: float) -> None:
        """Records have addresses."""

    def begin(self, place: Place) -> None:
        if place[0] in EVERYWHERE:
            raise BadInputError(
                f"listen='{place[0]}:{place[1]}' is no place that a record can name to others: with folder= "
                "name an address of this host at which they reach it, or find members by peers="
            )
        self._place = place
        self._written = dict.fromkeys(self._written, ())
        try:
            self._write_aside()
            self._aside.unlink()
        except OSError as error:
            raise BadInputError(f"the folder {self._folder} cannot be written: {error.strerror}") from None

    def _write_aside(self) -> None:
        assert self._place is not None  # noqa: S101 - `begin` is the first call
        host, port = self._place
        with suppress(FileExistsError):  # all that was in the folder may be gone
            self._folder.mkdir(mode=0o700)
        self._aside.unlink(missing_ok=True)
        with open(self._aside, "x", encoding="utf-8", opener=_private) as file:
            json.dump({"host": host, "port": port}, file)

    def write(self, member: Address) -> None:
        file = f"{self._folder}/{member}{self._record}"
        if self._written.get(member) == _about(file) != ():  # as with nearly all heartbeats
            return
        with suppress(OSError):  # the folder is gone, or full, for a while: the group does without it
            self._write_aside()
            self._aside.replace(file)
            self._written[member] = _about(file)

    def read(self) -> Reading:
        """Read up to 500 records; of more, others each time, so that all come. The rest is counted as bad."""
        found, broken = dict[Address, Place](), set[Address]()
        names: list[str] = []
        with suppress(OSError):  # a folder that is gone has no records
            names = sorted(file.name for file in self._folder.iterdir() if file.suffix == self._record)
        some = names if len(names) <= _MOST_RECORDS else random.sample(names, _MOST_RECORDS)
        self.bad += len(names) - len(some)
        for name in some:
            member = name.removesuffix(self._record)
            if not member or member.startswith("."):
                continue
            place = self.place(member)
            if place is not None:
                found[member] = place
                continue
            self.bad += 1
            if _names_file(member):
                broken.add(member)
        return Reading(found, frozenset(broken))

    def place(self, member: Address) -> Place | None:
        if not _names_file(member):
            return None
        try:
            with open(self._file(member), "rb", opener=_whole_file) as text:
                record = json.loads(text.read(_LARGEST_RECORD))
            host, port = record["host"], record["port"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return (host, port) if is_place(host, port) and host not in EVERYWHERE else None

    def remove(self, members: Iterable[Address]) -> None:
        for member in filter(_names_file, members):
            with suppress(OSError):
                self._file(member).unlink(missing_ok=True)

    def _file(self, member: Address) -> Path:
        return self._folder / f"{member}{self._record}"

    def _record_of(self, name: str) -> Path:
        return self._folder / f"{name}{_OF_NAME}"

    def recall(self) -> Record:
        return records.read(self._record_of(self._name), self._group, self._name)

    def remember(self, record: Record) -> None:
        records.write(self._record_of(self._name), record, self._group, self._name)

    def claim(self) -> str | None:
        file = self._folder / _FOUNDER
        try:
            with open(file, "xb", opener=_private) as own:
                own.write(self._name.encode())
                own.flush()
                os.fsync(own.fileno())
            records.sync(self._folder)
        except FileExistsError:
            with open(file, "rb", opener=_whole_file) as other:
                return f"{other.read(_LARGEST_RECORD).decode(errors='replace')!r} has founded it, says {file}"
        except OSError as error:
            raise BadInputError(f"the folder {self._folder} cannot be written: {error.strerror}") from error
        return None

    def end(self) -> None:
        """Remove what this process has written, if it is there, and give the name back."""
        self.remove(self._written)
        with suppress(OSError):
            self._aside.unlink(missing_ok=True)
        lock, self._lock = self._lock, -1
        os.close(lock)


def _refuse_former_era(first: Path, era: int) -> None:
    """Raise BadInputError where an operator has declared a later era of the group, as its folder says."""
    eras = (each.suffix.removeprefix(".era") for each in first.parent.glob(f"{glob.escape(first.stem)}.era*"))
    last = max((int(each) for each in eras if each.isdecimal()), default=0)
    if last > era:
        raise BadInputError(
            f"era={era}, and {first.parent} has the era {last} of this group: give era={last}. What this member alone "
            "has of the former era was given up"
        )


def _refuse_folder(folder: Path) -> None:
    """Raise BadInputError where another user made the folder, or a link to it, or can write in it."""
    about = folder.stat()
    for uid in (folder.lstat().st_uid, about.st_uid):
        if uid != os.geteuid():
            raise BadInputError(
                f"the folder {folder} is of the user {uid}, and not of {os.geteuid()}, who joins: "
                "name a folder of your own, or find members by peers="
            )
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadInputError(
            f"other users can write in the folder {folder} (mode {about.st_mode & 0o777:o}): "
            "take that right away (chmod go-w), or name another"
        )


def _about(path: str) -> tuple[int, ...]:
    """Number, time and size of a file, () if there is none: a file that takes its place has others."""
    try:
        about = os.lstat(path)
    except OSError:
        return ()
    return about.st_ino, about.st_mtime_ns, about.st_size


def _private(path: str, flags: int) -> int:
    """Open a new file that no other user reads."""
    return os.open(path, flags | _OWN_FILE, 0o600)


def _whole_file(path: str, flags: int) -> int:
    """Open a file that ends. OSError for a link, a pipe, a device and a folder."""
    file = os.open(path, flags | _OWN_FILE)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
    except OSError:
        os.close(file)
        raise
    return file


def _holder(about: os.stat_result) -> str:
    """The process that holds the lock on a file, by the system: a number in the file may be another's.

    The system's list has the process that took the lock, which may have ended and left it to a child.
    """
    of = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    with suppress(OSError, IndexError):  # other systems have no such file
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            fields = line.split()
            if fields[1] == "FLOCK" and fields[5] == of and int(fields[4]) > 0:
                took = int(fields[4])
                heirs = () if Path(f"/proc/{took}").exists() else _have_lock(of)
                return f"process {next(iter(heirs), took)}"
    return "a process that this system does not name"


def _have_lock(of: str) -> Iterable[int]:
    """The processes of this user of which a file, as it is open there, has the lock on an inode."""
    for info in Path("/proc").glob("[0-9]*/fdinfo/*"):
        with suppress(OSError):  # it has ended since, or is another user's
            if any(
                line.startswith("lock:") and " FLOCK " in line and f" {of} " in line
                for line in info.read_text(encoding="ascii").splitlines()
            ):
                yield int(info.parts[2])
