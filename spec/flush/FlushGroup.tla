----------------------------- MODULE FlushGroup -----------------------------
(***************************************************************************)
(* A group of members that run FLUSH, and what is around them, as freely   *)
(* as it may behave:                                                       *)
(* - Unicasts arrive once, in the order sent (ReliableUnicast). When a     *)
(*   member crashes, some first part of what it has on its way to each     *)
(*   other member arrives.                                                 *)
(* - A multicast becomes a copy for each member of its view, itself        *)
(*   included; each arrives at any time, those of one sender in order.     *)
(*   Copies that a crashed member has on their way may be lost, each by    *)
(*   itself. The layer below keeps what was delivered, and sends it again  *)
(*   when it is asked to (Fetch), by way of the member that was named, as  *)
(*   long as that lives. It delivers nothing that it was told to hold      *)
(*   back.                                                                 *)
(* - The application may multicast at any time, also in its BLOCK handler; *)
(*   the handler returns some time later.                                  *)
(* - The membership service tells who acts who wants to join or leave,     *)
(*   again and again, and everybody that somebody they watch has crashed.  *)
(*   False suspicions have a budget. After one, who is counted out by      *)
(*   somebody, or goes another way than somebody, is told that in the end. *)
(*                                                                         *)
(* The variables of VirtualSynchrony are what members have done: decided   *)
(* views, what was multicast and passed up in each. The network of copies  *)
(* reads `log` and `installed`; no member's step depends on them. The      *)
(* claims are in FlushClaims.                                              *)
(***************************************************************************)
EXTENDS Flush, ReliableUnicast, Acts

CONSTANTS
    Founders,       \* the members of the first view, in order of seniority
    Joiners,        \* who wants to join
    Leavers,        \* who may want to leave
    Crashers,       \* bound: who may crash
    Casts,          \* bound: [Member -> how many multicasts its application makes]
    MaxCrashes,     \* fault budget
    MaxFalse,       \* fault budget: false suspicions
    MaxLeaves,      \* bound
    MaxMisuses      \* fault budget: what no correct caller or peer does

VARIABLES
    views, installed,       \* of Membership: see there
    up, log, settled, got,  \* of VirtualSynchrony: see there
    copies,         \* copies of multicasts on their way
    fetches,        \* [Member -> what its layer below asks others for]
    app,            \* [Member -> its application is "free", in its BLOCK "handler", or "blocked"]
    cast,           \* [Member -> how many multicasts its application has made]
    wishes,         \* who wants to leave
    spent           \* budgets used

layers == <<views, installed, up, log, settled, got, copies, fetches, wire>>

vars == <<local, layers, app, cast, wishes, spent, act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, layers, app, cast, wishes, spent>>

\* Addresses are not used again here: everybody is in its first life.
life == [m \in Member |-> 0]

FoundersSet == {Founders[i] : i \in DOMAIN Founders}

First == <<FirstView(1, Founders[1], Founders)>>

Channel == INSTANCE VirtualSynchrony WITH Off <- {}

FirstDecision == Decision(ViewId(1, Founders[1]), Founders, NoViewId, {})

-----------------------------------------------------------------------------
(* What a step of a member does to what is around it *)

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

\* What m multicasts in its view, number k, goes to all members of it. (Who has a later view ignores it.)
NewCopies(m, k, messages) ==
    {Copy(m, to, m, k, messages[i].seqno) :
        to \in {x \in up : x \in DOMAIN views[k].lives /\ installed[x] <= k}, i \in DOMAIN messages}

\* Of m's copies those stay that may still be delivered: those of its view that it lacks, and of views to come.
Useful(set, m, state, k) ==
    {c \in set : c.to # m
        \/ (c.view >= k /\ ~state.left /\ ~state.gone
            /\ (c.view = k /\ c.sender \in DOMAIN state.delivered => c.seqno > state.delivered[c.sender]))}

\* The decision that a step makes: the view that it sends and that nobody decided before.
NewDecisions(effects) ==
    {d \in {effects[i].message.decision :
            i \in {i \in DOMAIN effects : effects[i].type = "Send" /\ effects[i].message.type = "NEW_VIEW"}} :
        ~\E k \in DOMAIN views : views[k].id = d.id /\ views[k].members = d.members}

AsView(d) ==
    DecidedView(d.id, d.members, {k \in DOMAIN views : views[k].id = d.follows},
                [m \in MembersOf(d) |-> 0], d.joiners)

NumberOf(decision) == CHOOSE k \in DOMAIN views : views[k].id = decision.id /\ views[k].members = decision.members

\* The layer below asks for what the last step says; a report, or a view, makes former requests void.
AfterFetches(m, step) ==
    LET asked == Events(step.effects, "PassDown", "Fetch")
    IN IF asked # <<>> THEN {asked[i] : i \in DOMAIN asked}
       ELSE IF step.state.owes /\ step.state.round = local[m].round /\ step.state.decision = local[m].decision
       THEN fetches[m] ELSE {}

\* The application hears BLOCK, and is free again at UNBLOCK.
AfterApp(m, event, effects) ==
    IF Passes(effects, "PassUp", "Block") THEN "handler"
    ELSE IF Passes(effects, "PassUp", "Unblock") THEN "free"
    ELSE IF event.type = "BlockReturned" /\ app[m] = "handler" THEN "blocked"
    ELSE app[m]

\* What is passed up, as VirtualSynchrony speaks of it.
ReceivedAs(m, event) == <<installed[m], event.sender, event.message.seqno>>

MemberStep(s, e) == Step(s, e)

\* Wires without what is on its way to m. (What it sent itself still arrives.)
Deaf(wires, m) == [f \in Member |-> [t \in Member |-> IF t = m THEN <<>> ELSE wires[f][t]]]

\* Member m takes the step that Flush gives; `taken`: the copies of multicasts that it consumes.
ApplyWith(action, m, event, consumed, taken, given) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, given, event, consumed, step)
        /\ up' = IF step.state.gone THEN up \ {m} ELSE up
        /\ wire' = IF step.state.gone THEN Deaf(AfterStep(wire, m, consumed, step.effects, up), m)
                   ELSE AfterStep(wire, m, consumed, step.effects, up)
        /\ IF step.outcome # "handled" THEN
                UNCHANGED <<views, installed, log, settled, got, app, fetches>> /\ copies' = copies \ taken
           ELSE
             /\ app' = [app EXCEPT ![m] = AfterApp(m, event, step.effects)]
             /\ fetches' = [fetches EXCEPT ![m] = AfterFetches(m, step)]
             /\ \E new \in {NewDecisions(step.effects)} : \E sends \in {MulticastsOf(step.effects)} :
                /\ views' = IF new = {} THEN views ELSE Append(views, AsView(CHOOSE d \in new : TRUE))
                /\ log' = IF new # {} THEN Append(log, Channel!NoCasts(AsView(CHOOSE d \in new : TRUE)))
                          ELSE Channel!Casts(log, m, installed[m], Payloads(sends))
                /\ IF Passes(step.effects, "PassUp", "ViewInstalled")
                   THEN \E k \in {NumberOf(step.state.decision)} :
                        /\ installed' = [installed EXCEPT ![m] = k]
                        /\ settled' = [settled EXCEPT ![k] = Channel!Came(m, @)]
                        /\ Channel!Forgets(m)
                        /\ copies' = Useful(copies \ taken, m, step.state, k)
                   ELSE
                        /\ installed' = installed
                        /\ settled' = IF new = {} THEN settled ELSE Append(settled, Channel!NobodyCame)
                        /\ got' = IF Passes(step.effects, "PassUp", "Deliver")
                                  THEN [got EXCEPT ![m] = @ \cup {ReceivedAs(m, event)}]
                                  ELSE got
                        /\ copies' = Useful((copies \ taken) \cup
                                            (IF sends = <<>> THEN {} ELSE NewCopies(m, installed[m], sends)),
                                            m, step.state, installed[m])

