r"""TLC's dump of a model, with the parameters of every step: written by `take`, read in chunks.

A dump (`-dump dot,actionlabels`) has a line for each state and one for each transition, which says from where
to where and names an operator, but has no parameters. Without `VIEW` they are in the state, as the variable
`act`, and the states are many times as many (STABLE's `pair`: 959 states and 9,507 transitions with `VIEW`,
7,136 and 73,311 without). So the model is run as it is, and an action constraint, the last one, has TLC print
`act'` of each transition before it writes that transition: with one worker the n-th line printed belongs to
the n-th transition of the dump. There are few different lines (96 for the 2,000,186 transitions of `join`).
So the run keeps each once, in `acts.txt`, and a number of four bytes for each transition, in `acts.bin`. That
the two files belong together is checked: see `transforms.misaligned`.

With one worker the dump is in breadth-first order: a state's line follows the transition that found it.

Readers work on chunks of whole lines and need nothing but the file's path, so that they can run anywhere.
"""

import hashlib
import json
import shutil
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import asdict, evolve, frozen

from groupcomm_conformance.files.store import replace
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.values import Fn, Value, ValueSyntaxError, parse, show
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.tlc.errors import DiskFull, UnexpectedOutput
from groupcomm_conformance.tlc.output import Progress
from groupcomm_conformance.walks.graph import ACT, EDGE, NODE, GraphError, canonical, conjuncts

__all__ = [
    "CHUNK",
    "Chunk",
    "Dump",
    "acts_of",
    "edges_of",
    "identity",
    "load",
    "nodes_of",
    "numbers",
    "plan",
    "store",
    "take",
]

ROOT: Final = "Dump"
"""The name of the generated module."""

CHUNK: Final = 16 << 20
"""Bytes that a task reads at a time."""

_FORMAT: Final = 1
_RECEIPT: Final = "dump.json"
_GRAPH: Final = "graph.dot"
_ACTS: Final = "acts.txt"
_NUMBERS: Final = "acts.bin"
_FLUSH: Final = 1 << 20
_REMEMBERED: Final = 1_000_000

_TEXT: Final = """---- MODULE {root} ----
EXTENDS {module}, TLC
Dump_Act == PrintT(ToString(<<"act", {act}'>>))
====
"""
_PRINTED: Final = '"<<\\"act\\", '


@frozen
class Dump:
    """A finished dump: where it is, what TLC counted, and the seconds that it took (wall clock and CPU).

    `sizes` are the bytes of the files, by name.
    """

    folder: Path
    states: int
    edges: int
    initial: int
    depth: int
    seconds: float
    cpu_seconds: float
    sizes: dict[str, int]

    @property
    def graph(self) -> Path:
        """The file in TLC's format."""
        return self.folder / _GRAPH

    @property
    def numbers(self) -> Path:
        """The file of the transitions' acts: a number of four bytes each, as this machine has them."""
        return self.folder / _NUMBERS


