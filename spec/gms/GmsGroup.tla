------------------------------ MODULE GmsGroup ------------------------------
(***************************************************************************)
(* A group of members that run GMS, and what is around them, as freely as  *)
(* it may behave:                                                          *)
(* - Unicasts arrive once, at any time and in any order, between members   *)
(*   of a view, and to and from processes without a view. Part of a        *)
(*   member's messages to processes outside its view may be lost (a        *)
(*   budget). When a member crashes, any part of its messages in transit   *)
(*   is lost. The messages to it are lost. Or its next incarnation         *)
(*   receives any part of them, even of the messages that had arrived: to  *)
(*   the sender the incarnations look alike. (A bound gives the members    *)
(*   whose next incarnation does.)                                         *)
(* - The failure detector (FailureDetector) reports a crash to every       *)
(*   member that watches the crashed member. (A member watches the members *)
(*   of its view, and the joiners that wait for its admission.) It reports *)
(*   once, at any time, and to each watcher at another time. In the same   *)
(*   way it reports that a member does not count the watcher as a member   *)
(*   any more. Reports about old views arrive at any time. False           *)
(*   suspicions have a budget.                                             *)
(* - The layer above stops the group when GMS asks for it, and says so at  *)
(*   any time: at once, or later, or only after a suspicion. It resumes    *)
(*   the group when GMS says so, and only then. A member that was stopped  *)
(*   by a crashed member stays stopped.                                    *)
(* - Discovery gives a joiner any member that acts, again and again.       *)
(* - An address that crashed or left may come back as a new incarnation,   *)
(*   while messages of the former one are on their way.                    *)
(* - Applications multicast at any time, also during a join; the layer     *)
(*   below delivers in order and without loss, at each member at its own   *)
(*   pace. A digest says what was delivered when it was asked for, and     *)
(*   arrives later. State transfer, above GMS, asks for digests too.       *)
(*                                                                         *)
(* `views`, `installed` and `promises` are auxiliary: what members have    *)
(* done, as the modules Membership and JoinDigest speak of it. No member's *)
(* step depends on them. (The failure detector's does: who is a view       *)
(* behind is no stranger.) The claims are in GmsClaims.                    *)
(***************************************************************************)
EXTENDS Gms, Acts

CONSTANTS
    Member,             \* all addresses
    Founders,           \* the members of the first view, in order of seniority; <<>>: there is none yet
    Crashers,           \* bound: who may crash
    Leavers,            \* bound: who may leave
    Casters,            \* bound: who multicasts
    FalseSuspecters,    \* bound: who suspects falsely
    MaxCrashes,         \* fault budget
    MaxFalseSuspicions, \* fault budget: false suspicions
    MaxLeaves,          \* bound
    MaxRestarts,        \* bound: incarnations after the first, of all addresses together
    MaxCasts,           \* bound: multicasts of the applications, together
    MaxStateTransfers,  \* bound: digests and stopped groups that state transfers ask for, together
    MaxViews,           \* bound: views decided; 0: any number
    MaxMisuses,         \* fault budget: what no correct caller does
    MaxCloses,          \* fault budget: connections that are closed with something on its way (ClosedOnlyByViews)
    Inheritors,         \* bound: whose next incarnation is given what was sent to the former one
    FlushAbove          \* as if FLUSH were there: who is stopped multicasts nothing, and the group is said to be
                        \* stopped when what was sent before is delivered

VARIABLES
    network,        \* the messages on their way: a set of packets
    up,             \* the members that have not crashed or left
    life,           \* [Member -> its present incarnation]
    cast,           \* [Member -> the numbers of the views in which its incarnation has multicast, in order]
    seen,           \* [Member -> [Member -> highest seqno of its multicasts delivered]]
    answers,        \* [Member -> digests on their way up to it]
    transfers,      \* [Member -> requests of its state transfer that are not answered]
    stops,          \* the layers above: the members whose stop is not done yet (`asked`), those whose stop is done
                    \* (`given`), and the stopped members (`held`)
    told,           \* [Member -> the reports of the failure detector about the members that it watches]
    spent,          \* budgets used
    views,          \* the decided views, in order of decision (Membership), with their digests
    installed,      \* [Member -> the number of the view installed; 0: none] (Membership)
    promises        \* the digests promised to joiners, not yet redeemed or withdrawn (JoinDigest)

vars ==
    <<local, network, up, life, cast, seen, answers, transfers, stops, told, spent, views, installed,
      promises, act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view ==
    <<local, network, up, life, cast, seen, answers, transfers, stops, told, spent, views, installed,
      promises>>

\* Variables that no member's step changes by itself.
world == <<life, cast, transfers, spent>>

-----------------------------------------------------------------------------
(* Effects of a step on a member's environment *)

Packet(sender, to, message) == [sender |-> sender, to |-> to, message |-> message]

\* Packets for the next incarnation of m wait under this name until it begins.
NextLife(m) == m \o "+"

\* Packets that m's next incarnation may receive, if there is one.
Inherits(m) == m \in Inheritors /\ spent.restarts < MaxRestarts
ForTheNext(packets) == {[p EXCEPT !.to = NextLife(@)] : p \in {p \in packets : Inherits(p.to)}}

\* The messages on their way after a step: what was consumed is gone, what is sent to the dead is lost. (But for
\* what the next incarnation may be given.)
AfterStep(net, sender, consumed, effects, live) ==
    LET sent == {i \in DOMAIN effects : effects[i].type = "Send"}
        there == (net \ consumed) \cup {Packet(sender, effects[i].to, effects[i].message) : i \in sent}
    IN IF Inheritors = {} THEN {p \in there : p.to \in live}
       ELSE {p \in there : p.to \in live \/ p.to \notin Member}
            \cup ForTheNext(consumed \cup {p \in there : p.to \notin live})

\* Events of this type that a step passes down.
Down(effects, type) ==
    {effects[i].event : i \in {i \in DOMAIN effects :
        effects[i].type = "PassDown" /\ effects[i].event.type = type}}

\* The multicasts that m has delivered, by member of its view.
DeliveredBy(m) == [x \in MembersOf(local[m].decision) |-> seen[m][x]]

\* Events of this type that a step passes up.
Up(effects, type) ==
    {effects[i].event : i \in {i \in DOMAIN effects :
        effects[i].type = "PassUp" /\ effects[i].event.type = type}}

\* Windows: a joiner's windows start where the digest says. A member keeps its windows, and its windows for joiners
\* start empty.
AfterView(m, decision) ==
    IF decision = local[m].decision THEN seen
    ELSE [seen EXCEPT ![m] = [x \in Member |->
            IF x \notin MembersOf(decision) THEN Nothing
            ELSE IF ~InView(local[m])
            THEN IF x \in DOMAIN decision.digest THEN decision.digest[x] ELSE Nothing
            ELSE IF x \in decision.joiners THEN Nothing ELSE @[x]]]

\* The members that m watches, with their incarnations: the unsuspected members of its view, and the joiners that wait
\* for admission.
Joins(s) == {s.queue[i] : i \in {i \in DOMAIN s.queue : s.queue[i].kind = "join"}}
Watched(s) ==
    ({<<x, s.decision.lives[x]>> : x \in MembersOf(s.decision) \ s.suspected}
     \cup {<<r.member, r.life>> : r \in Joins(s)})
    \ {<<s.member, s.life>>}

\* The layer below answers a request with what is delivered at that moment.
DigestAnsweredBy(m) == DeliveredBy(m)

AfterRequests(m, given, effects) ==
    (answers[m] \ given)
    \cup {[asker |-> r.asker, request |-> r.request, digest |-> DigestAnsweredBy(m)] : r \in Down(effects, "GetDigest")}

StoppedFor(asker) == [type |-> "GroupStopped", asker |-> asker]

\* The members that m can stop and resume: they count m as a member.
Reaches(m, members) == {x \in members \cap up : x = m \/ m \in MembersOfView(local[x]) \ local[x].suspected}

\* A member is stopped at once, and a joiner begins as stopped. (That FLUSH takes time, and crashes meanwhile, are
\* FLUSH's own matter.)
AfterStops(m, event, step) ==
    LET suspends == Up(step.effects, "Suspend") # {}
        resumes == Up(step.effects, "Resume") # {}
        answered == event = StoppedFor(Self) /\ m \in stops.asked
        counted == MembersOfView(step.state) \ step.state.suspected
        joins == Down(step.effects, "DigestSet") # {}
    IN IF step.state.gone
       THEN [asked |-> stops.asked \ {m}, given |-> stops.given \ {m}, held |-> stops.held \ {m}]
       ELSE [asked |-> IF suspends THEN stops.asked \cup {m}
                       ELSE IF answered THEN stops.asked \ {m} ELSE stops.asked,
             given |-> IF resumes \/ suspends THEN stops.given \ {m}
                       ELSE IF answered THEN stops.given \cup {m} ELSE stops.given,
             held |-> IF suspends THEN stops.held \cup Reaches(m, counted)
                      ELSE IF resumes THEN stops.held \ Reaches(m, counted)
                      ELSE IF joins THEN stops.held \cup {m} ELSE stops.held]

-----------------------------------------------------------------------------
(* A step as Membership and JoinDigest see it *)

IsView(k, decision) == views[k].id = decision.id /\ views[k].members = decision.members

\* View number j comes before view number k on its branch.
RECURSIVE Ancestor(_, _)
Ancestor(j, k) == j < k /\ (j \in views[k].preds \/ \E i \in views[k].preds : Ancestor(j, i))

\* The view that a step decided: its member's new view, if no member has decided it before; or, for a coordinator that
\* leaves, the view that it sends.
NewDecisions(m, step) ==
    {d \in (IF step.state.gone
            THEN {step.effects[i].message.decision : i \in {i \in DOMAIN step.effects :
                    step.effects[i].type = "Send" /\ step.effects[i].message.type = "NEW_VIEW"}}
            ELSE IF step.state.decision = local[m].decision THEN {}
            ELSE {step.state.decision}) :
        ~\E k \in DOMAIN views : IsView(k, d)}

AsView(d) ==
    [id |-> d.id, members |-> d.members, preds |-> {k \in DOMAIN views : views[k].id = d.follows},
     lives |-> [m \in MembersOf(d) |-> d.lives[m]], joins |-> d.joiners, digest |-> d.digest]

NumberIn(known, decision) ==
    IF decision = NoDecision THEN 0
    ELSE CHOOSE k \in DOMAIN known : known[k].id = decision.id /\ known[k].members = decision.members

\* A promise to a former incarnation is void: no member can redeem it.
IsMade(m, after, to) == \A r \in Admitting(after) : r.member = to => r.life = life[to]

\* A promise is made with the digest of that moment, which the layer below answers. It ends when its maker withdraws it,
\* or takes the request of the next incarnation; and when it is redeemed.
AfterPromises(m, event, step) ==
    LET made == {e.to : e \in Down(step.effects, "DigestPromised")}
        withdrawn == {e.to : e \in Down(step.effects, "PromiseWithdrawn")}
        over(p) == /\ event.type = "JoinReqReceived" /\ step.outcome = "handled"
                   /\ p.to = event.sender /\ p.to_life < event.message.life
        redeemed == Down(step.effects, "DigestSet") # {}
    IN {p \in promises :
            /\ ~(p.by = m /\ p.by_life = life[m] /\ (p.to \in withdrawn \/ over(p)))
            /\ ~(redeemed /\ p.to = m /\ p.to_life = life[m])}
       \cup {[by |-> m, by_life |-> life[m], view |-> installed[m], to |-> to, to_life |-> life[to],
              vector |-> DigestAnsweredBy(m)] : to \in {to \in made : IsMade(m, step.state, to)}}

-----------------------------------------------------------------------------
\* Member m takes the step that Gms gives. `given`: the digest that it consumes; `report`: the report of the failure
\* detector.
MemberStep(s, e) == Step(s, e)

ApplyWith(action, m, event, consumed, given, report) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ up' = IF step.state.gone THEN up \ {m} ELSE up
        /\ network' = AfterStep(network, m, consumed, step.effects, up')
        /\ seen' = AfterView(m, step.state.decision)
        /\ answers' = [answers EXCEPT ![m] =
                IF step.state.gone THEN {} ELSE AfterRequests(m, given, step.effects)]
        /\ stops' = AfterStops(m, event, step)
        /\ told' = [told EXCEPT ![m] =
                IF @ = {} /\ report = {} THEN {} ELSE (@ \cup report) \cap Watched(step.state)]
        /\ \E new \in {NewDecisions(m, step)} :
            views' = IF new = {} THEN views ELSE Append(views, AsView(CHOOSE d \in new : TRUE))
        /\ installed' = [installed EXCEPT ![m] = IF step.state.decision = local[m].decision THEN @
                                                 ELSE NumberIn(views', step.state.decision)]
        /\ promises' = AfterPromises(m, event, step)

Apply(action, m, event, consumed) == ApplyWith(action, m, event, consumed, {}, {})

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Messages arrive *)

EventOf(p) ==
    [type |-> CASE p.message.type = "JOIN_REQ" -> "JoinReqReceived"
                [] p.message.type = "JOIN_RSP" -> "JoinRspReceived"
                [] p.message.type = "JOIN_REFUSED" -> "JoinRefusedReceived"
                [] p.message.type = "LEAVE_REQ" -> "LeaveReqReceived"
                [] p.message.type = "LEAVE_RSP" -> "LeaveRspReceived"
                [] p.message.type = "NEW_VIEW" -> "NewViewReceived"
                [] p.message.type = "VIEW_ACK" -> "ViewAckReceived"
                [] p.message.type = "QUERY" -> "QueryReceived"
                [] p.message.type = "ANSWER" -> "AnswerReceived",
     sender |-> p.sender, message |-> p.message]

\* A message of a type arrives at m, from one of these, as an event of Gms.
Receive(action, m, senders, type, event) ==
    /\ \E p \in network :
        /\ p.to = m /\ p.message.type = type /\ p.sender \in senders
        /\ Apply(action, m, [type |-> event, sender |-> p.sender, message |-> p.message], {p})
    /\ UNCHANGED world

JoinReqFrom(senders, m) == Receive("ReceiveJoinReq", m, senders, "JOIN_REQ", "JoinReqReceived")
JoinRefusedFrom(senders, m) == Receive("ReceiveJoinRefused", m, senders, "JOIN_REFUSED", "JoinRefusedReceived")
JoinRspFrom(senders, m) == Receive("ReceiveJoinRsp", m, senders, "JOIN_RSP", "JoinRspReceived")
LeaveReqFrom(senders, m) == Receive("ReceiveLeaveReq", m, senders, "LEAVE_REQ", "LeaveReqReceived")
LeaveRspFrom(senders, m) == Receive("ReceiveLeaveRsp", m, senders, "LEAVE_RSP", "LeaveRspReceived")
NewViewFrom(senders, m) == Receive("ReceiveNewView", m, senders, "NEW_VIEW", "NewViewReceived")
ViewAckFrom(senders, m) == Receive("ReceiveViewAck", m, senders, "VIEW_ACK", "ViewAckReceived")
QueryFrom(senders, m) == Receive("ReceiveQuery", m, senders, "QUERY", "QueryReceived")
AnswerFrom(senders, m) == Receive("ReceiveAnswer", m, senders, "ANSWER", "AnswerReceived")

ReceiveJoinReq(m) == m \in up /\ JoinReqFrom(Member, m)
ReceiveJoinRefused(m) == m \in up /\ JoinRefusedFrom(Member, m)
ReceiveJoinRsp(m) == m \in up /\ JoinRspFrom(Member, m)
ReceiveLeaveReq(m) == m \in up /\ LeaveReqFrom(Member, m)
ReceiveLeaveRsp(m) == m \in up /\ LeaveRspFrom(Member, m)
ReceiveNewView(m) == m \in up /\ NewViewFrom(Member, m)
ReceiveViewAck(m) == m \in up /\ ViewAckFrom(Member, m)
ReceiveQuery(m) == m \in up /\ QueryFrom(Member, m)
ReceiveAnswer(m) == m \in up /\ AnswerFrom(Member, m)

-----------------------------------------------------------------------------
(* Applications, discovery, the layers above and below *)

\* No member is in a group, and m founds one. (That two do so at once is discovery's to prevent, or merging's to
\* heal.)
Found(m) ==
    /\ views = <<>>
    /\ m \in up
    /\ Apply("Found", m, [type |-> "JoinRequested", coordinator |-> m, life |-> life[m]], {})
    /\ UNCHANGED world

\* The conjuncts that the program that runs members does not keep: none (a defect in the place of nothing).
IncarnationsLack == {}
Incarnations == INSTANCE Incarnations WITH Off <- IncarnationsLack

\* m finds a member that acts, and asks it; again whenever its request is not on its way.
AskToJoin(m) ==
    /\ m \in up /\ ~InView(local[m])
    /\ Incarnations!MayBegin(m)
    /\ \E c \in up \ {m} :
        /\ IsActing(local[c])
        /\ Packet(m, c, JoinReq(life[m])) \notin network
        /\ Apply("AskToJoin", m, [type |-> "JoinRequested", coordinator |-> c, life |-> life[m]], {})
    /\ UNCHANGED world

\* Any member may want to leave at any time. (Where that is too much to search a model puts a bound here.)
MayWantToLeave(m) == TRUE

Leave(m) ==
    /\ spent.leaves < MaxLeaves
    /\ m \in up /\ m \in Leavers /\ MayWantToLeave(m)
    /\ InView(local[m]) /\ ~local[m].leaving
    /\ Apply("Leave", m, [type |-> "LeaveRequested"], {})
    /\ Spend("leaves")
    /\ UNCHANGED <<life, cast, transfers>>

\* All that is up and has installed the newest view has delivered what was sent.
AllDelivered ==
    \A x \in up : \A y \in MembersOf(local[x].decision) :
        life[y] = local[x].decision.lives[y] => seen[x][y] = Nothing + Len(cast[y])

\* The group is stopped for m. (Late, or unasked: see Misuse.)
StopGroup(m) ==
    /\ m \in up \cap stops.asked
    /\ MaxViews = 0 \/ Len(views) < MaxViews \/ ~HasToDecide(local[m])
    /\ FlushAbove => AllDelivered
    /\ Apply("StopGroup", m, StoppedFor(Self), {})
    /\ UNCHANGED world

DigestEvent(a) == [type |-> "DigestGiven", asker |-> a.asker, request |-> a.request, digest |-> a.digest]

\* The layer below has a digest for m's GMS, or for the state transfer above it.
GiveDigest(m) ==
    /\ m \in up
    /\ \E a \in answers[m] :
        /\ ApplyWith("GiveDigest", m, DigestEvent(a), {}, {a}, {})
        /\ transfers' = [transfers EXCEPT ![m] =
                IF up' # up THEN {}
                ELSE @ \ {e.request : e \in Up(MemberStep(local[m], DigestEvent(a)).effects, "DigestGiven")}]
    /\ UNCHANGED <<life, cast, spent>>

