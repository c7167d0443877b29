---------------------------- MODULE MCNakackGiven ----------------------------
(***************************************************************************)
(* Models of what NAKACK gives, whose ablations violate one part of it     *)
(* alone (`groupcomm mutants --guarantees`).                               *)
(***************************************************************************)
EXTENDS MCNakack

\* A stays in its view while B crashes, and comes back to C.
StaysScript ==
    <<FirstView(1, "A", AB), FirstView(1, "C", <<"C">>), Follow(2, "C", <<"C", "B">>, {2}, Anew("B", 1))>>

-----------------------------------------------------------------------------
(* In the place of MemberStep *)

IsNoDelivery(effect) == ~(effect.type = "PassUp" /\ effect.event.type = "Deliver")

\* A member's own multicasts after the first one are not passed up.
PassesFirstUpStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "SendRequested" /\ step.outcome = "handled" /\ step.state.windows[s.member].delivered > FirstSeqno
    THEN [step EXCEPT !.effects = SelectSeq(@, IsNoDelivery)] ELSE step

\* An own multicast is taken for the message of another member that has its number, and was delivered.
TakesOwnForOthersStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "SendRequested" /\ step.outcome = "handled"
       /\ \E x \in Members(s) \ {s.member} : s.windows[x].delivered >= step.state.windows[s.member].delivered
    THEN [step EXCEPT !.effects = SelectSeq(@, IsNoDelivery)] ELSE step

\* A message of a later view counts in the present view.
TakesLaterViewStep(s, e) ==
    IF e.type = "DataReceived" /\ InView(s) /\ e.message.view_id.counter > s.view.id.counter
    THEN Step(s, [e EXCEPT !.message.view_id = s.view.id]) ELSE Step(s, e)

(* In the place of GotAfter *)

\* A message is not passed up if a former incarnation of this member has delivered one of this sender with its number.
GotOverIncarnations(m, number, effects) ==
    LET IsNew(effect) ==
            ~\E i \in DOMAIN got[m] :
                /\ got[m][i].incarnation # life[m] /\ got[m][i].sender = effect.event.sender
                /\ got[m][i].payload[3] = effect.event.payload[3]
        ups == SelectSeq(DeliveredBy(effects), IsNew)
    IN got[m] \o [i \in DOMAIN ups |->
        [view |-> number, incarnation |-> life[m], sender |-> ups[i].event.sender, payload |-> ups[i].event.payload]]
=============================================================================
