----------------------------- MODULE FlushGroup -----------------------------
(******************************************************************************)
(* A group of members that run FLUSH, and what is around them, as freely      *)
(* as it may behave:                                                          *)
(* - Unicasts arrive once, in the order sent (ReliableUnicast). Messages in   *)
(*   transit to a process outside the sender's view may be lost from some     *)
(*   message on (a budget). When a member crashes, some first part of what it *)
(*   has on its way to each other member arrives.                             *)
(* - A multicast becomes a copy for each member of its view, itself           *)
(*   included; each copy arrives at any time, and the copies of a sender's    *)
(*   multicasts arrive in order. Copies that a crashed member has on their    *)
(*   way may be lost, each by itself. The layer below keeps delivered         *)
(*   messages. When it is asked to (Fetch), it sends them again, by way of    *)
(*   the named member, as long as that member is alive. It delivers no        *)
(*   message that it has to hold back.                                        *)
(* - The application may multicast at any time, also in its BLOCK handler;    *)
(*   the handler returns some time later.                                     *)
(* - Views are made as GMS promises (StopRequests), by the acting coordinator *)
(*   alone: when it asks for a stop, decides, resumes, and sends a view to    *)
(*   joiners. A member that takes over has answers of all whom it does not    *)
(*   suspect: they refuse the members before it. If the coordinator leaves    *)
(*   with its own view, it may do so without Resume.                          *)
(* - Several groups may be there at the start, or result from false           *)
(*   suspicions. Coordinators that have their groups stopped, and nothing to  *)
(*   decide, are merged. One of them decides a view of all. Each of the       *)
(*   others takes the view and sends it to its own members, or gives the      *)
(*   merge up, or crashes. The merged view is in the order of addresses, so   *)
(*   its first member may have been a participant. That member creates the    *)
(*   views from then on. A member that will not install the view any more is  *)
(*   reported.                                                                *)
(* - A state transfer asks for the group to be stopped, and then asks any     *)
(*   member that has delivered the same for its state. It resumes the group   *)
(*   when it has set that state, or when it does not want it any more.        *)
(* - Crashes are reported to all who have the member in their view, even if   *)
(*   its address is there again, in another incarnation. False suspicions     *)
(*   have a budget. In the end, a member that another member                  *)
(*   suspects, or that is on another branch, is notified of that.             *)
(*                                                                            *)
(* The variables of VirtualSynchrony are what members have done: decided      *)
(* views, what was multicast and passed up in each. No step of FLUSH          *)
(* depends on them. The claims are in FlushClaims.                            *)
(******************************************************************************)
EXTENDS Flush, ReliableUnicast, Addresses, Acts

CONSTANTS
    Founders,               \* the members of the first view, in order of seniority
    OtherFounders,          \* the members of other views at the start: a sequence of such
    Joiners,                \* who wants to join
    Leavers,                \* who may want to leave
    Crashers,               \* bound: who may crash
    FalseSuspecters,        \* bound: who suspects falsely
    Requesters,             \* bound: who may want another's state
    Casts,                  \* bound: [Member -> how many multicasts its application makes]
    MaxRequestsPerView,     \* how many requests a view grants at most
    MaxCrashes,             \* fault budget
    MaxFalseSuspicions,     \* fault budget: false suspicions
    MaxLeaves,              \* bound
    MaxStateTransfers,      \* bound: state transfers
    MaxRestarts,            \* fault budget: joiners that come back as their next incarnation
    MaxMerges,              \* bound: how often a group is stopped only to be merged
    MergeMayFail,           \* a coordinator may give a merge up at any time
    StateTransferMayCancel, \* a state transfer may lose interest at any time
    MaxMisuses,             \* fault budget: what no correct caller or peer does
    MaxCloses               \* fault budget: connections that are closed with something on its way (ClosedOnlyByViews)

VARIABLES
    views, installed, life, \* of Membership: see there
    up, log, settled, got,  \* of VirtualSynchrony: see there
    copies,         \* copies of multicasts on their way
    fetches,        \* [Member -> what its layer below asks others for]
    app,            \* [Member -> its application is "free", in its BLOCK "handler", or "blocked"]
    cast,           \* [Member -> how many multicasts its application has made]
    wishes,         \* who wants to leave
    maker,          \* [Member -> as creator of views it "follows", has taken over ("new"), or leads. A leader's group
                    \* is "free", it "suspends" it, it is "stopped", a view was "decided" since, or it waits for a
                    \* merged view ("merges"). A member may be "gone".]
    offers,         \* views on their way: a set of [from, to, view]
    transfer,       \* [Member -> its state transfer is "none", "waits" for the group to stop, or "asks"]
    answers,        \* states on their way: a set of [to, from, view, digest, state]
    state,          \* [Member -> the multicasts that are in its application's state]
    spent           \* budgets used

layers == <<views, installed, life, up, log, settled, got, copies, fetches, wire>>
users == <<maker, offers, wishes, transfer, answers>>

vars == <<local, layers, app, cast, users, state, spent, act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, layers, app, cast, users, state, spent>>

\* Groups may go apart, or be apart.
MayBeApart == MaxFalseSuspicions > 0 \/ MaxMerges > 0

FirstGroups == <<Founders>> \o OtherFounders

First == [i \in DOMAIN FirstGroups |-> FirstView(1, FirstGroups[i][1], FirstGroups[i])]

FoundersSet == UNION {DOMAIN First[i].lives : i \in DOMAIN First}

Channel == INSTANCE VirtualSynchrony WITH Off <- {}

-----------------------------------------------------------------------------
(* Effects of a step on a member's environment *)

Events(effects, kind, type) ==
    LET Is(effect) == effect.type = kind /\ effect.event.type = type
        those == SelectSeq(effects, Is)
    IN [i \in DOMAIN those |-> those[i].event]

Passes(effects, kind, type) == Events(effects, kind, type) # <<>>

\* The multicasts of a step, in order.
MulticastsOf(effects) ==
    LET Is(effect) == effect.type = "Multicast"
        those == SelectSeq(effects, Is)
    IN [i \in DOMAIN those |-> those[i].message]

Payloads(messages) == [i \in DOMAIN messages |-> messages[i].payload]

Copy(via, to, sender, k, seqno) == [via |-> via, to |-> to, sender |-> sender, view |-> k, seqno |-> seqno]

\* A multicast of m in its view, number k, goes to all members of the view. (A member with a later view ignores it.)
NewCopies(m, k, messages) ==
    {Copy(m, to, m, k, messages[i].seqno) :
        to \in {x \in up : Has(views[k], x, life[x]) /\ installed[x] <= k}, i \in DOMAIN messages}

\* Of m's copies those stay that may still be delivered: those of its view that it lacks, and of later views.
Useful(set, m, s, k) ==
    {c \in set :
        \/ c.to # m
        \/ c.view > k
        \/ c.view = k /\ (c.sender \in DOMAIN s.delivered => c.seqno > s.delivered[c.sender])}

\* The layer below asks for what the last step says; a report, or a view, makes former requests void.
AfterFetches(m, step) ==
    LET asked == Events(step.effects, "PassDown", "Fetch")
    IN IF asked # <<>> THEN {asked[i] : i \in DOMAIN asked}
       ELSE IF step.state.owes /\ step.state.round = local[m].round /\ step.state.owner = local[m].owner
       THEN fetches[m] ELSE {}

\* The application hears BLOCK, and is free again at UNBLOCK.
AfterApp(m, event, effects) ==
    IF Passes(effects, "PassUp", "Block") THEN "handler"
    ELSE IF Passes(effects, "PassUp", "Unblock") THEN "free"
    ELSE IF event.type = "BlockReturned" /\ app[m] = "handler" THEN "blocked"
    ELSE app[m]

StopIsReported(effects, asker) == \E i \in DOMAIN effects : effects[i] = GroupStopped(asker)

\* A member that takes over knows nothing: who is gone may have stopped the group, or some of it.
AtTakeOver(m) == "new"

\* The first member of a merged view, whatever it was before; the others follow.
AtMerge(m, v) == IF CoordinatorOf(v) = m THEN "new" ELSE "follows"

\* The knowledge of m, as creator of views, about its group.
AfterMaker(m, action, event, effects) ==
    IF event.type = "MergeViewInstalled" /\ action # "Misuse" THEN AtMerge(m, event.view)
    ELSE IF StopIsReported(effects, ForViews) THEN "stopped"
    ELSE IF action = "TakeOver" THEN AtTakeOver(m)
    ELSE IF action = "DecideView" THEN "decided"
    ELSE IF action = "SuspendGroup" THEN "suspends"
    ELSE IF action = "ResumeGroup" THEN "free"
    ELSE maker[m]

\* The other coordinators leave their groups as they are until the merged view comes, or they give up.
AfterMakers(m, action, event, effects, known) ==
    LET Waits(x) ==
            /\ action = "Merge" /\ x \in up /\ CoordinatorOf(local[x].view) = x
            /\ installed[x] \in known[Len(known)].preds
    IN [x \in Member |-> IF x = m THEN AfterMaker(m, action, event, effects)
                         ELSE IF Waits(x) THEN "merges" ELSE maker[x]]

AfterTransfer(m, action, effects) ==
    IF StopIsReported(effects, ForState) THEN "asks"
    ELSE IF action = "AskForState" THEN "waits"
    ELSE IF action \in {"TakeState", "GiveUp"} THEN "none"
    ELSE transfer[m]

\* Events that are passed up, as VirtualSynchrony sees them.
ReceivedAs(m, event) == <<installed[m], event.sender, event.message.seqno>>

\* A state is how often each multicast was applied to it. A member that joined has none before a state transfer.
NoState == {<<0, "", 0, 0>>}
Applied(s, r) ==
    IF s = NoState THEN s
    ELSE LET times == {x \in s : <<x[1], x[2], x[3]>> = r}
         IN s \cup {<<r[1], r[2], r[3], Cardinality(times) + 1>>}

MemberStep(s, e) == Step(s, e)

\* Wires without what is on its way to m. (What it sent itself still arrives.)
Deaf(wires, m) == [f \in Member |-> [t \in Member |-> IF t = m THEN <<>> ELSE wires[f][t]]]

\* A member that has taken over, and begun m, counts out some member before itself: m hears that with its first view.
HasToHear(m) ==
    /\ MaxFalseSuspicions > 0 /\ InView(local[m])
    /\ \E y \in up \cap Unsuspected(local[m]) :
        /\ maker[y] \notin {"follows", "gone"} /\ m \notin local[y].suspected
        /\ \E x \in (Members(local[m]) \cap local[y].suspected) \ local[m].suspected : Before(local[y], x, y)

\* Member m takes the step that Flush gives, and has view number k of `known` then; `taken`: the copies of
\* multicasts that it consumes.
ApplyWith(action, m, event, consumed, taken, given, known, k) ==
    /\ HasToHear(m) => action = "Detect"
    /\ \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, given, event, consumed, step)
        /\ up' = up /\ life' = life
        /\ wire' = AfterStep(wire, m, consumed, step.effects, up)
        /\ views' = known
        /\ installed' = [installed EXCEPT ![m] = k]
        /\ app' = [app EXCEPT ![m] = AfterApp(m, event, step.effects)]
        /\ fetches' = [fetches EXCEPT ![m] = AfterFetches(m, step)]
        /\ maker' = AfterMakers(m, action, event, step.effects, known)
        /\ transfer' = [transfer EXCEPT ![m] = AfterTransfer(m, action, step.effects)]
        /\ \E logs \in {IF known = views THEN log ELSE Append(log, Channel!NoCasts(known[Len(known)]))} :
           \E cuts \in {IF known = views THEN settled ELSE Append(settled, Channel!NoArrivals)} :
           \E sends \in {MulticastsOf(step.effects)} :
            IF k # installed[m]
            THEN /\ log' = logs
                 /\ settled' = [cuts EXCEPT ![k] = Channel!Came(m, @)]
                 /\ Channel!Forgets(m)
                 /\ copies' = Useful(copies \ taken, m, step.state, k)
            ELSE /\ log' = Channel!Casts(logs, m, k, Payloads(sends))
                 /\ settled' = cuts
                 /\ got' = IF Passes(step.effects, "PassUp", "Deliver")
                           THEN [got EXCEPT ![m] = @ \cup {ReceivedAs(m, event)}]
                           ELSE got
                 /\ copies' = Useful((copies \ taken) \cup
                                     (IF sends = <<>> THEN {} ELSE NewCopies(m, k, sends)), m, step.state, k)

Apply(action, m, event, consumed) == ApplyWith(action, m, event, consumed, {}, None, views, installed[m])

\* An application makes of what is passed up what it likes.
Applies(m) ==
    state' = IF MaxStateTransfers = 0 \/ got'[m] = got[m] THEN state
             ELSE [state EXCEPT ![m] = Applied(@, CHOOSE r \in got'[m] : r \notin got[m])]

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

\* Variables that no member's step changes.
beside == <<cast, offers, wishes, answers, state, spent>>

-----------------------------------------------------------------------------
(* Messages arrive *)

\* The next message from x to m, if it has this type.
Receive(action, m, x, type, event) ==
    \E i \in Arrivals(x, m) :
        /\ wire[x][m][i].type = type
        /\ Apply(action, m, [type |-> event, sender |-> x, message |-> wire[x][m][i]],
                 {Packet(x, m, wire[x][m][i])})
        /\ UNCHANGED beside

StartFlushFrom(m, x) == Receive("ReceiveStartFlush", m, x, "START_FLUSH", "StartFlushReceived")
FlushCompletedFrom(m, x) ==
    Receive("ReceiveFlushCompleted", m, x, "FLUSH_COMPLETED", "FlushCompletedReceived")
ReconcileFrom(m, x) == Receive("ReceiveReconcile", m, x, "RECONCILE", "ReconcileReceived")
StopFlushFrom(m, x) == Receive("ReceiveStopFlush", m, x, "STOP_FLUSH", "StopFlushReceived")

ReceiveStartFlush(m) == m \in up /\ \E x \in Member : StartFlushFrom(m, x)
ReceiveFlushCompleted(m) == m \in up /\ \E x \in Member : FlushCompletedFrom(m, x)
ReceiveReconcile(m) == m \in up /\ \E x \in Member : ReconcileFrom(m, x)
ReceiveStopFlush(m) == m \in up /\ \E x \in Member : StopFlushFrom(m, x)

-----------------------------------------------------------------------------
(* The application *)

\* The payload says which of the sender's multicasts it is.
AppSends(m) ==
    /\ m \in up /\ cast[m] < Casts[m]
    /\ InView(local[m])
    /\ Apply("AppSends", m, [type |-> "SendRequested", payload |-> cast[m] + 1], {})
    /\ cast' = [cast EXCEPT ![m] = @ + 1]
    /\ UNCHANGED <<offers, wishes, answers, state, spent>>

ReturnBlock(m) ==
    /\ m \in up /\ app[m] = "handler"
    /\ Apply("ReturnBlock", m, [type |-> "BlockReturned"], {})
    /\ UNCHANGED beside

-----------------------------------------------------------------------------
(* The layer of reliable multicasts *)

DataOf(c) == Data(views[c.view].id, c.seqno, log[c.view][c.sender][c.seqno])

DataEvent(c) == [type |-> "DataReceived", sender |-> c.sender, message |-> DataOf(c)]

\* The layer below, by its guards; and the conjuncts of ReliableMulticast that it does not keep here, as FLUSH can do without
\* them. (An ablation has one more. That a copy is of what was multicast, and arrives once, is made so.)
Below == INSTANCE Windows
LayerLacks == {"InItsView", "OfItsIncarnation", "OwnAtOnce"}

MessageOf(c) == Below!Message(c.view, views[c.view].lives[c.sender], c.sender, c.seqno)

IsOfItsView(m, c) == c.view = installed[m] /\ c.sender \in DOMAIN local[m].delivered

\* The highest seqno that the layer may deliver: none is too high for a member that is not frozen.
TopOf(s, c) == IF s.frozen THEN s.limit[c.sender] ELSE c.seqno

\* A member has its own multicast before any other has: it delivers it in the step in which it sends it.
SenderHas(m, c) == m = c.sender \/ installed[c.sender] # c.view \/ c.seqno <= local[c.sender].delivered[c.sender]

\* Is it next of its sender, and not held back? What is of another view arrives at once, and is ignored.
MayArrive(m, c) ==
    /\ "OwnAtOnce" \notin LayerLacks => SenderHas(m, c)
    /\ Below!MayReach(MessageOf(c), installed[m], views[installed[m]].lives, {}, LayerLacks \cup {"NotForged"})
    /\ IsOfItsView(m, c) =>
        Below!MayDeliver(MessageOf(c), local[m].delivered[c.sender], TopOf(local[m], c), LayerLacks)

ReceiveData(m) ==
    /\ m \in up
    /\ \E c \in copies :
        /\ c.to = m
        /\ MayArrive(m, c)
        /\ ApplyWith("ReceiveData", m, DataEvent(c), {}, {c}, None, views, installed[m])
    /\ Applies(m)
    /\ UNCHANGED <<cast, offers, wishes, answers, spent>>

\* x is up, in the incarnation that m's view lists.
IsPresent(x, m) == x \in up /\ Has(views[installed[m]], x, life[x])

\* The layer below of m asks another's, which sends what m lacks; if the named member crashes, the message may be lost
\* with it.
Retransmit(m) ==
    /\ m \in up
    /\ \E f \in fetches[m] :
        /\ IsPresent(f.holder, m)
        /\ copies' = copies \cup {Copy(f.holder, m, f.sender, installed[m], n) :
                                    n \in local[m].delivered[f.sender] + 1 .. f.upto}
        /\ fetches' = [fetches EXCEPT ![m] = @ \ {f}]
        /\ Environment("Retransmit", m, [holder |-> f.holder, sender |-> f.sender, upto |-> f.upto], {})
    /\ UNCHANGED <<local, views, installed, life, up, log, settled, got, wire, app, cast, users, state, spent>>

-----------------------------------------------------------------------------
(* Views *)

IsMerged(v) == Cardinality(v.preds) > 1

InstallEvent(v) ==
    IF IsMerged(v)
    THEN [type |-> "MergeViewInstalled", view |-> ViewOf(v), subgroups |-> {views[j].id : j \in v.preds}]
    ELSE [type |-> "ViewInstalled", view |-> ViewOf(v)]

\* The contract with the layer that makes views; the conjuncts that it does not keep: none (a defect in the place of
\* nothing).
CallersLack == {}
SuspectsOfAll == [m \in Member |-> local[m].suspected]
AskedBy == {m \in Member : maker[m] = "suspends"}
GivenTo == {m \in Member : maker[m] \in {"stopped", "decided", "merges"}}
Requests ==
    INSTANCE StopRequests WITH Off <- CallersLack, suspects <- SuspectsOfAll, asked <- AskedBy, given <- GivenTo

\* One comes from view number j to view number k.
Precedes(j, k) == Requests!Precedes(j, k)

Follows(j, k) == j \in views[k].preds

\* m is the first member that it does not suspect itself.
IsActing(m) == Requests!Acts(m)

\* Where m is to take over, y has answered: its view is m's or next to it, and it refuses whom m counts out
\* before itself. (A joiner that lacks m's view refuses the views of those: Unrefused. When it begins with what m
\* sends it refuses them at once: HasToHear.)
HasAnswered(y, m) ==
    /\ y \in up
    /\ IF InView(local[y])
       THEN /\ \/ installed[y] = installed[m] \/ Follows(installed[y], installed[m])
               \/ Follows(installed[m], installed[y])
            /\ \A x \in Members(local[y]) : Before(local[m], x, m) => x \in local[y].suspected
       ELSE y \in views[installed[m]].joins /\ IsPresent(y, m)

\* x was with m before the merged view number k. Another member receives it from its own coordinator, or from a member
\* that was with it.
WasWith(m, x, k) ==
    IsMerged(views[k]) => \E j \in views[k].preds : {m, x} \subseteq DOMAIN views[j].lives

\* The views after m's that the members that answered have.
Newer(m) ==
    {k \in DOMAIN views :
        /\ m \in DOMAIN views[k].lives /\ Follows(installed[m], k)
        /\ \E y \in Unsuspected(local[m]) : installed[y] = k}

\* (Who wants to leave does not take over: there may be a view without it. It goes.)
MayTakeOver(m) ==
    /\ m \in up /\ maker[m] = "follows" /\ InView(local[m])
    /\ m \notin wishes /\ IsActing(m)
    /\ \A y \in Unsuspected(local[m]) \ {m} : HasAnswered(y, m)

Offered(m, k, set) == {[from |-> m, to |-> x, view |-> k] : x \in (set \cap up) \ {m}}

\* After a false suspicion who is counted out may live, and its view be on its way to joiners.
Unrefused(m) ==
    {o \in offers : ~MayBeApart \/ InView(local[o.to]) \/ o.to \in local[m].suspected
                        \/ o.from \notin local[m].suspected}

\* The newest view goes to all who lack it. If m lacks it itself it installs it first.
TakeOver(m) ==
    /\ MayTakeOver(m)
    /\ LET newer == Newer(m)
           k == IF newer = {} THEN installed[m] ELSE CHOOSE k \in newer : TRUE
           lack == {x \in DOMAIN views[k].lives :
                        x \notin local[m].suspected /\ installed[x] # k /\ WasWith(m, x, k)}
       IN
       /\ offers' = Unrefused(m) \cup Offered(m, k, lack)
       /\ IF newer # {} THEN ApplyWith("TakeOver", m, InstallEvent(views[k]), {}, {}, None, views, k)
          ELSE /\ maker' = [maker EXCEPT ![m] = AtTakeOver(m)]
               /\ Environment("TakeOver", m, None, {})
               /\ UNCHANGED <<local, layers, app, transfer>>
    /\ UNCHANGED <<cast, wishes, answers, state, spent>>

\* Nothing more is awaited than the contract says. (An acknowledgement may be on its way: then m does what it does later.)
AwaitsNoMore(m) == TRUE

\* It makes the views of its group.
Makes(m) == maker[m] \in {"new", "free", "decided"}

MayLetIn(m) ==
    {x \in Joiners \cap up : installed[x] = 0 /\ x \notin Members(local[m])}

HasToDecide(m) ==
    local[m].suspected # {} \/ wishes \cap Members(local[m]) \cap up # {} \/ MayLetIn(m) # {}

\* A coordinator of another group: neither of the two is in the other's view.
IsApart(m, x) ==
    /\ x \in up /\ maker[x] \notin {"follows", "gone"} /\ CoordinatorOf(local[x].view) = x
    /\ Members(local[x]) \cap Members(local[m]) = {}

CouldMerge(m) ==
    /\ MaxMerges > 0 /\ CoordinatorOf(local[m].view) = m
    /\ \E x \in Member : IsApart(m, x) /\ (maker[x] \in {"free", "decided"} => spent.merges < MaxMerges)

\* The group is stopped only to be merged.
OnlyToMerge(m) == maker[m] # "new" /\ ~HasToDecide(m)

MaySuspend(m) ==
    /\ m \in up /\ Makes(m)
    /\ Requests!MayAsk(m) /\ AwaitsNoMore(m)
    /\ IF OnlyToMerge(m) THEN spent.merges < MaxMerges /\ CouldMerge(m) ELSE TRUE

SuspendGroup(m) ==
    /\ MaySuspend(m)
    /\ Apply("SuspendGroup", m, [type |-> "Suspend", asker |-> ForViews], {})
    /\ IF OnlyToMerge(m) THEN Spend("merges") ELSE UNCHANGED spent
    /\ UNCHANGED <<cast, offers, wishes, answers, state>>

MayResume(m) ==
    /\ m \in up /\ maker[m] \in {"stopped", "decided"} \cup (IF "ResumesOwnStop" \in CallersLack THEN {"new"} ELSE {})
    /\ Requests!MayResume(m, m \in GivenTo) /\ AwaitsNoMore(m) /\ ~HasToDecide(m)
    /\ IF MergeMayFail \/ maker[m] = "decided" THEN TRUE ELSE ~CouldMerge(m)

ResumeGroup(m) ==
    /\ MayResume(m)
    /\ Apply("ResumeGroup", m, [type |-> "Resume", asker |-> ForViews], {})
    /\ UNCHANGED beside

\* Its group is stopped: views may be decided.
MayDecide(m) ==
    /\ m \in up
    /\ \/ maker[m] = "stopped"
       \/ "DecidesWhenStopped" \in CallersLack /\ maker[m] \notin {"follows", "gone"} /\ Requests!HaveView(m)
    /\ Requests!MayDecide(m \in GivenTo) /\ AwaitsNoMore(m) /\ HasToDecide(m)

RECURSIVE InSomeOrder(_)
InSomeOrder(set) ==
    IF set = {} THEN <<>> ELSE LET x == CHOOSE x \in set : TRUE IN <<x>> \o InSomeOrder(set \ {x})

\* FVB-09: M - S - L + J.
NextView(m, leave, join) ==
    LET Stays(x) == x \notin local[m].suspected \cup leave
        members == SelectSeq(local[m].view.members, Stays) \o InSomeOrder(join)
    IN DecidedView(ViewId(local[m].view.id.counter + 1, m), members, {installed[m]},
                   [x \in MembersOf([members |-> members]) |->
                        IF x \in join THEN life[x] ELSE views[installed[m]].lives[x]], join)

\* m decides the next view and sends it. If the view excludes m, m is gone, and resumes no member.
DecideView(m) ==
    /\ MayDecide(m)
    /\ \E leave \in SUBSET (wishes \cap Members(local[m]) \cap up) : \E join \in SUBSET MayLetIn(m) :
        /\ Cardinality(leave) + Cardinality(join) <= MaxRequestsPerView
        /\ \E v \in {NextView(m, leave, join)} :
            /\ v.members # local[m].view.members /\ v.members # <<>>
            /\ offers' = {o \in offers : o.to # m} \cup Offered(m, Len(views) + 1, DOMAIN v.lives)
            /\ IF m \in DOMAIN v.lives
               THEN ApplyWith("DecideView", m, InstallEvent(v), {}, {}, None,
                              Append(views, v), Len(views) + 1)
               ELSE /\ views' = Append(views, v)
                    /\ log' = Append(log, Channel!NoCasts(v))
                    /\ settled' = Append(settled, Channel!NoArrivals)
                    /\ Environment("DecideView", m, None, {})
                    /\ maker' = [maker EXCEPT ![m] = "gone"]
                    /\ UNCHANGED <<local, installed, life, up, got, copies, fetches, wire, app, transfer>>
    /\ UNCHANGED <<cast, wishes, answers, state, spent>>

\* Its group is stopped, and it has nothing to do but to resume it.
IsReady(m) == m \in up /\ maker[m] = "stopped" /\ AwaitsNoMore(m) /\ ~HasToDecide(m)

MergedView(set) ==
    LET preds == {installed[c] : c \in set}
        members == UNION {DOMAIN views[j].lives : j \in preds}
        counters == {views[j].id.counter : j \in preds}
        above == CHOOSE n \in counters : \A i \in counters : i <= n
    IN DecidedView(ViewId(above + 1, FirstOf(set)), Sorted(members), preds, [x \in members |-> life[x]], {})

\* Coordinators have agreed. The first of them has decided, and installs; the others wait, and leave their
\* groups as they are.
Partners(m) ==
    IF MaxMerges = 0 \/ ~IsReady(m) \/ CoordinatorOf(local[m].view) # m THEN {}
    ELSE {others \in SUBSET {c \in Member : IsApart(m, c) /\ IsReady(c)} :
            /\ others # {} /\ FirstOf(others \cup {m}) = m
            /\ \A c, d \in others : c # d => IsApart(c, d)}

Merge(m) ==
    /\ \E others \in Partners(m) :
        /\ \E v \in {MergedView(others \cup {m})} :
            \E k \in {Len(views) + 1} :
            /\ offers' = {o \in offers : o.to # m}
                         \cup {[from |-> m, to |-> x, view |-> k] :
                                x \in (others \cup Members(local[m])) \cap (up \ {m})}
            /\ ApplyWith("Merge", m, InstallEvent(v), {}, {}, None, Append(views, v), k)
    /\ UNCHANGED <<cast, wishes, answers, state, spent>>

\* The merged view reaches a coordinator, which sends it to its members.
TakeMerged(m) ==
    /\ m \in up /\ maker[m] = "merges"
    /\ \E o \in offers :
        /\ o.to = m /\ installed[m] \in views[o.view].preds
        /\ offers' = (offers \ {o}) \cup Offered(m, o.view, Members(local[m]))
        /\ ApplyWith("TakeMerged", m, InstallEvent(views[o.view]), {}, {}, [view |-> o.view], views, o.view)
    /\ UNCHANGED <<cast, wishes, answers, state, spent>>

\* Its timer fires, or the merge is cancelled.
MustGiveUp(m) == m \in up /\ maker[m] = "merges" /\ ~\E o \in offers : o.to = m

GiveUpMerge(m) ==
    /\ m \in up /\ maker[m] = "merges"
    /\ IF MergeMayFail THEN TRUE ELSE MustGiveUp(m)
    /\ offers' = {o \in offers : o.to # m}
    /\ maker' = [maker EXCEPT ![m] = "stopped"]
    /\ Environment("GiveUpMerge", m, None, {})
    /\ UNCHANGED <<local, layers, app, cast, wishes, transfer, answers, state, spent>>

\* A joiner is sent a view when its maker knows that all old members have it.
MayBeSent(o) == Requests!MayJoin(o.from, o.view)

MayInstall(o) ==
    /\ maker[o.to] # "merges" /\ Has(views[o.view], o.to, life[o.to])
    /\ o.from \notin local[o.to].suspected
    /\ IF installed[o.to] = 0 THEN o.to \in views[o.view].joins /\ MayBeSent(o)
       ELSE Follows(installed[o.to], o.view)

InstallView(m) ==
    /\ m \in up
    /\ \E o \in offers :
        /\ o.to = m /\ MayInstall(o)
        /\ ApplyWith("InstallView", m, InstallEvent(views[o.view]), {}, {}, [view |-> o.view], views, o.view)
        /\ offers' = {p \in offers : p.to # m \/ ~Precedes(p.view, o.view)}
    /\ UNCHANGED <<cast, wishes, answers, state, spent>>

WishToLeave(m) ==
    /\ spent.leaves < MaxLeaves
    /\ m \in up /\ m \in Leavers /\ m \notin wishes
    /\ InView(local[m])
    /\ wishes' = wishes \cup {m}
    /\ Spend("leaves")
    /\ Environment("WishToLeave", m, None, {})
    /\ UNCHANGED <<local, layers, app, cast, maker, offers, transfer, answers, state>>

\* A view without m follows its own, or m would have to take over, or m is the last member.
MayDepart(m) ==
    /\ m \in up \cap wishes
    /\ \/ \E k \in DOMAIN views : Follows(installed[m], k) /\ m \notin DOMAIN views[k].lives
       \/ maker[m] = "follows" /\ IsActing(m)
       \/ maker[m] = "stopped" /\ Members(local[m]) = {m}

Gone(m) ==
    /\ up' = up \ {m}
    /\ copies' = {c \in copies : c.to # m}
    /\ fetches' = [fetches EXCEPT ![m] = {}]
    /\ app' = [app EXCEPT ![m] = "free"]
    /\ transfer' = [transfer EXCEPT ![m] = "none"]

Depart(m) ==
    /\ MayDepart(m)
    /\ Gone(m)
    /\ wire' = Deaf(wire, m)
    /\ offers' = {o \in offers : o.to # m}
    /\ answers' = {a \in answers : a.to # m}
    /\ Environment("Depart", m, None, {})
    /\ UNCHANGED <<local, views, installed, life, log, settled, got, cast, wishes, maker, state, spent>>

-----------------------------------------------------------------------------
(* State transfer *)

HasState(m) == state[m] # NoState

\* No further condition on the member that wants a state. (Where that is too much to search a model puts a bound
\* here.)
MayAsk(m) == TRUE

AskForState(m) ==
    /\ spent.states < MaxStateTransfers
    /\ m \in up \cap Requesters /\ InView(local[m]) /\ transfer[m] = "none" /\ MayAsk(m)
    /\ Apply("AskForState", m, [type |-> "Suspend", asker |-> ForState], {})
    /\ Spend("states")
    /\ UNCHANGED <<cast, offers, wishes, answers, state>>

\* It asks any member for its state, as of what it has delivered. A member that is elsewhere by then does not answer.
MayGive(p, m) ==
    /\ m \in up /\ transfer[m] = "asks" /\ p \in up \ {m}
    /\ HasState(p) /\ installed[p] = installed[m] /\ local[p].delivered = local[m].delivered

GiveState(p) ==
    /\ \E m \in Requesters :
        /\ MayGive(p, m)
        /\ answers' = answers \cup {[to |-> m, from |-> p, view |-> installed[p],
                                     digest |-> local[p].delivered, state |-> state[p]]}
        /\ answers' # answers
        /\ Environment("GiveState", p, [to |-> m], {})
    /\ UNCHANGED <<local, layers, app, cast, maker, offers, wishes, transfer, state, spent>>

\* It sets the state that stands for what it has delivered itself.
StandsFor(a, m) == a.view = installed[m] /\ a.digest = local[m].delivered

TakeState(m) ==
    /\ m \in up /\ transfer[m] = "asks"
    /\ \E a \in answers :
        /\ a.to = m /\ StandsFor(a, m)
        /\ state' = [state EXCEPT ![m] = a.state]
        /\ answers' = {b \in answers : b.to # m}
        /\ Apply("TakeState", m, [type |-> "Resume", asker |-> ForState], {})
    /\ UNCHANGED <<cast, offers, wishes, spent>>

\* No member is there to ask; or it does not want a state any more.
NoStateProvider(m) ==
    transfer[m] = "asks" /\ \A p \in Unsuspected(local[m]) \ {m} : p \in up /\ ~HasState(p)

GiveUp(m) ==
    /\ m \in up /\ transfer[m] # "none"
    /\ StateTransferMayCancel \/ NoStateProvider(m)
    /\ Apply("GiveUp", m, [type |-> "Resume", asker |-> ForState], {})
    /\ answers' = {b \in answers : b.to # m}
    /\ UNCHANGED <<cast, offers, wishes, state, spent>>

-----------------------------------------------------------------------------
(* Faults, and the failure detector *)

\* Some first part of what it sent to each other member arrives, and some of the views and the states. Of its
\* copies, those behind a lost one are useless: they are lost with it.
Crash(m) ==
    /\ spent.crashes < MaxCrashes
    /\ m \in up /\ m \in Crashers
    /\ LET most == CHOOSE n \in {Len(wire[m][t]) : t \in Member} : \A t \in Member : Len(wire[m][t]) <= n IN
       \E keep \in [up \ {m} -> 0 .. most] :
        /\ \A t \in up \ {m} : keep[t] <= Len(wire[m][t])
        /\ wire' = [f \in Member |-> [t \in Member |->
                        IF t \notin up \/ t = m THEN <<>>
                        ELSE IF f = m THEN SubSeq(wire[m][t], 1, keep[t]) ELSE wire[f][t]]]
    /\ \E lost \in SUBSET {c \in copies : c.via = m /\ c.to # m} :
        /\ \A c \in lost : \A d \in copies :
            (d.via = m /\ d.to = c.to /\ d.sender = c.sender /\ d.view = c.view /\ d.seqno > c.seqno) =>
                d \in lost
        /\ copies' = {c \in copies : c.to # m} \ lost
    /\ \E lost \in SUBSET {o \in offers : o.from = m} : offers' = {o \in offers : o.to # m} \ lost
    /\ \E lost \in SUBSET {a \in answers : a.from = m} : answers' = {a \in answers : a.to # m} \ lost
    /\ up' = up \ {m}
    /\ fetches' = [fetches EXCEPT ![m] = {}]
    /\ app' = [app EXCEPT ![m] = "free"]
    /\ transfer' = [transfer EXCEPT ![m] = "none"]
    /\ Spend("crashes")
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, views, installed, life, log, settled, got, cast, wishes, maker, state>>

\* A joiner that has crashed or left comes back as its next incarnation, and knows nothing. (What the former one has on
\* its way still arrives.)
Restart(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \in Joiners \ up /\ installed[m] # 0
    /\ life' = [life EXCEPT ![m] = @ + 1]
    /\ up' = up \cup {m}
    /\ installed' = [installed EXCEPT ![m] = 0]
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ got' = [got EXCEPT ![m] = {}]
    /\ maker' = [maker EXCEPT ![m] = "follows"]
    /\ wishes' = wishes \ {m}
    /\ state' = [state EXCEPT ![m] = NoState]
    /\ Spend("restarts")
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<views, log, settled, copies, fetches, wire, app, cast, offers, transfer, answers>>

\* ClosedOnlyByViews: the connection to x may be closed, as the sender has a view without it.
MayClose(m, x) == x \notin Members(local[m])

\* UNICAST closes the connection to a process that is not in the view; messages in transit are lost from some message
\* on.
Close(m) ==
    /\ spent.closes < MaxCloses
    /\ m \in up /\ InView(local[m])
    /\ \E x \in up :
        /\ MayClose(m, x)
        /\ \E n \in 0 .. Len(wire[m][x]) - 1 : wire' = [wire EXCEPT ![m][x] = SubSeq(@, 1, n)]
    /\ Spend("closes")
    /\ Environment("Close", m, None, {})
    /\ UNCHANGED <<local, views, installed, life, up, log, settled, got, copies, fetches, app, cast, users, state>>

\* x suspects m, or has a view without it and is not merely behind. (Only after a false suspicion, or a merge
\* that not all took part in.)
DistrustsOrExcludes(x, m) ==
    /\ MayBeApart
    /\ m \in local[x].suspected
       \/ (InView(local[x]) /\ m \notin Members(local[x]) /\ ~Precedes(installed[x], installed[m])
           /\ ~(m \in wishes /\ MayDepart(m)))

\* A member that is to take over queries m, which then refuses the seniors that the other suspects.
Refuses(m, x) ==
    \E y \in Unsuspected(local[m]) \ {m} :
        /\ y \in up /\ IsActing(y) /\ m \notin local[y].suspected
        /\ x \in local[y].suspected /\ Before(local[y], x, y)

\* m has installed a merged view, or a successor of it, that x lacks, and no member has the view in transit to x. (x
\* may install it all the same, if it takes over and finds a member there.)
NeverComes(x, m) ==
    /\ MaxMerges > 0 /\ x \in up
    /\ Precedes(installed[x], installed[m]) /\ installed[x] # installed[m]
    /\ \E k \in DOMAIN views :
        IsMerged(views[k]) /\ Follows(installed[x], k) /\ Precedes(k, installed[m])
            /\ ~\E o \in offers :
                /\ o.view = k
                /\ IF o.to = x THEN MayInstall(o) \/ maker[x] = "merges"
                   ELSE maker[o.to] = "merges" /\ installed[o.to] = installed[x]
                        /\ o.to \notin local[x].suspected

\* Members that the failure detector, or GMS, has to report to m.
Reports(m) ==
    {x \in Unsuspected(local[m]) \ {m} :
        ~IsPresent(x, m) \/ DistrustsOrExcludes(x, m) \/ NeverComes(x, m) \/ (MayBeApart /\ Refuses(m, x))}

\* (After a failed merge, a member that suspects a live member counts as one with a false suspicion.)
Detect(m) ==
    /\ m \in up
    /\ \E x \in Reports(m) :
        /\ Apply("Detect", m, [type |-> "Suspected", suspect |-> x], {})
        /\ spent' = IF MaxFalseSuspicions = 0 /\ x \in up THEN [spent EXCEPT !.false = 1] ELSE spent
    /\ UNCHANGED <<cast, offers, wishes, answers, state>>

\* Any member may be suspected falsely, at any time. (As MayAsk.)
MayDoubt(m, x) == TRUE

SuspectFalsely(m) ==
    /\ spent.false < MaxFalseSuspicions
    /\ m \in up /\ m \in FalseSuspecters
    /\ \E x \in (Unsuspected(local[m]) \ {m}) \ Reports(m) :
        /\ MayDoubt(m, x)
        /\ Apply("SuspectFalsely", m, [type |-> "Suspected", suspect |-> x], {})
    /\ Spend("false")
    /\ UNCHANGED <<cast, offers, wishes, answers, state>>

\* Events that no correct caller, layer or peer causes. Each changes nothing.
Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ m \in up
    /\ LET s == local[m]
           early == IF s.frozen THEN {x \in DOMAIN s.delivered : s.delivered[x] = s.limit[x]} ELSE {}
       IN
       \E event \in
        {[type |-> "MergeViewInstalled", view |-> View(9, "Z", <<"Z">>), subgroups |-> {}],
         [type |-> "Suspected", suspect |-> m], [type |-> "Suspected", suspect |-> "Z"],
         [type |-> "StartFlushReceived", sender |-> "Z", message |-> StartFlush(s.view.id, 9, ForViews)],
         [type |-> "StopFlushReceived", sender |-> "Z", message |-> StopFlush(s.view.id)],
         [type |-> "ReconcileReceived", sender |-> "Z",
          message |-> ReconcileMessage(s.view.id, 9, NoVector, [x \in {} |-> ""])],
         [type |-> "FlushCompletedReceived", sender |-> "Z", message |-> FlushCompleted(s.view.id, 9, NoVector)],
         [type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>)]}
        \cup {[type |-> "FlushCompletedReceived", sender |-> x,
               message |-> FlushCompleted(s.view.id, s.run.round, NoVector)] : x \in s.run.want}
        \cup {[type |-> "Resume", asker |-> x] : x \in {ForViews, ForState} \ s.wants}
        \cup (IF ~InView(s) THEN {} ELSE
                {[type |-> "ReconcileReceived", sender |-> CoordinatorOf(s.view),
                  message |-> ReconcileMessage(s.view.id, 9, [x \in Members(s) |-> s.delivered[x] + 1],
                                               [x \in Members(s) |-> m])]})
        \cup (IF app[m] = "handler" THEN {} ELSE {[type |-> "BlockReturned"]})
        \cup (IF InView(s) THEN {} ELSE
                {[type |-> "SendRequested", payload |-> 9], [type |-> "Suspend", asker |-> ForState]})
        \cup {[type |-> "DataReceived", sender |-> x,
               message |-> Data(s.view.id, s.delivered[x] + 1, 9)] : x \in early} :
        Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED <<cast, offers, wishes, answers, state>>

-----------------------------------------------------------------------------
Init ==
    /\ Channel!Init
    /\ local = [m \in Member |->
                    IF m \notin FoundersSet THEN Start(m)
                    ELSE LET v == First[installed[m]]
                         IN [Start(m) EXCEPT !.view = ViewOf(v), !.delivered = Zeros(DOMAIN v.lives)]]
    /\ wire = EmptyWire
    /\ copies = {}
    /\ fetches = [m \in Member |-> {}]
    /\ app = [m \in Member |-> "free"]
    /\ cast = [m \in Member |-> 0]
    /\ wishes = {}
    /\ maker = [m \in Member |->
                    IF \E i \in DOMAIN First : First[i].members[1] = m THEN "free" ELSE "follows"]
    /\ offers = {}
    /\ transfer = [m \in Member |-> "none"]
    /\ answers = {}
    /\ state = [m \in Member |-> IF m \in FoundersSet THEN {} ELSE NoState]
    /\ spent = [restarts |-> 0, crashes |-> 0, false |-> 0, leaves |-> 0, states |-> 0, merges |-> 0, misuses |-> 0, closes |-> 0]
    /\ act = NoAct

Next(m) ==
    \/ ReceiveStartFlush(m)
    \/ ReceiveFlushCompleted(m)
    \/ ReceiveReconcile(m)
    \/ ReceiveStopFlush(m)
    \/ AppSends(m)
    \/ ReturnBlock(m)
    \/ ReceiveData(m)
    \/ Retransmit(m)
    \/ TakeOver(m)
    \/ SuspendGroup(m)
    \/ ResumeGroup(m)
    \/ DecideView(m)
    \/ Merge(m)
    \/ TakeMerged(m)
    \/ GiveUpMerge(m)
    \/ InstallView(m)
    \/ WishToLeave(m)
    \/ Depart(m)
    \/ AskForState(m)
    \/ GiveState(m)
    \/ TakeState(m)
    \/ GiveUp(m)
    \/ Crash(m)
    \/ Restart(m)
    \/ Close(m)
    \/ Detect(m)
    \/ SuspectFalsely(m)
    \/ Misuse(m)

Spec == Init /\ [][\E m \in Member : Next(m)]_vars

-----------------------------------------------------------------------------
(* A bound of some searches: what a member does by itself happens at once     *)

\* BLOCK returns, and what m sent to itself arrives.
IsDue(m) == m \in up /\ (app[m] = "handler" \/ wire[m][m] # <<>>)
Due(m) ==
    IF app[m] = "handler" THEN ReturnBlock(m)
    ELSE StartFlushFrom(m, m) \/ FlushCompletedFrom(m, m) \/ ReconcileFrom(m, m) \/ StopFlushFrom(m, m)

SomethingIsDue == \E m \in Member : IsDue(m)
TakesDueStep == \E m \in Member : IsDue(m) /\ Due(m)

PromptNext ==
    IF SomethingIsDue
    THEN /\ TakesDueStep    \* (A conjunction with a single conjunct: TLC would take the bare name for an action.)
    ELSE \E m \in Member : Next(m)

PromptSpec == Init /\ [][PromptNext]_vars
=============================================================================
