----------------------------- MODULE NoteAckClaims -----------------------------
(***************************************************************************)
(* Claims about ACK: what the sender keeps, what receivers deliver,        *)
(* bounds, liveness; and witnesses.                                        *)
(***************************************************************************)
EXTENDS NoteAckGroup

TypeOK ==
    /\ kept \cup gave_up \subseteq 0 .. Sends
    /\ \A m \in Member : local[m].member = m /\ local[m].held \in 0 .. Sends /\ got[m] \cup over[m] \subseteq 0 .. Sends
    /\ spent \in [{"sends", "lost", "crashes", "misuses"} -> Nat]

-----------------------------------------------------------------------------
(* The sender's store *)

\* ACK-03, ACK-13: a message that the sender keeps no more has reached every receiver of its list, or was given up.
FreedWhenDoneStep ==
    \A n \in kept \ kept' :
        \/ "A" \notin up'
        \/ n \in gave_up'
        \/ \A m \in (local'["A"].view \cap First \cap up) \ {"A"} : n < NextOf(m) \/ n \in got[m]
FreedWhenDone == [][FreedWhenDoneStep]_vars

\* ACK-18: no receiver passes over a message that the sender still keeps.
NoSkipWhileKept == \A m \in Receivers : over[m] \cap kept = {}

\* ACK-16: the sender gives nothing up where it announces as often as copies are lost, and no receiver is deaf.
NeverGivesUp == gave_up = {}

\* ACK-21: no member outside the view is awaited.
AwaitedAreMembers == \A n \in DOMAIN local["A"].pending : local["A"].pending[n] \subseteq local["A"].view

\* ACK-04, ACK-22: flow control bounds what the sender keeps.
StoreWithinCredit == Credit > 0 => Cardinality(kept) <= Credit

-----------------------------------------------------------------------------
(* Deliveries of receivers *)

\* ACK-08, ACK-20: in rising order.
DeliveredIncreases == \A m \in Receivers : \A i \in 1 .. Len(passed[m]) - 1 : passed[m][i] < passed[m][i + 1]

\* ACK-19: a message that was passed over is not delivered.
SkippedIsNotDelivered == \A m \in Receivers : SetOf(passed[m]) \cap over[m] = {}

\* Virtual synchrony: survivors have delivered the same of a sender that is gone, once nothing moves.
SurvivorsAgree ==
    ("A" \notin up /\ copies = {} /\ \A m \in Receivers \cap up : Obtainable(m) = {} /\ NextOf(m) \notin got[m]) =>
        \A x, y \in Receivers \cap up : SetOf(passed[x]) = SetOf(passed[y])

-----------------------------------------------------------------------------
(* Liveness *)

Fairness ==
    \A m \in Member :
        /\ WF_vars(AppSends(m))
        /\ WF_vars(ReceiveAck(m))
        /\ SF_vars(AckTimeoutFires(m))
        /\ SF_vars(BlockTimeoutFires(m))
        /\ WF_vars(ReceiveCopy(m))
        /\ WF_vars(Deliver(m))
        /\ WF_vars(ServeFetch(m))
        /\ WF_vars(ReceiveAnnouncement(m))
        /\ SF_vars(SkipTimeoutFires(m))
        /\ WF_vars(InstallView(m))

LiveSpec == Spec /\ Fairness

\* ACK-03: the sender frees everything in the end.
EventuallyFreed == <>[](kept = {})

\* ACK-22: nothing is held back for ever.
EventuallySent == <>[](local["A"].held = 0)

\* ACK-07: every receiver delivers everything.
EventuallyDelivered == \A n \in 0 .. Sends - 1 : <>(\A m \in Receivers : n \in SetOf(passed[m]))

-----------------------------------------------------------------------------
(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

MessageIsFreed == spent.sends > Cardinality(kept)
MessageIsFetched == \E c \in copies : c[2] \in {r[1] : r \in asked} \/ spent.lost > 0
MessageIsGivenUp == gave_up # {}
MessageIsSkipped == \E m \in Receivers : over[m] # {}
MessageIsHeld == local["A"].held > 0
SurvivorServes == "A" \notin up /\ \E m \in Receivers : Obtainable(m) # {}
=============================================================================
