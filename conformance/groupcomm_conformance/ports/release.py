"""The release: vectors of all protocols in one archive, format 3.

A file has all of a model, with each state, event and effect once and numbers in between. What a file is
made of is kept in the cache as soon as it is made: an interrupted run goes on where it ended, and one that
finds all of it only packs. The archive is written beside its place and put there when it is whole; the same
specification and version give the same bytes.
"""

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import zstandard
from attrs import define, field

from groupcomm_conformance.files.keys import key
from groupcomm_conformance.files.store import Store, replace
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.models.manifest import Manifest, Model, load, protocols
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.scenarios.checking import judged
from groupcomm_conformance.scenarios.following import configuration
from groupcomm_conformance.scenarios.following import walks as ways
from groupcomm_conformance.scenarios.reading import files as scenarios_of
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.table import HANDLED, StepTable, Tables
from groupcomm_conformance.tla.values import Fn, Value, parse, show
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.walks import graph as graphs
from groupcomm_conformance.walks.covering import NONE, cover_edges
from groupcomm_conformance.walks.follow import LOCAL
from groupcomm_conformance.walks.graph import ACT
from groupcomm_conformance.walks.quotient import quotient

from .judging import Judge
from .minimal import chosen
from .plain import compact, loose, schema
from .prelude import Preludes
from .walking import Begun, Step, Walk, started, steps_of
from .words import transitions

__all__ = [
    "FORMAT",
    "MANIFEST",
    "MINIMAL",
    "RELEASE",
    "SCENARIOS",
    "Made",
    "pack",
    "protocol_files",
    "release",
]

FORMAT: Final = "groupcomm vectors 3"
MANIFEST: Final = "manifest.json"
RELEASE: Final = "release.json"
SCENARIOS: Final = "scenarios.json"
MINIMAL: Final = "minimal.json"

_NO_PROOF: Final = "a row for each way that a step goes: no proof, as rows of one way differ"

_ROOMS: Final = ("files", "models", "ports", "protocols", "scenarios", "steps", "tla", "tlc", "walks")
_LEVEL: Final = 12
_WINDOW: Final = 27
_DOCS: Final = {"PORTING.md": "docs/porting.md", "VECTORS.md": "docs/vectors.md"}
_ADAPTER: Final = "adapter.schema.json"

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


def _walks_of(
    root: Path, manifest: Manifest, model: Model, protocol: Protocol, constants: Mapping[str, Value]
) -> Iterator[Walk]:
    """Give walks that together take each transition of a model."""
    of = quotient(graphs.load(manifest, model, root / ".cache" / "groupcomm"))
    graph, preludes = of.graph, Preludes(protocol, protocol.config(constants))
    columns = {name: graph.variables.index(name) for name in (ACT, LOCAL)}
    known: dict[int, Value] = {}

    def value(number: int) -> Value:
        if number not in known:
            known[number] = parse(graph.texts[number])
        return known[number]

    for number, walk in enumerate(cover_edges(of.initial, of.edges), 1):
        states = []
        for edge, state in walk:
            node = of.states[state]
            act = node if edge == NONE else of.acts[edge]
            told = {ACT: graph.rows[act][columns[ACT]], LOCAL: graph.rows[node][columns[LOCAL]]}
            states.append(Fn({name: value(each) for name, each in told.items()}))
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
    return _object(
        {**{name: compact(each) for name, each in head.items()}, **file.pools(), "scenarios": _lines(told)}
    )


# One protocol


class _Files(Store):
    """Files that were made."""

    name = "released"


