"""The tables of local steps that mutants are held against: those of all conforming models."""

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from groupcomm_conformance.models import checking
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.models.selecting import NothingToJudge
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.table import StepTable, Tables
from groupcomm_conformance.tla.values import Value


@frozen
class ModelTable:
    """The table of a model, its key in the cache, and the constants that the model gives by value."""

    table: StepTable
    key: str
    constants: Mapping[str, Value] = field(hash=False)


def conforming(manifest: Manifest) -> list[tuple[Manifest, Model]]:
    """Give the conforming models of the tier full. NothingToJudge where there is none."""
    models = [(manifest, model) for model in checking.select(manifest) if model.conform]
    if not models:
        raise NothingToJudge(f"{manifest.protocol} has no model with conform: true", "mark one in models.yaml")
    return models


def tables_of(root: Path, manifest: Manifest, listener: checking.Listener | None = None) -> dict[str, ModelTable]:
    """Give the tables of all conforming models by the model's name, the smallest first.

    NothingToJudge where there is no such model, FileNotFoundError where one does not hold.
    """
    models = conforming(manifest)
    results = checking.run_models(models, cache=checking.Cache.of(root), listener=listener)
    found: dict[str, ModelTable] = {}
    for (_, model), checked in zip(models, results, strict=True):
        if not checked.holds or checked.harvest is None:
            raise FileNotFoundError(f"the model {model.name} {checked.outcome}: see groupcomm check")
        table, key = table_of(manifest, model, checked.harvest, Tables.of(root))
        found[model.name] = ModelTable(table, key, derive.constants_of(manifest.cfg(model)))
    return dict(sorted(found.items(), key=lambda item: len(item[1].table)))
