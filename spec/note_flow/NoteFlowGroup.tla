----------------------------- MODULE NoteFlowGroup -----------------------------
(***************************************************************************)
(* Members of a view that send. The layers below are abstract, each by     *)
(* what it gives: one order of all multicasts (SEQUENCER), what all have   *)
(* (STABLE), and a flush before each view (FLUSH), for which a member is   *)
(* asked to stop (BLOCK).                                                  *)
(*                                                                         *)
(* Positions are relative: what all members have purged is forgotten, so   *)
(* that members may send without end.                                      *)
(***************************************************************************)
EXTENDS NoteFlow, Acts, FiniteSets, Sequences

CONSTANTS
    Member,         \* all addresses
    First,          \* the members of the first view; another one joins
    Senders,        \* bound: the members whose applications send
    Sizes,          \* bound: the bytes of a message
    Handlers,       \* bound: the members whose applications send a message when they are asked to stop
    AwaitsHandler,  \* a member has stopped when its application has returned from that
    VoteWhen,       \* a member's vote is fixed when it has "heard" the last announcement, or at the "announcement"
    Excludes,       \* a member whose application takes nothing is excluded
    StateInFlush,   \* the flush for a joiner lasts until its application has the state
    SlowJoiner,     \* bound: the joiner's application does not come to an end with the state
    MaxHung,        \* fault budget: applications that take nothing any more
    MaxSends,       \* bound: the messages that applications send of themselves; 0: they send without end
    MaxCrashes,     \* fault budget
    MaxMisuses      \* fault budget: callers' and peers' mistakes

VARIABLES
    up,             \* the members that have not crashed
    hung,           \* the members whose applications take nothing
    in_view,        \* the members of the view
    log,            \* the multicasts of the view in their order, [by, size], from the first that some member keeps
    at,             \* [Member -> how many of them it has delivered]
    heard,          \* [Member -> up to where it has purged]
    vote,           \* [Member -> its vote: what it has delivered]
    announced,      \* up to where all have voted
    news,           \* the members that have not heard the last announcement
    flying,         \* [Member -> the sizes of its multicasts that are not ordered yet]
    credits,        \* [Member -> [Member -> bytes for which the first has sent credit that the second has not received]]
    stage,          \* "run", "stop" (a flush is under way) or "state" (the flush waits for a joiner's state)
    stopped,        \* the members that have stopped
    handling,       \* the members whose application has not returned from being asked to stop
    spent           \* fault budgets used

vars == <<local, act, up, hung, in_view, log, at, heard, vote, announced, news, flying, credits, stage, stopped, handling, spent>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, up, hung, in_view, log, at, heard, vote, announced, news, flying, credits, stage, stopped, handling, spent>>

Zero == [m \in Member |-> 0]
Least(set) == CHOOSE x \in set : \A y \in set : x <= y

RECURSIVE BytesOf(_)
BytesOf(list) == IF list = <<>> THEN 0 ELSE Head(list).size + BytesOf(Tail(list))

\* The members that take part.
Takes(m) == m \in (up \cap in_view) \ hung

\* The members of the view that are not in the next one.
Gone == in_view \ (IF Excludes THEN up \ hung ELSE up)
Joins == IF stage = "state" THEN {} ELSE (up \ First) \ in_view

-----------------------------------------------------------------------------
(* Applying Step to one member *)

Casts(effects) == SelectSeq(effects, LAMBDA f : f.type = "Multicast")
Credited(effects, m) == {f.message.size : f \in {effects[i] : i \in {i \in DOMAIN effects :
                                                    effects[i].type = "Send" /\ effects[i].to = m}}}

Apply(action, m, event) ==
    \E step \in {Step(local[m], event)} :
        /\ Take(action, m, None, event, {}, step)
        /\ flying' = [flying EXCEPT ![m] = @ \o [i \in DOMAIN Casts(step.effects) |-> Casts(step.effects)[i].message.size]]
        /\ credits' = [credits EXCEPT ![m] = [x \in Member |-> @[x] + (IF Credited(step.effects, x) = {} THEN 0
                                                                    ELSE Least(Credited(step.effects, x)))]]

Places == <<log, at, heard, vote, announced, news>>
Stops == <<in_view, stage, stopped, handling>>
Faults == <<up, hung>>

-----------------------------------------------------------------------------
(* Sending *)

