"""`OneSequence` of logs: with a state and `majority` all that applications have applied is one sequence.

The state of an application is known by what has made it: the messages that were passed up to it, after the state that
it was given, which its provider had marked. A member that is cut off may apply messages beyond the sequence, until it
is given the state of the others.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence

from attrs import define, field

from groupcomm.view import Address, ViewId

from .replaying import Declares, Life, Marks, Primary, Rejected, Sets, Takes


@define(eq=False)
class _Story:
    """A state: after each message that has made it, a number that stands for all of them in their order."""

    after: list[int] = field(factory=lambda: [0])

    def takes(self, *what: object) -> None:
        self.after.append(hash((self.after[-1], *what)))


@define
class _Stay:
    """A member in a formed view with the state: its story, and how much that had at first and at last."""

    log: str
    line: int
    story: _Story
    first: int
    last: int

    def agrees(self, other: "_Stay", place: int) -> bool:
        """Say whether two stories are the same as far as a place."""
        return self.story.after[place] == other.story.after[place]


def one_sequence(lives: Sequence[Life], counts: Counter[str]) -> Iterator[Rejected]:
    """Judge that the state of the primary only grows, over its views, and that it is one at all its members."""
    stays, rejected = _stays(lives)
    yield from rejected
    former: dict[Address, _Stay] = {}
    place, mark = 0, 0  # so many messages are in the sequence, and what stands for them
    origins = {mark}
    for view in sorted(stays, key=lambda each: each.counter):
        here = stays[view]
        kept = [each for member, each in former.items() if member in here and here[member].story is each.story]
        for one in here.values():
            origin = one.story.after[0]
            if origin not in origins:  # a state was declared, and the sequence begins anew with it
                place, mark = 0, origin
                origins.add(origin)
            if one.first < place or one.story.after[place] != mark:
                yield Rejected(one.log, one.line, f"in view {_text(view)} it lacks what the primary had before")
            for other in here.values():
                counts["states in a formed view"] += one is not other
                if not one.agrees(other, min(one.first, other.first)):
                    yield Rejected(
                        one.log, one.line, f"it comes to view {_text(view)} with another state than {other.log}"
                    )
            for before in kept:
                if one.first < before.last or not one.agrees(before, before.last):
                    yield Rejected(
                        one.log, one.line, f"in view {_text(view)} it lacks what {before.log} had applied before"
                    )
        if kept:
            last = max(kept, key=lambda each: each.last)
            place, mark = last.last, last.story.after[last.last]
        former = here


def _stays(lives: Sequence[Life]) -> tuple[dict[ViewId, dict[Address, _Stay]], list[Rejected]]:
    """Go through all logs at once: a member that is given a state waits for the line that marks it."""
    stays: defaultdict[ViewId, dict[Address, _Stay]] = defaultdict(dict)
    stories: dict[Address, _Story | None] = {life.member: _Story() for life in lives}
    marked: dict[tuple[Address, Address, int], _Story | None] = {}
    todo = {life.member: deque((step.line, each) for step in life.steps for each in step.applied) for life in lives}
    logs = {life.member: life.log for life in lives}
    moves = True
    while moves:
        moves = False
        for member, waiting in todo.items():
            while waiting:
                line, event = waiting[0]
                story = stories[member]
                match event:
                    case Sets(provider, attempt):
                        if provider in todo and (provider, member, attempt) not in marked:
                            break
                        given = marked.get((provider, member, attempt))
                        stories[member] = None if given is None else _Story([*given.after])
                    case Marks(to, attempt):
                        marked[member, to, attempt] = None if story is None else _Story([*story.after])
                    case Declares():
                        stories[member] = _Story([hash((member, line))])
                    case Takes(sender, message) if story is not None:
                        story.takes(sender, message)
                    case Primary(view) if story is not None:
                        now = len(story.after) - 1
                        stay = stays[view].setdefault(member, _Stay(logs[member], line, story, now, now))
                        stay.last = now
                    case _:
                        pass
                waiting.popleft()
                moves = True
    unknown = [
        Rejected(logs[m], rest[0][0], "it sets a state that its provider has not marked")
        for m, rest in todo.items()
        if rest
    ]
    return stays, unknown


def _text(view: ViewId) -> str:
    return f"{view.counter}/{view.creator}"
