--------------------------- MODULE MergeGmsClaims ---------------------------
(******************************************************************************)
(* Claims about a group that runs merging over GMS.                           *)
(******************************************************************************)
EXTENDS MergeGmsGroup

Membership == INSTANCE Membership WITH Off <- {}

-----------------------------------------------------------------------------
(* Types *)

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m /\ s.gms.member = m /\ s.merge.member = m
    /\ s.holds \in {"no", "stopping", "digest", "merging"}
    /\ s.holds = "merging" <=> M!Merging(s.merge)
    /\ s.holds = "merging" => ~Wishes(s)
    /\ \A i \in DOMAIN s.early : s.early[i].message.type \in {"QUERY", "PROBE"}
    /\ s.merge.early = <<>>
    /\ \A p \in s.probed : p.to \in Member \ {m}

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ \A p \in network : p.sender \in Member /\ p.to \in up \cup {NextLife(m) : m \in Inheritors}
                         /\ p.message.type \in DOMAIN Names
    /\ Membership!MembershipTypeOK

-----------------------------------------------------------------------------
(* Outcomes *)

\* Both are in one view.
SameViewInBothLayers == \A m \in up : local[m].merge.decision = Own(local[m])

\* A member that has installed a view has installed the same one.
SameIdSameView ==
    \A m, x \in up :
        (InView(local[m]) /\ Own(local[m]).id = Own(local[x]).id) =>
            /\ [Own(local[m]) EXCEPT !.follows = NoViewId] = [Own(local[x]) EXCEPT !.follows = NoViewId]

\* Nothing is lost, no timer fires too soon, no member crashes and no member is suspected falsely.
NoFaults == MaxCrashes + MaxEarlyTimeouts + MaxBrokenLinks + MaxFalseSuspicions = 0

