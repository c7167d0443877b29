--------------------------- MODULE MCStablePromised --------------------------
(******************************************************************************)
(* Models of what is given to STABLE (JoinDigest), whose ablations violate    *)
(* one part of it alone (`groupcomm mutants --guarantees`). Each begins with  *)
(* views and promises of its own. A single member does something: mostly C    *)
(* installs the last view. (Such a history need not be one of Membership.)    *)
(******************************************************************************)
EXTENDS MCStable

AC == <<"A", "C">>

\* A promised its digest to `to` in view number `in`.
Promised(to, to_life, in, vector) ==
    [by |-> "A", by_life |-> 0, view |-> in, to |-> to, to_life |-> to_life, vector |-> vector]
ToC(in, members) == Promised("C", 0, in, [s \in members |-> Nothing])

Begun(decided, promised) ==
    [views |-> decided, promises |-> promised, installed |-> [m \in Member |-> 0], life |-> [m \in Member |-> 0]]

JustA == FirstView(1, "A", <<"A">>)
JustB == FirstView(1, "B", <<"B">>)
JustAB == FirstView(1, "A", AB)
LetsIn(counter, members, preds) == Follow(counter, "A", members, preds, Anew("C", 0))

-----------------------------------------------------------------------------
(* At the start: in the place of Given. C can install the last view. *)

\* Another process has the promise, or a former incarnation of C.
ToAnother == Begun(<<JustA, LetsIn(2, AC, {1})>>, {Promised("D", 0, 1, [s \in {"A"} |-> Nothing])})
ToFormer ==
    [Begun(<<JustA, Follow(2, "A", AC, {1}, Anew("C", 1))>>, {ToC(1, {"A"})}) EXCEPT !.life["C"] = 1]
\* C has promises, and is in a predecessor itself, which it has not installed.
ToItself ==
    [Begun(<<JustA, FirstView(1, "C", <<"C">>), Follow(2, "A", AC, {1}, Nobody), Follow(3, "A", AC, {2, 3}, Nobody)>>,
        {ToC(1, {"A"})}) EXCEPT !.installed["C"] = 2]
\* The predecessor is of another group; follows a view without the promiser; has the promiser, and follows none with it;
\* or C was in the view before it.
OfAnotherGroup == Begun(<<JustA, JustB, LetsIn(2, <<"B", "C">>, {2})>>, {ToC(1, {"A"})})
WithoutPromiser ==
    Begun(<<JustAB, Follow(2, "B", <<"B">>, {1}, Nobody), LetsIn(3, <<"B", "C">>, {2})>>, {ToC(1, {"A", "B"})})
PromiserElsewhere ==
    Begun(<<JustA, JustB, Follow(2, "B", AB, {2}, Nobody), LetsIn(3, ABC, {3})>>, {ToC(1, {"A"})})
WasLeftOut ==
    Begun(<<JustA, LetsIn(2, AC, {1}), Follow(3, "A", <<"A">>, {2}, Nobody), LetsIn(4, AC, {3})>>, {ToC(1, {"A"})})
\* The predecessor has a former incarnation of C.
FormerIsIn ==
    [Begun(<<JustA, LetsIn(2, AC, {1}), Follow(3, "A", AC, {2}, Anew("C", 1))>>,
        {Promised("C", 1, 1, [s \in {"A"} |-> Nothing])}) EXCEPT !.life["C"] = 1]

\* The digest is without a member of its view; without the other side of a merge; has a former incarnation of a joiner.
LacksEntry == Begun(<<JustAB, LetsIn(2, ABC, {1})>>, {ToC(1, {"A"})})
LacksSide ==
    Begun(<<JustA, JustB, Follow(2, "A", AB, {1, 2}, Nobody), LetsIn(3, ABC, {3})>>, {ToC(1, {"A"})})