Apply(action, m, event, consumed) == ApplyWith(action, m, event, consumed, {}, None)

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Messages arrive *)

\* The next message from x to m, of one of these types.
Receive(action, m, x, type, event) ==
    \E i \in Arrivals(x, m) :
        /\ wire[x][m][i].type = type
        /\ Apply(action, m, [type |-> event, sender |-> x, message |-> wire[x][m][i]],
                 {Packet(x, m, wire[x][m][i])})
        /\ UNCHANGED <<cast, wishes, spent>>

StartFlushFrom(m, x) == Receive("ReceiveStartFlush", m, x, "START_FLUSH", "StartFlushReceived")
FlushCompletedFrom(m, x) == Receive("ReceiveFlushCompleted", m, x, "FLUSH_COMPLETED", "FlushCompletedReceived")
ReconcileFrom(m, x) == Receive("ReceiveReconcile", m, x, "RECONCILE", "ReconcileReceived")
NewViewFrom(m, x) == Receive("ReceiveNewView", m, x, "NEW_VIEW", "NewViewReceived")
StopFlushFrom(m, x) == Receive("ReceiveStopFlush", m, x, "STOP_FLUSH", "StopFlushReceived")
FlushWantedFrom(m, x) == Receive("ReceiveFlushWanted", m, x, "FLUSH_WANTED", "FlushWantedReceived")

