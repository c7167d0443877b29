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
Three == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C">>), FirstView(1, "E", <<"E">>)>>
=============================================================================
