"""Conditions of a step: `mutants --conditions` takes each away, and names each that no claim notices."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from groupcomm_commands.main import app
from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.random_events import conditions
from groupcomm_conformance.random_events.copying import Uses, copies, replacing
from groupcomm_conformance.steps.mutants.conforming import tables_of
from groupcomm_conformance.steps.mutants.specification import SpecMutant
from groupcomm_conformance.tla import tree
from groupcomm_conformance.tla.tree import Apply, Name
from groupcomm_conformance.tlc import syntax


@pytest.fixture(scope="module")
def fates(checked_toy: Path) -> dict[str, str]:
    manifest = load(checked_toy, "toy")
    judged = conditions.judge(manifest, tables_of(checked_toy, manifest))
    return {
        mutant.name: "" if found is None else found.by
        for mutant, found in zip(judged.mutants, judged.noticed, strict=True)
    }


def test_conditions_alone_are_taken_away(fates: dict[str, str]) -> None:
    """Not effects, updates or numbers: rows judge those."""
    assert len(fates) == 11
    assert all(" -> IF " in name or " dropped from " in name for name in fates)
    assert not any("EXCEPT" in name or "<<" in name for name in fates)


def test_a_condition_falls_by_the_claim_that_it_is_for(fates: dict[str, str]) -> None:
    assert fates["VoteReceived: WaitForAll => (heard = Member) dropped from @ \\/ (WaitForAll => (heard = Member))"]
    assert fates["VoteReceived: IF e.sender \\notin Member -> IF FALSE"] == "settles_live, TypeOK"
    assert [name for name, by in fates.items() if not by] == [
        "Decide: IF s.voted -> IF FALSE",  # nobody decides twice
        "VoteReceived: IF e.sender \\in s.heard_from -> IF FALSE",  # nor votes twice
        "VoteReceived: @ dropped from @ \\/ (WaitForAll => (heard = Member))",
    ]


def test_models_in_which_a_condition_does_not_matter_would_not_notice(checked_toy: Path, fates: dict[str, str]) -> None:
    manifest = load(checked_toy, "toy")
    judged = conditions.judge(manifest, tables_of(checked_toy, manifest), every_model=True)
    noticed = {each.name for each, found in zip(judged.mutants, judged.noticed, strict=True) if found}
    assert noticed == {name for name, by in fates.items() if by}


def test_the_command_names_the_conditions_without_a_claim(checked_toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a reason for each it ends well; a reason for a condition that is noticed is stale."""
    monkeypatch.chdir(checked_toy)
    runner = CliRunner()
    ran = runner.invoke(app, ["mutants", "toy", "--conditions"])
    assert ran.exit_code == 1
    assert "NO CLAIM: Toy.tla:14: Decide: IF s.voted -> IF FALSE: it matters in pair, settles_live" in ran.stdout
    assert "toy: 8 of 11 changed conditions noticed by claims" in ran.stdout
    assert runner.invoke(app, ["mutants", "toy", "--conditions", "--claims"]).exit_code == 2


@pytest.mark.parametrize("changed", ["Whole", "Old"])
def test_a_copy_brings_along_local_operators_which_it_may_not_name(changed: str) -> None:
    """Those that it uses, and those on the way to the changed place."""
    inner = (
        "---- MODULE Inner ----\nLOCAL Both == {TRUE, FALSE}\nLOCAL Old(x) == x \\in Both /\\ x\n"
        "Of(x) == Old(x)\nOther(x) == x \\in Both\nWhole(x) == x \\in Both /\\ Of(x) /\\ Other(x)\n====\n"
    )
    modules = {"Inner": inner, "Outer": "---- MODULE Outer ----\nEXTENDS Inner\nStep(s) == Whole(s)\n====\n"}
    definitions = tree.read(syntax.export([], "Outer", generated=modules))
    operator = next(each for each in definitions.operators.values() if each.name.text == changed)
    assert isinstance(operator.body, Apply)
    place = operator.body.operands[-1]
    mutant = SpecMutant(changed, "Inner", changed, operator.line, place, Apply(Name("TRUE", "builtin", 0), (), ()))
    text = "\n".join(copies(Uses.of(definitions, ["Step"]), "Step", [changed], replacing(mutant), "Copy_"))
    syntax.export([], "Run", generated=modules | {"Run": f"---- MODULE Run ----\nEXTENDS Outer\n{text}\n====\n"})
    assert "Copy_Other" not in text
    assert ("Copy_Of" in text) == (changed == "Old")
