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
=============================================================================
