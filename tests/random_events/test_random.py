"""Random events, beyond the bounds of the models: each core does what `Step` says, and what does not is found."""

from functools import partial
from typing import Any

import pytest
from attrs import evolve

from groupcomm import flush, nakack, safe, state_transfer
from groupcomm.effects import PassDown
from groupcomm.events import HoldBack, MergeViewInstalled, Payload, ViewInstalled
from groupcomm.view import View, ViewId
from groupcomm_conformance.protocols.codec import exact
from groupcomm_conformance.random_events.against_step import Beside, compare, lines_of
from groupcomm_conformance.random_events.drawn import CORES, LENGTH, kinds, walk
from groupcomm_conformance.tlc.errors import EvaluationFailed
from tests.cores import MANIFESTS, NAMES, PROTOCOLS

every_protocol = pytest.mark.parametrize("name", NAMES)


class Other:
    """A module of a protocol with another step."""

    def __init__(self, module: Any, step: Any) -> None:  # noqa: ANN401 - of any protocol
        self.start = module.start
        self.step = partial(step, module.step)


def beside(name: str, step: Any = None) -> Beside:  # noqa: ANN401 - of any protocol
    protocol = PROTOCOLS[name]
    if step is not None:
        other: Any = Other(protocol.module, step)
        protocol = evolve(protocol, module=other)
    return Beside.of(MANIFESTS[name], protocol)


@every_protocol
def test_core_and_specification_agree_on_random_events(name: str) -> None:
    came = compare(beside(name), 1_500, seed=1)
    assert () == came.differences
    assert (1_500, 25) == (came.events, came.walks)
    assert {"handled", "ignored", "local_error", "remote_error"} == {*came.outcomes}
    assert len(came.handled) >= min(5, len(kinds(PROTOCOLS[name])))


@every_protocol
def test_a_walk_is_decided_by_its_seed(name: str) -> None:
    protocol, config = PROTOCOLS[name], beside(name).config
    first, again, other = (walk(protocol, config, seed) for seed in (7, 7, 8))
    assert exact([step.event for step in first.steps]) == exact([step.event for step in again.steps])
    assert [step.event for step in first.steps] != [step.event for step in other.steps]
    part = walk(protocol, config, 7, length=5)
    assert [step.event for step in part.steps] == [step.event for step in first.steps[:5]]


