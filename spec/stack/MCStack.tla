------------------------------ MODULE MCStack -------------------------------
(* The events of a stack of three toys: all that may come from outside, right *)
(* or wrong, in two views.                                                    *)
EXTENDS StackMember

\* Messages of peers: of each layer, of no layer, of another one's, and for the application; and one within another.
Words == Tagged("", Word(1))
Notes == {Tagged("top", Note(1)), Tagged("top", Note(2))}
Strange == {Tagged("nobody", Note(1)), Tagged("top", Sealed(Word(1))), Tagged("low", Note(1))}
Inner == {Word(1), Words} \cup Notes \cup Strange
Messages ==
    {Words} \cup Notes \cup Strange \cup {Tagged("mid", Sealed(inner)) : inner \in Inner}
    \cup {Tagged("low", Copy(inner)) : inner \in Inner \cup {Tagged("mid", Sealed(inner)) : inner \in Inner}}

Merged(counter) == [type |-> "MergeViewInstalled", view |-> Nth(counter), subgroups |-> {ViewId(1, "A")}]
Ring == [type |-> "Ring"]

Requests ==
    {Multicast(Word(1)), Send("B", Word(1))}
    \cup {PassDown(e) : e \in {[type |-> "Decide"], Stop, Ask("mid"), Ask("top"), Ring, Said("called", 1),
                               Installed(Nth(1)), Merged(2)}}
Raises ==
    {Installed(Nth(1)), Installed(Nth(2)), Merged(2), Ring, Said("raised", 1),
     Answer("top", Level(1)), Answer("mid", Level(1)), Stopped(Level(1))}
Timers ==
    {"low/wait", "mid/retry_once", "mid/again/1", "mid/again/12", "mid/again", "mid/again/", "mid/again/x", "mid/retry_once/1",
     "low/retry", "nobody/wait", "wait", ""}

\* Values that come with an event: none, a value that a layer offers, and a value that no layer offers.
Came == {<<>>, <<Level(7), Depth(5), Depth(6)>>}

ToyEvents ==
    {[type |-> "Called", request |-> request, below |-> <<>>] : request \in Requests}
    \cup {[type |-> "Arrived", sender |-> "B", message |-> message, below |-> <<>>] : message \in Messages}
    \cup {[type |-> "Fired", timer |-> timer, below |-> below] : timer \in Timers, below \in Came}
    \cup {[type |-> "Raised", event |-> event, below |-> below] : event \in Raises, below \in Came}

-----------------------------------------------------------------------------
(* Defects that claims must notice, one conjunct of a claim each. *)

\* In the place of ToyStep: layer i takes `event` otherwise.
Otherwise(i, s, e, layer, type, Made(_)) ==
    LET step == ToyStep(i, s, e)
    IN IF i = layer /\ e.type = type /\ step.outcome = "handled" THEN [step EXCEPT !.state = Made(@)] ELSE step

TopMissesView(i, s, e) == LET Made(t) == [t EXCEPT !.view = s.view] IN Otherwise(i, s, e, 1, "ViewInstalled", Made)
TopLeapsView(i, s, e) == LET Made(t) == [t EXCEPT !.view = LastView] IN Otherwise(i, s, e, 1, "ViewInstalled", Made)
MidMissesView(i, s, e) == LET Made(t) == [t EXCEPT !.view = s.view] IN Otherwise(i, s, e, 2, "ViewInstalled", Made)
MidLeapsView(i, s, e) == LET Made(t) == [t EXCEPT !.view = LastView] IN Otherwise(i, s, e, 2, "ViewInstalled", Made)
LowLeapsView(i, s, e) == LET Made(t) == [t EXCEPT !.view = LastView] IN Otherwise(i, s, e, 3, "ViewInstalled", Made)
MidTakesLess(i, s, e) == LET Made(t) == [t EXCEPT !.level = @ - 1] IN Otherwise(i, s, e, 2, "ViewInstalled", Made)
MidTakesMore(i, s, e) == LET Made(t) == [t EXCEPT !.level = @ + 1] IN Otherwise(i, s, e, 2, "ViewInstalled", Made)
\* ... and the top follows it, also where an answer has the view.
TopFollows(i, s, e, by) == LET Made(t) == [t EXCEPT !.level = @ + by] IN Otherwise(i, s, e, 1, "Answer", Made)
BothTakeLess(i, s, e) == IF i = 1 THEN TopFollows(i, s, e, 0 - 1) ELSE MidTakesLess(i, s, e)
BothTakeMore(i, s, e) == IF i = 1 THEN TopFollows(i, s, e, 1) ELSE MidTakesMore(i, s, e)
TopTakesMore(i, s, e) == LET Made(t) == [t EXCEPT !.level = @ + 1] IN Otherwise(i, s, e, 1, "ViewInstalled", Made)
MidWaitsOn(i, s, e) == LET Made(t) == [t EXCEPT !.waits = s.waits] IN Otherwise(i, s, e, 2, "Answer", Made)
TopWaitsOn(i, s, e) ==
    LET Made(t) == [t EXCEPT !.waits = s.waits /\ e.level.value = LastView] IN Otherwise(i, s, e, 1, "Answer", Made)

\* In the place of Happens: a step is noted otherwise.
HappensAs(action, m, event, Outcome(_), IsLost(_)) ==
    \E step \in {Step(local[m], event)} :
        LET IsKept(effect) == ~IsLost(effect) IN
        /\ local' = [local EXCEPT ![m] = step.state]
        /\ Record(action, m, FALSE, None, event, {}, Outcome(step.outcome), SelectSeq(step.effects, IsKept))

AsItIs(outcome) == outcome
KeepsAll(effect) == FALSE

\* A decision is said to be ignored; a mistake of this member is a peer's.
IgnoresDecision(action, m, event) ==
    LET Outcome(outcome) ==
            IF event.type = "Called" /\ event.request = PassDown([type |-> "Decide"]) /\ outcome = "handled"
            THEN "ignored" ELSE outcome
    IN HappensAs(action, m, event, Outcome, KeepsAll)
BlamesPeer(action, m, event) ==
    LET Outcome(outcome) == IF outcome = "local_error" THEN "remote_error" ELSE outcome
    IN HappensAs(action, m, event, Outcome, KeepsAll)

\* A view from beneath stays in the stack; so does a call from above that no layer knows.
KeepsViews(action, m, event) ==
    LET IsLost(effect) == event.type = "Raised" /\ effect.type = "PassUp" /\ IsView(effect.event)
    IN HappensAs(action, m, event, AsItIs, IsLost)
KeepsCalls(action, m, event) ==
    LET IsLost(effect) == event.type = "Called" /\ effect = event.request
    IN HappensAs(action, m, event, AsItIs, IsLost)
=============================================================================
