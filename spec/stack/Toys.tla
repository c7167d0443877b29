-------------------------------- MODULE Toys ---------------------------------
(***************************************************************************)
(* Three layers that together use every way of passing that a stack has,   *)
(* and do nothing else. Their cores are in `tests/toys`.                   *)
(*                                                                         *)
(* `top` multicasts what the application does, and says on being asked     *)
(* which view is next: it asks `mid`, which asks `low`; it passes the view *)
(* down, and asks `low` itself. `mid` seals the messages that are          *)
(* multicast through it. `low` has the network below it. Each offers a     *)
(* `Level` to the layers above: `low` the counter of its view, `mid` ten   *)
(* more than the value from below.                                         *)
(***************************************************************************)
EXTENDS Steps, Views, TLC

Names == <<"top", "mid", "low">>

\* Payloads of the application, values that are offered, messages.
Word(number) == [number |-> number]
Level(value) == [type |-> "Level", value |-> value]
Depth(value) == [type |-> "Depth", value |-> value]
Note(number) == [type |-> "NOTE", number |-> number]
Sealed(payload) == [type |-> "SEALED", payload |-> payload]
Copy(payload) == [type |-> "COPY", payload |-> payload]

\* Events that pass between layers.
Deliver(sender, payload) == [type |-> "Deliver", sender |-> sender, payload |-> payload]
Installed(view) == [type |-> "ViewInstalled", view |-> view]
Ask(asker) == [type |-> "Ask", asker |-> asker]
Answer(asker, level) == [type |-> "Answer", asker |-> asker, level |-> level]
Stop == [type |-> "Stop"]
Stopped(level) == [type |-> "Stopped", level |-> level]
Said(what, value) == [type |-> "Said", what |-> what, value |-> value]

Nth(counter) == View(counter, "A", <<"A", "B">>)
LastView == 2

-----------------------------------------------------------------------------
(* top *)

StartTop(member) == [member |-> member, view |-> 0, level |-> 0, sent |-> FALSE, waits |-> FALSE]

StepTop(s, e) ==
    CASE e.type = "ViewInstalled" ->
            Handled([s EXCEPT !.view = e.view.id.counter, !.level = e.level.value], <<CancelTimer("bell")>>)
      [] e.type = "MergeViewInstalled" ->
            Handled([s EXCEPT !.view = e.view.id.counter, !.level = e.level.value],
                    <<PassUp(Said("merged", e.level.value))>>)
      [] e.type = "SendRequested" ->
            IF s.sent THEN LocalError(s)
            ELSE Handled([s EXCEPT !.sent = TRUE],
                         <<Multicast(Note(e.payload.number)), Send("B", Note(e.payload.number)),
                           PassUp(Said("sent", e.payload.number))>>)
      [] e.type = "NoteReceived" ->
            IF e.message.number # 1 THEN RemoteError(s)
            ELSE Handled(s, <<PassUp(Deliver(e.sender, Word(e.message.number)))>>)
      [] e.type = "Decide" ->
            IF s.waits THEN LocalError(s) ELSE Handled([s EXCEPT !.waits = TRUE], <<PassDown(Stop)>>)
      [] e.type = "Stopped" ->
            IF ~s.waits \/ e.level.value >= LastView THEN LocalError(s)
            ELSE Handled([s EXCEPT !.view = e.level.value + 1],
                         <<PassDown(Installed(Nth(e.level.value + 1))), PassDown(Ask("top"))>>)
      [] e.type = "Answer" ->
            IF ~s.waits THEN LocalError(s)
            ELSE Handled([s EXCEPT !.waits = FALSE, !.level = 10 + e.level.value],
                         <<PassUp(Said("decided", e.level.value))>>)
      [] e.type = "Ring" -> Handled(s, <<CancelTimer("bell"), Datagram("B", Note(1))>>)

-----------------------------------------------------------------------------
(* mid *)

StartMid(member) == [member |-> member, view |-> 0, level |-> 0, waits |-> FALSE, retried |-> FALSE]

