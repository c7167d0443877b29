--------------------------- MODULE MCMergeGmsCalls ----------------------------
(***************************************************************************)
(* Claims about what a member refuses, ignores and answers; and their      *)
(* defects. Only models of these claims use this module.                   *)
(***************************************************************************)
EXTENDS MCMergeGms

(* Events that no correct peer, layer or caller causes, and late events *)

Single(x, incarnation) ==
    G!Decision(ViewId(9, x), <<x>>, NoViewId, [y \in {x} |-> incarnation], {}, G!NoDigest)
LateMerged(m, x) ==
    M!Merged(ViewId(99, x), M!Sorted({m, x}), {ViewId(1, "Z")}, [y \in {m, x} |-> 0], [y \in {m, x} |-> Nothing])

From(x, message) == EventOf([sender |-> x, message |-> message])

Wrongs(m) ==
    LET s == local[m]
        x == M!FirstOf(Member \ {m})
        fails == InView(s) /\ s.holds = "digest" /\ Wishes(s)
        isIn == InView(s) /\ ~s.gms.gone
    IN {[type |-> "Suspected", suspect |-> m],
        From("Z", G!NewView(G!Founding("Z"))), From("Z", M!MergeView(s.merged)),
        From(x, M!CancelMerge(M!MergeId("Z", 0, 9))), From(x, G!JoinReq(-1))}
       \cup (IF isIn THEN {} ELSE {[type |-> "LeaveRequested"]})
       \cup (IF InView(s) THEN {[type |-> "JoinRequested", coordinator |-> x, life |-> life[m]]} ELSE {})
       \cup (IF fails
             THEN {[type |-> "DigestGiven", asker |-> Self, request |-> s.asked, digest |-> G!NoDigest]} ELSE {})

\* Questions that are asked a second time, and answers that no member has asked for, or that say nothing new.
Questions(s) == {s.early[i] : i \in DOMAIN s.early}
Asked(s) == {Own(s).id} \cup {word.message.view_id : word \in Questions(s)}
Answers(m) ==
    LET s == local[m] IN
    {From(word.sender, word.message) : word \in Questions(s)}
    \cup {From(x, G!Answer(id, Single(x, 0))) : x \in {"Z"} \cup s.gms.suspected, id \in Asked(s)}
    \cup {From(m, G!Answer(Own(s).id, Single("Z", 0)))}
    \cup {From(x, G!Answer(word.message.view_id, [Single(x, 0) EXCEPT !.id = word.message.view_id])) :
            x \in Member, word \in Questions(s)}

Lates(m) ==
    LET s == local[m]
        Known(x) == IF x \in DOMAIN Own(s).lives THEN Own(s).lives[x] ELSE 0
        Of(x) ==
            LET id == M!MergeId(x, 0, 9)
            IN {From(x, M!Reject(M!MergeId(m, 0, 9), M!NoDecision)), From(x, M!CancelMerge(id)),
                From(x, M!InstallMergeView(id, LateMerged(m, x))), From(x, G!ViewAck(ViewId(99, "Z"))),
                From(x, G!LeaveRsp(life[m] + 1)), From(x, G!JoinRefused(life[m] + 1))}
               \cup (IF x \in s.gms.suspected \/ s.gms.gone \/ (InView(s) /\ MayCome(s, ViewId(99, x)))
                     THEN {From(x, M!MergeView(LateMerged(m, x)))} ELSE {})
               \cup (IF ~InView(s) \/ s.gms.gone \/ x \in s.gms.suspected THEN {From(x, Probe(Own(s).id))} ELSE {})
               \cup (IF s.gms.gone \/ x \in s.gms.suspected THEN {From(x, G!Query(Own(s).id, {}))} ELSE {})
               \cup (IF s.gms.gone \/ Known(x) > 0
                     THEN {From(x, M!MergeReq(id, Single(x, IF Known(x) > 0 THEN Known(x) - 1 ELSE 0)))} ELSE {})
    IN UNION {Of(x) : x \in Member \ {m}}
       \cup {[type |-> "DigestGiven", asker |-> a, request |-> 99, digest |-> DeliveredBy(m)] : a \in {G!Self, Self}}
       \cup {[type |-> "MergeTimeout", number |-> s.merge.begun + 1]}
       \cup (IF Merging(m) THEN {} ELSE {[type |-> "MergeTimeout", number |-> s.merge.begun]})
       \cup (IF s.holds = "digest" THEN {}
             ELSE {[type |-> "DigestGiven", asker |-> Self, request |-> s.asked, digest |-> DeliveredBy(m)]})
       \cup (IF m \in stops.asked THEN {} ELSE {StoppedFor(G!Self)})
       \cup (IF InView(s) /\ ~s.gms.gone THEN {} ELSE {[type |-> "DiscoverTimeout", found |-> Member]})

