"""A group of real JGroups members, and the network between them, which is here: nothing arrives by itself."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any, Final

from attrs import frozen

from .jvm import Jvm

LONG: Final = 600_000
"""Milliseconds that no schedule waits unless it is about a timeout."""

_MOST_ARRIVALS: Final = 5_000


@frozen
class Installed:
    """A view as a member has it; its members by their letters."""

    counter: int
    creator: str
    members: str
    merged: bool = False

    @property
    def id(self) -> str:
        """Its identifier: `2/A`."""
        return f"{self.counter}/{self.creator}"

    def __str__(self) -> str:
        return f"{self.id}:{self.members}"

    @classmethod
    def of(cls, text: str) -> "Installed":
        """Make it of `2/A:ABC`."""
        name, members = text.split(":")
        counter, creator = name.split("/")
        return cls(int(counter), creator, members)

    def plain(self) -> dict[str, object]:
        """Give it as the driver takes it."""
        return {"counter": self.counter, "creator": self.creator, "members": list(self.members)}


@frozen
class Flight:
    """A copy of a message on its way.

    `headers`: the words in capitals of all of them, such as VIEW_ACK; `text`: all of them.
    """

    number: int
    by: str
    to: str
    headers: frozenset[str]
    text: str


Hold = Callable[[Flight], bool]
"""A condition: True for a copy that stays on its way."""


def mutual(views: Mapping[str, str]) -> bool:
    """Say whether all members of each member's view are in a view of the same members."""
    return all(views[other] == view for view in views.values() for other in view)


def _nothing(_flight: Flight) -> bool:
    return False


