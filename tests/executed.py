"""Tests that execute a line of the engine: each test file runs once under coverage.py, each test a context.

As a plugin of pytest this module names the contexts, notes the seconds of each test that passes and of the dearest
setup, and ends a file that takes longer than `SECONDS`: the tests after that are asked for no line. A run is kept in
the cache, by the text of the test file, of what it may import, and of the engine. Processes that a test starts are not
seen.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import coverage
import pytest
from attrs import frozen

SECONDS: Final = 90

_NOT_RUN: Final = (
    "not pipeline and not jgroups and not prove and not documented and not itf and not installed and not nightly"
)
_started: Final = time.monotonic()
_seconds: Final[dict[str, float]] = defaultdict(float)
_setups: Final = [0.0]
_failed: Final = set[str]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    now = coverage.Coverage.current()
    assert now is not None
    now.switch_context(item.nodeid)
    if time.monotonic() - _started > SECONDS:
        item.session.shouldstop = "the time is over"
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "setup":
        _setups.append(report.duration)
    else:
        _seconds[report.nodeid] += report.duration
    if not report.passed:
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    now = coverage.Coverage.current()
    assert now is not None
    passed = {test: seconds for test, seconds in _seconds.items() if test not in _failed}
    told = json.dumps({"seconds": passed, "setup": max(_setups)})
    Path(f"{now.get_option('run:data_file')}").with_suffix(".json").write_text(told, "utf-8")


@frozen
class Run:
    """A run of a test file: the seconds of each test that passed, those of the dearest setup, and who executes a line.

    A fixture of a whole file is set up for the first test that asks for it.
    """

    seconds: dict[str, float]
    setup: float
    lines: coverage.CoverageData

    def tests(self, file: str, lines: Iterable[int]) -> list[str]:
        """Give the tests that execute one of these lines of the engine; any test if the import does."""
        by_line = self.lines.contexts_by_lineno(file)
        contexts = {context for line in lines for context in by_line.get(line, ())}
        return sorted(contexts & self.seconds.keys()) or ([*self.seconds][:1] if "" in contexts else [])


def executed(copy: Path, kept: Path, patterns: Iterable[str]) -> list[Run]:
    """Run the test files of a copy of the project, or take what is kept of them."""
    found = sorted((copy / "tests").rglob("*.py"))
    tests = [file for file in found if file.name.startswith("test_")]
    engine = [file for each in ("conformance", "impl", "runtime") for file in sorted((copy / each).rglob("*.py"))]
    shared = [_digest(file) for file in (*engine, *found) if file not in tests]
    kept.mkdir(parents=True, exist_ok=True)
    return [
        _run(copy, str(file.relative_to(copy)), kept / _digest(file, *shared))
        for file in tests
        if any(file.match(each) for each in patterns)
    ]


def _digest(file: Path, *more: str) -> str:
    return hashlib.sha256(b"\n".join([str(file.name).encode(), file.read_bytes(), *map(str.encode, more)])).hexdigest()


def _run(copy: Path, file: str, data: Path) -> Run:
    seconds = data.with_suffix(".json")
    if not seconds.exists():
        ran = tested(copy, ["-p", __name__, file], 10 * SECONDS, f"--data-file={data}")
        if not seconds.exists():
            sys.exit(f"{file}: {ran.stdout}{ran.stderr}")
    lines = coverage.CoverageData(str(data))
    lines.read()
    return Run(**json.loads(seconds.read_text("utf-8")), lines=lines)


def tested(copy: Path, arguments: Iterable[str], seconds: float, *covered: str) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy of the project, with its engine; with options of coverage under it."""
    folders = (copy, *(copy / each for each in ("impl", "runtime", "conformance")))
    under = ["coverage", "run", *covered, "-m"] if covered else []
    return subprocess.run(
        [sys.executable, "-m", *under, "pytest", "-q", "-p", "no:cacheprovider", "-m", _NOT_RUN, *arguments],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
