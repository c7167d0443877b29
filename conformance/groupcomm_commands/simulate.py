"""simulate: whole stacks under faults, judged as they run. See docs/simulate.md."""

import json
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Final

import typer
from attrs import evolve

from groupcomm.stack import StackError
from groupcomm_conformance.charts.schedule import drawn
from groupcomm_simulator.running import PART, Found, Outcome, claims_of, shrink, simulate
from groupcomm_simulator.setup import (
    DATAGRAMS,
    FAULTS,
    IN_THE_END,
    LASTING,
    WEAKER,
    WHOLE,
    Faults,
    Setup,
    giver,
    stack_of,
)

from . import campaigns
from .exits import ExitCode
from .options import AsJson, Master, TableFolder, count, one_of, whole

if TYPE_CHECKING:
    from groupcomm_spark.table import Row

_MOST_EVENTS: Final = 10**12
_MOST_SEED: Final = 10**15
_EVENTS: Final = 100_000
_SEED: Final = 1
_SEEDS: Final = 20  # that a task of Spark's has, at most
_SHOWN: Final = 400  # lines of a chart


def command(
    stack: Annotated[str, typer.Argument(metavar="[STACK]", help="Protocols, the topmost first.")] = "/".join(WHOLE),
    *,
    members: Annotated[
        int | None, typer.Option(parser=whole(1, 26), metavar="N", help="Members at most. Default: each group 2 to 8.")
    ] = None,
    events: Annotated[
        int | None,
        typer.Option(
            parser=count(1, _MOST_EVENTS),
            metavar="N",
            help=f"How much is to happen, also as 1e9. Default: {_EVENTS:,}.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(parser=whole(0, _MOST_SEED), metavar="N", help=f"Another seed is another run. Default: {_SEED}."),
    ] = None,
    faults: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help=f"Faults that may happen, of {', '.join(FAULTS)}; or all, or none. Default: what it bears.",
        ),
    ] = "",
    forever: Annotated[
        str | None,
        typer.Option(
            parser=lambda text: one_of(LASTING, text),
            metavar="FAULT",
            help="Before a group comes to rest, a link between two members is "
            + "; ".join(f"{name}: {text}" for name, text in LASTING.items())
            + ".",
        ),
    ] = None,
    weaken: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LAYER=HOW",
            help="A layer below gives less: "
            + "; ".join(f"{layer}={'|'.join(hows)}" for layer, (_, hows) in WEAKER.items())
            + ". Once for each layer.",
        ),
    ] = None,
    majority: Annotated[
        bool, typer.Option("--majority", help="Messages are ordered where a majority of the last primary is.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(parser=whole(1, 256), metavar="N", help="Processes that run groups. Default: 1.")
    ] = None,
    master: Master = None,
    table: TableFolder = None,
    as_json: AsJson = False,
) -> None:
    """Run a stack with faults, over abstract layers or over datagrams, and judge it as it runs.

    Exits with 1 if one of them does not hold; shows the seed, few events that lead to it, and their chart.
    Exits with 4 if nothing happened that some guarantee speaks of. With --master or --table it is a campaign:
    Spark runs the seeds, all of them whatever is found, a table keeps the results, and the same command
    continues an interrupted campaign.
    """
    setup = setup_of(stack, members, faults, weaken or [], forever=forever, majority=majority)
    events = _EVENTS if events is None else events
    seed = _SEED if seed is None else seed
    if workers is not None and (master is not None or table is not None):
        raise typer.BadParameter("--workers is for this machine; a campaign takes --master local[N]")
    told: campaigns.Told | None = None
    violations: list[Found] = []
    if master is None and table is None:
        progress = _Progress(events)
        try:
            outcome = simulate(setup, events=events, seed=seed, workers=workers or 1, progress=progress)
        finally:
            progress.end()
        found = None if outcome.found is None else shrink(setup, outcome.found)
    else:
        outcome, violations, told = _campaign(setup, events, seed, master, table)
        found = outcome.found  # its schedule is shortened already
    if as_json:
        more = {} if told is None else {"campaign": told.to_json() | {"violations": _violations(violations)}}
        typer.echo(json.dumps(_record(outcome, found) | more, indent=2))
    else:
        if told is not None:
            typer.echo(told.line())
            for line in _counted(violations):
                typer.echo(line)
        for line in _lines(outcome, found):
            typer.echo(line)
    raise typer.Exit(_verdict(outcome))


