"""The interface of every protocol: a start and a step, both pure. A module of this package is a `Core`."""

from typing import Protocol, TypeVar

from .view import Address

ConfigT_contra = TypeVar("ConfigT_contra", contravariant=True)
StateT = TypeVar("StateT")
EventT_contra = TypeVar("EventT_contra", contravariant=True)
EffectT_co = TypeVar("EffectT_co", covariant=True)


class Core(Protocol[ConfigT_contra, StateT, EventT_contra, EffectT_co]):
    """A protocol as a state machine without clock, dice or network: `core: Core[...] = groupcomm.stable`."""

    def start(self, member: Address) -> StateT:
        """Give the state of a member before its first view."""

    def step(
        self, config: ConfigT_contra, state: StateT, event: EventT_contra, /
    ) -> tuple[StateT, tuple[EffectT_co, ...]]:
        """Give the next state and what is to be done, in order.

        An ignored event gives the same state and no effects. A refused one raises `LocalProtocolError` (the
        caller erred) or `RemoteProtocolError` (a peer erred) and changes nothing.
        """
