"""The command `groupcomm mutants`."""

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer

from groupcomm_conformance.models.manifest import Manifest, find_root, load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError
from groupcomm_conformance.steps.mutants import report
from groupcomm_conformance.steps.mutants.conforming import ModelTable, conforming, tables_of
from groupcomm_conformance.steps.mutants.explaining import explanations, spec_explanations
from groupcomm_conformance.steps.mutants.implementation import mutants
from groupcomm_conformance.steps.mutants.replaying import Judge, verdicts
from groupcomm_conformance.steps.mutants.report import Fate
from groupcomm_conformance.steps.mutants.verdicts import judge
from groupcomm_conformance.steps.table import Tables

from . import console
from .exits import ExitCode, verdict
from .options import AsJson, OneProtocol, Processes

__all__ = ["command"]


def command(
    protocol: OneProtocol,
    *,
    spec: Annotated[
        bool,
        typer.Option("--spec", help="Break the specification instead, and let the tables alone judge it."),
    ] = False,
    workers: Processes = None,
    as_json: AsJson = False,
) -> None:
    """Break the implementation on purpose, many times: the local steps must tell each time.

    Exits with 1 if less than 95 % of the mutants are killed, or if one survives and
    conformance/mutants/PROTOCOL.yaml does not say why it is equivalent. With --spec: less than 97 %, without
    those that conformance/mutants/PROTOCOL_spec.yaml says are equivalent.
    """
    found = _of_specification(protocol, workers) if spec else _of_implementation(protocol, workers)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        for line in report.spec_lines(found) if spec else report.lines(found):
            typer.echo(line)
    raise typer.Exit(verdict(ok=found["ok"] is True))


def _of_specification(protocol: str, workers: int | None) -> dict[str, object]:
    root = find_root()
    began = time.monotonic()
    manifest = load(root, protocol)
    reasons = spec_explanations(root, protocol)
    judged = judge(manifest, _tables(root, manifest), cache=Tables.of(root).folder, workers=workers)
    return report.spec_told(judged, reasons, time.monotonic() - began)


def _of_implementation(protocol: str, workers: int | None) -> dict[str, object]:
    root = find_root()
    began = time.monotonic()
    manifest = load(root, protocol)
    try:
        implementation = derive.load(manifest)
    except MappingError as error:
        raise FileNotFoundError(str(error)) from error
    explained = explanations(root, protocol)
    tables = _tables(root, manifest)
    judging = Judge(implementation, {name: (each.table, each.constants) for name, each in tables.items()})
    if wrong := judging.kills(implementation.core):
        typer.echo(
            f"{protocol}: the implementation itself is wrong ({wrong}): see groupcomm conform", err=True
        )
        raise typer.Exit(ExitCode.DIFFERS)
    made = mutants(implementation)
    count = workers or os.cpu_count() or 1
    found = (
        [judging.judge(mutant) for mutant in made]
        if count == 1
        else verdicts(root, protocol, made, tables, count)
    )
    fates = [
        Fate(mutant, bool(by), by, "" if by else explained.get(mutant.name, ""))
        for mutant, by in zip(made, found, strict=True)
    ]
    survivors = {fate.mutant.name for fate in fates if not fate.killed}
    stale = [name for name in explained if name not in survivors]
    return report.told(protocol, list(tables), fates, stale, time.monotonic() - began)


def _tables(root: Path, manifest: Manifest) -> dict[str, ModelTable]:
    with console.Watch(conforming(manifest)) as watch:
        return tables_of(root, manifest, watch)
