----------------------------- MODULE FlushClaims ----------------------------
(***************************************************************************)
(* What is claimed of a group that runs FLUSH: outcomes that its users     *)
(* see, mechanisms that the requirements name, frame conditions of the     *)
(* model, the refinement of VirtualSynchrony, and liveness. Each claim     *)
(* falls in some model of models.yaml.                                     *)
(***************************************************************************)
EXTENDS FlushGroup

-----------------------------------------------------------------------------
(* Types *)

DecisionTypeOK(d) ==
    /\ d.id.counter \in Nat
    /\ MembersOf(d) \subseteq Member /\ d.joiners \subseteq MembersOf(d)

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ DecisionTypeOK(s.decision)
    /\ {s.left, s.gone, s.latched, s.owes, s.frozen} \subseteq BOOLEAN
    /\ s.suspected \subseteq Member \ {m} /\ s.leaving \subseteq Member
    /\ \A i \in DOMAIN s.joining : s.joining[i] \in Joiners
    /\ s.sent \in Nat
    /\ DOMAIN s.delivered = (IF s.left THEN {} ELSE Members(s))
    /\ DOMAIN s.limit \in {{}, DOMAIN s.delivered}
    /\ s.block \in {"free", "asked", "blocked"}
    /\ s.owner \in Member \cup {""}
    /\ s.run.phase \in {"none", "start", "reconcile", "view"}
    /\ s.run.want \subseteq Member /\ s.run.want \cap Asked(s) = {}

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ \A c \in copies : {c.via, c.to, c.sender} \subseteq Member /\ c.view \in DOMAIN views
    /\ \A m \in Member : app[m] \in {"free", "handler", "blocked"}
    /\ Channel!Group!MembershipTypeOK

-----------------------------------------------------------------------------
(* Outcomes *)

\* Without false suspicions: of two views that follow one, nobody alive has installed one of them.
OneLine == MaxFalse = 0 => Channel!Group!OneLine(up)

\* AMB-40: an identifier names one list of members.
OneIdOneList == \A j, k \in DOMAIN views : views[j].id = views[k].id => j = k

\* FVB-09: without false suspicions, who is in a view and not in the next has crashed, or wanted to leave.
NobodyIsDropped ==
    MaxFalse = 0 =>
        \A k \in DOMAIN views : \A j \in views[k].preds :
            \A x \in DOMAIN views[j].lives \ DOMAIN views[k].lives : x \in wishes \/ x \notin up

\* m may go to view number k: it is in the view before, and trusts the one that made k. (After a false suspicion
\* nobody can know what others decide with its report; README.md.)
MayCome(m, k) ==
    /\ m \in up /\ m \in DOMAIN views[k].lives /\ installed[m] \in views[k].preds
    /\ views[k].id.creator \notin local[m].suspected

\* Who has received what a view with it was made without distrusts the one that made it: it goes another way.
BeyondIsDistrust ==
    \A k \in DOMAIN views : \A m \in Member :
        (MayCome(m, k) /\ installed[m] \in DOMAIN settled[k]) => got[m] \subseteq settled[k][installed[m]]

\* When a joiner has a view, somebody has come to it from each view before, or all who might have distrust it so.
NobodyComesLater ==
    \A k \in DOMAIN views : \A m \in Member :
        (MayCome(m, k) /\ \E x \in views[k].joins : installed[x] = k) => installed[m] \in DOMAIN settled[k]

\* AMB-72, AMB-73: a leave, of the requester too, needs no failure detector.
LeavesInGoodOrder == (spent.crashes = 0 /\ spent.false = 0) => \A m \in up : local[m].suspected = {}

\* FST-01: who has reported, or is to reach a target, multicasts nothing before STOP_FLUSH.
SilentWhileFrozenStep ==
    MulticastsOf(act'.effects) # <<>> => ~local[act'.member].frozen \/ act'.action = "ReceiveStopFlush"

