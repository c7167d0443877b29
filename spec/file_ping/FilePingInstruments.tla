-------------------------- MODULE FilePingInstruments --------------------------
(***************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps *)
(* for conformance.                                                        *)
(***************************************************************************)
EXTENDS FilePingClaims

(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

SeniorIsAwaited == \E m \in up : local[m].seniors # {}
TargetIsNamed == \E p \in net : p.message.type = "GET_MBRS_RSP" /\ local[p.sender].phase = "joining" /\ p.message.coordinator # NoCoordinator
BrokenRecordSeen == \E m \in up : IsNext(m, "ReadRecords") /\ BrokenRecords # {}
OthersFound == \E m \in up : local[m].coordinators # {}
TwoGroups == Cardinality(Coordinators) > 1
SilentRemoved == \E m \in up : Coordinates(local[m]) /\ IsNext(m, "RemoveRecords")
LeaverIsGone == \E m \in up : local[m].phase = "gone" /\ operations[m] = <<>>
AllInOneView == \E m \in up : Len(local[m].members) = Cardinality(up) /\ Cardinality(up) > 1

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]
SeenMessages == {[sender |-> p.sender, message |-> p.message] : p \in net}
SeenOutside(m) == 0

\* Each message of each address, though its sender never sent it. Each reading of up to three addresses. Views with
\* this member and without, in each order. Each timer, late or not. Each call, allowed or not.
Alphabet(messages, outsides) ==
    LET all == Member \cup {"Z"}
        said == {GetMbrsReq(b) : b \in BOOLEAN} \cup {GetMbrsRsp(x) : x \in all \cup {NoCoordinator}}
        lists == {list \in UNION {[1 .. n -> all] : n \in 1 .. 3} : Cardinality({list[i] : i \in DOMAIN list}) = Len(list)}
    IN {[type |-> IF message.type = "GET_MBRS_REQ" THEN "GetMbrsReqReceived" ELSE "GetMbrsRspReceived",
         sender |-> x, message |-> message] : x \in all, message \in said}
       \cup {[type |-> "RecordsRead", found |-> found, broken |-> broken] : found \in SUBSET all, broken \in {{}, {"B"}}}
       \cup {ViewEvent(list) : list \in lists}
       \cup {[type |-> type] : type \in
                {"ConnectRequested", "DisconnectRequested", "DiscoveryTimeout", "JoinTimeout", "LookTimeout"}}

-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its state: its record *)

Observed(m) == [record |-> records[m]]
=============================================================================
