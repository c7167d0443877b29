--------------------------- MODULE NoteGmsDigest ----------------------------
(******************************************************************************)
(* A joiner's start digest, as the note has it (pbcast DESIGN, "Digest        *)
(* returned to client"), and as GMS has it now.                               *)
(*                                                                            *)
(* In the note a view is a multicast like any other: it takes a seqno of      *)
(* the coordinator's. The joiner's digest is taken before the view is         *)
(* multicast (case A), or after (case B). The joiner drops every multicast    *)
(* until it has the answer. So in case A its digest is one seqno short, which *)
(* the note repairs by adding one. In case B it is one short, too, unless the *)
(* view has come back to the coordinator by then. Taking the digest,          *)
(* multicasting the view and answering are steps of their own: multicasts of  *)
(* any member may come between.                                               *)
(*                                                                            *)
(* In GMS as it is now, a view is no multicast and takes no seqno. The digest *)
(* is taken before the view and belongs to it, so a repeated JOIN_REQ has the *)
(* same answer. It gives what was delivered, not what was received.           *)
(*                                                                            *)
(* The joiner is handed the coordinator's state as it was when the digest     *)
(* was taken. It must then deliver what is not in that state, each once.      *)
(* Copies of a multicast go to all addresses, whoever is in the view, and     *)
(* arrive once and in any order. No member crashes and nothing is lost on the *)
(* way: what is missing here the protocol has lost. A member that acknowledges which *)
(* view, and who takes over, is not here but in Gms.                          *)
(******************************************************************************)
EXTENDS Windows, Steps, Acts, Sequences

CONSTANTS
    Member,         \* all addresses: "A" (the coordinator), other members, and joiners
    Joiners,        \* the processes that are not in the first view
    DigestCase,     \* "A", "A_plus_one", "B", "B_waits" (for the view to come back first), "repaired"
    Told,           \* the digest says what was "delivered", or "received"
    FirstAnswer,    \* a joiner takes the first answer and no other
    Retransmits,    \* the layer below sends again what a member lacks
    Flush,          \* no member multicasts while a join is under way; all is delivered before one begins
    Casts,          \* bound: [Member -> how many multicasts its application sends]
    MaxRepeats      \* bound: how often each joiner repeats its JOIN_REQ

ASSUME
    /\ DigestCase \in {"A", "A_plus_one", "B", "B_waits", "repaired"}
    /\ Told \in {"delivered", "received"}
    /\ {FirstAnswer, Retransmits, Flush, KeepAct} \subseteq BOOLEAN

VARIABLES
    network,        \* copies of multicasts, requests and answers on their way: a set of packets
    log,            \* [Member -> what it has multicast since the start, in order]
    asked           \* [Joiners -> how many JOIN_REQs it has sent]

vars == <<local, network, log, asked, act>>
view == <<local, network, log, asked>>

-----------------------------------------------------------------------------
(* Seqnos and messages *)

\* Before the start: the highest seqno of each member. (The note's numbers: the coordinator's next is 35.)
Before(m) == IF m \in Joiners THEN Nothing ELSE IF m = "A" THEN 34 ELSE 2

Last(m) == Before(m) + Len(log[m])
NextSeqno(m) == Last(m) + 1
MessageOf(s, n) == log[s][n - Before(s)]

Data(n) == [type |-> "DATA", seqno |-> n]
ViewMessage(n, members) == [type |-> "VIEW", seqno |-> n, members |-> members]
JoinReq == [type |-> "JOIN_REQ"]
NewView(members) == [type |-> "NEW_VIEW", members |-> members]

\* `state`: what is in the state that the joiner is handed with it.
JoinRsp(members, digest, state) ==
    [type |-> "JOIN_RSP", members |-> members, digest |-> digest, state |-> state]

Packet(sender, to, message) == [sender |-> sender, to |-> to, message |-> message]
Copies(sender, message) == {Packet(sender, m, message) : m \in Member}

Multicasts == {p \in network : p.message.type \in {"DATA", "VIEW"}}

Says(step, m, event, consumed, effects) == Record(step, m, FALSE, None, event, consumed, "handled", effects)
Arrival(p, name) == [type |-> name, sender |-> p.sender, message |-> p.message]

-----------------------------------------------------------------------------
(* Members *)

\* A member's messages of a sender: as in Windows, where it is called so too. (No member purges here.)
From(n) == [delivered |-> n, ahead |-> {}]

Unjoined == [members |-> <<>>, windows |-> [s \in {} |-> From(Nothing)], state |-> [s \in {} |-> 0],
             told |-> <<>>, got |-> <<>>, joins |-> [j \in {} |-> 0]]

IsIn(m, list) == \E i \in DOMAIN list : list[i] = m
In(m) == local[m].members # <<>>
Founders == Member \ Joiners

Stage(j) == local["A"].joins[j].stage
UnderWay == {j \in Joiners : Stage(j) # "none" /\ \E m \in Founders \cup {j} : ~IsIn(j, local[m].members)}

\* A member's windows when it learns of these members: a newcomer's starts with nothing.
Opened(windows, members) ==
    [s \in DOMAIN windows \cup {members[i] : i \in DOMAIN members} |->
        IF s \in DOMAIN windows THEN windows[s] ELSE From(Nothing)]

\* It installs a list that is longer than its own. (No member leaves here.)
Learns(s, members) ==
    IF Len(members) <= Len(s.members) THEN s
    ELSE [s EXCEPT !.members = members, !.windows = Opened(@, members)]

\* Seqno n of x reaches member m: what can be delivered is, in order, and views are installed as they are.
RECURSIVE Deliver(_, _, _, _)
Deliver(s, x, n, last) ==
    IF n > last THEN s
    ELSE LET message == MessageOf(x, n)
             got == [s EXCEPT !.got = Append(@, <<x, n>>)]
         IN Deliver(IF message.type = "VIEW" THEN Learns(got, message.members) ELSE got, x, n + 1, last)

Reaches(s, x, n) ==
    LET window == Add(s.windows[x], n)
    IN Deliver([s EXCEPT !.windows[x] = window], x, s.windows[x].delivered + 1, window.delivered)

-----------------------------------------------------------------------------
(* Multicasts *)

Cast(m) ==
    /\ In(m)
    /\ Cardinality({i \in DOMAIN log[m] : log[m][i].type = "DATA"}) < Casts[m]
    /\ Flush => UnderWay = {}
    /\ log' = [log EXCEPT ![m] = Append(@, Data(NextSeqno(m)))]
    /\ network' = network \cup Copies(m, Data(NextSeqno(m)))
    /\ Says("Cast", m, NoEvent, {}, <<Multicast(Data(NextSeqno(m)))>>)
    /\ UNCHANGED <<local, asked>>

\* JOI-06: who is not in the group yet drops what arrives; so does a member what comes from a stranger.
ReceiveMulticast(m) ==
    /\ \E p \in Multicasts :
        /\ p.to = m
        /\ network' = network \ {p}
        /\ local' = IF In(m) /\ p.sender \in DOMAIN local[m].windows
                    THEN [local EXCEPT ![m] = Reaches(@, p.sender, p.message.seqno)]
                    ELSE local
        /\ Says("ReceiveMulticast", m, Arrival(p, "MulticastReceived"), {p}, <<>>)
    /\ UNCHANGED <<log, asked>>

OnItsWay(s, n, m) == \E p \in Multicasts : p.to = m /\ p.sender = s /\ p.message.seqno = n

\* m asks for a message that it lacks and that will not come by itself.
Retransmit(m) ==
    /\ Retransmits
    /\ In(m)
    /\ \E s \in DOMAIN local[m].windows : \E n \in local[m].windows[s].delivered + 1 .. Last(s) :
        /\ Lacks(local[m].windows[s], n) /\ ~OnItsWay(s, n, m)
        /\ local' = [local EXCEPT ![m] = Reaches(@, s, n)]
        /\ Record("Retransmit", m, FALSE, [sender |-> s, seqno |-> n], NoEvent, {}, "handled", <<>>)
    /\ UNCHANGED <<network, log, asked>>

-----------------------------------------------------------------------------
(* Joining *)

\* j asks, and asks again.
AskToJoin(j) ==
    /\ ~In(j)
    /\ asked[j] <= MaxRepeats
    /\ Packet(j, "A", JoinReq) \notin network
    /\ asked' = [asked EXCEPT ![j] = @ + 1]
    /\ network' = network \cup {Packet(j, "A", JoinReq)}
    /\ Says("AskToJoin", j, NoEvent, {}, <<Send("A", JoinReq)>>)
    /\ UNCHANGED <<local, log>>

\* A flush: what was multicast before has been delivered, and no other member is joining.
Quiescent == Multicasts = {} /\ UnderWay = {}

Answer(j) == JoinRsp(local["A"].members, local["A"].joins[j].digest, local["A"].joins[j].state)

\* A request that is repeated when it was answered is answered without a new view (AMB-29): in the note with
\* the digest as it is by then, now with the same.
ReceiveJoinReq(j) ==
    /\ \E p \in network :
        /\ p.sender = j /\ p.message.type = "JOIN_REQ"
        /\ (Flush /\ Stage(j) = "none") => Quiescent
        /\ IF Stage(j) = "answered" /\ DigestCase = "repaired"
           THEN /\ network' = (network \ {p}) \cup {Packet("A", j, local["A"].joins[j].answer)}
                /\ Says("ReceiveJoinReq", "A", Arrival(p, "JoinReqReceived"), {p},
                         <<Send(j, local["A"].joins[j].answer)>>)
                /\ UNCHANGED local
           ELSE /\ network' = network \ {p}
                /\ Says("ReceiveJoinReq", "A", Arrival(p, "JoinReqReceived"), {p}, <<>>)
                /\ local' = [local EXCEPT !["A"].joins[j].stage =
                                CASE @ = "none" -> "asked" [] @ = "answered" -> "again" [] OTHER -> @]
    /\ UNCHANGED <<log, asked>>

DeliveredOf(windows) == [s \in DOMAIN windows |-> windows[s].delivered]

DigestToSend(windows) ==
    IF Told = "delivered" THEN DeliveredOf(windows)
    ELSE [s \in DOMAIN windows |->
            IF windows[s].ahead = {} THEN windows[s].delivered
            ELSE CHOOSE n \in windows[s].ahead : \A k \in windows[s].ahead : k <= n]

\* GET_DIGEST returns.
TakeDigest(j) ==
    LET a == local["A"]
        first == CASE DigestCase = "B" -> Stage(j) = "cast"
                   [] DigestCase = "B_waits" ->
                        Stage(j) = "cast" /\ a.windows["A"].delivered >= a.joins[j].seqno
                   [] OTHER -> Stage(j) = "asked"
    IN
    /\ first \/ Stage(j) = "again"
    /\ local' = [local EXCEPT
                    !["A"].joins[j].digest = DigestToSend(a.windows),
                    !["A"].joins[j].state = DeliveredOf(a.windows),
                    !["A"].joins[j].stage =
                        IF @ = "asked" THEN "taken" ELSE "ready"]
    /\ Says("TakeDigest", "A", NoEvent, {}, <<>>)
    /\ UNCHANGED <<network, log, asked>>

WithJoiner(j) == Append(local["A"].members, j)
OldMembers == {m \in Member \ {"A"} : IsIn(m, local["A"].members)}

\* The view goes out as a multicast of the coordinator's, which updates its own membership at once (MBR-03).
CastView(j) ==
    /\ DigestCase # "repaired"
    /\ Stage(j) = IF DigestCase \in {"B", "B_waits"} THEN "asked" ELSE "taken"
    /\ \E message \in {ViewMessage(NextSeqno("A"), WithJoiner(j))} :
        /\ log' = [log EXCEPT !["A"] = Append(@, message)]
        /\ network' = network \cup Copies("A", message)
        /\ local' = [local EXCEPT !["A"] =
                        [Learns(@, WithJoiner(j)) EXCEPT
                            !.joins[j].seqno = message.seqno,
                            !.joins[j].stage = IF @ = "asked" THEN "cast" ELSE "ready"]]
        /\ Says("CastView", "A", NoEvent, {}, <<Multicast(message)>>)
    /\ UNCHANGED asked

AnswerJoiner(j) ==
    /\ Stage(j) = "ready"
    /\ network' = network \cup {Packet("A", j, Answer(j))}
    /\ local' = [local EXCEPT !["A"].joins[j].stage = "answered"]
    /\ Says("AnswerJoiner", "A", NoEvent, {}, <<Send(j, Answer(j))>>)
    /\ UNCHANGED <<log, asked>>

\* Repaired: the view has the digest in it and no seqno, and goes to each member by itself.
DecideView(j) ==
    /\ DigestCase = "repaired"
    /\ Stage(j) = "taken"
    /\ \E answer \in {JoinRsp(WithJoiner(j), local["A"].joins[j].digest, local["A"].joins[j].state)} :
        /\ network' = network \cup {Packet("A", j, answer)}
                      \cup {Packet("A", m, NewView(WithJoiner(j))) : m \in OldMembers}
        /\ local' = [local EXCEPT !["A"] =
                        [Learns(@, WithJoiner(j)) EXCEPT !.joins[j].stage = "answered",
                                                         !.joins[j].answer = answer]]
        /\ Says("DecideView", "A", NoEvent, {}, <<Send(j, answer)>>)
    /\ UNCHANGED <<log, asked>>

