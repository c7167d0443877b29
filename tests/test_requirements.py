"""requirements: tags are found where they stand, and every row, ID and cited name is accounted for."""

import shutil
from pathlib import Path

import pytest

from groupcomm_conformance.documents.requirements import Table, page, trace
from groupcomm_conformance.models.manifest import load

DATA = Path(__file__).parent / "data"
README = """\
# Toy

| ID | requirement | checked by |
| --- | --- | --- |
| TOY-01 | nobody commits early | |
| TOY-02 | what is committed stays | `forgetful` |
| `TOY-03` | votes \\| losses | |

| name | meaning |
| --- | --- |
| TOY | no ID |
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    (tmp_path / "spec/toy/README.md").write_text(README)
    (tmp_path / "tests/toy").mkdir(parents=True)
    (tmp_path / "conformance/scenarios/toy").mkdir(parents=True)
    return tmp_path


def traced(project: Path) -> Table:
    return trace(project, [load(project, "toy")])


def checks(project: Path) -> dict[str, list[str]]:
    return {row.id: row.checks for row in traced(project).protocols["toy"]}


def test_a_comment_above_a_claim_makes_it_a_check(project: Path) -> None:
    """TOY-02 stands above the step of an action property; TOY-03 in what a model shows."""
    assert {
        "TOY-01": ["NoEarlyCommit"],
        "TOY-02": ["forgetful", "CommittedStays"],
        "TOY-03": ["pair"],
    } == checks(project)
    assert () == traced(project).problems


def test_a_comment_above_an_action_checks_nothing(project: Path) -> None:
    file = project / "spec/toy/ToyGroup.tla"
    file.write_text(file.read_text().replace("TOY-01: nobody", "Nobody"))
    table = traced(project)
    assert ["Toy!VoteReceived"] == table.protocols["toy"][0].specified
    assert (
        "spec/toy/README.md:5: nothing checks TOY-01 (the comment above Toy!VoteReceived checks nothing: it is no claim)",
    ) == table.problems


def test_a_test_is_a_check_wherever_it_mentions_the_id(project: Path) -> None:
    (project / "tests/toy/test_toy.py").write_text(
        '"""About TOY-03."""\n\n\n'
        'def test_commit() -> None:\n    """TOY-01"""\n\n\n'
        "# TOY-02: after a vote\n@mark\ndef test_stay() -> None:\n    ...\n\n\n"
        "def test_lines() -> None:\n    vote()  # TOY-02\n"
    )
    found = checks(project)
    assert "tests/toy/test_toy.py::test_commit" in found["TOY-01"]
    assert ["tests/toy/test_toy.py::test_stay", "tests/toy/test_toy.py::test_lines"] == found["TOY-02"][2:]
    assert "tests/toy/test_toy.py" in found["TOY-03"]


def test_a_scenario_is_a_check_of_what_it_cites(project: Path) -> None:
    (project / "conformance/scenarios/toy/losses.yaml").write_text("scenario: losses (TOY-03)\n")
    assert "conformance/scenarios/toy/losses.yaml" in checks(project)["TOY-03"]


@pytest.mark.parametrize(
    "name", ["NoEarlyCommit", "lossy", "losses", "test_it", "tests/toy/test_it.py::test_it"]
)
def test_a_row_may_cite_what_there_is(project: Path, name: str) -> None:
    (project / "conformance/scenarios/toy/losses.yaml").write_text("scenario: losses\n")
    (project / "tests/toy/test_it.py").write_text("def test_it() -> None: ...\n")
    readme = project / "spec/toy/README.md"
    readme.write_text(README.replace("early | |", f"early | `{name}` |"))
    assert () == traced(project).problems
    assert 2 >= len(checks(project)["TOY-01"])


def test_a_row_that_cites_what_there_is_not_is_a_problem(project: Path) -> None:
    readme = project / "spec/toy/README.md"
    readme.write_text(README.replace("`forgetful`", "`forgotten`"))
    assert ("spec/toy/README.md:6: no claim, model, test or scenario is called forgotten",) == traced(
        project
    ).problems


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        ("spec/toy/More.tla", "---- MODULE More ----\n\\* TOY-77\n====\n", "spec/toy/More.tla:2"),
        ("spec/common/More.tla", "---- MODULE More ----\n\\* TOY-77\n====\n", "spec/common/More.tla:2"),
        ("tests/toy/test_more.py", "# TOY-77\n", "tests/toy/test_more.py:1"),
        ("conformance/scenarios/toy/more.yaml", "a: b\nc: TOY-77\n", "conformance/scenarios/toy/more.yaml:2"),
    ],
)
def test_an_id_without_a_row_is_a_problem(project: Path, file: str, text: str, place: str) -> None:
    (project / file).write_text(text)
    assert (f"{place}: TOY-77 has no row in any spec/*/README.md",) == traced(project).problems


def test_an_erratum_is_no_requirement(project: Path) -> None:
    """TOY-91 is the ID of a flaw: tests may mention it."""
    (project / "tests/toy/test_more.py").write_text("# TOY-91, UTF-16 and SHA-256\n")
    assert () == traced(project).problems


def test_a_second_row_for_an_id_is_a_problem(project: Path) -> None:
    readme = project / "spec/toy/README.md"
    readme.write_text(README.replace("`TOY-03` |", "TOY-02 |"))
    assert (
        "spec/toy/README.md:7: TOY-02 has a row already, at spec/toy/README.md:6" in traced(project).problems
    )


def test_a_protocol_without_requirements_is_a_problem(project: Path) -> None:
    readme = project / "spec/toy/README.md"
    readme.write_text("# Toy\n")
    assert "spec/toy/README.md:1: no table with IDs, so toy has no requirements" in traced(project).problems
    readme.unlink()
    assert "spec/toy/README.md:1: there is none, so toy has no requirements" in traced(project).problems


def test_the_page_keeps_the_rows_in_order(project: Path) -> None:
    lines = page(traced(project)).splitlines()
    assert "| TOY-01 | nobody commits early | `Toy!VoteReceived` | `NoEarlyCommit` |" in lines
    assert "| TOY-03 | votes \\| losses | - | `pair` |" == lines[-1]
