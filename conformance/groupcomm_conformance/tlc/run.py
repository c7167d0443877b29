"""Running TLC: one call, one JVM, one typed verdict.

`run` copies the modules into a fresh folder, runs TLC there in its ``-tool`` mode (each message is
framed and numbered) and returns a `Result`: the model *holds* or *violates* a named property. Whatever
gives no verdict raises a `TLCError`. A verdict needs three witnesses that agree: the message, the exit
code and the closing message; an exit code of 0 after cut-off output is not a pass.

Nothing is written into the source tree, and the run's folder is gone afterwards, whatever happens.
POSIX only: the JVM runs in a process group of its own and is killed as one.
"""

import math
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from attrs import evolve, frozen

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.tla.trace import State

from . import archive
from .output import Output, Progress
from .tools import find_jar, find_java
from .verdict import Ended, Judge

__all__ = ["SHORT", "Result", "Simulation", "gather", "run"]

TICK: Final = 1.0
"""Seconds between two calls of ``progress``.

TLC itself reports after 3 seconds and then once a minute, which nothing changes: counts are as old as that.
"""


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


SHORT: Final = 60_000
"""Transitions up to which a search is `short`."""

# What minimises CPU time depends on the length. CPU seconds of searches with one worker (TLC 2.15, Java 17,
# the least of several interleaved runs on two busy cores), by transitions:
#                                         4   31,000   141,000
#   both compilers, ParallelGC         0.80      6.4      19.4
#   both compilers, SerialGC                     7.2      19.1
#   first compiler only, SerialGC      0.54      5.3      26.7
# ParallelGC also takes least wall-clock time for the longest, and is what TLC asks for.
_JVM_SHORT: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_JVM_LONG: Final = ("-XX:+UseParallelGC",)
# Recursive operators need a deep stack: 16 MB cost nothing until used.
_JVM: Final = ("-Xss16m", "-XX:+ExitOnOutOfMemoryError", "-Dfile.encoding=UTF-8")


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
    continues: bool = False,
    arguments: Sequence[str] = (),
    progress: Callable[[Progress], None] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Result:
    """Check the module ``root`` under the configuration ``cfg`` and return TLC's verdict.

    ``modules`` are folders whose ``*.tla`` are put together, and ``generated`` more modules, name to text;
    two of one name are a FileError. ``workers="auto"`` is one per core; counts of a violation, its trace and
    the depth are reproducible with 1 only. ``heap`` is the JVM's (``"2g"``), ``timeout`` in seconds of
    wall-clock time. ``short`` promises at most about ``SHORT`` transitions: TLC then takes a fifth less CPU
    time, but a third more if the promise is broken. ``dump`` receives the state graph as dot with action
    labels, and is written only if there is a verdict. With ``continues`` TLC searches on after a violation:
    the verdict and the trace are the first one's, the counts those of the end. Lines that the specification
    prints go to ``on_line``, or else into ``Result.printed``. ``progress`` is called every second, from a
    thread of its own; what either of the two raises ends the run. Raises a TLCError where there is no
    verdict.
    """
    if not re.fullmatch(r"\d+[kmgKMG]", heap):
        raise ValueError(f"heap is a number and k, m or g, such as 2g, not {heap!r}")
    java, jar = find_java(), find_jar()
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="groupcomm-tlc-")))
        sources = gather(modules, generated, folder)
        (folder / f"{root}.cfg").write_text(cfg, encoding="utf-8")
        count = (os.cpu_count() or 1) if workers == "auto" else workers
        # SANY unpacks its standard modules into java.io.tmpdir, under fixed names.
        jvm = (*(_JVM_SHORT if short else _JVM_LONG), *_JVM, *archive.options(java, jar))
        command = [str(java), *jvm, f"-Xmx{heap}", f"-Djava.io.tmpdir={folder}", "-cp", str(jar), "tlc2.TLC"]
        command += ["-tool", "-workers", str(count), "-metadir", str(folder / "states"), "-checkpoint", "0"]
        command += [] if check_deadlock else ["-deadlock"]  # which switches the check off
        command += ["-coverage", "1"] if coverage else []
        command += ["-continue"] if continues else []
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
        output = Output(on_line or printed.append)
        ended = _Run(command, folder, output, timeout, progress).to_the_end()
        written = [str(folder.parent), *([str(dump.parent)] if dump else [])]
        judge = Judge(
            root, cfg, heap, timeout, written, sources, output, ended, simulate is not None, continues
        )
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


def gather(modules: Iterable[Path], generated: Mapping[str, str], folder: Path) -> dict[str, Path]:
    """Put all modules into ``folder``; return where each one comes from, by module name."""
    sources: dict[str, Path] = {}
    for source in modules:
        if not source.is_dir():
            raise ValueError(f"{source} is not a folder of modules")
        for file in sorted(source.glob("*.tla")):
            if file.stem in sources:
                raise FileError(str(file), 1, f"a name of its own: {sources[file.stem]} is called so, too")
            text = read_text(file, what="a module")
            (folder / file.name).write_text(text, encoding="utf-8", newline="")
            sources[file.stem] = file
    for name, text in generated.items():
        if name in sources:
            raise FileError(str(sources[name]), 1, f"another name: the module {name} is generated")
        (folder / f"{name}.tla").write_text(text, encoding="utf-8")
        sources[name] = Path(f"{name}.tla")
    return sources


class _Run:
    """A command that runs, in a process group of its own, to its end, its timeout or an exception here."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        output: Output,
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

    def to_the_end(self) -> Ended:
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
        return Ended(
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
