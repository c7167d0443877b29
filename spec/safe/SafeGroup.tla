----------------------------- MODULE SafeGroup ------------------------------
(***************************************************************************)
(* Members that run SAFE, and what is around them.                         *)
(* - SEQUENCER by contract (TotalOrderBroadcast): each view has one order, *)
(*   survivors leave it at one cut, what was not delivered to its sender   *)
(*   is ordered again in the next view. A member that crashed, or took     *)
(*   another branch, may have delivered more.                              *)
(* - With Majority: the views that may be formed are those of              *)
(*   MajorityViews, and no member delivers in a view before it hears that  *)
(*   this one is formed. A member may leave a view without that, where     *)
(*   others have heard it: more than SEQUENCER does, whose FORMED is a     *)
(*   multicast.                                                            *)
(* - With Records a member that begins again (A#2) votes as its former     *)
(*   incarnation (A), though it has delivered nothing.                     *)
(* - UNICAST by contract (ReliableUnicast).                                *)
(* - Views: `History` is a script. Its first views are installed. Any      *)
(*   other view may be installed at any time: a member that it leaves out  *)
(*   has crashed, has left, or is suspected falsely.                       *)
(* The claims are in SafeClaims.                                           *)
(***************************************************************************)
EXTENDS Safe, ReliableUnicast, Acts

CONSTANTS
    History,        \* decided views: first ones, and then, in order, their successors
    Sends,          \* [Member -> Nat]: how many messages its application multicasts at most
    FormsEarly,     \* with Majority: a view may be formed before this layer hears of it
    Records,        \* with Majority: a vote is that of a name
    MaxCrashes,     \* fault budget
    Crashers,       \* bound: who crashes
    MaxMisuses      \* fault budget: callers' mistakes, messages of no correct peer

VARIABLES
    views, installed, life, path, order, cut, delivered, \* see TotalOrderBroadcast; order has <<sender, number>>
    had,            \* [Member -> the place in its view's order up to which it has delivered]
    reported, reports, formed, \* with Majority: see MajorityViews (`reported` is its `local`)
    bases,          \* ... [a formed view -> its base: the last formed view of which those know that form it]
    told,           \* [Member -> what was told of its messages, in order: whether it is safe, and the way since its delivery]
    up,
    spent

primary == <<reported, reports, formed, bases>>
below == <<views, installed, life, path, order, cut, delivered, had>>
vars == <<local, act, below, primary, wire, told, up, spent>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, below, primary, wire, told, up, spent>>

ASSUME Crashers \subseteq Member /\ {FormsEarly, Records} \subseteq BOOLEAN

sent == [m \in Member |-> local[m].sent]
IsFirst(v) == v.preds = {}
First == SelectSeq(History, IsFirst)
TotalOrder == INSTANCE TotalOrderBroadcast
MajorityOf == INSTANCE MajorityViews WITH
    local <- reported, act <- NoAct, KeepAct <- FALSE,
    Founders <- First[1].members, Rule <- "attempts", Script <- <<>>, MaxViews <- 0

Max(set) == CHOOSE n \in set : \A i \in set : i <= n

-----------------------------------------------------------------------------
(* The order *)

HasDelivered(m, x) == \E i \in DOMAIN delivered[m] : <<delivered[m][i][1], delivered[m][i][2]>> = x

\* m goes from its view to view number k, which is decided.
Goes(m, k) == installed[m] \in views[k].preds /\ m \in DOMAIN views[k].lives /\ m \notin views[k].joins

\* The cut of m's view is fixed: it multicasts nothing there any more.
IsClosed(m) == \E k \in DOMAIN views : Goes(m, k) /\ installed[m] \in DOMAIN cut[k]

\* The places of the order of m's view that m has yet to deliver.
Undelivered(m) ==
    LET k == installed[m] IN {i \in had[m] + 1 .. Len(order[k]) : ~HasDelivered(m, order[k][i])}

MayDeliver(m, i) == \A k \in DOMAIN views : (Goes(m, k) /\ installed[m] \in DOMAIN cut[k]) => i <= cut[k][installed[m]]

-----------------------------------------------------------------------------
(* Applying Step to one member. Models of defects replace an operator of this section. *)

MemberStep(s, e) == Step(s, e)

\* The views of m from that in which it has delivered its n-th message to the last of `way`.
WayOf(m, n, deliveries, way) ==
    LET at == {i \in DOMAIN deliveries : deliveries[i][1] = m /\ deliveries[i][2] = n}
    IN IF at = {} THEN <<>>
       ELSE LET i == CHOOSE i \in DOMAIN way : way[i] = deliveries[CHOOSE j \in at : TRUE][3] IN SubSeq(way, i, Len(way))

\* What m was told after these effects.
RECURSIVE Told(_, _, _, _, _)
Told(m, list, effects, deliveries, way) ==
    IF effects = <<>> THEN list
    ELSE LET e == Head(effects)
             is == e.type = "PassUp" /\ e.event.type \in {"SafeUpTo", "UnknownUpTo"}
             more == IF ~is THEN <<>>
                     ELSE [i \in 1 .. e.event.number - Len(list) |->
                            [safe |-> e.event.type = "SafeUpTo", way |-> WayOf(m, Len(list) + i, deliveries, way)]]
         IN Told(m, list \o more, Tail(effects), deliveries, way)

\* m takes a step; it has then delivered `deliveries`, and gone `way`.
Apply(action, m, event, consumed, deliveries, way) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ wire' = AfterStep(wire, m, consumed, step.effects, up)
        /\ told' = [told EXCEPT ![m] = Told(m, @, step.effects, deliveries, way)]

Here(action, m, event, consumed) == Apply(action, m, event, consumed, delivered[m], path[m])

IsActive(m) == m \in up /\ installed[m] # 0
Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]
StaysBelow == UNCHANGED <<views, installed, life, path, order, cut, delivered, had, up>>
Stays == StaysBelow /\ UNCHANGED <<reported, reports, formed, bases>>

\* It knows that its view is formed, and messages are ordered there.
IsOrdered(m) == ~Majority \/ reported[m] = {installed[m]}

-----------------------------------------------------------------------------
(* Steps of members *)

AppSends(m) ==
    /\ IsActive(m) /\ local[m].sent < Sends[m]
    /\ Here("AppSends", m, [type |-> "SendRequested", payload |-> local[m].sent + 1], {})
    /\ order' = IF IsClosed(m) THEN order ELSE [order EXCEPT ![installed[m]] = Append(@, <<m, local[m].sent + 1>>)]
    /\ UNCHANGED <<views, installed, life, path, cut, delivered, had, up, primary, spent>>

\* The next message of the order that m has not delivered.
DeliverNext(m) ==
    /\ IsActive(m) /\ Undelivered(m) # {} /\ IsOrdered(m)
    /\ \E i \in {CHOOSE i \in Undelivered(m) : \A j \in Undelivered(m) : i <= j} :
       \E x \in {order[installed[m]][i]} :
       \E now \in {Append(delivered[m], <<x[1], x[2], installed[m]>>)} :
        /\ MayDeliver(m, i)
        /\ Apply("DeliverNext", m, [type |-> "DataReceived", sender |-> x[1], message |-> DataMessage(x[2], x[2])], {}, now, path[m])
        /\ had' = [had EXCEPT ![m] = i]
        /\ delivered' = [delivered EXCEPT ![m] = now]
    /\ UNCHANGED <<views, installed, life, path, order, cut, up, primary, spent>>

ReceiveAck(m) ==
    /\ IsActive(m)
    /\ \E from \in Member : \E i \in Arrivals(from, m) :
        LET message == wire[from][m][i] IN
        Here("ReceiveAck", m, [type |-> "AckReceived", sender |-> from, message |-> message], {Packet(from, m, message)})
    /\ UNCHANGED spent /\ Stays

-----------------------------------------------------------------------------
(* Views *)

ViewEvent(v) ==
    IF Cardinality(v.preds) > 1
    THEN [type |-> "MergeViewInstalled", view |-> ViewOf(v), subgroups |-> {History[u].id : u \in v.preds}]
    ELSE [type |-> "ViewInstalled", view |-> ViewOf(v)]

\* The own messages that m has not delivered are ordered again in its next view.
Again(m) ==
    LET IsNew(x) == ~HasDelivered(m, x)
    IN SelectSeq([n \in 1 .. local[m].sent |-> <<m, n>>], IsNew)

NewCut == [u \in {} |-> 0]

InstallView(m) ==
    /\ m \in up
    /\ \E k \in DOMAIN views \cup {Len(views) + 1} :
        /\ k <= Len(History) /\ m \in DOMAIN History[k].lives
        /\ LET v == History[k]
               u == installed[m]
               cuts == IF k \in DOMAIN views THEN cut[k] ELSE NewCut
               goers == {x \in up : installed[x] = u /\ x \in DOMAIN v.lives /\ x \notin v.joins}
               place == IF u \in DOMAIN cuts THEN cuts[u] ELSE Max({had[x] : x \in goers \cup {m}})
               orders == IF k \in DOMAIN views THEN order ELSE Append(order, <<>>)
               way == Append(path[m], k)
           IN /\ IF u = 0
                 THEN m \in v.joins /\ \A p \in v.preds :
                        p \in DOMAIN cuts \/ ~\E x \in up : installed[x] = p /\ x \in DOMAIN v.lives /\ x \notin v.joins
                 ELSE m \notin v.joins /\ u \in v.preds
                      /\ \A i \in Undelivered(m) : i > place
              /\ views' = SubSeq(History, 1, IF k > Len(views) THEN k ELSE Len(views))
              /\ cut' = LET all == IF k \in DOMAIN views THEN cut ELSE Append(cut, NewCut)
                        IN IF u = 0 \/ u \in DOMAIN cuts THEN all ELSE [all EXCEPT ![k] = Updated(@, u, place)]
              /\ installed' = [installed EXCEPT ![m] = k]
              /\ path' = [path EXCEPT ![m] = way]
              /\ had' = [had EXCEPT ![m] = 0]
              /\ order' = [orders EXCEPT ![k] = @ \o Again(m)]
              /\ Apply("InstallView", m, ViewEvent(v), {}, delivered[m], way)
              /\ IF Majority THEN MajorityOf!Attends(m, k, views') ELSE UNCHANGED <<reported, reports, formed>>
    /\ UNCHANGED <<bases, life, delivered, up, spent>>

\* The votes of these members.
Votes(set) ==
    set \cup UNION {{b \in Member : Records /\ IsFormer(b, m)} : m \in set}

\* The reports of `from` are enough for view number k: of a majority of each view in them. The last formed view that a member knows
\* is the first of those that it reports.
FormsWith(k, from, ReportOf(_)) ==
    /\ \A x \in from : \A b \in ReportOf(x) : MajorityOf!IsMajority(Votes(from), b)
    /\ \E x \in from : ReportOf(x) # {}
    /\ formed' = formed \cup {k}
    /\ bases' = Updated(bases, k, Max({CHOOSE b \in ReportOf(x) : \A c \in ReportOf(x) : b <= c : x \in {x \in from : ReportOf(x) # {}}}))

\* The coordinator of a view has the reports for it.
FormView(m) ==
    LET k == installed[m] IN
    /\ Majority /\ IsActive(m) /\ CoordinatorOf(views[k]) = m /\ k \notin formed
    /\ \E from \in SUBSET DOMAIN reports[k] : LET ReportOf(x) == reports[k][x] IN FormsWith(k, from, ReportOf)
    /\ Environment("FormView", m, None, {})
    /\ UNCHANGED <<local, wire, told, spent, reported, reports>> /\ StaysBelow

FormedEvent(k) == [type |-> "ViewFormed", view_id |-> History[k].id, before |-> 0]

LearnFormed(m) ==
    /\ Majority /\ IsActive(m) /\ MajorityOf!Learn(m)
    /\ IF local[m].formed.counter < views[installed[m]].id.counter
       THEN Here("LearnFormed", m, FormedEvent(installed[m]), {})
       ELSE Environment("LearnFormed", m, None, {}) /\ UNCHANGED <<local, wire, told>>
    /\ UNCHANGED <<bases, spent>> /\ StaysBelow

\* A coordinator that installs a view last has the reports for it already. SEQUENCER hears of the view before this layer does, and
\* passes up that it is formed.
FormEarly(m) ==
    /\ Majority /\ FormsEarly /\ IsActive(m)
    /\ \E k \in DOMAIN views :
        /\ k > installed[m] /\ Goes(m, k) /\ CoordinatorOf(views[k]) = m /\ k \notin formed
        /\ installed[m] \in DOMAIN cut[k] => \A i \in Undelivered(m) : i > cut[k][installed[m]]
        /\ LET ReportOf(x) == IF x = m THEN reported[m] ELSE reports[k][x]
           IN \E from \in SUBSET (DOMAIN reports[k] \cup {m}) : FormsWith(k, from, ReportOf)
        /\ Here("FormEarly", m, FormedEvent(k), {})
    /\ UNCHANGED <<reported, reports, spent>> /\ StaysBelow

-----------------------------------------------------------------------------
(* Faults *)

Crash(m) ==
    /\ m \in up /\ m \in Crashers /\ spent.crashes < MaxCrashes
    /\ up' = up \ {m}
    /\ wire' = WithoutTo({m})
    /\ Spend("crashes")
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, below, primary, told>>

\* Events that no correct caller or peer causes, and late messages. Each changes nothing.
Misuse(m) ==
    /\ m \in up /\ spent.misuses < MaxMisuses
    /\ \E event \in IF installed[m] = 0 THEN {[type |-> "SendRequested", payload |-> 1]} ELSE
        {[type |-> "ViewInstalled", view |-> View(99, "Z", <<"Z">>)],
         [type |-> "ViewInstalled", view |-> ViewOf(views[installed[m]])],
         [type |-> "DataReceived", sender |-> "Z", message |-> DataMessage(1, 1)],
         [type |-> "DataReceived", sender |-> m, message |-> DataMessage(0, 1)],
         [type |-> "AckReceived", sender |-> "Z", message |-> AckMessage(local[m].view.id, 0)],
         [type |-> "AckReceived", sender |-> m, message |-> AckMessage(local[m].view.id, 99)],
         [type |-> "AckReceived", sender |-> m, message |-> AckMessage(NoViewId, 0)]}
        \cup IF Majority THEN {} ELSE {[type |-> "ViewFormed", view_id |-> NoViewId, before |-> 0]} :
        Here("Misuse", m, event, {})
    /\ Spend("misuses") /\ Stays

-----------------------------------------------------------------------------
Begun(m, v) ==
    [Start(m) EXCEPT !.view = ViewOf(v), !.among = MembersOf(v), !.formed = IF Majority THEN v.id ELSE NoViewId]

Init ==
    /\ views = First
    /\ life = [m \in Member |-> 0]
    /\ installed = [m \in Member |-> LET mine == {k \in DOMAIN First : m \in DOMAIN First[k].lives}
                                     IN IF mine = {} THEN 0 ELSE CHOOSE k \in mine : TRUE]
    /\ path = [m \in Member |-> IF installed[m] = 0 THEN <<>> ELSE <<installed[m]>>]
    /\ order = [k \in DOMAIN First |-> <<>>]
    /\ cut = [k \in DOMAIN First |-> NewCut]
    /\ delivered = [m \in Member |-> <<>>]
    /\ had = [m \in Member |-> 0]
    /\ local = [m \in Member |-> IF installed[m] = 0 THEN Start(m) ELSE Begun(m, First[installed[m]])]
    /\ wire = EmptyWire
    /\ told = [m \in Member |-> <<>>]
    /\ reported = [m \in Member |-> IF Majority /\ (installed[m] # 0 \/ Records) THEN {1} ELSE {}]
    /\ reports = [k \in DOMAIN First |-> [m \in {} |-> {}]]
    /\ formed = IF Majority THEN DOMAIN First ELSE {}
    /\ bases = [k \in formed |-> 0]
    /\ up = Member
    /\ spent = [crashes |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ AppSends(m)
        \/ DeliverNext(m)
        \/ ReceiveAck(m)
        \/ InstallView(m)
        \/ FormView(m)
        \/ LearnFormed(m)
        \/ FormEarly(m)
        \/ Crash(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
