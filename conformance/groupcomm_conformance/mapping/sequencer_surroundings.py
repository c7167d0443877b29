"""What is around the members of SEQUENCER: the layers below, the membership service, and the application.

`SequencerSurroundings` serves scenarios, which say what happens in words of their own, and walks of the
specification, which name its actions: each action of `SequencerGroup` is a method. Both go through the same
`simulation.Group`. Multicasts and views are those of `groupcomm.sim.view_synchrony`; unicasts on their way
are the copies in flight.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

from attrs import evolve, frozen

from groupcomm import sequencer
from groupcomm.events import Payload
from groupcomm.sim import view_synchrony as vs
from groupcomm.view import Address, View, ViewId
from groupcomm_conformance import mapping
from groupcomm_conformance.simulation import Act, Copy, Group, Happened, Impossible, Story, shortened
from groupcomm_conformance.tla.values import Fn, Value

from . import MappingError

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

    def resume(self, constants: Mapping[str, Value], initial: Fn) -> None:
        """The group in an initial state of the specification, made by the core's own first steps."""
        if constants["Lingers"] is not True:
            raise MappingError("in the simulated group who is left out lives on: Lingers TRUE, not FALSE")
        self.synchrony = self._of(constants["ViewSynchrony"], str)
        self.unicast = self._of(constants["Unicast"], str)
        self.history = len(self._of(initial["closed"], tuple[int, ...]))
        local = initial["local"]
        assert isinstance(local, Fn)  # noqa: S101 - so it is in every state of a group's specification
        for member in self.group.members:
            state = self._of(local[member], sequencer.State)
            if state.joined:
                self.group.happen(member, sequencer.ViewInstalled(state.view))

    # Events and copies

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

    def variables(self) -> Mapping[str, Value]:
        """The variables of `SequencerGroup`, without `local` and `act`."""
        members, counters = self.group.members, range(1, self.history + 1)
        streams = {stream.view.id.counter: stream for stream in self.streams.values()}
        to_spec = self.group.protocol.codec.to_spec
        wires: dict[tuple[Address, Address], tuple[Value, ...]] = {}
        for copy in self.group.flight:
            if not isinstance(copy.message, sequencer.Data):
                pair = copy.sender, copy.to
                wires[pair] = (*wires.get(pair, ()), to_spec(copy.message))

        def got(member: Address, k: int) -> Value:
            return streams[k].received.get(member, frozenset()) if k in streams else frozenset()

        return {
            "log": tuple(to_spec(streams[k].messages) if k in streams else () for k in counters),
            "closed": tuple(streams[k].settled if k in streams else vs.OPEN for k in counters),
            "got": Fn({member: tuple(got(member, k) for k in counters) for member in members}),
            "wire": Fn({f: Fn({t: wires.get((f, t), ()) for t in members}) for f in members}),
            "up": frozenset(self.group.up),
            "due": frozenset(),
            "looked": Fn(dict.fromkeys(members, 0)),
            "stops": Fn(dict(self.stops)),
            "spent": Fn(dict(self.spent)),
            "aux_sent": Fn(dict(self.sent)),
            "aux_delivered": Fn(
                {m: tuple((d.sender, d.payload, d.view) for d in told) for m, told in self.delivered.items()}
            ),
        }

    def app_sends(self, act: Act) -> None:
        self.group.happen(
            act.member, sequencer.SendRequested(Payload(self.sent[act.member] + 1)), action="AppSends"
        )

    def app_unicasts(self, act: Act) -> None:
        self.spent["unicasts"] += 1
        to = self._of(act.event["to"], str)
        event = sequencer.UnicastRequested(to, Payload(self.sent[act.member]))
        self.group.happen(act.member, event, action="AppUnicasts")

    def receive_forward(self, act: Act) -> None:
        self._take(act)

    def receive_plain(self, act: Act) -> None:
        self._take(act)

    def _take(self, act: Act) -> None:
        copy = self._unicast(act)
        if not self.ready(copy.to, copy.sender, copy.message):
            raise MappingError(f"another unicast from {copy.sender} to {copy.to} comes first")
        self.group.flight.remove(copy)
        self.arrived(copy.to, copy.sender, copy.message)

    def duplicate_forward(self, act: Act) -> None:
        copy = self._unicast(act)
        self.spent["duplicates"] += 1
        again = sequencer.ForwardReceived(copy.sender, copy.message)
        self.group.happen(act.member, again, action="DuplicateForward")

    def lose_forward(self, act: Act) -> None:
        copy = self._unicast(act)
        self.group.flight.remove(copy)
        self.spent["lost"] += 1
        self.group.note("LoseForward", act.member, consumed=act.consumed)

    def receive_data(self, act: Act) -> None:
        stream, number = self._stream(act.given["view"]), self._of(act.given["index"], int)
        if number not in vs.pending(stream, act.member) or not self._in_turn(stream, act.member):
            raise MappingError(f"message {number} of view {act.given['view']} cannot reach {act.member}")
        self._receive(act.member, self._taken(stream, act.member, number), number)

    def lose_data(self, act: Act) -> None:
        stream, number = self._stream(act.given["view"]), self._of(act.given["index"], int)
        self._taken(stream, act.member, number)
        self.streams[stream.view.id] = vs.receive(stream, act.member, number)
        self.spent["lost"] += 1
        self.group.note("LoseData", act.member, act.given)

    def _taken(self, stream: Stream, member: Address, number: int) -> sequencer.Data:
        """A message of a stream, of which the copy in flight to a member is taken away."""
        message = stream.messages[number - 1]
        copy = next(c for c in self.group.flight if c.to == member and c.message is message)
        self.group.flight.remove(copy)
        return message

    def close_view(self, act: Act) -> None:
        stream, settled = self._stream(act.given["view"]), self._of(act.given["settled"], int)
        self.streams[stream.view.id] = evolve(stream, settled=settled)
        self.group.note("CloseView", "", act.given)

    def install_view(self, act: Act) -> None:
        stream = self.streams[self.group.states[act.member].view.id]
        if self.synchrony != "none" and not vs.complete(stream, act.member):
            raise MappingError(f"{act.member} has not received what is settled of {_short(stream.view)}")
        self.join(act)

    def join(self, act: Act) -> None:
        installed = sequencer.ViewInstalled(self._of(act.event["view"], View))
        self.group.happen(act.member, installed, action=act.action)

    def restart(self, act: Act) -> None:
        self.group.up.add(act.member)
        self.group.renew(act.member)
        self.group.note("Restart", act.member)

    def crash(self, act: Act) -> None:
        self.spent["crashes"] += 1
        self.group.crash(act.member)

    def ask_stop(self, act: Act) -> None:
        self.stops[act.member] = "asked"
        self.spent["stops"] += 1
        self.group.note("AskStop", act.member)

    def stop(self, act: Act) -> None:
        self.stops[act.member] = "gone"
        self.group.up.remove(act.member)
        self.group.flight = [copy for copy in self.group.flight if copy.to != act.member]
        self.group.note("Stop", act.member)

    def misuse(self, act: Act) -> None:
        self.spent["misuses"] += 1
        self.group.happen(act.member, self._of(act.event, sequencer.Event), action="Misuse")  # type: ignore[arg-type]

    def _unicast(self, act: Act) -> Copy:
        """The oldest copy in flight such as the step is about: the network decides, not the step."""
        (packet,) = act.consumed or [Fn({**act.event, "to": act.member})]
        message = self._of(packet["message"], sequencer.Message)  # type: ignore[arg-type]
        for copy in self.group.flight:
            if (copy.sender, copy.to, copy.message) == (packet["sender"], packet["to"], message):
                return copy
        raise MappingError(f"no such message from {packet['from']} to {packet['to']} is in flight")

    def _stream(self, counter: Value) -> Stream:
        for stream in self.streams.values():
            if stream.view.id.counter == counter:
                return stream
        raise MappingError(f"nobody has installed view {counter}")

    def _of(self, value: Value, wanted: type[Any]) -> Any:  # noqa: ANN401 - of that type
        return self.group.protocol.codec.from_spec(value, wanted)


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
