-------------------------------- MODULE NoteAck --------------------------------
(***************************************************************************)
(* ACK ("Large messages in large clusters"), one member: a pure function   *)
(* of its own state and an event. No core implements it; the module is     *)
(* here for the flaws of the note's algorithm.                             *)
(*                                                                         *)
(* Theory. A sender keeps a large message until all receivers have         *)
(* acknowledged it, or it gives up. It announces the message on a timer:   *)
(* a receiver that lacks it fetches it. A receiver passes over a message   *)
(* that does not come, and delivers the next. ACK stands on multicasts     *)
(* with numbers (NAKACK, with fragmentation between the two), which it     *)
(* notifies of what to keep, to fetch and to pass over.                    *)
(*                                                                         *)
(* Flow control: a sender with Credit unacknowledged messages holds back   *)
(* the next one; by the note for no longer than max_block_times.           *)
(*                                                                         *)
(* The constants of the first group are guards. The reference in           *)
(* models.yaml is the note's algorithm with each flaw mended, so that each *)
(* flaw has a control.                                                     *)
(***************************************************************************)
EXTENDS Steps, Integers, FiniteSets, Sequences

CONSTANTS
    Announce,       \* the announcement is a message of its "own", or STABLE's "stability", which purges
    SkipWhen,       \* a receiver passes over a message when the sender has "given_up", or on a "timer" of its own
    GiveUpOn,       \* a sender that gives up a message gives up the "earlier" ones too, or "this" one alone
    AckSkipped,     \* a receiver acknowledges what it passes over
    DropLate,       \* a copy of what was passed over is dropped
    TrimOnView,     \* members that left are struck off the lists
    JoinersAck,     \* joiners are added to the lists that there are
    KeepDelivered,  \* receivers keep what they have delivered, for receivers that lack it
    BlockEnds,      \* max_block_times: a message that is held back goes out on a timer
    Credit,         \* unacknowledged messages at which a sender holds back the next; 0: no flow control
    Tries           \* announcements before the sender gives up

ASSUME
    /\ Announce \in {"own", "stability"}
    /\ SkipWhen \in {"given_up", "timer"}
    /\ GiveUpOn \in {"earlier", "this"}
    /\ {AckSkipped, DropLate, TrimOnView, JoinersAck, KeepDelivered, BlockEnds} \subseteq BOOLEAN
    /\ {Credit, Tries} \subseteq Nat

-----------------------------------------------------------------------------
(* Messages and effects *)

Data(n) == [type |-> "DATA", seqno |-> n]

\* ACK-12, ACK-09: one for each message and receiver.
AckMessage(n) == [type |-> "ACK", seqno |-> n]

\* ACK-15, AMB-93: it asks for what is missing, and purges nothing.
LastSeqno(n) == [type |-> "LAST_SEQNO", seqno |-> n]

GivenUp(n) == [type |-> "GIVEN_UP", seqno |-> n]

\* ACK-13: NAKACK need not keep message n any more.
Free(n) == PassDown([type |-> "Free", seqno |-> n])
Fetch(n) == PassDown([type |-> "Fetch", upto |-> n])

\* ACK-18, ACK-19: what has not come up to n is passed over.
PassOver(n) == PassDown([type |-> "PassOver", upto |-> n])

AckTimer == SetTimer("ack", 1, 1)
BlockTimer == SetTimer("block", 1, 1)
SkipTimer == SetTimer("skip", 1, 1)

-----------------------------------------------------------------------------
(* State. Messages are numbered from 0. *)

Start(member) ==
    [member |-> member,         \* this member's address
     view |-> {},               \* the members of its view
     sent |-> -1,               \* the last message sent
     pending |-> [n \in {} |-> {}],     \* [message -> the members of which an ACK is awaited]
     tries |-> [n \in {} |-> 0],        \* [message -> announcements made]
     held |-> 0,                \* messages held back for credit
     waits |-> {}]              \* of a receiver: messages that were announced and have not come

Without(f, set) == [n \in DOMAIN f \ set |-> f[n]]
WithEntry(f, n, value) == [k \in DOMAIN f \cup {n} |-> IF k = n THEN value ELSE f[k]]

RECURSIVE Rising(_)
Rising(set) == IF set = {} THEN <<>> ELSE LET x == CHOOSE x \in set : \A y \in set : x <= y IN <<x>> \o Rising(set \ {x})

Frees(set) == LET list == Rising(set) IN [i \in DOMAIN list |-> Free(list[i])]

-----------------------------------------------------------------------------
(* Sending *)

\* ACK-11, AMB-97: the list of members that have to acknowledge is without the sender.
Out(s) ==
    LET n == s.sent + 1
        awaited == s.view \ {s.member}
    IN IF awaited = {} THEN Handled([s EXCEPT !.sent = n], <<Multicast(Data(n)), Free(n)>>)
       ELSE Handled([s EXCEPT !.sent = n, !.pending = WithEntry(@, n, awaited), !.tries = WithEntry(@, n, 0)],
                    <<Multicast(Data(n)), AckTimer>>)

IsFull(s) == Credit > 0 /\ Cardinality(DOMAIN s.pending) >= Credit

\* Messages that are held back go out, as far as there is credit.
RECURSIVE Flowing(_, _)
Flowing(s, effects) ==
    IF s.held = 0 \/ IsFull(s) THEN Handled(s, effects)
    ELSE LET out == Out([s EXCEPT !.held = @ - 1]) IN Flowing(out.state, effects \o out.effects)

\* ACK-03: these messages need not be kept any more.
Done(s, set) == Flowing([s EXCEPT !.pending = Without(@, set), !.tries = Without(@, set)], Frees(set))

SendRequested(s, e) ==
    IF s.view = {} THEN LocalError(s)
    ELSE IF IsFull(s) \/ s.held > 0 THEN Handled([s EXCEPT !.held = @ + 1], <<BlockTimer>>)
    ELSE Out(s)

\* ACK-22, ACK-23, AMB-99
BlockTimeout(s, e) ==
    IF s.held = 0 \/ ~BlockEnds THEN Ignored(s)
    ELSE LET out == Out([s EXCEPT !.held = @ - 1])
         IN Handled(out.state, out.effects \o (IF s.held > 1 THEN <<BlockTimer>> ELSE <<>>))

AckReceived(s, e) ==
    LET n == e.message.seqno IN
    IF n \notin DOMAIN s.pending \/ e.sender \notin s.pending[n] THEN Ignored(s)
    ELSE IF s.pending[n] = {e.sender} THEN Done(s, {n})
    ELSE Handled([s EXCEPT !.pending[n] = @ \ {e.sender}], <<>>)

\* ACK-06, ACK-14, ACK-15, ACK-16, AMB-92: after the last of its announcements the sender gives up.
AckTimeout(s, e) ==
    LET n == e.seqno
        over == IF GiveUpOn = "this" THEN {n} ELSE {k \in DOMAIN s.pending : k <= n}
        step == Done(s, over)
    IN IF n \notin DOMAIN s.pending THEN Ignored(s)
       ELSE IF s.tries[n] < Tries THEN Handled([s EXCEPT !.tries[n] = @ + 1], <<Multicast(LastSeqno(n)), AckTimer>>)
       ELSE [step EXCEPT !.effects = @ \o (IF SkipWhen = "given_up" THEN <<Multicast(GivenUp(n))>> ELSE <<>>)]

\* ACK-21
ViewInstalled(s, e) ==
    LET left == IF TrimOnView THEN s.view \ e.members ELSE {}
        new == IF JoinersAck THEN e.members \ s.view ELSE {}
        now == [s EXCEPT !.view = e.members, !.pending = [n \in DOMAIN @ |-> (@[n] \ left) \cup new]]
    IN IF s.member \notin e.members THEN LocalError(s)
       ELSE Done(now, {n \in DOMAIN now.pending : now.pending[n] = {}})

-----------------------------------------------------------------------------
(* Receiving. `next`: the message that this member delivers next. *)

NoLongerWaits(s, n) == [s EXCEPT !.waits = {k \in @ : k > n}]

\* ACK-02, AMB-96: from below comes the whole message, in order.
DataReceived(s, e) ==
    LET n == e.message.seqno IN
    Handled(NoLongerWaits(s, n), <<Send(e.sender, AckMessage(n)), PassUp([type |-> "Deliver", sender |-> e.sender, seqno |-> n])>>)

\* ACK-17, AMB-98
LastSeqnoReceived(s, e) ==
    LET n == e.message.seqno
        timer == IF n \in s.waits \/ SkipWhen # "timer" THEN <<>> ELSE <<SkipTimer>>
    IN IF Announce = "stability" /\ e.sender = s.member THEN Done(s, {n} \cap DOMAIN s.pending)
       ELSE IF e.sender = s.member \/ n < e.next THEN Ignored(s)
       ELSE Handled([s EXCEPT !.waits = @ \cup {n}], <<Fetch(n)>> \o timer)

Skip(s, e, n) ==
    LET acks == IF AckSkipped THEN [i \in 1 .. n - e.next + 1 |-> Send(e.sender, AckMessage(e.next + i - 1))] ELSE <<>>
    IN IF n < e.next THEN Ignored(s) ELSE Handled(NoLongerWaits(s, n), <<PassOver(n)>> \o acks)

SkipTimeout(s, e) == Skip(s, e, e.seqno)

GivenUpReceived(s, e) == Skip(s, e, e.message.seqno)

-----------------------------------------------------------------------------
(* Step *)

\* No member sends ACK and GIVEN_UP to itself.
Refuses(s, e) == e.type \in {"AckReceived", "GivenUpReceived"} /\ e.sender = s.member

Step(s, e) ==
    IF Refuses(s, e) THEN RemoteError(s)
    ELSE
    CASE e.type = "SendRequested" -> SendRequested(s, e)
      [] e.type = "BlockTimeout" -> BlockTimeout(s, e)
      [] e.type = "AckReceived" -> AckReceived(s, e)
      [] e.type = "AckTimeout" -> AckTimeout(s, e)
      [] e.type = "ViewInstalled" -> ViewInstalled(s, e)
      [] e.type = "DataReceived" -> DataReceived(s, e)
      [] e.type = "LastSeqnoReceived" -> LastSeqnoReceived(s, e)
      [] e.type = "SkipTimeout" -> SkipTimeout(s, e)
      [] e.type = "GivenUpReceived" -> GivenUpReceived(s, e)
=============================================================================
