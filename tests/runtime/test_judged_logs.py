"""The claims about the logs of a group, in short logs that are written here: right ones, and each with something wrong."""

from typing import Any

import pytest
from attrs import evolve

from groupcomm import safe
from groupcomm.effects import ALL
from groupcomm.events import Deliver, DeliverUnicast, Payload, ViewInstalled
from groupcomm.view import View, ViewId
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.replaying import Life, Rejected, Step
from groupcomm_runtime.layers import configs
from tests.runtime.conversing import FAST

WRITTEN = {"multicast", "unicast", "arrived", "restored"}


def life(member: str, *events: Any, majority: bool = False, safe_too: bool = False) -> Life:  # noqa: ANN401 - what a line of a log may have
    """A log with a line for each event, from its second line on."""
    steps = []
    for line, event in enumerate(events, 2):
        step = Step(line, "", ("timer",), (), (), ())
        match event:
            case ("Datagram", *_):
                step = evolve(step, on_paper=(event,))
            case (str(kind), *_) if kind in WRITTEN:
                step = evolve(step, written=event)
            case DeliverUnicast():
                step = evolve(step, unicasts=(event,))
            case safe.SafeUpTo() | safe.UnknownUpTo() | (str(), int()):
                step = evolve(step, told=(event,))
            case ViewInstalled():
                step = evolve(step, ordered=(event,), told=(event,))
            case _:
                step = evolve(step, ordered=(event,))
        steps.append(step)
    return Life(f"{member}.log", member, "demo", configs(evolve(FAST, majority=majority, safe=safe_too)), "", steps)


def view(counter: int, members: str, creator: str = "") -> ViewInstalled:
    return ViewInstalled(View(ViewId(counter, creator or members[0]), tuple(members)))


def given(*sent: str) -> list[Deliver]:
    return [Deliver(each[0], Payload(each.encode())) for each in sent]


def sends(*sent: str) -> list[tuple[str, bytes]]:
    return [("multicast", each.encode()) for each in sent]


def wrong(*lives: Life, survivors: str = "") -> list[str]:
    return [str(each) for each in judge(lives, survivors).rejected]


BOTH = view(1, "ab")
A = life("a", BOTH, *sends("a1", "a2"), ("Datagram", "b", b"one"), ("Datagram", ALL, b"two"), *given("a1", "b1", "a2"))
B = life("b", BOTH, *sends("b1"), ("arrived", "a", b"one"), ("arrived", "a", b"two"), *given("a1", "b1", "a2"))


def test_right_logs_are_counted() -> None:
    judged = judge([A, B], "ab")
    assert judged.rejected == []
    assert judged.counts == {
        "received, and sent": 2, "views": 2, "deliveries": 6, "pairs in a view": 1, "sent by survivors": 3
    }  # fmt: skip


def test_a_group_has_one_log_of_each_incarnation() -> None:
    assert wrong(evolve(A), A, B) == ["a.log:1: two logs are of a"]
    assert wrong(A, evolve(B, group="other")) == ["b.log:1: it is of the group 'other', others are not"]
    assert wrong(A, evolve(B, rejected=Rejected("b.log", 7, "why"))) == ["b.log:7: why"]


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ([("Datagram", "c", b"x")], [("arrived", "a", b"x")], ["b.log:2: it receives what a has not sent before"]),
        ([("Datagram", "b", b"y")], [("arrived", "a", b"x")], ["b.log:2: it receives what a has not sent before"]),
        ([], [("arrived", "b", b"x")], []),  # of itself
        ([("arrived", "b", b"2"), ("Datagram", "b", b"3")], [("Datagram", "a", b"2"), ("arrived", "a", b"3")], []),
        (
            [("arrived", "b", b"2"), ("Datagram", "b", b"3")],
            [("arrived", "a", b"3"), ("Datagram", "a", b"2")],
            ["a.log:2: it receives what b has not", "b.log:2: it receives what a has not"],
        ),
    ],
)
def test_what_is_received_was_sent_before(a: list[Any], b: list[Any], why: list[str]) -> None:
    said = wrong(life("a", *a), life("b", *b))
    assert [each.startswith(start) for each, start in zip(said, why, strict=True)] == [True] * len(why)


