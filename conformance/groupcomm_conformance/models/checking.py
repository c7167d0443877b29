"""Model checking: running the models of a manifest, and holding what comes against what is expected.

A model takes one run of TLC or several: the search itself, with the instruments that it needs (see
`instruments`), and for a model that violates a claim a second search that never stops, which tells *all*
claims that fall: its row of the kill matrix. Properties that cannot be noted (refinement, liveness) are run
alone where the manifest says that they fall.

What came is a `CheckedModel`. `differences` compares it with the manifest, `gates` asks of all models of a
protocol together whether the claims speak of anything:

- *actions*, *outcomes*: each action of `Next` and each outcome of `Step` is taken in a model that holds;
- *witnesses*: each is reached in the models that it names;
- *kills*: each claim falls to at least one ablation;
- *controls*: the control of each ablation holds, or its kill is spurious.

Results are cached by the content of all that they depend on: modules, cfgs, generated text, jar.
"""

import hashlib
import json
import os
import queue
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, Self

from attrs import define, evolve, field, frozen

from groupcomm_conformance.files.store import Store
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value, from_json, to_json
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.tlc.errors import EvaluationFailed
from groupcomm_conformance.tlc.output import Progress
from groupcomm_conformance.tlc.run import Result

from .instruments import (
    OUTCOMES,
    ROOT,
    Harvest,
    Heard,
    Modules,
    Run,
    main_run,
    note_run,
    plain_run,
    read_modules,
    sole_run,
)
from .manifest import Counts, Manifest, ManifestError, Model, Tier
from .selecting import select

__all__ = [
    "Cache",
    "Cancelled",
    "CheckedModel",
    "Gate",
    "Listener",
    "actions",
    "differences",
    "expected",
    "gates",
    "kill_matrix",
    "plain_cpu_seconds",
    "result_key",
    "run_model",
    "run_models",
    "select",
]

DIVISIBLE: Final = 100_000
"""Transitions from which on a search may get more than one worker (about 5 seconds with one)."""

_SHORT: Final = 200_000
_FORMAT: Final = 1
_UNKNOWN: Final = Counts(20_000, 200_000, 0)


@frozen
class CheckedModel:
    """What TLC said of a model.

    `outcome` is `holds`, `violates: Name`, or `fails: why` where TLC could not evaluate an expression;
    `expected` is in the same words. Counts are those up to the verdict. `steps` are the pairs of action and
    outcome taken, and empty where they were not noted (liveness, ablations). `falls` are the claims refuted,
    out of `judged`; both are empty for a model that should hold. `cpu_seconds` is the search's alone;
    `seconds` is the wall-clock time of all runs together. `cached` says that TLC did not run.
    """

    protocol: str
    model: str
    tier: Tier
    expected: str
    outcome: str
    violated: str | None
    distinct: int
    transitions: int
    depth: int
    workers: int
    trace: tuple[State, ...]
    loop: int | None
    stuttering: bool
    witnesses: frozenset[str]
    steps: frozenset[tuple[str, str]]
    judged: tuple[str, ...]
    falls: frozenset[str]
    harvest: Harvest | None
    seconds: float
    cpu_seconds: float
    tlc_version: str
    cached: bool = field(default=False, eq=False)

    @property
    def holds(self) -> bool:
        """Whether TLC searched everything and nothing fell."""
        return self.outcome == "holds"


@frozen
class Gate:
    """A question to all models of a protocol. `ok` is None where not all models that it needs were run."""

    name: str
    ok: bool | None
    text: str


class Listener(Protocol):
    """Is told how runs go, from threads of their own. `part` is `search`, `falls` or a claim."""

    def started(self, model: Model, part: str) -> None: ...
    def progress(self, model: Model, part: str, progress: Progress) -> None: ...
    def ended(self, model: Model, part: str) -> None: ...
    def checked(self, model: Model, checked: CheckedModel) -> None: ...


class Cancelled(Exception):  # noqa: N818 - it says what happened to the run
    """The run was given up because another failed or the user interrupted."""


# The cache


class Cache(Store):
    """Results of earlier runs of models."""

    name = "checked.json"

    def load(self, key: str) -> CheckedModel | None:
        """Give the result with this key; None where there is none, or what is there is damaged."""
        text = self.read(key)
        try:
            return None if text is None else evolve(_decoded(json.loads(text)), cached=True)
        except (ValueError, KeyError, TypeError):
            return None

    def store(self, key: str, checked: CheckedModel) -> None:
        """Keep a result."""
        self.write(key, json.dumps(_encoded(checked), sort_keys=True).encode())


