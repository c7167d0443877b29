"""Choosing walks, from integers alone: a tree of shortest ways, and what walks have to come by.

A large model's walks cover every local step that a transition uses, and every act of the environment:
`marks`. A small model's cover every transition. Both are greedy.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import frozen

__all__ = ["NONE", "Edge", "Goal", "Integers", "Tree", "Walk", "cover_edges", "cover_marks"]

Integers: TypeAlias = npt.NDArray[np.int64]

Walk: TypeAlias = list[tuple[int, int]]
"""A start and steps: pairs of the transition (-1 at the start) and the state that it leads to."""

NONE: Final = -1


@frozen
class Edge:
    """A transition and the states that it is between, by any numbers."""

    edge: int
    source: int
    target: int


@frozen
class Goal:
    """A transition with a mark that some walk must come by."""

    mark: int
    edge: Edge


@frozen(eq=False)
class Tree:
    """For each state the transition that found it: arrays of one length, in the order of these transitions.

    `node` are the states' names; `parent` places in these arrays, `NONE` for an initial state; `edge` the
    transitions; `mark` their marks; `depth` is 0 for an initial state.
    """

    node: Integers
    parent: Integers
    edge: Integers
    mark: Integers
    depth: Integers

    @classmethod
    def of(cls, node: Integers, source: Integers, edge: Integers, mark: Integers) -> "Tree":
        """The tree of states, with those before them and the transitions from there, `NONE` for an initial one.

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

    def place(self) -> Mapping[int, int]:
        """Where each state is in the arrays."""
        return {name: place for place, name in enumerate(self.node.tolist())}

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


def cover_edges(initial: Sequence[int], edges: Iterable[Edge]) -> list[Walk]:
    """Walks from `initial` states that together take every transition.

    A walk takes what is new as long as there is any ahead, the nearest first, and ends where there is none.
    ValueError where a transition cannot be reached.
    """
    fresh: dict[int, list[Edge]] = {}
    ahead: dict[int, dict[int, Edge]] = {}
    left = 0
    for edge in edges:
        left += 1
        fresh.setdefault(edge.source, []).append(edge)
        if edge.source != edge.target:
            ahead.setdefault(edge.source, {}).setdefault(edge.target, edge)
    for waiting in fresh.values():  # taken from the end: those that stay here first, then in their order
        waiting.sort(key=lambda edge: (edge.source == edge.target, -edge.edge))
    walks: list[Walk] = []
    while left:
        before = left
        for start in initial:
            walk: Walk = [(NONE, start)]
            here = start
            while (way := _nearest(here, fresh, ahead)) is not None:
                walk += ((edge.edge, edge.target) for edge in way)
                here = way[-1].target if way else here
                edge = fresh[here].pop()
                walk.append((edge.edge, edge.target))
                here = edge.target
                left -= 1
            if len(walk) > 1:
                walks.append(walk)
        if left == before:
            raise ValueError(f"{left} transitions cannot be reached from an initial state")
    return walks


def _nearest(
    here: int, fresh: Mapping[int, list[Edge]], ahead: Mapping[int, Mapping[int, Edge]]
) -> list[Edge] | None:
    """A shortest way to a state with something new; empty if it is this one, None if there is none."""
    if fresh.get(here):
        return []
    came: dict[int, Edge | None] = {here: None}
    queue = deque([here])
    while queue:
        source = queue.popleft()
        for target, edge in ahead.get(source, {}).items():
            if target in came:
                continue
            came[target] = edge
            if fresh.get(target):
                way: list[Edge] = []
                step: Edge | None = edge
                while step is not None:
                    way.append(step)
                    step = came[step.source]
                return way[::-1]
            queue.append(target)
    return None
