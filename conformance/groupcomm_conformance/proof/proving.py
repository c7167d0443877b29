"""Obligations, and what the solver says of each.

An obligation is that a clause follows: a claim from the invariant, a clause of the invariant at the start, or
after a step from the invariant before it.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Final

import z3
from attrs import frozen

from .stable import CLAIMS, Theory
from .values import Term

__all__ = ["Obligation", "Proved", "obligations", "prove"]

# First by instances of the terms at hand alone, which settles nearly all; then with models as well. Seconds.
_TRIES: Final = ((False, 4), (True, 20))


@frozen(eq=False)
class Obligation:
    """What is to follow, of which step or claim, and from what."""

    step: str
    clause: str
    given: Sequence[Term]
    goal: Term


@frozen
class Proved:
    """The solver's answer: whether it follows, the solver's own word, and the seconds it took."""

    step: str
    clause: str
    follows: bool
    answer: str
    seconds: float


def obligations(
    theory: Theory, steps: Sequence[str] = (), clauses: Sequence[str] = ()
) -> Iterator[Obligation]:
    """Give all obligations, or those of the steps and clauses of these names."""

    def wanted(name: str, names: Sequence[str]) -> bool:
        return not names or any(name == each or name.startswith((each + "/", each + " ")) for each in names)

    axioms = theory.axioms()
    settled = theory.settled()
    given = [*axioms, *(each.formula() for each in theory.clauses("Inductive", settled))]
    for claim in CLAIMS:
        for each in theory.clauses(claim, settled):
            if wanted("claim", steps) and wanted(each.name, clauses):
                yield Obligation("claim", each.name, given, each.formula())
    for each in theory.clauses("Inductive", settled):
        if wanted("Init", steps) and wanted(each.name, clauses):
            yield Obligation("Init", each.name, [*axioms, *theory.initial()], each.formula())
    decision = theory.decision()
    before = decision.after.pop("before")
    undecided = [*axioms, *(each.formula() for each in theory.clauses("Inductive", before))]  # type: ignore[arg-type]
    for action, known in ((decision, undecided), *((each, given) for each in theory.actions())):
        if not wanted(action.name, steps):
            continue
        for each in theory.clauses("Inductive", action.after):
            if wanted(each.name, clauses):
                yield Obligation(action.name, each.name, [*known, *action.requires], each.formula())


def prove(obligation: Obligation) -> Proved:
    """Ask the solver for a case in which the goal fails; there is none if it follows."""
    began = time.process_time()
    answer = z3.unknown
    for with_models, limit in _TRIES:
        solver = z3.Solver()
        solver.set("timeout", limit * 1000)
        solver.set("random_seed", 1)
        solver.set("mbqi", with_models)
        solver.add(*obligation.given)
        solver.add(z3.Not(obligation.goal))
        answer = solver.check()
        if answer == z3.unsat:
            break
    return Proved(
        obligation.step, obligation.clause, answer == z3.unsat, str(answer), time.process_time() - began
    )
