------------------------- MODULE SequencerInductive --------------------------
(******************************************************************************)
(* Why TotalOrder and Agreement hold in a group of any size: an invariant     *)
(* that holds at the start, that every step keeps, and from which the         *)
(* claims follow. TLC checks it in the models of models.yaml, where it        *)
(* could only be found wrong. See docs/proof.md.                              *)
(*                                                                            *)
(* The idea. A member submits a multicast to the coordinator of each view     *)
(* that it installs, until it has received it. So a multicast may be in       *)
(* the logs of several views, all of them of its sender's path. But the       *)
(* survivors of a view have received the same beginning of its log, up to     *)
(* the cut. A multicast within a cut is received by its sender, which does    *)
(* not submit it again in a later view. So a multicast is in one cut at most, *)
(* and its place there is its place for every member.                         *)
(*                                                                            *)
(* Scope (InScope). Views form a forest: no view is merged. Of                *)
(* VirtualSynchrony: Sending View Delivery, Fifo and LeavesWithCut; of        *)
(* ReliableUnicast: fifo. SEQUENCER hears of no suspicion.                    *)
(******************************************************************************)
EXTENDS SequencerClaims, ViewsAsRead

-----------------------------------------------------------------------------
(* Vocabulary. As in StableInductive, the solver knows the names alone, and reads "x \in Member" as any incarnation. *)

Begun(x) == installed[x] # 0

\* x, in its present incarnation, is a member of view number v.
In(v, x) == Has(views[v], x, life[x])

SameAddress(x, y) == x = y

\* Some incarnation of the address is.
AddressIn(v, x) == x \in DOMAIN views[v].lives

Parent(v) == CHOOSE u \in views[v].preds : TRUE

\* There is a path from view u to view v, or they are one.
RECURSIVE Before(_, _)
Before(u, v) == u = v \/ (u < v /\ ~IsFirst(views[v]) /\ Before(u, Parent(v)))

\* The view after u on the way to v.
Toward(u, v) == CHOOSE k \in DOMAIN views : ~IsFirst(views[k]) /\ Parent(k) = u /\ Before(k, v)

Follows(k) == ~IsFirst(views[k])
Counter(v) == views[v].id.counter
Leader(v) == CoordinatorOf(views[v])
LeaderPresent(v) == In(v, Leader(v))

\* The numbers of multicasts. (The solver: all integers.)
Numbers == UNION {1 .. sent[m] : m \in Member}

IsOf(x, s, v, n) == x.type # "PLAIN" /\ x.view_id = views[v].id /\ x.tag = Tag(s, local[s].epoch, n)

\* Where in the log of view v multicast n of s is; 0: nowhere.
Pos(v, s, n) ==
    LET at == {i \in DOMAIN log[v][Leader(v)] : Begun(s) /\ IsOf(log[v][Leader(v)][i], s, v, n)}
    IN IF at = {} THEN 0 ELSE CHOOSE i \in at : \A j \in at : i <= j
LogLength(v) == Len(log[v][Leader(v)])

\* The FORWARD of view v is on its way; it is held by r, who is not there yet.
OnWire(s, v, n) == Begun(s) /\ \E i \in DOMAIN wire[s][Leader(v)] : IsOf(wire[s][Leader(v)][i], s, v, n)
HeldAt(r, s, v, n) == Begun(s) /\ \E i \in DOMAIN local[r].early : IsOf(local[r].early[i], s, v, n)
HeldFor(s, v, n) == LeaderPresent(v) /\ In(v, s) /\ HeldAt(Leader(v), s, v, n)

InTable(s, n) == \E i \in DOMAIN local[s].forward_table : local[s].forward_table[i].seqno = n
SeqnoOf(s) == local[s].seqno

\* How much of the log of its view x has received; and how much of the log of the view before k the survivors receive.
Got(x) == Cardinality(got[x])
Settled(k) == Follows(k) /\ Parent(k) \in DOMAIN settled[k]
Cut(k) == Cardinality(settled[k][Parent(k)])

\* x began with view v.
BeganWith(x, v) == Begun(x) /\ views[v].id = local[x].epoch

\* x has received multicast n, and none higher, of an incarnation of this address that began with view v.
HasRecorded(x, s, v, n) ==
    /\ s \in DOMAIN local[x].received_table
    /\ local[x].received_table[s].epoch = views[v].id
    /\ local[x].received_table[s].seqno = n

\* When x delivered multicast n of s, and that in view v; 0: not.
Turn(x, v, s, n) ==
    LET at == {i \in DOMAIN aux_delivered[x] : Begun(s) /\ n <= local[s].seqno /\ aux_delivered[x][i] = <<s, Number(s, n), v>>}
    IN IF at = {} THEN 0 ELSE CHOOSE i \in at : \A j \in at : i <= j
Turns(x) == Len(aux_delivered[x])

-----------------------------------------------------------------------------
(* The forest of views: what the proof takes from Membership *)

BeforeIsReflexive == \A v \in DOMAIN views : Before(v, v)
BeforeIsTransitive == \A u, v, w \in DOMAIN views : Before(u, v) /\ Before(v, w) => Before(u, w)
BeforeIsAntisymmetric == \A u, v \in DOMAIN views : Before(u, v) /\ Before(v, u) => u = v
OnePathTo == \A u, v, w \in DOMAIN views : Before(u, w) /\ Before(v, w) => Before(u, v) \/ Before(v, u)
ParentIsBefore == \A w \in DOMAIN views : Follows(w) => Before(Parent(w), w) /\ Parent(w) # w
BeforeByParent == \A u, w \in DOMAIN views : Before(u, w) /\ u # w => Follows(w) /\ Before(u, Parent(w))
OneStepToward ==
    \A u, v \in DOMAIN views : Before(u, v) /\ u # v =>
        Follows(Toward(u, v)) /\ Parent(Toward(u, v)) = u /\ Before(Toward(u, v), v)
CountersRise == \A u, v \in DOMAIN views : Before(u, v) /\ u # v => Counter(u) < Counter(v)
CountersArePositive == \A v \in DOMAIN views : Counter(v) > 0

Forest ==
    /\ BeforeIsReflexive
    /\ BeforeIsTransitive
    /\ BeforeIsAntisymmetric
    /\ OnePathTo
    /\ ParentIsBefore
    /\ BeforeByParent
    /\ OneStepToward
    /\ CountersRise
    /\ CountersArePositive

-----------------------------------------------------------------------------
(* The invariant: paths *)

Own == \A x \in InGroup : Took(x, installed[x])

PathIsWhole ==
    /\ \A x \in Member, v \in DOMAIN views : Took(x, v) => Begun(x) /\ In(v, x) /\ Before(v, installed[x])
    /\ \A x \in Member, u, v \in DOMAIN views : Took(x, u) /\ Before(u, v) /\ Before(v, installed[x]) => Took(x, v)

\* Of an address one incarnation is up.
OneLife == \A x, y \in Member : x \in up /\ y \in up /\ SameAddress(x, y) => x = y

BeganOnPath == \A x \in InGroup, v \in DOMAIN views : BeganWith(x, v) => Took(x, v)

(* The invariant: what was submitted *)

Submitted(s, v, n) == Pos(v, s, n) > 0 \/ OnWire(s, v, n) \/ HeldFor(s, v, n)

SubmittedOnPath ==
    \A s \in Member, v \in DOMAIN views, n \in Numbers :
        /\ Submitted(s, v, n) => Took(s, v) /\ 1 <= n /\ n <= SeqnoOf(s)
        \* (A coordinator orders its own.)
        /\ OnWire(s, v, n) \/ HeldFor(s, v, n) => s # Leader(v)

SubmittedOnce ==
    \A s \in Member, v \in DOMAIN views, n \in Numbers :
        /\ Pos(v, s, n) > 0 => ~OnWire(s, v, n) /\ ~HeldFor(s, v, n)
        /\ OnWire(s, v, n) => ~HeldFor(s, v, n)

LogIsSequence ==
    /\ \A v \in DOMAIN views : LogLength(v) >= 0
    /\ \A s \in Member, v \in DOMAIN views, n \in Numbers : Pos(v, s, n) >= 0 /\ Pos(v, s, n) <= LogLength(v)
    /\ \A s, t \in Member, v \in DOMAIN views, m, n \in Numbers :
        Pos(v, s, m) > 0 /\ Pos(v, t, n) = Pos(v, s, m) => s = t /\ m = n

\* The submissions of a member in a view rise: first the log, then what is held, then the wire.
Rising ==
    \A s \in Member, v \in DOMAIN views, m, n \in Numbers :
        /\ Pos(v, s, m) > 0 /\ Pos(v, s, n) > Pos(v, s, m) => m < n
        /\ Pos(v, s, m) > 0 /\ OnWire(s, v, n) => m < n
        /\ Pos(v, s, m) > 0 /\ HeldFor(s, v, n) => m < n
        /\ HeldFor(s, v, m) /\ OnWire(s, v, n) => m < n

HeldIsLater ==
    \A r \in InGroup, s \in Member, v \in DOMAIN views, n \in Numbers :
        HeldAt(r, s, v, n) => Counter(v) > Counter(installed[r])

\* A multicast that a coordinator will order is from an incarnation in the view. (Others may send by mistake, and no
\* member will order it.)
HeldIsByMember ==
    \A s \in Member, v \in DOMAIN views, n \in Numbers :
        LeaderPresent(v) /\ HeldAt(Leader(v), s, v, n) /\ AddressIn(v, s) => In(v, s)

(* The invariant: forward-tables *)

TableIsInterval ==
    /\ \A s \in Member : SeqnoOf(s) >= 0
    /\ \A s \in Member, n \in Numbers :
        InTable(s, n) =>
            /\ Begun(s) /\ 1 <= n /\ n <= SeqnoOf(s)
            /\ \A m \in Numbers : n <= m /\ m <= SeqnoOf(s) => InTable(s, m)

\* The coordinator of view v may still order in it.
MayOrder(v) ==
    /\ LeaderPresent(v) /\ Leader(v) \in up
    /\ Begun(Leader(v)) => Before(installed[Leader(v)], v)

TableIsSubmitted ==
    \A s \in InGroup, n \in Numbers :
        InTable(s, n) /\ MayOrder(installed[s]) => Submitted(s, installed[s], n)

NoGapsInLog ==
    \A s \in InGroup, m, n \in Numbers :
        InTable(s, m) /\ m < n /\ Pos(installed[s], s, n) > 0 => Pos(installed[s], s, m) > 0

\* The table holds no more what its owner has received.
TableIsUnreceived ==
    /\ \A s \in InGroup, m, n \in Numbers :
        InTable(s, n) /\ Pos(installed[s], s, m) > 0 /\ Pos(installed[s], s, m) <= Got(s) => m < n
    /\ \A s \in InGroup, k \in DOMAIN views, m, n \in Numbers :
        /\ Follows(k) /\ Took(s, k) /\ Took(s, Parent(k)) /\ InTable(s, n)
        /\ Pos(Parent(k), s, m) > 0 /\ Pos(Parent(k), s, m) <= Cut(k)
        => m < n

\* A multicast within a cut is not submitted again beyond it.
SettledIsOver ==
    \A s \in Member, k, v \in DOMAIN views, m, n \in Numbers :
        /\ Settled(k) /\ Before(k, v)
        /\ Pos(Parent(k), s, m) > 0 /\ Pos(Parent(k), s, m) <= Cut(k)
        =>
        /\ Pos(v, s, n) > 0 => m < n
        /\ OnWire(s, v, n) => m < n
        /\ HeldFor(s, v, n) => m < n

(* The invariant: what was received and delivered *)

GotIsOfLog == \A x \in InGroup : 0 <= Got(x) /\ Got(x) <= LogLength(installed[x])

CutIsOfLog == \A k \in DOMAIN views : Settled(k) => 0 <= Cut(k) /\ Cut(k) <= LogLength(Parent(k))

CutIsTaken == \A x \in Member, k \in DOMAIN views : Follows(k) /\ Took(x, k) /\ Took(x, Parent(k)) => Settled(k)

DeliveredIsReceived ==
    \A x, s \in Member, v \in DOMAIN views, n \in Numbers :
        Turn(x, v, s, n) > 0 =>
            /\ Took(x, v) /\ Pos(v, s, n) > 0
            /\ v = installed[x] => Pos(v, s, n) <= Got(x)
            /\ \A k \in DOMAIN views : Follows(k) /\ Parent(k) = v /\ Took(x, k) => Pos(v, s, n) <= Cut(k)

ReceivedIsDelivered ==
    \A x, s \in Member, n \in Numbers :
        /\ Begun(x) /\ Pos(installed[x], s, n) > 0 /\ Pos(installed[x], s, n) <= Got(x) => Turn(x, installed[x], s, n) > 0
        /\ \A k \in DOMAIN views :
            /\ Follows(k) /\ Took(x, k) /\ Took(x, Parent(k))
            /\ Pos(Parent(k), s, n) > 0 /\ Pos(Parent(k), s, n) <= Cut(k)
            => Turn(x, Parent(k), s, n) > 0

TurnsFollowLogs ==
    /\ \A x \in Member : Turns(x) >= 0
    /\ \A x, s \in Member, v \in DOMAIN views, n \in Numbers : 0 <= Turn(x, v, s, n) /\ Turn(x, v, s, n) <= Turns(x)
    /\ \A x, s, t \in Member, u, v \in DOMAIN views, m, n \in Numbers :
        Turn(x, u, s, m) > 0 /\ Turn(x, v, t, n) > 0 =>
            /\ u # v /\ Before(u, v) => Turn(x, u, s, m) < Turn(x, v, t, n)
            /\ u = v /\ Pos(u, s, m) < Pos(u, t, n) => Turn(x, u, s, m) < Turn(x, u, t, n)

RecordedWasDelivered ==
    \A x, s \in Member, v \in DOMAIN views, n \in Numbers :
        HasRecorded(x, s, v, n) /\ In(v, s) =>
            /\ Begun(x) /\ BeganWith(s, v)
            /\ \E w \in DOMAIN views : Turn(x, w, s, n) > 0

Inductive ==
    /\ Own
    /\ PathIsWhole
    /\ OneLife
    /\ BeganOnPath
    /\ SubmittedOnPath
    /\ SubmittedOnce
    /\ LogIsSequence
    /\ Rising
    /\ HeldIsLater
    /\ HeldIsByMember
    /\ TableIsInterval
    /\ TableIsSubmitted
    /\ NoGapsInLog
    /\ TableIsUnreceived
    /\ SettledIsOver
    /\ GotIsOfLog
    /\ CutIsOfLog
    /\ CutIsTaken
    /\ DeliveredIsReceived
    /\ ReceivedIsDelivered
    /\ TurnsFollowLogs
    /\ RecordedWasDelivered

-----------------------------------------------------------------------------
(* Consequences: steps on the way to the claims *)

\* A multicast that is in the logs of two views is beyond the cut of the first.
BeyondTheCut ==
    \A s \in Member, u, v \in DOMAIN views, n \in Numbers :
        Before(u, v) /\ u # v /\ Pos(u, s, n) > 0 /\ Pos(v, s, n) > 0 =>
            /\ Settled(Toward(u, v)) /\ Parent(Toward(u, v)) = u
            /\ Pos(u, s, n) > Cut(Toward(u, v))

\* A multicast to come is higher than the received-table's entry.
ToComeIsHigher ==
    \A x \in InGroup, s \in Member, v \in DOMAIN views, m, n \in Numbers :
        HasRecorded(x, s, v, m) /\ BeganWith(s, v) /\ Pos(installed[x], s, n) > Got(x) => m < n

-----------------------------------------------------------------------------
(* The claims, by numbers *)

\* The delivery of x is within the cuts: survivors by an edge that x did not take have received it, too.
IsSettled(x, v, s, n) ==
    \A k \in DOMAIN views : Settled(k) /\ Parent(k) = v /\ ~Took(x, k) => Pos(v, s, n) <= Cut(k)

\* A multicast that two members have delivered, and both settled, they delivered in one view.
OnePlace ==
    \A x, y, s \in Member, u, v \in DOMAIN views, n \in Numbers :
        /\ Turn(x, u, s, n) > 0 /\ IsSettled(x, u, s, n)
        /\ Turn(y, v, s, n) > 0 /\ IsSettled(y, v, s, n)
        => u = v

NumberedTotalOrder ==
    \A x, y, s, t \in Member, u, v \in DOMAIN views, m, n \in Numbers :
        /\ Turn(x, u, s, m) > 0 /\ Turn(y, u, s, m) > 0
        /\ Turn(x, v, t, n) > 0 /\ Turn(y, v, t, n) > 0
        /\ Turn(x, u, s, m) < Turn(x, v, t, n)
        => Turn(y, u, s, m) < Turn(y, v, t, n)

NumberedAgreement ==
    \A x, y, s \in Member, k \in DOMAIN views, n \in Numbers :
        /\ Follows(k) /\ Took(x, k) /\ Took(y, k) /\ Took(x, Parent(k)) /\ Took(y, Parent(k))
        /\ Turn(x, Parent(k), s, n) > 0
        => Turn(y, Parent(k), s, n) > 0

\* No member delivers a multicast twice, in whatever views.
DeliveredOnce ==
    \A x, s \in Member, u, v \in DOMAIN views, n \in Numbers :
        Turn(x, u, s, n) > 0 /\ Turn(x, v, s, n) > 0 => u = v

\* The scope of the proof: no view is merged, and the layers below give what it needs.
InScope ==
    /\ \A v \in DOMAIN views : Cardinality(views[v].preds) <= 1
    /\ {"SendingViewDelivery", "Fifo", "LeavesWithCut"} \cap Without = {}
    /\ "CastOnlyBeforeCut" \in Without
    /\ Unicast = "fifo" /\ MaxLostData = 0 /\ MaxSuspicions = 0
    /\ SendIsAtomic /\ ResendBeforeNew /\ Dedup = "highest"

\* For TLC.
ForestAndInvariant == InScope => Forest /\ Inductive /\ BeyondTheCut /\ ToComeIsHigher /\ OnePlace /\ NumberedTotalOrder /\ NumberedAgreement /\ DeliveredOnce
-----------------------------------------------------------------------------
(* For TLC: the state as the solver has it (ViewsAsRead).                     *)

IsPresent(x) == x.life = life[x.address]
NumbersSoFar == {0} \cup UNION {1 .. 1 + sent[m] : m \in Member}

LeaderIn(vs, v) == OccupantIn(vs, v, IF v \in DOMAIN vs THEN CoordinatorOf(vs[v]) ELSE "")
FollowsIn(vs, v) == v \in DOMAIN vs /\ vs[v].preds # {}
ParentIn(vs, v) == IF FollowsIn(vs, v) THEN CHOOSE u \in vs[v].preds : TRUE ELSE 0
RECURSIVE BeforeIn(_, _, _)
BeforeIn(vs, u, v) == u = v \/ (u < v /\ FollowsIn(vs, v) /\ BeforeIn(vs, u, ParentIn(vs, v)))

\* The message is multicast n of this incarnation, of view v. (An incarnation joins with one view: the address there
\* stands for this incarnation.)
IsOfLife(x, s, v, n) ==
    /\ x.type # "PLAIN" /\ x.view_id = views[v].id /\ x.tag.sender = s.address /\ x.tag.seqno = n
    /\ \E k \in DOMAIN views : views[k].id = x.tag.epoch /\ Has(views[k], s.address, s.life)

JoinedWith(x) == {v \in DOMAIN views : Has(views[v], x.address, x.life) /\ x.address \in views[v].joins}

BegunNow(x) == IsPresent(x) /\ Begun(x.address)
InstalledNow(x) == IF IsPresent(x) THEN installed[x.address] ELSE 0
BeganNow(x) ==
    IF IsPresent(x) THEN NumberIn(views, local[x.address].epoch)
    ELSE IF JoinedWith(x) = {} THEN 0 ELSE CHOOSE v \in JoinedWith(x) : TRUE
TookNow(x, v) == IsPresent(x) /\ Took(x.address, v)
UpNow(x) == IsPresent(x) /\ x.address \in up
SeqnoNow(x) == IF IsPresent(x) THEN local[x.address].seqno ELSE 0
TableNow(x, n) == IsPresent(x) /\ InTable(x.address, n)
KnownNow(x, m) == IsPresent(x) /\ m \in DOMAIN local[x.address].received_table
KnownInNow(x, m) == IF KnownNow(x, m) THEN NumberIn(views, local[x.address].received_table[m].epoch) ELSE 0
HighestNow(x, m) == IF KnownNow(x, m) THEN local[x.address].received_table[m].seqno ELSE 0
HeldNow(r, s, v, n) ==
    /\ IsPresent(r) /\ v \in DOMAIN views
    /\ \E i \in DOMAIN local[r.address].early : IsOfLife(local[r.address].early[i], s, v, n)
WireNow(s, v, n) ==
    LET queue == wire[s.address][CoordinatorOf(views[v])]
    IN v \in DOMAIN views /\ \E i \in DOMAIN queue : IsOfLife(queue[i], s, v, n)
LogNow(v) == IF v \in DOMAIN views THEN log[v][CoordinatorOf(views[v])] ELSE <<>>
PosNow(v, s, n) ==
    LET at == {i \in DOMAIN LogNow(v) : IsOfLife(LogNow(v)[i], s, v, n)}
    IN IF at = {} THEN 0 ELSE CHOOSE i \in at : \A j \in at : i <= j
LengthNow(v) == Len(LogNow(v))
GotNow(x) == IF IsPresent(x) THEN Got(x.address) ELSE 0
SettledNow(v) == v \in DOMAIN views /\ Settled(v)
CutNow(v) == IF SettledNow(v) THEN Cut(v) ELSE 0
TurnNow(x, v, s, n) ==
    LET p == PosNow(v, s, n)
        at == {i \in DOMAIN aux_delivered[x.address] : aux_delivered[x.address][i] = <<s.address, LogNow(v)[p].payload, v>>}
    IN IF ~IsPresent(x) \/ aux_delivered[x.address] = <<>> \/ p = 0 \/ at = {} THEN 0 ELSE CHOOSE i \in at : \A j \in at : i <= j
TurnsNow(x) == IF IsPresent(x) THEN Turns(x.address) ELSE 0
=============================================================================
