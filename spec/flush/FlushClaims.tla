----------------------------- MODULE FlushClaims ----------------------------
(******************************************************************************)
(* Claims about a group that runs FLUSH: outcomes that the group's users see, *)
(* mechanisms that the requirements name, frame conditions of the model, the  *)
(* refinement of VirtualSynchrony, and liveness. Each claim is violated in    *)
(* some model of models.yaml.                                                 *)
(******************************************************************************)
EXTENDS FlushGroup

-----------------------------------------------------------------------------
(* Types *)

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ Members(s) \subseteq Member
    /\ {s.latched, s.owes, s.frozen} \subseteq BOOLEAN
    /\ s.suspected \subseteq Members(s) \ {m}
    /\ s.sent \in Nat
    /\ DOMAIN s.delivered = Members(s)
    /\ DOMAIN s.limit \in {{}, DOMAIN s.delivered}
    /\ s.block \in {"free", "asked", "blocked"}
    /\ s.owner \in Member \cup {""} /\ s.asker \in {"", ForViews, ForState}
    /\ DOMAIN s.later \subseteq Members(s) \ {m}
    /\ s.wants \subseteq {ForViews, ForState, Self}
    /\ s.run.phase \in {"none", "start", "reconcile", "stopped"}
    /\ s.run.want \subseteq Member /\ s.run.want \cap Asked(s) = {}

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ \A c \in copies : {c.via, c.to, c.sender} \subseteq Member /\ c.view \in DOMAIN views
    /\ \A m \in Member : app[m] \in {"free", "handler", "blocked"}
    /\ Channel!Group!MembershipTypeOK

\* Each member is in one of the phases that the table has, and the layer below has a limit just where it is frozen.
EachInAPhase ==
    \A m \in Member :
        /\ \E phase \in DOMAIN Phases : IsIn(phase, local[m])
        /\ (local[m].limit # NoVector) = local[m].frozen

-----------------------------------------------------------------------------
(* Outcomes *)

\* m may install view number k: it is in a predecessor, and trusts the view's creator. (After a false suspicion no
\* member can know what others decide with its report; README.md.) (It does not know the creator of a merged view: its
\* own coordinator took part.)
Maker(m, k) == IF IsMerged(views[k]) THEN CoordinatorOf(local[m].view) ELSE views[k].id.creator

MayInstallNext(m, k) ==
    /\ m \in up /\ m \in DOMAIN views[k].lives /\ installed[m] \in views[k].preds
    /\ Maker(m, k) \notin local[m].suspected

\* A member that has received a message outside the cut before a view distrusts the creator of that view: it follows
\* another branch.
ExtraDeliveryImpliesDistrust ==
    \A k \in DOMAIN views : \A m \in Member :
        (MayInstallNext(m, k) /\ installed[m] \in DOMAIN settled[k]) => got[m] \subseteq settled[k][installed[m]]

\* When a joiner has installed a view, some member of each predecessor has installed it, or all members that could
\* still install it distrust its creator.
NoOldMemberAfterJoiner ==
    \A k \in DOMAIN views : \A m \in Member :
        (MayInstallNext(m, k) /\ \E x \in views[k].joins : installed[x] = k) => installed[m] \in DOMAIN settled[k]

\* The members of m's view that m trusts, and that trust m.
Mutual(m) ==
    {x \in up \cap Unsuspected(local[m]) : installed[x] = installed[m] /\ m \notin local[x].suspected}

\* FST-13: the group that a requester, or a maker of views, takes for stopped is stopped, and has delivered
\* the same.
GroupIsStopped ==
    \A m \in up :
        (IsStopped(local[m]) \/ maker[m] = "stopped") =>
            \A x \in Mutual(m) : local[x].latched /\ local[x].delivered = local[m].delivered

\* FST-01: a member that has reported, or has joined since, multicasts nothing before STOP_FLUSH; or, if it is stopped
\* for a state, before it suspects the requester.
NoMulticastWhileStoppedStep ==
    LET s == local[act'.member] IN
    (MulticastsOf(act'.effects) # <<>> /\ (s.frozen \/ s.latched)) =>
        \/ act'.action = "ReceiveStopFlush"
        \/ act'.event.type = "Suspected" /\ s.asker = ForState /\ act'.event.suspect = s.owner

\* FST-03: without false suspicions no multicast reaches a member before the view that it was sent in, where
\* it would be lost.
NoMulticastArrivesEarlyStep ==
    (spent.false = 0 /\ act'.action = "ReceiveData") =>
        act'.event.message.view_id.counter <= local[act'.member].view.id.counter

\* AMB-32: a member that is named as holder has every message that some member lacks. (A holder that has installed the
\* next view has them in the layer below.)
HolderHasAll ==
    \A m \in up : \A f \in fetches[m] :
        (f.holder \in up /\ installed[f.holder] = installed[m]) =>
            local[f.holder].delivered[f.sender] >= f.upto

\* Events about blocking that a step passes to the application, in order.
Calls(effects) ==
    LET Is(effect) == effect.type = "PassUp" /\ effect.event.type \in {"Block", "Unblock"}
        said == SelectSeq(effects, Is)
    IN [i \in DOMAIN said |-> said[i].event.type]

\* FST-08, FCR-05: an application is blocked only when it is free, ...
BlockOnlyWhenFreeStep ==
    LET calls == Calls(act'.effects) IN
    \A i \in DOMAIN calls :
        calls[i] = "Block" => IF i = 1 THEN app[act'.member] = "free" ELSE calls[i - 1] = "Unblock"

\* FST-16, AMB-63: ... and set free only when it was blocked, and its handler has returned.
UnblockOnlyWhenBlockedStep ==
    LET calls == Calls(act'.effects) IN
    \A i \in DOMAIN calls :
        calls[i] = "Unblock" =>
            /\ i = 1
            /\ \/ app[act'.member] = "blocked"
               \/ app[act'.member] = "handler" /\ act'.action = "ReturnBlock"

\* Without false suspicions at most one flush is in force: of the members that live and are in one view one has it
\* stopped.
OneFlush ==
    spent.false = 0 =>
        \A x, y \in up :
            (IsStopped(local[x]) /\ IsStopped(local[y]) /\ installed[x] = installed[y]) => x = y

\* FST-02, FLAW-36: who has a state, in one view, and has received the same in it, has the same state.
SameStates ==
    \A x, y \in {m \in up : HasState(m)} :
        (installed[x] = installed[y] /\ got[x] = got[y]) => state[x] = state[y]

\* Nothing is refused but what is a mistake.
NoEventRefusedStep == act'.outcome \in {"local_error", "remote_error"} => act'.action = "Misuse"

\* Nothing is on its way, and no member has anything to do or to say.
Quiescent ==
    /\ \A f, t \in Member : t \in up => wire[f][t] = <<>>
    /\ \A m \in up :
        /\ app[m] # "handler" /\ Reports(m) = {}
        /\ \A f \in fetches[m] : ~IsPresent(f.holder, m)
        /\ ~MayTakeOver(m) /\ ~MaySuspend(m) /\ ~MayResume(m) /\ ~MayDecide(m) /\ ~MayDepart(m)
        /\ ~NoStateProvider(m)
        /\ Partners(m) = {} /\ maker[m] # "merges"
        /\ \A p \in up : ~MayGive(p, m)
    /\ \A o \in offers : o.to \in up => ~MayInstall(o)
    /\ \A c \in copies : c.to \in up => ~MayArrive(c.to, c)

IsAtRest(m) ==
    /\ ~local[m].latched /\ local[m].owner = "" /\ local[m].waiting = <<>> /\ local[m].later = NoVector
    /\ local[m].wants = {} /\ ~Running(local[m])
    /\ app[m] = "free" /\ transfer[m] = "none" /\ m \notin wishes

\* All who live and are in a view are in one, of the members that live; no latch is closed, no member waits.
Converged ==
    LET there == {m \in up : InView(local[m])} IN
    \A m \in there :
        /\ Members(local[m]) = up /\ there = up
        /\ installed[m] = installed[CHOOSE x \in there : TRUE]
        /\ IsAtRest(m)

\* ... and after false suspicions: who is in a view is in it with all its members that live; no latch is
\* closed.
ConvergedOnEachBranch ==
    \A m \in {m \in up : InView(local[m])} :
        /\ \A x \in Members(local[m]) \cap up : installed[x] = installed[m]
        /\ IsAtRest(m)

\* Coordinators stay apart if a merge has failed, or has not been tried since one of them crashed or left.
StayApart == spent.false > 0 \/ (MaxMerges > 0 /\ (MergeMayFail \/ spent.crashes + spent.leaves > 0))

\* FVI-08: the group does not come to rest before that.
ConvergedWhenQuiescent == Quiescent => IF StayApart THEN ConvergedOnEachBranch ELSE Converged

\* The duties of m: messages in transit to it arrive, BLOCK returns, crashes are reported, view creators and state
\* transfers take their steps. Applications need not multicast, and no member needs to crash, want to leave, or want a
\* state.
MayStep(m) ==
    \/ ReceiveStartFlush(m)
    \/ ReceiveFlushCompleted(m)
    \/ ReceiveReconcile(m)
    \/ ReceiveStopFlush(m)
    \/ ReturnBlock(m)
    \/ ReceiveData(m)
    \/ Retransmit(m)
    \/ TakeOver(m)
    \/ SuspendGroup(m)
    \/ ResumeGroup(m)
    \/ DecideView(m)
    \/ Merge(m)
    \/ TakeMerged(m)
    \/ MustGiveUp(m) /\ GiveUpMerge(m)
    \/ InstallView(m)
    \/ Depart(m)
    \/ GiveState(m)
    \/ TakeState(m)
    \/ NoStateProvider(m) /\ GiveUp(m)
    \/ Detect(m)

\* Where no member has to do anything the group is Quiescent: ConvergedWhenQuiescent misses no rest.
QuiescentIfNoStepEnabled == (\A m \in Member : ~ENABLED MayStep(m)) => Quiescent

NoMulticastWhileStopped == [][NoMulticastWhileStoppedStep]_vars
NoMulticastArrivesEarly == [][NoMulticastArrivesEarlyStep]_vars
BlockOnlyWhenFree == [][BlockOnlyWhenFreeStep]_vars
UnblockOnlyWhenBlocked == [][UnblockOnlyWhenBlockedStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars

-----------------------------------------------------------------------------
(* Frame: a step belongs to one member, and others change through its effects alone *)

OnlyOwnStateStep == OthersKeepLocal

RefusedChangesNothingStep == UnchangedUnlessHandled

OnlyOwnPacketsStep ==
    act'.outcome # "none" => wire' = AfterStep(wire, act'.member, act'.consumed, act'.effects, up)

OnlyOwnMulticastsStep ==
    \A k \in DOMAIN log : \A s \in DOMAIN log[k] :
        log'[k][s] # log[k][s] =>
            /\ s = act'.member /\ k = installed[s]
            /\ log'[k][s] = log[k][s] \o Payloads(MulticastsOf(act'.effects))

OnlyByEffectsStep ==
    OnlyOwnStateStep /\ RefusedChangesNothingStep /\ OnlyOwnPacketsStep /\ OnlyOwnMulticastsStep

OnlyOwnState == [][OnlyOwnStateStep]_vars
RefusedChangesNothing == [][RefusedChangesNothingStep]_vars
OnlyOwnPackets == [][OnlyOwnPacketsStep]_vars
OnlyOwnMulticasts == [][OnlyOwnMulticastsStep]_vars
OnlyByEffects == [][OnlyByEffectsStep]_vars

-----------------------------------------------------------------------------
(* Refinement: the group is what VirtualSynchrony promises, but for Uniform *)
(* and, if a member receives its own multicasts late, OwnFirst; and each of *)
(* its conjuncts alone. Once some member was suspected falsely views branch, *)
(* and BranchSynchrony is what FLUSH gives. ExtraDeliveryImpliesDistrust and      *)
(* NoOldMemberAfterJoiner replace its three missing conjuncts: they cover the *)
(* members that trust the creator of a view.                                  *)

abstract == <<views, installed, life, up, log, settled, got>>

NotGiven == {"Uniform"} \cup (IF "OwnAtOnce" \in LayerLacks THEN {"OwnFirst"} ELSE {})

Promised == INSTANCE VirtualSynchrony WITH Off <- NotGiven

Branching == INSTANCE BranchSynchrony WITH Off <- NotGiven

\* Each step of the group is a step of VirtualSynchrony.
RefinesVirtualSynchronyStep ==
    abstract' # abstract => IF spent.false = 0 THEN Promised!Next ELSE Branching!Next
RefinesVirtualSynchrony == [][RefinesVirtualSynchronyStep]_vars

\* ... and of BranchSynchrony, whoever is suspected.
RefinesBranchSynchronyStep == abstract' # abstract => Branching!Next
RefinesBranchSynchrony == [][RefinesBranchSynchronyStep]_vars

\* (Without Sending View Delivery `got` would be another thing: it is always asked for.)
But(conjunct) == Channel!Conjuncts \ {conjunct, "SendingViewDelivery"}
Alone(conjunct) == INSTANCE VirtualSynchrony WITH Off <- But(conjunct)
Gives(conjunct) == abstract' # abstract => Alone(conjunct)!Next

GivesSendingViewDeliveryStep == Gives("SendingViewDelivery")
GivesFifoStep == Gives("Fifo")
GivesReceiveOnlyCutStep == Gives("ReceiveOnlyCut")
GivesCastOnlyBeforeCutStep == Gives("CastOnlyBeforeCut")
GivesFirstLeaverHasAllStep == Gives("FirstLeaverHasAll")
GivesLeavesWithCutStep == Gives("LeavesWithCut")
GivesSelfDeliveryStep == Gives("SelfDelivery")
GivesOwnFirstStep == Gives("OwnFirst")
GivesJoinersInstallLastStep == Gives("JoinersInstallLast")

GivesSendingViewDelivery == [][GivesSendingViewDeliveryStep]_vars
GivesFifo == [][GivesFifoStep]_vars
GivesReceiveOnlyCut == [][GivesReceiveOnlyCutStep]_vars
GivesCastOnlyBeforeCut == [][GivesCastOnlyBeforeCutStep]_vars
GivesFirstLeaverHasAll == [][GivesFirstLeaverHasAllStep]_vars
GivesLeavesWithCut == [][GivesLeavesWithCutStep]_vars
GivesSelfDelivery == [][GivesSelfDeliveryStep]_vars
GivesOwnFirst == [][GivesOwnFirstStep]_vars
GivesJoinersInstallLast == [][GivesJoinersInstallLastStep]_vars

-----------------------------------------------------------------------------
(* Liveness *)

\* A member that has something to do does some of it. (No action need have its turn.)
Fairness == \A m \in Member : WF_vars(MayStep(m))

LiveSpec == Init /\ [][\E m \in Member : Next(m)]_vars /\ Fairness
PromptLiveSpec == PromptSpec /\ Fairness

THEOREM Spec => IF MaxFalseSuspicions = 0 THEN Promised!Spec ELSE Branching!Spec

\* In the end all who live are in one view, free, and who wanted to leave has left.
EventuallyConverged == <>[]Converged

\* FVI-08: every flush ends, for every live member.
LatchesEventuallyOpen == \A m \in Member : [](local[m].latched => <>(~local[m].latched \/ m \notin up))
=============================================================================
