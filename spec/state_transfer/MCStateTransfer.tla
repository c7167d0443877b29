--------------------------- MODULE MCStateTransfer ---------------------------
(* Bounds of the STATE_TRANSFER models: histories of views, and who sends how much. *)
EXTENDS StateTransferDefects

Next1(counter, creator, members, preds, joins) ==
    LET set == {members[i] : i \in DOMAIN members}
    IN DecidedView(ViewId(counter, creator), members, preds, [m \in set |-> 0], joins)

\* C joins; and the provider goes, and the other member, too.
Join == <<FirstView(1, "A", <<"A", "B">>), Next1(2, "A", <<"A", "B", "C">>, {1}, {"C"})>>
JoinOfOne == <<FirstView(1, "A", <<"A">>), Next1(2, "A", <<"A", "C">>, {1}, {"C"})>>
ProviderGoes == Append(Join, Next1(3, "B", <<"B", "C">>, {2}, {}))
OtherGoes == Append(Join, Next1(3, "A", <<"A", "C">>, {2}, {}))
JoinerIsAlone == <<FirstView(1, "A", <<"A">>), Next1(2, "A", <<"A", "C">>, {1}, {"C"}), Next1(3, "C", <<"C">>, {2}, {})>>
JoinerGoes == <<FirstView(1, "A", <<"A">>), Next1(2, "A", <<"A", "C">>, {1}, {"C"}), Next1(3, "A", <<"A">>, {2}, {}),
                Next1(4, "A", <<"A", "B">>, {3}, {"B"})>>
TwoJoin == <<FirstView(1, "A", <<"A">>), Next1(2, "A", <<"A", "B", "C">>, {1}, {"B", "C"})>>

\* A is cut off, C joins B, and A comes back.
JoinerBeforeReturn ==
    <<FirstView(1, "B", <<"B", "A">>), Next1(2, "B", <<"B">>, {1}, {}), Next1(3, "B", <<"B", "C">>, {2}, {"C"}),
      Next1(4, "B", <<"B", "C", "A">>, {1, 3}, {})>>

\* The founder goes before the others have its state.
FounderGoes == <<FirstView(1, "A", <<"A">>), Next1(2, "A", <<"A", "B", "C">>, {1}, {"B", "C"}), Next1(3, "B", <<"B", "C">>, {2}, {})>>

\* Two groups merge. Two members part, and meet again.
Merge == <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B", "C">>), Next1(2, "A", <<"A", "B", "C">>, {1, 2}, {})>>
MergeOfPair == <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>), Next1(2, "A", <<"A", "B">>, {1, 2}, {})>>

\* A joiner is cut off before it has the state, and comes back.
JoinerReturns ==
    <<FirstView(1, "B", <<"B">>), Next1(2, "B", <<"B", "A">>, {1}, {"A"}), Next1(3, "A", <<"A">>, {2}, {}),
      Next1(3, "B", <<"B">>, {2}, {}), Next1(4, "A", <<"A", "B">>, {3, 4}, {})>>

\* The merged view ends before it is decided: its members part, and merge again.
MergeTwice ==
    Append(MergeOfPair, Next1(3, "A", <<"A">>, {3}, {})) \o
    <<Next1(3, "B", <<"B">>, {3}, {}), Next1(4, "A", <<"A", "B">>, {4, 5}, {})>>

\* A pair is cut in two, and A continues as the primary. B coordinates the view in which they meet.
PairReturns ==
    <<FirstView(1, "A", <<"A", "B">>), Next1(2, "A", <<"A">>, {1}, {}), Next1(2, "B", <<"B">>, {1}, {}),
      Next1(3, "B", <<"B", "A">>, {2, 3}, {})>>

\* ... and that view is followed by another before it is decided which state is kept. (Such is a view with a joiner that goes.)
FollowedUndecided == Append(PairReturns, Next1(4, "B", <<"B", "A">>, {4}, {}))

\* ... or its senior goes on alone; and A comes back.
HolderGoes == Append(PairReturns, Next1(4, "B", <<"B">>, {4}, {}))
HolderReturns == HolderGoes \o <<Next1(4, "A", <<"A">>, {4}, {}), Next1(5, "B", <<"B", "A">>, {5, 6}, {})>>

\* ... and B forms one view more before that.
HolderReturnsLate == HolderGoes \o <<Next1(5, "B", <<"B">>, {5}, {}), Next1(6, "B", <<"B", "A">>, {4, 6}, {})>>

\* A group with a joiner merges with another.
JoinAndMerge ==
    <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>), Next1(2, "A", <<"A", "C">>, {1}, {"C"}),
      Next1(3, "A", <<"A", "C", "B">>, {2, 3}, {})>>

\* ... the only member of which is gone.
MergeWithGone ==
    <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>), Next1(2, "A", <<"A", "C">>, {1}, {"C"}),
      Next1(3, "A", <<"A", "C">>, {2, 3}, {})>>

\* Two views follow the first one, with the same members.
FollowedTwice == <<FirstView(1, "A", <<"A", "B">>), Next1(2, "A", <<"A", "B">>, {1}, {}), Next1(3, "A", <<"A", "B">>, {2}, {})>>

\* C joins A, and a view with both follows.
ViewFollows == Append(JoinOfOne, Next1(3, "A", <<"A", "C">>, {2}, {}))

\* What is after the decision in the last view of a history is searched elsewhere.
UntilDecided == \A m \in Member : ~(installed[m] = Len(History) /\ local[m].settled)

Of(a, b, c) == [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] m = "C" -> c]
Silent == Of(0, 0, 0)
OneOfA == Of(1, 0, 0)
TwoOfA == Of(2, 0, 0)
OneOfB == Of(0, 1, 0)
OneOfAAndB == Of(1, 1, 0)
OneOfAAndC == Of(1, 0, 1)

ThreeBytes(number) == 3
=============================================================================
