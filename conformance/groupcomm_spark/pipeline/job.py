"""The stages of a model on Spark, each timed, and the checks between them."""

import json
import re
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import pyarrow as pa
from attrs import define, field
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's users call it
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.steps.table import StepTable
from groupcomm_conformance.tla.values import Value, identical, show
from groupcomm_conformance.walks.covering import NONE, Edge, Walk, cover_edges
from groupcomm_conformance.walks.follow import LOCAL
from groupcomm_conformance.walks.graph import ACT, GraphError

from . import dump as dumps
from . import schemas, transforms
from .dump import Dump, identity
from .errors import DiskFull, NotContained, SparkFailed, WorkerDied
from .publishing import Place
from .summary import Summary
from .tables import WALKED, act_rows, integers, replaying, table_columns, walk_table
from .tree import Goal, Integers, Tree, cover_marks

__all__ = ["SMALL", "Clock", "Job"]

SMALL: Final = 20_000
"""Transitions up to which walks cover every one; walks of larger models cover every local step that is
used."""

_TASKS: Final = 2  # for each core, so that a task with long walks does not keep all others waiting


@define
class Clock:
    """The wall-clock seconds of each stage, and the listener that is called when a stage begins."""

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
    """Say why Spark failed: our own words where a task found them, else the likely cause."""
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


class Job:
    """The Spark part of a model."""

    def __init__(
        self,
        spark: SparkSession,
        place: Place,
        *,
        dump: Dump,
        table: StepTable,
        manifest: Manifest,
        constants: Mapping[str, Value],
        clock: Clock,
        whole: bool,
    ) -> None:
        self._spark = spark
        self._place = place
        self._dump = dump
        self._table = table
        self._manifest = manifest
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
        rows = act_rows(self._dump, self._table)
        acts = self._frame(rows, schemas.ACTS)
        columns, texts = table_columns(self._table)
        table = self._frame(columns, schemas.TABLE)
        texts |= {("act", row["act"]): show(act) for row, act in zip(rows, dumps.acts_of(self._dump), strict=True)}
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
        self._none(transforms.misaligned(nodes, edges), "states that say what TLC printed of the steps to them")
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
        tree = Tree.of(*(integers(found, name) for name in ("node", "source", "edge", "mark")))
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
        told = walk_table(walks, numbers, ids, acts)
        frame = self._frame(told, WALKED)
        rows_of = edges.select("edge", "row").join(F.broadcast(frame.select("edge").distinct()), "edge")
        self._write(frame.join(rows_of, "edge", "left"), "walks")
        return walks, covers, to_cover

    def _replay(self) -> None:
        walks, states = self._read("walks"), self._read("states")
        path = str(self._place.draft("values"))
        task = replaying(self._manifest, self._constants, path)
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
