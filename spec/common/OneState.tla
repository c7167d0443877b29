------------------------------ MODULE OneState ------------------------------
(***************************************************************************)
(* The guarantee that STATE_TRANSFER gives to an application: the members  *)
(* of a view have one state. A member may lack the state for a while; then *)
(* it delivers nothing. While the members of a merged view choose a state, *)
(* the guarantee speaks of none of them.                                   *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANT Member

VARIABLES
    holds,  \* [Member -> the number of its view, if it has the state and no choice is open; 0]
    place,  \* [Member -> how much of its view's order it has delivered]
    state   \* [Member -> its application's state, as the sequence of messages that made it]

LOCAL IsPrefix(s, t) == Len(s) <= Len(t) /\ s = SubSeq(t, 1, Len(s))

\* Members of a view that have delivered equally much have equal states.
SameAtSamePlace ==
    \A m, n \in Member : (holds[m] # 0 /\ holds[m] = holds[n] /\ place[m] = place[n]) => state[m] = state[n]

\* A member that has delivered more than another has the other's state, and more messages.
MoreAtLaterPlace ==
    \A m, n \in Member : (holds[m] # 0 /\ holds[m] = holds[n] /\ place[m] < place[n]) => IsPrefix(state[m], state[n])
=============================================================================
