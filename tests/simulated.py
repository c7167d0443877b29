"""What the tests of whole stacks have in common: a setup, a run without a violation, a run with one."""

from collections.abc import Callable
from typing import Any

from groupcomm.stack import AnyCore
from groupcomm_conformance.stacks.changes import Faults
from groupcomm_conformance.stacks.claims import Violation
from groupcomm_conformance.stacks.running import Outcome, Setup, simulate
from tests.cores import core_of


def setup(stack: str, kinds: frozenset[str], **changes: Any) -> Setup:  # noqa: ANN401 - of the setup
    """A stack, top first with / between, under faults of these kinds."""
    return Setup(tuple(stack.split("/")), faults=Faults(kinds), **changes)


def all_holds(run: Setup, events: int, seed: int) -> Outcome:
    """What happened in so many events: no violation, and no stack refused anything."""
    outcome = simulate(run, events=events, seed=seed)
    assert outcome.found is None, (
        f"{outcome.found.violation}: groupcomm simulate {'/'.join(run.names)} --seed {outcome.found.seed}"
    )
    assert events <= outcome.events
    assert 0 == outcome.refused
    return outcome


def violation(run: Setup, events: int = 100_000) -> Violation:
    """What is found within so many events."""
    outcome = simulate(run, events=events, seed=1)
    assert outcome.found is not None
    return outcome.found.violation


def broken(protocol: str, step: Callable[..., Any]) -> tuple[tuple[str, AnyCore], ...]:
    """`cores` of a setup: the protocol's own, but with another step."""
    return ((protocol, core_of(protocol, step)),)
