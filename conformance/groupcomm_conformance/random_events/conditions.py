r"""Judging the conditions of `Step`: without one of them, a claim must be violated.

Guards are conditions with a name, and each has an ablation. This makes the ablations of all other conditions: a
conjunct or a disjunct is dropped, or one branch of an IF is taken always. The models that control an ablation
search with such a step until one of their claims is violated: first up to 1,000 states of each, then up to 10,000.
A condition that no claim notices is needless, or decides what no claim speaks of (which rows notice), or a claim is
missing.

A conjunct matters where it is false, a disjunct where it is true, and an IF that is taken always where it would not
be taken. So each model is searched once with the step as it is, and tells which conditions matter in it, and in
which state first. Until then a search without the condition is the same, and holds.

Claims, and the group around the members, use operators of the step as they are: only `Step` and `Start` get copies of
what is changed.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from attrs import define, evolve, field

from groupcomm_conformance.files.keys import key
from groupcomm_conformance.files.store import Store
from groupcomm_conformance.models.instruments import ROOT, Run, remembered
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.models.modules import read_modules, scope
from groupcomm_conformance.steps.mutants.conforming import ModelTable
from groupcomm_conformance.steps.mutants.spec_by_tlc import Noticed, printed
from groupcomm_conformance.steps.mutants.specification import SpecMutant
from groupcomm_conformance.steps.mutants.verdicts import Judged, broken
from groupcomm_conformance.tla.folding import folded
from groupcomm_conformance.tla.tree import Apply, Definitions, Expression, Name
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.tlc.errors import EvaluationFailed, TimedOut

from .copying import Changing, Uses, copies, replacing

MOST: Final = 10_000
"""The most states of a search."""
_FEW: Final = 1_000
"""The most of a first search: most violations are near."""
_EACH: Final = 50
"""The most transitions for each of these states: without a condition a step may lead to the same state for ever."""
_STEPS: Final = 1_999
"""The register that counts transitions."""
_SEEN: Final = 2_000
"""The first register of conditions that have mattered."""
_NOTING: Final = r"""
Weak_Said(i) ==
    IF TLCGet(i) THEN TRUE ELSE PrintT(ToString(<<"matters", i, TLCGet("distinct")>>)) /\ TLCSet(i, TRUE)
