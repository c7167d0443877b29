"""Which event comes next: drawn at random among what may happen, or in order until nothing is left to happen.

`Scheduler.draw` gives events that `Group.perform` may still refuse, which costs a draw. It looks at the group
as it is; all that it remembers of it are the copies, unicasts and datagrams that are on their way.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final, TypeVar

from attrs import frozen

from groupcomm.abstract.membership import Decided, Process
from groupcomm.view import address

from .claims import Violation
from .group import Event, Group

Item = TypeVar("Item")

__all__ = ["FAULTS", "Faults", "Scheduler", "quiesce"]

FAULTS: Final = (
    "loss",
    "duplication",
    "reordering",
    "partition",
    "crash",
    "join",
    "leave",
    "restart",
    "merge",
    "remerge",
    "suspicion",
)
"""What may happen to a group over sound layers.

A merge brings groups together that were founded apart, a remerge the sides of a split; a suspicion leaves
somebody out who is alive.
"""

# Shares of the draws: of what is on its way, of datagrams; beyond the last: of what happens seldom.
_TO_ARRIVE: Final = 0.62
_TO_GOSSIP: Final = 0.80
_TO_RUN: Final = 0.91
_UNICASTS: Final = 0.1
_MANY: Final = 40  # copies on their way per member, beyond which applications wait
_GOSSIP: Final = 400  # datagrams on their way, beyond which the oldest are lost
_NAMES: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@frozen
class Faults:
    """Which of `FAULTS` happen; `rate` is the share of draws that change who is there."""

    kinds: frozenset[str] = frozenset(FAULTS)
    rate: float = 0.02


class Scheduler:
    """Draws events for a group of up to `members` processes."""

    def __init__(self, group: Group, members: int, faults: Faults, random: Random) -> None:
        self._group = group
        self._members = members
        self._faults = faults
        self._random = random
        self._kinds = faults.kinds
        self._changes = self._weighted()
        self._rare = (self._missing, self._install, self._timer)
        self._addresses = 0

    def first(self) -> Iterator[Event]:
        """The events that make a group of all members in one view."""
        names = [self._fresh() for _ in range(self._members)]
        for name in names:
            yield "start", name
        yield "decide", names[0], 1, tuple(names), ()
        for name in names:
            yield "install", name

    def draw(self) -> Event | None:
        """An event that may be possible now; None if none was found."""
        group = self._group
        dice = self._random.random
        if dice() < self._faults.rate:
            return self._changes[int(dice() * len(self._changes))]()
        choice = dice()
        on_the_way = len(group.new_copies) + len(group.new_unicasts)
        if choice < _TO_ARRIVE and on_the_way:
            if dice() * on_the_way < len(group.new_copies):
                return self._copy()
            return self._on_the_wire()
        if choice < _TO_GOSSIP and group.new_datagrams:
            return self._datagram()
        if choice > _TO_RUN:
            rare = self._rare[int(dice() * len(self._rare))]
            return rare()
        if on_the_way >= _MANY * len(group.up):
            return self._copy()
        process = self._any(group.up)
        if process.view is None:
            return None
        if dice() < _UNICASTS:
            return "unicast", process.name, self._any(group.up).name
        return "multicast", process.name

    def _any(self, items: Sequence[Item]) -> Item:
        """One of several, at random; `random.choice` takes five times as long."""
        return items[int(self._random.random() * len(items))]

    # What is on its way

    def _copy(self) -> Event | None:
        group, random = self._group, self._random
        copies = group.new_copies
        if not copies:
            return None
        # The youngest and the oldest are at the ends: without reordering the oldest come first, nearly.
        at = int(random.random() * len(copies)) if "reordering" in self._kinds else 0
        copies[at], copies[-1] = copies[-1], copies[at]
        copy = copies.pop()
        receiver, sender, number, seqno = copy
        view = receiver.view
        if not receiver.up or view is None:
            return None
        if number >= 0 and view.number != number:
            if view.number < number and random.random() < 0.9:  # noqa: PLR2004 - mostly it waits for its view
                copies.append(copy)
                return self._install()
            return None
        lost = not group.connected(receiver, sender) or ("loss" in self._kinds and random.random() < 0.1)  # noqa: PLR2004
        if lost and receiver is not sender:
            return "lose", receiver.name, sender.name, seqno
        if "duplication" in self._kinds and random.random() < 0.02:  # noqa: PLR2004
            copies.append(copy)
        if group.layers.multicast == "lossy" and random.random() < 0.1:  # noqa: PLR2004
            return "skip", receiver.name, sender.name, seqno
        return "data", receiver.name, sender.name, seqno

    def _on_the_wire(self) -> Event | None:
        group, random = self._group, self._random
        wires = group.new_unicasts
        at = int(random.random() * len(wires))
        wires[at], wires[-1] = wires[-1], wires[at]
        sender, receiver = wires.pop()
        if not receiver.up:
            return None
        if not sender.up and random.random() < 0.5:  # noqa: PLR2004
            return "drop", sender.name, receiver.name
        if not group.connected(sender, receiver):
            wires.append((sender, receiver))
            return None
        layer = group.layers.unicast
        if layer == "unordered":
            return "take", sender.name, receiver.name, int(random.random() * 4)
        if layer == "duplicating" and random.random() < 0.2:  # noqa: PLR2004
            return "again", sender.name, receiver.name
        if layer == "lossy" and random.random() < 0.1:  # noqa: PLR2004
            return "miss", sender.name, receiver.name
        return "message", sender.name, receiver.name

    def _datagram(self) -> Event | None:
        group, random = self._group, self._random
        datagrams = group.new_datagrams
        if len(datagrams) > _GOSSIP:
            late = datagrams[: -_GOSSIP // 2]
            datagrams[:] = [d for d in late if d[0] is d[2]] + datagrams[
                -_GOSSIP // 2 :
            ]  # own ones come back
        at = int(random.random() * len(datagrams)) if "reordering" in self._kinds else 0
        datagrams[at], datagrams[-1] = datagrams[-1], datagrams[at]
        sender, number, receiver = datagrams.pop()
        if not receiver.up or not group.connected(sender, receiver):
            return None
        if "loss" in self._kinds and receiver is not sender and random.random() < 0.1:  # noqa: PLR2004
            return None
        if "duplication" in self._kinds and random.random() < 0.1:  # noqa: PLR2004
            datagrams.append((sender, number, receiver))
        return "gossip", sender.name, number, receiver.name

    def _missing(self) -> Event | None:
        """A member asks for a message that it lacks."""
        process = self._any(self._group.up)
        view = process.view
        if view is None:
            return None
        sender = self._any(view.processes)
        if sender is process:
            return None
        window = self._group.multicast.windows[process][sender]
        seqno = window.delivered + 1
        if seqno >= self._group.multicast.next_seqno(sender, view):
            return None
        return "data", process.name, sender.name, seqno

    def _timer(self) -> Event | None:
        process = self._any(self._group.up)
        timers = self._group.timers[process]
        if not timers:
            return None
        timer = self._any(list(timers))
        if not timers[timer] and self._random.random() < 0.9:  # noqa: PLR2004 - seldom, one that was cancelled
            return None
        return "timer", process.name, timer

    # Who is there

    def _install(self) -> Event | None:
        process = self._any(self._group.up)
        after = self._group.membership.next_of(process)
        if after is None:
            return None
        if self._group.synchrony is not None and not self._group.synchrony.may_install(process, after):
            lacking = self._group.synchrony.lacks(process)
            if lacking:
                sender, seqno = self._any(lacking)
                return "data", process.name, sender.name, seqno
        return "install", process.name

    def _weighted(self) -> list[Callable[[], Event | None]]:
        choices: list[tuple[str, int, Callable[[], Event | None]]] = [
            ("", 6, self._decide),
            ("crash", 1, self._crash),
            ("join", 2, self._join),
            ("join", 3, self._promise),
            ("join", 1, self._withdraw),
            ("merge", 1, self._found),
            ("leave", 1, self._leave),
            ("partition", 1, self._partition),
            ("partition", 2, self._heal),
        ]
        return [
            change
            for kind, weight, change in choices
            if not kind or kind in self._kinds
            for _ in range(weight)
        ]

    def _crash(self) -> Event | None:
        process = self._any(self._group.up)
        if process.leaving:
            return ("crash", process.name) if process.view is not None and process.view.successors else None
        return ("crash", process.name) if self._may_go() else None

    def _leave(self) -> Event | None:
        process = self._any(self._group.up)
        if process.view is None or process.leaving or not self._may_go():
            return None
        return "leave", process.name

    def _may_go(self) -> bool:
        """Whether enough members remain if one more goes."""
        staying = sum(not p.leaving and p.view is not None for p in self._group.up)
        return staying > max(1, self._members // 2)

    def _join(self) -> Event | None:
        group, random = self._group, self._random
        if len(group.up) >= self._members:
            return None
        if "restart" not in self._kinds:
            return "start", self._fresh()
        gone = [a for a, last in group.membership.current.items() if not last.up]
        if gone and random.random() < 0.5:  # noqa: PLR2004
            return "start", self._any(gone)
        return "start", self._fresh()

    def _fresh(self) -> str:
        at = self._addresses
        self._addresses += 1
        names = _NAMES[: self._members]
        return address(names[at % len(names)], at // len(names) + 1)

    def _joiners(self) -> list[Process]:
        membership = self._group.membership
        return [p for p in self._group.up if p.view is None and membership.next_of(p) is None]

    def _promise(self) -> Event | None:
        group = self._group
        joiners = [p for p in self._joiners() if p not in group.digests.open]
        givers = [p for p in group.up if p.view is not None]
        if not joiners or not givers:
            return None
        return "promise", self._any(givers).name, self._any(joiners).name

    def _withdraw(self) -> Event | None:
        given = list(self._group.digests.open.values())
        if not given:
            return None
        promise = self._any(given)
        return "withdraw", promise.giver.name, promise.to.name

    def _found(self) -> Event | None:
        """A newcomer founds a group of its own."""
        joiners = [p for p in self._joiners() if p not in self._group.digests.open]
        if not joiners:
            return None
        founder = self._any(joiners)
        return "decide", founder.name, self._random.randint(1, 3), (founder.name,), ()

    def _partition(self) -> Event | None:
        up = self._group.up
        if self._group.side or len(up) < 2:  # noqa: PLR2004
            return None
        names = [process.name for process in up]
        self._random.shuffle(names)
        return "partition", tuple(sorted(names[: self._random.randint(1, len(names) - 1)]))

    def _heal(self) -> Event | None:
        return ("heal",) if self._group.side else None

    def _decide(self) -> Event | None:
        """A view after the end of somebody's path, or a merge of two."""
        group, random = self._group, self._random
        ends = _ends(group)
        if not ends:
            return None
        creator = self._any([p for going in ends.values() for p in going])
        base = group.membership.last_of(creator)
        if base is None or creator.view is None or creator.leaving:
            return None
        preds = [base]
        if not self._kinds.isdisjoint(("merge", "remerge")) and len(ends) > 1 and random.random() < 0.6:  # noqa: PLR2004
            other = self._any(list(ends))
            if other is not base and any(group.connected(creator, p) for p in ends[other]):
                preds.append(other)
        return self._view(creator, preds, ends)

    def _view(
        self, creator: Process, preds: list[Decided], ends: dict[Decided, list[Process]]
    ) -> Event | None:
        group, random = self._group, self._random
        members: list[Process] = []
        for pred in preds:
            going = ends[pred]
            for process in pred.processes:
                if process.up:
                    there = process in going and group.connected(creator, process) and not process.leaving
                    if there and ("suspicion" not in self._kinds or random.random() < 0.97):  # noqa: PLR2004
                        members.append(process)
                elif random.random() < 0.3 and group.membership.last_of(process) is pred:  # noqa: PLR2004 - not noticed yet
                    members.append(process)
        if creator not in members:
            members.insert(0, creator)
        joining = [p for p in self._joiners() if group.connected(creator, p)] if len(preds) == 1 else []
        if not group.layers.synchrony:
            joining = [p for p in joining if group.digests.stands(p, preds[0])]
        members += joining
        if len(preds) > 1 and random.random() < 0.5:  # noqa: PLR2004
            members.sort(key=lambda process: process.address)
        taken: dict[str, Process] = {}
        for process in members:
            last = taken.get(process.address)
            if last is None or last.order < process.order:
                taken[process.address] = process
        members = [process for process in members if taken[process.address] is process]
        if len(preds) == 1 and tuple(members) == preds[0].processes and random.random() < 0.8:  # noqa: PLR2004
            return None
        return _decision(group, creator, members, preds)


