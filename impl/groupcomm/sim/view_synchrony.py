"""The multicast layer below SEQUENCER, and virtual synchrony, as pure functions. `SequencerGroup`.

What the coordinator multicasts in one view is a `Stream`. Everybody in the view receives it in order and
without gaps, each at its own pace (NAKACK). Under virtual synchrony a view is closed before the next one is
installed: the layer settles how much of the stream all that go on will have received. That is at least what
one of them has received already, and all of it where its coordinator goes on; uniformly, at least what
anybody has. What is multicast after that reaches nobody who goes on. What a message holds does not matter
here. Messages of a stream are numbered from 1.
"""

from collections.abc import Iterable
from typing import Final, Generic, TypeVar

from attrs import evolve, frozen

from groupcomm.per_member import PerMember
from groupcomm.view import Address, View

M = TypeVar("M")

OPEN: Final = -1
"""As `settled`: the view is not closed. `SequencerGroup!Open`."""


@frozen
class Stream(Generic[M]):
    """What is multicast in one view, and how far it got. `SequencerGroup!log`, `!got`, `!closed`.

    `received`: for each member of the view, the numbers of the messages that reached it. `settled`: how many
    those who are `bound` will have received in this view.
    """

    view: View
    messages: tuple[M, ...]
    received: PerMember[frozenset[int]]
    settled: int = OPEN
    bound: frozenset[Address] = frozenset()


def stream(view: View) -> Stream[M]:
    """A view in which nothing was multicast yet."""
    return Stream(view, (), PerMember((member, frozenset()) for member in view.members))


def multicast(given: Stream[M], message: M) -> Stream[M]:
    """The coordinator multicasts. `SequencerGroup!AfterMulticasts`."""
    return evolve(given, messages=(*given.messages, message))


def pending(given: Stream[M], member: Address) -> tuple[int, ...]:
    """What may still reach a member of the view in it: numbers, rising. `SequencerGroup!MayReach`."""
    is_bound = given.settled != OPEN and member in given.bound
    last = given.settled if is_bound else len(given.messages)
    received = given.received[member]
    return tuple(number for number in range(1, last + 1) if number not in received)


def receive(given: Stream[M], member: Address, number: int) -> Stream[M]:
    """A message reaches a member. ValueError where it cannot. `SequencerGroup!ReceiveData`."""
    if number not in pending(given, member):
        raise ValueError(f"message {number} of {given.view} is none that {member} has yet to receive")
    return _with_received(given, member, given.received[member] | {number})


def forget(given: Stream[M], member: Address) -> Stream[M]:
    """A new incarnation of a member has received nothing. `SequencerGroup!Restart`."""
    return _with_received(given, member, frozenset()) if member in given.received else given


def _with_received(given: Stream[M], member: Address, numbers: frozenset[int]) -> Stream[M]:
    return evolve(given, received=PerMember((*given.received.items(), (member, numbers))))


def settle(
    given: Stream[M], onward: Iterable[Address], *, amount: int | None = None, uniform: bool = False
) -> Stream[M]:
    """Close the view: those in `onward` will have received `amount` messages. `SequencerGroup!CloseView`.

    Without `amount`, as few as there may be. `uniform`: those who do not go on count too. ValueError for too
    few or too many, and where the view is closed already.
    """
    going = frozenset(onward)
    bound = given.view.member_set if uniform else going
    most = len(given.messages)
    least = max((number for member in bound for number in given.received[member]), default=0)
    if given.view.coordinator in going:
        least = most
    settled = least if amount is None else amount
    if given.settled != OPEN or not least <= settled <= most:
        raise ValueError(f"{given.view} cannot be closed with {settled} messages: {least} to {most}")
    return evolve(given, settled=settled, bound=bound)


def complete(given: Stream[M], member: Address) -> bool:
    """Whether a member may go on to the next view. `SequencerGroup!InstallView`."""
    return given.settled != OPEN and given.received[member] == frozenset(range(1, given.settled + 1))
