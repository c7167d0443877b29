---------------------------- MODULE MergeStable -----------------------------
(******************************************************************************)
(* Merging over STABLE: a closed model of two neighbours. An event that       *)
(* merging passes down happens to STABLE in the same step: a merged view,     *)
(* DigestPromised, PromiseWithdrawn. So do the views of the membership        *)
(* service. The promises that hold back STABLE's votes are the promises of    *)
(* merging. Below both is the multicast of MergeGroup. Each member purges     *)
(* there what its own STABLE announces, not what MergeGroup has in its place. *)
(*                                                                            *)
(* The group is that of MergeGroup, with all its actions but PurgeData;       *)
(* PassedDown says what follows from each for STABLE. STABLE and STABILITY    *)
(* messages may reach any member at any time, any number of times, or never.  *)
(******************************************************************************)
EXTENDS MergeClaims

CONSTANTS
    Passes,         \* the events that merging passes down and STABLE sees
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

\* In the place of MayPurge: nothing is purged but by STABLE.
PurgesOnlyByStable(x, n) == FALSE

-----------------------------------------------------------------------------
(* An event that a layer passes is the other layer's event *)

NewWindow(low) == [low |-> low, purged |-> Nothing]

\* The digest of the layer below, for the members of a view.
DigestFor(members, vector, mine) ==
    [x \in members |-> [low |-> mine[x].low, delivered |-> vector[x], received |-> vector[x]]]

\* m's windows when it has installed a view: of the members that were with it they are kept.
WindowsIn(m, decision) ==
    [x \in MembersOf(decision) |-> IF x \in DOMAIN windows[m] THEN windows[m][x] ELSE NewWindow(seen'[m][x])]

\* STABLE's state after the events that are passed down in one step, in order. A merged view counts as an installed
\* view.
RECURSIVE Below(_, _, _, _)
Below(s, events, installs, digest) ==
    IF events = <<>> THEN s
    ELSE LET e == Head(events)
             event == IF e.type \in {"MergeDecided", "DecisionInstalled"}
                      THEN [type |-> "ViewInstalled", view |-> installs, digest |-> digest] ELSE e
         IN Below(IF event.type \in Passes THEN Stable!Step(s, event).state ELSE s, Tail(events), installs,
                  digest)

IsDown(effect) ==
    effect.type = "PassDown"
        /\ effect.event.type \in {"MergeDecided", "DigestPromised", "PromiseWithdrawn"}

\* The events that come to STABLE with a step of m: a view of the membership service comes before what merging
\* does about it.
ToStable ==
    LET downs == SelectSeq(act'.effects, IsDown)
        passed == [i \in DOMAIN downs |-> downs[i].event]
    IN IF act'.event.type = "DecisionInstalled" THEN <<act'.event>> \o passed ELSE passed

\* The effect of a step of merging's group on STABLE and on the windows.
PassedDown ==
    /\ IF act'.action = "Restart"
       THEN /\ stable' = [stable EXCEPT ![act'.member] = Stable!Start(act'.member)]
            /\ windows' = [windows EXCEPT ![act'.member] = [x \in {} |-> NewWindow(Nothing)]]
       ELSE IF act'.outcome # "handled" THEN UNCHANGED <<stable, windows>>
       ELSE \E m \in {act'.member} :
            /\ windows' = IF local'[m].decision.id = local[m].decision.id THEN windows
                          ELSE [windows EXCEPT ![m] = WindowsIn(m, local'[m].decision)]
            /\ stable' = [stable EXCEPT ![m] =
                            Below(@, ToStable, ViewIn(local'[m].decision),
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

StackInit ==
    /\ Init
    /\ windows = [m \in Member |-> [x \in MembersOf(local[m].decision) |-> NewWindow(Nothing)]]
    /\ stable = [m \in Member |-> IF installed[m] = 0 THEN Stable!Start(m)
                                  ELSE Stable!Step(Stable!Start(m), FirstEvent(m)).state]
    /\ gossip = {}

StackNext ==
    \/ Next /\ PassedDown
    \/ \E m \in Member :
        \/ StableTimeoutFires(m)
        \/ StabilityTimeoutFires(m)
        \/ ReceiveStable(m)
        \/ ReceiveStability(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

-----------------------------------------------------------------------------
(* Claims *)

StackTypeOK ==
    /\ \A m \in Member : DOMAIN windows[m] = MembersOf(local[m].decision)
    /\ \A p \in gossip : p.sender \in Member /\ p.message.type \in {"STABLE", "STABILITY"}

\* No member has purged what a member lacks that goes all the way from its own view to the purger's, or from there
\* to its own, together with the sender.
NoMissingMessagePurged ==
    \A p, x \in Member : \A s \in DOMAIN windows[p] \cap DOMAIN windows[x] :
        windows[p][s].purged > seen[x][s] =>
            ~(Membership!Throughout(x, installed[x], installed[p])
                /\ Membership!Throughout(s, installed[x], installed[p]))

\* STABLE is in the view that merging is in.
SameViewInBothLayers == \A m \in up : stable[m].view = ViewIn(local[m].decision)

\* STABLE holds its vote for those whom merging has promised its digest, and for no other member.
StableHoldsExactlyPromised == \A m \in up : stable[m].promised = {k.to : k \in kept[m]}

-----------------------------------------------------------------------------
(* Witnesses *)

HeldBeyondTheDigest ==
    \E m \in up : \E k \in kept[m] : \E s \in DOMAIN k.vector :
        seen[m][s] > k.vector[s] /\ k.to \in stable[m].promised
PurgedBeforeItMerged == \E m \in up : IsMerged(installed[m]) /\ \E s \in DOMAIN windows[m] :
    windows[m][s].purged > Nothing /\ \A x \in DOMAIN windows[m] : s \in DOMAIN windows[x]
=============================================================================
