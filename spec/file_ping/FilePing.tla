------------------------------- MODULE FilePing -------------------------------
(***************************************************************************)
(* FILE_PING, one member: a pure function of its own state and an event.   *)
(*                                                                         *)
(* Theory. The members of a cluster share a folder. A member that starts   *)
(* writes its record there, reads the records of the others, and asks each *)
(* of them who coordinates (GET_MBRS_REQ). After a time it joins the       *)
(* coordinator that was named, or founds a group if none was.              *)
(*                                                                         *)
(* Two members that start at once find each other's record, and neither    *)
(* has a coordinator to name. The member with the higher address waits: it *)
(* looks again until the other has a coordinator. A member that has        *)
(* decided whom to join names that member though it is in no view yet.     *)
(*                                                                         *)
(* So a coordinator may be dead and be named on: two members that wait for *)
(* it name it to each other in turn. A starter joins a coordinator that    *)
(* has answered this look itself. If none of those named has, it looks     *)
(* again, and names none meanwhile.                                        *)
(*                                                                         *)
(* A coordinator looks again now and then. The named coordinators are the  *)
(* discovery result of merging (DiscoverTimeout of Merge), so groups that  *)
(* were founded apart become one. A coordinator removes the records of the *)
(* members that did not answer it. It cannot distinguish dead members from *)
(* members that are cut off, so every member writes its record again now   *)
(* and then.                                                               *)
(*                                                                         *)
(* The guards have the values of the repaired algorithm. A model of its    *)
(* own takes each away.                                                    *)
(***************************************************************************)
EXTENDS Steps, Views, FiniteSets

CONSTANTS
    DiscoveryTime,  \* ms that a member waits for answers
    JoinTime,       \* ms that a member waits until it is let in
    LookMin,        \* ms until a member looks or writes again: at least,
    LookMax         \* and at most

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
WriteWhen == "first"   \* the own record is written "first", or when the member has decided whom to "join"
DeferToSenior == TRUE  \* a member that starts answers, and of two the member with the higher address waits
LearnOfAsker == TRUE   \* a member that starts waits for a senior by which it was asked, too
NameTarget == TRUE     \* a member that has decided whom to join names it, before it is in a view
FoundWhen == "named"   \* a group is founded when no coordinator is "named", or when no record was "found"
JoinWhom == "answered" \* a starter joins a named coordinator that has "answered" itself, such one if it is "preferred", or
                       \* any that was "named"
SkipBroken == TRUE     \* a record that is not whole is passed over; if not, none of the reading counts
RemoveWhom == "silent" \* a coordinator removes the records of members that were "silent", "excluded" by a view, all
                       \* that are "outside" its view, or none
WriteAgain == "all"    \* the record is written again by "all" members, the "coordinator", or "nobody"
RetryJoin == TRUE      \* a member that is not let in for a time looks again

ASSUME
    /\ WriteWhen \in {"first", "join"}
    /\ FoundWhen \in {"named", "found"}
    /\ JoinWhom \in {"answered", "preferred", "named"}
    /\ RemoveWhom \in {"silent", "excluded", "outside", "nobody"}
    /\ WriteAgain \in {"all", "coordinator", "nobody"}
    /\ {DeferToSenior, LearnOfAsker, NameTarget, SkipBroken, RetryJoin} \subseteq BOOLEAN
    /\ {DiscoveryTime, JoinTime, LookMin, LookMax} \subseteq Nat \ {0}
    /\ LookMin <= LookMax

-----------------------------------------------------------------------------
(* Addresses in their order (AMB-86): TLC has no order on strings. An address that is not here is an error of TLC's. *)

Addresses == <<"A", "B", "C", "D", "Z">>

Place(address) == CHOOSE i \in DOMAIN Addresses : Addresses[i] = address
IsSenior(a, b) == Place(a) < Place(b)
Sorted(set) == LET In(m) == m \in set IN SelectSeq(Addresses, In)
Lowest(set) == Head(Sorted(set))

-----------------------------------------------------------------------------
(* Messages, and effects of this protocol *)

NoCoordinator == ""

\* `starting`: the sender is in no view, and looks for the first time.
GetMbrsReq(starting) == [type |-> "GET_MBRS_REQ", starting |-> starting]

\* `coordinator`: of the sender's view, or whom it is about to join; "": it starts, too.
GetMbrsRsp(coordinator) == [type |-> "GET_MBRS_RSP", coordinator |-> coordinator]

WriteRecord == PassDown([type |-> "WriteRecord"])
ReadRecords == PassDown([type |-> "ReadRecords"])
RemoveRecords(of) == IF of = {} THEN <<>> ELSE <<PassDown([type |-> "RemoveRecords", of |-> of])>>

\* To GMS, by whoever runs the member: JoinRequested with this coordinator.
Found(coordinator) == PassUp([type |-> "Found", coordinator |-> coordinator])

DiscoveryTimer == SetTimer("discovery", DiscoveryTime, DiscoveryTime)
JoinTimer == SetTimer("join", JoinTime, JoinTime)
LookTimer == SetTimer("look", LookMin, LookMax)

-----------------------------------------------------------------------------
(* State *)

Start(member) ==
    [member |-> member,         \* this member's address
     phase |-> "idle",          \* idle, starting, joining, in_view, gone
     members |-> <<>>,          \* of the view installed
     look |-> "no",             \* in no look, reading the records, or asking the members that were found
     asked |-> {},              \* in this look, and
     answered |-> {},           \* those of them that have answered
     named |-> {},              \* coordinators that were named in this look
     seniors |-> {},            \* members with a lower address that start, too
     target |-> NoCoordinator,         \* whom it joins
     coordinators |-> {}]       \* the others that the last look found, for merging

Coordinates(s) == s.members # <<>> /\ Head(s.members) = s.member

\* A look is over.
WithoutLook(s) == [s EXCEPT !.look = "no", !.asked = {}, !.answered = {}, !.named = {}, !.seniors = {}]

-----------------------------------------------------------------------------
(* Looking *)

BeginLook(s, before) == Handled([WithoutLook(s) EXCEPT !.look = "reading"], before \o <<ReadRecords>>)

\* FPG-01, AMB-86: the record is there before the others' are read, so of two that start one finds the other.
ConnectRequested(s, e) ==
    IF s.phase # "idle" THEN LocalError(s)
    ELSE BeginLook([s EXCEPT !.phase = "starting"], IF WriteWhen = "first" THEN <<WriteRecord>> ELSE <<>>)

\* The member that a starter joins: itself if no coordinator was named, and no senior starts.
\* FLAW-219: members that wait for a dead coordinator name it to each other. It has not answered in this look.
Decide(s, asked, answered, named, seniors) ==
    LET heard == named \cap answered
        whom == IF JoinWhom = "named" \/ (JoinWhom = "preferred" /\ heard = {}) THEN named ELSE heard
        waits == named # {} \/ seniors # {} \/ (FoundWhen = "found" /\ asked # {})
        target == IF whom # {} THEN Lowest(whom) ELSE s.member
        wrote == IF WriteWhen = "join" THEN <<WriteRecord>> ELSE <<>>
    IN IF whom = {} /\ waits THEN BeginLook(s, <<>>)
       ELSE Handled([WithoutLook(s) EXCEPT !.phase = "joining", !.target = target],
                    wrote \o <<Found(target)>> \o (IF target = s.member THEN <<>> ELSE <<JoinTimer>>))

\* FPG-09: the record of a silent member goes. A live member writes it again.
EndLook(s) ==
    LET silent == s.asked \ s.answered
        removed == IF RemoveWhom = "silent" /\ Coordinates(s) THEN RemoveRecords(silent) ELSE <<>>
    IN Handled([WithoutLook(s) EXCEPT !.coordinators = s.named \ MembersOf([members |-> s.members])],
               removed \o <<LookTimer>>)

\* FPG-02: requests go to all members found. FPG-11: a record that is not whole is passed over.
RecordsRead(s, e) ==
    LET found == (IF e.broken # {} /\ ~SkipBroken THEN {} ELSE e.found) \ {s.member}
        list == Sorted(found)
        asking == [s EXCEPT !.look = "asking", !.asked = found]
    IN IF s.look # "reading" THEN Ignored(s)
       ELSE IF found = {} THEN IF s.phase = "starting" THEN Decide(s, {}, {}, {}, s.seniors) ELSE EndLook(s)
       ELSE Handled(asking,
                    [i \in DOMAIN list |-> Datagram(list[i], GetMbrsReq(s.phase = "starting"))]
                    \o <<DiscoveryTimer>>)

\* FPG-08. A member in a view names its coordinator.
GetMbrsReqReceived(s, e) ==
    LET defers == LearnOfAsker /\ e.message.starting /\ IsSenior(e.sender, s.member)
    IN IF s.phase = "in_view" THEN Handled(s, <<Datagram(e.sender, GetMbrsRsp(Head(s.members)))>>)
       ELSE IF s.phase = "joining" /\ NameTarget THEN Handled(s, <<Datagram(e.sender, GetMbrsRsp(s.target))>>)
       ELSE IF s.phase \in {"starting", "joining"} /\ DeferToSenior THEN
                Handled([s EXCEPT !.seniors = IF defers /\ s.phase = "starting" THEN @ \cup {e.sender} ELSE @],
                        <<Datagram(e.sender, GetMbrsRsp(NoCoordinator))>>)
       ELSE Ignored(s)

GetMbrsRspReceived(s, e) ==
    LET c == e.message.coordinator
        starts == c = NoCoordinator /\ IsSenior(e.sender, s.member)
    IN IF e.sender \notin s.asked THEN Ignored(s)  \* members are asked in a look only
       ELSE Handled([s EXCEPT !.answered = @ \cup {e.sender},
                              !.named = IF c = NoCoordinator THEN @ ELSE @ \cup {c},
                              !.seniors = IF starts THEN @ \cup {e.sender} ELSE @], <<>>)

DiscoveryTimeout(s, e) ==
    IF s.look # "asking" THEN Ignored(s)
    ELSE IF s.phase = "starting" THEN Decide(s, s.asked, s.answered, s.named, s.seniors)
    ELSE EndLook(s)

\* FLAW-54: the coordinator that was named may be dead, and whoever named it may not know yet.
JoinTimeout(s, e) ==
    IF s.phase # "joining" \/ s.target = s.member \/ ~RetryJoin THEN Ignored(s)
    ELSE BeginLook([s EXCEPT !.phase = "starting", !.target = NoCoordinator], <<>>)

-----------------------------------------------------------------------------
(* In a view *)

\* A coordinator looks for others. Any member writes its record again: it may have been removed while the member was cut off.
LookTimeout(s, e) ==
    LET writes == WriteAgain = "all" \/ (WriteAgain = "coordinator" /\ Coordinates(s))
        wrote == IF writes THEN <<WriteRecord>> ELSE <<>>
    IN IF s.phase # "in_view" \/ s.look # "no" THEN Ignored(s)
       ELSE IF Coordinates(s) THEN BeginLook(s, wrote)
       ELSE Handled(s, wrote \o <<LookTimer>>)

ViewInstalled(s, e) ==
    LET now == MembersOf(e.view)
        before == MembersOf([members |-> s.members])
        removed == IF Head(e.view.members) # s.member THEN {} ELSE
                   CASE RemoveWhom = "excluded" -> before \ now
                     [] RemoveWhom = "outside" -> {Addresses[i] : i \in DOMAIN Addresses} \ now
                     [] OTHER -> {}
        timer == IF s.phase # "in_view" /\ s.look = "no" THEN <<LookTimer>> ELSE <<>>
    IN IF s.member \notin now \/ s.phase = "gone" THEN LocalError(s)
       ELSE Handled([s EXCEPT !.phase = "in_view", !.members = e.view.members, !.target = NoCoordinator,
                              !.coordinators = @ \ now],
                    RemoveRecords(removed) \o timer)

\* FPG-03: a member that leaves removes its record.
DisconnectRequested(s, e) ==
    IF s.phase \in {"idle", "gone"} THEN LocalError(s)
    ELSE Handled([Start(s.member) EXCEPT !.phase = "gone"], RemoveRecords({s.member}))

-----------------------------------------------------------------------------
(* Step: total over the alphabet *)

\* No member asks or answers itself.
Refuses(s, e) == "message" \in DOMAIN e /\ e.sender = s.member

Step(s, e) ==
    IF Refuses(s, e) THEN RemoteError(s)
    ELSE
    CASE e.type = "ConnectRequested" -> ConnectRequested(s, e)
      [] e.type = "RecordsRead" -> RecordsRead(s, e)
      [] e.type = "GetMbrsReqReceived" -> GetMbrsReqReceived(s, e)
      [] e.type = "GetMbrsRspReceived" -> GetMbrsRspReceived(s, e)
      [] e.type = "DiscoveryTimeout" -> DiscoveryTimeout(s, e)
      [] e.type = "JoinTimeout" -> JoinTimeout(s, e)
      [] e.type = "LookTimeout" -> LookTimeout(s, e)
      [] e.type = "ViewInstalled" -> ViewInstalled(s, e)
      [] e.type = "DisconnectRequested" -> DisconnectRequested(s, e)
=============================================================================
