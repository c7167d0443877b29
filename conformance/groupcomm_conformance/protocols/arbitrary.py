"""Arbitrary values of annotated classes: far more than what a protocol can reach, and the same every time.

They are for laws that must hold of every value, such as that the mapping between implementation and
specification is a bijection.
"""

import types
from random import Random
from typing import Any, Final, NewType, Union, get_args, get_origin, get_type_hints

import attrs

from groupcomm.per_member import PerMember
from groupcomm_conformance.mapping.codec import item_type

__all__ = ["arbitrary", "exact"]

_NAMES: Final = ("A", "B", "C", "Z", "", "two words", 'a "quote" \\ and\n a line')
_MOST: Final = 3


def arbitrary(wanted: Any, random: Random) -> Any:  # noqa: ANN401 - any annotation
    """Give a value of class or annotation `wanted`. TypeError for an annotation that is not understood."""
    if isinstance(wanted, NewType):
        return arbitrary(wanted.__supertype__, random)
    origin, arguments = get_origin(wanted), get_args(wanted)
    if wanted is object:
        return random.choice((0, 7, "text"))
    if wanted is bool:
        return random.random() < 0.5  # noqa: PLR2004 - a coin
    if wanted is int:
        return random.choice((-1, 0, 1, 2, random.randint(-1000, 1000)))
    if wanted is str:
        return random.choice(_NAMES)
    if isinstance(wanted, type) and issubclass(wanted, PerMember):
        return wanted((member, arbitrary(item_type(wanted), random)) for member in _some(random))
    if origin is tuple and arguments[1:] != (...,):
        return tuple(arbitrary(argument, random) for argument in arguments)
    if origin in (tuple, frozenset):
        return origin(arbitrary(arguments[0], random) for _ in range(random.randint(0, _MOST)))
    if origin in (types.UnionType, Union):
        return arbitrary(random.choice(arguments), random)
    cls = origin or wanted
    if not (isinstance(cls, type) and attrs.has(cls)):
        raise TypeError(f"no values of {wanted} can be made: teach arbitrary.py how")
    hints = get_type_hints(cls)
    return cls(**{field.alias: arbitrary(hints[field.name], random) for field in attrs.fields(cls)})


def _some(random: Random) -> list[str]:
    return random.sample(_NAMES, random.randint(0, _MOST))


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
        return cls, tuple(exact(getattr(value, field.name)) for field in attrs.fields(cls))
    return cls, value
