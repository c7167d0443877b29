---------------------------- MODULE StableGroup -----------------------------
(******************************************************************************)
(* A group of members that run STABLE, and what is around them, as freely     *)
(* as it may behave:                                                          *)
(* - Data (ReliableMulticast). Multicasts reach each member at any time,      *)
(*   in any order, or not at all; a copy that was lost can only be had by     *)
(*   retransmission from some member's store.                                 *)
(* - STABLE and STABILITY. On a remembering network every message ever        *)
(*   sent may reach any live member, in the view or not, at any time and      *)
(*   any number of times: loss, duplication and reordering without end.       *)
(*   On a consuming one (liveness) a copy is received once, or lost.          *)
(* - Views (Membership). Each member installs the views of its path           *)
(*   whenever it likes. Members of a view and of its successor coexist, an    *)
(*   excluded member continues in its old view, and two members may decide    *)
(*   successors of the same view. There is no flush.                          *)
(* - Newcomers (JoinDigest). Any member that joins, or comes from the other side   *)
(*   of a merge, starts from a digest that some member took at some moment    *)
(*   before; any views may come between.                                      *)
(* - Crashes and restarts, at any moment.                                     *)
(* The claims are in StableClaims.                                            *)
(******************************************************************************)
EXTENDS Stable, Windows, Acts

CONSTANTS
    Member,             \* all addresses
    Script,             \* views that are decided, in this order: those at the start (they follow none), and later ones
    MaxViews,           \* when the script is at its end: any views are decided, up to this number
    AnyLists,           \* bound: the lists of members that those have
    Sends,              \* [Member -> Nat]: how many multicasts each incarnation of a member sends at most
    DeliveredAtStart,   \* [Member -> Nat]: how many of them are sent and delivered at the start
    Lagging,            \* the members that lack those of the others all the same
    FirstViewInstalled, \* the first views were installed: "late", after what DeliveredAtStart says, or "early", before
    Promises,           \* bound: pairs <<by, to>>: `by` may promise its digest to `to`
    DigestFirst,        \* bound: a view with newcomers is decided when all of them have start digests
    NetworkRemembers,   \* the network of STABLE and STABILITY remembers (TRUE), or consumes (FALSE)
    MaxVotes,           \* bound on a remembering network: different STABLE messages of each view, a sequence
    Receivers,          \* bound: the members that STABLE and STABILITY reach; all others lose every copy
    VoteWhenEmpty,      \* consuming network: a member votes when no "votes" are in it, or nothing at "all"
    MaxLost,            \* fault budget: copies lost, data and (consuming network) gossip
    MaxCrashes,         \* fault budget
    MaxRestarts,        \* fault budget: members that begin a new incarnation
    Restarters,         \* bound: who does
    MaxWithdrawn,       \* fault budget: promises withdrawn though the newcomer is alive
    MaxMisuses,         \* fault budget: strangers' messages and callers' mistakes
    Without,            \* conjuncts of Membership, JoinDigest and ReliableMulticast that this environment does not keep
    Required            \* conjuncts that the claims ask of it; {}: all

VARIABLES
    rm,             \* [Member -> windows of the layer below, one for each member of its view]
    network,        \* STABLE and STABILITY messages: a set of packets
    up,             \* the members that have not crashed
    views,          \* the decided views (Membership)
    installed,      \* [Member -> the number of the view installed; 0: none] (Membership)
    life,           \* [Member -> its present incarnation] (Membership)
    promises,       \* the digests given to newcomers, not yet redeemed or withdrawn (JoinDigest)
    lost,           \* copies of multicasts that will not arrive: <<sender, seqno, receiver>>
    spent           \* fault budgets used

vars == <<local, rm, network, up, views, installed, life, promises, lost, spent, act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, rm, network, up, views, installed, life, promises, lost, spent>>

\* The views at the start.
First == SelectSeq(Script, LAMBDA v : v.preds = {})

\* The assumptions of this group about the layers around it.
Membership == INSTANCE Membership WITH Off <- Without
JoinDigest == INSTANCE JoinDigest WITH
    Off <- Without,
    delivered <- [m \in Member |-> [s \in DOMAIN rm[m] |-> rm[m][s].delivered]],
    held <- [m \in Member |-> local[m].promised]

ASSUME
    /\ \A k \in DOMAIN Script : k <= Len(First) <=> Script[k].preds = {}
    /\ FirstViewInstalled \in {"late", "early"}
    /\ VoteWhenEmpty \in {"votes", "all"}
    /\ {NetworkRemembers, KeepAct, DigestFirst} \subseteq BOOLEAN
    /\ Without \subseteq Membership!Conjuncts \cup JoinDigest!Conjuncts \cup {"NotForged", "OfItsIncarnation"}

InGroup == {m \in Member : installed[m] # 0}
Active(m) == m \in up /\ installed[m] # 0

\* The windows of x and y for sender s speak of the same incarnation of s: its seqnos mean the same messages.
SameSender(s, x, y) == Shares(views[installed[x]], views[installed[y]], s)

-----------------------------------------------------------------------------
(* The network *)

Packets(sender, message) ==
    IF NetworkRemembers THEN {[sender |-> sender, to |-> "*", message |-> message]}
    ELSE {[sender |-> sender, to |-> m, message |-> message] : m \in up \cap Receivers}

\* The network after a step of `sender` that consumed some packets and had these effects. (Most steps have none.)
AfterStep(net, sender, consumed, effects) ==
    LET kept == IF NetworkRemembers THEN net ELSE net \ consumed
        IsDatagram(effect) == effect.type = "Datagram"
        sent == SelectSeq(effects, IsDatagram)
    IN IF effects = <<>> THEN kept
       ELSE kept \cup UNION {Packets(sender, sent[i].message) : i \in DOMAIN sent}

Votes(net) == {p \in net : p.message.type = "STABLE"}

-----------------------------------------------------------------------------
(* Applying Step to one member. `windows` is what the layer below holds when the event arrives. Models of       *)
(* defects replace an operator of this section by one of StableDefects.       *)

\* The step of a member: Stable's, or NoteStable's.
MemberStep(s, e) == Step(s, e)
StableTimeoutEvent(windows) == [type |-> "StableTimeout"]

\* The layer below adds a message to a window; or it is asked to purge.
AddTo(window, seqno) == Add(window, seqno)
PurgeIn(windows, vector) == Purge(windows, vector)

\* A promised digest is what has been delivered.
PromisedBy(m) == [s \in DOMAIN rm[m] |-> rm[m][s].delivered]

\* The windows after a step's purges were passed down.
AfterPurges(windows, effects) ==
    LET IsPurge(effect) == effect.type = "PassDown"
        purges == SelectSeq(effects, IsPurge)
    IN IF effects = <<>> \/ purges = <<>> THEN windows ELSE PurgeIn(windows, purges[1].event.digest)

Apply(action, m, event, windows, consumed, given) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, given, event, consumed, step)
        /\ rm' = [rm EXCEPT ![m] = AfterPurges(windows, step.effects)]
        /\ network' = AfterStep(network, m, consumed, step.effects)

Fault(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Data: the layer below *)

DataArrives(action, m, s, seqno, given) ==
    Apply(action, m, [type |-> "MessageReceived", size |-> 1],
          [rm[m] EXCEPT ![s] = AddTo(@, seqno)], {}, given)

\* m multicasts its next message; its own copy comes back at once (DLV-04).
MulticastData(m) ==
    /\ Active(m)
    /\ \E seqno \in {rm[m][m].delivered + 1} :
        /\ seqno < FirstSeqno + Sends[m]
        /\ DataArrives("MulticastData", m, m, seqno, [seqno |-> seqno])
    /\ UNCHANGED <<up, views, installed, life, promises, lost, spent>>

\* The conjuncts of ReliableMulticast that the layer below does not keep here, as STABLE can do without them: there is no
\* flush. (What may be received was multicast.)
LayerLacks == {"InItsView", "NotForged"} \cup Without

\* s has sent these to m's view (or another that m's windows know s from).
SentBy(s, m) ==
    IF s \in DOMAIN rm[m] /\ installed[s] # 0
        /\ MayReach(Message(installed[s], views[installed[s]].lives[s], s, FirstSeqno),
                    installed[m], views[installed[m]].lives, {}, LayerLacks)
    THEN FirstSeqno .. (IF "NotForged" \in Without THEN rm[s][s].delivered + 1 ELSE rm[s][s].delivered)
    ELSE {}

