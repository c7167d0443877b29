-------------------------------- MODULE Once --------------------------------
(* The protocol that a test adds by CONTRIBUTING's steps: a member passes each numbered note of a sender up once. *)
EXTENDS Steps, Integers

CONSTANT Most   \* the highest number that a member may send

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
Dedup == TRUE \* a note that is not higher than the highest of its sender is ignored

NoteMessage(number) == [type |-> "NOTE", number |-> number]

Start(member) == [member |-> member, sent |-> 0, highest |-> [m \in {} |-> 0]]

Highest(s, sender) == IF sender \in DOMAIN s.highest THEN s.highest[sender] ELSE 0

SendRequested(s, e) ==
    IF s.sent = Most THEN LocalError(s)
    ELSE Handled([s EXCEPT !.sent = @ + 1], <<Multicast(NoteMessage(s.sent + 1))>>)

NoteReceived(s, e) ==
    LET number == e.message.number IN
    IF number < 1 THEN RemoteError(s)
    ELSE IF Dedup /\ number <= Highest(s, e.sender) THEN Ignored(s)
    ELSE Handled([s EXCEPT !.highest = [m \in DOMAIN @ \cup {e.sender} |-> IF m = e.sender THEN number ELSE @[m]]],
                 <<PassUp([type |-> "Deliver", sender |-> e.sender, number |-> number])>>)

Step(s, e) ==
    CASE e.type = "SendRequested" -> SendRequested(s, e)
      [] e.type = "NoteReceived" -> NoteReceived(s, e)
=============================================================================
