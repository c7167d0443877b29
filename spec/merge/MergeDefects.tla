---------------------------- MODULE MergeDefects ----------------------------
(******************************************************************************)
(* Defects that the claims must notice: of the algorithm where no guard of    *)
(* Merge says it, of the layer below, and of the model itself. Each is an     *)
(* operator that a model puts in the place of another (models.yaml).          *)
(******************************************************************************)
EXTENDS MergeInstruments

(* The algorithm *)

\* In the place of Moved: an early view stays that has the counter of the view installed.
KeepsEarlyOfSameCounter(s, decision) ==
    LET NotOlder(merged) == merged.id.counter >= decision.id.counter
    IN [s EXCEPT !.decision = decision, !.early = SelectSeq(@, NotOlder)]

\* In the place of Merged: its first member is listed twice.
ListedTwice(id, members, follows, lives, digest) ==
    [id |-> id, members |-> IF members = <<>> THEN <<>> ELSE members \o <<members[1]>>,
     follows |-> follows, lives |-> lives, digest |-> digest]

\* In the place of Merged: members are said to be in an incarnation that has not begun.
FutureIncarnation(id, members, follows, lives, digest) ==
    [id |-> id, members |-> members, follows |-> follows, lives |-> [m \in DOMAIN lives |-> lives[m] + 1],
     digest |-> digest]

\* In the place of Merged: who was left out before is listed again.
ListsExcluded(id, members, follows, lives, digest) ==
    [id |-> id, members |-> Sorted(DOMAIN lives), follows |-> follows, lives |-> lives, digest |-> digest]

\* In the place of Merged: it is said to be decided by another member.
CreatedByNonMember(id, members, follows, lives, digest) ==
    [id |-> ViewId(id.counter, "Z"), members |-> members, follows |-> follows, lives |-> lives,
     digest |-> digest]

\* In the place of Merged: the digest is the first member's alone.
DigestOfFirstOnly(id, members, follows, lives, digest) ==
    [id |-> id, members |-> members, follows |-> follows, lives |-> lives,
     digest |-> [m \in {members[i] : i \in DOMAIN members \cap {1}} |-> digest[m]]]

\* In the place of Accept: nothing is said to be delivered.
EmptyDigest(id, decision, digest) ==
    MergeRsp(id, FALSE, decision, [m \in DOMAIN digest |-> Nothing])

\* In the place of PromisedTo: members of its own view are promised what they have.
PromisedToAll(s) == IF Leads(s) THEN Asked(s) ELSE {s.merge.leader}

\* In the place of PromisedTo: a leader promises its digest to the first of the other coordinators alone.
PromisedToFirst(s) ==
    LET others == (IF Leads(s) THEN Asked(s) ELSE {s.merge.leader}) \ MembersOf(s.decision)
    IN IF others = {} THEN {} ELSE {FirstOf(others)}

\* In the place of Withdrawn: the layers below are not notified that a promise is over.
NotWithdrawn(m) == PassDown([type |-> "PromiseEnds", to |-> m])

\* In the place of AsView: a view is said to be the first of every member in it.
AllMembersJoin(d, follows, joins) ==
    [id |-> d.id, members |-> d.members, preds |-> Numbers(follows),
     lives |-> [m \in MembersOf(d) |-> d.lives[m]], joins |-> MembersOf(d), digest |-> d.digest]

\* In the place of AfterOwn: each side has its own members alone in the view.
OnlyOwnMembers(merged, decision) ==
    Decision(merged.id, decision.members, decision.id, merged.lives, {}, merged.digest)

\* In the place of AfterOwn: each side counts one more of its own members' multicasts.
OwnDigestIsAhead(merged, decision) ==
    Decision(merged.id, merged.members, decision.id, merged.lives, {},
             [m \in DOMAIN merged.digest |-> merged.digest[m] + IF m \in MembersOf(decision) THEN 1 ELSE 0])

\* In the place of AfterOwn: each side counts one more incarnation of its own members.
OwnLivesAreAhead(merged, decision) ==
    Decision(merged.id, merged.members, decision.id,
             [m \in DOMAIN merged.lives |-> merged.lives[m] + IF m \in MembersOf(decision) THEN 1 ELSE 0], {},
             merged.digest)

\* In the place of Begin: the merge is counted, and no member is in it.
CountsMergeOnly(s, coordinators, digest) == Handled([s EXCEPT !.begun = @ + 1], <<DiscoverAgain>>)

