---------------------------- MODULE StateTransfer -----------------------------
(***************************************************************************)
(* STATE_TRANSFER, one member: a pure function of its own state and an     *)
(* event. It stands above SEQUENCER.                                       *)
(*                                                                         *)
(* Theory. A member that lacks the state asks a member of its view for it, *)
(* by a message in the total order (ASK). The place of ASK in the order is *)
(* the cut: the state holds the messages before it, and the messages after *)
(* it are delivered on top. Only two members act on ASK. The application   *)
(* of the provider marks its state there, and the provider unicasts it in  *)
(* parts, as many at a time as the asker has room for (CREDIT). The asker  *)
(* drops the messages before its ASK, and holds the messages after it      *)
(* until it has the last part. No other member sends, waits or stops.      *)
(*                                                                         *)
(* A transfer survives views. An asker whose provider is gone or cannot    *)
(* give the state (CANNOT) asks again, the same or another member: a new   *)
(* attempt, and a new cut. An asker that holds many bytes of messages      *)
(* passes up Full. What is on its way may still come. If it comes to hold  *)
(* as many bytes as it may, and another message comes, it asks again.      *)
(*                                                                         *)
(* A state carries, of each member, the number of the last message in it.  *)
(* A member that was cut off sends a message again in the merged view.     *)
(* SEQUENCER passes over a message that a member has delivered. It cannot  *)
(* know the messages that the member got with a state. STATE_TRANSFER      *)
(* drops these. If such a message is the member's own, it is reported      *)
(* (OwnIsInState).                                                         *)
(*                                                                         *)
(* The members of a merged view have different states. Each multicasts the *)
(* name of its state (TELL): equal names, equal states. At the last TELL,  *)
(* at one place for every member, they keep one state. The other members   *)
(* lack the state from there on, and ask. Of several states the one is     *)
(* kept that most members have. Each application hears what becomes of its *)
(* own: it is kept (StateKept), or dropped (StateDropped).                 *)
(*                                                                         *)
(* With the option Majority of SEQUENCER the state of the primary is kept, *)
(* and no other. SEQUENCER says of a formed view which formed view was the *)
(* last before it: its base. A state *stands* in a formed view if it stood *)
(* in the base, or came from a member where it stood. If no state of the   *)
(* base is there, the view is *vacant*: its members keep what they have,   *)
(* and wait for a member that has the state of the primary. The formed     *)
(* views that were vacant are told: the state of the last one before them  *)
(* is still that of the primary.                                           *)
(*                                                                         *)
(* Only the founder of a group begins with a state. If no member of a view *)
(* has one, the application of each is told (NoState), and may declare its *)
(* own (DeclareRequested). Then a state is kept that the members have, or  *)
(* the declared one. It counts as declared, and loses against any other.   *)
(*                                                                         *)
(* SAFE tells a sender that its messages are safe: the members have them.  *)
(* Where it is not decided yet which state is kept, a message may be in a  *)
(* state that is not kept. So the sender is told when that is decided. If  *)
(* its view ends before, nobody knows of any message that it has delivered *)
(* till then: SAFE may yet tell that all have it. (SAFE numbers what this  *)
(* layer multicasts. So a member counts its own as they come.)             *)
(*                                                                         *)
(* A member multicasts nothing in a step that a message of the order       *)
(* causes. The layers below may be about to send what they had to hold     *)
(* back, and a message from within would overtake it. A timer of no time   *)
(* does it in a step of its own.                                           *)
(*                                                                         *)
(* The constants of the first group are guards; models.yaml has the        *)
(* reference.                                                              *)
(***************************************************************************)
EXTENDS Views, Steps, Integers, FiniteSets

CONSTANTS
    Window,         \* parts in transit at most
    FullAt,         \* bytes of messages that wait for a state: with as many, the asker takes no more
    MaxHeld,        \* ... and with as many, if one comes all the same, it asks again
    AskTime         \* ms until a member that no member gives the state to asks again

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
AskBy == "order"           \* the asker asks in the "order", or by "unicast": there is no cut
InstallWhen == "marked"    \* a state is set when it is whole and the own ASK was "marked", or when it is "whole"
AfterMarker == "held"      \* messages after the cut are "held", or "dropped"
NumberAttempts == TRUE     \* parts, credits and refusals count for the attempt that they name alone
AskAgain == TRUE           \* a member whose provider is gone asks another
OnFailure == "refuses"     \* where the application gives no state, the provider "refuses", is "silent", or "ends"
OnRefusal == "next"        \* the asker asks the "next" member, or "waits"
Credits == TRUE            \* the provider sends no more parts than the asker has room for
OnOverflow == "asks_again" \* an asker that holds MaxHeld bytes and gets another message "asks_again", or "grows"
SignalFull == TRUE         \* an asker that holds FullAt bytes passes up Full
CountBytes == TRUE         \* a held message counts with its bytes; if not, as 1
TellOnMerge == TRUE        \* members of a merged view tell which state they have
NameBranches == TRUE       \* a state's name has the views that its holder has been in without a decision, too
KeepMost == TRUE           \* of several states the one that most members have is kept; if not, that of the first member
KeepFrom == "base"         \* ... of those that stood in the "base" of the view, in the "latest" of what is told, or of "any"
StandsIfBased == TRUE      \* a state stands in a formed view if it stood in the base; if not, in any formed view
TellVacant == TRUE         \* members tell which formed views were vacant
ContinueIfKept == TRUE     \* a transfer continues over a merge if the provider's state is kept
FoundsWhen == "first"      \* a member without a state begins with its own in its "first" view, or in any view where it
                           \* is "alone"
HandSeen == TRUE           \* a state carries the number of the last message of each member that is in it
ReportOwn == TRUE          \* own messages that come with a state are reported
ReportKept == TRUE         \* an application hears that its own state is kept
SendWhen == "has"          \* the application sends while it "has" the state, or in any "view"
ForgetGone == TRUE         \* a provider forgets an asker that is not in its view
DeclaredIsLast == TRUE     \* a declared state is kept only where there is no other
AnswerOrder == "soon"      \* a member that delivers in the order multicasts "soon", by a timer, or "at_once"
TimerOnce == TRUE          \* the timer is set only where it is not set
SafeIfDecided == TRUE      \* messages are told safe when it is decided which state is kept
UnknownAtEnd == "came"     \* ... when the view ends before, those that "came" are unknown; or those that "wait"; or "none"

ASSUME
    /\ AskBy \in {"order", "unicast"} /\ InstallWhen \in {"marked", "whole"}
    /\ AfterMarker \in {"held", "dropped"}
    /\ OnFailure \in {"refuses", "silent", "ends"} /\ OnRefusal \in {"next", "waits"}
    /\ OnOverflow \in {"asks_again", "grows"} /\ FoundsWhen \in {"first", "alone"} /\ SendWhen \in {"has", "view"}
    /\ AnswerOrder \in {"soon", "at_once"}
    /\ KeepFrom \in {"base", "latest", "any"} /\ UnknownAtEnd \in {"came", "wait", "none"}
    /\ {NumberAttempts, AskAgain, Credits, SignalFull, CountBytes, TellOnMerge, NameBranches, KeepMost, StandsIfBased, TellVacant,
        ContinueIfKept, HandSeen, ReportOwn, ReportKept, ForgetGone, DeclaredIsLast, TimerOnce, SafeIfDecided} \subseteq BOOLEAN
    /\ {Window, FullAt, MaxHeld, AskTime} \subseteq Nat \ {0} /\ FullAt <= MaxHeld

-----------------------------------------------------------------------------
(* Messages, and events that are passed up *)

\* In the order. `size`: the bytes of the payload, 1 at least. `standing`: the state that the sender has.
AppMessage(number, size, payload) == [type |-> "APP", number |-> number, size |-> size, payload |-> payload]
AskMessage(provider, attempt) == [type |-> "ASK", provider |-> provider, attempt |-> attempt]
TellMessage(view_id, standing) == [type |-> "TELL", view_id |-> view_id, standing |-> standing]

\* `stood`: the counter of the last formed view in which the state stood. `name`: members with equal names have equal states;
\* LacksName: none. `declared`: the state counts as declared; without a name: its application declares one. The formed views
\* with a counter above `after` and up to `upto` were vacant.
Standing(stood, name, declared, after, upto) ==
    [stood |-> stood, name |-> name, declared |-> declared, after |-> after, upto |-> upto]

\* By unicast. `seen`: of each member the number of the last message that is in the state.
PartMessage(attempt, number, data, last, seen, declared) ==
    [type |-> "PART", attempt |-> attempt, number |-> number, data |-> data, last |-> last, seen |-> seen, declared |-> declared]
CreditMessage(attempt, number) == [type |-> "CREDIT", attempt |-> attempt, number |-> number]
CannotMessage(attempt) == [type |-> "CANNOT", attempt |-> attempt]

Deliver(sender, payload) == PassUp([type |-> "Deliver", sender |-> sender, payload |-> payload])

\* To the application: mark the state as it is now; give a part of it; take a part; the parts that came are the state.
MarkState(to, attempt) == PassUp([type |-> "MarkState", to |-> to, attempt |-> attempt])
ReadPart(to, attempt, number) == PassUp([type |-> "ReadPart", to |-> to, attempt |-> attempt, number |-> number])
PutPart(number, data) == PassUp([type |-> "PutPart", number |-> number, data |-> data])
StateSet == PassUp([type |-> "StateSet"])

\* ... the marked state is not needed any more; its own messages up to this number are in the state that is set next; it is decided
\* that the state that it has is the group's, or is to be replaced; no member of the view gives a state; its own state is the
\* group's, and declared; take no more multicasts, and take them again; it ends (no reference does that).
FreeState(to) == PassUp([type |-> "FreeState", to |-> to])
OwnIsInState(number) == PassUp([type |-> "OwnIsInState", number |-> number])
StateKept == PassUp([type |-> "StateKept"])
StateDropped == PassUp([type |-> "StateDropped"])
NoState == PassUp([type |-> "NoState"])
StateDeclared == PassUp([type |-> "StateDeclared"])
Full == PassUp([type |-> "Full"])
Room == PassUp([type |-> "Room"])
Ends == PassUp([type |-> "Ends"])

\* As SAFE tells it: the own multicasts up to `number`, of which nothing was said yet, are safe; or nobody knows.
SafeUpTo(number) == PassUp([type |-> "SafeUpTo", number |-> number])
UnknownUpTo(number) == PassUp([type |-> "UnknownUpTo", number |-> number])

-----------------------------------------------------------------------------
(* State *)

Nobody == ""
LacksName == <<>>
NoneSeen == [m \in {} |-> 0]

Start(member) ==
    [member |-> member,         \* this member's address
     view |-> NoView,           \* the view installed
     sent |-> 0,                \* the number of its last message
     seen |-> NoneSeen,         \* of each member the number of the last message that is in the state
     has |-> FALSE,             \* the application has the state
     declared |-> FALSE,        \* the state counts as declared
     name |-> LacksName,        \* of the state, or of the state that is coming, when the view was installed
     formed |-> 0,              \* the counter of the last formed view that it knows
     base |-> 0,                \* ... of the formed view before that, as SEQUENCER says
     stood |-> 0,               \* ... of the last one in which its state stood, or the state that is coming
     after |-> 0, upto |-> 0,   \* formed views with a counter above the first, up to the second, were vacant
     settled |-> TRUE,          \* all members of the view that have a state have the same
     vacant |-> FALSE,          \* ... or all have told, and none has the state of the primary
     telling |-> FALSE,         \* its own TELL of this view did not come back yet
     declares |-> FALSE,        \* its application declares a state
     told |-> [m \in {} |-> 0], \* the standings that were told since the decision before
     attempt |-> 0,             \* the number of its last ASK
     provider |-> Nobody,       \* the member that it asks
     refused |-> {},            \* members that cannot give the state
     marked |-> FALSE,          \* the own ASK came: the cut
     parts |-> 0,               \* the number of parts that have come
     whole |-> FALSE,           \* the last one, too
     given |-> [seen |-> NoneSeen, declared |-> FALSE], \* of the state that is coming
     held |-> <<>>,             \* the messages after the cut
     bytes |-> 0,               \* ... and their bytes
     full |-> FALSE,            \* Full was passed up, and Room was not yet
     timer |-> FALSE,           \* the timer "ask" is set
     soon |-> FALSE,            \* the timer "soon" is set
     owes |-> FALSE,            \* it has yet to multicast its TELL
     came |-> 0,                \* how many own multicasts have come in the order
     said |-> 0,                \* the own multicasts up to this one were reported, safe or unknown
     safe |-> 0,                \* those up to this one are safe if the state is kept; 0: none waits for that
     giving |-> [m \in {} |-> 0]] \* of each member that it provides: the attempt, the next part, and the credit

\* Its view is formed, as far as it knows.
IsFormed(s) == s.view # NoView /\ s.formed = s.view.id.counter

IsMember(s, m) == \E i \in DOMAIN s.view.members : s.view.members[i] = m

Updated(function, m, value) == [x \in DOMAIN function \cup {m} |-> IF x = m THEN value ELSE function[x]]
Less(function, m) == [x \in DOMAIN function \ {m} |-> function[x]]

IsNew(seen, sender, number) == sender \notin DOMAIN seen \/ number > seen[sender]

-----------------------------------------------------------------------------
(* Asking *)

\* No transfer to this member.
Idle(s) == [s EXCEPT !.provider = Nobody, !.marked = FALSE, !.parts = 0, !.whole = FALSE,
                     !.given = [seen |-> NoneSeen, declared |-> FALSE], !.held = <<>>, !.bytes = 0,
                     !.full = FALSE]

\* ... and it takes multicasts again.
MakesRoom(s) == IF s.full THEN <<Room>> ELSE <<>>

\* The standing of a member in this view.
StandingOf(s) ==
    Standing(s.stood, IF s.has THEN s.name ELSE LacksName, s.declared \/ s.declares, s.after, s.upto)

Tell(s) == Multicast(TellMessage(s.view.id, StandingOf(s)))

\* It begins a choice of the state that is kept.
Begins(s) == [Idle(s) EXCEPT !.settled = FALSE, !.vacant = FALSE, !.telling = TRUE, !.told = [m \in {} |-> 0],
                             !.name = IF ~s.has THEN LacksName ELSE IF s.settled THEN <<s.view.id>> ELSE @]

\* Its view is formed: its state stands there, if it stood in the base. A view that follows a vacant one without a merge is vacant.
Stands(s) ==
    IF ~IsFormed(s) THEN s
    ELSE IF s.vacant THEN [s EXCEPT !.after = IF s.upto = s.base THEN @ ELSE s.base, !.upto = s.formed]
    ELSE IF s.stood >= s.base \/ ~StandsIfBased THEN [s EXCEPT !.stood = s.formed]
    ELSE s

\* Its view has no state of the primary. (A declaration may be on its way.)
Vacates(s) == Stands([Begins(s) EXCEPT !.telling = s.declares, !.vacant = TRUE])

SetsTimer(s) == IF s.timer /\ TimerOnce THEN <<>> ELSE <<SetTimer("ask", AskTime, AskTime)>>

\* Ask the first member of the view that may have the state. (If none has, and the view is formed, the members tell: it may be
\* vacant.)
Ask(s, before) ==
    LET May(m) == m # s.member /\ m \notin s.refused
        candidates == SelectSeq(s.view.members, May)
        idle == Idle(s)
        first == before \o MakesRoom(s)
    IN IF candidates = <<>> /\ IsFormed(s) /\ KeepFrom = "base" /\ DOMAIN s.told = {}
       THEN IF s.view.members = <<s.member>> THEN Handled(Vacates(s), first \o <<NoState>>)
            ELSE Handled(Begins(s), first \o <<Tell(Begins(s))>>)
       ELSE IF candidates = <<>>
       THEN Handled([idle EXCEPT !.timer = TRUE], first \o <<NoState>> \o SetsTimer(s))
       ELSE LET ask == AskMessage(Head(candidates), s.attempt + 1) IN
            Handled([idle EXCEPT !.attempt = @ + 1, !.provider = Head(candidates), !.marked = (AskBy = "unicast")],
                    first \o <<IF AskBy = "order" THEN Multicast(ask) ELSE Send(Head(candidates), ask)>>)

\* Ask in a step of its own.
SetsSoon(s) == IF s.soon THEN <<>> ELSE <<SetTimer("soon", 0, 0)>>
AskSoon(s, before) ==
    IF AnswerOrder = "at_once" THEN Ask(s, before)
    ELSE Handled([Idle(s) EXCEPT !.soon = TRUE], before \o MakesRoom(s) \o SetsSoon(s))

\* No transfer, until it is decided which state is kept.
Stop(s) == Handled(Idle(s), MakesRoom(s))

\* The messages that are not in the state.
RECURSIVE Fresh(_, _)
Fresh(seen, messages) ==
    IF messages = <<>> THEN <<>>
    ELSE LET x == Head(messages) IN
         IF IsNew(seen, x.sender, x.number)
         THEN <<x>> \o Fresh(Updated(seen, x.sender, x.number), Tail(messages))
         ELSE Fresh(seen, Tail(messages))

RECURSIVE SeenWith(_, _)
SeenWith(seen, messages) ==
    IF messages = <<>> THEN seen ELSE SeenWith(Updated(seen, Head(messages).sender, Head(messages).number), Tail(messages))

\* Own messages that are in the state, and that this member has not delivered.
OwnInState(s, seen) ==
    IF ReportOwn /\ s.member \in DOMAIN seen /\ IsNew(s.seen, s.member, seen[s.member])
    THEN <<OwnIsInState(seen[s.member])>> ELSE <<>>

\* The state is set if it is whole, the cut is known, and no other is to be chosen. The held messages follow.
InstallIfWhole(s, before) ==
    LET seen == IF HandSeen THEN s.given.seen ELSE s.seen
        fresh == Fresh(seen, s.held)
    IN IF s.whole /\ s.settled /\ (s.marked \/ InstallWhen = "whole")
       THEN Handled([Idle(s) EXCEPT !.has = TRUE, !.seen = SeenWith(seen, fresh), !.declared = s.given.declared, !.refused = {}],
                    before \o <<StateSet>> \o OwnInState(s, seen)
                    \o [i \in DOMAIN fresh |-> Deliver(fresh[i].sender, fresh[i].payload)] \o MakesRoom(s))
       ELSE Handled(s, before)

IsPresent(s, sender, attempt) == ~s.has /\ sender = s.provider /\ (NumberAttempts => attempt = s.attempt)

-----------------------------------------------------------------------------
(* One operator an event *)

\* The application multicasts.
SendRequested(s, e) ==
    IF s.view = NoView \/ (SendWhen = "has" /\ (~s.has \/ s.vacant)) THEN LocalError(s)
    ELSE Handled([s EXCEPT !.sent = @ + 1], <<Multicast(AppMessage(s.sent + 1, e.size, e.payload))>>)

\* A message of the application, in its place.
AppReceived(s, e) ==
    LET message == e.message
        held == Append(s.held, [sender |-> e.sender, number |-> message.number, payload |-> message.payload])
        bytes == s.bytes + IF CountBytes THEN message.size ELSE 1
        fills == SignalFull /\ ~s.full /\ bytes >= FullAt
    IN IF ~IsMember(s, e.sender) \/ message.number < 1 \/ message.size < 1 THEN RemoteError(s)
       ELSE IF s.has
       THEN IF IsNew(s.seen, e.sender, message.number) \/ ~HandSeen
            THEN Handled([s EXCEPT !.seen = Updated(@, e.sender, message.number)], <<Deliver(e.sender, message.payload)>>)
            ELSE Ignored(s)
       ELSE IF s.provider = Nobody \/ ~s.marked \/ AfterMarker = "dropped" THEN Ignored(s)
       ELSE IF s.bytes >= MaxHeld /\ OnOverflow = "asks_again" THEN IF s.settled THEN AskSoon(s, <<>>) ELSE Stop(s)
       ELSE Handled([s EXCEPT !.held = held, !.bytes = bytes, !.full = @ \/ fills], IF fills THEN <<Full>> ELSE <<>>)

\* This member is asked: the state is marked here, and the first part is read. (Members that lack a state ask again when it
\* is decided which one is kept.)
Provide(s, sender, attempt) ==
    IF ~s.settled /\ ~s.vacant THEN Ignored(s)
    ELSE IF ~s.has \/ s.vacant THEN Handled(s, <<Send(sender, CannotMessage(attempt))>>)
    ELSE Handled([s EXCEPT !.giving = Updated(@, sender, [attempt |-> attempt, number |-> 1, credit |-> Window, seen |-> s.seen])],
                 <<MarkState(sender, attempt), ReadPart(sender, attempt, 1)>>)

AskReceived(s, e) ==
    LET message == e.message IN
    IF ~IsMember(s, e.sender) \/ message.provider = e.sender THEN RemoteError(s)
    ELSE IF e.sender = s.member
    THEN IF s.has \/ s.provider = Nobody \/ s.marked \/ (NumberAttempts /\ message.attempt # s.attempt) THEN Ignored(s)
         ELSE InstallIfWhole([s EXCEPT !.marked = TRUE, !.stood = IF IsFormed(s) THEN s.formed ELSE @], <<>>)
    ELSE IF message.provider = s.member THEN Provide(s, e.sender, message.attempt)
    ELSE IF e.sender \in DOMAIN s.giving
    THEN Handled([s EXCEPT !.giving = Less(@, e.sender)], <<FreeState(e.sender)>>)
    ELSE Ignored(s)

\* The application gives a part of the state that it has marked.
PartRead(s, e) ==
    IF e.to \notin DOMAIN s.giving THEN Ignored(s)
    ELSE
    LET gift == s.giving[e.to]
        part == Send(e.to, PartMessage(e.attempt, e.number, e.data, e.last, gift.seen, s.declared))
        more == ReadPart(e.to, e.attempt, e.number + 1)
    IN IF e.attempt # gift.attempt \/ e.number # gift.number THEN Ignored(s)
       ELSE IF e.last THEN Handled([s EXCEPT !.giving = Less(@, e.to)], <<part>>)
       ELSE Handled([s EXCEPT !.giving[e.to].number = @ + 1],
                    IF e.number < gift.credit \/ ~Credits THEN <<part, more>> ELSE <<part>>)

\* ... or cannot: it raises, the state is too large.
PartFailed(s, e) ==
    IF e.to \notin DOMAIN s.giving THEN Ignored(s)
    ELSE IF e.attempt # s.giving[e.to].attempt THEN Ignored(s)
    ELSE Handled([s EXCEPT !.giving = Less(@, e.to)],
                 CASE OnFailure = "refuses" -> <<Send(e.to, CannotMessage(e.attempt))>>
                   [] OnFailure = "silent" -> <<>>
                   [] OnFailure = "ends" -> <<Ends>>)

PartReceived(s, e) ==
    LET message == e.message
        put == PutPart(message.number, message.data)
        took == [s EXCEPT !.parts = message.number, !.whole = message.last,
                          !.given = [seen |-> message.seen, declared |-> message.declared]]
    IN IF message.number < 1 THEN RemoteError(s)
       ELSE IF ~IsPresent(s, e.sender, message.attempt) \/ message.number # s.parts + 1 \/ s.whole THEN Ignored(s)
       ELSE IF message.last THEN InstallIfWhole(took, <<put>>)
       ELSE Handled(took, <<put, Send(e.sender, CreditMessage(message.attempt, message.number))>>)

\* The asker has taken parts up to this number.
CreditReceived(s, e) ==
    IF e.sender \notin DOMAIN s.giving THEN Ignored(s)
    ELSE
    LET gift == s.giving[e.sender]
        credit == e.message.number + Window
        stalled == gift.number > gift.credit
    IN IF e.message.attempt # gift.attempt \/ credit <= gift.credit \/ ~Credits THEN Ignored(s)
       ELSE Handled([s EXCEPT !.giving[e.sender].credit = credit],
                    IF stalled THEN <<ReadPart(e.sender, gift.attempt, gift.number)>> ELSE <<>>)

\* A provider cannot give the state.
CannotReceived(s, e) ==
    LET after == [s EXCEPT !.refused = @ \cup {e.sender}] IN
    IF ~IsPresent(s, e.sender, e.message.attempt) THEN Ignored(s)
    ELSE IF ~s.settled THEN Stop(after)
    ELSE IF OnRefusal = "waits" THEN Handled(Idle(after), MakesRoom(s) \o <<NoState>>)
    ELSE Ask(after, <<>>)

\* No member gave the state; perhaps one does now.
AskTimeout(s, e) ==
    LET after == [s EXCEPT !.timer = FALSE] IN
    IF ~s.timer THEN Ignored(s)
    ELSE IF s.has \/ ~s.settled \/ s.provider # Nobody \/ s.declares THEN Handled(after, <<>>)
    ELSE Ask([after EXCEPT !.refused = {}], <<>>)

-----------------------------------------------------------------------------
(* SAFE tells of own multicasts *)

\* It says so of these.
Says(s, n) == [s EXCEPT !.said = n, !.safe = 0]

SafeToldUpTo(s, e) ==
    IF e.number <= s.said THEN Ignored(s)
    ELSE IF s.settled \/ ~SafeIfDecided THEN Handled(Says(s, e.number), <<PassUp(e)>>)
    ELSE Handled([s EXCEPT !.safe = e.number], <<>>)

\* (What waits counts as unknown, too.)
UnknownToldUpTo(s, e) == IF e.number <= s.said THEN Ignored(s) ELSE Handled(Says(s, e.number), <<PassUp(e)>>)

\* What waits is told in the step that decides.
Tells(s, step) ==
    IF s.safe = 0 \/ ~step.state.settled THEN step
    ELSE Handled(Says(step.state, s.safe), Append(step.effects, SafeUpTo(s.safe)))

\* Of these nobody knows when the view ends.
Doubts(s) ==
    IF s.settled THEN 0
    ELSE CASE UnknownAtEnd = "came" -> IF s.came > s.said THEN s.came ELSE 0
           [] UnknownAtEnd = "wait" -> s.safe
           [] UnknownAtEnd = "none" -> 0

-----------------------------------------------------------------------------
(* Views, and which state is kept where they merge *)

\* The name of the state that a member of view `s.view` leaves it with. A state that is coming from a provider has the name that
\* the provider's state has, if the provider takes the same way.
NameAfter(s) ==
    IF ~s.has /\ ~s.marked THEN LacksName
    ELSE IF s.settled THEN <<s.view.id>>
    ELSE IF NameBranches THEN Append(s.name, s.view.id) ELSE s.name

\* All that have a state have one, and it is not that of the primary: a member that was cut off, and members that have joined it.
IsStale(s) == KeepFrom = "base" /\ IsFormed(s) /\ s.settled /\ s.has /\ s.stood < s.base

\* No member of its view can give it a state.
LacksAlone(s) == IsFormed(s) /\ s.view.members = <<s.member>> /\ s.settled /\ ~s.has /\ KeepFrom = "base"

\* Messages are ordered in this view from now on. (SEQUENCER may form a view before it passes it up.) `before`: the counter of
\* its base.
ViewFormed(s, e) ==
    LET after == Stands([s EXCEPT !.formed = e.view_id.counter, !.base = e.before])
    IN IF e.view_id.counter <= s.formed \/ e.before \notin 0 .. e.view_id.counter - 1 THEN LocalError(s)
       ELSE IF IsStale(after) \/ LacksAlone(after) THEN Handled(Vacates(after), <<PassUp(e), NoState>>)
       ELSE Handled(after, <<PassUp(e)>>)

Tellers(told, name) == {m \in DOMAIN told : told[m].name = name}

\* The last formed view before this one that was not vacant.
Wanted(s, told) ==
    LET base == IF IsFormed(s) THEN s.base ELSE 0
        IsVacant(n) == TellVacant /\ \E m \in DOMAIN told : told[m].after < n /\ n <= told[m].upto
    IN CHOOSE n \in 0 .. base : (n = 0 \/ ~IsVacant(n)) /\ \A i \in n + 1 .. base : IsVacant(i)

\* The members that have the state that is kept. Of two states with equal rank it is that of the more senior member. Where no
\* member has a state, it is the first member that declares one.
KeptBy(s, told) ==
    LET list == s.view.members
        named == {i \in DOMAIN list : told[list[i]].name # LacksName}
        declarers == {i \in DOMAIN list : told[list[i]].declared}
        wanted == Wanted(s, told)
        based == {i \in IF DeclaredIsLast THEN named \ declarers ELSE named : told[list[i]].stood >= wanted}
        grown == IF KeepFrom = "base" /\ (based # {} \/ declarers = {}) THEN based
                 ELSE IF DeclaredIsLast /\ named \ declarers # {} THEN named \ declarers ELSE named
        latest == {i \in grown : KeepFrom = "any" \/ \A j \in grown : told[list[j]].stood <= told[list[i]].stood}
        most == {i \in latest :
                    ~KeepMost \/ \A j \in latest :
                        Cardinality(Tellers(told, told[list[j]].name)) <= Cardinality(Tellers(told, told[list[i]].name))}
        First(set) == list[CHOOSE i \in set : \A j \in set : i <= j]
    IN IF grown # {} THEN Tellers(told, told[First(most)].name)
       ELSE IF declarers # {} THEN {First(declarers)}
       ELSE {}

\* This member stops to provide some, in the order of its view.
Freed(s, gone) ==
    LET Goes(m) == m \in DOMAIN s.giving /\ m \in gone
        list == SelectSeq(s.view.members, Goes)
    IN [i \in DOMAIN list |-> FreeState(list[i])]

\* The state that a member has is the one that is kept.
Kept == IF ReportKept THEN <<StateKept>> ELSE <<>>

\* ... or the state that comes.
Continues(s, told, holders) ==
    /\ ContinueIfKept /\ s.marked /\ s.provider \in holders /\ told[s.provider].name = s.name

\* All have told: members without the kept state lack it from here on, and ask. If none is kept, the view is vacant.
Decided(s, told) ==
    LET holders == KeptBy(s, told)
        none == [s EXCEPT !.told = told, !.vacant = TRUE, !.telling = FALSE, !.declares = FALSE]
        done == [s EXCEPT !.told = told, !.settled = TRUE, !.telling = FALSE, !.declares = FALSE, !.refused = {},
                          !.stood = IF IsFormed(s) THEN s.formed ELSE @]
        lacks == [done EXCEPT !.has = FALSE, !.declared = FALSE, !.refused = DOMAIN told \ holders, !.giving = [m \in {} |-> 0]]
        freed == Freed(s, DOMAIN s.giving)
        goesOn == s.has /\ (s.declared \/ KeepFrom # "base" \/ \E m \in holders : told[m].stood >= Wanted(s, told))
    IN IF holders = {}
       THEN Handled(IF IsFormed(s) THEN [none EXCEPT !.after = Wanted(s, told), !.upto = s.formed] ELSE none, <<NoState>>)
       ELSE IF s.member \in holders
       THEN IF goesOn THEN Handled(done, Kept)
            ELSE Handled([done EXCEPT !.has = TRUE, !.declared = TRUE], <<StateDeclared>>)
       ELSE IF Continues(s, told, holders) THEN InstallIfWhole(done, <<>>)
       ELSE AskSoon(lacks, freed \o (IF s.has THEN <<StateDropped>> ELSE <<>>))

\* A TELL begins a choice at a member that does not know that the others have yet to choose, or where an application declares a
\* state. It ends transfers: members ask again when it is decided.
Joins(s) == [Begins(s) EXCEPT !.owes = ~s.telling /\ AnswerOrder = "soon", !.soon = @ \/ (~s.telling /\ AnswerOrder = "soon")]

TellReceived(s, e) ==
    LET message == e.message
        begins == s.settled \/ s.vacant
        after == IF begins THEN Joins(s) ELSE s
        told == Updated(after.told, e.sender, message.standing)
        heard == [after EXCEPT !.told = told, !.telling = @ /\ e.sender # s.member]
        room == IF begins THEN MakesRoom(s) ELSE <<>>
        tells == IF ~begins \/ s.telling THEN <<>> ELSE IF AnswerOrder = "soon" THEN SetsSoon(s) ELSE <<Tell(after)>>
    IN IF message.view_id # s.view.id THEN Ignored(s)
       ELSE IF ~IsMember(s, e.sender) THEN RemoteError(s)
       ELSE IF ~begins /\ e.sender \in DOMAIN s.told THEN Ignored(s)
       ELSE IF DOMAIN told = MembersOf(s.view)
       THEN LET decided == Tells(heard, Decided(heard, told)) IN Handled(decided.state, room \o decided.effects)
       ELSE Handled(heard, room \o tells)

\* A multicast that a message of the order has caused.
SoonTimeout(s, e) ==
    LET after == [s EXCEPT !.soon = FALSE, !.owes = FALSE] IN
    IF ~s.soon THEN Ignored(s)
    ELSE IF s.owes THEN Handled(after, <<Tell(s)>>)
    ELSE IF s.has \/ ~s.settled \/ s.provider # Nobody \/ s.declares THEN Handled(after, <<>>)
    ELSE Ask(after, <<>>)

\* The application declares its own state where no member gives one.
DeclareRequested(s, e) ==
    LET lacks == s.settled /\ ~s.has /\ s.provider = Nobody
        after == [s EXCEPT !.declares = TRUE, !.telling = TRUE, !.name = IF s.has THEN @ ELSE LacksName]
    IN IF s.view = NoView \/ s.declares \/ ~(lacks \/ s.vacant) THEN LocalError(s)
       ELSE Handled(after, <<Tell(after)>>)

ViewInstalled(s, e) ==
    LET now == MembersOf(e.view)
        alone == now = {s.member}
        founds == alone /\ ~s.has /\ (s.view = NoView \/ FoundsWhen = "alone")
        merges == e.type = "MergeViewInstalled"
        vacant == s.vacant /\ ~merges
        doubts == Doubts(s)
        unsettled == TellOnMerge /\ ~alone /\ ~vacant /\ (merges \/ ~s.settled)
        entered == Stands([s EXCEPT !.view = e.view, !.has = @ \/ founds, !.name = NameAfter(s),
                             !.settled = ~unsettled /\ ~vacant, !.vacant = vacant,
                             !.seen = LatestLives(@, now), !.telling = unsettled, !.owes = FALSE, !.declares = FALSE, !.told = [m \in {} |-> 0], !.refused = {},
                             !.said = IF doubts > 0 THEN doubts ELSE @, !.safe = IF UnknownAtEnd = "none" THEN @ ELSE 0,
                             !.giving = IF ForgetGone THEN [m \in DOMAIN @ \cap now |-> @[m]] ELSE @])
        unknown == IF doubts > 0 THEN <<UnknownUpTo(doubts)>> ELSE <<>>
        freed == unknown \o (IF ForgetGone THEN Freed(s, DOMAIN s.giving \ now) ELSE <<>>)
        \* (A provider ignores an ASK that comes before the decision.)
        stays == s.provider \in now /\ (~unsettled \/ (s.marked /\ ContinueIfKept))
        after == IF stays THEN entered ELSE Idle(entered)
        room == IF stays THEN <<>> ELSE MakesRoom(s)
        \* It founds a group, or is alone where a choice was open.
        kept == IF entered.has /\ entered.settled /\ ~(s.has /\ s.settled) THEN Kept ELSE <<>>
    IN IF s.member \notin now \/ e.view.id.counter <= s.view.id.counter THEN LocalError(s)
       ELSE IF unsettled THEN Handled(after, freed \o room \o <<Tell(after)>>)
       ELSE IF IsStale(entered) THEN Handled(Vacates(entered), freed \o <<NoState>>)
       ELSE IF entered.has \/ vacant THEN Handled(Idle(entered), freed \o kept)
       ELSE IF stays THEN Handled(entered, freed)
       ELSE IF ~AskAgain /\ s.provider # Nobody THEN Handled(entered, freed)
       ELSE Ask(entered, freed)

-----------------------------------------------------------------------------
(* Step: total over the alphabet *)

StepOf(s, e) ==
    CASE e.type = "SendRequested" -> SendRequested(s, e)
      [] e.type = "AppReceived" -> AppReceived(s, e)
      [] e.type = "AskReceived" -> AskReceived(s, e)
      [] e.type = "TellReceived" -> TellReceived(s, e)
      [] e.type = "PartRead" -> PartRead(s, e)
      [] e.type = "PartFailed" -> PartFailed(s, e)
      [] e.type = "PartReceived" -> PartReceived(s, e)
      [] e.type = "CreditReceived" -> CreditReceived(s, e)
      [] e.type = "CannotReceived" -> CannotReceived(s, e)
      [] e.type = "AskTimeout" -> AskTimeout(s, e)
      [] e.type = "SoonTimeout" -> SoonTimeout(s, e)
      [] e.type = "DeclareRequested" -> DeclareRequested(s, e)
      [] e.type = "SafeUpTo" -> SafeToldUpTo(s, e)
      [] e.type = "UnknownUpTo" -> UnknownToldUpTo(s, e)
      [] e.type = "ViewFormed" -> ViewFormed(s, e)
      [] e.type \in {"ViewInstalled", "MergeViewInstalled"} -> ViewInstalled(s, e)

\* A member counts its own messages of the order, whatever they do.
Step(s, e) ==
    LET step == StepOf(s, e) IN
    IF e.type \in {"AppReceived", "AskReceived", "TellReceived"} /\ e.sender = s.member /\ step.outcome # "remote_error"
    THEN Handled([step.state EXCEPT !.came = @ + 1], step.effects)
    ELSE step
=============================================================================
