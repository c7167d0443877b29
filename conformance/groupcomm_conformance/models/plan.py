"""The runs of TLC that a model takes, and the result that their answers make together.

A model mostly takes one run, with the instruments that it needs (see `instruments`). The run of a model that
violates a claim shows the counterexample, continues, and reports the other violated claims: the model's row
of the kill matrix. It ends when all claims and conjuncts that the manifest names are violated. When a record
is made, it continues to the last state. Properties that cannot be noted (temporal properties, and refinements
without a step) are run alone where the manifest says that they are violated.

Results are cached by the content of all that they depend on: modules, cfg, generated text, jar,
and the checker's own code.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from groupcomm_conformance.files.keys import key
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.tlc.errors import ConfigFailed, EvaluationFailed
from groupcomm_conformance.tlc.output import Progress
from groupcomm_conformance.tlc.run import KEPT, SHORT, Result

from .instruments import (
    ROOT,
    SHOWN,
    STORY,
    Heard,
    Run,
    Shown,
    main_run,
    note_run,
    plain_run,
    remembered,
    sole_run,
    story_run,
)
from .model import Counts, Manifest, ManifestError, Model
from .modules import Modules, read_modules
from .result import CheckedModel, expected

DIVISIBLE: Final = 100_000
"""Transitions from which on a search may get more than one worker (about 5 seconds with one)."""

_UNKNOWN: Final = Counts(20_000, 200_000, 0)

# The runs of a model


@frozen
class Part:
    """One run of TLC. `name` is `search`, `falls`, or the claim that is run alone."""

    name: str
    run: Run


@frozen
class Plan:
    """All runs of a model, the claims besides its own that they judge, and the key of their result.

    `any_lasso`: the lasso found need not be the same each time, but where it is an erratum's.
    """

    manifest: Manifest
    model: Model
    modules: Modules
    parts: tuple[Part, ...]
    judged: tuple[str, ...]
    key: str
    any_lasso: bool = False

    @property
    def size(self) -> Counts:
        """The size to expect: what was recorded, for an ablation its control's."""
        counts = self.model.counts
        if counts is None and self.model.control is not None:
            counts = self.manifest.model(self.model.control).counts
        return _UNKNOWN if counts is None else counts

    def may_be_kept(self, part: Part) -> bool:
        """Say whether a part may have a JVM that has had others: which lasso it finds depends on these."""
        is_lasso = self.model.liveness and not self.model.holds and part.name == "search"
        return self.size.transitions < KEPT and (not is_lasso or (self.any_lasso and self.model.erratum is None))

    def divisible(self, part: Part) -> bool:
        """Say whether a part may have several workers: not if its counterexample must be reproducible."""
        return self.size.transitions >= DIVISIBLE and (self.model.holds or part.name != "search")


def plan_of(manifest: Manifest, model: Model, *, recording: bool = False) -> Plan:
    """Plan the runs of a model; with `recording` runs that report every violated claim, recorded or not.

    FileError where a specification lacks the form required.
    """
    cfg, root = manifest.cfg(model), manifest.module_of(model.claims)
    modules = read_modules(manifest.folders, root)
    parts: list[Part] = []
    judged: tuple[str, ...] = ()
    if model.holds:
        watched = [name for name, where in manifest.witnesses.items() if model.name in where]
        members = _members(manifest, model, cfg) if model.conform else ()
        search = main_run(root, cfg, witnesses=watched, steps=not model.liveness, members=members)
        parts.append(Part("search", search))
    else:
        parts, judged = _violating(manifest, model, modules, cfg, recording=recording)
    parts = [evolve(part, run=remembered(part.run, modules)) for part in parts]
    return Plan(manifest, model, modules, tuple(parts), judged, _key(model, modules, parts))


