----------------------- MODULE MCStateTransferHistories ------------------------
(* Bounds of the models in which TLC chooses the views. *)
EXTENDS StateTransferHistories

AB == <<"A", "B">>
JustA == <<"A">>

OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
=============================================================================
