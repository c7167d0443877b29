----------------------------- MODULE UnicastGroup -----------------------------
(***************************************************************************)
(* Members that run UNICAST over a Network, as freely as it may behave.    *)
(* - Views are whatever a membership service may say to each member: any   *)
(*   list with itself in it, at any time (one-sided exclusion, UNI-07).    *)
(* - A failure detector reports silence as it likes, also of members that  *)
(*   are up (SilenceDetector asks of it that it reports the silent ones).  *)
(* - An address may begin another incarnation at any time. Messages in the *)
(*   network stay there.                                                   *)
(* - A name has one incarnation at a time. An address is over as soon as a *)
(*   later incarnation of its name has done anything; its datagrams stay   *)
(*   there.                                                                *)
(* - The layer above sends whenever it likes. The payload of a message is  *)
(*   its number among all messages from this sender to this receiver, so   *)
(*   that claims can distinguish messages. Members do not look at it. The  *)
(*   claims are in UnicastClaims.                                          *)
(***************************************************************************)
EXTENDS Unicast, Network, Acts

CONSTANTS
    Pairs,          \* bound: senders and receivers, a set of <<from, to>>
    Sends,          \* bound: how many messages each incarnation of a member sends to each other
    MaxViews,       \* bound: views installed
    Installers,     \* bound: who installs views
    MaxReports,     \* bound: reports of silence that change something
    MaxRestarts,    \* fault budget: incarnations that end, and another one begins
    Restarters,     \* bound: whose
    MaxMisuses,     \* fault budget: messages of no correct peer, callers' mistakes, late timers
    NetworkLoses,   \* a network that consumes loses, as often as it likes
    Deaf            \* the members that no datagram reaches: their links work in one direction

