"""Claims: their names, and the exception for a violated claim.

A judge is a class with the name of a module of `spec/common` that a stack may give. It hears of the steps
of the layers between which it stands (`taps`), and judges incrementally: the work for a step depends on the
number of members, not on how much happened before.

The names that `Violation` carries are those of the claims in the specifications.
"""

from collections import Counter
from typing import Final

from attrs import field, frozen

Message = tuple[str, int]
"""A message of an application: the name of its process and a number that counts from 1."""


class Violation(Exception):  # noqa: N818 - of a claim; no error of this program
    """A claim does not hold: its name, and what is wrong."""

    def __init__(self, claim: str, text: str) -> None:
        super().__init__(claim, text)
        self.claim = claim
        self.text = text

    def __str__(self) -> str:
        return f"{self.claim}: {self.text}"


@frozen
class Verdicts:
    """`ignored`: claims that are not judged. `judged`: how often what a claim speaks of has happened."""

    ignored: frozenset[str] = frozenset()
    judged: Counter[str] = field(factory=Counter)


class Judge:
    """Says what is wrong, unless that claim is ignored."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts

    def _judged(self, *claims: str) -> None:
        """Note that something happened that claims speak of."""
        for claim in claims:
            self._verdicts.judged[claim] += 1

    def _fail(self, claim: str, text: str) -> None:
        """Raise Violation. Returns if the claim is ignored."""
        if claim not in self._verdicts.ignored:
            raise Violation(claim, text)


MERGING: Final = "Merging"
"""Of merging over GMS, besides what any layer that decides views gives."""

CLAIMS: Final = {
    "Membership": (
        "UniqueViewId",
        "CounterIncreases",
        "CreatorFromPredecessor",
        "WellFormedView",
        "ValidIncarnations",
        "ExcludedFirst",
        "JoinersAreNew",
        "JoinsOnce",
        "SelfInclusion",
        "SinglePath",
        "NoLiveBranch",
        "ExcludedOnlyIfDeadOrLeaving",
        "DecidesOnlyWhenStopped",
        "StopStateConsistent",
        "ResumesAfterAllInstalled",
        "Converged",
    ),
    MERGING: ("MergedDigestIsMaximum", "StartsAtMergedDigest"),
    "JoinDigest": (
        "DigestIsDelivered",
        "PromiseeIsOutside",
        "OneOpenPromise",
        "StartRequiresPromise",
        "DigestIsComplete",
        "WithdrawOnlyIfUnusable",
        "PromisesEventuallyEnd",
        "DigestRequestAnswered",
    ),
    "VirtualSynchrony": (
        "SendingViewDelivery",
        "Fifo",
        "ReceiveOnlyCut",
        "CastOnlyBeforeCut",
        "FirstLeaverHasAll",
        "LeavesWithCut",
        "SelfDelivery",
        "OwnFirst",
        "JoinersInstallLast",
        "GroupIsStopped",
        "NoMulticastWhileStopped",
        "BlockOnlyWhenFree",
        "UnblockOnlyWhenBlocked",
        "StopIsAnswered",
        "ResumedWhenQuiescent",
    ),
    "ApplicationView": ("ApplicationView",),
    "OneState": ("SameAtSamePlace", "MoreAtLaterPlace", "NothingTwice", "KnowsItsState", "EventuallyHasState"),
    "UniformDelivery": ("HeldByAll", "HeldByMajority", "HeldInBase", "SafeIsDelivered", "EventuallyTold"),
    "OneSequence": ("SequenceOnlyGrows", "PrimaryHasSequence", "SafeIsKept"),
    "TotalOrderBroadcast": (
        "TotalOrder",
        "Agreement",
        "NoDuplicates",
        "Integrity",
        "SenderFifo",
        "CausalDelivery",
        "EventuallyDelivered",
    ),
    "StabilitySafety": ("NoPrematurePurge", "JoinerFindsItsMessages", "RequestsServable", "EventuallyPurged"),
    "ReliableMulticast": (
        "OfItsView",
        "OnceInOrder",
        "OwnAtOnce",
        "HoldsBack",
        "BasesAgree",
        "NothingWithTheView",
        "MulticastsArrive",
    ),
    "ReliableUnicast": (
        "NotForged",
        "Once",
        "InOrder",
        "NoMessageLost",
        "LivesInOrder",
        "UnicastsArrive",
        "NothingKeptForEver",
    ),
}
"""The claims of each guarantee that is judged. Merging adds two of its own."""
