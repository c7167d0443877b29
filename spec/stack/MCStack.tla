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
=============================================================================
