"""`TotalOrderBroadcast`, judged at each delivery: order, agreement, integrity; in the end, delivery."""

from groupcomm.view import Address

from .claims import Judge, Message, Verdicts
from .membership import Decided, Process


class _Delivered:
    """The deliveries of a process: for each message its place and the view; per view, in order."""

    __slots__ = ("causes", "furthest", "last", "places", "views")

    def __init__(self) -> None:
        self.places: dict[Message, tuple[int, Decided]] = {}
        self.furthest: dict[Process, int] = {}  # the last of the other's places of a message that both delivered
        self.views: dict[Decided, list[Message]] = {}
        self.causes: dict[Process, int] = {}  # per sender: how many it had delivered when it sent
        self.last: dict[Address, tuple[int, int]] = {}  # per sender: its process's order, number of its message


class TotalOrderBroadcast(Judge):
    """Total order, agreement, no duplicates, integrity, sender's and causal order; in the end, delivery.

    The layer below fixes the cut of a view. A member may deliver messages beyond the cut, which another
    member delivers later in another view. These need not be in one order (`BeyondSettled`).

    After a split and a merge a message may be new to some members of a view only. The others do not deliver
    it again (`ToDeliver`); so two members are compared without what one of them knew before.

    A message comes after all that its sender had delivered before (`CausalDelivery`), if that is delivered at
    all: a joiner lacks the older ones. A merge ends it: a member that was cut off sends again what it had
    sent, and the other side delivers that after what was sent in the merged view before.
    """

    def __init__(self, verdicts: Verdicts, *, one_path: bool = False) -> None:
        super().__init__(verdicts)
        self._one_path = one_path
        self._delivering: list[Decided] = []  # the views in which messages were delivered
        self._delivered: dict[Process, _Delivered] = {}
        self._by: dict[Message, list[Process]] = {}
        self._knew: dict[Message, int] = {}  # how many messages its sender had delivered before
        self._sent: dict[Message, tuple[Process, Decided]] = {}
        self._orders: dict[Decided, list[Message]] = {}
        self._differ: set[Decided] = set()  # views in which not all deliver that order
        self._left: dict[tuple[Decided, Decided], Process] = {}  # who was the first to go from a view to another

    def sent(self, process: Process, message: Message, view: Decided) -> None:
        """The application of a process sends, in a view."""
        self._sent[message] = process, view
        self._knew[message] = len(self._of(process).places)

    def delivered(self, process: Process, sender: Address, message: Message) -> None:
        """A process delivers a message, said to be a sender's, in its view."""
        mine = self._of(process)
        view = process.view
        known = self._sent.get(message)
        self._judged("Integrity")
        if known is None or known[0].address != sender or view is None:
            self._fail("Integrity", f"{process} delivers {_text(message)} from {sender}, which never sent it")
            return
        if self._one_path and view not in self._delivering:
            self._judge_path(process, view)
        number = known[0].order, message[1]
        last = mine.last.get(sender)
        if last is not None:
            self._judged("NoDuplicates", "SenderFifo")
        if last is not None and number <= last:
            if message in mine.places:
                self._fail("NoDuplicates", f"{process} delivers {_text(message)} twice")
                return
            self._fail("SenderFifo", f"{process} delivers {_text(message)} after a later message of {sender}")
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
                if other in mine.furthest:
                    self._judged("TotalOrder")
                if there < mine.furthest.get(other, -1):
                    self._judge_order(process, other, message)
                else:
                    mine.furthest[other] = there
                theirs.furthest[process] = place
            others.append(process)
        self._judge_causes(process, mine, message, view)
        if knew := self._knew[message]:
            mine.causes[known[0]] = max(knew, mine.causes.get(known[0], 0))
        self._judge_agreement(process, mine, message, view)

    def _judge_path(self, process: Process, view: Decided) -> None:
        """Of two views that deliver, and that follow one first view, one comes before the other."""
        before = view.before()
        for other in self._delivering:
            if len(view.roots | other.roots) == 1:
                self._judged("DeliveredOnOnePath")
                if other.number not in before and view.number not in other.before():
                    self._fail("DeliveredOnOnePath", f"{process} delivers in {view}, as others do in {other}")
        self._delivering.append(view)

    def _judge_causes(self, process: Process, mine: _Delivered, message: Message, view: Decided) -> None:
        """Check that no message was delivered whose sender had delivered this message before it sent it."""
        for sender, knew in mine.causes.items():
            there = self._of(sender).places.get(message)
            if there is None or sender is process:
                continue
            self._judged("CausalDelivery")
            if (
                there[0] < knew
                and not self._exempt(view, there[1], message)
                and not any(len(each.preds) > 1 for each in (*process.path, *sender.path))
            ):
                self._fail(
                    "CausalDelivery",
                    f"{process} delivers {_text(message)} after a message that {sender} sent later, "
                    f"having delivered {_text(message)}",
                )

    def _judge_agreement(self, process: Process, mine: _Delivered, message: Message, view: Decided) -> None:
        """In a view, one member is at most ahead of another."""
        order = self._orders.setdefault(view, [])
        here = mine.views.setdefault(view, [])
        at = len(here)
        here.append(message)
        if at == len(order):
            order.append(message)
        else:
            self._judged("Agreement")
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

    def _new_to_both(self, one: Process, other: Process, view: Decided) -> tuple[list[Message], list[Message]]:
        """Return both members' deliveries in a view, less the earlier deliveries of either."""
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
        """Check that no message which both delivered is on different sides of `message`, unless allowed."""
        mine, theirs = self._delivered[process].places, self._delivered[other].places
        there = theirs[message][0]
        if self._exempt(mine[message][1], theirs[message][1], message):
            return
        for earlier, (_, view) in mine.items():
            if earlier in theirs and theirs[earlier][0] > there and not self._exempt(view, theirs[earlier][1], earlier):
                self._fail(
                    "TotalOrder",
                    f"{process} delivers {_text(earlier)} before {_text(message)}, {other} the other way round",
                )

    def _exempt(self, one: Decided, other: Decided, message: Message) -> bool:
        """Two delivered a message in different views, one of them beyond what is settled there."""
        if one is other:
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

    def has(self, process: Process, message: Message) -> bool:
        """Say whether a process has delivered a message, since the group was at rest."""
        return message in self._of(process).places

    def quiet(self, processes: list[Process]) -> None:
        """Nothing is on its way: each message is delivered by its sender, and by survivors with it."""
        alike: dict[tuple[Process, Decided], list[Process]] = {}
        for message, (sender, view) in self._sent.items():
            if not sender.up or view not in sender.path:
                continue
            who = alike.get((sender, view))
            if who is None:
                way = sender.path[sender.path.index(view) :]
                who = alike[sender, view] = [p for p in processes if p.up and p.path[-len(way) :] == way]
            for process in who:
                self._judged("EventuallyDelivered")
                if message not in self._of(process).places:
                    self._fail(
                        "EventuallyDelivered", f"{process} never delivers {_text(message)}, and nothing is on its way"
                    )

    def forget(self, kept: set[Process]) -> None:
        """Nothing is on its way: every member is past the deliveries so far."""
        delivered = {process: set(mine.places) for process, mine in self._delivered.items()}
        for process, mine in list(self._delivered.items()):
            if process not in kept:
                del self._delivered[process]
                continue
            mine.places.clear()
            mine.views.clear()
            mine.furthest.clear()
            mine.causes.clear()
        self._by.clear()
        self._sent = {
            message: (sender, view)
            for message, (sender, view) in self._sent.items()
            if sender.up and message not in delivered.get(sender, ())
        }
        self._knew = dict.fromkeys(self._sent, 0)
        self._orders.clear()
        self._differ.clear()
        self._left.clear()


def _text(message: Message) -> str:
    name, number = message
    return f"{name.lower()}/{number}"


def _texts(messages: list[Message]) -> str:
    return ", ".join(map(_text, messages))
