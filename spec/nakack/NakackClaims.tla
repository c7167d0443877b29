---------------------------- MODULE NakackClaims ----------------------------
(***************************************************************************)
(* What is claimed of a group that runs NAKACK: types, what its users see, *)
(* mechanism, steps, recovery, and liveness. Each falls in some model of   *)
(* models.yaml.                                                            *)
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
(* What users see: of each incarnation of a receiver, in each view, of each sender *)

\* What m has delivered of s in view number k, in its incarnation i.
GotIn(m, i, k, s) ==
    LET Is(g) == g.view = k /\ g.incarnation = i /\ g.sender = s IN SelectSeq(got[m], Is)

\* NAK-01: in the order sent, without a gap, from the first of the view on.
FifoWithoutGaps ==
    \A m, s \in Member : \A i \in 0 .. life[m], k \in DOMAIN views :
        LET q == GotIn(m, i, k, s) IN
        \A n \in DOMAIN q : q[n].payload.seqno = BaseIn(k)[s] + n

DeliveredOnce ==
    \A m \in Member : \A i, j \in DOMAIN got[m] :
        (i < j /\ got[m][i].incarnation = got[m][j].incarnation) =>
            <<got[m][i].sender, got[m][i].payload>> # <<got[m][j].sender, got[m][j].payload>>

\* A message is delivered in the view in which it was multicast.
DeliveredInSendingView == \A m \in Member : \A i \in DOMAIN got[m] : got[m][i].payload.view = got[m][i].view

\* And it is of the incarnation that the view means.
DeliveredFromIncarnationOfView ==
    \A m \in Member : \A i \in DOMAIN got[m] :
        got[m][i].payload.incarnation = views[got[m][i].view].lives[got[m][i].sender]

\* Virtual synchrony as far as it is this layer's: members that go on together have delivered the same.
SurvivorsDeliverTheSame ==
    \A m, x \in Member : \A j, k \in DOMAIN views :
        (/\ m # x /\ k \in views[j].preds /\ installed[m] = j /\ installed[x] = j
         /\ Has(views[k], m, life[m]) /\ Has(views[k], x, life[x])) =>
            \A s \in DOMAIN views[k].lives :
                {g.payload : g \in {GotIn(m, life[m], k, s)[i] : i \in DOMAIN GotIn(m, life[m], k, s)}}
                = {g.payload : g \in {GotIn(x, life[x], k, s)[i] : i \in DOMAIN GotIn(x, life[x], k, s)}}

-----------------------------------------------------------------------------
(* Mechanism *)

\* All members of a view count each of its members from the same number.
BasesAgree ==
    \A m, x \in up :
        (installed[m] # 0 /\ installed[m] = installed[x]) =>
            \A s \in Members(local[m]) : local[m].windows[s].base = local[x].windows[s].base

\* DLV-01: what a digest counts was delivered, above where the window began.
DigestCountsDelivered ==
    \A m \in up : \A s \in Members(local[m]) :
        \A n \in local[m].windows[s].low + 1 .. local[m].windows[s].delivered :
            \E i \in DOMAIN got[m] : /\ got[m][i].incarnation = life[m] /\ got[m][i].sender = s
                                     /\ got[m][i].payload.seqno = n

\* DLV-03: nothing deliverable waits.
NothingDeliverableWaits ==
    \A m \in up : \A s \in Members(local[m]) :
        LET w == local[m].windows[s] IN
        w.delivered + 1 \in DOMAIN w.pending => (local[m].held /\ w.delivered >= w.base + local[m].limit[s])

\* What a member lacks and another one has delivered in its view is in the other's store: as long as that one is in the
\* view, or in the next with it.
LackingIsServable ==
    \A m, h \in up :
        LET k == installed[m] IN
        (m # h /\ k # 0 /\ (installed[h] = k \/ \E j \in DOMAIN views : /\ j = installed[h] /\ k \in views[j].preds
                                                                          /\ Has(views[j], m, life[m]) /\ Has(views[k], h, life[h]))) =>
            \A i \in DOMAIN got[h] :
                LET g == got[h][i] IN
                (/\ g.view = k /\ g.incarnation = life[h] /\ g.sender \in Members(local[m])
                 /\ g.payload.seqno > local[m].windows[g.sender].delivered) =>
                    LET store == StoreOf(local[h], [view_id |-> views[k].id, origin |-> g.sender])
                        place == g.payload.seqno - store.purged
                    IN place \in DOMAIN store.kept /\ store.kept[place] = g.payload

\* NAK-02: a member that is asked has delivered what is asked for, in the view that is meant (or has begun again).
TellerHasIt ==
    \A m \in up : \A s \in Members(local[m]) :
        LET told == local[m].windows[s].told IN
        (told.upto > local[m].windows[s].delivered /\ told.holder \in up /\ installed[told.holder] = installed[m]) =>
            local[told.holder].windows[s].delivered >= told.upto

\* NAK-08: where all that was sent has arrived, nothing is asked for.
AsksForWhatItLacks ==
    \A p \in net : p.message.type = "XMIT_REQ" =>
        \A i \in DOMAIN p.message.ranges :
            \E k \in DOMAIN views : views[k].id = p.message.view_id /\
                \E x \in Member : \E n \in DOMAIN got[x] :
                    /\ got[x][n].view = k /\ got[x][n].sender = p.message.origin
                    /\ got[x][n].payload.seqno >= p.message.ranges[i].last

