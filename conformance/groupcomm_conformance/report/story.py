"""A counterexample as a page shows it: scene by scene, with the state of each member and what changed.

`tell` makes of a behaviour the data of the template: lanes, steps and tables. A step is the received message,
the action, its effects and the changes, as `readable` names them. Each state is a table with a column for
each member. It knows nothing of any protocol. The members are those of `local`, a variable that is a function
on all of them is a row of the table, and each other variable belongs to the group.

Values are written as `readable.brief` writes them, with what changed marked as `<del>` and `<ins>`.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from attrs import evolve, field, frozen
from markupsafe import Markup

from groupcomm_conformance.tla.readable import (
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
from groupcomm_conformance.tla.values import Fn, Value, order

_PACKETS: Final = ({"sender", "message"}, {"sender", "message", "to"})
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
        """True if it is the member's own."""
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
    """An effect of a step. `mark` is `-->>` (to every member), `-->` (to one) or `-`."""

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
        """True if any of it changed."""
        return any(cell.changed for cell in self.cells if cell is not None)


@frozen
class Scene:
    """A state, and the step that led to it; `lane` is that of the step's member, None for the environment.

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
        told = _scene_of(step, names, changed) if place else Scene(step.number, step.action)
        if told.lane is not None:  # a lane ends with its member's crash, and begins again with its return
            crashed = told.outside and told.action == "Crash"
            gone = gone | {names[told.lane]} if crashed else gone - {names[told.lane]}
        scenes.append(
            evolve(
                told,
                outside=told.outside or told.lane is None,
                # A step with a message or effects shows by them how it changes the network.
                changes=tuple(c for path, c in changed.items() if not (told.outcome and _is_at(path, "network"))),
                there=tuple(name not in gone for name in names),
                members=members,
                group=group,
            )
        )
    return Story(names, tuple(scenes), back_to, stutters)


def _is_at(path: str, place: str) -> bool:
    """Say whether a path is `place` or leads into it."""
    return path == place or path.startswith((f"{place}.", f"{place}["))


def _scene_of(step: Step, names: Sequence[str], changed: Iterable[str]) -> Scene:
    """Say what the step says of itself, all but the state; where it says nothing, whose state changed."""
    act = act_of(step)
    member = "" if act is None else brief(act["member"])
    if act is None or member not in names:
        whose = [
            lane
            for lane, key in enumerate(_keys(names, step.values))
            if key is not None and any(_is_at(path, inside("", key)) for path in changed)
        ]
        return Scene(step.number, step.action, whose[0] if len(whose) == 1 else None)
    lane = names.index(member)
    event, content = named(act["event"])
    outside = event == "none"
    came = delivery(act)
    arrow = None
    if came is not None:
        source, name, inner = came
        arrow = Arrow(names.index(source), lane, name, inner, lost=outside)
        if isinstance(act["event"], Fn) and "sender" in act["event"]:
            content = ""  # it is the message's
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
    names: Sequence[str], before: Fn, after: Fn, changed: Mapping[str, Change]
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Lay out a state: rows with a cell for each lane, and rows with one cell."""
    members: list[Row] = []
    group: list[Row] = []
    keys = _keys(names, after)
    domain = {key for key in keys if key is not None}
    for name, value in sorted(after.items(), key=lambda item: (item[0] != "local", order(item[0]))):
        label, was = brief(name), before.get(name)
        if label in _HIDDEN:
            continue
        if not (isinstance(value, Fn) and value.keys() == domain):
            group.append(Row(label, (marked(was, value, label, changed),)))
        elif label == "local" and all(isinstance(state, Fn) for state in value.values()):
            members += _local(keys, was, value, changed)
        else:
            path = "" if label == "local" else label
            members.append(Row(label, tuple(_at(key, was, value, path, changed) for key in keys)))
    return tuple(members), tuple(group)


def _keys(names: Sequence[str], state: Fn) -> "tuple[Value | None, ...]":
    """Give each lane's key in `local`; None for a stranger's."""
    local = state.get("local")
    found = {brief(key): key for key in local} if isinstance(local, Fn) else {}
    return tuple(found.get(name) for name in names)


