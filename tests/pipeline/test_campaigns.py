"""Campaigns: the same table wherever they run and whatever dies meanwhile; no other campaign's table is continued."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attrs import evolve

from groupcomm_commands.main import main
from groupcomm_conformance.files.errors import PathError
from groupcomm_conformance.models.checking import Cache, run_models
from groupcomm_conformance.models.manifest import find_root, load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.mutants.conforming import ModelTable
from groupcomm_conformance.steps.mutants.core_by_rows import Judge
from groupcomm_conformance.steps.mutants.implementation import mutants
from groupcomm_conformance.steps.mutants.spec_by_tlc import Noticed, confront
from groupcomm_conformance.steps.mutants.verdicts import judge as judge_spec
from groupcomm_conformance.steps.table import Tables
from groupcomm_simulator.running import PART, replay, run_seed
from groupcomm_simulator.setup import Faults, Setup
from groupcomm_spark import mutants as mutant_tasks
from groupcomm_spark import running, schemas, seeds
from groupcomm_spark.running import Campaign
from groupcomm_spark.shipping import folder_of
from groupcomm_spark.table import Row, table
from tests.pipeline.cluster import Cluster, kill

ROOT = find_root(Path(__file__).parent)
STACK = "flush/gms"
SETUP = Setup(("flush", "gms"), members=3, faults=Faults(Setup(("flush", "gms")).borne))
SEEDS = range(1, 7)
ASKED = ["simulate", STACK, "--members", "3", "--events", str(PART * len(SEEDS))]


def rows_of(folder: Path) -> list[Row]:
    """The rows of a table by their keys, without what differs from one run to another."""
    found: list[Row] = pq.read_table(folder).to_pylist()
    return sorted(
        ({name: value for name, value in row.items() if name != "seconds"} for row in found),
        key=lambda row: next(iter(row.values())),
    )


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of a campaign on this machine; not to be changed."""
    folder = tmp_path_factory.mktemp("local") / "table"
    assert 0 == main([*ASKED, "--master", "local[2]", "--table", str(folder)])
    return folder


@pytest.fixture
def copied(local: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(local, tmp_path / "table"))


def test_a_row_is_what_a_seed_gives_without_spark(local: Path) -> None:
    rows = rows_of(local)
    assert [*SEEDS] == [row["seed"] for row in rows]
    for row in rows[:2]:
        result = run_seed(SETUP, row["seed"])
        assert (result.events, result.members, "holds") == (row["events"], row["members"], row["verdict"])
        assert dict(result.happened) == dict(row["happened"])
        assert dict(result.judged) == dict(row["judged"])