ReceiveNewView(m) ==
    /\ \E p \in network :
        /\ p.to = m /\ p.message.type = "NEW_VIEW"
        \* (Before its JOIN_RSP a joiner has no use for it: it learns of later joiners when it is answered.)
        /\ In(m)
        /\ network' = network \ {p}
        /\ local' = [local EXCEPT ![m] = Learns(@, p.message.members)]
        /\ Says("ReceiveNewView", m, Arrival(p, "NewViewReceived"), {p}, <<>>)
    /\ UNCHANGED <<log, asked>>

\* JOI-12: the joiner adds one, to the coordinator's entry alone.
Start(digest, s) ==
    IF s \notin DOMAIN digest THEN Nothing
    ELSE IF s = "A" /\ DigestCase = "A_plus_one" THEN digest[s] + 1 ELSE digest[s]

ReceiveJoinRsp(j) ==
    /\ \E p \in network :
        /\ p.to = j /\ p.message.type = "JOIN_RSP"
        /\ network' = network \ {p}
        /\ \E answer \in {p.message} : local' =
            IF In(j) /\ FirstAnswer THEN local
            ELSE [local EXCEPT
                    ![j].members = answer.members,
                    ![j].windows = [s \in {answer.members[i] : i \in DOMAIN answer.members} |->
                                        From(Start(answer.digest, s))],
                    ![j].state = IF In(j) THEN @ ELSE answer.state,
                    ![j].told = IF In(j) THEN @ ELSE answer.members]
        /\ Says("ReceiveJoinRsp", j, Arrival(p, "JoinRspReceived"), {p}, <<>>)
    /\ UNCHANGED <<log, asked>>

