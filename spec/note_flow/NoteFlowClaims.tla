----------------------------- MODULE NoteFlowClaims ----------------------------
(***************************************************************************)
(* The claim on flow control, in three parts: no member keeps more than so *)
(* many bytes for others, no live sender waits for ever, and no sender     *)
(* that waits keeps the group stopped. And witnesses.                      *)
(***************************************************************************)
EXTENDS NoteFlowGroup

Most(set) == CHOOSE x \in set : \A y \in set : x >= y

TypeOK ==
    /\ in_view \subseteq Member /\ news \subseteq in_view /\ stopped \cup handling \subseteq in_view
    /\ stage \in {"run", "stop", "state"}
    /\ \A m \in Member : local[m].member = m /\ local[m].waits \in {"no", "place", "turn"}
    /\ \A m \in in_view : 0 <= heard[m] /\ heard[m] <= at[m] /\ at[m] <= Len(log) /\ vote[m] <= at[m]

-----------------------------------------------------------------------------
(* The bound *)

\* Room is reached but for a byte, and all messages that have a place arrive. A member that has heard no announcement since
\* has the same once more, of the others alone.
Bound ==
    LET n == Cardinality(in_view) IN 2 * (Room - 1) + (2 * n - 1) * Window * Most(Sizes)

\* ACK-04: no member keeps more bytes for others than the bound.
KeptWithinBound == \A m \in in_view : local[m].kept <= Bound

\* What a member counts is what it keeps.
CountsWhatIsKept == \A m \in in_view : local[m].kept = BytesOf(SubSeq(log, heard[m] + 1, at[m]))

\* A place is a message under way, or one that waits for its turn. (All places are given back.)
PlacesAreTaken ==
    \A m \in in_view :
        /\ local[m].own <= Window
        /\ local[m].own = Len(flying[m]) + Cardinality({i \in at[m] + 1 .. Len(log) : log[i].by = m})
                            + (IF local[m].waits = "turn" THEN 1 ELSE 0)

-----------------------------------------------------------------------------
(* Liveness *)

Fairness ==
    /\ WF_vars(Announce) /\ WF_vars(BeginStop) /\ WF_vars(Install) /\ WF_vars(TakeState)
    /\ \A m \in Member :
        /\ WF_vars(TakeTurn(m))
        /\ WF_vars(Order(m))
        /\ WF_vars(Deliver(m))
        /\ WF_vars(ReceiveCredit(m))
        /\ WF_vars(Hear(m))
        /\ WF_vars(Block(m))
        /\ WF_vars(Return(m))

LiveSpec == Spec /\ Fairness

\* ACK-22: a message that waits begins, while its sender is in the view and its application alive.
NoSenderStarves == \A m \in Member : (Takes(m) /\ local[m].waits # "no") ~> (~Takes(m) \/ local[m].waits = "no")

\* AMB-68: a flush comes to its end.
EventuallyRuns == (stage # "run") ~> (stage = "run")

-----------------------------------------------------------------------------
\* A bound of the search, where a member may keep without end.
LogWithin == Len(log) <= 4 /\ \A m \in Member : Len(flying[m]) <= 2

-----------------------------------------------------------------------------
(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

WaitsForPlace == \E m \in in_view : local[m].waits = "place"
WaitsForTurn == \E m \in in_view : local[m].waits = "turn"
TurnComesWhenFull == \E m \in in_view : MayTakeTurn(local[m]) /\ ~HasRoom(local[m])
BoundIsReached == \E m \in in_view : local[m].kept = Bound
WaitsInHandler == \E m \in handling : local[m].waits # "no"
HungIsExcluded == hung # {} /\ in_view \cap hung = {}
SenderLacksCredit == \E m \in in_view : \E x \in DOMAIN local[m].debt : local[m].debt[x] >= Credit
JoinerIsIn == in_view \ First # {}
=============================================================================
