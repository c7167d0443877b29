---------------------------- MODULE MCSequencer -----------------------------
(* Bounds of the SEQUENCER models: histories of views, who sends how much, weaker layers, and defects. *)
EXTENDS SequencerInstruments

A == <<"A">>
B == <<"B">>
AB == <<"A", "B">>
BC == <<"B", "C">>
CD == <<"C", "D">>
ABC == <<"A", "B", "C">>
BCD == <<"B", "C", "D">>
ABCD == <<"A", "B", "C", "D">>

-----------------------------------------------------------------------------
(* Histories: the views that the membership service decides. A coordinator that a view leaves out may have crashed. *)

\* A view that follows others, with every member in its first incarnation.
Next1(counter, creator, members, preds, joins) ==
    LET set == {members[i] : i \in DOMAIN members}
    IN DecidedView(ViewId(counter, creator), members, preds, [m \in set |-> 0], joins)

\* ... and with `again` in its second.
Again(counter, creator, members, preds, again) ==
    LET set == {members[i] : i \in DOMAIN members}
    IN DecidedView(ViewId(counter, creator), members, preds, [m \in set |-> IF m = again THEN 1 ELSE 0], {again})

OneView == <<FirstView(1, "A", ABC)>>
OneMember == <<FirstView(1, "A", A)>>
Failover == <<FirstView(1, "A", ABC), Next1(2, "B", BC, {1}, {})>>
DoubleFailover == <<FirstView(1, "A", ABCD), Next1(2, "B", BCD, {1}, {}), Next1(3, "C", CD, {2}, {})>>
Leave == <<FirstView(1, "A", ABC), Next1(2, "A", AB, {1}, {})>>
JoinInFailover == <<FirstView(1, "A", ABC), Next1(2, "B", BCD, {1}, {"D"})>>
Return == <<FirstView(1, "A", ABC), Next1(2, "A", AB, {1}, {}), Again(3, "A", ABC, {2}, "C")>>
Bundle == <<FirstView(1, "A", ABC), Again(2, "A", ABC, {1}, "C")>>
Merge == <<FirstView(1, "A", AB), FirstView(2, "C", CD), Next1(3, "A", ABCD, {1, 2}, {})>>
SmallMerge == <<FirstView(1, "A", A), FirstView(2, "C", CD), Next1(3, "A", <<"A", "C", "D">>, {1, 2}, {})>>
ComesBackLast == <<FirstView(1, "A", ABC), Next1(2, "B", BC, {1}, {}), Again(3, "B", <<"B", "C", "A">>, {2}, "A")>>
StopHistory == <<FirstView(1, "A", ABC), Next1(2, "B", BC, {1}, {}), Next1(3, "B", B, {2}, {})>>

\* A leaves, and decides view 2 without itself; B suspects A, and decides a view 2 of its own with the same members.
\* Some members install the first and some the second; then they merge, C first.
Split ==
    <<FirstView(1, "A", ABC), Next1(2, "A", BC, {1}, {}), Next1(2, "B", BC, {1}, {}),
      Next1(3, "C", <<"C", "B">>, {2, 3}, {})>>

\* B is excluded, and rejoins in its second incarnation, and in its tenth.
Lives ==
    <<FirstView(1, "A", AB), Next1(2, "A", A, {1}, {}), Next1(3, "A", <<"A", "B#2">>, {2}, {"B#2"}),
      Next1(4, "A", A, {3}, {}), Next1(5, "A", <<"A", "B#10">>, {4}, {"B#10"})>>

\* ... but its first incarnation continues, and merges back beside the second.
LivesOn ==
    <<FirstView(1, "A", AB), Next1(2, "A", A, {1}, {}), Next1(3, "A", <<"A", "B#2">>, {2}, {"B#2"}),
      Next1(4, "A", <<"A", "B#2", "B">>, {1, 3}, {})>>

\* C is left out, and merges back: straight from view 1, as no member was with it.
AwayAndBack == <<FirstView(1, "A", ABC), Next1(2, "A", AB, {1}, {}), Next1(3, "A", ABC, {1, 2}, {})>>

\* A joiner, a return and a merge at once: B is left out, A's view and C's merge, and B joins that view in another incarnation.
Reunion ==
    <<FirstView(1, "A", AB), FirstView(2, "C", <<"C">>), Next1(2, "A", A, {1}, {}),
      DecidedView(ViewId(3, "A"), <<"A", "C", "B">>, {2, 3}, [m \in {"A", "B", "C"} |-> IF m = "B" THEN 1 ELSE 0], {"B"})>>

