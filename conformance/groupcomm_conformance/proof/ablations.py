"""What is taken away from STABLE or its guarantees, and the obligation that then does not follow."""

from collections.abc import Mapping
from typing import Final

from attrs import field, frozen

__all__ = ["ABLATIONS", "Ablation"]


@frozen
class Ablation:
    """Something taken away: constants of the specification, or a text of StableInductive that is replaced.

    Then the obligations of this step and clause do not follow.
    """

    name: str
    step: str
    clause: str
    constants: Mapping[str, str] = field(factory=dict, hash=False)
    replaces: tuple[str, str] = ("", "")


def _without(guard: str, value: str, step: str, clause: str) -> Ablation:
    return Ablation(f"{guard}: {value}", step, clause, {guard: value if value == "FALSE" else f'"{value}"'})


def _unasked(conjunct: str, step: str, clause: str, text: str, instead: str = "") -> Ablation:
    return Ablation(conjunct, step, clause, replaces=(text, instead))


ABLATIONS: Final = (
    # The guards of Stable
    _without("HoldVote", "never", "ReceiveStabilityStep", "PromiserHolds"),
    _without("HoldVote", "until_a_view", "InstallViewStep", "PromiserHolds"),
    _without("ResetOnView", "FALSE", "InstallViewStep", "MinimumWithinCast"),
    _without("VoteViewCheck", "none", "ReceiveStableStep", "MinimumWithinCast"),
    _without("VoteViewCheck", "counter", "ReceiveStableStep", "MinimumWithinCast"),
    _without("VoteViewCheck", "members", "ReceiveStableStep", "MinimumWithinCast"),
    _without("HeardFromKind", "count", "ReceiveStableStep", "MinimumWithinCast"),
    _without("MergeRule", "max", "ReceiveStableStep", "MinimumWithinCast"),
    _without("StabilityViewCheck", "none", "ReceiveStabilityStep", "PurgedIsAgreed"),
    _without("StabilityViewCheck", "counter", "ReceiveStabilityStep", "PurgedIsAgreed"),
    _without("StabilityViewCheck", "members", "ReceiveStabilityStep", "PurgedIsAgreed"),
    _without("SenderCheck", "FALSE", "MisuseStep", "PurgedIsAgreed"),
    _without("DropPendingOnView", "FALSE", "InstallViewStep", "PendingHasHeardAll"),
    _without("DropPendingOnStability", "FALSE", "ReceiveStabilityStep", "PendingHasHeardAll"),
    _without("VoteSource", "received", "ReceiveStabilityStep", "MinimumVoteDelivered"),
    # The conjuncts of JoinDigest and Membership
    _unasked("PromiserIsMember", "JoinStep", "Guards/GuardIsThere", " /\\ ByIn(p, w)'"),
    _unasked("PromiseToOneIncarnation", "InstallViewStep", "PromiserHolds", " /\\ ~AddressIn(v, p.to)"),
    _unasked(
        "OneOpenPromise",
        "PromiseDigestStep",
        "Guards/GuardPromisesNoMore",
        "    /\\ c \\notin local[a].promised\n",
    ),
    _unasked(
        "PromiseHeldWhileNeeded",
        "AdmittedElsewhereStep",
        "Guards/GuardHolds",
        "(~IsFirst(w) /\\ AddressIn(w, c) /\\ In(w, a) /\\ Before(installed[a], Parent(w)))",
        "FALSE",
    ),
    _unasked(
        "StartRequiresPromise",
        "JoinStep",
        "Guards/GuardHolds",
        "p \\in promises\n    /\\ \\E v",
        "TRUE\n    /\\ \\E v",
    ),
    _unasked(
        "ExcludedFirst",
        "InstallViewStep",
        "MinimumVoteDelivered",
        "    /\\ ExcludedFirst\n    /\\ ReachesAtFirst",
        "    /\\ ReachesAtFirst",
    ),
    _unasked(
        "JoinsOnce",
        "InstallViewStep",
        "CastWithinDelivered",
        "    /\\ OneUnchanged\n    /\\ ExcludedFirst\n    /\\ ReachesAtFirst",
        "    /\\ ExcludedFirst\n    /\\ ReachesAtFirst",
    ),
)
"""What the proof needs, each with an obligation that fails without it."""
