r"""The table of local steps: what `Step` says of each local state that TLC reached and each event there is.

A search prints the local states, messages and outside parameters that it meets (`instruments`, the
harvest). A second, small run of TLC evaluates `Step(s, e)` for every one of those states, every member's
`Start` among them, and every event of `Alphabet(messages, outsides)`. That is a *row*; rows are numbered
from 1, state by state. For each state TLC prints how every event ends, and of handled events

    <<[vote |-> ..], <<[type |-> "Multicast", ..]>>>>      the fields that change, and the effects

on a line; TLC itself asserts that all other rows leave the state as it is and have no effects. Lines
repeat: each distinct one is parsed once. Every row must be accounted for, or there is no table.

A step's table depends on the specification, the constants, what was harvested and the jar, and not on the
implementation: it is cached by the content of these.
"""

import json
import re
import sys
import time
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, field, frozen

from groupcomm_conformance.files.keys import key as digest_of
from groupcomm_conformance.files.store import Store
from groupcomm_conformance.models.instruments import OUTCOMES, Harvest
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.folding import folded
from groupcomm_conformance.tla.values import Fn, Value, order, parse, show
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.tlc.errors import TLCError

ROOT: Final = "StepTable"
"""The name of the generated module."""

HANDLED: Final = OUTCOMES.index("handled")
"""Cells below this are other outcomes; a cell `HANDLED + k` is the k-th result."""

CHUNK: Final = 4_000
"""States in one run of TLC; the parser is slower than linear in the length of a literal."""

_FORMAT: Final = 1
_IN_A_SEQUENCE: Final = 200


class TableError(TLCError):
    """TLC's output is no complete table."""


@frozen
class Result:
    """The result of a handled event: the changed fields of the state, by name, and the effects in order."""

    changes: Mapping[str, Value] = field(hash=False)
    effects: tuple[Value, ...]


@frozen
class StepTable:
    """All local steps of a model.

    `cells` has the rows' outcomes, `len(events)` for each state: an index into `OUTCOMES`, or `HANDLED` plus
    an index into `results`. `starts` maps members to their `Start`. `tlc_seconds` and `read_seconds` are the
    CPU time that TLC and the reading of its output took when the table was made.
    """

    starts: Mapping[str, Fn] = field(hash=False)
    states: tuple[Fn, ...]
    events: tuple[Fn, ...]
    results: tuple[Result, ...]
    cells: "array[int]" = field(hash=False, repr=False)
    tlc_seconds: float
    read_seconds: float

    def __len__(self) -> int:
        return len(self.cells)

    def place(self, row: int) -> tuple[int, int]:
        """Give the indices of a row's state and event. IndexError where there is no such row."""
        if not 1 <= row <= len(self.cells):
            raise IndexError(f"rows are 1 to {len(self.cells)}, not {row}")
        return divmod(row - 1, len(self.events))

    def outcome(self, row: int) -> str:
        """How the row ends."""
        self.place(row)
        return OUTCOMES[min(self.cells[row - 1], HANDLED)]

    def expected(self, row: int) -> tuple[Fn, tuple[Value, ...]]:
        """Give the next state and the effects of a row."""
        state = self.states[self.place(row)[0]]
        cell = self.cells[row - 1]
        if cell < HANDLED:
            return state, ()
        result = self.results[cell - HANDLED]
        return state.replace(**result.changes), result.effects

    def count(self) -> dict[str, int]:
        """Count the rows of each outcome."""
        numbers = dict.fromkeys(OUTCOMES, 0)
        for code, outcome in enumerate(OUTCOMES[:HANDLED]):
            numbers[outcome] = self.cells.count(code)
        numbers["handled"] = len(self.cells) - sum(numbers.values())
        return numbers


# TLC's input


