"""Implementations of SEQUENCER that are broken on purpose: the table of local steps detects each."""

from groupcomm import sequencer
from groupcomm_conformance.models import checking
from tests.cores import MANIFESTS, PROTOCOLS, conformance, core_of

MODELS = [model for model in checking.select(MANIFESTS["sequencer"], "smoke") if model.conform]


def test_a_core_that_reuses_the_message_is_told() -> None:
    """SEQ-26, FLAW-11: the FORWARD becomes the DATA's, in place, and its effects are right all the same."""

    def reuses(config: sequencer.Config, state: sequencer.State, event: sequencer.Event) -> sequencer.Transition:
        came = sequencer.step(config, state, event)
        if isinstance(event, sequencer.ForwardReceived) and came[1]:
            object.__setattr__(event, "sender", state.member)
        return came

    came = conformance("sequencer", MODELS[0], core_of("sequencer", reuses))
    assert not came.ok
    assert {"wrong_outcome"} == {group.verdict for group in came.replayed.groups.values()}
    assert came.conditions["no_hidden_state"]


def test_what_makes_a_member_are_these_constants_and_no_others() -> None:
    protocol = PROTOCOLS["sequencer"]
    assert {"majority": "Majority", "max_attempts": "MaxAttempts"} == protocol.parameters
    assert {
        "ResendOn": "every_view",
        "ResendOrder": "rising",
        "ResendBeforeNew": True,
        "OwnInTable": True,
        "RemoveOn": "data",
        "Dedup": "highest",
        "KeepDeparted": True,
        "EpochInTag": "id",
        "CompareViewsBy": "id",
        "EarlyForward": "held",
        "LateForward": "dropped",
        "SenderFrom": "header",
        "DeliverOtherViews": False,
        "OrderForSuspects": False,
        "FormsWhen": "heard",
        "Prune": True,
        "Abandon": True,
    } == protocol.guards
