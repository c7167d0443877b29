---------------------------- MODULE TwoPhaseGroup ----------------------------
(* One transaction over a network that remembers: each message may come at any time, again, or never.           *)
EXTENDS TwoPhase, Acts

CONSTANTS
    Member,
    Leak    \* defects of this model itself: "none", "neighbour", "ignored", "packet"

VARIABLE
    network     \* the messages ever sent

vars == <<local, network, act>>
view == <<local, network>>

Packets(m, effects) ==
    {[sender |-> m,
      to |-> IF effects[i].type = "Send" THEN {effects[i].to} ELSE Participants,
      message |-> effects[i].message] : i \in {j \in DOMAIN effects : effects[j].type \in {"Send", "Multicast"}}}

Apply(action, m, event) ==
    LET step == Step(local[m], event)
        forgets == Leak = "ignored" /\ step.outcome = "ignored"
    IN
    /\ local' = [x \in Member |->
            IF x = m THEN IF forgets THEN Start(m) ELSE step.state
            ELSE IF Leak = "neighbour" THEN step.state ELSE local[x]]
    /\ Record(action, m, FALSE, None, event, {}, step.outcome, step.effects)
    /\ network' = network \cup Packets(m, step.effects)
                   \cup (IF Leak = "packet"
                         THEN {[sender |-> m, to |-> Participants, message |-> PrepareMessage]} ELSE {})

UserCommits(m) == m = Coordinator /\ local[m].phase = "working" /\ Apply("UserCommits", m, [type |-> "CommitRequested"])

UserAborts(m) ==
    /\ m # Coordinator /\ local[m].phase \in {"working", "prepared"}
    /\ Apply("UserAborts", m, [type |-> "AbortRequested"])

TimerFires(m) == m = Coordinator /\ local[m].phase = "preparing" /\ Apply("TimerFires", m, [type |-> "VoteTimeout"])

Received(p) ==
    [type |-> CASE p.message.type = "PREPARE" -> "PrepareReceived"
                [] p.message.type = "VOTE" -> "VoteReceived"
                [] p.message.type = "DECISION" -> "DecisionReceived",
     sender |-> p.sender, message |-> p.message]

Receive(m) == \E p \in network : m \in p.to /\ Apply("Receive", m, Received(p))

\* A program that takes no part in the transaction sends a message.
Stray(m) ==
    \E event \in {[type |-> "VoteReceived", sender |-> "Z", message |-> VoteMessage(TRUE)],
                  [type |-> "DecisionReceived", sender |-> "Z", message |-> DecisionMessage(TRUE)]} :
        Apply("Stray", m, event)

Init ==
    /\ local = [m \in Member |-> Start(m)]
    /\ network = {}
    /\ act = NoAct

Next == \E m \in Member : UserCommits(m) \/ UserAborts(m) \/ TimerFires(m) \/ Receive(m) \/ Stray(m)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK == \A m \in Member : local[m].phase \in {"working", "preparing", "prepared", "committed", "aborted"}

\* No member commits a transaction that another member aborts.
Agreement == \A m, n \in Member : ~(local[m].phase = "committed" /\ local[n].phase = "aborted")

OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ UnchangedUnlessHandled
    /\ network' = network \cup Packets(act'.member, act'.effects)

OnlyByEffects == [][OnlyByEffectsStep]_vars

AllCommit == \A m \in Member : local[m].phase = "committed"

-----------------------------------------------------------------------------
(* For conformance: the core takes each of these events in each state that TLC reaches *)
SeenLocal(m) == local[m]
SeenMessages == network
SeenOutside(m) == 0

Alphabet(messages, outsides) ==
    {[type |-> "CommitRequested"], [type |-> "AbortRequested"], [type |-> "VoteTimeout"],
     [type |-> "PrepareReceived", sender |-> "Z", message |-> PrepareMessage],
     [type |-> "VoteReceived", sender |-> "Z", message |-> VoteMessage(TRUE)],
     [type |-> "DecisionReceived", sender |-> "Z", message |-> DecisionMessage(TRUE)]}
    \cup {Received(p) : p \in messages}
=============================================================================
