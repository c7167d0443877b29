"""Views that are scripted: who is there is chosen event by event, within what `Membership` allows.

The events of a group, besides those in `group`:

==========================================  ==========================================================
``promise P Q``, ``withdraw P Q``           P gives the joiner Q its digest; P's promise to Q is taken back
``decide P COUNTER MEMBERS VIEWS``          P decides a view that follows views (by a member of each)
==========================================  ==========================================================

A process goes from one view to one next, which is fixed when that is decided.
"""

from typing import Final

from groupcomm.abstract.membership import Decided, NotAllowedError, Process
from groupcomm.events import DigestPromised, PromiseWithdrawn
from groupcomm.stack import Raised

from .group import Events, Group

__all__ = ["Scripted"]


class Scripted:
    """The membership service of a group, as its events have it."""

    timers: Final[tuple[str, ...]] = ()
    gate: Final = None

    def __init__(self, group: Group) -> None:
        self._group = group
        self.events: Final[Events] = {
            "promise": self._promise,
            "withdraw": self._withdraw,
            "decide": self._decide,
            "install": self._install,
            "leave": self._leave,
        }

    def next_of(self, process: Process) -> Decided | None:
        """The view that a process is to install next."""
        return self._group.membership.next_of(process)

    def started(self, process: Process) -> None:
        """A process is there; it does nothing by itself."""

    def departed(self, process: Process) -> None:
        """A process is gone; others are not told."""

    def told(self, process: Process, effect: object) -> None:
        """An effect is for an application that does not look."""

    def forget(self, views: set[Decided]) -> None:
        """Views that are over are forgotten: nothing is remembered of them here."""

    def fire(self, process: Process, timer: str) -> None:
        """No timer is set here."""
        raise NotAllowedError(f"{process} has no timer {timer}")

    def _promise(self, name: str, to: str) -> None:
        giver, joiner = self._group.in_view(name), self._group.process(to)
        digests = self._group.digests
        if joiner.view is not None or digests.promised(joiner) is not None:
            raise NotAllowedError(f"{joiner} needs no digest, or has one")
        if not self._group.connected(giver, joiner):
            raise NotAllowedError("a partition is between them")
        digests.promise(giver, joiner, giver.view, self._group.multicast.delivered(giver))
        self._group.step(giver, Raised(DigestPromised(joiner.address)))

    def _withdraw(self, name: str, to: str) -> None:
        giver, joiner = self._group.process(name), self._group.known(to)
        self._group.digests.withdraw(giver, joiner, self._group.membership.views)
        self._group.step(giver, Raised(PromiseWithdrawn(joiner.address)))

    def _decide(self, name: str, counter: int, members: tuple[str, ...], follows: tuple[str, ...]) -> None:
        creator = self._group.process(name)
        processes = [self._group.known(member) for member in members]
        preds: dict[Decided, Process] = {}
        for member in follows:
            base = self._group.membership.last_of(self._group.known(member))
            if base is None:
                raise NotAllowedError(f"{member} is in no view")
            preds.setdefault(base, self._group.known(member))
        if not self._group.remerge and any(
            other in process.met
            and self._group.membership.last_of(other) is not self._group.membership.last_of(process)
            for process in processes
            for other in processes
            if process.view is not None and other.view is not None
        ):
            raise NotAllowedError("the two sides of a split stay apart")
        joiners = [p for p in processes if not any(p in pred.processes for pred in preds)]
        if preds and not self._group.layers.synchrony:
            if joiners and (
                len(preds) > 1 or not all(self._group.digests.stands(p, next(iter(preds))) for p in joiners)
            ):
                raise NotAllowedError("a joiner has no digest to start from")
            if len(preds) > 1 and not all(
                teller.up
                and teller.view is base
                and all(
                    (p in base.processes and self._group.membership.last_of(p) is base)
                    or p.address not in base.at
                    for p in processes
                )
                for base, teller in preds.items()
            ):
                raise NotAllowedError("somebody of each side must tell the others what to start from")
        for process in processes:
            last = self._group.membership.last_of(process)
            if last is not None and last not in preds:
                raise NotAllowedError(f"{process} goes on from {last}, which is not followed")
        if any(counter <= self._group.membership.highest(p.address) for p in joiners):
            raise NotAllowedError("somebody takes an address again and does not join a later view")
        view = self._group.membership.decide(creator, counter, processes, preds)
        for joiner in joiners:
            if self._group.digests.promised(joiner) is not None:
                self._group.digests.redeem(joiner, view)
        if len(preds) > 1 and not self._group.layers.synchrony:
            self._tell_the_other_side(view, preds)

    def _tell_the_other_side(self, view: Decided, preds: dict[Decided, Process]) -> None:
        """In a merge, a member of each side gives its digest to all of the others."""
        for base, teller in preds.items():
            digest = self._group.multicast.delivered(teller)
            for other in view.processes:
                if other not in base.processes:
                    self._group.digests.tell(teller, other, view, digest)
                    self._group.step(teller, Raised(DigestPromised(other.address)))

    def _install(self, name: str) -> None:
        group = self._group
        process = group.process(name)
        after = self.next_of(process)
        if after is None:
            raise NotAllowedError(f"{process} has no view to install")
        if group.synchrony is not None:
            start = group.synchronous(process, after)
        else:
            start = group.digests.start.get((process, after), {})
        group.enter(process, after, start)

    def _leave(self, name: str) -> None:
        process = self._group.in_view(name)
        if process.leaving:
            raise NotAllowedError(f"{process} leaves already")
        process.leaving = True
