------------------------------ MODULE Discovery -----------------------------
(***************************************************************************)
(* The answers of discovery to a coordinator: the other coordinators. They *)
(* are the environment of merging.                                         *)
(*                                                                         *)
(* The first member that is named leads the merge, and the others wait for *)
(* its request. So the name of a dead member that is before all others     *)
(* keeps all of them from merging for as long as it is named. A discovery  *)
(* that names only members that have answered, since it asked, names no    *)
(* dead member for long. (A member that answered may crash, or coordinate  *)
(* no more, before the request to merge reaches it: then it does not       *)
(* answer, or rejects, and the timer of the merge ends it. Here the named  *)
(* members are the coordinators of the moment.)                            *)
(*                                                                         *)
(* Conjuncts have names, and those in Off are not asked for.               *)
(***************************************************************************)
CONSTANTS
    Off         \* the names of those Conjuncts that are not asked for

VARIABLES
    up,             \* the members that have not crashed or left
    coordinators,   \* the members of `up` that coordinate
    former          \* the members that have coordinated, or do

Conjuncts == {"NamesWhoAnswered", "FindsAllInTheEnd"}

LOCAL On(conjunct) == conjunct \notin Off

\* NamesWhoAnswered: Only a living member that has said that it coordinates is named. Else the dead are named for ever.
Stale == IF On("NamesWhoAnswered") THEN {} ELSE former \ up

\* The coordinators that m may find: any part of them, each time another part.
\* FindsAllInTheEnd: A member that asks again and again finds each coordinator in the end. Else it finds itself alone.
MayFind(m) ==
    {f \cup Stale : f \in (IF On("FindsAllInTheEnd") THEN {f \in SUBSET coordinators : m \in f} ELSE {{m}})}

\* The coordinators that m finds when nothing changes any more.
All == IF On("FindsAllInTheEnd") THEN coordinators \cup Stale ELSE Stale
=============================================================================