\* The state transfer of m, above GMS, asks for a digest (GET_DIGEST_STATE).
AskForState(m) ==
    /\ spent.transfers < MaxStateTransfers
    /\ m \in up /\ InView(local[m])
    /\ transfers' = [transfers EXCEPT ![m] = @ \cup {spent.transfers + 1}]
    /\ answers' = [answers EXCEPT ![m] =
            @ \cup {[asker |-> "STATE_TRANSFER", request |-> spent.transfers + 1, digest |-> DeliveredBy(m)]}]
    /\ Spend("transfers")
    /\ Environment("AskForState", m, None, {})
    /\ UNCHANGED <<local, network, up, life, cast, seen, stops, told, views, installed, promises>>

\* FLUSH, above GMS, has stopped the group for the state transfer of m, below GMS, and says so.
StopForState(m) ==
    /\ spent.transfers < MaxStateTransfers
    /\ m \in up /\ InView(local[m])
    /\ Apply("StopForState", m, StoppedFor("STATE_TRANSFER"), {})
    /\ Spend("transfers")
    /\ UNCHANGED <<life, cast, transfers>>

\* m multicasts, and delivers its own copy at once (DLV-04).
MulticastData(m) ==
    /\ spent.casts < MaxCasts
    /\ m \in up /\ m \in Casters /\ InView(local[m])
    /\ FlushAbove => m \notin stops.held
    /\ cast' = [cast EXCEPT ![m] = Append(@, installed[m])]
    /\ seen' = [seen EXCEPT ![m][m] = @ + 1]
    /\ Spend("casts")
    /\ Environment("MulticastData", m, None, {})
    /\ UNCHANGED <<local, network, up, life, answers, transfers, stops, told, views, installed, promises>>

