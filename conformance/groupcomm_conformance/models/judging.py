"""Holding what came against what the manifest expects.

`differences` compares one result with its model, `gates` asks of all models of a protocol together whether
the claims speak of anything:

- *actions*, *outcomes*: each action of `Next` and each outcome of `Step` is taken in a model that holds.
- *witnesses*: each is reached in the models that it names.
- *kills*: at least one ablation violates each claim.
- *conjuncts*: where a claim is a list, at least one ablation violates each of its conjuncts.
- *claims*: each claim that a module defines is one of a set of claims.
- *controls*: the control of each ablation holds, or its kill is spurious.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from attrs import frozen

from .instruments import OUTCOMES
from .model import Manifest, Model, constant_text
from .modules import read_modules, unused
from .plan import digest
from .result import CheckedModel, expected
from .selecting import select


@frozen
class Gate:
    """A question to all models of a protocol.

    `ok` is None where it was not judged: not all models that it needs were run, or there is nothing to judge.
    """

    name: str
    ok: bool | None
    text: str


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
    if model.holds or model.trace is None:
        return ["nothing is recorded of it yet: groupcomm check --record writes it"]
    # Of a lasso the length is no figure of the model: TLC shows the first cycle that it meets, not the shortest,
    # and which one that is follows from the numbers that it gives to strings. A string more in a module makes
    # another. What falls, below, and the control's counts say what a change of the model does.
    if model.trace != len(checked.trace) and not model.liveness:
        found.append(f"trace: expected {model.trace} states, came {len(checked.trace)}")
    fallen = checked.falls | checked.conjuncts
    if more := sorted(fallen.difference(model.violated)):
        found.append(f"violates, which was not expected: {', '.join(more)}")
    if less := [name for name in model.violated if name not in fallen]:
        found.append(f"does not violate, which was expected: {', '.join(less)}")
    return found


def stale(manifest: Manifest) -> list[str]:
    """Name the deep models whose record is of other modules, constants, claims or jar, or of none at all."""
    return [model.name for model in manifest.models if model.tier == "deep" and model.digest != digest(manifest, model)]


def kill_matrix(
    manifest: Manifest, results: Mapping[str, CheckedModel]
) -> dict[str, dict[str, Literal["falls", "stands"] | None]]:
    """Give, for each claim, what each ablation among `results` did to it; None: that was not asked."""
    ablations = [model for model in manifest.models if not model.holds and model.name in results]
    return {
        claim: {model.name: _fate(claim, results[model.name]) for model in ablations} for claim in manifest.claims()
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
        _conjuncts(manifest, results, whole=whole),
        _named(manifest),
        _controls(manifest, results),
    ]


_WHOLE: Final = "it takes all models of the tier full"


def _gate(name: str, good: str, bad: Sequence[str], *, lacking: str = "") -> Gate:
    """Make a gate; `lacking` says what there would have to be for a judgement, if anything."""
    if lacking:
        return Gate(name, ok=None, text=f"not judged: {lacking}")
    return Gate(name, ok=not bad, text="; ".join(bad) or good)


def actions(manifest: Manifest) -> tuple[str, ...]:
    """Name the actions that models for safety take, in the specification's order."""
    names = {
        (manifest.module_of(name), cfg.specification)
        for name, cfg in manifest.cfgs.items()
        if cfg.specification and any(model.claims == name and not model.liveness for model in manifest.models)
    }
    own = sorted(names, key=lambda each: (each[0] != manifest.module, each))
    read = {root: read_modules(manifest.folders, root) for root, _ in own}
    return tuple(dict.fromkeys(action for root, name in own for action in read[root].actions(name)))


def _fires(manifest: Manifest, results: Mapping[str, CheckedModel], *, whole: bool) -> list[Gate]:
    steps = {
        step for model in manifest.models if model.holds and model.name in results for step in results[model.name].steps
    }
    every = actions(manifest)
    taken = {action for action, _ in steps}
    bad = [f"never taken in a model that holds: {action}" for action in every if action not in taken]
    bad += [f"act.action is {action}, which is no action of Next" for action in sorted(taken.difference(every))]
    seen = {outcome for _, outcome in steps}
    missing = [f"never the outcome of a step: {outcome}" for outcome in OUTCOMES if outcome not in seen]
    missing += [f"unknown outcome: {outcome}" for outcome in sorted(seen.difference((*OUTCOMES, "none")))]
    lacking = "" if whole else _WHOLE
    if not every:
        lacking = "there is no model for safety, and only these report their steps"
    return [
        _gate("actions", f"all {len(every)} actions are taken", bad, lacking=lacking),
        _gate("outcomes", f"all {len(OUTCOMES)} outcomes are seen", missing, lacking=lacking),
    ]


