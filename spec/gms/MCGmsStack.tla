----------------------------- MODULE MCGmsStack ------------------------------
(* Bounds of the models of FLUSH, GMS and STABLE in one stack. *)
EXTENDS GmsStack

AB == <<"A", "B">>

\* Layers that do not hear something, or do not answer.
DeafToViews(i, e) == RealKnows(i, e) /\ ~(i = 3 /\ e.type = "ViewInstalled")
FlushIsDeaf(i, e) == RealKnows(i, e) /\ ~(i = 1 /\ e.type = "ViewInstalled")
DeafToAnswers(i, e) == RealKnows(i, e) /\ ~(i = 2 /\ e.type = "GroupStopped")
GivesNoDigest(i, s, e) == IF e.type = "GetDigest" THEN Ignored(s) ELSE RealStepOf(i, s, e)
=============================================================================
