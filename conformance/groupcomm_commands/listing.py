"""`groupcomm list`: the protocols and their models."""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final

import typer
from rich.markup import escape
from rich.text import Text

from groupcomm_conformance.models.checking import expected
from groupcomm_conformance.models.manifest import Manifest, Model, UnknownNameError, find_root
from groupcomm_conformance.models.selecting import manifests_of, select

from . import console
from .options import AsJson, Protocols, TierOption


def command(
    protocol: Protocols = None,
    *,
    tier: TierOption = "deep",
    total: Annotated[bool, typer.Option("--total", help="Only count: a line a protocol, and their sum.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the protocols, and of each model its tier, what is expected of it, and the size of its graph."""
    root, named = find_root(), protocol or []
    flaws = [name.casefold() for name in named if _FLAW.fullmatch(name)]
    manifests = manifests_of(root, () if flaws else named)
    models = {manifest.protocol: select(manifest, tier) for manifest in manifests}
    if flaws:
        models = {name: _showing(flaws, listed) for name, listed in models.items()}
        manifests = [manifest for manifest in manifests if models[manifest.protocol] or manifest.protocol in named]
        there = {model.erratum.id.casefold() for listed in models.values() for model in listed if model.erratum}
        for name in flaws:
            if name not in there:
                every = (m.erratum.id for each in manifests_of(root) for m in each.models if m.erratum)
                raise UnknownNameError("flaw", name.upper(), tuple(every))
    if as_json:
        typer.echo(json.dumps([_document(each, models[each.protocol]) for each in manifests], indent=2))
        return
    out = console.stdout()
    if total:
        counted = [_counted(each, models[each.protocol]) for each in manifests]
        rows = [(each.protocol, *counts) for each, counts in zip(manifests, counted, strict=True)]
        rows.append(("all", *map(sum, zip(*counted, strict=True))))
        texts = [tuple(cell if isinstance(cell, str) else f"{cell:,}" for cell in row) for row in rows]
        out.print(console.plain_table(_COUNTED, texts))
        return
    for manifest in manifests:
        out.print(Text(manifest.protocol, style="italic"))
        for line in _table(models[manifest.protocol], out.width):
            out.print(line, soft_wrap=True)
        out.print(escape(_summary(manifest, models[manifest.protocol])))
        out.print()


_FLAW: Final = re.compile(r"[A-Z]+-[0-9]+[A-Z]?", re.IGNORECASE)


def _showing(flaws: Iterable[str], models: Iterable[Model]) -> list[Model]:
    """Keep the models that show some flaws, and the models that prove the repair of any of these."""
    listed = list(models)
    shown = [model for model in listed if model.erratum is not None and model.erratum.id.casefold() in flaws]
    named = {name for model in shown if model.erratum for name in (*model.erratum.proved_by, model.control)}
    return [model for model in listed if model in shown or model.name in named]


_RIGHT: Final = ("states", "transitions")
_HEADINGS: Final = ("model", "tier", "expected", *_RIGHT, "used for")


def _table(models: Iterable[Model], width: int) -> Iterator[Text]:
    """A row for each model, and below it, over the whole width, what it shows."""
    listed = list(models)
    rows = [_HEADINGS, *map(_row, listed)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    texts = [
        "  ".join(
            cell.rjust(size) if heading in _RIGHT else cell.ljust(size)
            for heading, cell, size in zip(_HEADINGS, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
    yield Text(texts[0], style="bold")
    for model, text in zip(listed, texts[1:], strict=True):
        yield Text(text)
        yield Text(textwrap.fill(model.shows, width, initial_indent="  ", subsequent_indent="  "), style="dim")


def _row(model: Model) -> tuple[str, ...]:
    counts = model.counts
    sizes = ("", "") if counts is None else (f"{counts.distinct:,}", f"{counts.transitions:,}")
    marks = ", ".join(mark for mark in ("conform", "walk") if getattr(model, mark))
    return model.name, model.tier, expected(model), *sizes, marks


def _summary(manifest: Manifest, models: Iterable[Model]) -> str:
    listed = list(models)
    holding = sum(model.holds for model in listed)
    return (
        f"{len(listed)} models: {holding} hold, {len(listed) - holding} violate a claim on purpose; "
        f"{len(manifest.claims())} claims"
    )


_COUNTED: Final = ("protocol", "models that hold", "distinct states", "ablations", "claims", "errata")


def _counted(manifest: Manifest, models: Iterable[Model]) -> tuple[int, ...]:
    listed = list(models)
    holding = [model for model in listed if model.holds]
    return (
        len(holding),
        sum(model.counts.distinct for model in holding if model.counts is not None),
        len(listed) - len(holding),
        len(manifest.claims()),
        sum(model.erratum is not None for model in listed),
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
                "violates": list(model.violated),
                "conform": model.conform,
                "walk": model.walk,
                "shows": model.shows,
            }
            for model in models
        ],
    }