@pytest.mark.nightly
def test_two_workers_and_a_lost_one_give_the_same_table(local: Path, tmp_path: Path) -> None:
    """One worker is killed, executor and all, once both have begun; the other one does its part."""
    killed: list[int] = []
    came: list[Row] = []
    with Cluster(tmp_path) as cluster:
        workers = [cluster.worker(), cluster.worker()]

        def seen(executors: int) -> None:
            if executors == len(workers) and came and not killed:
                kill(workers[0])
                killed.append(len(came))

        with table(tmp_path / "table", seeds.identity(SETUP), schemas.SEEDS) as opened:
            running.run(
                Campaign(seeds.prepare, SETUP),
                SEEDS,
                len(SEEDS),
                opened,
                master=cluster.master,
                on_rows=came.extend,
                on_wait=seen,
            )
        # And the command takes the table for that of its own campaign, whoever began it.
        assert 0 == main([*ASKED, "--master", cluster.master, "--table", str(tmp_path / "table")])
    assert rows_of(local) == rows_of(tmp_path / "table")
    assert killed
    assert killed[0] < len(SEEDS)


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_an_interrupted_campaign_goes_on(how: signal.Signals, code: int, local: Path, tmp_path: Path) -> None:
    """Rows of the table are not run again, and nothing is there twice."""
    folder = tmp_path / "table"
    arguments = [*ASKED, "--table", str(folder), "--master"]
    text = (
        "import sys; from groupcomm_spark import running; running.WRITTEN = 0;"
        "from groupcomm_commands.main import main; sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", text, *arguments, "local[1]"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        while process.poll() is None and not [*folder.glob("part-*")]:
            time.sleep(0.02)
        os.kill(process.pid, how)
        _, said = process.communicate()
    finally:
        process.kill()
    assert code == process.returncode, said
    before = rows_of(folder)
    assert 0 < len(before) < len(SEEDS)
    assert (b"the same command continues" in said) == (how == signal.SIGINT)
    assert 0 == main([*arguments, "local[2]"])
    assert rows_of(local) == rows_of(folder)
    assert len(SEEDS) == pq.read_table(folder).num_rows


def test_more_events_go_on_where_fewer_ended(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["simulate", STACK, "--members", "3", "--events", "3.5e4", "--table", str(copied), "--json"]
    assert 0 == main([*more, "--master", "local[1]"])
    told = json.loads(capsys.readouterr().out)
    assert (7, 6, 1) == (told["groups"], told["campaign"]["rows_before"], told["campaign"]["rows"])
    assert [*range(1, 8)] == [row["seed"] for row in rows_of(copied)]


def test_a_violation_is_in_the_table_with_a_schedule_that_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["simulate", STACK, "--members", "3", "--weaken", "unicast=lossy", "--events", "1", "--json"]
    assert 1 == main([*asked, "--table", str(tmp_path / "table"), "--master", "local[1]"])
    told = json.loads(capsys.readouterr().out)
    (row,) = rows_of(tmp_path / "table")
    found = seeds.result_of(row | {"seconds": 0.0}).found
    assert found is not None
    setup = Setup(SETUP.names, members=3, faults=SETUP.faults, weaker=(("unicast", "lossy"),))
    violation, _ = replay(setup, row["seed"], found.schedule)
    assert violation is not None
    assert found.claim == violation.claim == row["claim"] == told["violation"]["claim"]
    assert len(found.schedule) < 200
    assert [{"seed": 1, "claim": found.claim, "text": found.text}] == told["campaign"]["violations"]


# Other tasks


def test_models_are_searched_as_by_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["pair_three", "merge_rule_max"]
    asked = ["check", "stable", *(word for name in names for word in ("--model", name)), "--json"]
    assert 0 == main([*asked, "--master", "local[2]", "--table", str(tmp_path / "table")])
    told = {model["model"]: model for model in json.loads(capsys.readouterr().out)["models"]}
    stable = load(ROOT, "stable")
    counts = stable.model("pair_three").counts
    assert counts is not None
    assert counts.distinct == told["pair_three"]["distinct"]
    assert "violates: MinimumWithinVote" == told["merge_rule_max"]["outcome"]
    kept = run_models([(stable, stable.model(name)) for name in names], cache=Cache.of(ROOT))
    assert all(checked.cached for checked in kept)
    assert [checked.distinct for checked in kept] == [told[name]["distinct"] for name in names]
    assert 0 == main([*asked, "--table", str(tmp_path / "table")])
    assert told == {model["model"]: model for model in json.loads(capsys.readouterr().out)["models"]}


def test_mutants_are_judged_as_by_mutants(tmp_path: Path) -> None:
    stable = load(ROOT, "stable")
    model = stable.model("pair")
    (checked,) = run_models([(stable, model)], cache=Cache.of(ROOT))
    assert checked.harvest is not None
    steps, _ = table_of(stable, model, checked.harvest, Tables.of(ROOT))
    tables = {"pair": (steps, derive.constants_of(stable.cfg(model)))}
    protocol = derive.load(stable)
    made = mutants(protocol)[::20]
    campaign = Campaign(
        mutant_tasks.judges,
        mutant_tasks.Implementation("stable", tables),
        files=folder_of(ROOT / "spec", "spec"),
        most=4,
    )
    with table(tmp_path / "table", {"command": "mutants"}, schemas.MUTANTS) as opened:
        running.run(campaign, made, len(made), opened, master="local[2]")
    found = {row["mutant"]: row["by"] for row in rows_of(tmp_path / "table")}
    judge = Judge(protocol, tables)
    assert {mutant.name: judge.judge(mutant) for mutant in made} == found
    assert any(found.values())


def test_mutants_of_a_specification_are_judged_as_by_confront(tmp_path: Path) -> None:
    """By a worker that gets them pickled, and finds the modules in what was shipped."""
    stable = load(ROOT, "stable")
    model = stable.model("pair_three")
    (checked,) = run_models([(stable, evolve(model, conform=True))])
    assert checked.harvest is not None
    steps, key = table_of(stable, model, checked.harvest, None)
    tables = {"pair_three": ModelTable(steps, key, derive.constants_of(stable.cfg(model)))}
    shutil.copytree(ROOT / "spec", tmp_path / "spec")

    def both(folders: Sequence[Path], *parts: Any, workers: int | None) -> list[Noticed | None]:  # noqa: ANN401 - as `confront` has them
        definitions, made, *rest = parts
        chosen = made[::60]
        context = mutant_tasks.Confronting(
            tuple(str(folder.relative_to(ROOT)) for folder in folders), definitions, made, *rest
        )
        worker = mutant_tasks.confronts(tmp_path, pickle.loads(pickle.dumps(context)))  # noqa: S301 - our own
        rows = worker([*range(0, len(made), 60)])
        assert [mutant.name for mutant in chosen] == [row["mutant"] for row in rows]
        found = confront(folders, definitions, chosen, *rest, workers=workers)
        assert any(found)
        assert found == [*map(mutant_tasks.noticed_of, rows)]
        return [None] * len(made)

    judge_spec(stable, tables, workers=1, confronting=both)


# Refused input


def refused(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(list(arguments))
    captured = capsys.readouterr()
    assert not captured.out
    return code, captured.err.strip().splitlines()[-1]


def test_another_stack_is_refused_in_the_folder(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = refused(["simulate", "sequencer/flush/gms", "--table", str(copied)], capsys)
    assert 2 == code
    assert "the table there is of stack flush/gms, not sequencer/flush/gms" in text
    assert "--table" in text


def test_other_code_is_refused_in_the_folder(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(seeds, "code_of", lambda *_rooms: "another")
    code, text = refused([*ASKED, "--table", str(copied)], capsys)
    assert 2 == code
    assert "is of code " in text


def damaged_by_cut(part: Path) -> None:
    part.write_bytes(part.read_bytes()[:-20])


def damaged_by_a_bit(part: Path) -> None:
    content = bytearray(part.read_bytes())
    content[200] ^= 1
    part.write_bytes(content)


def damaged_by_columns(part: Path) -> None:
    pq.write_table(pa.table({"seed": [1]}), part)


def damaged_by_repetition(part: Path) -> None:
    shutil.copy(part, part.with_name("part-0.parquet"))


@pytest.mark.parametrize("damage", [damaged_by_cut, damaged_by_a_bit, damaged_by_columns, damaged_by_repetition])
def test_a_damaged_part_is_named(
    damage: Callable[[Path], None], copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = next(copied.glob("part-*.parquet"))
    damage(part)
    code, text = refused([*ASKED, "--table", str(copied)], capsys)
    assert 2 == code
    assert "part-" in text
    assert "remove " in text


def test_what_was_half_written_is_no_row(copied: Path, local: Path) -> None:
    part = next(copied.glob("part-*.parquet"))
    part.with_name(f".{part.name}-0123").write_bytes(part.read_bytes()[:100])
    assert 0 == main([*ASKED, "--table", str(copied)])
    assert rows_of(local) == rows_of(copied)
    assert not [*copied.glob(".part-*")]


def test_a_part_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with table(tmp_path / "table", {}, schemas.MUTANTS) as opened:
        opened.add([{"mutant": "a", "line": 1, "verdict": "noticed", "by": "row 1"}])

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", full)
            with pytest.raises(OSError, match="No space"):
                opened.add([{"mutant": "b", "line": 1, "verdict": "noticed", "by": "row 1"}])
        assert {"a"} == opened.keys
    assert ["a"] == [row["mutant"] for row in rows_of(tmp_path / "table")]
    assert not [*(tmp_path / "table").glob(".part-*")]


def test_a_table_has_one_writer(tmp_path: Path) -> None:
    with (
        table(tmp_path, {}, schemas.MUTANTS),
        pytest.raises(PathError, match="another groupcomm writes"),
        table(tmp_path, {}, schemas.MUTANTS),
    ):
        pass


def test_a_folder_of_something_else_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").touch()
    code, text = refused([*ASKED, "--table", str(tmp_path)], capsys)
    assert 2 == code
    assert "it has thesis.tex" in text
    assert ["thesis.tex"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("damage", ["", "[]", '{"command": '])
def test_a_damaged_identity_is_named(damage: str, copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (copied / "_campaign.json").write_text(damage)
    code, text = refused([*ASKED, "--table", str(copied)], capsys)
    assert 2 == code
    assert "_campaign.json: it is damaged" in text


@pytest.mark.parametrize(
    ("master", "code", "said"),
    [
        ("spark://127.0.0.1:1", 3, "no master of Spark answers at spark://127.0.0.1:1 (connection refused)"),
        ("spark://127.0.0.1", 2, "no Spark is at 'spark://127.0.0.1'"),
        ("spark://127.0.0.1:99999", 3, "no master of Spark answers"),
        ("local[0]", 2, "local[*], local[2] or spark://host:7077, not local[0]"),
        ("local[two]", 2, "not local[two]"),
        ("nowhere://x", 2, "no Spark is at 'nowhere://x'"),
        ("", 2, "local[*], local[2] or spark://host:7077"),
    ],
)
def test_a_master_that_is_none_is_refused(
    master: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, text = refused([*ASKED, "--master", master, "--table", str(tmp_path / "table")], capsys)
    assert code == found, text
    assert said in text


def test_a_master_without_workers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(running, "PATIENCE", 1.0)
    with Cluster(tmp_path) as cluster:
        code, text = refused([*ASKED, "--master", cluster.master, "--table", str(tmp_path / "table")], capsys)
    assert 3 == code
    assert "gave no executor" in text


def test_without_spark_what_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    code, text = refused([*ASKED, "--table", str(tmp_path / "table")], capsys)
    assert 3 == code
    assert "pyspark is not installed" in text


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    (tmp_path / "file").touch()
    return tmp_path / "file" / "table"


def test_a_folder_that_cannot_be_made_is_refused(closed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = refused([*ASKED, "--table", str(closed)], capsys)
    assert 2 == code
    assert "name another folder with --table" in text
