------------------------------ MODULE MCStable ------------------------------
(* Bounds of the STABLE models: histories of views, and who sends how much. *)
EXTENDS StableGroup

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>

\* The views that the membership service has decided.
PairHistory == <<View(1, "A", AB)>>
SteadyHistory == <<View(1, "A", ABC)>>
JoinHistory == <<View(1, "A", AB), View(2, "A", ABC)>>
LeaveHistory == <<View(1, "A", ABC), View(2, "A", AB)>>
RejoinHistory == <<View(1, "A", ABC), View(2, "A", AB), View(3, "A", ABC)>>
GrowHistory == <<View(1, "A", <<"A">>), View(2, "A", AB)>>
ShrinkHistory == <<View(1, "A", AB), View(2, "A", <<"A">>)>>

Of(a, b, c) == [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] m = "C" -> c]

NoSends == Of(0, 0, 0)
OneOfA == Of(1, 0, 0)
OneOfB == Of(0, 1, 0)
OneOfC == Of(0, 0, 1)
OneOfAAndB == Of(1, 1, 0)
OneOfBAndC == Of(0, 1, 1)
OneOfEach == Of(1, 1, 1)
TwoOfB == Of(0, 2, 0)
ThreeOfB == Of(0, 3, 0)

\* How many different STABLE messages each view sees. Votes are fixed at the start of a round, so a round of
\* three members is three, and until a second round starts their repetitions add nothing.
NoVotes == <<0, 0, 0>>
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
Votes3and0 == <<3, 0>>
Votes4and0 == <<4, 0>>
Votes1and0and2 == <<1, 0, 2>>
Votes1and0and3 == <<1, 0, 3>>
Votes1and1and3 == <<1, 1, 3>>
=============================================================================