\* A is cut off with a message that B has delivered; C joins B; then A comes back, and sends the message again.
JoinerBeforeReturn ==
    <<FirstView(1, "B", <<"B", "A">>), Next1(2, "B", B, {1}, {}), Next1(3, "B", BC, {2}, {"C"}),
      Next1(4, "B", <<"B", "C", "A">>, {1, 3}, {})>>

\* ... and no member comes back.
JoinerWithoutReturn == SubSeq(JoinerBeforeReturn, 1, 3)

\* A member joins, no member leaves.
Grow == <<FirstView(1, "A", AB), Next1(2, "A", ABC, {1}, {"C"})>>

\* A joiner is the first member of its first view.
JoinerLeads == <<FirstView(1, "A", AB), Next1(2, "A", <<"C", "A", "B">>, {1}, {"C"})>>

\* Two creators of view 2, and C in each of them in another incarnation: first with A, then, restarted, with B. Then
\* they merge.
TwoLives ==
    <<FirstView(1, "A", AB), Next1(2, "A", <<"A", "C">>, {1}, {"C"}), Again(2, "B", BC, {1}, "C"),
      DecidedView(ViewId(3, "A"), ABC, {2, 3}, [m \in {"A", "B", "C"} |-> IF m = "C" THEN 1 ELSE 0], {})>>

-----------------------------------------------------------------------------
(* Histories for Majority *)

\* A's pair forms view 2; then C is alone, and B, who may not know of view 2, meets it.
Pair == <<FirstView(1, "A", ABC), Next1(2, "A", AB, {1}, {}), Next1(3, "A", A, {2}, {}), Next1(3, "B", BC, {1, 2}, {})>>

\* A and B suspect each other, and both list C.
BothListC == <<FirstView(1, "A", ABC), Next1(2, "A", <<"A", "C">>, {1}, {}), Next1(2, "B", BC, {1}, {})>>

\* The coordinator is cut off, and comes back.
CutOff == <<FirstView(1, "A", ABC), Next1(2, "B", BC, {1}, {}), Next1(2, "A", A, {1}, {}), Next1(3, "B", <<"B", "C", "A">>, {2, 3}, {})>>

\* The same without the way back.
CutOffForGood == SubSeq(CutOff, 1, 3)

\* A pair parts, and meets again.
PairMeets == <<FirstView(1, "A", AB), Next1(2, "A", A, {1}, {}), Next1(2, "B", B, {1}, {}), Next1(3, "A", AB, {2, 3}, {})>>

PairParts == SubSeq(PairMeets, 1, 3)

\* ... with B before A, who cannot order without A's report.
MeetsAtB == Append(PairParts, Next1(3, "B", <<"B", "A">>, {2, 3}, {}))

\* A pair parts, and a joiner is the first member of a part.
JoinerIsFirst == <<FirstView(1, "A", AB), Next1(2, "A", A, {1}, {}), Next1(2, "B", <<"C", "B">>, {1}, {"C"})>>

\* C meets A; then it is restarted, and B meets it by the same address.
AddressAgain ==
    <<FirstView(1, "A", ABC), Next1(2, "A", <<"A", "C">>, {1}, {}), Again(2, "B", BC, {1}, "C")>>

\* C continues with D, and then alone: neither view has a majority.
Dwindles == <<FirstView(1, "A", ABCD), Next1(2, "C", CD, {1}, {}), Next1(3, "C", <<"C">>, {2}, {})>>

\* D is cut off. A alone is no majority with B: it waits for C, too.
ThreeOfFour == <<FirstView(1, "D", <<"D", "A", "B", "C">>), Next1(2, "A", ABC, {1}, {})>>

\* A founder takes in two joiners at once, and is cut off before it installs that view.
JoinersAlone ==
    <<FirstView(1, "A", A), Next1(2, "A", ABC, {1}, {"B", "C"}), Next1(3, "B", BC, {2}, {}), Next1(3, "A", A, {1}, {})>>

\* Two members take in three at once. B installs that view, and A, which decided it, does not.
JoinersOutnumberPair ==
    <<FirstView(1, "A", AB), Next1(2, "A", <<"A", "B", "C", "D", "E">>, {1}, {"C", "D", "E"}),
      Next1(3, "C", <<"C", "D", "E">>, {2}, {}), Next1(3, "A", A, {1}, {})>>

