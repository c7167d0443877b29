"""Ablations of a protocol or its guarantees, each with the obligation that then does not follow."""

from collections.abc import Mapping
from typing import Final

from attrs import field, frozen


@frozen
class Ablation:
    """Something taken away: constants, a text of StableInductive, or what SEQUENCER's layers give.

    `forgets`: a function of the state that the step of STABLE leaves as it was. Then the obligations of this
    step and clause do not follow.
    """

    name: str
    step: str
    clause: str
    constants: Mapping[str, str] = field(factory=dict, hash=False)
    replaces: tuple[str, str] = ("", "")
    layer: str = ""
    forgets: str = ""


def _without(guard: str, value: str, step: str, clause: str) -> Ablation:
    return Ablation(f"{guard}: {value}", step, clause, {guard: value if value == "FALSE" else f'"{value}"'})


def _unasked(conjunct: str, step: str, clause: str, text: str, instead: str = "") -> Ablation:
    return Ablation(conjunct, step, clause, replaces=(text, instead))


def _forgets(function: str, step: str, *clauses: str) -> tuple[Ablation, ...]:
    return tuple(Ablation(f"{step} forgets {function}", step, each, forgets=function) for each in clauses)


def _delivered(*clauses: str) -> tuple[Ablation, ...]:
    text = "    /\\ \\A s \\in Member : AddressIn(installed[a], s) => p.vector[s] = rm[a][s].delivered\n"
    return tuple(_unasked("DigestIsDelivered", "PromiseDigestStep", each, text) for each in clauses)


def _parts(of: str, *parts: str) -> tuple[str, ...]:
    return tuple(f"{of}/{part}" for part in parts)


_THERE: Final = ("LeadsThrough", "LeadsThrough/On", "ComesLater", "GuardIsThere", "GuardIsThere/JoinsPath")
_GUARDS: Final = ("GuardHolds", "GuardHeld", "GuardUndisturbed")

OF_STABLE: Final = (
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
    # The conjuncts of MergeDigest, JoinDigest and Membership
    _unasked("PromiserIsMember", "JoinStep", "IsPromised", " /\\ ByIn(p, w)'"),
    _unasked("PromiseToOneIncarnation", "InstallViewStep", "PromiserHolds", " /\\ (v # p.view => ~AddressIn(v, p.to))"),
    _unasked(
        "Abandoned: not entered before",
        "JoinStep",
        "AbandonedIsNotEntered",
        "delivered = Nothing\n    /\\ installed'[a] = w\n    /\\ AbandonedIsNotEntered'\n",
        "delivered = Nothing\n    /\\ installed'[a] = w\n",
    ),
    _unasked(
        "Abandoned: not entered when withdrawn",
        "ReleaseStep",
        "AbandonedIsNotEntered",
        "    /\\ AbandonedIsNotEntered'\n    /\\ standing'",
        "    /\\ standing'",
    ),
    _unasked(
        "Abandoned: not entered later",
        "InstallViewStep",
        "AbandonedIsNotEntered",
        "purged = rm[a][s].purged)\n    /\\ installed'[a] = w\n    /\\ AbandonedIsNotEntered'\n",
        "purged = rm[a][s].purged)\n    /\\ installed'[a] = w\n",
    ),
    _unasked(
        "Abandoned: without a promise",
        "JoinStep",
        "IsPromised",
        "    /\\ (~IsFirst(w))' /\\ Joins(w, a)'\n    /\\ HasPromises(a, w)\n",
        "    /\\ (~IsFirst(w))' /\\ Joins(w, a)'\n",
    ),
    _unasked(
        "Abandoned: withdrawn",
        "ReleaseStep",
        "Guards/GuardHolds",
        "            Abandoned(Parent(w, a), w)'\n",
        "            TRUE\n",
    ),
    _unasked(
        "Abandoned: stands no longer",
        "ReleaseStep",
        "PromiserHolds",
        "SameAddress(q.to, c) /\\ Waits",
        "FALSE /\\ Waits",
    ),
    _unasked("DigestIsComplete", "JoinStep", "OwnIsAlong", "Tells(p, s, j) /\\ rm'", "rm'"),
    _unasked("ExcludedFirst", "InstallViewStep", "MinimumVoteDelivered", "    /\\ ExcludedFirst\n"),
    _unasked("MergesAreDisjoint", "InstallViewStep", "StaysOrComes", "    /\\ MergesAreDisjoint\n"),
    _unasked("JoinsOnce", "claim", "NoPrematurePurge", "    /\\ AlongInTree\n"),
    # Steps, so that each clause of the invariant has one that would not keep it
    *_delivered("PromisedIsSound", "PromiserHasCast"),
    _unasked("MayPromise: of its view", "PromiseDigestStep", "PromiserIsThere/On", " /\\ p.view = installed[a]"),
    _unasked(
        "MayPromise: to an outsider", "PromiseDigestStep", "PromiserIsThere", "    /\\ ~AddressIn(installed[a], c)\n"
    ),
    *_forgets("installed", "BeginStep", "Own", "Guards", *_parts("Guards", *_THERE, *_GUARDS)),
    *_forgets("installed", "InstallViewStep", "CastWithinDelivered", "HeardFromMembers"),
    *_forgets("cast", "DataArrivesStep", "VotesWereCast"),
    *_forgets(
        "promise_guard",
        "PromiseDigestStep",
        "PromisersAreGuarded",
        *_parts("PromisersAreGuarded", "GuardIsThere", "GuardHolds", "GuardHeld"),
    ),
    *_forgets(
        "promise_until",
        "PromiseDigestStep",
        *_parts(
            "PromisersAreGuarded",
            *("LeadsThrough", "LeadsThrough/On", "ComesLater", "GuardIsThere/JoinsPath", "GuardUndisturbed"),
        ),
    ),
    # (Every step keeps this clause as long as another one holds.)
    _unasked("MinimumWithinCast", "StabilityTimeoutFiresStep", "AnnouncedWasCast", "    /\\ MinimumWithinCast\n"),
)
"""The needs of STABLE's proof, each with an obligation that fails without it."""

