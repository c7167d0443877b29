"""One model, from TLC's dump to tables: the order of things."""

import shutil
from collections.abc import Callable
from pathlib import Path

from attrs import evolve
from pyspark.sql import SparkSession

from groupcomm_conformance.models import checking
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.table import StepTable, Tables
from groupcomm_conformance.tlc.output import Progress
from groupcomm_conformance.tlc.run import SHORT

from . import dump as dumps
from . import schemas
from .dump import Dump
from .errors import NotHolding
from .job import Clock, Job
from .publishing import Place
from .summary import Summary

__all__ = ["Summary", "run"]


def run(
    spark: SparkSession,
    manifest: Manifest,
    model: Model,
    out: Path,
    *,
    root: Path,
    keep_dump: bool = False,
    listener: checking.Listener | None = None,
    on_stage: Callable[[str], None] = lambda _stage: None,
) -> Summary:
    """Make all tables of a model, in `out`.

    The dump is kept until the tables are in place, or longer if `keep_dump`, so that a run which fails can be
    taken up. Raises GraphError for a dump that is not whole, NotContained where a transition is no local step
    that `groupcomm conform` tries, and SparkFailed where Spark fails.
    """
    clock = Clock(on_stage=on_stage)
    place = Place(out, manifest.protocol, model.name)
    with clock.stage("check"):
        table = _table(manifest, model, root, listener)
    with clock.stage("dump"):
        dump = _dumped(manifest, model, out / ".work", listener)
    place.begin()
    constants = derive.constants_of(manifest.cfg(model))
    job = Job(
        spark, place, dump=dump, table=table, manifest=manifest, constants=constants, clock=clock, whole=model.conform
    )
    summary = job.run()
    place.publish(tuple(schemas.TABLES), {**summary.to_json(), "variables": list(job.variables)})
    if not keep_dump:
        shutil.rmtree(dump.folder, ignore_errors=True)
    return summary


def _table(manifest: Manifest, model: Model, root: Path, listener: checking.Listener | None) -> StepTable:
    """The table that `groupcomm conform` runs, from its cache where it is there."""
    conforming = evolve(model, conform=True)
    cache = checking.Cache.of(root)
    checked = checking.run_model(manifest, conforming, cache=cache, listener=listener)
    if checked.harvest is None:
        raise NotHolding(f"{manifest.protocol} {model.name}", checked.outcome)
    table, _ = table_of(manifest, conforming, checked.harvest, Tables.of(root))
    return table


def _dumped(manifest: Manifest, model: Model, folder: Path, listener: checking.Listener | None) -> Dump:
    part = "dump"
    if listener:
        listener.started(model, part)
    short = model.counts is not None and model.counts.transitions < SHORT

    def progress(told: Progress) -> None:
        if listener:
            listener.progress(model, part, told)

    try:
        return dumps.take(manifest, manifest.cfg(model), folder, short=short, progress=progress)
    finally:
        if listener:
            listener.ended(model, part)