@define
class Literals:
    """Values as TLA+ text. A value inside a value gets a name, once: SANY's time is in the tokens."""

    _names: dict[Value, str] = field(factory=dict)
    definitions: list[str] = field(factory=list)

    def text(self, value: Value) -> str:
        """Write a value, with names for its parts."""
        match value:
            case () | bool() | int() | str():
                return show(value)
            case tuple():
                return f"<<{', '.join(map(self.name, value))}>>"
            case frozenset():
                return f"{{{', '.join(map(self.name, sorted(value, key=order)))}}}"
            case Fn() if show(value).startswith("["):
                return f"[{', '.join(f'{key} |-> {self.name(item)}' for key, item in value.items())}]"
            case Fn():
                return f"({' @@ '.join(f'{show(key)} :> {self.name(item)}' for key, item in value.items())})"

    def name(self, value: Value) -> str:
        """Give the name of a value, or a short value itself."""
        if isinstance(value, bool | int | str) or not value:
            return show(value)
        known = self._names.get(value)
        if known is None:
            text = self.text(value)
            known = self._names[value] = f"Table_Lit{len(self._names)}"
            self.define(known, text)
        return known

    def define(self, name: str, text: str) -> None:
        """Give a name to what is written."""
        self.definitions.append(folded(f"{name} == {text}"))


_TEXT: Final = r"""---- MODULE {root} ----
EXTENDS {module}, Sequences, TLC

{literals}

\* The search has nothing to do: all is said by the assumptions.
Table_Init == FALSE /\ vars = vars
Table_Next == FALSE /\ UNCHANGED vars

Table_Put(register, value) == TLCSet(register, Append(TLCGet(register), value))
ASSUME TLCSet(1000, <<>>) /\ TLCSet(1001, {states})
ASSUME \A m \in Member :
    /\ PrintT(ToString(<<"start", m, Start(m)>>))
    /\ \/ ~{first}
       \/ \E i \in DOMAIN TLCGet(1001) : TLCGet(1001)[i] = Start(m)
       \/ Table_Put(1001, Start(m)) /\ PrintT(ToString(<<"state", Start(m)>>))
ASSUME \A e \in Alphabet({messages}, {outsides}) :
    Table_Put(1000, e) /\ PrintT(ToString(<<"event", e>>))

Table_Outcomes == {{"handled", "ignored", "local_error", "remote_error"}}
Table_Code == [ignored |-> 0, local_error |-> 1, remote_error |-> 2, handled |-> 3]

Table_Good(s, step) ==
    /\ step.outcome \in Table_Outcomes
    /\ DOMAIN step.state = DOMAIN s
    /\ step.outcome = "handled" \/ (step.state = s /\ step.effects = <<>>)

Table_Changes(s, t) == [f \in {{x \in DOMAIN s : s[x] # t[x]}} |-> t[f]]

Table_Rows(s, events) ==
    LET steps == TLCEval([j \in DOMAIN events |-> Step(s, events[j])]) IN
    /\ \A j \in DOMAIN steps :
        \/ Table_Good(s, steps[j])
        \/ Assert(FALSE, <<"not a step that changes nothing unless it is handled", s, events[j], steps[j]>>)
    /\ PrintT(ToString(<<"row", [j \in DOMAIN steps |-> Table_Code[steps[j].outcome]]>>))
    /\ \A j \in DOMAIN steps :
        \/ steps[j].outcome # "handled"
        \/ PrintT(ToString(<<Table_Changes(s, steps[j].state), steps[j].effects>>))

ASSUME LET states == TLCGet(1001)
           events == TLCGet(1000)
       IN /\ \A i \in DOMAIN states : Table_Rows(states[i], events)
          /\ PrintT(ToString(<<"end", Len(states), Len(events)>>))
====
"""


def module_text(module: str, harvest: Harvest, states: Sequence[Value], *, first: bool = True) -> str:
    """Write the module that prints the rows of `states`, in the `first` chunk those of every `Start` too."""
    literals = Literals()
    # First, so that TLC orders the events of all chunks alike: it orders strings as it meets them.
    packets, outsides = (
        folded(f"{{{', '.join(map(literals.name, sorted(values, key=order)))}}}")
        for values in (harvest.messages, harvest.outside)
    )
    sequences: list[str] = []
    for begin in range(0, len(states), _IN_A_SEQUENCE):
        texts = map(literals.text, states[begin : begin + _IN_A_SEQUENCE])
        name = f"Table_States{len(sequences)}"
        sequences.append(name)
        literals.define(name, f"<<{', '.join(texts)}>>")
    return _TEXT.format(
        root=ROOT,
        module=module,
        literals="\n".join(literals.definitions),
        states=" \\o ".join(sequences) or "<<>>",
        first="TRUE" if first else "FALSE",
        messages=packets,
        outsides=outsides,
    )


