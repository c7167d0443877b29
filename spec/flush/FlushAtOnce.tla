----------------------------- MODULE FlushAtOnce -----------------------------
(***************************************************************************)
(* FLUSH in a closed model with the layer below, with fewer steps: BLOCK   *)
(* returns at once, what a member sends to itself arrives at once, and its *)
(* own multicast comes back at once. So one step here is several of Flush, *)
(* one after the other. spec/gms/GmsFlush.tla and                          *)
(* spec/merge_gms/MergeGmsFlush.tla have it.                               *)
(***************************************************************************)
EXTENDS Sequences

CONSTANT Step(_, _)     \* of Flush

\* Effects of this type, in order.
EffectsOf(effects, type) ==
    LET Is(effect) == effect.type = type IN SelectSeq(effects, Is)

EventOf(q, message) ==
    [type |-> CASE message.type = "START_FLUSH" -> "StartFlushReceived"
                [] message.type = "FLUSH_COMPLETED" -> "FlushCompletedReceived"
                [] message.type = "RECONCILE" -> "ReconcileReceived"
                [] message.type = "STOP_FLUSH" -> "StopFlushReceived",
     sender |-> q, message |-> message]

\* The events that an effect causes at once.
Brings(m, effect) ==
    IF effect.type = "PassUp" /\ effect.event.type = "Block" THEN <<[type |-> "BlockReturned"]>>
    ELSE IF effect.type = "Send" /\ effect.to = m THEN <<EventOf(m, effect.message)>>
    ELSE IF effect.type = "Multicast"
    THEN <<[type |-> "DataReceived", sender |-> m, message |-> effect.message]>>
    ELSE <<>>

RECURSIVE Flat(_)
Flat(lists) == IF lists = <<>> THEN <<>> ELSE Head(lists) \o Flat(Tail(lists))

\* FLUSH's state after these events, with all that they bring at once, and its effects in order.
RECURSIVE Ran(_, _, _, _)
Ran(m, s, events, effects) ==
    IF events = <<>> THEN [state |-> s, effects |-> effects]
    ELSE CHOOSE done \in
            {Ran(m, step.state,
                 Flat([i \in DOMAIN step.effects |-> Brings(m, step.effects[i])]) \o Tail(events),
                 effects \o (IF step.outcome \in {"handled", "ignored"} THEN step.effects
                             ELSE <<[type |-> "Refused", event |-> Head(events)]>>)) :
             step \in {Step(s, Head(events))}} : TRUE

Runs(m, s, events) == Ran(m, s, events, <<>>)

\* Messages that m sends, after its earlier messages. `net`: [from -> [to -> messages in order]].
SentTo(m, x, effects) ==
    LET Is(effect) == effect.type = "Send" /\ effect.to = x /\ x # m
        those == SelectSeq(effects, Is)
    IN [i \in DOMAIN those |-> those[i].message]

AfterSends(net, m, effects, live) ==
    IF EffectsOf(effects, "Send") = <<>> THEN net
    ELSE [net EXCEPT ![m] = [x \in DOMAIN @ |-> IF x \in live THEN @[x] \o SentTo(m, x, effects) ELSE <<>>]]
=============================================================================
