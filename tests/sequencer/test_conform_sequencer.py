"""Implementations of SEQUENCER that are broken on purpose: the table of local steps tells."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from groupcomm import sequencer
from groupcomm_conformance.models import checking, manifest
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps import conform
from groupcomm_conformance.steps.table import Tables

ROOT = manifest.find_root(Path(__file__).parent)
SEQUENCER = manifest.load(ROOT, "sequencer")
MODELS = [model for model in checking.select(SEQUENCER, "smoke") if model.conform]

Step = Callable[[sequencer.Config, sequencer.State, sequencer.Event], sequencer.Transition]


def conformance(model: manifest.Model, core: ModuleType | None = None) -> conform.Conformance:
    checked = checking.run_model(SEQUENCER, model, cache=checking.Cache.of(ROOT))
    tables = Tables.of(ROOT)
    return conform.conform(SEQUENCER, model, checked, derive.load(SEQUENCER), tables=tables, core=core)


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


def test_what_makes_a_member_are_these_constants_and_no_others() -> None:
    protocol = derive.load(SEQUENCER)
    assert {} == protocol.parameters
    assert {
        "ResendOn": "every_view",
        "ResendOrder": "rising",
        "ResendBeforeNew": True,
        "OwnInTable": True,
        "RemoveOn": "data",
        "Dedup": "highest",
        "KeepDeparted": True,
        "EpochInTag": "id",
        "ViewsKnownBy": "id",
        "EarlyForward": "held",
        "LateForward": "dropped",
        "SenderFrom": "header",
        "DataOfOtherViews": False,
    } == protocol.guards