HasFormer ==
    Begun(<<JustAB, Follow(2, "A", AB, {1}, Anew("B", 1)), [LetsIn(3, ABC, {2}) EXCEPT !.lives["B"] = 1]>>,
       {ToC(1, {"A", "B"})})
\* A and B have parted, and merged.
PartedSince ==
    Begun(<<JustAB, Follow(2, "B", <<"B">>, {1}, Nobody), Follow(2, "A", <<"A">>, {1}, Nobody),
         Follow(3, "A", AB, {2, 3}, Nobody), LetsIn(4, ABC, {4})>>, {ToC(1, {"A", "B"})})
\* ... and with B there was C, which was left out.
LeftOutOnTheWay ==
    Begun(<<JustAB, LetsIn(2, ABC, {1}), Follow(3, "B", AB, {2}, Nobody), Follow(2, "A", <<"A">>, {1}, Nobody),
         Follow(4, "A", AB, {3, 4}, Nobody), LetsIn(5, ABC, {5})>>, {ToC(1, {"A", "B"})})

\* A holds its vote for a former incarnation of C.
HoldsForFormer ==
    [Begun(<<JustA, LetsIn(2, AC, {1})>>, {}) EXCEPT !.life["C"] = 1, !.installed["A"] = 1]
\* B has joined A, which had promised its digest to C.
JoinedSince ==
    [Begun(<<JustA, Follow(2, "A", AB, {1}, Anew("B", 0))>>, {ToC(1, {"A"})}) EXCEPT !.installed["A"] = 2, !.installed["B"] = 2]

Given == JoinedSince

-----------------------------------------------------------------------------
GivenWindow(m, s) == Window(Nothing)

\* In the place of Init. A holds its vote for C.
GivenInit ==
    /\ views = Given.views
    /\ installed = Given.installed
    /\ life = Given.life
    /\ promises = Given.promises
    /\ rm = [m \in Member |->
                [s \in (IF installed[m] = 0 THEN {} ELSE DOMAIN views[installed[m]].lives) |-> GivenWindow(m, s)]]
    /\ local = [m \in Member |->
        IF installed[m] = 0 THEN Start(m)
        ELSE [MemberStep(Start(m), [type |-> "ViewInstalled", view |-> ViewOf(views[installed[m]]),
                                    digest |-> DigestOf(rm[m])]).state
              EXCEPT !.promised = IF m = "A" THEN {"C"} ELSE {}]]
    /\ network = {}
    /\ up = Member
    /\ lost = {}
    /\ spent = [kind \in {"lost", "crashes", "restarts", "withdrawn", "misuses"} |-> 0]
    /\ act = NoAct

\* In the place of Next.
InstallsLast == (Join("C") \/ InstallView("C")) /\ installed'["C"] = Len(views)
PromisesOnly == PromiseDigest("A")

\* In the place of PromiseDigest: a member without a view promises its digest.
PromisesBeforeItsView(m) ==
    /\ installed[m] = 0
    /\ promises' = promises \cup {JoinDigest!PromiseOf(m, "C")}
    /\ Environment("PromiseDigest", m, None, {})
    /\ UNCHANGED <<local, rm, network, up, views, installed, life, lost, spent>>

\* In the place of GivenWindow: the first message of B is purged.
FirstOfBPurged(m, s) ==
    IF s = "B" THEN [Window(Nothing) EXCEPT !.delivered = FirstSeqno, !.purged = FirstSeqno] ELSE Window(Nothing)

-----------------------------------------------------------------------------
\* A member that installs a view may use a promise for each predecessor that it does not come from.
StartsAsPromisedStep ==
    \A m \in Member : (installed'[m] # installed[m] /\ installed'[m] # 0) =>
        \A j \in PromisedJoinDigest!ToBeTold(m, views'[installed'[m]]) : \E p \in promises :
            PromisedJoinDigest!Redeemable(p, m, views'[installed'[m]], j)
StartsAsPromised == [][StartsAsPromisedStep]_vars
=============================================================================
