"""Implementations of SEQUENCER that are broken on purpose: walks of the specification detect each."""

from collections.abc import Callable, Mapping

import pytest
from attrs import evolve

from groupcomm import sequencer
from groupcomm.effects import Multicast
from groupcomm.errors import RemoteProtocolError
from tests.cores import is_caught_on_a_shortest_walk

Step = Callable[[sequencer.Config, sequencer.State, sequencer.Event], sequencer.Transition]


def keeps_its_table(config: sequencer.Config, state: sequencer.State, event: sequencer.Event) -> sequencer.Transition:
    """Messages that came back are sent again all the same."""
    after, effects = sequencer.step(config, state, event)
    return evolve(after, forward_table=(*state.forward_table,)) if effects and isinstance(
        event, sequencer.DataReceived
    ) else after, effects


def does_not_send_again(
    config: sequencer.Config, state: sequencer.State, event: sequencer.Event
) -> sequencer.Transition:
    after, effects = sequencer.step(config, state, event)
    return after, () if isinstance(event, sequencer.ViewInstalled) else effects


def refuses_what_is_early(
    config: sequencer.Config, state: sequencer.State, event: sequencer.Event
) -> sequencer.Transition:
    """The note's error (FLAW-05)."""
    after, effects = sequencer.step(config, state, event)
    if len(after.early) > len(state.early):
        raise RemoteProtocolError(state, event, "not coordinator")
    return after, effects


def multicasts_before_its_view(
    config: sequencer.Config, state: sequencer.State, event: sequencer.Event
) -> sequencer.Transition:
    """An early FORWARD is ordered at once, in a view that there is not yet."""
    after, effects = sequencer.step(config, state, event)
    if after.early != state.early and isinstance(event, sequencer.ForwardReceived):
        message = event.message
        effects = (Multicast(sequencer.Data(message.view_id, message.tag, message.payload)),)
    return after, effects


BROKEN: Mapping[Step, str] = {
    keeps_its_table: "wrong_state",
    does_not_send_again: "wrong_effects",
    multicasts_before_its_view: "wrong_effects",
    refuses_what_is_early: "wrong_outcome",
}


@pytest.mark.parametrize(("step", "verdict"), BROKEN.items(), ids=[step.__name__ for step in BROKEN])
def test_a_broken_core_is_caught_on_a_shortest_walk(step: Step, verdict: str) -> None:
    is_caught_on_a_shortest_walk("sequencer", step, verdict)
