-------------------------------- MODULE Stack --------------------------------
(***************************************************************************)
(* `groupcomm.stack`: several layers, one above the other, as one member.  *)
(* Step(state, event) is the composite step of Composition, taken whole:   *)
(* what is compared with `Stack` is that module.                           *)
(*                                                                         *)
(* The layers are given to it (module Toys has small ones, MCStack gives   *)
(* them). A state is that of all layers, top first. `below`, in an event:  *)
(* values that layers take from below and no layer tells.                  *)
(***************************************************************************)
EXTENDS Composition

CONSTANT StartOf(_, _)  \* the state of a layer at a member, before its first event

Start(member) == [member |-> member, layers |-> [i \in 1 .. Lowest |-> StartOf(i, member)]]

Step(s, e) ==
    LET done == Composite(s.layers, e, e.below)
    IN [outcome |-> done.outcome, state |-> [s EXCEPT !.layers = done.state], effects |-> done.effects]
=============================================================================
