"""view_synchrony: the multicast layer below SEQUENCER, with expectations by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcomm.sim import view_synchrony as vs
from groupcomm.view import View, ViewId

ABC = View(ViewId(1, "A"), ("A", "B", "C"))


def holding(*messages: str, **received: int) -> vs.Stream[str]:
    stream: vs.Stream[str] = vs.stream(ABC)
    for message in messages:
        stream = vs.multicast(stream, message)
    for member, count in received.items():
        for number in range(1, count + 1):
            stream = vs.receive(stream, member, number)
    return stream


def test_everybody_receives_in_order_at_its_own_pace() -> None:
    stream = holding("x", "y", B=1, C=2)
    assert ((1, 2), (2,), ()) == tuple(vs.pending(stream, member) for member in "ABC")


def test_nothing_is_received_that_is_not_there() -> None:
    for number in (0, 1, 2):
        with pytest.raises(ValueError, match=f"message {number} of .* is none that B has yet to receive"):
            vs.receive(holding("x", B=1), "B", number)


def test_a_view_that_lost_its_coordinator_is_closed_with_what_one_of_those_who_go_on_has() -> None:
    stream = vs.settle(holding("x", "y", "z", A=3, B=1, C=2), "BC")
    assert (2, (2,), ()) == (stream.settled, vs.pending(stream, "B"), vs.pending(stream, "C"))
    assert (False, True) == (vs.complete(stream, "B"), vs.complete(stream, "C"))


def test_a_view_whose_coordinator_goes_on_is_closed_with_all() -> None:
    stream = vs.settle(holding("x", "y", B=1), "AB")
    assert (2, (1, 2), (2,)) == (stream.settled, vs.pending(stream, "A"), vs.pending(stream, "B"))


def test_who_does_not_go_on_may_receive_what_comes_after_the_end() -> None:
    """SEQ-05 is not said of it."""
    stream = vs.multicast(vs.settle(holding("x", B=1), "BC"), "late")
    assert ((1, 2), (), (1,)) == tuple(vs.pending(stream, member) for member in "ABC")


def test_the_layer_may_find_more_than_anybody_has_received() -> None:
    assert [1, 2, 3] == [vs.settle(holding("x", "y", "z", B=1), "BC", amount=n).settled for n in (1, 2, 3)]


@pytest.mark.parametrize(("onward", "amount"), [("BC", 0), ("BC", 4), ("AB", 2)])
def test_no_view_is_closed_with_less_or_more_than_there_must_be(onward: str, amount: int) -> None:
    with pytest.raises(ValueError, match=f"cannot be closed with {amount} messages"):
        vs.settle(holding("x", "y", "z", B=1), onward, amount=amount)


def test_a_view_is_closed_once() -> None:
    with pytest.raises(ValueError, match="cannot be closed"):
        vs.settle(vs.settle(holding("x"), "BC"), "BC")


def test_an_open_view_is_complete_for_nobody() -> None:
    assert not vs.complete(holding("x", B=1), "B")


def test_a_gap_keeps_a_member_from_going_on() -> None:
    """Where the layer delivers in any order."""
    stream = vs.receive(holding("x", "y", C=2), "B", 2)
    assert (1,) == vs.pending(stream, "B")
    assert not vs.complete(vs.settle(stream, "BC"), "B")
    assert vs.complete(vs.receive(vs.settle(stream, "BC"), "B", 1), "B")


def test_uniformly_what_the_dead_received_counts_and_binds_those_who_are_left_out() -> None:
    stream = vs.settle(holding("x", "y", A=2, B=1), "BC", uniform=True)
    assert (2, (2,)) == (stream.settled, vs.pending(stream, "B"))
    assert () == vs.pending(vs.multicast(stream, "late"), "A")


def test_a_new_incarnation_has_received_nothing() -> None:
    stream = vs.forget(holding("x", B=1, C=1), "B")
    assert ((1,), ()) == (vs.pending(stream, "B"), vs.pending(stream, "C"))
    assert stream is vs.forget(stream, "Z")


@given(st.lists(st.sampled_from(["cast", "A", "B", "C"]), max_size=20))
def test_all_who_go_on_end_with_the_same(steps: list[str]) -> None:
    stream: vs.Stream[str] = vs.stream(ABC)
    got: dict[str, list[str]] = {"A": [], "B": [], "C": []}
    for number, step in enumerate(steps):
        if step == "cast":
            stream = vs.multicast(stream, str(number))
        elif ahead := vs.pending(stream, step):
            got[step].append(stream.messages[ahead[0] - 1])
            stream = vs.receive(stream, step, ahead[0])
    stream = vs.settle(stream, "BC")
    for member in "BC":
        while ahead := vs.pending(stream, member):
            got[member].append(stream.messages[ahead[0] - 1])
            stream = vs.receive(stream, member, ahead[0])
        assert vs.complete(stream, member)
    assert got["B"] == got["C"] == list(stream.messages[: stream.settled])
