--------------------------- MODULE MCMergeGmsFlush ---------------------------
(* Bounds of the models of merging over GMS under FLUSH. *)
EXTENDS MergeGmsFlush, MCMergeGms

ApartAB == <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>)>>
ThreeTogether == <<FirstView(1, "A", <<"A", "B", "C">>)>>
ThreeApart == <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>), FirstView(1, "C", <<"C">>)>>
ABTogether == <<FirstView(1, "A", <<"A", "B">>)>>

NoMulticasts == [m \in Member |-> 0]
OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
TwoOfA == [m \in Member |-> IF m = "A" THEN 2 ELSE 0]
OneOfB == [m \in Member |-> IF m = "B" THEN 1 ELSE 0]
OneOfC == [m \in Member |-> IF m = "C" THEN 1 ELSE 0]

-----------------------------------------------------------------------------
(* Defects: the end of a stop                                                 *)

\* In the place of MayBegin in Flush: no flush begins for a state.
BeginsForViewsAlone(s) ==
    Flush!ForViews \in s.wants /\ Flush!InView(s) /\ ~Flush!Running(s) /\ s.owner # s.member

\* In the place of ResumeAll in Flush: the requester's flush does not end.
StopsAndRuns(s) ==
    [state |-> s, effects |-> Flush!SendAll(s.view.members, Flush!Unsuspected(s), Flush!StopFlush(s.view.id))]

\* In the place of Open in Flush: the owner of the flush stays the owner.
OpensAndKeepsOwner(s) ==
    LET sends == [i \in DOMAIN s.waiting |-> Multicast(Flush!Data(s.view.id, s.sent + i, s.waiting[i]))]
    IN Flush!Then([state |-> [s EXCEPT !.latched = FALSE, !.waiting = <<>>, !.sent = @ + Len(s.waiting),
                                       !.frozen = FALSE, !.limit = Flush!NoVector, !.owes = FALSE],
                   effects |-> (IF s.frozen THEN <<Flush!Release>> ELSE <<>>) \o sends], Flush!FreeApplication)

\* In the place of AfterStops: what is asked for stays asked for; a stop never ends.
StopsLeft(m, event, step, asked, given) ==
    LET suspends == Up(step.effects, "Suspend") # {}
        answered == event.type = "GroupStopped" /\ m \in stops.asked
        follows == Up(step.effects, "MergeViewInstalled") # {} /\ ~G!IsActing(step.state.gms)
        ends == suspends \/ follows \/ Up(step.effects, "Resume") # {}
    IN [asked |-> IF suspends THEN stops.asked \cup {m} ELSE IF answered \/ follows THEN asked ELSE stops.asked,
        given |-> IF ends THEN given ELSE IF answered THEN stops.given \cup {m} ELSE stops.given,
        held |-> stops.held]
StaysAsked(m, event, step) == StopsLeft(m, event, step, stops.asked, stops.given \ {m})
StaysGiven(m, event, step) == StopsLeft(m, event, step, stops.asked \ {m}, stops.given)

-----------------------------------------------------------------------------
(* Defects of a step that departs: in the place of PassedUp                   *)

