"""A fault that lasts: nobody waits for ever, and a core that relies on a link to heal is noticed."""

import pytest
from typer.testing import CliRunner

from groupcomm_commands.main import app
from groupcomm_simulator.judges.claims import Violation
from groupcomm_simulator.running import replay, run_seed
from groupcomm_simulator.setup import DATAGRAMS, LASTING, Faults, Setup
from tests.stacks.broken_below import BROKEN

EVENTS = 2_000


def lasting(kind: str) -> Setup:
    return Setup(DATAGRAMS, faults=Faults(lasting=kind))


@pytest.mark.parametrize("kind", LASTING)
def test_nobody_waits_for_ever(kind: str) -> None:
    results = [run_seed(lasting(kind), seed, EVENTS) for seed in (1, 2)]
    assert [result.found for result in results] == [None, None]
    assert sum(result.judged["GoesOnForEver"] for result in results) >= 4


def test_same_seed_same_group() -> None:
    assert run_seed(lasting("slow"), 3, EVENTS) == run_seed(lasting("slow"), 3, EVENTS)


@pytest.mark.parametrize(
    ("name", "seed", "claim"),
    [
        # 200,000 events do not notice these two without a link that stays dead (`broken_below.LEFT`).
        ("highest_ignored", 5, "MulticastsArrive"),
        ("one_more_purged", 5, "MulticastsArrive"),
        ("waiting_acknowledged", 1, "GoesOnForEver"),
    ],
)
def test_broken_cores_are_noticed(name: str, seed: int, claim: str) -> None:
    (broken,) = (each for each in BROKEN if each.name == name)
    with broken.in_place():
        found = run_seed(lasting("pair_cut"), seed, EVENTS).found
        assert found is not None
        violation, _ = replay(lasting("pair_cut"), seed, found.schedule)
    assert isinstance(violation, Violation)
    assert violation.claim == found.claim == claim
    assert any(event[0] == "outlast" for event in found.schedule)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sequencer/flush/gms/stable", "--forever", "slow"], "has no merge_gms, nakack, unicast"),
        (
            ["/".join(DATAGRAMS), "--forever", "cut"],
            "Invalid value for '--forever': cut is none of one_way, pair_cut, slow",
        ),
        (["/".join(DATAGRAMS), "--forever", "slow", "--majority"], "without a majority waits for ever"),
    ],
)
def test_bad_calls(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["simulate", *arguments])
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())
