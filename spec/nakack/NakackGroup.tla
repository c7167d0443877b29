----------------------------- MODULE NakackGroup -----------------------------
(***************************************************************************)
(* Members that run NAKACK over a Network, and what is around them:        *)
(* - Views (Membership): a script of views, installed when the members     *)
(*   like. Members of a view and of the next coexist.                      *)
(* - A group that stops before its view changes (FLUSH): the survivors are *)
(*   frozen, the cut is what any of them has delivered, and each of them   *)
(*   delivers it before it installs the next view. They learn which member *)
(*   has the missing messages.                                             *)
(* - Newcomers start at the cut of the predecessors of their view.         *)
(* - Votes and purges (STABLE): votes are taken at any time, and what all  *)
(*   of a view have delivered is purged whenever a member likes.           *)
(* - Crashes, and incarnations that begin, at any moment.                  *)
(* The payload of a message is what claims need to know of it:             *)
(* <<the incarnation that sent it, the number of the view, its seqno>>.    *)
(* Members do not look at it. The claims are in NakackClaims.              *)
(***************************************************************************)
EXTENDS Nakack, Network, Acts

CONSTANTS
    Script,            \* views that are decided, in this order: those at the start (they follow none), and later ones
    Sends,             \* bound: [Member -> how many multicasts each incarnation sends]
    Tellers,           \* bound: the members whose timer for HIGHEST fires
    Askers,            \* bound: the members whose timer for requests fires
    MaxVotes,          \* bound: votes of STABLE
    PurgeNeedsVotesOf, \* a purge needs the votes of "all" of the view, or of "some"
    AtCut,             \* a member has delivered the cut when it installs the next view
    Gossip,            \* the note's remedy for the last message: NAKACK is handed the "minimum" or the "maximum" of votes
    Crashers,          \* bound: members that may crash, once each
    MaxReleases,       \* bound: groups that were stopped, and resume in the same view
    MaxDigests,        \* bound: digests that are asked for
    MaxMisuses,        \* fault budget: messages of no correct peer, and callers' mistakes
    NetworkLoses,      \* a network that consumes loses, as often as it likes
    Without            \* conjuncts of Membership that this environment does not keep

VARIABLES
    timers,         \* [Member -> the timers that are set]
    up,             \* the members that have not crashed
    views,          \* the decided views (Membership)
    installed,      \* [Member -> the number of the view installed; 0: none] (Membership)
    life,           \* [Member -> its present incarnation] (Membership)
    sent,           \* [Member -> how many multicasts its incarnation has sent]
    got,            \* [Member -> what it has delivered: a sequence of [view, incarnation, sender, payload]]
    frozen,         \* the members that are stopped for the next view
    settled,        \* [number of a view -> its cut: a vector; empty: not yet fixed]
    votes,          \* [number of a view -> [member -> what it voted]]
    spent           \* bounds and fault budgets used

surroundings == <<up, views, installed, life, frozen, settled, votes>>
vars == <<local, net, timers, surroundings, sent, got, spent, act>>

\* While checking, `act` is hidden: it says how a state was reached, not what it is.
view == <<local, net, timers, surroundings, sent, got, spent>>

\* The views at the start.
First == SelectSeq(Script, LAMBDA v : v.preds = {})

\* The assumptions of this group about the layers above it.
Membership == INSTANCE Membership WITH Off <- Without

ASSUME
    /\ \A k \in DOMAIN Script : k <= Len(First) <=> Script[k].preds = {}
    /\ PurgeNeedsVotesOf \in {"all", "some"}
    /\ Gossip \in {"none", "minimum", "maximum"}
    /\ {AtCut, KeepAct, NetworkLoses} \subseteq BOOLEAN
    /\ Without \subseteq Membership!Conjuncts

Active(m) == m \in up /\ installed[m] # 0

\* The number of the view that m counts in.
Now(m) == installed[m]

-----------------------------------------------------------------------------
(* Applying Step to one member. Models of defects replace an operator of this section. *)

MemberStep(s, e) == Step(s, e)

\* The messages that these effects deliver.
DeliveredBy(effects) ==
    LET Is(effect) == effect.type = "PassUp" /\ effect.event.type = "Deliver" IN SelectSeq(effects, Is)

