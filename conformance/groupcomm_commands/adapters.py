"""The command `conform --adapter`: an implementation in any language, judged as our own is."""

import json
import re
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Final, TypeAlias
from xml.etree import ElementTree as ET

import typer
from attrs import frozen

from groupcomm_conformance.files.errors import PathError, reason
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.ports.adapter import PATIENCE
from groupcomm_conformance.ports.conforming import Part, Places, kept, lines, rows, starts
from groupcomm_conformance.ports.judging import Asked
from groupcomm_conformance.ports.port import Port
from groupcomm_conformance.ports.prelude import Preludes
from groupcomm_conformance.ports.renaming import WAYS, borne, renamed
from groupcomm_conformance.ports.vector_reader import VectorSet
from groupcomm_conformance.ports.walking import Walk, random_walks, started, steps_of, walked
from groupcomm_conformance.ports.words import arms
from groupcomm_conformance.protocols.derive import Protocol, constants_of
from groupcomm_conformance.random_events.drawn import LENGTH
from groupcomm_conformance.scenarios.following import configuration, walks
from groupcomm_conformance.scenarios.paths import Path as ScenarioPath
from groupcomm_conformance.scenarios.steps import Scenario
from groupcomm_conformance.steps.rows import Rows
from groupcomm_conformance.steps.table import StepTable
from groupcomm_conformance.tla.values import Value

from .exits import ExitCode
from .options import seconds, whole

AdapterOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--adapter", metavar="COMMAND", help="Judge the port behind this adapter (docs/porting.md)."),
]
Strict: TypeAlias = Annotated[
    bool, typer.Option("--strict", help="Of a port: all rows again, in another order and on kept states.")
]
Renamed: TypeAlias = Annotated[
    bool, typer.Option("--renamed", help="Of a port: all rows again with other names, counters, payloads.")
]
RandomEvents: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--random",
        parser=whole(1, 10**9),
        metavar="N",
        help="N random events beyond the bounds of the models, for core and specification, or a port.",
    ),
]
RandomSeconds: TypeAlias = Annotated[
    float,
    typer.Option(
        "--seconds",
        parser=seconds,
        metavar="SECONDS",
        help="Of a port: the time for the random events of a model; then it ends with fewer.",
    ),
]
JUnit: TypeAlias = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write what came of a port as JUnit XML, too.")
]
Patience: TypeAlias = Annotated[
    float,
    typer.Option("--patience", parser=seconds, metavar="SECONDS", help="How long an adapter may sleep over a request."),
]

_ID: Final = re.compile(r"\b[A-Z]{3}-[0-9]{2}\b")
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


SECONDS: Final = 60.0


@frozen
class Extent:
    """The checks of each model beside its rows. `seconds`: for its random walks."""

    strict: bool = False
    renamed: bool = False
    walks: int = 0
    seed: int = 1
    seconds: float = SECONDS


def opened(command: str, protocol: Protocol, patience: float = PATIENCE) -> Port:
    """Start an adapter. BadParameter for a command that is none, AdapterError where there is no adapter."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise typer.BadParameter(f"a command, but {error}", param_hint="--adapter") from None
    if not words:
        raise typer.BadParameter("a command, not an empty text", param_hint="--adapter")
    try:
        release = version("groupcomm")
    except PackageNotFoundError:
        release = ""
    return Port(words, protocol, patience=patience, release=release)


def places_of(manifest: Manifest) -> Places:
    """Find the operator of each event in `Step`, with its place and the requirements above it and in it."""
    found: dict[str, str] = {}
    for event, arm in arms(manifest).items():
        tags = dict.fromkeys(_ID.findall(arm.sentence))
        found[event] = "; ".join((f"{arm.place} {arm.operator}", *tags))
    return Places(found)


def judge_model(
    port: Port, manifest: Manifest, model: Model, table: StepTable, *, extent: Extent, row: int | None = None
) -> list[Part]:
    """Judge a port by a model's table: all rows, or the given row, and the other requested checks."""
    constants = constants_of(manifest.cfg(model))
    port.configure(constants)
    name, command = manifest.protocol, shlex.quote(shlex.join(port.command))
    again = f"groupcomm conform {name} --model {model.name} --adapter {command}"
    found: list[Part] = []

    def part(what: str, of: StepTable | None, more: str = "") -> Part:
        found.append(Part(name, model.name, what, of, f"{again}{more}"))
        return found[-1]

    places = None if row is None else (row - 1,)
    of_rows = part("rows", table)
    if not port.can("step"):
        of_rows.note = "the adapter cannot step from a given state: walks and scenarios judge it"
    else:
        asked = Asked(port.judge, table)
        right = rows(port, of_rows, asked, places)
        if extent.strict and row is None:
            kept(port, part("kept", table, " --strict"), asked, right)
        if extent.renamed:
            for way in WAYS:
                if way.suits(name):
                    other = renamed(port.protocol, table, way)
                    of_way = part(f"renamed {way.name}", other, " --renamed")
                    of_row = places if places is not None else borne(Rows(port.protocol, other, constants), table, way)
                    rows(port, of_way, Asked(port.judge, other), of_row)
    if row is None:
        of_start = part("start", None)
        of_start.what = "members"
        starts(port, of_start, table)
        if extent.walks:
            more = f" --random {extent.walks * LENGTH} --seed {extent.seed}"
            of_random = part("random", None, more)
            of_random.what = "walks"
            _draw(port, of_random, constants, extent=extent, places=places_of(manifest))
    return found


