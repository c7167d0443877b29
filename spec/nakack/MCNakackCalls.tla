---------------------------- MODULE MCNakackCalls ----------------------------
(***************************************************************************)
(* Claims about what a member refuses, what it asks for, what it keeps of  *)
(* what it receives, and when it sets its timers; and their defects. Only  *)
(* models of these claims use this module.                                 *)
(***************************************************************************)
EXTENDS MCNakack

(* Events that no correct peer or caller causes, besides those of NakackGroup *)

MoreWrongs(m) ==
    LET s == local[m]
        id == s.view.id
        request(range) == [type |-> "XmitReqReceived", sender |-> "A", message |-> XmitReqMessage(id, "A", <<range>>)]
        calls == {[type |-> "SendRequested", payload |-> <<0, 0, 0>>],
                  [type |-> "HighestTimeout"], [type |-> "Release"],
                  [type |-> "HoldBack", limit |-> EmptyVector], [type |-> "Purge", digest |-> EmptyVector],
                  [type |-> "Fetch", holder |-> "Z", sender |-> m, upto |-> 1],
                  [type |-> "GetDigest", asker |-> "GMS", request |-> 1]}
    IN IF ~InView(s) THEN calls
       ELSE {[type |-> "HighestReceived", sender |-> "Z", message |-> HighestMessage(id, [x \in Members(s) |-> 1])],
             [type |-> "HighestReceived", sender |-> "A",
              message |-> HighestMessage(id, [x \in Members(s) |-> Nothing - 1])],
             [type |-> "HighestReceived", sender |-> "A", message |-> HighestMessage(id, [x \in {"Z"} |-> 1])],
             [type |-> "XmitReqReceived", sender |-> "A",
              message |-> XmitReqMessage(id, "Z", <<[first |-> 1, last |-> 1]>>)],
             [type |-> "XmitReqReceived", sender |-> "Z",
              message |-> XmitReqMessage(id, "A", <<[first |-> 1, last |-> 1]>>)],
             request([first |-> FirstSeqno - 1, last |-> FirstSeqno]),
             request([first |-> FirstSeqno + 1, last |-> FirstSeqno]),
             [type |-> "Purge", digest |-> [x \in {"Z"} |-> 0]], [type |-> "HoldBack", limit |-> [x \in {"Z"} |-> 0]],
             [type |-> "Fetch", holder |-> "Z", sender |-> "Z", upto |-> 1]}
            \cup (IF s.held /\ s.limit = CountsOf(Now(m), DeliveredVector(s))
                  THEN {[type |-> "SendRequested", payload |-> <<0, 0, 0>>]} ELSE {})

\* Events that are late, or say nothing new.
Lates(m) ==
    LET s == local[m] IN
    (IF s.asking THEN {} ELSE {[type |-> "RequestTimeout"]})
    \cup (IF InView(s)
          THEN {[type |-> "ViewInstalled", view |-> s.view],
                [type |-> "XmitReqReceived", sender |-> m,
                 message |-> XmitReqMessage(s.view.id, m, <<[first |-> FirstSeqno, last |-> FirstSeqno + 9]>>)],
                [type |-> "XmitReqReceived", sender |-> "Z",
                 message |-> XmitReqMessage(ViewId(9, "Z"), "Z", <<[first |-> 1, last |-> 9]>>)],
                [type |-> "XmitReqReceived", sender |-> "Z",
                 message |-> XmitReqMessage(ViewId(9, "Z"), "A", <<[first |-> 0, last |-> 9]>>)],
                [type |-> "HighestReceived", sender |-> "Z",
                 message |-> HighestMessage(ViewId(9, "Z"), [x \in Members(s) |-> 9])],
                [type |-> "HighestReceived", sender |-> "A", message |-> HighestMessage(s.view.id, DeliveredVector(s))]}
               \cup (IF s.held THEN {} ELSE {[type |-> "Release"]})
               \cup (IF s.former = NoFormer THEN {}
                     ELSE {[type |-> "XmitReqReceived", sender |-> "Z",
                            message |-> XmitReqMessage(s.former.view_id, "Z", <<[first |-> 1, last |-> 9]>>)]})
          ELSE {[type |-> "DataReceived", sender |-> "A",
                 message |-> DataMessage(NoViewId, "A", FirstSeqno, <<0, 0, 0>>)],
                [type |-> "HighestReceived", sender |-> "A", message |-> HighestMessage(ViewId(9, "Z"), EmptyVector)],
                [type |-> "HighestReceived", sender |-> "A", message |-> HighestMessage(NoViewId, EmptyVector)],
                [type |-> "XmitReqReceived", sender |-> "A",
                 message |-> XmitReqMessage(NoViewId, "A", <<[first |-> 1, last |-> 9]>>)]})

