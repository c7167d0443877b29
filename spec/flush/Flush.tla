-------------------------------- MODULE Flush --------------------------------
(******************************************************************************)
(* FLUSH, one member: a pure function of its own state and an event.          *)
(*                                                                            *)
(* Theory. Two layers below need a group that is stopped: GMS, to decide      *)
(* views, and state transfer. At any member one of them says Suspend. The     *)
(* member becomes the requester of a flush: it asks all members of its        *)
(* view that it does not suspect to stop (START_FLUSH). A member tells its    *)
(* application (BLOCK); when BLOCK returns it closes its latch: what is       *)
(* multicast from then on waits. It lets its own multicasts come back, has    *)
(* the layer below hold back whatever comes after that (it is frozen), and    *)
(* tells the requester what it has delivered (FLUSH_COMPLETED). Where some    *)
(* lack what others have, the requester tells every member what to reach and  *)
(* whom to ask for it (RECONCILE), and all report again. When all reports     *)
(* are equal, who asked is told (GroupStopped). It says Resume when it is     *)
(* done, and the requester lets every member go (STOP_FLUSH): latches open,   *)
(* applications are told (UNBLOCK).                                           *)
(*                                                                            *)
(* Why survivors agree. From its report until a target or the next view a     *)
(* member delivers nothing, and its latch is closed; so reports that are      *)
(* equal stay true until a view comes, and a view is decided only then. In    *)
(* the new view the latch is still closed, of a joiner too. No suspicion      *)
(* opens a latch that is closed for a view: the view of a requester that      *)
(* is suspected may be on its way to another. STOP_FLUSH opens it, when       *)
(* the view is everywhere; if its sender is gone, that of GMS's next          *)
(* coordinator, which asks all to stop anew before it decides anything. A     *)
(* latch that is closed for a state opens: no view is decided meanwhile.      *)
(*                                                                            *)
(* Two flushes at once. One for a view goes before one for a state: views     *)
(* are decided by one member at a time, which no other member may hold up. Of *)
(* two for a state that of the more senior requester goes first. A member that is    *)
(* stopped for one that goes first remembers the other's START_FLUSH until    *)
(* it is let go; who is stopped for the other changes its owner, and          *)
(* remembers that. The requester that has to wait is asked too: it gives      *)
(* up its flush, and begins again when it is let go. (Or it suspects who      *)
(* goes first, and goes on.)                                                  *)
(*                                                                            *)
(* The constants are guards. README.md says what each is for.                 *)
(******************************************************************************)
EXTENDS Steps, Views, Integers, FiniteSets

CONSTANTS
    Latch,                \* nothing is multicast from the return of BLOCK until STOP_FLUSH
    Freeze,               \* nothing is delivered beyond what was reported, or the target, until the next view
    AwaitOwnMulticasts,   \* a member reports after its own multicasts have come back to it
    AwaitAllReports,      \* the requester waits for all FLUSH_COMPLETED
    Reconcile,            \* what some member has delivered, all deliver before the group counts as stopped
    ReportAfterReconcile, \* after reconciliation all report again; or the group counts as stopped at once
    RestartOnSuspicion,   \* a suspicion during reconciliation begins a new round
    RecheckOnSuspicion,   \* a suspicion makes the requester look again whether all have reported
    OpenLatchOnSuspicion, \* when the requester is suspected a latch opens that is closed for a "state"; or "any"; or
                          \* "none"
    StopByOwnerOnly,      \* only the owner of the flush in force stops it
    IgnoreSuspected,      \* what a suspected member sends is dropped
    CheckViewId,          \* what is said in another view is ignored
    LatchJoiner,          \* a joiner multicasts nothing before STOP_FLUSH
    YieldOnMerge,         \* with a merged view all but its first member give up what they have stopped
    ViewFlushFirst,       \* a flush for a view goes before those for a state
    SeniorRequesterFirst, \* of two flushes for a state that of the more senior requester goes first
    QueueDeferredFlush    \* START_FLUSH of a flush that has to wait is remembered

ASSUME
    /\ {Latch, Freeze, AwaitOwnMulticasts, AwaitAllReports, Reconcile, ReportAfterReconcile, RestartOnSuspicion,
        RecheckOnSuspicion, StopByOwnerOnly, IgnoreSuspected, CheckViewId, LatchJoiner, YieldOnMerge, ViewFlushFirst,
        SeniorRequesterFirst, QueueDeferredFlush} \subseteq BOOLEAN
    /\ OpenLatchOnSuspicion \in {"state", "any", "none"}

-----------------------------------------------------------------------------
(* Messages and effects *)

\* A member that wants a flush (EVT-05). FLUSH itself: who wanted it does not any more, and all are to be let go.
ForViews == "GMS"
ForState == "STATE_TRANSFER"
Self == "FLUSH"

\* [member -> how many of its multicasts of this view]. The layer below counts on from what it had delivered
\* when the view was installed, which is the same at all who go on.
NoVector == [m \in {} |-> 0]
Zeros(set) == [m \in set |-> 0]

\* All has the view that it is said in. (FLAW-125: what was sent before a partition may come in a merged view, in
\* which its sender is a member again. Rounds begin anew in each incarnation of a requester.)
StartFlush(view_id, round, asker) ==
    [type |-> "START_FLUSH", view_id |-> view_id, round |-> round, asker |-> asker]
FlushCompleted(view_id, round, digest) ==
    [type |-> "FLUSH_COMPLETED", view_id |-> view_id, round |-> round, digest |-> digest]

\* `target`: what to deliver, no more and no less; `holders`: of each sender some member that has it all.
ReconcileMessage(view_id, round, target, holders) ==
    [type |-> "RECONCILE", view_id |-> view_id, round |-> round, target |-> target, holders |-> holders]
StopFlush(view_id) == [type |-> "STOP_FLUSH", view_id |-> view_id]

\* The seqno-th multicast of its sender in this view.
Data(view_id, seqno, payload) == [type |-> "DATA", view_id |-> view_id, seqno |-> seqno, payload |-> payload]

Block == PassUp([type |-> "Block"])
Unblock == PassUp([type |-> "Unblock"])
Deliver(sender, payload) == PassUp([type |-> "Deliver", sender |-> sender, payload |-> payload])

\* To who asked.
GroupStopped(asker) == PassDown([type |-> "GroupStopped", asker |-> asker])

\* The layer below delivers nothing beyond these numbers until it is told others, released, or told of a view.
HoldBack(limit) == PassDown([type |-> "HoldBack", limit |-> limit])
Release == PassDown([type |-> "Release"])

\* The layer below asks `holder` for what is lacking of `sender`, up to this number.
Fetch(holder, sender, upto) ==
    PassDown([type |-> "Fetch", holder |-> holder, sender |-> sender, upto |-> upto])

\* The same message to each of some members, in their order in `list`.
SendAll(list, to, message) ==
    LET In(m) == m \in to
        those == SelectSeq(list, In)
    IN [i \in DOMAIN those |-> Send(those[i], message)]

-----------------------------------------------------------------------------
(* State *)

NoReports == [m \in {} |-> NoVector]

\* A requester's flush. `phase`: what was asked last, to "start" or to "reconcile"; or all are "stopped".
\* `want`: whose FLUSH_COMPLETED is awaited. Rounds number its questions, over all its flushes.
Idle(round) == [phase |-> "none", round |-> round, want |-> {}, reports |-> NoReports]

Start(member) ==
    [member |-> member,         \* this member's address
     view |-> NoView,           \* the view installed
     suspected |-> {},          \* its members that are suspected
     sent |-> 0,                \* its multicasts in this view
     delivered |-> NoVector,    \* of each member: how many of its multicasts were passed up in this view
     block |-> "free",          \* the application: "free", "asked" to block, or "blocked"
     latched |-> FALSE,         \* multicasts wait
     waiting |-> <<>>,          \* those that do
     owner |-> "",              \* the requester of the flush in force; "": none, or one that it joined in
     asker |-> "",              \* for whom that flushes
     round |-> 0,               \* the round of its last question
     owes |-> FALSE,            \* that has no answer yet
     frozen |-> FALSE,          \* the layer below holds back what is beyond the limit
     limit |-> NoVector,        \* what was reported, or what is to be reached
     later |-> [m \in {} |-> 0], \* requesters that have to wait -> the round of their START_FLUSH
     wants |-> {},              \* who below wants the group stopped
     run |-> Idle(0)]           \* its own flush, as requester

InView(s) == s.view # NoView
Members(s) == MembersOf(s.view)
Unsuspected(s) == {m \in Members(s) : m \notin s.suspected}
Running(s) == s.run.phase # "none"
IsStopped(s) == s.run.phase = "stopped"

\* No flush is in force at this member.
IsFree(s) == s.owner = "" /\ ~s.latched

Before(s, m, x) ==
    \E i, j \in DOMAIN s.view.members : i < j /\ s.view.members[i] = m /\ s.view.members[j] = x

Less(function, x) == [m \in DOMAIN function \ {x} |-> function[m]]
Noted(function, x, value) == [m \in DOMAIN function \cup {x} |-> IF m = x THEN value ELSE function[m]]

-----------------------------------------------------------------------------
(* A step ends with Ending: what follows from the state that it leaves        *)

Unchanged(s) == [state |-> s, effects |-> <<>>]

\* F of a value, which is evaluated once. (Where TLC looks for what is enabled it evaluates a LET at each use,
\* and one step within another twice as often as that one.)
With(value, F(_)) == CHOOSE y \in {F(v) : v \in {value}} : TRUE

Then(step, Next(_)) ==
    LET Joined(first) ==
            LET Added(second) == [state |-> second.state, effects |-> first.effects \o second.effects]
            IN With(Next(first.state), Added)
    IN With(step, Joined)

\* It asks all that it does not suspect, or all that have reported. What was reported before is void (FCR-04).
Ask(s, phase, to, message) ==
    [state |-> [s EXCEPT !.run = [Idle(message.round) EXCEPT !.phase = phase, !.want = to]],
     effects |-> SendAll(s.view.members, to, message)]

\* It is its own from here on, though its own START_FLUSH has yet to arrive: it owes no other member an answer.
Begin(s) ==
    LET asker == IF ForViews \in s.wants THEN ForViews ELSE ForState
    IN Ask([s EXCEPT !.owner = s.member, !.asker = asker, !.owes = FALSE], "start", Unsuspected(s),
           StartFlush(s.view.id, s.run.round + 1, asker))

\* No member more senior waits. (A junior has to go on waiting, if this one has something to ask: it may have
\* asked before, and given that up. Where its START_FLUSH was remembered it is in force now, and no junior's.)
IsNext(s) == \A m \in DOMAIN s.later : ~Before(s, m, s.member)

\* It begins a flush for a view whoever owns it, and one for a state when it is free; and neither before its
\* own STOP_FLUSH has come back.
MayBegin(s) ==
    /\ s.wants # {} /\ InView(s) /\ ~Running(s) /\ s.owner # s.member
    /\ (IsFree(s) /\ IsNext(s)) \/ (ForViews \in s.wants /\ ViewFlushFirst)

MaybeBegin(s) == IF MayBegin(s) THEN Begin(s) ELSE Unchanged(s)

\* It is asked to stop. FST-08: BLOCK goes up. A member that is blocked already answers without a second BLOCK (FCR-05),
\* and stays frozen where it is. A member that flushed itself does not any more.
Blocking(s) == IF s.block = "free" THEN <<Block>> ELSE <<>>

\* The former requester is remembered: it may not have been asked to give up, or not have listened.
Overtaken(s) ==
    IF s.asker = ForState /\ s.owner # s.member /\ s.owner \in Unsuspected(s)
    THEN Noted(s.later, s.owner, s.round)
    ELSE s.later

AfterStop(s, q) == IF q = s.member THEN s.run ELSE Idle(s.run.round)

Stop(s, q, round, asker) ==
    LET cut == IF s.frozen THEN s.delivered ELSE NoVector
        asked == [s EXCEPT !.owner = q, !.asker = asker, !.round = round, !.owes = TRUE, !.limit = cut,
                           !.block = IF @ = "free" THEN "asked" ELSE @, !.later = Less(Overtaken(s), q),
                           !.run = AfterStop(s, q)]
    IN [state |-> asked,
        effects |-> Blocking(s) \o (IF s.frozen /\ s.limit # cut THEN <<HoldBack(cut)>> ELSE <<>>)]

\* What waited for this: the most senior requester is first.
MaybeTake(s) ==
    LET IsLater(m) == m \in DOMAIN s.later
        first == Head(SelectSeq(s.view.members, IsLater))
    IN IF IsFree(s) /\ DOMAIN s.later # {} THEN Stop(s, first, s.later[first], ForState) ELSE Unchanged(s)

Ending(step) ==
    LET Done(all) == Handled(all.state, all.effects)
    IN With(Then(Then(step, MaybeBegin), MaybeTake), Done)

Proceed(state, effects) == Ending([state |-> state, effects |-> effects])

-----------------------------------------------------------------------------
(* Requester: all have reported *)

Asked(s) == DOMAIN s.run.reports

\* The most that any member has delivered of x, and who has it, the most senior.
Target(s) ==
    [x \in Members(s) |->
        LET counts == {s.run.reports[m][x] : m \in Asked(s)}
        IN CHOOSE n \in counts : \A k \in counts : k <= n]
Holders(s) ==
    [x \in Members(s) |->
        LET HasAll(m) == m \in Asked(s) /\ s.run.reports[m][x] = Target(s)[x]
        IN Head(SelectSeq(s.view.members, HasAll))]

\* FST-15: every member is let go, joiners too.
StopAll(s) ==
    [state |-> [s EXCEPT !.run = Idle(@.round)],
     effects |-> SendAll(s.view.members, Unsuspected(s), StopFlush(s.view.id))]

\* FST-13: all are stopped. If no member wants that any more they are let go.
Tell(s) ==
    LET Wants(asker) == asker \in s.wants
        askers == SelectSeq(<<ForViews, ForState>>, Wants)
        told == [s EXCEPT !.run = [Idle(@.round) EXCEPT !.phase = "stopped"], !.wants = @ \ {Self}]
    IN IF askers = <<>> THEN StopAll(told)
       ELSE [state |-> told, effects |-> [i \in DOMAIN askers |-> GroupStopped(askers[i])]]

AllReported(s) ==
    LET all == Ask(s, "reconcile", Asked(s),
                   ReconcileMessage(s.view.id, s.run.round + 1, Target(s), Holders(s)))
    IN IF ~Reconcile \/ \A m \in Asked(s) : s.run.reports[m] = Target(s) THEN Tell(s)
       ELSE IF ReportAfterReconcile THEN all
       ELSE Then(all, Tell)

MaybeDone(s) ==
    IF s.run.phase \in {"start", "reconcile"} /\ Asked(s) # {} /\ (s.run.want = {} \/ ~AwaitAllReports)
    THEN AllReported(s)
    ELSE Unchanged(s)

IsOfView(s, message) == CheckViewId => message.view_id = s.view.id

\* FST-12.
FlushCompletedReceived(s, e) ==
    LET m == e.sender
        heard == [s EXCEPT !.run.want = @ \ {m}, !.run.reports = Noted(@, m, e.message.digest)]
    IN IF m \notin s.run.want \/ e.message.round # s.run.round \/ ~IsOfView(s, e.message) THEN Ignored(s)
       ELSE IF DOMAIN e.message.digest # Members(s) THEN RemoteError(s)
       ELSE Ending(MaybeDone(heard))

\* Nothing is expected of x any more (FCR-01). In reconciliation x may be whom others have to ask: all start
\* again.
Strike(s, x) ==
    LET struck == [s EXCEPT !.run.want = @ \ {x}, !.run.reports = Less(@, x)]
    IN IF s.run.phase = "reconcile" /\ RestartOnSuspicion THEN Begin(struck)
       ELSE IF RecheckOnSuspicion THEN MaybeDone(struck)
       ELSE Unchanged(struck)

-----------------------------------------------------------------------------
(* Every member: stopping *)

MayReport(s) ==
    /\ s.owes /\ s.block # "asked"
    /\ AwaitOwnMulticasts => s.delivered[s.member] = s.sent
    /\ \A x \in DOMAIN s.limit : s.delivered[x] >= s.limit[x]

\* From its report on it delivers nothing more.
MaybeReport(s) ==
    IF ~MayReport(s) THEN Unchanged(s)
    ELSE [state |-> [s EXCEPT !.owes = FALSE, !.frozen = Freeze, !.limit = s.delivered],
          effects |-> (IF Freeze /\ ~s.frozen THEN <<HoldBack(s.delivered)>> ELSE <<>>)
                      \o <<Send(s.owner, FlushCompleted(s.view.id, s.round, s.delivered))>>]

Reporting(step) == Ending(Then(step, MaybeReport))

\* May q's flush come into force, whatever is?
HasPriority(s, q, asker) ==
    \/ IsFree(s) \/ q = s.owner
    \/ asker = ForViews /\ ViewFlushFirst
    \/ SeniorRequesterFirst /\ s.asker = ForState /\ s.owner \in Unsuspected(s) /\ Before(s, q, s.owner)

\* A stranger, or one that is suspected, stops no member; nor does a question of another view, nor one of its own
\* that it has given up.
StartFlushReceived(s, e) ==
    LET q == e.sender
        round == e.message.round
    IN IF e.message.asker \notin {ForViews, ForState} THEN RemoteError(s)
       ELSE IF q \notin Members(s) \/ (IgnoreSuspected /\ q \in s.suspected) THEN Ignored(s)
       ELSE IF ~IsOfView(s, e.message) THEN Ignored(s)
       ELSE IF q = s.member /\ (~Running(s) \/ round # s.run.round) THEN Ignored(s)
       ELSE IF HasPriority(s, q, e.message.asker) THEN Reporting(Stop(s, q, round, e.message.asker))
       ELSE IF ~QueueDeferredFlush THEN Ignored(s)
       ELSE Proceed([s EXCEPT !.later = Noted(@, q, round)], <<>>)

\* FST-16. UNBLOCK follows BLOCK's return.
Free(s) ==
    IF s.block = "blocked"
    THEN [state |-> [s EXCEPT !.block = "free"], effects |-> <<Unblock>>]
    ELSE Unchanged(s)

\* FST-09. If the flush is over by then, there is nothing to wait for.
BlockReturned(s, e) ==
    LET back == [s EXCEPT !.block = "blocked"]
    IN IF s.block # "asked" THEN Ignored(s)
       ELSE IF IsFree(s) THEN Ending(Free(back))
       ELSE Reporting(Unchanged([back EXCEPT !.latched = Latch \/ @]))

\* A target says of each member what to deliver, and names a member that has it.
IsReachable(s, target, holders) ==
    /\ DOMAIN target = Members(s) /\ DOMAIN holders = Members(s)
    /\ \A x \in DOMAIN holders : holders[x] \in Members(s)

\* FST-14, AMB-61: it asks the layer below for what it lacks. What is asked by who is remembered waits, too.
ReconcileReceived(s, e) ==
    LET target == e.message.target
        Lacks(x) == s.delivered[x] < target[x]
        lacking == SelectSeq(s.view.members, Lacks)
        fetches == [i \in DOMAIN lacking |->
                        Fetch(e.message.holders[lacking[i]], lacking[i], target[lacking[i]])]
        bound == [s EXCEPT !.round = e.message.round, !.owes = TRUE, !.limit = target]
        again == IF s.frozen /\ s.limit # target THEN <<HoldBack(target)>> ELSE <<>>
    IN IF ~IsOfView(s, e.message) THEN Ignored(s)
       ELSE IF ~IsReachable(s, target, e.message.holders) THEN RemoteError(s)
       ELSE IF e.sender \in DOMAIN s.later
       THEN Handled([s EXCEPT !.later = Noted(@, e.sender, e.message.round)], <<>>)
       ELSE IF e.sender # s.owner \/ (IgnoreSuspected /\ e.sender \in s.suspected) THEN Ignored(s)
       ELSE Reporting([state |-> bound, effects |-> again \o fetches])

\* The latch opens: what waits is multicast.
Open(s) ==
    LET sends == [i \in DOMAIN s.waiting |-> Multicast(Data(s.view.id, s.sent + i, s.waiting[i]))]
    IN Then([state |-> [s EXCEPT !.latched = FALSE, !.waiting = <<>>, !.sent = @ + Len(s.waiting),
                                 !.frozen = FALSE, !.limit = NoVector, !.owes = FALSE, !.owner = "",
                                 !.asker = ""],
             effects |-> (IF s.frozen THEN <<Release>> ELSE <<>>) \o sends], Free)

\* Only the owner of the flush in force stops it (FLAW-29). A member that joined in the middle of it does not know its
\* owner; no other member can have come to the end of a flush in this view. A member that is remembered needs nothing more.
StopFlushReceived(s, e) ==
    LET q == e.sender
    IN IF ~IsOfView(s, e.message) THEN Ignored(s)
       ELSE IF q \in DOMAIN s.later THEN Handled([s EXCEPT !.later = Less(@, q)], <<>>)
       ELSE IF IsFree(s) \/ q \notin Members(s) \/ (IgnoreSuspected /\ q \in s.suspected) THEN Ignored(s)
       ELSE IF StopByOwnerOnly /\ s.owner \notin {"", q} THEN Ignored(s)
       ELSE Ending(Open(s))

-----------------------------------------------------------------------------
(* What the layers below say *)

\* FST-05, FST-07. If the group is stopped already, by this member, that is enough (GMS asks before each
\* view); but for a view all have to know what they are stopped for.
Suspend(s, e) ==
    LET wanting == [s EXCEPT !.wants = @ \cup {e.asker}]
    IN IF ~InView(s) THEN LocalError(s)
       ELSE IF Running(s) /\ e.asker = ForViews /\ ForViews \notin s.wants THEN Ending(Begin(wanting))
       ELSE IF IsStopped(s) THEN Handled(wanting, <<GroupStopped(e.asker)>>)
       ELSE IF e.asker \in s.wants THEN Ignored(s)
       ELSE Proceed(wanting, <<>>)

\* FST-06. A flush that is not at its end, or was given up, is brought to it: START_FLUSH may be remembered.
Resume(s, e) ==
    LET without == [s EXCEPT !.wants = @ \ {e.asker}]
    IN IF e.asker \notin s.wants THEN LocalError(s)
       ELSE IF ~IsStopped(s) THEN Proceed([without EXCEPT !.wants = @ \cup {Self}], <<>>)
       ELSE IF without.wants # {} THEN Handled(without, <<>>)
       ELSE Ending(StopAll(without))

\* A group of one has no member to wait for.
Latched(s, view) == IF InView(s) THEN s.latched ELSE LatchJoiner /\ Len(view.members) > 1

\* The layer below is told, too, and holds nothing back any more. The latch stays as it is.
Enter(s, view) ==
    LET all == MembersOf(view)
        entered == [s EXCEPT !.view = view, !.suspected = @ \cap all, !.sent = 0, !.delivered = Zeros(all),
                             !.latched = Latched(s, view), !.frozen = FALSE, !.limit = NoVector,
                             !.owes = FALSE, !.later = [m \in {} |-> 0]]
    IN Ending(IF Running(s) /\ ~IsStopped(s) THEN Begin(entered) ELSE Unchanged(entered))

ViewInstalled(s, e) == IF s.member \notin MembersOf(e.view) THEN LocalError(s) ELSE Enter(s, e.view)

\* A merged view: those of each subgroup were stopped by its coordinator. Only the first member goes on with
\* what it has stopped; if it was a participant it has the merged group stopped, when the view is everywhere.
\* It lets all go. The others wait for its STOP_FLUSH as joiners do, and want the group for views no more.
MergeViewInstalled(s, e) ==
    LET is_first == CoordinatorOf(e.view) = s.member
        yielded == [s EXCEPT !.owner = "", !.asker = "", !.run = Idle(@.round),
                             !.wants = IF is_first THEN @ ELSE @ \ {ForViews}]
    IN IF s.member \notin MembersOf(e.view) THEN LocalError(s)
       ELSE Enter(IF ~YieldOnMerge \/ (is_first /\ IsStopped(s)) THEN s ELSE yielded, e.view)

\* A member that waits for a requester that it suspects goes on, if that flushed for a state. (Where the suspicion is
\* false, no other member may know of it, and let it go.)
OpensLess(s, x) == s.owner = x /\ (OpenLatchOnSuspicion = "any" \/ (OpenLatchOnSuspicion = "state" /\ s.asker = ForState))

Suspected(s, e) ==
    LET x == e.suspect
        knowing == [s EXCEPT !.suspected = @ \cup {x}, !.later = Less(@, x)]
        Struck(state) == Strike(state, x)
    IN IF x = s.member THEN LocalError(s)
       ELSE IF x \notin Members(s) \/ x \in s.suspected THEN Ignored(s)
       ELSE Ending(Then(IF OpensLess(s, x) THEN Open(knowing) ELSE Unchanged(knowing), Struck))

-----------------------------------------------------------------------------
(* What is multicast *)

\* From above. Behind a closed latch it waits.
SendRequested(s, e) ==
    IF ~InView(s) THEN LocalError(s)
    ELSE IF s.latched THEN Handled([s EXCEPT !.waiting = Append(@, e.payload)], <<>>)
    ELSE Handled([s EXCEPT !.sent = @ + 1], <<Multicast(Data(s.view.id, s.sent + 1, e.payload))>>)

Fits(s, x, seqno) == seqno = s.delivered[x] + 1

\* From below: what is of this view, and next. The layer below was told what to hold back, and no correct peer sends
\* more to a member that is stopped.
DataReceived(s, e) ==
    LET x == e.sender
        next == [s EXCEPT !.delivered[x] = @ + 1]
    IN IF e.message.view_id # s.view.id \/ x \notin Members(s) THEN Ignored(s)
       ELSE IF ~Fits(s, x, e.message.seqno) THEN Ignored(s)
       ELSE IF s.frozen /\ e.message.seqno > s.limit[x] THEN RemoteError(s)
       ELSE Reporting([state |-> next, effects |-> <<Deliver(x, e.message.payload)>>])

-----------------------------------------------------------------------------
Step(s, e) ==
    CASE e.type = "Suspend" -> Suspend(s, e)
      [] e.type = "Resume" -> Resume(s, e)
      [] e.type = "ViewInstalled" -> ViewInstalled(s, e)
      [] e.type = "MergeViewInstalled" -> MergeViewInstalled(s, e)
      [] e.type = "Suspected" -> Suspected(s, e)
      [] e.type = "StartFlushReceived" -> StartFlushReceived(s, e)
      [] e.type = "BlockReturned" -> BlockReturned(s, e)
      [] e.type = "FlushCompletedReceived" -> FlushCompletedReceived(s, e)
      [] e.type = "ReconcileReceived" -> ReconcileReceived(s, e)
      [] e.type = "StopFlushReceived" -> StopFlushReceived(s, e)
      [] e.type = "SendRequested" -> SendRequested(s, e)
      [] e.type = "DataReceived" -> DataReceived(s, e)
=============================================================================
