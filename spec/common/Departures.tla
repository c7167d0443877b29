------------------------------ MODULE Departures ------------------------------
(******************************************************************************)
(* What a membership service promises of members that leave in good order,    *)
(* besides Membership: a creator outside its view has left. SEQUENCER's       *)
(* option Majority assumes it, and counts such a creator as present.          *)
(*                                                                            *)
(* It would be false if a member that decided a view without itself stayed:   *)
(* to decide another view, to lead a merge, or to install the view of a       *)
(* member that suspects it.                                                   *)
(******************************************************************************)
EXTENDS Views, FiniteSets

VARIABLES
    views, installed, life  \* see Membership

\* View number k has a creator outside it. (A first view has none.)
LOCAL IsByLeaver(k) == views[k].preds # {} /\ views[k].id.creator \notin DOMAIN views[k].lives

\* The incarnations in the predecessors of view number k of its creator.
LOCAL Leavers(k) ==
    {<<j, views[j].lives[views[k].id.creator]>> : j \in {j \in views[k].preds : views[k].id.creator \in DOMAIN views[j].lives}}

\* A creator outside its view has left: the view follows only the last view of that incarnation, and it is the only view
\* that the incarnation decided without itself.
CreatorOutsideHasLeft ==
    \A k \in DOMAIN views : IsByLeaver(k) =>
        LET c == views[k].id.creator IN
        /\ Cardinality(views[k].preds) = 1
        /\ \A leaver \in Leavers(k) :
            /\ life[c] = leaver[2] => installed[c] = leaver[1]
            /\ \A i \in DOMAIN views \ {k} :
                (IsByLeaver(i) /\ views[i].id.creator = c) => \A other \in Leavers(i) : other[2] # leaver[2]
=============================================================================