ReceiveStartFlush(m) == m \in up /\ \E x \in Member : StartFlushFrom(m, x)
ReceiveFlushCompleted(m) == m \in up /\ \E x \in Member : FlushCompletedFrom(m, x)
ReceiveReconcile(m) == m \in up /\ \E x \in Member : ReconcileFrom(m, x)
ReceiveNewView(m) == m \in up /\ \E x \in Member : NewViewFrom(m, x)
ReceiveStopFlush(m) == m \in up /\ \E x \in Member : StopFlushFrom(m, x)
ReceiveFlushWanted(m) == m \in up /\ \E x \in Member : FlushWantedFrom(m, x)

-----------------------------------------------------------------------------
(* The application *)

\* The payload says which of the sender's multicasts it is.
AppSends(m) ==
    /\ m \in up /\ cast[m] < Casts[m]
    /\ InView(local[m])
    /\ Apply("AppSends", m, [type |-> "SendRequested", payload |-> cast[m] + 1], {})
    /\ cast' = [cast EXCEPT ![m] = @ + 1]
    /\ UNCHANGED <<wishes, spent>>

ReturnBlock(m) ==
    /\ m \in up /\ app[m] = "handler"
    /\ Apply("ReturnBlock", m, [type |-> "BlockReturned"], {})
    /\ UNCHANGED <<cast, wishes, spent>>

-----------------------------------------------------------------------------
(* The layer below *)

DataOf(c) == Data(views[c.view].id, c.seqno, log[c.view][c.sender][c.seqno])

DataEvent(c) == [type |-> "DataReceived", sender |-> c.sender, message |-> DataOf(c)]

\* Is it next of its sender, and not held back? What is of another view arrives at once, and is ignored.
MayArrive(m, c) ==
    LET s == local[m] IN
    IF c.view # installed[m] \/ c.sender \notin DOMAIN s.delivered THEN TRUE
    ELSE IsNext(s, c.sender, c.seqno) /\ (s.frozen => c.seqno <= s.limit[c.sender])

ReceiveData(m) ==
    /\ m \in up
    /\ \E c \in copies :
        /\ c.to = m
        /\ MayArrive(m, c)
        /\ ApplyWith("ReceiveData", m, DataEvent(c), {}, {c}, None)
    /\ UNCHANGED <<cast, wishes, spent>>

\* The layer below of m asks another's, which sends what m lacks; by way of that one it may be lost with it.
Retransmit(m) ==
    /\ m \in up
    /\ \E f \in fetches[m] :
        /\ f.holder \in up
        /\ copies' = copies \cup {Copy(f.holder, m, f.sender, installed[m], n) :
                                    n \in local[m].delivered[f.sender] + 1 .. f.upto}
        /\ fetches' = [fetches EXCEPT ![m] = @ \ {f}]
        /\ Environment("Retransmit", m, [holder |-> f.holder, sender |-> f.sender, upto |-> f.upto], {})
    /\ UNCHANGED <<local, views, installed, up, log, settled, got, wire, app, cast, wishes, spent>>

