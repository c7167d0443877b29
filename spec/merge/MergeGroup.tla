----------------------------- MODULE MergeGroup -----------------------------
(******************************************************************************)
(* Subgroups whose members run Merge, and what is around them, as freely      *)
(* as it may behave:                                                          *)
(* - Unicasts arrive once, at any time and in any order, as long as both      *)
(*   ends live and the connection holds. A connection that breaks, in one     *)
(*   direction, loses all that is on its way; a partition breaks several.     *)
(*   When a member crashes, any part of what it has on its way is lost.       *)
(*   The next incarnation may be given any part of what was sent to it.       *)
(* - Discovery finds any part of the coordinators, each time another one.     *)
(* - Timers fire when nothing else can end the merge. Early firing has a      *)
(*   budget, and so has a timer that fires after it was stopped.              *)
(* - The membership service (GMS) is modelled by its effects. The first       *)
(*   member of a view that does not suspect the members before it excludes    *)
(*   the members that it suspects, admits joiners, and installs the view at   *)
(*   once. The others install the view when it reaches them, however late.    *)
(*   The service decides nothing while Merge has asked it to hold the view.   *)
(*   It suspects the dead, members of other branches, members that cannot     *)
(*   install its merged view any more (they never acknowledge it), and        *)
(*   members that Merge names. False suspicions have a budget.                *)
(* - Members leave: a participant departs, and is excluded; a coordinator     *)
(*   decides the view without itself, and departs. An address that crashed or *)
(*   left may come back, as a new incarnation that knows nothing, while       *)
(*   messages of the former one are on their way. It founds a group by        *)
(*   itself, or is let in.                                                    *)
(* - Applications multicast; the layer below delivers in order, each          *)
(*   member at its own pace. It purges a multicast that every member of the   *)
(*   view has delivered, unless a promised digest forbids it.                 *)
(*                                                                            *)
(* `views` and `installed` are what Membership speaks of; no step of a        *)
(* member depends on them. The claims are in MergeClaims.                     *)
(******************************************************************************)
EXTENDS Merge, Acts

CONSTANTS
    Member,             \* all addresses
    First,              \* the views at the start: a sequence
    StartView,          \* [Member -> the number of the view installed at the start; 0: it may join]
    Crashers,           \* bound: who may crash
    Casters,            \* bound: who multicasts
    FalseSuspecters,    \* bound: who suspects falsely
    DiscoveryFinds,     \* discovery finds "any" of the coordinators, or "all"
    SequentialMerges,   \* bound: discovery leaves merges the time that they take (MayDiscover)
    MaxMerges,          \* bound: merges begun, together
    MaxCrashes,         \* fault budget
    MaxBrokenLinks,     \* fault budget: connections, each in one direction
    MaxEarlyTimeouts,   \* fault budget: timers that fire during the merge
    MaxLateTimeouts,    \* fault budget: timers that fire though they were stopped
    MaxFalseSuspicions, \* fault budget: false suspicions
    MaxJoins,           \* bound
    MaxLeaves,          \* bound
    MaxRestarts,        \* bound: incarnations after the first, of all addresses together
    MaxCasts,           \* bound: multicasts of the applications, together
    MaxMisuses,         \* fault budget: what no correct caller does
    Inheritors          \* bound: whose next incarnation is given what was sent to the former one

VARIABLES
    network,        \* the messages on their way: a set of packets
    up,             \* the members that have not crashed or left
    life,           \* [Member -> its present incarnation]
    held,           \* the members whose membership service decides nothing, as Merge asked
    suspected,      \* [Member -> members of its view that its membership service suspects]
    timers,         \* [Member -> the numbers of its merges whose timers run]
    cast,           \* [Member -> how many multicasts it has sent]
    seen,           \* [Member -> [Member -> highest seqno of its multicasts delivered]]
    purged,         \* [Member -> the highest of its own multicasts that its store has purged]
    kept,           \* [Member -> the promises that it keeps: the incarnation that each was made to, and its own
                    \* deliveries then]
    spent,          \* budgets used
    views,          \* the decided views, in order of decision (Membership), with their digests
    installed       \* [Member -> the number of the view installed; 0: none] (Membership)

