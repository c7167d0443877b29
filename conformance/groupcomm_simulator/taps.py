"""Taps: what happens inside a stack, layer by layer, for judges that stand between the layers.

Several views may pass through a stack in one composite step, and its effects do not show what passed
between its layers. So each layer's step is noted where it happens. The notes of a composite step are read
when it is over: a step that the stack refuses has changed nothing, and no judge hears of it.
"""

from typing import Any, Final

from attrs import frozen

from groupcomm.stack import AnyCore
from groupcomm.view import Address


@frozen
class Note:
    """A step of a layer: its place in the stack, its state before and after, the event and the effects."""

    place: int
    before: Any
    event: Any
    after: Any
    effects: tuple[Any, ...]


class Tap:
    """A core at a place of a stack, whose steps are noted. `core`: the core itself."""

    def __init__(self, core: AnyCore, place: int, notes: list[Note]) -> None:
        self.core: Final = core
        self._place = place
        self._notes = notes

    def start(self, member: Address) -> Any:  # noqa: ANN401 - a state of the core
        """Return what the core returns."""
        return self.core.start(member)

    def step(self, config: Any, state: Any, event: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - of the core
        """Do what the core does."""
        after, effects = self.core.step(config, state, event)
        self._notes.append(Note(self._place, state, event, after, effects))
        return after, effects
