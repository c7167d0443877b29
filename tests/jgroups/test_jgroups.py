"""JGroups held against the reference: the files that say what is known of it, and the driver itself.

Tests that are marked `jgroups` need Maven, and what it fetches: `make jgroups-small` runs them, and a missing Maven
fails there.
"""

import shutil
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

from groupcomm_commands import jgroups
from groupcomm_commands.main import main
from groupcomm_conformance.documents import errata
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.models.manifest import find_root
from groupcomm_field.jgroups import differential, verdicts
from groupcomm_field.jgroups.differential import RUNS, Difference
from groupcomm_field.jgroups.group import Group, mutual
from groupcomm_field.jgroups.jvm import VERSIONS, Jvm, JvmError
from groupcomm_field.jgroups.schedules import SCHEDULES, Seen
from groupcomm_field.jgroups.sides import Ours
from groupcomm_simulator.oracle import Oracle
from groupcomm_simulator.setup import DATAGRAMS
from tests.cores import ALL

ROOT = find_root(Path(__file__).parent)
ERRATA = frozenset(erratum.id for _, _, erratum in errata.models(ALL.values()))
FILES = (verdicts.FILE, differential.FILE)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with copies of the two files, to be damaged."""
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def damage(project: Path, file: Path, old: str, new: str) -> None:
    text = (project / file).read_text(encoding="utf-8")
    assert old in text
    (project / file).write_text(text.replace(old, new, 1), encoding="utf-8")


def test_each_erratum_has_a_place_to_link_to() -> None:
    page = jgroups.page(ROOT)
    assert not [erratum for erratum in sorted(ERRATA) if f'<a id="{erratum.lower()}"></a>' not in page]


@pytest.mark.parametrize(
    ("old", "new", "complains"),
    [
        ("FLAW-69, FLAW-70", "FLAW-70", "a row for each erratum, also for FLAW-69"),
        ("- row: FLAW-66\n", "- row: FLAW-660\n", "not FLAW-660"),
        ("- row: FLAW-27/gap\n", "- row: FLAW-27/gip\n", "also for FLAW-27/gap"),
        ("- row: FLAW-32\n", "- row: FLAW-66\n", "each row once, not FLAW-66 again"),
        ("[repaired, repaired, present, present]", "[repaired, repaired, present]", "4 verdicts"),
        ("[repaired, repaired, present, present]", "[repaired, mended, present, present]", '"mended"'),
        ("[repaired, repaired, present, present]", "[undecided, repaired, present, present]", "a schedule decides it"),
        ("[repaired, repaired, present, present]", "[repaired, repaired, present, none]", "5.5.7"),
        ('versions: ["2.12.2", "3.6.20"', 'versions: ["3.6.20", "2.12.2"', "in this order"),
    ],
)
def test_a_table_with_a_hole_is_refused(project: Path, old: str, new: str, complains: str) -> None:
    damage(project, verdicts.FILE, old, new)
    with pytest.raises(FileError, match=r"verdicts\.yaml:[0-9]+") as error:
        verdicts.read(project, ERRATA)
    assert complains in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "complains"),
    [
        ("kind: order", "kind: ours", "none of ours is explained away"),
        ("class: departure", "class: fine", '"fine"'),
        ("run: merge", "run: merging", '"merging"'),
        ('["2.12.2"]', '["2.12.2", "2.12.2"]', "each version once"),
    ],
)
def test_an_explanation_that_says_nothing_is_refused(project: Path, old: str, new: str, complains: str) -> None:
    damage(project, differential.FILE, old, new)
    with pytest.raises(FileError) as error:
        differential.explained(project)
    assert complains in str(error.value)


def test_where_one_alone_reaches_all_each_is_in_one_view_with_its_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the picture of jgroups-raft's ELECTION2. Without reports of members that go on without this one it is not so."""

    def parted() -> Ours:
        ours = Ours(DATAGRAMS, Random(1))  # noqa: S311 - a seed
        for name in "ABCDE":
            ours.join(name)
            ours.rest()
        ours.cut(link for link in combinations("ABCDE", 2) if "C" not in link)
        return ours

    ours = parted()
    assert mutual(ours.views())
    assert 4 == len(set(ours.views().values()))
    ours.rest()
    assert ours.views() == dict.fromkeys("ABCDE", "ABCDE")
    monkeypatch.setattr(Oracle, "_excludes", lambda *_: False)
    assert not mutual(parted().views())


