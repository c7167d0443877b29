------------------------ MODULE StateTransferHistories -------------------------
(******************************************************************************)
(* Which state is the primary's, over all small histories of views. TLC       *)
(* chooses each view: its members and its coordinator; which of them install  *)
(* it; when it is formed, and by which reports; who hears of that; where a    *)
(* member leaves the order; who begins again, with its record and without its *)
(* state. (StateTransferGroup has a script of views for each story.)          *)
(*                                                                            *)
(* Members take the steps of STATE_TRANSFER. Their records are those of       *)
(* Primary. What is left out: a transfer is one step (Takes), and so is the   *)
(* refusal of all members (AllRefuse). What is not a message of an            *)
(* application is not multicast again. A view is known by its number.         *)
(*                                                                            *)
(* SAFE tells a sender that a message is safe if all members of a view have   *)
(* delivered it; or if the sender has delivered it, its next view follows     *)
(* without a merge, and all members know that this one is formed. It may tell *)
(* that late. The claim: a message that STATE_TRANSFER passes on as safe is   *)
(* in each state of the primary after that (SafeIsKept).                      *)
(******************************************************************************)
EXTENDS StateTransfer, Acts

CONSTANTS
    Member,         \* all addresses
    Founders,       \* the members of the first view, which have the state
    MaxViews,       \* bound
    Sends,          \* bound: how many messages applications multicast
    MaxRestarts     \* fault budget

VARIABLES
    views,      \* the views: id, members, and `from`: [member -> the number of its view when this one was decided; 0]
    at,         \* [Member -> the number of its view; 0]
    \* (local of Acts: STATE_TRANSFER's state)
    records,    \* [Member -> its record, see Primary]
    reports,    \* per view: [a member that has installed it -> what it reported]
    early,      \* per view: what was multicast there before it was formed
    order,      \* per view: FORMED, and the messages that are ordered in it
    cut,        \* per view: [a view before it -> where members leave its order]
    place,      \* [Member -> how much of its view's order it has delivered]
    state,      \* [Member -> the messages in its application's state]
    knows,      \* [Member -> its application has heard that it has the state of the group]
    got,        \* [Member -> the messages that it has delivered, or passed over, and in which view]
    open,       \* [Member -> its messages that it had delivered before its view, if views did not merge since]
    numbers,    \* [Member -> of each of its messages that came to it the number by which SAFE tells of it: how many of its multicasts
                \* had come]
    acked,      \* [Member -> its messages up to this one are safe, as SAFE tells it]
    heard,      \* per view: the members that know that it is formed
    safe,       \* the messages that were reported safe, and in which view
    up,
    restarts

view == <<views, at, local, records, reports, early, order, cut, place, state, knows, got, open, numbers, acked, heard, safe, up, restarts>>
vars == <<view, act>>

Vote == INSTANCE Primary WITH Majority <- TRUE, MaxAttempts <- 9

Greatest(set) == CHOOSE n \in set : \A i \in set : i <= n

-----------------------------------------------------------------------------
(* Views *)

InSomeOrder(set) == CHOOSE list \in [1 .. Cardinality(set) -> set] : {list[i] : i \in DOMAIN list} = set

ViewWith(k, c, set) ==
    [id |-> ViewId(k, c), members |-> <<c>> \o InSomeOrder(set \ {c}), from |-> [m \in set |-> at[m]]]

PlainView(v) == [id |-> v.id, members |-> v.members]

Sources(v) == {v.from[m] : m \in DOMAIN v.from} \ {0}
ViewEvent(v) ==
    IF Cardinality(Sources(v)) > 1 THEN [type |-> "MergeViewInstalled", view |-> PlainView(v), subgroups |-> {}]
    ELSE [type |-> "ViewInstalled", view |-> PlainView(v)]

IsFormedView(k) == order[k] # <<>>
BaseOf(k) == order[k][1].message.before

\* m goes from its view to view number k, which is decided.
Goes(m, k) == m \in DOMAIN views[k].from /\ views[k].from[m] = at[m] /\ k > at[m]
IsClosed(m) == \E k \in DOMAIN views : Goes(m, k) /\ at[m] \in DOMAIN cut[k]

\* What m multicasts now is ordered, or waits for its view to be formed. If its coordinator is gone it is lost.
IsOpen(m, k) == LET c == CoordinatorOf(views[k]) IN c \in up /\ (at[c] = k \/ at[c] < k)

-----------------------------------------------------------------------------
(* Steps of STATE_TRANSFER, without what asks for the state *)

Clean(s) == [Idle(s) EXCEPT !.attempt = 0, !.refused = {}, !.timer = FALSE, !.soon = s.owes, !.giving = [m \in {} |-> 0]]

Multicasts(m, effects) ==
    LET Is(f) == f.type = "Multicast" /\ f.message.type \in {"APP", "TELL"}
        list == SelectSeq(effects, Is)
    IN [i \in DOMAIN list |-> [by |-> m, message |-> list[i].message]]

PassedUp(effects) == {effects[i].event : i \in {i \in DOMAIN effects : effects[i].type = "PassUp"}}

Delivered(effects) == {<<e.sender, e.payload>> : e \in {e \in PassedUp(effects) : e.type = "Deliver"}}

\* What m's application knows then.
Knows(m, effects) ==
    LET types == {e.type : e \in PassedUp(effects)} IN
    IF types \cap {"StateSet", "StateKept", "StateDeclared"} # {} THEN TRUE
    ELSE knows[m] /\ types \cap {"StateDropped", "NoState"} = {}

\* What m reports in view number k.
Reports(m, k, effects) ==
    LET safes == {e.number : e \in {e \in PassedUp(effects) : e.type = "SafeUpTo"}}
    IN safe' = safe \cup {<<<<m, n>>, k>> : n \in {n \in DOMAIN numbers[m] :
                            local[m].said < numbers[m][n] /\ numbers[m][n] <= Greatest(safes \cup {0})}}

\* m takes this step in view number k. `before`: what it multicasts first.
Apply(m, k, step, before, orders, earlies) ==
    LET casts == before \o Multicasts(m, step.effects)
        goes == IsOpen(m, k) /\ casts # <<>>
    IN /\ local' = [local EXCEPT ![m] = Clean(step.state)]
       /\ state' = [state EXCEPT ![m] = @ \cup Delivered(step.effects)]
       /\ knows' = [knows EXCEPT ![m] = Knows(m, step.effects)]
       /\ order' = IF goes /\ orders[k] # <<>> THEN [orders EXCEPT ![k] = @ \o casts] ELSE orders
       /\ early' = IF goes /\ orders[k] = <<>> THEN [earlies EXCEPT ![k] = @ \o casts] ELSE earlies
       /\ Reports(m, k, step.effects)

\* A message is safe: all members of a view have delivered it, or it was delivered before m's view.
Got(m, x) == \E p \in got[m] : p[1] = x
IsAcknowledged(m, x) == \E p \in got[m] : p[1] = x /\ \A n \in MembersOf(views[p[2]]) : Got(n, x)
AllKnow(m) == MembersOf(views[at[m]]) \subseteq heard[at[m]]
SenderKnows(m) == m \in heard[at[m]]
IsBeforeView(m, x) == x \in open[m] /\ AllKnow(m)

Quiet(action, m) ==
    /\ Environment(action, m, None, {})
    /\ UNCHANGED <<views, at, records, reports, cut, place, got, open, numbers, heard, up, restarts>>

\* SAFE tells m of its next message.
SafeTells(m) ==
    LET n == acked[m] + 1 IN
    /\ m \in up /\ at[m] # 0 /\ SenderKnows(m) /\ n \in DOMAIN numbers[m] /\ (IsAcknowledged(m, <<m, n>>) \/ IsBeforeView(m, <<m, n>>))
    /\ Apply(m, at[m], Step(local[m], [type |-> "SafeUpTo", number |-> numbers[m][n]]), <<>>, order, early)
    /\ acked' = [acked EXCEPT ![m] = n]
    /\ Quiet("SafeTells", m)

AppSends(m) ==
    /\ m \in up /\ at[m] # 0 /\ local[m].sent < Sends[m] /\ ~IsClosed(m) /\ IsFormedView(at[m]) /\ IsOpen(m, at[m])
    /\ LET step == Step(local[m], [type |-> "SendRequested", payload |-> local[m].sent + 1, size |-> 1])
       IN step.outcome = "handled" /\ Apply(m, at[m], step, <<>>, order, early)
    /\ UNCHANGED acked /\ Quiet("AppSends", m)

TellsSoon(m) ==
    /\ m \in up /\ local[m].soon /\ ~IsClosed(m)
    /\ Apply(m, at[m], Step(local[m], [type |-> "SoonTimeout"]), <<>>, order, early)
    /\ UNCHANGED acked /\ Quiet("TellsSoon", m)

\* The next of its view's order.
Deliver1(m) ==
    LET k == at[m] IN
    /\ m \in up /\ k # 0 /\ place[m] < Len(order[k])
    /\ \A j \in DOMAIN views : (Goes(m, j) /\ k \in DOMAIN cut[j]) => place[m] < cut[j][k]
    /\ LET item == order[k][place[m] + 1]
           x == <<item.by, item.message.payload>>
           event == CASE item.message.type = "FORMED" -> [type |-> "ViewFormed", view_id |-> views[k].id, before |-> item.message.before]
                      [] item.message.type = "TELL" -> [type |-> "TellReceived", sender |-> item.by, message |-> item.message]
                      [] item.message.type = "APP" -> [type |-> "AppReceived", sender |-> item.by, message |-> item.message]
       IN /\ Apply(m, k, IF item.message.type = "APP" /\ Got(m, x) THEN Ignored(local[m]) ELSE Step(local[m], event), <<>>, order, early)
          /\ got' = IF item.message.type = "APP" /\ ~Got(m, x) THEN [got EXCEPT ![m] = @ \cup {<<x, k>>}] ELSE got
          /\ numbers' = IF item.message.type = "APP" /\ item.by = m /\ ~Got(m, x) THEN [numbers EXCEPT ![m] = Append(@, local'[m].came)]
                        ELSE numbers
          /\ heard' = [heard EXCEPT ![k] = @ \cup {m}]
          /\ records' = IF item.message.type = "FORMED" THEN [records EXCEPT ![m] = <<PlainView(views[k])>>] ELSE records
    /\ place' = [place EXCEPT ![m] = @ + 1]
    /\ Environment("Deliver1", m, None, {})
    /\ UNCHANGED <<views, at, reports, cut, open, acked, up, restarts>>

