r"""Random walks of a core, held against `Step` as TLC evaluates it.

TLC gets the events alone, as one module of literals, and folds `Step` over those of each walk, from `Start`.
It prints outcome, changed fields and effects of each step, and these are compared with what the core did:
nothing expected comes from the core. TLC also sees to it that a step which is not handled changes nothing.
The first difference of a walk ends it.

A walk that differs is cut to the events that are needed: each that can be left out is left out, again and
again.
"""

import re
import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, evolve, field, frozen

from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.protocols.constants import module_of
from groupcomm_conformance.protocols.derive import Protocol, constants_of
from groupcomm_conformance.steps.rows import Rows, replay
from groupcomm_conformance.steps.table import Literals, Result, StepTable
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.folding import folded
from groupcomm_conformance.tla.readable import brief
from groupcomm_conformance.tla.values import Fn, Value, identical, parse, show
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc.errors import EvaluationFailed, TLCError

from .drawn import LENGTH, Drawn, Walk, atoms, kinds, taken, walk

ROOT: Final = "BeyondTable"
"""The name of the generated module."""

CHUNK: Final = 50
"""Walks in one run of TLC."""

_ROUNDS: Final = 12

_TEXT: Final = r"""---- MODULE {root} ----
EXTENDS {module}, Integers, TLC
VARIABLE table_nothing

{literals}

Table_Init == FALSE /\ table_nothing = 0
Table_Next == FALSE /\ UNCHANGED table_nothing

Table_Outcomes == {{"handled", "ignored", "local_error", "remote_error"}}
Table_Changes(s, t) == [f \in {{x \in DOMAIN s : s[x] # t[x]}} |-> t[f]]

Table_Good(s, step) ==
    /\ step.outcome \in Table_Outcomes
    /\ DOMAIN step.state = DOMAIN s
    /\ step.outcome = "handled" \/ (step.state = s /\ step.effects = <<>>)

Table_Take(w, i, step) ==
    /\ Table_Good(TLCGet(1), step) \/ Assert(FALSE, "not a step that changes nothing unless it is handled")
    /\ PrintT(ToString(<<"step", w, i, step.outcome, Table_Changes(TLCGet(1), step.state), step.effects>>))
    /\ TLCSet(1, step.state)

ASSUME LET walks == {walks} IN
    \A w \in DOMAIN walks :
        /\ TLCSet(1, Start(walks[w][1]))
        /\ \A i \in DOMAIN walks[w][2] :
            PrintT(<<"at", w, i>>) /\ Table_Take(w, i, TLCEval(Step(TLCGet(1), walks[w][2][i])))
ASSUME PrintT("end")
====
"""


@frozen
class Difference:
    """A step in which core and specification differ. `at`: its place in the walk, from 1.

    `expected`: what the specification says; None where it has no answer, and `reason` is TLC's word.
    """

    walk: Walk
    at: int
    expected: tuple[str, Result] | None
    reason: str = ""

    @property
    def step(self) -> Drawn:
        """The answer of the core."""
        return self.walk.steps[self.at - 1]