\* The senior of a pair leaves: it decides the next view, and is not in it.
PairLeaves == <<FirstView(1, "A", AB), Next1(2, "A", B, {1}, {})>>

\* ... of a pair that was a member and a joiner.
GrowsAndLeaves == <<FirstView(1, "A", A), Next1(2, "A", AB, {1}, {"B"}), Next1(3, "A", B, {2}, {})>>

\* ... and it stays as well.
LeavesAndStays == Append(PairLeaves, Next1(3, "A", A, {1}, {}))

\* A helps C to form a view, and C continues alone. A meets B in a view that cannot be formed, and leaves.
LeaverKnowsMore ==
    <<FirstView(1, "A", AB), Next1(2, "A", <<"C", "A">>, {1}, {"C"}), Next1(3, "C", <<"C">>, {2}, {}),
      Next1(3, "A", AB, {1, 2}, {}), Next1(4, "A", B, {4}, {})>>

ABCDE == <<"A", "B", "C", "D", "E">>

\* A takes in D and E, and leaves that view with B alone.
GivenUp == <<FirstView(1, "A", ABC), Next1(2, "A", ABCDE, {1}, {"D", "E"}), Next1(3, "A", AB, {2}, {})>>

\* Three of five continue, two of these are alone for a while, and meet.
ThreeOfFive ==
    <<FirstView(1, "D", <<"D", "A", "B", "C", "E">>), Next1(2, "A", ABC, {1}, {}), Next1(3, "A", A, {2}, {}),
      Next1(3, "C", <<"C">>, {2}, {}), Next1(4, "A", <<"A", "C">>, {3, 4}, {})>>

(* ... in which members begin again, with or without their records: instead of MayFollow. *)

JustAB == <<FirstView(1, "A", AB)>>

\* The views that follow the first one, in order. (A view that follows none is of a member that hears nobody.)
Then(script) == IF Len(views) <= Len(script) THEN {script[Len(views)]} ELSE {}
ByItself(counter, m) == FirstView(counter, m, <<m>>)

SeniorReturns == Then(<<Next1(2, "B", B, {1}, {}), ByItself(1, "A#2"), Next1(3, "B", <<"A#2", "B">>, {2, 3}, {})>>)
BeginsAlone == Then(<<Next1(2, "A", A, {1}, {}), ByItself(1, "B#2")>>)
LeaverReturns == Then(<<Next1(2, "A", B, {1}, {}), ByItself(1, "A#2")>>)
BothReturn == Then(<<Next1(2, "A", B, {1}, {}), ByItself(1, "A#2"), ByItself(1, "B#2"), Next1(2, "A#2", <<"A#2", "B#2">>, {3, 4}, {})>>)
HelpsThenMeets ==
    Then(<<Next1(2, "A", AB, {1}, {}), Next1(3, "A", A, {2}, {}), Next1(2, "C", <<"C">>, {1}, {}),
           Next1(3, "C", <<"C", "B#2">>, {4}, {"B#2"})>>)

\* A and B install a view, and the next one with a joiner.
TwoMore == Then(<<Next1(2, "A", AB, {1}, {}), Next1(3, "A", ABC, {2}, {"C"})>>)

\* A forms a view with B and a joiner. They continue without it, and it meets C; or its next incarnation does.
PartsForming(other) == Then(<<Next1(2, "A", <<"A", "B", "D">>, {1}, {"D"}), other, Next1(3, "B", <<"B", "D">>, {2}, {})>>)
MeetsC == PartsForming(Next1(3, "C", <<"C", "A">>, {1, 2}, {}))
CrashesForming == PartsForming(Next1(2, "C", <<"C", "A#2">>, {1}, {"A#2"}))

\* B forms the first view, and helps A to form another one. It meets D, and leaves with a view of D and of the next
\* incarnation of C, which knows the first view alone. A continues alone.
BACD == <<FirstView(1, "B", <<"B", "A", "C", "D">>)>>
MeetsReturner ==
    Then(<<Next1(2, "A", <<"A", "B">>, {1}, {}), Next1(3, "B", <<"B", "D">>, {1, 2}, {}),
           Next1(4, "B", <<"D", "C#2">>, {3}, {"C#2"}), Next1(3, "A", A, {2}, {})>>)

