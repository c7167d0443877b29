"""The steps from table to table: each takes frames and gives one, and changes nothing else.

`reading_*` give the functions that tasks run on chunks of a dump; they need Arrow and the file, nothing of
Spark.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's users call it
from pyspark.sql.types import StructType

from groupcomm_conformance.tla.values import parse
from groupcomm_conformance.walks.graph import ACT, GraphError

from . import schemas
from .dump import Chunk, Dump, Texts, edges_of, identity, member_states, nodes_of, numbers

__all__ = [
    "MARK",
    "collisions",
    "coverage",
    "edges",
    "goals",
    "local_steps",
    "located",
    "members",
    "misaligned",
    "nodes",
    "parsed",
    "replayed",
    "resolved",
    "states",
    "tree",
    "unknown",
    "values",
]

Batches: TypeAlias = Iterable[pa.RecordBatch]
Task: TypeAlias = Callable[[Batches], Iterator[pa.RecordBatch]]

LOCAL: Final = "local"
"""The variable with the members' states."""

MARK: Final = "@groupcomm "
"""The beginning of the line of a task's error that is about the data."""

ENVIRONMENT: Final = "none"
"""The outcome of a step that no member takes part in."""


class TaskError(RuntimeError):
    """An error in the data that a task found, so that it survives the way to the driver."""

    @classmethod
    def of(cls, error: GraphError) -> "TaskError":
        """The error of a file at a line."""
        return cls(MARK + json.dumps([error.file, error.line, error.expected]))


# Reading a dump


def reading_edges(dump: Dump, chunks: Sequence[Chunk]) -> Task:
    """From batches of a single column, numbers of `chunks`, to batches of `schemas.PARSED`."""

    def task(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for chosen in batch.column(0).to_pylist():
                chunk = chunks[chosen]
                try:
                    sources, targets, labels = edges_of(dump.graph, chunk)
                except GraphError as error:
                    raise TaskError.of(error) from None
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array(range(chunk.first, chunk.first + chunk.edges), pa.int64()),
                        pa.array(sources, pa.int64()),
                        pa.array(targets, pa.int64()),
                        pa.array(labels, pa.string()),
                        pa.array(numbers(dump, chunk.first, chunk.edges), pa.int32()),
                    ],
                    names=schemas.PARSED.names,
                )

    return task


def reading_nodes(dump: Dump, chunks: Sequence[Chunk], variables: Sequence[str]) -> Task:
    """From batches of a single column, numbers of `chunks`, to batches of `schemas.NODES`."""

    def task(batches: Batches) -> Iterator[pa.RecordBatch]:
        texts = Texts()
        told: set[tuple[str, int]] = set()
        for batch in batches:
            for chosen in batch.column(0).to_pylist():
                rows: list[tuple[int, bool, int, list[int]]] = []
                found: list[tuple[str, int, str]] = []
                try:
                    for node, initial, held in nodes_of(dump.graph, chunks[chosen], variables, texts):
                        act = 0
                        ids: list[int] = []
                        for variable, value, text in held:
                            if variable == ACT:
                                act = value
                                continue
                            ids.append(value)
                            if (variable, value) not in told:
                                told.add((variable, value))
                                found.append((variable, value, text))
                        rows.append((node, initial, act, ids))
                except GraphError as error:
                    raise TaskError.of(error) from None
                yield _nodes(rows, found)

    return task


def _nodes(rows: list[tuple[int, bool, int, list[int]]], found: list[tuple[str, int, str]]) -> pa.RecordBatch:
    """States, and below them the values that came with them."""
    blank = [None] * len(found)
    empty = [None] * len(rows)
    columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]
    texts: list[list[Any]] = [list(column) for column in zip(*found, strict=True)] or [[], [], []]
    kinds = (pa.int64(), pa.bool_(), pa.int64(), pa.list_(pa.int64()), pa.string(), pa.int64(), pa.string())
    whole = [*(column + blank for column in columns), *(empty + column for column in texts)]
    return pa.RecordBatch.from_arrays(
        [pa.array(column, kind) for column, kind in zip(whole, kinds, strict=True)], names=schemas.NODES.names
    )


