---------------------------- MODULE MCSequencer -----------------------------
(* Bounds of the SEQUENCER models: histories of views, and who sends how much. *)
EXTENDS SequencerGroup

AB == <<"A", "B">>
BC == <<"B", "C">>
ABC == <<"A", "B", "C">>
BCD == <<"B", "C", "D">>

\* The views that the membership service has decided. A coordinator that a view leaves out may have crashed.
Steady == <<View(1, "A", AB)>>
OneView == <<View(1, "A", ABC)>>
Failover == <<View(1, "A", ABC), View(2, "B", BC)>>
DoubleFailover == <<View(1, "A", <<"A", "B", "C", "D">>), View(2, "B", BCD), View(3, "C", <<"C", "D">>)>>
Leave == <<View(1, "A", ABC), View(2, "A", AB)>>
JoinInFailover == <<View(1, "A", ABC), View(2, "B", BCD)>>
Return == <<View(1, "A", ABC), View(2, "A", AB), View(3, "A", ABC)>>
Bundle == <<View(1, "A", ABC), View(2, "A", ABC)>>
Merge == <<View(1, "A", AB), View(2, "C", <<"C", "D">>), View(3, "A", <<"A", "B", "C", "D">>)>>
ComesBackLast == <<View(1, "A", ABC), View(2, "B", BC), View(3, "B", <<"B", "C", "A">>)>>
SmallMerge == <<View(1, "A", <<"A">>), View(2, "C", <<"C", "D">>), View(3, "A", <<"A", "C", "D">>)>>
StopHistory == <<View(1, "A", ABC), View(2, "B", BC), View(3, "B", <<"B">>)>>

\* Each view follows the one before.
InLine == [k \in DOMAIN History |-> IF k < Len(History) THEN k + 1 ELSE 0]

\* The third view follows the first two.
IntoThird == <<3, 3, 0>>

NobodyRestarts == [k \in DOMAIN History |-> {}]
CInSecond == <<{}, {"C"}>>

Of(a, b, c, d) == [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] m = "C" -> c [] m = "D" -> d]
OneOfC == Of(0, 0, 1, 0)
OneOfA == Of(1, 0, 0, 0)
OneOfB == Of(0, 1, 0, 0)
OneOfD == Of(0, 0, 0, 1)
OneOfBAndC == Of(0, 1, 1, 0)
OneOfAAndC == Of(1, 0, 1, 0)
OneOfCAndD == Of(0, 0, 1, 1)
OneOfBAndTwoOfC == Of(0, 1, 2, 0)
OneOfBCD == Of(0, 1, 1, 1)
OneOfACD == Of(1, 0, 1, 1)
OneEach == Of(1, 1, 1, 1)
TwoEach == Of(2, 2, 2, 2)
TwoOfC == Of(0, 0, 2, 0)
=============================================================================
