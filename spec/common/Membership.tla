----------------------------- MODULE Membership -----------------------------
(******************************************************************************)
(* The guarantee of a membership service (GMS, merge): which views are        *)
(* decided, and who installs which of them.                                   *)
(*                                                                            *)
(* Decided views form a forest that grows. A view follows none (a first       *)
(* view), one, or, as a merge view, several. It has an identifier of its      *)
(* own, a list of members, and says of each member which incarnation          *)
(* it means, and who begins with it. An incarnation walks down one path,     *)
(* from the view that it begins with, and skips no view on it. A member       *)
(* that was left out comes in again as its next incarnation.                  *)
(*                                                                            *)
(* Not promised: a single branch of views. Two members that suspect each      *)
(* other both decide a successor of their view, with one counter and two      *)
(* creators (split brain). Without false suspicions there is a single branch, *)
(* up to branches that no live member has installed (NoLiveBranchIn). Not     *)
(* promised either: that a decided view is ever installed, or that its        *)
(* members are alive.                                                         *)
(*                                                                            *)
(* Two uses.                                                                  *)
(* (a) As the environment of the protocol above, which INSTANCEs it over      *)
(*     variables of its own of these names and takes its actions. Decide      *)
(*     is unbounded: the model says which views may be decided (a script,     *)
(*     or all within bounds).                                                 *)
(* (b) As what the protocol below refines: INSTANCE it with a mapping, and    *)
(*     check Init, [][Next]_<<mapped variables>> and the claims at the        *)
(*     end. Next is said by cases, so that TLC holds a step against one       *)
(*     action.                                                                *)
(* Each conjunct has a name. Conjuncts in Off are not required. Thus a model  *)
(* can show that a protocol above needs a conjunct: a claim is violated when  *)
(* the environment lacks it. A model can also show that each conjunct alone   *)
(* notices a defect of a protocol below, with the others off.                 *)
(*                                                                            *)
(* Self Inclusion, Local Monotonicity and Initial View Event are names of     *)
(* Chockler, Keidar and Vitenberg, ACM Computing Surveys 33(4), 2001.         *)
(******************************************************************************)
EXTENDS Views, FiniteSets

CONSTANTS
    Member,     \* all addresses
    First,      \* the views at the start: a sequence of first views without a common member
    Off         \* the names of those Conjuncts that are not asked for

VARIABLES
    views,      \* the decided views, in order of decision; a view's number is its place in this sequence
    installed,  \* [Member -> the number of the view it has installed in its present incarnation; 0: none yet]
    life        \* [Member -> its present incarnation: 0, 1, ...]

membership_vars == <<views, installed, life>>

Conjuncts ==
    {"UniqueViewId", "CounterIncreases", "CreatorFromPredecessor", "WellFormedView", "ValidIncarnations",
     "ExcludedFirst", "JoinersAreNew", "JoinsOnce", "SelfInclusion", "SinglePath"}

LOCAL On(conjunct) == conjunct \notin Off

-----------------------------------------------------------------------------
(* The forest *)

\* From view number j one comes to view number k, through views that all have this incarnation of m in them.
RECURSIVE Leads(_, _, _, _)
Leads(m, incarnation, j, k) ==
    IF j = k THEN Has(views[k], m, incarnation)
    ELSE j < k /\ Has(views[k], m, incarnation)
         /\ \E i \in views[k].preds : Leads(m, incarnation, j, i)

\* The views from which m comes to v: predecessors of v that contain the same incarnation of m. Where a merged view
\* follows two views on the same path, m comes from the later.
Sources(v, m) ==
    LET from == {j \in v.preds : Shares(views[j], v, m)}
    IN IF Cardinality(from) <= 1 THEN from
       ELSE {j \in from : ~\E i \in from \ {j} : Leads(m, v.lives[m], j, i)}

\* View number k precedes a view with predecessors `preds`.
RECURSIVE ComesBefore(_, _)
ComesBefore(k, preds) == \E j \in preds : k <= j /\ (k = j \/ ComesBefore(k, views[j].preds))

\* m is one incarnation, and a member, all the way between views number i and k (either may be the later).
Throughout(m, i, k) ==
    /\ i # 0 /\ k # 0
    /\ m \in DOMAIN views[i].lives
    /\ IF i <= k THEN Leads(m, views[i].lives[m], i, k) ELSE Leads(m, views[i].lives[m], k, i)

\* The view of a member: no view at first, then the installed view.
InstalledView(m) == IF installed[m] = 0 THEN NoView ELSE ViewOf(views[installed[m]])

-----------------------------------------------------------------------------
(* Steps. Guards are operators of their own, so that a group can use them by themselves.                      *)

