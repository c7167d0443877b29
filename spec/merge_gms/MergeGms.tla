------------------------------ MODULE MergeGms ------------------------------
(******************************************************************************)
(* GMS and merging, one member: a pure function of its own state and an       *)
(* event. Both are used unchanged (Gms.tla, Merge.tla). An event that either  *)
(* passes to the other happens in the same step. This module adds the rules   *)
(* between the two.                                                           *)
(*                                                                            *)
(* The group is stopped for GMS or for merging, never for both. FLUSH sees    *)
(* only one caller, GMS. Merging needs the group before it gives a digest     *)
(* away. So a member that would lead a merge, or is asked to take part,       *)
(* defers that event (`wish`) until GMS has nothing under way. Then it has    *)
(* the group stopped (Suspend, GroupStopped), asks for the digest, and only   *)
(* then takes the step of Merge. While merging has the group, GMS gets no     *)
(* GroupStopped. When the merge is over, GMS says Suspend again if it has     *)
(* something to decide. Otherwise the group is resumed.                       *)
(*                                                                            *)
(* The merged view is GMS's next one. Its first member acts like a member     *)
(* that takes over. It queries all others (QUERY), sends them the view again, *)
(* waits for their VIEW_ACK, and has the group stopped, before it decides     *)
(* anything or resumes the group. The others follow.                          *)
(*                                                                            *)
(* Members that never install a view. A view of GMS lists members that        *)
(* install it, or crash. A merged view lists members of other subgroups,      *)
(* which may give the merge up: GMS would wait for them for ever. So a member *)
(* that is asked for a view that it lacks answers when it is certain. It is   *)
(* certain when it has the view. It is also certain when it leads its         *)
(* subgroup and is in no merge, so that no member there can install the view  *)
(* any more. A participant asks its coordinator (PROBE). Every member of a    *)
(* merged view relies on the first member that it does not suspect, and asks  *)
(* that member once.                                                          *)
(******************************************************************************)
EXTENDS Steps, Views, Digests, FiniteSets, TLC

CONSTANTS
    MaxBundle,                                                  \* see Gms
    MinInterval, MaxInterval, LeaderTimeout, MemberTimeout      \* see Merge

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
HoldGmsDuringMerge == TRUE     \* GMS decides nothing while merging has the group
WaitForGmsIdle == TRUE         \* merging has the group stopped when GMS has nothing under way
StopBeforeDigest == TRUE       \* merging has the group stopped before it asks for its digest
PassViewsToMerge == TRUE       \* the views of GMS are passed to merging
SendMergeView == TRUE          \* in the place of NEW_VIEW and ANSWER of a merged view goes MERGE_VIEW
SuspendAgainAfterMerge == TRUE \* GMS asks again for the group when merging gives it up
FirstMemberQueries == TRUE     \* the first member of a merged view asks all others; or it decides at once
ProbeMergedView == TRUE        \* a member that relies on another member asks it for its view
RepeatLeave == TRUE            \* a member that asked the first member for leave, too, asks again when that member has
                               \* the view
KeepEarlyQueries == TRUE       \* what is said of a view that a member has not is kept until it is certain
ProbeOnEarlyQuery == TRUE      \* a participant asks the leader of its subgroup about such a view
RejectSuspectedSender == TRUE  \* a merged view from a suspected member is refused
DropStaleMergeReq == TRUE      \* a MERGE_REQ of a former incarnation is ignored

ASSUME
    {HoldGmsDuringMerge, WaitForGmsIdle, StopBeforeDigest, PassViewsToMerge, SendMergeView, SuspendAgainAfterMerge,
     FirstMemberQueries, ProbeMergedView, RepeatLeave, KeepEarlyQueries, ProbeOnEarlyQuery, RejectSuspectedSender,
     DropStaleMergeReq} \subseteq BOOLEAN

G == INSTANCE Gms

M == INSTANCE Merge

-----------------------------------------------------------------------------
(* State *)

\* A member that asks for a digest (EVT-05).
Self == "MERGE"

NoMerged == M!Merged(NoViewId, <<>>, {}, M!NoLives, M!NoDigest)

\* No event waits.
NoPendingMerge == [nothing |-> 0]

\* Merging's use of the group: `wish` is the event of Merge that waits until merging has the group and its digest, and
\* `holds` is what merging has of the group. While it has any of it, GMS waits for the group.
\*   holds       wish      waits for                         then
\*   "no"        none      an event that begins a merge      the event waits
\*   "no"        an event  GMS to be at rest                 "stopping"
\*   "stopping"  an event  GroupStopped                      "digest"; or "no" again, if GMS has asked for the group
\*   "stopping"  none      GroupStopped                      "no": the event was dropped meanwhile
\*   "digest"    an event  DigestGiven                       "merging", if the event begins a merge now; or "no"
\*   "merging"   none      Merge to decide, or to give up    "no"
\* A later event may take the place of the one that waits. If that is dropped in "digest", "no" is next.

\* A member before its first view.
Start(member) ==
    [member |-> member,             \* this member's address
     gms |-> G!Start(member),
     merge |-> M!Start(member),
     merged |-> NoMerged,           \* the merged view that it was in last
     wish |-> NoPendingMerge,       \* the event of Merge that waits for the group, and for a digest
     holds |-> "no",                \* what merging has of the group
     asked |-> 0,                   \* how many digests it has asked for
     early |-> <<>>,                \* questions that cannot be answered yet: [sender, message], as they came
     probed |-> {}]                 \* the members that it has asked for views, since it installed its own

InView(s) == G!InView(s.gms)
Joined(s) == InView(s) /\ ~s.gms.gone
Own(s) == s.gms.decision
IsMember(s, m) == m \in MembersOf(Own(s))
Trusts(s, m) == IsMember(s, m) /\ m \notin s.gms.suspected
InMerged(s) == s.merged.id = Own(s).id      \* (for a member in a view)
Wishes(s) == s.wish # NoPendingMerge
IsWish(s, type) == Wishes(s) /\ s.wish.type = type
Coordinates(s) == M!Coordinates(s.merge) /\ ~s.gms.gone

\* It leads its subgroup, and is in no merge: no merged view that is decided comes to any of them.
IsCertain(s) == G!Leads(s.gms) /\ ~M!Merging(s.merge)

\* A view that it has not may yet come.
MayCome(s, id) == id.counter > Own(s).id.counter /\ ~IsCertain(s)

\* GMS has nothing under way, and does not have the group stopped. (Who has left led with the group stopped, or
\* did not lead.)
GmsIsIdle(s) == s.gms.phase = "at rest"

Unchanged(s) == [state |-> s, effects |-> <<>>]

\* F of a value, which is evaluated once.
With(value, F(_)) == CHOOSE y \in {F(v) : v \in {value}} : TRUE

Then(step, Next(_)) ==
    LET After(first) ==
            LET Added(second) == [state |-> second.state, effects |-> first.effects \o second.effects]
            IN With(Next(first.state), Added)
    IN With(step, After)

Passes(effect, way, type) == effect.type = way /\ effect.event.type = type      \* (of PassUp, PassDown)

-----------------------------------------------------------------------------
(* GMS steps *)

\* Of a merged view GMS's messages say too little: not which views it was made of. In their place goes what
\* merging sends.
Worded(s, effect) ==
    LET m == effect.message
        merged == m.type \in {"NEW_VIEW", "ANSWER"} /\ m.decision.id = s.merged.id
        news == m.type = "ANSWER" => m.view_id = m.decision.follows
    IN IF SendMergeView /\ merged /\ news THEN Send(effect.to, M!MergeView(s.merged)) ELSE effect

\* While merging has the group, GMS waits for it; and if merging wants it next, it stays stopped.
FromGms(s, effects) ==
    LET IsHeard(effect) ==
            /\ ~(Passes(effect, "PassUp", "Suspend") /\ HoldGmsDuringMerge /\ s.holds # "no")
            /\ ~(Passes(effect, "PassUp", "Resume") /\ Wishes(s))
        heard == SelectSeq(effects, IsHeard)
    IN [i \in DOMAIN heard |-> IF heard[i].type = "Send" THEN Worded(s, heard[i]) ELSE heard[i]]

\* A leader that asked is over: its view would be taken for one by which its next incarnation stands.
IsOfTheDead(s, x, theirs) ==
    DropStaleMergeReq /\ x \in DOMAIN Own(s).lives \cap DOMAIN theirs.lives /\ theirs.lives[x] < Own(s).lives[x]

\* The wish that outlives a view.
WishIn(s) ==
    IF IsWish(s, "MergeReqReceived") /\ IsOfTheDead(s, s.wish.sender, s.wish.message.decision) THEN NoPendingMerge
    ELSE s.wish

\* A view of GMS is passed to merging. (It is in no merge then, as GMS had the group: ViewHeldWhileMerging. If it
\* were, the merge would be over, and GMS has the group.)
TellMerging(s) ==
    LET r == M!Step(s.merge, [type |-> "DecisionInstalled", decision |-> Own(s)])
        Others(effect) == effect.type # "PassDown"
    IN IF Own(s) = s.merge.decision \/ ~PassViewsToMerge THEN Unchanged(s)
       ELSE [state |-> [s EXCEPT !.merge = r.state, !.probed = {}, !.wish = WishIn(s),
                                 !.holds = IF @ = "merging" THEN "no" ELSE @],
             effects |-> SelectSeq(r.effects, Others)]

\* GMS has taken a step.
AfterGms(s, g) ==
    Then([state |-> [s EXCEPT !.gms = g.state], effects |-> FromGms(s, g.effects)], TellMerging)

GmsStep(s, e) == LET Taken(g) == AfterGms(s, g) IN With(G!Step(s.gms, e), Taken)

-----------------------------------------------------------------------------
(* Merging steps *)

\* Merging has the group no more.
EndUseOfGroup(s) ==
    [state |-> [s EXCEPT !.holds = "no"],
     effects |-> IF SuspendAgainAfterMerge /\ s.gms.phase = "stopping" THEN <<G!SuspendGroup>> ELSE <<G!ResumeGroup>>]

\* The event that needed the digest is dropped, or began no merge.
MaybeLetGo(s) == IF s.holds = "digest" THEN EndUseOfGroup(s) ELSE Unchanged(s)

\* The view as decided, and the events for the layers below.
ToTake(s, d) == d
SayBelow(d) == <<PassDown([type |-> "ViewInstalled", view |-> G!ViewIn(d)])>>

\* The merged view is GMS's next one.
TakeView(s, decided) ==
    LET d == ToTake(s, decided)
        first == Head(d.members) = s.member
        entered == [G!Enter(s.gms, d) EXCEPT
                        !.queue = IF first THEN s.gms.queue ELSE @,
                        !.phase = IF first /\ ~FirstMemberQueries THEN "announcing" ELSE @,
                        !.took_over = first /\ ~FirstMemberQueries]
    IN [state |-> [s EXCEPT !.gms = entered, !.holds = "no", !.probed = {}],
        effects |-> SayBelow(d)]

\* The view is announced, and GMS continues from there.
Announce(s, effect) ==
    LET d == Own(s)
        merged == M!Merged(d.id, d.members, effect.event.subgroups, d.lives, d.digest)
        known == [s EXCEPT !.merged = merged]
        Follows(g) == [state |-> [known EXCEPT !.gms = g.state],
                       effects |-> <<effect>> \o FromGms(known, g.effects)]
    IN With(G!Proceed(s.gms, <<>>), Follows)

\* The effects of merging on GMS and on the layers around.
FromMerging(s, effect) ==
    IF effect.type = "PassUp" THEN Announce(s, effect)
    ELSE IF effect.type # "PassDown" THEN [state |-> s, effects |-> <<effect>>]
    ELSE CASE effect.event.type = "MergeDecided" -> TakeView(s, effect.event.decision)
           [] effect.event.type = "SuspendViews" -> Unchanged([s EXCEPT !.holds = "merging"])
           [] effect.event.type = "ResumeViews" -> IF s.holds = "merging" THEN EndUseOfGroup(s) ELSE Unchanged(s)
           [] effect.event.type = "Suspected" -> GmsStep(s, effect.event)
           [] OTHER -> [state |-> s, effects |-> <<effect>>]

RECURSIVE Carried(_, _)
Carried(step, effects) ==
    IF effects = <<>> THEN step
    ELSE LET Next(s) == FromMerging(s, Head(effects)) IN Carried(Then(step, Next), Tail(effects))

AfterMerging(s, r) == Carried(Unchanged([s EXCEPT !.merge = r.state]), r.effects)

-----------------------------------------------------------------------------
(* A member that is asked *)

\* Asks the receiver whether it has this view. The sender relies on the receiver. (A member that takes over asks by
\* QUERY.)
Probe(id) == [type |-> "PROBE", view_id |-> id]

\* A member that asks for a merged view that it has not may have it from no other member.
Reply(s, x, message) ==
    IF message.type = "PROBE" /\ message.view_id = Own(s).id /\ InMerged(s)
    THEN Send(x, M!MergeView(s.merged))
    ELSE Worded(s, Send(x, G!Answer(message.view_id, Own(s))))

\* A message of a member goes to GMS unchanged, except a PROBE.
IsForGms(s, x, message) == IsMember(s, x) /\ message.type # "PROBE"

\* It cannot be answered yet.
IsEarly(s, x, message) == ~IsForGms(s, x, message) /\ MayCome(s, message.view_id)

Keep(s, x, message) ==
    LET word == [sender |-> x, message |-> message]
    IN IF KeepEarlyQueries /\ ~\E i \in DOMAIN s.early : s.early[i] = word
       THEN [s EXCEPT !.early = Append(@, word)] ELSE s

\* A QUERY or a PROBE that is not early.
Heard(s, x, message) ==
    IF IsForGms(s, x, message)
    THEN GmsStep(s, [type |-> "QueryReceived", sender |-> x, message |-> message])
    ELSE [state |-> s, effects |-> <<Reply(s, x, message)>>]

RECURSIVE HeardAll(_, _)
HeardAll(step, words) ==
    IF words = <<>> THEN step
    ELSE LET Next(s) == Heard(s, Head(words).sender, Head(words).message)
         IN HeardAll(Then(step, Next), Tail(words))

\* Answer the early queries whose answers are certain now.
AnswerEarly(s) ==
    LET Waits(word) == IsEarly(s, word.sender, word.message)
        Comes(word) == ~Waits(word)
    IN HeardAll(Unchanged([s EXCEPT !.early = SelectSeq(@, Waits)]), SelectSeq(s.early, Comes))

\* The views that it has reason to ask for: a merged view that it is in, and the views that others named.
Doubts(s) ==
    LET own == IF ProbeMergedView /\ InMerged(s) THEN <<Own(s).id>> ELSE <<>>
    IN own \o (IF ProbeOnEarlyQuery THEN [i \in DOMAIN s.early |-> s.early[i].message.view_id] ELSE <<>>)

RECURSIVE AskAll(_, _, _)
AskAll(step, ids, head) ==
    IF ids = <<>> THEN step
    ELSE LET probe == [id |-> Head(ids), to |-> head]
             Ask(s) == IF probe \in s.probed THEN Unchanged(s)
                       ELSE [state |-> [s EXCEPT !.probed = @ \cup {probe}],
                             effects |-> <<Send(head, Probe(probe.id))>>]
         IN AskAll(Then(step, Ask), Tail(ids), head)

\* It asks the leader, as far as it knows the leader.
AskLeader(s) ==
    IF ~Joined(s) \/ G!IsActing(s.gms) THEN Unchanged(s)
    ELSE AskAll(Unchanged(s), Doubts(s), Head(G!Unsuspected(s.gms)))

-----------------------------------------------------------------------------
(* The group, and the digest *)

AskForDigest(s) ==
    [state |-> [s EXCEPT !.holds = "digest", !.asked = @ + 1],
     effects |-> <<PassDown([type |-> "GetDigest", asker |-> Self, request |-> s.asked + 1])>>]

\* Merging wants the group, and GMS does not have it.
MaybeStop(s) ==
    IF ~Wishes(s) \/ s.holds # "no" THEN Unchanged(s)
    ELSE IF ~WaitForGmsIdle /\ G!HoldsGroup(s.gms) THEN AskForDigest(s)
    ELSE IF ~GmsIsIdle(s) THEN Unchanged(s)
    ELSE IF ~StopBeforeDigest THEN AskForDigest(s)
    ELSE [state |-> [s EXCEPT !.holds = "stopping"], effects |-> <<G!SuspendGroup>>]

\* The steps that follow from the state that a step leaves.
Ending(step) ==
    LET Done(all) == Handled(all.state, all.effects)
    IN With(Then(Then(Then(step, AnswerEarly), AskLeader), MaybeStop), Done)

ForGms(s, e) ==
    LET Taken(g) == IF g.outcome = "handled" THEN Ending(AfterGms(s, g))
                    ELSE [outcome |-> g.outcome, state |-> s, effects |-> <<>>]
    IN With(G!Step(s.gms, e), Taken)

ForMerging(s, e) ==
    LET Taken(r) == IF r.outcome = "handled" THEN Ending(AfterMerging(s, r))
                    ELSE [outcome |-> r.outcome, state |-> s, effects |-> <<>>]
    IN With(M!Step(s.merge, e), Taken)

-----------------------------------------------------------------------------
(* Events *)

\* The group is stopped: for GMS, if it has asked meanwhile, or for merging, or for neither any more.
GroupStopped(s, e) ==
    IF e.asker # G!Self \/ s.holds = "no" \/ (~HoldGmsDuringMerge /\ s.gms.phase = "stopping") THEN ForGms(s, e)
    ELSE IF s.holds # "stopping" THEN Ignored(s)
    ELSE IF s.gms.phase = "stopping" THEN ForGms([s EXCEPT !.holds = "no"], e)
    ELSE Ending(IF Wishes(s) THEN AskForDigest(s) ELSE EndUseOfGroup(s))

\* Merging takes the step that it waited with.
DigestGiven(s, e) ==
    LET free == [s EXCEPT !.wish = NoPendingMerge]
        Taken(r) ==
            IF r.outcome # "handled" THEN LocalError(s) ELSE Ending(Then(AfterMerging(free, r), MaybeLetGo))
        event == IF s.wish.type = "DiscoverTimeout"
                 THEN [type |-> s.wish.type, found |-> s.wish.found, digest |-> e.digest]
                 ELSE [type |-> s.wish.type, sender |-> s.wish.sender, message |-> s.wish.message,
                       digest |-> e.digest]
    IN IF e.asker # Self THEN ForGms(s, e)
       ELSE IF s.holds # "digest" \/ ~Wishes(s) \/ e.request # s.asked THEN Ignored(s)
       ELSE With(M!Step(s.merge, event), Taken)

\* The deferred event is dropped. If the group is stopped for it already, the group is resumed.
Dropped(s, effects) ==
    Ending(Then([state |-> [s EXCEPT !.wish = NoPendingMerge], effects |-> effects], MaybeLetGo))

\* While it is not known, a digest of nothing: what it is for, is looked at again when it is.
Unknown(s) == [x \in MembersOf(Own(s)) |-> Nothing]
Begins(s, r) == M!Merging(r.state) /\ ~M!Merging(s.merge)

\* A member that would lead waits for the group. (Who waits with a request will be in that merge.)
DiscoverTimeout(s, e) ==
    LET wish == [type |-> "DiscoverTimeout", found |-> e.found]
        again == <<M!DiscoverAgain>>
        Taken(r) ==
            IF r.outcome # "handled" THEN [outcome |-> r.outcome, state |-> s, effects |-> <<>>]
            ELSE IF IsWish(s, "MergeReqReceived") THEN Handled(s, again)
            ELSE IF Begins(s, r) THEN Ending([state |-> [s EXCEPT !.wish = wish], effects |-> again])
            ELSE Dropped(s, again)
    IN With(M!Step(s.merge, [type |-> "DiscoverTimeout", found |-> e.found, digest |-> Unknown(s)]), Taken)

\* A member that is asked, and would accept, waits for the group; not for two leaders at once.
MergeReqReceived(s, e) ==
    LET wish == [type |-> "MergeReqReceived", sender |-> e.sender, message |-> e.message]
        other == IsWish(s, "MergeReqReceived") /\ s.wish.sender # e.sender
        Taken(r) ==
            IF ~Begins(s, r) THEN Ending(AfterMerging(s, r))
            ELSE IF other
            THEN Handled(s, <<Send(e.sender, M!Reject(e.message.merge_id, M!NoDecision))>>)
            ELSE Ending(Unchanged([s EXCEPT !.wish = wish]))
    IN IF IsOfTheDead(s, e.sender, e.message.decision) THEN Ignored(s)
       ELSE With(M!Step(s.merge, [type |-> "MergeReqReceived", sender |-> e.sender, message |-> e.message,
                                  digest |-> Unknown(s)]), Taken)

\* The leader does not wait for the answer any more.
CancelMergeReceived(s, e) ==
    IF IsWish(s, "MergeReqReceived") /\ s.wish.message.merge_id = e.message.merge_id THEN Dropped(s, <<>>)
    ELSE ForMerging(s, e)

\* A QUERY or a PROBE of a member that may know more.
QuestionReceived(s, e) ==
    LET x == e.sender
        kept == Keep(s, x, e.message)
    IN IF e.type # "ProbeReceived" /\ (~Joined(s) \/ IsForGms(s, x, e.message)) THEN ForGms(s, e)
       ELSE IF ~Joined(s) \/ x \in s.gms.suspected THEN Ignored(s)
       ELSE IF IsEarly(s, x, e.message) THEN IF kept = s THEN Ignored(s) ELSE Ending(Unchanged(kept))
       ELSE Handled(s, <<Reply(s, x, e.message)>>)

\* A member of this merged view is in another view, without this member: it is suspected. Or the leader answers about
\* an early query that it will not install the view: the answer is passed to the members that asked.
AnswerReceived(s, e) ==
    LET x == e.sender
        told == e.message.decision
        id == e.message.view_id
        stays == /\ InMerged(s) /\ id = Own(s).id /\ x # s.member /\ Trusts(s, x)
                 /\ told # G!NoDecision /\ s.member \notin MembersOf(told)
        About(word) == word.message.view_id = id
        askers == {s.early[i].sender : i \in {i \in DOMAIN s.early : About(s.early[i])}}
        Other(word) == word.sender \notin askers
        replies == SelectSeq(s.early, About)
    IN IF ~Joined(s) THEN ForGms(s, e)
       ELSE IF stays THEN Ending(GmsStep(s, [type |-> "Suspected", suspect |-> x]))
       ELSE IF askers # {} /\ Trusts(s, x) /\ told.id # id
       THEN Ending([state |-> [s EXCEPT !.early = SelectSeq(@, Other)],
                    effects |-> [i \in DOMAIN replies |-> Send(replies[i].sender, G!Answer(id, told))]])
       ELSE ForGms(s, e)

\* It may have asked x for leave before x had the view. Then x ignored that, as it ignores any stranger.
LeaveAgain(s, x) ==
    IF RepeatLeave /\ s.gms.leave_asked = x THEN <<Send(x, G!LeaveReq(s.gms.life))>> ELSE <<>>

\* The merged view arrives from the coordinator, or again from a member that takes over, or from a member that had it,
\* at the acting coordinator. A leading member accepts it from the merge leader alone, since it said what it has.
MergeViewReceived(s, e) ==
    LET x == e.sender
        merged == e.message.merged
        next == Own(s).id \in merged.follows /\ IsMember(s, x) /\ ~G!Leads(s.gms)
    IN IF RejectSuspectedSender /\ x \in s.gms.suspected THEN Ignored(s)
       ELSE IF merged.id = Own(s).id
       THEN Handled(s, <<Send(x, G!ViewAck(merged.id))>> \o LeaveAgain(s, x))
       ELSE IF next THEN ForMerging(s, e)
       ELSE IF MayCome(s, merged.id) THEN Ignored(s)
       ELSE Handled(s, <<Send(x, G!Answer(merged.id, Own(s)))>>)

-----------------------------------------------------------------------------
(* Events of GMS or of merging *)

QueryReceived(s, e) == QuestionReceived(s, e)
ProbeReceived(s, e) == QuestionReceived(s, e)
LeaveReqReceived(s, e) == ForGms(s, e)
JoinRequested(s, e) == ForGms(s, e)
LeaveRequested(s, e) == ForGms(s, e)
JoinReqReceived(s, e) == ForGms(s, e)
JoinRefusedReceived(s, e) == ForGms(s, e)
LeaveRspReceived(s, e) == ForGms(s, e)
Suspected(s, e) == ForGms(s, e)
NewViewReceived(s, e) == ForGms(s, e)
JoinRspReceived(s, e) == ForGms(s, e)
ViewAckReceived(s, e) == ForGms(s, e)
MergeRspReceived(s, e) == ForMerging(s, e)
InstallMergeViewReceived(s, e) == ForMerging(s, e)
MergeTimeout(s, e) == ForMerging(s, e)

-----------------------------------------------------------------------------
(* Step: total over the alphabet. (Who has left takes no part in merges.)     *)

\* Messages that no correct peer sends, of GMS or of merging.
OfMerging == {"MERGE_REQ", "MERGE_RSP", "INSTALL_MERGE_VIEW", "MERGE_VIEW", "CANCEL_MERGE"}
Refuses(s, e) ==
    /\ "message" \in DOMAIN e
    /\ IF e.message.type \in OfMerging THEN M!IsMalformed(s, e) ELSE G!IsMalformed(s, e)

\* Events that a member ignores once it has left.
OfMergingAlone == {"MergeViewReceived", "DiscoverTimeout", "MergeReqReceived", "CancelMergeReceived", "MergeRspReceived",
                   "InstallMergeViewReceived", "MergeTimeout"}

Step(s, e) ==
    IF Refuses(s, e) THEN RemoteError(s)
    ELSE IF s.gms.gone /\ e.type \in OfMergingAlone THEN Ignored(s)
    ELSE
    CASE e.type = "QueryReceived" -> QueryReceived(s, e)
      [] e.type = "ProbeReceived" -> ProbeReceived(s, e)
      [] e.type = "LeaveReqReceived" -> LeaveReqReceived(s, e)
      [] e.type = "AnswerReceived" -> AnswerReceived(s, e)
      [] e.type = "GroupStopped" -> GroupStopped(s, e)
      [] e.type = "DigestGiven" -> DigestGiven(s, e)
      [] e.type = "JoinRequested" -> JoinRequested(s, e)
      [] e.type = "LeaveRequested" -> LeaveRequested(s, e)
      [] e.type = "JoinReqReceived" -> JoinReqReceived(s, e)
      [] e.type = "JoinRefusedReceived" -> JoinRefusedReceived(s, e)
      [] e.type = "LeaveRspReceived" -> LeaveRspReceived(s, e)
      [] e.type = "Suspected" -> Suspected(s, e)
      [] e.type = "NewViewReceived" -> NewViewReceived(s, e)
      [] e.type = "JoinRspReceived" -> JoinRspReceived(s, e)
      [] e.type = "ViewAckReceived" -> ViewAckReceived(s, e)
      [] e.type = "MergeViewReceived" -> MergeViewReceived(s, e)
      [] e.type = "DiscoverTimeout" -> DiscoverTimeout(s, e)
      [] e.type = "MergeReqReceived" -> MergeReqReceived(s, e)
      [] e.type = "CancelMergeReceived" -> CancelMergeReceived(s, e)
      [] e.type = "MergeRspReceived" -> MergeRspReceived(s, e)
      [] e.type = "InstallMergeViewReceived" -> InstallMergeViewReceived(s, e)
      [] e.type = "MergeTimeout" -> MergeTimeout(s, e)
=============================================================================
