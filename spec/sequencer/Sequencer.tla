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
(* With the option Majority a view orders nothing before it is *formed*, and  *)
(* the formed views are on one path: of the parts of a group one continues.   *)
(* A member that installs a view reports to its coordinator the last formed   *)
(* view that it knows, and the views that it has installed since. The view is *)
(* formed when a majority of each of these has reported (dynamic voting,      *)
(* module MajorityViews). Then the coordinator multicasts FORMED, and orders. *)
(* A member that knows no formed view reports none: joiners are no majority   *)
(* of anything. A founder forms the first view, which it creates.             *)
(*                                                                            *)
(* The views that a member reports are its *record*. It is on the member's    *)
(* disk before a message of the step leaves that changed it: so before a      *)
(* REPORT of it, and, at the coordinator of a view that is formed, before     *)
(* anything is ordered. The next incarnation of the name begins with the      *)
(* record (Restored): it counts as the former ones, and founds no group.      *)
(* An address is used once: an incarnation without a record counts as new.    *)
(*                                                                            *)
(* The guards have the values of the repaired algorithm. The ablation `note`  *)
(* of models.yaml has the values of the design note.                          *)
(******************************************************************************)
EXTENDS Views, Steps, Integers, FiniteSets

CONSTANTS
    Majority,           \* option: a view without a majority of the last one delivers nothing
    MaxAttempts         \* with Majority: the most views of a record

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
MajorityBy == "attempts"   \* that is: of each view in the "attempts" reported, of the last formed views ("installed"),
                           \* or of the last formed view by the new one's list ("listed")
CountBy == "record"        \* a member counts as all incarnations that have had its "record", of its "name", or as
                           \* its own one ("life")
Prune == TRUE              \* views before a formed view that is reported are not asked for
Abandon == TRUE            \* nor is a view of which the coordinator reports that it has not formed it

ASSUME
    /\ ResendOn \in {"every_view", "coordinator_change", "coordinator_gone", "never"}
    /\ ResendOrder \in {"rising", "falling"}
    /\ RemoveOn \in {"data", "forward"}
    /\ Dedup \in {"highest", "set", "none"}
    /\ EarlyForward \in {"held", "dropped"} /\ LateForward \in {"dropped", "accepted"}
    /\ EpochInTag \in {"id", "counter", "nothing"}
    /\ CompareViewsBy \in {"id", "counter"}
    /\ SenderFrom \in {"header", "message"}
    /\ {ResendBeforeNew, OwnInTable, KeepDeparted, DeliverOtherViews, OrderForSuspects, Majority, Prune, Abandon} \subseteq BOOLEAN
    /\ MajorityBy \in {"attempts", "installed", "listed"} /\ CountBy \in {"record", "name", "life"}

-----------------------------------------------------------------------------
(* Messages, and what is passed up *)

\* A multicast's identity (SEQ-10): its sender, the view in which the sender joined, a rising number.
Tag(sender, epoch, seqno) == [sender |-> sender, epoch |-> epoch, seqno |-> seqno]

ForwardMessage(view_id, tag, payload) == [type |-> "FORWARD", view_id |-> view_id, tag |-> tag, payload |-> payload]
DataMessage(view_id, tag, payload) == [type |-> "DATA", view_id |-> view_id, tag |-> tag, payload |-> payload]
\* "These views I know: the last formed view, and the views that I have installed since."
ReportMessage(view_id, attempts) == [type |-> "REPORT", view_id |-> view_id, attempts |-> attempts]
FormedMessage(view_id) == [type |-> "FORMED", view_id |-> view_id]
PlainMessage(payload) == [type |-> "PLAIN", payload |-> payload]

Deliver(sender, payload) == PassUp([type |-> "Deliver", sender |-> sender, payload |-> payload])
\* A unicast, which has no place in the order.
DeliverUnicast(sender, payload) == PassUp([type |-> "DeliverUnicast", sender |-> sender, payload |-> payload])

\* To the application: messages are ordered in this view. (Only with Majority.)
ViewFormed(view_id) == PassUp([type |-> "ViewFormed", view_id |-> view_id])

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
     founds |-> TRUE,           \* with Majority: it forms a first view of itself alone, as it has no record
     attempts |-> <<>>,         \* with Majority: the last formed view that it knows, and those installed since
     formed |-> FALSE,          \* with Majority: it knows that its view is formed
     reports |-> [m \in {} |-> 0]]  \* with Majority: the last REPORT of each member, of a view that is not formed yet

