"""The implementation of STABLE takes every local step of its smallest models as the specification does."""

from pathlib import Path

import pytest

from groupcomm_conformance import mapping
from groupcomm_conformance.models import checking, manifest
from groupcomm_conformance.steps import conform
from groupcomm_conformance.steps.table import Tables

ROOT = manifest.find_root(Path(__file__).parent)
STABLE = manifest.load(ROOT, "stable")
MODELS = [model for model in checking.select(STABLE, "smoke") if model.conform]


def test_there_are_models_to_conform_to() -> None:
    assert MODELS


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_local_steps_conform(model: manifest.Model) -> None:
    checked = checking.run_model(STABLE, model, cache=checking.Cache.of(ROOT))
    came = conform.conform(STABLE, model, checked, mapping.load("stable"), tables=Tables.of(ROOT))
    assert [] == [wrong for wrong in (came.problem, *came.conditions.values()) if wrong]
    assert came.replayed.passed
    assert {"handled", "ignored", "local_error", "remote_error"} == {
        outcome for outcome, count in came.to_json()["outcomes"].items() if count
    }
