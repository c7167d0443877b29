"""What `groupcomm` shows a person: how runs of TLC go, on stderr, and tables of what came, on stdout."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from string import ascii_lowercase
from types import TracebackType
from typing import Any, Final, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bars
from rich.progress import SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from groupcomm_conformance.models.checking import CheckedModel, Gate, differences, expected, kill_matrix
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.tla.chart import chart
from groupcomm_conformance.tlc.output import Progress

__all__ = ["Watch", "as_json", "drawing", "gate_lines", "kill_table", "model_table", "plain_table", "stdout"]

_NARROWEST: Final = 120
"""Columns of a table that goes into a file or a pipe."""

_HEARTBEAT: Final = 30.0
"""Seconds after which a long run tells again how far it is, where there are no bars."""


def stdout() -> Console:
    """The console that tables go to."""
    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=_NARROWEST)


class Watch:
    """A `checking.Listener`: a line a model on stderr; meanwhile bars, or lines now and then."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._lock = threading.Lock()
        self._tasks: dict[tuple[str, str], TaskID] = {}
        self._told: dict[tuple[str, str], float] = {}
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TextColumn("{task.fields[told]}", style="dim"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    @contextmanager
    def working(self, name: str) -> Iterator[Callable[[str], None]]:
        """Show a bar while something else than TLC works; what is told stands beside it."""
        with self._lock:
            task = self._bars.add_task(escape(name), total=None, told="starts")
        try:
            yield lambda told: self._bars.update(task, told=told)
        finally:
            with self._lock:
                self._bars.remove_task(task)

    def started(self, model: Model, part: str) -> None:
        """Add a bar."""
        label = model.name if part == "search" else f"{model.name} ({part})"
        with self._lock:
            self._tasks[model.name, part] = self._bars.add_task(escape(label), total=None, told="starts")
            self._told[model.name, part] = time.monotonic()

    def progress(self, model: Model, part: str, progress: Progress) -> None:
        """Tell what TLC told last."""
        told = f"{progress.distinct:,} states, {progress.queue:,} on queue, {progress.rate:,}/min"
        self._bars.update(self._tasks[model.name, part], told=told)
        now = time.monotonic()
        if self._bars.disable and now - self._told[model.name, part] >= _HEARTBEAT:
            self._told[model.name, part] = now
            self._console.print(escape(f"  {model.name}: {told}"), style="dim")

    def ended(self, model: Model, part: str) -> None:
        """Take the bar away."""
        with self._lock:
            self._bars.remove_task(self._tasks.pop((model.name, part)))

    def checked(self, model: Model, checked: CheckedModel) -> None:
        """Print the line of a model."""
        seconds = "cached" if checked.cached else f"{checked.seconds:.1f} s"
        different = differences(model, checked)
        verdict = "" if not different else f" - DIFFERS: {different[0]}"
        came = f"{checked.outcome}, {checked.distinct:,} states, {seconds}{verdict}"
        line = escape(f"{checked.protocol} {model.name}: {came}")
        self._console.print(line, style="red" if different else None)


def plain_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Give a table of texts."""
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def model_table(manifest: Manifest, results: Mapping[str, CheckedModel]) -> Table:
    """Give a row for each model: what was expected and what came."""
    table = Table(title=manifest.protocol, title_justify="left", box=None, pad_edge=False)
    for name in ("model", "tier", "expected", "outcome"):
        table.add_column(name, overflow="fold")
    for name in ("distinct", "transitions", "depth", "seconds"):
        table.add_column(name, justify="right")
    table.add_column("")
    for model in manifest.models:
        if (checked := results.get(model.name)) is None:
            continue
        different = differences(model, checked)
        outcome = "as expected" if checked.outcome == checked.expected else checked.outcome
        table.add_row(
            model.name,
            model.tier,
            expected(model),
            escape(outcome if len(outcome) <= _LONGEST else f"{outcome[:_LONGEST]}..."),
            f"{checked.distinct:,}",
            f"{checked.transitions:,}",
            str(checked.depth),
            "cached" if checked.cached else f"{checked.seconds:.1f}",
            "[red]DIFFERS[/]" if different else "[green]ok[/]",
        )
    return table


_LONGEST = 60


def kill_table(manifest: Manifest, results: Mapping[str, CheckedModel]) -> list[Table | str]:
    """Give the kill matrix, ablations down and claims across, with a legend; nothing without ablations."""
    matrix = kill_matrix(manifest, results)
    ablations = list(dict.fromkeys(name for row in matrix.values() for name in row))
    if not ablations:
        return []
    marks = dict(zip(matrix, _letters(len(matrix)), strict=True))
    table = Table(title="kill matrix", title_justify="left", box=None, pad_edge=False)
    table.add_column("ablation")
    for mark in marks.values():
        table.add_column(mark, justify="center")
    cells = {"falls": "x", "stands": ".", None: ""}
    for name in ablations:
        table.add_row(name, *(cells[row[name]] for row in matrix.values()))
    legend = [f"  {mark}  {claim}" for claim, mark in marks.items()]
    return [table, "x falls, . stands, blank: not asked", *legend]


def _letters(count: int) -> list[str]:
    return [*ascii_lowercase, *(f"a{letter}" for letter in ascii_lowercase)][:count]


def gate_lines(gates: Iterable[Gate]) -> list[str]:
    """Give a line for each gate."""
    words = {True: "ok", False: "FAILS", None: "-"}
    return [f"gate {gate.name}: {words[gate.ok]}: {gate.text}" for gate in gates]


def drawing(checked: CheckedModel, *, unicode: bool = False) -> list[str]:
    """Draw the counterexample; no lines where there is none."""
    if not checked.trace:
        return []
    return chart(checked.trace, back_to=checked.loop, stutters=checked.stuttering, unicode=unicode)


def as_json(model: Model, checked: CheckedModel, different: Sequence[str]) -> dict[str, Any]:
    """Give a result as plain values; `seconds` is wall-clock time, `trace_length` counts states."""
    return {
        "protocol": checked.protocol,
        "model": checked.model,
        "tier": checked.tier,
        "expected": expected(model),
        "outcome": checked.outcome,
        "violated": checked.violated,
        "distinct": checked.distinct,
        "transitions": checked.transitions,
        "depth": checked.depth,
        "trace_length": len(checked.trace),
        "falls": sorted(checked.falls),
        "witnesses": sorted(checked.witnesses),
        "seconds": round(checked.seconds, 3),
        "cpu_seconds": round(checked.cpu_seconds, 3),
        "workers": checked.workers,
        "cached": checked.cached,
        "ok": not different,
        "differences": list(different),
    }
