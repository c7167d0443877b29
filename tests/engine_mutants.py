"""Mutants of the engine: what judges the cores is broken, place by place, and its tests must notice.

    python -m tests.engine_mutants --count 300 --seed 7 groupcomm_simulator/judges groupcomm_conformance/files

Places are drawn with a seed from all functions of `conformance`, but for what tests of other targets judge. Each mutant
stands in a copy of the working tree as git knows it. The tests that execute its statement judge it, the cheapest first
(`tests/executed.py`), and then the others of their files; a mutant with which they take ten times as long hangs, and
is noticed. Exits with 1 if fewer than 97 % of the mutants are noticed, without those for which
`conformance/mutants/engine.yaml` has a reason. A statement that no test executes is a hole like any other.
"""

import argparse
import ast
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from groupcomm_conformance.steps.mutants.explaining import explanations
from groupcomm_conformance.steps.mutants.implementation import Mutant, changed
from tests.executed import Run, executed, tested

ROOT: Final = Path(__file__).parents[1]
REQUIRED: Final = 0.97
ELSEWHERE: Final = ("adapters", "groupcomm_proof", "groupcomm_spark", "groupcomm_field/jgroups")
"""What `port-go`, `prove`, `test-pipeline` and `jgroups-small` judge."""
A_FILE: Final = 0.3
"""Seconds that a further file of tests takes to be read; its fixtures are set up as well."""

_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def drawn(engine: Path, under: Iterable[str], count: int, seed: int) -> list[tuple[Path, Mutant]]:
    """Draw mutants from files and folders of the engine: a function by its lines, and a place in it."""
    chance = random.Random(seed)  # noqa: S311 - to draw mutants again
    below = {file for each in under for file in (engine / each, *(engine / each).rglob("*.py")) if file.is_file()}
    files = [file for file in sorted(below) if not any(file.is_relative_to(engine / each) for each in ELSEWHERE)]
    functions = [(file, *function) for file in files for function in _functions(_tree(file))]
    found: dict[tuple[Path, Mutant], None] = {}
    for file, tree, _ in chance.choices(functions, [lines for *_, lines in functions], k=20 * count):
        if len(found) < count:
            mutants = [each for each in changed(_module(engine, file), tree) if not _counts_the_same(each)]
            found |= {(file, mutant): None for mutant in chance.sample(mutants, min(1, len(mutants)))}
    return [*found]


def _counts_the_same(mutant: Mutant) -> bool:
    """Say whether it only counts judged claims in another order."""
    return "_judged(" in mutant.before and sorted(mutant.before) == sorted(mutant.after)


def _functions(tree: ast.Module) -> Iterator[tuple[ast.Module, int]]:
    """Give each function and method as a module of its own, with the number of its lines."""
    for outer in tree.body:
        for inner in outer.body if isinstance(outer, ast.ClassDef) else [outer]:
            if isinstance(inner, ast.FunctionDef):
                alone = ast.ClassDef(outer.name, [], [], [inner], []) if isinstance(outer, ast.ClassDef) else inner
                yield ast.Module([alone], []), (inner.end_lineno or 0) - inner.lineno + 1


def _module(engine: Path, file: Path) -> str:
    return ".".join(file.relative_to(engine).with_suffix("").parts).removesuffix(".__init__")


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def _statement(file: Path, line: int) -> range:
    """Give the lines of the innermost statement that has a line, as far as that line."""
    nodes = (node for node in ast.walk(_tree(file)) if isinstance(node, ast.stmt))
    return range(max(node.lineno for node in nodes if node.lineno <= line <= (node.end_lineno or 0)), line + 1)


def judges(runs: Iterable[Run], file: str, lines: range) -> dict[str, tuple[float, float]]:
    """Give the tests that judge a statement: those that execute it, the cheapest first, and the rest of their files.

    Each has its seconds, and those that its file takes to begin.
    """
    asked = [(run, run.tests(file, lines)) for run in runs]
    every = {test: (each, run.setup + A_FILE) for run, tests in asked if tests for test, each in run.seconds.items()}
    first = sorted((test for _, tests in asked for test in tests), key=lambda test: sum(every[test]))
    return {test: every[test] for test in (*first, *every)}


