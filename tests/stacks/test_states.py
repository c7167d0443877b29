"""STATE_TRANSFER in the whole stack: the members of a view have one state, and broken cores are noticed."""

from collections.abc import Callable
from typing import Any, Final, cast

import pytest
from attrs import evolve, frozen

from groupcomm import state_transfer
from groupcomm.effects import PassUp, SetTimer
from groupcomm.events import Deliver, Payload, ViewInstalled
from groupcomm.view import View, ViewId
from groupcomm_simulator.applications import Applications
from groupcomm_simulator.judges.claims import Message, Verdicts, Violation
from groupcomm_simulator.judges.membership import Membership
from groupcomm_simulator.judges.states import OneSequence, OneState
from groupcomm_simulator.running import simulate
from groupcomm_simulator.setup import DATAGRAMS, WHOLE, Faults, Setup
from groupcomm_simulator.taps import Note

STATES: Final = Setup(("state_transfer", *WHOLE))
PRIMARY: Final = Setup(
    STATES.names,
    members=5,
    faults=Faults(frozenset({"partition", "suspicion", "join", "loss", "reordering"}), rate=0.02),
    ignored=frozenset({"EventuallyDelivered", "EventuallyHasState"}),  # who is left may be no majority
    majority=True,
    one_path=True,
)
"""One first view, and each address used once. No member is gone for good."""

Step = Callable[[Any, Any, Any], tuple[Any, tuple[Any, ...]]]


@frozen
class Core:
    """STATE_TRANSFER with another step."""

    step: Step
    start: Callable[[str], state_transfer.State] = state_transfer.start


def with_step(setup: Setup, step: Step) -> Setup:
    return evolve(setup, cores=(("state_transfer", Core(step)),))


def borne(setup: Setup) -> Setup:
    return evolve(setup, faults=Faults(setup.borne))


@pytest.mark.parametrize("names", [STATES.names, ("state_transfer", *DATAGRAMS)], ids="/".join)
def test_members_of_a_view_have_one_state(names: tuple[str, ...]) -> None:
    outcome = simulate(borne(Setup(names)), events=6_000, seed=11)
    assert outcome.found is None, outcome.found
    assert min(outcome.judged[claim] for claim in ("SameAtSamePlace", "EventuallyHasState")) > 5


def test_with_a_majority_there_is_one_sequence() -> None:
    outcome = simulate(PRIMARY, events=12_000, seed=5)
    assert outcome.found is None, outcome.found
    assert min(outcome.judged[claim] for claim in ("SequenceOnlyGrows", "PrimaryHasSequence")) > 10


