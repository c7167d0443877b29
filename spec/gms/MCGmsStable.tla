---------------------------- MODULE MCGmsStable -----------------------------
(* Bounds of the models of GMS over STABLE. *)
EXTENDS GmsStable

AB == <<"A", "B">>

\* STABLE messages in the first view: one round, and A's vote in the next.
Votes3 == <<3>>
NoVotes == <<0>>
=============================================================================
