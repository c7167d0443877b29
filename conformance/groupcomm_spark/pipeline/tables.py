"""Between values and tables: rows to write, and rows that were read as walks to follow."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps.table import HANDLED, StepTable
from groupcomm_conformance.tla.values import Value, show
from groupcomm_conformance.walks.covering import NONE, Walk
from groupcomm_conformance.walks.follow import LOCAL, Follower
from groupcomm_conformance.walks.graph import ACT

from . import dump as dumps
from . import schemas, transforms
from .dump import Dump, identity
from .replaying import Replayer, Step
from .tree import Integers

__all__ = ["WALKED", "act_rows", "integers", "replaying", "table_columns", "walk_table"]


def act_rows(dump: Dump, table: StepTable) -> list[dict[str, Any]]:
    """The rows of `schemas.ACTS`."""
    starts = {member: identity(show(state)) for member, state in table.starts.items()}
    return [
        {
            "number": number,
            "act": identity(show(act)),
            "action": str(act["action"]),
            "member": str(act["member"]),
            "event": identity(show(act["event"])),
            "outcome": str(act["outcome"]),
            "effects": identity(show(act["effects"])),
            "start": starts.get(str(act["member"])),
        }
        for number, act in enumerate(dumps.acts_of(dump))
    ]


def table_columns(table: StepTable) -> tuple[pa.Table, dict[tuple[str, int], str]]:
    """The rows of `schemas.TABLE`, and the texts of the values in them, by variable and identity."""
    texts: dict[tuple[str, int], str] = {}

    def known(variable: str, value: Value) -> int:
        text = show(value)
        number = identity(text)
        texts[variable, number] = text
        return number

    width = len(table.events)
    states = np.array([known("state", state) for state in table.states], dtype=np.int64)
    events = np.array([known("event", event) for event in table.events], dtype=np.int64)
    nothing = known("effects", ())
    effects = [known("effects", result.effects) for result in table.results]
    results: dict[tuple[int, int], int] = {}
    following = np.repeat(states, width)
    caused = np.full(len(table), nothing, dtype=np.int64)
    cells = np.frombuffer(table.cells, dtype=np.uint32) if len(table) else np.array([], dtype=np.uint32)
    for place in np.flatnonzero(cells >= HANDLED).tolist():
        key = place // width, int(cells[place]) - HANDLED
        if key not in results:
            results[key] = known("state", table.expected(place + 1)[0])
        following[place] = results[key]
        caused[place] = effects[key[1]]
    columns = {
        "row": pa.array(np.arange(1, len(table) + 1, dtype=np.int32)),
        "state": pa.array(np.repeat(states, width)),
        "event": pa.array(np.tile(events, len(states))),
        "outcome": pa.array([OUTCOMES[min(int(cell), HANDLED)] for cell in cells], pa.string()),
        "next": pa.array(following),
        "effects": pa.array(caused),
    }
    return pa.table(columns), texts


WALKED: Final = StructType([kind for kind in schemas.WALKS if kind.name != "row"])


def integers(table: pa.Table, name: str) -> Integers:
    """A column as integers, nulls as `NONE`."""
    return np.asarray(table.column(name).fill_null(NONE).to_numpy(), dtype=np.int64)


def walk_table(
    walks: Sequence[Walk], numbers: Integers, ids: Sequence[int], acts: Mapping[int, tuple[str, str]]
) -> pa.Table:
    """The rows of `schemas.WALKS`, without `row`."""
    columns: dict[str, list[Any]] = {name: [] for name in WALKED.names}
    for number, walk in enumerate(walks):
        for step, (edge, node) in enumerate(walk):
            act = None if edge == NONE else ids[numbers[edge]]
            action, outcome = (None, None) if act is None else acts[act]
            row = (number, step, node, None if edge == NONE else edge, act, action, outcome)
            for name, value in zip(WALKED.names, row, strict=True):
                columns[name].append(value)
    return pa.table(columns, schema=to_arrow_schema(WALKED))


def replaying(manifest: Manifest, constants: Mapping[str, Value], values: str) -> transforms.Task:
    """From batches of walks' steps, in order, to batches of `schemas.VERDICTS`.

    Columns: `walk`, `act` (null at the start) and `local`. `values` is the path of the table of values.
    """

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = pq.read_table(values, columns=["value", "text"], filters=[("variable", "in", [ACT, LOCAL])])
        texts = dict(zip(*(table.column(name).to_pylist() for name in ("value", "text")), strict=True))
        replayer = Replayer(Follower(derive.load(manifest), constants), texts)
        for walk, steps in _walks_of(batches):
            told = replayer.walk(steps)
            yield pa.RecordBatch.from_pylist(
                [
                    {
                        "walk": walk,
                        "verdict": told.verdict,
                        "steps": len(steps) - 1,
                        "passed": told.passed,
                        "reason": told.reason,
                    }
                ],
                schema=to_arrow_schema(schemas.VERDICTS),
            )

    return task


def _walks_of(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, list[Step]]]:
    """Walk after walk, out of rows that are in order."""
    current: int | None = None
    steps: list[Step] = []
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("walk", "act", "local"))
        for walk, act, local in zip(*columns, strict=True):
            if walk != current:
                if current is not None:
                    yield current, steps
                current, steps = walk, []
            steps.append((act or 0, local))
    if current is not None:
        yield current, steps
