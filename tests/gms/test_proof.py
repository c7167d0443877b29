"""The proof that identifiers of views are unique: GMS, and merging over GMS."""

import re
from functools import cache

import pytest
from attrs import evolve

from groupcomm_commands.main import main
from groupcomm_conformance.models.manifest import find_root, load

pytest.importorskip("z3", reason="needs the extra `prove`: make prove installs it")
pytest.importorskip("cvc5", reason="needs the extra `prove`: make prove installs it")

from groupcomm_proof import identifiers, proving, searching
from groupcomm_proof.ablations import OF_IDENTIFIERS, Ablation

pytestmark = pytest.mark.prove

MANIFEST = load(find_root(), "gms")


@cache
def written() -> str:
    """Give what the solver is told, in TLA+; not when tests are collected."""
    return identifiers.theory_of(MANIFEST).written()


def test_each_conjunct_is_needed_and_has_an_ablation_that_opens_its_obligation() -> None:
    theory = identifiers.theory_of(MANIFEST)
    conjuncts = {each.name.split("/")[0] for each in theory.clauses("Inductive", theory.before)}
    dropped = {each for each in conjuncts if any(each == ablation.name for ablation in OF_IDENTIFIERS)}
    assert conjuncts - dropped == {"ViewIdsAreUnique"}
    assert {each.clause for each in OF_IDENTIFIERS if each.name not in dropped} == conjuncts


def test_a_step_that_cannot_happen_is_named() -> None:
    never = Ablation("never", "", "", replaces=("    /\\ a \\notin up\n", "    /\\ a \\notin up /\\ FALSE\n"))
    assert list(proving.impossible(identifiers.theory_of(MANIFEST, never))) == ["RestartStep"]


def test_the_chart_of_an_ablation_has_the_address_that_begins_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "gms", "--without", "CountersArePassed"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    again = re.search(r"(\w)\.life (-?\d) -> (-?\d)", out)
    false = re.search(r"RestartStep.*FALSE: FormerArePassed, of v = \d, x = (\w), j = \d", out)
    assert again is not None
    assert false is not None
    assert int(again[3]) == int(again[2]) + 1
    assert again[1] != false[1]  # the member that has not passed the view


@pytest.mark.parametrize(
    ("protocol", "name", "constants"),
    [
        ("gms", "restart_after_split", {"IncarnationsLack": "<- ReturnsUnpassed"}),
        ("gms", "coordinator_leaves", {"ViewIdNames": "first"}),
        ("merge_gms", "two_singletons", {"ToTake": "<- SameCounter"}),
    ],
)
def test_tlc_finds_a_state_outside_the_invariant(protocol: str, name: str, constants: dict[str, str]) -> None:
    manifest = load(find_root(), protocol)
    model = manifest.model(name)
    wrong = evolve(model, constants={**model.constants, **constants})
    assert searching.search(manifest, wrong, written()).violated == "ForestAndInvariant"


@pytest.mark.parametrize(
    ("told", "narrow", "violated"),
    [
        (r"^(JoinStep_\d+\(.*\) ==)", r"\1 FALSE /\\ ", "EachStepIsRead"),
        (r"^(InitIsRead == InScope =>)", r"\1 FALSE /\\ ", "InitIsRead"),
    ],
)
def test_tlc_finds_that_the_solver_was_told_too_little(told: str, narrow: str, violated: str) -> None:
    text = re.sub(told, narrow, written(), flags=re.MULTILINE)
    assert text != written()
    assert searching.search(MANIFEST, MANIFEST.model("join"), text).violated == violated
