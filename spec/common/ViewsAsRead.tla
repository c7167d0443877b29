----------------------------- MODULE ViewsAsRead -----------------------------
(******************************************************************************)
(* Members and views as an SMT solver has them (docs/proof.md): its members   *)
(* are incarnations, present and former, and of a view it has functions. By   *)
(* these operators TLC judges the solver's formulas. `vs`: decided views, for *)
(* their properties do not change, and a step may be the first to install     *)
(* one. `lives`: [address -> its present incarnation]. Of what is not there   *)
(* the solver knows nothing; here it has a value of its own.                  *)
(******************************************************************************)
EXTENDS Views

IncarnationsOf(lives) == UNION {{[address |-> m, life |-> i] : i \in 0 .. lives[m]} : m \in DOMAIN lives}
PresentOf(lives) == {[address |-> m, life |-> lives[m]] : m \in DOMAIN lives}

LifeIn(vs, v, x) == v \in DOMAIN vs /\ Has(vs[v], x.address, x.life)
OccupantIn(vs, v, m) ==
    IF v \in DOMAIN vs /\ m \in DOMAIN vs[v].lives THEN [address |-> m, life |-> vs[v].lives[m]] ELSE [address |-> "", life |-> 0]
CounterIn(vs, v) == IF v \in DOMAIN vs THEN vs[v].id.counter ELSE 0
CreatorIn(vs, v) == IF v \in DOMAIN vs THEN vs[v].id.creator ELSE ""
NumberIn(vs, id) == IF \E v \in DOMAIN vs : vs[v].id = id THEN CHOOSE v \in DOMAIN vs : vs[v].id = id ELSE 0

\* Decided views do not change, and a step decides at most one.
GrowsByOne(vs, after) == Len(after) \in Len(vs) .. Len(vs) + 1 /\ \A v \in DOMAIN vs : after[v] = vs[v]
=============================================================================
