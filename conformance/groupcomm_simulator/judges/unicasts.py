"""`ReliableUnicast`, judged at each unicast that a layer sends or hears; in the end, all have arrived.

The layers above UNICAST assume these claims, and no more. A later incarnation of an address may be given some
of the messages to a former incarnation. Messages to a member from before a view without it need not arrive.
Nor need those from before a report that a process outside the view is silent. In the end no message is kept
for a process that is gone.
"""

from collections.abc import Iterator
from typing import Any

from groupcomm.view import Address

from .claims import Judge, Verdicts
from .membership import Process


class _Pair:
    """The messages of a process to an address: `sent`, counted from `first` on.

    `reached`: how many of them some incarnation of the address has heard. `at`: up to where each incarnation
    has. `closed`: counts of the messages sent before a view without the address was installed, or before a
    report that the address is silent, with such a view.
    """

    __slots__ = ("at", "closed", "first", "reached", "sent")

    def __init__(self) -> None:
        self.first = 0
        self.sent: list[Any] = []
        self.reached = 0
        self.at: dict[Process, int] = {}
        self.closed: set[int] = set()

    @property
    def count(self) -> int:
        return self.first + len(self.sent)

    @property
    def owed(self) -> int:
        """How much of it need not arrive any more, or has: what is beyond is on its way."""
        return max(self.reached, max(self.closed, default=0))


class ReliableUnicast(Judge):
    """Between two incarnations each unicast arrives once, in sending order; none is left out, none forged."""

    def __init__(self, verdicts: Verdicts) -> None:
        super().__init__(verdicts)
        self._pairs: dict[tuple[Process, Address], _Pair] = {}
        self._known: dict[int, tuple[Process, Address, int]] = {}  # by the identity of what is sent
        self._members: dict[Process, frozenset[Address]] = {}
        self._latest: dict[tuple[Process, Address], Process] = {}  # the incarnation heard last

    def sent(self, process: Process, to: Address, message: object) -> None:
        """A layer of a process sends a message, an object of its own."""
        pair = self._pairs.setdefault((process, to), _Pair())
        self._known[id(message)] = process, to, pair.count
        pair.sent.append(message)

    def delivered(self, process: Process, sender: Address, message: object) -> None:
        """A process is given a message, said to be a sender's."""
        known = self._known.get(id(message))
        self._judged("NotForged")
        if known is None or known[0].address != sender or known[1] != process.address:
            self._fail("NotForged", f"{process} hears {message} of {sender}, which never sent it this")
            return
        by, _, number = known
        latest = self._latest.get((process, sender), by)
        self._judged(*(["LivesInOrder"] if by.life else []))
        if by.order < latest.order:
            self._fail("LivesInOrder", f"{process} hears {message} of {by} after it has heard {latest}")
        self._latest[process, sender] = by
        pair = self._pairs[by, process.address]
        here = pair.at.get(process)
        if here is not None:
            self._judged("Once", "InOrder")
        if here is not None and number == here - 1:
            self._fail("Once", f"{process} hears {message} of {by} twice")
        if here is not None and number < here:
            self._fail("InOrder", f"{process} hears {message} of {by}, which was before what it has heard")
        # A first incarnation hears all, as none has heard before it. A later one may hear again what the former heard,
        # and begins no later.
        due = pair.reached if here is None else here
        self._judged("NoMessageLost")
        if number > due and number not in pair.closed:
            self._fail("NoMessageLost", f"{process} hears {message} of {by}; it lacks {pair.sent[due - pair.first]}")
        pair.at[process] = number + 1
        pair.reached = max(pair.reached, number + 1)

    def installed(self, process: Process, members: frozenset[Address]) -> None:
        """A process installs a view: its messages to former members that are not in it need not arrive."""
        gone = self._members.get(process, frozenset()) - members
        self._members[process] = members
        for address in gone:
            self._closes(process, address)

    def reported(self, process: Process, peer: Address) -> None:
        """A process hears that another is silent: if its view is without it, its messages need not arrive."""
        members = self._members.get(process, frozenset())
        if members and peer not in members:
            self._closes(process, peer)

    def _closes(self, process: Process, address: Address) -> None:
        pair = self._pairs.get((process, address))
        if pair is not None:
            pair.closed.add(pair.count)

    def waits(self, process: Process, to: Address) -> bool:
        """Say whether something that a process has sent to an address has yet to arrive there."""
        pair = self._pairs.get((process, to))
        return pair is not None and pair.owed < pair.count

    def waiting(self) -> Iterator[tuple[Process, Address, Any]]:
        """List the messages of live processes that have yet to arrive."""
        for (process, to), pair in self._pairs.items():
            if process.up and pair.owed < pair.count:
                for message in pair.sent[pair.owed - pair.first :]:
                    yield process, to, message

    def quiet(self, current: dict[Address, Process]) -> None:
        """Nothing is on its way: no process waits for what is kept."""
        for (process, to), pair in self._pairs.items():
            self._judged(*(["UnicastsArrive"] if pair.sent and process.up and current[to].up else []))
        for process, to, message in self.waiting():
            if current[to].up:
                self._fail("UnicastsArrive", f"{message} of {process} never reaches {current[to]}")

    def keeps(self, process: Process, peer: Process, count: int) -> None:
        """Nothing is on its way: a process still keeps messages for another."""
        self._judged("NothingKeptForEver")
        if count and not peer.up:
            self._fail("NothingKeptForEver", f"{process} sends {count} messages for ever to {peer}, which is gone")

    def forget(self, current: dict[Address, Process]) -> None:
        """Nothing is on its way: forget arrived messages and processes that are gone."""
        self._pairs = {pair: sent for pair, sent in self._pairs.items() if pair[0].up}
        self._latest = {pair: latest for pair, latest in self._latest.items() if pair[0].up}
        self._members = {process: members for process, members in self._members.items() if process.up}
        for (_, to), pair in self._pairs.items():
            if current[to].up:
                pair.first = pair.count
                pair.sent.clear()
                pair.at = {process: at for process, at in pair.at.items() if process.up}
                pair.closed = {count for count in pair.closed if count == pair.first}
        self._known = {
            id(message): (process, to, number)
            for (process, to), pair in self._pairs.items()
            for number, message in enumerate(pair.sent, pair.first)
        }
