--------------------------- MODULE MCMergeStable ----------------------------
(* Bounds of the models of merging over STABLE. *)
EXTENDS MergeStable

\* Two members by themselves, each in the view that it founded.
Apart == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C">>)>>
InItsOwn == [m \in Member |-> CHOOSE k \in DOMAIN First : m \in MembersOf(First[k])]

\* Two rounds of C by itself, and one of both together.
Rounds == <<2, 2>>
NoVotes == <<0, 0>>
=============================================================================
