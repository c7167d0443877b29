--------------------------- MODULE HeartbeatDefects ---------------------------
(***************************************************************************)
(* Defects that the claims must notice: of the algorithm where no guard of *)
(* Heartbeat says it, and of the model itself. Each is an operator that a  *)
(* model puts in the place of another (models.yaml).                       *)
(***************************************************************************)
EXTENDS HeartbeatInstruments

-----------------------------------------------------------------------------
(* The algorithm: in the place of MemberStep *)

WithoutEffects(type, step) ==
    LET Stays(effect) == effect.type # type IN [step EXCEPT !.effects = SelectSeq(@, Stays)]

\* No silence is reported.
ReportsWordsAloneStep(s, e) ==
    IF e.type = "BeatTimeout" THEN
        LET step == Step(s, e)
            Stays(effect) == effect.type # "PassUp" \/ effect.event.type # "Suspected" \/ ~IsSilent(step.state.heard[effect.event.suspect])
        IN [step EXCEPT !.effects = SelectSeq(@, Stays)]
    ELSE Step(s, e)

\* No word is reported, but silence.
ReportsSilenceAloneStep(s, e) ==
    IF e.type = "BeatTimeout" THEN
        LET step == Step(s, e)
            Stays(effect) == effect.type # "PassUp" \/ effect.event.type # "Suspected" \/ IsSilent(step.state.heard[effect.event.suspect])
        IN [step EXCEPT !.effects = SelectSeq(@, Stays)]
    ELSE Step(s, e)

\* A heartbeat of another member is taken whatever it says.
TakesMalformedStep(s, e) ==
    IF e.type = "HeartbeatReceived" /\ e.sender # s.member THEN HeartbeatReceived(s, e) ELSE Step(s, e)

\* The own view, installed again, begins anew.
TakesViewAgainStep(s, e) ==
    IF e.type = "ViewInstalled" /\ e.view.id = s.view THEN Handled([s EXCEPT !.since = s.beats], <<>>) ELSE Step(s, e)

\* Each word has to stay.
ReportsWordsLateStep(s, e) ==
    LET step == Step(s, e)
        Stays(effect) == effect.type # "PassUp" \/ effect.event.type # "Suspected" \/ HasLasted(step.state)
                            \/ IsSilent(step.state.heard[effect.event.suspect])
    IN [step EXCEPT !.effects = SelectSeq(@, Stays)]

\* The time before the first heartbeat of a member is a gap.
CountsFirstGapStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "HeartbeatReceived" /\ step.outcome = "handled" /\ e.sender \in DOMAIN s.heard
    THEN [step EXCEPT !.state.heard[e.sender].gap = Greatest(@, s.heard[e.sender].missed)]
    ELSE step

\* A member is taken for silent at the first heartbeat that it misses.
ImpatientStep(s, e) ==
    LET step == Step(s, e)
        late == IF e.type # "BeatTimeout" \/ s.members = {} THEN {}
                ELSE {p \in e.around.watched \cap DOMAIN step.state.heard : step.state.heard[p].missed > 0}
    IN [step EXCEPT !.effects = @ \o [i \in DOMAIN Sorted(late) |-> Report(Sorted(late)[i])]]

\* All that are reachable are reported, watched or not, when they are silent.
ReportsUnwatchedStep(s, e) ==
    LET step == Step(s, e)
        silent == IF e.type # "BeatTimeout" \/ s.members = {} THEN {}
                  ELSE {p \in DOMAIN step.state.heard \ e.around.watched : IsSilent(step.state.heard[p])}
    IN [step EXCEPT !.effects = @ \o [i \in DOMAIN Sorted(silent) |-> Report(Sorted(silent)[i])]]

\* Silence is reported to GMS alone.
ReportsToGmsAloneStep(s, e) ==
    LET step == Step(s, e)
        Stays(effect) == effect.type # "PassUp" \/ effect.event.type = "Suspected"
    IN [step EXCEPT !.effects = SelectSeq(@, Stays)]

\* All processes outside the view are reported to UNICAST, silent or not.
ReportsOutsidersStep(s, e) ==
    LET step == Step(s, e)
        outside == IF e.type = "BeatTimeout" THEN Sorted(e.around.sought) ELSE <<>>
    IN [step EXCEPT !.effects = @ \o [i \in DOMAIN outside |-> ReportSilence(outside[i])]]

\* The silence of a member of the view is reported to UNICAST, too.
ReportsMembersToUnicastStep(s, e) ==
    LET step == Step(s, e)
        silent == IF e.type # "BeatTimeout" THEN {} ELSE {p \in e.around.watched : IsSilent(step.state.heard[p])}
    IN [step EXCEPT !.effects = @ \o [i \in DOMAIN Sorted(silent) |-> ReportSilence(Sorted(silent)[i])]]

\* A member reports silence when it installs a view, and does not ask which processes are sought.
ReportsSilenceWithViewStep(s, e) ==
    LET step == Step(s, e)
        silent == IF e.type # "ViewInstalled" THEN {} ELSE {p \in DOMAIN s.heard \ s.members : IsSilent(s.heard[p])}
    IN [step EXCEPT !.effects = @ \o [i \in DOMAIN Sorted(silent) |-> ReportSilence(Sorted(silent)[i])]]

