"""One model, from TLC's dump to tables: the order of things, and what is checked on the way."""

import json
import re
import resource
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import define, evolve, field, frozen
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's users call it
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from groupcomm_conformance.models import checking
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.models.manifest import load as load_manifest
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.table import HANDLED, StepTable, Tables
from groupcomm_conformance.tla.values import Value, identical, show
from groupcomm_conformance.tlc.output import Progress
from groupcomm_conformance.tlc.run import SHORT
from groupcomm_conformance.walks.covering import NONE, Edge, Walk, cover_edges
from groupcomm_conformance.walks.follow import LOCAL, Follower
from groupcomm_conformance.walks.graph import ACT, GraphError

from . import dump as dumps
from . import schemas, transforms
from .dump import Dump, identity
from .errors import DiskFull, NotContained, NotHolding, SparkFailed, WorkerDied
from .publishing import Place
from .replaying import Replayer, Step
from .tree import Goal, Integers, Tree, cover_marks

__all__ = ["SMALL", "Summary", "run"]

SMALL: Final = 20_000
"""Transitions up to which walks cover every one; walks of larger models cover every local step that is
used."""


@frozen
class Summary:
    """What came of a model: what TLC counted, and what the tables say.

    `beyond` are transitions that are no row of the table, of a model that is not for conformance: its
    alphabet need not have all that happens there. Seconds are of wall-clock time; `driver_mb` is the most
    memory that the driver's Python has had, in MiB.
    """

    protocol: str
    model: str
    states: int
    edges: int
    depth: int
    local_steps: int
    used: int
    beyond: int
    walks: int
    walked: int
    covers: str
    to_cover: int
    verdicts: Mapping[str, int]
    covered_steps: int
    covered_edges: int
    seconds: Mapping[str, float]
    driver_mb: float

    @property
    def ok(self) -> bool:
        """Whether every walk passed, and covered what it was to cover."""
        return set(self.verdicts) <= {"pass"} and self.covered_steps == self.used

    @property
    def steps_per_edge(self) -> float:
        """Steps walked for each transition covered."""
        return self.walked / self.covered_edges if self.covered_edges else 0.0

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values."""
        return {
            "protocol": self.protocol,
            "model": self.model,
            "ok": self.ok,
            "states": self.states,
            "edges": self.edges,
            "depth": self.depth,
            "local_steps": self.local_steps,
            "local_steps_used": self.used,
            "edges_beyond": self.beyond,
            "walks": self.walks,
            "walks_cover": self.covers,
            "to_cover": self.to_cover,
            "walk_steps": self.walked,
            "steps_per_covered_edge": round(self.steps_per_edge, 3),
            "verdicts": dict(self.verdicts),
            "covered_local_steps": self.covered_steps,
            "covered_edges": self.covered_edges,
            "driver_mb": round(self.driver_mb, 1),
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
        }


@define
class _Clock:
    seconds: dict[str, float] = field(factory=dict)
    on_stage: Callable[[str], None] = lambda _stage: None

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage, and say in whatever Spark raises which one it was."""
        began = time.monotonic()
        self.on_stage(name)
        try:
            yield
        except (PySparkException, Py4JError) as error:
            raise _explained(error, name) from error
        finally:
            self.seconds[name] = time.monotonic() - began


def _explained(error: BaseException, stage: str) -> Exception:
    """What a failure of Spark was about: our own words where a task found them, else the likely cause."""
    text = str(error)
    found = re.search(re.escape(transforms.MARK) + r"(\[.*?\])\s*$", text, re.MULTILINE)
    if found is not None:
        file, line, expected = json.loads(found[1])
        return GraphError(file, line, expected)
    for pattern, kind in ((r"No space left on device", DiskFull), (_DIED, WorkerDied)):
        if re.search(pattern, text):
            return kind(stage)
    last = next((line for line in reversed(text.splitlines()) if line.strip()), text)
    return SparkFailed(stage, last.strip())


_DIED: Final = (
    r"Python worker exited unexpectedly|ExecutorLostFailure|Python worker failed to connect back|EOFException"
)


