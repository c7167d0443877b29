"""Where other members may be: a list of places, or a folder with a file for each member.

A file is written aside and renamed, so it is there whole or not at all. Only its writer removes it. A file
that is no record is passed over, and counted. The lock on a name goes with its process.
"""

import fcntl
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from .errors import BadInputError, NameTakenError

__all__ = ["Discovery", "Folder", "Peers", "Place", "place_of"]

Place: TypeAlias = tuple[str, int]
"""A host's address and a port."""

_LARGEST_PORT: Final = 65_535
_FORBIDDEN: Final = frozenset("#/\\\0")


class Discovery(Protocol):
    """Where others may be."""

    bad: int

    def begin(self, place: Place) -> None:
        """This member is at a place from now on."""

    def places(self) -> Iterable[Place]:
        """Where others may be now, this member too."""

    def end(self) -> None:
        """This member leaves."""


def place_of(text: str) -> Place:
    """The place that `host:port` names. Raises BadInputError."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > _LARGEST_PORT:
        raise BadInputError(f"{text!r} is no place: it is written host:port, as 127.0.0.1:7801")
    return host, int(port)


class Peers:
    """The places are a list."""

    def __init__(self, peers: Iterable[str]) -> None:
        self.bad = 0
        self._places = tuple(map(place_of, peers))

    def begin(self, place: Place) -> None:
        """A list does not change."""

    def places(self) -> Iterable[Place]:
        return self._places

    def end(self) -> None:
        """A list does not change."""


class Folder:
    """A file for each member, in a folder that all of them see. `name`: that of this member.

    Raises BadInputError where the folder cannot be written, NameTakenError where a process has the name.
    """

    def __init__(self, folder: Path, name: str) -> None:
        if not name or set(name) & _FORBIDDEN or name.startswith("."):
            raise BadInputError(
                f"{name!r} is no name: it is not empty, has no # and no /, and begins with no dot"
            )
        self.bad = 0
        self._file = folder / f"{name}.member"
        self._folder = folder
        self._place: Place | None = None
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
        aside = self._folder / f".{self._file.name}.{os.getpid()}"
        try:
            aside.write_text(json.dumps({"host": place[0], "port": place[1]}), encoding="utf-8")
            aside.replace(self._file)
        except OSError as error:
            raise BadInputError(f"the folder {self._folder} cannot be written: {error.strerror}") from None

    def places(self) -> Iterable[Place]:
        """The places of all records. A record of the own that is gone is written again."""
        if self._place is not None and not self._file.exists():
            with suppress(BadInputError):  # the folder is gone for a while: the group needs no folder
                self.begin(self._place)
        found = []
        for file in sorted(self._folder.glob("*.member")):
            try:
                record = json.loads(file.read_text(encoding="utf-8"))
                host, port = record["host"], record["port"]
                if type(host) is not str or type(port) is not int or not 0 < port <= _LARGEST_PORT:
                    raise ValueError("no place")
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                self.bad += 1
            else:
                found.append((host, port))
        return found

    def end(self) -> None:
        """Remove the own record, and give the name back."""
        self._file.unlink(missing_ok=True)
        os.close(self._lock)
