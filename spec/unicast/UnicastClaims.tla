---------------------------- MODULE UnicastClaims -----------------------------
(***************************************************************************)
(* Claims about members that run UNICAST: outcomes that the layer above    *)
(* sees (the conjuncts of FifoUnicast), state inside, frame conditions of  *)
(* the model, the refinement, and liveness. Each claim is violated in some *)
(* model of models.yaml.                                                   *)
(***************************************************************************)
EXTENDS UnicastGroup

FifoUnicast == INSTANCE FifoUnicast

Range(sequence) == {sequence[i] : i \in DOMAIN sequence}

-----------------------------------------------------------------------------
(* Types *)

ConnectionTypeOK(c) == c.incarnation \in Nat /\ c.number \in Nat

Numbered(entries) == \A i \in DOMAIN entries : entries[i][1] \in Nat \ {0}

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ s.incarnation = incarnation[m]
    /\ s.members \subseteq Member
    /\ s.opened \in Nat
    /\ \A p \in DOMAIN s.sends :
        /\ p \in Member \ {m}
        /\ ConnectionTypeOK(s.sends[p].connection) /\ s.sends[p].connection.number <= s.opened
        /\ s.sends[p].next \in Nat /\ Numbered(s.sends[p].kept)
        /\ s.sends[p].interval \in RetransmitMin .. RetransmitMax
    /\ \A p \in DOMAIN s.receives :
        /\ p \in Member \ {m}
        /\ ConnectionTypeOK(s.receives[p].connection)
        /\ s.receives[p].delivered \in Nat /\ Numbered(s.receives[p].ahead)
    /\ \A p \in DOMAIN s.known : p \in Member \ {m} /\ s.known[p] \in 0 .. incarnation[p]

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ \A p \in net :
        /\ p.sender \in Member /\ p.to \in Member
        /\ p.message.type \in {"DATA", "ACK", "SEND_FIRST_SEQNO"}
        /\ p.message.type # "SEND_FIRST_SEQNO" => ConnectionTypeOK(p.message.connection)
    /\ incarnation \in [Member -> Nat]
    /\ spent \in [{"views", "reports", "restarts", "misuses"} -> Nat]

-----------------------------------------------------------------------------
(* Outcomes: events of the layer above *)

\* A delivered message was sent by its sender to this receiver.
NotForged == FifoUnicast!NotForged
\* An incarnation delivers a message at most once.
Once == FifoUnicast!Once
\* The messages of each incarnation of the sender are delivered in the order in which it sent them.
InOrder == FifoUnicast!InOrder
\* No message of a former incarnation of the sender is delivered after one of a later incarnation.
IncarnationsInOrder == FifoUnicast!IncarnationsInOrder
\* A message is skipped only if its sender has excluded the receiver since, or had a report of the silence of an outsider, or
\* the receiver began later.
NoMessageLost == FifoUnicast!NoMessageLost

\* The messages of a's present connection to b are the last ones that a sent; the messages that a keeps no more were
\* delivered.
AcknowledgedIsDelivered ==
    \A a, b \in Member :
        b \in DOMAIN local[a].sends =>
            LET side == local[a].sends[b]
                count == Len(sent[a][b])
            IN \A k \in count - side.next + 2 .. count :
                \/ \E i \in DOMAIN side.kept : side.kept[i][2] = k
                \/ \E i \in DOMAIN got[b][a] : got[b][a][i][2] = k

\* State is bounded by names: of each name that a member has heard of it remembers one incarnation.
OneLifeOfEachName ==
    \A m \in Member :
        LET s == local[m] IN
        \A p \in DOMAIN s.known \cup DOMAIN s.receives \cup DOMAIN s.sends : ~IsOver(s, p)

