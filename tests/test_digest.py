"""digest: seqnos of each member, and the minimum that agreement rests on (STB-05)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcomm.digest import EMPTY_VECTOR, FIRST_SEQNO, NOTHING, Digest, DigestEntry, Vector

MEMBERS = ("A", "B", "C")
SEQNOS = st.integers(NOTHING, 30)
VECTORS = st.fixed_dictionaries(dict.fromkeys(MEMBERS, SEQNOS)).map(lambda d: Vector(tuple(d.items())))


def test_numbering_starts_at_0_and_nothing_is_one_less() -> None:
    """AMB-07."""
    assert (0, -1) == (FIRST_SEQNO, NOTHING)


@given(VECTORS, VECTORS)
def test_minimum_is_commutative(v: Vector, w: Vector) -> None:
    assert v.minimum(w) == w.minimum(v)


@given(VECTORS, VECTORS, VECTORS)
def test_minimum_is_associative(u: Vector, v: Vector, w: Vector) -> None:
    assert u.minimum(v).minimum(w) == u.minimum(v.minimum(w))


@given(VECTORS)
def test_minimum_is_idempotent(v: Vector) -> None:
    assert v == v.minimum(v)


@given(VECTORS, VECTORS)
def test_minimum_is_the_greatest_vector_below_both(v: Vector, w: Vector) -> None:
    least = v.minimum(w)
    assert all(least[m] <= v[m] and least[m] <= w[m] and least[m] in (v[m], w[m]) for m in MEMBERS)


@given(st.permutations(list(dict.fromkeys(MEMBERS))), VECTORS)
def test_the_order_of_entries_is_no_part_of_a_vector(order: list[str], v: Vector) -> None:
    again = Vector(tuple((member, v[member]) for member in order))
    assert (v, hash(v), list(v)) == (again, hash(again), list(MEMBERS))


def test_a_vector_is_a_mapping_of_its_members_only() -> None:
    v = Vector.of(A=22, B=2, C=19)
    assert {"A": 22, "B": 2, "C": 19} == dict(v)
    assert (3, frozenset("ABC")) == (len(v), frozenset(v))
    with pytest.raises(KeyError):
        v["Z"]


def test_minimum_of_vectors_with_other_members_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        Vector.of(A=1, B=1).minimum(Vector.of(A=1))
    assert EMPTY_VECTOR == EMPTY_VECTOR.minimum(EMPTY_VECTOR)


def test_a_digest_gives_what_messages_carry() -> None:
    """STB-01, DLV-01: STABLE carries the delivered seqnos."""
    digest = Digest((("B", DigestEntry(-1, 3, 7)), ("A", DigestEntry(4, 4, 4))))
    assert Vector.of(A=4, B=3) == digest.delivered
    assert Vector.of(A=4, B=7) == digest.received
    assert DigestEntry(-1, 3, 7) == digest["B"]
    assert ["A", "B"] == list(digest)
    with pytest.raises(KeyError):
        digest["Z"]
