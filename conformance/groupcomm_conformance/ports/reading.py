"""Reading vectors. Nothing is trusted: what is not as the manifest and the format say is a `VectorError`."""

import json
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from attrs import field, frozen

from groupcomm_conformance.files.errors import reason
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.steps.table import HANDLED, Result, StepTable
from groupcomm_conformance.tla.values import JSON, Fn, Value, from_json, show
from groupcomm_conformance.walks.follow import LOCAL
from groupcomm_conformance.walks.graph import ACT

from .format import FORMAT, KINDS, MANIFEST, SCENARIOS, SCHEMA, STEPS, WALK, VectorError, Written, text
from .writing import told as file_told

__all__ = ["Vectors", "read"]

_BESIDE: Final = ("format", "schema")
"""Kinds of files that have no vectors."""


@frozen
class Vectors:
    """A folder of vectors that is as its manifest says.

    `files` are by set: a model's name, or `scenarios/NAME`. `constants` are those of each set.
    """

    folder: Path
    protocol: str
    files: Mapping[str, tuple[Written, ...]]
    constants: Mapping[str, Mapping[str, Value]] = field(hash=False)

    def steps(self, name: str) -> StepTable | None:
        """Give the table of a set; None if there is none. VectorError for a line that is no local step."""
        for file in self.files[name]:
            if file.kind == STEPS:
                return _table(self.folder / file.path, file.records)
        return None

    def walks(self, name: str) -> Iterator[tuple[str, tuple[Fn, ...]]]:
        """Give the walks of a set: the file's path, and the states. VectorError for what is no such trace."""
        known: dict[str, Value] = {}
        for file in self.files[name]:
            if file.kind == WALK:
                yield file.path, _states(self.folder / file.path, file.records, known)


def read(folder: Path) -> Vectors:
    """Read a manifest and hold every file against it; VectorError where anything is not as it says."""
    place = folder / MANIFEST
    if not place.is_file():
        raise VectorError(str(place), 1, "a manifest of vectors, but there is no such file")
    told = _json(place, 1, _content(place))
    if not isinstance(told, dict):
        raise VectorError(str(place), 1, "a manifest of vectors")
    if told.get("format") != FORMAT:
        raise VectorError(str(place), 1, f'the format "{FORMAT}", not {_brief(told.get("format"))}')
    try:
        beside = [_entry(place, entry, _BESIDE) for entry in _list(told, "files")]
        sets = [
            *((str(model["model"]), model) for model in _list(told, "models")),
            *((f"{SCENARIOS}/{each['scenario']}", each) for each in _list(told, "scenarios")),
        ]
        files = [
            (name, tuple(_entry(place, entry, KINDS) for entry in _list(each, "files")))
            for name, each in sets
        ]
        constants = {
            name: {str(constant): from_json(value) for constant, value in each["constants"].items()}
            for name, each in sets
        }
        protocol = str(told["protocol"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, VectorError):
            raise
        expected = f"a manifest as {SCHEMA} describes it ({type(error).__name__}: {_brief(str(error))})"
        raise VectorError(str(place), 1, expected) from None
    _whole(place, files)
    _as_listed(folder, [*beside, *(file for _, of in files for file in of)])
    return Vectors(folder, protocol, dict(files), constants)


def _whole(place: Path, files: list[tuple[str, tuple[Written, ...]]]) -> None:
    """See that there is something to do, all of it of a kind that is known."""
    if not files:
        raise VectorError(str(place), 1, "vectors of a model or a scenario, but it lists none")
    names = [name for name, _ in files]
    for name, of in files:
        if names.count(name) > 1:
            raise VectorError(str(place), 1, f"each model and scenario once, not {name} again")
        if not of:
            raise VectorError(str(place), 1, f"files of {name}, but it lists none")
        if sum(file.kind == STEPS for file in of) > 1:
            raise VectorError(str(place), 1, f"one table of {name}")
        for file in of:
            if file.records < 1:
                raise VectorError(str(place), 1, f"something in {file.path}, not {file.records} records")


def _as_listed(folder: Path, listed: list[Written]) -> None:
    """Hold every file against what is listed."""
    by_path = {file.path: file for file in listed}
    if len(by_path) < len(listed):
        raise VectorError(str(folder / MANIFEST), 1, "each file once")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()} - {
        MANIFEST
    }
    for path in sorted(there.symmetric_difference(by_path)):
        expected = (
            "to be there, as the manifest has it" if path in by_path else "no file that the manifest has not"
        )
        raise VectorError(str(folder / path), 1, expected)
    for path, file in by_path.items():
        try:
            found = file_told(folder, folder / path, file.kind, file.records)
        except OSError as error:
            raise VectorError(str(folder / path), 1, f"a file, but {reason(error)}") from None
        if found != file:
            expected = (
                f"{file.size:,} bytes with SHA-256 {file.digest}, not {found.size:,} with {found.digest}"
            )
            raise VectorError(str(folder / path), 1, expected)


