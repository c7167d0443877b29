"""Output of `groupcomm` for people: progress on stderr, tables of results on stdout."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
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
from groupcomm_conformance.tla.chart import WIDTH, Bounds, chart
from groupcomm_conformance.tlc.output import Progress

from .progress import Estimate

LEGEND: Final = (
    "Each lane is a member, time goes down. An arrow is a message that came, [...] what happened there,",
    "-->> a message to every member, --> to one; below a step is what changed. 2/A is the view 2 of A's.",
)
"""How to read a chart. `docs/commands.md` says more."""

_FILE_WIDTH: Final = 120
"""Columns of a table that goes into a file or a pipe."""

_NAMED: Final = 20
"""How many models without a result are named."""

_HEARTBEAT: Final = 30.0
"""Seconds between lines of progress where there is no terminal."""


class _Output(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `main`; Rich would end the program with 1, which is a finding."""
        raise BrokenPipeError


def stdout() -> Console:
    """The console that tables go to: as wide as the terminal, or as a file may be."""
    console = _Output(highlight=False, soft_wrap=False)
    return console if console.is_terminal else _Output(highlight=False, width=_FILE_WIDTH)


class Watch:
    """Shows on stderr how a command goes: a line per model that is done, and progress meanwhile.

    On a terminal these are bars, otherwise a line every 30 s. The sizes of `models` give totals and the time
    left. It is a `checking.Listener`.
    """

    def __init__(self, models: Sequence[tuple[Manifest, Model]] = ()) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._lock = threading.Lock()
        self._models = models
        self._came: list[tuple[Model, list[str]]] = []
        self._estimate = Estimate(models)
        self._tasks: dict[tuple[int, str], TaskID] = {}
        self._running: dict[tuple[int, str], str] = {}
        self._beat = time.monotonic()
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TextColumn("{task.fields[status]}", style="dim"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._total: TaskID | None = None

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    @contextmanager
    def summing_up(self) -> Iterator[None]:
        """Where the models do not all come to an end, say what came of each: what differs, and what was not done."""
        try:
            yield
        except BaseException:
            self._bars.stop()
            if not self._came:
                raise
            for model, lines in self._came:
                for line in lines:
                    self._console.print(escape(f"DIFFERS {model.name}: {line}"), style="red")
            over = {id(model) for model, _ in self._came}
            left = [f"{manifest.protocol} {model.name}" for manifest, model in self._models if id(model) not in over]
            fine = sum(not lines for _, lines in self._came)
            rest = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
            without = f"; without a result: {', '.join(left[:_NAMED])}{rest}" if left else ""
            self._console.print(escape(f"{fine} of {len(self._models)} models are as expected{without}"))
            raise

    @contextmanager
    def working(self, name: str) -> Iterator[Callable[[str], None]]:
        """Show a bar while something else than TLC works; the function given sets the text beside it."""
        with self._lock:
            task = self._bars.add_task(escape(name), total=None, status="starts")

        def says(status: str) -> None:
            with self._lock:
                self._bars.update(task, status=status)
                self._beats(f"{name}: {status}")

        try:
            yield says
        finally:
            with self._lock:
                self._bars.remove_task(task)

    def started(self, model: Model, part: str) -> None:
        """Add a bar."""
        label = model.name if part == "search" else f"{model.name} ({part})"
        with self._lock:
            if self._total is None and self._estimate.total > 1:
                self._total = self._bars.add_task("total", total=None, status=self._estimate.text())
            task = self._bars.add_task(escape(label), total=None, status="starts")
            self._tasks[id(model), part] = task

    def progress(self, model: Model, part: str, progress: Progress) -> None:
        """Show the counts that TLC reported last, against the recorded counts of the manifest."""
        expected = self._estimate.expected(model)
        share = f" of {expected:,}" if expected and part == "search" and model.holds else ""
        status = f"{progress.distinct:,}{share} states, {progress.queue:,} on queue, {progress.rate:,} per minute"
        with self._lock:
            self._estimate.progressed(model, part, progress.distinct)
            self._bars.update(self._tasks[id(model), part], status=status)
            self._running[id(model), part] = f"{model.name}: {status}"
            self._show_total()
            head = f"{self._estimate.text()}; " if self._estimate.total > 1 else ""
            self._beats(f"{head}{'; '.join(self._running.values())}")

    def _beats(self, text: str) -> None:
        """Print a line in place of bars, if the last one is 30 s old."""
        now = time.monotonic()
        if self._bars.disable and now - self._beat >= _HEARTBEAT:
            self._beat = now
            self._console.print(escape(f"  {text}"), style="dim")

    def ended(self, model: Model, part: str) -> None:
        """Remove the bar."""
        with self._lock:
            self._running.pop((id(model), part), None)
            self._bars.remove_task(self._tasks.pop((id(model), part)))

    def checked(self, model: Model, checked: CheckedModel) -> None:
        """Print the line of a model."""
        seconds = "cached" if checked.cached else f"{checked.seconds:.1f} s"
        different = differences(model, checked)
        # Differences are reported once, on stdout, when all models are done.
        outcome = "DIFFERS" if different else checked.outcome
        text = f"{outcome}, {checked.distinct:,} states, {seconds}"
        line = escape(f"{checked.protocol} {model.name}: {text}")
        with self._lock:
            self._came.append((model, different))
            self._estimate.ended(model, cached=checked.cached)
            self._show_total()
            self._console.print(line, style="red" if different else None)

    def _show_total(self) -> None:
        if self._total is not None:
            self._bars.update(self._total, status=self._estimate.text())


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
    for name in ("model", "tier"):
        table.add_column(name, no_wrap=True)
    for name in ("expected", "outcome"):
        table.add_column(name, overflow="fold")
    for name in ("distinct", "transitions", "depth", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
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


def kill_table(manifest: Manifest, results: Mapping[str, CheckedModel], width: int) -> list[str]:
    """Give the kill matrix, ablations down and claims across, with a legend; nothing without ablations.

    A claim has one column, its letters above one another; where they do not fit beside one another the rest
    follows below. Claims that no ablation here was asked for are left out. Where the names of ablations would
    take more than half of the width, rows have numbers, and the legend has the names.
    """
    asked = {claim: row for claim, row in kill_matrix(manifest, results).items() if any(row.values())}
    ablations = list(dict.fromkeys(name for row in asked.values() for name in row))
    if not ablations:
        return []
    marks = dict(zip(asked, _letters(len(asked)), strict=True))
    longest = max(map(len, ablations))
    rows = {name: str(at) if 2 * longest > width else name for at, name in enumerate(ablations, 1)}
    names = max(map(len, ("ablation", *rows.values())))
    cells = {"falls": "x", "stands": ".", None: " "}
    lines = ["kill matrix"]
    columns = max(1, width - names - 2)
    for first in range(0, len(asked), columns):
        claims = list(asked)[first : first + columns]
        for title, place in (("", -2), ("ablation", -1)):
            heads = "".join(marks[claim].rjust(2)[place] for claim in claims)
            lines += [f"{title:{names}}  {heads}".rstrip()] if heads.strip() else []
        for name in ablations:
            row = "".join(cells[asked[claim][name]] for claim in claims)
            lines += [f"{rows[name]:{names}}  {row}".rstrip()] if row.strip() else []
    legend = [f"  {mark:3}  {claim}" for claim, mark in marks.items()]
    legend += [f"  {mark:3}  {name}" for name, mark in rows.items() if mark != name]
    return [*lines, "x violated, . holds (as recorded), blank: not checked", *legend]


def _letters(count: int) -> list[str]:
    names = (first + second for first in ("", *ascii_lowercase) for second in ascii_lowercase)
    return list(islice(names, count))


def gate_lines(gates: Iterable[Gate]) -> list[str]:
    """Give a line for each gate."""
    words = {True: "ok", False: "FAILS", None: "-"}
    return [f"gate {gate.name}: {words[gate.ok]}: {gate.text}" for gate in gates]


def drawing(checked: CheckedModel, *, whole: bool = False) -> list[str]:
    """Draw the counterexample as wide as the terminal; no lines where there is none.

    Of a long one only the end is drawn, unless it is to be `whole`.
    """
    if not checked.trace:
        return []
    bounds = None if whole else Bounds(rest=f"groupcomm explain {checked.protocol} {checked.model}")
    return chart(checked.trace, back_to=checked.loop, stutters=checked.stuttering, width=chart_width(), bounds=bounds)


def chart_width() -> int:
    """The width of charts: the usual one, or less where the terminal is narrower."""
    console = Console()
    return min(WIDTH, console.width - 1) if console.is_terminal else WIDTH


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
        "violates": sorted(checked.falls),
        "witnesses": sorted(checked.witnesses),
        "seconds": round(checked.seconds, 3),
        "cpu_seconds": round(checked.cpu_seconds, 3),
        "workers": checked.workers,
        "cached": checked.cached,
        "ok": not different,
        "differences": list(different),
    }
