"""Fixtures that several test files share, and settings of Hypothesis.

HYPOTHESIS_PROFILE names a profile, `dev` unless CI is set.
"""

import os
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from groupcomm_conformance.models.checking import Cache, run_models, select
from groupcomm_conformance.models.manifest import load, protocols
from tests.sharing import once, shared

if TYPE_CHECKING:
    from xdist.scheduler import LoadScopeScheduling

pytest.register_assert_rewrite("tests.cores")

# A shell that runs the tests in the background has SIGINT ignored, and a process that a test interrupts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A slow machine is no failure: no deadlines.
settings.register_profile("dev", deadline=None, max_examples=50, stateful_step_count=40)
settings.register_profile("ci", deadline=None, max_examples=100, stateful_step_count=50, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=2000, stateful_step_count=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


TESTS = Path(__file__).parent
PROTOCOLS = protocols(TESTS.parent)
FIRST = (
    "torture",
    "transfer",
    "report",
    "stable",
    "sequencer",
    "gms",
    "scenario",
    "release",
    "go_port",
    "cycles",
    "adapter",
    "simulate_whole",
    "one_order",
    "datagrams",
    "tlc",
    "adding",
    "checking",
    "conform",
    "spec_mutants",
)
"""Long tests begin early, so that no worker waits for another at the end."""


def unit(test: str) -> str:
    """Name what one worker does by itself, as its tests share what takes long to make.

    That is a file, the report, or the graphs, tables and random walks of a protocol.
    """
    file, _, name = test.partition("::")
    _, folder, *_ = file.split("/")
    if folder == "test_protocols.py":
        parameters = name.partition("[")[2].rstrip("]").split("-")
        folder = next((each for each in parameters if each in PROTOCOLS), folder)
    return folder if folder in PROTOCOLS or folder == "report" else file


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):  # of several workers: `make test`
        order = {name: place for place, name in enumerate(FIRST)}
        items.sort(key=lambda item: min((n for name, n in order.items() if name in unit(item.nodeid)), default=99))
        items[:] = in_turn(items)


def in_turn(items: list[pytest.Item]) -> list[pytest.Item]:
    """Order units so that one in three is of the runtime, whose tests wait for sockets and timers.

    They stand together otherwise, and while all workers wait at once the cores have nothing to do.
    """
    units: dict[str, list[pytest.Item]] = {}
    for item in items:
        units.setdefault(unit(item.nodeid), []).append(item)
    waiting = [each for name, each in units.items() if name.startswith("tests/runtime/")]
    busy = [each for name, each in units.items() if not name.startswith("tests/runtime/")]
    turns = [[*waiting[n : n + 1], *busy[2 * n : 2 * n + 2]] for n in range(max(len(waiting), len(busy)))]
    return [item for turn in turns for each in turn for item in each]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> "LoadScopeScheduling":  # noqa: ANN401
    """Give each unit to one worker, as its own mark `xdist_group` does nothing with pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415 - where it is not installed, pytest does not ask

    class Units(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    return Units(config, log)


@pytest.fixture(scope="session")
def checked_toy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the toy protocol of `data` and a cache of all its results; not to be changed.

    TLC runs once for all workers; the folder is a worker's own, as commands write into the cache.
    """

    def make(folder: Path) -> None:
        shutil.copytree(TESTS / "data", folder, dirs_exist_ok=True)
        toy = load(folder, "toy")
        run_models([(toy, model) for model in select(toy)], cache=Cache.of(folder))

    whole = once(shared(request, tmp_path_factory) / "toy", make)
    return Path(shutil.copytree(whole, tmp_path_factory.mktemp("checked"), dirs_exist_ok=True))
