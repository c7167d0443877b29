"""Running a campaign on Spark: groups of tasks, each a job with a single task, their rows into the table.

Jobs are many and small, and as many are under way as keep all cores busy, so that no core waits for another's
end. The groups get smaller towards the end. A lost worker costs its present job: Spark gives that to another
worker, and the rows of its finished jobs are here already. Rows go into the table every ten seconds, and on
leaving.
"""

import pickle
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from threading import Event, Thread, current_thread, main_thread
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from attrs import define, field, frozen
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from .errors import SparkError
from .session import session
from .shipping import ARCHIVE, pack
from .table import Row, Table
from .working import Failed, Prepare

WRITTEN: Final = 10.0
"""Seconds after which rows that have come are written."""

PATIENCE: Final = 90.0
"""Seconds to wait for an executor where there is none."""

_Job: TypeAlias = Callable[[Iterable[bytes]], Iterable[tuple[int, Any]]]
_TRIES: Final = 4  # of a job whose worker died
_JOBS: Final = 512  # under way at a time, at most
_AHEAD: Final = 2  # jobs for each core, so that the next is there when a job ends


class CampaignFailed(SparkError):  # noqa: N818 - as the other errors of Spark
    """Spark gave up; the table has what was done."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; the table has what was done, and the same command continues")


@frozen
class Campaign:
    """A campaign to be run.

    `prepare` makes a worker of `context`, which both are pickled; `files` are given to workers besides the
    code, by their names in the archive. `most`: tasks in a group. `cores`: that a task takes.
    """

    prepare: Prepare
    context: object
    files: Mapping[str, Path] = field(factory=dict)
    most: int = 1
    cores: int = 1


@define
class Done:
    """The result of a campaign's run: `repeated` are groups that were begun more than once."""

    rows: int = 0
    groups: int = 0
    repeated: int = 0
    seconds: float = 0.0


def run(
    campaign: Campaign,
    tasks: Iterable[Any],
    count: int,
    table: Table,
    *,
    master: str,
    on_rows: Callable[[Sequence[Row]], None] = lambda _rows: None,
    on_wait: Callable[[int], None] = lambda _executors: None,
) -> Done:
    """Run `count` tasks and add their rows to the table.

    `on_rows` is given rows as they come, `on_wait` each second how many executors there are. Raises what a
    task raised; CampaignFailed where Spark gives up, and where no executor comes.
    """
    began = time.monotonic()
    with TemporaryDirectory(prefix="groupcomm-campaign-") as own:
        archive = Path(own, f"{ARCHIVE}.zip")
        pack(archive, (campaign.prepare, campaign.context), campaign.files)
        settings = {"spark.task.cpus": str(campaign.cores)} if campaign.cores > 1 else {}
        with _Signals() as signals, session(master, settings) as spark:
            signals.hold()  # PySpark has put a handler of its own there
            spark.sparkContext.addArchive(f"{archive}#{ARCHIVE}")
            runner = _Runner(spark.sparkContext, campaign, table, signals, on_rows, on_wait)
            runner.run(iter(tasks), count)
    runner.done.seconds = time.monotonic() - began
    return runner.done


def _job() -> _Job:
    """Give what a task of Spark's does. It is pickled by value, as it comes before the code that it finds."""
    name = ARCHIVE

    def work(groups: Iterable[bytes]) -> Iterator[tuple[int, Any]]:
        import sys  # noqa: PLC0415 - of the worker

        from pyspark import SparkFiles, TaskContext  # noqa: PLC0415

        folder = SparkFiles.get(name)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        from groupcomm_spark.working import worked  # noqa: PLC0415 - of what was shipped

        context = TaskContext.get()
        tries = 0 if context is None else context.attemptNumber()
        for group in groups:
            yield tries, worked(folder, group)

    return work


@define
class _Signals:
    """Holds back interrupts: an exception in the middle of a call of Spark's leaves the call broken."""

    _before: dict[int, Any] = field(factory=dict)
    _came: list[int] = field(factory=list)

    def __enter__(self) -> Self:
        if current_thread() is main_thread():  # others get no signals
            self._before = {number: signal.getsignal(number) for number in _ENDING}
            self.hold()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def hold(self) -> None:
        """Hold signals back from now on; ignored signals stay ignored."""
        for number, handler in self._before.items():
            ignored = handler is signal.SIG_IGN
            signal.signal(number, handler if ignored else lambda came, _frame: self._came.append(came))

    def take(self) -> None:
        """Do what a signal asks for that has come."""
        for number in self._came:
            handler = self._before[number]
            if callable(handler):
                handler(number, None)
            raise KeyboardInterrupt


