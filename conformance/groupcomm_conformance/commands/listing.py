"""`groupcomm list`: the protocols and their models."""

import json
from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Group
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from groupcomm_conformance.models.checking import expected
from groupcomm_conformance.models.manifest import Manifest, Model, find_root
from groupcomm_conformance.models.selecting import manifests_of, select

from . import console
from .options import AsJson, Protocols, TierOption

__all__ = ["command"]


def command(protocol: Protocols = None, *, tier: TierOption = "deep", as_json: AsJson = False) -> None:
    """List the protocols, and of each model its tier, what is expected of it, and the size of its graph."""
    manifests = manifests_of(find_root(), protocol or ())
    models = {manifest.protocol: select(manifest, tier) for manifest in manifests}
    if as_json:
        typer.echo(json.dumps([_document(each, models[each.protocol]) for each in manifests], indent=2))
        return
    out = console.stdout()
    for manifest in manifests:
        out.print(_table(manifest, models[manifest.protocol]))
        out.print(escape(_summary(manifest, models[manifest.protocol])))
        out.print()


def _marks(model: Model) -> list[str]:
    return [mark for mark in ("conform", "walk") if getattr(model, mark)]


def _table(manifest: Manifest, models: Iterable[Model]) -> Table:
    table = Table(title=manifest.protocol, title_justify="left", box=None, pad_edge=False, expand=True)
    table.add_column("model", ratio=1, overflow="fold")
    table.add_column("tier", no_wrap=True)
    table.add_column("expected", no_wrap=True)
    table.add_column("states", justify="right", no_wrap=True)
    table.add_column("transitions", justify="right", no_wrap=True)
    table.add_column("used for", no_wrap=True)
    for model in models:
        size = ("", "") if model.counts is None else model.counts
        sizes = size if isinstance(size, tuple) else (f"{size.distinct:,}", f"{size.transitions:,}")
        table.add_row(
            Group(model.name, Padding(escape(model.shows), (0, 0, 0, 2), style="dim")),
            model.tier,
            expected(model),
            *sizes,
            ", ".join(_marks(model)),
        )
    return table


def _summary(manifest: Manifest, models: Iterable[Model]) -> str:
    listed = list(models)
    holding = sum(model.holds for model in listed)
    return (
        f"{len(listed)} models: {holding} hold, {len(listed) - holding} violate a claim on purpose; "
        f"{len(manifest.claims())} claims"
    )


def _document(manifest: Manifest, models: Iterable[Model]) -> dict[str, Any]:
    return {
        "protocol": manifest.protocol,
        "module": manifest.module,
        "claims": list(manifest.claims()),
        "models": [
            {
                "model": model.name,
                "tier": model.tier,
                "expected": expected(model),
                "distinct": model.counts and model.counts.distinct,
                "transitions": model.counts and model.counts.transitions,
                "depth": model.counts and model.counts.depth,
                "trace_length": model.trace,
                "violated": list(model.falls),
                "conform": model.conform,
                "walk": model.walk,
                "shows": model.shows,
            }
            for model in models
        ],
    }
