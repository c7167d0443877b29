------------------------------- MODULE Nakack -------------------------------
(******************************************************************************)
(* NAKACK, one member: a pure function of its own state and an event.         *)
(*                                                                            *)
(* Theory. A sender numbers its multicasts, over all views of its incarnation,    *)
(* and delivers each of them when it sends it. A message names the view in    *)
(* which it was multicast, and counts in that view alone. So a message is     *)
(* known by view, origin and seqno. The view says which incarnation of the    *)
(* origin is meant, and no other name of an incarnation is needed.            *)
(*                                                                            *)
(* A receiver delivers each origin's messages in order, without a gap.        *)
(* It asks for missing messages: below a message that it has received, or     *)
(* below an announced number. Every member announces to the others, again and *)
(* again, how far it has delivered (HIGHEST). A receiver asks the member that *)
(* announced the number. So the loss of a sender's last message is noticed,   *)
(* too. A member that announces a message has it. So no request waits for a   *)
(* crashed member while another member has the message.                       *)
(*                                                                            *)
(* A member keeps the messages that it delivered in its present view until it *)
(* is asked to purge them. It keeps the messages of the view before until the *)
(* first purge in the present view. Then every member of the present view has *)
(* voted in it, so none of them lacks anything of a former view.              *)
(*                                                                            *)
(* The layers above stop a group before its view changes (FLUSH). They give   *)
(* the number of messages of a view to deliver (HoldBack, counted from the    *)
(* beginning of the view), and the holder of missing messages (Fetch).        *)
(* Messages that wait when a view is installed are void: they count in no     *)
(* later view.                                                                *)
(*                                                                            *)
(* A request names about as many messages as came of the request before. So   *)
(* what is sent again fits what the network and the receiver's buffer take:   *)
(* all that is missing, asked for again and again, would only be lost again.  *)
(*                                                                            *)
(* The guards have the values of the repaired algorithm. A model of its own   *)
(* takes each away.                                                           *)
(******************************************************************************)
EXTENDS Steps, Views, Digests, FiniteSets

CONSTANTS
    HighestInterval,      \* time between two HIGHEST, ms
    RequestDelay,         \* time from when a gap is seen to the request, and between requests, ms
    FirstAsked            \* the most messages of an origin that a request names when none arrived since the one before

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
OfItsView == TRUE            \* a message counts in the view in which it was multicast; otherwise in any
DiscardPendingOnView == TRUE \* what waits is void with a view; otherwise it counts in the next one
KeepFormerStore == TRUE      \* what was delivered in the view before can still be had
CountFrom == "view"          \* HoldBack and Fetch count from where the "view" began, or from the "start"
HoldsBack == TRUE            \* nothing is delivered beyond the limit that the layers above say
DrainOnAdd == TRUE           \* what can be delivered is delivered in the step that makes it possible
JoinerStartsAt == "digest"   \* the window of a member that is new starts at the "digest", or at "nothing"
AnnounceHighest == "all"     \* HIGHEST says how far a member has delivered of "all", of its "own", or it is sent by "no
                             \* member"
RequestFrom == "teller"      \* a request goes to the "teller", or to the "origin" of the message
AnswerFor == "all"           \* a member answers for messages of "all", or of its "own" alone
SenderCheck == TRUE          \* a message of the view from outside the view is refused
SetTimerOnce == TRUE         \* a timer that is set is not set again
PacesRequests == TRUE        \* a request names about as many messages as have arrived; otherwise all that are missing

ASSUME
    /\ {OfItsView, DiscardPendingOnView, KeepFormerStore, HoldsBack, DrainOnAdd, SenderCheck,
        SetTimerOnce, PacesRequests} \subseteq BOOLEAN
    /\ CountFrom \in {"view", "start"}
    /\ JoinerStartsAt \in {"digest", "nothing"}
    /\ AnnounceHighest \in {"all", "own", "nobody"}
    /\ RequestFrom \in {"teller", "origin"}
    /\ AnswerFor \in {"all", "own"}
    /\ {HighestInterval, RequestDelay} \subseteq Nat
    /\ FirstAsked \in Nat \ {0}

-----------------------------------------------------------------------------
(* Messages, and effects of this protocol alone *)

DataMessage(view_id, origin, seqno, payload) ==
    [type |-> "DATA", view_id |-> view_id, origin |-> origin, seqno |-> seqno, payload |-> payload]
HighestMessage(view_id, vector) == [type |-> "HIGHEST", view_id |-> view_id, digest |-> vector]

\* `ranges`: a sequence of [first, last], both included, rising.
XmitReqMessage(view_id, origin, ranges) ==
    [type |-> "XMIT_REQ", view_id |-> view_id, origin |-> origin, ranges |-> ranges]

SetHighestTimer == SetTimer("highest", HighestInterval, HighestInterval)
SetRequestTimer == SetTimer("request", RequestDelay, RequestDelay)

DeliverUp(origin, payload) == PassUp([type |-> "Deliver", sender |-> origin, payload |-> payload])

\* Its size is counted in messages: a payload is opaque here.
ReceivedUp == PassUp([type |-> "MessageReceived", size |-> 1])

-----------------------------------------------------------------------------
(* State *)

EmptyVector == [m \in {} |-> Nothing]
NoFormer == [view_id |-> NoViewId, stores |-> [m \in {} |-> 0]]

\* A member that is said to have the messages of an origin, and up to which number.
Source(holder, upto) == [holder |-> holder, upto |-> upto]

\* A member's messages of origin x, where a view begins after seqno n.
Window(x, n) ==
    [low |-> n,             \* where this member's window starts: what is below was never its to deliver
     base |-> n,            \* the highest seqno delivered when the view was installed
     purged |-> n,          \* the highest seqno that is not in the store any more
     delivered |-> n,       \* the highest seqno delivered
     kept |-> <<>>,         \* the payloads of purged + 1 .. delivered
     pending |-> [i \in {} |-> 0],  \* seqno -> payload, of what is received and cannot be delivered yet
     told |-> Source(x, n),         \* what was said last that is beyond `delivered`, by a message or HIGHEST
     fetch |-> Source(x, n),        \* what the layers above said, in this view
     arrived |-> 0]         \* how many messages that were missing have arrived since the last request

\* A member before its first view.
Start(member) ==
    [member |-> member,         \* this member's address
     view |-> NoView,           \* the view installed
     windows |-> [m \in {} |-> 0],  \* a window for each member of the view
     former |-> NoFormer,       \* the view before, and [purged, kept] of each of its members
     held |-> FALSE,            \* the layers above hold deliveries back
     limit |-> EmptyVector,     \* to this number of each member's, counted from where the view began
     starts |-> EmptyVector,    \* where windows of new members start, in the next view
     asking |-> FALSE]          \* the timer for requests is set

InView(s) == s.view # NoView
Members(s) == DOMAIN s.windows

HighestOf(seqnos, least) ==
    IF \E n \in seqnos : n > least THEN CHOOSE n \in seqnos : n > least /\ \A k \in seqnos : k <= n ELSE least

\* DLV-01: what a digest says.
DeliveredVector(s) == [x \in Members(s) |-> s.windows[x].delivered]

\* The state that layers above read at the moment of their own step.
Below(s) ==
    [x \in Members(s) |->
        LET w == s.windows[x] IN
        [low |-> w.low, delivered |-> w.delivered, received |-> HighestOf(DOMAIN w.pending, w.delivered)]]

\* The seqno that a count of the layers above means.
Meant(w, count) == (IF CountFrom = "view" THEN w.base ELSE Nothing) + count

\* The highest seqno of x that may be delivered now, of those up to n.
Deliverable(s, x, n) == IF s.held /\ HoldsBack THEN Least(n, Meant(s.windows[x], s.limit[x])) ELSE n

-----------------------------------------------------------------------------
(* Delivering *)

\* The end of the run of pending messages that follows what was delivered, up to `top`.
RECURSIVE RunEnd(_, _, _)
RunEnd(pending, n, top) == IF n < top /\ n + 1 \in DOMAIN pending THEN RunEnd(pending, n + 1, top) ELSE n

\* Deliver every deliverable message of this origin: [window, effects].
DrainOf(s, x) ==
    LET w == s.windows[x]
        last == RunEnd(w.pending, w.delivered, Deliverable(s, x, HighestOf(DOMAIN w.pending, w.delivered)))
        run == [i \in 1 .. last - w.delivered |-> w.pending[w.delivered + i]]
    IN IF last <= w.delivered THEN [window |-> w, effects |-> <<>>]
       ELSE [window |-> [w EXCEPT !.delivered = last, !.kept = @ \o run,
                                  !.pending = [n \in {n \in DOMAIN @ : n > last} |-> @[n]]],
             effects |-> [i \in DOMAIN run |-> DeliverUp(x, run[i])]]

\* The same of all, in the order of the view.
RECURSIVE EffectsOf(_, _)
EffectsOf(drains, members) ==
    IF members = <<>> THEN <<>> ELSE drains[Head(members)].effects \o EffectsOf(drains, Tail(members))

DrainAll(s) ==
    LET drains == [x \in Members(s) |-> DrainOf(s, x)]
    IN [state |-> [s EXCEPT !.windows = [x \in Members(s) |-> drains[x].window]],
        effects |-> EffectsOf(drains, s.view.members)]

-----------------------------------------------------------------------------
(* Asking *)

\* The seqnos up to `upto` that are missing, as ranges, rising. (No number is enumerated that no member has sent.)
Gaps(w, upto) ==
    LET have == {n \in DOMAIN w.pending : n <= upto}
        NextHave(n) == IF \E k \in have : k > n
                       THEN CHOOSE k \in have : k > n /\ \A i \in have : i > n => k <= i
                       ELSE upto + 1
        gaps == {g \in {[first |-> n + 1, last |-> NextHave(n) - 1] : n \in have \cup {w.delivered}} :
                    g.first <= g.last}
    IN [i \in 1 .. Cardinality(gaps) |->
            CHOOSE g \in gaps : Cardinality({h \in gaps : h.first < g.first}) = i - 1]

\* The first seqnos of these ranges, `count` of them at most.
RECURSIVE FirstOf(_, _)
FirstOf(ranges, count) ==
    IF ranges = <<>> \/ count = 0 THEN <<>>
    ELSE LET first == Head(ranges).first
             last == Least(Head(ranges).last, first + count - 1)
         IN <<[first |-> first, last |-> last]>> \o FirstOf(Tail(ranges), count - (last - first + 1))

\* Those of the missing seqnos that the next request names. (A quarter more than arrived: so it grows while all arrive.)
Named(w, gaps) == IF PacesRequests THEN FirstOf(gaps, FirstAsked + w.arrived + w.arrived \div 4) ELSE gaps

\* Message n is one of those that are known to be missing.
Fills(w, n) == n <= HighestOf(DOMAIN w.pending, Greatest(w.told.upto, w.fetch.upto))

\* A request has been sent.
NoneArrived(s) == [s EXCEPT !.windows = [x \in Members(s) |-> [s.windows[x] EXCEPT !.arrived = 0]]]

\* A member announced more of x's messages than were delivered here: `by` has x's messages up to n.
Announced(w, by, n) ==
    IF n <= w.delivered THEN w
    ELSE [w EXCEPT !.told = IF by = @.holder THEN Source(by, Greatest(@.upto, n)) ELSE Source(by, n)]

\* The requests for messages of x: to the member that the layers above named, and to the member that announced them.
RequestsFor(s, x) ==
    LET w == s.windows[x]
        Request(to, gaps) == Datagram(to, XmitReqMessage(s.view.id, x, gaps))
        named == Named(w, Gaps(w, w.fetch.upto))
        known == Named(w, Gaps(w, Deliverable(s, x, HighestOf(DOMAIN w.pending, w.told.upto))))
        teller == IF RequestFrom = "teller" THEN w.told.holder ELSE x
        first == IF named = <<>> THEN <<>> ELSE <<Request(w.fetch.holder, named)>>
        second == IF known = <<>> THEN <<>> ELSE <<Request(teller, known)>>
    IN IF x = s.member THEN <<>> ELSE IF first = second THEN first ELSE first \o second

RECURSIVE RequestsOf(_, _)
RequestsOf(s, members) ==
    IF members = <<>> THEN <<>> ELSE RequestsFor(s, Head(members)) \o RequestsOf(s, Tail(members))

Requests(s) == RequestsOf(s, s.view.members)

\* After a step: the timer for requests is set where something is missing, unless it is set already. (Set at each
\* message, it would never fire under traffic: setting a timer that is set replaces it.)
Asking(s, effects) ==
    IF (s.asking /\ SetTimerOnce) \/ Requests(s) = <<>> THEN Handled(s, effects)
    ELSE Handled([s EXCEPT !.asking = TRUE], Append(effects, SetRequestTimer))

-----------------------------------------------------------------------------
(* One operator an event, in the order of the theory *)

\* NAK-01, DLV-04, DLV-05, DLV-06: number it, deliver it at once, and keep it: nothing depends on the copy that comes
\* back from the network.
SendRequested(s, e) ==
    IF ~InView(s) THEN LocalError(s)
    ELSE LET n == s.windows[s.member].delivered + 1 IN
         IF Deliverable(s, s.member, n) < n THEN LocalError(s)
         ELSE Handled([s EXCEPT !.windows[s.member] = [@ EXCEPT !.delivered = n, !.kept = Append(@, e.payload)]],
                      <<Datagram(All, DataMessage(s.view.id, s.member, n, e.payload)), ReceivedUp,
                        DeliverUp(s.member, e.payload)>>)

\* NAK-01, NAK-04, DLV-03: it waits for what is missing below it; what it makes deliverable is delivered.
DataReceived(s, e) ==
    LET m == e.message IN
    IF ~InView(s) \/ (OfItsView /\ m.view_id # s.view.id) THEN Ignored(s)
    ELSE IF m.origin \notin Members(s) \/ (SenderCheck /\ e.sender \notin Members(s)) THEN RemoteError(s)
    ELSE LET w == s.windows[m.origin] IN
    IF m.seqno <= w.delivered \/ m.seqno \in DOMAIN w.pending THEN Ignored(s)
    ELSE
    LET added == [w EXCEPT !.pending = [n \in DOMAIN @ \cup {m.seqno} |-> IF n = m.seqno THEN m.payload ELSE @[n]],
                           !.arrived = IF Fills(w, m.seqno) THEN @ + 1 ELSE @]
        before == [s EXCEPT !.windows[m.origin] = added]
        drained == IF DrainOnAdd THEN DrainOf(before, m.origin)
                   \* (The defect: of what can be delivered one is, and the rest waits for the next message.)
                   ELSE DrainOf([before EXCEPT !.windows[m.origin].pending =
                                    [n \in {n \in DOMAIN @ : n <= w.delivered + 1} |-> @[n]]], m.origin)
        after == IF DrainOnAdd THEN drained.window
                 ELSE [drained.window EXCEPT !.pending =
                        [n \in {n \in DOMAIN added.pending : n > drained.window.delivered} |-> added.pending[n]]]
    IN Asking([s EXCEPT !.windows[m.origin] = Announced(after, e.sender, m.seqno)], <<ReceivedUp>> \o drained.effects)

\* NAK-03, NAK-05: every member says how far it has delivered, as long as it keeps something that others may lack.
HighestTimeout(s, e) ==
    IF ~InView(s) THEN LocalError(s)
    ELSE LET something == \E x \in Members(s) : s.windows[x].kept # <<>>
             vector == IF AnnounceHighest = "all" THEN DeliveredVector(s)
                       ELSE [x \in Members(s) |-> IF x = s.member THEN s.windows[x].delivered ELSE Nothing]
         IN Handled(s, IF something /\ AnnounceHighest # "nobody"
                       THEN <<Datagram(All, HighestMessage(s.view.id, vector)), SetHighestTimer>>
                       ELSE <<SetHighestTimer>>)

\* NAK-07, NAK-09: what is lacking below what another member has delivered will be asked for, the whole tail of it.
HighestReceived(s, e) ==
    IF ~InView(s) \/ e.message.view_id # s.view.id THEN Ignored(s)
    ELSE IF (SenderCheck /\ e.sender \notin Members(s)) \/ DOMAIN e.message.digest # Members(s) THEN RemoteError(s)
    ELSE LET heard == [x \in Members(s) |-> Announced(s.windows[x], e.sender, e.message.digest[x])]
         IN IF heard = s.windows THEN Ignored(s) ELSE Asking([s EXCEPT !.windows = heard], <<>>)

\* NAK-02, NAK-08: ask for what is missing, and for nothing else; again after a while.
RequestTimeout(s, e) ==
    LET requests == Requests(s) IN
    IF ~s.asking THEN Ignored(s)
    ELSE IF requests = <<>> THEN Handled([NoneArrived(s) EXCEPT !.asking = FALSE], <<>>)
    ELSE Handled(NoneArrived(s), Append(requests, SetRequestTimer))

\* A member's store of the view that a request names: the present view, or the view before.
StoreOf(s, m) ==
    IF InView(s) /\ m.view_id = s.view.id THEN s.windows[m.origin]
    ELSE IF m.view_id = s.former.view_id /\ m.origin \in DOMAIN s.former.stores THEN s.former.stores[m.origin]
    ELSE [purged |-> Nothing, kept |-> <<>>]

\* NAK-02: a member that has delivered the message sends it.
XmitReqReceived(s, e) ==
    LET m == e.message
        OfView == InView(s) /\ m.view_id = s.view.id
        store == StoreOf(s, m)
        Asked(i) == \E r \in DOMAIN m.ranges :
                        m.ranges[r].first <= store.purged + i /\ store.purged + i <= m.ranges[r].last
        places == [i \in DOMAIN store.kept |-> i]
        found == SelectSeq(places, Asked)
    IN IF OfView /\ (m.origin \notin Members(s) \/ (SenderCheck /\ e.sender \notin Members(s))) THEN RemoteError(s)
       ELSE IF found = <<>> \/ e.sender = s.member \/ (AnswerFor = "own" /\ m.origin # s.member) THEN Ignored(s)
       ELSE Handled(s, [i \in DOMAIN found |->
                Datagram(e.sender,
                         DataMessage(m.view_id, m.origin, store.purged + found[i], store.kept[found[i]]))])

\* Waiting messages are void, and the delivered messages are kept as the former view's. Windows in use stay; windows
\* of new members start where the layers above said.
ViewInstalled(s, e) ==
    IF s.member \notin MembersOf(e.view) THEN LocalError(s)
    ELSE IF e.view.id.counter <= s.view.id.counter THEN Ignored(s)
    ELSE
    LET Begun(x) == IF JoinerStartsAt = "digest" /\ x \in DOMAIN s.starts THEN s.starts[x] ELSE Nothing
        Entered(x) ==
            IF x \notin Members(s) THEN Window(x, Begun(x))
            ELSE LET w == s.windows[x]
                     new == [Window(x, w.delivered) EXCEPT !.low = w.low]
                 IN IF DiscardPendingOnView THEN new ELSE [new EXCEPT !.pending = w.pending]
        entered == [s EXCEPT !.view = e.view,
                             !.windows = [x \in MembersOf(e.view) |-> Entered(x)],
                             !.former = IF InView(s) /\ KeepFormerStore
                                        THEN [view_id |-> s.view.id,
                                              stores |-> [x \in Members(s) |->
                                                [purged |-> s.windows[x].purged, kept |-> s.windows[x].kept]]]
                                        ELSE NoFormer,
                             !.held = FALSE, !.limit = EmptyVector, !.starts = EmptyVector]
        \* (Where what waits is void there is nothing to deliver.)
        done == DrainAll(entered)
    IN Handled(done.state, (IF InView(s) THEN <<>> ELSE <<SetHighestTimer>>) \o done.effects)

\* FLUSH: deliver no more than these many messages of the view. Missing messages below them are still asked for.
HoldBack(s, e) ==
    IF ~InView(s) \/ DOMAIN e.limit # Members(s) THEN LocalError(s)
    ELSE LET done == DrainAll([s EXCEPT !.held = TRUE, !.limit = e.limit]) IN Asking(done.state, done.effects)

Release(s, e) ==
    IF ~InView(s) THEN LocalError(s)
    ELSE IF ~s.held THEN Ignored(s)
    ELSE LET done == DrainAll([s EXCEPT !.held = FALSE, !.limit = EmptyVector]) IN Asking(done.state, done.effects)

\* FLUSH: `holder` has the missing messages, though it may be in the next view by now.
Fetch(s, e) ==
    IF ~InView(s) \/ e.sender \notin Members(s) \/ e.holder = s.member THEN LocalError(s)
    ELSE Asking([s EXCEPT !.windows[e.sender].fetch = Source(e.holder, Meant(s.windows[e.sender], e.upto))], <<>>)

\* NAK-06, STB-11, AMB-10: every member of the view has delivered these messages. All of them are in the view, so they
\* lack nothing of the former view. (No more than what was delivered: the vector comes from a peer.)
Purge(s, e) ==
    IF ~InView(s) \/ DOMAIN e.digest # Members(s) THEN LocalError(s)
    ELSE LET Purged(x) ==
                LET w == s.windows[x]
                    top == Greatest(w.purged, Least(e.digest[x], w.delivered))
                IN [w EXCEPT !.purged = top, !.kept = SubSeq(@, top - w.purged + 1, Len(@))]
         IN Handled([s EXCEPT !.windows = [x \in Members(s) |-> Purged(x)], !.former = NoFormer], <<>>)

\* JOI-03, DLV-01.
GetDigest(s, e) ==
    IF ~InView(s) THEN LocalError(s)
    ELSE Handled(s, <<PassUp([type |-> "DigestGiven", asker |-> e.asker, request |-> e.request,
                              digest |-> DeliveredVector(s)])>>)

\* JOI-05, MRG-28: where the windows of new members start in the next view; those in use are not moved.
StartsTold(s, e) == Handled([s EXCEPT !.starts = e.digest], <<>>)

-----------------------------------------------------------------------------
\* No correct peer sends this to a member in any state.
IsMalformed(s, e) ==
    CASE e.message.type = "DATA" -> e.message.seqno < FirstSeqno
      [] e.message.type = "HIGHEST" -> \E x \in DOMAIN e.message.digest : e.message.digest[x] < Nothing
      [] e.message.type = "XMIT_REQ" ->
            \/ e.message.ranges = <<>>
            \/ \E i \in DOMAIN e.message.ranges :
                e.message.ranges[i].first < FirstSeqno \/ e.message.ranges[i].last < e.message.ranges[i].first

Refuses(s, e) == "message" \in DOMAIN e /\ IsMalformed(s, e)

(* Step: total over the alphabet *)

Step(s, e) ==
    IF Refuses(s, e) THEN RemoteError(s) ELSE
    CASE e.type = "SendRequested" -> SendRequested(s, e)
      [] e.type = "DataReceived" -> DataReceived(s, e)
      [] e.type = "HighestTimeout" -> HighestTimeout(s, e)
      [] e.type = "HighestReceived" -> HighestReceived(s, e)
      [] e.type = "RequestTimeout" -> RequestTimeout(s, e)
      [] e.type = "XmitReqReceived" -> XmitReqReceived(s, e)
      [] e.type = "ViewInstalled" -> ViewInstalled(s, e)
      [] e.type = "HoldBack" -> HoldBack(s, e)
      [] e.type = "Release" -> Release(s, e)
      [] e.type = "Fetch" -> Fetch(s, e)
      [] e.type = "Purge" -> Purge(s, e)
      [] e.type = "GetDigest" -> GetDigest(s, e)
      [] e.type = "DigestSet" -> StartsTold(s, e)
      [] e.type = "WindowsAdded" -> StartsTold(s, e)
=============================================================================