\* m takes the state of p.
Takes(m) ==
    /\ m \in up /\ at[m] # 0 /\ ~local[m].has /\ local[m].settled /\ IsFormed(local[m])
    /\ \E p \in up :
        /\ at[p] = at[m] /\ place[p] = place[m] /\ local[p].has /\ local[p].settled
        /\ local' = [local EXCEPT ![m].has = TRUE, ![m].stood = local[m].formed, ![m].declared = local[p].declared,
                                  ![m].seen = local[p].seen]
        /\ state' = [state EXCEPT ![m] = state[p]]
        /\ knows' = [knows EXCEPT ![m] = TRUE]
    /\ UNCHANGED <<order, early, acked, safe>> /\ Quiet("Takes", m)

\* All members of its view have refused.
AllRefuse(m) ==
    /\ m \in up /\ at[m] # 0 /\ ~local[m].has /\ local[m].settled /\ local[m].told = [x \in {} |-> 0]
    /\ LET others == MembersOf(local[m].view) \ {m} IN
       /\ \A x \in others : x \in up /\ at[x] = at[m] /\ ~local[x].has /\ (local[x].settled \/ local[x].vacant)
       /\ LET step == Ask([local[m] EXCEPT !.refused = others], <<>>)
          IN Clean(step.state) # local[m] /\ Apply(m, at[m], step, <<>>, order, early)
    /\ UNCHANGED acked /\ Quiet("AllRefuse", m)

