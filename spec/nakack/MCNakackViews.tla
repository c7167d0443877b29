---------------------------- MODULE MCNakackViews ----------------------------
(* Views that Membership does not allow, each for one of its conjuncts.        *)
EXTENDS MCNakack

\* UniqueViewId: two views have one identifier, and the same members.
SameIdScript ==
    <<FirstView(1, "A", AB), Follow(2, "A", AB, {1}, Nobody), Follow(2, "A", AB, {1}, Nobody)>>
\* CounterIncreases: a counter does not rise.
SameCounterScript == <<FirstView(1, "A", AB), Follow(1, "B", AB, {1}, Nobody)>>
\* CreatorFromPredecessor: a creator that is in no view before.
StrangeCreatorScript == <<FirstView(1, "A", AB), Follow(2, "Z", AB, {1}, Nobody)>>
\* WellFormedView: a member that is listed twice.
ListedTwiceScript == <<FirstView(1, "A", AB), Follow(2, "A", <<"A", "B", "B">>, {1}, Nobody)>>
\* ValidIncarnations: an incarnation that has not begun.
NotBegunScript == <<FirstView(1, "A", <<"A">>), Follow(2, "A", AB, {1}, Anew("B", 1))>>
=============================================================================
