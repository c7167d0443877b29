"""Sequence charts of behaviours, and readable differences between values.

A behaviour is a sequence of states; the variable `act` of each says which member did what. `chart` draws
a lane for each member. From top to bottom a step shows the message that came (an arrow between lanes, its
content below), the action (in brackets at the member's lane), its effects, and what changed:

         A                      B                      C
         |                      |                      |
      5  |--------STABLE------->|                      |
         |                      |- digest=[A: 1, B: 0] |
         |                      [ReceiveStable]        |
         |                      |- SetTimer stability 0..1
           B.heard_from {A, B} -> {}; B.pending FALSE -> TRUE

A message that was sent, came or was lost is drawn once, as such: that it is in the network, or no longer
there, is not said again. `-->>` is a message to everybody, `-->` one to a single member, `x` at an
arrow's end a message lost and `*` something that the environment did. An action's outcome is told unless it
is `handled`. A lane ends where its member crashes. Text that does not fit to the right of its lane stands to
the left of it. No line is longer than `width`; where the members are too many for lanes, there are none, and
each step says who took it. `Bounds` keep a chart short: what is left out is said where it is missing, and how
to see it.

`brief` writes values for people: strings without quotes, records as `[A: 1, B: 0]`. `diff` tells where two
values differ; verdicts use it as charts do.
"""

import textwrap
from collections.abc import Iterable, Sequence
from itertools import pairwise, zip_longest
from typing import Final, Protocol

from attrs import frozen

from .values import Fn, Value, identical, order

WIDTH: Final = 100
NARROWEST: Final = 60
HIDDEN: Final = frozenset({"act"})

_MARGIN = 5
_WIDEST_GAP = 24
_NARROWEST_GAP = 4
_LONG = 48


class Step(Protocol):
    """A state of a behaviour, numbered from 1, and the action that led to it; `trace.State` is one.

    `values` is the record of the variables; `act` among them says more of the action, where it is there.
    """

    @property
    def number(self) -> int: ...
    @property
    def action(self) -> str: ...
    @property
    def values(self) -> Fn: ...


@frozen
class Change:
    """A difference between two values at `path`; None stands for nothing on that side."""

    path: str
    before: "Value | None"
    after: "Value | None"

    def text(self, arrow: str = "->") -> str:
        """Write `path before -> after`; of a large set, only the elements that came and went."""
        before, after = (_or_none(value) for value in (self.before, self.after))
        if (
            isinstance(self.before, frozenset)
            and isinstance(self.after, frozenset)
            and len(before) + len(after) > _LONG
        ):
            came = [f"+ {brief(value)}" for value in sorted(self.after - self.before, key=order)]
            went = [f"- {brief(value)}" for value in sorted(self.before - self.after, key=order)]
            return f"{self.path} {', '.join((*came, *went))}".strip()
        return f"{self.path} {before} {arrow} {after}".strip()


@frozen
class Bounds:
    """How much a chart may show, for a terminal: the last `steps`, and of a value so many characters.

    `rest` completes "...: " and says how to see what is left out.
    """

    rest: str
    steps: int = 40
    text: int = 400


@frozen
class _Style:
    lane: str
    line: str
    right: str
    left: str
    arrow: str


_ASCII = _Style(lane="|", line="-", right=">", left="<", arrow="->")
_UNICODE = _Style(lane="\u2502", line="\u2500", right="\u25b6", left="\u25c0", arrow="\u2192")


_VIEW_ID: Final = frozenset(("counter", "creator"))
_VIEW: Final = frozenset(("id", "members"))


def _is_view(value: Value) -> bool:
    return isinstance(value, Fn) and value.keys() >= _VIEW