-----------------------------------------------------------------------------
(* Views *)

\* Its messages that it has not delivered are multicast again.
RECURSIVE Again(_, _)
Again(m, n) ==
    IF n > local[m].sent THEN <<>>
    ELSE (IF Got(m, <<m, n>>) THEN <<>> ELSE <<[by |-> m, message |-> AppMessage(n, 1, n)]>>) \o Again(m, n + 1)

Longer(list, k, new) == IF k \in DOMAIN list THEN list ELSE Append(list, new)
NewFunction == [m \in {} |-> 0]

\* m installs view number k of `known`.
Installs(m, k, known) ==
    LET v == known[k]
        u == at[m]
        cuts == Longer(cut, k, NewFunction)
        goers == {x \in up : x \in DOMAIN v.from /\ v.from[x] = u /\ at[x] = u}
        where == IF u \in DOMAIN cuts[k] THEN cuts[k][u] ELSE Greatest({place[x] : x \in goers \cup {m}})
        own == {p[1] : p \in {p \in got[m] : p[1][1] = m /\ p[2] = u}}
        merges == Cardinality(Sources(v)) > 1
    IN /\ m \in up /\ m \in DOMAIN v.from /\ v.from[m] = u /\ k > u
       /\ u # 0 => place[m] = where
       /\ views' = known
       /\ cut' = IF u = 0 \/ u \in DOMAIN cuts[k] THEN cuts ELSE [cuts EXCEPT ![k] = Updated(@, u, where)]
       /\ at' = [at EXCEPT ![m] = k]
       /\ place' = [place EXCEPT ![m] = 0]
       /\ reports' = LET all == Longer(reports, k, NewFunction) IN [all EXCEPT ![k] = Updated(@, m, records[m])]
       /\ records' = [records EXCEPT ![m] = Vote!Attempted([member |-> m, attempts |-> records[m]], PlainView(v))]
       /\ open' = [open EXCEPT ![m] = IF u = 0 \/ merges THEN {} ELSE @ \cup own]
       /\ LET step == Step(local[m], ViewEvent(v))
              goes == k \notin DOMAIN views \/ IsOpen(m, k)
              casts == Again(m, 1) \o Multicasts(m, step.effects)
              orders == Longer(order, k, <<>>)
              earlies == Longer(early, k, <<>>)
          IN /\ local' = [local EXCEPT ![m] = Clean(step.state)]
             /\ knows' = [knows EXCEPT ![m] = Knows(m, step.effects)]
             /\ order' = IF goes /\ orders[k] # <<>> THEN [orders EXCEPT ![k] = @ \o casts] ELSE orders
             /\ early' = IF goes /\ orders[k] = <<>> THEN [earlies EXCEPT ![k] = @ \o casts] ELSE earlies
             /\ Reports(m, k, step.effects)
       /\ heard' = Longer(heard, k, {})
    /\ UNCHANGED <<state, got, numbers, acked, up, restarts>>

