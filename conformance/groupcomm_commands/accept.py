"""accept: logs of members that ran, judged by stack and specifications. See docs/runtime.md."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final

import typer

from groupcomm.view import name_and_life
from groupcomm_conformance.files.errors import PathError
from groupcomm_conformance.models.manifest import find_root
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.deciding import decide
from groupcomm_field.logs.replaying import Life, Rejected, read_log, replayed
from groupcomm_field.torture.outcome import logs_and_killed

from . import campaigns
from .exits import verdict
from .options import Master, TableFolder, whole

_STEPS: Final = 200
_SHOWN: Final = 4
_MOST: Final = 10**9


def command(
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG...", help="Logs of a group, or folders of them; the folder of a torture, too."),
    ],
    *,
    killed: Annotated[
        list[str] | None,
        typer.Option(metavar="MEMBER", help="It was killed: its log may end anywhere. A name: all its incarnations."),
    ] = None,
    master: Master = None,
    table: TableFolder = None,
    steps: Annotated[
        int | None,
        typer.Option(
            parser=whole(0, _MOST),
            metavar="N",
            help=f"Steps of each layer and log that TLC decides; 0: none. Default: {_STEPS}.",
        ),
    ] = None,
) -> None:
    """Judge logs of members that ran: each step, what was received, and the order of what was delivered.

    With --master or --table it is a campaign: Spark replays the logs, each a task, and the claims over all of
    them are judged here, of digests of their messages. The verdicts are the same.
    """
    most = _STEPS if steps is None else steps
    found = [logs_and_killed(log) if log.is_dir() else ([log], frozenset[str]()) for log in logs]
    paths = [path for some, _ in found for path in some]
    if not paths:
        raise PathError(logs[0], "there is no log in it", "name a folder with logs of groupcomm_runtime")
    spares = frozenset(killed or ()).union(*(names for _, names in found))
    spared = {path: bool(spares & {path.stem, name_and_life(path.stem)[0]}) for path in paths}
    if master is None and table is None:
        lives = [replayed(path, read_log(path), killed=spared[path], most=most).brief() for path in paths]
    else:
        lives = _by_tasks(spared, most, master, table)
    judged = judge(lives)
    for life in lives:
        typer.echo(f"{life.log}: {len(life.steps):,} steps, {life.ends or 'no last line'}")
    typer.echo(f"together: {', '.join(f'{number:,} {what}' for what, number in sorted(judged.counts.items()))}")
    for rejected in judged.rejected:
        typer.echo(f"REJECTED {rejected}")
        for line in _before(rejected, lives):
            typer.echo(line)
    good = not judged.rejected
    if good and most:
        for layer in decide(find_root(), lives, most):
            typer.echo(f"{layer.layer} by TLC: {layer.decided:,} of {layer.steps:,} steps decided")
            for each in layer.differences:
                good = False
                typer.echo(f"REJECTED {each.life.log}:{each.line}: {layer.layer} differs from its specification")
                for line in each.shown:
                    typer.echo(line)
    typer.echo("accepted" if good else "rejected")
    raise typer.Exit(verdict(ok=good))


def _before(rejected: Rejected, lives: Sequence[Life]) -> Iterator[str]:
    """The last steps before a line that is rejected: the line, the cause, and the event."""
    for life in lives:
        if life.log == rejected.log:
            steps = [step for step in life.steps if step.line < rejected.line]
            for step in steps[-_SHOWN:]:
                event = " ".join(str(each) for each in step.written if type(each) is not bytes)
                yield f"  {step.line}: {event} ({step.cause}), {len(step.on_paper)} datagrams"


def _by_tasks(spared: Mapping[Path, bool], most: int, master: str | None, table: Path | None) -> list[Life]:
    """Have Spark replay the logs."""
    campaigns.require()
    from groupcomm_spark import logs as replays  # noqa: PLC0415 - Spark is for campaigns alone
    from groupcomm_spark import schemas  # noqa: PLC0415

    tasks = {str(path.resolve()): (str(path.resolve()), killed, most) for path, killed in spared.items()}
    digests = {name: sha256(read_log(Path(name))).hexdigest() for name in tasks}
    identity = {"code": replays.code(), "logs": digests, "tasks": [*tasks.values()]}
    with campaigns.opened("accept", identity, schemas.LOGS, table) as rows:
        told = campaigns.run(replays.campaign(), tasks, rows, master=master, unit=campaigns.Unit("logs"))
        typer.echo(told.line(), err=True)
        return replays.lives(rows)
