--------------------------- MODULE BranchSynchrony ---------------------------
(******************************************************************************)
(* The guarantee of a flush where a suspicion was false and views branch:     *)
(* VirtualSynchrony, of the members that do install a view.                   *)
(*                                                                            *)
(* Three of its conjuncts speak of every member that *may* install a view.    *)
(* They cannot be given then. B reports to A, suspects A falsely, and         *)
(* continues with C, which has delivered more. A may have decided a view by   *)
(* B's report, and B cannot know. All other conjuncts stay: survivors of an   *)
(* edge leave with one cut, whatever the members of another branch do.        *)
(******************************************************************************)
EXTENDS Views, Integers, FiniteSets

CONSTANTS
    Member,     \* all addresses
    First,      \* the views at the start (see Membership)
    Off         \* names of conjuncts that are not asked for: a subset of Conjuncts

VARIABLES
    views, installed, life, up, log, settled, got   \* see VirtualSynchrony

Conjuncts == {"SendingViewDelivery", "Fifo", "CastOnlyBeforeCut", "LeavesWithCut", "SelfDelivery", "OwnFirst", "Uniform"}

LOCAL Every == INSTANCE VirtualSynchrony WITH Off <- {}

ASSUME Off \subseteq Conjuncts /\ Conjuncts = Every!Conjuncts \ Every!NotWhereViewsBranch

LOCAL Whole == INSTANCE VirtualSynchrony WITH Off <- Off \cup Every!NotWhereViewsBranch

MayEnter(m, v, came) == Whole!MayEnter(m, v, came)

Init == Whole!Init

Next == Whole!Next

Spec == Init /\ [][Next]_<<views, installed, life, up, log, settled, got>>
=============================================================================
