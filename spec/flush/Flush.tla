------------------------------- MODULE Flush --------------------------------
(***************************************************************************)
(* FLUSH, one member: a pure function of its own state and an event.       *)
(*                                                                         *)
(* Theory. When the membership is to change, the first member that nobody  *)
(* suspects becomes the requester: it asks all members of its view to stop *)
(* (START_FLUSH). A member tells its application (BLOCK); when BLOCK       *)
(* returns it closes its latch: what is multicast from then on waits. It   *)
(* lets its own multicasts come back, has the layer below hold back        *)
(* whatever comes after that (it is frozen), and tells the requester what  *)
(* it has delivered (FLUSH_COMPLETED). When all have answered and some     *)
(* lack what others have, the requester tells everybody what to reach and  *)
(* whom to ask for it (RECONCILE), and all report again. When all that     *)
(* report have delivered the same, the requester makes the next view and   *)
(* sends it (NEW_VIEW), to old members first, then to joiners. Who has     *)
(* installed it reports that with the same FLUSH_COMPLETED. When all have, *)
(* everybody may go on (STOP_FLUSH): latches open, applications are told   *)
(* (UNBLOCK), and who leaves goes.                                         *)
(*                                                                         *)
(* Why survivors agree. From its report until a target or the next view a  *)
(* member delivers nothing, and its latch is closed; so reports that are   *)
(* equal stay true until the view comes. A requester that is suspected is  *)
(* no reason to open a latch: its view may be on its way to another. Its   *)
(* successor asks everybody again, and says in its question whom it leaves *)
(* out: who has answered takes nothing from those any more. So a view that *)
(* nobody reports can never be installed, and one that somebody reports    *)
(* is sent to everybody before another is made.                            *)
(*                                                                         *)
(* Who decides. What is to change (who joins, leaves, is suspected) comes  *)
(* from the membership service beside FLUSH, as events. FLUSH makes the    *)
(* view of it and sends it: its question for digests is at the same time   *)
(* the question for the newest view (README.md).                           *)
(*                                                                         *)
(* The constants are guards. README.md says what each is for.              *)
(***************************************************************************)
EXTENDS Steps, Views, Integers, FiniteSets

CONSTANTS
    Latch,              \* nothing is multicast from the return of BLOCK until STOP_FLUSH
    Freeze,             \* nothing is delivered beyond what was reported, or the target, until the next view
    AwaitOwn,           \* a member reports after its own multicasts have come back to it
    AwaitAll,           \* the requester waits for all FLUSH_COMPLETED
    Reconcile,          \* what some survivor has delivered, all deliver before the view
    ReportAgain,        \* after reconciliation all report again; or the view follows RECONCILE at once
    StartAgain,         \* a suspicion during reconciliation begins a new round
    Recheck,            \* a suspicion makes the requester look again whether all have reported
    OpenWhen,           \* a latch opens when its flush is "stopped", or also when the requester is "suspected"
    Successor,          \* the "first" member that is not suspected takes over, or the "next" after the requester
    DropSuspected,      \* what a suspected member sends is dropped
    TellSuspected,      \* a requester says whom it suspects, and those are suspected from then on
    Relay,              \* a view that only some have is sent to all before another is made
    OldMembersFirst,    \* joiners are sent the view when the old members have it
    LeaverStays,        \* who leaves takes part until STOP_FLUSH; or it goes when it has the view
    LeaverYields,       \* who wants to leave does not take over, nor wait for who does
    JoinerWaits,        \* a joiner multicasts nothing before STOP_FLUSH
    AskWhoActs          \* who waits for a requester that is suspected asks who is to act, where that may not know

ASSUME
    /\ {Latch, Freeze, AwaitOwn, AwaitAll, Reconcile, ReportAgain, StartAgain, Recheck, DropSuspected,
        TellSuspected, Relay, OldMembersFirst, LeaverStays, LeaverYields, JoinerWaits, AskWhoActs} \subseteq
            BOOLEAN
    /\ OpenWhen \in {"stopped", "suspected"}
    /\ Successor \in {"first", "next"}

