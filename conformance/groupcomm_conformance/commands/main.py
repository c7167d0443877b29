"""The command line, `groupcomm`: one sub-command a job.

A sub-command that lies in a module of its own is registered at the end of this file. It raises what the
modules raise; `main` turns that into one line and an exit code, which `--help` lists.
"""

import errno
import json
import re
import signal
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Annotated, Final

import typer
from rich.markup import escape

from groupcomm_conformance import report
from groupcomm_conformance.documents import errata, requirements
from groupcomm_conformance.files.strict_yaml import FileError
from groupcomm_conformance.models.checking import (
    Cache,
    CheckedModel,
    differences,
    gates,
    run_model,
    run_models,
    select,
)
from groupcomm_conformance.models.manifest import (
    TIERS,
    Manifest,
    Model,
    UnknownNameError,
    find_root,
    load,
    protocols,
)
from groupcomm_conformance.pipeline import command as pipeline
from groupcomm_conformance.pipeline.errors import NotContained, PipelineError
from groupcomm_conformance.ports import vectors
from groupcomm_conformance.scenarios import scenario
from groupcomm_conformance.steps import conform, mutants
from groupcomm_conformance.tla.values import to_json
from groupcomm_conformance.tlc.errors import ConfigFailed, ParseFailed, TLCError

from . import bench, console, demo

__all__ = ["app", "main"]

OK: Final = 0
DIFFERS: Final = 1
BAD_INPUT: Final = 2
TOOL_TROUBLE: Final = 3
INTERRUPTED: Final = 130
TERMINATED: Final = 143

_EPILOG: Final = (
    "Exit codes: 0 all is as expected; 1 something differs from what is expected; 2 wrong usage, or a bad "
    "manifest, specification or other input file; 3 trouble with a tool (no Java, TLC killed, out of memory, "
    "disk full); 130 interrupted; 143 terminated."
)

app = typer.Typer(
    name="groupcomm",
    help="Check group-communication protocols against their specifications.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class _Tier(StrEnum):
    SMOKE = "smoke"
    FULL = "full"
    DEEP = "deep"


def _heap(text: str) -> str:
    if re.fullmatch(r"\d+[kmgKMG]", text):
        return text
    raise typer.BadParameter(f"a number and k, m or g, such as 2g, not {text}")


_Protocols = Annotated[list[str] | None, typer.Argument(metavar="[PROTOCOL]...", help="Default: all.")]
_AsJson = Annotated[bool, typer.Option("--json", help="JSON on stdout instead of text.")]
_Workers = Annotated[
    int | None, typer.Option(min=1, help="Threads that search at a time. Default: one a core.")
]


@app.callback()
def _groupcomm() -> None:
    """Take the sub-command."""


@app.command(epilog=_EPILOG)
def check(
    protocol: _Protocols = None,
    *,
    tier: Annotated[_Tier, typer.Option(help="Which models; full includes smoke, deep both.")] = _Tier.FULL,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Only this model.")] = None,
    cached: Annotated[
        bool,
        typer.Option("--cached/--fresh", help="Take results of earlier runs, or run TLC always (default)."),
    ] = False,
    as_json: _AsJson = False,
    workers: _Workers = None,
    heap: Annotated[str, typer.Option(help="Memory of each JVM.", callback=_heap)] = "2g",
) -> None:
    """Run the models of the manifests with TLC and hold what comes against what is expected.

    Exits with 1 if an outcome, a count, a counterexample's length or the claims that fall differ, or if a
    gate fails: an action or outcome that never occurs, a witness that is not reached, a claim that no
    ablation refutes, a control that falls.
    """
    root = find_root()
    chosen = _chosen(root, protocol or [], tier, model)
    with console.Watch() as watch:
        came = run_models(
            chosen, cache=Cache.of(root), fresh=not cached, workers=workers, heap=heap, listener=watch
        )
    differ = False
    found: list[dict[str, object]] = []
    for manifest in {manifest.protocol: manifest for manifest, _ in chosen}.values():
        results = {checked.model: checked for checked in came if checked.protocol == manifest.protocol}
        judged = gates(manifest, results)
        different = {name: differences(manifest.model(name), checked) for name, checked in results.items()}
        differ = differ or any(different.values()) or any(gate.ok is False for gate in judged)
        if as_json:
            found += [
                console.as_json(manifest.model(name), checked, different[name])
                for name, checked in results.items()
            ]
            for line in console.gate_lines(judged):
                typer.echo(f"{manifest.protocol} {line}", err=True)
        else:
            out = console.stdout()
            out.print(console.model_table(manifest, results))
            for item in console.kill_table(manifest, results):
                out.print(item)
            for line in console.gate_lines(judged):
                out.print(escape(line))
        _tell(manifest, results, different, err=as_json)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    raise typer.Exit(DIFFERS if differ else OK)


@app.command(epilog=_EPILOG)
def explain(
    protocol: str,
    model: str,
    *,
    unicode: Annotated[bool, typer.Option("--unicode", help="Draw with box characters.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run TLC even if the result is cached.")] = False,
    as_json: _AsJson = False,
) -> None:
    """Run one model and draw its counterexample as a sequence chart."""
    root = find_root()
    manifest = load(root, protocol)
    wanted = manifest.model(model)
    cache = Cache.of(root)
    with console.Watch() as watch:
        checked = run_model(manifest, wanted, cache=cache, fresh=fresh, workers=None, listener=watch)
        if checked.trace and checked.workers > 1:  # then it need not be a shortest one
            checked = run_model(manifest, wanted, cache=cache, fresh=True, workers=1, listener=watch)
    different = differences(wanted, checked)
    if as_json:
        trace = [
            {"number": state.number, "action": state.action, "state": to_json(state.values)}
            for state in checked.trace
        ]
        told = console.as_json(wanted, checked, different)
        told |= {"trace": trace, "back_to": checked.loop, "stutters": checked.stuttering}
        told |= {"chart": console.drawing(checked, unicode=unicode)}
        typer.echo(json.dumps(told, indent=2))
    else:
        typer.echo(f"{protocol} {model}: {checked.outcome} ({wanted.shows})")
        for line in console.drawing(checked, unicode=unicode):
            typer.echo(line)
        if checked.holds:
            typer.echo(
                f"There is no counterexample in {checked.distinct:,} states and "
                f"{checked.transitions:,} transitions."
            )
        for line in different:
            typer.echo(f"DIFFERS {protocol} {model}: {line}")
    raise typer.Exit(DIFFERS if different else OK)


@app.command(name="errata", epilog=_EPILOG)
def write_errata(
    *,
    check_only: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if the file would change.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run TLC even if the results are cached.")] = False,
) -> None:
    """Write docs/errata.md: each flaw that a model shows, its counterexample, its repair and the proof."""
    root = find_root()
    shown = errata.models(load(root, protocol) for protocol in protocols(root))
    with console.Watch() as watch:
        came = run_models(
            [(manifest, model) for manifest, model, _ in shown],
            cache=Cache.of(root),
            fresh=fresh,
            listener=watch,
        )
    text = errata.page((*entry, checked) for entry, checked in zip(shown, came, strict=True))
    raise typer.Exit(_written(root, errata.PATH, text, check_only=check_only))


@app.command(name="requirements", epilog=_EPILOG)
def write_requirements(
    *,
    check_only: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if the file would change.")
    ] = False,
) -> None:
    """Write docs/requirements.md: which check holds which requirement.

    Exits with 1 if a requirement has no check, or a check names a requirement that there is not.
    """
    root = find_root()
    table = requirements.trace(root, [load(root, protocol) for protocol in protocols(root)])
    code = _written(root, requirements.PATH, requirements.page(table), check_only=check_only)
    for problem in table.problems:
        typer.echo(problem, err=True)
    raise typer.Exit(DIFFERS if table.problems else code)


