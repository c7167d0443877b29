----------------------------- MODULE MCGmsStack ------------------------------
(* Bounds of the models of FLUSH, GMS and STABLE in one stack. *)
EXTENDS GmsStack

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>

\* Layers that do not hear something, or do not answer.
DeafToViews(i, e) == RealKnows(i, e) /\ ~(i = 3 /\ e.type = "ViewInstalled")
FlushIsDeaf(i, e) == RealKnows(i, e) /\ ~(i = 1 /\ e.type = "ViewInstalled")
DeafToAnswers(i, e) == RealKnows(i, e) /\ ~(i = 2 /\ e.type = "GroupStopped")
GivesNoDigest(i, s, e) == IF e.type = "GetDigest" THEN Ignored(s) ELSE RealStepOf(i, s, e)

\* GMS has the layer with windows multicast a view, in the view before, and not sent to each member.
IsNewView(f) == f.type = "Send" /\ f.message.type = "NEW_VIEW"
IsNoNewView(f) == ~IsNewView(f)
AsMulticast(effects) ==
    LET views == SelectSeq(effects, IsNewView)
    IN IF views = <<>> THEN effects ELSE <<Multicast(views[1].message)>> \o SelectSeq(effects, IsNoNewView)
MulticastsViews(i, s, e) ==
    IF i = 2 THEN [RealStepOf(i, s, e) EXCEPT !.effects = AsMulticast(@)] ELSE RealStepOf(i, s, e)

\* ... and that layer holds nothing back.
MulticastsAndPasses(i, s, e) ==
    IF i = 4 /\ e.type = "HoldBack" THEN Ignored(s) ELSE MulticastsViews(i, s, e)

\* A layer that does not hear that the group has to be stopped.
DeafToSuspend(i, e) == RealKnows(i, e) /\ ~(i = 1 /\ e.type = "Suspend")

\* Defects of a single layer, in the place of StepOf. Each changes a single part of its state.
Defective(layer, i, s, e, Becomes(_)) ==
    LET step == RealStepOf(i, s, e) IN
    IF i = layer /\ step.outcome = "handled" THEN [step EXCEPT !.state = Becomes(@)] ELSE step

\* FLUSH is resumed, and its latch stays closed; or it keeps its owner. Or the coordinator's FLUSH
\* takes GMS for waiting.
LatchStaysClosed(i, s, e) ==
    LET Becomes(t) == IF e.type = "StopFlushReceived" THEN [t EXCEPT !.latched = s.latched] ELSE t
    IN Defective(1, i, s, e, Becomes)
OwnerStays(i, s, e) ==
    LET Becomes(t) == IF e.type = "StopFlushReceived" THEN [t EXCEPT !.owner = s.owner] ELSE t
    IN Defective(1, i, s, e, Becomes)
CallerStays(i, s, e) ==
    LET Becomes(t) == IF e.type = "StopFlushReceived" /\ e.sender = s.member THEN [t EXCEPT !.wants = {Flush!ForViews}] ELSE t
    IN Defective(1, i, s, e, Becomes)

\* GMS resumes the group, and takes it for stopped.
TakenForStopped(i, s, e) ==
    LET Becomes(t) == IF s.phase # "at rest" /\ t.phase = "at rest" THEN [t EXCEPT !.phase = "announcing"] ELSE t
    IN Defective(2, i, s, e, Becomes)

\* A member takes itself for the creator of the view that it is sent. And a joiner takes all members for first incarnations.
CreatorIsReceiver(i, s, e) ==
    LET Becomes(t) == IF e.type = "NewViewReceived" THEN [t EXCEPT !.decision.id.creator = s.member] ELSE t
    IN Defective(2, i, s, e, Becomes)
JoinerForgetsIncarnations(i, s, e) ==
    LET Becomes(t) ==
            IF e.type = "JoinRspReceived" THEN [t EXCEPT !.decision.lives = [x \in DOMAIN @ |-> 0]] ELSE t
    IN Defective(2, i, s, e, Becomes)

\* ... or itself for its next incarnation.
JoinerIsNext(i, s, e) ==
    LET Becomes(t) == IF e.type = "JoinRspReceived" THEN [t EXCEPT !.decision.lives[s.member] = @ + 1] ELSE t
    IN Defective(2, i, s, e, Becomes)

\* GMS announces no view.
IsNoAnnouncement(f) == ~(f.type \in {"PassUp", "PassDown"} /\ f.event.type = "ViewInstalled")
AnnouncesNoView(i, s, e) ==
    IF i = 2 THEN [RealStepOf(i, s, e) EXCEPT !.effects = SelectSeq(@, IsNoAnnouncement)] ELSE RealStepOf(i, s, e)

\* STABLE holds its vote for a joiner that is in. And the windows keep the name of the former view.
VoteStaysHeld(i, s, e) ==
    LET Becomes(t) == IF e.type = "ViewInstalled" THEN [t EXCEPT !.promised = s.promised] ELSE t
    IN Defective(3, i, s, e, Becomes)
WindowsKeepView(i, s, e) == LET Becomes(t) == [t EXCEPT !.view = s.view] IN Defective(4, i, s, e, Becomes)

\* In the place of Reports: the detector is silent. And it reports B to A, which is alive.
ReportsNothing(m) == {}
ReportsAlive(m) == IF m = "A" THEN Watched(GmsOf(m)) \ told[m] ELSE {}
=============================================================================
