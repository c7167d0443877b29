"""The end: all faults stop, all that can arrive arrives, and what must be in the end is judged.

Nothing here is random: the same group comes to the same end.
"""

from collections import Counter
from collections.abc import Callable
from typing import Final

from groupcomm.abstract.membership import Decided, Process

from .apart import unite
from .changes import decision, ends_of
from .claims import Violation
from .group import Event, Group
from .lineages import Lineages
from .merging import Merging
from .served import Served

__all__ = ["quiesce"]

_ROUNDS: Final = 8
_PATIENCE: Final = 200


def quiesce(group: Group, perform: Callable[[Event], bool]) -> None:
    """All faults end, all that can arrive arrives, one view remains; the claims about the end are judged.

    `perform` carries out an event of the group. Nothing here is random: the same group comes to the same end.
    Raises Violation where the group never comes to rest, or a claim about the end does not hold.
    """
    perform(("heal",))
    served = group.service if isinstance(group.service, Served) else None
    merging = group.service if isinstance(group.service, Merging) else None
    scripted = served is None and merging is None
    if scripted:
        _end_joins(group, perform)
    group.new_datagrams.clear()  # all are lost but those that come back to their senders
    for process in group.up:
        for number in sorted(group.network.own.get(process, ())):
            perform(("gossip", process.name, number, process.name))
    if merging is not None:
        unite(group, merging, lambda: _settle(group, perform), perform)
    elif served is None:
        for _ in range(_PATIENCE):
            if not (_settle(group, perform) or _unite(group, perform)):
                break
    else:
        _serve(group, served, perform)
        if isinstance(served, Lineages):
            _dismiss(served, perform)
        served.quiet()
        if served.falsely:
            _keep_one_line(group, perform)
            _serve(group, served, perform)
    views = {process.view for process in group.up}
    if served is not None and not served.installed.keys() & {*group.up}:
        views.discard(None)  # only later lives are left, and no group: none of them may found one
    if len(views) > 1 or any(view is None or {*group.up} != {*view.processes} for view in views):
        raise Violation("ComesToRest", f"the group never comes to one view, though no faults happen: {views}")
    if scripted:
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


def _end_joins(group: Group, perform: Callable[[Event], bool]) -> None:
    """Promises that no view relies on are withdrawn, and who is in none and on the way to none is gone."""
    for pair, promise in list(group.digests.open.items()):
        if not perform(("withdraw", promise.giver.name, promise.to.name)):
            group.digests.open.pop(pair)  # its giver has crashed
    for process in group.up:
        if process.view is None and group.service.next_of(process) is None:
            perform(("crash", process.name))


def _serve(group: Group, served: Served, perform: Callable[[Event], bool]) -> None:
    """GMS, and FLUSH, come to an end: crashes are reported, and who wants to join asks again."""
    for _ in range(_PATIENCE):
        done = _settle(group, perform)
        done |= served.arrives(perform)
        for process in list(group.up):
            for event in served.due(process) if process.up else ():
                done |= perform(event)
        if done or _time_out(group, served, perform):
            continue
        # Both: coordinators that wait for a joiner look for each other in vain until it has asked again.
        looked, asked = _look(served, perform), _ask_again(group, served, perform)
        if not (looked or asked):
            break


def _ask_again(group: Group, served: Served, perform: Callable[[Event], bool]) -> bool:
    """Nothing else happens, and who is in no view asks all that act; whether anybody did."""
    done = False
    for process in group.up:
        if process not in served.installed:
            for found in served.may_be_asked(process):
                done |= perform(("join", process.name, found.name))
    return done


def _time_out(group: Group, served: Served, perform: Callable[[Event], bool]) -> bool:
    """Nothing else happens, and timers of merges fire; whether any did."""
    if not isinstance(served, Lineages):
        return False
    done = False
    for process in group.up:
        for timer in served.overdue(process):
            done |= perform(("timer", process.name, timer))
    return done


def _look(served: Served, perform: Callable[[Event], bool]) -> bool:
    """Nobody is on the way to a view, and coordinators look for each other; whether there are several."""
    if not isinstance(served, Lineages):
        return False
    coordinators = served.coordinators()
    for process in coordinators if len(coordinators) > 1 else ():
        perform(("timer", process.name, served.discover))
    return len(coordinators) > 1


def _dismiss(lineages: Lineages, perform: Callable[[Event], bool]) -> None:
    """Who was let in, and left out again before it knew, is in no view: it has to come as a new life."""
    for process in lineages.dismissed():
        perform(("crash", process.name))


def _keep_one_line(group: Group, perform: Callable[[Event], bool]) -> None:
    """After false suspicions there may be several lines of views, which only a merge ends: one goes on."""
    views = Counter(process.view for process in group.up if process.view is not None)
    kept = max(views, key=lambda view: (views[view], -view.number), default=None)
    for process in list(group.up):
        if process.view is not kept:
            perform(("crash", process.name))


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
        if group.service.next_of(process) is not None and perform(("install", process.name)):
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
    ends = ends_of(group)
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
        event = decision(group, members[0], members, preds)
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