def take(
    manifest: Manifest,
    cfg: Cfg,
    folder: Path,
    *,
    heap: str = "2g",
    short: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Dump:
    """The dump of the protocol's module under `cfg`, without its claims, kept in a folder of `folder`.

    A finished one of the same specification, cfg and jar is taken as it is; GraphError if it is damaged. An
    unfinished one is begun again. A TLCError where TLC gives no graph.
    """
    digest = _digest(manifest, cfg)
    place = folder / f"dump-{digest[:32]}"
    if (place / _RECEIPT).is_file():
        return load(place)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    numbers: dict[str, int] = {}
    waiting = array("I")
    edges = 0
    with (place / _NUMBERS).open("wb") as file:

        def heard(line: str) -> None:
            nonlocal edges
            number = numbers.get(line)
            if number is None:
                if not line.startswith(_PRINTED):
                    return  # the specification's own
                number = numbers.setdefault(line, len(numbers))
            edges += 1
            waiting.append(number)
            if len(waiting) >= _FLUSH:
                waiting.tofile(file)
                del waiting[:]

        result = tlc.run(
            manifest.folders,
            ROOT,
            evolve(
                cfg, invariants=(), properties=(), action_constraints=(*cfg.action_constraints, "Dump_Act")
            ).render(),
            generated={ROOT: _TEXT.format(root=ROOT, module=manifest.module, act=ACT)},
            workers=1,
            heap=heap,
            short=short,
            dump=place / _GRAPH,
            progress=progress,
            on_line=heard,
        )
        waiting.tofile(file)
    if edges != result.transitions:
        raise UnexpectedOutput(
            f"{manifest.protocol}: TLC counts {result.transitions:,} transitions and printed {edges:,}"
        )
    if not _ends(place / _GRAPH):  # TLC says nothing where it cannot write
        raise DiskFull(f"{manifest.protocol}: the dump {place / _GRAPH} is cut off: there is no room for it; free some")
    (place / _ACTS).write_text("".join(f"{line}\n" for line in numbers), encoding="utf-8")
    done = Dump(
        folder=place,
        states=result.distinct,
        edges=result.transitions,
        initial=result.initial,
        depth=result.depth,
        seconds=result.seconds,
        cpu_seconds=result.cpu_seconds,
        sizes={name: (place / name).stat().st_size for name in (_GRAPH, _ACTS, _NUMBERS)},
    )
    store(done)
    return done


def store(dump: Dump) -> None:
    """Write the receipt, which says that a dump is finished."""
    told = {name: value for name, value in asdict(dump).items() if name != "folder"}
    replace(dump.folder / _RECEIPT, json.dumps(told).encode("ascii"))


def load(place: Path) -> Dump:
    """A finished dump; GraphError where a file of it is not as long as it was."""
    try:
        done = Dump(folder=place, **json.loads((place / _RECEIPT).read_text(encoding="ascii")))
    except (OSError, ValueError, TypeError):
        raise GraphError(str(place / _RECEIPT), 1, f"a dump's receipt: {_again(place)}") from None
    for name, size in done.sizes.items():
        file = place / name
        found = file.stat().st_size if file.is_file() else 0
        if found != size:
            raise GraphError(
                str(file), 1, f"{size:,} bytes, as TLC wrote, not {found:,}: it is cut off; {_again(place)}"
            )
    return done


def _again(place: Path) -> str:
    return f"delete the folder {place} and run again"


def _digest(manifest: Manifest, cfg: Cfg) -> str:
    modules = read_modules(manifest.folders, manifest.module)
    told = [_FORMAT, sorted(modules.bare.items()), cfg.render(), tools.jar_digest(tools.find_jar())]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def identity(text: str) -> int:
    """The number of a canonical text in tables: 64 bits of its digest, signed."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def acts_of(dump: Dump) -> tuple[Fn, ...]:
    """The different values of `act` by their numbers; GraphError where the file has something else."""
    found: list[Fn] = []
    file = dump.folder / _ACTS
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            match parse(str(parse(line))):
                case ("act", Fn() as act):
                    found.append(act)
                    continue
        except ValueSyntaxError as error:
            raise GraphError(str(file), number, f"a step: {error}") from None
        raise GraphError(str(file), number, f"a record, not {line[:60]!r}")
    return tuple(found)


def numbers(dump: Dump, first: int = 0, count: int = -1) -> "array[int]":
    """The number of the act of `count` transitions from the `first` one on; of all by default."""
    found: array[int] = array("I")
    with (dump.folder / _NUMBERS).open("rb") as file:
        file.seek(first * found.itemsize)
        found.fromfile(file, dump.edges - first if count < 0 else count)
    return found


# Chunks


@frozen
class Chunk:
    """Whole lines of a dump: their place in bytes, the first line's number, and the first transition's.

    `edges` is how many transitions there should be.
    """

    offset: int
    length: int
    line: int
    first: int
    edges: int


def plan(dump: Dump, size: int = CHUNK) -> tuple[Chunk, ...]:
    """Divide a dump into chunks of about `size` bytes.

    GraphError, with file and line, if it does not end as a dump does, or has more or less transitions than
    TLC counted.
    """
    chunks: list[Chunk] = []
    offset, line, edges = 0, 1, 0
    with dump.graph.open("rb") as file:
        while block := file.read(size):
            block += file.readline()
            found = block.count(b" -> ")
            chunks.append(Chunk(offset, len(block), line, edges, found))
            offset += len(block)
            line += block.count(b"\n")
            edges += found
    if not _ends(dump.graph):
        raise GraphError(str(dump.graph), line, "the closing braces: the dump is cut off")
    if edges != dump.edges:
        raise GraphError(str(dump.graph), line, f"{dump.edges:,} transitions, as TLC counted, not {edges:,}")
    return tuple(chunks)


def _ends(graph: Path) -> bool:
    """Say whether a dump has its closing braces."""
    with graph.open("rb") as file:
        file.seek(max(0, graph.stat().st_size - _TAIL))
        return file.read().split()[-2:] == [b"}", b"}"]


_TAIL: Final = 16


def _lines(graph: Path, chunk: Chunk) -> list[str]:
    with graph.open("rb") as file:
        file.seek(chunk.offset)
        text = file.read(chunk.length).decode("utf-8")
    lines = text.split("\n")
    return lines[:-1] if text.endswith("\n") else lines


def edges_of(graph: Path, chunk: Chunk) -> tuple[list[int], list[int], list[str]]:
    """Sources, targets and labels of the transitions of a chunk, in order.

    GraphError where there are not as many as planned, with the line of the first that is none.
    """
    sources: list[int] = []
    targets: list[int] = []
    labels: list[str] = []
    lines = _lines(graph, chunk)
    match = EDGE.match
    for line in lines:
        if (found := match(line)) is not None:
            source, target, label = found.groups()
            sources.append(int(source))
            targets.append(int(target))
            labels.append(label)
    if len(sources) != chunk.edges:
        for number, line in enumerate(lines, start=chunk.line):
            if " -> " in line and match(line) is None:
                raise GraphError(str(graph), number, f"a step, not {line[:60]!r}")
        raise GraphError(str(graph), chunk.line, f"{chunk.edges:,} steps in this chunk, not {len(sources):,}")
    return sources, targets, labels


Conjunct = tuple[str, int, str]
"""Variable, identity and canonical text."""


class Texts:
    """Values of conjuncts, each parsed once; forgotten when they are very many."""

    def __init__(self) -> None:
        self._known: dict[str, Conjunct] = {}

    def __call__(self, conjunct: str) -> Conjunct:
        """Give variable, identity and canonical text; ValueSyntaxError if it is no conjunct."""
        found = self._known.get(conjunct)
        if found is None:
            variable, text = canonical(conjunct)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[conjunct] = variable, identity(text), text
        return found


def nodes_of(
    graph: Path, chunk: Chunk, variables: Sequence[str], texts: Texts
) -> Iterator[tuple[int, bool, list[Conjunct]]]:
    """Number, whether it is an initial one, and the values of `variables` of each state of a chunk.

    GraphError, with file and line, for a line that is no part of a graph or a state with other variables.
    """
    place = {variable: index for index, variable in enumerate(variables)}
    for number, line in enumerate(_lines(graph, chunk), start=chunk.line):
        if not line.startswith(_NUMERALS):
            if line.startswith(_FURNITURE) or not line:
                continue
            raise GraphError(str(graph), number, f"a state or a step, not {line[:60]!r}")
        node = NODE.match(line)
        if node is None:
            if EDGE.match(line) and line.endswith("];"):
                continue
            raise GraphError(str(graph), number, f"a state or a step, not {line[:60]!r}")
        try:
            found = [texts(conjunct) for conjunct in conjuncts(node[2])]
            ordered = sorted(found, key=lambda item: place[item[0]])
        except ValueSyntaxError as error:
            raise GraphError(str(graph), number, f"a state: {error}") from None
        except KeyError as error:
            raise GraphError(str(graph), number, f"a state without the variable {error}") from None
        if len(ordered) != len(variables):
            raise GraphError(str(graph), number, f"a state with {len(variables)} variables, not {len(ordered)}")
        yield int(node[1]), "style = filled" in node[3], ordered


_NUMERALS: Final = tuple("-0123456789")
_FURNITURE: Final = ("strict digraph", "nodesep=", "subgraph ", "color=", "{rank = same;", "}")


def variables_of(dump: Dump) -> tuple[str, ...]:
    """The variables of the states, sorted; GraphError where the dump has no state."""
    with dump.graph.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if (node := NODE.match(line)) is not None:
                try:
                    return tuple(sorted(canonical(conjunct)[0] for conjunct in conjuncts(node[2])))
                except ValueSyntaxError as error:
                    raise GraphError(str(dump.graph), number, f"a state: {error}") from None
    raise GraphError(str(dump.graph), 1, "a state, but there is none")


def member_states(value: Value) -> dict[str, str]:
    """The canonical text of each member's state, of a value of the variable `local`."""
    return {str(member): show(state) for member, state in value.items()} if isinstance(value, Fn) else {}
