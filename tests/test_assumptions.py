"""assumptions, guarantees: what layers assume and give is what claims and models show, or it is refused or open."""

import shutil
from pathlib import Path

import pytest
from attrs import evolve

from groupcomm_commands.main import main
from groupcomm_conformance.documents import assumptions, guarantees
from groupcomm_conformance.documents.budgets import budgets, lost
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.models.manifest import ManifestError, load
from groupcomm_conformance.models.model import NOT_GIVEN
from groupcomm_conformance.models.selecting import manifests_of

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"
LINKS = """\
assumes:
  Ballot: {Lossless: lossy_live, Fresh: [lossy], Secret: []}
gives:
  Decision: {Next: RefinesDecision, Init: [NoEarlyCommit]}
"""
BALLOT = r"""---- MODULE Ballot ----
Conjuncts == {"Lossless", "Fresh",
    "Secret"}
\* Lossless: no vote is lost, and
\* none comes twice.

\* No member
\* votes twice.
Fresh == TRUE
====
"""
LAYERS = """\
toy:
  does: commit
BALLOTS:
  does: votes
  assumes: [Paper]
  gives: [Ballot]
"""
SURVEY = """\
Integrity:
  means: "No member commits | early."
  given: {toy: NoEarlyCommit}
Finality:
  means: A commit stays.
  given: {Decision: Next, Ballot: [Lossless]}
  limits: In one incarnation.
Secrecy:
  means: Votes are secret.
  not_given: No layer needs it.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    common = tmp_path / "spec/common"
    (common / "Ballot.tla").write_text(BALLOT)
    (common / "layers.yaml").write_text(LAYERS)
    (common / "survey.yaml").write_text(SURVEY)
    manifest = tmp_path / "spec/toy/models.yaml"
    manifest.write_text(manifest.read_text().replace("models:\n", f"{LINKS}models:\n", 1))
    return tmp_path


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert 1 == text.count(old), old
    file.write_text(text.replace(old, new))


def page(project: Path) -> list[str]:
    text, problems = assumptions.page(project, [load(project, "toy")])
    assert [] == problems
    return text.splitlines()


def test_each_conjunct_that_is_given_has_its_claim_and_the_models_that_show_it(project: Path) -> None:
    lines = page(project)
    assert "### Gives `Decision`" in lines
    assert "| `Next` |  | `RefinesDecision` | `pair`, `lossy` | `forgetful` |" in lines
    assert "| `Init` |  | `NoEarlyCommit` | `pair`, `lossy` | `hasty` |" in lines


def test_a_conjunct_that_is_not_given_is_open(project: Path) -> None:
    edit(project / "spec/toy/models.yaml", "Next: RefinesDecision", "Next: not_given")
    edit(project / "spec/common/layers.yaml", "assumes: [Paper]", "assumes: [Decision]")
    lines = page(project)
    assert "| `Next` |  | not given | - | - |" in lines
    assert "- `Next` of `Decision`: not given by toy, and assumed by BALLOTS." in lines


REASON = """\
toy:
  does: commit
  not_given:
    Decision:
      Next: It may change its mind.