def _campaign(
    setup: Setup, events: int, seed: int, master: str | None, folder: Path | None
) -> tuple[Outcome, list[Found], campaigns.Told]:
    """Run seeds on Spark; give what all groups did, the violations by their seeds, and how it went."""
    campaigns.require()
    from groupcomm_spark import schemas, seeds  # noqa: PLC0415 - Spark is for campaigns alone
    from groupcomm_spark.running import Campaign  # noqa: PLC0415

    asked = seeds.seeds(seed, events)
    unit = campaigns.Unit("events", lambda row: int(row["events"]), PART, "violations", _violation_line)
    with campaigns.opened("simulate", seeds.identity(setup), schemas.SEEDS, folder) as table:
        told = campaigns.run(Campaign(seeds.prepare, setup, most=_SEEDS), asked, table, master=master, unit=unit)
        outcome, violations = Outcome(setup, seed), []
        for row in table.rows():
            if row["seed"] in asked:
                result = seeds.result_of(row)
                outcome = outcome.and_then(result, row["seconds"])
                violations += [] if result.found is None else [result.found]
    violations.sort(key=lambda found: found.seed)
    return evolve(outcome, found=violations[0] if violations else None), violations, told


def _violation_line(row: "Row") -> str:
    return "" if row["claim"] is None else f"VIOLATION of {row['claim']} in the group of seed {row['seed']}"


def _counted(violations: list[Found]) -> list[str]:
    by_claim = Counter(found.claim for found in violations)
    first = {found.claim: found.seed for found in reversed(violations)}
    return [
        f"violated in {number:,} groups: {claim}, first in that of seed {first[claim]}"
        for claim, number in by_claim.most_common()
    ]


def _violations(violations: list[Found]) -> list[dict[str, object]]:
    return [{"seed": found.seed, "claim": found.claim, "text": found.text} for found in violations]


def _verdict(outcome: Outcome) -> ExitCode:
    if outcome.found is not None:
        return ExitCode.DIFFERS
    return ExitCode.NOTHING if outcome.unjudged else ExitCode.OK


def setup_of(
    stack: str,
    members: int | None,
    faults: str,
    weaken: list[str],
    *,
    forever: str | None = None,
    majority: bool = False,
) -> Setup:
    """Read what the command line says is to be run. Raises BadParameter."""
    setup = Setup(tuple(stack.split("/")), members=members)
    if majority and "sequencer" not in setup.names:
        raise typer.BadParameter(f"--majority is an option of sequencer, which is not in {stack}")
    if majority:
        setup = evolve(setup, majority=True, one_path=True, ignored=IN_THE_END)
    try:
        layers = stack_of(setup, Random(0), []).layers  # noqa: S311 - whether it stands is no matter of dice
    except StackError as error:
        raise typer.BadParameter(str(error)) from None
    words = [word.strip() for word in faults.split(",") if word.strip()]
    if not words:
        kinds = setup.borne
    elif words in (["all"], ["none"]):
        kinds = frozenset(FAULTS if words == ["all"] else ())
    else:
        kinds = frozenset(one_of(FAULTS, word) for word in words)
    if forever is not None:
        if majority:
            raise typer.BadParameter("--forever and --majority: a part without a majority waits for ever; give one")
        if lacking := [name for name in DATAGRAMS[1:] if name != "stable" and name not in setup.names]:
            raise typer.BadParameter(
                f"--forever is borne by stacks over datagrams whose groups merge: {stack} has no {', '.join(lacking)}"
            )
    weaker: dict[str, str] = {}
    for each in weaken:
        layer, _, how = each.partition("=")
        guarantee, hows = WEAKER[one_of(WEAKER, layer)]
        if layer in weaker:
            raise typer.BadParameter(f"{layer} is weakened twice, to {weaker[layer]} and {how}: give one")
        if not any(guarantee in each.assumes for each in layers):
            raise typer.BadParameter(f"no layer of {stack} stands on {guarantee}: nothing would be weaker")
        if any(guarantee in each.gives for each in layers[: len(setup.names)]):
            by = giver(setup.names, guarantee)
            raise typer.BadParameter(f"{by} gives {guarantee}, and is no layer below: leave it out")
        weaker[layer] = one_of(hows, how)
    return evolve(setup, faults=Faults(kinds, lasting=forever), weaker=tuple(weaker.items()))


