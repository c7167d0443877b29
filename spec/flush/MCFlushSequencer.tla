-------------------------- MODULE MCFlushSequencer --------------------------
(* Bounds of the models of SEQUENCER over FLUSH. *)
EXTENDS FlushSequencer

JustA == <<"A">>
NoneApart == <<>>
BCApart == <<<<"B", "C">>>>

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>

NoCasts == [m \in Member |-> 0]
OneOf(set) == [m \in Member |-> IF m \in set THEN 1 ELSE 0]
OneOfB == OneOf({"B"})
OneOfC == OneOf({"C"})
OneOfAAndB == OneOf({"A", "B"})
OneOfBAndC == OneOf({"B", "C"})

-----------------------------------------------------------------------------
(* Defects. In the place of SequencerDid: *)

\* a member keeps in its table what has come back;
KeepsInTable(m, event, consumed, step) ==
    /\ sequencer' = [sequencer EXCEPT ![m] =
            IF event.type = "DataReceived" THEN [step.state EXCEPT !.forward_table = sequencer[m].forward_table]
            ELSE step.state]
    /\ forwards' = AfterStep(forwards, m, consumed, step.effects, up)
    /\ delivered' = [delivered EXCEPT ![m] = @ \o Above!DeliveredOf(event, step.effects, installed'[m])]
    /\ refused' = refused

\* or it neither keeps nor forwards what its application multicasts.
ForgetsRequest(m, event, consumed, step) ==
    /\ sequencer' = [sequencer EXCEPT ![m] =
            IF event.type = "SendRequested" THEN [step.state EXCEPT !.forward_table = <<>>] ELSE step.state]
    /\ forwards' = IF event.type = "SendRequested" THEN forwards ELSE AfterStep(forwards, m, consumed, step.effects, up)
    /\ delivered' = [delivered EXCEPT ![m] = @ \o Above!DeliveredOf(event, step.effects, installed'[m])]
    /\ refused' = refused
=============================================================================
