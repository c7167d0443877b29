-------------------------------- MODULE Safe --------------------------------
(***************************************************************************)
(* SAFE, one member: a pure function of its own state and an event. It     *)
(* stands above SEQUENCER, and tells a sender when its messages are safe.  *)
(*                                                                         *)
(* Theory. A member numbers its multicasts. Each receiver acknowledges to  *)
(* the sender, by unicast, that it has delivered them up to a number       *)
(* (ACK). What all members of the view have acknowledged is safe: whoever  *)
(* crashes, every member that goes on to another view has delivered it.    *)
(*                                                                         *)
(* What was not acknowledged by all when the view ends has still been      *)
(* delivered by all that go on together (TotalOrderBroadcast): it is safe  *)
(* in the next view. With Majority it is safe there as soon as all members *)
(* know that the view is formed. (If the sender alone knows, the others    *)
(* may go on from a view before, with a member that lacks the message.)    *)
(* So a member acknowledges a view that is formed, too.                    *)
(*                                                                         *)
(* Where views merge, a member cannot know which of them went on. All      *)
(* members of the merged view say how much they have delivered of each     *)
(* other. What all members of the former view have is safe. If one of them *)
(* is not there, or has less, the sender is told that nobody knows         *)
(* (Unknown). By these answers the sender hears, too, of a message that    *)
(* the others had before the merge, and do not deliver again.              *)
(*                                                                         *)
(* No message waits: SAFE passes up each as it comes.                      *)
(***************************************************************************)
EXTENDS Views, Steps, Integers, FiniteSets

CONSTANT
    Majority        \* option of SEQUENCER: a view goes on when it is formed

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
AckOf == "all"             \* who has to acknowledge: "all" members, a "majority", or the sender "alone"
CountIn == "present"       \* ... of the "present" view, or of the "first" that the sender has installed
CountOwn == TRUE           \* the sender itself has delivered it, too
AtNextView == TRUE         \* what was delivered in a view is safe in the next one
SafeWhen == "all"          \* ... with Majority when "all" its members know that it is formed, when the "sender" knows, or when
                           \* the view is "installed"
MergeDecides == "answers"  \* where views merge the "answers" of the former view's members decide; or "nothing": it is taken
                           \* for any other view
AnswerView == TRUE         \* members of a merged view, with Majority of any formed one, say how much they have
AllAreThere == TRUE        \* no answer is awaited of members that are not there
LessIsUnknown == TRUE      \* an answer that says less ends the wait
KeepEarly == TRUE          \* an ACK of a view that is not installed yet is kept

ASSUME
    /\ AckOf \in {"all", "majority", "alone"} /\ CountIn \in {"present", "first"} /\ MergeDecides \in {"answers", "nothing"}
    /\ SafeWhen \in {"all", "sender", "installed"}
    /\ {Majority, CountOwn, AtNextView, AnswerView, AllAreThere, LessIsUnknown, KeepEarly} \subseteq BOOLEAN

-----------------------------------------------------------------------------
(* Messages, and events that are passed up *)

\* In the order.
DataMessage(number, payload) == [type |-> "DATA", number |-> number, payload |-> payload]

\* By unicast: its sender has delivered the receiver's multicasts up to `number`. `view_id`: where it says so. With Majority it
\* knows that this view is formed.
AckMessage(view_id, number) == [type |-> "ACK", view_id |-> view_id, number |-> number]

Deliver(sender, payload) == PassUp([type |-> "Deliver", sender |-> sender, payload |-> payload])

\* The own multicasts up to `number`, of which nothing was said yet, are safe; or nobody knows.
SafeUpTo(number) == PassUp([type |-> "SafeUpTo", number |-> number])
UnknownUpTo(number) == PassUp([type |-> "UnknownUpTo", number |-> number])

-----------------------------------------------------------------------------
(* Local state *)

