------------------------------ MODULE OnceGroup ------------------------------
(* Members that run ONCE over a network that remembers: each note may come at any time, and again. *)
EXTENDS Once, Acts, Sequences

CONSTANTS
    Member,
    Leak    \* defects of this model itself: "none", "neighbour", "ignored", "packet"

VARIABLES
    network,    \* the notes ever multicast
    delivered   \* [Member -> what it has passed up, in order]

vars == <<local, network, delivered, act>>
view == <<local, network, delivered>>

Notes(m, effects) == {[sender |-> m, message |-> effects[i].message] : i \in {j \in DOMAIN effects : effects[j].type = "Multicast"}}

Passed(effects) ==
    LET IsUp(effect) == effect.type = "PassUp"
        up == SelectSeq(effects, IsUp)
    IN [i \in DOMAIN up |-> up[i].event]

Apply(action, m, event) ==
    LET step == Step(local[m], event)
        forgets == Leak = "ignored" /\ step.outcome = "ignored"
    IN
    /\ local' = [x \in Member |->
            IF x = m THEN IF forgets THEN Start(m) ELSE step.state
            ELSE IF Leak = "neighbour" THEN step.state ELSE local[x]]
    /\ Record(action, m, FALSE, None, event, {}, step.outcome, step.effects)
    /\ network' = network \cup Notes(m, step.effects)
                   \cup (IF Leak = "packet" THEN {[sender |-> m, message |-> NoteMessage(1)]} ELSE {})
    /\ delivered' = [delivered EXCEPT ![m] = @ \o Passed(step.effects)]

AppSends(m) == local[m].sent < Most /\ Apply("AppSends", m, [type |-> "SendRequested"])

ReceiveNote(m) ==
    \E p \in network : Apply("ReceiveNote", m, [type |-> "NoteReceived", sender |-> p.sender, message |-> p.message])

Restart(m) ==
    /\ local[m].highest # Start(m).highest /\ local[m].sent = 0
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ delivered' = [delivered EXCEPT ![m] = <<>>]
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED network

Misuse(m) ==
    \E event \in {[type |-> "NoteReceived", sender |-> "Z", message |-> NoteMessage(0)],
                  [type |-> "SendRequested"]} :
        (event.type = "SendRequested" => local[m].sent = Most) /\ Apply("Misuse", m, event)

Init ==
    /\ local = [m \in Member |-> Start(m)]
    /\ network = {}
    /\ delivered = [m \in Member |-> <<>>]
    /\ act = NoAct

Next == \E m \in Member : AppSends(m) \/ ReceiveNote(m) \/ Restart(m) \/ Misuse(m)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK == \A m \in Member : local[m].sent \in 0 .. Most

\* ONC-01
DeliveredOnce ==
    \A m \in Member : \A i, j \in DOMAIN delivered[m] : i # j => delivered[m][i] # delivered[m][j]

OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ UnchangedUnlessHandled
    /\ network' = network \cup Notes(act'.member, act'.effects)

OnlyByEffects == [][OnlyByEffectsStep]_vars

SomethingDelivered == \E m \in Member : delivered[m] # <<>>

-----------------------------------------------------------------------------
SeenLocal(m) == local[m]
SeenMessages == network
SeenOutside(m) == 0

Alphabet(messages, outsides) ==
    {[type |-> "SendRequested"], [type |-> "NoteReceived", sender |-> "Z", message |-> NoteMessage(0)]}
    \cup {[type |-> "NoteReceived", sender |-> p.sender, message |-> p.message] : p \in messages}
=============================================================================