\* A request goes to a member of the view.
RequestsGoToMembers ==
    \A p \in net : p.message.type = "XMIT_REQ" =>
        \E k \in DOMAIN views : views[k].id = p.message.view_id /\ p.to \in DOMAIN views[k].lives

-----------------------------------------------------------------------------
(* Steps *)

\* DLV-04: a member delivers its own multicast in the step in which it sends it.
OwnDeliveredAtOnceStep ==
    act'.action = "MulticastPayload" /\ act'.outcome = "handled" =>
        \E i \in DOMAIN act'.effects :
            act'.effects[i] = DeliverUp(act'.member, act'.event.payload)

\* Nothing is delivered beyond the limit.
NothingBeyondLimitStep ==
    \A m \in {act'.member} \cap up :
        (local'[m].held /\ local[m].view = local'[m].view) =>
            \A s \in Members(local'[m]) :
                local'[m].windows[s].delivered > local[m].windows[s].delivered =>
                    local'[m].windows[s].delivered <= BaseIn(installed[m])[s] + local'[m].limit[s]

\* Nothing is delivered in the step of a view: the layers above have not heard of the view yet.
NothingDeliveredWithViewStep == act'.action = "InstallView" => DeliveredBy(act'.effects) = <<>>

\* A timer that is set is not set again, and one that is waited for is set.
TimerSetOnceStep ==
    \A m \in {act'.member} \cap Member :
        LET fired == CASE act'.action = "HighestTimeoutFires" -> {"highest"}
                       [] act'.action = "RequestTimeoutFires" -> {"request"}
                       [] OTHER -> {}
        IN /\ TimersSet(act'.effects) \cap (timers[m] \ fired) = {}
           /\ (local'[m].asking <=> "request" \in timers'[m]) \/ m \notin up'

\* JOI-03: a digest that is asked for says what was delivered.
DigestSaysDeliveredStep ==
    act'.action = "AskForDigest" /\ act'.outcome = "handled" =>
        LET told == act'.effects[Len(act'.effects)].event.digest IN
        \A s \in DOMAIN told : told[s] = local[act'.member].windows[s].delivered

\* A step belongs to one member; the network and the others change through its effects alone, and what is ignored or
\* refused changes nothing. This is what makes local steps speak for the whole model.
OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ NothingForNothing
    /\ net' = IF act'.action = "LoseDatagram" THEN net \ act'.consumed
              ELSE IF act'.outcome = "none" THEN net ELSE AfterStep(act'.member, act'.consumed, act'.effects)
    /\ act'.outcome = "none" => \A m \in Member : local'[m] \in {local[m], Start(m)}

OwnDeliveredAtOnce == [][OwnDeliveredAtOnceStep]_vars
NothingBeyondLimit == [][NothingBeyondLimitStep]_vars
NothingDeliveredWithView == [][NothingDeliveredWithViewStep]_vars
TimerSetOnce == [][TimerSetOnceStep]_vars
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

\* What STABLE hands down, where it is the remedy: to each of these.
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

\* NAK-02, NAK-03, NAK-07: what any living member of a view has delivered all of them come to deliver, if the view
\* stays as it is.
MembersRecover ==
    \A k \in DOMAIN views :
        \E there \in {{m \in up : installed[m] = k}} :
            (Cardinality(there) > 1 /\ there \cap frozen = {}) =>
                \E now \in {[m \in there |-> local[m]]} :
                \E handed \in {IF Gossip # "none" /\ there = DOMAIN views[k].lives THEN Handed(now, there)
                               ELSE Fired(now, there, [type |-> "HighestTimeout"])} :
                \E after \in {Fired(handed, there, [type |-> "RequestTimeout"])} :
                    \A m, x \in there : \A s \in DOMAIN views[k].lives :
                        after[m].windows[s].delivered >= now[x].windows[s].delivered

\* A member that was told the cut, and who has what it lacks, comes to the cut, wherever that one is by now.
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
Changes(m) == Freeze(m) \/ Settle(m) \/ HoldAtCut(m) \/ FetchFrom(m) \/ TellStarts(m) \/ InstallView(m)
FlushedLiveSpec ==
    Init /\ [][Next]_vars /\ \A m \in Member :
        /\ SF_vars(ReceiveData(m)) /\ SF_vars(ReceiveXmitReq(m)) /\ WF_vars(RequestTimeoutFires(m))
        /\ WF_vars(Changes(m))

\* Arrives: in a view that stays, what one living member has delivered, all of them come to deliver.
AreLevel ==
    \A m, x \in up :
        (installed[m] # 0 /\ installed[m] = installed[x]) =>
            \A s \in Members(local[m]) : local[m].windows[s].delivered = local[x].windows[s].delivered
EventuallyLevel == <>[]AreLevel

\* Fetched: each member comes to the last view that is decided with it.
EventuallyInLastView == <>[](\A m \in up : installed[m] # 0 /\ ~GoesOn(m, installed[m]))
=============================================================================