def _encoded(checked: CheckedModel) -> dict[str, Any]:
    harvest = checked.harvest
    plain = {name: getattr(checked, name) for name in _PLAIN}
    return plain | {
        "trace": [[state.number, state.action, to_json(state.values)] for state in checked.trace],
        "witnesses": sorted(checked.witnesses),
        "steps": sorted(checked.steps),
        "judged": list(checked.judged),
        "falls": sorted(checked.falls),
        "harvest": harvest
        and {kind: to_json(getattr(harvest, kind)) for kind in ("local", "messages", "outside")},
    }


_PLAIN: Final = (
    *("protocol", "model", "tier", "expected", "outcome", "violated", "distinct", "transitions", "depth"),
    *("workers", "loop", "stuttering", "seconds", "cpu_seconds", "tlc_version"),
)


def _decoded(stored: dict[str, Any]) -> CheckedModel:
    harvest = stored["harvest"]
    return CheckedModel(
        **{name: stored[name] for name in _PLAIN},
        trace=tuple(State(number, action, _record(values)) for number, action, values in stored["trace"]),
        witnesses=frozenset(stored["witnesses"]),
        steps=frozenset((action, outcome) for action, outcome in stored["steps"]),
        judged=tuple(stored["judged"]),
        falls=frozenset(stored["falls"]),
        harvest=harvest and Harvest(*(_set(harvest[kind]) for kind in ("local", "messages", "outside"))),
    )


def _record(json_value: Any) -> Fn:  # noqa: ANN401 - from a file
    value = from_json(json_value)
    if isinstance(value, Fn):
        return value
    raise ValueError("a state is a record")


def _set(json_value: Any) -> frozenset[Value]:  # noqa: ANN401 - from a file
    value = from_json(json_value)
    if isinstance(value, frozenset):
        return value
    raise ValueError("a harvest is sets")


# The runs of one model


@frozen
class _Part:
    """One run of TLC. `name` is `search`, `falls`, or the claim that is run alone."""

    name: str
    run: Run
    judged: tuple[str, ...] = ()


@frozen
class _Plan:
    """All runs of a model, and the key of their result."""

    manifest: Manifest
    model: Model
    modules: Modules
    parts: tuple[_Part, ...]
    key: str

    @property
    def size(self) -> Counts:
        """The size to expect: what was recorded, for an ablation its control's."""
        counts = self.model.counts
        if counts is None and self.model.control is not None:
            counts = self.manifest.model(self.model.control).counts
        return _UNKNOWN if counts is None else counts

    def divisible(self, part: _Part) -> bool:
        """Whether a part may have several workers: not if the counterexample must be the same every time."""
        return self.size.transitions >= DIVISIBLE and (self.model.holds or part.name != "search")


def _plan(manifest: Manifest, model: Model) -> _Plan:
    cfg = manifest.cfg(model)
    modules = read_modules(manifest.folders, manifest.module)
    parts: list[_Part] = []
    if model.holds:
        watched = [name for name, where in manifest.witnesses.items() if model.name in where]
        members = _members(manifest, model, cfg) if model.conform else ()
        search = main_run(manifest.module, cfg, witnesses=watched, steps=not model.liveness, members=members)
        parts.append(_Part("search", search))
    else:
        # TLC does not say which of several temporal properties was violated.
        violated = str(model.violates)
        alone = violated in cfg.properties and modules.step_of(violated) is None
        search_cfg = evolve(cfg, properties=(violated,)) if alone else cfg
        parts.append(_Part("search", plain_run(manifest.module, search_cfg)))
        noted, judged = note_run(manifest.module, cfg, modules, manifest.type_invariants)
        if judged:
            parts.append(_Part("falls", noted, judged))
        parts += [
            _Part(claim, sole_run(manifest.module, cfg, claim), (claim,))
            for claim in model.falls
            if claim in cfg.properties and claim not in judged and claim != violated
        ]
    return _Plan(manifest, model, modules, tuple(parts), _key(model, modules, parts))


