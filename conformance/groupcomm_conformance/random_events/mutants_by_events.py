"""Mutants that no table of local steps detects, and random steps far beyond the models.

Random walks of the core (`charts`) give states that no table has, and messages that no correct peer sends.
A few walks make a block: each of their states meets each of their events, with each message distorted and
other events made up, on the original and on the mutant. Of a specification TLC evaluates both. A mutant that
differs is noticed, as `conform --random` would notice it; so an explanation why it is equivalent is wrong.

Of the two walks of a block one has the names of the models, the other incarnations of a single name, in every
spelling. In the end states of the second walk each incarnation also stands in the place of each other
(`_lives`). The states of each table also meet its messages with less in them (`_lacking`): random steps
hardly ever bring a message that must fit many things at once, such as the answer to a joiner. And a state of
a table has each two addresses in it (`_pairs`).
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, count, permutations, product
from random import Random
from types import MappingProxyType
from typing import Any, Final

from attrs import evolve, frozen

from groupcomm.shapes import Atom, Choice, Function, Record, Shape, shape_of
from groupcomm.view import View, ViewId
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.protocols.derive import Protocol, constants_of
from groupcomm_conformance.steps.mutants.core_by_rows import mutated
from groupcomm_conformance.steps.mutants.implementation import Mutant
from groupcomm_conformance.steps.mutants.spec_by_tlc import Bench, Block, Noticed
from groupcomm_conformance.steps.mutants.verdicts import Judged, given
from groupcomm_conformance.steps.rows import LIMIT, Endless, Guard
from groupcomm_conformance.steps.table import HANDLED, StepTable
from groupcomm_conformance.tla.readable import brief
from groupcomm_conformance.tla.values import Fn, Value, function, show
from groupcomm_conformance.tlc.errors import UnexpectedOutput

from .against_step import Beside
from .drawn import LENGTH, Domain, Drawn, distorted, kinds, made_up, parts, taken, walk

STEPS: Final = 100_000
"""Random steps for each survivor."""

_ORDER: Final = "Addresses"
"""The name of the order of addresses in the specifications."""

_NAMES: Final = (
    ("A", "B", "C", "D", "E", "F"),
    (
        *("B#10", "A", "A#", "A#x", "A10", "A##0", "A##2", "#5", "#7"),
        *(f"A#{life}" for life in (0, 1, "02", 2, 3, 4, 5, 6, 7, 8, 9, 10, 98)),
    ),
)
"""States and events of each walk of a block. A walk has 60 states and 60 events, most of them distinct."""

_ODD: Final = ("!", "~", "Ax", "Bx", "Cx", "Dx", "Ex", "Fx")
"""The first and the last address with a single letter, and addresses that begin with one of the models."""

_LATER: Final = 2_000_000_000
"""The counter of a view that is later than those of all states."""


@frozen
class _Crossed:
    """States and events of the walks with some seeds."""

    name: str
    states: tuple[Any, ...]
    events: tuple[Any, ...]

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Each state with each event."""
        return product(self.states, self.events)


def _blocks(protocol: Protocol, config: object, number: int, begin: int = 1) -> Iterator[_Crossed]:
    """Give blocks of at least `number` steps together, from the walk `begin` on."""
    richest: list[Any] = []
    for first in count(begin, len(_NAMES)):
        if number <= 0:
            yield from _lives(protocol, richest)
            return
        seeds = range(first, first + len(_NAMES))
        random = Random(first)  # noqa: S311 - repeatable, no secret
        steps: list[Drawn] = []
        events: list[Any] = []
        for each, names in zip(seeds, _NAMES, strict=True):
            steps += walk(protocol, config, each, domain=Domain(names)).steps
            events += (event for step in steps[-LENGTH:] for event in _around(protocol, step, random, names))
        states = tuple(dict.fromkeys(step.before for step in steps))
        name = f"random steps of the walks {seeds[0]} to {seeds[-1]}"
        crossed = _Crossed(name, states, tuple(dict.fromkeys(events)))
        yield crossed
        number -= len(states) * len(crossed.events)
        richest.append(max((step.before for step in steps[-LENGTH:]), key=_addresses))


