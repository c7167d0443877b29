"""FLUSH over GMS: GMS decides the views, and has FLUSH stop the group before it does.

FLUSH stands in the stack of each process, GMS beside it (`served`). What GMS says to FLUSH, and FLUSH to GMS,
is carried at once, as in a stack of both. FLUSH's steps are told to the judge of `VirtualSynchrony`.

The events of a group, besides those in `group` and `served`:

==========================================  ==========================================================
``return P``                                the application of P returns from BLOCK
``serve P Q S``                             the layer below P has from Q what it was to fetch of S
``transfer P``, ``transferred P``           the state transfer of P has the group stopped; and let go
==========================================  ==========================================================

A member's own multicasts and unicasts can be lost with it only. What a member lacks it can have from the
sender, as long as that lives, and from whom FLUSH names.
"""

from collections.abc import Mapping
from typing import Final, cast

from attrs import frozen

from groupcomm import flush
from groupcomm.abstract.membership import Decided, NotAllowedError, Process
from groupcomm.effects import PassDown
from groupcomm.events import Fetch, GroupStopped, HoldBack, Release, Resume, Suspected, Suspend, ViewInstalled
from groupcomm.stack import Called, Raised, Stack
from groupcomm.view import Address

from .claims import Violation
from .group import Event, Gate, Group
from .served import Served
from .synchrony import VirtualSynchrony, Watched

__all__ = ["FLUSH", "Flushed"]

FLUSH: Final = "flush"


@frozen
class _Asked:
    """What a layer below was told to fetch, and in which round of which requester."""

    fetch: Fetch
    owner: str
    round: int


