--------------------------- MODULE SequencerGroup ---------------------------
(***************************************************************************)
(* A group of members that run SEQUENCER over a unicast and a multicast    *)
(* layer, beneath a membership service.                                    *)
(*                                                                         *)
(* What is around the members, and what SEQUENCER needs of it:             *)
(* - Multicasts (NAKACK). What the coordinator of view k multicasts in     *)
(*   view k is the log of view k. Members receive a log in order and       *)
(*   without gaps, each at its own pace. Weaker: in any order, with loss.  *)
(* - Unicasts (UNICAST). What one member sends to another arrives in the   *)
(*   order sent, once. Weaker: in any order, again, with loss.             *)
(* - Views. The membership service has decided a history of views, with    *)
(*   merges. Members install those they are in, in order, each at a moment *)
(*   of its own.                                                           *)
(* - Virtual synchrony. A view is closed before the next exists: the layer *)
(*   settles how much of its log everybody who goes on will have received: *)
(*   at least what one of them has, all of it if its coordinator goes on;  *)
(*   what is multicast after that reaches nobody who goes on. A member     *)
(*   installs the next view when it has received that much. "uniform": at  *)
(*   least what anybody has received, crashed or not. "none": members      *)
(*   install views whenever they like, and what arrives afterwards arrives *)
(*   all the same.                                                         *)
(* - Crashes and leaves, at any moment: what is in a log may have reached  *)
(*   some members only, FORWARDs may have gone anywhere or nowhere. Who    *)
(*   was left out may live on for a while in its old view. An address may  *)
(*   come back as a new incarnation, without memory.                       *)
(***************************************************************************)
EXTENDS Sequencer, Acts

CONSTANTS
    Member,         \* all addresses
    History,        \* the views in the order of their counters
    Follows,        \* [view -> the view that follows it; 0: none does]. A merge view follows several.
    Restarted,      \* [view -> its members that come to it as new incarnations, though they were in the one before]
    Sends,          \* [Member -> Nat]: how many multicasts each member sends at most, over its incarnations
    ViewSynchrony,  \* "uniform", "virtual", or "none"
    Unicast,        \* "fifo", "unordered", "duplicating", or "lossy"
    Nakack,         \* "fifo", "unordered", or "lossy"
    SendIsAtomic,   \* no view can come between looking up the coordinator, entering the table and sending
    StopRule,       \* a member that stops goes "at_once", "drained" (its table is empty), or "flushed" (all are)
    Lingers,        \* who is left out by a view may live on in its old one. (If not, it counts as crashed then.)
    MaxCrashes,     \* fault budget
    MaxDuplicates,  \* fault budget, with "duplicating"
    MaxLost,        \* fault budget, with "lossy"
    MaxUnicasts,    \* bound: unicasts of the application
    MaxStops,       \* bound: members that stop in good order
    MaxMisuses,     \* fault budget: what no correct peer or caller does
    Leak            \* defects of this model itself: "none", "neighbour", "packet", "ignored", "multicast"

VARIABLES
    log,            \* [view -> what its coordinator multicast in it]
    closed,         \* [view -> how much of its log is settled; Open: it is not closed]
    got,            \* [Member -> [view -> which of its log was received, as indices]]
    wire,           \* [Member -> [Member -> unicasts on their way from the one to the other]]
    up,             \* the members that have not crashed or stopped
    due,            \* members that have yet to send their table again (only with ResendBeforeNew off)
    looked,         \* [Member -> view in which a thread looked up the coordinator; 0: none] (SendIsAtomic off)
    stops,          \* [Member -> it goes on: "no", wants to stop: "asked", has stopped: "gone"]
    spent,          \* budgets used
    aux_sent,       \* [Member -> number of multicasts so far; they are numbered from 1, over all incarnations]
    aux_delivered   \* [Member -> what this incarnation delivered, in order: <<sender, number, view it was in>>]

vars == <<local, log, closed, got, wire, up, due, looked, stops, spent, aux_sent, aux_delivered, act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, log, closed, got, wire, up, due, looked, stops, spent, aux_sent, aux_delivered>>

-----------------------------------------------------------------------------
(* Where members are in the history of views. Tables, because TLC evaluates a constant once and an operator at *)
(* every use.                                                                                                  *)

Open == -1
Synchronous == ViewSynchrony # "none"

Views == DOMAIN History
MembersIn == [k \in Views |-> MembersOf(History[k])]
Coordinator == [k \in Views |-> CoordinatorOf(History[k])]

\* The number of the view that m has installed; 0: none.
Idx(m) == local[m].view.id.counter

InGroup == {m \in Member : Idx(m) > 0}

