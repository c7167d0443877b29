"""Which models a command is about: one chooser for all commands.

A name that does not exist is an `UnknownNameError`. A selection that exists and is empty, such as the models
of a tier that has none, is `NothingToJudge`: no command may say "ok" of it.
"""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from .manifest import TIERS, Manifest, Model, Tier, UnknownNameError, load, protocols

_log: Final = logging.getLogger(__name__)


class NothingToJudge(LookupError):  # noqa: N818 - it says what happened, as a verdict does
    """A selection left nothing that could pass or fail; the message says which, and what to do."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(f"nothing to judge: {why}; {remedy}")


def every(_model: Model) -> bool:
    """Say whether a model is a model: suits all."""
    return True


def select(manifest: Manifest, tier: Tier = "full", name: str | None = None) -> list[Model]:
    """List the models of a tier (`full` has those of `smoke` too), or only the model called `name`."""
    if name is not None:
        return [manifest.model(name)]
    tiers = TIERS[: TIERS.index(tier) + 1]
    return [model for model in manifest.models if model.tier in tiers]


def manifests_of(root: Path, names: Sequence[str] = (), *, recording: bool = False) -> list[Manifest]:
    """Load the manifests of the protocols named, each once; without names those of all.

    With `recording`, figures that are still to be recorded may be missing.

    UnknownNameError for a name that is none, NothingToJudge in a project without protocols.
    """
    known = protocols(root)
    if not known and not names:
        raise NothingToJudge(
            f"no folder of {root / 'spec'} has a models.yaml",
            "add a protocol (CONTRIBUTING.md), or start groupcomm in another project",
        )
    return [load(root, name, recording=recording) for name in dict.fromkeys(names or known)]


def chosen(
    root: Path,
    names: Sequence[str] = (),
    *,
    tier: Tier = "full",
    only: Sequence[str] = (),
    suits: Callable[[Model], bool] = every,
    kind: str = "model",
    recording: bool = False,
) -> list[tuple[Manifest, Model]]:
    """Choose models: of the protocols `names` (default: all) those of `tier`, or those called `only`.

    Only models that `suits` accepts are taken, and `kind` says what these are ("model marked conform").
    UnknownNameError where no protocol or no such model has the name; NothingToJudge where names and tier
    leave no model. A protocol that adds nothing to the choice is named in a warning.
    """
    manifests = manifests_of(root, names, recording=recording)
    if only:
        named = [_named(manifests, name, suits, kind) for name in dict.fromkeys(only)]
        return [pair for pairs in named for pair in pairs]
    found: list[tuple[Manifest, Model]] = []
    empty: list[str] = []
    for manifest in manifests:
        models = [each for each in select(manifest, tier) if suits(each)]
        found += [(manifest, each) for each in models]
        if not models:
            empty.append(manifest.protocol)
    if not found:
        raise NothingToJudge(
            f"{' and '.join(empty)} has no {kind} in the tier {tier}", "choose a larger --tier, or see groupcomm list"
        )
    for name in empty:
        _log.warning("%s has no %s in the tier %s: nothing of it is judged", name, kind, tier)
    return found


def _named(
    manifests: Sequence[Manifest], name: str, suits: Callable[[Model], bool], kind: str
) -> list[tuple[Manifest, Model]]:
    known = [(manifest, each) for manifest in manifests for each in manifest.models if suits(each)]
    found = [(manifest, each) for manifest, each in known if each.name == name]
    if not found:
        raise UnknownNameError(kind, name, tuple(dict.fromkeys(each.name for _, each in known)))
    return found
