"""What is around the members of SEQUENCER: the layers below, the membership service, and the application.

Multicasts and views are those of `groupcomm.sim.view_synchrony`; unicasts on their way
are the copies in flight.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

from attrs import frozen

from groupcomm import sequencer
from groupcomm.events import Payload
from groupcomm.sim import view_synchrony as vs
from groupcomm.view import Address, View, ViewId
from groupcomm_conformance import mapping
from groupcomm_conformance.simulation import Copy, Group, Happened, Impossible, Story, shortened
from groupcomm_conformance.tla.values import Fn, Value

Synchrony: TypeAlias = Literal["uniform", "virtual", "none"]
Unicast: TypeAlias = Literal["fifo", "unordered", "duplicating", "lossy"]
Stream: TypeAlias = vs.Stream[sequencer.Data]


@frozen
class Delivery:
    """What a member delivered: a multicast, and the number of the view that the member was in."""

    sender: Address
    payload: int
    view: int


class SequencerSurroundings:
    """The layers below, the membership service and the application of a simulated group.

    `synchrony` and `unicast` say what the layers below guarantee, as `ViewSynchrony` and `Unicast` of the
    specification do.
    """

    config = sequencer.Config()
    given: Mapping[str, Any] = {"view": View, "synchrony": Synchrony, "unicast": Unicast}
    deeds: Mapping[str, Mapping[str, Any]] = {}
    observables: Mapping[str, Any] = dict.fromkeys(("delivered", "plain", "table"), tuple[str, ...])
    messages: Mapping[str, type] = {
        "FORWARD": sequencer.Forward,
        "DATA": sequencer.Data,
        "PLAIN": sequencer.Plain,
    }

    def __init__(self, group: Group) -> None:
        self.group = group
        self.synchrony: Synchrony = "virtual"
        self.unicast: Unicast = "fifo"
        self.streams: dict[ViewId, Stream] = {}
        self.sent = dict.fromkeys(group.members, 0)
        self.delivered: dict[Address, tuple[Delivery, ...]] = dict.fromkeys(group.members, ())
        self.plain: dict[Address, tuple[str, ...]] = dict.fromkeys(group.members, ())
        self.stops = dict.fromkeys(group.members, "no")
        self.spent = dict.fromkeys(("crashes", "duplicates", "lost", "unicasts", "stops", "misuses"), 0)
        self.history = 0

    # The beginning

    def begin(self, given: Mapping[str, Any]) -> None:
        """The members of the first view have installed it."""
        self.synchrony = given.get("synchrony", self.synchrony)
        self.unicast = given.get("unicast", self.unicast)
        if "view" in given:
            for member in given["view"].members:
                self.group.happen(member, sequencer.ViewInstalled(given["view"]))

    def supplied(self, event: type) -> Mapping[str, Any]:  # noqa: ARG002 - of the interface
        """Nothing: events have all that they need."""
        return {}

    def event(self, member: Address, event: type, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """The event; a view is installed when the layer below lets it be."""
        if event is sequencer.ViewInstalled and self.synchrony != "none":
            self._close(member, fields["view"])
        return event(**fields)

    def _close(self, member: Address, following: View) -> None:
        """Who goes on has received what all that go on receive; the first one closes the views before."""
        states = self.group.states
        if not following.id.counter > states[member].view.id.counter > 0 or member not in following.members:
            return
        going = [m for m in following.members if m in self.group.up and states[m].joined]
        before = {m: states[m].view for m in going if states[m].view != following}
        view = before[member]
        settled: dict[ViewId, Stream] = {}
        for stream in {each.id: self.streams[each.id] for each in before.values()}.values():
            onward = [m for m in going if m in stream.view.members]
            for other in onward:
                if states[other].view not in (stream.view, following):
                    raise Impossible(
                        f"{other} has not installed {_short(stream.view)} yet, and goes on from it"
                    )
            if stream.settled == vs.OPEN:
                settled[stream.view.id] = vs.settle(stream, onward, uniform=self.synchrony == "uniform")
        self.streams |= settled
        stream = self.streams[view.id]
        if not vs.complete(stream, member):
            lacks = len(vs.pending(stream, member))
            raise Impossible(f"{member} has yet to receive {lacks} DATA of {_short(view)}: all that go on do")

    def do(self, member: Address, deed: str, fields: Mapping[str, Any]) -> Happened | None:
        """There are no deeds but the events."""
        raise KeyError(member, deed, fields)

    def timer(self, name: str) -> Any:  # noqa: ANN401
        """SEQUENCER has no timers."""
        raise KeyError(name)

    def multicast(self, member: Address, message: sequencer.Data) -> None:
        """A copy for everybody in the multicaster's view."""
        view = self.group.states[member].view
        self.streams[view.id] = vs.multicast(self.streams[view.id], message)
        for to in view.members:
            if to in self.group.up:
                self.group.send(member, to, message)

    def refuses(self, fault: str, copy: Copy) -> str:
        """What the layers below do not do."""
        if isinstance(copy.message, sequencer.Data):
            return "the multicast layer loses nothing, and doubles nothing"
        if fault == "drop" and self.unicast != "lossy" and {copy.sender, copy.to} <= self.group.up:
            return f"the unicast layer loses nothing between members that are up (unicast: {self.unicast})"
        if fault == "duplicate" and self.unicast != "duplicating":
            return f"the unicast layer doubles nothing (unicast: {self.unicast})"
        return ""

    def ready(self, member: Address, sender: Address, message: object) -> bool:
        """Whether the layers below deliver this now: DATA in order, in its view; unicasts in order."""
        if isinstance(message, sequencer.Data):
            stream = self.streams[message.view_id]
            ahead = vs.pending(stream, member)
            return bool(ahead) and stream.messages[ahead[0] - 1] is message and self._in_turn(stream, member)
        unicasts = (
            copy.message
            for copy in self.group.flight
            if (copy.sender, copy.to) == (sender, member) and not isinstance(copy.message, sequencer.Data)
        )
        return self.unicast == "unordered" or next(unicasts) is message

    def _in_turn(self, stream: Stream, member: Address) -> bool:
        """With virtual synchrony in the member's view; else after what the multicaster sent before."""
        state = self.group.states[member]
        if self.synchrony != "none":
            return bool(state.view == stream.view)
        earlier = (
            other
            for other in self.streams.values()
            if other.view.coordinator == stream.view.coordinator
            and state.epoch <= other.view.id.counter < stream.view.id.counter
            and member in other.received
        )
        return 0 < state.epoch <= stream.view.id.counter and not any(
            vs.pending(other, member) for other in earlier
        )

    def arrived(self, member: Address, sender: Address, message: object) -> Happened:
        """What an arriving message is to its receiver."""
        match message:
            case sequencer.Data():
                return self._receive(member, message, vs.pending(self.streams[message.view_id], member)[0])
            case sequencer.Forward():
                event: sequencer.Event = sequencer.ForwardReceived(sender, message)
                action = "ReceiveForward"
            case sequencer.Plain():
                event = sequencer.PlainReceived(sender, message)
                action = "ReceivePlain"
            case _:
                error = f"{message!r} is no message of SEQUENCER"
                raise TypeError(error)
        packet = self.group.packet(sender, member, message)
        return self.group.happen(member, event, action=action, consumed=packet)

    def _receive(self, member: Address, message: sequencer.Data, number: int) -> Happened:
        stream = self.streams[message.view_id]
        self.streams[message.view_id] = vs.receive(stream, member, number)
        return self.group.happen(
            member,
            sequencer.DataReceived(stream.view.coordinator, message),
            action="ReceiveData",
            given=Fn({"view": message.view_id.counter, "index": number}),
        )

    def happened(self, member: Address, event: object, outcome: str) -> None:
        """A view that was installed can be multicast in; what the application multicasts is counted."""
        match event:
            case sequencer.ViewInstalled(view) if outcome == "handled":
                self.streams.setdefault(view.id, vs.stream(view))
                if self.synchrony != "none":
                    self._discard(member, view)
            case sequencer.SendRequested() if outcome == "handled":
                self.sent[member] += 1

    def _discard(self, member: Address, view: View) -> None:
        """What is left of the views before reaches a member no more."""
        self.group.flight = [
            copy
            for copy in self.group.flight
            if copy.to != member
            or not isinstance(copy.message, sequencer.Data)
            or copy.message.view_id.counter >= view.id.counter
        ]

    def passed_down(self, member: Address, event: object) -> None:
        """SEQUENCER passes nothing down but messages."""

    def passed_up(self, member: Address, event: object, cause: object) -> None:
        """A delivery, of a multicast or of a unicast."""
        if not isinstance(event, sequencer.Deliver):
            return
        if isinstance(cause, sequencer.DataReceived):
            view = self.group.states[member].view.id.counter
            self.delivered[member] += (Delivery(event.sender, cast("int", event.payload), view),)
        else:
            self.plain[member] += (f"{event.sender}{event.payload}",)

    def crashed(self, member: Address) -> None:
        """What a member sent may arrive after its death."""

    def renewed(self, member: Address) -> None:
        """A new incarnation has received and delivered nothing; what was sent to the former one is gone."""
        self.delivered[member] = self.plain[member] = ()
        self.stops[member] = "no"
        self.streams = {view_id: vs.forget(stream, member) for view_id, stream in self.streams.items()}
        self.group.flight = [copy for copy in self.group.flight if copy.to != member]

    def observe(self, member: Address, name: str) -> Any:  # noqa: ANN401
        """What a member delivered, what unicasts it got, what is in its table: `C5`, C's with payload 5."""
        match name:
            case "delivered":
                return tuple(f"{delivery.sender}{delivery.payload}" for delivery in self.delivered[member])
            case "plain":
                return self.plain[member]
            case _:
                return tuple(f"{member}{entry.payload}" for entry in self.group.states[member].forward_table)

    def values(self) -> Mapping[str, Value]:
        """What is delivered, and what did not come back yet."""
        names = [name for name in self.observables if name != "plain" or any(self.plain.values())]
        return {name: Fn({m: self.observe(m, name) for m in self.group.members}) for name in names}

    # Walks: a method for each action of `SequencerGroup`


