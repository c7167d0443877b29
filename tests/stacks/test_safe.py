"""SAFE in the whole stack: what is told safe is delivered by all that go on, and broken cores are noticed."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from attrs import evolve, frozen

from groupcomm import safe
from groupcomm.effects import PassUp, Send
from groupcomm.events import ViewInstalled
from groupcomm_simulator.running import simulate
from groupcomm_simulator.setup import DATAGRAMS, WHOLE, Faults, Setup
from tests.stacks.test_states import PRIMARY

Step = Callable[[Any, Any, Any], tuple[Any, tuple[Any, ...]]]
STACKS: Final = [(*above, "safe", *beneath) for above in ((), ("state_transfer",)) for beneath in (WHOLE, DATAGRAMS)]


def borne(names: tuple[str, ...], cores: tuple[tuple[str, Any], ...] = ()) -> Setup:
    setup = Setup(names, cores=cores)
    return evolve(setup, faults=Faults(setup.borne))


def with_majority(names: tuple[str, ...], cores: tuple[tuple[str, Any], ...] = ()) -> Setup:
    """A member in a minority hears nothing of its messages."""
    return evolve(PRIMARY, names=names, cores=cores, ignored=PRIMARY.ignored | {"EventuallyTold"})


@pytest.mark.parametrize("names", STACKS, ids="/".join)
def test_what_is_told_safe_is_held_by_all_and_a_sender_hears_of_each_message(names: tuple[str, ...]) -> None:
    outcome = simulate(borne(names), events=5_000, seed=21)
    assert outcome.found is None, outcome.found
    assert min(outcome.judged[claim] for claim in ("HeldByAll", "SafeIsDelivered", "EventuallyTold")) > 5


@pytest.mark.parametrize("names", STACKS[::2], ids="/".join)
def test_with_a_majority_what_is_told_safe_is_held_by_a_majority(names: tuple[str, ...]) -> None:
    outcome = simulate(with_majority(names), events=10_000, seed=1)
    assert outcome.found is None, outcome.found
    assert outcome.judged["HeldByMajority"] > 100


def test_what_is_told_safe_meets_many_formed_views() -> None:
    """Where crashes seldom end the primary, and views are cut while they are being formed."""
    setup = evolve(with_majority(STACKS[2]), members=None)
    outcome = simulate(evolve(setup, faults=Faults(setup.borne)), events=15_000, seed=1)
    assert outcome.found is None, outcome.found
    assert outcome.judged["SafeIsKept"] > 50


@frozen
class Core:
    """SAFE with another step."""

    step: Step
    start: Callable[[str], safe.State] = safe.start


def safe_when_delivered(config: Any, state: Any, event: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - of the core
    after, effects = safe.step(config, state, event)
    if isinstance(event, safe.DataReceived) and event.sender == state.member and after.told == state.told:
        number = event.message.number
        return evolve(after, told=number, before=number), (*effects, PassUp(safe.SafeUpTo(number)))
    return after, effects


def takes_a_merge_for_the_next_view(config: Any, state: Any, event: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - of the core
    return safe.step(config, state, ViewInstalled(event.view) if isinstance(event, ViewInstalled) else event)


def never_acknowledges(config: Any, state: Any, event: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - of the core
    after, effects = safe.step(config, state, event)
    return after, tuple(each for each in effects if not isinstance(each, Send))


@pytest.mark.parametrize(
    ("step", "claim", "setup"),
    [
        (safe_when_delivered, "HeldByAll", borne),
        (takes_a_merge_for_the_next_view, "HeldByMajority", with_majority),
        (never_acknowledges, "EventuallyTold", borne),
    ],
)
def test_a_broken_core_is_noticed(step: Step, claim: str, setup: Callable[..., Setup]) -> None:
    found = simulate(setup(STACKS[0], (("safe", Core(step)),)), events=100_000, seed=1).found
    assert found is not None
    assert found.claim == claim
