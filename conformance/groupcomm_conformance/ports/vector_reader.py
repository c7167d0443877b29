"""Reading a release that was unpacked: the folder of a protocol. Nothing is trusted.

Any difference from its manifest is a `VectorError`: a missing, cut or altered file, a different count, a
number that stands for nothing. Where the folder lies in a whole release, the release's own list says which
manifest is right: so a part is not taken for the whole.
"""

import hashlib
import json
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, field, frozen

from groupcomm.shapes import Record
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.steps.table import HANDLED, Result, StepTable
from groupcomm_conformance.tla.values import Fn, Value

from .errors import VectorError
from .judging import Judge
from .plain import PlainError, tight
from .vector_files import FORMAT, MANIFEST, MINIMAL, RELEASE, SCENARIOS
from .walking import Begun, Step, Walk, started

_POOLS: Final = ("states", "events", "effects", "results")


@frozen
class VectorSet:
    """The vectors of a model or a scenario."""

    name: str
    constants: Mapping[str, Value] = field(hash=False)
    table: StepTable | None
    walks: Sequence[Walk]
    places: Sequence[int] | None = None
    """The rows to ask for, numbers from 0; None: all."""


@frozen
class Released:
    """The vectors of a protocol: tables and walks by names, which are models' or `scenarios/NAME`."""

    folder: Path
    protocol: Protocol
    names: tuple[str, ...]
    _manifest: Mapping[str, Any] = field(hash=False, repr=False)
    _files: "dict[str, _File]" = field(factory=dict, hash=False, repr=False)

    def constants(self, name: str) -> Mapping[str, Value]:
        """Give the constants that make a member."""
        if name.startswith("scenarios/"):
            told = self._scenario(name)["constants"]
        else:
            told = _of(self._manifest["models"], "model", name)["constants"]
        wanted = (*self.protocol.guards, *self.protocol.parameters.values())
        place = str(self.folder / MANIFEST)
        try:
            return {each: tight(told[each], each) for each in wanted}
        except (KeyError, TypeError, PlainError, RecursionError) as error:
            raise _broken(place, f"the constants that make a member of {name} ({error})") from None

    def of(self, name: str) -> VectorSet:
        """Give all of a model or a scenario."""
        return VectorSet(name, self.constants(name), self.steps(name), self.walks(name))

    def minimal(self, name: str) -> list[int]:
        """Give the places, numbers from 0, of the rows of a model that a slow adapter is asked for."""
        whole = self.counts(name).get("rows", 0)
        try:
            rows = read_json(self.folder / MINIMAL)["rows"].get(name, [])
            known = all(type(row) is int and 1 <= row <= whole for row in rows)
        except (KeyError, TypeError, AttributeError):
            known = False
        if not known:
            raise _broken(self.folder / MINIMAL, f"rows of {name}, numbers from 1 to {whole}")
        return [row - 1 for row in rows]

    def steps(self, name: str) -> StepTable | None:
        """Give the table of a model; None where there is none."""
        if name.startswith("scenarios/"):
            return None
        file = self._file(f"{name}.json")
        return file.table() if "rows" in file.told else None

    def walks(self, name: str) -> list[Walk]:
        """Give the walks of a model or a scenario."""
        if name.startswith("scenarios/"):
            told, file = self._scenario(name)["walks"], self._file(SCENARIOS)
        else:
            file = self._file(f"{name}.json")
            told = file.told.get("walks", [])
        return [file.walk(f"{name} {number}", each) for number, each in enumerate(told, 1)]

    def counts(self, name: str) -> Mapping[str, int]:
        """Give the counts that should be there."""
        of, by = ("scenarios", "scenario") if name.startswith("scenarios/") else ("models", "model")
        found: Mapping[str, int] = _of(self._manifest[of], by, name.removeprefix("scenarios/"))["counts"]
        return found

    def _file(self, path: str) -> "_File":
        if path not in self._files:
            place = str(self.folder / path)
            self._files[path] = _File(place, read_json(self.folder / path), self.protocol, Judge(self.protocol))
        return self._files[path]

    def _scenario(self, name: str) -> Mapping[str, Any]:
        return _of(self._file(SCENARIOS).told["scenarios"], "scenario", name.removeprefix("scenarios/"))


