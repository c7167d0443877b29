---------------------------- MODULE FlushDefects ----------------------------
(***************************************************************************)
(* Defects that the claims must notice: of the algorithm where no guard of *)
(* Flush says it, of the layers below, and of the model itself. Each is an *)
(* operator that a model puts in the place of another (models.yaml).       *)
(***************************************************************************)
EXTENDS FlushInstruments

(* The algorithm *)

\* In the place of Without: acknowledgements of a view are awaited from the dead.
AwaitsTheDead(s, x) ==
    LET struck == [s EXCEPT !.run.want = @ \ {x}, !.run.reports = [m \in DOMAIN @ \ {x} |-> @[m]]]
    IN IF ~Running(s) \/ s.run.phase = "view" THEN Unchanged(s)
       ELSE IF s.run.phase = "reconcile" THEN Begin(struck)
       ELSE MaybeDone(struck)

\* In the place of IsFree: an application is told to block at every START_FLUSH.
FreeAlways(s) == TRUE

\* In the place of Freeing: it is set free without having been blocked.
FreesAll(s) == <<Unblock>>

\* In the place of NextId: the view's first member is named, and not who made it.
NamedByFirst(s) == ViewId(s.decision.id.counter + 1, Head(s.decision.members))

\* In the place of JoinerBegins: it flushes only where the membership is to change.
OnlyForAChange(s) == MaybeBegin(s)

\* In the place of Behind: nobody else needs the view.
NobodyBehind(s) == {}

\* In the place of NextMembers: the most junior member is forgotten where others join or leave.
ForgetsTheLast(s) ==
    LET Stays(m) == m \notin s.suspected \cup s.leaving
        all == SelectSeq(s.decision.members, Stays) \o s.joining
    IN IF all = <<>> THEN <<s.member>>
       ELSE IF all = s.decision.members \/ Len(all) = 1 THEN all ELSE SubSeq(all, 1, Len(all) - 1)

\* In the place of Installed: the layers above are not told twice, nor those below at all.
InstalledAbove(decision) == <<PassUp([type |-> "ViewInstalled", view |-> ViewIn(decision)])>>

\* In the place of IsNext: any multicast is passed up, in whatever order they come.
AnyIsNext(s, x, seqno) == TRUE

-----------------------------------------------------------------------------
(* The layers below, and the model itself *)

\* In the place of CountsOut: who is suspected falsely is not told.
NobodyIsTold(x, m) == FALSE

\* In the place of ReceivedAs: it is taken for one of the view before.
OfTheViewBefore(m, event) == <<installed[m] - 1, event.sender, event.message.seqno>>

\* In the place of ApplyWith: what a step must not do. START_FLUSH changes the others, too; who wants to join makes
\* a message that no effect says; what an application multicasts is said to be ignored, and is logged twice.
ApplyWrongly(action, m, event, consumed, taken, given) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [x \in Member |->
                IF x = m THEN step.state
                ELSE IF action = "ReceiveStartFlush" THEN [local[x] EXCEPT !.round = 9] ELSE local[x]]
        /\ Record(action, m, FALSE, None, event, consumed,
                  IF action = "AppSends" THEN "ignored" ELSE step.outcome,
                  IF action = "AppSends" THEN <<>> ELSE step.effects)
        /\ wire' = LET after == AfterStep(wire, m, consumed, act'.effects, up)
                   IN IF action = "AskToJoin" THEN [after EXCEPT ![m][m] = Append(@, StopFlush)] ELSE after
        /\ copies' = copies \ taken
        /\ log' = LET sends == Payloads(MulticastsOf(step.effects))
                  IN Channel!Casts(log, m, installed[m], sends \o sends)
        /\ UNCHANGED <<up, views, installed, settled, got, app, fetches>>
=============================================================================
