------------------------- MODULE StableInstruments --------------------------
(***************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps *)
(* for conformance.                                                        *)
(***************************************************************************)
EXTENDS StableClaims

(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

MessageIsPurged == \E m \in InGroup : \E s \in DOMAIN rm[m] : rm[m][s].purged > Nothing
PurgeWithinLaterView ==
    \E m \in InGroup : installed[m] > Len(First) /\ \E s \in DOMAIN rm[m] : rm[m][s].purged > Nothing
PurgesInTwoViews ==
    \E p, q \in network :
        /\ p.message.type = "STABILITY" /\ q.message.type = "STABILITY"
        /\ p.message.view_id # q.message.view_id
        /\ \E s \in DOMAIN q.message.digest : q.message.digest[s] > Nothing
        /\ \E s \in DOMAIN p.message.digest : p.message.digest[s] > Nothing
AJoinerPurges ==
    \E m \in InGroup : \E s \in DOMAIN rm[m] : m \notin UNION {DOMAIN First[k].lives : k \in DOMAIN First}
        /\ rm[m][s].purged > rm[m][s].low
VotesOfTwoViews == \E p, q \in Votes(network) : p.message.view_id # q.message.view_id
VotesOfTwoCreators ==
    \E p, q \in Votes(network) :
        p.message.view_id.counter = q.message.view_id.counter /\ p.message.view_id # q.message.view_id
TwoStabilities == \E p, q \in network : p # q /\ p.message.type = "STABILITY" /\ q.message.type = "STABILITY"
DeliveredBeyondPromise ==
    \E p \in promises : \E m \in InGroup : \E s \in DOMAIN p.vector \cap DOMAIN rm[m] :
        rm[m][s].delivered > p.vector[s]
PromiseAcrossViews == \E p \in promises : p.to \in local[p.by].promised /\ installed[p.by] > p.view
TwoPromises == \E m \in up : Cardinality(local[m].promised) > 1
PromiserCrashed == \E p \in promises : p.by \notin up
ReceivedBehindGap == \E m \in InGroup : \E s \in DOMAIN rm[m] : rm[m][s].ahead # {}
SplitBrain ==
    \E x, y \in up \cap InGroup :
        installed[x] # installed[y] /\ views[installed[x]].id.counter = views[installed[y]].id.counter
JoinsAfterParting ==
    \E k \in DOMAIN views : Cardinality(views[k].preds) = 1 /\ views[k].joins # {}
        /\ \E j \in views[k].preds : Cardinality(views[j].preds) > 1
        /\ \E m \in views[k].joins : installed[m] = k
        /\ \E q \in InGroup : \E s \in DOMAIN rm[q] : rm[q][s].purged > Nothing
AfterMerge == \E m \in InGroup : Cardinality(views[installed[m]].preds) > 1

\* Stories: what is to be true in the last state of an erratum's counterexample, besides its claim being false.

\* STB-13: what B voted was over two members, and never on C.
BNeverVotedOnC == \A p \in Votes(network) : p.sender = "B" => "C" \notin DOMAIN p.message.digest

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]
SeenMessages == {[sender |-> p.sender, message |-> p.message] : p \in network}
SeenOutside(m) == DigestOf(rm[m])

\* Every message that was ever in the network, from its sender and (as no correct peer does) from a stranger, or
\* without a required entry. Every view with every digest, fitting or not. Each timer, late or not. Each call, allowed
\* or not.
Alphabet(messages, digests) ==
    LET votes == {p \in messages : p.message.type = "STABLE"}
        stabilities == {p \in messages : p.message.type = "STABILITY"}
        strange(packets) == {[p EXCEPT !.sender = "Z"] : p \in packets}
        malformed(packets) ==
            {[p EXCEPT !.message.digest = EmptyVector] : p \in packets}
            \cup {[p EXCEPT !.message.view_id = NoViewId, !.message.digest = EmptyVector] : p \in packets}
        \* the same message in a view with the same counter and another creator
        forked(packets) == {[p EXCEPT !.message.view_id.creator = "Z"] : p \in packets}
        all(packets) == packets \cup strange(packets) \cup malformed(packets) \cup forked(packets)
    IN {[type |-> "StableTimeout"], [type |-> "StabilityTimeout"],
        [type |-> "MessageReceived", size |-> 1], [type |-> "MessageReceived", size |-> 2]}
       \cup {[type |-> "DigestPromised", to |-> m] : m \in Member \cup {"Z"}}
       \cup {[type |-> "PromiseWithdrawn", to |-> m] : m \in Member \cup {"Z"}}
       \cup {[type |-> "ViewInstalled", view |-> ViewOf(Script[k]), digest |-> d] :
                k \in DOMAIN Script, d \in digests}
       \cup {[type |-> "StableReceived", sender |-> p.sender, message |-> p.message] : p \in all(votes)}
       \cup {[type |-> "StabilityReceived", sender |-> p.sender, message |-> p.message, digest |-> d] :
                p \in all(stabilities), d \in digests}
-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its state: what the layer below has  *)
(* of each sender. `held`: the seqnos that can be had from it.                *)

LOCAL Rising(set) ==
    [i \in 1 .. Cardinality(set) |-> CHOOSE n \in set : Cardinality({k \in set : k < n}) = i - 1]

Observed(m) ==
    [delivered |-> [s \in DOMAIN rm[m] |-> rm[m][s].delivered],
     received |-> Received(DigestOf(rm[m])),
     purged |-> [s \in DOMAIN rm[m] |-> rm[m][s].purged],
     held |-> [s \in DOMAIN rm[m] |-> Rising({n \in FirstSeqno .. FirstSeqno + 20 : Holds(rm[m][s], n)})]]
=============================================================================
