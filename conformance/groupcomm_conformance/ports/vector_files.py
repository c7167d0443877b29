"""The files of vectors, format 3: of a protocol, what a release has of it.

A file has all of a model, with each state, event and effect once and numbers in between. The parts of a file
are kept in the cache as soon as they are made: an interrupted run continues where it ended, and a run that
finds all parts only packs. The same specification and version give the same bytes.
"""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from attrs import define, field

from groupcomm_conformance.files.keys import code_digest, key
from groupcomm_conformance.files.store import Store
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.scenarios.checking import judged
from groupcomm_conformance.scenarios.following import configuration
from groupcomm_conformance.scenarios.following import walks as ways
from groupcomm_conformance.scenarios.reading import files as scenarios_of
from groupcomm_conformance.steps.conform import table_of, tables_of
from groupcomm_conformance.steps.table import HANDLED, StepTable, Tables
from groupcomm_conformance.tla.values import Fn, Value, parse, show
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.walks import graph as graphs
from groupcomm_conformance.walks.covering import NONE, cover_edges
from groupcomm_conformance.walks.follow import LOCAL
from groupcomm_conformance.walks.graph import ACT
from groupcomm_conformance.walks.quotient import quotient

from .behaviour import digest
from .itf import Traces
from .judging import Judge
from .minimal import chosen
from .pages import pages
from .plain import compact, loose, schema
from .prelude import Preludes
from .walking import Begun, Step, Walk, started, steps_of
from .widened import widened
from .words import transitions

FORMAT: Final = "groupcomm vectors 3"
MANIFEST: Final = "manifest.json"
SCHEMA: Final = "schema.json"
RELEASE: Final = "release.json"
SCENARIOS: Final = "scenarios.json"
MINIMAL: Final = "minimal.json"
ITF: Final = "itf"
"""The folder of walks as ITF traces."""

_NO_PROOF: Final = (
    "a row for each way that a step goes, and rows to which mutants of core and specification fall: "
    "no proof, as rows of a way differ, and a port's mistakes are others"
)

_SCENARIOS: Final = "scenarios"
"""The folder of their traces."""

Made = dict[str, bytes]
"""Files by their paths."""


# One model


@define
class _Pool:
    """Values as JSON, each once, under numbers in the order in which they came."""

    write: Callable[[Value], str]
    texts: list[str] = field(factory=list)
    _numbers: dict[str, int] = field(factory=dict)

    def number(self, value: Value) -> int:
        """Give the number of a value."""
        told = show(value)
        found = self._numbers.get(told)
        if found is None:
            found = self._numbers[told] = len(self.texts)
            self.texts.append(self.write(value))
        return found


