"""The probabilities of docs/gossip.md: `bench/gossip.py`."""

import importlib.util
import re
from math import log
from pathlib import Path
from statistics import mean

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("gossip", ROOT / "bench" / "gossip.py")
assert _spec is not None
assert _spec.loader is not None
gossip = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(gossip)


def test_three_members_by_hand() -> None:
    """With a fanout of 1, the gossip passes A, B, C, and C purges. With 2, B and C send it to each other."""
    assert gossip.exact(3, 1) == (1, 3, 2, 1)
    assert gossip.exact(3, 2) == (1, 3, 4, 0)


@pytest.mark.parametrize(("members", "fanout"), [(4, 2), (5, 1), (5, 2), (5, 3)])
def test_simulation_and_chain_agree(members: int, fanout: int) -> None:
    """GIV-02: they are written apart. Copies are within five standard errors (at most ten copies a member)."""
    chances, drawn = gossip.exact(members, fanout), gossip.simulated(members, fanout, 4_000, 1)
    assert abs(drawn.copies - float(chances.copies)) < 5 * members / 4_000**0.5
    assert (drawn.all, drawn.purged) == (float(chances.all), float(chances.purged))


def test_a_lost_copy_with_a_fanout_of_one_ends_the_gossip() -> None:
    """All four copies of five members arrive with 0.9 ** 4."""
    share = gossip.simulated(5, 1, 4_000, 1, loss=0.1).all
    low, high = gossip.interval(share, 4_000)
    assert low < 0.9**4 < high


def test_copies_of_a_gossip() -> None:
    """GSP-14: of 30 % of 50 members, each sends 15."""
    assert gossip.simulated(50, 15, 20, 1).copies > 45 * 15


def test_the_formula_s_fanout_grows_with_the_logarithm() -> None:
    """GSP-16: for half a chance the fanout is near log(n / log 2)."""
    for members in (100, 1_000, 10_000):
        needed = next(step / 10 for step in range(10, 200) if gossip.epidemic(members, step / 10) >= 0.5)
        assert abs(needed - log(members / log(2))) < 0.2


def test_the_note_s_interval() -> None:
    """GIV-06, AMB-21: 1 to 600 s with ten members: 300 s on average, and 33 s between two that a member hears."""
    highest = 2 * 30 * 10
    average = mean(range(1, highest + 1))
    assert (600, 300.5) == (highest, average)
    assert round(average / 9, 1) == 33.4


def test_the_page_is_what_is_computed_now() -> None:
    rows = re.findall(r"^\| \d.*$", gossip.PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    simulated = [each[4] for each in gossip.large(10)]
    assert rows[: len(gossip.EXACT)] == [*gossip.small()]
    assert rows[len(gossip.EXACT) : len(gossip.EXACT) + len(simulated)] == simulated
    assert len(gossip.EXACT) + sum(len(fanouts) for _, fanouts in gossip.SIMULATED.values()) == len(rows)
