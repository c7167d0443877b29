------------------------- MODULE TotalOrderBroadcast ------------------------
(***************************************************************************)
(* The guarantee that SEQUENCER implements, without coordinators, forwards *)
(* or tables: each view has one order of messages, and who stays delivers  *)
(* it, message by message, all of it before it enters the next view.       *)
(*                                                                         *)
(* A member that does not stay (it will crash, or be left out) may deliver *)
(* what the others never order; it too delivers only what was sent, and    *)
(* nothing twice.                                                          *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    Member,
    Follows,    \* [view -> the view after it; 0: there is none]
    Stays       \* [Member -> [view -> it goes from this view to the last one]]

VARIABLES
    sent,       \* [Member -> how many messages it has sent]
    delivered,  \* [Member -> what it has delivered, in order: <<sender, number, view it was in>>]
    where       \* [Member -> the view that it is in; 0: none]

LOCAL Message(d) == <<d[1], d[2]>>

LOCAL DeliveredIn(m, k) ==
    LET InView(d) == d[3] = k IN SelectSeq(delivered[m], InView)

\* The order of a view: what has been delivered in it by who stays and is furthest.
Order(k) ==
    LET stay == {m \in Member : Stays[m][k]}
        furthest == CHOOSE m \in stay : \A x \in stay : Len(DeliveredIn(x, k)) <= Len(DeliveredIn(m, k))
    IN IF stay = {} THEN <<>> ELSE DeliveredIn(furthest, k)

Ordered(k) == LET order == Order(k) IN {Message(order[i]) : i \in DOMAIN order}

Send(m) ==
    /\ sent' = [sent EXCEPT ![m] = @ + 1]
    /\ delivered' = delivered /\ where' = where

\* Who stays delivers what is next in the order of its view, or, being furthest itself, decides what is next:
\* nothing that is ordered already, and nothing once somebody is in the next view.
InOrder(m, k, message) ==
    LET done == Len(DeliveredIn(m, k)) IN
    IF done < Len(Order(k)) THEN message = Message(Order(k)[done + 1])
    ELSE /\ \A j \in DOMAIN Follows : message \notin Ordered(j)
         /\ \A x \in Member : Stays[x][k] => where[x] <= k

Deliver(m) ==
    LET k == where[m]
        d == delivered'[m][Len(delivered'[m])]
    IN /\ k > 0
       /\ delivered'[m] = Append(delivered[m], <<d[1], d[2], k>>)
       /\ \A x \in Member \ {m} : delivered'[x] = delivered[x]
       /\ d[2] \in 1 .. sent[d[1]]
       /\ \A i \in DOMAIN delivered[m] : Message(delivered[m][i]) # Message(d)
       /\ Stays[m][k] => InOrder(m, k, Message(d))
       /\ sent' = sent /\ where' = where

\* Who was in the view before has delivered all that is ordered in it.
Enter(m) ==
    /\ \A x \in Member \ {m} : where'[x] = where[x]
    /\ IF where[m] > 0
       THEN /\ where'[m] = Follows[where[m]]
            /\ Stays[m][where[m]] => Len(DeliveredIn(m, where[m])) = Len(Order(where[m]))
       ELSE delivered[m] = <<>>
    /\ sent' = sent /\ delivered' = delivered

\* Another incarnation, which has delivered nothing.
Restart(m) ==
    /\ where' = [where EXCEPT ![m] = 0]
    /\ delivered' = [delivered EXCEPT ![m] = <<>>]
    /\ ~Stays[m][where[m]]
    /\ sent' = sent

Init == \A m \in Member : sent[m] = 0 /\ delivered[m] = <<>>

\* (By cases, so that a step is held against one action.)
Next ==
    \E m \in Member :
        IF sent'[m] # sent[m] THEN Send(m)
        ELSE IF where'[m] # where[m] THEN (IF where'[m] = 0 THEN Restart(m) ELSE Enter(m))
        ELSE delivered'[m] # delivered[m] /\ Deliver(m)

Step == [Next]_<<sent, delivered, where>>
=============================================================================
