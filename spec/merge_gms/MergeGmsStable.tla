--------------------------- MODULE MergeGmsStable ----------------------------
(******************************************************************************)
(* Merging over GMS over STABLE: a closed model of neighbours. An event that  *)
(* is passed down happens to STABLE in the same step: views, merged or not,   *)
(* DigestPromised, PromiseWithdrawn. The promises that hold back STABLE's     *)
(* votes are the promises of GMS and merging. Below is the multicast of       *)
(* MergeGmsGroup, which answers GetDigest. It purges what STABLE announces.   *)
(*                                                                            *)
(* The group is that of MergeGmsGroup, with all its actions; PassedDown       *)
(* says what follows from each for STABLE. STABLE and STABILITY messages      *)
(* may reach any member at any time, any number of times, or never.           *)
(*                                                                            *)
(* Here the promises of both are in one place, as JoinDigest speaks of        *)
(* them: so the conjuncts are asked that MergeGmsClaims does not ask.         *)
(******************************************************************************)
EXTENDS MergeGmsDefects

CONSTANTS
    Early,          \* bound: the members that have multicast one message at the start, which the others lack
    PassesBelow,    \* the events that are passed down and STABLE sees
    MaxVotes,       \* bound: different STABLE messages of each view, by its counter
    Receivers       \* bound: the members that STABLE and STABILITY messages reach

VARIABLES
    stable,         \* [Member -> STABLE's state]
    windows,        \* [Member -> [member of its view -> where its window starts, and what was purged of it]]
    gossip,         \* the STABLE and STABILITY messages ever sent
    promises,       \* the digests promised, not yet redeemed or withdrawn (JoinDigest)
    standing,       \* these four: the history of MergeDigest
    served,
    entered,
    abandoned

history == <<standing, served, entered, abandoned>>
stack_vars == <<vars, stable, windows, gossip, promises, history>>
stack_view == <<view, stable, windows, gossip, promises, history>>

\* STABLE as its own specification has it.
Stable == INSTANCE Stable WITH
    MaxBytes <- 0, StableInterval <- 2, StabilityDelay <- 1

Held == [m \in Member |-> stable[m].promised]
AllPromises == INSTANCE JoinDigest WITH Off <- {}, delivered <- DeliveredByAll, held <- Held
Alone(conjunct) ==
    INSTANCE JoinDigest WITH Off <- AllPromises!Conjuncts \ {conjunct}, delivered <- DeliveredByAll, held <- Held
MergeDigest == INSTANCE MergeDigest WITH delivered <- DeliveredByAll, held <- Held

-----------------------------------------------------------------------------
(* An event that a layer passes is the other layer's event *)

NewWindow(low) == [low |-> low, purged |-> Nothing]

\* The digest of the layer below, for the members of a view.
DigestFor(members, vector, mine) ==
    [x \in members |-> [low |-> mine[x].low, delivered |-> vector[x], received |-> vector[x]]]

\* m's windows when it has installed a view: of the members that were with it they are kept.
WindowsIn(m, decision) ==
    [x \in MembersOf(decision) |->
        IF x \in DOMAIN windows[m] /\ x \notin decision.joiners THEN windows[m][x] ELSE NewWindow(seen'[m][x])]

\* STABLE's state after the events that are passed down in one step, in order.
RECURSIVE Below(_, _, _)
Below(s, effects, digest) ==
    IF effects = <<>> THEN s
    ELSE LET e == Head(effects).event
             known == e.type \in PassesBelow
             event == IF e.type # "ViewInstalled" THEN e
                      ELSE [type |-> e.type, view |-> e.view, digest |-> digest]
         IN Below(IF known THEN Stable!Step(s, event).state ELSE s, Tail(effects), digest)

IsDown(effect) ==
    effect.type = "PassDown" /\ effect.event.type \in {"ViewInstalled", "DigestPromised", "PromiseWithdrawn"}

\* Which incarnation of x m's step means.
LifeMeant(m, x) ==
    LET s == local'[m] IN
    IF x \in G!Promisees(s.gms) THEN G!PromisedLife(s.gms, x)
    ELSE IF s.merge.merge.leader = x THEN s.merge.merge.life ELSE life[x]

\* A promise is open until its maker withdraws it, or who has it comes to members that it was not with.
AfterPromises(m) ==
    LET gone == {e.to : e \in Down(act'.effects, "PromiseWithdrawn")}
        made == {e.to : e \in Down(act'.effects, "DigestPromised")}
        comes == installed'[m] # installed[m] /\ installed'[m] # 0
        redeems == comes /\ views'[installed'[m]].preds \ {installed[m]} # {}
    IN {p \in promises :
            /\ ~(p.by = m /\ p.by_life = life[m] /\ p.to \in gone)
            /\ ~(redeems /\ p.to = m /\ p.to_life = life[m])}
       \cup {[by |-> m, by_life |-> life[m], view |-> installed[m], to |-> x, to_life |-> LifeMeant(m, x),
              vector |-> DeliveredBy(m)] : x \in made}

\* The effect of a step of the group on STABLE and on the windows.
PassedDown ==
    /\ \E m \in {act'.member} :
        IF act'.action = "Restart"
        THEN /\ stable' = [stable EXCEPT ![m] = Stable!Start(m)]
             /\ windows' = [windows EXCEPT ![m] = [x \in {} |-> NewWindow(Nothing)]]
             /\ promises' = promises
        ELSE /\ windows' = IF Own(local'[m]).id = Own(local[m]).id THEN windows
                           ELSE [windows EXCEPT ![m] = WindowsIn(m, Own(local'[m]))]
             /\ stable' =
                    IF act'.effects = <<>> THEN stable
                    ELSE [stable EXCEPT ![m] =
                            Below(@, SelectSeq(act'.effects, IsDown),
                                  DigestFor(MembersOf(Own(local'[m])), seen'[m], windows'[m]))]
             /\ promises' = IF act'.effects = <<>> THEN promises ELSE AfterPromises(m)
    /\ UNCHANGED gossip
    /\ MergeDigest!Noted

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
        /\ UNCHANGED <<view, promises>>
        /\ MergeDigest!Noted

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
    [type |-> "ViewInstalled", view |-> G!ViewIn(Own(local[m])),
     digest |-> DigestFor(DOMAIN windows[m], seen[m], windows[m])]

\* As Init of MergeGmsGroup; but each of Early has multicast one message, which no other member has, and STABLE's first
\* votes were read after that.
StackInit ==
    /\ local = [m \in Member |->
                    IF InFirst(m) = {} THEN Start(m)
                    ELSE [Start(m) EXCEPT
                            !.gms.decision = Begun(m), !.merge.decision = Begun(m),
                            !.gms.phase = IF Head(Begun(m).members) = m THEN "at rest" ELSE "following"]]
    /\ network = {} /\ gossip = {} /\ promises = {}
    /\ up = Member
    /\ life = [m \in Member |-> 0]
    /\ stops = [asked |-> {}, given |-> {}, held |-> {}]
    /\ answers = [m \in Member |-> {}] /\ kept = [m \in Member |-> {}]
    /\ cast = [m \in Member |-> IF m \in Early THEN 1 ELSE 0]
    /\ seen = [m \in Member |-> [x \in Member |-> IF x = m /\ m \in Early THEN FirstSeqno ELSE Nothing]]
    /\ spent = [merges |-> 0, crashes |-> 0, early |-> 0, breaks |-> 0, false |-> 0, joins |-> 0, founds |-> 0,
                leaves |-> 0, restarts |-> 0, casts |-> 0, misuses |-> 0, closes |-> 0]
    /\ views = First
    /\ installed = [m \in Member |-> IF InFirst(m) = {} THEN 0 ELSE CHOOSE k \in InFirst(m) : TRUE]
    /\ windows = [m \in Member |-> [x \in MembersOf(Own(local[m])) |-> NewWindow(Nothing)]]
    /\ stable = [m \in Member |-> IF installed[m] = 0 THEN Stable!Start(m)
                                  ELSE Stable!Step(Stable!Start(m), FirstEvent(m)).state]
    /\ MergeDigest!Init
    /\ act = NoAct

StackNext(m) ==
    \/ Next(m) /\ PassedDown
    \/ StableTimeoutFires(m)
    \/ StabilityTimeoutFires(m)
    \/ ReceiveStable(m)
    \/ ReceiveStability(m)

StackSpec == StackInit /\ [][\E m \in Member : StackNext(m)]_stack_vars

-----------------------------------------------------------------------------
(* Claims: what STABLE claims of what is purged, of the views and promises of merging and GMS *)

StackTypeOK ==
    /\ \A m \in Member : DOMAIN windows[m] = MembersOf(Own(local[m]))
    /\ \A p \in gossip : p.sender \in Member /\ p.message.type \in {"STABLE", "STABILITY"}

InGroup == {m \in Member : installed[m] # 0}

\* No member has purged what a member lacks that goes all the way from its own view to the purger's, or from there
\* to its own, together with the sender.
NoMissingMessagePurged ==
    \A p, x \in InGroup : \A s \in DOMAIN windows[p] \cap DOMAIN windows[x] :
        windows[p][s].purged > seen[x][s] =>
            ~(Membership!Throughout(x, installed[x], installed[p])
                /\ Membership!Throughout(s, installed[x], installed[p]))

\* Any member that is in one view with who has purged something has it, or will start after it.
PurgedIsDeliveredInView ==
    \A p, x \in InGroup : installed[p] = installed[x] =>
        \A s \in DOMAIN windows[p] : windows[p][s].purged <= seen[x][s]

\* STABLE is in the view that GMS is in.
SameViewInStable == \A m \in up : stable[m].view = G!ViewIn(Own(local[m]))

\* STABLE holds its vote for those whom GMS or merging have promised a digest, and for no other member.
StableHoldsExactlyPromised == \A m \in up : stable[m].promised = {k.to : k \in kept[m]}

\* JoinDigest, conjunct by conjunct. (A step may install a view and withdraw what others were promised, which Next of
\* JoinDigest has in two steps.)
Comes(m) == installed'[m] # installed[m] /\ installed'[m] # 0
InstallsAsPromised(conjunct) == \A m \in {act'.member} : Comes(m) => Alone(conjunct)!Told(m, views'[installed'[m]])
WithdrawnNow(m) ==
    {p \in promises : p.by = m /\ p.by_life = life[m] /\ p.to \in {e.to : e \in Down(act'.effects, "PromiseWithdrawn")}}
ReleasedNow(m) == stable[m].promised \ (stable'[m].promised \cup MembersOf(stable'[m].view))

GivesStartRequiresPromiseStep == act'.outcome = "handled" => InstallsAsPromised("StartRequiresPromise")
GivesPromiserIsMemberStep == act'.outcome = "handled" => InstallsAsPromised("PromiserIsMember")
WithdrawnOnlyIfUnusableStep == act'.outcome = "handled" => \A p \in WithdrawnNow(act'.member) : Alone("WithdrawOnlyIfUnusable")!MayWithdraw(p)
PromiseHeldWhileNeededStep ==
    act'.outcome = "handled" =>
        \A m \in {act'.member} : \A x \in ReleasedNow(m) :
            (~\E p \in WithdrawnNow(m) : p.to = x) => Alone("PromiseHeldWhileNeeded")!MayRelease(m, x)

\* MergeDigest.
AbandonedIsNotEntered == MergeDigest!AbandonedIsNotEntered

GivesStartRequiresPromise == [][GivesStartRequiresPromiseStep]_stack_vars
GivesPromiserIsMember == [][GivesPromiserIsMemberStep]_stack_vars
WithdrawnOnlyIfUnusable == [][WithdrawnOnlyIfUnusableStep]_stack_vars
PromiseHeldWhileNeeded == [][PromiseHeldWhileNeededStep]_stack_vars

-----------------------------------------------------------------------------
(* Witnesses *)

\* A promise from which the other side has started was withdrawn.
GivenUpBelow == \E r \in served : \E side \in abandoned : side[2] = r.view /\ Has(views[side[1]], r.by, r.by_life)

PurgedBeforeTheMerge ==
    \E m \in up : InMerged(local[m]) /\ \E s \in DOMAIN windows[m] : windows[m][s].purged > Nothing
=============================================================================
