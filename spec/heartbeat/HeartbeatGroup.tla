---------------------------- MODULE HeartbeatGroup ----------------------------
(***************************************************************************)
(* Members that run HEARTBEAT over a Network, as freely as it may behave:  *)
(* a heartbeat may arrive at any time, again, late, or never.              *)
(* - Views are whatever a membership service may decide: a member that has *)
(*   a view decides its successor, with any of its members, or a view that *)
(*   merges it with the view of another. Members install them along their  *)
(*   paths, at any time.                                                   *)
(* - GMS watches the members of its view that it does not suspect, and     *)
(*   joiners, which have no view. It suspects the members that HEARTBEAT   *)
(*   reports, and others that members report (a budget). A suspicion ends  *)
(*   with a view without the suspect.                                      *)
(* - UNICAST may keep messages for members that the view is without.       *)
(* - Timers fire at any time: the members' clocks run as they like.        *)
(* - Members crash.                                                        *)
(* `unheard`, `gaps` and `begun` are auxiliary: what each has heard of     *)
(* each other, and when it installed its view.                             *)
(* The claims are in HeartbeatClaims.                                      *)
(***************************************************************************)
EXTENDS Heartbeat, Network, Acts

CONSTANTS
    First,          \* the views at the start
    Behind,         \* the members that have yet to install the last of these views
    Joiners,        \* bound: members without a view that ask all others to be let in, and are not
    MaxViews,       \* bound: views decided after those
    MaxBeats,       \* bound: heartbeats of each member
    Beaters,        \* bound: who sends heartbeats
    Merges,         \* bound: views may merge
    MaxCrashes,     \* fault budget
    Keeps,          \* UNICAST keeps messages for all members that the own view is without
    MaxTold,        \* bound: suspicions of which GMS hears from others
    MaxMisuses      \* fault budget: messages of no correct peer, callers' mistakes

VARIABLES
    views,          \* the decided views; a view's number is its place in this sequence
    installed,      \* [Member -> the number of the view installed; 0: none]
    up,             \* the members that have not crashed
    suspects,       \* [Member -> whom its GMS suspects]
    unheard,        \* [Member -> [peer -> how many own heartbeats ago its last fresh heartbeat came]]
    gaps,           \* [Member -> [peer -> how many there were between its last two]]
    begun,          \* [Member -> how many own heartbeats it had sent when it installed its view]
    spent           \* bounds and fault budgets used

around == <<views, installed, up, suspects>>
ghosts == <<unheard, gaps, begun>>
vars == <<local, net, around, ghosts, spent, act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, net, around, ghosts, spent>>

ASSUME Beaters \cup Joiners \subseteq Member /\ {KeepAct, Keeps, Merges} \subseteq BOOLEAN

-----------------------------------------------------------------------------
(* Applying Step to one member. Models of defects replace MemberStep. *)

MemberStep(s, e) == Step(s, e)

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

Own(m) == views[installed[m]]

Watched(m) == IF installed[m] = 0 THEN {} ELSE (MembersOf(Own(m)) \cup Joiners) \ (suspects[m] \cup {m})

Sought(m) == IF Keeps /\ installed[m] # 0 THEN Member \ MembersOf(Own(m)) ELSE {}

\* A report ends the watch: GMS suspects the member. (`reachable`: of a network of which all addresses are known.)
Around(m) == [watched |-> Watched(m), suspected |-> suspects[m], sought |-> Sought(m), reachable |-> Member]

Reported(effects, type) ==
    {effects[i].event : i \in {i \in DOMAIN effects : effects[i].type = "PassUp" /\ effects[i].event.type = type}}

ReportedIn(effects) == {event.suspect : event \in Reported(effects, "Suspected")}
SilentIn(effects) == {event.peer : event \in Reported(effects, "SilenceReported")}

Apply(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ suspects' = [suspects EXCEPT ![m] = @ \cup ReportedIn(step.effects)]

Beat(m) ==
    /\ m \in up /\ m \in Beaters /\ local[m].beats < MaxBeats
    /\ Apply("Beat", m, [type |-> "BeatTimeout", around |-> Around(m)], {})
    /\ unheard' = [unheard EXCEPT ![m] = [x \in Member |-> @[x] + 1]]
    /\ UNCHANGED <<views, installed, up, gaps, begun, spent>>

\* A heartbeat is fresh if none that was sent later has come before it.
IsFresh(m, packet) ==
    packet.sender \notin DOMAIN local[m].heard \/ packet.message.number > local[m].heard[packet.sender].number

ReceiveHeartbeat(m) ==
    /\ m \in up
    /\ \E packet \in Arriving(m) :
        /\ Apply("ReceiveHeartbeat", m,
                 [type |-> "HeartbeatReceived", sender |-> packet.sender, message |-> packet.message], {packet})
        /\ IF IsFresh(m, packet)
           THEN /\ unheard' = [unheard EXCEPT ![m][packet.sender] = 0]
                /\ gaps' = [gaps EXCEPT ![m][packet.sender] =
                    IF packet.sender \in DOMAIN local[m].heard /\ local[m].heard[packet.sender].number > 0
                    THEN unheard[m][packet.sender] ELSE 0]
           ELSE UNCHANGED <<unheard, gaps>>
    /\ UNCHANGED <<views, installed, up, begun, spent>>

-----------------------------------------------------------------------------
(* Views, crashes, suspicions *)

\* Lists in the order of addresses: HEARTBEAT looks at who is in a view only.
MayDecide(m, x, members) ==
    /\ m \in members /\ x \in members
    /\ members \subseteq MembersOf(Own(m)) \cup MembersOf(Own(x))
    /\ \A k \in DOMAIN views : installed[m] \in views[k].preds => views[k].id.creator # m

Decide(m) ==
    /\ m \in up /\ installed[m] # 0 /\ spent.views < MaxViews
    /\ \E x \in IF Merges THEN {x \in up : installed[x] # 0} ELSE {m} : \E members \in SUBSET Member :
        /\ MayDecide(m, x, members)
        /\ views' = Append(views,
            DecidedView(ViewId(1 + Greatest(Own(m).id.counter, Own(x).id.counter), m), Sorted(members),
                        {installed[m], installed[x]}, [y \in members |-> 0], {}))
        /\ Environment("Decide", m, [with |-> x, members |-> Sorted(members)], {})
    /\ Spend("views")
    /\ UNCHANGED <<local, net, installed, up, suspects, ghosts>>

InstallView(m) ==
    /\ m \in up
    /\ \E k \in DOMAIN views :
        /\ m \in MembersOf(views[k]) /\ installed[m] \in views[k].preds
        /\ \E step \in {MemberStep(local[m], [type |-> "ViewInstalled", view |-> ViewOf(views[k])])} :
            Take("InstallView", m, None, [type |-> "ViewInstalled", view |-> ViewOf(views[k])], {}, step)
        /\ installed' = [installed EXCEPT ![m] = k]
        /\ suspects' = [suspects EXCEPT ![m] = @ \cap MembersOf(views[k])]
        /\ begun' = [begun EXCEPT ![m] = local[m].beats]
    /\ UNCHANGED <<net, views, up, unheard, gaps, spent>>

Crash(m) ==
    /\ m \in up /\ spent.crashes < MaxCrashes
    /\ up' = up \ {m}
    /\ Environment("Crash", m, None, {})
    /\ Spend("crashes")
    /\ UNCHANGED <<local, net, views, installed, suspects, ghosts>>

\* GMS hears of a suspicion by another member, or suspects falsely.
HearOfSuspect(m) ==
    /\ m \in up /\ spent.told < MaxTold
    /\ \E x \in Watched(m) :
        /\ suspects' = [suspects EXCEPT ![m] = @ \cup {x}]
        /\ Environment("HearOfSuspect", m, [suspect |-> x], {})
    /\ Spend("told")
    /\ UNCHANGED <<local, net, views, installed, up, ghosts>>

Misuse(m) ==
    /\ m \in up /\ installed[m] # 0 /\ spent.misuses < MaxMisuses
    /\ \E event \in
        {[type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>)],
         [type |-> "ViewInstalled", view |-> ViewOf(Own(m))],
         [type |-> "HeartbeatReceived", sender |-> m, message |-> HeartbeatMessage(9, NoViewId, FALSE, FALSE)]}
        \cup {[type |-> "HeartbeatReceived", sender |-> x, message |-> message] : x \in Member \ {m}, message \in
                {HeartbeatMessage(0, NoViewId, FALSE, FALSE), HeartbeatMessage(9, NoViewId, FALSE, TRUE),
                 HeartbeatMessage(9, NoViewId, TRUE, FALSE)}} :
        Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED <<views, installed, up, ghosts>>

