"""Compositions come to rest: no cycle but asking again, so that a claim of quiescent states is liveness."""

import pytest

from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.walks import graph
from groupcomm_conformance.walks.cycles import cycles
from groupcomm_conformance.walks.graph import Graph
from tests.cores import ALL

LARGEST = 400
"""The most states of a model whose graph is looked at here."""

ASKS_AGAIN = {"AskToJoin"}
"""A joiner asks again and is answered again, as long as no member lets it in."""

WITH_CYCLES = {"stable_over_nakack__pair"}
"""On a network that remembers STABLE's messages they arrive again and again, and begin rounds. Its claim of
rest, LevelWhenAtRest, is of states in which none of these messages changes anything."""


def _made(*steps: tuple[int, str, int]) -> Graph:
    """Make a graph in which node n has the state n // 2, and one of two ways in which it was reached."""
    nodes = 1 + max(max(source, target) for source, _, target in steps)
    into = {target: action for _, action, target in steps}
    acts = [f'[action |-> "{into.get(node, "none")}"]' for node in range(nodes)]
    states = [str(node // 2) for node in range(nodes)]
    texts = tuple(dict.fromkeys(acts + states))
    rows = tuple((texts.index(acts[node]), texts.index(states[node])) for node in range(nodes))
    successors = tuple(tuple(sorted(t for s, _, t in steps if s == node)) for node in range(nodes))
    return Graph(("act", "x"), texts, rows, successors, (0,))


def test_a_cycle_is_found_whatever_act_says() -> None:
    """The states 0, 1, 2 in a circle: no node is reached twice, since each way back is another node."""
    graph = _made((0, "Go", 2), (2, "On", 4), (4, "Back", 1))
    assert cycles(graph) == [("Back", "Go", "On")]
    assert cycles(graph, without=["On"]) == []
    assert cycles(graph, without=["Other"]) == [("Back", "Go", "On")]


def test_a_step_that_changes_nothing_is_no_cycle() -> None:
    assert cycles(_made((0, "Ignored", 1), (1, "Go", 2))) == []


def test_cycles_apart_are_told_apart() -> None:
    graph = _made((0, "A", 2), (2, "B", 1), (2, "C", 4), (4, "D", 6), (6, "E", 5))
    assert cycles(graph) == [("A", "B"), ("D", "E")]


def _models() -> list[tuple[Manifest, Model]]:
    return [
        (manifest, model)
        for manifest in ALL.values()
        for model in manifest.models
        if model.holds
        and not model.liveness
        and manifest.module_of(model.claims) != manifest.module
        and any("Quiescent" in claim or "AtRest" in claim for claim in manifest.cfg(model).claims)
        and model.counts is not None
        and model.counts.distinct <= LARGEST
    ]


@pytest.mark.parametrize(
    ("manifest", "model"), [pytest.param(*each, id=f"{each[0].protocol}-{each[1].name}") for each in _models()]
)
def test_a_composition_has_no_cycle_but_asking_again(manifest: Manifest, model: Model) -> None:
    """So each of its behaviours ends at rest, whatever is fair, but those in which a joiner asks for ever."""
    found = cycles(graph.build(manifest, model), without=ASKS_AGAIN)
    assert bool(found) == (model.name in WITH_CYCLES), found


def test_the_models_with_cycles_are_still_there() -> None:
    assert {model.name for _, model in _models()} >= WITH_CYCLES
