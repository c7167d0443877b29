"""The implementation of SEQUENCER takes every local step of its smallest models as the specification does."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from groupcomm import sequencer
from groupcomm_conformance import mapping
from groupcomm_conformance.mapping.sequencer import GUARDS
from groupcomm_conformance.models import checking, manifest
from groupcomm_conformance.steps import conform
from groupcomm_conformance.steps.table import Tables

ROOT = manifest.find_root(Path(__file__).parent)
SEQUENCER = manifest.load(ROOT, "sequencer")
MODELS = [model for model in checking.select(SEQUENCER, "smoke") if model.conform]

Step = Callable[[sequencer.Config, sequencer.State, sequencer.Event], sequencer.Transition]


def conformance(model: manifest.Model, core: ModuleType | None = None) -> conform.Conformance:
    checked = checking.run_model(SEQUENCER, model, cache=checking.Cache.of(ROOT))
    tables = Tables.of(ROOT)
    return conform.conform(SEQUENCER, model, checked, mapping.load("sequencer"), tables=tables, core=core)


def test_there_are_models_to_conform_to() -> None:
    assert MODELS


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_local_steps_conform(model: manifest.Model) -> None:
    came = conformance(model)
    assert [] == [wrong for wrong in (came.problem, *came.conditions.values()) if wrong]
    assert came.replayed.passed
    assert {"handled", "ignored", "local_error", "remote_error"} == {
        outcome for outcome, count in came.to_json()["outcomes"].items() if count
    }


def test_a_core_that_reuses_the_message_is_told() -> None:
    """SEQ-26, FLAW-11: the FORWARD becomes the DATA's, in place, and its effects are right all the same."""

    def reuses(
        config: sequencer.Config, state: sequencer.State, event: sequencer.Event
    ) -> sequencer.Transition:
        came = sequencer.step(config, state, event)
        if isinstance(event, sequencer.ForwardReceived) and came[1]:
            object.__setattr__(event, "sender", state.member)
        return came

    core = ModuleType("broken")
    core.__dict__.update(start=sequencer.start, step=reuses)
    came = conformance(MODELS[0], core)
    assert not came.ok
    assert {"wrong_outcome"} == {group.verdict for group in came.replayed.groups.values()}
    assert came.conditions["no_hidden_state"]


@pytest.mark.parametrize("guard", GUARDS)
def test_a_model_of_another_algorithm_has_no_implementation(guard: str) -> None:
    """Each guard by itself: a mapping that looks at none of them would call an ablation conforming."""
    ablated = {**GUARDS, guard: "another"}
    with pytest.raises(mapping.MappingError, match=f"{guard} .*, not 'another'"):
        mapping.load("sequencer").config(ablated)
    assert sequencer.Config() == mapping.load("sequencer").config(GUARDS)