Weak_True(i, b) == IF b THEN Weak_Said(i) ELSE FALSE
Weak_False(i, b) == IF b THEN TRUE ELSE ~Weak_Said(i)
"""

_SHOWN: Final = 5
_SECONDS: Final = 600
"""A limit for what never ends: on a busy machine a search takes a minute, and MOST is its bound."""
_BRANCH: Final = re.compile(r": IF .* -> IF (TRUE|FALSE)( \(place \d+\))?$")
_DISJUNCTIONS: Final = frozenset({r"\lor", "$DisjList"})
_JUNCTIONS: Final = frozenset({r"\land", "$ConjList", "=>"}) | _DISJUNCTIONS
_ROOTS: Final = ("Step", "Start")


class _Found(Store):
    name = "conditions.json"


def judge(
    manifest: Manifest,
    tables: Mapping[str, ModelTable],
    *,
    cache: Path | None = None,
    workers: int = 1,
    most: int = MOST,
    every_model: bool = False,
    progress: Callable[[int, int, str], None] = lambda _at, _of, _name: None,
) -> Judged:
    """Change each condition of `Step`, and let the claims of small models judge.

    With `every_model` those are asked too in which a condition does not matter. `progress` hears of each condition
    that is judged: how many are, of how many, and its name.
    """
    definitions, mutants, _ = broken(manifest, tables)
    conditions = [each for each in mutants if _is_condition(each)]
    models = _models(manifest, definitions.module)
    judging = _Judging(manifest, definitions, conditions, models, most, _Found(cache) if cache else None)
    with ThreadPoolExecutor(workers) as pool:
        names = [model.name for model in models]
        if every_model:
            judging.matters = dict.fromkeys(names, dict.fromkeys(range(len(conditions)), 0))
        else:
            judging.matters = dict(zip(names, pool.map(judging.mattering, models), strict=True))
        found: list[Noticed | None] = []
        for at, each in enumerate(pool.map(judging.judged, range(len(conditions))), start=1):
            progress(at, len(conditions), conditions[at - 1].name)
            found.append(each)
    places = {each.name: judging.places(at) for at, each in enumerate(conditions) if found[at] is None}
    return Judged(definitions, manifest.protocol, tuple(names), tuple(conditions), tuple(found), (), places)


def _is_condition(mutant: SpecMutant) -> bool:
    match mutant.place:
        case Apply(Name(sign)) if sign in _JUNCTIONS:
            return " dropped from " in mutant.name
        case Apply(Name("$IfThenElse")):
            return _BRANCH.search(mutant.name) is not None
        case _:
            return False


def _asked(mutant: SpecMutant) -> tuple[Expression, bool]:
    """Give the condition that is changed, and the value with which it matters."""
    if not isinstance(mutant.place, Apply):
        raise TypeError(mutant.name)
    sign, operands = mutant.place.operator.text, mutant.place.operands
    if sign == "$IfThenElse":
        return operands[0], mutant.becomes is operands[2]
    rest = mutant.becomes
    left = {id(rest), *(map(id, rest.operands) if isinstance(rest, Apply) else ())}
    return next(each for each in operands if id(each) not in left), sign in _DISJUNCTIONS


def _models(manifest: Manifest, module: str) -> list[Model]:
    """The controls of ablations over modules that extend the step's, the smallest first."""
    controls = {model.control for model in manifest.models}
    found = [
        (model.counts.transitions, model.liveness, model)
        for model in manifest.models
        if model.name in controls
        and model.tier != "deep"
        and model.counts is not None
        and not set(_ROOTS) & manifest.cfg(model).constants.keys()
        and module in _scope(manifest, model)
    ]
    return [model for _, _, model in sorted(found, key=lambda each: each[:2])]


def _scope(manifest: Manifest, model: Model) -> Collection[str]:
    root = manifest.module_of(model.claims)
    return scope(read_modules(manifest.folders, root), root)


