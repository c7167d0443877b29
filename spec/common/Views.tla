------------------------------- MODULE Views -------------------------------
(***************************************************************************)
(* Views: who is in the group, in order of seniority, and which view it    *)
(* is. The coordinator is the first member (LAY-06: every protocol sees    *)
(* the same view value).                                                   *)
(*                                                                         *)
(* A view is known by its identifier, counter and creator (AMB-40). The    *)
(* counter alone does not name it: two partitions, or two members that     *)
(* each believe the other gone, decide views with one counter. The creator *)
(* is not always the first member: a coordinator that leaves decides the   *)
(* view without itself, and a view made first = creator would then get the *)
(* identifier of its successor's.                                          *)
(* Along the path of one member counters rise, so for its own views, and   *)
(* only for those, the counter says which is the later.                    *)
(***************************************************************************)
EXTENDS Naturals, Sequences

ViewId(counter, creator) == [counter |-> counter, creator |-> creator]

\* What a message carries in variants that put no view identifier in it.
NoViewId == ViewId(0, "")

View(counter, creator, members) == [id |-> ViewId(counter, creator), members |-> members]

\* The view of a member that has installed none yet.
NoView == [id |-> NoViewId, members |-> <<>>]

MembersOf(view) == {view.members[i] : i \in DOMAIN view.members}

CoordinatorOf(view) == Head(view.members)

-----------------------------------------------------------------------------
(* Decided views: what the membership service knows of a view, and members do not see (module Membership) *)

\* What is decided. `preds`: the numbers of the views that it follows. `lives`: [member -> which life of it].
\* `joins`: the members whose life begins with this view.
DecidedView(id, members, preds, lives, joins) ==
    [id |-> id, members |-> members, preds |-> preds, lives |-> lives, joins |-> joins]

\* A view that follows none. Everybody in it is in its first life.
FirstView(counter, creator, members) ==
    LET set == {members[i] : i \in DOMAIN members}
    IN DecidedView(ViewId(counter, creator), members, {}, [m \in set |-> 0], set)

\* What protocols see of it.
ViewOf(v) == [id |-> v.id, members |-> v.members]

\* This life of m is a member of v.
Has(v, m, incarnation) == m \in DOMAIN v.lives /\ v.lives[m] = incarnation

\* One incarnation of m is a member of both.
Shares(v, w, m) == m \in DOMAIN v.lives /\ m \in DOMAIN w.lives /\ v.lives[m] = w.lives[m]
=============================================================================