PassedUpWith(logs, cuts, received) ==
    /\ transfers' = transfers
    /\ CASE act'.action = "Crash" -> AfterCrash(act'.member)
         [] act'.action = "Restart" -> AfterRestart(act'.member)
         [] OTHER -> AfterStepOf(act'.member)
    /\ log' = logs /\ settled' = cuts /\ got' = received

Enters == installed' # installed
Decides == views' # views
LogsNow == IF Decides THEN Append(log, Channel!NoCasts(views'[Len(views')])) ELSE log
CutsBefore == IF Decides THEN Append(settled, Channel!NoArrivals) ELSE settled
CutsNow ==
    IF Enters THEN [CutsBefore EXCEPT ![installed'[act'.member]] = Channel!Came(act'.member, @)] ELSE CutsBefore
ReceivedNow == IF Enters THEN [got EXCEPT ![act'.member] = {}] ELSE got

DepartsDeciding == up' # up /\ Decides /\ ~Enters
DepartsEntering == up' # up /\ Enters

\* A member that departs has a multicast more in its log.
MoreLogged == [LogsNow EXCEPT ![1][act'.member] = Append(@, 0)]
LogsWhereItDecides == PassedUpWith(IF DepartsDeciding THEN MoreLogged ELSE LogsNow, CutsNow, ReceivedNow)
LogsWhereItEnters == PassedUpWith(IF DepartsEntering THEN MoreLogged ELSE LogsNow, CutsNow, ReceivedNow)

\* The new view already has the cut of the other member; or the view entered has none.
Other == CHOOSE x \in Member : x # act'.member
CutsWhereItDecides ==
    PassedUpWith(LogsNow, IF DepartsDeciding THEN Append(settled, [k \in {1} |-> got[Other]]) ELSE CutsNow, ReceivedNow)
CutsWhereItEnters == PassedUpWith(LogsNow, IF DepartsEntering THEN CutsBefore ELSE CutsNow, ReceivedNow)

\* The member has received a multicast of its own that it has not sent; or still has what it received before.
ReceivesWhereItDecides ==
    PassedUpWith(LogsNow, CutsNow,
                 IF DepartsDeciding THEN [got EXCEPT ![act'.member] = {<<1, act'.member, 1>>}] ELSE ReceivedNow)
ReceivesWhereItEnters == PassedUpWith(LogsNow, CutsNow, IF DepartsEntering THEN got ELSE ReceivedNow)

\* In the place of Enter in Gms: a member that wants to leave, and suspects the first of the view, has a view of its own.
EntersForeignView(s, decision) ==
    LET departs == s.leaving /\ Head(decision.members) \in s.suspected
        own == IF departs THEN [decision EXCEPT !.id.creator = "Z"] ELSE decision
    IN [G!Into(s, "following", {}) EXCEPT !.decision = own, !.suspected = @ \cap MembersOf(decision),
                                          !.queue = G!Kept(s, decision), !.leave_asked = "", !.joining = FALSE]

-----------------------------------------------------------------------------
(* Defects of a multicast: in the place of CastData                           *)

CastDataWith(m, may, logs, received, cuts) ==
    /\ m \in up /\ cast[m] < Casts[m]
    /\ InView(local[m]) /\ may
    /\ cast' = [cast EXCEPT ![m] = @ + 1]
    /\ seen' = [seen EXCEPT ![m][m] = @ + 1]
    /\ log' = logs /\ settled' = cuts
    /\ got' = [got EXCEPT ![m] = @ \cup received]
    /\ \E done \in {Runs(m, <<[type |-> "SendRequested", payload |-> cast[m] + 1]>>)} :
        /\ Record("CastData", m, FALSE, None, NoEvent, {}, "handled", done.effects)
        /\ UNCHANGED below
        /\ FlushDid(m, done, wires)
    /\ UNCHANGED <<lost, transfers>>

IsOpen(m) == ~flush[m].latched
LogNow(m) == Channel!Casts(log, m, installed[m], <<cast[m] + 1>>)
OwnCopy(m) == {<<installed[m], m, flush[m].sent + 1>>}

\* A member multicasts in a view that another member has left.
CastsAfterCut(m) ==
    CastDataWith(m, IsOpen(m) \/ \E k \in DOMAIN views : Channel!ClosedBy(m, installed[m], k), LogNow(m), OwnCopy(m), settled)

\* A multicast is two in the log, does not come back to its sender, or fixes a cut.
CastsTwice(m) == CastDataWith(m, IsOpen(m), Channel!Casts(LogNow(m), m, installed[m], <<0>>), OwnCopy(m), settled)
CastsUnheard(m) == CastDataWith(m, IsOpen(m), LogNow(m), {}, settled)
CastsAndCuts(m) == CastDataWith(m, IsOpen(m), LogNow(m), OwnCopy(m), [settled EXCEPT ![1] = [k \in {1} |-> {}]])

\* In the place of ReceiveNewView: views arrive at B alone, or at C.
ReceivedByB(m) == m = "B" /\ Receive("ReceiveNewView", m, "NEW_VIEW")

ReceivedByC(m) == m = "C" /\ Receive("ReceiveNewView", m, "NEW_VIEW")

\* In the place of MaybeDone in Flush: a member that wants to leave is not waited for.
NeverAwaitsLeavers(s) ==
    IF s.run.phase \in {"start", "reconcile"} /\ Flush!Asked(s) # {}
       /\ \A m \in s.run.want : m # s.member /\ local[m].gms.leaving
    THEN Flush!AllReported(s) ELSE Flush!Unchanged(s)
=============================================================================
