---------------------------- MODULE FilePingClaims -----------------------------
(***************************************************************************)
(* Claims about members that find each other by a folder: outcomes, steps, *)
(* frame conditions of the model, and liveness. Each claim is violated in  *)
(* some model of models.yaml.                                              *)
(***************************************************************************)
EXTENDS FilePingGroup

-----------------------------------------------------------------------------
(* Types *)

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ s.phase \in {"idle", "starting", "joining", "in_view", "gone"}
    /\ s.look \in {"no", "reading", "asking"}
    /\ (s.phase = "in_view") = (s.members # <<>>)
    /\ s.phase = "starting" => s.look # "no"
    /\ s.phase \in {"idle", "joining", "gone"} => s.look = "no"
    /\ (s.phase = "joining") = (s.target # NoCoordinator)
    /\ s.asked \cup s.named \cup s.coordinators \subseteq Member /\ m \notin s.asked
    /\ s.answered \subseteq s.asked
    /\ s.look # "asking" => s.asked = {}

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ records \in [Member -> {"none", "broken", "whole"}]
    /\ \A p \in net : p.to \in up /\ p.message.type \in {"GET_MBRS_REQ", "GET_MBRS_RSP"}
    /\ up \subseteq Member
    /\ spent \in [{"crashes", "cuts", "leaves", "misuses"} -> Nat]

-----------------------------------------------------------------------------
(* Outcomes *)

Coordinators == {m \in up : Coordinates(local[m])}

\* Nothing has gone wrong yet, and no timer is faster than what it waits for.
IsCalm == Patient /\ ~NetworkLoses /\ spent.crashes = 0 /\ spent.cuts = 0 /\ Cardinality(Apart) < 2

\* FPG-10: members that start at once, in whatever order they write and read, form one group.
OneGroupIfCalm == IsCalm => \A x, y \in Coordinators : x = y

IsQueued(m, type) == \E i \in DOMAIN operations[m] : operations[m][i].type = type

\* FPG-01: the record of a member that looks, joins or is in a view is there, or about to be written.
RecordIsThereIfCalm ==
    IsCalm => \A m \in up :
        local[m].phase \in {"starting", "joining", "in_view"} => records[m] # "none" \/ IsQueued(m, "WriteRecord")

\* FPG-03: a member that has left has no record.
LeaverHasNoRecord ==
    \A m \in up : (local[m].phase = "gone" /\ ~IsQueued(m, "RemoveRecords")) => records[m] = "none"

\* The record of a member that is in no member's view stays only if no member has looked since. (Of Folder: OneWriter.)
OnlyWritersHaveRecords ==
    \A m \in Member \ Dead : local[m].phase = "idle" /\ m \in up => records[m] = "none"

-----------------------------------------------------------------------------
(* Steps. (m is the member that takes the step.) *)

Effects(type) == {act'.effects[i] : i \in {i \in DOMAIN act'.effects : act'.effects[i].type = type}}

\* FPG-02, FPG-11: whoever was read is asked, once, and no other; a record that is not whole takes nothing from the others.
AsksAllFoundStep ==
    (act'.event.type = "RecordsRead" /\ act'.outcome = "handled") =>
        LET m == act'.member
            requests == {e \in Effects("Datagram") : e.message.type = "GET_MBRS_REQ"}
        IN /\ {e.to : e \in requests} = act'.event.found \ {m}
           /\ Len(SelectSeq(act'.effects, LAMBDA e : e.type = "Datagram")) = Cardinality(requests)

Removals == {e.event : e \in {e \in Effects("PassDown") : e.event.type = "RemoveRecords"}}

\* A coordinator removes the records of those alone that it has asked, and that were silent; a member that leaves its own.
RemovesSilentStep ==
    \A r \in Removals :
        LET s == local[act'.member] IN
        \/ act'.event.type = "DisconnectRequested" /\ r.of = {act'.member}
        \/ act'.event.type = "DiscoveryTimeout" /\ Coordinates(s) /\ r.of = s.asked \ s.answered

\* A member joins a coordinator that was named and has answered, or itself if no coordinator was named and no senior starts.
JoinsNamedStep ==
    \A e \in Effects("PassUp") :
        LET s == local[act'.member]
            target == e.event.coordinator
        IN target \in s.named \cap s.answered \/ (target = s.member /\ s.named \cup s.seniors = {})

\* Merging learns of named coordinators alone, and of none in the own view.
FoundWasNamedStep ==
    \A m \in Member :
        /\ local'[m].coordinators \subseteq local[m].coordinators \cup local[m].named
        /\ \A i \in DOMAIN local'[m].members : local'[m].members[i] \notin local'[m].coordinators

\* An answer comes from a member that starts, joins or is in a view, and names the coordinator of the own view, or whom the own
\* member joins.
NamesOwnCoordinatorStep ==
    \A e \in Effects("Datagram") :
        e.message.type = "GET_MBRS_RSP" =>
            LET s == local[act'.member] IN
            /\ s.phase \in {"starting", "joining", "in_view"}
            /\ e.message.coordinator = IF s.phase = "in_view" THEN Head(s.members) ELSE s.target

\* A member that merging finds is alive, and was named in this look by a member that was asked
\* and has answered. (A member that crashes after the answer is found once more: found_answered_crash. TypeOK says that the
\* members that have answered were asked, and OnlyByEffects that no other member's step finds for m.)
FoundHasAnsweredStep ==
    \A m \in Member :
        LET new == local'[m].coordinators \ local[m].coordinators IN
        new # {} => /\ new \subseteq up
                    /\ new \subseteq local[m].named
                    /\ local[m].answered # {}

FoundHasAnswered == [][FoundHasAnsweredStep]_vars

Timers == {e.name : e \in Effects("SetTimer")}

\* A member that begins to wait sets a timer, and no other member does: for answers, to be let in, for the next look.
TimerWhileWaitingStep ==
    \A m \in {act'.member} \cap up : act'.outcome = "handled" =>
        LET s == local[m]
            t == local'[m]
        IN /\ (t.look = "asking" /\ s.look # "asking") <=> "discovery" \in Timers
           /\ (t.phase = "joining" /\ s.phase # "joining" /\ t.target # m) <=> "join" \in Timers
           /\ (t.phase = "in_view" /\ t.look = "no" /\ (s.phase # "in_view" \/ s.look # "no" \/ act'.event.type = "LookTimeout"))
                <=> "look" \in Timers

\* What no correct caller or peer causes, and a timer whose time is over, changes nothing.
NoMisuseIsHandledStep == act'.action = "Misuse" => act'.outcome # "handled"

\* FPG-03: what a correct caller or peer causes is not refused. A member that wants to leave can.
NoEventRefusedStep == act'.outcome \in {"local_error", "remote_error"} => act'.action = "Misuse"

\* A step belongs to one member; network, folder and views change through its effects and the environment alone.
OnlyByEffectsStep ==
    /\ act'.action # "Crash" => OthersKeepLocal
    /\ UnchangedUnlessHandled
    /\ act'.outcome # "none" =>
        /\ net' = Passing(AfterStep(act'.member, act'.consumed, act'.effects))
        /\ operations' = OperationsAfter(act'.member, act'.event.type = "RecordsRead", act'.effects)
        /\ records' = records
    /\ (act'.outcome = "none" /\ act'.action # "Crash") => local' = local

AsksAllFound == [][AsksAllFoundStep]_vars
RemovesSilent == [][RemovesSilentStep]_vars
JoinsNamed == [][JoinsNamedStep]_vars
FoundWasNamed == [][FoundWasNamedStep]_vars
NamesOwnCoordinator == [][NamesOwnCoordinatorStep]_vars
TimerWhileWaiting == [][TimerWhileWaitingStep]_vars
NoMisuseIsHandled == [][NoMisuseIsHandledStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars
OnlyByEffects == [][OnlyByEffectsStep]_vars

-----------------------------------------------------------------------------
(* Liveness. Folder!OperationsEnd, Network!Fair, timers that fire, and GMS and merging that act. *)

\* Of a member at most one timer of the three may fire in a state.
TimerFires(m) == DiscoveryTimeoutFires(m) \/ JoinTimeoutFires(m) \/ LookTimeoutFires(m)
ViewIsDecided(m) == Admit(m) \/ LeaveOut(m) \/ Merge(m)

\* (Each SF doubles what TLC searches: one for several actions where they do not keep each other from being taken.)
Fairness ==
    /\ WF_vars(Heal)
    /\ \A m \in Member :
        /\ WF_vars(Connect(m))
        /\ WF_vars(WriteTheRecord(m))
        /\ WF_vars(RemoveTheRecords(m))
        /\ WF_vars(ReadTheRecords(m))
        /\ WF_vars(InstallView(m))
        /\ SF_vars(TimerFires(m))
        /\ SF_vars(ViewIsDecided(m))

\* No datagram is lost but by a cut: each arrives.
LiveSpec ==
    /\ Init /\ [][Next]_vars /\ Fairness
    /\ \A m \in Member : WF_vars(ReceiveGetMbrsReq(m)) /\ WF_vars(ReceiveGetMbrsRsp(m))

\* Datagrams are lost for ever, but not all of them.
LiveSpecLosses ==
    /\ Init /\ [][Next]_vars /\ Fairness
    /\ \A m \in Member : SF_vars(ReceiveGetMbrsReq(m)) /\ SF_vars(ReceiveGetMbrsRsp(m))

\* Datagrams are lost for a time, and then no more.
LiveSpecLossesEnd == LiveSpec /\ <>[][~\E m \in Member : LoseDatagram(m)]_vars

\* Discovery, DeadNamesEnd: a member that is over is found for a while only.
GivesDeadNamesEnd == \A m \in Member : <>[](local[m].coordinators \subseteq up)

\* Discovery, FindsAllInTheEnd: of two coordinators that stay coordinators each finds the other again and again.
GivesFindsAllInTheEnd ==
    \A x, y \in Member :
        x # y => []<>((x \in Coordinators /\ y \in Coordinators) => y \in local[x].coordinators)

Lives(m) == m \in up /\ local[m].phase # "gone"

\* FPG-09: each member that starts comes into a view.
EventuallyInView == <>[](\A m \in Member : Lives(m) => local[m].phase = "in_view")

Living == {m \in Member : Lives(m)}

\* FPG-08, FPG-10: all members come into one group.
EventuallyOneGroup == <>[](\A m \in Member : Lives(m) => MembersOf([members |-> local[m].members]) = Living)

\* FPG-03, FPG-09: the records are those of the members that live.
EventuallyRecordsOfLiving == <>[](\A m \in Member : (records[m] = "whole") <=> Lives(m))

\* A member whose answers are lost again and again has its record removed again and again, and writes it again.
RecordsEventuallyReturn == \A m \in Member : []<>(Lives(m) => records[m] = "whole")
=============================================================================
