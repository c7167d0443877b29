"""Sequence charts of behaviours.

A behaviour is a sequence of states; the variable `act` of each has the step's member and action. `chart`
draws a lane for each member. From top to bottom a step shows the received message (an arrow between lanes,
its content below), the action (in brackets at the member's lane), its effects, and the changes:

         A                      B                      C
         |                      |                      |
      5  |--------STABLE------->|                      |
         |                      |- digest=[A: 1, B: 0] |
         |                      [ReceiveStable]        |
         |                      |- SetTimer stability 0..1
           B.heard_from {A, B} -> {}; B.pending FALSE -> TRUE

A message that was sent, came or was lost is drawn once, as such: that it is in the network, or no longer
there, is not said again. `-->>` is a message to every member, `-->` to a single member, `x` at an
arrow's end a message lost and `*` a step of the environment. An action's outcome is shown unless it
is `handled`. A lane ends where its member crashes. Text that does not fit to the right of its lane stands to
the left of it. No line is longer than `width`; where the members are too many for lanes, there are none, and
each step says who took it. `Bounds` keep a chart short: what is left out is said where it is missing, and how
to see it.
"""

import textwrap
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from attrs import frozen

from .readable import (
    HIDDEN,
    Change,
    Step,
    act_of,
    brief,
    changes,
    delivery,
    fields,
    lanes,
    named,
    named_effect,
    opening,
)
from .values import Fn, Value

WIDTH: Final = 100
NARROWEST: Final = 60
_MARGIN = 5
_WIDEST_GAP = 24
_NARROWEST_GAP = 4


@frozen
class Bounds:
    """How much a chart may show, for a terminal: the last `steps`, and of a value so many characters.

    `rest` completes "...: " and says how to see what is left out.
    """

    rest: str
    steps: int = 40
    text: int = 400


def chart(
    steps: Sequence[Step],
    *,
    back_to: int | None = None,
    stutters: bool = False,
    width: int = WIDTH,
    hidden: frozenset[str] = HIDDEN,
    bounds: Bounds | None = None,
) -> list[str]:
    """Draw a behaviour, one item per line of text.

    Of the first state what is not empty is written out, of each later one what changed; variables in `hidden`
    are left out.
    `back_to` is the state that a lasso returns to, `stutters` a behaviour that stays in its last state.
    A `width` below 60 is taken as 60. Without `bounds` all is drawn.
    """
    drawing = _Drawing(lanes(steps), max(width, NARROWEST), bounds)
    for step in steps[:1]:
        drawing.start(step, hidden)
    left_out = max(0, len(steps) - 1 - bounds.steps) if bounds else 0
    if bounds and left_out:
        drawing.pass_over(steps[1 : left_out + 1], bounds.rest)
    for previous, step in pairwise(steps[left_out:]):
        drawing.step(previous, step, hidden)
    if back_to is not None:
        drawing.lines.append(f"back to state {back_to}")
    if stutters:
        drawing.lines.append("stutters for ever")
    return drawing.lines