-----------------------------------------------------------------------------
(* Recovers: liveness, computed in each state. Suppose that the links between *)
(* two members work from now on, timers fire and nothing else happens. Then   *)
(* the messages that a member keeps for the other are delivered to the        *)
(* other's present incarnation and acknowledged, and no message waits behind  *)
(* a gap any more.                                                            *)

MessagesTo(effects, peer) ==
    LET Is(effect) == effect.type = "Datagram" /\ effect.to = peer
        datagrams == SelectSeq(effects, Is)
    IN [i \in DOMAIN datagrams |-> datagrams[i].message]

\* s takes these messages of a peer, in order: its state then, its answers, and what it delivers.
RECURSIVE Takes(_, _, _)
Takes(s, peer, messages) ==
    IF messages = <<>> THEN [state |-> s, answers |-> <<>>, payloads |-> <<>>]
    ELSE LET step == MemberStep(s, ReceivedEvent([sender |-> peer, message |-> Head(messages)]))
             rest == Takes(step.state, peer, Tail(messages))
         IN [state |-> rest.state,
             answers |-> MessagesTo(step.effects, peer) \o rest.answers,
             payloads |-> DeliveredBy(step.effects, peer) \o rest.payloads]

\* The timer fires, and each hears the other twice; as often as it takes, n times at most.
RECURSIVE Rounds(_, _, _, _)
Rounds(sa, sb, n, payloads) ==
    IF n = 0 \/ sb.member \notin DOMAIN sa.sends \/ sa.sends[sb.member].kept = <<>>
    THEN [a |-> sa, b |-> sb, payloads |-> payloads]
    ELSE LET fired == MemberStep(sa, [type |-> "RetransmitTimeout", number |-> sa.sends[sb.member].connection.number])
             b1 == Takes(sb, sa.member, MessagesTo(fired.effects, sb.member))
             a1 == Takes(fired.state, sb.member, b1.answers)
             b2 == Takes(b1.state, sa.member, a1.answers)
             a2 == Takes(a1.state, sb.member, b2.answers)
         IN Rounds(a2.state, b2.state, n - 1, payloads \o b1.payloads \o b2.payloads)

\* If links work and timers fire from now on, all that is kept is acknowledged, and nothing waits behind a gap.
Recovers ==
    \A a, b \in Member :
        (~HasEnded(a) /\ ~HasEnded(b) /\ b \in DOMAIN local[a].sends /\ local[a].sends[b].kept # <<>>) =>
            LET kept == local[a].sends[b].kept
                end == Rounds(local[a], local[b], Len(kept) + 1, <<>>)
            IN /\ b \in DOMAIN end.a.sends => end.a.sends[b].kept = <<>>
               /\ a \in DOMAIN end.b.receives => end.b.receives[a].ahead = <<>>
               /\ \A i \in DOMAIN kept :
                    kept[i][2] \in Range(end.payloads) \cup Range(FifoUnicast!Delivered(b, a))

-----------------------------------------------------------------------------
(* Steps. (m is the member that takes the step.) *)

KeptFor(s, peer) == IF peer \in DOMAIN s.sends THEN {entry[2] : entry \in Range(s.sends[peer].kept)} ELSE {}

KeepsAny(s) == \E p \in DOMAIN s.sends : s.sends[p].kept # <<>>

Excluded(m) == local[m].members \ local'[m].members

\* UNI-07: a message is kept until the peer acknowledges it, a view excludes the peer, or the peer's incarnation is over.
\* Of a peer that the view is without a report of silence ends it too. No timer does.
ClosedByExclusionStep ==
    \A m \in {act'.member} \cap Member : ~act'.from_start =>
        \A p \in DOMAIN local[m].sends :
            \/ KeptFor(local[m], p) \subseteq KeptFor(local'[m], p)
            \/ act'.event.type = "AckReceived" /\ act'.event.sender = p
            \/ p \in Excluded(m)
            \/ act'.event.type = "SilenceReported" /\ act'.event.peer = p /\ Outside(m, p)
            \/ IsOver(local'[m], p)

\* The view is noted, and nothing is kept for a peer that it excludes.
ExclusionClosesStep ==
    act'.action = "InstallView" =>
        /\ local'[act'.member].members = MembersOf(act'.event.view)
        /\ \A p \in Excluded(act'.member) : p \notin DOMAIN local'[act'.member].sends

\* And nothing is kept for an outsider whose silence is reported.
ReportClosesStep ==
    act'.event.type = "SilenceReported" =>
        \A m \in {act'.member} : Outside(m, act'.event.peer) => act'.event.peer \notin DOMAIN local'[m].sends

\* A window is not forgotten before the peer's incarnation is over. A window of a lower connection does not replace
\* it, and it does not go back.
WindowsAreKeptStep ==
    \A m \in {act'.member} \cap Member : ~act'.from_start =>
        \A p \in DOMAIN local[m].receives :
            IF p \notin DOMAIN local'[m].receives THEN IsOver(local'[m], p)
            ELSE LET old == local[m].receives[p]
                     new == local'[m].receives[p]
                 IN \/ Higher(new.connection, old.connection)
                    \/ new.connection = old.connection /\ new.delivered >= old.delivered

\* An acknowledged message was delivered in that connection: no ACK covers messages that wait behind a gap.
AcksDeliveredStep ==
    \A i \in DOMAIN act'.effects :
        (act'.effects[i].type = "Datagram" /\ act'.effects[i].message.type = "ACK") =>
            LET window == local'[act'.member].receives[act'.effects[i].to] IN
            act'.effects[i].message = AckMessage(window.connection, window.delivered, incarnation[act'.member])

Timers == {i \in DOMAIN act'.effects : act'.effects[i].type = "SetTimer"}

\* The timer of a connection runs while anything is kept in it: it is set when the first message is kept, and again when it
\* fires.
TimerWhileKeptStep ==
    \A m \in {act'.member} \cap Member :
        \A p \in DOMAIN local'[m].sends :
            LET side == local'[m].sends[p]
                before == p \in DOMAIN local[m].sends /\ local[m].sends[p].connection = side.connection
                            /\ local[m].sends[p].kept # <<>>
            IN (/\ side.kept # <<>>
                /\ \/ ~before
                   \/ act'.event.type = "RetransmitTimeout" /\ act'.event.number = side.connection.number)
               => SetRetransmitTimer(side) \in {act'.effects[i] : i \in Timers}

\* A timer is set for a connection in which something is kept.
TimerIsOfKeptStep ==
    \A i \in Timers : \E p \in DOMAIN local'[act'.member].sends :
        LET side == local'[act'.member].sends[p] IN side.kept # <<>> /\ act'.effects[i] = SetRetransmitTimer(side)

\* A timer that runs is not set again by a request: under traffic it would never fire.
TimerNotPostponedStep ==
    (act'.event.type = "UnicastRequested" /\ Timers # {}) => KeptFor(local[act'.member], act'.event.to) = {}

\* Each wait is twice the last, up to the longest;
BacksOffStep ==
    (act'.event.type = "RetransmitTimeout" /\ act'.outcome = "handled") =>
        LET m == act'.member
            p == CHOOSE p \in DOMAIN local[m].sends : local[m].sends[p].connection.number = act'.event.number
            old == local[m].sends[p]
            again == MessagesTo(act'.effects, p)
        IN /\ \A i \in Timers : act'.effects[i].low = IF 2 * old.interval < RetransmitMax THEN 2 * old.interval ELSE RetransmitMax
           /\ again # <<>> /\ Len(again) <= ResendMost
           /\ \A i \in DOMAIN again : again[i].seqno = old.kept[i][1]

\* ... until the peer acknowledges something.
WaitNeedsProgressStep ==
    \A m \in {act'.member} \cap Member : \A p \in DOMAIN local[m].sends \cap DOMAIN local'[m].sends :
        LET old == local[m].sends[p]
            new == local'[m].sends[p]
        IN (new.connection = old.connection /\ new.interval < old.interval) => Len(new.kept) < Len(old.kept)

\* A connection is opened by the first message to a peer, and in the place of one that was for a former incarnation; each counts.
ConnectionsAreCountedStep ==
    \A m \in {act'.member} \cap Member : ~act'.from_start =>
        LET IsNew(p) == p \notin DOMAIN local[m].sends \/ local[m].sends[p].connection # local'[m].sends[p].connection
            new == {p \in DOMAIN local'[m].sends : IsNew(p)}
        IN /\ local'[m].opened = local[m].opened + Cardinality(new)
           /\ \A p \in new \cap DOMAIN local[m].sends : p \in DOMAIN local[m].known /\ local'[m].known[p] > local[m].known[p]

\* An event that no correct peer or caller causes is refused; one that is late, or says nothing new, is ignored;
MisuseIsRefusedStep ==
    act'.action = "Misuse" =>
        act'.outcome \in IF act'.event.type \in {"RetransmitTimeout", "SilenceReported"}
                            \/ (act'.event.type = "ViewInstalled" /\ act'.member \in MembersOf(act'.event.view))
                         THEN {"ignored"} ELSE {"local_error", "remote_error"}

\* no other event is refused;
NoEventRefusedStep == act'.outcome \in {"local_error", "remote_error"} => act'.action = "Misuse"

\* and an event that is handled changes the state, or has effects.
HandledDoesSomethingStep ==
    act'.outcome = "handled" => act'.from_start \/ local'[act'.member] # local[act'.member] \/ act'.effects # <<>>

\* A step belongs to one member; the network and what is delivered change through its effects alone, and what is ignored or
\* refused changes nothing. This is what makes local steps speak for the whole model.
OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ UnchangedUnlessHandled
    /\ net' = IF act'.action = "LoseDatagram" THEN net \ act'.consumed
              ELSE AfterStep(act'.member, act'.consumed, act'.effects)
    /\ \A m \in Member : got'[m] = IF m = act'.member THEN GotAfter(m, act'.effects) ELSE got[m]
    /\ act'.outcome = "none" => local' = local

ClosedByExclusion == [][ClosedByExclusionStep]_vars
ExclusionCloses == [][ExclusionClosesStep]_vars
ReportCloses == [][ReportClosesStep]_vars
WindowsAreKept == [][WindowsAreKeptStep]_vars
AcksDelivered == [][AcksDeliveredStep]_vars
TimerWhileKept == [][TimerWhileKeptStep]_vars
TimerIsOfKept == [][TimerIsOfKeptStep]_vars
TimerNotPostponed == [][TimerNotPostponedStep]_vars
BacksOff == [][BacksOffStep]_vars
WaitNeedsProgress == [][WaitNeedsProgressStep]_vars
ConnectionsAreCounted == [][ConnectionsAreCountedStep]_vars
MisuseIsRefused == [][MisuseIsRefusedStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars
HandledDoesSomething == [][HandledDoesSomethingStep]_vars
OnlyByEffects == [][OnlyByEffectsStep]_vars

-----------------------------------------------------------------------------
(* Refinement: the members are an implementation of FIFO unicasts between incarnations. *)

RefinesFifoUnicastStep == history' # history => FifoUnicast!Next
RefinesFifoUnicast == FifoUnicast!Init /\ [][RefinesFifoUnicastStep]_vars

-----------------------------------------------------------------------------
(* Liveness, on a network that consumes and loses as often as it likes *)

ReceiveDataOf(m, x, n) ==
    \E p \in Arriving(m) :
        p.sender = x /\ p.message.type = "DATA" /\ p.message.seqno = n /\ Receive("ReceiveData", m, p)

\* Network!Fair for A's messages to B and B's answers: a datagram with the same kind and number that is sent again and
\* again arrives again and again. The timer fires.
Fairness ==
    /\ WF_vars(RetransmitTimeoutFires("A"))
    /\ SF_vars(ReceiveDataOf("B", "A", 1))
    /\ SF_vars(ReceiveDataOf("B", "A", 2))
    /\ SF_vars(ReceiveAck("A"))
    /\ SF_vars(ReceiveSendFirstSeqno("A"))

LiveSpec == Init /\ [][Next]_vars /\ Fairness

\* Each message that A sends to B is delivered in the end, or B is closed to it: A has excluded B since, or has had a
\* report that B is silent, with a view without B.
Arrives ==
    \A k \in 1 .. Sends :
        (k \in DOMAIN sent["A"]["B"])
            ~> (k \in {entry[2] : entry \in Range(got["B"]["A"])} \/ k <= closed["A"]["B"])

\* SilenceDetector!SilenceIsReported, of what A keeps. No datagram need arrive.
OutsiderSpec == Init /\ [][Next]_vars /\ WF_vars(RetransmitTimeoutFires("A")) /\ WF_vars(SilenceIsReported("A"))

\* Nothing is kept for ever for a silent peer that is in no view: it was sent before the view without the peer, or after it.
NothingKeptForEver ==
    \A m \in Member : \A p \in Deaf \ {m} :
        (KeptFor(local[m], p) # {} /\ Outside(m, p)) ~> (KeptFor(local[m], p) = {} \/ ~Outside(m, p))

THEOREM Spec => FifoUnicast!Spec
=============================================================================
