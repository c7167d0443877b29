-------------------------- MODULE MCMergeSequencer --------------------------
(* Bounds of the models of SEQUENCER over merging. *)
EXTENDS MergeSequencer

InItsOwn == [m \in Member |-> CHOOSE k \in DOMAIN First : m \in MembersOf(First[k])]

\* One member, and a subgroup of two; the first in the order of addresses leads, and coordinates.
OneAndTwo == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C", "D">>)>>

\* The first in the order of addresses is a participant.
JuniorFirst == <<FirstView(1, "B", <<"B", "A">>), FirstView(1, "C", <<"C">>)>>

\* A member that sends.
OneOfD == [m \in Member |-> IF m = "D" THEN 1 ELSE 0]
OneOfC == [m \in Member |-> IF m = "C" THEN 1 ELSE 0]
OneOfCAndD == [m \in Member |-> IF m \in {"C", "D"} THEN 1 ELSE 0]

\* The conjuncts of VirtualSynchrony that SEQUENCER does not need; and that no member flushes.
Needless == {"CastOnlyBeforeCut", "SelfDelivery", "OwnFirst", "Uniform"}
Unflushed == Needless \cup {"ReceiveOnlyCut", "FirstLeaverHasAll", "LeavesWithCut"}
=============================================================================