def _list(told: Mapping[str, Any], key: str) -> list[Any]:
    found = told[key]
    if not isinstance(found, list):
        raise TypeError(f"{key} is no list")
    return found


def _entry(place: Path, told: Mapping[str, Any], kinds: tuple[str, ...]) -> Written:
    path, kind = str(told["path"]), str(told["kind"])
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path.startswith("/") or path != "/".join(parts):
        raise VectorError(str(place), 1, f"a path within the folder, not {_brief(path)}")
    if kind not in kinds:
        raise VectorError(str(place), 1, f"{path} to be one of {', '.join(kinds)}, not {_brief(kind)}")
    for name in ("records", "bytes"):
        if type(told[name]) is not int or told[name] < 0:
            raise VectorError(str(place), 1, f"a number of {name} of {path}, not {_brief(told[name])}")
    return Written(
        path=path, kind=kind, records=told["records"], size=told["bytes"], digest=str(told["sha256"])
    )


_LONGEST: Final = 80


def _brief(value: object) -> str:
    """A value in an error, cut where it is long."""
    told = repr(value) if not isinstance(value, str) else value
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}..."


def _content(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise VectorError(str(file), line, "text in UTF-8") from None
    except OSError as error:
        raise VectorError(str(file), 1, f"a file, but {reason(error)}") from None


def _json(file: Path, line: int, told: str) -> Any:  # noqa: ANN401 - of any type
    try:
        return json.loads(told, object_pairs_hook=_once, parse_constant=_number)
    except RecursionError:
        raise VectorError(str(file), line, "JSON that is not nested so deeply") from None
    except ValueError as error:
        raise VectorError(str(file), line, f"JSON: {_brief(str(error))}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _number(name: str) -> object:
    raise ValueError(f"{name} is no number in JSON")


def _value(file: Path, line: int, told: JSON, known: dict[str, Value]) -> Value:
    """A value in the ITF encoding, each text once."""
    key = text(told)
    if key not in known:
        try:
            known[key] = from_json(told)
        except RecursionError:
            raise VectorError(str(file), line, "a value that is not nested so deeply") from None
        except (ValueError, TypeError) as error:
            raise VectorError(str(file), line, f"a value: {_brief(str(error))}") from None
    return known[key]


# Local steps

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
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            told = _step(file, number, line)
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
                if after.keys() != state.keys():
                    raise VectorError(str(file), number, "a next state with the fields that the state has")
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


def _step(file: Path, number: int, line: bytes) -> dict[str, Any]:
    """A line of a table."""
    try:
        told = _json(file, number, line.decode())
    except UnicodeDecodeError:
        raise VectorError(str(file), number, "text in UTF-8") from None
    fields = _HANDLED_FIELDS if isinstance(told, dict) and told.get("outcome") == "handled" else _FIELDS
    if not isinstance(told, dict) or tuple(told) != fields or told["outcome"] not in OUTCOMES:
        raise VectorError(str(file), number, f"a local step, with the fields {', '.join(_FIELDS)}")
    return told


# Walks


def _states(file: Path, steps: int, known: dict[str, Value]) -> tuple[Fn, ...]:
    """The states of a walk: the step that led to each, and the members' states."""
    told = _json(file, 1, _content(file))
    if not isinstance(told, dict) or set(told) != {"#meta", "vars", "states"}:
        raise VectorError(str(file), 1, "an ITF trace: #meta, vars and states")
    names, states = told["vars"], told["states"]
    if (
        not isinstance(names, list)
        or not isinstance(states, list)
        or not all(isinstance(name, str) for name in names)
        or not {ACT, LOCAL} <= set(names)
    ):
        raise VectorError(str(file), 1, f"a list of states, and of variables with {ACT} and {LOCAL}")
    found: list[Fn] = []
    for index, state in enumerate(states):
        line = index + 2  # each state is a line, below the one with the variables
        if not isinstance(state, dict) or set(state) != {"#meta", *names}:
            raise VectorError(str(file), line, f"a state with the variables {', '.join(names)}")
        if state["#meta"] != {"index": index}:
            raise VectorError(str(file), line, f"the state {index}")
        found.append(Fn({name: _value(file, line, state[name], known) for name in names}))
    if len(found) != steps + 1:
        raise VectorError(str(file), len(found) + 1, f"a walk of {steps} steps, not {len(found) - 1}")
    return tuple(found)
