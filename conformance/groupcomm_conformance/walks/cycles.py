"""Cycles of a state graph: steps that a group can repeat without end.

In a graph without a cycle every behaviour ends, whatever is fair, since a step is taken as long as one is
enabled. There a claim of quiescent states (`ConvergedWhenQuiescent`) is liveness. Where there is a cycle, it
is liveness only of behaviours that leave the cycle, and a fair search has to say which do.

`act` is no part of a state here, and a step that changes nothing else is no cycle.
"""

from collections.abc import Collection, Iterator, Sequence

from .graph import ACT, Graph


def cycles(graph: Graph, *, without: Collection[str] = ()) -> list[tuple[str, ...]]:
    """Give for each set of states that reach one another the actions of the steps between them.

    Steps of actions in `without` are left out: a cycle that is found then has no such step.
    """
    column = graph.variables.index(ACT)
    numbers: dict[tuple[int, ...], int] = {}
    state = [numbers.setdefault((*row[:column], *row[column + 1 :]), len(numbers)) for row in graph.rows]
    steps = [
        (state[source], action, state[target])
        for source, action, target in graph.edges()
        if action not in without and state[source] != state[target]
    ]
    successors: list[set[int]] = [set() for _ in numbers]
    for source, _, target in steps:
        successors[source].add(target)
    part = _parts([sorted(each) for each in successors])
    found: dict[int, set[str]] = {}
    for source, action, target in steps:
        if part[source] == part[target]:
            found.setdefault(part[source], set()).add(action)
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
