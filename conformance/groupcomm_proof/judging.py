"""Judging a whole proof, a process for each core: every obligation, and every ablation.

Each process reads the specification for itself. It receives the numbers of obligations and ablations.
"""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from attrs import frozen

from groupcomm_conformance.models.manifest import Manifest, load

from .ablations import Ablation
from .proving import THEORIES, Obligation, Proved, Theory, obligations, prove, refuted
from .second import asked_again

# A proof that does without the subject of an ablation takes 90,000 units. Of the rest a small group says that it fails.
_SOON: Final = 200_000


@frozen
class Judged:
    """The answers of both solvers about an obligation. `again`: that of cvc5; None where it was not asked."""

    proved: Proved
    again: str | None


@frozen
class _Reading:
    """The parts of the specification that a process has read."""

    manifest: Manifest
    theory: Theory
    asked: list[Obligation]


@frozen
class Judges:
    """The processes. Each of them has the obligations and ablations in the same order."""

    pool: ProcessPoolExecutor

    @classmethod
    @contextmanager
    def of(cls, root: Path, protocol: str) -> Iterator["Judges"]:
        """Start the processes, and end them."""
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(os.cpu_count(), context, _prepare, (root, protocol)) as pool:
            yield cls(pool)

    def obligations(self, count: int, *, confirm_all: bool) -> Iterator[Judged]:
        """Judge so many obligations, in their order."""
        return self.pool.map(_judged, range(count), [confirm_all] * count, chunksize=8)

    def ablations(self, count: int) -> Iterator[bool]:
        """Say of so many ablations, in their order, whether the obligation fails."""
        return self.pool.map(_fails, range(count))


def judge(obligation: Obligation, *, confirm: bool) -> Judged:
    """Ask z3, and where that is wanted cvc5."""
    return Judged(prove(obligation), asked_again(obligation) if confirm else None)


_read: _Reading | None = None


def _prepare(root: Path, protocol: str) -> None:
    global _read  # noqa: PLW0603 - that is how a process pool keeps what is expensive to make
    manifest = load(root, protocol)
    theory = THEORIES[protocol](manifest, None)
    _read = _Reading(manifest, theory, list(obligations(theory)))


def _mine() -> _Reading:
    if _read is None:
        raise AssertionError
    return _read


def _judged(number: int, confirm_all: bool) -> Judged:  # noqa: FBT001 - of `map`
    obligation = _mine().asked[number]
    return judge(obligation, confirm=confirm_all or obligation.step in _mine().theory.confirmed)


def _fails(number: int) -> bool:
    return fails(_mine().manifest, _mine().theory.ablations[number])


def fails(manifest: Manifest, ablation: Ablation) -> bool:
    """Say whether the named obligation is not proved without this, and fails in a small group."""
    theory = THEORIES[manifest.protocol](manifest, ablation)
    chosen = obligations(theory, [ablation.step], [ablation.clause])
    # (What follows all the same is proved sooner than all small groups are looked through.)
    return any(not prove(each, _SOON, tries=1).follows and refuted(each) is not None for each in chosen)