def manifest_of(folder: Path, protocol: str) -> Any:  # noqa: ANN401 - any JSON
    """Read the manifest in the folder of a protocol. VectorError where there is none of this format and protocol."""
    place = folder / MANIFEST
    if not place.is_file():
        above = (folder / protocol / MANIFEST).is_file()
        remedy = f"name {folder / protocol}" if above else "name the folder of a protocol in an unpacked release"
        raise VectorError(str(place), 1, f"a manifest of vectors, but there is no such file: {remedy}")
    told = read_json(place)
    try:
        format_, name = told["format"], told["protocol"]
    except (KeyError, TypeError) as error:
        raise _broken(place, f"a manifest of a release ({type(error).__name__}: {error})") from None
    if (format_, name) != (FORMAT, protocol):
        text = f'the format "{FORMAT}" of {protocol}, not {format_} of {name}'
        raise VectorError(str(place), 1, f"{text}: name vectors of that format and protocol")
    return told


def read_release(folder: Path, protocol: Protocol) -> Released:
    """Read the folder of a protocol. VectorError where anything is not as its manifest says."""
    place, told = folder / MANIFEST, manifest_of(folder, protocol.name)
    try:
        _whole(folder, told)
        names = [
            *(str(each["model"]) for each in told["models"]),
            *(f"scenarios/{each['scenario']}" for each in told["scenarios"]),
        ]
        paths = {each["path"] for each in told["models"]}
        if unlike := sorted(paths.symmetric_difference(f"{each['model']}.json" for each in told["models"])):
            raise _broken(place, f"a file that is called like its model, not {unlike[0]:.80}")
        if not names or len(set(names)) < len(names):
            raise _broken(place, "models and scenarios, each once")
        if missing := sorted(({*paths} | ({SCENARIOS} if told["scenarios"] else set())) - {*told["files"]}):
            raise _broken(place, f"the file {missing[0]}, which a model or scenario is in")
        found = Released(folder, protocol, tuple(names), told)
        for name in names:
            _counted(found, name)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, VectorError):
            raise
        raise _broken(place, f"a manifest of a release ({type(error).__name__}: {error})") from None
    return found


def _whole(folder: Path, told: Mapping[str, Any]) -> None:
    """Hold the files against the manifest, and that against the release."""
    above = folder.parent / RELEASE
    if above.is_file():
        whole = read_json(above)
        if whole["format"] != FORMAT:
            text = f'the format "{FORMAT}", not {whole["format"]!s:.60}'
            raise VectorError(str(above), 1, f"{text}: unpack an archive of that format")
        listed = whole["protocols"].get(told["protocol"])
        data = (folder / MANIFEST).read_bytes()
        if listed is None or listed["sha256"] != hashlib.sha256(data).hexdigest():
            raise _broken(folder / MANIFEST, f"the manifest that {RELEASE} has")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()} - {MANIFEST}
    for path in sorted(there.symmetric_difference(told["files"])):
        expected = "to be there, as the manifest has it" if path not in there else "no file that the manifest has not"
        raise _broken(folder / path, expected)
    for path, entry in told["files"].items():
        if not (folder / path).is_file():
            raise _broken(folder / path, "a file")
        size, digest = (folder / path).stat().st_size, ""
        if size == entry["bytes"]:
            with (folder / path).open("rb") as file:  # in parts: it may not fit into memory
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != entry["sha256"]:
            raise _broken(
                folder / path, f"{entry['bytes']:,} bytes with SHA-256 {entry['sha256']}, not {size:,} others"
            )


def _counted(found: Released, name: str) -> None:
    """Hold what is there of a model or scenario against the counts that should be there."""
    counts = dict(found.counts(name))
    if name.startswith("scenarios/"):
        walks = found._scenario(name)["walks"]  # noqa: SLF001 - of this module
        here = {"walks": len(walks), "steps": sum(len(each["steps"]) for each in walks)}
        place = SCENARIOS
    else:
        told = found._file(f"{name}.json").told  # noqa: SLF001
        rows, walks = told.get("rows", []), told.get("walks", [])
        here = {
            "states": len(rows),
            "events": len(rows[0]) if rows else 0,
            "rows": sum(map(len, rows)),
            "walks": len(walks),
            "steps": sum(len(each["steps"]) for each in walks),
        }
        place = f"{name}.json"
    if here != counts:
        raise _broken(found.folder / place, f"{counts}, as the manifest has it, not {here}")
    if not counts.get("rows", 0) + counts["steps"]:
        raise _broken(found.folder / place, f"something to do in {name}")


def _broken(place: Path | str, expected: str, line: int = 1) -> VectorError:
    return VectorError(str(place), line, f"{expected}: unpack the archive again")


def _of(entries: Sequence[Mapping[str, Any]], by: str, name: str) -> Mapping[str, Any]:
    return next(each for each in entries if each[by] == name)


