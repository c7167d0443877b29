--------------------------- MODULE MCFlushNakack ----------------------------
(* Bounds of the models of FLUSH over NAKACK. *)
EXTENDS FlushNakack

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>
NoneApart == <<>>

Of(set, n) == [m \in Member |-> IF m \in set THEN n ELSE 0]
OneOfA == Of({"A"}, 1)
OneOfB == Of({"B"}, 1)
OneOfC == Of({"C"}, 1)
TwoOfB == Of({"B"}, 2)
TwoOfC == Of({"C"}, 2)
=============================================================================
