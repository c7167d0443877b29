r"""Judging mutants of a specification: TLC holds each against the tables of the conforming models.

No implementation takes part. One generated module has all mutants in it: each changed place asks which
mutant is chosen, `CASE mutant = 17 -> .. [] mutant = 18 -> .. [] OTHER -> ..`, so that the parser has to read
it only once. `mutant` is its only variable and each mutant an initial state. For each TLC evaluates
the changed `Start` of all members, and the changed `Step` row by row up to the first that differs from the
original's.

Most mutants differ in many rows. They are first confronted with a few local states of each model, one pair
for each way in which an event of each type ends (`sample`), the smallest model first. The rest are confronted
with all. A mutant for which TLC cannot evaluate a row (no such field, or a function outside its domain) is
noticed by that. TLC ends then, and begins again after it.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from attrs import define, field, frozen

from groupcomm_conformance.steps.table import HANDLED, Literals, StepTable
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.folding import folded
from groupcomm_conformance.tla.tree import Definitions, Expression, Name, Writer
from groupcomm_conformance.tla.values import Fn, Value, ValueSyntaxError, parse
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc.errors import EvaluationFailed, UnexpectedOutput
from groupcomm_conformance.tlc.output import Progress

from .places import reached
from .specification import SpecMutant

ROOT: Final = "Mutants"
"""The name of the generated module."""

CHUNK: Final = 3_000
"""Local states in one run of TLC; the parser is slower than linear in the length of a literal."""

LIMIT: Final = 300.0
"""Seconds that a mutant may take with a block: far more than any mutant that ends, on a busy machine too."""

_IN_A_SEQUENCE: Final = 200


@frozen
class Noticed:
    """By what a mutant is noticed: a row of a model or a `Start`, or that TLC `fails` to evaluate it.

    `beyond` the tables: by a random step.
    """

    by: str
    fails: bool = False
    beyond: bool = False


@frozen
class Block:
    """Some local states of a model's table, by index, and all its events."""

    model: str
    table: StepTable = field(repr=False)
    states: tuple[int, ...]


def sample(table: StepTable) -> tuple[int, ...]:
    """States in which each type of event ends in each of its ways: two for each, where there are two."""
    width = len(table.events)
    types = [event.get("type", "") for event in table.events]
    ways: dict[object, list[int]] = {}
    for place, cell in enumerate(table.cells):
        at = place // width
        found = ways.setdefault((types[place % width], *_way(table, cell)), [])
        if not found or (len(found) == 1 and found[0] != at):
            found.append(at)
    return tuple(sorted({at for found in ways.values() for at in found}))


def _way(table: StepTable, cell: int) -> tuple[object, ...]:
    """An outcome; of what is handled, the fields that change and the types of the effects."""
    if cell < HANDLED:
        return (cell,)
    result = table.results[cell - HANDLED]
    effects = tuple(effect.get("type", "") if isinstance(effect, Fn) else "" for effect in result.effects)
    return HANDLED, frozenset(result.changes), effects


# The module

_TEXT: Final = r"""---- MODULE {root} ----
EXTENDS {module}, TLC

VARIABLE mutant

{literals}

{definitions}

Mutant_Members == {members}

ASSUME TLCSet(1001, TLCEval([i \in DOMAIN Mutant_States |->
    TLCEval([j \in DOMAIN Mutant_Events |-> Step(Mutant_States[i], Mutant_Events[j])])]))

Mutant_SameStart ==
    \A m \in Mutant_Members :
        IF Mut_Start(m) = Start(m) THEN TRUE ELSE PrintT(ToString(<<"start", mutant, m>>)) /\ FALSE

Mutant_SameSteps ==
    \A i \in DOMAIN Mutant_States :
        \A j \in DOMAIN Mutant_Events :
            IF Mut_Step(Mutant_States[i], Mutant_Events[j]) = TLCGet(1001)[i][j] THEN TRUE
            ELSE PrintT(ToString(<<"step", mutant, i, j>>)) /\ FALSE

MutantJudged ==
    /\ PrintT(ToString(<<"begin", mutant>>))
    /\ IF (IF Mutant_SameStart THEN Mutant_SameSteps ELSE FALSE)
       THEN PrintT(ToString(<<"same", mutant>>)) ELSE TRUE

MutantInit == mutant \in {chosen}
MutantNext == FALSE /\ UNCHANGED mutant
====
"""