def _short(view: View) -> str:
    return f"{view.id.creator}|{view.id.counter}"


_LEGEND: Final = (
    "Time runs downwards, a lane is a member. Arrows are messages, brackets are what happens; below",
    "stands what the member does about it (-->: a message to one, -->>: to everybody), then what changed.",
    "Everybody sends to the coordinator (FORWARD), which multicasts in the order that it gives (DATA).",
    "table.A: what A has sent and did not come back yet. delivered.A: what its application got (B1: B's",
    "first), in order.",
)


def story(seed: int) -> Story:
    """Three senders; the coordinator dies with some messages ordered and some not; another takes over."""
    chance = random.Random(seed)  # noqa: S311 - a story, no secret
    group = Group(mapping.load("sequencer"), ("A", "B", "C"))
    around = group.around
    assert isinstance(around, SequencerSurroundings)  # noqa: S101 - for mypy
    first, second = View(ViewId(1, "A"), ("A", "B", "C")), View(ViewId(2, "B"), ("B", "C"))

    def deliver(limit: int | None = None) -> None:
        """Deliver what can be, in any order, `limit` copies at most."""
        delivered = 0
        while delivered != limit and (ready := [copy for copy in group.flight if _ready(group, copy)]):
            group.deliver(chance.choice(ready))
            delivered += 1

    around.begin({"view": first})
    group.log.clear()
    group.note("Init", "")
    for sender in chance.sample(["A", "B", "B", "C", "C"], 5):
        group.happen(sender, sequencer.SendRequested(Payload(around.sent[sender] + 1)))
        deliver(chance.randint(0, 2))
    deliver(chance.randint(2, 5))
    group.crash("A")
    # The layer below sees to it that B and C have received the same before they install the next view.
    stream = around.streams[first.id]
    longest = max((around.observe(member, "delivered") for member in "BC"), key=len)
    for member in "BC":
        while around.observe(member, "delivered") != longest:
            group.deliver(next(copy for copy in group.flight if copy.to == member and _ready(group, copy)))
    kept = around.observe("B", "delivered")
    again = [f"{m}{entry.payload}" for m in "BC" for entry in group.states[m].forward_table]
    for member in "BC":
        group.happen(member, around.event(member, sequencer.ViewInstalled, {"view": second}))
    deliver()

    ordered = [f"{data.tag.sender}{data.payload}" for data in stream.messages]
    return Story(
        steps=tuple(map(shortened, group.log)),
        hidden=frozenset({"local", "time"}),
        legend=_LEGEND,
        closing=(
            f"What to see: A ordered {_listed(ordered)} and died. Of these B and C got {_listed(kept)}.",
            f"What was still in their tables, {_listed(again)}, they sent again, to B, which ordered it.",
            *(f"{member} has delivered {_listed(around.observe(member, 'delivered'))}." for member in "BC"),
        ),
    )


def _ready(group: Group, copy: Copy) -> bool:
    """Whether a copy can be delivered now to a member that is up."""
    return copy.to in group.up and bool(group.around.ready(copy.to, copy.sender, copy.message))


def _listed(names: Sequence[str]) -> str:
    return " ".join(names) or "nothing"


SURROUNDINGS: Final = SequencerSurroundings
