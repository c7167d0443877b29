------------------------------- MODULE MCFlush ------------------------------
(* Bounds. *)
EXTENDS FlushDefects

JustA == <<"A">>
AB == <<"A", "B">>
ABC == <<"A", "B", "C">>
ABCD == <<"A", "B", "C", "D">>

JustB == <<"B">>
BA == <<"B", "A">>
NoneApart == <<>>
BApart == <<<<"B">>>>
CApart == <<<<"C">>>>
BCApart == <<<<"B", "C">>>>
CBApart == <<<<"C", "B">>>>
DApart == <<<<"D">>>>

OneOf(x) == [m \in Member |-> IF m = x THEN 1 ELSE 0]
NoCasts == [m \in Member |-> 0]
OneOfA == OneOf("A")
OneOfB == OneOf("B")
OneOfC == OneOf("C")
TwoOfB == [m \in Member |-> IF m = "B" THEN 2 ELSE 0]
=============================================================================
