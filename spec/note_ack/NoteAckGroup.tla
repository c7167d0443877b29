----------------------------- MODULE NoteAckGroup ------------------------------
(***************************************************************************)
(* A sender, A, and receivers. Copies of a message are lost or late; a     *)
(* receiver that fetches a message gets it while the sender keeps it.      *)
(* ACKs arrive once and in order; announcements may be lost. A member may  *)
(* be deaf (slow without end), crash and be excluded, or join.             *)
(***************************************************************************)
EXTENDS NoteAck, Acts

CONSTANTS
    Member,         \* all addresses
    First,          \* the members of the first view
    NextView,       \* those of the next; {}: there is none
    Sends,          \* messages that A's application sends
    MaxLost,        \* fault budget: copies and announcements
    MaxCrashes,     \* fault budget
    Crashers,       \* the members that may crash
    Deaf,           \* the members that receive nothing
    Patient,        \* timers are slower than messages
    MaxMisuses      \* fault budget: a member's own messages, callers' mistakes

VARIABLES
    up,             \* the members that have not crashed
    kept,           \* the messages that A keeps
    got,            \* [Member -> the messages that came and wait]
    passed,         \* [Member -> the messages that its application was given, in order]
    over,           \* [Member -> the messages passed over]
    copies,         \* copies under way: <<message, receiver>>
    acks,           \* ACKs under way: <<sender, message>>
    said,           \* announcements under way: <<receiver, message>>
    asked,          \* fetches under way: <<receiver, up to which message>>
    gave_up,        \* auxiliary: the messages that A gave up
    spent           \* bounds and fault budgets used

vars == <<local, act, up, kept, got, passed, over, copies, acks, said, asked, gave_up, spent>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, up, kept, got, passed, over, copies, acks, said, asked, gave_up, spent>>

SetOf(list) == {list[i] : i \in DOMAIN list}
Receivers == Member \ {"A"}
Hearing == up \ Deaf

\* The message that m delivers next.
NextOf(m) ==
    LET done == SetOf(passed[m]) \cup over[m] IN CHOOSE n \in 0 .. Sends : (\A k \in 0 .. n - 1 : k \in done) /\ n \notin done

-----------------------------------------------------------------------------
(* Applying Step to one member *)

Effects(effects, type) == {effects[i] : i \in {i \in DOMAIN effects : effects[i].type = type}}
Down(effects, type) == {f.event : f \in {f \in Effects(effects, "PassDown") : f.event.type = type}}
Casts(effects, type) == {f.message : f \in {f \in Effects(effects, "Multicast") : f.message.type = type}}

\* `rest`: the packets without what the step consumed.
Apply(action, m, event, rest) ==
    \E step \in {Step(local[m], event)} :
        LET fx == step.effects
            others == (local[m].view \ {m}) \cap up
            hearers == IF Announce = "stability" THEN others \cup {m} ELSE others
        IN
        /\ Take(action, m, None, event, {}, step)
        /\ kept' = (kept \cup {d.seqno : d \in Casts(fx, "DATA")}) \ {f.seqno : f \in Down(fx, "Free")}
        /\ copies' = rest.copies \cup {<<d.seqno, x>> : d \in Casts(fx, "DATA"), x \in others}
        /\ acks' = rest.acks \cup {<<m, f.message.seqno>> : f \in Effects(fx, "Send")}
        /\ said' = rest.said \cup {<<x, d>> : x \in hearers, d \in Casts(fx, "LAST_SEQNO") \cup Casts(fx, "GIVEN_UP")}
        /\ asked' = rest.asked \cup {<<m, f.upto>> : f \in Down(fx, "Fetch")}
        /\ over' = [over EXCEPT ![m] = @ \cup UNION {{n \in NextOf(m) .. f.upto : n \notin got[m]} : f \in Down(fx, "PassOver")}]
        /\ gave_up' = IF event.type = "AckTimeout" THEN gave_up \cup {f.seqno : f \in Down(fx, "Free")} ELSE gave_up

Packets == [copies |-> copies, acks |-> acks, said |-> said, asked |-> asked]

-----------------------------------------------------------------------------
(* The sender *)

AppSends(m) ==
    /\ m = "A" /\ m \in up /\ spent.sends < Sends
    /\ Apply("AppSends", m, [type |-> "SendRequested"], Packets)
    /\ spent' = [spent EXCEPT !.sends = @ + 1]
    /\ UNCHANGED <<up, got, passed>>