GotAfter(m, number, effects) ==
    LET ups == DeliveredBy(effects)
    IN got[m] \o [i \in DOMAIN ups |->
        [view |-> number, incarnation |-> life[m], sender |-> ups[i].event.sender, payload |-> ups[i].event.payload]]

TimersSet(effects) == {effects[i].name : i \in {i \in DOMAIN effects : effects[i].type = "SetTimer"}}

\* m takes a step in view `number`, with this timer fired.
ApplyIn(number, action, m, event, consumed, fired) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ timers' = [timers EXCEPT ![m] = (@ \ fired) \cup TimersSet(step.effects)]
        /\ got' = [got EXCEPT ![m] = GotAfter(m, number, step.effects)]

Apply(action, m, event, consumed) == ApplyIn(Now(m), action, m, event, consumed, {})

Spend(kind) == spent' = [spent EXCEPT ![kind] = @ + 1]

-----------------------------------------------------------------------------
(* Sending, and the network *)

PayloadOf(m) == <<life[m], Now(m), local[m].windows[m].delivered + 1>>

MulticastPayload(m) ==
    /\ Active(m) /\ m \notin frozen /\ sent[m] < Sends[m]
    /\ Apply("MulticastPayload", m, [type |-> "SendRequested", payload |-> PayloadOf(m)], {})
    /\ sent' = [sent EXCEPT ![m] = @ + 1]
    /\ UNCHANGED <<surroundings, spent>>

Fires(action, m, name, event) ==
    /\ m \in up /\ name \in timers[m]
    /\ ApplyIn(Now(m), action, m, event, {}, {name})
    /\ UNCHANGED <<surroundings, sent, spent>>

HighestTimeoutFires(m) == m \in Tellers /\ Fires("HighestTimeoutFires", m, "highest", [type |-> "HighestTimeout"])
RequestTimeoutFires(m) == m \in Askers /\ Fires("RequestTimeoutFires", m, "request", [type |-> "RequestTimeout"])

EventOf(message) ==
    CASE message.type = "DATA" -> "DataReceived"
      [] message.type = "HIGHEST" -> "HighestReceived"
      [] message.type = "XMIT_REQ" -> "XmitReqReceived"

ArrivalOf(p) == [type |-> EventOf(p.message), sender |-> p.sender, message |-> p.message]

Receives(action, m, type) ==
    /\ m \in up
    /\ \E p \in Arriving(m) :
        /\ p.message.type = type
        /\ Apply(action, m, ArrivalOf(p), {p})
    /\ UNCHANGED <<surroundings, sent, spent>>

ReceiveData(m) == Receives("ReceiveData", m, "DATA")
ReceiveHighest(m) == Receives("ReceiveHighest", m, "HIGHEST")
ReceiveXmitReq(m) == Receives("ReceiveXmitReq", m, "XMIT_REQ")

\* A network that consumes loses a datagram; what is ignored is as good as lost.
LoseDatagram(m) ==
    /\ NetworkLoses /\ ~NetworkRemembers
    /\ \E p \in Arriving(m) :
        /\ net' = net \ {p}
        /\ Environment("LoseDatagram", m, None, {p})
    /\ UNCHANGED <<local, timers, surroundings, sent, got, spent>>

-----------------------------------------------------------------------------
(* STABLE *)

CastVote(m) ==
    /\ Active(m) /\ spent.votes < MaxVotes /\ m \notin DOMAIN votes[Now(m)]
    /\ votes' = [votes EXCEPT ![Now(m)] =
            [x \in DOMAIN @ \cup {m} |-> IF x = m THEN DeliveredVector(local[m]) ELSE @[x]]]
    /\ Environment("CastVote", m, None, {})
    /\ Spend("votes")
    /\ UNCHANGED <<local, net, timers, up, views, installed, life, frozen, settled, sent, got>>

LeastOf(set) == CHOOSE n \in set : \A k \in set : n <= k
MostOf(set) == CHOOSE n \in set : \A k \in set : n >= k