-----------------------------------------------------------------------------
(* The membership service, and faults *)

\* x wants to join, and m is not told yet. (Nobody asks whom it suspects.)
MayBeAsked(m, x) ==
    /\ ~InView(local[x]) /\ m \notin local[x].suspected
    /\ x \notin Members(local[m]) /\ \A i \in DOMAIN local[m].joining : local[m].joining[i] # x
    /\ x \notin local[m].suspected

\* Whoever acts is told.
AskToJoin(m) ==
    /\ m \in up
    /\ Acts(local[m])
    /\ \E x \in Joiners \cap up :
        /\ MayBeAsked(m, x)
        /\ Apply("AskToJoin", m, [type |-> "JoinRequested", joiner |-> x], {})
    /\ UNCHANGED <<cast, wishes, spent>>

WishToLeave(m) ==
    /\ spent.leaves < MaxLeaves
    /\ m \in up /\ m \in Leavers /\ m \notin wishes
    /\ InView(local[m]) /\ ~local[m].left
    /\ Apply("WishToLeave", m, [type |-> "LeaveRequested", leaver |-> m], {})
    /\ wishes' = wishes \cup {m}
    /\ Spend("leaves")
    /\ cast' = cast

AskToLeave(m) ==
    /\ m \in up
    /\ Acts(local[m])
    /\ \E x \in wishes \cap up :
        /\ x \in Members(local[m])
        /\ x \notin local[m].leaving \/ (x = m /\ IsLast(local[m]))
        /\ Apply("AskToLeave", m, [type |-> "LeaveRequested", leaver |-> x], {})
    /\ UNCHANGED <<cast, wishes, spent>>

