--------------------------- MODULE NoteGossipClaims ----------------------------
(***************************************************************************)
(* Claims about members that gossip: what must not be purged, what a       *)
(* gossip says, what is certain once nothing moves any more; and witnesses.*)
(***************************************************************************)
EXTENDS NoteGossipGroup

TypeOK ==
    /\ \A m \in Member :
        /\ local[m].member = m
        /\ Len(local[m].heard) <= CacheSize
        /\ Joined(local[m]) => MembersOf(local[m].view) \subseteq DOMAIN rm[m]
    /\ \A p \in network : p.to \in up /\ p.message.type = "GOSSIP"
    /\ spent \in [{"gossips", "crashes", "misuses"} -> Nat]

InOneGroup(x, y) == x \in Live /\ y \in Live /\ (x \in MembersOf(local[y].view) \/ y \in MembersOf(local[x].view))
Senders(x, y) == DOMAIN rm[x] \cap DOMAIN rm[y]

-----------------------------------------------------------------------------
(* Garbage *)

\* GCL-02, GCL-03, GCL-09: no member lacks what another has purged.
NoPrematurePurge ==
    \A p, x \in Live : InOneGroup(p, x) => \A s \in Senders(p, x) : rm[p][s].purged <= rm[x][s].delivered

\* GSP-04: a live member has in its store what another has delivered and a third one lacks.
RequestsServable ==
    \A x, y \in Live : InOneGroup(x, y) =>
        \A s \in Senders(x, y) : \A n \in rm[x][s].delivered + 1 .. rm[y][s].delivered :
            n \notin rm[x][s].ahead /\ n > rm[y][s].low => \E h \in Live : s \in DOMAIN rm[h] /\ Holds(rm[h][s], n)

\* GCL-04, GCL-06: a lag covers gaps of its length.
NoPurgeWithinLag ==
    (\A x, y \in Live : InOneGroup(x, y) => \A s \in Senders(x, y) : rm[y][s].delivered - rm[x][s].delivered <= Lag[y])
        => NoPrematurePurge

\* A member purges what it has delivered itself.
PurgedIsDelivered == \A m \in Live : \A s \in DOMAIN rm[m] : rm[m][s].purged <= rm[m][s].delivered

\* GCL-07: a late-join handler has the last messages that it delivered, as many as its lag.
HandlerKeepsLag ==
    \A m \in {x \in Live : Lag[x] > 0} : \A s \in DOMAIN rm[m] :
        \A n \in rm[m][s].delivered - Lag[m] .. rm[m][s].delivered : n > rm[m][s].low => Holds(rm[m][s], n)

-----------------------------------------------------------------------------
(* Gossips *)

\* GSP-21, DLV-01: a gossip names what its originator has delivered.
GossipNamesDelivered ==
    \A p \in network : \A s \in DOMAIN p.message.digest :
        LET o == p.message.id.originator IN s \in DOMAIN rm[o] => p.message.digest[s] <= rm[o][s].delivered

\* GSP-11, AMB-15: a member that is not on the list of a gossip has handled it, or sent it.
UnlistedHaveSeen ==
    \A p \in network : \A m \in MembersOf(FirstGroup) \ p.message.not_seen :
        m \in Live /\ p.message.view_id = FirstGroup.id => m = p.message.id.originator \/ p.message.id \in seen[m]

Receives == act'.event.type = "GossipReceived" /\ act'.outcome = "handled"

\* GSP-06, GSP-07: a gossip that a member has handled is never new to it again.
HandledIsKnownStep ==
    Receives /\ act'.event.message.id \in seen[act'.member] => Knows(local[act'.member], act'.event.message.id)
HandledIsKnown == [][HandledIsKnownStep]_vars

\* GSP-08, GSP-15: a member sends one request for a gossip.
FetchesOnceStep ==
    Receives /\ act'.event.message.id \in seen[act'.member] => Passed(act'.effects, "Fetch") = {}
FetchesOnce == [][FetchesOnceStep]_vars

\* GIV-05, GIV-08, GIV-09: of a larger group each member gossips more seldom.
IntervalOfGroupStep ==
    \A i \in DOMAIN act'.effects :
        act'.effects[i].type = "SetTimer" => act'.effects[i].high = 2 * DesiredAverage * Len(local'[act'.member].view.members)
IntervalOfGroup == [][IntervalOfGroupStep]_vars

-----------------------------------------------------------------------------
(* When nothing moves any more *)

Quiescent ==
    /\ network = {} /\ requests = {}
    /\ \A m \in Live : local[m].number = Gossips[m] /\ (NextMembers = <<>> \/ local[m].view = NextGroup)

\* GSP-09, GIV-02: members have the same, whether or not copies were lost.
SameDeliveriesWhenQuiescent ==
    Quiescent => \A x, y \in Live : InOneGroup(x, y) => \A s \in Senders(x, y) : rm[x][s].delivered = rm[y][s].delivered

\* GCL-02: what all members had from the start all of them have purged.
PurgedWhenQuiescent ==
    Quiescent => \A m \in Live : \A s \in MembersOf(local[m].view) :
        Delivers[s] > 1 + Lag[m] => rm[m][s].purged >= Nothing + Delivers[s] - 1 - Lag[m]

\* AMB-18: of the members that hear of a gossip one at most purges, and its originator never.
OneCollects ==
    LET collect == {m \in Live : \E s \in DOMAIN rm[m] : rm[m][s].purged > Nothing}
    IN Cardinality(collect) <= 1 /\ \A m \in collect : Gossips[m] = 0

-----------------------------------------------------------------------------
(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

MessageIsPurged == \E m \in Live : \E s \in DOMAIN rm[m] : rm[m][s].purged > Nothing
FetchUnderWay == requests # {}
WaitsBehindGap == \E m \in Live : \E s \in DOMAIN rm[m] : rm[m][s].ahead # {}
CacheIsFull == \E m \in Live : Len(local[m].heard) = CacheSize
JoinerHasView == \E m \in Joiners : local[m].view = NextGroup
PromiseHoldsBack == \E p \in network : promise # NoVector /\ \E s \in DOMAIN promise : rm["A"][s].delivered > promise[s]
TwoGossips == \E p, q \in network : p.message.id # q.message.id
=============================================================================