def test_nothing_to_judge_is_not_ok() -> None:
    assert main(["jgroups", "flush", "--version", "5.5.7"]) == 4


def test_without_maven_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("groupcomm_field.jgroups.jvm.shutil.which", lambda _name: None)
    monkeypatch.setattr("groupcomm_field.jgroups.jvm._OUTPUT", tmp_path)
    assert main(["jgroups", "FLAW-66", "--version", "5.5.7"]) == 3
    assert "apt-get install maven" in capsys.readouterr().err


# With JGroups


@pytest.fixture(scope="module", params=["5.5.7", "5.3.10"])
def jvm(request: pytest.FixtureRequest) -> Iterator[Jvm]:
    with Jvm(ROOT, VERSIONS[request.param]) as running:
        yield running


@pytest.mark.jgroups
def test_a_schedule_has_the_same_transcript_whenever_it_is_run(jvm: Jvm, monkeypatch: pytest.MonkeyPatch) -> None:
    groups: list[Group] = []
    made = Group.__init__

    def noted(group: Group, *given: object, **named: object) -> None:
        groups.append(group)
        made(group, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Group, "__init__", noted)
    for name in ("FLAW-66", "FLAW-73", "FLAW-30"):
        if not SCHEDULES[name].suits(jvm.version):
            continue
        groups.clear()
        seen = [SCHEDULES[name].run(jvm) for _ in range(6)]
        assert seen == [seen[0]] * len(seen)
        assert [group.log for group in groups] == [groups[0].log] * len(seen)


@pytest.mark.jgroups
def test_a_wait_ends_by_the_schedules_clock_and_by_no_other(jvm: Jvm) -> None:
    group = Group(jvm, 2, join=300)
    group.found("A")
    group.connect("B", "A")
    asked = len(group.flying("JOIN_REQ"))
    group.advance(299)
    assert len(group.flying("JOIN_REQ")) == asked
    group.advance(2)
    assert len(group.flying("JOIN_REQ")) == asked + 1


@pytest.mark.jgroups
def test_a_command_that_cannot_be_done_is_an_error_and_the_next_one_works(jvm: Jvm) -> None:
    group = Group(jvm, 2)
    with pytest.raises(JvmError, match="no member is called Z"):
        group.do("connect", member="Z")
    with pytest.raises(JvmError, match="no command is called fly"):
        group.do("fly", member="A")
    group.found("AB")
    assert group.view("A") == group.view("B")


@pytest.mark.jgroups
def test_an_option_that_the_version_does_not_have_is_refused(jvm: Jvm) -> None:
    options = {"GMS.no_such_option": 1}
    with pytest.raises(JvmError, match="has no field no_such_option"):
        jvm.ask({"do": "group", "members": 1, "layers": ["GMS", "NAKACK2"], "options": options})


@pytest.mark.jgroups
def test_a_verdict_that_a_run_contradicts_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    healthy = SCHEDULES["FLAW-66"].__class__("FLAW-66", "", lambda _jvm: Seen("absent", "all is well"))
    monkeypatch.setitem(SCHEDULES, "FLAW-66", healthy)
    assert main(["jgroups", "FLAW-66", "--version", "5.5.7"]) == 1
    assert "verdicts.yaml says present" in capsys.readouterr().out


@pytest.mark.jgroups
@pytest.mark.parametrize("kind", ["something new", "ours"])
def test_a_difference_that_nobody_has_classified_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    odd = differential.Run("merge", "", lambda _jvm, _random: [Difference(kind, "odd")])
    monkeypatch.setitem(RUNS, "merge", odd)
    assert main(["jgroups", "merge", "--version", "5.5.7", "--schedules", "1"]) == 1
    assert "FAILS" in capsys.readouterr().out


@pytest.mark.jgroups
def test_a_lost_message_that_nobody_sends_again_is_a_difference(jvm: Jvm, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison of deliveries sees a stack that never retransmits, as if all had been purged."""
    receive = Group.receive

    def never_again(group: Group, flight: object) -> None:
        if "XMIT_REQ" not in flight.headers:  # type: ignore[attr-defined]
            receive(group, flight)  # type: ignore[arg-type]
        else:
            group.take([flight])  # type: ignore[list-item]

    monkeypatch.setattr(Group, "receive", never_again)
    kinds = {each.kind for seed in range(4) for each in RUNS["stable"].schedule(jvm, Random(seed))}  # noqa: S311 - dice
    assert kinds == {"purged"}
