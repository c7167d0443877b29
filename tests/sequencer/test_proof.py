"""The proof of SEQUENCER's claims: what each guard is needed for, and that TLC finds a wrong invariant."""

import re
from functools import cache

import pytest
from attrs import evolve

from groupcomm_commands.main import main
from groupcomm_conformance.models.manifest import find_root, load

z3 = pytest.importorskip("z3", reason="needs the extra `prove`: make prove installs it")
pytest.importorskip("cvc5", reason="needs the extra `prove`: make prove installs it")

from groupcomm_proof import proving, searching, second, sequencer, symbols  # noqa: E402
from groupcomm_proof.ablations import OF_SEQUENCER, Ablation  # noqa: E402
from groupcomm_proof.finite import model_of  # noqa: E402
from groupcomm_proof.reading import NotRead  # noqa: E402

pytestmark = pytest.mark.prove

MANIFEST = load(find_root(), "sequencer")


@cache
def written() -> str:
    """Give what the solver is told, in TLA+; not when tests are collected, as all workers would read the theory."""
    return sequencer.theory_of(MANIFEST).written()


def test_the_claims_follow_from_the_invariant_for_both_solvers() -> None:
    claims = list(proving.obligations(sequencer.theory_of(MANIFEST), ["claim"]))
    assert {each.clause for each in claims} >= {"OnePlace", "NumberedTotalOrder", "NumberedAgreement"}
    assert all(proving.prove(each).follows for each in claims)
    assert {second.asked_again(each) for each in claims} == {"unsat"}


@pytest.mark.parametrize("name", ["LateForward: accepted", "LeavesWithCut"])
def test_without_a_guard_an_obligation_fails_in_a_small_group(name: str) -> None:
    ablation = next(each for each in OF_SEQUENCER if each.name == name)
    chosen = [ablation.step], [ablation.clause]
    whole = list(proving.obligations(sequencer.theory_of(MANIFEST), *chosen))
    without = list(proving.obligations(sequencer.theory_of(MANIFEST, ablation), *chosen))
    assert whole != []
    assert all(proving.prove(each).follows for each in whole)
    failing = next(i for i, each in enumerate(without) if not proving.prove(each, tries=1).follows)
    assert proving.refuted(without[failing]) is not None
    # With the guard there is no such group. (Of the smallest size alone: to look through the others takes minutes.)
    held = [*whole[failing].given, z3.Not(whole[failing].goal)]
    assert model_of(held, symbols.SMALL[0]) is None


def test_the_chart_of_an_ablation_shows_the_multicast_that_nobody_will_order(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["prove", "sequencer", "--without", "EarlyForward"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    said = re.search(r"FALSE: TableIsSubmitted/Submitted, of s = (\w+), n = (\d)", out)
    assert said is not None
    assert f"sender: {said[1][0]}, seqno: {said[2]}" in out  # the FORWARD that came and was dropped
    assert "[ReceiveForward]" in out


def test_a_table_that_is_sent_again_in_falling_order_is_not_read() -> None:
    falling = Ablation("falling", "", "", {"ResendOrder": '"falling"'})
    with pytest.raises(NotRead, match="rising order"):
        list(proving.obligations(sequencer.theory_of(MANIFEST, falling), ["InstallView"]))


def test_tlc_finds_a_state_outside_the_invariant() -> None:
    model = MANIFEST.model("smoke")
    loose = evolve(model, constants={**model.constants, "ResendOn": "never"})
    assert searching.search(MANIFEST, loose, written()).violated == "ForestAndInvariant"


def test_tlc_finds_a_step_that_the_solver_was_not_told_of() -> None:
    # (A group in which a member that installs a view keeps the messages received in the predecessor.)
    model = MANIFEST.model("restart_once")
    wrong = evolve(model, constants={**model.constants, "NothingReceived": "<- StillReceived"})
    assert searching.search(MANIFEST, wrong, written()).violated == "EachStepIsRead"


def test_tlc_finds_that_the_solver_was_told_too_little() -> None:
    # The solver has no step for a crash.
    model = MANIFEST.model("restart_once")
    narrow = re.sub(r"^(Crash_\d+\(a\) ==)", r"\1 FALSE /\\ ", written(), flags=re.MULTILINE)
    assert narrow != written()
    assert searching.search(MANIFEST, model, narrow).violated == "EachStepIsRead"
