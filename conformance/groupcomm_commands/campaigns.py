"""The common part of `simulate`, `mutants`, `check`, `accept` and `pipeline` as campaigns. See docs/campaigns.md.

`--master` or `--table` makes a campaign of a command; `pipeline` always is one. Else nothing of Spark is imported.
"""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
from attrs import define, field, frozen

from groupcomm_spark.errors import BadMaster, SparkMissing

from .progress import duration

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from groupcomm_spark.running import Campaign, Done
    from groupcomm_spark.table import Row, Table

_LOCAL: Final = "local[*]"
_LINE: Final = 30.0  # seconds between lines where there is no terminal
_SHOWN: Final = 0.5  # and on a terminal


def require() -> None:
    """SparkMissing where a package of the extra `pipeline` is not installed."""
    for name in ("pyspark", "pyarrow"):
        try:
            import_module(name)
        except ModuleNotFoundError:
            raise SparkMissing(name) from None


def _is_terminal() -> bool:
    return sys.stderr.isatty()


@frozen
class Unit:
    """The unit of progress: a name, how many a row is, how many a task; and which rows are findings."""

    name: str
    of_row: "Callable[[Row], int]" = lambda _row: 1
    of_task: int = 1
    finding: str = "findings"
    finds: "Callable[[Row], str]" = lambda _row: ""


@frozen
class Told:
    """Where a campaign ran, and how: for the output of a command."""

    table: Path
    master: str
    before: int
    done: "Done"

    def line(self) -> str:
        """Write it."""
        done = self.done
        parts = [f"{done.rows:,} rows now, on {self.master}, in {duration(done.seconds)}"] if done.rows else []
        parts += [f"{self.before:,} rows before"] if self.before else []
        parts += [f"{done.repeated:,} of {done.groups:,} groups begun again"] if done.repeated else []
        return f"table {self.table}: {', '.join(parts)}"

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values."""
        return {
            "table": str(self.table),
            "master": self.master,
            "rows_before": self.before,
            "rows": self.done.rows,
            "groups": self.done.groups,
            "groups_repeated": self.done.repeated,
            "wall_seconds": round(self.done.seconds, 3),
        }


def opened(
    name: str, identity: Mapping[str, object], schema: "pa.Schema", folder: Path | None
) -> "AbstractContextManager[Table]":
    """Open the table of a campaign, in `folder` or else in one of build/campaigns that it alone has."""
    from groupcomm_spark.shipping import digest  # noqa: PLC0415 - as below
    from groupcomm_spark.table import table  # noqa: PLC0415

    return table(folder or Path("build/campaigns") / f"{name}-{digest(identity)[:8]}", identity, schema)


def run(
    campaign: "Campaign", tasks: "Mapping[str, Any] | range", table: "Table", *, master: str | None, unit: Unit
) -> Told:
    """Run the tasks that the table has no row of, by their keys, and show on stderr how that goes.

    Numbers are tasks and keys in one.

    BadParameter for a master that Spark does not know.
    """
    from groupcomm_spark import running  # noqa: PLC0415 - Spark is for campaigns alone

    keys: Iterable[Any] = (key for key in tasks if key not in table.keys)
    left = keys if isinstance(tasks, range) else map(tasks.__getitem__, keys)
    before = sum(key in tasks for key in table.keys)
    count, where = len(tasks) - before, master or _LOCAL
    if not count:
        return Told(table.folder, where, before, running.Done())
    progress = _Progress(unit, before * unit.of_task, len(tasks) * unit.of_task)
    if before:
        progress.say(f"{before:,} of {len(tasks):,} rows are in {table.folder}: the campaign continues")
    try:
        done = running.run(campaign, left, count, table, master=where, on_rows=progress.rows, on_wait=progress.waits)
    except BadMaster as error:
        raise typer.BadParameter(str(error), param_hint="--master") from None
    except (KeyboardInterrupt, SystemExit):
        progress.say(f"what was done is in {table.folder}: the same command continues")
        raise
    finally:
        progress.end()
    return Told(table.folder, where, before, done)


@define
class _Progress:
    """A line on a terminal, or one now and then where there is none, that says how much is done."""

    unit: Unit
    _done: int
    _total: int
    _began: float = field(factory=time.monotonic)
    _said: float = field(factory=time.monotonic)
    _now: int = 0
    _findings: int = 0
    _executors: int = 1
    _terminal: bool = field(factory=_is_terminal)

    def rows(self, rows: "Sequence[Row]") -> None:
        for row in rows:
            self._now += self.unit.of_row(row)
            if found := self.unit.finds(row):
                self._findings += 1
                self.say(found)
        self._show()

    def waits(self, executors: int) -> None:
        self._executors = executors
        self._show()

    def say(self, text: str) -> None:
        """Write a line of its own."""
        self.end()
        typer.echo(text, err=True)

    def end(self) -> None:
        """Take the line away."""
        if self._terminal:
            typer.echo("\r\x1b[K", err=True, nl=False)

    def _show(self) -> None:
        now = time.monotonic()
        if now - self._said < (_SHOWN if self._terminal else _LINE):
            return
        self._said = now
        rate = self._now / (now - self._began)
        left = self._total - self._done - self._now
        parts = [f"{self._done + self._now:,} of {self._total:,} {self.unit.name}"]
        parts += [f"{rate:,.0f} a second"] if rate >= 1 else []
        parts += [f"{self._findings:,} {self.unit.finding}"]
        parts += [f"about {duration(left / rate)} left"] if rate and left > 0 else []
        parts += ["waits for an executor"] if not self._executors else []
        text = ", ".join(parts)
        if self._terminal:
            typer.echo(f"\r\x1b[K{text}", err=True, nl=False)
        else:
            typer.echo(f"  {text}", err=True)
