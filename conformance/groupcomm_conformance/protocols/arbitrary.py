"""Arbitrary values of annotated classes: far more than what a protocol can reach, and the same every time.

They are for laws that must hold of every value, such as that the codec is a bijection.
"""

from random import Random
from typing import Any, Final

from groupcomm.shapes import Anything, Atom, Choice, Fixed, Function, Nothing, Record, Sequence, Shape, Subset, shape_of

_NAMES: Final = ("A", "B", "C", "Z", "", "two words", 'a "quote" \\ and\n a line')
_MOST: Final = 3


def arbitrary(wanted: Any, random: Random) -> Any:  # noqa: ANN401 - any annotation
    """Give a value of class or annotation `wanted`. UnknownAnnotationError if it is not understood."""
    return _value(shape_of(wanted), random)


def _value(shape: Shape, random: Random) -> Any:  # noqa: ANN401 - of that shape
    match shape:
        case Atom(cls) if cls is bool:
            return random.random() < 0.5  # noqa: PLR2004 - a coin
        case Atom(cls) if cls is int:
            return random.choice((-1, 0, 1, 2, random.randint(-1000, 1000)))
        case Atom(cls):
            return cls(random.choice(_NAMES))
        case Nothing():
            return None
        case Anything():
            return random.choice((0, 7, "text"))
        case Sequence(item):
            return tuple(_value(item, random) for _ in range(random.randint(0, _MOST)))
        case Fixed(items):
            return tuple(_value(item, random) for item in items)
        case Subset(item):
            return frozenset(_value(item, random) for _ in range(random.randint(0, _MOST)))
        case Function(cls, key, item):
            keys = {_value(key, random) for _ in range(random.randint(0, _MOST))}
            return cls((name, _value(item, random)) for name in sorted(keys))
        case Choice(options):
            return _value(random.choice(options), random)
        case Record(cls):
            return cls(**{name: _value(field, random) for name, field in shape.fields.items()})
