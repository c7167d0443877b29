"""Vectors: what a port in any language is held to, as files. `groupcomm vectors`.

For each model marked `conform` the table of local steps, a line each, and for each model marked `walk` walks
of the whole group that together take every transition, as ITF traces. `manifest.json` lists the files with
their SHA-256; docs/vectors.md, which is put beside them, tells a port's author what to do with them. The same
specification gives the same bytes.

A folder is written beside its place and put there when it is whole. `read` trusts nothing: what is not as the
manifest says is a `VectorError`.
"""

import hashlib
import json
import shutil
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from attrs import field, frozen

from groupcomm_conformance.commands import console
from groupcomm_conformance.files.strict_yaml import FileError
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.models.manifest import TIERS, Manifest, Model, UnknownNameError, find_root, load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import AnyCore, MappingError, Protocol
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.rows import Replayed, Rows, replay
from groupcomm_conformance.steps.table import HANDLED, Result, StepTable, Tables
from groupcomm_conformance.tla.values import JSON, Fn, Value, from_json, parse, show, to_json
from groupcomm_conformance.walks import graph as graphs
from groupcomm_conformance.walks.covering import NONE, Edge, Walk, cover_edges
from groupcomm_conformance.walks.follow import Divergence, Follower
from groupcomm_conformance.walks.follow import replay as replay_walk
from groupcomm_conformance.walks.graph import ACT, Graph

__all__ = ["FORMAT", "VectorError", "Vectors", "Written", "command", "quotient", "read", "write"]

FORMAT: Final = "groupcomm vectors 1"
MANIFEST: Final = "manifest.json"
STEPS: Final = "steps.jsonl"

_ITF: Final = "https://apalache-mc.org/docs/adr/015adr-trace.html"
_DOCS: Final = "docs/vectors.md"
_README: Final = "README.md"
_SCHEMA: Final = "schema.json"

OK: Final = 0
DIFFERS: Final = 1


class VectorError(FileError):
    """A file of vectors is not what the manifest or the format says: `file:line: expected ...`."""


@frozen
class Written:
    """A file: its path in the folder, what kind it is, and how many records it has."""

    path: str
    kind: str
    records: int
    size: int
    digest: str

    def told(self) -> dict[str, JSON]:
        """The manifest's entry."""
        return {
            "path": self.path,
            "kind": self.kind,
            "records": self.records,
            "bytes": self.size,
            "sha256": self.digest,
        }


# Writing


def _text(content: JSON) -> str:
    return json.dumps(content, ensure_ascii=True, separators=(",", ":"))


def _steps(table: StepTable) -> Iterator[str]:
    """The lines of a table; those that are handled have the next state and the effects too."""
    states, events = ([_text(to_json(value)) for value in values] for values in (table.states, table.events))
    effects = [_text(to_json(result.effects)) for result in table.results]
    following: dict[tuple[int, int], str] = {}
    for place, cell in enumerate(table.cells):
        state, event = divmod(place, len(events))
        line = f'{{"row":{place + 1},"state":{states[state]},"event":{events[event]},'
        if cell < HANDLED:
            yield f'{line}"outcome":"{OUTCOMES[cell]}"}}\n'
            continue
        if (state, cell) not in following:
            following[state, cell] = _text(to_json(table.expected(place + 1)[0]))
        yield (
            f'{line}"outcome":"{OUTCOMES[HANDLED]}","next":{following[state, cell]},'
            f'"effects":{effects[cell - HANDLED]}}}\n'
        )


@frozen
class Quotient:
    """A graph whose states do not remember how they were reached.

    `states` are the numbers of a node of `graph` for each; a transition's act is that of the node `acts`
    gives.
    """

    graph: Graph
    states: tuple[int, ...]
    initial: tuple[int, ...]
    edges: tuple[Edge, ...]
    acts: tuple[int, ...]


