--------------------------- MODULE SafeInstruments ---------------------------
(***************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps *)
(* for conformance.                                                        *)
(***************************************************************************)
EXTENDS SafeClaims

(* Witnesses: each must be reachable, or the claims say less than they seem to. *)

SafeByAcks == \E m \in Member : \E n \in DOMAIN told[m] : told[m][n].safe /\ Len(told[m][n].way) = 1 /\ Len(views[told[m][n].way[1]].members) > 1
SafeByView == \E m \in Member : \E n \in DOMAIN told[m] : told[m][n].safe /\ Len(told[m][n].way) > 1
SafeByAnswers ==
    \E m \in Member : \E n \in DOMAIN told[m] :
        LET way == told[m][n].way IN told[m][n].safe /\ Len(way) > 1 /\ Cardinality(views[way[Len(way)]].preds) > 1
NobodyKnows == \E m \in Member : \E n \in DOMAIN told[m] : ~told[m][n].safe
AckIsEarly == \E m \in up : \E x \in DOMAIN local[m].acks : local[m].acks[x].view_id.counter > local[m].view.id.counter
VotesByRecord == \E k \in formed : k > 1 /\ \E m \in up : installed[m] = k /\ \E b \in Member : IsFormer(b, m)

-----------------------------------------------------------------------------
(* Local steps *)

SeenLocal(m) == local[m]
SeenMessages ==
    {[sender |-> f, message |-> wire[f][t][i]] : <<f, t, i>> \in {x \in Member \X Member \X (1 .. 3) : x[3] \in DOMAIN wire[x[1]][x[2]]}}
    \cup UNION {{[sender |-> order[k][i][1], message |-> DataMessage(order[k][i][2], order[k][i][2])] : i \in DOMAIN order[k]} : k \in DOMAIN order}
SeenOutside(m) == {ViewEvent(History[k]) : k \in {k \in DOMAIN History : m \in DOMAIN History[k].lives}}

Alphabet(messages, outsides) ==
    {[type |-> IF p.message.type = "ACK" THEN "AckReceived" ELSE "DataReceived", sender |-> x, message |-> p.message] : p \in messages, x \in Member}
    \cup UNION outsides
    \cup {[type |-> "ViewFormed", view_id |-> v.view.id, before |-> 0] : v \in UNION outsides}
    \cup {[type |-> "SendRequested", payload |-> 9],
          [type |-> "DataReceived", sender |-> "Z", message |-> DataMessage(1, 1)],
          [type |-> "DataReceived", sender |-> "A", message |-> DataMessage(0, 1)],
          [type |-> "AckReceived", sender |-> "Z", message |-> AckMessage(ViewId(1, "A"), 0)],
          [type |-> "AckReceived", sender |-> "B", message |-> AckMessage(ViewId(1, "A"), 99)],
          [type |-> "AckReceived", sender |-> "B", message |-> AckMessage(ViewId(9, "B"), 0)],
          [type |-> "AckReceived", sender |-> "B", message |-> AckMessage(NoViewId, 0)]}

-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its local state: what it was told of its messages *)

Observed(m) == [safe |-> [n \in DOMAIN told[m] |-> told[m][n].safe]]
=============================================================================