ReceiveAck(m) ==
    /\ m = "A" /\ m \in up
    /\ \E a \in acks : Apply("ReceiveAck", m, [type |-> "AckReceived", sender |-> a[1], message |-> AckMessage(a[2])],
                             [Packets EXCEPT !.acks = @ \ {a}])
    /\ UNCHANGED <<up, got, passed, spent>>

\* Nothing that m's timers wait for is under way.
NothingAwaited(m) ==
    Patient =>
        /\ \A c \in copies : c[2] \in Hearing => m # "A" /\ c[2] # m
        /\ \A t \in said : t[1] \in Hearing => m # "A" /\ t[1] # m
        /\ \A r \in asked : r[1] \in Hearing /\ "A" \in up => m # "A" /\ r[1] # m
        /\ \A x \in Receivers \cap Hearing : NextOf(x) \notin got[x]
        /\ m = "A" => acks = {}

AckTimeoutFires(m) ==
    /\ m = "A" /\ m \in up /\ NothingAwaited(m)
    /\ \E n \in DOMAIN local[m].pending : Apply("AckTimeoutFires", m, [type |-> "AckTimeout", seqno |-> n], Packets)
    /\ UNCHANGED <<up, got, passed, spent>>

BlockTimeoutFires(m) ==
    /\ m = "A" /\ m \in up /\ local[m].held > 0 /\ NothingAwaited(m)
    /\ Apply("BlockTimeoutFires", m, [type |-> "BlockTimeout"], Packets)
    /\ UNCHANGED <<up, got, passed, spent>>

-----------------------------------------------------------------------------
(* Receivers *)

\* A copy arrives. NAKACK fetches what is missing before it.
ReceiveCopy(m) ==
    /\ m \in Hearing
    /\ \E c \in copies :
        /\ c[2] = m
        /\ copies' = copies \ {c}
        /\ got' = [got EXCEPT ![m] = IF c[1] \in SetOf(passed[m]) \/ (DropLate /\ c[1] \in over[m]) THEN @ ELSE @ \cup {c[1]}]
        /\ asked' = IF c[1] > NextOf(m) THEN asked \cup {<<m, c[1] - 1>>} ELSE asked
    /\ Environment("ReceiveCopy", m, None, {})
    /\ UNCHANGED <<local, up, kept, passed, over, acks, said, gave_up, spent>>

Deliver(m) ==
    /\ m \in Hearing \ {"A"}
    /\ \E n \in got[m] :
        /\ n <= NextOf(m)
        /\ passed' = [passed EXCEPT ![m] = Append(@, n)]
        /\ got' = [got EXCEPT ![m] = @ \ {n}]
        /\ Apply("Deliver", m, [type |-> "DataReceived", sender |-> "A", message |-> Data(n)], Packets)
    /\ UNCHANGED <<up, spent>>

ServeFetch(m) ==
    /\ "A" \in up /\ m \in Hearing
    /\ \E r \in asked :
        /\ r[1] = m
        /\ asked' = asked \ {r}
        /\ copies' = copies \cup {<<n, m>> : n \in {k \in kept : k <= r[2] /\ k >= NextOf(m)}}
    /\ Environment("ServeFetch", m, None, {})
    /\ UNCHANGED <<local, up, kept, got, passed, over, acks, said, gave_up, spent>>

\* A is gone, and another receiver has what m lacks.
Obtainable(m) ==
    IF "A" \in up \/ ~KeepDelivered THEN {}
    ELSE UNION {SetOf(passed[x]) : x \in Receivers \cap up} \ (SetOf(passed[m]) \cup over[m] \cup got[m])

FetchFromSurvivor(m) ==
    /\ m \in Hearing \ {"A"}
    /\ Obtainable(m) # {}
    /\ got' = [got EXCEPT ![m] = @ \cup Obtainable(m)]
    /\ Environment("FetchFromSurvivor", m, None, {})
    /\ UNCHANGED <<local, up, kept, passed, over, copies, acks, said, asked, gave_up, spent>>

