"""Walks that come by all that a large model has: a tree of shortest ways, in arrays of integers.

A walk must pass each local step and each act of the environment: each has a number, its mark. Greedy.
"""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import frozen

from groupcomm_conformance.walks.covering import NONE, Edge, Walk

__all__ = ["Goal", "Integers", "Tree", "cover_marks"]

Integers: TypeAlias = npt.NDArray[np.int64]


@frozen
class Goal:
    """A transition with a mark that some walk must come by."""

    mark: int
    edge: Edge


@frozen(eq=False)
class Tree:
    """For each state the transition that found it: arrays of equal length, in the order of these transitions.

    `node` are the states' names. `parent` are places in these arrays, `NONE` for an initial state. `edge` are
    the transitions and `mark` their marks. `depth` is 0 for an initial state.
    """

    node: Integers
    parent: Integers
    edge: Integers
    mark: Integers
    depth: Integers

    @classmethod
    def of(cls, node: Integers, source: Integers, edge: Integers, mark: Integers) -> "Tree":
        """The tree of states, the states before them, and the transitions from there: `NONE` at the start.

        ValueError where a state cannot be reached from an initial one.
        """
        order = np.argsort(edge, kind="stable")
        node, source, edge, mark = node[order], source[order], edge[order], mark[order]
        sorting = np.argsort(node, kind="stable")
        found = np.minimum(np.searchsorted(node, source, sorter=sorting), len(node) - 1)
        parent = np.where(edge == NONE, NONE, sorting[found])
        if np.any(node[parent[edge != NONE]] != source[edge != NONE]):
            raise ValueError("a transition comes from a state that there is not")
        depth = np.where(edge == NONE, 0, NONE)
        waiting = np.flatnonzero(depth == NONE)
        while len(waiting):
            known = depth[parent[waiting]]
            reached = known != NONE
            if not reached.any():
                raise ValueError(f"{len(waiting)} states cannot be reached from an initial one")
            depth[waiting[reached]] = known[reached] + 1
            waiting = waiting[~reached]
        return cls(node, parent, edge, mark, depth)

    def walk_to(self, place: int) -> list[int]:
        """The places on a shortest way from an initial state, both included."""
        way = [place]
        while (place := int(self.parent[place])) != NONE:
            way.append(place)
        return way[::-1]


def cover_marks(tree: Tree, goals: Iterable[Goal]) -> list[Walk]:
    """Walks that together come by each goal's mark: a way in the tree, then the transition itself.

    The farthest first, so that most others lie on the way.
    """
    wanted = list(goals)
    sorting = np.argsort(tree.node, kind="stable")
    sources = np.array([goal.edge.source for goal in wanted], dtype=np.int64)
    places = sorting[np.searchsorted(tree.node, sources, sorter=sorting)]
    by_source: dict[int, list[Goal]] = {}
    for goal in wanted:
        by_source.setdefault(goal.edge.source, []).append(goal)
    covered: set[int] = set()
    walks: list[Walk] = []
    order = sorted(range(len(wanted)), key=lambda at: (-int(tree.depth[places[at]]), wanted[at].edge.edge))
    for at in order:
        if wanted[at].mark in covered:
            continue
        following: Goal | None = wanted[at]
        way = tree.walk_to(int(places[at]))
        covered.update(int(tree.mark[place]) for place in way[1:])
        walk = [(int(tree.edge[place]), int(tree.node[place])) for place in way]
        while following is not None:
            covered.add(following.mark)
            walk.append((following.edge.edge, following.edge.target))
            here = by_source.get(following.edge.target, ())
            following = next((goal for goal in here if goal.mark not in covered), None)
        walks.append(walk)
    return walks
