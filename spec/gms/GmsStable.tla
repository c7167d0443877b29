----------------------------- MODULE GmsStable ------------------------------
(******************************************************************************)
(* GMS over STABLE: a closed model of two neighbours. An event that GMS       *)
(* passes down happens to STABLE in the same step: ViewInstalled,             *)
(* DigestPromised, PromiseWithdrawn. Neither layer has a stand-in. The        *)
(* promises that hold back STABLE's votes are the promises of GMS, made       *)
(* before it asks for the digest. The views that begin STABLE's rounds are    *)
(* the views of GMS, passed down to each member when it installs them. Below  *)
(* both is the multicast of GmsGroup. It answers GetDigest, starts a joiner's *)
(* windows where its digest says, and purges what STABLE announces.           *)
(*                                                                            *)
(* The group is that of GmsGroup, with all its actions; PassedDown says       *)
(* what follows from each for STABLE. STABLE and STABILITY messages may       *)
(* reach any member at any time, any number of times, or never.               *)
(******************************************************************************)
EXTENDS GmsClaims

CONSTANTS
    Early,          \* bound: the founders that have multicast one message at the start, which the others lack
    Passes,         \* the events that GMS passes down and STABLE sees
    MaxVotes,       \* bound: different STABLE messages of each view, by its counter
    Receivers       \* bound: the members that STABLE and STABILITY messages reach

VARIABLES
    stable,         \* [Member -> STABLE's state]
    windows,        \* [Member -> [member of its view -> where its window starts, and what was purged of it]]
    gossip          \* the STABLE and STABILITY messages ever sent

stack_vars == <<vars, stable, windows, gossip>>
stack_view == <<view, stable, windows, gossip>>

\* STABLE as its own specification has it.
Stable == INSTANCE Stable WITH
    MaxBytes <- 0, StableInterval <- 2, StabilityDelay <- 1

-----------------------------------------------------------------------------
(* An event that a layer passes is the other layer's event *)

NewWindow(low) == [low |-> low, purged |-> Nothing]

\* The digest of the layer below, for the members of a view.
DigestFor(members, vector, mine) ==
    [x \in members |-> [low |-> mine[x].low, delivered |-> vector[x], received |-> vector[x]]]

\* m's windows when it has installed a view: a joiner's start at its digest, a survivor's are kept.
WindowsIn(m, decision) ==
    [x \in MembersOf(decision) |->
        IF InView(local[m]) /\ x \in DOMAIN windows[m] /\ x \notin decision.joiners THEN windows[m][x]
        ELSE NewWindow(seen'[m][x])]

\* STABLE's state after the events that GMS passes down in one step, in order.
RECURSIVE Below(_, _, _)
Below(s, effects, digest) ==
    IF effects = <<>> THEN s
    ELSE LET e == Head(effects).event
             known == e.type \in Passes
             event == IF e.type # "ViewInstalled" THEN e
                      ELSE [type |-> e.type, view |-> e.view, digest |-> digest]
         IN Below(IF known THEN Stable!Step(s, event).state ELSE s, Tail(effects), digest)

IsDown(effect) ==
    effect.type = "PassDown" /\ effect.event.type \in {"ViewInstalled", "DigestPromised", "PromiseWithdrawn"}

\* The effect of a step of GMS's group on STABLE and on the windows.
PassedDown ==
    /\ \E m \in {act'.member} :
        IF act'.action = "Restart"
        THEN /\ stable' = [stable EXCEPT ![m] = Stable!Start(m)]
             /\ windows' = [windows EXCEPT ![m] = [x \in {} |-> NewWindow(Nothing)]]
        ELSE /\ windows' = IF local'[m].decision.id = local[m].decision.id THEN windows
                           ELSE [windows EXCEPT ![m] = WindowsIn(m, local'[m].decision)]
             /\ stable' =
                    IF act'.effects = <<>> THEN stable
                    ELSE [stable EXCEPT ![m] =
                            Below(@, SelectSeq(act'.effects, IsDown),
                                  DigestFor(MembersOf(local'[m].decision), seen'[m], windows'[m]))]
    /\ UNCHANGED gossip

-----------------------------------------------------------------------------
(* STABLE by itself *)

DigestNow(m) == DigestFor(DOMAIN windows[m], seen[m], windows[m])

Datagrams(m, effects) ==
    {[sender |-> m, message |-> effects[i].message] :
        i \in {i \in DOMAIN effects : effects[i].type = "Datagram"}}

Purges(effects) ==
    {effects[i].event.digest : i \in {i \in DOMAIN effects :
        effects[i].type = "PassDown" /\ effects[i].event.type = "Purge"}}

Purged(mine, vectors) ==
    IF vectors = {} THEN mine
    ELSE LET vector == CHOOSE v \in vectors : TRUE
         IN [x \in DOMAIN mine |->
                IF x \in DOMAIN vector THEN [mine[x] EXCEPT !.purged = Greatest(@, vector[x])] ELSE mine[x]]

StableStep(action, m, event) ==
    \E step \in {Stable!Step(stable[m], event)} :
        /\ stable' = [stable EXCEPT ![m] = step.state]
        /\ gossip' = gossip \cup Datagrams(m, step.effects)
        /\ windows' = [windows EXCEPT ![m] = Purged(@, Purges(step.effects))]
        /\ Record(action, m, FALSE, None, event, {}, step.outcome, step.effects)
        /\ UNCHANGED view

Active(m) == m \in up /\ installed[m] # 0

VotesIn(net, counter) ==
    {p \in net : p.message.type = "STABLE" /\ p.message.view_id.counter = counter}

StableTimeoutFires(m) ==
    /\ Active(m)
    /\ StableStep("StableTimeoutFires", m, [type |-> "StableTimeout"])
    /\ \A k \in DOMAIN MaxVotes : Cardinality(VotesIn(gossip', k)) <= MaxVotes[k]
    /\ \A p \in gossip' : p.message.view_id.counter \in DOMAIN MaxVotes

StabilityTimeoutFires(m) ==
    /\ Active(m) /\ stable[m].pending
    /\ StableStep("StabilityTimeoutFires", m, [type |-> "StabilityTimeout"])

ReceiveStable(m) ==
    /\ Active(m) /\ m \in Receivers
    /\ \E p \in gossip :
        /\ p.message.type = "STABLE"
        /\ StableStep("ReceiveStable", m,
                      [type |-> "StableReceived", sender |-> p.sender, message |-> p.message])

ReceiveStability(m) ==
    /\ Active(m) /\ m \in Receivers
    /\ \E p \in gossip :
        /\ p.message.type = "STABILITY"
        /\ StableStep("ReceiveStability", m,
                      [type |-> "StabilityReceived", sender |-> p.sender, message |-> p.message,
                       digest |-> DigestNow(m)])

-----------------------------------------------------------------------------
FirstEvent(m) ==
    [type |-> "ViewInstalled", view |-> ViewIn(local[m].decision),
     digest |-> DigestFor(DOMAIN windows[m], seen[m], windows[m])]

\* As Init of GmsGroup; but each of Early has multicast one message, which no other member has, and STABLE's first
\* votes were read after that.
StackInit ==
    /\ local = [m \in Member |->
                    IF m \notin FoundersSet THEN Start(m)
                    ELSE [Start(m) EXCEPT !.decision = FirstDecision,
                                          !.phase = IF m = Founders[1] THEN "at rest" ELSE "following"]]
    /\ network = {} /\ gossip = {} /\ promises = {}
    /\ up = Member
    /\ life = [m \in Member |-> 0]
    /\ cast = [m \in Member |-> IF m \in Early THEN <<1>> ELSE <<>>]
    /\ seen = [m \in Member |-> [x \in Member |-> IF x = m /\ m \in Early THEN FirstSeqno ELSE Nothing]]
    /\ answers = [m \in Member |-> {}] /\ transfers = [m \in Member |-> {}] /\ told = [m \in Member |-> {}]
    /\ stops = [asked |-> {}, given |-> {}, held |-> {}]
    /\ spent = [crashes |-> 0, false |-> 0, leaves |-> 0, restarts |-> 0, casts |-> 0, transfers |-> 0,
                misuses |-> 0, closes |-> 0]
    /\ views = First
    /\ installed = [m \in Member |-> IF m \in FoundersSet THEN 1 ELSE 0]
    /\ windows = [m \in Member |-> [x \in MembersOf(local[m].decision) |-> NewWindow(Nothing)]]
    /\ stable = [m \in Member |->
                    IF m \notin FoundersSet THEN Stable!Start(m)
                    ELSE Stable!Step(Stable!Start(m), FirstEvent(m)).state]
    /\ act = NoAct

StackNext ==
    \/ Next /\ PassedDown
    \/ \E m \in Member :
        \/ StableTimeoutFires(m)
        \/ StabilityTimeoutFires(m)
        \/ ReceiveStable(m)
        \/ ReceiveStability(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

-----------------------------------------------------------------------------
(* Claims: what STABLE claims of what is purged, of GMS's own views and promises *)

StackTypeOK ==
    /\ \A m \in Member : DOMAIN windows[m] = MembersOf(local[m].decision)
    /\ \A p \in gossip : p.sender \in Member /\ p.message.type \in {"STABLE", "STABILITY"}

InGroup == {m \in Member : installed[m] # 0}

\* The windows of x and y for sender s speak of the same incarnation of s.
SameSender(s, x, y) == Shares(views[installed[x]], views[installed[y]], s)

\* No member has purged what a member lacks that is one all the way from its own view to the purger's: whoever
\* was admitted, by whatever coordinator and however late, finds what comes after its digest.
NoMissingMessagePurged ==
    \A p, x \in InGroup : \A s \in DOMAIN windows[p] \cap DOMAIN windows[x] :
        windows[p][s].purged > seen[x][s] =>
            ~(SameSender(s, p, x) /\ Membership!Throughout(x, installed[x], installed[p]))

\* Nor what a joiner will lack that GMS has promised a digest.
NoPromisedMessagePurged ==
    \A p \in promises : JoinDigest!Open(p) =>
        \A q \in InGroup : \A s \in DOMAIN windows[q] :
            windows[q][s].purged > (IF s \in DOMAIN p.vector THEN p.vector[s] ELSE Nothing) =>
                ~JoinDigest!TellsOf(p, s, installed[q])

\* STABLE is in the view that GMS is in.
SameViewInBothLayers == \A m \in up : stable[m].view = ViewIn(local[m].decision)

\* STABLE holds its vote for each member with a promised digest. It holds the vote until both members have a view with
\* the joiner, or a view that the promise does not reach.
StableHoldsPromised ==
    \A p \in promises :
        (p.by \in up /\ life[p.by] = p.by_life /\ p.to \notin MembersOfView(local[p.by])
            /\ JoinDigest!Reaches(p, installed[p.by])) =>
            p.to \in stable[p.by].promised

\* And for no other member: STABLE drops the vote for a promise that GMS ends.
StableHoldsOnlyPromised ==
    \A m \in up : \A x \in stable[m].promised :
        \/ x \in Promisees(local[m])
        \/ \E k \in DOMAIN views : k > installed[m] /\ x \in DOMAIN views[k].lives

\* A member for which STABLE stops holding its vote, although it has installed no view with it and withdraws no
\* promise in this step. GMS gives that as PromiseHeldWhileNeeded, where no suspicion is false.
KeptAlone ==
    INSTANCE JoinDigest WITH Off <- JoinDigest!Conjuncts \ {"PromiseHeldWhileNeeded"}, delivered <- DeliveredByAll,
                             held <- [m \in Member |-> stable[m].promised]
PromiseHeldWhileNeededStep ==
    act'.outcome = "handled" =>
        \A m \in {act'.member} : \A x \in stable[m].promised \ (stable'[m].promised \cup MembersOf(stable'[m].view)) :
            (\E p \in promises : p.by = m /\ p.by_life = life[m] /\ p.to = x) \/ KeptAlone!MayRelease(m, x)
PromiseHeldWhileNeeded == [][PromiseHeldWhileNeededStep]_stack_vars

-----------------------------------------------------------------------------
(* Witnesses *)

PurgedBeforeTheJoin == \E m \in InGroup : \E s \in DOMAIN windows[m] : windows[m][s].purged > Nothing
HeldBeyondTheDigest ==
    \E p \in promises : \E s \in DOMAIN p.vector :
        seen[p.by][s] > p.vector[s] /\ p.to \in stable[p.by].promised
JoinerIsIn == \E m \in InGroup : m \notin FoundersSet
=============================================================================
