"""`groupcomm check` and `groupcomm explain`: the models, and a counterexample drawn."""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from attrs import evolve, frozen
from rich.markup import escape

from groupcomm_conformance.files.store import replace
from groupcomm_conformance.files.writing import require_file
from groupcomm_conformance.models.checking import (
    Cache,
    CheckedModel,
    differences,
    gates,
    record,
    run_model,
    run_models,
    stale,
)
from groupcomm_conformance.models.consistency import require_use
from groupcomm_conformance.models.manifest import (
    TIERS,
    Erratum,
    Manifest,
    Model,
    Tier,
    UnknownNameError,
    cfg_text,
    find_root,
    load,
    protocols,
)
from groupcomm_conformance.models.plan import plan_of
from groupcomm_conformance.models.selecting import chosen, manifests_of
from groupcomm_conformance.protocols.stepping import repair
from groupcomm_conformance.tla.values import to_json
from groupcomm_conformance.why.repaired_step import instead
from groupcomm_conformance.why.why import Reasons, why

from . import campaigns, console
from .exits import verdict
from .options import AsJson, Heap, Master, MaybeTier, ModelNames, Protocols, TableFolder, Workers


def check(
    protocol: Protocols = None,
    *,
    tier: MaybeTier = None,
    model: ModelNames = None,
    guard: Annotated[
        str | None,
        typer.Option(metavar="CONSTANT", help="Only the models that notice this guard: without it, and controls."),
    ] = None,
    cached: Annotated[
        bool, typer.Option("--cached/--fresh", help="Take results of earlier runs, or run TLC always (default).")
    ] = False,
    as_json: AsJson = False,
    workers: Workers = None,
    heap: Heap = "2g",
    recording: Annotated[
        bool,
        typer.Option("--record", help="Write what came into recorded.yaml: counts, traces, violated claims, digests."),
    ] = False,
    master: Master = None,
    table: TableFolder = None,
    write_cfg: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Run nothing: write DIR/PROTOCOL/MODEL.cfg, to open in an editor."),
    ] = None,
) -> None:
    """Run the models of the manifests with TLC and compare the results with what is expected.

    Exits with 1 if an outcome, a count, a counterexample's length or the claims that are violated differ, or
    if a gate fails: an action or outcome that never occurs, a witness that is not reached, a claim that no
    ablation violates, a control that does not hold. A deep model that was recorded from another specification
    is named as stale, which is no failure. With --record outcomes are compared with the manifest as always,
    and figures are written into recorded.yaml. With --master or --table it is a campaign: Spark runs the
    models, each a task, a table keeps the results, and the same command continues an interrupted campaign.
    """
    root = find_root(own=recording or not protocol)  # nothing is written, and no hours begin, by a wrong folder
    models = chosen(root, protocol or (), tier=tier or "full", only=model or (), recording=recording)
    if tier is not None and model is not None:
        _check_tier(tier, models)
    if guard is not None:
        models = _noticing(guard, models)
    for manifest in {manifest.protocol: manifest for manifest, _ in models}.values():
        require_use(manifest, whole=model is None)
    if write_cfg is not None:
        _write_cfgs(write_cfg, models)
        return
    if master is None and table is None:
        with console.Watch(models) as watch, watch.summing_up():
            checked = run_models(
                models,
                cache=Cache.of(root),
                fresh=not cached,
                workers=workers,
                heap=heap,
                listener=watch,
                recording=recording,
                any_lasso=not recording,  # their lengths are not compared (`judging.differences`)
            )
    else:
        campaign = _Campaign(root, cached=cached, workers=workers or 1, heap=heap, recording=recording)
        checked = campaign.run(models, master, table)
    ok = True
    documents: dict[str, list[dict[str, object]]] = {"models": [], "gates": [], "stale": []}
    for loaded in {manifest.protocol: manifest for manifest, _ in models}.values():
        manifest = loaded
        results = {each.model: each for each in checked if each.protocol == manifest.protocol}
        if recording:
            for line in record(root, manifest, results):
                typer.echo(f"recorded {line}", err=True)
            manifest = load(root, manifest.protocol, recording=True)
        old = stale(manifest)
        judged = gates(manifest, results)
        different = {name: differences(manifest.model(name), each) for name, each in results.items()}
        ok = ok and not any(different.values()) and all(gate.ok is not False for gate in judged)
        if as_json:
            documents["models"] += [
                console.as_json(manifest.model(name), each, different[name]) for name, each in results.items()
            ]
            documents["gates"] += [
                {"protocol": manifest.protocol, "gate": gate.name, "ok": gate.ok, "text": gate.text} for gate in judged
            ]
            documents["stale"] += [{"protocol": manifest.protocol, "model": name} for name in old]
            for line in console.gate_lines(judged):
                typer.echo(f"{manifest.protocol} {line}", err=True)
        else:
            out = console.stdout()
            out.print(console.model_table(manifest, results))
            for line in console.kill_table(manifest, results, out.width):
                out.print(escape(line), soft_wrap=True, highlight=False)
            for line in console.gate_lines(
                judged if model is None else [gate for gate in judged if gate.ok is not None]
            ):
                out.print(escape(line))
        _show_differences(manifest, results, different, err=as_json)
        if old and model is None:
            typer.echo(
                f"STALE {manifest.protocol}: not searched since the specification changed: {', '.join(old)} (models of "
                "the tier deep. You need do nothing: this run is none the worse, and all of them are searched "
                f"before a release, by groupcomm check {manifest.protocol} --tier deep --record)",
                err=as_json,
            )
    if kept := sum(each.cached for each in checked):
        typer.echo(
            f"{kept:,} of {len(checked):,} results are those of earlier runs of TLC, with the same "
            "specification, model, engine and jar: check --fresh takes none",
            err=as_json,
        )
    if as_json:
        typer.echo(json.dumps(documents, indent=2))
    raise typer.Exit(verdict(ok=ok))