\* A member that has not been heard yet is reported.
ReportsUnheardStep(s, e) ==
    LET step == Step(s, e)
        strangers == IF e.type # "BeatTimeout" \/ s.members = {} THEN {}
                     ELSE {p \in e.around.watched : step.state.heard[p].view = NoViewId}
    IN [step EXCEPT !.effects = @ \o [i \in DOMAIN Sorted(strangers) |-> Report(Sorted(strangers)[i])]]

\* A member is reported that has no view when the own has lasted.
ReportsViewlessStep(s, e) ==
    LET step == Step(s, e)
        viewless == IF e.type # "BeatTimeout" \/ ~HasLasted(step.state) THEN {}
                    ELSE {p \in e.around.watched : step.state.heard[p].view = NoViewId}
    IN [step EXCEPT !.effects = @ \o [i \in DOMAIN Sorted(viewless) |-> Report(Sorted(viewless)[i])]]

\* What a member says is taken for what all have said.
HeardOfAllStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "HeartbeatReceived" /\ step.outcome = "handled"
    THEN [step EXCEPT !.state.heard = [p \in DOMAIN @ |-> @[e.sender]]] ELSE step

\* A member with a newer view is reported, though that view has the reporter.
ReportsNewerStep(s, e) ==
    LET step == Step(s, e)
        newer == IF e.type # "BeatTimeout" THEN {}
                 ELSE {p \in e.around.watched : step.state.heard[p].view.counter > s.view.counter}
    IN [step EXCEPT !.effects = @ \o [i \in DOMAIN Sorted(newer) |-> Report(Sorted(newer)[i])]]

\* The timer is not set again.
BeatsOnceStep(s, e) == WithoutEffects("SetTimer", Step(s, e))

\* A view does not begin the time anew for which a word has to stay.
KeepsSinceStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "ViewInstalled" /\ step.outcome = "handled" THEN [step EXCEPT !.state.since = s.since] ELSE step

\* At a heartbeat a member forgets what it has heard of processes that it neither watches nor seeks.
ForgetsUnwatchedStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "BeatTimeout"
    THEN [step EXCEPT !.state.heard =
            [p \in DOMAIN @ \cap (e.around.watched \cup e.around.sought) |-> @[p]]]
    ELSE step

\* The longest gap stays the longest.
NeverForgetsGapStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "HeartbeatReceived" /\ step.outcome = "handled" /\ e.sender \in DOMAIN s.heard
    THEN [step EXCEPT !.state.heard[e.sender].gap = Greatest(@, s.heard[e.sender].gap)]
    ELSE step

\* A heartbeat counts its receiver as a member whatever the view is.
CountsAllStep(s, e) ==
    LET step == Step(s, e) IN
    [step EXCEPT !.effects = [i \in DOMAIN @ |->
        IF @[i].type = "Datagram" THEN [@[i] EXCEPT !.message.counts = s.members # {}] ELSE @[i]]]

-----------------------------------------------------------------------------
(* The network *)

\* In the place of AfterStep: the network makes up a heartbeat, by which the receiver is in no view of its sender.
AfterForging(from, consumed, effects) ==
    net \cup Sent(from, effects)
    \cup {Packet(from, effects[i].to, HeartbeatMessage(local[from].beats + 1, ViewId(9, from), FALSE, FALSE)) :
            i \in {i \in DOMAIN effects : effects[i].type = "Datagram"}}

\* In the place of Sorted: letters alone are addresses.
SortedLetters(set) == LET In(a) == a \in set IN SelectSeq(<<"A", "B", "C", "D", "E", "F">>, In)

\* In the place of Arrived: no heartbeat arrives.
NothingArrives(messages) == {}

-----------------------------------------------------------------------------
(* The model itself: in the place of Apply *)

\* A step reaches into the others.
ApplyToNeighbour(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [x \in Member |-> IF x = m THEN step.state ELSE [local[x] EXCEPT !.since = local[x].beats]]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ suspects' = [suspects EXCEPT ![m] = @ \cup ReportedIn(step.effects)]

\* A datagram is lost that an effect asks for.
ApplyWithoutPacket(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = net
        /\ suspects' = [suspects EXCEPT ![m] = @ \cup ReportedIn(step.effects)]

\* An event is said to be ignored, and changes the state.
ApplyIgnored(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [local EXCEPT ![m] = IF step.outcome = "ignored" THEN [@ EXCEPT !.since = local[m].beats] ELSE step.state]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ suspects' = [suspects EXCEPT ![m] = @ \cup ReportedIn(step.effects)]

\* In the place of Crash: it changes what the member knows.
CrashAndForget(m) ==
    /\ m \in up /\ spent.crashes < MaxCrashes
    /\ up' = up \ {m}
    /\ local' = [local EXCEPT ![m].since = local[m].beats]
    /\ Environment("Crash", m, None, {})
    /\ Spend("crashes")
    /\ UNCHANGED <<net, views, installed, suspects, ghosts>>

\* In the place of Crash: the network loses what the member has sent.
CrashWithPackets(m) ==
    /\ m \in up /\ spent.crashes < MaxCrashes
    /\ up' = up \ {m}
    /\ net' = {p \in net : p.sender # m}
    /\ Environment("Crash", m, None, {})
    /\ Spend("crashes")
    /\ UNCHANGED <<local, views, installed, suspects, ghosts>>
=============================================================================
