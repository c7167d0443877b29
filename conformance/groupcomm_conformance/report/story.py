"""A counterexample as a page shows it: scene by scene, with the state of each member and what changed.

`tell` makes of a behaviour what the template draws: lanes; for each state the message that came, the action,
its effects and what changed, as `chart` names them; and a table of the state, a column for each member.
It knows nothing of any protocol: the members are those of `local`, a variable that is a function on all of
them is a row of the table, and whatever else there is belongs to the group.

Values are written as `chart.brief` writes them, with what changed marked as `<del>` and `<ins>`.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final

from attrs import evolve, field, frozen
from markupsafe import Markup

from groupcomm_conformance.chart import (
    HIDDEN,
    Change,
    Step,
    act_of,
    brief,
    changes,
    delivery,
    fields,
    inside,
    lanes,
    named,
    named_effect,
)
from groupcomm_conformance.values import Fn, Value, order

__all__ = ["Arrow", "Cell", "Effect", "Row", "Scene", "Story", "marked", "tell"]

_PACKETS: Final = ({"from", "message"}, {"from", "message", "to"})
_HIDDEN: Final = HIDDEN - {"network"}


@frozen
class Arrow:
    """A message that came, from lane `source` to lane `target`, counted from 0; or `lost`."""

    source: int
    target: int
    name: str
    content: str
    lost: bool

    @property
    def own(self) -> bool:
        """Whether it is the member's own."""
        return self.source == self.target

    @property
    def left(self) -> int:
        """The lane on the left."""
        return min(self.source, self.target)

    @property
    def span(self) -> int:
        """How many lanes it touches."""
        return abs(self.source - self.target) + 1


@frozen
class Effect:
    """What a step effects. `mark` is `-->>` (to everybody), `-->` (to one) or `-`."""

    mark: str
    name: str
    content: str


@frozen
class Cell:
    """A value as HTML, and whether it is another than before."""

    html: Markup
    changed: bool = False


@frozen
class Row:
    """A part of the state: a cell for each member, or one for all of them."""

    name: str
    cells: tuple["Cell | None", ...]

    @property
    def changed(self) -> bool:
        """Whether any of it changed."""
        return any(cell.changed for cell in self.cells if cell is not None)


@frozen
class Scene:
    """A state, and the step that led to it; `lane` is that of the member who did it, None if nobody did.

    `outside`: the environment did it. `there`: who has not crashed. `members` has the rows of the table
    with a cell for each lane, `group` those of the rest.
    """

    number: int
    action: str
    lane: int | None = None
    outside: bool = False
    outcome: str = ""
    given: str = ""
    event: str = ""
    content: str = ""
    came: Arrow | None = None
    effects: tuple[Effect, ...] = ()
    changes: tuple[Change, ...] = ()
    there: tuple[bool, ...] = ()
    members: tuple[Row, ...] = field(default=(), repr=False)
    group: tuple[Row, ...] = field(default=(), repr=False)


@frozen
class Story:
    """All scenes. `back_to` is the number of the state to which a lasso returns."""

    lanes: tuple[str, ...]
    scenes: tuple[Scene, ...]
    back_to: int | None
    stutters: bool


def tell(steps: Sequence[Step], *, back_to: int | None = None, stutters: bool = False) -> Story:
    """Tell a behaviour."""
    names = lanes(steps)
    scenes: list[Scene] = []
    gone: set[str] = set()
    for place, step in enumerate(steps):
        before = steps[place - 1].values if place else step.values
        changed = {change.path: change for change in changes(before, step.values, _HIDDEN)}
        members, group = _state(names, before, step.values, changed)
        told = _told(step, names, list(changed)) if place else Scene(step.number, step.action)
        if told.lane is not None:  # a lane ends with its member's crash, and begins again with its return
            crashed = told.outside and told.action == "Crash"
            gone = gone | {names[told.lane]} if crashed else gone - {names[told.lane]}
        scenes.append(
            evolve(
                told,
                outside=told.outside or told.lane is None,
                # What a step does to the network is told by its message and effects, where it tells any.
                changes=tuple(
                    c for path, c in changed.items() if not (told.outcome and _is_at(path, "network"))
                ),
                there=tuple(name not in gone for name in names),
                members=members,
                group=group,
            )
        )
    return Story(names, tuple(scenes), back_to, stutters)


