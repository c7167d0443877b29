------------------------- MODULE ReliableMulticast --------------------------
(***************************************************************************)
(* The reliable-multicast layer that STABLE, GMS and FLUSH stand on in     *)
(* their own groups: window, store and digest, as pure functions. Its      *)
(* Python twin is reliable_multicast, one of the abstract layers that      *)
(* groupcomm simulate puts beneath a stack.                                *)
(*                                                                         *)
(* A member keeps a window for each sender of its view:                    *)
(*   low starting point; not a purge delivered highest delivered seqno     *)
(*   ahead seqnos received behind a gap, not deliverable yet purged        *)
(*   highest seqno that stability removed from the store                   *)
(* Adding drains: what can be delivered is delivered in the same step, so  *)
(* highest delivered and highest deliverable are equal (DLV-03). A member  *)
(* receives what it multicasts (DLV-04), and only what was received is in  *)
(* the store (DLV-05). Windows of two incarnations of an address are never *)
(* mixed: that is this layer's obligation to those above.                  *)
(***************************************************************************)
EXTENDS Digests, FiniteSets

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