@define
class Beside:
    """A protocol's core and its specification, side by side."""

    protocol: Protocol
    folders: Sequence[Path]
    module: str
    constants: dict[str, str]
    constants_in: Mapping[str, Value]
    config: Any
    orders: str | None = None
    cpu_seconds: float = field(default=0.0)

    @classmethod
    def of(cls, manifest: Manifest, protocol: Protocol) -> "Beside":
        """The protocol with the constants of its reference."""
        module = module_of(manifest.folder, manifest.protocol)
        assert module is not None  # noqa: S101 - each protocol has one, or it was not derived
        reference = constants_of(manifest.cfgs["safety"])
        own = {*protocol.guards, *protocol.parameters.values()}
        constants = {name: side for name, side in manifest.cfgs["safety"].constants.items() if name in own}
        bare = read_modules(manifest.folders, module).bare
        ordering = [name for name, text in bare.items() if re.search(r"^Addresses\s*==", text, re.MULTILINE)]
        orders = None
        if ordering:
            orders = "<- Beyond" if ordering == [module] else f"<- [{ordering[0]}]Beyond"
        return cls(protocol, manifest.folders, module, constants, reference, protocol.config(reference), orders)

    def drawn(self, seed: int, length: int = LENGTH) -> Walk:
        """Draw the walk with this seed."""
        return walk(self.protocol, self.config, seed, length=length)

    def walked(self, member: str, events: Iterable[Any]) -> Walk:
        """Take the core through these events, from its start."""
        state = self.protocol.core.start(member)
        steps = []
        for event in events:
            steps.append(taken(self.protocol.core, self.config, state, event))
            state = steps[-1].after
        return Walk(member, tuple(steps), -1)

    def text(self, walks: Sequence[Walk]) -> str:
        """Write the module with which TLC takes these walks."""
        literals = Literals()
        named = []
        for number, each in enumerate(walks):
            events = ", ".join(literals.name(self.protocol.codec.to_spec(step.event)) for step in each.steps)
            literals.define(f"Walk{number}", f"<<{show(each.member)}, <<{events}>>>>")
            named.append(f"Walk{number}")
        if self.orders:
            inside = (atoms(step.event, step.before) for each in walks for step in each.steps)
            names = sorted({name for each in inside for name in each if isinstance(name, str)})
            literals.define("Beyond", f"<<{', '.join(map(show, names))}>>")
        text = ", ".join(named)
        return _TEXT.format(
            root=ROOT, module=self.module, literals="\n".join(literals.definitions), walks=folded(f"<<{text}>>")
        )

    def differences(self, walks: Sequence[Walk]) -> Iterator[Difference]:
        """Give the first difference of each walk that has one."""
        part = list(walks)
        while part:
            told = _Told()
            try:
                self._run(part, told)
                broken = None
            except EvaluationFailed as error:
                if not told.walk:  # before the first event: nothing that a step could be blamed for
                    raise
                broken = error
            for place, each in enumerate(part, start=1):
                if broken is not None and place == told.walk:
                    break
                if found := self._difference(each, told.steps.get(place, {})):
                    yield found
            if broken is None:
                return
            each = part[told.walk - 1]
            found = self._difference(each, told.steps.get(told.walk, {}), until=told.at - 1)
            yield found or Difference(each, told.at, None, str(broken))
            part = part[told.walk :]

    def _run(self, walks: Sequence[Walk], told: "_Told") -> None:
        orders = {"Addresses": self.orders} if self.orders else {}
        cfg = Cfg(init="Table_Init", next="Table_Next", constants={**self.constants, **orders})
        ran = tlc.run(
            list(self.folders),
            ROOT,
            cfg.render(),
            generated={ROOT: self.text(walks)},
            workers=1,
            short=True,
            on_line=told.take,
        )
        self.cpu_seconds += ran.cpu_seconds
        if ran.outcome != "holds" or not told.ended:
            raise TLCError(f"{ROOT}: TLC did not finish: {ran.violated}")

    def _difference(
        self, one: Walk, told: "dict[int, tuple[str, Result]]", *, until: int | None = None
    ) -> Difference | None:
        for at, step in enumerate(one.steps[:until], start=1):
            if at not in told:
                raise TLCError(f"{ROOT}: TLC did not print step {at} of a walk of {len(one.steps)}")
            if not self._same(step, *told[at]):
                return Difference(one, at, told[at])
        return None

    def _same(self, step: Drawn, outcome: str, result: Result) -> bool:
        if step.outcome != outcome:
            return False
        if outcome != "handled":
            return True
        to_spec = self.protocol.codec.to_spec
        before, after = to_spec(step.before), to_spec(step.after)
        assert isinstance(before, Fn)  # noqa: S101 - a state is a record
        return identical(before.replace(**result.changes), after) and identical(result.effects, to_spec(step.effects))


@define
class _Told:
    """Reads what TLC prints."""

    steps: dict[int, dict[int, tuple[str, Result]]] = field(factory=dict)
    walk: int = 0
    at: int = 0
    ended: bool = False

    def take(self, line: str) -> None:
        """Read a line; the runner calls this."""
        if line.startswith('<<"at"'):
            match parse(line):
                case ("at", int(walk), int(at)):
                    self.walk, self.at = walk, at
        elif line.startswith('"<<\\"step'):
            value = parse(str(parse(line)))
            match value:
                case ("step", int(number), int(at), str(outcome), changes, tuple(effects)):
                    changed = dict(changes.items()) if isinstance(changes, Fn) else {}
                    self.steps.setdefault(number, {})[at] = outcome, Result(changed, effects)
        elif line == '"end"':
            self.ended = True


@frozen
class Compared:
    """The results of random events. `handled`: how many were, by the types of events."""

    events: int
    walks: int
    outcomes: Counter[str]
    handled: Counter[str]
    differences: tuple[Difference, ...]
    cpu_seconds: float