def within(tests: dict[str, tuple[float, float]], limit: float) -> list[str]:
    """Give the first tests that take no longer than a limit, and one at least; those of a file stand together."""
    spent, files = 0.0, dict[str, list[str]]()
    for test, (seconds, begins) in tests.items():
        file = test.partition("::")[0]
        spent += seconds + (file not in files) * begins
        if files and spent > limit:
            break
        files.setdefault(file, []).append(test)
    return [test for some in files.values() for test in some]


def fails(copy: Path, tests: Sequence[str], seconds: float) -> str:
    """Say which test fails first, "" if none does."""
    try:
        ran = tested(copy, ["-x", *tests], 60 + 10 * seconds)
    except subprocess.TimeoutExpired:
        return "hangs"
    failed = _FAILED.search(ran.stdout)
    return failed[1] if failed else "pytest ends" if ran.returncode else ""


@contextmanager
def broken(file: Path, mutant: Mutant) -> Iterator[None]:
    """Have a mutant in its file, whose time no other version has: bytecode is kept by it."""
    before, at = file.read_text("utf-8"), file.stat().st_mtime
    lines = before.split("\n")
    (function,) = (
        node
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.FunctionDef)
        and node.lineno <= mutant.line <= (node.end_lineno or 0)
        and node.name == mutant.function.rpartition(".")[2]
    )
    body = [" " * function.col_offset + line for line in mutant.source.split("\n")]
    file.write_text("\n".join([*lines[: function.lineno - 1], *body, *lines[function.end_lineno :]]), "utf-8")
    try:
        yield
    finally:
        file.write_text(before, "utf-8")
        os.utime(file, (at, at))


def fate(copy: Path, file: Path, mutant: Mutant, runs: Iterable[Run], limit: float) -> tuple[str, str]:
    """Say what became of a mutant, and the test that notices it."""
    tests = judges(runs, str(file.relative_to(copy)), _statement(file, mutant.line))
    if not tests:
        return "not executed", ""
    # Where the cheapest takes as long as that, its file is begun once.
    limits = (limit / 10, limit)[sum(next(iter(tests.values()))) > limit / 10 :]
    by = ""
    with broken(file, mutant):
        for seconds in limits:
            some = within(tests, seconds)
            by = by or (fails(copy, some, seconds) if some else "")
            tests = {test: each for test, each in tests.items() if test not in some}
    return ("noticed" if by else "survived"), by


def main() -> None:
    """Judge drawn mutants, a line each, and the sum."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("under", nargs="*", default=["."], help="folders or files of conformance")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--seconds", type=float, default=30, help="of the tests that judge a mutant, as they take without it"
    )
    parser.add_argument(
        "--tests", nargs="+", default=["test_*.py"], help="patterns of the files of tests that are asked"
    )
    asked = parser.parse_args()
    reasons = explanations(ROOT, "engine", "core").mutants
    counts = dict.fromkeys(("noticed", "equivalent", "survived", "not executed", "noticed, and has a reason"), 0)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        state = _git("stash", "create") or "HEAD"
        _git("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(copy))
        _git("-C", str(copy), "checkout", "--quiet", state)
        (ROOT / ".cache").mkdir(exist_ok=True)
        (copy / ".cache").symlink_to(ROOT / ".cache")
        runs = executed(copy, ROOT / ".cache" / "executed", asked.tests)
        for file, mutant in drawn(copy / "conformance", asked.under, asked.count, asked.seed):
            name = f"{mutant.module}.{mutant.name}"
            came, by = fate(copy, file, mutant, runs, asked.seconds)
            if name in reasons:
                came = "equivalent" if not by else "noticed, and has a reason"
            counts[came] += 1
            print(f"{came}: {file.relative_to(copy)}:{mutant.line}: {name}" + (f" ({by})" if by else ""), flush=True)  # noqa: T201 - a command
    print(", ".join(f"{count} {came}" for came, count in counts.items()))  # noqa: T201 - a command
    sys.exit(counts["noticed"] < REQUIRED * (sum(counts.values()) - counts["equivalent"]))


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
