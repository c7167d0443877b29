---------------------------- MODULE SafeDefects ------------------------------
(***************************************************************************)
(* Defects that the claims must notice, where no guard of Safe says it.    *)
(* Each is an operator that a model puts in the place of another.          *)
(***************************************************************************)
EXTENDS SafeInstruments

(* In the place of MemberStep *)

\* A member acknowledges one message more than it has delivered.
AcksAheadStep(s, e) ==
    LET step == Step(s, e)
        Ahead(effect) == IF effect.type = "Send" THEN [effect EXCEPT !.message.number = @ + 1] ELSE effect
    IN IF e.type = "DataReceived" THEN [step EXCEPT !.effects = [i \in DOMAIN @ |-> Ahead(@[i])]] ELSE step

\* A member acknowledges its own messages, too, and waits for that.
AcknowledgesItselfStep(s, e) ==
    IF e.type = "DataReceived" /\ e.sender = s.member
    THEN Handled([s EXCEPT !.had = Updated(@, e.sender, e.message.number)],
                 <<Deliver(e.sender, e.message.payload), Send(e.sender, AckMessage(s.view.id, e.message.number))>>)
    ELSE Step(s, e)

\* A member says that its view is formed when it installs it.
SaysAtOnceStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type \in {"ViewInstalled", "MergeViewInstalled"} /\ step.outcome = "handled"
    THEN [step EXCEPT !.effects = @ \o Says(step.state)] ELSE step

\* A member whose view was formed before it came says so of merged views alone.
SaysOfMergesAloneStep(s, e) ==
    LET step == Step(s, e)
        Other(effect) == effect.type # "Send"
    IN IF e.type = "ViewInstalled" THEN [step EXCEPT !.effects = SelectSeq(@, Other)] ELSE step

\* The members of the view before are counted, until the next.
CountsFormerStep(s, e) ==
    IF e.type = "DataReceived" /\ e.sender = s.member
    THEN Report([s EXCEPT !.had = Updated(@, e.sender, e.message.number)], <<Deliver(e.sender, e.message.payload)>>)
    ELSE Step(s, e)

\* Nothing is said of messages that a view makes unknown.
GivesUpSilentlyStep(s, e) ==
    LET step == Step(s, e)
        Other(effect) == ~(effect.type = "PassUp" /\ effect.event = [type |-> "UnknownUpTo", number |-> s.before])
    IN IF e.type \in {"ViewInstalled", "MergeViewInstalled"} /\ s.asks THEN [step EXCEPT !.effects = SelectSeq(@, Other)] ELSE step

\* A message is passed up when it is safe.
HoldsBackStep(s, e) ==
    LET step == Step(s, e)
        Other(effect) == ~(effect.type = "PassUp" /\ effect.event.type = "Deliver")
    IN IF e.type = "DataReceived" /\ step.outcome = "handled"
       THEN [step EXCEPT !.effects = <<Send(s.member, AckMessage(s.view.id, 0))>> \o SelectSeq(@, Other)] ELSE step

\* A message is reported twice.
CountsTwiceStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "AckReceived" /\ step.outcome = "handled" /\ step.state.told > s.told THEN [step EXCEPT !.state.told = s.told] ELSE step

\* What was reported is reported again with an ACK that says no more.
RepeatsStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "AckReceived" /\ step.outcome = "handled" /\ step.effects = <<>> /\ s.told > 0
    THEN [step EXCEPT !.effects = <<SafeUpTo(s.told)>>] ELSE step

\* Where views merge no answer is awaited.
DoubtsMergesStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "MergeViewInstalled" /\ step.state.asks
    THEN Handled([Settled(step.state) EXCEPT !.told = step.state.before], Append(step.effects, UnknownUpTo(step.state.before)))
    ELSE step

\* An ACK of what was never sent counts.
TakesAnyAckStep(s, e) ==
    IF e.type = "AckReceived" /\ e.message.number > s.sent
    THEN Handled([s EXCEPT !.acks = Updated(@, e.sender, e.message)], <<>>) ELSE Step(s, e)

\* An ACK of a view that is not installed yet is refused.
RefusesEarlyStep(s, e) ==
    IF e.type = "AckReceived" /\ e.message.view_id.counter > s.view.id.counter THEN RemoteError(s) ELSE Step(s, e)

\* Members that part do not know whether they have the message.
NeverSafeStep(s, e) ==
    LET step == Step(s, e)
        Doubts(effect) == IF effect.type = "PassUp" /\ effect.event.type = "SafeUpTo" THEN UnknownUpTo(effect.event.number) ELSE effect
    IN [step EXCEPT !.effects = [i \in DOMAIN @ |-> Doubts(@[i])]]

\* An ignored event changes the state.
IgnoredCountsStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "AckReceived" /\ step.outcome = "ignored" THEN [step EXCEPT !.state.sent = @ + 1] ELSE step

\* In the place of MayDeliver: members leave a view at different places.
DeliversBeyondCut(m, i) == TRUE

\* In the place of LatestLives: every member that was heard of is remembered for ever; or only the members are.
AllLives(function, members) == function
MembersAlone(function, members) == [m \in DOMAIN function \cap members |-> function[m]]

\* In the place of GivesUp: the answers of a merge are awaited in the next view, too.
NeverGivesUp(s) == s

\* In the place of ReceiveAck: no unicast arrives.
NeverReceived(m) == FALSE

-----------------------------------------------------------------------------
(* In the place of Apply: a step reaches beyond its member and its effects *)

\* A step counts a message at the others.
ApplyToNeighbour(action, m, event, consumed, deliveries, way) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [x \in Member |-> IF x = m THEN step.state
                                      ELSE IF step.effects # <<>> THEN [local[x] EXCEPT !.sent = @ + 1] ELSE local[x]]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ wire' = AfterStep(wire, m, consumed, step.effects, up)
        /\ told' = [told EXCEPT ![m] = Told(m, @, step.effects, deliveries, way)]

\* A step tells the others, too.
ApplyToApplications(action, m, event, consumed, deliveries, way) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ wire' = AfterStep(wire, m, consumed, step.effects, up)
        /\ told' = [x \in Member |-> Told(m, told[x], step.effects, deliveries, way)]

\* A step puts a unicast on the wire that none of its effects asks for.
ApplyToWire(action, m, event, consumed, deliveries, way) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ wire' = [AfterStep(wire, m, consumed, step.effects, up) EXCEPT ![m][m] =
                        IF action = "AppSends" THEN Append(@, AckMessage(NoViewId, 0)) ELSE @]
        /\ told' = [told EXCEPT ![m] = Told(m, @, step.effects, deliveries, way)]
=============================================================================
