------------------------------ MODULE NoteGossip ------------------------------
(***************************************************************************)
(* The gossip of PBCAST (pbcast DESIGN), one member: a pure function of    *)
(* its own state and an event. No core implements it: STABLE's votes       *)
(* collect garbage, and NAKACK's HIGHEST finds what is missing. The module *)
(* is here for the flaws of the note's algorithm.                          *)
(*                                                                         *)
(* Theory. Now and then a member says how far it has delivered each other  *)
(* member (GOSSIP), to some members drawn at random. A receiver fetches    *)
(* what it lacks, strikes itself off the list of members that have not     *)
(* seen the gossip, and sends it on to some members of the rest. A member  *)
(* that finds the list empty concludes that all members have what the      *)
(* gossip names, and purges that, less a lag.                              *)
(*                                                                         *)
(* The program that runs the member draws the subset (Scatter), as it      *)
(* draws times. The constants of the first group are guards. The reference *)
(* in models.yaml is the note's algorithm with each flaw mended, so that   *)
(* each flaw has a control. The note's own values are in the set `note`.   *)
(***************************************************************************)
EXTENDS Steps, Views, Digests, FiniteSets

CONSTANTS
    CountOf,        \* a gossip counts if it is of this "view", or if its originator is one of the "members"
    Repeated,       \* the list of a gossip that comes again is "merged"; or the gossip is "discarded", or "handled" as if new
    StrikeWhen,     \* a member strikes itself off if it "has" what the gossip names, or if it has "seen" the gossip
    TellAll,        \* a member that finds the list empty sends the gossip to all members once more
    HoldPromise,    \* a member that has promised a joiner its digest confirms nothing beyond it before the next view
    AskWhom,        \* missing messages are fetched from the "originator", or from the last "hop"
    Dynamic,        \* the interval follows the size of the group (GIV-01)
    CacheSize,      \* gossips that a member remembers
    Lag,            \* [Member -> messages that it keeps beyond what all members have]
    Fanout,         \* members to which a gossip goes at a time; 0: all
    Interval,       \* ms between two gossips of a member: fixed, or
    DesiredAverage  \* ms between two gossips that a member hears, on average

ASSUME
    /\ CountOf \in {"view", "members"}
    /\ Repeated \in {"merged", "discarded", "handled"}
    /\ StrikeWhen \in {"has", "seen"}
    /\ AskWhom \in {"originator", "hop"}
    /\ {TellAll, HoldPromise, Dynamic} \subseteq BOOLEAN
    /\ {CacheSize, Interval, DesiredAverage} \subseteq Nat \ {0} /\ Fanout \in Nat

-----------------------------------------------------------------------------
(* Messages and effects *)

\* GSP-01, AMB-16: `id` is the originator with its number. AMB-15: `not_seen` has the members that are not on the path.
GossipMessage(id, view_id, vector, not_seen) ==
    [type |-> "GOSSIP", id |-> id, view_id |-> view_id, digest |-> vector, not_seen |-> not_seen]

\* GSP-12, GSP-20: to `fanout` members of `among`, drawn at random; to all of them if there are fewer, or if fanout is 0.
Scatter(among, fanout, message) ==
    IF among = {} THEN <<>> ELSE <<[type |-> "Scatter", among |-> among, fanout |-> fanout, message |-> message]>>

\* GSP-10: one request, for the messages of several senders.
Fetch(holder, vector) == PassDown([type |-> "Fetch", holder |-> holder, upto |-> vector])

PurgeUpTo(vector) == PassDown([type |-> "Purge", digest |-> vector])

-----------------------------------------------------------------------------
(* State *)

NoVector == [m \in {} |-> Nothing]

Start(member) ==
    [member |-> member,         \* this member's address
     view |-> NoView,           \* the view installed
     number |-> 0,              \* of its last gossip
     heard |-> <<>>,            \* the gossips that it remembers, the oldest first: [id, not_seen]
     promised |-> NoVector]     \* the digest that it promised a joiner

Joined(s) == s.view # NoView

Knows(s, id) == \E i \in DOMAIN s.heard : s.heard[i].id = id
ListOf(s, id) == s.heard[CHOOSE i \in DOMAIN s.heard : s.heard[i].id = id].not_seen

\* GSP-07: the oldest one goes before the new one is added.
Remember(s, id, not_seen) ==
    LET entry == [id |-> id, not_seen |-> not_seen]
        full == Len(s.heard) >= CacheSize
    IN IF Knows(s, id) THEN [s EXCEPT !.heard = [i \in DOMAIN @ |-> IF @[i].id = id THEN entry ELSE @[i]]]
       ELSE [s EXCEPT !.heard = Append(IF full THEN SubSeq(@, Len(@) - CacheSize + 2, Len(@)) ELSE @, entry)]

-----------------------------------------------------------------------------
(* Events *)

\* GIV-05, GIV-07, AMB-20, AMB-22: drawn anew before each gossip, for the members that there are.
GossipTimer(view) ==
    IF Dynamic THEN SetTimer("gossip", 1, 2 * DesiredAverage * Len(view.members)) ELSE SetTimer("gossip", Interval, Interval)

\* GCL-04, GCL-05, AMB-10, AMB-11: messages strictly below (entry - lag) go.
Threshold(s, vector) == [m \in DOMAIN vector |-> Greatest(Nothing, vector[m] - Lag[s.member] - 1)]

ViewInstalled(s, e) ==
    IF s.member \notin MembersOf(e.view) THEN LocalError(s)
    ELSE IF e.view.id.counter <= s.view.id.counter THEN Ignored(s)
    ELSE Handled([s EXCEPT !.view = e.view, !.promised = NoVector], <<GossipTimer(e.view)>>)

DigestPromised(s, e) ==
    IF ~Joined(s) THEN LocalError(s) ELSE Handled([s EXCEPT !.promised = Delivered(e.digest)], <<>>)

\* GSP-21, AMB-18: the originator is on no list of its own.
GossipTimeout(s, e) ==
    LET others == MembersOf(s.view) \ {s.member}
        all == Delivered(e.digest)
        vector == IF HoldPromise /\ s.promised # NoVector THEN MinVector(all, s.promised) ELSE all
        id == [originator |-> s.member, number |-> s.number + 1]
    IN IF ~Joined(s) THEN LocalError(s)
       ELSE Handled(Remember([s EXCEPT !.number = @ + 1], id, others),
                    Scatter(others, Fanout, GossipMessage(id, s.view.id, vector, others)) \o <<GossipTimer(s.view)>>)

\* GSP-03, GSP-05
Counts(s, message) ==
    IF CountOf = "view" THEN message.view_id = s.view.id ELSE message.id.originator \in MembersOf(s.view)

\* GSP-09: the senders of which messages are missing.
Lacking(s, e) ==
    {x \in DOMAIN e.message.digest \cap MembersOf(s.view) : e.message.digest[x] > e.digest[x].delivered}

\* GCL-01, GCL-02, GSP-06, GSP-08, GSP-11, GSP-12, GSP-13
GossipReceived(s, e) ==
    LET g == e.message
        known == Knows(s, g.id)
        before == IF known THEN ListOf(s, g.id) ELSE g.not_seen
        listed == IF Repeated = "merged" THEN before \cap g.not_seen ELSE g.not_seen
        lacking == Lacking(s, e)
        beyond == HoldPromise /\ \E x \in DOMAIN s.promised \cap DOMAIN g.digest : g.digest[x] > s.promised[x]
        rest == IF StrikeWhen = "seen" \/ (lacking = {} /\ ~beyond) THEN listed \ {s.member} ELSE listed
        holder == IF AskWhom = "originator" THEN g.id.originator ELSE e.sender
        fetch == IF lacking = {} \/ (known /\ Repeated = "merged") THEN <<>>
                 ELSE <<Fetch(holder, [x \in lacking |-> g.digest[x]])>>
        told == [g EXCEPT !.not_seen = rest]
        again == IF TellAll /\ g.not_seen # {} THEN Scatter(MembersOf(s.view) \ {s.member}, 0, told) ELSE <<>>
    IN IF ~Joined(s) \/ ~Counts(s, g) THEN Ignored(s)
       ELSE IF known /\ (Repeated = "discarded" \/ (Repeated = "merged" /\ rest = before)) THEN Ignored(s)
       ELSE Handled(Remember(s, g.id, rest),
                    fetch \o (IF rest = {} THEN <<PurgeUpTo(Threshold(s, g.digest))>> \o again
                              ELSE Scatter(rest \ {s.member}, Fanout, told)))

-----------------------------------------------------------------------------
(* Step *)

\* GSP-02 (a sender of null has no type here; a member does not hear itself).
Refuses(s, e) == e.type = "GossipReceived" /\ e.sender = s.member

Step(s, e) ==
    IF Refuses(s, e) THEN RemoteError(s)
    ELSE
    CASE e.type = "ViewInstalled" -> ViewInstalled(s, e)
      [] e.type = "DigestPromised" -> DigestPromised(s, e)
      [] e.type = "GossipTimeout" -> GossipTimeout(s, e)
      [] e.type = "GossipReceived" -> GossipReceived(s, e)
=============================================================================
