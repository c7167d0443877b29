"""Mutants of the engine: what judges the cores is broken, place by place, and its tests must notice.

    python -m tests.engine_mutants --count 300 --seed 7 --under groupcomm_simulator/judges

Places are drawn with a seed from all functions of the packages in `conformance`. Each mutant stands in a copy of the
last commit. The tests that judge it are the files that import its module, and then those that import a module
which does; the first that fails ends it. Without a mutant all must pass. Exits with 1 if fewer than 97 % of the
mutants that were judged are noticed, without those for which `conformance/mutants/engine.yaml` has a reason. A mutant
whose tests take longer than the limit is not judged, and does not count as noticed.
"""

import argparse
import ast
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from groupcomm_conformance.steps.mutants.explaining import explanations
from groupcomm_conformance.steps.mutants.implementation import Mutant, changed

ROOT: Final = Path(__file__).parents[1]
REQUIRED: Final = 0.97
FILES: Final = 8
"""The most files of tests that judge a mutant."""

_NOT_RUN: Final = "not pipeline and not jgroups and not prove and not documented and not itf and not installed"
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) ([^\s:]+)", re.MULTILINE)
_IMPORT: Final = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+([\w, ()]+)|import\s+([\w.]+))", re.MULTILINE)


def drawn(under: str, count: int, seed: int) -> list[tuple[Path, Mutant]]:
    """Draw mutants from the files of a folder of `conformance`, each line as likely as another."""
    chance = random.Random(seed)  # noqa: S311 - to draw mutants again
    files = sorted((ROOT / "conformance" / under).rglob("*.py")) or [ROOT / "conformance" / f"{under}.py"]
    every = [(file, mutant) for file in files for mutant in changed(_module(file), ast.parse(file.read_text("utf-8")))]
    return chance.sample(every, min(count, len(every)))


def _module(file: Path) -> str:
    return ".".join(file.relative_to(ROOT / "conformance").with_suffix("").parts).removesuffix(".__init__")


def _imports(file: Path) -> Iterator[str]:
    for of, names, plain in _IMPORT.findall(file.read_text("utf-8")):
        base = of
        if of.startswith(".") and file.is_relative_to(ROOT / "conformance"):
            up = len(of) - len(of.lstrip("."))
            base = ".".join([*_module(file).split(".")[: -up or None], *filter(None, [of.lstrip(".")])])
        yield from (plain,) if plain else (base, *(f"{base}.{name.strip(' ()')}" for name in names.split(",")))


def nearest(module: str, limit: int = FILES) -> list[Path]:
    """Give the test files that import a module, then those that import one which imports it, and so on."""
    users = {
        file: set(_imports(file))
        for folder in ("conformance", "tests")
        for file in sorted((ROOT / folder).rglob("*.py"))
    }
    found: list[Path] = []
    level, seen = {module}, {module}
    while level and len(found) < limit:
        using = [file for file, names in users.items() if names & level]
        found += [file for file in using if file.name.startswith("test_") and file not in found]
        level = {_module(file) for file in using if file.is_relative_to(ROOT / "conformance")} - seen
        seen |= level
    return found[:limit]


def fails(copy: Path, tests: Iterable[Path], seconds: float) -> str | None:
    """Say which file of tests fails first, "" if none does, and None where the time was too short."""
    files = [str(file.relative_to(ROOT)) for file in tests]
    folders = (copy, *(copy / each for each in ("impl", "runtime", "conformance")))
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", _NOT_RUN, *files],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if ran.returncode in (0, 5):  # 5: no test of these files runs here
        return ""
    failed = _FAILED.search(ran.stdout)
    return failed[1] if failed else "pytest ends"


def noticed(copy: Path, file: Path, mutant: Mutant, seconds: float) -> str | None:
    """Say which test file fails with the mutant; see `fails`."""
    place = copy / file.relative_to(ROOT)
    before = place.read_text("utf-8")
    lines = before.split("\n")
    tree = ast.parse(before)
    (function,) = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.lineno <= mutant.line <= (node.end_lineno or 0)
        and _is(node, mutant)
    )
    body = [" " * function.col_offset + line for line in mutant.source.split("\n")]
    place.write_text("\n".join([*lines[: function.lineno - 1], *body, *lines[function.end_lineno :]]), "utf-8")
    try:
        return fails(copy, nearest(mutant.module), seconds)
    finally:
        place.write_text(before, "utf-8")


def _is(node: ast.FunctionDef, mutant: Mutant) -> bool:
    return node.name == mutant.function.rpartition(".")[2]


def main() -> None:
    """Judge drawn mutants, a line each, and the sum."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--under", default="", help="a folder or module of conformance")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=300, help="of all tests of a mutant")
    asked = parser.parse_args()
    reasons = explanations(ROOT, "engine", "core").mutants
    counts = dict.fromkeys(("noticed", "equivalent", "survived", "not judged"), 0)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(copy)], check=True)
        if (ROOT / ".cache").exists():
            (copy / ".cache").symlink_to(ROOT / ".cache")
        made = drawn(asked.under, asked.count, asked.seed)
        tests = dict.fromkeys(file for module in {each.module for _, each in made} for file in nearest(module))
        if (by := fails(copy, sorted(tests), len(tests) * asked.seconds)) != "":
            sys.exit(f"{by or 'the time is too short'}: fails without a mutant")
        for file, mutant in made:
            by = noticed(copy, file, mutant, asked.seconds)
            name = f"{mutant.module}.{mutant.name}"
            fate = "not judged" if by is None else "noticed" if by else "equivalent" if name in reasons else "survived"
            counts[fate] += 1
            print(f"{fate}: {file.relative_to(ROOT)}:{mutant.line}: {name}" + (f" ({by})" if by else ""), flush=True)  # noqa: T201 - a command
    judged = counts["noticed"] + counts["survived"]
    print(", ".join(f"{count} {fate}" for fate, count in counts.items()))  # noqa: T201 - a command
    sys.exit(0 if counts["noticed"] >= REQUIRED * judged else 1)


if __name__ == "__main__":
    main()
