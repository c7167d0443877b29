"""requirements: tags are found where they stand, and every row, ID and cited name is accounted for."""

import shutil
from pathlib import Path

import pytest

from groupcomm_conformance.documents.notes import headings
from groupcomm_conformance.documents.requirements import Table, counts, page, trace
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.models.manifest import find_root, load

DATA = Path(__file__).parent / "data"
README = """\
# Toy

| ID | requirement | checked by |
| --- | --- | --- |
| TOY-01 | no member commits early | |
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


def nothing(line: int, identifier: str, why: str) -> str:
    remedy = "name a claim that is violated, a witness or a test"
    return f"spec/toy/README.md:{line}: nothing checks {identifier} ({why}): {remedy}"


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert 1 == text.count(old), old
    file.write_text(text.replace(old, new))


def checks(project: Path) -> dict[str, list[str]]:
    return {row.id: row.checks for row in traced(project).protocols["toy"]}


def test_a_comment_above_a_claim_makes_it_a_check(project: Path) -> None:
    """TOY-02 stands above the step of an action property, TOY-03 above a witness."""
    assert {"TOY-01": ["NoEarlyCommit"], "TOY-02": ["forgetful", "CommittedStays"], "TOY-03": ["SomeCommit"]} == checks(
        project
    )
    assert () == traced(project).problems


def test_a_comment_above_an_action_checks_nothing(project: Path) -> None:
    file = project / "spec/toy/ToyGroup.tla"
    file.write_text(file.read_text().replace("TOY-01: no member", "No member"))
    table = traced(project)
    assert ["Toy!VoteReceived"] == table.protocols["toy"][0].specified
    assert (
        nothing(5, "TOY-01", "the comment above Toy!VoteReceived checks nothing: it is no claim"),
    ) == table.problems


def test_a_model_that_holds_checks_nothing(project: Path) -> None:
    """It would hold as well if no member did what the requirement asks."""
    edit(project / "spec/toy/ToyGroup.tla", "TOY-03", "Votes")
    table = traced(project)
    assert ["pair"] == table.protocols["toy"][2].holding
    assert (nothing(7, "TOY-03", "pair is a model that holds, which checks nothing"),) == table.problems


def test_a_model_that_holds_may_be_named_beside_a_check(project: Path) -> None:
    edit(project / "spec/toy/README.md", "early | |", "early | `pair`, `hasty` |")
    assert () == traced(project).problems
    assert (
        "| TOY-01 | no member commits early | `Toy!VoteReceived` | `hasty`, `NoEarlyCommit` (holds in `pair`) |"
        in page(project, traced(project))
    )


def test_a_claim_that_never_falls_checks_nothing(project: Path) -> None:
    """Neither where the row names it, nor where its comment cites the row."""
    edit(
        project / "spec/toy/models.yaml",
        "invariants: [TypeOK, NoEarlyCommit]",
        "invariants: [TypeOK, NoEarlyCommit, AllCommit]",
    )
    edit(project / "spec/toy/ToyGroup.tla", "AllCommit ==", "\\* TOY-03\nAllCommit ==")
    edit(project / "spec/toy/ToyGroup.tla", "\\* TOY-03\nSomeCommit", "SomeCommit")
    edit(project / "spec/toy/README.md", "losses | |", "losses | `AllCommit` |")
    assert (
        nothing(7, "TOY-03", "AllCommit is violated by no ablation; pair is a model that holds, which checks nothing"),
    ) == traced(project).problems


def test_a_test_is_a_check_where_a_function_of_it_cites_the_id(project: Path) -> None:
    (project / "tests/toy/test_toy.py").write_text(
        '"""About TOY-03."""\n\n\n'
        'def test_commit() -> None:\n    """TOY-01"""\n    assert commit()\n\n\n'
        "# TOY-02: after a vote\n@mark\ndef test_stay() -> None:\n    stays()\n\n\n"
        "def test_lines() -> None:\n    with pytest.raises(Error):  # TOY-02\n        vote()\n\n\n"
        "def stays() -> None:\n    assert vote() == 1\n"
    )
    found = checks(project)
    assert "tests/toy/test_toy.py::test_commit" in found["TOY-01"]
    assert ["tests/toy/test_toy.py::test_stay", "tests/toy/test_toy.py::test_lines"] == found["TOY-02"][2:]
    assert ["SomeCommit"] == found["TOY-03"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def test_it() -> None:\n    vote()  # TOY-01\n", "expects nothing"),
        ("def test_it() -> None:\n    assert True  # TOY-01\n", "expects nothing"),
        ("def test_it() -> None:\n    step()  # TOY-01\n\n\ndef step() -> None:\n    step()\n", "expects nothing"),
        ("class Toys:\n    def test_it(self) -> None:\n        assert vote()  # TOY-01\n", "is no test that pytest collects"),
        ("def test_it() -> None:\n    assert a  # TOY-01\n\n\ndef test_it() -> None:\n    ...\n",
         "is no test that pytest collects"),
        ("@pytest.mark.skip\ndef test_it() -> None:\n    assert vote()  # TOY-01\n", "is skipped"),
    ],
)  # fmt: skip
def test_a_mention_in_what_tests_nothing_is_no_check(project: Path, text: str, why: str) -> None:
    edit(project / "spec/toy/ToyGroup.tla", "TOY-01: no member", "No member")
    edit(project / "spec/toy/Toy.tla", "TOY-01, ", "")
    (project / "tests/toy/test_it.py").write_text(text)
    assert (nothing(5, "TOY-01", f"tests/toy/test_it.py::test_it {why}"),) == traced(project).problems


def test_a_scenario_is_a_check_of_what_it_requires(project: Path) -> None:
    """An ID in its comments is no check."""
    scenario = project / "conformance/scenarios/toy/losses.yaml"
    scenario.write_text("# TOY-01\nscenario: losses\nrequirements: [TOY-03]\n")
    assert "conformance/scenarios/toy/losses.yaml" in checks(project)["TOY-03"]
    assert ["NoEarlyCommit"] == checks(project)["TOY-01"]


@pytest.mark.parametrize(
    "name", ["NoEarlyCommit", "hasty", "SomeCommit", "losses", "test_it", "tests/toy/test_it.py::test_it"]
)
def test_a_row_may_cite_what_there_is(project: Path, name: str) -> None:
    (project / "conformance/scenarios/toy/losses.yaml").write_text("requirements: [TOY-01]\n")
    (project / "tests/toy/test_it.py").write_text("def test_it() -> None:\n    assert vote()  # TOY-01\n")
    edit(project / "spec/toy/README.md", "early | |", f"early | `{name}` |")
    assert () == traced(project).problems
    assert 3 <= len(checks(project)["TOY-01"]) <= 4


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("forgotten", "no claim, witness, model, test or scenario is called forgotten"),
        ("test_toy.py", "no claim, witness, model, test or scenario is called test_toy.py"),
        ("test_other", "tests/toy/test_toy.py::test_other does not cite TOY-01"),
        ("losses", "conformance/scenarios/toy/losses.yaml does not cite TOY-01"),
    ],
)
def test_a_row_that_cites_what_does_not_speak_of_it_is_a_problem(project: Path, name: str, problem: str) -> None:
    (project / "tests/toy/test_toy.py").write_text("# TOY-01\n\n\ndef test_other() -> None:\n    assert vote()\n")
    (project / "conformance/scenarios/toy/losses.yaml").write_text("# TOY-01\nrequirements: [TOY-02]\n")
    edit(project / "spec/toy/README.md", "early | |", f"early | `{name}` |")
    assert (f"spec/toy/README.md:5: {problem}",) == traced(project).problems


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
    assert (f"{place}: TOY-77 has no row in any spec/*/README.md or requirements.md",) == traced(project).problems


def test_an_erratum_is_no_requirement(project: Path) -> None:
    """TOY-91 is the ID of a flaw: tests may mention it."""
    (project / "tests/toy/test_more.py").write_text("# TOY-91, UTF-16 and SHA-256\n")
    assert () == traced(project).problems


def test_a_row_that_scenarios_alone_check_is_a_problem(project: Path) -> None:
    edit(project / "spec/toy/ToyGroup.tla", "TOY-03", "Votes")
    (project / "conformance/scenarios/toy/losses.yaml").write_text("scenario: losses\nrequirements: [TOY-03]\n")
    table = traced(project)
    says = "only scenarios check TOY-03: name a claim that is violated, a witness or a test"
    assert (f"spec/toy/README.md:7: {says}",) == table.problems
    assert "2 checked, 1 nominal" in counts(table)


def test_a_second_row_for_an_id_is_a_problem(project: Path) -> None:
    readme = project / "spec/toy/README.md"
    readme.write_text(README.replace("`TOY-03` |", "TOY-02 |"))
    assert "spec/toy/README.md:7: TOY-02 has a row already, at spec/toy/README.md:6" in traced(project).problems


def test_two_protocols_may_have_one_requirement_and_each_checks_its_own(project: Path) -> None:
    shutil.copytree(project / "spec/toy", project / "spec/twin")
    edit(project / "spec/twin/models.yaml", "protocol: toy", "protocol: twin")
    edit(project / "spec/twin/ToyGroup.tla", "TOY-01: no member", "No member")
    table = trace(project, [load(project, "toy"), load(project, "twin")])
    assert ["NoEarlyCommit"] == table.protocols["toy"][0].checks
    assert [] == table.protocols["twin"][0].checks
    assert 1 == sum("nothing checks TOY-01" in problem for problem in table.problems)


def test_a_protocol_without_requirements_is_a_problem(project: Path) -> None:
    readme = project / "spec/toy/README.md"
    readme.write_text("# Toy\n")
    assert "spec/toy/README.md:1: no table with IDs, so toy has no requirements" in traced(project).problems
    readme.unlink()
    assert "spec/toy/README.md:1: there is none, so toy has no requirements" in traced(project).problems


def test_the_page_keeps_the_rows_in_order(project: Path) -> None:
    lines = page(project, traced(project)).splitlines()
    assert "| TOY-01 | no member commits early | `Toy!VoteReceived` | `NoEarlyCommit` |" in lines
    assert (
        "| TOY-03 | votes \\| losses | - | `SomeCommit` (holds in `pair`) |"
        == lines[lines.index("## Headings that no protocol implements") - 2]
    )


# The headings of the notes


def test_a_heading_is_a_protocol_s_or_absent_for_a_reason(project: Path) -> None:
    """The page begins with what a prefix stands for, and ends with what no protocol implements."""
    lines = page(project, traced(project)).splitlines()
    assert "| TOY | toys | Committing | [toy](#toy) |" in lines[: lines.index("## toy")]
    assert "| GAM | toys | Games | Not specified yet. |" == lines[-1]


def test_a_check_in_a_file_is_a_link_to_it(project: Path) -> None:
    (project / "tests/toy/test_toy.py").write_text('def test_it() -> None:\n    """TOY-01"""\n    assert commit()\n')
    assert "[`test_it`](../tests/toy/test_toy.py)" in page(project, traced(project))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "prefix: TOY",
            "prefix: TOI",
            "spec/toy/README.md:5: no heading in spec/common/notes.yaml has the prefix TOY: add it",
        ),
        (
            "absent: Not specified yet.",
            "protocols: [toy]",
            "spec/common/notes.yaml:3: toy has no row with an ID GAM-...",
        ),
        (
            "protocols: [toy]",
            "absent: No user wants it.",
            "spec/toy/README.md:5: spec/common/notes.yaml:2 does not name toy: add it to the protocols of TOY",
        ),
    ],
    ids=["a prefix without a heading", "a protocol without rows", "a row of another protocol"],
)
def test_rows_and_headings_are_the_same(project: Path, old: str, new: str, says: str) -> None:
    edit(project / "spec/common/notes.yaml", old, new)
    assert says in traced(project).problems


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("absent: Not specified yet.", "protocols: [toy], absent: why"),
        (", absent: Not specified yet.", ""),
        ("absent: Not specified yet.", 'absent: " "'),
        ("prefix: GAM", "prefix: TOY"),
    ],
    ids=["both", "neither", "no reason", "twice"],
)
def test_a_list_of_headings_that_says_nothing_is_refused(project: Path, old: str, new: str) -> None:
    edit(project / "spec/common/notes.yaml", old, new)
    with pytest.raises(FileError, match=r"notes.yaml:[23]: expected (either|text|a prefix)"):
        traced(project)


NOTES = {
    "pbcast DESIGN": (
        "Digest returned to client",
        "'Highest delivered' vs. 'highest deliverable'",
        "Local messages",
        "Garbage collection lag-behind",
        "GET_DIGEST vs. GET_DIGEST_STATE event",
        "Handling of received gossips (PBCAST.handleGossip() method)",
        "Dynamic adjustment of gossip_interval in PBCAST",
        "Tracing",
        "Membership Updating for JOIN/LEAVE requests",
        "Last Message dropped in NAKACK",
        "MERGE2 protocol",
        "pbcast.STABLE protocol",
    ),
    "FLUSH": (
        "Overview",
        "When is it needed ?",
        "Design",
        "FLUSH protocol (state transfer)",
        "FLUSH protocol (view installation for join/crash/leave)",
        "Crash handling during FLUSH",
        "Notes",
        "FLUSH on view change",
        "FLUSH with join & state transfer",
        "Design change: flushing and block() / unblock() callbacks",
        "Issues",
    ),
    "SEQUENCER": ("the whole note",),
    "FILE_PING": ("the whole note",),
    "UNICAST": ("the whole note",),
    "Large messages in large clusters": (
        "Requirements",
        "Goals",
        "Issues with existing protocols",
        "Design",
        "Flow control",
    ),
}
"""The headings of the design notes, copied from them by hand."""


@pytest.mark.parametrize("note", NOTES)
def test_each_heading_of_each_note_has_a_protocol_or_a_reason(note: str) -> None:
    """A heading that is not listed would be silent: whoever lists one says who has it, or why none has."""
    listed = [
        part.strip() for each in headings(find_root(Path())) if each.note == note for part in each.heading.split(";")
    ]
    assert sorted(NOTES[note]) == sorted(listed)


# Rows without a check, and counts


@pytest.mark.parametrize("reason", ["reading: a slip of the pen", "absent: no user wants `NoEarlyCommit`"])
def test_a_reason_stands_in_place_of_a_check(project: Path, reason: str) -> None:
    """Names in a reason are no checks."""
    edit(project / "spec/toy/README.md", "losses | |", f"losses | |\n| TOY-04 | it is so | {reason} |")
    table = traced(project)
    assert () == table.problems
    assert f"| TOY-04 | it is so | - | {reason} |" in page(project, table)


def test_a_row_has_a_check_or_a_reason_and_not_both(project: Path) -> None:
    edit(project / "spec/toy/README.md", "early | |", "early | absent: why |")
    assert ("spec/toy/README.md:5: TOY-01 has a reason, and NoEarlyCommit checks it: remove one of the two",) == traced(
        project
    ).problems


def test_requirements_are_counted(project: Path) -> None:
    edit(project / "spec/common/notes.yaml", "absent: Not specified yet.", "absent: Not here., numbers: 2")
    rows = "losses | |\n| TOY-04 | a | reading: b |\n| TOY-05 | c | |"
    edit(project / "spec/toy/README.md", "losses | |", rows)
    expected = "7 requirements: 3 checked, 0 nominal, 1 readings, 2 absent for a reason, 1 without check or reason"
    assert expected == counts(traced(project))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("numbers: 4", "TOY-04 has no row in any spec/*/requirements.md, nor a reason"),
        ("reasons: {TOY-03: why}", "TOY-03 has a reason here, and a row: remove one of the two"),
        ("reasons: {GAM-01: why}", "GAM-01 is not of TOY"),
    ],
    ids=["silent", "both", "another heading's"],
)
def test_each_number_of_a_heading_has_a_row_or_a_reason(project: Path, more: str, says: str) -> None:
    edit(project / "spec/common/notes.yaml", "protocols: [toy]", f"protocols: [toy], {more}")
    assert (f"spec/common/notes.yaml:2: {says}",) == traced(project).problems


def test_a_number_with_a_reason_is_not_missing(project: Path) -> None:
    reasons = "protocols: [toy], numbers: 4, reasons: {TOY-04: It is history.}"
    edit(project / "spec/common/notes.yaml", "protocols: [toy]", reasons)
    table = traced(project)
    assert () == table.problems
    assert "| TOY-04 | toys | | It is history. |" in page(project, table).splitlines()