class _File:
    """A file in the making: pools of values, results of steps, walks."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        shape = judge.state_shape
        self._fields: Mapping[str, Any] = getattr(shape, "fields")  # noqa: B009 - a state is a record
        effect = judge.effects_shape.item
        self.states = _Pool(judge.state)
        self.events = _Pool(judge.event)
        self.effects = _Pool(lambda value: compact(judge.plain.write(value, effect)))
        self.results: list[str] = []
        self._cells: dict[tuple[str, str], int] = {}

    def result(self, changes: Mapping[str, Value], effects: Iterable[Value]) -> int:
        """Give the cell of a handled step: what changes, and the numbers of its effects."""
        numbers = [*map(self.effects.number, effects)]
        told = {name: self._judge.plain.write(value, self._fields[name]) for name, value in changes.items()}
        text = f"[{compact(dict(sorted(told.items())))},{compact(numbers)}]"
        found = self._cells.get((text, ""))
        if found is None:
            found = self._cells[text, ""] = HANDLED + len(self.results)
            self.results.append(text)
        return found

    def table(self, table: StepTable) -> dict[str, str]:
        """Give the rows of a table and the states in which members start."""
        for state in table.states:
            self.states.number(state)
        for event in table.events:
            self.events.number(event)
        cells = [self.result(result.changes, result.effects) for result in table.results]
        width = len(table.events)
        rows = []
        for begin in range(0, len(table), width):
            row = table.cells[begin : begin + width]
            rows.append([cell if cell < HANDLED else cells[cell - HANDLED] for cell in row])
        starts = {member: self.states.number(state) for member, state in table.starts.items()}
        return {"starts": compact(starts), "rows": _lines(map(compact, rows))}

    def walk(self, walk: Walk) -> str:
        """Write a walk: where members begin, and the steps."""
        first = dict(walk.firsts)
        members: dict[str, Any] = {}
        for member, state in first.items():
            prelude = None if walk.members is None else [*map(self.events.number, walk.members[member])]
            members[member] = [self.states.number(state), prelude]
        steps = [*map(self._step, walk.steps)]
        return f'{{"members":{compact(members)},"steps":{compact(steps)}}}'

    def _step(self, step: Step | Begun) -> list[Any]:
        if isinstance(step, Begun):
            return [step.member]
        event, cell = self.events.number(step.event), OUTCOMES.index(step.outcome)
        if cell == HANDLED:
            before, after = step.before, step.after
            assert isinstance(before, Fn) and isinstance(after, Fn)  # noqa: S101, PT018 - states are records
            changes = {str(name): after[name] for name in after if show(after[name]) != show(before[name])}
            assert isinstance(step.effects, tuple)  # noqa: S101 - effects are a sequence
            cell = self.result(changes, step.effects)
        return [step.member, event, cell, *(["start"] if step.begins else [])]

    def pools(self) -> dict[str, str]:
        """Give what the numbers stand for."""
        pools = {"states": self.states.texts, "events": self.events.texts, "effects": self.effects.texts}
        return {**{name: _lines(texts) for name, texts in pools.items()}, "results": _lines(self.results)}


def _lines(texts: Iterable[str]) -> str:
    told = ",\n".join(texts)
    return f"[\n{told}\n]" if told else "[]"


def _object(parts: Mapping[str, str]) -> bytes:
    return ("{" + ",\n".join(f'"{name}":{text}' for name, text in parts.items()) + "}\n").encode("ascii")


def _behaviours(root: Path, manifest: Manifest, model: Model, variables: Sequence[str] = ()) -> Iterator[list[Fn]]:
    """Give behaviours that together take each transition of a model, of all variables or of those named."""
    of = quotient(graphs.load(manifest, model, root / ".cache" / "groupcomm"))
    graph = of.graph
    columns = {name: graph.variables.index(name) for name in variables or graph.variables}
    known: dict[int, Value] = {}

    def value(number: int) -> Value:
        if number not in known:
            known[number] = parse(graph.texts[number])
        return known[number]

    for walk in cover_edges(of.initial, of.edges):
        states = []
        for edge, state in walk:
            node = of.states[state]
            act = node if edge == NONE else of.acts[edge]
            rows = {name: graph.rows[act if name == ACT else node] for name in columns}
            states.append(Fn({name: value(rows[name][column]) for name, column in columns.items()}))
        yield states


def _walks_of(
    root: Path, manifest: Manifest, model: Model, protocol: Protocol, constants: Mapping[str, Value]
) -> Iterator[Walk]:
    preludes = Preludes(protocol, protocol.config(constants))
    for number, states in enumerate(_behaviours(root, manifest, model, (ACT, LOCAL)), 1):
        yield steps_of(f"walk {number}", states, started(protocol), preludes)


def model_file(root: Path, manifest: Manifest, model: Model, protocol: Protocol, listener: Any) -> bytes:  # noqa: ANN401
    """Give the file of a model. FileNotFoundError where the model does not hold."""
    constants = derive.constants_of(manifest.cfg(model))
    file = _File(Judge(protocol))
    parts: dict[str, str] = {}
    counts = {"states": 0, "events": 0, "rows": 0, "walks": 0, "steps": 0}
    if model.conform:
        checked = checking.run_model(manifest, model, cache=checking.Cache.of(root), listener=listener)
        if checked.harvest is None:
            raise FileNotFoundError(f"{model.name} does not hold ({checked.outcome}): it has no vectors")
        table, _ = table_of(manifest, model, checked.harvest, Tables.of(root))
        parts |= file.table(table)
        counts |= {"states": len(table.states), "events": len(table.events), "rows": len(table)}
    if model.walk:
        walks = [*_walks_of(root, manifest, model, protocol, constants)]
        parts["walks"] = _lines(map(file.walk, walks))
        counts |= {"walks": len(walks), "steps": sum(len(walk.steps) for walk in walks)}
    head = {
        "format": FORMAT,
        "protocol": manifest.protocol,
        "model": model.name,
        "config": _config(protocol, constants),
        "counts": counts,
    }
    return _object({**{name: compact(told) for name, told in head.items()}, **file.pools(), **parts})


def _renamed_files(root: Path, manifest: Manifest, models: Sequence[Model], protocol: Protocol) -> bytes:
    """Give the renamed tables of a protocol, one JSON object by their names: model, way, file."""
    tables = {}
    for model in models:
        checked = checking.run_model(manifest, model, cache=checking.Cache.of(root))
        if checked.harvest is not None:
            table, _ = table_of(manifest, model, checked.harvest, Tables.of(root))
            tables[model.name] = table, derive.constants_of(manifest.cfg(model))
    made = {}
    for name, (model_name, way, table) in widened(protocol, tables).items():
        file = _File(Judge(protocol))
        rows = file.table(table)
        counts = {"states": len(table.states), "events": len(table.events), "rows": len(table), "walks": 0, "steps": 0}
        head = {
            "format": FORMAT,
            "protocol": protocol.name,
            "model": name,
            "config": _config(protocol, tables[model_name][1]),
            "counts": counts,
        }
        text = _object({**{key: compact(told) for key, told in head.items()}, **file.pools(), **rows})
        made[name] = [model_name, way.what, text.decode("ascii")]
    return (compact(made) + "\n").encode("ascii")


def _search(root: Path, manifest: Manifest, models: Sequence[Model], listener: Any) -> None:  # noqa: ANN401
    """Search models and make their tables, some side by side: `model_file` has both from the cache then."""
    results = checking.run_models(
        [(manifest, each) for each in models], cache=checking.Cache.of(root), listener=listener
    )
    of = [(manifest, model, checked) for model, checked in zip(models, results, strict=True)]
    deque(tables_of(of, Tables.of(root)), maxlen=0)


def _config(protocol: Protocol, constants: Mapping[str, Value]) -> dict[str, Any]:
    return {name: loose(constants[name]) for name in protocol.parameters.values()}


def scenarios_file(root: Path, protocol: Protocol) -> bytes:
    """Give the file of a protocol's scenarios: each is a few walks."""
    file = _File(Judge(protocol))
    told: list[str] = []
    for scenario, path in judged(root, scenarios_of(root, protocol.name)):
        constants = configuration(protocol, scenario)
        preludes = Preludes(protocol, protocol.config(constants))
        walks = [steps_of(scenario.name, states, started(protocol), preludes) for states, _ in ways(path)]
        walks = [walk for walk in walks if walk.steps]
        head = {
            "scenario": Path(scenario.file).stem,
            "title": scenario.name,
            "source": scenario.source,
            "requirements": [*scenario.requirements],
            "config": _config(protocol, constants),
            "constants": {name: loose(value) for name, value in constants.items()},
            "counts": {"walks": len(walks), "steps": sum(len(walk.steps) for walk in walks)},
        }
        told.append(f'{compact(head)[:-1]},"walks":{_lines(map(file.walk, walks))}}}')
    head = {"format": FORMAT, "protocol": protocol.name}
    return _object({**{name: compact(each) for name, each in head.items()}, **file.pools(), "scenarios": _lines(told)})


