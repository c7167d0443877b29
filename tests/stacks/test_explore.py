"""`groupcomm explore`: exact counts, and broken cores that a search finds, each by the shortest way there."""

from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groupcomm_commands.explore import FILE, load
from groupcomm_commands.main import app
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.models.manifest import find_root
from groupcomm_simulator.explorer.composed import Configuration, Seat
from groupcomm_simulator.explorer.search import explore
from tests.stacks.broken import BROKEN

CORES = {core.name: core for core in BROKEN}
MERGING = ("sequencer", "flush", "merge_gms")
A, B = Seat("A", founds=True, multicasts=1), Seat("B", multicasts=1)
QUIET = tuple(Seat(each, founds=each == "A") for each in "ABC")

FOUND = {
    "latch_open": (Configuration(MERGING, (A, Seat("B", founds=True, multicasts=1))), "ComesToRest", 0),
    "table_not_sent_again": (Configuration(MERGING, (Seat("A", founds=True, leaves=True), B)), "ComesToRest", 9),
    "windows_not_added": (Configuration(MERGING, (A, Seat("B", founds=True, multicasts=1))), "ComesToRest", 11),
    "counter_above_own": (
        Configuration(MERGING, (Seat("A", founds=True), Seat("B", founds=True), Seat("C")), delays=2),
        "NoRefusals",
        23,
    ),
    "any_view_installed": (Configuration(MERGING, QUIET, suspicions=1, delays=1), "ApplicationView", 23),
    "dead_awaited": (Configuration(MERGING, QUIET, crashes=1), "ComesToRest", 7),
    "not_rechecked": (Configuration(MERGING, QUIET, crashes=1), "ComesToRest", 15),
}
"""Of broken cores: a configuration that finds one, the claim that falls, and the events that lead there.

With no events that is so from the start: no good state can be reached at all.
"""


@cache
def holds(configuration: Configuration) -> bool:
    """No state of a group of correct cores violates a claim."""
    return explore(configuration).violation is None


@pytest.mark.parametrize("name", FOUND)
def test_a_search_finds_a_broken_core(name: str) -> None:
    configuration, claim, length = FOUND[name]
    with CORES[name].in_place():
        found = explore(configuration)
    assert found.violation is not None
    assert (found.violation.claim, len(found.schedule)) == (claim, length)
    assert holds(configuration)


@pytest.mark.parametrize("name", ["crash_gms", "two_founders", "three_and_crash"])
def test_a_search_has_the_counts_of_the_manifest(name: str) -> None:
    expected = next(each for each in load(find_root()) if each.name == name)
    found = explore(expected.configuration)
    assert (found.violation, found.cut) == (None, False)
    assert (found.states, found.transitions) == (expected.states, expected.transitions)
    assert found.good > 0


def test_the_command_says_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (find_root() / FILE).read_text(encoding="utf-8")
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text(text.replace("states: 2843", "states: 2844"), encoding="utf-8")
    monkeypatch.setattr("groupcomm_commands.explore.find_root", lambda: tmp_path)
    run = CliRunner().invoke(app, ["explore", "two_founders", "crash_gms"])
    assert run.exit_code == 1
    assert "DIFFERS: spec/stack/explored.yaml has 2,844 states" in run.output
    assert "crash_gms: 3,462 states, 8,827 transitions" in run.output
    assert CliRunner().invoke(app, ["explore", "crash_gms", "--states", "100"]).exit_code == 4
    assert CliRunner().invoke(app, ["explore", "no_such"]).exit_code == 2
    (tmp_path / FILE).write_text(text.replace("founders: [A, B]", "founders: [A, X]"), encoding="utf-8")
    with pytest.raises(FileError, match=r"explored.yaml:\d+: expected .*\"X\""):
        load(tmp_path)


@pytest.mark.parametrize(
    "configuration",
    [Configuration(MERGING, (A, B), partitions=1), Configuration(MERGING, (A, B), crashes=1)],
    ids=["partition", "crash"],
)
def test_a_search_that_is_cut_says_so(configuration: Configuration) -> None:
    found = explore(configuration, most=500)
    assert found.cut
    assert found.violation is None
