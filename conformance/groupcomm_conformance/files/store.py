"""Results of earlier runs, kept by the digest of all that they depend on."""

import hashlib
import json
import logging
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from attrs import frozen

from .errors import reason

_log: Final = logging.getLogger(__name__)
_warned: set[Path] = set()


def replace(path: Path, content: bytes) -> None:
    """Write a file, and its folder, in one step: readers see the old one or the new one, whatever happens."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not by `tempfile`, whose files no other user may read.
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        with draft.open("xb") as file:
            file.write(content)
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def folder_for_results(folder: Path) -> Path:
    """Make the folder where it is missing, and require that no other user can write in it.

    A digest without a key protects against damage alone: a writer there decides what `check` says, and which
    classes TLC's JVM loads. The owner is this user, or the owner of this code, who has other ways.
    OSError where the folder is not so, or cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = folder.stat()
    owners = {os.geteuid(), Path(__file__).stat().st_uid}
    if about.st_uid not in owners or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise OSError("another user owns it or can write in it (so nothing in it is believed: remove it)")
    return folder


@frozen
class Store:
    """One kind of result, each in a file `<folder>/<key>/<name>`.

    A file that is damaged or cut short counts as absent: its first line is the SHA-256 of the rest. A store
    that cannot be written, or that another user can write, is a warning, once: the result is there, it will
    only have to be made again.
    """

    folder: Path
    name: ClassVar[str]

    @classmethod
    def of(cls, root: Path) -> Self:
        """The store of the project at `root`, in `.cache/groupcomm`."""
        return cls(root / ".cache" / "groupcomm")

    def path(self, key: str) -> Path:
        """Where the result with this key is kept."""
        return self.folder / key / self.name

    def read(self, key: str) -> bytes | None:
        """Give what `write` kept under this key; None where there is none, or not what was written."""
        if not self.folder.is_dir():
            return None
        try:
            folder_for_results(self.folder)
        except OSError as error:
            self._warn(error)
            return None
        try:
            digest, _, body = self.path(key).read_bytes().partition(b"\n")
        except OSError:
            return None
        return body if digest == hashlib.sha256(body).hexdigest().encode() else None

    def write(self, key: str, body: bytes) -> None:
        """Keep a result, replacing whatever is there; a warning where that cannot be done."""
        try:
            folder_for_results(self.folder)
            replace(self.path(key), hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        except OSError as error:
            self._warn(error)

    def _warn(self, error: OSError) -> None:
        if self.folder not in _warned:
            _warned.add(self.folder)
            _log.warning("%s cannot be used, as %s: results are not kept", self.folder, reason(error))


class Verdicts(Store):
    """What runs have found that found nothing amiss; anything else is found again."""

    name = "verdict.json"

    def load(self, key: str) -> Any:  # noqa: ANN401 - what `keep` was given
        """Give what is kept under this key, None where nothing is."""
        body = self.read(key)
        return None if body is None else json.loads(body)

    def keep(self, key: str, found: object) -> None:
        """Keep what a run found, as JSON."""
        self.write(key, json.dumps(found).encode())
