"""Views that FLUSH makes, over multicasts that it can have held back. Layers below it are told of its views.

Beside it stands a membership service, which says who wants to join and leave and who has crashed, to whom it
concerns and as often as it takes. What becomes of that, FLUSH decides. Its views are told to the abstract
`Membership`, and its steps to the judge of `VirtualSynchrony`.

The events of a group, besides those in `group`:

==========================================  ==========================================================
``found P``                                 P founds the group, where there is none
``join P Q``, ``ask P Q``                   Q, who acts, is told that P wants to join; that P wants to leave
``suspect P Q``                             the failure detector of P reports Q
``return P``                                the application of P returns from BLOCK
``serve P Q S``                             the layer below P has from Q what it was to fetch of S
==========================================  ==========================================================

A member's own multicasts and unicasts can be lost with it only. What a member lacks it can have from the
sender, as long as that lives, and from whom FLUSH names.
"""

from typing import Final, cast

from attrs import frozen

from groupcomm import flush
from groupcomm.abstract.membership import Decided, NotAllowedError, Process
from groupcomm.effects import PassDown, PassUp
from groupcomm.events import Fetch, HoldBack, Left, Release, ViewInstalled
from groupcomm.stack import Arrived, Called, Raised, Stack, Tagged
from groupcomm.view import NO_VIEW, ViewId

from .claims import Violation
from .group import Event, Events, Group
from .synchrony import VirtualSynchrony, Watched
from .wired import judged

__all__ = ["FLUSH", "Flushed"]

FLUSH: Final = "flush"


@frozen
class _Asked:
    """What a layer below was told to fetch, and in which round of which requester."""

    fetch: Fetch
    owner: str
    round: int


