"""`ApplicationView`: what the applications of a whole stack may see, conjunct by conjunct.

A history is what the application of one incarnation has asked and been told, in order: its `Multicast`
requests, and the events `Deliver`, `ViewInstalled`, `MergeViewInstalled`, `Block`, `Unblock` and `Left`. The
payload of a message is its name, a `Message`: each incarnation has a name of its own.

The conjuncts are functions of histories: a search judges each pair once, a simulation all at each rest.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import combinations, takewhile
from typing import Final, TypeAlias, cast

from attrs import evolve, field, frozen

from groupcomm.effects import Multicast, PassUp
from groupcomm.events import Block, Deliver, Left, MergeViewInstalled, Unblock, ViewInstalled
from groupcomm.stack import Called
from groupcomm.view import Address, View, ViewId

from .claims import Judge, Message, Verdicts
from .membership import Process

History: TypeAlias = tuple[object, ...]

CONJUNCTS: Final = (
    "SelfInclusion",
    "OnceInView",
    "ViewsRise",
    "MergesOwn",
    "SendsInView",
    "DeliversInView",
    "SenderIsMember",
    "NoDuplicates",
    "SenderFifo",
    "BlocksAlternate",
    "BlockedBeforeView",
    "NothingAfterLeft",
    "OneIdentifierOneView",
    "OneMergeOfView",
    "OneOrderInView",
    "VirtualSynchrony",
    "Integrity",
    "NoGaps",
    "TotalOrder",
)
_SEEN: Final = (Block, Deliver, Left, Unblock, ViewInstalled)


def seen(event: object, effects: Iterable[object]) -> History:
    """Give what an application sees of a composite step: its own multicast, and the events passed up.

    A unicast, which has no payload here, is none of it.
    """
    asked = event.request if isinstance(event, Called) else None
    told = (effect.event for effect in effects if isinstance(effect, PassUp))
    return (
        *((asked,) if isinstance(asked, Multicast) else ()),
        *(each for each in told if isinstance(each, _SEEN) and getattr(each, "payload", each) is not None),
    )


@frozen
class _Stay:
    """A stay in a view: the messages known before, those given in it, and the view after it, if any."""

    told: ViewInstalled
    before: frozenset[Message]
    given: list[Message] = field(factory=list)
    after: list[ViewId] = field(factory=list)

    @property
    def merged(self) -> frozenset[ViewId]:
        """The identifiers of the merged views."""
        return self.told.subgroups if isinstance(self.told, MergeViewInstalled) else frozenset()


@frozen
class Life:
    """The history of a member, as its conjuncts ask for it.

    `sent`: of each number that it sent, how many views it had been in. `given`: of each sender the numbers,
    in order, each with that. `settled`: the messages that it was given in views that it has left.
    """

    member: str
    history: History
    way: list[ViewId] = field(factory=list)
    stays: dict[ViewId, list[_Stay]] = field(factory=dict)
    sent: dict[int, list[int]] = field(factory=dict)
    given: dict[str, list[tuple[int, int]]] = field(factory=dict)
    settled: list[Message] = field(factory=list)

    @classmethod
    def of(cls, member: str, history: History) -> "Life":
        """Read a history."""
        life, known, stay = cls(member, history), set[Message](), None
        for each in history:
            match each:
                case Multicast((_, number)):
                    life.sent.setdefault(number, []).append(len(life.way))
                case Deliver(sender, payload):
                    number = cast("Message", payload)[1]
                    known.add((sender, number))
                    life.given.setdefault(sender, []).append((number, len(life.way)))
                    if stay is not None:
                        stay.given.append((sender, number))
                case ViewInstalled(view):
                    if stay is not None:
                        stay.after.append(view.id)
                        life.settled.extend(stay.given)
                    stay = _Stay(each, frozenset(known))
                    life.stays.setdefault(view.id, []).append(stay)
                    life.way.append(view.id)
                case _:
                    pass
        return life


def of_one(life: Life) -> Iterator[str]:
    """Name the conjuncts that do not hold of one application."""
    view: ViewInstalled | None = None
    known, highest, own = set[Message](), dict[str, int](), set[int]()
    block: type[Block | Unblock] | None = None
    over = False
    for each in life.history:
        if over:
            yield "NothingAfterLeft"
        match each:
            case ViewInstalled():
                yield from _enters(life.member, view, each, block)
                view = each
            case Deliver(sender, payload):
                name, number = cast("Message", payload)
                if view is None:
                    yield "DeliversInView"
                elif sender not in view.view.members:
                    yield "SenderIsMember"
                if (sender, number) in known:
                    yield "NoDuplicates"
                elif number < highest.get(sender, 0):
                    yield "SenderFifo"
                if name != sender or (sender == life.member and number not in own):
                    yield "Integrity"
                known.add((sender, number))
                highest[sender] = max(number, highest.get(sender, 0))
            case Multicast((_, number)):
                if view is None:
                    yield "SendsInView"
                own.add(number)
            case Block() | Unblock():
                if type(each) is (block or Unblock):
                    yield "BlocksAlternate"
                else:
                    block = type(each)
            case _:
                over = True
    yield from _skips(life, life)


def _enters(member: str, view: ViewInstalled | None, told: ViewInstalled, block: type | None) -> Iterator[str]:
    members = told.view.members
    if member not in members:
        yield "SelfInclusion"
    if len({*members}) < len(members):
        yield "OnceInView"
    if view is None:
        return
    if view.view.id.counter >= told.view.id.counter:
        yield "ViewsRise"
    if isinstance(told, MergeViewInstalled) and view.view.id not in told.subgroups:
        yield "MergesOwn"
    if block is Unblock:
        yield "BlockedBeforeView"


def of_two(one: Life, other: Life, *, one_path: bool = False) -> Iterator[str]:
    """Name the conjuncts that do not hold of two applications. `one_path`: their views are one path."""
    for view in one.stays.keys() & other.stays.keys():
        for mine in one.stays[view]:
            for theirs in other.stays[view]:
                yield from _differ(mine, theirs)
    for sender, receiver in ((one, other), (other, one)):
        if any(number not in sender.sent for number, _ in receiver.given.get(sender.member, ())):
            yield "Integrity"
        yield from _skips(sender, receiver)
    if one_path:
        both = {*one.settled} & {*other.settled}
        if [m for m in one.settled if m in both] != [m for m in other.settled if m in both]:
            yield "TotalOrder"


def _differ(mine: _Stay, theirs: _Stay) -> Iterator[str]:
    if mine.told.view.members != theirs.told.view.members:
        yield "OneIdentifierOneView"
    if mine.merged and theirs.merged and mine.merged != theirs.merged:
        yield "OneMergeOfView"
    x = [message for message in mine.given if message not in theirs.before]
    y = [message for message in theirs.given if message not in mine.before]
    if x[: len(y)] != y[: len(x)]:
        yield "OneOrderInView"
    if mine.after and mine.after == theirs.after and x != y:
        yield "VirtualSynchrony"


def _skips(sender: Life, receiver: Life) -> Iterator[str]:
    """`NoGaps`: the receiver has gone the sender's way since a message, and is given a later one first."""
    lacking, known = deque(sorted(sender.sent)), set[int]()
    for number, views in receiver.given.get(sender.member, ()):
        while lacking and lacking[0] in known:
            lacking.popleft()
        for skipped in takewhile(number.__gt__, lacking):
            if skipped not in known and any(
                begun and _has_gone(sender.way[begun - 1 :], receiver.way[:views]) for begun in sender.sent[skipped]
            ):
                yield "NoGaps"
        known.add(number)


