------------------------------- MODULE MCFlush ------------------------------
(* Bounds. *)
EXTENDS FlushDefects

JustA == <<"A">>
AB == <<"A", "B">>
ABC == <<"A", "B", "C">>
CBA == <<"C", "B", "A">>
ABCD == <<"A", "B", "C", "D">>

JustB == <<"B">>
BA == <<"B", "A">>
NoneApart == <<>>
BApart == <<<<"B">>>>
CApart == <<<<"C">>>>
BCApart == <<<<"B", "C">>>>
CBApart == <<<<"C", "B">>>>
DApart == <<<<"D">>>>

\* In the place of LayerLacks: a member has its own multicast at once, or late.
OwnComesAtOnce == {"InItsView", "OfItsIncarnation"}
OwnComesLate == {"InItsView", "OfItsIncarnation", "OwnAtOnce"}

OneOf(x) == [m \in Member |-> IF m = x THEN 1 ELSE 0]
NoCasts == [m \in Member |-> 0]
OneOfA == OneOf("A")
OneOfB == OneOf("B")
OneOfC == OneOf("C")
OneOfAAndB == [m \in Member |-> IF m \in {"A", "B"} THEN 1 ELSE 0]
TwoOfB == [m \in Member |-> IF m = "B" THEN 2 ELSE 0]

\* In the place of MayAsk: each asks once, in order of seniority, all before any member is stopped by another.
AllAtOnce(m) ==
    /\ spent.states = Cardinality({x \in Requesters : Before(local[m], x, m)})
    /\ \A x \in Member : local[x].owner \in {"", x}

\* ... or B when A is in the middle of stopping for C.
BOvertakesC(m) == IF m = "C" THEN spent.states = 0 ELSE local["A"].owner = "C" /\ local["A"].owes

\* In the place of MayDoubt: A suspects C, and then B, which has reported to A, suspects A.
InTurn(m, x) ==
    \/ m = "A" /\ x = "C" /\ spent.false = 0
    \/ m = "B" /\ x = "A" /\ spent.false = 1 /\ local[m].owner = x /\ local[m].frozen

\* In the place of MayDoubt: who has the group stopped suspects C; or who was overtaken at A, and has yet to hear of
\* it, suspects B.
CWhenStopped(m, x) == IsStopped(local[m]) /\ x = "C"
BWhoOvertook(m, x) == Running(local[m]) /\ x = "B" /\ local["A"].owner = x
=============================================================================