\* In the place of Misuse: a member that has left may have such events, too. None changes anything: the budget says whether there
\* are any.
MisuseOfAll(m) ==
    /\ MaxMisuses > 0
    /\ m \in up \/ local[m].gms.gone
    /\ \E event \in Wrongs(m) \cup Lates(m) : Apply("Misuse", m, event, {})
    /\ UNCHANGED world

\* In the place of Discover: every member in a view looks for others, also while it waits or is in a merge; and discovery
\* may find members that do not coordinate, or no member.
DiscoverAnywhere(m) ==
    /\ m \in up /\ InView(local[m])
    /\ \E found \in {{}, Coordinators, up} :
        Apply("Discover", m, [type |-> "DiscoverTimeout", found |-> found], {})
    /\ \E new \in {IsWish(local'[m], "DiscoverTimeout") /\ ~IsWish(local[m], "DiscoverTimeout")} :
        IF new THEN spent.merges < MaxMerges /\ Spend("merges") ELSE UNCHANGED spent
    /\ UNCHANGED around

-----------------------------------------------------------------------------
(* Claims *)

\* An event that no correct peer, layer or caller causes is refused; an event that is late, or says nothing new, is
\* ignored;
MisuseIsRefusedStep ==
    act'.action = "Misuse" =>
        act'.outcome \in IF act'.event \in Lates(act'.member) THEN {"ignored"} ELSE {"local_error", "remote_error"}

\* no other event is refused;
NoEventRefusedStep == act'.outcome \in {"local_error", "remote_error"} => act'.action = "Misuse"

\* and an event that is handled changes the state, or has effects.
HandledDoesSomethingStep ==
    act'.outcome = "handled" => local'[act'.member] # local[act'.member] \/ act'.effects # <<>>

\* MRG-01: a member looks for others from its first view on, and each look is followed by another; it is put off when a
\* look that waited begins a merge.
DiscoveryGoesOnStep ==
    act'.outcome = "handled" =>
        LET old == local[act'.member] IN
        M!DiscoverAgain \in {act'.effects[i] : i \in DOMAIN act'.effects}
            <=> \/ act'.event.type = "DiscoverTimeout"
                \/ ~InView(old) /\ InView(local'[act'.member])
                \/ act'.event.type = "DigestGiven" /\ act'.event.asker = Self /\ IsWish(old, "DiscoverTimeout")

\* A request to merge is rejected, or waits for the group.
RequestWaitsOrIsRejectedStep ==
    (act'.event.type = "MergeReqReceived" /\ act'.outcome = "handled") =>
        LET e == act'.event
            waits == [type |-> e.type, sender |-> e.sender, message |-> e.message]
            rejected == {i \in DOMAIN act'.effects :
                            act'.effects[i].type = "Send" /\ act'.effects[i].to = e.sender
                            /\ act'.effects[i].message.type = "MERGE_RSP"}
        IN IF local'[act'.member].wish = waits THEN rejected = {}
           ELSE \E i \in rejected :
                    act'.effects[i].message.rejected /\ act'.effects[i].message.merge_id = e.message.merge_id

\* A request that waits is given up by its leader, or by a view that knows a later incarnation of that; or it is
\* answered.
WaitingRequestIsAnsweredStep ==
    LET m == act'.member IN
    act'.outcome = "handled" =>
        LET old == local[m].wish IN
        (IsWish(local[m], "MergeReqReceived") /\ local'[m].wish # old) =>
            \/ act'.event.type = "DigestGiven" /\ act'.event.asker = Self
            \/ act'.event.type = "CancelMergeReceived" /\ act'.event.message.merge_id = old.message.merge_id
            \/ IsOfTheDead(local'[m], old.sender, old.message.decision)

\* A member that is asked for a view by a member that it does not suspect says what it has, or keeps the question.
QuestionIsAnsweredOrKeptStep ==
    act'.action \in {"ReceiveProbe", "ReceiveQuery"} =>
        LET old == local[act'.member]
            word == [sender |-> act'.event.sender, message |-> act'.event.message]
            early == local'[act'.member].early
        IN \/ ~InView(old) \/ word.sender \in old.gms.suspected
           \/ \E i \in DOMAIN early : early[i] = word
           \/ \E i \in DOMAIN act'.effects :
                act'.effects[i].type = "Send" /\ act'.effects[i].to = word.sender
                /\ act'.effects[i].message.type \in {"ANSWER", "MERGE_VIEW"}

\* A question that is kept, and an answer that says nothing new, change nothing.
AnswersAreIgnored == \A m \in up : \A event \in Answers(m) : Step(local[m], event) = Ignored(local[m])

\* A suspicion is passed up: FLUSH refuses the members that GMS refuses.
SuspicionIsSaid ==
    \A m \in up : \A x \in ViewMembers(m) \ ({m} \cup Suspects(m)) :
        \E event \in {[type |-> "Suspected", suspect |-> x]} :
            event \in Up(Step(local[m], event).effects, "Suspected")

\* A request to join outlives a merged view at the first member of that, unless the view has the joiner.
JoinRequestStaysStep ==
    LET m == act'.member
        Asking(s) == {r.member : r \in Joins(s.gms)}
    IN (Up(act'.effects, "MergeViewInstalled") # {} /\ Head(Own(local'[m]).members) = m) =>
        Asking(local[m]) \subseteq Asking(local'[m]) \cup MembersOf(Own(local'[m]))

\* A step does not resume the group and ask for it again.
ResumesForLongStep == Up(act'.effects, "Resume") # {} => Up(act'.effects, "Suspend") = {}

\* What another layer asked for is passed on, and changes nothing.
OthersAnswersArePassedOn ==
    \A m \in up :
        LET stopped == StoppedFor("STATE")
            given == [type |-> "DigestGiven", asker |-> "STATE", request |-> 1, digest |-> DeliveredBy(m)]
        IN /\ Step(local[m], stopped) = Handled(local[m], <<PassDown(stopped)>>)
           /\ Step(local[m], given) = Handled(local[m], <<G!PassOn(given)>>)

\* A member that is asked for its view sends it; and its own where it is asked for a view that it will not have. A member of no
\* view of its own asks by QUERY, too, and is told the view in words of GMS.
ProbeIsAnswered ==
    \A m \in {m \in up : InView(local[m])} : \A x \in Member \ ({m} \cup Suspects(m)) :
        LET s == local[m]
            own == Own(s)
            has == IF InMerged(s) THEN M!MergeView(s.merged) ELSE G!Answer(own.id, own)
            IsTold(question, said) == Step(s, From(x, question)) = Handled(s, <<Send(x, said)>>)
        IN /\ IsTold(Probe(own.id), has)
           /\ IsTold(Probe(ViewId(0, "Z")), G!Answer(ViewId(0, "Z"), own))
           /\ IsMember(s, x) \/ IsTold(G!Query(own.id, {}), G!Answer(own.id, own))

\* A merged view comes to a coordinator from its leader, and to the others from a member of their view.
MergedViewIsOfMember ==
    \A m \in up : \A x \in Member \ {m} :
        LET s == local[m]
            members == ViewMembers(m) \cup {x}
            next == M!Merged(ViewId(99, x), M!Sorted(members), {Own(s).id}, [y \in members |-> LifeFor(m, y)],
                             [y \in members |-> Nothing])
        IN (InView(s) /\ (G!Leads(s.gms) \/ ~IsMember(s, x))) => Step(s, From(x, M!MergeView(next))).state = s

\* A request that waits stays when another leader asks.
OtherRequestWaitsNot ==
    \A m \in up : \A x \in Member \ {m} :
        LET s == local[m] IN
        (IsWish(s, "MergeReqReceived") /\ x # s.wish.sender) =>
            Step(s, From(x, M!MergeReq(M!MergeId(x, 0, 9), Single(x, 0)))).state.wish = s.wish

MisuseIsRefused == [][MisuseIsRefusedStep]_vars
JoinRequestStays == [][JoinRequestStaysStep]_vars
ResumesForLong == [][ResumesForLongStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars
HandledDoesSomething == [][HandledDoesSomethingStep]_vars
DiscoveryGoesOn == [][DiscoveryGoesOnStep]_vars
RequestWaitsOrIsRejected == [][RequestWaitsOrIsRejectedStep]_vars
WaitingRequestIsAnswered == [][WaitingRequestIsAnsweredStep]_vars
QuestionIsAnsweredOrKept == [][QuestionIsAnsweredOrKeptStep]_vars

-----------------------------------------------------------------------------
(* Defects *)

\* In the place of Ignored: a late event counts as handled.
HandledLate(s) == Handled(s, <<>>)

\* In the place of Keep: no early question is kept.
KeepsNone(s, x, message) == s

\* In the place of Keep: a question that is kept is kept once more.
KeepsTwice(s, x, message) == [s EXCEPT !.early = Append(@, [sender |-> x, message |-> message])]

\* In the place of Reply: a merged view is sent as if GMS had made it.
AnswersAlways(s, x, message) == Send(x, G!Answer(message.view_id, Own(s)))

\* In the place of MergeViewReceived: a merged view is taken from any member, at a coordinator, too.
TakesFromAny(s, e) ==
    IF Own(s).id \in e.message.merged.follows THEN ForMerging(s, e)
    ELSE IF e.message.merged.id = Own(s).id THEN Handled(s, <<Send(e.sender, G!ViewAck(Own(s).id))>>)
    ELSE Ignored(s)

\* In the place of MergeReqReceived: of two requests the last one waits.
TakesLastRequest(s, e) ==
    LET wish == [type |-> "MergeReqReceived", sender |-> e.sender, message |-> e.message]
        Taken(r) == IF Begins(s, r) THEN Ending(Unchanged([s EXCEPT !.wish = wish])) ELSE Ending(AfterMerging(s, r))
    IN IF IsOfTheDead(s, e.sender, e.message.decision) THEN Ignored(s)
       ELSE With(M!Step(s.merge, [type |-> "MergeReqReceived", sender |-> e.sender, message |-> e.message,
                                  digest |-> Unknown(s)]), Taken)

\* In the place of TakeView: no request outlives the merged view.
ForgetsRequests(s, decided) ==
    [state |-> [s EXCEPT !.gms = G!Enter(@, decided), !.holds = "no", !.probed = {}], effects |-> SayBelow(decided)]

\* In the place of FromGms: a suspicion is not passed up while merging has the group; or GMS resumes the group that merging
\* wants next.
SaysLess(s, effects) ==
    LET IsHeard(effect) ==
            /\ ~(Passes(effect, "PassUp", "Suspend") /\ s.holds # "no")
            /\ ~(Passes(effect, "PassUp", "Resume") /\ Wishes(s))
            /\ ~(Passes(effect, "PassUp", "Suspected") /\ s.holds # "no")
        heard == SelectSeq(effects, IsHeard)
    IN [i \in DOMAIN heard |-> IF heard[i].type = "Send" THEN Worded(s, heard[i]) ELSE heard[i]]
ResumesFirst(s, effects) ==
    LET IsHeard(effect) == ~(Passes(effect, "PassUp", "Suspend") /\ s.holds # "no")
        heard == SelectSeq(effects, IsHeard)
    IN [i \in DOMAIN heard |-> IF heard[i].type = "Send" THEN Worded(s, heard[i]) ELSE heard[i]]

\* In the place of DiscoverTimeout: a member that looks sets no timer for its next look.
LooksNoMore(s, e) == IF Joined(s) THEN Handled(s, <<CancelTimer("discover")>>) ELSE Ignored(s)

\* In the place of MergeReqReceived: a request is counted, and neither waits nor is answered.
RequestIsLost(s, e) == Handled([s EXCEPT !.asked = @ + 1], <<>>)

\* In the place of DiscoverTimeout: a look drops a request that waits.
LookDropsRequest(s, e) ==
    LET wish == [type |-> "DiscoverTimeout", found |-> e.found]
        Taken(r) ==
            IF r.outcome # "handled" THEN [outcome |-> r.outcome, state |-> s, effects |-> <<>>]
            ELSE IF Begins(s, r) THEN Ending([state |-> [s EXCEPT !.wish = wish], effects |-> <<M!DiscoverAgain>>])
            ELSE Dropped(s, <<M!DiscoverAgain>>)
    IN With(M!Step(s.merge, [type |-> "DiscoverTimeout", found |-> e.found, digest |-> Unknown(s)]), Taken)
=============================================================================
