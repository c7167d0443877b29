------------------------------ MODULE Addresses -----------------------------
(***************************************************************************)
(* Addresses in their order, which all members share (MRG-04, AMB-41): as  *)
(* texts are ordered, by the first character in which two differ, and a    *)
(* text before all that begin with it. TLC has no order on strings, but    *)
(* takes them for sequences of characters. These are all that an address   *)
(* may have here; for another one TLC stops with an error.                 *)
(***************************************************************************)
EXTENDS Sequences, Naturals

LOCAL Characters ==
    "!#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~"

LOCAL At(text, i) == SubSeq(text, i, i)

LOCAL PlaceOf ==
    [c \in {At(Characters, i) : i \in 1..Len(Characters)} |->
        CHOOSE i \in 1..Len(Characters) : At(Characters, i) = c]

RECURSIVE IsBefore(_, _)
IsBefore(a, b) ==
    IF a = "" \/ b = "" THEN a = "" /\ b # ""
    ELSE IF Head(a) = Head(b) THEN IsBefore(Tail(a), Tail(b))
    ELSE PlaceOf[Head(a)] < PlaceOf[Head(b)]

RECURSIVE SortedByText(_)
SortedByText(set) ==
    IF set = {} THEN <<>>
    ELSE LET first == CHOOSE a \in set : \A b \in set \ {a} : IsBefore(a, b)
         IN <<first>> \o SortedByText(set \ {first})

\* The addresses of models and scenarios, in the same order. TLC computes PlaceOf anew at each use in an instance:
\* scenarios of merging take eight times as long without this list.
LOCAL Letters == <<"A", "B", "C", "D", "E", "F">>
LOCAL OfLetters == {"A", "B", "C", "D", "E", "F"}

Sorted(set) ==
    IF set \subseteq OfLetters THEN LET In(a) == a \in set IN SelectSeq(Letters, In) ELSE SortedByText(set)
FirstOf(set) == Head(Sorted(set))
LastOf(set) == LET list == Sorted(set) IN list[Len(list)]
=============================================================================
