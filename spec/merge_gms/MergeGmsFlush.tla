---------------------------- MODULE MergeGmsFlush ----------------------------
(******************************************************************************)
(* FLUSH over merging over GMS: a closed model of the cores. Merging and      *)
(* GMS make the views, and FLUSH stops each subgroup for them. An event that  *)
(* either passes to the other happens in the same step. ViewInstalled,        *)
(* MergeViewInstalled, Suspected, Suspend and Resume go up. GroupStopped goes *)
(* down. Neither has a stand-in. A view is decided, and a digest given away,  *)
(* only when FLUSH has said that the group is stopped. FLUSH knows views and  *)
(* suspicions from the layer below.                                           *)
(*                                                                            *)
(* The group is that of MergeGmsGroup, with its actions except StopGroup,     *)
(* MulticastData and DeliverData, which stand in for FLUSH. PassedUp says     *)
(* what follows from each for FLUSH, in the same step. FLUSH's unicasts come  *)
(* in the order sent (as it assumes), and beside those of the layer below in  *)
(* any order. Below is a multicast that holds back and fetches the messages   *)
(* that FLUSH names. A crashed member's multicasts may reach only some        *)
(* members. `seen`, from which the digests are taken, counts the multicasts   *)
(* that FLUSH passes up.                                                      *)
(*                                                                            *)
(* Less than spec/flush has. BLOCK returns at once, a member's messages to    *)
(* itself arrive at once, and no member tries to multicast behind its latch.  *)
(* A state transfer only stops the group and resumes it. Less than            *)
(* MergeGmsGroup has: a member that may crash and come back multicasts        *)
(* nothing.                                                                   *)
(*                                                                            *)
(* Claimed is what neither gives alone: VirtualSynchrony over views that      *)
(* part and merge, and that the group comes to rest settled and free; and     *)
(* what each takes for granted of the other.                                  *)
(******************************************************************************)
EXTENDS MergeGmsClaims

CONSTANTS
    PassesUp,             \* the events that are passed up and FLUSH sees
    Casts,                \* bound: [Member -> how many multicasts its application makes]
    Requesters,           \* bound: whose state transfer has the group stopped
    MaxStateTransfers     \* bound: how often, together

\* (The next incarnation would number its multicasts from the first again: see MergeGmsGroup.)
ASSUME MaxCasts = 0 /\ (MaxRestarts = 0 \/ \A m \in Crashers \cap Member : Casts[m] = 0)

VARIABLES
    flush,              \* [Member -> FLUSH's state]
    wires,              \* [Member -> [Member -> FLUSH's messages on their way from one to the other]]
    said,               \* the callers to which FLUSH has said that the group is stopped, when they have not heard it
                        \* yet
    fetches,            \* [Member -> what its layer below asks others for]
    refused,            \* whether FLUSH has refused anything
    lost,               \* whom a crashed member's multicasts do not reach: a set of [to, view, sender]
    transfers,          \* how many state transfers there were
    log, settled, got   \* of VirtualSynchrony: see there

above == <<flush, wires, said, fetches, refused, lost, transfers, log, settled, got>>
stack_vars == <<vars, above>>

\* (Who is held is the group's stand-in for FLUSH, and what is promised no member asks here.)
stack_view ==
    <<local, network, up, life, stops.asked, stops.given, answers, cast, seen, spent, views, installed, above>>

\* FLUSH as its own specification has it.
Flush == INSTANCE Flush

Channel == INSTANCE VirtualSynchrony WITH Off <- {"Uniform"}

\* After a false suspicion views branch: what is left then is what spec/flush claims.
Branching == INSTANCE BranchSynchrony WITH Off <- {"Uniform"}

-----------------------------------------------------------------------------
(* Steps of FLUSH *)

FlushStep(s, e) == Flush!Step(s, e)
FlushRuns == INSTANCE FlushAtOnce WITH Step <- FlushStep

Runs(m, events) == FlushRuns!Runs(m, flush[m], events)

SaysStopped(effects) ==
    \E i \in DOMAIN effects : effects[i].type = "PassDown" /\ effects[i].event = StoppedFor(G!Self)

\* A report, or a view, makes former requests void.
AfterFetches(m, done) ==
    LET asked == Down(done.effects, "Fetch")
    IN IF asked # {} THEN asked
       ELSE IF done.state.owes /\ done.state.round = flush[m].round /\ done.state.owner = flush[m].owner
       THEN fetches[m] ELSE {}

\* Of m's FLUSH: all but what was multicast and received.
FlushDid(m, done, net) ==
    /\ flush' = [flush EXCEPT ![m] = done.state]
    /\ wires' = FlushRuns!AfterSends(net, m, done.effects, up')
    /\ fetches' = [fetches EXCEPT ![m] = IF m \in up' THEN AfterFetches(m, done) ELSE {}]
    /\ refused' = (refused \/ FlushRuns!EffectsOf(done.effects, "Refused") # <<>>)
    /\ said' = ((IF SaysStopped(done.effects) THEN said \cup {m} ELSE said) \cap up')
               \ (IF act'.action = "StopGroup" /\ ~SaysStopped(done.effects) THEN {m} ELSE {})

-----------------------------------------------------------------------------
(* FLUSH's messages arrive, and multicasts *)

below == <<local, network, up, life, stops, answers, kept, spent, views, installed>>

ReceiveFlush(m) ==
    /\ m \in up
    /\ \E q \in Member :
        /\ wires[q][m] # <<>>
        /\ \E event \in {FlushRuns!EventOf(q, Head(wires[q][m]))} :
           \E done \in {Runs(m, <<event>>)} :
            /\ Record("ReceiveFlush", m, FALSE, [from |-> q], event, {}, "handled", done.effects)
            /\ UNCHANGED <<below, cast, seen>>
            /\ FlushDid(m, done, [wires EXCEPT ![q][m] = Tail(@)])
    /\ UNCHANGED <<lost, transfers, log, settled, got>>

\* m has received all its own multicasts.
CastData(m) ==
    /\ m \in up /\ cast[m] < Casts[m]
    /\ InView(local[m]) /\ ~flush[m].latched
    /\ cast' = [cast EXCEPT ![m] = @ + 1]
    /\ seen' = [seen EXCEPT ![m][m] = @ + 1]
    /\ log' = Channel!Casts(log, m, installed[m], <<cast[m] + 1>>)
    /\ got' = [got EXCEPT ![m] = @ \cup {<<installed[m], m, flush[m].sent + 1>>}]
    /\ \E done \in {Runs(m, <<[type |-> "SendRequested", payload |-> cast[m] + 1]>>)} :
        /\ Record("CastData", m, FALSE, None, NoEvent, {}, "handled", done.effects)
        /\ UNCHANGED below
        /\ FlushDid(m, done, wires)
    /\ UNCHANGED <<lost, transfers, settled>>

\* The next multicast of x can reach m: from x, or, if x has crashed, from the network or from the member that was
\* asked for it.
MayReach(m, x) ==
    LET n == flush[m].delivered[x] + 1 IN
    /\ x # m
    /\ n \in DOMAIN log[installed[m]][x]
    /\ flush[m].frozen => n <= flush[m].limit[x]
    /\ (x \notin up /\ [to |-> m, view |-> installed[m], sender |-> x] \in lost) =>
        \E f \in fetches[m] : f.sender = x /\ n <= f.upto /\ f.holder \in up
                                /\ Has(views[installed[m]], f.holder, life[f.holder])

GetData(m) ==
    /\ m \in up /\ InView(local[m])
    /\ \E x \in Flush!Members(flush[m]) \cap ViewMembers(m) :
        /\ MayReach(m, x)
        /\ \E n \in {flush[m].delivered[x] + 1} :
           \E event \in {[type |-> "DataReceived", sender |-> x,
                          message |-> Flush!Data(Own(local[m]).id, n, log[installed[m]][x][n])]} :
           \E done \in {Runs(m, <<event>>)} :
            /\ got' = [got EXCEPT ![m] = @ \cup {<<installed[m], x, n>>}]
            /\ seen' = [seen EXCEPT ![m][x] = @ + 1]
            /\ Record("GetData", m, FALSE, [sender |-> x, seqno |-> n], NoEvent, {}, "handled", done.effects)
            /\ UNCHANGED <<below, cast>>
            /\ FlushDid(m, done, wires)
    /\ UNCHANGED <<lost, transfers, log, settled>>

\* A state transfer asks for the group, ...
Wants(m) == Flush!ForState \in flush[m].wants
Transfers(action, m, type) ==
    /\ \E done \in {Runs(m, <<[type |-> type, asker |-> Flush!ForState]>>)} :
        /\ Record(action, m, FALSE, None, NoEvent, {}, "handled", done.effects)
        /\ UNCHANGED <<below, cast, seen>>
        /\ FlushDid(m, done, wires)
    /\ UNCHANGED <<lost, log, settled, got>>

AskForState(m) ==
    /\ m \in up \cap Requesters /\ transfers < MaxStateTransfers
    /\ InView(local[m]) /\ ~Wants(m)
    /\ Transfers("AskForState", m, "Suspend")
    /\ transfers' = transfers + 1

\* ... and resumes it after the stop.
HasState(m) == m \in up /\ Wants(m) /\ Flush!IsStopped(flush[m])
TakeState(m) ==
    /\ HasState(m)
    /\ Transfers("TakeState", m, "Resume")
    /\ transfers' = transfers

-----------------------------------------------------------------------------
(* Effects of a step of the layers below *)

IsForFlush(effect) == effect.type = "PassUp" /\ effect.event.type \in PassesUp

Longest(m) == CHOOSE n \in {Len(wires[m][x]) : x \in Member} : \A x \in Member : Len(wires[m][x]) <= n

\* Each multicast of m that has not been received reaches each other member or is lost; a first part of its messages
\* arrives.
AfterCrash(m) ==
    LET lacking == {x \in up' : installed[m] # 0 /\ installed[x] = installed[m]
                                /\ flush[x].delivered[m] < Len(log[installed[m]][m])}
    IN /\ flush' = flush
       /\ \E keep \in [up' -> 0 .. Longest(m)] :
            /\ \A x \in up' : keep[x] <= Len(wires[m][x])
            /\ wires' = [q \in Member |-> [x \in Member |->
                            IF x = m THEN <<>> ELSE IF q = m /\ x \in up' THEN SubSeq(wires[m][x], 1, keep[x])
                            ELSE wires[q][x]]]
       /\ \E deaf \in SUBSET lacking :
            lost' = lost \cup {[to |-> x, view |-> installed[m], sender |-> m] : x \in deaf}
       /\ fetches' = [fetches EXCEPT ![m] = {}]
       /\ said' = said \ {m}
       /\ refused' = refused

AfterStepOf(m) ==
    /\ lost' = lost
    /\ \E passed \in {SelectSeq(act'.effects, IsForFlush)} :
       \E done \in {Runs(m, [i \in DOMAIN passed |-> passed[i].event])} :
        /\ FlushDid(m, done, [q \in Member |-> [x \in Member |-> IF x \in up' THEN wires[q][x] ELSE <<>>]])

\* The next incarnation has a FLUSH that knows nothing.
AfterRestart(m) ==
    /\ flush' = [flush EXCEPT ![m] = Flush!Start(m)]
    /\ UNCHANGED <<wires, fetches, lost, said, refused>>

PassedUp ==
    /\ transfers' = transfers
    /\ CASE act'.action = "Crash" -> AfterCrash(act'.member)
         [] act'.action = "Restart" -> AfterRestart(act'.member)
         [] OTHER -> AfterStepOf(act'.member)
    /\ log' = IF views' = views THEN log ELSE Append(log, Channel!NoCasts(views'[Len(views')]))
    /\ \E all \in {IF views' = views THEN settled ELSE Append(settled, Channel!NoArrivals)} :
        LET m == act'.member
        IN IF act'.action = "Restart" THEN settled' = all /\ got' = [got EXCEPT ![m] = {}]
           ELSE IF installed' = installed THEN settled' = all /\ got' = got
           ELSE settled' = [all EXCEPT ![installed'[m]] = Channel!Came(m, @)] /\ Channel!Forgets(m)

\* An answer of FLUSH is heard.
HearOfTheStop(m) ==
    /\ Apply("StopGroup", m, StoppedFor(G!Self), {})
    /\ UNCHANGED world

-----------------------------------------------------------------------------
StackInit ==
    /\ Init
    /\ flush = [m \in Member |->
                    IF InFirst(m) = {} THEN Flush!Start(m)
                    ELSE [Flush!Start(m) EXCEPT !.view = ViewOf(Begun(m)),
                                                !.delivered = Flush!Zeros(MembersOf(Begun(m)))]]
    /\ wires = [q \in Member |-> [x \in Member |-> <<>>]]
    /\ said = {} /\ lost = {} /\ refused = FALSE /\ transfers = 0
    /\ fetches = [m \in Member |-> {}]
    /\ log = [k \in DOMAIN views |-> Channel!NoCasts(views[k])]
    /\ settled = [k \in DOMAIN views |-> Channel!NoArrivals]
    /\ got = [m \in Member |-> {}]

\* The answers of FLUSH are heard at once. (Three actions stand in for FLUSH, and are not taken.)
StackNext(m) ==
    IF said # {} THEN m \in said /\ HearOfTheStop(m) /\ PassedUp
    ELSE \/ /\ Next(m)
            /\ act'.action \notin {"StopGroup", "MulticastData", "DeliverData"}
            /\ PassedUp
         \/ ReceiveFlush(m)
         \/ CastData(m)
         \/ GetData(m)
         \/ AskForState(m)
         \/ TakeState(m)

StackSpec == StackInit /\ [][\E m \in Member : StackNext(m)]_stack_vars

-----------------------------------------------------------------------------
(* Claims *)

FlushTypeOK ==
    /\ \A m \in Member :
        /\ flush[m].member = m
        /\ flush[m].owner \in Member \cup {""} /\ flush[m].wants \subseteq {G!Self, Flush!ForState, "FLUSH"}
        /\ flush[m].run.phase \in {"none", "start", "reconcile", "stopped"}
        /\ flush[m].run.want \subseteq Member
    /\ said \subseteq up /\ refused \in BOOLEAN

\* FLUSH has the view that the layer below has, and suspects whom that suspects.
SameViewInFlush ==
    \A m \in up :
        InView(local[m]) =>
            /\ flush[m].view = ViewOf(Own(local[m]))
            /\ flush[m].suspected = Suspects(m)

\* Neither refuses what the other says, or its peers.
NoEventRefused == ~refused

\* The live members of m's view that m does not suspect, and that do not suspect m.
Mutual(m) == {x \in Reaches(m, ViewMembers(m) \ Suspects(m)) : installed[x] = installed[m]}

\* GMS and merging rely on this from FLUSH's answer until they resume the group: all members are behind their latches,
\* and have delivered the same, and everything that they multicast.
GroupIsStopped ==
    \A m \in up :
        m \in stops.given \cup said => IsStill(m) /\ \A x \in Mutual(m) : flush[x].latched

\* Only a member that has its group stopped decides a view. A digest is given of such a group only
\* (DecidesAndPromisesOnlyWhenStopped).
DecidesOnlyWhenStoppedStep ==
    (views' # views /\ act'.action # "Crash") => act'.member \in stops.given \/ act'.action = "StopGroup"
DecidesOnlyWhenStopped == [][DecidesOnlyWhenStoppedStep]_stack_vars

\* A member that installs a merged view has delivered, of the members that were with it, exactly what its digest says:
\* others start there.
MergedDigestIsDeliveredStep ==
    \A m \in Member :
        (installed'[m] \notin {0, installed[m]} /\ Cardinality(views'[installed'[m]].preds) > 1) =>
            \A x \in ViewMembers(m) : seen[m][x] = Own(local'[m]).digest[x]
MergedDigestIsDelivered == [][MergedDigestIsDeliveredStep]_stack_vars

\* A coordinator that leaves decides the view without itself and departs, in one step of GMS. A member that wants to leave
\* departs in the step in which it enters a view as its first. Each of these steps is two of VirtualSynchrony.
Departs == up' = up \ {act'.member}

DecidesAndDeparts ==
    \E v \in {views'[Len(views')]} :
        /\ Channel!Group!Decide(v)
        /\ log' = Append(log, Channel!NoCasts(v))
        /\ settled' = Append(settled, Channel!NoArrivals)
        /\ got' = got

MayEnter(m, v, came) == IF MaxFalseSuspicions = 0 THEN Channel!MayEnter(m, v, came) ELSE Branching!MayEnter(m, v, came)
EntersAndDeparts ==
    \E m \in {act'.member} : \E k \in {installed'[m]} :
        \E known \in {IF views' = views THEN settled ELSE Append(settled, Channel!NoArrivals)} :
            /\ IF views' = views THEN Channel!Group!Install(m, k) ELSE Channel!Group!DecideAndInstall(views'[k], m)
            /\ MayEnter(m, views'[k], known[k])
            /\ settled' = [known EXCEPT ![k] = Channel!Came(m, @)]
            /\ log' = IF views' = views THEN log ELSE Append(log, Channel!NoCasts(views'[k]))
            /\ Channel!Forgets(m)

\* (Multicast and received by oneself, at once: two, too.)
CastsAndReceives ==
    \E m \in {act'.member} :
        /\ Channel!MayCast(m, installed[m])
        /\ log' = Channel!Casts(log, m, installed[m], <<cast'[m]>>)
        /\ got' = [got EXCEPT ![m] = @ \cup {<<installed[m], m, Len(log[installed[m]][m]) + 1>>}]
        /\ UNCHANGED <<views, installed, life, up, settled>>

channel_vars == <<views, installed, up, log, settled, got>>

\* Each step of the group is a step of VirtualSynchrony.
RefinesVirtualSynchronyStep ==
    channel_vars' # channel_vars =>
        IF act'.action = "Restart" THEN Channel!Next
        ELSE IF up' # up /\ (installed' # installed \/ views' # views)
        THEN /\ Departs
             /\ IF installed' # installed THEN EntersAndDeparts ELSE DecidesAndDeparts
        ELSE IF act'.action = "CastData" THEN CastsAndReceives
        ELSE IF MaxFalseSuspicions = 0 THEN Channel!Next ELSE Branching!Next
RefinesVirtualSynchrony == [][RefinesVirtualSynchronyStep]_stack_vars

\* A view comes to members that are stopped, whoever sends it. (And to joiners.)
InstallsOnlyWhenLatchedStep ==
    \A m \in Member : (installed[m] # 0 /\ installed'[m] \notin {0, installed[m]}) => flush[m].latched
InstallsOnlyWhenLatched == [][InstallsOnlyWhenLatchedStep]_stack_vars

\* Without false suspicions: if a member has installed a view, all members that may still install it are stopped in
\* its predecessor.
StoppedUntilAllInstall ==
    MaxFalseSuspicions = 0 =>
        \A k \in DOMAIN views : \A u \in DOMAIN settled[k] : \A x \in up :
            (installed[x] = u /\ Channel!GoesTo(x, u, views[k])) => flush[x].latched /\ got[x] = settled[k][u]

\* FST-03: without false suspicions no member multicasts in a view before all who live have it, or a later one.
NoEarlyMulticastStep ==
    (MaxFalseSuspicions = 0 /\ act'.action = "CastData") =>
        \A x \in up : \A k \in {installed[act'.member]} :
            Has(views[k], x, life[x]) => installed[x] = k \/ Ancestor(k, installed[x])
NoEarlyMulticast == [][NoEarlyMulticastStep]_stack_vars

\* Nothing is on its way, and no member has anything to do or to say, but to look for others.
StackQuiescent ==
    /\ network = {} /\ said = {}
    /\ \A m \in up :
        /\ answers[m] = {} /\ Reports(m) = {} /\ ~(Merging(m) /\ MustTimeOut(m)) /\ ~HasState(m)
        /\ \A q \in Member : wires[q][m] = <<>>
        /\ InView(local[m]) => \A x \in Flush!Members(flush[m]) \cap ViewMembers(m) : ~MayReach(m, x)

\* The group comes to rest only when every member has resumed, and has what was asked for, ...
GoesOn(m) ==
    /\ ~flush[m].latched /\ flush[m].owner = "" /\ flush[m].wants = {} /\ ~Flush!Running(flush[m])
    /\ local[m].gms.phase # "stopping" /\ local[m].holds = "no" /\ m \notin stops.asked \cup stops.given
UnblockedWhenQuiescent == StackQuiescent => \A m \in up : GoesOn(m)

\* ... and, if there is no other member to be found, is in one view and waits for nothing.
ConvergedWhenStackQuiescent == (StackQuiescent /\ \A m \in up : ~CanDiscover(m)) => Converged

-----------------------------------------------------------------------------
(* Liveness *)

\* As long as the stack is not at rest, something is done: by which layer is left open. (No answer of FLUSH is assumed, as
\* merging over GMS alone does, and no view, as FLUSH alone does.)
StackFairness == []<>(StackQuiescent /\ \A m \in up : ~MayDiscover(m)) \/ []<><<TRUE>>_stack_vars

StackLiveSpec == StackSpec /\ StackFairness

\* All members that live are in one view, are not stopped, and stay so.
EventuallyResumed == <>[](Converged /\ \A m \in up : GoesOn(m))

-----------------------------------------------------------------------------
(* Witnesses *)

\* Something was multicast; one is in the merged view, and another of the other side is stopped in the view before.
MergedViewMeetsStopped ==
    \E k \in DOMAIN views : \E m, x \in up :
        /\ k > Len(First) /\ IsMerged(k)
        /\ installed[m] = k /\ installed[x] \in views[k].preds /\ flush[x].latched /\ cast[m] + cast[x] > 0
\* A merged view is left by another, and all are free.
FreeAfterAMerge ==
    /\ StackQuiescent
    /\ \E k \in DOMAIN views : k > Len(First) /\ IsMerged(k) /\ \E m \in up : installed[m] = k /\ got[m] # {}
\* Merging waits for a group that is stopped for a state; and the other way round.
MergeWaitsForAState == \E m \in up : local[m].holds = "stopping" /\ \E x \in up \ {m} : HasState(x)
StateWaitsForAMerge == \E m, x \in up : m # x /\ Wants(m) /\ flush[m].owner = x /\ local[x].holds = "merging"
\* A flush makes deliveries equal, where a merge wants the group.
MadeEqualForAMerge == \E m \in up : flush[m].run.phase = "reconcile" /\ local[m].holds = "stopping"
=============================================================================
