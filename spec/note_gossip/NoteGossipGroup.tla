---------------------------- MODULE NoteGossipGroup ----------------------------
(***************************************************************************)
(* Members that gossip, over windows (Windows) whose copies are late, or   *)
(* lost and sent again only to a member that fetches them. Gossips are     *)
(* consumed, overtake each other, and may be lost. There is one view, or   *)
(* one and the next: a member departs, or a joiner comes with the digest   *)
(* that A promised it.                                                     *)
(***************************************************************************)
EXTENDS NoteGossip, Windows, Acts

CONSTANTS
    Member,         \* all addresses
    First,          \* the members of the first view, in order
    NextMembers,    \* those of the next view; <<>>: there is none
    Sends,          \* [Member -> multicasts of it]
    Delivers,       \* [Member -> how many of them all members have at the start]
    Gossips,        \* [Member -> gossips of it]
    GossipLast,     \* bound: a member gossips after all multicasts are sent
    FlushFirst,     \* the members of the next view have delivered the same before it (FLUSH)
    MaxLost,        \* fault budget: copies of multicasts
    MaxGossipsLost, \* fault budget: copies of gossips
    MaxCrashes,     \* fault budget
    Crashers,       \* the members that may crash
    MaxMisuses      \* fault budget: a member's own messages, callers' mistakes

VARIABLES
    rm,             \* [Member -> [sender -> window]]; windows of departed members stay
    up,             \* the members that have not crashed
    network,        \* gossips under way
    lost,           \* copies of multicasts that were lost: <<sender, seqno, receiver>>
    requests,       \* fetches under way
    promise,        \* the digest that A promised the joiner
    seen,           \* auxiliary: [Member -> the gossips that it has handled]
    spent           \* fault budgets used

others == <<up, lost, promise, seen, spent>>
vars == <<local, act, rm, up, network, lost, requests, promise, seen, spent>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, rm, up, network, lost, requests, promise, seen, spent>>

FirstGroup == View(1, "A", First)
NextGroup == View(2, "A", NextMembers)
Joiners == MembersOf(NextGroup) \ MembersOf(FirstGroup)

Live == {m \in up : Joined(local[m])}

\* The digest of the senders in m's view.
DigestAt(m) == DigestOf([s \in MembersOf(local[m].view) |-> rm[m][s]])

-----------------------------------------------------------------------------
(* Applying Step to one member *)

Chosen(effect) ==
    LET size == Cardinality(effect.among)
        most == IF effect.fanout = 0 THEN size ELSE Least(effect.fanout, size)
    IN {targets \in SUBSET effect.among : Cardinality(targets) = most}

Passed(effects, type) ==
    {effects[i].event : i \in {i \in DOMAIN effects : effects[i].type = "PassDown" /\ effects[i].event.type = type}}

Apply(action, m, event, windows, consumed) ==
    \E step \in {Step(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ LET purges == Passed(step.effects, "Purge")
           IN rm' = [rm EXCEPT ![m] = IF purges = {} THEN windows ELSE Purge(windows, (CHOOSE p \in purges : TRUE).digest)]
        /\ requests' = requests \cup {[by |-> m, holder |-> f.holder, upto |-> f.upto] : f \in Passed(step.effects, "Fetch")}
        /\ LET scatters == {i \in DOMAIN step.effects : step.effects[i].type = "Scatter"} IN
           IF scatters = {} THEN network' = network \ consumed
           ELSE \E i \in scatters : \E targets \in Chosen(step.effects[i]) :
                    network' = (network \ consumed)
                               \cup {[sender |-> m, to |-> x, message |-> step.effects[i].message] : x \in targets \cap up}

-----------------------------------------------------------------------------
(* Multicasts *)

\* No multicast moves once a member has the next view, if the group was stopped before it.
Flows == FlushFirst => \A m \in Live : local[m].view # NextGroup

MaySend(m) == m \in Live /\ rm[m][m].delivered < Nothing + Sends[m]

MulticastData(m) ==
    /\ MaySend(m) /\ Flows
    /\ rm' = [rm EXCEPT ![m][m] = Add(@, @.delivered + 1)]
    /\ Environment("MulticastData", m, None, {})
    /\ UNCHANGED <<local, network, requests, others>>

\* The copies under way to m.
Copies(m) ==
    {c \in {<<s, n, m>> : s \in MembersOf(local[m].view) \ {m}, n \in FirstSeqno .. FirstSeqno + 3} :
        /\ c[2] <= (IF c[1] \in DOMAIN rm[c[1]] THEN rm[c[1]][c[1]].delivered ELSE Nothing)
        /\ c \notin lost /\ Lacks(rm[m][c[1]], c[2])}

ReceiveData(m) ==
    /\ m \in Live /\ Flows
    /\ \E c \in Copies(m) : rm' = [rm EXCEPT ![m][c[1]] = Add(@, c[2])]
    /\ Environment("ReceiveData", m, None, {})
    /\ UNCHANGED <<local, network, requests, others>>

LoseData(m) ==
    /\ Cardinality(lost) < MaxLost /\ m \in Live
    /\ \E c \in Copies(m) : lost' = lost \cup {c}
    /\ Environment("LoseData", m, None, {})
    /\ UNCHANGED <<local, rm, up, network, requests, promise, seen, spent>>

\* The holder sends what its store has of what was asked for.
Served(window, holder, upto) ==
    LET have == {n \in FirstSeqno .. upto : Holds(holder, n) /\ n > window.delivered}
        all == window.ahead \cup have
        reach == CHOOSE k \in window.delivered .. window.delivered + Cardinality(all) :
                    (\A i \in window.delivered + 1 .. k : i \in all) /\ k + 1 \notin all
    IN [window EXCEPT !.delivered = reach, !.ahead = {i \in all : i > reach}]

ServeFetch(m) ==
    /\ m \in Live /\ Flows
    /\ \E r \in requests :
        /\ r.by = m /\ r.holder \in Live
        /\ requests' = requests \ {r}
        /\ rm' = [rm EXCEPT ![m] = [s \in DOMAIN @ |->
                    IF s \in DOMAIN r.upto \cap DOMAIN rm[r.holder] THEN Served(@[s], rm[r.holder][s], r.upto[s]) ELSE @[s]]]
    /\ Environment("ServeFetch", m, None, {})
    /\ UNCHANGED <<local, network, others>>