def _applied(chunks: DataFrame, task: Task, schema: StructType) -> DataFrame:
    return chunks.mapInArrow(task, schema)


def parsed(chunks: DataFrame, task: Task) -> DataFrame:
    """Every transition of the dump: `schemas.PARSED`."""
    return _applied(chunks, task, schemas.PARSED)


def nodes(chunks: DataFrame, task: Task) -> DataFrame:
    """Every state of the dump, and every value: `schemas.NODES`."""
    return _applied(chunks, task, schemas.NODES)


def states(nodes: DataFrame) -> DataFrame:
    """The states: `schemas.STATES`."""
    return nodes.where(F.col("node").isNotNull()).select("node", "initial", "values")


def values(nodes: DataFrame) -> DataFrame:
    """Every value once: `schemas.VALUES`, not yet those of acts and local steps."""
    found = nodes.where(F.col("text").isNotNull())
    return found.select("variable", "value", "text").distinct()


def collisions(values: DataFrame) -> DataFrame:
    """Values that different texts have; there must be none."""
    return values.groupBy("value").agg(F.count_distinct("text").alias("texts")).where("texts > 1")


def _member_states(batches: Batches) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [
            (local, member, identity(state), state)
            for local, text in zip(*(column.to_pylist() for column in batch.columns), strict=True)
            for member, state in member_states(parse(text)).items()
        ]
        columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]
        kinds = (pa.int64(), pa.string(), pa.int64(), pa.string())
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)], names=schemas.MEMBERS.names
        )


def members(values: DataFrame) -> DataFrame:
    """The members' states in each value of `local`: `schemas.MEMBERS`."""
    found = values.where(F.col("variable") == LOCAL).select("value", "text")
    return _applied(found, _member_states, schemas.MEMBERS)


# Local steps


def located(parsed: DataFrame, states: DataFrame, place: int) -> DataFrame:
    """Transitions with the values of `local`, `place` among the states' values, `before` and `after`.

    Null where there is no such state.
    """
    of = states.select("node", F.element_at("values", place + 1).alias("local"))
    before = of.select(F.col("node").alias("source"), F.col("local").alias("before"))
    after = of.select(F.col("node").alias("target"), F.col("local").alias("after"))
    return parsed.join(before, "source", "left").join(after, "target", "left")


def unknown(located: DataFrame) -> DataFrame:
    """Transitions between states that the dump does not have; there must be none."""
    return located.where(F.col("before").isNull() | F.col("after").isNull())


def resolved(located: DataFrame, acts: DataFrame, members: DataFrame, table: DataFrame) -> DataFrame:
    """The local step of each combination of act and values of `local`: `number`, `before`, `after`, `row`.

    `row` is null where `table` has no row with this state, event, outcome, next state and effects. The state
    is the member's or, where the member begins again, its first state. `row` is -1 for a step of the
    environment.
    """
    used = located.select("number", "before", "after").distinct().join(F.broadcast(acts), "number")
    was, became = (
        members.select(F.col("local").alias(side), "member", F.col("state").alias(name))
        for side, name in (("before", "state"), ("after", "next"))
    )
    whole = used.join(was, ["before", "member"], "left").join(became, ["after", "member"], "left")
    keys = ["state", "event", "outcome", "next", "effects"]
    rows = table.select(*keys, "row")
    restarted = rows.withColumnsRenamed({"state": "start", "row": "restarted"})
    found = whole.join(rows, keys, "left").join(restarted, ["start", *keys[1:]], "left")
    environment = F.col("outcome") == ENVIRONMENT
    row = F.when(environment, F.lit(-1)).otherwise(F.coalesce("row", "restarted"))
    return found.select("number", "before", "after", row.alias("row"))


def edges(located: DataFrame, resolved: DataFrame, acts: DataFrame) -> DataFrame:
    """The transitions: `schemas.EDGES`."""
    told = located.join(F.broadcast(resolved), ["number", "before", "after"]).join(F.broadcast(acts), "number")
    row = F.when(F.col("row") >= 0, F.col("row"))
    return told.withColumn("row", row).select(*schemas.EDGES.names)


