"""A membership service in a few lines, as the closed models of merging have it: a layer beneath merging.

It decides views, which merging hears as `DecisionInstalled`, and installs what merging decides. In both cases all layers
hear of the view as `ViewInstalled`, those beneath first.
"""

from typing import Any, Final, TypeAlias

from attrs import frozen

from groupcomm.effects import PassDown, PassUp
from groupcomm.events import ViewInstalled
from groupcomm.gms import Decision
from groupcomm.merge import DecisionInstalled, MergeDecided
from groupcomm.view import Address, View

ASSUMES: Final = ()
GIVES: Final = ()


@frozen
class Decided:
    """The service decides the next view."""

    decision: Decision


@frozen
class NoMessage:
    """It sends none."""


Message: TypeAlias = NoMessage
Event: TypeAlias = Decided | MergeDecided
Effect: TypeAlias = PassDown[ViewInstalled] | PassUp[ViewInstalled | DecisionInstalled]


@frozen
class State:
    """The service remembers nothing."""

    member: Address


def start(member: Address) -> State:
    """Return a member before its first view."""
    return State(member)


def step(_config: Any, state: State, event: Event) -> tuple[State, tuple[Effect, ...]]:  # noqa: ANN401 - it has none
    """Pass a view on; of a merged view merging itself says to those above what it is."""
    decision = event.decision
    heard = ViewInstalled(View(decision.id, decision.members))
    if isinstance(event, MergeDecided):
        return state, (PassDown(heard),)
    return state, (PassDown(heard), PassUp(heard), PassUp(DecisionInstalled(decision)))
