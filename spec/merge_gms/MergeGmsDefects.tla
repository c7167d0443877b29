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
    IF Wishes(s) /\ s.holds = "no" /\ s.gms.phase = "leading"
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
    IF \E i \in DOMAIN s.gms.queue : s.gms.queue[i].member = e.sender THEN Ignored(s) ELSE FromG(s, e)

-----------------------------------------------------------------------------
(* The failure detector: in the place of DetectorLacks *)

LosesCrashes == {"CrashIsReported"}
LosesSuspicions == {"SuspicionIsReported"}
LosesExclusions == {"ExclusionIsReported"}
HearsOldSuspicions == {"SuspicionIsOfOwnView"}
HearsOldExclusions == {"ExclusionIsNotOlder"}
HearsOfFormerIncarnations == {"IncarnationIsNamed"}
=============================================================================
