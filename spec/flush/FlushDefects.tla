---------------------------- MODULE FlushDefects ----------------------------
(******************************************************************************)
(* Defects that the claims must notice: of the algorithm where no guard of    *)
(* Flush covers it, of FLUSH's callers, of the layers below, and of the model *)
(* itself. Each is an operator that a model puts in the place of another      *)
(* (models.yaml).                                                             *)
(******************************************************************************)
EXTENDS FlushInstruments

(* The algorithm *)

\* In the place of Blocking: BLOCK is passed up at every START_FLUSH.
BlocksAgain(s) == <<Block>>

\* In the place of FreeApplication: it is set free without having been blocked.
FreesAll(s) == [state |-> [s EXCEPT !.block = "free"], effects |-> <<Unblock>>]

\* In the place of Fits: any multicast is passed up, in whatever order they come.
AnyFits(s, x, seqno) == TRUE

\* In the place of AfterStop: a requester whose group is stopped, and that is stopped by another flush, continues its
\* own flush.
KeepsFlushWhenOvertaken(s, q) == IF q = s.member \/ IsStopped(s) THEN s.run ELSE Idle(s.run.round)

\* In the place of Overtaken: a member that changes its owner forgets the former one.
ForgetsOvertaken(s) == s.later

\* In the place of IsNext: whoever waits goes before a flush of its own, juniors too.
JuniorGoesFirst(s) == DOMAIN s.later = {}

\* In the place of Ask: joiners are asked, and awaited, with the members.
AsksJoiners(s, phase, to, message) ==
    LET joiners == Joiners \ Members(s) IN
    [state |-> [s EXCEPT !.run = [Idle(message.round) EXCEPT !.phase = phase, !.want = to \cup joiners]],
     effects |-> SendAll(s.view.members \o InSomeOrder(joiners), to \cup joiners, message)]

\* In the place of Holders: every member fetches from the requester, whatever the requester has.
FetchesFromRequester(s) == [x \in Members(s) |-> s.member]

-----------------------------------------------------------------------------
(* A member that makes views, and who transfers states: what FLUSH asks of them *)

\* In the place of CallersLack: each conjunct of StopRequests but ActingAsks. (Two members that ask for one group give their flushes
\* up for each other, and begin again, without end: a search finds no end.)
AsksEarly == {"AsksWhenInstalled"}
DecidesAtOnce == {"DecidesWhenStopped"}
ResumesForOthers == {"ResumesOwnStop"}
ResumesAtOnce == {"ResumesWhenInstalled"}
AssumesMergedInstalled == {"AsksWhenInstalled", "ResumesWhenInstalled"}
JoinersSentAtOnce == {"JoinersLast"}

\* In the place of AtTakeOver: a stopped member takes its group for stopped; or, with nothing to decide, it never
\* resumes the group.
AssumesStopped(m) == IF local[m].latched THEN "stopped" ELSE "new"
NeverResumesAfterTakeover(m) == "free"

\* In the place of MayTakeOver: no member takes over.
NoTakeover(m) == FALSE

\* In the place of IsActing: the next after the first takes over, and no other member, as the note has it.
OnlySecondTakesOver(m) ==
    LET all == local[m].view.members IN
    \/ all[1] = m
    \/ Len(all) > 1 /\ all[2] = m /\ all[1] \in local[m].suspected

\* In the place of IsPresent: the failure detector reports the dead, and no address that is there again.
IsThereAgain(x, m) == x \in up

\* In the place of HasToHear: a joiner hears some time after its first view who is counted out.
JoinerSuspectsLater(m) == FALSE

\* In the place of AwaitsNoMore: acknowledgements are awaited from the dead.
AwaitsCrashed(m) == \A x \in Members(local[m]) : installed[x] = installed[m]

\* In the place of AtMerge: the first of a merged view takes it for stopped, though it was a participant.
AssumesMergedStopped(m, v) == IF CoordinatorOf(v) = m THEN "stopped" ELSE "follows"

\* In the place of StandsFor: any state does.
SetsAnyState(a, m) == TRUE

-----------------------------------------------------------------------------
(* The layers below, and the model itself *)

\* In the place of DistrustsOrExcludes: a falsely suspected member is not notified.
FalseSuspectNotNotified(x, m) == FALSE

\* In the place of Quiescent: no state is.
NeverQuiet == FALSE

\* In the place of ReceivedAs: it is taken for one of the view before.
DeliversOfViewBefore(m, event) == <<installed[m] - 1, event.sender, event.message.seqno>>

\* In the place of ApplyWith: what a step must not do. START_FLUSH changes the others, too; what an application
\* multicasts is said to be ignored, is logged twice, and makes a message that no effect says.
ApplyWrongly(action, m, event, consumed, taken, given, known, k) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [x \in Member |->
                IF x = m THEN step.state
                ELSE IF action = "ReceiveStartFlush" THEN [local[x] EXCEPT !.round = 9] ELSE local[x]]
        /\ Record(action, m, FALSE, None, event, consumed,
                  IF action = "AppSends" THEN "ignored" ELSE step.outcome,
                  IF action = "AppSends" THEN <<>> ELSE step.effects)
        /\ wire' = LET after == AfterStep(wire, m, consumed, act'.effects, up)
                   IN IF action = "AppSends" THEN [after EXCEPT ![m][m] = Append(@, StopFlush(NoViewId))] ELSE after
        /\ copies' = copies \ taken
        /\ log' = LET sends == Payloads(MulticastsOf(step.effects))
                  IN Channel!Casts(log, m, installed[m], sends \o sends)
        /\ UNCHANGED <<up, views, installed, life, settled, got, app, fetches, maker, transfer>>