VARIABLES
    incarnation,    \* [Member -> the number of its present incarnation]
    sent,           \* [from -> [to -> the sender's incarnation at each message, in the order sent]]
    got,            \* [to -> [from -> <<the receiver's incarnation, payload>>, in the order delivered]]
    begun,          \* [to -> [from -> how many were sent when the present incarnation of `to` began]]
    closed,         \* [from -> [to -> how many had been sent when `from` last excluded `to`, or, having a view without
                    \* `to`, had a report of its silence]]
    spent           \* bounds and fault budgets used

history == <<incarnation, sent, got, begun, closed>>
vars == <<local, net, history, spent, act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, net, history, spent>>

ASSUME
    /\ Pairs \subseteq {pair \in Member \X Member : pair[1] # pair[2]}
    /\ Installers \subseteq Member /\ Restarters \subseteq Member /\ Deaf \subseteq Member
    /\ {KeepAct, NetworkLoses} \subseteq BOOLEAN

-----------------------------------------------------------------------------
(* Applying Step to one member. Models of defects replace an operator of this section. *)

\* The step of a member: Unicast's, or NoteUnicast's.
MemberStep(s, e) == Step(s, e)

\* The messages that these effects deliver, by sender.
DeliveredBy(effects, from) ==
    LET Is(effect) == effect.type = "PassUp" /\ effect.event.sender = from
        ups == SelectSeq(effects, Is)
    IN [i \in DOMAIN ups |-> ups[i].event.payload]

\* `got` of m after these effects.
GotAfter(m, effects) ==
    IF \A i \in DOMAIN effects : effects[i].type # "PassUp" THEN got[m]
    ELSE [from \in Member |->
            LET new == DeliveredBy(effects, from)
            IN got[m][from] \o [i \in DOMAIN new |-> <<incarnation[m], new[i]>>]]

Apply(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ got' = [got EXCEPT ![m] = GotAfter(m, step.effects)]

FirstState(m) == [Start(m) EXCEPT !.members = Member]

\* A later incarnation of the name of m has done something: m takes no step any more.
HasEnded(m) == \E x \in Member : IsFormer(m, x) /\ local[x] # FirstState(x)

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Sending and receiving *)

SentNow(m, to) == LET IsOwn(i) == i = incarnation[m] IN Len(SelectSeq(sent[m][to], IsOwn))

UnicastIsRequested(m) ==
    /\ \E to \in Member :
        /\ <<m, to>> \in Pairs
        /\ SentNow(m, to) < Sends
        /\ Apply("UnicastIsRequested", m,
                 [type |-> "UnicastRequested", to |-> to, payload |-> Len(sent[m][to]) + 1], {})
        /\ sent' = [sent EXCEPT ![m][to] = Append(@, incarnation[m])]
    /\ UNCHANGED <<incarnation, begun, closed, spent>>

TimeoutEvent(m, peer) == [type |-> "RetransmitTimeout", number |-> local[m].sends[peer].connection.number]

\* (A timer that fires though nothing is kept any more, or its connection is closed: see Misuse.)
RetransmitTimeoutFires(m) ==
    /\ \E peer \in DOMAIN local[m].sends :
        /\ local[m].sends[peer].kept # <<>>
        /\ Apply("RetransmitTimeoutFires", m, TimeoutEvent(m, peer), {})
    /\ UNCHANGED <<incarnation, sent, begun, closed, spent>>

ReceivedEvent(packet) ==
    [type |-> CASE packet.message.type = "DATA" -> "DataReceived"
                [] packet.message.type = "ACK" -> "AckReceived"
                [] packet.message.type = "SEND_FIRST_SEQNO" -> "SendFirstSeqnoReceived",
     sender |-> packet.sender, message |-> packet.message]

Receive(action, m, packet) ==
    /\ m \notin Deaf
    /\ Apply(action, m, ReceivedEvent(packet), {packet})
    /\ UNCHANGED <<incarnation, sent, begun, closed, spent>>

ReceiveData(m) == \E p \in Arriving(m) : p.message.type = "DATA" /\ Receive("ReceiveData", m, p)
ReceiveAck(m) == \E p \in Arriving(m) : p.message.type = "ACK" /\ Receive("ReceiveAck", m, p)
ReceiveSendFirstSeqno(m) ==
    \E p \in Arriving(m) : p.message.type = "SEND_FIRST_SEQNO" /\ Receive("ReceiveSendFirstSeqno", m, p)

\* A datagram to m is lost. (On a network that remembers it is lost as long as it does not arrive.)
LoseDatagram(m) ==
    /\ NetworkLoses /\ ~NetworkRemembers
    /\ \E packet \in Arriving(m) :
        /\ net' = net \ {packet}
        /\ Environment("LoseDatagram", m, [packet |-> packet], {packet})
    /\ UNCHANGED <<local, history, spent>>

-----------------------------------------------------------------------------
(* Views and incarnations *)

\* The views that a member may be given: with all others, or alone. UNICAST looks at who is in them only.
AllMembers ==
    CHOOSE list \in [1 .. Cardinality(Member) -> Member] : {list[i] : i \in DOMAIN list} = Member
ViewsOf(m) == {View(1, m, AllMembers), View(2, m, <<m>>)}

InstallView(m) ==
    /\ m \in Installers
    /\ spent.views < MaxViews
    /\ \E v \in ViewsOf(m) :
        /\ MembersOf(v) # local[m].members
        /\ Apply("InstallView", m, [type |-> "ViewInstalled", view |-> v], {})
        /\ closed' = [closed EXCEPT ![m] = [to \in Member |->
                        IF to \in local[m].members \ MembersOf(v) THEN Len(sent[m][to]) ELSE @[to]]]
    /\ Spend("views")
    /\ UNCHANGED <<incarnation, sent, begun>>

\* The peer is in no view of m, though m has a view.
Outside(m, peer) == local[m].members # {} /\ peer \notin local[m].members

\* The failure detector reports a peer that m has a connection to.
SilenceIsReported(m) ==
    /\ spent.reports < MaxReports
    /\ \E peer \in DOMAIN local[m].sends :
        /\ Apply("SilenceIsReported", m, [type |-> "SilenceReported", peer |-> peer], {})
        /\ closed' = IF Outside(m, peer) THEN [closed EXCEPT ![m][peer] = Len(sent[m][peer])] ELSE closed
    /\ IF local'[m] = local[m] THEN UNCHANGED spent ELSE Spend("reports")
    /\ UNCHANGED <<incarnation, sent, begun>>

\* Another incarnation of m begins, which knows nothing but its number.
Restart(m) ==
    /\ m \in Restarters
    /\ spent.restarts < MaxRestarts
    /\ \E event \in {[type |-> "IncarnationBegins", incarnation |-> incarnation[m] + 1]} :
        \E step \in {MemberStep(Start(m), event)} : TakeFromStart("Restart", m, None, event, {}, step)
    /\ incarnation' = [incarnation EXCEPT ![m] = @ + 1]
    /\ begun' = [begun EXCEPT ![m] = [from \in Member |-> Len(sent[from][m])]]
    /\ Spend("restarts")
    /\ UNCHANGED <<net, sent, got, closed>>

\* Events that no correct peer or caller causes, and late timers. Each changes nothing. (A request to send to oneself
\* is no misuse, and stands in the alphabet alone: Pairs has none.)
Misuses(m) ==
    LET s == local[m]
        data == DataMessage(Connection(0, 1), 1, 0, 1)
        ack == AckMessage(Connection(s.incarnation, s.opened), 0, 0)
        malformed ==
            {[data EXCEPT !.connection.incarnation = -1], [data EXCEPT !.connection.number = 0], [data EXCEPT !.seqno = 0],
             [data EXCEPT !.receiver = -2], [data EXCEPT !.receiver = s.incarnation + 1],
             [ack EXCEPT !.connection.incarnation = -1, !.connection.number = 1], [ack EXCEPT !.connection.number = 0],
             [ack EXCEPT !.connection.number = @ + 1],
             [ack EXCEPT !.connection.incarnation = @ + 1, !.connection.number = 1], SendFirstSeqnoMessage(-1)}
            \cup (IF s.opened = 0 THEN {} ELSE {[ack EXCEPT !.incarnation = -1], [ack EXCEPT !.seqno = -1]})
        Event(x, message) == ReceivedEvent([sender |-> x, message |-> message])
    IN {[type |-> "RetransmitTimeout", number |-> 9],
        [type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>)],
        [type |-> "SilenceReported", peer |-> "Z"],
        [type |-> "IncarnationBegins", incarnation |-> -1],
        [type |-> "IncarnationBegins", incarnation |-> s.incarnation + 1],
        Event(m, data)}
       \cup {[type |-> "ViewInstalled", view |-> v] : v \in {v \in ViewsOf(m) : MembersOf(v) = s.members}}
       \cup {Event(x, message) : x \in Member \ {m}, message \in malformed}
       \cup {Event(p, AckMessage(s.sends[p].connection, s.sends[p].next, 0)) : p \in DOMAIN s.sends}
       \cup {TimeoutEvent(m, p) : p \in {p \in DOMAIN s.sends : s.sends[p].kept = <<>>}}

Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ \E event \in Misuses(m) : Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED <<incarnation, sent, begun, closed>>

-----------------------------------------------------------------------------
Init ==
    /\ local = [m \in Member |-> FirstState(m)]
    /\ net = {}
    /\ incarnation = [m \in Member |-> 0]
    /\ sent = [from \in Member |-> [to \in Member |-> <<>>]]
    /\ got = [to \in Member |-> [from \in Member |-> <<>>]]
    /\ begun = [to \in Member |-> [from \in Member |-> 0]]
    /\ closed = [from \in Member |-> [to \in Member |-> 0]]
    /\ spent = [views |-> 0, reports |-> 0, restarts |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \E m \in {m \in Member : ~HasEnded(m)} :
        \/ UnicastIsRequested(m)
        \/ RetransmitTimeoutFires(m)
        \/ ReceiveData(m)
        \/ ReceiveAck(m)
        \/ ReceiveSendFirstSeqno(m)
        \/ LoseDatagram(m)
        \/ InstallView(m)
        \/ SilenceIsReported(m)
        \/ Restart(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
