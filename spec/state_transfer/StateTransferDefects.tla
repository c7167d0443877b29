------------------------ MODULE StateTransferDefects -------------------------
(***************************************************************************)
(* Defects that the claims must notice, where no guard of StateTransfer    *)
(* says it. Each is an operator that a model puts in the place of another. *)
(***************************************************************************)
EXTENDS StateTransferInstruments

(* In the place of MemberStep *)

\* The effects of a step but for the events of a type.
EffectsBut(step, type) ==
    LET Other(effect) == ~(effect.type = "PassUp" /\ effect.event.type = type) IN SelectSeq(step.effects, Other)

\* A member passes up what it delivers before it has the state.
PassesUpStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "AppReceived" /\ ~s.has /\ step.outcome = "handled"
    THEN [step EXCEPT !.effects = <<Deliver(e.sender, e.message.payload)>>]
    ELSE step

\* A member drops its state as soon as its view merges.
DropsAtMergeStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "MergeViewInstalled" /\ step.outcome = "handled" /\ s.has
    THEN [step EXCEPT !.state.has = FALSE, !.state.giving = [m \in {} |-> 0], !.effects = Append(@, StateDropped)]
    ELSE step

\* At the decision every member drops its state.
AllDropStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "TellReceived" /\ step.outcome = "handled" /\ step.state.settled /\ ~s.settled
    THEN [step EXCEPT !.state.has = FALSE, !.effects = Append(@, StateDropped)]
    ELSE step

\* A provider does not mark its state.
NeverMarksStep(s, e) ==
    LET step == Step(s, e) IN [step EXCEPT !.effects = EffectsBut(step, "MarkState")]

\* A member hears nothing where its state is dropped.
DropsInSilenceStep(s, e) ==
    LET step == Step(s, e) IN [step EXCEPT !.effects = EffectsBut(step, "StateDropped")]

\* A member forgets what waits for a choice when that is over.
ForgetsSafeStep(s, e) ==
    LET step == Step(s, e)
    IN IF e.type = "TellReceived" /\ s.safe > 0
       THEN [step EXCEPT !.state.said = s.said, !.effects = EffectsBut(step, "SafeUpTo")] ELSE step

\* An ignored event changes the state.
IgnoredCountsStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "AskReceived" /\ step.outcome = "ignored" THEN [step EXCEPT !.state.attempt = @ + 1] ELSE step

\* In the place of MayDeliver: members leave a view at different places.
DeliversBeyondCut(m, i) == TRUE

\* In the place of LacksAlone: a member that declares a state does not note that its view is vacant.
LacksAloneUntold(s) ==
    IsFormed(s) /\ s.view.members = <<s.member>> /\ s.settled /\ ~s.has /\ ~s.declares /\ KeepFrom = "base"

\* In the place of AskTimeoutFires: the timer of a member that no member gives the state to never fires.
NeverAsksAgain(m) == FALSE

\* In the place of ReceiveUnicast: no unicast arrives.
NeverReceived(m) == FALSE

-----------------------------------------------------------------------------
(* In the place of Apply: a step reaches beyond its member and its effects *)

ApplyBeyond(action, m, event, consumed, k, orders, again, locals, wires, applications, casts) ==
    \E step \in {MemberStep(local[m], event)} :
    \E new \in {MulticastsOf(step.effects)} :
        /\ local' = locals
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ wire' = wires
        /\ apps' = applications
        /\ cast' = casts
        /\ order' = IF k = installed[m] /\ IsClosed(m) THEN orders
                    ELSE Ordered(orders, m, k, Len(cast[m]) - again, again + Len(new))
        /\ up' = IF Ended(step.effects) THEN up \ {m} ELSE up

Locals(m, step) == [local EXCEPT ![m] = step.state]
Applications(m, step) == [apps EXCEPT ![m] = Answers(m, @, step.effects)]
Casts(m, step) == [cast EXCEPT ![m] = @ \o MulticastsOf(step.effects)]
Wires(m, consumed, step) == AfterStep(wire, m, consumed, step.effects, up)

\* A step counts a message at the others.
ApplyToNeighbour(action, m, event, consumed, k, orders, again) ==
    \E step \in {MemberStep(local[m], event)} :
        ApplyBeyond(action, m, event, consumed, k, orders, again,
                    [x \in Member |-> IF x = m THEN step.state
                                      ELSE IF step.effects # <<>> THEN [local[x] EXCEPT !.sent = @ + 1] ELSE local[x]],
                    Wires(m, consumed, step), Applications(m, step), Casts(m, step))

\* A step that sets the state reaches the applications of the others.
ApplyToApplications(action, m, event, consumed, k, orders, again) ==
    \E step \in {MemberStep(local[m], event)} :
        ApplyBeyond(action, m, event, consumed, k, orders, again, Locals(m, step), Wires(m, consumed, step),
                    [x \in Member |-> Answers(x, apps[x], step.effects)], Casts(m, step))

\* A step puts a unicast on the wire that none of its effects asks for.
ApplyToWire(action, m, event, consumed, k, orders, again) ==
    \E step \in {MemberStep(local[m], event)} :
        ApplyBeyond(action, m, event, consumed, k, orders, again, Locals(m, step),
                    [Wires(m, consumed, step) EXCEPT ![m][m] = IF action = "AppSends" THEN Append(@, CannotMessage(1)) ELSE @],
                    Applications(m, step), Casts(m, step))

\* A step multicasts a message that none of its effects asks for.
ApplyToCasts(action, m, event, consumed, k, orders, again) ==
    \E step \in {MemberStep(local[m], event)} :
        ApplyBeyond(action, m, event, consumed, k, orders, again, Locals(m, step), Wires(m, consumed, step),
                    Applications(m, step),
                    [Casts(m, step) EXCEPT ![m] = IF action = "DeliverApp" THEN Append(@, TellMessage(NoViewId, StandingOf(local[m]))) ELSE @])

\* In the place of HeardByAll.
KnownToOne == FALSE
=============================================================================
