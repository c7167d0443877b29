---------------------------- MODULE StableGroup -----------------------------
(***************************************************************************)
(* A group of members that run STABLE over a reliable-multicast layer and  *)
(* beneath a membership service.                                           *)
(*                                                                         *)
(* What is around the members, and how freely it may behave:               *)
(* - Data. Multicasts reach each member at any time, in any order, or not  *)
(*   at all; a copy that was lost can only be had by retransmission from   *)
(*   somebody's store.                                                     *)
(* - STABLE and STABILITY. On a remembering network every message ever     *)
(*   sent may reach any live member, in the view or not, at any time and   *)
(*   any number of times: loss, duplication and reordering without end.    *)
(*   On a consuming one (liveness) a copy is received once, or lost.       *)
(* - Views. The membership service has decided a history of views; each    *)
(*   member installs those it is in, in order, whenever it likes: members  *)
(*   of one view and the next coexist, and a member that a view leaves out *)
(*   lives on in its old one. There is no flush. A joiner gets the digest  *)
(*   that the coordinator took at some moment before the view existed.     *)
(* - Crashes, at any moment.                                               *)
(***************************************************************************)
EXTENDS Stable, ReliableMulticast

CONSTANTS
    Member,         \* all addresses
    History,        \* the views in the order of their counters; the first is installed at the start
    Sends,          \* [Member -> Nat]: how many multicasts each member sends at most
    Delivers,       \* [Member -> Nat]: how many of them are sent and delivered at the start
    Behind,         \* the members that lack those of the others all the same
    Remembers,      \* the network of STABLE and STABILITY remembers (TRUE), or consumes (FALSE)
    MaxVotes,       \* bound on a remembering network: different STABLE messages of each view, a sequence
    Listeners,      \* bound: the members that STABLE and STABILITY reach; all others lose every copy
    MaxLost,        \* fault budget: copies lost, data and (consuming network) gossip
    MaxCrashes,     \* fault budget
    MaxAbandoned,   \* fault budget: joins given up
    MaxMisuses,     \* fault budget: strangers' messages and callers' mistakes
    FirstVotes,     \* the first view was installed: "late", after what Delivers says, or "early", before
    Patience,       \* consuming network: a member votes when no "votes" are in it, or nothing at "all"
    KeepAct,        \* FALSE: `act` stays empty, for liveness, where it would multiply the states
    Layer,          \* the layer below: "sound", or a defect of it: "keeps_ahead", "lowers_purged"
    Leak            \* defects of this model itself: "none", "neighbour", "packet", "ignored"

VARIABLES
    local,          \* [Member -> local state of STABLE]
    rm,             \* [Member -> windows of the layer below, one a member of its view]
    network,        \* STABLE and STABILITY messages: a set of packets
    up,             \* the members that have not crashed
    start,          \* the digest a joiner was given: a vector; empty: none given
    lost,           \* copies of multicasts that will not arrive
    spent,          \* fault budgets used
    act             \* the last step: who did what, and with what effects

vars == <<local, rm, network, up, start, lost, spent, act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, rm, network, up, start, lost, spent>>

ASSUME
    /\ \A k \in DOMAIN History : History[k].id.counter = k
    /\ FirstVotes \in {"late", "early"}
    /\ Patience \in {"votes", "all"}
    /\ {Remembers, KeepAct} \subseteq BOOLEAN
    /\ Layer \in {"sound", "keeps_ahead", "lowers_purged"}
    /\ Leak \in {"none", "neighbour", "packet", "ignored"}

-----------------------------------------------------------------------------
(* Where members are in the history of views *)

\* Tables, because TLC evaluates a constant once and an operator at every use.
MembersIn == [k \in DOMAIN History |-> MembersOf(History[k])]

In(m, k) == k \in DOMAIN History /\ m \in MembersIn[k]

\* The number of the view that m has installed; 0: none.
Idx(m) == local[m].view.id.counter

Member0 == MembersIn[1]
InGroup == {m \in Member : Idx(m) > 0}

\* A member that is in views i to k without a break is one incarnation in them all.
Unbroken ==
    LET numbers == 0 .. Len(History) IN
    [m \in Member |-> [i \in numbers |-> [k \in numbers |->
        \A j \in (IF i <= k THEN i .. k ELSE k .. i) : In(m, j)]]]

Throughout(m, i, k) == Unbroken[m][i][k]

\* Windows of x and y for sender s speak of the same incarnation of s.
SameSender(s, x, y) ==
    /\ s \in DOMAIN rm[x] /\ s \in DOMAIN rm[y]
    /\ Throughout(s, Idx(x), Idx(y))

\* The newest view that somebody alive has installed.
Newest == LET live == {Idx(m) : m \in up} IN CHOOSE k \in live : \A j \in live : j <= k

\* The next view that admits members, given that `k` is installed: 0 if none does.
Admits(k) == IF k + 1 \in DOMAIN History /\ MembersIn[k + 1] \ MembersIn[k] # {} THEN k + 1 ELSE 0

Joiners(k) == MembersIn[k] \ MembersIn[k - 1]

-----------------------------------------------------------------------------
(* The network *)

Packets(from, message) ==
    IF Remembers THEN {[sender |-> from, to |-> "*", message |-> message]}
    ELSE {[sender |-> from, to |-> m, message |-> message] : m \in up \cap Listeners}

\* The network after a step of `from` that consumed some packets and had these effects. (Most steps have none,
\* and TLC is faster when told so.)
AfterStep(net, from, consumed, effects) ==
    LET IsMulticast(effect) == effect.type = "Multicast"
        sent == SelectSeq(effects, IsMulticast)
        kept == IF Remembers THEN net ELSE net \ consumed
    IN IF effects = <<>> THEN kept
       ELSE kept \cup UNION {Packets(from, sent[i].message) : i \in DOMAIN sent}

Votes(net) == {p \in net : p.message.type = "STABLE"}

-----------------------------------------------------------------------------
(* The layer below, sound or with a defect that the claims must notice *)

\* "keeps_ahead": what is delivered from behind a gap stays listed as waiting.
Added(window, n) ==
    IF Layer = "keeps_ahead" /\ n = window.delivered + 1
    THEN [Add(window, n) EXCEPT !.ahead = window.ahead]
    ELSE Add(window, n)

\* "lowers_purged": the latest vector counts, not the highest.
Purged(windows, vector) ==
    IF Layer = "lowers_purged"
    THEN [s \in DOMAIN windows |->
            IF s \in DOMAIN vector THEN [windows[s] EXCEPT !.purged = vector[s]] ELSE windows[s]]
    ELSE Purge(windows, vector)

\* The windows after a step's purges were passed down.
AfterPurges(windows, effects) ==
    LET IsPurge(effect) == effect.type = "PassDown"
        purges == SelectSeq(effects, IsPurge)
    IN IF effects = <<>> \/ purges = <<>> THEN windows
       ELSE Purged(windows, purges[1].event.digest)

-----------------------------------------------------------------------------
(* Applying Step to one member. `windows` is what the layer below holds when the event arrives. *)

None == [nothing |-> 0]

NoAct == [action |-> "Init", member |-> "", given |-> None, event |-> [type |-> "none"],
          consumed |-> {}, outcome |-> "none", effects |-> <<>>]

Record(action, m, given, event, consumed, outcome, effects) ==
    act' = IF KeepAct
           THEN [action |-> action, member |-> m, given |-> given, event |-> event,
                 consumed |-> consumed, outcome |-> outcome, effects |-> effects]
           ELSE NoAct

\* What a model that is no model of members would do: a step that reaches into the others ("neighbour"), and
\* an event said to be ignored that is not ("ignored"). For "packet" see Apply: a message that no effect says.
LeakyLocal(m, step) ==
    [x \in Member |->
        IF x = m
        THEN IF Leak = "ignored" /\ step.outcome = "ignored"
             THEN [step.state EXCEPT !.heard_from = MembersOf(step.state.view)]
             ELSE step.state
        ELSE IF Leak = "neighbour" /\ step.effects # <<>>
             THEN [local[x] EXCEPT !.pending = FALSE]
             ELSE local[x]]

Apply(action, m, event, windows, consumed, given) ==
    LET step == Step(local[m], event)
    IN /\ local' = IF Leak = "none" THEN [local EXCEPT ![m] = step.state] ELSE LeakyLocal(m, step)
       /\ rm' = [rm EXCEPT ![m] = AfterPurges(windows, step.effects)]
       /\ network' = IF Leak = "packet" /\ step.outcome = "handled"
                     THEN AfterStep(network, m, consumed, step.effects)
                            \cup Packets(m, StableMessage(local[m].view.id, local[m].vote))
                     ELSE AfterStep(network, m, consumed, step.effects)
       /\ Record(action, m, given, event, consumed, step.outcome, step.effects)

\* A step of the environment: no member of STABLE takes part.
Environment(action, m, given) == Record(action, m, given, [type |-> "none"], {}, "none", <<>>)

Fault(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Data: the layer below *)

\* m multicasts its next message; its own copy comes back at once (DLV-04).
MulticastData(m) ==
    /\ m \in up \cap InGroup
    /\ LET seqno == rm[m][m].delivered + 1
           windows == [rm[m] EXCEPT ![m] = Added(@, seqno)]
       IN /\ seqno < FirstSeqno + Sends[m]
          /\ Apply("MulticastData", m, [type |-> "MessageReceived", bytes |-> 1], windows, {}, [seqno |-> seqno])
    /\ UNCHANGED <<up, start, lost, spent>>

Receive(action, m, s, seqno, given) ==
    LET windows == [rm[m] EXCEPT ![s] = Added(@, seqno)]
    IN Apply(action, m, [type |-> "MessageReceived", bytes |-> 1], windows, {}, given)

\* The first copy of a multicast arrives. (The sender may have crashed since.)
ReceiveData(m) ==
    /\ m \in up \cap InGroup
    /\ \E s \in InGroup \ {m} :
        /\ SameSender(s, m, s)
        /\ \E seqno \in FirstSeqno .. rm[s][s].delivered :
            /\ Lacks(rm[m][s], seqno)
            /\ <<s, seqno, m>> \notin lost
            /\ Receive("ReceiveData", m, s, seqno, [sender |-> s, seqno |-> seqno])
    /\ UNCHANGED <<up, start, lost, spent>>

LoseData(m) ==
    /\ spent.lost < MaxLost
    /\ m \in up \cap InGroup
    /\ \E s \in InGroup \ {m} :
        /\ SameSender(s, m, s)
        /\ \E seqno \in FirstSeqno .. rm[s][s].delivered :
            /\ Lacks(rm[m][s], seqno)
            /\ <<s, seqno, m>> \notin lost
            /\ lost' = lost \cup {<<s, seqno, m>>}
            /\ Environment("LoseData", m, [sender |-> s, seqno |-> seqno])
    /\ Fault("lost")
    /\ UNCHANGED <<local, rm, network, up, start>>

\* m asked for a message it lacks, and somebody's store had it.
Retransmit(m) ==
    /\ m \in up \cap InGroup
    /\ \E copy \in lost :
        /\ copy[3] = m
        /\ LET s == copy[1]
               seqno == copy[2]
           IN /\ s \in DOMAIN rm[m]
              /\ Lacks(rm[m][s], seqno)
              /\ \E h \in (up \cap InGroup) \ {m} :
                  /\ SameSender(s, m, h)
                  /\ Holds(rm[h][s], seqno)
                  /\ Receive("Retransmit", m, s, seqno, [sender |-> s, seqno |-> seqno, holder |-> h])
    /\ UNCHANGED <<up, start, lost, spent>>

-----------------------------------------------------------------------------
(* Membership *)

\* The coordinator takes the digest that a joiner will start from.
TakeJoinerDigest(m) ==
    LET k == Admits(Idx(m)) IN
    /\ m \in up \cap InGroup
    /\ k > 0 /\ Newest = k - 1
    /\ m = CoordinatorOf(History[k - 1])
    /\ start = EmptyVector
    /\ start' = [s \in MembersIn[k - 1] |-> rm[m][s].delivered]
    /\ Apply("TakeJoinerDigest", m, [type |-> "JoinerDigestTaken"], rm[m], {}, None)
    /\ UNCHANGED <<up, lost, spent>>

\* The joiner gives up before there is a view with it.
AbandonJoin(m) ==
    /\ spent.abandoned < MaxAbandoned
    /\ m \in up \cap InGroup
    /\ start # EmptyVector
    /\ m = CoordinatorOf(History[Idx(m)])
    /\ Admits(Newest) = Idx(m) + 1
    /\ start' = EmptyVector
    /\ Apply("AbandonJoin", m, [type |-> "JoinAbandoned"], rm[m], {}, None)
    /\ Fault("abandoned")
    /\ UNCHANGED <<up, lost>>

\* A member installs the next view that it is in.
MayInstall(m) ==
    LET k == Idx(m) + 1 IN
    /\ m \in up \cap InGroup
    /\ In(m, k)
    /\ Joiners(k) # {} => ~(start = EmptyVector /\ Newest < k)

InstallView(m) ==
    LET k == Idx(m) + 1
        windows == InstallWindows(rm[m], MembersIn[k])
    IN
    /\ MayInstall(m)
    /\ Apply("InstallView", m,
             [type |-> "ViewInstalled", view |-> History[k], digest |-> DigestOf(windows)],
             windows, {}, None)
    /\ UNCHANGED <<up, start, lost, spent>>

\* A joiner has the digest and its first view. If it was a member before, that incarnation is gone.
MayJoin(m, k) == m \in up /\ start # EmptyVector /\ m \in Joiners(k) /\ Idx(m) < k

Join(m) ==
    LET windows(k) == JoinWindows(start, MembersIn[k]) IN
    /\ \E k \in 2 .. Len(History) :
        /\ MayJoin(m, k)
        /\ LET event == [type |-> "ViewInstalled", view |-> History[k], digest |-> DigestOf(windows(k))]
               step == Step(Start(m), event)
           IN /\ local' = [local EXCEPT ![m] = step.state]
              /\ rm' = [rm EXCEPT ![m] = windows(k)]
              /\ Record("Join", m, [start |-> start], event, {}, step.outcome, step.effects)
    /\ UNCHANGED <<network, up, start, lost, spent>>

\* m stops. If it held a join that nobody has a view for yet, the join dies with it. Copies on their way to it
\* are gone (on a remembering network there is nothing to take away: nobody listens any more).
Crash(m) ==
    LET consumed == {p \in network : p.to = m} IN
    /\ spent.crashes < MaxCrashes
    /\ m \in up \cap InGroup
    /\ up' = up \ {m}
    /\ start' = IF local[m].held /\ Newest = Idx(m) THEN EmptyVector ELSE start
    /\ network' = AfterStep(network, m, consumed, <<>>)
    /\ Record("Crash", m, None, [type |-> "none"], consumed, "none", <<>>)
    /\ Fault("crashes")
    /\ UNCHANGED <<local, rm, lost>>

-----------------------------------------------------------------------------
(* Gossip *)

StableEvent(m) ==
    IF Variant = "note" THEN [type |-> "StableTimeout", digest |-> DigestOf(rm[m])]
    ELSE [type |-> "StableTimeout"]

WithinBound(votes, k) ==
    Cardinality({p \in votes : p.message.view_id.counter = k}) <= MaxVotes[IF k = 0 THEN 1 ELSE k]

\* On a consuming network the timer for votes is slower than messages are; how much slower is a bound.
Quiet == IF Patience = "votes" THEN Votes(network) = {} ELSE network = {}

StableTimeoutFires(m) ==
    /\ m \in up \cap InGroup
    /\ IF Remembers THEN TRUE ELSE Quiet
    /\ Apply("StableTimeoutFires", m, StableEvent(m), rm[m], {}, None)
    /\ Remembers => WithinBound(Votes(network'), IF Variant = "note" THEN 0 ELSE Idx(m))
    /\ UNCHANGED <<up, start, lost, spent>>

\* The delay of a STABILITY message has passed. (Cancelled timers that fire all the same: see Misuse.)
StabilityTimeoutFires(m) ==
    /\ m \in up \cap InGroup
    /\ local[m].pending
    /\ Apply("StabilityTimeoutFires", m, [type |-> "StabilityTimeout"], rm[m], {}, None)
    /\ UNCHANGED <<up, start, lost, spent>>

ReceiveStable(m) ==
    /\ m \in up \cap Listeners
    /\ \E p \in network :
        /\ p.message.type = "STABLE" /\ (Remembers \/ p.to = m)
        /\ Apply("ReceiveStable", m, [type |-> "StableReceived", sender |-> p.sender, message |-> p.message],
                 rm[m], {p}, None)
    /\ UNCHANGED <<up, start, lost, spent>>

ReceiveStability(m) ==
    /\ m \in up \cap Listeners
    /\ \E p \in network :
        /\ p.message.type = "STABILITY" /\ (Remembers \/ p.to = m)
        /\ Apply("ReceiveStability", m,
                 [type |-> "StabilityReceived", sender |-> p.sender, message |-> p.message, digest |-> DigestOf(rm[m])],
                 rm[m], {p}, None)
    /\ UNCHANGED <<up, start, lost, spent>>

\* A copy of a STABLE or STABILITY message is lost; never a member's own copy (DLV-04).
LoseGossip(m) ==
    /\ ~Remembers
    /\ spent.lost < MaxLost
    /\ \E p \in network :
        /\ p.to = m /\ p.sender # m
        /\ network' = network \ {p}
        /\ Environment("LoseGossip", m, [packet |-> p])
    /\ Fault("lost")
    /\ UNCHANGED <<local, rm, up, start, lost>>

\* What no correct peer or caller does; late timers, and views that were installed before. Each changes nothing.
Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ m \in up \cap InGroup
    /\ \E event \in
        {[type |-> "StabilityTimeout"],
         [type |-> "ViewInstalled", view |-> local[m].view, digest |-> DigestOf(rm[m])],
         [type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>), digest |-> DigestOf(rm[m])],
         [type |-> "StableReceived", sender |-> "Z", message |-> StableMessage(local[m].view.id, local[m].vote)],
         [type |-> "StabilityReceived", sender |-> "Z", digest |-> DigestOf(rm[m]),
          message |-> StabilityMessage(local[m].view.id, [s \in MembersOf(local[m].view) |-> FirstSeqno])]} :
        /\ event.type = "StabilityTimeout" => ~local[m].pending
        /\ Apply("Misuse", m, event, rm[m], {}, None)
    /\ Fault("misuses")
    /\ UNCHANGED <<up, start, lost>>

-----------------------------------------------------------------------------
InitWindows(m) ==
    IF m \in Member0
    THEN [s \in Member0 |->
            IF m \in Behind /\ s # m THEN Window(Nothing)
            ELSE [Window(Nothing) EXCEPT !.delivered = Nothing + Delivers[s]]]
    ELSE [s \in {} |-> Window(Nothing)]

\* What the first votes were read from.
InitDigest(m) ==
    IF FirstVotes = "late" THEN DigestOf(InitWindows(m)) ELSE DigestOf([s \in Member0 |-> Window(Nothing)])

Init ==
    /\ rm = [m \in Member |-> InitWindows(m)]
    /\ local = [m \in Member |->
                    IF m \in Member0
                    THEN Step(Start(m), [type |-> "ViewInstalled", view |-> History[1],
                                         digest |-> InitDigest(m)]).state
                    ELSE Start(m)]
    /\ network = {}
    /\ up = Member
    /\ start = EmptyVector
    /\ lost = {}
    /\ spent = [lost |-> 0, crashes |-> 0, abandoned |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ MulticastData(m)
        \/ ReceiveData(m)
        \/ LoseData(m)
        \/ Retransmit(m)
        \/ TakeJoinerDigest(m)
        \/ AbandonJoin(m)
        \/ InstallView(m)
        \/ Join(m)
        \/ Crash(m)
        \/ StableTimeoutFires(m)
        \/ StabilityTimeoutFires(m)
        \/ ReceiveStable(m)
        \/ ReceiveStability(m)
        \/ LoseGossip(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars

(* Fairness: timers fire, what is in the network arrives, views are installed; faults need not happen. Each    *)
(* line is WF of an action, for votes SF (whenever the network is quiet again and again), but says by states and *)
(* packets what is enabled and what was taken: TLC evaluates an action for every edge, 30 times slower.          *)
Waiting(m) == \E p \in network : p.to = m /\ p.message.type = "STABILITY"
Taken(m) == \E p \in network \ network' : p.to = m /\ p.message.type = "STABILITY"
VoteCast(m) == \E p \in network' \ network : p.sender = m /\ p.message.type = "STABLE"

Fairness ==
    /\ []<>(Votes(network) = {})
    /\ \A m \in Member :
        /\ []<>~Waiting(m) \/ []<><<Taken(m)>>_network
        /\ []<>(m \notin up \cap InGroup) \/ []<><<VoteCast(m)>>_network
        /\ []<>(m \in up => ~local[m].pending)
        /\ []<>(~MayInstall(m) /\ \A k \in 2 .. Len(History) : ~MayJoin(m, k))

LiveSpec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Types *)

Seqno == Nothing .. FirstSeqno + 8

IsVector(v, members) == DOMAIN v = members /\ \A s \in members : v[s] \in Seqno

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ s.view = NoView \/ \E k \in DOMAIN History : s.view = History[k]
    /\ s.view = NoView \/ Variant = "note" \/ (IsVector(s.vote, MembersOf(s.view)) /\ IsVector(s.minimum, MembersOf(s.view)))
    /\ s.heard_from \subseteq Member
    /\ s.pending \in BOOLEAN /\ s.held \in BOOLEAN
    /\ s.bytes \in Nat /\ (MaxBytes > 0 => s.bytes < MaxBytes)

WindowTypeOK(w) ==
    /\ w.low \in Seqno /\ w.delivered \in Seqno /\ w.purged \in Seqno
    /\ w.ahead \subseteq Seqno

TypeOK ==
    /\ \A m \in Member :
        /\ LocalTypeOK(m)
        /\ DOMAIN rm[m] = MembersOf(local[m].view)
        /\ \A s \in DOMAIN rm[m] : WindowTypeOK(rm[m][s])
    /\ \A p \in network : p.sender \in Member /\ p.message.type \in {"STABLE", "STABILITY"}
    /\ up \subseteq Member

-----------------------------------------------------------------------------
(* Claims *)

\* STB-11, STB-12: whoever was in every view from its own to the purger's has delivered what was purged.
\* It covers a joiner too: what it was told to start from is no less than anything purged by then.
NoPrematurePurge ==
    \A p, x \in InGroup :
        Throughout(x, Idx(x), Idx(p)) =>
            \A s \in DOMAIN rm[p] :
                SameSender(s, p, x) => rm[p][s].purged <= rm[x][s].delivered

\* STB-17: what a live member of the newest view lacks, and a live member ever delivered, is in some live
\* member's store. (NOT a promise that it was delivered to anyone: a message may die with its sender.)
RequestsServable ==
    \A x \in up \cap InGroup :
        In(x, Newest) /\ Throughout(x, Idx(x), Newest) =>
            \A s \in DOMAIN rm[x] :
                Throughout(s, Idx(x), Newest) =>
                    \A y \in up \cap InGroup :
                        SameSender(s, x, y) =>
                            \A n \in rm[x][s].delivered + 1 .. rm[y][s].delivered :
                                (n > rm[y][s].low /\ n \notin rm[x][s].ahead) =>
                                    \E h \in up \cap InGroup : SameSender(s, x, h) /\ Holds(rm[h][s], n)

\* From the moment a digest is taken for a joiner: nobody purges beyond it before the joiner is in.
JoinerFindsItsMessages ==
    start # EmptyVector =>
        \A k \in 2 .. Len(History) :
            \A j \in Joiners(k) :
                (Idx(j) < k /\ Newest \in {k - 1, k}) =>
                    \A p \in InGroup : \A s \in DOMAIN start :
                        (Idx(p) \in {k - 1, k} /\ s \in DOMAIN rm[p]) => rm[p][s].purged <= start[s]

\* DLV-01, STB-01: no vote claims more than its author has delivered.
VotesAreDelivered ==
    \A p \in Votes(network) :
        LET from == p.sender
            k == p.message.view_id.counter
        IN (from \in InGroup /\ (k = 0 \/ Throughout(from, k, Idx(from)))) =>
            \A s \in DOMAIN p.message.digest \cap DOMAIN rm[from] :
                (k = 0 \/ Throughout(s, k, Idx(from))) => p.message.digest[s] <= rm[from][s].delivered

\* STB-05, AMB-51: the running minimum never exceeds the own vote, nor the vote what was delivered.
MinimumWithinVote ==
    \A m \in InGroup : \A s \in DOMAIN local[m].vote :
        /\ local[m].minimum[s] <= local[m].vote[s]
        /\ local[m].vote[s] <= rm[m][s].delivered

\* STB-02.
DeliveredWithinReceived ==
    \A m \in InGroup : LET digest == DigestOf(rm[m]) IN
        \A s \in DOMAIN digest : digest[s].delivered <= digest[s].received

\* STB-08: a STABILITY message is only ever pending when nobody is left to hear from.
PendingMeansAllHeard == \A m \in Member : local[m].pending => local[m].heard_from = {}

\* What was purged stays purged, for as long as the window lives.
PurgedNeverDecreasesStep ==
    \A m \in Member : \A s \in DOMAIN rm[m] \cap DOMAIN rm'[m] :
        (act'.action # "Join" \/ act'.member # m) => rm'[m][s].purged >= rm[m][s].purged

PurgedNeverDecreases == [][PurgedNeverDecreasesStep]_vars

\* A step belongs to one member; the network and the others change through its effects alone, and what
\* is ignored or refused changes nothing. This is what makes local steps speak for the whole model.
OnlyByEffectsStep ==
    /\ \A m \in Member : m # act'.member => local'[m] = local[m] /\ rm'[m] = rm[m]
    /\ act'.action # "LoseGossip" =>
        network' = AfterStep(network, act'.member, act'.consumed, act'.effects)
    /\ act'.outcome \in {"ignored", "local_error", "remote_error"} =>
        local'[act'.member] = local[act'.member] /\ act'.effects = <<>>

OnlyByEffects == [][OnlyByEffectsStep]_vars

\* Refinement: all of the above is an implementation of an abstract stable storage of messages.
Abstract == INSTANCE StabilitySafety WITH
    delivered <- [m \in Member |-> [s \in DOMAIN rm[m] |-> rm[m][s].delivered]],
    purged <- [m \in Member |-> [s \in DOMAIN rm[m] |-> rm[m][s].purged]],
    installed <- [m \in Member |-> Idx(m)]

RefinesStabilitySafetyStep == Abstract!Step

RefinesStabilitySafety == Abstract!Init /\ [][RefinesStabilitySafetyStep]_vars

\* STB-20, STB-18: once the senders are silent, what all have delivered all purge.
StaysIn == MembersIn[Len(History)]

EventuallyPurged ==
    <>[](\A m \in StaysIn \cap up : \A s \in DOMAIN rm[m] : rm[m][s].purged = rm[m][s].delivered)

-----------------------------------------------------------------------------
(* Witnesses: each must be reachable, or the claims above speak of less than they seem to. *)

SomebodyPurges == \E m \in InGroup : \E s \in DOMAIN rm[m] : rm[m][s].purged > Nothing
PurgeWithinLaterView == \E m \in InGroup : Idx(m) > 1 /\ (\E s \in DOMAIN rm[m] : rm[m][s].purged > Nothing)
AJoinerPurges == \E m \in InGroup \ Member0 : \E s \in DOMAIN rm[m] : rm[m][s].purged > rm[m][s].low
VotesOfTwoViews == \E p, q \in Votes(network) : p.message.view_id # q.message.view_id
TwoStabilities == \E p, q \in network : p # q /\ p.message.type = "STABILITY" /\ q.message.type = "STABILITY"
DeliveredBeyondStart ==
    start # EmptyVector /\ \E m \in InGroup : \E s \in DOMAIN start \cap DOMAIN rm[m] : rm[m][s].delivered > start[s]
ReceivedBehindGap == \E m \in InGroup : \E s \in DOMAIN rm[m] : rm[m][s].ahead # {}

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]
SeenMessages == {[sender |-> p.sender, message |-> p.message] : p \in network}
SeenOutside(m) == DigestOf(rm[m])

\* Every message that was ever in the network, from its sender and (what no correct peer does) from a stranger, or
\* without what it should hold; every view with every digest, fitting or not; each timer, late or not; each call,
\* allowed or not.
Alphabet(messages, digests) ==
    LET votes == {p \in messages : p.message.type = "STABLE"}
        stabilities == {p \in messages : p.message.type = "STABILITY"}
        strange(packets) == {[p EXCEPT !.sender = "Z"] : p \in packets}
        malformed(packets) ==
            {[p EXCEPT !.message.digest = EmptyVector] : p \in packets}
            \cup {[p EXCEPT !.message.view_id = NoViewId, !.message.digest = EmptyVector] : p \in packets}
    IN {[type |-> "StableTimeout"], [type |-> "StabilityTimeout"],
        [type |-> "JoinerDigestTaken"], [type |-> "JoinAbandoned"],
        [type |-> "MessageReceived", bytes |-> 1], [type |-> "MessageReceived", bytes |-> 2]}
       \cup {[type |-> "ViewInstalled", view |-> History[k], digest |-> d] : k \in DOMAIN History, d \in digests}
       \cup {[type |-> "StableReceived", sender |-> p.sender, message |-> p.message] :
                p \in votes \cup strange(votes) \cup malformed(votes)}
       \cup {[type |-> "StabilityReceived", sender |-> p.sender, message |-> p.message, digest |-> d] :
                p \in stabilities \cup strange(stabilities) \cup malformed(stabilities), d \in digests}
=============================================================================
