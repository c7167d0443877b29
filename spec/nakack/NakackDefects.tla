--------------------------- MODULE NakackDefects ---------------------------
(***************************************************************************)
(* Defects that the claims must notice: of the algorithm where no guard of *)
(* Nakack says it, and of the model itself. Each is an operator that a     *)
(* model puts in the place of another (models.yaml).                       *)
(***************************************************************************)
EXTENDS NakackInstruments

(* The algorithm: in the place of MemberStep *)

\* DLV-06: what a member multicasts is not in its store.
SentIsNotStoredStep(s, e) ==
    IF e.type # "SendRequested" \/ Step(s, e).outcome # "handled" THEN Step(s, e)
    ELSE [Step(s, e) EXCEPT !.state.windows[s.member].purged = Step(s, e).state.windows[s.member].delivered,
                            !.state.windows[s.member].kept = <<>>]

\* A member sends, and delivers its own message when it hears it from the network.
OwnNotDelivered(s, e) ==
    IF e.type # "SendRequested" \/ Step(s, e).outcome # "handled" THEN Step(s, e)
    ELSE LET IsOut(effect) == effect.type = "Datagram" IN [Step(s, e) EXCEPT !.effects = SelectSeq(@, IsOut)]

\* A member delivers its own message when it sends it, and again.
OwnTwiceStep(s, e) ==
    IF e.type # "SendRequested" \/ Step(s, e).outcome # "handled" THEN Step(s, e)
    ELSE [Step(s, e) EXCEPT !.effects = Append(@, DeliverUp(s.member, e.payload))]

\* What has arrived is not forgotten with a request.
ArrivalsKept(s, e) ==
    IF e.type # "RequestTimeout" \/ Step(s, e).outcome # "handled" THEN Step(s, e)
    ELSE [Step(s, e) EXCEPT !.state.windows =
            [x \in DOMAIN @ |-> [@[x] EXCEPT !.arrived = s.windows[x].arrived]]]

\* A copy of a message counts as one that was missing. (The first one: a network that remembers gives as many as it likes.)
CountsCopies(s, e) ==
    IF e.type # "DataReceived" \/ Step(s, e).outcome # "ignored" \/ ~InView(s) THEN Step(s, e)
    ELSE Handled([s EXCEPT !.windows[e.message.origin].arrived = Greatest(@, 1)], <<>>)

\* Received messages are asked for, too.
RequestsOneMore(s, e) ==
    IF e.type # "RequestTimeout" THEN Step(s, e)
    ELSE LET step == Step(s, e) IN
         [step EXCEPT !.effects = [i \in DOMAIN @ |->
            IF @[i].type = "Datagram"
            THEN [@[i] EXCEPT !.message.ranges[1].last = @ + 1]
            ELSE @[i]]]

\* A request names another origin than that of the missing messages.
RequestsOfWrongOrigin(s, e) ==
    LET step == Step(s, e)
        other == CHOOSE x \in Members(s) : x # "A"
    IN IF e.type # "RequestTimeout" THEN step
       ELSE [step EXCEPT !.effects = [i \in DOMAIN @ |->
                IF @[i].type = "Datagram" THEN [@[i] EXCEPT !.message.origin = other] ELSE @[i]]]

\* A member that goes to another view sends these members a request for the first message of x.
RequestsAt(s, e, x, to) ==
    LET step == Step(s, e)
        request == XmitReqMessage(e.view.id, x, <<[first |-> FirstSeqno, last |-> FirstSeqno]>>)
    IN [step EXCEPT !.effects = @ \o <<Datagram(to, request)>>]

\* Messages that were delivered in the former view are asked for in this view.
RequestsFormer(s, e) ==
    IF e.type = "ViewInstalled" /\ InView(s) /\ "A" \in Members(s) /\ s.windows["A"].delivered >= FirstSeqno
    THEN RequestsAt(s, e, "A", "B")
    ELSE Step(s, e)