\* The first copy of a multicast arrives. (The sender may have crashed since.)
ReceiveData(m) ==
    /\ Active(m)
    /\ \E s \in Member \ {m} : \E seqno \in SentBy(s, m) :
        /\ Lacks(rm[m][s], seqno)
        /\ <<s, seqno, m>> \notin lost
        /\ DataArrives("ReceiveData", m, s, seqno, [sender |-> s, seqno |-> seqno])
    /\ UNCHANGED <<up, views, installed, life, promises, lost, spent>>

LoseData(m) ==
    /\ spent.lost < MaxLost
    /\ Active(m)
    /\ \E s \in Member \ {m} : \E seqno \in SentBy(s, m) :
        /\ Lacks(rm[m][s], seqno)
        /\ <<s, seqno, m>> \notin lost
        /\ lost' = lost \cup {<<s, seqno, m>>}
        /\ Environment("LoseData", m, [sender |-> s, seqno |-> seqno], {})
    /\ Fault("lost")
    /\ UNCHANGED <<local, rm, network, up, views, installed, life, promises>>

\* m asked for a message it lacks, and some member's store had it.
Retransmit(m) ==
    /\ lost # {}
    /\ Active(m)
    /\ \E copy \in lost : \E s \in {copy[1]}, seqno \in {copy[2]} :
        /\ copy[3] = m
        /\ s \in DOMAIN rm[m]
        /\ Lacks(rm[m][s], seqno)
        /\ \E h \in up \ {m} :
            /\ installed[h] # 0 /\ s \in DOMAIN rm[h] /\ SameSender(s, m, h)
            /\ Holds(rm[h][s], seqno)
            /\ DataArrives("Retransmit", m, s, seqno, [sender |-> s, seqno |-> seqno, holder |-> h])
    /\ UNCHANGED <<up, views, installed, life, promises, lost, spent>>

