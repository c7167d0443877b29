"""How each protocol's implementation corresponds to its specification: one module a protocol.

A mapping module `<protocol>.py` defines `PROTOCOL`, a `Protocol`. Modules are found by the protocol's
name; nothing lists them.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any
from typing import Protocol as Interface

from attrs import frozen

from groupcomm_conformance.tla.values import Fn, Value

from .codec import Codec, MappingError

if TYPE_CHECKING:
    from groupcomm_conformance.simulation import Copy, Group, Happened, Story

__all__ = ["Cluster", "Codec", "FollowingSurroundings", "MappingError", "Protocol", "Surroundings", "load"]


class Cluster(Interface):
    """A simulated group: all members, what is between and below them, and the last step.

    One that also has `parts`, a mapping from its variables to what it holds of each, is replayed many times
    faster. `values` is then nothing but the codec's translation of that. What a variable holds, or a mapping
    that it is, is replaced and never changed: an object that is there again has not changed.
    """

    def apply(self, act: Fn) -> None:
        """Do the step that `act` names, with its parameters; outcome and effects are the members' own."""

    def values(self) -> Fn:
        """The whole global state, as the variables of the group's specification."""


class Surroundings(Interface):
    """What stands around the members of a simulated group, as far as the protocol sees it: below and above.

    `config`: the configuration unless a scenario gives another. `given`: what a scenario may say of the
    beginning. `deeds`: what may be done at a member besides the events, and with what. `observables`: what
    may be checked besides the fields of the state. All three are from names to annotations. `messages`: the
    names of all types of messages that can be in flight.
    """

    config: Any
    given: Mapping[str, Any]
    deeds: Mapping[str, Mapping[str, Any]]
    observables: Mapping[str, Any]
    messages: Mapping[str, type]

    def supplied(self, event: type) -> Mapping[str, Any]:
        """Fields of an event that need not be given at a `do`, with what they are then; None: see `event`."""

    def begin(self, given: Mapping[str, Any]) -> None:
        """Bring the group to its beginning."""

    def event(self, member: str, event: type, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """The event that happens at a member, with the fields given and the rest from here."""

    def do(self, member: str, deed: str, fields: Mapping[str, Any]) -> "Happened | None":
        """Do a deed at a member. Raises Impossible where it cannot be done."""

    def timer(self, name: str) -> Any:  # noqa: ANN401
        """The event of a timer that fires."""

    def multicast(self, member: str, message: Any) -> None:  # noqa: ANN401
        """A member multicasts: it puts the copies in flight that the layer below makes of it."""

    def refuses(self, fault: str, copy: "Copy") -> str:
        """Why the layers below do not `drop` or `duplicate` a copy; "" where they may."""

    def ready(self, member: str, sender: str, message: object) -> bool:
        """Whether a member can take a message now; otherwise it waits."""

    def arrived(self, member: str, sender: str, message: object) -> "Happened":
        """A message arrived: it happens at the member."""

    def happened(self, member: str, event: object, outcome: str) -> None:
        """A member's core has done a step that was not refused; its effects come next."""

    def passed_down(self, member: str, event: object) -> None:
        """A member passed an event down."""

    def passed_up(self, member: str, event: object, cause: object) -> None:
        """A member passed an event up, because of another."""

    def crashed(self, member: str) -> None:
        """A member has stopped."""

    def renewed(self, member: str) -> None:
        """A member is a new incarnation, without memory."""

    def observe(self, member: str, name: str) -> Any:  # noqa: ANN401
        """The value of an observable."""

    def values(self) -> Mapping[str, Value]:
        """What a chart shows of it all."""


class FollowingSurroundings(Surroundings, Interface):
    """Surroundings that also do the steps of walks (`simulation.Followed`).

    For each action of the group's specification they have a method (of `ReceiveData`: `receive_data`) that
    takes a `simulation.Act`.
    """

    def resume(self, constants: Mapping[str, Value], initial: Fn) -> None:
        """Bring the group to an initial state of the specification, by the core's own steps."""

    def variables(self) -> Mapping[str, Value]:
        """The variables of the group's specification, without `local` and `act`."""


@frozen
class Protocol:
    """What the checks need to know of one protocol.

    `core`: the implementation module, with `start` and `step`. `events`: the union of its event classes.
    `config`: from the constants of a model to the core's configuration. `cluster`: from configuration,
    constants and the values of an initial state to a simulated group, with `core` doing its members' steps.
    `observables`: the state fields that a scenario may check. `surroundings`: what stands around the members
    of a simulated group. `story`: what `groupcomm demo` shows, from a seed.
    """

    name: str
    core: ModuleType
    codec: Codec
    state: type
    events: Any
    config: Callable[[Mapping[str, Value]], Any]
    cluster: Callable[[ModuleType, Mapping[str, Value], Fn], Cluster]
    observables: Sequence[str]
    surroundings: "Callable[[Group], Surroundings]"
    story: "Callable[[int], Story]"


def load(name: str) -> Protocol:
    """The mapping of a protocol. Raises MappingError if it has none."""
    try:
        module = import_module(f"groupcomm_conformance.mapping.{name}")
    except ModuleNotFoundError as error:
        message = f"protocol {name} has no mapping: write mapping/{name}.py (CONTRIBUTING, the four places)"
        raise MappingError(message) from error
    protocol: Protocol = module.PROTOCOL
    return protocol