def drops_what_is_held(config: object, state: Any, event: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - of the core
    if isinstance(event, state_transfer.AppReceived) and not state.has:
        return state, ()
    return state_transfer.step(cast("state_transfer.Config", config), state, event)


def tells_nothing_on_a_merge(config: object, state: Any, event: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - of the core
    if isinstance(event, ViewInstalled):
        event = ViewInstalled(event.view)
    return state_transfer.step(cast("state_transfer.Config", config), state, event)


@pytest.mark.parametrize(
    ("broken", "claims"),
    [
        (drops_what_is_held, {"SameAtSamePlace", "MoreAtLaterPlace"}),
        (tells_nothing_on_a_merge, {"SameAtSamePlace", "MoreAtLaterPlace"}),
    ],
)
def test_a_broken_core_is_noticed(broken: Step, claims: set[str]) -> None:
    found = simulate(with_step(borne(STATES), broken), events=100_000, seed=1).found
    assert found is not None
    assert found.claim in claims


def multicasts_at_once(config: object, state: Any, event: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - of the core
    """In the step in which a message of the order came, not soon."""
    after, effects = state_transfer.step(cast("state_transfer.Config", config), state, event)
    soon = SetTimer("soon", 0, 0)
    if soon not in effects:
        return after, effects
    done, more = state_transfer.step(cast("state_transfer.Config", config), after, state_transfer.SoonTimeout())
    return done, (*(each for each in effects if each != soon), *more)


def test_a_multicast_from_within_a_delivery_overtakes_those_that_were_held_back() -> None:
    """A coordinator opens its latch: FLUSH sends what waited, and the answer to the first went out before the rest.

    The numbers are others than those that FLUSH has counted, so a flush never ends.
    """
    setup = evolve(PRIMARY, names=("state_transfer", "safe", *DATAGRAMS), majority=False, one_path=False)
    setup = evolve(setup, ignored=setup.ignored | {"EventuallyTold"})
    found = simulate(
        with_step(setup, multicasts_at_once), events=5_000, seed=12
    ).found  # one in some 100,000 events is such
    assert found is not None
    assert found.claim == "ResumedWhenQuiescent"
    assert simulate(setup, events=5_000, seed=12).found is None


def test_a_state_that_differs_is_named() -> None:
    judge = OneState(Verdicts())
    view = state_transfer.start("A").view.id
    judge.holds("A", view, 2, (("A", 1),))
    with pytest.raises(Violation, match=r"SameAtSamePlace: B differs at 2"):
        judge.holds("B", view, 2, (("B", 1),))
    with pytest.raises(Violation, match=r"MoreAtLaterPlace: B has"):
        judge.holds("B", view, 3, (("B", 1),))
    with pytest.raises(Violation, match=r"MoreAtLaterPlace: B has"):
        judge.holds("B", view, 1, (("B", 1),))
    with pytest.raises(Violation, match="twice in the state of A"):
        judge.passed_up("A", ("A", 1), (("A", 1), ("A", 1)))
    new = state_transfer.start("A")
    judge.knows("A", new, knows=False)
    choosing = evolve(new, has=True, settled=False)
    judge.knows("A", choosing, knows=True)
    judge.knows("A", choosing, knows=False)
    for state, knows in ((new, True), (evolve(new, has=True), False), (evolve(choosing, vacant=True), True)):
        with pytest.raises(Violation, match=f"KnowsItsState: A has heard {knows}"):
            judge.knows("A", state, knows=knows)
    with pytest.raises(Violation, match="B never has the state"):
        judge.quiet([("A", True), ("B", False)])


def at(counter: int) -> ViewId:
    return ViewId(counter, "A")


def test_a_sequence_that_loses_a_message_is_noticed() -> None:
    judge = OneSequence(Verdicts())
    judge.in_primary("A", at(1), (("A", 1), ("A", 2)), ())
    judge.in_primary("A", at(2), (("A", 1), ("A", 2), ("A", 3)), ())
    judge.in_primary("B", at(1), (), ())  # of a former view
    with pytest.raises(Violation, match="PrimaryHasSequence: B"):
        judge.in_primary("B", at(2), (("A", 1), ("A", 2)), ())
    with pytest.raises(Violation, match="SequenceOnlyGrows: B"):
        judge.in_primary("B", at(3), (("A", 1),), ())


def test_what_one_member_alone_delivers_in_a_view_is_in_no_sequence_yet() -> None:
    """A coordinator that is cut off delivers in a view that the others leave without its messages."""
    judge = OneSequence(Verdicts())
    judge.in_primary("A", at(1), (("A", 1), ("A", 2)), {("A", 2)})
    judge.in_primary("A", at(1), (("A", 1), ("A", 2)), ())
    judge.in_primary("B", at(2), (("A", 1), ("B", 1)), {("B", 1)})
    with pytest.raises(Violation, match="SequenceOnlyGrows: B"):
        judge.in_primary("B", at(3), (("B", 1),), ())


def test_a_declared_state_excuses_the_sequence_that_begins_with_it_and_no_other() -> None:
    lost = (("B", 1),)

    def judge_after(story: tuple[Message, ...], *, safe: bool = False) -> OneSequence:
        judge = OneSequence(Verdicts())
        judge.in_primary("A", at(1), () if safe else (("A", 1),), ())
        judge.is_safe(at(1), ("A", 1))
        judge.declared(story)
        judge.is_safe(at(1), ("C", 1))
        return judge

    with pytest.raises(Violation, match="SequenceOnlyGrows: B"):
        judge_after((("C", 0),)).in_primary("B", at(2), lost, ())
    with pytest.raises(Violation, match=r"SafeIsKept: \('A', 1\)"):
        judge_after((("C", 0),), safe=True).in_primary("B", at(2), lost, ())
    with pytest.raises(Violation, match=r"SafeIsKept: \('C', 1\)"):  # it was safe after the declaration
        judge_after((("C", 0),)).in_primary("C", at(2), (("C", 0),), ())
    judge = judge_after((("C", 0),))
    judge.in_primary("C", at(2), (("C", 0), ("C", 1)), ())
    with pytest.raises(Violation, match="SequenceOnlyGrows: C"):  # it is excused once
        judge.in_primary("C", at(3), (("C", 0),), ())


def test_messages_of_a_former_view_that_were_held_are_in_the_sequence() -> None:
    """B is given the state in the second view, and passes up what it has held since the first."""
    verdicts = Verdicts()
    applications = Applications(verdicts, {"state_transfer": 0, "sequencer": 1}, majority=True)
    process = Membership().start("B")
    first = View(at(1), ("A", "B"))
    waiting = evolve(state_transfer.start("B"), view=first, formed=1)
    held = state_transfer.AppReceived("A", state_transfer.App(1, 1, Payload(("A", 1))))
    applications.hear(process, Note(0, waiting, held, waiting, ()))
    second = evolve(waiting, view=View(at(2), ("A", "B")), formed=2)
    has = evolve(second, has=True)
    passes = PassUp(Deliver("A", Payload(("A", 1))))
    applications.of(process).knows = True  # the state that was given
    applications.hear(
        process, Note(0, second, state_transfer.CreditReceived("A", state_transfer.Credit(1, 1)), has, (passes,))
    )
    third = evolve(has, view=View(at(3), ("A", "B")), formed=3)
    applications.of(process).story = ()
    with pytest.raises(Violation, match="SequenceOnlyGrows: B"):
        applications.hear(process, Note(0, has, ViewInstalled(third.view), third, ()))