def _is_at(path: str, place: str) -> bool:
    """Whether a path is `place` or leads into it."""
    return path == place or path.startswith((f"{place}.", f"{place}["))


def _told(step: Step, names: tuple[str, ...], changed: Sequence[str]) -> Scene:
    """Say what the step says of itself, all but the state; where it says nothing, whose state changed."""
    act = act_of(step)
    member = "" if act is None else brief(act["member"])
    if act is None or member not in names:
        whose = [place for place, name in enumerate(names) if any(_is_at(path, name) for path in changed)]
        return Scene(step.number, step.action, whose[0] if len(whose) == 1 else None)
    lane = names.index(member)
    event, content = named(act["event"])
    outside = event == "none"
    came = delivery(act)
    arrow = None
    if came is not None:
        source, name, inner = came
        arrow = Arrow(names.index(source), lane, name, inner, lost=outside)
        content = ""
    return Scene(
        number=step.number,
        action=brief(act["action"]),
        lane=lane,
        outside=outside,
        outcome="" if outside else brief(act["outcome"]),
        given=fields(act.get("given", ()), leave_out="nothing"),
        event="" if outside else event,
        content=content,
        came=arrow,
        effects=tuple(Effect(*named_effect(effect)) for effect in _sequence(act.get("effects", ()))),
    )


