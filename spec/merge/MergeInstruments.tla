------------------------- MODULE MergeInstruments ---------------------------
(******************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps    *)
(* for conformance.                                                           *)
(******************************************************************************)
EXTENDS MergeClaims

(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

IsThere(k) == k > Len(First) /\ IsMerged(k)

\* A merged view that every member in it has installed.
MergeDone ==
    \E k \in DOMAIN views : IsThere(k) /\ \A m \in DOMAIN views[k].lives : installed[m] = k
\* The two of a half-done merge: one is in the merged view, the other one has given up.
HalfDone ==
    \E k \in DOMAIN views : IsThere(k) /\ \E m, x \in up :
        /\ installed[m] = k /\ x \in DOMAIN views[k].lives
        /\ installed[x] # k /\ ~Ancestor(k, installed[x]) /\ ~Behind(x, k) /\ ~Merging(local[x])
\* And a later merge that heals it: the views of two merges, of which one does not follow the other directly.
Healed ==
    /\ Converged
    /\ \E j, k \in DOMAIN views : IsThere(j) /\ IsThere(k) /\ j < k /\ \A m \in up : installed[m] = k
ThreeMerged == \E k \in DOMAIN views : IsThere(k) /\ Cardinality(views[k].preds) = 3
TwoMergesAtOnce == \E m, x \in up : m # x /\ Leads(local[m]) /\ Leads(local[x])
ParticipantPromoted ==
    \E m \in up : Coordinates(local[m]) /\ local[m].decision.id.creator # m /\ IsThere(installed[m])
CoordinatorSteps ==
    \E m \in up : IsThere(installed[m]) /\ views[installed[m]].id.creator = m /\ ~Coordinates(local[m])
SameCounterMerged ==
    \E k \in DOMAIN views : IsThere(k) /\ \E i, j \in views[k].preds :
        i # j /\ views[i].id.counter = views[j].id.counter
RejectedForOverlap ==
    \E p \in network : p.message.type = "MERGE_RSP" /\ p.message.rejected /\ p.message.decision # NoDecision
BusyRejects ==
    \E p \in network : p.message.type = "MERGE_RSP" /\ p.message.rejected /\ p.message.decision = NoDecision
LateInstall ==
    \E p \in network : p.to \in up /\ p.message.type = "INSTALL_MERGE_VIEW" /\ local[p.to].merge # p.message.merge_id
LeaderDiesBetween ==
    \E m \in Member \ up : \E p \in network : p.sender = m /\ p.message.type = "INSTALL_MERGE_VIEW"
GoesOnWithFewer ==
    \E p \in network : p.message.type = "CANCEL_MERGE" /\ \E k \in DOMAIN views : IsThere(k)
        /\ p.sender \in DOMAIN views[k].lives /\ p.to \notin DOMAIN views[k].lives
KeptEarly == \E m \in up : local[m].early # <<>>
EarlyFollowed == \E m \in up : Waits(local[m])
TwoKeptEarly == \E m \in up : Len(local[m].early) = 2
\* Between the digest and the merged view its maker delivers more, and another member starts before that.
DeliveredBeyondDigest ==
    \E m, x \in up : IsThere(installed[m]) /\ installed[m] = installed[x] /\ seen[m][x] < seen[x][x]
PurgeWaits == \E x \in up : \E y \in MembersOf(local[x].decision) : kept[y] # {} /\ purged[x] < seen[x][x]
PurgedBeforeTheMerge == \E m, x \in up : m # x /\ IsThere(installed[m]) /\ purged[x] > Nothing
\* An address that came back is in a merged view, and another member knows its former incarnation.
BackInAMerge ==
    \E m \in up : life[m] > 0 /\ IsThere(installed[m]) /\ \E k \in DOMAIN views : Has(views[k], m, 0)
\* An answer to the former incarnation of the leader arrives.
AnswersTheDead ==
    \E p \in network :
        /\ p.message.type = "MERGE_RSP"
        /\ p.message.merge_id.leader = p.to /\ p.message.merge_id.life < life[p.to]
\* A member that left was in a merge with others.
LeftDuringAMerge ==
    \E m \in Member \ up : \E x \in up : Merging(local[x]) /\ installed[x] = installed[m] /\ spent.leaves > 0
ExcludedAfterwards ==
    \E k \in DOMAIN views : \E j \in views[k].preds :
        IsThere(j) /\ DOMAIN views[j].lives \ DOMAIN views[k].lives # {}

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]
SeenMessages == {[sender |-> p.sender, message |-> p.message] : p \in network}
SeenOutside(m) == [decision |-> local[m].decision, digest |-> DeliveredBy(m)]

