"""Plain JSON of a protocol's values, read by shape: what adapters exchange.

The types are in the schema (`schema`), so that the values need no marks:

====================  ==================================================================
TLA+                  JSON
====================  ==================================================================
``TRUE``, ``"A"``     ``true``, ``"A"``
an integer            a number; beyond 2^53 - 1 a string of digits
a record              an object with all of its fields
a sequence, a tuple   an array
a set                 an array; its order means nothing
a function            an object, whatever its keys; with keys that are no strings, an array of pairs
None                  ``null``
====================  ==================================================================

A payload is any JSON value that is no `null`: the protocol does not look into it.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, get_args, get_origin, get_type_hints

from attrs import field, frozen

from groupcomm.shapes import Anything, Atom, Choice, Fixed, Function, Nothing, Record, Sequence, Shape, Subset, shape_of
from groupcomm_conformance.protocols.codec import NOTHING
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.tla.values import Fn, Value, function, order

PlainJSON: TypeAlias = "bool | int | str | list[PlainJSON] | dict[str, PlainJSON] | None"

LARGEST: Final = 2**53 - 1
"""The largest integer that every reader of JSON has exactly."""

_BRIEF: Final = 60

compact: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode
"""Write JSON as it goes over a pipe: ASCII, without spaces and line ends."""


class PlainError(ValueError):
    """JSON that is no value of a shape: `path` says where, as in `state.view.id.counter`."""

    def __init__(self, path: str, expected: str, told: object) -> None:
        self.path = path
        shown = compact(told)
        shown = shown if len(shown) <= _BRIEF else f"{shown[:_BRIEF]}..."
        super().__init__(f"{path}: expected {expected}, not {shown}")


@frozen
class Plain:
    """Writes and reads the values of a protocol. `tags`: the `type` of each class that has one."""

    tags: Mapping[type, str] = field(hash=False)

    @classmethod
    def of(cls, protocol: Protocol) -> "Plain":
        """Give the JSON form of a protocol."""
        return cls(protocol.codec.tags)

    # Writing

    def write(self, value: Value, shape: Shape) -> PlainJSON:
        """Write a value of this shape, sets in canonical order. ValueError for a value of another shape."""
        match shape:
            case Atom(cls) if cls is bool or issubclass(cls, str):
                if isinstance(value, cls if cls is bool else str):
                    return value
            case Atom():
                if type(value) is int:
                    return _number(value)
            case Record(cls):
                if isinstance(value, Fn):
                    told: dict[str, PlainJSON] = {"type": self.tags[cls]} if cls in self.tags else {}
                    for name, of in shape.fields.items():
                        told[name] = self.write(value[name], of)
                    return told
            case Function(_, key, item):
                pairs = value.items() if isinstance(value, Fn) else enumerate(_sequence(value), 1)
                if _is_text(key):
                    return {str(name): self.write(entry, item) for name, entry in pairs}
                return [[self.write(name, key), self.write(entry, item)] for name, entry in pairs]
            case Sequence(item):
                return [self.write(each, item) for each in _sequence(value)]
            case Fixed(items):
                return [self.write(each, item) for each, item in zip(_sequence(value), items, strict=True)]
            case Subset(item):
                if isinstance(value, frozenset):
                    return [self.write(each, item) for each in sorted(value, key=order)]
            case Nothing():
                return None
            case Choice():
                return self._write_option(value, shape)
            case Anything():
                return loose(value)
        raise ValueError(f"no value of the shape {shape}: {value!r:.200}")

    def _write_option(self, value: Value, shape: Choice) -> PlainJSON:
        if value == NOTHING:
            return None
        tag, names = (value.get("type"), {*value} - {"type"}) if isinstance(value, Fn) else (None, set())
        for option in shape.options:
            # A record without a `type` is known by its fields: a message, say, and what carries it.
            if isinstance(option, Record) and self.tags.get(option.cls) == tag and {*option.fields} == names:
                return self.write(value, option)
        raise ValueError(f"no option of {shape}: {value!r:.200}")

    # Reading

    def read(self, told: Any, shape: Shape, path: str = "value") -> Value:  # noqa: ANN401 - any JSON
        """Read a value of this shape. PlainError names the place of what is none."""
        match shape:
            case Atom(cls) if cls is bool:
                if type(told) is bool:
                    return told
                raise PlainError(path, "true or false", told)
            case Atom(cls) if issubclass(cls, str):
                if type(told) is str:
                    return told
                raise PlainError(path, "a string", told)
            case Atom():
                return _integer(told, path)
            case Record():
                return self._record(told, shape, path)
            case Function(_, key, item):
                return self._function(told, key, item, path)
            case Sequence(item):
                return tuple(self.read(each, item, f"{path}[{at}]") for at, each in enumerate(_array(told, path)))
            case Fixed(items):
                if len(_array(told, path)) != len(items):
                    raise PlainError(path, f"an array of {len(items)}", told)
                return tuple(
                    self.read(each, item, f"{path}[{at}]")
                    for at, (each, item) in enumerate(zip(told, items, strict=True))
                )
            case Subset(item):
                found = [self.read(each, item, f"{path}[{at}]") for at, each in enumerate(_array(told, path))]
                if len(frozenset(found)) < len(found):
                    raise PlainError(path, "each of a set once", told)
                return frozenset(found)
            case Nothing():
                if told is None:
                    return NOTHING
                raise PlainError(path, "null", told)
            case Choice():
                return self._option(told, shape, path)
            case Anything():
                return tight(told, path)
        raise TypeError(f"no shape: {shape!r}")

    def _record(self, told: Any, shape: Record, path: str) -> Value:  # noqa: ANN401 - any JSON
        tag = self.tags.get(shape.cls)
        expected = ([] if tag is None else ["type"]) + [*shape.fields]
        if type(told) is not dict:
            raise PlainError(path, f"an object with {', '.join(expected) or 'no fields'}", told)
        for name in expected:
            if name not in told:
                raise PlainError(path, f"the field {name}", told)
        for name in told:
            if name not in expected:
                raise PlainError(path, f"no field {name}", told)
        if tag is not None and told["type"] != tag:
            raise PlainError(f"{path}.type", compact(tag), told["type"])
        found = {name: self.read(told[name], of, f"{path}.{name}") for name, of in shape.fields.items()}
        return Fn(found if tag is None else {"type": tag, **found})

    def _function(self, told: Any, key: Shape, item: Shape, path: str) -> Value:  # noqa: ANN401 - any JSON
        if _is_text(key):
            if type(told) is not dict:
                raise PlainError(path, "an object, a function", told)
            return function((name, self.read(entry, item, f"{path}.{name}")) for name, entry in told.items())
        pairs: dict[Value, Value] = {}
        for at, each in enumerate(_array(told, path)):
            if type(each) is not list or len(each) != 2:  # noqa: PLR2004 - a pair
                raise PlainError(f"{path}[{at}]", "a pair of a key and a value", each)
            pairs[self.read(each[0], key, f"{path}[{at}][0]")] = self.read(each[1], item, f"{path}[{at}][1]")
        if len(pairs) < len(told):
            raise PlainError(path, "each key once", told)
        return function(pairs)

    def _option(self, told: Any, shape: Choice, path: str) -> Value:  # noqa: ANN401 - any JSON
        records = {self.tags[each.cls]: each for each in shape.options if isinstance(each, Record)}
        if told is None and any(isinstance(each, Nothing) for each in shape.options):
            return NOTHING
        if type(told) is not dict or told.get("type") not in records:
            raise PlainError(path, f"an object with the type {' or '.join(records)}", told)
        return self.read(told, records[told["type"]], path)


def _is_text(shape: Shape) -> bool:
    return isinstance(shape, Atom) and issubclass(shape.cls, str)


def _sequence(value: Value) -> tuple[Value, ...]:
    if isinstance(value, tuple):
        return value
    raise ValueError(f"no sequence: {value!r:.200}")


def _array(told: object, path: str) -> list[Any]:
    if type(told) is list:
        return told
    raise PlainError(path, "an array", told)


def _number(value: int) -> PlainJSON:
    return value if abs(value) <= LARGEST else str(value)


def _integer(told: object, path: str) -> int:
    if type(told) is int and abs(told) <= LARGEST:
        return told
    if type(told) is str and told.lstrip("-").isdecimal() and abs(int(told)) > LARGEST:
        return int(told)
    raise PlainError(path, f"an integer, beyond {LARGEST} as a string", told)


def loose(value: Value) -> PlainJSON:
    """Write a value that has no shape: a payload, a constant."""
    match value:
        case bool() | str():
            return value
        case int():
            return _number(value)
        case tuple():
            return [loose(each) for each in value]
        case frozenset():
            return [loose(each) for each in sorted(value, key=order)]
        case Fn() if all(type(key) is str for key in value):
            return {str(key): loose(each) for key, each in value.items()}
    raise ValueError(f"no payload: {value!r:.200}")


def tight(told: object, path: str) -> Value:
    """Read such a value, with sequences for arrays. PlainError for any other text."""
    match told:
        case bool() | int() | str():
            return told
        case list():
            return tuple(tight(each, f"{path}[{at}]") for at, each in enumerate(told))
        case dict():
            return function((name, tight(each, f"{path}.{name}")) for name, each in told.items())
    raise PlainError(path, "a payload", told)


# The schema


def schema(protocol: Protocol) -> dict[str, PlainJSON]:
    """Describe the values of a protocol: `Event`, `Effect`, `State`, `Config` and all that is in them."""
    found = _Schema(protocol)
    top = {"Event": shape_of(protocol.events), "Effect": shape_of(protocol.effects), "State": shape_of(protocol.state)}
    for name, shape in top.items():
        found.define(name, shape)
    config = shape_of(protocol.configuration)
    assert isinstance(config, Record)  # noqa: S101 - so it is of every protocol
    parameters = {protocol.parameters[name]: found.of(shape) for name, shape in config.fields.items()}
    found.definitions["Config"] = {"description": "The constants that configure a member.", **_object(parameters)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{protocol.name.title().replace('_', '')}Values",
        "description": f"The values of {protocol.name}: events, effects, states, configuration.",
        # Generators of types look at what can be reached from here.
        **_object({name.lower(): {"$ref": f"#/$defs/{name}"} for name in (*top, "Config")}),
        "$defs": dict(sorted(found.definitions.items())),
    }


def _object(fields: Mapping[str, PlainJSON]) -> dict[str, PlainJSON]:
    return {"type": "object", "properties": {**fields}, "required": [*fields], "additionalProperties": False}


class _Schema:
    """Definitions in the making: each record once, by the name of its class."""

    def __init__(self, protocol: Protocol) -> None:
        self.definitions: dict[str, PlainJSON] = {}
        self._tags = protocol.codec.tags
        self._names: dict[Record, str] = {}

    def define(self, name: str, shape: Shape) -> None:
        """Give a name to a shape that is a record or a choice of records."""
        if isinstance(shape, Record):
            self._names[shape] = name
            self._record(name, shape)
        else:
            self.definitions[name] = self.of(shape)

    def of(self, shape: Shape, annotation: object = None) -> PlainJSON:
        """Describe a shape."""
        match shape:
            case Atom(cls) if get_origin(annotation) is Literal:
                return {"enum": [*get_args(annotation)]}
            case Atom(cls):
                return {"type": {bool: "boolean", int: "integer"}.get(cls, "string")}
            case Record():
                if shape not in self._names:
                    self._names[shape] = self._name(shape)
                    self._record(self._names[shape], shape)
                return {"$ref": f"#/$defs/{self._names[shape]}"}
            case Function(_, key, item) if _is_text(key):
                return {"type": "object", "additionalProperties": self.of(item), "description": "a function"}
            case Function(_, key, item):
                pair: PlainJSON = {
                    "type": "array",
                    "prefixItems": [self.of(key), self.of(item)],
                    "minItems": 2,
                    "maxItems": 2,
                }
                return {"type": "array", "items": pair, "description": "a function, as pairs"}
            case Sequence(item):
                return {"type": "array", "items": self.of(item)}
            case Fixed(items):
                return {
                    "type": "array",
                    "prefixItems": [*map(self.of, items)],
                    "minItems": len(items),
                    "maxItems": len(items),
                }
            case Subset(item):
                return {"type": "array", "items": self.of(item), "uniqueItems": True, "description": "a set"}
            case Nothing():
                return {"type": "null"}
            case Choice(options):
                return {"oneOf": [*map(self.of, options)]}
            case Anything():
                return {"description": "a payload: any value but null", "not": {"type": "null"}}
        raise TypeError(f"no shape: {shape!r}")

    def _name(self, record: Record) -> str:
        """The class's name; what is of another module than the protocol's own goes by that where need be."""
        name = record.cls.__name__
        for _, argument in record.arguments:
            inner = shape_of(argument)
            inner_options = inner.options if isinstance(inner, Choice) else (inner,)
            if len(inner_options) == 1 and isinstance(inner_options[0], Record):
                name = f"{name}{inner_options[0].cls.__name__}"
        if name in self.definitions or name in self._names.values():
            module = record.cls.__module__.rpartition(".")[2]
            name = f"{''.join(part.capitalize() for part in module.split('_'))}{name}"
        return name

    def _record(self, name: str, record: Record) -> None:
        self.definitions[name] = None  # what it consists of may come back to it
        hints = get_type_hints(record.cls, include_extras=True)
        fields = {of: self.of(shape, hints.get(of)) for of, shape in record.fields.items()}
        if record.cls in self._tags:
            fields = {"type": {"enum": [self._tags[record.cls]]}, **fields}
        summary = (record.cls.__doc__ or "").strip().partition("\n")[0]
        told: dict[str, PlainJSON] = {} if summary.startswith(f"{record.cls.__name__}(") else {"description": summary}
        self.definitions[name] = {**told, **_object(fields)}