"""


def test_a_conjunct_that_is_not_given_says_why(project: Path) -> None:
    edit(project / "spec/toy/models.yaml", "Next: RefinesDecision", "Next: not_given")
    edit(project / "spec/common/layers.yaml", "toy:\n  does: commit\n", REASON)
    edit(project / "spec/common/layers.yaml", "assumes: [Paper]", "assumes: [Decision]")
    assert f"{OPEN.removesuffix('toy.')}BALLOTS. It may change its mind." in page(project)


def test_no_reason_is_left_for_a_conjunct_that_is_given(project: Path) -> None:
    edit(project / "spec/common/layers.yaml", "toy:\n  does: commit\n", REASON)
    with pytest.raises(FileError, match=r"layers\.yaml:5: expected a conjunct of Decision that toy does not give"):
        page(project)


def test_a_conjunct_that_only_another_layer_gives_is_open() -> None:
    """Of two layers that give a guarantee, the layer that gives less stands beneath an assuming layer, too."""
    manifests = {manifest.protocol: manifest for manifest in manifests_of(ROOT, ())}
    merge = manifests["merge"]
    given = {**merge.gives, "JoinDigest": {**merge.gives["JoinDigest"], "DigestIsComplete": NOT_GIVEN}}
    manifests["merge"] = evolve(merge, gives=given)
    line = "- `DigestIsComplete` of `JoinDigest`: not given by merge (but by merge_gms, gms), and assumed by stable."
    assert line in assumptions.page(ROOT, manifests.values())[0].splitlines()
    assert line not in assumptions.page(ROOT, manifests_of(ROOT, ()))[0].splitlines()


OPEN = "- `Next` of `Decision`: not given by toy, and assumed by toy."
NEEDLESS = "All that assume `Decision` do without `Next`: toy, in `lossy`."


@pytest.mark.parametrize(
    ("models", "said", "unsaid"),
    [("[lossy, hasty]", NEEDLESS, OPEN), ("[hasty]", OPEN, NEEDLESS), ("[]", OPEN, NEEDLESS)],
)
def test_what_is_not_given_and_a_model_holds_without_is_not_open(
    project: Path, models: str, said: str, unsaid: str
) -> None:
    edit(project / "spec/toy/models.yaml", "Next: RefinesDecision", "Next: not_given")
    edit(
        project / "spec/toy/models.yaml",
        "Secret: []}\n",
        f"Secret: []}}\n  Decision: {{Next: {models}, Init: [hasty]}}\n",
    )
    lines = page(project)
    assert said in lines
    assert unsaid not in lines


def test_each_conjunct_that_is_assumed_says_what_becomes_of_the_claims_without_it(project: Path) -> None:
    lines = page(project)
    assert "### Assumes `Ballot`" in lines
    assert "| `Lossless` | no vote is lost, and none comes twice. | `EventuallyCommitted` (`lossy_live`) |" in lines
    assert "| `Fresh` | No member votes twice. | none (`lossy`) |" in lines
    assert "| `Secret` |  | not examined |" in lines


def test_what_nobody_refines_is_open_by_name(project: Path) -> None:
    lines = page(project)
    opened = lines[lines.index("## Open") + 2 :]
    assert [
        "- `Ballot` (`Lossless`, `Fresh`, `Secret`): assumed by toy; no layer refines it yet (to be given by BALLOTS).",
        "- `Paper` (no module yet): assumed by BALLOTS; no layer refines it yet.",
    ] == opened
    assert "| BALLOTS | votes | `Paper` | `Ballot` | not written yet |" in lines


def test_nothing_is_open_where_all_is_given(project: Path) -> None:
    edit(project / "spec/common/layers.yaml", "assumes: [Paper]", "assumes: [Decision]")
    edit(
        project / "spec/toy/models.yaml", "assumes:\n  Ballot: {Lossless: lossy_live, Fresh: [lossy], Secret: []}\n", ""
    )
    assert "Nothing: whatever a layer assumes, another is shown to give." in page(project)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Secret: []}", "}", "21: expected all conjuncts of Ballot, but Secret is missing"),
        ("Secret: []", "Secrets: []", "21: expected a conjunct of Ballot, not Secrets"),
        ("Ballot:", "Ballots:", "21: expected a module of spec/common, but there is no Ballots.tla"),
        ("lossy_live, Fresh", "lossless, Fresh", "21: expected a model of this manifest, not lossless"),
        ("Next: RefinesDecision", "Next: []", "23: expected the claim that shows Next, not an empty list"),
        ("Next: RefinesDecision", "Next: Decides",
         "23: expected a claim that a model that holds is checked for, not Decides"),
        ("Next: RefinesDecision", "Next: TypeOK", "23: expected a claim that some ablation refutes, not TypeOK"),
        ("Decision: {Next", "Decision: {Step", "23: expected a conjunct of Decision, not Step"),
    ],
)  # fmt: skip
def test_a_declaration_that_nothing_stands_behind_is_refused(project: Path, old: str, new: str, expected: str) -> None:
    edit(project / "spec/toy/models.yaml", old, new)
    with pytest.raises(ManifestError) as caught:
        load(project, "toy")
    assert f"spec/toy/models.yaml:{expected}" == str(caught.value)


def test_a_claim_that_falls_nowhere_shows_nothing(project: Path) -> None:
    """It might be true of anything."""
    edit(
        project / "spec/toy/recorded.yaml", "violates: [CommittedStays, RefinesDecision]", "violates: [CommittedStays]"
    )
    with pytest.raises(ManifestError, match="23: expected a claim that some ablation refutes, not RefinesDecision"):
        load(project, "toy")


def test_a_list_of_layers_without_a_protocol_is_refused(project: Path) -> None:
    edit(project / "spec/common/layers.yaml", "toy:\n  does: commit\n", "")
    with pytest.raises(FileError, match=r"layers\.yaml:1: expected all layers, but the protocol toy is missing"):
        assumptions.page(project, [load(project, "toy")])


def test_a_core_that_declares_something_else_is_a_problem(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core = project / "groupcomm_toy.py"
    core.write_text("ASSUMES = ('Paper',)\nGIVES = ('Verdict',)\nGIVES_BELOW = ('Peace',)\n")
    monkeypatch.syspath_prepend(str(project))
    monkeypatch.setattr("importlib.import_module", lambda _: __import__("groupcomm_toy"))
    text, problems = assumptions.page(project, [load(project, "toy")])
    assert [
        "spec/toy/models.yaml:1: assumes Ballot, but ASSUMES of groupcomm.toy is Paper",
        "spec/toy/models.yaml:1: GIVES_BELOW of groupcomm.toy has Peace, but GIVES is Verdict",
        "spec/toy/models.yaml:1: gives Decision, but GIVES of groupcomm.toy is Verdict",
    ] == problems
    assert "Assumed besides, and not stated conjunct by conjunct: `Paper`." in text.splitlines()


# Guarantees

FINALITY = (
    "| Finality | A commit stays. | toy: `RefinesDecision`; `Ballot`: `Lossless` | "
    "`pair`, `lossy`; violated in `forgetful`; *assumed* by toy | In one incarnation. |"
)


def test_a_guarantee_is_given_by_a_claim_assumed_or_not_given(project: Path) -> None:
    rows = guarantees.page(project, [load(project, "toy")]).splitlines()[-3:]
    assert [
        "| Integrity | No member commits \\| early. | toy: `NoEarlyCommit` | `pair`, `lossy`; violated in `hasty` |  |",
        FINALITY,
        "| Secrecy | Votes are secret. | - | - | No layer needs it. |",
    ] == rows


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("NoEarlyCommit}", "NoLateCommit}", "3: expected a claim of toy, not NoLateCommit"),
        ("toy: NoEarlyCommit", "toy: []", "3: expected what of toy gives it, not an empty list"),
        ("{toy: NoEarlyCommit}", "{}", "3: expected what gives it, not an empty mapping"),
        ("{toy:", "{tyo:", "3: expected a protocol (toy) or a module of spec/common, not tyo"),
        ("[Lossless]", "[Endless]", "6: expected a conjunct of Ballot, not Endless"),
        ("  not_given: No layer needs it.\n", "", '8: expected either "given" or "not_given"'),
        ("  not_given:", "  limits: x\n  not_given:", '10: expected no "limits" of what is not given'),
    ],
)
def test_a_guarantee_that_nothing_shows_is_refused(project: Path, old: str, new: str, expected: str) -> None:
    edit(project / "spec/common/survey.yaml", old, new)
    with pytest.raises(FileError) as caught:
        guarantees.page(project, [load(project, "toy")])
    assert f"spec/common/survey.yaml:{expected}" == str(caught.value)


def test_the_page_of_guarantees_is_written_once_and_then_up_to_date(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert 1 == main(["guarantees", "--check"])
    assert 0 == main(["guarantees"])
    assert 0 == main(["guarantees", "--check"])
    edit(project / "docs/guarantees.md", "do not edit it", "edit it")
    assert 1 == main(["guarantees", "--check"])


def test_the_page_of_assumptions_begins_with_what_people_wrote(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (project / "docs").mkdir()
    (project / "docs/assumptions.md").write_text("# The stack\n\nLink by link.\n")
    assert 0 == main(["assumptions"])
    assert (project / "build/docs/assumptions.md").read_text().startswith("# The stack\n\nLink by link.\n\n| layer |")
    assert "# The stack\n\nLink by link.\n" == (project / "docs/assumptions.md").read_text()


def test_bounds_are_read_from_the_models_that_hold() -> None:
    """No line of them is written by hand: a model that has two budgets together takes the pair from the table."""
    manifests = [*manifests_of(ROOT)]
    text, _ = assumptions.page(ROOT, manifests)
    rows = {
        row.split("|")[1].strip(): row
        for row in text.split("## Bounds")[1].split("## Open")[0].splitlines()
        if row.count("|") > 3
    }
    assert "`MaxFalseSuspicions` 2" in rows["flush"]
    assert "VirtualSynchrony: `MaxFalseSuspicions`" in rows["flush"]
    assert "`MaxRestarts` with `MaxCasts`" in rows["merge_gms"]
    assert "MaxInterval" not in rows["merge_gms"]
    both = next(m for m in manifests if m.protocol == "merge_gms")
    more = evolve(both.model("two_singletons"), constants={"MaxRestarts": 1, "MaxCasts": 7})
    changed = evolve(both, models=(*both.models, more))
    text, _ = assumptions.page(ROOT, [changed if m is both else m for m in manifests])
    row = next(row for row in text.split("## Bounds")[1].splitlines() if row.startswith("| merge_gms"))
    assert "`MaxRestarts` with `MaxCasts`" not in row
    assert "`MaxCasts` 7" in row


def test_what_is_lost_to_a_budget_of_faults_is_open() -> None:
    """FLUSH's guarantee after a false suspicion: from its models, not from a sentence."""
    manifests = {manifest.protocol: manifest for manifest in manifests_of(ROOT, ())}
    flush = manifests["flush"]
    (found,) = lost(flush)
    assert (found.guarantee, found.budget) == ("VirtualSynchrony", "MaxFalseSuspicions")
    assert found.conjuncts == ("ReceiveOnlyCut", "FirstLeaverHasAll", "JoinersInstallLast")
    line = "- `ReceiveOnlyCut`, `FirstLeaverHasAll`, `JoinersInstallLast` of `VirtualSynchrony`: flush does not"
    assert any(each.startswith(line) for each in assumptions.page(ROOT, manifests.values())[0].splitlines())
    assert "Not `FirstLeaverHasAll` with `MaxFalseSuspicions`" in guarantees.page(ROOT, manifests.values())
    # Without the ablation nothing says that the budget costs anything: it is a bound, and stands under Bounds.
    kept = tuple(model for model in flush.models if found.budget not in model.ablates)
    assert lost(evolve(flush, models=kept)) == []
    # A model that holds with the budget and claims a conjunct shows it.
    claims = ("GivesReceiveOnlyCut", "GivesFirstLeaverHasAll", "GivesJoinersInstallLast")
    name = next(m.claims for m in flush.models if m.holds and budgets(flush.cfg(m).constants)[found.budget])
    cfg = evolve(flush.cfgs[name], properties=(*flush.cfgs[name].properties, *claims))
    assert lost(evolve(flush, cfgs={**flush.cfgs, name: cfg})) == []
