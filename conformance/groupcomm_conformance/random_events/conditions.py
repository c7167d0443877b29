r"""Judging the conditions of `Step`: without one of them, a claim must be violated.

Guards are conditions with a name, and each has an ablation. This makes the ablations of all other conditions: a
conjunct or a disjunct is dropped, or one branch of an IF is taken always. The models that control an ablation
search with such a step until one of their claims is violated: the smallest first, the first 10,000 states of each. A
condition that no claim notices is needless, or decides what no claim speaks of (which rows notice), or a claim is
missing.

Claims, and the group around the members, use operators of the step as they are: only `Step` and `Start` get copies of
what is changed.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from attrs import define, evolve, field

from groupcomm_conformance.files.keys import key
from groupcomm_conformance.files.store import Store
from groupcomm_conformance.models.instruments import ROOT, Run, remembered
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.models.modules import read_modules, scope
from groupcomm_conformance.steps.mutants.conforming import ModelTable
from groupcomm_conformance.steps.mutants.spec_by_tlc import Noticed
from groupcomm_conformance.steps.mutants.specification import SpecMutant
from groupcomm_conformance.steps.mutants.verdicts import Judged, broken
from groupcomm_conformance.tla.folding import folded
from groupcomm_conformance.tla.tree import Apply, Definitions, Name
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.tlc.errors import EvaluationFailed, TimedOut

from .claims import Root, copies
from .weakening import Weakenings, all_used, called

MOST: Final = 10_000
"""The most states of a search."""

_SECONDS: Final = 600
"""A limit for what never ends: on a busy machine a search takes a minute, and MOST is its bound."""
_BRANCH: Final = re.compile(r": IF .* -> IF (TRUE|FALSE)( \(place \d+\))?$")
_JUNCTIONS: Final = frozenset({r"\land", r"\lor", "$ConjList", "$DisjList", "=>"})
_ROOTS: Final = ("Step", "Start")


class _Verdicts(Store):
    name = "conditions.json"


def judge(
    manifest: Manifest,
    tables: Mapping[str, ModelTable],
    *,
    cache: Path | None = None,
    workers: int = 1,
    most: int = MOST,
    progress: Callable[[int, int, str], None] = lambda _at, _of, _name: None,
) -> Judged:
    """Change each condition of `Step`, and let the claims of small models judge.

    `progress` hears of each condition that is judged: how many are, of how many, and its name.
    """
    definitions, mutants, _ = broken(manifest, tables)
    conditions = [each for each in mutants if _is_condition(each)]
    models = _models(manifest, definitions.module)
    judging = _Judging(manifest, definitions, conditions, models, most, _Verdicts(cache) if cache else None)
    with ThreadPoolExecutor(workers) as pool:
        found: list[Noticed | None] = []
        for at, each in enumerate(pool.map(judging.judged, range(len(conditions))), start=1):
            progress(at, len(conditions), conditions[at - 1].name)
            found.append(each)
    names = tuple(model.name for model in judging.models)
    return Judged(definitions, manifest.protocol, names, tuple(conditions), tuple(found), ())


def _is_condition(mutant: SpecMutant) -> bool:
    match mutant.place:
        case Apply(Name(sign)) if sign in _JUNCTIONS:
            return " dropped from " in mutant.name
        case Apply(Name("$IfThenElse")):
            return _BRANCH.search(mutant.name) is not None
        case _:
            return False


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
    store: _Verdicts | None
    _root: Root = field(init=False)
    _noticed: Counter[tuple[str, str]] = field(factory=Counter)
    """How many conditions of an operator a model has noticed, and how many of all ("")."""

    def __attrs_post_init__(self) -> None:
        uses = {name: called(self.definitions, [name]) for name in _ROOTS}
        used = {number: all_used(self.definitions, [number]) for number in set[int]().union(*uses.values())}
        none = tuple(None for _ in self.conditions)
        weakened = Weakenings(tuple(self.conditions), none, tuple(frozenset[str]() for _ in self.conditions))
        self._root = Root(self.definitions.module, self.definitions, {}, weakened, uses, used, {})

    def judged(self, at: int) -> Noticed | None:
        """The first model of which a claim is violated, and the claim; None where there is none."""
        operator = self.conditions[at].operator

        def rank(model: Model) -> tuple[int, int]:
            return -self._noticed[operator, model.name], -self._noticed["", model.name]

        for model in sorted(self.models, key=rank):
            found = self._searched(at, model)
            if found is not None:
                self._noticed.update([(operator, model.name), ("", model.name)])
                return found
        return None

    def _searched(self, at: int, model: Model) -> Noticed | None:
        module = self.manifest.module_of(model.claims)
        modules = read_modules(self.manifest.folders, module)
        run = remembered(self._run(at, module, model), modules)
        place = key(
            __name__, run.text, run.cfg.render(), sorted(modules.bare.items()), tools.jar_digest(tools.find_jar())
        )
        kept = self.store.read(place) if self.store else None
        if kept is not None:
            told = json.loads(kept)
            return Noticed(*told) if told else None
        found: Noticed | None = None
        try:
            result = tlc.run(
                self.manifest.folders,
                ROOT,
                run.cfg.render(),
                generated=run.generated,
                workers=1,
                short=True,
                kept=True,
                hot=True,
                timeout=_SECONDS,
            )
        except TimedOut:
            pass
        except EvaluationFailed:
            found = Noticed(f"{model.name}, which TLC cannot evaluate", fails=True)
        else:
            if result.violated is not None:
                found = Noticed(f"{model.name}, {result.violated}")
        if self.store:
            self.store.write(place, json.dumps([found.by, found.fails] if found else None).encode())
        return found

    def _run(self, at: int, module: str, model: Model) -> Run:
        cfg = self.manifest.cfg(model)
        lines: list[str] = []
        constants = dict(cfg.constants)
        changed = next(
            number
            for number in self._root.used
            if self.definitions.operators[number].name.text == self.conditions[at].operator
        )
        for top in _ROOTS:
            if changed in self._root.uses[top]:
                lines += copies(self._root, top, at, f"Weak_{top}_")
                constants[top] = f"<- Weak_{top}_{top}"
        text = "\n".join(
            (
                f"---- MODULE {ROOT} ----\nEXTENDS {module}, Naturals, TLC",
                *map(folded, lines),
                f'Weak_Stop == IF TLCGet("distinct") > {self.most} THEN TLCSet("exit", TRUE) ELSE TRUE\n====\n',
            )
        )
        return Run(text, evolve(cfg, constants=constants, invariants=(*cfg.invariants, "Weak_Stop")))
