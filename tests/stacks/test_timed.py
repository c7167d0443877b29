"""Latency over a network that loses, with a clock: what timers cost, and a timer that never fires is detected."""

from types import SimpleNamespace
from typing import Any

import pytest

from groupcomm import unicast
from groupcomm.effects import SetTimer
from tests.stacks.timed import measured


def eager(config: unicast.Config, state: unicast.State, event: unicast.Event) -> Any:  # noqa: ANN401
    """UNICAST that sets its timer again with each message, so that it fires only after a pause."""
    after, effects = unicast.step(config, state, event)
    if isinstance(event, unicast.UnicastRequested) and event.to in after.sends:
        side = after.sends[event.to]
        others = tuple(each for each in effects if not isinstance(each, SetTimer))
        timer = SetTimer(f"retransmit/{side.connection.number}", side.interval, side.interval)
        return after, (*others, timer)
    return after, effects


@pytest.mark.parametrize("loss", [0.0, 0.1, 0.3])
def test_all_is_delivered_in_one_order_whatever_is_lost(loss: float) -> None:
    run = measured(loss, seconds=1)
    assert run.same
    assert run.sent * 3 == len(run.took)


def test_loss_costs_time_and_datagrams() -> None:
    quiet, lossy = measured(0.0, seconds=2), measured(0.3, seconds=2)
    assert quiet.percentile(0.5) < 10 < quiet.percentile(0.99) * 2 < lossy.percentile(0.99) < 2_000
    assert quiet.datagrams["unicast Data"] < lossy.datagrams["unicast Data"] < 3 * quiet.datagrams["unicast Data"]
    assert quiet.datagrams["nakack XmitReq"] < lossy.datagrams["nakack XmitReq"]


def test_a_timer_that_is_set_again_at_each_message_is_told_by_the_clock() -> None:
    """The untimed simulation cannot see it: there the timer fires when the dice say so."""
    core = SimpleNamespace(start=unicast.start, step=eager)
    good, bad = measured(0.1), measured(0.1, cores={"unicast": core})
    assert bad.same
    assert 5 * good.percentile(0.5) < bad.percentile(0.5)
    assert good.percentile(0.99) < bad.percentile(0.99)


def test_a_retransmission_that_waits_longer_bounds_the_latency_of_order() -> None:
    """SEQUENCER's FORWARD waits for UNICAST: what UNICAST's timer is, half of all messages wait."""
    slow = unicast.Config(retransmit_min=500, retransmit_max=1_000, resend_most=5)
    assert 3 * measured(0.3).percentile(0.5) < measured(0.3, unicasts=slow).percentile(0.5)
