"""How much of the work is done and how long the rest takes, from the sizes that manifests record."""

import time
from collections.abc import Callable, Iterable

from groupcomm_conformance.models.manifest import Counts, Manifest, Model

_START = 20_000
"""The cost of starting TLC, in transitions (about a second)."""

_EARLIEST = 3.0
"""Seconds before which nothing is said about the time left."""

_UNKNOWN = Counts(20_000, 200_000, 0)


def size(manifest: Manifest, model: Model) -> Counts:
    """The size of a model's graph: the recorded size, or for an ablation its control's."""
    if model.counts is None and model.control is not None:
        return manifest.model(model.control).counts or _UNKNOWN
    return model.counts or _UNKNOWN


def duration(seconds: float) -> str:
    """Write a time for people: `40 s`, `3 min`, `1 h 20 min`."""
    if seconds < 60:  # noqa: PLR2004 - of a minute
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"  # noqa: PLR2004


class Estimate:
    """The progress of a set of models, in transitions; a model is known by its identity.

    A model that violates a claim is searched twice. Cached results cost nothing: they leave the total.
    """

    def __init__(self, models: Iterable[tuple[Manifest, Model]], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._sizes = {id(model): size(manifest, model) for manifest, model in models}
        self._runs = {id(model): 1 if model.holds else 2 for _, model in models}
        self._parts: dict[tuple[int, str], float] = {}
        self._cost = {key: runs * (self._sizes[key].transitions + _START) for key, runs in self._runs.items()}
        self._done = 0.0
        self.finished = 0
        self.total = len(self._sizes)

    def expected(self, model: Model) -> int | None:
        """The number of states that a search is expected to find, None of a model that is not counted."""
        counts = self._sizes.get(id(model))
        return None if counts is None else counts.distinct

    def progressed(self, model: Model, part: str, distinct: int) -> None:
        """Take in how many states a run has found so far."""
        if (counts := self._sizes.get(id(model))) is not None:
            share = min(1.0, distinct / max(1, counts.distinct))
            self._parts[id(model), part] = share * self._cost[id(model)] / self._runs[id(model)]

    def ended(self, model: Model, *, cached: bool) -> None:
        """Take in that a model is done."""
        cost = self._cost.pop(id(model), None)
        if cost is None:
            return
        self.finished += 1
        self._done += 0 if cached else cost
        for key in [key for key in self._parts if key[0] == id(model)]:
            del self._parts[key]

    def seconds_left(self) -> float | None:
        """The time that the rest takes at the pace so far; None where that cannot be said yet."""
        elapsed = self._clock() - self._began
        running = sum(self._parts.values())
        done = self._done + running
        if elapsed < _EARLIEST or done <= 0:
            return None
        return max(0.0, sum(self._cost.values()) - running) * elapsed / done

    def text(self) -> str:
        """Write it: `12 of 54 models, about 3 min left`."""
        left = self.seconds_left()
        rest = "" if left is None or self.finished == self.total else f", about {duration(left)} left"
        return f"{self.finished} of {self.total} models{rest}"
