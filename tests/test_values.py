"""TLA+ values: one form in Python, TLC's text in, TLA+ and ITF out."""

import pickle
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcomm_conformance.tla.values import (
    Fn,
    Value,
    ValueSyntaxError,
    from_json,
    function,
    identical,
    order,
    parse,
    parse_state,
    show,
    to_json,
)

ATOMS = st.booleans() | st.integers(-(2**31), 2**31 - 1) | st.text(st.characters(codec="ascii"), max_size=6)
KEYS = st.integers(-3, 9) | st.text("abIF_1- ", max_size=3) | st.tuples(st.integers(0, 2), st.text("ab", max_size=1))


def extend(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return (
        st.lists(inner, max_size=4).map(tuple)
        | st.frozensets(inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4).map(function)
    )


VALUES = st.recursive(ATOMS, extend, max_leaves=20)


@given(VALUES)
def test_what_is_shown_is_parsed_back(value: Value) -> None:
    assert identical(value, parse(show(value)))


@given(VALUES)
def test_the_itf_encoding_is_decoded(value: Value) -> None:
    assert identical(value, from_json(to_json(value)))


@given(VALUES, st.randoms(use_true_random=False))
def test_equal_values_have_one_text_one_encoding_and_one_hash(value: Value, chance: random.Random) -> None:
    other = rebuilt(value, chance)
    assert other == value
    assert hash(other) == hash(value)
    assert show(other) == show(value)
    assert to_json(other) == to_json(value)


def rebuilt(value: Value, chance: random.Random) -> Value:
    """The same value, put together in another order."""
    match value:
        case tuple():
            return tuple(rebuilt(item, chance) for item in value)
        case frozenset():
            members = list(value)
            chance.shuffle(members)
            return frozenset(rebuilt(item, chance) for item in members)
        case Fn():
            items = list(value.items())
            chance.shuffle(items)
            return Fn((rebuilt(key, chance), rebuilt(item, chance)) for key, item in items)
        case _:
            return value


@given(VALUES, VALUES)
def test_the_order_is_total_and_agrees_with_identity(left: Value, right: Value) -> None:
    assert (order(left) == order(right)) == identical(left, right)
    assert (order(left) < order(right)) != (order(left) >= order(right))


@given(VALUES)
def test_a_value_survives_pickling(value: Value) -> None:
    assert identical(value, pickle.loads(pickle.dumps(value)))  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("TRUE", True),
        ("FALSE", False),
        ("-17", -17),
        ('"A"', "A"),
        ("m1", "m1"),
        ("<<>>", ()),
        ("{}", frozenset()),
        ("<<1, <<2>>>>", (1, (2,))),
        ('{"B", "A"}', frozenset("AB")),
        ("1..3", frozenset({1, 2, 3})),
        ("-1..1", frozenset({-1, 0, 1})),
        ("2..1", frozenset()),
        ("[a |-> 1, b |-> {}]", Fn({"a": 1, "b": frozenset()})),
        ("(3 :> -4 @@ 5 :> 1)", Fn({3: -4, 5: 1})),
        ("(2 :> 20 @@ 1 :> 10)", (10, 20)),
        ('(TRUE :> 1 @@ "1x" :> 2)', Fn({True: 1, "1x": 2})),
        ('(<<1, "a">> :> [x |-> 0])', Fn({(1, "a"): Fn({"x": 0})})),
        ("<< [a |-> 1],\n   [a |-> 2] >>", (Fn({"a": 1}), Fn({"a": 2}))),
        (r'"q\"u\\o\nt\te"', 'q"u\\o\nt\te'),
    ],
)
def test_parse_reads_what_tlc_prints(text: str, value: Value) -> None:
    assert identical(value, parse(text))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fn({"b": 1, "a": 2}), "[a |-> 2, b |-> 1]"),
        (Fn({"IF": 1}), '("IF" :> 1)'),
        (Fn({"WF_x": 1}), '("WF_x" :> 1)'),
        (Fn({"a-b": 1, "a": 2}), '("a" :> 2 @@ "a-b" :> 1)'),
        (Fn({10: 1, 9: 2}), "(9 :> 2 @@ 10 :> 1)"),
        (frozenset({"b", "a"}), '{"a", "b"}'),
        (frozenset({"a", 2, (1,), True}), '{TRUE, 2, "a", <<1>>}'),
        (frozenset({(2,), (1, 1)}), "{<<2>>, <<1, 1>>}"),
    ],
)
def test_show_writes_canonical_text(value: Value, text: str) -> None:
    assert text == show(value)


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("", 0, "unexpected end of the value"),
        ("<<1, 2", 6, "unexpected end of the value"),
        ("<<1 2>>", 4, "expected ',' or '>>', not '2'"),
        ("[a |-> 1, b]", 10, "expected a field, not 'b'"),
        ("[a |-> 1, a |-> 2]", 10, "field a stands twice"),
        ("(1 :> 2 @@ 1 :> 3)", 11, "key 1 stands twice"),
        ("[a |-> 1; b |-> 2]", 8, "expected ',' or ']', not ';'"),
        ("(1 = 2)", 3, "expected ':>', not '='"),
        ("(1 :> 2, 3 :> 4)", 7, "expected '@@' or ')', not ','"),
        ("{1} 2", 4, "'2' after the end of the value"),
        ("<<1, ?>>", 5, "'?' starts no value"),
        ('"open', 0, "'\"' starts no value"),
    ],
)
def test_bad_text_is_refused_with_its_place(text: str, position: int, reason: str) -> None:
    with pytest.raises(ValueSyntaxError) as caught:
        parse(text)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes, as of a process that reads for another
    for error in (caught.value, again):
        assert (text, position, reason) == (error.text, error.position, error.reason)
        assert f"{reason} at offset {position}: " in str(error)