def run(
    spark: SparkSession,
    manifest: Manifest,
    model: Model,
    out: Path,
    *,
    root: Path,
    keep_dump: bool = False,
    listener: checking.Listener | None = None,
    on_stage: Callable[[str], None] = lambda _stage: None,
) -> Summary:
    """Make all tables of a model, in `out`.

    The dump is kept until the tables are in place, or longer if `keep_dump`, so that a run which fails can be
    taken up. GraphError for a dump that is not whole; NotContained where a transition is no local step that
    `groupcomm conform` tries; SparkFailed where Spark fails.
    """
    clock = _Clock(on_stage=on_stage)
    place = Place(out, manifest.protocol, model.name)
    with clock.stage("check"):
        table = _table(manifest, model, root, listener)
    with clock.stage("dump"):
        dump = _dumped(manifest, model, out / ".work", listener)
    place.begin()
    constants = derive.constants_of(manifest.cfg(model))
    job = _Job(
        spark,
        place,
        dump=dump,
        table=table,
        root=root,
        constants=constants,
        clock=clock,
        whole=model.conform,
    )
    summary = job.run()
    place.publish(tuple(schemas.TABLES), {**summary.to_json(), "variables": list(job.variables)})
    if not keep_dump:
        shutil.rmtree(dump.folder, ignore_errors=True)
    return summary


def _table(manifest: Manifest, model: Model, root: Path, listener: checking.Listener | None) -> StepTable:
    """The table that `groupcomm conform` runs, from its cache where it is there."""
    conforming = evolve(model, conform=True)
    cache = checking.Cache.of(root)
    checked = checking.run_model(manifest, conforming, cache=cache, listener=listener)
    if checked.harvest is None:
        raise NotHolding(f"{manifest.protocol} {model.name}", checked.outcome)
    table, _ = table_of(manifest, conforming, checked.harvest, Tables.of(root))
    return table


def _dumped(manifest: Manifest, model: Model, folder: Path, listener: checking.Listener | None) -> Dump:
    part = "dump"
    if listener:
        listener.started(model, part)
    short = model.counts is not None and model.counts.transitions < SHORT

    def progress(told: Progress) -> None:
        if listener:
            listener.progress(model, part, told)

    try:
        return dumps.take(manifest, manifest.cfg(model), folder, short=short, progress=progress)
    finally:
        if listener:
            listener.ended(model, part)


_TASKS: Final = 2  # for each core, so that one with long walks does not keep all others waiting


def _act_rows(dump: Dump, table: StepTable) -> list[dict[str, Any]]:
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


def _table_columns(table: StepTable) -> tuple[pa.Table, dict[tuple[str, int], str]]:
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