-----------------------------------------------------------------------------
(* What is decided *)

\* A view as FLUSH knows it. `follows`: the identifier of the view before. `joiners`: who begins with it.
Decision(id, members, follows, joiners) ==
    [id |-> id, members |-> members, follows |-> follows, joiners |-> joiners]

NoDecision == Decision(NoViewId, <<>>, NoViewId, {})

ViewIn(decision) == [id |-> decision.id, members |-> decision.members]

\* [member -> how many of its multicasts of this view]. The layer below counts on from what it had delivered
\* when the view was installed, which is the same at all who go on.
NoVector == [m \in {} |-> 0]
Zeros(set) == [m \in set |-> 0]

-----------------------------------------------------------------------------
(* Messages and effects *)

\* `suspected`: who is left out of this flush.
StartFlush(round, suspected) == [type |-> "START_FLUSH", round |-> round, suspected |-> suspected]
FlushCompleted(round, decision, digest) ==
    [type |-> "FLUSH_COMPLETED", round |-> round, decision |-> decision, digest |-> digest]

\* `target`: what to deliver, no more and no less; `holders`: of each sender somebody who has it all.
ReconcileMessage(round, target, holders) ==
    [type |-> "RECONCILE", round |-> round, target |-> target, holders |-> holders]
NewView(round, decision, suspected) ==
    [type |-> "NEW_VIEW", round |-> round, decision |-> decision, suspected |-> suspected]
StopFlush == [type |-> "STOP_FLUSH"]

\* To who is to act: the requester is suspected, and the sender waits for its STOP_FLUSH. `decision`: the sender's
\* view. Who begins with it may not have it yet.
FlushWanted(owner, decision, suspected) ==
    [type |-> "FLUSH_WANTED", owner |-> owner, decision |-> decision, suspected |-> suspected]

\* The seqno-th multicast of its sender in this view.
Data(view_id, seqno, payload) == [type |-> "DATA", view_id |-> view_id, seqno |-> seqno, payload |-> payload]

\* A view is announced to the layers below, then to those above (LAY-06).
Installed(decision) ==
    <<PassDown([type |-> "ViewInstalled", view |-> ViewIn(decision)]),
      PassUp([type |-> "ViewInstalled", view |-> ViewIn(decision)])>>

Block == PassUp([type |-> "Block"])
Unblock == PassUp([type |-> "Unblock"])
LeftTheGroup == PassUp([type |-> "Left"])
Deliver(sender, payload) == PassUp([type |-> "Deliver", sender |-> sender, payload |-> payload])

\* The layer below delivers nothing beyond these numbers, until it is told others, released, or told of a view.
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

\* A requester's flush. `phase`: what was asked last: to "start", to "reconcile", to install a "view".
\* `list`: who was ever asked in it, in order. `want`: whose FLUSH_COMPLETED is awaited.
Idle(round) == [phase |-> "none", round |-> round, list |-> <<>>, want |-> {}, reports |-> [m \in {} |-> NoDecision]]

Start(member) ==
    [member |-> member,         \* this member's address
     decision |-> NoDecision,   \* the view installed; of who has left it: the view without it
     left |-> FALSE,            \* it has a view that it is not in, and waits for STOP_FLUSH
     gone |-> FALSE,            \* it has left
     suspected |-> {},          \* who is suspected
     joining |-> <<>>,          \* who wants to join, in order
     leaving |-> {},            \* who wants to leave
     sent |-> 0,                \* its multicasts in this view
     delivered |-> NoVector,    \* of each member: how many of its multicasts were passed up in this view
     block |-> "free",          \* the application: "free", "asked" to block, or "blocked"
     latched |-> FALSE,         \* multicasts wait
     waiting |-> <<>>,          \* those that do
     owner |-> "",              \* the requester of the flush in force; "": none
     round |-> 0,               \* the round of its last question
     owes |-> FALSE,            \* that has no answer yet
     frozen |-> FALSE,          \* the layer below holds back what is beyond the limit
     limit |-> NoVector,        \* what was reported, or what is to be reached
     run |-> Idle(0)]           \* its own flush, as requester