\* Of two views that follow one, no member has installed one of them.
NoLiveBranch ==
    NoFaults =>
        \A j, k \in DOMAIN views :
            (j > Len(First) /\ j < k /\ views[j].preds \cap views[k].preds # {}) =>
                \E i \in {j, k} : \A m \in up : installed[m] # i

\* Two live members that survived a view together stay together, whatever a merge does to them.
MergeSplitsNoGroup ==
    MaxFalseSuspicions = 0 =>
        \A x, y \in up :
            LET j == installed[x]
                k == installed[y]
            IN (j # 0 /\ k # 0 /\ j # k /\ ~Ancestor(j, k) /\ ~Ancestor(k, j)) =>
                ~\E i \in DOMAIN views : Ancestor(i, j) /\ Ancestor(i, k)
                    /\ Has(views[i], x, life[x]) /\ Has(views[i], y, life[y])

\* Two subgroups have let this incarnation of x in, each by a view of its own.
AdmittedTwice(x) ==
    \E j, k \in DOMAIN views :
        j < k /\ x \in views[j].joins \cap views[k].joins /\ Has(views[j], x, life[x]) /\ Has(views[k], x, life[x])

\* The incarnation of x in m's view; before m's first view, the present one.
LifeFor(m, x) == IF x \in DOMAIN Own(local[m]).lives THEN Own(local[m]).lives[x] ELSE life[x]

\* (But for a member that has left, a member that a leaver has left out, and a joiner that two subgroups let in: it
\* enters one of them, and the other excludes it. A subgroup may let in a joiner that is over, as it has left the other:
\* its next incarnation is not suspected.)
NoSuspicionWithoutFaults ==
    NoFaults =>
        \A m \in up :
            local[m].gms.leaving \/ \A x \in {x \in Suspects(m) \cap up : LifeFor(m, x) = life[x]} : AdmittedTwice(x)

\* Nothing is on its way, and no member has anything to do but join.
Quiescent ==
    /\ stops.asked = {} /\ \A p \in network : p.to \notin up
    /\ \A m \in up : IsIdle(m) /\ ~CanDiscover(m)

There == {m \in up : InView(local[m])}

\* All who are alive are in one view, and wait for nothing.
Converged ==
    /\ \A m \in There : ViewMembers(m) = There /\ \A x \in There : installed[x] = installed[m]
    /\ \A m \in There :
        LET s == local[m] IN
        /\ s.gms.awaits = {} /\ s.gms.owed = {} /\ s.gms.queue = <<>>
        /\ ~Wishes(s) /\ s.holds = "no" /\ s.early = <<>>
        /\ s.gms.phase = IF Coordinates(s) THEN "at rest" ELSE "following"
        /\ ~s.gms.leaving

\* A group that has come to rest is in one view, and waits for nothing.
ConvergedWhenQuiescent == Quiescent => Converged

\* Any member that acts takes no notice when m asks to join, or answers with what m takes no notice of.
AsksInVain(m) ==
    /\ Coordinators # {}
    /\ \A c \in {c \in up : G!IsActing(local[c].gms)} :
        \E asked \in {Step(local[m], [type |-> "JoinRequested", coordinator |-> c, life |-> life[m]])} :
        \E answered \in {Step(local[c], [type |-> "JoinReqReceived", sender |-> m,
                                        message |-> G!JoinReq(life[m])])} :
            /\ answered.state = local[c]
            /\ \A i \in DOMAIN answered.effects :
                Step(asked.state, EventOf(Packet(c, m, answered.effects[i].message))).outcome = "ignored"

\* FLAW-133: who asks again and again comes in, or is refused and asks as another incarnation.
NoJoinerAsksForever == Quiescent => \A m \in up \ There : ~AsksInVain(m)

\* All members that install a merged view have delivered the same before it: every message of the earlier views is
\* delivered.
SameDeliveriesBeforeMerge ==
    \A m, x \in up \cap stops.held :
        (installed[m] = installed[x] /\ installed[m] # 0 /\ IsMerged(installed[m])) =>
            \A y \in ViewMembers(m) : seen[m][y] = seen[x][y]

\* A member still delivers every message that it lacks from the members that were with it; and no message twice.
NoMessageSkippedStep ==
    act'.outcome # "none" =>
        \A x \in ViewMembers(act'.member) : seen'[act'.member][x] = seen[act'.member][x]
NoMessageSkipped == [][NoMessageSkippedStep]_vars

\* And no member is stopped any more.
ResumedWhenQuiescent == Quiescent => stops = [asked |-> {}, given |-> {}, held |-> {}]

-----------------------------------------------------------------------------
(* Mechanism *)

\* While a coordinator is in a merge its subgroup's view is what it said: the next one is merged.
ViewHeldWhileMergingStep ==
    \A m \in up' :
        (Merging(m) /\ installed'[m] \notin {0, installed[m]}) => Cardinality(views'[installed'[m]].preds) > 1

\* Each awaited event has been asked for. GMS waits for the group, which is asked for or which merging has. Merging
\* waits for the group, or for the digest that its deferred event needs.
AwaitedIsRequested ==
    \A m \in up :
        LET s == local[m] IN
        /\ s.gms.phase = "stopping" => m \in stops.asked \/ s.holds # "no"
        /\ s.holds = "stopping" => m \in stops.asked
        /\ s.holds = "digest" => Wishes(s) /\ \E a \in answers[m] : a.asker = Self

\* No member decides a view, or gives its digest away, but when the group is stopped for it.
DecidesAndPromisesOnlyWhenStoppedStep ==
    act'.outcome = "handled" =>
        LET m == act'.member
            s == local'[m]
            decides == G!Leads(s.gms) /\ Own(s) # Own(local[m]) /\ Own(s).id.creator = m
                       /\ InView(local[m])
        IN (decides \/ Down(act'.effects, "GetDigest") # {} \/ Down(act'.effects, "DigestPromised") # {}) =>
                m \in stops.given \/ act'.event.type = "GroupStopped"

\* The group is resumed when every member that Resume reaches has the view.
ResumesAfterAllInstalledStep ==
    (act'.outcome = "handled" /\ Up(act'.effects, "Resume") # {}) =>
        LET m == act'.member IN
        \A x \in Reaches(m, MembersOf(Own(local'[m])) \ local'[m].gms.suspected) :
            installed'[x] = installed'[m] \/ Ancestor(installed'[m], installed'[x])

\* A member that is in no merge, and admits no member, has promised nothing.
PromiseOnlyWhileNeeded ==
    \A m \in up :
        (~Merging(m) /\ local[m].gms.admitting = 0) => kept[m] = {}

\* A member remembers exactly the probes that it has sent since it installed its view.
ProbedSinceInstalledStep ==
    act'.outcome = "handled" =>
        LET m == act'.member
            effects == act'.effects
            sent == {[id |-> effects[i].message.view_id, to |-> effects[i].to] :
                        i \in {i \in DOMAIN effects : effects[i].type = "Send" /\ effects[i].message.type = "PROBE"}}
        IN local'[m].probed = (IF installed'[m] = installed[m] THEN local[m].probed ELSE {}) \cup sent
ProbedSinceInstalled == [][ProbedSinceInstalledStep]_vars

\* LAY-06, MRG-31: a view is announced below, then above, once, when it is installed; a merged one as such,
\* after the windows of the members that are new.
ViewAnnouncedOnceStep ==
    act'.outcome # "none" =>
        LET m == act'.member
            Announces(effect) ==
                effect.type \in {"PassDown", "PassUp"} /\ effect.event.type \in
                    {"WindowsAdded", "ViewInstalled", "MergeViewInstalled"}
            said == SelectSeq(act'.effects, Announces)
            words == [i \in DOMAIN said |-> said[i].event.type]
        IN IF installed'[m] = installed[m] THEN said = <<>>
           ELSE IF Cardinality(views'[installed'[m]].preds) > 1
           THEN words = <<"WindowsAdded", "ViewInstalled", "MergeViewInstalled">>
           ELSE words = <<"ViewInstalled", "ViewInstalled">>
ViewAnnouncedOnce == [][ViewAnnouncedOnceStep]_vars

ViewHeldWhileMerging == [][ViewHeldWhileMergingStep]_vars
DecidesAndPromisesOnlyWhenStopped == [][DecidesAndPromisesOnlyWhenStoppedStep]_vars
ResumesAfterAllInstalled == [][ResumesAfterAllInstalledStep]_vars

-----------------------------------------------------------------------------
(* Liveness *)

\* As long as a member has an enabled step, some step is taken; the member and the step are left open. (So this is
\* weaker than weak fairness of each action, and what follows from it says more. Faults, and what applications do, is
\* bounded.)
Fairness == []<>(\A m \in Member : ~HasToDo(m) /\ ~MustAsk(m)) \/ []<><<TRUE>>_vars

LiveSpec == Init /\ [][\E m \in Member : Next(m)]_vars /\ Fairness

\* A merge that a member is in ends, and what it waits with for the group.
MergesEventuallyEnd == \A m \in Member : [](Merging(m) => <>(m \notin up \/ ~Merging(m)))
PendingMergesEventuallyEnd == \A m \in Member : [](Wishes(local[m]) => <>(m \notin up \/ ~Wishes(local[m])))

\* AMB-29: a joiner that asks for as long as it is in no view comes in, or is refused, which ends it (FLAW-133).
JoinersEventuallyIn == \A m \in Member : [](local[m].gms.joining => <>(m \notin up \/ InView(local[m])))

\* All who are alive come to be in one view, wait for nothing, are not stopped, and stay there.
EventuallyConverged == <>[](Converged /\ stops = [asked |-> {}, given |-> {}, held |-> {}])

-----------------------------------------------------------------------------
(* Frame *)

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
(* Refinement *)

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

\* JoinDigest, conjunct by conjunct. As in MergeClaims, what a leader has been promised it hands on in the
\* digest of the merged view, and who has promised may give up while that is decided: StartRequiresPromise and
\* WithdrawOnlyIfUnusable are not given as they stand there.
OpenPromises ==
    UNION {{[by |-> m, by_life |-> life[m], view |-> installed[m], to |-> k.to, to_life |-> k.life,
             vector |-> k.vector] : k \in kept[m]} : m \in up}
DeliveredByAll == [m \in Member |-> DeliveredBy(m)]
HeldFor == [m \in Member |-> {k.to : k \in kept[m]}]
JoinDigest ==
    INSTANCE JoinDigest WITH Off <- {}, delivered <- DeliveredByAll, promises <- OpenPromises, held <- HeldFor
JoinDigestAlone(conjunct) ==
    INSTANCE JoinDigest WITH Off <- JoinDigest!Conjuncts \ {conjunct}, delivered <- DeliveredByAll,
                             promises <- OpenPromises, held <- HeldFor

MadeWith(conjunct) ==
    \A to \in {e.to : e \in Down(act'.effects, "DigestPromised")} :
        JoinDigestAlone(conjunct)!MayPromise(act'.member, to)
GivesPromiseeIsOutsideStep == MadeWith("PromiseeIsOutside")
GivesOneOpenPromiseStep == MadeWith("OneOpenPromise")

\* The digest that merging is given is what is delivered when it is promised. (Of GMS see GmsClaims.)
GivesDigestIsDeliveredStep ==
    (act'.event.type = "DigestGiven" /\ act'.outcome = "handled") =>
        act'.event.digest = DeliveredBy(act'.member)

\* The digest of a view has an entry for every earlier member.
GivesDigestIsCompleteStep ==
    act'.outcome = "handled" =>
        /\ \A e \in Up(act'.effects, "MergeViewInstalled") :
            MembersOf(Own(local'[act'.member])) \subseteq DOMAIN Own(local'[act'.member]).digest
        /\ \A e \in Down(act'.effects, "DigestSet") :
            MembersOf(Own(local'[act'.member])) \ Own(local'[act'.member]).joiners \subseteq DOMAIN e.digest

GivesPromiseeIsOutside == [][GivesPromiseeIsOutsideStep]_vars
GivesOneOpenPromise == [][GivesOneOpenPromiseStep]_vars
GivesDigestIsDelivered == [][GivesDigestIsDeliveredStep]_vars
GivesDigestIsComplete == [][GivesDigestIsCompleteStep]_vars
\* StopRequests, conjunct by conjunct: what FLUSH relies on, of GMS and merging together. (See GmsClaims.)
Requests ==
    INSTANCE StopRequests WITH Off <- {}, suspects <- SuspectsOfAll, asked <- stops.asked, given <- stops.given
RequestsAlone(conjunct) ==
    INSTANCE StopRequests WITH Off <- Requests!Conjuncts \ {conjunct}, suspects <- SuspectsOfAll,
                               asked <- stops.asked, given <- stops.given
GivesRequests(conjunct) ==
    act'.outcome = "handled" =>
        \E m \in {act'.member} :
            RequestsAlone(conjunct)!Act(m, act'.event = StoppedFor(G!Self) /\ m \in stops.asked,
                                        Up(act'.effects, "Suspend") # {}, Up(act'.effects, "Resume") # {})

GivesActingAsksStep == GivesRequests("ActingAsks")
GivesAsksWhenInstalledStep == GivesRequests("AsksWhenInstalled")
GivesDecidesWhenStoppedStep == GivesRequests("DecidesWhenStopped")
GivesResumesOwnStopStep == GivesRequests("ResumesOwnStop")
GivesResumesWhenInstalledStep == GivesRequests("ResumesWhenInstalled")
GivesJoinersLastStep == GivesRequests("JoinersLast")

GivesActingAsks == [][GivesActingAsksStep]_vars
GivesAsksWhenInstalled == [][GivesAsksWhenInstalledStep]_vars
GivesDecidesWhenStopped == [][GivesDecidesWhenStoppedStep]_vars
GivesResumesOwnStop == [][GivesResumesOwnStopStep]_vars
GivesResumesWhenInstalled == [][GivesResumesWhenInstalledStep]_vars
GivesJoinersLast == [][GivesJoinersLastStep]_vars
=============================================================================