-----------------------------------------------------------------------------
(* The layer of multicasts, without a conjunct of ReliableMulticast *)

\* In the place of LayerLacks: copies arrive in any order; or though they are to be held back.
NotInOrder == {"InItsView", "OfItsIncarnation", "OwnAtOnce", "InOrder"}
NotHeldBack == {"InItsView", "OfItsIncarnation", "OwnAtOnce", "HoldsBack"}

\* In the place of ReceiveData. A message arrives of a member that has multicast nothing: ReceivesForged.
Receives(action, m, x, seqno, payload) ==
    /\ ApplyWith(action, m, [type |-> "DataReceived", sender |-> x,
                             message |-> Data(local[m].view.id, seqno, payload)], {}, {}, None, views, installed[m])
    /\ Applies(m)
    /\ UNCHANGED <<cast, offers, wishes, answers, spent>>

ReceivesForged(m) ==
    /\ m \in up /\ InView(local[m])
    /\ \E x \in {x \in Members(local[m]) : log[installed[m]][x] = <<>> /\ local[m].delivered[x] = 0} :
        Receives("ReceiveData", m, x, 1, 9)

\* A message that was delivered in this view arrives again.
ReceivesAgain(m) ==
    /\ m \in up
    /\ \/ \E c \in copies :
            /\ c.to = m /\ MayArrive(m, c)
            /\ ApplyWith("ReceiveData", m, DataEvent(c), {}, {c}, None, views, installed[m])
            /\ Applies(m)
            /\ UNCHANGED <<cast, offers, wishes, answers, spent>>
       \/ \E r \in got[m] : r[1] = installed[m] /\ Receives("ReceiveData", m, r[2], r[3], log[r[1]][r[2]][r[3]])

\* In the place of Useful: what is left of the views before still arrives.
UsefulForEver(set, m, s, k) == set

