----------------------------- MODULE MCMergeCalls -----------------------------
(***************************************************************************)
(* Claims about what a member refuses, ignores and answers, and about when *)
(* it looks for others; and their defects. Only models of these claims use *)
(* this module.                                                            *)
(***************************************************************************)
EXTENDS MCMerge

(* Events that no correct peer or caller causes, besides those of MergeGroup *)

\* A decision that is sound, of a member by itself; and decisions that are not, each in one respect.
Single(m) == Decision(ViewId(9, m), <<m>>, NoViewId, [x \in {m} |-> 0], {}, NoDigest)
Unsound(m) ==
    LET d == Single(m)
    IN {[d EXCEPT !.members = <<m, m>>], [d EXCEPT !.lives = NoLives], [d EXCEPT !.lives[m] = -1],
        [d EXCEPT !.follows = ViewId(9, "Z")], [d EXCEPT !.joiners = {"Z"}]}

\* The same of a merged view of two members, which follows a view of neither of them.
MergedOf(m, x) ==
    LET members == Sorted({m, x})
    IN Merged(ViewId(9, x), members, {ViewId(1, "Z")}, [y \in {m, x} |-> 0], [y \in {m, x} |-> Nothing])
UnsoundMerged(m, x) ==
    LET v == MergedOf(m, x)
    IN {[v EXCEPT !.members = @ \o <<m>>], [v EXCEPT !.lives = NoLives], [v EXCEPT !.lives[m] = -1],
        [v EXCEPT !.follows = {ViewId(9, "Z")}], [v EXCEPT !.digest = NoDigest]}

MoreWrongs(m) ==
    LET s == local[m]
        outsiders == [z \in {"Z"} |-> Nothing]
        Digest(d) == [y \in MembersOf(d) |-> Nothing]
        From(x, message) ==
            IF message.type = "MERGE_REQ"
            THEN [type |-> "MergeReqReceived", sender |-> x, message |-> message, digest |-> DeliveredBy(m)]
            ELSE [type |-> CASE message.type = "MERGE_RSP" -> "MergeRspReceived"
                             [] message.type = "INSTALL_MERGE_VIEW" -> "InstallMergeViewReceived"
                             [] message.type = "MERGE_VIEW" -> "MergeViewReceived"
                             [] message.type = "CANCEL_MERGE" -> "CancelMergeReceived",
                  sender |-> x, message |-> message]
        Of(x) ==
            LET id == MergeId(x, 0, 9)
                alien == MergeId("Z", 0, 9)
                Messages ==
                    {MergeReq(alien, Single(x)), MergeReq(id, Single("Z")),
                     Accept(s.merge, Single("Z"), outsiders), Accept(s.merge, Single(x), NoDigest),
                     Reject(s.merge, [Single(x) EXCEPT !.members = <<>>]),
                     InstallMergeView(alien, MergedOf(m, x)), InstallMergeView(id, MergedOf("Z", x)),
                     MergeView(MergedOf("Z", x)), MergeView(MergedOf(m, "Z")), CancelMerge(alien)}
                    \cup UNION {{MergeReq(id, d), Accept(s.merge, d, Digest(d)), Reject(s.merge, d)} : d \in Unsound(x)}
                    \cup UNION {{InstallMergeView(id, v), MergeView(v)} : v \in UnsoundMerged(m, x)}
            IN {From(x, message) : message \in Messages}
               \cup {[type |-> "MergeReqReceived", sender |-> x, message |-> MergeReq(id, Single(x)),
                      digest |-> outsiders]}
        own == {From(m, message) : message \in {MergeReq(MergeId(m, 0, 9), Single(m)), Reject(s.merge, NoDecision),
                                                CancelMerge(MergeId(m, 0, 9))}}
    IN Of(FirstOf(Member \ {m})) \cup own
       \cup {[type |-> "DecisionInstalled", decision |-> Single("Z")]}
       \cup (IF InView(s) THEN {[type |-> "DiscoverTimeout", found |-> {}, digest |-> outsiders]} ELSE {})

