"""When a member may send, by what it keeps for others: the rule of `spec/note_flow`, which has no core.

`Window` of the specification is `_WINDOW` of group.py, its `Room` are the two numbers here.
"""

from collections import deque
from collections.abc import Mapping

from attrs import define, field

from groupcomm import nakack
from groupcomm.view import Address, ViewId

from .layers import payload_in


@define
class Flow:
    """The multicasts that NAKACK keeps in its view, and the turn of one that waits.

    `unstable`: a multicast begins if fewer than these are kept, of each origin. `unstable_bytes`: likewise for
    the bytes of all. Each call gets NAKACK's state, which follows that of the call before.
    """

    unstable: int
    unstable_bytes: int
    _followed: nakack.State | None = None
    _view: ViewId | None = None
    _windows: dict[Address, tuple[int, deque[int]]] = field(factory=dict)
    """Of each origin how many are purged, and the sizes of the kept."""
    _total: int = 0
    _most: int = 0
    """The most that are kept of an origin."""
    _ahead: Mapping[Address, int] | None = None
    """Of each origin what was delivered when a multicast began to wait. It begins at the latest when that is purged."""

    def may_send(self, state: nakack.State) -> bool:
        """Return true if a multicast may begin."""
        self._follows(state)
        return self._has_room() or self._is_its_turn(state)

    def waits(self, state: nakack.State) -> None:
        """Note what is ahead of the multicast that waits, unless one waits already."""
        self._follows(state)
        if self._ahead is None:
            self._ahead = {origin: window.delivered for origin, window in state.windows.items()}

    def begins(self) -> bool:
        """Take the turn: one multicast begins. Return true if one has waited."""
        waited, self._ahead = self._ahead is not None, None
        return waited

    def _has_room(self) -> bool:
        return self._most < self.unstable and self._total < self.unstable_bytes

    def _is_its_turn(self, state: nakack.State) -> bool:
        ahead = self._ahead
        return ahead is not None and all(
            window.purged >= ahead.get(origin, window.purged) for origin, window in state.windows.items()
        )

    def _follows(self, state: nakack.State) -> None:
        if state is self._followed:  # as at most datagrams, which are heartbeats
            return
        self._followed = state
        if state.view.id != self._view:
            self._view, self._windows, self._total = state.view.id, {}, 0
            self._ahead = None  # nothing is kept of the view before
        for origin, window in state.windows.items():
            purged, sizes = self._windows.get(origin, (window.purged, deque[int]()))
            for _ in range(min(window.purged - purged, len(sizes))):
                self._total -= sizes.popleft()
            for message in window.kept[len(sizes) :]:
                sizes.append(len(payload_in(message)))
                self._total += sizes[-1]
            self._windows[origin] = window.purged, sizes
        self._most = max((len(window.kept) for window in state.windows.values()), default=0)
