------------------------------- MODULE Views -------------------------------
(******************************************************************************)
(* Views: who is in the group, in order of seniority, and which view it       *)
(* is. The coordinator is the first member (LAY-06: every protocol sees       *)
(* the same view value).                                                      *)
(*                                                                            *)
(* A view is known by its identifier, counter and creator (AMB-40). The       *)
(* counter alone does not name it: two partitions, or two members that        *)
(* suspect each other, decide views with one counter. The creator is not      *)
(* always the first member: a coordinator that leaves decides the view        *)
(* without itself, and if the first member were named as creator, that view   *)
(* would get the identifier of its successor's. Along the path of a member    *)
(* counters rise. So the counter orders a member's own views, and no others.  *)
(******************************************************************************)
EXTENDS Naturals, Sequences

ViewId(counter, creator) == [counter |-> counter, creator |-> creator]

\* The view field of messages in variants without a view identifier.
NoViewId == ViewId(0, "")

View(counter, creator, members) == [id |-> ViewId(counter, creator), members |-> members]

\* The view of a member that has installed none yet.
NoView == [id |-> NoViewId, members |-> <<>>]

MembersOf(view) == {view.members[i] : i \in DOMAIN view.members}

CoordinatorOf(view) == Head(view.members)

-----------------------------------------------------------------------------
(* Incarnations of a name. An address is a name or, of a later incarnation, the name, `#` and a number: A, A#2, *)
(* A#3.                                                                                                         *)

LOCAL Digits == <<"0", "1", "2", "3", "4", "5", "6", "7", "8", "9">>
LOCAL Letter(text, i) == SubSeq(text, i, i)
LOCAL Digit(letter) == (CHOOSE i \in DOMAIN Digits : Digits[i] = letter) - 1
LOCAL IsDigit(letter) == \E i \in DOMAIN Digits : Digits[i] = letter

\* Where the number begins: after the last `#`, if there are only digits after it. 0: there is no number.
LOCAL NumberAt(a) ==
    LET Ends(i) == Letter(a, i) = "#" /\ \A j \in i + 1 .. Len(a) : IsDigit(Letter(a, j))
    IN IF \E i \in 2 .. Len(a) - 1 : Ends(i) THEN (CHOOSE i \in 2 .. Len(a) - 1 : Ends(i)) + 1 ELSE 0

RECURSIVE NumberFrom(_, _, _)
NumberFrom(a, i, n) == IF i > Len(a) THEN n ELSE NumberFrom(a, i + 1, 10 * n + Digit(Letter(a, i)))

LOCAL NumberOf(a) == IF NumberAt(a) = 0 THEN 1 ELSE NumberFrom(a, NumberAt(a), 0)
LOCAL NameOf(a) == IF NumberAt(a) = 0 THEN a ELSE SubSeq(a, 1, NumberAt(a) - 2)

\* Address a is of an earlier incarnation of the name that b is of. A name has one incarnation at a time, and its incarnations are
\* numbered (LivesAreNumbered): where b is known, a is over. (Three letters at least: A#2.)
IsFormer(a, b) == Len(b) > 2 /\ a # b /\ NameOf(a) = NameOf(b) /\ NumberOf(a) < NumberOf(b)

\* Those of which a later incarnation of the same name is there, too: they are over.
Superseded(addresses) == {a \in addresses : \E b \in addresses : IsFormer(a, b)}

\* A function of addresses without the addresses that are over, which do nothing any more. Members of a view stay in
\* it, over or not, until they are excluded.
LatestLives(function, members) ==
    LET over == Superseded(DOMAIN function \cup members) \ members
    IN [a \in DOMAIN function \ over |-> function[a]]

-----------------------------------------------------------------------------
(* Decisions of Gms and Merge: views as the membership service hands them on  *)

\* At least one member, and none twice.
IsList(members) ==
    /\ members # <<>>
    /\ \A i, j \in DOMAIN members : members[i] = members[j] => i = j

\* It says of each member which incarnation is meant.
KnowsLives(decision) ==
    /\ MembersOf(decision) \subseteq DOMAIN decision.lives
    /\ \A m \in DOMAIN decision.lives : decision.lives[m] >= 0

\* Properties of every decision, by any creator.
IsSound(decision) ==
    /\ IsList(decision.members) /\ KnowsLives(decision)
    /\ decision.id.counter > decision.follows.counter
    /\ decision.joiners \subseteq MembersOf(decision)

-----------------------------------------------------------------------------
(* Decided views: what the membership service knows of a view, and members do not see (module Membership) *)

\* A decided view. `preds`: the numbers of its predecessors. `lives`: [member -> its incarnation]. `joins`: the
\* members whose incarnation begins with this view.
DecidedView(id, members, preds, lives, joins) ==
    [id |-> id, members |-> members, preds |-> preds, lives |-> lives, joins |-> joins]

\* A view that follows none. Every member in it is in its first incarnation.
FirstView(counter, creator, members) ==
    LET set == {members[i] : i \in DOMAIN members}
    IN DecidedView(ViewId(counter, creator), members, {}, [m \in set |-> 0], set)

\* The part that protocols see.
ViewOf(v) == [id |-> v.id, members |-> v.members]

\* This incarnation of m is a member of v.
Has(v, m, incarnation) == m \in DOMAIN v.lives /\ v.lives[m] = incarnation

\* One incarnation of m is a member of both.
Shares(v, w, m) == m \in DOMAIN v.lives /\ m \in DOMAIN w.lives /\ v.lives[m] = w.lives[m]
=============================================================================
