"""The correspondence between implementation values and TLA+ values: by name, field for field.

`groupcomm.shapes` has the correspondence of types. A record that is a member of a tagged family (an event, a
message, an effect) has a field `type` on the TLA+ side. Nothing is renamed, and there is nothing here for a
single protocol: a need for cleverness would mean that specification and code have a different grain.
"""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter, eq
from typing import Any, Final, TypeVar, cast

import attrs
from attrs import field, frozen

from groupcomm.shapes import Anything, Atom, Choice, Fixed, Function, Nothing, Record, Sequence, Shape, Subset, shape_of
from groupcomm_conformance.tla.values import Fn, Value, function, identical

T = TypeVar("T")

NOTHING: Final = Fn({"nothing": 0})
"""None in TLA+: the operator `None` of the specifications."""


class MappingError(ValueError):
    """A value does not have the shape that the other side gives it: an `adapter_error`, never a pass."""


@frozen
class Codec:
    """Maps values of a protocol. `tags`: the `type` of each class of a tagged family, a bijection."""

    tags: Mapping[type, str] = field(hash=False)
    _writers: dict[type, Callable[[Any], Value]] = field(factory=dict, init=False, eq=False, repr=False)

    def to_spec(self, value: object) -> Value:
        """The TLA+ value. Raises MappingError for a class that the specification has no word for."""
        writer = self._writers.get(type(value))
        if writer is None:
            writer = self._writers[type(value)] = self._writer(value)
        return writer(value)

    def _writer(self, value: object) -> Callable[[Any], Value]:
        """How values of this value's class are written."""
        cls = type(value)
        to_spec = self.to_spec
        match value:
            case None:
                return lambda _value: NOTHING
            case bool() | int() if cls in (bool, int):
                return lambda value: cast("Value", value)
            case str():
                return str if cls is not str else lambda value: cast("Value", value)
            case tuple():
                return lambda value: tuple(map(to_spec, value))
            case frozenset():
                return lambda value: frozenset(map(to_spec, value))
            case Mapping():
                return lambda value: function((to_spec(key), to_spec(item)) for key, item in value.items())
        if not attrs.has(cls):
            raise MappingError(f"{cls.__name__} has no counterpart in the specification: {value!r:.200}")
        names = tuple(attribute.name for attribute in attrs.fields(cls))
        tag = {"type": self.tags[cls]} if cls in self.tags else {}

        def record(value: object) -> Value:
            return Fn({**{name: to_spec(getattr(value, name)) for name in names}, **tag})

        return record

    def from_spec(self, value: Value, wanted: type[T]) -> T:
        """The implementation value of class (or annotation) `wanted`; MappingError if its shape is other."""
        return cast("T", self.decode(value, shape_of(wanted)))

    def decode(self, value: Value, shape: Shape) -> Any:  # noqa: ANN401 - of that shape
        """As `from_spec`, for an annotation that was read already."""
        match shape:
            case Atom(cls):
                if type(value) is cls:
                    return value
                if issubclass(cls, str) and type(value) is str:
                    return cls(value)
            case Record(cls):
                if isinstance(value, Fn):
                    return self._record(value, shape)
            case Choice(options):
                return self._option(value, options)
            case Function(cls, key, item):
                if value == () or isinstance(value, Fn):
                    pairs = value.items() if isinstance(value, Fn) else ()
                    return cls((self.decode(name, key), self.decode(entry, item)) for name, entry in pairs)
                if isinstance(value, tuple) and self._takes(1, key):  # a function on 1..n
                    numbered: Any = enumerate(value, 1)  # whatever the keys are, `cls` takes pairs
                    return cls((place, self.decode(entry, item)) for place, entry in numbered)
            case Sequence(item):
                if isinstance(value, tuple):
                    return tuple(self.decode(entry, item) for entry in value)
            case Fixed(items):
                if isinstance(value, tuple) and len(value) == len(items):
                    return tuple(self.decode(entry, item) for entry, item in zip(value, items, strict=True))
            case Subset(item):
                if isinstance(value, frozenset):
                    return frozenset(self.decode(entry, item) for entry in value)
            case Nothing():
                if value == NOTHING and identical(value, NOTHING):
                    return None
            case Anything():
                return value
        raise MappingError(f"not {_named(shape)}: {value!r:.300}")

    def _takes(self, value: Value, shape: Shape) -> bool:
        try:
            self.decode(value, shape)
        except MappingError:
            return False
        return True

    def _option(self, value: Value, options: tuple[Shape, ...]) -> Any:  # noqa: ANN401 - of any of the options
        """The value of the option that its `type` names, or else of the first option that takes it."""
        if isinstance(value, Fn) and "type" in value:
            for option in options:
                if isinstance(option, Record) and self.tags.get(option.cls) == value["type"]:
                    return self._record(value, option)
        for option in options:
            if not (isinstance(option, Record) and option.cls in self.tags) and self._takes(value, option):
                return self.decode(value, option)
        raise MappingError(f"none of {', '.join(map(_named, options))}: {value!r:.300}")

    def _record(self, value: Fn, shape: Record) -> object:
        cls, fields = shape.cls, shape.fields
        expected = {*fields} | ({"type"} if cls in self.tags else set())
        if set(value.keys()) != expected or (cls in self.tags and value["type"] != self.tags[cls]):
            raise MappingError(f"{cls.__name__} has the fields {sorted(expected)}, not those of {value!r:.300}")
        return cls(**{name: self.decode(value[name], field) for name, field in fields.items()})


