--------------------------- MODULE MCFlushNakack ----------------------------
(* Bounds of the models of FLUSH over NAKACK. *)
EXTENDS FlushNakack

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>
ABCD == <<"A", "B", "C", "D">>
NoneApart == <<>>

Of(set, n) == [m \in Member |-> IF m \in set THEN n ELSE 0]
OneOfA == Of({"A"}, 1)
OneOfB == Of({"B"}, 1)
OneOfC == Of({"C"}, 1)
TwoOfB == Of({"B"}, 2)
TwoOfC == Of({"C"}, 2)

-----------------------------------------------------------------------------
(* Defects. In the place of NakackStep: *)

\* messages that are delivered in one step are in falling order;
DeliversLastFirst(s, e) ==
    LET step == Nakack!Step(s, e)
        n == Len(step.effects)
    IN IF Len(Events(step.effects, "PassUp", "Deliver")) < 2 THEN step
       ELSE [step EXCEPT !.effects = [i \in 1 .. n |-> step.effects[n + 1 - i]]]

\* a link is dead in one direction: B hears no datagram of A;
OverDeadLink(s, e) ==
    IF s.member = "B" /\ "message" \in DOMAIN e /\ e.sender = "A" THEN Ignored(s) ELSE Nakack!Step(s, e)

\* or a view begins behind each message that is delivered in it.
BeginsBehindDeliveries(s, e) ==
    LET step == Nakack!Step(s, e)
        Moved(x) == step.state.windows[x].delivered - s.windows[x].delivered
    IN IF e.type \in {"ViewInstalled", "DigestSet"} THEN step
       ELSE [step EXCEPT !.state.windows = [x \in DOMAIN @ |-> [@[x] EXCEPT !.base = @ + Moved(x)]]]
=============================================================================