def _key(model: Model, modules: Modules, parts: Iterable[_Part]) -> str:
    told = [
        [_FORMAT, model.name, model.tier, model.violates, model.liveness, *_arguments(model)],
        sorted(modules.texts.items()),
        [[part.name, part.run.text, part.run.cfg.render()] for part in parts],
        tools.jar_digest(tools.find_jar()),
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _arguments(model: Model) -> tuple[str, ...]:
    """Have TLC look for lassos at the end: from time to time, which one it finds depends on the clock."""
    return ("-lncheck", "final") if model.liveness else ()


def _members(manifest: Manifest, model: Model, cfg: Cfg) -> tuple[str, ...]:
    """Read `Member = {"A", "B"}`; ManifestError where the constant is anything else."""
    side = cfg.constants.get("Member", "")
    if re.fullmatch(r'= \{"\w+"(, "\w+")*\}', side) is None:
        raise ManifestError(
            manifest.file, model.line, f'Member to be a set of texts in a model for conformance, not "{side}"'
        )
    return tuple(re.findall(r'"(\w+)"', side))


@frozen
class _Answer:
    """What a part's run said; `failure` where TLC could not evaluate an expression."""

    result: Result | None
    heard: Heard
    failure: EvaluationFailed | None
    workers: int


def _execute(
    plan: _Plan, part: _Part, workers: int, heap: str, progress: Callable[[Progress], None] | None
) -> _Answer:
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
            short=plan.size.distinct < _SHORT,
            arguments=_arguments(plan.model),
            progress=progress,
            on_line=heard.take,
        )
    except EvaluationFailed as error:
        failure = error
    return _Answer(result, heard, failure, workers)


def _assembled(plan: _Plan, answers: Mapping[str, _Answer]) -> CheckedModel:
    model, search = plan.model, answers["search"]
    result = search.result
    violated = result.violated if result else None
    if violated is not None:
        violated = _claim(plan, violated)
    falls = set() if model.holds or violated is None else {violated} - {*plan.manifest.type_invariants}
    failures = [
        f"{answer.failure}" if name == "search" else f"in the run for {name}: {answer.failure}"
        for name, answer in answers.items()
        if answer.failure
    ]
    for part in plan.parts[1:]:
        answer = answers[part.name]
        falls |= answer.heard.falls
        if answer.result is not None and answer.result.outcome == "violates":
            falls.add(part.name)
    outcome = "holds" if violated is None else f"violates: {violated}"
    if failures:
        outcome = f"fails: {failures[0]}"
    judged = [claim for part in plan.parts for claim in part.judged]
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
        falls=frozenset(falls),
        harvest=search.heard.harvest() if model.conform and not failures else None,
        seconds=sum(answer.result.seconds for answer in answers.values() if answer.result),
        cpu_seconds=result.cpu_seconds if result else 0.0,
        tlc_version=result.tlc_version if result else "",
    )


def _claim(plan: _Plan, violated: str) -> str:
    """Name the claim: TLC names a refinement's action by its place, and temporal properties not at all."""
    cfg, modules = plan.parts[0].run.cfg, plan.modules
    if violated in cfg.claims:
        return violated
    unnamed = [claim for claim in cfg.properties if modules.step_of(claim) is None]
    place = re.search(r"of module (\w+)", violated)
    if place is not None:
        unnamed = [claim for claim in unnamed if place[1] in modules.refined(claim)]
    return unnamed[0] if len(unnamed) == 1 else violated


def expected(model: Model) -> str:
    """Say what a model is expected to do, in the words of the manifest."""
    return "holds" if model.holds else f"violates: {model.violates}"


# Running


def run_model(
    manifest: Manifest,
    model: Model,
    *,
    cache: Cache | None = None,
    fresh: bool = False,
    workers: int | None = None,
    listener: Listener | None = None,
) -> CheckedModel:
    """Run one model, or give its cached result unless `fresh`; a new result goes into the `cache`."""
    return run_models([(manifest, model)], cache=cache, fresh=fresh, workers=workers, listener=listener)[0]


def result_key(manifest: Manifest, model: Model) -> str:
    """Give the key of a model's result in the cache: a hash of all that the result depends on."""
    return _plan(manifest, model).key


def plain_cpu_seconds(manifest: Manifest, model: Model, *, workers: int = 1) -> float:
    """Run a model as it is, without any instrument, and give the CPU time; nothing of it is cached."""
    plan = _plan(manifest, model)
    bare = _Part("search", plain_run(manifest.module, manifest.cfg(model)))
    answer = _execute(plan, bare, workers, "2g", None)
    if answer.result is None:
        raise answer.failure or AssertionError
    return answer.result.cpu_seconds