def _sequence(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else ()


def _state(
    names: tuple[str, ...], before: Fn, after: Fn, changed: Mapping[str, Change]
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Lay out a state: rows with a cell for each lane, and rows with one cell."""
    members: list[Row] = []
    group: list[Row] = []
    domain = {brief(key) for key in _keys(after.get("local"))}
    for name, value in sorted(after.items(), key=lambda item: (item[0] != "local", order(item[0]))):
        label = brief(name)
        if label in _HIDDEN:
            continue
        was = before.get(name)
        if not (isinstance(value, Fn) and domain and {brief(key) for key in value} == domain):
            group.append(Row(label, (marked(was, value, label, changed),)))
        elif label == "local":
            members += _local(names, was, value, changed)
        else:
            cells = _across(names, label, was, value, changed)
            members.append(Row(label, cells))
    return tuple(members), tuple(group)


def _keys(value: "Value | None") -> list[Value]:
    return list(value) if isinstance(value, Fn) else []


def _local(
    names: tuple[str, ...], before: "Value | None", after: Fn, changed: Mapping[str, Change]
) -> list[Row]:
    """Give a row for each field of any member's local state, in the order of the fields' names."""
    if not all(isinstance(value, Fn) for value in after.values()):
        return [Row("local", _across(names, "", before, after, changed))]
    found = sorted({key for value in after.values() for key in _keys(value)}, key=order)
    olds, news = _by_name(before), _by_name(after)
    found = [key for key in found if not _says_who(key, news)]
    return [
        Row(
            brief(key),
            tuple(
                _field(olds.get(name), news.get(name), key, name, changed) if name in news else None
                for name in names
            ),
        )
        for key in found
    ]


def _says_who(key: Value, states: Mapping[str, Value]) -> bool:
    """Whether a field is each member's own name, which its column says."""
    return all(isinstance(state, Fn) and state.get(key) == name for name, state in states.items())


def _field(
    before: "Value | None", after: "Value | None", key: Value, member: str, changed: Mapping[str, Change]
) -> Cell | None:
    if member in changed:  # the whole of it
        before = None
    old = before.get(key) if isinstance(before, Fn) else None
    new = after.get(key) if isinstance(after, Fn) else None
    return None if new is None and old is None else marked(old, new, inside(member, key), changed)


def _across(
    names: tuple[str, ...], path: str, before: "Value | None", after: Fn, changed: Mapping[str, Change]
) -> tuple[Cell | None, ...]:
    olds, news = _by_name(before), _by_name(after)
    return tuple(
        marked(olds.get(name), news[name], f"{path}.{name}".lstrip("."), changed) if name in news else None
        for name in names
    )


def _by_name(value: "Value | None") -> dict[str, Value]:
    return {brief(key): item for key, item in value.items()} if isinstance(value, Fn) else {}


# Values as HTML


def marked(before: "Value | None", after: "Value | None", path: str, changed: Mapping[str, Change]) -> Cell:
    """Write a value; of what is among `changed`, by its path, what it was and what it is now."""
    if not any(_is_at(name, path) for name in changed):
        return Cell(_plain(after if after is not None else ()))
    return Cell(_marked(before, after, path, changed), changed=True)


def _marked(
    before: "Value | None", after: "Value | None", path: str, changed: Mapping[str, Change]
) -> Markup:
    change = changed.get(path)
    if change is not None:
        return _replaced(change.before, change.after)
    if isinstance(before, Fn) and isinstance(after, Fn):
        keys = sorted(before.keys() | after.keys(), key=order)
        parts = [(key, _marked(before.get(key), after.get(key), inside(path, key), changed)) for key in keys]
        return _function(parts, deep=_is_deep(after))
    if isinstance(before, tuple) and isinstance(after, tuple):
        pairs = enumerate(zip_longest(before, after), start=1)
        items = [_marked(old, new, f"{path}[{index}]", changed) for index, (old, new) in pairs]
        return (
            _lines("<<", items, ">>") if _is_deep(after) or _is_deep(before) else _listed("<<", items, ">>")
        )
    return _plain(after if after is not None else ())


def _replaced(before: "Value | None", after: "Value | None") -> Markup:
    if isinstance(before, frozenset) and isinstance(after, frozenset):
        every = before | after
        items = [_element(item, before, after) for item in sorted(every, key=order)]
        return _lines("{", items, "}") if _is_deep(every) else _listed("{", items, "}")
    if before is None:
        return Markup("<ins>{}</ins>").format(_plain(after if after is not None else ()))
    if after is None:
        return Markup("<del>{}</del>").format(_plain(before))
    return Markup('<del>{}</del><span class="to"> → </span><ins>{}</ins>').format(
        _plain(before), _plain(after)
    )


def _element(item: Value, before: frozenset[Value], after: frozenset[Value]) -> Markup:
    if item not in after:
        return Markup("<del>{}</del>").format(_plain(item))
    return _plain(item) if item in before else Markup("<ins>{}</ins>").format(_plain(item))


def _plain(value: Value) -> Markup:
    match value:
        case tuple():
            items = [_plain(item) for item in value]
            return _lines("<<", items, ">>") if _is_deep(value) else _listed("<<", items, ">>")
        case frozenset():
            items = [_plain(item) for item in sorted(value, key=order)]
            return _lines("{", items, "}") if _is_deep(value) else _listed("{", items, "}")
        case Fn() if value.keys() in _PACKETS:
            return _packet(value)
        case Fn():
            return _function([(key, _plain(item)) for key, item in value.items()], deep=_is_deep(value))
        case _:
            return Markup("<b>{}</b>").format(brief(value))


def _packet(value: Fn) -> Markup:
    """Write a message on its way as `B -> C: STABLE digest=..`."""
    name, content = named(value["message"])
    to = Markup(" → <b>{}</b>").format(brief(value["to"])) if "to" in value else ""
    return Markup("<span><b>{}</b>{}: <b>{}</b> <i>{}</i></span>").format(
        brief(value["from"]), to, name, content
    )


def _is_deep(value: "tuple[Value, ...] | frozenset[Value] | Fn") -> bool:
    """Whether a value is better written with a line for each of its parts: those with parts of their own."""
    if isinstance(value, Fn):
        return any(
            isinstance(item, Fn) or (isinstance(item, tuple | frozenset) and _is_deep(item))
            for item in value.values()
        )
    return any(isinstance(item, Fn) for item in value)


def _function(parts: Sequence[tuple[Value, Markup]], *, deep: bool) -> Markup:
    items = [Markup("<i>{}: </i>{}").format(brief(key), html) for key, html in parts]
    return _lines("[", items, "]") if deep else _listed("[", items, "]")


def _lines(start: str, items: Sequence[Markup], end: str) -> Markup:
    """As `_listed`, each item on a line of its own; the page does not show what is between the lines."""
    lines = [Markup('<span class="kv">{}</span>').format(item) for item in items]
    return Markup('<span class="deep">{}</span>').format(_listed(start, lines, end))


def _listed(start: str, items: Sequence[Markup], end: str) -> Markup:
    comma = Markup('<span class="p">, </span>')
    return Markup('<span class="p">{}</span>{}<span class="p">{}</span>').format(
        start, comma.join(items), end
    )
