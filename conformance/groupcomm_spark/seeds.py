"""`groupcomm simulate` as a campaign: a task is a seed, whose group runs `PART` events."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from groupcomm_simulator.ground import Event
from groupcomm_simulator.running import PART, Found, Result, run_seed
from groupcomm_simulator.setup import Setup

from .shipping import code_of

if TYPE_CHECKING:
    from .table import Row
    from .working import Worker

BUDGET: Final = 50_000
"""Events that may be run to shorten the schedule of a violation, each of them."""


def seeds(first: int, events: int) -> range:
    """Give the seeds of a campaign: whole groups, so that a longer one has the same first rows."""
    return range(first, first - (-events // PART))


def identity(setup: Setup) -> dict[str, object]:
    """Give all that a row depends on besides its seed."""
    return {
        "command": "simulate",
        "stack": setup.stack,
        "members": setup.members,
        "faults": sorted(setup.faults.kinds),
        "rate": setup.faults.rate,
        "forever": setup.faults.lasting,
        "weaker": dict(setup.weaker),
        "ignored": sorted(setup.ignored),
        "majority": setup.majority,
        "events a group": PART,
        "code": code_of(__name__),
    }


def prepare(_folder: Path, setup: Setup) -> "Worker":
    """Give what makes the rows of seeds."""

    def run(group: Sequence[int]) -> "list[Row]":
        return [_timed(setup, seed) for seed in group]

    return run


def _timed(setup: Setup, seed: int) -> "Row":
    start = process_time()
    result = run_seed(setup, seed, budget=BUDGET)
    return {**_row(result), "seconds": process_time() - start}


def _row(result: Result) -> "Row":
    found = result.found
    return {
        "seed": result.seed,
        "members": result.members,
        "events": result.events,
        "happened": sorted(result.happened.items()),
        "judged": sorted(result.judged.items()),
        "refused": result.refused,
        "verdict": "holds" if found is None else "violates",
        "claim": None if found is None else found.claim,
        "text": None if found is None else found.text,
        "schedule": None if found is None else json.dumps(found.schedule),
    }


def result_of(row: "Row") -> Result:
    """Give what a row says, as `run_seed` gave it."""
    found = None
    if row["verdict"] != "holds":
        schedule = tuple(_events(json.loads(row["schedule"])))
        found = Found(row["claim"], row["text"], row["seed"], row["members"], PART, schedule)
    return Result(
        row["seed"],
        row["members"],
        row["events"],
        Counter(dict(row["happened"])),
        Counter(dict(row["judged"])),
        row["refused"],
        found,
    )


def _events(told: Any) -> Iterator[Event]:  # noqa: ANN401 - JSON
    for event in told:
        yield tuple(tuple(part) if isinstance(part, list) else part for part in event)
