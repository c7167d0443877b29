--------------------------- MODULE FlushInstruments -------------------------
(******************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps    *)
(* for conformance.                                                           *)
(******************************************************************************)
EXTENDS FlushClaims

(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

OnTheWay(type) == UNION {UNION {{Packet(f, t, wire[f][t][i]) :
    i \in {i \in DOMAIN wire[f][t] : wire[f][t][i].type = type}} : t \in Member} : f \in Member}

\* Some member is in each of the phases, one after the other.
\* A member that has crashed is in a view again, and its former incarnation's messages may be on their way.
IsBack == \E m \in up : life[m] > 0 /\ InView(local[m])
IsAsked == \E m \in up : IsIn("asked", local[m]) /\ ~local[m].latched
\* A joiner has a view, and the next coordinator asks before its STOP_FLUSH.
IsAskedBehindLatch == \E m \in up : IsIn("asked", local[m]) /\ local[m].latched
IsEndedEarly == \E m \in up : IsIn("ended_early", local[m])
IsDraining == \E m \in up : IsIn("draining", local[m])
IsCatchingUp == \E m \in up : IsIn("catching_up", local[m])
IsInNextView == \E m \in up : IsIn("in_the_next_view", local[m]) /\ local[m].block = "blocked"

Fetches == \E m \in up : fetches[m] # {}
\* A member that was named to be asked is dead, before it was asked.
HolderCrashes == \E m \in up : \E f \in fetches[m] : f.holder \notin up
RequesterCrashes == \E m \in up : local[m].owner # "" /\ local[m].owner \notin up
TwoRequestersCrash == RequesterCrashes /\ Cardinality(Member \ up) > 1
SentInTheHandler == \E m \in up : app[m] = "handler" /\ local[m].sent > local[m].delivered[m]
WaitsBehindTheLatch == \E m \in up : local[m].waiting # <<>>
\* It receives START_FLUSH, and is blocked already.
AskedAgain == \E p \in OnTheWay("START_FLUSH") : local[p.to].block = "blocked"
\* It is resumed before its handler has returned.
FreedInTheHandler == \E m \in up : local[m].block = "asked" /\ local[m].owner = ""
\* A view is relayed by a member that is not its creator, to a member that is stopped by the creator.
IsRelayed ==
    \E o \in offers : o.from # views[o.view].id.creator /\ local[o.to].owner = views[o.view].id.creator
LostView == MaxFalseSuspicions = 0 /\ \E j, k \in DOMAIN views : j # k /\ views[j].preds \cap views[k].preds # {}
SplitBrain ==
    \E x, y \in up : \E j \in {installed[x]} : \E k \in {installed[y]} :
        j # 0 /\ k # 0 /\ j # k /\ views[j].preds \cap views[k].preds # {}
\* A coordinator is gone, and has resumed no member.
RequesterLeaves == \E m \in Member \ up : maker[m] = "gone" /\ \E x \in up : local[x].owner = m
\* Two views in one flush.
AnotherView == \E m \in up : maker[m] = "decided" /\ HasToDecide(m)
Bundled ==
    \E k \in DOMAIN views : \E j \in views[k].preds :
        views[k].joins # {} /\ DOMAIN views[j].lives \ DOMAIN views[k].lives # {}
\* A member that wants to leave takes part.
LeaverIsStopped == \E m \in up \cap wishes : maker[m] = "follows" /\ local[m].frozen
JoinerMulticasts == \E k \in DOMAIN views : \E x \in views[k].joins : log[k][x] # <<>>
\* A flush has to wait for another; its requester has given it up.
HasToWait == \E m \in up : DOMAIN local[m].later # {}
IsOvertaken == HasToWait /\ \E m \in up : local[m].wants # {} /\ ~Running(local[m]) /\ local[m].owner # m
\* One flush is for a view and for a state.
ForBoth == \E m \in up : IsStopped(local[m]) /\ {ForViews, ForState} \subseteq local[m].wants
\* A view comes while a state is on its way.
ViewMeetsState == \E m \in up : transfer[m] = "asks" /\ \E a \in answers : a.to = m /\ ~StandsFor(a, m)
\* A state stands for more than its receiver had delivered since it joined.
StateIsSet == \E m \in up : m \notin FoundersSet /\ HasState(m) /\ state[m] # {}
OnlyStateTransferWaits == \E m \in up : local[m].wants = {Self}
\* A merged view is everywhere.
AllAreMerged ==
    \E m \in up : InView(local[m]) /\ IsMerged(views[installed[m]]) /\ \A x \in Members(local[m]) \cap up :
        installed[x] = installed[m]
\* Its first member was a participant, and has to stop it.
ParticipantIsFirst ==
    \E m \in up : maker[m] = "suspends" /\ IsMerged(views[installed[m]]) /\ Running(local[m])
\* Some members have installed it, and other live members continue in the predecessor.
MergeFails ==
    \E x, y \in up : \E k \in {installed[x]} : \E j \in {installed[y]} :
        k # 0 /\ j # 0 /\ j # k /\ IsMerged(views[k]) /\ views[j].preds \cap views[k].preds # {}
\* A coordinator waits for a merged view that is lost.
MergedViewIsLost == \E m \in up : MustGiveUp(m)
\* A START_FLUSH from before the merged view is in transit to one of its members.
AskedBefore ==
    \E p \in OnTheWay("START_FLUSH") :
        /\ p.to \in up /\ IsMerged(views[installed[p.to]]) /\ p.sender \in Members(local[p.to])
        /\ p.message.view_id # local[p.to].view.id

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]

