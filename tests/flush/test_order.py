"""The order of layers, and what FLUSH says of it: the notes' order, and no other."""

from itertools import combinations, permutations
from random import Random
from typing import get_args

from groupcomm import flush
from groupcomm.stack import StackError
from groupcomm_simulator.setup import WHOLE, Setup, stack_of

NAMES = (*WHOLE, "gms")


def stands(names: tuple[str, ...]) -> bool:
    try:
        stack_of(Setup(names), Random(1), [])  # noqa: S311 - one configuration will do
    except StackError:
        return False
    return True


def test_layers_stand_in_one_order() -> None:
    """FST-04, LAY-02: FLUSH on who makes the views, below who multicasts; what keeps multicasts at the bottom."""
    some = {names for n in range(2, 6) for names in combinations(NAMES, n)}
    every = {names for chosen in some for names in permutations(chosen)}
    assert {"/".join(names) for names in every if stands(names)} == {
        *("flush/gms", "flush/gms/stable", "sequencer/flush/gms", "sequencer/flush/gms/stable"),
        *("flush/merge_gms", "flush/merge_gms/stable", "sequencer/flush/merge_gms", "/".join(WHOLE)),
    }


def test_what_flush_says_and_hears() -> None:
    """FVI-04, AMB-60: FLUSH_OK is of the older design. AMB-67: there is no event FLUSH, `Suspend` asks for it."""
    said = {kind.__name__ for kind in get_args(flush.Message)}
    assert said == {"StartFlush", "FlushCompleted", "Reconcile", "StopFlush", "Data"}
    heard = {kind.__name__ for kind in get_args(flush.Event)}
    assert "Suspend" in heard
    assert "Flush" not in heard
