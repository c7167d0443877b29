----------------------------- MODULE GmsClaims ------------------------------
(******************************************************************************)
(* Claims about a group that runs GMS. A claim is an outcome that the group's *)
(* users see (first section), a mechanism that the requirements name, a frame *)
(* condition of the model, a refinement, or liveness. Each claim is violated  *)
(* in some model of models.yaml.                                              *)
(******************************************************************************)
EXTENDS GmsGroup

DeliveredByAll == [m \in Member |-> DeliveredBy(m)]

Membership == INSTANCE Membership WITH Off <- {}
\* A promise is held from when the digest is asked for until its view is decided, and with that installed, or until the
\* request is dropped.
HeldFor == [m \in Member |-> Promisees(local[m])]

JoinDigest == INSTANCE JoinDigest WITH Off <- {}, delivered <- DeliveredByAll, held <- HeldFor

-----------------------------------------------------------------------------
(* Types *)

RequestTypeOK(r) == r.kind \in {"join", "leave"} /\ r.member \in Member /\ r.life \in Nat

DecisionTypeOK(d) ==
    /\ d.id.counter \in Nat
    /\ MembersOf(d) \subseteq Member
    /\ DOMAIN d.lives \subseteq Member /\ MembersOf(d) \subseteq DOMAIN d.lives
    /\ d.joiners \subseteq MembersOf(d)
    /\ DOMAIN d.digest \subseteq Member

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ s.life \in {0, life[m]}
    /\ DecisionTypeOK(s.decision) /\ DecisionTypeOK(s.newest)
    /\ s.suspected \subseteq Member /\ s.awaits \subseteq Member /\ s.owed \subseteq Member
    \* A member that does more than to follow acts; and each field is used in its phases alone.
    /\ s.phase \in {Phases[i] : i \in DOMAIN Phases}
    /\ s.phase # "following" => IsActing(s) \/ s.gone
    /\ s.awaits # {} => s.phase = "asking" \/ Spreads(s)
    /\ s.newest # NoDecision => s.phase = "asking"
    /\ s.took_over => Spreads(s)
    /\ s.owed # {} => s.phase \in {"announcing", "admitting"}       \* (admitting: where DigestTakenWhen = "answering")
    /\ s.admitting > 0 <=> s.phase = "admitting"
    \* A member that wants to leave, or has left, was in a view. A refused process was in no view, and had asked.
    /\ s.leaving => InView(s)
    /\ s.gone => InView(s) \/ s.joining
    /\ \A i \in DOMAIN s.queue : RequestTypeOK(s.queue[i])
    /\ s.admitting \in 0 .. Len(s.queue)
    /\ s.asked \in Nat
    /\ s.leave_asked \in Member \cup {""}
    /\ {s.joining, s.took_over, s.leaving, s.gone} \subseteq BOOLEAN

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ \A p \in network :
        p.sender \in Member /\ p.to \in up \cup {NextLife(m) : m \in Inheritors}
        /\ p.message.type \in {"JOIN_REQ", "JOIN_RSP", "JOIN_REFUSED", "LEAVE_REQ", "LEAVE_RSP", "NEW_VIEW", "VIEW_ACK",
                               "QUERY", "ANSWER"}
    /\ up \subseteq Member
    /\ \A m \in Member : \A x \in Member : seen[m][x] \in Nothing .. Nothing + MaxCasts
    /\ \A m \in Member : transfers[m] \subseteq 1 .. MaxStateTransfers
    /\ stops.asked \subseteq up /\ stops.given \subseteq up /\ stops.held \subseteq up
    /\ Membership!MembershipTypeOK
    /\ JoinDigest!JoinDigestTypeOK

-----------------------------------------------------------------------------
(* Outcomes *)

\* AMB-40: an identifier names one list of members.
ViewIdsAreUnique == \A j, k \in DOMAIN views : views[j].id = views[k].id => j = k

\* Without false suspicions: of two views that follow one, no member alive has installed one of them.
NoLiveBranch == MaxFalseSuspicions = 0 => Membership!NoLiveBranchIn(up)

\* MBR-11: without false suspicions, who is in a view and not in the next is dead, or wanted to leave. (Every
\* view contains every earlier accepted join.)
ExcludedOnlyIfDeadOrLeaving ==
    MaxFalseSuspicions = 0 =>
        \A k \in DOMAIN views : \A j \in views[k].preds :
            \A x \in DOMAIN views[j].lives \ DOMAIN views[k].lives :
                x \in up => life[x] # views[j].lives[x] \/ local[x].leaving

\* MBR-09, MBR-10: no view admits an incarnation that was in an earlier view of its branch. (No view contains an
\* earlier accepted leave.)
IncarnationNotReadmitted ==
    \A k \in DOMAIN views : \A x \in views[k].joins :
        ~\E j \in 1 .. k - 1 : Has(views[j], x, views[k].lives[x]) /\ Ancestor(j, k)

\* Of each name GMS knows the latest incarnation, and besides it only the members of the view. So its knowledge grows
\* with names, not with incarnations.
FormerIncarnationsForgotten ==
    \A m \in up : Superseded(DOMAIN local[m].decision.lives) \subseteq MembersOfView(local[m])

\* JOI-01: a joiner's start digest is the promised digest, taken when its coordinator asked for it. A lower digest
\* repeats messages that are in the joiner's state; a higher one skips messages.
JoinerStartsAtPromiseStep ==
    \A d \in {e.digest : e \in Down(act'.effects, "DigestSet")} :
        \E p \in promises :
            /\ p.to = act'.member /\ p.to_life = life[p.to]
            /\ \A s \in DOMAIN d : s \in DOMAIN p.vector /\ d[s] = p.vector[s]

\* It starts with members of its view alone: who was suspected while the digest was awaited is not in it.
StartDigestIsOfMembersStep ==
    \A d \in {e.digest : e \in Down(act'.effects, "DigestSet")} : DOMAIN d \subseteq MembersOfView(local'[act'.member])

StartDigestIsOfMembers == [][StartDigestIsOfMembersStep]_vars

\* JOI-13: it starts after nothing that was multicast in a view that it is in.
JoinerMissesNothingStep ==
    \A d \in {e.digest : e \in Down(act'.effects, "DigestSet")} : \A s \in DOMAIN d :
        \A n \in 1 .. d[s] - Nothing :
            (n \in DOMAIN cast[s] /\ life[s] = views[installed'[act'.member]].lives[s]) =>
                ~Has(views[cast[s][n]], act'.member, life[act'.member])

\* AMB-28: whoever the failure detector has reported, while it waited for admission or later, is suspected as
\* a member, and so does not stay.
ReportedAreSuspected ==
    \A m \in up : \A w \in told[m] :
        w[1] \in MembersOf(local[m].decision) =>
            w[1] \in local[m].suspected \/ LifeOf(local[m], w[1]) # w[2]

\* JOI: a promise is open for as long as its maker means to keep it: it awaits the digest, or has decided the
\* view.
OpenPromiseIsInUse ==
    \A p \in promises :
        (p.by \in up /\ life[p.by] = p.by_life) =>
            \/ p.to \in Promisees(local[p.by])
            \/ \E k \in DOMAIN views : p.view \in views[k].preds /\ Has(views[k], p.to, p.to_life)
            \/ life[p.to] # p.to_life

\* EVT-03: who asked for a digest gets it.
DigestRequestAnswered ==
    \A m \in up : \A n \in transfers[m] : \E a \in answers[m] : a.asker # Self /\ a.request = n

\* The caller of Suspend is answered.
StopPassedDownStep ==
    \A asker \in {"STATE_TRANSFER"} :
        act'.event = StoppedFor(asker) => act'.effects = <<PassDown(StoppedFor(asker))>>
StopPassedDown == [][StopPassedDownStep]_vars

\* Any member that acts takes no notice when m asks to join, or answers with what m takes no notice of: it asks again and
\* again, and nothing comes of it.
AsksInVain(m) ==
    \A c \in {c \in up : IsActing(local[c])} :
        \E asked \in {MemberStep(local[m], [type |-> "JoinRequested", coordinator |-> c, life |-> life[m]])} :
        \E answered \in {MemberStep(local[c], [type |-> "JoinReqReceived", sender |-> m,
                                              message |-> JoinReq(life[m])])} :
            /\ answered.state = local[c]
            /\ \A i \in DOMAIN answered.effects :
                MemberStep(asked.state, EventOf(Packet(c, m, answered.effects[i].message))).outcome = "ignored"

\* Nothing is on its way, no member waits for the group to be stopped, the failure detector has nothing to say,
\* who asks asks in vain.
Quiescent ==
    /\ \A p \in network : p.to \notin up
    /\ stops.asked = {}
    /\ \A m \in up :
        /\ answers[m] = {} /\ Reports(m) = {}
        /\ ~InView(local[m]) => AsksInVain(m)

\* Each branch of views: who is alive and in a view shares it with all who are in it, and no member waits to leave.
LinesSettled ==
    \A m \in {m \in up : InView(local[m])} :
        /\ ~local[m].leaving
        /\ \A x \in MembersOf(local[m].decision) : x \in up /\ installed[x] = installed[m]

\* A member that asks again and again comes in, or is refused and asks as another incarnation: while there is some member to ask, no member
\* asks in vain. (A later incarnation founds no group.)
AllMembersInView == (\E c \in up : IsActing(local[c])) => \A m \in up : InView(local[m])

\* A member that is alive is in one view.
OneView == \A m, x \in up : installed[m] = installed[x]

Converged == LinesSettled /\ (IF MaxFalseSuspicions = 0 THEN OneView ELSE AllMembersInView)

\* FLAW-33: the group does not stop for good before each branch of views has converged. There is one branch if no
\* suspicion was false.
ConvergedWhenQuiescent == Quiescent => Converged

\* Every member resumes in the end: no member stays stopped, whichever member stopped it. (Each answered Suspend ends
\* in a Resume, by the same coordinator or by its successor.)
ResumedWhenQuiescent == Quiescent => stops.held = {}

\* A member delivers only multicasts of its own views. (Under FLUSH. GMS alone cannot guarantee that: a joiner also
\* receives the messages that its coordinator had not delivered when it took the digest.)
DeliversOnlyOfOwnViewsStep ==
    act'.action = "DeliverData" =>
        Has(views[cast[act'.given.sender][act'.given.seqno - Nothing]], act'.member, life[act'.member])

JoinerStartsAtPromise == [][JoinerStartsAtPromiseStep]_vars
JoinerMissesNothing == [][JoinerMissesNothingStep]_vars
DeliversOnlyOfOwnViews == [][DeliversOnlyOfOwnViewsStep]_vars

-----------------------------------------------------------------------------
(* Mechanism *)

\* A member that decides a view has had the group stopped, as the layer above has it, since it took over.
DecidesOnlyWhenStoppedStep ==
    views' # views =>
        \/ views'[Len(views')].preds = {}
        \/ act'.member \in stops.given
        \/ act'.event = StoppedFor(Self) /\ act'.member \in stops.asked
DecidesOnlyWhenStopped == [][DecidesOnlyWhenStoppedStep]_vars

\* GMS and the layer above agree on it: so no answer is to a question of before, and needs no number.
StopStateConsistent ==
    \A m \in up :
        /\ m \in stops.asked <=> local[m].phase = "stopping"
        /\ m \in stops.given <=> HoldsGroup(local[m])

\* The group is resumed only after the last view is everywhere: every member that the coordinator relies on has
\* installed it, or a successor of it.
ResumesAfterAllInstalledStep ==
    Up(act'.effects, "Resume") # {} =>
        LET m == act'.member IN
        \A x \in Others(local'[m]) \cap up :
            life[x] = LifeOf(local'[m], x) =>
                installed'[x] = installed'[m] \/ Ancestor(installed'[m], installed'[x])
ResumesAfterAllInstalled == [][ResumesAfterAllInstalledStep]_vars

\* At most one leading member relies on a given member, which refuses all others. (So a report goes to one leader, and
\* is kept.)
CountsOn(x, m) ==
    /\ Leads(local[x]) /\ installed[x] = installed[m]
    /\ m \in Others(local[x]) \ (local[x].awaits \cup local[x].owed)

\* At most one acting coordinator counts on a member.
CountedByOneCoordinator ==
    \A m \in {m \in up : InView(local[m])} :
        \A x, y \in Others(local[m]) \cap up : (CountsOn(x, m) /\ CountsOn(y, m)) => x = y

\* Each suspicion is passed up once, when it begins, whatever its cause. (One that is reported may end in the same step, with a
\* view that was waited for.)
SuspicionsPassedUpStep ==
    act'.outcome # "none" =>
        LET m == act'.member
            old == IF InView(local[m]) THEN local[m].suspected ELSE {}
            passed == {e.suspect : e \in Up(act'.effects, "Suspected")}
            begun == IF InView(local'[m]) THEN local'[m].suspected \ old ELSE {}
            ended == IF act'.event.type = "Suspected" THEN {act'.event.suspect} \ MembersOf(local'[m].decision) ELSE {}
        IN begun \subseteq passed /\ passed \subseteq begun \cup ended
SuspicionsPassedUp == [][SuspicionsPassedUpStep]_vars

\* JOI-05: when the joiner is answered, whoever is alive of the old members has the view.
JoinRspAfterOldMembers ==
    MaxFalseSuspicions = 0 =>
        \A p \in network : p.message.type = "JOIN_RSP" =>
            \A x \in (up \cap MembersOf(p.message.decision)) \ p.message.decision.joiners :
                life[x] = p.message.decision.lives[x] =>
                    local[x].decision.id.counter >= p.message.decision.id.counter

\* A member that is suspected is a member: the next view excludes it.
SuspectedAreMembers ==
    \A m \in up : InView(local[m]) => local[m].suspected \subseteq MembersOf(local[m].decision)

\* The requests that no view has granted yet.
OpenRequests(s) == LET IsOpen(r) == ~IsGranted(s, r) IN SelectSeq(s.queue, IsOpen)

\* MBR-11, MBR-12: a view is its predecessor, with the requests at the head of the queue granted, and without the suspected
\* members. Joiners are the most junior, in the order of their requests.
ViewAppliesHeadRequestsStep ==
    views' # views =>
        LET v == views'[Len(views')]
            s == local[act'.member]
            open == OpenRequests(s)
            Granted(n, x) == {r \in {open[i] : i \in 1 .. n} : r.member = x}
        IN v.preds # {} =>
            \E n \in {n \in DOMAIN open \cup {0} : n <= MaxBundle} :
                LET Stays(x) == x \notin s.suspected /\ Granted(n, x) = {} IN
                /\ v.members = SelectSeq(s.decision.members, Stays) \o Joining(SubSeq(open, 1, n))
                /\ \A x \in v.joins : Granted(n, x) = {Request("join", x, v.lives[x])}

\* A request waits for a later view only if this one is full, or may not grant it, too.
BundlesAllItMayStep ==
    (act'.event = StoppedFor(Self) /\ act'.member \in stops.asked) =>
        LET s == local[act'.member]
            after == local'[act'.member]
            open == OpenRequests(s)
            n == Len(open) - Len(Waiting(after))
        IN after.gone \/ n \in {MaxBundle, Len(open)} \/ ~MayBundle(s, open, n + 1)

\* AMB-29: a JOIN_REQ that is answered again makes no view, and gets the view that it was answered with.
RepeatedJoinGetsSameViewStep ==
    (act'.action = "ReceiveJoinReq" /\ act'.outcome = "handled"
        /\ local'[act'.member] = local[act'.member]) =>
        \A i \in DOMAIN act'.effects :
            act'.effects[i].message.type = "JOIN_RSP" =>
                act'.effects[i].message.decision = local[act'.member].decision

\* A member passes up Left that wants to leave, or (FLAW-133) that was in a view and is excluded from a later one, or of
\* which a later incarnation was in a view.
LeavesOnlyWithCauseStep ==
    Up(act'.effects, "Left") # {} =>
        LET m == act'.member IN
        \/ local'[m].leaving
        \/ \E j, k \in DOMAIN views :
            Ancestor(j, k) /\ Has(views[j], m, life[m]) /\ ~Has(views[k], m, life[m])
        \/ \E k \in DOMAIN views : \E x \in DOMAIN views[k].lives : IsFormer(m, x)

\* The first member of a view leaves by a view that it decides, with the group stopped: no other has to miss it first.
FirstLeavesByViewStep ==
    \A m \in {act'.member} :
        (Up(act'.effects, "Left") # {} /\ InView(local[m]) /\ Head(local[m].decision.members) = m) =>
            views' # views \/ (act'.event = StoppedFor(Self) /\ m \in stops.asked)

\* A step leaves nothing to do that needs no other event.
Settled == \A m \in up : InView(local[m]) => Proceed(local[m], <<>>) = Handled(local[m], <<>>)

\* LAY-06: a view is announced when it is installed, once, to the layers below and then to those above.
ViewAnnouncedOnceStep ==
    act'.outcome # "none" =>
        LET Announces(effect) == effect.type \in {"PassDown", "PassUp"} /\ effect.event.type = "ViewInstalled"
            said == SelectSeq(act'.effects, Announces)
            m == act'.member
        IN [i \in DOMAIN said |-> [type |-> said[i].type, view |-> said[i].event.view]] =
            IF local'[m].decision.id = local[m].decision.id THEN <<>>
            ELSE <<[type |-> "PassDown", view |-> ViewIn(local'[m].decision)],
                   [type |-> "PassUp", view |-> ViewIn(local'[m].decision)]>>

\* The counters of the views that an incarnation installs rise.
InstalledCounterIncreasesStep ==
    \A m \in Member :
        (installed'[m] # installed[m] /\ installed[m] # 0 /\ installed'[m] # 0) =>
            views'[installed'[m]].id.counter > views[installed[m]].id.counter

ViewAppliesHeadRequests == [][ViewAppliesHeadRequestsStep]_vars
BundlesAllItMay == [][BundlesAllItMayStep]_vars
RepeatedJoinGetsSameView == [][RepeatedJoinGetsSameViewStep]_vars
FirstLeavesByView == [][FirstLeavesByViewStep]_vars
LeavesOnlyWithCause == [][LeavesOnlyWithCauseStep]_vars
ViewAnnouncedOnce == [][ViewAnnouncedOnceStep]_vars
InstalledCounterIncreases == [][InstalledCounterIncreasesStep]_vars

-----------------------------------------------------------------------------
(* Frame: a step belongs to one member, and others change through its effects alone. This is what makes *)
(* local steps speak for the whole model.                                     *)

OnlyOwnStateStep == OthersKeepLocal

RefusedChangesNothingStep == UnchangedUnlessHandled

\* (What was sent to a member waits for its next incarnation, and is given to that.)
ComesFrom(p) ==
    \E q \in network :
        /\ q.sender = p.sender /\ q.message = p.message
        /\ q.to = p.to \/ {q.to, p.to} = {act'.member, NextLife(act'.member)}

OnlyOwnPacketsStep ==
    IF act'.outcome = "none" THEN network' \subseteq network \/ \A p \in network' : ComesFrom(p)
    ELSE network' = AfterStep(network, act'.member, act'.consumed, act'.effects, up')

OnlyByEffectsStep == OnlyOwnStateStep /\ RefusedChangesNothingStep /\ OnlyOwnPacketsStep

OnlyOwnState == [][OnlyOwnStateStep]_vars
RefusedChangesNothing == [][RefusedChangesNothingStep]_vars
OnlyOwnPackets == [][OnlyOwnPacketsStep]_vars
OnlyByEffects == [][OnlyByEffectsStep]_vars

-----------------------------------------------------------------------------
(* Refinement: the group is what Membership and JoinDigest promise; and each of their conjuncts by itself. *)

\* Each step of the group is a step of Membership.
RefinesMembershipStep == (views' # views \/ installed' # installed \/ life' # life) => Membership!Next
RefinesMembership == [][RefinesMembershipStep]_vars

\* Each step of the group is a step of JoinDigest.
RefinesJoinDigestStep == (promises' # promises \/ installed' # installed) => JoinDigest!Next
RefinesJoinDigest == [][RefinesJoinDigestStep]_vars

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

JoinDigestAlone(conjunct) ==
    INSTANCE JoinDigest WITH Off <- JoinDigest!Conjuncts \ {conjunct}, delivered <- DeliveredByAll, held <- HeldFor
GivesJoinDigest(conjunct) ==
    (promises' # promises \/ installed' # installed) => JoinDigestAlone(conjunct)!Next

GivesDigestIsDeliveredStep == GivesJoinDigest("DigestIsDelivered")
GivesPromiseeIsOutsideStep == GivesJoinDigest("PromiseeIsOutside")
GivesOneOpenPromiseStep == GivesJoinDigest("OneOpenPromise")
GivesStartRequiresPromiseStep == GivesJoinDigest("StartRequiresPromise")
GivesPromiserIsMemberStep == GivesJoinDigest("PromiserIsMember")
GivesPromiseToOneIncarnationStep == GivesJoinDigest("PromiseToOneIncarnation")
GivesDigestIsCompleteStep == GivesJoinDigest("DigestIsComplete")
GivesWithdrawOnlyIfUnusableStep == GivesJoinDigest("WithdrawOnlyIfUnusable")

GivesDigestIsDelivered == [][GivesDigestIsDeliveredStep]_vars
GivesPromiseeIsOutside == [][GivesPromiseeIsOutsideStep]_vars
GivesOneOpenPromise == [][GivesOneOpenPromiseStep]_vars
GivesStartRequiresPromise == [][GivesStartRequiresPromiseStep]_vars
GivesPromiserIsMember == [][GivesPromiserIsMemberStep]_vars
GivesPromiseToOneIncarnation == [][GivesPromiseToOneIncarnationStep]_vars
GivesDigestIsComplete == [][GivesDigestIsCompleteStep]_vars
GivesWithdrawOnlyIfUnusable == [][GivesWithdrawOnlyIfUnusableStep]_vars

\* StopRequests, conjunct by conjunct: what FLUSH relies on. A step of a member may be several of the contract.
Requests ==
    INSTANCE StopRequests WITH Off <- {}, suspects <- SuspectsOfAll, asked <- stops.asked, given <- stops.given
RequestsAlone(conjunct) ==
    INSTANCE StopRequests WITH Off <- Requests!Conjuncts \ {conjunct}, suspects <- SuspectsOfAll,
                               asked <- stops.asked, given <- stops.given
GivesRequests(conjunct) ==
    act'.outcome = "handled" =>
        \E m \in {act'.member} :
            RequestsAlone(conjunct)!Act(m, act'.event = StoppedFor(Self) /\ m \in stops.asked,
                                        Up(act'.effects, "Suspend") # {}, Up(act'.effects, "Resume") # {})

RefinesStopRequestsStep == Requests!Next
RefinesStopRequests == [][RefinesStopRequestsStep]_vars

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

-----------------------------------------------------------------------------
(* Liveness *)

\* Messages in transit arrive, and a member takes each step that is enabled for it. Requests to join arrive by
\* themselves: there is always another.
Fairness ==
    \A m \in Member :
        /\ WF_vars(m \in up /\ JoinReqFrom(Member, m))
        /\ WF_vars(m \in up /\ (JoinRspFrom(Member, m) \/ JoinRefusedFrom(Member, m) \/ LeaveReqFrom(Member, m) \/ LeaveRspFrom(Member, m)
                                \/ NewViewFrom(Member, m) \/ ViewAckFrom(Member, m) \/ QueryFrom(Member, m)
                                \/ AnswerFrom(Member, m)))
        /\ WF_vars(StopGroup(m) /\ \A x \in Others(local[m]) : ~Dead(x, LifeOf(local[m], x)))
        /\ WF_vars(GiveDigest(m) \/ Detect(m))
        /\ WF_vars(AskToJoin(m) \/ Found(m))

LiveSpec == Init /\ [][Next]_vars /\ Fairness

THEOREM Spec => Membership!Spec
THEOREM Spec => JoinDigest!Spec

\* A joiner that stays becomes a member, of the same view as all live members.
EventuallyConverged == <>[]Converged

\* Every leave is granted in the end.
LeaversEventuallyLeave == <>[](\A m \in up : ~local[m].leaving)

\* No member stays stopped.
StopsEventuallyEnd == <>[](stops.held = {})

\* JOI: no promise stays open while its maker and who was promised live.
PromisesEventuallyEnd == <>[](\A p \in promises : p.by \in up => p.by_life # life[p.by] \/ p.to \notin up)
=============================================================================