PurgeStable(m) ==
    /\ Active(m)
    /\ LET k == Now(m)
           voters == IF PurgeNeedsVotesOf = "all" THEN DOMAIN views[k].lives ELSE DOMAIN votes[k]
       IN /\ voters # {} /\ voters \subseteq DOMAIN votes[k]
          /\ \E event \in {[type |-> "Purge",
                            digest |-> [x \in DOMAIN views[k].lives |-> LeastOf({votes[k][y][x] : y \in voters})]]} :
              /\ local[m].former # NoFormer \/ \E x \in DOMAIN event.digest : local[m].windows[x].purged < event.digest[x]
              /\ Apply("PurgeStable", m, event, {})
    /\ UNCHANGED <<surroundings, sent, spent>>

\* NAK-05, NAK-07: STABLE has a gossip of each member, and hands the vector that it made of them to NAKACK. It arrives
\* as a HIGHEST of a member that has as much.
StabilityTells(m) ==
    /\ Gossip # "none" /\ Active(m)
    /\ LET k == Now(m)
           there == {x \in DOMAIN views[k].lives : installed[x] = k /\ life[x] = views[k].lives[x]}
           of(x) == {HighestOf(DOMAIN local[y].windows[x].pending, local[y].windows[x].delivered) : y \in there}
           vector == [x \in DOMAIN views[k].lives |-> IF Gossip = "minimum" THEN LeastOf(of(x)) ELSE MostOf(of(x))]
       IN /\ there = DOMAIN views[k].lives
          /\ \E h \in there \ {m} :
              Apply("StabilityTells", m,
                    [type |-> "HighestReceived", sender |-> h, message |-> HighestMessage(local[m].view.id, vector)], {})
    /\ UNCHANGED <<surroundings, sent, spent>>

-----------------------------------------------------------------------------
(* FLUSH, and whoever asks for a digest *)

\* This incarnation of m survives from view number k into another view of the script.
GoesOn(m, k) ==
    \E j \in DOMAIN Script : k \in Script[j].preds /\ Has(Script[j], m, life[m]) /\ Has(Script[k], m, life[m])
Going(k) == {m \in up : GoesOn(m, k)}

\* Where all count from in view number k: the cut of the view that a member comes from, and nothing for a newcomer.
BaseIn(k) ==
    [x \in DOMAIN Script[k].lives |->
        LET from == {j \in Script[k].preds : Has(Script[j], x, Script[k].lives[x])}
        IN IF from = {} THEN Nothing ELSE settled[CHOOSE j \in from : TRUE][x]]

CountsOf(k, vector) == [x \in DOMAIN Script[k].lives |-> vector[x] - BaseIn(k)[x]]

\* A member is stopped: nothing more is delivered.
Freeze(m) ==
    /\ Active(m) /\ m \notin frozen /\ (GoesOn(m, Now(m)) \/ spent.releases < MaxReleases)
    /\ Apply("Freeze", m, [type |-> "HoldBack", limit |-> CountsOf(Now(m), DeliveredVector(local[m]))], {})
    /\ frozen' = frozen \cup {m}
    /\ UNCHANGED <<up, views, installed, life, settled, votes, sent, spent>>

\* It was stopped for something else.
LetGo(m) ==
    /\ m \in up \cap frozen /\ spent.releases < MaxReleases /\ settled[Now(m)] = EmptyVector
    /\ Apply("LetGo", m, [type |-> "Release"], {})
    /\ frozen' = frozen \ {m}
    /\ Spend("releases")
    /\ UNCHANGED <<up, views, installed, life, settled, votes, sent>>

\* All survivors are stopped: the cut is everything that any of them has delivered.
Settle(m) ==
    /\ Active(m) /\ settled[Now(m)] = EmptyVector
    /\ LET k == Now(m)
           those == Going(k)
       IN /\ GoesOn(m, k) /\ those \subseteq frozen /\ \A x \in those : installed[x] = k
          /\ settled' = [settled EXCEPT ![k] =
                [s \in DOMAIN views[k].lives |-> MostOf({local[x].windows[s].delivered : x \in those})]]
    /\ Environment("Settle", m, None, {})
    /\ UNCHANGED <<local, net, timers, up, views, installed, life, frozen, votes, sent, got, spent>>