def module_text(
    definitions: Definitions,
    mutants: Sequence[SpecMutant],
    chosen: Sequence[int],
    block: Block,
    members: Sequence[str],
    *,
    more: Sequence[str] = (),
) -> str:
    """Write the module in which a block judges the `chosen` mutants; they are numbered from 1.

    Mutant 0 is the original, written again from its tree.
    """
    literals = Literals()
    _sequence(literals, [block.table.states[at] for at in block.states], "States")
    _sequence(literals, block.table.events, "Events")
    return _TEXT.format(
        root=ROOT,
        module=definitions.module,
        literals="\n".join([*literals.definitions, *more]),
        definitions="\n".join(map(folded, _definitions(definitions, {at: mutants[at - 1] for at in chosen if at}))),
        members=f"{{{', '.join(map(literals.name, members))}}}",
        chosen=f"{{{', '.join(map(str, chosen))}}}",
    )


def _sequence(literals: Literals, values: Sequence[Value], name: str) -> None:
    """Define a sequence, in pieces: SANY is slow with long literals."""
    pieces: list[str] = []
    for begin in range(0, len(values), _IN_A_SEQUENCE):
        texts = [literals.text(value) for value in values[begin : begin + _IN_A_SEQUENCE]]
        pieces.append(f"Mutant_{name}_{len(pieces)}")
        literals.define(pieces[-1], f"<<{', '.join(texts)}>>")
    whole = " \\o ".join(pieces) or "<<>>"
    literals.define(f"Mutant_{name}", whole)


def _definitions(definitions: Definitions, mutants: Mapping[int, SpecMutant]) -> Iterator[str]:
    operators = reached(definitions)
    known = {each.name.number for each in operators}

    def original(name: Name) -> str:
        """Names that are bound inside get a number: they may be operators of another module."""
        local = name.kind == "parameter" or (
            name.kind == "defined" and name.number not in definitions.operators and not name.is_instantiated
        )
        return f"{name.text}_{name.number}" if local and name.number > 0 else name.text

    def changed(name: Name) -> str:
        return f"Mut_{name.text}" if name.number in known else original(name)

    # Where a mutant is chosen nothing else is changed. But a recursive operator reaches the place again, and
    # no other module may name a LOCAL operator.
    recursive = {each.name.number for each in operators if each.is_recursive}

    def plainly(name: Name) -> str:
        is_local = name.number in known and definitions.find(name.text) is None
        return changed(name) if is_local or name.number in recursive else original(name)

    plain = Writer(plainly)
    places: dict[int, list[tuple[int, Expression]]] = {}
    for number, mutant in mutants.items():
        places.setdefault(id(mutant.place), []).append((number, mutant.becomes))

    def around(node: Expression, text: str) -> str:
        changes = places.get(id(node))
        if not changes:
            return text
        arms = " [] ".join(f"mutant = {number} -> {plain.operand(becomes)}" for number, becomes in changes)
        return f"(CASE {arms} [] OTHER -> ({text}))"

    return Writer(changed, around).definitions(operators)


# Running it


def printed(line: str) -> "Value | None":
    """Return the tuple that a run printed as text in a line of TLC's, None where the line is another."""
    if not line.startswith('"<<'):
        return None
    try:
        return parse(str(parse(line)))
    except ValueSyntaxError:
        return None


@define
class _Heard:
    """The output of a run: what noticed which mutant, which are the same, and the mutant it is at."""

    noticed: dict[int, tuple[Value, ...]] = field(factory=dict)
    same: set[int] = field(factory=set)
    at: int | None = None
    _since: float = field(factory=time.monotonic)

    def take(self, line: str) -> None:
        value = printed(line)
        match value:
            case ("begin", int(mutant)):
                self.at, self._since = mutant, time.monotonic()
            case ("same", int(mutant)):
                self.same.add(mutant)
            case ("start" | "step", int(mutant), *_) if isinstance(value, tuple):
                self.noticed[mutant] = value

    def watch(self, _counts: Progress) -> None:
        """End the run if it is at one mutant for too long; how long it takes with all says nothing."""
        if time.monotonic() - self._since > LIMIT:
            raise _Endless


class _Endless(Exception):  # noqa: N818 - it is a verdict
    """A mutant takes too long."""


