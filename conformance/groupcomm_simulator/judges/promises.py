"""The digests that joiners start from, and the members that have promised them. `JoinDigest`.

A member that gives a joiner its digest promises to keep what comes after it, until a view with the joiner is
installed or the promise is withdrawn. It may be given in any view before the joiner's. It reaches each later
view of its giver, as long as every member of that view came the same way or joined on the way. The joiner's
view is a successor of a view that the promise reaches.
"""

from collections.abc import Mapping

from .membership import Decided, NotAllowedError, Process


class Promise:
    """A promise: its giver, the giver's view, the joiner, and the digest: the highest seqnos delivered."""

    __slots__ = ("digest", "giver", "to", "view")

    def __init__(self, giver: Process, to: Process, view: Decided, digest: dict[Process, int]) -> None:
        self.giver = giver
        self.to = to
        self.view = view
        self.digest = digest


class JoinDigest:
    """The promises that are kept, and what each joiner will start from.

    `open`: by giver and joiner, the promises that are neither redeemed nor withdrawn. `kept`: per giver, the
    processes without a later notice to the giver: no view with them, no withdrawal.
    """

    def __init__(self) -> None:
        self.open: dict[tuple[Process, Process], Promise] = {}
        self.kept: dict[Process, set[Process]] = {}
        self._relying: dict[Promise, Decided] = {}

    def promise(self, giver: Process, to: Process, view: Decided | None, digest: dict[Process, int]) -> None:
        """Give a digest, in a view. NotAllowedError where that is forbidden. `JoinDigest!MayPromise`."""
        if view is None or not giver.up:
            raise NotAllowedError(f"{giver} promises a digest and is in no view", "PromiseeIsOutside")
        if to.address in view.at:
            raise NotAllowedError(f"{giver} promises {to} a digest: {view} has that address", "PromiseeIsOutside")
        for promise in [p for p in self.open.values() if p.giver is giver and p.to.address == to.address]:
            if promise.to.order >= to.order:
                raise NotAllowedError(f"{giver} has promised {to} a digest already", "OneOpenPromise")
            del self.open[giver, promise.to]  # that incarnation is over
        self.open[giver, to] = Promise(giver, to, view, digest)
        self.kept.setdefault(giver, set()).add(to)

    def rely(self, giver: Process, to: Process, view: Decided) -> None:
        """A view that a giver decides has the joiner in it: it may be installed, and the promise stays."""
        promise = self.open.get((giver, to))
        if promise is not None:
            self._relying[promise] = view

    def take_back(self, giver: Process, to: Process) -> None:
        """A giver withdraws its promise. NotAllowedError if a view relies on it. `JoinDigest!MayWithdraw`.

        The joiner may have begun elsewhere: then nothing is open any more.
        """
        if to not in self.kept.get(giver, ()):
            raise NotAllowedError(f"{giver} takes back what it never promised {to}", "WithdrawOnlyIfUnusable")
        promise = self.open.get((giver, to))
        if promise is not None and promise in self._relying:
            raise NotAllowedError(
                f"{giver} takes back what {self._relying[promise]} relies on", "WithdrawOnlyIfUnusable"
            )
        self.kept[giver].discard(to)
        self.open.pop((giver, to), None)

    def begin(self, to: Process, view: Decided, vector: Mapping[Process, int]) -> None:
        """A joiner installs a view and starts from a vector: a promise says so, and all to it are redeemed.

        NotAllowedError where none does. `JoinDigest!Install`.
        """
        promises = [p for p in self.open.values() if p.to is to]
        for pred in view.preds:
            reaching = [p for p in promises if to not in pred.processes and _reaches(p, pred)]
            if not reaching:
                raise NotAllowedError(f"{to} begins with {view} without an open promise", "StartRequiresPromise")
            telling = [p for p in reaching if all(_told_of(s, p, pred) for s in pred.processes)]
            if not telling:
                raise NotAllowedError(f"{to} begins with {view}, with a digest that lacks a sender", "DigestIsComplete")
            if not any(all(p.digest.get(s) == seqno for s, seqno in vector.items()) for p in telling):
                raise NotAllowedError(
                    f"{to} starts from {dict(vector)}; it was promised {telling[0].digest}", "DigestIsDelivered"
                )
        for promise in promises:
            del self.open[promise.giver, to]
            self._relying.pop(promise, None)

    def installed(self, giver: Process, view: Decided) -> None:
        """A process installs a view: whoever is in it needs its promise no longer."""
        self.kept.get(giver, set()).difference_update([to for to in self.kept.get(giver, ()) if to.address in view.at])

    def forget(self, views: set[Decided]) -> None:
        """Forget the promises of processes that are gone, and to them."""
        self.kept = {giver: kept for giver, kept in self.kept.items() if giver.up and kept}
        self.open = {pair: promise for pair, promise in self.open.items() if pair[0].up and pair[1].up}
        self._relying = {promise: view for promise, view in self._relying.items() if view in views}


def leads(process: Process, first: Decided, last: Decided) -> bool:
    """Say whether a process is a member all the way from a view to a later one."""
    return process in last.processes and (first is last or any(leads(process, first, p) for p in last.preds))


def _reaches(promise: Promise, view: Decided) -> bool:
    """Say whether agreement in each view on the way needs giver, or then joiner: `JoinDigest!Reaches`."""
    if view.number <= promise.view.number:
        return view is promise.view
    there = promise.to in view.processes
    return (there or promise.giver in view.processes) and any(
        (there or promise.to not in pred.processes) and _reaches(promise, pred) for pred in view.preds
    )


def _told_of(sender: Process, promise: Promise, last: Decided) -> bool:
    """Say whether a digest says where to start with a sender, for a view that follows `last`.

    The sender has been with the giver all the way, or began on the way. One that parted from it and came back
    with a merge has perhaps purged, among others, what the digest leaves to come.
    """
    if sender not in last.processes or promise.giver not in last.processes:
        return False
    if last is promise.view:
        return sender in promise.digest
    return sender in last.joins or any(_told_of(sender, promise, pred) for pred in last.preds)
