---------------------------- MODULE StackMember -----------------------------
(***************************************************************************)
(* Members with a stack of toys each, to which anything may happen at any  *)
(* moment: calls of the application, messages of any peer, timers, events  *)
(* from beneath. Nothing else is needed of a group: what a stack does      *)
(* depends on its own state and the event.                                 *)
(***************************************************************************)
EXTENDS Stack, Acts

CONSTANTS
    Member,
    Outside,    \* bound: the events from outside
    Movers,     \* bound: the members that receive events
    Leak        \* a defect of this model itself: a member's step changes the others

vars == <<local, act>>
view == local

-----------------------------------------------------------------------------
Happens(action, m, event) ==
    \E step \in {Step(local[m], event)} :
        /\ local' = [x \in Member |->
                IF x = m THEN step.state ELSE IF Leak THEN [local[x] EXCEPT !.layers[1].sent = TRUE] ELSE local[x]]
        /\ Record(action, m, FALSE, None, event, {}, step.outcome, step.effects)

OfType(type) == {event \in Outside : event.type = type}

Call(m) == m \in Movers /\ \E event \in OfType("Called") : Happens("Call", m, event)
Arrive(m) == m \in Movers /\ \E event \in OfType("Arrived") : Happens("Arrive", m, event)
Fire(m) == m \in Movers /\ \E event \in OfType("Fired") : Happens("Fire", m, event)
Raise(m) == m \in Movers /\ \E event \in OfType("Raised") : Happens("Raise", m, event)

MemberInit ==
    /\ local = [m \in Member |-> Start(m)]
    /\ act = NoAct

MemberNext == \E m \in Member : Call(m) \/ Arrive(m) \/ Fire(m) \/ Raise(m)

MemberSpec == MemberInit /\ [][MemberNext]_vars

-----------------------------------------------------------------------------
(* Claims *)

TopOf(m) == local[m].layers[1]
MidOf(m) == local[m].layers[2]
LowOf(m) == local[m].layers[3]

MemberTypeOK ==
    \A m \in Member :
        /\ local[m].member = m
        /\ \A i \in DOMAIN Names : local[m].layers[i].member = m /\ local[m].layers[i].view \in 0 .. LastView

\* STK-05 All layers have heard of a view, or none.
LayersShareView == \A m \in Member : TopOf(m).view = LowOf(m).view /\ MidOf(m).view = LowOf(m).view

\* STK-05, STK-07 The lowest has heard of it first: each layer has taken the value of the layer beneath it in the new
\* view.
LowestLayerHearsFirst ==
    \A m \in Member :
        /\ MidOf(m).level = LowOf(m).view
        /\ TopOf(m).level = IF LowOf(m).view = 0 THEN 0 ELSE 10 + MidOf(m).level

IsCalled(request) == act'.event.type = "Called" /\ act'.event.request = request

\* STK-02, STK-03, STK-08 An answer reaches whoever asked, in the step that asks: a decision is taken whole.
AnswerReachesCallerStep ==
    \A m \in Member :
        IsCalled(PassDown([type |-> "Decide"])) /\ act'.member = m /\ LowOf(m).view < LastView =>
            act'.outcome = "handled" /\ LowOf(m)'.view = LowOf(m).view + 1 /\ ~TopOf(m)'.waits /\ ~MidOf(m)'.waits
AnswerReachesCaller == [][AnswerReachesCallerStep]_vars

\* STK-04, STK-05 Nothing is swallowed: an event that no layer knows leaves as it came, and an observed event leaves,
\* too.
GoesOn(effect) ==
    LET known == \E i \in DOMAIN Names : Knows(i, effect.event)
    IN act'.outcome \in {"handled", "ignored"} /\ (~known \/ IsObserved(effect.event)) =>
        \E k \in DOMAIN act'.effects : act'.effects[k] = effect
NoEventSwallowedStep ==
    /\ act'.event.type = "Raised" => GoesOn(PassUp(act'.event.event))
    /\ act'.event.type = "Called" /\ act'.event.request.type = "PassDown" => GoesOn(act'.event.request)
NoEventSwallowed == [][NoEventSwallowedStep]_vars

\* STK-03, STK-09 All that follows from one effect leaves before what follows from the next: what the application
\* multicasts comes back to it before it goes to the network.
EffectsInOrderStep ==
    IsCalled(Multicast(Word(1))) /\ act'.outcome = "handled" =>
        [i \in DOMAIN act'.effects |-> act'.effects[i].type]
            = <<"SetTimer", "PassUp", "Datagram", "CancelTimer", "Datagram", "PassUp">>
EffectsInOrder == [][EffectsInOrderStep]_vars

\* STK-06 Only a message is a peer's mistake, and a message is never this member's.
RemoteErrorOnlyForMessageStep == act'.outcome = "remote_error" \/ act'.outcome = "local_error" =>
    (act'.outcome = "remote_error") = (act'.event.type = "Arrived")
RemoteErrorOnlyForMessage == [][RemoteErrorOnlyForMessageStep]_vars

\* STK-01 A step is one member's, and what is refused changes nothing in any layer.
OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ UnchangedUnlessHandled
OnlyByEffects == [][OnlyByEffectsStep]_vars

\* Witnesses.
HasDecidedTwice == \E m \in Member : TopOf(m).view = LastView
HasSent == \E m \in Member : TopOf(m).sent
HasReceived == \E m \in Member : LowOf(m).received

-----------------------------------------------------------------------------
(* Data for conformance *)

SeenLocal(m) == local[m]
SeenMessages == {}
SeenOutside(m) == 0
Alphabet(messages, outsides) == Outside
=============================================================================
