---------------------------- MODULE FilePingDefects ----------------------------
(***************************************************************************)
(* Defects that the claims must notice: of the algorithm where no guard of *)
(* FilePing says it, and of the model itself. Each is an operator that a   *)
(* model puts in the place of another (models.yaml).                       *)
(***************************************************************************)
EXTENDS FilePingInstruments

-----------------------------------------------------------------------------
(* The algorithm: in the place of MemberStep *)

\* A member that leaves leaves its record behind.
LeavesRecordStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DisconnectRequested" THEN [step EXCEPT !.effects = <<>>] ELSE step

\* No more than the first member found is asked.
AsksOneStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "RecordsRead" /\ Len(step.effects) > 2
    THEN [step EXCEPT !.effects = <<step.effects[1], DiscoveryTimer>>]
    ELSE step

\* A member in a view names itself.
NamesItselfStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "GetMbrsReqReceived" /\ s.phase = "in_view"
    THEN [step EXCEPT !.effects = <<Datagram(e.sender, GetMbrsRsp(s.member))>>]
    ELSE step

\* A member that starts joins the senior that starts, too, though no member has named it.
JoinsSeniorStep(s, e) ==
    IF e.type = "DiscoveryTimeout" /\ s.phase = "starting" /\ s.named = {} /\ s.seniors # {}
    THEN Decide(s, {}, s.seniors, s.seniors, {})
    ELSE Step(s, e)

\* Merging learns of every member that was found.
FoundIsReadStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DiscoveryTimeout" /\ s.phase = "in_view" /\ step.outcome = "handled"
    THEN [step EXCEPT !.state.coordinators = s.asked]
    ELSE step

\* Merging keeps what earlier looks have found.
KeepsFoundStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type \in {"DiscoveryTimeout", "RecordsRead"} /\ s.phase = "in_view"
    THEN [step EXCEPT !.state.coordinators = @ \cup s.coordinators]
    ELSE step

\* Each member found is asked twice.
AsksTwiceStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "RecordsRead" /\ step.effects # <<>> /\ step.effects[1].type = "Datagram"
    THEN [step EXCEPT !.effects = <<step.effects[1]>> \o @]
    ELSE step

\* A member that is let in removes its own record.
RemovesOwnStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "ViewInstalled" /\ s.phase = "joining" /\ step.outcome = "handled"
    THEN [step EXCEPT !.effects = @ \o RemoveRecords({s.member})]
    ELSE step

\* A member that leaves removes the records of its whole view.
LeaverRemovesAllStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DisconnectRequested" /\ step.outcome = "handled"
    THEN [step EXCEPT !.effects = RemoveRecords(MembersOf([members |-> s.members]))]
    ELSE step

\* A coordinator removes the records of all that it asked.
RemovesAskedStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DiscoveryTimeout" /\ step.outcome = "handled" /\ Coordinates(s) /\ s.answered # {}
    THEN [step EXCEPT !.effects = RemoveRecords(s.asked) \o <<LookTimer>>]
    ELSE step

\* A coordinator removes the records of the silent members at an answer, before their time is over.
RemovesAtAnswerStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "GetMbrsRspReceived" /\ step.outcome = "handled" /\ Coordinates(s)
    THEN [step EXCEPT !.effects = @ \o RemoveRecords(s.asked \ s.answered)]
    ELSE step

\* A member that starts removes the records of silent members, too.
StarterRemovesStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DiscoveryTimeout" /\ s.phase = "starting"
    THEN [step EXCEPT !.effects = @ \o RemoveRecords(s.asked \ s.answered)]
    ELSE step

\* A member that starts joins a silent member whose record it has read.
JoinsSilentStep(s, e) ==
    IF e.type = "DiscoveryTimeout" /\ s.phase = "starting" /\ s.named = {} /\ s.seniors = {}
    THEN Decide(s, {}, s.asked, s.asked, {})
    ELSE Step(s, e)

\* A member founds a group though a senior starts.
FoundsBesideSeniorStep(s, e) ==
    IF e.type = "DiscoveryTimeout" /\ s.phase = "starting" /\ s.named = {} /\ s.seniors # {}
    THEN Decide(s, {}, {}, {}, {})
    ELSE Step(s, e)

\* A member founds a group though a coordinator was named.
FoundsBesideNamedStep(s, e) ==
    IF e.type = "DiscoveryTimeout" /\ s.phase = "starting" /\ s.named # {} /\ s.seniors = {}
    THEN Decide(s, {}, {}, {}, {})
    ELSE Step(s, e)

\* Merging learns of the members that have answered, in place of the coordinators that they have named.
FoundHasAnsweredOnlyStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DiscoveryTimeout" /\ s.phase = "in_view" /\ step.outcome = "handled"
    THEN [step EXCEPT !.state.coordinators = s.answered \ MembersOf([members |-> s.members])]
    ELSE step

