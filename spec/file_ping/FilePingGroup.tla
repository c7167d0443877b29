----------------------------- MODULE FilePingGroup -----------------------------
(***************************************************************************)
(* Members that find each other by a Folder, and what is around them.      *)
(* - GMS and merging by contract. A coordinator that is reached admits     *)
(*   members. Members that are dead, gone or cut off are excluded. Two     *)
(*   coordinators merge when either has found the other. An excluded       *)
(*   member learns of that, and excludes in turn (FailureDetector). A view *)
(*   is decided when each member has installed its predecessor.            *)
(* - Datagrams are lost, and as late as you like; but where timers are     *)
(*   PATIENT they fire after everything that is on its way.                *)
(* - The network may be cut between the first member and the others; each  *)
(*   side reaches the folder. An address is used once.                     *)
(* The claims are in FilePingClaims.                                       *)
(***************************************************************************)
EXTENDS FilePing, Folder, Network, Acts

CONSTANTS
    Dead,           \* members of a former time, whose records are there
    Waiting,        \* members that wait for the first of Dead: it has named itself to them, and crashed since
    Apart,          \* members that coordinate from the start, each a view of its own
    Patient,        \* a timer is slower than folder, datagrams and GMS are
    NetworkLoses,   \* a datagram may be lost
    GroupsMerge,    \* coordinators that have found each other become one group
    ShareRecords,   \* a member writes the record of another one, too (a fault of the folder)
    MaxCrashes,     \* fault budget
    Crashers,       \* bound: who crashes
    MaxCuts,        \* fault budget: times that the network is cut
    MaxLeaves,      \* bound: members that leave
    MaxMisuses      \* fault budget: callers' mistakes, late timers, messages of no correct peer

VARIABLES
    up,         \* the members that live
    coming,     \* [Member -> the members of a view that is decided and not installed there; <<>>: none]
    cut,        \* the first member and the others do not reach each other
    spent       \* bounds and fault budgets used

around == <<up, coming, cut, spent>>
vars == <<local, act, records, operations, net, around>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, records, operations, net, around>>

ASSUME
    /\ Dead \cup Waiting \cup Apart \cup Crashers \subseteq Member
    /\ Waiting # {} => Dead # {}
    /\ {Patient, NetworkLoses, GroupsMerge, ShareRecords} \subseteq BOOLEAN

Reaches(x, y) == ~cut \/ ((x = Lowest(Member)) = (y = Lowest(Member)))

\* A datagram to a member that is dead, or not reached, is lost.
Passing(packets) == {p \in packets : p.to \in up /\ Reaches(p.sender, p.to)}

-----------------------------------------------------------------------------
(* Applying Step to one member. Models of defects replace an operator of this section. *)

MemberStep(s, e) == Step(s, e)

\* The operations of m when its first one is done, or not, and these effects ask for more.
OperationsAfter(m, done, effects) ==
    [operations EXCEPT ![m] = (IF done THEN Tail(@) ELSE @) \o Asked(effects)]

Apply(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = Passing(AfterStep(m, consumed, step.effects))
        /\ operations' = OperationsAfter(m, event.type = "RecordsRead", step.effects)

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Steps of members *)

Connect(m) ==
    /\ m \in up /\ local[m].phase = "idle"
    /\ Apply("Connect", m, [type |-> "ConnectRequested"], {})
    /\ UNCHANGED <<records, around>>

Disconnect(m) ==
    /\ m \in up /\ spent.leaves < MaxLeaves /\ local[m].phase = "in_view" /\ coming[m] = <<>>
    /\ Apply("Disconnect", m, [type |-> "DisconnectRequested"], {})
    /\ Spend("leaves")
    /\ UNCHANGED <<records, up, coming, cut>>

ReadTheRecords(m) ==
    /\ m \in up /\ IsNext(m, "ReadRecords")
    /\ Apply("ReadTheRecords", m, [type |-> "RecordsRead", found |-> WholeRecords, broken |-> BrokenRecords], {})
    /\ UNCHANGED <<records, around>>

Receive(action, m, packet) ==
    /\ m \in up
    /\ Apply(action, m,
             [type |-> IF packet.message.type = "GET_MBRS_REQ" THEN "GetMbrsReqReceived" ELSE "GetMbrsRspReceived",
              sender |-> packet.sender, message |-> packet.message], {packet})
    /\ UNCHANGED <<records, around>>

ReceiveGetMbrsReq(m) ==
    \E p \in Arriving(m) : p.message.type = "GET_MBRS_REQ" /\ Receive("ReceiveGetMbrsReq", m, p)
ReceiveGetMbrsRsp(m) ==
    \E p \in Arriving(m) : p.message.type = "GET_MBRS_RSP" /\ Receive("ReceiveGetMbrsRsp", m, p)