class Group:
    """Members A, B, ... of a version.

    `layers` are FLUSH, SEQUENCER, MFC and STABLE where they are wanted, in the order of JGroups' own stacks; GMS
    and the reliable multicast are always there. Times are in milliseconds; `flush_start` is how
    long a flush waits for all, `gossip` the average time between two digests of STABLE (0: none is sent).
    `credit` is what MFC has a sender multicast without credit, in bytes.
    `multicast` stands in for the version's own reliable multicast.
    """

    def __init__(
        self,
        jvm: Jvm,
        members: int,
        *layers: str,
        join: int = LONG,
        leave: int = LONG,
        merge: int = LONG,
        acks: int = LONG,
        bundle: int = 0,
        flush_start: int = LONG,
        gossip: int = 0,
        credit: int = 0,
        multicast: str = "",
    ) -> None:
        version = jvm.version
        multicast = multicast or version.multicast
        stable = [layer for layer in layers if layer == "STABLE"]
        stack = [*(layer for layer in layers if layer != "STABLE"), "GMS", *stable, multicast]
        options: dict[str, object] = {
            "GMS.print_local_addr": False,
            "GMS.join_timeout": join,
            "GMS.leave_timeout": leave,
            "GMS.merge_timeout": merge,
            "GMS.view_ack_collection_timeout": acks,
            f"{multicast}.use_mcast_xmit": False,
            "STABLE.desired_avg_gossip": gossip,
            "STABLE.max_bytes": 1_000_000,
            "FLUSH.timeout": LONG,
            "FLUSH.start_flush_timeout": flush_start,
            "FLUSH.end_flush_timeout": 300,
            "FLUSH.retry_timeout": 300,
            "MFC.max_credits": credit,
        }
        if version.line < _NO_BUNDLING_SINCE:
            options |= {"GMS.view_bundling": bundle > 0, "GMS.max_bundling_time": bundle}
        self._jvm = jvm
        self.names = [chr(ord("A") + number) for number in range(members)]
        self.sent: dict[int, Flight] = {}
        self.log: list[dict[str, Any]] = []
        self.views: dict[str, list[Installed]] = defaultdict(list)
        self.delivered: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.dead: set[str] = set()
        self.cut: set[tuple[str, str]] = set()
        self._flying: dict[tuple[int, str], Flight] = {}
        self.do("group", members=members, layers=stack, options=options)

    # Commands

    def do(self, command: str, **fields: object) -> object:
        """Give a command; what it leads to is noted. Raises JvmError."""
        result, events = self._jvm.ask({"do": command, **fields})
        for event in events:
            self._note(event)
        return result

    def _note(self, event: dict[str, Any]) -> None:
        self.log.append(event)
        member = event["member"]
        match event["kind"]:
            case "sent":
                headers, to = frozenset(event["headers"]), event["to"]
                for each in self.names if to is None else [to]:
                    flight = Flight(event["number"], member, each, headers, event["text"])
                    self._flying[flight.number, each] = flight
            case "installed":
                view = event["view"]
                self.views[member].append(
                    Installed(view["counter"], view["creator"], "".join(view["members"]), view["merged"])
                )
            case "deliver":
                self.delivered[member].append((event["sender"], event["payload"]))

    def happened(self, kind: str, member: str) -> bool:
        """Say whether such an event has happened at a member: `connected`, `left`, `stopped`."""
        return any(event["kind"] == kind and event["member"] == member for event in self.log)

    def said(self, header: str) -> bool:
        """Say whether a message with such a header has been sent."""
        return any(event["kind"] == "sent" and header in event["headers"] for event in self.log)

    def view(self, member: str) -> Installed | None:
        """The view that a member is in."""
        return self.views[member][-1] if self.views[member] else None

    def shown(self, members: Iterable[str]) -> str:
        """The views of some, as text."""
        return ", ".join(f"{member} {self.view(member)}" for member in members)

    def had(self, member: str, sender: str) -> list[str]:
        """The payloads of a sender that a member has delivered, in order."""
        return [payload for by, payload in self.delivered[member] if by == sender]

    def connect(self, member: str, found: str | None = None) -> None:
        """Have a member join; discovery finds a coordinator, or none."""
        self.do("connect", member=member, found=found)

    def leave(self, member: str) -> None:
        """Have a member ask to leave."""
        self.do("leave", member=member)

    def send(self, member: str, payload: str) -> None:
        """Have an application multicast."""
        self.do("send", member=member, payload=payload)

    def suspect(self, members: Iterable[str], of: str) -> None:
        """Have the failure detectors of some report one."""
        for member in members:
            self.do("suspect", member=member, of=of)

    def crash(self, member: str, *, lost: bool = True) -> None:
        """Crash a member; what it has on its way is lost, or stays."""
        self.do("crash", member=member)
        self.dead.add(member)
        if lost:
            self.lose(by=member)

    def install(self, *views: str) -> None:
        """Have all members of these views install them, as when they had parted."""
        for text in views:
            view = Installed.of(text)
            for member in view.members:
                self.do("install", member=member, view=view.plain())

    def merge(self, leader: str, **views: str) -> None:
        """Have merging notify a coordinator of the views that members have."""
        self.do("merge", member=leader, views={name: Installed.of(view).plain() for name, view in views.items()})

    def blocked(self, member: str) -> bool:
        """Say whether a member's latch is closed."""
        return self.do("blocked", member=member) is True

    def kept(self, member: str) -> int:
        """Count the messages that a member's reliable multicast keeps."""
        return int(str(self.do("kept", member=member)))

    def advance(self, milliseconds: int) -> None:
        """Let time pass."""
        self.do("advance", ms=milliseconds)

    # The network

    def flying(self, header: str | None = None, by: str | None = None, to: str | None = None) -> list[Flight]:
        """List the copies on their way, the oldest first, that have a header, a sender, a receiver."""
        return [
            flight
            for flight in self._flying.values()
            if (header is None or header in flight.headers) and by in (None, flight.by) and to in (None, flight.to)
        ]

    def take(self, flights: Iterable[Flight]) -> list[Flight]:
        """Take copies out of the network, to lose them or to receive them later."""
        taken = list(flights)
        for flight in taken:
            self._flying.pop((flight.number, flight.to), None)
        return taken

    def receive(self, flight: Flight) -> None:
        """Have a copy arrive."""
        self.take([flight])
        if flight.to not in self.dead:
            self.do("receive", message=flight.number, to=flight.to)

    def give(self, header: str | None = None, by: str | None = None, to: str | None = None) -> None:
        """Have arrive what is on its way now, and not what follows from it."""
        for flight in self.flying(header, by, to):
            self.receive(flight)

    def lose(self, header: str | None = None, by: str | None = None, to: str | None = None) -> None:
        """Lose what is on its way now."""
        self.take(self.flying(header, by, to))

    def arrive(self, hold: Hold = _nothing, random: Random | None = None, most: int = _MOST_ARRIVALS) -> int:
        """Have all arrive, and what follows from it, in order or at random; return how many copies did."""
        for count in range(most):
            ready = [
                flight
                for flight in self._flying.values()
                if flight.to not in self.dead and (flight.by, flight.to) not in self.cut and not hold(flight)
            ]
            if not ready:
                return count
            self.receive(random.choice(ready) if random else ready[0])
        return most

    def part(self, links: Iterable[tuple[str, str]]) -> None:
        """Have the two of each link hear nothing of each other, and report that; then let time pass."""
        for one, other in links:
            self.cut |= {(one, other), (other, one)}
        for one, other in sorted(self.cut):
            self.suspect(one, other)
        self.settle(10, 300)

    def heal(self) -> None:
        """End all cuts, and lose what they held. Merging notifies each coordinator of all views; then let time pass."""
        self.lose()
        self.cut = set()
        views = {name: str(self.view(name)) for name in self.names}
        for leader in [name for name in self.names if views[name].partition(":")[2].startswith(name)]:
            self.merge(leader, **views)
        self.settle(20, 500)

    def settle(self, rounds: int = 4, each: int = 100, hold: Hold = _nothing) -> None:
        """Have all arrive and time pass by turns."""
        for _ in range(rounds):
            self.arrive(hold)
            self.advance(each)
        self.arrive(hold)

    def found(self, members: str) -> None:
        """Have members form a group, one after the other."""
        for member in members:
            self.connect(member, None if member == members[0] else members[0])
            for _ in range(60):
                self.settle(1)
                if self.happened("connected", member):
                    break
            else:
                raise AssertionError(f"{member} has not joined: {self.shown(members)}")
            self.settle(3)


_NO_BUNDLING_SINCE: Final = 5