def _around(protocol: Protocol, step: Drawn, random: Random, names: tuple[str, ...]) -> Iterator[Any]:
    """Give an event and one made up for the same state; for a message, also one with a distorted message."""
    yield step.event
    yield made_up(protocol, step.before, random, names)
    if hasattr(step.event, "message"):
        yield evolve(step.event, message=distorted(protocol, step.before, step.event.message, random))


def _lives(protocol: Protocol, states: Sequence[Any]) -> Iterator[_Crossed]:
    """Each address in the place of each other one in these states; and the next view, with each.

    A view may end the incarnation that a state is about. (Nothing for a protocol without such an event, nor where
    there is no state.)
    """
    member, *others = _NAMES[-1]
    events = [
        kind.cls(View(ViewId(_LATER, member), (member, other)))
        for kind in kinds(protocol)
        if {*kind.fields} == {"view"}
        for other in others
    ]
    if not events or not states:
        return
    codec, state_of = protocol.codec, shape_of(type(states[0]))
    turned: list[Any] = []
    for state in states:
        told = _renamed(codec.to_spec(state), {state.member: member, member: state.member})
        for by in range(len(others)):
            turn = dict(zip(others, others[by:] + others[:by], strict=True))
            turned.append(codec.decode(_renamed(told, turn), state_of))
    yield _Crossed("random steps with all incarnations", tuple(dict.fromkeys(turned)), tuple(events))


def _pairs(protocol: Protocol, tables: Mapping[str, StepTable]) -> Iterator[_Crossed]:
    """Two addresses in a state before an event without any, for each two: members, or known besides these.

    The row of an event is that with the most addresses in its effects. A merged view, made of the views of
    others, is hardly ever made in a random step. The last address comes first: TLC takes the elements of a
    set in the order in which it has read them, and would else hardly ask which of two is before the other.
    """
    rich: dict[Value, tuple[int, Fn, Fn]] = {}
    for table in tables.values():
        for found, event, effects in _nameless(table):
            size = len(_letters(effects))
            if event["type"] not in rich or size > rich[event["type"]][0]:
                rich[event["type"]] = size, found, event
    state_of, events = shape_of(protocol.state), shape_of(protocol.events)
    every, odd = (sorted({"A", *names}, reverse=True) for names in (_NAMES[-1], _ODD))
    for kind, (_, row, nameless) in rich.items():
        free = min({*_NAMES[0]} - {*_letters(row)}, default="A")  # "A" stands beside the members, too
        state = _renamed(row, {"A": free})
        own = protocol.codec.decode(state, state_of)
        letters = Counter(letter for letter in _letters(state) if letter != own.member)
        most = [letter for letter, _ in letters.most_common(2)]
        states = [
            protocol.codec.decode(_renamed(state, dict(zip(most, pair, strict=False))), state_of)
            for pair in chain(permutations(every, 2), permutations(odd, 2))
        ]
        states += (_wider(own, state_of, pair) for pair in combinations(every, 2))
        states, told = [*dict.fromkeys(states)], protocol.codec.decode(nameless, events)
        # A few first: TLC begins again after each mutant with which it fails.
        for part in (states[:: len(every)], states):
            yield _Crossed(f"{kind} with each two addresses", tuple(part), (told,))


def _nameless(table: StepTable) -> Iterator[tuple[Fn, Fn, Value]]:
    """The rows in which an event is handled that names no address, each with the effects."""
    width = len(table.events)
    for at, event in enumerate(table.events):
        if not _letters(event):
            for number, state in enumerate(table.states):
                cell = table.cells[number * width + at]
                if cell >= HANDLED:
                    yield state, event, table.results[cell - HANDLED].effects


