"""Walks as ITF traces, for tools that read those of Apalache and Quint.

All variables of the group are in them. TLA+ has no types, and a reader in Rust or TypeScript wants to know
whether an object is a record or a function. So the types of a model's walks are found first, from all states,
and each value is written by the type of its place. A function on names has members for keys, which begin with
a capital; the fields of a record begin with a small letter. A value that is empty everywhere is a sequence.

Beside the variables stand `mbt::actionTaken` and `mbt::nondetPicks`, as `quint run --mbt` writes them: the
group's action, and the member, the event that it took, and what else the action chose.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from attrs import define, field

from groupcomm_conformance.tla.values import JSON, Fn, Value, order
from groupcomm_conformance.walks.graph import ACT

from .plain import compact

ACTION: Final = "mbt::actionTaken"
PICKS: Final = "mbt::nondetPicks"

_DESCRIBED: Final = "https://apalache-mc.org/docs/adr/015adr-trace.html"
_ENVIRONMENT: Final = "none"
"""The outcome of a step in which no member took an event."""


@define
class Kind:
    """The type of the values at one place, as far as they are known.

    `name`: `Bool`, `Int` or `Str`. `Set`, `Seq`, `Fun` and `Tup` have `parts`: the types of items, or of key
    and value, or of each place. `Rec` has `variants`: the fields of records, by their `type` and the names of
    their fields. "" where there are no values; `Any` where values of different types meet.
    """

    name: str = ""
    parts: "list[Kind]" = field(factory=list)
    variants: "dict[tuple[str, ...], dict[str, Kind]]" = field(factory=dict)


def kind_of(values: Iterable[Value]) -> Kind:
    """Find the type of values that stand at one place."""
    values = [*{id(value): value for value in values}.values()]
    kinds = {_kind(value) for value in values if value != ()}
    empty = any(value == () for value in values)
    if kinds == {"Seq", "Fun"}:
        kinds = {"Fun"}  # a function on 1..n is a sequence
    name = next(iter(kinds)) if len(kinds) == 1 else "Any" if kinds else "Seq" if empty else ""
    if empty and name not in ("Seq", "Fun"):
        name = "Any"
    if name == "Set":
        return Kind(name, [kind_of(item for each in values if isinstance(each, frozenset) for item in each)])
    if name == "Seq":
        items = [item for each in values if isinstance(each, tuple) for item in each]
        found = kind_of(items)
        if found.name != "Any":
            return Kind(name, [found])
        return _tuple([each for each in values if isinstance(each, tuple) and each])
    if name == "Fun":
        pairs = [pair for each in values for pair in _pairs(each)]
        return Kind(name, [kind_of(key for key, _ in pairs), kind_of(item for _, item in pairs)])
    if name == "Rec":
        return Kind(name, variants=_variants(each for each in values if isinstance(each, Fn)))
    return Kind(name)


def _kind(value: Value) -> str:
    match value:
        case bool():
            return "Bool"
        case int():
            return "Int"
        case str():
            return "Str"
        case tuple():
            return "Seq"
        case frozenset():
            return "Set"
        case Fn():
            return "Rec" if all(type(key) is str and key[:1].islower() for key in value) else "Fun"
    raise TypeError(f"not a TLA+ value: {value!r} ({type(value).__name__})")


def _tuple(values: Sequence[tuple[Value, ...]]) -> Kind:
    """Find the type of tuples: of equal length, with a type at each place; else `Any`."""
    if len({len(each) for each in values}) > 1:
        return Kind("Any")
    return Kind("Tup", [kind_of(column) for column in zip(*values, strict=True)])


def _pairs(value: Value) -> list[tuple[Value, Value]]:
    if isinstance(value, Fn):
        return list(value.items())
    return list(enumerate(value, 1)) if isinstance(value, tuple) else []


def _variant(value: Fn) -> tuple[str, ...]:
    tag = value.get("type", "")
    return (tag if isinstance(tag, str) else "", *map(str, value))


def _variants(values: Iterable[Fn]) -> dict[tuple[str, ...], dict[str, Kind]]:
    found: dict[tuple[str, ...], dict[str, list[Value]]] = {}
    for value in values:
        columns = found.setdefault(_variant(value), {str(name): [] for name in value})
        for name, item in value.items():
            columns[str(name)].append(item)
    return {variant: {name: kind_of(items) for name, items in columns.items()} for variant, columns in found.items()}


# Writing


def _write(value: Value, kind: Kind) -> JSON:
    """Write a value by the type of its place; where that is `Any`, by its own."""
    match value:
        case bool() | str():
            return value
        case int():
            return {"#bigint": str(value)}
    if kind.name == "Any":
        kind = kind_of([value])
    match kind.name, value:
        case "Fun", Fn() | tuple():
            key, item = kind.parts
            return {"#map": [[_write(at, key), _write(each, item)] for at, each in _pairs(value)]}
        case "Rec", Fn():
            fields = kind.variants[_variant(value)]
            return {str(name): _write(item, fields[str(name)]) for name, item in value.items()}
        case "Set", frozenset():
            return {"#set": [_write(item, kind.parts[0]) for item in sorted(value, key=order)]}
        case "Tup", tuple() if value:
            return {"#tup": [_write(item, each) for item, each in zip(value, kind.parts, strict=True)]}
        case (("Seq" | "Tup"), tuple()):
            return [_write(item, kind.parts[0]) for item in value]
    raise TypeError(f"no value of the type {kind.name}: {value!r:.200}")


def _type(kind: Kind, fresh: Callable[[], str]) -> str:
    """Write a type as Apalache has it; a variable stands for one not known, and for further fields."""
    match kind.name:
        case "Bool" | "Int" | "Str":
            return kind.name
        case "Set" | "Seq":
            return f"{kind.name}({_type(kind.parts[0], fresh)})"
        case "Fun":
            key, item = kind.parts
            return f"({_type(key, fresh)} -> {_type(item, fresh)})"
        case "Tup":
            return f"<<{', '.join(_type(each, fresh) for each in kind.parts)}>>"
        case "Rec":
            every = [*kind.variants.values()]
            shared = [name for name in every[0] if all(name in each for each in every)]
            open_ = [fresh()] if len(every) > 1 else []
            told = []
            for name in shared:
                texts = {_type(each[name], lambda: "_") for each in every}
                told.append(f"{name}: {_type(every[0][name], fresh) if len(texts) == 1 else fresh()}")
            return f"{{ {', '.join((*told, *open_))} }}"
    return fresh()


def _letters() -> Callable[[], str]:
    count = 0

    def fresh() -> str:
        nonlocal count
        count += 1
        return f"{chr(ord('a') + (count - 1) % 26)}{(count - 1) // 26 or ''}"

    return fresh


def _option(value: "JSON | None") -> JSON:
    return {"tag": "None", "value": {"#tup": []}} if value is None else {"tag": "Some", "value": value}


class Traces:
    """Writes walks of a model or scenario, all with the types that are found in all their `states`.

    States have the same variables, `act` among them. Values are written once, so walks are to share them.
    """

    def __init__(self, states: Sequence[Fn]) -> None:
        self._names = [str(name) for name in states[0]]
        self._kinds = {name: kind_of(state[name] for state in states) for name in self._names}
        acts = {id(state[ACT]): _record(state[ACT]) for state in states}.values()
        self._events = kind_of(act["event"] for act in acts if act["outcome"] != _ENVIRONMENT)
        self._given = kind_of(act["given"] for act in acts)
        self._known: dict[tuple[str, int], tuple[Value, str]] = {}
        fresh = _letters()
        types = {name: _type(kind, fresh) for name, kind in self._kinds.items()}
        picks = {"event": _type(self._events, fresh), "given": _type(self._given, fresh), "member": "Str"}
        told = ", ".join(f"{name}: None(UNIT) | Some({of})" for name, of in picks.items())
        self.types: Mapping[str, str] = dict(sorted({**types, ACTION: "Str", PICKS: f"{{ {told} }}"}.items()))

    def trace(self, title: str, states: Sequence[Fn]) -> bytes:
        """Write a walk from an initial state on, a state a line."""
        head = {"format": "ITF", "format-description": _DESCRIBED, "description": title, "varTypes": {**self.types}}
        lines = []
        for index, state in enumerate(states):
            act = _record(state[ACT])
            action = "init" if index == 0 else act["action"]
            values = ",".join(f'"{name}":{self._written(name, state[name])}' for name in self._names)
            lines.append(
                f'{{"#meta":{{"index":{index}}},"{ACTION}":{compact(action)},'
                f'"{PICKS}":{compact(self._picks(act))},{values}}}'
            )
        listed = ",\n".join(lines)
        variables = compact([ACTION, PICKS, *self._names])
        return f'{{"#meta":{compact(head)},"vars":{variables},"states":[\n{listed}\n]}}\n'.encode("ascii")

    def _written(self, name: str, value: Value) -> str:
        at = name, id(value)
        if at not in self._known:
            self._known[at] = (value, compact(_write(value, self._kinds[name])))  # the value is kept, and so its id
        return self._known[at][1]

    def _picks(self, act: Fn) -> JSON:
        none = act["given"] == Fn({"nothing": 0})
        return {
            "event": _option(None if act["outcome"] == _ENVIRONMENT else _write(act["event"], self._events)),
            "given": _option(None if none else _write(act["given"], self._given)),
            "member": _option(str(act["member"]) or None),
        }


def _record(value: Value) -> Fn:
    assert isinstance(value, Fn)  # noqa: S101 - `act` is a record
    return value