def run_models(
    models: Sequence[tuple[Manifest, Model]],
    *,
    cache: Cache | None = None,
    fresh: bool = False,
    workers: int | None = None,
    heap: str = "2g",
    listener: Listener | None = None,
) -> list[CheckedModel]:
    """Run models, small ones side by side, and give their results in the order asked for.

    Results come from the `cache` unless `fresh`, and go into it. `workers` is the number of threads that
    search at a time (default: one a core). A TLCError other than `EvaluationFailed` ends all runs, as does
    whatever is raised in the calling thread. FileError where a specification lacks the form required.
    """
    most = workers or os.cpu_count() or 1
    plans = [_plan(manifest, model) for manifest, model in models]
    done: dict[int, CheckedModel] = {}
    waiting: list[_Job] = []
    for number, plan in enumerate(plans):
        found = cache.load(plan.key) if cache is not None and not fresh else None
        if found is None:
            waiting += [_Job(number, plan, part, 1) for part in plan.parts]
        else:
            done[number] = found
            if listener:
                listener.checked(plan.model, found)
    waiting = _scheduled(waiting, most)
    answers: dict[int, dict[str, _Answer]] = {job.number: {} for job in waiting}
    with _Pool(most, heap, listener) as pool:
        for job, answer in pool.run(waiting):
            parts = answers[job.number]
            parts[job.part.name] = answer
            if len(parts) < len(job.plan.parts):
                continue
            checked = _assembled(job.plan, parts)
            if cache is not None and not checked.outcome.startswith("fails"):
                cache.store(job.plan.key, checked)
            done[job.number] = checked
            if listener:
                listener.checked(job.plan.model, checked)
    return [done[number] for number in range(len(plans))]


@frozen
class _Job:
    number: int
    plan: _Plan
    part: _Part
    workers: int


def _scheduled(jobs: Sequence[_Job], slots: int) -> list[_Job]:
    """Order jobs and share out the workers so that all cores are busy to the end.

    A search takes least CPU time with one worker (measured: two take a sixth more), so jobs run side by side,
    the longest first; but one that would outlast all others gets all workers, after the others.
    """
    fair = sum(job.plan.size.transitions for job in jobs) / slots
    shared = [
        evolve(job, workers=slots)
        if job.plan.divisible(job.part) and job.plan.size.transitions > fair
        else job
        for job in jobs
    ]
    return sorted(shared, key=lambda job: (job.workers, -job.plan.size.transitions))