vars ==
    <<local, network, up, life, held, suspected, timers, cast, seen, purged, kept, spent, views, installed,
      act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view ==
    <<local, network, up, life, held, suspected, timers, cast, seen, purged, kept, spent, views, installed>>

\* Variables that no member's step changes by itself; and the same without the budgets.
around == <<up, life, cast, purged>>
world == <<around, spent>>

-----------------------------------------------------------------------------
(* Effects of a step on a member's environment *)

Packet(sender, to, message) == [sender |-> sender, to |-> to, message |-> message]

\* The messages on their way after a step: what was consumed is gone, what is sent to the dead is lost.
\* (What the next incarnation may be given waits for it: see GmsGroup.)
NextLife(m) == m \o "+"
Inherits(m) == m \in Inheritors /\ spent.restarts < MaxRestarts
ForTheNext(packets) == {[p EXCEPT !.to = NextLife(@)] : p \in {p \in packets : Inherits(p.to)}}

AfterStep(net, sender, consumed, effects, live) ==
    LET sent == {i \in DOMAIN effects : effects[i].type = "Send"}
        there == (net \ consumed) \cup {Packet(sender, effects[i].to, effects[i].message) : i \in sent}
    IN IF Inheritors = {} THEN {p \in there : p.to \in live}
       ELSE {p \in there : p.to \in live \/ p.to \notin Member}
            \cup ForTheNext(consumed \cup {p \in there : p.to \notin live})

Passed(effects, way, type) ==
    {effects[i].event : i \in {i \in DOMAIN effects : effects[i].type = way /\ effects[i].event.type = type}}
Down(effects, type) == Passed(effects, "PassDown", type)
Asks(effects, type) == Down(effects, type) # {}

IsEffect(effects, type, name) == \E i \in DOMAIN effects : effects[i].type = type /\ effects[i].name = name

\* The multicasts that m has delivered, by member of its view.
DeliveredIn(m, decision) == [x \in MembersOf(decision) |-> seen[m][x]]
DeliveredBy(m) == DeliveredIn(m, local[m].decision)

AfterHeld(m, effects) ==
    IF Asks(effects, "ResumeViews") THEN held \ {m} ELSE IF Asks(effects, "SuspendViews") THEN held \cup {m}
    ELSE held

\* A member that is not in the view is suspected no more.
AfterSuspected(m, step) ==
    [suspected EXCEPT ![m] = (@ \cup {e.suspect : e \in Down(step.effects, "Suspected")})
                             \cap MembersOf(step.state.decision)]

AfterTimers(m, step, fired) ==
    LET number == step.state.begun
        running == timers[m] \ fired
    IN [timers EXCEPT ![m] =
            IF IsEffect(step.effects, "SetTimer", TimerOf(number)) THEN {number}
            ELSE {n \in running : ~IsEffect(step.effects, "CancelTimer", TimerOf(n))}]

\* Windows begin where the digest says, but not before what was delivered in an earlier view with that sender:
\* the layer below remembers that, so that nothing is delivered twice.
AfterWindows(m, effects) ==
    LET told == Down(effects, "WindowsAdded")
    IN IF told = {} THEN seen
       ELSE LET d == (CHOOSE e \in told : TRUE).digest
            IN [seen EXCEPT ![m] = [x \in Member |-> IF x \in DOMAIN d THEN Greatest(@[x], d[x]) ELSE @[x]]]

\* A promise is kept until it is withdrawn, or a view has whom it was made to.
AfterKept(m, step) ==
    LET gone == {e.to : e \in Down(step.effects, "PromiseWithdrawn")} \cup MembersOf(step.state.decision)
        LifeOf(x) == IF Leads(step.state) THEN life[x] ELSE step.state.merge.life
        made == {[to |-> e.to, life |-> LifeOf(e.to), vector |-> DeliveredBy(m)] :
                    e \in Down(step.effects, "DigestPromised")}
    IN [kept EXCEPT ![m] = {k \in @ \cup made : k.to \notin gone}]

-----------------------------------------------------------------------------
(* A step as Membership sees it *)

\* View number j comes before view number k.
RECURSIVE Ancestor(_, _)
Ancestor(j, k) == j < k /\ (j \in views[k].preds \/ \E i \in views[k].preds : Ancestor(j, i))

IsMerged(k) == Cardinality(views[k].preds) > 1

Numbers(ids) == {k \in DOMAIN views : views[k].id \in ids}

NumberIn(known, decision) ==
    IF \E k \in DOMAIN known : known[k].id = decision.id /\ known[k].members = decision.members
    THEN CHOOSE k \in DOMAIN known : known[k].id = decision.id /\ known[k].members = decision.members
    ELSE 0

\* `follows`: identifiers.
AsView(d, follows, joins) ==
    [id |-> d.id, members |-> d.members, preds |-> Numbers(follows),
     lives |-> [m \in MembersOf(d) |-> d.lives[m]], joins |-> joins, digest |-> d.digest]

\* The merged views that a step announces and no member has decided before.
Decided(m, step) ==
    {AsView(step.state.decision, e.subgroups, {}) :
        e \in {e \in Passed(step.effects, "PassUp", "MergeViewInstalled") : NumberIn(views, e.view) = 0}}

-----------------------------------------------------------------------------
\* Member m takes the step that Merge gives. `fired`: the timer that fires; `new`: a view that the membership
\* service decides with it.
ApplyWith(action, m, event, consumed, fired, new) ==
    \E step \in {Step(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ network' = AfterStep(network, m, consumed, step.effects, up)
        /\ held' = AfterHeld(m, step.effects)
        /\ suspected' = AfterSuspected(m, step)
        /\ timers' = AfterTimers(m, step, fired)
        /\ seen' = AfterWindows(m, step.effects)
        /\ kept' = AfterKept(m, step)
        /\ \E decided \in {new \cup Decided(m, step)} :
            views' = IF decided = {} THEN views ELSE Append(views, CHOOSE v \in decided : TRUE)
        /\ installed' = [installed EXCEPT ![m] = NumberIn(views', step.state.decision)]

Apply(action, m, event, consumed) == ApplyWith(action, m, event, consumed, {}, {})

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Messages arrive *)

