"""Writing vectors: tables of local steps, walks of models, and the paths of scenarios.

A folder is written beside its place and put there when it is whole. The same specification gives the same
bytes.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from groupcomm_conformance.models import checking
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError, Protocol
from groupcomm_conformance.scenarios.checking import judged
from groupcomm_conformance.scenarios.following import configuration, walks
from groupcomm_conformance.scenarios.paths import Path as ScenarioPath
from groupcomm_conformance.scenarios.steps import Scenario
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.table import HANDLED, StepTable, Tables
from groupcomm_conformance.tla.values import JSON, Fn, Value, parse, show, to_json
from groupcomm_conformance.walks import graph as graphs
from groupcomm_conformance.walks.covering import NONE, Walk, cover_edges
from groupcomm_conformance.walks.graph import ACT
from groupcomm_conformance.walks.quotient import Quotient, quotient

from .format import FORMAT, MANIFEST, README, SCENARIOS, SCHEMA, STEPS, WALK, VectorError, Written, text

__all__ = ["told", "write"]

_TABLE: Final = "steps.jsonl"
_ITF: Final = "https://apalache-mc.org/docs/adr/015adr-trace.html"
_DOCS: Final = "docs/vectors.md"


def write(
    root: Path,
    manifest: Manifest,
    models: Iterable[Model],
    out: Path,
    *,
    scenarios: Sequence[Path] = (),
    listener: checking.Listener | None = None,
) -> dict[str, JSON]:
    """Write the vectors of a protocol, those of some models and scenarios, into `out`; give their manifest.

    VectorError if something else is there, or a scenario is no path of the specification. A TLCError where
    TLC gives no table or graph.
    """
    if out.exists() and not (out / MANIFEST).is_file() and any(out.iterdir()):
        raise VectorError(str(out), 1, "vectors of an earlier run or nothing at all: name another folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as beside:
        draft = Path(beside, "vectors")
        draft.mkdir()
        found = _write(root, manifest, draft, models=models, scenarios=scenarios, listener=listener)
        if out.exists():
            out.rename(Path(beside, "earlier"))
        draft.rename(out)
    return found


def _write(
    root: Path,
    manifest: Manifest,
    out: Path,
    *,
    models: Iterable[Model],
    scenarios: Sequence[Path],
    listener: checking.Listener | None,
) -> dict[str, JSON]:
    implementation = derive.load(manifest)
    of_models: list[JSON] = []
    for model in models:
        constants = _constants(implementation, manifest, model)
        of_models.append(_model(root, manifest, model, out, constants=constants, listener=listener))
    of_scenarios: list[JSON] = [
        _scenario(implementation, scenario, path, out) for scenario, path in judged(root, scenarios)
    ]
    shutil.copyfile(root / _DOCS, out / README)
    shutil.copyfile(Path(__file__).with_name("vectors.schema.json"), out / SCHEMA)
    beside = [told(out, out / README, "format", 1), told(out, out / SCHEMA, "schema", 1)]
    found: dict[str, JSON] = {
        "format": FORMAT,
        "protocol": manifest.protocol,
        "files": [file.told() for file in beside],
        "models": of_models,
        "scenarios": of_scenarios,
    }
    (out / MANIFEST).write_text(json.dumps(found, indent=1, ensure_ascii=True) + "\n", encoding="ascii")
    return found


# Models


def _model(
    root: Path,
    manifest: Manifest,
    model: Model,
    out: Path,
    *,
    constants: Mapping[str, JSON],
    listener: checking.Listener | None,
) -> JSON:
    files: list[Written] = []
    folder = out / model.name
    folder.mkdir()
    if model.conform:
        lines = _table_lines(root, manifest, model, listener)
        files.append(_written(out, folder / _TABLE, STEPS, lines))
    if model.walk:
        files += _write_walks(root, manifest, model, out)
    return {
        "model": model.name,
        "shows": model.shows,
        "bounds": model.bounds,
        "constants": {**constants},
        "files": [file.told() for file in files],
    }


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


def _steps(table: StepTable) -> Iterator[str]:
    """The lines of a table; those that are handled have the next state and the effects too."""
    states, events = ([text(to_json(value)) for value in values] for values in (table.states, table.events))
    effects = [text(to_json(result.effects)) for result in table.results]
    following: dict[tuple[int, int], str] = {}
    for place, cell in enumerate(table.cells):
        state, event = divmod(place, len(events))
        line = f'{{"row":{place + 1},"state":{states[state]},"event":{events[event]},'
        if cell < HANDLED:
            yield f'{line}"outcome":"{OUTCOMES[cell]}"}}\n'
            continue
        if (state, cell) not in following:
            following[state, cell] = text(to_json(table.expected(place + 1)[0]))
        yield (
            f'{line}"outcome":"{OUTCOMES[HANDLED]}","next":{following[state, cell]},'
            f'"effects":{effects[cell - HANDLED]}}}\n'
        )


def _write_walks(root: Path, manifest: Manifest, model: Model, out: Path) -> list[Written]:
    of = quotient(graphs.load(manifest, model, root / ".cache" / "groupcomm"))
    found = cover_edges(of.initial, of.edges)
    folder = out / model.name / "walks"
    folder.mkdir()
    texts: dict[int, str] = {}
    digits = len(str(len(found)))
    files: list[Written] = []
    for number, walk in enumerate(found, start=1):
        title = f"{manifest.protocol} {model.name}, walk {number}"
        trace = _trace(title, _parts(of, walk, texts))
        file = folder / f"{number:0{digits}}.itf.json"
        files.append(_written(out, file, WALK, [trace], len(walk) - 1))
    return files


def _parts(of: Quotient, walk: Walk, texts: dict[int, str]) -> Iterator[Mapping[str, str]]:
    """The states of a walk as JSON, by variable; `texts` remembers the graph's values in that encoding."""
    graph = of.graph
    for edge, state in walk:
        node = of.states[state]
        act = node if edge == NONE else of.acts[edge]
        parts: dict[str, str] = {}
        for column, variable in enumerate(graph.variables):
            number = graph.rows[act if variable == ACT else node][column]
            if number not in texts:
                texts[number] = text(to_json(parse(graph.texts[number])))
            parts[variable] = texts[number]
        yield parts


