------------------------------- MODULE Merge --------------------------------
(******************************************************************************)
(* Merging, one member: a pure function of its own state and an event.        *)
(*                                                                            *)
(* Theory. Subgroups that cannot hear each other work by themselves, each     *)
(* with a coordinator. From time to time a member asks discovery which        *)
(* coordinators there are (MERGE2). If there is another, the first of them in *)
(* the order of addresses leads the merge. It asks the others (MERGE_REQ),    *)
(* each of which answers with its view and digest (MERGE_RSP), and is then in *)
(* this merge and in no other. When all have answered, or the timer fires,    *)
(* the leader makes one view of the views, and one digest of the digests. It  *)
(* installs it at once, and sends it to its subgroup (MERGE_VIEW), and to the *)
(* coordinators that answered (INSTALL_MERGE_VIEW), each of which does the    *)
(* same.                                                                      *)
(*                                                                            *)
(* Why that is safe. A member installs a merged view only from one of its     *)
(* predecessors. So whatever messages are lost, and whichever members crash   *)
(* or give up, no member skips a view, and two members that install the       *)
(* merged view install the same one. The merge can be incomplete: one side    *)
(* may install it after the other side has given up. Then the views overlap:  *)
(* a coordinator lists members that do not follow it any more. Overlapping    *)
(* views are not merged. A member may find that a coordinator in its own view *)
(* has installed another view. Then it has the membership service exclude the *)
(* members of that view. When no member is in two views, the next merge       *)
(* unites them.                                                               *)
(*                                                                            *)
(* While a coordinator is in a merge it holds its subgroup's view, which it   *)
(* has sent to the others. And the digest that it has given away is promised: *)
(* later messages are kept for the others, who start there. A merge that it   *)
(* has ended, because its timer fired, stays ended: the promise is withdrawn, *)
(* and a late INSTALL_MERGE_VIEW finds it in no merge, or in another merge.   *)
(*                                                                            *)
(* The guards have the values of the repaired algorithm. README.md says what  *)
(* each is for.                                                               *)
(******************************************************************************)
EXTENDS Steps, Views, Digests, Addresses, FiniteSets, TLC

CONSTANTS
    MinInterval,        \* discovery is asked again after a time between these two
    MaxInterval,
    LeaderTimeout,      \* how long the leader waits for answers
    MemberTimeout       \* how long a coordinator that has answered waits for the view; longer

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
RejectWhen == "busy"            \* a coordinator in a merge rejects a request ("busy"), or a coordinator in no merge
                                \* does ("idle": the note's line, inverted)
MergeIdHasIncarnation == TRUE   \* a merge's identifier has the leader's incarnation in it
OnlyLeaderStarts == TRUE        \* a member that discovers coordinators and is not the first of them waits to be asked
LeaderRule == "first"           \* the "first" of the coordinators in the order of addresses leads, or "anyone"
SetMemberTimer == TRUE          \* a coordinator that answers sets a timer
TimerHasMergeId == TRUE         \* a timer ends the merge that it was set in, and no other
CheckMergeId == TRUE            \* INSTALL_MERGE_VIEW is taken by a coordinator that is in this merge
PredecessorCheck == TRUE        \* a member installs a merged view only from a predecessor of it
RejectOverlap == TRUE           \* views that have a member in common are not merged
RejectFormerIncarnation == TRUE \* nor are two of which one lists an incarnation, and the other knows a later one
HoldView == TRUE                \* while a coordinator is in a merge its subgroup's view does not change
PromiseDigests == TRUE          \* what comes after a digest that was given away is kept
CounterAbove == "all"           \* the merged view's counter is above "all", or above the leader's "own"
ViewIdNames == "leader"         \* its identifier names the "leader", which decides it, or the "first" member
DigestRule == "greatest"        \* its digest is the "greatest" of all entries, or the "last" answer's
WindowsSetFor == "new"          \* a member sets its windows for the members that are "new" to it, or for "all"
PromoteFirst == TRUE            \* the first member of a merged view is its coordinator, also if it was none before
KeepEarlyViews == "all"         \* of merged views that come before the view that they follow, "all" are kept until
                                \* then, or the "last", or "none"

ASSUME
    /\ {MergeIdHasIncarnation, OnlyLeaderStarts, SetMemberTimer, TimerHasMergeId, CheckMergeId, PredecessorCheck,
        RejectOverlap, RejectFormerIncarnation, HoldView, PromiseDigests, PromoteFirst} \subseteq BOOLEAN
    /\ RejectWhen \in {"busy", "idle"}
    /\ LeaderRule \in {"first", "anyone"}
    /\ CounterAbove \in {"all", "own"}
    /\ ViewIdNames \in {"leader", "first"}
    /\ DigestRule \in {"greatest", "last"}
    /\ WindowsSetFor \in {"new", "all"}
    /\ KeepEarlyViews \in {"all", "last", "none"}

-----------------------------------------------------------------------------
(* Decisions *)

\* A view as GMS knows it: the same record as Decision in Gms. `follows`: this subgroup's view before it.
Decision(id, members, follows, lives, joiners, digest) ==
    [id |-> id, members |-> members, follows |-> follows, lives |-> lives, joiners |-> joiners,
     digest |-> digest]

NoDigest == [m \in {} |-> Nothing]
NoLives == [m \in {} |-> 0]
NoDecision == Decision(NoViewId, <<>>, NoViewId, NoLives, {}, NoDigest)

ViewIn(decision) == [id |-> decision.id, members |-> decision.members]

\* A merged view: it follows several views. `lives`: the newest incarnation of every address that was ever in one of
\* their branches. `digest`: where a member starts with the members that were not in its own view.
Merged(id, members, follows, lives, digest) ==
    [id |-> id, members |-> members, follows |-> follows, lives |-> lives, digest |-> digest]

\* Conditions on every merged view. (Of every decision: IsSound.)
IsSoundMerged(merged) ==
    /\ IsList(merged.members) /\ KnowsLives(merged)
    /\ CounterAbove = "all" => \A id \in merged.follows : merged.id.counter > id.counter
    /\ DigestRule = "greatest" => DOMAIN merged.digest = MembersOf(merged)

\* The merged view for one subgroup: the successor of its own view.
AfterOwn(merged, decision) ==
    Decision(merged.id, merged.members, decision.id, merged.lives, {}, merged.digest)

\* A merge: its leader, the leader's incarnation, and the number that the leader gave it. (An address that comes back
\* counts from one again: an answer to its former incarnation would be taken for one to this.)
MergeId(leader, life, number) == [leader |-> leader, life |-> life, number |-> number]
NoMerge == MergeId("", 0, 0)

\* The answer of a coordinator.
Response(decision, digest) == [decision |-> decision, digest |-> digest]
NoResponses == [m \in {} |-> Response(NoDecision, NoDigest)]

-----------------------------------------------------------------------------
(* Messages and effects *)

\* `decision`: the leader's view.
MergeReq(id, decision) == [type |-> "MERGE_REQ", merge_id |-> id, decision |-> decision]

\* A rejection has the sender's view only where it cannot be merged with the leader's.
MergeRsp(id, rejected, decision, digest) ==
    [type |-> "MERGE_RSP", merge_id |-> id, rejected |-> rejected, decision |-> decision, digest |-> digest]
Accept(id, decision, digest) == MergeRsp(id, FALSE, decision, digest)
Reject(id, decision) == MergeRsp(id, TRUE, decision, NoDigest)

InstallMergeView(id, merged) == [type |-> "INSTALL_MERGE_VIEW", merge_id |-> id, merged |-> merged]
MergeView(merged) == [type |-> "MERGE_VIEW", merged |-> merged]
CancelMerge(id) == [type |-> "CANCEL_MERGE", merge_id |-> id]

\* To GMS: hold the view; change it again. This view is the next one. That member does not follow this coordinator any
\* more.
SuspendViews == PassDown([type |-> "SuspendViews"])
ResumeViews == PassDown([type |-> "ResumeViews"])
MergeDecided(decision) == PassDown([type |-> "MergeDecided", decision |-> decision])
Disowned(m) == PassDown([type |-> "Suspected", suspect |-> m])

\* To the layers below: keep the messages after the present digest; keep them no more. Start there with the members
\* that are new.
Promised(m) == PassDown([type |-> "DigestPromised", to |-> m])
Withdrawn(m) == PassDown([type |-> "PromiseWithdrawn", to |-> m])
StartAt(digest) == PassDown([type |-> "WindowsAdded", digest |-> digest])

\* MRG-31: the layers above learn that it is a merge, and of which views.
Announced(decision, subgroups) ==
    PassUp([type |-> "MergeViewInstalled", view |-> ViewIn(decision), subgroups |-> subgroups])

\* AMB-45: a timer says in its name which of the member's merges it was set in.
TimerOf(number) == "merge/" \o ToString(number)
DiscoverAgain == SetTimer("discover", MinInterval, MaxInterval)

\* The same effect for each of some members, in the order of addresses.
ForEach(set, Effect(_)) == LET list == Sorted(set) IN [i \in DOMAIN list |-> Effect(list[i])]

SendEach(set, message) == LET To(m) == Send(m, message) IN ForEach(set, To)

-----------------------------------------------------------------------------
(* State *)

\* A member before its first view.
Start(member) ==
    [member |-> member,             \* this member's address
     decision |-> NoDecision,       \* the view installed
     merge |-> NoMerge,             \* the merge that it is in
     awaiting |-> {},               \* of a leader: the coordinators whose answer is awaited
     responses |-> NoResponses,     \* of a leader: [coordinator that has accepted, itself too -> what it
                                    \* said]
     begun |-> 0,                   \* the number of merges that it has taken part in
     early |-> <<>>]                \* merged views that follow a view not installed yet, in the order of arrival

\* `early`, KeepEarlyViews, FollowEarly and EarlyTimeout are for merging that stands by itself, as these models have it
\* (FLAW-107, FLAW-108). The shipped stack has merging over GMS (MergeGms), where `early` stays empty: a claim there.

InView(s) == s.decision # NoDecision
Merging(s) == s.merge # NoMerge
Leads(s) == s.merge.leader = s.member

\* The coordinator is the first member (MRG-21, AMB-47). Without the promotion, only the view's creator.
Coordinates(s) ==
    /\ InView(s)
    /\ CoordinatorOf(s.decision) = s.member
    /\ PromoteFirst \/ s.decision.id.creator = s.member

Idle(s) == [s EXCEPT !.merge = NoMerge, !.awaiting = {}, !.responses = NoResponses]

\* It has installed a view. An early merged view that is not later is out of date.
Moved(s, decision) ==
    LET Later(merged) == merged.id.counter > decision.id.counter
    IN [s EXCEPT !.decision = decision, !.early = SelectSeq(@, Later)]

\* Merged views are there that follow its view: one is installed, in a step of its own.
NextEarly(s) == LET Follows(merged) == s.decision.id \in merged.follows IN SelectSeq(s.early, Follows)
Waits(s) == ~Merging(s) /\ NextEarly(s) # <<>>
FollowEarly(s) == IF Waits(s) THEN <<SetTimer("early", 0, 0)>> ELSE <<>>

\* Of a leader: the coordinators in the merge, without itself. (Only a leader has asked any member.)
Asked(s) == (DOMAIN s.responses \cup s.awaiting) \ {s.member}

\* The members to which a member in a merge has promised its digest. For a leader: every member of the merge that is
\* not in its view. For the others: the leader.
PromisedTo(s) ==
    IF ~PromiseDigests THEN {}
    ELSE (IF Leads(s) THEN Asked(s) ELSE {s.merge.leader})
         \ MembersOf(s.decision)

\* It is in the merge no longer: its timer is stopped, the promises to `withdrawn` end, and its view may change.
Leave(s, withdrawn) ==
    (IF SetMemberTimer \/ Leads(s) THEN <<CancelTimer(TimerOf(s.begun))>> ELSE <<>>)
    \o ForEach(withdrawn, Withdrawn)
    \o (IF HoldView THEN <<ResumeViews>> ELSE <<>>)

\* It gives the merge up; a leader notifies the others (AMB-39).
GiveUp(s) ==
    IF ~Merging(s) THEN [state |-> s, effects |-> <<>>]
    ELSE [state |-> Idle(s),
          effects |-> Leave(s, PromisedTo(s)) \o SendEach(Asked(s), CancelMerge(s.merge))]

-----------------------------------------------------------------------------
(* Discovery: MERGE2 *)

\* A digest has an entry for each member of the view.
Fits(s, digest) == DOMAIN digest = MembersOf(s.decision)

\* It takes part in another merge. The leader asks the others; its own answer is there at once (AMB-36).
Begin(s, coordinators, digest) ==
    LET others == coordinators \ {s.member}
        id == MergeId(s.member, IF MergeIdHasIncarnation THEN s.decision.lives[s.member] ELSE 0, s.begun + 1)
        begun == [s EXCEPT !.merge = id, !.begun = @ + 1, !.awaiting = others,
                           !.responses = [m \in {s.member} |-> Response(s.decision, digest)]]
    IN Handled(begun,
               <<DiscoverAgain>>
               \o (IF HoldView THEN <<SuspendViews>> ELSE <<>>)
               \o ForEach(PromisedTo(begun), Promised)
               \o <<SetTimer(TimerOf(begun.begun), LeaderTimeout, LeaderTimeout)>>
               \o SendEach(others, MergeReq(id, s.decision)))

\* It is time to look for other coordinators. `found`: the coordinators that discovery knows. `digest`: what this
\* member has delivered.
DiscoverTimeout(s, e) ==
    LET coordinators == e.found \cup {s.member}
        nothing == Handled(s, <<DiscoverAgain>>)
    IN IF ~InView(s) THEN Ignored(s)
       ELSE IF ~Fits(s, e.digest) THEN LocalError(s)
       ELSE IF ~Coordinates(s) \/ Merging(s) \/ coordinators = {s.member} THEN nothing
       ELSE IF LeaderRule = "anyone" \/ FirstOf(coordinators) = s.member
       THEN Begin(s, coordinators, e.digest)
       \* FLAW-41: it is in a merge that no member leads, and that no timer ends.
       ELSE IF ~OnlyLeaderStarts
       THEN Handled([s EXCEPT !.merge = MergeId(s.member, s.decision.lives[s.member], s.begun + 1),
                              !.begun = @ + 1], <<DiscoverAgain>>)
       ELSE nothing

-----------------------------------------------------------------------------
(* The merge of coordinators *)

Common(decision, other) == MembersOf(decision) \cap MembersOf(other)

\* Members of a view whose incarnation is over: the other view's line has seen a later one.
Former(decision, other) ==
    {m \in MembersOf(decision) \cap DOMAIN other.lives : decision.lives[m] < other.lives[m]}

\* They can be merged. FLAW-110: if one lists a former incarnation of which the other has seen the next, the
\* merged view means the next one, which is in neither of them.
MayMerge(decision, other) ==
    /\ RejectOverlap => Common(decision, other) = {}
    /\ RejectFormerIncarnation => Former(decision, other) \cup Former(other, decision) = {}

\* Members of this member's view that follow `coordinator`, which is in that view and has installed another one; or
\* members whose incarnation is over.
LeftUs(s, coordinator, other) ==
    (IF RejectOverlap /\ coordinator \in MembersOf(s.decision) THEN Common(s.decision, other) ELSE {})
    \cup (IF RejectFormerIncarnation THEN Former(s.decision, other) ELSE {})

\* A leader asks. A coordinator outside any merge takes part from now on.
MergeReqReceived(s, e) ==
    LET id == e.message.merge_id
        theirs == e.message.decision
        refuses == IF RejectWhen = "busy" THEN Merging(s) ELSE ~Merging(s)
        taken == [s EXCEPT !.merge = id, !.begun = @ + 1, !.awaiting = {},
                           !.responses = NoResponses]
    IN IF ~Fits(s, e.digest) THEN LocalError(s)
       ELSE IF ~Coordinates(s) \/ refuses THEN Handled(s, <<Send(e.sender, Reject(id, NoDecision))>>)
       ELSE IF ~MayMerge(s.decision, theirs)
       THEN Handled(s, ForEach(LeftUs(s, e.sender, theirs), Disowned)
                       \o <<Send(e.sender, Reject(id, s.decision))>>)
       ELSE Handled(taken,
                    (IF HoldView THEN <<SuspendViews>> ELSE <<>>)
                    \o ForEach(PromisedTo(taken), Promised)
                    \o (IF SetMemberTimer
                        THEN <<SetTimer(TimerOf(taken.begun), MemberTimeout, MemberTimeout)>> ELSE <<>>)
                    \o <<Send(e.sender, Accept(id, s.decision, e.digest))>>)

\* The coordinator's view lists another coordinator that has answered for itself, and so does not follow it.
ListsAnother(responses, c) ==
    MembersOf(responses[c].decision) \cap (DOMAIN responses \ {c}) # {}

\* The coordinators whose views are merged: the leader, and then, in the order of addresses, each accepting
\* coordinator whose view lists no other answering coordinator and can be merged with the views chosen before it.
RECURSIVE Disjoint(_, _, _)
Disjoint(responses, list, chosen) ==
    IF list = <<>> THEN chosen
    ELSE LET next == Head(list)
             fits == \A c \in chosen : MayMerge(responses[c].decision, responses[next].decision)
             taken == fits /\ (RejectOverlap => ~ListsAnother(responses, next))
         IN Disjoint(responses, Tail(list), IF taken THEN chosen \cup {next} ELSE chosen)

Chosen(s) == Disjoint(s.responses, Sorted(DOMAIN s.responses), {s.member})

\* The greatest of a set of numbers.
Max(numbers) == CHOOSE n \in numbers : \A k \in numbers : k <= n

\* The greatest entry of each member, of those vectors that have one (MRG-18).
GreatestOf(vectors) ==
    [m \in UNION {DOMAIN v : v \in vectors} |-> Max({v[m] : v \in {v \in vectors : m \in DOMAIN v}})]

\* The members of a merged view in order; the `coordinators` decide it with their views (MRG-20).
ListOf(members, coordinators) == Sorted(members)

\* A variant, in the place of ListOf, as JGroups has had it since 3.4: the coordinators are first, and so its leader.
LeadersFirst(members, coordinators) == Sorted(coordinators) \o Sorted(members \ coordinators)

\* One view of theirs, and one digest (MRG-18 to MRG-21).
MergedView(s, chosen) ==
    LET decisions == {s.responses[c].decision : c \in chosen}
        members == ListOf(UNION {MembersOf(d) : d \in decisions}, chosen)
        counter == IF CounterAbove = "all" THEN Max({d.id.counter : d \in decisions}) + 1
                   ELSE s.decision.id.counter + 1
        creator == IF ViewIdNames = "leader" THEN s.member ELSE Head(members)
        digest == IF DigestRule = "greatest" THEN GreatestOf({s.responses[c].digest : c \in chosen})
                  ELSE s.responses[LastOf(chosen)].digest
    IN Merged(ViewId(counter, creator), members, {d.id : d \in decisions},
              LatestLives(GreatestOf({d.lives : d \in decisions}), MembersOf([members |-> members])), digest)

\* It installs a merged view: windows for the members that are new to it, the view, and for a coordinator the end of
\* the merge. `sent`: what it sends between.
Enter(s, merged, sent, withdrawn) ==
    LET decision == AfterOwn(merged, s.decision)
        new == DOMAIN merged.digest \ MembersOf(s.decision)
        set == IF WindowsSetFor = "new" THEN new ELSE DOMAIN merged.digest \ {s.member}
        entered == Moved(Idle(s), decision)
    IN Handled(entered,
               <<StartAt([m \in set |-> merged.digest[m]]), MergeDecided(decision)>>
               \o sent
               \o <<Announced(decision, merged.follows)>>
               \o (IF Merging(s) THEN Leave(s, withdrawn) ELSE <<>>)
               \o FollowEarly(entered))

\* The members of its view to which it sends the merged one.
Subgroup(s) == MembersOf(s.decision) \ {s.member}

\* No answer is awaited any more. Without another member to merge with, the merge is over (MRG-17, AMB-38). A member
\* that has not answered, or is not among the chosen, is sent CANCEL_MERGE (AMB-42).
Conclude(s) ==
    LET chosen == Chosen(s)
        merged == MergedView(s, chosen)
        left_out == Asked(s) \ chosen
        over == GiveUp(s)
    IN IF chosen = {s.member} THEN Handled(over.state, over.effects)
       ELSE Enter(s, merged,
                  SendEach(chosen \ {s.member}, InstallMergeView(s.merge, merged))
                  \o SendEach(Subgroup(s), MergeView(merged))
                  \o SendEach(left_out, CancelMerge(s.merge)),
                  PromisedTo(s) \ chosen)

\* An answer. A coordinator that rejects is asked no more (MRG-16).
MergeRspReceived(s, e) ==
    LET c == e.sender
        said == e.message
        responses == [m \in DOMAIN s.responses \cup {c} |->
                        IF m = c THEN Response(said.decision, said.digest) ELSE s.responses[m]]
        heard == [s EXCEPT !.awaiting = @ \ {c}, !.responses = IF said.rejected THEN @ ELSE responses]
        before == IF said.rejected
                  THEN ForEach(PromisedTo(s) \cap {c}, Withdrawn)
                       \o ForEach(LeftUs(s, c, said.decision), Disowned)
                  ELSE <<>>
        done == Conclude(heard)
    IN IF said.merge_id # s.merge \/ c \notin s.awaiting THEN Ignored(s)
       ELSE IF heard.awaiting # {} THEN Handled(heard, before)
       ELSE Handled(done.state, before \o done.effects)

\* The timer of a merge fires. The leader decides with the answers that it has; the others have no answers, and give
\* up (MRG-25).
MergeTimeout(s, e) ==
    IF ~Merging(s) \/ (TimerHasMergeId /\ e.number # s.begun) THEN Ignored(s) ELSE Conclude(s)

\* The leader has given up, or continues without this coordinator.
CancelMergeReceived(s, e) ==
    LET over == GiveUp(s)
    IN IF s.merge # e.message.merge_id THEN Ignored(s)
       ELSE Handled(over.state, over.effects)

-----------------------------------------------------------------------------
(* The merged view arrives *)

FollowsOwn(s, merged) == PredecessorCheck => s.decision.id \in merged.follows

\* At a coordinator, which sends it to its subgroup (MRG-27).
InstallMergeViewReceived(s, e) ==
    LET merged == e.message.merged
    IN IF ~FollowsOwn(s, merged) \/ (CheckMergeId /\ s.merge # e.message.merge_id) THEN Ignored(s)
       ELSE Enter(s, merged, SendEach(Subgroup(s), MergeView(merged)), PromisedTo(s) \ {e.sender})

\* At a participant, from its coordinator (MRG-28 to MRG-32). It may overtake the view that it follows: a view of the
\* membership service, or of a merge that has not ended here. Then it is kept until then. So is every later one: of
\* two merges the second may arrive first.
MergeViewReceived(s, e) ==
    LET merged == e.message.merged
        late == merged.id.counter <= s.decision.id.counter
        known == \E i \in DOMAIN s.early : s.early[i].id = merged.id
        superseded == \E i \in DOMAIN s.early : s.early[i].id.counter >= merged.id.counter
        kept == CASE KeepEarlyViews = "all" -> Append(s.early, merged)
                  [] KeepEarlyViews = "last" -> IF superseded THEN s.early ELSE <<merged>>
                  [] KeepEarlyViews = "none" -> s.early
    IN IF ~Merging(s) /\ FollowsOwn(s, merged) THEN Enter(s, merged, <<>>, {})
       ELSE IF late \/ known \/ kept = s.early THEN Ignored(s)
       ELSE Handled([s EXCEPT !.early = kept], <<>>)

\* A view of the membership service. A view that arrives during a merge ends the merge: the other coordinators were
\* sent another view.
DecisionInstalled(s, e) ==
    LET moved == Moved(s, e.decision)
        over == GiveUp(moved)
        first == IF InView(s) THEN <<>> ELSE <<DiscoverAgain>>
    IN IF s.member \notin MembersOf(e.decision) THEN LocalError(s)
       ELSE IF e.decision.id = s.decision.id THEN Ignored(s)
       ELSE Handled(over.state, first \o over.effects \o FollowEarly(over.state))

\* The predecessor of the merged view is installed now.
EarlyTimeout(s, e) == IF Waits(s) THEN Enter(s, NextEarly(s)[1], <<>>, {}) ELSE Ignored(s)

-----------------------------------------------------------------------------
(* Messages that no correct peer sends, whatever the state of the receiver    *)

\* A leader asks with its view. A member that accepts is in the view that it answers with, and its digest has its members. A
\* merged view goes to its members, from one of them or from the merge leader.
IsMalformed(s, e) ==
    LET x == e.sender
        message == e.message
    IN \/ x = s.member
       \/ CASE message.type = "MERGE_REQ" ->
                    \/ x # message.merge_id.leader
                    \/ ~IsSound(message.decision) \/ x \notin MembersOf(message.decision)
            [] message.type = "MERGE_RSP" ->
                    IF message.rejected THEN message.decision # NoDecision /\ ~IsSound(message.decision)
                    ELSE \/ ~IsSound(message.decision) \/ x \notin MembersOf(message.decision)
                         \/ DOMAIN message.digest # MembersOf(message.decision)
            [] message.type = "INSTALL_MERGE_VIEW" ->
                    \/ x # message.merge_id.leader
                    \/ ~IsSoundMerged(message.merged) \/ s.member \notin MembersOf(message.merged)
            [] message.type = "MERGE_VIEW" ->
                    ~IsSoundMerged(message.merged) \/ {s.member, x} \ MembersOf(message.merged) # {}
            [] message.type = "CANCEL_MERGE" -> x # message.merge_id.leader
            [] OTHER -> FALSE

Refuses(s, e) == "message" \in DOMAIN e /\ IsMalformed(s, e)

-----------------------------------------------------------------------------
(* Step: total over the alphabet *)

Step(s, e) ==
    IF Refuses(s, e) THEN RemoteError(s) ELSE
    CASE e.type = "DecisionInstalled" -> DecisionInstalled(s, e)
      [] e.type = "EarlyTimeout" -> EarlyTimeout(s, e)
      [] e.type = "DiscoverTimeout" -> DiscoverTimeout(s, e)
      [] e.type = "MergeReqReceived" -> MergeReqReceived(s, e)
      [] e.type = "MergeRspReceived" -> MergeRspReceived(s, e)
      [] e.type = "MergeTimeout" -> MergeTimeout(s, e)
      [] e.type = "CancelMergeReceived" -> CancelMergeReceived(s, e)
      [] e.type = "InstallMergeViewReceived" -> InstallMergeViewReceived(s, e)
      [] e.type = "MergeViewReceived" -> MergeViewReceived(s, e)
=============================================================================
