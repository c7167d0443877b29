"""Choosing walks, from integers alone: a tree of shortest ways, and what walks have to come by.

A large model's walks cover every local step that a transition uses, and every act of the environment:
`marks`. A small model's cover every transition. Both are greedy.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import frozen

Walk: TypeAlias = list[tuple[int, int]]
"""A start and steps: pairs of the transition (-1 at the start) and the state that it leads to."""

NONE: Final = -1
"""In the place of a transition at a walk's start."""


@frozen
class Edge:
    """A transition and the states that it is between, by any numbers."""

    edge: int
    source: int
    target: int


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
    for waiting in fresh.values():  # taken from the end: edges that stay here first, then in their order
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


def _nearest(here: int, fresh: Mapping[int, list[Edge]], ahead: Mapping[int, Mapping[int, Edge]]) -> list[Edge] | None:
    """A shortest way to a state with something new; empty if `here` is such a state, None if none is."""
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
