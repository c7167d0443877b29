"""A short story of a group, drawn: the first thing to look at.

The story is the protocol's (`mapping.Protocol.story`), the group that of `simulation`, on a virtual clock.
The seed decides what happens in which order; the same seed gives the same story.
"""

import json
from typing import Annotated

import typer

from groupcomm_conformance import mapping
from groupcomm_conformance.mapping import MappingError
from groupcomm_conformance.tla.chart import WIDTH, chart
from groupcomm_conformance.tla.values import to_json

__all__ = ["command"]


def command(
    protocol: Annotated[str, typer.Argument(help="Whose story.")] = "stable",
    *,
    seed: Annotated[int, typer.Option(help="Another seed is another story.")] = 1,
    unicode: Annotated[bool, typer.Option("--unicode", help="Draw with box characters.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the states in the ITF encoding.")] = False,
) -> None:
    """Run a small group in memory and draw what happens."""
    try:
        story = mapping.load(protocol).story(seed)
    except MappingError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    if as_json:
        steps = [
            {"number": step.number, "action": step.action, "state": to_json(step.values)}
            for step in story.steps
        ]
        told = {"protocol": protocol, "seed": seed, "steps": steps, "closing": " ".join(story.closing)}
        typer.echo(json.dumps(told, indent=2))
        return
    drawn = chart(story.steps, width=WIDTH, unicode=unicode, hidden=story.hidden | {"act"})
    typer.echo("\n".join((*story.legend, "", *drawn, "", *story.closing)))
