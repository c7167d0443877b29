--------------------------- MODULE SequencerGroup ---------------------------
(******************************************************************************)
(* A group of members that run SEQUENCER.                                     *)
(*                                                                            *)
(* The environment of the members is three guarantees, each a module:         *)
(* - Membership: a forest of views, each incarnation of a member on one path. *)
(* - VirtualSynchrony: logs of multicasts per view and sender; survivors of a *)
(*   view receive the same of them. `Without` names the conjuncts that the    *)
(*   members do without. SEQUENCER needs none of these in the reference; in   *)
(*   weaker models there are more. `Channel` below is the module over this    *)
(*   module's variables. Its guards are those of the actions here, and each   *)
(*   step here is one of its steps (RefinesVirtualSynchrony in                *)
(*   SequencerClaims).                                                        *)
(* - ReliableUnicast: `Unicast` says which one. Messages in transit to a      *)
(*   process outside the sender's view may be lost from some message on (a    *)
(*   budget). The next incarnation of an address may receive the last part of *)
(*   the messages in transit to the former one (a bound says which            *)
(*   addresses).eer sends.                                                    *)
(*                                                                            *)
(* Which views are decided: `History` is a script of them, and the next of    *)
(* it may be decided by whoever is the first to install it. A model in        *)
(* which TLC chooses the views overrides MayFollow.                           *)
(******************************************************************************)
EXTENDS Sequencer, ReliableUnicast, Acts

CONSTANTS
    History,        \* decided views: first ones, and then, in order, their successors
    Without,        \* conjuncts of VirtualSynchrony that the layer below does not give
    Sends,          \* [Member -> Nat]: how many multicasts each member sends at most, over its incarnations
    SendIsAtomic,   \* no view can come between looking up the coordinator, entering the table and sending
    StopRule,       \* a member that stops goes "at_once", "drained" (its table is empty), or "flushed" (all are)
    Crashers,       \* bound: the members that may crash
    MaxCrashes,     \* fault budget
    MaxDuplicates,  \* fault budget, with a duplicating Unicast
    MaxLostForwards, \* fault budget, with a lossy Unicast
    MaxLostData,    \* fault budget: multicasts that a member's NAKACK skips
    MaxUnicasts,    \* bound: unicasts of the application
    MaxStops,       \* bound: members that stop in good order
    MaxMisuses,     \* fault budget: what no correct peer or caller does
    MaxSuspicions,  \* fault budget: members that a member suspects, by mistake or not
    MaxCloses,      \* fault budget: connections that are closed with something on its way (ClosedOnlyByViews)
    Inheritors,     \* bound: whose next incarnation is given what is on its way to the former one
    Lost            \* with Majority: the incarnations before which the disk of their name is lost

VARIABLES
    views, installed, life,     \* see Membership
    up, log, settled, got,      \* see VirtualSynchrony
    held,           \* [Member -> multicasts that a flush holds back until the next view] (CastOnlyBeforeCut)
    due,            \* members that have yet to send their table again (only with ResendBeforeNew off)
    looked,         \* [Member -> number of the view in which a thread looked up the coordinator; 0: none]
    stops,          \* [Member -> it runs ("no"), wants to stop ("asked"), or has stopped ("gone")]
    sent,           \* [Member -> number of multicasts so far; they are numbered from 1, over all incarnations]
    spent,          \* budgets used
    aux_path,       \* [Member -> the numbers of the views that this incarnation installed, in order]
    aux_delivered   \* [Member -> what this incarnation delivered, in order: <<sender, number, number of the view>>]

layers == <<views, installed, life, up, log, settled, got, held, wire>>

vars == <<local, layers, due, looked, stops, sent, spent, aux_path, aux_delivered, act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, layers, due, looked, stops, sent, spent, aux_path, aux_delivered>>

IsFirst(v) == v.preds = {}
First == SelectSeq(History, IsFirst)

Channel == INSTANCE VirtualSynchrony WITH Off <- Without
Group == INSTANCE Membership WITH Off <- {"ExcludedFirst", "JoinsOnce"}
Departed == INSTANCE Departures WITH Off <- {}

ASSUME
    /\ Without \subseteq Channel!Conjuncts
    /\ StopRule \in {"at_once", "drained", "flushed"}
    /\ {SendIsAtomic, KeepAct} \subseteq BOOLEAN
    /\ Crashers \subseteq Member

InGroup == {m \in Member : installed[m] # 0}

\* m is up and in a view.
IsActive(m) == installed[m] # 0 /\ m \in up

-----------------------------------------------------------------------------
(* Applying Step to one member *)

MulticastsOf(effects) ==
    LET IsMulticast(effect) == effect.type = "Multicast"
        sends == SelectSeq(effects, IsMulticast)
    IN [i \in DOMAIN sends |-> sends[i].message]

\* A multicast is a DATA, or (with Majority) a FORMED.
IsData(message) == message.type = "DATA"

\* Multicasts that were delivered, in view number k.
DeliveredOf(event, effects, k) ==
    LET IsDelivery(effect) == effect.type = "PassUp"
        passed == SelectSeq(effects, IsDelivery)
    IN IF event.type # "DataReceived" THEN <<>>
       ELSE [i \in DOMAIN passed |-> <<passed[i].event.sender, passed[i].event.payload, k>>]

\* A flush below holds back what m multicasts in view number k. (One that drops it instead does no more harm: what
\* comes in a later view is DATA of an earlier one, and ignored.)
HoldsBack(m, k) == "CastOnlyBeforeCut" \notin Without /\ k \in DOMAIN views /\ ~Channel!MayCast(m, k)

\* What a flush has held back until m comes to view number k.
HeldUntil(m, k) == IF k = installed[m] THEN <<>> ELSE held[m]

\* m multicasts xs in view number k.
Logged(logs, m, k, xs) == Channel!Casts(logs, m, k, xs)

\* m has incarnations that are still to come.
MayRestart(m) == \E k \in DOMAIN History : m \in DOMAIN History[k].lives /\ History[k].lives[m] > life[m]

\* The next incarnation of m receives messages in transit to this incarnation.
Inherits(m) == m \in Inheritors /\ MayRestart(m)

\* To whom a message may be sent. (What is sent to another is gone.)
Reachable == IF Inheritors = {} THEN up ELSE up \cup {x \in Inheritors : MayRestart(x)}

\* The wires when m is gone.
AfterEnd(m) == IF Inherits(m) THEN wire ELSE WithoutTo({m})

\* m takes the step that `event` calls for, and is then in view number k; `logs` is `log` with that view in it.
Apply(action, m, event, consumed, given, k, logs) ==
    \* (One element: TLC evaluates a LET anew at each use, and this once.)
    \E step \in {Step(local[m], event)} :
        /\ Take(action, m, given, event, consumed, step)
        /\ wire' = AfterStep(wire, m, consumed, step.effects, Reachable)
        /\ aux_delivered' = IF step.effects = <<>> THEN aux_delivered
                            ELSE [aux_delivered EXCEPT ![m] = @ \o DeliveredOf(event, step.effects, k)]
        /\ \E casts \in {HeldUntil(m, k) \o MulticastsOf(step.effects)}, kept \in {IF k = installed[m] THEN held[m] ELSE <<>>} :
            IF casts = <<>> THEN log' = logs /\ UNCHANGED held
            ELSE IF HoldsBack(m, k) THEN log' = logs /\ held' = [held EXCEPT ![m] = kept \o casts]
            ELSE log' = Logged(logs, m, k, casts) /\ held' = [held EXCEPT ![m] = kept]

\* The same for a member that stays in its view.
ApplyHere(action, m, event, consumed, given) == Apply(action, m, event, consumed, given, installed[m], log)

\* Spend one of a budget.
Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Application *)

\* May the application of m send? Who stops takes no more; while a member flushes no member does.
MaySend(m) ==
    /\ sent[m] < Sends[m]
    /\ IsActive(m)
    /\ IF StopRule = "flushed" THEN \A x \in Member : stops[x] # "asked" ELSE stops[m] = "no"

AppSends(m) ==
    /\ MaySend(m)
    /\ SendIsAtomic \/ looked[m] > 0
    /\ sent' = [sent EXCEPT ![m] = @ + 1]
    /\ looked' = IF SendIsAtomic THEN looked ELSE [looked EXCEPT ![m] = 0]
    /\ ApplyHere("AppSends", m,
                 IF SendIsAtomic THEN [type |-> "SendRequested", payload |-> sent[m] + 1]
                 ELSE [type |-> "SendLookedUp", payload |-> sent[m] + 1, view |-> ViewOf(views[looked[m]])],
                 {}, None)
    /\ UNCHANGED <<views, installed, life, up, settled, got, due, stops, spent, aux_path>>

\* A thread looks up the coordinator, and continues later.
LookUp(m) ==
    /\ ~SendIsAtomic
    /\ MaySend(m)
    /\ looked[m] = 0
    /\ looked' = [looked EXCEPT ![m] = installed[m]]
    /\ Environment("LookUp", m, [view |-> installed[m]], {})
    /\ UNCHANGED <<local, layers, due, stops, sent, spent, aux_path, aux_delivered>>

\* The payload of a unicast is the number of multicasts that its sender had sent.
AppUnicasts(m) ==
    /\ spent.unicasts < MaxUnicasts
    /\ IsActive(m)
    /\ \E to \in up \ {m} :
        ApplyHere("AppUnicasts", m, [type |-> "UnicastRequested", to |-> to, payload |-> sent[m]], {}, None)
    /\ Spend("unicasts")
    /\ UNCHANGED <<views, installed, life, up, settled, got, due, looked, stops, sent, aux_path>>

-----------------------------------------------------------------------------
(* Layers below *)

ReceiveForward(m) ==
    /\ m \in up
    /\ \E from \in Member : \E i \in Arrivals(from, m) :
        /\ wire[from][m][i].type = "FORWARD"
        /\ ApplyHere("ReceiveForward", m,
                     [type |-> "ForwardReceived", sender |-> from, message |-> wire[from][m][i]],
                     {Packet(from, m, wire[from][m][i])}, None)
    /\ UNCHANGED <<views, installed, life, up, settled, got, due, looked, stops, sent, spent, aux_path>>

\* A member of m's view, or of a later one, reports what views it knows (Majority).
ReceiveReport(m) ==
    /\ m \in up
    /\ \E from \in Member : \E i \in Arrivals(from, m) :
        /\ wire[from][m][i].type = "REPORT"
        /\ ApplyHere("ReceiveReport", m,
                     [type |-> "ReportReceived", sender |-> from, message |-> wire[from][m][i]],
                     {Packet(from, m, wire[from][m][i])}, None)
    /\ UNCHANGED <<views, installed, life, up, settled, got, due, looked, stops, sent, spent, aux_path>>

ReceivePlain(m) ==
    /\ m \in up
    /\ \E from \in Member : \E i \in Arrivals(from, m) :
        /\ wire[from][m][i].type = "PLAIN"
        /\ ApplyHere("ReceivePlain", m,
                     [type |-> "PlainReceived", sender |-> from, message |-> wire[from][m][i]],
                     {Packet(from, m, wire[from][m][i])}, None)
    /\ UNCHANGED <<views, installed, life, up, settled, got, due, looked, stops, sent, spent, aux_path>>

\* UNICAST delivers a FORWARD, and will deliver it again.
DuplicateForward(m) ==
    /\ Unicast = "duplicating" /\ spent.duplicates < MaxDuplicates
    /\ m \in up
    /\ \E from \in Member : \E i \in Arrivals(from, m) :
        /\ wire[from][m][i].type = "FORWARD"
        /\ ApplyHere("DuplicateForward", m,
                     [type |-> "ForwardReceived", sender |-> from, message |-> wire[from][m][i]], {}, None)
    /\ Spend("duplicates")
    /\ UNCHANGED <<views, installed, life, up, settled, got, due, looked, stops, sent, aux_path>>

LoseForward(m) ==
    /\ Unicast = "lossy" /\ spent.forwards < MaxLostForwards
    /\ \E from \in Member : \E i \in Arrivals(from, m) :
        /\ wire[from][m][i].type = "FORWARD"
        /\ wire' = WithoutPacket(wire, Packet(from, m, wire[from][m][i]))
        /\ Environment("LoseForward", m, None, {Packet(from, m, wire[from][m][i])})
    /\ Spend("forwards")
    /\ UNCHANGED <<local, views, installed, life, up, log, settled, got, held, due, looked, stops, sent, aux_path, aux_delivered>>

\* The layer brings message i of s in view number u to m: it is received, whatever becomes of it then.
Reaches(m, u, s, i) == got' = [got EXCEPT ![m] = @ \cup {<<u, s, i>>}]

ReceiveData(m) ==
    /\ IsActive(m)
    /\ \E u \in Channel!Audible(m) : \E s \in DOMAIN log[u] : \E i \in DOMAIN log[u][s] :
        /\ Channel!MayReceive(m, u, s, i)
        /\ Reaches(m, u, s, i)
        /\ ApplyHere("ReceiveData", m,
                     [type |-> IF IsData(log[u][s][i]) THEN "DataReceived" ELSE "FormedReceived", sender |-> s, message |-> log[u][s][i]],
                     {}, [view |-> u, index |-> i])
    /\ UNCHANGED <<views, installed, life, up, settled, due, looked, stops, sent, spent, aux_path>>

\* NAKACK skips a multicast that m lacks.
LoseData(m) ==
    /\ spent.data < MaxLostData
    /\ IsActive(m)
    /\ \E s \in DOMAIN log[installed[m]] : \E i \in DOMAIN log[installed[m]][s] :
        /\ Channel!MayReceive(m, installed[m], s, i)
        /\ Reaches(m, installed[m], s, i)
        /\ Environment("LoseData", m, [view |-> installed[m], sender |-> s, index |-> i], {})
    /\ Spend("data")
    /\ UNCHANGED <<local, views, installed, life, up, log, settled, held, wire, due, looked, stops, sent,
                   aux_path, aux_delivered>>

ResendTable(m) ==
    /\ m \in up \cap due
    /\ due' = due \ {m}
    /\ ApplyHere("ResendTable", m, [type |-> "ResendDue"], {}, None)
    /\ UNCHANGED <<views, installed, life, up, settled, got, looked, stops, sent, spent, aux_path>>

-----------------------------------------------------------------------------
(* Membership *)

\* The former incarnations of m's name.
Formers(m) == {a \in Member : IsFormer(a, m)}

\* m has begun. A later incarnation of a name begins with a record, when the former ones are gone.
HasBegun(m) == IF ~Majority THEN TRUE ELSE IF Formers(m) = {} THEN TRUE ELSE ~local[m].founds

\* The views that may be decided now.
MayFollow == IF Len(views) < Len(History) THEN {History[Len(views) + 1]} ELSE {}

\* settled[k] when m has come to view number k.
CameTo(m, came) == Channel!Came(m, came)

\* A member that leaves in good order is left out only when it has stopped.
LeavesNobodyStopping(m, v) ==
    \A x \in up : stops[x] = "asked" => ~(installed[x] = installed[m] /\ x \notin DOMAIN v.lives)

\* m installs view number k, which is v, and may do so; `came` is settled[k], and `logs` has a log of it.
Enter(action, m, k, v, came, logs) ==
    /\ LeavesNobodyStopping(m, v)
    /\ Channel!MayEnter(m, v, came)
    /\ installed' = [installed EXCEPT ![m] = k]
    /\ aux_path' = [aux_path EXCEPT ![m] = Append(@, k)]
    /\ Channel!Forgets(m)
    /\ Apply(action, m, [type |-> "ViewInstalled", view |-> ViewOf(v)], {}, [view |-> k], k, logs)

EnterDecided(action, m) ==
    \E k \in installed[m] + 1 .. Len(views) :
        /\ Group!MayInstall(m, views[k])
        /\ Enter(action, m, k, views[k], settled[k], log)
        /\ settled' = [settled EXCEPT ![k] = CameTo(m, @)]
        /\ views' = views

EnterNew(action, m) ==
    \E v \in MayFollow :
        /\ Group!MayInstall(m, v)    \* (First, as it is the cheaper one and mostly false.)
        /\ Group!MayDecide(v) /\ \A x \in v.joins : HasBegun(x)
        /\ Majority => \A x \in Member : IsFormer(v.id.creator, x) => ~HasBegun(x)
        /\ Enter(action, m, Len(views) + 1, v, Channel!NoArrivals, Append(log, Channel!NoCasts(v)))
        /\ settled' = Append(settled, CameTo(m, Channel!NoArrivals))
        /\ views' = Append(views, v)

\* With Majority: Leavers relies on it.
CreatorHasLeft == Majority => Departed!LeaversAreGone'

\* m installs the next view. Any member that is the first to install a view decides it.
InstallView(m) ==
    /\ IsActive(m)
    /\ EnterDecided("InstallView", m) \/ EnterNew("InstallView", m)
    /\ due' = IF ResendBeforeNew THEN due ELSE due \cup {m}
    /\ UNCHANGED <<life, up, looked, stops, sent, spent>>
    /\ CreatorHasLeft

\* A joiner's first view. A FORWARD may have reached it before.
Join(m) ==
    /\ installed[m] = 0
    /\ m \in up
    /\ EnterDecided("Join", m) \/ EnterNew("Join", m)
    /\ UNCHANGED <<life, up, due, looked, stops, sent, spent>>
    /\ CreatorHasLeft

\* A new incarnation has received and delivered nothing.
NothingReceived(m) == [got EXCEPT ![m] = {}]
NothingDelivered(m) == [aux_delivered EXCEPT ![m] = <<>>]

\* The most messages that are on their way from one member to m.
Longest(m) == LET n == {Len(wire[f][m]) : f \in Member} IN CHOOSE i \in n : \A j \in n : j <= i

\* An address that left or crashed is taken by a new incarnation, which will join. Messages of the old incarnation may
\* still arrive.
Restart(m) ==
    /\ installed[m] # 0
    /\ MayRestart(m)
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ installed' = [installed EXCEPT ![m] = 0]
    /\ life' = [life EXCEPT ![m] = @ + 1]
    /\ got' = NothingReceived(m)
    /\ held' = [held EXCEPT ![m] = <<>>]
    /\ IF m \notin Inheritors THEN wire' = WithoutTo({m})
       ELSE \E first \in [Member -> 1 .. 1 + Longest(m)] :
            /\ \A f \in Member : first[f] <= 1 + Len(wire[f][m])
            /\ wire' = [f \in Member |-> [wire[f] EXCEPT ![m] = SubSeq(@, first[f], Len(@))]]
    /\ up' = up \cup {m}
    /\ due' = due \ {m}
    /\ looked' = [looked EXCEPT ![m] = 0]
    /\ stops' = [stops EXCEPT ![m] = "no"]
    /\ aux_path' = [aux_path EXCEPT ![m] = <<>>]
    /\ aux_delivered' = NothingDelivered(m)
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<views, log, settled, sent, spent>>

Crash(m) ==
    /\ spent.crashes < MaxCrashes
    /\ m \in Crashers
    /\ IsActive(m)
    /\ up' = up \ {m}
    /\ wire' = AfterEnd(m)
    /\ Environment("Crash", m, None, {})
    /\ Spend("crashes")
    /\ UNCHANGED <<local, views, installed, life, log, settled, got, held, due, looked, stops, sent, aux_path, aux_delivered>>

\* ClosedOnlyByViews: the connection to x may be closed, as the sender has a view without it.
MayClose(m, x) == x \notin DOMAIN views[installed[m]].lives

\* UNICAST closes the connection to a process that is not in the view; messages in transit are lost from some message
\* on.
Close(m) ==
    /\ spent.closes < MaxCloses
    /\ IsActive(m)
    /\ \E x \in up :
        /\ MayClose(m, x)
        /\ \E n \in 0 .. Len(wire[m][x]) - 1 : wire' = [wire EXCEPT ![m][x] = SubSeq(@, 1, n)]
    /\ Environment("Close", m, None, {})
    /\ Spend("closes")
    /\ UNCHANGED <<local, views, installed, life, up, log, settled, got, held, due, looked, stops, sent, aux_path, aux_delivered>>

\* The views that m has decided without itself, at most one. It counts in that view (Leavers): so its next incarnation asks
\* for a majority of it.
LeftBy(m) == SelectSeq(views, LAMBDA v : v.preds # {} /\ v.id.creator = m /\ m \notin DOMAIN v.lives)

\* The record of m, when it has ended.
RecordOf(m) ==
    OnDisk(local[m]) \o (IF OnDisk(local[m]) = <<>> THEN <<>> ELSE [i \in DOMAIN LeftBy(m) |-> ViewOf(LeftBy(m)[i])])

\* The next incarnation of a name begins, with the record of the former one, or without, where the disk is lost. (An
\* incarnation that was in no view has the record of the one before it.)
Begin(m) ==
    /\ Majority /\ ~HasBegun(m)
    /\ Formers(m) \cap up = {} /\ \A a \in Formers(m) : HasBegun(a)
    /\ \E last \in Formers(m) \ Superseded(Formers(m)) :
        ApplyHere("Begin", m, [type |-> "Restored", attempts |-> IF m \in Lost THEN <<>> ELSE RecordOf(last)], {}, None)
    /\ UNCHANGED <<views, installed, life, up, settled, got, due, looked, stops, sent, spent, aux_path>>

\* m suspects x. (A budget: also that x is left out by m's next view is the script's.)
Suspect(m) ==
    /\ spent.suspicions < MaxSuspicions
    /\ IsActive(m)
    /\ \E x \in (DOMAIN views[installed[m]].lives \ {m}) \ local[m].suspected :
        ApplyHere("Suspect", m, [type |-> "Suspected", suspect |-> x], {}, None)
    /\ Spend("suspicions")
    /\ UNCHANGED <<views, installed, life, up, settled, got, due, looked, stops, sent, aux_path>>

\* Some member has left view number u for the next one.
IsOver(u) == \E k \in DOMAIN views : u \in DOMAIN settled[k]

\* SEQ-21: a member that will leave takes no more from its application, ...
AskStop(m) ==
    /\ spent.stops < MaxStops
    /\ m \in Crashers
    /\ IsActive(m)
    /\ ~IsOver(installed[m])
    /\ stops[m] = "no"
    /\ stops' = [stops EXCEPT ![m] = "asked"]
    /\ Environment("AskStop", m, None, {})
    /\ Spend("stops")
    /\ UNCHANGED <<local, layers, due, looked, sent, aux_path, aux_delivered>>

Drained(m) == local[m].forward_table = <<>>

\* All that are in m's view have seen all of it, and wait for nothing.
Flushed(m) ==
    LET k == installed[m]
        here == {x \in up : x \in DOMAIN views[k].lives /\ installed[x] # 0}
    IN /\ ~IsOver(k)
       /\ \A x \in here :
            /\ installed[x] = k /\ Drained(x)
            /\ \A s \in DOMAIN log[k] : \A i \in DOMAIN log[k][s] : <<k, s, i>> \in got[x]

\* ... and goes: at once (also: at a timeout), when its table is empty, or when the view is flushed.
Stop(m) ==
    /\ m \in up
    /\ stops[m] = "asked"
    /\ IF StopRule = "drained" THEN Drained(m) ELSE IF StopRule = "flushed" THEN Flushed(m) ELSE TRUE
    /\ stops' = [stops EXCEPT ![m] = "gone"]
    /\ up' = up \ {m}
    /\ wire' = AfterEnd(m)
    /\ Environment("Stop", m, None, {})
    /\ UNCHANGED <<local, views, installed, life, log, settled, got, held, due, looked, sent, spent, aux_path, aux_delivered>>

\* Events that no correct peer or caller causes, and views that were installed before. None of them changes anything.
Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ IsActive(m)
    /\ LET tag == Tag("Z", ViewId(1, "Z"), 1)
           here == local[m].view.id
           twin == ViewId(here.counter, "Z")
           later == ViewId(9, "Z")
       IN
       \E event \in
        {[type |-> "ViewInstalled", view |-> local[m].view],
         [type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>)],
         [type |-> "Suspected", suspect |-> m], [type |-> "Suspected", suspect |-> "Z"],
         [type |-> "ForwardReceived", sender |-> "Z", message |-> ForwardMessage(here, tag, 1)],
         [type |-> "ForwardReceived", sender |-> "Z", message |-> ForwardMessage(twin, tag, 1)],
         [type |-> "ForwardReceived", sender |-> "Y", message |-> ForwardMessage(later, tag, 1)],
         [type |-> "DataReceived", sender |-> "Z", message |-> DataMessage(here, tag, 1)],
         [type |-> "DataReceived", sender |-> CoordinatorOf(local[m].view), message |-> DataMessage(here, tag, 1)],
         [type |-> "DataReceived", sender |-> "Z", message |-> DataMessage(twin, tag, 1)],
         [type |-> "DataReceived", sender |-> CoordinatorOf(local[m].view),
          message |-> DataMessage(twin, Tag(CoordinatorOf(local[m].view), local[m].epoch, 1), 1)],
         [type |-> "DataReceived", sender |-> "Z", message |-> DataMessage(later, tag, 1)]}
        \cup {[type |-> "ForwardReceived", sender |-> "Z", message |-> ForwardMessage(v.id, tag, 1)] : v \in MayFollow}
        \cup {[type |-> "ForwardReceived", sender |-> "C",
               message |-> ForwardMessage(v.id, Tag("C", ViewId(1, "A"), 1), 1)] :
                v \in {v \in MayFollow : m # CoordinatorOf(v)}} :
        ApplyHere("Misuse", m, event, {}, None)
    /\ Spend("misuses")
    /\ UNCHANGED <<views, installed, life, up, settled, got, due, looked, stops, sent, aux_path>>

-----------------------------------------------------------------------------
Init ==
    /\ Channel!Init
    /\ local = [m \in Member |->
                    IF installed[m] = 0 THEN Start(m)
                    ELSE LET first == Step(Start(m), [type |-> "ViewInstalled", view |-> ViewOf(views[installed[m]])]).state
                         IN IF Majority THEN InFormed(first) ELSE first]
    /\ held = [m \in Member |-> <<>>]
    /\ wire = EmptyWire
    /\ due = {}
    /\ looked = [m \in Member |-> 0]
    /\ stops = [m \in Member |-> "no"]
    /\ sent = [m \in Member |-> 0]
    /\ spent = [crashes |-> 0, duplicates |-> 0, forwards |-> 0, data |-> 0, unicasts |-> 0, stops |-> 0,
                misuses |-> 0, closes |-> 0, suspicions |-> 0]
    /\ aux_path = [m \in Member |-> IF installed[m] = 0 THEN <<>> ELSE <<installed[m]>>]
    /\ aux_delivered = [m \in Member |-> <<>>]
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ AppSends(m)
        \/ LookUp(m)
        \/ AppUnicasts(m)
        \/ ReceiveForward(m)
        \/ ReceiveReport(m)
        \/ ReceivePlain(m)
        \/ DuplicateForward(m)
        \/ LoseForward(m)
        \/ ReceiveData(m)
        \/ LoseData(m)
        \/ ResendTable(m)
        \/ InstallView(m)
        \/ Join(m)
        \/ Restart(m)
        \/ Begin(m)
        \/ Crash(m)
        \/ Close(m)
        \/ Suspect(m)
        \/ AskStop(m)
        \/ Stop(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars

(* Fairness: messages in transit arrive, designated joiners start and join,   *)
(* and a member that can install the next view does. Crashes, other faults,   *)
(* and the application's steps need not happen.                               *)
Fairness ==
    \A m \in Member :
        /\ WF_vars(ReceiveForward(m))
        /\ WF_vars(ReceiveReport(m))
        /\ WF_vars(ReceivePlain(m))
        /\ WF_vars(ReceiveData(m))
        /\ WF_vars(ResendTable(m))
        /\ WF_vars(InstallView(m))
        /\ WF_vars(Restart(m))
        /\ WF_vars(Begin(m))
        /\ WF_vars(Join(m))
        /\ WF_vars(Stop(m))

LiveSpec == Init /\ [][Next]_vars /\ Fairness
=============================================================================