DiscoveryTimeoutFires(m) ==
    /\ m \in up /\ local[m].look = "asking"
    /\ Patient => \A p \in net : m \notin {p.sender, p.to}
    /\ Apply("DiscoveryTimeoutFires", m, [type |-> "DiscoveryTimeout"], {})
    /\ UNCHANGED <<records, around>>

\* Coordinators that may admit m.
LetsIn(c, m) == c \in up /\ Coordinates(local[c]) /\ Reaches(c, m)

JoinTimeoutFires(m) ==
    /\ m \in up /\ local[m].phase = "joining" /\ local[m].target # m /\ coming[m] = <<>>
    /\ Patient => ~LetsIn(local[m].target, m)
    /\ Apply("JoinTimeoutFires", m, [type |-> "JoinTimeout"], {})
    /\ UNCHANGED <<records, around>>

\* A look begins when what was asked of the folder is done.
LookTimeoutFires(m) ==
    /\ m \in up /\ local[m].phase = "in_view" /\ local[m].look = "no" /\ operations[m] = <<>>
    /\ Patient => \A p \in net : m \notin {p.sender, p.to}
    /\ Apply("LookTimeoutFires", m, [type |-> "LookTimeout"], {})
    /\ UNCHANGED <<records, around>>

-----------------------------------------------------------------------------
(* GMS and merging, by contract *)

\* The members of m's view as it is decided.
DecidedAt(m) == IF coming[m] # <<>> THEN coming[m] ELSE local[m].members
Lists(list, x) == \E i \in DOMAIN list : list[i] = x

\* Those that will install a view of these members.
WillInstall(list, x) == x \in up /\ Lists(list, x) /\ local[x].phase # "gone"

Decides(action, m, list) ==
    /\ \A x \in Member : WillInstall(list, x) => coming[x] = <<>>
    /\ coming' = [x \in Member |-> IF WillInstall(list, x) THEN list ELSE coming[x]]
    /\ Environment(action, m, None, {})
    /\ UNCHANGED <<local, records, operations, net, up, cut, spent>>

Admit(m) ==
    /\ m \in up /\ local[m].phase = "joining"
    /\ IF local[m].target = m THEN Decides("Admit", m, <<m>>)
       ELSE LET c == local[m].target IN LetsIn(c, m) /\ ~Lists(DecidedAt(c), m) /\ Decides("Admit", m, Append(DecidedAt(c), m))

LeaveOut(m) ==
    /\ m \in up /\ local[m].phase = "in_view"
    /\ LET Stays(x) == x \in up /\ Reaches(m, x) /\ local[x].phase # "gone" /\ Lists(DecidedAt(x), m)
           list == SelectSeq(DecidedAt(m), Stays)
       IN list # DecidedAt(m) /\ Decides("LeaveOut", m, list)

Merge(m) ==
    /\ GroupsMerge /\ m \in up /\ Coordinates(local[m])
    /\ \E x \in local[m].coordinators :
        /\ LetsIn(x, m) /\ \A i \in DOMAIN DecidedAt(x) : ~Lists(DecidedAt(m), DecidedAt(x)[i])
        /\ Decides("Merge", m, IF IsSenior(m, x) THEN DecidedAt(m) \o DecidedAt(x) ELSE DecidedAt(x) \o DecidedAt(m))

ViewEvent(list) == [type |-> "ViewInstalled", view |-> View(1, Head(list), list)]

InstallView(m) ==
    /\ m \in up /\ coming[m] # <<>> /\ local[m].phase # "gone"
    /\ Apply("InstallView", m, ViewEvent(coming[m]), {})
    /\ coming' = [coming EXCEPT ![m] = <<>>]
    /\ UNCHANGED <<records, up, cut, spent>>

-----------------------------------------------------------------------------
(* The folder *)

\* The record of another member. (OneWriter of Folder is broken.)
OthersRecord(m) == CHOOSE x \in Member : x # m

WriteTheRecord(m) ==
    /\ m \in up /\ IsNext(m, "WriteRecord")
    /\ records' = IF ShareRecords THEN [AfterWrite(m) EXCEPT ![OthersRecord(m)] = "whole"] ELSE AfterWrite(m)
    /\ operations' = IF IsFirstHalf(m) THEN operations ELSE OperationsAfter(m, TRUE, <<>>)
    /\ Environment("WriteTheRecord", m, None, {})
    /\ UNCHANGED <<local, net, around>>

RemoveTheRecords(m) ==
    /\ m \in up /\ IsNext(m, "RemoveRecords")
    /\ records' = AfterRemoval(Head(operations[m]).of)
    /\ operations' = OperationsAfter(m, TRUE, <<>>)
    /\ Environment("RemoveTheRecords", m, None, {})
    /\ UNCHANGED <<local, net, around>>