def _letters(value: Value) -> list[str]:
    """List the models' addresses in a value, each as often as it is there."""
    match value:
        case str():
            return [value] if value in _NAMES[0] else []
        case tuple() | frozenset():
            return [letter for each in value for letter in _letters(each)]
        case Fn():
            return [letter for pair in value.items() for each in pair for letter in _letters(each)]
        case _:
            return []


def _wider(value: Any, shape: Shape, more: Sequence[str]) -> Any:  # noqa: ANN401 - of any class
    """The value where each function from addresses to numbers has these addresses, too: with 0.

    (But for an empty function: so a member in no view stays in no view.)
    """
    match shape:
        case Function(cls, _, Atom(item)) if item is int and value:
            return cls((*value.items(), *((each, 0) for each in more if each not in value)))
        case Function(cls, _, item):
            return cls((key, _wider(each, item, more)) for key, each in value.items())
        case Choice(options):
            for option in options:
                if isinstance(option, Record) and type(value) is option.cls:
                    return _wider(value, option, more)
            return value
        case Record():
            fields = shape.fields.items()
            return evolve(value, **{name: _wider(getattr(value, name), each, more) for name, each in fields})
        case _:
            return value


def _lacking(protocol: Protocol, tables: Mapping[str, StepTable]) -> Iterator[_Crossed]:
    """The states of each table, and its messages, each without an entry for one member."""
    codec = protocol.codec
    for model, table in tables.items():
        shape = shape_of(protocol.events)
        letters = [codec.decode(event, shape) for event in table.events if "message" in event]
        events = [
            evolve(letter, message=message)
            for letter in letters
            for message in _less(letter.message, shape_of(type(letter.message)))
        ]
        states = tuple(codec.decode(state, shape_of(protocol.state)) for state in table.states)
        yield _Crossed(f"{model}, and messages that lack a member", states, tuple(dict.fromkeys(events)))


def _less(value: Any, shape: Shape) -> Iterator[Any]:  # noqa: ANN401 - of any class
    """The value without an entry of a function in it, for each entry in turn."""
    match shape:
        case Function(cls):
            yield from (cls((*((m, v) for m, v in value.items() if m != each),)) for each in value)
        case Choice(options):
            for option in options:
                if isinstance(option, Record) and type(value) is option.cls:
                    yield from _less(value, option)
        case Record():
            for name, inner in shape.fields.items():
                for less in _less(getattr(value, name), inner):
                    yield evolve(value, **{name: less})
        case _:
            pass


def _addresses(state: Any) -> int:  # noqa: ANN401 - of any protocol
    """Count the texts in a state."""
    return sum(isinstance(value, str) for _, value in parts("", state, shape_of(type(state))))


def _renamed(value: Value, names: Mapping[str, str]) -> Value:
    match value:
        case str():
            return names.get(value, value)
        case tuple():
            return tuple(_renamed(each, names) for each in value)
        case frozenset():
            return frozenset(_renamed(each, names) for each in value)
        case Fn():
            return function((_renamed(key, names), _renamed(each, names)) for key, each in value.items())
        case _:
            return value


def noticed_in(
    protocol: Protocol,
    constants: Mapping[str, Value],
    survivors: Sequence[Mutant],
    number: int,
    begin: int = 1,
    *,
    tables: Mapping[str, StepTable] = MappingProxyType({}),
) -> dict[str, str]:
    """Give the mutants of a core, by name, that do another thing in one of `number` random steps: which.

    `constants` are those of the reference. `begin`: the first walk. It ends where all are found. Messages of
    `tables` come with less in them, too.
    """
    found: dict[str, str] = {}
    config = protocol.config(constants)
    beside = (_lacking(protocol, tables), _pairs(protocol, tables))
    for block in chain(_blocks(protocol, config, number, begin), *beside):
        if len(found) == len(survivors):
            break
        steps = [taken(protocol.core, config, *each) for each in block.pairs()]
        for mutant in survivors:
            if mutant.name not in found and (text := _differs(protocol, config, mutant, steps)):
                found[mutant.name] = f"{block.name}: {text}"
    return found


