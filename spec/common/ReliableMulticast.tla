-------------------------- MODULE ReliableMulticast --------------------------
(***************************************************************************)
(* The guarantee of NAKACK, and what FLUSH and STABLE stand on: multicasts *)
(* in the views of a group.                                                *)
(*                                                                         *)
(* A sender's multicasts are numbered; where numbers begin in a view is    *)
(* its base. Two things are not promised. A message that no live member    *)
(* has delivered may be lost with its sender. Members that install a view  *)
(* with different deliveries in the previous view count from different     *)
(* numbers.                                                                *)
(*                                                                         *)
(* NAKACK's group is shown to give each conjunct. FLUSH's and STABLE's     *)
(* groups take the guards in Windows as their environment, without those   *)
(* conjuncts that they do without; an ablation lacks one more. That        *)
(* NAKACK's deliveries are what these guards let through is a claim of it  *)
(* (DeliversWhatMayStep).                                                  *)
(***************************************************************************)
EXTENDS Views, Windows

CONSTANT Member     \* all addresses

VARIABLES
    views,          \* Membership: the decided views
    installed,      \* Membership: [Member -> the number of the view installed; 0: none]
    life,           \* Membership: [Member -> its present incarnation]
    up,             \* the members that have not crashed
    sent,           \* [Member -> how many multicasts its incarnation has sent]
    multicast,      \* what was multicast: a set of messages (see Message)
    got,            \* [Member -> what it has delivered, in order: [view, incarnation, sender, payload]]
    delivered,      \* [Member -> [member of its view -> the highest seqno delivered]]
    low,            \* [Member -> [member of its view -> the seqno after which this window began]]
    base,           \* [Member -> [member of its view -> the highest seqno delivered when the view was installed]]
    top,            \* [Member -> [member of its view -> the highest seqno that may be delivered now]]
    store           \* [Member -> what can be had from it: a set of [view, sender, payload]]

multicast_vars == <<views, installed, life, up, sent, multicast, got, delivered, low, base, top, store>>

Conjuncts ==
    {"NotForged", "Once", "InOrder", "InItsView", "OfItsIncarnation", "OwnAtOnce", "Drains", "HoldsBack", "Bases",
     "Void", "DigestIsTrue", "Kept", "Purges", "Fetched", "Arrives"}

-----------------------------------------------------------------------------
(* Guards *)

\* A delivery as such a message. The payload is all that claims need: <<incarnation of its sender, number of its
\* view, seqno>>.
MessageOf(g) == Message(g.payload[2], g.payload[1], g.sender, g.payload[3])

\* The guards let each delivery of a step through. So a group that takes them as its environment stands on this layer.
DeliversWhatMayStep ==
    \A m \in Member : \A i \in Len(got[m]) + 1 .. Len(got'[m]) :
        LET x == MessageOf(got'[m][i])
            Before(g) == g.sender = x.sender
            earlier == SelectSeq(SubSeq(got'[m], Len(got[m]) + 1, i - 1), Before)
        IN /\ MayReach(x, installed'[m], views'[installed'[m]].lives, multicast', {})
           /\ MayDeliver(x, delivered[m][x.sender] + Len(earlier), top'[m][x.sender], {})

\* The messages of s in view number k that incarnation i of m has delivered.
GotIn(m, i, k, s) ==
    LET Is(g) == g.view = k /\ g.incarnation = i /\ g.sender = s IN SelectSeq(got[m], Is)

InOneView(m, x) == installed[m] # 0 /\ installed[m] = installed[x]

-----------------------------------------------------------------------------
(* Deliveries        *)

\* NotForged: A message that is delivered was multicast by its sender.
NotForged == \A m \in Member : \A i \in DOMAIN got[m] : MessageOf(got[m][i]) \in multicast

\* Once: An incarnation delivers a message once.
Once ==
    \A m \in Member : \A i, j \in DOMAIN got[m] :
        (i < j /\ got[m][i].incarnation = got[m][j].incarnation) =>
            <<got[m][i].sender, got[m][i].payload>> # <<got[m][j].sender, got[m][j].payload>>

\* InOrder: Each sender's messages are delivered in the order sent, without a gap, from the first of the view on.
InOrder ==
    \A m \in Member : installed[m] # 0 =>
        \A s \in DOMAIN base[m] :
            LET q == GotIn(m, life[m], installed[m], s) IN
            \A n \in DOMAIN q : q[n].payload[3] = base[m][s] + n

\* InItsView: A message is delivered in the view in which it was multicast.
InItsView == \A m \in Member : \A i \in DOMAIN got[m] : got[m][i].payload[2] = got[m][i].view

\* OfItsIncarnation: A message that is delivered is of the incarnation that the view means.
OfItsIncarnation ==
    \A m \in Member : \A i \in DOMAIN got[m] :
        got[m][i].payload[1] = views[got[m][i].view].lives[got[m][i].sender]

\* OwnAtOnce: A member delivers its own multicast in the step in which it sends it. (So no cut is below what a survivor
\* has sent.)
OwnAtOnceStep ==
    \A m \in Member :
        (sent'[m] > sent[m] /\ life'[m] = life[m]) =>
            \E i \in Len(got[m]) + 1 .. Len(got'[m]) : got'[m][i].sender = m

\* Drains: A message that can be delivered is delivered in the step in which it arrives.

-----------------------------------------------------------------------------
(* A view changes *)

\* HoldsBack: Nothing is delivered beyond what the layers above allow, own multicasts included.
HoldsBackStep ==
    \A m \in Member :
        InOneView(m, m) /\ installed'[m] = installed[m] /\ life'[m] = life[m] =>
            \A s \in DOMAIN delivered[m] :
                delivered'[m][s] > delivered[m][s] => delivered'[m][s] <= top'[m][s]

\* Bases: All members of a view count each of them from the same number.
Bases ==
    \A m, x \in up : InOneView(m, x) => \A s \in DOMAIN base[m] : base[m][s] = base[x][s]

\* Void: With a view nothing is delivered: what waited is void.
VoidStep == \A m \in Member : installed'[m] # installed[m] => got'[m] = got[m]

-----------------------------------------------------------------------------
(* Digests and stores *)

\* DigestIsTrue: The messages that a digest counts were delivered, above where the window began.
DigestIsTrue ==
    \A m \in up : \A s \in DOMAIN delivered[m] : \A n \in low[m][s] + 1 .. delivered[m][s] :
        \E i \in DOMAIN got[m] :
            got[m][i].incarnation = life[m] /\ got[m][i].sender = s /\ got[m][i].payload[3] = n

\* Kept: A member can fetch each message of its view from any member that has delivered it there, while both are in this
\* view or in the next. (A purge covers only messages that every member of the view has delivered in it.)
Kept ==
    \A m, h \in up :
        LET k == installed[m] IN
        (/\ m # h /\ k # 0
         /\ \/ installed[h] = k
            \/ /\ installed[h] # 0 /\ k \in views[installed[h]].preds
               /\ Has(views[installed[h]], m, life[m]) /\ Has(views[k], h, life[h])) =>
            \A i \in DOMAIN got[h] :
                LET g == got[h][i] IN
                (/\ g.view = k /\ g.incarnation = life[h] /\ g.sender \in DOMAIN delivered[m]
                 /\ g.payload[3] > delivered[m][g.sender]) =>
                    [view |-> k, sender |-> g.sender, payload |-> g.payload] \in store[h]

\* Purges: A purge takes what its vector has from the store, that number included, and nothing else; what is purged stays so
\* (STB-11, AMB-10).

\* Fetched: A member that learns which member has a missing message receives it in the end, even if that member has installed
\* the next view. (Liveness.)

\* Arrives: In a view that stays, every live member delivers in the end what any live member has delivered. (Liveness.)
Level ==
    \A m, x \in up : InOneView(m, x) => \A s \in DOMAIN delivered[m] : delivered[m][s] = delivered[x][s]
=============================================================================