\* The group begins in two places.
TwoFounders == <<FirstView(1, "A", A), FirstView(1, "B", B)>>

-----------------------------------------------------------------------------
(* A member that sends how much *)

Of(a, b, c, d) == [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] m = "C" -> c [] OTHER -> d]
OneOfAllBs == [m \in Member |-> IF m = "A" THEN 0 ELSE 1]
Silent == Of(0, 0, 0, 0)
OneOfC == Of(0, 0, 1, 0)
OneOfA == Of(1, 0, 0, 0)
OneOfB == Of(0, 1, 0, 0)
OneOfD == Of(0, 0, 0, 1)
TwoOfD == Of(0, 0, 0, 2)
OneOfBAndC == Of(0, 1, 1, 0)
OneOfAAndC == Of(1, 0, 1, 0)
OneOfCAndD == Of(0, 0, 1, 1)
OneOfBAndTwoOfC == Of(0, 1, 2, 0)
OneOfBCD == Of(0, 1, 1, 1)
OneOfACD == Of(1, 0, 1, 1)
OneEach == Of(1, 1, 1, 1)
TwoEach == Of(2, 2, 2, 2)
TwoOfC == Of(0, 0, 2, 0)
TwoOfA == Of(2, 0, 0, 0)
TwoOfB == Of(0, 2, 0, 0)
OneOfAAndTwoOfB == Of(1, 2, 0, 0)
OneOfAAndB == Of(1, 1, 0, 0)

-----------------------------------------------------------------------------
(* Layers *)

\* The conjuncts of VirtualSynchrony that SEQUENCER does not need.
Needless == {"CastOnlyBeforeCut", "SelfDelivery", "OwnFirst", "Uniform"}
WithoutVirtualSynchrony == Needless \cup {"FirstLeaverHasAll", "LeavesWithCut", "ReceiveOnlyCut", "JoinersInstallLast"}
FifoAlone == Channel!Conjuncts \ {"Fifo"}
WithSelfDelivery == Needless \ {"SelfDelivery"}
WithUniform == Needless \ {"Uniform"}
WithoutFifo == Needless \cup {"Fifo"}
WithoutLeavesWithCut == Needless \cup {"LeavesWithCut"}
WithoutSendingViewDelivery == Needless \cup {"SendingViewDelivery"}
WithoutReceiveOnlyCutAndSendingView == Needless \cup {"ReceiveOnlyCut", "SendingViewDelivery"}
WithoutReceiveOnlyCut == Needless \cup {"ReceiveOnlyCut"}
WithoutFirstLeaverHasAll == Needless \cup {"FirstLeaverHasAll"}
Nothing == {}
HoldingBack == {"SelfDelivery", "OwnFirst", "Uniform"}
WithoutJoinersInstallLast == Needless \cup {"JoinersInstallLast"}
OnlySendingViewDelivery == {"SendingViewDelivery"}
OnlyFifo == {"Fifo"}
OnlyClosedToReceive == {"ReceiveOnlyCut", "LeavesWithCut"}
OnlyClosedToCast == {"CastOnlyBeforeCut"}
OnlyFirstHasAll == {"FirstLeaverHasAll", "SelfDelivery", "Uniform"}
OnlyLeavesExact == {"LeavesWithCut"}
OnlySelfDelivery == {"SelfDelivery"}
OnlyOwnFirst == {"OwnFirst"}
OnlyUniform == {"Uniform", "SelfDelivery"}
OnlyJoinAfterLeave == {"JoinersInstallLast"}
AfterFalseSuspicion == Needless \cup Channel!NotWhereViewsBranch
AfterFalseSuspicionAndOtherCuts == AfterFalseSuspicion \cup {"LeavesWithCut"}
\* With Majority SEQUENCER needs more: what a flush gives where views branch.
WithMajority == {"Uniform"} \cup Channel!NotWhereViewsBranch
MajorityWithoutOwnFirst == WithMajority \cup {"OwnFirst"}
MajorityWithoutSelfDelivery == WithMajority \cup {"SelfDelivery"}


-----------------------------------------------------------------------------
(* Views that TLC chooses: what may follow, instead of MayFollow. *)

\* Each set of members, in rising and in falling order.
Lists == {A, B, <<"C">>, AB, BC, <<"A", "C">>, ABC, <<"B", "A">>, <<"C", "B">>, <<"C", "A">>, <<"C", "B", "A">>}