\* Merging learns of the own coordinator.
FindsOwnStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DiscoveryTimeout" /\ s.phase = "in_view" /\ step.outcome = "handled"
    THEN [step EXCEPT !.state.coordinators = s.named]
    ELSE step

\* It is not noted by which members an answer came.
ForgetsAnswersStep(s, e) == [Step(s, e) EXCEPT !.state.answered = {}]

\* A member answers a request that came from itself.
AnswersItselfStep(s, e) == IF e.type = "GetMbrsReqReceived" THEN GetMbrsReqReceived(s, e) ELSE Step(s, e)

\* A member cannot leave.
NeverLeavesStep(s, e) == IF e.type = "DisconnectRequested" THEN LocalError(s) ELSE Step(s, e)

\* A member that has left answers.
GoneAnswersStep(s, e) ==
    IF e.type = "GetMbrsReqReceived" /\ s.phase = "gone" THEN Handled(s, <<Datagram(e.sender, GetMbrsRsp(NoCoordinator))>>)
    ELSE Step(s, e)

\* A member that founds a group has a timer as a member that joins one.
FounderWaitsStep(s, e) ==
    LET step == Step(s, e) IN
    IF s.phase = "starting" /\ step.state.target = s.member THEN [step EXCEPT !.effects = @ \o <<JoinTimer>>] ELSE step

WithoutTimer(name, step) ==
    LET Stays(effect) == effect.type # "SetTimer" \/ effect.name # name
    IN [step EXCEPT !.effects = SelectSeq(@, Stays)]

\* No timer ends a look.
NoDiscoveryTimerStep(s, e) == WithoutTimer("discovery", Step(s, e))

\* No timer ends the wait of a member that joins.
NoJoinTimerStep(s, e) == WithoutTimer("join", Step(s, e))

\* A look is over, and no timer begins the next one.
LooksOnceStep(s, e) == IF e.type = "DiscoveryTimeout" THEN WithoutTimer("look", Step(s, e)) ELSE Step(s, e)

\* A member that has come into a view never looks.
NeverLooksStep(s, e) == IF e.type = "ViewInstalled" THEN WithoutTimer("look", Step(s, e)) ELSE Step(s, e)

\* A member that does not coordinate writes its record again once.
WritesOnceStep(s, e) == IF e.type = "LookTimeout" THEN WithoutTimer("look", Step(s, e)) ELSE Step(s, e)

-----------------------------------------------------------------------------
(* The folder and the network *)

\* In the place of WriteTheRecord: no write ends.
NeverWritten(m) == FALSE

\* In the place of ReceiveGetMbrsRsp: no answer arrives.
NeverAnswered(m) == FALSE

\* In the place of AfterStep: the network makes up an answer that names its receiver.
AfterForging(from, consumed, effects) ==
    (net \ consumed) \cup Sent(from, effects)
    \cup {Packet(effects[i].to, from, GetMbrsRsp(from)) : i \in {i \in DOMAIN effects : effects[i].type = "Datagram"}}

-----------------------------------------------------------------------------
(* The model itself: in the place of Apply *)

\* A step reaches into the others.
ApplyToNeighbour(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [x \in Member |->
                        IF x = m THEN step.state
                        ELSE IF step.effects # <<>> THEN [local[x] EXCEPT !.seniors = {m}]
                        ELSE local[x]]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ net' = Passing(AfterStep(m, consumed, step.effects))
        /\ operations' = OperationsAfter(m, event.type = "RecordsRead", step.effects)

\* A datagram is sent that no effect says.
ApplyWithPacket(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = Passing(AfterStep(m, consumed, step.effects) \cup {Packet(m, m, GetMbrsReq(FALSE))})
        /\ operations' = OperationsAfter(m, event.type = "RecordsRead", step.effects)

\* An event is said to be ignored, and changes the state.
ApplyIgnored(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [local EXCEPT ![m] = IF step.outcome = "ignored" THEN [@ EXCEPT !.seniors = {m}] ELSE step.state]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ net' = Passing(AfterStep(m, consumed, step.effects))
        /\ operations' = OperationsAfter(m, event.type = "RecordsRead", step.effects)

\* The folder does not hear of what an effect asks of it.
ApplyWithoutOperation(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = Passing(AfterStep(m, consumed, step.effects))
        /\ operations' = OperationsAfter(m, event.type = "RecordsRead", <<>>)

\* In the place of Connect: the record is there at once.
ConnectAndWrite(m) ==
    /\ m \in up /\ local[m].phase = "idle"
    /\ Apply("Connect", m, [type |-> "ConnectRequested"], {})
    /\ records' = [records EXCEPT ![m] = "whole"]
    /\ UNCHANGED around

\* In the place of LoseDatagram: a member notices that a datagram to it was lost.
LoseAndNotice(m) ==
    /\ NetworkLoses
    /\ \E packet \in Arriving(m) :
        /\ net' = net \ {packet}
        /\ Environment("LoseDatagram", m, None, {packet})
    /\ local' = [local EXCEPT ![m].seniors = {m}]
    /\ UNCHANGED <<records, operations, around>>
=============================================================================
