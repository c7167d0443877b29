"""Obligations, and what the solver says of each.

An obligation is that a clause follows: a claim from the invariant, a clause of the invariant at the start, or
after a step from the invariant before it. A proof does not depend on the machine: the solver's resources are
counted in its own unit, not in seconds.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import chain
from typing import Final

import z3
from attrs import frozen

from groupcomm_conformance.models.manifest import Manifest

from . import identifiers, sequencer, stable, vocabulary
from .ablations import Ablation
from .finite import Group, model_of
from .reading import Clause
from .values import Term
from .vocabulary import Action, State

# The dearest obligation takes 806,000, with the first seed.
_LIMIT: Final = 1_000_000
_TRIES: Final = 10

# Premises of some obligations, by name: conjuncts of the invariant and of Forest. (With more the solver
# makes instances without end.) All others are given all that there is.
_ON_PATHS: Final = (
    "BeforeIsReflexive BeforeIsTransitive OnePathTo OneStepToward ParentIsBefore PathIsWhole SubmittedOnPath "
    "SettledIsOver CutIsTaken"
)
_ONE_PLACE: Final = "OnePathTo PathIsWhole SubmittedOnPath DeliveredIsReceived BeyondTheCut"
# Of a member that installs a view.
_COMES: Final = "AlongIsOfMembers JoinersAreMembers Own " + " ".join(
    f"{guards}/{clause}"
    for guards in ("Guards", "PromisersAreGuarded")
    for clause in ("GuardIsThere", "GuardIsThere/JoinsPath")
)
_PROMISER: Final = " PromiserHolds PromiserIsThere WaitsBetween WaitsOnPath AlongIsTransitive"
_FROM_PROMISE: Final = (
    "AlongIsOfMembers AlongIsReflexive AlongIsTransitive AlongBetween TellsOnPath CarriedIsOnPath "
    "CarriedBetween CarriedFromJoin"
)
_BEFORE_PROMISE: Final = (
    _FROM_PROMISE + " AlongIsAntisymmetric MergesAreDisjoint OnePathTo JoinersAreMembers PromiserIsThere "
    "WaitsAtFirst WaitsOnPath CarriedAlong"
)
_UNDISTURBED: Final = " Guards/GuardUndisturbed PromisersAreGuarded/GuardUndisturbed"
_AS_IT_COMES: Final[Mapping[str, str]] = {
    "OwnIsAlong": _FROM_PROMISE,
    "OwnWaits": _FROM_PROMISE + " WaitsBetween WaitsOnPath CarriedAlong",
    "OthersAreBefore": _BEFORE_PROMISE,
    "FurtherOnFromPromise": _BEFORE_PROMISE,
    "IsThereOrJoins": "AlongIsOfMembers JoinersAreMembers CarriedBetween CarriedIsOnPath ParentIsOnPath",
    "KeepsVote": "ExcludedFirst ParentIsOnPath JoinersAreMembers CountersRise MergesAreDisjoint Own",
    "Guards": ("AlongIsOfMembers JoinersAreMembers Own PromiserHasCast PromisersAreGuarded Guards PromisedIsSound"),
    "Guards/GuardIsThere": _COMES,
    "Guards/GuardIsThere/JoinsPath": _COMES,
    "Guards/GuardIsThere/On": _COMES,
    "Guards/GuardHolds": _COMES + _PROMISER + _UNDISTURBED + " Guards/GuardHolds PromisersAreGuarded/GuardHolds",
    "Guards/GuardHeld": (
        "AlongIsOfMembers Own PromisersAreGuarded Guards PromisedIsSound MinimumVoteDelivered CarriedBetween "
        "TellsOnPath" + _PROMISER
    ),
    "Guards/GuardUndisturbed": _COMES + _PROMISER + _UNDISTURBED,
}
_USES: Final[Mapping[tuple[str, str], str]] = {
    ("claim", "BeyondTheCut"): _ON_PATHS,
    ("claim", "ToComeIsHigher"): (
        _ON_PATHS + " RecordedWasDelivered DeliveredIsReceived Rising BeganOnPath Own LogIsSequence GotIsOfLog"
    ),
    ("claim", "OnePlace"): _ONE_PLACE,
    ("claim", "DeliveredOnce"): _ONE_PLACE + " ParentIsBefore OneStepToward BeforeIsTransitive",
    ("ReceiveData", "ReceivedIsDelivered"): (
        "ToComeIsHigher ReceivedIsDelivered SubmittedOnPath PathIsWhole BeganOnPath Own LogIsSequence TurnsFollowLogs"
    ),
    ("claim", "AlongAfterEntry"): (
        "AlongIsOfMembers AlongIsReflexive AlongIsTransitive OnePathTo AlongBetween ParentIsOnPath AlongByParent Own"
    ),
    ("claim", "NoneComesFromCut"): (
        "AlongIsOfMembers AlongIsTransitive AlongIsAntisymmetric AlongBetween ParentIsOnPath AlongByParent Own "
        "AbandonedIsNotEntered"
    ),
    ("claim", "NoPrematurePurgeTogether"): (
        "AlongIsOfMembers AlongIsReflexive AlongIsTransitive AlongIsAntisymmetric OnePathTo AlongBetween "
        "PurgedIsAgreed CastWithinDelivered CastByMembers MinimumVoteDelivered Guards Own "
        "AlongAfterEntry NoneComesFromCut"
    ),
    ("claim", "RequestsServableTogether/Holds"): "NoPrematurePurgeTogether AlongIsOfMembers Own",
    ("claim", "NoPrematurePurge"): "NoPrematurePurgeTogether AlongInTree AlongIsOfMembers",
    ("claim", "RequestsServable/Holds"): "NoPrematurePurgeTogether AlongInTree AlongIsOfMembers",
    ("InstallViewStep", "PromisersAreGuarded/GuardHeld"): (
        "AlongIsOfMembers Own PromisersAreGuarded PromisedIsSound MinimumVoteDelivered CarriedBetween"
    ),
    **{(step, clause): uses for step in ("InstallViewStep", "JoinStep") for clause, uses in _AS_IT_COMES.items()},
}


@frozen(eq=False)
class Obligation:
    """An obligation: its conclusion, the step or claim that it belongs to, and its premises.

    `said`: the clause as the specification has it, where the goal is one. `action`: the step, where there is
    one.
    """

    step: str
    clause: str
    given: Sequence[Term]
    goal: Term
    said: Clause | None = None
    action: Action | None = None
    theory: "Theory | None" = None


@frozen
class Proved:
    """The solver's answer: whether it follows, the solver's own word, and what it spent, in its own unit."""

    step: str
    clause: str
    follows: bool
    answer: str
    spent: int


_Facts = list[tuple[str, Term]]
Theory = stable.Theory | sequencer.Theory | identifiers.Theory
THEORIES: Final[Mapping[str, Callable[[Manifest, Ablation | None], Theory]]] = {
    "stable": stable.theory_of,
    "sequencer": sequencer.theory_of,
    "gms": identifiers.theory_of,
}
"""The protocols that have a proof. The theory says what is proved, and what is asked around it."""


def obligations(theory: Theory, steps: Sequence[str] = (), clauses: Sequence[str] = ()) -> Iterator[Obligation]:
    """Give all obligations, or those of the steps and clauses of these names."""

    def wanted(name: str, names: Sequence[str]) -> bool:
        return not names or any(name == each or name.startswith((each + "/", each + " ")) for each in names)

    reading, settled = theory.reading(), theory.settled()
    forest: _Facts = [(each.name, each.formula()) for each in theory.forest()]

    def known(now: State) -> _Facts:
        return forest + [(each.name, each.formula()) for each in theory.clauses("Inductive", now)]

    lemmas: _Facts = [(each.name, each.formula()) for name in theory.lemmas for each in theory.clauses(name, settled)]

    def used(facts: _Facts, step: str, clause: str) -> list[Term]:
        uses = _USES.get((step, clause))
        facts = facts if uses is None else [*facts, *lemmas]
        return reading + [
            formula
            for name, formula in facts
            if uses is None or not {name, name.split("/")[0]}.isdisjoint(uses.split())
        ]

    facts = known(settled)
    restart = theory.reader.logic.restart
    if wanted("claim", steps):
        restart()
        for claim in theory.claims:
            for each in theory.clauses(claim, settled):
                if wanted(each.name, clauses):
                    given = used(facts, "claim", each.name)
                    yield Obligation("claim", each.name, given, each.formula(), each, theory=theory)
    if wanted("Init", steps):
        restart()
        start = [*used(forest, "Init", ""), *theory.initial()]
        for each in theory.clauses("Inductive", settled):
            if wanted(each.name, clauses):
                yield Obligation("Init", each.name, start, each.formula(), each, theory=theory)
    restart()
    decided = ((each, known(before)) for each, before in theory.decisions() if wanted(each.name, steps))
    for action, held in chain(decided, ((each, facts) for each in theory.actions() if wanted(each.name, steps))):
        for name, lemma in action.lemmas:
            if wanted(name, clauses):
                given = [*used(held, action.name, name), *action.requires]
                yield Obligation(action.name, name, given, lemma, action=action, theory=theory)
        for each in theory.clauses("Inductive", action.after):
            if wanted(each.name, clauses):
                proved = [lemma for _, lemma in action.lemmas]
                given = [*used(held, action.name, each.name), *action.requires, *proved]
                yield Obligation(action.name, each.name, given, each.formula(), each, action, theory)
        if wanted("LocalIsReadable", clauses):
            given = [*used(held, action.name, ""), *action.requires]
            readable = action.readable
            yield Obligation(action.name, "LocalIsReadable", given, readable, action=action, theory=theory)


def prove(obligation: Obligation, limit: int = _LIMIT, tries: int = _TRIES) -> Proved:
    """Ask the solver for a case in which the goal fails; there is none if it follows.

    Which instances it makes first depends on a seed, and a bad beginning is not made up for: it begins anew
    `tries` times at most, and spends `limit` each time.
    """
    spent = 0
    for seed in range(1, tries + 1):
        answer, more = _ask(obligation, limit, seed)
        spent += more
        if answer != z3.unknown:
            break
    return Proved(obligation.step, obligation.clause, answer == z3.unsat, str(answer), spent)


def _ask(obligation: Obligation, limit: int, seed: int) -> tuple[Term, int]:
    # (A context of its own: what was asked before has no part in the answer.)
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", limit)
    solver.set("random_seed", seed)
    solver.set("mbqi", False)  # noqa: FBT003 - by instances of the terms at hand alone
    solver.add(*(each.translate(context) for each in (*obligation.given, z3.Not(obligation.goal))))
    return solver.check(), solver.statistics().get_key_value("rlimit count")


def refuted(obligation: Obligation, largest: int | None = None) -> Group | None:
    """Ask for a small group in which the goal fails though all that is given holds.

    With `largest` for one whose numbers are no larger.
    """
    small = vocabulary.SMALL if obligation.theory is None else obligation.theory.small
    return _in_a_small_group([*obligation.given, z3.Not(obligation.goal)], small, largest)


def listed(asked: Sequence[Obligation]) -> str:
    """List the obligations by step: how many there are of each clause. Steps that are alike have one list."""
    by_step: dict[str, Counter[str]] = {}
    for each in asked:
        by_step.setdefault(each.step, Counter())[each.clause] += 1
    alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for step, clauses in by_step.items():
        alike.setdefault(tuple(clauses.items()), []).append(step)
    lines = [f"{len(asked):,} obligations"]
    for counted, steps in alike.items():
        lines += ["", *steps, *(f"    {count} {clause}" for clause, count in counted)]
    return "\n".join(lines) + "\n"


def difference(listed: str, asked: str) -> Iterator[str]:
    """Give the lines that differ: + an obligation that is not listed, - one that is and was not asked."""
    lines = unified_diff(listed.splitlines(), asked.splitlines(), lineterm="", n=0)
    return (line for line in lines if not line.startswith(("---", "+++", "@@")))


def impossible(theory: Theory) -> Iterator[str]:
    """Name what cannot happen where the invariant holds: the start, the decision of a view, or a step.

    Where the theory's small groups are searched for steps, each has to happen in one. Where not, those are
    named that can be seen not to happen: anything follows from what they require.
    """
    forest = [each.formula() for each in theory.forest()]

    def known(now: State) -> list[Term]:
        return [*forest, *(each.formula() for each in theory.clauses("Inductive", now))]

    held = known(theory.settled())
    for name, given in chain(
        [("Init", [*forest, *theory.initial()])],
        ((each.name, [*known(before), *each.requires]) for each, before in theory.decisions()),
        ((each.name, [*held, *each.requires]) for each in theory.actions()),
    ):
        required = [*theory.reading(), *given]
        if theory.steps_in_small_groups:
            happens = _in_a_small_group(required, theory.small) is not None
        else:
            nothing = Obligation(name, "FALSE", required, z3.BoolVal(val=False))
            happens = not prove(nothing, limit=_LIMIT // 10, tries=1).follows
        if not happens:
            yield name


def _in_a_small_group(
    formulas: Sequence[Term], small: Sequence[Mapping[Term, int]], largest: int | None = None
) -> Group | None:
    return next(filter(None, (model_of(formulas, sizes, largest) for sizes in small)), None)
