-------------------------- MODULE MCSequencerGiven ---------------------------
(***************************************************************************)
(* Models of what SEQUENCER gives, whose ablations violate one part of it  *)
(* alone (`groupcomm mutants --guarantees`).                               *)
(***************************************************************************)
EXTENDS MCSequencer

\* In the place of DeliveredOf: the next message of the sender is delivered.
DeliversNextOf(event, effects, k) ==
    LET passed == SelectSeq(effects, LAMBDA effect : effect.type = "PassUp")
    IN IF event.type # "DataReceived" THEN <<>>
       ELSE [i \in DOMAIN passed |-> <<passed[i].event.sender, passed[i].event.payload + 1, k>>]

\* In the place of Reaches: a message counts as the one with its number in another view.
ReachesInOther(m, u, s, i) ==
    LET others == {k \in DOMAIN log \ {u} : s \in DOMAIN log[k] /\ i \in DOMAIN log[k][s]}
    IN got' = [got EXCEPT ![m] = @ \cup {<<k, s, i>> : k \in IF others = {} THEN {u} ELSE others}]
=============================================================================