def test_a_state_is_a_record_of_its_variables() -> None:
    text = '/\\ local = [A |-> 1,\n   B |-> 2]\n/\\ act = "a = b"\n'
    assert Fn({"local": Fn({"A": 1, "B": 2}), "act": "a = b"}) == parse_state(text)
    assert Fn({"x": 3}) == parse_state("x = 3\n")
    with pytest.raises(ValueSyntaxError, match="expected a conjunction"):
        parse_state("no state")


def test_a_function_is_an_immutable_mapping_in_canonical_order() -> None:
    fn = Fn({"b": 2, "a": 1, "c": 3})
    assert ["a", "b", "c"] == list(fn) == list(fn.keys())
    assert [("a", 1), ("b", 2), ("c", 3)] == list(fn.items())
    assert [1, 2, 3] == list(fn.values())
    assert "Fn({'a': 1, 'b': 2, 'c': 3})" == repr(fn)
    assert (1, 3, None, 0) == (fn["a"], len(fn), fn.get("z"), fn.get("z", 0))
    assert "a" in fn
    assert "z" not in fn
    match fn:
        case {"a": first, "b": 2}:
            assert first == 1
        case _:
            pytest.fail("a Fn matches mapping patterns")


def test_replace_gives_another_record_and_knows_its_fields() -> None:
    fn = Fn({"a": 1, "b": 2})
    assert Fn({"a": 1, "b": 5}) == fn.replace(b=5)
    assert Fn({"a": 1, "b": 2}) == fn
    with pytest.raises(KeyError, match="z"):
        fn.replace(z=1)


@pytest.mark.parametrize("items", [{}, {1: "x"}, {2: "y", 1: "x"}])
def test_a_function_on_an_initial_segment_is_a_tuple(items: dict[int, str]) -> None:
    assert tuple(items[index] for index in sorted(items)) == function(items)
    with pytest.raises(ValueError, match="is a tuple"):
        Fn(items)


def test_true_is_not_one() -> None:
    assert (True,) == (1,)
    assert not identical((True,), (1,))
    assert Fn({True: "x"}) == function({True: "x"})


@pytest.mark.parametrize("alien", [1.5, None, [1], {"a": 1}, b"x", (1, None)])
def test_what_is_no_value_is_refused(alien: Any) -> None:  # noqa: ANN401 - that is the point
    for write in (order, show, to_json):
        with pytest.raises(TypeError, match="not a TLA\\+ value"):
            write(alien)


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (3, {"#bigint": "3"}),
        (True, True),
        ((1, "a"), {"#tup": [{"#bigint": "1"}, "a"]}),
        (frozenset("ba"), {"#set": ["a", "b"]}),
        (Fn({"b": "y", "a": "x"}), {"a": "x", "b": "y"}),
        (Fn({3: "x"}), {"#map": [[{"#bigint": "3"}, "x"]]}),
        (Fn({"#x": "y"}), {"#map": [["#x", "y"]]}),
    ],
)
def test_the_itf_encoding(value: Value, json: Any) -> None:  # noqa: ANN401 - JSON literals of any shape
    assert json == to_json(value)
    assert identical(value, from_json(json))


def test_plain_integers_and_arrays_are_values_too() -> None:
    assert identical((1, ("a", True)), from_json([1, ["a", True]]))


@pytest.mark.parametrize(
    "json",
    [
        None,
        1.5,
        {},
        {"#bigint": "x"},
        {"#bigint": "1", "a": "b"},
        {"#tup": "a"},
        {"#map": [["a"]]},
        {"#map": [["a", "x"], ["a", "y"]]},
        {"#odd": "x"},
    ],
)
def test_what_is_no_itf_is_refused(json: Any) -> None:  # noqa: ANN401 - that is the point
    with pytest.raises(ValueError, match="not a "):
        from_json(json)
