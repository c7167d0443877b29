"""The work of a worker on a group of tasks. Nothing here needs Spark."""

import pickle
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from attrs import frozen

from .shipping import CONTEXT

Worker: TypeAlias = Callable[[Sequence[Any]], list[dict[str, Any]]]
"""Gives the rows of a group of tasks, one for each, in their order."""

Prepare: TypeAlias = Callable[[Path, Any], Worker]
"""Makes the worker of a process from the folder that was shipped, and from what its tasks have in common."""


@frozen
class Failed:
    """A task that raised something: the exception, pickled, or None where it cannot be; and its text."""

    error: bytes | None
    text: str


def worked(folder: str, group: bytes) -> list[dict[str, Any]] | Failed:
    """Give the rows of a group of tasks, which comes pickled."""
    try:
        return _worker(folder)(pickle.loads(group))  # noqa: S301 - from the driver
    except Exception as error:  # noqa: BLE001 - the driver raises it
        return Failed(_pickled(error), f"{type(error).__name__}: {error}")


def _pickled(error: Exception) -> bytes | None:
    try:
        body = pickle.dumps(error)
        pickle.loads(body)  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - of any class, by any means
        return None
    return body


@cache
def _worker(folder: str) -> Worker:
    prepare, context = pickle.loads(Path(folder, CONTEXT).read_bytes())  # noqa: S301 - from the driver
    worker: Worker = prepare(Path(folder), context)
    return worker
