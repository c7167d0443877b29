"""What TLC prints and how it ends, without TLC: a verdict, or the error that says what to do."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from groupcomm_conformance.tlc import tools
from groupcomm_conformance.tlc.errors import (
    JVMKilled,
    OutputCutShort,
    ParseFailed,
    TLCError,
    ToolMissing,
    UnexpectedOutput,
)
from groupcomm_conformance.tlc.jvm import JVM
from groupcomm_conformance.tlc.output import Output, Progress
from groupcomm_conformance.tlc.verdict import Ended, Judge

FINISHED = (2186, 0, "Finished in 1s")
SUCCEEDED = (2193, 0, "Model checking completed. No error has been found.")
VIOLATED = (2110, 1, "Invariant Small is violated.")


def printed(*messages: tuple[int, int, str], before: Sequence[str] = ()) -> Output:
    """Take in these lines, and messages of a number, a severity and a text."""
    output = Output(lambda _: None)
    for line in before:
        output.take(line)
    for number, severity, text in messages:
        output.take(f"@!@!@STARTMSG {number}:{severity} @!@!@")
        for line in text.split("\n"):
            output.take(line)
        output.take(f"@!@!@ENDMSG {number} @!@!@")
    return output


def verdict(output: Output, exit_code: int = 0, stderr: str = "", *, continues: bool = False) -> str | None:
    ended = Ended(exit_code, timed_out=False, seconds=3.0, cpu_seconds=3.0, stderr=stderr)
    sources = {"Counter": Path("spec/Counter.tla")}
    return Judge(
        "Run", "", "2g", None, ["states"], sources, output, ended, simulated=False, continues=continues
    ).verdict()


def test_a_search_that_ends_well_says_what_holds_or_is_violated() -> None:
    assert verdict(printed(SUCCEEDED, FINISHED)) is None
    assert verdict(printed(VIOLATED, FINISHED), 12) == "Small"
    assert verdict(printed(VIOLATED, SUCCEEDED, FINISHED), continues=True) == "Small"


@pytest.mark.parametrize(
    ("messages", "exit_code", "continues", "expected"),
    [
        ((VIOLATED, FINISHED), 0, False, "goes with exit 12, but exits 0"),
        ((VIOLATED, FINISHED), 13, False, "goes with exit 12, but exits 13"),
        ((VIOLATED, FINISHED), 12, True, "goes with exit 0, but exits 12"),
        ((VIOLATED, FINISHED), 0, True, "goes with exit 0, but exits 0"),
        ((FINISHED,), 0, False, "exits 0 and names neither success nor a violation"),
        ((SUCCEEDED, FINISHED), 1, False, "exits 1 and names neither success nor a violation"),
    ],
)
def test_what_does_not_go_together_is_no_verdict(
    messages: Sequence[tuple[int, int, str]],
    exit_code: int,
    continues: bool,  # noqa: FBT001 - a parameter of the test
    expected: str,
) -> None:
    with pytest.raises(UnexpectedOutput, match=expected):
        verdict(printed(*messages), exit_code, continues=continues)


def test_a_search_without_its_closing_message_was_cut_off() -> None:
    with pytest.raises(OutputCutShort, match="nothing on stderr"):
        verdict(printed(SUCCEEDED))


@pytest.mark.parametrize(("exit_code", "name"), [(-1, "SIGHUP"), (-9, "SIGKILL"), (129, "SIGHUP"), (137, "SIGKILL")])
def test_a_signal_is_named_whether_java_or_a_script_that_starts_it_had_it(exit_code: int, name: str) -> None:
    with pytest.raises(JVMKilled, match=f"Run: the JVM was killed by {name} after 3 s and 0 distinct states"):
        verdict(printed(), exit_code)


@pytest.mark.parametrize(
    ("before", "stderr", "error", "expected"),
    [
        (["Error occurred during initialization of VM", "Could not reserve enough space"], "", JVMKilled, "heap is 2g"),
        ([], "java.lang.OutOfMemoryError: Java heap space", JVMKilled, "heap is 2g"),
        (
            ["Error: Could not find or load main class tlc2.TLC"],
            "",
            ToolMissing,
            "is damaged, or not made for this Java",
        ),
    ],
)
def test_what_java_says_before_tlc_begins_is_heard(
    before: list[str], stderr: str, error: type[TLCError], expected: str
) -> None:
    with pytest.raises(error, match=expected):
        verdict(printed(before=before), 1, stderr)


MISTAKE = "line {0}, col 8 to line {0}, col 9 of module Counter\n\nUnknown operator: `{1}'."


@pytest.mark.parametrize(
    ("names", "more"),
    [
        ("a", ""),
        ("aba", "; 1 more, at Counter.tla:2"),
        ("abcde", "; 4 more, at Counter.tla:2, Counter.tla:3, Counter.tla:4, ..."),
    ],
)
def test_of_several_mistakes_the_first_is_told_and_where_the_others_are(names: str, more: str) -> None:
    """The parser repeats a mistake for each module that extends the module with it."""
    lines = [line for each in names for line in MISTAKE.format("abcde".index(each) + 1, each).split("\n")]
    with pytest.raises(ParseFailed) as error:
        verdict(printed((3002, 1, "Parsing or semantic analysis failed."), FINISHED, before=lines), 150)
    assert str(error.value) == f"spec/Counter.tla:1: Unknown operator: `a'{more}"


def test_counts_are_those_of_the_latest_report() -> None:
    told = "1,234 states generated (5,678 s/min), 90 distinct states found (12 ds/min), 3 states left on queue."
    output = printed((2185, 0, "Starting..."), (2200, 0, f"Progress(7) at 2024-02-29 12:00:00: {told}"))
    assert output.counts == Progress(generated=1234, distinct=90, queue=3, depth=7, rate=5678, elapsed=0.0)
    output.take("@!@!@STARTMSG 2199:0 @!@!@")
    output.take("2,000 states generated, 100 distinct states found, 0 states left on queue.")
    output.take("@!@!@ENDMSG 2199 @!@!@")
    assert output.counts == Progress(generated=2000, distinct=100, queue=0, depth=7, rate=5678, elapsed=0.0)


def test_a_message_inside_another_is_of_it_and_what_stands_before_it_too() -> None:
    output = printed()
    for line in (
        "@!@!@STARTMSG 1000:1 @!@!@",
        "TLC failed",
        " : @!@!@STARTMSG 2127:1 @!@!@",
        "while it wrote: @!@!@STARTMSG 2161:1 @!@!@",
        "@!@!@ENDMSG 2161 @!@!@",
        "@!@!@ENDMSG 2127 @!@!@",
        "@!@!@ENDMSG 1000 @!@!@",
    ):
        output.take(line)
    (failure,) = output.failures
    assert (failure.code, failure.inner) == (1000, [2127, 2161])
    assert failure.text == "TLC failed\nwhile it wrote: "


def test_a_jvm_that_is_kept_says_on_stderr_only_what_is_new(tmp_path: Path) -> None:
    """A word of one run is none on the next."""
    jvm = JVM(["/bin/sh", "-c", "echo one >&2; echo; read x; echo two >&2; echo; read x"], tmp_path, asked=True)
    try:
        jvm.lines.readline()
        assert jvm.errors() == "one\n"
        jvm.requests.write("go\n")
        jvm.requests.flush()
        jvm.lines.readline()
        assert jvm.errors() == "two\n"
    finally:
        jvm.kill()
        assert jvm.ended(wait=True) is not None
        jvm.close()


def test_a_jar_with_damaged_data_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, jar = "tlc2/TLC.class", tmp_path / "tla2tools.jar"
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, bytes(1000))
    data = bytearray(jar.read_bytes())
    data[30 + len(name)] = 0xFF  # behind the head of the file: no kind of block
    jar.write_bytes(data)
    monkeypatch.setenv("TLC_JAR", str(jar))
    with pytest.raises(ToolMissing, match=r"is damaged \(Error -3 while decompressing data"):
        tools.find_jar()
