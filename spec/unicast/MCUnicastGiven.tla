---------------------------- MODULE MCUnicastGiven ---------------------------
(***************************************************************************)
(* Models of what UNICAST gives, whose ablations violate one part of it    *)
(* alone (`groupcomm mutants --guarantees`).                               *)
(***************************************************************************)
EXTENDS MCUnicast

\* (The defects stand in the place of MemberStep.)
IsUp(effect) == effect.type = "PassUp"
IsNoUp(effect) == effect.type # "PassUp"
Ups(step) == SelectSeq(step.effects, IsUp)

\* With a message the next one is passed up, which was not sent.
PassesOneMoreStep(s, e) ==
    LET step == Step(s, e)
        ups == Ups(step)
    IN IF ups = <<>> THEN step
       ELSE [step EXCEPT !.effects = Append(@, DeliverUp(e.sender, ups[Len(ups)].event.payload + 1))]

\* The messages that waited behind a gap are passed up before the message that fills it, the last first.
LastFirstUpStep(s, e) ==
    LET step == Step(s, e)
        ups == Ups(step)
    IN [step EXCEPT !.effects = [i \in DOMAIN ups |-> ups[Len(ups) + 1 - i]] \o SelectSeq(@, IsNoUp)]

\* A window is opened by a later incarnation, and the message of the former one is passed up behind its first. (Each sends one.)
FormerBehindStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DataReceived" /\ e.sender \notin DOMAIN s.receives /\ Ups(step) # <<>>
       /\ e.message.connection.incarnation > 0 /\ e.message.payload > 1
    THEN [step EXCEPT !.effects = Append(@, DeliverUp(e.sender, e.message.payload - 1))] ELSE step
=============================================================================