def local_steps(table: DataFrame, edges: DataFrame) -> DataFrame:
    """The table, with how many transitions are each row: `schemas.LOCAL_STEPS`."""
    counts = edges.where(F.col("row").isNotNull()).groupBy("row").agg(F.count("*").alias("edges"))
    whole = table.join(counts, "row", "left").fillna(0, ["edges"])
    return whole.withColumn("used", F.col("edges") > 0).select(*schemas.LOCAL_STEPS.names)


# Walks


def tree(states: DataFrame, edges: DataFrame) -> DataFrame:
    """The transition that found each state: `schemas.TREE`."""
    first = edges.groupBy("target").agg(F.min(F.struct("edge", "source", _mark().alias("mark"))).alias("by"))
    found = first.select(F.col("target").alias("node"), F.col("by.edge"), F.col("by.source"), F.col("by.mark"))
    whole = states.select("node", "initial").join(found, "node", "left")
    names = schemas.TREE.names[1:]
    return whole.select("node", *(F.when(~F.col("initial"), F.col(name)).alias(name) for name in names))


def _mark() -> Column:
    """The mark that a walk must pass: a local step, or an act of the environment, by a number below 0."""
    return F.coalesce(F.col("row").cast("long"), -1 - F.pmod(F.col("act"), F.lit(2**62)))


def goals(edges: DataFrame) -> DataFrame:
    """The first transition of each mark: `mark`, `edge`, `source`, `target`."""
    first = F.min(F.struct("edge", "source", "target")).alias("by")
    found = edges.groupBy(_mark().alias("mark")).agg(first)
    return found.select("mark", "by.edge", "by.source", "by.target")


def misaligned(nodes: DataFrame, edges: DataFrame) -> DataFrame:
    """States that say another act of what found them than was printed of it; there must be none.

    A state's line has the act of the transition that found it. So each new state shows that TLC printed lines
    and wrote transitions in the same order.
    """
    first = edges.groupBy("target").agg(F.min(F.struct("edge", "act")).alias("by"))
    told = nodes.where(F.col("node").isNotNull() & ~F.col("initial")).select("node", F.col("act").alias("told"))
    return told.join(first, told.node == first.target).where(F.col("by.act") != F.col("told"))


def replayed(walks: DataFrame, states: DataFrame, place: int, task: Task, tasks: int) -> DataFrame:
    """The verdict on each walk: `schemas.VERDICTS`. Each of so many tasks gets whole walks, in order.

    `place` is that of the variable `local` among the values of a state.
    """
    after = states.select("node", F.col("values")[place].alias("local"))
    whole = walks.join(after, "node").select("walk", "step", "act", "local")
    dealt = whole.repartition(tasks, "walk").sortWithinPartitions("walk", "step")
    return dealt.select("walk", "act", "local").mapInArrow(task, schemas.VERDICTS)


# Folding


def coverage(walks: DataFrame, verdicts: DataFrame, edges: DataFrame) -> DataFrame:
    """The marks of walks that passed: `schemas.COVERAGE`."""
    steps = walks.where(F.col("step") > 0).join(verdicts.select("walk", "passed"), "walk")
    good = steps.where(F.col("step") <= F.col("passed"))

    def counted(kind: str, column: str, *, named: bool) -> DataFrame:
        model = edges.where(F.col(column).isNotNull()).groupBy(column).agg(F.count("*").alias("edges"))
        walked = good.where(F.col(column).isNotNull()).groupBy(column).agg(F.count("*").alias("walked"))
        whole = model.join(walked, column, "left").fillna(0, ["walked"])
        return whole.select(
            F.lit(kind).alias("kind"),
            "edges",
            "walked",
            (F.col(column) if named else F.lit(None).cast("string")).alias("name"),
            (F.lit(None) if named else F.col(column)).cast("long").alias("id"),
        )

    each = (
        good.groupBy("edge")
        .agg(F.count("*").alias("walked"))
        .select(
            F.lit("edge").alias("kind"),
            F.lit(1).cast("long").alias("edges"),
            "walked",
            F.lit(None).cast("string").alias("name"),
            F.col("edge").alias("id"),
        )
    )
    return (
        counted("action", "action", named=True)
        .unionByName(counted("outcome", "outcome", named=True))
        .unionByName(counted("local_step", "row", named=False))
        .unionByName(each)
    )