# Walks as ITF traces


def _traces(folder: str, title: str, behaviours: Sequence[Sequence[Fn]]) -> Made:
    """Give a file for each of the behaviours of a model or a scenario."""
    written = Traces([state for states in behaviours for state in states])
    digits = len(str(len(behaviours)))
    return {
        f"{ITF}/{folder}/{number:0{digits}}.itf.json": written.trace(f"{title}, walk {number}", states)
        for number, states in enumerate(behaviours, 1)
    }


def _scenario_traces(root: Path, protocol: str) -> bytes:
    """Give the traces of all scenarios, one JSON object by their paths."""
    made: Made = {}
    for scenario, path in judged(root, scenarios_of(root, protocol)):
        behaviours = [states for states, _ in ways(path) if len(states) > 1]
        folder = f"{_SCENARIOS}/{Path(scenario.file).stem}"
        made |= _traces(folder, f"{protocol}: {scenario.name}", behaviours) if behaviours else {}
    return (compact({path: data.decode("ascii") for path, data in made.items()}) + "\n").encode("ascii")


# One protocol


class _Files(Store):
    """Files that were made."""

    name = "released"


def protocol_files(
    root: Path,
    manifest: Manifest,
    models: Sequence[Model] | None = None,
    *,
    scenarios: bool = True,
    itf: bool = False,
    listener: Any = None,  # noqa: ANN401 - a checking.Listener
    told: Callable[[str], object] = lambda _: None,
) -> Made:
    """Give the files of a protocol by their paths; each is kept as soon as it is made.

    `models` are those of the tier full where none are named. The walks of `scenarios` are ITF traces, too,
    and with `itf` those of models; these are not kept.
    """
    protocol = derive.load(manifest)
    store = _Files.of(root)
    jar = tools.jar_digest(tools.find_jar())
    sources = read_modules(manifest.folders, manifest.module)
    core = code_digest(protocol.module.__name__)

    def place(name: str, *depends: object) -> str:
        return key(__name__, FORMAT, manifest.protocol, name, sorted(sources.bare.items()), jar, core, *depends)

    def kept(name: str, make: Callable[[], bytes], *depends: object) -> bytes:
        at = place(name, *depends)
        found = store.read(at)
        if found is None:
            told(name)
            found = make()
            store.write(at, found)
        return found

    def entry(model: Model, name: str, shows: str, text: bytes) -> dict[str, Any]:
        """Give the entry of a table in the manifest, with the constants of its model."""
        return {
            "model": name,
            "path": f"{name}.json",
            "shows": shows,
            "bounds": model.bounds,
            "constants": _constants(manifest.cfg(model).constants, sources.bare),
            "configuration": [*protocol.parameters.values()],
            "counts": _head(text)["counts"],
            "rows": kept(
                f"{name} rows", lambda: digest(json.loads(text)).encode(), hashlib.sha256(text).hexdigest()
            ).decode(),
        }

    if models is None:
        models = [each for each in manifest.models if (each.conform or each.walk) and each.tier != "deep"]
    made: Made = {SCHEMA: (json.dumps(schema(protocol), indent=1) + "\n").encode("ascii")}
    of_models: list[dict[str, Any]] = []
    depends = {
        model.name: (sorted(manifest.cfg(model).constants.items()), [model.conform, model.walk]) for model in models
    }
    new = [each for each in models if not store.path(place(each.name, *depends[each.name])).is_file()]
    _search(root, manifest, [each for each in new if each.conform], listener)
    for model in models:
        text = kept(
            model.name,
            lambda model=model: model_file(root, manifest, model, protocol, listener),  # type: ignore[misc]
            *depends[model.name],
        )
        made[f"{model.name}.json"] = text
        if itf and model.walk:
            made |= _traces(model.name, f"{manifest.protocol} {model.name}", [*_behaviours(root, manifest, model)])
        of_models.append(entry(model, model.name, model.shows, text))
    tables = {each["model"]: made[each["path"]] for each in of_models if each["counts"]["rows"]}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in tables.items()}
    of_tables = [each for each in models if each.name in tables]
    wide = kept("renamed", lambda: _renamed_files(root, manifest, of_tables, protocol), digests)
    for name, (of, what, file) in json.loads(wide).items():
        made[f"{name}.json"] = file.encode("ascii")
        of_models.append(entry(manifest.model(of), name, f"{of} with {what}", made[f"{name}.json"]))
    types = json.loads(made[SCHEMA])
    made["transitions.md"] = kept(
        "transitions.md", lambda: transitions(manifest, types, tables).encode(), sources.texts, digests
    )
    made |= pages(manifest, sources, types)
    made[MINIMAL] = kept(MINIMAL, lambda: _minimal(tables), digests)
    of_scenarios: list[dict[str, Any]] = []
    if scenarios and scenarios_of(root, manifest.protocol):
        texts = [file.read_text(encoding="utf-8") for file in scenarios_of(root, manifest.protocol)]
        made[SCENARIOS] = kept(SCENARIOS, lambda: scenarios_file(root, protocol), texts)
        of_scenarios = [
            {name: each[name] for name in ("scenario", "title", "source", "requirements", "counts")}
            for each in json.loads(made[SCENARIOS])["scenarios"]
        ]
        traces = kept(f"{ITF} {SCENARIOS}", lambda: _scenario_traces(root, manifest.protocol), texts)
        made |= {path: text.encode("ascii") for path, text in json.loads(traces).items()}
    head = {
        "format": FORMAT,
        "protocol": manifest.protocol,
        "groupcomm": version("groupcomm"),
        "tlc": jar,
        "modules": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(sources.texts.items())},
        "files": {
            path: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for path, data in sorted(made.items())
        },
        "guards": {name: loose(value) for name, value in sorted(protocol.guards.items())},
        "models": of_models,
        "scenarios": of_scenarios,
    }
    made[MANIFEST] = (json.dumps(head, indent=1) + "\n").encode("ascii")
    return made


def _minimal(tables: Mapping[str, bytes]) -> bytes:
    return (compact({"format": FORMAT, "is": _NO_PROOF, "rows": chosen(tables)}) + "\n").encode("ascii")


def _head(text: bytes) -> dict[str, Any]:
    """Read the first lines of a model's file, those before its values."""
    lines = text.decode("ascii").split(",\n", 5)[:5]
    found: dict[str, Any] = json.loads("{" + ",".join(lines).removeprefix("{") + "}")
    return found


def _constants(sides: Mapping[str, str], bare: Mapping[str, str]) -> dict[str, Any]:
    """Give every constant as a value; of an operator in its place that is no literal, the text."""
    found: dict[str, Any] = {}
    for name, side in sorted(sides.items()):
        if side.startswith("= "):
            text, operator = side.removeprefix("= "), ""
        else:
            operator = side.removeprefix("<- ")
            text = next(
                (
                    line.partition("==")[2].strip()
                    for each in bare.values()
                    for line in each.splitlines()
                    if line.replace(" ", "").startswith((f"{operator}==", f"{operator}("))
                ),
                "",
            )
        try:
            found[name] = loose(parse(text))
        except ValueError:
            found[name] = {"operator": operator or text, "is": text}
    return found
