"""The pipeline on one model: its tables are what TLC found, walks cover it, and what is amiss is said."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
import pytest
from attrs import evolve, frozen
from bench import measure as bench
from pyspark.sql import SparkSession

from groupcomm import stable
from groupcomm_conformance.commands.main import main
from groupcomm_conformance.models.checking import Cache, run_model
from groupcomm_conformance.models.manifest import Model, find_root, load
from groupcomm_conformance.steps.table import Result, StepTable
from groupcomm_conformance.tla.values import Fn, parse, show
from groupcomm_conformance.walks.graph import NODE, GraphError
from groupcomm_spark.pipeline import dump as dumps
from groupcomm_spark.pipeline import job, schemas, stages
from groupcomm_spark.pipeline import session as sessions
from groupcomm_spark.pipeline.dump import Dump
from groupcomm_spark.pipeline.errors import NotContained, WorkerDied
from groupcomm_spark.pipeline.replaying import Replayer, Step
from groupcomm_spark.pipeline.stages import Summary, run
from tests.cores import core_of, follower
from tests.stable.broken import does_not_purge, forgets_the_minimum

ROOT = find_root(Path(__file__).parent)
MANIFEST = load(ROOT, "stable")
MODEL = MANIFEST.model("pair")
STATES = MODEL.counts.distinct if MODEL.counts else 0


@frozen(eq=False, slots=False)
class Made:
    """A model's tables, and the dump that they were made of; not to be changed."""

    out: Path
    summary: Summary
    dump: Dump

    def rows(self, table: str) -> list[dict[str, Any]]:
        return rows(self.out, table)

    @cached_property
    def texts(self) -> Mapping[int, str]:
        return {row["value"]: row["text"] for row in self.rows("values")}

    @cached_property
    def variables(self) -> list[str]:
        return cast("list[str]", receipt(self.out)["variables"])

    @cached_property
    def states(self) -> Mapping[int, Fn]:
        """The states by their nodes."""
        known = {value: parse(text) for value, text in self.texts.items()}
        return {
            row["node"]: Fn(zip(self.variables, (known[value] for value in row["values"]), strict=True))
            for row in self.rows("states")
        }


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    folder = out / table / "protocol=stable" / f"model={MODEL.name}"
    found: list[dict[str, Any]] = pq.read_table(folder, partitioning=None).to_pylist()
    return found


