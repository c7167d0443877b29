------------------------------ MODULE MCUnicast -------------------------------
(* Bounds of the UNICAST models: senders and receivers, and how much is       *)
(* delivered at most.                                                         *)
EXTENDS UnicastDefects

AToB == {<<"A", "B">>}
\* B is the first incarnation of a name, and B#2 the second.
LivesToA == {<<"B", "A">>, <<"B#2", "A">>}
LivesAndA == LivesToA \cup {<<"A", "B">>, <<"A", "B#2">>}
AToBothLives == {<<"A", "B">>, <<"B#2", "A">>}
AToTwo == {<<"A", "B">>, <<"A", "C">>}
AllToA == {<<m, "A">> : m \in Member \ {"A"}}
BothWays == {<<"A", "B">>, <<"B", "A">>}

\* A network that remembers, and a member that delivers again, would have no end.
FewDeliveries == \A to, from \in Member : Len(got[to][from]) <= 6
=============================================================================
