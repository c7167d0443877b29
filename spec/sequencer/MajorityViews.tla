---------------------------- MODULE MajorityViews ----------------------------
(******************************************************************************)
(* Views without a majority of the last one deliver nothing: what such an     *)
(* option of SEQUENCER has to do. A view is *formed* when its coordinator may *)
(* order in it. The claim: the formed views are on one path (FormedOnOnePath).*)
(* Then of two parts of a group at most one delivers, and what is delivered   *)
(* in one formed view its successor knows.                                    *)
(*                                                                            *)
(* Three rules.                                                               *)
(* - "listed": a member compares the list of its new view with the last       *)
(*   formed view that it knows. Two members that suspect a third make two     *)
(*   views that both list the others: both have a majority.                   *)
(* - "installed": a member that installs a view reports the last formed view  *)
(*   that it knows to the coordinator. The view is formed when a majority of  *)
(*   that formed view has installed it. A member may not know yet that its    *)
(*   former view was formed, and help to form another one.                    *)
(* - "attempts": a member reports, besides, every view that it has installed  *)
(*   since, formed or not. A view is formed when a majority of each reported  *)
(*   view has installed it. This is dynamic voting with ambiguous sessions    *)
(*   (Yeger Lotem, Keidar, Dolev, 1997).                                      *)
(*                                                                            *)
(* Every member is in its first incarnation, and there is one first view.     *)
(* (How a member does it, with leavers and later incarnations: Primary.)      *)
(******************************************************************************)
EXTENDS Views, Acts, Integers, FiniteSets

CONSTANTS
    Member,     \* all addresses
    Founders,   \* the members of the first view
    Rule,       \* see above
    Script,     \* bound: the views after the first, in order; <<>>: TLC chooses
    MaxViews    \* bound

ASSUME Rule \in {"listed", "installed", "attempts"}

VARIABLES
    views, installed,   \* of Membership
    \* (local of Acts: [Member -> the views that it reports: the last formed that it knows, and attempts since])
    reports,    \* per view: [a member that has installed it -> what it reported]
    formed      \* the numbers of the views that were formed

vars == <<views, installed, local, reports, formed, act>>
view == <<views, installed, local, reports, formed>>

life == [m \in Member |-> 0]

First == <<FirstView(1, Founders[1], Founders)>>

Group == INSTANCE Membership WITH Off <- {}

\* More than half of the members of a view, or half of them with its first member.
IsMajorityOf(set, v) ==
    LET n == 2 * Cardinality(set \cap DOMAIN v.lives)
    IN n > Cardinality(DOMAIN v.lives) \/ (n = Cardinality(DOMAIN v.lives) /\ v.members[1] \in set)

IsMajority(set, k) == IsMajorityOf(set, views[k])

-----------------------------------------------------------------------------
(* Views: each may follow one or two, with any members of these *)

InSomeOrder(set) == CHOOSE list \in [1 .. Cardinality(set) -> set] : {list[i] : i \in DOMAIN list} = set

Counter(preds) ==
    1 + (CHOOSE n \in {views[u].id.counter : u \in preds} : \A u \in preds : views[u].id.counter <= n)

