----------------------------- MODULE NoteUnicast ------------------------------
(***************************************************************************)
(* The note's two algorithms, as members of the same group (UnicastGroup): *)
(* - UNICAST as it was (NoteNames "none"): messages have a number and no   *)
(*   connection, and an excluded member's entry is removed, sent and       *)
(*   received side alike;                                                  *)
(* - UNICAST.new, the design that the note links: Each connection has an   *)
(*   identifier, and its first message is marked. Another identifier       *)
(*   replaces the window. A receiver without a window asks for the first   *)
(*   message that is kept. Messages name their connection ("all"), or the  *)
(*   marked ones alone do ("first": the trap that the design itself warns  *)
(*   of, UNI-21). Neither knows of incarnations.                           *)
(***************************************************************************)
EXTENDS Unicast

CONSTANTS
    NoteNames,  \* the messages that name their connection: "all", the "first", "none"
    NoteAsks    \* a receiver without a window asks for the first message (UNI-13)

ASSUME NoteNames \in {"all", "first", "none"} /\ NoteAsks \in BOOLEAN

NoConnection == Connection(0, 0)

NoteData(connection, seqno, first, payload) ==
    [type |-> "DATA", connection |-> connection, seqno |-> seqno, first |-> first, payload |-> payload]

NoteSendFirstSeqno(connection) ==
    [type |-> "SEND_FIRST_SEQNO", connection |-> connection, incarnation |-> 0]

\* The i-th message that is kept. `asked`: it was asked for as the first.
NoteDataTo(peer, side, i, asked) ==
    LET seqno == side.kept[i][1]
        first == seqno = 1 \/ asked
        names == NoteNames = "all" \/ (NoteNames = "first" /\ first)
    IN Datagram(peer, NoteData(IF names THEN side.connection ELSE NoConnection, seqno, first, side.kept[i][2]))

\* UNI-16. (The note says nothing of an incarnation: identifiers begin anew with each.)
NoteUnicastRequested(s, e) ==
    LET opens == e.to \notin DOMAIN s.sends
        old == s.sends[e.to]
        side == IF opens THEN Opened([s EXCEPT !.incarnation = 0], <<e.payload>>)
                ELSE [old EXCEPT !.kept = Append(@, <<old.next, e.payload>>), !.next = @ + 1]
    IN Handled([s EXCEPT !.opened = IF opens THEN @ + 1 ELSE @, !.sends = WithEntry(@, e.to, side)],
               <<NoteDataTo(e.to, side, Len(side.kept), FALSE), SetRetransmitTimer(side)>>)

NoteRetransmitTimeout(s, e) ==
    LET waiting == {p \in DOMAIN s.sends : s.sends[p].connection.number = e.number /\ s.sends[p].kept # <<>>}
    IN IF waiting = {} THEN Ignored(s)
       ELSE
       LET peer == CHOOSE p \in waiting : TRUE
           side == s.sends[peer]
       IN Handled(s, Append([i \in DOMAIN side.kept |-> NoteDataTo(peer, side, i, FALSE)], SetRetransmitTimer(side)))

NoteReaches(s, e, window) ==
    LET step == Added(window, e.message.seqno, e.message.payload)
    IN Handled([s EXCEPT !.receives = WithEntry(@, e.sender, step.window)],
               Append([i \in DOMAIN step.payloads |-> DeliverUp(e.sender, step.payloads[i])],
                      Datagram(e.sender, AckMessage(e.message.connection, step.window.delivered, 0))))

\* UNI-17 (a first message: no window, or one of another connection, is replaced; of the same connection it comes again),
\* UNI-18 (any other message).
NoteDataReceived(s, e) ==
    LET m == e.message
        has == e.sender \in DOMAIN s.receives
        window == s.receives[e.sender]
        at(seqno) == [connection |-> m.connection, delivered |-> seqno - 1, ahead |-> <<>>]
    IN IF NoteNames = "none" THEN NoteReaches(s, e, IF has THEN window ELSE at(1))
       ELSE IF m.first /\ (~has \/ m.connection # window.connection) THEN NoteReaches(s, e, at(m.seqno))
       ELSE IF has /\ m.connection \in {NoConnection, window.connection} THEN NoteReaches(s, e, window)
       ELSE IF NoteAsks THEN Handled(s, <<Datagram(e.sender, NoteSendFirstSeqno(m.connection))>>)
       ELSE Ignored(s)

NoteAckReceived(s, e) ==
    LET side == s.sends[e.sender]
        Left(entry) == entry[1] > e.message.seqno
    IN IF e.sender \notin DOMAIN s.sends \/ e.message.connection \notin {NoConnection, side.connection} THEN Ignored(s)
       ELSE Handled([s EXCEPT !.sends[e.sender].kept = SelectSeq(@, Left)], <<>>)

\* UNI-19: the lowest message that is kept goes again, marked as the first.
NoteSendFirstSeqnoReceived(s, e) ==
    LET side == s.sends[e.sender] IN
    IF \/ e.sender \notin DOMAIN s.sends \/ side.kept = <<>>
       \/ e.message.connection \notin {NoConnection, side.connection}
    THEN Ignored(s)
    ELSE Handled(s, <<NoteDataTo(e.sender, side, 1, TRUE)>>)

\* UNI-08: the entry of an excluded member is removed.
NoteViewInstalled(s, e) ==
    LET now == MembersOf(e.view)
        excluded == s.members \ now
    IN IF s.member \notin now THEN LocalError(s)
       ELSE Handled([s EXCEPT !.members = now, !.sends = WithoutEntries(@, excluded), !.receives = WithoutEntries(@, excluded)], <<>>)

NoteStep(s, e) ==
    CASE e.type = "UnicastRequested" -> NoteUnicastRequested(s, e)
      [] e.type = "RetransmitTimeout" -> NoteRetransmitTimeout(s, e)
      [] e.type = "DataReceived" -> NoteDataReceived(s, e)
      [] e.type = "AckReceived" -> NoteAckReceived(s, e)
      [] e.type = "SendFirstSeqnoReceived" -> NoteSendFirstSeqnoReceived(s, e)
      [] e.type = "ViewInstalled" -> NoteViewInstalled(s, e)
      [] e.type = "IncarnationBegins" -> Handled([s EXCEPT !.incarnation = e.incarnation], <<>>)
=============================================================================
