----------------------------- MODULE Composition -----------------------------
(******************************************************************************)
(* The layers of a member as a single machine, like `groupcomm.stack`.        *)
(* Composite(states, event) takes one event from outside to its end, as one   *)
(* atom.                                                                      *)
(*                                                                            *)
(* A layer's step is taken whole: its state is replaced before any of its     *)
(* effects is carried. Effects are carried in order, depth first: all that    *)
(* follows from one is done before the next. An observed event (a view)       *)
(* reaches all layers that know it, lowest first, in both directions. Any     *)
(* other event reaches the nearest layer that knows it. An event that no      *)
(* layer knows leaves. A layer reads a value of the layers beneath when it    *)
(* takes its event, from the nearest layer that has such a value. If no layer *)
(* has it, the value came with the step's event. If one layer refuses its     *)
(* event, the whole step is refused.                                          *)
(*                                                                            *)
(* Layer 1 is the top. Layers are known by what is asked of them: the         *)
(* operators below that are constants.                                        *)
(******************************************************************************)
EXTENDS Steps, Sequences, Naturals, TLC

CONSTANTS
    LayerNames,         \* the names of the layers, top first
    StepOf(_, _, _),    \* the step of a layer, in a state, at an event
    Knows(_, _),        \* whether a layer has such an event
    Own(_, _),          \* an event that it knows, as its own: without fields that it does not have
    Takes(_, _),        \* the fields of its event that it takes from below, each with the kind of value
    Tells(_, _),        \* the values that a layer offers those above, in a state: one of each kind
    Calls(_, _),        \* the event by which a layer is called to "Multicast" or "Send"; or "none"
    EventOf(_, _),      \* the type of the event that a message arrives as at a layer; or "none"
    Timeouts(_),        \* the timers of a layer, each with the event that it fires as
    IsObserved(_),      \* whether an event goes to all layers that know it
    Order,              \* an observed event that goes down: the "lowest" layer takes it first, or the "highest". Or
                        \* layers that read a value from below with it are "passed", and take it at the end
    ReadsBelow,         \* what is below is read when the event is "taken", or when it is "passed" to the layer
    Nesting,            \* effects are carried "depth" first, or "breadth" first
    Hearers,            \* an observed event is heard by "all" that know it, or by the "first"
    Unheard,            \* what no layer knows "leaves" the stack, or is "lost"
    Replaced,           \* a layer's state is replaced "before" its effects are carried, or "after"
    Refused,            \* a step that a layer refuses is refused as a "whole"; or what was done before stays, the "rest" not
    Strangers           \* a message that no layer has: whose mistake it is: of a "peer", or of the "caller"

Lowest == Len(LayerNames)

\* Pending work. A layer takes an event, or an effect of a layer is carried. An event leaves. The step is
\* refused. A state is replaced (only where that is done "after").
Hear(i, e) == [is |-> "hear", at |-> i, what |-> e]
Carry(i, f) == [is |-> "carry", at |-> i, what |-> f]
Out(f) == [is |-> "out", what |-> f]
Refuse(outcome) == [is |-> "refuse", what |-> outcome]
Keep(i, s) == [is |-> "put", at |-> i, what |-> s]

Leaves(f) == IF Unheard = "leaves" THEN <<Out(f)>> ELSE <<>>

Tagged(layer, message) == [layer |-> layer, message |-> message]
IsTagged(payload) == "layer" \in DOMAIN payload

\* The layers that know an event, from i up, and from i down: the nearest first.
Above(i, e) ==
    LET Its(k) == Knows(k, e) IN SelectSeq([k \in 1 .. i |-> i + 1 - k], Its)
Beneath(i, e) ==
    LET Its(k) == Knows(k, e) IN SelectSeq([k \in 1 .. (Lowest + 1 - i) |-> i + k - 1], Its)

Reversed(list) == [k \in DOMAIN list |-> list[Len(list) + 1 - k]]
Hearing(places, e) == [k \in DOMAIN places |-> Hear(places[k], e)]
First(places, e, out) == IF places = <<>> THEN Leaves(out) ELSE <<Hear(Head(places), e)>>

TakesBelow(i, e) == DOMAIN Takes(i, Own(i, e)) # {}

\* A member that hears an observed event.
ThatHear(places) == IF Hearers = "all" \/ places = <<>> THEN places ELSE <<Head(places)>>

\* An event goes up to layer i and further, or down to it.
GoesUp(i, e) ==
    IF IsObserved(e) THEN Hearing(ThatHear(Above(i, e)), e) \o <<Out(PassUp(e))>>
    ELSE First(Above(i, e), e, PassUp(e))

GoesDown(i, e) ==
    LET those == ThatHear(Beneath(i, e))
        Passed(k) == ~TakesBelow(k, e)
    IN IF ~IsObserved(e) THEN First(Beneath(i, e), e, PassDown(e))
       ELSE CASE Order = "lowest" -> <<Out(PassDown(e))>> \o Hearing(Reversed(those), e)
              [] Order = "highest" -> Hearing(those, e) \o <<Out(PassDown(e))>>
              [] Order = "passed" -> Hearing(SelectSeq(those, Passed), e) \o <<Out(PassDown(e))>>

\* The layers that take it when all else is done.
HearLate(i, f) ==
    IF f.type # "PassDown" THEN <<>>
    ELSE LET Late(k) == IsObserved(f.event) /\ TakesBelow(k, f.event)
         IN Hearing(SelectSeq(Beneath(i, f.event), Late), f.event)

\* A call of the layer above i: layer i is called, or the first beneath it that takes such a call.
CallOf(i, f) ==
    LET Answers(k) == Calls(k, f.type) # "none"
        those == SelectSeq([k \in 1 .. (Lowest + 1 - i) |-> i + k - 1], Answers)
        called == [type |-> Calls(Head(those), f.type), payload |-> f.message]
    IN IF those = <<>> THEN <<Out(f)>>
       ELSE <<Hear(Head(those), IF f.type = "Send" THEN called @@ [to |-> f.to] ELSE called)>>

\* A message reaches the layer that it is for; without a name, the application.
Arrives(sender, tagged) ==
    LET Its(k) == LayerNames[k] = tagged.layer /\ EventOf(k, tagged.message) # "none"
        those == SelectSeq([k \in 1 .. Lowest |-> k], Its)
    IN IF tagged.layer = ""
       THEN <<Out(PassUp([type |-> "Deliver", sender |-> sender, payload |-> tagged.message]))>>
       ELSE IF those = <<>>
       THEN <<Refuse(IF Strangers = "peer" THEN "remote_error" ELSE "local_error")>>
       ELSE <<Hear(Head(those), [type |-> EventOf(Head(those), tagged.message), sender |-> sender,
                                 message |-> tagged.message])>>

\* A timer fires in the layer that it is of.
Fires(timer) ==
    LET Its(k) == \E name \in DOMAIN Timeouts(k) : LayerNames[k] \o "/" \o name = timer
        those == SelectSeq([k \in 1 .. Lowest |-> k], Its)
        Name(k) == CHOOSE name \in DOMAIN Timeouts(k) : LayerNames[k] \o "/" \o name = timer
    IN IF those = <<>> THEN <<Refuse("local_error")>>
       ELSE <<Hear(Head(those), Timeouts(Head(those))[Name(Head(those))])>>

\* The pending work of an effect of layer i.
Carried(i, f) ==
    LET name == LayerNames[i] IN
    CASE f.type = "PassUp" ->
            IF f.event.type \in {"Deliver", "DeliverUnicast"} /\ IsTagged(f.event.payload) THEN Arrives(f.event.sender, f.event.payload)
            ELSE GoesUp(i - 1, f.event)
      [] f.type = "PassDown" -> GoesDown(i + 1, f.event)
      [] f.type \in {"Multicast", "Send"} -> CallOf(i + 1, [f EXCEPT !.message = Tagged(name, @)])
      [] f.type = "Datagram" -> <<Out([f EXCEPT !.message = Tagged(name, @)])>>
      [] f.type \in {"SetTimer", "CancelTimer"} -> <<Out([f EXCEPT !.name = name \o "/" \o @])>>

-----------------------------------------------------------------------------
(* The layers below *)

\* The layers beneath i that have a value of a kind, nearest first, and such values of the step's event.
Tellers(i, kind, states) ==
    LET Told(k) == kind \in DOMAIN Tells(k, states[k])
    IN SelectSeq([k \in 1 .. (Lowest - i) |-> i + k], Told)
OfKind(came, kind) == LET Its(value) == value.type = kind IN SelectSeq(came, Its)

IsThere(i, kind, states, came) == Tellers(i, kind, states) # <<>> \/ OfKind(came, kind) # <<>>

ValueOf(i, kind, states, came) ==
    LET those == Tellers(i, kind, states)
    IN IF those # <<>> THEN Tells(Head(those), states[Head(those)])[kind] ELSE Head(OfKind(came, kind))

\* The event as layer i hears it, with what is beneath it in these states; refused where something is not there.
Read(i, e, states, came) ==
    LET own == Own(i, e)
        taken == Takes(i, own)
    IN IF \A field \in DOMAIN taken : IsThere(i, taken[field], states, came)
       THEN Hear(i, own @@ [field \in DOMAIN taken |-> ValueOf(i, taken[field], states, came)])
       ELSE Refuse("local_error")

-----------------------------------------------------------------------------
(* A composite step *)

\* A value for a layer is read now, or when the layer takes its event.
Passed(items, states, came) ==
    IF ReadsBelow = "taken" THEN items
    ELSE [k \in DOMAIN items |->
            IF items[k].is # "hear" THEN items[k] ELSE Read(items[k].at, items[k].what, states, came)]

After(more, rest) == IF Nesting = "depth" THEN more \o rest ELSE rest \o more

\* `todo` in order, `out` what has left.
RECURSIVE Run(_, _, _, _)
Run(states, todo, out, came) ==
    IF todo = <<>> THEN [outcome |-> "handled", state |-> states, effects |-> out]
    ELSE
    LET item == Head(todo)
        rest == Tail(todo)
    IN CASE item.is = "out" -> Run(states, rest, Append(out, item.what), came)
         [] item.is = "refuse" -> [outcome |-> item.what, state |-> states, effects |-> out]
         [] Replaced = "after" /\ item.is = "put" -> Run([states EXCEPT ![item.at] = item.what], rest, out, came)
         [] item.is = "carry" ->
            LET next == After(Passed(Carried(item.at, item.what), states, came), rest)
            IN Run(states, IF Order = "passed" THEN next \o HearLate(item.at + 1, item.what) ELSE next, out, came)
         [] item.is = "hear" ->
            LET i == item.at
                heard == IF ReadsBelow = "taken" THEN Read(i, item.what, states, came) ELSE item
                step == IF heard.is = "hear" THEN StepOf(i, states[i], heard.what) ELSE [outcome |-> heard.what]
            IN IF step.outcome \in {"local_error", "remote_error"}
               THEN [outcome |-> step.outcome, state |-> states, effects |-> out]
               ELSE LET carries == [k \in DOMAIN step.effects |-> Carry(i, step.effects[k])]
                        puts == Replaced = "before"
                    IN Run(IF puts THEN [states EXCEPT ![i] = step.state] ELSE states,
                           After(IF puts THEN carries ELSE Append(carries, Keep(i, step.state)), rest), out, came)

\* An event from outside: from the application, the network, the clock, or the layers beneath.
Begins(event) ==
    CASE event.type = "Called" ->
            IF event.request.type = "PassDown" THEN GoesDown(1, event.request.event)
            ELSE LET called == CallOf(1, event.request) IN
                 \* A message that no layer takes is sent as the application's.
                 IF called # <<Out(event.request)>> THEN called
                 ELSE <<Out([event.request EXCEPT !.message = Tagged("", @)])>>
      [] event.type = "Arrived" -> Arrives(event.sender, event.message)
      [] event.type = "Fired" -> Fires(event.timer)
      [] event.type = "Raised" -> GoesUp(Lowest, event.event)

\* The step at an event from outside; nothing of it, where a layer refuses. `came`: the values that came with it.
Composite(states, event, came) ==
    LET done == Run(states, Passed(Begins(event), states, came), <<>>, came)
    IN IF done.outcome # "handled"
       THEN IF Refused = "whole" THEN [done EXCEPT !.state = states, !.effects = <<>>] ELSE done
       ELSE IF done.state = states /\ done.effects = <<>> THEN [done EXCEPT !.outcome = "ignored"]
       ELSE done
=============================================================================
