"""Replaying walks of the specification on a simulated group.

A walk is a sequence of states, each with the `act` that led to it. `Replay` does those steps on a
`mapping.Cluster`, whose members run the implementation, and compares the whole global state after each one.
What differs is a `Divergence`: a verdict, the differences, and the walk as a sequence chart. Where the walk
comes from a graph, `shortest` finds the shortest walk on which the same step goes wrong.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Final, Literal, TypeAlias

from attrs import evolve, frozen

from groupcomm_conformance.mapping import MappingError, Protocol
from groupcomm_conformance.tla.chart import Change, chart, diff
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value, identical

from .graph import ACT, Graph

__all__ = ["Divergence", "Replay", "Verdict", "follow", "replay", "shortest", "verdict_of"]

Verdict: TypeAlias = Literal["wrong_outcome", "wrong_effects", "wrong_state", "crash", "adapter_error"]

_SHOWN: Final = 20


@frozen
class Divergence:
    """The step of a walk at which the implementation leaves the specification.

    `walk` are the specification's states up to the one that should have been reached. `differences` are
    from the specification's state to the implementation's; `reason` says what was raised, if anything.
    `note` says what the way there has to do with it.
    """

    verdict: Verdict
    walk: tuple[State, ...]
    differences: tuple[Change, ...] = ()
    reason: str = ""
    note: str = ""

    def text(self) -> str:
        """The verdict, the walk as a chart, and the differences."""
        last = self.walk[-1]
        head = f"{self.verdict}: {last.action} at {_member(last)}, step {last.number} of this walk"
        lines = [f"{head}{f' ({self.note})' if self.note else ''}", "", *chart(self.walk), ""]
        if self.reason:
            lines.append(self.reason)
        if self.differences:
            lines.append("what the specification has -> what the implementation has:")
            lines += [f"  {change.text()}" for change in self.differences[:_SHOWN]]
        if len(self.differences) > _SHOWN:
            lines.append(f"  and {len(self.differences) - _SHOWN} more")
        return "\n".join(lines)


class Replay:
    """A simulated group that follows a walk, one state after the other."""

    def __init__(
        self,
        protocol: Protocol,
        constants: Mapping[str, Value],
        initial: Fn,
        core: ModuleType | None = None,
    ) -> None:
        """A group in an initial state of the specification. `core` replaces the protocol's own."""
        self._cluster = protocol.cluster(core or protocol.core, constants, initial)
        self.walk: tuple[State, ...] = (State(1, "Init", initial),)

    def start(self) -> Divergence | None:
        """Compare the initial states."""
        return self._compare()

    def step(self, state: Fn) -> Divergence | None:
        """Do the step that `state` says led to it, and compare what it led to."""
        act = state[ACT]
        assert isinstance(act, Fn)  # noqa: S101 - so it is in every state of a group's specification
        self.walk = (*self.walk, State(len(self.walk) + 1, str(act["action"]), state))
        try:
            self._cluster.apply(act)
        except MappingError as error:
            return Divergence("adapter_error", self.walk, reason=str(error))
        except Exception as error:  # noqa: BLE001 - whatever the implementation raises is a verdict on it
            return Divergence("crash", self.walk, reason=f"{type(error).__name__}: {error}")
        return self._compare()

    def _compare(self) -> Divergence | None:
        expected = self.walk[-1].values
        try:
            actual = self._cluster.values()
        except MappingError as error:
            return Divergence("adapter_error", self.walk, reason=str(error))
        if identical(expected, actual):
            return None
        differences = diff(expected, actual)
        return Divergence(verdict_of(differences), self.walk, tuple(differences))


def verdict_of(differences: Iterable[Change]) -> Verdict:
    """What the differences between two states, `act` among their variables, say of the step between them."""
    fields = {change.path.removeprefix(f"{ACT}.").partition("[")[0] for change in differences}
    if "outcome" in fields:
        return "wrong_outcome"
    return "wrong_effects" if any(field.startswith("effects") for field in fields) else "wrong_state"


def replay(
    protocol: Protocol,
    constants: Mapping[str, Value],
    states: Sequence[Fn],
    core: ModuleType | None = None,
) -> Divergence | None:
    """Replay a walk from its initial state; None if the implementation does all of it as specified."""
    run = Replay(protocol, constants, states[0], core)
    found = run.start()
    for state in states[1:]:
        if found is not None:
            break
        found = run.step(state)
    return found


def follow(
    protocol: Protocol,
    constants: Mapping[str, Value],
    graph: Graph,
    nodes: Sequence[int],
    core: ModuleType | None = None,
) -> Divergence | None:
    """Replay a walk along a graph; what goes wrong is reported on a shortest walk."""
    found = replay(protocol, constants, [graph.values(node) for node in nodes], core)
    if found is None:
        return None
    return shortest(protocol, constants, graph, nodes[: len(found.walk)], found=found, core=core)


def shortest(
    protocol: Protocol,
    constants: Mapping[str, Value],
    graph: Graph,
    nodes: Sequence[int],
    *,
    found: Divergence,
    core: ModuleType | None = None,
) -> Divergence:
    """The shortest walk, breadth first, on which the step that failed at the end of `nodes` fails.

    If the shortest walk to that step's source does not make it fail, the implementation remembers more than
    its state says: then `found`, with a note.
    """
    if len(nodes) == 1:
        return found
    way = (*graph.walk_to(nodes[-2]), nodes[-1])
    again = replay(protocol, constants, [graph.values(node) for node in way], core)
    if again is None:
        note = f"a shorter way there of {len(way)} states does not fail: there is hidden state"
        return evolve(found, note=note)
    return evolve(again, note="a shortest one")


def _member(state: State) -> str:
    act = state.values[ACT]
    return str(act["member"]) or "the group" if isinstance(act, Fn) else "the group"
