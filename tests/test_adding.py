"""A protocol is added by the steps that CONTRIBUTING names, and by nothing else: no other file names it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with no protocol but ONCE, which is in `tests/adding`: its specification and its core."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "spec" / "common", root / "spec" / "common")
    shutil.copytree(ROOT / "impl", root / "impl")
    shutil.copytree(ROOT / "tests" / "adding", root, dirs_exist_ok=True)
    (root / "tests").mkdir()
    for name in ("test_protocols.py", "cores.py", "conftest.py", "sharing.py"):
        shutil.copy(TESTS / name, root / "tests")
    return root


def run(root: Path, module: str, *arguments: str) -> tuple[int, str]:
    """Run a Python module in the project, with the project's implementations; give exit code and output."""
    places = (root / "impl", ROOT / "conformance")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    ran = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


def groupcomm(root: Path, *arguments: str) -> tuple[int, str]:
    return run(root, "groupcomm_commands.main", *arguments)


def test_its_models_are_checked(project: Path) -> None:
    code, said = groupcomm(project, "check", "once")
    assert (0, True) == (code, "each of 2 claims is violated by some ablation" in said), said


def test_its_implementation_conforms(project: Path) -> None:
    code, said = groupcomm(project, "conform", "once")
    assert (0, True) == (code, "once pair: ok: 48 pass" in said), said
    code, again = groupcomm(project, "conform", "once", "--cached")
    assert (0, True) == (code, "once pair: ok: 48 pass" in again and "1 of 1 verdicts are as before" in again), again


def test_what_holds_of_every_protocol_holds_of_it(project: Path) -> None:
    """Local steps, walks of graphs and random ones, values, guards, and broken implementations."""
    code, said = run(project, "pytest", "-q", "-p", "no:cacheprovider", "tests/test_protocols.py")
    assert 0 == code, said


def test_a_broken_implementation_is_named(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project, tmp_path / "broken")
    core = tmp_path / "broken" / "impl" / "groupcomm" / "once.py"
    text = core.read_text()
    assert 1 == text.count("number <= state.highest")
    core.write_text(text.replace("number <= state.highest", "number < state.highest"))
    code, said = groupcomm(tmp_path / "broken", "conform", "once", "--cached")
    assert (1, True) == (code, "FAILS once pair: wrong_outcome: NoteReceived" in said), said


@pytest.mark.parametrize(
    ("line", "without", "message"),
    [
        ("Event: TypeAlias = SendRequested | NoteReceived", "Event: TypeAlias = SendRequested", "NoteReceived"),
        ("    most: int", "    least: int", "Config.least comes from the constant Least"),
        ("    highest: Highest", "    highest: list[int]", "an annotation that TLA+ has no values for"),
    ],
)
def test_what_does_not_fit_the_specification_is_said(
    project: Path, tmp_path: Path, line: str, without: str, message: str
) -> None:
    shutil.copytree(project / "impl", tmp_path / "impl")
    shutil.copytree(project / "spec", tmp_path / "spec")
    core = tmp_path / "impl" / "groupcomm" / "once.py"
    text = core.read_text()
    assert 1 == text.count(line)
    core.write_text(text.replace(line, without))
    code, said = groupcomm(tmp_path, "conform", "once")
    assert (2, True) == (code, message in " ".join(said.split())), said


def test_without_an_implementation_it_is_said_what_to_write(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project, tmp_path / "bare")
    (tmp_path / "bare" / "impl" / "groupcomm" / "once.py").unlink()
    code, said = groupcomm(tmp_path / "bare", "conform", "once")
    assert (2, True) == (code, "write impl/groupcomm/once.py" in said), said
