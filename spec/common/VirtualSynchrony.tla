-------------------------- MODULE VirtualSynchrony --------------------------
(******************************************************************************)
(* The guarantee of a flush over a membership service and a reliable          *)
(* multicast: members that go from one view to the next together have         *)
(* received the same messages before.                                         *)
(*                                                                            *)
(* Each view has a log of each member: what it multicasts in that view.       *)
(* Members receive logs in order, each at its own pace. Views form a forest   *)
(* (module Membership), so every statement is per edge. Of the members that   *)
(* go from view u to view v, the first to leave u fixes the cut: the messages *)
(* received in u on the way to v. The others leave u with exactly the cut. It *)
(* is fixed late, at that moment and no earlier, so that a flush has a        *)
(* forward mapping: the first leaver's received messages are a fact of its    *)
(* state, whatever crashes later.                                             *)
(*                                                                            *)
(* Not promised: that the cut has all multicasts of the view. A multicast     *)
(* that no survivor has received by then is lost to them. A member that       *)
(* crashed, or that v excludes, may have received it. Uniform asks for that   *)
(* too; see also Self Delivery.                                               *)
(*                                                                            *)
(* Used as Membership is: as the environment of the protocol above, which     *)
(* INSTANCEs it over variables of its own, and as what a protocol below       *)
(* refines. The conjuncts named in Off are not asked for. They shadow one     *)
(* another, so that each is shown to notice a defect with the others off.     *)
(*                                                                            *)
(* Names of Chockler, Keidar and Vitenberg, ACM Computing Surveys 33(4),      *)
(* 2001: Sending View Delivery, Virtual Synchrony (LeavesWithCut, among the   *)
(* Transitional Set of an edge), Self Delivery, No Duplication.               *)
(******************************************************************************)
EXTENDS Views, Integers, FiniteSets

CONSTANTS
    Member,     \* all addresses
    First,      \* the views at the start (see Membership)
    Off         \* names of conjuncts that are not asked for: a subset of Conjuncts

VARIABLES
    views, installed, life,     \* of Membership
    up,         \* the members that have not crashed or left
    log,        \* per view: [member -> what it multicast in the view, in order]
    settled,    \* per view: [a view before it, once some member came from there -> what all receive there who do]
    got         \* [Member -> what it has received in its view: a set of <<view, sender, index>>]

virtual_synchrony_vars == <<views, installed, life, up, log, settled, got>>

Conjuncts ==
    {"SendingViewDelivery", "Fifo", "ReceiveOnlyCut", "CastOnlyBeforeCut",
     "FirstLeaverHasAll", "LeavesWithCut", "SelfDelivery", "OwnFirst", "Uniform", "JoinersInstallLast"}

ASSUME Off \subseteq Conjuncts

\* These speak of every member that may install a view, and not only of members that do. Where a suspicion was false no
\* flush gives them: BranchSynchrony is what is left.
NotWhereViewsBranch == {"ReceiveOnlyCut", "FirstLeaverHasAll", "JoinersInstallLast"}

LOCAL On(conjunct) == conjunct \notin Off

\* (No member above asks for ExcludedFirst and JoinsOnce: there a view says which incarnation of a sender a message is of.)
Group == INSTANCE Membership WITH Off <- {"ExcludedFirst", "JoinsOnce"}

-----------------------------------------------------------------------------
(* Logs, and what of them is received *)

\* A new view: without multicasts, and installed at no member.
NoCasts(v) == [m \in DOMAIN v.lives |-> <<>>]
NoArrivals == [u \in {} |-> {}]

\* m multicasts xs in view number k.
Casts(logs, m, k, xs) == IF xs = <<>> THEN logs ELSE [logs EXCEPT ![k][m] = @ \o xs]

\* The messages of view u that m has received. (m forgets with each view, where messages arrive in the sending
\* view only.)
ReceivedIn(m, u) == IF On("SendingViewDelivery") THEN got[m] ELSE {r \in got[m] : r[1] = u}

\* m, in view u, goes to v as the same incarnation, if it goes there.
GoesTo(m, u, v) == u \in v.preds /\ u \in Group!Sources(v, m)

\* m is on the way from u to view number k, and what it may receive in u is settled.
ClosedBy(m, u, k) == u \in DOMAIN settled[k] /\ GoesTo(m, u, views[k])

\* SendingViewDelivery: A member receives a message only in the view in which it was sent.
\* (Audible: the logs that may reach m.)
Audible(m) ==
    IF On("SendingViewDelivery") THEN {installed[m]} ELSE {k \in DOMAIN views : Has(views[k], m, life[m])}

-----------------------------------------------------------------------------
(* Steps. Guards are operators of their own, so that a group can use them by themselves.               *)

\* Message i of s in view number u may reach m. (Delivery Integrity: it was multicast. No Duplication: m lacks it.)
MayReceive(m, u, s, i) ==
    /\ u \in Audible(m)
    /\ i \in DOMAIN log[u][s]
    /\ <<u, s, i>> \notin got[m]
    \* Fifo: A member receives the messages of each sender in sending order, those of earlier views first.
    /\ On("Fifo") =>
        /\ i = 1 \/ <<u, s, i - 1>> \in got[m]
        /\ On("SendingViewDelivery") \/ \A t \in 1 .. u - 1 :
            (Has(views[t], m, life[m]) /\ s \in DOMAIN log[t]) =>
                \A j \in DOMAIN log[t][s] : <<t, s, j>> \in got[m]
    \* ReceiveOnlyCut: Once the cut of a view is settled, its remaining survivors receive nothing outside the cut.
    /\ On("ReceiveOnlyCut") => \A k \in DOMAIN views : ClosedBy(m, u, k) => <<u, s, i>> \in settled[k][u]
    \* OwnFirst: No member receives a message before its sender has received it.
    /\ On("OwnFirst") => m = s \/ installed[s] # u \/ <<u, s, i>> \in got[s]
    \* (Uniform: no other member of that view does, either.)
    /\ On("Uniform") => \A k \in DOMAIN views : u \in DOMAIN settled[k] => <<u, s, i>> \in settled[k][u]

\* m may multicast in view number u, which it has installed.
MayCast(m, u) ==
    \* CastOnlyBeforeCut: Once the cut of a view is settled, its remaining survivors multicast nothing in that view.
    \* (A flush holds it back.)
    On("CastOnlyBeforeCut") => \A k \in DOMAIN views : ~ClosedBy(m, u, k)

\* m may go from view u to v. `came`: settled[v].
MayLeave(m, u, v, came) ==
    IF u \notin DOMAIN came
    THEN
        LET mine == ReceivedIn(m, u)
            goes == {x \in up : installed[x] = u /\ GoesTo(x, u, v)}
        IN
        \* FirstLeaverHasAll: The first survivor to leave a view has received every message that any other survivor has
        \* received in it.
        /\ On("FirstLeaverHasAll") => \A x \in goes : ReceivedIn(x, u) \subseteq mine
        \* SelfDelivery: The first survivor to leave has received every message that any survivor has multicast
        \* in the view.
        /\ On("SelfDelivery") => \A x \in goes : \A i \in DOMAIN log[u][x] : <<u, x, i>> \in mine
        \* Uniform: The first survivor to leave has received every message that any member, crashed or excluded ones
        \* included, has received in the view.
        /\ On("Uniform") => \A x \in Member : installed[x] = u => ReceivedIn(x, u) \subseteq mine
    \* LeavesWithCut: Every later survivor leaves the view with exactly the cut received.
    ELSE On("LeavesWithCut") => ReceivedIn(m, u) = came[u]

\* m may begin with v.
MayJoin(m, v, came) ==
    \* JoinersInstallLast: A joiner installs a view only after a survivor of each predecessor has installed it, or where no
    \* survivor of that predecessor is left to install it.
    On("JoinersInstallLast") =>
        \A u \in v.preds :
            u \in DOMAIN came \/ \A x \in up : ~(installed[x] = u /\ GoesTo(x, u, v))

\* settled[v] when m has entered it.
Came(m, came) ==
    LET u == installed[m] IN
    IF u = 0 \/ u \in DOMAIN came THEN came
    ELSE [t \in DOMAIN came \cup {u} |-> IF t = u THEN ReceivedIn(m, u) ELSE came[t]]

MayEnter(m, v, came) ==
    IF installed[m] = 0 THEN MayJoin(m, v, came) ELSE MayLeave(m, installed[m], v, came)

Forgets(m) == got' = IF On("SendingViewDelivery") THEN [got EXCEPT ![m] = {}] ELSE got

Decide(v) ==
    /\ Group!Decide(v)
    /\ log' = Append(log, NoCasts(v))
    /\ settled' = Append(settled, NoArrivals)
    /\ UNCHANGED <<up, got>>

\* xs: what m multicasts in the view it enters, in the same step.
Install(m, k, xs) ==
    /\ m \in up
    /\ Group!Install(m, k)
    /\ MayEnter(m, views[k], settled[k])
    /\ settled' = [settled EXCEPT ![k] = Came(m, @)]
    /\ log' = Casts(log, m, k, xs)
    /\ Forgets(m)
    /\ UNCHANGED up

DecideAndInstall(v, m, xs) ==
    /\ m \in up
    /\ Group!DecideAndInstall(v, m)
    /\ MayEnter(m, v, NoArrivals)
    /\ settled' = Append(settled, Came(m, NoArrivals))
    /\ log' = Casts(Append(log, NoCasts(v)), m, Len(views) + 1, xs)
    /\ Forgets(m)
    /\ UNCHANGED up

Cast(m, xs) ==
    /\ m \in up /\ installed[m] # 0
    /\ MayCast(m, installed[m])
    /\ log' = Casts(log, m, installed[m], xs)
    /\ UNCHANGED <<views, installed, life, up, settled, got>>

Receive(m, u, s, i) ==
    /\ m \in up /\ installed[m] # 0
    /\ MayReceive(m, u, s, i)
    /\ got' = [got EXCEPT ![m] = @ \cup {<<u, s, i>>}]
    /\ UNCHANGED <<views, installed, life, up, log, settled>>

\* m crashes, or leaves: it takes no more steps.
Depart(m) ==
    /\ m \in up
    /\ up' = up \ {m}
    /\ UNCHANGED <<views, installed, life, log, settled, got>>

Restart(m) ==
    /\ Group!Restart(m)
    /\ up' = up \cup {m}
    /\ got' = [got EXCEPT ![m] = {}]
    /\ UNCHANGED <<log, settled>>

Init ==
    /\ Group!Init
    /\ up = Member
    /\ log = [k \in DOMAIN views |-> NoCasts(views[k])]
    /\ settled = [k \in DOMAIN views |-> NoArrivals]
    /\ got = [m \in Member |-> {}]

\* (By cases, so that a step is held against one action.)
Next ==
    IF views' # views
    THEN LET k == Len(views')
             v == views'[k]
         IN IF installed' = installed THEN Decide(v)
            ELSE \E m \in Member : installed'[m] # installed[m] /\ m \in DOMAIN v.lives /\ DecideAndInstall(v, m, log'[k][m])
    ELSE \E m \in Member :
        IF life' # life THEN life'[m] # life[m] /\ Restart(m)
        ELSE IF up' # up THEN Depart(m)
        ELSE IF installed' # installed
             THEN /\ installed'[m] # installed[m]
                  /\ LET k == installed'[m] IN
                     /\ k \in DOMAIN views /\ m \in DOMAIN log[k]
                     /\ Install(m, k, SubSeq(log'[k][m], Len(log[k][m]) + 1, Len(log'[k][m])))
        ELSE IF log' # log
             THEN LET u == installed[m] IN
                  /\ u # 0
                  /\ Cast(m, SubSeq(log'[u][m], Len(log[u][m]) + 1, Len(log'[u][m])))
        ELSE \E r \in got'[m] \ got[m] : Receive(m, r[1], r[2], r[3])

Spec == Init /\ [][Next]_virtual_synchrony_vars
=============================================================================
