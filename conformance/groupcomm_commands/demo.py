"""A group over the whole stack, drawn from its start: the first thing to look at.

Three members in memory, over the ground of `simulate`. The seed decides what happens in which order; the
same seed gives the same story. Without a layer the chart shows what the applications see; with one, each
step of that layer. NAKACK and UNICAST have a story of their own: two datagrams are lost, and sent again.
"""

import json
from typing import Annotated, Final

import typer

from groupcomm_conformance.charts.outline import outline
from groupcomm_conformance.charts.schedule import drawn, steps_of
from groupcomm_conformance.charts.story import LIFE, LOST, lost, story
from groupcomm_conformance.tla.values import to_json
from groupcomm_simulator.judges.claims import Violation

from . import console
from .exits import ExitCode
from .options import AsJson, one_of, whole

_OUTLINE: Final = (
    f"A group of {LIFE.stack}: it forms, talks, loses its coordinator in",
    "the middle of a multicast, is parted, becomes one again, transfers its state. A lane is an application;",
    "equal events of several members share a row. Between BLOCK and UNBLOCK its multicasts wait.",
)


def command(
    layer: Annotated[
        str | None, typer.Argument(metavar="[LAYER]", help=f"Of {', '.join(LOST.names)}. Default: all, in outline.")
    ] = None,
    *,
    seed: Annotated[
        int | None,
        typer.Option(parser=whole(0, 10**15), metavar="N", help="Another seed is another story. Default: 1."),
    ] = None,
    events: Annotated[
        int | None,
        typer.Option(parser=whole(1, 1000), metavar="N", help="Only the first events of the story. Default: all."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a small group and draw what happens: what its applications see, or each step of a layer."""
    name = "" if layer is None else one_of(LOST.names, layer)
    seed = 1 if seed is None else seed
    setup, told_of = (LIFE, story) if name in ("", *LIFE.names) else (LOST, lost)
    try:
        schedule = told_of(seed)[:events]
    except Violation as violation:
        typer.echo(f"groupcomm: {violation}", err=True)
        raise typer.Exit(ExitCode.DIFFERS) from None
    if as_json:
        told = [
            {"number": step.number, "action": step.action, "state": to_json(step.values)}
            for step in steps_of(setup, seed, schedule, name)
        ]
        typer.echo(json.dumps({"stack": setup.stack, "layer": name, "seed": seed, "steps": told}, indent=2))
        return
    legend, chart = (
        (console.LEGEND, drawn(setup, seed, schedule, layer=name))
        if name
        else (_OUTLINE, outline(LIFE, seed, schedule))
    )
    closing = f"{len(schedule)} events, and all that {setup.stack} promises holds."
    goes_on = "groupcomm simulate runs many more." if name else "groupcomm demo LAYER draws each step of a layer."
    typer.echo("\n".join((*legend, "", *chart, "", closing, goes_on)))