def diff(before: Value, after: Value, path: str = "") -> list[Change]:
    """List what differs, field by field, in canonical order; nothing if the values are the same.

    Records and functions are compared key by key (`A.minimum.C`) unless they have no key in common,
    sequences with parts of their own index by index (`effects[2].name`), views and the rest as a whole.
    """
    if _is_view(before) and _is_view(after):
        return [] if identical(before, after) else [Change(path, before, after)]
    if isinstance(before, Fn) and isinstance(after, Fn) and before.keys() & after.keys():
        return [
            change
            for key in sorted(before.keys() | after.keys(), key=order)
            for change in _at(inside(path, key), before.get(key), after.get(key))
        ]
    if isinstance(before, tuple) and isinstance(after, tuple) and _has_parts((*before, *after)):
        return [
            change
            for index, (old, new) in enumerate(zip_longest(before, after), start=1)
            for change in _at(f"{path}[{index}]", old, new)
        ]
    return [] if identical(before, after) else [Change(path, before, after)]


def brief(value: Value) -> str:
    """Write a value for people, on one line: `{A, B}`, `<<1, 2>>`, `[A: 1, B: 0]`, `TRUE`.

    A view's identifier is its counter and its creator, `2/B`, and a view `[2/B: B, C]`; of what else is said
    of it what is not empty follows, `[2/B: B, C; preds={1}]`.
    """
    match value:
        case Fn() if value.keys() == _VIEW_ID:
            return f"{brief(value['counter'])}/{brief(value['creator'])}"
        case Fn() if _is_view(value) and isinstance(members := value["members"], tuple):
            more = (name for name in value if name not in _VIEW and not _empty(value[name], 0))
            told = "".join(f"; {brief(name)}={brief(value[name])}" for name in more)
            return f"[{brief(value['id'])}: {', '.join(map(brief, members))}{told}]"
        case bool():
            return "TRUE" if value else "FALSE"
        case "":
            return '""'
        case int() | str():
            return str(value)
        case tuple():
            return f"<<{', '.join(map(brief, value))}>>"
        case frozenset():
            return f"{{{', '.join(map(brief, sorted(value, key=order)))}}}"
        case Fn():
            return f"[{', '.join(f'{brief(key)}: {brief(item)}' for key, item in value.items())}]"


