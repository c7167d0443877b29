"""The scenarios of all protocols: each is a path of its specification, which the implementation follows."""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from groupcomm_conformance.models.manifest import find_root, load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.scenarios.checking import Result, check, files, judged
from groupcomm_conformance.scenarios.following import walks
from groupcomm_conformance.tla.values import Fn

ROOT = find_root(Path(__file__).parent)
PROTOCOLS = sorted({file.parent.name for file in files(ROOT)})


@cache
def results(protocol: str) -> dict[Path, Result]:
    """All of a protocol at once: a run of TLC, which is kept until a scenario or the specification changes."""
    found = files(ROOT, protocol)
    return dict(zip(found, check(ROOT, found), strict=True))


@pytest.mark.parametrize("file", files(ROOT), ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_scenario(file: Path) -> None:
    result = results(file.parent.name)[file]
    if result.outcome != "pass":
        told = f"{result.file}:{result.line}: {result.problem}"
        pytest.fail("\n".join((told, *result.possible, "", *result.chart)), pytrace=False)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_event_occurs_in_a_scenario(protocol: str) -> None:
    seen = set()
    for _, path in judged(ROOT, files(ROOT, protocol)):
        for states, _ in walks(path):
            for state in states:
                act = state["act"]
                assert isinstance(act, Fn)
                event = act["event"]
                assert isinstance(event, Fn)
                seen.add(event["type"])
    events = derive.load(load(ROOT, protocol)).events
    assert {event.__name__ for event in get_args(events)} <= seen


def test_titles_differ() -> None:
    titles = Counter(result.scenario for protocol in PROTOCOLS for result in results(protocol).values())
    assert [] == [title for title, times in titles.items() if times > 1]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_guards_have_scenarios_that_fail_without_them(protocol: str) -> None:
    """Which guards: those of the algorithm that are worth a story. The table of local steps has them all."""
    assert 5 <= sum(len(result.ablations) for result in results(protocol).values())
