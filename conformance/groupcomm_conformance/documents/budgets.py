"""Budgets of faults under which a protocol does not give all of a guarantee, from its manifest.

A model that holds with a budget, and claims a conjunct, shows that the conjunct is given under these
faults. An ablation that gives the budget as if a guard were taken away (`ablates: MaxFalseSuspicions`) says
that something is lost to it. Of such a budget each conjunct is named that no model with the budget shows.
"""

import re
from collections.abc import Mapping
from typing import Final

from attrs import frozen

from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.model import NOT_GIVEN

_BUDGET: Final = re.compile(r"= (\d+)")


@frozen
class Lost:
    """Conjuncts of a guarantee that are not given under a budget, and the ablations that refute some."""

    guarantee: str
    budget: str
    conjuncts: tuple[str, ...]
    refuted: Mapping[str, tuple[str, ...]]
    """The conjuncts that each ablation refutes; a conjunct that none refutes is only shown in no model."""


def budgets(constants: Mapping[str, str]) -> dict[str, int]:
    """Give the bounds among constants, `Max...`: a number, or 0 for anything else."""
    return {
        name: int(found[1]) if (found := _BUDGET.fullmatch(value)) else 0
        for name, value in constants.items()
        if name.startswith("Max")
    }


def lost(manifest: Manifest) -> list[Lost]:
    """Say which conjuncts of what a protocol gives are not given under which budget."""
    known = budgets(manifest.reference)
    found: list[Lost] = []
    taken = dict.fromkeys(name for model in manifest.models for name in model.ablates if name in known)
    for budget in taken:
        spending = [model for model in manifest.models if budgets(manifest.cfg(model).constants).get(budget)]
        shown = {claim for model in spending if model.holds for claim in manifest.cfg(model).claims}
        ablations = [model for model in spending if budget in model.ablates]
        fallen = {claim for model in ablations for claim in model.violated}
        for guarantee, conjuncts in manifest.gives.items():
            lacking = {
                conjunct: claims
                for conjunct, claims in conjuncts.items()
                if claims != NOT_GIVEN and not shown.issuperset(claims)
            }
            if not any(fallen.intersection(claims) for claims in lacking.values()):
                continue
            refuted = {
                model.name: tuple(name for name, claims in lacking.items() if {*claims} & {*model.violated})
                for model in ablations
            }
            refuted = {name: those for name, those in refuted.items() if those}
            found.append(Lost(guarantee, budget, tuple(lacking), refuted))
    return found