\* Every view that may follow one or two of those decided, with one of these lists, up to `most` in all. (Of the creators
\* it may have one is enough: with identifiers that differ no member asks who it is. With Majority a creator outside
\* the view matters.)
Succession(most, lists) ==
    IF Len(views) >= most THEN {}
    ELSE
    LET before == {p \in SUBSET DOMAIN views : Cardinality(p) \in 1 .. 2}
        counter(preds) == 1 + (CHOOSE n \in {views[u].id.counter : u \in preds} : \A u \in preds : views[u].id.counter <= n)
        creators(preds) ==
            {c \in UNION {DOMAIN views[u].lives : u \in preds} :
                \A k \in DOMAIN views : views[k].id # ViewId(counter(preds), c)}
        one(set) == IF set = {} THEN {} ELSE {CHOOSE c \in set : TRUE}
        chosen(list, preds) ==
            LET inside == {c \in creators(preds) : \E i \in DOMAIN list : list[i] = c}
            IN IF Majority THEN one(inside) \cup (creators(preds) \ inside) ELSE one(creators(preds))
        blank(list, preds, c) ==
            DecidedView(ViewId(counter(preds), c), list, preds, [m \in {list[i] : i \in DOMAIN list} |-> life[m]], {})
        joined(v) == [v EXCEPT !.joins = {m \in DOMAIN v.lives : Group!Sources(v, m) = {}}]
    IN UNION {UNION {{joined(blank(list, preds, c)) : c \in chosen(list, preds)} : list \in lists} : preds \in before}

AnyView == Succession(3, Lists)
Rising == {A, B, <<"C">>, AB, BC, <<"A", "C">>, ABC}
AnyViewOfFour == Succession(4, Rising)

\* C may come back once, instead of MayRestart.
COnce(m) == m = "C" /\ life[m] = 0

-----------------------------------------------------------------------------
(* Defects. Each replaces one operator: what a wrong algorithm would do, or a model that is no model of members. *)

\* In the place of MayClose: what a member sends to another of its view may be lost.
MayCloseToMember(m, x) == x \in DOMAIN views[installed[m]].lives

OrdersTwice(state, message) ==
    LET data == Multicast(DataMessage(state.view.id, message.tag, message.payload)) IN <<data, data>>

KeepsEarly(early, v, waits) == early

NeverOwn(state, tag) == FALSE

\* In the place of HasMajority: half of a view is enough, whoever it is.
HalfIsEnough(set, v) == 2 * Cardinality(set \cap MembersOf(v)) >= Len(v.members)

\* In the place of IsQuorum: who comes new to the group is a quorum.
JoinersAreEnough(records, v) == Quorum(records, {}) # {}

\* In the place of CountsAs: names are counted, or incarnations.
CountsByName(m, record, a) == a = m \/ IsFormer(a, m)
CountsAlone(m, record, a) == a = m

\* In the place of Attempted: a record is the last formed view alone. (The rule "installed" of MajorityViews.)
AttemptsNone(s, v) == s.attempts

\* ... or a joiner reports views of which it does not know that any was formed.
AttemptsOfJoiners(s, v) == Append(s.attempts, v)

\* In the place of Attempt: the list of the view is compared with the last formed view. ("listed".)
ComparesLists(before, s) ==
    LET has == \A i \in DOMAIN before.attempts : HasMajority(MembersOf(s.view), before.attempts[i])
        after == [s EXCEPT !.formed = has, !.attempts = IF has THEN <<s.view>> ELSE @,
                           !.reports = ReportsFrom(@, s.view.id.counter)]
    IN Handled(after, IF has /\ IsCoordinator(s) THEN <<Multicast(FormedMessage(s.view.id, 0))>> ELSE <<>>)

\* In the place of Founds: members that are all new to the group found it.
AllNewFound(s) ==
    \A m \in MembersOf(s.view) : m \in DOMAIN RecordsOf(s) /\ RecordsOf(s)[m] = <<>>

\* In the place of Leavers: the creator does not count, or counts whatever it knows.
NoLeavers(records, v) == {}
AnyLeaver(records, v) == {v.id.creator} \ MembersOf(v)

\* ... or counts by the record of a joiner that begins again, too.
LeaverByAnyRecord(records, v) ==
    {c \in {v.id.creator} \ MembersOf(v) :
        \E m \in DOMAIN records : Len(records[m]) = 1 /\ CoordinatorOf(records[m][1]) = c}

\* In the place of Founds: an incarnation that begins again founds a group, too.
FoundsAgain(s) == s.view.members = <<s.member>> /\ s.view.id.creator = s.member /\ s.epoch = s.view.id

\* In the place of OnDisk: the attempts of formed views alone, or the record of the beginning.
RecordOfFormed(s) == SubSeq(s.attempts, 1, 1)
RecordOfFirst(s) == <<ViewOf(views[1])>>

\* In the place of LeftBy.
NobodyLeft(m) == <<>>

\* In the place of CreatorHasLeft.
CreatorMayStay == TRUE

\* In the place of ReportReceived.
ReportIgnored(s, e) == Ignored(s)

LeavesInTable(s, cleared) == Ignored(s)

ForAnybody(s, tag) == TRUE

\* In the place of LatestLives.
KeepsAllIncarnations(function, members) == function

SwallowsPlain(s, e) == Ignored(s)

DeliversPlain(s, e) == Handled(s, <<Deliver(e.sender, e.message.payload)>>)

SendsPlainTwice(s, e) == Handled(s, <<Send(e.to, PlainMessage(e.payload)), Send(e.to, PlainMessage(e.payload))>>)

MulticastsItself(state, entry) ==
    Multicast(DataMessage(state.view.id, OwnTag(state, entry.seqno), entry.payload))

OrdersUnsent(state, message) == <<Multicast(DataMessage(state.view.id, message.tag, message.payload + 1))>>

MulticastsInNoView(state, message) == <<Multicast(DataMessage(NoViewId, message.tag, message.payload))>>

SendsTwice(s, e) ==
    LET entry == Entry(s.seqno + 1, e.payload) IN
    IF ~Joined(s) THEN LocalError(s)
    ELSE Handled([s EXCEPT !.seqno = entry.seqno, !.forward_table = Append(@, entry)],
                 <<Submit(s, entry), Submit(s, entry)>>)

LogsInFront(logs, m, k, xs) == IF xs = <<>> THEN logs ELSE [logs EXCEPT ![k][m] = xs \o @]

SettlesAgain(m, came) ==
    LET u == installed[m] IN
    IF u = 0 THEN came
    ELSE [t \in DOMAIN came \cup {u} |-> IF t = u THEN Channel!ReceivedIn(m, u) ELSE came[t]]

StillReceived(m) == got

StillDelivered(m) == aux_delivered

ForgetsForAll(m) == [x \in Member |-> <<>>]

\* Apply with other layers: what follows for the local states, wires and logs of all.
Leaky(action, m, event, consumed, given, k, logs, States(_), Wires(_), Logs(_)) ==
    \E step \in {Step(local[m], event)} :
        /\ local' = States(step)
        /\ wire' = Wires(AfterStep(wire, m, consumed, step.effects, up))
        /\ log' = Logs(Channel!Casts(logs, m, k, MulticastsOf(step.effects)))
        /\ held' = held
        /\ aux_delivered' = [aux_delivered EXCEPT ![m] = @ \o DeliveredOf(event, step.effects, k)]
        /\ Record(action, m, FALSE, given, event, consumed, step.outcome, step.effects)

Same(x) == x

\* A step reaches into another member.
LeaksToNeighbour(action, m, event, consumed, given, k, logs) ==
    LET States(step) == [x \in Member |->
            IF x = m THEN step.state ELSE IF step.effects # <<>> THEN [local[x] EXCEPT !.forward_table = <<>>] ELSE local[x]]
    IN Leaky(action, m, event, consumed, given, k, logs, States, Same, Same)

\* An event is said to be refused or ignored, and changes the state.
LeaksWhenRefused(action, m, event, consumed, given, k, logs) ==
    LET States(step) == [local EXCEPT ![m] =
            IF step.outcome = "handled" THEN step.state ELSE [step.state EXCEPT !.forward_table = <<>>]]
    IN Leaky(action, m, event, consumed, given, k, logs, States, Same, Same)

\* A message is sent that no effect says.
LeaksPacket(action, m, event, consumed, given, k, logs) ==
    LET States(step) == [local EXCEPT ![m] = step.state]
        Wires(wires) == IF wires[m][m] = <<>> THEN [wires EXCEPT ![m][m] = <<PlainMessage(0)>>] ELSE wires
    IN Leaky(action, m, event, consumed, given, k, logs, States, Wires, Same)

\* A message is multicast that no effect says.
LeaksMulticast(action, m, event, consumed, given, k, logs) ==
    LET States(step) == [local EXCEPT ![m] = step.state]
        extra(member) == DataMessage(views[1].id, Tag(member, views[1].id, 1), 1)
        Logs(logged) == IF event.type = "SendRequested" /\ k = 1 THEN [logged EXCEPT ![1][m] = Append(@, extra(m))] ELSE logged
    IN Leaky(action, m, event, consumed, given, k, logs, States, Same, Logs)

\* In the place of Reaches: what reaches m has reached all of its view.
ReachesAll(m, u, s, i) ==
    got' = [x \in Member |-> IF installed[x] = installed[m] THEN got[x] \cup {<<u, s, i>>} ELSE got[x]]

\* In the place of Enter: a member that enters a view takes the others of its view along, as far as their paths say.
EntersForAll(action, m, k, v, came, logs) ==
    /\ LeavesNobodyStopping(m, v)
    /\ Channel!MayEnter(m, v, came)
    /\ installed' = [installed EXCEPT ![m] = k]
    /\ aux_path' = [x \in Member |-> IF x = m THEN Append(aux_path[x], k)
                                     ELSE IF installed[x] = installed[m] THEN <<k>> \o aux_path[x] ELSE aux_path[x]]
    /\ Channel!Forgets(m)
    /\ Apply(action, m, [type |-> "ViewInstalled", view |-> ViewOf(v)], {}, [view |-> k], k, logs)

\* In the place of Logged: what one member multicasts is logged for all.
LogsForAll(logs, m, k, xs) == [logs EXCEPT ![k] = [s \in DOMAIN @ |-> @[s] \o xs]]

\* In the place of Logged: what a member multicasts in a later view is in the log of its first view, too.
LogsInFirst(logs, m, k, xs) ==
    IF k = 1 \/ m \notin DOMAIN logs[1] \/ xs = <<>> THEN Channel!Casts(logs, m, k, xs)
    ELSE Channel!Casts([logs EXCEPT ![1][m] = @ \o xs], m, k, xs)

\* In the place of Logged: what a member multicasts is in the log of the last view.
LogsInLast(logs, m, k, xs) ==
    LET last == Len(logs) IN
    IF m \in DOMAIN logs[last] THEN Channel!Casts(logs, m, last, xs) ELSE Channel!Casts(logs, m, k, xs)

\* In the place of SendRequested: nothing is sent.
SendsNothing(s, e) ==
    IF ~Joined(s) THEN LocalError(s)
    ELSE Handled([s EXCEPT !.seqno = @ + 1, !.forward_table = Append(@, Entry(s.seqno + 1, e.payload))], <<>>)

\* In the place of ReceiveData: no multicast arrives, or not yet. (So what is lost is lost while others are on their way.)
NeverReceived(m) == FALSE

\* In the place of Join: a joiner that is awaited installs no view, or not yet.
NeverJoined(m) == FALSE

\* A message is ordered under the number of the next.
OrdersNextTag(state, message) ==
    <<Multicast(DataMessage(state.view.id, [message.tag EXCEPT !.seqno = @ + 1], message.payload))>>

\* Every message of a member is its first.
SendsFirstAgain(s, e) == IF ~Joined(s) THEN LocalError(s) ELSE
    LET entry == Entry(s.seqno + 1, 1)
    IN Handled([s EXCEPT !.seqno = entry.seqno, !.forward_table = Append(@, entry)], SubmittedNow(s, entry))

\* The table has the last message alone.
KeepsLastAlone(s, e) == IF ~Joined(s) THEN LocalError(s) ELSE
    LET entry == Entry(s.seqno + 1, e.payload)
    IN Handled([s EXCEPT !.seqno = entry.seqno, !.forward_table = <<entry>>], SubmittedNow(s, entry))

-----------------------------------------------------------------------------
(* Stories: the ends of counterexamples, so that they show the story of an    *)
(* erratum                                                                    *)

ACrashed == "A" \notin up

\* ... and who is left has the next view.
AfterTheCrash == ACrashed /\ installed["B"] = 2 /\ installed["C"] = 2
=============================================================================
