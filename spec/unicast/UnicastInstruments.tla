-------------------------- MODULE UnicastInstruments --------------------------
(***************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps *)
(* for conformance.                                                        *)
(***************************************************************************)
EXTENDS UnicastClaims

(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

SomethingDelivered == \E to, from \in Member : got[to][from] # <<>>
WaitsBehindGap == \E m \in Member : \E p \in DOMAIN local[m].receives : local[m].receives[p].ahead # <<>>
WindowReplaced ==
    \E m \in Member : \E p \in DOMAIN local[m].receives :
        local[m].receives[p].connection.number > 1 /\ Len(got[m][p]) > 1
DeliveredToTwoIncarnations ==
    \E to, from \in Member : \E i, j \in DOMAIN got[to][from] :
        got[to][from][i][2] = got[to][from][j][2] /\ got[to][from][i][1] # got[to][from][j][1]
LostByExclusion ==
    \E to, from \in Member :
        LET d == FifoUnicast!Delivered(to, from) IN
        \E k \in 1 .. closed[from][to] : k \notin Range(d) /\ \E i \in DOMAIN d : d[i] > k
TwoIncarnationsOfTheSender ==
    \E to, from \in Member : \E i, j \in DOMAIN got[to][from] :
        FifoUnicast!SentIn(from, to, got[to][from][i][2]) # FifoUnicast!SentIn(from, to, got[to][from][j][2])
LateForTheNextIncarnation ==
    \E p \in net : p.message.type = "DATA" /\ p.message.receiver \in 0 .. incarnation[p.to] - 1
BothDirections == \E a, b \in Member : got[a][b] # <<>> /\ got[b][a] # <<>>

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]
SeenMessages == {[sender |-> p.sender, message |-> p.message] : p \in net}
SeenOutside(m) == 0

\* Every message that was ever in the network, from each member, and (as no correct peer does) with numbers that are
\* invalid or were not reached. The changed ones are those of first connections, and of DATA those for first incarnations:
\* the others give the same rows, and would be half of all rows. A stranger sends what is in first connections. Views with
\* this member and without. Each timer, late or not. Each call, allowed or not.
Alphabet(messages, outsides) ==
    LET said == {p.message : p \in messages}
        changed(message) ==
            IF message.type = "SEND_FIRST_SEQNO" THEN {[message EXCEPT !.incarnation = n] : n \in {-1, 0, 1, 2}}
            ELSE {[message EXCEPT !.connection.incarnation = n] : n \in {-1, 1, 2}}
                 \cup {[message EXCEPT !.connection.number = n] : n \in {0, 2, 9}}
                 \cup {[message EXCEPT !.seqno = n] : n \in {-1, 0, 9}}
                 \cup (IF message.type = "DATA" THEN {[message EXCEPT !.receiver = n] : n \in {-2, -1, 1, 2}}
                       ELSE {[message EXCEPT !.incarnation = n] : n \in {-1, 1, 2}})
        isFirst(message) == message.type # "SEND_FIRST_SEQNO" => message.connection = Connection(0, 1)
        first == {message \in said : isFirst(message)}
        all == said \cup UNION {changed(message) : message \in {m \in first : m.type = "DATA" => m.receiver = 0}}
    IN {ReceivedEvent([sender |-> x, message |-> message]) : x \in Member, message \in all}
       \cup {ReceivedEvent([sender |-> "Z", message |-> message]) : message \in first}
       \cup {[type |-> "UnicastRequested", to |-> m, payload |-> n] : m \in Member \cup {"Z"}, n \in {1, 2}}
       \cup {[type |-> "RetransmitTimeout", number |-> n] : n \in 0 .. 3}
       \cup {[type |-> "ViewInstalled", view |-> v] :
                v \in UNION {ViewsOf(m) : m \in Member} \cup {View(3, "Z", <<"Z">>), View(3, "Z", <<"A", "Z">>)}}
       \cup {[type |-> "SilenceReported", peer |-> m] : m \in Member \cup {"Z"}}
       \cup {[type |-> "IncarnationBegins", incarnation |-> n] : n \in -1 .. 2}

-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its state: the messages of each      *)
(* sender that its present incarnation has delivered                          *)

Observed(m) == [got |-> [from \in Member \ {m} |-> FifoUnicast!Delivered(m, from)]]
=============================================================================