Wrong(m) == MoreWrongs(m) \cup IF InView(local[m]) THEN Wrongs(m) ELSE {}

\* In the place of Misuse: members that are in no view have such events, too.
MisuseAnywhere(m) ==
    /\ spent.misuses < MaxMisuses /\ m \in up
    /\ \E event \in Wrong(m) \cup Lates(m) : Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED <<surroundings, sent>>

-----------------------------------------------------------------------------
(* Claims *)

\* An event that no correct peer or caller causes is refused; an event that is late, or says nothing new, is ignored;
MisuseIsRefusedStep ==
    act'.action = "Misuse" =>
        act'.outcome \in IF act'.event \in Lates(act'.member) THEN {"ignored"} ELSE {"local_error", "remote_error"}

\* no other event is refused;
NoEventRefusedStep == act'.outcome \in {"local_error", "remote_error"} => act'.action = "Misuse"

\* and an event that is handled changes the state, or has effects.
HandledDoesSomethingStep ==
    act'.outcome = "handled" => local'[act'.member] # local[act'.member] \/ act'.effects # <<>>

Requested ==
    {i \in DOMAIN act'.effects : act'.effects[i].type = "Datagram" /\ act'.effects[i].message.type = "XMIT_REQ"}

\* A request names messages that the member has not received, and no member is sent two equal requests.
RequestsWhatIsLackedStep ==
    /\ \A i \in Requested :
        LET message == act'.effects[i].message
            w == local[act'.member].windows[message.origin]
        IN \A r \in DOMAIN message.ranges :
            LET range == message.ranges[r].first .. message.ranges[r].last
            IN range # {} /\ \A n \in range : n > w.delivered /\ n \notin DOMAIN w.pending
    /\ \A i, j \in Requested : i # j => act'.effects[i] # act'.effects[j]

\* A message that a member receives waits, and what waits stays, until it is delivered, or the next view is installed.
ReceivedIsKeptStep ==
    \A m \in {act'.member} \cap Member : local'[m].view = local[m].view =>
        \A x \in DOMAIN local[m].windows :
            LET new == local'[m].windows[x]
                came == IF act'.event.type = "DataReceived" /\ act'.outcome = "handled" /\ act'.event.message.origin = x
                        THEN {act'.event.message.seqno} ELSE {}
            IN \A n \in DOMAIN local[m].windows[x].pending \cup came : n <= new.delivered \/ n \in DOMAIN new.pending

\* NAK-03: the timer for HIGHEST is set at each member that is in a view, and never stops.
HighestTimerIsSet == \A m \in up : installed[m] # 0 => "highest" \in timers[m]

\* The timer for requests is set where the next one would name something.
TimerIsOfRequestsStep == "request" \in TimersSet(act'.effects) => Requests(local'[act'.member]) # <<>>

\* An older announcement of the same member changes nothing.
AnnouncedIsKeptStep ==
    \A m \in {act'.member} \cap Member : \A x \in DOMAIN local[m].windows \cap DOMAIN local'[m].windows :
        LET old == local[m].windows[x].told
            new == local'[m].windows[x].told
        IN local'[m].view = local[m].view /\ new.holder = old.holder => new.upto >= old.upto

\* A member that keeps nothing that others may lack announces nothing.
AnnouncesWhatIsKeptStep ==
    (\E i \in DOMAIN act'.effects : act'.effects[i].type = "Datagram" /\ act'.effects[i].message.type = "HIGHEST") =>
        \E x \in Members(local[act'.member]) : local[act'.member].windows[x].kept # <<>>

\* A member that is asked sends the messages that the request names, and no others.
AnswersWhatIsAskedStep ==
    act'.event.type = "XmitReqReceived" =>
        \A i \in DOMAIN act'.effects : \E r \in DOMAIN act'.event.message.ranges :
            act'.effects[i].message.seqno \in act'.event.message.ranges[r].first .. act'.event.message.ranges[r].last

\* A message counts as arrived, and makes the next request larger, where it was known to be missing, and not otherwise.
ArrivalsAreCountedStep ==
    act'.event.type = "DataReceived" /\ act'.outcome = "handled" =>
        LET message == act'.event.message
            old == local[act'.member].windows[message.origin]
            new == local'[act'.member].windows[message.origin]
            IsMissing == \E known \in DOMAIN old.pending \cup {old.told.upto, old.fetch.upto} : message.seqno <= known
        IN new.arrived = old.arrived + (IF IsMissing THEN 1 ELSE 0)

MisuseIsRefused == [][MisuseIsRefusedStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars
HandledDoesSomething == [][HandledDoesSomethingStep]_vars
RequestsWhatIsLacked == [][RequestsWhatIsLackedStep]_vars
TimerIsOfRequests == [][TimerIsOfRequestsStep]_vars
ReceivedIsKept == [][ReceivedIsKeptStep]_vars
AnnouncedIsKept == [][AnnouncedIsKeptStep]_vars
AnnouncesWhatIsKept == [][AnnouncesWhatIsKeptStep]_vars
AnswersWhatIsAsked == [][AnswersWhatIsAskedStep]_vars
ArrivalsAreCounted == [][ArrivalsAreCountedStep]_vars

-----------------------------------------------------------------------------
(* Defects: in the place of MemberStep *)

\* A caller's mistake is ignored; a late message is refused; an event that is ignored counts as handled.
IgnoresMisuse(s, e) == LET step == Step(s, e) IN IF step.outcome = "local_error" THEN Ignored(s) ELSE step
RefusesLate(s, e) ==
    IF e.type = "DataReceived" /\ InView(s) /\ e.message.seqno >= FirstSeqno /\ Step(s, e).outcome = "ignored"
    THEN RemoteError(s) ELSE Step(s, e)
HandlesLate(s, e) ==
    IF e.type = "DataReceived" /\ InView(s) /\ Step(s, e).outcome = "ignored" THEN Handled(s, <<>>) ELSE Step(s, e)

\* A request names all from the first missing message to the last.
RequestsAll(s, e) ==
    LET step == Step(s, e)
        Whole(ranges) == <<[first |-> ranges[1].first, last |-> ranges[Len(ranges)].last]>>
    IN IF e.type # "RequestTimeout" THEN step
       ELSE [step EXCEPT !.effects = [i \in DOMAIN @ |->
                IF @[i].type = "Datagram" THEN [@[i] EXCEPT !.message.ranges = Whole(@)] ELSE @[i]]]

\* Each request is sent twice.
RequestsTwice(s, e) ==
    LET step == Step(s, e) IN IF e.type = "RequestTimeout" THEN [step EXCEPT !.effects = @ \o @] ELSE step

\* A member that is asked sends all that it keeps of the origin.
AnswersAll(s, e) ==
    IF e.type = "XmitReqReceived" /\ Step(s, e).outcome = "handled"
    THEN Step(s, [e EXCEPT !.message.ranges = <<[first |-> FirstSeqno, last |-> FirstSeqno + 9]>>]) ELSE Step(s, e)

\* Each message counts as one that was missing.
CountsEach(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DataReceived" /\ step.outcome = "handled"
    THEN [step EXCEPT !.state.windows[e.message.origin].arrived = s.windows[e.message.origin].arrived + 1] ELSE step

\* Each message sets the timer, if it is not set already.
AlwaysAsks(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DataReceived" /\ step.outcome = "handled" /\ ~step.state.asking
    THEN Handled([step.state EXCEPT !.asking = TRUE], Append(step.effects, SetRequestTimer)) ELSE step

\* A message that cannot be delivered at once is lost.
DropsBehindGap(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DataReceived" /\ step.outcome = "handled"
    THEN LET x == e.message.origin IN
         IF e.message.seqno \notin DOMAIN step.state.windows[x].pending THEN step
         ELSE [step EXCEPT !.state.windows[x].pending = s.windows[x].pending,
                           !.state.windows[x].arrived = s.windows[x].arrived]
    ELSE step

\* A member that installs its first view does not set its timer for HIGHEST.
NeverAnnounces(s, e) ==
    LET step == Step(s, e) IN IF e.type = "ViewInstalled" THEN [step EXCEPT !.effects = <<>>] ELSE step

\* An older announcement takes the place of a later one.
TakesOlder(s, e) ==
    LET step == Step(s, e)
        last == e.message.digest
        Older(x) == last[x] > s.windows[x].delivered /\ e.sender = s.windows[x].told.holder
        older == [x \in Members(s) |-> IF Older(x) THEN [s.windows[x] EXCEPT !.told.upto = last[x]] ELSE s.windows[x]]
    IN IF e.type = "HighestReceived" /\ step.outcome = "ignored" /\ e.message.view_id = s.view.id /\ older # s.windows
       THEN Handled([s EXCEPT !.windows = older], <<>>)
       ELSE step

\* A member announces where it keeps nothing, too.
AnnouncesAlways(s, e) ==
    IF e.type = "HighestTimeout" /\ InView(s)
    THEN Handled(s, <<Datagram(All, HighestMessage(s.view.id, DeliveredVector(s))), SetHighestTimer>>) ELSE Step(s, e)

\* A member that announces less counts as having what another member has announced.
MixesTellers(s, e) ==
    LET step == Step(s, e)
    IN IF e.type = "HighestReceived" /\ step.outcome = "handled"
       THEN [step EXCEPT !.state.windows =
                [x \in DOMAIN @ |-> [@[x] EXCEPT !.told.upto = Greatest(@, s.windows[x].told.upto)]]]
       ELSE step
=============================================================================