\* It learns the cut.
HoldAtCut(m) ==
    /\ m \in up \cap frozen /\ settled[Now(m)] # EmptyVector
    /\ local[m].limit # CountsOf(Now(m), settled[Now(m)])
    /\ Apply("HoldAtCut", m, [type |-> "HoldBack", limit |-> CountsOf(Now(m), settled[Now(m)])], {})
    /\ UNCHANGED <<surroundings, sent, spent>>

\* The survivors that have delivered, in view number k, the cut's messages of s; they may be in the next view already.
HoldersOf(m, s, k) ==
    {h \in up \ {m} : /\ GoesOn(h, k)
                      /\ \E i \in DOMAIN got[h] :
                            /\ got[h][i].view = k /\ got[h][i].incarnation = life[h] /\ got[h][i].sender = s
                            /\ got[h][i].payload[3] = settled[k][s]}

\* It learns the holder of its missing messages.
FetchFrom(m) ==
    /\ m \in up \cap frozen /\ settled[Now(m)] # EmptyVector
    /\ LET k == Now(m) IN
       \E s \in DOMAIN views[k].lives :
        /\ local[m].windows[s].delivered < settled[k][s]
        /\ \E h \in HoldersOf(m, s, k) :
            /\ local[m].windows[s].fetch # Source(h, settled[k][s])
            /\ Apply("FetchFrom", m,
                     [type |-> "Fetch", holder |-> h, sender |-> s, upto |-> CountsOf(k, settled[k])[s]], {})
    /\ UNCHANGED <<surroundings, sent, spent>>

AskForDigest(m) ==
    /\ Active(m) /\ spent.digests < MaxDigests
    /\ Apply("AskForDigest", m, [type |-> "GetDigest", asker |-> "GMS", request |-> 1], {})
    /\ Spend("digests")
    /\ UNCHANGED <<surroundings, sent>>

-----------------------------------------------------------------------------
(* Membership *)

\* The view of the script that m installs next: (a bound) the views of the script are installed for the first time in
\* its order.
NextView(m) ==
    {k \in 1 .. Len(views) + 1 :
        /\ k \in DOMAIN Script /\ k > installed[m] /\ Has(Script[k], m, life[m])
        /\ \A j \in Script[k].preds : j <= Len(views) /\ settled[j] # EmptyVector
        /\ IF installed[m] = 0 THEN m \in Script[k].joins ELSE installed[m] \in Script[k].preds}

\* The members of the view that m does not know: it learns where they start.
NewTo(m, k) == DOMAIN Script[k].lives \ DOMAIN local[m].windows

