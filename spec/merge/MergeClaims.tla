---------------------------- MODULE MergeClaims -----------------------------
(******************************************************************************)
(* Claims about subgroups that run Merge. A claim is an outcome that the      *)
(* group's users see (first section), a mechanism that the requirements name, *)
(* a frame condition of the model, a refinement, or liveness. Each claim is   *)
(* violated in some model of models.yaml.                                     *)
(******************************************************************************)
EXTENDS MergeGroup

Membership == INSTANCE Membership WITH Off <- {}

\* The promises that are open, as JoinDigest speaks of them. A member that is in a merge is in the view in which it
\* answered.
PromisesOf(m) ==
    {[by |-> m, by_life |-> life[m], view |-> installed[m], to |-> k.to, to_life |-> k.life,
      vector |-> k.vector] : k \in kept[m]}
OpenPromises == UNION {PromisesOf(m) : m \in up}
DeliveredByAll == [m \in Member |-> DeliveredBy(m)]

HeldFor == [m \in Member |-> {k.to : k \in kept[m]}]
JoinDigest ==
    INSTANCE JoinDigest WITH Off <- {}, delivered <- DeliveredByAll, promises <- OpenPromises, held <- HeldFor

-----------------------------------------------------------------------------
(* Types *)

DecisionTypeOK(d) ==
    /\ d.id.counter \in Nat
    /\ MembersOf(d) \subseteq Member
    /\ DOMAIN d.lives \subseteq Member /\ MembersOf(d) \subseteq DOMAIN d.lives
    /\ d.joiners \subseteq MembersOf(d)
    /\ DOMAIN d.digest \subseteq Member

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ DecisionTypeOK(s.decision)
    /\ s.merge = NoMerge \/ s.merge.leader \in Member
    /\ s.awaiting \subseteq Member \ {m}
    /\ DOMAIN s.responses \subseteq Member
    /\ \A c \in DOMAIN s.responses : DecisionTypeOK(s.responses[c].decision)
    /\ s.begun \in 0 .. MaxMerges
    /\ \A i \in DOMAIN s.early : MembersOf(s.early[i]) \subseteq Member

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ \A p \in network :
        p.sender \in Member /\ p.to \in up \cup {NextLife(m) : m \in Inheritors}
        /\ p.message.type \in {"MERGE_REQ", "MERGE_RSP", "INSTALL_MERGE_VIEW", "MERGE_VIEW", "CANCEL_MERGE"}
    /\ up \subseteq Member /\ held \subseteq up
    /\ \A m \in Member : Cardinality(timers[m]) <= 1
    /\ \A m \in Member : \A x \in Member : seen[m][x] \in Nothing .. Nothing + MaxCasts
    /\ \A m \in Member : purged[m] <= seen[m][m]
    /\ Membership!MembershipTypeOK

-----------------------------------------------------------------------------
(* Outcomes *)

\* AMB-40: an identifier names one list of members.
ViewIdsAreUnique == \A j, k \in DOMAIN views : views[j].id = views[k].id => j = k

\* MRG-07: who has installed a view has installed the same one: members, identifier and digest.
SameIdSameView ==
    \A m, x \in up :
        (local[m].decision.id = local[x].decision.id /\ local[m].decision.digest # NoDigest) =>
            /\ local[m].decision.members = local[x].decision.members
            /\ local[m].decision.digest = local[x].decision.digest
            /\ local[m].decision.lives = local[x].decision.lives

\* MRG-19: a view's counter is greater than that of each view that it follows.
CounterAbovePredecessors == \A k \in DOMAIN views : \A j \in views[k].preds : views[j].id.counter < views[k].id.counter

\* MRG-08: in a view there is at most one coordinator.
OneCoordinator ==
    \A m, x \in up :
        (installed[m] = installed[x] /\ Coordinates(local[m]) /\ Coordinates(local[x])) => m = x

\* A merged view that waits for its predecessor is later than the view installed: an early view that was overtaken is dropped.
EarlyViewsAreLater ==
    \A m \in up : \A i \in DOMAIN local[m].early : local[m].early[i].id.counter > local[m].decision.id.counter

\* The members that are in one view can have from each other what they have not delivered: it was not purged.
PurgedIsDeliveredInView ==
    \A m, x \in up : (installed[m] # 0 /\ installed[m] = installed[x]) => seen[m][x] >= purged[x]

\* MRG-28, FLAW-47: what a member has not delivered of the members that were with it, it still delivers.
NoMessageSkippedStep ==
    act'.outcome # "none" =>
        \A x \in MembersOf(local[act'.member].decision) : seen'[act'.member][x] = seen[act'.member][x]

\* No multicast is delivered twice: a window never goes back.
NoDuplicateDeliveryStep == \A m, x \in Member : life'[m] = life[m] => seen'[m][x] >= seen[m][x]

\* MRG-09: with the members that are new to it a member starts where the merged digest says.
StartsAtMergedDigestStep ==
    \A e \in Passed(act'.effects, "PassUp", "MergeViewInstalled") :
        LET m == act'.member IN
        \A x \in MembersOf(local'[m].decision) \ MembersOf(local[m].decision) :
            IF x \in DOMAIN local'[m].decision.digest
            THEN seen'[m][x] = Greatest(seen[m][x], local'[m].decision.digest[x])
            ELSE FALSE

\* Nothing is lost, no timer fires too soon, and no member is suspected falsely.
NoFaults == MaxCrashes + MaxBrokenLinks + MaxEarlyTimeouts + MaxLateTimeouts + MaxFalseSuspicions = 0

\* Without faults a merge that was agreed on is not half a merge: of two views that follow one, no member has
\* installed one of them.
NoLiveBranch ==
    NoFaults =>
        \A j, k \in DOMAIN views :
            (j > Len(First) /\ j < k /\ views[j].preds \cap views[k].preds # {}) =>
                \E i \in {j, k} : \A m \in up : installed[m] # i

\* Nothing is on its way, no member is in a merge, no timer runs, and the membership service has nothing to do.
Quiescent ==
    /\ \A p \in network : p.to \notin up
    /\ \A m \in up :
        /\ ~Merging(local[m]) /\ timers[m] = {} /\ ~Waits(local[m])
        /\ ~MustExclude(m) /\ NextOf(m) = {}

\* There is nothing to discover.
NothingToDiscover == Cardinality(Coordinators) <= 1

\* A member that is alive, and was ever in a view, is in one, of the members that are alive, with one coordinator.
Converged ==
    LET there == {m \in up : installed[m] # 0} IN
    /\ \A m, x \in there : installed[m] = installed[x]
    /\ \A m \in there : MembersOf(local[m].decision) = there
    /\ there # {} => Cardinality(Coordinators) = 1

\* MRG-34: as long as the members that are alive are not in one view with a coordinator, something happens, or
\* there are two coordinators for discovery to find.
ConvergedWhenQuiescent == (Quiescent /\ NothingToDiscover) => Converged

NoMessageSkipped == [][NoMessageSkippedStep]_vars
NoDuplicateDelivery == [][NoDuplicateDeliveryStep]_vars
StartsAtMergedDigest == [][StartsAtMergedDigestStep]_vars

-----------------------------------------------------------------------------
(* Mechanism *)

\* MRG-04: who begins a merge is the first of the coordinators that it has found.
FirstCoordinatorLeadsStep ==
    act'.action = "Discover" =>
        LET m == act'.member IN
        local'[m] # local[m] => Leads(local'[m]) /\ m = FirstOf(act'.event.found)

\* MRG-11, MRG-23: a member is in one merge at a time: it comes to another one from none.
OneMergeAtATimeStep ==
    \A m \in Member :
        (Merging(local[m]) /\ Merging(local'[m])) => local'[m].merge = local[m].merge

\* MRG-24, MRG-27: a coordinator takes the view of the merge that it is in, and of no other.
InstallsOwnMergeOnlyStep ==
    (act'.action = "ReceiveInstallMergeView" /\ act'.outcome = "handled") =>
        local[act'.member].merge = act'.event.message.merge_id

\* MRG-25: who is in a merge has a timer that will end it.
MergingHasTimer == \A m \in up : Merging(local[m]) => timers[m] = {local[m].begun}

\* AMB-45: a timer ends the merge that it was set in.
TimerEndsOnlyItsMergeStep ==
    act'.action = "TimeOutLate" => local'[act'.member].merge = local[act'.member].merge

\* AMB-48: while it is in a merge, a coordinator's subgroup stays as it said.
ViewHeldWhileMerging == \A m \in up : Merging(local[m]) <=> m \in held

\* MRG-18: the merged digest has, entry by entry, the greatest value of the digests that the merged coordinators keep
\* promised, as long as they are in this merge.
MergedDigestIsMaximumStep ==
    (act'.outcome # "none" /\ Leads(local[act'.member])) =>
        \A e \in Passed(act'.effects, "PassUp", "MergeViewInstalled") :
            LET leader == act'.member
                d == local'[leader].decision
                merged == {c \in Asked(local[leader]) :
                            local[c].decision.id \in e.subgroups /\ local[c].merge = local[leader].merge}
                vectors == {k.vector : k \in {k \in kept[leader] : k.to \in merged}}
                    \cup {k.vector : k \in {k \in UNION {kept[c] : c \in merged} : k.to = leader}}
            IN \A x \in UNION {DOMAIN v : v \in vectors} :
                IF x \in DOMAIN d.digest
                THEN d.digest[x] = Max({v[x] : v \in {v \in vectors : x \in DOMAIN v}})
                ELSE FALSE

\* The members to which a coordinator that installs a merged view has promised its digest. For the leader: every
\* member that it has asked, and that is in the merged view but was not in its own. For the others: the leader.
PromisedBefore(m) ==
    IF act'.event.type = "InstallMergeViewReceived" THEN {act'.event.sender}
    ELSE IF Leads(local[m])
    THEN (Asked(local[m]) \cap MembersOf(local'[m].decision)) \ MembersOf(local[m].decision)
    ELSE {}

\* In the place of StartRequiresPromise (JoinDigest): a coordinator installs a merged view while its promise is open,
\* and the view's digest has the promised entries of its members.
MergedViewRedeemsPromiseStep ==
    \A e \in Passed(act'.effects, "PassUp", "MergeViewInstalled") :
        LET m == act'.member
            told == local'[m].decision.digest
        IN \A x \in PromisedBefore(m) : \E k \in kept[m] :
            k.to = x /\ \A s \in DOMAIN k.vector : IF s \in DOMAIN told THEN told[s] = k.vector[s] ELSE FALSE

\* In the place of WithdrawOnlyIfUnusable (JoinDigest): a promise is open as long as its coordinator is in the merge that it
\* was made in, to whose view it comes from there alone (InstallsOwnMergeOnly), and no longer.
PromiseOpenWhileMerging ==
    \A m \in up :
        {k.to : k \in kept[m]} =
            IF ~Merging(local[m]) THEN {}
            ELSE (IF Leads(local[m]) THEN Asked(local[m]) ELSE {local[m].merge.leader})
                 \ MembersOf(local[m].decision)

\* LAY-06, MRG-31: a merged view is announced when it is installed: to the membership service, then to those
\* above.
ViewAnnouncedOnceStep ==
    act'.outcome # "none" =>
        LET m == act'.member
            Announces(effect) ==
                effect.type \in {"PassDown", "PassUp"}
                    /\ effect.event.type \in {"MergeDecided", "MergeViewInstalled"}
            said == SelectSeq(act'.effects, Announces)
            merged == local'[m].decision # local[m].decision /\ act'.event.type # "DecisionInstalled"
        IN [i \in DOMAIN said |-> <<said[i].type, said[i].event.type>>] =
            IF merged THEN <<<<"PassDown", "MergeDecided">>, <<"PassUp", "MergeViewInstalled">>>> ELSE <<>>

\* AMB-39, AMB-42: a leader that leaves its merge sends each coordinator that it has asked the merged view, or
\* CANCEL_MERGE, but for a coordinator that rejects in this step.
LeaderEndsMergeForAllStep ==
    LET m == act'.member
        before == local[m]
        rejects ==
            IF act'.event.type # "MergeRspReceived" THEN {}
            ELSE IF act'.event.message.rejected THEN {act'.event.sender} ELSE {}
        ended == {i \in DOMAIN act'.effects :
                    act'.effects[i].type = "Send"
                        /\ act'.effects[i].message.type \in {"INSTALL_MERGE_VIEW", "CANCEL_MERGE"}}
    IN (act'.outcome # "none" /\ Merging(before) /\ Leads(before) /\ ~Merging(local'[m])) =>
        Asked(before) \ rejects \subseteq {act'.effects[i].to : i \in ended}

\* MRG-10, MRG-35: only coordinators are merged.
OnlyCoordinatorsAccept ==
    \A p \in network : (p.message.type = "MERGE_RSP" /\ ~p.message.rejected) =>
        CoordinatorOf(p.message.decision) = p.sender

FirstCoordinatorLeads == [][FirstCoordinatorLeadsStep]_vars
OneMergeAtATime == [][OneMergeAtATimeStep]_vars
InstallsOwnMergeOnly == [][InstallsOwnMergeOnlyStep]_vars
TimerEndsOnlyItsMerge == [][TimerEndsOnlyItsMergeStep]_vars
MergedDigestIsMaximum == [][MergedDigestIsMaximumStep]_vars
MergedViewRedeemsPromise == [][MergedViewRedeemsPromiseStep]_vars
ViewAnnouncedOnce == [][ViewAnnouncedOnceStep]_vars
LeaderEndsMergeForAll == [][LeaderEndsMergeForAllStep]_vars

-----------------------------------------------------------------------------
(* Frame: a step belongs to one member, and others change through its effects alone. This is what makes *)
(* local steps speak for the whole model.                                     *)

\* (What was sent to a member waits for its next incarnation, and is given to that.)
ComesFrom(p) ==
    \E q \in network :
        /\ q.sender = p.sender /\ q.message = p.message
        /\ q.to = p.to \/ {q.to, p.to} = {act'.member, NextLife(act'.member)}

OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ UnchangedUnlessHandled
    /\ IF act'.outcome = "none" THEN network' \subseteq network \/ \A p \in network' : ComesFrom(p)
       ELSE network' = AfterStep(network, act'.member, act'.consumed, act'.effects, up')

OnlyByEffects == [][OnlyByEffectsStep]_vars

-----------------------------------------------------------------------------
(* Refinement: the subgroups are what Membership promises; and each of its conjuncts by itself. *)

\* Each step of the group is a step of Membership.
RefinesMembershipStep == (views' # views \/ installed' # installed \/ life' # life) => Membership!Next
RefinesMembership == [][RefinesMembershipStep]_vars

MembershipAlone(conjunct) == INSTANCE Membership WITH Off <- Membership!Conjuncts \ {conjunct}
GivesMembership(conjunct) ==
    (views' # views \/ installed' # installed \/ life' # life) => MembershipAlone(conjunct)!Next

GivesUniqueViewIdStep == GivesMembership("UniqueViewId")
GivesCounterIncreasesStep == GivesMembership("CounterIncreases")
GivesCreatorFromPredecessorStep == GivesMembership("CreatorFromPredecessor")
GivesWellFormedViewStep == GivesMembership("WellFormedView")
GivesValidIncarnationsStep == GivesMembership("ValidIncarnations")
GivesExcludedFirstStep == GivesMembership("ExcludedFirst")
GivesJoinersAreNewStep == GivesMembership("JoinersAreNew")
GivesJoinsOnceStep == GivesMembership("JoinsOnce")
GivesSelfInclusionStep == GivesMembership("SelfInclusion")
GivesSinglePathStep == GivesMembership("SinglePath")

GivesUniqueViewId == [][GivesUniqueViewIdStep]_vars
GivesCounterIncreases == [][GivesCounterIncreasesStep]_vars
GivesCreatorFromPredecessor == [][GivesCreatorFromPredecessorStep]_vars
GivesWellFormedView == [][GivesWellFormedViewStep]_vars
GivesValidIncarnations == [][GivesValidIncarnationsStep]_vars
GivesExcludedFirst == [][GivesExcludedFirstStep]_vars
GivesJoinersAreNew == [][GivesJoinersAreNewStep]_vars
GivesJoinsOnce == [][GivesJoinsOnceStep]_vars
GivesSelfInclusion == [][GivesSelfInclusionStep]_vars
GivesSinglePath == [][GivesSinglePathStep]_vars

-----------------------------------------------------------------------------
(* JoinDigest, conjunct by conjunct. A promise is made to the leader, which   *)
(* passes it to all members in the digest of the merged view. A promiser may  *)
(* give up while that view is decided. So StartRequiresPromise and            *)
(* WithdrawOnlyIfUnusable are not guaranteed as written there.                *)
(* MergedViewRedeemsPromise and PromiseOpenWhileMerging take their place.     *)

JoinDigestAlone(conjunct) ==
    INSTANCE JoinDigest WITH Off <- JoinDigest!Conjuncts \ {conjunct}, delivered <- DeliveredByAll,
                             promises <- OpenPromises, held <- HeldFor

\* The members to which a step promises the digest.
PromisedIn(effects) == {e.to : e \in Down(effects, "DigestPromised")}
MadeWith(conjunct) ==
    \A to \in PromisedIn(act'.effects) : JoinDigestAlone(conjunct)!MayPromise(act'.member, to)

GivesPromiseeIsOutsideStep == MadeWith("PromiseeIsOutside")
GivesOneOpenPromiseStep == MadeWith("OneOpenPromise")

\* The digest that is given with a promise: a leader gives it to the members that install its view, the others give it
\* with their answer.
HandedOut(m) ==
    IF Leads(local'[m]) THEN {local'[m].responses[m].digest}
    ELSE {act'.effects[i].message.digest : i \in {i \in DOMAIN act'.effects : act'.effects[i].type = "Send"}}

GivesDigestIsDeliveredStep ==
    PromisedIn(act'.effects) # {} => HandedOut(act'.member) = {DeliveredByAll[act'.member]}

\* The digest of a merged view has an entry for every member of the view.
GivesDigestIsCompleteStep ==
    \A e \in Passed(act'.effects, "PassUp", "MergeViewInstalled") :
        LET d == local'[act'.member].decision IN MembersOf(d) \subseteq DOMAIN d.digest

GivesPromiseeIsOutside == [][GivesPromiseeIsOutsideStep]_vars
GivesOneOpenPromise == [][GivesOneOpenPromiseStep]_vars
GivesDigestIsDelivered == [][GivesDigestIsDeliveredStep]_vars
GivesDigestIsComplete == [][GivesDigestIsCompleteStep]_vars

-----------------------------------------------------------------------------
(* Liveness *)

Arrives(m, x) == m \in up /\ \E p \in network : p.to = m /\ p.sender = x
ReceiveFrom(m, x) ==
    \/ MergeReqFrom({x}, m) \/ MergeRspFrom({x}, m) \/ InstallMergeViewFrom({x}, m) \/ MergeViewFrom({x}, m)
    \/ CancelMergeFrom({x}, m)

Times(m) == m \in up /\ timers[m] # {} /\ MustTimeOut(m)
Leaves(m) == m \in up /\ MustExclude(m)
Follows(m) == m \in up /\ NextOf(m) # {}
FollowsEarly(m) == m \in up /\ Waits(local[m])
Leader(m) ==
    /\ Coordinators # {} /\ Coordinators # {m} /\ FirstOf(Coordinators) = m /\ ~Merging(local[m])
    /\ MayDiscover(m) /\ spent.merges < MaxMerges

\* Messages in transit arrive, timers fire, the membership service takes its required steps, and discovery is asked
\* again and again. This is weak fairness, with the state predicate given in which the action can be taken. (TLC
\* remembers no LET when it asks whether an action is ENABLED: a step of Merge would be computed hundreds of times.)
Fairness ==
    \A m \in Member :
        /\ \A x \in Member : []<>(~Arrives(m, x)) \/ []<><<ReceiveFrom(m, x)>>_vars
        /\ []<>(~Times(m)) \/ []<><<TimeOut(m)>>_vars
        /\ []<>(~Leaves(m)) \/ []<><<Exclude(m)>>_vars
        /\ []<>(~Follows(m)) \/ []<><<InstallView(m)>>_vars
        /\ []<>(~MayFound(m)) \/ []<><<Found(m)>>_vars
        /\ []<>(~FollowsEarly(m)) \/ []<><<InstallEarly(m)>>_vars
        /\ []<>(~Leader(m)) \/ []<><<Discover(m)>>_vars

LiveSpec == Init /\ [][Next]_vars /\ Fairness

THEOREM Spec => Membership!Spec

\* A merge that a member is in ends, whoever crashes.
MergesEventuallyEnd == \A m \in Member : [](Merging(local[m]) => <>(m \notin up \/ ~Merging(local[m])))

\* When faults have stopped, all who are alive come to be in one view, and stay there.
EventuallyConverged == <>[]Converged
=============================================================================