OF_SEQUENCER: Final = (
    # The guards of Sequencer
    _without("ResendOn", "never", "InstallView", "TableIsSubmitted/Submitted"),
    _without("ResendOn", "coordinator_change", "InstallView", "TableIsSubmitted/Submitted"),
    _without("ResendOn", "coordinator_gone", "InstallView", "TableIsSubmitted/Submitted"),
    _without("EarlyForward", "dropped", "ReceiveForward", "TableIsSubmitted/Submitted"),
    _without("LateForward", "accepted", "ReceiveForward", "SubmittedOnPath"),
    _without("CompareViewsBy", "counter", "ReceiveForward", "SubmittedOnPath"),
    _without("SenderFrom", "message", "ReceiveData", "LocalIsReadable"),
    _without("RemoveOn", "forward", "Send", "TableIsInterval"),
    _without("OwnInTable", "FALSE", "Send", "TableIsInterval"),
    # Guarantees of the layers below
    Ablation("LeavesWithCut", "InstallView", "DeliveredIsReceived", layer="LeavesWithCut"),
    Ablation("Fifo", "ReceiveData", "DeliveredIsReceived", layer="Fifo"),
    Ablation("SinglePath", "InstallView", "PathIsWhole", layer="SinglePath"),
    Ablation("fifo", "ReceiveForward", "Rising", layer="fifo"),
)
"""The needs of SEQUENCER's proof."""

OF_IDENTIFIERS: Final = (
    # The conditions of the steps
    _unasked(
        "ViewIdNames",
        "DecideStep",
        "ViewIdsAreUnique",
        "creator = a\n    /\\ inst",
        "creator \\in Member\n    /\\ inst",
    ),
    _unasked(
        "Decides: follows its own view", "DecideStep", "CreatorIsKnown", "    /\\ installed[a] \\in views'[w].preds\n"
    ),
    _unasked(
        "CounterIncreases", "DecideStep", "PredecessorIsOlder", "views[u].id.counter < views'[w].id.counter", "TRUE"
    ),
    _unasked("ExcludedFirst", "DecideStep", "LivesAreKept", "views'[w].lives[x] = views[u].lives[x]", "TRUE"),
    _unasked("ValidIncarnations", "HandOverStep", "HasStarted", " /\\ views'[w].lives[x] <= life[x]"),
    _unasked("SinglePath", "EnterStep", "OwnIsPassed", "    /\\ installed[a] \\in views[w].preds\n"),
    _unasked("SelfInclusion", "EnterStep", "Own", "    /\\ a \\in DOMAIN views[w].lives\n"),
    _unasked("SelfInclusion: of a joiner", "JoinStep", "FormerArePassed", "    /\\ Has(views[w], a, life[a])\n"),
    _unasked(
        "CountersArePassed", "RestartStep", "FormerArePassed", "creator = a /\\ MayBeIn(x, j)", "creator = a /\\ FALSE"
    ),
    _unasked("FoundedBeforeReturn", "FoundStep", "FormerArePassed", "DOMAIN views = {} \\/", "TRUE \\/"),
    # The conjuncts of the invariant
    _unasked("Own", "DecideStep", "FormerArePassed", "    /\\ Own\n"),
    _unasked("PredecessorIsOlder", "EnterStep", "OwnIsPassed", "    /\\ PredecessorIsOlder\n"),
    _unasked("LivesAreKept", "EnterStep", "Own", "    /\\ LivesAreKept\n"),
    _unasked("HasStarted", "RestartStep", "OwnIsPassed", "    /\\ HasStarted\n"),
    _unasked("CreatorIsKnown", "FoundStep", "ViewIdsAreUnique", "    /\\ CreatorIsKnown\n"),
    _unasked("OwnIsPassed", "DecideStep", "ViewIdsAreUnique", "    /\\ OwnIsPassed\n"),
    _unasked("FormerArePassed", "DecideStep", "ViewIdsAreUnique", "    /\\ FormerArePassed\n"),
)
"""The needs of the proof that identifiers of views are unique, each with an obligation that fails without it."""
