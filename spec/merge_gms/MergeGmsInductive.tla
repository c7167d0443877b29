-------------------------- MODULE MergeGmsInductive --------------------------
(***************************************************************************)
(* ViewIdentifiers, where TLC judges it by a group in which merging runs   *)
(* over GMS.                                                               *)
(***************************************************************************)
EXTENDS MergeGmsClaims

Ids == INSTANCE ViewIdentifiers

InScope == TRUE
ForestAndInvariant == InScope => Ids!Inductive
=============================================================================
