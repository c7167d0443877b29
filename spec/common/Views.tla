------------------------------- MODULE Views -------------------------------
(***************************************************************************)
(* Views: who is in the group, in order of seniority, and which view it    *)
(* is. The coordinator is the first member (LAY-06: every protocol sees    *)
(* the same view value). A view identifier names the view's creator too,   *)
(* so that two partitions cannot create the same one (AMB-40); only the    *)
(* counter says which of two views of one lineage is the later.            *)
(***************************************************************************)
EXTENDS Naturals, Sequences

ViewId(counter, creator) == [counter |-> counter, creator |-> creator]

\* What a message carries in variants that put no view identifier in it.
NoViewId == ViewId(0, "")

View(counter, members) == [id |-> ViewId(counter, Head(members)), members |-> members]

\* The view of a member that has installed none yet.
NoView == [id |-> NoViewId, members |-> <<>>]

MembersOf(view) == {view.members[i] : i \in DOMAIN view.members}

CoordinatorOf(view) == Head(view.members)
=============================================================================
