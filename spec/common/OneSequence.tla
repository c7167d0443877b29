----------------------------- MODULE OneSequence ----------------------------
(******************************************************************************)
(* The guarantee to an application with the option Majority of SEQUENCER and  *)
(* a state: one sequence of messages over all members and all time. It only   *)
(* grows, and every member of the primary has applied it.                     *)
(*                                                                            *)
(* The sequence holds what the survivors of each formed view have delivered.  *)
(* A member that crashes, or is cut off, may have delivered more than they    *)
(* (TotalOrderBroadcast). That is not in the sequence. If the member comes    *)
(* back, it gets the state of the primary in the place of its own.            *)
(*                                                                            *)
(* Nothing here speaks of a state that an application declares, as no member  *)
(* of the primary is left that has another. With it the sequence begins anew, *)
(* in the formed view that keeps it. No other loss is excused by it.          *)
(******************************************************************************)
EXTENDS Naturals, Sequences

CONSTANT Member

VARIABLES
    sequence,   \* the messages that the state of the primary was made of when its view was formed and settled
    primary,    \* the members in that view that have the state
    state       \* [Member -> its application's state, as the sequence of messages that made it]

LOCAL IsPrefix(s, t) == Len(s) <= Len(t) /\ s = SubSeq(t, 1, Len(s))

\* No message of the sequence is lost or replaced, and none comes between two of them.
SequenceOnlyGrows == IsPrefix(sequence, sequence')

\* Every member of the primary has the sequence.
PrimaryHasSequence == \A m \in primary : IsPrefix(sequence, state[m])
=============================================================================
