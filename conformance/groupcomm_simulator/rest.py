"""The end: all faults stop, all that can arrive arrives, and what must be in the end is judged.

Nothing here is random: the same group has the same end.
"""

from collections import Counter
from collections.abc import Callable
from typing import Final

from groupcomm_simulator.judges.claims import Violation

from .applications import Applications
from .ground import Event, Ground

_ROUNDS: Final = 8
_PATIENCE: Final = 200
_FLOOD: Final = 50_000  # datagrams on their way at once: each is answered by several
_STILL: Final = 2  # rounds of timers in a row of which nothing has come


def quiesce(ground: Ground, perform: Callable[[Event], bool]) -> None:
    """End all faults, let all arrive that can, and judge the end. `perform` carries out an event.

    Raises Violation where the group never comes to rest, or a claim about the end does not hold.
    """
    perform(("heal",))
    for copy in [copy for copy in ground.copies if not ground.kept(copy)]:
        sender, number, receiver = copy  # only copies that come back to their senders arrive
        back = sender is receiver and sender.up
        perform(("copy" if back else "lose", sender.name, number, receiver.name))
    serve(ground, perform)
    _dismiss(ground, perform)
    _judge_free(ground)
    ground.views.quiet()
    if ground.falsely and not ground.merges:
        _keep_one_branch(ground, perform)
        serve(ground, perform)
    views = {process.view for process in ground.up}
    if not any(process.view for process in ground.up):
        views.clear()  # only later incarnations are left, and no group: none of them may found a group
    if len(views) > 1 or any(view is None or {*ground.up} != {*view.processes} for view in views):
        raise Violation("ComesToRest", f"the group never comes to one view, though no faults happen: {views}")
    if ground.applications is not None:
        _have_state(ground, ground.applications, perform)
        ground.applications.quiet(ground.up)
    for _ in range(_ROUNDS):
        for process in ground.up:
            for event in ground.oracle.silences(process):
                perform(event)
            for timer in [each for each in ground.timers[process] if not each.startswith(ground.oracle.timers)]:
                perform(("timer", process.name, timer))
        settle_all(ground, perform)
    ground.unicasts.quiet(ground.membership.current)
    for process in ground.up:
        for other, kept, _ in ground.kept_by(process):
            ground.unicasts.keeps(process, other, len(kept))
    ground.multicasts.quiet(ground.up)
    if "sequencer" in ground.place:
        ground.order.quiet(ground.up)
    if ground.uniform is not None:
        for process in ground.up:
            ground.uniform.quiet(process, ground.now[process][ground.place["safe"]].sent)
    if "stable" in ground.place:
        ground.stability.quiet(ground.up)
    if ground.seen is not None:
        ground.seen.quiet(one_path=not ground.falsely)
    ground.forget()


def serve(ground: Ground, perform: Callable[[Event], bool]) -> None:
    """Run the layers until they are quiescent: crashes are reported, and joiners ask again. What is cut stays so."""
    oracle = ground.oracle
    for _ in range(_PATIENCE):
        done = _settle(ground, perform)
        for process in list(ground.up):
            for event in oracle.due(process) if process.up else ():
                done |= perform(event)
        if done or (ground.carries and _sent_again(ground, perform)):
            continue
        for process in ground.up:  # timers of merges
            for timer in oracle.overdue(process):
                done |= perform(("timer", process.name, timer))
        if done:
            continue
        # Both: coordinators that wait for a joiner look for each other in vain until it has asked again.
        coordinators = oracle.coordinators() if ground.merges else []
        for process in coordinators if len(coordinators) > 1 else ():
            done |= perform(("timer", process.name, oracle.discovery))
        for process in ground.up:
            if process.view is None:
                for found in oracle.may_be_asked(process):
                    done |= perform(("join", process.name, found.name))
        if not done:
            break


def _have_state(ground: Ground, applications: Applications, perform: Callable[[Event], bool]) -> None:
    """The applications give what they are asked for, until all have the state.

    If no member has it, one declares its own.
    """
    for _ in range(_PATIENCE):
        if all(map(applications.has_state, ground.up)):
            return
        transfers = {process: ground.transfer_of(process) for process in ground.up}
        waiting = [process for process, each in transfers.items() if (each.timer and not each.has) or each.vacant]
        for process in waiting:
            if transfers[process].timer:
                perform(("timer", process.name, "state_transfer/ask"))
        serve(ground, perform)
        if not any(map(applications.has_state, ground.up)) and waiting:
            perform(("declare", waiting[0].name))
        serve(ground, perform)


def _sent_again(ground: Ground, perform: Callable[[Event], bool]) -> bool:
    """Send lost messages again: the timers of the layers that carry fire, until nothing comes of it.

    Say whether anything did.
    """
    changed, still, before = False, 0, ground.carried()
    while still < _STILL:
        for process in list(ground.up):
            for timer in ground.carrying(process):
                perform(("timer", process.name, timer))
        settle_all(ground, perform)
        after = ground.carried()
        still = 0 if after != before else still + 1
        changed |= after != before
        before = after
    return changed


def settle_all(ground: Ground, perform: Callable[[Event], bool]) -> None:
    """All that is on its way arrives, and all that is said to it."""
    for _ in range(_PATIENCE):
        if not _settle(ground, perform):
            return
    _fail(ground, "ComesToRest", "no timer fires, and for ever one datagram is answered by another")


def _settle(ground: Ground, perform: Callable[[Event], bool]) -> bool:
    """All that is on its way arrives, once; say whether anything did."""
    done = False
    for sender, receiver in list(ground.queues):
        while ground.queues.get((sender, receiver)) and perform(("message", sender.name, receiver.name)):
            done = True
    if len(ground.copies) > _FLOOD:
        _fail(ground, "ComesToRest", f"{len(ground.copies)} datagrams are on their way, and no timer fires")
    for copy in list(ground.copies):
        there = ground.hearer(copy) is not None
        if there or ground.network:
            done |= perform(("copy" if there else "lose", copy[0].name, copy[1], copy[2].name)) and there
    return done


def _dismiss(ground: Ground, perform: Callable[[Event], bool]) -> None:
    """End the processes that will be in no view, as they may ask no member."""
    for process in [process for process in ground.up if process.view is None] if ground.merges else ():
        if not ground.oracle.may_be_asked(process):
            perform(("crash", process.name))


def _keep_one_branch(ground: Ground, perform: Callable[[Event], bool]) -> None:
    """After false suspicions there may be several branches of views, which only a merge ends: keep one."""
    views = Counter(process.view for process in ground.up if process.view is not None)
    kept = max(views, key=lambda view: (views[view], -view.number), default=None)
    for process in list(ground.up):
        if process.view is not kept:
            perform(("crash", process.name))


def _judge_free(ground: Ground) -> None:
    """No member is stopped, and each that asked something has its answer."""
    for process in ground.up:
        state = ground.flush_of(process)
        if not state.in_view:
            continue
        ground.verdicts.judged["ResumedWhenQuiescent"] += 1
        if process in ground.transfers:
            _fail(ground, "StopIsAnswered", f"{process} had the group stopped for a state, and never hears of it")
        if ground.fetching.get(process):
            _fail(ground, "DigestRequestAnswered", f"the state transfer of {process} never gets its digest")
        if not state.is_free or state.waiting or state.wants or state.block != "free":
            _fail(ground, "ResumedWhenQuiescent", f"{process} does not resume: {state}")


def _fail(ground: Ground, claim: str, text: str) -> None:
    if claim not in ground.verdicts.ignored:
        raise Violation(claim, text)