\* The views that members are in at the start.
FirstViews == {k \in Views : \A j \in Views : Follows[j] # k}

\* m goes from view k to the view after it, as the same incarnation.
Continues ==
    [m \in Member |-> [k \in Views |->
        LET next == Follows[k] IN
        IF next = 0 THEN FALSE ELSE m \in MembersIn[k] /\ m \in MembersIn[next] \ Restarted[next]]]

Joiners ==
    [k \in Views |->
        IF k \in FirstViews THEN {}
        ELSE {m \in MembersIn[k] : \A j \in Views : Follows[j] = k => ~Continues[m][j]}]

RECURSIVE ContinuesFrom(_, _)
ContinuesFrom(m, k) == IF Follows[k] = 0 THEN TRUE ELSE Continues[m][k] /\ ContinuesFrom(m, Follows[k])

\* m goes from view k to the last one, as the same incarnation.
Stays == [m \in Member |-> [k \in Views |-> m \in MembersIn[k] /\ ContinuesFrom(m, k)]]

\* The view with which the incarnation of m that is in view k began.
Entered ==
    [m \in Member |-> [k \in Views |->
        LET began == {j \in 1 .. k : m \in MembersIn[j] /\ (j \in FirstViews \/ m \in Joiners[j])}
        IN IF began = {} THEN 0 ELSE CHOOSE j \in began : \A i \in began : i <= j]]

\* Those who are there from a first view to the last one.
Stayers == {m \in Member : \E k \in FirstViews : Stays[m][k]}

ASSUME
    /\ \A k \in Views : History[k].id.counter = k /\ Follows[k] \in {0} \cup k + 1 .. Len(History)
    /\ \A m \in Member : Cardinality({k \in Views : m \in Joiners[k]}) <= 1
    /\ ViewSynchrony \in {"uniform", "virtual", "none"}
    /\ Unicast \in {"fifo", "unordered", "duplicating", "lossy"}
    /\ Nakack \in {"fifo", "unordered", "lossy"}
    /\ StopRule \in {"at_once", "drained", "flushed"}
    /\ Leak \in {"none", "neighbour", "packet", "ignored", "multicast"}
    /\ {SendIsAtomic, Lingers, KeepAct} \subseteq BOOLEAN

-----------------------------------------------------------------------------
(* Applying Step to one member *)

Packet(from, to, message) == [sender |-> from, to |-> to, message |-> message]

Without1(queue, message) ==
    LET i == CHOOSE i \in DOMAIN queue : queue[i] = message /\ \A j \in 1 .. i - 1 : queue[j] # message
    IN SubSeq(queue, 1, i - 1) \o SubSeq(queue, i + 1, Len(queue))

\* The unicasts on their way after a step of `from` that took some and had these effects. What is sent to a member
\* that has crashed is gone. (Most steps have no effects, and TLC is faster when told so.)
AfterStep(wires, from, consumed, effects) ==
    LET rest == IF consumed = {} THEN wires
                ELSE LET p == CHOOSE p \in consumed : TRUE
                     IN [wires EXCEPT ![p.sender][p.to] = Without1(@, p.message)]
        sent(to) ==
            LET IsSent(effect) == effect.type = "Send" /\ effect.to = to
                sends == SelectSeq(effects, IsSent)
            IN [i \in DOMAIN sends |-> sends[i].message]
    IN IF \A i \in DOMAIN effects : effects[i].type # "Send" THEN rest
       ELSE [rest EXCEPT ![from] = [to \in Member |-> IF to \in up THEN @[to] \o sent(to) ELSE @[to]]]

AfterMulticasts(logs, k, effects) ==
    LET IsMulticast(effect) == effect.type = "Multicast"
        sent == SelectSeq(effects, IsMulticast)
    IN IF sent = <<>> THEN logs ELSE [logs EXCEPT ![k] = @ \o [i \in DOMAIN sent |-> sent[i].message]]

\* What was delivered of multicasts.
Delivered(event, effects, k) ==
    LET IsDelivery(effect) == effect.type = "PassUp"
        passed == SelectSeq(effects, IsDelivery)
    IN IF event.type # "DataReceived" THEN <<>>
       ELSE [i \in DOMAIN passed |-> <<passed[i].event.sender, passed[i].event.payload, k>>]

\* What a model that is no model of members would do: a step that reaches into another member ("neighbour"), an
\* event said to be ignored that is not ("ignored"), a message that no effect says ("packet"), a multicast by a
\* member that is not coordinator ("multicast").
LeakyLocal(m, step) ==
    [x \in Member |->
        IF x = m
        THEN IF Leak = "ignored" /\ step.outcome = "ignored" THEN [step.state EXCEPT !.epoch = Len(History)] ELSE step.state
        ELSE IF Leak = "neighbour" /\ step.effects # <<>> THEN [local[x] EXCEPT !.forward_table = <<>>]
        ELSE local[x]]

Leaked(m, wires) ==
    IF Leak = "packet" /\ wires[m][m] = <<>> THEN [wires EXCEPT ![m][m] = <<PlainMessage(0)>>] ELSE wires

LeakedMulticast(step) ==
    IF Leak # "multicast" THEN step.effects
    ELSE [i \in DOMAIN step.effects |->
            IF step.effects[i].type = "Send" /\ step.effects[i].message.type = "FORWARD"
            THEN LET f == step.effects[i].message IN Multicast(DataMessage(f.view_id, f.tag, f.payload))
            ELSE step.effects[i]]

Apply(action, m, event, consumed, given) ==
    LET step == Step(local[m], event)
        effects == LeakedMulticast(step)
        k == step.state.view.id.counter
    IN /\ local' = IF Leak = "none" THEN [local EXCEPT ![m] = step.state] ELSE LeakyLocal(m, step)
       /\ wire' = Leaked(m, AfterStep(wire, m, consumed, effects))
       /\ log' = IF effects = <<>> THEN log ELSE AfterMulticasts(log, k, effects)
       /\ aux_delivered' = IF effects = <<>> THEN aux_delivered
                           ELSE [aux_delivered EXCEPT ![m] = @ \o Delivered(event, effects, k)]
       /\ Record(action, m, FALSE, given, event, consumed, step.outcome, effects)

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

\* The unicasts on their way, without those to some members.
WithoutTo(members) == [f \in Member |-> [t \in Member |-> IF t \in members THEN <<>> ELSE wire[f][t]]]

-----------------------------------------------------------------------------
(* Application *)

\* May the application of m send? Who stops takes no more; while a member flushes nobody does.
MaySend(m) ==
    /\ m \in up \cap InGroup
    /\ aux_sent[m] < Sends[m]
    /\ IF StopRule = "flushed" THEN \A x \in Member : stops[x] # "asked" ELSE stops[m] = "no"

AppSends(m) ==
    /\ MaySend(m)
    /\ SendIsAtomic \/ looked[m] > 0
    /\ aux_sent' = [aux_sent EXCEPT ![m] = @ + 1]
    /\ looked' = IF SendIsAtomic THEN looked ELSE [looked EXCEPT ![m] = 0]
    /\ Apply("AppSends", m,
             IF SendIsAtomic THEN [type |-> "SendRequested", payload |-> aux_sent[m] + 1]
             ELSE [type |-> "SendLookedUp", payload |-> aux_sent[m] + 1, view |-> History[looked[m]]],
             {}, None)
    /\ UNCHANGED <<closed, got, up, due, stops, spent>>

\* A thread looks up the coordinator, and goes on later.
LookUp(m) ==
    /\ ~SendIsAtomic
    /\ MaySend(m)
    /\ looked[m] = 0
    /\ looked' = [looked EXCEPT ![m] = Idx(m)]
    /\ Environment("LookUp", m, [view |-> Idx(m)], {})
    /\ UNCHANGED <<local, log, closed, got, wire, up, due, stops, spent, aux_sent, aux_delivered>>

\* The payload of a unicast tells how many multicasts its sender had sent.
AppUnicasts(m) ==
    /\ spent.unicasts < MaxUnicasts
    /\ m \in up \cap InGroup
    /\ \E to \in up \ {m} :
        Apply("AppUnicasts", m, [type |-> "UnicastRequested", to |-> to, payload |-> aux_sent[m]], {}, None)
    /\ Spend("unicasts")
    /\ UNCHANGED <<closed, got, up, due, looked, stops, aux_sent>>

-----------------------------------------------------------------------------
(* Layers below *)

ReceiveForward(m) ==
    /\ m \in up
    /\ \E from \in Member :
        LET queue == wire[from][m] IN
        \E i \in (IF queue = <<>> THEN {} ELSE IF Unicast = "unordered" THEN DOMAIN queue ELSE {1}) :
            /\ queue[i].type = "FORWARD"
            /\ Apply("ReceiveForward", m, [type |-> "ForwardReceived", sender |-> from, message |-> queue[i]],
                     {Packet(from, m, queue[i])}, None)
    /\ UNCHANGED <<closed, got, up, due, looked, stops, spent, aux_sent>>

ReceivePlain(m) ==
    /\ m \in up
    /\ \E from \in Member :
        LET queue == wire[from][m] IN
        /\ queue # <<>>
        /\ Head(queue).type = "PLAIN"
        /\ Apply("ReceivePlain", m, [type |-> "PlainReceived", sender |-> from, message |-> Head(queue)],
                 {Packet(from, m, Head(queue))}, None)
    /\ UNCHANGED <<closed, got, up, due, looked, stops, spent, aux_sent>>

\* UNICAST delivers a FORWARD, and will deliver it again.
DuplicateForward(m) ==
    /\ Unicast = "duplicating" /\ spent.duplicates < MaxDuplicates
    /\ m \in up
    /\ \E from \in Member :
        LET queue == wire[from][m] IN
        /\ queue # <<>>
        /\ Head(queue).type = "FORWARD"
        /\ Apply("DuplicateForward", m, [type |-> "ForwardReceived", sender |-> from, message |-> Head(queue)], {}, None)
    /\ Spend("duplicates")
    /\ UNCHANGED <<closed, got, up, due, looked, stops, aux_sent>>

LoseForward(m) ==
    /\ Unicast = "lossy" /\ spent.lost < MaxLost
    /\ \E from \in Member :
        LET queue == wire[from][m] IN
        /\ queue # <<>>
        /\ Head(queue).type = "FORWARD"
        /\ wire' = [wire EXCEPT ![from][m] = Tail(queue)]
        /\ Environment("LoseForward", m, None, {Packet(from, m, Head(queue))})
    /\ Spend("lost")
    /\ UNCHANGED <<local, log, closed, got, up, due, looked, stops, aux_sent, aux_delivered>>

\* What of view k's log may reach m now.
MayReach(m, k) ==
    LET last == IF Synchronous /\ closed[k] # Open /\ (ViewSynchrony = "uniform" \/ Continues[m][k])
                THEN closed[k] ELSE Len(log[k])
        here == IF Synchronous THEN k = Idx(m)
                ELSE /\ m \in MembersIn[k] /\ k >= Entered[m][Idx(m)]
                     /\ \A j \in 1 .. k - 1 :     \* NAKACK: one multicaster's messages in order
                        (m \in MembersIn[j] /\ j >= Entered[m][Idx(m)] /\ Coordinator[j] = Coordinator[k]) =>
                            Cardinality(got[m][j]) = Len(log[j])
        next == Cardinality(got[m][k]) + 1
    IN IF ~here THEN {}
       ELSE IF Nakack = "unordered" THEN (1 .. last) \ got[m][k]
       ELSE IF next <= last THEN {next} ELSE {}

ReceiveData(m) ==
    /\ m \in up \cap InGroup
    /\ \E k \in (IF Synchronous THEN {Idx(m)} ELSE Views) :
        \E i \in MayReach(m, k) :
            /\ Apply("ReceiveData", m, [type |-> "DataReceived", sender |-> Coordinator[k], message |-> log[k][i]],
                     {}, [view |-> k, index |-> i])
            /\ got' = [got EXCEPT ![m][k] = @ \cup {i}]
    /\ UNCHANGED <<closed, up, due, looked, stops, spent, aux_sent>>

\* NAKACK goes on without a multicast that m lacks.
LoseData(m) ==
    /\ Nakack = "lossy" /\ spent.lost < MaxLost
    /\ m \in up \cap InGroup
    /\ \E i \in MayReach(m, Idx(m)) :
        /\ got' = [got EXCEPT ![m][Idx(m)] = @ \cup {i}]
        /\ Environment("LoseData", m, [view |-> Idx(m), index |-> i], {})
    /\ Spend("lost")
    /\ UNCHANGED <<local, log, closed, wire, up, due, looked, stops, aux_sent, aux_delivered>>

ResendTable(m) ==
    /\ m \in up \cap due
    /\ due' = due \ {m}
    /\ Apply("ResendTable", m, [type |-> "ResendDue"], {}, None)
    /\ UNCHANGED <<closed, got, up, looked, stops, spent, aux_sent>>

-----------------------------------------------------------------------------
(* Membership *)

\* Those who go from view k to the next, and have not crashed. (One that came back since is not among them.)
Survivors(k) == {m \in up : Continues[m][k] /\ Idx(m) \in 1 .. k}

\* Who joins with view k is no longer what it was before: it is its new incarnation that joins.
Admitted(k) == \A m \in Joiners[k] : Idx(m) \notin 1 .. k - 1

Before(k) == {j \in Views : Follows[j] = k}

\* The layer settles what of view k's log is received by all who go on. (Who leaves in good order is left out only
\* when it has stopped.)
CloseView ==
    /\ Synchronous
    /\ \E k \in {j \in Views : Follows[j] # 0 /\ closed[j] = Open} :
        /\ \A j \in Before(k) : closed[j] # Open
        /\ Admitted(Follows[k])
        /\ \A m \in Survivors(k) : Idx(m) = k
        /\ \A m \in up : ~(Idx(m) = k /\ ~Continues[m][k] /\ stops[m] = "asked")
        /\ \E n \in 0 .. Len(log[k]) :
            /\ \A m \in (IF ViewSynchrony = "uniform" THEN Member ELSE Survivors(k)) : got[m][k] \subseteq 1 .. n
            /\ Coordinator[k] \in Survivors(k) => n = Len(log[k])
            /\ closed' = [closed EXCEPT ![k] = n]
            /\ Environment("CloseView", "", [view |-> k, settled |-> n], {})
        /\ LET left == IF Lingers THEN {} ELSE {m \in up : Idx(m) = k /\ ~Continues[m][k]}
           IN /\ up' = up \ left
              /\ wire' = IF left = {} THEN wire ELSE WithoutTo(left)
              /\ spent' = [spent EXCEPT !.crashes = @ + Cardinality(left)]
    /\ UNCHANGED <<local, log, got, due, looked, stops, aux_sent, aux_delivered>>

InstallView(m) ==
    LET k == Idx(m) IN
    /\ m \in up \cap InGroup
    /\ Continues[m][k]
    /\ IF Synchronous
       THEN \A j \in Before(Follows[k]) : closed[j] # Open /\ (j = k => got[m][j] = 1 .. closed[j])
       ELSE Admitted(Follows[k])
    /\ Apply("InstallView", m, [type |-> "ViewInstalled", view |-> History[Follows[k]]], {}, None)
    /\ due' = IF ResendBeforeNew THEN due ELSE due \cup {m}
    /\ UNCHANGED <<closed, got, up, looked, stops, spent, aux_sent>>

\* A joiner's first view. A FORWARD may have reached it before.
Join(m) ==
    /\ m \in up
    /\ Idx(m) = 0
    /\ \E k \in Views :
        /\ m \in Joiners[k]
        /\ Synchronous => \A j \in Before(k) : closed[j] # Open
        /\ Apply("Join", m, [type |-> "ViewInstalled", view |-> History[k]], {}, None)
    /\ UNCHANGED <<closed, got, up, due, looked, stops, spent, aux_sent>>

\* An address that left or crashed is taken by a new incarnation, which will join. What the old one sent may still
\* arrive.
Restart(m) ==
    /\ m \in InGroup
    /\ m \notin up \/ ~Continues[m][Idx(m)]
    /\ \E k \in Idx(m) + 1 .. Len(History) : m \in Joiners[k]
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ got' = [got EXCEPT ![m] = [k \in Views |-> {}]]
    /\ wire' = WithoutTo({m})
    /\ up' = up \cup {m}
    /\ due' = due \ {m}
    /\ looked' = [looked EXCEPT ![m] = 0]
    /\ stops' = [stops EXCEPT ![m] = "no"]
    /\ aux_delivered' = [aux_delivered EXCEPT ![m] = <<>>]
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<log, closed, spent, aux_sent>>

\* Who is in the last view stays: what would follow a crash there is the views before.
Crash(m) ==
    /\ spent.crashes < MaxCrashes
    /\ m \in up \cap InGroup
    /\ ~Stays[m][Idx(m)]
    /\ up' = up \ {m}
    /\ wire' = WithoutTo({m})
    /\ Environment("Crash", m, None, {})
    /\ Spend("crashes")
    /\ UNCHANGED <<local, log, closed, got, due, looked, stops, aux_sent, aux_delivered>>

\* SEQ-21: a member that will leave takes no more from its application, ...
AskStop(m) ==
    /\ spent.stops < MaxStops
    /\ m \in up \cap InGroup
    /\ ~Stays[m][Idx(m)]
    /\ closed[Idx(m)] = Open
    /\ stops[m] = "no"
    /\ stops' = [stops EXCEPT ![m] = "asked"]
    /\ Environment("AskStop", m, None, {})
    /\ Spend("stops")
    /\ UNCHANGED <<local, log, closed, got, wire, up, due, looked, aux_sent, aux_delivered>>

Drained(m) == local[m].forward_table = <<>>

\* All that are in m's view have seen all of it, and wait for nothing.
Flushed(m) ==
    LET k == Idx(m)
        here == {x \in up : x \in MembersIn[k] /\ Idx(x) > 0}
    IN /\ closed[k] = Open
       /\ \A x \in here : Idx(x) = k /\ Drained(x) /\ got[x][k] = 1 .. Len(log[k])

\* ... and goes: at once (also: at a timeout), when its table is empty, or when the view is flushed.
Stop(m) ==
    /\ m \in up
    /\ stops[m] = "asked"
    /\ IF StopRule = "drained" THEN Drained(m) ELSE IF StopRule = "flushed" THEN Flushed(m) ELSE TRUE
    /\ stops' = [stops EXCEPT ![m] = "gone"]
    /\ up' = up \ {m}
    /\ wire' = WithoutTo({m})
    /\ Environment("Stop", m, None, {})
    /\ UNCHANGED <<local, log, closed, got, due, looked, spent, aux_sent, aux_delivered>>

\* What no correct peer or caller does, and views that were installed before. None of it changes anything.
Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ m \in up \cap InGroup
    /\ LET tag == Tag("Z", 1, 1)
           later == ViewId(9, "Z")
       IN
       \E event \in
        {[type |-> "ViewInstalled", view |-> local[m].view],
         [type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>)],
         [type |-> "ForwardReceived", sender |-> "Z", message |-> ForwardMessage(local[m].view.id, tag, 1)],
         [type |-> "ForwardReceived", sender |-> "Y", message |-> ForwardMessage(later, tag, 1)],
         [type |-> "DataReceived", sender |-> "Z", message |-> DataMessage(local[m].view.id, tag, 1)],
         [type |-> "DataReceived", sender |-> "Z", message |-> DataMessage(later, tag, 1)]}
        \cup {[type |-> "ForwardReceived", sender |-> "Z", message |-> ForwardMessage(History[k].id, tag, 1)] :
                k \in {k \in Views : k > Idx(m)}}
        \cup {[type |-> "ForwardReceived", sender |-> "C", message |-> ForwardMessage(History[k].id, Tag("C", 1, 1), 1)] :
                k \in {k \in Views : k > Idx(m) /\ m # Coordinator[k]}} :
        Apply("Misuse", m, event, {}, None)
    /\ Spend("misuses")
    /\ UNCHANGED <<closed, got, up, due, looked, stops, aux_sent>>

-----------------------------------------------------------------------------
Init ==
    /\ local = [m \in Member |->
                    IF \E k \in FirstViews : m \in MembersIn[k]
                    THEN Step(Start(m), [type |-> "ViewInstalled",
                                         view |-> History[CHOOSE k \in FirstViews : m \in MembersIn[k]]]).state
                    ELSE Start(m)]
    /\ log = [k \in Views |-> <<>>]
    /\ closed = [k \in Views |-> Open]
    /\ got = [m \in Member |-> [k \in Views |-> {}]]
    /\ wire = [f \in Member |-> [t \in Member |-> <<>>]]
    /\ up = Member
    /\ due = {}
    /\ looked = [m \in Member |-> 0]
    /\ stops = [m \in Member |-> "no"]
    /\ spent = [crashes |-> 0, duplicates |-> 0, lost |-> 0, unicasts |-> 0, stops |-> 0, misuses |-> 0]
    /\ aux_sent = [m \in Member |-> 0]
    /\ aux_delivered = [m \in Member |-> <<>>]
    /\ act = NoAct

Next ==
    \/ CloseView
    \/ \E m \in Member :
        \/ AppSends(m)
        \/ LookUp(m)
        \/ AppUnicasts(m)
        \/ ReceiveForward(m)
        \/ ReceivePlain(m)
        \/ DuplicateForward(m)
        \/ LoseForward(m)
        \/ ReceiveData(m)
        \/ LoseData(m)
        \/ ResendTable(m)
        \/ InstallView(m)
        \/ Join(m)
        \/ Restart(m)
        \/ Crash(m)
        \/ AskStop(m)
        \/ Stop(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars

(* Fairness: what is on its way arrives, views are closed and installed, who shall join starts and joins. Crashes, *)
(* other faults, and what the application does need not happen.                                                    *)
Fairness ==
    /\ WF_vars(CloseView)
    /\ \A m \in Member :
        /\ WF_vars(ReceiveForward(m))
        /\ WF_vars(ReceivePlain(m))
        /\ WF_vars(ReceiveData(m))
        /\ WF_vars(ResendTable(m))
        /\ WF_vars(InstallView(m))
        /\ WF_vars(Restart(m))
        /\ WF_vars(Join(m))
        /\ WF_vars(Stop(m))

LiveSpec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Types *)

\* (Z: see Misuse.)
Tags == [sender : Member \cup {"Z"}, epoch : 0 .. Len(History), seqno : Nat]

TypeOK ==
    /\ \A m \in Member :
        LET s == local[m] IN
        /\ s.member = m
        /\ s.view = NoView \/ \E k \in Views : s.view = History[k]
        /\ s.seqno \in 0 .. aux_sent[m] /\ s.epoch \in 0 .. Len(History)
        /\ \A i \in DOMAIN s.forward_table : s.forward_table[i].seqno <= s.seqno
        /\ DOMAIN s.received_table \subseteq Member
        /\ \A i \in DOMAIN s.early : s.early[i].type = "FORWARD" /\ s.early[i].tag \in Tags
        /\ looked[m] \in {0} \cup Views
        /\ stops[m] \in {"no", "asked", "gone"}
        /\ \A t \in Member : \A i \in DOMAIN wire[m][t] : wire[m][t][i].type \in {"FORWARD", "PLAIN"}
    /\ \A k \in Views :
        /\ closed[k] \in -1 .. Len(log[k])
        /\ \A m \in Member : got[m][k] \subseteq DOMAIN log[k]
        /\ \A i \in DOMAIN log[k] : log[k][i].type = "DATA" /\ log[k][i].tag \in Tags
    /\ up \subseteq Member /\ due \subseteq Member

-----------------------------------------------------------------------------
(* Claims *)

Message(d) == <<d[1], d[2]>>

DeliveredBy(m) == {Message(aux_delivered[m][i]) : i \in DOMAIN aux_delivered[m]}

IsPrefix(s, t) == Len(s) <= Len(t) /\ s = SubSeq(t, 1, Len(s))

DeliveredIn(m, k) ==
    LET InView(d) == d[3] = k IN SelectSeq(aux_delivered[m], InView)

Place(m, message) == CHOOSE i \in DOMAIN aux_delivered[m] : Message(aux_delivered[m][i]) = message

\* Of the messages in `both`, which x and y delivered, no two are in opposite orders.
\* (Mostly, what one of them delivered is the beginning of what the other did: TLC is faster when told so.)
InOneOrder(x, y, both) ==
    IF IsPrefix(aux_delivered[x], aux_delivered[y]) THEN TRUE
    ELSE \A a, b \in both : Place(x, a) < Place(x, b) => Place(y, a) < Place(y, b)

\* What m delivered in its present view beyond what was settled: nobody who goes on received it. A member that
\* goes on delivers no such thing, but one that crashed or was left out may have, and its senders have it ordered
\* again.
BeyondSettled(m) ==
    LET k == Idx(m) IN
    IF closed[k] = Open THEN {} ELSE {<<log[k][i].tag.sender, log[k][i].payload>> : i \in closed[k] + 1 .. Len(log[k])}

\* SEQ-05, SEQ-35: no two members deliver two messages in opposite orders, in whatever views. (NOT said, here, of
\* what a member delivered in its last view beyond what was settled: see UniformTotalOrder.)
TotalOrder ==
    \A x, y \in InGroup :
        x # y => InOneOrder(x, y, (DeliveredBy(x) \ BeyondSettled(x)) \cap (DeliveredBy(y) \ BeyondSettled(y)))

\* The same without exception. It takes a layer that settles, uniformly, whatever anybody received.
UniformTotalOrder ==
    \A x, y \in InGroup : x # y => InOneOrder(x, y, DeliveredBy(x) \cap DeliveredBy(y))

\* SEQ-11, SEQ-28, SEQ-33: nobody delivers a message twice.
NoDuplicates ==
    \A m \in InGroup : Cardinality(DeliveredBy(m)) = Len(aux_delivered[m])

\* SEQ-25, SEQ-30, AMB-80: delivered means sent, by the member that is named as the sender.
Integrity ==
    \A m \in InGroup : \A d \in DeliveredBy(m) : d[1] \in Member /\ d[2] \in 1 .. aux_sent[d[1]]

\* AMB-77: a sender's messages are delivered in the order in which it sent them.
SenderOrder ==
    \A m \in InGroup : \A i, j \in DOMAIN aux_delivered[m] :
        (i < j /\ aux_delivered[m][i][1] = aux_delivered[m][j][1]) =>
            aux_delivered[m][i][2] < aux_delivered[m][j][2]

\* Who goes from a view to the next has delivered the same in it, in the same order; before, no more than ahead.
Agreement ==
    \A k \in Views :
        LET members == {m \in up : Idx(m) >= k /\ m \in MembersIn[k] /\ Entered[m][Idx(m)] <= k
                                    /\ (Continues[m][k] \/ Follows[k] = 0)}
            in == [m \in members |-> DeliveredIn(m, k)]
        IN \A x, y \in members :
            IF Idx(x) > k THEN (IF Idx(y) > k THEN in[x] = in[y] ELSE IsPrefix(in[y], in[x]))
            ELSE Len(in[x]) <= Len(in[y]) => IsPrefix(in[x], in[y])

\* SEQ-10, SEQ-17, AMB-76: a tag names one message.
TagsIdentify ==
    \A j, k \in Views : \A a \in DOMAIN log[j], b \in DOMAIN log[k] :
        log[j][a].tag = log[k][b].tag => log[j][a].payload = log[k][b].payload

\* The number of a message of m's present incarnation with this seqno.
Number(m, seqno) == aux_sent[m] - local[m].seqno + seqno

\* SEQ-18, SEQ-20: nothing is forgotten. What this incarnation has sent it has delivered, or has in its table.
NothingForgotten ==
    \A m \in InGroup : \A n \in 1 .. local[m].seqno :
        IF \E i \in DOMAIN local[m].forward_table : local[m].forward_table[i].seqno = n THEN TRUE
        ELSE <<m, Number(m, n)>> \in DeliveredBy(m)

\* SEQ-09, SEQ-31, AMB-81, AMB-82: in the last view, what is in a table is with the unicast layer, or with a
\* coordinator that waits for its view, or in the log and not yet received. (In an earlier view it may be nowhere:
\* it is sent again in the next.)
NothingStranded ==
    \A m \in up \cap InGroup :
        (Follows[Idx(m)] = 0 /\ m \notin due) =>
            \A e \in DOMAIN local[m].forward_table :
                LET k == Idx(m)
                    tag == OwnTag(local[m], local[m].forward_table[e].seqno)
                    Waits(queue) == \E i \in DOMAIN queue : queue[i].type # "PLAIN" /\ queue[i].tag = tag
                                                              /\ queue[i].view_id = History[k].id
                IN IF Waits(wire[m][Coordinator[k]]) THEN TRUE
                   ELSE IF Waits(local[Coordinator[k]].early) THEN TRUE
                   ELSE \E i \in DOMAIN log[k] : log[k][i].tag = tag /\ i \notin got[m][k]

\* SEQ-29, AMB-78: the next message of a sender is one higher than the last, and 1 is the first, for who was there
\* when its sender came. (To who came later the first is any.)
NoGapsStep ==
    (act'.action = "ReceiveData" /\ act'.effects # <<>> /\ Dedup = "highest") =>
        LET m == act'.member
            tag == act'.event.message.tag
            known == local[m].received_table
            follows == IF tag.sender \in DOMAIN known THEN known[tag.sender].epoch = tag.epoch ELSE FALSE
        IN IF follows THEN tag.seqno = known[tag.sender].seqno + 1
           ELSE IF tag.epoch = 0 THEN TRUE
           ELSE (m \in MembersIn[tag.epoch] /\ Entered[m][Idx(m)] <= tag.epoch) => tag.seqno = 1

NoGaps == [][NoGapsStep]_vars

\* SEQ-11, SEQ-12: what is discarded in its own view was delivered before.
DiscardsOnlyDuplicatesStep ==
    (act'.action = "ReceiveData" /\ act'.event.message.view_id = local[act'.member].view.id
        /\ aux_delivered' = aux_delivered) =>
        <<act'.event.message.tag.sender, act'.event.message.payload>> \in DeliveredBy(act'.member)

DiscardsOnlyDuplicates == [][DiscardsOnlyDuplicatesStep]_vars

\* SEQ-02, SEQ-24: only the coordinator of a view multicasts in it.
OnlyCoordinatorsMulticastStep ==
    \A i \in DOMAIN act'.effects :
        act'.effects[i].type = "Multicast" =>
            /\ act'.effects[i].message.view_id = local'[act'.member].view.id
            /\ act'.member = CoordinatorOf(local'[act'.member].view)

OnlyCoordinatorsMulticast == [][OnlyCoordinatorsMulticastStep]_vars

\* SEQ-15, SEQ-32: the received-table has entries of members of the view, and no others.
TableWithinView ==
    \A m \in InGroup : DOMAIN local[m].received_table \subseteq MembersOf(local[m].view)

\* SEQ-21: what a member had sent before it stopped, all deliver that go on from its view.
StopLosesNothing ==
    \A m \in Member : stops[m] = "gone" =>
        \A x \in up \cap InGroup :
            (Idx(x) > Idx(m) /\ Entered[x][Idx(x)] <= Idx(m) /\ x \in MembersIn[Idx(m)]) =>
                \A n \in 1 .. aux_sent[m] : <<m, n>> \in DeliveredBy(x)

\* A step belongs to one member; unicasts, logs and the others change through its effects alone, and what is ignored
\* or refused changes nothing. This is what makes local steps speak for the whole model.
OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ \A m \in Member \ {act'.member} : got'[m] = got[m] /\ aux_delivered'[m] = aux_delivered[m]
    /\ act'.action \notin {"CloseView", "Crash", "Stop", "Restart"} =>
        /\ wire' = AfterStep(wire, act'.member, act'.consumed, act'.effects)
        /\ log' = IF act'.effects = <<>> THEN log ELSE AfterMulticasts(log, local'[act'.member].view.id.counter, act'.effects)
    /\ NothingForNothing

OnlyByEffects == [][OnlyByEffectsStep]_vars

\* Refinement: all of the above implements an abstract broadcast that knows of no coordinator.
Abstract == INSTANCE TotalOrderBroadcast WITH
    sent <- aux_sent,
    delivered <- aux_delivered,
    where <- [m \in Member |-> Idx(m)]

RefinesTotalOrderBroadcastStep == Abstract!Step

RefinesTotalOrderBroadcast == Abstract!Init /\ [][RefinesTotalOrderBroadcastStep]_vars

\* SEQ-09, SEQ-13: what a member that stays has sent, all deliver that stay and were there when it came. (Of who
\* comes later, what was ordered before is not expected; nor, of a merge, what the other side had ordered.)
EventuallyDelivered ==
    <>[](LET here == {m \in up \cap InGroup : Stays[m][Idx(m)]}
         IN \A x, y \in here :
                LET came == Entered[x][Idx(x)] IN
                (y \in MembersIn[came] /\ Entered[y][Idx(y)] <= came) =>
                    \A n \in 1 .. local[x].seqno : <<x, Number(x, n)>> \in DeliveredBy(y))

\* Every forward-table empties, also of those who come later.
TablesEmpty ==
    <>[](\A m \in up \cap InGroup : Stays[m][Idx(m)] => local[m].forward_table = <<>>)

-----------------------------------------------------------------------------
(* Witnesses: each must be reachable, or the claims above speak of less than they seem to. *)

\* The same message in the logs of two views.
OrderedTwice ==
    \E j, k \in Views : j < k /\ \E a \in DOMAIN log[j], b \in DOMAIN log[k] : log[j][a].tag = log[k][b].tag

\* ... and a member that crashed or was left out delivered it in the earlier one.
RedoneForOthers ==
    \E m \in InGroup : BeyondSettled(m) \cap DeliveredBy(m) # {} /\ OrderedTwice

ForwardIsEarly == \E m \in Member : local[m].early # <<>>

ForwardIsLate ==
    \E f, t \in Member : wire[f][t] # <<>> /\ Head(wire[f][t]).type = "FORWARD" /\ t \in up
        /\ Head(wire[f][t]).view_id.counter < Idx(t)

\* Some survivor has received what another lacks, when the coordinator has crashed.
BroadcastIsPartial ==
    \E k \in Views : Coordinator[k] \notin up /\ \E x, y \in Survivors(k) : Idx(x) = k /\ Idx(y) = k /\ got[x][k] # got[y][k]

BroadcastIsLost == \E k \in Views : closed[k] # Open /\ closed[k] < Len(log[k])

\* Two coordinators crashed one after the other.
TwoCoordinatorsCrashed ==
    \E j, k \in Views : j # k /\ Coordinator[j] # Coordinator[k] /\ Coordinator[j] \notin up /\ Coordinator[k] \notin up
        /\ Idx(Coordinator[j]) = j /\ Idx(Coordinator[k]) = k

\* The new coordinator multicasts its own new message before it has got an old one that is sent again.
WasOrdered(tag, k) == \E j \in Before(k) : \E i \in DOMAIN log[j] : log[j][i].tag = tag

NewBeforeOld ==
    \E k \in Views \ FirstViews : \E a, b \in DOMAIN log[k] :
        a < b /\ log[k][a].tag.sender = Coordinator[k] /\ ~WasOrdered(log[k][a].tag, k) /\ WasOrdered(log[k][b].tag, k)

\* Members of the same view that have installed different ones.
ViewsDiffer == \E x, y \in up \cap InGroup : Idx(x) # Idx(y)

\* A member that came back delivers, and has sent under another epoch.
ComesBack ==
    \E m \in InGroup : local[m].seqno > 0 /\ aux_sent[m] > local[m].seqno /\ aux_delivered[m] # <<>>

JoinerDelivers ==
    \E m \in InGroup : m \in Joiners[Idx(m)] /\ aux_delivered[m] # <<>>

\* SEQ-16: a unicast that was sent after a multicast is there before it.
UnicastOvertakes ==
    \E f, t \in Member : wire[f][t] # <<>> /\ Head(wire[f][t]).type = "PLAIN" /\ t \in up
        /\ Head(wire[f][t]).payload > 0 /\ <<f, Head(wire[f][t]).payload>> \notin DeliveredBy(t)

DuplicateInLog == \E k \in Views : \E a, b \in DOMAIN log[k] : a # b /\ log[k][a] = log[k][b]

SomebodyStopped == \E m \in Member : stops[m] = "gone" /\ aux_sent[m] > 0

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]

SeenMessages ==
    UNION {UNION {{[sender |-> f, message |-> wire[f][t][i]] : i \in DOMAIN wire[f][t]} : t \in Member} : f \in Member}
    \cup UNION {{[sender |-> Coordinator[k], message |-> log[k][i]] : i \in DOMAIN log[k]} : k \in Views}

\* Nothing of the layers below enters SEQUENCER but messages and views.
SeenOutside(m) == 0

\* Every message that was ever on its way, from its sender and (what no correct peer does) from others; every view,
\* one without the member among them; each call of the application.
Alphabet(messages, outsides) ==
    LET kind == [FORWARD |-> "ForwardReceived", DATA |-> "DataReceived", PLAIN |-> "PlainReceived"]
        received(p) == [type |-> kind[p.message.type], sender |-> p.sender, message |-> p.message]
        strange(k) == ForwardMessage(History[k].id, Tag("Z", k, 1), 1)
    IN {[type |-> "SendRequested", payload |-> n] : n \in 1 .. 2}
       \cup {[type |-> "UnicastRequested", to |-> m, payload |-> n] : m \in Member, n \in 0 .. 2}
       \cup {[type |-> "ForwardReceived", sender |-> "Z", message |-> strange(k)] : k \in Views}
       \cup {[type |-> "DataReceived", sender |-> Coordinator[k], message |-> DataMessage(History[k].id, Tag("Z", k, 1), 1)] : k \in Views}
       \cup {[type |-> "ForwardReceived", sender |-> "Z", message |-> ForwardMessage(NoViewId, Tag("Z", 1, 1), 1)],
             [type |-> "DataReceived", sender |-> "Z", message |-> DataMessage(NoViewId, Tag("Z", 1, 1), 1)]}
       \cup {[type |-> "PlainReceived", sender |-> m, message |-> PlainMessage(1)] : m \in Member}
       \cup {[type |-> "ViewInstalled", view |-> History[k]] : k \in Views}
       \cup {[type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>)]}
       \cup {received(p) : p \in messages}
       \cup {received([p EXCEPT !.sender = m]) : p \in messages, m \in {"Z"} \cup Member}
=============================================================================
