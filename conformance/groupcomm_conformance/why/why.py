"""Why a counterexample refutes its claim: the claim's sentence, and for which members and values it is false.

The sentence is the comment directly above the claim (or above its step) in the specification. For the values
TLC runs the counterexample again, state by state. The claim's own text is made to print the values that
refute it (`tla.witnesses`), in the last state, or for an action property in the last step. Liveness has no
such values: the violation is that something never comes. But models of liveness do not keep `act`, and
running their counterexample again gives it.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final, cast

from attrs import evolve, frozen

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.keys import key
from groupcomm_conformance.files.store import Store
from groupcomm_conformance.models.instruments import ROOT
from groupcomm_conformance.models.model import Manifest, Model
from groupcomm_conformance.models.modules import Modules, read_modules
from groupcomm_conformance.models.result import CheckedModel
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.folding import folded
from groupcomm_conformance.tla.readable import brief
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value, from_json, parse, show, to_json
from groupcomm_conformance.tla.witnesses import Leaf
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.tlc.errors import ConfigFailed, EvaluationFailed, ParseFailed

from .unfolded import unfold

_KEEP_ACT: Final = "KeepAct"
"""The constant that, where a specification has it, switches `act` on."""

_LONGEST: Final = 60
_WIDEST: Final = 200
_MOST: Final = 6
_ACT: Final = "act"


@frozen
class Why:
    """Why a claim is false at the end of a counterexample.

    `sentence` is the claim's comment ("" where it has none) and `place` where it stands. `cases` say for
    which values it is false, each on a line; where there are none, `plain` says why not. `trace` is the
    counterexample, for liveness with its `act`.
    """

    claim: str
    sentence: str
    place: str
    cases: tuple[str, ...]
    plain: str
    trace: tuple[State, ...]

    def lines(self) -> list[str]:
        """Write it for people: the claim and its sentence, then the cases."""
        head = f"{self.claim} is false: {self.sentence}" if self.sentence else f"{self.claim} is false."
        return [head, *(f"- {case}" for case in self.cases), *([self.plain] if self.plain else [])]

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values, without the trace."""
        return {
            "claim": self.claim,
            "sentence": self.sentence,
            "place": self.place,
            "cases": list(self.cases),
            "plain": self.plain,
        }


class Reasons(Store):
    """Results of earlier runs, kept by all that they depend on."""

    name = "why.json"


def why(manifest: Manifest, model: Model, checked: CheckedModel, cache: Reasons | None = None) -> Why | None:
    """Say why the counterexample of `checked` refutes what it violates; None where there is none."""
    if checked.violated is None or not checked.trace:
        return None
    root = manifest.module_of(model.claims)
    modules = read_modules(manifest.folders, root)
    says, place = sentence(modules, checked.violated)
    told = Why(checked.violated, says, place, (), "", checked.trace)
    cfg = manifest.cfg(model)
    claim = checked.violated
    again = Again(manifest, root, modules, cfg, checked.trace)
    if claim in cfg.invariants:
        return _values(again, told, claim, cache)
    if modules.step_of(claim) is not None:
        return _values(again, told, f"{claim}Step", cache)
    if checked.loop is None and not checked.stuttering:
        return evolve(told, plain=f"The last step is none that {claim} allows.")
    after = (
        f"After state {len(checked.trace)} the behaviour continues with state {checked.loop}, and so for ever"
        if checked.loop is not None
        else "The behaviour stays in its last state for ever"
    )
    plain = f"{after}. No action that has to be taken is left out, and what the claim promises never comes."
    return evolve(told, plain=plain, trace=_with_acts(again, cache))


