"""Running the models of a manifest, small ones side by side."""

import os
import queue
import threading
from collections.abc import Iterable, Sequence
from typing import Final, Protocol, Self

from attrs import define, evolve, field, frozen

from groupcomm_conformance.tlc.errors import Endless
from groupcomm_conformance.tlc.output import Progress
from groupcomm_conformance.tlc.run import MANY

from .instruments import plain_run, remembered
from .model import Manifest, Model
from .plan import Answer, Part, Plan, assembled, execute, plan_of
from .result import Cache, CheckedModel


class Listener(Protocol):
    """Is notified of the progress of runs, from threads of their own.

    `part` is `search`, `falls` or a claim.
    """

    def started(self, model: Model, part: str) -> None: ...
    def progress(self, model: Model, part: str, progress: Progress) -> None: ...
    def ended(self, model: Model, part: str) -> None: ...
    def checked(self, model: Model, checked: CheckedModel) -> None: ...


class Cancelled(Exception):  # noqa: N818 - it says what happened to the run
    """The run was given up because another failed or the user interrupted."""


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
    return plan_of(manifest, model).key


def plain_cpu_seconds(manifest: Manifest, model: Model, *, workers: int = 1) -> float:
    """Run a model as it is, without any instrument, and give the CPU time; nothing of it is cached."""
    plan = plan_of(manifest, model)
    bare = Part("search", remembered(plain_run(manifest.module, manifest.cfg(model)), plan.modules))
    answer = execute(plan, bare, workers, "2g", None)
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
    recording: bool = False,
    any_lasso: bool = False,
) -> list[CheckedModel]:
    """Run models, small ones side by side, and give their results in the order asked for.

    Results come from the `cache` unless `fresh`, and go into it. `workers` is the number of threads that
    search at a time (default: one per core). With `recording` each search has one worker, as several may give
    another depth, and all is run that a record needs. With `any_lasso` (see `Plan`) it takes less time. A
    TLCError other than `EvaluationFailed` ends all runs, as does whatever is raised in the calling thread.
    FileError where a specification lacks the form required.
    """
    most = workers or os.cpu_count() or 1
    plans = [evolve(plan_of(manifest, model, recording=recording), any_lasso=any_lasso) for manifest, model in models]
    done: dict[int, CheckedModel] = {}
    waiting: list[Job] = []
    for number, plan in enumerate(plans):
        found = cache.load(plan.key) if cache is not None and not fresh else None
        # The key stands beside the result, not in it: a file in another's place is as good as none.
        if found is None or (found.protocol, found.model) != (plan.manifest.protocol, plan.model.name):
            waiting += [Job(number, plan, part, 1) for part in plan.parts]
        else:
            done[number] = found
            if listener:
                listener.checked(plan.model, found)
    waiting = scheduled(waiting, most, divide=not recording)
    answers: dict[int, dict[str, Answer]] = {job.number: {} for job in waiting}
    hot = sum(job.plan.size.transitions for job in waiting) > MANY
    with _Pool(most, heap, hot, listener) as pool:
        for job, answer in pool.run(waiting):
            parts = answers[job.number]
            parts[job.part.name] = answer
            if len(parts) < len(job.plan.parts):
                continue
            checked = assembled(job.plan, parts)
            if cache is not None and not checked.outcome.startswith("fails"):
                cache.store(job.plan.key, checked)
            done[job.number] = checked
            if listener:
                listener.checked(job.plan.model, checked)
    return [done[number] for number in range(len(plans))]


@frozen
class Job:
    """A part to be run, of the model at place `number` of those asked for."""

    number: int
    plan: Plan
    part: Part
    workers: int


def scheduled(jobs: Sequence[Job], slots: int, *, divide: bool = True) -> list[Job]:
    """Order jobs and share out the workers so that all cores are busy to the end.

    A search takes least CPU time with one worker (measured: two take a sixth more), so jobs run side by side,
    the longest first. Of the others those of one root module follow each other: a JVM that is kept parses the
    modules that it names once. A job that would outlast all others gets all workers, after the others.
    """
    fair = sum(job.plan.size.transitions for job in jobs) / slots
    shared = [
        evolve(job, workers=slots)
        if divide and job.plan.divisible(job.part) and job.plan.size.transitions > fair
        else job
        for job in jobs
    ]

    def order(job: Job) -> tuple[int, int, str, int]:
        plan, size = job.plan, job.plan.size.transitions
        return job.workers, -size if size >= _LONG else 0, plan.manifest.module_of(plan.model.claims), -size

    return sorted(shared, key=order)


_LONG: Final = 10_000
"""Transitions from which on a search is begun by its length: it takes three seconds or more."""


@define
class _Pool:
    """Threads that run jobs while their workers fit into `slots`; on leaving, all of them have ended."""

    slots: int
    heap: str
    hot: bool
    listener: Listener | None
    _ended: "queue.SimpleQueue[tuple[Job, Answer | BaseException]]" = field(factory=queue.SimpleQueue)
    _cancelled: threading.Event = field(factory=threading.Event)
    _threads: list[threading.Thread] = field(factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cancelled.set()
        for thread in self._threads:
            thread.join()

    def run(self, jobs: Sequence[Job]) -> "Iterable[tuple[Job, Answer]]":
        """Give each job with its answer as it ends; the first exception of a job is raised here.

        The next job runs already when an answer is given: it does not wait for what is done with that.
        """
        waiting = list(jobs)
        free = self.slots
        running = 0
        answered: tuple[Job, Answer] | None = None
        while waiting or running or answered:
            while waiting and min(waiting[0].workers, self.slots) <= free:
                job = waiting.pop(0)
                free -= min(job.workers, self.slots)
                running += 1
                thread = threading.Thread(target=self._work, args=(job,), name=f"tlc-{job.plan.model.name}")
                self._threads.append(thread)
                thread.start()
            if answered:
                yield answered
                answered = None
                continue
            try:
                # With a limit, so that a signal is handled soon whatever the platform's locks do.
                job, answer = self._ended.get(timeout=1.0)
            except queue.Empty:
                continue
            free += min(job.workers, self.slots)
            running -= 1
            if isinstance(answer, BaseException):
                raise answer
            answered = job, answer

    def _work(self, job: Job) -> None:
        model, part = job.plan.model, job.part

        def progress(counts: Progress) -> None:
            if self._cancelled.is_set():
                raise Cancelled
            _require_end(job.plan, counts.distinct)
            if self.listener:
                self.listener.progress(model, part.name, counts)

        try:
            if self.listener:
                self.listener.started(model, part.name)
            answer: Answer | BaseException = execute(job.plan, part, job.workers, self.heap, progress, hot=self.hot)
            if self.listener:
                self.listener.ended(model, part.name)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            answer = error
        self._ended.put((job, answer))


ABLATED: Final = 100
"""How many times its control's states an ablation may have while all of it is searched."""

_FEW: Final = 200_000
"""States that any ablation may have."""


def _require_end(plan: Plan, distinct: int) -> None:
    """Raise Endless where an ablation has far more states than its control: a counter may rise for ever.

    The verdict takes a part of the states, and to record all claims that an ablation violates takes all.
    """
    model, control = plan.model, plan.size.distinct
    if not model.holds and distinct > max(_FEW, ABLATED * control):
        raise Endless(
            f"{plan.manifest.file}:{model.line}: {model.name} has {distinct:,} states so far, and its control "
            f"{model.control} {control:,}: an ablation's whole space is searched, so it must have an end; bound what "
            "rises in it, by a constraint of its set of claims"
        )
