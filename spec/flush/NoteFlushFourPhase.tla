------------------------- MODULE NoteFlushFourPhase -------------------------
(******************************************************************************)
(* The older design of FLUSH ("Design change: flushing and block() /          *)
(* unblock() callbacks", which the note marks as outdated).                   *)
(*                                                                            *)
(* Phase 1: some member multicasts START_FLUSH. Every member runs block(), in *)
(* which it may multicast and wait for answers. When block() returns the      *)
(* member multicasts FLUSH_OK. Phase 2: a member that has FLUSH_OK of every   *)
(* member closes its latch. Phase 3: it sends FLUSH_COMPLETED to the flush    *)
(* requester. Phase 4: STOP_FLUSH, when the requester has finished. Here that *)
(* is the next view, sent as a unicast, which is not ordered with multicasts  *)
(* (FLO-14).                                                                  *)
(*                                                                            *)
(* One member's multicasts arrive in order, so whoever has its FLUSH_OK       *)
(* has all that it multicast before. The note asks what becomes of what is    *)
(* multicast between the return of block() and the closing of the latch.      *)
(* The use case: in block() a member finishes a transaction: it multicasts    *)
(* PREPARE and waits until all others have acknowledged it, which their       *)
(* applications do whether they are blocked or not.                           *)
(*                                                                            *)
(* No member crashes: what goes wrong here does so without.                   *)
(******************************************************************************)
EXTENDS Steps, Acts, Naturals, Sequences, FiniteSets

CONSTANTS
    Member,         \* all addresses
    Flusher,        \* who flushes
    LatchClosesAt,  \* a latch closes when "all_oks" are there (the note), or at "block_return"
    Preparers,      \* who has a transaction to finish in block()
    Ackers,         \* who has to acknowledge it
    Acks,           \* a PREPARE is acknowledged by "multicast", or by "unicast" to its sender
    Casters,        \* who multicasts one message more, at any time that its latch is open
    InOrder         \* each member's multicasts arrive in the order sent

ASSUME
    /\ LatchClosesAt \in {"all_oks", "block_return"}
    /\ Acks \in {"multicast", "unicast"}
    /\ InOrder \in BOOLEAN
    /\ Flusher \in Member /\ Preparers \cup Ackers \cup Casters \subseteq Member

VARIABLES
    stream,         \* [Member -> what it has multicast in this view, in order]
    read,           \* [Member -> [Member -> which of these have arrived, by their places]]
    unicasts        \* on their way: a set of [sender, to, message]

vars == <<local, stream, read, unicasts, act>>
view == <<local, stream, read, unicasts>>

-----------------------------------------------------------------------------
Message(type) == [type |-> type]
Ack(of) == [type |-> "ACK", of |-> of]

Fresh ==
    [phase |-> "free",      \* "free", in "block", "returned", "latched", or in the "next" view
     got |-> {},            \* whose DATA it has delivered in this view
     oks |-> {},            \* whose FLUSH_OK has come
     completed |-> {},      \* who flushes: whose FLUSH_COMPLETED has come
     acks |-> {},           \* acknowledgements received: <<from, for the PREPARE of>>
     owes |-> {},           \* whose PREPARE it has not acknowledged yet
     cast |-> FALSE]        \* it has multicast its message

IsOpen(s) == s.phase # "latched" /\ (LatchClosesAt = "block_return" => s.phase # "returned")

\* Phases 2 and 3, when all FLUSH_OKs are there.
IsComplete(s) == s.phase = "returned" /\ s.oks = Member

\* m takes a step to state s, with what it multicasts and sends: a sequence of effects.
MayStep(action, m, event, consumed, s, effects) ==
    \E done \in {IF IsComplete(s) THEN <<Send(Flusher, Message("FLUSH_COMPLETED"))>> ELSE <<>>} :
    \E all \in {effects \o done} :
        /\ local' = [local EXCEPT ![m] = IF IsComplete(s) THEN [s EXCEPT !.phase = "latched"] ELSE s]
        /\ LET IsCast(e) == e.type = "Multicast"
               casts == SelectSeq(all, IsCast)
           IN stream' = [stream EXCEPT ![m] = @ \o [i \in DOMAIN casts |-> casts[i].message]]
        /\ unicasts' = (unicasts \ consumed) \cup
                {[sender |-> m, to |-> all[i].to, message |-> all[i].message] :
                    i \in {i \in DOMAIN all : all[i].type = "Send"}}
        /\ Record(action, m, FALSE, None, event, consumed, "handled", all)

Started == \E i \in DOMAIN stream[Flusher] : stream[Flusher][i].type = "START_FLUSH"

\* Phase 1.
StartFlush ==
    /\ ~Started
    /\ MayStep("StartFlush", Flusher, Message("Suspend"), {}, local[Flusher],
            <<Multicast(Message("START_FLUSH"))>>)
    /\ read' = read

AppSends(m) ==
    /\ m \in Casters /\ ~local[m].cast
    /\ local[m].phase # "next" /\ IsOpen(local[m])
    /\ MayStep("AppSends", m, Message("SendRequested"), {}, [local[m] EXCEPT !.cast = TRUE],
            <<Multicast(Message("DATA"))>>)
    /\ read' = read

HasItsAcks(m) == m \in Preparers => \A x \in Ackers \ {m} : <<x, m>> \in local[m].acks

MayReturn(m) == HasItsAcks(m)

ReturnBlock(m) ==
    /\ local[m].phase = "block" /\ MayReturn(m)
    /\ MayStep("ReturnBlock", m, Message("BlockReturned"), {}, [local[m] EXCEPT !.phase = "returned"],
            <<Multicast(Message("FLUSH_OK"))>>)
    /\ read' = read

\* The phase that START_FLUSH begins.
AtStart(m) == "block"

\* m's reaction to a message from x.
After(m, x, message) ==
    LET s == local[m] IN
    CASE message.type = "DATA" -> [s EXCEPT !.got = @ \cup {x}]
      [] message.type = "START_FLUSH" -> [s EXCEPT !.phase = AtStart(m)]
      [] message.type = "FLUSH_OK" -> [s EXCEPT !.oks = @ \cup {x}]
      [] message.type = "PREPARE" -> IF m = x \/ m \notin Ackers THEN s ELSE [s EXCEPT !.owes = @ \cup {x}]
      [] message.type = "ACK" -> [s EXCEPT !.acks = @ \cup {<<x, message.of>>}]
      [] message.type = "FLUSH_COMPLETED" -> [s EXCEPT !.completed = @ \cup {x}]
      [] message.type = "NEW_VIEW" -> [s EXCEPT !.phase = "next"]

EventOf(x, message) == [type |-> "MessageReceived", sender |-> x, message |-> message]

\* block() begins with the transaction, if there is one.
InBlock(m, message) ==
    IF message.type = "START_FLUSH" /\ m \in Preparers THEN <<Multicast(Message("PREPARE"))>> ELSE <<>>

ReceiveMulticast(m) ==
    /\ local[m].phase # "next"
    /\ \E x \in Member : \E i \in DOMAIN stream[x] \ read[m][x] :
        /\ InOrder => \A j \in 1 .. i - 1 : j \in read[m][x]
        /\ read' = [read EXCEPT ![m][x] = @ \cup {i}]
        /\ MayStep("ReceiveMulticast", m, EventOf(x, stream[x][i]),
                {[sender |-> x, to |-> m, message |-> stream[x][i]]},
                After(m, x, stream[x][i]), InBlock(m, stream[x][i]))

\* Its application acknowledges a PREPARE. The latch holds back a multicast, and never a unicast.
MayAcknowledge(s) == s.owes # {} /\ s.phase # "next" /\ (Acks = "unicast" \/ IsOpen(s))

Acknowledge(m) ==
    /\ MayAcknowledge(local[m])
    /\ \E x \in local[m].owes :
        MayStep("Acknowledge", m, Message("Prepared"), {}, [local[m] EXCEPT !.owes = @ \ {x}],
             <<IF Acks = "unicast" THEN Send(x, Ack(x)) ELSE Multicast(Ack(x))>>)
    /\ read' = read

\* The members in some order.
InSomeOrder == CHOOSE q \in [1 .. Cardinality(Member) -> Member] : Member = {q[i] : i \in DOMAIN q}

\* A member that flushes has all FLUSH_COMPLETED: what was flushed for is done.
ReceiveUnicast(m) ==
    /\ \E p \in unicasts :
        /\ p.to = m
        /\ \E s \in {After(m, p.sender, p.message)} :
            MayStep("ReceiveUnicast", m, EventOf(p.sender, p.message), {p}, s,
                 IF p.message.type = "FLUSH_COMPLETED" /\ s.completed = Member
                 THEN [i \in DOMAIN InSomeOrder |-> Send(InSomeOrder[i], Message("NEW_VIEW"))]
                 ELSE <<>>)
    /\ read' = read

Init ==
    /\ local = [m \in Member |-> Fresh]
    /\ stream = [m \in Member |-> <<>>]
    /\ read = [m \in Member |-> [x \in Member |-> {}]]
    /\ unicasts = {}
    /\ act = NoAct

Next ==
    \/ StartFlush
    \/ \E m \in Member :
        \/ AppSends(m)
        \/ ReturnBlock(m)
        \/ ReceiveMulticast(m)
        \/ Acknowledge(m)
        \/ ReceiveUnicast(m)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Claims *)

FourPhaseTypeOK ==
    \A m \in Member :
        /\ local[m].phase \in {"free", "block", "returned", "latched", "next"}
        /\ local[m].got \cup local[m].oks \cup local[m].completed \cup local[m].owes \subseteq Member
        /\ local[m].acks \subseteq Member \X Preparers
        /\ \A x \in Member : read[m][x] \subseteq DOMAIN stream[x]

InNextView == {m \in Member : local[m].phase = "next"}

\* FLO-13: all members of the next view have delivered the same in the present view.
SameDeliveriesBeforeNextView == \A m, x \in InNextView : local[m].got = local[x].got

\* FLO-11: where a latch is closed every transaction is finished, ...
TransactionsFinished ==
    \A m \in Member : local[m].phase = "latched" => \A p \in Preparers : HasItsAcks(p)

\* ... and all acknowledgements that are multicast have come, too.
AllMulticastAcksReceived ==
    Acks = "multicast" =>
        \A m \in Member : local[m].phase = "latched" =>
            \A p \in Preparers : \A x \in Ackers \ {p} : <<x, p>> \in local[m].acks

\* FLO-10: the group does not come to rest before every member is in the next view.
AllReachNextView ==
    (/\ Started /\ unicasts = {}
     /\ \A m \in Member \ InNextView :
        /\ \A x \in Member : read[m][x] = DOMAIN stream[x]
        /\ ~(local[m].phase = "block" /\ MayReturn(m))
        /\ ~MayAcknowledge(local[m]))
        => InNextView = Member

-----------------------------------------------------------------------------
(* Defects *)

\* In the place of MayReturn: block() does not wait for what it has begun.
ReturnsAtOnce(m) == TRUE

\* In the place of AtStart: START_FLUSH counts as the next view.
LeapsToNextView(m) == IF m = Flusher THEN "block" ELSE "next"

-----------------------------------------------------------------------------
(* Witnesses *)

\* A message is multicast in block(); a view is there.
SentInBlock ==
    \E m \in Member : local[m].phase = "block" /\ local[m].cast /\ m \notin local[m].got
AllInNextView == InNextView = Member
=============================================================================
