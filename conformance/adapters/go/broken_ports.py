"""Break the Go port on purpose, once for each entry of broken.yaml: the driver must notice each time.

    python conformance/adapters/go/broken_ports.py [NAME ...]

A broken port is caught by the first of several checks. They are the rows of the models, its start, and events
beyond the bounds (--random). Then, model by model, the rows again on kept states (--strict) and with other
names and numbers (--renamed); at last the port's own tests. A line says by what each is caught, and a table how
many. Exits with 1 if a port is caught by none, or by its own tests alone and broken.yaml does not say why, or by
another check though it says why not, or is no program.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import yaml
from attrs import field, frozen

from groupcomm_commands.adapters import places_of
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.manifest import Manifest, find_root, load
from groupcomm_conformance.ports.conforming import Part, kept, rows, starts
from groupcomm_conformance.ports.judging import Asked
from groupcomm_conformance.ports.port import Port
from groupcomm_conformance.ports.renaming import WAYS, borne, renamed
from groupcomm_conformance.ports.walking import Walk, random_walks, walked
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import Protocol, constants_of
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.rows import Rows
from groupcomm_conformance.steps.table import StepTable, Tables
from groupcomm_conformance.tla.values import Value

HERE: Final = Path(__file__).parent
LEVELS: Final = ("rows", "start", "random", "kept", "renamed")
FEW: Final = "a few rows"
FEWER: Final = 37
OWN: Final = "go test"
NOTHING: Final = "nothing"
WALKS: Final = 100
"""Random walks of 60 events, as --random 6000 takes."""


@frozen
class Broken:
    """A broken version: `old`, the first behind `after`, is `new`. `survives`: why the driver does not notice."""

    name: str
    protocol: str
    kind: str
    file: str
    old: str
    new: str
    after: str = ""
    survives: str = ""

    def text(self) -> str:
        """Give the broken file; ValueError where there is no such text."""
        source = (HERE / self.file).read_text()
        begin = source.find(self.after)
        place = source.find(self.old, begin) if begin >= 0 else -1
        if place < 0 or self.old == self.new or (not self.after and source.count(self.old) > 1):
            raise ValueError(f"broken.yaml: {self.name}: {self.file} does not have that text once")
        return source[:place] + self.new + source[place + len(self.old) :]

    def build(self, folder: Path) -> Path:
        """Compile it into a folder; RuntimeError, with what the compiler says, where it cannot be."""
        program = folder / "port"
        go("build", "-ldflags=-s -w", *self._overlay(folder), "-o", str(program), ".")
        return program

    def fails_its_tests(self, folder: Path) -> bool:
        """Run the port's own tests on it."""
        try:
            go("test", "-vet=off", *self._overlay(folder), ".")
        except RuntimeError:
            return True
        return False

    def _overlay(self, folder: Path) -> tuple[str, str]:
        broken, overlay = folder / "broken.go", folder / "overlay.json"
        broken.write_text(self.text())
        overlay.write_text(json.dumps({"Replace": {str(HERE / self.file): str(broken)}}))
        return "-overlay", str(overlay)


def go(*command: str) -> str:
    """Run Go on the port and give what it prints; nothing is fetched, and HOME need not be writable."""
    env = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    if not os.access(Path.home(), os.W_OK):
        env.setdefault("GOCACHE", str(Path(tempfile.gettempdir()) / f"groupcomm-go-{os.getuid()}"))
    told = subprocess.run(["go", *command], cwd=HERE, env=env, check=False, capture_output=True, text=True)
    if told.returncode != 0:
        raise RuntimeError(f"go {shlex.join(command)}: {told.stderr or told.stdout}")
    return told.stdout


def broken_ports(file: Path = HERE / "broken.yaml") -> list[Broken]:
    """Read the list; ValueError where it is none."""
    found = [Broken(**each) for each in yaml.safe_load(file.read_text())]
    twice = [name for name, count in Counter(each.name for each in found).items() if count > 1]
    if twice:
        raise ValueError(f"broken.yaml: {', '.join(twice)}: twice")
    return found


Renamed: TypeAlias = tuple[Asked, list[int] | None]
"""A renamed table, and the places of its rows; None: all are."""


