"""The command `groupcomm mutants`."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import define

from groupcomm_conformance.models.manifest import Manifest, cores, find_root, load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError, Protocol, constants_of
from groupcomm_conformance.random_events import claims as weakened
from groupcomm_conformance.random_events import conditions as by_claims
from groupcomm_conformance.random_events import mutants_by_events as by_events
from groupcomm_conformance.steps.mutants import report
from groupcomm_conformance.steps.mutants.conforming import ModelTable, conforming, tables_of
from groupcomm_conformance.steps.mutants.core_by_rows import Judge, verdicts
from groupcomm_conformance.steps.mutants.explaining import About, explanations
from groupcomm_conformance.steps.mutants.implementation import Mutant, mutants
from groupcomm_conformance.steps.mutants.report import Fate
from groupcomm_conformance.steps.mutants.spec_by_tlc import Noticed
from groupcomm_conformance.steps.mutants.specification import SpecMutant
from groupcomm_conformance.steps.mutants.verdicts import judge
from groupcomm_conformance.steps.table import StepTable, Tables
from groupcomm_conformance.tla.tree import Definitions
from groupcomm_conformance.tla.values import Value

from . import campaigns, console
from .exits import ExitCode, verdict
from .options import AsJson, Master, OneProtocol, Processes, TableFolder, whole


def command(
    protocol: OneProtocol,
    *,
    spec: Annotated[
        bool, typer.Option("--spec", help="Break the specification instead, and let the tables alone judge it.")
    ] = False,
    claims: Annotated[
        bool, typer.Option("--claims", help="Weaken the claims instead: an ablation must no longer refute them.")
    ] = False,
    guarantees: Annotated[
        bool, typer.Option("--guarantees", help="Weaken the guarantees that claims speak of; any protocol may notice.")
    ] = False,
    conditions: Annotated[
        bool,
        typer.Option(
            "--conditions", help="Take a condition of a step away, each in its turn: a claim must be violated."
        ),
    ] = False,
    random: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, 10**9),
            metavar="N",
            help="Random steps beyond the bounds of the models, for each mutant that no table detects. "
            f"Default: {by_events.STEPS:,}.",
        ),
    ] = None,
    workers: Processes = None,
    master: Master = None,
    table: TableFolder = None,
    as_json: AsJson = False,
) -> None:
    """Break the implementation on purpose, many times: the local steps, or random steps, must detect it.

    Exits with 1 if less than 95 % of the mutants are killed, if one survives and
    conformance/mutants/PROTOCOL.yaml does not say why, or says why for a killed mutant. With --spec, and
    conformance/mutants/PROTOCOL_spec.yaml: less than 97 % of the mutants that are not equivalent; likewise
    with --claims, and conformance/mutants/PROTOCOL_claims.yaml, and with --guarantees, and
    conformance/mutants/PROTOCOL_guarantees.yaml. With --conditions if a condition that no
    claim notices has no reason in conformance/mutants/PROTOCOL_conditions.yaml. With --master or --table it
    is a campaign: Spark judges the mutants, a table keeps the verdicts, and the same command continues an
    interrupted campaign.
    """
    if claims or guarantees or conditions:
        hint = "--claims" if claims else "--guarantees" if guarantees else "--conditions"
        others = [spec, claims, guarantees, conditions].count(True) > 1
        if others or any(each is not None for each in (random, master, table)):
            raise typer.BadParameter("only --workers and --json go with it", param_hint=hint)
        found = _of_conditions(protocol, workers) if conditions else _of_claims(protocol, workers, guarantees)
        lines = report.condition_lines(found) if conditions else report.claim_lines(found, hint.removeprefix("--"))
        for told in [json.dumps(found, indent=2)] if as_json else lines:
            typer.echo(told)
        raise typer.Exit(verdict(ok=found["ok"] is True))
    campaign = None if master is None and table is None else _Campaign(protocol, master, table)
    steps = by_events.STEPS if random is None else random
    judged = _of_specification if spec else _of_implementation
    found = judged(protocol, steps, workers, campaign)
    if campaign is not None and campaign.told is not None:
        found["campaign"] = campaign.told.to_json()
        typer.echo(campaign.told.line(), err=as_json)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        for told in report.spec_lines(found) if spec else report.lines(found):
            typer.echo(told)
    raise typer.Exit(verdict(ok=found["ok"] is True))


def _of_specification(protocol: str, steps: int, workers: int | None, campaign: "_Campaign | None") -> dict[str, Any]:
    root = find_root()
    began = time.monotonic()
    manifest = load(root, protocol)
    implementation = _implementation(manifest)
    reasons = explanations(root, protocol, "spec")
    tables = _tables(root, manifest)
    if campaign is None:
        judged = judge(manifest, tables, cache=Tables.of(root).folder, workers=workers)
    else:
        judged = judge(manifest, tables, confronting=partial(campaign.confront, root, tables))
    judged = by_events.noticed_of(manifest, implementation, judged, steps, tables=_bare(tables) if steps else {})
    return report.spec_told(judged, reasons, time.monotonic() - began)


def _of_claims(protocol: str, workers: int | None, guarantees: bool) -> dict[str, Any]:  # noqa: FBT001 - of the command
    root = find_root()
    began = time.monotonic()
    manifest = load(root, protocol)
    what: About = "guarantees" if guarantees else "claims"
    reasons = explanations(root, protocol, what)
    with console.Watch() as watch, watch.working(f"{protocol}: weakened {what}") as say:
        judged = weakened.judge(
            manifest,
            guarantees=guarantees,
            others=(load(root, other) for other in cores(root) if guarantees and other != protocol),
            cache=Tables.of(root).folder,
            workers=workers or os.cpu_count() or 1,
            progress=lambda at, name: say(f"{at} ablations, last {name}"),
        )
    return report.spec_told(judged, reasons, time.monotonic() - began)


def _of_conditions(protocol: str, workers: int | None) -> dict[str, Any]:
    root = find_root()
    began = time.monotonic()
    manifest = load(root, protocol)
    reasons = explanations(root, protocol, "conditions")
    tables = _tables(root, manifest)
    with console.Watch() as watch, watch.working(f"{protocol}: conditions") as say:
        judged = by_claims.judge(
            manifest,
            tables,
            cache=Tables.of(root).folder,
            workers=workers or os.cpu_count() or 1,
            progress=lambda at, of, name: say(f"{at} of {of}, last {name}"),
        )
    return report.spec_told(judged, reasons, time.monotonic() - began, required=0)


def _of_implementation(protocol: str, steps: int, workers: int | None, campaign: "_Campaign | None") -> dict[str, Any]:
    root = find_root()
    began = time.monotonic()
    manifest = load(root, protocol)
    implementation = _implementation(manifest)
    reasons = explanations(root, protocol, "core")
    tables = _tables(root, manifest)
    judging = Judge(implementation, _judged_by(tables))
    if wrong := judging.kills(implementation.core):
        typer.echo(f"{protocol}: the implementation itself is wrong ({wrong}): see groupcomm conform", err=True)
        raise typer.Exit(ExitCode.DIFFERS)
    made = mutants(implementation)
    count = workers or os.cpu_count() or 1
    if campaign is not None:
        found = campaign.judge(root, made, tables)
    elif count == 1:
        found = [judging.judge(mutant) for mutant in made]
    else:
        found = verdicts(root, protocol, made, tables, count)
    left = [mutant for mutant, by in zip(made, found, strict=True) if not by]
    random = by_events.noticed_in(
        implementation, constants_of(manifest.cfgs["safety"]), left, steps, tables=_bare(tables) if steps else {}
    )
    fates = [
        Fate(mutant, by or random.get(mutant.name, ""), mutant.name in random)
        for mutant, by in zip(made, found, strict=True)
    ]
    return report.told(protocol, list(tables), fates, reasons, time.monotonic() - began)


def _judged_by(tables: Mapping[str, ModelTable]) -> dict[str, tuple[StepTable, Mapping[str, Value]]]:
    """Give tables and constants by the models' names."""
    return {name: (each.table, each.constants) for name, each in tables.items()}


