------------------------ MODULE StateTransferSequencer -------------------------
(******************************************************************************)
(* STATE_TRANSFER over SEQUENCER: a closed model of two neighbours, without a *)
(* contract between them. SEQUENCER's group is that of SequencerGroup, with   *)
(* its layers below, and no faults but views that branch. What SEQUENCER      *)
(* passes up at a member, STATE_TRANSFER takes in the same step: messages,    *)
(* and then the view. What STATE_TRANSFER multicasts waits until SEQUENCER    *)
(* sends it: the payload of SEQUENCER's n-th message is the n-th in `casts`.  *)
(*                                                                            *)
(* Unicasts between the two arrive once, in order. A state has one part, and  *)
(* the application gives it at once.                                          *)
(******************************************************************************)
EXTENDS SequencerClaims

CONSTANTS
    Requests        \* [Member -> how many messages its application multicasts]

VARIABLES
    upper,          \* [Member -> STATE_TRANSFER's state]
    casts,          \* [Member -> the messages that it multicasts, in order]
    post,           \* [Member -> [Member -> unicasts in transit]]
    applications    \* [Member -> its state, as a sequence of messages, and the state that is coming]

upper_vars == <<upper, casts, post, applications>>
stack_vars == <<vars, upper_vars>>
stack_view == <<view, upper_vars>>

Above == INSTANCE StateTransfer WITH
    Window <- 1, FullAt <- 9, MaxHeld <- 9, AskTime <- 1000

-----------------------------------------------------------------------------
(* STATE_TRANSFER takes events, and its application answers *)

Received(sender, message) ==
    [type |-> CASE message.type = "APP" -> "AppReceived" [] message.type = "ASK" -> "AskReceived"
                [] message.type = "TELL" -> "TellReceived" [] message.type = "PART" -> "PartReceived"
                [] message.type = "CREDIT" -> "CreditReceived" [] message.type = "CANNOT" -> "CannotReceived",
     sender |-> sender, message |-> message]

RECURSIVE Takes(_, _)
RECURSIVE Carries(_, _)

\* `did`: the state, the application, and what was multicast and sent.
Takes(did, events) ==
    IF events = <<>> THEN did
    ELSE \* (An operator of one value: TLC evaluates the step once.)
         LET Then(step) == Carries([did EXCEPT !.state = step.state], step.effects)
         IN Takes(Then(Above!Step(did.state, Head(events))), Tail(events))

Carries(did, effects) ==
    IF effects = <<>> THEN did
    ELSE LET f == Head(effects)
             e == IF f.type = "PassUp" THEN f.event ELSE [type |-> f.type]
             after ==
                CASE f.type = "Multicast" -> [did EXCEPT !.casts = Append(@, f.message)]
                  [] f.type = "Send" -> [did EXCEPT !.sends = Append(@, [to |-> f.to, message |-> f.message])]
                  [] e.type = "Deliver" -> [did EXCEPT !.application.state = Append(@, <<e.sender, e.payload>>)]
                  [] e.type = "ReadPart" ->
                        Takes(did, <<[type |-> "PartRead", to |-> e.to, attempt |-> e.attempt, number |-> 1,
                                      data |-> did.application.state, last |-> TRUE]>>)
                  [] e.type = "PutPart" -> [did EXCEPT !.application.coming = e.data]
                  [] e.type = "StateSet" -> [did EXCEPT !.application.state = did.application.coming]
                  [] OTHER -> did
         IN Carries(after, Tail(effects))

TakesUp(m, events, posts) ==
    \E did \in {Takes([state |-> upper[m], application |-> applications[m], casts |-> <<>>, sends |-> <<>>], events)} :
        /\ upper' = [upper EXCEPT ![m] = did.state]
        /\ applications' = [applications EXCEPT ![m] = did.application]
        /\ casts' = [casts EXCEPT ![m] = @ \o did.casts]
        /\ post' = [posts EXCEPT ![m] = [to \in Member |->
                        LET Its(send) == send.to = to
                            mine == SelectSeq(did.sends, Its)
                        IN @[to] \o [i \in DOMAIN mine |-> mine[i].message]]]

\* The view number k as STATE_TRANSFER hears of it.
ViewEvent(v) ==
    IF Cardinality(v.preds) > 1
    THEN [type |-> "MergeViewInstalled", view |-> ViewOf(v), subgroups |-> {History[u].id : u \in v.preds}]
    ELSE [type |-> "ViewInstalled", view |-> ViewOf(v)]

\* What SEQUENCER's step passes up at m.
PassedUp(m) ==
    LET IsDeliver(f) == f.type = "PassUp" /\ f.event.type = "Deliver"
        ups == SelectSeq(act'.effects, IsDeliver)
    IN [i \in DOMAIN ups |-> Received(ups[i].event.sender, casts[ups[i].event.sender][ups[i].event.payload])]
       \o (IF installed'[m] # installed[m] THEN <<ViewEvent(views'[installed'[m]])>> ELSE <<>>)

-----------------------------------------------------------------------------
PassedOn ==
    /\ \A m \in Member : sent'[m] <= Len(casts[m])
    /\ IF act'.member = "" THEN UNCHANGED upper_vars ELSE TakesUp(act'.member, PassedUp(act'.member), post)

AppRequests(m) ==
    /\ IsActive(m) /\ upper[m].has /\ upper[m].sent < Requests[m]
    /\ TakesUp(m, <<[type |-> "SendRequested", payload |-> upper[m].sent + 1, size |-> 1]>>, post)
    /\ Environment("AppRequests", m, None, {}) /\ UNCHANGED view

SoonFires(m) ==
    /\ IsActive(m) /\ upper[m].soon
    /\ TakesUp(m, <<[type |-> "SoonTimeout"]>>, post)
    /\ Environment("SoonFires", m, None, {}) /\ UNCHANGED view

UnicastArrives(m) ==
    /\ IsActive(m)
    /\ \E from \in Member :
        /\ post[from][m] # <<>>
        /\ TakesUp(m, <<Received(from, Head(post[from][m]))>>, [post EXCEPT ![from][m] = Tail(@)])
    /\ Environment("UnicastArrives", m, None, {}) /\ UNCHANGED view

StackInit ==
    /\ Init
    /\ upper = [m \in Member |-> IF installed[m] = 0 THEN Above!Start(m)
                                 ELSE [Above!Start(m) EXCEPT !.view = ViewOf(views[installed[m]]), !.has = TRUE]]
    /\ casts = [m \in Member |-> <<>>]
    /\ post = [f \in Member |-> [t \in Member |-> <<>>]]
    /\ applications = [m \in Member |-> [state |-> <<>>, coming |-> <<>>]]

StackNext ==
    \/ (\E m \in Member :
        \/ AppSends(m)
        \/ ReceiveForward(m)
        \/ ReceiveData(m)
        \/ InstallView(m)
        \/ Join(m)) /\ PassedOn
    \/ \E m \in Member :
        \/ AppRequests(m)
        \/ SoonFires(m)
        \/ UnicastArrives(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

-----------------------------------------------------------------------------
(* Claims *)

StackTypeOK ==
    \A m \in Member :
        /\ upper[m].member = m /\ sent[m] <= Len(casts[m])
        /\ upper[m].has => upper[m].provider = ""
        /\ installed[m] # 0 => upper[m].view = local[m].view

\* No message is twice in a state.
NothingTwice ==
    \A m \in up : \A i, j \in DOMAIN applications[m].state : i # j => applications[m].state[i] # applications[m].state[j]

-----------------------------------------------------------------------------
(* Witness *)

\* A joiner has the state, with a message in it.
JoinerTookMessage == \E m \in up : upper[m].attempt > 0 /\ upper[m].has /\ applications[m].state # <<>>
=============================================================================
