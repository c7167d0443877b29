--------------------------- MODULE MCMergeGmsFlush ---------------------------
(* Bounds of the models of merging over GMS under FLUSH. *)
EXTENDS MergeGmsFlush, MCMergeGms

ApartAB == <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>)>>
ThreeTogether == <<FirstView(1, "A", <<"A", "B", "C">>)>>
ThreeApart == <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>), FirstView(1, "C", <<"C">>)>>

NoMulticasts == [m \in Member |-> 0]
OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
OneOfC == [m \in Member |-> IF m = "C" THEN 1 ELSE 0]
=============================================================================
