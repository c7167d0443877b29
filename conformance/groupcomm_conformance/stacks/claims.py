"""The guarantees that a stack must give, judged at each event of a simulated group.

A claim is a class with the name of a module of `spec/common` that a stack may give. It is told what the
application and the layer below see: what is sent, delivered, purged, and which views are installed. It judges
incrementally: the work for an event depends on the number of members, not on how much happened before.

The names that `Violation` carries are those of the claims in the specifications.
"""

from typing import Final

from groupcomm.abstract.join_digest import leads
from groupcomm.abstract.membership import Decided, Process
from groupcomm.abstract.reliable_multicast import ReliableMulticast
from groupcomm.digest import NOTHING, Vector
from groupcomm.view import Address

__all__ = [
    "CLAIMS",
    "JUDGED_AS",
    "Judge",
    "Message",
    "StabilitySafety",
    "TotalOrderBroadcast",
    "Violation",
]

Message = tuple[str, int]
"""What an application sends: the name of its process and a number that counts from 1."""


class Violation(Exception):  # noqa: N818 - of a claim; no error of this program
    """A claim does not hold: its name, and what is wrong."""

    def __init__(self, claim: str, text: str) -> None:
        super().__init__(claim, text)
        self.claim = claim
        self.text = text

    def __str__(self) -> str:
        return f"{self.claim}: {self.text}"


class Judge:
    """Says what is wrong, unless that claim is ignored."""

    def __init__(self, ignored: frozenset[str]) -> None:
        self._ignored = ignored

    def _fail(self, claim: str, text: str) -> None:
        """Raise Violation. Returns if the claim is ignored."""
        if claim not in self._ignored:
            raise Violation(claim, text)


class _Delivered:
    """What one process has delivered: of each message its place and the view; per view, in order."""

    __slots__ = ("furthest", "last", "places", "views")

    def __init__(self) -> None:
        self.places: dict[Message, tuple[int, Decided]] = {}
        self.furthest: dict[
            Process, int
        ] = {}  # the last of the other's places of a message that both delivered
        self.views: dict[Decided, list[Message]] = {}
        self.last: dict[
            Address, tuple[int, int]
        ] = {}  # per sender: its process's order, number of its message


