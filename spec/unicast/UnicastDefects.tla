---------------------------- MODULE UnicastDefects ----------------------------
(***************************************************************************)
(* Defects that the claims must notice: of the algorithm where no guard of *)
(* Unicast says it, of the network, and of the model itself. Each is an    *)
(* operator that a model puts in the place of another (models.yaml).       *)
(***************************************************************************)
EXTENDS UnicastInstruments, NoteUnicast

-----------------------------------------------------------------------------
(* The algorithm: in the place of MemberStep *)

\* Kept messages go again once, and the timer is not set again.
OnceOnlyStep(s, e) ==
    LET step == Step(s, e)
        IsTimer(effect) == effect.type # "SetTimer"
    IN IF e.type = "RetransmitTimeout" THEN [step EXCEPT !.effects = SelectSeq(@, IsTimer)] ELSE step

\* The timer fires, and nothing goes out.
TimeoutSendsNothing(s, e) ==
    LET step == Step(s, e)
        IsNoData(effect) == effect.type # "Datagram"
    IN IF e.type = "RetransmitTimeout" THEN [step EXCEPT !.effects = SelectSeq(@, IsNoData)] ELSE step

\* The timer fires, and the wait stays the shortest.
ImpatientStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "RetransmitTimeout"
    THEN [step EXCEPT !.effects = [i \in DOMAIN @ |->
            IF @[i].type = "SetTimer" THEN [@[i] EXCEPT !.low = RetransmitMin, !.high = RetransmitMin] ELSE @[i]]]
    ELSE step

\* The timer fires, and the next wait is the longest.
LongestStep(s, e) ==
    LET step == Step(s, e)
        Longest(effect) == [effect EXCEPT !.low = RetransmitMax, !.high = RetransmitMax]
    IN IF e.type = "RetransmitTimeout" /\ step.outcome = "handled"
       THEN [step EXCEPT !.state.sends = [p \in DOMAIN @ |-> [@[p] EXCEPT !.interval = RetransmitMax]],
                         !.effects = [i \in DOMAIN @ |-> IF @[i].type = "SetTimer" THEN Longest(@[i]) ELSE @[i]]]
       ELSE step

\* Any ACK makes the wait the shortest.
AnyAckResetsStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "AckReceived" /\ e.sender \in DOMAIN step.state.sends /\ step.state.sends[e.sender].interval # RetransmitMin
    THEN Handled([step.state EXCEPT !.sends[e.sender].interval = RetransmitMin], step.effects) ELSE step

\* The last ACK sets the timer.
AckSetsTimerStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "AckReceived" /\ e.sender \in DOMAIN step.state.sends /\ step.outcome = "handled"
    THEN [step EXCEPT !.effects = Append(@, SetRetransmitTimer(step.state.sends[e.sender]))] ELSE step

\* Each request counts as a connection.
CountsRequestsStep(s, e) ==
    IF e.type = "UnicastRequested" THEN [Step(s, e) EXCEPT !.state.opened = s.opened + 1] ELSE Step(s, e)

\* The first incarnation that is heard of gets a new connection, too.
OpensAgainStep(s, e) ==
    LET step == Step(s, e)
        kept == s.sends[e.sender].kept
        side == Opened(s, [i \in DOMAIN kept |-> kept[i][2]])
    IN IF e.type = "SendFirstSeqnoReceived" /\ e.sender \notin DOMAIN s.known /\ KeptFor(s, e.sender) # {}
       THEN [step EXCEPT !.state.sends[e.sender] = side, !.state.opened = @ + 1,
                         !.effects = Append(AllResent(step.state, e.sender, side), SetRetransmitTimer(side))]
       ELSE step

\* An answer that names no incarnation is not refused.
TakesNoIncarnationStep(s, e) ==
    IF e.type = "SendFirstSeqnoReceived" THEN SendFirstSeqnoReceived(s, e) ELSE Step(s, e)

\* An ACK of a closed connection is taken for one of the present.
RefusesOldAckStep(s, e) ==
    IF e.type = "AckReceived" /\ e.sender \in DOMAIN s.sends /\ e.message.seqno >= s.sends[e.sender].next
    THEN RemoteError(s) ELSE Step(s, e)

\* A view is ignored. An event that is ignored counts as handled.
IgnoresViewsStep(s, e) == IF e.type = "ViewInstalled" THEN Ignored(s) ELSE Step(s, e)
HandlesLateStep(s, e) == [Step(s, e) EXCEPT !.outcome = IF @ = "ignored" THEN "handled" ELSE @]

