"""`groupcomm pipeline`: every transition that TLC found, taken by the implementation. See docs/pipeline.md."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from groupcomm_conformance.models.manifest import Manifest, Model, Tier, find_root
from groupcomm_conformance.models.selecting import chosen
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError

from . import campaigns, console
from .exits import verdict
from .options import AsJson, Master, ModelNames, OneProtocol, TableFolder, TierOption

if TYPE_CHECKING:
    from groupcomm_spark.table import Row
    from groupcomm_spark.transitions import Coverage

_TOGETHER = 200
"""Kinds of transitions that a task of Spark's has, at most."""


def command(
    protocol: OneProtocol,
    *,
    model: ModelNames = None,
    tier: TierOption = "full",
    master: Master = None,
    table: TableFolder = None,
    as_json: AsJson = False,
) -> None:
    """Have the implementation take every transition of a model, on Spark, and count what they cover.

    For each model marked `conform` or `walk`, TLC prints its transitions. A table has a verdict on each kind of
    them, and the same command continues an interrupted campaign. Exits with 1 if the implementation does not
    take one as specified.
    """
    root = find_root()
    models = _chosen(root, protocol, tier, model or ())
    campaigns.require()
    from groupcomm_spark import schemas, transitions  # noqa: PLC0415 - Spark is for campaigns alone
    from groupcomm_spark.running import Campaign  # noqa: PLC0415
    from groupcomm_spark.shipping import folder_of  # noqa: PLC0415

    with console.Watch(models) as watch:
        taken = [transitions.take(manifest, each, root, watch) for manifest, each in models]
    constants = {each.name: derive.constants_of(manifest.cfg(each)) for manifest, each in models}
    tasks = {kind.key: kind for each in taken for kind in each.kinds}
    judging = transitions.Judging(protocol, constants)
    campaign = Campaign(transitions.prepare, judging, files=folder_of(root / "spec", "spec"), most=_TOGETHER)
    unit = campaigns.Unit("kinds of transitions", finding="failing", finds=_failing)
    identity = transitions.identity(protocol, taken)
    with campaigns.opened(f"pipeline-{protocol}", identity, schemas.TRANSITIONS, table) as opened:
        told = campaigns.run(campaign, tasks, opened, master=master, unit=unit)
        rows = [*opened.rows()]
    typer.echo(told.line(), err=True)
    found = [
        transitions.Coverage.of(protocol, each, (row for row in rows if row["model"] == each.model)) for each in taken
    ]
    for coverage in found:
        for line in _lines(coverage):
            typer.echo(line, err=as_json)
    if as_json:
        typer.echo(json.dumps([coverage.to_json() for coverage in found], indent=2))
    raise typer.Exit(verdict(ok=all(coverage.ok for coverage in found)))


def _failing(row: "Row") -> str:
    return "" if row["verdict"] == "pass" else f"{row['verdict']}: {row['act']}: {row['reason']}"


def _chosen(root: Path, protocol: str, tier: Tier, only: Sequence[str]) -> list[tuple[Manifest, Model]]:
    models = chosen(
        root,
        (protocol,),
        tier=tier,
        only=only,
        suits=lambda model: bool(only) or model.conform or model.walk,
        kind="model marked conform or walk",
    )
    for manifest, model in models:
        _usable(manifest, model)
    return models


def _usable(manifest: Manifest, model: Model) -> None:
    """Refuse a model whose graph is not all there is, or that the implementation has nothing to do with."""
    cfg = manifest.cfg(model)
    if not model.holds or model.liveness or cfg.constraints or cfg.symmetry:
        problem = f"{model.name} is no model for safety that holds and has no CONSTRAINT or SYMMETRY"
        raise typer.BadParameter(problem, param_hint="--model")
    try:
        derive.load(manifest).config(derive.constants_of(cfg))
    except MappingError as error:
        raise typer.BadParameter(f"{model.name}: {error}", param_hint="--model") from None


def _lines(coverage: "Coverage") -> Iterator[str]:
    """Describe the result of a model."""
    verdicts = ", ".join(f"{count:,} {name}" for name, count in sorted(coverage.verdicts.items()))
    kinds = sum(coverage.verdicts.values())
    yield (
        f"{coverage.protocol} {coverage.model}: {'ok' if coverage.ok else 'FAILS'}: "
        f"{coverage.transitions:,} transitions of {kinds:,} kinds ({verdicts}), "
        f"{coverage.used:,} of {coverage.local_steps:,} local steps used"
        f"{f', {coverage.beyond:,} kinds beyond these' if coverage.beyond else ''}"
    )
    yield f"  actions: {', '.join(f'{name} {count:,}' for name, count in sorted(coverage.actions.items()))}"