-----------------------------------------------------------------------------
(* Membership *)

\* The views that may be decided now: the next of the script, or, that being at its end, all legal ones within
\* the bounds.
Begins(v) == [v EXCEPT !.joins = {m \in DOMAIN v.lives : Membership!Sources(v, m) = {}}]

AnyViews ==
    {Begins(DecidedView(ViewId(1 + Greatest(views[j].id.counter, views[k].id.counter), creator), members, {j, k},
                        [m \in {members[i] : i \in DOMAIN members} |-> life[m]], {})) :
        j \in DOMAIN views, k \in DOMAIN views, creator \in Member, members \in AnyLists}

Decidable ==
    IF Len(views) < Len(Script) THEN {Script[Len(views) + 1]}
    ELSE IF Len(views) < MaxViews THEN AnyViews
    ELSE {}

\* All processes that need a start digest have one, or no process needs one.
AllHavePromises(v) ==
    \A x \in DOMAIN v.lives : \A j \in v.preds \ Membership!Sources(v, x) :
        v.lives[x] = life[x] => \E p \in promises : JoinDigest!Redeemable(p, x, v, j)

\* The windows of m after it installed v. A member that comes to v from where m comes from has the same window as before;
\* for the others m has the promised entries. (A joiner of v has sent nothing yet.)
WindowsIn(m, v) ==
    LET used == JoinDigest!Used(m, v)
        told(s) == {p.vector[s] : p \in {q \in used : s \in DOMAIN q.vector}}
        highest(s) == CHOOSE n \in told(s) : \A i \in told(s) : i <= n
    IN [s \in DOMAIN v.lives |->
        IF s \in v.joins THEN Window(Nothing)
        ELSE IF s \in DOMAIN rm[m] /\ Shares(views[installed[m]], v, s)
                /\ (told(s) = {} \/ highest(s) <= rm[m][s].delivered)
        THEN rm[m][s]
        ELSE Window(IF told(s) = {} THEN Nothing ELSE highest(s))]