EventOf(p) ==
    LET type == p.message.type IN
    IF type = "MERGE_REQ"
    THEN [type |-> "MergeReqReceived", sender |-> p.sender, message |-> p.message,
          digest |-> DeliveredBy(p.to)]
    ELSE [type |-> CASE type = "MERGE_RSP" -> "MergeRspReceived"
                     [] type = "INSTALL_MERGE_VIEW" -> "InstallMergeViewReceived"
                     [] type = "MERGE_VIEW" -> "MergeViewReceived"
                     [] type = "CANCEL_MERGE" -> "CancelMergeReceived",
          sender |-> p.sender, message |-> p.message]

Receive(action, m, senders, type) ==
    /\ \E p \in network :
        /\ p.to = m /\ p.message.type = type /\ p.sender \in senders
        /\ Apply(action, m, EventOf(p), {p})
    /\ UNCHANGED world

MergeReqFrom(senders, m) == Receive("ReceiveMergeReq", m, senders, "MERGE_REQ")
MergeRspFrom(senders, m) == Receive("ReceiveMergeRsp", m, senders, "MERGE_RSP")
InstallMergeViewFrom(senders, m) == Receive("ReceiveInstallMergeView", m, senders, "INSTALL_MERGE_VIEW")
MergeViewFrom(senders, m) == Receive("ReceiveMergeView", m, senders, "MERGE_VIEW")
CancelMergeFrom(senders, m) == Receive("ReceiveCancelMerge", m, senders, "CANCEL_MERGE")

ReceiveMergeReq(m) == m \in up /\ MergeReqFrom(Member, m)
ReceiveMergeRsp(m) == m \in up /\ MergeRspFrom(Member, m)
ReceiveInstallMergeView(m) == m \in up /\ InstallMergeViewFrom(Member, m)
ReceiveMergeView(m) == m \in up /\ MergeViewFrom(Member, m)
ReceiveCancelMerge(m) == m \in up /\ CancelMergeFrom(Member, m)

-----------------------------------------------------------------------------
(* Discovery and timers *)

Coordinators == {m \in up : Coordinates(local[m])}

DiscoverEvent(m, found) == [type |-> "DiscoverTimeout", found |-> found, digest |-> DeliveredBy(m)]

\* The timer of a merge fires.
TimeoutEvent(number) == [type |-> "MergeTimeout", number |-> number]

