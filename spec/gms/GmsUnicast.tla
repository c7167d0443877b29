----------------------------- MODULE GmsUnicast ------------------------------
(***************************************************************************)
(* GMS over UNICAST: a closed model of two neighbours over Network.        *)
(* UNICAST sends the messages of GMS in the same step as GMS does, and     *)
(* hears of views in it, too. GMS hears at once each message that UNICAST  *)
(* delivers. Datagrams are lost, doubled, late, in any order, and those of *)
(* former incarnations arrive.                                             *)
(*                                                                         *)
(* The group is that of GmsGroup, with all its actions; PassedDown says    *)
(* what follows from each for UNICAST. GmsGroup's `network` says what may  *)
(* arrive at GMS, by what GMS assumes. Here nothing arrives from it: it is *)
(* what UNICAST's deliveries are held against. So the claims are           *)
(* - about the environment: each delivery is possible in GMS's environment *)
(*   (DeliversOnlyWhatMayArrive), and only messages are lost that this     *)
(*   environment may lose (NothingElseIsLost);                             *)
(* - and those of GMS, over UNICAST's real step.                           *)
(*                                                                         *)
(* Less than spec/gms has: the group is stopped at once, a digest is given *)
(* at once, and no member multicasts.                                      *)
(***************************************************************************)
EXTENDS GmsClaims

CONSTANTS
    PassesBelow,        \* the events that GMS passes down and UNICAST sees
    MaxAsks,            \* bound: how often an incarnation asks a member to be let in
    Deaf                \* the members that no datagram reaches: their links work in one direction

VARIABLES
    unicast,            \* [Member -> UNICAST's state]
    net,                \* the datagrams that may arrive (Network)
    delivered,          \* what UNICAST has delivered, and GMS has yet to hear: packets, in order
    sends,              \* [packet -> how often it was sent]: GMS may send the same again, and both arrive
    heard,              \* [packet -> how often the receiver's present incarnation has heard it]
    forgotten           \* what is on its way and may be lost: its sender has crashed, or excluded the receiver, since;
                        \* or it was meant for a former incarnation of the receiver

stack_vars == <<vars, unicast, net, delivered, sends, heard, forgotten>>
stack_view == <<view, unicast, net, delivered, sends, heard, forgotten>>

\* UNICAST as its own specification has it.
Unicast == INSTANCE Unicast WITH
    RetransmitMin <- 500, RetransmitMax <- 500, ResendMost <- 3

Datagrams == INSTANCE Network WITH NetworkRemembers <- TRUE

UnicastStep(s, e) == Unicast!Step(s, e)

-----------------------------------------------------------------------------
(* Events that GMS passes down *)

\* The events of a step of GMS that UNICAST hears, in order.
IsForUnicast(effect) == effect.type = "Send" \/ (effect.type = "PassDown" /\ effect.event.type \in PassesBelow)
HeardBelow(effect) ==
    IF effect.type = "Send" THEN [type |-> "UnicastRequested", to |-> effect.to, payload |-> effect.message]
    ELSE effect.event

\* UNICAST's state after these events, and its effects in order.
RECURSIVE Ran(_, _, _)
Ran(s, events, effects) ==
    IF events = <<>> THEN [state |-> s, effects |-> effects]
    ELSE CHOOSE done \in {Ran(step.state, Tail(events), effects \o step.effects) :
                            step \in {UnicastStep(s, Head(events))}} : TRUE

\* The messages that UNICAST delivers to m, as packets of the group.
Delivers(m, effects) ==
    LET Is(effect) == effect.type = "PassUp"
        ups == SelectSeq(effects, Is)
    IN [i \in DOMAIN ups |-> Packet(ups[i].event.sender, m, ups[i].event.payload)]

UnicastDid(m, done) ==
    /\ unicast' = [unicast EXCEPT ![m] = done.state]
    /\ net' = net \cup Datagrams!Sent(m, done.effects)

\* The members that m's view has excluded in this step.
ExcludedBy(m) == IF installed'[m] = installed[m] \/ installed[m] = 0 \/ installed'[m] = 0 THEN {}
                 ELSE DOMAIN views[installed[m]].lives \ DOMAIN views'[installed'[m]].lives

\* Counting packets.
CountOf(counts, p) == IF p \in DOMAIN counts THEN counts[p] ELSE 0
Counted(counts, packets) ==
    [p \in DOMAIN counts \cup packets |-> CountOf(counts, p) + (IF p \in packets THEN 1 ELSE 0)]

SentBy(m) ==
    {Packet(m, act'.effects[i].to, act'.effects[i].message) :
        i \in {i \in DOMAIN act'.effects : act'.effects[i].type = "Send"}}

\* The messages in transit that GMS's environment may lose after a step of m.
AfterLosses(m) ==
    LET lost == {p \in network' : \/ p.sender = m /\ p.to \in ExcludedBy(m)
                                  \/ act'.action = "Crash" /\ p.sender = m
                                  \/ act'.action = "Restart" /\ p.to = m}
    IN ((forgotten \ SentBy(m)) \cup lost) \cap network'

\* A crash and a restart lose nothing by themselves here: what arrives is UNICAST's to say.
Keeps ==
    CASE act'.action = "Crash" ->
            \A p \in network : p.to # act'.member => p \in network'
      [] act'.action = "Restart" ->
            \A p \in network : p.to = NextLife(act'.member) => [p EXCEPT !.to = act'.member] \in network'
      [] OTHER -> TRUE

PassedDown ==
    \E m \in {act'.member} :
        /\ Keeps
        /\ forgotten' = AfterLosses(m)
        /\ sends' = IF act'.effects = <<>> THEN sends ELSE Counted(sends, SentBy(m))
        /\ IF act'.action = "Crash" THEN UNCHANGED <<unicast, net>>
           ELSE IF act'.action = "Restart"
           THEN UnicastDid(m, Ran(Unicast!Start(m), <<[type |-> "IncarnationBegins", incarnation |-> life'[m]]>>, <<>>))
           ELSE \E those \in {SelectSeq(act'.effects, IsForUnicast)} :
                UnicastDid(m, Ran(unicast[m], [i \in DOMAIN those |-> HeardBelow(those[i])], <<>>))

-----------------------------------------------------------------------------
(* UNICAST's own events *)

ArrivalOf(p) ==
    [type |-> CASE p.message.type = "DATA" -> "DataReceived"
                [] p.message.type = "ACK" -> "AckReceived"
                [] p.message.type = "SEND_FIRST_SEQNO" -> "SendFirstSeqnoReceived",
     sender |-> p.sender, message |-> p.message]

UnicastTakes(action, m, event) ==
    \E step \in {UnicastStep(unicast[m], event)} :
        /\ UnicastDid(m, step)
        /\ delivered' = Delivers(m, step.effects)
        /\ Record(action, m, FALSE, None, event, {}, step.outcome, step.effects)
        /\ UNCHANGED <<view, sends, heard, forgotten>>

Hearing == up \ Deaf

ReceiveDatagram(m) == m \in Hearing /\ \E p \in Datagrams!Arriving(m) : UnicastTakes("ReceiveDatagram", m, ArrivalOf(p))

TimeoutOf(m, peer) == [type |-> "RetransmitTimeout", number |-> unicast[m].sends[peer].connection.number]
KeepsFor(m) == {peer \in DOMAIN unicast[m].sends : unicast[m].sends[peer].kept # <<>>}

RetransmitTimeoutFires(m) ==
    m \in up /\ \E peer \in KeepsFor(m) : UnicastTakes("RetransmitTimeoutFires", m, TimeoutOf(m, peer))

\* GMS hears what UNICAST has delivered.
HearDelivered ==
    \E p \in {Head(delivered)} :
        /\ heard' = Counted(heard, {p})
        /\ Apply("HearDelivered", p.to, EventOf(p), IF heard'[p] < CountOf(sends, p) THEN {} ELSE {p})
        /\ UNCHANGED world
        /\ delivered' = Tail(delivered)
        /\ PassedDown

-----------------------------------------------------------------------------
StackInit ==
    /\ Init
    /\ unicast = [m \in Member |->
            IF installed[m] = 0 THEN Unicast!Start(m)
            ELSE Unicast!Step(Unicast!Start(m), [type |-> "ViewInstalled", view |-> ViewIn(FirstDecision)]).state]
    /\ net = {} /\ delivered = <<>> /\ forgotten = {}
    /\ sends = [p \in {} |-> 0] /\ heard = [p \in {} |-> 0]

IsAskedFor == stops.asked # {} \/ \E m \in up : answers[m] # {}

\* A request of m has a receiver that takes notice, and is sent no oftener than MaxAsks.
AsksNotTooOften(m) ==
    /\ ~AsksInVain(m)
    /\ \A i \in DOMAIN act'.effects :
        act'.effects[i].type = "Send" => CountOf(sends, Packet(m, act'.effects[i].to, JoinReq(life[m]))) < MaxAsks

\* A delivered message is heard first. then the group is stopped, and a digest given, for the member that has asked.
\* (A joiner asks again when some member takes notice.)
StackNext ==
    IF delivered # <<>> THEN HearDelivered
    ELSE IF IsAskedFor THEN (\E m \in up : StopGroup(m) \/ GiveDigest(m)) /\ PassedDown /\ UNCHANGED <<delivered, heard>>
    ELSE \/ (\E m \in Member :
                \/ Found(m)
                \/ AskToJoin(m) /\ AsksNotTooOften(m)
                \/ Leave(m)
                \/ Crash(m)
                \/ Restart(m)
                \/ Detect(m)
                \/ SuspectFalsely(m))
            /\ PassedDown /\ UNCHANGED delivered
            /\ heard' = IF act'.action # "Restart" THEN heard
                        ELSE [p \in {p \in DOMAIN heard : p.to # act'.member} |-> heard[p]]
         \/ \E m \in up :
            \/ ReceiveDatagram(m)
            \/ RetransmitTimeoutFires(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

-----------------------------------------------------------------------------
(* Claims: UNICAST is what GMS assumes *)

StackTypeOK ==
    /\ \A m \in Member : unicast[m].member = m /\ unicast[m].incarnation \in {0, life[m]}
    /\ \A p \in net : p.message.type \in {"DATA", "ACK", "SEND_FIRST_SEQNO"}
    /\ forgotten \subseteq network

\* UNICAST delivers only messages in transit to this incarnation, by the assumptions of GMS, and none oftener than it
\* was sent.
DeliversOnlyWhatMayArrive ==
    \A i \in DOMAIN delivered :
        LET p == delivered[i] IN
        /\ p \in network
        /\ CountOf(heard, p) + Cardinality({j \in 1 .. i : delivered[j] = p}) <= CountOf(sends, p)

\* A datagram that arrives again, and a timer that fires, change nothing.
IsStale(m, event) ==
    \E step \in {UnicastStep(unicast[m], event)} :
        step.state = unicast[m] /\ Delivers(m, step.effects) = <<>> /\ Datagrams!Sent(m, step.effects) \subseteq net

\* Nothing that is in the network changes anything any more.
UnicastAtRest ==
    \A m \in up :
        /\ m \notin Deaf => \A p \in Datagrams!Arriving(m) : IsStale(m, ArrivalOf(p))
        /\ \A peer \in KeepsFor(m) : IsStale(m, TimeoutOf(m, peer))

\* Nothing more happens, but for crashes and false suspicions.
StackQuiescent ==
    /\ delivered = <<>> /\ ~IsAskedFor
    /\ \A m \in up :
        /\ Reports(m) = {}
        /\ ~InView(local[m]) =>
            AsksInVain(m) \/ \A c \in up \ {m} : IsActing(local[c]) => Packet(m, c, JoinReq(life[m])) \in network
    /\ UnicastAtRest

\* When nothing more happens, all has arrived that GMS's environment does not lose.
NothingElseIsLost ==
    StackQuiescent => \A p \in network : (p.sender \in up /\ p.to \in Hearing) => p \in forgotten

\* The group comes to rest only when each branch of views has converged and every member has resumed.
ConvergedWhenStackQuiescent == StackQuiescent => Converged /\ stops.held = {}

-----------------------------------------------------------------------------
(* Defects *)

\* In the place of Reports and Reportable: the failure detector also reports a member that hears nothing.
ReportsDeaf(m) == {w \in Watched(local[m]) \ told[m] : FailureDetector!MustReport(m, w[1], w[2]) \/ w[1] \in Deaf}
ReportableDeaf(m) == {w \in Watched(local[m]) \ told[m] : FailureDetector!MayReport(m, w[1], w[2]) \/ w[1] \in Deaf}

-----------------------------------------------------------------------------
(* Witnesses *)

\* A later incarnation receives messages to the former one.
MailOfFormerDelivered ==
    \E i \in DOMAIN delivered : delivered[i] \in forgotten /\ life[delivered[i].to] > 0
\* A member is back, and in a view with the other one.
IsBackOverUnicast == \E m \in up : life[m] > 0 /\ Cardinality(MembersOfView(local[m])) = 2
=============================================================================
