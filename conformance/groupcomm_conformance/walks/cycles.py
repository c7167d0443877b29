"""Cycles of a state graph: steps that a group can repeat without end.

In a graph without a cycle every behaviour ends, whatever is fair, since a step is taken as long as one is
enabled. There a claim of quiescent states (`ConvergedWhenQuiescent`) is liveness. Where there is a cycle, it
is liveness only of behaviours that leave the cycle, and a fair search has to say which do.

`act` is no part of a state here, and a step that changes nothing else is no cycle.
"""

from collections.abc import Iterator, Sequence

from .graph import ACT, Graph

__all__ = ["cycles"]


def cycles(graph: Graph) -> list[tuple[str, ...]]:
    """Give for each set of states that reach one another the actions of the steps between them."""
    column = graph.variables.index(ACT)
    numbers: dict[tuple[int, ...], int] = {}
    state = [numbers.setdefault((*row[:column], *row[column + 1 :]), len(numbers)) for row in graph.rows]
    successors: list[set[int]] = [set() for _ in numbers]
    for source, targets in enumerate(graph.successors):
        successors[state[source]].update(state[target] for target in targets)
    part = _parts([sorted(each) for each in successors])
    found: dict[int, set[str]] = {}
    for source, action, target in graph.edges():
        before, after = state[source], state[target]
        if before != after and part[before] == part[after]:
            found.setdefault(part[before], set()).add(action)
    return sorted({tuple(sorted(actions)) for actions in found.values()})


def _parts(successors: Sequence[Sequence[int]]) -> list[int]:
    """Number for each node its strongly connected component (Tarjan's algorithm, without recursion)."""
    order = [-1] * len(successors)
    low = [0] * len(successors)
    part = [-1] * len(successors)
    stack: list[int] = []
    entered = parts = 0
    for root in range(len(successors)):
        if order[root] >= 0:
            continue
        walk: list[tuple[int, Iterator[int]]] = []
        todo = [root]
        while todo or walk:
            if todo:
                node = todo.pop()
                order[node] = low[node] = entered
                entered += 1
                stack.append(node)
                walk.append((node, iter(successors[node])))
            node, rest = walk[-1]
            for target in rest:
                if order[target] < 0:
                    todo.append(target)
                    break
                if part[target] < 0:
                    low[node] = min(low[node], order[target])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[node])
                if low[node] == order[node]:
                    while part[node] < 0:
                        part[stack.pop()] = parts
                    parts += 1
    return part