-----------------------------------------------------------------------------
\* The founders, in alphabetical order.
FirstList == SelectSeq(<<"A", "B">>, LAMBDA m : m \in Founders)

Init ==
    /\ local = [m \in Member |->
                    IF m \in Joiners THEN Unjoined
                    ELSE [Unjoined EXCEPT
                            !.members = FirstList,
                            !.windows = [s \in Founders |-> From(Before(s))],
                            !.state = [s \in Founders |-> Before(s)],
                            !.told = FirstList,
                            !.joins = IF m # "A" THEN @
                                      ELSE [j \in Joiners |-> [stage |-> "none", seqno |-> 0, digest |-> <<>>,
                                                               state |-> <<>>, answer |-> None]]]]
    /\ network = {}
    /\ log = [m \in Member |-> <<>>]
    /\ asked = [j \in Joiners |-> 0]
    /\ act = NoAct

Next ==
    \/ \E m \in Member :
        \/ Cast(m)
        \/ ReceiveMulticast(m)
        \/ Retransmit(m)
        \/ ReceiveNewView(m)
    \/ \E j \in Joiners :
        \/ AskToJoin(j)
        \/ ReceiveJoinReq(j)
        \/ TakeDigest(j)
        \/ CastView(j)
        \/ AnswerJoiner(j)
        \/ DecideView(j)
        \/ ReceiveJoinRsp(j)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Claims *)