\* Nothing else will end the merge that m is in: nothing of it is on its way, and m leads, or who leads does
\* not any more.
MustTimeOut(m) ==
    LET id == local[m].merge IN
    /\ ~\E p \in network :
        p.to \in Member /\ p.message.type # "MERGE_VIEW" /\ p.message.merge_id = id
    /\ id.leader = m \/ id.leader \notin up \/ local[id.leader].merge # id

TimeOut(m) ==
    /\ m \in up
    /\ \E n \in timers[m] : MustTimeOut(m) /\ ApplyWith("TimeOut", m, TimeoutEvent(n), {}, {n}, {})
    /\ UNCHANGED world

TimeOutEarly(m) ==
    /\ spent.early < MaxEarlyTimeouts
    /\ m \in up
    /\ \E n \in timers[m] : ~MustTimeOut(m) /\ ApplyWith("TimeOutEarly", m, TimeoutEvent(n), {}, {n}, {})
    /\ Spend("early")
    /\ UNCHANGED around

\* It was stopped, and fires all the same.
TimeOutLate(m) ==
    /\ spent.late < MaxLateTimeouts
    /\ m \in up
    /\ \E n \in (1 .. local[m].begun) \ timers[m] :
        ApplyWith("TimeOutLate", m, TimeoutEvent(n), {}, {}, {})
    /\ Spend("late")
    /\ UNCHANGED around

-----------------------------------------------------------------------------
(* The membership service of each subgroup *)

\* The views of the membership service that m may install next.
NextOf(m) ==
    {k \in DOMAIN views :
        /\ ~IsMerged(k) /\ Has(views[k], m, life[m])
        /\ IF installed[m] = 0 THEN m \in views[k].joins ELSE installed[m] \in views[k].preds}

\* A merged view may come to m: it is on its way, to m or to its coordinator, which takes it.
MayCome(m) ==
    \/ Waits(local[m])
    \/ \E p \in network :
            \/ p.to = m /\ p.message.type = "MERGE_VIEW" /\ local[m].decision.id \in p.message.merged.follows
            \/ /\ p.to \in Member
               /\ p.message.type = "INSTALL_MERGE_VIEW" /\ p.message.merge_id = local[p.to].merge
               /\ p.to = m \/ installed[p.to] = installed[m]

