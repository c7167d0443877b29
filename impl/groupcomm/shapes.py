"""The values that an annotation allows: read here once, for all code that goes through a protocol's values.

`shape_of` reads an annotation; what comes is one of these, of which the TLA+ side is

====================  ===================================================================================
annotation            TLA+
====================  ===================================================================================
bool, int, str        the same; a class derived from ``str`` is a string too, and so is a literal
X | None              ``[nothing |-> 0]`` is None
tuple[X, ...]         a sequence
tuple[X, Y]           a tuple of that length
frozenset[X]          a set
PerMember[X]          a function; its domain is a set of addresses. A subclass of it likewise
Mapping[K, X]         a function
X | Y                 one of these: records with a field ``type`` that tells them apart, or plain values
an attrs class        the record of its fields, generic or not
Any, object           a value of which the protocol knows nothing (a payload): anything
====================  ===================================================================================

``NewType`` and ``Annotated`` are what they are made of.
"""

import types
from collections.abc import Mapping
from functools import cache
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NewType,
    Protocol,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs
from attrs import field, frozen

from .per_member import PerMember
from .view import Address


class UnknownAnnotationError(TypeError):
    """An annotation that has no counterpart in TLA+."""


@frozen
class Atom:
    """A truth value, an integer or a text: `cls` is bool, int, or str or a class derived from it."""

    cls: type


@frozen
class Nothing:
    """None."""


@frozen
class Anything:
    """A value that the protocol does not look into."""


@frozen
class Sequence:
    """A sequence of values with the same shape."""

    item: "Shape"


@frozen
class Fixed:
    """A value of each of these shapes, in order."""

    items: "tuple[Shape, ...]"


@frozen
class Subset:
    """A set of values with the same shape."""

    item: "Shape"


@frozen
class Function:
    """Values by keys. `cls` takes pairs."""

    cls: type[PerMember[Any]]
    key: "Shape"
    item: "Shape"


@frozen
class Choice:
    """A value with any of these shapes."""

    options: "tuple[Shape, ...]"


@frozen
class Record:
    """An object of an attrs class. `arguments` are those of its type variables, where it is generic."""

    cls: type
    arguments: tuple[tuple[Any, Any], ...] = field(default=())

    @property
    def fields(self) -> "Mapping[str, Shape]":
        """The shapes of its fields by their names, in order."""
        return _fields(self)


Shape: TypeAlias = Atom | Nothing | Anything | Sequence | Fixed | Subset | Function | Choice | Record


def shape_of(annotation: Any) -> Shape:  # noqa: ANN401 - any annotation
    """Read an annotation. UnknownAnnotationError where it says nothing that TLA+ has a value for."""
    return _shape_of(annotation)


@cache
def _shape_of(annotation: Any) -> Shape:  # noqa: ANN401 - any annotation
    origin, arguments = get_origin(annotation), get_args(annotation)
    cls = origin or annotation
    if annotation is Any or annotation is object or isinstance(annotation, TypeVar):
        return Anything()
    if annotation in (None, types.NoneType):
        return Nothing()
    if isinstance(annotation, NewType):
        return shape_of(annotation.__supertype__)
    if origin is Annotated:
        return shape_of(arguments[0])
    if origin is Literal and all(type(each) is str for each in arguments):
        return Atom(str)
    if origin in (types.UnionType, Union):
        return Choice(tuple(map(shape_of, arguments)))
    if cls is tuple and arguments[1:] == (...,):
        return Sequence(shape_of(arguments[0]))
    if cls is tuple and arguments:
        return Fixed(tuple(map(shape_of, arguments)))
    if cls is frozenset and arguments:
        return Subset(shape_of(arguments[0]))
    if cls is Mapping and arguments:
        return Function(PerMember, shape_of(arguments[0]), shape_of(arguments[1]))
    if isinstance(cls, type):
        if cls in (bool, int) or issubclass(cls, str):
            return Atom(cls)
        if issubclass(cls, PerMember):
            return Function(cls, shape_of(Address), shape_of(item_of(annotation)))
        if attrs.has(cls):
            variables = getattr(cls, "__parameters__", ())
            return Record(cls, tuple(zip(variables, arguments, strict=bool(arguments))))
    raise UnknownAnnotationError(f"an annotation that TLA+ has no values for: {annotation}")


def item_of(annotation: Any) -> Any:  # noqa: ANN401 - any annotation
    """The shape of the values of a `PerMember` with this annotation."""
    if get_origin(annotation) is PerMember:
        return get_args(annotation)[0]
    for base in getattr(annotation, "__orig_bases__", ()):
        if get_origin(base) is PerMember:
            return get_args(base)[0]
    return Any


@cache
def _fields(record: Record) -> Mapping[str, Shape]:
    hints = get_type_hints(record.cls, include_extras=True)
    arguments = dict(record.arguments)
    return {
        attribute.name: shape_of(_substituted(hints[attribute.name], arguments))
        for attribute in attrs.fields(record.cls)
    }


def _substituted(annotation: Any, arguments: Mapping[Any, Any]) -> Any:  # noqa: ANN401 - any annotation
    """The annotation with the type variables replaced that `arguments` has."""
    if isinstance(annotation, TypeVar):
        return arguments.get(annotation, Any)
    parameters = getattr(annotation, "__parameters__", ())
    if parameters and get_origin(annotation) not in (None, Generic, Protocol):
        return annotation[tuple(arguments.get(parameter, Any) for parameter in parameters)]
    return annotation


def classes_in(shape: Shape) -> tuple[type, ...]:
    """The attrs classes of the records in a shape, those within fields too, each once; outermost first."""
    found: dict[type, None] = {}
    seen: set[Shape] = set()
    todo: list[Shape] = [shape]
    while todo:
        each = todo.pop(0)
        if each in seen:
            continue
        seen.add(each)
        match each:
            case Sequence(item) | Subset(item):
                todo.append(item)
            case Fixed(items) | Choice(items):
                todo += items
            case Function(_, key, item):
                todo += (key, item)
            case Record(cls):
                found.setdefault(cls)
                todo += each.fields.values()
            case Atom() | Nothing() | Anything():
                pass
    return tuple(found)
