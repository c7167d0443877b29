"""How each protocol's implementation corresponds to its specification: one module a protocol.

A mapping module `<protocol>.py` defines `PROTOCOL`, a `Protocol`. Modules are found by the protocol's
name; nothing lists them.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any
from typing import Protocol as Interface

from attrs import frozen

from groupcomm_conformance.mapping.codec import Codec, MappingError
from groupcomm_conformance.values import Fn, Value

__all__ = ["Cluster", "Codec", "MappingError", "Protocol", "load"]


class Cluster(Interface):
    """A simulated group: all members, what is between and below them, and the last step."""

    def apply(self, act: Fn) -> None:
        """Do the step that `act` names, with its parameters; outcome and effects are the members' own."""

    def values(self) -> Fn:
        """The whole global state, as the variables of the group's specification."""


@frozen
class Protocol:
    """What the checks need to know of one protocol.

    `core`: the implementation module, with `start` and `step`. `events`: the union of its event classes.
    `config`: from the constants of a model to the core's configuration. `cluster`: from configuration,
    constants and the values of an initial state to a simulated group, with `core` doing its members' steps.
    `observables`: the state fields that a scenario may check.
    """

    name: str
    core: ModuleType
    codec: Codec
    state: type
    events: Any
    config: Callable[[Mapping[str, Value]], Any]
    cluster: Callable[[ModuleType, Mapping[str, Value], Fn], Cluster]
    observables: Sequence[str]


def load(name: str) -> Protocol:
    """The mapping of a protocol. Raises MappingError if it has none."""
    try:
        module = import_module(f"groupcomm_conformance.mapping.{name}")
    except ModuleNotFoundError as error:
        message = f"protocol {name} has no mapping: write mapping/{name}.py (CONTRIBUTING, the four places)"
        raise MappingError(message) from error
    protocol: Protocol = module.PROTOCOL
    return protocol
