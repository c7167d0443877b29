"""Pulses: heartbeats that say the same to all members of a view, made and sealed once for all of them.

Nearly all heartbeats say: my view is V, you are a member of it, and I do not suspect you. A member that says
this to all other members of V says it by a pulse: a name that it has drawn for V, and the number of the
heartbeat. Whoever is sent a pulse is sent this heartbeat by HEARTBEAT's step. So a copy that a stranger
sends on to another member is a message that was late, as `Network` permits.

The name stands beside each whole heartbeat. Whole ones go to all until the view has lasted for the patience,
and where a member of it is suspected; then at each fourth beat to one member in turn, with the clock for the
round trip. A member that has heard none of a view yet does not know the name. It takes no pulse, as if it were lost.
"""

from collections.abc import Collection, Iterable
from os import urandom
from typing import Final

from attrs import define, field

from groupcomm.heartbeat import Heartbeat
from groupcomm.view import NO_VIEW, Address, ViewId

from .frames import NAME

_NONE: Final = NO_VIEW.id
_TURNS: Final = 4  # beats from a whole heartbeat to the next: it costs as much as ten pulses


@define
class Pulses:
    """The pulses of one incarnation: its own, and those of others that wait for its next beat."""

    name: bytes = field(factory=lambda: urandom(NAME))
    """That of the own view."""
    to: list[Address] = field(factory=list)
    """Those that are sent the pulse of this step."""
    number: int = 0
    _view: ViewId = _NONE
    _alike: bool = False
    _turn: Address = ""
    _names: dict[bytes, tuple[Address, ViewId]] = field(factory=dict)
    _name_of: dict[Address, bytes] = field(factory=dict)
    _waiting: dict[Address, tuple[int, ViewId]] = field(factory=dict)

    @property
    def count(self) -> int:
        """Members whose name is known."""
        return len(self._name_of)

    def beats(self, number: int, view: ViewId, others: Collection[Address], *, alike: bool) -> None:
        """The heartbeat with this number is sent. `alike`: pulses may say it to the other members of the view."""
        if view != self._view:
            self._view, self.name = view, urandom(NAME)
        self.number, self._alike = number, alike and bool(others)
        turn, rest = divmod(number, _TURNS)
        self._turn = sorted(others)[turn % len(others)] if self._alike and not rest else ""

    def says(self, to: Address, said: Heartbeat) -> bool:
        """True if a pulse says this heartbeat to a member: it is put to those that are sent it."""
        if not self._alike or to == self._turn or not said.counts or said.suspects:
            return False
        self.to.append(to)
        return True

    def named(self, sender: Address, name: bytes, said: Heartbeat) -> bool:
        """A whole heartbeat came, with the name of its sender's view. It is for a member of that view alone.

        True if a pulse could have said it: then it is taken as one.
        """
        if not said.counts or said.view == _NONE:
            return False
        if self._names.get(name) == (sender, said.view):
            return not said.suspects and self.heard(name, said.number)
        self._names.pop(self._name_of.get(sender, b""), None)
        self._name_of[sender] = name
        self._names[name] = sender, said.view
        return False

    def heard(self, name: bytes, number: int) -> bool:
        """Take a pulse. False where the name is not known."""
        found = self._names.get(name)
        if found is None:
            return False
        sender, view = found
        if number > self._waiting.get(sender, (0, view))[0]:
            self._waiting[sender] = number, view
        return True

    def taken(self) -> Iterable[tuple[Address, Heartbeat]]:
        """The last heartbeat of each sender of pulses since the own last one: no silence is counted between them."""
        waiting, self._waiting = self._waiting, {}
        for sender, (number, view) in waiting.items():
            yield sender, Heartbeat(number, view, counts=True, suspects=False)

    def keep(self, staying: Collection[Address]) -> None:
        """Forget the names of all others."""
        if len(self._name_of) > len(staying):
            self._name_of = {each: name for each, name in self._name_of.items() if each in staying}
            self._names = {name: found for name, found in self._names.items() if found[0] in staying}