InView(s) == s.decision # NoDecision
Members(s) == MembersOf(s.decision)
Running(s) == s.run.phase # "none"
Asked(s) == DOMAIN s.run.reports

Unsuspected(s) ==
    LET Trusted(m) == m \notin s.suspected IN SelectSeq(s.decision.members, Trusted)

\* Is it the first of those that it does not suspect?
Acts(s) == InView(s) /\ ~s.left /\ ~s.gone /\ Unsuspected(s) # <<>> /\ Head(Unsuspected(s)) = s.member

\* Its application has not been told to block.
IsFree(s) == s.block = "free"

\* Whose crash concerns it.
Watched(s) ==
    ((IF s.left THEN {} ELSE Members(s)) \cup {s.joining[i] : i \in DOMAIN s.joining} \cup s.run.want \cup Asked(s) \cup ({s.owner} \ {""}))
        \ {s.member}

\* The members of the next view: M - S - L + J (AMB-71). If all leave, and nobody joins, the requester stays
\* for now: a view has members.
NextMembers(s) ==
    LET Stays(m) == m \notin s.suspected \cup s.leaving
        all == SelectSeq(s.decision.members, Stays) \o s.joining
    IN IF all = <<>> THEN <<s.member>> ELSE all

Needs(s) == NextMembers(s) # s.decision.members

-----------------------------------------------------------------------------
(* A step ends with Proceed: what follows from the state that it leaves *)

Unchanged(s) == [state |-> s, effects |-> <<>>]

\* F of a value, which is evaluated once. (Where TLC looks for what is enabled it evaluates a LET at each use, and
\* one step within another twice as often as that one.)
With(value, F(_)) == CHOOSE y \in {F(v) : v \in {value}} : TRUE

Then(step, Next(_)) ==
    LET Joined(first) ==
            LET Added(second) == [state |-> second.state, effects |-> first.effects \o second.effects]
            IN With(Next(first.state), Added)
    IN With(step, Joined)

\* It asks some of the run's list. Reports on a view count for as long as their members are not asked again.
Ask(s, phase, list, to, Message(_)) ==
    LET round == s.run.round + 1
        kept == IF phase = "view" THEN Asked(s) \ to ELSE {}
    IN [state |-> [s EXCEPT !.run = [phase |-> phase, round |-> round, list |-> list, want |-> to,
                                     reports |-> [m \in kept |-> s.run.reports[m]]]],
        effects |-> SendAll(list, to, Message(round))]

Told(s) == IF TellSuspected THEN s.suspected ELSE {}

Begin(s) ==
    LET M(round) == StartFlush(round, Told(s))
    IN Ask(s, "start", s.decision.members, {m \in Members(s) : m \notin s.suspected}, M)

\* It is its turn to begin a flush: there is something to change, or the requester is suspected (FCR-03). While
\* another's flush is in force, or its own STOP_FLUSH has not come back, it waits.
NextAfter(s, m) ==
    \E i \in 1 .. Len(s.decision.members) - 1 :
        s.decision.members[i] = m /\ s.decision.members[i + 1] = s.member

MayBegin(s) ==
    /\ ~Running(s) /\ InView(s) /\ ~s.left /\ ~s.gone
    /\ IF s.owner = "" THEN Acts(s) /\ Needs(s)
       ELSE /\ s.owner \in s.suspected
            /\ IF Successor = "first" THEN Acts(s) ELSE NextAfter(s, s.owner)

MaybeBegin(s) == IF MayBegin(s) THEN Begin(s) ELSE Unchanged(s)

