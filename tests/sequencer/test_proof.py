"""The proof of SEQUENCER's claims: what each guard is needed for, and that TLC finds a wrong invariant."""

import pytest
from attrs import evolve

from groupcomm_conformance.models.manifest import find_root, load

z3 = pytest.importorskip("z3", reason="needs the extra `prove`: make prove installs it")
pytest.importorskip("cvc5", reason="needs the extra `prove`: make prove installs it")

from groupcomm_conformance.proof import proving, searching, second, sequencer  # noqa: E402
from groupcomm_conformance.proof.reading import NotRead  # noqa: E402

pytestmark = pytest.mark.prove

MANIFEST = load(find_root(), "sequencer")


def test_the_claims_follow_from_the_invariant_for_both_solvers() -> None:
    claims = list(proving.obligations(sequencer.theory_of(MANIFEST), ["claim"]))
    assert {each.clause for each in claims} >= {"OnePlace", "NumberedTotalOrder", "NumberedAgreement"}
    assert all(proving.prove(each).follows for each in claims)
    assert {second.asked_again(each) for each in claims} == {"unsat"}


@pytest.mark.parametrize(
    ("guard", "value", "step", "clause"),
    [
        ("LateForward", '"accepted"', "ReceiveForward", "LocalIsReadable"),
        ("ResendOn", '"never"', "InstallView", "TableIsSubmitted/Submitted"),
        ("EarlyForward", '"dropped"', "ReceiveForward", "TableIsSubmitted/Submitted"),
        ("SenderFrom", '"message"', "ReceiveData", "LocalIsReadable"),
    ],
)
def test_without_a_guard_an_obligation_does_not_follow(
    guard: str, value: str, step: str, clause: str
) -> None:
    chosen = [step], [clause]
    whole = list(proving.obligations(sequencer.theory_of(MANIFEST), *chosen))
    without = list(proving.obligations(sequencer.theory_of(MANIFEST, {guard: value}), *chosen))
    assert whole != []
    assert all(proving.prove(each).follows for each in whole)
    assert not all(proving.prove(each, limit=300_000, tries=1).follows for each in without)


def test_a_table_that_is_sent_again_in_falling_order_is_not_read() -> None:
    with pytest.raises(NotRead, match="rising order"):
        list(
            proving.obligations(sequencer.theory_of(MANIFEST, {"ResendOrder": '"falling"'}), ["InstallView"])
        )


def test_tlc_finds_a_state_outside_the_invariant() -> None:
    model = MANIFEST.model("smoke")
    loose = evolve(model, constants={**model.constants, "ResendOn": "never"})
    assert searching.search(MANIFEST, loose).violated == "ForestAndInvariant"
