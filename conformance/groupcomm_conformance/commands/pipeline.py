"""`groupcomm pipeline`: from TLC's dumps to tables."""

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from groupcomm_conformance.files.writing import require_folder
from groupcomm_conformance.models.manifest import Manifest, Model, Tier, find_root
from groupcomm_conformance.models.selecting import chosen
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError
from groupcomm_spark.pipeline.errors import BadMaster, SparkMissing

from . import console
from .exits import verdict
from .options import AsJson, ModelNames, OneProtocol, TierOption, heap

if TYPE_CHECKING:
    from groupcomm_spark.pipeline.stages import Summary

__all__ = ["command", "require"]

_FEW: Final = 100_000
"""Transitions up to which a session is quicker that is made for little."""

_NEEDED: Final = ("pyspark", "pyarrow", "numpy")


def command(
    protocol: OneProtocol,
    *,
    model: ModelNames = None,
    tier: TierOption = "full",
    master: Annotated[str, typer.Option(help="Where Spark runs.")] = "local[*]",
    memory: Annotated[str, typer.Option(parser=heap, metavar="SIZE", help="Heap of Spark's driver.")] = "4g",
    out: Annotated[Path, typer.Option(help="The folder of the tables.")] = Path("build/tables"),
    keep_dump: Annotated[
        bool, typer.Option("--keep-dump", help="Leave TLC's dump in the folder of the tables.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make tables of a model's state graph, and walk through it with the implementation.

    For each model marked `conform` or `walk`, TLC's dump becomes the tables states, edges and local_steps.
    Walks that cover every transition (or, of a large model, every local step) are done on the simulated
    group. Verdicts and coverage are tables too. Exits with 1 if a walk does not pass.
    """
    root = find_root()
    require_folder(out)
    models = _chosen(root, protocol, tier, model or ())
    require()
    from groupcomm_spark.pipeline.session import session  # noqa: PLC0415 - Spark is for this command alone
    from groupcomm_spark.pipeline.stages import run  # noqa: PLC0415

    summaries: list[Summary] = []
    try:
        with (
            console.Watch(models) as watch,
            session(master, memory=memory, brisk=_small([each for _, each in models])) as spark,
        ):
            for manifest, each in models:
                with watch.working(each.name) as tell:
                    summary = run(
                        spark, manifest, each, out, root=root, keep_dump=keep_dump, listener=watch, on_stage=tell
                    )
                summaries.append(summary)
                for line in _lines(summary):
                    typer.echo(line, err=as_json)
    except BadMaster as error:
        raise typer.BadParameter(str(error), param_hint="--master") from None
    if as_json:
        typer.echo(json.dumps([summary.to_json() for summary in summaries], indent=2))
    raise typer.Exit(verdict(ok=all(summary.ok for summary in summaries)))


def _small(models: Sequence[Model]) -> bool:
    return all(model.counts is not None and model.counts.transitions <= _FEW for model in models)


def require() -> None:
    """SparkMissing where a package of the extra `pipeline` is not installed."""
    for name in _NEEDED:
        try:
            import_module(name)
        except ModuleNotFoundError:
            raise SparkMissing(name) from None


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


def _lines(summary: "Summary") -> Iterator[str]:
    """Describe the result of a model."""
    name = f"{summary.protocol} {summary.model}"
    verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(summary.verdicts.items()))
    yield (
        f"{name}: {'ok' if summary.ok else 'FAILS'}: {summary.states:,} states, {summary.edges:,} edges, "
        f"{summary.used:,} of {summary.local_steps:,} local steps used"
        f"{f', {summary.beyond:,} edges beyond these' if summary.beyond else ''}"
    )
    yield (
        f"  {summary.walks:,} walks of {summary.walked:,} steps ({verdicts}) cover {summary.covered_steps:,} "
        f"local steps and {summary.covered_edges:,} edges: {summary.steps_per_edge:.2f} steps an edge covered"
    )
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in summary.seconds.items())
    yield f"  seconds: {stages}"
