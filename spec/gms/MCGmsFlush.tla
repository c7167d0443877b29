----------------------------- MODULE MCGmsFlush -----------------------------
(* Bounds of the models of GMS under FLUSH. *)
EXTENDS GmsFlush, GmsDefects

JustA == <<"A">>
AB == <<"A", "B">>
ABC == <<"A", "B", "C">>

OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
OneOfAD == [m \in Member |-> IF m \in {"A", "D"} THEN 1 ELSE 0]
OneOfD == [m \in Member |-> IF m = "D" THEN 1 ELSE 0]
OneOfC == [m \in Member |-> IF m = "C" THEN 1 ELSE 0]
=============================================================================
