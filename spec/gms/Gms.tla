-------------------------------- MODULE Gms ---------------------------------
(******************************************************************************)
(* GMS, one member: a pure function of its own state and an event.            *)
(*                                                                            *)
(* Theory. The coordinator decides the views, one after another. It queues    *)
(* requests to join and to leave in the order of their arrival. When a        *)
(* request waits, or the coordinator suspects a member, it asks the layer     *)
(* above to stop the group (Suspend). When the group is stopped               *)
(* (GroupStopped), the coordinator takes the requests at the head of the      *)
(* queue, up to MaxBundle, and all its suspicions, and decides the next view. *)
(* If there are joiners, it first promises its digest to them and asks the    *)
(* layer below for it. It installs the view at once and sends it to the old   *)
(* members (NEW_VIEW). When all of them have acknowledged the view, the       *)
(* coordinator answers the joiners (JOIN_RSP, with the same view and the      *)
(* start digest). When these have acknowledged it, the next view may follow.  *)
(* For that the coordinator says Suspend again; the group is still stopped,   *)
(* so GroupStopped can arrive at once. If it has nothing to decide, it        *)
(* resumes the group (Resume). A member whose seniors                         *)
(* in the view are all suspected takes over. It asks the others for their     *)
(* newest view (QUERY). It decides nothing before every unsuspected member    *)
(* has answered and has the newest view. Then it says Suspend, even if it has *)
(* nothing to decide. A member that crashed may have stopped the group, and   *)
(* no other member would resume it.                                           *)
(*                                                                            *)
(* Why the view history has one branch. A member that answers a QUERY refuses *)
(* every later message from the seniors of the QUERY's sender. So when the    *)
(* answers are in, a senior's view that no answering member has installed can *)
(* no longer be installed by any of them. If an answering member has          *)
(* installed such a view, the QUERY's sender learns of it. It installs the    *)
(* view and sends it to every member before it decides the next one. (With    *)
(* false suspicions, two members may each be the first that they do not       *)
(* suspect themselves. Then there are two branches, and merging heals them.)  *)
(*                                                                            *)
(* The contents of a view. A view has an identifier with its creator. The     *)
(* creator may be leaving, and then is not a member. A view names the view    *)
(* that it follows, its members in order of seniority, its joiners, and the   *)
(* digest from which the joiners start. For every address that was ever in a  *)
(* view of this branch it has the newest incarnation. So every member that    *)
(* has the view can admit the joiner, and knows which requests are out of     *)
(* date. An incarnation is admitted once. An incarnation that was excluded    *)
(* before it learned of its admission, and asks again, is refused             *)
(* (JOIN_REFUSED). So is an incarnation of whose name a later one was in a    *)
(* view: numbers may fall, where a clock is set back.                         *)
(*                                                                            *)
(* The guards have the values of the repaired algorithm. README.md says what  *)
(* each is for.                                                               *)
(******************************************************************************)
EXTENDS Steps, Views, Digests, FiniteSets

CONSTANTS
    MaxBundle       \* how many requests one view grants at most

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
JoinRspAfterAcks == TRUE           \* the joiner is answered after the old members have acknowledged the view
QueryBeforeDeciding == TRUE        \* a member that takes over asks first, and sends the newest view again
RefuseSeniors == TRUE              \* a member that answers a QUERY refuses the asker's seniors from then on
OldMembersFirst == TRUE            \* a member that takes over sends the newest view to its old members before its
                                   \* joiners
JoinerAnswersQuery == TRUE         \* a joiner that is asked before it has a view answers
LeaverSkipsTakeover == TRUE        \* a member that asked a senior to leave does not take over
FirstTakesOver == TRUE             \* ... but the first member of a view does, though it asked to leave
HandViewToJoiner == TRUE           \* a joiner that is to take over is sent its view by the members that rely on it
DropSuspectedJoiner == TRUE        \* a suspected joiner is struck from the queue
IncarnationCheck == "ever"         \* a JOIN_REQ is refused from an incarnation that was "ever" in a view of this
                                   \* branch, or is "present" in this view; or "never"
PredecessorCheck == TRUE           \* a member installs the view that follows its own, and no other
ViewIdNames == "creator"           \* an identifier has the view's "creator", or its "first" member, in it
TagDigestRequests == TRUE          \* a digest is accepted only by the protocol that asked for it
PassStops == TRUE                  \* GroupStopped for another asker is passed down
AnswerExcluded == TRUE             \* a JOIN_REQ of an incarnation that was excluded is answered (JOIN_REFUSED)
AnswerFormer == TRUE               \* ... and that of an incarnation of which the name had a later one in a view
DigestTakenWhen == "first"         \* "first", and then the view is decided; or when "answering" the joiner
WithdrawPromiseWhen == "undecided" \* a promise is withdrawn when the joiner is suspected and its view "undecided", when
                                   \* it is suspected at all ("suspected"), or "never"

ASSUME
    /\ MaxBundle \in Nat \ {0}
    /\ {JoinRspAfterAcks, QueryBeforeDeciding, RefuseSeniors, OldMembersFirst, JoinerAnswersQuery, LeaverSkipsTakeover,
        FirstTakesOver, HandViewToJoiner, DropSuspectedJoiner, PredecessorCheck, TagDigestRequests, PassStops, AnswerExcluded,
        AnswerFormer} \subseteq BOOLEAN
    /\ IncarnationCheck \in {"ever", "present", "never"}
    /\ ViewIdNames \in {"creator", "first"}
    /\ DigestTakenWhen \in {"first", "answering"}
    /\ WithdrawPromiseWhen \in {"undecided", "suspected", "never"}

-----------------------------------------------------------------------------
(* Decisions *)

\* A view as GMS knows it. `follows`: the identifier of the predecessor. `lives`: [address -> its newest incarnation
\* that was in a view of this branch]. `joiners`: the members that begin with this view. `digest`: the start digest of
\* the joiners, [old member -> seqno].
Decision(id, members, follows, lives, joiners, digest) ==
    [id |-> id, members |-> members, follows |-> follows, lives |-> lives, joiners |-> joiners,
     digest |-> digest]

NoDigest == [m \in {} |-> Nothing]

NoDecision == Decision(NoViewId, <<>>, NoViewId, [m \in {} |-> 0], {}, NoDigest)

\* A group with a single member.
Founding(member) ==
    Decision(ViewId(1, member), <<member>>, NoViewId, [m \in {member} |-> 0], {member}, NoDigest)

ViewIn(decision) == [id |-> decision.id, members |-> decision.members]

-----------------------------------------------------------------------------
(* Messages and effects *)

JoinReq(life) == [type |-> "JOIN_REQ", life |-> life]
JoinRsp(decision) == [type |-> "JOIN_RSP", decision |-> decision]

\* To a joiner: this incarnation of it was in a view, and is excluded; or a later one of its name was in a view. It has to
\* ask as the next one.
JoinRefused(life) == [type |-> "JOIN_REFUSED", life |-> life]
LeaveReq(life) == [type |-> "LEAVE_REQ", life |-> life]
LeaveRsp(life) == [type |-> "LEAVE_RSP", life |-> life]
NewView(decision) == [type |-> "NEW_VIEW", decision |-> decision]
ViewAck(id) == [type |-> "VIEW_ACK", view_id |-> id]

\* Which view do you have? `seniors`: those before the asker, who are refused from now on.
Query(id, seniors) == [type |-> "QUERY", view_id |-> id, seniors |-> seniors]
Answer(id, decision) == [type |-> "ANSWER", view_id |-> id, decision |-> decision]

\* A view is announced to the layers below, then to those above (LAY-06).
Installed(decision) ==
    <<PassDown([type |-> "ViewInstalled", view |-> ViewIn(decision)]),
      PassUp([type |-> "ViewInstalled", view |-> ViewIn(decision)])>>
StartAt(decision) == PassDown([type |-> "DigestSet", digest |-> decision.digest])
LeftTheGroup == PassUp([type |-> "Left"])

\* EVT-05: a request says who asks, and the answer says it again.
Self == "GMS"
GetDigest(request) == PassDown([type |-> "GetDigest", asker |-> Self, request |-> request])
PassOn(e) == PassUp([type |-> "DigestGiven", asker |-> e.asker, request |-> e.request, digest |-> e.digest])

\* Suspend asks the layer above to stop all unsuspected members of the view; it answers GroupStopped. Resume ends that
\* stop. (A stack without FLUSH: the layer that runs GMS answers, at once or after a while, and more requests may
\* arrive before the answer.)
SuspendGroup == PassUp([type |-> "Suspend", asker |-> Self])
ResumeGroup == PassUp([type |-> "Resume", asker |-> Self])

\* The layers below keep what was promised, from before the digest is taken.
Promised(m) == PassDown([type |-> "DigestPromised", to |-> m])
Withdrawn(m) == PassDown([type |-> "PromiseWithdrawn", to |-> m])

\* The same message to each of some members, in their order in `list`.
SendAll(list, to, message) ==
    LET In(m) == m \in to
        those == SelectSeq(list, In)
    IN [i \in DOMAIN those |-> Send(those[i], message)]

\* GMS passes up every suspicion, wherever it came from: FLUSH has to refuse the members that GMS refuses.
SaySuspected(list, suspects) ==
    LET In(m) == m \in suspects
        those == SelectSeq(list, In)
    IN [i \in DOMAIN those |-> PassUp([type |-> "Suspected", suspect |-> those[i]])]

-----------------------------------------------------------------------------
(* State *)

\* A request that waits: to "join" or to "leave".
Request(kind, member, life) == [kind |-> kind, member |-> member, life |-> life]

OwnLeave(s) == Request("leave", s.member, s.life)

\* A member before its first view.
Start(member) ==
    [member |-> member,         \* this member's address
     life |-> 0,                \* its incarnation: how often its address was in use before
     joining |-> FALSE,         \* its application wants to join
     decision |-> NoDecision,   \* the view installed
     suspected |-> {},          \* members that are suspected, or refused since a junior asked
     phase |-> "following",     \* what it does now: one of Phases
     awaits |-> {},             \* asking: members whose ANSWER is awaited; announcing, answering: ... whose VIEW_ACK is
     newest |-> NoDecision,     \* asking: the successor of its own view, from an ANSWER
     took_over |-> FALSE,       \* announcing, answering: the view is its senior's, and who is stopped is not known
     owed |-> {},               \* announcing: joiners that are answered when nothing is awaited any more
     admitting |-> 0,           \* admitting: how many requests, from the head of the queue, the next view grants
     queue |-> <<>>,            \* requests in the order in which they came
     asked |-> 0,               \* how many digests it has asked for: the number of the last request
     leaving |-> FALSE,         \* its application wants to leave
     leave_asked |-> "",        \* the member that it has asked to leave
     gone |-> FALSE]            \* it has left, or was refused

\* What a member does: a phase is a state of an automaton. All but the first two are a coordinator's. A phase ends when
\* what it waits for is there. Then the next is further down in this list (Follow); or it is "announcing" again, with
\* the next view. A NEW_VIEW that follows, or a QUERY of a member that takes over, ends any phase: "following" is next.
\*   phase         waits for                        the group    then
\*   "following"   all its seniors to be suspected               asking; or it goes, if it has asked a senior to leave
\*   "asking"      an ANSWER of each other                       announcing the newest view again
\*   "announcing"  a VIEW_ACK of each old member    stopped *    answering its joiners, if there are any; or as below
\*   "answering"   a VIEW_ACK of each joiner        stopped *    stopping, if there is something to decide; or at rest
\*   "at rest"     something to decide              free         stopping
\*   "stopping"    GroupStopped                     asked for    admitting joiners, if there are any; or announcing
\*   "admitting"   DigestGiven                      stopped      announcing
\* (*) After a takeover it may be stopped or not: the next phase is "stopping", also with nothing to decide.
Phases == <<"following", "asking", "announcing", "answering", "at rest", "stopping", "admitting">>

Spreads(s) == s.phase \in {"announcing", "answering"}
Leads(s) == s.phase \notin {"following", "asking"}
HoldsGroup(s) == s.phase = "admitting" \/ (Spreads(s) /\ ~s.took_over)

\* In another phase, with these awaited. Nothing is left of the phase before.
Into(s, phase, awaits) ==
    [s EXCEPT !.phase = phase, !.awaits = awaits, !.newest = NoDecision, !.took_over = FALSE, !.owed = {},
              !.admitting = 0]

InView(s) == s.decision # NoDecision
MembersOfView(s) == MembersOf(s.decision)

Unsuspected(s) ==
    LET Trusted(m) == m \notin s.suspected IN SelectSeq(s.decision.members, Trusted)

\* Is this member the first that it does not suspect itself? (A member without a view has no members.)
IsActing(s) == ~s.gone /\ Unsuspected(s) # <<>> /\ Head(Unsuspected(s)) = s.member

Others(s) == MembersOf([members |-> Unsuspected(s)]) \ {s.member}

\* Those before m in the view.
Before(decision, m) ==
    LET place(x) == CHOOSE i \in DOMAIN decision.members : decision.members[i] = x
    IN {x \in MembersOf(decision) : place(x) < place(m)}

LifeOf(s, m) == s.decision.lives[m]

\* An address of a later incarnation of m's name was in a view of this branch.
HasLaterIncarnation(s, m) == \E x \in DOMAIN s.decision.lives : IsFormer(m, x)

\* Was this incarnation of m, or a later one, in a view of this branch? (No request outlives that.)
IsOver(s, m, life) ==
    CASE IncarnationCheck = "ever" -> (m \in DOMAIN s.decision.lives /\ life <= LifeOf(s, m)) \/ HasLaterIncarnation(s, m)
      [] IncarnationCheck = "present" -> m \in MembersOfView(s) /\ life <= LifeOf(s, m)
      [] IncarnationCheck = "never" -> FALSE

IsQueued(s, kind, m) == \E i \in DOMAIN s.queue : s.queue[i].kind = kind /\ s.queue[i].member = m

Waits(s, m, life) ==
    \E i \in DOMAIN s.queue :
        s.queue[i].kind = "join" /\ s.queue[i].member = m /\ s.queue[i].life >= life

\* The requests that the next view grants, and those that wait for a later one.
Granting(s) == SubSeq(s.queue, 1, s.admitting)
Waiting(s) == SubSeq(s.queue, s.admitting + 1, Len(s.queue))

\* The members of some requests that want to join, in order.
IsJoin(r) == r.kind = "join"
Joining(requests) == LET joins == SelectSeq(requests, IsJoin) IN [i \in DOMAIN joins |-> joins[i].member]

\* The requests to join among those that the next view grants: their members are promised a digest.
Admitting(s) == {r \in {s.queue[i] : i \in 1 .. s.admitting} : IsJoin(r)}
Promisees(s) == {r.member : r \in Admitting(s)}
PromisedLife(s, m) == (CHOOSE r \in Admitting(s) : r.member = m).life

\* Without m's request to join, if its digest is awaited, or if it waits for its turn. If nothing else was to be
\* granted, the digest is awaited no more.
WithoutJoin(s, m) ==
    LET Other(r) == ~(r.kind = "join" /\ r.member = m)
        granting == Len(SelectSeq(Granting(s), Other))
    IN [s EXCEPT !.queue = SelectSeq(@, Other), !.admitting = granting,
                 !.phase = IF @ = "admitting" /\ granting = 0 THEN "announcing" ELSE @]

\* The effect on the layers below when these members' requests to join are dropped, for each that was promised a digest.
Withdrawal(s, members) ==
    LET In(m) == m \in members
        those == SelectSeq(Joining(Granting(s)), In)
    IN IF WithdrawPromiseWhen = "never" THEN <<>> ELSE [i \in DOMAIN those |-> Withdrawn(those[i])]

Struck(s, m) ==
    [s EXCEPT !.awaits = @ \ {m}, !.owed = @ \ {m}]

\* The requests that outlive a view change: to leave, of members of the new view. (A leaver asks once
\* in each view, and who takes over in it may not have it yet.)
Kept(s, decision) ==
    LET Stays(r) == r.kind = "leave" /\ r.member \in MembersOf(decision) \ {s.member}
    IN SelectSeq(s.queue, Stays)

\* The state of a member that has just installed a view.
Enter(s, decision) ==
    [Into(s, "following", {}) EXCEPT !.decision = decision, !.suspected = @ \cap MembersOf(decision),
                                     !.queue = Kept(s, decision), !.leave_asked = "", !.joining = FALSE]

-----------------------------------------------------------------------------
(* A phase ends: a step ends with Proceed *)

HasToDecide(s) == s.queue # <<>> \/ s.suspected # {}

\* Its last view is everywhere. (Joiners are answered first: Follow.)
IsDone(s) == (Spreads(s) \/ s.phase = "at rest") /\ s.awaits = {}

\* It asks before each view; between two views the group stays stopped, and the answer can arrive at once. If it does
\* not ask again, the group is resumed.
MustSuspend(s) == IsDone(s) /\ (s.took_over \/ HasToDecide(s))
MustResume(s) == IsDone(s) /\ s.phase # "at rest"

\* A member that asked a senior to leave, and would have to take over, goes instead: its leave may be granted. (The
\* first member of a view asked no other in it. If it went, the others would have to find out.)
AskedSenior(s) == FirstTakesOver => Head(s.decision.members) # s.member
MustGo(s) == ~Leads(s) /\ IsActing(s) /\ s.leaving /\ LeaverSkipsTakeover /\ AskedSenior(s)

\* Seam: a member that takes over may have been stopped by a member that crashed; others may not have been.
TookOver == TRUE

Unchanged(s) == [state |-> s, effects |-> <<>>]

Go(s) == [state |-> [s EXCEPT !.gone = TRUE], effects |-> <<LeftTheGroup>>]

\* It takes over: it asks all that it does not suspect.
Ask(s) ==
    IF ~QueryBeforeDeciding THEN Unchanged([Into(s, "announcing", {}) EXCEPT !.took_over = TookOver])
    ELSE [state |-> Into(s, "asking", Others(s)),
          effects |-> SendAll(s.decision.members, Others(s), Query(s.decision.id, Before(s.decision, s.member)))]

\* All have answered: it installs the newest view, if that is not its own, and sends it to all.
SendAgain(s) ==
    LET newer == s.newest # NoDecision
        entered == IF newer THEN [Enter(s, s.newest) EXCEPT !.queue = s.queue] ELSE s
        joiners == entered.decision.joiners \cap Others(entered)
        late == IF OldMembersFirst THEN joiners ELSE {}
        olds == Others(entered) \ joiners
        news == IF newer THEN Installed(s.newest) ELSE <<>>
    IN [state |-> [Into(entered, "announcing", Others(entered) \ late) EXCEPT
                    !.took_over = TookOver, !.owed = late, !.queue = IF s.leaving THEN Append(@, OwnLeave(s)) ELSE @],
        effects |-> news \o SendAll(entered.decision.members, olds, NewView(entered.decision))
                         \o SendAll(entered.decision.members, joiners \ late, JoinRsp(entered.decision))]

\* It waits for a digest, to grant the first n requests: the joiners are promised it before it is taken.
AskForDigest(s, n) ==
    LET asked == [s EXCEPT !.phase = "admitting", !.admitting = n, !.asked = @ + 1]
        joiners == Joining(Granting(asked))
    IN [state |-> asked, effects |-> [i \in DOMAIN joiners |-> Promised(joiners[i])] \o <<GetDigest(asked.asked)>>]

\* The old members have the view: its joiners are answered.
AnswerJoiners(s) ==
    IF DigestTakenWhen = "answering"
    THEN LET m == CHOOSE m \in s.owed : TRUE
         IN AskForDigest([s EXCEPT !.queue = <<Request("join", m, LifeOf(s, m))>> \o @], 1)
    ELSE [state |-> [s EXCEPT !.phase = "answering", !.awaits = s.owed, !.owed = {}],
          effects |-> SendAll(s.decision.members, s.owed, JoinRsp(s.decision))]

Suspend(s) == [state |-> Into(s, "stopping", {}), effects |-> <<SuspendGroup>>]
Resume(s) == [state |-> Into(s, "at rest", {}), effects |-> <<ResumeGroup>>]

\* The next thing that follows, if a phase is at its end.
Follow(s) ==
    IF s.gone THEN Unchanged(s)
    ELSE IF MustGo(s) THEN Go(s)
    ELSE IF s.phase = "following" /\ IsActing(s) THEN Ask(s)
    ELSE IF s.phase = "asking" /\ s.awaits = {} THEN SendAgain(s)
    ELSE IF s.phase = "announcing" /\ s.awaits = {} /\ s.owed # {} THEN AnswerJoiners(s)
    ELSE IF MustSuspend(s) THEN Suspend(s)
    ELSE IF MustResume(s) THEN Resume(s)
    ELSE Unchanged(s)

\* One thing after the other; the state that each leaves is the next one's. (A bound variable is a value:
\* while TLC looks at what is enabled it evaluates a LET again wherever its name stands.)
Then(step, Next(_)) ==
    LET Both(before, after) == [state |-> after.state, effects |-> before.effects \o after.effects]
    IN CHOOSE both \in {Both(x[1], x[2]) : x \in {<<y, Next(y.state)>> : y \in {step}}} : TRUE

\* All that follows, once down the list of phases: so it ends, whatever Follow does. (That nothing is left then is a
\* claim, Settled.)
RECURSIVE FollowAll(_, _)
FollowAll(step, phases) ==
    LET FollowHere(s) == IF s.phase = Head(phases) THEN Follow(s) ELSE Unchanged(s)
    IN IF phases = <<>> THEN step ELSE FollowAll(Then(step, FollowHere), Tail(phases))

\* A member that wants to leave asks the acting coordinator, and asks again when the acting coordinator changes.
AskToLeave(s) ==
    IF ~s.leaving \/ s.gone \/ IsActing(s) THEN Unchanged(s)
    ELSE IF Head(Unsuspected(s)) = s.leave_asked THEN Unchanged(s)
    ELSE [state |-> [s EXCEPT !.leave_asked = Head(Unsuspected(s))],
          effects |-> <<Send(Head(Unsuspected(s)), LeaveReq(s.life))>>]

Proceed(state, effects) ==
    LET done == Then(FollowAll([state |-> state, effects |-> effects], Phases), AskToLeave)
    IN Handled(done.state, done.effects)

-----------------------------------------------------------------------------
(* Requests *)

\* The application wants to join, as this incarnation, and discovery found this coordinator; again at each
\* retry (AMB-29). A member that is found acts: if it was refused, that was a former incarnation of it. A member that finds
\* itself founds the group. (An address that was in use before founds none: its first view would have the
\* identifier of another. It needs a new address.)
JoinRequested(s, e) ==
    IF InView(s) \/ s.gone THEN LocalError(s)
    ELSE IF e.coordinator # s.member
    THEN Handled([s EXCEPT !.life = e.life, !.joining = TRUE, !.suspected = @ \ {e.coordinator}],
                 <<Send(e.coordinator, JoinReq(e.life))>>)
    ELSE IF e.life > 0 THEN LocalError(s)
    ELSE Handled(Into(Enter(s, Founding(s.member)), "at rest", {}), Installed(Founding(s.member)))

\* The application wants to leave. A coordinator queues its own leave.
LeaveRequested(s, e) ==
    IF ~InView(s) \/ s.gone THEN LocalError(s)
    ELSE IF s.leaving THEN Ignored(s)
    ELSE LET asked == [s EXCEPT !.leaving = TRUE]
         IN Proceed(IF Leads(s) THEN [asked EXCEPT !.queue = Append(@, OwnLeave(s))] ELSE asked, <<>>)

\* The former incarnation's leave goes before all other requests that wait, and the new one's comes after them.
FormerLeavesFirst(s, leave, join) == Granting(s) \o <<leave>> \o Append(Waiting(s), join)

\* FLAW-133: this incarnation of m was in a view of this branch, and is not any more. If it asks, its JOIN_RSP was
\* lost, or is void: it can never be admitted again, and only the acting coordinator can say so.
IsExcluded(s, m, life) ==
    m \in DOMAIN s.decision.lives \ MembersOfView(s) /\ life = LifeOf(s, m)

\* MBR-12: requests are taken in the order of arrival. A JOIN_REQ of a new incarnation implies that the former
\* incarnation is over. The former's own join request is dropped; if the former is in the view, its leave goes to the
\* head of the queue.
JoinReqReceived(s, e) ==
    LET m == e.sender
        life == e.message.life
        join == Request("join", m, life)
        cleaned == WithoutJoin(s, m)
        present == m \in MembersOfView(s)
    IN
    IF ~IsActing(s) \/ m = s.member \/ Waits(s, m, life) THEN Ignored(s)
    ELSE IF IsOver(s, m, life) THEN
        \* It was answered and asks again: the same answer, and no new view (AMB-29).
        IF s.phase = "answering" /\ m \in s.awaits /\ life = LifeOf(s, m)
        THEN Handled(s, <<Send(m, JoinRsp(s.decision))>>)
        ELSE IF AnswerExcluded /\ IsExcluded(s, m, life) THEN Handled(s, <<Send(m, JoinRefused(life))>>)
        ELSE IF AnswerFormer /\ HasLaterIncarnation(s, m) THEN Handled(s, <<Send(m, JoinRefused(life))>>)
        ELSE Ignored(s)
    ELSE IF present /\ IncarnationCheck = "never" /\ ~IsQueued(s, "leave", m)
    THEN Handled(s, <<Send(m, JoinRsp([s.decision EXCEPT !.joiners = {m}, !.lives[m] = life]))>>)
    ELSE IF present /\ ~IsQueued(s, "leave", m)
    THEN Proceed([Struck(cleaned, m) EXCEPT
                    !.queue = FormerLeavesFirst(cleaned, Request("leave", m, LifeOf(s, m)), join)],
                 Withdrawal(s, {m}))
    ELSE Proceed([cleaned EXCEPT !.queue = Append(@, join)], Withdrawal(s, {m}))

\* This incarnation is over, as after a leave. (In a view it knows better, and of another incarnation it knows nothing.)
JoinRefusedReceived(s, e) ==
    IF s.gone \/ InView(s) \/ ~s.joining \/ e.message.life # s.life THEN Ignored(s)
    ELSE Handled([s EXCEPT !.gone = TRUE], <<LeftTheGroup>>)

\* Its request to leave is there already. (A request to join may be there, too, that a view has granted which another member
\* created, or a merge: FLAW-217.)
LeaveWaits(s, m) == IsQueued(s, "leave", m)

\* (Also at a member that does not act yet: the leaver may be the first to know that it will.)
LeaveReqReceived(s, e) ==
    LET m == e.sender IN
    IF s.gone \/ m \notin MembersOfView(s) THEN Ignored(s)
    ELSE IF e.message.life # LifeOf(s, m) \/ LeaveWaits(s, m) THEN Ignored(s)
    ELSE Proceed([s EXCEPT !.queue = Append(@, Request("leave", m, e.message.life))], <<>>)

\* Its leave is granted. (It ignores the grant for another incarnation.)
LeaveRspReceived(s, e) ==
    IF s.gone \/ e.message.life # s.life \/ ~InView(s) THEN Ignored(s)
    ELSE Handled([s EXCEPT !.gone = TRUE], <<LeftTheGroup>>)

-----------------------------------------------------------------------------
(* Suspicion, and who takes over *)

\* The member on which this one relies from now on, as it suspects the one before, is a joiner, and may lack its view: the
\* coordinator may have crashed before it answered. No other member would send it.
Handed(s, struck) ==
    LET next == Head(Unsuspected(struck)) IN
    IF HandViewToJoiner /\ next \in s.decision.joiners \ {s.member} /\ next # Head(Unsuspected(s))
    THEN <<Send(next, JoinRsp(s.decision))>>
    ELSE <<>>

\* The failure detector says that a member, or a joiner that waits, has crashed (AMB-28).
Suspected(s, e) ==
    LET x == e.suspect
        out == IF DropSuspectedJoiner THEN WithoutJoin(s, x) ELSE s
        struck == [Struck(out, x) EXCEPT !.suspected = IF x \in MembersOfView(s) THEN @ \cup {x} ELSE @]
        decided == WithdrawPromiseWhen = "suspected" /\ Leads(s) /\ x \in s.owed \cup (s.awaits \cap s.decision.joiners)
    IN IF x = s.member THEN LocalError(s)
       ELSE IF s.gone \/ struck = s THEN Ignored(s)
       ELSE Proceed(struck, SaySuspected(s.decision.members, struck.suspected \ s.suspected)
                            \o (IF DropSuspectedJoiner THEN Withdrawal(s, {x}) ELSE <<>>)
                            \o (IF decided THEN <<Withdrawn(x)>> ELSE <<>>)
                            \o (IF InView(s) THEN Handed(s, struck) ELSE <<>>))

\* Those seniors of the asker that are its seniors here, too. (An asker that is behind may name members that have
\* left: they would be suspected for ever, with no view to exclude them. Or it may name members that rejoined as
\* juniors.)
Refused(s, e) == e.message.seniors \cap Before(s.decision, e.sender)

\* A query of a former incarnation: it names a view that has been over for longer than any present member can be
\* behind.
IsLate(s, id) == id.counter <= s.decision.id.counter /\ id \notin {s.decision.id, s.decision.follows}

\* A junior, or a senior that takes over, asks. A member that answers refuses those before the asker from then on.
QueryReceived(s, e) ==
    LET refused == IF RefuseSeniors THEN [Into(s, "following", {}) EXCEPT !.suspected = @ \cup Refused(s, e)] ELSE s
        answer == <<Send(e.sender, Answer(e.message.view_id, s.decision))>>
    IN IF s.gone THEN Ignored(s)
       ELSE IF ~InView(s) THEN
            IF JoinerAnswersQuery
            THEN Handled(IF RefuseSeniors THEN [s EXCEPT !.suspected = @ \cup e.message.seniors] ELSE s,
                         answer)
            ELSE Ignored(s)
       ELSE IF e.sender \notin MembersOfView(s) \/ e.sender \in s.suspected \/ s.member \in e.message.seniors
       THEN Ignored(s)
       ELSE IF IsLate(s, e.message.view_id) THEN Handled(s, answer)
       ELSE Proceed(refused, (IF RefuseSeniors THEN Withdrawal(s, Promisees(s)) ELSE <<>>)
                             \o SaySuspected(s.decision.members, refused.suspected \ s.suspected) \o answer)

\* A member that is asked sends its view, and so does a member that was sent a view other than its own.
AnswerReceived(s, e) ==
    LET m == e.sender
        told == e.message.decision
        heard == IF s.phase = "asking" THEN [s EXCEPT !.awaits = @ \ {m}] ELSE s
    IN IF m \notin s.awaits \/ e.message.view_id # s.decision.id THEN Ignored(s)
       ELSE IF told = NoDecision \/ told.id \in {s.decision.id, s.decision.follows} THEN Proceed(heard, <<>>)
       ELSE IF s.phase = "asking" /\ told.follows = s.decision.id /\ s.member \in MembersOf(told)
       THEN Proceed([heard EXCEPT !.newest = told], <<>>)
       \* The sender is on another branch: it is no longer a member here.
       ELSE Proceed([Struck(s, m) EXCEPT !.suspected = @ \cup {m}],
                    SaySuspected(s.decision.members, {m} \ s.suspected))

-----------------------------------------------------------------------------
(* Views arrive *)

\* A view that does not follow this member's own is a late copy of an old view. After a false suspicion it may belong
\* to another branch, whose coordinator counts this member in and would wait for ever. So this member answers with its
\* own view.
Elsewhere(s, e) == Handled(s, <<Send(e.sender, Answer(e.message.decision.id, s.decision))>>)

\* The members that a member refuses once it acknowledges a view: the seniors of the view's sender. The sender refuses
\* them, too, and now relies on this member. (This member may have been asked to refuse them when it was in no view,
\* and may have asked one of them again since: then two coordinators would rely on it. A member that decides a view
\* and leaves is not in it. A junior never relies on its senior and sends it nothing.)
SuspectedSince(s, decision, sender) ==
    IF sender \in MembersOf(decision) /\ s.member \notin Before(decision, sender)
    THEN Before(decision, sender) \ s.suspected
    ELSE {}

\* The present view arrives again.
Again(s, e) ==
    LET since == SuspectedSince(s, s.decision, e.sender)
    IN Handled([s EXCEPT !.suspected = @ \cup since],
               SaySuspected(s.decision.members, since) \o <<Send(e.sender, ViewAck(s.decision.id))>>)

\* The next view arrives at an old member, or the present one again.
NewViewReceived(s, e) ==
    LET decision == e.message.decision
        ack == <<Send(e.sender, ViewAck(decision.id))>>
        since == SuspectedSince(s, decision, e.sender)
        next == PredecessorCheck => decision.follows = s.decision.id
    IN IF ~InView(s) \/ s.gone \/ e.sender \in s.suspected THEN Ignored(s)
       ELSE IF decision.id = s.decision.id THEN Again(s, e)
       ELSE IF ~next THEN Elsewhere(s, e)
       ELSE Proceed(Enter([s EXCEPT !.suspected = @ \cup since], decision),
                    Withdrawal(s, Promisees(s)) \o Installed(decision)
                    \o SaySuspected(decision.members, since) \o ack)

\* The members that a joiner suspects when it begins: those of its seniors that are seniors of the member that answers it.
\* That member suspects them, too, or it would not answer. Any other member that it refused before may be another
\* incarnation now. (If the joiner forgot the seniors, a senior that is alive and falsely suspected would wait for ever,
\* since its messages to the joiner were refused.)
SuspectedAtFirst(s, decision, sender) == Before(decision, sender) \cap Before(decision, s.member)

\* The answer that a joiner waits for: its first view, and where it starts (JOI-01).
JoinRspReceived(s, e) ==
    LET decision == e.message.decision
        ack == <<Send(e.sender, ViewAck(decision.id))>>
        refused == SuspectedAtFirst(s, decision, e.sender)
    IN IF s.gone \/ e.sender \in s.suspected THEN Ignored(s)
       ELSE IF InView(s) THEN IF decision.id = s.decision.id THEN Again(s, e) ELSE Elsewhere(s, e)
       ELSE IF ~s.joining \/ decision.lives[s.member] # s.life THEN Ignored(s)
       ELSE Proceed(Enter([s EXCEPT !.suspected = refused], decision),
                    <<StartAt(decision)>> \o Installed(decision) \o SaySuspected(decision.members, refused) \o ack)

ViewAckReceived(s, e) ==
    IF ~Spreads(s) \/ e.sender \notin s.awaits \/ e.message.view_id # s.decision.id THEN Ignored(s)
    ELSE Proceed([s EXCEPT !.awaits = @ \ {e.sender}], <<>>)

-----------------------------------------------------------------------------
(* Views are decided *)

NextCounter(s) == s.decision.id.counter + 1
Creator(s, members) == IF ViewIdNames = "creator" THEN s.member ELSE Head(members)

\* The joiners are the most junior.
WithJoiners(members, joiners) == members \o joiners

\* (Who asks to join is no member.)
StaysMember(s, requests, m) == m \notin s.suspected /\ ~\E i \in DOMAIN requests : requests[i].member = m

\* Those that leave with the next view are answered.
Released(s, requests) ==
    LET IsOther(r) == r.kind = "leave" /\ r.member # s.member
        those == SelectSeq(requests, IsOther)
    IN [i \in DOMAIN those |-> Send(those[i].member, LeaveRsp(those[i].life))]

\* The next view: the requests that it is to grant are granted, and all that are suspected are out (MBR-11).
Decide(s, digest) ==
    LET granted == Granting(s)
        Stays(m) == StaysMember(s, granted, m)
        staying == SelectSeq(s.decision.members, Stays)
        stay == MembersOf([members |-> staying])
        joining == Joining(granted)
        joiners == Promisees(s)
        members == WithJoiners(staying, joining)
        id == ViewId(NextCounter(s), Creator(s, members))
        known == DOMAIN s.decision.lives
        decision == Decision(id, members, s.decision.id,
                             LatestLives([m \in known \cup joiners |->
                                        IF m \in joiners THEN PromisedLife(s, m) ELSE LifeOf(s, m)],
                                    MembersOf([members |-> members])),
                             joiners, IF joiners = {} THEN NoDigest ELSE digest)
        olds == stay \ {s.member}
        views == SendAll(members, olds, NewView(decision))
        done == [Into(s, "announcing", {}) EXCEPT !.queue = Waiting(s)]
    IN
    IF members = s.decision.members THEN Proceed(done, <<>>)
    ELSE IF s.member \notin stay       \* it leaves: the next in line takes over
    THEN Handled([done EXCEPT !.gone = TRUE, !.queue = <<>>], views \o Released(s, granted) \o <<LeftTheGroup>>)
    ELSE Proceed([Enter(s, decision) EXCEPT
                    !.phase = "announcing", !.queue = done.queue,
                    !.awaits = IF JoinRspAfterAcks THEN olds ELSE olds \cup joiners,
                    !.owed = IF JoinRspAfterAcks THEN joiners ELSE {}],
                 Installed(decision) \o views \o Released(s, granted)
                 \o (IF JoinRspAfterAcks THEN <<>> ELSE SendAll(members, joiners, JoinRsp(decision))))

\* A request that a view has granted already: to join, by another coordinator (who takes over had it before it learnt of
\* that view); or to leave, of a member that was suspected meanwhile.
IsGranted(s, request) ==
    IF request.kind = "join" THEN IsOver(s, request.member, request.life)
    ELSE request.member \notin MembersOfView(s) \/ request.life # LifeOf(s, request.member)

\* A former incarnation of the joiner is still in the view.
FormerIsMember(s, request) == request.kind = "join" /\ request.member \in MembersOfView(s)

\* May one view grant the first n requests? No incarnation joins while a former one is in the view. The coordinator goes in
\* no view with joiners: it has to answer them.
MayBundle(s, queue, n) ==
    /\ \A i \in 1 .. n : ~FormerIsMember(s, queue[i])
    /\ ~\E i, j \in 1 .. n : queue[i] = OwnLeave(s) /\ queue[j].kind = "join"

\* How many requests the next view grants, from the head of the queue: as many as may be (MBR-12).
Bundle(s, queue) ==
    LET most == IF Len(queue) < MaxBundle THEN Len(queue) ELSE MaxBundle
    IN CHOOSE n \in 0 .. most : MayBundle(s, queue, n) /\ (n < most => ~MayBundle(s, queue, n + 1))

\* It is asked for, and by GMS.
IsAnswer(s, e) == s.phase = "stopping" /\ e.asker = Self

\* All that were to be stopped, less who was suspected since, are stopped, and have delivered the same: it is
\* time for the next view. Members that join get a digest first. While a former incarnation of one is still in the
\* view it waits, and who is suspected goes, by a view of its own: who is in the view can be promised nothing.
\* An answer that another layer asked for, such as state transfer, is passed on.
GroupStopped(s, e) ==
    LET IsOpen(r) == ~IsGranted(s, r)
        queue == SelectSeq(s.queue, IsOpen)
        n == Bundle(s, queue)
        ready == [s EXCEPT !.queue = queue]
        bundled == [ready EXCEPT !.admitting = n]
    IN IF ~IsAnswer(s, e)
       THEN IF PassStops /\ e.asker # Self THEN Handled(s, <<PassDown(e)>>) ELSE Ignored(s)
       ELSE IF Promisees(bundled) # {} /\ DigestTakenWhen = "first"
       THEN LET asked == AskForDigest(ready, n) IN Handled(asked.state, asked.effects)
       ELSE Decide(bundled, NoDigest)

Fits(s, digest) == DOMAIN digest = MembersOfView(s)

\* The layer below gives the digest that was asked for, as it was then: the joiner starts there. A digest for another
\* protocol is passed on (EVT-05).
DigestGiven(s, e) ==
    IF TagDigestRequests /\ e.asker # Self THEN Handled(s, <<PassOn(e)>>)
    ELSE IF s.phase # "admitting" \/ (TagDigestRequests /\ e.request # s.asked) THEN Ignored(s)
    ELSE IF ~Fits(s, e.digest) THEN LocalError(s)
    ELSE
    LET told == [s.decision EXCEPT !.digest = [m \in MembersOfView(s) \ s.owed |-> e.digest[m]]]
    IN IF DigestTakenWhen = "answering"
       THEN Handled([s EXCEPT !.phase = "answering", !.awaits = s.owed, !.owed = {}, !.admitting = 0,
                              !.queue = Waiting(s)],
                    SendAll(s.decision.members, s.owed, JoinRsp(told)))
       ELSE Decide(s, [m \in DOMAIN e.digest \ s.suspected |-> e.digest[m]])

-----------------------------------------------------------------------------
(* Messages that no correct peer sends, whatever the state of the receiver    *)

\* A view goes to its members. A first one goes to a joiner, from another member (joiners are the most junior: one that is
\* junior to it begins, too), and says of all others where to start.
IsFirstView(s, x, decision) ==
    /\ IsSound(decision)
    /\ s.member \in decision.joiners /\ x \in MembersOf(decision)
    /\ s.member \in Before(decision, x) => x \in decision.joiners
    /\ MembersOf(decision) \ decision.joiners \subseteq DOMAIN decision.digest

\* No member queries a member that it suspects, and no member suspects itself.
IsMalformed(s, e) ==
    CASE e.message.type \in {"JOIN_REQ", "JOIN_REFUSED", "LEAVE_REQ", "LEAVE_RSP"} -> e.message.life < 0
      [] e.message.type = "NEW_VIEW" ->
            ~IsSound(e.message.decision) \/ s.member \notin MembersOf(e.message.decision)
      [] e.message.type = "JOIN_RSP" -> ~IsFirstView(s, e.sender, e.message.decision)
      [] e.message.type = "ANSWER" -> e.message.decision # NoDecision /\ ~IsSound(e.message.decision)
      [] e.message.type = "QUERY" -> {e.sender, s.member} \cap e.message.seniors # {}
      [] OTHER -> FALSE

Refuses(s, e) == "message" \in DOMAIN e /\ IsMalformed(s, e)

-----------------------------------------------------------------------------
(* Step: total over the alphabet *)

Step(s, e) ==
    IF Refuses(s, e) THEN RemoteError(s) ELSE
    CASE e.type = "JoinRequested" -> JoinRequested(s, e)
      [] e.type = "LeaveRequested" -> LeaveRequested(s, e)
      [] e.type = "JoinReqReceived" -> JoinReqReceived(s, e)
      [] e.type = "JoinRefusedReceived" -> JoinRefusedReceived(s, e)
      [] e.type = "LeaveReqReceived" -> LeaveReqReceived(s, e)
      [] e.type = "LeaveRspReceived" -> LeaveRspReceived(s, e)
      [] e.type = "Suspected" -> Suspected(s, e)
      [] e.type = "QueryReceived" -> QueryReceived(s, e)
      [] e.type = "AnswerReceived" -> AnswerReceived(s, e)
      [] e.type = "NewViewReceived" -> NewViewReceived(s, e)
      [] e.type = "JoinRspReceived" -> JoinRspReceived(s, e)
      [] e.type = "ViewAckReceived" -> ViewAckReceived(s, e)
      [] e.type = "GroupStopped" -> GroupStopped(s, e)
      [] e.type = "DigestGiven" -> DigestGiven(s, e)
=============================================================================
