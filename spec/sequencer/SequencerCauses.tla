--------------------------- MODULE SequencerCauses ---------------------------
(******************************************************************************)
(* Causal delivery: no member delivers a multicast before another that the    *)
(* sender had delivered when it sent the first. The group is SequencerGroup,  *)
(* and `causes` remembers what the sender had delivered.                      *)
(*                                                                            *)
(* One coordinator orders a message before every answer to it. Across views   *)
(* the cut has all that a surviving sender has delivered, so the order holds  *)
(* at all that are on one branch (CausalDelivery). After a partition it need  *)
(* not. A and B have delivered C's message, which C lacks and sends again in  *)
(* the merged view. B's answer may be ordered there before it. A and B drop   *)
(* the duplicate, and C delivers the answer first.                            *)
(******************************************************************************)
EXTENDS MCSequencer

VARIABLE causes     \* the pairs <<message, a message that its sender had delivered when it sent the first>>

cause_view == <<view, causes>>

CauseInit == Init /\ causes = {}

CauseNext ==
    /\ Next
    /\ causes' = causes \cup
        UNION {{<<<<m, sent'[m]>>, c>> : c \in DeliveredBy(m)} : m \in {m \in Member : sent'[m] # sent[m]}}

CauseSpec == CauseInit /\ [][CauseNext]_<<vars, causes>>

\* No member delivers a message before one of its causes. (It may lack the cause: a joiner does.)
CausalDelivery ==
    \A m \in InGroup : \A i, j \in DOMAIN aux_delivered[m] :
        i < j => <<Message(aux_delivered[m][i]), Message(aux_delivered[m][j])>> \notin causes

\* A member has delivered an answer, and its cause.
AnswerIsDelivered ==
    \E m \in InGroup : \E i, j \in DOMAIN aux_delivered[m] :
        <<Message(aux_delivered[m][i]), Message(aux_delivered[m][j])>> \in causes

\* ... in two views: what answers is ordered again after a failover.
AnswerIsOrderedAgain ==
    \E m \in InGroup : \E i, j \in DOMAIN aux_delivered[m] :
        /\ <<Message(aux_delivered[m][i]), Message(aux_delivered[m][j])>> \in causes
        /\ aux_delivered[m][j][3] < aux_delivered[m][i][3]
=============================================================================
