--------------------------- MODULE StableDefects ----------------------------
(******************************************************************************)
(* Defects that the claims must notice: of the algorithm where no guard of    *)
(* Stable says it, of the layers below, and of the model itself. Each is      *)
(* an operator that a model puts in the place of another (models.yaml).       *)
(******************************************************************************)
EXTENDS StableInstruments, NoteStable

\* For the note's algorithm: MemberStep <- NoteStep, and its timer's event has a digest.
NoteTimeoutEvent(windows) == [type |-> "StableTimeout", digest |-> DigestOf(windows)]

-----------------------------------------------------------------------------
(* The algorithm: in the place of MemberStep *)

\* The timer for votes sends none.
TimeoutSendsNothing(s, e) ==
    IF e.type = "StableTimeout" /\ Joined(s) THEN Handled([s EXCEPT !.received_bytes = 0], <<SetStableTimer>>)
    ELSE Step(s, e)

\* Received bytes send no vote.
CountsNoBytesStep(s, e) == IF e.type = "MessageReceived" /\ Joined(s) THEN Ignored(s) ELSE Step(s, e)

\* The delay of a STABILITY message passes, and nothing comes of it.
NeverAnnouncingStep(s, e) ==
    IF e.type = "StabilityTimeout" THEN Ignored(s) ELSE Step(s, e)

\* The running minimum is sent as the vote.
MinimumAsVoteStep(s, e) ==
    IF e.type = "StableTimeout" THEN Step([s EXCEPT !.vote = s.minimum], e) ELSE Step(s, e)

\* A view is installed again.
ReinstallsSameView(s, e) ==
    IF e.type = "ViewInstalled" /\ e.view = s.view /\ Joined(s) /\ DOMAIN e.digest = MembersOf(e.view)
    THEN Handled(NewRound(s, OwnVector(e.digest)), <<SetStableTimer>>)
    ELSE Step(s, e)

\* A view ends no promise, and the vote stays held.
NeverEndsPromise(s, e) ==
    IF e.type = "ViewInstalled" /\ s.promised # {}
    THEN [Step([s EXCEPT !.promised = @ \cup {"Z"}], e) EXCEPT !.state.promised = s.promised]
    ELSE Step(s, e)

\* A promise that is withdrawn is kept all the same.
IgnoresWithdrawal(s, e) == IF e.type = "PromiseWithdrawn" THEN Ignored(s) ELSE Step(s, e)

\* The first vote counts one more than was delivered.
VotesOneMoreStep(s, e) ==
    IF e.type = "ViewInstalled" /\ Step(s, e).outcome = "handled"
    THEN Step(s, [e EXCEPT !.digest = [m \in DOMAIN @ |-> [@[m] EXCEPT !.delivered = @ + 1]]])
    ELSE Step(s, e)

\* The note's votes count one more than was delivered.
NoteVotesOneMoreStep(s, e) ==
    IF e.type = "StableTimeout" /\ Joined(s)
    THEN [NoteStep(s, e) EXCEPT !.effects[1].message.digest = [m \in DOMAIN @ |-> e.digest[m].delivered + 1]]
    ELSE NoteStep(s, e)

\* The own vote counts as heard, though it was not sent.
HearsOwnUnsentStep(s, e) ==
    IF e.type = "StableReceived" THEN Step([s EXCEPT !.heard_from = @ \ (IF e.sender = s.member THEN {} ELSE {s.member})], e)
    ELSE Step(s, e)

\* The timer for votes sends one, and sets the other timer.
TimeoutSetsOtherTimer(s, e) ==
    IF e.type = "StableTimeout" /\ Joined(s) THEN [Step(s, e) EXCEPT !.effects[2] = SetStabilityTimer]
    ELSE Step(s, e)

\* The own vote is announced, in the place of the minimum.
AnnouncesVoteStep(s, e) ==
    IF e.type = "StabilityTimeout" /\ s.pending THEN Step([s EXCEPT !.minimum = s.vote], e) ELSE Step(s, e)

