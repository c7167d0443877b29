"""Where the project is."""

from pathlib import Path

__all__ = ["find_root"]


def find_root(start: Path | None = None) -> Path:
    """Find the project: the nearest folder, from `start` up, that has `spec` and `conformance`.

    `start` is the current folder by default, and after it the folder that this module lies in.
    FileNotFoundError where there is none.
    """
    starts = [Path.cwd(), Path(__file__).parent] if start is None else [start]
    for first in starts:
        for folder in (first.absolute(), *first.absolute().parents):
            if (folder / "spec").is_dir() and (folder / "conformance").is_dir():
                return folder
    message = "no folder from here up is the project: it has the folders spec and conformance"
    raise FileNotFoundError(message)