EventsOf(p, digests) ==
    LET type == p.message.type IN
    IF type = "MERGE_REQ"
    THEN {[type |-> "MergeReqReceived", sender |-> p.sender, message |-> p.message, digest |-> d] :
            d \in digests}
    ELSE {[type |-> CASE type = "MERGE_RSP" -> "MergeRspReceived"
                      [] type = "INSTALL_MERGE_VIEW" -> "InstallMergeViewReceived"
                      [] type = "MERGE_VIEW" -> "MergeViewReceived"
                      [] type = "CANCEL_MERGE" -> "CancelMergeReceived",
           sender |-> p.sender, message |-> p.message]}

\* Every message that was ever in transit, from its sender and from other members (as no correct peer does). The same
\* for another merge, for another merged view, with a view that lacks its sender, or with an empty digest. Every view
\* of the membership service, each answer of discovery, and each timer, late or not. A MERGE_REQ comes with each
\* digest that the layer below may give then. A MERGE_REQ under a false sender, which is always refused, comes with
\* one digest. A MERGE_REQ of another merge comes with one digest for each set of members.
Alphabet(messages, outsides) ==
    LET digests == {o.digest : o \in outsides}
        one == CHOOSE d \in digests : TRUE
        one_of_each == {CHOOSE d \in digests : DOMAIN d = members : members \in {DOMAIN d : d \in digests}}
        OfType(type) == {p \in messages : p.message.type = type}
        others == {[p EXCEPT !.sender = m] : p \in messages, m \in Member \cup {"Z"}}
        numbered == messages \ OfType("MERGE_VIEW")
        later == {[p EXCEPT !.message.merge_id.number = @ + 1] : p \in numbered}
        strange ==
            {[p EXCEPT !.sender = m, !.message.merge_id.leader = m] :
                p \in OfType("CANCEL_MERGE"), m \in Member}
            \cup {[p EXCEPT !.message.merged.id.creator = "Z"] : p \in OfType("MERGE_VIEW")}
            \cup {[p EXCEPT !.message.decision = NoDecision] : p \in OfType("MERGE_REQ")}
            \cup {[p EXCEPT !.message.digest = NoDigest] : p \in OfType("MERGE_RSP")}
        founds == {Member, {}} \cup {{m} : m \in Member} \cup {Member \ {m} : m \in Member}
    IN {[type |-> "EarlyTimeout"]}
       \cup {[type |-> "MergeTimeout", number |-> n] : n \in 0 .. MaxMerges + 1}
       \cup {[type |-> "DecisionInstalled", decision |-> o.decision] : o \in outsides}
       \cup {[type |-> "DiscoverTimeout", found |-> f, digest |-> d] : f \in founds, d \in digests}
       \cup UNION {EventsOf(p, digests) : p \in messages}
       \cup UNION {EventsOf(p, one_of_each) : p \in later}
       \cup UNION {EventsOf(p, {one}) : p \in others \cup strange}

-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its state: its view, whether it      *)
(* coordinates and is in a merge, and what the layer below has delivered of   *)
(* each sender.                                                               *)

Observed(m) ==
    [view |-> <<local[m].decision.id.creator, local[m].decision.id.counter, local[m].decision.members>>,
     coordinates |-> Coordinates(local[m]), merging |-> Merging(local[m]), delivered |-> DeliveredBy(m)]
=============================================================================
