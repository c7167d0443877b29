------------------------------ MODULE MCUnicast -------------------------------
(* Bounds of the UNICAST models: who sends to whom, and how much is delivered at most. *)
EXTENDS UnicastDefects

AToB == {<<"A", "B">>}
BothWays == {<<"A", "B">>, <<"B", "A">>}

\* A network that remembers, and a member that delivers again, would have no end.
FewDeliveries == \A to, from \in Member : Len(got[to][from]) <= 6
=============================================================================
