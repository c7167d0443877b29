------------------------------ MODULE MCStable ------------------------------
(* Bounds of the STABLE models: which views are decided, and who sends how much. *)
EXTENDS StableDefects

AB == <<"A", "B">>
BA == <<"B", "A">>
ABC == <<"A", "B", "C">>

\* A view that follows others. `news`: its joiners, with their incarnations; all other members are in their first.
Follow(counter, creator, members, preds, news) ==
    LET set == {members[i] : i \in DOMAIN members}
    IN DecidedView(ViewId(counter, creator), members, preds,
                   [m \in set |-> IF m \in DOMAIN news THEN news[m] ELSE 0], DOMAIN news)

Nobody == [m \in {} |-> 0]
Anew(m, incarnation) == [x \in {m} |-> incarnation]

\* Scripts: the views that the membership service decides.
PairScript == <<FirstView(1, "A", AB)>>
SteadyScript == <<FirstView(1, "A", ABC)>>
JoinScript == <<FirstView(1, "A", AB), Follow(2, "A", ABC, {1}, Anew("C", 0))>>
LeaveScript == <<FirstView(1, "A", ABC), Follow(2, "A", AB, {1}, Nobody)>>
RejoinScript ==
    <<FirstView(1, "A", ABC), Follow(2, "A", AB, {1}, Nobody), Follow(3, "A", ABC, {2}, Anew("C", 1))>>
GrowScript == <<FirstView(1, "A", <<"A">>), Follow(2, "A", AB, {1}, Anew("B", 0))>>
ShrinkScript == <<FirstView(1, "A", AB), Follow(2, "A", <<"A">>, {1}, Nobody)>>

\* D leaves between the digest that C is given and the view with C.
BetweenScript ==
    <<FirstView(1, "A", <<"A", "B", "D">>), Follow(2, "A", AB, {1}, Nobody),
      Follow(3, "A", ABC, {2}, Anew("C", 0))>>

\* C and D join one after the other.
TwoJoinScript ==
    <<FirstView(1, "A", AB), Follow(2, "A", ABC, {1}, Anew("C", 0)),
      Follow(3, "A", <<"A", "B", "C", "D">>, {2}, Anew("D", 0))>>

\* The coordinator is replaced by the view that admits C.
HandOverScript == <<FirstView(1, "A", AB), Follow(2, "B", <<"B", "C">>, {1}, Anew("C", 0))>>

\* One counter, two creators, one set of members: C is admitted by A, and its next incarnation by B. Not sorted.
ForkScript ==
    <<FirstView(1, "A", AB), Follow(2, "A", ABC, {1}, Anew("C", 0)),
      Follow(2, "B", <<"B", "A", "C">>, {1}, Anew("C", 1))>>

\* A partition: A alone, B and C; each with a view of counter 2. Then they merge.
MergeScript ==
    <<FirstView(2, "A", <<"A">>), FirstView(2, "B", <<"B", "C">>), Follow(3, "B", <<"B", "C", "A">>, {1, 2}, Nobody)>>

\* A partition: A alone, B and C.
SidesScript == <<FirstView(2, "A", <<"A">>), FirstView(2, "B", <<"B", "C">>)>>

\* Two coordinators leave or crash, one after the other.
FailoverScript ==
    <<FirstView(1, "A", ABC), Follow(2, "B", <<"B", "C">>, {1}, Nobody), Follow(3, "C", <<"C">>, {2}, Nobody)>>

\* The two sides of a partition, a merge, and then C joins.
SidesJoinScript ==
    <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>), Follow(2, "A", AB, {1, 2}, Nobody),
      Follow(3, "A", ABC, {3}, Anew("C", 0))>>

\* A and B part and come together again, and then C joins: A may have given it its digest at any time before.
PartScript ==
    <<FirstView(1, "A", AB), Follow(2, "A", <<"A">>, {1}, Nobody), Follow(2, "B", <<"B">>, {1}, Nobody),
      Follow(3, "A", AB, {2, 3}, Nobody), Follow(4, "A", ABC, {4}, Anew("C", 0))>>

\* C joins, leaves, and comes back as another incarnation.
LateScript ==
    <<FirstView(1, "A", AB), Follow(2, "A", ABC, {1}, Anew("C", 0)), Follow(3, "A", AB, {2}, Nobody),
      Follow(4, "A", ABC, {3}, Anew("C", 1))>>

\* C is left out, and comes in again in the same incarnation.
AgainScript ==
    <<FirstView(1, "A", ABC), Follow(2, "A", AB, {1}, Nobody), Follow(3, "A", ABC, {2}, Anew("C", 0))>>

\* C's next incarnation is in the view that follows one with C; and then C is left out, and comes in again.
ReplacedScript ==
    <<FirstView(1, "A", <<"A", "C">>), Follow(2, "A", <<"A", "C">>, {1}, Anew("C", 1)),
      Follow(3, "A", <<"A">>, {2}, Nobody)>>

