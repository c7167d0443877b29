"""accept --master: the same verdicts as without Spark, by a task a log."""

import asyncio
import os
import pickle
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

import pytest

from groupcomm_commands.main import main
from groupcomm_conformance.files.errors import PathError
from groupcomm_runtime.logs import lines_of
from groupcomm_spark import logs as replays
from groupcomm_spark import schemas
from groupcomm_spark.table import Table
from tests.pipeline.cluster import Cluster
from tests.runtime.test_logs import converse


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("group")
    asyncio.run(asyncio.wait_for(converse(folder), 240))
    return folder / "logs"


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(["accept", *map(str, arguments)])
    return code, capsys.readouterr().out


def test_spark_accepts_and_rejects_as_one_process_does(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whole logs, with TLC; a line that lacks; of a killed member the last line, and half of its log."""
    spark = ("--master", "local[2]", "--table", tmp_path / "whole")
    assert (code := said(capsys, logs, "--steps", 20)) == said(capsys, logs, "--steps", 20, *spark)
    assert 0 == code[0]
    assert "unicast by TLC: 60 of" in code[1]
    first, *_ = sorted(logs.iterdir())
    lines = [len(line).to_bytes(4) + line for line in lines_of(first.read_bytes())[0]]
    whole = first.read_bytes()
    try:
        for at, (kept, options) in enumerate(
            (([*lines[:20], *lines[21:]], []), (lines[:-1], ["--killed", "a"]), (lines[:40], ["--killed", "a"]))
        ):
            first.write_bytes(b"".join(kept))
            table = ("--master", "local[2]", "--table", tmp_path / str(at))
            alone = said(capsys, logs, "--steps", 0, *options)
            assert alone == said(capsys, logs, "--steps", 0, *options, *table)
            assert alone[0] == (0 if at == 1 else 1), alone[1]
    finally:
        first.write_bytes(whole)


class _Runs:
    """Pickled, it is a call of a function."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.called = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.called


def lying(folder: Path) -> dict[str, bytes]:
    """Rows that are no replayed logs."""
    return {
        "a call of the system": pickle.dumps(_Runs(os.system, f"touch {folder / 'shout'}")),
        "a function of the cores": pickle.dumps(_Runs(attrgetter("view.attrs.evolve"), 1)),
        "a way through a core to what is no core's": b"\x80\x04\x8c\x0egroupcomm.view\x8c\x0eView.__class__\x93.",
        "another value": pickle.dumps({"log": "a"}),
        "no pickle": b"\xff" * 40,
        "nothing": b"",
    }


@pytest.mark.parametrize("row", lying(Path()))
def test_a_table_from_elsewhere_runs_nothing(row: str, tmp_path: Path) -> None:
    """The row has the right key, the part the right name: both are anybody's to write."""
    table = Table(tmp_path / "table", schemas.LOGS)
    table.folder.mkdir()
    table.add([{"log": "a.log", "life": lying(tmp_path)[row]}])
    with pytest.raises(PathError, match=r"the row of a\.log has no replayed log .*remove the table"):
        replays.lives(table)
    assert not (tmp_path / "shout").exists()


def test_a_file_that_is_no_log_is_the_same_error(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("hello\n")
    assert (
        2
        == main(["accept", str(tmp_path)])
        == main(["accept", str(tmp_path), "--master", "local[2]", "--table", str(tmp_path / "table")])
    )


@pytest.mark.nightly
def test_workers_of_a_cluster_get_the_code_of_the_runtime(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Cluster(tmp_path) as cluster:
        cluster.worker()
        spark = ("--master", cluster.master, "--table", tmp_path / "table")
        assert said(capsys, logs, "--steps", 0) == said(capsys, logs, "--steps", 0, *spark)
