"""The tables of local steps that mutants are held against: those of all conforming models."""

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from groupcomm_conformance.commands import console
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.selecting import NothingToJudge
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.table import StepTable, Tables
from groupcomm_conformance.tla.values import Value

__all__ = ["ModelTable", "tables_of"]


@frozen
class ModelTable:
    """The table of a model, its key in the cache, and the constants that the model gives by value."""

    table: StepTable
    key: str
    constants: Mapping[str, Value] = field(hash=False)


def tables_of(root: Path, manifest: Manifest) -> dict[str, ModelTable]:
    """Give the tables of all conforming models of the tier full by the model's name, the smallest first.

    NothingToJudge where there is no such model, FileNotFoundError where one does not hold.
    """
    models = [model for model in checking.select(manifest) if model.conform]
    if not models:
        raise NothingToJudge(
            f"{manifest.protocol} has no model with conform: true", "mark one in models.yaml"
        )
    chosen = [(manifest, model) for model in models]
    with console.Watch(chosen) as watch:
        came = checking.run_models(chosen, cache=checking.Cache.of(root), listener=watch)
    found: dict[str, ModelTable] = {}
    for model, checked in zip(models, came, strict=True):
        if not checked.holds or checked.harvest is None:
            raise FileNotFoundError(f"the model {model.name} {checked.outcome}: see groupcomm check")
        table, key = table_of(manifest, model, checked.harvest, Tables.of(root))
        found[model.name] = ModelTable(table, key, derive.constants_of(manifest.cfg(model)))
    return dict(sorted(found.items(), key=lambda item: len(item[1].table)))