\* The timer fires, and the last message goes out, not the first.
LastFirstStep(s, e) ==
    LET step == Step(s, e)
        LastOf(effect) ==
            LET side == s.sends[effect.to] IN DataTo(s, effect.to, side, Len(side.kept))
    IN IF e.type = "RetransmitTimeout"
       THEN [step EXCEPT !.effects = [i \in DOMAIN @ |-> IF @[i].type = "Datagram" THEN LastOf(@[i]) ELSE @[i]]]
       ELSE step

\* The timer fires, and the messages are given up.
GivesUpStep(s, e) ==
    IF e.type = "RetransmitTimeout" /\ Step(s, e).outcome = "handled"
    THEN Handled([s EXCEPT !.sends = [p \in DOMAIN @ |-> [@[p] EXCEPT !.kept = <<>>]]], <<>>)
    ELSE Step(s, e)

\* A repeated message is delivered again: a window takes a number that it has delivered.
DeliversAgainStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DataReceived" /\ e.sender \in DOMAIN s.receives
        /\ s.receives[e.sender].connection = e.message.connection
        /\ e.message.seqno = s.receives[e.sender].delivered
    THEN [step EXCEPT !.effects = <<DeliverUp(e.sender, e.message.payload)>> \o @]
    ELSE step

\* Messages behind a gap are delivered at once.
DeliversAheadStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DataReceived" /\ e.sender \in DOMAIN step.state.receives
        /\ step.state.receives[e.sender].connection = e.message.connection
        /\ step.state.receives[e.sender].ahead # <<>>
    THEN [step EXCEPT !.state.receives[e.sender].ahead = <<>>,
                      !.state.receives[e.sender].delivered = e.message.seqno,
                      !.effects = <<DeliverUp(e.sender, e.message.payload)>> \o @]
    ELSE step

\* Another payload is delivered than was sent.
ForgesStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DataReceived" /\ step.outcome = "handled"
    THEN [step EXCEPT !.effects = [i \in DOMAIN @ |-> IF @[i].type = "PassUp" THEN DeliverUp(e.sender, 9) ELSE @[i]]]
    ELSE step

\* A message of a former incarnation of the sender is taken for one of the present: numbers alone are compared.
TakesFormerStep(s, e) ==
    IF e.type = "DataReceived" /\ e.message.connection.incarnation < KnownIncarnation(s, e.sender)
    THEN Step(s, [e EXCEPT !.message.connection.incarnation = s.known[e.sender]])
    ELSE Step(s, e)

\* The numbers of connections wrap: there are two of them. (An ACK of either is of a connection that was opened.)
WrappingStep(s, e) ==
    IF "message" \in DOMAIN e THEN [Step([s EXCEPT !.opened = 2], e) EXCEPT !.state.opened = s.opened]
    ELSE LET step == Step(s, e) IN [step EXCEPT !.state.opened = @ % 2]

