--------------------------- MODULE MCFlushStable ----------------------------
(* Bounds of the models of FLUSH over STABLE. *)
EXTENDS FlushStable

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>
NoneApart == <<>>

OneOfB == [m \in Member |-> IF m = "B" THEN 1 ELSE 0]
OneOfAAndB == [m \in Member |-> IF m \in {"A", "B"} THEN 1 ELSE 0]

\* STABLE messages in each view, by its counter.
Votes2 == <<2>>
Votes3 == <<3>>
VotesInTheNext == <<0, 2>>
=============================================================================