# TLC's output


@define
class _Reader:
    """Reads the lines of a run; rows and results of several runs add up."""

    states: list[Fn] = field(factory=list)
    events: list[Fn] = field(factory=list)
    starts: dict[str, Fn] = field(factory=dict)
    results: list[Result] = field(factory=list)
    cells: "array[int]" = field(factory=lambda: array("I"))
    ended: tuple[int, int] | None = None
    _numbers: dict[str, int] = field(factory=dict)
    _open: list[int] = field(factory=list)
    _texts: dict[str, Any] = field(factory=dict)

    def take(self, line: str) -> None:
        """Read a line; the runner calls this. TableError for a line that is out of place."""
        number = self._numbers.get(line)
        if number is None:
            if line.startswith('"<<\\"row'):
                self._row(line)
                return
            value = parse(str(parse(line))) if line.startswith('"<<') else ()
            match value:
                case (changes, tuple(effects)) if changes == () or isinstance(changes, Fn):
                    number = self._numbers[line] = HANDLED + len(self.results)
                    changed = dict(changes.items()) if isinstance(changes, Fn) else {}
                    self.results.append(Result(changed, effects))
                case ("start", str(member), Fn() as state):
                    self.starts[member] = state
                    return
                case ("state", Fn() as state):
                    self.states.append(state)
                    return
                case ("event", Fn() as event):
                    self.events.append(event)
                    return
                case ("end", int(states), int(events)):
                    self.ended = states, events
                    return
                case _:
                    return  # the specification's own
        if not self._open:
            raise TableError(f"a result that belongs to no row: {line}")
        self.cells[self._open.pop()] = number

    def _row(self, line: str) -> None:
        if self._open:
            raise TableError(f"{len(self._open)} results are missing")
        known = self._texts.get(line)
        if known is None:
            codes = array("I", map(int, re.findall(r"\d", line)))
            handled = [at for at, code in enumerate(codes) if code == HANDLED]
            known = self._texts[line] = codes, handled[::-1]
        codes, handled = known
        begin = len(self.cells)
        self.cells.extend(codes)
        self._open = [begin + at for at in handled]

    def counted(self) -> tuple[int, int] | None:
        """Give how many states and events TLC counted in this run; None if it did not come so far."""
        ended, self.ended = self.ended, None
        return ended

    def end(self) -> None:
        """Hold what came against what there must be."""
        states, events = len(self.states), len(self.events)
        if self._open or len(self.cells) != states * events or len(set(self.events)) != events:
            raise TableError(
                f"{len(self.cells)} rows of {states} states and {events} events: not each is accounted for"
            )


def make(
    folders: Iterable[Path], module: str, cfg: Cfg, harvest: Harvest, *, heap: str = "2g", chunk: int = CHUNK
) -> StepTable:
    """Let TLC evaluate all local steps of a model; `cfg` gives the constants.

    EvaluationFailed where `Step` has no answer, or changes something although it does not handle the event.
    TableError where rows are missing.
    """
    began = time.thread_time()
    waiting = [_record(state) for state in sorted(harvest.local, key=order)]
    places = tuple(folders)
    constants = Cfg(init="Table_Init", next="Table_Next", constants=cfg.constants)
    reader = _Reader()
    jvm = 0.0
    while waiting or not reader.events:
        part, waiting = waiting[:chunk], waiting[chunk:]
        before, known_events = len(reader.states), reader.events
        reader.states += part
        reader.events = []
        ran = tlc.run(
            places,
            ROOT,
            constants.render(),
            generated={ROOT: module_text(module, harvest, part, first=before == 0)},
            workers=1,
            heap=heap,
            short=True,
            on_line=reader.take,
        )
        jvm += ran.cpu_seconds
        if ran.outcome != "holds":
            raise TableError(f"{ROOT}: {ran.violated} is violated")
        if reader.counted() != (len(reader.states) - before, len(reader.events)):
            raise TableError("TLC did not print as many states and events as it counted")
        if before and known_events != reader.events:
            raise TableError("two chunks of the table have different events")
        # A start may be a state of a later chunk.
        known = set(reader.states)
        waiting = [state for state in waiting if state not in known]
        if not reader.events:
            break
    reader.end()
    return StepTable(
        starts=dict(sorted(reader.starts.items())),
        states=tuple(reader.states),
        events=tuple(reader.events),
        results=tuple(reader.results),
        cells=reader.cells,
        tlc_seconds=jvm,
        read_seconds=time.thread_time() - began,
    )


