------------------------------ MODULE MCGmsGiven ------------------------------
(***************************************************************************)
(* Models of what GMS gives, whose ablations violate one part of           *)
(* StopRequests or Departures alone (`groupcomm mutants --guarantees`).    *)
(***************************************************************************)
EXTENDS MCGmsDepartures

-----------------------------------------------------------------------------
(* In the place of MemberStep *)

AsksAsWell(step) == [step EXCEPT !.effects = Append(@, SuspendGroup)]

\* A process in no view asks for the group when it asks for admission.
AsksWithoutViewStep(s, e) ==
    IF e.type = "JoinRequested" /\ ~InView(s) THEN AsksAsWell(Step(s, e)) ELSE Step(s, e)

\* A member that leaves asks for the group.
LeaverAsksStep(s, e) ==
    IF e.type = "LeaveRequested" /\ Step(s, e).outcome = "handled" THEN AsksAsWell(Step(s, e)) ELSE Step(s, e)

-----------------------------------------------------------------------------
(* In the place of Misuse: other views are decided and installed, and all members crash. *)

\* Members are in their first incarnations, and none joins.
Successor(counter, creator, members, preds) ==
    [id |-> ViewId(counter, creator), members |-> members, preds |-> preds,
     lives |-> [m \in {members[i] : i \in DOMAIN members} |-> 0], joins |-> {}, digest |-> NoDigest]

\* A and B install views number `a` and `b`. A's step has these effects.
Decides(m, following, a, b, effects) ==
    /\ m = "A" /\ views = First
    /\ views' = views \o following
    /\ installed' = [installed EXCEPT !["A"] = a, !["B"] = b]
    /\ Take("Misuse", m, None, NoEvent, {}, Handled(local[m], effects))
    /\ up' = {}
    /\ UNCHANGED <<network, life, cast, seen, answers, transfers, stops, told, spent, promises>>

\* B has a view on another branch, and A asks for the group.
AsksWhereViewsBranch(m) ==
    Decides(m, <<Successor(2, "A", AB, {1}), Successor(2, "B", <<"B">>, {1})>>, 2, 3, <<SuspendGroup>>)

\* A decides a merge view without itself.
LeavesByMerge(m) ==
    Decides(m, <<Successor(2, "A", <<"A">>, {1}), Successor(2, "B", <<"B">>, {1}), Successor(3, "A", <<"B">>, {2, 3})>>,
            2, 4, <<>>)

\* A decides two views without itself.
LeavesTwice(m) == Decides(m, <<Successor(2, "A", <<"B">>, {1}), Successor(3, "A", <<"B">>, {1})>>, 1, 2, <<>>)

\* A decides a view without itself that follows a view which A has not installed.
LeavesLaterView(m) == Decides(m, <<Successor(2, "A", AB, {1}), Successor(3, "A", <<"B">>, {2})>>, 1, 3, <<>>)
=============================================================================
