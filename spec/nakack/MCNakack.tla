------------------------------ MODULE MCNakack ------------------------------
(* Bounds of the NAKACK models: which views are decided, and who sends how much. *)
EXTENDS NakackDefects

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>

\* A view that follows others. `news`: its joiners, with their incarnations; all other members are in their first.
Follow(counter, creator, members, preds, news) ==
    LET set == {members[i] : i \in DOMAIN members}
    IN DecidedView(ViewId(counter, creator), members, preds,
                   [m \in set |-> IF m \in DOMAIN news THEN news[m] ELSE 0], DOMAIN news)

Nobody == [m \in {} |-> 0]
Anew(m, incarnation) == [x \in {m} |-> incarnation]

PairScript == <<FirstView(1, "A", AB)>>
ThreeScript == <<FirstView(1, "A", ABC)>>
NextScript == <<FirstView(1, "A", AB), Follow(2, "A", AB, {1}, Nobody)>>
NextOfThreeScript == <<FirstView(1, "A", ABC), Follow(2, "A", ABC, {1}, Nobody)>>
TwiceScript ==
    <<FirstView(1, "A", <<"A">>), Follow(2, "A", AB, {1}, Anew("B", 0)), Follow(3, "A", AB, {2}, Nobody)>>
JoinScript == <<FirstView(1, "A", <<"A">>), Follow(2, "A", AB, {1}, Anew("B", 0))>>
JoinThirdScript == <<FirstView(1, "A", AB), Follow(2, "A", ABC, {1}, Anew("C", 0))>>
LeaveScript == <<FirstView(1, "A", ABC), Follow(2, "A", AB, {1}, Nobody)>>
\* The list is in no order but the view's own, and another member than the oldest has created a view.
UnsortedScript == <<FirstView(1, "C", <<"C", "A", "B">>)>>
\* B is taken for dead: A continues alone.
AloneScript == <<FirstView(1, "A", AB), Follow(2, "A", <<"A">>, {1}, Nobody)>>
MergeScript == <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>), Follow(2, "A", AB, {1, 2}, Nobody)>>
\* B crashes, is left out, and comes back as another incarnation.
BackScript ==
    <<FirstView(1, "A", AB), Follow(2, "A", <<"A">>, {1}, Nobody), Follow(3, "A", AB, {2}, Anew("B", 1))>>
\* Not allowed by Membership (ExcludedFirst): the next incarnation of B stands where the former one stood.
InPlaceScript == <<FirstView(1, "A", AB), Follow(2, "A", AB, {1}, Anew("B", 1))>>

Of(a, b, c) == [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] OTHER -> c]
OneOfA == Of(1, 0, 0)
TwoOfA == Of(2, 0, 0)
ThreeOfA == Of(3, 0, 0)
FourOfA == Of(4, 0, 0)
OneOfB == Of(0, 1, 0)
OneOfC == Of(0, 0, 1)
OneOfAAndC == Of(1, 0, 1)
OneOfAAndB == Of(1, 1, 0)
TwoOfAOneOfB == Of(2, 1, 0)
TwoOfEach == Of(2, 2, 0)
=============================================================================
