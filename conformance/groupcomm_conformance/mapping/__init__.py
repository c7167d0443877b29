"""What is around the members of a simulated group, for scenarios and the demonstration."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Protocol as Interface

import attrs
from attrs import frozen

from groupcomm_conformance.models import manifest
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.codec import MappingError
from groupcomm_conformance.tla.values import Value

if TYPE_CHECKING:
    from groupcomm_conformance.simulation import Copy, Group, Happened, Story

__all__ = ["MappingError", "Protocol", "Surroundings", "load"]


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


@frozen
class Protocol(derive.Protocol):
    """A protocol with what stands around its members, and what `groupcomm demo` shows, from a seed."""

    surroundings: "Callable[[Group], Surroundings]"
    story: "Callable[[int], Story]"


def load(name: str) -> Protocol:
    """The protocol with its surroundings. Raises MappingError if it has none."""
    root = manifest.find_root(Path(__file__).parent)
    if name not in manifest.protocols(root):
        raise MappingError(f"there is no protocol {name}")
    derived = derive.load(manifest.load(root, name))
    module = import_module(f"groupcomm_conformance.mapping.{name}_surroundings")
    fields = {each.name: getattr(derived, each.name) for each in attrs.fields(derive.Protocol)}
    return Protocol(**fields, surroundings=module.SURROUNDINGS, story=module.story)
