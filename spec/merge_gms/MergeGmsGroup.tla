--------------------------- MODULE MergeGmsGroup ----------------------------
(***************************************************************************)
(* A group whose members run merging over GMS, and what is around them, as *)
(* freely as it may behave:                                                *)
(* - Unicasts arrive once, at any time and in any order, as long as both   *)
(*   ends live. When a member crashes, any part of its messages in transit *)
(*   is lost. A connection between members of different subgroups may      *)
(*   break and be made again: merging's messages in transit are lost, and  *)
(*   both members continue. Part of all messages of a member to processes  *)
(*   outside its view may be lost. And the next incarnation of a crashed   *)
(*   member may receive any part of the messages to the former one: see    *)
(*   GmsGroup.                                                             *)
(* - The failure detector (FailureDetector) reports a crash to every       *)
(*   member that has the crashed member in its view, or was asked by it    *)
(*   for admission. In the same way it reports that a member does not      *)
(*   count the watcher as a member any more. Reports about old views       *)
(*   arrive at any time. False suspicions have a budget.                   *)
(* - The layer above stops the group when it is asked to, and says so at   *)
(*   any time; it resumes the group when it is asked to, and only then.    *)
(* - Discovery (the module) finds some of the coordinators, and is asked   *)
(*   again while who would lead waits for the group; a joiner finds any    *)
(*   member that acts. An address that crashed or left may come back as a  *)
(*   new incarnation.                                                      *)
(* - Timers of merges fire when nothing else can end the merge; early      *)
(*   firing has a budget.                                                  *)
(* - Applications multicast, but who is stopped does not; the layer below  *)
(*   delivers in order, each member at its own pace. The group is said to  *)
(*   be stopped when all whom that reaches have delivered the same. (That  *)
(*   is FLUSH's.)                                                          *)
(*                                                                         *)
(* `views` and `installed` are what Membership speaks of; the failure      *)
(* detector knows who is a view behind. No other step depends on them.     *)
(***************************************************************************)
EXTENDS MergeGms, Acts

CONSTANTS
    Member,             \* all addresses
    First,              \* the views at the start: a sequence; who is in none may join
    Crashers,           \* bound: who may crash
    Leavers,            \* bound: who may leave
    FalseSuspecters,    \* bound: who suspects falsely
    Casters,            \* bound: who multicasts
    DiscoveryFinds,     \* discovery finds "any" of the coordinators that live, or members that are over, too ("stale"), or
                        \* "all" that live
    SequentialMerges,   \* bound: the last merge begins when all before it is over
    MaxMerges,          \* bound: how often discovery makes a coordinator want to lead a merge
    MaxCrashes,         \* fault budget
    MaxEarlyTimeouts,   \* fault budget: timers that fire during the merge
    MaxBrokenLinks,     \* fault budget: connections, each in one direction
    MaxFalseSuspicions, \* fault budget: false suspicions
    MaxJoins,           \* bound: how often some member asks to be let in
    MaxFounds,          \* bound: groups that are founded after the start
    MaxLeaves,          \* bound
    MaxRestarts,        \* bound: incarnations after the first, of all addresses together
    MaxCasts,           \* bound: multicasts of the applications, together
    MaxMisuses,         \* fault budget: what no correct caller or peer does
    MaxCloses,          \* fault budget: connections that are closed with something on its way (ClosedOnlyByViews)
    Inheritors,         \* bound: whose next incarnation is given what was sent to the former one
    AsksAgain           \* a joiner that is in no view asks again when nothing else is under way (AMB-29)

\* (A new incarnation numbers its multicasts from the first again. GmsGroup has both.)
ASSUME MaxRestarts = 0 \/ MaxCasts = 0

VARIABLES
    network,        \* the messages on their way: a set of packets
    up,             \* the members that have not crashed or left
    life,           \* [Member -> its present incarnation]
    stops,          \* the layers above: the members whose stop is not done yet (`asked`), those whose stop is done
                    \* (`given`), and the stopped members (`held`)
    answers,        \* [Member -> digests on their way up to it]
    cast,           \* [Member -> how many multicasts it has sent]
    seen,           \* [Member -> [Member -> highest seqno of its multicasts delivered]]
    kept,           \* [Member -> the promises that it keeps: the incarnation that each was made to, and its own
                    \* deliveries then]
    spent,          \* budgets used
    views,          \* the decided views, in order of decision (Membership)
    installed       \* [Member -> the number of the view installed; 0: none] (Membership)

vars == <<local, network, up, life, stops, answers, cast, seen, kept, spent, views, installed, act>>
view == <<local, network, up, life, stops, answers, cast, seen, kept, spent, views, installed>>

\* Variables that no member's step changes by itself; and the same without the budgets.
around == <<life, cast>>
world == <<around, spent>>

-----------------------------------------------------------------------------
(* Effects of a step on a member's environment *)

Packet(sender, to, message) == [sender |-> sender, to |-> to, message |-> message]

\* Packets for the next incarnation wait under this name: see GmsGroup.
NextLife(m) == m \o "+"
Inherits(m) == m \in Inheritors /\ spent.restarts < MaxRestarts
ForTheNext(packets) == {[p EXCEPT !.to = NextLife(@)] : p \in {p \in packets : Inherits(p.to)}}

AfterStep(net, sender, consumed, effects, live) ==
    LET sent == {i \in DOMAIN effects : effects[i].type = "Send"}
        there == (net \ consumed) \cup {Packet(sender, effects[i].to, effects[i].message) : i \in sent}
    IN IF Inheritors = {} THEN {p \in there : p.to \in live}
       ELSE {p \in there : p.to \in live \/ p.to \notin Member}
            \cup ForTheNext(consumed \cup {p \in there : p.to \notin live})

Events(effects, way, type) ==
    {effects[i].event : i \in {i \in DOMAIN effects : effects[i].type = way /\ effects[i].event.type = type}}
Down(effects, type) == Events(effects, "PassDown", type)
Up(effects, type) == Events(effects, "PassUp", type)

StoppedFor(asker) == [type |-> "GroupStopped", asker |-> asker]

Suspects(m) == local[m].gms.suspected
Merging(m) == M!Merging(local[m].merge)
ViewMembers(m) == MembersOf(Own(local[m]))

\* The members that m can stop and resume: they count m as a member.
Reaches(m, members) == {x \in members \cap up : x = m \/ m \in ViewMembers(x) \ Suspects(x)}

\* (A step that resumes the group may ask for it again. A member that installs a merged view, and is not its first,
\* needs the group no more: the first member will resume it.)
AfterStops(m, event, step) ==
    LET suspends == Up(step.effects, "Suspend") # {}
        resumes == Up(step.effects, "Resume") # {}
        answered == event.type = "GroupStopped" /\ m \in stops.asked
        counted == MembersOf(Own(step.state)) \ step.state.gms.suspected
        joins == Down(step.effects, "DigestSet") # {}
        follows == Up(step.effects, "MergeViewInstalled") # {} /\ ~G!IsActing(step.state.gms)
    IN IF step.state.gms.gone
       THEN [asked |-> stops.asked \ {m}, given |-> stops.given \ {m}, held |-> stops.held \ {m}]
       ELSE IF follows
       THEN [asked |-> stops.asked \ {m}, given |-> stops.given \ {m}, held |-> stops.held]
       ELSE [asked |-> IF suspends THEN stops.asked \cup {m}
                       ELSE IF answered THEN stops.asked \ {m} ELSE stops.asked,
             given |-> IF resumes \/ suspends THEN stops.given \ {m}
                       ELSE IF answered THEN stops.given \cup {m} ELSE stops.given,
             held |-> IF suspends THEN stops.held \cup Reaches(m, counted)
                      ELSE IF resumes THEN stops.held \ Reaches(m, counted)
                      ELSE IF joins THEN stops.held \cup {m} ELSE stops.held]

-----------------------------------------------------------------------------
(* A step as Membership sees it *)

\* View number j comes before view number k.
RECURSIVE Ancestor(_, _)
Ancestor(j, k) == j < k /\ (j \in views[k].preds \/ \E i \in views[k].preds : Ancestor(j, i))

IsMerged(k) == Cardinality(views[k].preds) > 1
IsView(k, d) == views[k].id = d.id /\ views[k].members = d.members

NumberIn(known, d) ==
    IF d = G!NoDecision THEN 0
    ELSE CHOOSE k \in DOMAIN known : known[k].id = d.id /\ known[k].members = d.members

\* The view that a step decided; for a coordinator that leaves, the view that it sends.
NewDecisions(m, step) ==
    {d \in (IF step.state.gms.gone
            THEN {step.effects[i].message.decision : i \in {i \in DOMAIN step.effects :
                    step.effects[i].type = "Send" /\ step.effects[i].message.type = "NEW_VIEW"}}
            ELSE {}) \cup (IF Own(step.state) = Own(local[m]) THEN {} ELSE {Own(step.state)}) :
        ~\E k \in DOMAIN views : IsView(k, d)}

\* The views that it follows: of a merged one several.
Follows(d, effects) ==
    LET said == {e \in Up(effects, "MergeViewInstalled") : e.view.id = d.id}
    IN IF said = {} THEN {d.follows} ELSE UNION {e.subgroups : e \in said}

AsView(d, effects) ==
    [id |-> d.id, members |-> d.members,
     preds |-> {k \in DOMAIN views : views[k].id \in Follows(d, effects)},
     lives |-> [x \in MembersOf(d) |-> d.lives[x]], joins |-> d.joiners]

\* The multicasts that m has delivered, by member of its view.
DeliveredBy(m) == [x \in ViewMembers(m) |-> seen[m][x]]

\* A joiner's windows start where the digest says. A member's windows for members that are new to it start where the
\* merged digest says, but not before its own deliveries of them in an earlier view.
AfterWindows(m, effects) ==
    LET told == Down(effects, "DigestSet") \cup Down(effects, "WindowsAdded")
    IN IF told = {} THEN seen
       ELSE LET d == (CHOOSE e \in told : TRUE).digest
            IN [seen EXCEPT ![m] = [x \in Member |-> IF x \in DOMAIN d THEN Greatest(@[x], d[x]) ELSE @[x]]]

\* A promise is kept until it is withdrawn, or until a view has the member to which it was made. (GMS knows the
\* incarnation of a joiner, and merging that of a merge leader. A member that is asked to merge is a coordinator.)
AfterKept(m, step) ==
    LET gone == {e.to : e \in Down(step.effects, "PromiseWithdrawn")} \cup MembersOf(Own(step.state))
        s == step.state
        LifeOf(x) == IF x \in G!Promisees(s.gms) THEN G!PromisedLife(s.gms, x)
                     ELSE IF s.merge.merge.leader = x THEN s.merge.merge.life ELSE life[x]
        made == {[to |-> e.to, life |-> LifeOf(e.to), vector |-> DeliveredBy(m)] :
                    e \in Down(step.effects, "DigestPromised")}
    IN {k \in kept[m] \cup made : k.to \notin gone}

-----------------------------------------------------------------------------
\* Member m takes the step that MergeGms gives. `given`: the question whose answer it consumes.
ApplyWith(action, m, event, consumed, given) ==
    \E step \in {Step(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ up' = IF step.state.gms.gone THEN up \ {m} ELSE up
        /\ network' = AfterStep(network, m, consumed, step.effects, up')
        /\ stops' = AfterStops(m, event, step)
        /\ answers' = [answers EXCEPT ![m] =
                IF step.state.gms.gone THEN {}
                ELSE (@ \ given) \cup {[asker |-> e.asker, request |-> e.request, digest |-> DeliveredBy(m)] :
                                        e \in Down(step.effects, "GetDigest")}]
        /\ seen' = AfterWindows(m, step.effects)
        /\ kept' = [kept EXCEPT ![m] = AfterKept(m, step)]
        /\ \E new \in {NewDecisions(m, step)} :
            views' = IF new = {} THEN views ELSE Append(views, AsView(CHOOSE d \in new : TRUE, step.effects))
        /\ installed' = [installed EXCEPT ![m] =
                IF Own(step.state) = Own(local[m]) THEN @ ELSE NumberIn(views', Own(step.state))]

Apply(action, m, event, consumed) == ApplyWith(action, m, event, consumed, {})

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Messages arrive *)

Names ==
    [JOIN_REQ |-> "JoinReq", JOIN_RSP |-> "JoinRsp", JOIN_REFUSED |-> "JoinRefused", LEAVE_REQ |-> "LeaveReq", LEAVE_RSP |-> "LeaveRsp",
     NEW_VIEW |-> "NewView", VIEW_ACK |-> "ViewAck", QUERY |-> "Query", ANSWER |-> "Answer",
     PROBE |-> "Probe", MERGE_REQ |-> "MergeReq", MERGE_RSP |-> "MergeRsp",
     INSTALL_MERGE_VIEW |-> "InstallMergeView", MERGE_VIEW |-> "MergeView",
     CANCEL_MERGE |-> "CancelMerge"]

EventOf(p) == [type |-> Names[p.message.type] \o "Received", sender |-> p.sender, message |-> p.message]

\* A message of a type arrives at m.
Receive(action, m, type) ==
    /\ m \in up
    /\ \E p \in network : p.to = m /\ p.message.type = type /\ Apply(action, m, EventOf(p), {p})
    /\ UNCHANGED world

ReceiveJoinReq(m) == Receive("ReceiveJoinReq", m, "JOIN_REQ")
ReceiveJoinRsp(m) == Receive("ReceiveJoinRsp", m, "JOIN_RSP")
ReceiveJoinRefused(m) == Receive("ReceiveJoinRefused", m, "JOIN_REFUSED")
ReceiveLeaveReq(m) == Receive("ReceiveLeaveReq", m, "LEAVE_REQ")
ReceiveLeaveRsp(m) == Receive("ReceiveLeaveRsp", m, "LEAVE_RSP")
ReceiveNewView(m) == Receive("ReceiveNewView", m, "NEW_VIEW")
ReceiveViewAck(m) == Receive("ReceiveViewAck", m, "VIEW_ACK")
ReceiveQuery(m) == Receive("ReceiveQuery", m, "QUERY")
ReceiveAnswer(m) == Receive("ReceiveAnswer", m, "ANSWER")
ReceiveProbe(m) == Receive("ReceiveProbe", m, "PROBE")
ReceiveMergeReq(m) == Receive("ReceiveMergeReq", m, "MERGE_REQ")
ReceiveMergeRsp(m) == Receive("ReceiveMergeRsp", m, "MERGE_RSP")
ReceiveInstallMergeView(m) == Receive("ReceiveInstallMergeView", m, "INSTALL_MERGE_VIEW")
ReceiveMergeView(m) == Receive("ReceiveMergeView", m, "MERGE_VIEW")
ReceiveCancelMerge(m) == Receive("ReceiveCancelMerge", m, "CANCEL_MERGE")

-----------------------------------------------------------------------------
(* Applications, the layers above and below *)

\* The conjuncts that the program that runs members does not keep: none (a defect in the place of nothing).
IncarnationsLack == {}
Incarnations == INSTANCE Incarnations WITH Off <- IncarnationsLack

\* m founds a group of its own, also when it has asked others: merging brings the groups together.
FoundGroup(m) ==
    /\ spent.founds < MaxFounds
    /\ m \in up /\ ~InView(local[m]) /\ life[m] = 0
    /\ Incarnations!MayBegin(m) /\ Incarnations!MayFound
    /\ Apply("FoundGroup", m, [type |-> "JoinRequested", coordinator |-> m, life |-> 0], {})
    /\ Spend("founds")
    /\ UNCHANGED around

Leave(m) ==
    /\ spent.leaves < MaxLeaves
    /\ m \in up \cap Leavers /\ InView(local[m]) /\ ~local[m].gms.leaving
    /\ Apply("Leave", m, [type |-> "LeaveRequested"], {})
    /\ Spend("leaves")
    /\ UNCHANGED around

\* All whom m reaches in its view have delivered the same, and all that is there of it.
IsStill(m) ==
    LET those == {x \in Reaches(m, ViewMembers(m) \ Suspects(m)) : installed[x] = installed[m]}
    IN \A x \in those : \A y \in ViewMembers(m) :
        /\ y \in those => seen[x][y] = Nothing + cast[y]
        /\ seen[x][y] = seen[m][y]

StopGroup(m) ==
    /\ m \in up \cap stops.asked /\ IsStill(m)
    /\ Apply("StopGroup", m, StoppedFor(G!Self), {})
    /\ UNCHANGED world

DigestEvent(a) == [type |-> "DigestGiven", asker |-> a.asker, request |-> a.request, digest |-> a.digest]

GiveDigest(m) ==
    /\ m \in up
    /\ \E a \in answers[m] :
        ApplyWith("GiveDigest", m, DigestEvent(a), {}, {a})
    /\ UNCHANGED world

\* m multicasts, and delivers its own copy at once.
MulticastData(m) ==
    /\ spent.casts < MaxCasts
    /\ m \in up \cap Casters /\ InView(local[m]) /\ m \notin stops.held
    /\ cast' = [cast EXCEPT ![m] = @ + 1]
    /\ seen' = [seen EXCEPT ![m][m] = @ + 1]
    /\ Spend("casts")
    /\ Environment("MulticastData", m, None, {})
    /\ UNCHANGED <<local, network, up, life, stops, answers, kept, views, installed>>

\* The next multicast of a member of its view, from the sender or from a member that has it.
DeliverData(m) ==
    /\ m \in up /\ InView(local[m])
    /\ \E x \in ViewMembers(m) \ {m} :
        /\ seen[m][x] < Nothing + cast[x]
        /\ seen' = [seen EXCEPT ![m][x] = @ + 1]
        /\ Environment("DeliverData", m, [sender |-> x, seqno |-> seen[m][x] + 1], {})
    /\ UNCHANGED <<local, network, up, life, stops, answers, cast, kept, spent, views, installed>>

-----------------------------------------------------------------------------
(* Faults, and the failure detector *)

\* The crashed member's messages in transit may be lost, each copy by itself.
Crash(m) ==
    /\ spent.crashes < MaxCrashes
    /\ m \in up \cap Crashers
    /\ up' = up \ {m}
    /\ \E lost \in SUBSET {p \in network : p.sender = m /\ p.to \in Member} :
        network' = {p \in network \ lost : p.to # m} \cup ForTheNext({p \in network : p.to = m})
    /\ answers' = [answers EXCEPT ![m] = {}]
    /\ stops' = [asked |-> stops.asked \ {m}, given |-> stops.given \ {m}, held |-> stops.held \ {m}]
    /\ kept' = [kept EXCEPT ![m] = {}]
    /\ Spend("crashes")
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, life, cast, seen, views, installed>>

Restart(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \notin up /\ Incarnations!MayReturn(m)
    /\ up' = up \cup {m}
    /\ life' = [life EXCEPT ![m] = @ + 1]
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ installed' = [installed EXCEPT ![m] = 0]
    /\ Spend("restarts")
    /\ \E again \in SUBSET {p \in network : p.to = NextLife(m)} :
        network' = {p \in network : p.to # NextLife(m)} \cup {[p EXCEPT !.to = m] : p \in again}
    /\ Environment("Restart", m, None, {})
    /\ seen' = [seen EXCEPT ![m] = [x \in Member |-> Nothing]]
    /\ UNCHANGED <<stops, answers, cast, kept, views>>

\* The connection from one member to another breaks, and is there again.
Break(m) ==
    /\ spent.breaks < MaxBrokenLinks
    /\ \E x \in {p.to : p \in {p \in network : p.sender = m}} \cap Member :
        \E lost \in {{p \in network : p.sender = m /\ p.to = x /\ p.message.type \in
                        {"MERGE_REQ", "MERGE_RSP", "INSTALL_MERGE_VIEW", "CANCEL_MERGE"}}} :
            lost # {} /\ network' = network \ lost
    /\ Spend("breaks")
    /\ Environment("Break", m, None, {})
    /\ UNCHANGED <<local, up, life, stops, answers, cast, seen, kept, views, installed>>

\* ClosedOnlyByViews: the connection to x may be closed, as the sender has a view without it.
MayClose(m, x) == InView(local[m]) /\ x \notin ViewMembers(m)

\* UNICAST closes the connection to a process that is not in the view; part of the messages in transit is lost.
Close(m) ==
    /\ spent.closes < MaxCloses
    /\ m \in up
    /\ \E x \in up \ {m} :
        /\ MayClose(m, x)
        /\ \E lost \in SUBSET {p \in network : p.sender = m /\ p.to = x} :
            lost # {} /\ network' = network \ lost
    /\ Spend("closes")
    /\ Environment("Close", m, None, {})
    /\ UNCHANGED <<local, up, life, stops, answers, cast, seen, kept, views, installed>>

\* The members that m watches, with their incarnations.
Joins(s) == {s.queue[i] : i \in {i \in DOMAIN s.queue : s.queue[i].kind = "join"}}
Watched(m) ==
    LET s == local[m].gms IN
    ({<<x, s.decision.lives[x]>> : x \in ViewMembers(m) \ s.suspected}
     \cup {<<r.member, r.life>> : r \in Joins(s)})
    \ {<<m, life[m]>>}

\* FailureDetector has the members' views and suspicions; and what it is asked for (a defect in the place of nothing).
DetectorLacks == {}
SuspectsOfAll == [m \in Member |-> Suspects(m)]
FailureDetector == INSTANCE FailureDetector WITH Off <- DetectorLacks, suspects <- SuspectsOfAll

\* The state transfer of m has something to say, and is allowed to.
Reports(m) == {w \in Watched(m) : FailureDetector!MustReport(m, w[1], w[2])}
Reportable(m) == {w \in Watched(m) : FailureDetector!MayReport(m, w[1], w[2])}

Suspect(action, m, x) == Apply(action, m, [type |-> "Suspected", suspect |-> x], {})

Detect(m) ==
    /\ m \in up
    /\ \E w \in Reportable(m) : Suspect("Detect", m, w[1])
    /\ UNCHANGED world

SuspectFalsely(m) ==
    /\ spent.false < MaxFalseSuspicions
    /\ m \in up \cap FalseSuspecters
    /\ \E w \in Watched(m) \ Reportable(m) : Suspect("SuspectFalsely", m, w[1])
    /\ Spend("false")
    /\ UNCHANGED around

\* Events that no correct caller, layer or peer causes. Each changes nothing.
Forged(m) ==
    {[type |-> "Suspected", suspect |-> m],
     [type |-> "DigestGiven", asker |-> Self, request |-> local[m].asked, digest |-> G!NoDigest],
     [type |-> "NewViewReceived", sender |-> "Z", message |-> G!NewView(G!Founding("Z"))],
     [type |-> "MergeViewReceived", sender |-> "Z", message |-> M!MergeView(local[m].merged)]}

Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ m \in up
    /\ \E event \in Forged(m) : Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED around

-----------------------------------------------------------------------------
(* Discovery, and the timers of merges *)

Coordinators == {m \in up : Coordinates(local[m])}

\* Members that coordinate, or crashed while they did.
Former == {m \in Member : Coordinates(local[m])}

\* The conjuncts that Discovery does not keep (a defect in the place of nothing).
DiscoveryLacks == {}
Discovery == INSTANCE Discovery WITH Off <- DiscoveryLacks, coordinators <- Coordinators, former <- Former

\* The answers that discovery may find, and those of them in which m would lead.
Found(m) ==
    CASE DiscoveryFinds = "all" -> {Discovery!All \cup {m}}
      [] DiscoveryFinds = "any" -> Discovery!MayFind(m)
      [] DiscoveryFinds = "stale" -> Discovery!MayFindStale(m)
Leading(m) == {f \in Found(m) : Cardinality(f) > 1 /\ M!FirstOf(f) = m}

CanDiscover(m) ==
    /\ m \in Coordinators /\ Leading(m) # {}
    /\ local[m].holds = "no" /\ ~Wishes(local[m])

\* No member has anything to do but look for others.
IsIdle(m) ==
    /\ m \notin stops.asked /\ answers[m] = {} /\ ~Merging(m) /\ Reports(m) = {}
    /\ \A p \in network : p.to # m

MayDiscover(m) ==
    /\ CanDiscover(m) /\ spent.merges < MaxMerges
    /\ (SequentialMerges /\ spent.merges + 1 = MaxMerges) => \A x \in up : IsIdle(x)

Discover(m) ==
    /\ MayDiscover(m)
    /\ \E found \in Leading(m) : Apply("Discover", m, [type |-> "DiscoverTimeout", found |-> found], {})
    /\ Spend("merges")
    /\ UNCHANGED around

\* It waits for the group, and discovery finds others than before, or no member any more.
DiscoverOthers(m) ==
    /\ m \in Coordinators /\ IsWish(local[m], "DiscoverTimeout")
    /\ \E found \in Found(m) \ {local[m].wish.found} :
        Apply("DiscoverOthers", m, [type |-> "DiscoverTimeout", found |-> found], {})
    /\ UNCHANGED world

\* Nothing else will end the merge that m is in.
MustTimeOut(m) ==
    LET id == local[m].merge.merge IN
    /\ ~\E p \in network :
        /\ p.to \in Member /\ p.message.type \in {"MERGE_REQ", "MERGE_RSP", "INSTALL_MERGE_VIEW", "CANCEL_MERGE"}
        /\ p.message.merge_id = id
    /\ ~\E x \in up : IsWish(local[x], "MergeReqReceived") /\ local[x].wish.message.merge_id = id
    /\ id.leader = m \/ id.leader \notin up \/ local[id.leader].merge.merge # id

TimeOut(m) ==
    /\ m \in up /\ Merging(m)
    /\ Apply("TimeOut", m, [type |-> "MergeTimeout", number |-> local[m].merge.begun], {})
    /\ IF MustTimeOut(m) THEN UNCHANGED spent ELSE spent.early < MaxEarlyTimeouts /\ Spend("early")
    /\ UNCHANGED around

-----------------------------------------------------------------------------
(* Steps that are under way, and joiners *)

CanDeliver(m) == InView(local[m]) /\ \E x \in ViewMembers(m) \ {m} : seen[m][x] < Nothing + cast[x]

HasToDo(m) ==
    /\ m \in up
    /\ \/ \E p \in network : p.to = m
       \/ m \in stops.asked /\ IsStill(m)
       \/ answers[m] # {}
       \/ Merging(m) /\ MustTimeOut(m)
       \/ Reports(m) # {}
       \/ CanDeliver(m)
       \/ MayDiscover(m)

\* m has asked, and is still in no view when nothing is under way.
MustAsk(m) ==
    /\ AsksAgain
    /\ m \in up /\ local[m].gms.joining /\ ~InView(local[m])
    /\ \E c \in up : G!IsActing(local[c].gms)
    /\ \A x \in Member : ~HasToDo(x)

\* A joiner asks a member that acts, and another besides. It asks again for as long as it is in no view (MustAsk).
AskToJoin(m) ==
    /\ m \in up /\ ~InView(local[m]) /\ Incarnations!MayBegin(m)
    /\ \E c \in up \ {m} :
        /\ G!IsActing(local[c].gms)
        /\ Packet(m, c, G!JoinReq(life[m])) \notin network
        /\ Apply("AskToJoin", m, [type |-> "JoinRequested", coordinator |-> c, life |-> life[m]], {})
    /\ IF MustAsk(m) THEN UNCHANGED spent ELSE spent.joins < MaxJoins /\ Spend("joins")
    /\ UNCHANGED around

-----------------------------------------------------------------------------
InFirst(m) == {k \in DOMAIN First : m \in MembersOf(First[k])}
FirstDecision(k) == G!Decision(First[k].id, First[k].members, NoViewId, First[k].lives, {}, G!NoDigest)
Begun(m) == IF InFirst(m) = {} THEN G!NoDecision ELSE FirstDecision(CHOOSE k \in InFirst(m) : TRUE)

Init ==
    /\ local = [m \in Member |->
                    IF InFirst(m) = {} THEN Start(m)
                    ELSE [Start(m) EXCEPT
                            !.gms.decision = Begun(m), !.merge.decision = Begun(m),
                            !.gms.phase = IF Head(Begun(m).members) = m THEN "at rest" ELSE "following"]]
    /\ network = {} /\ up = Member
    /\ life = [m \in Member |-> 0]
    /\ stops = [asked |-> {}, given |-> {}, held |-> {}]
    /\ answers = [m \in Member |-> {}] /\ kept = [m \in Member |-> {}]
    /\ cast = [m \in Member |-> 0]
    /\ seen = [m \in Member |-> [x \in Member |-> Nothing]]
    /\ spent = [merges |-> 0, crashes |-> 0, early |-> 0, breaks |-> 0, false |-> 0, joins |-> 0, founds |-> 0,
                leaves |-> 0, restarts |-> 0, casts |-> 0, misuses |-> 0, closes |-> 0]
    /\ views = First
    /\ installed = [m \in Member |-> IF InFirst(m) = {} THEN 0 ELSE CHOOSE k \in InFirst(m) : TRUE]
    /\ act = NoAct

\* The actions of a member, and the events that happen to it. (Without the parameter TLC asks whether it is constant,
\* and walks for it through all that it uses, anew in each module that has it: 3 s for each model.)
Next(m) ==
    \/ ReceiveJoinReq(m)
    \/ ReceiveJoinRsp(m)
    \/ ReceiveJoinRefused(m)
    \/ ReceiveLeaveReq(m)
    \/ ReceiveLeaveRsp(m)
    \/ ReceiveNewView(m)
    \/ ReceiveViewAck(m)
    \/ ReceiveQuery(m)
    \/ ReceiveAnswer(m)
    \/ ReceiveProbe(m)
    \/ ReceiveMergeReq(m)
    \/ ReceiveMergeRsp(m)
    \/ ReceiveInstallMergeView(m)
    \/ ReceiveMergeView(m)
    \/ ReceiveCancelMerge(m)
    \/ AskToJoin(m)
    \/ FoundGroup(m)
    \/ Leave(m)
    \/ StopGroup(m)
    \/ GiveDigest(m)
    \/ MulticastData(m)
    \/ DeliverData(m)
    \/ Discover(m)
    \/ DiscoverOthers(m)
    \/ TimeOut(m)
    \/ Crash(m)
    \/ Restart(m)
    \/ Break(m)
    \/ Close(m)
    \/ Detect(m)
    \/ SuspectFalsely(m)
    \/ Misuse(m)

Spec == Init /\ [][\E m \in Member : Next(m)]_vars
=============================================================================
