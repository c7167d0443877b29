------------------------------ MODULE MCStable ------------------------------
(* Bounds of the STABLE models: histories of views, and who sends how much. *)
EXTENDS StableGroup

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>

SteadyHistory == <<View(1, ABC)>>
PairHistory == <<View(1, AB)>>
JoinHistory == <<View(1, AB), View(2, ABC)>>
LeaveHistory == <<View(1, ABC), View(2, AB)>>
RejoinHistory == <<View(1, ABC), View(2, AB), View(3, ABC)>>

Of(a, b, c) == [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] m = "C" -> c]

NoSends == Of(0, 0, 0)
OneOfEach == Of(1, 1, 1)
OneOfA == Of(1, 0, 0)
OneOfB == Of(0, 1, 0)
OneOfC == Of(0, 0, 1)
TwoOfB == Of(0, 2, 0)
OneOfBAndC == Of(0, 1, 1)
OneOfAAndB == Of(1, 1, 0)

\* Different STABLE messages, a view: two of each member's are a round and the vote of the next.
Votes0and3 == <<0, 3, 0>>
Votes2and3 == <<2, 3, 0>>
Votes4and0 == <<4, 0, 0>>
Votes3 == <<3, 0, 0>>
Votes4 == <<4, 0, 0>>
Votes5 == <<5, 0, 0>>
Votes6 == <<6, 0, 0>>
Votes3and2 == <<3, 2, 0>>
Votes2and2 == <<2, 2, 0>>
Votes1and1and3 == <<1, 1, 3>>
Votes1and0and3 == <<1, 0, 3>>
=============================================================================
