----------------------------- MODULE Composition -----------------------------
(***************************************************************************)
(* Several layers of one member, one above the other, as one: what         *)
(* `groupcomm.stack` does. Composite(states, e) takes one event from       *)
(* outside to its end, as one atom.                                        *)
(*                                                                         *)
(* A layer's step is taken whole: its state is replaced before any of its  *)
(* effects is carried. Effects are carried in order, depth first: all that *)
(* follows from one is done before the next. An event that is observed (a  *)
(* view) is heard by all layers that know it, lowest first, in both        *)
(* directions; each other one by the nearest that knows it. What a layer   *)
(* takes from the layers beneath is read when it takes its event. If one   *)
(* layer refuses its event, the whole step is refused.                     *)
(*                                                                         *)
(* Layer 1 is the top. Layers are known by what is asked of them: the      *)
(* operators below that are constants.                                     *)
(***************************************************************************)
EXTENDS Steps, Sequences, Naturals, TLC

CONSTANTS
    LayerNames,         \* the names of the layers, top first
    StepOf(_, _, _),    \* the step of a layer, in a state, at an event
    Knows(_, _),        \* whether a layer has such an event
    TakesBelow(_, _),   \* whether it takes something from below with it
    Heard(_, _, _, _),  \* the event as the layer hears it: with what is beneath in these states, or came from outside
    Calls(_, _),        \* the event by which a layer is called to "Multicast" or "Send"; or "none"
    EventOf(_),         \* the type of the event that a message arrives as
    IsObserved(_),      \* whether an event goes to all layers that know it
    Order,              \* an observed event that goes down: the "lowest" layer hears it first, or the "highest"; or those
                        \* that take something from below with it are "passed", and hear it when all else is done
    ReadsBelow,         \* what is below is read when the event is "taken", or when it is "passed" to the layer
    Nesting             \* effects are carried "depth" first, or "breadth" first

Lowest == Len(LayerNames)

\* What is yet to be done: a layer hears an event; an effect of a layer is carried; something leaves.
Hear(i, e) == [is |-> "hear", at |-> i, what |-> e]
Carry(i, f) == [is |-> "carry", at |-> i, what |-> f]
Out(f) == [is |-> "out", at |-> 0, what |-> f]

Tagged(layer, message) == [layer |-> layer, message |-> message]
PlaceOf(name) == CHOOSE i \in DOMAIN LayerNames : LayerNames[i] = name

\* The layers that know an event, from i up, and from i down: the nearest first.
Above(i, e) ==
    LET Its(k) == Knows(k, e) IN SelectSeq([k \in 1 .. i |-> i + 1 - k], Its)
Beneath(i, e) ==
    LET Its(k) == Knows(k, e) IN SelectSeq([k \in 1 .. (Lowest + 1 - i) |-> i + k - 1], Its)

Reversed(list) == [k \in DOMAIN list |-> list[Len(list) + 1 - k]]
Hearing(places, e) == [k \in DOMAIN places |-> Hear(places[k], e)]
First(places, e, out) == IF places = <<>> THEN <<Out(out)>> ELSE <<Hear(Head(places), e)>>

\* An event goes up to layer i and further, or down to it.
GoesUp(i, e) ==
    IF IsObserved(e) THEN Hearing(Above(i, e), e) \o <<Out(PassUp(e))>>
    ELSE First(Above(i, e), e, PassUp(e))

GoesDown(i, e) ==
    LET those == Beneath(i, e)
        Passed(k) == ~TakesBelow(k, e)
    IN IF ~IsObserved(e) THEN First(those, e, PassDown(e))
       ELSE CASE Order = "lowest" -> <<Out(PassDown(e))>> \o Hearing(Reversed(those), e)
              [] Order = "highest" -> Hearing(those, e) \o <<Out(PassDown(e))>>
              [] Order = "passed" -> Hearing(SelectSeq(those, Passed), e) \o <<Out(PassDown(e))>>

\* What hears it when all else is done.
HearLate(i, f) ==
    IF Order # "passed" \/ f.type # "PassDown" THEN <<>>
    ELSE LET Late(k) == IsObserved(f.event) /\ TakesBelow(k, f.event)
         IN Hearing(SelectSeq(Beneath(i, f.event), Late), f.event)

\* A call of layer i, or of the first beneath that takes it.
CallOf(i, f) ==
    LET Takes(k) == Calls(k, f.type) # "none"
        those == SelectSeq([k \in 1 .. (Lowest + 1 - i) |-> i + k - 1], Takes)
        called == [type |-> Calls(Head(those), f.type), payload |-> f.message]
    IN IF those = <<>> THEN <<Out(f)>>
       ELSE <<Hear(Head(those), IF f.type = "Send" THEN called @@ [to |-> f.to] ELSE called)>>

\* A message reaches the layer that it is for; without a name, the application.
Arrives(sender, tagged) ==
    IF tagged.layer = ""
    THEN <<Out(PassUp([type |-> "Deliver", sender |-> sender, payload |-> tagged.message]))>>
    ELSE <<Hear(PlaceOf(tagged.layer),
                [type |-> EventOf(tagged.message), sender |-> sender, message |-> tagged.message])>>

IsTagged(payload) == "layer" \in DOMAIN payload

\* What an effect of layer i comes to.
Carried(i, f) ==
    LET name == LayerNames[i] IN
    CASE f.type = "PassUp" ->
            IF f.event.type = "Deliver" /\ IsTagged(f.event.payload) THEN Arrives(f.event.sender, f.event.payload)
            ELSE GoesUp(i - 1, f.event)
      [] f.type = "PassDown" -> GoesDown(i + 1, f.event)
      [] f.type \in {"Multicast", "Send"} -> CallOf(i + 1, [f EXCEPT !.message = Tagged(name, @)])
      [] f.type = "Datagram" -> <<Out([f EXCEPT !.message = Tagged(name, @)])>>
      [] f.type \in {"SetTimer", "CancelTimer"} -> <<Out([f EXCEPT !.name = name \o "/" \o @])>>

-----------------------------------------------------------------------------
(* A composite step *)

\* What is passed to layers is read now, or when they take it.
Read(items, states, came) ==
    IF ReadsBelow = "taken" THEN items
    ELSE [k \in DOMAIN items |->
            IF items[k].is # "hear" THEN items[k]
            ELSE Hear(items[k].at, Heard(items[k].at, items[k].what, states, came))]

After(more, rest) == IF Nesting = "depth" THEN more \o rest ELSE rest \o more

\* `todo` in order, `out` what has left.
RECURSIVE Run(_, _, _, _)
Run(states, todo, out, came) ==
    IF todo = <<>> THEN [outcome |-> "handled", state |-> states, effects |-> out]
    ELSE
    LET item == Head(todo)
        rest == Tail(todo)
    IN CASE item.is = "out" -> Run(states, rest, Append(out, item.what), came)
         [] item.is = "carry" ->
            Run(states,
                After(Read(Carried(item.at, item.what), states, came), rest) \o HearLate(item.at + 1, item.what),
                out, came)
         [] item.is = "hear" ->
            LET i == item.at
                heard == IF ReadsBelow = "taken" THEN Heard(i, item.what, states, came) ELSE item.what
                step == StepOf(i, states[i], heard)
            IN IF step.outcome \in {"local_error", "remote_error"}
               THEN [outcome |-> step.outcome, state |-> states, effects |-> <<>>]
               ELSE Run([states EXCEPT ![i] = step.state],
                        After([k \in DOMAIN step.effects |-> Carry(i, step.effects[k])], rest), out, came)

\* The step that begins with these; nothing of it, where a layer refuses.
Composite(states, todo, came) ==
    LET done == Run(states, Read(todo, states, came), <<>>, came)
    IN IF done.outcome # "handled" THEN [done EXCEPT !.state = states]
       ELSE IF done.state = states /\ done.effects = <<>> THEN [done EXCEPT !.outcome = "ignored"]
       ELSE done

\* An event from outside: from the application, the network, the clock, or the layers beneath.
Called(f) == IF f.type = "PassDown" THEN GoesDown(1, f.event)
             ELSE CallOf(1, f)
Raised(e) == GoesUp(Lowest, e)
=============================================================================