@frozen(eq=False)
class Held:
    """The tables for the ports of a protocol: of these models, the smallest first. What is made of one is kept."""

    manifest: Manifest
    tables: Mapping[str, StepTable]
    protocol: Protocol
    _asked: dict[str, Asked] = field(factory=dict)
    _walks: dict[str, list[tuple[dict[str, Value], list[Walk]]]] = field(factory=dict)
    _renamed: dict[str, list[Renamed]] = field(factory=dict)

    @classmethod
    def to(cls, protocol: str, models: Sequence[str] = ()) -> "Held":
        """Take the models that conform, or these; FileNotFoundError where a model does not hold."""
        root = find_root()
        manifest = load(root, protocol)
        of = [each for each in manifest.models if (each.name in models if models else each.conform)]
        of = [each for each in of if each.tier in {"smoke", "full"}]
        results = checking.run_models([(manifest, each) for each in of], cache=checking.Cache.of(root))
        tables = {}
        for each, result in zip(of, results, strict=True):
            if result.harvest is None:
                raise FileNotFoundError(f"{each.name} does not hold ({result.outcome}): there are no rows")
            tables[each.name] = table_of(manifest, each, result.harvest, Tables.of(root))[0]
        small = dict(sorted(tables.items(), key=lambda item: len(item[1])))
        return cls(manifest, small, derive.load(manifest))

    def _part(self, port: Port, name: str, level: str) -> Part:
        table = self.tables[name]
        constants = constants_of(self.manifest.cfg(self.manifest.model(name)))
        port.configure(constants)
        part = Part(self.manifest.protocol, name, level, table, "")
        if name not in self._asked:
            self._asked[name] = Asked(port.judge, table)
        if level == FEW:
            rows(port, part, self._asked[name], range(0, len(table), FEWER))
        elif level == "rows":
            rows(port, part, self._asked[name])
        elif level == "start":
            starts(port, part, table)
        elif level == "kept":
            kept(port, part, self._asked[name], range(len(table)))
        elif level == "renamed":
            for asked, places in self._others(port, name, constants):
                rows(port, part, asked, places)
        else:
            for numbers, walks in self._drawn(name, constants):
                port.configure(numbers)
                walked(port, part, walks, places_of(self.manifest))
        return part

    def _others(self, port: Port, name: str, constants: Mapping[str, Value]) -> Iterable[Renamed]:
        if name not in self._renamed:
            table, protocol = self.tables[name], self.protocol
            found = self._renamed[name] = []
            for way in WAYS:
                if way.suits(protocol.name):
                    other = renamed(protocol, table, way)
                    found.append((Asked(port.judge, other), borne(Rows(protocol, other, constants), table, way)))
        return self._renamed[name]

    def _drawn(self, name: str, constants: Mapping[str, Value]) -> Iterable[tuple[dict[str, Value], list[Walk]]]:
        if name not in self._walks:
            every = random_walks(self.protocol, constants, name, WALKS)
            self._walks[name] = [(numbers, [*walks]) for numbers, walks in every]
        return self._walks[name]

    def _order(self) -> Iterator[tuple[str, str]]:
        """The checks, the cheap before the dear. A few rows of all models are enough for most."""
        yield from ((name, level) for level in (FEW, "rows", "start", "random") for name in self.tables)
        yield from ((name, level) for name in self.tables for level in ("kept", "renamed"))

    def caught_by(self, program: Path) -> str:
        """Name the first level that notices; "" if none does."""
        for name, level in self._order():
            with Port((str(program),), self.protocol) as port:
                part = self._part(port, name, level)
            if part.note:
                raise ValueError(f"{level} was not run: {part.note}")
            if not part.ok:
                return "rows" if level == FEW else level
        return ""


def caught(port: Broken, held: Held) -> str:
    """Build a port, and name the first level that notices; "" if none does."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return held.caught_by(port.build(folder)) or (OWN if port.fails_its_tests(folder) else "")


def main(names: Sequence[str]) -> int:
    """Judge the ports of these names, or of these protocols, or all."""
    ports = [each for each in broken_ports() if not names or {each.name, each.protocol} & {*names}]
    if not ports:
        print("broken.yaml has none of these:", *names, file=sys.stderr)
        return 4
    counts: Counter[tuple[str, str]] = Counter()
    wrong = 0
    protocols = [*dict.fromkeys(each.protocol for each in ports)]
    for protocol in protocols:
        held = Held.to(protocol)
        for port in (each for each in ports if each.protocol == protocol):
            try:
                level = caught(port, held) or NOTHING
            except RuntimeError as error:
                level = NOTHING
                print(f"no program: {error}", file=sys.stderr)
            counts[protocol, level] += 1
            odd = level not in ((OWN,) if port.survives else LEVELS)
            wrong += odd
            why = f" ({port.survives})" if port.survives else ""
            print(f"{'FAILS ' if odd else ''}{port.name}: {port.kind}: caught by {level}{why}", flush=True)
    print("", f"| | {' | '.join(protocols)} |", f"| --- |{' --- |' * len(protocols)}", sep="\n")
    for level in (*LEVELS, OWN, NOTHING):
        print(f"| {level} | {' | '.join(str(counts[each, level] or '') for each in protocols)} |")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