Installs(action, m, v) ==
    \E windows \in {WindowsIn(m, v)} :
        /\ promises' = IF JoinDigest!ToBeTold(m, v) = {} THEN promises
                       ELSE {p \in promises : p.to # m \/ p.to_life # life[m]}
        /\ Apply(action, m, [type |-> "ViewInstalled", view |-> ViewOf(v), digest |-> DigestOf(windows)],
                 windows, {}, None)

\* m installs the next view of its path. Where it is the first to do so the view is decided with this step:
\* before that no member sees it.
InstallsNext(action, m) ==
    \/ \E k \in DOMAIN views :
        /\ k > installed[m]
        /\ Membership!Install(m, k)
        /\ JoinDigest!Told(m, views[k])
        /\ Installs(action, m, views[k])
    \/ \E v \in Decidable :
        /\ Membership!DecideAndInstall(v, m)
        /\ JoinDigest!Told(m, v)
        /\ DigestFirst /\ "StartRequiresPromise" \notin Without => AllHavePromises(v)
        /\ Installs(action, m, v)

InstallView(m) ==
    /\ Active(m)
    /\ InstallsNext("InstallView", m)
    /\ UNCHANGED <<up, lost, spent>>

\* A new incarnation installs its first view.
Join(m) ==
    /\ m \in up /\ installed[m] = 0
    /\ promises = {} => "StartRequiresPromise" \in Without
    /\ InstallsNext("Join", m)
    /\ UNCHANGED <<up, lost, spent>>

\* (A bound: no member makes a promise to a process that a later view than its own has admitted. That may be earlier
\* or later than when it installs the first view with the process.)
Admitted(m, to) ==
    IF DigestFirst
    THEN \E k \in DOMAIN views : k > installed[m] /\ Has(views[k], to, life[to])
            /\ \E j \in views[k].preds : Has(views[j], m, life[m])
    ELSE installed[to] # 0

\* m takes the digest that a newcomer will start from, and STABLE is notified in the same step.
PromiseDigest(m) ==
    /\ Active(m)
    /\ \E to \in up :
        /\ <<m, to>> \in Promises
        /\ JoinDigest!MayPromise(m, to)
        /\ ~Admitted(m, to)
        /\ promises' = promises \cup {[JoinDigest!PromiseOf(m, to) EXCEPT !.vector = PromisedBy(m)]}
        /\ Apply("PromiseDigest", m, [type |-> "DigestPromised", to |-> to], rm[m], {}, None)
    /\ UNCHANGED <<up, views, installed, life, lost, spent>>

\* A promise is withdrawn: the newcomer gives up, or is gone.
WithdrawPromise(m) ==
    /\ Active(m)
    /\ \E p \in promises :
        /\ p.by = m /\ p.by_life = life[m]
        /\ JoinDigest!MayWithdraw(p)
        /\ IF JoinDigest!Open(p) /\ p.to \in up
           THEN spent.withdrawn < MaxWithdrawn /\ Fault("withdrawn")
           ELSE UNCHANGED spent
        /\ promises' = promises \ {p}
        /\ Apply("WithdrawPromise", m, [type |-> "PromiseWithdrawn", to |-> p.to], rm[m], {}, None)
    /\ UNCHANGED <<up, views, installed, life, lost>>

\* The newcomer has got what it was promised, or more from another, and was admitted by a view that m will not
\* install: m is notified that it need not wait.
AdmittedElsewhere(m) ==
    /\ Active(m)
    /\ \E to \in local[m].promised :
        /\ JoinDigest!MayRelease(m, to)
        /\ Apply("AdmittedElsewhere", m, [type |-> "PromiseWithdrawn", to |-> to], rm[m], {}, None)
    /\ UNCHANGED <<up, views, installed, life, promises, lost, spent>>

\* m stops. Copies on their way to it are gone (on a remembering network there is nothing to take away: no member
\* listens any more). Its decisions and promises stay.
Crash(m) ==
    /\ spent.crashes < MaxCrashes
    /\ Active(m)
    /\ up' = up \ {m}
    /\ \E consumed \in {{p \in network : p.to = m}} :
        /\ network' = AfterStep(network, m, consumed, <<>>)
        /\ Environment("Crash", m, None, consumed)
    /\ Fault("crashes")
    /\ UNCHANGED <<local, rm, views, installed, life, promises, lost>>

\* Another incarnation of m begins, which knows nothing.
Restart(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \in Restarters /\ installed[m] # 0
    /\ Membership!Restart(m)
    /\ up' = up \cup {m}
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ rm' = [rm EXCEPT ![m] = [s \in {} |-> Window(Nothing)]]
    /\ lost' = {copy \in lost : copy[1] # m /\ copy[3] # m}
    /\ \E consumed \in {{p \in network : p.to = m}} :
        /\ network' = AfterStep(network, m, consumed, <<>>)
        /\ Environment("Restart", m, None, consumed)
    /\ Fault("restarts")
    /\ UNCHANGED promises

-----------------------------------------------------------------------------
(* Gossip *)

WithinBound(votes, k) ==
    Cardinality({p \in votes : p.message.view_id \in {views[k].id, NoViewId}}) <= MaxVotes[k]

\* On a consuming network the timer for votes is slower than messages are; how much slower is a bound.
NothingInTransit == IF VoteWhenEmpty = "votes" THEN Votes(network) = {} ELSE network = {}

\* Whether the timer for votes fires now: at any time. A runtime may let it rest where the member keeps no message,
\* and has heard no vote in this round: `Needed`.
TimerFires(m) == TRUE
Keeps(m) == \E s \in DOMAIN rm[m] :
    rm[m][s].ahead # {} \/ rm[m][s].delivered > Greatest(rm[m][s].low, rm[m][s].purged)
Needed(m) == Keeps(m) \/ local[m].heard_from # MembersOf(local[m].view)

\* (The note reads its digest when it votes.)
StableTimeoutFires(m) ==
    /\ Active(m)
    /\ TimerFires(m)
    /\ ~NetworkRemembers => NothingInTransit
    /\ Apply("StableTimeoutFires", m, StableTimeoutEvent(rm[m]), rm[m], {}, None)
    /\ NetworkRemembers => WithinBound(Votes(network'), installed[m])
    /\ UNCHANGED <<up, views, installed, life, promises, lost, spent>>

\* The delay of a STABILITY message has passed. (Cancelled timers that fire all the same: see Misuse.)
StabilityTimeoutFires(m) ==
    /\ Active(m)
    /\ local[m].pending
    /\ Apply("StabilityTimeoutFires", m, [type |-> "StabilityTimeout"], rm[m], {}, None)
    /\ UNCHANGED <<up, views, installed, life, promises, lost, spent>>

ReceiveStable(m) ==
    /\ m \in up /\ m \in Receivers
    /\ \E p \in network :
        /\ p.message.type = "STABLE" /\ (~NetworkRemembers => p.to = m)
        /\ Apply("ReceiveStable", m, [type |-> "StableReceived", sender |-> p.sender, message |-> p.message],
                 rm[m], {p}, None)
    /\ UNCHANGED <<up, views, installed, life, promises, lost, spent>>

ReceiveStability(m) ==
    /\ m \in up /\ m \in Receivers
    /\ \E p \in network :
        /\ p.message.type = "STABILITY" /\ (~NetworkRemembers => p.to = m)
        /\ Apply("ReceiveStability", m,
                 [type |-> "StabilityReceived", sender |-> p.sender, message |-> p.message,
                  digest |-> DigestOf(rm[m])],
                 rm[m], {p}, None)
    /\ UNCHANGED <<up, views, installed, life, promises, lost, spent>>

\* A copy of a STABLE or STABILITY message is lost; never a member's own copy (DLV-04).
LoseGossip(m) ==
    /\ ~NetworkRemembers
    /\ spent.lost < MaxLost
    /\ \E p \in network :
        /\ p.to = m /\ p.sender # m
        /\ network' = network \ {p}
        /\ Environment("LoseGossip", m, [packet |-> p], {p})
    /\ Fault("lost")
    /\ UNCHANGED <<local, rm, up, views, installed, life, promises, lost>>

\* Events that no correct peer or caller causes; late timers, and views that were installed before. Each changes
\* nothing.
Misuse(m) ==
    /\ spent.misuses < MaxMisuses
    /\ Active(m)
    /\ \E event \in
        {[type |-> "StabilityTimeout"],
         [type |-> "ViewInstalled", view |-> local[m].view, digest |-> DigestOf(rm[m])],
         [type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>), digest |-> DigestOf(rm[m])],
         [type |-> "StableReceived", sender |-> "Z",
          message |-> StableMessage(local[m].view.id, local[m].vote)],
         [type |-> "StabilityReceived", sender |-> "Z", digest |-> DigestOf(rm[m]),
          message |-> StabilityMessage(local[m].view.id, [s \in DOMAIN rm[m] |-> FirstSeqno])]} :
        /\ event.type = "StabilityTimeout" => ~local[m].pending
        /\ Apply("Misuse", m, event, rm[m], {}, None)
    /\ Fault("misuses")
    /\ UNCHANGED <<up, views, installed, life, promises, lost>>

-----------------------------------------------------------------------------
InitWindows(m, v) ==
    [s \in DOMAIN v.lives |->
        IF m \in Lagging /\ s # m THEN Window(Nothing)
        ELSE [Window(Nothing) EXCEPT !.delivered = Nothing + DeliveredAtStart[s]]]

\* The digest of the first votes.
InitDigest(m, v) ==
    IF FirstViewInstalled = "late" THEN DigestOf(InitWindows(m, v))
    ELSE DigestOf([s \in DOMAIN v.lives |-> Window(Nothing)])

Init ==
    /\ Membership!Init
    /\ rm = [m \in Member |->
                IF installed[m] = 0 THEN [s \in {} |-> Window(Nothing)]
                ELSE InitWindows(m, views[installed[m]])]
    /\ local = [m \in Member |->
                    IF installed[m] = 0 THEN Start(m)
                    ELSE MemberStep(Start(m),
                                    [type |-> "ViewInstalled", view |-> ViewOf(views[installed[m]]),
                                     digest |-> InitDigest(m, views[installed[m]])]).state]
    /\ network = {}
    /\ up = Member
    /\ promises = {}
    /\ lost = {}
    /\ spent = [lost |-> 0, crashes |-> 0, restarts |-> 0, withdrawn |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ MulticastData(m)
        \/ ReceiveData(m)
        \/ LoseData(m)
        \/ Retransmit(m)
        \/ PromiseDigest(m)
        \/ WithdrawPromise(m)
        \/ AdmittedElsewhere(m)
        \/ InstallView(m)
        \/ Join(m)
        \/ Crash(m)
        \/ Restart(m)
        \/ StableTimeoutFires(m)
        \/ StabilityTimeoutFires(m)
        \/ ReceiveStable(m)
        \/ ReceiveStability(m)
        \/ LoseGossip(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
