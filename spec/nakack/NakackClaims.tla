---------------------------- MODULE NakackClaims ----------------------------
(***************************************************************************)
(* Claims about a group that runs NAKACK: types, outcomes that the layer   *)
(* above sees, mechanism, steps, recovery, and liveness. Each claim is     *)
(* violated in some model of models.yaml.                                  *)
(***************************************************************************)
EXTENDS NakackGroup

-----------------------------------------------------------------------------
(* Types *)

Seqno == Nothing .. FirstSeqno + 9

IsVector(v, members) == DOMAIN v = members /\ \A x \in members : v[x] \in Seqno

WindowTypeOK(w) ==
    /\ {w.low, w.base, w.purged, w.delivered, w.told.upto, w.fetch.upto} \subseteq Seqno
    /\ w.low <= w.delivered /\ w.base <= w.delivered
    /\ w.purged + Len(w.kept) = w.delivered
    /\ \A n \in DOMAIN w.pending : n \in Seqno /\ n > w.delivered
    /\ w.arrived \in Nat

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ s.view = IF installed[m] = 0 THEN NoView ELSE ViewOf(views[installed[m]])
    /\ Members(s) = MembersOf(s.view)
    /\ \A x \in Members(s) : WindowTypeOK(s.windows[x])
    /\ \A x \in DOMAIN s.former.stores : s.former.stores[x].purged \in Seqno
    /\ s.held \in BOOLEAN /\ s.asking \in BOOLEAN
    /\ IF s.held THEN DOMAIN s.limit = Members(s) ELSE s.limit = EmptyVector
    /\ IsVector(s.starts, DOMAIN s.starts)

MessageTypeOK(message) ==
    CASE message.type = "DATA" -> message.origin \in Member /\ message.seqno \in Seqno
      [] message.type = "HIGHEST" -> IsVector(message.digest, DOMAIN message.digest)
      [] message.type = "XMIT_REQ" -> message.origin \in Member /\ message.ranges # <<>>

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ \A p \in net : p.sender \in Member /\ MessageTypeOK(p.message)
    /\ timers \in [Member -> SUBSET {"highest", "request"}]
    /\ up \subseteq Member /\ frozen \subseteq Member
    /\ Membership!MembershipTypeOK
    /\ spent \in [{"votes", "releases", "digests", "misuses"} -> Nat]

-----------------------------------------------------------------------------
(* The guarantee: each conjunct of ReliableMulticast is a claim *)

\* The messages that m can supply, as [view, sender, payload].
StoreIn(number, windows) ==
    UNION {{[view |-> number, sender |-> x, payload |-> windows[x].kept[i]] : i \in DOMAIN windows[x].kept} :
        x \in DOMAIN windows}
NumberOf(id) == CHOOSE k \in DOMAIN views : views[k].id = id
StoredBy(m) ==
    StoreIn(installed[m], local[m].windows)
    \cup IF local[m].former = NoFormer THEN {}
         ELSE StoreIn(NumberOf(local[m].former.view_id), local[m].former.stores)

\* The highest seqno that m may deliver of x: a count of the layers above, from where the view began.
Unlimited == FirstSeqno + 99
TopOf(m, x) == IF local[m].held THEN BaseIn(installed[m])[x] + local[m].limit[x] ELSE Unlimited

\* The messages that were multicast. (A member delivers its own multicasts at once: OwnDeliveredAtOnce.)
WasMulticast ==
    {[view |-> g.payload[2], incarnation |-> g.payload[1], sender |-> g.sender, seqno |-> g.payload[3]] :
        g \in UNION {{got[m][i] : i \in {i \in DOMAIN got[m] : got[m][i].sender = m}} : m \in Member}}

Guarantee == INSTANCE ReliableMulticast WITH
    multicast <- WasMulticast,
    delivered <- [m \in Member |-> DeliveredVector(local[m])],
    low <- [m \in Member |-> [x \in Members(local[m]) |-> local[m].windows[x].low]],
    base <- [m \in Member |-> [x \in Members(local[m]) |-> local[m].windows[x].base]],
    top <- [m \in Member |-> [x \in Members(local[m]) |-> TopOf(m, x)]],
    store <- [m \in Member |-> StoredBy(m)]