# Scenarios


def _scenario(implementation: Protocol, scenario: Scenario, path: ScenarioPath, out: Path) -> JSON:
    """Write the walks of a scenario: its path, and what it tries on the way."""
    name = Path(scenario.file).stem
    folder = out / SCENARIOS / name
    folder.mkdir(parents=True)
    known: dict[str, str] = {}
    files: list[Written] = []
    for states, _ in walks(path):
        if len(states) > 1:
            title = f"{scenario.protocol}: {scenario.name}"
            file = folder / f"{len(files) + 1}.itf.json"
            trace = _trace(title, (_state(state, known) for state in states))
            files.append(_written(out, file, WALK, [trace], len(states) - 1))
    constants = configuration(implementation, scenario)
    return {
        "scenario": name,
        "title": scenario.name,
        "source": scenario.source,
        "requirements": [*scenario.requirements],
        "constants": {constant: to_json(value) for constant, value in constants.items()},
        "files": [file.told() for file in files],
    }


def _state(state: Fn, known: dict[str, str]) -> Mapping[str, str]:
    return {str(variable): _json(value, known) for variable, value in state.items()}


def _json(value: Value, known: dict[str, str]) -> str:
    key = show(value)
    if key not in known:
        known[key] = text(to_json(value))
    return known[key]


# Files


def _trace(title: str, states: Iterable[Mapping[str, str]]) -> str:
    """A walk as an ITF trace, its variables the specification's; `act` is the step that led to a state."""
    head: JSON = {"format": "ITF", "format-description": _ITF, "description": title}
    lines: list[str] = []
    variables: list[JSON] = []
    for index, state in enumerate(states):
        variables = [*state]
        values = ",".join(f'"{name}":{value}' for name, value in state.items())
        lines.append(f'{{"#meta":{{"index":{index}}},{values}}}')
    listed = ",\n".join(lines)
    return f'{{"#meta":{text(head)},"vars":{text(variables)},"states":[\n{listed}\n]}}\n'


def _written(out: Path, file: Path, kind: str, lines: Iterable[str], records: int | None = None) -> Written:
    count = 0
    with file.open("w", encoding="ascii", newline="\n") as stream:
        for count, line in enumerate(lines, start=1):  # noqa: B007 - the last is how many there were
            stream.write(line)
    return told(out, file, kind, count if records is None else records)


def told(out: Path, file: Path, kind: str, records: int) -> Written:
    """Say what a file is."""
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Written(file.relative_to(out).as_posix(), kind, records, file.stat().st_size, digest)
