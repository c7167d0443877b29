"""Sets of claims that repeat another set's: a claim that is dropped from one of two sets changes no count and no gate."""

import shutil
from pathlib import Path

import pytest

from groupcomm_conformance.models.manifest import load

ROOT = Path(__file__).parent.parent

# The claims that a set lacks of another. The reasons are beside the sets, in models.yaml.
LACKS = [
    ("nakack", "delivery", "safety", {"MembersRecover", "CutIsReached"}),
    (
        "nakack",
        "broken_views",
        "safety",
        {
            "TypeOK",
            "OwnDeliveredAtOnce",
            "NoDeliveryBeyondLimit",
            "NothingDeliveredWithView",
            "DeliversWhatMay",
            "TimerSetOnce",
            "RequestsWhatArrives",
            "DigestSaysDelivered",
            "OnlyByEffects",
        },
    ),
    ("merge_gms", "bundles", "safety", set[str]()),
    ("unicast", "recovery", "delivery", {"TypeOK", "AcknowledgedIsDelivered"}),
    ("file_ping", "liveness_losses_end", "liveness", set[str]()),
]


def _lacks(root: Path, protocol: str, part: str, whole: str) -> set[str]:
    cfgs = load(root, protocol).cfgs
    return set(cfgs[whole].claims) - set(cfgs[part].claims)


@pytest.mark.parametrize(("protocol", "part", "whole", "lacks"), LACKS)
def test_a_set_repeats_another(protocol: str, part: str, whole: str, lacks: set[str]) -> None:
    assert _lacks(ROOT, protocol, part, whole) == lacks


def test_a_claim_that_is_gone_from_one_of_two_sets_is_noticed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    file = tmp_path / "spec" / "nakack" / "models.yaml"
    before, delivery = file.read_text().split("  delivery:\n")
    assert "DigestSaysDelivered, OnlyByEffects" in delivery
    file.write_text(
        before + "  delivery:\n" + delivery.replace("DigestSaysDelivered, OnlyByEffects", "OnlyByEffects", 1)
    )
    assert _lacks(tmp_path, "nakack", "delivery", "safety") == {"MembersRecover", "CutIsReached", "DigestSaysDelivered"}
