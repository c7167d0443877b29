------------------------- MODULE NakackInstruments -------------------------
(***************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps *)
(* for conformance.                                                        *)
(***************************************************************************)
EXTENDS NakackClaims

(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

OnTheWay(type) == {p \in net : p.message.type = type}
RequestIsSent == OnTheWay("XMIT_REQ") # {}
WaitsBehindGap == \E m \in up : \E s \in Members(local[m]) : local[m].windows[s].pending # <<>> /\ ~local[m].held
WaitsBeyondLimit ==
    \E m \in up : local[m].held /\ \E s \in Members(local[m]) :
        local[m].windows[s].delivered + 1 \in DOMAIN local[m].windows[s].pending
AnsweredByAnother == \E p \in OnTheWay("DATA") : p.sender # p.message.origin
AnsweredFromFormerView ==
    \E p \in OnTheWay("DATA") : p.sender # p.message.origin /\ \E k \in DOMAIN views :
        views[k].id = p.message.view_id /\ installed[p.sender] > k
PurgedInLaterView ==
    \E m \in up : installed[m] > Len(First) /\ \E s \in Members(local[m]) :
        local[m].windows[s].purged > local[m].windows[s].base
LateMessageOfFormerIncarnation ==
    \E p \in OnTheWay("DATA") : p.message.payload[1] < life[p.message.origin]
NewcomerStartsLater == \E m \in up : \E s \in Members(local[m]) : local[m].windows[s].low > Nothing /\ s # m
AskedOfCrashed == \E p \in OnTheWay("XMIT_REQ") : p.to \notin up
FetchedFromAnother ==
    \E m \in up : \E s \in Members(local[m]) :
        LET w == local[m].windows[s] IN w.fetch.upto > w.base /\ w.fetch.holder # s
RequestsAreCut ==
    \E m \in up : \E x \in Members(local[m]) \ {m} :
        LET w == local[m].windows[x]
            gaps == Gaps(w, w.told.upto)
        IN local[m].asking /\ Named(w, gaps) # gaps
MergedView == \E m \in up : installed[m] # 0 /\ Cardinality(views[installed[m]].preds) > 1

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]
SeenMessages == {[sender |-> p.sender, message |-> p.message] : p \in net}
SeenOutside(m) == DeliveredVector(local[m])

\* Every message that was ever in the network, from its sender, from a stranger, of another view, and malformed. Every
\* call with every vector, fitting or not. Each timer, late or not.
Alphabet(messages, vectors) ==
    LET of(type) == {p \in messages : p.message.type = type}
        event(packets, type) == {[type |-> type, sender |-> p.sender, message |-> p.message] : p \in packets}
        strange(packets) == {[p EXCEPT !.sender = "Z"] : p \in packets}
        forked(packets) == {[p EXCEPT !.message.view_id.creator = "Z"] : p \in packets}
        all(packets) == packets \cup strange(packets) \cup forked(packets)
        data == of("DATA")
        datas == all(data) \cup {[p EXCEPT !.message.origin = "Z"] : p \in data}
                 \cup {[p EXCEPT !.message.seqno = Nothing] : p \in data}
                 \cup {[p EXCEPT !.message.seqno = @ + 2] : p \in data}
        highest == of("HIGHEST")
        highests == all(highest)
                    \cup {[p EXCEPT !.message.digest = EmptyVector] : p \in highest}
                    \cup {[p EXCEPT !.message.digest = [x \in DOMAIN @ |-> Nothing - 1]] : p \in highest}
                    \cup {[p EXCEPT !.message.digest = [x \in DOMAIN @ |-> FirstSeqno + 2]] : p \in highest}
        \* The messages that a request asks for, fitting or not. (The view of a DATA is a view that a request may
        \* name.)
        Asks == {<<>>, <<[first |-> 0, last |-> 0]>>, <<[first |-> 1, last |-> 2]>>, <<[first |-> 1, last |-> 0]>>,
                 <<[first |-> Nothing, last |-> 0]>>, <<[first |-> 1, last |-> 3], [first |-> 0, last |-> 1]>>}
        requests == all(of("XMIT_REQ"))
                    \cup {[sender |-> x, message |-> XmitReqMessage(p.message.view_id, o, ranges)] :
                            x \in {"A", "B"}, p \in data, o \in {"A", "Z"}, ranges \in Asks}
        bounds == vectors \cup {EmptyVector}
        more == {[x \in DOMAIN v |-> v[x] + 1] : v \in bounds}
    IN {[type |-> "HighestTimeout"], [type |-> "RequestTimeout"], [type |-> "Release"],
        [type |-> "SendRequested", payload |-> "p"], [type |-> "GetDigest", asker |-> "GMS", request |-> 1]}
       \cup {[type |-> "ViewInstalled", view |-> ViewOf(Script[k])] : k \in DOMAIN Script}
       \cup {[type |-> "HoldBack", limit |-> v] : v \in bounds \cup more}
       \cup {[type |-> "Purge", digest |-> v] : v \in bounds \cup more}
       \cup {[type |-> t, digest |-> v] : t \in {"DigestSet", "WindowsAdded"}, v \in bounds}
       \cup {[type |-> "Fetch", holder |-> h, sender |-> s, upto |-> n] :
                h \in {"A", "B"}, s \in {"A", "B", "Z"}, n \in {1, 2}}
       \cup event(datas, "DataReceived") \cup event(highests, "HighestReceived")
       \cup event(requests, "XmitReqReceived")
-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its state. For each sender: the      *)
(* highest seqno delivered, the seqnos that wait, and those in the store, of  *)
(* its view and of the view before.                                           *)

LOCAL Rising(set) ==
    [i \in 1 .. Cardinality(set) |-> CHOOSE n \in set : Cardinality({k \in set : k < n}) = i - 1]
LOCAL SeqnosIn(store) == [i \in DOMAIN store.kept |-> store.purged + i]

Observed(m) ==
    [delivered |-> DeliveredVector(local[m]),
     waits |-> [x \in Members(local[m]) |-> Rising(DOMAIN local[m].windows[x].pending)],
     store |-> [x \in Members(local[m]) |-> SeqnosIn(local[m].windows[x])],
     before |-> [x \in DOMAIN local[m].former.stores |-> SeqnosIn(local[m].former.stores[x])]]
=============================================================================