@frozen
class Bench:
    """The common part of all runs; `constants` are the values of those of the module, as a cfg has them.

    `more`: definitions that the constants name besides.
    """

    folders: tuple[Path, ...]
    definitions: Definitions
    constants: Mapping[str, str]
    mutants: tuple[SpecMutant, ...]
    members: tuple[str, ...]
    more: tuple[str, ...] = ()

    def run(self, chosen: Sequence[int], block: Block) -> dict[int, Noticed]:
        """Judge the mutants with these numbers by a block; give the noticed mutants."""
        found: dict[int, Noticed] = {}
        left = list(chosen)
        cfg = Cfg(init="MutantInit", next="MutantNext", invariants=("MutantJudged",), constants=self.constants)
        while left:
            heard = _Heard()
            text = module_text(self.definitions, self.mutants, left, block, self.members, more=self.more)
            why = ""
            try:
                tlc.run(
                    self.folders,
                    ROOT,
                    cfg.render(),
                    generated={ROOT: text},
                    workers=1,
                    short=True,
                    progress=heard.watch,
                    on_line=heard.take,
                )
            except EvaluationFailed as error:
                why = " ".join(error.text.split()) or str(error)
            except _Endless:
                why = f"did not end in {LIMIT:g} s"
            found |= {mutant: Noticed(_place(value, block)) for mutant, value in heard.noticed.items()}
            if why:
                if heard.at is None or heard.at in heard.same:
                    raise UnexpectedOutput(f"{ROOT}: {why}", text=why)
                found[heard.at] = Noticed(why, fails=True)
            left = [each for each in left if each not in found and each not in heard.same]
            if not why and left:
                raise UnexpectedOutput(f"{ROOT}: TLC said nothing of the mutants {left}")
        return found


def _place(value: tuple[Value, ...], block: Block) -> str:
    match value:
        case ("start", _, str(member)):
            return f"Start({member})"
        case ("step", _, int(state), int(event)):
            row = block.states[state - 1] * len(block.table.events) + event
            return f"{block.model} row {row}"
        case _:
            raise UnexpectedOutput(f"{ROOT}: not a place: {value}")


def confront(
    folders: Sequence[Path],
    definitions: Definitions,
    mutants: Sequence[SpecMutant],
    tables: Mapping[str, StepTable],
    constants: Mapping[str, Mapping[str, str]],
    *,
    workers: int | None = None,
) -> list[Noticed | None]:
    """Give, for each mutant, what notices it, or None.

    `tables` are those of the conforming models, by name, and `constants` what each gives the constants of the
    module that is mutated, as a cfg has it. UnexpectedOutput where even the original, written again from its
    tree, differs.
    """
    count = workers or os.cpu_count() or 1
    found: dict[int, Noticed] = {}
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for model in tables:
        groups.setdefault(tuple(sorted(constants[model].items())), []).append(model)
    with ThreadPoolExecutor(count) as pool:
        for values, models in groups.items():
            members = sorted({member for model in models for member in tables[model].starts})
            bench = Bench(tuple(folders), definitions, dict(values), tuple(mutants), tuple(members))
            few = [Block(model, tables[model], sample(tables[model])) for model in models]
            # A block at a time: where TLC cannot evaluate a mutant it reads the block again for the others.
            for block in few:
                left = _left(mutants, found)
                parts = [left[begin::count] for begin in range(count)]
                for noticed in pool.map(bench.run, parts, [block] * count):
                    found |= noticed
                _same_as_itself(found)
            rest = [block for block in few for block in _rest(block)]
            for begin in range(0, len(rest), count):
                left = _left(mutants, found)
                blocks = rest[begin : begin + count]
                for noticed in pool.map(bench.run, [left] * len(blocks), blocks):
                    found = noticed | found
            _same_as_itself(found)
    return [found.get(number) for number in range(1, len(mutants) + 1)]


def _left(mutants: Sequence[SpecMutant], found: Mapping[int, Noticed]) -> list[int]:
    """The original, which must not be noticed, and the mutants that are not yet."""
    return [number for number in range(len(mutants) + 1) if number not in found]


def _same_as_itself(found: Mapping[int, Noticed]) -> None:
    if 0 in found:
        raise UnexpectedOutput(f"{ROOT}: what is written from the specification's tree differs from it: {found[0].by}")


def _rest(block: Block) -> Iterator[Block]:
    """All other states of a block's model, in pieces."""
    taken = set(block.states)
    others = [at for at in range(len(block.table.states)) if at not in taken]
    for begin in range(0, len(others), CHUNK):
        yield Block(block.model, block.table, tuple(others[begin : begin + CHUNK]))
