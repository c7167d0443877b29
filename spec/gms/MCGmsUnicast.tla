---------------------------- MODULE MCGmsUnicast -----------------------------
(* Bounds of the models of GMS over UNICAST. *)
EXTENDS GmsUnicast

JustA == <<"A">>
AB == <<"A", "B">>
=============================================================================