\* In the place of NewCopies: one member gets no copy.
LosesACopy(m, k, messages) ==
    {c \in {Copy(m, to, m, k, messages[i].seqno) :
                to \in {x \in up : Has(views[k], x, life[x]) /\ installed[x] <= k}, i \in DOMAIN messages} :
        c.to # "A"}

\* In the place of Retransmit: the holder is asked, and no message comes.
FetchesNothing(m) ==
    /\ m \in up
    /\ \E f \in fetches[m] :
        /\ IsPresent(f.holder, m)
        /\ fetches' = [fetches EXCEPT ![m] = @ \ {f}]
        /\ Environment("Retransmit", m, [holder |-> f.holder, sender |-> f.sender, upto |-> f.upto], {})
    /\ UNCHANGED <<local, views, installed, life, up, log, settled, got, copies, wire, app, cast, users, state, spent>>

-----------------------------------------------------------------------------
(* Unicasts *)

\* In the place of MayClose: what a member sends to another of its view may be lost.
MayCloseToMember(m, x) == x \in Members(local[m]) \ {m}

-----------------------------------------------------------------------------
(* One conjunct of a claim each: a flush that leaves something behind *)

\* In the place of MemberStep: STOP_FLUSH leaves a member with one thing more.
AtStop(s, e, After(_)) ==
    LET step == Step(s, e)
    IN IF e.type = "StopFlushReceived" /\ step.outcome = "handled" THEN [step EXCEPT !.state = After(@)] ELSE step

KeepsLatchClosed(s, e) == LET Kept(t) == [t EXCEPT !.latched = TRUE] IN AtStop(s, e, Kept)
KeepsOwner(s, e) == LET Kept(t) == [t EXCEPT !.owner = s.owner] IN AtStop(s, e, Kept)
KeepsSentPayloads(s, e) == LET Kept(t) == [t EXCEPT !.waiting = s.waiting] IN AtStop(s, e, Kept)
QueuesFormerOwner(s, e) ==
    LET Kept(t) == IF s.owner = s.member THEN t ELSE [t EXCEPT !.later = Noted(@, s.owner, s.round)]
    IN AtStop(s, e, Kept)
StillWants(s, e) == LET Kept(t) == IF s.owner = s.member THEN [t EXCEPT !.wants = {Self}] ELSE t IN AtStop(s, e, Kept)
StillRuns(s, e) ==
    LET Kept(t) == IF s.owner = s.member THEN [t EXCEPT !.run.phase = "start"] ELSE t IN AtStop(s, e, Kept)

\* In the place of FreeApplication: the application does not receive UNBLOCK; or receives it twice.
FreesInSilence(s) == Unchanged([s EXCEPT !.block = "free"])
FreesTwice(s) ==
    IF s.block = "blocked"
    THEN [state |-> [s EXCEPT !.block = "free"], effects |-> <<Unblock, Unblock>>]
    ELSE Unchanged(s)

\* In the place of AfterTransfer: a state transfer that has set a state waits for the group again.
WaitsAfterState(m, action, effects) ==
    IF StopIsReported(effects, ForState) THEN "asks"
    ELSE IF action \in {"AskForState", "TakeState"} THEN "waits"
    ELSE transfer[m]

\* In the place of HasToDecide: no view is decided for a member that wants to leave.
DecidesNoLeave(m) == local[m].suspected # {} \/ MayLetIn(m) # {}

\* In the place of DecideView: the maker decides a view of all addresses, while no group is stopped, and sends it to no
\* member.
DecidesInSecret(m) ==
    /\ m \in up /\ maker[m] = "free" /\ Len(views) = 1
    /\ \E v \in {DecidedView(ViewId(2, m), InSomeOrder(Member \ {m}) \o <<m>>, {1}, life, Joiners)} :
        ApplyWith("DecideView", m, InstallEvent(v), {}, {}, None, Append(views, v), 2)
    /\ UNCHANGED <<cast, offers, wishes, answers, state, spent>>

\* In the place of SendRequested: a multicast waits while the member is frozen, and not as long as its latch is closed.
WaitsWhileFrozen(s, e) ==
    IF ~InView(s) THEN LocalError(s)
    ELSE IF s.frozen THEN Handled([s EXCEPT !.waiting = Append(@, e.payload)], <<>>)
    ELSE Handled([s EXCEPT !.sent = @ + 1], <<Multicast(Data(s.view.id, s.sent + 1, e.payload))>>)

\* In the place of OpensLess: the suspicion of any member opens a latch that is closed for a state.
OpensOnAnySuspicion(s, x) == s.asker = ForState

\* In the place of Apply: what a step of an application must not do. The copies of its multicast are left out.
AppSendsBut(m, event, others, outcome, wires, Logs(_)) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [x \in Member |-> IF x = m THEN step.state ELSE others[x]]
        /\ Record("AppSends", m, FALSE, None, event, {}, outcome, step.effects)
        /\ wire' = wires
        /\ log' = Logs(Payloads(MulticastsOf(step.effects)))
        /\ UNCHANGED <<up, views, installed, life, settled, got, copies, app, fetches, maker, transfer>>

AppliesAsIs(action, m, event, consumed) == ApplyWith(action, m, event, consumed, {}, None, views, installed[m])

ChangesOthers(action, m, event, consumed) ==
    LET Logs(sends) == Channel!Casts(log, m, installed[m], sends)
    IN IF action # "AppSends" THEN AppliesAsIs(action, m, event, consumed)
       ELSE AppSendsBut(m, event, [x \in Member |-> [local[x] EXCEPT !.round = 9]], "handled", wire, Logs)
SaysIgnored(action, m, event, consumed) ==
    LET Logs(sends) == Channel!Casts(log, m, installed[m], sends)
    IN IF action # "AppSends" THEN AppliesAsIs(action, m, event, consumed)
       ELSE AppSendsBut(m, event, local, "ignored", wire, Logs)
SendsUnsaid(action, m, event, consumed) ==
    LET Logs(sends) == Channel!Casts(log, m, installed[m], sends)
    IN IF action # "AppSends" THEN AppliesAsIs(action, m, event, consumed)
       ELSE AppSendsBut(m, event, local, "handled", [wire EXCEPT ![m][m] = Append(@, StopFlush(NoViewId))], Logs)
LogsForAll(action, m, event, consumed) ==
    LET Logs(sends) == [log EXCEPT ![installed[m]] = [x \in DOMAIN @ |-> @[x] \o sends]]
    IN IF action # "AppSends" THEN AppliesAsIs(action, m, event, consumed)
       ELSE AppSendsBut(m, event, local, "handled", wire, Logs)
LogsInFirstView(action, m, event, consumed) ==
    LET Logs(sends) == Channel!Casts(log, m, 1, sends)
    IN IF action # "AppSends" THEN AppliesAsIs(action, m, event, consumed)
       ELSE AppSendsBut(m, event, local, "handled", wire, Logs)
=============================================================================
