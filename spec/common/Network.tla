------------------------------- MODULE Network -------------------------------
(***************************************************************************)
(* The network beneath UNICAST, NAKACK and STABLE's gossip: datagrams      *)
(* between addresses. It is the ground: no protocol refines it.            *)
(*                                                                         *)
(* A datagram may be lost, arrive any number of times, as late as you      *)
(* like, and in any order. It is for an address, not for an incarnation: a *)
(* datagram to a former incarnation arrives at the present one, and a      *)
(* datagram of a former incarnation still arrives. Links are directed:     *)
(* that x hears y says nothing of y hearing x, and a link that does not    *)
(* work loses everything.                                                  *)
(*                                                                         *)
(* Two forms. The network that REMEMBERS is for safety: every datagram     *)
(* that was ever sent may arrive at any time. Loss, doubling, reordering,  *)
(* delay, one-way links and mail of former incarnations are free then, and *)
(* no budget bounds them. The network that CONSUMES is for liveness: a     *)
(* datagram arrives once, is lost, or stays; a sender makes another one by *)
(* sending again. Loss has no budget there either: fairness is strong.     *)
(*                                                                         *)
(* A group extends this module. These are operators on `net`.              *)
(***************************************************************************)

CONSTANTS
    Member,          \* all addresses
    NetworkRemembers \* the network remembers (TRUE), or consumes (FALSE)

VARIABLE
    net         \* the datagrams that may arrive: a set of [sender, to, message]

ASSUME NetworkRemembers \in BOOLEAN

\* The assumptions of layers above.

\* NotForged: what arrives from an address was sent by it, in some incarnation, to the address at which it arrives.

\* Hears: a member that is up hears what it sends to itself.

\* Fair: a datagram that is sent again and again, over a link that works again and again, arrives again and again.

Conjuncts == {"NotForged", "Hears", "Fair"}

Packet(from, to, message) == [sender |-> from, to |-> to, message |-> message]

\* The datagrams that may arrive at m now.
Arriving(m) == {packet \in net : packet.to = m}

\* The datagrams that effects ask for. `to`: a member, or Steps!All, which is every member, the sender included.
Sent(from, effects) ==
    UNION {{Packet(from, to, effects[i].message) : to \in IF effects[i].to = "*" THEN Member ELSE {effects[i].to}} :
        i \in {i \in DOMAIN effects : effects[i].type = "Datagram"}}

\* `net` after a step of `from` that took `consumed` off it and had these effects.
AfterStep(from, consumed, effects) == (IF NetworkRemembers THEN net ELSE net \ consumed) \cup Sent(from, effects)
=============================================================================