def test_of_a_member_without_a_log_anything_is_received() -> None:
    judged = judge([life("a", ("arrived", "z", b"x"), ("arrived", "a", b"x"))])
    assert (judged.rejected, judged.counts) == ([], {"received from members without a log": 1})


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ([view(1, "b")], [], ["a.log:2: a view without this member"]),
        ([view(2, "a"), view(2, "a", "b")], [], ["a.log:3: the views do not rise"]),
        (given("b1"), sends("b1"), ["a.log:2: a delivery in no view"]),
        ([BOTH], [view(1, "abc")], ["a.log:2: in view 1/a it and b.log have other members"]),
        (
            [BOTH, *given("x1", "y1")],
            [BOTH, *given("y1", "x1")],
            ["a.log:2: in view 1/a it and b.log deliver in another order"],
        ),
        ([BOTH, *given("x1", "y1")], [BOTH, *given("x1")], []),
        ([BOTH, *given("x1"), view(2, "a")], [BOTH, view(2, "b")], []),
        (
            [BOTH, *given("x1"), view(2, "ab")],
            [BOTH, view(2, "ab")],
            ["a.log:2: in view 1/a it and b.log survive together, and deliver other messages"],
        ),
        (  # what B had delivered alone A delivers in the next view, and B does not
            [view(1, "a"), view(2, "ab"), *given("x1", "y1"), view(3, "ab")],
            [view(1, "b"), *given("x1"), view(2, "ab", "a"), *given("y1"), view(3, "ab")],
            [],
        ),
        (
            [view(1, "a"), view(2, "ab"), *given("y1"), view(3, "ab")],
            [view(1, "b"), *given("x1"), view(2, "ab", "a"), *given("x1", "y1"), view(3, "ab")],
            ["a.log:3: in view 2/a it and b.log deliver in another order"],
        ),
        (
            [BOTH, *given("b1")],
            [BOTH, *given("b1")],
            [f"{each}.log:2: it delivers of b what that has not sent, or twice, or in another order" for each in "ab"],
        ),
        (
            [BOTH, *given("b1", "b1")],
            [BOTH, *sends("b1"), *given("b1")],
            ["a.log:2: it delivers of b what that has not"],
        ),
        ([BOTH, *given("b2", "b1")], [BOTH, *sends("b1", "b2")], ["a.log:2: it delivers of b what that has not"]),
        ([BOTH, *given("b1", "b3")], [BOTH, *sends("b1", "b2", "b3")], []),
        ([BOTH, *given("b1", "b1")], [BOTH, *sends("b1", "b1")], []),  # it has sent the same twice
    ],
)
def test_views_and_deliveries_agree(a: list[Any], b: list[Any], why: list[str]) -> None:
    said = wrong(life("a", *a), life("b", *b))
    assert [each.startswith(start) for each, start in zip(said, why, strict=True)] == [True] * len(why), said


@pytest.mark.parametrize(
    ("sent", "came", "right"),
    [("xyz", "xyz", True), ("xyz", "xz", True), ("xy", "xx", False), ("xy", "yx", False), ("x", "y", False)],
)
def test_unicasts_come_in_the_order_in_which_they_were_sent_to_a_member(sent: str, came: str, *, right: bool) -> None:
    for to, fits in (("a", right), ("c", False)):
        b = life("b", *(("unicast", to, each.encode()) for each in sent))
        a = life("a", *(DeliverUnicast("b", Payload(each.encode())) for each in came))
        said = wrong(a, b)
        assert len(said) == (not fits)
        if not fits:
            assert "a unicast of b that it has not sent to a, or twice, or in another order" in said[0]
        assert judge([a, b]).counts == {"unicasts": len(came)}