\* A member that is not in the view any more is asked.
RequestsOfFormerMember(s, e) ==
    IF e.type = "ViewInstalled" /\ InView(s) /\ Members(s) \ MembersOf(e.view) # {}
    THEN RequestsAt(s, e, "A", CHOOSE x \in Members(s) \ MembersOf(e.view) : TRUE)
    ELSE Step(s, e)

\* B takes no word of A: it learns what A has from others alone.
HearsNoWordOfA(s, e) ==
    IF e.type = "HighestReceived" /\ e.sender = "A" /\ s.member = "B" THEN Ignored(s) ELSE Step(s, e)

\* A member says that it has delivered one more than it has.
AnnouncesOneMore(s, e) ==
    IF e.type # "HighestTimeout" THEN Step(s, e)
    ELSE LET step == Step(s, e) IN
         [step EXCEPT !.effects = [i \in DOMAIN @ |->
            IF @[i].type = "Datagram"
            THEN [@[i] EXCEPT !.message.digest = [x \in DOMAIN @ |-> @[x] + 1]]
            ELSE @[i]]]

\* A digest counts what waits behind a gap.
DigestOfReceivedStep(s, e) ==
    IF e.type # "GetDigest" THEN Step(s, e)
    ELSE [Step(s, e) EXCEPT !.effects[1].event.digest =
            [x \in DOMAIN @ |-> HighestOf(DOMAIN s.windows[x].pending, s.windows[x].delivered)]]

\* A message is delivered as it comes.
DeliversInArrivalOrder(s, e) ==
    IF e.type # "DataReceived" \/ Step(s, e).outcome # "handled" THEN Step(s, e)
    ELSE LET n == e.message.seqno
             x == e.message.origin
             w == s.windows[x]
         IN IF n = w.delivered + 1 THEN Step(s, e)
            ELSE Handled([s EXCEPT !.windows[x] =
                            [@ EXCEPT !.delivered = n, !.purged = n - 1, !.kept = <<e.message.payload>>,
                                      !.pending = [i \in {} |-> 0]]],
                         <<ReceivedUp, DeliverUp(x, e.message.payload)>>)

-----------------------------------------------------------------------------
(* The network: in the place of AfterStep *)

\* A message of A comes from nowhere.
AfterForging(from, consumed, effects) ==
    (IF NetworkRemembers THEN net ELSE net \ consumed) \cup Sent(from, effects)
    \cup {Packet("A", "B", DataMessage(views[1].id, "A", FirstSeqno, <<0, 1, FirstSeqno>>))}

-----------------------------------------------------------------------------
(* The model itself: in the place of ApplyIn *)

Took(m, number, step, fired) ==
    /\ timers' = [timers EXCEPT ![m] = (@ \ fired) \cup TimersSet(step.effects)]
    /\ got' = [got EXCEPT ![m] = GotAfter(m, number, step.effects)]

\* A step reaches into the others.
ApplyToNeighbour(number, action, m, event, consumed, fired) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [x \in Member |-> IF x = m THEN step.state ELSE [local[x] EXCEPT !.starts = EmptyVector, !.asking = ~@]]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ Took(m, number, step, fired)

\* A message is sent that no effect says.
ApplyWithPacket(number, action, m, event, consumed, fired) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = AfterStep(m, consumed, step.effects)
                    \cup {Packet(m, m, HighestMessage(local[m].view.id, DeliveredVector(local[m])))}
        /\ Took(m, number, step, fired)

\* An event is said to be refused, and changes the state.
ApplyRefused(number, action, m, event, consumed, fired) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ local' = [local EXCEPT ![m] =
                        IF step.outcome \in {"local_error", "remote_error"}
                        THEN [step.state EXCEPT !.starts = [x \in {m} |-> 0]] ELSE step.state]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ Took(m, number, step, fired)

\* In the place of Crash: it changes what the member knows.
CrashAndForget(m) ==
    /\ m \in up \cap Crashers /\ life[m] = 0 /\ Active(m)
    /\ up' = up \ {m}
    /\ local' = [local EXCEPT ![m].asking = ~@]
    /\ timers' = [timers EXCEPT ![m] = {}]
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<net, views, installed, life, frozen, settled, votes, sent, got, spent>>
=============================================================================
