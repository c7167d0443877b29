----------------------- MODULE NoteFlushAboveSequencer -----------------------
(******************************************************************************)
(* FLUSH above SEQUENCER: the other of the two orders that the notes leave    *)
(* open (AMB-85). Every multicast of FLUSH is one of SEQUENCER then, and      *)
(* START_FLUSH is a multicast. A member other than the coordinator forwards   *)
(* it to the coordinator. If the coordinator has crashed no member orders it: *)
(* its sender sends it again in the next view, and GMS decides the next view  *)
(* when the group is stopped.                                                 *)
(*                                                                            *)
(* SEQUENCER is as its specification has it (Sequencer!Step). FLUSH is        *)
(* reduced to what matters: the acting coordinator asks all members to stop,  *)
(* and decides a view when all that live are stopped. Applications send       *)
(* nothing. The failure detector is right.                                    *)
(******************************************************************************)
EXTENDS Steps, Acts, ReliableUnicast, Naturals, Sequences, FiniteSets

CONSTANTS
    Member,         \* all addresses
    Seniority,      \* the members of the view, in order
    FlushAbove,     \* FLUSH is above SEQUENCER, or below it
    MaxCrashes      \* fault budget

VARIABLES
    log,            \* what the coordinator has multicast in the view, in order
    received,       \* [Member -> how many of these have arrived]
    starts,         \* below SEQUENCER: START_FLUSH on its way, a set of members
    asked,          \* members that have asked the group to stop
    stopped,        \* members that START_FLUSH has reached
    up              \* members that have not crashed

vars == <<local, wire, log, received, starts, asked, stopped, up, act>>
view == <<local, wire, log, received, starts, asked, stopped, up>>

Order == INSTANCE Sequencer WITH
    Majority <- FALSE, MaxAttempts <- 0

StartFlush == "START_FLUSH"

Living == LET IsUp(m) == m \in up IN SelectSeq(Seniority, IsUp)

\* The first member that is not suspected.
Acting == Head(Living)

HasNext(m) == local[m].view.id.counter = 2

\* m's SEQUENCER takes a step: what it multicasts goes to the log.
Takes(action, m, event, consumed) ==
    \E step \in {Order!Step(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ wire' = AfterStep(wire, m, consumed, step.effects, up)
        /\ LET IsCast(e) == e.type = "Multicast"
               casts == SelectSeq(step.effects, IsCast)
           IN log' = log \o [i \in DOMAIN casts |-> casts[i].message]
        /\ stopped' = IF \E i \in DOMAIN step.effects : step.effects[i].type = "PassUp" THEN stopped \cup {m} ELSE stopped

\* GMS has a view to decide: the acting coordinator asks its FLUSH to stop the group.
MaySuspend(m) == m = Acting /\ m \notin asked /\ ~HasNext(m)

Suspend(m) ==
    /\ MaySuspend(m)
    /\ asked' = asked \cup {m}
    /\ IF FlushAbove
       THEN Takes("Suspend", m, [type |-> "SendRequested", payload |-> StartFlush], {}) /\ starts' = starts
       ELSE /\ starts' = up
            /\ Environment("Suspend", m, None, {})
            /\ UNCHANGED <<local, wire, log, stopped>>
    /\ UNCHANGED <<received, up>>

ReceiveForward(m) ==
    /\ m \in up
    /\ \E x \in Member : \E i \in Arrivals(x, m) :
        Takes("ReceiveForward", m, [type |-> "ForwardReceived", sender |-> x, message |-> wire[x][m][i]],
              {Packet(x, m, wire[x][m][i])})
    /\ UNCHANGED <<received, starts, asked, up>>

ReceiveData(m) ==
    /\ m \in up /\ received[m] < Len(log)
    /\ received' = [received EXCEPT ![m] = @ + 1]
    /\ Takes("ReceiveData", m, [type |-> "DataReceived", sender |-> Seniority[1], message |-> log[received[m] + 1]], {})
    /\ UNCHANGED <<starts, asked, up>>

ReceiveStartFlush(m) ==
    /\ m \in starts \cap up
    /\ starts' = starts \ {m}
    /\ stopped' = stopped \cup {m}
    /\ Environment("ReceiveStartFlush", m, None, {})
    /\ UNCHANGED <<local, wire, log, received, asked, up>>

\* All that live are stopped, for the acting coordinator: it has decided the next view.
MayInstall(m) == m \in up /\ Acting \in asked /\ up \subseteq stopped /\ ~HasNext(m)

InstallView(m) ==
    /\ MayInstall(m)
    /\ Takes("InstallView", m, [type |-> "ViewInstalled", view |-> Order!View(2, Acting, Living)], {})
    /\ UNCHANGED <<received, starts, asked, up>>

Crash(m) ==
    /\ m \in up /\ Cardinality(Member \ up) < MaxCrashes
    /\ m = Seniority[1] /\ ~\E x \in Member : HasNext(x)
    /\ up' = up \ {m}
    /\ wire' = WithoutTo({m})
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, log, received, starts, asked, stopped>>

Init ==
    /\ local = [m \in Member |->
            Order!Step(Order!Start(m), [type |-> "ViewInstalled", view |-> Order!View(1, Seniority[1], Seniority)]).state]
    /\ wire = EmptyWire
    /\ log = <<>>
    /\ received = [m \in Member |-> 0]
    /\ starts = {} /\ asked = {} /\ stopped = {}
    /\ up = Member
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ Suspend(m)
        \/ ReceiveForward(m)
        \/ ReceiveData(m)
        \/ ReceiveStartFlush(m)
        \/ InstallView(m)
        \/ Crash(m)

Spec == Init /\ [][Next]_vars

ABC == <<"A", "B", "C">>

-----------------------------------------------------------------------------
(* Claims *)

StoppingTypeOK ==
    /\ {up, starts, asked, stopped} \subseteq SUBSET Member
    /\ \A m \in Member : local[m].member = m /\ received[m] \in 0 .. Len(log)

\* The group comes to rest only when every live member has the next view.
ViewFollowsWhenQuiescent ==
    (/\ \A f, t \in Member : t \in up => wire[f][t] = <<>>
     /\ \A m \in up : received[m] = Len(log) /\ m \notin starts /\ ~MaySuspend(m) /\ ~MayInstall(m))
        => \A m \in up : HasNext(m)

\* Witness: the coordinator has crashed, and a view without it is there.
CrashIsOver == Seniority[1] \notin up /\ \A m \in up : HasNext(m)
=============================================================================
