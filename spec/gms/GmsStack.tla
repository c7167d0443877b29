------------------------------ MODULE GmsStack ------------------------------
(******************************************************************************)
(* FLUSH, GMS and STABLE in one stack: a closed model whose atom is the       *)
(* composite step of Composition, which is that of `groupcomm.stack`. GMS     *)
(* hears FLUSH's answers in the same step, and STABLE hears the events that   *)
(* GMS then passes down. No event is carried between them by hand.            *)
(*                                                                            *)
(* Beneath STABLE is a layer of windows, in a few lines: it multicasts,       *)
(* holds back the messages that FLUSH names, and answers GetDigest in the     *)
(* step that asks. STABLE takes its digest from it. (No layer multicasts      *)
(* except in ablations.) Messages arrive once and in the order in which their *)
(* sender sends them to a member. A member that crashes may come back as its  *)
(* next incarnation. State transfer stands beneath GMS: it asks for a stopped *)
(* group, and resumes the group when it is notified.                          *)
(*                                                                            *)
(* Less than the protocols' own models have: no member multicasts, no votes   *)
(* go round, no member leaves, no suspicion is false.                         *)
(******************************************************************************)
EXTENDS Composition, Acts, Views, Digests, FiniteSets

CONSTANTS
    Member,
    MaxBundle,         \* see Gms
    Founders,          \* the members of the first view, in order
    Crashers,          \* bound: the members that may crash
    Requesters,        \* bound: the members whose state transfer has the group stopped
    MaxCrashes,        \* bound: how many members crash
    MaxRestarts,       \* bound: how many come back
    MaxStateTransfers  \* bound: how often state transfers have the group stopped

Flush == INSTANCE Flush

Gms == INSTANCE Gms

Stable == INSTANCE Stable WITH
    MaxBytes <- 0, StableInterval <- 2, StabilityDelay <- 1

VARIABLES
    up,         \* the members that are alive
    life,       \* [Member -> which incarnation of it]
    wires,      \* [Member -> [Member -> messages on their way from one to the other, in the order sent]]
    told,       \* [Member -> what its failure detector has said: pairs of a member and its incarnation]
    transfer,   \* [Member -> its state transfer: "none", or it has "asked", or it has the group "stopped"]
    refused,    \* whether a stack has refused anything
    spent       \* how many crashes, restarts and state transfers there were

stack_vars == <<local, act, up, life, wires, told, transfer, refused, spent>>
stack_view == <<local, up, life, wires, told, transfer, refused, spent>>

-----------------------------------------------------------------------------
(* The layers *)

Names == <<"flush", "gms", "stable", "windows">>
FlushOf(m) == local[m][1]
GmsOf(m) == local[m][2]
StableOf(m) == local[m][3]
WindowsOf(m) == local[m][4]

\* The start of its windows in the next view. The multicasts that it had delivered when it installed this view, and
\* those delivered by now. The limit in force, empty if there is none. The held-back multicasts of this view, in the
\* order of arrival.
NoSeqnos == [m \in {} |-> Nothing]
StartWindows(m) ==
    [member |-> m, view |-> NoView, starts |-> NoSeqnos, base |-> NoSeqnos, delivered |-> NoSeqnos,
     limit |-> NoSeqnos, held |-> <<>>]

StartIn(s, x) ==
    IF x \in DOMAIN s.starts THEN s.starts[x] ELSE IF x \in DOMAIN s.delivered THEN s.delivered[x] ELSE Nothing

\* A multicast of a view. Its number follows from its place among its sender's: they arrive in the order sent.
Numbered(id, payload) == [type |-> "NUMBERED", view_id |-> id, payload |-> payload]

\* A sender's next multicast has come, and no limit holds it back. (A limit counts a sender's multicasts in the view.)
IsDue(s, i) ==
    LET x == s.held[i].sender IN
    /\ \A j \in 1 .. (i - 1) : s.held[j].sender # x
    /\ DOMAIN s.limit = {} \/ s.delivered[x] + 1 <= s.base[x] + s.limit[x]

\* Multicasts that are due are delivered, in the order of arrival.
RECURSIVE Delivering(_, _)
Delivering(s, done) ==
    IF \A i \in DOMAIN s.held : ~IsDue(s, i) THEN Handled(s, done)
    ELSE LET n == CHOOSE i \in DOMAIN s.held : IsDue(s, i) /\ \A j \in 1 .. (i - 1) : ~IsDue(s, j)
             next == s.held[n]
         IN Delivering([s EXCEPT !.delivered[next.sender] = @ + 1,
                                 !.held = SubSeq(@, 1, n - 1) \o SubSeq(@, n + 1, Len(@))],
                       Append(done, PassUp([type |-> "Deliver", sender |-> next.sender,
                                            payload |-> next.payload])))

StepWindows(s, e) ==
    CASE e.type = "ViewInstalled" ->
            LET begun == [x \in MembersOf(e.view) |-> StartIn(s, x)]
            IN Handled([s EXCEPT !.view = e.view, !.starts = NoSeqnos, !.base = begun, !.delivered = begun,
                                 !.limit = NoSeqnos, !.held = <<>>], <<>>)
      [] e.type = "SendRequested" -> Handled(s, <<Multicast(Numbered(s.view.id, e.payload))>>)
      [] e.type = "NumberedReceived" ->
            IF e.message.view_id # s.view.id THEN Ignored(s)
            ELSE Delivering([s EXCEPT !.held = Append(@, [sender |-> e.sender, payload |-> e.message.payload])],
                            <<>>)
      [] e.type = "HoldBack" -> Delivering([s EXCEPT !.limit = e.limit], <<>>)
      [] e.type = "Release" -> Delivering([s EXCEPT !.limit = NoSeqnos], <<>>)
      [] e.type = "DigestSet" -> Handled([s EXCEPT !.starts = e.digest], <<>>)
      [] e.type = "GetDigest" ->
            Handled(s, <<PassUp([type |-> "DigestGiven", asker |-> e.asker, request |-> e.request,
                                 digest |-> s.delivered])>>)
      [] e.type \in {"Fetch", "Purge"} -> Ignored(s)

\* Events that the windows pass up.
DigestOf(s) == [x \in DOMAIN s.delivered |-> [low |-> Nothing, delivered |-> s.delivered[x], received |-> s.delivered[x]]]

RealStepOf(i, s, e) ==
    CASE i = 1 -> Flush!Step(s, e)
      [] i = 2 -> Gms!Step(s, e)
      [] i = 3 -> Stable!Step(s, e)
      [] i = 4 -> StepWindows(s, e)

Known ==
    <<{"Suspend", "Resume", "ViewInstalled", "Suspected", "BlockReturned"},
      {"JoinRequested", "Suspected", "GroupStopped", "DigestGiven"},
      {"ViewInstalled", "DigestPromised", "PromiseWithdrawn"},
      {"ViewInstalled", "HoldBack", "Release", "Fetch", "Purge", "GetDigest", "DigestSet"}>>

RealKnows(i, e) == e.type \in Known[i]
RealOwn(i, e) == e
RealTakes(i, e) == IF i = 3 /\ e.type = "ViewInstalled" THEN [digest |-> "Digest"] ELSE NoSeqnos
RealTells(i, s) == IF i = 4 THEN [Digest |-> DigestOf(s)] ELSE NoSeqnos
RealCalls(i, type) == IF i = 4 /\ type = "Multicast" THEN "SendRequested" ELSE "none"
RealTimeouts(i) == NoSeqnos
RealIsObserved(e) == e.type = "ViewInstalled"
RealEventOf(i, message) ==
    CASE message.type = "NUMBERED" -> "NumberedReceived"
      [] message.type = "START_FLUSH" -> "StartFlushReceived"
      [] message.type = "FLUSH_COMPLETED" -> "FlushCompletedReceived"
      [] message.type = "RECONCILE" -> "ReconcileReceived"
      [] message.type = "STOP_FLUSH" -> "StopFlushReceived"
      [] message.type = "JOIN_REQ" -> "JoinReqReceived"
      [] message.type = "JOIN_RSP" -> "JoinRspReceived"
      [] message.type = "LEAVE_REQ" -> "LeaveReqReceived"
      [] message.type = "LEAVE_RSP" -> "LeaveRspReceived"
      [] message.type = "NEW_VIEW" -> "NewViewReceived"
      [] message.type = "VIEW_ACK" -> "ViewAckReceived"
      [] message.type = "QUERY" -> "QueryReceived"
      [] message.type = "ANSWER" -> "AnswerReceived"

StartOf(m) == <<Flush!Start(m), Gms!Start(m), Stable!Start(m), StartWindows(m)>>

-----------------------------------------------------------------------------
(* A member takes a composite step *)

RECURSIVE Sent(_, _, _)
Sent(net, m, effects) ==
    IF effects = <<>> THEN net
    ELSE LET f == Head(effects)
             receivers == CASE f.type = "Send" -> {f.to} \cap up
                            [] f.type = "Multicast" -> up
                            [] OTHER -> {}
         IN Sent([net EXCEPT ![m] = [x \in Member |-> IF x \in receivers THEN Append(@[x], f.message) ELSE @[x]]],
                 m, Tail(effects))

Says(effects, event) == \E i \in DOMAIN effects : effects[i] = PassDown(event)
StoppedForState == [type |-> "GroupStopped", asker |-> Flush!ForState]

\* The event from outside, as `groupcomm.stack` has it.
CalledWith(e) == [type |-> "Called", request |-> PassDown(e)]
RaisedWith(e) == [type |-> "Raised", event |-> e]
ArrivedWith(q, message) == [type |-> "Arrived", sender |-> q, message |-> message]

\* `net`: the messages in transit, without the message that arrives.
Happens(action, m, given, event, net) ==
    \E step \in {Composite(local[m], event, <<>>)} :
        /\ Take(action, m, given, event, {}, step)
        /\ wires' = Sent(net, m, step.effects)
        /\ transfer' = IF Says(step.effects, StoppedForState) THEN [transfer EXCEPT ![m] = "stopped"]
                       ELSE IF action = "AskForState" THEN [transfer EXCEPT ![m] = "asked"]
                       ELSE IF action = "TakeState" THEN [transfer EXCEPT ![m] = "none"]
                       ELSE transfer
        /\ refused' = (refused \/ step.outcome \in {"local_error", "remote_error"})

Spend(what) == spent' = [spent EXCEPT ![what] = @ + 1]

Receive(m) ==
    /\ m \in up
    /\ \E q \in Member :
        /\ wires[q][m] # <<>>
        /\ Happens("Receive", m, [from |-> q], ArrivedWith(q, Head(wires[q][m])),
                 [wires EXCEPT ![q][m] = Tail(@)])
    /\ UNCHANGED <<up, life, told, spent>>

ReturnFromBlock(m) ==
    /\ m \in up /\ FlushOf(m).block = "asked"
    /\ Happens("ReturnFromBlock", m, None, CalledWith([type |-> "BlockReturned"]), wires)
    /\ UNCHANGED <<up, life, told, spent>>

\* It asks who acts, and again when nothing is on its way between the two.
AskToJoin(m) ==
    /\ m \in up /\ ~Gms!InView(GmsOf(m))
    /\ \E c \in up \ {m} :
        /\ Gms!IsActing(GmsOf(c))
        /\ wires[m][c] = <<>> /\ wires[c][m] = <<>>
        /\ Happens("AskToJoin", m, [to |-> c],
                 CalledWith([type |-> "JoinRequested", coordinator |-> c, life |-> life[m]]), wires)
    /\ UNCHANGED <<up, life, told, spent>>

\* Of its messages some first part arrives.
Crash(m) ==
    /\ spent.crashes < MaxCrashes
    /\ m \in up \cap Crashers /\ up # {m}
    /\ up' = up \ {m}
    /\ \E x \in Member : \E n \in 0 .. Len(wires[m][x]) :
        /\ x # m
        /\ wires' = [q \in Member |-> [y \in Member |->
                        IF y = m THEN <<>> ELSE IF q = m /\ y = x THEN SubSeq(wires[q][y], 1, n) ELSE wires[q][y]]]
    /\ told' = [told EXCEPT ![m] = {}]
    /\ transfer' = [transfer EXCEPT ![m] = "none"]
    /\ Spend("crashes")
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, life, refused>>

