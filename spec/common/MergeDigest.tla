---------------------------- MODULE MergeDigest -----------------------------
(******************************************************************************)
(* The guarantee of merging over GMS about start digests, which STABLE        *)
(* assumes: less than JoinDigest. A coordinator that has answered may give a  *)
(* merge up while the merged view is decided. It withdraws its promise, and   *)
(* no member of its side installs that view. And a promise is made to the     *)
(* coordinator of the other side alone, while all members of that side start  *)
(* from it.                                                                   *)
(*                                                                            *)
(* Each predecessor of a view is a side of it. A side is abandoned            *)
(*   when a member from elsewhere installs the view without a promise that    *)
(*   stands,                                                                  *)
(*   when a promise from which such a member has started no longer holds a    *)
(*   vote, though its promiser may still come to the view.                    *)
(* Of a side that is abandoned no member has come to the view, and none ever  *)
(* does. The view lists members of the side, so it agrees on nothing.         *)
(*                                                                            *)
(* This stands in the place of StartRequiresPromise, WithdrawOnlyIfUnusable   *)
(* and PromiseHeldWhileNeeded. OneOpenPromise is not asked for, either. What  *)
(* PromiserIsMember, PromiseToOneIncarnation and DigestIsComplete say of a    *)
(* promise is in Fits. Of the other conjuncts JoinDigest speaks.              *)
(*                                                                            *)
(* Four variables are history: Noted says how each step changes them.         *)
(******************************************************************************)
EXTENDS Views, Digests, FiniteSets

CONSTANTS Member    \* all addresses

VARIABLES
    views,      \* these six: as in JoinDigest
    installed,
    life,
    delivered,
    promises,
    held,
    standing,   \* the promises made and not withdrawn (a promise that is redeemed stands)
    served,     \* those from which a member of view number `view` has started: [by, by_life, to, to_life, view]
    entered,    \* <<j, k>>: a member has come from view number j to view number k, which follows it
    abandoned   \* <<j, k>>: the side j of view number k is abandoned

history == <<standing, served, entered, abandoned>>

LOCAL JoinDigest == INSTANCE JoinDigest WITH Off <- {}

-----------------------------------------------------------------------------
\* A member of w may start from p with the members of view number j, which w follows. p was made by a member of w, and to
\* a member of w that is not in j. It reaches j, and has an entry for every sender.
Fits(p, w, j) ==
    /\ Has(w, p.by, p.by_life)
    /\ Has(w, p.to, p.to_life) /\ ~Has(views[j], p.to, p.to_life)
    /\ JoinDigest!Reaches(p, j)
    /\ \A s \in DOMAIN views[j].lives : JoinDigest!TellsOf(p, s, j)

\* `start`: where the windows of this member start, by sender.
StartsFrom(p, w, j, start) ==
    /\ Fits(p, w, j)
    /\ \A s \in DOMAIN views[j].lives :
        Shares(views[j], w, s) => start[s] >= (IF s \in DOMAIN p.vector THEN p.vector[s] ELSE Nothing)

LOCAL Comes(m) == installed'[m] # 0 /\ installed'[m] # installed[m]
LOCAL Installed(m) == views'[installed'[m]]

\* The sides that m does not come from.
LOCAL Others(m) == Installed(m).preds \ {installed[m]}

\* The promises from which m starts with the members of side j: its own, if there are.
LOCAL Used(m, j) ==
    LET fit == {p \in standing : StartsFrom(p, Installed(m), j, delivered'[m])}
        own == {p \in fit : p.to = m}
    IN IF own = {} THEN fit ELSE own

\* The addresses for which m no longer holds its vote, though it has come to no view with them.
LOCAL Released(m) ==
    IF life'[m] # life[m] THEN {}
    ELSE (held[m] \ held'[m]) \ (IF installed'[m] = 0 THEN {} ELSE DOMAIN Installed(m).lives)

\* The member m of view number i may come to view number j, or is there.
RECURSIVE MayCome(_, _, _)
MayCome(m, i, j) ==
    i # 0 /\ i <= j /\ Has(views'[j], m, life[m]) /\ (i = j \/ \E h \in views'[j].preds : MayCome(m, i, h))

-----------------------------------------------------------------------------
Init == standing = {} /\ served = {} /\ entered = {} /\ abandoned = {}

Noted ==
    LET coming == {m \in Member : Comes(m)}
        Ended(p) == p.by_life = life[p.by] /\ p.to \in Released(p.by)
    IN /\ standing' = {p \in standing \cup promises' : ~(Ended(p) /\ JoinDigest!Reaches(p, installed[p.by]))}
       /\ served' = served \cup
            UNION {{[by |-> p.by, by_life |-> p.by_life, to |-> p.to, to_life |-> p.to_life, view |-> installed'[m]] :
                        p \in UNION {Used(m, j) : j \in Others(m)}} : m \in coming}
       /\ entered' = entered \cup
            {<<installed[m], installed'[m]>> : m \in {m \in coming : installed[m] \in Installed(m).preds}}
       /\ abandoned' = abandoned
            \cup UNION {{<<j, installed'[m]>> : j \in {j \in Others(m) : Used(m, j) = {}}} : m \in coming}
            \cup UNION {{<<j, r.view>> : j \in {j \in views'[r.view].preds : MayCome(r.by, installed[r.by], j)}} :
                            r \in {r \in served : Ended(r)}}

-----------------------------------------------------------------------------
(* Claims *)

\* No member comes to a view from a side of it that is abandoned.
AbandonedIsNotEntered == entered \cap abandoned = {}
=============================================================================