def _violating(
    manifest: Manifest, model: Model, modules: Modules, cfg: Cfg, *, recording: bool
) -> tuple[list[Part], tuple[str, ...]]:
    """Plan the runs of an ablation, and name the claims that they judge.

    The counterexample is the first to the erratum's claim in its story, else the first to any claim. The same
    run notes what else falls, but for temporal claims, to each of which belongs a run of its own.
    """
    root, violated, erratum = manifest.module_of(model.claims), str(model.violates), model.erratum
    until = None if recording else model.violated
    temporal = violated not in cfg.invariants and modules.step_of(violated) is None
    shown = None
    if not temporal:
        shown = Shown() if erratum is None else Shown(erratum.claim, erratum.story or "TRUE")
    noting, judged = note_run(root, cfg, modules, manifest.type_invariants, until=until, shown=shown)
    alone = tuple(
        claim for claim in cfg.properties if claim not in (*judged, violated) and (recording or claim in model.violated)
    )
    sole = [Part(claim, sole_run(root, cfg, claim)) for claim in alone]
    if not temporal:
        return [Part("search", noting), *sole], (*judged, *alone)
    if erratum is None:  # TLC does not say which of several temporal properties was violated
        search = plain_run(root, evolve(cfg, properties=(violated,)))
    else:
        search = story_run(root, cfg, violated, erratum.story, manifest.type_invariants)
    # Where nothing else falls, the search says it all.
    if judged and (recording or any(name.partition("/")[0] in judged for name in model.violated)):
        return [Part("search", search), Part("falls", noting), *sole], (*judged, *alone)
    return [Part("search", search), *sole], alone


def _key(model: Model, modules: Modules, parts: Iterable[Part]) -> str:
    return key(
        __name__,
        [model.name, model.tier, model.violates, model.liveness],
        sorted(modules.bare.items()),
        [[part.name, part.run.text, part.run.cfg.render()] for part in parts],
        tools.jar_digest(tools.find_jar()),
    )


def digest(manifest: Manifest, model: Model) -> str:
    """Give 16 hexadecimal digits that identify the text that a model's record was taken from.

    These are the modules without comments and spacing, constants and claims, and the jar.
    """
    modules = read_modules(manifest.folders, manifest.module_of(model.claims))
    told = [sorted(modules.bare.items()), manifest.cfg(model).render(), tools.jar_digest(tools.find_jar())]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _members(manifest: Manifest, model: Model, cfg: Cfg) -> tuple[str, ...]:
    """Read `Member = {"A", "B"}`; ManifestError where the constant is anything else."""
    side = cfg.constants.get("Member", "")
    if re.fullmatch(r'= \{"[^"\\]+"(, "[^"\\]+")*\}', side) is None:
        raise ManifestError(
            manifest.file, model.line, f'Member to be a set of texts in a model for conformance, not "{side}"'
        )
    return tuple(re.findall(r'"([^"]+)"', side))


@frozen
class Answer:
    """The result of a part's run; `failure` where TLC could not evaluate an expression."""

    result: Result | None
    heard: Heard
    failure: EvaluationFailed | None
    workers: int


def execute(
    plan: Plan, part: Part, workers: int, heap: str, progress: Callable[[Progress], None] | None, *, hot: bool = False
) -> Answer:
    """Run a part, `hot` where it is one of many; a TLCError other than `EvaluationFailed` is raised.

    A name of the manifest that the modules do not have is a mistake of the model's entry.
    """
    heard = Heard()
    result, failure = None, None
    try:
        result = tlc.run(
            plan.manifest.folders,
            ROOT,
            part.run.cfg.render(),
            generated=part.run.generated,
            workers=workers,
            heap=heap,
            short=plan.size.transitions < SHORT,
            kept=plan.may_be_kept(part),
            hot=hot,
            continues=part.run.continues,
            liveness=plan.model.liveness,
            progress=progress,
            on_line=heard.take,
        )
    except ConfigFailed as error:
        file, line = plan.manifest.file, plan.model.line
        said = str(error).removeprefix(f"{ROOT}: ")
        raise ConfigFailed(
            f"{file}:{line}: model {plan.model.name}: {said}", text=error.text, file=Path(file), line=line
        ) from error
    except EvaluationFailed as error:
        failure = _no_formula(plan, error) or error
    return Answer(result, heard, failure, workers)