Restart(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \notin up
    /\ up' = up \cup {m}
    /\ life' = [life EXCEPT ![m] = @ + 1]
    /\ local' = [local EXCEPT ![m] = StartOf(m)]
    /\ Spend("restarts")
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<wires, told, transfer, refused>>

\* The failure detector watches the members of the view that GMS does not suspect, and its joiners.
Watched(s) ==
    {<<x, s.decision.lives[x]>> : x \in MembersOf(s.decision) \ (s.suspected \cup {s.member})}
    \cup {<<s.queue[i].member, s.queue[i].life>> : i \in {i \in DOMAIN s.queue : s.queue[i].kind = "join"}}
Reports(m) == {w \in Watched(GmsOf(m)) \ told[m] : w[1] \notin up \/ life[w[1]] # w[2]}

Detect(m) ==
    /\ m \in up
    /\ \E w \in Reports(m) :
        /\ Happens("Detect", m, [who |-> w[1]], RaisedWith([type |-> "Suspected", suspect |-> w[1]]), wires)
        /\ told' = [told EXCEPT ![m] = @ \cup {w}]
    /\ UNCHANGED <<up, life, spent>>

AskForState(m) ==
    /\ m \in up \cap Requesters /\ spent.states < MaxStateTransfers
    /\ Gms!InView(GmsOf(m)) /\ transfer[m] = "none"
    /\ Happens("AskForState", m, None, RaisedWith([type |-> "Suspend", asker |-> Flush!ForState]), wires)
    /\ Spend("states")
    /\ UNCHANGED <<up, life, told>>

TakeState(m) ==
    /\ m \in up /\ transfer[m] = "stopped"
    /\ Happens("TakeState", m, None, RaisedWith([type |-> "Resume", asker |-> Flush!ForState]), wires)
    /\ UNCHANGED <<up, life, told, spent>>

-----------------------------------------------------------------------------
FoundersSet == {Founders[i] : i \in DOMAIN Founders}
FirstDecision ==
    Gms!Decision(ViewId(1, Founders[1]), Founders, NoViewId, [m \in FoundersSet |-> 0], {}, Gms!NoDigest)
FirstInstalled == [type |-> "ViewInstalled", view |-> Gms!ViewIn(FirstDecision)]

Begun(m) ==
    LET gms == [Gms!Start(m) EXCEPT !.decision = FirstDecision,
                                    !.phase = IF m = Founders[1] THEN "at rest" ELSE "following"]
        windows == StepWindows(StartWindows(m), FirstInstalled).state
        stable == Stable!Step(Stable!Start(m), FirstInstalled @@ [digest |-> DigestOf(windows)]).state
    IN <<[Flush!Start(m) EXCEPT !.view = Gms!ViewIn(FirstDecision), !.delivered = Flush!Zeros(FoundersSet)],
         gms, stable, windows>>

StackInit ==
    /\ local = [m \in Member |-> IF m \in FoundersSet THEN Begun(m) ELSE StartOf(m)]
    /\ up = Member
    /\ life = [m \in Member |-> 0]
    /\ wires = [q \in Member |-> [m \in Member |-> <<>>]]
    /\ told = [m \in Member |-> {}]
    /\ transfer = [m \in Member |-> "none"]
    /\ refused = FALSE
    /\ spent = [crashes |-> 0, restarts |-> 0, states |-> 0]
    /\ act = NoAct

StackNext ==
    \E m \in Member :
        \/ Receive(m)
        \/ ReturnFromBlock(m)
        \/ AskToJoin(m)
        \/ Crash(m)
        \/ Restart(m)
        \/ Detect(m)
        \/ AskForState(m)
        \/ TakeState(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

-----------------------------------------------------------------------------
(* Claims *)

StackTypeOK ==
    /\ up \subseteq Member /\ refused \in BOOLEAN
    /\ \A m \in Member :
        /\ transfer[m] \in {"none", "asked", "stopped"}
        /\ \A i \in DOMAIN Names : local[m][i].member = m

\* No layer refuses what another one says, or a peer.
NoEventRefused == ~refused

\* All layers of a member have one view between steps.
SameViewInAllLayers ==
    \A m \in up :
        /\ FlushOf(m).view = Gms!ViewIn(GmsOf(m).decision)
        /\ StableOf(m).view = FlushOf(m).view /\ WindowsOf(m).view = FlushOf(m).view

\* An answer reaches the layer that asked, in the step in which it is given. GMS never waits for a digest between
\* steps, ...
DigestComesAtOnce == \A m \in up : GmsOf(m).admitting = 0

\* ... and GMS, or a state transfer, waits for GroupStopped only while FLUSH has yet to stop the group for it.
AnswerReachesCaller ==
    \A m \in up :
        /\ GmsOf(m).phase = "stopping" =>
            Flush!ForViews \in FlushOf(m).wants /\ ~Flush!IsStopped(FlushOf(m))
        /\ transfer[m] = "asked" =>
            Flush!ForState \in FlushOf(m).wants /\ ~Flush!IsStopped(FlushOf(m))

\* The member that m asks to let it in takes no notice.
AsksInVain(m) ==
    \A c \in up \ {m} :
        Gms!IsActing(GmsOf(c)) =>
            Composite(local[c], ArrivedWith(m, Tagged("gms", Gms!JoinReq(life[m]))), <<>>).outcome = "ignored"

\* No step is possible but a crash, a restart, and a request that no member takes notice of.
StackQuiescent ==
    \A m \in up :
        /\ \A q \in Member : wires[q][m] = <<>>
        /\ FlushOf(m).block # "asked" /\ Reports(m) = {} /\ transfer[m] # "stopped"
        /\ Gms!InView(GmsOf(m)) \/ AsksInVain(m)

\* Then every member is in one view of those alive, no member waits, and multicasts go out.
IsInTheView(m) ==
    MembersOf(GmsOf(m).decision) = up
    /\ \A x \in up : GmsOf(x).decision.id = GmsOf(m).decision.id /\ GmsOf(m).decision.lives[x] = life[x]

\* When nothing is on its way, each member is in the view of all that are up, is not stopped, and holds no vote.
ConvergedWhenStackQuiescent ==
    StackQuiescent =>
        \A m \in up :
            /\ IsInTheView(m)
            /\ ~FlushOf(m).latched /\ FlushOf(m).owner = "" /\ FlushOf(m).wants = {}
            /\ GmsOf(m).phase \in {"following", "at rest"} /\ transfer[m] = "none"
            /\ StableOf(m).promised = {}

-----------------------------------------------------------------------------
(* Witnesses *)

\* A member is back, and in a view, in its second incarnation.
IsBack == \E m \in up : life[m] > 0 /\ Gms!InView(GmsOf(m))
\* Its next incarnation asks while the group is stopped to exclude the former one.
AsksBeforeItIsExcluded ==
    \E m \in up : \E i \in DOMAIN GmsOf(m).queue :
        LET r == GmsOf(m).queue[i] IN
        r.kind = "join" /\ r.life > 0 /\ r.member \in MembersOf(GmsOf(m).decision) /\ GmsOf(m).phase = "stopping"
\* A state transfer has the group stopped that GMS waits for.
StateBeforeAView == \E m \in up : transfer[m] = "stopped" /\ GmsOf(m).phase = "stopping"
=============================================================================
