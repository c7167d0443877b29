"""Multicasts that all members of the sender's view receive, each sender's in order. `ReliableMulticast`.

A process keeps one `Window` per sender of its view. What is added to it is delivered as soon as there is no
gap before it (DLV-03); a member receives its own multicasts, like any other (DLV-04); only what was received
is in the store (DLV-05). A copy that is lost can be had from whoever has the message in its store. Seqnos
count a sender's multicasts from `FIRST_SEQNO`. Where views are synchronous, a message arrives in the view it
was multicast in, and what is beyond the cut with which a view ended is void: the seqnos of the next view go
on after the cut.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from groupcomm.digest import FIRST_SEQNO, NOTHING, Digest, DigestEntry, Vector

from .membership import Decided, NotAllowedError, Process

GIVES: Final = ("ReliableMulticast",)


class Window:
    """One sender's messages at one receiver. `ReliableMulticast!Window`.

    `low`: where it starts; not a purge. `delivered`: the highest seqno delivered. `ahead`: seqnos received
    behind a gap. `purged`: the highest seqno that stability let go.
    """

    __slots__ = ("ahead", "delivered", "low", "purged")

    def __init__(self, low: int = NOTHING) -> None:
        self.low = low
        self.delivered = low
        self.ahead: set[int] = set()
        self.purged = NOTHING

    @property
    def received(self) -> int:
        """The highest seqno received; never below `delivered` (STB-02)."""
        return max(self.ahead, default=self.delivered)

    def lacks(self, seqno: int) -> bool:
        """Whether it was neither delivered nor received. `ReliableMulticast!Lacks`."""
        return seqno > self.delivered and seqno not in self.ahead

    def holds(self, seqno: int) -> bool:
        """Whether the store can serve a retransmission. `ReliableMulticast!Holds`."""
        return seqno > self.low and seqno > self.purged and not self.lacks(seqno)

    def add(self, seqno: int) -> range:
        """Seqno arrives: the seqnos that are delivered now. `ReliableMulticast!Add`."""
        first = self.delivered + 1
        if seqno != first:
            if seqno > first:
                self.ahead.add(seqno)
            return range(0)
        reach, ahead = seqno, self.ahead
        while ahead and reach + 1 in ahead:
            reach += 1
            ahead.remove(reach)
        self.delivered = reach
        return range(first, reach + 1)


Log: TypeAlias = list[object]
Copy: TypeAlias = tuple[Process, Process, int, int]
"""A copy on its way: receiver, sender, the number of the view it was multicast in (-1: any), seqno."""

ANY_VIEW: Final = -1


class ReliableMulticast:
    """The windows of all processes, what each has multicast, and the first copies that are on their way.

    `per_view`: a message arrives in the view it was multicast in only.
    """

    def __init__(self, *, per_view: bool) -> None:
        self.per_view = per_view
        self.windows: dict[Process, dict[Process, Window]] = {}
        self.flying: set[Copy] = set()
        self._logs: dict[tuple[Process, int], Log] = {}
        self._first: dict[tuple[Process, int], int] = {}  # of each log, the seqno of its first message
        self._left: dict[
            tuple[Process, int], dict[Process, int]
        ] = {}  # what was delivered in a view that was left

    def next_seqno(self, sender: Process, view: Decided) -> int:
        """The seqno that the next multicast of a process in a view will have."""
        key = sender, view.number if self.per_view else ANY_VIEW
        return self._first.get(key, FIRST_SEQNO) + len(self._logs.get(key, ()))

    def cast(self, sender: Process, message: object) -> list[Copy]:
        """A process multicasts, in its view: the copies that are on their way now, one per member."""
        view = sender.view
        if view is None:
            raise NotAllowedError(f"{sender} multicasts and has no view")
        number = view.number if self.per_view else ANY_VIEW
        seqno = self.next_seqno(sender, view)
        self._logs.setdefault((sender, number), []).append(message)
        copies = [(process, sender, number, seqno) for process in view.processes]
        self.flying.update(copies)
        return copies

    def may_arrive(self, receiver: Process, sender: Process, seqno: int, holders: list[Process]) -> bool:
        """Whether a copy can arrive: the first one, or one of a member that has it in its store."""
        window = self.windows.get(receiver, {}).get(sender)
        view = receiver.view
        if (
            view is None
            or window is None
            or not window.lacks(seqno)
            or seqno >= self.next_seqno(sender, view)
        ):
            return False
        number = view.number if self.per_view else ANY_VIEW
        if (receiver, sender, number, seqno) in self.flying:
            return True
        return any(self.has(holder, sender, view, seqno) for holder in holders)

    def lacks(self, receiver: Process, sender: Process, seqno: int) -> bool:
        """Whether a process has not received a message of a sender in its view."""
        window = self.windows[receiver].get(sender)
        return window is not None and window.lacks(seqno)

    def has(self, holder: Process, sender: Process, view: Decided, seqno: int) -> bool:
        """Whether a process can retransmit a message of a view."""
        window = self.windows.get(holder, {}).get(sender)
        if self.per_view and holder.view is not view:
            left = self._left.get((holder, view.number))
            return (
                left is not None
                and seqno <= left.get(sender, NOTHING)
                and (window is None or window.holds(seqno))
            )
        return window is not None and window.holds(seqno)

    def arrive(self, receiver: Process, sender: Process, seqno: int) -> list[object]:
        """A copy arrives: the messages that are delivered now, in order."""
        window, log, first = self._arrived(receiver, sender, seqno)
        return [log[number - first] for number in window.add(seqno)]

    def arrive_out_of_order(self, receiver: Process, sender: Process, seqno: int) -> list[object]:
        """Weaker than the guarantee: a copy is delivered as it comes."""
        window, log, first = self._arrived(receiver, sender, seqno)
        new = window.lacks(seqno)
        window.add(seqno)
        return [log[seqno - first]] if new else []

    def skip(self, receiver: Process, sender: Process, seqno: int) -> list[object]:
        """Weaker than the guarantee: the receiver goes on without the message; what comes of that."""
        window, log, first = self._arrived(receiver, sender, seqno)
        return [log[number - first] for number in window.add(seqno) if number != seqno]

    def send_again(self, receiver: Process, sender: Process, view: Decided, seqno: int) -> Copy:
        """Another copy of a message of a view is on its way."""
        copy = receiver, sender, view.number if self.per_view else ANY_VIEW, seqno
        self.flying.add(copy)
        return copy

    def lose(self, copy: Copy) -> None:
        """A first copy will not arrive. NotAllowedError if it is not on its way."""
        if copy not in self.flying:
            raise NotAllowedError("no such copy is on its way")
        self.flying.remove(copy)

    def purge(self, process: Process, vector: Vector) -> None:
        """Stability reached up to these seqnos, inclusive. `ReliableMulticast!Purge` (AMB-10)."""
        view, windows = process.view, self.windows[process]
        if view is None:
            raise NotAllowedError(f"{process} purges and has no view")
        for address, seqno in vector.items():
            sender = view.at.get(address)
            window = windows.get(sender) if sender is not None else None
            if window is not None and seqno > window.purged:
                window.purged = seqno

    def digest(self, process: Process) -> Digest:
        """What a process knows of each member of its view. `ReliableMulticast!DigestOf`."""
        return Digest(
            (sender.address, DigestEntry(window.low, window.delivered, window.received))
            for sender, window in self.windows[process].items()
        )

    def delivered(self, process: Process) -> dict[Process, int]:
        """The highest seqno of each member of its view that a process has delivered."""
        return {sender: window.delivered for sender, window in self.windows[process].items()}

    def install(self, process: Process, view: Decided, start: Mapping[Process, int]) -> None:
        """New windows for a new view. `StableGroup!WindowsIn`.

        Who was there before keeps its window; others start after what `start` says, or at the beginning.
        """
        old = self.windows.get(process, {})
        if self.per_view and process.path[:-1]:
            self._left[process, process.path[-2].number] = {s: window.delivered for s, window in old.items()}
        windows = self.windows[process] = {
            sender: old[sender] if sender in old else Window(start.get(sender, NOTHING))
            for sender in view.processes
        }
        if self.per_view:
            for sender, window in windows.items():
                window.ahead.clear()
                self._first.setdefault((sender, view.number), window.delivered + 1)

    def forget(self, kept: set[Process], views: set[int]) -> None:
        """Forget processes that are gone, logs of views that are over, and copies that nobody waits for."""
        self.windows = {process: windows for process, windows in self.windows.items() if process in kept}
        self._logs = {
            (sender, number): log
            for (sender, number), log in self._logs.items()
            if (number in views if self.per_view else sender in kept)
        }
        self._first = {key: first for key, first in self._first.items() if key[1] in views}
        self._left = {key: left for key, left in self._left.items() if key[1] in views and key[0] in kept}
        self.flying = {copy for copy in self.flying if copy[0] in kept and self._wanted(copy)}

    def _wanted(self, copy: Copy) -> bool:
        receiver, sender, _, seqno = copy
        window = self.windows.get(receiver, {}).get(sender)
        return window is not None and window.lacks(seqno)

    def _arrived(self, receiver: Process, sender: Process, seqno: int) -> tuple[Window, Log, int]:
        view = receiver.view
        if view is None:
            raise NotAllowedError(f"{receiver} has no view")
        number = view.number if self.per_view else ANY_VIEW
        self.flying.discard((receiver, sender, number, seqno))
        key = sender, number
        return self.windows[receiver][sender], self._logs[key], self._first.get(key, FIRST_SEQNO)