Joined(state) == state.view # NoView
IsCoordinator(state) == Joined(state) /\ CoordinatorOf(state.view) = state.member

Entry(seqno, payload) == [seqno |-> seqno, payload |-> payload]
OwnTag(state, seqno) == Tag(state.member, state.epoch, seqno)

\* A coordinator that may not order anything yet.
MustWait(state) == Majority /\ ~state.formed /\ IsCoordinator(state)

\* Handle an own message in the view of `state`: order it, or have it ordered.
Submit(state, entry) ==
    LET tag == OwnTag(state, entry.seqno) IN
    IF IsCoordinator(state)
    THEN Multicast(DataMessage(state.view.id, tag, entry.payload))
    ELSE Send(CoordinatorOf(state.view), ForwardMessage(state.view.id, tag, entry.payload))

\* ... or keep it in the table until the view is formed.
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

\* The early FORWARDs that may still come into their own once `view` is installed; it may have to be formed first.
StillEarly(early, view, waits) ==
    LET Later(f) == f.view_id.counter > view.id.counter \/ (waits /\ SameView(f.view_id, view.id))
    IN SelectSeq(early, Later)

-----------------------------------------------------------------------------
(* Majorities *)

\* More than half of the members of a view, or half of them with its coordinator: two such sets have a member in common.
HasMajority(set, v) ==
    LET n == Cardinality(set \cap MembersOf(v)) IN
    2 * n > Len(v.members) \/ (2 * n = Len(v.members) /\ CoordinatorOf(v) \in set)

\* The last incarnation of m's name, m or a former one, that is in the last formed view of its record `attempts`. An
\* incarnation without the record counts as new: it is in no such view before it hears of another one.
Since(m, attempts) ==
    LET own == IF attempts = <<>> THEN {} ELSE {a \in MembersOf(attempts[1]) : a = m \/ IsFormer(a, m)}
    IN own \ Superseded(own)

\* m, with its record `attempts`, counts as address a.
CountsAs(m, attempts, a) ==
    CASE CountBy = "record" -> a = m \/ (IsFormer(a, m) /\ \E first \in Since(m, attempts) : ~IsFormer(a, first))
      [] CountBy = "name" -> a = m \/ IsFormer(a, m)
      [] CountBy = "life" -> a = m

\* The members of v as which those of `set` count.
Counted(reports, set, v) == {a \in MembersOf(v) : \E m \in set : CountsAs(m, reports[m].attempts, a)}

\* Some member of `set` reports v as the last formed view.
IsFormedBy(reports, set, v) == \E x \in set : reports[x].attempts # <<>> /\ reports[x].attempts[1] = v

\* The coordinator of v, which alone could form it, is in `set`, and reports another view as the last formed one. (So
\* it has formed v not at all, or before that one.)
IsAbandoned(reports, set, v) ==
    \E x \in set : /\ reports[x].attempts # <<>> /\ reports[x].attempts[1] # v
                   /\ CountsAs(x, reports[x].attempts, CoordinatorOf(v))

\* The views that m reports and of which a majority is needed, if those of `set` are right.
Asked(reports, set, m) ==
    LET list == reports[m].attempts
        matters(i) ==
            /\ Prune => \A j \in i + 1 .. Len(list) : ~IsFormedBy(reports, set, list[j])
            /\ Abandon => ~IsAbandoned(reports, set, list[i])
    IN {list[i] : i \in {i \in DOMAIN list : matters(i)}}

