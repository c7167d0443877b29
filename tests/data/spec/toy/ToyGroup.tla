------------------------------ MODULE ToyGroup ------------------------------
EXTENDS Toy, Acts, Integers, Sequences

CONSTANT MaxLost    \* fault budget

VARIABLES network, lost

vars == <<local, network, lost, act>>
view == <<local, network, lost>>

Apply(action, m, event) ==
    \E step \in {Step(local[m], event)} :    \* (TLC evaluates a LET anew at each use, this once.)
        /\ Take(action, m, None, event, {}, step)
        /\ network' = IF step.effects = <<>> THEN network
                      ELSE network \cup {[sender |-> m, message |-> step.effects[1].message]}

Vote(m) ==
    /\ ~local[m].voted
    /\ Apply("Vote", m, [type |-> "Decide"])
    /\ UNCHANGED lost

ReceiveVoteFrom(m, from) ==
    /\ <<from, m>> \notin lost
    /\ \E p \in network :
        /\ p.sender = from
        /\ Apply("ReceiveVote", m, [type |-> "VoteReceived", sender |-> p.sender, message |-> p.message])
    /\ UNCHANGED lost

ReceiveVote(m) == \E from \in Member : ReceiveVoteFrom(m, from)

LoseVotes(m) ==
    /\ Cardinality(lost) < MaxLost
    /\ \E from \in Member \ {m} : <<from, m>> \notin lost /\ lost' = lost \cup {<<from, m>>}
    /\ Environment("LoseVotes", m, None, {})
    /\ UNCHANGED <<local, network>>

Misuse(m) ==
    /\ local[m].voted
    /\ \E event \in {[type |-> "Decide"], [type |-> "VoteReceived", sender |-> "Z", message |-> [type |-> "VOTE"]]} :
        Apply("Misuse", m, event)
    /\ UNCHANGED lost

Init ==
    /\ local = [m \in Member |-> Start(m)]
    /\ network = {}
    /\ lost = {}
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ Vote(m)
        \/ ReceiveVote(m)
        \/ LoseVotes(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars

Fairness ==
    /\ \A m \in Member : WF_view(Vote(m))
    /\ \A m, from \in Member : WF_view(ReceiveVoteFrom(m, from))

LiveSpec == Init /\ [][Next]_vars /\ Fairness

TypeOK == \A m \in Member : local[m].heard_from \subseteq Member /\ local[m].committed \in BOOLEAN

-----------------------------------------------------------------------------
\* TOY-01: no member commits before all have voted.
NoEarlyCommit == \A m \in Member : local[m].committed => \A n \in Member : local[n].voted

\* TOY-02
CommittedStaysStep == \A m \in Member : local[m].committed => local'[m].committed
CommittedStays == [][CommittedStaysStep]_vars

Abstract == INSTANCE Decision WITH decided <- {m \in Member : local[m].committed}

RefinesDecision == Abstract!Spec

EventuallyCommitted == <>[](\A m \in Member : local[m].committed)

\* TOY-03
SomeCommit == \E m \in Member : local[m].committed
AllCommit == \A m \in Member : local[m].committed
OneCommitsFirst == \E m, n \in Member : local[m].committed /\ ~local[n].committed
NeverHappens == \E m \in Member : local[m].committed /\ ~local[m].voted

SeenLocal(m) == local[m]
SeenMessages == network
SeenOutside(m) == 0

\* Every call, and a vote of every member and of a process that is no member.
Alphabet(messages, outsides) ==
    {[type |-> "Decide"]} \cup {[type |-> "VoteReceived", sender |-> m] : m \in Member \cup {"Z"}}
=============================================================================
