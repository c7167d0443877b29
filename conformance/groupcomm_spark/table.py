"""The table of a campaign: a folder of Parquet files, each written whole, and what campaign it is of.

A file is written beside its place and put there in one step, so that a part is there whole or not at all. The
folder is locked as long as it is open: one campaign at a time writes to it.
"""

import fcntl
import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import define, field

from groupcomm_conformance.files.errors import PathError
from groupcomm_conformance.files.store import replace
from groupcomm_conformance.files.writing import require_folder

Row: TypeAlias = dict[str, Any]
Key: TypeAlias = int | str

REMEDY: Final = "name another folder with --table"

_NAME: Final = "_campaign.json"  # readers of Parquet pass over names that begin so


@define
class Table:
    """Rows by their keys, the values of the schema's first column."""

    folder: Path
    schema: pa.Schema
    keys: set[Key] = field(factory=set)

    def add(self, rows: Sequence[Row]) -> None:
        """Write a part: all of these rows or, if that fails, none. OSError where it cannot be written."""
        if not rows:
            return
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(list(rows), schema=self.schema), buffer, compression="zstd")
        content = buffer.getvalue()
        replace(self.folder / _name_of(content), content)
        self.keys |= {row[self._key] for row in rows}

    def rows(self) -> Iterator[Row]:
        """Give all rows, a part after the other. PathError for a part that is damaged."""
        for part in self._parts():
            yield from self._read(part).to_pylist()

    def take_stock(self) -> None:
        """Read which keys are there, and remove what a killed campaign had begun to write.

        PathError for a part that is damaged, and for a key that is there twice.
        """
        for draft in self.folder.glob(".part-*"):
            draft.unlink()
        where: dict[Key, Path] = {}
        for part in self._parts():
            for key in self._read(part).column(self._key).to_pylist():
                if key in where:
                    why = f"{self._key} {key} is in it and in {where[key].name}"
                    raise PathError(part, why, "remove one of them")
                where[key] = part
        self.keys = set(where)

    @property
    def _key(self) -> str:
        return str(self.schema.names[0])

    def _parts(self) -> Iterable[Path]:
        return sorted(self.folder.glob("part-*.parquet"))

    def _read(self, part: Path) -> pa.Table:
        again = "remove it: the same command runs again what it had"
        try:
            content = part.read_bytes()
            if _name_of(content) != part.name:
                raise PathError(part, "it is damaged: its name is not the digest of its content", again)
            found = pq.read_table(io.BytesIO(content))
        except (pa.ArrowException, OSError) as error:
            why = str(error).strip().partition("\n")[0]
            raise PathError(part, f"it is damaged ({why})", again) from None
        if not found.schema.equals(self.schema):
            raise PathError(part, f"its columns are {', '.join(found.schema.names)}, not a campaign's", again)
        return found


@contextmanager
def table(folder: Path, identity: Mapping[str, object], schema: pa.Schema) -> Iterator[Table]:
    """Open the table of a campaign, or begin one; `identity` is JSON, all that its rows depend on.

    PathError for a folder that cannot be written, that another campaign writes to, that has the table of
    another campaign or something else, and for a part that is damaged.
    """
    require_folder(folder, REMEDY)
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PathError(folder, "another groupcomm writes to this table", f"wait, or {REMEDY}") from None
        _identify(folder, identity)
        opened = Table(folder, schema)
        opened.take_stock()
        yield opened
    finally:
        os.close(handle)


def _identify(folder: Path, identity: Mapping[str, object]) -> None:
    """Write what campaign a table is of, or compare it with what was written."""
    file = folder / _NAME
    if not file.exists():
        strange = next((path.name for path in sorted(folder.iterdir()) if path.name != f".{_NAME}"), None)
        if strange is not None and not strange.startswith(f".{_NAME}-"):
            raise PathError(folder, f"it has {strange}, and no {_NAME}: it is no campaign's table", REMEDY)
        replace(file, (json.dumps(identity, indent=2) + "\n").encode())
        return
    try:
        found = json.loads(file.read_bytes())
        if not isinstance(found, dict):
            raise TypeError
    except (ValueError, TypeError):
        raise PathError(file, "it is damaged", f"{REMEDY}, or remove {folder}") from None
    wanted = json.loads(json.dumps(identity))
    for name in (*wanted, *found):
        if wanted.get(name) != found.get(name):
            why = f"the table there is of {name} {_brief(found.get(name))}, not {_brief(wanted.get(name))}"
            raise PathError(folder, why, f"{REMEDY}, or remove it")


def _name_of(content: bytes) -> str:
    """Name a part by its content, so that a change of any bit is detected."""
    return f"part-{hashlib.blake2b(content, digest_size=8).hexdigest()}.parquet"


def _brief(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}..."


_BRIEF: Final = 80