GotIn(m, i, k, s) == Guarantee!GotIn(m, i, k, s)

\* A message that is delivered was multicast by its sender, which delivered it first.
DeliveredWasSent == Guarantee!NotForged
\* An incarnation delivers a message once.
DeliveredOnce == Guarantee!Once
\* NAK-01.
FifoWithoutGaps == Guarantee!InOrder
\* A message is delivered in the view in which it was multicast.
DeliveredInSendingView == Guarantee!InItsView
\* A message that is delivered is of the incarnation that the view means.
DeliveredFromIncarnationOfView == Guarantee!OfItsIncarnation
\* All members of a view count each of them from the same number.
BasesAgree == Guarantee!Bases
\* DLV-01.
DigestCountsDelivered == Guarantee!DigestIsTrue
\* A message that a member lacks can be had from each member that has delivered it in this view.
MissingIsServable == Guarantee!Kept
\* DLV-04.
OwnDeliveredAtOnce == [][Guarantee!OwnAtOnceStep]_vars
NoDeliveryBeyondLimit == [][Guarantee!HoldsBackStep]_vars
NothingDeliveredWithView == [][Guarantee!VoidStep]_vars
\* The guards that FLUSH's and STABLE's groups take as their environment allow each delivery.
DeliversWhatMayStep == Guarantee!DeliversWhatMayStep
DeliversWhatMay == [][DeliversWhatMayStep]_vars

-----------------------------------------------------------------------------
(* Further outcomes *)

\* Virtual synchrony as far as it is this layer's: members that survive together have delivered the same.
SurvivorsDeliverSame ==
    \A m, x \in Member : \A j, k \in DOMAIN views :
        (/\ m # x /\ k \in views[j].preds /\ installed[m] = j /\ installed[x] = j
         /\ Has(views[k], m, life[m]) /\ Has(views[k], x, life[x])) =>
            \A s \in DOMAIN views[k].lives :
                {g.payload : g \in {GotIn(m, life[m], k, s)[i] : i \in DOMAIN GotIn(m, life[m], k, s)}}
                = {g.payload : g \in {GotIn(x, life[x], k, s)[i] : i \in DOMAIN GotIn(x, life[x], k, s)}}

-----------------------------------------------------------------------------
(* Mechanism *)

\* DLV-03: nothing deliverable waits.
NothingDeliverableWaits ==
    \A m \in up : \A s \in Members(local[m]) :
        LET w == local[m].windows[s] IN
        w.delivered + 1 \in DOMAIN w.pending => (local[m].held /\ w.delivered >= w.base + local[m].limit[s])

\* NAK-02: a member that is asked has delivered what is asked for, in the view that is meant (or has begun again).
AnnouncerHasMessage ==
    \A m \in up : \A s \in Members(local[m]) :
        LET told == local[m].windows[s].told IN
        (told.upto > local[m].windows[s].delivered /\ told.holder \in up /\ installed[told.holder] = installed[m]) =>
            local[told.holder].windows[s].delivered >= told.upto

\* NAK-08: where all that was sent has arrived, nothing is asked for.
RequestsOnlyMissing ==
    \A p \in net : p.message.type = "XMIT_REQ" =>
        \A i \in DOMAIN p.message.ranges :
            \E k \in DOMAIN views : views[k].id = p.message.view_id /\
                \E x \in Member : \E n \in DOMAIN got[x] :
                    /\ got[x][n].view = k /\ got[x][n].sender = p.message.origin
                    /\ got[x][n].payload[3] >= p.message.ranges[i].last

\* A request goes to a member of the view.
RequestsGoToMembers ==
    \A p \in net : p.message.type = "XMIT_REQ" =>
        \E k \in DOMAIN views : views[k].id = p.message.view_id /\ p.to \in DOMAIN views[k].lives

-----------------------------------------------------------------------------
(* Steps *)