def _has_gone(theirs: list[ViewId], way: list[ViewId]) -> bool:
    """Say whether a way ends with a beginning of theirs."""
    return any(way[at:] == theirs[: len(way) - at] for at, view in enumerate(way) if view == theirs[0])


def violated(lives: Iterable[Life], *, one_path: bool = False) -> Iterator[tuple[str, tuple[Life, ...]]]:
    """Name the conjuncts that do not hold, each with the histories of which it does not."""
    lives = tuple(lives)
    for life in lives:
        yield from ((claim, (life,)) for claim in of_one(life))
    for pair in combinations(lives, 2):
        yield from ((claim, pair) for claim in of_two(*pair, one_path=one_path))


class ApplicationView(Judge):
    """The applications of all processes, judged at each rest by what they have seen since the one before."""

    def __init__(self, verdicts: Verdicts) -> None:
        super().__init__(verdicts)
        self._seen: dict[Process, list[object]] = {}

    def hear(self, process: Process, event: object, effects: Iterable[object]) -> None:
        """A process has taken a composite step."""
        new = seen(event, effects)
        if new:
            self._seen.setdefault(process, []).extend(new)

    def quiet(self, *, one_path: bool) -> None:
        """Nothing is on its way."""
        lives = [Life.of(process.name, _named(process, seen)) for process, seen in self._seen.items()]
        if len(lives) > 1:
            self._judged("ApplicationView")
        merged = any(isinstance(each, MergeViewInstalled) for life in lives for each in life.history)
        for claim, of in violated(lives, one_path=one_path and not merged):
            text = "; ".join(f"{life.member} has seen {life.history}" for life in of)
            self._fail("ApplicationView", f"{claim}: {text}")

    def forget(self, kept: set[Process]) -> None:
        """Every process is past what it has seen, but for its view."""
        self._seen = {process: seen for process, seen in self._seen.items() if process in kept}
        for seen in self._seen.values():
            seen[:] = [each for each in seen if isinstance(each, ViewInstalled)][-1:]


def _named(process: Process, history: Iterable[object]) -> History:
    """Name the processes of a history, where there are addresses: an address may be used again."""
    views, at = {decided.view.id: decided.at for decided in process.path}, dict[Address, Process]()
    named: list[object] = []
    for each in history:
        match each:
            case ViewInstalled(view):
                at = views[view.id]
                told = evolve(each, view=View(view.id, tuple(at[member].name for member in view.members)))
                named.append(told)
            case Deliver(sender) if sender in at:
                named.append(evolve(each, sender=at[sender].name))
            case _:
                named.append(each)
    return tuple(named)