\* Events that are late, or say nothing new.
Lates(m) ==
    LET s == local[m]
        Of(x) ==
            LET id == MergeId(x, 0, 9)
            IN {[type |-> "MergeRspReceived", sender |-> x, message |-> Reject(MergeId(m, 0, 9), NoDecision)],
                [type |-> "InstallMergeViewReceived", sender |-> x,
                 message |-> InstallMergeView(id, [MergedOf(m, x) EXCEPT !.follows = {s.decision.id}])],
                [type |-> "CancelMergeReceived", sender |-> x, message |-> CancelMerge(id)]}
               \cup (IF x \in s.awaiting THEN {}
                     ELSE {[type |-> "MergeRspReceived", sender |-> x, message |-> Reject(s.merge, NoDecision)]})
               \cup (IF s.merge.leader # x THEN {}
                     ELSE {[type |-> "InstallMergeViewReceived", sender |-> x,
                            message |-> InstallMergeView(s.merge, MergedOf(m, x))]})
               \cup (IF ~InView(s) THEN {}
                     ELSE {[type |-> "MergeViewReceived", sender |-> x,
                            message |-> MergeView([MergedOf(m, x) EXCEPT !.id.counter = s.decision.id.counter,
                                                                         !.follows = {ViewId(0, "Z")}])]})
               \cup {[type |-> "MergeViewReceived", sender |-> x, message |-> MergeView(v)] :
                        v \in {s.early[i] : i \in {i \in DOMAIN s.early :
                                    x \in MembersOf(s.early[i]) /\ ~FollowsOwn(s, s.early[i])}}}
    IN UNION {Of(x) : x \in Member \ {m}}
       \cup {TimeoutEvent(s.begun + 1)} \cup (IF Merging(s) THEN {} ELSE {TimeoutEvent(s.begun)})
       \cup (IF Waits(s) THEN {} ELSE {[type |-> "EarlyTimeout"]})
       \cup (IF InView(s) THEN {DecisionEvent(s.decision)} ELSE {DiscoverEvent(m, {})})

Wrongs(m) == MoreWrongs(m) \cup Forged(m)

\* In the place of Misuse.
MisuseOfAll(m) ==
    /\ spent.misuses < MaxMisuses /\ m \in up
    /\ \E event \in Wrongs(m) \cup Lates(m) : Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED around

\* In the place of Misuse: an early view comes again.
EarlyAgain(m) ==
    /\ spent.misuses < MaxMisuses /\ m \in up
    /\ \E event \in {event \in Lates(m) : event.type = "MergeViewReceived" /\ event.message.merged \in
                        {local[m].early[i] : i \in DOMAIN local[m].early}} :
        Apply("Misuse", m, event, {})
    /\ Spend("misuses")
    /\ UNCHANGED around

\* In the place of Discover: every member in a view looks for others, also while it is in a merge; and discovery may
\* find members that do not coordinate any more.
MayBeFound == up
DiscoverAnywhere(m) ==
    /\ m \in up /\ InView(local[m])
    /\ \E found \in SUBSET MayBeFound :
        /\ Apply("Discover", m, DiscoverEvent(m, found), {})
        /\ local' # local => spent.merges < MaxMerges
        /\ spent' = IF local' = local THEN spent ELSE [spent EXCEPT !.merges = @ + 1]
    /\ UNCHANGED around

\* In the place of MustTimeOut: the same, and what a member in no merge has a timer for ends by itself.
MustEnd(m) ==
    LET id == local[m].merge IN
    /\ ~\E p \in network : p.to \in Member /\ p.message.type # "MERGE_VIEW" /\ p.message.merge_id = id
    /\ IF id.leader \in up \ {m} THEN local[id.leader].merge # id ELSE TRUE

