"""`groupcomm conform`: every local step on the implementation."""

import functools
import json
import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import typer

from groupcomm_conformance.files.store import Verdicts
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.manifest import Manifest, Model, cores, find_root, load
from groupcomm_conformance.models.selecting import chosen
from groupcomm_conformance.ports.adapter import PATIENCE
from groupcomm_conformance.ports.conforming import Part
from groupcomm_conformance.ports.plain import schema as schema_of
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError, Protocol, constants_of
from groupcomm_conformance.random_events.against_step import Beside, compare, lines_of
from groupcomm_conformance.random_events.drawn import LENGTH
from groupcomm_conformance.steps import closing
from groupcomm_conformance.steps.conform import (
    Conformance,
    again,
    conform,
    lines,
    measured,
    table_of,
    tables_of,
    verdict_key,
)
from groupcomm_conformance.steps.rows import Failure, Rows, replay
from groupcomm_conformance.steps.table import StepTable, Tables

from . import console
from .adapters import (
    SECONDS,
    AdapterOption,
    Extent,
    JUnit,
    Patience,
    RandomEvents,
    RandomSeconds,
    Renamed,
    Strict,
    judge_model,
    opened,
    places_of,
    report,
    tell,
)
from .exits import ExitCode, verdict
from .options import AsJson, ModelNames, Protocols, Row, Seed, TierOption
from .watching import Watched, changes, watch


