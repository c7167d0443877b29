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
=============================================================================
