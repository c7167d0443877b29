"""`OneSequence` of logs: states as the messages that made them, in short logs that are written here."""

from collections import Counter

import pytest

from groupcomm.view import ViewId
from groupcomm_field.logs.replaying import Applied, Declares, Life, Marks, Primary, Sets, Step, Takes
from groupcomm_field.logs.states import one_sequence

FIRST, SECOND, THIRD, FOURTH = (Primary(ViewId(counter, "a")) for counter in range(1, 5))
X, Y, Z = (Takes("a", name) for name in "xyz")


def life(member: str, *applied: Applied) -> Life:
    steps = [Step(line, "", (), (), (), (), applied=(each,)) for line, each in enumerate(applied, 2)]
    return Life(f"{member}.log", member, "demo", {}, "", steps)


def rejected(*lives: Life) -> list[str]:
    return [str(each) for each in one_sequence(lives, Counter())]


def test_all_that_is_applied_is_one_sequence() -> None:
    """B is given the state after x. C is given it in the second view."""
    a = life("a", FIRST, X, FIRST, Marks("b", 1), Y, FIRST, SECOND, Marks("c", 1), Z, SECOND)
    b = life("b", Sets("a", 1), FIRST, Y, FIRST, SECOND, Z, SECOND)
    c = life("c", Sets("a", 1), SECOND, Z, SECOND)
    counts = Counter[str]()
    assert [] == [*one_sequence([c, b, a], counts)]
    assert 2 + 6 == counts["states in a formed view"]


def test_a_member_that_is_cut_off_is_given_the_state_of_the_others() -> None:
    a = life("a", FIRST, X, FIRST, Sets("b", 1), THIRD)
    b = life("b", FIRST, SECOND, Y, SECOND, Marks("a", 1), THIRD)
    assert [] == rejected(a, b)


def test_a_declared_state_begins_another_sequence() -> None:
    a = life("a", FIRST, X, FIRST, SECOND, Sets("b", 1), THIRD, FOURTH)
    assert [] == rejected(a, life("b", Declares(), Marks("a", 1), THIRD, Y, THIRD))
    assert [] != rejected(a, life("b", Marks("a", 1), THIRD, Y, THIRD))


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ((FIRST, X, FIRST, SECOND), (FIRST, SECOND), "in view 2/a it lacks what a.log had applied before"),
        ((FIRST, X, Y, FIRST, SECOND), (FIRST, Y, X, FIRST, SECOND), "it comes to view 2/a with another state than"),
        ((FIRST, X, X, FIRST, SECOND), (FIRST, X, FIRST, SECOND), "in view 2/a it lacks what a.log had applied before"),
        ((FIRST, Marks("b", 1), X, FIRST, SECOND), (Sets("a", 1), SECOND), "in view 2/a it lacks what a.log had"),
        ((FIRST, X, FIRST, SECOND), (Declares(), SECOND), "it comes to view 2/a with another state than"),
        (
            (FIRST, X, FIRST, SECOND, Sets("b", 1), THIRD),
            (Marks("a", 1), THIRD),
            "in view 3/a it lacks what the primary had",
        ),
        (
            (FIRST, Sets("b", 1), SECOND, THIRD, Sets("b", 2), FOURTH),
            (Marks("a", 2), Declares(), X, Marks("a", 1)),
            "in view 4/a it lacks what the primary had",
        ),
        ((FIRST, Marks("b", 1)), (Sets("a", 2), FIRST), "it sets a state that its provider has not marked"),
    ],
)
def test_another_sequence_is_rejected(a: tuple[Applied, ...], b: tuple[Applied, ...], why: str) -> None:
    assert any(why in each for each in rejected(life("a", *a), life("b", *b)))