-----------------------------------------------------------------------------
(* Gossip *)

GossipTimeoutFires(m) ==
    /\ m \in Live /\ local[m].number < Gossips[m]
    /\ GossipLast => \A x \in Live : ~MaySend(x)
    /\ Apply("GossipTimeoutFires", m, [type |-> "GossipTimeout", digest |-> DigestAt(m)], rm[m], {})
    /\ UNCHANGED others

ReceiveGossip(m) ==
    /\ m \in Live
    /\ \E p \in network :
        /\ p.to = m
        /\ Apply("ReceiveGossip", m,
                 [type |-> "GossipReceived", sender |-> p.sender, message |-> p.message, digest |-> DigestAt(m)], rm[m], {p})
        /\ seen' = [seen EXCEPT ![m] = IF Counts(local[m], p.message) THEN @ \cup {p.message.id} ELSE @]
    /\ UNCHANGED <<up, lost, promise, spent>>

LoseGossip ==
    /\ spent.gossips < MaxGossipsLost
    /\ \E p \in network : network' = network \ {p}
    /\ spent' = [spent EXCEPT !.gossips = @ + 1]
    /\ Environment("LoseGossip", "", None, {})
    /\ UNCHANGED <<local, rm, up, lost, requests, promise, seen>>

-----------------------------------------------------------------------------
(* Views and faults *)

\* A promises its digest: the joiner will start from it.
PromiseDigest(m) ==
    /\ m = "A" /\ Joiners # {} /\ m \in Live /\ promise = NoVector /\ local[m].view = FirstGroup
    /\ promise' = Delivered(DigestAt(m))
    /\ Apply("PromiseDigest", m, [type |-> "DigestPromised", digest |-> DigestAt(m)], rm[m], {})
    /\ UNCHANGED <<up, lost, seen, spent>>

Level ==
    \A x, y \in Live \cap MembersOf(NextGroup) : \A s \in DOMAIN rm[x] \cap DOMAIN rm[y] : rm[x][s].delivered = rm[y][s].delivered

\* With FlushFirst all members have the same multicasts before the view.
InstallView(m) ==
    /\ NextMembers # <<>> /\ m \in up \cap MembersOf(NextGroup) /\ local[m].view # NextGroup
    /\ MembersOf(FirstGroup) \cap up \subseteq MembersOf(NextGroup)
    /\ Joiners # {} => promise # NoVector
    /\ FlushFirst /\ Flows => Level
    /\ LET start(s) == IF m \in Joiners /\ s \in DOMAIN promise THEN Window(promise[s]) ELSE Window(Nothing)
           windows == [s \in DOMAIN rm[m] \cup MembersOf(NextGroup) |-> IF s \in DOMAIN rm[m] THEN rm[m][s] ELSE start(s)]
       IN Apply("InstallView", m, [type |-> "ViewInstalled", view |-> NextGroup], windows, {})
    /\ UNCHANGED others

Crash(m) ==
    /\ m \in Live /\ m \in Crashers /\ spent.crashes < MaxCrashes
    /\ up' = up \ {m}
    /\ network' = {p \in network : p.to # m}
    /\ requests' = {r \in requests : m \notin {r.by, r.holder}}
    /\ spent' = [spent EXCEPT !.crashes = @ + 1]
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, rm, lost, promise, seen>>

\* Events that no correct caller or peer causes. Each changes nothing.
Misuse(m) ==
    /\ m \in Live /\ spent.misuses < MaxMisuses
    /\ \E event \in {[type |-> "ViewInstalled", view |-> View(3, "Z", <<"Z">>)],
                     [type |-> "GossipReceived", sender |-> m, digest |-> DigestAt(m),
                      message |-> GossipMessage([originator |-> m, number |-> 9], local[m].view.id, NoVector, {})]} :
        Apply("Misuse", m, event, rm[m], {})
    /\ spent' = [spent EXCEPT !.misuses = @ + 1]
    /\ UNCHANGED <<up, lost, promise, seen>>

-----------------------------------------------------------------------------
StartOf(m) ==
    IF m \in MembersOf(FirstGroup) THEN Step(Start(m), [type |-> "ViewInstalled", view |-> FirstGroup]).state ELSE Start(m)

Init ==
    /\ local = [m \in Member |-> StartOf(m)]
    /\ rm = [m \in Member |-> IF m \in MembersOf(FirstGroup)
                THEN [s \in MembersOf(FirstGroup) |-> [Window(Nothing) EXCEPT !.delivered = Nothing + Delivers[s]]]
                ELSE [s \in {} |-> Window(Nothing)]]
    /\ up = Member /\ network = {} /\ lost = {} /\ requests = {} /\ promise = NoVector
    /\ seen = [m \in Member |-> {}]
    /\ spent = [gossips |-> 0, crashes |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \/ LoseGossip
    \/ \E m \in Member :
        \/ MulticastData(m)
        \/ ReceiveData(m)
        \/ LoseData(m)
        \/ ServeFetch(m)
        \/ GossipTimeoutFires(m)
        \/ ReceiveGossip(m)
        \/ PromiseDigest(m)
        \/ InstallView(m)
        \/ Crash(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
