--------------------------- MODULE FailureDetector --------------------------
(***************************************************************************)
(* The reports of a failure detector to the member that it runs beside,    *)
(* about the members that this member watches, and should suspect. They    *)
(* are the environment of GMS, and of merging over GMS.                    *)
(*                                                                         *)
(* A member speaks of itself: that it is alive, which view it has, and     *)
(* whom it suspects there (heartbeats do that). A watcher that receives    *)
(* nothing from it suspects it. A watcher that is suspected by it, or is   *)
(* not in its view, suspects it too. Otherwise one of the two waits for    *)
(* the other for ever, because its messages are refused.                   *)
(*                                                                         *)
(* A report speaks of the past. It may be in transit while both members    *)
(* install other views. So each report names its view, and counts or not   *)
(* by that view. After a merge, older reports are still in transit that    *)
(* say of each side that it is not in the view of the other. If they       *)
(* counted, a merged group would split at once.                            *)
(*                                                                         *)
(* A word that does not count for the view that it names may be repeated.  *)
(* When it stays, and who says it is not on the way to the hearer's view,  *)
(* it counts at last. (A member that is merely slow stays as well: then    *)
(* the suspicion is false, and has the budget of false suspicions.)        *)
(*                                                                         *)
(* The variables of Membership are the same as there. Conjuncts have       *)
(* names, and those in Off are not asked for.                              *)
(***************************************************************************)
EXTENDS Views, FiniteSets

CONSTANTS
    Off         \* the names of those Conjuncts that are not asked for

VARIABLES
    views,      \* Membership: the decided views, in order of decision
    installed,  \* Membership: [Member -> the number of the view installed; 0: none]
    life,       \* Membership: [Member -> its present incarnation]
    up,         \* the members that have not crashed or left
    suspects    \* [Member -> whom it suspects]

Conjuncts ==
    {"CrashIsReported", "SuspicionIsReported", "ExclusionIsReported", "SuspicionIsOfOwnView",
     "ExclusionIsNotOlder", "IncarnationIsNamed"}

LOCAL On(conjunct) == conjunct \notin Off

-----------------------------------------------------------------------------
(* The reports of   *)
(* members          *)

LOCAL InView(m) == installed[m] # 0
LOCAL Lists(k, m) == m \in DOMAIN views[k].lives

\* View number j comes before view number k.
RECURSIVE Precedes(_, _)
Precedes(j, k) == j < k /\ (j \in views[k].preds \/ \E i \in views[k].preds : Precedes(j, i))

\* The views that x has installed in its present incarnation, without the present view.
Former(x) == {k \in DOMAIN views : InView(x) /\ Precedes(k, installed[x]) /\ Has(views[k], x, life[x])}

\* True if x suspected m in view number k and continued without it: a later view of x follows k without m.
LOCAL LeftBehind(x, k, m) ==
    Lists(k, m) /\ \E j \in Former(x) \cup {installed[x]} : k \in views[j].preds /\ ~Lists(j, m)

\* The reports of x that may reach m: of now, and of the former views of x.
Words(m, x) ==
    {[says |-> "suspects", view |-> k] :
        k \in {k \in Former(x) : LeftBehind(x, k, m)} \cup
              (IF InView(x) /\ m \in suspects[x] THEN {installed[x]} ELSE {})}
    \cup
    {[says |-> "excludes", view |-> k] :
        k \in {k \in Former(x) \cup ({installed[x]} \ {0}) : ~Lists(k, m)}}

-----------------------------------------------------------------------------
(* The reported     *)
(* members          *)

\* Whether a report counts for a member in view number `own`.
Counts(own, word) ==
    IF word.says = "suspects"
    \* SuspicionIsOfOwnView: That one is suspected counts in the view only in which it was suspected. (Who suspects a
    \* member of its view leaves it out of the next, and a merge may bring both together again, before the word is heard.)
    THEN On("SuspicionIsOfOwnView") => word.view = own
    \* ExclusionIsNotOlder: That one is not in a view counts only if that view is not older than the own. (All who come
    \* together in a merge, and all whom a joiner comes to, had a view without the other before.)
    ELSE On("ExclusionIsNotOlder") => views[word.view].id.counter >= views[own].id.counter

\* This incarnation is over.
Dead(x, incarnation) == x \notin up \/ life[x] # incarnation

\* x says of m now that it suspects m; and that it has a view without m, and is not on the way to m's.
Suspects(m, x) == InView(x) /\ m \in suspects[x]
Excludes(m, x) == InView(x) /\ ~Lists(installed[x], m) /\ ~Precedes(installed[x], installed[m])

\* It is reported to m in the end, as it stays as it is.
MustReport(m, x, incarnation) ==
    \* CrashIsReported: That a member crashed is reported in the end to all who watch it.
    \/ On("CrashIsReported") /\ Dead(x, incarnation)
    \* SuspicionIsReported: That a member suspects another is reported in the end to the other.
    \/ On("SuspicionIsReported") /\ Suspects(m, x)
    \* ExclusionIsReported: That a member has a view without another, and is not on the way to the other's view, is
    \* reported in the end to the other.
    \/ On("ExclusionIsReported") /\ Excludes(m, x)

\* It may be reported to m, as something that was said counts.
MayReport(m, x, incarnation) ==
    \/ Dead(x, incarnation) \/ Suspects(m, x) \/ Excludes(m, x)
    \/ InView(m) /\ \E word \in Words(m, x) : Counts(installed[m], word)
    \* IncarnationIsNamed: That a former incarnation is over is not reported of the next one.
    \/ ~On("IncarnationIsNamed") /\ life[x] > 0
=============================================================================
