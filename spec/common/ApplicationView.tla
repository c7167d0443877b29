-------------------------- MODULE ApplicationView ---------------------------
(******************************************************************************)
(* The guarantee of the whole stack to the applications of a group, in what   *)
(* they see alone: views, messages and blocks, and nothing of layers.         *)
(*                                                                            *)
(* A history is all that the application of one incarnation has asked and     *)
(* been told, in order:                                                       *)
(*                                                                            *)
(*     <<"sends", n>>               it multicasts its n-th message            *)
(*     <<"given", s, n>>            it is given message n of s                *)
(*     <<"view", id, members, of>>  it is told a view; a merged view is `of`  *)
(*                                  the views with these identifiers, another *)
(*                                  of none                                   *)
(*     <<"block">>, <<"unblock">>   Block, Unblock                            *)
(*     <<"left">>                   it has left the group                     *)
(*                                                                            *)
(* An identifier is <<counter, creator>>. Each incarnation has a name of its  *)
(* own, and numbers its messages from 1.                                      *)
(*                                                                            *)
(* All conjuncts are safety, of one history or of two. A violation stays, so  *)
(* histories may be judged at their end.                                      *)
(*                                                                            *)
(* Three exceptions are in the conjuncts. A member that knows a message       *)
(* before a view is not given it again in the view: two members are compared  *)
(* without what one of them knew (`NewIn`). A member begins closed, and is    *)
(* told so by no Block: BlockedBeforeView speaks of views after its first     *)
(* Block. A member that crashes or is cut off may have been given messages in *)
(* an order that no other member has: TotalOrder speaks of views that a       *)
(* member has left (`Settled`), where views are one path (`OnePath`).         *)
(******************************************************************************)
EXTENDS Naturals, Sequences

LOCAL Of(kind, h) == {i \in DOMAIN h : h[i][1] = kind}
LOCAL Upto(h, i) == SubSeq(h, 1, i)
LOCAL Greatest(S) == IF S = {} THEN 0 ELSE CHOOSE x \in S : \A y \in S : y <= x
LOCAL Least(S) == IF S = {} THEN 0 ELSE CHOOSE x \in S : \A y \in S : x <= y
LOCAL IsPrefix(s, t) == Len(s) <= Len(t) /\ s = SubSeq(t, 1, Len(s))

\* The place of the view in which place i of a history is, and of the view after it; 0 if there is none.
LOCAL ViewAt(h, i) == Greatest({j \in Of("view", h) : j < i})
LOCAL ViewAfter(h, i) == Least({j \in Of("view", h) : j > i})
\* The last Block or Unblock before place i.
LOCAL BlockAt(h, i) == Greatest({j \in Of("block", h) \cup Of("unblock", h) : j < i})

LOCAL Message(e) == <<e[2], e[3]>>
LOCAL IsGiven(e) == e[1] = "given"
LOCAL IsView(e) == e[1] = "view"
LOCAL Given(h) == LET all == SelectSeq(h, IsGiven) IN [i \in DOMAIN all |-> Message(all[i])]
LOCAL Known(h) == {Message(h[i]) : i \in Of("given", h)}
\* The way of a member: the identifiers of its views.
LOCAL Way(h) == LET all == SelectSeq(h, IsView) IN [i \in DOMAIN all |-> all[i][2]]

-----------------------------------------------------------------------------
(* Of one application: member m, with history h *)

\* A member is in each view that it is told.
SelfInclusion(m, h) == \A i \in Of("view", h) : \E k \in DOMAIN h[i][3] : h[i][3][k] = m

\* A view lists a member once.
OnceInView(m, h) == \A i \in Of("view", h) : \A k, l \in DOMAIN h[i][3] : h[i][3][k] = h[i][3][l] => k = l

\* The counters of a member's views rise.
ViewsRise(m, h) == \A i \in Of("view", h) : LET j == ViewAt(h, i) IN j # 0 => h[j][2][1] < h[i][2][1]

