"""Where the project is."""

import functools
import logging
from pathlib import Path
from typing import Final

_log: Final = logging.getLogger(__name__)


def find_root(start: Path | None = None, *, own: bool = False) -> Path:
    """Find the project: the nearest folder, from `start` up, that has specifications, `spec/*/*.tla`.

    `start` is the current folder by default, and after it the folder that this module lies in, which a warning names;
    not if the project has to be its `own`. FileNotFoundError where there is none.
    """
    starts = [start or Path.cwd()] if own or start is not None else [Path.cwd(), Path(__file__).parent]
    for first in starts:
        for folder in (first.absolute(), *first.absolute().parents):
            if any(folder.glob("spec/*/*.tla")):
                if first != starts[0]:
                    _say(starts[0], folder)
                return folder
    message = (
        "no folder from here up has specifications, spec/<protocol>/*.tla: go to a checkout of groupcomm, or "
        "to a project of your own (docs/your-own-protocol.md)"
    )
    raise FileNotFoundError(message)


@functools.cache
def _say(here: Path, root: Path) -> None:
    """Say once whose specifications are meant."""
    _log.warning("%s is in no project: the specifications are those of %s", here, root)
