---------------------------- MODULE StableClaims ----------------------------
(******************************************************************************)
(* Claims about a group that runs STABLE. A claim is an outcome that the      *)
(* group's users see (first section), a mechanism inside that the             *)
(* requirements name, a frame condition of the model, a refinement, or        *)
(* liveness. Each claim is violated in some model of models.yaml.             *)
(******************************************************************************)
EXTENDS StableGroup

-----------------------------------------------------------------------------
(* Types *)

Seqno == Nothing .. FirstSeqno + 8

IsVector(v, members) == DOMAIN v = members /\ \A s \in members : v[s] \in Seqno

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ s.view = IF installed[m] = 0 THEN NoView ELSE ViewOf(views[installed[m]])
    \* (The note has no vote of its own, and keeps its digest over a view change.)
    /\ IF s.vote = EmptyVector THEN IsVector(s.minimum, DOMAIN s.minimum)
       ELSE IsVector(s.vote, MembersOf(s.view)) /\ IsVector(s.minimum, MembersOf(s.view))
    /\ s.heard_from \subseteq Member
    /\ s.pending \in BOOLEAN
    /\ s.promised \subseteq Member
    /\ s.received_bytes \in Nat /\ (MaxBytes > 0 => s.received_bytes < MaxBytes)

WindowTypeOK(w) ==
    /\ w.low \in Seqno /\ w.delivered \in Seqno /\ w.purged \in Seqno
    /\ w.ahead \subseteq Seqno

PacketTypeOK(p) ==
    /\ p.sender \in Member /\ p.to \in Member \cup {"*"}
    /\ p.message.type \in {"STABLE", "STABILITY"}
    /\ p.message.view_id = NoViewId \/ \E k \in DOMAIN views : p.message.view_id = views[k].id
    /\ IsVector(p.message.digest, DOMAIN p.message.digest)

TypeOK ==
    /\ \A m \in Member :
        /\ LocalTypeOK(m)
        /\ DOMAIN rm[m] = MembersOf(local[m].view)
        /\ \A s \in DOMAIN rm[m] : WindowTypeOK(rm[m][s])
    /\ \A p \in network : PacketTypeOK(p)
    /\ up \subseteq Member
    /\ Membership!MembershipTypeOK
    /\ JoinDigest!JoinDigestTypeOK
    /\ \A copy \in lost : copy[1] \in Member /\ copy[2] \in Seqno /\ copy[3] \in Member
    /\ spent \in [{"lost", "crashes", "restarts", "withdrawn", "misuses"} -> Nat]

-----------------------------------------------------------------------------
(* Outcomes *)

\* STB-11, STB-12: a purged message was delivered by every process that is a member all the way from its own view to
\* the purger's. Newcomers are covered, too: a start digest is no less than what was purged.
NoPrematurePurge ==
    \A p, x \in InGroup :
        \A s \in DOMAIN rm[p] :
            (s \in DOMAIN rm[x] /\ rm[p][s].purged > rm[x][s].delivered) =>
                ~(SameSender(s, p, x) /\ Membership!Throughout(x, installed[x], installed[p]))

\* STB-17: what a live member lacks, and a live member of its view or a later one with it has delivered, is in
\* some live member's store. (NOT a promise that it is delivered to anyone: a message may die with its sender.)
RequestsServable ==
    \A x, y \in up \cap InGroup :
        \A s \in DOMAIN rm[x] :
            (s \in DOMAIN rm[y] /\ rm[y][s].delivered > rm[x][s].delivered /\ SameSender(s, x, y)
                /\ Membership!Throughout(x, installed[x], installed[y])) =>
                \A n \in rm[x][s].delivered + 1 .. rm[y][s].delivered :
                    (n > rm[y][s].low /\ n \notin rm[x][s].ahead) =>
                        \E h \in up \cap InGroup :
                            s \in DOMAIN rm[h] /\ SameSender(s, x, h) /\ Holds(rm[h][s], n)

\* No member purges beyond a newcomer's start digest, for each sender that the promise covers.
PurgeWithinPromise ==
    \A p \in promises : JoinDigest!Open(p) =>
        \A q \in InGroup : \A s \in DOMAIN rm[q] :
            rm[q][s].purged > (IF s \in DOMAIN p.vector THEN p.vector[s] ELSE Nothing) =>
                ~JoinDigest!TellsOf(p, s, installed[q])

\* JOI-03: a newcomer's start digest is at most what its promiser has delivered. With more, the messages between would
\* never arrive.
PromiseWithinDelivered ==
    \A p \in promises : \A s \in DOMAIN p.vector :
        (life[p.by] = p.by_life /\ s \in DOMAIN rm[p.by] /\ Shares(views[p.view], views[installed[p.by]], s)) =>
            p.vector[s] <= rm[p.by][s].delivered

\* JOI-04, JOI-13: no member starts beyond what a sender's incarnation has sent: what that incarnation multicasts next, all get.
StartWithinSent ==
    \A m \in InGroup : \A s \in DOMAIN rm[m] \cap InGroup :
        SameSender(s, m, s) => rm[m][s].low <= rm[s][s].delivered

-----------------------------------------------------------------------------
(* Mechanism *)

\* The view that a vote was cast in, if the voter's present incarnation has it behind it or has installed it.
CastIn(p) == {k \in DOMAIN views : views[k].id = p.message.view_id
                /\ Membership!Throughout(p.sender, k, installed[p.sender])}

\* DLV-01, STB-01: no vote claims more than its author has delivered.
SentVoteWithinDelivered ==
    \A p \in Votes(network) :
        LET sender == p.sender IN
        (sender \in InGroup /\ (p.message.view_id = NoViewId \/ CastIn(p) # {})) =>
            \A s \in DOMAIN p.message.digest \cap DOMAIN rm[sender] :
                p.message.digest[s] > rm[sender][s].delivered =>
                    p.message.view_id # NoViewId /\ ~\E k \in CastIn(p) : Shares(views[k], views[installed[sender]], s)

\* STB-05, AMB-51: the running minimum never exceeds the own vote.
MinimumWithinVote ==
    \A m \in InGroup : \A s \in DOMAIN local[m].vote : local[m].minimum[s] <= local[m].vote[s]

\* STB-01: nor the own vote what was delivered.
VoteWithinDelivered ==
    \A m \in InGroup : \A s \in DOMAIN local[m].vote : local[m].vote[s] <= rm[m][s].delivered

\* STB-02.
DeliveredWithinReceived ==
    \A m \in InGroup : LET digest == DigestOf(rm[m]) IN
        \A s \in DOMAIN digest : digest[s].delivered <= digest[s].received

\* DLV-03: nothing deliverable waits.
NothingDeliverableWaits ==
    \A m \in InGroup : \A s \in DOMAIN rm[m] : rm[m][s].delivered + 1 \notin rm[m][s].ahead

\* STB-08: a STABILITY message is only ever pending when no member is left to hear from.
PendingImpliesAllHeard == \A m \in Member : local[m].pending => local[m].heard_from = {}

\* STB-15: nothing is announced from votes over different members: an announcement's entries are of a view whose
\* members have all voted over just these. (A member's announcement counts in its own view.)
StabilityHasAllVotes ==
    \A p \in network : p.message.type = "STABILITY" =>
        \A x \in DOMAIN p.message.digest :
            x \in Member =>
            \E q \in network :
                /\ q.message.type = "STABLE" /\ q.sender = x
                /\ q.message.view_id = p.message.view_id
                /\ DOMAIN q.message.digest = DOMAIN p.message.digest
                /\ \A s \in DOMAIN p.message.digest : p.message.digest[s] <= q.message.digest[s]

\* A promise holds the vote as long as it is open and the newcomer is in no view of the promiser's.
PromiseHoldsVote ==
    \A p \in promises :
        (p.by \in up /\ life[p.by] = p.by_life /\ p.to \notin MembersOf(local[p.by].view)
            /\ JoinDigest!Reaches(p, installed[p.by])) => p.to \in local[p.by].promised

\* And no longer. A process for which m holds its vote is outside m's view, and has an open promise, or has redeemed
\* it and is in a view that was decided since. (That may be on another branch; then the membership service withdraws.)
HeldVoteHasPromise ==
    \A m \in up : \A x \in local[m].promised :
        /\ x \notin MembersOf(local[m].view)
        /\ \/ \E p \in promises : p.by = m /\ p.by_life = life[m] /\ p.to = x
           \/ \E k \in DOMAIN views : k > Len(First) /\ x \in DOMAIN views[k].lives

-----------------------------------------------------------------------------
(* Steps *)

Datagrams(type) == {i \in DOMAIN act'.effects : act'.effects[i].type = "Datagram"
                        /\ act'.effects[i].message.type = type}

\* STB-03, AMB-51: when the timer fires, the vote of the round goes out, once, and the timer is set again.
TimeoutSendsVoteStep ==
    act'.action = "StableTimeoutFires" =>
        /\ Datagrams("STABLE") = {1}
        /\ act'.effects[1].message.digest = local[act'.member].vote
        /\ \E i \in DOMAIN act'.effects : act'.effects[i].type = "SetTimer" /\ act'.effects[i].name = "stable"

\* STB-04: received bytes are counted, and the message that makes them enough sends the vote.
BytesSendVoteStep ==
    (act'.event.type = "MessageReceived" /\ MaxBytes > 0 /\ act'.outcome \in {"handled", "ignored"}) =>
        LET sum == local[act'.member].received_bytes + act'.event.size
        IN <<Datagrams("STABLE"), local'[act'.member].received_bytes>> = IF sum < MaxBytes THEN <<{}, sum>> ELSE <<{1}, 0>>

\* STB-09: when the delay has passed, the minimum goes out, once.
TimeoutSendsStabilityStep ==
    act'.action = "StabilityTimeoutFires" =>
        /\ Datagrams("STABILITY") = {1}
        /\ act'.effects[1].message.digest = local[act'.member].minimum
        /\ ~local'[act'.member].pending

\* LAY-06: a view that is installed again changes nothing.
InstalledOnceStep ==
    (act'.event.type = "ViewInstalled" /\ act'.event.view = local[act'.member].view) => act'.outcome # "handled"

\* A purged message stays purged, as long as the window exists.
PurgedNeverDecreasesStep ==
    \A m \in {act'.member} \cap Member :
        rm'[m] # rm[m] => \A s \in DOMAIN rm[m] \cap DOMAIN rm'[m] :
            rm'[m][s].low = rm[m][s].low => rm'[m][s].purged >= rm[m][s].purged

TimeoutSendsVote == [][TimeoutSendsVoteStep]_vars
BytesSendVote == [][BytesSendVoteStep]_vars
TimeoutSendsStability == [][TimeoutSendsStabilityStep]_vars
InstalledOnce == [][InstalledOnceStep]_vars
PurgedNeverDecreases == [][PurgedNeverDecreasesStep]_vars

\* A step belongs to one member; the network and the others change through its effects alone, and what
\* is ignored or refused changes nothing. This is what makes local steps speak for the whole model.
OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ UnchangedUnlessHandled
    /\ \A m \in Member : m # act'.member => rm'[m] = rm[m]
    /\ network' = IF act'.action = "LoseGossip" THEN network \ act'.consumed
                  ELSE AfterStep(network, act'.member, act'.consumed, act'.effects)
    /\ act'.outcome = "none" => local'[act'.member] \in {local[act'.member], Start(act'.member)}

OnlyByEffects == [][OnlyByEffectsStep]_vars

-----------------------------------------------------------------------------
(* Refinement: the group is an implementation of an abstract stable storage of messages, and its environment   *)
(* is what Membership and JoinDigest promise. (Init is made of theirs.)       *)

StabilitySafety == INSTANCE StabilitySafety WITH
    delivered <- [m \in Member |-> [s \in DOMAIN rm[m] |-> rm[m][s].delivered]],
    purged <- [m \in Member |-> [s \in DOMAIN rm[m] |-> rm[m][s].purged]]

RefinesStabilitySafetyStep == rm' # rm => StabilitySafety!Next
RefinesStabilitySafety == StabilitySafety!Init /\ [][RefinesStabilitySafetyStep]_vars

\* (A model may ask for some conjuncts alone, to show that they notice what the environment does without them.)
NotAsked(conjuncts) == IF Required = {} THEN {} ELSE conjuncts \ Required

PromisedMembership == INSTANCE Membership WITH Off <- NotAsked(Membership!Conjuncts)

RefinesMembershipStep ==
    (views' # views \/ installed' # installed \/ life' # life) => PromisedMembership!Next
RefinesMembership == [][RefinesMembershipStep]_vars

PromisedJoinDigest == INSTANCE JoinDigest WITH
    Off <- NotAsked(JoinDigest!Conjuncts),
    delivered <- [m \in Member |-> [s \in DOMAIN rm[m] |-> rm[m][s].delivered]],
    held <- [m \in Member |-> local[m].promised]

RefinesJoinDigestStep ==
    (promises' # promises \/ installed' # installed \/ act'.action = "AdmittedElsewhere") => PromisedJoinDigest!Next
RefinesJoinDigest == [][RefinesJoinDigestStep]_vars

-----------------------------------------------------------------------------
(* Liveness *)

\* Timers fire, what is in the network arrives, views are installed, promises end; faults need not happen, data
\* need not arrive. Votes are cast when the network is quiet (NothingInTransit), which it is again and again: strong fairness.
\* A promise is withdrawn for certain only where the newcomer is gone.
Fairness ==
    \A m \in Member :
        /\ SF_vars(StableTimeoutFires(m))
        /\ WF_vars(StabilityTimeoutFires(m))
        /\ WF_vars(ReceiveStable(m))
        /\ WF_vars(ReceiveStability(m))
        /\ WF_vars(InstallView(m))
        /\ WF_vars(Join(m))
        /\ WF_vars(WithdrawPromise(m) /\ spent' = spent)
        /\ WF_vars(AdmittedElsewhere(m))

LiveSpec == Init /\ [][Next]_vars /\ Fairness

THEOREM Spec => StabilitySafety!Spec
THEOREM Spec => PromisedMembership!Spec
THEOREM Spec => PromisedJoinDigest!Spec

\* The membership service has done its part: whoever is alive is in a view of members that are, and are in it too.
Converged ==
    \A m \in up \cap InGroup : \A x \in DOMAIN rm[m] : x \in up /\ installed[x] = installed[m]

\* STB-20, STB-18: once the senders are silent, what all have delivered all purge.
EventuallyPurged ==
    <>[]Converged =>
        <>[](\A m \in up \cap InGroup : \A s \in DOMAIN rm[m] :
                rm[m][s].purged = rm[m][s].delivered \/ rm[m][s].delivered = rm[m][s].low)

\* The same of each message, whatever else is sent and does not arrive.
DeliveredByAll(s, n) == \A m \in up \cap InGroup : s \in DOMAIN rm[m] /\ rm[m][s].delivered >= n
PurgedByAll(s, n) == \A m \in up \cap InGroup : s \in DOMAIN rm[m] => rm[m][s].purged >= n

EachEventuallyPurged ==
    <>[]Converged =>
        \A s \in Member : \A n \in FirstSeqno .. FirstSeqno + Sends[s] - 1 : DeliveredByAll(s, n) ~> PurgedByAll(s, n)

\* JOI: no promise stays open for ever while its promiser is alive.
PromisesEventuallyEnd == \A m \in {pair[1] : pair \in Promises} : [](local[m].promised # {} => <>(local[m].promised = {} \/ m \notin up))
=============================================================================
