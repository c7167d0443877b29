"""What is around the members of STABLE in scenarios, and the story that the demonstration tells.

`StableSurroundings` does what the layer below and the membership service do when they are told to. Windows
and digests are those of `groupcomm.sim.reliable_multicast`.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import evolve, frozen

from groupcomm import stable
from groupcomm.digest import EMPTY_VECTOR, NOTHING, Vector
from groupcomm.sim import reliable_multicast as rm
from groupcomm.view import Address, View, ViewId
from groupcomm_conformance import mapping
from groupcomm_conformance.simulation import Copy, Group, Happened, Impossible, Story, shortened
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value


@frozen
class Data:
    """A copy of a multicast of the layer below; `bytes` of payload."""

    seqno: int
    bytes: int


class StableSurroundings:
    """The layer below and the membership service of a scenario's group."""

    config = stable.Config(max_bytes=0, stable_interval=1000, stability_delay=100)
    given: Mapping[str, Any] = {"view": View, "delivered": Vector}
    deeds: Mapping[str, Mapping[str, Any]] = {
        "MulticastData": {"bytes": int},
        "Retransmit": {"sender": Address, "seqno": int, "holder": Address},
        "Join": {"view": View},
    }
    observables: Mapping[str, Any] = {
        "delivered": Vector,
        "received": Vector,
        "purged": Vector,
        "store": Mapping[Address, frozenset[int]],
    }
    messages: Mapping[str, type] = {"STABLE": stable.Stable, "STABILITY": stable.Stability, "DATA": Data}

    def __init__(self, group: Group) -> None:
        self.group = group
        self.rm: dict[Address, rm.Windows] = {member: {} for member in group.members}
        self.start = EMPTY_VECTOR

    def begin(self, given: Mapping[str, Any]) -> None:
        """Everybody in the first view has delivered the same."""
        if "view" not in given:
            if "delivered" in given:
                raise Impossible("nothing is delivered before there is a view")
            return
        view: View = given["view"]
        delivered: Vector = given.get("delivered", EMPTY_VECTOR)
        for member in view.members:
            windows = {s: evolve(rm.window(), delivered=delivered.get(s, NOTHING)) for s in view.members}
            self.rm[member] = windows
            event = stable.ViewInstalled(view, rm.digest_of(windows))
            self.group.happen(member, event)

    def supplied(self, event: type) -> Mapping[str, Any]:
        """The layer's digest; a message has one byte unless it is said to have more."""
        if event is stable.MessageReceived:
            return {"size": 1}
        return {"digest": None} if event in (stable.ViewInstalled, stable.StabilityReceived) else {}

    def event(self, member: Address, event: type, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """The event, with the digest that the layer below has."""
        if "digest" in fields or "digest" not in self.supplied(event):
            return event(**{**self.supplied(event), **fields})
        windows = self.rm[member]
        if event is stable.ViewInstalled:
            windows = rm.install_windows(windows, fields["view"].members)
        return event(**fields, digest=rm.digest_of(windows))

    def do(self, member: Address, deed: str, fields: Mapping[str, Any]) -> Happened | None:
        """What the layer below and the membership service do at a member."""
        match deed:
            case "MulticastData":
                return self._multicast(member, fields.get("bytes", 1))
            case "Retransmit":
                return self._retransmit(member, **fields)
            case _:
                return self._join(member, fields["view"])

    def _multicast(self, member: Address, size: int) -> Happened:
        windows = self.rm[member]
        if member not in windows:
            raise Impossible(f"{member} is in no view: it has nobody to multicast to")
        data = Data(windows[member].delivered + 1, size)
        for to in self.group.states[member].view.members:
            if to != member and to in self.group.up:
                self.group.send(member, to, data)
        return self._add("MulticastData", member, member, data, {"seqno": data.seqno})

    def _retransmit(self, member: Address, sender: Address, seqno: int, holder: Address) -> Happened:
        self.group.require_up(holder)
        if sender not in self.rm[holder] or not rm.holds(self.rm[holder][sender], seqno):
            raise Impossible(f"the store of {holder} does not hold {sender}'s message {seqno}")
        if sender not in self.rm[member] or not rm.lacks(self.rm[member][sender], seqno):
            raise Impossible(f"{member} does not lack {sender}'s message {seqno}")
        given: dict[str, Value] = {"sender": sender, "seqno": seqno, "holder": holder}
        return self._add("Retransmit", member, sender, Data(seqno, 1), given)

    def _add(
        self, action: str, member: Address, sender: Address, data: Data, given: Mapping[str, Value]
    ) -> Happened:
        windows = self.rm[member]
        self.rm[member] = {**windows, sender: rm.add(windows[sender], data.seqno)}
        event = stable.MessageReceived(data.bytes)
        return self.group.happen(member, event, action=action, given=Fn(given))

    def _join(self, member: Address, view: View) -> Happened:
        """The joiner starts with the digest that was taken last; an incarnation that it had is gone."""
        if self.start == EMPTY_VECTOR:
            raise Impossible(f"nobody has taken a digest for {member} (DigestPromised)")
        self.group.renew(member)
        # Windows of two incarnations are never mixed: that is the layer's promise.
        self.group.flight = [
            copy for copy in self.group.flight if copy.sender != member or not isinstance(copy.message, Data)
        ]
        self.rm[member] = rm.join_windows(self.start, view.members)
        event = stable.ViewInstalled(view, rm.digest_of(self.rm[member]))
        given = Fn({"start": self.group.protocol.codec.to_spec(self.start)})
        return self.group.happen(member, event, action="Join", given=given)

    def timer(self, name: str) -> Any:  # noqa: ANN401
        """The event of a timer."""
        return {"stable": stable.StableTimeout, "stability": stable.StabilityTimeout}[name]()

    def multicast(self, member: Address, message: object) -> None:
        """A copy for everybody that is up."""
        for to in self.group.members:
            if to in self.group.up:
                self.group.send(member, to, message)

    def refuses(self, fault: str, copy: Copy) -> str:
        """Copies may be lost and doubled, but a member's own is never lost."""
        if fault == "drop" and copy.sender == copy.to:
            return f"what {copy.to} sends to itself always comes back to it (DLV-04)"
        return ""

    def ready(self, member: Address, sender: Address, message: object) -> bool:
        """Data waits until the receiver has a view with its sender in it."""
        return not isinstance(message, Data) or sender in self.rm[member]

    def arrived(self, member: Address, sender: Address, message: object) -> Happened:
        """What an arriving message is to its receiver."""
        match message:
            case Data():
                given: dict[str, Value] = {"sender": sender, "seqno": message.seqno}
                if not rm.lacks(self.rm[member][sender], message.seqno):
                    self.group.note("Duplicate", member, Fn(given))
                    return Happened("ignored", ())
                return self._add("ReceiveData", member, sender, message, given)
            case stable.Stable():
                return self.group.happen(member, stable.StableReceived(sender, message))
            case stable.Stability():
                digest = rm.digest_of(self.rm[member])
                return self.group.happen(member, stable.StabilityReceived(sender, message, digest))
        error = f"{message!r} is no message of STABLE"
        raise TypeError(error)

    def happened(self, member: Address, event: object, outcome: str) -> None:
        """A view that was installed, and the digest that a joiner gets."""
        match event:
            case stable.ViewInstalled(view, _) if outcome == "handled":
                self.rm[member] = {s: self.rm[member].get(s) or rm.window() for s in view.members}
            case stable.DigestPromised(_) if outcome == "handled":
                self.start = rm.digest_of(self.rm[member]).delivered
            case stable.PromiseWithdrawn(_) if outcome == "handled":
                self.start = EMPTY_VECTOR

    def passed_down(self, member: Address, event: object) -> None:
        """A purge."""
        if isinstance(event, stable.Purge):
            self.rm[member] = rm.purge(self.rm[member], event.digest)

    def passed_up(self, member: Address, event: object, cause: object) -> None:
        """STABLE passes nothing up."""

    def crashed(self, member: Address) -> None:
        """A digest that a member took for a joiner dies with it, as long as no view has the joiner."""
        if self.group.states[member].promised:
            self.start = EMPTY_VECTOR

    def renewed(self, member: Address) -> None:
        """A new incarnation has no windows."""
        self.rm[member] = {}

    def observe(self, member: Address, name: str) -> Any:  # noqa: ANN401
        """What the layer below has."""
        windows = self.rm[member]
        match name:
            case "purged":
                return Vector(tuple((sender, window.purged) for sender, window in windows.items()))
            case "store":
                return {
                    sender: frozenset(n for n in range(window.received + 1) if rm.holds(window, n))
                    for sender, window in windows.items()
                }
            case _:
                return getattr(rm.digest_of(windows), name)

    def values(self) -> Mapping[str, Value]:
        """What is delivered and purged, and what a joiner was given."""
        return {
            "delivered": self.group.protocol.codec.to_spec(
                {m: self.observe(m, "delivered") for m in self.group.members}
            ),
            "purged": self.group.protocol.codec.to_spec(
                {m: self.observe(m, "purged") for m in self.group.members}
            ),
            "start": self.group.protocol.codec.to_spec(self.start),
        }


_LEGEND: Final = (
    "Time runs downwards, a lane is a member. Arrows are messages (x: lost), brackets are what happens;",
    "below stands what the member does about it (-->>: a message to everybody), then what changed.",
    "delivered.A.B: how far A has delivered B's messages (seqnos count from 0, -1: none yet).",
    "heard_from.A: whose votes A still waits for. start: what the joiner is told to start after.",
)


def story(seed: int) -> Story:
    """Some multicasts, a joiner, a round of votes, one of them lost, and the purge."""
    chance = random.Random(seed)  # noqa: S311 - a story, no secret
    group = Group(
        mapping.load("stable"),
        ("A", "B", "C"),
        # With a limit bytes are counted: a multicast is something that STABLE takes notice of.
        config=evolve(StableSurroundings.config, max_bytes=1000),
        delay=lambda _member, timer: chance.randint(timer.low, timer.high),
    )
    first, second = View(ViewId(1, "A"), ("A", "B")), View(ViewId(2, "A"), ("A", "B", "C"))

    def deliver(wanted: Callable[[Copy], bool]) -> None:
        """Deliver what is in flight and wanted, in any order."""
        while ready := [copy for copy in group.flight if wanted(copy)]:
            group.deliver(chance.choice(ready))

    group.around.begin({"view": first})
    group.log.clear()
    group.note("Init", "")
    for sender in chance.sample(["A", "A", "B"], 3):
        group.around.do(sender, "MulticastData", {})
    deliver(lambda _: True)
    # C joins: it starts after what A has delivered by now.
    group.happen("A", stable.DigestPromised("C"))
    for member in ("A", "B"):
        group.happen(member, group.around.event(member, stable.ViewInstalled, {"view": second}))
    group.around.do("C", "Join", {"view": second})
    group.around.do("C", "MulticastData", {})
    deliver(lambda _: True)
    # Everybody votes. One vote reaches nobody but its author.
    group.advance(group.config.stable_interval)
    unlucky = chance.choice(group.members)
    for other in group.members:
        if other != unlucky:
            group.drop(group.copy("STABLE", unlucky, other))
    deliver(lambda _: True)
    # It alone has heard everybody, and says so after its delay.
    group.advance(group.config.stability_delay)
    deliver(lambda _: True)

    agreed = group.around.observe("A", "purged")
    others = " and ".join(member for member in group.members if member != unlucky)
    return Story(
        steps=tuple(map(_drawable, group.log)),
        hidden=frozenset({"local"}),
        legend=_LEGEND,
        closing=(
            f"What to see: {others} never got {unlucky}'s vote, so they cannot tell what everybody has.",
            f"{unlucky} heard all three and announced {_seqnos(agreed)}.",
            "Everybody has delivered that much (C was told to start after it), so all three have purged it.",
            "C's own message stays in the stores: this round's votes were fixed before it came.",
        ),
    )


def _drawable(state: State) -> State:
    """The state with what the story is about as variables of their own."""
    local = state.values["local"]
    assert isinstance(local, Fn)  # noqa: S101 - so the group logs it
    heard = Fn({member: item["heard_from"] for member, item in local.items() if isinstance(item, Fn)})
    kept = {name: state.values[name] for name in ("act", "local", "delivered", "purged", "start")}
    return shortened(evolve(state, values=Fn({**kept, "heard_from": heard})))


def _seqnos(vector: Vector) -> str:
    return ", ".join(f"{member}: {seqno}" for member, seqno in vector.items())


SURROUNDINGS: Final = StableSurroundings