\* (One creator is enough, and another for the next view with the same counter.)
AnyView ==
    LET before == {p \in SUBSET DOMAIN views : Cardinality(p) \in 1 .. 2}
        creators(p) == {c \in UNION {DOMAIN views[u].lives : u \in p} : \A k \in DOMAIN views : views[k].id # ViewId(Counter(p), c)}
        made(p, set) == DecidedView(ViewId(Counter(p), CHOOSE c \in creators(p) : TRUE), InSomeOrder(set), p,
                                    [m \in set |-> 0], {})
    IN UNION {{made(p, set) : set \in SUBSET UNION {DOMAIN views[u].lives : u \in p} \ {{}}} :
                p \in {p \in before : creators(p) # {}}}

MayFollow ==
    IF Len(views) >= MaxViews THEN {}
    ELSE IF Script = <<>> THEN AnyView ELSE {Script[Len(views)]}

-----------------------------------------------------------------------------
(* Steps *)

\* m has installed view number k of `known`, and reports. (One that knows no formed view adds none.)
Attends(m, k, known) ==
    LET list == DOMAIN known[k].lives
        has == \E b \in local[m] : IsMajorityOf(list, known[b])
    IN IF Rule = "listed"
       THEN /\ formed' = IF has THEN formed \cup {k} ELSE formed
            /\ local' = IF has THEN [local EXCEPT ![m] = {k}] ELSE local
            /\ reports' = IF Len(known) > Len(views) THEN Append(reports, [x \in {} |-> {}]) ELSE reports
       ELSE /\ formed' = formed
            /\ local' = IF Rule = "attempts" /\ local[m] # {} THEN [local EXCEPT ![m] = @ \cup {k}] ELSE local
            /\ LET all == IF Len(known) > Len(views) THEN Append(reports, [x \in {} |-> {}]) ELSE reports
               IN reports' = [all EXCEPT ![k] = [x \in DOMAIN @ \cup {m} |-> IF x = m THEN local[m] ELSE @[x]]]

\* (The first member that installs a view decides it.)
InstallNew(m) ==
    \E v \in MayFollow :
        /\ Group!MayInstall(m, v) /\ Group!MayDecide(v)
        /\ views' = Append(views, v)
        /\ installed' = [installed EXCEPT ![m] = Len(views) + 1]
        /\ Attends(m, Len(views) + 1, Append(views, v))
        /\ Environment("InstallNew", m, [view |-> ViewOf(v)], {})

InstallDecided(m) ==
    \E k \in DOMAIN views :
        /\ Group!MayInstall(m, views[k])
        /\ installed' = [installed EXCEPT ![m] = k]
        /\ views' = views
        /\ Attends(m, k, views)
        /\ Environment("InstallDecided", m, [view |-> k], {})

\* The coordinator of view number k has heard of the members in `from`.
Form(m) ==
    LET k == installed[m] IN
    /\ Rule # "listed" /\ k \notin formed
    /\ \E from \in SUBSET DOMAIN reports[k] :
        /\ from # {}
        /\ \A x \in from : \A b \in reports[k][x] : IsMajority(from, b)
    /\ formed' = formed \cup {k}
    /\ Environment("Form", m, [view |-> k], {})
    /\ UNCHANGED <<views, installed, local, reports>>

\* A member hears that its view is formed.
Learn(m) ==
    /\ installed[m] \in formed /\ local[m] # {installed[m]}
    /\ local' = [local EXCEPT ![m] = {installed[m]}]
    /\ Environment("Learn", m, None, {})
    /\ UNCHANGED <<views, installed, reports, formed>>

Init ==
    /\ views = First
    /\ installed = [m \in Member |-> 1]
    /\ local = [m \in Member |-> {1}]
    /\ reports = <<[m \in {} |-> {}]>>
    /\ formed = {1}
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ InstallNew(m)
        \/ InstallDecided(m)
        \/ Form(m)
        \/ Learn(m)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Bounds *)

ABC == <<"A", "B", "C">>
ABCDE == <<"A", "B", "C", "D", "E">>
NoScript == <<>>

Then(counter, creator, list, preds) ==
    DecidedView(ViewId(counter, creator), list, preds, [m \in {list[i] : i \in DOMAIN list} |-> 0], {})

\* A, B and C continue without D and E, then A and B without C, which meets D and E.
Shrinks ==
    <<Then(2, "A", <<"A", "B", "C">>, {1}), Then(3, "A", <<"A", "B">>, {2}), Then(3, "C", <<"C", "D", "E">>, {1, 2})>>

\* ... and D and E have tried it before with C, which they suspect then.
TriesBefore ==
    <<Then(2, "A", <<"A", "B", "C">>, {1}), Then(2, "D", <<"C", "D", "E">>, {1}), Then(3, "D", <<"D", "E">>, {3})>>

-----------------------------------------------------------------------------
(* Claims *)

MajorityTypeOK ==
    /\ Group!MembershipTypeOK
    /\ formed \subseteq DOMAIN views /\ DOMAIN reports = DOMAIN views
    /\ \A m \in Member : local[m] \subseteq DOMAIN views

\* Of two formed views one comes before the other: at most one branch delivers.
FormedOnOnePath ==
    \A j, k \in formed : j = k \/ Group!ComesBefore(j, views[k].preds) \/ Group!ComesBefore(k, views[j].preds)

\* A view other than the first is formed, and the next one too.
FormedAgain == \E j, k \in formed : 1 \in views[j].preds /\ j \in views[k].preds
=============================================================================