StartsIn(m, k) ==
    LET told == {x \in NewTo(m, k) : BaseIn(k)[x] # Nothing} IN [x \in told |-> BaseIn(k)[x]]

TellStarts(m) ==
    /\ m \in up
    /\ \E k \in NextView(m) :
        /\ local[m].starts # StartsIn(m, k)
        /\ Apply("TellStarts", m,
                 [type |-> IF installed[m] = 0 THEN "DigestSet" ELSE "WindowsAdded", digest |-> StartsIn(m, k)], {})
    /\ UNCHANGED <<surroundings, sent, spent>>

InstallView(m) ==
    /\ m \in up
    /\ \E k \in NextView(m) :
        /\ local[m].starts = StartsIn(m, k)
        /\ installed[m] # 0 =>
            /\ m \in frozen
            /\ AtCut => \A s \in DOMAIN views[installed[m]].lives : local[m].windows[s].delivered = settled[installed[m]][s]
        /\ IF k <= Len(views) THEN Membership!Install(m, k) ELSE Membership!DecideAndInstall(Script[k], m)
        /\ ApplyIn(k, "InstallView", m, [type |-> "ViewInstalled", view |-> ViewOf(Script[k])], {}, {})
    /\ frozen' = frozen \ {m}
    /\ UNCHANGED <<up, settled, votes, sent, spent>>

-----------------------------------------------------------------------------
(* Faults *)

Crash(m) ==
    /\ m \in up \cap Crashers /\ life[m] = 0 /\ Active(m)
    /\ up' = up \ {m}
    /\ timers' = [timers EXCEPT ![m] = {}]
    /\ Environment("Crash", m, None, {})
    /\ UNCHANGED <<local, net, views, installed, life, frozen, settled, votes, sent, got, spent>>

\* Another incarnation of m begins, which knows nothing.
Restart(m) ==
    /\ m \notin up /\ \E k \in DOMAIN Script : Has(Script[k], m, life[m] + 1)
    /\ Membership!Restart(m)
    /\ up' = up \cup {m} /\ frozen' = frozen \ {m}
    /\ sent' = [sent EXCEPT ![m] = 0]
    /\ local' = [local EXCEPT ![m] = Start(m)]
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<net, timers, settled, votes, got, spent>>

\* Events that no correct peer or caller causes.
Wrongs(m) ==
    LET id == local[m].view.id
        wrong == <<0, Now(m), 0>>
        more == [x \in Members(local[m]) |-> local[m].windows[x].delivered + 1]
    IN
    {[type |-> "DataReceived", sender |-> "Z", message |-> DataMessage(id, "A", 0, wrong)],
     [type |-> "DataReceived", sender |-> "A", message |-> DataMessage(id, "A", Nothing, wrong)],
     [type |-> "DataReceived", sender |-> "A", message |-> DataMessage(id, "Z", 0, wrong)],
     [type |-> "HighestReceived", sender |-> "Z", message |-> HighestMessage(id, more)],
     [type |-> "HighestReceived", sender |-> "A", message |-> HighestMessage(id, EmptyVector)],
     [type |-> "XmitReqReceived", sender |-> "A", message |-> XmitReqMessage(id, "A", <<>>)],
     [type |-> "XmitReqReceived", sender |-> "A",
      message |-> XmitReqMessage(id, "A", <<[first |-> 1, last |-> 0]>>)],
     [type |-> "XmitReqReceived", sender |-> "Z",
      message |-> XmitReqMessage(id, "A", <<[first |-> 0, last |-> 0]>>)],
     [type |-> "HoldBack", limit |-> EmptyVector],
     [type |-> "Purge", digest |-> EmptyVector],
     [type |-> "Fetch", holder |-> m, sender |-> m, upto |-> 1],
     [type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>)]}

Misuse(m) ==
    /\ spent.misuses < MaxMisuses /\ Active(m)
    /\ \E event \in Wrongs(m) : Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED <<surroundings, sent>>

-----------------------------------------------------------------------------
InitStep(m) == MemberStep(Start(m), [type |-> "ViewInstalled", view |-> ViewOf(views[installed[m]])])

Init ==
    /\ Membership!Init
    /\ local = [m \in Member |-> IF installed[m] = 0 THEN Start(m) ELSE InitStep(m).state]
    /\ timers = [m \in Member |-> IF installed[m] = 0 THEN {} ELSE TimersSet(InitStep(m).effects)]
    /\ net = {}
    /\ up = Member
    /\ sent = [m \in Member |-> 0]
    /\ got = [m \in Member |-> <<>>]
    /\ frozen = {}
    /\ settled = [k \in DOMAIN Script |-> EmptyVector]
    /\ votes = [k \in DOMAIN Script |-> [m \in {} |-> EmptyVector]]
    /\ spent = [votes |-> 0, releases |-> 0, digests |-> 0, misuses |-> 0]
    /\ act = NoAct

Next ==
    \E m \in Member :
        \/ MulticastPayload(m)
        \/ HighestTimeoutFires(m)
        \/ RequestTimeoutFires(m)
        \/ ReceiveData(m)
        \/ ReceiveHighest(m)
        \/ ReceiveXmitReq(m)
        \/ LoseDatagram(m)
        \/ CastVote(m)
        \/ PurgeStable(m)
        \/ StabilityTells(m)
        \/ Freeze(m)
        \/ LetGo(m)
        \/ Settle(m)
        \/ HoldAtCut(m)
        \/ FetchFrom(m)
        \/ AskForDigest(m)
        \/ TellStarts(m)
        \/ InstallView(m)
        \/ Crash(m)
        \/ Restart(m)
        \/ Misuse(m)

Spec == Init /\ [][Next]_vars
=============================================================================