def receipt(out: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((out / "runs" / f"stable-{MODEL.name}.json").read_text())
    return told


def published(out: Path) -> list[str]:
    """The tables, as a reader finds them."""
    return sorted(str(path.relative_to(out)) for path in out.rglob("*") if ".work" not in path.parts)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with sessions.session("local[2]", memory="1g", brisk=True) as started:
        yield started


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Made:
    out = tmp_path_factory.mktemp("tables")
    summary = run(spark, MANIFEST, MODEL, out, root=ROOT, keep_dump=True)
    return Made(out, summary, dumps.take(MANIFEST, MANIFEST.cfg(MODEL), out / ".work"))


@pytest.fixture
def dumped(made: Made, tmp_path: Path) -> Path:
    """A folder for tables with a finished dump in it, to be damaged."""
    shutil.copytree(made.dump.folder, tmp_path / ".work" / made.dump.folder.name)
    return tmp_path


def again(spark: SparkSession, out: Path, model: Model = MODEL) -> Summary:
    return run(spark, MANIFEST, model, out, root=ROOT)


# Contents


def test_states_and_edges_are_as_many_as_tlc_counted(made: Made) -> None:
    counts = MODEL.counts
    assert counts is not None
    assert (counts.distinct, counts.transitions) == (len(made.rows("states")), len(made.rows("edges")))
    assert [*range(counts.transitions)] == sorted(row["edge"] for row in made.rows("edges"))
    assert made.summary.ok


def test_all_tables_have_the_columns_that_the_schemas_say(made: Made) -> None:
    for table, schema in schemas.TABLES.items():
        folder = made.out / table / "protocol=stable" / f"model={MODEL.name}"
        found = pq.read_table(folder, partitioning=None).schema
        assert schema.names == found.names, table
        assert (folder / "_SUCCESS").is_file()


def test_the_tables_of_all_models_are_one_with_partitions(spark: SparkSession, made: Made) -> None:
    frame = spark.read.parquet(str(made.out / "edges"))
    assert ["protocol", "model"] == frame.columns[-2:]
    assert [("stable", MODEL.name)] == [tuple(row) for row in frame.select("protocol", "model").distinct().collect()]


def test_edges_have_the_actions_and_outcomes_that_tlc_noted(made: Made) -> None:
    """An instrument of `groupcomm check` notes them, another way."""
    checked = run_model(MANIFEST, MODEL, cache=Cache.of(ROOT))
    assert checked.steps == {(row["action"], row["outcome"]) for row in made.rows("edges")}


def test_an_edge_is_its_local_step_and_changes_nobody_else(made: Made) -> None:
    steps = {row["row"]: row for row in made.rows("local_steps")}
    for edge in made.rows("edges"):
        act = parse(made.texts[edge["act"]])
        assert isinstance(act, Fn)
        before, after = (cast("Fn", made.states[edge[end]]["local"]) for end in ("source", "target"))
        assert all(before[member] == after[member] for member in before if member != act["member"])
        if edge["row"] is None:
            assert "none" == act["outcome"]
            continue
        step = steps[edge["row"]]
        assert made.texts[step["state"]] == show(before[act["member"]])
        assert made.texts[step["next"]] == show(after[act["member"]])
        assert (made.texts[step["event"]], step["outcome"]) == (show(act["event"]), act["outcome"])
        assert made.texts[step["effects"]] == show(act["effects"])


def test_every_row_that_an_edge_uses_is_marked_and_no_other(made: Made) -> None:
    used = Counter(row["row"] for row in made.rows("edges") if row["row"] is not None)
    steps = made.rows("local_steps")
    assert used == Counter({row["row"]: row["edges"] for row in steps if row["used"]})
    assert all(row["edges"] == 0 for row in steps if not row["used"])
    assert 0 < len(used) < len(steps)


def test_walks_follow_edges_from_an_initial_state_and_take_every_one(made: Made) -> None:
    edges = {row["edge"]: row for row in made.rows("edges")}
    initial = {row["node"] for row in made.rows("states") if row["initial"]}
    here: dict[int, int] = {}
    for step in sorted(made.rows("walks"), key=lambda row: (row["walk"], row["step"])):
        if step["step"] == 0:
            assert step["node"] in initial
        else:
            edge = edges[step["edge"]]
            assert (here[step["walk"]], step["node"]) == (edge["source"], edge["target"])
            assert all(step[name] == edge[name] for name in ("act", "action", "outcome", "row"))
        here[step["walk"]] = step["node"]
    assert edges.keys() == {row["edge"] for row in made.rows("walks") if row["step"]}


def test_coverage_counts_what_walks_came_by(made: Made) -> None:
    steps = [row for row in made.rows("walks") if row["step"]]
    edges = made.rows("edges")
    for kind, column, key in (
        ("action", "action", "name"),
        ("outcome", "outcome", "name"),
        ("local_step", "row", "id"),
    ):
        found = {row[key]: (row["edges"], row["walked"]) for row in made.rows("coverage") if row["kind"] == kind}
        model, walked = (Counter(row[column] for row in table) for table in (edges, steps))
        assert {item: (model[item], walked[item]) for item in model if item is not None} == found
    each = {row["id"]: row["walked"] for row in made.rows("coverage") if row["kind"] == "edge"}
    assert Counter(row["edge"] for row in steps) == each


def test_a_large_models_walks_come_by_every_local_step_that_is_used(
    spark: SparkSession, dumped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "SMALL", 0)
    summary = again(spark, dumped)
    assert summary.ok
    assert ("local_steps", summary.used) == (summary.covers, summary.covered_steps)
    steps = [row for row in rows(dumped, "walks") if row["step"]]
    edges = rows(dumped, "edges")
    assert {row["row"] for row in edges} == {row["row"] for row in steps}
    assert {row["act"] for row in edges if row["row"] is None} == {row["act"] for row in steps if row["row"] is None}
    assert summary.walks < summary.used


def test_copies_side_by_side_are_as_many_times_as_large(spark: SparkSession, made: Made, dumped: Path) -> None:
    """The input of `make bench-large` is a graph, and each copy has the same local steps."""
    place = dumped / ".work" / made.dump.folder.name
    bench.copies(dumps.load(place), 3)
    summary = again(spark, dumped)
    assert (3 * made.summary.states, 3 * made.summary.edges) == (summary.states, summary.edges)
    assert (True, made.summary.used, made.summary.depth) == (summary.ok, summary.used, summary.depth)
    each = (row["values"] for row in rows(dumped, "states"))
    assert {3} == {*Counter(map(tuple, each)).values()}


# Errors


@pytest.fixture
def earlier(dumped: Path) -> Callable[[], None]:
    """Tables of an earlier run, and a check that they are still there."""
    for table in schemas.TABLES:
        folder = dumped / table / "protocol=stable" / f"model={MODEL.name}"
        folder.mkdir(parents=True)
        (folder / "part").write_text("earlier")
    before = published(dumped)

    def unchanged() -> None:
        assert before == published(dumped)

    return unchanged


def test_a_dump_cut_in_half_is_refused(spark: SparkSession, dumped: Path, earlier: Callable[[], None]) -> None:
    (graph,) = dumped.glob(".work/*/graph.dot")
    os.truncate(graph, graph.stat().st_size // 2)
    with pytest.raises(
        GraphError, match=r"graph\.dot:1: expected [\d,]+ bytes, as TLC wrote, not [\d,]+: it is cut off"
    ):
        again(spark, dumped)
    earlier()


def test_a_dump_without_its_last_states_is_refused(
    spark: SparkSession, dumped: Path, earlier: Callable[[], None]
) -> None:
    """The receipt's size does not help where a dump was short from the beginning."""
    (graph,) = dumped.glob(".work/*/graph.dot")
    lines = graph.read_text().split("\n")
    last = max(number for number, line in enumerate(lines) if NODE.match(line))
    resized(graph, "\n".join((*lines[:last], *lines[last + 1 :])))
    with pytest.raises(GraphError, match=rf"expected {STATES} states, as TLC counted, not {STATES - 1}"):
        again(spark, dumped)
    earlier()


def resized(file: Path, text: str) -> None:
    """Write a file and what its receipt says of its size."""
    file.write_text(text)
    told = json.loads((file.parent / "dump.json").read_text())
    told["sizes"][file.name] = file.stat().st_size
    (file.parent / "dump.json").write_text(json.dumps(told))


def test_a_label_that_is_no_state_is_told_with_its_line(
    spark: SparkSession, dumped: Path, earlier: Callable[[], None]
) -> None:
    (graph,) = dumped.glob(".work/*/graph.dot")
    lines = graph.read_text().split("\n")
    number = next(n for n, line in enumerate(lines) if n > 300 and "network = {" in line)
    lines[number] = lines[number].replace("network = {", "network = <", 1)
    resized(graph, "\n".join(lines))
    with pytest.raises(GraphError, match=rf"graph\.dot:{number + 1}: expected a state: "):
        again(spark, dumped)
    earlier()


def test_a_step_that_is_none_is_told_with_its_line(
    spark: SparkSession, dumped: Path, earlier: Callable[[], None]
) -> None:
    (graph,) = dumped.glob(".work/*/graph.dot")
    lines = graph.read_text().split("\n")
    number = next(n for n, line in enumerate(lines) if n > 300 and " -> " in line)
    lines[number] = lines[number].replace(" [label=", " (label=", 1)
    resized(graph, "\n".join(lines))
    with pytest.raises(GraphError, match=rf"graph\.dot:{number + 1}: expected a state or a step, not "):
        again(spark, dumped)
    earlier()


def test_steps_in_another_order_than_printed_are_noticed(
    spark: SparkSession, dumped: Path, earlier: Callable[[], None]
) -> None:
    """Two acts that are exchanged leave all counts as they are."""
    (file,) = dumped.glob(".work/*/acts.bin")
    numbers = file.read_bytes()
    file.write_bytes(numbers[4:] + numbers[:4])
    with pytest.raises((GraphError, NotContained)):
        again(spark, dumped)
    earlier()


def test_edges_that_conform_does_not_try_are_a_finding(
    spark: SparkSession, dumped: Path, earlier: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = stages._table(MANIFEST, MODEL, ROOT, None)  # noqa: SLF001 - to be spoilt

    def spoilt(*_: object) -> StepTable:
        wrong = [evolve(result, effects=(*result.effects, "more")) for result in whole.results]
        assert all(isinstance(result, Result) for result in wrong)
        return evolve(whole, results=tuple(wrong))

    def narrow(*_: object) -> StepTable:
        """The table of an alphabet without the first event."""
        width = len(whole.events)
        cells = array("I", (cell for place, cell in enumerate(whole.cells) if place % width))
        return evolve(whole, events=whole.events[1:], cells=cells)

    for table, why in ((spoilt, "no row has this state"), (narrow, "its event is not in Alphabet")):
        monkeypatch.setattr(stages, "_table", table)
        with pytest.raises(NotContained, match=rf"stable {MODEL.name}: [\d,]+ kinds of transitions .*: {why}"):
            again(spark, dumped, evolve(MODEL, conform=True))
    earlier()


def test_a_worker_that_is_killed_is_an_error_and_the_next_run_is_whole(
    spark: SparkSession, dumped: Path, earlier: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def deadly(*_: object) -> Callable[[object], Iterator[Any]]:
        def task(_batches: object) -> Iterator[Any]:
            os.kill(os.getpid(), signal.SIGKILL)
            yield from ()

        return task

    with monkeypatch.context() as patch:
        patch.setattr(job, "replaying", deadly)
        with pytest.raises(WorkerDied, match=r"stage replay: a worker died.*Run again: TLC's dump is kept"):
            again(spark, dumped)
    earlier()
    assert again(spark, dumped).ok
    assert not (dumped / ".work").exists() or not any((dumped / ".work").iterdir())


# The command


def test_the_command_writes_the_tables_and_says_what_came(
    spark: SparkSession, made: Made, dumped: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def shared(*_: object, **__: object) -> Iterator[SparkSession]:
        yield spark

    monkeypatch.setattr(sessions, "session", shared)
    monkeypatch.chdir(ROOT)
    assert 0 == main(["pipeline", "stable", "--model", MODEL.name, "--out", str(dumped), "--json"])
    (told,) = json.loads(capsys.readouterr().out)
    assert (True, made.summary.states, made.summary.edges, {"pass": told["walks"]}) == tuple(
        told[name] for name in ("ok", "states", "edges", "verdicts")
    )
    assert told.items() <= receipt(dumped).items()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--model", "hasty"], "hasty"),
        (
            ["--model", "hold_vote_never__on_vote_held_one_round"],
            "hold_vote_never__on_vote_held_one_round is no model for safety that holds",
        ),
        (["--model", "note"], "note: the model has another MemberStep"),
        (["--tier", "quick"], "quick is none of smoke, full, deep"),
        (["--memory", "much"], "a whole number and k, m or g, such as 2g, not much"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["pipeline", "stable", *arguments])
    assert error in " ".join(capsys.readouterr().err.replace("|", " ").split())


def test_check_and_conform_never_import_spark() -> None:
    script = (
        "import sys\n"
        "from groupcomm_conformance.commands.main import main\n"
        "codes = [main([name, 'stable', '--model', 'pair', *more]) for name, *more in"
        " (('check', '--cached'), ('pipeline', '--model', 'absent'))]\n"
        "codes.append(main(['conform', 'stable', '--model', 'absent']))\n"
        "print([name for name in ('pyspark', 'pyarrow', 'numpy', 'pandas') if name in sys.modules])\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "[]" == ran.stdout.splitlines()[-1]


# The implementation, broken


def never_ignores(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    return evolve(after), effects


def falls_over(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    if isinstance(event, stable.StabilityTimeout):
        raise KeyError(state.member)
    return stable.step(config, state, event)


def counts_with_one(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    """1 is not TRUE, though Python thinks so."""
    after, effects = stable.step(config, state, event)
    return (evolve(after, pending=1) if after.pending else after), effects  # type: ignore[arg-type]


def speaks_of_nothing(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    return after, cast("Any", [*effects])


def walks_of(made: Made) -> list[list[Step]]:
    place = made.variables.index("local")
    values = {row["node"]: row["values"][place] for row in made.rows("states")}
    found: dict[int, list[Step]] = {}
    for row in sorted(made.rows("walks"), key=lambda row: (row["walk"], row["step"])):
        found.setdefault(row["walk"], []).append((row["act"] or 0, values[row["node"]]))
    return [*found.values()]


def replayer(made: Made, step: Callable[..., Any] = stable.step) -> Replayer:
    return Replayer(follower("stable", MODEL, core_of("stable", step)), made.texts)


@pytest.mark.parametrize(
    ("step", "verdict"),
    [
        (stable.step, "pass"),
        (forgets_the_minimum, "wrong_state"),
        (does_not_purge, "wrong_effects"),
        (never_ignores, "wrong_outcome"),
        (falls_over, "crash"),
        (counts_with_one, "wrong_state"),
        (speaks_of_nothing, "adapter_error"),
    ],
)
def test_a_broken_core_gets_its_verdict(made: Made, step: Callable[..., Any], verdict: str) -> None:
    of = replayer(made, step)
    told = [of.walk(steps) for steps in walks_of(made)]
    verdicts = {each.verdict for each in told} - {"pass"}
    assert verdicts == ({verdict} if verdict != "pass" else set())
    assert all(each.reason for each in told if each.verdict != "pass")


def test_a_step_that_is_altered_does_not_pass(made: Made) -> None:
    """The members' states are compared, and the step itself."""
    of = replayer(made)
    steps = max(walks_of(made), key=len)
    assert "pass" == of.walk(steps).verdict
    chance = random.Random(2009)  # noqa: S311 - repeatable
    acts = sorted({act for act, _ in steps if act})
    states = sorted({local for _, local in steps})
    at = chance.randrange(1, len(steps))
    act, local = steps[at]
    other = chance.choice([state for state in states if state != local])
    told = of.walk([*steps[:at], (act, other), *steps[at + 1 :]])
    assert ("wrong_state", at - 1) == (told.verdict, told.passed)
    at = next(at for at, (act, _) in enumerate(steps) if act and act != acts[0])
    assert "pass" != of.walk([*steps[:at], (acts[0], steps[at][1]), *steps[at + 1 :]]).verdict
