"""Numbers for values: two have the same number if and only if they are identical, whichever side has them.

A replay compares whole global states after each of very many steps, and the different values in them are few.
`Codes` gives a value of the implementation the number that its counterpart in the specification has, that
which `Codec.to_spec` would give, but builds nothing on the way; an immutable object that was met before is
looked up.
"""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any, Final, TypeAlias

import attrs
from attrs import define, field, frozen

from groupcomm.per_member import PerMember
from groupcomm_conformance.tla.values import Value, show

from .codec import Codec, MappingError, field_types

__all__ = ["Codes"]

Key: TypeAlias = tuple[Any, ...]

_FUNCTION: Final = 0
_TUPLE: Final = 1
_SET: Final = 2
_MOST: Final = 500
"""Objects that are remembered. Most never come again: with 200,000 of them all was half as fast."""


@frozen
class _Shape:
    """A class: its domain's number, how to get its fields in the domain's order, and where its tag goes."""

    domain: int
    get: Any
    single: bool
    place: int | None
    tag: int


@define
class Codes:
    """The numbers of values as one `codec` translates them; those of two `Codes` have nothing in common."""

    codec: Codec
    _numbers: dict[Key, int] = field(factory=dict)
    _texts: dict[str, int] = field(factory=dict)
    # By address, with the object itself, which so keeps its address; `_earlier` has those before the latest.
    _met: dict[int, tuple[object, int]] = field(factory=dict)
    _earlier: dict[int, tuple[object, int]] = field(factory=dict)
    _shapes: dict[type, _Shape] = field(factory=dict)
    # Of keys that are texts: the domain's number, and the places of the keys in its order.
    _domains: dict[Key, tuple[int, tuple[int, ...]]] = field(factory=dict)

    def of(self, value: object) -> int:
        """The number of a value of either side, an object that does not change any more.

        MappingError for what the specification has no word for.
        """
        key = id(value)
        known = self._met.get(key)
        if known is not None:
            return known[1]
        cls = type(value)
        if cls is str:
            number = self._texts.get(value)  # type: ignore[call-overload]
            if number is None:
                number = self._texts[value] = self._number((cls, value))  # type: ignore[index]
            return number  # type: ignore[no-any-return]
        if cls is int or cls is bool:
            return self._number((cls, value))
        known = self._earlier.get(key)
        if known is None:
            known = value, self._new(value, cls)
        if len(self._met) >= _MOST:
            self._earlier, self._met = self._met, {}
        self._met[key] = known
        return known[1]

    def of_step(self, step: Mapping[str, object]) -> int:
        """The number of a record that is another one every time."""
        return self._function(step.items())

    def _number(self, key: Key) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
        return number

    def _new(self, value: Any, cls: type) -> int:  # noqa: ANN401 - of any class
        of = self.of
        if cls is tuple:
            return self._number((_TUPLE, *map(of, value)))
        if cls is frozenset:
            return self._number((_SET, *sorted(map(of, value))))
        shape = self._shapes.get(cls)
        if shape is None:
            if isinstance(value, PerMember):
                return self._function(value.entries)
            if isinstance(value, Mapping):
                return self._function(value.items())
            shape = self._learned(value, cls)
        fields = shape.get(value)
        items = [of(fields)] if shape.single else [*map(of, fields)]
        if shape.place is not None:
            items.insert(shape.place, shape.tag)
        return self._number((_FUNCTION, shape.domain, *items))

    def _learned(self, value: object, cls: type) -> _Shape:
        """The shape of a class of records."""
        if not attrs.has(cls):
            theirs: Value = self.codec.to_spec(value)  # which says what is wrong
            message = f"{cls.__name__} is held in no way that has a number: {show(theirs)}"
            raise MappingError(message)
        names = {spec_name: name for name, spec_name, _ in field_types(cls)}
        domain = sorted((*names, "type")) if cls in self.codec.tags else sorted(names)
        number, _ = self._domain(tuple(domain))
        attributes = [names[name] for name in domain if name in names]
        tagged = cls in self.codec.tags
        shape = self._shapes[cls] = _Shape(
            domain=number,
            get=attrgetter(*attributes) if attributes else lambda _value: (),
            single=len(attributes) == 1,
            place=domain.index("type") if tagged else None,
            tag=self.of(self.codec.tags[cls]) if tagged else 0,
        )
        return shape

    def _function(self, pairs: Iterable[tuple[Any, object]]) -> int:
        """A function by its pairs, each key once; a function on 1..n is a tuple."""
        keys: list[Any] = []
        items: list[int] = []
        of = self.of
        for key, item in pairs:
            keys.append(key)
            items.append(of(item))
        if not keys:
            return self._number((_TUPLE,))
        domain = tuple(keys)
        known = self._domains.get(domain)
        if known is None:
            if any(type(key) is not str for key in keys):
                return self._numbered(keys, items)
            known = self._domain(domain)
        number, places = known
        return self._number((_FUNCTION, number, *[items[place] for place in places]))

    def _domain(self, keys: tuple[str, ...]) -> tuple[int, tuple[int, ...]]:
        """A set of texts as a domain: its number, and the places of `keys` in its order."""
        places = tuple(sorted(range(len(keys)), key=keys.__getitem__))
        number = self._number((_SET, *(self.of(keys[place]) for place in places)))
        known = self._domains[keys] = number, places
        return known

    def _numbered(self, keys: list[Any], items: list[int]) -> int:
        """A function whose keys are not all texts."""
        if all(type(key) is int and 1 <= key <= len(keys) for key in keys):
            return self._number((_TUPLE, *(item for _, item in sorted(zip(keys, items, strict=True)))))
        pairs = sorted(zip(map(self.of, keys), items, strict=True))
        return self._number((_FUNCTION, -1, *(number for pair in pairs for number in pair)))