\* FST-03: without false suspicions no multicast reaches a member before the view that it was sent in, where it
\* would be lost.
NothingComesTooEarlyStep ==
    (MaxFalse = 0 /\ act'.action = "ReceiveData") => act'.event.message.view_id = local[act'.member].decision.id

\* FST-16, FCR-05: an application is blocked only when it is free, ...
BlockedWhenFreeStep == Passes(act'.effects, "PassUp", "Block") => app[act'.member] = "free"

\* AMB-63: ... and set free only when it was blocked.
FreedWhenBlockedStep == Passes(act'.effects, "PassUp", "Unblock") => app[act'.member] # "free"

\* Without false suspicions at most one flush is in force: one member that lives runs one.
OneFlush == MaxFalse = 0 => \A x, y \in up : (Running(local[x]) /\ Running(local[y])) => x = y

\* Nothing is on its way, and nobody has anything to say.
Quiet ==
    /\ \A f, t \in Member : t \in up => wire[f][t] = <<>>
    /\ \A m \in up :
        /\ app[m] # "handler" /\ Reports(m) = {}
        /\ \A f \in fetches[m] : f.holder \notin up
        /\ ~Acts(local[m]) \/ ((wishes \cap Members(local[m]) \subseteq local[m].leaving /\ ~(m \in wishes /\ IsLast(local[m])))
                                /\ \A x \in Joiners \cap up : ~MayBeAsked(m, x))
    /\ \A c \in copies : c.to \in up => ~MayArrive(c.to, c)

\* All who live and are in a view are in one, of those who live; no latch is closed, nobody waits.
Settled ==
    LET there == {m \in up : InView(local[m])} IN
    \A m \in there :
        /\ Members(local[m]) = up /\ there = up
        /\ installed[m] = installed[CHOOSE x \in there : TRUE]
        /\ ~local[m].latched /\ local[m].owner = "" /\ app[m] = "free" /\ local[m].waiting = <<>>
        /\ m \notin wishes

\* ... and after false suspicions: who is in a view is in it with all its members that live; no latch is closed.
SettledOnEachLine ==
    \A m \in {m \in up : InView(local[m])} :
        /\ \A x \in Members(local[m]) \cap up : installed[x] = installed[m]
        /\ ~local[m].latched /\ local[m].owner = "" /\ app[m] = "free" /\ local[m].waiting = <<>>
        /\ m \notin wishes

\* FVI-08, FLAW-33: the group does not come to rest before that.
QuietIsSettled == Quiet => IF MaxFalse = 0 THEN Settled ELSE SettledOnEachLine

SilentWhileFrozen == [][SilentWhileFrozenStep]_vars
NothingComesTooEarly == [][NothingComesTooEarlyStep]_vars
BlockedWhenFree == [][BlockedWhenFreeStep]_vars
FreedWhenBlocked == [][FreedWhenBlockedStep]_vars

-----------------------------------------------------------------------------
(* Mechanism *)

HasOrIsAfter(x, d) == local[x].decision.id.counter >= d.id.counter

\* FVB-14: when a joiner is sent the view, who lives of the old members has it.
JoinersComeLast ==
    MaxFalse = 0 =>
        \A f, t \in Member : \A i \in DOMAIN wire[f][t] :
            LET message == wire[f][t][i] IN
            (message.type = "NEW_VIEW" /\ t \in message.decision.joiners) =>
                \A x \in (up \cap MembersOf(message.decision)) \ message.decision.joiners :
                    HasOrIsAfter(x, message.decision)

\* FVI-06: the requester stops the flush when whoever lives of its members has the view, joiners too.
StopsWhenAllHaveItStep ==
    (MaxFalse = 0 /\ Running(local[act'.member]) /\ ~Running(local'[act'.member])) =>
        \A x \in up' \cap Members(local[act'.member]) : HasOrIsAfter(x, local[act'.member].decision)

\* LAY-06: a view is announced when it is installed, once, to the layers below and then to those above.
AnnouncedOnceStep ==
    act'.outcome = "handled" =>
        LET Announces(effect) == effect.type \in {"PassDown", "PassUp"} /\ effect.event.type = "ViewInstalled"
            said == SelectSeq(act'.effects, Announces)
            m == act'.member
        IN [i \in DOMAIN said |-> [type |-> said[i].type, view |-> said[i].event.view]] =
            IF local'[m].left \/ local'[m].decision.id = local[m].decision.id THEN <<>>
            ELSE <<[type |-> "PassDown", view |-> ViewIn(local'[m].decision)],
                   [type |-> "PassUp", view |-> ViewIn(local'[m].decision)]>>

StopsWhenAllHaveIt == [][StopsWhenAllHaveItStep]_vars
AnnouncedOnce == [][AnnouncedOnceStep]_vars

-----------------------------------------------------------------------------
(* Frame: a step belongs to one member, and others change through its effects alone *)

OnlyOwnStateStep == OthersKeepLocal

RefusedChangesNothingStep == NothingForNothing

OnlyItsPacketsStep ==
    act'.outcome # "none" =>
        LET after == AfterStep(wire, act'.member, act'.consumed, act'.effects, up)
        IN wire' = IF local'[act'.member].gone THEN Deaf(after, act'.member) ELSE after

OnlyItsMulticastsStep ==
    \A k \in DOMAIN log : \A s \in DOMAIN log[k] :
        log'[k][s] # log[k][s] =>
            (s = act'.member /\ k = installed[s] /\ log'[k][s] = log[k][s] \o Payloads(MulticastsOf(act'.effects)))

OnlyByEffectsStep == OnlyOwnStateStep /\ RefusedChangesNothingStep /\ OnlyItsPacketsStep /\ OnlyItsMulticastsStep

OnlyOwnState == [][OnlyOwnStateStep]_vars
RefusedChangesNothing == [][RefusedChangesNothingStep]_vars
OnlyItsPackets == [][OnlyItsPacketsStep]_vars
OnlyItsMulticasts == [][OnlyItsMulticastsStep]_vars
OnlyByEffects == [][OnlyByEffectsStep]_vars

-----------------------------------------------------------------------------
(* Refinement: the group is what VirtualSynchrony promises, but for Uniform; and each of its conjuncts alone.      *)
(* Once somebody was suspected falsely views branch. Three conjuncts speak of all who may come to a view, also of  *)
(* those that take the other branch: in their place are BeyondIsDistrust and NobodyComesLater, which speak of      *)
(* those who trust its maker. LeavesExact speaks of those who come.                                                *)

abstract == <<views, installed, up, log, settled, got>>

Promised == INSTANCE VirtualSynchrony WITH Off <- {"Uniform"}

Branching == INSTANCE VirtualSynchrony WITH Off <- {"Uniform", "ClosedToReceive", "FirstHasAll", "JoinAfterLeave"}

RefinesVirtualSynchronyStep ==
    abstract' # abstract => IF spent.false = 0 THEN Promised!Next ELSE Branching!Next
RefinesVirtualSynchrony == [][RefinesVirtualSynchronyStep]_vars

\* (Without Sending View Delivery `got` would be another thing: it is always asked for.)
But(conjunct) == Channel!Conjuncts \ {conjunct, "SendingViewDelivery"}
Alone(conjunct) == INSTANCE VirtualSynchrony WITH Off <- But(conjunct)
Gives(conjunct) == abstract' # abstract => Alone(conjunct)!Next

GivesSendingViewDeliveryStep == Gives("SendingViewDelivery")
GivesFifoStep == Gives("Fifo")
GivesClosedToReceiveStep == Gives("ClosedToReceive")
GivesClosedToCastStep == Gives("ClosedToCast")
GivesFirstHasAllStep == Gives("FirstHasAll")
GivesLeavesExactStep == Gives("LeavesExact")
GivesSelfDeliveryStep == Gives("SelfDelivery")
GivesJoinAfterLeaveStep == Gives("JoinAfterLeave")

GivesSendingViewDelivery == [][GivesSendingViewDeliveryStep]_vars
GivesFifo == [][GivesFifoStep]_vars
GivesClosedToReceive == [][GivesClosedToReceiveStep]_vars
GivesClosedToCast == [][GivesClosedToCastStep]_vars
GivesFirstHasAll == [][GivesFirstHasAllStep]_vars
GivesLeavesExact == [][GivesLeavesExactStep]_vars
GivesSelfDelivery == [][GivesSelfDeliveryStep]_vars
GivesJoinAfterLeave == [][GivesJoinAfterLeaveStep]_vars

-----------------------------------------------------------------------------
(* Liveness *)

\* What is on its way arrives, BLOCK returns, crashes are reported, requests are made again. Applications need not
\* multicast, and nobody needs to crash or want to leave.
Fairness ==
    \A m \in Member :
        /\ \A x \in Member :
            WF_vars(m \in up /\ (StartFlushFrom(m, x) \/ FlushCompletedFrom(m, x) \/ ReconcileFrom(m, x)
                                 \/ NewViewFrom(m, x) \/ StopFlushFrom(m, x) \/ FlushWantedFrom(m, x)))
        /\ WF_vars(ReturnBlock(m))
        /\ WF_vars(ReceiveData(m))
        /\ WF_vars(Retransmit(m))
        /\ WF_vars(AskToJoin(m))
        /\ WF_vars(AskToLeave(m))
        /\ WF_vars(Detect(m))

LiveSpec == Init /\ [][Next]_vars /\ Fairness

THEOREM Spec => IF MaxFalse = 0 THEN Promised!Spec ELSE Branching!Spec

\* In the end all who live are in one view, free, and who wanted to leave has left.
Settles == <>[]Settled

\* FVI-08: every flush ends, for everybody who lives.
LatchesOpen == \A m \in Member : [](local[m].latched => <>(~local[m].latched \/ m \notin up))
=============================================================================