\* A second message takes the place of the first in what is kept.
KeepsLastAlone(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "UnicastRequested" /\ step.outcome = "handled"
    THEN [step EXCEPT !.state.sends[e.to].kept = <<@[Len(@)]>>]
    ELSE step

\* Messages are delivered, and never acknowledged.
NeverAcknowledges(s, e) ==
    LET step == Step(s, e)
        IsNoAck(effect) == effect.type = "Datagram" => effect.message.type # "ACK"
    IN [step EXCEPT !.effects = SelectSeq(@, IsNoAck)]

\* A delivered message stays listed as if it waited behind a gap.
ListsDelivered(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DataReceived" /\ e.sender \in DOMAIN step.state.receives
    THEN [step EXCEPT !.state.receives[e.sender].ahead = <<<<e.message.seqno, e.message.payload>>>>]
    ELSE step

\* An ACK of a peer counts for all peers.
AckCountsForAll(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "AckReceived" /\ step.state # s
    THEN [step EXCEPT !.state.sends = [p \in DOMAIN @ |-> [@[p] EXCEPT !.kept = <<>>]]]
    ELSE step

IsNoTimer(effect) == effect.type # "SetTimer"

\* No request sets the timer.
NoFirstTimer(s, e) ==
    IF e.type = "UnicastRequested" THEN [Step(s, e) EXCEPT !.effects = SelectSeq(@, IsNoTimer)] ELSE Step(s, e)

\* A request sets the timer if it opens the connection, and not if all before it was acknowledged.
TimerOfFirstAlone(s, e) ==
    IF e.type = "UnicastRequested" /\ e.to \in DOMAIN s.sends
    THEN [Step(s, e) EXCEPT !.effects = SelectSeq(@, IsNoTimer)]
    ELSE Step(s, e)

\* A connection that is opened for a new incarnation of the peer has no timer.
NoTimerForIncarnation(s, e) ==
    IF e.type \notin {"UnicastRequested", "RetransmitTimeout"}
    THEN [Step(s, e) EXCEPT !.effects = SelectSeq(@, IsNoTimer)]
    ELSE Step(s, e)

\* The timer fires, and each datagram is the first message.
ResendsFirstAlone(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "RetransmitTimeout"
    THEN [step EXCEPT !.effects = [i \in DOMAIN @ |-> IF @[i].type = "Datagram" THEN @[1] ELSE @[i]]]
    ELSE step

\* A late copy of the first message takes a window back to it. (What follows is not passed up: it would be so without end.)
WindowGoesBack(s, e) ==
    LET step == Step(s, e)
        IsNoUp(effect) == effect.type # "PassUp"
    IN IF e.type # "DataReceived" THEN step
       ELSE IF e.message.seqno > 1 THEN [step EXCEPT !.effects = SelectSeq(@, IsNoUp)]
       ELSE IF e.sender \in DOMAIN s.receives /\ s.receives[e.sender].delivered > 1
       THEN [step EXCEPT !.state.receives[e.sender].delivered = 1]
       ELSE step

\* A late copy gives a window the number of the connection before. (As above.)
WindowIsRenumbered(s, e) ==
    LET step == Step(s, e)
        IsNoUp(effect) == effect.type # "PassUp"
    IN IF e.type # "DataReceived" \/ e.message.connection.number < 2 THEN step
       ELSE IF e.sender \in DOMAIN s.receives /\ s.receives[e.sender].connection = e.message.connection
               /\ s.receives[e.sender].delivered >= e.message.seqno
       THEN [step EXCEPT !.state.receives[e.sender].connection.number = 1, !.effects = SelectSeq(@, IsNoUp)]
       ELSE [step EXCEPT !.effects = SelectSeq(@, IsNoUp)]

-----------------------------------------------------------------------------
(* Operators of Unicast *)

\* In the place of Resent: one message more than ResendMost.
ResentOneMore(s, peer, side, most) ==
    [i \in 1 .. IF Len(side.kept) <= most THEN Len(side.kept) ELSE most + 1 |-> DataTo(s, peer, side, i)]

\* In the place of LatestAlone: of a former incarnation one thing is not forgotten.
SendsAreNotForgotten(s) == [s EXCEPT !.receives = WithoutOver(s, @), !.known = WithoutOver(s, @)]
ReceivesAreNotForgotten(s) == [s EXCEPT !.sends = WithoutOver(s, @), !.known = WithoutOver(s, @)]
KnownAreNotForgotten(s) == [s EXCEPT !.sends = WithoutOver(s, @), !.receives = WithoutOver(s, @)]

-----------------------------------------------------------------------------
(* The network: in the place of AfterStep *)

\* It makes up messages. (NotForged of Network.)
AfterForging(from, consumed, effects) ==
    (IF NetworkRemembers THEN net ELSE net \ consumed) \cup Sent(from, effects)
    \cup {[packet EXCEPT !.message.payload = 9] :
            packet \in {p \in Sent(from, effects) : p.message.type = "DATA"}}

-----------------------------------------------------------------------------
(* The model itself: in the place of Apply *)

\* A step reaches into the others.
ApplyToNeighbour(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [x \in Member |->
                        IF x = m THEN step.state
                        ELSE IF step.effects # <<>> THEN [local[x] EXCEPT !.members = {}]
                        ELSE local[x]]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ got' = [got EXCEPT ![m] = GotAfter(m, step.effects)]

\* A message is sent that no effect says.
ApplyWithPacket(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = AfterStep(m, consumed, step.effects) \cup {Packet(m, m, AckMessage(Connection(0, 1), 0, 0))}
        /\ got' = [got EXCEPT ![m] = GotAfter(m, step.effects)]

\* A delivered message does not reach the layer above.
ApplyUndelivered(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ got' = got

\* An event is said to be ignored, and changes the state.
ApplyIgnored(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [local EXCEPT ![m] = IF step.outcome = "ignored" THEN [@ EXCEPT !.members = {}] ELSE step.state]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ got' = [got EXCEPT ![m] = GotAfter(m, step.effects)]

\* In the place of LoseDatagram: a member notices that a datagram to it was lost.
LoseAndNotice(m) ==
    /\ NetworkLoses /\ ~NetworkRemembers
    /\ \E packet \in Arriving(m) :
        /\ net' = net \ {packet}
        /\ Environment("LoseDatagram", m, [packet |-> packet], {packet})
    /\ local' = [local EXCEPT ![m].members = {}]
    /\ UNCHANGED <<history, spent>>
=============================================================================
