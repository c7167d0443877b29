"""Values that pass between the toys, as in `spec/stack/Toys.tla`: payloads, messages, events, levels."""

from typing import Annotated, TypeAlias

from attrs import frozen

from groupcomm import events
from groupcomm import stack as stacks
from groupcomm.events import Below
from groupcomm.view import Address


@frozen
class Word:
    """A payload of the application."""

    number: int


@frozen
class Tagged(stacks.Tagged):
    """As `groupcomm.stack` has it; it says what its message may be."""

    message: "Note | Sealed | Copy | Word"


Inner: TypeAlias = Tagged | Word
"""The payload of a layer's message: a message of a layer above it, or a payload of the application."""


@frozen
class Note:
    """Of `top`."""

    number: int


@frozen
class Sealed:
    """Of `mid`."""

    payload: Inner


@frozen
class Copy:
    """Of `low`."""

    payload: Inner


@frozen
class Level:
    """The level that `mid` and `low` pass up."""

    value: int


@frozen
class Depth:
    """An event that no toy passes: it comes from outside."""

    value: int


@frozen
class ViewInstalled(events.ViewInstalled):
    """A view, and what the layer beneath says of it."""

    level: Annotated[Level, Below]


@frozen
class MergeViewInstalled(events.MergeViewInstalled):
    """A merged view likewise."""

    level: Annotated[Level, Below]


@frozen
class Decide:
    """To `top`: decide the next view."""


@frozen
class Stop:
    """To `mid`, which asks `low`."""


@frozen
class Stopped:
    """The answer."""

    level: Level


@frozen
class Ask:
    """To `low`: pass up the level, for `asker`."""

    asker: str


@frozen
class Answer:
    """The answer."""

    asker: str
    level: Level


@frozen
class Ring:
    """To `top`, from wherever."""


@frozen
class Said:
    """An event that no toy knows: `what` happened."""

    what: str
    value: int


@frozen
class SendRequested:
    """The layer above multicasts."""

    payload: Inner


@frozen
class UnicastRequested:
    """The layer above sends something to one member."""

    payload: Inner
    to: Address
