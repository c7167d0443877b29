"""Where the project is."""

from pathlib import Path

__all__ = ["find_root"]


def find_root(start: Path | None = None) -> Path:
    """Find the project: the nearest folder, from `start` up, that has specifications, `spec/*/*.tla`.

    `start` is the current folder by default, and after it the folder that this module lies in.
    FileNotFoundError where there is none.
    """
    starts = [Path.cwd(), Path(__file__).parent] if start is None else [start]
    for first in starts:
        for folder in (first.absolute(), *first.absolute().parents):
            if any(folder.glob("spec/*/*.tla")):
                return folder
    message = (
        "no folder from here up has specifications, spec/<protocol>/*.tla: go to a checkout of groupcomm, or "
        "to a project of your own (docs/your-own-protocol.md)"
    )
    raise FileNotFoundError(message)