def _differs(protocol: Protocol, config: object, mutant: Mutant, steps: Sequence[Drawn]) -> str:
    """Show the first step in which a mutant differs; "" where there is none."""
    to_spec = protocol.codec.to_spec
    with mutated(protocol, mutant) as core, Guard(LIMIT) as guard:
        for number, step in enumerate(steps):
            try:
                guard.row = number
                other = taken(core, config, step.before, step.event)
            except Endless:
                other = evolve(step, outcome="does not end")
            guard.row = -1
            if other != step:
                break
        else:
            return ""
    return _step_text(
        to_spec(step.before), to_spec(step.event), f"{step.outcome} {step.effects}", f"{other.outcome} {other.effects}"
    )


def noticed_of(
    manifest: Manifest,
    protocol: Protocol,
    judged: Judged,
    number: int,
    begin: int = 1,
    *,
    tables: Mapping[str, StepTable] = MappingProxyType({}),
) -> Judged:
    """Add the verdicts of `number` random steps, for each mutant of `Step` that survives.

    `begin`: the first walk. It ends where all are noticed. Messages of `tables` come with less in them, too.
    """
    noticed = [*judged.noticed]
    if None not in noticed:
        return judged
    cfg = manifest.cfgs["safety"]
    config = protocol.config(constants_of(cfg))
    to_spec = protocol.codec.to_spec
    constants = given(judged.definitions, cfg, manifest.file, "the reference")
    if orders := Beside.of(manifest, protocol).orders:
        own = judged.definitions.find(_ORDER) is not None
        constants |= {_ORDER: orders} | ({f"Mut_{_ORDER}": "<- Beyond"} if own else {})
    addresses = sorted({name for names in (*_NAMES, _ODD) for name in names})
    bench = Bench(
        tuple(manifest.folders),
        judged.definitions,
        constants,
        judged.mutants,
        tuple(addresses),
        (f"Beyond == <<{', '.join(map(show, addresses))}>>",),
    )
    beside = (_lacking(protocol, tables), _pairs(protocol, tables))
    for crossed in chain(_blocks(protocol, config, number, begin), *beside):
        left = [at for at, found in enumerate(noticed, start=1) if found is None]
        if not left:
            break
        states, events = (tuple(map(_record, map(to_spec, each))) for each in (crossed.states, crossed.events))
        if not events:
            continue
        table = StepTable({}, states, events, (), array("I"), 0.0, 0.0)
        block = Block(crossed.name, table, tuple(range(len(states))))
        for at, found in bench.run([0, *left], block).items():
            if at == 0:
                raise UnexpectedOutput(f"what is written from the specification's tree differs: {found.by}")
            noticed[at - 1] = Noticed(_place(found, block), fails=found.fails, beyond=True)
    return evolve(judged, noticed=tuple(noticed))


def _place(noticed: Noticed, block: Block) -> str:
    row = noticed.by.rpartition(" row ")[2]
    if noticed.fails or not row.isdigit():
        return f"{block.model}: {noticed.by}"
    at, number = divmod(int(row) - 1, len(block.table.events))
    return f"{block.model}: {_step_text(block.table.states[at], block.table.events[number])}"


def _step_text(state: Value, event: Value, *came: str) -> str:
    """Write a step, and what original and mutant make of it."""
    labels = ("original", "mutant  ")
    lines = [f"state    {brief(state)}", f"event    {brief(event)}"]
    return "\n".join(["", *lines, *(f"{label} {text:.300}" for label, text in zip(labels, came, strict=False))])


def _record(value: Value) -> Fn:
    assert isinstance(value, Fn)  # noqa: S101 - so are states and events
    return value
