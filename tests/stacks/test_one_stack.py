"""The whole stack as one core: SEQUENCER, FLUSH, merging over GMS and STABLE in a `Stack`, over a plain network."""

from collections import Counter, deque
from typing import Any

from groupcomm import flush, gms, merge_gms, sequencer, stable
from groupcomm.digest import Digest, DigestEntry, Vector
from groupcomm.effects import Datagram, Multicast, PassDown, PassUp, Send
from groupcomm.events import (
    Block,
    Deliver,
    DigestGiven,
    DigestSet,
    GetDigest,
    Payload,
    Suspected,
    ViewInstalled,
)
from groupcomm.merge import WindowsAdded
from groupcomm.stack import Arrived, Called, Fired, Layer, Raised, Stack
from groupcomm.view import NO_VIEW, Address, View

GROUND = ("ReliableMulticast", "ReliableUnicast", "Network", "Membership", "JoinDigest")
"""What is beneath; for STABLE also the views, which it has from beneath, where those above it pass them down."""


class Member:
    """One process: a stack, and the layers below it in a few lines. Nothing is lost, all comes in one order."""

    def __init__(self, address: Address, network: "Network") -> None:
        self.address, self.network = address, network
        self.stack = Stack(
            (
                Layer.of(sequencer, sequencer.Config()),
                Layer.of(flush, flush.Config()),
                Layer.of(merge_gms, merge_gms.Config(1000, 3000, 500, 900)),
                Layer.of(stable, stable.Config(max_bytes=0, stable_interval=1000, stability_delay=0)),
            ),
            GROUND,
        )
        self.state = self.stack.start(address)
        self.view: View = NO_VIEW
        self.count: Counter[Address] = Counter()  # multicasts received, a sender
        self.timers: set[str] = set()
        self.delivered: list[tuple[Address, object]] = []
        self.views: list[tuple[Address, ...]] = []

    def does(self, event: Any) -> None:  # noqa: ANN401 - of a stack
        """A step, and what it asks of the layers below and of the application."""
        self.state, effects = self.stack.step(None, self.state, event)
        for effect in effects:
            match effect:
                case Multicast(message):
                    for member in self.view.members:
                        self.network.send(self.address, member, message, counts=True)
                case Send(to, message):
                    self.network.send(self.address, to, message)
                case Datagram():
                    pass  # lost, as a datagram may be
                case PassUp(Deliver(sender, payload)):
                    self.delivered.append((sender, payload))
                case PassUp(Block()):
                    self.does(Called(PassDown(flush.BlockReturned())))
                case PassUp(ViewInstalled(view)):
                    self.views.append(view.members)
                case PassDown(ViewInstalled(view)):
                    self.view = view
                    self.does(Raised(ViewInstalled(view), (self.digest(),), under="merge_gms"))
                case PassDown(GetDigest(asker, request)):
                    vector = Vector(tuple((m, self.count[m]) for m in self.view.members))
                    self.network.later(self.address, Raised(DigestGiven(asker, request, vector)))
                case PassDown(DigestSet(vector) | WindowsAdded(vector)):
                    self.count.update(dict(vector.items()))
                case _:
                    self.timers.add(getattr(effect, "name", ""))

    def digest(self) -> Digest:
        """What it has of each member."""
        return Digest((m, DigestEntry(0, self.count[m], self.count[m])) for m in self.view.members)

    def sends(self, text: str) -> None:
        """The application multicasts."""
        self.does(Called(Multicast(Payload(text))))
        self.network.runs()


class Network:
    """What is on its way, in one queue."""

    def __init__(self, addresses: str) -> None:
        self.members = {address: Member(address, self) for address in addresses}
        self.queue: deque[tuple[Address, Any]] = deque()

    def send(self, sender: Address, to: Address, message: Any, *, counts: bool = False) -> None:  # noqa: ANN401
        """A message is on its way; one that `counts` is a multicast."""
        self.queue.append((to, (sender, message, counts)))

    def later(self, to: Address, event: Any) -> None:  # noqa: ANN401
        """An event of the layers below, which is no message."""
        self.queue.append((to, event))

    def runs(self) -> None:
        """All arrives."""
        while self.queue:
            to, item = self.queue.popleft()
            member = self.members.get(to)
            if member is None:
                continue
            if isinstance(item, tuple):
                sender, message, counts = item
                member.count[sender] += counts
                event = Arrived(sender, message)
                below = (member.digest(),) if Digest in member.stack.takes(event) else ()
                item = Arrived(sender, message, below)
            member.does(item)

    def joins(self, address: Address, to: Address) -> None:
        """It asks a member to be let in; or founds a group."""
        self.members[address].does(Called(PassDown(gms.JoinRequested(to, 0))))
        self.runs()

    def crashes(self, address: Address) -> None:
        """It is gone, and all others are told."""
        del self.members[address]
        for member in self.members.values():
            member.does(Raised(Suspected(address)))
        self.runs()


def test_a_group_forms_talks_merges_with_another_and_loses_its_coordinator() -> None:
    network = Network("ABCD")
    a, b, c, d = network.members.values()
    for address, to in ("AA", "BA", "CC", "DC"):
        network.joins(address, to)
    assert [("A", "B"), ("A", "B"), ("C", "D"), ("C", "D")] == [m.views[-1] for m in (a, b, c, d)]
    b.sends("to A and B")
    d.sends("to C and D")

    a.does(Fired("merge_gms/discover", (frozenset("AC"),)))
    network.runs()
    assert {("A", "B", "C", "D")} == {m.views[-1] for m in (a, b, c, d)}
    d.sends("to all")
    assert [("B", "to A and B"), ("D", "to all")] == a.delivered == b.delivered
    assert [("D", "to C and D"), ("D", "to all")] == c.delivered == d.delivered

    network.crashes("A")
    c.sends("after A")
    assert {("B", "C", "D")} == {m.views[-1] for m in (b, c, d)}
    assert all(m.delivered[-1] == ("C", "after A") for m in (b, c, d))