AppSends(m) ==
    /\ Takes(m) /\ m \in Senders /\ local[m].waits = "no" /\ m \notin handling
    /\ MaxSends # 0 => spent.sends < MaxSends
    /\ \E size \in Sizes : Apply("AppSends", m, [type |-> "SendRequested", size |-> size])
    /\ spent' = [spent EXCEPT !.sends = IF MaxSends = 0 THEN 0 ELSE @ + 1]
    /\ UNCHANGED <<Places, Stops, Faults>>

TakeTurn(m) ==
    /\ Takes(m) /\ MayTakeTurn(local[m])
    /\ Apply("TakeTurn", m, [type |-> "TurnTaken"])
    /\ UNCHANGED <<Places, Stops, Faults, spent>>

\* A member that has stopped multicasts in the next view.
Order(m) ==
    /\ m \in in_view \cap up /\ flying[m] # <<>> /\ stage # "state" /\ m \notin stopped
    /\ log' = Append(log, [by |-> m, size |-> Head(flying[m])])
    /\ flying' = [flying EXCEPT ![m] = Tail(@)]
    /\ Environment("Order", m, None, {})
    /\ UNCHANGED <<local, at, heard, vote, announced, news, credits, Stops, Faults, spent>>

Deliver(m) ==
    /\ Takes(m) /\ at[m] < Len(log)
    /\ at' = [at EXCEPT ![m] = @ + 1]
    /\ Apply("Deliver", m, [type |-> "DataReceived", sender |-> log[at[m] + 1].by, message |-> Data(log[at[m] + 1].size)])
    /\ UNCHANGED <<log, heard, vote, announced, news, Stops, Faults, spent>>

ReceiveCredit(m) ==
    /\ Takes(m)
    /\ \E x \in Member :
        /\ credits[x][m] > 0
        /\ \E step \in {Step(local[m], [type |-> "CreditReceived", sender |-> x, message |-> CreditMessage(credits[x][m])])} :
            /\ Take("ReceiveCredit", m, None,
                    [type |-> "CreditReceived", sender |-> x, message |-> CreditMessage(credits[x][m])], {}, step)
            /\ credits' = [credits EXCEPT ![x][m] = 0]
    /\ UNCHANGED <<flying, Places, Stops, Faults, spent>>

-----------------------------------------------------------------------------
(* What all have. A vote is for what its member has delivered; the least of the last votes is announced. *)

Vote(m) == IF VoteWhen = "heard" THEN vote[m] ELSE at[m]

\* An announcement without news for a member would be the one before again.
Announce ==
    /\ stage = "run"
    /\ Least({Vote(m) : m \in in_view}) > announced \/ \E m \in in_view : at[m] > Vote(m) /\ m \notin news
    /\ announced' = Least({Vote(m) : m \in in_view})
    /\ news' = in_view
    /\ Environment("Announce", "", None, {})
    /\ UNCHANGED <<local, log, at, heard, vote, flying, credits, Stops, Faults, spent>>

\* A round ends, and the next begins with a vote anew.
Hear(m) ==
    /\ Takes(m) /\ m \in news
    /\ \E now \in {[heard EXCEPT ![m] = announced]} :
       \E past \in {Least({now[x] : x \in in_view})} :
        /\ log' = SubSeq(log, past + 1, Len(log))
        /\ at' = [x \in Member |-> IF x \in in_view THEN at[x] - past ELSE 0]
        /\ heard' = [x \in Member |-> IF x \in in_view THEN now[x] - past ELSE 0]
        /\ vote' = [x \in Member |-> IF x \notin in_view THEN 0 ELSE (IF x = m THEN at[m] ELSE vote[x]) - past]
        /\ announced' = announced - past
    /\ news' = news \ {m}
    /\ Apply("Hear", m, [type |-> "Purged", size |-> BytesOf(SubSeq(log, heard[m] + 1, announced))])
    /\ UNCHANGED <<Stops, Faults, spent>>

-----------------------------------------------------------------------------
(* Views *)

\* A flush begins for a view without those that are gone, or with a joiner.
BeginStop ==
    /\ stage # "stop" /\ Gone \cup Joins # {}
    /\ stage' = "stop"
    /\ Environment("BeginStop", "", None, {})
    /\ UNCHANGED <<local, in_view, stopped, handling, flying, credits, Places, Faults, spent>>

