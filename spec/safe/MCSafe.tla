------------------------------- MODULE MCSafe --------------------------------
(* Bounds of the SAFE models: histories of views, and who sends how much. *)
EXTENDS SafeDefects

Next1(counter, creator, members, preds, joins) ==
    LET set == {members[i] : i \in DOMAIN members}
    IN DecidedView(ViewId(counter, creator), members, preds, [m \in set |-> 0], joins)

ABC == <<FirstView(1, "A", <<"A", "B", "C">>)>>

\* One view; the coordinator goes; all but the last go.
Pair == <<FirstView(1, "A", <<"A", "B">>)>>
SeniorGoes == Append(ABC, Next1(2, "B", <<"B", "C">>, {1}, {}))
LastStays == Append(ABC, Next1(2, "C", <<"C">>, {1}, {}))

\* C joins, and stays alone.
Join == <<FirstView(1, "A", <<"A", "B">>), Next1(2, "A", <<"A", "B", "C">>, {1}, {"C"}), Next1(3, "C", <<"C">>, {2}, {})>>

JoinOnly == SubSeq(Join, 1, 2)

\* A is cut off, and comes back.
Returns ==
    Append(SeniorGoes, Next1(3, "B", <<"B", "C", "A">>, {1, 2}, {}))

\* ... and C goes at the same time.
ReturnsWithout ==
    SeniorGoes \o <<Next1(3, "B", <<"B", "A">>, {1, 2}, {})>>

\* A pair is cut in two, and its senior continues. They meet.
PairReturns ==
    <<FirstView(1, "A", <<"A", "B">>), Next1(2, "A", <<"A">>, {1}, {}), Next1(2, "B", <<"B">>, {1}, {}),
      Next1(3, "B", <<"B", "A">>, {2, 3}, {})>>
PairReturnsFirst ==
    SubSeq(PairReturns, 1, 3) \o <<Next1(3, "A", <<"A", "B">>, {2, 3}, {})>>

\* ... and are cut off again.
ReturnsAndParts == Append(PairReturns, Next1(4, "B", <<"B">>, {4}, {}))

\* The senior of a pair continues alone.
SeniorStays == SubSeq(PairReturns, 1, 2)

\* A is cut off, comes back, is cut off again, and comes back.
ReturnsTwice ==
    <<FirstView(1, "A", <<"A", "B">>), Next1(2, "B", <<"B">>, {1}, {}), Next1(3, "B", <<"B", "A">>, {1, 2}, {}),
      Next1(4, "A", <<"A">>, {3}, {}), Next1(5, "B", <<"B", "A">>, {3, 4}, {})>>

\* C is late, and in the next view with B, which has installed the view between.
HeardByOne ==
    ABC \o <<Next1(2, "A", <<"A", "B", "C">>, {1}, {}), Next1(3, "B", <<"B", "C">>, {1, 2}, {})>>

\* B is over, and begins again as another incarnation, which votes by its record.
Restarts ==
    Append(ABC, Next1(2, "C", <<"C", "B#2">>, {1}, {"B#2"}))

\* A view follows before the one between is formed.
Unformed ==
    Append(Pair, Next1(2, "A", <<"A", "B">>, {1}, {})) \o <<Next1(3, "A", <<"A", "B">>, {2}, {})>>

\* Names with digits, and with the sign # that begins a number: b is gone, and comes back as its second incarnation.
Named ==
    <<FirstView(1, "b", <<"b", "b12", "b#x">>), Next1(2, "b12", <<"b12", "b#x">>, {1}, {}),
      Next1(3, "b12", <<"b12", "b#x", "b#2">>, {2}, {"b#2"})>>

\* A name comes back before it is excluded; then both are.
BothLives ==
    <<FirstView(1, "C", <<"C", "bee">>), Next1(2, "C", <<"C", "bee", "bee#2">>, {1}, {"bee#2"}), Next1(3, "C", <<"C">>, {2}, {})>>

Of(a, b, c) == [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] m = "C" -> c [] OTHER -> 0]
OneOfA == Of(1, 0, 0)
TwoOfA == Of(2, 0, 0)
OneOfB == Of(0, 1, 0)
TwoOfB == Of(0, 2, 0)
OneOfC == Of(0, 0, 1)
OneOfEachBee == [m \in Member |-> IF m \in {"b", "bee", "bee#2"} THEN 1 ELSE 0]
OneOfAAndB == Of(1, 1, 0)
TwoOfAOneOfB == Of(2, 1, 0)
=============================================================================
