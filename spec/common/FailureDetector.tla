--------------------------- MODULE FailureDetector --------------------------
(***************************************************************************)
(* What a failure detector says to the member that it runs beside: whom    *)
(* the member watches, and should suspect. GMS, and merging over GMS, take *)
(* what it may say as their environment.                                   *)
(*                                                                         *)
(* A member speaks of itself: that it is alive, which view it has, and     *)
(* whom it suspects there (heartbeats do that). Who hears nothing of it    *)
(* suspects it. Who hears that it is suspected by it, or is not in its     *)
(* view, suspects it too: else one of the two waits for the other for      *)
(* ever, as what it sends is refused.                                      *)
(*                                                                         *)
(* What is heard is of the past. A member says what was so when it said    *)
(* it; the word may be on its way while both go on to other views. So each *)
(* word names the view that it speaks of, and it depends on that view      *)
(* whether it counts. After a merge words from before it are still on      *)
(* their way in which each side is not in the view of the other: if they   *)
(* counted, a group would part as soon as it has come together.            *)
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
    life,       \* Membership: [Member -> its present life]
    up,         \* the members that have not crashed or left
    suspects    \* [Member -> whom it suspects]

Conjuncts ==
    {"CrashIsReported", "SuspicionIsReported", "ExclusionIsReported", "SuspicionIsOfOwnView",
     "ExclusionIsNotOlder", "IncarnationIsNamed"}

LOCAL On(conjunct) == conjunct \notin Off

-----------------------------------------------------------------------------
(* What members say *)

LOCAL InView(m) == installed[m] # 0
LOCAL Lists(k, m) == m \in DOMAIN views[k].lives

\* View number j comes before view number k.
RECURSIVE Precedes(_, _)
Precedes(j, k) == j < k /\ (j \in views[k].preds \/ \E i \in views[k].preds : Precedes(j, i))

\* The views that x has had in its present life, but for the one that it has now.
Former(x) == {k \in DOMAIN views : InView(x) /\ Precedes(k, installed[x]) /\ Has(views[k], x, life[x])}

\* That m was suspected in view number k, by who went on without it from there: one of the views that x went on to
\* follows k without m.
LOCAL LeftBehind(x, k, m) ==
    Lists(k, m) /\ \E j \in Former(x) \cup {installed[x]} : k \in views[j].preds /\ ~Lists(j, m)

\* What m may hear of x: what x says now, and what it said in views that are over for it.
Words(m, x) ==
    {[says |-> "suspects", view |-> k] :
        k \in {k \in Former(x) : LeftBehind(x, k, m)} \cup
              (IF InView(x) /\ m \in suspects[x] THEN {installed[x]} ELSE {})}
    \cup
    {[says |-> "excludes", view |-> k] :
        k \in {k \in Former(x) \cup ({installed[x]} \ {0}) : ~Lists(k, m)}}

-----------------------------------------------------------------------------
(* What is reported *)

\* A word that is heard counts for who has view number `own`.
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
