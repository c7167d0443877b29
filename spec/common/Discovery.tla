------------------------------ MODULE Discovery -----------------------------
(***************************************************************************)
(* The answers of discovery to a coordinator: the other coordinators. They *)
(* are the environment of merging.                                         *)
(*                                                                         *)
(* The first member that is named leads the merge, and the others wait for *)
(* its request. So the name of a dead member that is before all others     *)
(* keeps all of them from merging for as long as it is named. It may be    *)
(* named for a while: the next answer of discovery is another one. A       *)
(* discovery that asks the members that it names, and leaves out members   *)
(* that do not answer, names no dead member for ever. Nothing stronger is  *)
(* assumed: a member that has just answered may have crashed since. (It    *)
(* may also coordinate no more when the request to merge reaches it: then  *)
(* it rejects. A merge with a member that does not answer ends by its      *)
(* timer.)                                                                 *)
(*                                                                         *)
(* Conjuncts have names, and those in Off are not asked for.               *)
(***************************************************************************)
CONSTANTS
    Off         \* the names of those Conjuncts that are not asked for

VARIABLES
    up,             \* the members that have not crashed or left
    coordinators,   \* the members of `up` that coordinate
    former          \* the members that have coordinated, or do

Conjuncts == {"DeadNamesEnd", "FindsAllInTheEnd"}

LOCAL On(conjunct) == conjunct \notin Off

LOCAL Dead == former \ up

\* DeadNamesEnd: A member that is over is named for a while only. Else the members that it is before wait for it for ever.
Stale == IF On("DeadNamesEnd") THEN {} ELSE Dead

\* The coordinators that m may find: any part of them, each time another part.
\* FindsAllInTheEnd: A member that asks again and again finds each coordinator in the end. Else it finds itself alone.
MayFind(m) ==
    {f \cup Stale : f \in (IF On("FindsAllInTheEnd") THEN {f \in SUBSET coordinators : m \in f} ELSE {{m}})}

\* The same, and any that are over, named for a while.
MayFindStale(m) == {f \cup stale : f \in MayFind(m), stale \in SUBSET Dead}

\* The coordinators that m finds when nothing changes any more.
All == IF On("FindsAllInTheEnd") THEN coordinators \cup Stale ELSE Stale
=============================================================================