def holds_back_whoever_is_stopped(step: Any, config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of FLUSH
    """The core's step: a member that is not frozen says HoldBack when it is asked to stop anew."""
    after, effects = step(config, state, event)
    asked = isinstance(event, flush.StartFlushReceived) and after.round != state.round
    if asked and after is not state and not state.frozen and state.limit != after.limit:
        effects = (*effects, PassDown(HoldBack(after.limit)))
    return after, effects


def tires(step: Any, config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of any protocol
    """A mistake that only large numbers show."""
    after, effects = step(config, state, event)
    return (after, ()) if "1000000000" in str(event) else (after, effects)


def falls_over(step: Any, config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of any protocol
    after, effects = step(config, state, event)
    if effects and "node1" in str(event):
        raise KeyError("node1")
    return after, effects


def test_a_difference_is_shown_as_a_row_with_what_led_to_it_and_a_command() -> None:
    broken = beside("flush", holds_back_whoever_is_stopped)
    came = compare(broken, 60_000, seed=1)
    assert came.differences
    text = [*lines_of(broken, "flush", came)]
    assert text[0].startswith("flush at random: FAILS: ")
    assert "  verdict  wrong_effects" in text
    assert text[-1].startswith("  again    groupcomm conform flush --random ")
    # ... which is the walk that differs, and no event of it is left over.
    found = min(came.differences, key=lambda each: each.at)
    assert text[-1].endswith(f"--random {found.at} --seed {found.walk.seed}")
    again = compare(broken, found.at, found.walk.seed)
    assert [found.at] == [each.at for each in again.differences]
    assert sum(line.startswith("  event") for line in text) <= 8


@pytest.mark.parametrize("name", ["flush", "merge"])
def test_what_goes_wrong_with_large_numbers_alone_is_found(name: str) -> None:
    assert compare(beside(name, tires), 12_000, seed=1).differences


@pytest.mark.parametrize("name", ["gms", "sequencer"])
def test_a_core_that_raises_anything_else_is_found(name: str) -> None:
    broken = beside(name, falls_over)
    came = compare(broken, 12_000, seed=1)
    assert came.outcomes["KeyError"]
    assert "  verdict  crash" in [*lines_of(broken, name, came)]


def test_a_walk_ends_before_a_number_that_tlc_does_not_have() -> None:
    """Members add three large numbers up, and the member that is compared would be given the sum."""
    of = beside("nakack")
    largest = evolve(CORES, large=(1_000_000_000,), payloads=(1_000_000_000,))
    cut = walk(of.protocol, of.config, 904, domain=largest)
    assert 0 < len(cut.steps) < LENGTH
    assert [] == [*of.differences([cut])]


def test_what_tlc_cannot_read_is_said_and_no_difference() -> None:
    of = beside("nakack")
    with pytest.raises(EvaluationFailed, match="can't handle a number this big"):
        [*of.differences([of.walked("A", [nakack.SendRequested(Payload(3_000_000_001))])])]


def tell(sender: str, counter: int, *name: ViewId, declared: bool = False) -> state_transfer.TellReceived:
    standing = state_transfer.Standing(0, name, declared=declared, after=0, upto=0)
    return state_transfer.TellReceived(sender, state_transfer.Tell(ViewId(counter, "A"), standing))


def own_data(number: int) -> safe.DataReceived:
    return safe.DataReceived("A", safe.Data(number, Payload(1)))


ALONE, BOTH = (View(ViewId(1, "A"), members) for members in (("A",), ("A", "B")))
TOGETHER, LATER = (View(ViewId(counter, "A"), ("A", "B")) for counter in (2, 3))
NO_LAYER_BELOW_DOES: dict[str, tuple[str, list[Any]]] = {
    "its own numbers fall": (
        "safe",
        [
            ViewInstalled(ALONE),
            *[safe.SendRequested(Payload(1))] * 3,
            own_data(3),
            own_data(2),
            ViewInstalled(TOGETHER),
        ],
    ),
    "its own TELL comes before it is sent": (
        "state_transfer",
        [ViewInstalled(BOTH), tell("B", 1), tell("A", 1), state_transfer.DeclareRequested(), tell("B", 1)],
    ),
    "its own TELL has a state that it lacks": (
        "state_transfer",
        [
            ViewInstalled(BOTH),
            state_transfer.AskReceived("A", state_transfer.Ask("B", 1)),
            MergeViewInstalled(TOGETHER, frozenset()),
            tell("A", 2, ViewId(1, "A")),
            tell("B", 2),
            ViewInstalled(LATER),
        ],
    ),
}
"""The core once differed from `Step` here, and no row of a model has such a state. The port in Go showed it."""


@pytest.mark.parametrize("what", NO_LAYER_BELOW_DOES)
def test_core_and_specification_agree_beyond_what_layers_below_do(what: str) -> None:
    name, events = NO_LAYER_BELOW_DOES[what]
    of = beside(name)
    one = of.walked("A", events)
    assert [step.outcome for step in one.steps] == ["handled"] * len(events)
    assert [*of.differences([one])] == []


def test_an_event_for_which_the_specification_has_no_answer_is_a_difference() -> None:
    """`Step` with an operator that fails for some members: TLC's word is shown, and the walks after it are judged."""
    lacking = beside("sequencer")
    lacking.constants["CoordinatorOf"] = "<- Head"
    came = compare(lacking, 600, seed=1)
    assert came.differences
    assert all(each.expected is None for each in came.differences)
