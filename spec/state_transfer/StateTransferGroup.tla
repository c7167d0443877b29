------------------------- MODULE StateTransferGroup --------------------------
(***************************************************************************)
(* Members that run STATE_TRANSFER, and what is around them.               *)
(* - SEQUENCER by contract (TotalOrderBroadcast): each view has one order, *)
(*   survivors leave it at one cut, what was not delivered to its sender   *)
(*   is ordered again in the next view. A member that crashed, or took     *)
(*   another branch, may have delivered more.                              *)
(* - With Majority: the views that may be formed are those of              *)
(*   MajorityViews, and no member delivers in a view before it is formed.  *)
(* - UNICAST by contract (ReliableUnicast).                                *)
(* - SAFE tells a member of its multicasts, in their order, once it has    *)
(*   delivered them.                                                       *)
(* - The application: its state is what it has delivered, in order. It     *)
(*   marks it, gives it in parts, or fails to. After Full it takes no      *)
(*   message of the order, but for some bytes that are on their way, until *)
(*   Room, or until a view ends without it.                                *)
(* - Views: `History` is a script. Its first views are installed, and      *)
(*   their members have a state. Any other view may be installed at any    *)
(*   time: a member that it leaves out has crashed, has left, or is        *)
(*   suspected falsely.                                                    *)
(* The claims are in StateTransferClaims.                                  *)
(***************************************************************************)
EXTENDS StateTransfer, ReliableUnicast, Acts

CONSTANTS
    History,        \* decided views: first ones, and then, in order, their successors
    Sends,          \* [Member -> Nat]: how many messages its application multicasts at most
    Majority,       \* option of SEQUENCER: a view orders nothing before it is formed
    FormsEarly,     \* ... and may be formed before this layer hears of it
    PartCount,      \* parts of a state
    SnapshotIsOld,  \* the parts are of the state as it was marked; if not, as it is when they are read
    Lag,            \* bytes of messages that are on their way to a program when it is told Full
    MaxCrashes,     \* fault budget
    Crashers,       \* bound: who crashes
    MaxFailures,    \* fault budget: the application fails to give a part
    MaxDeclares,    \* bound: how often applications declare a state
    Declarers,      \* bound: whose
    MaxTells,       \* bound: how often SAFE tells a member of its multicasts
    MaxMisuses      \* fault budget: callers' mistakes, late timers, messages of no correct peer

