-------------------------------- MODULE Stack --------------------------------
(***************************************************************************)
(* `groupcomm.stack`: several layers, one above the other, as one member.  *)
(* Step(state, event) is the composite step of Composition, taken whole:   *)
(* what is compared with `Stack` is that module.                           *)
(*                                                                         *)
(* The layers are the toys, which the constants of Composition are given.  *)
(* A state is that of all layers, top first. `below`, in an event: values  *)
(* that layers take from below and no layer offers.                        *)
(***************************************************************************)
EXTENDS Composition, Toys

Start(member) == [member |-> member, layers |-> <<StartTop(member), StartMid(member), StartLow(member)>>]

Step(s, e) ==
    LET done == Composite(s.layers, e, e.below)
    IN [outcome |-> done.outcome, state |-> [s EXCEPT !.layers = done.state], effects |-> done.effects]
=============================================================================
