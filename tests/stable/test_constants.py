"""The constants of STABLE that make a member, and a model that has another step."""

import pytest

from groupcomm import stable
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.codec import MappingError
from tests.cores import MANIFESTS, PROTOCOLS


def test_what_makes_a_member_are_these_constants() -> None:
    assert {
        "max_bytes": "MaxBytes",
        "stability_delay": "StabilityDelay",
        "stable_interval": "StableInterval",
    } == PROTOCOLS["stable"].parameters
    assert {"HoldVote": "until_redeemed", "MergeRule": "min", "VoteSource": "delivered"}.items() <= PROTOCOLS[
        "stable"
    ].guards.items()
    assert {"stable": stable.StableTimeout, "stability": stable.StabilityTimeout} == PROTOCOLS["stable"].timeouts
    assert {"STABLE": stable.Stable, "STABILITY": stable.Stability} == PROTOCOLS["stable"].messages


def test_a_model_of_the_note_is_not_one_of_the_implementation() -> None:
    """It changes no guard: it has the note's step in the place of the members' own."""
    with pytest.raises(MappingError, match="another MemberStep, so that its members take other steps than stable's"):
        PROTOCOLS["stable"].config(derive.constants_of(MANIFESTS["stable"].cfg(MANIFESTS["stable"].model("note"))))
