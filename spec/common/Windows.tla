------------------------------ MODULE Windows ------------------------------
(***************************************************************************)
(* ReliableMulticast as pure functions, for groups that stand on it and    *)
(* have variables of their own: windows, and the guards by which messages  *)
(* reach a member. The Python twin is reliable_multicast, one of the       *)
(* abstract layers that groupcomm simulate puts beneath a stack.           *)
(*                                                                         *)
(* A member keeps a window for each sender of its view:                    *)
(* - low: where the window starts, which is no purge                       *)
(* - delivered: the highest seqno delivered                                *)
(* - ahead: the seqnos received behind a gap, not deliverable yet          *)
(* - purged: the highest seqno that stability removed from the store       *)
(* Adding drains: what can be delivered is delivered in the same step, so  *)
(* highest delivered and highest deliverable are equal (DLV-03). A member  *)
(* receives what it multicasts (DLV-04), and only what was received is in  *)
(* the store (DLV-05).                                                     *)
(***************************************************************************)
EXTENDS Digests, FiniteSets

\* Message number n of s, which was multicast in view number k by incarnation i.
Message(k, i, s, n) == [view |-> k, incarnation |-> i, sender |-> s, seqno |-> n]

\* The guards are conjuncts of ReliableMulticast. Conjuncts that the layer `lacks` are not asked for.

\* x may reach a member in view number k, which has these incarnations; `those` were multicast.
MayReach(x, k, lives, those, lacks) ==
    /\ "NotForged" \notin lacks => x \in those
    /\ "InItsView" \notin lacks => x.view = k
    /\ "OfItsIncarnation" \notin lacks => x.incarnation = lives[x.sender]

\* x may be delivered where `count` of its sender were, and no more than `limit` may be.
MayDeliver(x, count, limit, lacks) ==
    /\ "Once" \notin lacks => x.seqno > count
    /\ "InOrder" \notin lacks => x.seqno <= count + 1
    /\ "HoldsBack" \notin lacks => x.seqno <= limit

-----------------------------------------------------------------------------

Window(low) == [low |-> low, delivered |-> low, ahead |-> {}, purged |-> Nothing]

\* Add: A message enters the window; every message that is deliverable now is delivered in the same step, in order,
\* once.
Add(window, n) ==
    IF n <= window.delivered \/ n \in window.ahead
    THEN window
    ELSE LET got == window.ahead \cup {n}
             reach == CHOOSE k \in window.delivered .. window.delivered + Cardinality(got) :
                        /\ \A i \in window.delivered + 1 .. k : i \in got
                        /\ k + 1 \notin got
         IN [window EXCEPT !.delivered = reach, !.ahead = {i \in got : i > reach}]

Lacks(window, n) == n > window.delivered /\ n \notin window.ahead

\* Can this window's store serve a retransmission of seqno n?
Holds(window, n) ==
    /\ n > window.low
    /\ n > window.purged
    /\ n <= window.delivered \/ n \in window.ahead

\* Purge: Messages up to the given seqnos, inclusive, are stable; purged messages stay purged (STB-11, AMB-10).
Purge(windows, vector) ==
    [s \in DOMAIN windows |->
        IF s \in DOMAIN vector
        THEN [windows[s] EXCEPT !.purged = Greatest(@, vector[s])]
        ELSE windows[s]]

DigestOf(windows) ==
    [s \in DOMAIN windows |->
        [low |-> windows[s].low,
         delivered |-> windows[s].delivered,
         received |-> LET w == windows[s] IN
                      IF w.ahead = {} THEN w.delivered
                      ELSE CHOOSE n \in w.ahead : \A k \in w.ahead : k <= n]]
=============================================================================
