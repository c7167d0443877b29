--------------------------- MODULE FlushInstruments -------------------------
(***************************************************************************)
(* What the tools look at: witnesses, and what a run collects of members'  *)
(* local steps for conformance.                                            *)
(***************************************************************************)
EXTENDS FlushClaims

(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

OnTheWay(type) == UNION {UNION {{Packet(f, t, wire[f][t][i]) :
    i \in {i \in DOMAIN wire[f][t] : wire[f][t][i].type = type}} : t \in Member} : f \in Member}

Fetches == \E m \in up : fetches[m] # {}
\* Who was named to be asked is dead, before it was asked.
HolderCrashes == \E m \in up : \E f \in fetches[m] : f.holder \notin up
RequesterCrashes == \E m \in up : local[m].owner # "" /\ local[m].owner \notin up
TwoRequestersCrash == RequesterCrashes /\ Cardinality(Member \ up) > 1
SentInTheHandler == \E m \in up : app[m] = "handler" /\ local[m].sent > local[m].delivered[m]
WaitsBehindTheLatch == \E m \in up : local[m].waiting # <<>>
\* It is told to stop, and is blocked already.
AskedAgain == \E p \in OnTheWay("START_FLUSH") : local[p.to].block = "blocked"
\* A view comes from another than who made it.
IsRelayed == \E p \in OnTheWay("NEW_VIEW") : p.sender # p.message.decision.id.creator
JoinerIsAsked == \E p \in OnTheWay("START_FLUSH") : ~InView(local[p.to])
LostView ==
    MaxFalse = 0 /\ \E j, k \in DOMAIN views : j # k /\ views[j].preds \cap views[k].preds # {}
SplitBrain ==
    \E x, y \in up : \E j \in {installed[x]} : \E k \in {installed[y]} :
        j # 0 /\ k # 0 /\ j # k /\ views[j].preds \cap views[k].preds # {}
RequesterLeaves == \E m \in up : local[m].left /\ Running(local[m])
LastLeaves == \E m \in Member : local[m].gone /\ Len(local[m].decision.members) = 1
YieldsAndGoes == \E m \in Member : local[m].gone /\ ~local[m].left /\ Len(local[m].decision.members) > 1
FlushIsWanted == OnTheWay("FLUSH_WANTED") # {}
\* The first that is left is a joiner that has not got the view.
JoinerIsToAct == \E p \in OnTheWay("FLUSH_WANTED") : ~InView(local[p.to])
\* One view for a join, and a leave or a crash (FVB-15).
Bundled ==
    \E k \in DOMAIN views : \E j \in views[k].preds :
        views[k].joins # {} /\ DOMAIN views[j].lives \ DOMAIN views[k].lives # {}
JoinerMulticasts == \E k \in DOMAIN views : \E x \in views[k].joins : log[k][x] # <<>>

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]

SeenMessages ==
    UNION {UNION {{[sender |-> f, message |-> wire[f][t][i]] : i \in DOMAIN wire[f][t]} : t \in Member} : f \in Member}
    \cup {[sender |-> c.sender, message |-> DataOf(c)] : c \in copies}

\* Nothing of the layers below enters FLUSH but messages.
SeenOutside(m) == 0

EventOf(p) ==
    [type |-> CASE p.message.type = "START_FLUSH" -> "StartFlushReceived"
                [] p.message.type = "FLUSH_COMPLETED" -> "FlushCompletedReceived"
                [] p.message.type = "RECONCILE" -> "ReconcileReceived"
                [] p.message.type = "NEW_VIEW" -> "NewViewReceived"
                [] p.message.type = "STOP_FLUSH" -> "StopFlushReceived"
                [] p.message.type = "FLUSH_WANTED" -> "FlushWantedReceived"
                [] p.message.type = "DATA" -> "DataReceived",
     sender |-> p.sender, message |-> p.message]

\* Every message that was ever on its way, from its sender and (what no correct peer does) from others; reports of
\* the round after; multicasts that are one further, and of a view of the same counter and another creator; who
\* might be suspected, join and leave; each call of the application, allowed or not.
Alphabet(messages, outsides) ==
    LET strangers == Member \cup {"Z"}
        others == {[p EXCEPT !.sender = m] : p \in messages, m \in strangers}
        reports == {p \in messages : p.message.type = "FLUSH_COMPLETED"}
        data == {p \in messages : p.message.type = "DATA"}
    IN {[type |-> "BlockReturned"]}
       \cup {[type |-> "SendRequested", payload |-> n] : n \in 1 .. 2}
       \cup {[type |-> "JoinRequested", joiner |-> m] : m \in strangers}
       \cup {[type |-> "LeaveRequested", leaver |-> m] : m \in strangers}
       \cup {[type |-> "Suspected", suspect |-> m] : m \in strangers}
       \cup {EventOf(p) : p \in others}
       \cup {EventOf([p EXCEPT !.message.round = @ + 1]) : p \in reports}
       \cup {EventOf([p EXCEPT !.message.seqno = @ + 1]) : p \in data}
       \cup {EventOf([p EXCEPT !.message.view_id.creator = "Z"]) : p \in data}
       \cup {EventOf([sender |-> m, message |-> FlushWanted(x, p.message.decision, p.message.suspected)]) :
                m \in Member, x \in strangers, p \in {p \in messages : p.message.type = "NEW_VIEW"}}

-----------------------------------------------------------------------------
(* What scenarios see of a member besides its state: its application. *)

Observed(m) == [application |-> app[m]]
=============================================================================