Handed(m, s) == IF s \in DOMAIN local[m].state THEN local[m].state[s] ELSE Nothing

TypeOK ==
    /\ \A m \in Member :
        /\ DOMAIN local[m].windows = {local[m].members[i] : i \in DOMAIN local[m].members}
        /\ \A s \in DOMAIN local[m].windows : local[m].windows[s].delivered >= Nothing
    /\ \A p \in network : p.sender \in Member /\ p.to \in Member

\* JOI-02: no member waits for a message that was sent and will not come any more.
NoReceiverHangs ==
    \A m \in Member : \A s \in DOMAIN local[m].windows :
        \E n \in {local[m].windows[s].delivered + 1} :
            n <= Last(s) => Retransmits \/ OnItsWay(s, n, m)

\* A member has delivered every message before its position, except the messages in its start state.
NoMessageLost ==
    \A m \in Member : \A s \in DOMAIN local[m].windows :
        \A n \in Handed(m, s) + 1 .. Least(local[m].windows[s].delivered, Last(s)) :
            (n > Before(s) /\ MessageOf(s, n).type = "DATA") =>
                \E i \in DOMAIN local[m].got : local[m].got[i] = <<s, n>>

\* A message that a member delivers was not in its start state, and it has not delivered it before.
NoDuplicateDelivery ==
    \A m \in Member : \A i \in DOMAIN local[m].got :
        \E s \in {local[m].got[i][1]}, n \in {local[m].got[i][2]} :
            MessageOf(s, n).type = "DATA" =>
                n > Handed(m, s) /\ \A k \in 1 .. i - 1 : local[m].got[k] # <<s, n>>