@define
class _Judging:
    """What judges the conditions: models, and the order in which they are asked."""

    manifest: Manifest
    definitions: Definitions
    conditions: Sequence[SpecMutant]
    models: Sequence[Model]
    most: int
    store: _Found | None
    matters: Mapping[str, Mapping[int, int]] = field(factory=dict)
    """By model, the conditions that matter in it, each with the number of states before the first where it does."""
    _uses: Uses = field(init=False)
    _noticed: Counter[tuple[str, str]] = field(factory=Counter)
    """How many conditions of an operator a model has noticed, and how many of all ("")."""

    def __attrs_post_init__(self) -> None:
        self._uses = Uses.of(self.definitions, _ROOTS)

    def mattering(self, model: Model) -> dict[int, int]:
        """Search a model with the step as it is: which conditions matter, after how many states."""
        asked: dict[int, list[str]] = {}
        for at, each in enumerate(self.conditions):
            condition, value = _asked(each)
            asked.setdefault(id(condition), []).append(f"Weak_{value}({_SEEN + at}, ")

        def noting(node: Expression, text: str, _plain: Callable[[Expression], str]) -> str:
            around = asked.get(id(node), [])
            return f"{''.join(around)}{text}{')' * len(around)}"

        registers = (f"ASSUME TLCSet({_SEEN + at}, FALSE)\n" for at in range(len(self.conditions)))
        head = f"{_NOTING}{''.join(registers)}"
        run = self._run(model, {each.operator for each in self.conditions}, noting, most=self.most, head=head)
        found: dict[int, int] = {}

        def hear(line: str) -> None:
            match printed(line):
                case ("matters", int(register), int(states)):
                    found[register - _SEEN] = states
                case _:
                    pass

        def search() -> dict[int, int]:
            self._search(run, hear)
            return found

        told: Mapping[str, int] = self._kept(model, run, lambda: {str(at): states for at, states in search().items()})
        return {int(at): states for at, states in told.items()}

    def places(self, at: int) -> str:
        """Say in which models a condition matters, soonest first."""
        names = sorted((states[at], name) for name, states in self.matters.items() if at in states)
        shown = ", ".join(name for _, name in names[:_SHOWN])
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return f"it matters in {shown}{more}" if names else "it matters in no model"

    def judged(self, at: int) -> Noticed | None:
        """The first model of which a claim is violated, and the claim; None where there is none."""
        operator = self.conditions[at].operator

        def rank(model: Model) -> tuple[int, int]:
            return -self._noticed[operator, model.name], -self._noticed["", model.name]

        models = [model for model in self.models if at in self.matters[model.name]]
        for most in dict.fromkeys((min(_FEW, self.most), self.most)):
            near = [model for model in models if self.matters[model.name][at] <= most]
            for model in sorted(near, key=rank):
                found, is_whole = self._searched(at, model, most)
                if found is not None:
                    self._noticed.update([(operator, model.name), ("", model.name)])
                    return found
                if is_whole:
                    models.remove(model)
        return None

    def _searched(self, at: int, model: Model, most: int) -> tuple[Noticed | None, bool]:
        """Search a model without a condition; and say whether the search ended before it was stopped."""
        mutant = self.conditions[at]
        run = self._run(model, {mutant.operator}, replacing(mutant), most=most)

        def search() -> tuple[str, bool, bool]:
            try:
                result = self._search(run)
            except TimedOut:
                return "", False, False
            except EvaluationFailed:
                return f"{model.name}, which TLC cannot evaluate", True, False
            return f"{model.name}, {result.violated}" if result.violated else "", False, result.queue == 0

        by, fails, is_whole = self._kept(model, run, search)
        return Noticed(by, fails=fails) if by else None, is_whole

    def _kept(self, model: Model, run: Run, search: Callable[[], object]) -> Any:  # noqa: ANN401 - what `search` gives, as JSON
        """Give what was found by this run before, or search."""
        texts = sorted(read_modules(self.manifest.folders, self.manifest.module_of(model.claims)).bare.items())
        place = key(__name__, run.text, run.cfg.render(), texts, tools.jar_digest(tools.find_jar()))
        kept = self.store.read(place) if self.store else None
        if kept is None:
            kept = json.dumps(search()).encode()
            if self.store:
                self.store.write(place, kept)
        return json.loads(kept)

    def _search(self, run: Run, on_line: Callable[[str], None] | None = None) -> tlc.Result:
        return tlc.run(
            self.manifest.folders,
            ROOT,
            run.cfg.render(),
            generated=run.generated,
            workers=1,
            short=True,
            kept=True,
            hot=True,
            timeout=_SECONDS,
            on_line=on_line,
        )

    def _run(self, model: Model, operators: Collection[str], changing: Changing, *, most: int, head: str = "") -> Run:
        """Write the search of a model, up to `most` states, with a step in which some operators are changed."""
        module = self.manifest.module_of(model.claims)
        cfg = self.manifest.cfg(model)
        lines: list[str] = []
        constants = dict(cfg.constants)
        for top in _ROOTS:
            used = {self.definitions.operators[number].name.text for number in self._uses.tops[top]}
            if used.intersection(operators):
                lines += copies(self._uses, top, operators, changing, f"Weak_{top}_")
                constants[top] = f"<- Weak_{top}_{top}"
        enough = f'TLCGet("distinct") > {most} \\/ TLCGet({_STEPS}) > {_EACH * most}'
        text = "\n".join(
            (
                f"---- MODULE {ROOT} ----\nEXTENDS {module}, Naturals, TLC",
                head,
                *map(folded, lines),
                f"ASSUME TLCSet({_STEPS}, 0)",
                f'Weak_Stop == TLCSet({_STEPS}, TLCGet({_STEPS}) + 1) /\\ (({enough}) => TLCSet("exit", TRUE))\n====\n',
            )
        )
        stops = (*cfg.action_constraints, "Weak_Stop")
        run = Run(text, evolve(cfg, constants=constants, action_constraints=stops))
        return remembered(run, read_modules(self.manifest.folders, module))
