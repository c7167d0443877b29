----------------------- MODULE MCStateTransferHistories ------------------------
(* Bounds of the models in which TLC chooses the views. *)
EXTENDS StateTransferHistories

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>

OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
=============================================================================