class TotalOrderBroadcast(Judge):
    """Total order, agreement, no duplicates, integrity, the sender's order; in the end, delivery.

    `synchronous`: the layer below settles what is received in a view. What a member delivered beyond that,
    and somebody else delivers later in another view, need not be in one order (`BeyondSettled`).

    After a split and a merge a message may be new to some members of a view only. The others do not deliver
    it again (`ToDeliver`); so two members are compared without what one of them knew before.
    """

    def __init__(self, ignored: frozenset[str], *, synchronous: bool) -> None:
        super().__init__(ignored)
        self._synchronous = synchronous
        self._delivered: dict[Process, _Delivered] = {}
        self._by: dict[Message, list[Process]] = {}
        self._sent: dict[Message, tuple[Process, Decided]] = {}
        self._orders: dict[Decided, list[Message]] = {}
        self._differ: set[Decided] = set()  # views in which not all deliver that order
        self._left: dict[
            tuple[Decided, Decided], Process
        ] = {}  # who was the first to go from a view to another

    def sent(self, process: Process, message: Message, view: Decided) -> None:
        """The application of a process sends, in a view."""
        self._sent[message] = process, view

    def delivered(self, process: Process, sender: Address, message: Message) -> None:
        """A process delivers a message, said to be a sender's, in its view."""
        mine = self._of(process)
        view = process.view
        known = self._sent.get(message)
        if known is None or known[0].address != sender or view is None:
            self._fail("Integrity", f"{process} delivers {_text(message)} from {sender}, which never sent it")
            return
        number = known[0].order, message[1]
        last = mine.last.get(sender)
        if last is not None and number <= last:
            if message in mine.places:
                self._fail("NoDuplicates", f"{process} delivers {_text(message)} twice")
                return
            self._fail(
                "SenderOrder", f"{process} delivers {_text(message)} after a later message of {sender}"
            )
        mine.last[sender] = number if last is None else max(number, last)
        place = len(mine.places)
        mine.places[message] = place, view
        others = self._by.get(message)
        if others is None:
            self._by[message] = [process]
        else:
            for other in others:
                theirs = self._delivered[other]
                there = theirs.places[message][0]
                if there < mine.furthest.get(other, -1):
                    self._judge_order(process, other, message)
                else:
                    mine.furthest[other] = there
                theirs.furthest[process] = place
            others.append(process)
        self._judge_agreement(process, mine, message, view)

    def _judge_agreement(self, process: Process, mine: _Delivered, message: Message, view: Decided) -> None:
        """In a view, one member is at most ahead of another."""
        order = self._orders.setdefault(view, [])
        here = mine.views.setdefault(view, [])
        at = len(here)
        here.append(message)
        if at == len(order):
            order.append(message)
        if order[at] != message:
            self._differ.add(view)
        if view not in self._differ:
            return
        for other in view.processes:
            ours, theirs = self._new_to_both(process, other, view)
            if any(one != another for one, another in zip(ours, theirs, strict=False)):
                self._fail(
                    "Agreement",
                    f"{process} delivers {_text(message)} in {view}: "
                    f"{_texts(ours)}, where {other} has delivered {_texts(theirs)}",
                )

    def _of(self, process: Process) -> _Delivered:
        found = self._delivered.get(process)
        if found is None:
            found = self._delivered[process] = _Delivered()
        return found

    def _new_to_both(
        self, one: Process, other: Process, view: Decided
    ) -> tuple[list[Message], list[Message]]:
        """What two members have delivered in a view, without what one of them had delivered before."""
        both = [self._of(one), self._of(other)]
        known = {
            message
            for each in both
            for there in both
            for message in there.views.get(view, ())
            if message in each.places and each.places[message][1] is not view
        }
        ours, theirs = ([m for m in each.views.get(view, ()) if m not in known] for each in both)
        return ours, theirs

    def _judge_order(self, process: Process, other: Process, message: Message) -> None:
        """Some message that both delivered is on the other side of this one: which, unless allowed."""
        mine, theirs = self._delivered[process].places, self._delivered[other].places
        there = theirs[message][0]
        if self._exempt(mine[message][1], theirs[message][1], message):
            return
        for earlier, (_, view) in mine.items():
            if (
                earlier in theirs
                and theirs[earlier][0] > there
                and not self._exempt(view, theirs[earlier][1], earlier)
            ):
                self._fail(
                    "TotalOrder",
                    f"{process} delivers {_text(earlier)} before {_text(message)}, "
                    f"{other} the other way round",
                )

    def _exempt(self, one: Decided, other: Decided, message: Message) -> bool:
        """Two delivered a message in different views, one of them beyond what is settled there."""
        if one is other or not self._synchronous:
            return False
        return any(
            here in (one, other) and message not in self._of(first).views.get(here, ())
            for (here, _), first in self._left.items()
        )

    def installed(self, process: Process, before: Decided | None, view: Decided) -> None:
        """A process goes to a view: who goes the same way has delivered the same."""
        if before is None:
            return
        first = self._left.setdefault((before, view), process)
        mine, theirs = self._new_to_both(process, first, before)
        if mine != theirs:
            lacking = [m for m in theirs if m not in mine] or [m for m in mine if m not in theirs]
            self._fail(
                "Agreement",
                f"{process} goes from {before} to {view}, as others do, and they differ in "
                f"{_texts(lacking) or 'the order of their deliveries'}",
            )

    def quiet(self, processes: list[Process]) -> None:
        """Nothing is on its way: what was sent is delivered by its sender, and by who went along with it."""
        alike: dict[tuple[Process, Decided], list[Process]] = {}
        for message, (sender, view) in self._sent.items():
            if not sender.up or view not in sender.path:
                continue
            who = alike.get((sender, view))
            if who is None:
                way = sender.path[sender.path.index(view) :]
                who = alike[sender, view] = [p for p in processes if p.up and p.path[-len(way) :] == way]
            for process in who:
                if message not in self._of(process).places:
                    self._fail(
                        "EventuallyDelivered",
                        f"{process} never delivers {_text(message)}, and nothing is on its way",
                    )

    def forget(self, kept: set[Process]) -> None:
        """Nothing is on its way: what was delivered so far is behind everybody."""
        delivered = {process: set(mine.places) for process, mine in self._delivered.items()}
        for process, mine in list(self._delivered.items()):
            if process not in kept:
                del self._delivered[process]
                continue
            mine.places.clear()
            mine.views.clear()
            mine.furthest.clear()
        self._by.clear()
        self._sent = {
            message: (sender, view)
            for message, (sender, view) in self._sent.items()
            if sender.up and message not in delivered.get(sender, ())
        }
        self._orders.clear()
        self._differ.clear()
        self._left.clear()


