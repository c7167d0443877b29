"""recording: what came is written into the manifest, in its place, and nothing else changes."""

import shutil
from pathlib import Path

import pytest
from attrs import evolve

from groupcomm_conformance.models.checking import (
    CheckedModel,
    differences,
    digest,
    record,
    run_models,
    select,
    stale,
)
from groupcomm_conformance.models.manifest import ManifestError, load

DATA = Path(__file__).parent / "data"
Results = dict[str, CheckedModel]


@pytest.fixture(scope="module")
def results() -> Results:
    """The result of a run for the record: `falls` is found out, not taken from the manifest."""
    toy = load(DATA, "toy")
    models = [(toy, model) for model in select(toy) if model.name in {"pair", "hasty", "forgetful"}]
    return {checked.model: checked for checked in run_models(models, recording=True)}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    return tmp_path


def rewrite(project: Path, *changes: tuple[str, str]) -> str:
    """Change the manifest; each text must be there once."""
    file = project / "spec/toy/models.yaml"
    text = file.read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file.write_text(text)
    return text


def recorded(project: Path, results: Results) -> list[str]:
    return record(project, load(project, "toy", recording=True), results)


def test_what_is_as_recorded_is_not_written(project: Path, results: Results) -> None:
    before = (project / "spec/toy/models.yaml").read_text()
    assert [] == recorded(project, results)
    assert before == (project / "spec/toy/models.yaml").read_text()


def test_figures_are_replaced_and_comments_stay(project: Path, results: Results) -> None:
    text = rewrite(
        project,
        ("  distinct: 25\n", "  distinct: 26  # one a vote\n  # Too many by far:\n"),
        ("  trace: 3\n", "  trace: 4\n"),
        ("  falls: [CommittedStays, RefinesDecision]\n", "  falls: [\n    CommittedStays\n  ]\n"),
    )
    assert [
        "toy pair: distinct 26 -> 25",
        "toy hasty: trace 4 -> 3",
        "toy forgetful: falls [CommittedStays] -> [CommittedStays, RefinesDecision]",
    ] == recorded(project, results)
    expected = (
        text.replace("distinct: 26", "distinct: 25")
        .replace("trace: 4", "trace: 3")
        .replace("falls: [\n    CommittedStays\n  ]", "falls: [CommittedStays, RefinesDecision]")
    )
    assert expected == (project / "spec/toy/models.yaml").read_text()


def test_what_is_missing_is_written_where_it_belongs(project: Path, results: Results) -> None:
    before = rewrite(project)
    rewrite(
        project,
        ("  distinct: 25\n  transitions: 170\n  depth: 7\n", ""),
        ("  trace: 3\n  falls: [NoEarlyCommit]\n", ""),
    )
    with pytest.raises(ManifestError, match="distinct"):
        load(project, "toy")
    recorded(project, results)
    assert before == (project / "spec/toy/models.yaml").read_text()


def test_an_outcome_that_was_not_expected_is_not_recorded(project: Path, results: Results) -> None:
    """A figure of another outcome is not recorded, and the expected outcome is for people to write."""
    rewrite(project, ("  distinct: 25\n", "  distinct: 26\n"))
    fallen = evolve(results["pair"], outcome="violates: NoEarlyCommit")
    assert [] == recorded(project, {"pair": fallen})
    assert "distinct: 26" in (project / "spec/toy/models.yaml").read_text()


def test_a_model_on_one_line_cannot_be_written_into(project: Path, results: Results) -> None:
    text = rewrite(project)
    start, end = text.index("- name: pair"), text.index("- name: lossy\n")
    flow = "{name: pair, tier: smoke, expect: holds, shows: a, distinct: 1, transitions: 1, depth: 1}"
    (project / "spec/toy/models.yaml").write_text(f"{text[:start]}- {flow}\n{text[end:]}")
    line = text.count("\n", 0, start) + 1
    with pytest.raises(ValueError, match=rf"spec/toy/models.yaml:{line}: expected a model with a key a line"):
        recorded(project, results)


def test_a_model_without_figures_differs(project: Path, results: Results) -> None:
    rewrite(project, ("  distinct: 25\n  transitions: 170\n  depth: 7\n", ""))
    model = load(project, "toy", recording=True).model("pair")
    assert ["nothing is recorded of it yet: groupcomm check --record writes it"] == differences(
        model, results["pair"]
    )


# Deep models


def test_a_deep_record_tells_what_it_is_of(project: Path, results: Results) -> None:
    """Comments and spacing do not make it stale, guards and bounds do."""
    text = rewrite(project)
    start = text.index("- name: hasty")
    (project / "spec/toy/models.yaml").write_text(
        text[:start].replace("tier: smoke", "tier: deep") + text[text.index("- name: settles_live") :]
    )
    toy = load(project, "toy")
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
    rewrite(project, ("  MaxLost: 0\n", "  MaxLost: 2\n"))
    changed = load(project, "toy")
    assert digest(toy, toy.model("pair")) != digest(changed, changed.model("pair"))
