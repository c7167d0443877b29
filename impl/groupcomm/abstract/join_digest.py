"""The digests that joiners start from, and who has promised them. `JoinDigest`.

A member that gives a joiner its digest promises to keep what comes after it, until a view with the joiner is
installed or the promise is withdrawn. It may be given in any view before the joiner's: it reaches a view to
which its giver goes from view to view, and everybody there with it, or has joined on the way. The joiner's
view is the next after one that it reaches.
"""

from typing import Final

from .membership import Decided, NotAllowedError, Process

GIVES: Final = ("JoinDigest",)


class Promise:
    """Who gave a digest, in which view, to whom, and what the digest said: the highest seqnos delivered."""

    __slots__ = ("digest", "giver", "to", "view")

    def __init__(self, giver: Process, to: Process, view: Decided, digest: dict[Process, int]) -> None:
        self.giver = giver
        self.to = to
        self.view = view
        self.digest = digest


class JoinDigest:
    """The promises that are kept, and what each joiner will start from.

    `open`: per joiner, the promise that a view with it may rely on. `kept`: per giver, the processes that it
    was not told of since: no view with them, no withdrawal.
    """

    def __init__(self) -> None:
        self.open: dict[Process, Promise] = {}
        self.kept: dict[Process, set[Process]] = {}
        self.start: dict[tuple[Process, Decided], dict[Process, int]] = {}

    def promise(self, giver: Process, to: Process, digest: dict[Process, int]) -> None:
        """Give a digest. NotAllowedError to who has one, or is in a view, and by who is in none."""
        if giver.view is None or not giver.up or to in self.open or to.view is not None:
            raise NotAllowedError(f"{giver} cannot promise {to} a digest")
        self.open[to] = Promise(giver, to, giver.view, digest)
        self.kept.setdefault(giver, set()).add(to)

    def tell(self, giver: Process, to: Process, view: Decided, digest: dict[Process, int]) -> None:
        """In a merge, a member of one side gives its digest to one of the other side."""
        self.start.setdefault((to, view), {}).update(digest)
        self.kept.setdefault(giver, set()).add(to)

    def withdraw(self, giver: Process, to: Process, views: list[Decided]) -> None:
        """Take a promise back for good: no view relies on it, or all have installed that view.

        NotAllowedError where there is none, or somebody who is up has yet to install such a view.
        """
        if to not in self.kept.get(giver, ()):
            raise NotAllowedError(f"{giver} has promised {to} nothing")
        if any(to in v.processes and any(p.up and not _passed(p, v) for p in v.processes) for v in views):
            raise NotAllowedError(f"somebody has yet to install a view with {to}")
        self.kept[giver].discard(to)
        promise = self.open.get(to)
        if promise is not None and promise.giver is giver:
            del self.open[to]

    def stands(self, to: Process, before: Decided) -> bool:
        """Whether a joiner may be in the next view after a view, with the digest that it was given."""
        promise = self.open.get(to)
        return (
            promise is not None
            and leads(promise.giver, promise.view, before)
            and all(_told_of(s, promise, before) for s in before.processes)
        )

    def redeem(self, to: Process, view: Decided) -> None:
        """A view with the joiner is decided, and relies on what it was promised."""
        self.start[to, view] = self.open.pop(to).digest

    def installed(self, giver: Process, view: Decided) -> None:
        """A process installs a view: whoever is in it needs its promise no longer."""
        self.kept.get(giver, set()).difference_update(
            [to for to in self.kept.get(giver, ()) if to.address in view.at]
        )

    def forget(self, views: set[Decided]) -> None:
        """Forget what joiners of views that are over started from."""
        self.start = {(to, view): digest for (to, view), digest in self.start.items() if view in views}
        self.kept = {giver: kept for giver, kept in self.kept.items() if giver.up and kept}


def _passed(process: Process, view: Decided) -> bool:
    """Whether a process has installed a view, or a later one on its path."""
    return process.view is not None and (process.view is view or process.view.number > view.number)


def leads(process: Process, first: Decided, last: Decided) -> bool:
    """Whether a process is a member all the way from a view to a later one."""
    return process in last.processes and (first is last or any(leads(process, first, p) for p in last.preds))


def _told_of(sender: Process, promise: Promise, last: Decided) -> bool:
    """Whether a digest says where to start with a sender, for a view that follows `last`.

    The sender has been with the giver all the way, or began on the way. One that parted from it and came back
    with a merge has perhaps purged, among others, what the digest leaves to come.
    """
    if sender not in last.processes or promise.giver not in last.processes:
        return False
    if last is promise.view:
        return sender in promise.digest
    return sender in last.joins or any(_told_of(sender, promise, pred) for pred in last.preds)
