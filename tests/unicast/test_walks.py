"""Implementations of UNICAST that are broken on purpose: walks of the specification detect each."""

from collections.abc import Callable, Mapping

import pytest
from attrs import evolve

from groupcomm import unicast
from groupcomm.effects import Datagram, SetTimer
from tests.cores import PROTOCOLS, is_caught_on_a_shortest_walk

Step = Callable[[unicast.Config, unicast.State, unicast.Event], unicast.Transition]


def acknowledges_what_waits(config: unicast.Config, state: unicast.State, event: unicast.Event) -> unicast.Transition:
    """An ACK has the number of the message that came (FLAW-144)."""
    after, effects = unicast.step(config, state, event)
    if not isinstance(event, unicast.DataReceived):
        return after, effects
    seqno = event.message.seqno
    return after, tuple(
        Datagram(effect.to, evolve(effect.message, seqno=seqno))
        if isinstance(effect, Datagram) and isinstance(effect.message, unicast.Ack)
        else effect
        for effect in effects
    )


def keeps_what_is_acknowledged(
    config: unicast.Config, state: unicast.State, event: unicast.Event
) -> unicast.Transition:
    after, effects = unicast.step(config, state, event)
    return (state if isinstance(event, unicast.AckReceived) and after.known == state.known else after), effects


def sets_no_timer_again(config: unicast.Config, state: unicast.State, event: unicast.Event) -> unicast.Transition:
    after, effects = unicast.step(config, state, event)
    if isinstance(event, unicast.RetransmitTimeout):
        effects = tuple(effect for effect in effects if not isinstance(effect, SetTimer))
    return after, effects


BROKEN: Mapping[Step, str] = {
    acknowledges_what_waits: "wrong_effects",
    keeps_what_is_acknowledged: "wrong_outcome",
    sets_no_timer_again: "wrong_effects",
}


@pytest.mark.parametrize(("step", "verdict"), BROKEN.items(), ids=[step.__name__ for step in BROKEN])
def test_a_broken_core_is_caught_on_a_shortest_walk(step: Step, verdict: str) -> None:
    is_caught_on_a_shortest_walk("unicast", step, verdict)


def test_what_makes_a_member_are_these_constants() -> None:
    assert {
        "retransmit_min": "RetransmitMin",
        "retransmit_max": "RetransmitMax",
        "resend_most": "ResendMost",
    } == PROTOCOLS["unicast"].parameters
    assert {"retransmit": unicast.RetransmitTimeout} == PROTOCOLS["unicast"].timeouts