def _no_formula(plan: Plan, error: EvaluationFailed) -> EvaluationFailed | None:
    """Name the claim that is no formula, such as a number: TLC says its value and another place."""
    came = re.search(r"TLC expected a boolean value, but did not find one\.\s*(.*)|but A was not a boolean", error.text)
    if came is None:
        return None
    for claim in plan.manifest.cfg(plan.model).claims:
        for operator in (claim, f"{claim}Step"):
            found = plan.modules.definition(operator)
            if found is not None and _FORMULA.search(found[1]) is None:
                module, text, line = found
                file, is_ = plan.modules.files[module], f" ({came[1]})" if came[1] else ""
                is_ = f"{operator} is {' '.join(text.split())}{is_}"
                said = f"{file}:{line}: expected a claim, true or false, but {is_}"
                return EvaluationFailed(said, text=error.text, file=file, line=line, trace=error.trace)
    return None


_FORMULA: Final = re.compile(r"[=#<>~!\[]|/\\|\\(?:/|[A-Za-z]+)|\b(?:TRUE|FALSE|ENABLED|IF|CASE)\b")
"""The parts of a formula that a number, a set or a text does not have."""


def assembled(plan: Plan, answers: Mapping[str, Answer]) -> CheckedModel:
    """Make the result of a model from the answers of its parts."""
    model, search = plan.model, answers["search"]
    result = search.result
    violated = result.violated if result else None
    if violated is not None:
        violated = _claim(plan, violated, search.heard)
    falls = set() if model.holds or violated is None else {violated}
    failures = [
        f"{answer.failure}" if name == "search" else f"in the run for {name}: {answer.failure}"
        for name, answer in answers.items()
        if answer.failure
    ]
    conjuncts: set[str] = set()
    for name, answer in answers.items():
        falls |= answer.heard.falls.keys()
        conjuncts |= answer.heard.parts
        if name != "search" and answer.result is not None and answer.result.outcome == "violates":
            falls.add(name)
    outcome = "holds" if violated is None else f"violates: {violated}"
    if failures:
        outcome = f"fails: {failures[0]}"
    judged = [*plan.judged]
    if not model.holds and model.violates not in (*judged, *plan.manifest.type_invariants):
        judged.append(str(model.violates))
    return CheckedModel(
        protocol=plan.manifest.protocol,
        model=model.name,
        tier=model.tier,
        expected=expected(model),
        outcome=outcome,
        violated=violated,
        distinct=result.distinct if result else 0,
        transitions=result.transitions if result else 0,
        depth=result.depth if result else 0,
        workers=search.workers,
        trace=result.trace if result else (search.failure.trace if search.failure else ()),
        loop=result.loop if result else None,
        stuttering=result.stuttering if result else False,
        witnesses=frozenset(search.heard.witnesses),
        steps=frozenset(search.heard.steps),
        judged=tuple(judged),
        falls=frozenset(falls.difference(plan.manifest.type_invariants)),
        conjuncts=frozenset(conjuncts),
        harvest=search.heard.harvest() if model.conform and not failures else None,
        seconds=sum(answer.result.seconds for answer in answers.values() if answer.result),
        cpu_seconds=result.cpu_seconds if result else 0.0,
        tlc_version=result.tlc_version if result else "",
    )


def _claim(plan: Plan, violated: str, heard: Heard) -> str:
    """Name the claim: TLC names a refinement's action by its place, and temporal properties not at all."""
    cfg, modules = plan.manifest.cfg(plan.model), plan.modules
    if violated == STORY and plan.model.erratum is not None:
        return plan.model.erratum.claim
    if violated.startswith(SHOWN):
        sought = plan.model.erratum.claim if plan.model.erratum is not None else next(iter(heard.falls))
        return next((claim for claim in heard.falls if claim in plan.manifest.type_invariants), sought)
    if violated in cfg.claims:
        return violated
    unnamed = [claim for claim in cfg.properties if modules.step_of(claim) is None]
    place = re.search(r"of module (\w+)", violated)
    if place is not None:
        unnamed = [claim for claim in unnamed if place[1] in modules.refined(claim)]
    return unnamed[0] if len(unnamed) == 1 else violated
