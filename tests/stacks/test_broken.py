"""Broken cores that a simulation of 200,000 events leaves: rows of the model that their entry names notice them."""

import pytest

from tests.cores import MANIFESTS, conformance
from tests.stacks import broken, broken_below
from tests.stacks.broken import Broken

CORES = {core.name: core for core in (*broken.BROKEN, *broken_below.BROKEN)}
LEFT = {**broken.LEFT, **broken_below.LEFT}
BY_ROWS = [(CORES[name], left.model) for name, left in LEFT.items() if left.model]


@pytest.mark.parametrize(("core", "model"), BY_ROWS, ids=[core.name for core, _ in BY_ROWS])
def test_rows_notice_what_a_simulation_leaves(core: Broken, model: str) -> None:
    chosen = MANIFESTS[core.layer].model(model)
    # (That it passes with the core as it is, `groupcomm conform` says of each model.)
    with core.in_place():
        assert not conformance(core.layer, chosen).replayed.passed


def test_two_are_left_by_rows_as_well() -> None:
    assert {"windows_set_anew", "waiting_told_as_delivered"} == {n for n, left in LEFT.items() if not left.model}
