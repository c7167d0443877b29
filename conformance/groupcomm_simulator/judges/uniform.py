"""`UniformDelivery`, judged when a member hears that its message is safe, and when a view is installed after that.

`HeldByAll` says more than `UniformAgreement`: not only who goes on has the message, but who has gone the same way.
"""

from collections import Counter, defaultdict
from itertools import chain
from typing import Final

from groupcomm.view import Address, ViewId

from .claims import Judge, Verdicts
from .membership import Decided, Process


class UniformDelivery(Judge):
    """A message that is safe is delivered by all members that go the way of its sender.

    `majority`: by a majority of the view in which its sender has delivered it, too.
    """

    def __init__(self, verdicts: Verdicts, *, majority: bool) -> None:
        super().__init__(verdicts)
        self._majority = majority
        self._told: Counter[Process] = Counter()
        self._own: Counter[Process] = Counter()
        self._has: defaultdict[tuple[Process, int], dict[Process, Decided | None]] = defaultdict(dict)
        self._safe: defaultdict[Decided, list[tuple[Process, int, tuple[Decided, ...]]]] = defaultdict(list)
        """By the last view of the way, from the view in which the sender delivered to that in which it was told."""

    def delivered(self, process: Process, sender: Address, number: int) -> None:
        """A process delivers a message, in its view."""
        if process.view is None:
            return
        self._has[process.view.at[sender], number][process] = process.view
        if sender == process.address:
            self._own[process] = number

    def told(self, process: Process, upto: int, *, is_safe: bool) -> None:
        """A process hears that its messages up to a number are safe, or that nobody knows."""
        self._judged("SafeIsDelivered")
        if upto > self._own[process]:
            self._fail(
                "SafeIsDelivered", f"{process} hears of its message {upto}, and has delivered {self._own[process]}"
            )
        for number in range(self._told[process] + 1, upto + 1):
            since = self._has[process, number].get(process)
            if is_safe and since is not None:
                self._is_safe(process, number, tuple(process.path[process.path.index(since) :]))
        self._told[process] = upto

    def _is_safe(self, process: Process, number: int, way: tuple[Decided, ...]) -> None:
        self._safe[way[-1]].append((process, number, way))
        self._judged("HeldByAll")
        for other in way[-1].processes:
            self._judge(other, process, number, way)
        if self._majority:
            self._judged("HeldByMajority")
            members: Final = way[0].processes
            have = [each for each in members if each in self._has[process, number]]
            if 2 * len(have) + (members[0] in have) <= len(members):
                self._fail("HeldByMajority", f"message {number} of {process} is safe, and of {way[0]} {have} have it")

    def _judge(self, other: Process, process: Process, number: int, way: tuple[Decided, ...]) -> None:
        path = other.path
        if (
            any(tuple(path[at : at + len(way)]) == way for at in range(len(path)))
            and other not in self._has[process, number]
        ):
            self._fail("HeldByAll", f"message {number} of {process} is safe, and {other}, which went {way}, lacks it")

    def installed(self, process: Process, view: Decided) -> None:
        """A process has installed a view: what was safe there is delivered by it."""
        for sender, number, way in self._safe[view]:
            self._judge(process, sender, number, way)

    def formed(self, view: ViewId, before: int) -> None:
        """A view is formed, from a view of this counter: what was told safe in a view between was delivered by all."""
        between = [told for ended, told in self._safe.items() if before < ended.view.id.counter < view.counter]
        for process, number, way in chain.from_iterable(between):
            self._judged("HeldInBase")
            lacking = [each for each in way[0].processes if each not in self._has[process, number]]
            if lacking:
                self._fail(
                    "HeldInBase",
                    f"message {number} of {process} is safe in a view after {before}, {view} is formed from {before}, "
                    f"and of {way[0]} {lacking} lack it",
                )

    def quiet(self, process: Process, sent: int) -> None:
        """Nothing is on its way: a process has heard of each message that it has sent."""
        self._judged("EventuallyTold")
        if self._told[process] < sent:
            self._fail("EventuallyTold", f"{process} has sent {sent} messages, and heard of {self._told[process]}")

    def forget(self) -> None:
        """Every member is past its former views."""
        self._has.clear()
        self._safe.clear()