def reasons(shown: Iterable[tuple[Manifest, Model, CheckedModel]], cache: Reasons | None = None) -> list[Why | None]:
    """Say of each counterexample why it refutes what it violates, some side by side."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda each: why(each[0], each[1], each[2], cache), shown))


def sentence(modules: Modules, claim: str) -> tuple[str, str]:
    """Find the comment above a claim, or else above its step, without the requirement that it begins with."""
    says, place = "", ""
    for operator in (claim, f"{claim}Step"):
        if says or (found := modules.sentence(operator)) is None:
            continue
        says = _TAG.sub("", found[0])
        module = modules.definition(operator)
        place = f"{module[0]}.tla:{found[1]}" if module else ""
    return f"{says[:1].upper()}{says[1:]}", place


_TAG: Final = re.compile(r"^[A-Z]{3,5}-\d+[a-z]?(?:, [A-Z]{3,5}-\d+[a-z]?)*(?:: *|$)")


# Running the counterexample again


def _values(again: "Again", told: Why, operator: str, cache: Reasons | None) -> Why:
    """Have TLC print for which values the claim, an operator of a state or of a step, is false at the end."""
    whole = unfold(again.modules, again.root, operator, "why")
    if whole is None:
        return evolve(told, plain="No module defines it, so nothing more can be said.")
    of_step = operator != told.claim
    at = "Run_at'" if of_step else "Run_at"
    lines = again.lines(
        [*whole.definitions, f"Run_False ==\n{whole.text}", f"Run_Why == {at} < {len(told.trace)} \\/ Run_False"],
        modules=whole.modules,
        constraint="Run_Why" if of_step else None,
        invariant=None if of_step else "Run_Why",
        cache=cache,
    )
    if lines is None:
        return evolve(
            told, plain="The values are not known: the text of the claim has no form that can be taken apart."
        )
    found: dict[str, list[str]] = {}
    for line in lines:
        head, part = _case(again.modules, whole.leaves, line)
        if part not in (parts := found.setdefault(head, [])):
            parts.append(part)
    cases = [f"{head}{'; '.join(parts)}" for head, parts in found.items()]
    more = [f"and {len(cases) - _MOST} more"] if len(cases) > _MOST else []
    return evolve(told, cases=(*cases[:_MOST], *more))


def _case(modules: Modules, leaves: tuple[Leaf, ...], line: Value) -> tuple[str, str]:
    """Write what one evaluation printed: the operator and the names with their values; and what is false."""
    _, number, values, left, right = cast("tuple[str, int, tuple[Value, ...], Value, Value]", line)
    leaf = leaves[number]
    if leaf.guarantee:
        ones, twos = cast("tuple[frozenset[str], frozenset[frozenset[str]]]", (left, right))
        return "", _violated(modules, leaf, ones, twos)
    named = [
        f"{name} = {text}"
        for name, value in zip(leaf.names, values, strict=True)
        if len(text := brief(value)) <= _LONGEST
    ]
    of = f"{leaf.operator}: " if leaf.operator else ""
    head = f"{of}for {', '.join(named)}: " if named else of
    formula = leaf.formula if len(leaf.formula) <= _WIDEST else f"{leaf.formula[:_WIDEST]} ..."
    if leaf.sides is None:
        return head, formula
    compared = " ".join(leaf.sides)
    came = f"{brief(left)} {leaf.sides[1]} {brief(right)}"
    return head, compared if len(came) > _WIDEST or came == compared else f"{compared}, that is {came}"


def _violated(modules: Modules, leaf: Leaf, ones: frozenset[str], twos: frozenset[frozenset[str]]) -> str:
    """Name the conjuncts of a guarantee without which the step would be one of its steps."""
    violates = f"the step violates {leaf.guarantee}!"
    if ones:
        told = (f"{name}: {modules.meaning(leaf.guarantee, name)}" for name in sorted(ones))
        return f"{violates}{' Or '.join(told)}"
    if twos:
        return f"{violates}{' or '.join(sorted(' and '.join(sorted(pair)) for pair in twos))}"
    return f"the step is none of {leaf.formula}, whichever two conjuncts are left out"


def _with_acts(again: "Again", cache: Reasons | None) -> tuple[State, ...]:
    """Give the states of a trace with the `act` that leads to each, which the search did not keep."""
    trace = again.trace
    if _KEEP_ACT not in again.cfg.constants or _ACT not in trace[0].values:
        return trace
    kept = evolve(again.cfg, constants={**again.cfg.constants, _KEEP_ACT: "= TRUE"})
    tell = f'Run_Tell == PrintT(ToString(<<"act", Run_at, {_ACT}>>))'
    lines = evolve(again, cfg=kept, free=_ACT).lines([tell], invariant="Run_Tell", cache=cache)
    acts: dict[int, Value] = {}
    for line in lines or ():
        if isinstance(line, tuple) and len(line) == 3 and isinstance(line[1], int):  # noqa: PLR2004
            acts.setdefault(line[1], line[2])
    return tuple(
        evolve(state, values=Fn({**state.values, _ACT: acts[state.number]})) if state.number in acts else state
        for state in trace
    )


@frozen
class Again:
    """A module that follows a trace; the variable `free` may have any value that a step gives it.

    A `loose` one takes every step from each state of the trace; an operator given to `lines` as its
    constraint keeps the steps that lead to the next state.
    """

    manifest: Manifest
    root: str
    modules: Modules
    cfg: Cfg
    trace: tuple[State, ...]
    free: str = ""
    loose: bool = False

    def lines(
        self,
        operators: list[str],
        *,
        modules: Mapping[str, str] = MappingProxyType({}),
        invariant: str | None = None,
        constraint: str | None = None,
        cache: Reasons | None,
    ) -> list[Value] | None:
        """Run TLC and give the tuples that it printed; None where it cannot evaluate what it is asked."""
        text = self._text(operators)
        cfg = Cfg(
            init="Run_Init",
            next="Run_Next",
            constants=self.cfg.constants,
            invariants=() if invariant is None else (invariant,),
            action_constraints=() if constraint is None else (constraint,),
        ).render()
        jar = tools.jar_digest(tools.find_jar())
        known = key(__name__, sorted(self.modules.bare.items()), sorted(modules.items()), text, cfg, jar)
        kept = cache.read(known) if cache is not None else None
        if kept is not None:
            with suppress(ValueError, TypeError, KeyError):  # what is none of ours is as good as absent
                stored = json.loads(kept)
                return None if stored is None else [from_json(value) for value in stored]
        found: list[Value] | None = []
        try:
            came = tlc.run(
                self.manifest.folders, ROOT, cfg, generated={ROOT: text, **modules}, workers=1, heap="1g", short=True
            )
            found = [parse(str(parse(line))) for line in came.printed if line.startswith('"<<')]
        except (ParseFailed, ConfigFailed, EvaluationFailed):
            found = None
        if cache is not None:
            plain = None if found is None else [to_json(value) for value in found]
            cache.write(known, json.dumps(plain).encode())
        return found

    def _text(self, operators: list[str]) -> str:
        names = [str(name) for name in self.trace[0].values]
        states = ",\n".join(f"    {folded(show(state.values))}" for state in self.trace)
        first = "".join(f"\n    /\\ {name} = Run_Trace[1].{name}" for name in names)
        follows = "".join(
            f"\n    /\\ {name}' = Run_Trace[Run_at + 1].{name}"
            for name in names
            if name != self.free and not self.loose
        )
        last = len(self.trace)
        steps = f"\n    /\\ Run_at < {last}\n    /\\ Run_at' = Run_at + 1\n    /\\ {self._next()}{follows}"
        return "\n".join(
            (
                f"---- MODULE {ROOT} ----",
                f"EXTENDS {self.root}, Integers, Sequences, TLC",
                "VARIABLE Run_at",
                f"Run_Trace == <<\n{states}\n>>",
                f"Run_Init ==\n    /\\ Run_at = 1{first}",
                f"Run_Next =={steps}",
                *operators,
                "====",
                "",
            )
        )

    def _next(self) -> str:
        if self.cfg.next is not None:
            return self.cfg.next
        name = str(self.cfg.specification)
        try:
            return self.modules.next_of(name)
        except FileError:  # `LiveSpec == Spec /\ Fairness` takes the steps of Spec
            found = self.modules.definition(name)
            base = re.match(r"\s*(\w+)\s*/\\", found[1]) if found else None
            if base is None:
                raise
            return self.modules.next_of(base[1])
