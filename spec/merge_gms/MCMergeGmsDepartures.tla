------------------------- MODULE MCMergeGmsDepartures -------------------------
(* Merging over GMS and members that leave in good order: what SEQUENCER's option Majority relies on. *)
EXTENDS MCMergeGms

Left == INSTANCE Departures WITH Off <- {}
CreatorOutsideHasLeft == Left!LeaversAreGone

\* In the place of GMS's Creator: a view names a member that it excludes, and that may live on.
ExcludedIsCreator(s, members) ==
    LET excluded == MembersOf(s.decision) \ MembersOf([members |-> members])
    IN IF excluded = {} THEN s.member ELSE CHOOSE m \in excluded : TRUE
=============================================================================
