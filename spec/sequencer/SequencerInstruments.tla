------------------------ MODULE SequencerInstruments ------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with. *)
EXTENDS SequencerClaims

LOCAL INSTANCE TLC

SeenLocal(m) == local[m]

SeenMessages ==
    UNION {UNION {{[sender |-> f, message |-> wire[f][t][i]] : i \in DOMAIN wire[f][t]} : t \in Member} : f \in Member}
    \cup UNION {UNION {{[sender |-> s, message |-> log[k][s][i]] : i \in DOMAIN log[k][s]} : s \in DOMAIN log[k]} :
                    k \in DOMAIN views}

\* The view that a member has: a model may have others than those of its script.
SeenOutside(m) == local[m].view

\* Every message that was ever in transit, from its sender and from other members (as no correct peer does). Also with
\* the identifier of a view of the same counter and another creator. DATA of other incarnations of its sender. Every
\* view, such twins of views, and a view without the member. Each call of the application.
Alphabet(messages, outsides) ==
    LET kind == [FORWARD |-> "ForwardReceived", DATA |-> "DataReceived", PLAIN |-> "PlainReceived", REPORT |-> "ReportReceived",
                 FORMED |-> "FormedReceived"]
        received(p) == [type |-> kind[p.message.type], sender |-> p.sender, message |-> p.message]
        stranger == Tag("Z", ViewId(1, "Z"), 1)
        twin(id) == ViewId(id.counter, IF id.creator = "A" THEN "B" ELSE "A")
        twinned == {[p EXCEPT !.message.view_id = twin(@)] : p \in {p \in messages : p.message.type # "PLAIN"}}
        decided == {ViewOf(History[k]) : k \in DOMAIN History} \cup (outsides \ {NoView})
        lives == {v.id : v \in decided} \cup {twin(v.id) : v \in decided}
        aged == {[p EXCEPT !.message.tag.epoch = id] : p \in {p \in messages : p.message.type = "DATA"}, id \in lives}
        records == {<<>>, <<CHOOSE v \in decided : TRUE>>, <<View(1, "Z", <<>>)>>}
        reported == {[type |-> "ReportReceived", sender |-> m, message |-> ReportMessage(v.id, attempts)] :
                        m \in Member \cup {"Z"}, v \in decided, attempts \in records}
        formed == {[type |-> "FormedReceived", sender |-> m, message |-> FormedMessage(id, n)] :
                        m \in Member \cup {"Z"}, id \in {v.id : v \in decided} \cup {NoViewId}, n \in {-1, 0, 1}}
        restored == {[type |-> "Restored", attempts |-> attempts] : attempts \in records}
    IN (IF Majority \/ MaxMisuses > 0 THEN reported \cup formed \cup restored ELSE {}) \cup
       {[type |-> "SendRequested", payload |-> n] : n \in 1 .. 2}
       \cup {[type |-> "UnicastRequested", to |-> m, payload |-> n] : m \in Member, n \in 0 .. 2}
       \cup {[type |-> "ForwardReceived", sender |-> "Z", message |-> ForwardMessage(v.id, stranger, 1)] : v \in decided}
       \cup {[type |-> "DataReceived", sender |-> CoordinatorOf(v), message |-> DataMessage(v.id, stranger, 1)] : v \in decided}
       \cup {[type |-> "ForwardReceived", sender |-> "Z", message |-> ForwardMessage(NoViewId, stranger, 1)],
             [type |-> "DataReceived", sender |-> "Z", message |-> DataMessage(NoViewId, stranger, 1)]}
       \cup {[type |-> "PlainReceived", sender |-> m, message |-> PlainMessage(1)] : m \in Member}
       \cup {[type |-> "ViewInstalled", view |-> v] : v \in decided \cup {[v EXCEPT !.id = twin(@)] : v \in decided}}
       \cup {[type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>)]}
       \cup {[type |-> "Suspected", suspect |-> m] : m \in Member \cup {"Z"}}
       \cup {received(p) : p \in messages \cup twinned \cup aged}
       \cup {received([p EXCEPT !.sender = m]) : p \in messages, m \in {"Z"} \cup Member}

-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its state. A multicast is "C1": its  *)
(* sender and its payload.                                                    *)

LOCAL Name(sender, payload) == sender \o ToString(payload)

Observed(m) ==
    [delivered |-> [i \in DOMAIN aux_delivered[m] |-> Name(aux_delivered[m][i][1], aux_delivered[m][i][2])],
     table |-> [i \in DOMAIN local[m].forward_table |-> Name(m, local[m].forward_table[i].payload)]]
=============================================================================