def _again(setup: Setup, found: Found) -> str:
    """Give the command that shows a violation again."""
    parts = ["groupcomm simulate", setup.stack, f"--seed {found.seed}", f"--events {found.events}"]
    parts += [f"--members {setup.members}"] if setup.members is not None else []
    parts.append(f"--faults {','.join(sorted(setup.faults.kinds)) or 'none'}")
    parts += [f"--forever {setup.faults.lasting}"] if setup.faults.lasting else []
    parts += [f"--weaken {layer}={how}" for layer, how in setup.weaker]
    parts += ["--majority"] if setup.majority else []
    return " ".join(parts)


def _lines(outcome: Outcome, found: Found | None) -> list[str]:
    setup, seed = outcome.setup, outcome.seed
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in outcome.happened.most_common() if count)
    seeds = f"seeds {seed} to {seed + outcome.groups - 1}"
    lines = [
        f"{setup.stack}: {outcome.events:,} events, {seeds}, {outcome.rate:,.0f} events per second",
        f"happened: {kinds}",
    ]
    if outcome.refused:
        lines.append(f"refused by a stack, as a weaker layer below had it: {outcome.refused:,}")
    if outcome.not_exercised:
        lines.append(f"not exercised, as nothing happened that it speaks of: {', '.join(outcome.not_exercised)}")
    if found is None and outcome.unjudged:
        return [*lines, f"nothing to judge of {', '.join(outcome.unjudged)}: give more events, or more faults"]
    if found is None:
        return [*lines, f"no violation of {', '.join(outcome.claims)}"]
    chart = drawn(setup, found.seed, found.schedule)
    more = [f"({len(chart) - _SHOWN} lines more)"] if len(chart) > _SHOWN else []
    return [
        *lines,
        f"VIOLATION of {found}",
        f"in the group of seed {found.seed}, by {len(found.schedule)} of its events:",
        "",
        *chart[:_SHOWN],
        *more,
        "",
        f"VIOLATION of {found}",
        f"again: {_again(setup, found)}",
    ]


def _record(outcome: Outcome, found: Found | None) -> dict[str, object]:
    setup = outcome.setup
    record: dict[str, object] = {
        "stack": setup.stack,
        "seed": outcome.seed,
        "members": setup.members,
        "faults": sorted(setup.faults.kinds),
        "forever": setup.faults.lasting,
        "weaker": dict(setup.weaker),
        "majority": setup.majority,
        "claims": list(claims_of(setup)),
        "judged": {claim: outcome.judged[claim] for claim in claims_of(setup)},
        "not_exercised": list(outcome.not_exercised),
        "nothing_to_judge": list(outcome.unjudged),
        "events": outcome.events,
        "groups": outcome.groups,
        "seconds": round(outcome.seconds, 3),
        "events_per_second": round(outcome.rate),
        "happened": {kind: count for kind, count in outcome.happened.most_common() if count},
        "refused": outcome.refused,
        "violation": None,
    }
    if found is not None:
        record["violation"] = {
            "claim": found.claim,
            "text": found.text,
            "seed": found.seed,
            "members": found.members,
            "schedule": [list(event) for event in found.schedule],
            "chart": drawn(setup, found.seed, found.schedule),
            "again": _again(setup, found),
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