\* The runtime answers for its application. By the note the application is called, and may send.
Block(m) ==
    /\ Takes(m) /\ stage = "stop" /\ m \notin stopped \cup handling
    /\ IF m \in Handlers /\ local[m].waits = "no"
       THEN \E size \in Sizes : Apply("Block", m, [type |-> "SendRequested", size |-> size])
       ELSE Environment("Block", m, None, {}) /\ UNCHANGED <<local, flying, credits>>
    /\ handling' = IF m \in Handlers THEN handling \cup {m} ELSE handling
    /\ stopped' = IF m \in Handlers /\ AwaitsHandler THEN stopped ELSE stopped \cup {m}
    /\ UNCHANGED <<in_view, stage, Places, Faults, spent>>

\* Its message has begun.
Return(m) ==
    /\ Takes(m) /\ m \in handling /\ local[m].waits = "no"
    /\ handling' = handling \ {m}
    /\ stopped' = IF stage = "stop" THEN stopped \cup {m} ELSE stopped
    /\ Environment("Return", m, None, {})
    /\ UNCHANGED <<local, in_view, stage, flying, credits, Places, Faults, spent>>

Install ==
    /\ stage = "stop"
    /\ \A m \in in_view \ Gone : m \in stopped /\ at[m] = Len(log)
    /\ \E next \in {(in_view \ Gone) \cup Joins} :
        /\ in_view' = next
        /\ stage' = IF StateInFlush /\ Joins # {} THEN "state" ELSE "run"
        /\ local' = [m \in Member |-> IF m \in next THEN Step(local[m], [type |-> "ViewInstalled", members |-> next]).state
                                      ELSE Start(m)]
        /\ flying' = [m \in Member |-> IF m \in next THEN flying[m] ELSE <<>>]
        /\ handling' = handling \cap next
    /\ log' = <<>> /\ at' = Zero /\ heard' = Zero /\ vote' = Zero /\ announced' = 0 /\ news' = {} /\ stopped' = {}
    /\ credits' = [m \in Member |-> Zero]
    /\ Environment("Install", "", None, {})
    /\ UNCHANGED <<Faults, spent>>

\* The joiner's application has the state, and the group may run on.
TakeState ==
    /\ stage = "state" /\ ~SlowJoiner
    /\ stage' = "run"
    /\ Environment("TakeState", "", None, {})
    /\ UNCHANGED <<local, in_view, stopped, handling, flying, credits, Places, Faults, spent>>

-----------------------------------------------------------------------------
(* Faults *)

Crash(m) ==
    /\ m \in up /\ spent.crashes < MaxCrashes
    /\ up' = up \ {m}
    /\ spent' = [spent EXCEPT !.crashes = @ + 1]
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, hung, flying, credits, Places, Stops>>

Hang(m) ==
    /\ m \in up \ hung /\ spent.hung < MaxHung
    /\ hung' = hung \cup {m}
    /\ spent' = [spent EXCEPT !.hung = @ + 1]
    /\ Environment("Hang", m, None, {})
    /\ UNCHANGED <<local, up, flying, credits, Places, Stops>>

\* Events that no correct caller or peer causes. Each changes nothing.
Misuse(m) ==
    /\ Takes(m) /\ spent.misuses < MaxMisuses
    /\ \E event \in {[type |-> "CreditReceived", sender |-> x, message |-> CreditMessage(1)] : x \in {m, "Z"}}
                    \cup (IF local[m].waits = "no" THEN {} ELSE {[type |-> "SendRequested", size |-> 1]})
                    \cup (IF MayTakeTurn(local[m]) THEN {} ELSE {[type |-> "TurnTaken"]}) :
        Apply("Misuse", m, event)
    /\ spent' = [spent EXCEPT !.misuses = @ + 1]
    /\ UNCHANGED <<Places, Stops, Faults>>

-----------------------------------------------------------------------------
Init ==
    /\ local = [m \in Member |-> IF m \in First THEN Step(Start(m), [type |-> "ViewInstalled", members |-> First]).state ELSE Start(m)]
    /\ up = Member /\ hung = {} /\ in_view = First
    /\ log = <<>> /\ at = Zero /\ heard = Zero /\ vote = Zero /\ announced = 0 /\ news = {}
    /\ flying = [m \in Member |-> <<>>] /\ credits = [m \in Member |-> Zero]
    /\ stage = "run" /\ stopped = {} /\ handling = {}
    /\ spent = [sends |-> 0, crashes |-> 0, hung |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \/ Announce
    \/ BeginStop
    \/ Install
    \/ TakeState
    \/ \E m \in Member :
        \/ AppSends(m)
        \/ TakeTurn(m)
        \/ Order(m)
        \/ Deliver(m)
        \/ ReceiveCredit(m)
        \/ Hear(m)
        \/ Block(m)
        \/ Return(m)
        \/ Crash(m)
        \/ Hang(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
