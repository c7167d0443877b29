"""Events that cross layers: one class each, whichever protocols send, hear or observe them.

An event that only one protocol knows is defined in its module. An event from below goes up (`PassUp`), an
event from above comes down (`PassDown`), from layer to layer. A layer that does not know an event does not
see it.
"""

from typing import Final, NewType, final

from attrs import frozen

from .digest import Vector
from .view import Address, View, ViewId

Payload = NewType("Payload", object)
"""Data sent for the layer above or the application, opaque to the layers that carry it."""


@final
class Below:
    """Marks a field that is no part of the event as it is passed: `digest: Annotated[Digest, Below]`.

    The stack fills it, when the layer takes the event, with a value of a layer beneath (`below(state)`).
    """


@frozen
class ViewInstalled:
    """The membership service installed `view`.

    Every layer hears it, the lowest first. A layer that needs to know more of that moment derives a class
    from this class, and adds fields that are `Below`.
    """

    view: View


@frozen
class MergeViewInstalled(ViewInstalled):
    """`view` is installed, made of the `subgroups`' views (MRG-31).

    To a layer that does not know what a merge is it is a view as any other.
    """

    subgroups: frozenset[ViewId]


@frozen
class ViewFormed:
    """To the layers above SEQUENCER: messages are ordered in this view. Only with its option `majority`.

    `before`: the counter of the last formed view that those members knew which formed this one; 0: none.
    """

    view_id: ViewId
    before: int


@frozen
class SafeUpTo:
    """From SAFE: the own multicasts up to `number`, of which nothing was said yet, are safe."""

    number: int


@frozen
class UnknownUpTo:
    """From SAFE: of the own multicasts up to `number`, of which nothing was said yet, nobody knows if they are safe."""

    number: int


@frozen
class Deliver:
    """To the application: a message, from the member that sent it."""

    sender: Address
    payload: Payload


@frozen
class DeliverUnicast:
    """To the application: a message to this member alone, in no order with multicasts (SEQ-16)."""

    sender: Address
    payload: Payload


@frozen
class MessageReceived:
    """The multicast layer received a message of `size` payload bytes, 1 or more, in order or not."""

    size: int


@frozen
class DigestPromised:
    """The membership service has given this member's digest to `to`, to start from (JOI-03)."""

    to: Address


@frozen
class PromiseWithdrawn:
    """No member will install a view with `to` and the digest that this member gave it."""

    to: Address


@frozen
class Purge:
    """To the multicast layer: up to these seqnos, inclusive, nothing need be kept (AMB-10)."""

    digest: Vector


@frozen
class GetDigest:
    """To the multicast layer: give what this member has delivered now, of each member of its view (JOI-03).

    `asker`: the protocol that asks; `request`: the number of its question. The answer has both (EVT-05).
    """

    asker: str
    request: int


@frozen
class DigestGiven:
    """The answer: `digest` is what this member had delivered when `asker` asked for the `request`th time."""

    asker: str
    request: int
    digest: Vector


@frozen
class DigestSet:
    """To the multicast layer of a joiner: its windows start after these seqnos."""

    digest: Vector


@frozen
class WindowsAdded:
    """To the multicast layer: windows of new members start after these seqnos; all others stay."""

    digest: Vector


@frozen
class Block:
    """To the application: multicast what must still be sent, and return; what comes later waits."""


@frozen
class Unblock:
    """To the application: multicasts go out again."""


@frozen
class HoldBack:
    """To the multicast layer: of each member's multicasts in this view, deliver no more than these many.

    Until another `HoldBack`, a `Release`, or a `ViewInstalled`, which makes void what was held back.
    """

    limit: Vector


@frozen
class Release:
    """To the multicast layer: deliver what was held back."""


@frozen
class Fetch:
    """To the multicast layer: get from `holder` what is lacking of `sender`, to its `upto`-th of this view.

    `holder` has it in its store.
    """

    holder: Address
    sender: Address
    upto: int


@frozen
class Suspected:
    """To the membership service: `suspect` has crashed, or suspects this member.

    From the failure detector; from merging, which excludes members that follow another coordinator. And from
    the membership service to those above: it begins to suspect `suspect`, for whatever reason.
    """

    suspect: Address


@frozen
class SilenceReported:
    """To UNICAST: the failure detector has heard nothing from `peer` for long; it may be wrong."""

    peer: Address


@frozen
class Suspend:
    """To the layer that can stop a group: stop all unsuspected members for `asker`; also again (EVT-05).

    The answer is `GroupStopped`. It comes once for each `Suspend`, and at once where the group is stopped for
    `asker` already.
    """

    asker: str


@frozen
class GroupStopped:
    """The answer: they are stopped for `asker`, and have delivered the same."""

    asker: str


@frozen
class Resume:
    """To the layer that stopped the group for `asker`: resume the group."""

    asker: str


@frozen
class Left:
    """To the application: this member has left the group, or was refused, and takes no more steps."""


OBSERVED: Final = (ViewInstalled,)
"""Events that are passed on though a layer has heard them; every other event stops where it is known."""