def _chosen(root: Path, names: Sequence[str], tier: _Tier, model: str | None) -> list[tuple[Manifest, Model]]:
    known = protocols(root)
    manifests = [load(root, name) for name in dict.fromkeys(names or known)]
    if not manifests:
        raise UnknownNameError("protocol", "*", known)
    if model is not None and len(manifests) > 1:
        manifests = [manifest for manifest in manifests if any(m.name == model for m in manifest.models)]
        if not manifests:
            raise UnknownNameError("model", model, ())
    wanted = TIERS[TIERS.index(tier.value)]
    return [(manifest, found) for manifest in manifests for found in select(manifest, wanted, model)]


def _tell(
    manifest: Manifest,
    results: dict[str, CheckedModel],
    different: dict[str, list[str]],
    *,
    err: bool,
) -> None:
    """Say what differs, with the counterexample where none or another one was expected."""
    for name, lines in different.items():
        checked = results[name]
        for line in lines:
            typer.echo(f"DIFFERS {manifest.protocol} {name}: {line}", err=err)
        if lines and checked.outcome != checked.expected:
            for line in console.drawing(checked):
                typer.echo(line, err=err)


def _written(root: Path, path: Path, text: str, *, check_only: bool) -> int:
    file = root / path
    old = file.read_text(encoding="utf-8") if file.is_file() else None
    if old == text:
        typer.echo(f"{path} is up to date")
        return OK
    if check_only:
        typer.echo(f"{path} is not what would be written now: write it again", err=True)
        return DIFFERS
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    typer.echo(f"{path} written")
    return OK


# Running


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; errors that are to be expected are a line on stderr."""
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        app(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else OK
    except KeyboardInterrupt:
        return INTERRUPTED
    except (errata.Unproved, NotContained) as error:
        return _failed(error, DIFFERS)
    except (FileError, UnknownNameError, FileNotFoundError, ParseFailed, ConfigFailed) as error:
        return _failed(error, BAD_INPUT)
    except (TLCError, PipelineError) as error:
        return _failed(error, TOOL_TROUBLE)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise
        return _failed(error, TOOL_TROUBLE)
    finally:
        signal.signal(signal.SIGTERM, before)
    return OK


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(TERMINATED)


def _failed(error: Exception, code: int) -> int:
    typer.echo(f"groupcomm: {' '.join(str(error).split())}", err=True)
    return code


# Sub-commands of other modules

for _name, _command in (
    ("conform", conform.command),
    ("mutants", mutants.command),
    ("scenario", scenario.command),
    ("demo", demo.command),
    ("report", report.command),
    ("pipeline", pipeline.command),
    ("vectors", vectors.command),
    ("bench", bench.command),
):
    app.command(name=_name, epilog=_EPILOG)(_command)


if __name__ == "__main__":
    sys.exit(main())
