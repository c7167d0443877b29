"""Values, differences, and steps of behaviours as people read them: in charts, on pages, in verdicts.

`brief` writes values: strings without quotes, records as `[A: 1, B: 0]`. `diff` lists the differences of two
values. The rest describes a step of a behaviour: the received message (`delivery`), its effects
(`named_effect`) and its changes (`changes`). `opening` gives the fields of a first state that matter. `chart`
draws this, and so does the page.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final, Protocol

from attrs import frozen

from .values import Fn, Value, identical, order

HIDDEN: Final = frozenset({"act"})
_LONG = 48
_VIEW_ID: Final = frozenset(("counter", "creator"))
_VIEW: Final = frozenset(("id", "members"))


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


def diff(before: Value, after: Value, path: str = "") -> list[Change]:
    """List what differs, field by field, in canonical order; nothing if the values are the same.

    Records and functions are compared key by key (`A.minimum.C`) unless they have no key in common. Sequences
    with parts of their own are compared index by index (`effects[2].name`), views and the rest as a whole.
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


def _is_view(value: Value) -> bool:
    return isinstance(value, Fn) and value.keys() >= _VIEW


def _has_parts(items: tuple[Value, ...]) -> bool:
    return any(isinstance(item, tuple | frozenset | Fn) for item in items)


def _at(path: str, before: "Value | None", after: "Value | None") -> list[Change]:
    if before is None or after is None:
        return [] if before is after else [Change(path, before, after)]
    return diff(before, after, path)


def _or_none(value: "Value | None") -> str:
    return "none" if value is None else brief(value)


def inside(path: str, key: Value) -> str:
    """The path of what a record or function has at a key."""
    if not isinstance(key, str):
        return f"{path}[{brief(key)}]"
    return f"{path}.{key}" if path else key


def brief(value: Value) -> str:
    """Write a value for people, without line ends: `{A, B}`, `<<1, 2>>`, `[A: 1, B: 0]`, `TRUE`.

    A view's identifier is its counter and its creator, `2/B`, and a view is `[2/B: B, C]`. Its other fields
    follow where they are not empty, `[2/B: B, C; preds={1}]`.
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
    """The step's record in the variable `act`; None where that is no record."""
    act = step.values.get("act")
    return act if isinstance(act, Fn) else None


def delivery(act: Fn) -> tuple[str, str, str] | None:
    """Tell what came, or was lost: sender, name and content; None for a step that is about no message.

    It is in the event. Or it is the packet that a step of the environment took off the network. Or it is data
    of the layer below, and the action has its sender.
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
    """Give an effect's mark (`-->>` to every member, `-->` to one, else `-`), its name and its content."""
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

    Empty values are left out: empty sets and sequences, FALSE, numbers that mean none (-1 in a field or
    variable where that occurs, else 0), and values that contain nothing else. Histories that only claims use
    (`aux_...`) are left out too, since only their growth matters.
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
    others = [f"{brief(member)}: {brief(state)}" for member, state in local.items() if not isinstance(state, Fn)]
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