_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@define
class _Runner:
    """The driver's part."""

    spark: SparkContext
    campaign: Campaign
    table: Table
    signals: "_Signals"
    on_rows: Callable[[Sequence[Row]], None]
    on_wait: Callable[[int], None]
    done: Done = field(factory=Done)
    _rows: list[Row] = field(factory=list)
    _job: _Job = field(factory=_job)
    _groups: "SimpleQueue[list[Any] | None]" = field(factory=SimpleQueue)
    _answers: "SimpleQueue[tuple[list[Any], tuple[int, Any] | Exception]]" = field(factory=SimpleQueue)
    _left: Event = field(factory=Event)  # no thread waits for answers any more
    _written: float = field(factory=time.monotonic)
    _alive: float = field(factory=time.monotonic)

    def run(self, tasks: Iterator[Any], count: int) -> None:
        """Run all tasks; whatever happens, rows that have come are written."""
        left = count
        under_way = threads = 0
        try:
            while left or under_way:
                while left and under_way < self._wanted():
                    group = list(islice(tasks, self._size(left)))
                    left -= len(group)
                    under_way += 1
                    self._groups.put(group)
                    if under_way > threads:
                        # A daemon: Spark may never answer for a job that it was given at its end.
                        Thread(target=self._work, name=f"spark-{threads}", daemon=True).start()
                        threads += 1
                self.signals.take()
                try:
                    group, answer = self._answers.get(timeout=1.0)
                except Empty:
                    self._look(came=False)
                else:
                    under_way -= 1
                    self._take(answer, len(group))
                    self._look(came=True)
        except CampaignFailed:
            self.signals.take()  # that may have ended Spark's process, too
            raise
        finally:
            self._left.set()
            for _ in range(threads):
                self._groups.put(None)
            self._write()

    def _work(self) -> None:
        """Run one job after the other, in a thread of its own."""
        while (group := self._groups.get()) is not None and not self._left.is_set():
            try:
                answer: tuple[int, Any] | Exception = self._run(pickle.dumps(group))
            except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
                answer = error
            self._answers.put((group, answer))

    @property
    def _slots(self) -> int:
        with _asking():
            return max(1, self.spark.defaultParallelism // self.campaign.cores)

    def _wanted(self) -> int:
        return min(_JOBS, _AHEAD * self._slots)

    def _size(self, left: int) -> int:
        """Groups get smaller towards the end, so that no core is idle for long."""
        return max(1, min(self.campaign.most, left // (2 * self._slots)))

    def _run(self, group: bytes) -> tuple[int, Any]:
        """Run one job; again, if a worker died."""
        for tried in range(_TRIES):
            try:
                ((tries, rows),) = self.spark.parallelize([group], 1).mapPartitions(self._job).collect()
            except (Py4JError, PySparkException, ConnectionError) as error:
                if self._left.is_set() or tried + 1 == _TRIES or re.search(_DIED, str(error)) is None:
                    raise CampaignFailed(_explained(str(error))) from error
            else:
                return tried + tries, rows
        raise AssertionError

    def _take(self, answer: tuple[int, Any] | Exception, count: int) -> None:
        if isinstance(answer, Exception):
            raise answer
        tries, rows = answer
        if isinstance(rows, Failed):
            if rows.error is None:
                raise CampaignFailed(f"a task failed: {rows.text}")
            raise pickle.loads(rows.error)  # noqa: S301 - from a worker of ours
        if len(rows) != count:
            raise AssertionError
        self._rows += rows
        self.done.rows += count
        self.done.groups += 1
        self.done.repeated += tries > 0
        self.on_rows(rows)

    def _look(self, *, came: bool) -> None:
        """Write the received rows, in time; give up where no worker works."""
        now = time.monotonic()
        if now - self._written >= WRITTEN:
            self._write()
        if str(self.spark.master).startswith("local"):
            executors = 1
        else:  # the driver is among them
            with _asking():
                context = self.spark._jsc.sc()  # noqa: SLF001 - PySpark has no name for it
                executors = len(context.statusTracker().getExecutorInfos()) - 1
        if came or executors:
            self._alive = now
        self.on_wait(executors)
        if now - self._alive > PATIENCE:
            raise CampaignFailed(
                f"{self.spark.master} gave no executor in {PATIENCE:g} s: it has no worker, or "
                "none with a free core and enough memory (its page says which)"
            )

    def _write(self) -> None:
        self._written = time.monotonic()
        rows, self._rows = self._rows, []
        self.table.add(rows)


@contextmanager
def _asking() -> Iterator[None]:
    """Ask Spark something from the main thread; CampaignFailed where its process is gone."""
    try:
        yield
    except (Py4JError, ConnectionError) as error:
        raise CampaignFailed("Spark's process ended") from error


_DIED: Final = (
    r"Python worker exited unexpectedly|ExecutorLostFailure|Python worker failed to connect back|EOFException"
)

_NEEDS: Final = "docs/campaigns.md says what a worker needs"


def _explained(text: str) -> str:
    """Say what a failure of Spark was about."""
    if "No space left on device" in text:
        return "no space left on the disk of a worker, or for temporary files (TMPDIR)"
    if found := re.search(r"Cannot run program [^:\n]*|ModuleNotFoundError: [^\n]*|PYTHON_VERSION_MISMATCH", text):
        return f"a worker lacks something ({found[0].strip()}): {_NEEDS}"
    if re.search(_DIED, text):
        return f"a worker died {_TRIES} times over one group; if for want of memory, end other programs"
    if re.search(r"SparkContext (was|has been) (shut|stopped)|cancelled because SparkContext", text):
        return "Spark ended"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = next((line for line in lines if "Exception" in line or "Error" in line), lines[0] if lines else text)
    return f"Spark failed: {said}"