\* m has yet to come to view number k.
Behind(m, k) ==
    installed[m] # 0 /\ Ancestor(installed[m], k) /\ Has(views[k], m, life[m])
        /\ (MayCome(m) \/ NextOf(m) # {})

\* The membership service of m counts on x.
CountsOn(m, x) ==
    /\ x \in up /\ x \notin suspected[m]
    /\ \/ installed[x] = installed[m]
       \/ Behind(x, installed[m])
       \/ Behind(m, installed[x])
       \/ m \in DOMAIN views[installed[m]].lives /\ installed[x] = 0 /\ NextOf(x) # {}

GoneFor(m) == {x \in MembersOf(local[m].decision) \ {m} : ~CountsOn(m, x)}

\* m is the first in its view that it counts on, has the newest view, and may change it.
Decides(m) ==
    /\ m \in up /\ installed[m] # 0 /\ m \notin held
    /\ \E gone \in {GoneFor(m)} :
        LET Stays(x) == x \notin gone
        IN Head(SelectSeq(local[m].decision.members, Stays)) = m
    /\ NextOf(m) = {} /\ ~MayCome(m)

DecisionEvent(decision) == [type |-> "DecisionInstalled", decision |-> decision]

\* The decision of m's membership service: these members, of which `joiners` begin.
NextDecision(m, members, joiners) ==
    LET own == local[m].decision
        lives == [x \in DOMAIN own.lives \cup joiners |-> IF x \in joiners THEN life[x] ELSE own.lives[x]]
    IN Decision(ViewId(own.id.counter + 1, m), members, own.id, lives, joiners, NoDigest)

Change(action, m, decision) ==
    ApplyWith(action, m, DecisionEvent(decision), {}, {},
              {AsView(decision, {decision.follows}, decision.joiners)})

\* Members that it suspects are excluded.
MustExclude(m) == Decides(m) /\ GoneFor(m) # {}

Exclude(m) ==
    /\ m \in up /\ MustExclude(m)
    /\ \E gone \in {GoneFor(m)} :
        LET Stays(x) == x \notin gone
        IN Change("Exclude", m, NextDecision(m, SelectSeq(local[m].decision.members, Stays), {}))
    /\ UNCHANGED world

\* The greatest counter of a view that an address, in any incarnation, has decided.
Used(x) == Max({0} \cup {views[k].id.counter : k \in {k \in DOMAIN views : views[k].id.creator = x}})

\* A joiner is let in. (Not where its address would come to decide a view with an identifier that a former
\* incarnation has used elsewhere: such a joiner founds a group by itself, and is merged.)
MayComeTo(x, m) == Used(x) <= local[m].decision.id.counter + 1

Admit(m) ==
    /\ spent.joins < MaxJoins
    /\ Decides(m) /\ GoneFor(m) = {}
    /\ \E x \in {x \in up : installed[x] = 0 /\ NextOf(x) = {} /\ MayComeTo(x, m)} :
        Change("Admit", m, NextDecision(m, Append(local[m].decision.members, x), {x}))
    /\ Spend("joins")
    /\ UNCHANGED around

\* An incarnation that is not the first, and in no view yet, is a group by itself. (Its view has an identifier
\* that no view had, as Membership asks of whoever decides views.)
MayFound(m) == m \in up /\ life[m] > 0 /\ installed[m] = 0 /\ NextOf(m) = {}

Found(m) ==
    /\ MayFound(m)
    /\ Change("Found", m,
              Decision(ViewId(Used(m) + 1, m), <<m>>, NoViewId, [x \in {m} |-> life[m]], {m}, NoDigest))
    /\ UNCHANGED world

\* A coordinator that leaves decides the view without itself.
OthersOf(m) == LET Stays(x) == x # m IN SelectSeq(local[m].decision.members, Stays)
ViewWithoutItself(m) == NextDecision(m, OthersOf(m), {})

\* A member leaves. A participant goes, and is left out. A coordinator decides the view without itself, and
\* goes.
Depart(m) ==
    /\ spent.leaves < MaxLeaves
    /\ m \in up /\ installed[m] # 0
    /\ IF CoordinatorOf(local[m].decision) # m THEN views' = views
       ELSE LET decision == ViewWithoutItself(m)
            IN /\ Decides(m) /\ GoneFor(m) = {} /\ Len(local[m].decision.members) > 1
               /\ views' = Append(views, AsView(decision, {decision.follows}, {}))
    /\ up' = up \ {m}
    /\ network' = {p \in network : p.to # m}
    /\ suspected' = [suspected EXCEPT ![m] = {}]
    /\ Spend("leaves")
    /\ Environment("Depart", m, None, {})
    /\ UNCHANGED <<local, life, held, timers, cast, seen, purged, kept, installed>>

\* A view of the membership service reaches a member.
InstallView(m) ==
    /\ m \in up
    /\ \E k \in NextOf(m) :
        LET v == views[k]
            lives == IF \E x \in up : installed[x] = k
                     THEN local[CHOOSE x \in up : installed[x] = k].decision.lives ELSE v.lives
            follows == IF installed[m] = 0 THEN NoViewId ELSE local[m].decision.id
        IN Apply("InstallView", m,
                 DecisionEvent(Decision(v.id, v.members, follows, lives, v.joins, NoDigest)), {})
    /\ UNCHANGED world

\* The view is there that a merged view, which came early, follows.
InstallEarly(m) ==
    /\ m \in up /\ Waits(local[m])
    /\ Apply("InstallEarly", m, [type |-> "EarlyTimeout"], {})
    /\ UNCHANGED world

SuspectFalsely(m) ==
    /\ spent.false < MaxFalseSuspicions
    /\ m \in up /\ m \in FalseSuspecters
    /\ \E x \in MembersOf(local[m].decision) \ {m} :
        /\ CountsOn(m, x)
        /\ suspected' = [suspected EXCEPT ![m] = @ \cup {x}]
    /\ Spend("false")
    /\ Environment("SuspectFalsely", m, None, {})
    /\ UNCHANGED <<local, network, up, life, held, timers, cast, seen, purged, kept, views, installed>>

-----------------------------------------------------------------------------
(* MERGE2: discovery is asked *)

\* In the end discovery leaves merges the time that they take: the last two begin when all before is over.
MayDiscover(m) ==
    SequentialMerges =>
        /\ \A x \in up : ~MustExclude(x) /\ NextOf(x) = {}
        /\ spent.merges + 2 >= MaxMerges => network = {} /\ \A x \in up : ~Merging(local[x])

Discover(m) ==
    /\ m \in Coordinators /\ ~Merging(local[m]) /\ MayDiscover(m)
    /\ \E found \in (IF DiscoveryFinds = "all" THEN {Coordinators} ELSE {f \in SUBSET Coordinators : m \in f}) :
        /\ Cardinality(found) > 1
        /\ Apply("Discover", m, DiscoverEvent(m, found), {})
        /\ local' # local => spent.merges < MaxMerges
        /\ spent' = IF local' = local THEN spent ELSE [spent EXCEPT !.merges = @ + 1]
    /\ UNCHANGED around

-----------------------------------------------------------------------------
(* Multicasts, and the purge of stable ones *)

MulticastData(m) ==
    /\ spent.casts < MaxCasts
    /\ m \in up /\ m \in Casters /\ installed[m] # 0
    /\ cast' = [cast EXCEPT ![m] = @ + 1]
    /\ seen' = [seen EXCEPT ![m][m] = @ + 1]
    /\ Spend("casts")
    /\ Environment("MulticastData", m, None, {})
    /\ UNCHANGED <<local, network, up, life, held, suspected, timers, purged, kept, views, installed>>

\* The next multicast of a member of its view, if that member's store still has it.
DeliverData(m) ==
    /\ m \in up /\ installed[m] # 0
    /\ \E x \in MembersOf(local[m].decision) \ {m} :
        /\ seen[m][x] < Nothing + cast[x]
        /\ seen[m][x] >= purged[x]
        /\ seen' = [seen EXCEPT ![m][x] = @ + 1]
        /\ Environment("DeliverData", m, [sender |-> x, seqno |-> seen[m][x] + 1], {})
    /\ UNCHANGED <<local, network, up, life, held, suspected, timers, cast, purged, kept, spent, views,
                   installed>>

\* All members of x's view have delivered its next multicast in that view, and no member was promised it.
MayPurge(x, n) ==
    /\ n < Nothing + cast[x] + 1
    /\ \A y \in MembersOf(local[x].decision) :
        /\ installed[y] = installed[x] /\ seen[y][x] >= n
        /\ \A k \in kept[y] : x \in DOMAIN k.vector => k.vector[x] >= n

PurgeData(x) ==
    /\ x \in up /\ installed[x] # 0
    /\ cast[x] > 0
    /\ MayPurge(x, purged[x] + 1)
    /\ purged' = [purged EXCEPT ![x] = @ + 1]
    /\ Environment("PurgeData", x, None, {})
    /\ UNCHANGED <<local, network, up, life, held, suspected, timers, cast, seen, kept, spent, views,
                   installed>>

-----------------------------------------------------------------------------
(* Faults *)

\* The crashed member's messages in transit may be lost, each copy by itself.
Crash(m) ==
    /\ spent.crashes < MaxCrashes
    /\ m \in up /\ m \in Crashers
    /\ up' = up \ {m}
    /\ \E lost \in SUBSET {p \in network : p.sender = m /\ p.to \in Member} :
        network' = {p \in network \ lost : p.to # m} \cup ForTheNext({p \in network : p.to = m})
    /\ held' = held \ {m}
    /\ timers' = [timers EXCEPT ![m] = {}]
    /\ suspected' = [suspected EXCEPT ![m] = {}]
    /\ Spend("crashes")
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, life, cast, seen, purged, kept, views, installed>>

\* An address comes back, as a new incarnation that knows nothing. (The layer below numbers on over all of
\* them; the store of the former one is gone. Where all is to come to rest, two merges are left for it.)
Restart(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \notin up
    /\ SequentialMerges => spent.merges + 2 <= MaxMerges
    /\ up' = up \cup {m}
    /\ life' = [life EXCEPT ![m] = @ + 1]
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ installed' = [installed EXCEPT ![m] = 0]
    /\ seen' = [seen EXCEPT ![m] = [x \in Member |-> IF x = m THEN Nothing + cast[m] ELSE Nothing]]
    /\ purged' = [purged EXCEPT ![m] = Nothing + cast[m]]
    /\ kept' = [kept EXCEPT ![m] = {}]
    /\ Spend("restarts")
    /\ \E again \in SUBSET {p \in network : p.to = NextLife(m)} :
        network' = {p \in network : p.to # NextLife(m)} \cup {[p EXCEPT !.to = m] : p \in again}
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<held, suspected, timers, cast, views>>

\* The connection from one member to another breaks, and is there again.
Break(m) ==
    /\ spent.breaks < MaxBrokenLinks
    /\ \E x \in {p.to : p \in {p \in network : p.sender = m}} \cap Member :
        network' = {p \in network : ~(p.sender = m /\ p.to = x)}
    /\ Spend("breaks")
    /\ Environment("Break", m, None, {})
    /\ UNCHANGED <<local, up, life, held, suspected, timers, cast, seen, purged, kept, views, installed>>

\* Events that no correct caller or peer causes. Each changes nothing.
Forged(m) ==
    LET id == MergeId("Z", 0, 1)
        merged == Merged(ViewId(9, "Z"), <<"Z">>, {NoViewId}, NoLives, NoDigest)
        mine == Merged(ViewId(9, "Z"), <<m>>, {local[m].decision.id}, NoLives, NoDigest)
    IN {[type |-> "DecisionInstalled", decision |-> NoDecision],
        [type |-> "MergeReqReceived", sender |-> m, message |-> MergeReq(id, NoDecision),
         digest |-> NoDigest],
        [type |-> "MergeRspReceived", sender |-> "Z",
         message |-> Accept(local[m].merge, NoDecision, NoDigest)],
        [type |-> "InstallMergeViewReceived", sender |-> "Z", message |-> InstallMergeView(id, merged)],
        [type |-> "InstallMergeViewReceived", sender |-> m,
         message |-> InstallMergeView(local[m].merge, mine)],
        [type |-> "MergeViewReceived", sender |-> "Z", message |-> MergeView(mine)],
        [type |-> "CancelMergeReceived", sender |-> "Z", message |-> CancelMerge(local[m].merge)]}

Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ m \in up
    /\ \E event \in Forged(m) : Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED around

-----------------------------------------------------------------------------
FirstDecision(m) ==
    IF StartView[m] = 0 THEN NoDecision
    ELSE LET v == First[StartView[m]]
         IN Decision(v.id, v.members,
                     IF v.preds = {} THEN NoViewId ELSE First[CHOOSE k \in v.preds : TRUE].id,
                     v.lives, {}, NoDigest)

Init ==
    /\ local = [m \in Member |-> [Start(m) EXCEPT !.decision = FirstDecision(m)]]
    /\ network = {}
    /\ up = Member
    /\ life = [m \in Member |-> 0]
    /\ held = {}
    /\ suspected = [m \in Member |-> {}]
    /\ timers = [m \in Member |-> {}]
    /\ cast = [m \in Member |-> 0]
    /\ seen = [m \in Member |-> [x \in Member |-> Nothing]]
    /\ purged = [m \in Member |-> Nothing]
    /\ kept = [m \in Member |-> {}]
    /\ spent = [merges |-> 0, crashes |-> 0, breaks |-> 0, early |-> 0, late |-> 0, false |-> 0, joins |-> 0,
                leaves |-> 0, restarts |-> 0, casts |-> 0, misuses |-> 0]
    /\ views = [k \in DOMAIN First |->
                    [id |-> First[k].id, members |-> First[k].members, preds |-> First[k].preds,
                     lives |-> First[k].lives, joins |-> First[k].joins, digest |-> NoDigest]]
    /\ installed = StartView
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ Discover(m)
        \/ ReceiveMergeReq(m)
        \/ ReceiveMergeRsp(m)
        \/ ReceiveInstallMergeView(m)
        \/ ReceiveMergeView(m)
        \/ ReceiveCancelMerge(m)
        \/ TimeOut(m)
        \/ TimeOutEarly(m)
        \/ TimeOutLate(m)
        \/ Exclude(m)
        \/ Admit(m)
        \/ Found(m)
        \/ Depart(m)
        \/ InstallView(m)
        \/ InstallEarly(m)
        \/ SuspectFalsely(m)
        \/ MulticastData(m)
        \/ DeliverData(m)
        \/ PurgeData(m)
        \/ Crash(m)
        \/ Restart(m)
        \/ Break(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