\* A timer that is set is not set again, and a timer that the state waits for is set.
TimerSetOnceStep ==
    \A m \in {act'.member} \cap Member :
        LET fired == CASE act'.action = "HighestTimeoutFires" -> {"highest"}
                       [] act'.action = "RequestTimeoutFires" -> {"request"}
                       [] OTHER -> {}
        IN /\ TimersSet(act'.effects) \cap (timers[m] \ fired) = {}
           /\ (local'[m].asking <=> "request" \in timers'[m]) \/ m \notin up'

\* A request names no more messages than FirstAsked, and five for each four that came since the request before. Only a
\* message that the member did not have counts as one that came.
Counted(ranges) ==
    LET RECURSIVE Sum(_)
        Sum(i) == IF i = 0 THEN 0 ELSE Sum(i - 1) + ranges[i].last - ranges[i].first + 1
    IN Sum(Len(ranges))
RequestsWhatArrivesStep ==
    \A m \in {act'.member} \cap Member :
        \E before \in {local[m].windows} : \E after \in {local'[m].windows} :
        /\ \A i \in DOMAIN act'.effects :
            LET message == act'.effects[i].message IN
            act'.effects[i].type = "Datagram" /\ message.type = "XMIT_REQ" =>
                /\ 4 * Counted(message.ranges) <= 4 * FirstAsked + 5 * before[message.origin].arrived
                /\ after[message.origin].arrived = 0
        /\ \A x \in DOMAIN before \cap DOMAIN after :
            after[x].arrived > before[x].arrived =>
                /\ act'.action = "ReceiveData" /\ after[x].arrived = before[x].arrived + 1
                /\ \E p \in act'.consumed :
                    /\ p.message.origin = x /\ p.message.seqno > before[x].delivered
                    /\ p.message.seqno \notin DOMAIN before[x].pending

\* JOI-03: a digest that is asked for says what was delivered.
DigestSaysDeliveredStep ==
    act'.action = "AskForDigest" /\ act'.outcome = "handled" =>
        LET told == act'.effects[Len(act'.effects)].event.digest IN
        \A s \in DOMAIN told : told[s] = local[act'.member].windows[s].delivered

\* A step belongs to one member; the network and the others change through its effects alone, and what is ignored or
\* refused changes nothing. This is what makes local steps speak for the whole model.
OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ UnchangedUnlessHandled
    /\ net' = IF act'.action = "LoseDatagram" THEN net \ act'.consumed
              ELSE IF act'.outcome = "none" THEN net ELSE AfterStep(act'.member, act'.consumed, act'.effects)
    /\ act'.outcome = "none" => \A m \in Member : local'[m] \in {local[m], Start(m)}

TimerSetOnce == [][TimerSetOnceStep]_vars
RequestsWhatArrives == [][RequestsWhatArrivesStep]_vars
DigestSaysDelivered == [][DigestSaysDeliveredStep]_vars
OnlyByEffects == [][OnlyByEffectsStep]_vars

-----------------------------------------------------------------------------
(* Recovery, computed in each state by taking steps: what would come if from now on all who are up heard each other. *)
(* (It is not liveness, which is below, but it sees in few states what liveness sees in many.)                        *)


\* Members (states: [member -> local state]) take these packets and what comes of them.
RECURSIVE Fed(_, _, _)
Fed(states, packets, fuel) ==
    IF packets = {} \/ fuel = 0 THEN states
    ELSE LET p == CHOOSE p \in packets : TRUE
             step == MemberStep(states[p.to], ArrivalOf(p))
         IN Fed([states EXCEPT ![p.to] = step.state],
                (packets \ {p}) \cup {q \in Sent(p.to, step.effects) : q.to \in DOMAIN states}, fuel - 1)

\* These members take this event, one after the other, and all take what comes of it.
RECURSIVE Fired(_, _, _)
Fired(states, members, event) ==
    IF members = {} THEN states
    ELSE LET m == CHOOSE m \in members : TRUE
             step == MemberStep(states[m], event)
             packets == {p \in Sent(m, step.effects) : p.to \in DOMAIN states}
         IN Fired(Fed([states EXCEPT ![m] = step.state], packets, 100), members \ {m}, event)

\* STABLE hands its vector down to each of these, where it is the remedy.
RECURSIVE Handed(_, _)
Handed(states, members) ==
    IF members = {} THEN states
    ELSE LET m == CHOOSE m \in members : TRUE
             there == DOMAIN states
             of(x) == {states[y].windows[x].delivered : y \in there}
             vector == [x \in Members(states[m]) |-> IF Gossip = "minimum" THEN LeastOf(of(x)) ELSE MostOf(of(x))]
             event == [type |-> "HighestReceived", sender |-> CHOOSE h \in there \ {m} : TRUE,
                       message |-> HighestMessage(states[m].view.id, vector)]
         IN Handed([states EXCEPT ![m] = MemberStep(@, event).state], members \ {m})

\* All members of `states` announce their positions to each other, in view number k, and then send requests, `count`
\* times.
RECURSIVE Rounds(_, _, _)
Rounds(states, k, count) ==
    IF count = 0 THEN states
    ELSE LET there == DOMAIN states
             told == IF Gossip # "none" /\ there = DOMAIN views[k].lives THEN Handed(states, there)
                     ELSE Fired(states, there, [type |-> "HighestTimeout"])
         IN Rounds(Fired(told, there, [type |-> "RequestTimeout"]), k, count - 1)

\* NAK-02, NAK-03, NAK-07: if the view stays, every live member of it delivers all that any of them has delivered.
\* (Among three members the last announcement may come from a member that lacks messages itself: then it takes two
\* rounds.)
MembersRecover ==
    \A k \in DOMAIN views :
        \E there \in {{m \in up : installed[m] = k}} :
            (Cardinality(there) > 1 /\ there \cap frozen = {}) =>
                \E now \in {[m \in there |-> local[m]]} :
                \E after \in {Rounds(now, k, Cardinality(there) - 1)} :
                    \A m, x \in there : \A s \in DOMAIN views[k].lives :
                        after[m].windows[s].delivered >= now[x].windows[s].delivered

\* A member that knows the cut, and a holder of its missing messages, reaches the cut, wherever the holder is by now.
CutIsReached ==
    \A m \in up \cap frozen :
        LET k == installed[m] IN
        settled[k] # EmptyVector =>
            \A s \in DOMAIN settled[k] : \A h \in HoldersOf(m, s, k) :
                local[m].windows[s].delivered < settled[k][s] =>
                    \E held \in {MemberStep(local[m], [type |-> "HoldBack", limit |-> CountsOf(k, settled[k])]).state} :
                    \E asked \in {MemberStep(held, [type |-> "Fetch", holder |-> h, sender |-> s,
                                                    upto |-> CountsOf(k, settled[k])[s]]).state} :
                    \E after \in {Fired([x \in {m, h} |-> IF x = m THEN asked ELSE local[x]], {m},
                                        [type |-> "RequestTimeout"])} :
                        after[m].windows[s].delivered >= settled[k][s]

-----------------------------------------------------------------------------
(* Liveness, over a network that loses without a budget. A datagram of a kind that is sent again and again arrives again *)
(* and again: strong fairness. Faults need not happen, and members need not send.                                        *)

HearsAgain(m) == SF_vars(ReceiveData(m)) /\ SF_vars(ReceiveHighest(m)) /\ SF_vars(ReceiveXmitReq(m))
Timers(m) == WF_vars(HighestTimeoutFires(m)) /\ WF_vars(RequestTimeoutFires(m))

\* In a view that stays.
LiveSpec == Init /\ [][Next]_vars /\ \A m \in Member : HearsAgain(m) /\ Timers(m)

\* And what FLUSH and the membership service do.
ViewChanges(m) == Freeze(m) \/ Settle(m) \/ HoldAtCut(m) \/ FetchFrom(m) \/ TellStarts(m) \/ InstallView(m)
FlushedLiveSpec ==
    Init /\ [][Next]_vars /\ \A m \in Member :
        /\ SF_vars(ReceiveData(m)) /\ SF_vars(ReceiveXmitReq(m)) /\ WF_vars(RequestTimeoutFires(m))
        /\ WF_vars(ViewChanges(m))

\* Arrives: in a view that stays, all live members deliver what any of them has delivered.
EventuallyLevel == <>[]Guarantee!Level

\* Fetched: each member installs the last view that is decided with it.
EventuallyInLastView == <>[](\A m \in up : installed[m] # 0 /\ ~GoesOn(m, installed[m]))
=============================================================================
