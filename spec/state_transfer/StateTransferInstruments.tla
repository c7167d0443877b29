---------------------- MODULE StateTransferInstruments -----------------------
(***************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps *)
(* for conformance.                                                        *)
(***************************************************************************)
EXTENDS StateTransferClaims

(* Witnesses: each must be reachable, or the claims say less than they seem to. *)

StateTaken == \E m \in up : local[m].has /\ local[m].attempt > 0
MessageHeld == \E m \in up : local[m].held # <<>>
TransferOutlivesView == \E m \in up : local[m].marked /\ Len(path[m]) > 1 /\ local[m].provider # Nobody /\ local[m].parts > 0
AskedTwice == \E m \in up : local[m].has /\ local[m].attempt > 1
WholeBeforeMarked == \E m \in up : local[m].whole /\ ~local[m].marked
WholeBeforeDecided == \E m \in up : local[m].whole /\ local[m].marked /\ ~local[m].settled
StateWasDropped == \E m \in up : ~local[m].has /\ local[m].name # LacksName /\ local[m].settled
TwoProvided == \E m \in up : Cardinality(DOMAIN local[m].giving) > 1
TookNoMore == \E m \in up : apps[m].full
DeclaredIsTaken == \E m \in up : local[m].has /\ local[m].declared /\ local[m].attempt > 0 /\ apps[m].state[1] # <<m, -1>>
PrimaryFollows == sequence.view > 1 /\ Len(sequence.state) > 1
SafeWaits == \E m \in up : local[m].safe > 0
OwnCameWithState == \E m \in up : local[m].has /\ local[m].attempt > 0 /\ apps[m].own > 0 /\ m \in DOMAIN local[m].seen

-----------------------------------------------------------------------------
(* Local steps *)

SeenLocal(m) == local[m]
SeenMessages ==
    {[sender |-> f, message |-> wire[f][t][i]] : <<f, t, i>> \in {x \in Member \X Member \X (1 .. 3) : x[3] \in DOMAIN wire[x[1]][x[2]]}}
    \cup UNION {{[sender |-> order[k][i][1], message |-> cast[order[k][i][1]][order[k][i][2]]] : i \in DOMAIN order[k]} : k \in DOMAIN order}
SeenOutside(m) ==
    [views |-> {ViewEvent(History[k]) : k \in {k \in DOMAIN History : m \in DOMAIN History[k].lives}},
     reads |-> {[to |-> r.to, attempt |-> r.attempt, number |-> r.number, data |-> DataOf(m, r)] : r \in apps[m].reads}]

Alphabet(messages, outsides) ==
    LET reads == UNION {o.reads : o \in outsides} IN
    {[type |-> Received(p.message.type), sender |-> x, message |-> p.message] : p \in messages, x \in Member}
    \cup UNION {o.views : o \in outsides}
    \cup {[type |-> "ViewFormed", view_id |-> v.view.id, before |-> n] : v \in UNION {o.views : o \in outsides}, n \in 0 .. 2}
    \cup {[type |-> "PartRead", to |-> r.to, attempt |-> r.attempt, number |-> r.number, data |-> r.data, last |-> r.number = PartCount]
            : r \in reads}
    \cup {[type |-> "PartFailed", to |-> r.to, attempt |-> r.attempt] : r \in reads}
    \cup {[type |-> "SendRequested", payload |-> 9, size |-> 2], [type |-> "AskTimeout"], [type |-> "SoonTimeout"], [type |-> "DeclareRequested"],
          [type |-> "SafeUpTo", number |-> 1], [type |-> "UnknownUpTo", number |-> 2],
          [type |-> "PartFailed", to |-> "Z", attempt |-> 1],
          [type |-> "AppReceived", sender |-> "Z", message |-> AppMessage(1, 1, 1)],
          [type |-> "AppReceived", sender |-> "A", message |-> AppMessage(0, 1, 1)],
          [type |-> "AppReceived", sender |-> "A", message |-> AppMessage(1, 0, 1)],
          [type |-> "TellReceived", sender |-> "Z", message |-> TellMessage(NoViewId, Standing(0, LacksName, FALSE, 0, 0))],
          [type |-> "PartReceived", sender |-> "A", message |-> PartMessage(1, 0, [of |-> <<>>, part |-> 0], FALSE, NoneSeen, FALSE)],
          [type |-> "AskReceived", sender |-> "Z", message |-> AskMessage("Z", 1)]}

-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its local state: the state of its application, what it has marked, and the number of its
   last own message that was delivered or reported *)

Observed(m) == [state |-> apps[m].state, marks |-> DOMAIN apps[m].marks, own |-> apps[m].own]
=============================================================================
