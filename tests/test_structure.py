"""The structure of the packages: what may import what, and no module or room imports itself in a circle."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from groupcomm_conformance.files.keys import imports as imports_of
from groupcomm_conformance.models.manifest import cores
from tests import conftest

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "impl", ROOT / "runtime", ROOT / "conformance")
ENGINE = "groupcomm_conformance"

HEART = tuple(f"{ENGINE}.{room}" for room in ("files", "tla", "tlc", "models", "protocols", "steps", "walks"))
"""The rooms that hold a core to its specification, whatever the protocol."""

ARROWS = {
    ("groupcomm",): (),
    ("groupcomm_runtime",): ("groupcomm",),
    ("groupcomm_simulator",): ("groupcomm",),
    (ENGINE,): ("groupcomm", "groupcomm_simulator", ENGINE),
    HEART: (*HEART, "groupcomm.core", "groupcomm.errors", "groupcomm.shapes"),
    (f"{ENGINE}.why",): tuple(f"{ENGINE}.{room}" for room in ("files", "tla", "tlc", "models")),
    ("groupcomm_proof",): HEART,
    ("groupcomm_field",): ("groupcomm", "groupcomm_runtime", "groupcomm_simulator", *HEART, f"{ENGINE}.random_events"),
    ("groupcomm_spark",): ("groupcomm", "groupcomm_runtime", "groupcomm_simulator", "groupcomm_field", *HEART),
    ("groupcomm_commands",): tuple(
        f"groupcomm{part}" for part in ("", "_runtime", "_simulator", "_field", "_proof", "_spark", "_conformance")
    ),
}
"""Packages and rooms, and what each may import besides itself. A module keeps to the last line that names it."""


def module_of(file: Path, folder: Path) -> str:
    parts = file.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(file, folder): file for folder in FOLDERS for file in folder.glob("groupcomm*/**/*.py")}


def imported(module: str, file: Path) -> Iterator[str]:
    """The modules of the packages that a module imports, wherever in its text."""
    return (name for name in imports_of(module, file) if name in MODULES and name != module)


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """A circle of a graph, [] if it has none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


@cache
def imports() -> dict[str, set[str]]:
    """Each module with the modules that it imports; made by a test, not by each worker that collects tests."""
    return {module: set(imported(module, file)) for module, file in MODULES.items()}


def test_there_are_imports_to_judge() -> None:
    assert f"{ENGINE}.tlc.run" in imports()[f"{ENGINE}.models.running"] | imports()[f"{ENGINE}.models.plan"]
    assert sum(map(len, imports().values())) > 100


def inside(module: str, *packages: str) -> bool:
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


def test_each_package_imports_what_its_line_of_the_table_allows() -> None:
    wrong = set()
    for module, targets in imports().items():
        own, allowed = [line for line in ARROWS.items() if inside(module, *line[0])][-1]
        wrong |= {(module, target) for target in targets if not inside(target, *own, *allowed)}
    assert set() == wrong


def test_no_module_imports_itself_in_a_circle() -> None:
    assert [] == circle(imports())


def test_no_room_imports_itself_in_a_circle() -> None:
    """A room is a package, of the engine each folder; those above use those below, never the other way round."""

    def room(module: str) -> str:
        return ".".join(module.split(".")[: 2 if inside(module, ENGINE) else 1])

    rooms: dict[str, set[str]] = {}
    for module, targets in imports().items():
        rooms.setdefault(room(module), set()).update(map(room, targets))
    assert [] == circle({room: targets - {room} for room, targets in rooms.items()})


def test_no_module_is_much_over_500_lines() -> None:
    lengths = {
        module: len(file.read_text(encoding="utf-8").splitlines())
        for module, file in MODULES.items()
        if file.is_relative_to(ROOT / "conformance")
    }
    assert {} == {module: length for module, length in lengths.items() if length > 520}


# Modules that run by themselves


WORKFLOWS = ROOT / ".github" / "workflows"
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = dict(re.findall(r"^([a-z-]+):(?!=)(.*)$", MAKEFILE, re.MULTILINE))


def calls(workflow: str) -> list[str]:
    """What the steps of a workflow give to `make`."""
    text = (WORKFLOWS / workflow).read_text(encoding="utf-8")
    return re.findall(r"^ *- run: make (.*)$", text, re.MULTILINE)


def test_the_checks_of_a_change_make_targets_that_there_are() -> None:
    made = {call.split()[0] for call in calls("checks.yml")}
    assert made == {"lint", "conform", "test"}
    assert made <= {*TARGETS}


def test_the_fast_check_has_the_tests_of_all_protocols_of_the_engine_and_of_the_runtime() -> None:
    (paths,) = re.findall("^test ARGS='(.*)'$", "\n".join(calls("checks.yml")), re.MULTILINE)
    folders = {f"tests/{name}" for name in cores(ROOT) if (ROOT / "tests" / name).is_dir()}
    assert {*folders, "tests/runtime", "tests/test_*.py"} == {*paths.split()}


def test_the_nightly_workflow_does_all_that_make_nightly_does_and_each_protocol_by_itself() -> None:
    """Its jobs are those that `make nightly-jobs` prints; the workflow has no list of its own."""
    assert ["${{ matrix.target }}", "test"] == calls("nightly.yml")  # the second with other versions
    workflow = (WORKFLOWS / "nightly.yml").read_text(encoding="utf-8")
    assert "target: ${{ fromJSON(needs.list.outputs.jobs) }}" in workflow
    assert 'run: echo "jobs=$(make -s nightly-jobs)" >> "$GITHUB_OUTPUT"' in workflow
    line = ["make", "-s", "nightly-jobs"]
    jobs = json.loads(subprocess.run(line, cwd=ROOT, capture_output=True, check=True).stdout)
    each = {f"{target} PROTOCOL={name}" for target in ("mutants", "random") for name in cores(ROOT)}
    assert each == {job for job in jobs if "=" in job}
    whole = {*jobs} - each
    assert {"deep", "closed", "torture", "broken-ports", "jgroups", "nightly-simulate"} <= whole <= {*TARGETS}
    assert TARGETS["nightly"].partition("##")[0].split() == ["$(NIGHTLY)", "random", "mutants"]


def test_workers_take_all_units_and_one_in_three_waits() -> None:
    """Where units of the runtime, whose tests wait, stand together, all workers wait at once."""
    names = [f"tests/runtime/test_{n}.py" for n in range(4)] + [f"tests/test_{n}.py" for n in range(5)]
    items: list[Any] = [SimpleNamespace(nodeid=f"{name}::test_{n}") for name in names for n in range(2)]
    found = conftest.in_turn(items)
    assert sorted(each.nodeid for each in items) == sorted(each.nodeid for each in found)
    units = [each.nodeid.partition("::")[0] for each in found[::2]]
    assert [n for n, name in enumerate(units) if "runtime" in name] == [0, 3, 6, 8]
    assert units == [each.nodeid.partition("::")[0] for each in found[1::2]]
