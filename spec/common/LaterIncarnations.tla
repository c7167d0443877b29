------------------------- MODULE LaterIncarnations --------------------------
(***************************************************************************)
(* The duty of the program that runs members, where the number of an       *)
(* incarnation may be lower than that of a former one (a clock was set     *)
(* back). LivesAreNumbered of Incarnations does not hold then: members     *)
(* that know the later incarnation do not take the one that runs. So a     *)
(* member that receives anything of an incarnation answers with the later  *)
(* one that it knows, and the receiver of that answer begins again with a  *)
(* number above it. UnicastClock shows that this is enough.                *)
(***************************************************************************)
EXTENDS Views

\* The latest incarnation of its name for which a member does not take `one`; an empty text if there is none. GMS refuses an
\* outsider of its view's `members` for one of `lives`. UNICAST ignores a peer that is not among those `heard` for one that is.
LaterThan(one, members, lives, heard) ==
    LET known == (IF one \in members THEN {} ELSE lives) \cup (IF one \in heard THEN {} ELSE heard)
        later == {x \in known : IsFormer(one, x)}
    IN IF later = {} THEN "" ELSE CHOOSE x \in later : \A y \in later : ~IsFormer(x, y)

\* The number of an incarnation that begins: of the clock, or one more than a former one where the clock was set back.
NumberAfter(clock, formers) ==
    CHOOSE n \in {clock} \cup {k + 1 : k \in formers} : n >= clock /\ \A k \in formers : n > k
=============================================================================
