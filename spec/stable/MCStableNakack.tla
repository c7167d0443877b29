--------------------------- MODULE MCStableNakack ----------------------------
(* Bounds of the models of STABLE over NAKACK. *)
EXTENDS StableNakack

PairScript == <<FirstView(1, "A", <<"A", "B">>)>>
ThreeScript == <<FirstView(1, "A", <<"A", "B", "C">>)>>
OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
TwoOfA == [m \in Member |-> IF m = "A" THEN 2 ELSE 0]
OneOfC == [m \in Member |-> IF m = "C" THEN 1 ELSE 0]

\* Each member has promised its digest to a joiner.
PromisedToZ == {<<m, "Z">> : m \in Member}

\* A defect of NAKACK: HIGHEST is sent once.
AnnouncesOnce(s, e) ==
    LET step == Step(s, e)
        Stays(effect) == effect.type # "SetTimer"
    IN IF e.type = "HighestTimeout" THEN [step EXCEPT !.effects = SelectSeq(@, Stays)] ELSE step

\* A defect of STABLE: a vote that is sent counts one more than was delivered.
VotesOneMore(action, m, event) ==
    \E step \in {Stable!Step(stable[m], event)} :
        /\ stable' = [stable EXCEPT ![m] = step.state]
        /\ gossip' = gossip \cup
                {[sender |-> m,
                  message |-> IF event.type # "StableTimeout" THEN step.effects[i].message
                              ELSE [step.effects[i].message EXCEPT !.digest = [x \in DOMAIN @ |-> @[x] + 1]]] :
                    i \in {i \in DOMAIN step.effects : step.effects[i].type = "Datagram"}}
        /\ local' = [local EXCEPT ![m] = AfterPassedDown(@, step.effects)]
        /\ Record(action, m, FALSE, None, event, {}, step.outcome, step.effects)
        /\ UNCHANGED <<net, timers, surroundings, sent, got, spent>>
=============================================================================
