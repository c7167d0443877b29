------------------------ MODULE MergeGmsInstruments -------------------------
(******************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps    *)
(* for conformance.                                                           *)
(******************************************************************************)
EXTENDS MergeGmsClaims

(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

IsThere(k) == k > Len(First) /\ IsMerged(k)

MergeDone == \E k \in DOMAIN views : IsThere(k) /\ \A m \in MembersOf(views[k]) : installed[m] = k
\* One side is in the merged view, and the other has given up.
HalfDone ==
    \E k \in DOMAIN views : IsThere(k) /\ \E m, x \in up :
        /\ installed[m] = k /\ x \in MembersOf(views[k])
        /\ installed[x] # k /\ ~Ancestor(k, installed[x]) /\ IsCertain(local[x])
Healed ==
    /\ Converged
    /\ \E j, k \in DOMAIN views : IsThere(j) /\ IsThere(k) /\ j < k /\ \A m \in There : installed[m] = k
ParticipantPromoted ==
    \E m \in up : IsThere(installed[m]) /\ Coordinates(local[m]) /\ Own(local[m]).id.creator # m
JoinedAfterAMerge ==
    \E k \in DOMAIN views : views[k].joins # {} /\ \E j \in views[k].preds : IsThere(j)
JoinerWaitsForTheMerge == \E m \in up : Merging(m) /\ local[m].gms.phase = "stopping"
MergeWaitsForGms == \E m \in up : Wishes(local[m]) /\ local[m].holds = "no"
BothHaveAsked == \E m \in up : local[m].holds = "stopping" /\ local[m].gms.phase = "stopping"
ExcludedAfterwards ==
    \E k \in DOMAIN views : \E j \in views[k].preds :
        IsThere(j) /\ MembersOf(views[j]) \ MembersOf(views[k]) # {}
\* A word of a member of its view speaks of a view that is over, and does not count.
OldWordIsHeard ==
    \E m \in up : \E x \in ViewMembers(m) \cap (up \ {m}) : \E word \in FailureDetector!Words(m, x) :
        ~FailureDetector!Counts(installed[m], word)

KeptEarly == \E m \in up : local[m].early # <<>>
ParticipantIsAsked ==
    \E m \in up : local[m].early # <<>> /\ ~G!IsActing(local[m].gms) /\ \E p \in network :
        /\ p.message.type = "PROBE" /\ p.sender = m /\ p.message.view_id # Own(local[m]).id
RequestCancelled ==
    \E m \in up : \E p \in network :
        p.message.type = "CANCEL_MERGE" /\ p.to = m /\ IsWish(local[m], "MergeReqReceived")
MemberRestarts == \E m \in up : life[m] > 0 /\ InView(local[m])

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]
SeenMessages == {[sender |-> p.sender, message |-> p.message] : p \in network}
SeenOutside(m) == answers[m]

\* Every message that was ever in transit, from its sender and from other members (as no correct peer does). Every
\* digest, also an empty one, for GMS and for merging. The group stopped, asked for or not. Each answer of discovery,
\* each timer, late or not, and each call.
Alphabet(messages, given) ==
    LET others == {[p EXCEPT !.sender = m] : p \in messages, m \in Member \cup {"Z"}}
        digests == {a.digest : a \in UNION given} \cup {G!NoDigest}
    IN {[type |-> "LeaveRequested"], StoppedFor(G!Self), StoppedFor("STATE_TRANSFER")}
       \cup {[type |-> "JoinRequested", coordinator |-> m, life |-> n] : m \in Member, n \in 0 .. 1}
       \cup {[type |-> "Suspected", suspect |-> m] : m \in Member \cup {"Z"}}
       \cup {[type |-> "MergeTimeout", number |-> n] : n \in 0 .. MaxMerges + 1}
       \cup {[type |-> "DiscoverTimeout", found |-> f] : f \in SUBSET Member}
       \cup {[type |-> "DigestGiven", asker |-> a, request |-> n, digest |-> d] :
                a \in {G!Self, Self, "STATE_TRANSFER"}, n \in 1 .. 2, d \in digests}
       \cup {EventOf(p) : p \in others}

-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its state *)

Observed(m) ==
    [view |-> <<Own(local[m]).id.creator, Own(local[m]).id.counter, Own(local[m]).members>>,
     coordinates |-> Coordinates(local[m]), merging |-> Merging(m), phase |-> local[m].gms.phase,
     suspected |-> M!Sorted(Suspects(m)), gone |-> local[m].gms.gone,
     stopped |-> m \in stops.held, delivered |-> DeliveredBy(m)]
=============================================================================
