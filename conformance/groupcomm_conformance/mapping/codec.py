"""The correspondence between implementation values and TLA+ values: by name, field for field.

A frozen attrs class is the record of its fields; one that is a member of a tagged family (an event, a
message, an effect) has a field `type` on the TLA+ side. A `PerMember` is a function over members.
Nothing is renamed but `sender`, which Python cannot call `from`. There is nothing here for one protocol:
a mapping that needs cleverness means that specification and code have a different grain.
"""

import types
from collections.abc import Mapping
from functools import cache
from typing import Any, NewType, TypeVar, cast, get_args, get_origin, get_type_hints

import attrs
from attrs import frozen

from groupcomm.per_member import PerMember
from groupcomm_conformance.tla.values import Fn, Value, function

T = TypeVar("T")


class MappingError(ValueError):
    """A value does not have the shape that the other side gives it: an `adapter_error`, never a pass."""


def _spec_name(name: str) -> str:
    return name


@cache
def field_types(cls: type) -> tuple[tuple[str, str, Any], ...]:
    """The fields of a class: their names here, in the specification, and their annotations."""
    hints = get_type_hints(cls)
    return tuple((field.name, _spec_name(field.name), hints[field.name]) for field in attrs.fields(cls))


def item_type(cls: type[PerMember[Any]]) -> Any:  # noqa: ANN401 - any annotation
    """What a class `X(PerMember[T])` holds: T."""
    bases = getattr(cls, "__orig_bases__", ())
    (base,) = (base for base in bases if get_origin(base) is PerMember)
    return get_args(base)[0]


@frozen
class Codec:
    """Maps values of one protocol. `tags`: the `type` of each class of a tagged family, a bijection."""

    tags: Mapping[type, str]

    def to_spec(self, value: object) -> Value:
        """The TLA+ value. Raises MappingError for a class that the specification has no word for."""
        match value:
            case bool() | int() | str():
                return value
            case tuple():
                return tuple(self.to_spec(item) for item in value)
            case frozenset():
                return frozenset(self.to_spec(item) for item in value)
            case Mapping():
                return function((self.to_spec(key), self.to_spec(item)) for key, item in value.items())
        cls = type(value)
        if not attrs.has(cls):
            message = f"{cls.__name__} has no counterpart in the specification: {value!r}"
            raise MappingError(message)
        record: dict[Value, Value] = {
            spec_name: self.to_spec(getattr(value, name)) for name, spec_name, _ in field_types(cls)
        }
        if cls in self.tags:
            record["type"] = self.tags[cls]
        return Fn(record)

    def from_spec(self, value: Value, wanted: type[T]) -> T:
        """The implementation value of class (or annotation) `wanted`; MappingError if its shape is other."""
        return cast("T", self._from(value, wanted))

    def _from(self, value: Value, wanted: Any) -> object:  # noqa: ANN401 - any annotation
        origin = get_origin(wanted)
        if isinstance(wanted, NewType):
            return self._from(value, wanted.__supertype__)
        if wanted is object:
            return value
        if wanted in (bool, int, str):
            if type(value) is wanted:
                return value
        elif isinstance(wanted, type) and issubclass(wanted, PerMember):
            if value == () or isinstance(value, Fn):
                item = item_type(wanted)
                return wanted((member, self._from(entry, item)) for member, entry in _items(value))
        elif origin is tuple:
            if isinstance(value, tuple):
                return tuple(self._from(item, get_args(wanted)[0]) for item in value)
        elif origin is frozenset:
            if isinstance(value, frozenset):
                return frozenset(self._from(item, get_args(wanted)[0]) for item in value)
        elif origin in (types.UnionType, *_UNIONS):
            return self._tagged(value, get_args(wanted))
        elif isinstance(value, Fn):
            cls = origin or wanted
            if attrs.has(cls):
                return self._record(value, cls)
        message = f"not {getattr(wanted, '__name__', wanted)}: {value!r}"
        raise MappingError(message)

    def _tagged(self, value: Value, classes: tuple[Any, ...]) -> object:
        if isinstance(value, Fn) and "type" in value:
            for cls in classes:
                if self.tags.get(get_origin(cls) or cls) == value["type"]:
                    return self._record(value, get_origin(cls) or cls)
        message = f"none of {', '.join(c.__name__ for c in classes)}: {value!r}"
        raise MappingError(message)

    def _record(self, value: Fn, cls: type) -> object:
        fields = field_types(cls)
        expected = {spec_name for _, spec_name, _ in fields} | ({"type"} if cls in self.tags else set())
        if set(value.keys()) != expected or (cls in self.tags and value["type"] != self.tags[cls]):
            message = f"{cls.__name__} has the fields {sorted(expected)}, not those of {value!r}"
            raise MappingError(message)
        return cls(**{name: self._from(value[spec_name], hint) for name, spec_name, hint in fields})


_UNIONS = (get_origin(int | str), get_origin(T | None))


def _items(value: Value) -> tuple[tuple[str, Value], ...]:
    return cast("tuple[tuple[str, Value], ...]", tuple(value.items()) if isinstance(value, Fn) else ())
