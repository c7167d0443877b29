-------------------------- MODULE MCMergeGmsStable ---------------------------
(* Bounds of the models of merging over GMS over STABLE. *)
EXTENDS MergeGmsStable

TwoAlone == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C">>)>>
OneAndTwo == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C", "D">>)>>

\* STABLE messages: none, or two in each of the first views, and two in the next.
NoVotes == <<0>>
Rounds == <<2, 2>>
=============================================================================