\* The next multicast of a member of its view, by whichever way.
DeliverData(m) ==
    /\ m \in up /\ InView(local[m])
    /\ \E x \in MembersOf(local[m].decision) \ {m} :
        /\ life[x] = local[m].decision.lives[x]
        /\ seen[m][x] < Nothing + Len(cast[x])
        /\ seen' = [seen EXCEPT ![m][x] = @ + 1]
        /\ Environment("DeliverData", m, [sender |-> x, seqno |-> seen[m][x] + 1], {})
    /\ UNCHANGED <<local, network, up, life, cast, answers, transfers, stops, told, spent, views, installed,
                   promises>>

-----------------------------------------------------------------------------
(* Faults, and the failure detector *)

\* The crashed member's messages in transit may be lost, each copy by itself.
Crash(m) ==
    /\ spent.crashes < MaxCrashes
    /\ m \in up /\ m \in Crashers
    /\ up' = up \ {m}
    /\ \E kept \in SUBSET {p \in network : p.sender = m /\ p.to \in Member} :
        network' = {p \in network : p.to # m /\ (p.sender # m \/ p.to \notin Member \/ p \in kept)}
                   \cup ForTheNext({p \in network : p.to = m})
    /\ answers' = [answers EXCEPT ![m] = {}]
    /\ transfers' = [transfers EXCEPT ![m] = {}]
    /\ stops' = [asked |-> stops.asked \ {m}, given |-> stops.given \ {m}, held |-> stops.held \ {m}]
    /\ told' = [told EXCEPT ![m] = {}]
    /\ Spend("crashes")
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, life, cast, seen, views, installed, promises>>

