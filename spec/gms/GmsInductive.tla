---------------------------- MODULE GmsInductive -----------------------------
(******************************************************************************)
(* ViewIdentifiers, where TLC judges it by a group that runs GMS.             *)
(*                                                                            *)
(* Scope (InScope). Where an address begins again the group keeps             *)
(* CountersArePassed. A group without false suspicions does not ask for it:   *)
(* there one branch of views stands in its place.                             *)
(******************************************************************************)
EXTENDS GmsClaims

Ids == INSTANCE ViewIdentifiers

InScope == MaxRestarts = 0 \/ MaxFalseSuspicions > 0
ForestAndInvariant == InScope => Ids!Inductive
=============================================================================
