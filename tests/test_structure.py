"""The package's own structure: rooms and modules that do not import each other in a circle."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import groupcomm_conformance

PACKAGE = Path(groupcomm_conformance.__file__).parent


def module_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(file): file for file in PACKAGE.rglob("*.py") if file != PACKAGE / "__init__.py"}


def imported(module: str, file: Path) -> Iterator[str]:
    """The modules of this package that a module imports, wherever in its text."""
    folder = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = node.module or ""
        if node.level:
            above = folder.split(".") if folder else []
            base = ".".join(part for part in (*above[: len(above) - node.level + 1], node.module) if part)
        else:
            base = base.removeprefix("groupcomm_conformance").removeprefix(".")
        for alias in node.names:
            inner = f"{base}.{alias.name}" if base else alias.name
            if found := next((name for name in (inner, base) if name in MODULES and name != module), None):
                yield found


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
    assert "tlc.run" in imports()["models.running"] | imports()["models.plan"]
    assert sum(map(len, imports().values())) > 100


def test_no_module_imports_itself_in_a_circle() -> None:
    assert [] == circle(imports())


def test_no_room_imports_itself_in_a_circle() -> None:
    """A room is a folder of the package; those above use those below, never the other way round."""
    rooms: dict[str, set[str]] = {}
    for module, targets in imports().items():
        room = module.partition(".")[0]
        rooms.setdefault(room, set()).update(target.partition(".")[0] for target in targets)
    assert [] == circle({room: targets - {room} for room, targets in rooms.items()})


def test_no_module_is_much_over_500_lines() -> None:
    lengths = {module: len(file.read_text(encoding="utf-8").splitlines()) for module, file in MODULES.items()}
    assert {} == {module: length for module, length in lengths.items() if length > 520}


# Modules that run by themselves

ROOT = Path(__file__).parents[1]


def test_workflows_make_targets_that_there_are_and_the_nightly_one_all_that_nightly_makes() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = dict(re.findall(r"^([a-z-]+):(.*)$", makefile, re.MULTILINE))
    made: dict[str, set[str]] = {}
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        calls = re.findall(r"run: make ([a-z -]+)", file.read_text(encoding="utf-8"))
        made[file.stem] = {word for call in calls for word in call.split() if not word.isupper()}
        assert made[file.stem] <= {*targets}
    parts = {*targets["nightly"].partition("##")[0].split(), "simulate", "prove"}
    assert parts == made["nightly"]