VARIABLES
    views, installed, life, path, order, cut, delivered, \* see TotalOrderBroadcast; order has <<sender, number>>
    cast,           \* [Member -> its multicasts, in order]
    had,            \* [Member -> the place in its view's order up to which it has delivered]
    apps,           \* [Member -> its application: state, marks, reads, staged; knows: it has heard that it has the group's state]
    reported, reports, formed, \* with Majority: see MajorityViews (`reported` is its `local`)
    bases,          \* ... [a formed view -> its base: the last formed view of which those know that form it]
    sequence,       \* with Majority: the state of the primary when its last view was formed and settled, and that view
    up,
    spent

primary == <<reported, reports, formed, bases>>
below == <<views, installed, life, path, order, cut, delivered, cast, had>>
moves == <<local, act, below, primary, wire, apps, up, spent>>
vars == <<moves, sequence>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, below, primary, wire, apps, up, spent, sequence>>

ASSUME
    /\ Crashers \cup Declarers \subseteq Member /\ {SnapshotIsOld, Majority, FormsEarly} \subseteq BOOLEAN /\ PartCount \in Nat \ {0}

sent == [m \in Member |-> Len(cast[m])]
IsFirst(v) == v.preds = {}
First == SelectSeq(History, IsFirst)
TotalOrder == INSTANCE TotalOrderBroadcast
MajorityOf == INSTANCE MajorityViews WITH
    local <- reported, act <- NoAct, KeepAct <- FALSE,
    Founders <- First[1].members, Rule <- "attempts", Script <- <<>>, MaxViews <- 0

Max(set) == CHOOSE n \in set : \A i \in set : i <= n

-----------------------------------------------------------------------------
(* The application *)

\* Its state at the start: the members of a first view have the same.
Origin(k) == <<<<views[k].id.creator, 0>>>>
DeclaredOrigin(m) == <<<<m, -1>>>>

\* In a state that an application has, and that is declared.
Declared == <<"declared", -1>>

Assembled(parts) ==
    IF Len(parts) = PartCount /\ \A i \in DOMAIN parts : parts[i].of = parts[1].of /\ parts[i].part = i
    THEN parts[1].of ELSE <<<<"broken", 0>>>>

Answer(m, a, e) ==
    CASE e.type = "Deliver" -> [a EXCEPT !.state = Append(@, <<e.sender, e.payload>>),
                                            !.own = IF e.sender = m THEN e.payload ELSE @]
      [] e.type = "OwnIsInState" -> [a EXCEPT !.own = e.number]
      [] e.type = "MarkState" -> [a EXCEPT !.marks = Updated(@, e.to, [attempt |-> e.attempt, state |-> a.state])]
      [] e.type = "ReadPart" -> [a EXCEPT !.reads = @ \cup {[to |-> e.to, attempt |-> e.attempt, number |-> e.number]}]
      [] e.type = "FreeState" -> [a EXCEPT !.marks = Less(@, e.to)]
      [] e.type = "PutPart" -> [a EXCEPT !.staged = IF e.number = 1 THEN <<e.data>> ELSE Append(@, e.data)]
      [] e.type = "StateSet" -> [a EXCEPT !.state = Assembled(a.staged), !.staged = <<>>, !.knows = TRUE]
      [] e.type = "StateDeclared" -> [a EXCEPT !.state = IF @ = <<>> THEN DeclaredOrigin(m) ELSE Append(@, Declared), !.knows = TRUE]
      [] e.type = "StateKept" -> [a EXCEPT !.knows = TRUE]
      [] e.type \in {"StateDropped", "NoState"} -> [a EXCEPT !.knows = FALSE]
      [] e.type = "Full" -> [a EXCEPT !.full = TRUE]
      [] e.type = "Room" -> [a EXCEPT !.full = FALSE]
      [] e.type \in {"SafeUpTo", "UnknownUpTo"} -> [a EXCEPT !.told = e.number]
      [] OTHER -> a

RECURSIVE Answers(_, _, _)
Answers(m, a, effects) ==
    IF effects = <<>> THEN a
    ELSE Answers(m, IF Head(effects).type = "PassUp" THEN Answer(m, a, Head(effects).event) ELSE a, Tail(effects))

-----------------------------------------------------------------------------
(* The order *)

\* The bytes of the message of a number. (A model may put other sizes in its place.)
SizeOf(number) == 1

MulticastsOf(effects) ==
    LET Is(effect) == effect.type = "Multicast"
        list == SelectSeq(effects, Is)
    IN [i \in DOMAIN list |-> list[i].message]

Has2(seq, x) == \E i \in DOMAIN seq : seq[i] = x
HasDelivered(m, x) == \E i \in DOMAIN delivered[m] : <<delivered[m][i][1], delivered[m][i][2]>> = x

\* m goes from its view to view number k, which is decided.
Goes(m, k) == installed[m] \in views[k].preds /\ m \in DOMAIN views[k].lives /\ m \notin views[k].joins

\* The cut of m's view is fixed: it multicasts nothing there any more.
IsClosed(m) == \E k \in DOMAIN views : Goes(m, k) /\ installed[m] \in DOMAIN cut[k]

\* The orders when m, in view number k, multicasts these.
Ordered(orders, m, k, from, count) == [orders EXCEPT ![k] = @ \o [i \in 1 .. count |-> <<m, from + i>>]]

\* The places of the order of m's view that m has yet to deliver.
Undelivered(m) ==
    LET k == installed[m] IN {i \in had[m] + 1 .. Len(order[k]) : ~HasDelivered(m, order[k][i])}

MayDeliver(m, i) == \A k \in DOMAIN views : (Goes(m, k) /\ installed[m] \in DOMAIN cut[k]) => i <= cut[k][installed[m]]

-----------------------------------------------------------------------------
(* Applying Step to one member. Models of defects replace an operator of this section. *)

MemberStep(s, e) == Step(s, e)

Ended(effects) == \E i \in DOMAIN effects : effects[i] = Ends

\* m takes a step in view number k; `orders` is `order` with that view in it.
Apply(action, m, event, consumed, k, orders, again) ==
    \E step \in {MemberStep(local[m], event)} :
    \E new \in {MulticastsOf(step.effects)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ wire' = AfterStep(wire, m, consumed, step.effects, up)
        /\ apps' = [apps EXCEPT ![m] = Answers(m, @, step.effects)]
        /\ cast' = [cast EXCEPT ![m] = @ \o new]
        /\ order' = IF k = installed[m] /\ IsClosed(m) THEN orders
                    ELSE Ordered(orders, m, k, Len(cast[m]) - again, again + Len(new))
        /\ up' = IF Ended(step.effects) THEN up \ {m} ELSE up

Here(action, m, event, consumed) == Apply(action, m, event, consumed, installed[m], order, 0)

IsActive(m) == m \in up /\ installed[m] # 0
Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]
StaysBelow == UNCHANGED <<views, installed, life, path, cut, delivered, had>>
Stays == StaysBelow /\ UNCHANGED primary

\* It knows that its view is formed, and messages are ordered there.
IsOrdered(m) == ~Majority \/ reported[m] = {installed[m]}

-----------------------------------------------------------------------------
(* Steps of members *)

AppSends(m) ==
    /\ IsActive(m) /\ local[m].sent < Sends[m]
    /\ \E event \in {[type |-> "SendRequested", payload |-> local[m].sent + 1, size |-> SizeOf(local[m].sent + 1)]} :
        MemberStep(local[m], event).outcome = "handled" /\ Here("AppSends", m, event, {})
    /\ UNCHANGED spent /\ Stays

Received(type) == CASE type = "APP" -> "AppReceived" [] type = "ASK" -> "AskReceived" [] type = "TELL" -> "TellReceived"
                    [] type = "PART" -> "PartReceived" [] type = "CREDIT" -> "CreditReceived"
                    [] type = "CANNOT" -> "CannotReceived"

\* The next message of the order that m has not delivered.
Deliver1(action, m, types) ==
    /\ IsActive(m) /\ Undelivered(m) # {} /\ IsOrdered(m) /\ (apps[m].full => IsClosed(m) \/ local[m].bytes < FullAt + Lag)
    /\ \E i \in {CHOOSE i \in Undelivered(m) : \A j \in Undelivered(m) : i <= j} :
       \E x \in {order[installed[m]][i]} :
        /\ MayDeliver(m, i) /\ cast[x[1]][x[2]].type \in types
        /\ Here(action, m, [type |-> Received(cast[x[1]][x[2]].type), sender |-> x[1], message |-> cast[x[1]][x[2]]], {})
        /\ had' = [had EXCEPT ![m] = i]
        /\ delivered' = [delivered EXCEPT ![m] = Append(@, <<x[1], x[2], installed[m]>>)]
    /\ UNCHANGED <<views, installed, life, path, cut, primary, spent>>

DeliverApp(m) == Deliver1("DeliverApp", m, {"APP"})
DeliverAsk(m) == Deliver1("DeliverAsk", m, {"ASK"})
DeliverTell(m) == Deliver1("DeliverTell", m, {"TELL"})

ReceiveUnicast(m) ==
    /\ IsActive(m)
    /\ \E from \in Member : \E i \in Arrivals(from, m) :
        LET message == wire[from][m][i] IN
        Here("ReceiveUnicast", m, [type |-> Received(message.type), sender |-> from, message |-> message],
             {Packet(from, m, message)})
    /\ UNCHANGED spent /\ Stays

\* The application gives the part that was asked for first, or fails.
DataOf(m, read) ==
    [of |-> IF SnapshotIsOld /\ read.to \in DOMAIN apps[m].marks THEN apps[m].marks[read.to].state ELSE apps[m].state,
     part |-> read.number]

Read(action, m, Event(_)) ==
    /\ IsActive(m)
    /\ \E read \in apps[m].reads :
       \E step \in {MemberStep(local[m], Event(read))} :
        /\ Take(action, m, None, Event(read), {}, step)
        /\ wire' = AfterStep(wire, m, {}, step.effects, up)
        /\ apps' = [apps EXCEPT ![m] = Answers(m, [@ EXCEPT !.reads = @ \ {read}], step.effects)]
        /\ up' = IF Ended(step.effects) THEN up \ {m} ELSE up
    /\ UNCHANGED <<cast, order>> /\ Stays

PartIsRead(m) ==
    LET Event(read) == [type |-> "PartRead", to |-> read.to, attempt |-> read.attempt, number |-> read.number,
                        data |-> DataOf(m, read), last |-> read.number = PartCount]
    IN Read("PartIsRead", m, Event) /\ UNCHANGED spent

PartFails(m) ==
    LET Event(read) == [type |-> "PartFailed", to |-> read.to, attempt |-> read.attempt]
    IN spent.failures < MaxFailures /\ Read("PartFails", m, Event) /\ Spend("failures")

\* The timer fires when nothing else is to be done for m.
AskTimeoutFires(m) ==
    /\ IsActive(m) /\ local[m].timer /\ ~local[m].has /\ local[m].provider = Nobody /\ local[m].settled
    /\ \A x \in up : x # m => local[x].has \/ local[x].provider # Nobody
    /\ \E x \in up : installed[x] = installed[m] /\ local[x].has
    /\ Here("AskTimeoutFires", m, [type |-> "AskTimeout"], {})
    /\ UNCHANGED spent /\ Stays

SoonFires(m) ==
    /\ IsActive(m) /\ local[m].soon
    /\ Here("SoonFires", m, [type |-> "SoonTimeout"], {})
    /\ UNCHANGED spent /\ Stays

AppDeclares(m) ==
    /\ IsActive(m) /\ m \in Declarers /\ spent.declares < MaxDeclares
    /\ MemberStep(local[m], [type |-> "DeclareRequested"]).outcome = "handled"
    /\ Here("AppDeclares", m, [type |-> "DeclareRequested"], {})
    /\ Spend("declares") /\ Stays

SafeTells(m) ==
    /\ IsActive(m) /\ spent.tells < MaxTells
    /\ \E n \in DOMAIN cast[m], type \in {"SafeUpTo", "UnknownUpTo"} :
        /\ n > local[m].safe /\ HasDelivered(m, <<m, n>>)
        /\ Here("SafeTells", m, [type |-> type, number |-> n], {})
    /\ Spend("tells") /\ Stays

-----------------------------------------------------------------------------
(* Views *)

ViewEvent(v) ==
    IF Cardinality(v.preds) > 1
    THEN [type |-> "MergeViewInstalled", view |-> ViewOf(v), subgroups |-> {History[u].id : u \in v.preds}]
    ELSE [type |-> "ViewInstalled", view |-> ViewOf(v)]

\* How many of m's multicasts it has not delivered: they are ordered again in its next view.
Again(m) == Len(cast[m]) - Cardinality({n \in DOMAIN cast[m] : HasDelivered(m, <<m, n>>)})

\* FORMED is a multicast: members that go on together from view u to view k have heard it, or have not. (SEQUENCER's claim
\* LeavesKnowingByFormed.) If not, its coordinator may know it alone, of a view that others have left.
HeardByAll == TRUE

KnowsFormed(m, u) == installed[m] = u /\ reported[m] = {u}
Went(x, u, k) == \E i \in 2 .. Len(path[x]) : path[x][i - 1] = u /\ path[x][i] = k
LeftKnowing(x, k) == \E b \in reports[k][x] : \A c \in reports[k][x] : b <= c /\ Went(x, b, k)
HeardAsOthers(m, u, k, goers) ==
    LET gone == {x \in Member : Went(x, u, k)} IN
    IF gone # {} THEN KnowsFormed(m, u) <=> \E x \in gone : LeftKnowing(x, k)
    ELSE KnowsFormed(m, u) \/ ~\E x \in goers : KnowsFormed(x, u) \/ (u \in formed /\ CoordinatorOf(views[u]) = x)

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
           IN /\ IF u = 0
                 THEN m \in v.joins /\ \A p \in v.preds :
                        p \in DOMAIN cuts \/ ~\E x \in up : installed[x] = p /\ x \in DOMAIN v.lives /\ x \notin v.joins
                 ELSE m \notin v.joins /\ u \in v.preds /\ (Majority /\ HeardByAll => HeardAsOthers(m, u, k, goers))
                      /\ \A i \in Undelivered(m) : i > place
              /\ views' = SubSeq(History, 1, IF k > Len(views) THEN k ELSE Len(views))
              /\ cut' = LET all == IF k \in DOMAIN views THEN cut ELSE Append(cut, NewCut)
                        IN IF u = 0 \/ u \in DOMAIN cuts THEN all ELSE [all EXCEPT ![k] = Updated(@, u, place)]
              /\ installed' = [installed EXCEPT ![m] = k]
              /\ path' = [path EXCEPT ![m] = Append(@, k)]
              /\ had' = [had EXCEPT ![m] = 0]
              /\ Apply("InstallView", m, ViewEvent(v), {}, k,
                       IF k \in DOMAIN views THEN order ELSE Append(order, <<>>), Again(m))
              /\ IF Majority THEN MajorityOf!Attends(m, k, views') ELSE UNCHANGED <<reported, reports, formed>>
    /\ UNCHANGED <<bases, life, delivered, spent>>

\* The reports of `from` are enough for view number k: of a majority of each view in them. The last formed view that a member knows
\* is the first of those that it reports.
FormsWith(k, from, ReportOf(_)) ==
    /\ \A x \in from : \A b \in ReportOf(x) : MajorityOf!IsMajority(from, b)
    /\ \E x \in from : ReportOf(x) # {}
    /\ formed' = formed \cup {k}
    /\ bases' = Updated(bases, k, Max({CHOOSE b \in ReportOf(x) : \A c \in ReportOf(x) : b <= c : x \in {x \in from : ReportOf(x) # {}}}))

\* The coordinator of a view has the reports for it.
FormView(m) ==
    LET k == installed[m] IN
    /\ Majority /\ IsActive(m) /\ CoordinatorOf(views[k]) = m /\ k \notin formed /\ (IsClosed(m) => ~HeardByAll)
    /\ \E from \in SUBSET DOMAIN reports[k] : LET ReportOf(x) == reports[k][x] IN FormsWith(k, from, ReportOf)
    /\ Environment("FormView", m, None, {})
    /\ UNCHANGED <<local, wire, apps, order, cast, up, spent, reported, reports>> /\ StaysBelow

FormedEvent(k, base) == [type |-> "ViewFormed", view_id |-> History[k].id, before |-> IF base = 0 THEN 0 ELSE History[base].id.counter]

LearnFormed(m) ==
    /\ Majority /\ IsActive(m) /\ MajorityOf!Learn(m)
    /\ IsClosed(m) => \/ \E k \in DOMAIN views : Goes(m, k) /\ \E x \in Member : Went(x, installed[m], k) /\ LeftKnowing(x, k)
                      \/ ~HeardByAll /\ CoordinatorOf(views[installed[m]]) = m
    /\ IF local[m].formed < views[installed[m]].id.counter
       THEN Here("LearnFormed", m, FormedEvent(installed[m], bases[installed[m]]), {})
       ELSE Environment("LearnFormed", m, None, {}) /\ UNCHANGED <<local, wire, apps, order, cast, up>>
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
        /\ Here("FormEarly", m, FormedEvent(k, bases'[k]), {})
    /\ UNCHANGED <<reported, reports, spent>> /\ StaysBelow

-----------------------------------------------------------------------------
(* Faults *)

Crash(m) ==
    /\ m \in up /\ m \in Crashers /\ spent.crashes < MaxCrashes
    /\ up' = up \ {m}
    /\ wire' = WithoutTo({m})
    /\ Spend("crashes")
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, below, primary, apps>>

\* Events that no correct caller or peer causes, and late timers. Each changes nothing.
Misuse(m) ==
    /\ IsActive(m) /\ spent.misuses < MaxMisuses
    /\ \E event \in
        {[type |-> "AskTimeout"], [type |-> "SoonTimeout"],
         [type |-> "ViewInstalled", view |-> View(99, "Z", <<"Z">>)],
         [type |-> "AppReceived", sender |-> "Z", message |-> AppMessage(1, 1, 1)],
         [type |-> "AppReceived", sender |-> m, message |-> AppMessage(9, 0, 1)],
         [type |-> "AskReceived", sender |-> "Z", message |-> AskMessage("Z", 1)],
         [type |-> "TellReceived", sender |-> "Z", message |-> TellMessage(local[m].view.id, Standing(0, LacksName, FALSE, 0, 0))],
         [type |-> "PartReceived", sender |-> "Z", message |-> PartMessage(1, 0, [of |-> <<>>, part |-> 0], FALSE, NoneSeen, FALSE)],
         [type |-> "CreditReceived", sender |-> "Z", message |-> CreditMessage(1, 1)],
         [type |-> "CannotReceived", sender |-> "Z", message |-> CannotMessage(1)],
         [type |-> "PartFailed", to |-> "Z", attempt |-> 1],
         [type |-> "SendRequested", payload |-> 9, size |-> 1],
         [type |-> "DeclareRequested"],
         [type |-> "ViewFormed", view_id |-> NoViewId, before |-> 0]} :
        /\ MemberStep(local[m], event).outcome # "handled"
        /\ Here("Misuse", m, event, {})
    /\ Spend("misuses") /\ Stays

-----------------------------------------------------------------------------
Holder(m, v) ==
    LET counter == IF Majority THEN v.id.counter ELSE 0
    IN [Start(m) EXCEPT !.view = ViewOf(v), !.has = TRUE, !.formed = counter, !.stood = counter]

Init ==
    /\ views = First
    /\ life = [m \in Member |-> 0]
    /\ installed = [m \in Member |-> LET mine == {k \in DOMAIN First : m \in DOMAIN First[k].lives}
                                     IN IF mine = {} THEN 0 ELSE CHOOSE k \in mine : TRUE]
    /\ path = [m \in Member |-> IF installed[m] = 0 THEN <<>> ELSE <<installed[m]>>]
    /\ order = [k \in DOMAIN First |-> <<>>]
    /\ cut = [k \in DOMAIN First |-> NewCut]
    /\ delivered = [m \in Member |-> <<>>]
    /\ cast = [m \in Member |-> <<>>]
    /\ had = [m \in Member |-> 0]
    /\ local = [m \in Member |-> IF installed[m] = 0 THEN Start(m) ELSE Holder(m, First[installed[m]])]
    /\ wire = EmptyWire
    /\ apps = [m \in Member |-> [state |-> IF installed[m] = 0 THEN <<>> ELSE Origin(installed[m]),
                                 knows |-> installed[m] # 0, marks |-> [x \in {} |-> 0], reads |-> {}, staged |-> <<>>, own |-> 0, full |-> FALSE, told |-> 0]]
    /\ reported = [m \in Member |-> IF Majority /\ installed[m] # 0 THEN {installed[m]} ELSE {}]
    /\ reports = [k \in DOMAIN First |-> [m \in {} |-> {}]]
    /\ formed = IF Majority THEN DOMAIN First ELSE {}
    /\ bases = [k \in formed |-> 0]
    /\ sequence = [view |-> 1, state |-> IF Majority THEN Origin(1) ELSE <<>>]
    /\ up = Member
    /\ spent = [crashes |-> 0, failures |-> 0, declares |-> 0, tells |-> 0, misuses |-> 0]
    /\ act = NoAct

\* m is in the primary: its view is formed, and its state is the one that is kept, and not declared.
IsPrimary(m) ==
    m \in up /\ installed[m] # 0 /\ reported[m] = {installed[m]} /\ local[m].has /\ local[m].settled /\ ~local[m].declared

\* m's state as it was when its view began: without what it has delivered there, and did not have before. (A joiner may take
\* the state, and know that its view is formed, when others have yet to deliver what it has.)
StateBefore(m) ==
    LET Apps(set) == {<<x[1], cast'[x[1]][x[2]].payload>> : x \in {x \in set : cast'[x[1]][x[2]].type = "APP"}}
        list == delivered'[m]
        came == Apps({list[i] : i \in {i \in DOMAIN list : list[i][3] = installed'[m]}})
        had_before == Apps({list[i] : i \in {i \in DOMAIN list : list[i][3] # installed'[m]}})
        Remains(x) == x \notin came \/ x \in had_before \/ \E i \in DOMAIN sequence.state : sequence.state[i] = x
    IN SelectSeq(apps'[m].state, Remains)

\* The first member that is in the primary of a later view gives the sequence.
Follows ==
    sequence' = LET later == {m \in Member : Majority /\ IsPrimary(m)' /\ installed'[m] > sequence.view}
                IN IF later = {} THEN sequence
                   ELSE LET m == CHOOSE m \in later : TRUE IN [view |-> installed'[m], state |-> StateBefore(m)]

Next ==
    (\E m \in Member :
        \/ AppSends(m)
        \/ AppDeclares(m)
        \/ SafeTells(m)
        \/ DeliverApp(m)
        \/ DeliverAsk(m)
        \/ DeliverTell(m)
        \/ ReceiveUnicast(m)
        \/ PartIsRead(m)
        \/ PartFails(m)
        \/ AskTimeoutFires(m)
        \/ SoonFires(m)
        \/ InstallView(m)
        \/ FormView(m)
        \/ LearnFormed(m)
        \/ FormEarly(m)
        \/ Crash(m)
        \/ Misuse(m)) /\ Follows

Spec == Init /\ [][Next]_vars
=============================================================================
