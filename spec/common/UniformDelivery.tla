--------------------------- MODULE UniformDelivery --------------------------
(******************************************************************************)
(* The guarantee that SAFE gives to an application: a message that is         *)
(* reported safe to its sender is delivered by every member that goes on,     *)
(* whoever crashes. (Uniform Agreement, for the messages that are reported.)  *)
(*                                                                            *)
(* It speaks of members that were there: a joiner has the message with the    *)
(* state, or not at all, and so has a member that comes back. With Majority   *)
(* only a formed view goes on.                                                *)
(******************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Member, Majority

VARIABLES
    views,      \* the decided views (see Membership)
    path,       \* [Member -> the views that it has installed, in order]
    formed,     \* with Majority: the views that were formed
    bases,      \* ... [a formed view -> its base: the last formed view of which those know that form it; 0: none]
    delivered,  \* [Member -> what it has delivered: <<sender, number, number of the view>>]
    safe        \* the messages that were reported: [sender, number, way: the views of the sender from where it delivered
                \* the message to where it was reported]

LOCAL HasDelivered(m, x, n) == \E i \in DOMAIN delivered[m] : delivered[m][i][1] = x /\ delivered[m][i][2] = n

\* The places in the path of m at which it has gone this way.
LOCAL Ends(m, way) ==
    {i \in Len(way) .. Len(path[m]) : i > 0 /\ way # <<>> /\ SubSeq(path[m], i - Len(way) + 1, i) = way}

\* m has gone this way, and further: with Majority to the next view that was formed.
LOCAL GoesOn(m, way) ==
    \E i \in Ends(m, way) : \E j \in i + 1 .. Len(path[m]) :
        Majority => /\ path[m][j] \in formed
                    /\ \A k \in formed : (way[Len(way)] < k /\ k < path[m][j]) => \E h \in i .. j : path[m][h] = k

\* What was reported safe is delivered by every member that goes on.
UniformAgreement ==
    \A r \in safe : \A m \in Member : GoesOn(m, r.way) => HasDelivered(m, r.sender, r.number)

\* And it was delivered then by all members of the view, and not by some of them only.
HeldByAll ==
    \A r \in safe : \A m \in Member : Ends(m, r.way) # {} => HasDelivered(m, r.sender, r.number)

\* With Majority: a majority of the view in which the sender has delivered it has delivered it. So every formed view that
\* follows has a member that has it.
HeldByMajority ==
    Majority => \A r \in safe : r.way # <<>> =>
        LET v == views[r.way[1]]
            have == {m \in DOMAIN v.lives : HasDelivered(m, r.sender, r.number)}
            twice == 2 * Cardinality(have)
        IN twice > Cardinality(DOMAIN v.lives) \/ (twice = Cardinality(DOMAIN v.lives) /\ v.members[1] \in have)

\* With Majority: a formed view after that in which it was reported is based on that view or a later one; or all members of the
\* view in which the sender has delivered it have delivered it. So it is in each state of the base.
HeldInBase ==
    Majority => \A r \in safe : r.way # <<>> => \A k \in formed :
        k > r.way[Len(r.way)] =>
            \/ bases[k] >= r.way[Len(r.way)]
            \/ \A m \in DOMAIN views[r.way[1]].lives : HasDelivered(m, r.sender, r.number)

\* A message is reported after its sender has delivered it.
SafeIsDelivered == \A r \in safe : r.way # <<>>
=============================================================================
