----------------------------- MODULE MCSafeGiven -----------------------------
(***************************************************************************)
(* Models of what SAFE gives, whose ablations violate one part of it alone *)
(* (`groupcomm mutants --guarantees`).                                     *)
(***************************************************************************)
EXTENDS MCSafe

\* A joins, and is left out of the next view.
JoinerGoes ==
    <<FirstView(1, "B", <<"B">>), Next1(2, "B", <<"B", "A">>, {1}, {"A"}), Next1(3, "B", <<"B">>, {2}, {})>>

\* C goes on without A, and D joins it. D goes on with A alone.
MeetsTheJoiner ==
    <<FirstView(1, "C", <<"C", "A">>), Next1(2, "D", <<"D", "C">>, {1}, {"D"}), Next1(3, "A", <<"A", "D">>, {1, 2}, {})>>

-----------------------------------------------------------------------------
\* In the place of MemberStep: what is delivered is safe when a later view is formed.
TakesLaterFormedStep(s, e) ==
    IF e.type = "ViewFormed" /\ e.view_id # s.view.id /\ Own(s) > s.told
    THEN Handled([s EXCEPT !.formed = e.view_id, !.told = Own(s)], <<PassUp(e), SafeUpTo(Own(s))>>) ELSE Step(s, e)

\* In the place of Undelivered: the first message of a sender is lost on its way to the others.
LosesFirst(m) ==
    LET k == installed[m]
    IN {i \in had[m] + 1 .. Len(order[k]) : ~HasDelivered(m, order[k][i]) /\ (order[k][i][1] = m \/ order[k][i][2] > 1)}
=============================================================================