def _record(value: Value) -> Fn:
    if isinstance(value, Fn):
        return value
    raise TableError(f"a local state is a record, not {show(value)}")


# The cache


class Tables(Store):
    """Tables of earlier runs."""

    name = "steps"

    @staticmethod
    def key(folders: Iterable[Path], module: str, cfg: Cfg, harvest: Harvest) -> str:
        """Give the digest of all that a table depends on."""
        return digest_of(
            __name__,
            _FORMAT,
            sorted(read_modules(folders, module).bare.items()),
            sorted(cfg.constants.items()),
            module_text(module, harvest, sorted(harvest.local, key=order)),
            tools.jar_digest(tools.find_jar()),
        )

    def load(self, key: str) -> StepTable | None:
        """Give the table with this key; None where there is none, or what is there is damaged."""
        body = self.read(key)
        try:
            return None if body is None else _decoded(body)
        except (ValueError, KeyError, TypeError, zlib.error):
            return None

    def store(self, key: str, table: StepTable) -> None:
        """Keep a table."""
        self.write(key, _encoded(table))

    def load_plain_seconds(self, key: str) -> float | None:
        """Give the CPU seconds that the model's search takes without any instrument, if it was measured."""
        body = _PlainSeconds(self.folder).read(key)
        return None if body is None else float(body)

    def store_plain_seconds(self, key: str, seconds: float) -> None:
        """Keep that figure."""
        _PlainSeconds(self.folder).write(key, f"{seconds:.3f}".encode("ascii"))


class _PlainSeconds(Store):
    name = "plain_seconds"


def _encoded(table: StepTable) -> bytes:
    cells = array("I", table.cells)
    if sys.byteorder == "big":
        cells.byteswap()
    told = {
        "starts": {member: show(state) for member, state in table.starts.items()},
        "states": [*map(show, table.states)],
        "events": [*map(show, table.events)],
        "results": [
            [{name: show(value) for name, value in result.changes.items()}, show(result.effects)]
            for result in table.results
        ],
        "tlc_seconds": table.tlc_seconds,
        "read_seconds": table.read_seconds,
    }
    head = zlib.compress(json.dumps(told).encode(), 1)
    return str(len(head)).encode("ascii") + b"\n" + head + zlib.compress(cells.tobytes(), 1)


def _decoded(body: bytes) -> StepTable:
    length, _, rest = body.partition(b"\n")
    told = json.loads(zlib.decompress(rest[: int(length)]))
    cells = array("I")
    cells.frombytes(zlib.decompress(rest[int(length) :]))
    if sys.byteorder == "big":
        cells.byteswap()
    known: dict[str, Value] = {}

    def value(text: str) -> Any:  # noqa: ANN401 - of any type
        if text not in known:
            known[text] = parse(text)
        return known[text]

    return StepTable(
        starts={member: value(text) for member, text in told["starts"].items()},
        states=tuple(map(value, told["states"])),
        events=tuple(map(value, told["events"])),
        results=tuple(
            Result({name: value(text) for name, text in changes.items()}, value(effects))
            for changes, effects in told["results"]
        ),
        cells=cells,
        tlc_seconds=told["tlc_seconds"],
        read_seconds=told["read_seconds"],
    )