def _ends(group: Group) -> dict[Decided, list[Process]]:
    """The ends of the paths of those who are up and have installed a view, and who goes there."""
    found: dict[Decided, list[Process]] = {}
    for process in group.up:
        if process.view is not None:
            end = group.membership.last_of(process)
            if end is not None:
                found.setdefault(end, []).append(process)
    return found


def _decision(group: Group, creator: Process, members: list[Process], preds: list[Decided]) -> Event | None:
    """The event, if each view that is followed has somebody who can speak for it."""
    follows: list[str] = []
    for pred in preds:
        tellers = [
            p for p in pred.processes if p.up and p.view is pred and group.membership.last_of(p) is pred
        ]
        if creator in tellers:
            tellers = [creator]
        known = tellers or [p for p in pred.processes if group.membership.last_of(p) is pred]
        if not known:
            return None
        follows.append(known[0].name)
    counter = group.membership.counter(creator, preds)
    return "decide", creator.name, counter, tuple(p.name for p in members), tuple(follows)


# In the end ---------------------------------------------------------------------------------------

_ROUNDS: Final = 8
_PATIENCE: Final = 200


def quiesce(group: Group, perform: Callable[[Event], bool]) -> None:
    """All faults end, all that can arrive arrives, one view remains; the claims about the end are judged.

    `perform` carries out an event of the group. Nothing here is random: the same group comes to the same end.
    Raises Violation where the group never comes to rest, or a claim about the end does not hold.
    """
    perform(("heal",))
    for promise in list(group.digests.open.values()):
        if not perform(("withdraw", promise.giver.name, promise.to.name)):
            group.digests.open.pop(promise.to)  # its giver has crashed
    for process in group.up:
        if process.view is None and group.membership.next_of(process) is None:
            perform(("crash", process.name))
    group.new_datagrams.clear()  # all are lost but those that come back to their senders
    for process in group.up:
        for number in sorted(group.network.own.get(process, ())):
            perform(("gossip", process.name, number, process.name))
    for _ in range(_PATIENCE):
        if _settle(group, perform):
            continue
        if not _unite(group, perform):
            break
    views = {process.view for process in group.up}
    if len(views) > 1 or any(view is None or {*group.up} != {*view.processes} for view in views):
        raise Violation("ComesToRest", f"the group never comes to one view, though no faults happen: {views}")
    for giver, kept in list(group.digests.kept.items()):
        for joiner in sorted(kept, key=lambda process: process.order):
            perform(("withdraw", giver.name, joiner.name))
    for _ in range(_ROUNDS):
        for process in group.up:
            for timer in list(group.timers[process]):
                perform(("timer", process.name, timer))
        while _settle(group, perform):
            pass
    _judge(group)


