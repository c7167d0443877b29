----------------------------- MODULE MCMergeGms -----------------------------
(* Bounds of the models of merging over GMS. *)
EXTENDS MergeGmsDefects

TwoAlone == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C">>)>>
OneAndTwo == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C", "D">>)>>
TwoAndOne == <<FirstView(1, "A", <<"A", "B">>), FirstView(1, "C", <<"C">>)>>
JuniorFirst == <<FirstView(1, "B", <<"B", "A">>), FirstView(1, "C", <<"C">>)>>
TwoPairs == <<FirstView(1, "A", <<"A", "B">>), FirstView(1, "C", <<"C", "D">>)>>
JuniorAway == <<FirstView(1, "B", <<"B">>), FirstView(1, "C", <<"C", "A">>)>>
OneAndThree == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C", "D", "E">>)>>
JustA == <<FirstView(1, "A", <<"A">>)>>
JustC == <<FirstView(1, "C", <<"C">>)>>
JustF == <<FirstView(1, "F", <<"F">>)>>
LateC == <<FirstView(3, "C", <<"C">>)>>
AAndLateC == <<FirstView(1, "A", <<"A">>), FirstView(3, "C", <<"C">>)>>
Together == <<FirstView(1, "A", <<"A", "C">>)>>

\* Two groups that list F: both have let it in, or one of them has not, or lists its next incarnation.
ListsF(k, creator, incarnation, joins) ==
    DecidedView(ViewId(k, creator), <<creator, "F">>, {}, [m \in {creator, "F"} |-> IF m = "F" THEN incarnation ELSE 0], joins)
BothLetIn == <<FirstView(1, "A", <<"A", "F">>), FirstView(1, "C", <<"C", "F">>)>>
OneLetsIn == <<ListsF(1, "A", 0, {"A"}), FirstView(1, "C", <<"C", "F">>)>>
OtherLetsNextIn == <<FirstView(1, "A", <<"A", "F">>), ListsF(1, "C", 1, {"C", "F"})>>
Three == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C">>), FirstView(1, "E", <<"E">>)>>
=============================================================================
