------------------------------ MODULE GmsFlush ------------------------------
(******************************************************************************)
(* FLUSH over GMS: a closed model of two neighbours. GMS makes the views,     *)
(* FLUSH stops the group for them; what one passes is the other's event.      *)
(* Up go ViewInstalled, Suspected, Suspend, Resume; down goes GroupStopped.   *)
(* Neither is stood in for: no view is decided but when FLUSH has said        *)
(* that the group is stopped, and FLUSH knows of views and suspicions what    *)
(* GMS says.                                                                  *)
(*                                                                            *)
(* The group is that of GmsGroup, with all its actions; PassedUp says what    *)
(* follows from each for FLUSH, in the same step. FLUSH's unicasts come in    *)
(* the order sent (as it assumes), and beside those of GMS in any order.      *)
(* Below is a multicast that holds back and fetches what FLUSH says; what     *)
(* a crashed member has multicast may reach some and not others.              *)
(*                                                                            *)
(* Less than spec/flush has: BLOCK returns at once, what a member sends to    *)
(* itself arrives at once, and behind its latch no member tries to multicast. *)
(*                                                                            *)
(* Claimed is what neither gives alone: VirtualSynchrony over the views of    *)
(* GMS, and that the group comes to rest settled and free.                    *)
(******************************************************************************)
EXTENDS GmsClaims

CONSTANTS
    Passes,               \* the events that GMS passes up and FLUSH sees
    Casts                 \* bound: [Member -> how many multicasts its application makes]

VARIABLES
    flush,              \* [Member -> FLUSH's state]
    wires,              \* [Member -> [Member -> FLUSH's messages on their way from one to the other]]
    said,               \* the callers to which FLUSH has said that the group is stopped, when GMS has not heard it
                        \* yet
    fetches,            \* [Member -> what its layer below asks others for]
    refused,            \* whether FLUSH has refused anything
    lost,               \* whom a crashed member's multicasts do not reach: a set of [to, view, sender]
    sent,               \* [Member -> how many multicasts it has made]
    log, settled, got   \* of VirtualSynchrony: see there

stack_vars == <<vars, flush, wires, said, fetches, refused, lost, sent, log, settled, got>>

\* (Who is held is GmsGroup's stand-in for FLUSH: nothing here depends on it.)
stack_view ==
    <<local, network, up, life, answers, told, spent, views, installed, promises, flush, wires, said, fetches,
      refused, lost, sent, log, settled, got>>

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

Told(effects) == \E i \in DOMAIN effects : effects[i].type = "PassDown" /\ effects[i].event = StoppedFor(Self)

\* A report, or a view, makes former requests void.
AfterFetches(m, done) ==
    LET asked == {done.effects[i].event : i \in {i \in DOMAIN done.effects :
                    done.effects[i].type = "PassDown" /\ done.effects[i].event.type = "Fetch"}}
    IN IF asked # {} THEN asked
       ELSE IF done.state.owes /\ done.state.round = flush[m].round /\ done.state.owner = flush[m].owner
       THEN fetches[m] ELSE {}

\* Of m's FLUSH: all but what was multicast and received.
FlushDid(m, done, net) ==
    /\ flush' = [flush EXCEPT ![m] = done.state]
    /\ wires' = FlushRuns!AfterSends(net, m, done.effects, up')
    /\ fetches' = [fetches EXCEPT ![m] = IF m \in up' THEN AfterFetches(m, done) ELSE {}]
    /\ refused' = (refused \/ FlushRuns!EffectsOf(done.effects, "Refused") # <<>>)
    /\ said' = ((IF Told(done.effects) THEN said \cup {m} ELSE said) \cap up')
               \ (IF act'.action = "StopGroup" /\ ~Told(done.effects) THEN {m} ELSE {})

-----------------------------------------------------------------------------
(* FLUSH's messages arrive, and multicasts *)

Alone == UNCHANGED <<view, stops>>

ReceiveFlush(m) ==
    /\ m \in up
    /\ \E q \in Member :
        /\ wires[q][m] # <<>>
        /\ \E done \in {Runs(m, <<FlushRuns!EventOf(q, Head(wires[q][m]))>>)} :
            /\ Record("ReceiveFlush", m, FALSE, [from |-> q], FlushRuns!EventOf(q, Head(wires[q][m])), {},
                      "handled", done.effects)
            /\ Alone
            /\ FlushDid(m, done, [wires EXCEPT ![q][m] = Tail(@)])
    /\ UNCHANGED <<lost, sent, log, settled, got>>

\* m has received all its own multicasts.
CastData(m) ==
    /\ m \in up /\ sent[m] < Casts[m]
    /\ InView(local[m]) /\ ~flush[m].latched
    /\ sent' = [sent EXCEPT ![m] = @ + 1]
    /\ log' = Channel!Casts(log, m, installed[m], <<sent[m] + 1>>)
    /\ got' = [got EXCEPT ![m] = @ \cup {<<installed[m], m, flush[m].sent + 1>>}]
    /\ \E done \in {Runs(m, <<[type |-> "SendRequested", payload |-> sent[m] + 1]>>)} :
        /\ Record("CastData", m, FALSE, None, NoEvent, {}, "handled", done.effects)
        /\ Alone
        /\ FlushDid(m, done, wires)
    /\ UNCHANGED <<lost, settled>>

\* The next multicast of x can reach m: from x, or, if x has crashed, from the network or from the member that was
\* asked for it.
MayReach(m, x) ==
    LET n == flush[m].delivered[x] + 1 IN
    /\ x # m
    /\ n \in DOMAIN log[installed[m]][x]
    /\ flush[m].frozen => n <= flush[m].limit[x]
    /\ (x \notin up /\ [to |-> m, view |-> installed[m], sender |-> x] \in lost) =>
        \E f \in fetches[m] : f.sender = x /\ n <= f.upto /\ f.holder \in up

GetData(m) ==
    /\ m \in up /\ InView(local[m])
    /\ \E x \in MembersOfView(local[m]) :
        /\ MayReach(m, x)
        /\ \E n \in {flush[m].delivered[x] + 1} :
           \E event \in {[type |-> "DataReceived", sender |-> x,
                          message |-> Flush!Data(local[m].decision.id, n, log[installed[m]][x][n])]} :
           \E done \in {Runs(m, <<event>>)} :
            /\ got' = [got EXCEPT ![m] = @ \cup {<<installed[m], x, n>>}]
            /\ Record("GetData", m, FALSE, [sender |-> x, seqno |-> n], NoEvent, {}, "handled",
                      done.effects)
            /\ Alone
            /\ FlushDid(m, done, wires)
    /\ UNCHANGED <<lost, sent, log, settled>>

-----------------------------------------------------------------------------
(* Effects of a step of GMS's group *)

IsForFlush(effect) == effect.type = "PassUp" /\ effect.event.type \in Passes

\* Each multicast of m that has not been received reaches each other member or is lost; a first part of its messages
\* arrives.
AfterCrash(m) ==
    LET lacking == {x \in up' : installed[m] # 0 /\ installed[x] = installed[m]
                                /\ flush[x].delivered[m] < Len(log[installed[m]][m])}
    IN /\ flush' = flush
       /\ \E keep \in [up' -> 0 .. 3] :
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

PassedUp ==
    /\ IF act'.action = "Crash" THEN AfterCrash(act'.member) ELSE AfterStepOf(act'.member)
    /\ sent' = sent
    /\ log' = IF views' = views THEN log ELSE Append(log, Channel!NoCasts(views'[Len(views')]))
    /\ LET m == act'.member
           all == IF views' = views THEN settled ELSE Append(settled, Channel!NoArrivals)
       IN IF installed' = installed THEN settled' = all /\ got' = got
          ELSE settled' = [all EXCEPT ![installed'[m]] = Channel!Came(m, @)] /\ Channel!Forgets(m)

-----------------------------------------------------------------------------
StackInit ==
    /\ Init
    /\ flush = [m \in Member |->
                    IF m \notin FoundersSet THEN Flush!Start(m)
                    ELSE [Flush!Start(m) EXCEPT !.view = ViewIn(FirstDecision),
                                                !.delivered = Flush!Zeros(FoundersSet)]]
    /\ wires = [q \in Member |-> [x \in Member |-> <<>>]]
    /\ said = {} /\ lost = {} /\ refused = FALSE
    /\ fetches = [m \in Member |-> {}]
    /\ sent = [m \in Member |-> 0]
    /\ log = [k \in DOMAIN views |-> Channel!NoCasts(views[k])]
    /\ settled = [k \in DOMAIN views |-> Channel!NoArrivals]
    /\ got = [m \in Member |-> {}]

\* A joiner asks again when some member takes notice: a bound.
AsksForSomething == act'.action = "AskToJoin" => ~AsksInVain(act'.member)

\* GMS hears at once what FLUSH says.
StackNext ==
    IF said # {} THEN (\E m \in said : StopGroup(m)) /\ PassedUp
    ELSE \/ /\ Next
            /\ act'.action # "StopGroup"
            /\ AsksForSomething
            /\ PassedUp
         \/ \E m \in Member :
            \/ ReceiveFlush(m)
            \/ CastData(m)
            \/ GetData(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

-----------------------------------------------------------------------------
(* Claims *)

FlushTypeOK ==
    /\ \A m \in Member :
        /\ flush[m].member = m
        /\ flush[m].owner \in Member \cup {""} /\ flush[m].wants \subseteq {Self, "FLUSH"}
        /\ flush[m].run.phase \in {"none", "start", "reconcile", "stopped"}
        /\ flush[m].run.want \subseteq Member
    /\ said \subseteq up /\ refused \in BOOLEAN

\* FLUSH has the view that GMS has, and suspects whom GMS suspects.
SameViewInFlush ==
    \A m \in up :
        InView(local[m]) =>
            /\ flush[m].view = ViewIn(local[m].decision)
            /\ flush[m].suspected = local[m].suspected

\* Neither refuses what the other says, or its peers.
NoEventRefused == ~refused

\* (A coordinator that leaves decides the view without itself and departs, in one step of GMS: these are two.)
DecidesAndDeparts ==
    \E v \in {views'[Len(views')]} :
        /\ Channel!Group!MayDecide(v)
        /\ views' = Append(views, v) /\ log' = Append(log, Channel!NoCasts(v))
        /\ settled' = Append(settled, Channel!NoArrivals)
        /\ act'.member \in up /\ up' = up \ {act'.member}
        /\ UNCHANGED <<installed, got>>

\* (Multicast and received by oneself, at once: two, too.)
CastsAndReceives ==
    \E m \in {act'.member} :
        /\ Channel!MayCast(m, installed[m])
        /\ got' = [got EXCEPT ![m] = @ \cup {<<installed[m], m, Len(log[installed[m]][m]) + 1>>}]
        /\ UNCHANGED <<views, installed, life, up, settled>>

channel_vars == <<views, installed, up, log, settled, got>>

\* Each step of the group is a step of VirtualSynchrony.
RefinesVirtualSynchronyStep ==
    channel_vars' # channel_vars =>
        IF views' # views /\ up' # up THEN DecidesAndDeparts
        ELSE IF act'.action = "CastData" THEN CastsAndReceives
        ELSE IF MaxFalseSuspicions = 0 THEN Channel!Next ELSE Branching!Next
RefinesVirtualSynchrony == [][RefinesVirtualSynchronyStep]_stack_vars

\* A view comes to members that are stopped, whoever sends it. (And to joiners.)
InstallsOnlyWhenLatchedStep ==
    \A m \in Member : (installed[m] # 0 /\ installed'[m] # installed[m]) => flush[m].latched
InstallsOnlyWhenLatched == [][InstallsOnlyWhenLatchedStep]_stack_vars

\* Without false suspicions: if a member has installed a view, all members that may still install it are stopped in
\* its predecessor.
StoppedUntilAllInstall ==
    MaxFalseSuspicions = 0 =>
        \A k \in DOMAIN views : \A u \in DOMAIN settled[k] : \A x \in up :
            (installed[x] = u /\ Channel!GoesTo(x, u, views[k])) => flush[x].latched /\ got[x] = settled[k][u]

\* FST-03: without false suspicions no member multicasts in a view before all who live have it.
NoEarlyMulticastStep ==
    (MaxFalseSuspicions = 0 /\ act'.action = "CastData") =>
        \A x \in up : Has(views[installed[act'.member]], x, life[x]) => installed[x] >= installed[act'.member]
NoEarlyMulticast == [][NoEarlyMulticastStep]_stack_vars

\* Nothing is on its way, and no member has anything to do or to say.
StackQuiescent ==
    /\ network = {} /\ said = {}
    /\ \A m \in up :
        /\ answers[m] = {} /\ Reports(m) = {}
        /\ \A q \in Member : wires[q][m] = <<>>
        /\ IF InView(local[m]) THEN \A x \in MembersOfView(local[m]) : ~MayReach(m, x) ELSE AsksInVain(m)

\* The group comes to rest only when it has converged and every member has resumed.
Resumed == Converged /\ \A m \in up : ~flush[m].latched /\ flush[m].owner = "" /\ flush[m].wants = {}
UnblockedWhenQuiescent == StackQuiescent => Resumed

-----------------------------------------------------------------------------
(* Liveness *)

\* A joiner asks again, and is answered again: the only steps that the group repeats without end.
Repeats == act'.action \in {"AskToJoin", "ReceiveJoinReq", "ReceiveJoinRsp"}

\* As long as the stack is not at rest, a step is taken that is no repetition. No answer of FLUSH is assumed, as GMS alone
\* does, and no view of GMS, as FLUSH alone does.
StackFairness == []<>StackQuiescent \/ []<><<~Repeats>>_stack_vars

StackLiveSpec == StackSpec /\ StackFairness

\* All members that live are in one view, are not stopped, and stay so.
EventuallyResumed == <>[]Resumed

-----------------------------------------------------------------------------
(* Witnesses *)

\* A member that takes over relays a view to some member that is stopped by a crashed coordinator.
RelayedToTheStopped ==
    \E p \in network :
        /\ p.message.type = "NEW_VIEW" /\ p.sender # p.message.decision.id.creator
        /\ installed[p.to] # 0 /\ p.message.decision.follows = local[p.to].decision.id
        /\ flush[p.to].latched /\ flush[p.to].owner \notin up
\* A flush makes deliveries equal.
MadeEqual == \E m \in up : flush[m].run.phase = "reconcile"
=============================================================================
