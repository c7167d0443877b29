"""The command `groupcomm scenario`."""

import json
from pathlib import Path
from typing import Annotated, Final

import attrs
import typer

from groupcomm_conformance.models.manifest import UnknownNameError, find_root, load
from groupcomm_conformance.models.selecting import NothingToJudge
from groupcomm_conformance.ports.adapter import PATIENCE
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.scenarios.checking import Result, check, files, judged
from groupcomm_conformance.tla.chart import WIDTH, Bounds

from .adapters import AdapterOption, JUnit, Patience, Strict, judge_scenario, opened, places_of, report
from .console import chart_width
from .exits import ExitCode
from .options import AsJson

_BOUNDS: Final = Bounds("--json has all of them")


def command(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="[PROTOCOL | FILE]...", help="Scenarios to check. Default: all.")
    ] = None,
    *,
    charts: Annotated[bool, typer.Option("--chart", help="Draw the path of each scenario that passes, too.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask TLC again.")] = False,
    adapter: AdapterOption = None,
    strict: Strict = False,
    junit: JUnit = None,
    patience: Patience = PATIENCE,
    as_json: AsJson = False,
) -> None:
    """Check scenarios: each is a path of its specification, and the implementation, or a port, follows it."""
    root = find_root()
    if adapter is None and (strict or junit):
        raise typer.BadParameter("this is for a port: name its --adapter")
    if adapter is not None and (charts or fresh):
        raise typer.BadParameter("charts are of our own core, and so is --fresh", param_hint="--adapter")
    named: list[str] | list[None] = what or [None]
    chosen = tuple(dict.fromkeys(file for name in named for file in _chosen(root, name)))
    if not chosen:
        raise NothingToJudge("there is no scenario", "write one in conformance/scenarios/<protocol>")
    if adapter is not None:
        raise typer.Exit(_port(root, chosen, adapter, strict=strict, junit=junit, patience=patience, as_json=as_json))
    results = check(root, chosen, fresh=fresh)
    if as_json:
        typer.echo(json.dumps({"scenarios": [_json(result) for result in results]}, indent=2))
    else:
        for result in results:
            typer.echo(_text(result, charts=charts))
        passed = sum(result.outcome == "pass" for result in results)
        typer.echo(f"{passed} of {len(results)} scenarios pass")
    outcomes = {result.outcome for result in results}
    if "unreadable" in outcomes:
        raise typer.Exit(ExitCode.BAD_INPUT)
    if "fail" in outcomes:
        raise typer.Exit(ExitCode.DIFFERS)


def _port(
    root: Path,
    chosen: tuple[Path, ...],
    adapter: str,
    *,
    strict: bool,
    junit: Path | None,
    patience: float,
    as_json: bool,
) -> ExitCode:
    """Have the port behind an adapter follow scenarios."""
    parts = []
    found = [*judged(root, chosen)]
    manifests = {scenario.protocol: load(root, scenario.protocol) for scenario, _ in found}
    places = {name: places_of(manifest) for name, manifest in manifests.items()}
    for name, manifest in manifests.items():
        with opened(adapter, derive.load(manifest), patience) as port:
            typer.echo(port.hello.text(), err=True)
            parts += [
                judge_scenario(port, scenario, path, strict=strict, places=places[name])
                for scenario, path in found
                if scenario.protocol == name
            ]
    return report(parts, places, junit=junit, as_json=as_json)


def _chosen(root: Path, name: str | None) -> tuple[Path, ...]:
    if name is None:
        return files(root)
    if name.endswith(".yaml") or Path(name).is_file():
        return (Path(name),)
    found = files(root)
    chosen = tuple(file for file in found if name == file.parent.name)
    if not chosen:
        known = sorted({file.parent.name for file in found})
        raise UnknownNameError("protocol with scenarios", name, tuple(known))
    return chosen


def _json(result: Result) -> dict[str, object]:
    told = attrs.asdict(result, filter=attrs.filters.exclude("states"))
    return {**told, "chart": result.drawn(WIDTH)}


def _text(result: Result, *, charts: bool) -> str:
    """A line; for a failed scenario also the possible steps there, and the way as a chart."""
    drawn = result.drawn(chart_width(), _BOUNDS) if charts or result.outcome != "pass" else []
    if result.outcome == "pass":
        lines = [f"pass  {result.file}  {result.scenario}"]
        lines += (f"      {each}" for each in result.ablations)
        return "\n".join((*lines, "", *drawn, "") if drawn else lines)
    lines = [f"{result.outcome}  {result.file}:{result.line}: {result.problem}"]
    if result.scenario:
        lines.append(f"      {result.scenario}")
    if result.possible:
        lines += ("      possible here:", *(f"        {each}" for each in result.possible))
    return "\n".join((*lines, "", *drawn, "") if drawn else lines)
