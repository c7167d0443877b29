"""simulate: whole stacks under faults, judged as they run. See docs/simulate.md."""

import json
import sys
from random import Random
from typing import Annotated, Final

import typer

from groupcomm.stack import StackError
from groupcomm_conformance.stacks.changes import FAULTS, Faults
from groupcomm_conformance.stacks.claims import CLAIMS
from groupcomm_conformance.stacks.draw import drawn
from groupcomm_conformance.stacks.group import Layers
from groupcomm_conformance.stacks.running import (
    WHOLE,
    Found,
    Outcome,
    Setup,
    borne,
    guarantees,
    shrink,
    simulate,
    stack_of,
)

from .exits import verdict
from .options import AsJson, Unicode, one_of, whole

__all__ = ["command", "setup_of"]

_WEAKER: Final = {
    "synchrony": ("none",),
    "multicast": ("unordered", "lossy"),
    "unicast": ("unordered", "duplicating", "lossy"),
}
_MOST_EVENTS: Final = 10**12
_MOST_SEED: Final = 10**15
_EVENTS: Final = 100_000
_SEED: Final = 1
_SHOWN: Final = 400  # lines of a chart


def command(
    stack: Annotated[str, typer.Argument(metavar="[STACK]", help="Protocols, the topmost first.")] = WHOLE,
    *,
    members: Annotated[
        int | None,
        typer.Option(parser=whole(1, 26), metavar="N", help="Members at most. Default: each group 2 to 8."),
    ] = None,
    events: Annotated[
        int | None,
        typer.Option(
            parser=whole(1, _MOST_EVENTS), metavar="N", help=f"How much is to happen. Default: {_EVENTS:,}."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, _MOST_SEED), metavar="N", help=f"Another seed is another run. Default: {_SEED}."
        ),
    ] = None,
    faults: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help=f"What may go wrong, of {', '.join(FAULTS)}; or all, or none. Default: what it bears.",
        ),
    ] = "",
    weaken: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LAYER=HOW",
            help="A layer below gives less: "
            + "; ".join(f"{layer}={'|'.join(hows)}" for layer, hows in _WEAKER.items())
            + ". May be repeated.",
        ),
    ] = None,
    unicode: Unicode = False,
    as_json: AsJson = False,
) -> None:
    """Run a stack over abstract layers, with faults, and judge its guarantees as it runs.

    Exits with 1 if one of them does not hold; shows the seed, few events that lead to it, and their chart.
    """
    setup = setup_of(stack, members, faults, weaken or [])
    events = _EVENTS if events is None else events
    seed = _SEED if seed is None else seed
    progress = _Progress(events)
    try:
        outcome = simulate(setup, events=events, seed=seed, progress=progress)
    finally:
        progress.end()
    found = None if outcome.found is None else shrink(setup, outcome.found)
    if as_json:
        typer.echo(json.dumps(_record(stack, setup, seed, outcome, found), indent=2))
    else:
        for line in _lines(stack, setup, seed, outcome, found, unicode=unicode):
            typer.echo(line)
    raise typer.Exit(verdict(ok=found is None))


def setup_of(stack: str, members: int | None, faults: str, weaken: list[str]) -> Setup:
    """What the command line says is to be run. Raises BadParameter."""
    names = tuple(stack.split("/"))
    try:
        stack_of(Setup(names), Random(0))  # noqa: S311 - whether it stands is no matter of dice
    except StackError as error:
        raise typer.BadParameter(str(error)) from None
    words = [word.strip() for word in faults.split(",") if word.strip()]
    if not words:
        kinds = borne(names)
    elif words in (["all"], ["none"]):
        kinds = frozenset(FAULTS if words == ["all"] else ())
    else:
        kinds = frozenset(one_of(FAULTS, word) for word in words)
    weaker: dict[str, str] = {}
    for each in weaken:
        layer, _, how = each.partition("=")
        hows = _WEAKER[one_of(_WEAKER, layer)]
        weaker[layer] = one_of(hows, how)
    layers = Layers(
        synchrony="synchrony" not in weaker,
        multicast=weaker.get("multicast", "fifo"),
        unicast=weaker.get("unicast", "fifo"),
    )
    return Setup(names, members=members, faults=Faults(kinds), layers=layers)


def _claims(setup: Setup) -> list[str]:
    return list(dict.fromkeys(claim for name in guarantees(setup.names) for claim in CLAIMS[name]))


def _again(stack: str, setup: Setup, found: Found) -> str:
    """The command that shows a violation again."""
    parts = ["groupcomm simulate", stack, f"--seed {found.seed}", f"--events {found.events}"]
    parts += [f"--members {setup.members}"] if setup.members is not None else []
    parts.append(f"--faults {','.join(sorted(setup.faults.kinds)) or 'none'}")
    layers = setup.layers
    parts += ["--weaken synchrony=none"] if not layers.synchrony else []
    parts += [f"--weaken multicast={layers.multicast}"] if layers.multicast != "fifo" else []
    parts += [f"--weaken unicast={layers.unicast}"] if layers.unicast != "fifo" else []
    return " ".join(parts)


def _lines(
    stack: str, setup: Setup, seed: int, outcome: Outcome, found: Found | None, *, unicode: bool
) -> list[str]:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in outcome.kinds.most_common())
    last = seed + outcome.groups - 1
    lines = [
        f"{stack}: {outcome.events:,} events, seeds {seed} to {last}, {outcome.rate:,.0f} events per second",
        f"happened: {kinds}",
    ]
    if outcome.refused:
        lines.append(f"refused by a stack, as a weaker layer below had it: {outcome.refused:,}")
    if found is None:
        return [*lines, f"no violation of {', '.join(_claims(setup))}"]
    again = _again(stack, setup, found)
    chart = drawn(setup, found.seed, found.schedule, unicode=unicode)
    more = [f"({len(chart) - _SHOWN} lines more)"] if len(chart) > _SHOWN else []
    return [
        *lines,
        f"VIOLATION of {found.violation}",
        f"in the group of seed {found.seed}, by {len(found.schedule)} of its events:",
        "",
        *chart[:_SHOWN],
        *more,
        "",
        f"VIOLATION of {found.violation}",
        f"again: {again}",
    ]


def _record(stack: str, setup: Setup, seed: int, outcome: Outcome, found: Found | None) -> dict[str, object]:
    record: dict[str, object] = {
        "stack": stack,
        "seed": seed,
        "members": setup.members,
        "faults": sorted(setup.faults.kinds),
        "layers": {
            "synchrony": setup.layers.synchrony,
            "multicast": setup.layers.multicast,
            "unicast": setup.layers.unicast,
        },
        "claims": _claims(setup),
        "events": outcome.events,
        "groups": outcome.groups,
        "seconds": round(outcome.seconds, 3),
        "events_per_second": round(outcome.rate),
        "happened": dict(outcome.kinds.most_common()),
        "refused": outcome.refused,
        "violation": None,
    }
    if found is not None:
        record["violation"] = {
            "claim": found.violation.claim,
            "text": found.violation.text,
            "seed": found.seed,
            "members": found.members,
            "schedule": [list(event) for event in found.schedule],
            "chart": drawn(setup, found.seed, found.schedule),
            "again": _again(stack, setup, found),
        }
    return record


class _Progress:
    """A line on a terminal that says how much is done."""

    def __init__(self, events: int) -> None:
        self._events = events
        self._shown = sys.stderr.isatty()

    def __call__(self, done: int) -> None:
        if self._shown:
            typer.echo(f"\r{done:,} of {self._events:,} events", err=True, nl=False)

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            typer.echo("\r" + " " * 60 + "\r", err=True, nl=False)
