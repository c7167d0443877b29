----------------------------- MODULE Sequencer ------------------------------
(******************************************************************************)
(* SEQUENCER, one member: a pure function of its own state and an event.      *)
(*                                                                            *)
(* Theory. The coordinator of the view decides the order. A member sends      *)
(* its multicasts to the coordinator (FORWARD), and the coordinator           *)
(* multicasts them (DATA). Every member delivers them in the order in which   *)
(* the coordinator multicasts them. A sent message stays in its sender's      *)
(* forward-table until it comes back as DATA. At a view change the table is   *)
(* sent again, to the coordinator of the new view.                            *)
(*                                                                            *)
(* Why that is right. A multicast is ordered in one view: FORWARD and DATA    *)
(* carry the view they were sent in. A FORWARD of a later view waits. A       *)
(* FORWARD of an earlier view is dropped, for its sender sends it again when  *)
(* it installs the later view. The layer below delivers DATA in the view it   *)
(* was sent in, and the same DATA to all survivors (virtual synchrony). So    *)
(* when a member installs a view, its forward-table holds exactly its         *)
(* messages that no survivor has delivered. Sending them again neither loses, *)
(* doubles nor reorders any. The received-table is for a layer below that     *)
(* doubles a FORWARD, or that is not virtually synchronous.                   *)
(*                                                                            *)
(* A coordinator that was stopped for a while may be alone in its view when   *)
(* it resumes. Then the other members deliver the messages that it orders for *)
(* them in another order, in their own view. So it orders nothing for a       *)
(* member that it suspects: the sender sends the message again in its next    *)
(* view anyway.                                                               *)
(*                                                                            *)
(* With the option Majority a coordinator may have to wait before it orders.  *)
(* Module Primary says how long (MustWait). Until then its own messages wait  *)
(* in the table, and FORWARDs in `early`.                                     *)
(*                                                                            *)
(* The guards have the values of the repaired algorithm. The ablation `note`  *)
(* of models.yaml has the values of the design note.                          *)
(******************************************************************************)
EXTENDS Views, Steps, Primary

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
ResendOn == "every_view"   \* the table is sent again: "every_view", "coordinator_change", "coordinator_gone", "never"
ResendOrder == "rising"    \* "rising", or "falling" seqnos
ResendBeforeNew == TRUE    \* the table is sent again before anything new is
OwnInTable == TRUE         \* the coordinator's own messages are in its table too
RemoveOn == "data"         \* an entry leaves the table on "data", or already on "forward"
Dedup == "highest"         \* "highest" seqno received, "set" of seqnos, or "none"
KeepDeparted == TRUE       \* received-table entries of departed members are kept: they may merge back in the same
                           \* incarnation
EpochInTag == "id"         \* the tag holds the view in which its sender joined: its "id", its "counter" alone, or
                           \* "nothing"
CompareViewsBy == "id"     \* views are distinguished by their "id", or by their "counter" alone
EarlyForward == "held"     \* a FORWARD of a later view is "held", or "dropped" by a member that is not coordinator
LateForward == "dropped"   \* a FORWARD of an earlier view is "dropped", or "accepted" by a coordinator
SenderFrom == "header"     \* DATA's sender is taken from the "header", or from the "message"
DeliverOtherViews == FALSE \* DATA of another view is delivered
OrderForSuspects == FALSE  \* a coordinator orders FORWARDs of members that it suspects

ASSUME
    /\ ResendOn \in {"every_view", "coordinator_change", "coordinator_gone", "never"}
    /\ ResendOrder \in {"rising", "falling"}
    /\ RemoveOn \in {"data", "forward"}
    /\ Dedup \in {"highest", "set", "none"}
    /\ EarlyForward \in {"held", "dropped"} /\ LateForward \in {"dropped", "accepted"}
    /\ EpochInTag \in {"id", "counter", "nothing"}
    /\ CompareViewsBy \in {"id", "counter"}
    /\ SenderFrom \in {"header", "message"}
    /\ {ResendBeforeNew, OwnInTable, KeepDeparted, DeliverOtherViews, OrderForSuspects} \subseteq BOOLEAN

-----------------------------------------------------------------------------
(* Messages, and what is passed up *)

\* A multicast's identity (SEQ-10): its sender, the view in which the sender joined, a rising number.
Tag(sender, epoch, seqno) == [sender |-> sender, epoch |-> epoch, seqno |-> seqno]

ForwardMessage(view_id, tag, payload) == [type |-> "FORWARD", view_id |-> view_id, tag |-> tag, payload |-> payload]
DataMessage(view_id, tag, payload) == [type |-> "DATA", view_id |-> view_id, tag |-> tag, payload |-> payload]
PlainMessage(payload) == [type |-> "PLAIN", payload |-> payload]

Deliver(sender, payload) == PassUp([type |-> "Deliver", sender |-> sender, payload |-> payload])
\* A unicast, which has no place in the order.
DeliverUnicast(sender, payload) == PassUp([type |-> "DeliverUnicast", sender |-> sender, payload |-> payload])

-----------------------------------------------------------------------------
(* State *)

\* A member before its first view.
Start(member) ==
    [member |-> member,         \* this member's address
     view |-> NoView,           \* the view installed
     epoch |-> NoViewId,        \* the identifier of this incarnation's first view
     seqno |-> 0,               \* the number of its last multicast
     forward_table |-> <<>>,    \* own multicasts that did not come back yet, in rising order (SEQ-14)
     received_table |-> [m \in {} |-> 0], \* the highest tag received of each sender (SEQ-15)
     early |-> <<>>,            \* FORWARDs of views that are not installed or not formed yet, in order of arrival
     suspected |-> {},          \* its members that are suspected
     \* Of Primary:
     founds |-> TRUE, attempts |-> <<>>, formed |-> FALSE, reports |-> [m \in {} |-> 0]]

Entry(seqno, payload) == [seqno |-> seqno, payload |-> payload]
OwnTag(state, seqno) == Tag(state.member, state.epoch, seqno)

\* Handle an own message in the view of `state`: order it, or have it ordered.
Submit(state, entry) ==
    LET tag == OwnTag(state, entry.seqno) IN
    IF IsCoordinator(state)
    THEN Multicast(DataMessage(state.view.id, tag, entry.payload))
    ELSE Send(CoordinatorOf(state.view), ForwardMessage(state.view.id, tag, entry.payload))

\* ... or keep it in the table.
SubmittedNow(state, entry) == IF MustWait(state) THEN <<>> ELSE <<Submit(state, entry)>>

Struck(table, seqno) ==
    LET Other(entry) == entry.seqno # seqno IN SelectSeq(table, Other)

Mark(tag) == [epoch |-> tag.epoch, seqno |-> tag.seqno]

\* Was it received before? "highest": is it no higher than the highest of the same incarnation (SEQ-28). Epochs
\* are compared for being the same, never for which is the later: two branches of views may have one counter.
Seen(table, tag) ==
    /\ tag.sender \in DOMAIN table
    /\ CASE Dedup = "none" -> FALSE
         [] Dedup = "set" -> Mark(tag) \in table[tag.sender]
         [] Dedup = "highest" ->
            table[tag.sender].epoch = tag.epoch /\ tag.seqno <= table[tag.sender].seqno

Recorded(table, tag) ==
    [m \in DOMAIN table \cup {tag.sender} |->
        IF m # tag.sender THEN table[m]
        ELSE IF Dedup = "set" THEN (IF m \in DOMAIN table THEN table[m] ELSE {}) \cup {Mark(tag)}
        ELSE Mark(tag)]

\* The whole table, in order of seqno.
Resent(state) ==
    LET n == IF MustWait(state) THEN 0 ELSE Len(state.forward_table) IN
    [i \in 1 .. n |-> Submit(state, state.forward_table[IF ResendOrder = "rising" THEN i ELSE n + 1 - i])]

\* Views are known by their identifier (AMB-40).
SameView(id, other) == IF CompareViewsBy = "id" THEN id = other ELSE id.counter = other.counter

\* A FORWARD that is accepted is multicast once (SEQ-01).
Ordered(state, message) == <<Multicast(DataMessage(state.view.id, message.tag, message.payload))>>

RECURSIVE OrderedAll(_, _)
OrderedAll(state, messages) ==
    IF messages = <<>> THEN <<>>
    ELSE Ordered(state, Head(messages)) \o OrderedAll(state, Tail(messages))

\* The mark by which this member's incarnation, with this first view, differs from others.
EpochOf(v) ==
    CASE EpochInTag = "id" -> v.id
      [] EpochInTag = "counter" -> ViewId(v.id.counter, "")
      [] EpochInTag = "nothing" -> NoViewId

\* The message is of this incarnation of this member.
IsOwn(state, tag) == tag.sender = state.member /\ tag.epoch = state.epoch

\* The early FORWARDs that may still come into their own in `view`, or once it is installed. Those of this view: if the
\* coordinator waits.
StillEarly(early, view, waits) ==
    LET Later(f) == f.view_id.counter > view.id.counter \/ (waits /\ SameView(f.view_id, view.id))
    IN SelectSeq(early, Later)

-----------------------------------------------------------------------------
(* One operator an event *)

\* SEQ-17 to SEQ-19: the application multicasts.
SendRequested(s, e) ==
    IF ~Joined(s) THEN LocalError(s)
    ELSE
    LET entry == Entry(s.seqno + 1, e.payload)
        kept == RemoveOn = "data" /\ (OwnInTable \/ ~IsCoordinator(s))
    IN Handled([s EXCEPT !.seqno = entry.seqno,
                         !.forward_table = IF kept THEN Append(@, entry) ELSE @],
               SubmittedNow(s, entry))

\* SEQ-16: unicasts pass straight down, in no order with multicasts.
UnicastRequested(s, e) == Handled(s, <<Send(e.to, PlainMessage(e.payload))>>)

\* SEQ-22: what has no header passes up.
PlainReceived(s, e) == Handled(s, <<DeliverUnicast(e.sender, e.message.payload)>>)

IsRefused(s, sender) == sender \in s.suspected /\ ~OrderForSuspects

\* The membership service suspects a member of the view: it decides a view without it.
Suspected(s, e) ==
    IF e.suspect = s.member THEN LocalError(s)
    ELSE IF e.suspect \notin MembersOf(s.view) \/ e.suspect \in s.suspected THEN Ignored(s)
    ELSE Handled([s EXCEPT !.suspected = @ \cup {e.suspect}], <<>>)

\* SEQ-23, SEQ-24: order a message for its sender, in the view in which it was forwarded.
ForwardReceived(s, e) ==
    LET message == e.message IN
    IF message.view_id.counter > s.view.id.counter THEN
        IF e.sender # message.tag.sender THEN RemoteError(s)
        ELSE IF EarlyForward = "held" THEN Handled([s EXCEPT !.early = Append(@, message)], <<>>)
        ELSE IF LateForward = "accepted" /\ IsCoordinator(s) THEN Handled(s, Ordered(s, message))
        ELSE Ignored(s)
    ELSE IF ~SameView(message.view_id, s.view.id) THEN
        IF LateForward = "accepted" /\ IsCoordinator(s) THEN Handled(s, Ordered(s, message)) ELSE Ignored(s)
    ELSE IF ~IsCoordinator(s) \/ e.sender \notin MembersOf(s.view) \/ e.sender # message.tag.sender THEN RemoteError(s)
    ELSE IF IsRefused(s, e.sender) THEN Ignored(s)
    ELSE IF MustWait(s) THEN Handled([s EXCEPT !.early = Append(@, message)], <<>>)
    ELSE Handled(s, Ordered(s, message))

\* DATA is the coordinator's multicast, for a member of its view.
ByCoordinator(s, e) == e.sender = CoordinatorOf(s.view)
ForMember(s, tag) == tag.sender \in MembersOf(s.view)

\* SEQ-27: a duplicate is discarded, and an own one leaves the table all the same.
Duplicate(s, cleared) == IF cleared = s THEN Ignored(s) ELSE Handled(cleared, <<>>)

\* SEQ-25, SEQ-27 to SEQ-30: an own message leaves the table, duplicate or not; what was not received is delivered.
DataReceived(s, e) ==
    LET message == e.message
        tag == message.tag
        cleared == [s EXCEPT !.forward_table = IF IsOwn(s, tag) THEN Struck(@, tag.seqno) ELSE @]
        sender == IF SenderFrom = "header" THEN tag.sender ELSE e.sender
    IN
    IF ~Joined(s) \/ (message.view_id.counter > s.view.id.counter /\ ~DeliverOtherViews) THEN RemoteError(s)
    ELSE IF ~SameView(message.view_id, s.view.id) /\ ~DeliverOtherViews THEN Ignored(s)
    ELSE IF ~DeliverOtherViews /\ ~(ByCoordinator(s, e) /\ ForMember(s, tag)) THEN RemoteError(s)
    ELSE IF Seen(s.received_table, tag) THEN Duplicate(s, cleared)
    ELSE Handled([cleared EXCEPT !.received_table = Recorded(@, tag)], <<Deliver(sender, message.payload)>>)

\* FORWARDs of the view of `state` that were early, and may be ordered now.
Due(state, early) ==
    LET Now(f) == SameView(f.view_id, state.view.id) /\ f.tag.sender \in MembersOf(state.view) /\ ~IsRefused(state, f.tag.sender)
    IN IF IsCoordinator(state) /\ ~MustWait(state) THEN SelectSeq(early, Now) ELSE <<>>

\* After a step of Primary: what has waited is ordered, if its coordinator need wait no more.
Released(s, step) ==
    LET after == [step.state EXCEPT !.early = StillEarly(@, s.view, FALSE)]
    IN IF ~MustWait(s) \/ MustWait(step.state) THEN step
       ELSE Handled(after, step.effects \o Resent(after) \o OrderedAll(after, Due(after, s.early)))

\* SEQ-31, SEQ-32, AMB-81, AMB-82: what did not come back is sent again, in order, before anything new; FORWARDs that
\* were early are ordered now. A departed member may merge back in the same incarnation (KeepDeparted): its entry stays until a
\* later incarnation of its name is known.
ViewInstalled(s, e) ==
    IF s.member \notin MembersOf(e.view) THEN LocalError(s)
    ELSE IF e.view.id.counter <= s.view.id.counter THEN Ignored(s)
    ELSE
    LET first == ~Joined(s)
        again == IF first \/ ~ResendBeforeNew THEN FALSE ELSE
                 CASE ResendOn = "every_view" -> TRUE
                   [] ResendOn = "coordinator_change" -> CoordinatorOf(e.view) # CoordinatorOf(s.view)
                   [] ResendOn = "coordinator_gone" -> CoordinatorOf(s.view) \notin MembersOf(e.view)
                   [] ResendOn = "never" -> FALSE
        members == MembersOf(e.view)
        known == s.received_table
        entered == [s EXCEPT
            !.view = e.view,
            !.epoch = IF first THEN EpochOf(e.view) ELSE @,
            !.received_table = IF KeepDeparted THEN LatestLives(@, members)
                               ELSE [m \in DOMAIN known \cap members |-> known[m]],
            !.suspected = @ \cap members]
        \* (Of Primary.)
        attempt == Attempt(s, entered)
        after == [attempt.state EXCEPT !.early = StillEarly(@, e.view, MustWait(attempt.state))]
    IN Handled(after,
               attempt.effects
               \o (IF again THEN Resent(after) ELSE <<>>)
               \o OrderedAll(after, Due(after, s.early)))

\* Only where sending is not one step (the group's SendIsAtomic off): a thread looked up the coordinator in an
\* earlier view, and comes now to enter its message in the table and to send it there.
SendLookedUp(s, e) ==
    LET entry == Entry(s.seqno + 1, e.payload) IN
    Handled([s EXCEPT !.seqno = entry.seqno, !.forward_table = Append(@, entry)],
            <<Submit([s EXCEPT !.view = e.view], entry)>>)

\* Only where ResendBeforeNew is off: the table is sent again some time after the view was installed.
ResendDue(s, e) == Handled(s, Resent(s))

-----------------------------------------------------------------------------
(* Step: total over the alphabet *)

Step(s, e) ==
    CASE e.type = "SendRequested" -> SendRequested(s, e)
      [] e.type = "UnicastRequested" -> UnicastRequested(s, e)
      [] e.type = "PlainReceived" -> PlainReceived(s, e)
      [] e.type = "ForwardReceived" -> ForwardReceived(s, e)
      [] e.type = "DataReceived" -> DataReceived(s, e)
      \* Of Primary:
      [] e.type = "ReportReceived" -> Released(s, ReportReceived(s, e))
      [] e.type = "FormedReceived" -> FormedReceived(s, e)
      [] e.type = "Restored" -> Restored(s, e)
      \* ... and of the membership service:
      [] e.type = "ViewInstalled" -> ViewInstalled(s, e)
      [] e.type = "Suspected" -> Suspected(s, e)
      [] e.type = "SendLookedUp" -> SendLookedUp(s, e)
      [] e.type = "ResendDue" -> ResendDue(s, e)
=============================================================================
