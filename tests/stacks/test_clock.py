"""A clock that is set back in the whole stack: the member is told of a later incarnation, and begins again above it."""

from typing import Final

import pytest
from attrs import evolve

from groupcomm.view import later_than, number_after
from groupcomm_simulator import ground
from groupcomm_simulator.oracle import Oracle
from groupcomm_simulator.running import simulate
from groupcomm_simulator.setup import DATAGRAMS, WHOLE, Faults, Setup
from tests.stacks.broken import Broken

NO_ANSWER: Final = Broken(
    "former_not_answered",
    "gms",
    "AnswerFormer",
    "refused = excluded or _has_later_incarnation(state.decision, member)",
    "refused = excluded",
)


def borne(names: tuple[str, ...]) -> Setup:
    setup = Setup(names)
    return evolve(setup, faults=Faults(setup.borne))


@pytest.mark.parametrize("names", [WHOLE, DATAGRAMS], ids="/".join)
def test_a_member_whose_number_falls_begins_again(names: tuple[str, ...]) -> None:
    outcome = simulate(borne(names), events=20_000, seed=1)
    assert outcome.found is None, outcome.found
    assert outcome.happened["begins again"] > 1


def test_where_gms_does_not_answer_it_is_never_let_in() -> None:
    with NO_ANSWER.in_place():
        found = simulate(borne(WHOLE), events=20_000, seed=1).found
    assert found is not None
    assert found.claim == "Converged"


def test_where_its_next_number_is_the_clocks_it_is_never_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ground, "number_after", lambda clock, *_former: clock)
    found = simulate(borne(WHOLE), events=20_000, seed=1).found
    assert found is not None
    assert found.claim == "Converged"


def test_where_a_member_of_a_view_is_not_told_its_group_stays_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """UNICAST ignores it at members that have heard a later incarnation, in another part of the group before a merge."""
    monkeypatch.setattr(Oracle, "formers", lambda _oracle, _process: [])
    found = simulate(borne(DATAGRAMS), events=40_000, seed=1).found
    assert found is not None
    assert found.claim == "ResumedWhenQuiescent"


def test_later_incarnations_and_the_next_number() -> None:
    assert later_than("A#2", (), ("A#3", "A#5", "B#9"), ()) == "A#5"
    assert later_than("A#2", ("A#2",), ("A#3",), ()) == ""  # GMS has it in the view
    assert later_than("A#2", ("A#2",), (), ("A#4",)) == "A#4"  # and UNICAST does not hear it
    assert later_than("A#2", ("A#2",), (), ("A#2", "A#4")) == ""
    assert later_than("A#5", (), ("A#3",), ("A",)) == ""
    assert [number_after(7, 2, 3), number_after(1, 5, 3)] == [7, 6]
