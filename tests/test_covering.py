"""Choosing walks: they are walks, and they take every transition, on any graph."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcomm_conformance.walks.covering import NONE, Edge, Walk, cover_edges


def graph(seed: int, size: int, more: int) -> list[Edge]:
    """A graph in which every state can be reached from 0, numbered as a search would find its transitions."""
    random = Random(seed)  # noqa: S311 - drawn by hypothesis
    pairs = [(random.randrange(node), node) for node in range(1, size)]
    pairs += [(random.randrange(size), random.randrange(size)) for _ in range(more)]
    edges: list[Edge] = []
    seen, waiting = {0}, [0]
    for source in waiting:
        for start, target in pairs:
            if start == source:
                edges.append(Edge(len(edges), source, target))
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
    return edges


GRAPHS = st.builds(graph, st.integers(0, 2**32), st.integers(1, 12), st.integers(0, 25))


def followed(walks: list[Walk], edges: list[Edge]) -> set[int]:
    """The transitions taken, if the walks are walks from 0."""
    taken: set[int] = set()
    for walk in walks:
        assert (NONE, 0) == walk[0]
        here = 0
        for number, target in walk[1:]:
            assert (edges[number].source, edges[number].target) == (here, target)
            taken.add(number)
            here = target
    return taken


@given(GRAPHS)
def test_walks_take_every_transition(edges: list[Edge]) -> None:
    assert {edge.edge for edge in edges} == followed(cover_edges([0], edges), edges)


def test_a_transition_that_cannot_be_reached_is_an_error() -> None:
    with pytest.raises(ValueError, match="1 transitions cannot be reached"):
        cover_edges([0], [Edge(0, 0, 1), Edge(1, 2, 1)])


def test_what_stays_in_a_state_is_taken_on_the_way() -> None:
    """One walk takes all of a line with a loop at each state."""
    edges = [Edge(0, 0, 0), Edge(1, 0, 1), Edge(2, 1, 1), Edge(3, 1, 2), Edge(4, 2, 2)]
    assert [[(NONE, 0), (0, 0), (1, 1), (2, 1), (3, 2), (4, 2)]] == cover_edges([0], edges)
