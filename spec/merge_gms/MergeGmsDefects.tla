-------------------------- MODULE MergeGmsDefects ---------------------------
(***************************************************************************)
(* Defects that the claims must notice where no guard of MergeGms says it. *)
(* Each is an operator that a model puts in the place of another           *)
(* (models.yaml).                                                          *)
(***************************************************************************)
EXTENDS MergeGmsInstruments

\* In the place of MayClose: what a member sends to another of its view may be lost.
MayCloseToMember(m, x) == InView(local[m]) /\ x \in ViewMembers(m)

\* In the place of Dropped: a request that was cancelled goes, and the group stays stopped.
NeverResumesAfterCancel(s, effects) == Ending([state |-> [s EXCEPT !.wish = NoPendingMerge], effects |-> effects])

\* In the place of EndUseOfGroup: when a merge is over its digest is promised to all members.
PromisesToMembers(s) ==
    LET To(m) == PassDown([type |-> "DigestPromised", to |-> m])
    IN [state |-> [s EXCEPT !.holds = "no"],
        effects |-> [i \in DOMAIN Own(s).members |-> To(Own(s).members[i])] \o <<G!ResumeGroup>>]

\* In the place of MaybeStop: a member asks for the group that does not act; or before all have the view.
AsksOutOfTurn(s) ==
    IF s.holds # "no" THEN Unchanged(s)
    ELSE IF (Wishes(s) /\ GmsIsIdle(s)) \/ (InView(s) /\ InMerged(s) /\ ~G!IsActing(s.gms))
    THEN [state |-> [s EXCEPT !.holds = "stopping"], effects |-> <<G!SuspendGroup>>] ELSE Unchanged(s)
AsksEarly(s) ==
    IF Wishes(s) /\ s.holds = "no" /\ G!Leads(s.gms)
    THEN [state |-> [s EXCEPT !.holds = "stopping"], effects |-> <<G!SuspendGroup>>] ELSE Unchanged(s)

