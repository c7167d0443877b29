"""jgroups: real JGroups held against the errata and against our stack. See docs/jgroups.md."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Annotated, Any, Final

import typer

from groupcomm_conformance.documents import errata
from groupcomm_conformance.documents.pages import made, opening
from groupcomm_conformance.files.writing import require_file
from groupcomm_conformance.models.manifest import find_root
from groupcomm_conformance.models.selecting import NothingToJudge, manifests_of
from groupcomm_field.jgroups import verdicts
from groupcomm_field.jgroups.differential import OURS, RUNS, Run, explained
from groupcomm_field.jgroups.jvm import VERSIONS, Jvm, Version
from groupcomm_field.jgroups.schedules import SCHEDULES, Schedule

from .documents import write
from .exits import verdict
from .options import AsJson, one_of, whole

_MOST_SCHEDULES: Final = 100_000
_GROUPS: Final = 40  # of a JVM: threads of groups that are over stay in it
_EXAMPLES: Final = 3  # of a difference that are shown


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Schedules of errata, or kinds of random schedules. Default: all."),
    ] = None,
    *,
    version: Annotated[
        list[str] | None,
        typer.Option("--version", metavar="V", help=f"Of JGroups: {', '.join(VERSIONS)}. Default: all."),
    ] = None,
    schedules: Annotated[
        int | None,
        typer.Option(
            "--schedules",
            parser=whole(1, _MOST_SCHEDULES),
            metavar="N",
            help="Random schedules of each kind. Default: 20.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(parser=whole(0, 10**15), metavar="S", help="Of the first random schedule. Default: 1.")
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the names.")] = False,
    table: Annotated[bool, typer.Option("--table", help="Write build/docs/jgroups.md, and run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Drive real JGroups by our schedules; say where it is not what verdicts.yaml says. Needs Maven."""
    root = find_root()
    rows, known = _rows(root), explained(root)
    if table:
        place = made(verdicts.PATH)
        require_file(root / place, "make the project's folder writable")
        write(root, place, page(root))
        return
    if listing:
        for name, says in [(each.name, each.says) for each in SCHEDULES.values()] + [
            (each.name, each.says) for each in RUNS.values()
        ]:
            typer.echo(f"{name:24}{says}")
        return
    names = [one_of((*SCHEDULES, *RUNS), name) for name in what or (*SCHEDULES, *RUNS)]
    chosen = [VERSIONS[one_of(VERSIONS, name)] for name in version or VERSIONS]
    tasks = [
        (each, task)
        for each in chosen
        for task in (SCHEDULES.get(name) or RUNS[name] for name in names)
        if task.suits(each)
    ]
    if not tasks:
        raise NothingToJudge(
            f"no schedule of {', '.join(names)} is for {', '.join(each.number for each in chosen)}",
            "FLUSH is in 2.12.2 to 5.3.10",
        )
    schedules, seed = 20 if schedules is None else schedules, 1 if seed is None else seed
    ok, told = True, []
    by_name = {row.name: row for row in rows}
    for result in _results(root, tasks, schedules, seed):
        number, name = result["version"], result["name"]
        if result["kind"] == "schedule":
            expected = by_name[name].verdicts[number]
            result["expected"] = expected
            result["ok"] = not by_name[name].differs(VERSIONS[number], result["seen"])
            line = f"{number:7} {name:22} {result['seen']:8} {result['text']}"
            if not result["ok"]:
                line += f"  ({verdicts.FILE} says {expected})"
        else:
            classes = {
                kind: "ours"
                if kind == OURS
                else each.verdict
                if (each := known.get((name, kind, number)))
                else "unclassified"
                for kind in result["differences"]
            }
            result["classes"] = classes
            result["ok"] = not {"ours", "unclassified"} & set(classes.values())
            found = "; ".join(f"{count} {kind} ({classes[kind]})" for kind, count in result["differences"].items())
            line = f"{number:7} {name:22} {result['equal']:,} of {result['schedules']:,} equal"
            line += f"; {found}" if found else ""
            for kind, text in result["examples"]:
                if classes[kind] in {"ours", "unclassified"}:
                    line += f"\n        {kind}: {text}"
        ok &= result["ok"]
        told.append(result)
        if not as_json:
            typer.echo(f"{'ok   ' if result['ok'] else 'FAILS'} {line}")
    if as_json:
        typer.echo(json.dumps({"ok": ok, "seed": seed, "results": told}, indent=2))
    raise typer.Exit(verdict(ok=ok))


def page(root: Path) -> str:
    """Give the page of what is known of JGroups."""
    return verdicts.page(opening(root, verdicts.PATH, "JGroups"), _rows(root), explained(root))


def _rows(root: Path) -> tuple[verdicts.Row, ...]:
    return verdicts.read(root, {erratum.id for _, _, erratum in errata.models(manifests_of(root))})


def _results(
    root: Path, tasks: list[tuple[Version, Schedule | Run]], schedules: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Run the tasks, and give the result of each as plain values."""
    jvm: Jvm | None = None
    groups = 0

    def fresh(version: Version) -> Jvm:
        nonlocal jvm, groups
        if jvm is None or jvm.version is not version or groups >= _GROUPS:
            if jvm is not None:
                jvm.close()
            jvm, groups = Jvm(root, version), 0
        groups += 1
        return jvm

    try:
        for version, task in tasks:
            if isinstance(task, Schedule):
                seen = task.run(fresh(version))
                yield {
                    "kind": "schedule",
                    "version": version.number,
                    "name": task.name,
                    "seen": seen.verdict,
                    "text": seen.text,
                }
                continue
            found: Counter[str] = Counter()
            equal = 0
            examples: list[tuple[str, str]] = []
            for number in range(seed, seed + schedules):
                _progress(f"{version.number} {task.name}: schedule {number - seed + 1:,} of {schedules:,}")
                differences = task.schedule(fresh(version), Random(number))  # noqa: S311 - dice, not secrets
                equal += not differences
                found.update({each.kind for each in differences})
                for each in differences:
                    if [kind for kind, _ in examples].count(each.kind) < _EXAMPLES:
                        examples.append((each.kind, f"seed {number}: {each.text}"))
            _progress("")
            yield {
                "kind": "run",
                "version": version.number,
                "name": task.name,
                "schedules": schedules,
                "equal": equal,
                "differences": dict(sorted(found.items())),
                "examples": examples,
            }
    finally:
        if jvm is not None:
            jvm.close()


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        typer.echo(f"\r{text:70}\r", err=True, nl=False)