def _named(shape: Shape) -> str:
    """The name of a shape in errors."""
    match shape:
        case Atom(cls) | Record(cls) | Function(cls):
            return cls.__name__
        case Nothing():
            return "None"
        case Sequence() | Fixed():
            return "tuple"
        case Subset():
            return "frozenset"
        case Choice(options):
            return " | ".join(map(_named, options))
        case Anything():
            return "anything"


def exact(value: object) -> object:
    """Give a hashable that is equal for values that are equal *and* of the same classes throughout.

    Python holds `True == 1` and an instance equal to one of a subclass.
    """
    cls = type(value)
    if isinstance(value, tuple):
        return cls, tuple(map(exact, value))
    if isinstance(value, frozenset):
        return cls, frozenset(map(exact, value))
    if attrs.has(cls):
        return cls, tuple(map(exact, parts_of(cls)(value)))
    return cls, value


def _compared(cls: type) -> tuple[str, ...]:
    """The names of an attrs class's fields, in order, without fields that make no difference to a value."""
    return tuple(attribute.name for attribute in attrs.fields(cls) if attribute.eq)


_get: dict[type, Callable[[Any], tuple[Any, ...]]] = {}


def parts_of(cls: type) -> Callable[[Any], tuple[Any, ...]]:
    """How to get all fields of an object of an attrs class as a tuple, fast."""
    known = _get.get(cls)
    if known is None:
        names = _compared(cls)
        several = len(names) > 1  # for a single field, attrgetter gives no tuple
        known = attrgetter(*names) if several else lambda value: tuple(getattr(value, name) for name in names)
        _get[cls] = known
    return known


def same(got: object, wanted: object) -> bool:
    """Say whether two implementation values are equal and of the same classes throughout, fast."""
    if got is wanted:
        return True
    cls = type(wanted)
    if type(got) is not cls:
        return False
    return (_alike.get(cls) or _learned(cls))(got, wanted)


def _same_tuples(got: tuple[object, ...], wanted: tuple[object, ...]) -> bool:
    if len(got) != len(wanted):
        return False
    for one, other in zip(got, wanted):  # noqa: B905 - they are as long, and `strict` takes its time
        if one is not other:  # and then as in `same`, without a call for each
            cls = type(other)
            if type(one) is not cls or not (_alike.get(cls) or _learned(cls))(one, other):
                return False
    return True


def _same_sets(got: frozenset[object], wanted: frozenset[object]) -> bool:
    if got != wanted:
        return False
    kinds = {*map(type, got)}
    if len(kinds) == 1 and kinds <= {bool, int, str}:
        return kinds == {*map(type, wanted)}
    return exact(got) == exact(wanted)


_alike: dict[type, Callable[[Any, Any], bool]] = {
    bool: eq,
    int: eq,
    str: eq,
    tuple: _same_tuples,
    frozenset: _same_sets,
    Fn: identical,  # what a core passes on unread, such as a part of a state
}
"""How two objects of a class are compared."""


def _learned(cls: type) -> Callable[[Any, Any], bool]:
    """How two objects of another class are compared: field by field."""
    if not attrs.has(cls):
        return eq if issubclass(cls, str) else lambda _got, _wanted: False
    compare = _alike[cls] = _unrolled(_compared(cls))
    return compare


_FIELD: Final = """
    one, other = got.{name}, wanted.{name}
    if one is not other:
        cls = type(other)
        if type(one) is not cls or not (alike.get(cls) or learned(cls))(one, other):
            return False
"""


def _unrolled(names: Iterable[str]) -> Callable[[Any, Any], bool]:
    """Write the comparison out, a field after the other, as attrs does: a loop takes half as long again."""
    text = "".join(_FIELD.format(name=name) for name in names)
    made: dict[str, Any] = {"alike": _alike, "learned": _learned}
    exec(f"def compare(got, wanted):{text}\n    return True", made)  # noqa: S102 - names of fields, no input
    return cast("Callable[[Any, Any], bool]", made["compare"])