\* A merged view is of views one of which the member comes from.
MergesOwn(m, h) == \A i \in Of("view", h) : LET j == ViewAt(h, i) IN (j # 0 /\ h[i][4] # {}) => h[j][2] \in h[i][4]

\* A member sends and is given messages only in a view.
SendsInView(m, h) == \A i \in Of("sends", h) : ViewAt(h, i) # 0
DeliversInView(m, h) == \A i \in Of("given", h) : ViewAt(h, i) # 0

\* The sender of a message is in the view in which a member is given it.
SenderIsMember(m, h) ==
    \A i \in Of("given", h) : LET j == ViewAt(h, i) IN j # 0 => \E k \in DOMAIN h[j][3] : h[j][3][k] = h[i][2]

\* A member is given no message twice.
NoDuplicates(m, h) == \A i, j \in Of("given", h) : i # j => Message(h[i]) # Message(h[j])

\* Messages of a sender are given in the order sent.
SenderFifo(m, h) ==
    \A i, j \in Of("given", h) :
        (i < j /\ h[i][2] = h[j][2] /\ h[j][3] < h[i][3]) => \E l \in Of("given", h) : l < j /\ h[l] = h[j]

\* Block and Unblock alternate; Block is first.
BlocksAlternate(m, h) ==
    /\ \A i \in Of("block", h) : BlockAt(h, i) # 0 => h[BlockAt(h, i)][1] = "unblock"
    /\ \A i \in Of("unblock", h) : BlockAt(h, i) # 0 /\ h[BlockAt(h, i)][1] = "block"

\* From its first Block on, a member is told a view only between Block and Unblock.
BlockedBeforeView(m, h) ==
    \A i \in Of("view", h) :
        (ViewAt(h, i) # 0 /\ Of("block", Upto(h, i)) # {}) => h[BlockAt(h, i)][1] = "block"

\* A member that has left sees and asks nothing more.
NothingAfterLeft(m, h) == \A i \in Of("left", h) : i = Len(h)

-----------------------------------------------------------------------------
(* Of two: member m with history a, and member n with history b *)

\* What was given in the view at place i, in order, without what the other knew before its place j of that view.
LOCAL GivenIn(h, i) == Given(SubSeq(h, i, IF ViewAfter(h, i) = 0 THEN Len(h) ELSE ViewAfter(h, i)))
LOCAL NewIn(h, i, other, j) == LET IsNew(x) == x \notin Known(Upto(other, j)) IN SelectSeq(GivenIn(h, i), IsNew)

\* The places at which both are told one view.
LOCAL Same(a, b) == {p \in Of("view", a) \X Of("view", b) : a[p[1]][2] = b[p[2]][2]}

\* An identifier names one list of members, and one set of merged views.
OneIdentifierOneView(a, b) == \A p \in Same(a, b) : a[p[1]][3] = b[p[2]][3]
OneMergeOfView(a, b) == \A p \in Same(a, b) : (a[p[1]][4] # {} /\ b[p[2]][4] # {}) => a[p[1]][4] = b[p[2]][4]

\* In a view a member is given what the other is given, in one order, and is at most behind.
OneOrderInView(a, b) ==
    \A p \in Same(a, b) :
        LET x == NewIn(a, p[1], b, p[2])
            y == NewIn(b, p[2], a, p[1])
        IN IsPrefix(x, y) \/ IsPrefix(y, x)

\* Members that go from one view to the next together have been given the same in it, in one order.
VirtualSynchrony(a, b) ==
    \A p \in Same(a, b) :
        LET i == ViewAfter(a, p[1])
            j == ViewAfter(b, p[2])
        IN (i # 0 /\ j # 0 /\ a[i][2] = b[j][2]) => NewIn(a, p[1], b, p[2]) = NewIn(b, p[2], a, p[1])

\* What a member is given of another was sent by it; what it is given of itself it has sent before.
IntegrityOf(m, a, b) == \A i \in Of("given", b) : b[i][2] = m => \E j \in Of("sends", a) : a[j][2] = b[i][3]
OwnIntegrity(m, h) == \A i \in Of("given", h) : h[i][2] = m => \E j \in Of("sends", Upto(h, i)) : h[j][2] = h[i][3]
Integrity(m, a, n, b) == IntegrityOf(m, a, b) /\ IntegrityOf(n, b, a) /\ OwnIntegrity(m, a) /\ OwnIntegrity(n, b)

\* No message is skipped in silence. A member that has gone the same way as the sender since it sent a message is given
\* that message before what the sender sent later.
NoGapsOf(m, a, b) ==
    \A i \in Of("given", b) : \A j \in Of("sends", a) :
        (b[i][2] = m /\ a[j][2] < b[i][3]) =>
            LET way == Way(Upto(b, i))
                its == Way(a)
                from == Len(Way(Upto(a, j)))
                went == \E f \in DOMAIN way : \E t \in from .. Len(its) : SubSeq(way, f, Len(way)) = SubSeq(its, from, t)
            IN (from # 0 /\ went) => <<m, a[j][2]>> \in Known(Upto(b, i - 1))
NoGaps(m, a, n, b) == NoGapsOf(m, a, b) /\ NoGapsOf(n, b, a) /\ NoGapsOf(m, a, a) /\ NoGapsOf(n, b, b)

\* What two members were given in views that they have left, and both know, is in one order.
LOCAL Settled(h) == Given(Upto(h, Greatest(Of("view", h))))
TotalOrder(a, b) ==
    LET InA(x) == x \in {Settled(a)[i] : i \in DOMAIN Settled(a)}
        InB(x) == x \in {Settled(b)[i] : i \in DOMAIN Settled(b)}
    IN SelectSeq(Settled(a), InB) = SelectSeq(Settled(b), InA)

-----------------------------------------------------------------------------
CONSTANTS
    Member,     \* all incarnations
    OnePath     \* whether views are one path: no false suspicion, no partition, one founder

VARIABLE seen   \* [Member -> its history]

OfOne(m, h) ==
    /\ SelfInclusion(m, h)
    /\ OnceInView(m, h)
    /\ ViewsRise(m, h)
    /\ MergesOwn(m, h)
    /\ SendsInView(m, h)
    /\ DeliversInView(m, h)
    /\ SenderIsMember(m, h)
    /\ NoDuplicates(m, h)
    /\ SenderFifo(m, h)
    /\ BlocksAlternate(m, h)
    /\ BlockedBeforeView(m, h)
    /\ NothingAfterLeft(m, h)

OfTwo(m, a, n, b) ==
    /\ OneIdentifierOneView(a, b)
    /\ OneMergeOfView(a, b)
    /\ OneOrderInView(a, b)
    /\ VirtualSynchrony(a, b)
    /\ Integrity(m, a, n, b)
    /\ NoGaps(m, a, n, b)
    /\ OnePath => TotalOrder(a, b)

\* Given of any sender that no member is would be of nobody: SenderIsMember and SelfInclusion leave none.
Safe == \A m, n \in Member : OfOne(m, seen[m]) /\ (m # n => OfTwo(m, seen[m], n, seen[n]))

\* An application sees or asks something more.
Grows == \E m \in Member : /\ \A n \in Member \ {m} : seen'[n] = seen[n]
                           /\ IsPrefix(seen[m], seen'[m])

Init == seen = [m \in Member |-> <<>>]
Next == Grows /\ Safe'
Spec == Init /\ [][Next]_seen
=============================================================================