def command(
    protocol: Protocols = None,
    *,
    tier: TierOption = "full",
    model: ModelNames = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Use no cache, and measure what this adds to TLC's time.")
    ] = False,
    cached: Annotated[
        bool, typer.Option("--cached", help="Run nothing for a model whose rows passed with the same input and code.")
    ] = False,
    closed: Annotated[
        bool,
        typer.Option(
            "--closed", help="Of the states that the rows leave, and that no row has: six times as many rows."
        ),
    ] = False,
    row: Row = None,
    random: RandomEvents = None,
    seed: Seed = None,
    seconds: RandomSeconds = SECONDS,
    adapter: AdapterOption = None,
    strict: Strict = False,
    with_renamed: Renamed = False,
    junit: JUnit = None,
    patience: Patience = PATIENCE,
    again: Annotated[
        bool,
        typer.Option(
            "--watch", help="Of a port: its rows again when its program changes, first those that failed, until Ctrl-C."
        ),
    ] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Only print the JSON Schema of what an adapter gets of this protocol.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run every local step that TLC can reach on the implementation, or on a port, and compare.

    Outcome, next state and effects must be the same in each. Exits with 1 if a row does not pass, or if
    something is amiss that the rows need in order to speak for the whole model.
    """
    root = find_root()
    if schema:
        if not protocol or len(protocol) != 1:
            raise typer.BadParameter("a schema is one protocol's: name it", param_hint="--schema")
        typer.echo(json.dumps(schema_of(derive.load(load(root, protocol[0]))), indent=1))
        return
    if seed is not None and random is None:
        raise typer.BadParameter("a seed is one of random events: give --random, too", param_hint="--seed")
    if closed and (fresh or cached or random is not None or adapter is not None):
        raise typer.BadParameter("only --model, --row and --tier go with it", param_hint="--closed")
    if cached and (fresh or row is not None or random is not None or adapter is not None):
        raise typer.BadParameter("only --model, --tier and --json go with it", param_hint="--cached")
    if random is not None and adapter is None:
        if row is not None or model or fresh or as_json or strict or with_renamed or junit or seconds != SECONDS:
            raise typer.BadParameter(
                "random events are of no model: only --seed goes with it, or an --adapter", param_hint="--random"
            )
        raise typer.Exit(_random(protocol or cores(root), random, 1 if seed is None else seed))
    models = chosen(
        root,
        protocol or cores(root),
        tier=tier,
        only=model or (),
        suits=lambda each: each.conform,
        kind="model marked conform",
    )
    if row is not None and (not model or len(models) != 1):
        raise typer.BadParameter("a row is one of a model: name it with --model", param_hint="--row")
    walks = -(-(random or 0) // LENGTH)
    extent = Extent(strict=strict, renamed=with_renamed, walks=walks, seed=1 if seed is None else seed, seconds=seconds)
    if adapter is None and (extent != Extent() or junit or again):
        raise typer.BadParameter("this is for a port: name its --adapter")
    if again and (row is not None or junit or as_json or extent != Extent()):
        only = "only --adapter, --model, --tier and --patience go with it"
        raise typer.BadParameter(only, param_hint="--watch")
    implementations = _implementations(manifest for manifest, _ in models)
    if again and adapter is not None:
        _watch(adapter, models, implementations, patience=patience, root=root)
    if adapter is not None:
        parts: list[Part] = []
        with console.Watch(models) as watch:
            parts = _ports(
                adapter, models, implementations, extent=extent, row=row, patience=patience, watch=watch, root=root
            )
        places = {manifest.protocol: places_of(manifest) for manifest, _ in models}
        raise typer.Exit(report(parts, places, junit=junit, as_json=as_json))
    if row is not None:
        ((manifest, each),) = models
        with console.Watch(models) as watch:
            checked = checking.run_model(manifest, each, cache=checking.Cache.of(root), listener=watch)
            (made,) = _keyed_tables([(manifest, each, checked)], Tables.of(root), closed=closed)
        raise typer.Exit(_one_row(manifest, each, made, implementations[manifest.protocol], row, closed=closed))
    raise typer.Exit(_judged(root, models, implementations, fresh=fresh, cached=cached, closed=closed, as_json=as_json))


def _judged(
    root: Path,
    models: Sequence[tuple[Manifest, Model]],
    implementations: Mapping[str, Protocol],
    *,
    fresh: bool,
    cached: bool,
    closed: bool,
    as_json: bool,
) -> ExitCode:
    """Run the rows of models, but where `cached` for those that passed before, and report."""
    keys = [verdict_key(*each, implementations[each[0].protocol]) for each in models]
    verdicts = Verdicts.of(root)
    kept = {its: found for its in keys if cached and (found := verdicts.load(its)) is not None}
    left = {its: each for its, each in zip(keys, models, strict=True) if its not in kept}
    came = _told(root, [*left.values()], implementations, fresh=fresh, closed=closed)
    found = kept | {its: each.found for its, each in zip(left, came, strict=True)}
    for its, each in zip(left, came, strict=True):
        if each.ok and not closed:
            verdicts.keep(its, each.found)
    if as_json:
        typer.echo(json.dumps([found[its][0] for its in keys], indent=2))
        told = [line for each in came for line in each.failures]
    else:
        told = [line for its in keys for line in found[its][1]]
    for line in told:
        typer.echo(line, err=as_json)
    if kept:
        typer.echo(
            f"{len(kept)} of {len(keys)} verdicts are as before, from the cache: specification, model, core, engine "
            "and jar are the same; without --cached all rows run",
            err=as_json,
        )
    return verdict(ok=all(each.ok for each in came))


class _Told(NamedTuple):
    """The report of a model: whether its rows passed, all as JSON and in lines, and the lines of failures."""

    ok: bool
    found: tuple[dict[str, Any], list[str]]
    failures: list[str]

    @classmethod
    def of(cls, came: Conformance) -> Self:
        return cls(came.ok, (came.to_json(), [*lines(came, failures_only=False)]), [*lines(came, failures_only=True)])


def _told(
    root: Path,
    models: Sequence[tuple[Manifest, Model]],
    implementations: Mapping[str, Protocol],
    *,
    fresh: bool,
    closed: bool,
) -> list[_Told]:
    """Run the rows of models, in order; those of several protocols by a process for each core."""
    if fresh or len({manifest.protocol for manifest, _ in models}) < 2:  # noqa: PLR2004 - several
        return [*map(_Told.of, _conformances(root, models, implementations, fresh=fresh, closed=closed))]
    with console.Watch(models) as watch:
        checking.run_models(models, cache=checking.Cache.of(root), listener=watch)
    processes = ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn"))
    with console.Watch() as watch, watch.working("rows") as says, processes as pool:
        named = [(root, manifest.protocol, each.name, closed) for manifest, each in models]
        came: list[_Told] = []
        for told in pool.map(_one_told, *zip(*named, strict=True)):
            came.append(told)
            says(f"{len(came)} of {len(models)} models")
    return came


def _one_told(root: Path, protocol: str, name: str, closed: bool) -> _Told:  # noqa: FBT001 - of a process
    """Run the rows of a model, in a process of its own."""
    manifest, implementation = _loaded(root, protocol)
    model, tables = manifest.model(name), Tables.of(root)
    checked = checking.run_model(manifest, model, cache=checking.Cache.of(root))
    (made,) = _keyed_tables([(manifest, model, checked)], tables, closed=closed)
    return _Told.of(conform(manifest, model, checked, implementation, tables=tables, made=made, closed=closed))


@functools.cache
def _loaded(root: Path, protocol: str) -> tuple[Manifest, Protocol]:
    manifest = load(root, protocol)
    return manifest, derive.load(manifest)


def _conformances(
    root: Path,
    models: Sequence[tuple[Manifest, Model]],
    implementations: Mapping[str, Protocol],
    *,
    fresh: bool,
    closed: bool,
) -> list[Conformance]:
    """Run the rows of models, in order."""
    cache, tables = checking.Cache.of(root), Tables.of(root)
    with console.Watch(models) as watch:
        if fresh:
            made = ((*each, *measured(*each, cache, watch)) for each in models)
            return [
                conform(
                    manifest,
                    model,
                    checked,
                    implementations[manifest.protocol],
                    tables=tables,
                    fresh=True,
                    plain_seconds=bare,
                )
                for manifest, model, checked, bare in made
            ]
        results = checking.run_models(models, cache=cache, listener=watch)
        searched = [(*each, checked) for each, checked in zip(models, results, strict=True)]
        return [
            conform(*each, implementations[each[0].protocol], tables=tables, made=table, closed=closed)
            for each, table in zip(searched, _keyed_tables(searched, tables, closed=closed), strict=True)
        ]


def _watch(
    adapter: str,
    models: list[tuple[Manifest, Model]],
    implementations: dict[str, Protocol],
    *,
    patience: float,
    root: Path,
) -> None:
    signs = changes(adapter)
    with console.Watch(models) as listener:
        of = [
            Watched(manifest, each, implementations[manifest.protocol], table)
            for manifest, each, table in _tables(models, root, listener)
        ]
    watch(adapter, of, signs, patience)


def _keyed_tables(
    searched: Sequence[tuple[Manifest, Model, checking.CheckedModel]], tables: Tables, *, closed: bool
) -> Iterator[tuple[StepTable, str] | None]:
    """Give the tables of models with their keys; where `closed`, of the states that their rows leave."""
    for (manifest, model, checked), made in zip(searched, tables_of(searched, tables), strict=True):
        if closed and made is not None and checked.harvest is not None:
            yield closing.closed(manifest, model, made[0], checked.harvest, tables)
        else:
            yield made


def _ports(
    adapter: str,
    models: list[tuple[Manifest, Model]],
    implementations: dict[str, Protocol],
    *,
    extent: Extent,
    row: int | None,
    patience: float,
    watch: console.Watch,
    root: Path,
) -> list[Part]:
    """Judge the port behind an adapter by the tables of these models."""
    tables = [*_tables(models, root, watch)]
    parts: list[Part] = []
    for name, protocol in implementations.items():
        with opened(adapter, protocol, patience) as port:
            typer.echo(port.hello.text(), err=True)
            for manifest, each, table in tables:
                if manifest.protocol != name:
                    continue
                if row is not None and row > len(table):
                    raise typer.BadParameter(f"{each.name} has rows 1 to {len(table)}", param_hint="--row")
                began = time.monotonic()
                made = judge_model(port, manifest, each, table, extent=extent, row=row)
                parts += tell(f"{name} {each.name}", made, began)
    return parts


def _tables(
    models: list[tuple[Manifest, Model]], root: Path, listener: console.Watch
) -> Iterator[tuple[Manifest, Model, StepTable]]:
    """Give the tables of models. FileNotFoundError for a model that does not hold."""
    results = checking.run_models(models, cache=checking.Cache.of(root), listener=listener)
    for (manifest, each), checked in zip(models, results, strict=True):
        if checked.harvest is None:
            raise FileNotFoundError(f"{each.name} does not hold ({checked.outcome}): there are no rows")
        yield manifest, each, table_of(manifest, each, checked.harvest, Tables.of(root))[0]


def _implementations(manifests: Iterable[Manifest]) -> dict[str, Protocol]:
    every = {manifest.protocol: manifest for manifest in manifests}
    try:
        return {name: derive.load(manifest) for name, manifest in every.items()}
    except MappingError as error:
        raise FileNotFoundError(str(error)) from error


def _one_row(
    manifest: Manifest, model: Model, made: tuple[StepTable, str] | None, protocol: Protocol, row: int, *, closed: bool
) -> ExitCode:
    """Run one row and show it, right or wrong."""
    if made is None:
        raise typer.BadParameter(f"{model.name} does not hold: there are no rows", param_hint="--model")
    table, _ = made
    if row > len(table):
        raise typer.BadParameter(f"{model.name} has rows 1 to {len(table)}", param_hint="--row")
    replayed = replay(Rows(protocol, table, constants_of(manifest.cfg(model))), protocol.core.step, [row - 1])
    failure = replayed.first or Failure.passed(table, row)
    typer.echo(f"{manifest.protocol} {model.name} row {row}: {failure.verdict}")
    typer.echo(failure.text(table, again(manifest.protocol, model.name, closed=closed)))
    return verdict(ok=replayed.passed)


def _random(names: Iterable[str], number: int, seed: int) -> ExitCode:
    """Give random events to core and specification; show the first that differ."""
    good = True
    for name in names:
        manifest = load(find_root(), name)
        implementation = _implementations([manifest])[name]
        beside = Beside.of(manifest, implementation)
        compared = compare(beside, number, seed)
        for line in lines_of(beside, name, compared):
            typer.echo(line)
        good = good and not compared.differences
    return verdict(ok=good)