def _witnesses(manifest: Manifest, results: Mapping[str, CheckedModel]) -> Gate:
    asked = [(witness, name) for witness, names in manifest.witnesses.items() for name in names]
    bad = [
        f"{witness} is never reached in {name}"
        for witness, name in asked
        if name in results and witness not in results[name].witnesses
    ]
    skipped = any(name not in results for _, name in asked)
    lacking = "it takes all models that are to reach one" if skipped and not bad else ""
    if not asked:
        lacking = "the manifest names no witness"
    return _gate("witnesses", f"all {len(manifest.witnesses)} are reached", bad, lacking=lacking)


def _kills(manifest: Manifest, results: Mapping[str, CheckedModel], *, whole: bool) -> Gate:
    matrix = kill_matrix(manifest, results)
    bad = [f"no ablation refutes {claim}" for claim, row in matrix.items() if "falls" not in row.values()]
    lacking = "" if whole else _WHOLE
    if not matrix:
        lacking = "no set of claims has a claim"
    return _gate("kills", f"each of {len(matrix)} claims is violated by some ablation", bad, lacking=lacking)


def _conjuncts(manifest: Manifest, results: Mapping[str, CheckedModel], *, whole: bool) -> Gate:
    """Ask of each conjunct of a claim that is a list that some ablation refutes it, not only of the claim."""
    roots = {claim: manifest.module_with(claim) for claim in manifest.claims()}
    read = {root: read_modules(manifest.folders, root) for root in {*roots.values()}}
    fallen = {part for checked in results.values() for part in checked.conjuncts}
    every = [
        f"{claim}/{number}"
        for claim in manifest.claims()
        for number in range(1, len(read[roots[claim]].conjuncts_of(claim)) + 1)
    ]
    bad = [f"no ablation refutes the conjunct {part}" for part in every if part not in fallen]
    lacking = "" if whole else _WHOLE
    if not manifest.claims():
        lacking = "no set of claims has a claim"
    good = f"so does each of the {len(every)} conjuncts of claims that are lists" if every else "no claim is a list"
    return _gate("conjuncts", good, bad, lacking=lacking)


def _named(manifest: Manifest) -> Gate:
    """Ask of what is defined beside claims that a set names it, or that an operator uses it."""
    named = {*manifest.claims(), *manifest.type_invariants, *manifest.witnesses}
    for cfg in manifest.cfgs.values():
        words = (cfg.specification, cfg.init, cfg.next, cfg.view)
        named |= {word for word in (*words, *cfg.constraints, *cfg.action_constraints, *cfg.symmetry) if word}
        named |= {side.rpartition(" ")[2] for side in cfg.constants.values()} | {*cfg.constants}
    for model in manifest.models:
        named |= {model.erratum.story} if model.erratum and model.erratum.story else set()
        named |= {constant_text(value).rpartition(" ")[2] for value in model.constants.values()}
    roots = {manifest.module, *manifest.other_modules.values()}
    texts = {name: text for root in roots for name, text in read_modules(manifest.folders, root).texts.items()}
    own = {file.stem for file in manifest.folder.glob("*.tla")}
    bad = [
        f"{module}.tla:{line}: no set of claims names {operator}, and no operator uses it"
        for operator, module, line in unused(texts, own, named | {*_INSTRUMENTS})
    ]
    return _gate("claims", "each claim that is defined is in a set", sorted(bad))


_INSTRUMENTS: Final = ("SeenMessages", "Alphabet", "vars", "stack_vars", "view")
"""Names that a table of local steps is made with, which no specification uses itself."""


def _controls(manifest: Manifest, results: Mapping[str, CheckedModel]) -> Gate:
    ablations = [model for model in manifest.models if not model.holds and model.name in results]
    bad: list[str] = []
    lacking = "" if ablations else "no ablation was run"
    for model in ablations:
        control = results.get(str(model.control))
        if control is None:
            lacking = "not all controls were run"
        elif not control.holds:
            bad.append(f"the kill by {model.name} is spurious: its control {model.control} {control.outcome}")
    good = f"the controls of all {len(ablations)} ablations hold"
    return _gate("controls", good, bad, lacking="" if bad else lacking)
