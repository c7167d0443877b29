"""Results that several workers of a test run use: made by the first that needs them, while others wait."""

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def shared(request: pytest.FixtureRequest, factory: pytest.TempPathFactory) -> Path:
    """A folder of this run of the tests that all its workers have."""
    own = factory.getbasetemp()
    return own.parent if hasattr(request.config, "workerinput") else own


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Let one process at a time through; others, in whichever process, wait."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def once(folder: Path, make: Callable[[Path], object]) -> Path:
    """Give a folder that `make` has filled; a worker that fails leaves nothing for the others to find."""
    whole = folder.with_suffix(".whole")
    with _alone(folder.with_suffix(".lock")):
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            whole.touch()
    return folder
