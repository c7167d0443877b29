--------------------------- MODULE ViewIdentifiers ---------------------------
(******************************************************************************)
(* Why an identifier names one view (UniqueViewId of Membership) in a group   *)
(* of any size: an invariant that holds at the start and that every step      *)
(* keeps. An SMT solver proves it from this text (`groupcomm prove gms`). TLC *)
(* finds each step of the searched groups to be one of these. See             *)
(* docs/proof.md.                                                             *)
(*                                                                            *)
(* The idea. An identifier is a counter and the view creator's address. The   *)
(* counter is above that of the creator's own view, the creator installs the  *)
(* view or leaves, and counters rise along its path. So one incarnation       *)
(* creates no two views with one counter, whatever the others do: whoever is  *)
(* suspected, and however many coordinators, branches and merges there are.   *)
(* The next incarnation of the address begins only when every member that is  *)
(* up has passed the counters of the former one (CountersArePassed of         *)
(* Incarnations). No view that is decided or installed later is behind them.  *)
(*                                                                            *)
(* The steps say what a step of a group does to views and incarnations, and   *)
(* no more: not who coordinates, who is suspected, or what is sent.           *)
(******************************************************************************)
EXTENDS ViewsAsRead

CONSTANT Member

VARIABLES
    views,      \* these three: as in Membership
    installed,
    life,
    up          \* the members that have not crashed or left

HasView(x) == installed[x] # 0

\* The creator of view number v was this incarnation of its address.
IsCreatedAs(v, incarnation) ==
    LET m == views[v].id.creator
    IN IF views[v].preds = {} THEN Has(views[v], m, incarnation)
       ELSE \E u \in views[v].preds : Has(views[u], m, incarnation)

\* The creator's incarnation is not over.
ByPresent(v) == IsCreatedAs(v, life[views[v].id.creator])

\* View number j is the view of x, or may be its first.
MayBeIn(x, j) == IF HasView(x) THEN j = installed[x] ELSE Has(views[j], x, life[x])

-----------------------------------------------------------------------------
(* The invariant *)

Own == \A x \in Member : HasView(x) => installed[x] \in DOMAIN views /\ Has(views[installed[x]], x, life[x])

PredecessorIsOlder ==
    \A v \in DOMAIN views : \A u \in views[v].preds :
        u \in DOMAIN views /\ views[u].id.counter < views[v].id.counter

\* No view puts an incarnation in the place of another.
LivesAreKept ==
    \A v \in DOMAIN views : \A u \in views[v].preds : \A x \in DOMAIN views[v].lives :
        x \in DOMAIN views[u].lives => views[v].lives[x] = views[u].lives[x]

HasStarted ==
    \A v \in DOMAIN views : \A x \in DOMAIN views[v].lives : 0 <= views[v].lives[x] /\ views[v].lives[x] <= life[x]

CreatorIsKnown ==
    \A v \in DOMAIN views :
        LET m == views[v].id.creator
        IN IF views[v].preds = {} THEN m \in DOMAIN views[v].lives
           ELSE \E u \in views[v].preds : m \in DOMAIN views[u].lives

\* A creator has come to its view, or to a later one.
OwnIsPassed ==
    \A v \in DOMAIN views : \A c \in up :
        c = views[v].id.creator /\ ByPresent(v) =>
            HasView(c) /\ views[v].id.counter <= views[installed[c]].id.counter

\* Every member has passed the views of incarnations that are over.
FormerArePassed ==
    \A v \in DOMAIN views : ~ByPresent(v) =>
        \A x \in up, j \in DOMAIN views :
            MayBeIn(x, j) => views[v].id.counter <= views[j].id.counter

ViewIdsAreUnique == \A j, k \in DOMAIN views : views[j].id = views[k].id => j = k

Inductive ==
    /\ Own
    /\ PredecessorIsOlder
    /\ LivesAreKept
    /\ HasStarted
    /\ CreatorIsKnown
    /\ OwnIsPassed
    /\ FormerArePassed
    /\ ViewIdsAreUnique

-----------------------------------------------------------------------------
(* The start, and the steps: what each requires. Each changes what            *)
(* groupcomm_proof/identifiers.py says.                                       *)

\* First views, each of them installed by its creator.
IsStart ==
    /\ \A v \in DOMAIN views :
        /\ views[v].preds = {} /\ views[v].id.creator \in DOMAIN views[v].lives
        /\ HasView(views[v].id.creator) /\ v = installed[views[v].id.creator]
    /\ \A v \in DOMAIN views : \A x \in DOMAIN views[v].lives : views[v].lives[x] = 0
    /\ \A x \in Member : life[x] = 0 /\ (HasView(x) => installed[x] \in DOMAIN views /\ Has(views[installed[x]], x, 0))

\* a founds a group: the first, or no address has begun again (FoundedBeforeReturn of Incarnations).
FoundStep(a, w) ==
    /\ a \in up /\ ~HasView(a) /\ life[a] = 0
    /\ w \notin DOMAIN views
    /\ DOMAIN views = {} \/ \A x \in Member : life[x] = 0
    /\ views'[w].id.creator = a /\ views'[w].preds = {}
    /\ DOMAIN views'[w].lives = {a} /\ views'[w].lives[a] = 0

\* a decides a view that follows its own, and others if it merges them: CounterIncreases, ExcludedFirst and
\* ValidIncarnations of Membership, and the identifier.
Decides(a, w) ==
    /\ a \in up /\ HasView(a)
    /\ w \notin DOMAIN views
    /\ views'[w].id.creator = a
    /\ installed[a] \in views'[w].preds
    /\ \A u \in views'[w].preds :
        /\ u \in DOMAIN views
        /\ views[u].id.counter < views'[w].id.counter
        /\ \A x \in DOMAIN views'[w].lives :
            x \in DOMAIN views[u].lives => views'[w].lives[x] = views[u].lives[x]
    /\ \A x \in DOMAIN views'[w].lives : 0 <= views'[w].lives[x] /\ views'[w].lives[x] <= life[x]

\* ... and installs it, or leaves with it.
DecideStep(a, w) == Decides(a, w) /\ a \in DOMAIN views'[w].lives
HandOverStep(a, w) == Decides(a, w)

\* A decided view arrives, in whichever message (SinglePath and SelfInclusion of Membership).
EnterStep(a, w) ==
    /\ a \in up /\ HasView(a)
    /\ w \in DOMAIN views
    /\ installed[a] \in views[w].preds
    /\ a \in DOMAIN views[w].lives

JoinStep(a, w) ==
    /\ a \in up /\ ~HasView(a)
    /\ w \in DOMAIN views
    /\ Has(views[w], a, life[a])

\* a crashes, leaves or is refused.
GoStep(a) == a \in up

\* Another incarnation of a begins: CountersArePassed of Incarnations.
RestartStep(a) ==
    /\ a \notin up
    /\ \A v \in DOMAIN views, x \in up, j \in DOMAIN views :
        views[v].id.creator = a /\ MayBeIn(x, j) => views[v].id.counter <= views[j].id.counter

-----------------------------------------------------------------------------
(* For TLC: the state as the solver has it. Of what is not there the solver   *)
(* knows nothing; here it has a value of its own.                             *)

MemberIn(vs, v, x) == v \in DOMAIN vs /\ x \in DOMAIN vs[v].lives
LifeOfIn(vs, v, x) == IF MemberIn(vs, v, x) THEN vs[v].lives[x] ELSE 0
PrecedesIn(vs, u, v) == v \in DOMAIN vs /\ u \in vs[v].preds

BegunNow(x) == HasView(x)
InstalledNow(x) == installed[x]
DecidedNow(v) == v \in DOMAIN views
LifeNow(x) == life[x]
UpNow(x) == x \in up
=============================================================================
