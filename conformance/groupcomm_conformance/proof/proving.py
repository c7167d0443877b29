"""Obligations, and what the solver says of each.

An obligation is that a clause follows: a claim from the invariant, a clause of the invariant at the start, or
after a step from the invariant before it.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import z3
from attrs import frozen

from .stable import CLAIMS, State, Theory
from .values import Term

__all__ = ["Obligation", "Proved", "obligations", "prove"]

# First by instances of the terms at hand alone, which settles nearly all; then with models as well. Seconds.
# What a hard obligation is given: conjuncts of the invariant and of Forest. All others are given all that there is.
_PATHS: Final = (
    "BeforeIsReflexive BeforeIsTransitive OnePathTo ParentIsBefore BeforeByParent OneStay ReachesFurther ReachesBetween"
)
_USES: Final[Mapping[tuple[str, str], str]] = {
    ("JoinStep", "Guards/GuardHasCast"): "Guards PromisersAreGuarded PromiserIsThere PromiserHasCast ToldIsSound " + _PATHS,
    ("JoinStep", "Guards/GuardHolds"): "Guards PromisersAreGuarded PromiserIsThere PromiserHolds " + _PATHS,
}
_TRIES: Final = ((False, 3_000_000),)


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


def obligations(theory: Theory, steps: Sequence[str] = (), clauses: Sequence[str] = ()) -> Iterator[Obligation]:
    """Give all obligations, or those of the steps and clauses of these names."""

    def wanted(name: str, names: Sequence[str]) -> bool:
        return not names or any(name == each or name.startswith((each + "/", each + " ")) for each in names)

    forest = [(each.name.split("/")[0], each.formula()) for each in theory.forest()]
    reading = theory.reading()

    def known(now: State) -> list[tuple[str, Term]]:
        return forest + [(each.name.split("/")[0], each.formula()) for each in theory.clauses("Inductive", now)]

    def used(facts: list[tuple[str, Term]], goal: tuple[str, str]) -> list[Term]:
        uses = _USES.get(goal)
        return reading + [formula for name, formula in facts if uses is None or name in uses.split()]

    settled = theory.settled()
    facts = known(settled)
    for claim in CLAIMS:
        for each in theory.clauses(claim, settled):
            if wanted("claim", steps) and wanted(each.name, clauses):
                yield Obligation("claim", each.name, used(facts, ("claim", each.name)), each.formula())
    for each in theory.clauses("Inductive", settled):
        if wanted("Init", steps) and wanted(each.name, clauses):
            yield Obligation("Init", each.name, [*used(forest, ("Init", each.name)), *theory.initial()], each.formula())
    decision = theory.decision()
    before = decision.after.pop("before")
    for action, held in ((decision, known(before)), *((each, facts) for each in theory.actions())):
        if not wanted(action.name, steps):
            continue
        for each in theory.clauses("Inductive", action.after):
            if wanted(each.name, clauses):
                given = used(held, (action.name, each.name))
                yield Obligation(action.name, each.name, [*given, *action.requires], each.formula())


def prove(obligation: Obligation) -> Proved:
    """Ask the solver for a case in which the goal fails; there is none if it follows."""
    began = time.process_time()
    answer = z3.unknown
    for with_models, limit in _TRIES:
        solver = z3.Solver()
        solver.set("rlimit", limit)
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