\* An announcement that was sent stays pending.
StaysPendingStep(s, e) ==
    IF e.type = "StabilityTimeout" /\ s.pending THEN [Step(s, e) EXCEPT !.state.pending = TRUE] ELSE Step(s, e)

-----------------------------------------------------------------------------
(* Promises that end, and STABLE is not notified: in the place of WithdrawPromise *)

WithdrawsUnheard(m, May(_)) ==
    /\ Active(m) /\ spent.withdrawn < MaxWithdrawn
    /\ \E p \in promises :
        /\ p.by = m /\ p.by_life = life[m] /\ May(p)
        /\ promises' = promises \ {p}
    /\ Fault("withdrawn")
    /\ network' = AfterStep(network, m, {}, <<>>)
    /\ Environment("WithdrawPromise", m, None, {})
    /\ UNCHANGED <<local, rm, up, views, installed, life, lost>>

\* The member has made another promise, to another process.
WithdrawsBesideOther(m) == LET May(p) == \E q \in promises : q.by = m /\ q.to # p.to IN WithdrawsUnheard(m, May)

\* Another member has promised its digest to the same process.
WithdrawsBesideOthers(m) == LET May(p) == \E q \in promises : q.by # m /\ q.to = p.to IN WithdrawsUnheard(m, May)

\* A view was decided since.
WithdrawsAfterView(m) == LET May(p) == Len(views) > Len(First) IN WithdrawsUnheard(m, May)

\* In the place of Restart: an incarnation holds its vote for the promises of the former one.
RestartsWithPromises(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \in Restarters /\ installed[m] # 0
    /\ Membership!Restart(m)
    /\ up' = up \cup {m}
    /\ local' = [local EXCEPT ![m] = [Start(m) EXCEPT !.promised = local[m].promised]]
    /\ rm' = [rm EXCEPT ![m] = [s \in {} |-> Window(Nothing)]]
    /\ network' = AfterStep(network, m, {}, <<>>)
    /\ Environment("Restart", m, None, {})
    /\ Fault("restarts")
    /\ UNCHANGED <<promises, lost>>

-----------------------------------------------------------------------------
(* Views: in the place of InstallView *)

\* A view is decided again, and no member installs it.
DecidesAgain(m) ==
    /\ Len(views) = 1
    /\ views' = Append(views, views[1])
    /\ Environment("InstallView", m, None, {})
    /\ UNCHANGED <<local, rm, network, up, installed, life, promises, lost, spent>>

\* An incarnation begins in the view of the former one.
BeginsInView(m) ==
    /\ life[m] = 0
    /\ life' = [life EXCEPT ![m] = 1]
    /\ Environment("InstallView", m, None, {})
    /\ UNCHANGED <<local, rm, network, up, views, installed, promises, lost, spent>>

-----------------------------------------------------------------------------
(* The layer below *)

\* In the place of AddTo: what is delivered from behind a gap stays listed as waiting.
AddKeepingAhead(window, n) ==
    IF n = window.delivered + 1 THEN [Add(window, n) EXCEPT !.ahead = window.ahead] ELSE Add(window, n)

\* Messages behind a gap are not delivered when the gap is filled.
AddWithoutDraining(window, n) ==
    IF n = window.delivered + 1 THEN [window EXCEPT !.delivered = n] ELSE Add(window, n)

\* In the place of ReceiveData: what was received is received again.
ReceivesAgain(m) ==
    /\ Active(m)
    /\ \E s \in Member \ {m} : \E seqno \in SentBy(s, m) :
        /\ <<s, seqno, m>> \notin lost
        /\ DataArrives("ReceiveData", m, s, seqno, [sender |-> s, seqno |-> seqno])
    /\ UNCHANGED <<up, views, installed, life, promises, lost, spent>>

\* In the place of DigestOf: it counts one more than was delivered.
DigestOfOneMore(windows) ==
    [s \in DOMAIN windows |-> [low |-> windows[s].low, delivered |-> windows[s].delivered + 1,
                               received |-> windows[s].delivered + 1]]

\* In the place of PurgeIn: one message more is purged than the vector says.
PurgeOneMore(windows, vector) ==
    [s \in DOMAIN windows |->
        IF s \in DOMAIN vector THEN [windows[s] EXCEPT !.purged = Greatest(@, vector[s] + 1)] ELSE windows[s]]

\* In the place of PurgeIn: the latest vector counts, not the highest.
PurgeToLatest(windows, vector) ==
    [s \in DOMAIN windows |->
        IF s \in DOMAIN vector THEN [windows[s] EXCEPT !.purged = vector[s]] ELSE windows[s]]

\* In the place of WindowsIn: a view change forgets what was delivered.
WindowsForgotten(m, v) == [s \in DOMAIN v.lives |-> Window(Nothing)]

-----------------------------------------------------------------------------
(* A member that lets newcomers in: in the place of PromisedBy *)

\* The start digest is what was received, not what was delivered.
ReceivedBy(m) == Received(DigestOf(rm[m]))

\* The start digest is one more than was delivered.
OneMoreThanDeliveredBy(m) == [s \in DOMAIN rm[m] |-> rm[m][s].delivered + 1]

-----------------------------------------------------------------------------
(* The model itself: in the place of Apply *)

\* A step reaches into the others.
ApplyToNeighbour(action, m, event, windows, consumed, given) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [x \in Member |->
                        IF x = m THEN step.state
                        ELSE IF step.effects # <<>> THEN [local[x] EXCEPT !.pending = FALSE]
                        ELSE local[x]]
        /\ Record(action, m, FALSE, given, event, consumed, step.outcome, step.effects)
        /\ rm' = [rm EXCEPT ![m] = AfterPurges(windows, step.effects)]
        /\ network' = AfterStep(network, m, consumed, step.effects)

\* A message is sent that no effect says.
ApplyWithPacket(action, m, event, windows, consumed, given) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, given, event, consumed, step)
        /\ rm' = [rm EXCEPT ![m] = AfterPurges(windows, step.effects)]
        /\ network' = AfterStep(network, m, consumed, step.effects)
                        \cup Packets(m, StableMessage(local[m].view.id, local[m].vote))

