-------------------------- MODULE StabilitySafety ---------------------------
(******************************************************************************)
(* The guarantee that STABLE implements, without votes, rounds or timers: a   *)
(* message leaves a member's store only when every member of the view, and    *)
(* every member that comes from it or goes to it without a break, has         *)
(* delivered it. Statements about deliveries and purges stay true from a view *)
(* to the next.                                                               *)
(*                                                                            *)
(* It binds by what has happened, not by what will: no member needs to know   *)
(* who stays, or which views will come (Membership).                          *)
(******************************************************************************)
EXTENDS Views, Integers, FiniteSets

CONSTANT Member

VARIABLES
    delivered,  \* [Member -> [sender in its view -> highest seqno delivered]]
    purged,     \* [Member -> [sender in its view -> highest seqno purged]]
    views,      \* Membership: the decided views, in order of decision
    installed,  \* Membership: [Member -> the number of the view installed; 0: none]
    life        \* Membership: [Member -> its present incarnation]

stability_vars == <<delivered, purged, views, installed, life>>

LOCAL NoSeqno == -1      \* as a highest seqno: none

LOCAL Group == INSTANCE Membership WITH First <- <<>>, Off <- {}

\* Everything up to n from sender s is delivered at all that p must wait for: whoever is a member all the way from
\* its own view to p's. (Or it was never theirs: whoever joins starts after it.)
Agreed(p, s, n) ==
    \A x \in Member :
        (installed[x] # 0 /\ s \in DOMAIN delivered[x] /\ delivered[x][s] < n) =>
            ~ /\ Shares(views[installed[x]], views[installed[p]], s)
              /\ Group!Throughout(x, installed[x], installed[p])

\* A purged message was delivered by every member that belongs to all views from its own to the purger's.
PurgedIsAgreed ==
    \A p \in Member : installed[p] # 0 => \A s \in DOMAIN purged[p] : Agreed(p, s, purged[p][s])

\* Some members deliver more.
Deliver ==
    /\ UNCHANGED <<purged, installed, life>>
    /\ \A m \in Member :
        delivered'[m] = delivered[m] \/
            /\ DOMAIN delivered'[m] = DOMAIN delivered[m]
            /\ \A s \in DOMAIN delivered[m] : delivered'[m][s] >= delivered[m][s]

Purge(m) ==
    /\ UNCHANGED <<delivered, installed, life>>
    /\ \A x \in Member \ {m} : purged'[x] = purged[x]
    /\ DOMAIN purged'[m] = DOMAIN purged[m]
    /\ \A s \in DOMAIN purged[m] :
        purged'[m][s] # purged[m][s] => (purged'[m][s] > purged[m][s] /\ Agreed(m, s, purged'[m][s]))

\* m enters a view. Of each sender that it knows from the previous view, in the same incarnation, it keeps the
\* deliveries and purges, unless (merge) its start digest is further ahead.
Install(m) ==
    LET v == views'[installed'[m]] IN
    /\ UNCHANGED life
    /\ \A x \in Member \ {m} :
        installed'[x] = installed[x] /\ purged'[x] = purged[x] /\ delivered'[x] = delivered[x]
    /\ DOMAIN delivered'[m] = DOMAIN v.lives /\ DOMAIN purged'[m] = DOMAIN v.lives
    /\ \A s \in DOMAIN v.lives :
        IF installed[m] # 0 /\ s \notin v.joins /\ Shares(views[installed[m]], v, s)
        THEN \/ delivered'[m][s] = delivered[m][s] /\ purged'[m][s] = purged[m][s]
             \/ delivered'[m][s] > delivered[m][s] /\ purged'[m][s] = NoSeqno /\ Cardinality(v.preds) > 1
        ELSE /\ purged'[m][s] = NoSeqno
             /\ s \in v.joins => delivered'[m][s] = NoSeqno
    /\ PurgedIsAgreed'

\* A new incarnation of m, which knows nothing.
Restart(m) ==
    /\ installed'[m] = 0 /\ DOMAIN delivered'[m] = {} /\ DOMAIN purged'[m] = {}
    /\ \A x \in Member \ {m} :
        installed'[x] = installed[x] /\ purged'[x] = purged[x] /\ delivered'[x] = delivered[x]

Init == PurgedIsAgreed /\ \A m \in Member : \A s \in DOMAIN purged[m] : purged[m][s] <= delivered[m][s]

\* (By cases, so that a step is held against one action.)
Next ==
    IF installed' # installed \/ life' # life
    THEN \E m \in Member :
            /\ installed'[m] # installed[m] \/ life'[m] # life[m]
            /\ IF installed'[m] = 0 THEN Restart(m) ELSE Install(m)
    ELSE IF purged' = purged THEN Deliver
    ELSE \E m \in Member : purged'[m] # purged[m] /\ Purge(m)

Spec == Init /\ [][Next]_stability_vars
=============================================================================
