------------------------------- MODULE Unicast -------------------------------
(***************************************************************************)
(* UNICAST, one member: a pure function of its own state and an event.     *)
(*                                                                         *)
(* Theory. The messages from a sender to a receiver are numbered within a  *)
(* connection, kept, and sent again until they are acknowledged. The       *)
(* receiver delivers them in order, and acknowledges messages only when it *)
(* has DELIVERED them.                                                     *)
(*                                                                         *)
(* A connection is between two incarnations. Its identifier [incarnation,  *)
(* number] rises with each connection that its sender opens, over all      *)
(* incarnations of the sender. Each message names it. A higher connection  *)
(* replaces a lower one; a message of a lower one is late.                 *)
(*                                                                         *)
(* The sender learns which incarnation it talks to before the receiver     *)
(* delivers anything: a receiver without a window answers the first        *)
(* messages by SEND_FIRST_SEQNO, with its own incarnation, and the sender  *)
(* sends them again, for that incarnation. A sender that hears of a later  *)
(* incarnation opens another connection, and sends in it everything that   *)
(* it keeps: it cannot know which of these messages the former incarnation *)
(* has had, nor which of them were meant for the later one.                *)
(*                                                                         *)
(* A member that excludes another one by a view closes its own side: it    *)
(* keeps nothing more for it. The next message opens another connection.   *)
(* A peer that is not in the member's view is excluded by no later one, so *)
(* that the failure detector ends what is kept for it: its report that the *)
(* peer is silent closes the side. A report about a member of the view     *)
(* closes nothing, and neither does a report before the first view.        *)
(* A receive side stays as long as its incarnation: an identifier and a    *)
(* number.                                                                 *)
(*                                                                         *)
(* An address stands for one incarnation of a name (Views). When a member  *)
(* hears of a later incarnation, the former ones are over: all state about *)
(* them is removed, and their messages are late. So what stays is bounded  *)
(* by names.                                                               *)
(*                                                                         *)
(* The guards have the values of the repaired algorithm. A model of its    *)
(* own takes each away. The note's two algorithms are in NoteUnicast.      *)
(***************************************************************************)
EXTENDS Steps, Views, Integers, FiniteSets, TLC

CONSTANTS
    RetransmitMin,      \* ms until the first retransmission
    RetransmitMax,      \* longest time between two, ms; each wait is twice the last, until there is progress
    ResendMost          \* how many messages a retransmission sends at most: the first kept ones

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
ReplaceWindowOf == "lower"       \* a message of a new connection replaces a window of a "lower" one, or of any "other"
Acknowledge == "delivered"       \* an ACK is for all that was "delivered", or for each message that was "received"
KeepWindows == "all"             \* of the window of an excluded member is kept "all", or "nothing"
CloseWhen == "excluded"          \* the own side is closed when a view has "excluded" the peer, at "any_view", or
                                 \* "never"
CloseOnReport == "outsider"      \* a report that a peer is silent closes the own side if the peer is an "outsider" of
                                 \* the view, if it is not a member ("no_member": also before the first view), for
                                 \* "anyone", or for "nobody"
BindWhen == "before"             \* messages name the incarnation that they are for: "before" anything is delivered,
                                 \* once it is "known", or "never"
OnNewIncarnation == "goes_again" \* what is kept for a former incarnation "goes_again", or "is_dropped"
ForgetFormer == TRUE             \* all state about former incarnations of a name is removed when a later one is heard
                                 \* of
IgnoreFormer == TRUE             \* messages of an incarnation after a later one was heard of are late; otherwise they
                                 \* count
AskFirst == TRUE                 \* a receiver without a window answers by SEND_FIRST_SEQNO
SetTimerWhen == "when_idle"      \* a request sets the timer "when_idle", nothing being kept, or "always"

ASSUME
    /\ ReplaceWindowOf \in {"lower", "other"}
    /\ Acknowledge \in {"delivered", "received"}
    /\ KeepWindows \in {"all", "nothing"}
    /\ CloseWhen \in {"excluded", "any_view", "never"}
    /\ CloseOnReport \in {"outsider", "no_member", "anyone", "nobody"}
    /\ BindWhen \in {"before", "known", "never"}
    /\ OnNewIncarnation \in {"goes_again", "is_dropped"}
    /\ {AskFirst, ForgetFormer, IgnoreFormer} \subseteq BOOLEAN
    /\ SetTimerWhen \in {"when_idle", "always"}
    /\ {RetransmitMin, RetransmitMax, ResendMost} \subseteq Nat \ {0}
    /\ RetransmitMin <= RetransmitMax

-----------------------------------------------------------------------------
(* Connections, messages, and effects of this protocol *)

Connection(incarnation, number) == [incarnation |-> incarnation, number |-> number]

Higher(c, d) == c.incarnation > d.incarnation \/ (c.incarnation = d.incarnation /\ c.number > d.number)

\* The incarnation of a peer that was not heard of.
Unknown == -1

\* `receiver`: the incarnation that the message is for.
DataMessage(connection, seqno, receiver, payload) ==
    [type |-> "DATA", connection |-> connection, seqno |-> seqno, receiver |-> receiver, payload |-> payload]

\* `incarnation`: its sender's. All up to seqno was delivered in this connection.
AckMessage(connection, seqno, incarnation) ==
    [type |-> "ACK", connection |-> connection, seqno |-> seqno, incarnation |-> incarnation]

\* "I have no window for what you send: this is my incarnation. Send again from the first message on."
SendFirstSeqnoMessage(incarnation) == [type |-> "SEND_FIRST_SEQNO", incarnation |-> incarnation]

DeliverUp(sender, payload) == PassUp([type |-> "Deliver", sender |-> sender, payload |-> payload])

\* Each connection has a timer of its own: after a connection is closed or replaced, the number makes its timer late.
SetRetransmitTimer(side) ==
    SetTimer("retransmit/" \o ToString(side.connection.number), side.interval, side.interval)

-----------------------------------------------------------------------------
(* State *)

EmptyMap == [x \in {} |-> 0]
WithEntry(map, key, value) == [x \in DOMAIN map \cup {key} |-> IF x = key THEN value ELSE map[x]]
WithoutEntries(map, keys) == [x \in DOMAIN map \ keys |-> map[x]]

Start(member) ==
    [member |-> member,         \* this member's address
     incarnation |-> 0,         \* the number of its incarnation: how often its address was in use before
     members |-> {},            \* of the view installed
     opened |-> 0,              \* how many connections this incarnation has opened
     sends |-> EmptyMap,        \* [peer -> connection, `next` seqno, `kept` (<<seqno, payload>> not acknowledged, in
                                \* order), `interval` (ms until they are sent again)]
     receives |-> EmptyMap,     \* [peer -> connection, `delivered` (the highest seqno), `ahead` (<<seqno, payload>>
                                \* that wait behind a gap, in order)]
     known |-> EmptyMap]        \* [peer -> the highest incarnation heard of]

KnownIncarnation(s, peer) == IF peer \in DOMAIN s.known THEN s.known[peer] ELSE Unknown

\* The incarnation of this address is over: a later one of the name was heard of.
IsOver(s, peer) == \E p \in DOMAIN s.known : IsFormer(peer, p)

WithoutOver(s, map) == WithoutEntries(map, {p \in DOMAIN map : IsOver(s, p)})

\* Of each name only the latest incarnation is remembered.
LatestAlone(s) ==
    IF ForgetFormer
    THEN [s EXCEPT !.sends = WithoutOver(s, @), !.receives = WithoutOver(s, @), !.known = WithoutOver(s, @)]
    ELSE s

\* A connection that is opened now, with these payloads to be sent.
Opened(s, payloads) ==
    [connection |-> Connection(s.incarnation, s.opened + 1),
     next |-> Len(payloads) + 1,
     kept |-> [i \in DOMAIN payloads |-> <<i, payloads[i]>>],
     interval |-> RetransmitMin]

-----------------------------------------------------------------------------
(* Sending *)

Receiver(s, peer) == IF BindWhen = "never" THEN Unknown ELSE KnownIncarnation(s, peer)

\* The i-th message that is kept for a peer, as it is sent.
DataTo(s, peer, side, i) ==
    Datagram(peer, DataMessage(side.connection, side.kept[i][1], Receiver(s, peer), side.kept[i][2]))

\* The first messages that are kept for a peer, all or `most`.
Resent(s, peer, side, most) ==
    [i \in 1 .. IF Len(side.kept) < most THEN Len(side.kept) ELSE most |-> DataTo(s, peer, side, i)]

AllResent(s, peer, side) == Resent(s, peer, side, Len(side.kept))

\* UNI-16: no side: a new connection. A message to oneself needs none. The timer runs while anything is kept: set
\* again with each request, it would not fire before there is a pause.
UnicastRequested(s, e) ==
    IF e.to = s.member THEN Handled(s, <<DeliverUp(s.member, e.payload)>>)
    \* (No member would ever acknowledge it.)
    ELSE IF ForgetFormer /\ IsOver(s, e.to) THEN Ignored(s)
    ELSE
    LET opens == e.to \notin DOMAIN s.sends
        old == s.sends[e.to]
        side == IF opens THEN Opened(s, <<e.payload>>)
                ELSE [old EXCEPT !.kept = Append(@, <<old.next, e.payload>>), !.next = @ + 1]
        idle == opens \/ old.kept = <<>>
    IN Handled([s EXCEPT !.opened = IF opens THEN @ + 1 ELSE @, !.sends = WithEntry(@, e.to, side)],
               <<DataTo(s, e.to, side, Len(side.kept))>>
               \o (IF idle \/ SetTimerWhen = "always" THEN <<SetRetransmitTimer(side)>> ELSE <<>>))

\* The first messages go out again, and the next wait is twice as long: nothing is given up.
RetransmitTimeout(s, e) ==
    LET waiting == {p \in DOMAIN s.sends : s.sends[p].connection.number = e.number /\ s.sends[p].kept # <<>>}
    IN IF waiting = {} THEN Ignored(s)
       ELSE
       LET peer == CHOOSE p \in waiting : TRUE
           doubled == 2 * s.sends[peer].interval
           side == [s.sends[peer] EXCEPT !.interval = IF doubled < RetransmitMax THEN doubled ELSE RetransmitMax]
       IN Handled([s EXCEPT !.sends[peer] = side], Append(Resent(s, peer, side, ResendMost), SetRetransmitTimer(side)))

\* The peer was heard of in this incarnation. If that is later than any before, all that is kept goes again: in the same
\* connection, if none was known, as no copy can have opened a window; in a new one, if the connection was for a former
\* incarnation. So a connection is for one incarnation: an answer of a former one speaks of another connection.
NoteIncarnation(s, peer, incarnation) ==
    LET before == KnownIncarnation(s, peer)
        heard == LatestAlone([s EXCEPT !.known = WithEntry(@, peer, incarnation)])
    IN IF BindWhen = "never" \/ incarnation <= before THEN [state |-> s, effects |-> <<>>]
       ELSE IF peer \notin DOMAIN s.sends THEN [state |-> heard, effects |-> <<>>]
       ELSE IF before = Unknown THEN [state |-> heard, effects |-> AllResent(heard, peer, s.sends[peer])]
       ELSE IF OnNewIncarnation = "is_dropped" \/ s.sends[peer].kept = <<>>
       THEN [state |-> [heard EXCEPT !.sends = WithoutEntries(@, {peer})], effects |-> <<>>]
       ELSE
       LET kept == s.sends[peer].kept
           side == Opened(s, [i \in DOMAIN kept |-> kept[i][2]])
       IN [state |-> [heard EXCEPT !.sends[peer] = side, !.opened = @ + 1],
           effects |-> Append(AllResent(heard, peer, side), SetRetransmitTimer(side))]

\* The result of an event that has done nothing but name an incarnation.
OnlyHeard(s, heard) == IF heard.state = s THEN Ignored(s) ELSE Handled(heard.state, heard.effects)

\* Cumulative. (Or, by the other guard value, for each received message separately.)
AckReceived(s, e) ==
    LET m == e.message
        heard == NoteIncarnation(s, e.sender, m.incarnation)
        now == heard.state
        side == now.sends[e.sender]
        Left(entry) == IF Acknowledge = "delivered" THEN entry[1] > m.seqno ELSE entry[1] # m.seqno
        left == SelectSeq(side.kept, Left)
    IN IF e.sender \notin DOMAIN now.sends \/ side.connection # m.connection \/ left = side.kept
       THEN OnlyHeard(s, heard)
       ELSE Handled([now EXCEPT !.sends[e.sender].kept = left, !.sends[e.sender].interval = RetransmitMin],
                    heard.effects)

\* UNI-19. Where the incarnation was known already, all was sent again for it, and the timer sees to the rest.
SendFirstSeqnoReceived(s, e) == OnlyHeard(s, NoteIncarnation(s, e.sender, e.message.incarnation))

-----------------------------------------------------------------------------
(* Receiving *)

\* A window and its deliveries, when every message in order is taken out.
RECURSIVE Drained(_, _)
Drained(window, payloads) ==
    IF window.ahead = <<>> \/ Head(window.ahead)[1] # window.delivered + 1
    THEN [window |-> window, payloads |-> payloads]
    ELSE Drained([window EXCEPT !.delivered = @ + 1, !.ahead = Tail(@)], Append(payloads, Head(window.ahead)[2]))

Added(window, seqno, payload) ==
    LET Below(entry) == entry[1] < seqno
        Above(entry) == entry[1] > seqno
    IN IF seqno <= window.delivered THEN [window |-> window, payloads |-> <<>>]
       ELSE Drained([window EXCEPT !.ahead = SelectSeq(@, Below) \o <<<<seqno, payload>>>> \o SelectSeq(@, Above)],
                    <<>>)

\* A message reaches its window. It is acknowledged though it comes again: the ACK may have been lost.
Reaches(s, heard, e, window) ==
    LET m == e.message
        step == Added(window, m.seqno, m.payload)
        seqno == IF Acknowledge = "delivered" THEN step.window.delivered ELSE m.seqno
    IN Handled([heard.state EXCEPT !.receives = WithEntry(@, e.sender, step.window)],
               [i \in DOMAIN step.payloads |-> DeliverUp(e.sender, step.payloads[i])]
               \o <<Datagram(e.sender, AckMessage(m.connection, seqno, s.incarnation))>>
               \o heard.effects)

NewWindow(connection) == [connection |-> connection, delivered |-> 0, ahead |-> <<>>]

\* May this message open a window?
MayOpen(s, message) ==
    CASE BindWhen = "before" -> message.receiver = s.incarnation
      [] BindWhen = "known" -> message.receiver \in {Unknown, s.incarnation}
      [] BindWhen = "never" -> TRUE

\* UNI-17, UNI-18. A window is for messages of its connection, whichever incarnation they name: it was opened for
\* this incarnation.
DataReceived(s, e) ==
    LET m == e.message
        heard == NoteIncarnation(s, e.sender, m.connection.incarnation)
        has == e.sender \in DOMAIN s.receives
        window == s.receives[e.sender]
        ask == Datagram(e.sender, SendFirstSeqnoMessage(s.incarnation))
    IN IF has /\ window.connection = m.connection THEN Reaches(s, heard, e, window)
       ELSE IF has /\ ReplaceWindowOf = "lower" /\ Higher(window.connection, m.connection) THEN OnlyHeard(s, heard)
       ELSE IF MayOpen(s, m) THEN Reaches(s, heard, e, NewWindow(m.connection))
       ELSE IF AskFirst THEN Handled(heard.state, <<ask>> \o heard.effects)
       ELSE OnlyHeard(s, heard)

-----------------------------------------------------------------------------
(* Views and incarnations *)

\* UNI-07, UNI-08: the view excludes members of the last view.
ViewInstalled(s, e) ==
    IF s.member \notin MembersOf(e.view) THEN LocalError(s)
    ELSE
    LET now == MembersOf(e.view)
        excluded == s.members \ now
        closed == CASE CloseWhen = "excluded" -> excluded
                    [] CloseWhen = "any_view" -> DOMAIN s.sends
                    [] CloseWhen = "never" -> {}
        after == [s EXCEPT !.members = now,
                           !.sends = WithoutEntries(@, closed),
                           !.receives = IF KeepWindows = "all" THEN @ ELSE WithoutEntries(@, excluded)]
    IN IF after = s THEN Ignored(s) ELSE Handled(after, <<>>)

\* The failure detector has heard nothing of the peer for long. No later view excludes an outsider, so that the side would
\* stay, and its timer fire, for ever. A member of the view is excluded by a view, if it has crashed. Before its first view
\* a member gives up nothing: a lost request to be let in would not come again.
SilenceReported(s, e) ==
    LET closes == CASE CloseOnReport = "outsider" -> s.members # {} /\ e.peer \notin s.members
                    [] CloseOnReport = "no_member" -> e.peer \notin s.members
                    [] CloseOnReport = "anyone" -> TRUE
                    [] CloseOnReport = "nobody" -> FALSE
    IN IF closes /\ e.peer \in DOMAIN s.sends THEN Handled([s EXCEPT !.sends = WithoutEntries(@, {e.peer})], <<>>)
       ELSE Ignored(s)

\* The member's runtime numbers the incarnations of its address, and gives the number first.
IncarnationBegins(s, e) ==
    IF s # Start(s.member) \/ e.incarnation < 0 THEN LocalError(s)
    ELSE IF e.incarnation = 0 THEN Ignored(s)
    ELSE Handled([s EXCEPT !.incarnation = e.incarnation], <<>>)

-----------------------------------------------------------------------------
(* Messages that are refused or late *)

\* This member has opened the connection, in this incarnation or in a former one.
WasOpened(s, connection) ==
    \/ connection.incarnation < s.incarnation
    \/ connection.incarnation = s.incarnation /\ connection.number <= s.opened

\* No correct peer sends it: numbers that are none, of an incarnation that has not begun, or an ACK of what was never sent.
IsMalformed(s, e) ==
    LET m == e.message IN
    \/ e.sender = s.member
    \/ m.type # "SEND_FIRST_SEQNO" /\ (m.connection.incarnation < 0 \/ m.connection.number < 1)
    \/ CASE m.type = "DATA" -> m.seqno < 1 \/ m.receiver < Unknown \/ m.receiver > s.incarnation
         [] m.type = "ACK" ->
            \/ m.incarnation < 0 \/ m.seqno < 0 \/ ~WasOpened(s, m.connection)
            \/ /\ e.sender \in DOMAIN s.sends /\ s.sends[e.sender].connection = m.connection
               /\ m.seqno >= s.sends[e.sender].next
         [] m.type = "SEND_FIRST_SEQNO" -> m.incarnation < 0

Refuses(s, e) == "message" \in DOMAIN e /\ IsMalformed(s, e)

\* Its incarnation is over: a forgotten window would be opened again.
IsLate(s, e) == IgnoreFormer /\ "message" \in DOMAIN e /\ IsOver(s, e.sender)

-----------------------------------------------------------------------------
(* Step: total over the alphabet *)

Step(s, e) ==
    IF Refuses(s, e) THEN RemoteError(s)
    ELSE IF IsLate(s, e) THEN Ignored(s)
    ELSE
    CASE e.type = "UnicastRequested" -> UnicastRequested(s, e)
      [] e.type = "RetransmitTimeout" -> RetransmitTimeout(s, e)
      [] e.type = "DataReceived" -> DataReceived(s, e)
      [] e.type = "AckReceived" -> AckReceived(s, e)
      [] e.type = "SendFirstSeqnoReceived" -> SendFirstSeqnoReceived(s, e)
      [] e.type = "ViewInstalled" -> ViewInstalled(s, e)
      [] e.type = "SilenceReported" -> SilenceReported(s, e)
      [] e.type = "IncarnationBegins" -> IncarnationBegins(s, e)
=============================================================================
