---------------------------- MODULE Incarnations ----------------------------
(***************************************************************************)
(* The duties of the program that runs members, when a former member       *)
(* begins again. GMS, and merging over GMS, assume it.                     *)
(*                                                                         *)
(* A view identifier is a counter and the address of the view creator. It  *)
(* names one view as long as no address decides two views with one         *)
(* counter. One incarnation does not, as the counters of its views rise.   *)
(* The next incarnation of the same address continues from the counters of *)
(* the group that lets it in, and these may be lower.                      *)
(*                                                                         *)
(* An address that is used once meets CountersArePassed and                *)
(* FoundedBeforeReturn: a member that begins again takes a new address     *)
(* (A, A#2, A#3). No program can check the two as they stand, because they *)
(* speak of all members. They say what an address that is used again may   *)
(* rely on.                                                                *)
(*                                                                         *)
(* The variables of Membership are the same as there. Conjuncts have       *)
(* names, and those in Off are not asked for.                              *)
(***************************************************************************)
EXTENDS Views

CONSTANTS
    Off         \* the names of those Conjuncts that are not asked for

VARIABLES
    views,      \* Membership: the decided views, in order of decision
    installed,  \* Membership: [Member -> the number of the view installed; 0: none]
    life,       \* Membership: [Member -> its present incarnation]
    up          \* the members that have not crashed or left

Conjuncts == {"CountersArePassed", "FoundedBeforeReturn", "LivesAreNumbered"}

LOCAL On(conjunct) == conjunct \notin Off

\* The view of x. If it has none, all views that let it in: it may hear of them when the address is back (FLAW-218).
ViewsOf(x) == IF installed[x] # 0 THEN {installed[x]} ELSE {j \in DOMAIN views : Has(views[j], x, life[x])}

\* The address m begins again.
\* CountersArePassed: An address begins again only when the counter of every member that is up, and in a view or let in with
\* one, is high enough. It is at least as high as the counters of all views that the address has decided.
MayReturn(m) ==
    On("CountersArePassed") =>
        \A k \in DOMAIN views : \A x \in up :
            views[k].id.creator = m => \A j \in ViewsOf(x) : views[j].id.counter >= views[k].id.counter

\* A member founds a group of its own.
\* FoundedBeforeReturn: No group is founded when an address has begun again. (The first counters of that group are low.)
MayFound == On("FoundedBeforeReturn") => \A x \in DOMAIN life : life[x] = 0

\* The member m asks to be let in, or founds a group.
\* LivesAreNumbered: A name has one incarnation at a time, and each has a higher number than the former one.
MayBegin(m) == On("LivesAreNumbered") => \A x \in up : ~IsFormer(x, m)
=============================================================================