def quotient(graph: Graph) -> Quotient:
    """Put together the nodes of a graph that differ in `act` alone: what is left is the model's own graph."""
    act = graph.variables.index(ACT)
    numbers: dict[tuple[int, ...], int] = {}
    states: list[int] = []
    place: list[int] = []
    for node, row in enumerate(graph.rows):
        key = (*row[:act], *row[act + 1 :])
        if key not in numbers:
            numbers[key] = len(states)
            states.append(node)
        place.append(numbers[key])
    found: dict[tuple[int, int, int], int] = {}
    for source, targets in enumerate(graph.successors):
        for target in targets:
            found.setdefault((place[source], graph.rows[target][act], place[target]), target)
    edges = tuple(Edge(number, key[0], key[2]) for number, key in enumerate(found))
    initial = tuple(dict.fromkeys(place[node] for node in graph.initial))
    return Quotient(graph, tuple(states), initial, edges, tuple(found.values()))


def _trace(of: Quotient, walk: Walk, title: str, texts: dict[int, str]) -> str:
    """A walk as an ITF trace, its variables the specification's; `act` is the step that led to a state.

    `texts` remembers the graph's values in that encoding.
    """
    graph = of.graph
    head: JSON = {"format": "ITF", "format-description": _ITF, "description": title}
    lines: list[str] = []
    for index, (edge, state) in enumerate(walk):
        node = of.states[state]
        act = node if edge == NONE else of.acts[edge]
        parts: list[str] = []
        for column, variable in enumerate(graph.variables):
            number = graph.rows[act if variable == ACT else node][column]
            if number not in texts:
                texts[number] = _text(to_json(parse(graph.texts[number])))
            parts.append(f'"{variable}":{texts[number]}')
        lines.append(f'{{"#meta":{{"index":{index}}},{",".join(parts)}}}')
    states = ",\n".join(lines)
    return f'{{"#meta":{_text(head)},"vars":{_text([*graph.variables])},"states":[\n{states}\n]}}\n'