def read_json(file: Path) -> Any:  # noqa: ANN401 - any JSON
    """Read a file of vectors. VectorError where it is no JSON."""
    try:
        text = read_text(file, what="a file of vectors")
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except FileError as error:
        raise _broken(error.file, error.expected, error.line) from None
    except RecursionError:
        raise _broken(file, "JSON that is not nested so deeply") from None
    except ValueError as error:
        raise _broken(file, f"JSON: {error!s:.80}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number in JSON")


@define
class _File:
    """A file of a model, or of all scenarios, with its values read."""

    place: str
    told: Mapping[str, Any]
    protocol: Protocol
    judge: Judge
    states: list[Fn] = field(init=False)
    events: list[Fn] = field(init=False)
    results: list[Result] = field(init=False)

    def __attrs_post_init__(self) -> None:
        judge, plain = self.judge, self.judge.plain
        shape = judge.state_shape
        assert isinstance(shape, Record)  # noqa: S101 - so it is of every protocol
        try:
            pools = {name: self.told[name] for name in _POOLS}
            self.states = [_record(plain.read(each, shape, "state")) for each in pools["states"]]
            self.events = [_record(plain.read(each, judge.event_shape, "event")) for each in pools["events"]]
            effects = [plain.read(each, judge.effects_shape.item, "effect") for each in pools["effects"]]
            self.results = [
                Result(
                    {name: plain.read(value, shape.fields[name], name) for name, value in changes.items()},
                    tuple(effects[_number(each, effects)] for each in numbers),
                )
                for changes, numbers in pools["results"]
            ]
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise _broken(self.place, f"states, events, effects and results ({error})") from None

    def table(self) -> StepTable:
        """Give the table of local steps. VectorError for a cell that stands for nothing."""
        rows = self.told["rows"]
        width = len(rows[0])
        if any(len(row) != width for row in rows) or len(rows) > len(self.states) or width > len(self.events):
            raise _broken(self.place, f"{width} cells for each state, and a state and an event for each")
        cells = array("I", [self._cell(cell) for row in rows for cell in row])
        try:
            starts = {member: self.states[_number(at, self.states)] for member, at in self.told["starts"].items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _broken(self.place, f"the states in which members start ({error})") from None
        return StepTable(
            starts=starts,
            states=tuple(self.states[: len(rows)]),
            events=tuple(self.events[:width]),
            results=tuple(self.results),
            cells=cells,
            tlc_seconds=0.0,
            read_seconds=0.0,
        )

    def _cell(self, told: object) -> int:
        if type(told) is not int or not 0 <= told < HANDLED + len(self.results):
            raise _broken(self.place, f"a number of an outcome or a result, not {told!r:.60}")
        return told

    def walk(self, name: str, told: Mapping[str, Any]) -> Walk:
        """Give a walk: its states follow from where its members begin."""
        start = started(self.protocol)
        try:
            firsts = {member: self.states[_number(each[0], self.states)] for member, each in told["members"].items()}
            ways = {
                member: None if each[1] is None else tuple(self.events[_number(at, self.events)] for at in each[1])
                for member, each in told["members"].items()
            }
            held: dict[str, Value] = dict(firsts)
            steps: list[Step | Begun] = []
            for member, *rest in told["steps"]:
                if not rest:
                    held[member] = start(member)
                    steps.append(Begun(member, held[member]))
                    continue
                event, cell, *more = rest
                if more not in ([], ["start"]):
                    raise _broken(self.place, f'"start" or nothing after a step of {name}')
                before = _record(start(member) if more else held[member])
                outcome, after, effects = OUTCOMES[min(self._cell(cell), HANDLED)], before, ()
                if cell >= HANDLED:
                    result = self.results[cell - HANDLED]
                    after, effects = before.replace(**result.changes), result.effects
                steps.append(
                    Step(member, before, self.events[_number(event, self.events)], outcome, after, effects, bool(more))
                )
                held[member] = after
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            if isinstance(error, VectorError):
                raise
            raise _broken(self.place, f"a walk ({name}: {type(error).__name__}: {error})") from None
        known = {member: way for member, way in ways.items() if way is not None}
        return Walk(name, tuple(steps), known if len(known) == len(ways) else None, firsts, held)


def _number(told: object, pool: Sequence[Any]) -> int:
    if type(told) is not int or not 0 <= told < len(pool):
        raise ValueError(f"{told!r:.60} is none of {len(pool)}")
    return told


def _record(value: Value) -> Fn:
    if isinstance(value, Fn):
        return value
    raise ValueError(f"no record: {value!r:.60}")
