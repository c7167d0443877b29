"""view: who is in the group, and which view it is."""

import pytest
from attrs.exceptions import FrozenInstanceError

from groupcomm.view import NO_VIEW, View, ViewId, is_former

VIEW = View(ViewId(3, "B"), ("B", "C", "A"))


def test_the_coordinator_is_the_first_member() -> None:
    assert "B" == VIEW.coordinator


def test_nobody_coordinates_before_the_first_view() -> None:
    with pytest.raises(IndexError):
        _ = NO_VIEW.coordinator
    assert frozenset() == NO_VIEW.member_set


def test_the_order_of_members_is_part_of_a_view() -> None:
    assert VIEW != View(VIEW.id, ("A", "B", "C"))
    assert VIEW.member_set == View(VIEW.id, ("A", "B", "C")).member_set


def test_two_partitions_never_make_the_same_view_identifier() -> None:
    """AMB-40: the creator is part of it; the counter says which is the later."""
    assert ViewId(4, "A") != ViewId(4, "B")
    assert [ViewId(2, "C"), ViewId(4, "A"), ViewId(4, "B")] == sorted([ViewId(4, "B"), ViewId(4, "A"), ViewId(2, "C")])


def test_no_view_is_older_than_any() -> None:
    assert NO_VIEW.id < VIEW.id


def test_views_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        VIEW.members = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("one", "other", "former"),
    [
        ("A", "A#2", True),
        ("A#9", "A#10", True),
        ("A#02", "A#9", True),
        ("A##2", "A##10", True),
        ("A#2", "A", False),
        ("A", "B#2", False),
        ("A", "A#x", False),
        ("A", "A#1", False),
        ("A#0", "A", False),
        ("#5", "#7", False),
    ],
)
def test_a_former_life_has_the_same_name_and_a_lower_number(one: str, other: str, former: bool) -> None:  # noqa: FBT001 - expected
    assert former is is_former(one, other)