@define
class _Pool:
    """Threads that run jobs while their workers fit into `slots`; on leaving, all of them have ended."""

    slots: int
    heap: str
    listener: Listener | None
    _ended: "queue.SimpleQueue[tuple[_Job, _Answer | BaseException]]" = field(factory=queue.SimpleQueue)
    _cancelled: threading.Event = field(factory=threading.Event)
    _threads: list[threading.Thread] = field(factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cancelled.set()
        for thread in self._threads:
            thread.join()

    def run(self, jobs: Sequence[_Job]) -> "Iterable[tuple[_Job, _Answer]]":
        """Give each job with its answer as it ends; the first exception of a job is raised here."""
        waiting = list(jobs)
        free = self.slots
        running = 0
        while waiting or running:
            while waiting and min(waiting[0].workers, self.slots) <= free:
                job = waiting.pop(0)
                free -= min(job.workers, self.slots)
                running += 1
                thread = threading.Thread(target=self._work, args=(job,), name=f"tlc-{job.plan.model.name}")
                self._threads.append(thread)
                thread.start()
            try:
                # With a limit, so that a signal is handled soon whatever the platform's locks do.
                job, answer = self._ended.get(timeout=1.0)
            except queue.Empty:
                continue
            free += min(job.workers, self.slots)
            running -= 1
            if isinstance(answer, BaseException):
                raise answer
            yield job, answer

    def _work(self, job: _Job) -> None:
        model, part = job.plan.model, job.part

        def progress(counts: Progress) -> None:
            if self._cancelled.is_set():
                raise Cancelled
            if self.listener:
                self.listener.progress(model, part.name, counts)

        try:
            if self.listener:
                self.listener.started(model, part.name)
            answer: _Answer | BaseException = _execute(job.plan, part, job.workers, self.heap, progress)
            if self.listener:
                self.listener.ended(model, part.name)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            answer = error
        self._ended.put((job, answer))


# Judging


def differences(model: Model, checked: CheckedModel) -> list[str]:
    """List in what a result differs from the manifest, each `what: expected this, came that`."""
    if checked.outcome != expected(model):
        return [f"expected {expected(model)}, came {checked.outcome}"]
    found: list[str] = []
    if model.counts is not None:
        for name in ("distinct", "transitions", "depth"):
            recorded, came = getattr(model.counts, name), getattr(checked, name)
            # With several workers a state may be reached on a way that is not the shortest.
            if recorded != came and not (name == "depth" and checked.workers > 1 and came > recorded):
                found.append(f"{name}: expected {recorded}, came {came}")
        return found
    if model.trace != len(checked.trace):
        found.append(f"trace: expected {model.trace} states, came {len(checked.trace)}")
    if more := sorted(checked.falls.difference(model.falls)):
        found.append(f"falls: not expected, but refuted: {', '.join(more)}")
    if less := [claim for claim in model.falls if claim not in checked.falls]:
        found.append(f"falls: expected, but not refuted: {', '.join(less)}")
    return found


def kill_matrix(
    manifest: Manifest, results: Mapping[str, CheckedModel]
) -> dict[str, dict[str, Literal["falls", "stands"] | None]]:
    """Give, for each claim, what each ablation among `results` did to it; None: that was not asked."""
    ablations = [model for model in manifest.models if not model.holds and model.name in results]
    return {
        claim: {model.name: _fate(claim, results[model.name]) for model in ablations}
        for claim in manifest.claims()
    }


def _fate(claim: str, checked: CheckedModel) -> Literal["falls", "stands"] | None:
    if claim in checked.falls:
        return "falls"
    return "stands" if claim in checked.judged else None


def gates(manifest: Manifest, results: Mapping[str, CheckedModel]) -> list[Gate]:
    """Judge what all models together must show. `results` are by the model's name."""
    whole = all(model.name in results for model in select(manifest))
    return [
        *_fires(manifest, results, whole=whole),
        _witnesses(manifest, results),
        _kills(manifest, results, whole=whole),
        _controls(manifest, results),
    ]


def _gate(name: str, good: str, bad: Sequence[str], *, judged: bool = True) -> Gate:
    if judged:
        return Gate(name, ok=not bad, text="; ".join(bad) or good)
    return Gate(name, ok=None, text="not judged: it takes all models of the tier full")


def actions(manifest: Manifest) -> tuple[str, ...]:
    """Name the actions that models for safety take, in the specification's order."""
    modules = read_modules(manifest.folders, manifest.module)
    names = {
        cfg.specification
        for name, cfg in manifest.cfgs.items()
        if cfg.specification and any(model.cfg == name and not model.liveness for model in manifest.models)
    }
    return tuple(dict.fromkeys(action for name in sorted(names) for action in modules.actions(name)))


def _fires(manifest: Manifest, results: Mapping[str, CheckedModel], *, whole: bool) -> list[Gate]:
    steps = {
        step
        for model in manifest.models
        if model.holds and model.name in results
        for step in results[model.name].steps
    }
    every = actions(manifest)
    taken = {action for action, _ in steps}
    bad = [f"never taken in a model that holds: {action}" for action in every if action not in taken]
    bad += [
        f"act.action is {action}, which is no action of Next" for action in sorted(taken.difference(every))
    ]
    seen = {outcome for _, outcome in steps}
    missing = [f"never the outcome of a step: {outcome}" for outcome in OUTCOMES if outcome not in seen]
    missing += [f"unknown outcome: {outcome}" for outcome in sorted(seen.difference((*OUTCOMES, "none")))]
    return [
        _gate("actions", f"all {len(every)} actions are taken", bad, judged=whole),
        _gate("outcomes", f"all {len(OUTCOMES)} outcomes are seen", missing, judged=whole),
    ]


def _witnesses(manifest: Manifest, results: Mapping[str, CheckedModel]) -> Gate:
    asked = [(witness, name) for witness, names in manifest.witnesses.items() for name in names]
    bad = [
        f"{witness} is never reached in {name}"
        for witness, name in asked
        if name in results and witness not in results[name].witnesses
    ]
    skipped = [name for _, name in asked if name not in results]
    return _gate(
        "witnesses", f"all {len(manifest.witnesses)} are reached", bad, judged=bool(bad) or not skipped
    )


def _kills(manifest: Manifest, results: Mapping[str, CheckedModel], *, whole: bool) -> Gate:
    matrix = kill_matrix(manifest, results)
    bad = [f"no ablation refutes {claim}" for claim, row in matrix.items() if "falls" not in row.values()]
    return _gate("kills", f"each of {len(matrix)} claims falls to some ablation", bad, judged=whole)


def _controls(manifest: Manifest, results: Mapping[str, CheckedModel]) -> Gate:
    ablations = [model for model in manifest.models if not model.holds and model.name in results]
    bad: list[str] = []
    judged = True
    for model in ablations:
        control = results.get(str(model.control))
        if control is None:
            judged = False
        elif not control.holds:
            bad.append(f"the kill by {model.name} is spurious: its control {model.control} {control.outcome}")
    good = f"the controls of all {len(ablations)} ablations hold"
    return _gate("controls", good, bad, judged=judged or bool(bad))
