"""Implementations of STABLE that are broken on purpose: walks of the specification tell."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import evolve

from groupcomm import stable
from groupcomm.effects import PassDown
from groupcomm_conformance.models import manifest as manifests
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.codec import MappingError
from groupcomm_conformance.walks import graph as graphs
from groupcomm_conformance.walks.follow import Follower, follow
from groupcomm_conformance.walks.machine import steer

ROOT = manifests.find_root(Path(__file__).parent)
MANIFEST = manifests.load(ROOT, "stable")
PROTOCOL = derive.load(MANIFEST)
WALKED = [model for model in MANIFEST.models if model.walk]

Step = Callable[[stable.Config, stable.State, stable.Event], stable.Transition]


def forgets_the_minimum(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    """The note's flaw: a timer that fires within a round throws the running minimum away (FLAW-12)."""
    after, effects = stable.step(config, state, event)
    if isinstance(event, stable.StableTimeout):
        after = evolve(after, minimum=after.vote)
    return after, effects


def does_not_purge(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    return after, tuple(effect for effect in effects if not isinstance(effect, PassDown))


def announces_twice(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    """The announcement stays pending when another member was faster (STB-10)."""
    after, effects = stable.step(config, state, event)
    return (
        evolve(after, pending=state.pending) if isinstance(event, stable.StabilityReceived) else after
    ), effects


BROKEN: Mapping[Step, str] = {
    forgets_the_minimum: "wrong_state",
    does_not_purge: "wrong_effects",
    announces_twice: "wrong_state",
}


@pytest.mark.parametrize(("step", "verdict"), BROKEN.items(), ids=[step.__name__ for step in BROKEN])
def test_a_broken_core_is_caught_on_a_shortest_walk(step: Step, verdict: str) -> None:
    chance = random.Random(2009)  # noqa: S311 - repeatable, no secret
    for model in WALKED * 100:
        graph = graphs.load(MANIFEST, model, ROOT / ".cache" / "groupcomm")
        of = Follower(
            PROTOCOL, derive.constants_of(MANIFEST.cfg(model)), SimpleNamespace(start=stable.start, step=step)
        )
        found = follow(of, graph, steer(graph, chance, 60))
        if found is not None:
            break
    assert found is not None
    assert (verdict, "a shortest one") == (found.verdict, found.note)
    assert found.text().startswith(f"{verdict}: ")


def test_what_makes_a_member_are_these_constants() -> None:
    assert {
        "max_bytes": "MaxBytes",
        "stability_delay": "StabilityDelay",
        "stable_interval": "StableInterval",
    } == PROTOCOL.parameters
    assert {
        "HoldVote": "until_redeemed",
        "MergeRule": "min",
        "VoteOf": "delivered",
    }.items() <= PROTOCOL.guards.items()
    assert {"stable": stable.StableTimeout, "stability": stable.StabilityTimeout} == PROTOCOL.timeouts
    assert {"STABLE": stable.Stable, "STABILITY": stable.Stability} == PROTOCOL.messages


def test_a_model_of_the_note_is_not_one_of_the_implementation() -> None:
    """It changes no guard: it has the note's step in the place of the members' own."""
    with pytest.raises(
        MappingError, match="another MemberStep, so that its members take other steps than stable's"
    ):
        PROTOCOL.config(derive.constants_of(MANIFEST.cfg(MANIFEST.model("note"))))
