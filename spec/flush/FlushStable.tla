----------------------------- MODULE FlushStable ----------------------------
(******************************************************************************)
(* FLUSH over STABLE: a closed model of two layers that share the layer       *)
(* below. STABLE has a message purged everywhere once all members have        *)
(* delivered it. FLUSH has missing messages fetched from their holders, and   *)
(* holds back the messages that follow a report. STABLE's messages are        *)
(* datagrams: they pass no latch, and go round while the group is stopped.    *)
(*                                                                            *)
(* The group is that of FlushGroup, with all its actions; PassedDown says     *)
(* what follows from each for STABLE, in the same step: a view, with the      *)
(* digest of the layer below. That layer numbers a sender's multicasts        *)
(* over all views, from its deliveries at the time when it installed the      *)
(* present view. A joiner gets that start digest from the creator of the view *)
(* that it joins. STABLE and STABILITY messages may reach any member at any   *)
(* time, any number of times, or never.                                       *)
(******************************************************************************)
EXTENDS FlushClaims

CONSTANTS
    Hears,          \* the events that STABLE hears
    MaxVotes,       \* bound: different STABLE messages of each view, by its counter
    Receivers       \* bound: the members that STABLE messages reach

VARIABLES
    stable,         \* [Member -> STABLE's state]
    base,           \* [Member -> [member of its view -> how many of its multicasts are of earlier views]]
    purged,         \* [Member -> [member of its view -> the highest seqno that is thrown away]]
    starts,         \* per view: the start digest of joiners
    gossip          \* the STABLE and STABILITY messages ever sent

stack_vars == <<vars, stable, base, purged, starts, gossip>>
stack_view == <<view, stable, base, purged, starts, gossip>>

\* STABLE as its own specification has it.
Stable == INSTANCE Stable WITH
    MaxBytes <- 0, StableInterval <- 2, StabilityDelay <- 1

-----------------------------------------------------------------------------
(* The layer below *)

\* The seqno of a sender's n-th multicast, over all views.
Seqno(n) == Stable!FirstSeqno + n - 1

\* How many of each sender's multicasts m has delivered, over all views.
Counts(s, from) == [x \in DOMAIN from |-> from[x] + s.delivered[x]]

\* The highest message of x that has reached m and is held back. (A message in transit may have arrived.)
HeldBack(s, x) ==
    LET come == {c.seqno : c \in {c \in copies : c.to = s.member /\ c.view = installed[s.member] /\ c.sender = x}}
    IN IF ~s.frozen \/ come = {} THEN s.delivered[x] ELSE CHOOSE n \in come : \A i \in come : i <= n

DigestOf(s, from) ==
    [x \in DOMAIN from |->
        [low |-> Stable!Nothing, delivered |-> Seqno(from[x] + s.delivered[x]),
         received |-> Seqno(from[x] + HeldBack(s, x))]]

\* m's counts of each member's messages when it begins with a view.
Carried(m, k) ==
    IF installed[m] = 0 THEN starts'[k]
    ELSE [x \in DOMAIN views'[k].lives |->
            IF x \in DOMAIN base[m] THEN base[m][x] + local[m].delivered[x] ELSE 0]

-----------------------------------------------------------------------------
(* The effects of a step of FLUSH's group on STABLE *)

InstalledBelow(m, k) ==
    \E from \in {Carried(m, k)} :
        /\ base' = [base EXCEPT ![m] = from]
        /\ purged' = [purged EXCEPT ![m] =
                        [x \in DOMAIN from |-> IF x \in DOMAIN @ THEN @[x] ELSE Stable!Nothing]]
        /\ stable' = IF "ViewInstalled" \notin Hears THEN stable
                     ELSE [stable EXCEPT ![m] =
                            Stable!Step(@, [type |-> "ViewInstalled", view |-> ViewOf(views'[k]),
                                            digest |-> DigestOf(local'[m], from)]).state]

\* The creator of a view has its group stopped, and gives joiners its deliveries as start digest. No member has
\* promised that digest. No vote of this view counts any more, as all survivors have delivered the same.
StartDigestOf(m, v) ==
    [x \in DOMAIN v.lives |-> IF x \in DOMAIN base[m] THEN Counts(local[m], base[m])[x] ELSE 0]

PassedDown ==
    /\ starts' = IF views' = views THEN starts
                 ELSE Append(starts, LET v == views'[Len(views')] IN StartDigestOf(v.id.creator, v))
    /\ \E moved \in {{m \in Member : installed'[m] # installed[m]}} :
        IF moved = {} THEN UNCHANGED <<stable, base, purged>>
        ELSE \E m \in moved : InstalledBelow(m, installed'[m])
    /\ UNCHANGED gossip

-----------------------------------------------------------------------------
(* STABLE by itself *)

Datagrams(m, effects) ==
    {[sender |-> m, message |-> effects[i].message] :
        i \in {i \in DOMAIN effects : effects[i].type = "Datagram"}}

\* A purged message stays purged.
AfterPurge(mine, effects) ==
    LET vectors == Events(effects, "PassDown", "Purge")
    IN IF vectors = <<>> THEN mine
       ELSE [x \in DOMAIN mine |-> Stable!Greatest(mine[x], vectors[1].digest[x])]

StableStep(action, m, event) ==
    \E step \in {Stable!Step(stable[m], event)} :
        /\ stable' = [stable EXCEPT ![m] = step.state]
        /\ gossip' = gossip \cup Datagrams(m, step.effects)
        /\ purged' = [purged EXCEPT ![m] = AfterPurge(@, step.effects)]
        /\ Record(action, m, FALSE, None, event, {}, step.outcome, step.effects)
        /\ UNCHANGED <<view, base, starts>>

Votes(net, counter) == {p \in net : p.message.type = "STABLE" /\ p.message.view_id.counter = counter}

StableTimeoutFires(m) ==
    /\ m \in up /\ InView(local[m])
    /\ StableStep("StableTimeoutFires", m, [type |-> "StableTimeout"])
    /\ \A k \in DOMAIN MaxVotes : Cardinality(Votes(gossip', k)) <= MaxVotes[k]
    /\ \A p \in gossip' : p.message.view_id.counter \in DOMAIN MaxVotes

StabilityTimeoutFires(m) ==
    /\ m \in up /\ stable[m].pending
    /\ StableStep("StabilityTimeoutFires", m, [type |-> "StabilityTimeout"])

ReceiveStable(m) ==
    /\ m \in up \cap Receivers /\ InView(local[m])
    /\ \E p \in gossip :
        /\ p.message.type = "STABLE"
        /\ StableStep("ReceiveStable", m,
                      [type |-> "StableReceived", sender |-> p.sender, message |-> p.message])

ReceiveStability(m) ==
    /\ m \in up /\ InView(local[m])
    /\ \E p \in gossip :
        /\ p.message.type = "STABILITY"
        /\ StableStep("ReceiveStability", m,
                      [type |-> "StabilityReceived", sender |-> p.sender, message |-> p.message,
                       digest |-> DigestOf(local[m], base[m])])

-----------------------------------------------------------------------------
\* A round is over in the first view, of nothing, so that whoever hears of it votes for what it has by then.
StackInit ==
    /\ Init
    /\ base = [m \in Member |-> IF installed[m] = 0 THEN [x \in {} |-> 0] ELSE Zeros(Members(local[m]))]
    /\ purged = [m \in Member |-> [x \in DOMAIN base[m] |-> Stable!Nothing]]
    /\ starts = [k \in DOMAIN views |-> Zeros(DOMAIN views[k].lives)]
    /\ stable = [m \in Member |->
            IF installed[m] = 0 THEN Stable!Start(m)
            ELSE Stable!Step(Stable!Start(m), [type |-> "ViewInstalled", view |-> ViewOf(views[installed[m]]),
                                               digest |-> DigestOf(local[m], base[m])]).state]
    /\ gossip = {[sender |-> Founders[1],
                  message |-> Stable!StabilityMessage(views[1].id, [x \in FoundersSet |-> Stable!Nothing])]}

StackNext ==
    \/ (\E m \in Member : Next(m)) /\ PassedDown
    \/ \E m \in Member :
        \/ StableTimeoutFires(m)
        \/ StabilityTimeoutFires(m)
        \/ ReceiveStable(m)
        \/ ReceiveStability(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

-----------------------------------------------------------------------------
(* Claims *)

StackTypeOK ==
    /\ \A m \in Member : DOMAIN base[m] = Members(local[m]) /\ DOMAIN purged[m] = DOMAIN base[m]
    /\ DOMAIN starts = DOMAIN views
    /\ \A p \in gossip : p.sender \in Member /\ p.message.type \in {"STABLE", "STABILITY"}

\* STABLE is in the view that FLUSH is in.
SameViewInBothLayers == \A m \in up : stable[m].view = local[m].view

\* All who are in a view count a sender's multicasts from the same number: votes speak of the same messages.
SeqnoBasesAgree == \A m \in up : InView(local[m]) => base[m] = starts[installed[m]]

\* No member has thrown away what a member lacks that is in its view, or on its way to it.
NoMissingMessagePurged ==
    \A p, x \in {m \in Member : installed[m] # 0} :
        (Precedes(installed[x], installed[p]) /\ x \in Members(local[p])) =>
            \A s \in DOMAIN purged[p] \cap DOMAIN base[x] :
                purged[p][s] <= Seqno(Counts(local[x], base[x])[s])

\* A message to be fetched is still in the store.
FetchIsServable ==
    \A m \in up : \A f \in fetches[m] :
        f.holder \in up => purged[f.holder][f.sender] < Seqno(base[m][f.sender] + local[m].delivered[f.sender] + 1)

-----------------------------------------------------------------------------
(* Defects *)

\* In the place of StartDigestOf: the digest was taken before the group was stopped, when the view began.
TakenBeforeTheStop(m, v) == [x \in DOMAIN v.lives |-> IF x \in DOMAIN base[m] THEN base[m][x] ELSE 0]

-----------------------------------------------------------------------------
(* Witnesses *)

\* STABLE goes round while the group is stopped.
PurgedWhileStopped ==
    \E m \in up : local[m].latched /\ \E s \in DOMAIN purged[m] :
        purged[m][s] >= Seqno(base[m][s] + 1) /\ local[m].frozen

\* A multicast of an earlier view is purged in the next.
PurgedInTheNext ==
    \E m \in up : \E s \in DOMAIN purged[m] : base[m][s] > 0 /\ purged[m][s] = Seqno(base[m][s])
=============================================================================
