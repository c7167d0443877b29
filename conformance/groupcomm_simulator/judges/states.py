"""`OneState` and `OneSequence`, judged after each step of a member; in the end, that all have a state."""

from collections.abc import Container, Iterable
from typing import Final, TypeAlias

from groupcomm import state_transfer
from groupcomm.view import Address, ViewId

from .claims import Judge, Message, Verdicts

Story: TypeAlias = tuple[Message, ...]
"""The state of an application, as the sequence of messages that made it."""


def _is_prefix(one: Story, other: Story) -> bool:
    return one == other[: len(one)]


class OneState(Judge):
    """The members of a view that have the state have one, and no message twice; in the end each has it."""

    def __init__(self, verdicts: Verdicts) -> None:
        super().__init__(verdicts)
        self._stories: dict[ViewId, dict[int, Story]] = {}  # of each view, the state at places of its order

    def holds(self, member: Address, view: ViewId, place: int, story: Story) -> None:
        """A member has the state at a place of its view's order, and no choice is open."""
        stories = self._stories.setdefault(view, {})
        there = stories.get(place)
        if there is not None:
            self._judged("SameAtSamePlace")
            if there != story:
                self._fail("SameAtSamePlace", f"{member} differs at {place} of {view}: {story}, not {there}")
            return
        earlier = max((at for at in stories if at < place), default=None)
        if earlier is not None:
            self._judged("MoreAtLaterPlace")
            if not _is_prefix(stories[earlier], story):
                self._fail(
                    "MoreAtLaterPlace",
                    f"{member} has {story} at {place} of {view}, and there was {stories[earlier]} at {earlier}",
                )
        later = min((at for at in stories if at > place), default=None)
        if later is not None:
            self._judged("MoreAtLaterPlace")
            if not _is_prefix(story, stories[later]):
                self._fail(
                    "MoreAtLaterPlace",
                    f"{member} has {story} at {place} of {view}, and there was {stories[later]} at {later}",
                )
        stories[place] = story

    def knows(self, member: Address, state: state_transfer.State, *, knows: bool) -> None:
        """A member has taken a step, after which its application has heard that it has the state, or has not."""
        self._judged("KnowsItsState")
        if (state.has and state.settled and not knows) or (knows and (not state.has or state.vacant)):
            self._fail("KnowsItsState", f"{member} has heard {knows}, and is in {state}")

    def passed_up(self, member: Address, message: Message, story: Story) -> None:
        """A member's application takes a message, which makes this state."""
        self._judged("NothingTwice")
        if message in story[:-1]:
            self._fail("NothingTwice", f"{message} is twice in the state of {member}")

    def quiet(self, has: Iterable[tuple[Address, bool]]) -> None:
        """Nothing is on its way: all have the state. Where none has, one has declared its own."""
        for member, holds in has:
            self._judged("EventuallyHasState")
            if not holds:
                self._fail("EventuallyHasState", f"{member} never has the state, and nothing is on its way")

    def forget(self) -> None:
        """Every member is past its former views."""
        self._stories.clear()


class OneSequence(Judge):
    """With `majority`: the state of the primary only grows, over formed views, and has what was told safe before."""

    def __init__(self, verdicts: Verdicts) -> None:
        super().__init__(verdicts)
        self._counter = 0
        self._sequence: Story = ()
        self._safe: list[tuple[int, Message]] = []
        self._declared: list[tuple[Story, frozenset[Message]]] = []  # and what was safe before

    def is_safe(self, view: ViewId, message: Message) -> None:
        """A member hears in a view that its message is safe."""
        self._safe.append((view.counter, message))

    def in_primary(self, member: Address, view: ViewId, story: Story, ordered: Container[Message]) -> None:
        """A member has the state in a formed view, in which these messages were ordered, some perhaps again.

        Those that its state ends with may be its own alone: it may be cut off. They count where a next view has them.
        """
        if view.counter < self._counter:
            return
        claim: Final = "PrimaryHasSequence" if view.counter == self._counter else "SequenceOnlyGrows"
        self._judged(claim)
        excused = [safe for begun, safe in self._declared if _is_prefix(begun, story)]
        if not _is_prefix(self._sequence, story) and (view.counter == self._counter or not excused):
            self._fail(claim, f"{member} has {story} in {view}, and the primary had {self._sequence}")
        if view.counter > self._counter:
            before = max((place for place, each in enumerate(story, 1) if each not in ordered), default=0)
            self._counter, self._sequence = view.counter, story[:before]
            for counter, message in self._safe:
                if counter < view.counter:
                    self._judged("SafeIsKept")
                    if message not in story and not any(message in safe for safe in excused):
                        self._fail("SafeIsKept", f"{message} is safe, and {member} in {view} has {story}")
            self._safe = [each for each in self._safe if each[0] >= view.counter]
            self._declared = [each for each in self._declared if not _is_prefix(each[0], story)]

    def declared(self, story: Story) -> None:
        """A state is declared. Where a later view is formed with it, and only there, the sequence begins anew."""
        self._declared.append((story, frozenset(message for _, message in self._safe)))