def test_survivors_have_their_messages_and_the_same_in_their_last_view() -> None:
    assert wrong(A, B, survivors="abz") == [
        "z.log:1: a survivor has no log",
        "a.log:1: it and b.log do not end in one view of all survivors",
    ]
    last = view(2, "ab")
    a, b = life("a", *sends("a1", "a2"), BOTH, *given("a1"), last), life("b", BOTH, *given("a1"), last)
    assert wrong(a, b, survivors="ab") == ["a.log:1: 1 messages that it sent are lost"]
    assert wrong(a, b) == []
    a, b = life("a", BOTH, last, *given("x1")), life("b", BOTH, last)
    assert wrong(a, b, survivors="ab") == ["a.log:1: in the last view it and b.log have delivered other messages"]
    a, b = life("a", BOTH, last), life("b", BOTH)
    assert wrong(a, b, survivors="ab") == ["a.log:1: it and b.log do not end in one view of all survivors"]
    a, b = life("a", view(3, "a")), life("b", BOTH)
    assert wrong(a, b, survivors="ab") == ["a.log:1: it and b.log do not end in one view of all survivors"]
    a, b = life("a", BOTH, view(3, "a")), life("b", BOTH)
    assert wrong(a, b, survivors="ab") == []  # the last view with all of them


def test_with_a_majority_views_that_deliver_are_on_one_path() -> None:
    left, right = view(2, "a"), view(2, "b")
    a = [BOTH, left, *given("x1"), view(3, "ab"), *given("x2")]
    for b, why in (
        ([BOTH, right, view(3, "ab", "a")], []),
        (
            [BOTH, right, *given("y1"), view(3, "ab", "a")],
            ["members deliver in 2/a and in 2/b, of which neither comes before the other"],
        ),
    ):
        for majority in (True, False):
            said = judge([life("a", *a, majority=majority), life("b", *b, majority=majority)])
            assert [each.why for each in said.rejected] == (why if majority else [])
            assert said.counts["formed views in a line"] == ((1 + len(why)) if majority else 0)


def test_a_first_view_follows_those_that_former_incarnations_have_left() -> None:
    b = life("b", view(1, "b"), view(2, "b"), *given("x1"), majority=True)
    for record, right in (([[1, "b", ["b"]], [2, "b", ["b"]]], True), ([[1, "b", ["b"]]], False), ([], False)):
        a = life("a", ("restored", record), view(3, "a"), *given("x2"), majority=True)
        assert bool(wrong(a, b)) is not right
    loop = [[1, "b", ["b"]], [2, "b", ["b"]], [1, "b", ["b"]]]
    (said,) = wrong(life("a", ("restored", loop), view(3, "a"), majority=True), b)
    assert said.endswith("/b comes before itself, by their records")


def test_what_is_safe_all_have_that_went_the_same_way() -> None:
    next_view = view(2, "ab")
    sender = [BOTH, ("a", 1), ("a", 2), safe.SafeUpTo(1), safe.UnknownUpTo(2)]
    for count, a, b, why in (
        (1, sender, [BOTH, ("a", 1)], []),
        (1, sender, [BOTH], ["a.log:5: its message 1 is told safe, and b.log lacks it"]),
        (1, sender, [view(1, "b", "z")], []),
        (1, [*sender[:3], next_view, safe.SafeUpTo(1)], [BOTH], []),  # B has not come as far
        (1, [*sender[:3], next_view, safe.SafeUpTo(1)], [view(1, "b", "z"), next_view], []),
        (
            2,
            [*sender[:3], next_view, safe.SafeUpTo(2)],
            [BOTH, next_view, ("a", 1)],
            ["a.log:6: its message 2 is told safe, and b.log lacks it"],
        ),
        (1, [*sender, safe.SafeUpTo(2)], [BOTH, ("a", 1)], []),
        (1, [BOTH, safe.SafeUpTo(1)], [BOTH], ["a.log:3: its message 1 is told safe, and was not delivered here"]),
    ):
        lives = life("a", *a, safe_too=True), life("b", *b, safe_too=True)
        assert wrong(*lives) == why
        assert judge(lives).counts["safe"] == count
        assert wrong(*(evolve(each, configs=configs(FAST)) for each in lives)) == []