\* In the place of FirstDecision: A has left out three members, and C a fourth, which is a later incarnation of one of
\* them.
KnowsOthers(m) ==
    LET known == CASE m = "A" -> {"A", "bee", "bee#x", "beed1"} [] m = "C" -> {"C", "bee#2"} [] OTHER -> {}
    IN IF known = {} THEN NoDecision ELSE [Single(m) EXCEPT !.id.counter = 1, !.lives = [x \in known |-> 0]]

\* In the place of FirstDecision: C knows of B that it has begun again, and A does not.
KnowsNext(m) ==
    IF StartView[m] = 0 THEN NoDecision
    ELSE LET v == First[StartView[m]]
         IN Decision(v.id, v.members, NoViewId,
                     IF m = "C" THEN [x \in {"B", "C"} |-> IF x = "B" THEN 1 ELSE 0] ELSE v.lives, {}, NoDigest)

\* One whose view was decided by a member that has left, and a subgroup of two.
LeftAndTwo == <<FirstView(1, "B", <<"A">>), FirstView(1, "C", <<"C", "D">>)>>

\* Three, of which the views of the last two overlap: each lists D; or E has left C out, which does not know.
SharedMember == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C", "D">>), FirstView(1, "E", <<"E", "D">>)>>
LeftBehind == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C", "E">>), After(2, "E", <<"E">>, {2})>>

\* One member, and a subgroup of two, with names of which one begins another.
Named == <<FirstView(1, "a", <<"a">>), FirstView(1, "ab", <<"ab", "b">>)>>

-----------------------------------------------------------------------------
(* Claims *)

\* An event that no correct peer or caller causes is refused; an event that is late, or says nothing new, is ignored;
MisuseIsRefusedStep ==
    act'.action = "Misuse" =>
        act'.outcome \in IF act'.event \in Lates(act'.member) THEN {"ignored"} ELSE {"local_error", "remote_error"}

\* no other event is refused;
NoEventRefusedStep == act'.outcome \in {"local_error", "remote_error"} => act'.action = "Misuse"

\* and an event that is handled changes the state, or has effects.
HandledDoesSomethingStep ==
    act'.outcome = "handled" => local'[act'.member] # local[act'.member] \/ act'.effects # <<>>

\* MRG-01: a member looks for others from its first view on, and each look is followed by another.
DiscoveryGoesOnStep ==
    act'.outcome = "handled" =>
        (DiscoverAgain \in {act'.effects[i] : i \in DOMAIN act'.effects}
            <=> act'.event.type = "DiscoverTimeout" \/ (~InView(local[act'.member]) /\ InView(local'[act'.member])))

\* MRG-02, MRG-11: a coordinator that is in no merge begins one where it has found others, and is the first of them.
BeginsWhereItLeadsStep ==
    (act'.event.type = "DiscoverTimeout" /\ act'.outcome = "handled") =>
        LET m == act'.member
            all == act'.event.found \cup {m}
        IN local'[m] # local[m] <=> Coordinates(local[m]) /\ ~Merging(local[m]) /\ all # {m} /\ FirstOf(all) = m