@frozen
class _Campaign:
    """Runs models on Spark: what `run_models` does on this machine. Results go into the cache, too."""

    root: Path
    cached: bool
    workers: int
    heap: str
    recording: bool

    def run(
        self, models: Sequence[tuple[Manifest, Model]], master: str | None, folder: Path | None
    ) -> list[CheckedModel]:
        """Give the results of models, in their order; those of the cache are taken if it is asked for."""
        campaigns.require()
        from groupcomm_spark import schemas, searches  # noqa: PLC0415 - Spark is for these alone
        from groupcomm_spark.running import Campaign  # noqa: PLC0415
        from groupcomm_spark.shipping import folder_of  # noqa: PLC0415

        cache = Cache.of(self.root)
        plans = [plan_of(manifest, model, recording=self.recording) for manifest, model in models]
        kept = {plan.key: cache.load(plan.key) if self.cached else None for plan in plans}
        largest = sorted(plans, key=lambda plan: plan.size.transitions, reverse=True)
        tasks = [searches.search_of(plan) for plan in largest if kept[plan.key] is None]
        campaign = Campaign(
            searches.prepare,
            searches.Searching(self.workers, self.heap, self.recording),
            files=folder_of(self.root / "spec", "spec"),
            cores=self.workers,
        )
        unit = campaigns.Unit("models", finding="differ", finds=_differing)
        found: dict[str, CheckedModel] = {}
        with campaigns.opened("check", searches.identity(), schemas.SEARCHES, folder) as table:
            by_key = {task.key: task for task in tasks}
            told = campaigns.run(campaign, by_key, table, master=master, unit=unit)
            for row in table.rows():
                if row["search"] in by_key:
                    found[row["search"]] = searches.checked_of(row, table.folder)
        typer.echo(told.line(), err=True)
        results = [kept[plan.key] or found[searches.search_of(plan).key] for plan in plans]
        for plan, checked in zip(plans, results, strict=True):
            if not checked.cached and not checked.outcome.startswith("fails"):
                cache.store(plan.key, checked)
        return results


def _differing(row: Mapping[str, object]) -> str:
    if row["outcome"] == row["expected"]:
        return ""
    return f"DIFFERS {row['protocol']} {row['model']}: {row['outcome']}, not {row['expected']}"


def _check_tier(tier: Tier, models: Sequence[tuple[Manifest, Model]]) -> None:
    """BadParameter where a model that is named is not in the tier that is named."""
    for _, model in models:
        if TIERS.index(model.tier) > TIERS.index(tier):
            raise typer.BadParameter(
                f"the model {model.name} is in the tier {model.tier}, not in {tier}: leave --tier out"
            )


def _noticing(guard: str, models: Sequence[tuple[Manifest, Model]]) -> list[tuple[Manifest, Model]]:
    """Keep the models that ablate a guard, and their controls: these notice what becomes of it.

    UnknownNameError where none ablates it.
    """
    ablations = [(manifest, model) for manifest, model in models if guard in model.ablates]
    if not ablations:
        known = dict.fromkeys(name for _, model in models for name in model.ablates)
        raise UnknownNameError("guard that a model ablates", guard, tuple(known))
    wanted = {(manifest.protocol, name) for manifest, model in ablations for name in (model.name, model.control)}
    return [each for each in models if (each[0].protocol, each[1].name) in wanted]


