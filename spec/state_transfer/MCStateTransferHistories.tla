----------------------- MODULE MCStateTransferHistories ------------------------
(* Bounds of the models in which TLC chooses the views. *)
EXTENDS StateTransferHistories

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>
JustA == <<"A">>

\* In the second view A is alone.
AParts == Len(views) > 1 => views[2].members = <<"A">>

OneOfB == [m \in Member |-> IF m = "B" THEN 1 ELSE 0]
OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
=============================================================================