\* AMB-09: a joiner is not given, as a message, the view that it was answered with, or one before.
JoinerGetsNoOldView ==
    \A m \in Joiners : \A i \in DOMAIN local[m].got :
        \E message \in {MessageOf(local[m].got[i][1], local[m].got[i][2])} :
            message.type = "VIEW" => Len(message.members) > Len(local[m].told)

-----------------------------------------------------------------------------
(* Witnesses *)

\* A joiner is in, and so is every member; all that was sent has been delivered.
AllIn == network = {} /\ \A m \in Member : Len(local[m].members) = Cardinality(Member)
AnsweredTwice == \E j \in Joiners : In(j) /\ \E p \in network : p.to = j /\ p.message.type = "JOIN_RSP"
TakenWithAGap == \E j \in Joiners : Stage(j) = "taken" /\ \E s \in Founders : local["A"].windows[s].ahead # {}
SentWhileJoining == \E j \in Joiners : Stage(j) = "taken" /\ log["A"] # <<>> /\ log["B"] # <<>>
JoinerDropped ==
    \E j \in UnderWay : \E s \in Founders : \E n \in Before(s) + 1 .. Last(s) : ~In(j) /\ ~OnItsWay(s, n, j)

\* Story: the first multicast is the view with the joiner, and the application's comes after it.
ViewBeforeData == log["A"] # <<>> /\ log["A"][1].type = "VIEW"
=============================================================================