def _write_cfgs(folder: Path, models: Sequence[tuple[Manifest, Model]]) -> None:
    for manifest, model in models:
        file = folder / manifest.protocol / f"{model.name}.cfg"
        require_file(file, "name another folder")
        replace(file, cfg_text(manifest, model).encode())
        typer.echo(f"{file} written, for the module {manifest.module_of(model.claims)}")


def _model(root: Path, protocol: str, name: str) -> tuple[Manifest, Model]:
    """Find a model by its name, or by the number of the flaw that it shows."""
    manifest = load(root, protocol)
    flaw = name.casefold()
    shown = (model for model in manifest.models if model.erratum and model.erratum.id.casefold() == flaw)
    return manifest, next(shown, None) or manifest.model(name)


def _show_differences(
    manifest: Manifest, results: dict[str, CheckedModel], different: dict[str, list[str]], *, err: bool
) -> None:
    """Print what differs, with the counterexample where none or another one was expected."""
    for name, lines in different.items():
        checked = results[name]
        for line in lines:
            typer.echo(f"DIFFERS {manifest.protocol} {name}: {line}", err=err)
        if lines and checked.outcome != checked.expected:
            for line in console.drawing(checked):
                typer.echo(line, err=err)


def _flawed(root: Path, flaw: str) -> tuple[Manifest, Model]:
    """Find the model that shows a flaw, by its number in capitals or not; UnknownNameError where there is none."""
    shown = {
        model.erratum.id.casefold(): (manifest, model)
        for manifest in manifests_of(root)
        for model in manifest.models
        if model.erratum is not None
    }
    if flaw.casefold() not in shown:
        flaws = (model.erratum.id for _, model in shown.values() if model.erratum)
        raise UnknownNameError("protocol or flaw", flaw, (*protocols(root), *flaws))
    return shown[flaw.casefold()]


def _story(erratum: Erratum) -> Iterator[str]:
    """Say what the chart below shows, in the words of the erratum."""
    yield f"{erratum.id}: {erratum.title}. A user sees: {erratum.harm}."
    yield f"What happens: {erratum.flaw}"
    yield f"The repair: {erratum.repair}"


def explain(
    protocol: Annotated[str, typer.Argument(metavar="PROTOCOL|FLAW")],
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]")] = None,
    *,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run TLC even if the result is cached.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run one model and draw its counterexample as a sequence chart.

    A flaw is named by its number alone: groupcomm explain FLAW-30.
    """
    root = find_root()
    if model is None and protocol in protocols(root):
        raise typer.BadParameter(f"expected a model of {protocol} after it: groupcomm list {protocol} shows them")
    manifest, wanted = _flawed(root, protocol) if model is None else _model(root, protocol, model)
    protocol, model = manifest.protocol, wanted.name
    cache = Cache.of(root)
    with console.Watch([(manifest, wanted)]) as watch:
        checked = run_model(manifest, wanted, cache=cache, fresh=fresh, workers=None, listener=watch)
        if checked.trace and checked.workers > 1:  # then it need not be a shortest one
            checked = run_model(manifest, wanted, cache=cache, fresh=True, workers=1, listener=watch)
    different = differences(wanted, checked)
    said = why(manifest, wanted, checked, Reasons.of(root))
    if said is not None:
        checked = evolve(checked, trace=said.trace)
    repaired = instead(manifest, wanted, checked.trace, repair, Reasons.of(root))
    if as_json:
        trace = [
            {"number": state.number, "action": state.action, "state": to_json(state.values)} for state in checked.trace
        ]
        document = console.as_json(wanted, checked, different)
        document |= {"trace": trace, "back_to": checked.loop, "stutters": checked.stuttering}
        document |= {"chart": console.drawing(checked, whole=True)}
        document |= {"why": None if said is None else said.to_json()}
        document |= {"instead": None if repaired is None else repaired.to_json()}
        typer.echo(json.dumps(document, indent=2))
    else:
        typer.echo(f"{protocol} {model}: {checked.outcome} ({wanted.shows})")
        for line in _story(wanted.erratum) if wanted.erratum else ():
            typer.echo(textwrap.fill(line, console.chart_width(), subsequent_indent="  "))
        chart = console.drawing(checked, whole=True)
        for line in (*console.LEGEND, "", *chart) if chart else ():
            typer.echo(line)
        for about in (said, repaired):
            for place, line in enumerate(about.lines() if about is not None else ()):
                indent = "  " if line.startswith("- ") else ""
                text = textwrap.fill(line, console.chart_width(), subsequent_indent=indent)
                typer.echo(text if place else f"\n{text}")
        if checked.holds:
            typer.echo(
                f"There is no counterexample in {checked.distinct:,} states and {checked.transitions:,} transitions."
            )
        for line in different:
            typer.echo(f"DIFFERS {protocol} {model}: {line}")
    raise typer.Exit(verdict(ok=not different))
