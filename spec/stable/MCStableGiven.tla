---------------------------- MODULE MCStableGiven ----------------------------
(***************************************************************************)
(* Models of the environment of STABLE, whose ablations violate one part   *)
(* of Membership alone (`groupcomm mutants --guarantees`).                 *)
(***************************************************************************)
EXTENDS MCStable

\* A view with the same members follows the first one.
NextScript == <<FirstView(1, "A", AB), Follow(2, "A", AB, {1}, Nobody)>>

\* B leaves, and comes back as another incarnation.
BackScript ==
    <<FirstView(1, "A", AB), Follow(2, "A", <<"A">>, {1}, Nobody), Follow(3, "A", AB, {2}, Anew("B", 1))>>

-----------------------------------------------------------------------------
(* In the place of InstallView: after the views of the script one more is decided, and no member installs it. *)

DecidesAfterScript(m, v) ==
    \/ /\ Len(views) <= Len(Script) /\ Active(m)
       /\ InstallsNext("InstallView", m)
       /\ UNCHANGED <<up, lost, spent>>
    \/ /\ Len(views) = Len(Script) /\ m = "A"
       /\ views' = Append(views, v)
       /\ Environment("InstallView", m, None, {})
       /\ UNCHANGED <<local, rm, network, up, installed, life, promises, lost, spent>>

\* It has no members.
DecidesEmpty(m) == DecidesAfterScript(m, Follow(3, "A", <<>>, {2}, Nobody))

\* B has an incarnation in it, and is not listed.
DecidesUnlisted(m) == DecidesAfterScript(m, [Follow(3, "A", AB, {2}, Nobody) EXCEPT !.members = <<"A">>])

\* One of its predecessors is not decided.
DecidesAfterUndecided(m) == DecidesAfterScript(m, Follow(3, "A", AB, {2, 4}, Nobody))

\* It names the former incarnation of B, and its predecessor names the present one.
DecidesFormer(m) == DecidesAfterScript(m, Follow(4, "A", AB, {3}, Nobody))
=============================================================================
