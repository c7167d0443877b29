----------------------------- MODULE FifoUnicast -----------------------------
(***************************************************************************)
(* The guarantee of UNICAST over a network that loses, between             *)
(* incarnations that come and go. It is what ReliableUnicast says of two   *)
(* members that stay up, and says besides what becomes of messages when    *)
(* one of them crashes, comes back, or excludes the other.                 *)
(*                                                                         *)
(* No protocol can give more than this:                                    *)
(* - A sender cannot know whether a message for an address was meant for   *)
(*   the former incarnation or for the next. The next incarnation may      *)
(*   receive a run of the messages sent before it began, delivered before  *)
(*   or not. The run has no gap, and leads up to the first message that    *)
(*   was sent after it began.                                              *)
(* - A sender cannot keep messages for ever for a peer that it has         *)
(*   excluded. Messages not acknowledged when it excluded the peer         *)
(*   may be lost. If its view is without the peer, messages may be lost    *)
(*   too that were not acknowledged at a report that the peer is silent.   *)
(*   No others may.                                                        *)
(*                                                                         *)
(* Messages from one address to another are numbered over all incarnations *)
(* of both: a message is its place in `sent`.                              *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANT Member     \* all addresses

VARIABLES
    incarnation,    \* [Member -> the number of its present incarnation]
    sent,           \* [from -> [to -> the sender's incarnation at each message, in the order sent]]
    got,            \* [to -> [from -> <<the receiver's incarnation, the message's number>>, in the order delivered]]
    begun,          \* [to -> [from -> how many messages were sent when the present incarnation of `to` began]]
    closed          \* [from -> [to -> how many had been sent when `from` last excluded `to`, or, having a view without
                    \* `to`, had a report of its silence]]

unicast_vars == <<incarnation, sent, got, begun, closed>>

Conjuncts == {"NotForged", "Once", "InOrder", "IncarnationsInOrder", "NoMessageLost", "ClosedByExclusion", "EndsForOutsiders",
    "Arrives"}

\* The numbers of the messages that the present incarnation of `to` has delivered, in order.
Delivered(to, from) ==
    LET IsPresent(entry) == entry[1] = incarnation[to]
        entries == SelectSeq(got[to][from], IsPresent)
    IN [i \in DOMAIN entries |-> entries[i][2]]

\* The incarnation of the sender in which a message was sent. (One that was not sent, none.)
SentIn(from, to, number) == IF number \in DOMAIN sent[from][to] THEN sent[from][to][number] ELSE 0

-----------------------------------------------------------------------------
(* The conjuncts. They speak of what present incarnations have delivered: of a former one they were true.       *)

\* NotForged: each delivered message was sent by the named sender to this receiver.
NotForged ==
    \A to, from \in Member : \A i \in DOMAIN got[to][from] : got[to][from][i][2] \in DOMAIN sent[from][to]

\* Once: an incarnation delivers a message at most once.
Once ==
    \A to, from \in Member : LET d == Delivered(to, from) IN \A i, j \in DOMAIN d : i # j => d[i] # d[j]

\* InOrder: the messages of a sender's incarnation are delivered in the order in which it sent them.
InOrder ==
    \A to, from \in Member :
        LET d == Delivered(to, from) IN
        \A i, j \in DOMAIN d : (i < j /\ SentIn(from, to, d[i]) = SentIn(from, to, d[j])) => d[i] <= d[j]

\* IncarnationsInOrder: no message of a former incarnation of the sender is delivered after one of a later incarnation.
IncarnationsInOrder ==
    \A to, from \in Member :
        LET d == Delivered(to, from) IN
        \A i, j \in DOMAIN d : i < j => SentIn(from, to, d[i]) <= SentIn(from, to, d[j])

\* NoMessageLost: a message is skipped if a later message of the same incarnation of the sender is delivered. A skipped
\* message was sent before the sender excluded the receiver or had a report of its silence, or before the receiver's incarnation began and before all
\* that it delivered.
NoMessageLost ==
    \A to, from \in Member :
        LET d == Delivered(to, from)
            of(k) == {i \in DOMAIN d : SentIn(from, to, d[i]) = SentIn(from, to, k)}
        IN \A k \in DOMAIN sent[from][to] :
            (/\ \E i \in of(k) : d[i] > k
             /\ \A i \in of(k) : d[i] # k)
            => \/ k <= closed[from][to]
               \/ k <= begun[to][from] /\ \A i \in of(k) : d[i] > k

\* ClosedByExclusion: a sender gives up what was not acknowledged only by a view that excludes the receiver, or while it
\* has a view without the receiver: at a report that the receiver is silent. (`closed` says so; that the protocol keeps
\* everything else is a claim about its own state.)

\* EndsForOutsiders: a sender does not keep messages for ever for a silent peer that its view is without. (Liveness, over a
\* failure detector that reports it.)

\* Arrives: a message is delivered in the end, if both ends stay up and the sender has the receiver in its views, or has no
\* view yet.
\* (Liveness, over a network that is fair.)

-----------------------------------------------------------------------------
(* Steps           *)

Guarantees == NotForged /\ Once /\ InOrder /\ IncarnationsInOrder /\ NoMessageLost

\* One member sends messages, or delivers some.
Grows(sequence, longer) == Len(sequence) <= Len(longer) /\ SubSeq(longer, 1, Len(sequence)) = sequence

Send(from) ==
    /\ UNCHANGED <<incarnation, got, begun, closed>>
    /\ \A m \in Member \ {from} : sent'[m] = sent[m]
    /\ \A to \in Member :
        /\ Grows(sent[from][to], sent'[from][to])
        /\ \A k \in Len(sent[from][to]) + 1 .. Len(sent'[from][to]) : sent'[from][to][k] = incarnation[from]

Deliver(to) ==
    /\ UNCHANGED <<incarnation, sent, begun, closed>>
    /\ \A m \in Member \ {to} : got'[m] = got[m]
    /\ \A from \in Member :
        /\ Grows(got[to][from], got'[to][from])
        /\ \A i \in Len(got[to][from]) + 1 .. Len(got'[to][from]) : got'[to][from][i][1] = incarnation[to]
    /\ Guarantees'

\* A view excludes some members, or a report says that outsiders are silent: what was sent to them may be lost.
Close(from) ==
    /\ UNCHANGED <<incarnation, sent, got, begun>>
    /\ \A m \in Member \ {from} : closed'[m] = closed[m]
    /\ \A to \in Member : closed'[from][to] \in {closed[from][to], Len(sent[from][to])}

\* Another incarnation of m. (What it did not send again itself is lost with it.)
Begin(m) ==
    /\ UNCHANGED <<sent, got, closed>>
    /\ incarnation' = [incarnation EXCEPT ![m] = @ + 1]
    /\ begun' = [begun EXCEPT ![m] = [from \in Member |-> Len(sent[from][m])]]

Init ==
    /\ incarnation = [m \in Member |-> 0]
    /\ sent = [from \in Member |-> [to \in Member |-> <<>>]]
    /\ got = [to \in Member |-> [from \in Member |-> <<>>]]
    /\ begun = [to \in Member |-> [from \in Member |-> 0]]
    /\ closed = [from \in Member |-> [to \in Member |-> 0]]

\* (By cases, so that a step is held against one action.)
Next ==
    IF incarnation' # incarnation THEN \E m \in Member : Begin(m)
    ELSE IF sent' # sent THEN \E m \in Member : Send(m)
    ELSE IF got' # got THEN \E m \in Member : Deliver(m)
    ELSE \E m \in Member : Close(m)

Spec == Init /\ [][Next]_unicast_vars
=============================================================================