def _settle(group: Group, perform: Callable[[Event], bool]) -> bool:
    """Everything that is on its way arrives, once; whether anything did."""
    any_done = False
    for sender, receiver in list(group.unicast.wires):
        while group.unicast.wires.get((sender, receiver)) and perform(
            ("message", sender.name, receiver.name)
        ):
            any_done = True
    group.new_unicasts.clear()
    for process in group.up:
        view = process.view
        if view is not None:
            for sender in view.processes:
                window = group.multicast.windows[process][sender]
                last = group.multicast.next_seqno(sender, view) - 1
                while process.view is view and window.delivered < last:
                    if not perform(("data", process.name, sender.name, window.delivered + 1)):
                        break
                    any_done = True
        if group.membership.next_of(process) is not None and perform(("install", process.name)):
            any_done = True
    group.new_copies.clear()
    datagrams, group.new_datagrams = group.new_datagrams, []
    for sender, number, receiver in datagrams:
        if receiver.up and perform(("gossip", sender.name, number, receiver.name)):
            any_done = True
    return any_done


def _unite(group: Group, perform: Callable[[Event], bool]) -> bool:
    """A view without who has crashed or leaves, or a merge; whether one was decided."""
    for process in group.up:
        if process.leaving:
            perform(("crash", process.name))
    ends = _ends(group)
    bases = [[end] for end, going in ends.items() if len(going) < len(end.processes)]
    if not bases and len(ends) > 1:
        bases = [_mergeable(group, ends)]
    if (
        bases
        and len(bases[0]) == 1
        and len(ends) > 1
        and len(bases) == 1
        and not any(len(going) < len(end.processes) for end, going in ends.items())
    ):
        for process in ends[min(ends, key=lambda end: (len(ends[end]), end.number))]:
            perform(("crash", process.name))
        return True
    done = False
    for preds in bases:
        members = [process for end in preds for process in end.processes if process in ends[end]]
        event = _decision(group, members[0], members, preds)
        done |= event is not None and perform(event)
    return done


def _mergeable(group: Group, ends: dict[Decided, list[Process]]) -> list[Decided]:
    """As many ends of paths as one view may follow."""
    chosen: list[Decided] = []
    for end, going in ends.items():
        others = [process for other in chosen for process in ends[other]]
        if group.remerge or not any(process in other.met for process in going for other in others):
            chosen.append(end)
    return chosen


def _judge(group: Group) -> None:
    up = group.up
    if group.stability is not None:
        for process in up:
            view = process.view
            if view is None:
                continue
            for sender, window in group.multicast.windows[process].items():
                seqno = window.delivered + 1
                here = [p for p in view.processes if p.up and p.view is view]
                if any(
                    not group.multicast.windows[p][sender].lacks(seqno)
                    and group.multicast.windows[p][sender].low < seqno
                    for p in here
                    if sender in group.multicast.windows[p]
                ):
                    group.stability.lacking(process, sender, seqno)
        group.stability.quiet(up)
    if group.order is not None:
        group.order.quiet(up)
    group.forget()