class _Drawing:
    """The lines drawn so far, and the lanes of the members that are alive."""

    def __init__(self, members: tuple[str, ...], width: int, bounds: Bounds | None) -> None:
        gap = min(_WIDEST_GAP, (width - _MARGIN - 2) // max(1, len(members)))
        if gap < _NARROWEST_GAP:
            members = ()
        self.lines: list[str] = []
        self._bounds = bounds
        self._column = {member: _MARGIN + gap * place for place, member in enumerate(members)}
        self._crashed: set[str] = set()
        self._width = width

    def start(self, step: Step, hidden: frozenset[str]) -> None:
        """Name the lanes and write what matters of the first state."""
        if self._column:
            self.lines.append(_overlay(" " * self._width, *((c, m) for m, c in self._column.items())).rstrip())
        self._row(f"{step.number:3}")
        self._paragraph(map(self._cut, opening(step.values, hidden)), apart=True)

    def pass_over(self, steps: Sequence[Step], rest: str) -> None:
        """Say that these steps are not drawn; who crashed in them has no lane."""
        for step in steps:
            act = act_of(step)
            if act is not None and brief(act["member"]) in self._column:
                self._alive(act)
        self._row("")
        first, last = steps[0].number, steps[-1].number
        self.lines.append(f"{'':{_MARGIN}}... steps {first} to {last} are not drawn: {rest}"[: self._width])

    def step(self, previous: Step, step: Step, hidden: frozenset[str]) -> None:
        """Draw what came, the action, its effects, and what changed."""
        self._row("")
        first = len(self.lines)
        act = act_of(step)
        if act is None or brief(act["member"]) not in self._column:
            who = "" if act is None or self._column else f" {brief(act['member'])}"
            self._row(" " * _MARGIN + f"* {step.action}{who}".rstrip())
        else:
            self._act(act)
        self.lines[first] = f"{step.number:3}{self.lines[first][3:]}"
        changed = changes(previous.values, step.values, hidden)
        messages = _messages(act)
        texts = [self._cut(change.text()) for change in changed if not _is_told(change, messages)]
        self._paragraph(texts or ["nothing changed"])

    def _act(self, act: Fn) -> None:
        action, member = brief(act["action"]), brief(act["member"])
        outside = named(act["event"])[0] == "none"
        came = delivery(act)
        if came is not None and came[0] in self._column:
            source, name, content = came
            if source == member:
                content = f"own {name} {content}".strip()
            elif len(name) < abs(self._column[source] - self._column[member]) - 1:
                self._arrow(source, member, name, lost=outside)
            else:
                self._arrow(source, member, "", lost=outside)
                content = f"{name} {content}".strip()
            if content:
                self._beside(member, "-", content)
        given = fields(act.get("given", ()), leave_out="nothing")
        title = f"{action} {given}".strip()
        if outside:
            self._beside(member, "*", title)
        else:
            outcome = "" if act["outcome"] == "handled" else f": {brief(act['outcome'])}"
            self._beside(member, "", f"[{title}{outcome}]")
        effects = act["effects"]
        for effect in effects if isinstance(effects, tuple) else ():
            mark, name, content = named_effect(effect)
            self._beside(member, mark, f"{name} {content}".strip())
        self._alive(act)

    def _alive(self, act: Fn) -> None:
        """End the lane of a member that crashes; a member that acts has a lane."""
        member = brief(act["member"])
        if act["action"] == "Crash" and named(act["event"])[0] == "none":
            self._crashed.add(member)
        else:
            self._crashed.discard(member)

    def _cut(self, text: str) -> str:
        """As much of a value's text as there may be."""
        if self._bounds is None or len(text) <= self._bounds.text:
            return text
        return f"{text[: self._bounds.text]}... ({len(text)} characters: {self._bounds.rest})"

    def _arrow(self, source: str, target: str, label: str, *, lost: bool) -> None:
        start, end = self._column[source], self._column[target]
        low, high = min(start, end) + 1, max(start, end)
        head = "x" if lost else ">" if start < end else "<"
        shaft = label.center(high - low - 1, "-")
        arrow = shaft + head if start < end else head + shaft
        self.lines.append(_overlay(self._lanes(), (low, arrow)).rstrip())

    def _beside(self, member: str, mark: str, text: str) -> None:
        """Write at a lane: to the right if the text fits there, else to the left, else folded."""
        flipped = mark[::-1].replace(">", "<")
        column = self._column[member]
        # An effect's mark stands beside the lane, what happens to the member stands on it.
        start, end = (column + 1, column) if mark.startswith("-") else (column, column + 1)
        space = len(mark) + 1 if mark else 0
        right, left = self._width - start - space, end - _MARGIN - space
        to_right = len(text) <= right or (len(text) > left and right >= left)
        for number, part in enumerate(textwrap.wrap(text, right if to_right else left, break_on_hyphens=False)):
            if to_right:
                line = f"{mark if number == 0 else '':{space}}{part} "[: self._width - start]
                self.lines.append(_overlay(self._lanes(), (start, line)).rstrip())
            else:
                line = f"{part}{flipped if number == 0 else '':>{space}}"
                self.lines.append(_overlay(self._lanes(), (end - len(line), line)).rstrip())

    def _row(self, text: str) -> None:
        self.lines.append(_overlay(self._lanes(), (0, text)).rstrip())

    def _lanes(self) -> str:
        alive = (column for member, column in self._column.items() if member not in self._crashed)
        return _overlay(" " * self._width, *((column, "|") for column in alive))

    def _paragraph(self, items: Iterable[str], *, apart: bool = False) -> None:
        """Write items below the margin, folded: with `;` between them, or each from a line of its own."""
        indent = " " * (_MARGIN + 2)
        room = self._width - len(indent) - 1
        lines: list[str] = []
        for item in items:
            if lines and not apart and len(lines[-1]) + len(item) + 2 <= room:
                lines[-1] = f"{lines[-1]}; {item}"
            else:
                if lines and not apart:
                    lines[-1] += ";"
                lines += textwrap.wrap(item, room, subsequent_indent="  ", break_on_hyphens=False)
        self.lines += [(indent + line).rstrip() for line in lines]


def _messages(act: Fn | None) -> frozenset[Value]:
    """The messages that a step sent, took, or lost."""
    if act is None:
        return frozenset()
    effects, consumed = act["effects"], act.get("consumed")
    records = (
        *(effects if isinstance(effects, tuple) else ()),
        act["event"],
        *(consumed if isinstance(consumed, frozenset) else ()),
    )
    return frozenset(each["message"] for each in records if isinstance(each, Fn) and "message" in each)


def _is_told(change: Change, messages: frozenset[Value]) -> bool:
    """Say whether a change is but that such messages are in the network now, or no longer."""
    if isinstance(change.before, frozenset) and isinstance(change.after, frozenset):
        values: tuple[Value | None, ...] = (*(change.before ^ change.after),)
    else:
        values = (change.before, change.after)
    return bool(messages) and all(
        value is None or value in messages or (isinstance(value, Fn) and value.get("message") in messages)
        for value in values
    )


def _overlay(line: str, *pieces: tuple[int, str]) -> str:
    for column, text in pieces:
        line = line[:column] + text + line[column + len(text) :]
    return line