class Flushed:
    """FLUSH as what makes the views of a group; also what lets multicasts arrive."""

    timers: Final[tuple[str, ...]] = ()

    def __init__(self, group: Group, ignored: frozenset[str]) -> None:
        assert isinstance(group.stack, Stack)  # noqa: S101 - it has FLUSH in it
        self._group = group
        self.gate = self
        self.judge = VirtualSynchrony(ignored, self._alive, self._distrusts)
        names = [layer.name for layer in group.stack.layers]
        self._place: Final = names.index(FLUSH)
        core = group.stack.layers[self._place].core
        assert isinstance(core, Watched)  # noqa: S101 - `stack_of` has seen to it
        core.tell = self._told
        self._known: dict[ViewId, Decided] = {}
        self._cuts: dict[Decided, dict[Process, int]] = {}
        self._base: dict[Process, dict[Process, int]] = {}
        self._limits: dict[Process, dict[Process, int]] = {}
        self._asked: dict[Process, list[_Asked]] = {}
        self.events: Final[Events] = {
            "found": self._found,
            "join": self._join,
            "leave": self._leave,
            "ask": self._ask,
            "suspect": self._suspect,
            "return": self._return,
            "serve": self._serve,
        }

    def of(self, process: Process) -> flush.State:
        """The state of FLUSH at a process."""
        return cast("flush.State", self._group.states[process].layers[self._place])

    def next_of(self, _process: Process) -> Decided | None:
        """Views are installed by FLUSH itself: none waits."""
        return None

    def fire(self, process: Process, timer: str) -> None:
        """No timer is set here."""
        raise NotAllowedError(f"{process} has no timer {timer}")

    def started(self, process: Process) -> None:
        """A process is there, and in no view."""

    def departed(self, process: Process) -> None:
        """A process is gone; others are not told."""
        for kept in (self._base, self._limits, self._asked):
            kept.pop(process, None)

    def forget(self, views: set[Decided]) -> None:
        """Nothing is on its way: forget what is over."""
        self._known = {id_: view for id_, view in self._known.items() if view in views}
        self._cuts = {view: cut for view, cut in self._cuts.items() if view in views}
        self.judge.falsely = any(self.of(process).suspected for process in self._group.up)
        self.judge.forget()

    # The gate of the multicast layer

    def may_receive(self, process: Process, sender: Process, seqno: int) -> bool:
        """Whether FLUSH does not have it held back."""
        limit = self._limits.get(process)
        return limit is None or seqno <= limit[sender]

    def must_receive(self, _process: Process, _sender: Process, _seqno: int) -> bool:
        """Whether it arrives whatever happens."""
        return False

    def drop_what_is_beyond(self, process: Process, sender: Process) -> None:
        """What came behind a gap, and is held back, has to come again."""
        limit = self._limits.get(process)
        if limit is not None:
            window = self._group.multicast.windows[process][sender]
            window.ahead = {seqno for seqno in window.ahead if seqno <= limit[sender]}

    def may_serve(self, holder: Process, sender: Process) -> bool:
        """Whether a member sends a multicast again by itself: its own."""
        return holder is sender

    # What the environment may do, for who chooses

    def acting(self, joiner: Process) -> list[Process]:
        """Who may be told that a process wants to join."""
        address = joiner.address
        return [
            process
            for process in self._group.up
            if (state := self.of(process)).acts
            and address not in {*state.decision.members, *state.joining}
            and address not in state.suspected
            and process.address not in self.of(joiner).suspected
            and self._group.connected(joiner, process)
        ]

    def letting_go(self, leaver: Process) -> list[Process]:
        """Who may be told that a process wants to leave."""
        address = leaver.address
        return [
            process
            for process in self._group.up
            if (state := self.of(process)).acts
            and address in state.decision.members
            and (address not in state.leaving or (process is leaver and state.last))
            and self._group.connected(leaver, process)
        ]

    def watched(self, process: Process) -> list[Process]:
        """Whom a process watches and does not suspect (`Watched`)."""
        state = self.of(process)
        current = self._group.membership.current
        return [current[address] for address in sorted(state.watched - state.suspected)]

    def to_report(self, process: Process) -> list[Process]:
        """Of those, whom its failure detector reports in the end (`Reports`)."""
        return [
            other
            for other in self.watched(process)
            if self._is_missed(other, process) or self._counts_out(other, process)
        ]

    def _is_missed(self, other: Process, by: Process) -> bool:
        """It is gone; if in good order, all that it sent has arrived."""
        wires = self._group.unicast.wires
        return not other.up and not (other in self._group.departed and wires.get((other, by)))

    def _counts_out(self, other: Process, process: Process) -> bool:
        """After false suspicions: it suspects the process, or has a view without it or on another way."""
        if not self.judge.falsely or not other.up:
            return False
        theirs, mine = self.of(other), self.of(process)
        if not mine.joined:
            return False
        if process.address in theirs.suspected:
            return True
        if not theirs.joined:
            return False
        if not self._on_one_way(theirs.decision, mine.decision):
            return True
        left_out = process.address not in theirs.decision.members and not mine.left
        later = theirs.decision.id.counter >= mine.decision.id.counter
        return left_out and later and not self._is_let_go(process)

    def _on_one_way(self, one: flush.Decision, other: flush.Decision) -> bool:
        """Whether one of two views is on the way to the other."""
        return one.id in self._way(other) or other.id in self._way(one)

    def _way(self, decision: flush.Decision) -> list[ViewId]:
        way, view = [decision.id, decision.follows], self._known.get(decision.follows)
        while view is not None and view.preds:
            (view,) = view.preds
            way.append(view.view.id)
        return way

    def _is_let_go(self, process: Process) -> bool:
        """It wants to leave, and who lets it go has something to say to it yet."""
        if not process.leaving:
            return False
        runs = [self.of(other).run for other in self._group.up if other is not process]
        asked = any(process.address in {*run.want, *run.reports} for run in runs)
        wires = self._group.unicast.wires.items()
        return asked or any(queue for (_, to), queue in wires if to is process)

    def fetches(self, process: Process) -> list[Fetch]:
        """What the layer below has to fetch, from somebody alive."""
        state = self.of(process)
        asked = self._asked[process] = [
            each
            for each in self._asked.get(process, ())
            if state.owes and (each.owner, each.round) == (state.owner, state.round)
        ]
        current = self._group.membership.current
        return [each.fetch for each in asked if current[each.fetch.holder].up]

    def due(self, process: Process) -> list[Event]:
        """What the environment has to do for a process, in the end."""
        found: list[Event] = [("suspect", process.name, other.name) for other in self.to_report(process)]
        if self.judge.blocked.get(process.address) == "handler":
            found.append(("return", process.name))
        found += [("serve", process.name, each.holder, each.sender) for each in self.fetches(process)]
        if not any(self.of(other).joined for other in self._group.up):
            found.append(("found", process.name))
        elif not self.of(process).joined:
            found += [("join", process.name, acting.name) for acting in self.acting(process)]
        elif process.leaving:
            found += [("ask", process.name, acting.name) for acting in self.letting_go(process)]
        return found

    # Events

    def _found(self, name: str) -> None:
        process = self._group.process(name)
        if any(self.of(other).joined for other in self._group.up):
            raise NotAllowedError("there is a group")
        first = flush.Decision(
            ViewId(process.order + 1, process.address),
            (process.address,),
            NO_VIEW.id,
            frozenset({process.address}),
        )
        for message in (flush.NewView(0, first, frozenset()), flush.StopFlush()):
            self._group.step(process, Arrived(process.address, Tagged(FLUSH, message)))

    def _join(self, name: str, to: str) -> None:
        joiner, acting = self._group.process(name), self._group.process(to)
        if self.of(joiner).joined or acting not in self.acting(joiner):
            raise NotAllowedError(f"{joiner} is in a view, or {acting} cannot be asked")
        self._group.step(acting, Raised(flush.JoinRequested(joiner.address)))

    def _leave(self, name: str) -> None:
        process = self._group.in_view(name)
        if process.leaving:
            raise NotAllowedError(f"{process} leaves already")
        process.leaving = True
        self.judge.wishes.add(process.address)
        self._group.step(process, Raised(flush.LeaveRequested(process.address)))

    def _ask(self, name: str, to: str) -> None:
        leaver, acting = self._group.process(name), self._group.process(to)
        if not leaver.leaving or acting not in self.letting_go(leaver):
            raise NotAllowedError(f"{leaver} does not leave, or {acting} cannot be asked")
        self._group.step(acting, Raised(flush.LeaveRequested(leaver.address)))

    def _suspect(self, name: str, of: str) -> None:
        process, suspect = self._group.process(name), self._group.known(of)
        if suspect not in self.watched(process):
            raise NotAllowedError(f"{process} does not watch {suspect}")
        self.judge.falsely |= suspect not in self.to_report(process)
        self._group.step(process, Raised(flush.Suspected(suspect.address)))

    def _return(self, name: str) -> None:
        process = self._group.process(name)
        if self.judge.blocked.get(process.address) != "handler":
            raise NotAllowedError(f"the application of {process} is not in its handler")
        self.judge.blocked[process.address] = "blocked"
        self._group.step(process, Called(PassDown(flush.BlockReturned())))

    def _serve(self, name: str, holder: str, sender: str) -> None:
        process = self._group.process(name)
        view = process.view
        found = next((f for f in self.fetches(process) if (f.holder, f.sender) == (holder, sender)), None)
        if view is None or found is None or not self._group.connected(process, view.at[found.holder]):
            raise NotAllowedError(f"{process} has nothing of {sender} to fetch from {holder}")
        source = view.at[found.sender]
        window = self._group.multicast.windows[process][source]
        for seqno in range(window.delivered + 1, self._base[process][source] + found.upto + 1):
            if self._group.multicast.has(view.at[found.holder], source, view, seqno):
                self._group.new_copies.append(self._group.multicast.send_again(process, source, view, seqno))

    # What FLUSH does

    def _told(
        self, before: flush.State, event: flush.Event, after: flush.State, effects: tuple[object, ...]
    ) -> None:
        if after.left and not before.left:
            self._group.membership.current[after.member].view = None
        self.judge.told(before, event, after, effects)

    def told(self, process: Process, effect: object) -> None:
        """An effect that the layers below, or the application, have to serve."""
        match effect:
            case PassDown(ViewInstalled()):
                self._installs(process, self.of(process).decision)
            case PassDown(HoldBack(limit)) if process.view is not None:
                base, at = self._base[process], process.view.at
                self._limits[process] = {at[x]: base[at[x]] + count for x, count in limit.items()}
            case PassDown(Release()):
                self._limits.pop(process, None)
            case PassDown(Fetch() as fetch):
                state = self.of(process)
                self._asked.setdefault(process, []).append(_Asked(fetch, state.owner, state.round))
            case PassUp(Left()):
                self._group.departed.add(process)
                self._group.depart(process)
            case _:
                pass  # for an application that does not look

    def _installs(self, process: Process, decision: flush.Decision) -> None:
        group = self._group
        after = judged(lambda: self._known.get(decision.id) or self._decided(decision))
        judged(lambda: group.membership.may_install(process, process.view, after))
        group.enter(process, after, self._cuts.get(after, {}), under=FLUSH)
        windows = group.multicast.windows[process]
        self._base[process] = {sender: window.delivered for sender, window in windows.items()}
        self._cuts.setdefault(after, self._base[process])
        self._limits.pop(process, None)

    def _decided(self, decision: flush.Decision) -> Decided:
        membership = self._group.membership
        follows = self._known.get(decision.follows)
        view = self._known[decision.id] = membership.decide(
            membership.current[decision.id.creator],
            decision.id.counter,
            [membership.current[address] for address in decision.members],
            () if follows is None else (follows,),
        )
        return view

    def _alive(self, address: str) -> bool:
        process = self._group.membership.current.get(address)
        return process is not None and process.up

    def _distrusts(self, address: str, other: str) -> bool:
        return other in self.of(self._group.membership.current[address]).suspected

    # The end

    def quiet(self) -> None:
        """Nothing is on its way: all who live are in one view, free, and who wanted to leave has left."""
        alive = {process.address for process in self._group.up}
        for process in self._group.up:
            self._rests(process, together={*self.of(process).decision.members} == alive)

    def each_line_is_quiet(self) -> None:
        """The same after false suspicions: who is in a view is in it with all its members that live."""
        at = {process.address: self.of(process).decision for process in self._group.up}
        for process in self._group.up:
            mine = at[process.address]
            if mine != flush.NO_DECISION:
                self._rests(process, together=all(at.get(address, mine) == mine for address in mine.members))

    def _rests(self, process: Process, *, together: bool) -> None:
        """It is in a view with whom it should be, and waits for nothing; or it is a violation."""
        state = self.of(process)
        blocked = self.judge.blocked.get(process.address, "free") != "free"
        waits = state.latched or state.owner or state.waiting or blocked or process.leaving
        if waits or not together:
            raise Violation("Settled", f"{process} does not come to rest: {state}")
