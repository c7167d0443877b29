"""The paths of scenarios, followed by the implementation.

A path is a walk of the specification. An event that was tried on the way becomes a walk of its own: the path
up to that state, and then the event at the member, which no other step follows. So a port needs `start` and
`step`, and no environment.
"""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from groupcomm_conformance.protocols.derive import AnyCore, Protocol
from groupcomm_conformance.tla.values import Fn, Value, parse
from groupcomm_conformance.walks.follow import Divergence, Follower, replay

from .paths import Path, Tried
from .steps import Scenario

TRY: Final = "Try"
"""The action of a step that tries an event: no action of the group."""


def walks(path: Path) -> Iterator[tuple[tuple[Fn, ...], tuple[int, ...]]]:
    """The path, and for each event that was tried the way there and the event.

    With each walk come the indices of the scenario's steps that led to its states.
    """
    states = tuple(state.values for state in path.states)
    yield states, path.steps
    for tried in path.tried:
        there = states[: tried.state]
        yield (*there, _tried(there[-1], tried)), (*path.steps[: tried.state], tried.step)


def _tried(state: Fn, tried: Tried) -> Fn:
    """The state after an event that was tried."""
    local, act = cast("Fn", state["local"]), cast("Fn", state["act"])
    return state.replace(
        local=local.replace(**{tried.member: tried.result["state"]}),
        act=act.replace(
            action=TRY,
            member=tried.member,
            from_start=False,
            given=Fn({"nothing": 0}),
            event=tried.event,
            consumed=frozenset(),
            outcome=tried.result["outcome"],
            effects=tried.result["effects"],
        ),
    )


def configuration(protocol: Protocol, scenario: Scenario) -> Mapping[str, Value]:
    """The values of those constants that make a member."""
    names = (*protocol.guards, *protocol.parameters.values())
    return {name: parse(scenario.constants[name]) for name in names}


def follow(
    protocol: Protocol, scenario: Scenario, path: Path, core: AnyCore | None = None
) -> tuple[int, Divergence] | None:
    """Follow a scenario's path; None if the implementation does all of it as the specification does.

    If not, the index of the scenario's step, and what is wrong. `core` is taken in place of the protocol's
    own. MappingError where the scenario's members are other than the implementation.
    """
    follower = Follower(protocol, configuration(protocol, scenario), core)
    for states, steps in walks(path):
        found = replay(follower, states)
        if found is not None:
            return steps[len(found.walk) - 1], found
    return None
