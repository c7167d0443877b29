----------------------------- MODULE MCGmsFlush -----------------------------
(* Bounds of the models of GMS under FLUSH. *)
EXTENDS GmsFlush, GmsDefects

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>

OneOfAD == [m \in Member |-> IF m \in {"A", "D"} THEN 1 ELSE 0]
OneOfC == [m \in Member |-> IF m = "C" THEN 1 ELSE 0]
=============================================================================
