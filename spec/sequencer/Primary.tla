------------------------------- MODULE Primary ------------------------------
(******************************************************************************)
(* Who may be primary: the option Majority of SEQUENCER.                      *)
(*                                                                            *)
(* Theory. A group may part, and each part goes on with views of its own. A   *)
(* view is *formed* when its coordinator may order in it. The formed views are*)
(* on one path: of two, one comes before the other. So at most one part, the  *)
(* primary, delivers. The rule is dynamic voting (Yeger Lotem, Keidar, Dolev, *)
(* 1997; module MajorityViews has it by itself):                              *)
(*                                                                            *)
(* 1. A member has a *record*: the last formed view that it knows, and then   *)
(*    its *attempts*, the views that it has installed since. Each of them may *)
(*    have been formed, and the member has not heard of that.                 *)
(* 2. A member that installs a view reports its record to the coordinator     *)
(*    (REPORT). Then it adds this view to its record.                         *)
(* 3. The coordinator forms the view when it has reports of a majority of each*)
(*    view that is reported to it. It multicasts FORMED, with the last formed *)
(*    view that these members know, and orders: what it orders comes after    *)
(*    FORMED.                                                                 *)
(* 4. A member that hears FORMED has a record of that view alone. So has the  *)
(*    coordinator when it hears its own, and not before. While a flush stops  *)
(*    the group, FORMED is held back. If another view follows, no member hears*)
(*    it, and the view was not formed.                                        *)
(*                                                                            *)
(* Why that is right. Two majorities of one view have a member in common. So  *)
(* of two views that were formed by majorities of a third, some member has    *)
(* installed both, one after the other. It reported the first one to the      *)
(* coordinator of the second, which then needed a majority of the first.      *)
(*                                                                            *)
(* Besides, each at its operator:                                             *)
(* - Half of a view is a majority if its coordinator is in that half.         *)
(* - A member that knows no formed view has an empty record, and adds none.   *)
(*   One of those that form a view has to know a formed one: joiners alone    *)
(*   form none. The first view of all its founder forms, alone in it (Founds).*)
(* - Members that ask for a majority that is not here do not stop the others  *)
(*   (Quorum).                                                                *)
(* - A reported view is not asked for if a later one was formed (Prune), or if*)
(*   its coordinator says that it has not formed it (Abandon).                *)
(* - A coordinator that leaves counts as present in the view that it decides  *)
(*   without itself (Leavers). Otherwise the other of a pair waits for ever.  *)
(*                                                                            *)
(* Members begin again. The record is on the disk of a member before any      *)
(* message leaves of the step that changed it (OnDisk). The next incarnation  *)
(* of its name has another address, and begins with it (Restored): it counts  *)
(* as the former ones (CountsAs). Without the record it counts as new. Neither*)
(* founds a group.                                                            *)
(*                                                                            *)
(* What SEQUENCER asks:                                                       *)
(*   MustWait(s)         may the coordinator not order yet?                   *)
(*   Attempt(before, s)  s has installed its view: what is sent, is it formed?*)
(*   ReportReceived, FormedReceived, Restored: events that it passes on       *)
(*   OnDisk(s)           what is written before anything is sent?             *)
(* Of a member's state these read member, view, and epoch, its first view.    *)
(* Four fields are theirs alone:                                              *)
(*   attempts  the record                                                     *)
(*   formed    its coordinator orders in its view, as far as it knows         *)
(*   reports   the last REPORT of each member, of a view that is not formed   *)
(*   founds    it is the first of its name, and may found                     *)
(******************************************************************************)
EXTENDS Views, Steps, Integers, FiniteSets

CONSTANTS
    Majority,           \* option: a view without a majority of the last one delivers nothing
    MaxAttempts         \* with Majority: the most views of a record

(* Guards: conditions of the algorithm. *)
Prune == TRUE              \* views before a formed view that is reported are not asked for
Abandon == TRUE            \* nor is a view of which the coordinator reports that it has not formed it
FormsWhen == "heard"       \* a coordinator has formed its view when it has "heard" its FORMED, or when that is "sent"

ASSUME {Majority, Prune, Abandon} \subseteq BOOLEAN /\ FormsWhen \in {"heard", "sent"}

\* "I have installed this view. My record was:"
ReportMessage(view_id, attempts) == [type |-> "REPORT", view_id |-> view_id, attempts |-> attempts]
\* `before`: the counter of the last formed view that those which formed this one know; 0: none.
FormedMessage(view_id, before) == [type |-> "FORMED", view_id |-> view_id, before |-> before]
\* To the layers above, and the application: messages are ordered in this view.
ViewFormed(view_id, before) == PassUp([type |-> "ViewFormed", view_id |-> view_id, before |-> before])

Joined(state) == state.view # NoView
IsCoordinator(state) == Joined(state) /\ CoordinatorOf(state.view) = state.member

\* A coordinator that may not order anything yet.
MustWait(state) == Majority /\ ~state.formed /\ IsCoordinator(state)

-----------------------------------------------------------------------------
(* A majority *)

\* More than half of the members of a view, or half of them with its coordinator: two such sets have a member in common.
HasMajority(set, v) ==
    LET n == Cardinality(set \cap MembersOf(v)) IN
    2 * n > Len(v.members) \/ (2 * n = Len(v.members) /\ CoordinatorOf(v) \in set)

\* m, with its record, counts as address a: as itself, and as the former incarnations that had the record. These are the one
\* that is in the formed view of the record, and those after it.
CountsAs(m, record, a) ==
    LET had == {x \in MembersOf(record[1]) : x = m \/ IsFormer(x, m)}
    IN a = m \/ (IsFormer(a, m) /\ record # <<>> /\ had # {} /\ \A x \in had : ~IsFormer(a, x))

\* The members of v as which those count that have reported. `records`: [a member that has reported -> its record].
Counted(records, v) == {a \in MembersOf(v) : \E m \in DOMAIN records : CountsAs(m, records[m], a)}

-----------------------------------------------------------------------------
(* May the view be formed? *)

IsReportedFormed(records, v) == \E m \in DOMAIN records : records[m] # <<>> /\ records[m][1] = v

\* The coordinator of v, which alone could form it, reports another view as the last formed one. So v was not formed, or
\* before that one.
IsAbandoned(records, v) ==
    \E m \in DOMAIN records :
        records[m] # <<>> /\ records[m][1] # v /\ CountsAs(m, records[m], CoordinatorOf(v))

\* The views of m's record of which a majority is needed.
Asked(records, m) ==
    LET record == records[m]
        matters(i) ==
            /\ Prune => \A j \in i + 1 .. Len(record) : ~IsReportedFormed(records, record[j])
            /\ Abandon => ~IsAbandoned(records, record[i])
    IN {record[i] : i \in {i \in DOMAIN record : matters(i)}}

\* The most members that, with `left`, have a majority of each view that is asked for among them.
RECURSIVE Quorum(_, _)
Quorum(records, left) ==
    LET served == {m \in DOMAIN records : \A v \in Asked(records, m) : HasMajority(Counted(records, v) \cup left, v)}
    IN IF served = DOMAIN records THEN served ELSE Quorum([m \in served |-> records[m]], left)

\* The coordinator that formed the last view, and left the group by deciding `view` without itself. A member that heard
\* FORMED of it has the same record, and it is in no other view after that (module Departures). (A leaver that has not formed
\* the last view does not count: it may have attempts that no member of `view` reports. So it does not count by the record of a
\* joiner that begins again: that may know an earlier view that the leaver has formed. Such a joiner is not in it.)
Leavers(records, view) ==
    {c \in {view.id.creator} \ MembersOf(view) :
        \E m \in DOMAIN records :
            Len(records[m]) = 1 /\ m \in MembersOf(records[m][1]) /\ CoordinatorOf(records[m][1]) = c}

\* Those that have reported are enough. At least one knows a formed view.
IsQuorum(records, view) == \E m \in Quorum(records, Leavers(records, view)) : records[m] # <<>>

\* The records of the members of s's view that have installed it, as they have reported.
RecordsOf(s) ==
    [m \in {m \in DOMAIN s.reports \cap MembersOf(s.view) : s.reports[m].view_id = s.view.id} |-> s.reports[m].attempts]

\* A member that creates its first view, of itself alone. (A joiner may be alone in its first view, too: if the others leave
\* in it. It has not created that view.)
Founds(s) == s.founds /\ s.view.members = <<s.member>> /\ s.view.id.creator = s.member /\ s.epoch = s.view.id
MayForm(s) == Founds(s) \/ IsQuorum(RecordsOf(s), s.view)

\* The counter of the last formed view that these know. (0, too, where all members have begun again, and views count anew.)
BaseOf(records, view) ==
    LET enough == Quorum(records, Leavers(records, view))
        known == {records[m][1].id.counter : m \in {m \in enough : records[m] # <<>>}}
    IN IF known = {} \/ \E n \in known : n >= view.id.counter THEN 0 ELSE CHOOSE n \in known : \A i \in known : i <= n

-----------------------------------------------------------------------------
(* The record, and reports *)

\* (It is written before the effects of a step. On that of a coordinator that has left is, besides, the view in which it
\* counts as present.)
OnDisk(s) == s.attempts

\* Its record without the views that it has coordinated, and not formed: nobody can form them any more. (It reports them for
\* once: a report of one view alone says that the last view was formed, see Leavers.)
Kept(s) ==
    LET stays(v) == Abandon => ~CountsAs(s.member, s.attempts, CoordinatorOf(v))
    IN IF s.attempts = <<>> THEN <<>> ELSE <<Head(s.attempts)>> \o SelectSeq(Tail(s.attempts), stays)

\* Its views have members, and so coordinators.
IsRecord(record) == \A i \in DOMAIN record : record[i].members # <<>>

\* The record has no room for a view: the member reports nothing until it hears of a formed view.
IsFull(s) == Len(Kept(s)) >= MaxAttempts

\* The record of s when it has installed v.
Attempted(s, v) == IF s.attempts = <<>> \/ IsFull(s) THEN Kept(s) ELSE Append(Kept(s), v)

\* The reports of views with this counter, or a higher one.
ReportsFrom(reports, counter) == [m \in {m \in DOMAIN reports : reports[m].view_id.counter >= counter} |-> reports[m]]
Noted(reports, m, report) == [x \in DOMAIN reports \cup {m} |-> IF x = m THEN report ELSE reports[x]]

\* It has heard that its view is formed.
KnowsFormed(s) == s.attempts = <<s.view>>

\* The state of a member that hears that its view is formed.
InFormed(s) == [s EXCEPT !.formed = TRUE, !.attempts = <<s.view>>, !.reports = ReportsFrom(@, s.view.id.counter + 1)]

-----------------------------------------------------------------------------
(* Steps *)

\* A coordinator that waits forms its view, if it may.
Forms(s) ==
    LET before == BaseOf(RecordsOf(s), s.view)
        formed == Multicast(FormedMessage(s.view.id, before))
    IN IF ~MayForm(s) THEN Handled(s, <<>>)
       ELSE IF FormsWhen = "sent" THEN Handled(InFormed(s), <<formed, ViewFormed(s.view.id, before)>>)
       ELSE Handled([s EXCEPT !.formed = TRUE, !.reports = ReportsFrom(@, s.view.id.counter + 1)], <<formed>>)

\* s has come from `before` to its view. It reports its record, as it was, to the coordinator, or to itself.
Attempt(before, s) ==
    LET own == ReportMessage(s.view.id, before.attempts)
        after == [s EXCEPT !.formed = FALSE, !.attempts = Attempted(before, s.view), !.reports = ReportsFrom(@, s.view.id.counter)]
    IN IF ~Majority THEN Handled(s, <<>>)
       ELSE IF IsFull(before) THEN Handled(after, <<>>)
       ELSE IF IsCoordinator(s) THEN Forms([after EXCEPT !.reports = Noted(@, s.member, own)])
       ELSE Handled(after, <<Send(CoordinatorOf(s.view), own)>>)

\* A member has installed a view, of which it takes this one for the coordinator.
ReportReceived(s, e) ==
    LET message == e.message
        after == [s EXCEPT !.reports = Noted(@, e.sender, message)]
    IN IF ~Majority \/ ~IsRecord(message.attempts) THEN RemoteError(s)
       ELSE IF message.view_id.counter > s.view.id.counter THEN Handled(after, <<>>)
       ELSE IF message.view_id # s.view.id THEN Ignored(s)
       ELSE IF ~IsCoordinator(s) \/ e.sender \notin MembersOf(s.view) THEN RemoteError(s)
       ELSE IF s.formed THEN Ignored(s)
       ELSE Forms(after)

\* The coordinator orders in its view: it hears that, too.
FormedReceived(s, e) ==
    LET message == e.message IN
    IF ~Majority \/ ~Joined(s) \/ message.view_id.counter > s.view.id.counter THEN RemoteError(s)
    ELSE IF message.before \notin 0 .. message.view_id.counter - 1 THEN RemoteError(s)
    ELSE IF message.view_id # s.view.id THEN Ignored(s)
    ELSE IF e.sender # CoordinatorOf(s.view) THEN RemoteError(s)
    ELSE IF KnowsFormed(s) THEN Ignored(s)
    ELSE Handled(InFormed(s), <<ViewFormed(s.view.id, message.before)>>)

\* An incarnation begins with the record of the former ones. Without one, it counts as new, and founds no group either.
Restored(s, e) ==
    IF ~Majority \/ Joined(s) \/ ~s.founds \/ ~IsRecord(e.attempts) THEN LocalError(s)
    ELSE Handled([s EXCEPT !.attempts = e.attempts, !.founds = FALSE], <<>>)
=============================================================================
