---------------------------- MODULE GmsDefects ------------------------------
(******************************************************************************)
(* Defects that the claims must notice: of the algorithm where no guard of    *)
(* Gms says it, of the layer below, and of the model itself. Each is an       *)
(* operator that a model puts in the place of another (models.yaml).          *)
(******************************************************************************)
EXTENDS GmsInstruments

(* The algorithm *)

\* In the place of MemberStep: the start digest has the members, too, that were suspected while it was awaited.
DigestHasSuspectedStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DigestGiven" /\ step.outcome = "handled" /\ step.state.decision # s.decision
    THEN [step EXCEPT !.state.decision.digest = e.digest] ELSE step

\* In the place of NextCounter: the counter falls.
LowerCounter(s) == s.decision.id.counter - 1

\* In the place of Creator: the most junior member is named, who was in no view yet.
JuniorIsCreator(s, members) == members[Len(members)]

\* In the place of LatestLives: what is known of incarnations that are over is kept.
KeepsAllIncarnations(function, members) == function

\* In the place of HasLaterIncarnation: a later incarnation of a name says nothing of an earlier one.
IgnoresLaterIncarnation(s, m) == FALSE

\* In the place of WithJoiners: a joiner is listed twice.
JoinedTwice(members, joiners) == members \o joiners \o joiners

\* In the place of Decision: a joiner is said to be in an incarnation that has not begun.
FutureIncarnation(id, members, follows, lives, joiners, digest) ==
    [id |-> id, members |-> members, follows |-> follows,
     lives |-> [m \in DOMAIN lives |-> IF m \in joiners THEN lives[m] + 1 ELSE lives[m]],
     joiners |-> joiners, digest |-> digest]

\* In the place of Decision: the first joiner is said to be in its first incarnation. (And in the place of IsMade: who was
\* promised a digest is promised no other.)
FormerIncarnation(id, members, follows, lives, joiners, digest) ==
    [id |-> id, members |-> members, follows |-> follows,
     lives |-> [m \in DOMAIN lives |-> IF m \in joiners /\ id.counter = 2 THEN 0 ELSE lives[m]],
     joiners |-> joiners, digest |-> digest]
IsPromisedOnce(m, after, to) == ~\E p \in promises : p.by = m /\ p.to = to

\* In the place of Decision: every member is said to begin.
AllMembersJoin(id, members, follows, lives, joiners, digest) ==
    [id |-> id, members |-> members, follows |-> follows, lives |-> lives,
     joiners |-> {members[i] : i \in DOMAIN members}, digest |-> digest]