SeenMessages ==
    UNION {UNION {{[sender |-> f, message |-> wire[f][t][i]] : i \in DOMAIN wire[f][t]} :
        t \in Member} : f \in Member}
    \cup {[sender |-> c.sender, message |-> DataOf(c)] : c \in copies}

\* Inputs of a member that are no messages: its view, and the views that it merges.
SeenOutside(m) ==
    [view |-> local[m].view,
     subgroups |-> IF installed[m] # 0 /\ IsMerged(views[installed[m]])
                   THEN InstallEvent(views[installed[m]]).subgroups ELSE {}]

EventOf(p) ==
    [type |-> CASE p.message.type = "START_FLUSH" -> "StartFlushReceived"
                [] p.message.type = "FLUSH_COMPLETED" -> "FlushCompletedReceived"
                [] p.message.type = "RECONCILE" -> "ReconcileReceived"
                [] p.message.type = "STOP_FLUSH" -> "StopFlushReceived"
                [] p.message.type = "DATA" -> "DataReceived",
     sender |-> p.sender, message |-> p.message]

\* Every message that was ever in transit, from its sender and from other members (as no correct peer does). Reports
\* of the next round, of another view, and without members. RECONCILE without members, and of another view.
\* START_FLUSH for the other purpose. Multicasts with the next seqno, and of a view of the same counter and another
\* creator. A suspicion of each process, every view that any member has had, and each call of the application and of
\* the layers below, allowed or not.
Alphabet(messages, outsides) ==
    LET strangers == Member \cup {"Z"}
        others == {[p EXCEPT !.sender = m] : p \in messages, m \in strangers}
        Of(type) == {p \in messages : p.message.type = type}
        told == {o \in outsides : o.view # NoView}
    IN {[type |-> "BlockReturned"]}
       \cup {[type |-> "SendRequested", payload |-> n] : n \in 1 .. 2}
       \cup {[type |-> t, asker |-> a] : t \in {"Suspend", "Resume"}, a \in {ForViews, ForState}}
       \cup {[type |-> "Suspected", suspect |-> m] : m \in strangers}
       \cup {[type |-> "ViewInstalled", view |-> o.view] : o \in told}
       \cup {[type |-> "MergeViewInstalled", view |-> o.view, subgroups |-> o.subgroups] : o \in told}
       \cup {EventOf(p) : p \in others}
       \cup {EventOf([p EXCEPT !.message.round = @ + 1]) : p \in Of("FLUSH_COMPLETED")}
       \cup {EventOf([p EXCEPT !.message.view_id.creator = "Z"]) : p \in Of("FLUSH_COMPLETED")}
       \cup {EventOf([p EXCEPT !.message.digest = NoVector]) : p \in Of("FLUSH_COMPLETED")}
       \cup {EventOf([p EXCEPT !.message.target = NoVector]) : p \in Of("RECONCILE")}
       \cup {EventOf([p EXCEPT !.message.view_id.creator = "Z"]) : p \in Of("RECONCILE")}
       \cup {EventOf([p EXCEPT !.message.asker = a]) : p \in Of("START_FLUSH"), a \in {ForViews, ForState}}
       \cup {EventOf([p EXCEPT !.message.seqno = @ + 1]) : p \in Of("DATA")}
       \cup {EventOf([p EXCEPT !.message.view_id.creator = "Z"]) : p \in Of("DATA")}

-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its state: its application, and      *)
(* FLUSH's callers.                                                           *)

Observed(m) == [application |-> app[m], maker |-> maker[m], transfer |-> transfer[m], set |-> state[m]]
=============================================================================