class StabilitySafety(Judge):
    """Nobody purges what another needs; joiners find their messages; in the end all is purged."""

    def __init__(self, ignored: frozenset[str], multicast: ReliableMulticast) -> None:
        super().__init__(ignored)
        self._multicast = multicast

    def purged(self, process: Process, vector: Vector) -> None:
        """A process is about to purge, in its view."""
        view = process.view
        if view is None:
            self._fail("NoPrematurePurge", f"{process} purges and is in no view")
            return
        windows = self._multicast.windows[process]
        for address, seqno in vector.items():
            sender = view.at.get(address)
            if sender is None or seqno == NOTHING:
                continue
            if seqno > windows[sender].delivered:
                self._fail(
                    "NoPrematurePurge", f"{process} purges {sender} up to {seqno} before delivering it"
                )
            for other in view.processes:
                reached = self._reached(other, sender)
                if reached is not None and reached < seqno:
                    self._fail(
                        "NoPrematurePurge",
                        f"{process} purges {sender} up to {seqno} in {view}; "
                        f"{other} has delivered up to {reached}",
                    )

    def _reached(self, process: Process, sender: Process) -> int | None:
        """How far a member of a view has delivered a sender; None where that cannot be said."""
        if process.view is None:
            return None
        window = self._multicast.windows[process].get(sender)
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
        delivered = self._multicast.windows[other]
        # One of the two may be in a view before: then only senders count that go all the way with it.
        behind = purger if other.view is view else other
        for sender, window in self._multicast.windows[purger].items():
            theirs = delivered.get(sender)
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

    def lacking(self, process: Process, sender: Process, seqno: int) -> None:
        """A process lacks what a live member of its view has delivered, and nobody can serve it."""
        self._fail(
            "RequestsServable", f"{process} lacks message {seqno} of {sender}, and no store has it any more"
        )

    def quiet(self, processes: list[Process]) -> None:
        """Rounds have passed in which nothing was sent: what all have delivered is purged."""
        for process in processes:
            view = process.view
            if not process.up or view is None:
                continue
            for sender, window in self._multicast.windows[process].items():
                others = (self._multicast.windows.get(other, {}).get(sender) for other in view.processes)
                least = min(
                    (NOTHING if other is None else other.delivered for other in others), default=NOTHING
                )
                if window.purged < min(least, window.delivered) and least > window.low:
                    self._fail(
                        "EventuallyPurged",
                        f"{process} keeps messages of {sender} from {window.purged + 1} to "
                        f"{least}; all have them",
                    )


def _together(one: Process, other: Process, first: Decided, last: Decided) -> bool:
    """Whether two processes go from a view to a later one by the same way."""
    if one not in last.processes or other not in last.processes:
        return False
    return first is last or any(_together(one, other, first, pred) for pred in last.preds)


def _text(message: Message) -> str:
    name, number = message
    return f"{name.lower()}/{number}"


def _texts(messages: list[Message]) -> str:
    return ", ".join(map(_text, messages))


_OF_VIEWS: Final = (
    "OneIdOneView",
    "CounterRises",
    "CreatorIsThere",
    "ListIsSound",
    "LivesAreKnown",
    "JoinersBegin",
    "SelfInclusion",
    "OnePath",
)
"""The conjuncts of `Membership` that hold of lines of views, whatever joins them."""

_OF_ONE_LINE: Final = (
    "OneLine",
    "NobodyIsDropped",
    "LeftStaysOut",
    "DecidedWhenStopped",
    "StopsAreAgreed",
    "ResumedWhenEverywhere",
    "QuietIsFree",
    "Settled",
)
"""Those of each line by itself, where GMS decides its views."""

CLAIMS: Final = {
    "Membership": (*_OF_VIEWS, *_OF_ONE_LINE),
    "Membership, merged": (
        *_OF_VIEWS,
        "AgreeOnTheView",
        "DigestIsGreatest",
        "StartsWhereTold",
        "NothingIsSkipped",
        "AnnouncedOnce",
        "MergesEnd",
        "Settled",
    ),
    "Membership, parted": (*_OF_VIEWS, *_OF_ONE_LINE, "DigestIsGreatest", "StartsWhereTold"),
    "JoinDigest": (
        "ToldDelivered",
        "NotYetAMember",
        "OneAtATime",
        "OnlyByPromise",
        "TellsOfAll",
        "ForGood",
        "PromisesEnd",
        "StateIsAnswered",
    ),
    "VirtualSynchrony": (
        "SendingViewDelivery",
        "Fifo",
        "ClosedToReceive",
        "ClosedToCast",
        "FirstHasAll",
        "LeavesExact",
        "SelfDelivery",
        "JoinAfterLeave",
        "GroupIsStopped",
        "SilentWhileStopped",
        "BlockedWhenFree",
        "FreedWhenBlocked",
        "QuietIsFree",
    ),
    "TotalOrderBroadcast": (
        "TotalOrder",
        "Agreement",
        "NoDuplicates",
        "Integrity",
        "SenderOrder",
        "EventuallyDelivered",
    ),
    "StabilitySafety": (
        "NoPrematurePurge",
        "JoinerFindsItsMessages",
        "RequestsServable",
        "EventuallyPurged",
    ),
}
"""The claims of each guarantee that is judged."""

JUDGED_AS: Final = {
    ("merge", "Membership"): "Membership, merged",
    ("merge", "JoinDigest"): "JoinDigest, merged",
    ("merge_gms", "Membership"): "Membership, parted",
}
"""By whom and what is given, the guarantee's name above where it is not its own.

What merging gives of `JoinDigest` is not above: it is judged by what is purged (`merge/stable`).
"""
