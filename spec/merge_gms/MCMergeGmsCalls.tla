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
    LET s == local[m]
        others == ViewMembers(m) \ ({m} \cup s.gms.awaits)
    IN
    {From(word.sender, word.message) : word \in Questions(s)}
    \cup {From(x, G!Answer(id, Single(x, 0))) : x \in {"Z"} \cup s.gms.suspected, id \in Asked(s)}
    \cup {From(m, G!Answer(Own(s).id, Single("Z", 0)))}
    \cup {From(x, G!Answer(Own(s).id, G!NoDecision)) : x \in others}
    \cup {From(x, G!Answer(id, Single("Z", 0))) :
            x \in others, id \in {ViewId(0, "Z")} \cup (IF InMerged(s) THEN {} ELSE {Own(s).id})}
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

\* A member that has left passes no answer on.
LeftIgnoresAnswers ==
    \A m \in up : \A x \in ViewMembers(m) \ {m} :
        \E left \in {Step(local[m], From(x, G!LeaveRsp(local[m].gms.life))).state} :
            \A word \in Questions(left) :
                Step(left, From(x, G!Answer(word.message.view_id, Single(x, 0)))) = Ignored(left)

\* A member that leaves a merged view asks again when the member that it has asked sends the view.
LeaveIsAskedAgain ==
    \A m \in {m \in up : InView(local[m]) /\ InMerged(local[m])} :
        \E s \in {Step(local[m], [type |-> "LeaveRequested"]).state} :
            (s.gms.leave_asked # "" /\ ~s.gms.gone) =>
                Send(s.gms.leave_asked, G!LeaveReq(s.gms.life)) \in
                    LET effects == Step(s, From(s.gms.leave_asked, M!MergeView(s.merged))).effects
                    IN {effects[i] : i \in DOMAIN effects}

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

\* The answer to another layer is passed on, and changes nothing.
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

\* The sender of a merged view that a member will never install is told which view that has.
VainViewIsAnswered ==
    \A m \in {m \in up : InView(local[m])} : \A x \in Member \ ({m} \cup Suspects(m)) :
        LET s == local[m]
            merged == LateMerged(m, x)
        IN MayCome(s, merged.id) \/ Step(s, From(x, M!MergeView(merged))) = Handled(s, <<Send(x, G!Answer(merged.id, Own(s)))>>)

\* A request that waits stays when another leader asks. The next one of its leader takes its place, and its leader ends it.
OtherRequestWaitsNot ==
    \A m \in {m \in up : IsWish(local[m], "MergeReqReceived")} :
        LET s == local[m]
            word == s.wish.message
            next == M!MergeReq([word.merge_id EXCEPT !.number = @ + 1], word.decision)
        IN /\ \A x \in Member \ {m, s.wish.sender} :
                Step(s, From(x, M!MergeReq(M!MergeId(x, 0, 9), Single(x, 0)))).state.wish = s.wish
           /\ Step(s, From(s.wish.sender, next)).state.wish.message = next
           /\ Step(s, From(s.wish.sender, M!CancelMerge(word.merge_id))).state.wish = NoPendingMerge

\* A member waits for the group to lead a merge only if it would lead one.
WishesToLead ==
    \A m \in {m \in up : IsWish(local[m], "DiscoverTimeout")} :
        \E others \in {local[m].wish.found \ {m}} :
            others # {} /\ M!FirstOf(others \cup {m}) = m /\ Coordinates(local[m])

\* If both wait for the group, GMS has it first.
GmsGoesFirst ==
    \A m \in up :
        (local[m].holds = "stopping" /\ local[m].gms.phase = "stopping") =>
            Step(local[m], StoppedFor(G!Self)).state.holds # "digest"

\* A member that answers the QUERY of a junior of others refuses these.
QueryRefusesSeniors ==
    \A m \in {m \in up : InView(local[m])} : \A x \in ViewMembers(m) \ ({m} \cup Suspects(m)) :
        \E seniors \in {G!Before(Own(local[m]), x)} :
            m \notin seniors =>
                seniors \subseteq Step(local[m], From(x, G!Query(Own(local[m]).id, seniors))).state.gms.suspected

\* ... also if the QUERY came before the merged view.
KeptQueryRefuses ==
    \A p \in {p \in network : p.message.type = "INSTALL_MERGE_VIEW" /\ p.to \in up} :
        LET merged == p.message.merged
            s == local[p.to]
        IN \A x \in MembersOf(merged) \ ({p.sender} \cup ViewMembers(p.to)) :
            \E seniors \in {G!Before(merged, x)} :
            \E asked \in {Step(s, From(x, G!Query(merged.id, seniors))).state} :
            \E there \in {Step(asked, EventOf(p)).state} :
                (p.to \notin seniors /\ asked # s /\ Own(there).id = merged.id) => seniors \subseteq there.gms.suspected

\* A member in no view answers a QUERY: it has none.
NoViewIsAnswered ==
    \A m \in {m \in up : ~InView(local[m])} : \A x \in Member \ {m} :
        \E id \in {ViewId(9, x)} :
            Step(local[m], From(x, G!Query(id, {}))).effects = <<Send(x, G!Answer(id, G!NoDecision))>>

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

\* In the place of ForGms: a digest for another layer is dropped.
PassesNoDigest(s, e) ==
    LET Taken(g) == IF g.outcome = "handled" THEN Ending(AfterGms(s, g))
                    ELSE [outcome |-> g.outcome, state |-> s, effects |-> <<>>]
    IN IF e.type = "DigestGiven" /\ e.asker # G!Self THEN Ignored(s) ELSE With(G!Step(s.gms, e), Taken)

\* In the place of Reply: a merged view is sent as if GMS had made it.
AnswersAlways(s, x, message) == Send(x, G!Answer(message.view_id, Own(s)))

\* ... or the answer names its own view, and not the one that was asked for,
AnswersOwnId(s, x, message) ==
    IF message.type = "PROBE" /\ message.view_id = Own(s).id /\ InMerged(s)
    THEN Send(x, M!MergeView(s.merged))
    ELSE Worded(s, Send(x, G!Answer(Own(s).id, Own(s))))

\* ... or a QUERY is answered as a PROBE is.
AnswersQueryByView(s, x, message) ==
    IF message.view_id = Own(s).id /\ InMerged(s) THEN Send(x, M!MergeView(s.merged))
    ELSE Worded(s, Send(x, G!Answer(message.view_id, Own(s))))

\* In the place of MergeViewReceived: a merged view is taken from any member, at a coordinator, too.
TakesFromAny(s, e) ==
    IF Own(s).id \in e.message.merged.follows THEN ForMerging(s, e)
    ELSE IF e.message.merged.id = Own(s).id THEN Handled(s, <<Send(e.sender, G!ViewAck(Own(s).id))>>)
    ELSE Ignored(s)

\* ... or its sender is not told that the view will not be installed.
VainViewIsIgnored(s, e) ==
    LET merged == e.message.merged IN
    IF merged.id = Own(s).id THEN Handled(s, <<Send(e.sender, G!ViewAck(merged.id))>> \o LeaveAgain(s, e.sender))
    ELSE IF Own(s).id \in merged.follows /\ IsMember(s, e.sender) /\ ~G!Leads(s.gms) THEN ForMerging(s, e)
    ELSE Ignored(s)

\* In the place of MergeReqReceived: of two requests the last one waits.
TakesLastRequest(s, e) ==
    LET wish == [type |-> "MergeReqReceived", sender |-> e.sender, message |-> e.message]
        Taken(r) == IF Begins(s, r) THEN Ending(Unchanged([s EXCEPT !.wish = wish])) ELSE Ending(AfterMerging(s, r))
    IN IF IsOfTheDead(s, e.sender, e.message.decision) THEN Ignored(s)
       ELSE With(M!Step(s.merge, [type |-> "MergeReqReceived", sender |-> e.sender, message |-> e.message,
                                  digest |-> Unknown(s)]), Taken)

\* ... or the first request stays, though its leader asks again.
KeepsFirstRequest(s, e) ==
    LET wish == [type |-> "MergeReqReceived", sender |-> e.sender, message |-> e.message]
        Taken(r) ==
            IF r.outcome # "handled" THEN [outcome |-> r.outcome, state |-> s, effects |-> <<>>]
            ELSE IF ~Begins(s, r) THEN Ending(AfterMerging(s, r))
            ELSE IF IsWish(s, "MergeReqReceived")
            THEN Handled(s, <<Send(e.sender, M!Reject(e.message.merge_id, M!NoDecision))>>)
            ELSE Ending(Unchanged([s EXCEPT !.wish = wish]))
    IN IF IsOfTheDead(s, e.sender, e.message.decision) THEN Ignored(s)
       ELSE With(M!Step(s.merge, [type |-> "MergeReqReceived", sender |-> e.sender, message |-> e.message,
                                  digest |-> Unknown(s)]), Taken)

\* In the place of TakeView: no request outlives the merged view.
ForgetsRequests(s, decided) ==
    [state |-> [s EXCEPT !.gms = G!Enter(@, decided), !.holds = "no", !.probed = {}], effects |-> SayBelow(decided)]

\* In the place of Heard, or of QuestionReceived: a QUERY is answered, and nothing else comes of it.
AnswersAlone(s, x, message) == [state |-> s, effects |-> <<Reply(s, x, message)>>]
QueryAnsweredAlone(s, e) ==
    IF ~Joined(s) THEN ForGms(s, e) ELSE IF e.sender \in s.gms.suspected THEN Ignored(s)
    ELSE IF IsEarly(s, e.sender, e.message) THEN
        IF Keep(s, e.sender, e.message) = s THEN Ignored(s) ELSE Ending(Unchanged(Keep(s, e.sender, e.message)))
    ELSE Handled(s, <<Reply(s, e.sender, e.message)>>)

\* In the place of QueryReceived: a member in no view answers no QUERY.
JoinersAnswerNot(s, e) == IF Joined(s) THEN QuestionReceived(s, e) ELSE Ignored(s)

\* In the place of GroupStopped: merging has the group before GMS.
MergingGoesFirst(s, e) ==
    IF e.asker # G!Self \/ s.holds = "no" THEN ForGms(s, e)
    ELSE IF s.holds # "stopping" THEN Ignored(s)
    ELSE Ending(IF Wishes(s) THEN AskForDigest(s) ELSE EndUseOfGroup(s))

\* In the place of Begins: whoever looks for others waits for the group.
BeginsAlways(s, r) == ~M!Merging(s.merge)

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
