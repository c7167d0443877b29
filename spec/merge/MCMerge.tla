------------------------------ MODULE MCMerge -------------------------------
(* Bounds: the views at the start, and who has installed which. *)
EXTENDS MergeDefects

After(counter, creator, members, preds) ==
    DecidedView(ViewId(counter, creator), members, preds, [m \in MembersOf([members |-> members]) |-> 0], {})

\* A member that has installed which: each the latest that it is in.
Latest ==
    [m \in Member |->
        LET mine == {k \in DOMAIN First : m \in MembersOf(First[k])} IN IF mine = {} THEN 0 ELSE Max(mine)]

\* Two members by themselves.
TwoAlone == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C">>)>>

\* The same, and one is a view ahead.
AboveAlone == <<FirstView(1, "A", <<"A">>), FirstView(2, "C", <<"C">>)>>

\* The same, and one is two views ahead.
FarAbove == <<FirstView(1, "A", <<"A">>), FirstView(3, "C", <<"C">>)>>

\* They were together, and each has left the other out: one counter, two creators.
Parted ==
    <<FirstView(1, "A", <<"A", "C">>), After(2, "A", <<"A">>, {1}), After(2, "C", <<"C">>, {1})>>

\* The same, and each still lists the other one.
PartedInName ==
    <<FirstView(1, "A", <<"A", "C">>), After(2, "A", <<"A", "C">>, {1}), After(2, "C", <<"A", "C">>, {1})>>
EachItsOwn == [m \in Member |-> IF m = "A" THEN 2 ELSE 3]

\* A merge that was done by half: A is in the merged view, and C has given up.
Half ==
    <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C">>), After(2, "A", <<"A", "C">>, {1, 2})>>
GivenUp == [m \in Member |-> IF m = "A" THEN 3 ELSE 2]

\* After false suspicions: B has excluded A, and forms a view with C; A does not know.
Overlap == <<FirstView(1, "A", <<"A", "B", "C">>), After(2, "B", <<"B", "C">>, {1})>>

\* Three members by themselves.
Three == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C">>), FirstView(1, "E", <<"E">>)>>

\* The first in the order of addresses does not coordinate.
JuniorFirst == <<FirstView(1, "B", <<"B", "A">>), FirstView(1, "C", <<"C">>)>>

\* One member, and a subgroup of two.
OneAndTwo == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C", "D">>)>>

\* A subgroup of two, and one member.
TwoAndOne == <<FirstView(1, "A", <<"A", "B">>), FirstView(1, "C", <<"C">>)>>

\* Three members in one view.
Together == <<FirstView(1, "A", <<"A", "C", "D">>)>>

\* Three subgroups, one of them of two.
OneTwoOne == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C", "D">>), FirstView(1, "E", <<"E">>)>>

\* Three subgroups, one of them of two, between whose addresses one of the others comes.
OnePairOne == <<FirstView(1, "A", <<"A">>), FirstView(1, "D", <<"D", "F">>), FirstView(1, "E", <<"E">>)>>

\* Three subgroups, of which two overlap: C has excluded A, and forms a view with D; A does not know.
LeftOut ==
    <<FirstView(1, "A", <<"A", "C", "D">>), FirstView(1, "E", <<"E">>), After(2, "C", <<"C", "D">>, {1})>>

\* Two subgroups of two.
TwoPairs == <<FirstView(1, "A", <<"A", "B">>), FirstView(1, "C", <<"C", "D">>)>>
=============================================================================
