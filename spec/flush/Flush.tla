-------------------------------- MODULE Flush --------------------------------
(******************************************************************************)
(* FLUSH, one member: a pure function of its own state and an event.          *)
(*                                                                            *)
(* Theory. Two layers below need a stopped group: GMS, to decide views, and   *)
(* state transfer. One of them passes Suspend up at some member. This member  *)
(* becomes the requester of a flush. It sends START_FLUSH to every member of  *)
(* its view that it does not suspect. A member that receives START_FLUSH      *)
(* passes BLOCK up to its application. When BLOCK returns, the member closes  *)
(* its latch: later multicasts wait. It waits until its own multicasts have   *)
(* come back. It then has the layer below hold back all later messages (it    *)
(* is frozen), and reports what it has delivered (FLUSH_COMPLETED). If some   *)
(* members lack messages that others have, the requester sends every member   *)
(* a target, and the holders of the messages (RECONCILE). All members report  *)
(* again. When all reports are equal, FLUSH passes GroupStopped down to the   *)
(* caller. The caller ends the flush by Resume, and the requester sends       *)
(* STOP_FLUSH to every member: latches open, and applications receive         *)
(* UNBLOCK.                                                                   *)
(*                                                                            *)
(* Why survivors agree. From its report until a target or the next view a     *)
(* member delivers nothing, and its latch is closed. So equal reports stay    *)
(* true until the next view is installed, and a view is decided only then.    *)
(* In the new view the latch is still closed, also at a joiner. No suspicion  *)
(* opens a latch that is closed for a view: the view of a suspected           *)
(* requester may be in transit to another member. STOP_FLUSH opens the latch  *)
(* when every member has the view. If its sender has crashed, the next        *)
(* coordinator of GMS sends STOP_FLUSH, after a flush of its own in which     *)
(* every member stops anew. A suspicion of the requester opens a latch that   *)
(* is closed for a state: no view is decided meanwhile.                       *)
(*                                                                            *)
(* Two flushes at once. A flush for a view goes before a flush for a state:   *)
(* one member at a time decides views, and no other member may hold it up.    *)
(* Of two flushes for a state the more senior requester's goes first. The     *)
(* owner of the flush in force and a member's own flush say where it stands.  *)
(* Its own flush runs only while it is in force (OwnFlushIsInForce), but for  *)
(* the time in which its START_FLUSH comes back behind a late STOP_FLUSH of   *)
(* its own (callers_of_both):                                                 *)
(*   owner    own flush  the member              START_FLUSH with priority    *)
(*   none     none       is free, or has joined  stops it                     *)
(*   itself   start      awaits reports          ends its own flush, which    *)
(*   itself   reconcile  awaits them again         begins again after         *)
(*   itself   stopped    has the group stopped     STOP_FLUSH                 *)
(*   itself   none       awaits its STOP_FLUSH   stops it anew                *)
(*   another  none       takes part              changes its owner            *)
(* Every other START_FLUSH is queued until STOP_FLUSH, and so is the flush of *)
(* a former owner, if it is for a state. That of a suspected member is        *)
(* ignored. A requester that suspects the owner with priority continues. A    *)
(* member that has reported to this requester, and that the other releases,   *)
(* reports again in the same round. The requester begins again.               *)
(*                                                                            *)
(* The guards have the values of the repaired algorithm. README.md says what  *)
(* each is for.                                                               *)
(******************************************************************************)
EXTENDS Steps, Views, Integers, FiniteSets

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
Latch == TRUE                   \* nothing is multicast from the return of BLOCK until STOP_FLUSH
Freeze == TRUE                  \* nothing is delivered beyond the report, or the target, until the next view
AwaitOwnMulticasts == TRUE      \* a member reports after its own multicasts have come back
AwaitAllReports == TRUE         \* the requester waits for all FLUSH_COMPLETED
Reconcile == TRUE               \* every member delivers what any has delivered, before the group counts as stopped
ReportAfterReconcile == TRUE    \* after reconciliation all report again; or the group counts as stopped at once
RestartOnSuspicion == TRUE      \* a suspicion during reconciliation begins a new round
RecheckOnSuspicion == TRUE      \* after a suspicion the requester checks again that all have reported
RestartOnSecondReport == TRUE   \* a second report of a member in one round begins a new round
OpenLatchOnSuspicion == "state" \* a suspicion of the requester opens a latch that is closed for a "state", "any" latch,
                                \* or "none"
StopByOwnerOnly == TRUE         \* only the owner of the flush in force stops it
IgnoreSuspected == TRUE         \* a message of a suspected member is dropped
CheckViewId == TRUE             \* a message of another view is ignored
LatchJoiner == TRUE             \* a joiner multicasts nothing before STOP_FLUSH
YieldOnMerge == TRUE            \* in a merged view every member but the first gives up its flush
ViewFlushFirst == TRUE          \* a flush for a view goes before those for a state
SeniorRequesterFirst == TRUE    \* of two flushes for a state the more senior requester's goes first
QueueDeferredFlush == TRUE      \* START_FLUSH of a flush without priority is queued

ASSUME
    /\ {Latch, Freeze, AwaitOwnMulticasts, AwaitAllReports, Reconcile, ReportAfterReconcile, RestartOnSuspicion,
        RecheckOnSuspicion, RestartOnSecondReport, StopByOwnerOnly, IgnoreSuspected, CheckViewId, LatchJoiner,
        YieldOnMerge, ViewFlushFirst, SeniorRequesterFirst, QueueDeferredFlush} \subseteq BOOLEAN
    /\ OpenLatchOnSuspicion \in {"state", "any", "none"}

-----------------------------------------------------------------------------
(* Messages and effects *)

\* A caller of Suspend (EVT-05). FLUSH itself takes the place of a caller that has withdrawn: the flush is to be ended.
ForViews == "GMS"
ForState == "STATE_TRANSFER"
Self == "FLUSH"

\* [member -> how many of its multicasts of this view]. The layer below counts from what it had delivered
\* when the view was installed, which is the same at all survivors.
NoVector == [m \in {} |-> 0]
Zeros(set) == [m \in set |-> 0]

\* Every message names the view of its sender. (FLAW-125: a message from before a partition may arrive in a merged
\* view, in which its sender is a member again. Rounds begin anew in each incarnation of a requester.)
StartFlush(view_id, round, asker) ==
    [type |-> "START_FLUSH", view_id |-> view_id, round |-> round, asker |-> asker]
FlushCompleted(view_id, round, digest) ==
    [type |-> "FLUSH_COMPLETED", view_id |-> view_id, round |-> round, digest |-> digest]

\* `target`: exactly what to deliver; `holders`: for each sender a member that has delivered all of it.
ReconcileMessage(view_id, round, target, holders) ==
    [type |-> "RECONCILE", view_id |-> view_id, round |-> round, target |-> target, holders |-> holders]
StopFlush(view_id) == [type |-> "STOP_FLUSH", view_id |-> view_id]

\* The seqno-th multicast of its sender in this view.
Data(view_id, seqno, payload) == [type |-> "DATA", view_id |-> view_id, seqno |-> seqno, payload |-> payload]

Block == PassUp([type |-> "Block"])
Unblock == PassUp([type |-> "Unblock"])
Deliver(sender, payload) == PassUp([type |-> "Deliver", sender |-> sender, payload |-> payload])

\* To the caller of Suspend.
GroupStopped(asker) == PassDown([type |-> "GroupStopped", asker |-> asker])

\* The layer below delivers nothing beyond these numbers until the next HoldBack, Release, or view.
HoldBack(limit) == PassDown([type |-> "HoldBack", limit |-> limit])
Release == PassDown([type |-> "Release"])

\* The layer below asks `holder` for the missing messages of `sender`, up to this number.
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

\* A requester's flush. `phase`: the last request, "start" or "reconcile"; or the group is "stopped".
\* `want`: members whose FLUSH_COMPLETED is awaited. Rounds number the requests of all its flushes.
Idle(round) == [phase |-> "none", round |-> round, want |-> {}, reports |-> NoReports]

Start(member) ==
    [member |-> member,         \* this member's address
     view |-> NoView,           \* the view installed
     suspected |-> {},          \* its members that are suspected
     sent |-> 0,                \* its multicasts in this view
     delivered |-> NoVector,    \* of each member: how many of its multicasts were passed up in this view
     block |-> "free",          \* the application: "free", "asked" to block, or "blocked"
     latched |-> FALSE,         \* multicasts wait
     waiting |-> <<>>,          \* the payloads that wait
     owner |-> "",              \* the requester of the flush in force; "": none, or not known to a joiner
     asker |-> "",              \* the caller that this flush is for
     round |-> 0,               \* the round of the owner's last request
     owes |-> FALSE,            \* that request has no answer yet
     frozen |-> FALSE,          \* the layer below holds back messages beyond the limit
     limit |-> NoVector,        \* the last report, or the target
     later |-> [m \in {} |-> 0], \* queued requesters -> the round of their START_FLUSH
     wants |-> {},              \* callers below that want the group stopped
     run |-> Idle(0)]           \* its own flush, as requester

\* The phases of a member that takes part in a flush: the values of `block`, `owes`, `latched` and `frozen`. Of the 24
\* that the four could have no other occurs (docs/messages.md says what a member does in each, and what ends it).
Phases ==
    [open |-> {<<"free", FALSE, FALSE, FALSE>>},
     asked |-> {<<"asked", TRUE, FALSE, FALSE>>, <<"asked", TRUE, TRUE, FALSE>>},
     ended_early |-> {<<"asked", FALSE, FALSE, FALSE>>},
     draining |-> {<<"blocked", TRUE, TRUE, FALSE>>},
     stopped |-> {<<"blocked", FALSE, TRUE, TRUE>>},
     catching_up |-> {<<"blocked", TRUE, TRUE, TRUE>>},
     in_the_next_view |-> {<<"blocked", FALSE, TRUE, FALSE>>, <<"free", FALSE, TRUE, FALSE>>}]

IsIn(phase, s) == <<s.block, s.owes, s.latched, s.frozen>> \in Phases[phase]

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
(* A step ends with Ending: the consequences of the state that it leaves      *)

Unchanged(s) == [state |-> s, effects |-> <<>>]

\* F of a value, which is evaluated once. (Where TLC evaluates ENABLED it evaluates a LET at each use, and a step
\* within another step twice as often as the outer step.)
With(value, F(_)) == CHOOSE y \in {F(v) : v \in {value}} : TRUE

Then(step, Next(_)) ==
    LET Joined(first) ==
            LET Added(second) == [state |-> second.state, effects |-> first.effects \o second.effects]
            IN With(Next(first.state), Added)
    IN With(step, Joined)

\* The requester asks every unsuspected member, or every member that has reported. Earlier reports are void (FCR-04).
Ask(s, phase, to, message) ==
    [state |-> [s EXCEPT !.run = [Idle(message.round) EXCEPT !.phase = phase, !.want = to]],
     effects |-> SendAll(s.view.members, to, message)]

\* The requester is its own owner at once, before its own START_FLUSH arrives: it owes no other member an answer.
Begin(s) ==
    LET asker == IF ForViews \in s.wants THEN ForViews ELSE ForState
    IN Ask([s EXCEPT !.owner = s.member, !.asker = asker, !.owes = FALSE], "start", Unsuspected(s),
           StartFlush(s.view.id, s.run.round + 1, asker))

\* No more senior requester is queued. (A junior keeps waiting: this member may have sent START_FLUSH before, and given
\* up. Members that queued that START_FLUSH are stopped by it now, and by no junior's.)
IsNext(s) == \A m \in DOMAIN s.later : ~Before(s, m, s.member)

\* A member begins a flush for a view under any owner, and a flush for a state only when it is free. It begins neither
\* before its own STOP_FLUSH has come back.
MayBegin(s) ==
    /\ s.wants # {} /\ InView(s) /\ ~Running(s) /\ s.owner # s.member
    /\ (IsFree(s) /\ IsNext(s)) \/ (ForViews \in s.wants /\ ViewFlushFirst)

MaybeBegin(s) == IF MayBegin(s) THEN Begin(s) ELSE Unchanged(s)

\* The member is asked to stop. FST-08: BLOCK is passed up. A member that is already blocked answers without a second
\* BLOCK (FCR-05), and stays frozen. A requester gives up its own flush.
Blocking(s) == IF s.block = "free" THEN <<Block>> ELSE <<>>

\* The former requester is queued: it may not have received the START_FLUSH with priority, or may have ignored it.
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

\* The queue of a free member: the most senior requester is first.
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

\* The greatest count of x's multicasts in any report, and the most senior member that reports it.
Target(s) ==
    [x \in Members(s) |->
        LET counts == {s.run.reports[m][x] : m \in Asked(s)}
        IN CHOOSE n \in counts : \A k \in counts : k <= n]
Holders(s) ==
    [x \in Members(s) |->
        LET HasAll(m) == m \in Asked(s) /\ s.run.reports[m][x] = Target(s)[x]
        IN Head(SelectSeq(s.view.members, HasAll))]

\* FST-15: every member receives STOP_FLUSH, joiners included.
ResumeAll(s) ==
    [state |-> [s EXCEPT !.run = Idle(@.round)],
     effects |-> SendAll(s.view.members, Unsuspected(s), StopFlush(s.view.id))]

\* FST-13: every member is stopped. If every caller has withdrawn, STOP_FLUSH follows at once.
Tell(s) ==
    LET Wants(asker) == asker \in s.wants
        askers == SelectSeq(<<ForViews, ForState>>, Wants)
        told == [s EXCEPT !.run.phase = "stopped", !.run.reports = NoReports, !.wants = @ \ {Self}]
    IN IF askers = <<>> THEN ResumeAll(told)
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

\* FST-12. A flush with priority has released a member that reports a second time in a round (FLAW-248). Its first report
\* counts no more: it may have multicast since. The requester begins again, also if it counts the group as stopped.
FlushCompletedReceived(s, e) ==
    LET m == e.sender
        heard == [s EXCEPT !.run.want = @ \ {m}, !.run.reports = Noted(@, m, e.message.digest)]
    IN IF ~Running(s) \/ m \notin Unsuspected(s) THEN Ignored(s)
       ELSE IF e.message.round # s.run.round \/ ~IsOfView(s, e.message) THEN Ignored(s)
       ELSE IF DOMAIN e.message.digest # Members(s) THEN RemoteError(s)
       ELSE IF m \in s.run.want THEN Ending(MaybeDone(heard))
       ELSE IF RestartOnSecondReport THEN Ending(Begin(s))
       ELSE Ignored(s)

\* No answer of x is awaited any more (FCR-01). During reconciliation x may be a holder that others have to ask: every
\* member starts again.
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

\* After its report the member delivers nothing more.
MaybeReport(s) ==
    IF ~MayReport(s) THEN Unchanged(s)
    ELSE [state |-> [s EXCEPT !.owes = FALSE, !.frozen = Freeze, !.limit = s.delivered],
          effects |-> (IF Freeze /\ ~s.frozen THEN <<HoldBack(s.delivered)>> ELSE <<>>)
                      \o <<Send(s.owner, FlushCompleted(s.view.id, s.round, s.delivered))>>]

Reporting(step) == Ending(Then(step, MaybeReport))

\* q's flush takes the place of the flush in force, if any.
HasPriority(s, q, asker) ==
    \/ IsFree(s) \/ q = s.owner
    \/ asker = ForViews /\ ViewFlushFirst
    \/ SeniorRequesterFirst /\ s.asker = ForState /\ s.owner \in Unsuspected(s) /\ Before(s, q, s.owner)

\* START_FLUSH is ignored from a non-member, from a suspected member, of another view, and of a flush that this member
\* itself has given up.
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
FreeApplication(s) ==
    IF s.block = "blocked"
    THEN [state |-> [s EXCEPT !.block = "free"], effects |-> <<Unblock>>]
    ELSE Unchanged(s)

\* FST-09. If the flush has ended before BLOCK returns, the member is free at once.
BlockReturned(s, e) ==
    LET back == [s EXCEPT !.block = "blocked"]
    IN IF s.block # "asked" THEN Ignored(s)
       ELSE IF IsFree(s) THEN Ending(FreeApplication(back))
       ELSE Reporting(Unchanged([back EXCEPT !.latched = Latch \/ @]))

\* A target has a count and a holder for each member of the view. This member is no holder of what it lacks: the layer
\* below would refuse to fetch from it, and take the peer's mistake for a mistake of this layer.
IsReachable(s, target, holders) ==
    /\ DOMAIN target = Members(s) /\ DOMAIN holders = Members(s)
    /\ \A x \in DOMAIN holders : holders[x] \in Members(s) /\ (holders[x] = s.member => s.delivered[x] >= target[x])

\* FST-14, AMB-61: the member fetches missing messages through the layer below. A request of a queued requester is
\* queued, too.
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

\* The latch opens, and the waiting payloads are multicast.
Open(s) ==
    LET sends == [i \in DOMAIN s.waiting |-> Multicast(Data(s.view.id, s.sent + i, s.waiting[i]))]
    IN Then([state |-> [s EXCEPT !.latched = FALSE, !.waiting = <<>>, !.sent = @ + Len(s.waiting),
                                 !.frozen = FALSE, !.limit = NoVector, !.owes = FALSE, !.owner = "",
                                 !.asker = ""],
             effects |-> (IF s.frozen THEN <<Release>> ELSE <<>>) \o sends], FreeApplication)

\* Only the owner of the flush in force ends it (FLAW-29). A member that joined during the flush does not know the
\* owner; no other member can have ended a flush in this view. The STOP_FLUSH of a queued requester empties its place.
StopFlushReceived(s, e) ==
    LET q == e.sender
    IN IF ~IsOfView(s, e.message) THEN Ignored(s)
       ELSE IF q \in DOMAIN s.later THEN Handled([s EXCEPT !.later = Less(@, q)], <<>>)
       ELSE IF IsFree(s) \/ q \notin Members(s) \/ (IgnoreSuspected /\ q \in s.suspected) THEN Ignored(s)
       ELSE IF StopByOwnerOnly /\ s.owner \notin {"", q} THEN Ignored(s)
       ELSE Ending(Open(s))

-----------------------------------------------------------------------------
(* Events of the layers below *)

\* FST-05, FST-07. If this member has already stopped the group, GroupStopped follows at once (GMS asks before each
\* view). A group that is stopped for a state is stopped anew for a view: every member has to know the purpose.
Suspend(s, e) ==
    LET wanting == [s EXCEPT !.wants = @ \cup {e.asker}]
    IN IF ~InView(s) THEN LocalError(s)
       ELSE IF Running(s) /\ e.asker = ForViews /\ ForViews \notin s.wants THEN Ending(Begin(wanting))
       ELSE IF IsStopped(s) THEN Handled(wanting, <<GroupStopped(e.asker)>>)
       ELSE IF e.asker \in s.wants THEN Ignored(s)
       ELSE Proceed(wanting, <<>>)

\* FST-06. An unfinished or given-up flush is brought to its end: other members may have queued its START_FLUSH.
Resume(s, e) ==
    LET without == [s EXCEPT !.wants = @ \ {e.asker}]
    IN IF e.asker \notin s.wants THEN LocalError(s)
       ELSE IF ~IsStopped(s) THEN Proceed([without EXCEPT !.wants = @ \cup {Self}], <<>>)
       ELSE IF without.wants # {} THEN Handled(without, <<>>)
       ELSE Ending(ResumeAll(without))

\* In a group with a single member the latch is open: no STOP_FLUSH will come.
LatchedIn(s, view) == IF InView(s) THEN s.latched ELSE LatchJoiner /\ Len(view.members) > 1

\* The layer below receives the view, too, and holds nothing back any more. The latch stays as it is.
Enter(s, view) ==
    LET all == MembersOf(view)
        entered == [s EXCEPT !.view = view, !.suspected = @ \cap all, !.sent = 0, !.delivered = Zeros(all),
                             !.latched = LatchedIn(s, view), !.frozen = FALSE, !.limit = NoVector,
                             !.owes = FALSE, !.later = [m \in {} |-> 0]]
    IN Ending(IF Running(s) /\ ~IsStopped(s) THEN Begin(entered) ELSE Unchanged(entered))

ViewInstalled(s, e) == IF s.member \notin MembersOf(e.view) THEN LocalError(s) ELSE Enter(s, e.view)

\* A merged view: the coordinator of each subgroup has stopped its members. Only the first member keeps its flush. A
\* first member that was a participant runs a flush of the merged group, when every member has the view. The first
\* member sends STOP_FLUSH. Every other member waits for it as a joiner does, and stops no group for views any more.
MergeViewInstalled(s, e) ==
    LET is_first == CoordinatorOf(e.view) = s.member
        yielded == [s EXCEPT !.owner = "", !.asker = "", !.run = Idle(@.round),
                             !.wants = IF is_first THEN @ ELSE @ \ {ForViews}]
    IN IF s.member \notin MembersOf(e.view) THEN LocalError(s)
       ELSE Enter(IF ~YieldOnMerge \/ (is_first /\ IsStopped(s)) THEN s ELSE yielded, e.view)

\* A member that suspects its owner opens its latch, if the flush is for a state. (No other member may know of a false
\* suspicion, and end the flush.)
OpensLess(s, x) == s.owner = x /\ (OpenLatchOnSuspicion = "any" \/ (OpenLatchOnSuspicion = "state" /\ s.asker = ForState))

\* The layers above hear of the suspicion, too.
Suspected(s, e) ==
    LET x == e.suspect
        knowing == [s EXCEPT !.suspected = @ \cup {x}, !.later = Less(@, x)]
        passed == [state |-> knowing, effects |-> <<PassUp(e)>>]
        Opened(state) == IF OpensLess(s, x) THEN Open(state) ELSE Unchanged(state)
        Struck(state) == Strike(state, x)
    IN IF x = s.member THEN LocalError(s)
       ELSE IF x \notin Members(s) \/ x \in s.suspected THEN Ignored(s)
       ELSE Ending(Then(Then(passed, Opened), Struck))

-----------------------------------------------------------------------------
(* Multicasts *)

\* From above. A payload waits while the latch is closed.
SendRequested(s, e) ==
    IF ~InView(s) THEN LocalError(s)
    ELSE IF s.latched THEN Handled([s EXCEPT !.waiting = Append(@, e.payload)], <<>>)
    ELSE Handled([s EXCEPT !.sent = @ + 1], <<Multicast(Data(s.view.id, s.sent + 1, e.payload))>>)

Fits(s, x, seqno) == seqno = s.delivered[x] + 1

\* From below: the next message of this view is delivered. Beyond the limit the layer below holds messages back, and no
\* correct peer sends more to a stopped member.
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
