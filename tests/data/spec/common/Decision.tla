------------------------------ MODULE Decision ------------------------------
(* A member that has decided has decided for good. *)
VARIABLE decided

Init == decided = {}

Next == decided \subseteq decided'

Spec == Init /\ [][Next]_decided
=============================================================================
