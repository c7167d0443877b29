"""Whether refusals keep a member from founding a group.

A refusal says that a member at a place does not open the datagrams of this member. It is certain where a
holder of the key has sealed it. Any other may be a stranger's, and there is no way to know. The rule:

- A member that hears a coordinator with its key joins it, whatever refusals say.
- Where it would found a group, a refusal that is certain forbids that.
- Any other refusal forbids it only while no member with the key is heard. And a place of the own list or
  folder has to answer each of `READINGS` greetings with it. If the refusals cease, the member founds.
"""

from typing import Final

from attrs import define

from .discovery import Place
from .frames import Refusal

READINGS: Final = 5
"""A heartbeat or more lies between two of them."""

_CEASED: Final = 2.0  # seconds without one; a connection that was refused is opened again after one


@define
class Doubts:
    """The refusals that an incarnation has, until it is in a view."""

    last: tuple[Place, Refusal] | None = None
    _at: float = 0.0
    _new: bool = False
    _readings: int = 0

    def refused(self, place: Place, refusal: Refusal, now: float) -> None:
        """A refusal came, at a time in seconds. One that is certain counts before all others."""
        if self.last is None or refusal.certain or not self.last[1].certain:
            self.last = place, refusal
        self._at, self._new = now, True

    def founds(self, now: float, *, hears: bool) -> bool | None:
        """Whether to found a group: None as long as it is not known. `hears`: a member with the key."""
        if self.last is None:
            return True
        if self.last[1].certain:
            return False
        if hears or now - self._at > _CEASED:
            return True
        self._readings += self._new
        self._new = False
        return False if self._readings >= READINGS else None
