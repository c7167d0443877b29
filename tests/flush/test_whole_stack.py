"""flush: within the whole stack, up to eight members under random schedules, to the end."""

import pytest

from groupcomm_simulator.setup import Setup
from tests.simulated import all_holds


@pytest.mark.parametrize("stack", ["flush/gms", "flush/merge_gms"])
def test_virtual_synchrony_and_an_end_under_any_schedule(stack: str) -> None:
    """FST-02, FST-03, FVI-08, FVI-09, FCR-03, FCR-06, FVB-15: larger groups than the models', more of everything."""
    setup = Setup(tuple(stack.split("/")))
    kinds = setup.borne
    outcome = all_holds(Setup(setup.names, faults=type(setup.faults)(kinds)), events=20_000, seed=3000)
    for claim in (
        "LeavesWithCut",
        "FirstLeaverHasAll",
        "GroupIsStopped",
        "UnblockOnlyWhenBlocked",
        "ResumedWhenQuiescent",
    ):
        assert 50 < outcome.judged[claim], claim
    assert 20 < outcome.happened["transferred"]