\* In the place of CancelMerge: a leader that leaves a coordinator out answers as if it had been asked.
CancelsByRejection(id) == Reject(id, NoDecision)

\* In the place of Coordinates: the first two members do.
TwoCoordinate(s) ==
    InView(s) /\ \E i \in DOMAIN s.decision.members : i <= 2 /\ s.decision.members[i] = s.member

\* In the place of Announced: the merged view is not passed up.
ViewNotPassedUp(decision, subgroups) ==
    PassUp([type |-> "ViewInstalled", view |-> ViewIn(decision), subgroups |-> subgroups])

\* In the place of AfterWindows, of the layer below: windows begin where the digest says, whatever was
\* delivered.
WindowsMoveBack(m, effects) ==
    LET told == Down(effects, "WindowsAdded")
    IN IF told = {} THEN seen
       ELSE LET d == (CHOOSE e \in told : TRUE).digest
            IN [seen EXCEPT ![m] = [x \in Member |-> IF x \in DOMAIN d THEN d[x] ELSE @[x]]]

\* In the place of MayComeTo: an address is let in though its former incarnation was ahead.
AdmitsReusedAddress(x, m) == TRUE

\* In the place of GoneFor: the membership service excludes no member.
NoneGone(m) == {}

\* In the place of ViewWithoutItself: a coordinator that leaves names a creator that is in no view.
LeavesInOtherName(m) == [NextDecision(m, OthersOf(m), {}) EXCEPT !.id.creator = "Z"]

\* In the place of Restart: an address comes back as its next incarnation, and is in the view that it was in.
RestartsInView(m) ==
    /\ spent.restarts < MaxRestarts
    /\ m \notin up
    /\ up' = up \cup {m}
    /\ life' = [life EXCEPT ![m] = @ + 1]
    /\ Spend("restarts")
    /\ Environment("Restart", m, None, {})
    /\ UNCHANGED <<local, network, held, suspected, timers, cast, seen, purged, kept, views, installed>>

-----------------------------------------------------------------------------
(* The model itself: in the place of Misuse, the network changes a message that m has on its way *)

Forges(m, Turned(_)) ==
    /\ spent.misuses < MaxMisuses
    /\ \E p \in network : p.sender = m /\ network' = (network \ {p}) \cup {Turned(p)}
    /\ Spend("misuses")
    /\ Environment("Misuse", m, None, {})
    /\ UNCHANGED <<local, up, life, held, suspected, timers, cast, seen, purged, kept, views, installed>>

\* It has another sender, another receiver, or other content.
ForgesSender(m) == LET Turned(p) == [p EXCEPT !.sender = p.to] IN Forges(m, Turned)
ForgesReceiver(m) == LET Turned(p) == [p EXCEPT !.to = p.sender] IN Forges(m, Turned)
ForgesMessage(m) == LET Turned(p) == [p EXCEPT !.message = CancelMerge(NoMerge)] IN Forges(m, Turned)

-----------------------------------------------------------------------------
(* The model itself: in the place of ApplyWith *)

\* A step reaches into the others.
ApplyToNeighbour(action, m, event, consumed, fired, new) ==
    \E step \in {Step(local[m], event)} :
        /\ local' = [x \in Member |-> IF x = m THEN step.state ELSE [local[x] EXCEPT !.begun = 1]]
        /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
        /\ network' = AfterStep(network, m, consumed, step.effects, up)
        /\ UNCHANGED <<held, suspected, timers, seen, kept, views, installed>>

\* An event is said to be ignored, and changes the state.
ApplyIgnored(action, m, event, consumed, fired, new) ==
    \E step \in {Step(local[m], event)} :
        /\ local' = [local EXCEPT ![m] = step.state]
        /\ Record(action, m, FALSE, None, event, consumed, "ignored", <<>>)
        /\ network' = AfterStep(network, m, consumed, <<>>, up)
        /\ UNCHANGED <<held, suspected, timers, seen, kept, views, installed>>

\* A message is sent that no effect says.
ApplyWithPacket(action, m, event, consumed, fired, new) ==
    \E step \in {Step(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ network' = AfterStep(network, m, consumed, step.effects, up)
                        \cup {Packet(m, m, CancelMerge(NoMerge))}
        /\ UNCHANGED <<held, suspected, timers, seen, kept, views, installed>>
=============================================================================
