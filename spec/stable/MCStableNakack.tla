--------------------------- MODULE MCStableNakack ----------------------------
(* Bounds of the models of STABLE over NAKACK. *)
EXTENDS StableNakack

PairScript == <<FirstView(1, "A", <<"A", "B">>)>>
ThreeScript == <<FirstView(1, "A", <<"A", "B", "C">>)>>
OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
TwoOfA == [m \in Member |-> IF m = "A" THEN 2 ELSE 0]
OneOfC == [m \in Member |-> IF m = "C" THEN 1 ELSE 0]

\* Each member has promised its digest to a joiner.
PromisedToZ == {<<m, "Z">> : m \in Member}
=============================================================================