\* Those of `set` that ask for no view without a majority in `set` and `left`.
Served(reports, set, left) ==
    {m \in set : \A v \in Asked(reports, set, m) : HasMajority(Counted(reports, set, v) \cup left, v)}

\* The most of `set` that, with `left`, have a majority of each view that is asked for among them.
RECURSIVE Quorum(_, _, _)
Quorum(reports, set, left) ==
    LET served == Served(reports, set, left) IN IF served = set THEN set ELSE Quorum(reports, served, left)

\* A coordinator that formed the last view, and left the group by deciding `view` without itself. It knows the same formed
\* view as the members to which it said so, and has no other successor (Departures): it counts
\* as present. (A leaver in a view that was not formed may know attempts that no member of `view` reports.)
Leavers(reports, here, view) ==
    {c \in {view.id.creator} \ MembersOf(view) :
        \E m \in here : Len(reports[m].attempts) = 1 /\ CoordinatorOf(reports[m].attempts[1]) = c}

\* May the coordinator of `view`, with these reports, order in it? At least one of the quorum knows a formed view.
IsQuorum(reports, view) ==
    LET here == {m \in DOMAIN reports \cap MembersOf(view) : SameView(reports[m].view_id, view.id)}
    IN \E m \in Quorum(reports, here, Leavers(reports, here, view)) : reports[m].attempts # <<>>

\* A member that creates its first view, of itself alone, founds the group. (The other members of a joiner's first view
\* may all leave in it: then a joiner is alone there, too.)
Founds(s) == s.founds /\ s.view.members = <<s.member>> /\ s.view.id.creator = s.member /\ s.epoch = EpochOf(s.view)

\* Reports of views after `view`.
LaterReports(reports, view) ==
    [m \in {m \in DOMAIN reports : reports[m].view_id.counter > view.id.counter} |-> reports[m]]

\* The state of a member that hears that its view is formed.
InFormed(state) ==
    [state EXCEPT !.formed = TRUE, !.attempts = <<state.view>>, !.reports = LaterReports(@, state.view)]

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

\* A coordinator that waits forms its view if it has the reports for it.
Forms(s) ==
    IF ~MustWait(s) \/ ~(Founds(s) \/ IsQuorum(s.reports, s.view)) THEN Handled(s, <<>>)
    ELSE Handled([InFormed(s) EXCEPT !.early = StillEarly(@, s.view, FALSE)],
                 <<Multicast(FormedMessage(s.view.id)), ViewFormed(s.view.id)>>)

\* A member has installed a view, and says what it knows of those before. If the view is formed by that, what has
\* waited is ordered.
ReportReceived(s, e) ==
    LET message == e.message
        after == [s EXCEPT !.reports = [m \in DOMAIN @ \cup {e.sender} |->
                    IF m = e.sender THEN message ELSE @[m]]]
    IN IF ~Majority THEN RemoteError(s)
       ELSE IF message.view_id.counter > s.view.id.counter THEN Handled(after, <<>>)
       ELSE IF ~SameView(message.view_id, s.view.id) THEN Ignored(s)
       ELSE IF ~IsCoordinator(s) \/ e.sender \notin MembersOf(s.view) THEN RemoteError(s)
       ELSE IF s.formed THEN Ignored(s)
       ELSE LET forming == Forms(after) IN
            Handled(forming.state, forming.effects
                                   \o (IF forming.state.formed
                                       THEN Resent(forming.state) \o OrderedAll(forming.state, Due(forming.state, s.early))
                                       ELSE <<>>))

