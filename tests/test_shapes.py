"""shapes, codec, arbitrary: one reading of annotations, and values that survive the way there and back."""

from collections.abc import Mapping
from random import Random
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar

import pytest
from attrs import frozen

from groupcomm.per_member import PerMember
from groupcomm.shapes import UnknownAnnotationError, shape_of
from groupcomm_conformance.protocols.arbitrary import arbitrary
from groupcomm_conformance.protocols.codec import NOTHING, Codec, MappingError, exact, same
from groupcomm_conformance.tla.values import Fn, Value

T = TypeVar("T")
Opaque = NewType("Opaque", object)


class Name(str):
    """A text of its own class."""

    __slots__ = ()


@frozen
class Ask:
    """A message."""

    number: int


@frozen
class Box(Generic[T]):
    """A holder of something."""

    item: T


@frozen
class Marks(PerMember[int]):
    """A number for each member."""


CODEC = Codec({Ask: "ASK"})

VALUES: list[tuple[Any, object, Value]] = [
    (bool, True, True),
    (int, -1, -1),
    (str, "A", "A"),
    (Name, Name("A"), "A"),
    (Literal["asking", "leading"], "asking", "asking"),
    (tuple[int, ...], (1, 2), (1, 2)),
    (tuple[int, str], (1, "A"), (1, "A")),
    (frozenset[tuple[str, int]], frozenset({("A", 1)}), frozenset({("A", 1)})),
    (Marks, Marks([("B", 2), ("A", 1)]), Fn({"A": 1, "B": 2})),
    (Marks, Marks([]), ()),
    (PerMember[Ask], PerMember([("A", Ask(1))]), Fn({"A": Fn({"type": "ASK", "number": 1})})),
    (Mapping[str, bool], PerMember([("A", True)]), Fn({"A": True})),
    (int | None, None, NOTHING),
    (int | None, 3, 3),
    (Ask | str, "A", "A"),
    (Ask | str, Ask(7), Fn({"type": "ASK", "number": 7})),
    (Box[Ask], Box(Ask(7)), Fn({"item": Fn({"type": "ASK", "number": 7})})),
    (Box[tuple[Any, ...]], Box(("anything",)), Fn({"item": ("anything",)})),
    (Annotated[int, "ms"], 5, 5),
    (Opaque, "a payload", "a payload"),
]


@pytest.mark.parametrize(("annotation", "ours", "theirs"), VALUES)
def test_a_value_goes_to_tla_and_back(annotation: Any, ours: object, theirs: Value) -> None:  # noqa: ANN401
    assert theirs == CODEC.to_spec(ours)
    back = CODEC.from_spec(theirs, annotation)
    assert exact(ours) == exact(back)
    assert same(back, ours)


@pytest.mark.parametrize(
    ("annotation", "theirs", "message"),
    [
        (bool, 1, "not bool: 1"),
        (int, True, "not int: True"),
        (tuple[int, str], (1, "A", 2), "not tuple"),
        (frozenset[int], (1,), "not frozenset"),
        (int | None, "A", "none of int, None: 'A'"),
        (Ask, Fn({"type": "TELL", "number": 1}), "Ask has the fields"),
        (Ask, Fn({"number": 1}), "Ask has the fields ['number', 'type']"),
        (Ask | str, Fn({"type": "TELL"}), "none of Ask, str"),
    ],
)
def test_a_value_of_another_shape_is_refused(annotation: Any, theirs: Value, message: str) -> None:  # noqa: ANN401
    with pytest.raises(MappingError) as refused:
        CODEC.from_spec(theirs, annotation)
    assert message in str(refused.value)


@pytest.mark.parametrize("annotation", [list[int], set[int], float, dict[str, int], tuple, Box[list[int]]])
def test_what_tla_has_no_values_for_is_refused(annotation: Any) -> None:  # noqa: ANN401
    with pytest.raises(UnknownAnnotationError, match="TLA\\+ has no values for"):
        arbitrary(annotation, Random(1))  # noqa: S311 - repeatable


def test_the_shape_of_an_annotation_is_read_once() -> None:
    assert shape_of(Box[int]) is shape_of(Box[int])
    assert shape_of(Box[int]) != shape_of(Box[str])


def test_what_a_core_passes_on_unread_is_the_same_as_an_equal_value() -> None:
    part = Fn({"of": (("A", 0),), "part": 1})
    assert same(Box(part), Box(Fn(dict(part))))
    assert not same(Box(part), Box(Fn({**part, "part": True})))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (True, 1),
        ((True,), (1,)),
        (frozenset({True}), frozenset({1})),
        (Ask(number=True), Ask(1)),
        (Name("A"), "A"),
        (Marks([("A", 1)]), PerMember([("A", 1)])),
    ],
)
def test_what_python_thinks_equal_need_not_be_the_same(left: object, right: object) -> None:
    assert not same(left, right)
    assert not same(right, left)
    assert exact(left) != exact(right)