class _Job:
    """The Spark part of one model."""

    def __init__(
        self,
        spark: SparkSession,
        place: Place,
        *,
        dump: Dump,
        table: StepTable,
        root: Path,
        constants: Mapping[str, Value],
        clock: _Clock,
        whole: bool,
    ) -> None:
        self._spark = spark
        self._place = place
        self._dump = dump
        self._table = table
        self._root = root
        self._constants = constants
        self._clock = clock
        self._whole = whole  # the table has every local step of the model
        self._name = f"{place.protocol} {place.model}"
        named = dumps.variables_of(dump)
        if ACT not in named or transforms.LOCAL not in named:
            expected = f"states with the variables {ACT} and {transforms.LOCAL}"
            raise GraphError(str(dump.graph), 1, expected)
        self._held = named
        self.variables = tuple(name for name in named if name != ACT)

    def run(self) -> Summary:
        """All stages."""
        with self._clock.stage("ingest"):
            self._ingest()
        with self._clock.stage("steps"):
            acts, used = self._local_steps()
        with self._clock.stage("walks"):
            walks, covers, to_cover = self._walks(acts)
        with self._clock.stage("replay"):
            self._replay()
        with self._clock.stage("coverage"):
            self._coverage()
        return self._summary(walks, covers, to_cover, used)

    # Frames

    def _frame(self, rows: "list[dict[str, Any]] | pa.Table", schema: StructType) -> DataFrame:
        if isinstance(rows, list):
            kinds = to_arrow_schema(schema)
            rows = pa.Table.from_pylist(rows, schema=kinds)
        else:
            rows = rows.cast(to_arrow_schema(schema))
        return self._spark.createDataFrame(rows, schema=schema)

    def _write(self, frame: DataFrame, table: str) -> DataFrame:
        """Write a table, with the schema that it must have, and read it back."""
        schema = schemas.TABLES.get(table) or frame.schema
        path = str(self._place.draft(table))
        frame.select(*schema.names).write.parquet(path, mode="errorifexists", compression="zstd")
        return self._read(table, schema)

    def _read(self, table: str, schema: StructType | None = None) -> DataFrame:
        chosen = schema or schemas.TABLES[table]
        return self._spark.read.schema(chosen).parquet(str(self._place.draft(table)))

    def _chunks(self, count: int) -> DataFrame:
        return self._spark.range(0, count, 1, max(1, count))

    # Stages

    def _ingest(self) -> None:
        dump = self._dump
        chunks = dumps.plan(dump)
        frame = self._chunks(len(chunks))
        read = transforms.nodes(frame, transforms.reading_nodes(dump, chunks, self._held))
        nodes = self._write(read, "nodes")
        states = self._write(transforms.states(nodes), "states")
        found = states.agg(F.count("*"), F.sum(F.col("initial").cast("long"))).first()
        for what, counted, came in zip(
            ("states", "initial states"), (dump.states, dump.initial), found or (0, 0), strict=True
        ):
            self._counted(what, counted, came or 0)
        parsed = transforms.parsed(frame, transforms.reading_edges(dump, chunks))
        place = self.variables.index(transforms.LOCAL)
        located = self._write(transforms.located(parsed, states, place), "located")
        self._counted("transitions", dump.edges, located.count())
        self._none(transforms.unknown(located), "a transition between states that it has")

    def _counted(self, what: str, counted: int, found: int) -> None:
        if found != counted:
            raise GraphError(str(self._dump.graph), 1, f"{counted:,} {what}, as TLC counted, not {found:,}")

    def _none(self, frame: DataFrame, expected: str) -> None:
        found = frame.first()
        if found is not None:
            raise GraphError(str(self._dump.graph), 1, f"{expected}, not {found.asDict()}")

    def _local_steps(self) -> tuple[dict[int, tuple[str, str]], int]:
        nodes, located = self._read("nodes", schemas.NODES), self._draft("located")
        rows = _act_rows(self._dump, self._table)
        acts = self._frame(rows, schemas.ACTS)
        columns, texts = _table_columns(self._table)
        table = self._frame(columns, schemas.TABLE)
        texts |= {
            ("act", row["act"]): show(act) for row, act in zip(rows, dumps.acts_of(self._dump), strict=True)
        }
        told = [{"variable": name, "value": value, "text": text} for (name, value), text in texts.items()]
        ingested = transforms.values(nodes)
        members = transforms.members(ingested).cache()
        values = self._write(ingested.unionByName(self._frame(told, schemas.VALUES)), "values")
        self._none(transforms.collisions(values), "texts with identities of their own")
        resolved = self._write(transforms.resolved(located, acts, members, table), "resolved")
        members.unpersist()
        strange = resolved.where(F.col("row").isNull())
        if self._whole and (example := strange.first()) is not None:
            act = dumps.acts_of(self._dump)[example["number"]]
            known = any(identical(event, act["event"]) for event in self._table.events)
            raise NotContained(self._name, strange.count(), show(act), known=known)
        edges = self._write(transforms.edges(located, resolved, acts), "edges")
        self._counted("transitions", self._dump.edges, edges.count())
        self._none(
            transforms.misaligned(nodes, edges), "states that say what TLC printed of the steps to them"
        )
        steps = self._write(transforms.local_steps(table, edges), "local_steps")
        used = steps.where("used").count()
        return {row["act"]: (row["action"], row["outcome"]) for row in rows}, used

    def _draft(self, table: str) -> DataFrame:
        return self._spark.read.parquet(str(self._place.draft(table)))

    def _walks(self, acts: Mapping[int, tuple[str, str]]) -> tuple[list[Walk], str, int]:
        states, edges = self._read("states"), self._read("edges")
        numbers: Integers = np.memmap(self._dump.numbers, np.uint32, "r")
        ids = [identity(show(act)) for act in dumps.acts_of(self._dump)]
        found = transforms.tree(states, edges).toArrow()
        tree = Tree.of(*(_integers(found, name) for name in ("node", "source", "edge", "mark")))
        if (depth := int(tree.depth.max()) + 1) != self._dump.depth:
            raise GraphError(
                str(self._dump.graph), 1, f"a graph {self._dump.depth} states deep, as TLC says, not {depth}"
            )
        if self._dump.edges <= SMALL:
            rows = edges.select("edge", "source", "target").orderBy("edge").toArrow()
            every = [Edge(*row) for row in zip(*(column.to_pylist() for column in rows.columns), strict=True)]
            initial = tree.node[tree.edge == NONE].tolist()
            walks, covers, to_cover = cover_edges(initial, every), "edges", len(every)
        else:
            rows = transforms.goals(edges).toArrow()
            goals = [
                Goal(mark, Edge(edge, source, target))
                for mark, edge, source, target in zip(*(c.to_pylist() for c in rows.columns), strict=True)
            ]
            walks, covers, to_cover = cover_marks(tree, goals), "local_steps", len(goals)
        told = _walk_table(walks, numbers, ids, acts)
        frame = self._frame(told, _WALKED)
        rows_of = edges.select("edge", "row").join(F.broadcast(frame.select("edge").distinct()), "edge")
        self._write(frame.join(rows_of, "edge", "left"), "walks")
        return walks, covers, to_cover

    def _replay(self) -> None:
        walks, states = self._read("walks"), self._read("states")
        path = str(self._place.draft("values"))
        task = replaying(self._root, self._place.protocol, self._constants, path)
        tasks = _TASKS * self._spark.sparkContext.defaultParallelism
        place = self.variables.index(LOCAL)
        self._write(transforms.replayed(walks, states, place, task, tasks), "verdicts")

    def _coverage(self) -> None:
        walks, verdicts, edges = (self._read(name) for name in ("walks", "verdicts", "edges"))
        self._write(transforms.coverage(walks, verdicts, edges), "coverage")

    def _summary(self, walks: Sequence[Walk], covers: str, to_cover: int, used: int) -> Summary:
        verdicts = self._read("verdicts").groupBy("verdict").count().collect()
        steps = self._read("edges").where(F.col("outcome") != transforms.ENVIRONMENT)
        beyond = steps.where(F.col("row").isNull()).count()
        kinds = self._read("coverage").where("walked > 0").groupBy("kind").count().collect()
        covered = {row["kind"]: row["count"] for row in kinds}
        return Summary(
            protocol=self._place.protocol,
            model=self._place.model,
            states=self._dump.states,
            edges=self._dump.edges,
            depth=self._dump.depth,
            local_steps=len(self._table),
            used=used,
            beyond=beyond,
            walks=len(walks),
            walked=sum(len(walk) - 1 for walk in walks),
            covers=covers,
            to_cover=to_cover,
            verdicts={row["verdict"]: row["count"] for row in verdicts},
            covered_steps=covered.get("local_step", 0),
            covered_edges=covered.get("edge", 0),
            seconds=self._clock.seconds,
            driver_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        )


