-------------------------- MODULE StabilitySafety ---------------------------
(***************************************************************************)
(* The guarantee that STABLE implements, without votes, rounds or timers:  *)
(* a message leaves a member's store only when everyone in the member's    *)
(* view, and everyone who comes from it or goes to it without a break, has *)
(* delivered it.                                                           *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS Member, History

VARIABLES
    delivered,  \* [Member -> [sender -> highest seqno delivered]]
    purged,     \* [Member -> [sender -> highest seqno purged]]
    installed   \* [Member -> number of the view installed; 0: none]

LOCAL In(m, k) == k \in DOMAIN History /\ \E i \in DOMAIN History[k].members : History[k].members[i] = m
LOCAL Throughout(m, i, k) == \A j \in (IF i <= k THEN i .. k ELSE k .. i) : In(m, j)

\* Everything up to n from sender s is delivered at all that p must wait for (or was never theirs: whoever
\* joins starts after it).
Agreed(p, s, n) ==
    \A x \in Member :
        (installed[x] > 0 /\ Throughout(x, installed[x], installed[p]) /\ s \in DOMAIN delivered[x]
            /\ Throughout(s, installed[x], installed[p]))
        => delivered[x][s] >= n

\* Nobody lacks what was purged.
PurgedIsAgreed ==
    \A p \in Member : installed[p] > 0 => \A s \in DOMAIN purged[p] : Agreed(p, s, purged[p][s])

Deliver ==
    /\ purged' = purged /\ installed' = installed
    /\ \A m \in Member : DOMAIN delivered'[m] = DOMAIN delivered[m]
    /\ \A m \in Member : \A s \in DOMAIN delivered[m] : delivered'[m][s] >= delivered[m][s]

Purge(m) ==
    /\ delivered' = delivered /\ installed' = installed
    /\ \A x \in Member \ {m} : purged'[x] = purged[x]
    /\ DOMAIN purged'[m] = DOMAIN purged[m]
    /\ \A s \in DOMAIN purged[m] :
        purged'[m][s] # purged[m][s] => (purged'[m][s] > purged[m][s] /\ Agreed(m, s, purged'[m][s]))

Install(m) ==
    /\ installed'[m] > installed[m]
    /\ \A x \in Member \ {m} : installed'[x] = installed[x] /\ purged'[x] = purged[x] /\ delivered'[x] = delivered[x]
    /\ PurgedIsAgreed'

Init == \A m \in Member : \A s \in DOMAIN purged[m] : purged[m][s] <= delivered[m][s]

Next == Deliver \/ \E m \in Member : Purge(m) \/ Install(m)

Step == [Next]_<<delivered, purged, installed>>
=============================================================================
