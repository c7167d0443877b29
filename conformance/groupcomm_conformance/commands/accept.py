"""accept: logs of members that ran, judged by stack and specifications. See docs/runtime.md."""

from pathlib import Path
from typing import Annotated, Final

import typer

from groupcomm.view import name_and_life
from groupcomm_conformance.files.errors import PathError, reason
from groupcomm_conformance.logs.claims import judge
from groupcomm_conformance.logs.deciding import decide
from groupcomm_conformance.logs.replaying import replayed
from groupcomm_conformance.models.manifest import find_root

from .exits import verdict
from .options import whole

__all__ = ["command"]

_STEPS: Final = 200
_MOST: Final = 10**9


def command(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="Logs of a group, or folders of them.")
    ],
    *,
    killed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEMBER", help="It was killed: its log may end anywhere. A name: all its incarnations."
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, _MOST),
            metavar="N",
            help=f"Steps of each layer and log that TLC decides; 0: none. Default: {_STEPS}.",
        ),
    ] = None,
) -> None:
    """Judge logs of members that ran: each step, what was received, and the order of what was delivered."""
    lives = []
    for path in [file for log in logs for file in (sorted(log.glob("*.log")) if log.is_dir() else [log])]:
        try:
            text = path.read_bytes()
        except OSError as error:
            raise PathError(path, reason(error), "name a log that groupcomm_runtime has written") from None
        spared = set(killed or ()) & {path.stem, name_and_life(path.stem)[0]}
        lives.append(replayed(path, text, killed=bool(spared)))
    if not lives:
        raise PathError(logs[0], "there is no log in it", "name a folder with logs of groupcomm_runtime")
    judged = judge(lives)
    for life in lives:
        typer.echo(f"{life.log}: {len(life.steps):,} steps, {life.ends or 'no last line'}")
    typer.echo(
        f"together: {', '.join(f'{number:,} {what}' for what, number in sorted(judged.counts.items()))}"
    )
    for rejected in judged.rejected:
        typer.echo(f"REJECTED {rejected}")
    good = not judged.rejected
    most = _STEPS if steps is None else steps
    if good and most:
        for layer in decide(find_root(), lives, most):
            typer.echo(f"{layer.layer} by TLC: {layer.decided:,} of {layer.steps:,} steps decided")
            for life, difference in layer.differences:
                good = False
                typer.echo(
                    f"REJECTED {life.log}: step {difference.at} of {layer.layer} is not the specification's"
                )
    typer.echo("accepted" if good else "rejected")
    raise typer.Exit(verdict(ok=good))
