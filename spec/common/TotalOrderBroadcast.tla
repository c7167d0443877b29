------------------------- MODULE TotalOrderBroadcast ------------------------
(******************************************************************************)
(* The guarantee that SEQUENCER implements, without coordinators, forwards or *)
(* tables: each view has one order of messages, which grows, and its members  *)
(* deliver it, message by message. Survivors have delivered the same prefix   *)
(* of it: the cut. Messages after the cut may be ordered again in later       *)
(* views. Messages before the cut are ordered once and for all, as far as the *)
(* sender knows. If the members of a view split, and the sender is in the     *)
(* other subgroup, such a message may be ordered again when they merge. A     *)
(* member that has delivered it by then does not deliver it again.            *)
(*                                                                            *)
(* It binds the present only: an order is written when it grows, a cut when   *)
(* the first survivor leaves. A member that crashes, or is excluded, may have *)
(* delivered more than the cut.                                               *)
(*                                                                            *)
(* A step of the implementation may do several things at once (a view is      *)
(* installed, and messages are ordered in it). So the allowed steps are       *)
(* defined by conjuncts. A claim for each conjunct has its name.              *)
(******************************************************************************)
EXTENDS Views, Integers, FiniteSets

CONSTANTS
    Member,     \* all addresses
    First       \* the views at the start (see Membership)

VARIABLES
    views, installed, life, up,     \* see Membership and VirtualSynchrony
    path,       \* [Member -> the views that its incarnation has installed, in order]
    sent,       \* [Member -> how many messages it has sent, over its incarnations]
    order,      \* per view: the messages ordered in it, <<sender, number>>
    cut,        \* per view: [a view before it, once some member came from there -> how many of its order all deliver]
    delivered   \* [Member -> what its incarnation has delivered, in order: <<sender, number, number of the view>>]

total_order_vars == <<views, installed, life, up, path, sent, order, cut, delivered>>

Group == INSTANCE Membership WITH Off <- {"ExcludedFirst", "JoinsOnce"}

LOCAL Message(d) == <<d[1], d[2]>>

LOCAL DeliveredIn(deliveries, k) ==
    LET InView(d) == d[3] = k IN SelectSeq(deliveries, InView)

LOCAL IsPrefix(s, t) == Len(s) <= Len(t) /\ s = SubSeq(t, 1, Len(s))

LOCAL DeliveredBefore(deliveries, k) == {Message(d) : d \in {deliveries[i] : i \in {i \in DOMAIN deliveries : deliveries[i][3] < k}}}

\* The first n of an order, without what was delivered before the view.
LOCAL ToDeliver(messages, n, before) ==
    LET IsNew(x) == x \notin before IN SelectSeq(SubSeq(messages, 1, n), IsNew)

LOCAL OrderOf(orders, k) == IF k \in DOMAIN orders THEN orders[k] ELSE <<>>

-----------------------------------------------------------------------------
(* Allowed steps      *)

\* The order of a view changes only by appending.
OrderOnlyGrows == \A k \in DOMAIN order : IsPrefix(order[k], order'[k])

\* Every ordered message was sent.
OrdersOnlySent ==
    \A k \in DOMAIN order' : \A i \in Len(OrderOf(order, k)) + 1 .. Len(order'[k]) :
        order'[k][i][2] \in 1 .. sent'[order'[k][i][1]]

\* The sender of every ordered message is a member of the view.
OrdersOnlyForMembers ==
    \A k \in DOMAIN order' : \A i \in Len(OrderOf(order, k)) + 1 .. Len(order'[k]) :
        order'[k][i][1] \in DOMAIN views'[k].lives

\* A message is ordered at most once in a view, and not again after a cut on its sender's path that contains it.
OrdersOnce ==
    \A k \in DOMAIN order' : \A i \in Len(OrderOf(order, k)) + 1 .. Len(order'[k]) :
        /\ \A j \in 1 .. i - 1 : order'[k][j] # order'[k][i]
        /\ LET way == path'[order'[k][i][1]] IN
           \A n \in 2 .. Len(way) :
            LET u == way[n - 1]
                w == way[n]
            IN (w <= k /\ u \in DOMAIN cut'[w]) => \A j \in 1 .. cut'[w][u] : order'[u][j] # order'[k][i]

\* A member delivers the next message of its view's order, one at a time.
DeliversInOrder ==
    \A m \in Member :
        (life'[m] = life[m] /\ delivered'[m] # delivered[m]) =>
            LET k == installed'[m]
                n == Len(DeliveredIn(delivered[m], k)) + 1
                all == ToDeliver(order'[k], Len(order'[k]), DeliveredBefore(delivered[m], k))
            IN /\ k # 0 /\ n <= Len(all)
               /\ delivered'[m] = Append(delivered[m], <<all[n][1], all[n][2], k>>)

\* A cut never changes.
CutNeverChanges == \A k \in DOMAIN cut : \A u \in DOMAIN cut[k] : u \in DOMAIN cut'[k] /\ cut'[k][u] = cut[k][u]

\* A member that leaves a view has delivered its order exactly up to the cut.
LeavesAtOrderCut ==
    \A m \in Member :
        (life'[m] = life[m] /\ installed'[m] # installed[m] /\ installed[m] # 0) =>
            LET u == installed[m]
                k == installed'[m]
            IN /\ u \in DOMAIN cut'[k]
               /\ Len(DeliveredIn(delivered[m], u))
                    = Len(ToDeliver(order'[u], cut'[k][u], DeliveredBefore(delivered[m], u)))

\* No remaining survivor has delivered beyond the cut.
NoneBeyondCut ==
    \A k \in DOMAIN cut' : \A u \in DOMAIN cut'[k] : \A m \in up' :
        (installed'[m] = u /\ life'[m] = life[m] /\ (u \in Group!Sources(views[k], m))') =>
            Len(DeliveredIn(delivered'[m], u)) <= cut'[k][u]

\* A new incarnation has delivered nothing.
NewIncarnationIsEmpty == \A m \in Member : life'[m] # life[m] => delivered'[m] = <<>>

Init ==
    /\ Group!Init
    /\ up = Member
    /\ path = [m \in Member |-> IF installed[m] = 0 THEN <<>> ELSE <<installed[m]>>]
    /\ sent = [m \in Member |-> 0]
    /\ order = [k \in DOMAIN views |-> <<>>]
    /\ cut = [k \in DOMAIN views |-> [u \in {} |-> 0]]
    /\ delivered = [m \in Member |-> <<>>]

\* Where a suspicion was false views branch. A member of a branch may have delivered messages outside the cut of
\* another branch: all conjuncts hold but NoneBeyondCut.
BranchNext ==
    /\ OrderOnlyGrows
    /\ OrdersOnlySent
    /\ OrdersOnlyForMembers
    /\ OrdersOnce
    /\ DeliversInOrder
    /\ CutNeverChanges
    /\ LeavesAtOrderCut
    /\ NewIncarnationIsEmpty

Next == BranchNext /\ NoneBeyondCut

Spec == Init /\ [][Next]_total_order_vars
=============================================================================