def compare(beside: Beside, number: int, seed: int, *, chunk: int = CHUNK) -> Compared:
    """Give so many random events to core and specification: walks with this seed, the next, and so on.

    It ends where something differs.
    """
    began = time.process_time()
    before = beside.cpu_seconds
    events = walks = 0
    outcomes: Counter[str] = Counter()
    handled: Counter[str] = Counter()
    differences: list[Difference] = []
    while events < number and not differences:
        part: list[Walk] = []
        while len(part) < chunk and events < number:
            part.append(beside.drawn(seed + walks, min(LENGTH, number - events)))
            events += len(part[-1].steps)
            walks += 1
        for step in (step for each in part for step in each.steps):
            outcomes[step.outcome] += 1
            if step.outcome == "handled":
                handled[type(step.event).__name__] += 1
        differences += beside.differences(part)
    spent = time.process_time() - began + beside.cpu_seconds - before
    return Compared(events, walks, outcomes, handled, tuple(differences), spent)


def lines_of(beside: Beside, protocol: str, came: Compared) -> Iterator[str]:
    """Report the results of random events; show a difference as a row, and how to have it again."""
    told = ", ".join(
        f"{came.outcomes[outcome]:,} {outcome}" for outcome in (*OUTCOMES, *sorted({*came.outcomes} - {*OUTCOMES}))
    )
    yield (
        f"{protocol} at random: {'FAILS' if came.differences else 'ok'}: {came.events:,} events "
        f"in {came.walks:,} walks: {told} ({came.cpu_seconds:.1f} s of CPU time)"
    )
    lacking = sorted({kind.cls.__name__ for kind in kinds(beside.protocol)} - {*came.handled})
    if lacking:
        yield f"  never handled: {', '.join(lacking)}"
    if came.differences:
        found = min(came.differences, key=lambda each: each.at)
        again = f"groupcomm conform {protocol} --random {found.at} --seed {found.walk.seed}"
        yield (
            f"FAILS {protocol} at random: {len(came.differences)} walks differ, "
            "such as this walk, cut to the events that it needs"
        )
        yield from shown(beside, shortened(beside, found))
        yield f"  again    {again}"


def shown(beside: Beside, found: Difference) -> Iterator[str]:
    """The events before, and the step that differs, as `conform` shows a row."""
    to_spec = beside.protocol.codec.to_spec
    yield f"  start    {found.walk.member}"
    for step in found.walk.steps[:-1]:
        yield f"  event    {brief(to_spec(step.event))}: {step.outcome}"
    state, event = to_spec(found.step.before), to_spec(found.step.event)
    assert isinstance(state, Fn)  # noqa: S101 - so are they all
    assert isinstance(event, Fn)  # noqa: S101
    if found.expected is None:
        yield f"  state    {brief(state)}"
        yield f"  event    {brief(event)}"
        yield f"  expected nothing: the specification has no answer: {found.reason.splitlines()[0]}"
        yield f"  got      {found.step.outcome}"
        return
    outcome, result = found.expected
    code = OUTCOMES.index(outcome)
    table = StepTable({}, (state,), (event,), (result,), array("I", [code]), 0.0, 0.0)
    rows = Rows(beside.protocol, table, beside.constants_in)
    failure = replay(rows, beside.protocol.core.step).first
    if failure is None:
        raise TLCError("a step that differs in a walk does not by itself: the core has hidden state")
    yield f"  verdict  {failure.verdict}"
    yield from failure.text(table, "").splitlines()[:-1]


def shortened(beside: Beside, found: Difference) -> Difference:
    """Leave out the events without which the last step differs all the same."""
    best = _cut(found)
    for _ in range(_ROUNDS):
        events = [step.event for step in best.walk.steps]
        size = max(1, len(events) // 4)
        fewer: Difference | None = None
        while fewer is None and size:
            starts = range(0, len(events) - 1, size)
            tries = [beside.walked(best.walk.member, events[:i] + events[i + size :]) for i in starts]
            differing = map(_cut, beside.differences([each for each in tries if each.steps]))
            fewer = min(differing, key=lambda each: each.at, default=None)
            size //= 2
        if fewer is None or fewer.at >= best.at:
            return best
        best = fewer
    return best


def _cut(found: Difference) -> Difference:
    return evolve(found, walk=evolve(found.walk, steps=found.walk.steps[: found.at]))
