"""Checks that a place can be written, before the work whose result goes there."""

import tempfile
from pathlib import Path

from .errors import PathError, reason

_REMEDY = "name another place with --out"


def require_folder(folder: Path, remedy: str = _REMEDY) -> None:
    """Refuse, as a PathError, a folder in which no file could be made; leaves nothing behind.

    The folder need not be there yet: then the nearest one above it is asked.
    """
    there = folder.absolute()
    try:
        while not there.exists():
            there = there.parent
        if not there.is_dir():
            what = "it" if there == folder.absolute() else str(there)
            raise PathError(folder, f"{what} is a file, not a folder", remedy)
        with tempfile.TemporaryFile(dir=there):
            pass
        longest = max((len(part.encode()) for part in folder.parts), default=0)
    except OSError as error:
        raise PathError(folder, f"nothing can be written in it, as {reason(error)}", remedy) from None
    if longest > _LONGEST:
        raise PathError(folder, "the name is too long", remedy)


_LONGEST = 255
"""Bytes of a name in a folder, on all usual systems."""


def require_file(file: Path, remedy: str = _REMEDY) -> None:
    """Refuse, as a PathError, a file that could not be written."""
    require_folder(file.parent, remedy)
    if file.is_dir():
        raise PathError(file, "it is a folder, not a file", remedy)
