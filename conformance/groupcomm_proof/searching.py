"""TLC's verdict on the invariant in the models that are searched: it finds a wrong invariant.

A model is searched as always, with two other claims: the invariant and Forest hold in each state, and each
step of the group is one of the steps that the solver was given.
"""

from collections.abc import Iterator
from typing import Final

from attrs import evolve, frozen

from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.tlc.run import SHORT, run

from .writing import START, STEP

_ROOT: Final = "SearchedInductive"
_JUDGED: Final = ("safety", "outcomes", "said")  # the others are of other networks, or of no group
_CLAIMS: Final = ("ForestAndInvariant",)
_WITH_HISTORY: Final = ("stable",)
# MergeDigest is in the place of these. A model whose group lacks one is searched as far as MergeDigest allows.
_REPLACED: Final = frozenset(
    {"StartRequiresPromise", "WithdrawOnlyIfUnusable", "PromiseHeldWhileNeeded", "OneOpenPromise"}
)


@frozen
class Searched:
    """The result of a model: the violated claim, if any, and the number of states."""

    model: str
    violated: str | None
    distinct: int
    seconds: float


def searchable(manifest: Manifest, largest: int) -> Iterator[Model]:
    """Give the models of the reference that hold, of at most so many states, on a network that remembers."""
    for model in manifest.models:
        small = (
            model.holds
            and model.claims in _JUDGED
            and model.counts is not None
            and model.counts.distinct <= largest
            and "MemberStep" not in model.constants
        )
        if small or (model.claims == "environment" and _merging(model)):
            yield model


def _merging(model: Model) -> bool:
    without = model.constants.get("Without")
    return isinstance(without, tuple) and without != () and _REPLACED.issuperset(without)


def search(manifest: Manifest, model: Model, written: str) -> Searched:
    """Search one model for a start, state or step that the proof does not allow for.

    `written` defines InitIsRead and EachStepIsRead.
    """
    # (A model that begins in the middle of a story does not begin at the start.)
    properties = (STEP,) if "Init" in model.constants else (START, STEP)
    cfg = evolve(manifest.cfg(model), invariants=_CLAIMS, properties=properties)
    if manifest.protocol in _WITH_HISTORY:
        cfg = evolve(cfg, specification="MergingSpec" if _merging(model) else "StrictSpec", view="history_view")
    invariant = f"{manifest.module.removeprefix('MC')}Inductive"
    text = f"---- MODULE {_ROOT} ----\nEXTENDS {manifest.module}, {invariant}\n{written}====\n"
    short = model.counts is not None and model.counts.transitions <= SHORT
    found = run(manifest.folders, _ROOT, cfg.render(), generated={_ROOT: text}, workers=1, short=short)
    return Searched(model.name, found.violated, found.distinct, found.seconds)
