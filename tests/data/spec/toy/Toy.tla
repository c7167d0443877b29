-------------------------------- MODULE Toy ---------------------------------
(* A protocol to test the tools with: a member commits once all have voted. *)
EXTENDS Steps, FiniteSets

CONSTANT Member

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
WaitForAll == TRUE \* a member commits when all have voted, not with the first vote
KeepCommit == TRUE \* a second vote of the same member is ignored

Start(member) == [member |-> member, voted |-> FALSE, heard_from |-> {}, committed |-> FALSE]

Decide(s, e) ==
    IF s.voted THEN LocalError(s)
    ELSE Handled([s EXCEPT !.voted = TRUE], <<Multicast([type |-> "VOTE"])>>)

\* TOY-01, TOY-02
VoteReceived(s, e) ==
    IF e.sender \notin Member THEN RemoteError(s)
    ELSE IF e.sender \in s.heard_from /\ KeepCommit THEN Ignored(s)
    ELSE IF e.sender \in s.heard_from THEN Handled([s EXCEPT !.committed = FALSE], <<>>)
    ELSE
    LET heard == s.heard_from \cup {e.sender}
    IN Handled([s EXCEPT !.heard_from = heard, !.committed = @ \/ (WaitForAll => heard = Member)], <<>>)

Step(s, e) ==
    CASE e.type = "Decide" -> Decide(s, e)
      [] e.type = "VoteReceived" -> VoteReceived(s, e)
=============================================================================