InstallNew(m) ==
    /\ Environment("InstallNew", m, None, {})
    /\ Len(views) < MaxViews
    /\ \E set \in SUBSET up : m \in set /\ \E c \in set : Installs(m, Len(views) + 1, Append(views, ViewWith(Len(views) + 1, c, set)))

InstallDecided(m) ==
    /\ Environment("InstallDecided", m, None, {})
    /\ \E k \in DOMAIN views : Installs(m, k, views)

\* The coordinator of a view has reports that are enough.
Form(c) ==
    LET k == at[c] IN
    /\ c \in up /\ k # 0 /\ CoordinatorOf(views[k]) = c /\ ~IsFormedView(k) /\ ~IsClosed(c)
    /\ \E from \in SUBSET DOMAIN reports[k] :
        LET those == [m \in from |-> reports[k][m]] IN
        /\ Vote!IsQuorum(those, PlainView(views[k]))
        /\ LET base == Vote!BaseOf(those, PlainView(views[k]))
               step == Step(local[c], [type |-> "ViewFormed", view_id |-> views[k].id, before |-> base])
           IN Apply(c, k, step, <<>>,
                    [order EXCEPT ![k] = <<[by |-> c, message |-> [type |-> "FORMED", before |-> base, payload |-> 0]]>> \o early[k]],
                    [early EXCEPT ![k] = <<>>])
    /\ place' = [place EXCEPT ![c] = 1]
    /\ Environment("Form", c, None, {})
    /\ records' = [records EXCEPT ![c] = <<PlainView(views[k])>>]
    /\ heard' = [heard EXCEPT ![at[c]] = @ \cup {c}]
    /\ UNCHANGED <<views, at, reports, cut, got, open, numbers, acked, up, restarts>>

