"""Walking along a specification's state graph, with Hypothesis or at random.

`machine` makes a state machine whose rules are the actions of the graph: a rule is enabled where the current
node has a step of that action, and which of them is drawn. `steer` draws a walk without Hypothesis.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from .follow import Divergence, Follower, Walk, shortest
from .graph import Graph


def machine(follower: Follower, graph: Graph) -> type[RuleBasedStateMachine]:
    """A state machine that follows `graph`.

    It raises AssertionError with a shortest walk that goes wrong, as a chart.
    """

    def begin(self: Any, data: st.DataObject) -> None:  # noqa: ANN401 - the class that is made below
        start = data.draw(st.sampled_from(graph.initial))
        self.nodes = [start]
        self.walk = Walk(follower)
        judge(self, self.walk.begin(graph.values(start)))

    def judge(self: Any, found: Divergence | None) -> None:  # noqa: ANN401
        if found is not None:
            raise AssertionError(shortest(follower, graph, self.nodes, found).text())

    def action(name: str) -> Callable[..., None]:
        @precondition(lambda self: bool(self.nodes) and name in graph.enabled[self.nodes[-1]])
        @rule(data=st.data())
        def take(self: Any, data: st.DataObject) -> None:  # noqa: ANN401
            targets = graph.enabled[self.nodes[-1]][name]
            self.nodes.append(targets[data.draw(st.integers(0, len(targets) - 1))])
            judge(self, self.walk.step(graph.values(self.nodes[-1])))

        take.__name__ = name
        return take

    @precondition(lambda self: bool(self.nodes) and not graph.successors[self.nodes[-1]])
    @rule()
    def rest(_self: Any) -> None:  # noqa: ANN401 - nothing can happen any more
        return

    rules = {name: action(name) for name in graph.actions}
    members = {"nodes": (), "begin": initialize(data=st.data())(begin), "rest": rest, **rules}
    return type("Group", (RuleBasedStateMachine,), members)


def steer(graph: Graph, chance: Random, length: int) -> list[int]:
    """A walk of at most `length` nodes on which each action enabled is as likely as any other."""
    nodes = [chance.choice(graph.initial)]
    while len(nodes) < length and (steps := graph.enabled[nodes[-1]]):
        nodes.append(chance.choice(steps[chance.choice(sorted(steps))]))
    return nodes
