----------------------- MODULE MCStateTransferHistories ------------------------
(* Bounds of the models in which TLC chooses the views. *)
EXTENDS StateTransferHistories

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>
JustA == <<"A">>

\* First A is alone, and then B coordinates a view with A.
AParts == (Len(views) > 1 => views[2].members = <<"A">>) /\ (Len(views) > 2 => views[3].members = <<"B", "A">>)

\* The second view has all three, and A coordinates it.
AllGo == Len(views) > 1 => views[2].members[1] = "A" /\ Len(views[2].members) = 3

OneOfB == [m \in Member |-> IF m = "B" THEN 1 ELSE 0]
OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
=============================================================================
