"""Logs as tasks of a campaign: a task replays a log, and its row has what the claims over all logs need."""

import hashlib
import pickle
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeAlias

import groupcomm_runtime
from groupcomm_conformance.files.errors import PathError
from groupcomm_field.logs.replaying import Life, Rejected, Step, read_log, replayed

from .running import Campaign
from .shipping import code_of, folder_of
from .table import Row, Table
from .working import Worker

Task: TypeAlias = tuple[str, bool, int]
"""The path of a log, which all workers reach; if its process was killed; and the events to keep for TLC."""


def campaign() -> Campaign:
    """The campaign; workers get the code of the runtime, too: its codec reads the logs."""
    return Campaign(prepare, None, _runtime())


def code() -> str:
    """A digest of the code that makes the rows."""
    found = hashlib.sha256(code_of(__name__).encode())
    for file in _runtime().values():
        found.update(file.read_bytes())
    return found.hexdigest()


def _runtime() -> dict[str, Path]:
    package = Path(str(groupcomm_runtime.__file__)).parent
    return folder_of(package, package.name)


def prepare(_folder: Path, _context: None) -> Worker:
    """Make the worker of a process."""
    return _work


def _work(tasks: Sequence[Task]) -> list[Row]:
    rows: list[dict[str, Any]] = []
    for log, killed, most in tasks:
        path = Path(log)
        life = replayed(path, read_log(path), killed=killed, most=most)
        rows.append({"log": log, "life": pickle.dumps(life.brief())})
    return rows


def lives(table: Table) -> list[Life]:
    """The replayed logs that the rows have, in the order of their paths. PathError for a row that is none."""
    rows = sorted(table.rows(), key=lambda row: str(row["log"]))
    return [_life(row, table.folder) for row in rows]


def _life(row: Row, table: Path) -> Life:
    try:
        found = _Lives(BytesIO(row["life"])).load()
        if isinstance(found, Life):
            return found
        why = f"a {type(found).__name__}"
    except Exception as error:  # noqa: BLE001 - of any class: what is no pickle of ours ends in any way
        why = str(error)
    raise PathError(table, f"the row of {row['log']} has no replayed log ({why:.200})", "remove the table")


class _Lives(pickle.Unpickler):
    """Reads replayed logs. A table may be from elsewhere: its pickles may name classes of the cores alone."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as that of the base
        if module.startswith("groupcomm.") or (module, name) in _OTHERS:
            found = super().find_class(module, name)
            if isinstance(found, type) and (found.__module__, found.__qualname__) == (module, name):
                return found
        raise pickle.UnpicklingError(f"it names {module}.{name}")


_OTHERS: Final = {(each.__module__, each.__qualname__) for each in (Counter, Life, Rejected, Step)}