Start(member) ==
    [member |-> member,
     view |-> NoView,               \* the installed view
     formed |-> NoViewId,           \* the last view that was formed, which may not be installed yet
     sent |-> 0,                    \* how many own multicasts there are
     had |-> [x \in {} |-> 0],      \* of each member the number of its last multicast that was delivered
     told |-> 0,                    \* the own multicasts up to this one were reported, safe or unknown
     before |-> 0,                  \* those up to this one were delivered in a view before the present one
     among |-> {},                  \* the members of the view in which those after `told` were delivered
     asks |-> FALSE,                \* the answers of these decide
     acks |-> [x \in {} |-> 0]]     \* of each member the last ACK, of the present view or a later one

Entry(function, key, default) == IF key \in DOMAIN function THEN function[key] ELSE default
Updated(function, key, value) == [x \in DOMAIN function \cup {key} |-> IF x = key THEN value ELSE function[x]]

IsMember(s, m) == \E i \in DOMAIN s.view.members : s.view.members[i] = m
Own(s) == Entry(s.had, s.member, 0)

\* The others of those that have to acknowledge, as far as they have acknowledged in the present view.
Heard(s) == {m \in DOMAIN s.acks \cap s.among : s.acks[m].view_id = s.view.id}
Others(s) == s.among \ {s.member}

\* Messages are ordered in its view, as far as it knows.
IsOpen(s) == ~Majority \/ s.formed = s.view.id

\* All members of its view know that it is formed.
AllKnow(s) ==
    SafeWhen = "all" => \A m \in MembersOf(s.view) \ {s.member} : m \in DOMAIN s.acks /\ s.acks[m].view_id = s.view.id

\* Own messages up to n, delivered in this view, are acknowledged.
HasAcks(s, n) ==
    LET have == {m \in Heard(s) : s.acks[m].number >= n} \cup {s.member}
    IN CASE AckOf = "all" -> s.among \subseteq have
         [] AckOf = "majority" -> 2 * Cardinality(have \cap s.among) > Cardinality(s.among)
         [] AckOf = "alone" -> TRUE

\* The highest own message that is safe.
Acked(s) ==
    LET limit == IF CountOwn THEN Own(s) ELSE s.sent
        all == {n \in s.told + 1 .. limit : IF n <= s.before THEN AllKnow(s) ELSE HasAcks(s, n)}
    IN IF all = {} THEN s.told ELSE CHOOSE n \in all : \A i \in all : i <= n