def _bare(tables: Mapping[str, ModelTable]) -> dict[str, StepTable]:
    return {name: each.table for name, each in tables.items()}


def _implementation(manifest: Manifest) -> Protocol:
    try:
        return derive.load(manifest)
    except MappingError as error:
        raise FileNotFoundError(str(error)) from error


def _tables(root: Path, manifest: Manifest) -> dict[str, ModelTable]:
    with console.Watch(conforming(manifest)) as watch:
        return tables_of(root, manifest, watch)


@define
class _Campaign:
    """Judges mutants on Spark, and remembers how that went."""

    protocol: str
    master: str | None
    table: Path | None
    told: campaigns.Told | None = None

    def judge(self, root: Path, made: Sequence[Mutant], tables: Mapping[str, ModelTable]) -> list[str]:
        """Say of each mutant of the implementation what kills it, "" for nothing."""
        campaigns.require()
        from groupcomm_spark import mutants as tasks_of  # noqa: PLC0415 - Spark is for campaigns alone

        context = tasks_of.Implementation(self.protocol, _judged_by(tables))
        identity = tasks_of.identity(self.protocol, tables)
        prepared = (tasks_of.judges, context)
        rows = self._run(root, identity, prepared, {mutant.name: mutant for mutant in made}, _TOGETHER)
        return [rows[mutant.name]["by"] for mutant in made]

    def confront(  # noqa: PLR0917 - it stands for `spec_by_tlc.confront`
        self,
        root: Path,
        tables: Mapping[str, ModelTable],
        folders: Sequence[Path],
        definitions: Definitions,
        made: Sequence[SpecMutant],
        steps: Mapping[str, StepTable],
        constants: Mapping[str, Mapping[str, str]],
        *,
        workers: int | None,  # noqa: ARG002 - executors decide that
    ) -> list[Noticed | None]:
        """Give for each mutant of the specification what notices it; see `spec_by_tlc.confront`."""
        campaigns.require()
        from groupcomm_spark import mutants as tasks_of  # noqa: PLC0415 - as above
        from groupcomm_spark import shipping  # noqa: PLC0415 - as above

        places = tuple(str(folder.relative_to(root)) for folder in folders)
        context = tasks_of.Confronting(places, definitions, made, steps, constants)
        modules = sorted(file.read_text(encoding="utf-8") for each in folders for file in each.glob("*.tla"))
        identity = tasks_of.identity(self.protocol, tables, spec=shipping.digest(modules))
        indexes = {mutant.name: index for index, mutant in enumerate(made)}
        rows = self._run(root, identity, (tasks_of.confronts, context), indexes, _TOGETHER_IN_TLC)
        return [tasks_of.noticed_of(rows[mutant.name]) for mutant in made]

    def _run(
        self,
        root: Path,
        identity: Mapping[str, object],
        prepared: tuple[Any, object],
        tasks: Mapping[str, Any],
        most: int,
    ) -> dict[Any, dict[str, Any]]:
        """Run tasks, by their mutants' names, and give their rows by these."""
        from groupcomm_spark import schemas  # noqa: PLC0415 - as above
        from groupcomm_spark.running import Campaign  # noqa: PLC0415
        from groupcomm_spark.shipping import folder_of  # noqa: PLC0415

        campaign = Campaign(*prepared, files=folder_of(root / "spec", "spec"), most=most)
        name = str(identity["command"]).replace(" --", "-").replace(" ", "-")
        unit = campaigns.Unit(
            "mutants", finding="survive", finds=lambda row: row["mutant"] if row["verdict"] == "survives" else ""
        )
        with campaigns.opened(name, identity, schemas.MUTANTS, self.table) as table:
            self.told = campaigns.run(campaign, tasks, table, master=self.master, unit=unit)
            return {row["mutant"]: row for row in table.rows()}


_TOGETHER = 8
"""Mutants of an implementation that a task of Spark's has, at most."""

_TOGETHER_IN_TLC = 100
"""Mutants of a specification: each run of TLC reads the tables for all of them."""