\* An event is said to be ignored, and changes the state.
ApplyIgnored(action, m, event, windows, consumed, given) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [local EXCEPT ![m] =
                        IF step.outcome = "ignored"
                        THEN [step.state EXCEPT !.heard_from = MembersOf(step.state.view)]
                        ELSE step.state]
        /\ Record(action, m, FALSE, given, event, consumed, step.outcome, step.effects)
        /\ rm' = [rm EXCEPT ![m] = AfterPurges(windows, step.effects)]
        /\ network' = AfterStep(network, m, consumed, step.effects)

\* A step reaches into what the layer below holds for the others.
ApplyToWindows(action, m, event, windows, consumed, given) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, given, event, consumed, step)
        /\ rm' = [x \in Member |->
                    IF x = m THEN AfterPurges(windows, step.effects)
                    ELSE IF step.effects = <<>> THEN rm[x]
                    ELSE [s \in DOMAIN rm[x] |-> [rm[x][s] EXCEPT !.ahead = @ \cup {FirstSeqno + 5}]]]
        /\ network' = AfterStep(network, m, consumed, step.effects)

\* In the place of Crash: it changes what the member knows.
CrashAndCount(m) ==
    /\ spent.crashes < MaxCrashes
    /\ Active(m)
    /\ up' = up \ {m}
    /\ local' = [local EXCEPT ![m].received_bytes = @ + 1]
    /\ network' = AfterStep(network, m, {}, <<>>)
    /\ Environment("Crash", m, None, {})
    /\ Fault("crashes")
    /\ UNCHANGED <<rm, views, installed, life, promises, lost>>
=============================================================================