def chart(
    steps: Sequence[Step],
    *,
    back_to: int | None = None,
    stutters: bool = False,
    width: int = WIDTH,
    unicode: bool = False,
    hidden: frozenset[str] = HIDDEN,
    bounds: Bounds | None = None,
) -> list[str]:
    """Draw a behaviour, one item per line of text.

    Of the first state what is not empty is written out, of each later one what changed; variables in `hidden`
    are left out.
    `back_to` is the state that a lasso returns to, `stutters` a behaviour that stays in its last state.
    A `width` below 60 is taken as 60. Without `bounds` all is drawn.
    """
    drawing = _Drawing(lanes(steps), max(width, NARROWEST), _UNICODE if unicode else _ASCII, bounds)
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

    def __init__(self, members: tuple[str, ...], width: int, style: _Style, bounds: Bounds | None) -> None:
        gap = min(_WIDEST_GAP, (width - _MARGIN - 2) // max(1, len(members)))
        if gap < _NARROWEST_GAP:
            members = ()
        self.lines: list[str] = []
        self._bounds = bounds
        self._column = {member: _MARGIN + gap * place for place, member in enumerate(members)}
        self._crashed: set[str] = set()
        self._width = width
        self._style = style

    def start(self, step: Step, hidden: frozenset[str]) -> None:
        """Name the lanes and write what matters of the first state."""
        if self._column:
            self.lines.append(
                _overlay(" " * self._width, *((c, m) for m, c in self._column.items())).rstrip()
            )
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
        texts = [
            self._cut(change.text(self._style.arrow)) for change in changed if not _is_told(change, messages)
        ]
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
        """End the lane of a member that crashes; one that acts has a lane."""
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
        style = self._style
        start, end = self._column[source], self._column[target]
        low, high = min(start, end) + 1, max(start, end)
        head = "x" if lost else style.right if start < end else style.left
        shaft = label.center(high - low - 1, style.line)
        arrow = shaft + head if start < end else head + shaft
        self.lines.append(_overlay(self._lanes(), (low, arrow)).rstrip())

    def _beside(self, member: str, mark: str, text: str) -> None:
        """Write at a lane: to the right if the text fits there, else to the left, else folded."""
        mark = mark.replace("-", self._style.line).replace(">", self._style.right)
        flipped = mark[::-1].replace(self._style.right, self._style.left)
        column = self._column[member]
        # An effect's mark stands beside the lane, what happens to the member stands on it.
        start, end = (column + 1, column) if mark.startswith(self._style.line) else (column, column + 1)
        space = len(mark) + 1 if mark else 0
        right, left = self._width - start - space, end - _MARGIN - space
        to_right = len(text) <= right or (len(text) > left and right >= left)
        for number, part in enumerate(
            textwrap.wrap(text, right if to_right else left, break_on_hyphens=False)
        ):
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
        return _overlay(" " * self._width, *((column, self._style.lane) for column in alive))

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


def lanes(steps: Sequence[Step]) -> tuple[str, ...]:
    """Name the lanes: those with local state, then strangers that act or send."""
    local = steps[0].values.get("local") if steps else None
    members = dict.fromkeys(map(brief, local if isinstance(local, Fn) else ()))
    strangers = set()
    for act in filter(None, map(act_of, steps[1:])):
        came = delivery(act)
        strangers |= {brief(act["member"]), brief("") if came is None else came[0]}
    return (*members, *sorted(strangers - {brief(""), *members}))


def act_of(step: Step) -> Fn | None:
    """What the step says of itself in the variable `act`; None where that is no record."""
    act = step.values.get("act")
    return act if isinstance(act, Fn) else None


def delivery(act: Fn) -> tuple[str, str, str] | None:
    """Tell what came, or was lost: sender, name and content; None for a step that is about no message.

    It is in the event; or it is the packet that a step of the environment took off the network; or it is data
    of the layer below, of which the action was given the sender.
    """
    event, given, consumed = act["event"], act.get("given"), act.get("consumed")
    if isinstance(event, Fn) and "sender" in event:
        name, content = named(event["message"]) if "message" in event else ("", "")
        return brief(event["sender"]), name, content
    if isinstance(consumed, frozenset) and len(consumed) == 1 and act["outcome"] == "none":
        (packet,) = consumed
        if isinstance(packet, Fn) and {"sender", "message"} <= packet.keys():
            return brief(packet["sender"]), *named(packet["message"])
    if isinstance(given, Fn) and "sender" in given:
        return brief(given["sender"]), "data", ""
    return None


def named_effect(effect: Value) -> tuple[str, str, str]:
    """Give an effect's mark (`-->>` to everybody, `-->` to one, else `-`), its name and its content."""
    if not isinstance(effect, Fn):
        return "-", brief(effect), ""
    match effect.get("type"):
        case "Multicast":
            return "-->>", *named(effect["message"])
        case "Datagram" if effect["to"] == "*":
            return "-->>", *named(effect["message"])
        case "Send" | "Datagram":
            name, content = named(effect["message"])
            return "-->", f"{brief(effect['to'])}: {name}".strip(), content
        case "PassUp" | "PassDown" as direction if "event" in effect:
            name, content = named(effect["event"])
            return "-", f"{direction} {name}".strip(), content
        case "SetTimer" if "low" in effect and "high" in effect:
            span = f"{brief(effect['low'])}..{brief(effect['high'])}"
            return "-", f"SetTimer {brief(effect['name'])}", span
        case "SetTimer" | "CancelTimer" as verb:
            return "-", f"{verb} {brief(effect['name'])}", ""
        case _:
            return "-", *named(effect)


def named(value: Value) -> tuple[str, str]:
    """Split a message, event or effect into its type and the rest of its fields."""
    if isinstance(value, Fn) and "type" in value:
        return brief(value["type"]), fields(value, leave_out="type")
    return "", brief(value)


def fields(value: Value, leave_out: str = "") -> str:
    """Write a record's fields as `a=1 b={2}`; any other value as it is, and nothing for no fields."""
    if isinstance(value, Fn):
        return " ".join(f"{brief(key)}={brief(item)}" for key, item in value.items() if key != leave_out)
    return "" if value == () else brief(value)


def changes(before: Fn, after: Fn, hidden: frozenset[str]) -> list[Change]:
    """List what changed between two states; a member's local state has no prefix: `A.pending`."""
    return [
        change
        for name, value in shown(after, hidden)
        for change in _at("" if name == "local" else name, before.get(name), value)
    ]


def shown(state: Fn, hidden: frozenset[str]) -> list[tuple[str, Value]]:
    """List the variables that are not hidden: `local` first, then by name."""
    listed = [(brief(name), value) for name, value in state.items() if name not in hidden]
    return sorted(listed, key=lambda item: (item[0] != "local", item[0]))


def opening(state: Fn, hidden: frozenset[str]) -> list[str]:
    """Write what matters of a first state: what all members have alike, then what each has, then variables.

    What is empty is left out: empty sets and sequences, FALSE, numbers that mean none (-1 in a field or
    variable where that occurs, else 0), and whatever holds nothing else; and so are histories that stand
    there for claims alone (`aux_...`), of which only what is added says something.
    """
    lines: list[str] = []
    for name, value in shown(state, hidden):
        if name == "local" and isinstance(value, Fn):
            lines += _members(value)
        elif not name.startswith("aux_") and not _empty(value, _none(value)):
            kept = value
            if isinstance(value, Fn):
                kept = Fn({key: item for key, item in value.items() if not _empty(item, _none(value))})
            lines.append(f"{name}: {brief(kept)}")
    return lines


def _members(local: Fn) -> list[str]:
    """Write the members' local states without what is empty, what all have alike on a line of its own."""
    states = {brief(member): state for member, state in local.items() if isinstance(state, Fn)}
    names = dict.fromkeys(key for state in states.values() for key in state)
    lines: dict[str, list[str]] = {"all": [], **{member: [] for member in states}}
    for name in names:
        values = {member: state[name] for member, state in states.items() if name in state}
        none = _none(tuple(values.values()))
        told = {
            member: f"{brief(name)}={brief(value)}"
            for member, value in values.items()
            if not _empty(value, none) and value != member
        }
        if len(told) == len(states) > 1 and len(set(told.values())) == 1:
            lines["all"].append(next(iter(told.values())))
        else:
            for member, text in told.items():
                lines[member].append(text)
    others = [
        f"{brief(member)}: {brief(state)}" for member, state in local.items() if not isinstance(state, Fn)
    ]
    return [f"{member}: {' '.join(texts)}" for member, texts in lines.items() if texts] + others


def _none(value: Value) -> int:
    """The number that stands for none: -1 where it occurs, else 0."""
    match value:
        case bool():
            return 0
        case int():
            return min(0, max(-1, value))
        case tuple() | frozenset():
            return min((_none(item) for item in value), default=0)
        case Fn():
            return min((_none(item) for item in value.values()), default=0)
        case _:
            return 0


def _empty(value: Value, none: int) -> bool:
    match value:
        case bool():
            return not value
        case int():
            return value == none
        case str():
            return value == ""
        case tuple():
            return all(_empty(item, none) for item in value)
        case frozenset():
            return not value
        case Fn():
            return all(_empty(item, none) for item in value.values())


def inside(path: str, key: Value) -> str:
    """The path of what a record or function has at a key."""
    if not isinstance(key, str):
        return f"{path}[{brief(key)}]"
    return f"{path}.{key}" if path else key


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
    """Whether a change is but that such messages are in the network now, or no longer."""
    if isinstance(change.before, frozenset) and isinstance(change.after, frozenset):
        values: tuple[Value | None, ...] = (*(change.before ^ change.after),)
    else:
        values = (change.before, change.after)
    return bool(messages) and all(
        value is None or value in messages or (isinstance(value, Fn) and value.get("message") in messages)
        for value in values
    )


def _has_parts(items: tuple[Value, ...]) -> bool:
    return any(isinstance(item, tuple | frozenset | Fn) for item in items)


def _at(path: str, before: "Value | None", after: "Value | None") -> list[Change]:
    if before is None or after is None:
        return [] if before is after else [Change(path, before, after)]
    return diff(before, after, path)


def _or_none(value: "Value | None") -> str:
    return "none" if value is None else brief(value)


def _overlay(line: str, *pieces: tuple[int, str]) -> str:
    for column, text in pieces:
        line = line[:column] + text + line[column + len(text) :]
    return line
