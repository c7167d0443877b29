"""torture: groups of real processes under faults, judged by their logs. See docs/runtime.md."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Final

import typer

from groupcomm_conformance.files.errors import PathError
from groupcomm_field.torture.outcome import OUTCOME
from groupcomm_field.torture.running import Campaign, Outcome, tortured
from groupcomm_runtime.frames import LARGEST_MESSAGE

from . import console
from .exits import ExitCode
from .options import AsJson, whole

_MEMBERS: Final = 5
_FAULTS: Final = 50
_SEED: Final = 1
_MOST_MEMBERS: Final = 26
_MOST: Final = 10**6
_LIMIT: Final = 60
_LARGE: Final = 20_000
_SHOWN: Final = 20


def command(
    *,
    members: Annotated[
        int | None, typer.Option(parser=whole(3, _MOST_MEMBERS), metavar="N", help=f"Default: {_MEMBERS}.")
    ] = None,
    faults: Annotated[
        int | None, typer.Option(parser=whole(1, _MOST), metavar="N", help=f"Default: {_FAULTS}.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(parser=whole(0, 10**15), metavar="N", help=f"Another seed has other faults. Default: {_SEED}."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            parser=whole(1, 3_600),
            metavar="SECONDS",
            help=f"In which a group is whole again after its faults. Default: {_LIMIT}.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="An empty or new folder for all logs. Default: a folder that is kept if there is a finding.",
        ),
    ] = None,
    namespaces: Annotated[
        bool,
        typer.Option(
            "--namespaces", help="Each member in a network namespace of its own; partitions cut a bridge. Needs root."
        ),
    ] = False,
    majority: Annotated[
        bool, typer.Option("--majority", help="With this option; after each round the group is the primary again.")
    ] = False,
    state: Annotated[
        bool,
        typer.Option(
            "--state", help="Applications have a state, all messages: at the end they have one. One in a round ends."
        ),
    ] = False,
    tcp: Annotated[bool, typer.Option("--tcp", help="Over TCP, in the place of UDP.")] = False,
    large: Annotated[
        int | None,
        typer.Option(
            parser=whole(100, LARGEST_MESSAGE), metavar="BYTES", help=f"Of one message in 40. Default: {_LARGE:,}."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a group of real processes on loopback, do faults to it, and judge the logs of all incarnations.

    Members are killed, stopped, cut off, flooded and made to leave, while all of them send. After each round
    of faults the group is whole again within the limit. At the end all stop sending. Then there is one view,
    all tables are empty, no message of a member is lost, and `accept` takes all logs. Exits with 1 otherwise.
    """
    campaign = Campaign(
        members=_MEMBERS if members is None else members,
        faults=_FAULTS if faults is None else faults,
        seed=_SEED if seed is None else seed,
        limit=_LIMIT if limit is None else limit,
        namespaces=namespaces,
        majority=majority,
        state=state,
        tcp=tcp,
        large=_LARGE if large is None else large,
    )
    folder = _folder(out)
    kept = out is not None
    try:
        with console.Watch() as watch, watch.working("torture") as progress:
            outcome = tortured(campaign, folder, progress)
        kept = kept or bool(outcome.found)
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
    record = _record(outcome, folder if kept else None)
    if kept:
        (folder / OUTCOME).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(record, indent=2))
    else:
        for line in _lines(outcome, folder if kept else None):
            typer.echo(line)
    raise typer.Exit(_verdict(outcome))


def _folder(out: Path | None) -> Path:
    if out is None:
        return Path(tempfile.mkdtemp(prefix="groupcomm-torture-"))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PathError(out, "it is there already, and is no empty folder", "name a new one")
    out.mkdir(parents=True, exist_ok=True)
    return out


def _verdict(outcome: Outcome) -> ExitCode:
    if outcome.found:
        return ExitCode.DIFFERS
    return ExitCode.OK if outcome.judged["deliveries"] and outcome.faults else ExitCode.NOTHING


def _lines(outcome: Outcome, folder: Path | None) -> list[str]:
    campaign, waits = outcome.campaign, sorted(outcome.settled)
    what = f"{campaign.members} members, seed {campaign.seed}: {outcome.faults.total()} faults"
    lines = [
        f"{what} in {outcome.rounds} rounds, {outcome.incarnations} incarnations, {outcome.seconds:,.0f} s",
        "faults: " + ", ".join(f"{kind} {number}" for kind, number in sorted(outcome.faults.items())),
        "judged: "
        + ", ".join(f"{number:,} {what}" for what, number in sorted(outcome.judged.items()))
        + f", {outcome.steps:,} steps",
    ]
    if waits:
        lines.append(f"whole again after {waits[len(waits) // 2]:.1f} s (median), {waits[-1]:.1f} s at most")
    lines += [f"FOUND {found}" for found in outcome.found[:_SHOWN]]
    if len(outcome.found) > _SHOWN:
        lines.append(f"({len(outcome.found) - _SHOWN} more)")
    if folder is not None:
        lines.append(f"logs: {folder}; again: groupcomm accept {folder}")
    lines.append("something is found" if outcome.found else "nothing is found")
    return lines


def _record(outcome: Outcome, folder: Path | None) -> dict[str, object]:
    campaign = outcome.campaign
    return {
        "members": campaign.members,
        "seed": campaign.seed,
        "namespaces": campaign.namespaces,
        "majority": campaign.majority,
        "state": campaign.state,
        "tcp": campaign.tcp,
        "large": campaign.large,
        "faults": dict(sorted(outcome.faults.items())),
        "rounds": outcome.rounds,
        "seconds": round(outcome.seconds, 1),
        "settled": outcome.settled,
        "incarnations": outcome.incarnations,
        "steps": outcome.steps,
        "killed": outcome.killed,
        "survivors": outcome.survivors,
        "judged": dict(sorted(outcome.judged.items())),
        "counts": dict(sorted(outcome.happened.items())),
        "found": outcome.found,
        "folder": None if folder is None else str(folder),
    }