class Flushed(Served):
    """GMS as the membership service of a group that FLUSH stops; also what lets multicasts arrive.

    `transferring`: who has the group stopped for a state transfer, or has asked for that.
    """

    def __init__(self, group: Group, stack: Stack, ignored: frozenset[str]) -> None:
        super().__init__(group, stack)
        assert isinstance(group.stack, Stack)  # noqa: S101 - it has FLUSH in it
        self.gate: Gate | None = self
        self.judge = VirtualSynchrony(ignored, self._alive, self._distrusts)
        names = [layer.name for layer in group.stack.layers]
        self._place: Final = names.index(FLUSH)
        core = group.stack.layers[self._place].core
        assert isinstance(core, Watched)  # noqa: S101 - `stack_of` has seen to it
        core.tell = self.judge.told
        self.transferring: set[Process] = set()
        self._base: dict[Process, dict[Process, int]] = {}
        self._limits: dict[Process, dict[Process, int]] = {}
        self._asked: dict[Process, list[_Asked]] = {}
        self.events = {
            **{kind: event for kind, event in self.events.items() if kind != "stop"},
            "return": self._return,
            "serve": self._serve,
            "transfer": self._transfer,
            "transferred": self._transferred,
        }

    def flush_of(self, process: Process) -> flush.State:
        """The state of FLUSH at a process."""
        return cast("flush.State", self._group.states[process].layers[self._place])

    def departed(self, process: Process) -> None:
        """A process is gone; others are not told."""
        super().departed(process)
        self.judge.crashed(process.address)
        self.transferring.discard(process)
        for kept in (self._base, self._limits, self._asked):
            kept.pop(process, None)

    def forget(self, views: set[Decided]) -> None:
        """Nothing is on its way: forget what is over."""
        super().forget(views)
        self.judge.falsely = self.falsely
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

    def fetches(self, process: Process) -> list[Fetch]:
        """What the layer below has to fetch, from somebody alive."""
        state = self.flush_of(process)
        asked = self._asked[process] = [
            each
            for each in self._asked.get(process, ())
            if state.owes and (each.owner, each.round) == (state.owner, state.round)
        ]
        current = self._group.membership.current
        return [each.fetch for each in asked if current[each.fetch.holder].up]

    def has_stopped(self, process: Process) -> bool:
        """Whether the group is stopped for the state transfer of a process."""
        state = self.flush_of(process)
        return process in self.transferring and state.stopped and flush.FOR_STATE in state.wants

    def due(self, process: Process) -> list[Event]:
        """What the environment has to do for a process, in the end."""
        found = super().due(process)
        if self.judge.blocked.get(process.address) == "handler":
            found.append(("return", process.name))
        found += [("serve", process.name, each.holder, each.sender) for each in self.fetches(process)]
        if self.has_stopped(process):
            found.append(("transferred", process.name))
        return found

    # Events

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

    def _transfer(self, name: str) -> None:
        process = self._group.in_view(name)
        if process in self.transferring:
            raise NotAllowedError(f"the state of {process} is on its way")
        self.transferring.add(process)
        self._group.step(process, Raised(Suspend(flush.FOR_STATE)))

    def _transferred(self, name: str) -> None:
        process = self._group.in_view(name)
        if not self.has_stopped(process):
            raise NotAllowedError(f"the group is not stopped for a state of {process}")
        self.transferring.remove(process)
        self._group.step(process, Raised(Resume(flush.FOR_STATE)))

    # What GMS says, FLUSH hears

    def _suspends(self, process: Process, suspend: Suspend) -> None:
        self.stopped.discard(process)
        self._group.step(process, Raised(suspend))

    def _resumes(self, process: Process, resume: Resume) -> None:
        self._let_go(process)
        self._group.step(process, Raised(resume))

    def _suspects(self, process: Process, suspected: Suspected) -> None:
        self.judge.falsely |= self.falsely
        self._group.step(process, Raised(suspected))

    def _enters(self, process: Process, after: Decided, start: Mapping[Process, int]) -> None:
        self.judge.installed(process.address, self.of(process).decision)
        self._limits.pop(process, None)
        self._group.installed(process, after, start)
        windows = self._group.multicast.windows[process]
        self._base[process] = {sender: window.delivered for sender, window in windows.items()}
        self._group.told_of_view(process, self._says(after))

    def _says(self, after: Decided) -> ViewInstalled:
        """What FLUSH is told of a view."""
        return ViewInstalled(after.view)

    # What FLUSH does

    def told(self, process: Process, effect: object) -> None:
        """An effect that GMS, the layers below, or the application have to serve."""
        if not process.up:  # of the same step, after GMS has left
            return
        match effect:
            case PassDown(GroupStopped(asker) as answer):
                trusted = self._reached(process) if process in self.installed else set()
                there = [other for other in trusted if other.view is process.view]
                self.judge.stopped(process.address, [other.address for other in there])
                if asker == flush.FOR_VIEWS:
                    self._stopped_for(process, answer)
            case PassDown(HoldBack(limit)) if process.view is not None:
                base, at = self._base[process], process.view.at
                self._limits[process] = {at[x]: base[at[x]] + count for x, count in limit.items()}
            case PassDown(Release()):
                self._limits.pop(process, None)
            case PassDown(Fetch() as fetch):
                state = self.flush_of(process)
                self._asked.setdefault(process, []).append(_Asked(fetch, state.owner, state.round))
            case _:
                pass  # for an application that does not look

    def _alive(self, address: Address) -> bool:
        process = self._group.membership.current.get(address)
        return process is not None and process.up

    def _distrusts(self, address: Address, other: Address) -> bool:
        return other in self.of(self._group.membership.current[address]).suspected

    # The end

    def quiet(self) -> None:
        """Nothing is on its way: what GMS says of that, and everybody who is in a view is free."""
        self.held.clear()  # FLUSH itself says who is stopped
        super().quiet()
        for process in self._group.up:
            state = self.flush_of(process)
            blocked = self.judge.blocked.get(process.address, "free") != "free"
            if state.joined and not (state.free and not state.waiting and not state.wants and not blocked):
                raise Violation("QuietIsFree", f"{process} does not go on: {state}")
