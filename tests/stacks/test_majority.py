"""The option *majority* of SEQUENCER in the whole stack: the views that deliver are on one path."""

from typing import Final

from attrs import evolve

from groupcomm_simulator.running import simulate
from groupcomm_simulator.setup import Faults, Setup

PARTS: Final = Setup(
    members=5,
    faults=Faults(frozenset({"partition", "suspicion", "join", "loss", "reordering"}), rate=0.02),
    ignored=frozenset({"EventuallyDelivered"}),  # who is left may be no majority
    one_path=True,
)
"""One first view, and each address used once. No member is gone for good: without a majority nothing is delivered."""


def test_without_the_option_two_branches_deliver() -> None:
    found = simulate(PARTS, events=20_000, seed=1).found
    assert found is not None
    assert found.claim == "DeliveredOnOnePath"


def test_with_the_option_one_branch_delivers() -> None:
    outcome = simulate(evolve(PARTS, majority=True), events=20_000, seed=1)
    assert outcome.found is None, outcome.found
    assert outcome.judged["DeliveredOnOnePath"] >= 5