\* Some first part of what it sent to each other member arrives. Of its copies, those behind a lost one are
\* useless: they are lost with it.
Crash(m) ==
    /\ spent.crashes < MaxCrashes
    /\ m \in up /\ m \in Crashers
    /\ up' = up \ {m}
    /\ LET most == CHOOSE n \in {Len(wire[m][t]) : t \in Member} : \A t \in Member : Len(wire[m][t]) <= n IN
       \E keep \in [up \ {m} -> 0 .. most] :
        /\ \A t \in up \ {m} : keep[t] <= Len(wire[m][t])
        /\ wire' = [f \in Member |-> [t \in Member |->
                        IF t \notin up \/ t = m THEN <<>>
                        ELSE IF f = m THEN SubSeq(wire[m][t], 1, keep[t]) ELSE wire[f][t]]]
    /\ \E lost \in SUBSET {c \in copies : c.via = m /\ c.to # m} :
        /\ \A c \in lost : \A d \in copies :
            (d.via = m /\ d.to = c.to /\ d.sender = c.sender /\ d.view = c.view /\ d.seqno > c.seqno) => d \in lost
        /\ copies' = {c \in copies : c.to # m} \ lost
    /\ fetches' = [fetches EXCEPT ![m] = {}]
    /\ app' = [app EXCEPT ![m] = "free"]
    /\ Spend("crashes")
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, views, installed, log, settled, got, cast, wishes>>

\* m wants to leave, and who lets it go has something to say to it yet.
IsLetGo(m) ==
    /\ m \in wishes
    /\ \E x \in Member : wire[x][m] # <<>> \/ (x \in up \ {m} /\ m \in local[x].run.want \cup Asked(local[x]))

\* Is one of two views on the way to the other?
RECURSIVE Precedes(_, _)
Precedes(j, k) == j = k \/ \E i \in views[k].preds : Precedes(j, i)
OnOneWay(x, m) ==
    LET j == NumberOf(local[x].decision)
        k == NumberOf(local[m].decision)
    IN Precedes(j, k) \/ Precedes(k, j)

\* x suspects m, or has a view without it, or one on another way. (Only after a false suspicion.)
CountsOut(x, m) ==
    /\ MaxFalse > 0 /\ InView(local[m])
    /\ \/ m \in local[x].suspected
       \/ /\ InView(local[x]) /\ m \notin Members(local[x]) /\ ~local[m].left /\ ~IsLetGo(m)
          /\ local[x].decision.id.counter >= local[m].decision.id.counter
       \/ InView(local[x]) /\ ~OnOneWay(x, m)

\* (Who left in good order is missed when all that it sent has arrived.)
IsMissed(x, m) == x \notin up /\ (local[x].gone => wire[x][m] = <<>>)

\* What the failure detector has to say to m.
Reports(m) == {x \in Watched(local[m]) : x \notin local[m].suspected /\ (IsMissed(x, m) \/ CountsOut(x, m))}

Detect(m) ==
    /\ m \in up /\ ~local[m].gone
    /\ \E x \in Reports(m) : Apply("Detect", m, [type |-> "Suspected", suspect |-> x], {})
    /\ UNCHANGED <<cast, wishes, spent>>

SuspectFalsely(m) ==
    /\ spent.false < MaxFalse
    /\ m \in up
    /\ \E x \in (Watched(local[m]) \ local[m].suspected) \ Reports(m) :
        Apply("SuspectFalsely", m, [type |-> "Suspected", suspect |-> x], {})
    /\ Spend("false")
    /\ UNCHANGED <<cast, wishes>>

\* What no correct caller, layer or peer does. Each changes nothing.
Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ m \in up
    /\ LET s == local[m]
           strange == Decision(ViewId(9, "Z"), <<"Z">>, ViewId(8, "Z"), {})
           early == IF s.frozen THEN {x \in DOMAIN s.delivered : s.delivered[x] = s.limit[x]} ELSE {}
       IN
       \E event \in
        {[type |-> "Suspected", suspect |-> m], [type |-> "Suspected", suspect |-> "Z"],
         [type |-> "StartFlushReceived", sender |-> m, message |-> StartFlush(9, {m})],
         [type |-> "StopFlushReceived", sender |-> "Z", message |-> StopFlush],
         [type |-> "FlushWantedReceived", sender |-> "Z", message |-> FlushWanted("Y", strange, {})],
         [type |-> "ReconcileReceived", sender |-> "Z", message |-> ReconcileMessage(9, NoVector, [x \in {} |-> ""])],
         [type |-> "FlushCompletedReceived", sender |-> "Z", message |-> FlushCompleted(9, strange, NoVector)],
         [type |-> "FlushCompletedReceived", sender |-> "Y", message |-> FlushCompleted(9, strange, NoVector)],
         [type |-> "JoinRequested", joiner |-> m], [type |-> "LeaveRequested", leaver |-> "Z"]}
        \cup (IF app[m] = "handler" THEN {} ELSE {[type |-> "BlockReturned"]})
        \cup (IF InView(s) THEN {} ELSE
                {[type |-> "SendRequested", payload |-> 9],
                 [type |-> "NewViewReceived", sender |-> "Z", message |-> NewView(9, strange, {})]})
        \cup {[type |-> "DataReceived", sender |-> x,
               message |-> Data(s.decision.id, s.delivered[x] + 1, 9)] : x \in early} :
        Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED <<cast, wishes>>

-----------------------------------------------------------------------------
Init ==
    /\ Channel!Init
    /\ local = [m \in Member |->
                    IF m \notin FoundersSet THEN Start(m)
                    ELSE [Start(m) EXCEPT !.decision = FirstDecision, !.delivered = Zeros(FoundersSet)]]
    /\ wire = EmptyWire
    /\ copies = {}
    /\ fetches = [m \in Member |-> {}]
    /\ app = [m \in Member |-> "free"]
    /\ cast = [m \in Member |-> 0]
    /\ wishes = {}
    /\ spent = [crashes |-> 0, false |-> 0, leaves |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ ReceiveStartFlush(m)
        \/ ReceiveFlushCompleted(m)
        \/ ReceiveReconcile(m)
        \/ ReceiveNewView(m)
        \/ ReceiveStopFlush(m)
        \/ ReceiveFlushWanted(m)
        \/ AppSends(m)
        \/ ReturnBlock(m)
        \/ ReceiveData(m)
        \/ Retransmit(m)
        \/ AskToJoin(m)
        \/ WishToLeave(m)
        \/ AskToLeave(m)
        \/ Crash(m)
        \/ Detect(m)
        \/ SuspectFalsely(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
