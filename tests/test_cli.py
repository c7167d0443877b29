"""cli: what a person and a program see of `groupcomm`, and the exit codes."""

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest

from groupcomm_commands import check, console, entry
from groupcomm_commands.exits import MEANING
from groupcomm_commands.main import COMMANDS, main
from groupcomm_conformance.files import store
from groupcomm_conformance.models.checking import CheckedModel
from groupcomm_conformance.models.manifest import Model, load
from groupcomm_conformance.tlc.errors import JVMKilled

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "commands.md"


@pytest.fixture
def project(checked_toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose cache knows all of its models, as the current folder."""
    shutil.copytree(checked_toy, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


Captured = pytest.CaptureFixture[str]


# check


@pytest.mark.usefixtures("project")
def test_check_shows_a_table_the_kill_matrix_and_the_gates(capsys: Captured) -> None:
    assert 0 == main(["check", "--cached"])
    out, err = capsys.readouterr()
    rows = [line.split() for line in out.splitlines()]
    assert ["pair", "smoke", "holds", "as", "expected", "25", "170", "7", "cached", "ok"] in rows
    assert ["forgetful", ".xx"] in rows
    assert ["gate", "kills:", "ok:", "each", "of", "4", "claims", "is", "violated", "by", "some", "ablation"] in rows
    assert "toy pair: holds, 25 states, cached" in err.splitlines()
    count = sum(line.endswith(", cached") for line in err.splitlines())
    assert (
        f"{count} of {count} results are those of earlier runs of TLC, with the same specification, model, engine "
        "and jar: check --fresh takes none" == out.splitlines()[-1]
    )


@pytest.mark.usefixtures("project")
def test_check_writes_json_for_programs(capsys: Captured) -> None:
    """Nothing but JSON goes to stdout."""
    assert 0 == main(["check", "toy", "--cached", "--json"])
    told = json.loads(capsys.readouterr().out)
    found = told["models"]
    assert ["pair", "hasty", "forgetful", "lossy", "settles_live", "lossy_live"] == [m["model"] for m in found]
    pair, hasty, *_ = found
    wanted: dict[str, object] = {
        "protocol": "toy",
        "model": "pair",
        "tier": "smoke",
        "expected": "holds",
        "outcome": "holds",
    }
    wanted |= {"violated": None, "distinct": 25, "transitions": 170, "depth": 7, "ok": True}
    assert wanted == {key: pair[key] for key in wanted}
    assert pair["seconds"] > 0
    assert ["actions", "outcomes", "witnesses", "kills", "conjuncts", "claims", "controls"] == [
        g["gate"] for g in told["gates"] if g["ok"]
    ]
    assert [] == told["stale"]
    assert ("violates: NoEarlyCommit", "violates: NoEarlyCommit", "NoEarlyCommit", 3) == (
        *(hasty["expected"], hasty["outcome"], hasty["violated"]),
        hasty["trace_length"],
    )


@pytest.mark.usefixtures("project")
def test_check_of_a_tier_runs_its_models_only(capsys: Captured) -> None:
    assert 0 == main(["check", "--tier", "smoke", "--cached", "--json"])
    out, err = capsys.readouterr()
    assert ["pair", "hasty"] == [model["model"] for model in json.loads(out)["models"]]
    assert "toy gate kills: -: not judged: it takes all models of the tier full" in err.splitlines()


def test_check_names_deep_records_that_are_stale_and_fails_for_none(project: Path, capsys: Captured) -> None:
    """A deep model is not run by default; that its record is believed must be known."""
    text = (project / "spec/toy/models.yaml").read_text()
    deep = text[text.index("- name: lossy\n") : text.index("- name: settles_live")]
    deep = deep.replace("name: lossy", "name: long").replace("tier: full", "tier: deep")
    (project / "spec/toy/models.yaml").write_text(text + deep)
    with (project / "spec/toy/recorded.yaml").open("a") as recorded:
        recorded.write('long: {distinct: 75, transitions: 520, depth: 8, digest: "0123456789abcdef"}\n')
    assert 0 == main(["check", "--tier", "smoke", "--cached", "--json"])
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert [{"protocol": "toy", "model": "long"}] == told["stale"]
    assert ["pair", "hasty"] == [each["model"] for each in told["models"]]
    assert (
        "STALE toy: not searched since the specification changed: long (models of the tier deep. You need do nothing: "
        in err
    )
    assert 0 == main(["check", "--model", "long", "--record", "--cached"])
    assert "recorded toy long: digest 0123456789abcdef -> " in capsys.readouterr().err
    assert 0 == main(["check", "--tier", "smoke", "--cached"])
    assert "STALE" not in capsys.readouterr().out


def test_check_writes_cfg_files_for_an_editor(project: Path, capsys: Captured) -> None:
    assert 0 == main(["check", "--model", "hasty", "--write-cfg", "cfg"])
    assert "WaitForAll = FALSE" in (project / "cfg/toy/hasty.cfg").read_text()
    assert "cfg/toy/hasty.cfg written, for the module MCToy" in capsys.readouterr().out


def test_check_names_the_count_that_differs(project: Path, capsys: Captured) -> None:
    edit(project / "spec/toy/recorded.yaml", "distinct: 25", "distinct: 26")
    assert 1 == main(["check", "--cached"])
    assert "DIFFERS toy pair: distinct: expected 26, came 25" in capsys.readouterr().out.splitlines()


def test_check_draws_a_violation_that_was_not_expected(project: Path, capsys: Captured) -> None:
    edit(project / "spec/toy/Toy.tla", "(WaitForAll => heard = Member)", "WaitForAll = WaitForAll")
    assert 1 == main(["check", "toy", "--model", "pair"])
    out = capsys.readouterr().out
    assert "DIFFERS toy pair: expected holds, came violates: NoEarlyCommit" in out
    assert "A.committed FALSE -> TRUE" in out


def test_check_fails_with_a_gate_although_each_model_is_as_expected(project: Path, capsys: Captured) -> None:
    edit(project / "spec/toy/models.yaml", "OneCommitsFirst: [pair, lossy]", "OneCommitsFirst: pair")
    text = (project / "spec/toy/models.yaml").read_text()
    start, end = text.index("- name: lossy\n"), text.index("- name: settles_live")
    (project / "spec/toy/models.yaml").write_text(text[:start] + text[end:])
    edit(project / "spec/toy/errata.yaml", "[pair, lossy]", "[pair]")
    edit(project / "spec/toy/recorded.yaml", "lossy: {distinct: 75, transitions: 520, depth: 8}\n", "")
    assert 1 == main(["check", "--cached"])
    out = capsys.readouterr().out
    assert "gate actions: FAILS: never taken in a model that holds: LoseVotes" in out.splitlines()
    assert "DIFFERS" not in out


def test_check_runs_tlc_again_unless_told_to_use_the_cache(project: Path, capsys: Captured) -> None:
    assert 0 == main(["check", "--model", "pair", "--json"])
    assert [False] == [model["cached"] for model in json.loads(capsys.readouterr().out)["models"]]
    assert (project / ".cache/groupcomm").is_dir()


# Errors: a single line for each


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["check", "tyo"], 'groupcomm: no protocol is called "tyo" (did you mean toy?); there is toy'),
        (
            ["check", "toy", "--model", "pear"],
            'groupcomm: no model is called "pear" (did you mean pair?); there is pair, hasty, forgetful, lossy, settles_live, lossy_live',
        ),
        (
            ["explain", "toy", "pear"],
            'groupcomm: no model is called "pear" (did you mean pair?); there is pair, hasty, forgetful, lossy, settles_live, lossy_live',
        ),
    ],
)
def test_an_unknown_name_lists_the_known_ones(capsys: Captured, arguments: list[str], line: str) -> None:
    assert 2 == main(arguments)
    assert f"{line}\n" == capsys.readouterr().err


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    "arguments",
    [["check", "--tier", "huge"], ["check", "--workers", "0"], ["check", "--heap", "much"], ["chekc"], ["explain"]],
)
def test_wrong_usage_exits_with_2(capsys: Captured, arguments: list[str]) -> None:
    assert 2 == main(arguments)
    assert "Error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "change", "line"),
    [
        (
            "models.yaml",
            ("tier: smoke", "tier: huge"),
            'groupcomm: spec/toy/models.yaml:22: expected one of smoke, full, deep, not "huge"\n',
        ),
        (
            "models.yaml",
            ("module: MCToy", "module: MCTyo"),
            "groupcomm: spec/toy/models.yaml:3: expected a module of this folder, but there is no MCTyo.tla\n",
        ),
        (
            "models.yaml",
            ("view: view", "view: [view]"),
            "groupcomm: spec/toy/models.yaml:11: expected the name of an operator, not a list\n",
        ),
        ("MCToy.tla", ("EXTENDS ToyGroup", "EXTENDS Groups"), "Groups"),
    ],
)
def test_a_bad_file_exits_with_2_and_its_place(
    project: Path, capsys: Captured, file: str, change: tuple[str, str], line: str
) -> None:
    edit(project / "spec/toy" / file, *change)
    assert 2 == main(["check", "--model", "pair"])
    err = capsys.readouterr().err
    assert line in err
    assert 1 == len(err.splitlines())


@pytest.mark.usefixtures("project")
def test_no_java_exits_with_3_and_says_what_to_install(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUPCOMM_JAVA", "/nowhere/java")
    assert 3 == main(["check"])
    err = capsys.readouterr().err
    assert "install Java 17 or newer" in err
    assert 1 == len(err.splitlines())


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (JVMKilled("Run: the JVM ran out of memory"), 3),
        (KeyboardInterrupt(), 130),
        (OSError(28, "No space left on device"), 3),
    ],
)
def test_what_ends_a_run_has_an_exit_code(monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int) -> None:
    def ends(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(check, "run_models", ends)
    assert code == main(["check"])


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_want_of_room_says_what_to_do_also_where_the_system_names_no_file(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def ends(*_: object, **__: object) -> NoReturn:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(check, "run_models", ends)
    assert 3 == main(["check"])
    err = capsys.readouterr().err
    assert "could not be written whole" in err
    assert "make room" in err
    assert "Errno" not in err


def test_a_terminated_check_leaves_no_process_behind(project: Path) -> None:
    """Neither the JVM nor its files: with four members the search would take minutes."""
    edit(project / "spec/toy/models.yaml", "Member: [A, B]", "Member: [A, B, C, D]")
    temporary = project / "tmp"
    temporary.mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "groupcomm_commands.main", "check", "--model", "lossy"],
        cwd=project,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.DEVNULL,
    ) as process:
        while not _mentioning(str(temporary)) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert 143 == process.wait()
    assert [] == _mentioning(str(temporary))
    assert [] == list(temporary.iterdir())


def _mentioning(text: str) -> list[str]:
    """Command lines of JVMs that mention `text`."""
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if text in line and "tla2tools.jar" in line]


# explain


@pytest.mark.usefixtures("project")
def test_explain_draws_the_counterexample(capsys: Captured) -> None:
    assert 0 == main(["explain", "toy", "lossy_live"])
    out = capsys.readouterr().out.splitlines()
    assert "toy lossy_live: violates: EventuallyCommitted (a lost vote is never replaced)" == out[0]
    assert ["back to state 8", "", "EventuallyCommitted is false."] == out[-7:-4]
    assert ["", "Step 4, A: LoseVotes, is not possible with MaxLost = 0."] == out[-2:]
    assert any(line.startswith("After state 9 the behaviour continues with state 8, and so for ever.") for line in out)


def test_explain_tells_the_story_of_a_flaw_above_its_chart(capsys: Captured) -> None:
    assert 0 == main(["explain", "FLAW-47"])
    told = " ".join(capsys.readouterr().out.split())
    erratum = next(
        model.erratum for model in load(ROOT, "merge").models if model.erratum and model.erratum.id == "FLAW-47"
    )
    assert told.index(" ".join(erratum.flaw.split())) < told.index(" ".join(erratum.repair.split())) < told.index("|")


@pytest.mark.usefixtures("project")
def test_explain_says_that_there_is_nothing_to_explain(capsys: Captured) -> None:
    assert 0 == main(["explain", "toy", "pair"])
    assert [
        "toy pair: holds (no member commits too early (TOY-03))",
        "There is no counterexample in 25 states and 170 transitions.",
    ] == capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("project")
def test_explain_gives_the_trace_to_programs(capsys: Captured) -> None:
    assert 0 == main(["explain", "toy", "hasty", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert 3 == len(told["trace"]) == told["trace_length"]
    assert {"#set": []} == told["trace"][0]["state"]["network"]
    assert "NoEarlyCommit" == told["violated"]
    assert {
        "claim": "NoEarlyCommit",
        "sentence": "No member commits before all have voted.",
        "place": "ToyGroup.tla:68",
        "cases": ["for m = A, n = B: local[n].voted"],
        "plain": "",
    } == told["why"]
    assert any("committed" in line for line in told["chart"])


# errata


def test_errata_are_pages_with_an_index_that_people_began(project: Path) -> None:
    (project / "docs/errata").mkdir(parents=True)
    (project / "docs/errata/README.md").write_text("# Errata\n\nRead these first.\n")
    assert 0 == main(["errata"])
    page = (project / "build/docs/errata/toy.md").read_text()
    assert "## TOY-91: A hasty commit\n" in page
    index = (project / "build/docs/errata/README.md").read_text()
    assert index.startswith("# Errata\n\nRead these first.\n\n## toy\n")
    assert "| committed too early | [TOY-91](toy.md#toy-91-a-hasty-commit) |" in index.splitlines()
    assert "3. A: ReceiveVote (own VOTE)\n" in page
    assert (
        "| [TOY-91](#toy-91-a-hasty-commit) A hasty commit | committed too early | 3 | Wait for all votes. |"
        in page.splitlines()
    )
    why = "**Why.** `NoEarlyCommit` is false: No member commits before all have voted.\n\n- for m = A, n = B: local[n].voted\n"
    assert why in page
    assert "Model `hasty` of toy (`WaitForAll = FALSE`) violates `NoEarlyCommit`" in page
    assert "- `lossy`: the same where votes are lost; 75 states, 520 transitions, depth 8." in page


def test_an_erratum_of_which_no_words_say_what_is_false_is_a_failure(project: Path, capsys: Captured) -> None:
    edit(project / "spec/toy/ToyGroup.tla", "no member commits before all have voted.", "")
    assert 1 == main(["errata"])
    assert "TOY-91: nothing says in words what NoEarlyCommit is false" == capsys.readouterr().err.splitlines()[-1]


def test_an_erratum_that_its_model_does_not_show_is_not_written(project: Path, capsys: Captured) -> None:
    edit(project / "spec/toy/recorded.yaml", "trace: 3", "trace: 4")
    assert 1 == main(["errata"])
    assert not (project / "build").exists()
    assert "groupcomm: toy hasty does not show TOY-91: trace: expected 4 states, came 3" in capsys.readouterr().err


# requirements


def test_requirements_without_a_check_exit_with_1(project: Path, capsys: Captured) -> None:
    (project / "spec/toy/README.md").write_text(
        "| ID | text |\n| --- | --- |\n| TOY-01 | a |\n| TOY-02 | b |\n| TOY-03 | c |\n| TOY-04 | d |\n"
    )
    assert 1 == main(["requirements"])
    assert "spec/toy/README.md:6: nothing checks TOY-04: name a claim that is violated, a witness or a test\n" == (
        capsys.readouterr().err
    )
    assert (
        "| TOY-03 | c | - | `SomeCommit` (holds in `pair`) |"
        in (project / "build/docs/requirements.md").read_text().splitlines()
    )
    edit(project / "spec/toy/README.md", "| TOY-04 | d |\n", "")
    assert 0 == main(["requirements"])


# Help


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["errata", "--help"]])
def test_help_tells_the_exit_codes(capsys: Captured, arguments: list[str]) -> None:
    assert 0 == main(arguments)
    assert "Exit codes: 0 all is as expected; 1 something differs" in " ".join(capsys.readouterr().out.split())


def test_the_documented_exit_codes_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {code.value: meaning for code, meaning in MEANING.items()} == {int(code): text for code, text in rows}


def test_every_command_is_documented() -> None:
    documented = re.findall(r"^\| `([a-z]+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(COMMANDS) == sorted(documented)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_imported_and_has_help(capsys: Captured, name: str) -> None:
    assert 0 == main([name, "--help"])
    assert f" {name} [OPTIONS]" in capsys.readouterr().out


def test_a_command_imports_no_other_command() -> None:
    """All of them take as long to import as `list` and `check` of a small model take by themselves."""
    program = (
        "import sys; from groupcomm_commands.main import main; main(['list', '--help']); "
        "print(*(name for name in sys.modules if name.startswith('groupcomm')))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    rooms = {*ran.stdout.splitlines()[-1].split()}
    assert "groupcomm_commands.listing" in rooms
    assert rooms.isdisjoint(f"groupcomm_commands.{name}" for name in ("check", "accept", "report"))
    assert rooms.isdisjoint({"groupcomm_runtime", "groupcomm_simulator", "groupcomm_field", "groupcomm_spark"})


# list and --version


@pytest.mark.usefixtures("project")
def test_list_shows_each_model_with_what_is_expected(capsys: Captured) -> None:
    assert 0 == main(["list"])
    lines = capsys.readouterr().out.splitlines()
    assert ["pair", "smoke", "holds", "25", "170", "conform"] == lines[2].split()
    assert "  no member commits too early (TOY-03)" == lines[3]
    assert "6 models: 3 hold, 3 violate a claim on purpose; 4 claims" in lines


@pytest.mark.usefixtures("project")
def test_list_is_there_for_programs_and_by_tier(capsys: Captured) -> None:
    assert 0 == main(["list", "toy", "--tier", "smoke", "--json"])
    (toy,) = json.loads(capsys.readouterr().out)
    pair, hasty = toy["models"]
    assert ("pair", "holds", 25, 170, 7, True) == tuple(
        pair[key] for key in ("model", "expected", "distinct", "transitions", "depth", "conform")
    )
    assert ("violates: NoEarlyCommit", 3, ["NoEarlyCommit"]) == tuple(
        hasty[key] for key in ("expected", "trace_length", "violates")
    )


@pytest.mark.usefixtures("project")
def test_list_counts_by_protocol_and_in_all(capsys: Captured) -> None:
    assert 0 == main(["list", "--total"])
    _, *rows = (line.split() for line in capsys.readouterr().out.splitlines())
    assert [["toy", "3", "271", "3", "4", "1"], ["all", "3", "271", "3", "4", "1"]] == rows


def test_the_version_is_that_of_the_package(capsys: Captured) -> None:
    assert 0 == main(["--version"])
    assert re.match(r"groupcomm \d+\.\d+\.\d+, Python 3\.", capsys.readouterr().out)


# Failures in the middle


def test_output_that_nobody_reads_is_no_error(project: Path) -> None:
    """As in `groupcomm list | head -1`."""
    with subprocess.Popen(
        [sys.executable, "-m", "groupcomm_commands.main", "list"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (141, b"") == (process.wait(timeout=60), process.stderr.read())


def test_a_cache_that_cannot_be_written_is_a_warning(
    project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_warned", set())
    shutil.rmtree(project / ".cache")
    (project / ".cache").write_text("a file")
    assert 0 == main(["check", "--model", "pair"])
    warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    problem = "a part of the path is a file, not a folder: results are not kept"
    assert [f"groupcomm: warning: {project}/.cache/groupcomm cannot be used, as {problem}"] == warnings


def test_an_internal_error_is_one_line_and_has_a_code_of_its_own(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> NoReturn:
        raise KeyError("lost")

    monkeypatch.setattr(check, "chosen", fails)
    assert 70 == main(["check"])
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(r"groupcomm: a mistake in groupcomm itself, at test_cli.py:\d+: KeyError: 'lost'; please", line)
    monkeypatch.setenv("GROUPCOMM_TRACEBACK", "1")
    assert 70 == main(["check"])
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_a_guard_selects_the_models_that_notice_it(capsys: Captured, tmp_path: Path) -> None:
    """The ablation, and its control; --write-cfg runs nothing."""
    assert 0 == main(["check", "toy", "--guard", "WaitForAll", "--write-cfg", str(tmp_path)])
    assert {"pair", "hasty"} == {file.stem for file in (tmp_path / "toy").iterdir()}
    assert 2 == main(["check", "toy", "--guard", "WaitForAl", "--write-cfg", str(tmp_path)])
    assert "did you mean WaitForAll?" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_a_flaw_is_a_name(capsys: Captured) -> None:
    assert 0 == main(["explain", "TOY-91"])
    assert "toy hasty: violates: NoEarlyCommit" in capsys.readouterr().out
    assert 0 == main(["explain", "toy", "toy-91"])
    assert "toy hasty: violates: NoEarlyCommit" in capsys.readouterr().out
    for flaw in ("toy-91", "TOY-91"):
        assert 0 == main(["list", flaw, "--json"])
        (listed,) = json.loads(capsys.readouterr().out)
        assert ["pair", "hasty", "lossy"] == [model["model"] for model in listed["models"]]
    for command in ("list", "explain"):
        assert 2 == main([command, "TOY-9"])
        assert "did you mean TOY-91?" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_a_model_of_another_tier_than_the_one_named_is_refused(capsys: Captured) -> None:
    assert 2 == main(["check", "toy", "--tier", "smoke", "--model", "lossy"])
    assert "the model lossy is in the tier full, not in smoke" in " ".join(capsys.readouterr().err.split())


def test_no_scenario_has_an_empty_name(capsys: Captured) -> None:
    assert 2 == main(["scenario", ""])
    assert 'no protocol with scenarios is called ""' in capsys.readouterr().err


def test_what_differs_is_told_once(project: Path, capsys: Captured) -> None:
    edit(project / "spec/toy/Toy.tla", "s.voted THEN LocalError", "s.vote THEN LocalError")
    assert 1 == main(["check", "toy", "--model", "pair"])
    told = capsys.readouterr()
    assert 1 == (told.out + told.err).count("DIFFERS toy pair")
    assert 1 == told.out.count("expected holds, came fails")
    assert "fails" not in told.err


@pytest.mark.usefixtures("project")
def test_an_interrupt_is_told(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("groupcomm_commands.check.run_models", interrupted)
    assert 130 == main(["check", "toy"])
    assert "groupcomm: interrupted" in capsys.readouterr().err


def test_an_interrupted_check_says_what_came_of_each_model(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    edit(project / "spec/toy/recorded.yaml", "distinct: 25", "distinct: 26")

    ended = console.Watch.checked

    def checked(watch: console.Watch, model: Model, result: CheckedModel) -> None:
        ended(watch, model, result)
        if model.name == "hasty":
            raise KeyboardInterrupt

    monkeypatch.setattr(console.Watch, "checked", checked)
    assert 130 == main(["check", "toy", "--cached"])
    told = capsys.readouterr().err.splitlines()
    assert any(line.startswith("DIFFERS pair: distinct") for line in told)
    assert any(re.fullmatch(r"1 of \d+ models are as expected; without a result: toy .*", line) for line in told)
    assert "groupcomm: interrupted" in told[-1]


def test_a_model_is_run_while_another_set_of_claims_waits_for_its_models(project: Path, capsys: Captured) -> None:
    edit(project / "spec/toy/models.yaml", "  liveness:\n", "  unused:\n    like: safety\n  liveness:\n")
    assert 0 == main(["check", "toy", "--model", "pair", "--cached"])
    assert 2 == main(["check", "toy", "--cached"])
    assert "none is for unused" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["list", "nosuch"], 2, 'no protocol is called "nosuch"'),
        (["list", "--nosuch"], 2, "No such option"),
        (["check", "toy", "--model", "pair", "--fresh"], 3, "/nosuch does not run"),
        (["list", "toy", "--tier", "deep"], 0, ""),
    ],
)
def test_json_is_one_document_whatever_comes(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, error: str
) -> None:
    monkeypatch.setenv("GROUPCOMM_JAVA", "/nosuch")
    assert code == main([*arguments, "--json"])
    told = json.loads(capsys.readouterr().out)
    if code:
        assert {"error", "exit_code"} == told.keys()
        assert told["exit_code"] == code
        assert error in told["error"]


def test_outside_of_a_project_list_says_whose_models_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert 0 == main(["list", "heartbeat"])
    told = capsys.readouterr().err
    assert f"groupcomm: warning: {tmp_path} is in no project: the specifications are those of {ROOT}" in told


@pytest.mark.parametrize("asked", [["check"], ["check", "heartbeat", "--model", "two_members", "--record"]])
def test_outside_of_a_project_nothing_is_written_and_no_hours_begin(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    recorded = (ROOT / "spec" / "heartbeat" / "recorded.yaml").read_bytes()
    monkeypatch.chdir(tmp_path)
    assert 2 == main(asked)
    assert "no folder from here up has specifications" in capsys.readouterr().err
    assert (ROOT / "spec" / "heartbeat" / "recorded.yaml").read_bytes() == recorded


def test_an_interrupt_while_modules_are_imported_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("groupcomm_commands.main.main", interrupted)
    assert 130 == entry.run()
    assert "groupcomm: interrupted\n" == capsys.readouterr().err


def test_no_output_at_all_is_no_error(project: Path) -> None:
    ran = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m groupcomm_commands.main list toy >&-"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (ran.returncode, ran.stderr)