\* (Where no member is suspected falsely there is one branch, and its counters are passed.)
MayComeBack(m) == MaxFalseSuspicions > 0 => Incarnations!MayReturn(m)

\* ClosedOnlyByViews: the connection to x may be closed, as the sender has a view without it.
MayClose(m, x) == InView(local[m]) /\ x \notin MembersOf(local[m].decision)

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
    /\ UNCHANGED <<local, up, life, cast, seen, answers, transfers, stops, told, views, installed, promises>>

\* Another incarnation of m begins, which knows nothing. It receives any part of the messages to the former
\* incarnation. (A contiguous run in the order sent, where the layer below has an order.)
Restart(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \notin up
    /\ MayComeBack(m)
    /\ up' = up \cup {m}
    /\ life' = [life EXCEPT ![m] = @ + 1]
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ cast' = [cast EXCEPT ![m] = <<>>]
    /\ seen' = [seen EXCEPT ![m] = [x \in Member |-> Nothing]]
    /\ installed' = [installed EXCEPT ![m] = 0]
    /\ Spend("restarts")
    /\ \E again \in SUBSET {p \in network : p.to = NextLife(m)} :
        network' = {p \in network : p.to # NextLife(m)} \cup {[p EXCEPT !.to = m] : p \in again}
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<answers, transfers, stops, told, views, promises>>

\* FailureDetector has the members' views and suspicions; and what it is asked for (a defect in the place of nothing).
DetectorLacks == {}
SuspectsOfAll == [m \in Member |-> local[m].suspected]
FailureDetector == INSTANCE FailureDetector WITH Off <- DetectorLacks, suspects <- SuspectsOfAll

Suspect(action, m, w) == ApplyWith(action, m, [type |-> "Suspected", suspect |-> w[1]], {}, {}, {w})

Dead(x, incarnation) == FailureDetector!Dead(x, incarnation)

\* The state transfer of m has something to say, and is allowed to.
Reports(m) == {w \in Watched(local[m]) \ told[m] : FailureDetector!MustReport(m, w[1], w[2])}
Reportable(m) == {w \in Watched(local[m]) \ told[m] : FailureDetector!MayReport(m, w[1], w[2])}

Detect(m) ==
    /\ m \in up
    /\ \E w \in Reportable(m) : Suspect("Detect", m, w)
    /\ UNCHANGED world

SuspectFalsely(m) ==
    /\ spent.false < MaxFalseSuspicions
    /\ m \in up /\ m \in FalseSuspecters
    /\ \E w \in Watched(local[m]) :
        /\ ~FailureDetector!MayReport(m, w[1], w[2])
        /\ Suspect("SuspectFalsely", m, w)
    /\ Spend("false")
    /\ UNCHANGED <<life, cast, transfers>>

\* Events that no correct caller or layer causes, and answers that no member asked for.
Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ m \in up
    /\ \E event \in
        {[type |-> "Suspected", suspect |-> m], StoppedFor(Self),
         [type |-> "DigestGiven", asker |-> Self, request |-> local[m].asked, digest |-> NoDigest],
         [type |-> "NewViewReceived", sender |-> "Z", message |-> NewView(Founding("Z"))]}
        \cup (IF InView(local[m]) THEN {[type |-> "JoinRequested", coordinator |-> m, life |-> life[m]]}
              ELSE {[type |-> "LeaveRequested"], [type |-> "JoinRequested", coordinator |-> m, life |-> 1]}) :
        /\ event = StoppedFor(Self) => m \notin stops.asked
        /\ Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED <<life, cast, transfers>>

-----------------------------------------------------------------------------
FoundersSet == {Founders[i] : i \in DOMAIN Founders}

FirstDecision ==
    Decision(ViewId(1, Founders[1]), Founders, NoViewId, [m \in FoundersSet |-> 0], {}, NoDigest)

\* The views at the start.
First == IF Founders = <<>> THEN <<>>
         ELSE <<[id |-> FirstDecision.id, members |-> Founders, preds |-> {}, lives |-> FirstDecision.lives,
                 joins |-> FoundersSet, digest |-> NoDigest]>>

Init ==
    /\ local = [m \in Member |->
                    IF m \notin FoundersSet THEN Start(m)
                    ELSE [Start(m) EXCEPT !.decision = FirstDecision,
                                          !.phase = IF m = Founders[1] THEN "at rest" ELSE "following"]]
    /\ network = {}
    /\ up = Member
    /\ life = [m \in Member |-> 0]
    /\ cast = [m \in Member |-> <<>>]
    /\ seen = [m \in Member |-> [x \in Member |-> Nothing]]
    /\ answers = [m \in Member |-> {}]
    /\ transfers = [m \in Member |-> {}]
    /\ stops = [asked |-> {}, given |-> {}, held |-> {}]
    /\ told = [m \in Member |-> {}]
    /\ spent = [crashes |-> 0, false |-> 0, leaves |-> 0, restarts |-> 0, casts |-> 0, transfers |-> 0,
                misuses |-> 0, closes |-> 0]
    /\ views = First
    /\ installed = [m \in Member |-> IF m \in FoundersSet THEN 1 ELSE 0]
    /\ promises = {}
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ Found(m)
        \/ AskToJoin(m)
        \/ Leave(m)
        \/ StopGroup(m)
        \/ GiveDigest(m)
        \/ AskForState(m)
        \/ StopForState(m)
        \/ ReceiveJoinReq(m)
        \/ ReceiveJoinRsp(m)
        \/ ReceiveJoinRefused(m)
        \/ ReceiveLeaveReq(m)
        \/ ReceiveLeaveRsp(m)
        \/ ReceiveNewView(m)
        \/ ReceiveViewAck(m)
        \/ ReceiveQuery(m)
        \/ ReceiveAnswer(m)
        \/ MulticastData(m)
        \/ DeliverData(m)
        \/ Crash(m)
        \/ Close(m)
        \/ Restart(m)
        \/ Detect(m)
        \/ SuspectFalsely(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
