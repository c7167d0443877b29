---------------------------- MODULE MCGmsDepartures ---------------------------
(* GMS and members that leave in good order: what SEQUENCER's option Majority relies on. *)
EXTENDS MCGms

Left == INSTANCE Departures WITH Off <- {}
CreatorOutsideHasLeft == Left!LeaversAreGone

\* In the place of Creator: a view names a member that it excludes, and that may live on.
ExcludedIsCreator(s, members) ==
    LET excluded == MembersOfView(s) \ MembersOf([members |-> members])
    IN IF excluded = {} THEN s.member ELSE CHOOSE m \in excluded : TRUE
=============================================================================