\* The coordinator orders from now on. (Its own comes back to it, too.)
FormedReceived(s, e) ==
    LET message == e.message IN
    IF ~Majority \/ ~Joined(s) \/ message.view_id.counter > s.view.id.counter THEN RemoteError(s)
    ELSE IF ~SameView(message.view_id, s.view.id) THEN Ignored(s)
    ELSE IF e.sender # CoordinatorOf(s.view) THEN RemoteError(s)
    ELSE IF s.formed THEN Ignored(s)
    ELSE Handled(InFormed(s), <<ViewFormed(s.view.id)>>)

\* Its record without the views that it has coordinated, and not formed: they are not formed any more. (The last of them it
\* has reported: see Leavers.)
Kept(s) ==
    LET list == s.attempts
        stays(i) == i = 1 \/ ~Abandon \/ ~CountsAs(s.member, list, CoordinatorOf(list[i]))
        number(i) == Cardinality({j \in 1 .. i : stays(j)})
        all == {i \in DOMAIN list : stays(i)}
    IN [n \in 1 .. Cardinality(all) |-> list[CHOOSE i \in all : number(i) = n]]

\* Its record has no room for a view: it helps to form none until it hears of a formed one.
IsFull(s) == MajorityBy = "attempts" /\ Len(Kept(s)) >= MaxAttempts

\* The views that a member has to report after it has installed `v`: none while it knows no formed view.
Attempts(s, v) ==
    IF ~Majority THEN s.attempts
    ELSE CASE MajorityBy = "attempts" -> IF s.attempts = <<>> \/ IsFull(s) THEN Kept(s) ELSE Append(Kept(s), v)
           [] MajorityBy = "installed" -> s.attempts
           [] MajorityBy = "listed" -> IF \A i \in DOMAIN s.attempts : HasMajority(MembersOf(v), s.attempts[i])
                                       THEN <<v>> ELSE s.attempts

\* s has entered its view from `before`: it reports, to its coordinator or itself.
Reports(before, s) ==
    LET own == ReportMessage(s.view.id, before.attempts)
        with == [s EXCEPT !.reports = [m \in DOMAIN @ \cup {s.member} |-> IF m = s.member THEN own ELSE @[m]]]
    IN IF ~Majority THEN Handled(s, <<>>)
       ELSE IF MajorityBy = "listed"
       THEN IF s.attempts # <<s.view>> THEN Handled(s, <<>>)
            ELSE Handled([s EXCEPT !.formed = TRUE, !.early = StillEarly(@, s.view, FALSE)],
                         IF IsCoordinator(s) THEN <<Multicast(FormedMessage(s.view.id))>> ELSE <<>>)
       ELSE IF IsFull(before) THEN Handled(s, <<>>)
       ELSE IF IsCoordinator(s) THEN Forms(with)
       ELSE Handled(s, <<Send(CoordinatorOf(s.view), own)>>)

\* An incarnation begins with the record of the former ones. Without one, it counts as new, and founds no group either.
Restored(s, e) ==
    IF ~Majority \/ Joined(s) \/ ~s.founds THEN LocalError(s)
    ELSE Handled([s EXCEPT !.attempts = e.attempts, !.founds = FALSE], <<>>)

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
            !.early = StillEarly(@, e.view, Majority /\ CoordinatorOf(e.view) = s.member),
            !.suspected = @ \cap members,
            !.attempts = Attempts(s, e.view),
            !.formed = FALSE,
            !.reports = [m \in {m \in DOMAIN @ : @[m].view_id.counter >= e.view.id.counter} |-> @[m]]]
        reported == Reports(s, entered)
        after == reported.state
    IN Handled(after,
               reported.effects
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
      [] e.type = "ReportReceived" -> ReportReceived(s, e)
      [] e.type = "FormedReceived" -> FormedReceived(s, e)
      [] e.type = "Restored" -> Restored(s, e)
      [] e.type = "ViewInstalled" -> ViewInstalled(s, e)
      [] e.type = "Suspected" -> Suspected(s, e)
      [] e.type = "SendLookedUp" -> SendLookedUp(s, e)
      [] e.type = "ResendDue" -> ResendDue(s, e)
=============================================================================
