"""Running TLC: one call, one typed verdict.

`run` copies the modules into a fresh folder, runs TLC there in its ``-tool`` mode (each message is
framed and numbered) and returns a `Result`: the model *holds* or *violates* a named property. A run without a
verdict raises a `TLCError`. A verdict needs three witnesses that agree: the message, the exit
code and the closing message; an exit code of 0 after cut-off output is not a pass.

Nothing is written into the source tree, and the run's folder is gone afterwards, whatever happens. A run
takes place in a JVM that is kept (see `resident`), a very long one in a JVM of its own.
"""

import functools
import math
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from attrs import evolve, frozen

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.tla.source import blanked
from groupcomm_conformance.tla.trace import State

from . import resident
from .jvm import JVM, OPTIONS
from .output import Output, Progress
from .tools import find_jar, find_java
from .verdict import Ended, Judge

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

    ``violated`` is the invariant's or property's name, ``"Deadlock"``,
    ``"line .. of module .."`` for the action of a property that is a whole specification (a refinement),
    or ``"temporal properties"`` where several were checked (TLC does not say which). Counts are those of the
    search up to the verdict, and 0 for what TLC did not report (a violation in an initial state comes without
    any, a simulation without distinct states). ``loop`` is the number of the state to which a lasso
    returns; ``stuttering`` says that its last state repeats for ever instead. ``printed`` are lines as TLC
    prints them: a long value takes several, a string is in quotes.
    """

    outcome: Literal["holds", "violates"]
    violated: str | None
    distinct: int
    generated: int
    initial: int
    depth: int
    queue: int
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

KEPT: Final = 300_000
"""Transitions up to which a search that is to hold gets a JVM that is kept: TLC is compiled there."""

MANY: Final = 500_000
"""Transitions from which on a kept JVM is worth the second compiler's time."""

# The options with the least CPU time depend on the length. CPU seconds of searches with one worker in a JVM
# of their own (TLC 2.15, Java 17, the least of several interleaved runs on two busy cores), by transitions:
#                                       31,000   141,000
#   both compilers, ParallelGC               6.4      19.4
#   both compilers, SerialGC                 7.2      19.1
#   first compiler only, SerialGC            5.3      26.7
# ParallelGC also takes least wall-clock time for the longest, and is what TLC asks for.
_JVM_SHORT: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_JVM_LONG: Final = ("-XX:+UseParallelGC",)


def run(
    modules: Sequence[Path],
    root: str,
    cfg: str,
    *,
    generated: Mapping[str, str] = MappingProxyType({}),
    workers: int | Literal["auto"] = "auto",
    heap: str = "2g",
    short: bool = False,
    kept: bool | None = None,
    hot: bool = False,
    timeout: float | None = None,
    dump: Path | None = None,
    simulate: Simulation | None = None,
    check_deadlock: bool = False,
    continues: bool = False,
    liveness: bool = False,
    progress: Callable[[Progress], None] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Result:
    """Check the module ``root`` under the configuration ``cfg`` and return TLC's verdict.

    ``modules`` are folders whose ``*.tla`` are put together, and ``generated`` more modules, name to text;
    two of the same name are a FileError. ``workers="auto"`` is one per core; counts of a violation, its trace
    and the depth are reproducible with 1 only. ``heap`` is the JVM's (``"2g"``), ``timeout`` in seconds of
    wall-clock time. ``short`` promises at most about ``SHORT`` transitions. With ``kept`` TLC runs in a JVM
    that is kept for other runs; by default where it is short and without ``liveness``. A ``hot`` one is for
    many: together more than ``MANY`` transitions. With ``liveness`` it
    looks for lassos when all states are there, not from time to time. Which lasso it finds depends on the
    clock, and on what it did before. So a run that is to find one has a JVM of its own, with our evaluator
    (`FastTool.java`) where it is short. ``dump`` receives the state graph as dot with action labels, and is
    written only if there is a verdict. With ``continues`` TLC searches on after a violation: the verdict and
    the trace are the first one's, the counts those of the end. Lines that the specification prints go to
    ``on_line``, or else into ``Result.printed``. ``progress`` is called every second, from a thread of its
    own; what either of the two raises ends the run. Raises a TLCError where there is no verdict.
    """
    if not re.fullmatch(r"\d+[kmgKMG]", heap):
        raise ValueError(f"heap is a number and k, m or g, such as 2g, not {heap!r}")
    java, jar = find_java(), find_jar()
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="groupcomm-tlc-")))
        sources = gather(modules, generated, folder)
        (folder / f"{root}.cfg").write_text(cfg, encoding="utf-8")
        count = (os.cpu_count() or 1) if workers == "auto" else workers
        arguments = ["-tool", "-workers", str(count), "-metadir", str(folder / "states"), "-checkpoint", "0"]
        arguments += [] if check_deadlock else ["-deadlock"]  # which switches the check off
        arguments += ["-continue"] if continues else []
        if simulate is not None:
            walks = f"num={simulate.traces},file={simulate.files.absolute()}"
            arguments += ["-simulate", walks, "-depth", str(simulate.depth), "-seed", str(simulate.seed)]
        else:
            arguments += ["-fp", "0"]
        if dump is not None:
            beside = tempfile.TemporaryDirectory(prefix=".dump-", dir=dump.parent)  # TLC adds files of its own
            dumped = Path(cleanup.enter_context(beside), "dump.dot").absolute()
            arguments += ["-dump", "dot,actionlabels", str(dumped)]
        arguments += ["-lncheck", "final"] if liveness else []
        arguments += ["-config", f"{root}.cfg"]

        printed: list[str] = []
        output = Output(on_line or printed.append)
        if kept is None:
            kept = short and not liveness
        waiting = resident.take(java, jar, heap, hot=hot) if kept else None
        if waiting is not None:
            ended = _Asked(waiting, output, timeout, progress).ended([*arguments, str(folder / f"{root}.tla")])
        else:
            # SANY unpacks its standard modules into java.io.tmpdir, under fixed names.
            program = resident.program(java, jar) if short else None
            path = str(jar) if program is None else f"{program}:{jar}"
            command = [str(java), *(_JVM_SHORT if short else _JVM_LONG), *OPTIONS, f"-Xmx{heap}"]
            command += [f"-Djava.io.tmpdir={folder}", "-cp", path, "tlc2.TLC", *arguments, f"{root}.tla"]
            ended = _Alone(JVM(command, folder), output, timeout, progress).ended()
        written = [str(folder.parent), *([str(dump.parent)] if dump else [])]
        judge = Judge(root, cfg, heap, timeout, written, sources, output, ended, simulate is not None, continues)
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
            (folder / file.name).write_text(_read(text), encoding="utf-8", newline="")
            sources[file.stem] = file
    for name, text in generated.items():
        if name in sources:
            raise FileError(str(sources[name]), 1, f"another name: the module {name} is generated")
        (folder / f"{name}.tla").write_text(text, encoding="utf-8")
        sources[name] = Path(f"{name}.tla")
    return sources