\* Who has left waits for no requester that is suspected. Nor does who wants to leave, nor does it take over: there
\* may be a view without it, which it has not got, and those who have it do not ask it.
MaybeGo(s) ==
    IF ~s.gone /\ ~Running(s) /\ s.owner \in s.suspected /\ (s.left \/ (LeaverYields /\ s.member \in s.leaving))
    THEN [state |-> [s EXCEPT !.gone = TRUE], effects |-> <<LeftTheGroup>>]
    ELSE Unchanged(s)

Ending(step) ==
    LET Done(all) == Handled(all.state, all.effects)
    IN With(Then(Then(step, MaybeGo), MaybeBegin), Done)

Proceed(state, effects) == Ending([state |-> state, effects |-> effects])

-----------------------------------------------------------------------------
(* Requester: all have reported. What is next? *)

\* The newest view that anybody has reported: its own, or one that follows it.
Newest(s) ==
    IF Relay /\ \E m \in Asked(s) : s.run.reports[m].decision.follows = s.decision.id
    THEN s.run.reports[CHOOSE m \in Asked(s) : s.run.reports[m].decision.follows = s.decision.id].decision
    ELSE s.decision

HasView(s, m, decision) == m \in Asked(s) /\ s.run.reports[m].decision = decision

\* Who lacks it: of its members, and of those who were asked and are let go by it.
Behind(s) ==
    IF Relay \/ s.run.phase = "view"
    THEN {m \in MembersOf(Newest(s)) \cup Asked(s) : m \notin s.suspected \cup s.run.want /\ ~HasView(s, m, Newest(s))}
    ELSE {}

\* Members that may be sent a view, and are not in the list yet.
Longer(list, joiners, members) ==
    LET New(m) == m \in joiners /\ \A i \in DOMAIN list : list[i] # m
    IN list \o SelectSeq(members, New)