ReceiveAnnouncement(m) ==
    /\ m \in Hearing
    /\ \E t \in said :
        /\ t[1] = m
        /\ Apply("ReceiveAnnouncement", m,
                 [type |-> IF t[2].type = "LAST_SEQNO" THEN "LastSeqnoReceived" ELSE "GivenUpReceived",
                  sender |-> "A", message |-> t[2], next |-> IF m = "A" THEN 0 ELSE NextOf(m)],
                 [Packets EXCEPT !.said = @ \ {t}])
    /\ UNCHANGED <<up, got, passed, spent>>

\* The receiver's timer began with its first fetch. Without the sender a receiver passes over what no other has.
SkipTimeoutFires(m) ==
    /\ m \in Hearing \ {"A"} /\ (SkipWhen = "timer" \/ "A" \notin up) /\ Obtainable(m) = {} /\ NothingAwaited(m)
    /\ \E n \in local[m].waits \cup {k - 1 : k \in {k \in got[m] : k > NextOf(m)}} :
        /\ NextOf(m) <= n
        /\ Apply("SkipTimeoutFires", m, [type |-> "SkipTimeout", sender |-> "A", seqno |-> n, next |-> NextOf(m)], Packets)
    /\ UNCHANGED <<up, got, passed, spent>>

-----------------------------------------------------------------------------
(* Views and faults *)

\* A lets joiners in: what it has sent before is in the state that they begin with.
InstallView(m) ==
    /\ NextView # {} /\ m \in up \cap NextView /\ local[m].view # NextView
    /\ First \ NextView \subseteq Member \ up
    /\ m \notin First => local["A"].view = NextView
    /\ Apply("InstallView", m, [type |-> "ViewInstalled", members |-> NextView], Packets)
    /\ passed' = [x \in Member |-> IF m = "A" /\ x \in NextView \ First THEN [n \in 1 .. local[m].sent + 1 |-> n - 1] ELSE passed[x]]
    /\ UNCHANGED <<up, got, spent>>

Lose ==
    /\ spent.lost < MaxLost
    /\ \/ \E c \in copies : copies' = copies \ {c} /\ UNCHANGED said
       \/ \E t \in said : said' = said \ {t} /\ UNCHANGED copies
    /\ spent' = [spent EXCEPT !.lost = @ + 1]
    /\ Environment("Lose", "", None, {})
    /\ UNCHANGED <<local, up, kept, got, passed, over, acks, asked, gave_up>>

Crash(m) ==
    /\ m \in up /\ m \in Crashers /\ spent.crashes < MaxCrashes
    /\ up' = up \ {m}
    /\ copies' = {c \in copies : c[2] # m}
    /\ said' = {t \in said : t[1] # m}
    /\ acks' = IF m = "A" THEN {} ELSE acks
    /\ asked' = {r \in asked : m \notin {"A", r[1]}}
    /\ kept' = IF m = "A" THEN {} ELSE kept
    /\ spent' = [spent EXCEPT !.crashes = @ + 1]
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, got, passed, over, gave_up>>

\* Events that no correct caller or peer causes. Each changes nothing.
Misuse(m) ==
    /\ m \in up /\ spent.misuses < MaxMisuses
    /\ \E event \in {[type |-> "ViewInstalled", members |-> {"Z"}], [type |-> "AckReceived", sender |-> m, message |-> AckMessage(0)]} :
        Apply("Misuse", m, event, Packets)
    /\ spent' = [spent EXCEPT !.misuses = @ + 1]
    /\ UNCHANGED <<up, got, passed>>

-----------------------------------------------------------------------------
Init ==
    /\ local = [m \in Member |-> IF m \in First THEN Step(Start(m), [type |-> "ViewInstalled", members |-> First]).state ELSE Start(m)]
    /\ up = Member
    /\ kept = {} /\ copies = {} /\ acks = {} /\ said = {} /\ asked = {} /\ gave_up = {}
    /\ got = [m \in Member |-> {}] /\ passed = [m \in Member |-> <<>>] /\ over = [m \in Member |-> {}]
    /\ spent = [sends |-> 0, lost |-> 0, crashes |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \/ Lose
    \/ \E m \in Member :
        \/ AppSends(m)
        \/ ReceiveAck(m)
        \/ AckTimeoutFires(m)
        \/ BlockTimeoutFires(m)
        \/ ReceiveCopy(m)
        \/ Deliver(m)
        \/ ServeFetch(m)
        \/ FetchFromSurvivor(m)
        \/ ReceiveAnnouncement(m)
        \/ SkipTimeoutFires(m)
        \/ InstallView(m)
        \/ Crash(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
