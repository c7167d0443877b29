"""The reliable-multicast layer below STABLE, GMS and FLUSH, as pure functions. `ReliableMulticast`.

A member keeps one `Window` a sender of its view. Adding a message delivers what has become deliverable in
the same step (DLV-03); a member receives its own multicasts (DLV-04); only received messages are in the
store (DLV-05). What a message holds does not matter here, so a window keeps seqnos only.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from attrs import evolve, frozen

from groupcomm.digest import NOTHING, Digest, DigestEntry, Vector
from groupcomm.view import Address


@frozen
class Window:
    """A sender's messages at one receiver. `ReliableMulticast!Window`.

    `low`: the starting point, not a purge. `delivered`: highest seqno delivered. `ahead`: seqnos received
    behind a gap. `purged`: highest seqno that stability let go.
    """

    low: int
    delivered: int
    ahead: frozenset[int]
    purged: int

    @property
    def received(self) -> int:
        """The highest seqno received; never below `delivered` (STB-02)."""
        return max(self.ahead, default=self.delivered)


Windows: TypeAlias = Mapping[Address, Window]


def window(low: int = NOTHING) -> Window:
    """A window that starts after `low`. `ReliableMulticast!Window`."""
    return Window(low=low, delivered=low, ahead=frozenset(), purged=NOTHING)


def add(given: Window, seqno: int) -> Window:
    """Seqno reaches the window; whatever is deliverable now is delivered. `ReliableMulticast!Add`."""
    if not lacks(given, seqno):
        return given
    got = given.ahead | {seqno}
    reach = given.delivered
    while reach + 1 in got:
        reach += 1
    return evolve(given, delivered=reach, ahead=frozenset(n for n in got if n > reach))


def lacks(given: Window, seqno: int) -> bool:
    """Whether the seqno was neither delivered nor received. `ReliableMulticast!Lacks`."""
    return seqno > given.delivered and seqno not in given.ahead


def holds(given: Window, seqno: int) -> bool:
    """Whether the store can serve a retransmission of the seqno. `ReliableMulticast!Holds`."""
    return seqno > given.low and seqno > given.purged and not lacks(given, seqno)


def purge(windows: Windows, vector: Vector) -> Windows:
    """Stability reached up to these seqnos, inclusive. `ReliableMulticast!Purge` (AMB-10)."""
    return {
        sender: evolve(given, purged=max(given.purged, vector[sender])) if sender in vector else given
        for sender, given in windows.items()
    }


def digest_of(windows: Windows) -> Digest:
    """The layer's digest. `ReliableMulticast!DigestOf`."""
    return Digest(
        tuple(
            (sender, DigestEntry(given.low, given.delivered, given.received))
            for sender, given in windows.items()
        ),
    )


def install_windows(windows: Windows, members: Iterable[Address]) -> Windows:
    """A new view: who stays keeps a window, a joiner's is new. `ReliableMulticast!InstallWindows`."""
    return {sender: windows.get(sender) or window() for sender in members}


def join_windows(start: Vector, members: Iterable[Address]) -> Windows:
    """A joiner's windows start where the digest it was given ends. `ReliableMulticast!JoinWindows`."""
    return {sender: window(start.get(sender, NOTHING)) for sender in members}
