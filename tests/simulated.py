"""Helpers of tests of simulations: a run without a violation, a run with one."""

from groupcomm_simulator.running import Found, Outcome, simulate
from groupcomm_simulator.setup import Setup


def all_holds(setup: Setup, events: int, seed: int) -> Outcome:
    """The result of so many events: no violation, and no stack refused anything."""
    outcome = simulate(setup, events=events, seed=seed)
    assert outcome.found is None, f"{outcome.found}: groupcomm simulate {setup.stack} --seed {outcome.found.seed}"
    assert events <= outcome.events
    assert 0 == outcome.refused
    return outcome


def violation(setup: Setup, events: int = 100_000, seed: int = 1) -> Found:
    """The violation found within so many events."""
    outcome = simulate(setup, events=events, seed=seed)
    assert outcome.found is not None
    return outcome.found
