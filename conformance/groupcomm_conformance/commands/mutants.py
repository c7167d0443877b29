"""The command `groupcomm mutants`."""

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer

from groupcomm_conformance.beyond import mutants as beyond
from groupcomm_conformance.models.manifest import Manifest, find_root, load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError, Protocol, constants_of
from groupcomm_conformance.steps.mutants import report
from groupcomm_conformance.steps.mutants.conforming import ModelTable, conforming, tables_of
from groupcomm_conformance.steps.mutants.explaining import explanations
from groupcomm_conformance.steps.mutants.implementation import mutants
from groupcomm_conformance.steps.mutants.replaying import Judge, verdicts
from groupcomm_conformance.steps.mutants.report import Fate
from groupcomm_conformance.steps.mutants.verdicts import judge
from groupcomm_conformance.steps.table import Tables

from . import console
from .exits import ExitCode, verdict
from .options import AsJson, OneProtocol, Processes, whole

__all__ = ["command"]


def command(
    protocol: OneProtocol,
    *,
    spec: Annotated[
        bool,
        typer.Option("--spec", help="Break the specification instead, and let the tables alone judge it."),
    ] = False,
    random: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, 10**9),
            metavar="N",
            help="Random steps beyond the bounds of the models, for each mutant that no table tells. "
            f"Default: {beyond.STEPS:,}.",
        ),
    ] = None,
    workers: Processes = None,
    as_json: AsJson = False,
) -> None:
    """Break the implementation on purpose, many times: the local steps must tell, or random steps.

    Exits with 1 if less than 95 % of the mutants are killed, if one survives and
    conformance/mutants/PROTOCOL.yaml does not say why, or says why of one that is killed. With --spec, and
    conformance/mutants/PROTOCOL_spec.yaml: less than 97 %, without those that are equivalent.
    """
    steps = beyond.STEPS if random is None else random
    found = (_of_specification if spec else _of_implementation)(protocol, steps, workers)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        for line in report.spec_lines(found) if spec else report.lines(found):
            typer.echo(line)
    raise typer.Exit(verdict(ok=found["ok"] is True))


def _of_specification(protocol: str, steps: int, workers: int | None) -> dict[str, object]:
    root = find_root()
    began = time.monotonic()
    manifest = load(root, protocol)
    implementation = _implementation(manifest)
    reasons = explanations(root, protocol, spec=True)
    judged = judge(manifest, _tables(root, manifest), cache=Tables.of(root).folder, workers=workers)
    judged = beyond.noticed_of(manifest, implementation, judged, steps)
    return report.spec_told(judged, reasons, time.monotonic() - began)


def _of_implementation(protocol: str, steps: int, workers: int | None) -> dict[str, object]:
    root = find_root()
    began = time.monotonic()
    manifest = load(root, protocol)
    implementation = _implementation(manifest)
    reasons = explanations(root, protocol, spec=False)
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
    left = [mutant for mutant, by in zip(made, found, strict=True) if not by]
    random = beyond.noticed_in(implementation, constants_of(manifest.cfgs["safety"]), left, steps)
    fates = [
        Fate(mutant, by or random.get(mutant.name, ""), mutant.name in random)
        for mutant, by in zip(made, found, strict=True)
    ]
    return report.told(protocol, list(tables), fates, reasons, time.monotonic() - began)


def _implementation(manifest: Manifest) -> Protocol:
    try:
        return derive.load(manifest)
    except MappingError as error:
        raise FileNotFoundError(str(error)) from error


def _tables(root: Path, manifest: Manifest) -> dict[str, ModelTable]:
    with console.Watch(conforming(manifest)) as watch:
        return tables_of(root, manifest, watch)
