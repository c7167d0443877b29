------------------------------ MODULE GmsGroup ------------------------------
(***************************************************************************)
(* A group of members that run GMS over reliable unicasts, with a failure  *)
(* detector.                                                               *)
(*                                                                         *)
(* The environment, and how freely it behaves:                             *)
(* - Unicasts arrive once, at any time and in any order, as long as both   *)
(*   ends live. When a member crashes, any part of what it has on its way  *)
(*   is lost; what is on its way to it is lost.                            *)
(* - The failure detector reports a crash to everybody who watches the     *)
(*   member (it is in the watcher's view, or waits in its queue), at any   *)
(*   time and to each at another; so too that somebody does not count the  *)
(*   watcher as a member any more. False suspicions have a budget.         *)
(* - Discovery gives a joiner any member that acts.                        *)
(* - An address that crashed or left may come back as a new incarnation,   *)
(*   while messages of the former one are on their way.                    *)
(* - Applications multicast, and the layer below delivers in order, at     *)
(*   each member at its own pace: what a digest is read from.              *)
(***************************************************************************)
EXTENDS Gms, Acts

CONSTANTS
    Member,         \* all addresses
    Founders,       \* the members of the first view, in order of seniority
    Crashers,       \* who may crash
    Leavers,        \* who may leave
    MaxCrashes,     \* fault budget
    MaxFalse,       \* fault budget: false suspicions
    MaxLeaves,      \* bound
    MaxRestarts,    \* bound: incarnations after the first, of all addresses together
    MaxCasts,       \* bound: multicasts of the applications, together
    MaxMisuses      \* fault budget: what no correct caller does

VARIABLES
    network,        \* the messages on their way: a set of packets
    up,             \* the members that have not crashed or left
    life,           \* [Member -> its present incarnation]
    cast,           \* [Member -> how many multicasts its present incarnation has sent]
    seen,           \* [Member -> [Member -> how many of them it has delivered]]
    spent,          \* budgets used
    aux_views       \* the decided views in order of decision, as module Membership has them, with their digests

vars == <<local, network, up, life, cast, seen, spent, aux_views, act>>
view == <<local, network, up, life, cast, seen, spent, aux_views>>

-----------------------------------------------------------------------------
Packet(sender, to, message) == [sender |-> sender, to |-> to, message |-> message]

\* The messages on their way after a step: those that were consumed are gone, those to the dead are lost.
AfterStep(net, sender, consumed, effects, live) ==
    LET sent == {i \in DOMAIN effects : effects[i].type = "Send"}
    IN {p \in (net \ consumed) \cup {Packet(sender, effects[i].to, effects[i].message) : i \in sent} : p.to \in live}

\* Whom a member watches, and as which incarnation. (Whom it suspects it watches no more.)
Watched(s) ==
    ({<<x, s.decision.lives[x]>> : x \in MembersOf(s.decision) \ s.suspected}
     \cup {<<s.queue[i].member, s.queue[i].life>> : i \in {i \in DOMAIN s.queue : s.queue[i].kind = "join"}})
    \ {<<s.member, s.life>>}

\* What a step decided: the view that its member has now and nobody has decided before, or, of a coordinator that
\* leaves, the one that it sends.
IsDecided(decision) == \E k \in DOMAIN aux_views : aux_views[k].id = decision.id /\ aux_views[k].members = decision.members

NewDecisions(step) ==
    {d \in {step.state.decision}
           \cup {step.effects[i].message.decision : i \in {i \in DOMAIN step.effects :
                    step.effects[i].type = "Send" /\ step.effects[i].message.type = "NEW_VIEW"}} :
        d # NoDecision /\ ~IsDecided(d)}

Numbered(d) == {k \in DOMAIN aux_views : aux_views[k].id = d.follows}

AsView(d) ==
    [id |-> d.id, members |-> d.members, preds |-> Numbered(d), lives |-> d.lives, joins |-> d.joiners, digest |-> d.digest]

\* A joiner has what its digest says, and waits for what comes after.
AfterDigest(m, effects) ==
    IF \E i \in DOMAIN effects : effects[i].type = "PassDown" /\ effects[i].event.type = "DigestSet"
    THEN LET i == CHOOSE i \in DOMAIN effects : effects[i].type = "PassDown" /\ effects[i].event.type = "DigestSet"
             digest == effects[i].event.digest
         IN [seen EXCEPT ![m] = [x \in Member |-> IF x \in DOMAIN digest THEN digest[x] ELSE 0]]
    ELSE seen

Apply(action, m, event, consumed, given) ==
    \E step \in {Step(local[m], event)} :
        /\ Take(action, m, given, event, consumed, step)
        /\ up' = IF step.state.gone THEN up \ {m} ELSE up
        /\ network' = AfterStep(network, m, consumed, step.effects, up')
        /\ seen' = AfterDigest(m, step.effects)
        /\ \E new \in {NewDecisions(step)} :
            aux_views' = IF new = {} THEN aux_views ELSE Append(aux_views, AsView(CHOOSE d \in new : TRUE))

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Messages arrive *)

Kinds == {"JOIN_REQ", "JOIN_RSP", "LEAVE_REQ", "LEAVE_RSP", "NEW_VIEW", "VIEW_ACK", "QUERY", "ANSWER"}

Digest(m) == [x \in MembersOf(local[m].decision) |-> seen[m][x]]

EventOf(p) ==
    [type |-> CASE p.message.type = "JOIN_REQ" -> "JoinReqReceived"
                             [] p.message.type = "JOIN_RSP" -> "JoinRspReceived"
                             [] p.message.type = "LEAVE_REQ" -> "LeaveReqReceived"
                             [] p.message.type = "LEAVE_RSP" -> "LeaveRspReceived"
                             [] p.message.type = "NEW_VIEW" -> "NewViewReceived"
                             [] p.message.type = "VIEW_ACK" -> "ViewAckReceived"
                             [] p.message.type = "QUERY" -> "QueryReceived"
                             [] p.message.type = "ANSWER" -> "AnswerReceived",
     sender |-> p.sender, message |-> p.message]

ReceiveFrom(m, x, kinds) ==
    /\ m \in up
    /\ \E p \in network :
        /\ p.to = m /\ p.sender = x /\ p.message.type \in kinds
        /\ Apply("Receive", m, EventOf(p), {p}, None)
    /\ UNCHANGED <<life, cast, spent>>

Receive(m) == \E x \in Member : ReceiveFrom(m, x, Kinds)

-----------------------------------------------------------------------------
(* Applications, timers, discovery *)

\* m finds a member that acts, and asks it; again whenever its request is not on its way.
AskToJoin(m) ==
    /\ m \in up
    /\ ~InView(local[m])
    /\ \E c \in up \ {m} :
        /\ Acts(local[c])
        /\ Packet(m, c, JoinReq(life[m])) \notin network
        /\ Apply("AskToJoin", m, [type |-> "JoinRequested", coordinator |-> c, life |-> life[m]], {}, None)
    /\ UNCHANGED <<life, cast, spent>>

Leave(m) ==
    /\ spent.leaves < MaxLeaves
    /\ m \in up \cap Leavers
    /\ InView(local[m]) /\ ~local[m].leaving
    /\ Apply("Leave", m, [type |-> "LeaveRequested"], {}, None)
    /\ Spend("leaves")
    /\ UNCHANGED <<life, cast>>

\* The timer fires. (Late: see Misuse.)
DecideView(m) ==
    /\ m \in up
    /\ local[m].due
    /\ Apply("DecideView", m, [type |-> "ViewTimeout", digest |-> Digest(m)], {}, None)
    /\ UNCHANGED <<life, cast, spent>>

\* m multicasts, and delivers its own copy at once (DLV-04).
MulticastData(m) ==
    /\ spent.casts < MaxCasts
    /\ m \in up /\ InView(local[m])
    /\ cast' = [cast EXCEPT ![m] = @ + 1]
    /\ seen' = [seen EXCEPT ![m][m] = @ + 1]
    /\ Spend("casts")
    /\ Environment("MulticastData", m, None, {})
    /\ UNCHANGED <<local, network, up, life, aux_views>>

DeliverData(m) ==
    /\ m \in up /\ InView(local[m])
    /\ \E x \in MembersOf(local[m].decision) \ {m} :
        /\ life[x] = local[m].decision.lives[x]
        /\ seen[m][x] < cast[x]
        /\ seen' = [seen EXCEPT ![m][x] = @ + 1]
    /\ Environment("DeliverData", m, None, {})
    /\ UNCHANGED <<local, network, up, life, cast, spent, aux_views>>

-----------------------------------------------------------------------------
(* Faults, and the failure detector *)

\* What the crashed member has on its way may be lost, each copy by itself.
Crash(m) ==
    /\ spent.crashes < MaxCrashes
    /\ m \in up \cap Crashers
    /\ up' = up \ {m}
    /\ \E kept \in SUBSET {p \in network : p.sender = m} :
        network' = {p \in network : p.to # m /\ (p.sender # m \/ p \in kept)}
    /\ Spend("crashes")
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, life, cast, seen, aux_views>>

Restart(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \notin up
    /\ up' = up \cup {m}
    /\ life' = [life EXCEPT ![m] = @ + 1]
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ cast' = [cast EXCEPT ![m] = 0]
    /\ seen' = [x \in Member |-> IF x = m THEN [y \in Member |-> 0] ELSE [seen[x] EXCEPT ![m] = 0]]
    /\ Spend("restarts")
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<network, aux_views>>

Dead(x, incarnation) == x \notin up \/ life[x] # incarnation

\* x does not count m as a member any more: m hears nothing from it.
Excluded(m, x) ==
    \/ m \in local[x].suspected
    \/ InView(local[x]) /\ m \notin MembersOf(local[x].decision)
        /\ local[x].decision.id.counter >= local[m].decision.id.counter

Suspect(action, m, x) == Apply(action, m, [type |-> "Suspected", suspect |-> x], {}, None)

Detect(m) ==
    /\ m \in up
    /\ \E w \in Watched(local[m]) :
        /\ Dead(w[1], w[2]) \/ Excluded(m, w[1])
        /\ Suspect("Detect", m, w[1])
    /\ UNCHANGED <<life, cast, spent>>

SuspectFalsely(m) ==
    /\ spent.false < MaxFalse
    /\ m \in up
    /\ \E w \in Watched(local[m]) :
        /\ ~Dead(w[1], w[2]) /\ ~Excluded(m, w[1])
        /\ Suspect("SuspectFalsely", m, w[1])
    /\ Spend("false")
    /\ UNCHANGED <<life, cast>>

Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ m \in up
    /\ \E event \in
        {[type |-> "Suspected", suspect |-> m], [type |-> "ViewTimeout", digest |-> Digest(m)]}
        \cup (IF InView(local[m]) THEN {[type |-> "JoinRequested", coordinator |-> m, life |-> life[m]]}
              ELSE {[type |-> "LeaveRequested"]}) :
        /\ event.type = "ViewTimeout" => ~local[m].due
        /\ Apply("Misuse", m, event, {}, None)
    /\ Spend("misuses")
    /\ UNCHANGED <<life, cast>>

-----------------------------------------------------------------------------
FoundersSet == {Founders[i] : i \in DOMAIN Founders}

FirstDecision ==
    Decision(ViewId(1, Founders[1]), Founders, NoViewId, [m \in FoundersSet |-> 0], {}, NoDigest)

FirstViews ==
    <<[id |-> FirstDecision.id, members |-> Founders, preds |-> {}, lives |-> FirstDecision.lives,
       joins |-> FoundersSet, digest |-> NoDigest]>>

Init ==
    /\ aux_views = FirstViews
    /\ local = [m \in Member |->
                    IF m \notin FoundersSet THEN Start(m)
                    ELSE [Start(m) EXCEPT !.decision = FirstDecision,
                                          !.phase = IF m = Founders[1] THEN "leading" ELSE "following"]]
    /\ network = {}
    /\ up = Member
    /\ life = [m \in Member |-> 0]
    /\ cast = [m \in Member |-> 0]
    /\ seen = [m \in Member |-> [x \in Member |-> 0]]
    /\ spent = [crashes |-> 0, false |-> 0, leaves |-> 0, restarts |-> 0, casts |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ Receive(m)
        \/ AskToJoin(m)
        \/ Leave(m)
        \/ DecideView(m)
        \/ MulticastData(m)
        \/ DeliverData(m)
        \/ Crash(m)
        \/ Restart(m)
        \/ Detect(m)
        \/ SuspectFalsely(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars

\* What is on its way arrives, requests to join by themselves (they are repeated, and must not starve the others);
\* timers fire; crashes are reported; who wants to join asks again and again.
Fairness ==
    \A m \in Member :
        /\ \A x \in Member : WF_vars(ReceiveFrom(m, x, {"JOIN_REQ"})) /\ WF_vars(ReceiveFrom(m, x, Kinds \ {"JOIN_REQ"}))
        /\ WF_vars(DecideView(m))
        /\ WF_vars(Detect(m))
        /\ SF_vars(AskToJoin(m))

LiveSpec == Init /\ [][Next]_vars /\ Fairness
-----------------------------------------------------------------------------
(* Types *)

TypeOK ==
    /\ \A m \in Member :
        LET s == local[m] IN
        /\ s.member = m
        /\ s.phase \in {"following", "asking", "leading"}
        /\ s.suspected \subseteq Member /\ s.asking \subseteq Member /\ s.awaiting \subseteq Member /\ s.owed \subseteq Member
        /\ {s.due, s.leaving, s.gone} \subseteq BOOLEAN
    /\ \A p \in network : p.message.type \in Kinds /\ p.to \in up
    /\ up \subseteq Member

-----------------------------------------------------------------------------
(* Claims *)

NumberOf(decision) ==
    IF decision = NoDecision THEN 0
    ELSE CHOOSE k \in DOMAIN aux_views : aux_views[k].id = decision.id /\ aux_views[k].members = decision.members

Guarantee == INSTANCE Membership WITH
    First <- FirstViews,
    Off <- {},
    views <- aux_views,
    installed <- [m \in Member |-> NumberOf(local[m].decision)]

OneIdOneList == Guarantee!OneIdOneList

SelfInclusion == \A m \in up : Guarantee!SelfInclusion

RefinesMembershipStep == [Guarantee!Next]_(Guarantee!membership_vars)

RefinesMembership == Guarantee!Init /\ [][RefinesMembershipStep]_vars

\* Without false suspicions the views are one line, up to a branch in which nobody is alive.
OneLine == MaxFalse = 0 => Guarantee!OneLine(up)

\* Once nothing more happens, who is alive and wants to be in is in one view of those.
Settled ==
    LET there == {m \in up : InView(local[m])} IN
    there # {} =>
        /\ there = up
        /\ \A m, x \in there : local[m].decision.id = local[x].decision.id
        /\ \A m \in there : MembersOf(local[m].decision) = up

Settles == <>[]Settled

\* Who wants to leave, leaves.
LeaversGo == \A m \in Member : [](local[m].leaving => <>(m \notin up))
=============================================================================
