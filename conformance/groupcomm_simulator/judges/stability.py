"""`StabilitySafety`, judged at each purge and each view; in the end, what all have delivered is purged."""

from collections.abc import Callable, Mapping
from typing import Protocol

from groupcomm.digest import NOTHING, Vector

from .claims import Judge, Verdicts
from .membership import Decided, Process
from .promises import leads


class Window(Protocol):
    """Where a window starts, and the highest seqnos that were delivered and purged."""

    @property
    def low(self) -> int: ...
    @property
    def delivered(self) -> int: ...
    @property
    def purged(self) -> int: ...


Windows = Callable[[Process], Mapping[Process, Window]]
"""Of a process, the window of each member of its view; none where it has no view."""


class StabilitySafety(Judge):
    """No member purges what another needs, joiners find their messages, and in the end all is purged."""

    def __init__(self, verdicts: Verdicts, windows: Windows) -> None:
        super().__init__(verdicts)
        self._windows = windows

    def purged(self, process: Process, vector: Vector) -> None:
        """A process is about to purge, in its view."""
        view = process.view
        if view is None:
            self._fail("NoPrematurePurge", f"{process} purges and is in no view")
            return
        windows = self._windows(process)
        for address, seqno in vector.items():
            sender = view.at.get(address)
            if sender is None or seqno == NOTHING:
                continue
            if seqno > windows[sender].delivered:
                self._fail("NoPrematurePurge", f"{process} purges {sender} up to {seqno} before delivering it")
            self._judged("NoPrematurePurge")
            for other in view.processes:
                reached = self._reached(other, sender)
                if reached is not None and reached < seqno:
                    self._fail(
                        "NoPrematurePurge",
                        f"{process} purges {sender} up to {seqno} in {view}; {other} has delivered up to {reached}",
                    )

    def _reached(self, process: Process, sender: Process) -> int | None:
        """How far a member of a view has delivered a sender; None where that cannot be said."""
        if process.view is None:
            return None
        window = self._windows(process).get(sender)
        return None if window is None else window.delivered

    def installed(self, process: Process, before: Decided | None, view: Decided) -> None:
        """A process goes to a view: what it has purged the others there have delivered, and vice versa."""
        del before
        for other in view.processes:
            if other.view is None or other is process:
                continue
            if other.view is view or leads(process, other.view, view):
                self._judge_pair(other, process, view)
                self._judge_pair(process, other, view)

    def _judge_pair(self, purger: Process, other: Process, view: Decided) -> None:
        delivered = self._windows(other)
        # One of the two may be in a view before: then only senders count that go all the way with it.
        behind = purger if other.view is view else other
        for sender, window in self._windows(purger).items():
            theirs = delivered.get(sender)
            if other in view.joins and window.purged != NOTHING:
                self._judged("JoinerFindsItsMessages")
            if (
                theirs is not None
                and window.purged > theirs.delivered
                and (behind.view is None or _together(behind, sender, behind.view, view))
            ):
                self._fail(
                    "JoinerFindsItsMessages" if other in view.joins else "NoPrematurePurge",
                    f"{purger} has purged {sender} up to {window.purged}; {other}, with it in {view}, has "
                    f"delivered up to {theirs.delivered}",
                )

    def served(self) -> None:
        """A store has what a member asks for."""
        self._judged("RequestsServable")

    def _lacking(self, process: Process, view: Decided) -> None:
        """All has arrived: a process lacks nothing that a live member of its view has delivered."""
        here = [other for other in view.processes if other.up and other.view is view]
        for sender, window in self._windows(process).items():
            if any(self._windows(other)[sender].delivered > window.delivered for other in here):
                text = f"{process} lacks message {window.delivered + 1} of {sender}; no store has it any more"
                self._fail("RequestsServable", text)

    def quiet(self, processes: list[Process]) -> None:
        """Rounds have passed in which nothing was sent: what all have delivered is purged."""
        for process in processes:
            view = process.view
            if not process.up or view is None:
                continue
            self._lacking(process, view)
            for sender, window in self._windows(process).items():
                others = (self._windows(other).get(sender) for other in view.processes)
                least = min((NOTHING if other is None else other.delivered for other in others), default=NOTHING)
                if least > window.low:
                    self._judged("EventuallyPurged")
                if window.purged < min(least, window.delivered) and least > window.low:
                    self._fail(
                        "EventuallyPurged",
                        f"{process} keeps messages of {sender} from {window.purged + 1} to {least}; all have them",
                    )


def _together(one: Process, other: Process, first: Decided, last: Decided) -> bool:
    """Say whether two processes go from a view to a later one by the same way."""
    if one not in last.processes or other not in last.processes:
        return False
    return first is last or any(_together(one, other, first, pred) for pred in last.preds)
