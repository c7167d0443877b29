"""Whole clusters: a simulated group follows the specification's state graph, step by step."""

import random
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from attrs import evolve, frozen
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from groupcomm import stable
from groupcomm.effects import PassDown
from groupcomm_conformance import mapping
from groupcomm_conformance.models import manifest as manifests
from groupcomm_conformance.tla.values import Value
from groupcomm_conformance.walks import graph as graphs
from groupcomm_conformance.walks import replay as walks
from groupcomm_conformance.walks.graph import Graph
from groupcomm_conformance.walks.machine import machine, steer

ROOT = manifests.find_root(Path(__file__).parent)
PROTOCOL = mapping.load("stable")
MANIFEST = manifests.load(ROOT, "stable")
WALKED = [model for model in MANIFEST.models if model.walk]

Step = Callable[[stable.Config, stable.State, stable.Event], stable.Transition]


@frozen
class Walked:
    """A graph, and the constants of its model."""

    graph: Graph
    constants: Mapping[str, Value]


@cache
def walked(name: str) -> Walked:
    (model,) = (model for model in WALKED if model.name == name)
    graph = graphs.load(MANIFEST, model, ROOT / ".cache" / "groupcomm")
    return Walked(graph, graphs.constants(MANIFEST, model))


def core_with(step: Step) -> ModuleType:
    core = ModuleType("broken")
    core.__dict__.update(start=stable.start, step=step)
    return core


def follower(of: Walked, core: ModuleType = stable) -> type[RuleBasedStateMachine]:
    return machine(PROTOCOL, of.constants, of.graph, core)


@pytest.mark.parametrize("name", [model.name for model in WALKED])
def test_the_group_follows_the_graph(name: str) -> None:
    run_state_machine_as_test(follower(walked(name)))


def test_together_the_graphs_have_each_action_of_a_group_without_gossip_faults() -> None:
    actions = {action for model in WALKED for action in walked(model.name).graph.actions}
    assert actions >= {
        "InstallView",
        "Join",
        "MulticastData",
        "ReceiveData",
        "ReceiveStability",
        "ReceiveStable",
        "StabilityTimeoutFires",
        "StableTimeoutFires",
        "TakeJoinerDigest",
    }


WIDE: Mapping[str, Mapping[str, str]] = {
    "a joiner, and all faults": {"MaxVotes": "<- Votes2and2"},
    "C leaves and comes back, bytes count": {
        "History": "<- RejoinHistory",
        "MaxVotes": "<- Votes1and1and3",
        "MaxBytes": "= 2",
    },
    "a network that consumes": {"Remembers": "= FALSE"},
}
FAULTS = {
    "Listeners": '= {"A", "B", "C"}',
    "MaxAbandoned": "= 1",
    "MaxCrashes": "= 1",
    "MaxLost": "= 2",
    "MaxMisuses": "= 2",
    "Sends": "<- OneOfEach",
}


@pytest.mark.parametrize("wide", WIDE.values(), ids=WIDE)
def test_the_group_follows_random_walks_of_a_model_too_large_for_a_graph(wide: Mapping[str, str]) -> None:
    cfg = MANIFEST.cfgs["safety"].override({**FAULTS, **wide})
    constants = graphs.values_of(cfg)
    for states in graphs.simulate(MANIFEST, cfg, traces=20, depth=40, seed=2009):
        found = walks.replay(PROTOCOL, constants, states)
        assert found is None, found.text()


# What is broken is caught


def forgets_the_minimum(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    """The note's flaw: a timer that fires within a round throws the running minimum away (FLAW-12)."""
    after, effects = stable.step(config, state, event)
    if isinstance(event, stable.StableTimeout):
        after = evolve(after, minimum=after.vote)
    return after, effects


def does_not_purge(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    return after, tuple(effect for effect in effects if not isinstance(effect, PassDown))


def never_ignores(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    """An ignored event gives an equal state, but another one."""
    after, effects = stable.step(config, state, event)
    return evolve(after), effects


def falls_over(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    if isinstance(event, stable.StabilityTimeout):
        raise KeyError(state.member)
    return stable.step(config, state, event)


BROKEN: Mapping[Step, str] = {
    forgets_the_minimum: "wrong_state",
    does_not_purge: "wrong_effects",
    never_ignores: "wrong_outcome",
    falls_over: "crash",
}


@pytest.mark.parametrize(("step", "verdict"), BROKEN.items(), ids=[step.__name__ for step in BROKEN])
def test_a_broken_core_is_caught_on_a_shortest_walk(step: Step, verdict: str) -> None:
    chance = random.Random(2009)  # noqa: S311 - repeatable, no secret
    for model in WALKED * 100:
        of = walked(model.name)
        nodes = steer(of.graph, chance, 60)
        found = walks.follow(PROTOCOL, of.constants, of.graph, nodes, core_with(step))
        if found is not None:
            break
    assert found is not None
    assert (verdict, "a shortest one") == (found.verdict, found.note)
    assert found.text().startswith(f"{verdict}: ")


def test_the_machine_reports_the_shortest_walk_as_a_chart() -> None:
    few = settings(max_examples=50, derandomize=True, database=None, print_blob=False)
    broken = follower(walked(WALKED[0].name), core_with(never_ignores))
    with pytest.raises(AssertionError) as failure:
        run_state_machine_as_test(broken, settings=few)
    text = str(failure.value)
    assert "wrong_outcome" in text
    assert "(a shortest one)" in text
    assert "act.outcome ignored -> handled" in text


def test_a_failure_that_needs_its_history_is_said_to_have_hidden_state() -> None:
    of = walked(WALKED[0].name)
    calls = 0

    def tires(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
        nonlocal calls
        calls += 1
        return (state, ()) if calls == 30 else stable.step(config, state, event)

    chance = random.Random(2009)  # noqa: S311 - repeatable, no secret
    while (
        found := walks.follow(PROTOCOL, of.constants, of.graph, steer(of.graph, chance, 60), core_with(tires))
    ) is None:
        calls = 0
    assert "hidden state" in found.note
