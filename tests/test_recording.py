"""recording: what came is written into recorded.yaml, and nothing else changes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from groupcomm_conformance.models import running
from groupcomm_conformance.models.checking import CheckedModel, differences, digest, record, run_models, select, stale
from groupcomm_conformance.models.instruments import Heard
from groupcomm_conformance.models.manifest import ManifestError, load
from groupcomm_conformance.models.plan import Answer, Part, Plan
from groupcomm_conformance.tlc.errors import Endless
from groupcomm_conformance.tlc.output import Progress

DATA = Path(__file__).parent / "data"
Results = dict[str, CheckedModel]


@pytest.fixture(scope="module")
def results() -> Results:
    """The result of a run for the record: `falls` is found out, not taken from the manifest."""
    toy = load(DATA, "toy")
    models = [(toy, model) for model in select(toy) if model.name in {"pair", "hasty", "forgetful", "lossy_live"}]
    return {checked.model: checked for checked in run_models(models, recording=True)}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    return tmp_path


def rewrite(project: Path, *changes: tuple[str, str], name: str = "recorded.yaml") -> str:
    """Change a file of the toy; each text must be there once."""
    file = project / "spec/toy" / name
    text = file.read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file.write_text(text)
    return text


def recorded(project: Path, results: Results) -> list[str]:
    return record(project, load(project, "toy", recording=True), results)


def files(project: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((project / "spec/toy").iterdir())}


def test_what_is_as_recorded_is_not_written(project: Path, results: Results) -> None:
    file = project / "spec/toy/recorded.yaml"
    before, written = files(project), file.stat().st_mtime_ns
    assert [] == recorded(project, results)
    assert (before, written) == (files(project), file.stat().st_mtime_ns)


def test_figures_are_replaced_and_no_other_file_is_written(project: Path, results: Results) -> None:
    before = files(project)
    rewrite(
        project,
        ("distinct: 25", "distinct: 26"),
        ("trace: 3", "trace: 4"),
        ("trace: 9", "trace: 8"),
        ("[CommittedStays, RefinesDecision]", "[CommittedStays]"),
    )
    assert [
        "toy pair: distinct 26 -> 25",
        "toy hasty: trace 4 -> 3",
        "toy forgetful: violates [CommittedStays] -> [CommittedStays, RefinesDecision]",
    ] == recorded(project, results)
    # Another lasso of the same claim is no other figure.
    rewrite(project, ("trace: 8", "trace: 9"))
    assert before == files(project)


def test_what_is_missing_is_written_where_it_belongs(project: Path, results: Results) -> None:
    before = rewrite(project)
    rewrite(
        project,
        ("pair: {distinct: 25, transitions: 170, depth: 7}\n", ""),
        ("{trace: 3, violates: [NoEarlyCommit]}", "{}"),
    )
    with pytest.raises(ManifestError, match="a row of pair"):
        load(project, "toy")
    recorded(project, results)
    assert before == (project / "spec/toy/recorded.yaml").read_text()


def test_a_row_of_a_model_that_is_gone_is_left_out(project: Path, results: Results) -> None:
    before = rewrite(project)
    rewrite(project, ("lossy: {", "gone: {trace: 1, violates: []}\nlossy: {"))
    assert [] == recorded(project, results)
    assert before == (project / "spec/toy/recorded.yaml").read_text()


def test_a_claim_that_is_renamed_is_recorded_anew(project: Path, results: Results) -> None:
    before = rewrite(project)
    rewrite(project, ("[NoEarlyCommit]", "[NoHastyCommit]"))
    with pytest.raises(ManifestError, match=r"recorded\.yaml:5: .* not NoHastyCommit"):
        load(project, "toy")
    assert ["toy hasty: violates [NoHastyCommit] -> [NoEarlyCommit]"] == recorded(project, results)
    assert before == (project / "spec/toy/recorded.yaml").read_text()


def test_conjuncts_are_recorded_behind_the_claims_by_their_number(project: Path, results: Results) -> None:
    parts = frozenset({"NoEarlyCommit/10", "NoEarlyCommit/2", "CommittedStays/3"})
    assert [
        "toy hasty: violates [NoEarlyCommit] -> [NoEarlyCommit, CommittedStays/3, NoEarlyCommit/2, NoEarlyCommit/10]"
    ] == recorded(project, {"hasty": evolve(results["hasty"], conjuncts=parts)})


def test_an_outcome_that_was_not_expected_is_not_recorded(project: Path, results: Results) -> None:
    """A figure of another outcome is not recorded, and the expected outcome is for people to write."""
    rewrite(project, ("distinct: 25", "distinct: 26"))
    fallen = evolve(results["pair"], outcome="violates: NoEarlyCommit")
    assert [] == recorded(project, {"pair": fallen})
    assert "distinct: 26" in (project / "spec/toy/recorded.yaml").read_text()


def test_a_model_without_figures_differs(project: Path, results: Results) -> None:
    rewrite(project, ("pair: {distinct: 25, transitions: 170, depth: 7}\n", ""))
    model = load(project, "toy", recording=True).model("pair")
    assert ["nothing is recorded of it yet: groupcomm check --record writes it"] == differences(model, results["pair"])


# Deep models


def test_a_deep_record_tells_what_it_is_of(project: Path, results: Results) -> None:
    """Comments and spacing do not make it stale, guards and bounds do."""
    text = (project / "spec/toy/models.yaml").read_text()
    start, end = text.index("  without:"), text.index("- name: lossy\n")
    (project / "spec/toy/models.yaml").write_text(text[:start].replace("tier: smoke", "tier: deep") + text[end:])
    (project / "spec/toy/errata.yaml").unlink()
    toy = load(project, "toy", recording=True)
    assert ["pair"] == stale(toy)
    assert [f"toy pair: digest none -> {digest(toy, toy.model('pair'))}"] == recorded(project, results)
    assert [] == stale(load(project, "toy"))

    module = project / "spec/toy/Toy.tla"
    module.write_text(module.read_text().replace("TOY-01, TOY-02", "Votes.  \n\\* And more."))
    assert [] == stale(load(project, "toy"))
    module.write_text(module.read_text().replace("IF s.voted", "IF ~s.voted"))
    assert ["pair"] == stale(load(project, "toy"))


def test_other_bounds_make_a_deep_record_stale(project: Path) -> None:
    toy = load(project, "toy")
    rewrite(project, ("  MaxLost: 0\n", "  MaxLost: 2\n"), name="models.yaml")
    changed = load(project, "toy")
    assert digest(toy, toy.model("pair")) != digest(changed, changed.model("pair"))


def test_an_ablation_without_end_is_given_up_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its control has 25 states. A model that holds may have as many as it likes."""

    def rises(
        plan: Plan, part: Part, workers: int, heap: str, progress: Callable[[Progress], None], *, hot: bool
    ) -> Answer:
        del plan, part, heap, hot
        for distinct in (100, 200_000, 200_001):
            progress(Progress(distinct, distinct, 1, 1, 1, 1.0))
        return Answer(None, Heard(), None, workers)

    monkeypatch.setattr(running, "execute", rises)
    toy = load(DATA, "toy")
    with pytest.raises(
        Endless, match=r"models.yaml:\d+: hasty has 200,001 states so far, and its control pair 25: .*end"
    ):
        run_models([(toy, toy.model("hasty"))], recording=True)
    assert 1 == len(run_models([(toy, toy.model("pair"))], recording=True))
