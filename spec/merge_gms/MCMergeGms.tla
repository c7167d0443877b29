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

\* Three groups that list F, which is in the first of them. The other two have let it in, or one of them has let in its
\* next incarnation.
ListsF(creator, incarnation, joins) ==
    DecidedView(ViewId(1, creator), <<creator, "F">>, {},
                [m \in {creator, "F"} |-> IF m = "F" THEN incarnation ELSE 0], joins)
TwoLetIn == <<ListsF("A", 0, {"A"}), ListsF("C", 0, {"C", "F"}), ListsF("E", 0, {"E", "F"})>>
LetsNextIn == <<ListsF("A", 0, {"A"}), ListsF("C", 1, {"C", "F"}), ListsF("E", 0, {"E", "F"})>>
LetsNextInLater == <<ListsF("A", 0, {"A"}), ListsF("C", 0, {"C", "F"}), ListsF("E", 1, {"E", "F"})>>

Three == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C">>), FirstView(1, "E", <<"E">>)>>
=============================================================================