_WALKED: Final = StructType([kind for kind in schemas.WALKS if kind.name != "row"])


def _integers(table: pa.Table, name: str) -> Integers:
    """A column as integers, nulls as `NONE`."""
    return np.asarray(table.column(name).fill_null(NONE).to_numpy(), dtype=np.int64)


def _walk_table(
    walks: Sequence[Walk], numbers: Integers, ids: Sequence[int], acts: Mapping[int, tuple[str, str]]
) -> pa.Table:
    """The rows of `schemas.WALKS`, without `row`."""
    columns: dict[str, list[Any]] = {name: [] for name in _WALKED.names}
    for number, walk in enumerate(walks):
        for step, (edge, node) in enumerate(walk):
            act = None if edge == NONE else ids[numbers[edge]]
            action, outcome = (None, None) if act is None else acts[act]
            row = (number, step, node, None if edge == NONE else edge, act, action, outcome)
            for name, value in zip(_WALKED.names, row, strict=True):
                columns[name].append(value)
    return pa.table(columns, schema=to_arrow_schema(_WALKED))


def replaying(root: Path, protocol: str, constants: Mapping[str, Value], values: str) -> transforms.Task:
    """From batches of walks' steps, in order, to batches of `schemas.VERDICTS`.

    Columns: `walk`, `act` (null at the start) and `local`. `values` is the path of the table of values.
    """

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = pq.read_table(values, columns=["value", "text"], filters=[("variable", "in", [ACT, LOCAL])])
        texts = dict(zip(*(table.column(name).to_pylist() for name in ("value", "text")), strict=True))
        replayer = Replayer(Follower(derive.load(load_manifest(root, protocol)), constants), texts)
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
