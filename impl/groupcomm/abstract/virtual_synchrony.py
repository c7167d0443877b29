"""Who goes from one view to the next together has received the same in it. `VirtualSynchrony`.

All is said per edge of the forest of views. Of those who go from view u to view v, the first to leave u
settles what all of them receive in u: what it has received itself, and nobody alive who goes the same way has
received more. The others leave u when they have received exactly that; nothing more reaches them. Whether
what was multicast after that, or by somebody who does not go on, was received by others is not said.

Asked of nobody: that a member multicasts nothing once its view is settled (`ClosedToCast`), that it receives
all it has multicast itself (`SelfDelivery`), or that what anybody received is settled (`Uniform`).
"""

from collections.abc import Callable
from typing import Final

from groupcomm.digest import NOTHING

from .membership import Decided, Process
from .reliable_multicast import ReliableMulticast

GIVES: Final = ("VirtualSynchrony",)

Cut = dict[Process, int]
"""The highest seqno of each sender that is received in a view."""


class VirtualSynchrony:
    """What is settled: for each edge of the forest, from when its first process took it."""

    def __init__(self, next_of: Callable[[Process], Decided | None], multicast: ReliableMulticast) -> None:
        """`next_of`: the view that a process is to install next, if that is known yet."""
        self._next_of = next_of
        self._multicast = multicast
        self.settled: dict[tuple[Decided, Decided], Cut] = {}

    def may_receive(self, process: Process, sender: Process, seqno: int) -> bool:
        """Whether a message of its view may reach a process: if its view is settled, only what is settled."""
        cut = self._cut(process)
        return cut is None or seqno <= cut[sender]

    def must_receive(self, process: Process, sender: Process, seqno: int) -> bool:
        """Whether a message is settled for a process: then it arrives, whoever crashes."""
        cut = self._cut(process)
        return cut is not None and seqno <= cut[sender]

    def drop_what_is_beyond(self, process: Process, sender: Process) -> None:
        """What a process received behind a gap, beyond what is settled, is not delivered to it."""
        cut = self._cut(process)
        if cut is not None:
            window = self._multicast.windows[process][sender]
            window.ahead = {seqno for seqno in window.ahead if seqno <= cut[sender]}

    def may_serve(self, _holder: Process, _sender: Process) -> bool:
        """Whether a member may send a multicast again: whoever has it."""
        return True

    def may_install(self, process: Process, after: Decided) -> bool:
        """Whether a process may go on to the view that is next on its path."""
        here = process.view
        # A cut is not known as long as nobody has left its view (a joiner waits for that) or entered it.
        unknown = [
            pred
            for pred in after.preds
            if pred is not here and (pred, after) not in self.settled and self._coming(pred, after)
        ]
        if any(here is None or not self._travellers(pred, after) for pred in unknown):
            return False
        if here is None:
            return True
        mine = self._multicast.delivered(process)
        cut = self.settled.get((here, after))
        if cut is not None:
            return mine == cut
        return all(
            received <= mine[sender]
            for other in self._travellers(here, after)
            for sender, received in self._multicast.delivered(other).items()
        )

    def install(self, process: Process, after: Decided) -> None:
        """A process, still in the view before, goes on: the first one settles that view.

        In a merge it settles the other sides' views too, with what those alive there have received: whoever
        enters has to know where the others' seqnos go on.
        """
        if process.view is not None:
            self.settled.setdefault((process.view, after), self._multicast.delivered(process))
        for pred in after.preds:
            if (pred, after) not in self.settled:
                self.settled[pred, after] = self._most(pred, after)

    def start(self, process: Process, after: Decided) -> Cut:
        """Where a process that enters a view starts with those that it was not with before."""
        found: Cut = {}
        for pred in after.preds:
            if pred is not process.view:
                cut = self.settled[pred, after]
                found.update((sender, cut[sender]) for sender in after.processes if sender in cut)
        return found

    def _most(self, here: Decided, after: Decided) -> Cut:
        cut = dict.fromkeys(here.processes, NOTHING)
        for other in self._travellers(here, after):
            for sender, received in self._multicast.delivered(other).items():
                cut[sender] = max(cut[sender], received)
        return cut

    def _cut(self, process: Process) -> Cut | None:
        """What is settled for a process, as far as it may go that way."""
        here = process.view
        if here is None or not here.successors:
            return None
        after = self._next_of(process)
        if after is not None:
            return self.settled.get((here, after))
        # Its next view is not known to it yet: it may be any that it is a member of.
        cuts = [
            self.settled[here, each]
            for each in here.successors
            if process in each.processes and (here, each) in self.settled
        ]
        return {sender: min(cut[sender] for cut in cuts) for sender in cuts[0]} if cuts else None

    def _travellers(self, here: Decided, after: Decided) -> list[Process]:
        """Those alive in a view who go to another."""
        return [
            other for other in here.processes if other.up and other.view is here and other in after.processes
        ]

    def _coming(self, here: Decided, after: Decided) -> bool:
        """Whether anybody alive is in a view, or on the way to it, and goes from there to another."""
        return any(
            other.up
            and other.view is not None
            and other.view.number <= here.number
            and other in after.processes
            for other in here.processes
        ) or any(other.up and other.view is None and other in here.processes for other in after.processes)

    def lacks(self, process: Process) -> list[tuple[Process, int]]:
        """What a process must still receive before it leaves its view: what is settled, or others have."""
        here = process.view
        after = self._next_of(process)
        if here is None or after is None:
            return []
        cut = self.settled.get((here, after))
        if cut is None:
            cut = self._most(here, after)
        windows = self._multicast.windows[process]
        return [
            (sender, seqno)
            for sender, last in cut.items()
            for seqno in range(windows[sender].delivered + 1, last + 1)
            if windows[sender].lacks(seqno)
        ]

    def forget(self, views: set[Decided]) -> None:
        """Forget edges between views that are over."""
        self.settled = {
            (here, after): cut
            for (here, after), cut in self.settled.items()
            if here in views and after in views
        }
