"""A graph without `act`: the model's own, each transition with its act."""

from attrs import frozen

from .covering import Edge
from .graph import ACT, Graph


@frozen
class Quotient:
    """A graph whose states do not remember how they were reached.

    `states` are the numbers of a node of `graph` for each; a transition's act is that of the node `acts`
    gives.
    """

    graph: Graph
    states: tuple[int, ...]
    initial: tuple[int, ...]
    edges: tuple[Edge, ...]
    acts: tuple[int, ...]


def quotient(graph: Graph) -> Quotient:
    """Put together the nodes of a graph that differ in `act` alone: what is left is the model's own graph."""
    act = graph.variables.index(ACT)
    numbers: dict[tuple[int, ...], int] = {}
    states: list[int] = []
    place: list[int] = []
    for node, row in enumerate(graph.rows):
        key = (*row[:act], *row[act + 1 :])
        if key not in numbers:
            numbers[key] = len(states)
            states.append(node)
        place.append(numbers[key])
    found: dict[tuple[int, int, int], int] = {}
    for source, targets in enumerate(graph.successors):
        for target in targets:
            found.setdefault((place[source], graph.rows[target][act], place[target]), target)
    edges = tuple(Edge(number, key[0], key[2]) for number, key in enumerate(found))
    initial = tuple(dict.fromkeys(place[node] for node in graph.initial))
    return Quotient(graph, tuple(states), initial, edges, tuple(found.values()))
