"""The record of a name: what its next incarnation knows of the former ones.

It is a file of JSON beneath a line with its digest. It is written aside, is on the disk, and only then takes the
place of the former record: so it is there whole. A lost record counts as none, and a copy of an old one may let
two parts of a group deliver: `docs/runtime.md`.
"""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from groupcomm.view import View, ViewId

from .errors import BadInputError

LARGEST: Final = 1 << 20
"""Bytes of a record: 100 views of some 500 members."""
_FORMAT: Final = 1


@frozen
class Record:
    """`life`: the number of the last incarnation, from 0. `attempts`: of SEQUENCER, which has the option majority.

    `joined`: an incarnation with that option was in a view.
    """

    life: int = 0
    joined: bool = False
    attempts: tuple[View, ...] = ()


NO_RECORD: Final = Record()


def encoded(record: Record, group: str, name: str) -> bytes:
    """The content of the file."""
    views = [[view.id.counter, view.id.creator, view.members] for view in record.attempts]
    whole = {"format": _FORMAT, "group": group, "name": name, "life": record.life, "joined": record.joined}
    text = json.dumps(whole | {"attempts": views}).encode()
    return hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def decoded(data: bytes, group: str, name: str) -> Record:
    """The record in a file. Raises ValueError with the reason where it is none, or another's."""
    digest, _, text = data.partition(b"\n")
    if hashlib.sha256(text).hexdigest().encode() != digest:
        raise ValueError("it is cut off, or was changed")
    whole: dict[str, Any] = json.loads(text)
    if whole["format"] != _FORMAT:
        raise ValueError(f"it has the format {whole['format']}, and this release reads {_FORMAT}")
    if (whole["group"], whole["name"]) != (group, name):
        raise ValueError(f"it is of {whole['name']!r} in the group {whole['group']!r}")
    views = (View(ViewId(counter, creator), tuple(members)) for counter, creator, members in whole["attempts"])
    return Record(whole["life"], whole["joined"], tuple(views))


def read(file: Path, group: str, name: str) -> Record:
    """The record in a file, `NO_RECORD` where there is none. Raises BadInputError for another file."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return NO_RECORD
    except OSError as error:
        raise BadInputError(f"the record {file} cannot be read: {error.strerror}") from None
    try:
        return decoded(data[:LARGEST], group, name)
    except ValueError as error:
        raise BadInputError(
            f"the record {file} is no record of {name!r}: {error}. If no copy is as new, remove it: "
            "then this member counts as new, and founds no group that was founded before"
        ) from None


def sync(folder: Path) -> None:
    """Have the names of the files in a folder on the disk. Raises OSError."""
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def write(file: Path, record: Record, group: str, name: str) -> None:
    """Have a record on the disk. Raises BadInputError where that is not possible."""
    aside = file.with_name(f".{file.name}.aside")
    try:
        with suppress(FileExistsError):  # all that was in the folder may be gone
            file.parent.mkdir(mode=0o700)
        aside.unlink(missing_ok=True)
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(encoded(record, group, name))
            out.flush()
            os.fsync(out.fileno())
        aside.replace(file)
        sync(file.parent)
    except OSError as error:
        raise BadInputError(
            f"the record {file} cannot be written: {error.strerror}. This member leaves before it says what it would "
            "forget: see that the disk has room and the folder can be written"
        ) from error