\* Now v may be decided.
MayDecide(v) ==
    \* UniqueViewId: An identifier names one view (AMB-40).
    /\ On("UniqueViewId") => \A k \in DOMAIN views : views[k].id # v.id
    \* CounterIncreases: A view has a greater counter than each of its predecessors (Local Monotonicity).
    /\ On("CounterIncreases") => \A j \in v.preds : views[j].id.counter < v.id.counter
    \* CreatorFromPredecessor: The creator of a view is a member of a predecessor, or founds the group alone. (It need
    \* not be a member of the view: it may be leaving.)
    /\ On("CreatorFromPredecessor") =>
        IF v.preds = {} THEN v.members = <<v.id.creator>>
        ELSE \E j \in v.preds : v.id.creator \in DOMAIN views[j].lives
    \* WellFormedView: A view has at least one member, lists each member once, and follows decided views only.
    /\ On("WellFormedView") =>
        /\ v.members # <<>>
        /\ Cardinality(MembersOf(v)) = Len(v.members)
        /\ DOMAIN v.lives = MembersOf(v)
        /\ v.preds \subseteq DOMAIN views
    \* ValidIncarnations: A view names incarnations that have started, and none older than its predecessors name.
    /\ On("ValidIncarnations") => \A m \in DOMAIN v.lives :
        /\ v.lives[m] <= life[m]
        /\ \A j \in v.preds : m \in DOMAIN views[j].lives => views[j].lives[m] <= v.lives[m]
    \* ExcludedFirst: A view names the incarnation of a member that its predecessors name. A former incarnation is
    \* excluded by a view of its own before the next one joins. (Members know addresses: they would take one
    \* incarnation for the other.)
    /\ On("ExcludedFirst") => \A m \in DOMAIN v.lives : \A j \in v.preds :
        m \in DOMAIN views[j].lives => views[j].lives[m] = v.lives[m]
    \* JoinersAreNew: The joiners of a view are exactly the members that come from none of its predecessors.
    /\ On("JoinersAreNew") => v.joins = {m \in DOMAIN v.lives : Sources(v, m) = {}}
    \* JoinsOnce: A joiner has a later incarnation than its address had in any view before. An excluded incarnation
    \* does not join again.
    /\ On("JoinsOnce") => \A m \in DOMAIN v.lives : Sources(v, m) = {} =>
        \A k \in DOMAIN views : (m \in DOMAIN views[k].lives /\ ComesBefore(k, v.preds)) => views[k].lives[m] < v.lives[m]

\* m may install v, which is decided.
MayInstall(m, v) ==
    \* SelfInclusion: A member installs only views that contain its current incarnation.
    /\ On("SelfInclusion") => Has(v, m, life[m])
    \* SinglePath: An incarnation first installs a view that it joins (Initial View Event), and then follows one path
    \* of views without skipping any.
    /\ On("SinglePath") =>
        IF installed[m] = 0 THEN m \in v.joins
        ELSE m \notin v.joins /\ installed[m] \in Sources(v, m)

Decide(v) ==
    /\ MayDecide(v)
    /\ views' = Append(views, v)
    /\ UNCHANGED <<installed, life>>

Install(m, k) ==
    /\ k \in DOMAIN views
    /\ MayInstall(m, views[k])
    /\ installed' = [installed EXCEPT ![m] = k]
    /\ UNCHANGED <<views, life>>

\* Both in one step: a creator that installs what it decides. (For a group above, which cannot see a view before
\* some member installs it, whoever is the first: this spares the states between.)
DecideAndInstall(v, m) ==
    /\ MayDecide(v)
    /\ MayInstall(m, v)
    /\ views' = Append(views, v)
    /\ installed' = [installed EXCEPT ![m] = Len(views) + 1]
    /\ UNCHANGED life

\* A new incarnation of m, which has installed nothing.
Restart(m) ==
    /\ life' = [life EXCEPT ![m] = @ + 1]
    /\ installed' = [installed EXCEPT ![m] = 0]
    /\ UNCHANGED views

Init ==
    /\ views = First
    /\ life = [m \in Member |-> 0]
    /\ installed = [m \in Member |->
            LET mine == {k \in DOMAIN First : m \in DOMAIN First[k].lives}
            IN IF mine = {} THEN 0 ELSE CHOOSE k \in mine : TRUE]

\* (By cases, so that a step is held against one action.)
Next ==
    IF views' # views
    THEN \E v \in {views'[Len(views')]} :
            IF installed' = installed THEN Decide(v)
            ELSE \E m \in Member : installed'[m] # installed[m] /\ DecideAndInstall(v, m)
    ELSE \E m \in Member :
            IF life' # life THEN life'[m] # life[m] /\ Restart(m)
            ELSE installed'[m] # installed[m] /\ Install(m, installed'[m])

Spec == Init /\ [][Next]_membership_vars

-----------------------------------------------------------------------------
(* Claims: what follows for whoever stands on it *)

MembershipTypeOK ==
    /\ \A k \in DOMAIN views :
        LET v == views[k] IN
        /\ v.id.counter \in Nat
        /\ MembersOf(v) \subseteq Member
        /\ DOMAIN v.lives = MembersOf(v) /\ \A m \in DOMAIN v.lives : v.lives[m] \in Nat
        /\ v.joins \subseteq DOMAIN v.lives
        /\ v.preds \subseteq 1 .. k - 1
    /\ installed \in [Member -> 0 .. Len(views)]
    /\ life \in [Member -> Nat]

\* An identifier names one list of members.
ViewIdsAreUnique == \A j, k \in DOMAIN views : views[j].id = views[k].id => j = k

\* Every member is in the view that it has installed, as the incarnation that it is in.
SelfInclusion == \A m \in Member : installed[m] # 0 => Has(views[installed[m]], m, life[m])

\* Local Monotonicity: the counters of the views that an incarnation installs rise.
LocalMonotonicityStep ==
    \A m \in Member :
        (life'[m] = life[m] /\ installed[m] # 0 /\ installed'[m] # installed[m]) =>
            views'[installed'[m]].id.counter > views[installed[m]].id.counter

\* Initial View Event: whatever an incarnation does in a view, it has installed one first; and it begins where it joins.
InitialViewEventStep ==
    \A m \in Member :
        (installed[m] = 0 /\ installed'[m] # 0) => m \in views'[installed'[m]].joins

LocalMonotonicity == [][LocalMonotonicityStep]_membership_vars
InitialViewEvent == [][InitialViewEventStep]_membership_vars

\* Without false suspicions: of two successors of a view, at least one is installed at no live member. `live`: the
\* members that have not crashed.
NoLiveBranchIn(live) ==
    \A j, k \in DOMAIN views :
        (j # k /\ views[j].preds \cap views[k].preds # {}) =>
            \E i \in {j, k} : \A m \in live : installed[m] # i
=============================================================================