\* What is not reported was delivered in this view.
Settled(s) ==
    [s EXCEPT !.asks = FALSE, !.among = IF CountIn = "first" /\ s.among # {} THEN s.among ELSE MembersOf(s.view)]

\* What was delivered before the merge: the answers decide.
Answered(s, effects) ==
    IF ~s.asks THEN Handled(s, effects)
    ELSE IF LessIsUnknown /\ \E m \in Heard(s) \ {s.member} : s.acks[m].number < s.before
    THEN Handled([Settled(s) EXCEPT !.told = s.before], Append(effects, UnknownUpTo(s.before)))
    ELSE IF \A m \in Others(s) : m \in Heard(s) /\ s.acks[m].number >= s.before
    THEN Handled([Settled(s) EXCEPT !.told = s.before], Append(effects, SafeUpTo(s.before)))
    ELSE Handled(s, effects)

\* Report what can be reported now, after these effects. (An answer is the first ACK of a view. It may come before this member knows
\* that the view is formed, and another ACK after it.)
Report(s, effects) ==
    LET first == Answered(s, effects)
        t == first.state
        n == Acked(t)
    IN IF t.asks \/ ~IsOpen(t) \/ n = t.told THEN first
       ELSE Handled([t EXCEPT !.told = n, !.before = n], Append(first.effects, SafeUpTo(n)))

-----------------------------------------------------------------------------
(* Events *)

\* The layer above multicasts.
SendRequested(s, e) ==
    IF s.view = NoView THEN LocalError(s)
    ELSE Handled([s EXCEPT !.sent = @ + 1], <<Multicast(DataMessage(s.sent + 1, e.payload))>>)

\* A multicast, in its place.
DataReceived(s, e) ==
    IF ~IsMember(s, e.sender) \/ e.message.number < 1 THEN RemoteError(s)
    ELSE LET after == [s EXCEPT !.had = Updated(@, e.sender, e.message.number)]
             up == <<Deliver(e.sender, e.message.payload)>>
         IN IF e.sender = s.member THEN Report(IF s.asks THEN after ELSE Settled(after), up)
            ELSE Handled(after, Append(up, Send(e.sender, AckMessage(s.view.id, e.message.number))))

AckReceived(s, e) ==
    LET id == e.message.view_id IN
    IF id # s.view.id /\ id.counter <= s.view.id.counter THEN Ignored(s)
    ELSE IF id # s.view.id /\ ~KeepEarly THEN Ignored(s)
    ELSE IF (id = s.view.id /\ ~IsMember(s, e.sender)) \/ e.message.number > s.sent THEN RemoteError(s)
    ELSE LET after == [s EXCEPT !.acks = Updated(@, e.sender, e.message)]
         IN IF id = s.view.id THEN Report(after, <<>>) ELSE Handled(after, <<>>)

\* It says to each other member of its view how much it has of it.
Says(s) ==
    LET IsOther(m) == m # s.member
        others == SelectSeq(s.view.members, IsOther)
    IN IF AnswerView THEN [i \in DOMAIN others |-> Send(others[i], AckMessage(s.view.id, Entry(s.had, others[i], 0)))] ELSE <<>>

\* A view is formed; SEQUENCER may say so before the view is passed up.
ViewFormed(s, e) ==
    LET after == [s EXCEPT !.formed = e.view_id]
        up == <<PassUp(e)>>
    IN IF ~Majority THEN LocalError(s)
       ELSE IF e.view_id # s.view.id THEN Handled(after, up)
       ELSE Report(after, up \o Says(s))

\* What is still undecided from before a merge is not known any more.
GivesUp(s) ==
    IF s.asks THEN [s EXCEPT !.told = s.before, !.among = MembersOf(s.view), !.asks = FALSE] ELSE s

ViewInstalled(s, e) ==
    LET now == MembersOf(e.view)
        merged == e.type = "MergeViewInstalled"
        mayAsk == merged /\ MergeDecides = "answers"
        s1 == GivesUp(s)
        open == Own(s1) > s1.told
        given == IF s1.told = s.told THEN <<>> ELSE <<UnknownUpTo(s.before)>>
        entered == [s1 EXCEPT !.view = e.view, !.before = Own(s1), !.asks = FALSE,
                              !.had = LatestLives(@, now),
                              !.acks = [m \in {m \in DOMAIN @ : @[m].view_id = e.view.id \/ @[m].view_id.counter > e.view.id.counter}
                                          |-> @[m]]]
        says == IF IsOpen(entered) /\ (merged \/ Majority) THEN Says(entered) ELSE <<>>
        ends(what) == Handled([Settled(entered) EXCEPT !.told = Own(s1)], given \o <<what>> \o says)
    IN IF s.member \notin now \/ e.view.id.counter <= s.view.id.counter THEN LocalError(s)
       ELSE IF ~open THEN Handled(Settled(entered), given \o says)
       ELSE IF mayAsk
       THEN IF AllAreThere /\ ~(s1.among \subseteq now) THEN ends(UnknownUpTo(Own(s1)))
            ELSE Report([entered EXCEPT !.asks = TRUE], given \o says)
       ELSE IF AtNextView /\ (~Majority \/ SafeWhen = "installed") THEN ends(SafeUpTo(Own(s1)))
       ELSE Report(entered, given \o says)

-----------------------------------------------------------------------------
Step(s, e) ==
    CASE e.type = "SendRequested" -> SendRequested(s, e)
      [] e.type = "DataReceived" -> DataReceived(s, e)
      [] e.type = "AckReceived" -> AckReceived(s, e)
      [] e.type = "ViewFormed" -> ViewFormed(s, e)
      [] e.type \in {"ViewInstalled", "MergeViewInstalled"} -> ViewInstalled(s, e)
=============================================================================
