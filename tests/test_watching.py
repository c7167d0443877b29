"""`conform --adapter ... --watch`: rows again when the port's program changes, first those that failed."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groupcomm_commands.exits import ExitCode
from groupcomm_commands.main import main
from groupcomm_commands.watching import changes
from tests.test_adapter import CORE, SMALL

PORT = f"""
import runpy, sys
from attrs import evolve
import groupcomm.stable as core
right = core.step
def step(config, state, event):
    after, effects = right(config, state, event)
    return BROKEN
core.step = step
runpy.run_path({str(CORE)!r}, run_name="__main__")
"""
TIMEOUT = 300


@contextmanager
def watching(port: Path) -> Iterator["subprocess.Popen[str]"]:
    adapter = shlex.join((sys.executable, str(port)))
    command = ("conform", "stable", "--model", SMALL["stable"], "--adapter", adapter, "--watch")
    with subprocess.Popen(
        (sys.executable, "-m", "groupcomm_commands.main", *command),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        late = threading.Timer(TIMEOUT, process.kill)
        late.start()
        try:
            yield process
        finally:
            late.cancel()
            process.kill()


def told(process: "subprocess.Popen[str]") -> list[str]:
    """Read what it says until it waits."""
    assert process.stdout is not None
    found: list[str] = []
    while not found or not found[-1].startswith("waits until"):
        line = process.stdout.readline()
        assert line, f"it ended, or was too slow, after {found}"
        found.append(line)
    return found


def test_rows_that_failed_come_first_at_each_change(tmp_path: Path) -> None:
    port = tmp_path / "port.py"
    port.write_text(PORT.replace("BROKEN", "after, effects[:-1]"))
    with watching(port) as process:
        first = told(process)
        failed = next(line for line in first if line.startswith("stable join_small: FAILS"))
        port.write_text(PORT.replace("BROKEN", "(after, effects) if len(effects) < 2 else (after, effects[:-1])"))
        fewer = told(process)
        (line,) = [line for line in fewer if line.startswith("stable join_small")]
        assert line.startswith("stable join_small rows that failed: FAILS")  # and no other row
        assert line != failed
        port.write_text("a program that does not start")
        assert any("FAILS" in line and "port.py" in line for line in told(process))
        port.write_text(PORT.replace("BROKEN", "after, effects"))
        right = told(process)
        assert any(line.startswith("stable join_small rows that failed: ok: ") for line in right)
        assert any(line.startswith("stable join_small: ok: 600 pass") for line in right)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == ExitCode.INTERRUPTED


def test_a_folder_of_classes_is_watched(tmp_path: Path) -> None:
    (tmp_path / "Port.class").write_text("1")
    signs = changes(f"{sys.executable} -cp {shlex.quote(str(tmp_path))} port.Adapter")
    next(signs)
    (tmp_path / "More.class").write_text("2")
    began = time.monotonic()
    next(signs)
    assert time.monotonic() - began < TIMEOUT


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--watch",), "name its --adapter"),
        (("--watch", "--adapter", "x", "--strict"), "only --adapter"),
        (("--watch", "--adapter", "x", "--row", "3"), "only --adapter"),
        (("--watch", "--adapter", "x", "--json"), "only --adapter"),
        (("--watch", "--adapter", "no-such-program"), "nothing to watch"),
    ],
)
def test_bad_input_is_an_error(more: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "stable", "--model", SMALL["stable"], *more]) != ExitCode.OK
    assert said in " ".join(capsys.readouterr().err.split())