def _draw(port: Port, part: Part, constants: Mapping[str, Value], *, extent: Extent, places: Places) -> None:
    """Judge a port by random walks, as many as time is for; its configuration is another one afterwards."""
    ends = time.monotonic() + extent.seconds
    for numbers, drawn in random_walks(port.protocol, constants, part.model, extent.walks, extent.seed):
        if time.monotonic() >= ends:
            part.what += f" ({extent.walks} were asked for in {extent.seconds:.0f} s)"
            break
        port.configure(numbers)
        walked(port, part, drawn, places, before=part.count)


def judge_scenario(port: Port, scenario: Scenario, path: ScenarioPath, *, strict: bool, places: Places) -> Part:
    """Judge a port by a scenario: its path, and what it tries on the way."""
    protocol = port.protocol
    constants = configuration(protocol, scenario)
    port.configure(constants)
    stem = Path(scenario.file).stem
    command = shlex.quote(shlex.join(port.command))
    part = Part(
        protocol.name, stem, "scenario", None, f"groupcomm scenario {scenario.file} --adapter {command}", "walks"
    )
    preludes = Preludes(protocol, protocol.config(constants))

    def told() -> Iterator[Walk]:
        for states, steps in walks(path):
            at = [f"{scenario.file}:{scenario.steps[step].line}" for step in steps]
            yield steps_of(scenario.name, states, started(protocol), preludes, at)

    walked(port, part, told(), places, strict=strict)
    return part


def tell(what: str, parts: list[Part], began: float) -> list[Part]:
    """Say on stderr what came of a model whose parts these are, and give them; it `began` at this time."""
    told, count = "ok" if all(part.ok for part in parts) else "FAILS", sum(part.count for part in parts)
    typer.echo(f"{what}: {told}: {count:,} checks in {time.monotonic() - began:.1f} s", err=True)
    return parts


def judge_vectors(port: Port, each: VectorSet, *, again: str, extent: Extent, places: Places) -> list[Part]:
    """Judge a port by the vectors of a model or a scenario; `again` is the command for all of them."""
    port.configure(each.constants)
    name = port.protocol.name
    command = f"{again} --model {each.name} --adapter {shlex.quote(shlex.join(port.command))}"
    found: list[Part] = []
    if each.table is not None and each.places != []:
        of_rows = Part(name, each.name, "rows", each.table, command)
        found.append(of_rows)
        if port.can("step"):
            asked = Asked(port.judge, each.table)
            right = rows(port, of_rows, asked, each.places)
            if extent.strict:
                of_kept = Part(name, each.name, "kept", each.table, f"{command} --strict")
                found.append(of_kept)
                kept(port, of_kept, asked, right)
        else:
            of_rows.note = "the adapter cannot step from a given state: walks judge it"
        if each.table.starts:
            of_start = Part(name, each.name, "start", None, command, "members")
            found.append(of_start)
            starts(port, of_start, each.table)
    if each.walks:
        part = Part(name, each.name, "walks", None, command, "walks")
        found.append(part)
        walked(port, part, each.walks, places, strict=extent.strict)
    if extent.walks and each.table is not None:
        more = f" --random {extent.walks * LENGTH} --seed {extent.seed}"
        part = Part(name, each.name, "random", None, f"{command}{more}", "walks")
        found.append(part)
        _draw(port, part, each.constants, extent=extent, places=places)
    return found


def report(parts: Sequence[Part], places: dict[str, Places], *, junit: Path | None, as_json: bool) -> ExitCode:
    """Say what came of all parts, and give the exit code."""
    if as_json:
        typer.echo(json.dumps([part.to_json() for part in parts], indent=2))
    told = {id(part): [*lines(part, places[part.protocol], failures_only=as_json)] for part in parts}
    for part in parts:
        for line in told[id(part)]:
            typer.echo(line, err=as_json)
    if junit is not None:
        _write_junit(junit, parts, {key: "\n".join(value) for key, value in told.items()})
    if not any(part.count for part in parts):
        typer.echo("groupcomm: the adapter can do nothing of what was asked for: nothing is judged", err=True)
        return ExitCode.NOTHING
    return ExitCode.OK if all(part.ok for part in parts) else ExitCode.DIFFERS


def _write_junit(file: Path, parts: Iterable[Part], told: dict[int, str]) -> None:
    suite = ET.Element("testsuite", name="groupcomm adapter")
    failures = skipped = count = 0
    for part in parts:
        case = ET.SubElement(suite, "testcase", classname=f"{part.protocol}.{part.name}", name=part.model, time="0")
        count += 1
        if part.note:
            skipped += 1
            ET.SubElement(case, "skipped", message=part.note)
        elif not part.ok:
            failures += 1
            text = _NO_XML.sub("\ufffd", told[id(part)])
            failure = ET.SubElement(case, "failure", message=text.partition("\n")[0])
            failure.text = text
    for name, number in (("tests", count), ("failures", failures), ("errors", 0), ("skipped", skipped)):
        suite.set(name, str(number))
    ET.indent(suite)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suite, encoding="unicode")}\n', encoding="utf-8"
        )
    except OSError as error:
        raise PathError(file, reason(error), "name another file with --junit") from None
