"""codes: equal numbers for identical values of either side, and for no others."""

from random import Random
from typing import Any

import pytest

from groupcomm import stable
from groupcomm.digest import EMPTY_VECTOR, Vector
from groupcomm_conformance import mapping
from groupcomm_conformance.mapping import MappingError
from groupcomm_conformance.mapping.codes import Codes
from groupcomm_conformance.protocols.arbitrary import arbitrary, exact
from groupcomm_conformance.tla.values import Fn

CODEC = mapping.load("stable").codec


@pytest.mark.parametrize("wanted", [stable.State, stable.Event])
def test_numbers_are_equal_if_and_only_if_the_values_are_identical(wanted: Any) -> None:  # noqa: ANN401
    random = Random(2009)  # noqa: S311 - repeatable
    codes = Codes(CODEC)
    values = [arbitrary(wanted, random) for _ in range(400)]
    numbers: dict[int, object] = {}
    for value in values:
        number = codes.of(value)
        assert codes.of(CODEC.to_spec(value)) == number
        assert exact(numbers.setdefault(number, value)) == exact(value)
    assert len(numbers) == len({exact(value) for value in values}) > 100


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (True, 1),
        (False, 0),
        ("1", 1),
        ((), ""),
        ((1, 2), (2, 1)),
        (frozenset({1}), (1,)),
        (frozenset({True}), frozenset({1})),
        (Fn({"a": True}), Fn({"a": 1})),
        (Fn({"a": 1}), Fn({"b": 1})),
        (Fn({2: "a"}), ("a",)),
        (Fn({"a": (1,)}), Fn({"a": 1})),
        (Vector.of(A=0), Vector.of(A=0, B=0)),
    ],
)
def test_what_python_may_think_equal_is_not(left: object, right: object) -> None:
    codes = Codes(CODEC)
    assert codes.of(left) != codes.of(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (EMPTY_VECTOR, ()),
        ({}, ()),
        ({1: "a", 2: "b"}, ("a", "b")),
        ({2: "b", 1: "a"}, ("a", "b")),
        ({"b": 1, "a": 2}, Fn({"a": 2, "b": 1})),
        ({3: "c"}, Fn({3: "c"})),
        (frozenset({"a", "b"}), frozenset({"b", "a"})),
        (Vector.of(B=1, A=0), Fn({"A": 0, "B": 1})),
        (stable.StableTimeout(), Fn({"type": "StableTimeout"})),
    ],
)
def test_however_a_value_is_held_it_has_one_number(left: object, right: object) -> None:
    codes = Codes(CODEC)
    assert codes.of(left) == codes.of(right)


def test_an_object_at_the_address_of_another_that_is_gone_is_not_taken_for_it() -> None:
    codes = Codes(CODEC)
    for number in range(5000):
        assert codes.of(Vector.of(A=number)) == codes.of(Fn({"A": number}))


def test_what_the_specification_has_no_word_for_has_no_number() -> None:
    with pytest.raises(MappingError):
        Codes(CODEC).of(object())