\* MRG-10, MRG-23, MRG-26: a request has one answer. It accepts where the member coordinates, is in no merge, and its
\* view and the other can be merged.
AnswersEachRequestStep ==
    (act'.event.type = "MergeReqReceived" /\ act'.outcome = "handled") =>
        LET s == local[act'.member]
            asked == act'.event.message
            accepts == Coordinates(s) /\ ~Merging(s) /\ MayMerge(s.decision, asked.decision)
        IN {<<act'.effects[i].to, act'.effects[i].message.merge_id, act'.effects[i].message.rejected>> :
                i \in {i \in DOMAIN act'.effects : act'.effects[i].type = "Send"}}
            = {<<act'.event.sender, asked.merge_id, ~accepts>>}

\* A coordinator reports members of its view that follow another coordinator which was in its view, and members that
\* are over.
ReportsWhoLeftStep ==
    act'.outcome = "handled" =>
        LET s == local[act'.member]
            type == act'.event.type
            told == IF type = "MergeRspReceived" \/ (type = "MergeReqReceived" /\ Coordinates(s) /\ ~Merging(s))
                    THEN {act'.event.message.decision} ELSE {}
            Left(other) == IF act'.event.sender \in MembersOf(s.decision) THEN Common(s.decision, other) ELSE {}
        IN {e.suspect : e \in Down(act'.effects, "Suspected")}
            = UNION {Left(other) \cup Former(s.decision, other) : other \in told}

\* MRG-15: a leader that is in a merge awaits an answer; and an answer ends the merge where it is the last.
LeaderAwaitsAnswers == \A m \in up : (Merging(local[m]) /\ Leads(local[m])) => local[m].awaiting # {}
LastAnswerEndsMergeStep ==
    (act'.event.type = "MergeRspReceived" /\ act'.outcome = "handled") =>
        Merging(local'[act'.member]) \/ local[act'.member].awaiting = {act'.event.sender}

\* AMB-39: a message of its own merge ends the merge of a coordinator that was asked.
LeaderEndsMergeStep ==
    act'.action \in {"ReceiveInstallMergeView", "ReceiveCancelMerge"} =>
        (local[act'.member].merge = act'.event.message.merge_id => ~Merging(local'[act'.member]))

\* The decisions that a leader has when it decides: of the coordinators that have accepted, itself among them.
Heard ==
    LET s == local[act'.member]
        last == IF act'.event.type = "MergeRspReceived" THEN {act'.event.message} ELSE {}
    IN {s.responses[c].decision : c \in DOMAIN s.responses} \cup {rsp.decision : rsp \in {rsp \in last : ~rsp.rejected}}

\* The merged view knows the incarnations that the merged views know, but for a member that is over.
LatestLivesKnownStep ==
    \A e \in Passed(act'.effects, "PassUp", "MergeViewInstalled") :
        LET d == local'[act'.member].decision
            known == UNION {DOMAIN other.lives : other \in {other \in Heard : other.id \in e.subgroups}}
            over == {x \in known : \E y \in known : IsFormer(x, y)} \ MembersOf(d)
        IN Leads(local[act'.member]) => DOMAIN d.lives = known \ over

\* MRG-16: a leader merges all views that it has heard of, but for a view that cannot be merged with another, or that
\* lists another coordinator.
MergesAllItCanStep ==
    (/\ act'.event.type \in {"MergeRspReceived", "MergeTimeout"}
     /\ Leads(local[act'.member]) /\ ~Merging(local'[act'.member])) =>
        LET own == local[act'.member].decision
            merged == UNION {e.subgroups : e \in Passed(act'.effects, "PassUp", "MergeViewInstalled")}
            Lists(d) == \E other \in Heard \ {d} : CoordinatorOf(other) \in MembersOf(d)
        IN /\ \A d \in Heard \ {own} :
                d.id \in merged \/ Lists(d) \/ \E other \in Heard \ {d} : ~MayMerge(d, other)
           /\ \A d \in Heard \ {own} : d.id \in merged => ~Lists(d)
           /\ Cardinality(merged) # 1
           /\ \A d, other \in Heard : ({d.id, other.id} \subseteq merged /\ d # other) => Common(d, other) = {}

\* A timer runs in a merge alone.
TimerIsOfMerge == \A m \in up : Merging(local[m]) \/ timers[m] = {}

\* AMB-48: a merge that begins has the view held, and one that ends has it released.
HoldsViewForMergeStep ==
    act'.outcome # "none" =>
        LET before == Merging(local[act'.member])
            after == Merging(local'[act'.member])
        IN <<Asks(act'.effects, "SuspendViews"), Asks(act'.effects, "ResumeViews")>>
            = <<~before /\ after, before /\ ~after>>

\* FLAW-107: where an early merged view follows the view installed, it is installed next.
EarlyIsNextStep ==
    act'.outcome = "handled" =>
        LET old == local[act'.member]
            new == local'[act'.member]
        IN SetTimer("early", 0, 0) \in {act'.effects[i] : i \in DOMAIN act'.effects}
            <=> Waits(new) /\ (new.decision # old.decision \/ ~Waits(old))

\* The timer that is set for it installs it.
EarlyIsInstalledStep == act'.action = "InstallEarly" => local'[act'.member].decision # local[act'.member].decision

MisuseIsRefused == [][MisuseIsRefusedStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars
HandledDoesSomething == [][HandledDoesSomethingStep]_vars
DiscoveryGoesOn == [][DiscoveryGoesOnStep]_vars
BeginsWhereItLeads == [][BeginsWhereItLeadsStep]_vars
AnswersEachRequest == [][AnswersEachRequestStep]_vars
LastAnswerEndsMerge == [][LastAnswerEndsMergeStep]_vars
LeaderEndsMerge == [][LeaderEndsMergeStep]_vars
LatestLivesKnown == [][LatestLivesKnownStep]_vars
ReportsWhoLeft == [][ReportsWhoLeftStep]_vars
MergesAllItCan == [][MergesAllItCanStep]_vars
HoldsViewForMerge == [][HoldsViewForMergeStep]_vars
EarlyIsNext == [][EarlyIsNextStep]_vars
EarlyIsInstalled == [][EarlyIsInstalledStep]_vars

-----------------------------------------------------------------------------
(* Defects *)

\* In the place of Ignored: a late event counts as handled.
HandledLate(s) == Handled(s, <<>>)

\* In the place of Begin: the leader sets no timer for its next look.
LooksNoMore(s, coordinators, digest) ==
    LET id == MergeId(s.member, s.decision.lives[s.member], s.begun + 1)
    IN Handled([s EXCEPT !.merge = id, !.begun = @ + 1, !.awaiting = coordinators \ {s.member},
                         !.responses = [m \in {s.member} |-> Response(s.decision, digest)]],
               SendEach(coordinators \ {s.member}, MergeReq(id, s.decision)))

\* In the place of MergeRspReceived: the first answer ends the merge.
FirstAnswerConcludes(s, e) ==
    LET said == Response(e.message.decision, e.message.digest)
        all == [m \in DOMAIN s.responses \cup {e.sender} |-> IF m = e.sender THEN said ELSE s.responses[m]]
        heard == [s EXCEPT !.awaiting = @ \ {e.sender}, !.responses = IF e.message.rejected THEN @ ELSE all]
    IN IF e.message.merge_id # s.merge \/ e.sender \notin s.awaiting THEN Ignored(s) ELSE Conclude(heard)

\* In the place of CancelMergeReceived: a coordinator that was left out waits for its timer.
CancelIsIgnored(s, e) == Ignored(s)

\* In the place of Leave: the timer runs on; or the view is held for ever.
TimerRunsOn(s, withdrawn) == ForEach(withdrawn, Withdrawn) \o <<ResumeViews>>
HoldsOn(s, withdrawn) == <<CancelTimer(TimerOf(s.begun))>> \o ForEach(withdrawn, Withdrawn)

\* In the place of FollowEarly: each view sets the timer.
AlwaysFollows(s) == <<SetTimer("early", 0, 0)>>

\* In the place of EarlyTimeout: the timer does nothing.
EarlyIsIgnored(s, e) == Ignored(s)

\* In the place of LeftUs: all members that both views list have left.
AllCommonLeft(s, coordinator, other) == Common(s.decision, other)

\* In the place of Chosen: two merge at a time. In the place of ListsAnother: no view does. In the place of Conclude: a
\* leader installs a view also where it is alone.
ChoosesOne(s) ==
    LET others == DOMAIN s.responses \ {s.member}
    IN {s.member} \cup IF others = {} THEN {} ELSE {FirstOf(others)}
ListsNoOther(responses, c) == FALSE
InstallsAlone(s) ==
    LET over == GiveUp(s)
    IN IF Leads(s) THEN Enter(s, MergedView(s, Chosen(s)), <<>>, PromisedTo(s)) ELSE Handled(over.state, over.effects)

\* In the place of LatestLives: members that are over are known for ever.
KnowsAllLives(function, members) == function
=============================================================================