-----------------------------------------------------------------------------
\* The number of the view that m has installed at the start; 0: none.
FirstOfMember(m) ==
    LET own == {k \in DOMAIN First : m \in MembersOf(First[k])} IN
    IF own = {} THEN 0
    ELSE CHOOSE k \in own : \A j \in own : IF m \in Behind THEN k <= j ELSE k >= j

FirstState(m) ==
    LET k == FirstOfMember(m) IN
    IF k = 0 THEN Start(m) ELSE Step(Start(m), [type |-> "ViewInstalled", view |-> ViewOf(First[k])]).state

Init ==
    /\ local = [m \in Member |-> FirstState(m)]
    /\ net = {}
    /\ views = First
    /\ installed = [m \in Member |-> FirstOfMember(m)]
    /\ up = Member
    /\ suspects = [m \in Member |-> {}]
    /\ unheard = [m \in Member |-> [x \in Member |-> 0]]
    /\ gaps = [m \in Member |-> [x \in Member |-> 0]]
    /\ begun = [m \in Member |-> 0]
    /\ spent = [views |-> 0, crashes |-> 0, told |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ Beat(m)
        \/ ReceiveHeartbeat(m)
        \/ Decide(m)
        \/ InstallView(m)
        \/ Crash(m)
        \/ HearOfSuspect(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