\* m begins again: with its record, and without its state.
Restart(m) ==
    /\ m \in up /\ restarts < MaxRestarts
    /\ \E n \in Member \ up :
        /\ IsFormer(m, n) /\ ~\E x \in Member : IsFormer(m, x) /\ IsFormer(x, n)
        /\ up' = (up \ {m}) \cup {n}
        /\ records' = [records EXCEPT ![n] = records[m]]
    /\ restarts' = restarts + 1
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<views, at, local, reports, early, order, cut, place, state, knows, got, open, numbers, acked, heard, safe>>

Init ==
    /\ views = <<[id |-> ViewId(1, Founders[1]), members |-> Founders, from |-> [m \in {} |-> 0]]>>
    /\ at = [m \in Member |-> IF m \in MembersOf(views[1]) THEN 1 ELSE 0]
    /\ local = [m \in Member |-> IF at[m] = 0 THEN Start(m)
                                 ELSE [Start(m) EXCEPT !.view = PlainView(views[1]), !.has = TRUE, !.formed = 1, !.stood = 1]]
    /\ records = [m \in Member |-> IF at[m] = 0 THEN <<>> ELSE <<PlainView(views[1])>>]
    /\ reports = <<[m \in {} |-> 0]>>
    /\ early = <<<<>>>>
    /\ order = <<<<[by |-> Founders[1], message |-> [type |-> "FORMED", before |-> 0, payload |-> 0]]>>>>
    /\ cut = <<[u \in {} |-> 0]>>
    /\ place = [m \in Member |-> IF at[m] = 0 THEN 0 ELSE 1]
    /\ state = [m \in Member |-> {}] /\ got = state /\ open = state
    /\ knows = [m \in Member |-> at[m] # 0]
    /\ numbers = [m \in Member |-> <<>>] /\ acked = [m \in Member |-> 0]
    /\ heard = <<MembersOf(views[1])>>
    /\ safe = {}
    /\ up = {m \in Member : ~\E x \in Member : IsFormer(x, m)}
    /\ restarts = 0
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ SafeTells(m)
        \/ AppSends(m)
        \/ TellsSoon(m)
        \/ Deliver1(m)
        \/ Takes(m)
        \/ AllRefuse(m)
        \/ InstallNew(m)
        \/ InstallDecided(m)
        \/ Form(m)
        \/ Restart(m)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Claims *)

TypeOK ==
    /\ DOMAIN reports = DOMAIN views /\ DOMAIN early = DOMAIN views /\ DOMAIN order = DOMAIN views /\ DOMAIN cut = DOMAIN views
    /\ \A m \in Member :
        /\ at[m] \in 0 .. Len(views) /\ local[m].member = m
        /\ at[m] # 0 => local[m].view = PlainView(views[at[m]]) /\ place[m] <= Len(order[at[m]])
        /\ local[m].vacant => ~local[m].settled

\* It is in a formed view, and no choice is open there.
IsPrimary(m) == m \in up /\ at[m] # 0 /\ IsFormed(local[m]) /\ local[m].has /\ local[m].settled /\ ~local[m].declared

\* A message that is safe is in each state of the primary after that.
SafeIsKept == \A m \in Member : IsPrimary(m) => \A x \in safe : x[2] <= at[m] => x[1] \in state[m]

\* An application knows by the events alone whether it has the state of the group: it hears so at once when that is decided.
KnowsItsState ==
    \A m \in up :
        /\ (local[m].has /\ local[m].settled) => knows[m]
        /\ knows[m] => local[m].has /\ ~local[m].vacant

\* Where all members are there, and none has begun again, one has the state of the primary.
HolderWins ==
    (restarts = 0 /\ \A m \in up : at[m] # 0 /\ MembersOf(local[m].view) = up /\ at[m] = at[CHOOSE x \in up : TRUE])
        => \A m \in up : ~local[m].vacant

-----------------------------------------------------------------------------
(* Witnesses *)

VacantView == \E m \in up : local[m].vacant
=============================================================================
