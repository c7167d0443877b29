------------------------------ MODULE Departures ------------------------------
(******************************************************************************)
(* What a membership service promises of members that leave in good order,    *)
(* besides Membership. SEQUENCER's option Majority assumes it, and counts a   *)
(* creator outside its view as present.                                       *)
(*                                                                            *)
(* It would be false if a member that decided a view without itself stayed:   *)
(* to decide another view, to lead a merge, or to install the view of a       *)
(* member that suspects it.                                                   *)
(*                                                                            *)
(* The variables of Membership are the same as there. Conjuncts have names,   *)
(* and those in Off are not asked for.                                        *)
(******************************************************************************)
EXTENDS Views, FiniteSets

CONSTANTS
    Off         \* the names of those Conjuncts that are not asked for

VARIABLES
    views,      \* Membership: the decided views, in order of decision
    installed,  \* Membership: [Member -> the number of the view installed; 0: none]
    life        \* Membership: [Member -> its present incarnation]

Conjuncts == {"CreatorOutsideHasLeft"}

LOCAL On(conjunct) == conjunct \notin Off

\* View number k has a creator outside it. (A first view has none.)
LOCAL IsByLeaver(k) == views[k].preds # {} /\ views[k].id.creator \notin DOMAIN views[k].lives

\* The incarnations of its creator in the predecessors of view number k.
LOCAL Leavers(k) ==
    {<<j, views[j].lives[views[k].id.creator]>> : j \in {j \in views[k].preds : views[k].id.creator \in DOMAIN views[j].lives}}

\* It is the only view that this incarnation of its creator has decided without itself.
LOCAL IsOnlyOne(k, incarnation) ==
    \A i \in DOMAIN views \ {k} :
        (IsByLeaver(i) /\ views[i].id.creator = views[k].id.creator) => \A other \in Leavers(i) : other[2] # incarnation

LeaversAreGone ==
    \* CreatorOutsideHasLeft: A creator outside its view has left. The view follows only the last view of that incarnation,
    \* and is the only view that the incarnation decided without itself.
    On("CreatorOutsideHasLeft") => \A k \in {k \in DOMAIN views : IsByLeaver(k)} :
        /\ Cardinality(views[k].preds) = 1
        /\ \A leaver \in Leavers(k) :
            /\ life[views[k].id.creator] = leaver[2] => installed[views[k].id.creator] = leaver[1]
            /\ IsOnlyOne(k, leaver[2])
=============================================================================
