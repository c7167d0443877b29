--------------------------- MODULE ReliableUnicast --------------------------
(***************************************************************************)
(* Unicasts between members: what one sends to another waits on the wire   *)
(* between the two. The guarantee is a constant:                           *)
(* - "fifo": arrives once, in the order sent (what UNICAST gives);         *)
(* - "unordered": arrives once, in any order;                              *)
(* - "duplicating": in order, and may arrive again;                        *)
(* - "lossy": in order, or never.                                          *)
(* A message to a member that is not up is lost.                           *)
(*                                                                         *)
(* A group extends this module. These are operators on wires, for a step   *)
(* of a member takes one packet off and puts others on.                    *)
(***************************************************************************)
LOCAL INSTANCE Naturals
LOCAL INSTANCE Sequences

CONSTANTS
    Member,     \* all addresses
    Unicast     \* the guarantee

VARIABLE
    wire        \* [Member -> [Member -> messages in transit from the first to the second, in the order
                \* sent]]

\* fifo: Each unicast arrives once; unicasts between two members arrive in sending order.
ASSUME Unicast \in {"fifo", "unordered", "duplicating", "lossy"}

EmptyWire == [f \in Member |-> [t \in Member |-> <<>>]]

Packet(from, to, message) == [sender |-> from, to |-> to, message |-> message]

\* The places on the wire from one to the other of what may arrive next.
Arrivals(from, to) ==
    LET n == Len(wire[from][to]) IN
    IF n = 0 THEN {} ELSE IF Unicast = "unordered" THEN 1 .. n ELSE {1}

\* Wires without one packet that is on them.
WithoutPacket(wires, packet) ==
    LET queue == wires[packet.sender][packet.to]
        i == CHOOSE i \in DOMAIN queue : queue[i] = packet.message /\ \A j \in 1 .. i - 1 : queue[j] # packet.message
    IN [wires EXCEPT ![packet.sender][packet.to] = SubSeq(queue, 1, i - 1) \o SubSeq(queue, i + 1, Len(queue))]

\* Wires after a step of `from` with these effects, at most one packet consumed; `listening`: who can be sent to.
AfterStep(wires, from, consumed, effects, listening) ==
    LET rest == IF consumed = {} THEN wires ELSE WithoutPacket(wires, CHOOSE p \in consumed : TRUE)
        IsSend(effect) == effect.type = "Send"
        SentTo(to) ==
            LET Matches(effect) == IsSend(effect) /\ effect.to = to
                sends == SelectSeq(effects, Matches)
            IN [i \in DOMAIN sends |-> sends[i].message]
    IN \* (Most steps send nothing, and most others a single message: TLC is faster with these cases.)
       IF \A i \in DOMAIN effects : ~IsSend(effects[i]) THEN rest
       ELSE IF Len(effects) = 1
       THEN IF effects[1].to \in listening
            THEN [rest EXCEPT ![from][effects[1].to] = Append(@, effects[1].message)]
            ELSE rest
       ELSE [rest EXCEPT ![from] = [to \in Member |-> IF to \in listening THEN @[to] \o SentTo(to) ELSE @[to]]]

\* Wires without what is on its way to some members.
WithoutTo(members) == [f \in Member |-> [t \in Member |-> IF t \in members THEN <<>> ELSE wire[f][t]]]
=============================================================================
