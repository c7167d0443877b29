"""Constants that are given by an operator are evaluated once, and mean what they meant."""

from pathlib import Path

import pytest

from groupcomm_conformance.models.instruments import Run, plain_run, remembered
from groupcomm_conformance.models.modules import Modules, read_modules
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tlc import run as tlc

GROUP = r"""---- MODULE Group ----
EXTENDS Naturals, Sequences, TLC
CONSTANTS Script, Limit
VARIABLE at
Pace == 1
Init == at = 0
Next == at < Limit /\ at' = at + Pace /\ Script[at + 1] \in 1 .. 9
====
"""
MC = r"""---- MODULE MC ----
EXTENDS Group
Loud == IF PrintT("evaluated") THEN <<1, 2, 3, 4, 5, 6>> ELSE <<>>
Same(x) == x
Slow == 1
====
"""
CONSTANTS = {"Script": "<- Loud", "Limit": "= 5", "Pace": "<- Slow"}


@pytest.fixture
def modules(tmp_path: Path) -> Modules:
    (tmp_path / "Group.tla").write_text(GROUP)
    (tmp_path / "MC.tla").write_text(MC)
    return read_modules([tmp_path], "MC")


def evaluations(modules: Modules, run: Run) -> tuple[int, int]:
    folder = next(iter(modules.files.values())).parent
    lines: list[str] = []
    came = tlc.run(
        [folder], "Run", run.cfg.render(), generated=run.generated, workers=1, short=True, on_line=lines.append
    )
    return came.distinct, lines.count('"evaluated"')


def test_tlc_evaluates_an_operator_in_the_place_of_a_constant_anew_unless_it_is_remembered(modules: Modules) -> None:
    plain = plain_run("MC", Cfg(init="Init", next="Next", constants=CONSTANTS))
    states, times = evaluations(modules, plain)
    assert states == 6
    assert times >= 5  # once a step, and when TLC begins
    states, times = evaluations(modules, remembered(plain, modules))
    assert states == 6
    assert times <= 3


def test_only_constants_given_by_operators_are_changed(modules: Modules) -> None:
    """`Pace` is no constant but an operator that another replaces; `Limit` has a value."""
    run = remembered(plain_run("MC", Cfg(init="Init", next="Next", constants=CONSTANTS)), modules)
    assert run.cfg.constants == {"Script": "<- Run_Constant_Script", "Limit": "= 5", "Pace": "<- Slow"}
    assert run.text.endswith("Run_Constant_Script == Loud\n====\n")


def test_without_such_constants_the_run_stays_as_it_is(modules: Modules) -> None:
    run = plain_run("MC", Cfg(init="Init", next="Next", constants={"Limit": "= 5"}))
    assert remembered(run, modules) is run
