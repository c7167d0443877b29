"""Keys of groups: made from chance, kept in files of a single reader, or derived from a text."""

import os
import secrets
import stat
from contextlib import suppress
from hashlib import scrypt
from pathlib import Path
from typing import Final

from .errors import BadInputError

SHORTEST_KEY: Final = 16
"""Bytes of a key: a stranger tries 10^5 keys a second on a datagram that he has seen."""

_LARGEST: Final = 4_096  # bytes of a file


def new_key() -> str:
    """A key of 32 bytes from chance, as 64 hexadecimal digits."""
    return secrets.token_hex(32)


def derived(text: str, group: str) -> bytes:
    """The key that a text is in a group, by scrypt: each guess takes 16 MB and some 50 ms.

    Raises ValueError for a text that is too short.
    """
    secret = text.encode()
    if len(secret) < SHORTEST_KEY:
        raise ValueError(f"a key has {SHORTEST_KEY} bytes at least, not {len(secret)}: `groupcomm key new` makes one")
    return scrypt(secret, salt=group.encode(), n=2**14, r=8, p=1, dklen=32)


def write_key(file: Path) -> None:
    """Write a new key to a new file of mode 0600: whole, or not at all. FileExistsError where it is there."""
    aside = file.with_name(f".{file.name}.{os.getpid()}")
    aside.unlink(missing_ok=True)
    with open(aside, "x", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as new:
        new.write(new_key() + "\n")
    try:
        os.link(aside, file)
    finally:
        aside.unlink()


def key_in(file: Path | str) -> str:
    """The key in a file, for `join`. Where there is no file, a new key is written first, for this user alone.

    Raises BadInputError where other users can read or write the file, or it cannot be read or made.
    """
    file = Path(file)
    try:
        if not os.path.lexists(file):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):  # another process of this user was faster
                write_key(file)
        opened = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(opened, "rb") as text:
            about = os.fstat(opened)
            if not stat.S_ISREG(about.st_mode):
                raise BadInputError(f"the key {file} is no regular file")
            if about.st_uid != os.geteuid() or about.st_mode & 0o077:
                raise BadInputError(
                    f"the key {file} is not of this user alone (user {about.st_uid}, mode "
                    f"{about.st_mode & 0o777:o}): it may be known. Make another, of mode 600"
                )
            return text.read(_LARGEST).decode().strip()
    except UnicodeDecodeError:
        raise BadInputError(f"the key {file} is no text") from None
    except OSError as error:
        raise BadInputError(f"the key {file} cannot be used: {error.strerror}") from None