def protocol_files(
    root: Path,
    manifest: Manifest,
    *,
    only: Sequence[str] = (),
    listener: Any = None,  # noqa: ANN401 - a checking.Listener
    told: Callable[[str], object] = lambda _: None,
) -> Made:
    """Give the files of a protocol by their paths; each is kept as soon as it is made."""
    protocol = derive.load(manifest)
    store = _Files.of(root)
    jar = tools.jar_digest(tools.find_jar())
    sources = read_modules(manifest.folders, manifest.module)
    core = hashlib.sha256(Path(str(protocol.module.__file__)).read_bytes()).hexdigest()

    def kept(name: str, make: Callable[[], bytes], *depends: object) -> bytes:
        at = key(_ROOMS, FORMAT, manifest.protocol, name, sorted(sources.bare.items()), jar, core, *depends)
        found = store.read(at)
        if found is None:
            told(name)
            found = make()
            store.write(at, found)
        return found

    models = [
        each
        for each in manifest.models
        if (each.conform or each.walk) and (each.name in only if only else each.tier != "deep")
    ]
    made: Made = {"schema.json": (json.dumps(schema(protocol), indent=1) + "\n").encode("ascii")}
    of_models: list[dict[str, Any]] = []
    for model in models:
        cfg = manifest.cfg(model)
        text = kept(
            model.name,
            lambda model=model: model_file(root, manifest, model, protocol, listener),  # type: ignore[misc]
            sorted(cfg.constants.items()),
            [model.conform, model.walk],
        )
        made[f"{model.name}.json"] = text
        of_models.append(
            {
                "model": model.name,
                "path": f"{model.name}.json",
                "shows": model.shows,
                "bounds": model.bounds,
                "constants": _constants(cfg.constants, sources.bare),
                "configuration": [*protocol.parameters.values()],
                "counts": _head(text)["counts"],
            }
        )
    tables = {each["model"]: made[each["path"]] for each in of_models if each["counts"]["rows"]}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in tables.items()}
    types = json.loads(made["schema.json"])
    made["transitions.md"] = kept(
        "transitions.md", lambda: transitions(manifest, types, tables).encode(), sources.texts, digests
    )
    made[MINIMAL] = kept(MINIMAL, lambda: _minimal(tables), digests)
    of_scenarios: list[dict[str, Any]] = []
    if not only:
        texts = [file.read_text(encoding="utf-8") for file in scenarios_of(root, manifest.protocol)]
        made[SCENARIOS] = kept(SCENARIOS, lambda: scenarios_file(root, protocol), texts)
        of_scenarios = [
            {name: each[name] for name in ("scenario", "title", "source", "requirements", "counts")}
            for each in json.loads(made[SCENARIOS])["scenarios"]
        ]
    head = {
        "format": FORMAT,
        "protocol": manifest.protocol,
        "groupcomm": version("groupcomm"),
        "tlc": jar,
        "modules": {
            name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(sources.texts.items())
        },
        "files": {
            path: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for path, data in sorted(made.items())
        },
        "models": of_models,
        "scenarios": of_scenarios,
    }
    made[MANIFEST] = (json.dumps(head, indent=1) + "\n").encode("ascii")
    return made


def _minimal(tables: Mapping[str, bytes]) -> bytes:
    rows, ways = chosen(tables)
    return (compact({"format": FORMAT, "is": _NO_PROOF, "ways": ways, "rows": rows}) + "\n").encode("ascii")


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


# All of them


def release(
    root: Path,
    *,
    listener: Any = None,  # noqa: ANN401 - a checking.Listener
    told: Callable[[str], object] = lambda _: None,
    names: Sequence[str] = (),
) -> tuple[str, Made]:
    """Give the name of the archive's folder and its files."""
    name = f"groupcomm-vectors-{version('groupcomm')}"
    made: Made = {}
    of: dict[str, Any] = {}
    for each in names or protocols(root):
        manifest = load(root, each)
        files = protocol_files(
            root,
            manifest,
            listener=listener,
            told=lambda model, each=each: told(f"{each} {model}"),  # type: ignore[misc]
        )
        made |= {f"{each}/{path}": data for path, data in files.items()}
        of[each] = {"sha256": hashlib.sha256(files[MANIFEST]).hexdigest(), "files": len(files)}
    for path, source in _DOCS.items():
        made[path] = (root / source).read_bytes()
    made[_ADAPTER] = Path(__file__).with_name(_ADAPTER).read_bytes()
    head = {"format": FORMAT, "groupcomm": version("groupcomm"), "commit": _commit(root), "protocols": of}
    made[RELEASE] = (json.dumps(head, indent=1) + "\n").encode("ascii")
    return name, made


def _commit(root: Path) -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    ran = subprocess.run([git, "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return ran.stdout.strip()


def pack(name: str, made: Made, out: Path) -> Path:
    """Write the archive into the folder `out`, whole or not at all; give its path."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, data in sorted(made.items()):
            info = tarfile.TarInfo(f"{name}/{path}")
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
    window = zstandard.ZstdCompressionParameters.from_level(
        _LEVEL, window_log=_WINDOW, enable_ldm=True, write_checksum=True
    )
    target = out / f"{name}.tar.zst"
    replace(target, zstandard.ZstdCompressor(compression_params=window).compress(stream.getvalue()))
    return target
