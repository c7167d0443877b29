"""Implementations of STABLE that are broken on purpose: walks of the specification detect each."""

from collections.abc import Callable, Mapping

import pytest
from attrs import evolve

from groupcomm import stable
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.codec import MappingError
from tests.cores import MANIFESTS, PROTOCOLS, is_caught_on_a_shortest_walk
from tests.stable.broken import does_not_purge, forgets_the_minimum

Step = Callable[[stable.Config, stable.State, stable.Event], stable.Transition]


def announces_twice(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    """The announcement stays pending when another member was faster (STB-10)."""
    after, effects = stable.step(config, state, event)
    return (evolve(after, pending=state.pending) if isinstance(event, stable.StabilityReceived) else after), effects


BROKEN: Mapping[Step, str] = {
    forgets_the_minimum: "wrong_state",
    does_not_purge: "wrong_effects",
    announces_twice: "wrong_state",
}


@pytest.mark.parametrize(("step", "verdict"), BROKEN.items(), ids=[step.__name__ for step in BROKEN])
def test_a_broken_core_is_caught_on_a_shortest_walk(step: Step, verdict: str) -> None:
    is_caught_on_a_shortest_walk("stable", step, verdict)


def test_what_makes_a_member_are_these_constants() -> None:
    assert {
        "max_bytes": "MaxBytes",
        "stability_delay": "StabilityDelay",
        "stable_interval": "StableInterval",
    } == PROTOCOLS["stable"].parameters
    assert {"HoldVote": "until_redeemed", "MergeRule": "min", "VoteSource": "delivered"}.items() <= PROTOCOLS[
        "stable"
    ].guards.items()
    assert {"stable": stable.StableTimeout, "stability": stable.StabilityTimeout} == PROTOCOLS["stable"].timeouts
    assert {"STABLE": stable.Stable, "STABILITY": stable.Stability} == PROTOCOLS["stable"].messages


def test_a_model_of_the_note_is_not_one_of_the_implementation() -> None:
    """It changes no guard: it has the note's step in the place of the members' own."""
    with pytest.raises(MappingError, match="another MemberStep, so that its members take other steps than stable's"):
        PROTOCOLS["stable"].config(derive.constants_of(MANIFESTS["stable"].cfg(MANIFESTS["stable"].model("note"))))
