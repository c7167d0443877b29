"""report: the command, and JUnit XML."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

from groupcomm import stable
from groupcomm_commands.main import main
from groupcomm_conformance.models.checking import Cache
from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.report.findings import Findings, gather
from groupcomm_conformance.report.junit import document
from groupcomm_conformance.scenarios import checking
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def project(checked_toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The toy protocol with all of its results, as the current folder; nothing of it conforms."""
    shutil.copytree(checked_toy, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    edit(tmp_path / "spec/toy/models.yaml", "  conform: true\n", "")
    return tmp_path


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def cases(file: Path) -> Iterator[tuple[str, str, ET.Element | None]]:
    """Each test case's class, name and what is inside of it."""
    for case in ET.parse(file).iter("testcase"):  # noqa: S314 - we wrote it
        yield case.attrib["classname"], case.attrib["name"], next(iter(case), None)


def told(file: Path, suite: str, name: str) -> tuple[str, str, str]:
    """The content of a test case: tag, message, text."""
    (inner,) = (inner for s, n, inner in cases(file) if (s, n) == (suite, name))
    return ("", "", "") if inner is None else (inner.tag, inner.attrib["message"], inner.text or "")


# The command


def test_report_writes_a_page_and_junit_xml(project: Path, capsys: Captured) -> None:
    assert 0 == main(["report"])
    out, err = capsys.readouterr()
    assert "toy: ok: 6 of 6 models as expected, 7 of 7 gates, 0 of 0 local steps, 0 of 0 scenarios" in out
    folder = project / "build" / "report"
    assert ["index.html", "junit.xml", "toy.html"] == sorted(path.name for path in folder.iterdir())
    assert f"{folder / 'index.html'} written" in out
    assert "toy lossy: holds, 75 states, cached" in err.splitlines()
    page = (folder / "toy.html").read_text()
    assert "<code>NoEarlyCommit</code> is false: No member commits before all have voted.</p>" in page
    assert "<li>for m = A, n = B: local[n].voted</li>" in page
    assert '<td data-label="harm">committed too early</td>' in page


def test_report_takes_no_second_way_to_its_results(project: Path) -> None:
    """They are those of the cache, whatever these say."""
    main(["report", "--out", "first"])
    toy = load(project, "toy")
    cache = Cache.of(project)
    ((found,),) = [gather(project)]
    for checked in found.checked.values():
        for key in cache.folder.iterdir():
            stored = cache.load(key.name)
            if stored == checked:
                cache.store(key.name, evolve(stored, seconds=4321.0))
    main(["report", "--out", "second"])
    assert toy.models
    assert "72 min 1 s" not in (project / "first" / "toy.html").read_text()
    assert len(toy.models) == (project / "second" / "toy.html").read_text().count("72 min 1 s")


def test_report_is_json_for_programs(project: Path, capsys: Captured) -> None:
    assert 0 == main(["report", "toy", "--out", "there/below", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert ("there/below/index.html", "there/below/junit.xml") == (found["html"], found["junit"])
    assert (project / "there/below/junit.xml").is_file()
    counts = {"models": 6, "models_ok": 6, "gates": 7, "gates_ok": 7, "gates_not_judged": 0, "scenarios": 0}
    (toy,) = found["protocols"]
    assert {"protocol": "toy", "ok": True} | counts == {key: toy[key] for key in ("protocol", "ok", *counts)}


def test_report_of_a_tier_does_not_judge_what_takes_all(project: Path) -> None:
    assert 0 == main(["report", "--tier", "smoke"])
    junit = project / "build/report/junit.xml"
    assert ["pair", "hasty"] == [name for suite, name, _ in cases(junit) if suite == "toy.models"]
    wanted = "not judged: it takes all models of the tier full"
    assert ("skipped", wanted, "") == told(junit, "toy.gates", "kills")
    assert ("", "", "") == told(junit, "toy.gates", "controls")
    page = (project / "build/report/toy.html").read_text()
    assert "was not run here" in page
    assert "never taken" not in page


@pytest.mark.parametrize(
    ("arguments", "told_of"),
    [
        (["report", "raft"], 'no protocol is called "raft"; there is toy'),
        (["report", "--tier", "huge"], "huge is none of smoke, full, deep"),
        (
            ["report", "--out", "spec/toy/models.yaml"],
            "spec/toy/models.yaml: it is a file, not a folder; name another place with --out",
        ),
    ],
)
def test_wrong_usage_is_told_and_nothing_written(
    project: Path, capsys: Captured, arguments: list[str], told_of: str
) -> None:
    assert 2 == main(arguments)
    assert told_of in re.sub(r"[\s│]+", " ", capsys.readouterr().err)
    assert not (project / "build").exists()


def test_the_page_fetches_nothing(made: tuple[Path, int]) -> None:
    folder = made[0] / "build/report"
    page = "".join((folder / name).read_text() for name in ("index.html", "stable.html"))
    points = re.findall(r"(?:src|href|action)=.([^\"' >]*)", page)
    assert points
    here = ("#", "data:,", "index.html", "stable.html")
    assert [] == [point for point in points if not point.startswith(here)]
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest", page)


# Differences


def test_a_count_that_differs_is_a_failure(project: Path) -> None:
    edit(project / "spec/toy/recorded.yaml", "distinct: 75", "distinct: 76")
    assert 1 == main(["report"])
    junit = project / "build/report/junit.xml"
    wanted = "distinct: expected 76, came 75"
    assert ("failure", wanted, wanted) == told(junit, "toy.models", "lossy")
    top = ET.parse(junit).getroot()  # noqa: S314
    assert ("13", "1", "0") == (top.get("tests"), top.get("failures"), top.get("skipped"))
    assert f"<p>{wanted}</p>" in (project / "build/report/toy.html").read_text()


def test_a_violation_that_was_not_expected_comes_with_its_chart(project: Path) -> None:
    edit(project / "spec/toy/Toy.tla", "(WaitForAll => heard = Member)", "TRUE")
    assert 1 == main(["report", "--tier", "smoke"])
    tag, message, text = told(project / "build/report/junit.xml", "toy.models", "pair")
    assert ("failure", "expected holds, came violates: NoEarlyCommit") == (tag, message)
    assert "A.committed FALSE -> TRUE" in text
    page = (project / "build/report/toy.html").read_text()
    assert 'id="toy/pair/3"' in page
    assert "Expected: holds." in page
    assert "does not hold: violates: NoEarlyCommit" in page


def test_a_gate_that_fails_is_a_failure(made: tuple[Path, int]) -> None:
    junit = made[0] / "build/report/junit.xml"
    tag, _, text = told(junit, "stable.gates", "kills")
    assert "failure" == tag
    assert "no ablation refutes PurgeWithinPromise" in text.splitlines()


def test_verdicts_and_scenarios_have_their_cases(made: tuple[Path, int]) -> None:
    junit = made[0] / "build/report/junit.xml"
    assert ("", "", "") == told(junit, "stable.conform", "pair")
    files = {path.name for path in (made[0] / "conformance/scenarios/stable").iterdir()}
    assert files == {Path(name).name for suite, name, _ in cases(junit) if suite == "stable.scenarios"}


def test_an_implementation_that_does_something_else_fails_with_the_way_to_see_it(
    made: tuple[Path, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that never announces anything."""
    right = stable.step

    def silent(config: stable.Config, state: stable.State, event: stable.Event) -> object:
        after, effects = right(config, state, event)
        return after, () if isinstance(event, stable.StabilityTimeout) else effects

    monkeypatch.setattr(stable, "step", silent)
    monkeypatch.chdir(made[0])
    assert 1 == main(["report", "--tier", "smoke", "--out", str(tmp_path)])
    tag, _, text = told(tmp_path / "junit.xml", "stable.conform", "pair")
    assert "failure" == tag
    assert "FAILS stable pair: wrong_effects: StabilityTimeout, 4 rows, such as " in text
    assert "again    groupcomm conform stable --model pair --row " in text
    page = (tmp_path / "stable.html").read_text()
    assert "FAILS stable pair: wrong_effects: StabilityTimeout, 4 rows, such as " in page
    assert '<span class="verdict bad">4 wrong effects</span>' in page


def test_a_protocol_without_an_implementation_does_not_conform(
    checked_toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(checked_toy, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    assert 1 == main(["report", "--tier", "smoke"])
    tag, message, _ = told(tmp_path / "build/report/junit.xml", "toy.conform", "pair")
    assert "failure" == tag
    assert message.startswith("FAILS toy pair: protocol toy has no implementation")
    assert "protocol toy has no implementation" in (tmp_path / "build/report/toy.html").read_text()


def test_a_scenario_that_fails_differs_and_one_that_cannot_be_read_is_bad_input(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = gather(project)
    way = (State(1, "Init", Fn({"n": 0})), State(2, "Grow", Fn({"n": 1})))
    failed = checking.Result("a.yaml", "fail", "a story", ("TOY-01",), 7, "not so", states=way)
    unreadable = checking.Result("b.yaml", "unreadable", line=3, problem="expected a verb")
    results = {"a.yaml": failed, "b.yaml": unreadable}
    folder = project / "conformance" / "scenarios" / "toy"
    folder.mkdir(parents=True)
    monkeypatch.setattr(checking, "check", lambda _root, files, **_: [results[file.name] for file in files])
    (folder / "a.yaml").touch()
    assert found.ok
    assert 1 == main(["report", "--tier", "smoke"])
    junit = project / "build/report/junit.xml"
    (name,) = (name for suite, name, _ in cases(junit) if suite == "toy.scenarios")
    tag, problem, shown = told(junit, "toy.scenarios", name)
    assert ("failure", "a.yaml:7: not so") == (tag, problem)
    assert "  2  * Grow\n       n 0 -> 1" in shown
    assert "  2  * Grow\n       n 0 -&gt; 1</pre>" in (project / "build/report/toy.html").read_text()
    (folder / "b.yaml").touch()
    assert 2 == main(["report", "--tier", "smoke"])
    assert "b.yaml:3: expected a verb" in (project / "build/report/toy.html").read_text()


def test_what_xml_cannot_say_is_replaced(project: Path) -> None:
    (found,) = gather(project, tier="smoke")
    odd = checking.Result("a\x00.yaml", "fail", line=1, problem="a \x1b[1m]]> & <tag>\udc80")
    findings = Findings(found.manifest, {}, [], [odd])
    (failure,) = ET.fromstring(document([findings]).encode()).iter("failure")  # noqa: S314
    assert "a\ufffd.yaml:1: a \ufffd[1m]]> & <tag>\ufffd" == failure.text