\* C leaves and comes back as another incarnation, and then B joins.
SenderBackScript ==
    <<FirstView(1, "A", <<"A", "C">>), Follow(2, "A", <<"A">>, {1}, Nobody),
      Follow(3, "A", <<"A", "C">>, {2}, Anew("C", 1)), [Follow(4, "A", <<"A", "C", "B">>, {3}, Anew("B", 0)) EXCEPT !.lives["C"] = 1]>>

\* B joins A, and then C joins.
ChainScript ==
    <<FirstView(1, "A", <<"A">>), Follow(2, "A", AB, {1}, Anew("B", 0)), Follow(3, "A", ABC, {2}, Anew("C", 0))>>

\* Scripts that Membership does not allow, each by one conjunct.
OneIdScript ==
    <<FirstView(1, "A", AB), Follow(2, "A", <<"A">>, {1}, Nobody), Follow(2, "A", <<"B">>, {1}, Nobody)>>
LevelScript == <<FirstView(1, "A", AB), Follow(1, "B", AB, {1}, Nobody)>>
StrangerScript == <<FirstView(1, "A", AB), Follow(2, "C", AB, {1}, Nobody)>>
TwiceScript == <<FirstView(1, "A", AB), Follow(2, "A", <<"A", "B", "A">>, {1}, Nobody)>>
UnbornScript == <<FirstView(1, "A", AB), Follow(2, "A", ABC, {1}, Anew("C", 1))>>
JoinsAgainScript == <<FirstView(1, "A", AB), Follow(2, "A", AB, {1}, Anew("B", 0))>>

Of(a, b, c) == [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] m = "C" -> c [] OTHER -> 0]

NoSends == Of(0, 0, 0)
OneOfA == Of(1, 0, 0)
OneOfB == Of(0, 1, 0)
OneOfC == Of(0, 0, 1)
TwoOfC == Of(0, 0, 2)
OneOfAAndB == Of(1, 1, 0)
OneOfBAndC == Of(0, 1, 1)
OneOfEach == Of(1, 1, 1)
TwoOfB == Of(0, 2, 0)
ThreeOfB == Of(0, 3, 0)

\* Pairs of a member and the process to which it promises its digest.
NoPromises == {}
AToC == {<<"A", "C">>}
AToB == {<<"A", "B">>}
BToC == {<<"B", "C">>}
AOrBToC == {<<"A", "C">>, <<"B", "C">>}
AToBAndC == {<<"A", "B">>, <<"A", "C">>}
AToBToC == {<<"A", "B">>, <<"B", "C">>}
AToCAndD == {<<"A", "C">>, <<"A", "D">>}
SidesAndC == {<<"A", "B">>, <<"B", "A">>, <<"A", "C">>}
ToTheOtherSide == {<<"A", "B">>, <<"A", "C">>, <<"B", "A">>}
Anybody == Member \X Member

\* The lists of members of views out of the script.
NoLists == {}
PairsAndABC == {AB, <<"A", "C">>, <<"B", "C">>, ABC}
SortedABC == {<<"A">>, <<"B">>, <<"C">>, AB, <<"A", "C">>, <<"B", "C">>, ABC}

\* How many different STABLE messages each view sees. Votes are fixed at the start of a round, so a round of
\* three members is three, and until a second round starts their repetitions add nothing.
NoVotes == <<0, 0, 0, 0>>
Votes2 == <<2>>
Votes3 == <<3>>
Votes4 == <<4>>
Votes0and2 == <<0, 2>>
Votes0and3 == <<0, 3>>
Votes0and4 == <<0, 4>>
Votes1and1 == <<1, 1>>
Votes1and3 == <<1, 3>>
Votes2and1 == <<2, 1>>
Votes2and2 == <<2, 2>>
Votes2and3 == <<2, 3>>
Votes3and0 == <<3, 0>>
Votes3and0and0 == <<3, 0, 0>>
Votes4and0 == <<4, 0>>
Votes0and2and0 == <<0, 2, 0>>
Votes0and3and0 == <<0, 3, 0>>
Votes0and4and0 == <<0, 4, 0>>
Votes0and0and2and0 == <<0, 0, 2, 0>>
Votes1and0and2 == <<1, 0, 2>>
Votes1and0and1 == <<1, 0, 1>>
Votes1and0and3 == <<1, 0, 3>>
Votes0and1and1 == <<0, 1, 1>>
Votes1and1and1 == <<1, 1, 1>>
Votes1and2 == <<1, 2>>
Votes1and2and1 == <<1, 2, 1>>
Votes0and2and1and1 == <<0, 2, 1, 1>>
Votes1and1and3 == <<1, 1, 3>>
Votes2and0and0 == <<2, 0, 0>>
Votes0and1and2 == <<0, 1, 2>>
VotesOfBAlone == <<0, 0, 1, 0, 0>>
Votes0and2and3 == <<0, 2, 3>>
TwoEach == <<2, 2, 2, 2>>
ThreeEach == <<3, 3, 3, 3>>
=============================================================================
