"""A short story of a group, drawn: the first thing to look at.

A small group of a stack's members in memory (see `stacks`), with faults. The seed decides what happens in
which order; the same seed gives the same story. Without a stack: the life of a group over the whole stack, as
its applications see it.
"""

import json
from typing import Annotated, Final

import typer

from groupcomm_conformance.stacks.claims import Violation
from groupcomm_conformance.stacks.draw import drawn, steps_of
from groupcomm_conformance.stacks.outline import outline
from groupcomm_conformance.stacks.running import WHOLE
from groupcomm_conformance.stacks.story import story
from groupcomm_conformance.tla.values import to_json

from . import console
from .exits import ExitCode
from .options import AsJson, Unicode, whole
from .simulate import setup_of

__all__ = ["command"]

_LIFE: Final = (
    f"The life of a group of {WHOLE}: it forms, talks, loses its coordinator in",
    "the middle of a multicast, is parted, becomes one again, transfers its state. A lane is an application;",
    "what happens to several alike is in one line. Between BLOCK and UNBLOCK what it sends waits.",
)


def command(
    stack: Annotated[
        str | None,
        typer.Argument(metavar="[STACK]", help="Protocols, the topmost first. Default: all, in outline."),
    ] = None,
    *,
    seed: Annotated[
        int | None,
        typer.Option(parser=whole(0, 10**15), metavar="N", help="Another seed is another story. Default: 1."),
    ] = None,
    events: Annotated[
        int | None,
        typer.Option(
            parser=whole(1, 1000), metavar="N", help="How long the story is. Default: 36, or all of it."
        ),
    ] = None,
    unicode: Unicode = False,
    as_json: AsJson = False,
) -> None:
    """Run a small group in memory and draw what happens."""
    in_outline, stack = stack is None, stack or WHOLE
    setup = setup_of(stack, 3, "loss,crash,leave", [])
    seed = 1 if seed is None else seed
    try:
        schedule = story(setup, events=events, seed=seed)
    except Violation as violation:
        typer.echo(f"groupcomm: {violation}; groupcomm simulate {stack} --seed {seed} shows it", err=True)
        raise typer.Exit(ExitCode.DIFFERS) from None
    if as_json:
        told = [
            {"number": step.number, "action": step.action, "state": to_json(step.values)}
            for step in steps_of(setup, seed, schedule)
        ]
        typer.echo(json.dumps({"stack": stack, "seed": seed, "steps": told}, indent=2))
        return
    legend, chart = (
        (_LIFE, outline(setup, seed, schedule))
        if in_outline
        else (console.LEGEND, drawn(setup, seed, schedule, unicode=unicode))
    )
    closing = f"{len(schedule)} events, and all that {stack} promises holds."
    goes_on = f"groupcomm demo {stack} draws each." if in_outline else f"groupcomm simulate {stack} goes on."
    typer.echo("\n".join((*legend, "", *chart, "", closing, goes_on)))