SendView(s) ==
    LET newest == Newest(s)
        behind == Behind(s)
        olds == behind \ newest.joiners
        M(round) == NewView(round, newest, Told(s))
    IN Ask(s, "view", Longer(s.run.list, newest.joiners, newest.members),
           IF OldMembersFirst /\ olds # {} THEN olds ELSE behind, M)

StopAll(s) ==
    [state |-> [s EXCEPT !.run = Idle(@.round)],
     effects |-> SendAll(s.run.list, Asked(s) \ s.suspected, StopFlush)]

\* Of those that are in its view: the most that anybody has delivered of x, and who has it, the most senior.
Here(s) == {m \in Asked(s) \cap Members(s) : HasView(s, m, s.decision)}
Reported(s, m, x) == s.run.reports[m].digest[x]
Target(s) ==
    [x \in Members(s) |->
        LET counts == {Reported(s, m, x) : m \in Here(s)} IN CHOOSE n \in counts : \A k \in counts : k <= n]
Holders(s) ==
    [x \in Members(s) |->
        LET HasAll(m) == m \in Here(s) /\ Reported(s, m, x) = Target(s)[x]
        IN Head(SelectSeq(s.decision.members, HasAll))]
Differ(s) == \E m \in Here(s) : s.run.reports[m].digest # Target(s)

AskToReconcile(s) ==
    LET M(round) == ReconcileMessage(round, Target(s), Holders(s))
    IN Ask(s, "reconcile", s.run.list, Asked(s), M)

\* The identifier is above any that was reported: whoever reported has this view, or was sent it.
NextId(s) == ViewId(s.decision.id.counter + 1, s.member)

CreateView(s) ==
    LET members == NextMembers(s)
        decision == Decision(NextId(s), members, s.decision.id, MembersOf([members |-> members]) \ Members(s))
        M(round) == NewView(round, decision, Told(s))
        \* (Who did not have to report is sent the view all the same.)
        olds == IF AwaitAll THEN Asked(s) ELSE Asked(s) \cup s.run.want
    IN Ask(s, "view", Longer(s.run.list, decision.joiners, members),
           olds \cup (IF OldMembersFirst THEN {} ELSE decision.joiners), M)

AllReported(s) ==
    IF Behind(s) # {} THEN SendView(s)
    ELSE IF s.run.phase = "view" \/ ~Needs(s) THEN StopAll(s)
    ELSE IF Reconcile /\ Differ(s)
    THEN IF ReportAgain THEN AskToReconcile(s)
         ELSE LET asked == AskToReconcile(s)
                  all == [asked.state EXCEPT !.run.reports = s.run.reports]
              IN Then([state |-> all, effects |-> asked.effects], CreateView)
    ELSE CreateView(s)

MaybeDone(s) ==
    IF Running(s) /\ (s.run.want = {} \/ (~AwaitAll /\ s.run.phase = "start" /\ Asked(s) # {}))
    THEN AllReported(s)
    ELSE Unchanged(s)

\* Nothing is expected of x any more (FCR-01). In reconciliation x may be whom others have to ask: all start again.
Without(s, x) ==
    LET struck == [s EXCEPT !.run.want = @ \ {x}, !.run.reports = [m \in DOMAIN @ \ {x} |-> @[m]]]
    IN IF ~Running(s) THEN Unchanged(s)
       ELSE IF s.run.phase = "reconcile" /\ StartAgain /\ x \in s.run.want \cup Asked(s) THEN Begin(struck)
       ELSE IF Recheck THEN MaybeDone(struck)
       ELSE Unchanged(struck)

\* A report is of this view, of one that follows it, of the one before, or of none. Of two views that follow,
\* one is on another line: who has it is no member any more. (Only after a false suspicion.)
OnThisLine(s, decision) ==
    \/ decision = s.decision
    \/ decision.id \in {NoViewId, s.decision.follows}
    \/ /\ decision.follows = s.decision.id
       /\ \A m \in Asked(s) :
            s.run.reports[m].decision.follows = s.decision.id => s.run.reports[m].decision = decision

Distrust(s, x) == [s EXCEPT !.suspected = @ \cup {x}, !.joining = LET Other(m) == m # x IN SelectSeq(@, Other)]

\* A report of a view says of each of its members what its sender has delivered; of who is not in it, nothing.
IsReport(m, decision, digest) ==
    DOMAIN digest = IF m \in MembersOf(decision) THEN MembersOf(decision) ELSE {}

FlushCompletedReceived(s, e) ==
    LET m == e.sender
        report == [decision |-> e.message.decision, digest |-> e.message.digest]
        heard == [s EXCEPT !.run.want = @ \ {m},
                           !.run.reports = [x \in DOMAIN @ \cup {m} |-> IF x = m THEN report ELSE @[x]]]
        done == IF OnThisLine(s, e.message.decision) THEN MaybeDone(heard) ELSE Without(Distrust(s, m), m)
    IN IF ~IsReport(m, e.message.decision, e.message.digest) THEN RemoteError(s)
       ELSE IF ~Running(s) \/ m \notin s.run.want \/ e.message.round # s.run.round THEN Ignored(s)
       ELSE Ending(done)

-----------------------------------------------------------------------------
(* Everybody: reporting *)

Report(s) == Send(s.owner, FlushCompleted(s.round, s.decision, s.delivered))

MayReport(s) ==
    /\ s.owes /\ s.block # "asked"
    /\ AwaitOwn => (s.member \in DOMAIN s.delivered => s.delivered[s.member] = s.sent)
    /\ \A x \in DOMAIN s.limit : s.delivered[x] >= s.limit[x]

\* From its report on it delivers nothing more.
MaybeReport(s) ==
    IF ~MayReport(s) THEN Unchanged(s)
    ELSE IF ~InView(s) \/ s.left THEN [state |-> [s EXCEPT !.owes = FALSE], effects |-> <<Report(s)>>]
    ELSE [state |-> [s EXCEPT !.owes = FALSE, !.frozen = Freeze, !.limit = s.delivered],
          effects |-> (IF Freeze /\ ~s.frozen THEN <<HoldBack(s.delivered)>> ELSE <<>>) \o <<Report(s)>>]

Reporting(state, effects) ==
    Ending(Then([state |-> state, effects |-> effects], MaybeReport))

\* A stranger, or one that is left out, does not stop anybody. (Who has no view, or has left, knows no strangers. But
\* who runs a flush while it leaves is asked by nobody else: that is a question of the dead.)
MayAsk(s, q) ==
    /\ ~s.gone
    /\ DropSuspected => q \notin s.suspected
    /\ InView(s) => q \in Members(s) \/ (s.left /\ (q = s.member \/ ~Running(s)))

\* FST-08. Who is blocked already answers without a second BLOCK (FCR-05), and stays frozen where it is.
StartFlushReceived(s, e) ==
    LET q == e.sender
        cut == IF s.frozen THEN s.delivered ELSE NoVector
        asked == [s EXCEPT !.owner = q, !.round = e.message.round, !.owes = TRUE, !.limit = cut,
                           !.suspected = @ \cup e.message.suspected,
                           !.run = IF q = s.member THEN @ ELSE Idle(@.round)]
        again == IF s.frozen /\ s.limit # cut THEN <<HoldBack(cut)>> ELSE <<>>
    IN IF ~MayAsk(s, q) \/ s.member \in e.message.suspected THEN Ignored(s)
       ELSE IF InView(s) /\ ~s.left /\ IsFree(s)
       THEN Proceed([asked EXCEPT !.block = "asked"], <<Block>>)
       ELSE Reporting(asked, again)

BlockReturned(s, e) ==
    IF s.block # "asked" THEN Ignored(s)
    ELSE Reporting([s EXCEPT !.block = "blocked", !.latched = Latch], <<>>)

\* FST-14, AMB-61: it asks the layer below for what it lacks.
ReconcileReceived(s, e) ==
    LET target == e.message.target
        Lacks(x) == x \in DOMAIN target /\ s.delivered[x] < target[x]
        lacking == SelectSeq(s.decision.members, Lacks)
        fetches == [i \in DOMAIN lacking |->
                        Fetch(e.message.holders[lacking[i]], lacking[i], target[lacking[i]])]
        bound == [s EXCEPT !.round = e.message.round, !.owes = TRUE, !.limit = target]
    IN IF s.gone \/ s.left \/ e.sender # s.owner \/ e.sender \in s.suspected \/ DOMAIN target # DOMAIN s.delivered
       THEN Ignored(s)
       ELSE Reporting(bound, (IF s.frozen /\ s.limit # target THEN <<HoldBack(target)>> ELSE <<>>) \o fetches)

-----------------------------------------------------------------------------
(* Everybody: the view *)

Enter(s, decision, suspected) ==
    LET all == MembersOf(decision)
        Still(m) == m \notin all
    IN [s EXCEPT !.decision = decision, !.suspected = (@ \cup suspected) \cap all,
                 !.joining = SelectSeq(@, Still), !.leaving = @ \cap all,
                 !.sent = 0, !.delivered = Zeros(all), !.frozen = FALSE, !.limit = NoVector,
                 !.latched = IF InView(s) THEN @ ELSE JoinerWaits, !.owes = FALSE]

\* It has a view without itself. It takes part until STOP_FLUSH, so that nobody has to suspect it.
PartWith(s, e) ==
    [s EXCEPT !.decision = e.message.decision, !.left = TRUE, !.gone = ~LeaverStays,
              !.suspected = @ \cup e.message.suspected, !.joining = <<>>, !.leaving = {},
              !.delivered = NoVector, !.frozen = FALSE, !.limit = NoVector, !.waiting = <<>>,
              !.round = e.message.round, !.owes = FALSE]

NewViewReceived(s, e) ==
    LET decision == e.message.decision
        entered == [Enter(s, decision, e.message.suspected) EXCEPT !.owner = e.sender, !.round = e.message.round]
        parted == PartWith(s, e)
        \* (It goes at once only where LeaverStays is off.)
        going == IF parted.gone THEN <<LeftTheGroup>> ELSE <<>>
    IN IF s.gone \/ (DropSuspected /\ e.sender \in s.suspected) THEN Ignored(s)
       ELSE IF ~InView(s) THEN
            IF s.member \notin MembersOf(decision) THEN RemoteError(s)
            ELSE IF s.member \notin decision.joiners THEN Ignored(s)
            ELSE Proceed(entered, Installed(decision) \o <<Report(entered)>>)
       ELSE IF s.left \/ decision.follows # s.decision.id \/ e.sender # s.owner THEN Ignored(s)
       ELSE IF s.member \in MembersOf(decision)
       THEN Proceed(entered, Installed(decision) \o <<Report(entered)>>)
       ELSE Proceed(parted, <<Report(parted)>> \o going)

\* Open the latch: what waits is multicast.
Opened(s) ==
    [s EXCEPT !.latched = FALSE, !.waiting = <<>>, !.sent = @ + Len(s.waiting)]
Sending(s) ==
    [i \in DOMAIN s.waiting |-> Multicast(Data(s.decision.id, s.sent + i, s.waiting[i]))]

Freeing(s) == IF s.block = "free" THEN <<>> ELSE <<Unblock>>

\* FST-16. Only the owner of the flush in force stops it (FLAW-29).
StopFlushReceived(s, e) ==
    LET open == [Opened(s) EXCEPT !.block = "free", !.owner = "", !.owes = FALSE, !.frozen = FALSE,
                                  !.limit = NoVector]
    IN IF s.gone \/ e.sender # s.owner \/ e.sender \in s.suspected THEN Ignored(s)
       ELSE IF s.left THEN Handled([s EXCEPT !.gone = TRUE, !.owner = ""], <<LeftTheGroup>>)
       ELSE Proceed(open, (IF s.frozen THEN <<Release>> ELSE <<>>) \o Sending(s)
                          \o Freeing(s))

-----------------------------------------------------------------------------
(* What the membership service says *)

\* (Who does not act is told nothing for good: the request is made again, of whoever acts then.)
JoinRequested(s, e) ==
    IF ~Acts(s) \/ e.joiner \in Members(s) \/ (\E i \in DOMAIN s.joining : s.joining[i] = e.joiner)
    THEN Ignored(s)
    ELSE Proceed([s EXCEPT !.joining = Append(@, e.joiner)], <<>>)

\* (Also to who wants to leave itself.) The last member goes.
IsLast(s) == s.owner = "" /\ ~Running(s) /\ s.decision.members = <<s.member>> /\ s.joining = <<>>

LeaveRequested(s, e) ==
    IF IsLast(s) /\ ~s.gone /\ ~s.left /\ e.leaver = s.member
    THEN Handled([s EXCEPT !.gone = TRUE], <<LeftTheGroup>>)
    ELSE IF s.left \/ s.gone \/ ~(Acts(s) \/ e.leaver = s.member) \/ e.leaver \notin Members(s) \/ e.leaver \in s.leaving
    THEN Ignored(s)
    ELSE Proceed([s EXCEPT !.leaving = @ \cup {e.leaver}], <<>>)

\* A requester that left with its own view, and crashed, may have stopped some and not others; those that are free
\* do not watch it any more. Or the first that is left is a joiner, and has not got the view.
AskingForFlush(s) ==
    IF AskWhoActs /\ InView(s) /\ ~s.left /\ ~s.gone /\ s.owner \in s.suspected /\ ~Acts(s) /\ Unsuspected(s) # <<>>
        /\ (s.owner \notin Members(s) \/ Head(Unsuspected(s)) \in s.decision.joiners)
    THEN <<Send(Head(Unsuspected(s)), FlushWanted(s.owner, s.decision, s.suspected))>>
    ELSE <<>>

Suspected(s, e) ==
    LET x == e.suspect
        knowing == Distrust(s, x)
        opening == OpenWhen = "suspected" /\ s.owner = x /\ s.latched
        open == IF opening THEN [Opened(knowing) EXCEPT !.frozen = FALSE, !.limit = NoVector] ELSE knowing
        sent == IF opening THEN (IF s.frozen THEN <<Release>> ELSE <<>>) \o Sending(s) ELSE <<>>
        Struck(state) == Without(state, x)
        Asking(state) == [state |-> state, effects |-> AskingForFlush(state)]
    IN IF x = s.member THEN LocalError(s)
       ELSE IF s.gone \/ x \in s.suspected \/ x \notin Watched(s) THEN Ignored(s)
       ELSE Ending(Then(Then([state |-> open, effects |-> sent], Struck), Asking))

\* A joiner that is to act has just got the view, whose requester is suspected. It flushes though nothing may be to
\* change: the requester may have left.
JoinerBegins(s) == Begin(s)

\* Where a joiner has the view, the old members have it: another may install it, too.
FlushWantedReceived(s, e) ==
    LET x == e.message.owner
        decision == e.message.decision
        entered == [Enter(s, decision, e.message.suspected) EXCEPT !.owner = ""]
        done == Begin([s EXCEPT !.suspected = @ \cup {x}])
    IN IF ~InView(s) /\ ~s.gone /\ s.member \in decision.joiners
       THEN Ending(Then([state |-> entered, effects |-> Installed(decision)], JoinerBegins))
       ELSE IF ~Acts(s) \/ Running(s) \/ e.sender \notin Members(s) \/ e.sender \in s.suspected \/ x \in Members(s)
          \/ s.owner \notin {"", x}
       THEN Ignored(s)
       ELSE Handled(done.state, done.effects)

-----------------------------------------------------------------------------
(* What is multicast *)

\* From above. Behind a closed latch it waits. (Who has a view without itself has not told the layers above yet: one
\* that orders others' messages may still be asked to. What it multicasts would reach nobody.)
SendRequested(s, e) ==
    IF ~InView(s) \/ s.gone THEN LocalError(s)
    ELSE IF s.left THEN Ignored(s)
    ELSE IF s.latched THEN Handled([s EXCEPT !.waiting = Append(@, e.payload)], <<>>)
    ELSE Handled([s EXCEPT !.sent = @ + 1], <<Multicast(Data(s.decision.id, s.sent + 1, e.payload))>>)

IsNext(s, x, seqno) == seqno = s.delivered[x] + 1

\* From below: what is of this view, and next. The layer below was told what to hold back.
DataReceived(s, e) ==
    LET x == e.sender
        next == [s EXCEPT !.delivered[x] = @ + 1]
    IN IF s.left \/ s.gone \/ e.message.view_id # s.decision.id \/ x \notin DOMAIN s.delivered THEN Ignored(s)
       ELSE IF ~IsNext(s, x, e.message.seqno) THEN Ignored(s)
       ELSE IF s.frozen /\ e.message.seqno > s.limit[x] THEN LocalError(s)
       ELSE Reporting(next, <<Deliver(x, e.message.payload)>>)

-----------------------------------------------------------------------------
Step(s, e) ==
    CASE e.type = "JoinRequested" -> JoinRequested(s, e)
      [] e.type = "LeaveRequested" -> LeaveRequested(s, e)
      [] e.type = "Suspected" -> Suspected(s, e)
      [] e.type = "StartFlushReceived" -> StartFlushReceived(s, e)
      [] e.type = "BlockReturned" -> BlockReturned(s, e)
      [] e.type = "FlushCompletedReceived" -> FlushCompletedReceived(s, e)
      [] e.type = "ReconcileReceived" -> ReconcileReceived(s, e)
      [] e.type = "NewViewReceived" -> NewViewReceived(s, e)
      [] e.type = "StopFlushReceived" -> StopFlushReceived(s, e)
      [] e.type = "FlushWantedReceived" -> FlushWantedReceived(s, e)
      [] e.type = "SendRequested" -> SendRequested(s, e)
      [] e.type = "DataReceived" -> DataReceived(s, e)
=============================================================================
