"""Results of earlier runs, kept by the digest of all that they depend on."""

import hashlib
import logging
import secrets
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Final, Self

from attrs import frozen

from .errors import reason

__all__ = ["Store", "replace"]

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


@frozen
class Store:
    """One kind of result, each in a file `<folder>/<key>/<name>`.

    A file that is damaged or cut short counts as absent: its first line is the SHA-256 of the rest. A store
    that cannot be written is a warning, once: the result is there, it will only have to be made again.
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
        try:
            digest, _, body = self.path(key).read_bytes().partition(b"\n")
        except OSError:
            return None
        return body if digest == hashlib.sha256(body).hexdigest().encode() else None

    def write(self, key: str, body: bytes) -> None:
        """Keep a result, replacing whatever is there; a warning where that cannot be done."""
        try:
            replace(self.path(key), hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        except OSError as error:
            if self.folder not in _warned:
                _warned.add(self.folder)
                why = reason(error)
                _log.warning("%s cannot be written, as %s: results are not kept", self.folder, why)
