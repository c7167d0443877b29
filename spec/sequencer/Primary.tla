------------------------------- MODULE Primary ------------------------------
(******************************************************************************)
(* Who may be primary: the option Majority of SEQUENCER.                      *)
(*                                                                            *)
(* Theory. A group may part, and each part has views of its own. A view is    *)
(* *formed* when its coordinator may order in it. The formed views are on one *)
(* path: of two, one comes before the other. So at most one part, the         *)
(* primary, delivers. The rule is dynamic voting (Yeger Lotem, Keidar, Dolev, *)
(* 1997; module MajorityViews has it by itself):                              *)
(*                                                                            *)
(* 1. A member has a *record*: the last formed view that it knows, and then   *)
(*    its *attempts*, the views that it has installed since. Any of them may  *)
(*    have been formed, and it has not heard of that.                         *)
(* 2. A member that installs a view reports its record to the coordinator     *)
(*    (REPORT). Then it adds this view to its record.                         *)
(* 3. The coordinator forms the view when, of each view that is reported, a   *)
(*    majority has reported. It multicasts FORMED, and orders.                *)
(* 4. The record of a member that hears FORMED is that view alone.            *)
(*                                                                            *)
(* Why that is right. Two majorities of one view have a member in common. So  *)
(* if two views are formed by majorities of one view, some member has helped  *)
(* to form both, one after the other. It has reported the first to the        *)
(* coordinator of the second, which has asked for a majority of the first.    *)
(*                                                                            *)
(* Besides:                                                                   *)
(* - Half of a view is a majority if the coordinator of that view is in it.   *)
(* - A member that knows no formed view has an empty record, and attempts     *)
(*   none. One of those that form a view knows a formed view. So joiners are  *)
(*   no majority of a view that was never formed. The first view is formed by *)
(*   its founder, which creates it, and is alone in it.                       *)
(* - Members that ask for a view without a majority here do not stop the      *)
(*   others: the most are taken that are enough among themselves (Quorum).    *)
(* - A view is not asked for if it was not formed, or if a later one was, and *)
(*   one of those that have reported says so (Abandon, Prune).                *)
(* - A coordinator that leaves decides the next view without itself. It       *)
(*   counts there as present (Leavers), or the other of a pair would wait for *)
(*   ever.                                                                    *)
(*                                                                            *)
(* Members begin again. The record is on the disk of a member before any      *)
(* message leaves of the step that changed it (OnDisk): before its REPORT, or *)
(* its FORMED. The next incarnation of its name begins with it (Restored). It *)
(* counts as the former ones (CountsAs), and founds no group. Without the     *)
(* record it is a new member. An address is used once.                        *)
(*                                                                            *)
(* What SEQUENCER asks:                                                       *)
(*   MustWait(s)         the coordinator may not order yet                    *)
(*   Attempt(before, s)  s has just installed its view: what is sent, and is  *)
(*                       the view formed?                                     *)
(*   ReportReceived, FormedReceived, Restored: the events that it passes on   *)
(*   OnDisk(s)           what is written, before anything is sent             *)
(* Of a member's state these read member, view, and epoch, its first view.    *)
(* Four fields are theirs alone:                                              *)
(*   attempts  the record                                                     *)
(*   formed    it knows that its view is formed                               *)
(*   reports   the last REPORT of each member, of a view that is not formed   *)
(*   founds    it has no record: it forms a first view of itself alone        *)
(******************************************************************************)
EXTENDS Views, Steps, Integers, FiniteSets

CONSTANTS
    Majority,           \* option: a view without a majority of the last one delivers nothing
    MaxAttempts         \* with Majority: the most views of a record

(* Guards: conditions of the algorithm. *)
Prune == TRUE              \* views before a formed view that is reported are not asked for
Abandon == TRUE            \* nor is a view of which the coordinator reports that it has not formed it

ASSUME {Majority, Prune, Abandon} \subseteq BOOLEAN

\* "I have installed this view. My record was:"
ReportMessage(view_id, attempts) == [type |-> "REPORT", view_id |-> view_id, attempts |-> attempts]
FormedMessage(view_id) == [type |-> "FORMED", view_id |-> view_id]

\* To the application: messages are ordered in this view.
ViewFormed(view_id) == PassUp([type |-> "ViewFormed", view_id |-> view_id])

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

\* The last incarnation of m's name, m or a former one, that is in the formed view of the record.
Since(m, record) ==
    LET own == IF record = <<>> THEN {} ELSE {a \in MembersOf(record[1]) : a = m \/ IsFormer(a, m)}
    IN own \ Superseded(own)

\* m, with its record, counts as address a: as itself, and as the former incarnations that had the record. (Since is the
\* first of these that matters. An incarnation without a record was in no formed view before it heard of one.)
CountsAs(m, record, a) == a = m \/ (IsFormer(a, m) /\ \E first \in Since(m, record) : ~IsFormer(a, first))

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

\* The coordinator that formed the last view, and left the group by deciding `view` without itself. It has the same
\* record as the members to which it said so, and is in no other view after it (Departures). (A leaver in a view that was not
\* formed does not count: it may know attempts that no member of `view` reports.)
Leavers(records, view) ==
    {c \in {view.id.creator} \ MembersOf(view) :
        \E m \in DOMAIN records : Len(records[m]) = 1 /\ CoordinatorOf(records[m][1]) = c}

\* At least one of the quorum knows a formed view.
IsQuorum(records, view) == \E m \in Quorum(records, Leavers(records, view)) : records[m] # <<>>

\* The records of the members of s's view that have installed it, as they have reported.
RecordsOf(s) ==
    [m \in {m \in DOMAIN s.reports \cap MembersOf(s.view) : s.reports[m].view_id = s.view.id} |-> s.reports[m].attempts]

\* A member that creates its first view, of itself alone. (The other members of a joiner's first view may all leave in it:
\* then a joiner is alone there, too.)
Founds(s) == s.founds /\ s.view.members = <<s.member>> /\ s.view.id.creator = s.member /\ s.epoch = s.view.id

MayForm(s) == Founds(s) \/ IsQuorum(RecordsOf(s), s.view)

-----------------------------------------------------------------------------
(* The record *)

\* What is on the disk. It is written before the effects of a step.
OnDisk(s) == s.attempts

\* Its record without the views that it has coordinated, and not formed: they are not formed any more. (The last of them it
\* has reported: see Leavers.)
Kept(s) ==
    LET record == s.attempts
        stays(i) == i = 1 \/ ~Abandon \/ ~CountsAs(s.member, record, CoordinatorOf(record[i]))
        number(i) == Cardinality({j \in 1 .. i : stays(j)})
        all == {i \in DOMAIN record : stays(i)}
    IN [n \in 1 .. Cardinality(all) |-> record[CHOOSE i \in all : number(i) = n]]

\* It has no room for a view: the member helps to form none until it hears of a formed one.
IsFull(s) == Len(Kept(s)) >= MaxAttempts

\* The record of s when it has installed v.
Attempted(s, v) == IF s.attempts = <<>> \/ IsFull(s) THEN Kept(s) ELSE Append(Kept(s), v)

\* The reports of views with this counter, or a higher one.
ReportsFrom(reports, counter) == [m \in {m \in DOMAIN reports : reports[m].view_id.counter >= counter} |-> reports[m]]

\* The state of a member that hears that its view is formed.
InFormed(s) == [s EXCEPT !.formed = TRUE, !.attempts = <<s.view>>, !.reports = ReportsFrom(@, s.view.id.counter + 1)]

-----------------------------------------------------------------------------
(* Steps *)

\* A coordinator that waits forms its view, if it may.
Forms(s) ==
    IF MayForm(s) THEN Handled(InFormed(s), <<Multicast(FormedMessage(s.view.id)), ViewFormed(s.view.id)>>)
    ELSE Handled(s, <<>>)

Noted(reports, m, report) == [x \in DOMAIN reports \cup {m} |-> IF x = m THEN report ELSE reports[x]]

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
    IN IF ~Majority THEN RemoteError(s)
       ELSE IF message.view_id.counter > s.view.id.counter THEN Handled(after, <<>>)
       ELSE IF message.view_id # s.view.id THEN Ignored(s)
       ELSE IF ~IsCoordinator(s) \/ e.sender \notin MembersOf(s.view) THEN RemoteError(s)
       ELSE IF s.formed THEN Ignored(s)
       ELSE Forms(after)

\* The coordinator orders from now on. (Its own comes back to it, too.)
FormedReceived(s, e) ==
    LET message == e.message IN
    IF ~Majority \/ ~Joined(s) \/ message.view_id.counter > s.view.id.counter THEN RemoteError(s)
    ELSE IF message.view_id # s.view.id THEN Ignored(s)
    ELSE IF e.sender # CoordinatorOf(s.view) THEN RemoteError(s)
    ELSE IF s.formed THEN Ignored(s)
    ELSE Handled(InFormed(s), <<ViewFormed(s.view.id)>>)

\* An incarnation begins with the record of the former ones. Without one, it counts as new, and founds no group either.
Restored(s, e) ==
    IF ~Majority \/ Joined(s) \/ ~s.founds THEN LocalError(s)
    ELSE Handled([s EXCEPT !.attempts = e.attempts, !.founds = FALSE], <<>>)
=============================================================================