def write(
    root: Path,
    manifest: Manifest,
    models: Iterable[Model],
    out: Path,
    *,
    listener: checking.Listener | None = None,
) -> dict[str, JSON]:
    """Write the vectors of a protocol into the folder `out` and give its manifest.

    VectorError if something else is there. A TLCError where TLC gives no table or graph.
    """
    if out.exists() and not (out / MANIFEST).is_file() and any(out.iterdir()):
        raise VectorError(str(out), 1, "vectors of an earlier run or nothing at all: name another folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as beside:
        draft = Path(beside, "vectors")
        draft.mkdir()
        told = _write(root, manifest, models, draft, listener)
        if out.exists():
            out.rename(Path(beside, "earlier"))
        draft.rename(out)
    return told


def _write(
    root: Path, manifest: Manifest, models: Iterable[Model], out: Path, listener: checking.Listener | None
) -> dict[str, JSON]:
    listed: list[JSON] = []
    implementation = derive.load(manifest)
    for model in models:
        files: list[Written] = []
        folder = out / model.name
        folder.mkdir()
        if model.conform:
            files.append(
                _written(out, folder / STEPS, "local steps", _table_lines(root, manifest, model, listener))
            )
        if model.walk:
            files += _write_walks(root, manifest, model, out)
        listed.append(
            {
                "model": model.name,
                "shows": model.shows,
                "bounds": model.bounds,
                "constants": _constants(implementation, manifest, model),
                "files": [file.told() for file in files],
            }
        )
    shutil.copyfile(root / _DOCS, out / _README)
    shutil.copyfile(Path(__file__).with_name("vectors.schema.json"), out / _SCHEMA)
    beside = [_told(out, out / _README, "format", 1), _told(out, out / _SCHEMA, "schema", 1)]
    told: dict[str, JSON] = {
        "format": FORMAT,
        "protocol": manifest.protocol,
        "files": [file.told() for file in beside],
        "models": listed,
    }
    (out / MANIFEST).write_text(json.dumps(told, indent=1, ensure_ascii=True) + "\n", encoding="ascii")
    return told


def _constants(implementation: Protocol, manifest: Manifest, model: Model) -> dict[str, JSON]:
    """The constants of a model that are values. VectorError for a model of another algorithm."""
    cfg = manifest.cfg(model)
    constants = derive.constants_of(cfg)
    try:
        implementation.config(constants)
    except MappingError as error:
        raise VectorError(
            manifest.file, model.line, f"a model that members can conform to: {error}"
        ) from None
    given = (name for name, side in cfg.constants.items() if side.startswith("= "))
    return {name: to_json(constants[name]) for name in given}


def _table_lines(
    root: Path, manifest: Manifest, model: Model, listener: checking.Listener | None
) -> Iterator[str]:
    checked = checking.run_model(manifest, model, cache=checking.Cache.of(root), listener=listener)
    if checked.harvest is None:
        raise FileNotFoundError(f"there are no vectors of {model.name}: it does not hold ({checked.outcome})")
    return _steps(table_of(manifest, model, checked.harvest, Tables.of(root))[0])


def _write_walks(root: Path, manifest: Manifest, model: Model, out: Path) -> list[Written]:
    of = quotient(graphs.load(manifest, model, root / ".cache" / "groupcomm"))
    found = cover_edges(of.initial, of.edges)
    folder = out / model.name / "walks"
    folder.mkdir()
    texts: dict[int, str] = {}
    digits = len(str(len(found)))
    files: list[Written] = []
    for number, walk in enumerate(found, start=1):
        trace = _trace(of, walk, f"{manifest.protocol} {model.name}, walk {number}", texts)
        file = folder / f"{number:0{digits}}.itf.json"
        files.append(_written(out, file, "walk", [trace], len(walk) - 1))
    return files


def _written(out: Path, file: Path, kind: str, lines: Iterable[str], records: int | None = None) -> Written:
    count = 0
    with file.open("w", encoding="ascii", newline="\n") as stream:
        for count, line in enumerate(lines, start=1):  # noqa: B007 - the last is how many there were
            stream.write(line)
    return _told(out, file, kind, count if records is None else records)


def _told(out: Path, file: Path, kind: str, records: int) -> Written:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Written(file.relative_to(out).as_posix(), kind, records, file.stat().st_size, digest)


# Reading


@frozen
class Vectors:
    """A folder of vectors that is as its manifest says; `files` are by model, with their kinds."""

    folder: Path
    protocol: str
    files: Mapping[str, tuple[Written, ...]]
    constants: Mapping[str, Mapping[str, Value]] = field(hash=False)

    def steps(self, model: str) -> StepTable | None:
        """The table of a model; None if there is none. VectorError for a line that is no local step."""
        for file in self.files[model]:
            if file.kind == "local steps":
                return _table(self.folder / file.path, file.records)
        return None

    def walks(self, model: str) -> Iterator[tuple[str, tuple[Fn, ...]]]:
        """The walks of a model: the file's path, and the states. VectorError for what is no such trace."""
        known: dict[str, Value] = {}
        for file in self.files[model]:
            if file.kind == "walk":
                yield file.path, _states(self.folder / file.path, file.records, known)


def read(folder: Path) -> Vectors:
    """Read a manifest and hold every file against it; VectorError where anything is not as it says."""
    place = folder / MANIFEST
    told = _json(place, 1, place.read_text(encoding="utf-8")) if place.is_file() else None
    if not isinstance(told, dict):
        raise VectorError(str(place), 1, "a manifest of vectors")
    if told.get("format") != FORMAT:
        raise VectorError(str(place), 1, f'the format "{FORMAT}", not {told.get("format")!r}')
    try:
        beside = [*map(_entry, told["files"])]
        files = {model["model"]: tuple(map(_entry, model["files"])) for model in told["models"]}
        values = {
            model["model"]: {name: from_json(value) for name, value in model["constants"].items()}
            for model in told["models"]
        }
        protocol = str(told["protocol"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        expected = f"a manifest as {_SCHEMA} describes it ({type(error).__name__}: {error})"
        raise VectorError(str(place), 1, expected) from None
    listed = {file.path: file for file in (*beside, *(file for of in files.values() for file in of))}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {MANIFEST}
    for path in sorted(there.symmetric_difference(listed)):
        expected = (
            "to be there, as the manifest has it" if path in listed else "no file that the manifest has not"
        )
        raise VectorError(str(folder / path), 1, expected)
    for path, file in listed.items():
        found = _told(folder, folder / path, file.kind, file.records)
        if found != file:
            expected = (
                f"{file.size:,} bytes with SHA-256 {file.digest}, not {found.size:,} with {found.digest}"
            )
            raise VectorError(str(folder / path), 1, expected)
    return Vectors(folder, protocol, files, values)


def _entry(told: Mapping[str, Any]) -> Written:
    return Written(
        path=str(told["path"]),
        kind=str(told["kind"]),
        records=int(told["records"]),
        size=int(told["bytes"]),
        digest=str(told["sha256"]),
    )


def _json(file: Path, line: int, text: str) -> Any:  # noqa: ANN401 - of any type
    try:
        return json.loads(text)
    except ValueError as error:
        raise VectorError(str(file), line, f"JSON: {error}") from None


def _value(file: Path, line: int, told: JSON, known: dict[str, Value]) -> Value:
    """A value in the ITF encoding, each text once."""
    text = _text(told)
    if text not in known:
        try:
            known[text] = from_json(told)
        except ValueError as error:
            raise VectorError(str(file), line, f"a value: {error}") from None
    return known[text]


_FIELDS: Final = ("row", "state", "event", "outcome")
_HANDLED_FIELDS: Final = (*_FIELDS, "next", "effects")


def _table(file: Path, rows: int) -> StepTable:
    """The table of a file of local steps: each state with each event, in one order."""
    known: dict[str, Value] = {}
    states: dict[Value, int] = {}
    events: dict[Value, int] = {}
    results: dict[tuple[Any, ...], int] = {}
    found: list[Result] = []
    cells = array("I")
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            told = _json(file, number, line)
            fields = (
                _HANDLED_FIELDS if isinstance(told, dict) and told.get("outcome") == "handled" else _FIELDS
            )
            if not isinstance(told, dict) or tuple(told) != fields or told["outcome"] not in OUTCOMES:
                raise VectorError(str(file), number, f"a local step, with the fields {', '.join(_FIELDS)}")
            state, event = (_value(file, number, told[name], known) for name in ("state", "event"))
            place = states.setdefault(state, len(states)), events.setdefault(event, len(events))
            if told["row"] != number or not isinstance(state, Fn) or not isinstance(event, Fn):
                raise VectorError(
                    str(file), number, f"row {number}, of a state and an event that are records"
                )
            if (number > len(events) and place != divmod(number - 1, len(events))) or place[1] > number - 1:
                raise VectorError(str(file), number, "each state with each event, always in the same order")
            code = OUTCOMES.index(told["outcome"])
            if code == HANDLED:
                after, effects = (_value(file, number, told[name], known) for name in ("next", "effects"))
                if not isinstance(after, Fn) or not isinstance(effects, tuple):
                    raise VectorError(
                        str(file), number, "a record as the next state, and a sequence of effects"
                    )
                changes = {str(name): after[name] for name in after if show(after[name]) != show(state[name])}
                key = (show(Fn(changes) if changes else ()), show(effects))
                if key not in results:
                    results[key] = len(found)
                    found.append(Result(changes, effects))
                code += results[key]
            cells.append(code)
    if len(cells) != rows or len(cells) != len(states) * len(events):
        raise VectorError(str(file), len(cells), f"{rows:,} local steps, each state with each event")
    return StepTable(
        starts={},
        states=tuple(state for state in states if isinstance(state, Fn)),
        events=tuple(event for event in events if isinstance(event, Fn)),
        results=tuple(found),
        cells=cells,
        tlc_seconds=0.0,
        read_seconds=0.0,
    )


def _states(file: Path, steps: int, known: dict[str, Value]) -> tuple[Fn, ...]:
    told = _json(file, 1, file.read_text(encoding="utf-8"))
    if not isinstance(told, dict) or set(told) != {"#meta", "vars", "states"}:
        raise VectorError(str(file), 1, "an ITF trace: #meta, vars and states")
    found: list[Fn] = []
    for index, state in enumerate(told["states"]):
        line = index + 2  # each state is a line, below the one with the variables
        if not isinstance(state, dict) or set(state) != {"#meta", *told["vars"]}:
            raise VectorError(str(file), line, f"a state with the variables {', '.join(told['vars'])}")
        if state["#meta"] != {"index": index}:
            raise VectorError(str(file), line, f"the state {index}")
        found.append(Fn({name: _value(file, line, state[name], known) for name in told["vars"]}))
    if len(found) != steps + 1:
        raise VectorError(str(file), len(found) + 1, f"a walk of {steps} steps, not {len(found) - 1}")
    return tuple(found)


# Doing them


@frozen
class Done:
    """What became of a model's vectors on the implementation."""

    model: str
    replayed: Replayed | None
    walks: int
    steps: int
    divergences: tuple[tuple[str, Divergence], ...]

    @property
    def passed(self) -> bool:
        """Whether all of them passed."""
        return not self.divergences and (self.replayed is None or self.replayed.passed)


def do(vectors: Vectors, protocol: Protocol, core: AnyCore | None = None) -> Iterator[Done]:
    """Do all vectors on the implementation, or on `core`, as a port does."""
    core = core or protocol.core
    for model in vectors.files:
        values = vectors.constants[model]
        table = vectors.steps(model)
        replayed = None if table is None else replay(Rows(protocol, table, values), core.step)
        follower = Follower(protocol, values, core)
        count, steps = 0, 0
        wrong: list[tuple[str, Divergence]] = []
        for path, states in vectors.walks(model):
            count, steps = count + 1, steps + len(states) - 1
            if (found := replay_walk(follower, states)) is not None:
                wrong.append((path, found))
        yield Done(model, replayed, count, steps, tuple(wrong))


# The command


def command(
    protocol: str,
    *,
    out: Annotated[Path, typer.Option(help="The folder of the vectors.")],
    tier: Annotated[str, typer.Option(help="Which models: smoke, full or deep.")] = "full",
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Only this model.")] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing: do the vectors in the folder on the implementation."),
    ] = False,
) -> None:
    """Write test vectors for ports: tables of local steps, and walks of whole groups.

    With --check, read them back, hold every file against its digest and do all of it on the implementation;
    exits with 1 if something does not pass.
    """
    root = find_root()
    manifest = load(root, protocol)
    if check:
        raise typer.Exit(_check(out, derive.load(manifest)))
    chosen = _chosen(manifest, tier, model)
    with console.Watch() as watch:
        told = write(root, manifest, chosen, out, listener=watch)
    for entry in read(out).files.items():
        typer.echo(_line(protocol, *entry))
    typer.echo(f"{out}: {told['format']}")


def _chosen(manifest: Manifest, tier: str, name: str | None) -> list[Model]:
    if tier not in TIERS:
        raise typer.BadParameter(f"there is {', '.join(TIERS)}, not {tier}", param_hint="--tier")
    known = [model for model in manifest.models if model.conform or model.walk]
    found = [model for model in checking.select(manifest, tier, name) if model in known]
    if not found:
        names = tuple(model.name for model in known)
        raise UnknownNameError("model with conform or walk", name or f"tier {tier}", names)
    return found


def _line(protocol: str, model: str, files: tuple[Written, ...]) -> str:
    """Say what there is of a model."""
    told = [f"{sum(file.records for file in files if file.kind == 'local steps'):,} local steps"]
    walked = [file for file in files if file.kind == "walk"]
    told.append(f"{len(walked):,} walks of {sum(file.records for file in walked):,} steps")
    size = sum(file.size for file in files)
    return f"{protocol} {model}: {', '.join(told)}, {size / 1e6:.1f} MB"


def _check(folder: Path, implementation: Protocol) -> int:
    protocol = implementation.name
    vectors = read(folder)
    if vectors.protocol != protocol:
        raise VectorError(str(folder / MANIFEST), 1, f"vectors of {protocol}, not of {vectors.protocol}")
    good = True
    for done in do(vectors, implementation):
        good = good and done.passed
        steps = 0 if done.replayed is None else sum(done.replayed.counts.values())
        verdict = "ok" if done.passed else "FAILS"
        typer.echo(
            f"{protocol} {done.model}: {verdict}: {steps:,} local steps, "
            f"{done.walks:,} walks of {done.steps:,} steps"
        )
        if done.replayed is not None and (failure := done.replayed.first) is not None:
            typer.echo(f"FAILS {done.model}: row {failure.row} is {failure.verdict}")
        for path, divergence in done.divergences[:_SHOWN]:
            typer.echo(f"FAILS {path}")
            typer.echo(divergence.text())
    return OK if good else DIFFERS


_SHOWN: Final = 3