def _local(
    keys: "Sequence[Value | None]", before: "Value | None", after: Fn, changed: Mapping[str, Change]
) -> list[Row]:
    """Give a row for each field of any member's state, except the field with the member's own name."""
    found = {field for state in after.values() if isinstance(state, Fn) for field in state}
    rows = []
    for name in sorted(found, key=order):
        if all(isinstance(state, Fn) and state.get(name) == key for key, state in after.items()):
            continue
        cells = tuple(
            None if key is None else _at(name, _part(before, key), _part(after, key), inside("", key), changed)
            for key in keys
        )
        rows.append(Row(brief(name), cells))
    return rows


def _at(
    key: "Value | None", before: "Value | None", after: "Value | None", path: str, changed: Mapping[str, Change]
) -> Cell | None:
    """Write what a function has at a key, now or before; None where it never had anything."""
    if key is None:
        return None
    old, new = _part(before, key), _part(after, key)
    if old is None and new is None:
        return None
    if path in changed:  # the whole function is another
        return Cell(_replaced(old, new), changed=True)
    return marked(old, new, inside(path, key), changed)


def _part(value: "Value | None", key: Value) -> "Value | None":
    return value.get(key) if isinstance(value, Fn) else None


# Values as HTML


def marked(before: "Value | None", after: "Value | None", path: str, changed: Mapping[str, Change]) -> Cell:
    """Write a value; of what is among `changed`, by its path, what it was and what it is now."""
    if not any(_is_at(name, path) for name in changed):
        return Cell(_plain(after if after is not None else ()))
    return Cell(_marked(before, after, path, changed), changed=True)


def _marked(before: "Value | None", after: "Value | None", path: str, changed: Mapping[str, Change]) -> Markup:
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
        return _listed("<<", items, ">>", deep=_is_deep(after) or _is_deep(before))
    return _plain(after if after is not None else ())


def _replaced(before: "Value | None", after: "Value | None") -> Markup:
    if isinstance(before, frozenset) and isinstance(after, frozenset):
        every = before | after
        items = [_element(item, before, after) for item in sorted(every, key=order)]
        return _listed("{", items, "}", deep=_is_deep(every))
    if before is None:
        return Markup("<ins>{}</ins>").format(_plain(after if after is not None else ()))
    if after is None:
        return Markup("<del>{}</del>").format(_plain(before))
    return Markup('<del>{}</del><span class="to"> → </span><ins>{}</ins>').format(_plain(before), _plain(after))


def _element(item: Value, before: frozenset[Value], after: frozenset[Value]) -> Markup:
    if item not in after:
        return Markup("<del>{}</del>").format(_plain(item))
    return _plain(item) if item in before else Markup("<ins>{}</ins>").format(_plain(item))


def _plain(value: Value) -> Markup:
    match value:
        case tuple():
            items = [_plain(item) for item in value]
            return _listed("<<", items, ">>", deep=_is_deep(value))
        case frozenset():
            items = [_plain(item) for item in sorted(value, key=order)]
            return _listed("{", items, "}", deep=_is_deep(value))
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
    return Markup("<span><b>{}</b>{}: <b>{}</b> <i>{}</i></span>").format(brief(value["sender"]), to, name, content)


def _is_deep(value: "tuple[Value, ...] | frozenset[Value] | Fn") -> bool:
    """Say whether a value is better written with a line for each part: if a part has parts of its own."""
    if isinstance(value, Fn):
        return any(
            isinstance(item, Fn) or (isinstance(item, tuple | frozenset) and _is_deep(item)) for item in value.values()
        )
    return any(isinstance(item, Fn) for item in value)


def _function(parts: Sequence[tuple[Value, Markup]], *, deep: bool) -> Markup:
    items = [Markup("<i>{}: </i>{}").format(brief(key), html) for key, html in parts]
    return _listed("[", items, "]", deep=deep)


def _listed(start: str, items: Sequence[Markup], end: str, *, deep: bool) -> Markup:
    """Write items one after the other. If `deep`, the page shows each on a line, and nothing in between."""
    if deep:
        items = [Markup('<span class="kv">{}</span>').format(item) for item in items]
    comma = Markup('<span class="p">, </span>')
    written = Markup('<span class="p">{}</span>{}<span class="p">{}</span>').format(start, comma.join(items), end)
    if not deep:
        return written
    return Markup('<span class="{}">{}</span>').format("deep" if start == "[" else "deep list", written)