\* In the place of FromGms: a joiner is sent its view with the old members.
AnswersJoinersAtOnce(s, effects) ==
    LET Sent(i) == effects[i].type = "Send" /\ effects[i].message.type = "NEW_VIEW"
        Joiners(d) == {x \in d.joiners : x # s.member}
        decisions == {effects[i].message.decision : i \in {i \in DOMAIN effects : Sent(i)}}
        IsHeard(effect) ==
            /\ ~(Passes(effect, "PassUp", "Suspend") /\ HoldGmsDuringMerge /\ s.holds # "no")
            /\ ~(Passes(effect, "PassUp", "Resume") /\ Wishes(s))
    IN SelectSeq(effects, IsHeard)
       \o (IF \E d \in decisions : Joiners(d) # {}
           THEN LET d == CHOOSE d \in decisions : Joiners(d) # {}
                IN <<Send(CHOOSE x \in Joiners(d) : TRUE, G!JoinRsp(d))>>
           ELSE <<>>)

-----------------------------------------------------------------------------
(* A variant, no defect: in the place of ListOf in Merge *)

LeadersFirst(members, coordinators) == M!LeadersFirst(members, coordinators)

(* The view that is taken over as GMS's next one is not the decided view: for *)
(* each conjunct of Membership                                                *)

\* In the place of ToTake: what GMS makes of the merged view.
SameCounter(s, d) == [d EXCEPT !.id.counter = Own(s).id.counter]
ForeignCreator(s, d) == [d EXCEPT !.id.creator = "Z"]
ListedTwice(s, d) == [d EXCEPT !.members = @ \o <<Head(@)>>]
FutureIncarnations(s, d) == [d EXCEPT !.lives = [m \in DOMAIN @ |-> @[m] + 1]]
ListsExcluded(s, d) == [d EXCEPT !.members = M!Sorted(DOMAIN d.lives)]
AllMembersJoin(s, d) == [d EXCEPT !.joiners = MembersOf(d)]
OmitsItself(s, d) == LET Other(m) == m # s.member IN [d EXCEPT !.members = SelectSeq(@, Other)]
OnlyOwnMembers(s, d) == LET Mine(m) == IsMember(s, m) IN [d EXCEPT !.members = SelectSeq(@, Mine)]
DigestOfOwnSubgroup(s, d) == [d EXCEPT !.digest = [m \in MembersOf(Own(s)) |-> @[m]]]

(* The program that runs members: in the place of IncarnationsLack *)

ReturnsUnpassed == {"CountersArePassed"}
FoundsAfterReturn == {"FoundedBeforeReturn"}
TwoAtATime == {"LivesAreNumbered"}

(* Discovery: in the place of DiscoveryLacks *)

NamesTheDead == {"DeadNamesEnd"}
FindsNobody == {"FindsAllInTheEnd"}

(* The layers below *)

\* In the place of AfterKept: nothing is withdrawn.
NeverWithdrawn(m, step) ==
    LET made == {e.to : e \in Down(step.effects, "DigestPromised")}
    IN kept[m] \cup {[to |-> x, life |-> life[x], vector |-> DeliveredBy(m)] : x \in made}

\* In the place of DigestEvent: the digest of when there was nothing.
DigestOfNothing(a) ==
    [type |-> "DigestGiven", asker |-> a.asker, request |-> a.request,
     digest |-> [x \in DOMAIN a.digest |-> Nothing]]

\* In the place of AfterWindows: all windows start where the digest says.
AllWindows(m, effects) ==
    LET told == Down(effects, "DigestSet") \cup Down(effects, "WindowsAdded")
    IN IF told = {} THEN seen ELSE [seen EXCEPT ![m] = [x \in Member |-> Nothing]]

\* In the place of IsStill: the group is said to be stopped at once.
StoppedAtOnce(m) == TRUE

\* In the place of SayBelow: the view is not passed down.
ViewNotPassedDown(d) == <<>>

-----------------------------------------------------------------------------
(* The model itself: in the place of ApplyWith *)

\* A step reaches into the others.
ApplyToNeighbour(action, m, event, consumed, given) ==
    \E step \in {Step(local[m], event)} :
        /\ local' = [x \in Member |-> IF x = m THEN step.state ELSE [local[x] EXCEPT !.asked = 1]]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ network' = AfterStep(network, m, consumed, step.effects, up)
        /\ UNCHANGED <<up, stops, answers, seen, kept, views, installed>>

\* An event is said to be ignored, and changes the state.
ApplyIgnored(action, m, event, consumed, given) ==
    \E step \in {Step(local[m], event)} :
        /\ local' = [local EXCEPT ![m] = step.state]
        /\ Record(action, m, FALSE, None, event, consumed, "ignored", <<>>)
        /\ network' = AfterStep(network, m, consumed, <<>>, up)
        /\ UNCHANGED <<up, stops, answers, seen, kept, views, installed>>

\* A message is sent that no effect says.
ApplyWithPacket(action, m, event, consumed, given) ==
    \E step \in {Step(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ network' = AfterStep(network, m, consumed, step.effects, up) \cup {Packet(m, m, G!LeaveRsp(0))}
        /\ UNCHANGED <<up, stops, answers, seen, kept, views, installed>>

\* In the place of LeaveReqReceived: a request to leave counts as there, if any request of the member is.
TakesLeaveForJoin(s, e) ==
    IF \E i \in DOMAIN s.gms.queue : s.gms.queue[i].member = e.sender THEN Ignored(s) ELSE ForGms(s, e)

\* A member that decides or enters a view, and departs, takes all others with it.
ApplyTakingAll(action, m, event, consumed, given) ==
    \E step \in {Step(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ up' = IF ~step.state.gms.gone THEN up
                 ELSE IF NewDecisions(m, step) = {} /\ Own(step.state) = Own(local[m]) THEN up \ {m} ELSE {}
        /\ network' = AfterStep(network, m, consumed, step.effects, up')
        /\ stops' = AfterStops(m, event, step)
        /\ answers' = [answers EXCEPT ![m] =
                IF step.state.gms.gone THEN {}
                ELSE (@ \ given) \cup {[asker |-> e.asker, request |-> e.request, digest |-> DeliveredBy(m)] :
                                        e \in Down(step.effects, "GetDigest")}]
        /\ seen' = AfterWindows(m, step.effects)
        /\ kept' = [kept EXCEPT ![m] = AfterKept(m, step)]
        /\ \E new \in {NewDecisions(m, step)} :
            views' = IF new = {} THEN views ELSE Append(views, AsView(CHOOSE d \in new : TRUE, step.effects))
        /\ installed' = [installed EXCEPT ![m] =
                IF Own(step.state) = Own(local[m]) THEN @ ELSE NumberIn(views', Own(step.state))]

-----------------------------------------------------------------------------
(* The end of a merge: in the place of Resume in Gms. The first member of the *)
(* merged view resumes the group, and something is left.                      *)

ResumesWith(left) == [state |-> left, effects |-> <<G!ResumeGroup>>]

AwaitsAtLast(s) == ResumesWith(G!Into(s, "at rest", G!Others(s)))
AsksAtLast(s) == ResumesWith(G!Into(s, "asking", G!Others(s)))
OwesAtLast(s) == ResumesWith([G!Into(s, "at rest", {}) EXCEPT !.owed = G!Others(s)])
QueuesAtLast(s) == ResumesWith([G!Into(s, "at rest", {}) EXCEPT !.queue = <<G!OwnLeave(s)>>])
SuspendsAfterTakeover(s) == G!IsDone(s) /\ s.took_over    \* (in the place of MustSuspend: what is queued is overlooked)
FollowsAtLast(s) == ResumesWith(G!Into(s, "following", {}))
KeepsTheGroup(s) == ResumesWith(s)

\* It has another view with the same members.
CountsOnAtLast(s) == ResumesWith([G!Into(s, "at rest", {}) EXCEPT !.decision.id.counter = @ + 1])

-----------------------------------------------------------------------------
(* A member follows a merged view: in the place of TakeView                   *)

Takes(s, decided, After(_)) ==
    LET d == ToTake(s, decided)
        first == Head(d.members) = s.member
        entered == [G!Enter(s.gms, d) EXCEPT !.queue = IF first THEN s.gms.queue ELSE @]
    IN [state |-> After([s EXCEPT !.gms = entered, !.holds = "no", !.probed = {}]), effects |-> SayBelow(d)]

\* A member that is not first wants to lead another merge, or awaits a digest.
WishesInView(s, d) ==
    LET After(t) == IF G!IsActing(t.gms) THEN t ELSE [t EXCEPT !.wish = [type |-> "DiscoverTimeout", found |-> {}]]
    IN Takes(s, d, After)
HoldsInView(s, d) ==
    LET After(t) == IF G!IsActing(t.gms) THEN t ELSE [t EXCEPT !.holds = "digest"] IN Takes(s, d, After)

\* A probe of the view before counts as sent in this view.
ProbesOutliveView(s, d) == LET After(t) == [t EXCEPT !.probed = s.probed] IN Takes(s, d, After)

\* In the place of AnswerEarly: an early query is answered, and stays.
AnswersAndKeeps(s) ==
    LET Comes(word) == ~IsEarly(s, word.sender, word.message)
    IN HeardAll(Unchanged(s), SelectSeq(s.early, Comes))

-----------------------------------------------------------------------------
(* Merging wants the group: in the place of MaybeStop                         *)

MayStop(s) == Wishes(s) /\ s.holds = "no" /\ GmsIsIdle(s)
Stopping(s) == [s EXCEPT !.holds = "stopping"]

\* It waits, and has not asked.
StopsInSilence(s) == IF MayStop(s) THEN Unchanged(Stopping(s)) ELSE Unchanged(s)

\* It promises its digest before the group is stopped, or asks for it.
PromisesEarly(s) ==
    LET To(x) == PassDown([type |-> "DigestPromised", to |-> x])
        others == IF s.wish.type = "DiscoverTimeout" THEN s.wish.found \ {s.member} ELSE {s.wish.sender}
    IN IF MayStop(s) THEN [state |-> Stopping(s), effects |-> <<G!SuspendGroup>> \o M!ForEach(others, To)]
       ELSE Unchanged(s)
AsksForDigestEarly(s) ==
    IF MayStop(s)
    THEN LET asked == AskForDigest(s)
         IN [state |-> Stopping(asked.state), effects |-> <<G!SuspendGroup>> \o asked.effects]
    ELSE Unchanged(s)

\* In the place of AskForDigest: the event that needs the digest is forgotten.
ForgetsWish(s) ==
    [state |-> [s EXCEPT !.wish = NoPendingMerge, !.holds = "digest", !.asked = @ + 1],
     effects |-> <<PassDown([type |-> "GetDigest", asker |-> Self, request |-> s.asked + 1])>>]

\* In the place of GiveDigest, or of the arrival of a message: no digest is given yet, and no such message arrives.
NeverGiven(m) == FALSE
NeverReceived(m) == FALSE

-----------------------------------------------------------------------------
(* Views of GMS: in the place of operators of Gms                             *)

\* Of Creator: the view that a leaver decides has a stranger as its creator. Of StartAt: a joiner starts with no digest.
StrangerDecides(s, members) == IF \E i \in DOMAIN members : members[i] = s.member THEN s.member ELSE "Z"
StartsAtNothing(decision) == PassDown([type |-> "DigestSet", digest |-> G!NoDigest])

\* Of Enter: a joiner begins with a view, and acknowledges another.
JoinsElsewhere(s, decision) ==
    LET other == IF s.decision = G!NoDecision /\ decision.id.creator # s.member
                 THEN [decision EXCEPT !.id.counter = @ + 1] ELSE decision
    IN [G!Into(s, "following", {}) EXCEPT !.decision = other, !.suspected = @ \cap MembersOf(decision),
                                          !.queue = G!Kept(s, decision), !.leave_asked = "", !.joining = FALSE]

-----------------------------------------------------------------------------
(* Incarnations, and what waits for the next one                              *)

\* In the place of Restart: an incarnation is left out.
SkipsIncarnation(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \notin up
    /\ up' = up \cup {m}
    /\ life' = [life EXCEPT ![m] = @ + 2]
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ Spend("restarts")
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<network, stops, answers, cast, seen, kept, views, installed>>

\* In the place of ForTheNext: what waits is from another sender, for another member, or another message.
Waiting(packets, As(_)) == {As([p EXCEPT !.to = NextLife(@)]) : p \in {p \in packets : Inherits(p.to)}}
WaitsFromOther(packets) == LET As(p) == [p EXCEPT !.sender = IF @ = "A" THEN "C" ELSE "A"] IN Waiting(packets, As)
WaitsForOther(packets) == LET As(p) == [p EXCEPT !.to = p.sender] IN Waiting(packets, As)
WaitsAsOther(packets) == LET As(p) == [p EXCEPT !.message = G!LeaveRsp(0)] IN Waiting(packets, As)

-----------------------------------------------------------------------------
(* The failure detector: in the place of DetectorLacks *)

LosesCrashes == {"CrashIsReported"}
LosesSuspicions == {"SuspicionIsReported"}
LosesExclusions == {"ExclusionIsReported"}
HearsOldSuspicions == {"SuspicionIsOfOwnView"}
HearsOldExclusions == {"ExclusionIsNotOlder"}
HearsOfFormerIncarnations == {"IncarnationIsNamed"}
=============================================================================