-----------------------------------------------------------------------------
(* Faults *)

LoseDatagram(m) ==
    /\ NetworkLoses
    /\ \E packet \in Arriving(m) :
        /\ net' = net \ {packet}
        /\ Environment("LoseDatagram", m, None, {packet})
    /\ UNCHANGED <<local, records, operations, around>>

\* The operations that it has asked of the folder, and not got, are not done.
Crash(m) ==
    /\ m \in up /\ m \in Crashers /\ spent.crashes < MaxCrashes /\ local[m].phase # "idle"
    /\ up' = up \ {m}
    /\ net' = {p \in net : p.to # m}
    /\ operations' = [operations EXCEPT ![m] = <<>>]
    /\ coming' = [coming EXCEPT ![m] = <<>>]
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ Spend("crashes")
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<records, cut>>

\* All are in a view. (A starter that is cut off founds a group, which is no different from a starter that comes
\* later.)
Cut ==
    /\ ~cut /\ spent.cuts < MaxCuts /\ \A m \in up : local[m].phase = "in_view" /\ coming[m] = <<>>
    /\ cut' = TRUE
    /\ net' = {p \in net : (p.sender = Lowest(Member)) = (p.to = Lowest(Member))}
    /\ Spend("cuts")
    /\ Environment("Cut", "", None, {})
    /\ UNCHANGED <<local, records, operations, up, coming>>

Heal ==
    /\ cut /\ cut' = FALSE
    /\ Environment("Heal", "", None, {})
    /\ UNCHANGED <<local, records, operations, net, up, coming, spent>>

\* No correct caller or peer causes it, or its time is over. (Unasked readings are in the alphabet.)
IsMisuse(s, e) ==
    CASE e.type = "ConnectRequested" -> s.phase # "idle"
      [] e.type = "DisconnectRequested" -> s.phase \in {"idle", "gone"}
      [] e.type = "DiscoveryTimeout" -> s.look # "asking"
      [] e.type = "JoinTimeout" -> s.phase # "joining" \/ s.target = s.member
      [] e.type = "LookTimeout" -> s.phase # "in_view" \/ s.look # "no"
      [] e.type = "ViewInstalled" -> s.phase = "gone" \/ s.member \notin MembersOf(e.view)
      [] e.type = "GetMbrsReqReceived" -> e.sender = s.member
      [] e.type = "GetMbrsRspReceived" -> e.sender = s.member \/ e.sender \notin s.asked

Misuse(m) ==
    /\ m \in up /\ spent.misuses < MaxMisuses
    /\ \E event \in
        {[type |-> "ConnectRequested"], [type |-> "DisconnectRequested"], [type |-> "DiscoveryTimeout"], [type |-> "JoinTimeout"],
         [type |-> "LookTimeout"], ViewEvent(<<m>>), ViewEvent(<<"Z">>),
         [type |-> "GetMbrsReqReceived", sender |-> m, message |-> GetMbrsReq(TRUE)],
         [type |-> "GetMbrsRspReceived", sender |-> m, message |-> GetMbrsRsp("Z")],
         [type |-> "GetMbrsRspReceived", sender |-> "Z", message |-> GetMbrsRsp("Z")]} :
        /\ IsMisuse(local[m], event)
        /\ Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED <<records, up, coming, cut>>

-----------------------------------------------------------------------------
AtFirst(m) ==
    IF m \in Waiting THEN [Start(m) EXCEPT !.phase = "joining", !.target = Lowest(Dead)]
    ELSE IF m \in Apart THEN [Start(m) EXCEPT !.phase = "in_view", !.members = <<m>>]
    ELSE Start(m)

Init ==
    /\ local = [m \in Member |-> AtFirst(m)]
    /\ up = Member \ Dead
    /\ records = [m \in Member |-> IF m \in Dead \cup Waiting \cup Apart THEN "whole" ELSE "none"]
    /\ operations = [m \in Member |-> <<>>]
    /\ net = {}
    /\ coming = [m \in Member |-> <<>>]
    /\ cut = FALSE
    /\ spent = [crashes |-> 0, cuts |-> 0, leaves |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \/ Cut
    \/ Heal
    \/ \E m \in Member :
        \/ Connect(m)
        \/ Disconnect(m)
        \/ ReadTheRecords(m)
        \/ ReceiveGetMbrsReq(m)
        \/ ReceiveGetMbrsRsp(m)
        \/ DiscoveryTimeoutFires(m)
        \/ JoinTimeoutFires(m)
        \/ LookTimeoutFires(m)
        \/ Admit(m)
        \/ LeaveOut(m)
        \/ Merge(m)
        \/ InstallView(m)
        \/ WriteTheRecord(m)
        \/ RemoveTheRecords(m)
        \/ LoseDatagram(m)
        \/ Crash(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
