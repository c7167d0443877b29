"""repaired_step: what the control of an ablation does in the state in which the ablation departs from it."""

from pathlib import Path

import pytest

from groupcomm_conformance.documents.errata import ORDER, first_state, models, orders
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.models.checking import Cache, run_model
from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.models.selecting import manifests_of
from groupcomm_conformance.protocols.stepping import repair
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, parse
from groupcomm_conformance.why.repaired_step import REASONS, Instead, instead
from groupcomm_conformance.why.why import Reasons, why

ROOT = Path(__file__).parents[1]
DATA = Path(__file__).parent / "data"


def said(folder: Path, protocol: str, name: str, kept: Path) -> Instead:
    """Search one model and ask what its control does instead."""
    manifest = load(folder, protocol)
    model = manifest.model(name)
    checked = run_model(manifest, model, cache=Cache.of(kept))
    because = why(manifest, model, checked, Reasons.of(kept))
    assert because is not None
    found = instead(manifest, model, because.trace, repair, Reasons.of(kept))
    assert found is not None
    return found


def test_the_core_gives_the_repaired_step() -> None:
    """FLAW-66: the joiner is answered before the old member B has acknowledged."""
    found = said(ROOT, "gms", "without_join_rsp_after_acks", ROOT)
    assert (5, "A: GiveDigest", "JoinRspAfterAcks = TRUE") == (found.number, found.step, found.guarded)
    assert found.here[0] == "awaits {} -> {B, D}"
    assert found.here[1].startswith("-> D: JOIN_RSP decision=[2/A: A, B, D;")
    assert ("awaits {} -> {B}", "owed {} -> {D}", "not sent: D: JOIN_RSP") == found.repaired


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "hasty",
            [
                "Step 3, A: ReceiveVote, is the first that WaitForAll = TRUE changes.",
                "- here: A.committed FALSE -> TRUE",
                "- with the repair: unchanged: A.committed",
            ],
        ),
        (
            "forgetful",
            [
                "Step 6, A: ReceiveVote, is the first that KeepCommit = TRUE changes.",
                "- here: A.committed TRUE -> FALSE",
                "- with the repair: ignored, nothing changes",
            ],
        ),
        ("lossy_live", ["Step 4, A: LoseVotes, is not possible with MaxLost = 0."]),
    ],
)
def test_tlc_gives_it_where_no_core_does(checked_toy: Path, name: str, lines: list[str]) -> None:
    """The toy has no core."""
    found = said(DATA, "toy", name, checked_toy)
    assert lines == found.lines()
    assert not found.reason


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_is_a_sentence(reason: str) -> None:
    (line,) = Instead((), reason=reason).lines()
    assert line.endswith(".")


def test_a_model_that_holds_has_none() -> None:
    manifest = load(DATA, "toy")
    held = next(model for model in manifest.models if model.holds)
    assert instead(manifest, held, (), repair) is None


# The order of flaws, and the first state


def known() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for manifest, _, erratum in models(manifests_of(ROOT)):
        found.setdefault(manifest.protocol, []).append(erratum.id)
    return found


def test_each_flaw_is_in_the_order_of_its_protocol_once() -> None:
    """`orders` refuses a flaw that is missing or twice; every protocol with flaws is named."""
    assert set(known()) == set(orders(ROOT, known()))


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("[FLAW-64]", "[]", "missing FLAW-64, unknown none"),
        ("[FLAW-64]", "[FLAW-64, FLAW-64]", "missing none, unknown none"),
        ("[FLAW-64]", "[FLAW-64, FLAW-9]", "missing none, unknown FLAW-9"),
    ],
)
def test_a_flaw_out_of_order_is_refused(tmp_path: Path, old: str, new: str, wrong: str) -> None:
    text = (ROOT / ORDER).read_text()
    assert text.count(old) == 1
    file = tmp_path / ORDER
    file.parent.mkdir(parents=True)
    file.write_text(text.replace(old, new))
    with pytest.raises(FileError, match=f"each flaw of sequencer once: {wrong}"):
        orders(tmp_path, known())


def test_a_long_first_state_names_the_views_alone() -> None:
    """FLAW-37's took a page and a half."""
    view = '[id |-> [counter |-> 1, creator |-> "A"], members |-> <<"A", "B">>]'
    local = ", ".join(f"{name} |-> <<[view |-> {view}, more |-> 1], [view |-> {view}]>>" for name in "AB")
    values = parse(f"[local |-> [{local}]]")
    assert isinstance(values, Fn)
    state = State(1, "", values)
    assert first_state(state, "1. " + "x" * 400) == "1. A, B: view [1/A: A, B]"
    assert first_state(state, "1. views: short") == "1. views: short"