StepMid(s, e) ==
    CASE e.type = "ViewInstalled" ->
            Handled([s EXCEPT !.view = e.view.id.counter, !.level = e.level.value],
                    <<PassUp(Said("view", e.level.value))>>)
      [] e.type = "SendRequested" ->
            Handled(s, <<SetTimer("retry_once", 1, 2), Multicast(Sealed(e.payload)), CancelTimer("retry_once")>>)
      [] e.type = "UnicastRequested" -> Handled(s, <<Send(e.to, Sealed(e.payload))>>)
      [] e.type = "SealedReceived" -> Handled(s, <<PassUp(Deliver(e.sender, e.message.payload))>>)
      [] e.type = "Stop" ->
            Handled([s EXCEPT !.waits = TRUE], <<SetTimer("again/1", 1, 2), PassDown(Ask("mid"))>>)
      [] e.type = "Answer" ->
            IF e.asker # "mid" THEN Handled(s, <<PassUp(e)>>)
            ELSE IF ~s.waits THEN LocalError(s)
            ELSE Handled([s EXCEPT !.waits = FALSE], <<PassUp(Stopped(e.level))>>)
      [] e.type = "RetryOnceTimeout" -> Handled([s EXCEPT !.retried = TRUE], <<>>)
      [] e.type = "AgainTimeout" ->
            Handled(s, <<PassDown(Said("again", e.number)), Send("B", Sealed(Word(e.number)))>>)

-----------------------------------------------------------------------------
(* low *)

StartLow(member) == [member |-> member, view |-> 0, received |-> FALSE]

StepLow(s, e) ==
    CASE e.type = "ViewInstalled" ->
            IF e.view.id.counter <= s.view THEN LocalError(s)
            ELSE Handled([s EXCEPT !.view = e.view.id.counter], <<SetTimer("wait", 1, 2)>>)
      [] e.type = "SendRequested" ->
            IF s.view = 0 THEN LocalError(s)
            ELSE Handled(s, <<PassUp(Deliver(s.member, e.payload)), Datagram(All, Copy(e.payload))>>)
      [] e.type = "UnicastRequested" -> Handled(s, <<Datagram(e.to, Copy(e.payload))>>)
      [] e.type = "CopyReceived" ->
            IF s.view = 0 THEN Ignored(s)
            ELSE Handled([s EXCEPT !.received = TRUE], <<PassUp(Deliver(e.sender, e.message.payload))>>)
      [] e.type = "Ask" -> Handled(s, <<PassUp(Answer(e.asker, Level(s.view)))>>)
      [] e.type = "WaitTimeout" ->
            IF s.view = 0 THEN Ignored(s) ELSE Handled(s, <<PassUp(Said("waited", e.depth.value)), Send("B", Copy(Word(1)))>>)

-----------------------------------------------------------------------------
(* Operators by which a stack knows its layers *)

ToyStep(i, s, e) ==
    CASE i = 1 -> StepTop(s, e)
      [] i = 2 -> StepMid(s, e)
      [] i = 3 -> StepLow(s, e)

Known ==
    <<{"ViewInstalled", "MergeViewInstalled", "SendRequested", "NoteReceived", "Decide", "Stopped", "Answer", "Ring"},
      {"ViewInstalled", "SendRequested", "UnicastRequested", "SealedReceived", "Stop", "Answer", "RetryOnceTimeout",
       "AgainTimeout"},
      {"ViewInstalled", "SendRequested", "UnicastRequested", "CopyReceived", "Ask", "WaitTimeout"}>>

IsView(e) == e.type \in {"ViewInstalled", "MergeViewInstalled"}

\* A merged view looks like a view to a layer that knows no more.
ToyKnows(i, e) == e.type \in Known[i] \/ IsView(e)
ToyOwn(i, e) == IF e.type \in Known[i] THEN e ELSE Installed(e.view)

Nothing == [x \in {} |-> 0]
ToyTakes(i, e) ==
    IF i < 3 /\ IsView(e) THEN [level |-> "Level"]
    ELSE IF i = 3 /\ e.type = "WaitTimeout" THEN [depth |-> "Depth"]
    ELSE Nothing

ToyTells(i, s) ==
    CASE i = 1 -> Nothing
      [] i = 2 -> [Level |-> Level(10 + s.level)]
      [] i = 3 -> [Level |-> Level(s.view)]

ToyCalls(i, type) ==
    CASE type = "Multicast" -> "SendRequested"
      [] type = "Send" -> IF i = 1 THEN "none" ELSE "UnicastRequested"

ToyEventOf(i, message) ==
    IF "type" \notin DOMAIN message THEN "none"    \* A payload of the application, or a message within another.
    ELSE CASE i = 1 /\ message.type = "NOTE" -> "NoteReceived"
           [] i = 2 /\ message.type = "SEALED" -> "SealedReceived"
           [] i = 3 /\ message.type = "COPY" -> "CopyReceived"
           [] OTHER -> "none"

Again(number) == [type |-> "AgainTimeout", number |-> number]
ToyTimeouts(i) ==
    CASE i = 1 -> Nothing
      [] i = 2 -> ("retry_once" :> [type |-> "RetryOnceTimeout"]) @@ ("again/1" :> Again(1)) @@ ("again/12" :> Again(12))
      [] i = 3 -> [wait |-> [type |-> "WaitTimeout"]]

ToyIsObserved(e) == IsView(e)
=============================================================================
