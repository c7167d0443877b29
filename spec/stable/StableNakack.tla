---------------------------- MODULE StableNakack -----------------------------
(***************************************************************************)
(* STABLE over NAKACK: a closed model of two neighbours over Network.      *)
(* STABLE votes for what NAKACK has delivered, and what it purges is       *)
(* purged in NAKACK's windows, in the same step. All datagrams, of both,   *)
(* are lost, doubled, late, in any order.                                  *)
(*                                                                         *)
(* The question is the last message of a sender. A member that lacks it    *)
(* sees no gap. NAKACK has HIGHEST for that (AnnounceHighest). The note    *)
(* has STABLE's gossip instead: a vote is a digest, and a member that sees *)
(* in it more than it has delivered asks the voter for it (VotesAreHeard). *)
(* That does for members of a view, while no promise holds a vote back.    *)
(*                                                                         *)
(* The group is that of NakackGroup in one view: what it says of STABLE    *)
(* and FLUSH by itself does not occur. A round of STABLE, of nothing, is   *)
(* over at the start, so that whoever hears of it votes for what it has.   *)
(***************************************************************************)
EXTENDS NakackClaims

CONSTANTS
    VotesAreHeard,  \* NAKACK hears a vote as it hears HIGHEST
    Awaited,        \* bound: whom a member has promised its digest at the start, a set of [by, to]
    Voters,         \* bound: the members that vote
    VoteHears       \* bound: the members that STABLE reaches

VARIABLES
    stable,         \* [Member -> STABLE's state]
    gossip          \* the STABLE and STABILITY messages ever sent

stack_vars == <<vars, stable, gossip>>
stack_view == <<view, stable, gossip>>

\* STABLE as its own specification has it.
Stable == INSTANCE Stable WITH
    MaxBytes <- 0, StableInterval <- 2, StabilityDelay <- 1

-----------------------------------------------------------------------------
(* An event that a layer passes is the other layer's event *)

\* NAKACK's state after what STABLE passes down.
RECURSIVE AfterPassedDown(_, _)
AfterPassedDown(s, effects) ==
    IF effects = <<>> THEN s
    ELSE AfterPassedDown(IF Head(effects).type = "PassDown" THEN MemberStep(s, Head(effects).event).state ELSE s,
                         Tail(effects))

\* A member that hears a vote hears a digest.
AfterVote(m, event) ==
    IF VotesAreHeard /\ event.type = "StableReceived" /\ event.sender # m
    THEN MemberStep(local[m], [type |-> "HighestReceived", sender |-> event.sender,
                               message |-> HighestMessage(event.message.view_id, event.message.digest)])
    ELSE Ignored(local[m])

StableStep(action, m, event) ==
    \E step \in {Stable!Step(stable[m], event)} :
    \E heard \in {AfterVote(m, event)} :
        /\ stable' = [stable EXCEPT ![m] = step.state]
        /\ gossip' = gossip \cup {[sender |-> m, message |-> step.effects[i].message] :
                                    i \in {i \in DOMAIN step.effects : step.effects[i].type = "Datagram"}}
        /\ local' = [local EXCEPT ![m] = AfterPassedDown(heard.state, step.effects)]
        /\ timers' = [timers EXCEPT ![m] = @ \cup TimersSet(heard.effects)]
        /\ Record(action, m, FALSE, None, event, {}, step.outcome, step.effects)
        /\ UNCHANGED <<net, surroundings, sent, got, spent>>

StableTimeoutFires(m) ==
    Active(m) /\ m \in Voters /\ StableStep("StableTimeoutFires", m, [type |-> "StableTimeout"])
StabilityTimeoutFires(m) ==
    Active(m) /\ stable[m].pending /\ StableStep("StabilityTimeoutFires", m, [type |-> "StabilityTimeout"])

VoteEvent(p) == [type |-> "StableReceived", sender |-> p.sender, message |-> p.message]
ReceiveStable(m) ==
    /\ Active(m) /\ m \in VoteHears
    /\ \E p \in gossip : p.message.type = "STABLE" /\ StableStep("ReceiveStable", m, VoteEvent(p))

ReceiveStability(m) ==
    /\ Active(m)
    /\ \E p \in gossip :
        /\ p.message.type = "STABILITY"
        /\ StableStep("ReceiveStability", m, [type |-> "StabilityReceived", sender |-> p.sender,
                                              message |-> p.message, digest |-> Below(local[m])])

-----------------------------------------------------------------------------
FirstInstalled(m) == [type |-> "ViewInstalled", view |-> ViewOf(views[1]), digest |-> Below(local[m])]

Begun(m) ==
    LET first == Stable!Step(Stable!Start(m), FirstInstalled(m)).state
        to == {pair[2] : pair \in {pair \in Awaited : pair[1] = m}}
    IN [first EXCEPT !.promised = to]

StackInit ==
    /\ Init
    /\ stable = [m \in Member |-> Begun(m)]
    /\ gossip = {[sender |-> Head(views[1].members),
                  message |-> Stable!StabilityMessage(views[1].id, [x \in DOMAIN views[1].lives |-> Nothing])]}

\* (What NAKACK passes up to STABLE is how many bytes have come, which is nothing to it here: MaxBytes is 0.)
StackNext ==
    \E m \in Member :
        \/ (\/ MulticastPayload(m)
            \/ HighestTimeoutFires(m)
            \/ RequestTimeoutFires(m)
            \/ ReceiveData(m)
            \/ ReceiveHighest(m)
            \/ ReceiveXmitReq(m)
            \/ Crash(m))
           /\ UNCHANGED <<stable, gossip>>
        \/ StableTimeoutFires(m)
        \/ StabilityTimeoutFires(m)
        \/ ReceiveStable(m)
        \/ ReceiveStability(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

-----------------------------------------------------------------------------
(* Claims *)

StackTypeOK ==
    /\ \A m \in Member : stable[m].member = m /\ stable[m].view = local[m].view
    /\ \A p \in gossip : p.sender \in Member /\ p.message.type \in {"STABLE", "STABILITY"}

\* Every live member of a view has delivered what any member of the view has purged.
NoMissingMessagePurged ==
    \A p, x \in up : Active(p) /\ Active(x) =>
        \A s \in Members(local[p]) : local[p].windows[s].purged <= local[x].windows[s].delivered

\* A vote counts what its member has delivered, and no more.
VotesDelivered ==
    \A p \in gossip : p.message.type = "STABLE" =>
        \A s \in DOMAIN p.message.digest : p.message.digest[s] <= local[p.sender].windows[s].delivered

\* An event changes nothing in NAKACK any more.
IsStale(m, event) ==
    \E step \in {MemberStep(local[m], event)} :
        step.state = local[m] /\ DeliveredBy(step.effects) = <<>> /\ Sent(m, step.effects) \subseteq net

\* Every vote that a member casts was heard. (Who has made no promise votes for all that it has delivered.)
AllHaveVoted ==
    \A m \in up :
        /\ stable[m].promised = {} => stable[m].vote = DeliveredVector(local[m])
        /\ [sender |-> m, message |-> Stable!StableMessage(stable[m].view.id, stable[m].vote)] \in gossip

\* Nothing that is sent again, no timer and no vote changes anything in NAKACK any more. (What was sent by a member that
\* has crashed is sent no more: it may be lost.)
NakackAtRest ==
    /\ \A m \in up :
        /\ \A p \in Arriving(m) : p.sender \in up => IsStale(m, ArrivalOf(p))
        /\ "highest" \in timers[m] /\ m \in Tellers => IsStale(m, [type |-> "HighestTimeout"])
        /\ "request" \in timers[m] => IsStale(m, [type |-> "RequestTimeout"])
        /\ \A p \in gossip : (p.message.type = "STABLE" /\ p.sender # m) => AfterVote(m, VoteEvent(p)).state = local[m]
    /\ AllHaveVoted

\* Then all who live have delivered the same: the last message, too.
LevelWhenAtRest == NakackAtRest => Guarantee!Level

-----------------------------------------------------------------------------
(* Witnesses *)

\* A message that all members have delivered is purged.
Thrown == \E m \in up : \E s \in Members(local[m]) : local[m].windows[s].purged >= FirstSeqno
\* A member that lacks the last message of a crashed sender has heard of it.
HeardOfTheLast ==
    \E m \in up : \E s \in Members(local[m]) \ up :
        local[m].windows[s].told.upto > local[m].windows[s].delivered /\ local[m].windows[s].told.holder \in up
=============================================================================
