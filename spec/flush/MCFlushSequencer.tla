-------------------------- MODULE MCFlushSequencer --------------------------
(* Bounds of the models of SEQUENCER over FLUSH. *)
EXTENDS FlushSequencer

JustA == <<"A">>
NoneApart == <<>>
BCApart == <<<<"B", "C">>>>

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>

NoCasts == [m \in Member |-> 0]
OneOf(set) == [m \in Member |-> IF m \in set THEN 1 ELSE 0]
OneOfB == OneOf({"B"})
OneOfC == OneOf({"C"})
OneOfAAndB == OneOf({"A", "B"})
OneOfBAndC == OneOf({"B", "C"})
=============================================================================