@functools.lru_cache(maxsize=256)
def _read(text: str) -> str:
    """Give a module as TLC gets it, without comments, lines and columns kept: TLC is slow to read them."""
    return "\n".join(line.rstrip() for line in blanked(text).split("\n"))


class _Run:
    """A run in a JVM: to its end, its timeout or an exception here."""

    def __init__(
        self, jvm: JVM, output: Output, timeout: float | None, progress: Callable[[Progress], None] | None
    ) -> None:
        self._jvm = jvm
        self._output = output
        self._timeout = math.inf if timeout is None else timeout
        self._progress = progress
        self._over = threading.Event()
        self._timed_out = False
        self._raised: BaseException | None = None
        self._began = time.monotonic()

    def _ended(self, exit_code: int, cpu_seconds: float) -> Ended:
        return Ended(
            exit_code=exit_code,
            timed_out=self._timed_out,
            seconds=time.monotonic() - self._began,
            cpu_seconds=cpu_seconds,
            stderr=self._jvm.errors(),
        )

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """While this lasts, limit and progress are looked at; what is raised kills the JVM."""
        watcher = threading.Thread(target=self._watch, name="tlc-watch", daemon=True)
        try:
            watcher.start()
            yield
        except BaseException:
            self._jvm.kill()
            raise
        finally:
            self._over.set()
            watcher.join()
        if self._raised is not None:
            raise self._raised

    def _watch(self) -> None:
        limit = self._began + self._timeout
        while not self._over.wait(max(0.0, min(TICK, limit - time.monotonic()))):
            if time.monotonic() >= limit:
                self._timed_out = True
                self._jvm.kill()
                return
            if self._progress is not None:
                try:
                    self._progress(evolve(self._output.counts, elapsed=time.monotonic() - self._began))
                except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                    self._raised = error
                    self._jvm.kill()
                    return

    def _to_the_end(self) -> tuple[int, float]:
        """Take in what the JVM prints until it ends; give its exit code and CPU seconds."""
        for line in self._jvm.lines:
            self._output.take(line.rstrip("\r\n"))
        while (ended := self._jvm.ended(wait=False)) is None:
            time.sleep(0.002)
        return ended


class _Alone(_Run):
    """A run in a JVM of its own."""

    def ended(self) -> Ended:
        try:
            with self._watched():
                told = self._to_the_end()
        finally:
            self._jvm.ended(wait=True)
            self._jvm.close()
        return self._ended(*told)


class _Asked(_Run):
    """A run in a JVM that is kept, if it outlives the run."""

    def __init__(
        self, kept: resident.Kept, output: Output, timeout: float | None, progress: Callable[[Progress], None] | None
    ) -> None:
        super().__init__(kept.jvm, output, timeout, progress)
        self._kept = kept

    def ended(self, arguments: Sequence[str]) -> Ended:
        lives = False
        try:
            with self._watched():
                told = self._answer(arguments)
            lives = not self._timed_out  # whether the JVM has ended is asked when it is taken
            return self._ended(*(told or self._to_the_end()))
        finally:
            resident.give_back(self._kept, usable=lives)

    def _answer(self, arguments: Sequence[str]) -> tuple[int, float] | None:
        """Ask for the run and take in what is printed of it; None where the JVM has ended before."""
        with suppress(BrokenPipeError):  # it has ended, and says why
            self._jvm.requests.write("\t".join(arguments) + "\n")
            self._jvm.requests.flush()
        for line in self._jvm.lines:
            if line.startswith(resident.ENDED):
                code, nanoseconds = line.removeprefix(resident.ENDED).split()
                return int(code), int(nanoseconds) / 1e9
            self._output.take(line.rstrip("\r\n"))
        return None