\* In the place of StaysMember: who admits a joiner leaves with that view.
StaysMemberAsIs(s, requests, m) == m \notin s.suspected /\ ~\E i \in DOMAIN requests : requests[i].member = m
LeavesWithAdmission(s, requests, m) ==
    StaysMemberAsIs(s, requests, m) /\ (Joining(requests) # <<>> => m # s.member)

\* In the place of StaysMember: who has just joined is forgotten.
ExcludesLastJoiner(s, requests, m) == StaysMemberAsIs(s, requests, m) /\ m \notin s.decision.joiners

\* In the place of Struck: the acknowledgements of the dead are waited for.
AwaitsCrashed(s, m) == s

\* In the place of Kept: a view change forgets all requests.
ForgetsRequests(s, decision) == <<>>

\* In the place of Bundle: a view grants one request.
BundleOfOne(s, queue) == IF queue # <<>> /\ MayBundle(s, queue, 1) THEN 1 ELSE 0

\* In the place of MayBundle: a coordinator that leaves goes with joiners.
BundlesAnything(s, queue, n) == \A i \in 1 .. n : ~FormerIsMember(s, queue[i])

\* In the place of IsGranted: a request is granted again when its joiner has been excluded since.
GrantedIfThere(s, request) ==
    request.kind = "join" /\ request.member \in MembersOfView(s) /\ request.member \notin s.suspected

\* In the place of FormerLeavesFirst and FormerIsMember: the next incarnation takes the former one's place.
ReplacesIncarnation(s, leave, join) == Append(s.queue, join)
NoFormerIncarnation(s, request) == FALSE

\* In the place of Refused: the members that have left are refused, too.
SuspectsLeavers(s, e) == e.message.seniors

\* In the place of SuspectedAtFirst: a joiner begins with no member suspected.
JoinerSuspectsNoMember(s, decision, sender) == {}

\* In the place of SuspectedSince: who acknowledges a view refuses no member for it.
AckSuspectsNoMember(s, decision, sender) == {}

\* In the place of Elsewhere: a view of another branch is not answered.
NeverAnswersOtherBranch(s, e) == Ignored(s)

\* In the place of Installed: the view is not passed up.
InstalledBelow(decision) == <<PassDown([type |-> "ViewInstalled", view |-> ViewIn(decision)])>>

\* In the place of AskToLeave: a member that wants to leave asks no member.
NeverSendsLeaveReq(s) == Unchanged(s)

\* In the place of TookOver: a member that takes over takes the group for stopped by its crashed senior.
AssumesStopped == FALSE

\* In the place of MustSuspend, and of Resume: ... or takes it for free.
SuspendsToDecide(s) == IsDone(s) /\ HasToDecide(s)
AssumesFree(s) ==
    [state |-> Into(s, "at rest", {}), effects |-> IF s.took_over THEN <<>> ELSE <<ResumeGroup>>]

\* In the place of IsAnswer: the answer to another protocol is taken for the own answer.
AnyIsAnswer(s, e) == s.phase = "stopping"

\* In the place of MustResume: the group is resumed when the last view is decided, not when it is everywhere.
ResumesAfterDecision(s) == Spreads(s) /\ ~s.took_over /\ ~HasToDecide(s)

\* In the place of MustSuspend: a member asks for the group that does not act; or before all have the view.
AsksOutOfTurn(s) == InView(s) /\ s.phase \in {"following", "asking", "at rest"} /\ s.suspected # {}
AsksEarly(s) == (Spreads(s) \/ s.phase = "at rest") /\ (s.took_over \/ HasToDecide(s))

\* In the place of SaySuspected: its suspicions are not passed up.
PassesNoSuspicion(list, suspects) == <<>>

\* In the place of JoinRequested: a member that was asked to refuse a coordinator still refuses it after asking it for
\* admission. (No member founds a group.)
KeepsRefusingCoordinator(s, e) ==
    IF InView(s) \/ e.coordinator = s.member THEN LocalError(s)
    ELSE Handled([s EXCEPT !.life = e.life, !.joining = TRUE], <<Send(e.coordinator, JoinReq(e.life))>>)

-----------------------------------------------------------------------------
(* The program that runs the members: in the place of IncarnationsLack.       *)

ReturnsUnpassed == {"CountersArePassed"}
TwoAtATime == {"LivesAreNumbered"}

\* In the place of MayComeBack: only members in a view count, not joiners that were let in and have not heard of it.
PassesThoseInViews(m) ==
    \A k \in DOMAIN views : \A x \in up :
        (views[k].id.creator = m /\ installed[x] # 0) => views[installed[x]].id.counter >= views[k].id.counter

-----------------------------------------------------------------------------
(* Questions: in the place of IsLate *)

NeverLate(s, id) == FALSE

-----------------------------------------------------------------------------
(* Unicasts: in the place of MayClose. A member's messages to another member  *)
(* of its view may be lost; or its messages without a view.                   *)

MayCloseToMember(m, x) == InView(local[m]) /\ x \in MembersOf(local[m].decision)
MayCloseInNoView(m, x) == ~InView(local[m])

\* In the place of JoinRefusedReceived: a refusal is taken, whichever incarnation it is for.
TakesAnyRefusal(s, e) ==
    IF s.gone \/ InView(s) \/ ~s.joining THEN Ignored(s)
    ELSE Handled([s EXCEPT !.gone = TRUE], <<LeftTheGroup>>)

\* In the place of LeaveRspReceived: the answer to a leave is taken, whichever incarnation it is for.
TakesAnyLeaveRsp(s, e) ==
    IF s.gone \/ ~InView(s) THEN Ignored(s) ELSE Handled([s EXCEPT !.gone = TRUE], <<LeftTheGroup>>)

-----------------------------------------------------------------------------
(* The layer below: in the place of DigestAnsweredBy *)

OneMoreThanDelivered(m) == [x \in MembersOf(local[m].decision) |-> seen[m][x] + 1]

\* One member is missing in the digest. (And in the place of Fits and IsFirstView: GMS takes any.)
DigestWithoutLast(m) ==
    LET list == local[m].decision.members
    IN [x \in MembersOf(local[m].decision) \ {list[Len(list)]} |-> seen[m][x]]
AnyFits(s, digest) == TRUE
AnyFirstView(s, x, decision) == TRUE

-----------------------------------------------------------------------------
(* The model itself: in the place of ApplyWith *)

\* A step reaches into the others.
ApplyToNeighbour(action, m, event, consumed, given, report) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [x \in Member |-> IF x = m THEN step.state ELSE [local[x] EXCEPT !.leave_asked = x]]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ network' = AfterStep(network, m, consumed, step.effects, up)
        /\ UNCHANGED <<up, seen, answers, stops, told, views, installed, promises>>

\* An event is said to be ignored, and changes the state.
ApplyIgnored(action, m, event, consumed, given, report) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [local EXCEPT ![m] = step.state]
        /\ Record(action, m, FALSE, None, event, consumed, "ignored", <<>>)
        /\ network' = AfterStep(network, m, consumed, <<>>, up)
        /\ UNCHANGED <<up, seen, answers, stops, told, views, installed, promises>>

\* A message is sent that no effect says.
ApplyWithPacket(action, m, event, consumed, given, report) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ network' = AfterStep(network, m, consumed, step.effects, up) \cup {Packet(m, m, LeaveRsp(0))}
        /\ UNCHANGED <<up, seen, answers, stops, told, views, installed, promises>>

-----------------------------------------------------------------------------
(* The failure detector: in the place of DetectorLacks *)

LosesCrashes == {"CrashIsReported"}
LosesSuspicions == {"SuspicionIsReported"}
LosesExclusions == {"ExclusionIsReported"}
HearsOldSuspicions == {"SuspicionIsOfOwnView"}
HearsOldExclusions == {"ExclusionIsNotOlder"}
HearsOfFormerIncarnations == {"IncarnationIsNamed"}

\* In the place of Reportable, a bound: waiting joiners are not reported. (A joiner would be dropped, and ask again, without end.)
OfMembersOnly(m) ==
    {w \in Watched(local[m]) \ told[m] :
        w[1] \in MembersOf(local[m].decision) /\ FailureDetector!MayReport(m, w[1], w[2])}
-----------------------------------------------------------------------------
(* Defects of a single conjunct. In the place of MemberStep:                  *)

\* The acting coordinator takes no request to join.
IgnoresRequestsToJoin(s, e) == IF e.type = "JoinReqReceived" THEN Ignored(s) ELSE Step(s, e)

\* The group is taken for asked for, and is not.
ForgetsToSuspend(s, e) ==
    LET Other(effect) == effect # SuspendGroup IN [Step(s, e) EXCEPT !.effects = SelectSeq(@, Other)]

\* A leaver that hears from a QUERY who acts does not ask it.
AsksNoAsker(s, e) ==
    LET step == Step(s, e)
        Other(effect) == effect.type # "Send" \/ effect.message.type # "LEAVE_REQ"
    IN IF e.type # "QueryReceived" THEN step
       ELSE [step EXCEPT !.state.leave_asked = s.leave_asked, !.effects = SelectSeq(@, Other)]

\* Another member is promised the digest, and not the joiner.
PromisesToB(s, e) ==
    LET step == Step(s, e)
        Told(effect) ==
            IF effect.type = "PassDown" /\ effect.event.type = "DigestPromised" THEN Promised("B") ELSE effect
    IN [step EXCEPT !.effects = [i \in DOMAIN @ |-> Told(@[i])]]

\* The joiner starts with nothing, though there were multicasts.
StartsWithNothing(s, e) ==
    IF e.type = "DigestGiven" THEN Step(s, [e EXCEPT !.digest = [x \in DOMAIN @ |-> Nothing]]) ELSE Step(s, e)

\* The start digest has the joiner, too.
StartsWithItself(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DigestGiven" /\ step.outcome = "handled" /\ step.state.decision # s.decision
    THEN [step EXCEPT !.state.decision.digest =
            [x \in MembersOf(step.state.decision) |-> IF x \in DOMAIN @ THEN @[x] ELSE Nothing]]
    ELSE step

\* A joiner takes the answer to its former incarnation, which has not taken it. (And the coordinator does not hear of
\* the next incarnation.)
TakesFormerAnswer(s, e) ==
    IF e.type = "JoinReqReceived" /\ e.message.life > 0 THEN Ignored(s)
    ELSE IF e.type = "JoinRspReceived" /\ ~InView(s) /\ s.joining
    THEN IF s.life = 0 THEN Ignored(s) ELSE Step(s, [e EXCEPT !.message.decision.lives[s.member] = s.life])
    ELSE Step(s, e)

\* ... and in the place of MayComeBack: it comes back when a view is decided that lets it in, and its promise is open.
BackAfterPromise(m) == Len(views) > 1 /\ \E p \in promises : p.to = m

\* A coordinator that suspects a member decides without the joiner to which it has promised its digest.
ForgetsJoiner(s, e) ==
    IF e.type = "DigestGiven" /\ s.admitting > 0 /\ s.suspected # {}
    THEN Decide([s EXCEPT !.queue = Waiting(s), !.admitting = 0], NoDigest)
    ELSE Step(s, e)

\* A member that is to leave goes at once, and does not say that it wants to; or only after a view change.
GoesAtOnce(s, e) ==
    IF e.type = "LeaveRequested" /\ InView(s) THEN Handled([s EXCEPT !.gone = TRUE], <<LeftTheGroup>>) ELSE Step(s, e)
GoesAfterView(s, e) == IF s.decision.id.counter > 1 THEN GoesAtOnce(s, e) ELSE Step(s, e)

\* A member that is reported is waited for no longer, and still relied on.
StrikesOnly(s, e) ==
    IF e.type = "Suspected" /\ Spreads(s) /\ e.suspect \in s.awaits THEN Proceed(Struck(s, e.suspect), <<>>)
    ELSE Step(s, e)

-----------------------------------------------------------------------------
(* ... and in other places *)

\* In the place of MustSuspend and MustResume, and of IsAnswer: the group is never asked for, nor resumed, and any
\* GroupStopped counts as the answer.
Never(s) == FALSE
AnyOwnIsAnswer(s, e) == Leads(s) /\ e.asker = Self

\* In the place of Creator: a coordinator that leaves names an outsider.
LeaverNamesOutsider(s, members) == IF \E i \in DOMAIN members : members[i] = s.member THEN s.member ELSE "Z"

\* In the place of DetectorLacks: no member learns of another branch.
LosesBranches == {"SuspicionIsReported", "ExclusionIsReported"}

\* In the place of AskForState: the layer below answers GMS's request for both; or the later of two requests.
AsksInPlaceOf(m, Stays(_), own) ==
    /\ spent.transfers < MaxStateTransfers
    /\ m \in up /\ InView(local[m])
    /\ \E n \in {spent.transfers + 1} :
        /\ transfers' = [transfers EXCEPT ![m] = @ \cup {n}]
        /\ answers' = [answers EXCEPT ![m] =
                {a \in @ : Stays(a)} \cup
                IF own /\ @ # {} THEN {} ELSE {[asker |-> "STATE_TRANSFER", request |-> n, digest |-> DeliveredBy(m)]}]
    /\ Spend("transfers")
    /\ Environment("AskForState", m, None, {})
    /\ UNCHANGED <<local, network, up, life, cast, seen, stops, told, views, installed, promises>>
AsksWithGms(m) == LET Stays(a) == TRUE IN AsksInPlaceOf(m, Stays, TRUE)
AsksAnew(m) == LET Stays(a) == a.asker = Self IN AsksInPlaceOf(m, Stays, FALSE)

\* ... and in the place of GiveDigest: each answer is taken for the answer to all requests.
GivesToAll(m) ==
    /\ m \in up
    /\ \E a \in answers[m] : ApplyWith("GiveDigest", m, DigestEvent(a), {}, {a}, {})
    /\ transfers' = [transfers EXCEPT ![m] = {}]
    /\ UNCHANGED <<life, cast, spent>>

\* In the place of MulticastData: the network changes a packet.
ChangesPacket(m, Becomes(_)) ==
    /\ spent.casts < MaxCasts
    /\ m \in Casters
    /\ \E p \in network : network' = (network \ {p}) \cup {Becomes(p)}
    /\ Spend("casts")
    /\ Environment("MulticastData", m, None, {})
    /\ UNCHANGED <<local, up, life, cast, seen, answers, transfers, stops, told, views, installed, promises>>
ChangesReceiver(m) == LET Becomes(p) == [p EXCEPT !.to = IF @ = "A" THEN "D" ELSE "A"] IN ChangesPacket(m, Becomes)
ChangesSender(m) == LET Becomes(p) == [p EXCEPT !.sender = IF @ = "A" THEN "D" ELSE "A"] IN ChangesPacket(m, Becomes)
ChangesMessage(m) == LET Becomes(p) == [p EXCEPT !.message = LeaveRsp(7)] IN ChangesPacket(m, Becomes)

\* In the place of Restart: a process that was in no view comes back, and an incarnation is passed over.
RestartSkips(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \notin up /\ installed[m] = 0
    /\ up' = up \cup {m}
    /\ life' = [life EXCEPT ![m] = @ + 2]
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ cast' = [cast EXCEPT ![m] = <<>>]
    /\ seen' = [seen EXCEPT ![m] = [x \in Member |-> Nothing]]
    /\ Spend("restarts")
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<network, answers, transfers, stops, told, views, installed, promises>>

\* In the place of AfterPromises: a promise is noted as one to the joiner's next incarnation.
PromisedToNext(m, event, step) ==
    promises \cup {[by |-> m, by_life |-> life[m], view |-> installed[m], to |-> e.to, to_life |-> life[e.to] + 1,
                    vector |-> DigestAnsweredBy(m)] : e \in Down(step.effects, "DigestPromised")}
=============================================================================
